"""EnvironmentSums.cs with a C# compiler, against what UnityEngine.cs beside it has in place of Unity:

    test_unity.py MCS MONO

It is compiled without a warning, dispatches what docs/unity.md says, and its irradiance is that of the light that the coefficients
stand for: the integral of light times cosine.
"""
import math
import os
import subprocess
import sys
import tempfile
import unittest

FOLDER = os.path.dirname(os.path.abspath(__file__))
SOURCES = [os.path.join(FOLDER, 'unity', 'UnityEngine.cs'), os.path.join(FOLDER, 'unity', 'Print.cs'),
           os.path.join(FOLDER, '..', '..', 'ladder', 'hlsl', 'unity', 'EnvironmentSums.cs')]
MCS, MONO = sys.argv[1:3]
WIDTHS = (1, 37, 128, 2048)
NORMAL = (0.6, 0.0, 0.8)
BANDS = 0.282095, 0.488603, 1.092548, 0.315392, 0.546274


def harmonics(x, y, z):
    """The nine, in the shader's order."""
    return (BANDS[0], BANDS[1] * y, BANDS[1] * z, BANDS[1] * x, BANDS[2] * x * y, BANDS[2] * y * z, BANDS[3] * (3 * z * z - 1), BANDS[2] * x * z,
            BANDS[4] * (x * x - y * y))


def irradiance(light, normal, steps=160):
    """The integral over the sphere of the light that coefficients of one colour stand for, times the cosine where it is positive."""
    total = 0.0
    for i in range(steps):
        z = -1 + (2 * i + 1) / steps
        radius = math.sqrt(1 - z * z)
        for j in range(2 * steps):
            angle = math.pi * (j + 0.5) / steps
            direction = radius * math.cos(angle), radius * math.sin(angle), z
            cosine = sum(a * b for a, b in zip(direction, normal))
            if cosine > 0:
                total += cosine * sum(a * b for a, b in zip(light, harmonics(*direction)))
    return total * (2 / steps) * (math.pi / steps)


class Unity(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, 'print.exe')
            subprocess.run([MCS, '-warnaserror', f'-out:{program}', *SOURCES], check=True)
            cls.lines = subprocess.run([MONO, program, *map(str, WIDTHS)], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()

    def values(self, what):
        return [[float(figure) for figure in line.split()[1:]] for line in self.lines if line.startswith(what + ' ')]

    def test_dispatches(self):
        for width in WIDTHS:
            groups = min(-(-6 * width * width // 1024), 1024)
            begin = self.lines.index(f'width {width}') + 1
            self.assertEqual(self.lines[begin:begin + 17],
                             [*(f'face {face}' for face in range(6)), f'size = {width}', f'groups = {groups}',
                              'project_texels: faces', f'project_texels: partials_out of {9 * groups}', f'project_texels in {groups} x 1 x 1',
                              f'add_partials: partials_in of {9 * groups}', 'add_partials: partials_out of 9', 'add_partials in 1 x 1 x 1',
                              f'release {9 * groups} x 16', 'release 9 x 16', 'destroy Texture2DArray'], width)

    def test_results(self):
        coefficients = self.values('coefficient')
        self.assertEqual(len(coefficients), 9 * len(WIDTHS))
        for i, found in enumerate(coefficients):
            for a, b in zip(found, (1 + i % 9, 10 - i % 9, i % 9)):
                self.assertAlmostEqual(a, b * 4 * math.pi * BANDS[0] / 12.5, delta=1e-6)
        self.assertEqual(self.values('extremes'), [[1, 10, 0]])

    def test_normalisation(self):
        here, probe = [(2, 1, 1 if i == 0 else -1) for i in range(9)], [(i == 0, 0, 1 if i == 0 else 0.5) for i in range(9)]
        lights = [[irradiance([coefficient[colour] for coefficient in light], NORMAL) for colour in range(3)] for light in (here, probe)]
        for found, wanted in zip(self.values('irradiance'), lights):
            for a, b in zip(found, wanted):
                self.assertAlmostEqual(a, b, delta=1e-3 * max(1, abs(b)))
        mean = [math.pi * BANDS[0] * probe[0][colour] for colour in range(3)]
        for colour, found in enumerate(self.values('normalisation')[0]):
            wanted = max(lights[0][colour], 0) / max(lights[1][colour], 0.05 * mean[colour], 1e-3)
            self.assertAlmostEqual(found, wanted, delta=2e-3 * max(1, wanted))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
