"""Axes of arrays, rows and columns of matrices, several operators at once."""
import itertools
import math
import os
import random
import struct
from fractions import Fraction

from harness import CommandTest, in_fortran_order, main, npy, npy_array, text_of

GENERATOR = random.Random(11)
SHAPES = ((3,), (2, 3), (3, 2), (1, 7), (40, 25), (2, 3, 4), (3, 1, 5), (2, 2, 2, 2, 3), (0, 3), (3, 0), ())


def values_of(count):
    """Numbers whose sums need far more than 53 bits."""
    return [GENERATOR.choice((-1, 1)) * GENERATOR.random() * 2.0 ** GENERATOR.randrange(-40, 40) for _ in range(count)]


def exact_sum(values):
    return float(sum(map(Fraction, values), Fraction(0)))


def largest(values):
    return max(values)


def along(values, shape, axes, combine):
    """One result for each place of the other axes, in C order."""
    kept = [range(1) if k in axes else range(n) for k, n in enumerate(shape)]
    inner = [range(n) if k in axes else range(1) for k, n in enumerate(shape)]
    strides = [math.prod(shape[k + 1:]) for k in range(len(shape))]
    results = []
    for place in itertools.product(*kept):
        chosen = [values[sum((p + q) * s for p, q, s in zip(place, more, strides))] for more in itertools.product(*inner)]
        results.append(combine(chosen))
    return results


