// Dispatches EnvironmentSums.compute: see docs/unity.md.
using System;
using UnityEngine;

public static class EnvironmentSums {
    const int GroupSize = 64;     // GROUP in the shader
    const int TexelsPerThread = 16; // enough that a thread's work is more than its start
    const int GroupsMost = 1024;  // enough to fill a large GPU
    const int Harmonics = 9;
    const int Stride = 4 * sizeof(float);
    // What is divided by is no less than this share of a probe's mean irradiance, nor, where all of it is dark, than this much.
    const float LeastShare = 0.05f, Least = 1e-3f;

    // Nine coefficients of the light that a cubemap holds.
    public static Vector3[] Project(ComputeShader shader, Cubemap map) {
        Vector4[] sums = Run(shader, map, "project_texels", "add_partials", Harmonics);
        // The weights of all texels add up to the sphere, 4 pi, times Y00: what their common factor was falls out.
        float scale = 4 * Mathf.PI * 0.282095f / sums[0].w;
        return Array.ConvertAll(sums, sum => (Vector3)sum * scale);
    }

    // E(n), the light on a surface that faces n: a cosine scales the bands by pi, 2 pi / 3 and pi / 4. The order of coefficients is
    // the shader's.
    public static Vector3 Irradiance(Vector3[] light, Vector3 n) {
        Vector3 constant = 0.282095f * light[0];
        Vector3 linear = 0.488603f * (n.y * light[1] + n.z * light[2] + n.x * light[3]);
        Vector3 quadratic = 1.092548f * (n.x * n.y * light[4] + n.y * n.z * light[5] + n.x * n.z * light[7])
                          + 0.315392f * (3 * n.z * n.z - 1) * light[6]
                          + 0.546274f * (n.x * n.x - n.y * n.y) * light[8];
        return Mathf.PI * constant + 2 * Mathf.PI / 3 * linear + Mathf.PI / 4 * quadratic;
    }

    // E_here(n) / E_probe(n), by colour: what the probe's reflection is multiplied by.
    public static Vector3 Normalisation(Vector3[] here, Vector3[] probe, Vector3 n) {
        Vector3 wanted = Irradiance(here, n), seen = Irradiance(probe, n), mean = Mathf.PI * 0.282095f * probe[0];
        return new Vector3(Ratio(wanted.x, seen.x, mean.x), Ratio(wanted.y, seen.y, mean.y), Ratio(wanted.z, seen.z, mean.z));
    }

    // On the side that a strong light leaves dark, nine coefficients may come out near zero, or below.
    static float Ratio(float wanted, float seen, float mean) {
        return Mathf.Max(wanted, 0) / Mathf.Max(seen, Mathf.Max(LeastShare * mean, Least));
    }

    // The smallest and the largest luminance.
    public static Vector2 Extremes(ComputeShader shader, Cubemap map) {
        return Run(shader, map, "smallest_texels", "smallest_partials", 1)[0];
    }

    static Vector4[] Run(ComputeShader shader, Cubemap map, string first, string second, int results) {
        int texels = 6 * map.width * map.width;
        int groups = Math.Min((texels + GroupSize * TexelsPerThread - 1) / (GroupSize * TexelsPerThread), GroupsMost);
        var faces = new Texture2DArray(map.width, map.width, 6, map.format, false);
        var partials = new ComputeBuffer(groups * results, Stride);
        var total = new ComputeBuffer(results, Stride);
        try {
            for (int face = 0; face < 6; face++)
                Graphics.CopyTexture(map, face, 0, faces, face, 0);
            shader.SetInt("size", map.width);
            shader.SetInt("groups", groups);

            int kernel = shader.FindKernel(first);
            shader.SetTexture(kernel, "faces", faces);
            shader.SetBuffer(kernel, "partials_out", partials);
            shader.Dispatch(kernel, groups, 1, 1);

            kernel = shader.FindKernel(second);
            shader.SetBuffer(kernel, "partials_in", partials);
            shader.SetBuffer(kernel, "partials_out", total);
            shader.Dispatch(kernel, 1, 1, 1);

            var sums = new Vector4[results];
            total.GetData(sums); // waits for the GPU: AsyncGPUReadback where a frame must not
            return sums;
        } finally {
            partials.Release();
            total.Release();
            UnityEngine.Object.DestroyImmediate(faces);
        }
    }
}
