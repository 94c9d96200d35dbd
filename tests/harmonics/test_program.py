"""examples/spherical-harmonics as its users meet it, on maps written here, against a projection computed here.

Run as `python3 test_program.py PROGRAM EXAMPLE_FOLDER DEFINITIONS`; DEFINITIONS say which formats were built in.
"""
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from fractions import Fraction

PROGRAM, FOLDER, DEFINITIONS = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
HAS_EXR, HAS_PNG, HAS_VULKAN = ('HARMONICS_HAS_' + what in DEFINITIONS for what in ('EXR', 'PNG', 'VULKAN'))


# ----------------------------------------------------------------------------------------------------------------------
# Images: a list of rows of (red, green, blue), and files of them
# ----------------------------------------------------------------------------------------------------------------------

def rgbe(pixel):
    largest = max(pixel)
    if largest <= 0:
        return bytes(4)
    exponent = math.frexp(largest)[1]
    return bytes([min(255, int(c * 256 / 2 ** exponent)) for c in pixel] + [exponent + 128])


def hdr(image, runs=True, head=b'#?RADIANCE\n# by a test\nFORMAT=32-bit_rle_rgbe\n\n', resolution=None):
    height, width = len(image), len(image[0])
    data = head + (resolution or b'-Y %d +X %d' % (height, width)) + b'\n'
    for row in image:
        pixels = [rgbe(p) for p in row]
        if not runs or width < 8:
            data += b''.join(pixels)
            continue
        data += struct.pack('>BBH', 2, 2, width)
        for plane in range(4):
            values = bytes(p[plane] for p in pixels)
            for at in range(0, width, 100):  # some as they are, some as runs of one
                part = values[at:at + 100]
                data += bytes([len(part)]) + part if at % 200 else b''.join(bytes([129, v]) for v in part)
    return data


def exr(image, half=False, grey=False, names=None):
    """Uncompressed scan lines."""
    names = names or (['Y'] if grey else ['B', 'G', 'R'])
    height, width = len(image), len(image[0])
    code, kind = ('e', 1) if half else ('f', 2)

    def attribute(name, type_, value):
        return name.encode() + b'\0' + type_.encode() + b'\0' + struct.pack('<i', len(value)) + value

    channels = b''.join(n.encode() + b'\0' + struct.pack('<iBxxxii', kind, 0, 1, 1) for n in names) + b'\0'
    box = struct.pack('<4i', 0, 0, width - 1, height - 1)
    data = b'\x76\x2f\x31\x01' + struct.pack('<i', 2)
    data += attribute('channels', 'chlist', channels) + attribute('compression', 'compression', b'\0')
    data += attribute('dataWindow', 'box2i', box) + attribute('displayWindow', 'box2i', box)
    data += attribute('lineOrder', 'lineOrder', b'\0') + attribute('pixelAspectRatio', 'float', struct.pack('<f', 1))
    data += attribute('screenWindowCenter', 'v2f', struct.pack('<2f', 0, 0))
    data += attribute('screenWindowWidth', 'float', struct.pack('<f', 1)) + b'\0'
    lines = []
    for y, row in enumerate(image):
        line = b''.join(struct.pack('<%d%s' % (width, code), *[p[{'R': 0, 'G': 1, 'B': 2, 'Y': 0}.get(n, 0)] for p in row])
                        for n in names)
        lines.append(struct.pack('<ii', y, len(line)) + line)
    at = len(data) + 8 * height
    for line in lines:
        data += struct.pack('<Q', at)
        at += len(line)
    return data + b''.join(lines)


def chunk(kind, body):
    return struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))


def png(image, bits=8, gamma=None):
    """Pixels are whole numbers here."""
    code = 'B' if bits == 8 else 'H'
    rows = b''.join(b'\0' + struct.pack('>%d%s' % (3 * len(row), code), *[c for p in row for c in p]) for row in image)
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', len(image[0]), len(image), bits, 2, 0, 0, 0)) +
            (chunk(b'gAMA', struct.pack('>I', gamma)) if gamma else b'') + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))