class Axes(CommandTest):
    def numbers(self, *args):
        status, out, err = self.run_command(*args)
        self.assertEqual((status, err), (0, ''))
        return [float(word) for word in out.split()]

    def test_every_set_of_axes(self):
        for shape in SHAPES:
            values = values_of(math.prod(shape))
            for fortran in (False, True):
                stored = in_fortran_order(values, shape) if fortran else values
                path = self.file('a.npy', npy_array('f64', stored, '<', shape, fortran))
                for size in range(1, len(shape) + 1):
                    for axes in itertools.combinations(range(len(shape)), size):
                        named = [str(a - len(shape) if GENERATOR.random() < .5 else a) for a in axes]
                        options = [word for name in named for word in ('--axis', name)]
                        expected = along(values, shape, axes, exact_sum)
                        self.assertEqual(self.numbers('sum', *options, path), expected, (shape, axes, fortran))
                        if all(shape[a] for a in axes):
                            self.assertEqual(self.numbers('max', *options, path), along(values, shape, axes, largest))

    def test_rows_and_columns_of_text(self):
        for rows, columns in ((1, 1), (1, 9), (9, 1), (30, 17)):
            values = values_of(rows * columns)
            text = '\n'.join(' '.join(map(repr, values[r * columns:(r + 1) * columns])) for r in range(rows))
            for path in (self.file('m.txt', text), self.file('e.txt', '\n \n' + text.replace('\n', ' \n\n\t') + '\n\n')):
                self.assertEqual(self.numbers('sum', '--rows', path), along(values, (rows, columns), (1,), exact_sum))
                self.assertEqual(self.numbers('sum', '--columns', path), along(values, (rows, columns), (0,), exact_sum))

    def test_lines_that_differ(self):
        for text, place in (('1 2\n3\n', ':2:2: a line of 1 number; expected 2'), ('1\n2 3', ': a line of 2 numbers; expected 1'),
                            ('1 2\n3 4\n5 6 7\n8 9', ':3:6: a line of 3 numbers; expected 2')):
            path = self.file('m.txt', text)
            self.bad(1, path + place if place.startswith(':3') else place, 'sum', '--rows', path)
            self.bad(1, place.split(': ', 1)[1], 'sum', '--columns', stdin=text.encode())

    def test_large_text(self):
        """Lines that go on from one piece of the text to the next."""
        rows, columns = 1500, 700
        text = '\n'.join(' '.join(str((r * 7 + c) % 1000) for c in range(columns)) for r in range(rows))
        path = self.file('m.txt', text)
        expected = [sum((r * 7 + c) % 1000 for c in range(columns)) for r in range(rows)]
        self.assertEqual(self.numbers('sum', '--rows', '--type', 'i32', '--threads', '3', path), expected)

    def test_dot(self):
        shape = (3, 4)
        x, y = values_of(12), values_of(12)
        first = self.file('x.npy', npy_array('f64', x, '<', shape))
        second = self.file('y.npy', npy_array('f64', in_fortran_order(y, shape), '<', shape, True))
        pairs = list(zip(x, y))
        for axis in (0, 1):
            expected = along(pairs, shape, (axis,), lambda chosen: float(sum((Fraction(a) * Fraction(b) for a, b in chosen), Fraction(0))))
            self.assertEqual(self.numbers('dot', '--axis', str(axis), first, second), expected)
        other = self.file('z.npy', npy_array('f64', x, '<', (4, 3)))
        self.bad(1, ('(3, 4)', '(4, 3)', 'expected the same'), 'dot', '--rows', first, other)

    def test_mask(self):
        shape = (3, 5)
        values, counts = values_of(15), [GENERATOR.randrange(3) for _ in range(15)]
        path = self.file('x.npy', npy_array('f64', values, '<', shape))
        turned = self.file('y.npy', npy_array('f64', in_fortran_order(values, shape), '<', shape, True))
        shaped = self.file('m.npy', npy_array('u8', in_fortran_order(counts, shape), '<', shape, True))
        raw = self.file('m.raw', bytes(counts))
        pairs = list(zip(values, counts))
        for array, mask in itertools.product((path, turned), (shaped, raw)):
            for axis in (0, 1):
                expected = along(pairs, shape, (axis,), lambda chosen: exact_sum(v for v, c in chosen if c))
                self.assertEqual(self.numbers('sum', '--axis', str(axis), '--mask', mask, array), expected)
            kept = [v for v, c in pairs if c]
            self.good(f'{exact_sum(kept)!r}\n{values.index(max(kept))}', 'sum,argmax', '--mask', mask, array)
        bare = self.file('x.raw', struct.pack('<15d', *values))
        self.good(repr(exact_sum(kept)), 'sum', '--type', 'f64', '--mask', raw, bare)
        self.bad(1, 'takes at least 1', 'max', '--mask', self.file('none.raw', bytes(15)), path)
        self.bad(1, 'expected as many', 'sum', '--mask', self.file('few.raw', bytes(14)), path)
        self.bad(1, '(5, 3)', 'sum', '--mask', self.file('n.npy', npy_array('u8', counts, '<', (5, 3))), path)
        self.bad(1, 'expected bytes', 'sum', '--mask', path, path)
        self.bad(2, '2 inputs given', 'sum', '--mask', raw, path, path)

    def test_mask_in_text(self):
        """What can be text is; what cannot, raw bytes."""
        path, bare = self.file('x.txt', '1 2\n4 8'), self.file('x.npy', npy_array('u8', [1, 2, 4, 8], '<', (2, 2)))
        for mask in ('1 0 1 0', '1 0\n1 0\n', '\ufeff1\t0\r\n1\r\n0', 'true false true false', b'\1\0\1\0', b'\x20\0\x0a\0', b'\xff\0\xff\0'):
            file = self.file('m', mask)
            for array in (path, bare):
                self.good('5', 'sum', '--mask', file, array)
                self.good('5', 'sum', '--mask', '-', array, stdin=mask)
            self.good('1\n4', 'sum', '--mask', file, '--rows', path)
        for format, mask in (('text', '1 0 1 0'), ('npy', '1 0 1 0'), ('npy', b'\1\0\1\0')):
            self.good('5', 'sum', '--mask', '-', '--format', format, path if format == 'text' else bare, stdin=mask)
        raw = self.file('x.raw', b'\1\2\4\x08')
        self.good('15', 'sum', '--mask', '-', '--format', 'raw', '--type', 'u8', raw, stdin='1010')
        self.good('5', 'sum', '--mask', '-', '--type', 'u8', raw, stdin='1 0 1 0')
        masks = npy_array('u8', [3, 0, 1, 0])
        for format in ('text', 'raw'):
            array = path if format == 'text' else raw
            self.good('5', 'sum', '--mask', '-', '--format', format, '--type', 'u8', array, stdin=masks)
        expected = 'is not a truth value; expected 0, 1, false or true, between white space'
        for mask, place in (('1010', ":1:1: '1010' "), ('1 0\n1 2', ":2:3: '2' "), ('1 0 1 0.0', ":1:7: '0.0' "), ('AAAA', ":1:1: 'AAAA' ")):
            self.bad(1, self.file('m.txt', mask) + place + expected, 'sum', '--mask', self.file('m.txt', mask), path)
        self.bad(1, "'\\x01\\x00\\x01\\x00' is not text", 'sum', '--mask', '-', '--format', 'text', path, stdin=b'\1\0\1\0')
        self.bad(1, 'holds 4 elements, the mask (standard input) 3', 'sum', '--mask', '-', path, stdin='1 0 1')

    def test_output(self):
        shape = (4, 5, 2)
        values = values_of(40)
        path, out = self.file('a.npy', npy_array('f64', values, '<', shape)), self.file('out.npy', b'')
        self.assertEqual(self.run_command('sum', '--axis', '1', '-o', out, path), (0, '', ''))
        with open(out, 'rb') as file:
            data = file.read()
        self.assertEqual(len(data) % 64, struct.calcsize('<8d') % 64)
        self.assertIn(b"'descr': '<f8', 'fortran_order': False, 'shape': (4,2,)", data)
        self.assertEqual(list(struct.unpack('<8d', data[-64:])), along(values, shape, (1,), exact_sum))
        again = self.run_command('sum', '--axis', '0', '--axis', '1', out)  # it reads what it wrote
        self.assertEqual(float(again[1]), exact_sum(struct.unpack('<8d', data[-64:])))
        self.assertEqual(sorted(os.listdir(os.path.dirname(out))), sorted({os.path.basename(path), 'out.npy'}))
        integers = self.file('a.npy', npy_array('i8', [100] * 6, '<', (2, 3)))
        self.assertEqual(self.run_command('sum', '--rows', '--output', out, integers), (0, '', ''))
        with open(out, 'rb') as file:
            self.assertEqual(file.read()[-16:], struct.pack('<2q', 300, 300))
        for result, name, expected in (('f16', b"'<f2'", struct.pack('<2e', 300, 300)), ('bf16', b"'<V2'", b'\x96\x43' * 2)):
            self.assertEqual(self.run_command('sum', '--rows', '--result', result, '-o', out, integers), (0, '', ''))
            with open(out, 'rb') as file:
                data = file.read()
            self.assertIn(name, data)
            self.assertEqual(data[-4:], expected)
            self.good('600', 'sum', out)
        flags = self.file('b.npy', npy({'descr': '|b1', 'fortran_order': False, 'shape': (2, 3)}, bytes([1, 2, 3, 0, 0, 4])))
        self.assertEqual(self.run_command('min', '--rows', '-o', out, flags), (0, '', ''))
        with open(out, 'rb') as file:
            data = file.read()
        self.assertIn(b"'|b1'", data)
        self.assertEqual(data[-2:], b'\x01\x00')
        self.bad(2, 'sum is i128, which .npy files do not hold', 'sum', '--rows', '--result', 'i128', '-o', out, integers)
        self.bad(1, 'No such file', 'sum', '--rows', '-o', os.path.join(out + 's', 'x.npy'), integers)

    def test_two_values(self):
        """Side by side where they are printed, along one more axis in a file."""
        shape = (3, 4)
        values = values_of(12)
        path, out = self.file('a.npy', npy_array('f64', values, '<', shape)), self.file('out.npy', b'')
        for axis in (0, 1):
            pairs = along(values, shape, (axis,), lambda chosen: (min(chosen), max(chosen)))
            self.assertEqual(self.numbers('minmax', '--axis', str(axis), path), [v for pair in pairs for v in pair])
            self.assertEqual(self.run_command('minmax', '--axis', str(axis), '-o', out, path), (0, '', ''))
            with open(out, 'rb') as file:
                data = file.read()
            self.assertIn(b"'shape': (%d,2,)" % len(pairs), data)
            self.assertEqual(list(struct.unpack('<%dd' % (2 * len(pairs)), data[-16 * len(pairs):])), [v for pair in pairs for v in pair])
        self.good('1 2 1 2\n-5 4 9 2', 'minmax,ptp,count', '--rows', stdin=b'1 2\n-5 4')
        self.assertEqual(self.run_command('any', '--rows', '-o', out, path), (0, '', ''))
        self.bad(2, ('xor', 'expected integers'), 'xor', '--rows', path)

    def test_weighted_mean(self):
        first, second = self.file('x.txt', '1 2\n3 4'), self.file('w.txt', '1 3\n0 0')
        self.good('1.75\nnan', 'weighted-mean', '--rows', first, second)
        self.good('1\n2', 'weighted-mean', '--columns', first, second)

    def test_failures_print_nothing(self):
        path = self.file('a.npy', npy_array('f64', [1., 2., math.nan, 4.], '<', (2, 2)))
        self.bad(1, (path + ': row 1: sum: element 0 is NaN'), 'sum', '--rows', '--nan', 'error', path)
        self.assertEqual(self.numbers('sum', '--rows', '--nan', 'ignore', path), [3, 4])
        self.bad(1, ('v.txt: column 0: var of too few', 'takes at least 2'), 'var', '--columns', self.file('v.txt', '1 2 3'))
        self.bad(1, 'v.txt: row 1: sum: the result does not fit i64; another --result may hold it', 'max,sum', '--result', 'i64', '--type', 'i64',
                 '--rows', self.file('v.txt', '1 2\n9223372036854775807 1'))
        cube = self.file('c.npy', npy_array('f64', [0.0] * 23 + [math.nan], '<', (2, 3, 4)))
        for axes, place in (((0,), 'place (2, 3): sum: element 1'), ((0, 1), 'place (3,): sum: element 5'), ((0, 1, 2), 'sum: element 23')):
            self.bad(1, 'c.npy: %s is NaN' % place, 'sum', '--nan', 'error', *(word for axis in axes for word in ('--axis', str(axis))), cube)

    def test_what_does_not_go_together(self):
        path = self.file('a.npy', npy_array('f64', [1., 2.]))
        self.bad(2, '--axis 1', 'sum', '--axis', '1', path)
        self.bad(2, 'named twice', 'sum', '--axis', '0', '--axis', '-1', path)
        for option in ('rows', 'columns'):
            self.bad(1, 'the shape (2,); expected a matrix, of two axes, for --%s (--axis 0 reduces this one)' % option, 'sum', '--' + option, path)
            self.bad(1, '(--axis K reduces any', 'sum', '--' + option, self.file('c.npy', npy_array('f64', [1.], '<', (1, 1, 1))))
        self.bad(2, 'expected one of them', 'sum', '--rows', '--axis', '0', path)
        self.bad(2, '2 inputs given', 'sum', '--axis', '0', path, path)
        self.bad(2, 'expected with --axis', 'sum', '-o', 'x', path)
        for name in ('out.npy', '-'):
            self.bad(2, "--output: found '%s' with 2 operators; expected %%s in it, which stands for the operator's name, as in out-%%s.npy" % name,
                     'sum,max', '--axis', '0', '-o', name, path)
        for axis in ('x', '', '1.5', '64', '+1', '99999999999999999999'):
            self.bad(2, '--axis: found', 'sum', '--axis', axis, path)
        self.bad(1, 'raw binary has no axes', 'sum', '--rows', '--format', 'raw', '--type', 'f64', self.file('r', bytes(16)))


