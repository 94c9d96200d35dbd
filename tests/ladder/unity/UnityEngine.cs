// What EnvironmentSums.cs uses of Unity, as Unity's manual has it, for a compiler and a test where there is no Unity: arithmetic is done,
// and a dispatch is only noted.
using System;
using System.Collections.Generic;

namespace UnityEngine {
    public struct Vector2 {
        public float x, y;
        public Vector2(float x, float y) { this.x = x; this.y = y; }
    }

    public struct Vector3 {
        public float x, y, z;
        public Vector3(float x, float y, float z) { this.x = x; this.y = y; this.z = z; }
        public static Vector3 operator +(Vector3 a, Vector3 b) { return new Vector3(a.x + b.x, a.y + b.y, a.z + b.z); }
        public static Vector3 operator *(Vector3 a, float b) { return new Vector3(a.x * b, a.y * b, a.z * b); }
        public static Vector3 operator *(float a, Vector3 b) { return b * a; }
    }

    public struct Vector4 {
        public float x, y, z, w;
        public Vector4(float x, float y, float z, float w) { this.x = x; this.y = y; this.z = z; this.w = w; }
        public static implicit operator Vector3(Vector4 v) { return new Vector3(v.x, v.y, v.z); }
        public static implicit operator Vector2(Vector4 v) { return new Vector2(v.x, v.y); }
    }

    public static class Mathf {
        public const float PI = (float)Math.PI;
        public static float Max(float a, float b) { return a > b ? a : b; }
    }

    public enum TextureFormat { RGBAFloat = 20 }

    public class Object {
        public static void DestroyImmediate(Object it) { ComputeShader.Calls.Add("destroy " + it.GetType().Name); }
    }

    public class Texture : Object {
        public int width;
    }

    public class Cubemap : Texture {
        public TextureFormat format = TextureFormat.RGBAFloat;
        public Cubemap(int width) { this.width = width; }
    }

    public class Texture2DArray : Texture {
        public Texture2DArray(int width, int height, int depth, TextureFormat format, bool mipChain) {
            if (width != height || depth != 6 || mipChain)
                throw new ArgumentException("not the six faces of a cube");
            this.width = width;
        }
    }

    public static class Graphics {
        public static void CopyTexture(Texture from, int element, int mip, Texture to, int toElement, int toMip) {
            if (element != toElement || mip != 0 || toMip != 0)
                throw new ArgumentException("not the same face");
            ComputeShader.Calls.Add("face " + element);
        }
    }

    public class ComputeBuffer {
        public static Vector4[] Holds; // what GetData() gives
        public readonly int count, stride;
        public ComputeBuffer(int count, int stride) { this.count = count; this.stride = stride; }
        public void GetData(Array data) { Array.Copy(Holds, data, data.Length); }
        public void Release() { ComputeShader.Calls.Add("release " + count + " x " + stride); }
    }

    public class ComputeShader : Object {
        public static readonly List<string> Calls = new List<string>();
        readonly List<string> kernels = new List<string>();
        public int FindKernel(string name) { kernels.Add(name); return kernels.Count - 1; }
        public void SetInt(string name, int value) { Calls.Add(name + " = " + value); }
        public void SetTexture(int kernel, string name, Texture texture) { Calls.Add(kernels[kernel] + ": " + name); }
        public void SetBuffer(int kernel, string name, ComputeBuffer buffer) { Calls.Add(kernels[kernel] + ": " + name + " of " + buffer.count); }
        public void Dispatch(int kernel, int x, int y, int z) { Calls.Add(kernels[kernel] + " in " + x + " x " + y + " x " + z); }
    }
}