def read_png(path):
    """Width, height and rows of 8-bit pixels."""
    with open(path, 'rb') as file:
        data = file.read()
    at, packed, width, height = 8, b'', 0, 0
    while at < len(data):
        size, kind = struct.unpack_from('>I4s', data, at)
        body = data[at + 8:at + 8 + size]
        if kind == b'IHDR':
            width, height, bits, colour = struct.unpack_from('>IIBB', body)
            assert (bits, colour) == (8, 2), (bits, colour)
        packed += body if kind == b'IDAT' else b''
        at += 12 + size
    raw, stride, rows, before = zlib.decompress(packed), 3 * width, [], bytes(3 * width)
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            a, b, c = line[i - 3] if i > 2 else 0, before[i], before[i - 3] if i > 2 else 0
            p = a + b - c
            nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = line[i] + (0, a, b, (a + b) // 2, nearest)[kind] & 255
        rows.append([tuple(line[3 * x:3 * x + 3]) for x in range(width)])
        before = line
    return width, height, rows


# ----------------------------------------------------------------------------------------------------------------------
# The projection, straight from its definition
# ----------------------------------------------------------------------------------------------------------------------

def harmonics(x, y, z):
    a, b = math.sqrt(3 / (4 * math.pi)), math.sqrt(15 / (4 * math.pi))
    return (math.sqrt(1 / (4 * math.pi)), a * y, a * z, a * x, b * x * y, b * y * z,
            math.sqrt(5 / (16 * math.pi)) * (3 * z * z - 1), b * x * z, b / 2 * (x * x - y * y))


def panorama_texels(height):
    """Directions and solid angles: up is +y, the middle +z, to its right +x."""
    step = math.pi / height
    for row in range(height):
        solid = step * (math.cos(row * step) - math.cos((row + 1) * step))
        for column in range(2 * height):
            down, right = (row + 0.5) * step, (column + 0.5) * step - math.pi
            yield (math.sin(down) * math.sin(right), math.cos(down), math.sin(down) * math.cos(right)), solid


# Table 8.19 of the OpenGL 4.6 specification, solved for the direction: s to the right, t downwards, m the major axis.
FACES = {'+x': lambda s, t: (1, -t, -s), '-x': lambda s, t: (-1, -t, s), '+y': lambda s, t: (s, 1, t),
         '-y': lambda s, t: (s, -1, -t), '+z': lambda s, t: (s, -t, 1), '-z': lambda s, t: (-s, -t, -1)}


def corner(s, t):
    return math.atan2(s * t, math.sqrt(s * s + t * t + 1))


def cube_texels(side):
    for direction in FACES.values():
        for row in range(side):
            for column in range(side):
                s0, s1, t0, t1 = (2 * i / side - 1 for i in (column, column + 1, row, row + 1))
                v = direction((s0 + s1) / 2, (t0 + t1) / 2)
                length = math.sqrt(sum(c * c for c in v))
                solid = corner(s1, t1) - corner(s0, t1) - corner(s1, t0) + corner(s0, t0)
                yield tuple(c / length for c in v), solid


def rounded(value):
    return struct.unpack('<f', struct.pack('<f', value))[0]


def project(pixels, texels):
    """Exact sums of products of floats; and the sums of their magnitudes, for tolerances."""
    sums = [[Fraction(0)] * 3 for _ in range(9)]
    magnitudes = [[0.0] * 3 for _ in range(9)]
    for pixel, (direction, solid) in zip(pixels, texels):
        for k, value in enumerate(harmonics(*direction)):
            weight = Fraction(rounded(value * solid))
            for c in range(3):
                term = weight * Fraction(pixel[c])
                sums[k][c] += term
                magnitudes[k][c] += abs(float(term))
    return sums, magnitudes


# ----------------------------------------------------------------------------------------------------------------------
# Running
# ----------------------------------------------------------------------------------------------------------------------

def table(text, title):
    """The numbers of the table below a title: nine rows."""
    lines = text[text.index(title):].split('\n')[4:13]
    return [line.rsplit(None, 3)[1:] for line in lines]


class ProgramTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix='harmonics-test-')
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.random = random.Random(7)

    def path(self, name):
        return os.path.join(self.directory, name)

    def file(self, name, content):
        with open(self.path(name), 'wb') as file:
            file.write(content)
        return self.path(name)

    def run_program(self, *args):
        done = subprocess.run([PROGRAM, *args], capture_output=True, timeout=120)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def good(self, *args):
        code, out, err = self.run_program(*args)
        self.assertEqual(code, 0, err)
        return out, err

    def bad(self, status, needles, *args):
        code, out, err = self.run_program(*args)
        self.assertEqual((code, out), (status, ''), (args, err))
        self.assertTrue(err.startswith('spherical-harmonics: '), err)
        self.assertTrue(all(c == '\n' or ' ' <= c <= '~' for c in err), repr(err))
        for needle in needles:
            self.assertIn(needle, err, args)

    def coefficients(self, *args):
        """Read from both tables, which must say the same."""
        out, _ = self.good(*args)
        decimal = [[float(n) for n in row] for row in table(out, 'Coefficients, correctly')]
        exact = [[float.fromhex(n) for n in row] for row in table(out, 'The same in base 16')]
        self.assertEqual(repr(decimal), repr(exact))  # as texts, since NaN equals nothing
        self.assertEqual((len(exact), {len(row) for row in exact}), (9, {3}))
        return exact

    def check(self, got, expected, tolerance=2 ** -24):
        """`expected` from project(): weights rounded the other way may deviate by 2^-24, zeros by what cos() leaves."""
        for k in range(9):
            for c in range(3):
                allowed = expected[1][k][c] * tolerance + 1e-14
                self.assertLessEqual(abs(float(Fraction(got[k][c]) - expected[0][k][c])), allowed, (k, c, got[k][c]))

    def noise(self, width, height, scale=1.0):
        """Numbers that .hdr files hold exactly, when the scale is a power of two."""
        return [[tuple(scale * (self.random.randrange(255) + (c == 0)) / 128 for c in range(3)) for _ in range(width)]
                for _ in range(height)]