class Several(CommandTest):
    def test_one_pass(self):
        path = self.file('a.txt', '1 2 3 4.5 nan 6')
        self.good('16.5\n1 6\n5\n5\n5', 'sum,minmax,ptp,count,count-nonzero', '--nan', 'ignore', path)
        self.good('16.5\n3.3\n6\n5', 'sum,mean,max,argmax', '--nan', 'ignore', path)
        self.good('3\n1', 'sum,argmin', '-', stdin=b'2 -1 2')
        self.good('3 1.5\n7 3.5', 'sum,mean', '--rows', stdin=b'1 2\n3 4')
        self.good('2.25\n1.5\n6', 'var,std,sum', '--population', stdin=b'0 3 0 3')

    def test_as_one_by_one(self):
        values = values_of(5000)
        path = self.file('a.npy', npy_array('f64', values))
        names = ['sum', 'mean', 'var', 'std', 'sumsq', 'norm1', 'norm2', 'norminf', 'rms', 'min', 'max', 'argmin', 'argmax',
                 'product', 'minmax']
        for mode in ('exact', 'fast'):
            alone = ''.join(self.run_command(name, '--mode', mode, path)[1] for name in names)
            self.assertEqual(self.run_command(','.join(names), '--mode', mode, path), (0, alone, ''))

    def test_lists(self):
        for names in ('sum,', ',sum', 'sum,,max', 'sum,foo', 'sum max', 'sum,SUM'):
            self.bad(2, 'is not an operator', names, '-')
        self.bad(2, 'more than 16', ','.join(['sum'] * 17), '-')
        for names in ('sum,dot', 'dot,sum', 'dot,weighted-mean'):
            self.bad(2, names + ' reduces 2 inputs together; 1 given', names, '-')
        self.bad(2, '--wrap: found with mean,max', 'mean,max', '--wrap', '-')


