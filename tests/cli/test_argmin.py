"""argmin and argmax of arrays in Fortran order: the index counts in C order, as NumPy's does."""
import itertools
import math
import os
import random

from harness import CODES, FLOATS, CommandTest, in_fortran_order, limits, main, npy_array, sampled

GENERATOR = random.Random(3)


def place(op, values, nan='propagate'):
    """The first NaN, or the first extreme, -0 being less than +0."""
    for i, value in enumerate(values):
        if value != value and nan == 'propagate':
            return i
    keys = [(v, math.copysign(1, v)) if isinstance(v, float) else (v,) for v in values]
    known = [i for i, v in enumerate(values) if v == v]
    best = (min if op == 'argmin' else max)(keys[i] for i in known)
    return next(i for i in known if keys[i] == best)


class Fortran(CommandTest):
    def check(self, element, values, shape, *options, nan='propagate', orders='<'):
        for order in orders:
            path = self.file('a.npy', npy_array(element, in_fortran_order(values, shape), order, shape, True))
            for op in ('argmin', 'argmax'):
                self.good(str(place(op, values, nan)), op, *options, path)

    def test_shapes(self):
        for shape in ((5, 7), (1, 9), (9, 1), (2, 3, 4), (3, 1, 5), (2, 2, 2, 2, 3), (1, 1), (17,), ()):
            for element in ('f64', 'i8'):
                values = [GENERATOR.randrange(-100, 100) for _ in range(math.prod(shape))]
                self.check(element, [float(v) for v in values] if element == 'f64' else values, shape, orders='<>')

    def test_ties(self):
        """Few different values, so that the first in memory is hardly ever the first in C order."""
        for shape in ((3, 4), (4, 3), (2, 3, 4), (5, 1, 6), (6, 6)):
            for element in CODES:
                low, high = limits(element) if element not in FLOATS else (-math.inf, math.inf)
                for choices in ((low, high), (0, 1, 2), (high,)):
                    values = GENERATOR.choices(choices, k=math.prod(shape))
                    self.check(element, [float(v) for v in values] if element in FLOATS else values, shape)

    def test_zeros(self):
        for shape in ((4, 5), (3, 2, 4)):
            for _ in range(5):
                self.check('f32', GENERATOR.choices((0.0, -0.0), k=math.prod(shape)), shape)

    def test_nan(self):
        for shape in ((4, 5), (3, 2, 4)):
            for _ in range(5):
                values = GENERATOR.choices((1.0, 2.0, math.nan, -math.inf), k=math.prod(shape))
                values[GENERATOR.randrange(len(values))] = 0.5
                self.check('f64', values, shape)
                self.check('f64', values, shape, '--nan', 'ignore', nan='ignore')
        elements = in_fortran_order([1., 2., 3., math.nan, 5., 6.], (2, 3))
        path = self.file('a.npy', npy_array('f64', elements, '<', (2, 3), True))
        self.bad(1, path + ': element 3: found NaN', 'argmin', '--nan', 'error', path)
        self.bad(1, path + ': element 3: found NaN', 'sum', '--nan', 'error', path)

    def test_several_chunks(self):
        """Through a pipe the array comes in many chunks, cut anywhere."""
        shape = (700, 611)
        values = [GENERATOR.randrange(40) for _ in range(shape[0] * shape[1])]
        data = npy_array('i64', in_fortran_order(values, shape), '>', shape, True)
        path = self.file('a.npy', data)
        for op in ('argmin', 'argmax'):
            for threads in '12':
                self.good(str(place(op, values)), op, '-j', threads, path)
                self.good(str(place(op, values)), op, '-j', threads, stdin=data)

    def test_several_chunks_of_floats(self):
        """Of every sign and size, each the best for a while."""
        shape = (150, 1200)
        values = [math.copysign(2.0 ** (i % 7 * 40 - 120), GENERATOR.randrange(-1, 2)) * (1 + i / 1e6)
                  for i in range(shape[0] * shape[1])]
        for choice in (values, [-v * v for v in values], [v * v for v in values]):
            data = npy_array('f64', in_fortran_order(choice, shape), '<', shape, True)
            for op in ('argmin', 'argmax'):
                self.good(str(place(op, choice)), op, stdin=data)

    def test_several_files(self):
        """The index counts over all of them, and the first file wins a tie."""
        for element, choices in (('u16', (3, 4, 5)), ('i8', (-128, -1, 0, 1)), ('f32', (-2.0, -1.0, -0.0, 0.0, 3.0)),
                                 ('f64', (-math.inf, -5e-324, 5e-324, math.nan))):
            arrays = [GENERATOR.choices(choices, k=12) for _ in range(3)]
            files = [npy_array(element, in_fortran_order(a, (3, 4)) if i == 1 else a, '<', (3, 4), i == 1)
                     for i, a in enumerate(arrays)]
            paths = [self.file('%d.npy' % i, file) for i, file in enumerate(files)]
            for order in sampled(itertools.permutations(range(3))):
                values = [v for i in order for v in arrays[i]]
                for op in ('argmin', 'argmax'):
                    self.good(str(place(op, values)), op, *[paths[i] for i in order])

    def test_one_element_in_each_file(self):
        """So that only the command compares them."""
        for element, values in (('f64', (-0.0, -1.5, -math.inf, 2.5, 0.0, math.inf, -2.5)), ('i16', (-3, 5, -7, 0)),
                                ('u64', (1, (1 << 64) - 1, 0))):
            for pair in sampled(itertools.permutations(values, 2)):
                paths = [self.file('%d.npy' % i, npy_array(element, [v])) for i, v in enumerate(pair)]
                for op in ('argmin', 'argmax'):
                    self.good(str(place(op, pair)), op, *paths)

    def test_ignored_altogether(self):
        path = self.file('a.npy', npy_array('f64', [math.nan] * 6, '<', (2, 3), True))
        self.bad(1, 'argmin', 'argmin', '--nan', 'ignore', path)
        other = self.file('b.npy', npy_array('f64', [7.0]))
        self.good('6', 'argmin', '--nan', 'ignore', path, other)

    def test_the_rest_does_not_care(self):
        values = [float(GENERATOR.randrange(100)) for _ in range(24)]
        for op in ('sum', 'mean', 'max', 'norm2'):
            expected = self.run_command(op, self.file('c.npy', npy_array('f64', values, '<', (4, 6))))
            path = self.file('f.npy', npy_array('f64', in_fortran_order(values, (4, 6)), '<', (4, 6), True))
            self.assertEqual(self.run_command(op, path), expected)


class Windows(CommandTest):
    def test_beyond_one_window_of_a_file(self):
        """A sparse array of 200 MB: all zeros but for a few elements, in more than one mapped part of the file."""
        rows, columns = 2500, 10000
        header = npy_array('f64', [], '<', (rows, columns), True)
        path = os.path.join(self.directory, 'sparse.npy')
        with open(path, 'wb') as file:
            file.write(header)
            file.truncate(len(header) + 8 * rows * columns)
        self.good('0', 'argmin', path)
        # Equal ones: late in the file but in the first row; early in the file but in a later row.
        with open(path, 'r+b') as file:
            for row, column in ((0, 9000), (77, 3), (2499, 0)):
                file.seek(len(header) + 8 * (column * rows + row))
                file.write(b'\0\0\0\0\0\0\xf0\xbf')
        self.good('9000', 'argmin', path)
        self.good('0', 'argmax', path)


if __name__ == '__main__':
    main()