def flat(image):
    return [pixel for row in image for pixel in row]


def exact_rgbe(image):
    """The image as .hdr keeps it."""
    result = []
    for row in image:
        result.append([])
        for pixel in row:
            r, g, b, e = rgbe(pixel)
            result[-1].append(tuple(m * 2.0 ** (e - 136) for m in (r, g, b)))
    return result


class Projection(ProgramTest):
    def test_panoramas(self):
        for height in (1, 2, 5, 16):
            image = exact_rgbe(self.noise(2 * height, height))
            expected = project(flat(image), panorama_texels(height))
            for runs in (False, True):
                self.check(self.coefficients(self.file('a.hdr', hdr(image, runs))), expected)

    def test_cubes(self):
        """Six files, strips and crosses of the same faces: the same bits."""
        for side in (1, 3, 12):
            faces = [exact_rgbe(self.noise(side, side)) for _ in FACES]
            black = [[(0.0, 0.0, 0.0)] * side] * side
            px, nx, py, ny, pz, nz = faces

            def grid(rows):
                return [sum((face[y] for face in row), []) for row in rows for y in range(side)]

            turned = [row[::-1] for row in nz[::-1]]
            shapes = {
                'strip': grid([faces]),
                'tall': grid([[face] for face in faces]),
                'cross': grid([[black, py, black, black], [nx, pz, px, nz], [black, ny, black, black]]),
                'tall cross': grid([[black, py, black], [nx, pz, px], [black, ny, black], [black, turned, black]])}
            results = [self.coefficients(*[self.file('%d.hdr' % i, hdr(face)) for i, face in enumerate(faces)])]
            results += [self.coefficients(self.file(name + '.hdr', hdr(image))) for name, image in shapes.items()]
            self.check(results[0], project(flat(sum(faces, [])), cube_texels(side)))
            for result in results[1:]:
                self.assertEqual(result, results[0])

    def test_layouts_agree(self):
        """The same light as a panorama and as a cube, both fine enough for three digits."""
        for light in ('gradient', 'cosine', 'harmonic', 'sky'):
            panorama, cube = self.path('p.hdr'), self.path('c.hdr')
            self.good('--make-test-map', light, panorama)
            self.good('--make-test-map', light, '--cube', '--size', '128', cube)
            for a, b in zip(flat(self.coefficients(panorama)), flat(self.coefficients(cube))):
                self.assertLess(abs(a - b), 1e-3)

    def test_devices_and_threads(self):
        path = self.path('sky.hdr')
        self.good('--make-test-map', 'sky', path)
        expected = self.good(path, '--device', 'cpu:portable', '--threads', '1')[0].split('\n', 1)[1]
        devices = []
        for device in ('auto', 'cpu', 'cpu:portable', 'cpu:avx2', 'cpu:avx512'):
            for threads in ('0', '1', '2', '3', '8'):
                code, out, err = self.run_program(path, '--device', device, '--threads', threads)
                if code == 1 and device in ('cpu:avx2', 'cpu:avx512'):
                    self.assertIn('is not here', err)
                    print('not on this processor:', device)
                    break
                self.assertEqual((code, out.split('\n', 1)[1]), (0, expected), (device, threads))
                devices.append(out.split('\n')[0].rsplit(' on ')[1])
        self.assertIn('cpu:portable', devices)

    def test_expected_and_plain(self):
        path = self.path('c.hdr')
        self.good('--make-test-map', 'constant', path)
        out, _ = self.good(path, '--expect', 'constant', '--plain')
        self.assertIn('off by', out)
        self.assertIn('backwards', out)
        known = [line for line in out[out.index('Known coefficients'):].split('\n') if line.startswith('  Y(0,0)')]
        self.assertEqual(float(known[0].split()[2]), float('%.9g' % math.sqrt(4 * math.pi)))

    def test_committed_map(self):
        """The map in the repository is what the program makes, to the byte, on every machine."""
        made = self.path('sky.hdr')
        self.good('--make-test-map', 'sky', '--size', '64', made)
        with open(made, 'rb') as a, open(os.path.join(FOLDER, 'sky.hdr'), 'rb') as b:
            self.assertEqual(a.read(), b.read())