class Together(CommandTest):
    """Operators that read two arrays beside those that read one, which is the first."""

    def test_whole(self):
        first, second = self.file('x.txt', '1 2 4'), self.file('w.txt', '3 0 1')
        self.good('7\n1.75\n7\n2\n4', 'dot,weighted-mean,sum,argmax,max', first, second)
        self.good('7\n7', 'sum,dot', first, second)
        self.good('4\n0\n7\n3', 'sum,argmax,dot,count', second, first)
        self.bad(1, 'y.txt holds 2 elements, ', 'sum,dot', self.file('y.txt', '1 2'), second)
        self.bad(1, 'x.txt:1:3: found NaN', 'sum,dot', '--nan', 'error', self.file('x.txt', '1 nan 3'), second)
        self.good('7\nnan', 'sum,dot', self.file('x.txt', '1 2 4'), self.file('w.txt', '3 0 nan'))
        self.bad(1, 'w.txt:1:5: found NaN', 'sum,dot', '--nan', 'error', self.path('x.txt'), self.path('w.txt'))

    def path(self, name):
        return os.path.join(self.directory, name)

    def test_as_one_by_one(self):
        """Also where the two are read in pieces of other lengths, and where they lie in Fortran order."""
        shape = (300, 500)
        x, y = values_of(150000), values_of(150000)
        x[70000] = x[140000] = 2.0 ** 50
        text = self.file('y.txt', ' '.join(map(repr, y)))
        files = {fortran: [self.file('%d%s.npy' % (fortran, name), npy_array('f64', in_fortran_order(v, shape) if fortran else v, '<', shape, fortran))
                           for name, v in (('x', x), ('y', y))] for fortran in (False, True)}
        in_order, turned = [files[False], [files[False][0], text]], [files[True], [files[True][0], files[False][1]]]
        names = ('sum', 'argmax', 'argmin', 'product', 'minmax', 'var')
        for mode, pairs in (('exact', in_order + turned), ('fast', in_order)):  # fast sums depend on the order
            for pair in pairs:
                expected = self.run_command('dot', '--mode', mode, *pair)[1]
                expected += ''.join(self.run_command(name, '--mode', mode, pair[0])[1] for name in names)
                self.assertEqual(self.run_command(','.join(('dot', *names)), '--mode', mode, *pair), (0, expected, ''), (mode, pair))

    def test_axes_groups_and_masks(self):
        first, second = self.file('x.txt', '1 2\n3 4'), self.file('w.txt', '1 3\n0 1')
        self.good('3 7 1.75\n7 4 4', 'sum,dot,weighted-mean', '--rows', first, second)
        self.good('4 1 1\n6 10 2.5', 'sum,dot,weighted-mean', '--columns', first, second)
        self.good('4 1\n6 10', 'sum,dot', '--by', self.file('k.txt', '0 1 0 1'), first, second)
        self.good('5\n5', 'sum,dot', '--mask', self.file('m.txt', '1 0 0 1'), first, second)


