// Prints, a line each, what test_unity.py looks at.
using System;
using System.Globalization;
using UnityEngine;

public static class Print {
    static void Line(string what, Vector3 v) {
        Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "{0} {1:R} {2:R} {3:R}", what, v.x, v.y, v.z));
    }

    public static void Main(string[] arguments) {
        var shader = new ComputeShader();
        ComputeBuffer.Holds = new Vector4[9];
        for (int i = 0; i < 9; i++)
            ComputeBuffer.Holds[i] = new Vector4(1 + i, 10 - i, i, 12.5f);
        foreach (string width in arguments) {
            ComputeShader.Calls.Clear();
            Vector3[] light = EnvironmentSums.Project(shader, new Cubemap(int.Parse(width)));
            Console.WriteLine("width " + width);
            foreach (string call in ComputeShader.Calls)
                Console.WriteLine(call);
            for (int i = 0; i < light.Length; i++)
                Line("coefficient", light[i]);
        }
        Vector2 extremes = EnvironmentSums.Extremes(shader, new Cubemap(8));
        Line("extremes", new Vector3(extremes.x, extremes.y, 0));
        var bright = new Vector3[9];
        var dark = new Vector3[9];
        for (int i = 0; i < 9; i++) {
            bright[i] = new Vector3(2, 1, i == 0 ? 1 : -1);
            dark[i] = new Vector3(i == 0 ? 1 : 0, 0, i == 0 ? 1 : 0.5f);
        }
        var n = new Vector3(0.6f, 0, 0.8f);
        Line("irradiance", EnvironmentSums.Irradiance(bright, n));
        Line("irradiance", EnvironmentSums.Irradiance(dark, n));
        Line("normalisation", EnvironmentSums.Normalisation(bright, dark, n));
    }
}
