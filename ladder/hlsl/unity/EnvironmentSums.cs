// Dispatches EnvironmentSums.compute: see docs/unity.md.
using System;
using UnityEngine;

public static class EnvironmentSums {
    const int GroupSize = 64;     // GROUP in the shader
    const int TexelsPerThread = 16; // enough that a thread's work is more than its start
    const int GroupsMost = 1024;  // enough to fill a large GPU
    const int Harmonics = 9;
    const int Stride = 4 * sizeof(float);

    // Nine coefficients of the light that a cubemap holds.
    public static Vector3[] Project(ComputeShader shader, Cubemap map) {
        Vector4[] sums = Run(shader, map, "project_texels", "add_partials", Harmonics);
        // The weights of all texels add up to the sphere, 4 pi, times Y00: what their common factor was falls out.
        float scale = 4 * Mathf.PI * 0.282095f / sums[0].w;
        return Array.ConvertAll(sums, sum => (Vector3)sum * scale);
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