class Files(CommandTest):
    """Several operators into a file each."""

    def read(self, name):
        with open(os.path.join(self.directory, name), 'rb') as file:
            return file.read()

    def test_several(self):
        path = self.file('a.npy', npy_array('i32', [1, 2, 3, 4], '<', (2, 2)))
        pattern = os.path.join(self.directory, '%s-of-%s.npy')
        self.assertEqual(self.run_command('sum,minmax,count-nonzero,mean', '--rows', '-o', pattern, path), (0, '', ''))
        for op, shape, expected in (('sum', '(2,)', struct.pack('<2q', 3, 7)), ('minmax', '(2,2,)', struct.pack('<4i', 1, 2, 3, 4)),
                                    ('count-nonzero', '(2,)', struct.pack('<2Q', 2, 2)), ('mean', '(2,)', struct.pack('<2d', 1.5, 3.5))):
            data = self.read('%s-of-%s.npy' % (op, op))
            self.assertIn(b"'shape': %s," % shape.encode(), data)
            self.assertEqual(data[-len(expected):], expected)
        self.assertEqual(len(os.listdir(self.directory)), 5)
        self.assertEqual(self.run_command('sum', '--rows', '-o', os.path.join(self.directory, 'one-%s%d.npy'), path), (0, '', ''))
        self.assertEqual(self.read('one-sum%d.npy'), self.read('sum-of-sum.npy'))

    def test_keys(self):
        path, keys = self.file('x.txt', '1 2 4'), self.file('k.txt', '9 -3 9')
        out = [os.path.join(self.directory, name) for name in ('%s.npy', 'keys-%s.npy')]
        self.assertEqual(self.run_command('sum,max', '--keys', keys, '-o', out[0], '--output-keys', out[1], path), (0, '', ''))
        for name, form, expected in (('sum', '<2d', (2, 5)), ('max', '<2d', (2, 4)), ('keys-%s', '<2q', (-3, 9))):
            self.assertEqual(struct.unpack(form, self.read(name + '.npy')[-16:]), expected)

    def test_refused(self):
        path = self.file('a.npy', npy_array('i32', [1, 2], '<', (1, 2)))
        out = os.path.join(self.directory, 'out-%s.npy')
        self.bad(1, 'out-sum.npy: two results are to be written there', 'sum,max,sum', '--rows', '-o', out, path)
        self.bad(2, '--missing: max is i32, which has no nan', 'mean,max', '--rows', '--missing', 'nan', '-o', out, path)
        self.assertEqual(os.listdir(self.directory), ['a.npy'])


