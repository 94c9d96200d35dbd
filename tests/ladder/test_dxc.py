"""The shaders in HLSL through DXC, Microsoft's compiler, to DXIL and to SPIR-V, which spirv-val checks:

    test_dxc.py DXC SPIRV_VAL

glslang compiles what is run; this is for those who take the files to Direct3D or Unity, where DXC and FXC compile them.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

HLSL = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'ladder', 'hlsl')
DXC, SPIRV_VAL = sys.argv[1:3]
# Bindings as in Direct3D, where b0, t0 and u0 differ: buffers keep their numbers, the numbers of a dispatch come behind them.
SPIRV = ('-spirv', '-fspv-target-env=vulkan1.1', '-fvk-b-shift', '8', '0')
TARGET = 'cs_6_0'  # with wave operations


def kernels(path):
    with open(path, encoding='utf-8') as file:
        return re.findall(r'(?m)^#pragma kernel (\w+)', file.read())


class Dxc(unittest.TestCase):
    def compile(self, path, kernel, *options):
        """In both ways. No warning but that the result is not signed, and of an attribute that only FXC asks for."""
        with tempfile.TemporaryDirectory() as folder:
            for more in ((), SPIRV):
                output = os.path.join(folder, 'shader')
                result = subprocess.run([DXC, *more, '-T', TARGET, '-E', kernel, *options, '-I', HLSL, path, '-Fo', output],
                                        capture_output=True, text=True)
                self.assertEqual(result.returncode, 0, f'{path} {kernel} {options} {more}: {result.stderr}')
                for warning in re.findall('warning: (.*)', result.stderr):
                    self.assertRegex(warning, r'^DXIL\.dll not found|allow_uav_condition', (path, kernel, options, more))
            subprocess.run([SPIRV_VAL, '--target-env', 'vulkan1.1', output], check=True)

    def test_rungs(self):
        names = sorted(name for name in os.listdir(HLSL) if name.endswith('.hlsl'))
        self.assertGreater(len(names), 10)
        for name in names:
            path = os.path.join(HLSL, name)
            for kernel in kernels(path):
                for kind, way in (('TYPE_F32', 0), ('TYPE_F32', 1), ('TYPE_I32', 1), ('TYPE_F32', 2), ('TYPE_I32', 2)):
                    self.compile(path, kernel, '-D', kind, '-D', f'WAY={way}', '-D', 'GROUP=256')

    def test_applications(self):
        for name in ('dot', 'maximum', 'mean'):
            path = os.path.join(HLSL, 'applications', f'{name}.hlsl')
            self.compile(path, *kernels(path), '-D', 'WAY=2')

    def test_textures(self):
        path = os.path.join(HLSL, 'applications', 'texture.hlsl')
        for reads in range(3):
            self.compile(path, *kernels(path), '-D', 'WAY=2', '-D', f'READS={reads}')

    def test_unity(self):
        path = os.path.join(HLSL, 'unity', 'EnvironmentSums.compute')
        self.assertEqual(len(kernels(path)), 4)
        for kernel in kernels(path):
            self.compile(path, kernel)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
