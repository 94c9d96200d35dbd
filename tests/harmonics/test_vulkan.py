"""examples/spherical-harmonics on the Vulkan device that VK_ICD_FILENAMES names: the digits of the CPU, for every kind of map.

Run as test_program.py is.
"""
import math
import os
import sys
import unittest

from test_program import FOLDER, HAS_EXR, HAS_PNG, ProgramTest, exr, hdr, png

# Some devices are slow to start: fewer maps there.
FEW = float(os.environ.get('REDUCT_TEST_SCALE', 1)) < 0.5

LIGHTS = ('sky',) if FEW else ('constant', 'gradient', 'harmonic', 'cosine', 'sky')


class VulkanTest(ProgramTest):
    def refused(self, needle, device, **environment):
        before = dict(os.environ)
        os.environ.update(environment)
        try:
            self.bad(1, [needle], os.path.join(FOLDER, 'sky.hdr'), '--device', device)
        finally:
            os.environ.clear()
            os.environ.update(before)


class SameDigits(VulkanTest):
    def same(self, *args):
        """All that is printed but for the device's name."""
        expected, expected_remarks = self.good(*args, '--device', 'cpu:portable')
        out, remarks = self.good(*args, '--device', 'vulkan:0')
        self.assertEqual(out.split('\n')[0].rsplit(' on ')[1], 'vulkan:0')
        self.assertEqual(out.split('\n')[1:], expected.split('\n')[1:], args)
        self.assertEqual(remarks, expected_remarks)

    def test_maps_of_the_repository(self):
        for name in ('sky.hdr', 'courtyard.png'):
            if HAS_PNG or not name.endswith('.png'):
                self.same(os.path.join(FOLDER, name))

    def test_analytic(self):
        for i, light in enumerate(LIGHTS):
            for form in ((), ('--cube',)):
                path = self.path('%s.hdr' % light)
                self.good('--make-test-map', light, *form, '--size', str(37 + 14 * i), path)
                self.same(path, '--expect', light, '--plain')

    def test_panoramas(self):
        for height in (23,) if FEW else (1, 2, 5, 23, 101):
            self.same(self.file('a.hdr', hdr(self.noise(2 * height, height))))
        if HAS_PNG:
            image = [[tuple(self.random.randrange(1 << 16) for _ in range(3)) for _ in range(38)] for _ in range(19)]
            self.same(self.file('a.png', png(image, 16)))

    def test_cubes(self):
        for side in (19,) if FEW else (1, 19):
            self.same(*[self.file('%d.hdr' % i, hdr(self.noise(side, side))) for i in range(6)])
        self.same(self.file('strip.hdr', hdr(self.noise(6 * 13, 13))))
        self.same(self.file('cross.hdr', hdr(self.noise(4 * 3, 3 * 3))))
        self.same(self.file('tall.hdr', hdr(self.noise(3 * 7, 4 * 7))))

    def test_light_of_all_magnitudes(self):
        """Subnormal to almost infinite, and numbers that light cannot have."""
        if not HAS_EXR:
            return  # no other format has them
        image = [[tuple(math.ldexp(self.random.uniform(-1, 1), self.random.randrange(-149, 128)) for _ in range(3))
                  for _ in range(46)] for _ in range(23)]
        path = self.file('a.exr', exr(image))
        self.same(path)
        self.same(path, '--invalid', 'zero')
        if FEW:
            return
        for specials in ((math.nan,), (math.inf,), (-math.inf,), (math.inf, -math.inf)):
            for i, value in enumerate(specials):
                image[7 * i + 2][5] = (1.0, value, 1.0)
            self.same(self.file('a.exr', exr(image)), '--invalid', 'keep')
        self.same(self.file('a.exr', exr([[(-0.0, 0.0, -0.0)] * 8] * 4)))

    def test_pictures(self):
        if not HAS_PNG:
            return
        pictures = []
        for device in ('cpu:portable', 'vulkan:0'):
            path = self.path('picture.png')
            self.good(os.path.join(FOLDER, 'sky.hdr'), '--device', device, '--picture', path, '--size', '150')
            with open(path, 'rb') as file:
                pictures.append(file.read())
        self.assertEqual(pictures[0], pictures[1])


class Names(VulkanTest):
    def test_devices_have_names(self):
        """Those that there are are listed where none fits."""
        path = os.path.join(FOLDER, 'sky.hdr')
        _, _, err = self.run_program(path, '--device', 'vulkan:nonesuch')
        name = err.split('vulkan:0 ')[1].split()[0]
        for device in ('vulkan', 'vulkan:' + name, 'vulkan:' + name.upper()):
            self.assertIn(' on vulkan:0\n', self.good(path, '--device', device)[0])

    def test_refusals(self):
        self.refused("no Vulkan device called 'nonesuch' here; those that there are: vulkan:0 ", 'vulkan:nonesuch')
        self.refused('there is no vulkan:99 here: the last one is vulkan:0', 'vulkan:99')
        for device in ('vulkan:', 'vulkanish'):
            self.refused('a Vulkan device is called vulkan:0, or vulkan: and a part of its name', device)

    def test_no_driver(self):
        self.refused('there is no Vulkan device here', 'vulkan:0', VK_ICD_FILENAMES='/nonesuch.json')

    def test_no_loader(self):
        """Files that are no libraries stand where the loader would be found first."""
        for name in ('libvulkan.so', 'libvulkan.so.1'):
            self.file(name, b'')
        self.refused('there is no Vulkan here: its loader, libvulkan.so.1, was not found', 'vulkan:0',
                     LD_LIBRARY_PATH=self.directory)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
