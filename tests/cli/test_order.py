"""Elements of arrays are in the order of their indices (C order) for everything that depends on it."""
import math
import os
import random
import struct

from harness import CODES, FLOATS, CommandTest, in_fortran_order, main, npy_array, pack, start, text_of, wait_until_it_waits

GENERATOR = random.Random(5)
SHAPES = ((2, 3), (3, 2), (5, 7), (64, 65), (129, 3), (3, 200), (2, 3, 4), (3, 1, 5), (1, 4, 3, 1), (2, 2, 2, 2, 3))


def integers(count):
    return [GENERATOR.randrange(1, 100) for _ in range(count)]


class Dot(CommandTest):
    def arrays(self, name, element, values, shape):
        """The same array in both orders."""
        return (self.file(name + 'c.npy', npy_array(element, values, '<', shape)),
                self.file(name + 'f.npy', npy_array(element, in_fortran_order(values, shape), '<', shape, True)))

    def test_six_elements(self):
        a = self.file('a.npy', npy_array('f64', [0., 1., 2., 3., 4., 5.], shape=(2, 3)))
        b = self.file('b.npy', npy_array('f64', [0., 3., 1., 4., 2., 5.], shape=(2, 3), fortran=True))
        for pair in ((a, a), (a, b), (b, a), (b, b)):
            self.good('55', 'dot', *pair)

    def test_every_pair_of_orders(self):
        for shape in SHAPES:
            for element, mode in (('f64', 'exact'), ('f32', 'fast'), ('i16', 'exact')):
                x, y = integers(math.prod(shape)), integers(math.prod(shape))
                expected = str(sum(a * b for a, b in zip(x, y)))
                for first in self.arrays('x', element, x, shape):
                    for second in self.arrays('y', element, y, shape):
                        self.good(expected, 'dot', '--mode', mode, first, second)

    def test_other_inputs_are_in_this_order(self):
        shape = (3, 4)
        x, y = integers(12), integers(12)
        expected = str(sum(a * b for a, b in zip(x, y)))
        raw = self.file('y.bin', pack('f64', y))
        text = self.file('y.txt', ' '.join(map(str, y)))
        fortran = npy_array('f64', in_fortran_order(x, shape), '>', shape, True)
        path = self.file('x.npy', fortran)
        for other in (raw, text):
            self.good(expected, 'dot', '--type', 'f64', path, other)
            self.good(expected, 'dot', '--type', 'f64', other, path)
            self.good(expected, 'dot', '--type', 'f64', other, '-', stdin=fortran)
        self.good(expected, 'dot', path, '-', stdin=npy_array('f64', y, shape=shape))

    def test_shapes_that_differ(self):
        for a, b in (((2, 3), (3, 2)), ((6,), (2, 3)), ((2, 3), (2, 3, 1)), ((), (1,)), ((0, 2), (2, 0)),
                     ((2, 2), (2, 3))):
            for fortran in (False, True):
                first = self.file('a.npy', npy_array('f64', [1.0] * math.prod(a), '<', a, fortran))
                second = self.file('b.npy', npy_array('f64', [1.0] * math.prod(b), '<', b, False))
                self.bad(1, (first, second, str(a), str(b), 'expected the same'), 'dot', first, second)
                self.bad(1, ('(standard input)', second, str(a), str(b)), 'dot', '-', second,
                         stdin=npy_array('f64', [1.0] * math.prod(a), '<', a, fortran))
        axes = (1,) * 63 + (2,)
        first = self.file('a.npy', npy_array('f64', [1.0, 1.0], '<', axes))
        self.bad(1, (str(axes), '(2,)'), 'dot', first, self.file('b.npy', npy_array('f64', [1.0, 1.0])))

    def test_nan_is_told_by_its_place(self):
        good = self.file('good.npy', npy_array('f64', [1.0] * 6, shape=(2, 3)))
        values = [1., 2., 3., math.nan, 5., 6.]
        bad = self.file('bad.npy', npy_array('f64', in_fortran_order(values, (2, 3)), '<', (2, 3), True))
        self.bad(1, bad + ': element 3: found NaN', 'dot', '--nan', 'error', good, bad)
        self.bad(1, bad + ': element 3: found NaN', 'dot', '--nan', 'error', bad, good)