class Formats(ProgramTest):
    def test_exr(self):
        image = self.noise(16, 8)
        if not HAS_EXR:
            self.bad(1, ['a.exr', 'libopenexr-dev'], self.file('a.exr', exr(image)))
            return
        expected = project(flat(image), panorama_texels(8))
        self.check(self.coefficients(self.file('a.exr', exr(image))), expected)
        self.check(self.coefficients(self.file('a.exr', exr(image, half=True))), expected)
        grey = [[(p[0],) * 3 for p in row] for row in image]
        self.check(self.coefficients(self.file('a.exr', exr(image, grey=True))), project(flat(grey), panorama_texels(8)))

    def test_png(self):
        def srgb(v):
            return v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4

        for bits, gamma, linear in ((8, None, srgb), (16, None, srgb), (8, 45455, srgb), (16, 100000, lambda v: v),
                                    (8, 50000, lambda v: v * v)):
            image = [[tuple(self.random.randrange(1 << bits) for _ in range(3)) for _ in range(16)] for _ in range(8)]
            path = self.file('a.png', png(image, bits, gamma))
            if not HAS_PNG:
                self.bad(1, ['a.png', 'libpng-dev'], path)
                continue
            light = [[tuple(linear(c / ((1 << bits) - 1)) for c in p) for p in row] for row in image]
            self.check(self.coefficients(path), project(flat(light), panorama_texels(8)), 2 ** -22)

    def test_numbers_that_light_cannot_have(self):
        if not HAS_EXR:
            return  # no other format has them; test_exr says what happens then
        nan, inf = float('nan'), float('inf')
        for value, refused in ((nan, True), (inf, True), (-inf, True), (-0.25, False)):
            image = self.noise(8, 4)
            image[2][5] = (1.0, value, 1.0)
            path = self.file('a.exr', exr(image))
            if refused:
                self.bad(1, ['a.exr', 'green', 'column 5, row 2', '%g' % value, '--invalid'], path)
            else:
                self.assertIn('1 negative', self.good(path)[1])
                self.check(self.coefficients(path), project(flat(image), panorama_texels(4)))
            image[2][5] = (1.0, 0.0, 1.0)
            self.check(self.coefficients(path, '--invalid', 'zero'), project(flat(image), panorama_texels(4)))
            kept = self.coefficients(path, '--invalid', 'keep')
            self.assertTrue(all(math.isfinite(row[c]) != (refused and c == 1) for row in kept for c in range(3)))
            if HAS_PNG:
                self.good(path, '--invalid', 'keep', '--picture', self.path('a.png'), '--size', '60')