class Missing(CommandTest):
    """Results of too few elements, and what is written for them."""

    def test_whole(self):
        nothing, one = self.file('none.txt', ''), self.file('one.txt', '5')
        for text in ('nan', 'NA', '', '%s x'):
            self.good(text, 'min', '--missing', text, nothing)
            self.good(text, 'argmax', '--missing=' + text, stdin='')
            self.good(f'5\n{text}\n5 5\n{text}', 'sum,var,minmax,std', '--missing', text, one)
        self.good('nan nan\n0\nnan', 'minmax,sum,mean', '--missing', 'nan', nothing)
        self.good('nan', 'mean', '--mode', 'fast', '--missing', 'nan', nothing)
        self.good('NA', 'weighted-mean', '--missing', 'NA', nothing, nothing)
        self.good('NA', 'max', '--nan', 'ignore', '--missing', 'NA', stdin='nan nan')
        self.good('NA\n1', 'var,count', '--missing', 'NA', '--mask', self.file('m.raw', b'\0\1\0'), self.file('x.txt', '1 2 3'))

    def test_axes(self):
        path, empty = self.file('x.txt', '1 nan 3\n4 nan nan\n'), self.file('e.npy', npy_array('f64', [], '<', (0, 2)))
        ignore = ('--nan', 'ignore', '--missing', 'NA')
        self.good('2 2 1 3\nNA 1 4 4', 'var,count,minmax', '--rows', *ignore, path)
        self.good('4.5 1 4\nNA NA NA\nNA 3 3', 'var,minmax', '--columns', *ignore, path)
        self.good('1\n\n3', 'min', '--columns', '--nan', 'ignore', '--missing', '', path)
        self.good('NA 0\nNA 0', 'argmin,sum', '--axis', '0', '--missing', 'NA', empty)
        self.good('NA 0', 'argmin,sum', '--axis', '0', '--axis', '1', '--missing', 'NA', empty)

    def test_groups(self):
        path, by = self.file('x.txt', '1 2 4'), self.file('k.txt', '0 3 0')
        self.good('1 4.5\nNA NA\nNA NA\n2 NA', 'min,var', '--by', by, '--missing', 'NA', path)
        self.good('0 4.5 2\n3 NA 1', 'var,count', '--keys', by, '--missing', 'NA', path)
        matrix = self.file('m.txt', '1 2\n3 nan\n5 nan\n')
        self.good('3 3\n3 NA\n7 1\n7 2', 'min', '--keys', self.file('k.txt', '7 3 3'), '--nan', 'ignore', '--missing', 'NA', matrix)

    def test_files(self):
        path, by, out = self.file('x.txt', '1 2 4'), self.file('k.txt', '0 2 0'), self.file('out.npy', 'before')
        self.assertEqual(self.run_command('var', '--by', by, '--missing', 'nan', '-o', out, path), (0, '', ''))
        with open(out, 'rb') as file:
            data = file.read()
        self.assertEqual([text_of(v) for v in struct.unpack('<3d', data[-24:])], ['4.5', 'nan', 'nan'])
        self.assertEqual(self.run_command('minmax', '--by', by, '--result', 'f32', '--missing', 'nan', '-o', out, '--type', 'f32', path), (0, '', ''))
        with open(out, 'rb') as file:
            data = file.read()
        self.assertIn(b"'shape': (3,2,)", data)
        self.assertEqual([text_of(v) for v in struct.unpack('<6f', data[-24:])], ['1', '4', 'nan', 'nan', '2', '2'])

    def test_other_failures(self):
        path, by = self.file('x.txt', '1 nan 4'), self.file('k.txt', '0 2 2')
        self.bad(1, 'x.txt: group 2: min: element 1 is NaN', 'min', '--nan', 'error', '--by', by, '--missing', 'nan', path)
        self.bad(1, 'x.txt:1:3: found NaN', 'min', '--nan', 'error', '--missing', 'nan', path)
        self.bad(1, 'group 2: sum: the result does not fit i64', 'min,sum', '--result', 'i64', '--type', 'i64', '--by', by, '--missing', 'nan',
                 self.file('l.txt', '1 9223372036854775807 4'))
        self.bad(1, 'var of 1 element does not exist', 'var', stdin='1')

    def test_refused(self):
        """Before any element is read."""
        out = self.file('out.npy', 'before')
        for text in ('', 'NaN', 'NA', '\x1b'):
            self.bad(2, ('--missing: found ', 'expected nan', '--output'), 'var', '--rows', '-o', out, '--missing', text, 'nowhere')
        integers = self.file('i.npy', npy_array('i32', [1, 2], '<', (1, 2)))
        for op, kind in (('min', 'i32'), ('argmin', 'u64'), ('sum', 'i64')):
            self.bad(2, '--missing: %s is %s, which has no nan; expected a float type' % (op, kind), op, '--by', 'nowhere', '-o', out,
                     '--missing', 'nan', integers)
        with open(out, 'rb') as file:
            self.assertEqual(file.read(), b'before')


if __name__ == '__main__':
    main()