class Product(CommandTest):
    def test_same_bits_in_both_orders(self):
        """The tree of products is cut by the index of the elements."""
        for shape in ((100, 101), (3, 5000), (5000, 3), (17, 18, 19)):
            for element in FLOATS:
                values = [2 ** GENERATOR.uniform(-.1, .1) for _ in range(math.prod(shape))]
                path = self.file('c.npy', npy_array(element, values, '<', shape))
                expected = self.run_command('product', '--hex', path)
                self.assertEqual(expected[0], 0)
                self.assertRegex(expected[1], r'^0x1\.[0-9a-f]+p[+-]\d\d?$')
                for order in '<>':
                    data = npy_array(element, in_fortran_order(values, shape), order, shape, True)
                    path = self.file('f.npy', data)
                    self.good(expected[1].strip(), 'product', '--hex', '-j3', path)
                    self.good(expected[1].strip(), 'product', '--hex', stdin=data)

    def test_several_files(self):
        shape, values = (50, 60), [2 ** GENERATOR.uniform(-.1, .1) for _ in range(3000)]
        c = self.file('c.npy', npy_array('f64', values, '<', shape))
        f = self.file('f.npy', npy_array('f64', in_fortran_order(values, shape), '<', shape, True))
        expected = self.run_command('product', '--hex', c, c, c)[1].strip()
        for paths in ((f, c, f), (c, f, f), (f, f, f)):
            self.good(expected, 'product', '--hex', *paths)

    def test_integers(self):
        for element in CODES:
            if element not in FLOATS:
                for shape in ((2, 3), (3, 1), (0, 4)):
                    values = [1 + i for i in range(math.prod(shape))]
                    path = self.file('f.npy', npy_array(element, in_fortran_order(values, shape), '<', shape, True))
                    self.good(str(math.prod(values)), 'product', path)

    def test_nan_is_told_by_its_place(self):
        values = [1., 2., 3., 4., math.nan, 6.]
        path = self.file('f.npy', npy_array('f64', in_fortran_order(values, (2, 3)), '<', (2, 3), True))
        self.bad(1, path + ': element 4: found NaN', 'product', '--nan', 'error', path)


class Large(CommandTest):
    """More than one chunk: rows together, and a row in parts."""

    def check(self, shape):
        """A dot product that shows where each element belongs, with a raw file."""
        count, rows, columns = math.prod(shape), shape[0], math.prod(shape[1:])
        x, y = (bytes(range(period)) * (count // period + 1) for period in (251, 241))
        x, y = x[:count], y[:count]
        if rows < columns:
            fortran = bytearray(count)
            for r in range(rows):
                fortran[r::rows] = x[r * columns:(r + 1) * columns]
        else:
            fortran = b''.join(x[c::columns] for c in range(columns))
        data = npy_array('u8', [], '<', shape, True) + bytes(fortran)
        raw, path = self.file('y.bin', y), self.file('x.npy', data)
        products = [(i % 251) * (i % 241) for i in range(251 * 241)]
        expected = str(count // len(products) * sum(products) + sum(products[:count % len(products)]))
        self.good(expected, 'dot', '--type', 'u8', '-j3', path, raw)
        self.good(expected, 'dot', '--type', 'u8', '-j1', raw, '-', stdin=data)

    def test_rows_together(self):
        self.check((40000, 1003))

    def test_few_columns(self):
        self.check((15 << 20, 3))

    def test_a_row_in_parts(self):
        self.check((2, (32 << 20) + 4567))


class Broken(CommandTest):
    def test_pipes_that_end(self):
        data = npy_array('f64', [1.0] * 6, '<', (2, 3), True)
        for missing in (1, 8, 47):
            self.bad(1, ('(standard input)', 'ends after %d elements; expected 6' % ((48 - missing) // 8)), 'product',
                     stdin=data[:-missing])
        self.bad(1, 'more bytes follow the 6 elements', 'product', stdin=data + b'x')

    def test_a_shape_beyond_memory(self):
        data = npy_array('f64', [1.0] * 6, '<', (1 << 28, 1 << 31), True)
        self.bad(1, '', 'product', stdin=data)

    def test_cut_short_while_it_is_read(self):
        """The file is mapped when it shrinks; the pipe beside it tells when."""
        shape = (1 << 12, 1 << 12)
        path = os.path.join(self.directory, 'shrinking.npy')
        head = npy_array('f64', [], '<', shape, True)
        with open(path, 'wb') as file:
            file.write(head)
            file.truncate(len(head) + (8 << 24))
        process = start('dot', '--format', 'auto', '--type', 'f64', path, '-')
        process.stdin.write(struct.pack('<d', 1.5) * 4096)
        process.stdin.flush()
        wait_until_it_waits(process, path)
        os.truncate(path, 4096)
        _, err = process.communicate(struct.pack('<d', 1.5) * (1 << 22), timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn(path.encode() + b': the file was cut short', err)


if __name__ == '__main__':
    main()