class Errors(ProgramTest):
    def test_files(self):
        whole = hdr(self.noise(16, 8))
        self.bad(1, ['nowhere.hdr', 'No such file'], self.path('nowhere.hdr'))
        self.bad(1, ['a.txt', 'no image known', 'Radiance .hdr'], self.file('a.txt', b'a text'))
        self.bad(1, ['a.hdr', 'no image known'], self.file('a.hdr', b''))
        self.bad(1, ['a.hdr', 'row 7 of 8', 'cut short', '16 pixels'], self.file('a.hdr', whole[:-1]))
        self.bad(1, ['a.hdr', 'header is cut short'], self.file('a.hdr', whole[:30]))
        self.bad(1, ['a.hdr', "'-Y 8 -X 16'", '-Y height +X width'],
                 self.file('a.hdr', hdr(self.noise(16, 8), resolution=b'-Y 8 -X 16')))
        self.bad(1, ['a.hdr', 'FORMAT=32-bit_rle_xyze', 'expected FORMAT=32-bit_rle_rgbe'],
                 self.file('a.hdr', b'#?RADIANCE\nFORMAT=32-bit_rle_xyze\n\n-Y 1 +X 2\n'))
        self.bad(1, ['a.hdr', '65536 x 32768', 'cut short'], self.file('a.hdr', hdr([[(1, 1, 1)]], resolution=b'-Y 32768 +X 65536')))
        self.bad(1, ['a.hdr', 'expected sides from 1 to 65536'],
                 self.file('a.hdr', hdr([[(1, 1, 1)]], resolution=b'-Y 100000 +X 200000')))
        self.bad(1, [self.directory, 'directory'], self.directory)

    def test_library_formats(self):
        for name, built, data in (('a.exr', HAS_EXR, exr(self.noise(16, 8))), ('a.png', HAS_PNG, png([[(9, 9, 9)] * 16] * 8))):
            if built:
                for cut in (20, len(data) // 2, len(data) - 1 if name == 'a.exr' else len(data) - 20):
                    self.bad(1, [name, 'cannot be read as'], self.file(name, data[:cut]))
        if HAS_EXR:
            self.bad(1, ['a.exr', 'expected channels R, G, B, or Y alone'],
                     self.file('a.exr', exr(self.noise(16, 8), names=['A', 'Z'])))

    def test_shapes(self):
        for width, height in ((16, 9), (15, 8), (10, 10), (7, 1), (8, 5)):
            self.bad(1, ['a.hdr', '%d x %d' % (width, height), 'twice as wide as high'],
                     self.file('a.hdr', hdr(self.noise(width, height))))
        square, wide, small = (self.file(n, hdr(self.noise(w, h))) for n, w, h in
                               (('square.hdr', 4, 4), ('wide.hdr', 5, 4), ('small.hdr', 3, 3)))
        self.bad(1, ['wide.hdr', '5 x 4', 'square', '-x'], square, wide, *[square] * 4)
        self.bad(1, ['small.hdr', '3 x 3', '4 x 4', 'square.hdr'], square, square, small, *[square] * 3)

    def test_options(self):
        path = self.file('a.hdr', hdr(self.noise(16, 8)))
        self.bad(2, ['0 files', 'expected one map, or the six faces'])
        self.bad(2, ['2 files'], path, path)
        self.bad(2, ['--threads', "'-1'", 'whole number'], path, '--threads', '-1')
        self.bad(2, ['--invalid', "'maybe'", 'error, zero or keep'], path, '--invalid', 'maybe')
        self.bad(2, ['--expect', "'moon'", 'cosine'], path, '--expect', 'moon')
        self.bad(2, ['--size', "'0'"], path, '--size', '0')
        self.bad(2, ['--size', 'expected with'], path, '--size', '100')
        self.bad(2, ['--cube', 'expected with --make-test-map'], path, '--cube')
        self.bad(2, ['--exposure', "'bright'"], path, '--exposure', 'bright')
        self.bad(2, ['unrecognized option'], path, '--colour')
        self.bad(1, ['abacus:0'], path, '--device', 'abacus:0')
        if not HAS_VULKAN:  # test_vulkan.py says what happens then
            self.bad(1, ['vulkan:0', 'built without Vulkan', 'glslc'], path, '--device', 'vulkan:0')
        self.bad(1, ['nowhere/a.hdr', 'cannot be written'], '--make-test-map', 'sky', self.path('nowhere/a.hdr'))
        code, out, _ = self.run_program('--help')
        self.assertEqual(code, 0)
        for needle in ('Examples:', '--make-test-map', 'harmonic', '+x -x +y -y +z -z'):
            self.assertIn(needle, out)


class Pictures(ProgramTest):
    def test_constant(self):
        """The irradiance of a constant light, over pi, is that light: all of the picture has one colour, but for its
        borders."""
        path, picture = self.path('c.hdr'), self.path('c.png')
        self.good('--make-test-map', 'constant', path)
        if not HAS_PNG:
            code, _, err = self.run_program(path, '--picture', picture)
            self.assertEqual(code, 1)
            self.assertIn('libpng-dev', err)
            return
        for form in ((), ('--cube',)):
            self.good('--make-test-map', 'constant', *form, path)
            self.good(path, '--picture', picture, '--size', '120')
            width, height, rows = read_png(picture)
            self.assertEqual((width, height), (2 * 59 + 2 + 120, 120))
            colours = {pixel for row in rows for pixel in row} - {(255, 255, 255)}
            self.assertLessEqual(max(max(c[i] for c in colours) - min(c[i] for c in colours) for i in range(3)), 1)
            red, green, blue = rows[10][10]
            self.assertTrue(red > green > blue > 60)
            brighter = self.good(path, '--picture', picture, '--size', '120', '--exposure', '1') and read_png(picture)[2]
            self.assertGreater(brighter[10][10], rows[10][10])

    def test_sides(self):
        """Red light from the right is at the right of both panoramas, green at the top."""
        if not HAS_PNG:
            return  # test_constant says what happens then
        path, picture = self.path('g.hdr'), self.path('g.png')
        self.good('--make-test-map', 'gradient', path)
        self.good(path, '--picture', picture, '--size', '120')
        rows = read_png(picture)[2]
        for top in (0, 61):
            self.assertGreater(rows[top + 29][88][0], rows[top + 29][29][0] + 10)
            self.assertGreater(rows[top + 5][59][1], rows[top + 53][59][1] + 10)
            self.assertGreater(rows[top + 29][59][2], rows[top + 29][2][2] + 10)

    def test_where_it_cannot_be(self):
        path = self.path('g.hdr')
        self.good('--make-test-map', 'gradient', path)
        code, _, err = self.run_program(path, '--picture', self.path('nowhere/g.png'))
        self.assertEqual(code, 1)
        self.assertIn('g.png', err)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
