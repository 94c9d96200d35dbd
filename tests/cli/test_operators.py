"""Every operator, element type and result type through the whole command, against Python's fractions.

The arithmetic itself has tests of its own, on far more data; here it is the way from file to number that counts."""
import functools
import itertools
import math
import operator
import os
import random
import resource
import struct
import unittest
from fractions import Fraction

from harness import (CODES, FLOATS, FORMATS, INTEGERS, SANITIZED, CommandTest, as_float, limits, main, npy_array, pack,
                     root, round_to, sampled, start, text_of, value_of)

GENERATOR = random.Random(99)


def sample(element, count=200):
    if element in FLOATS:
        most = min(30, FORMATS[element][1])
        return [as_float(element, math.ldexp(GENERATOR.uniform(-1, 1), GENERATOR.randrange(-most, most)))
                for _ in range(count)]
    low, high = limits(element)
    return [GENERATOR.choice((low, high, 0, 1, GENERATOR.randint(low, high))) for _ in range(count)]


def exact(op, values, others=None, population=False):
    """The result as a fraction; roots to far more than any format needs."""
    x = [Fraction(v) for v in values]
    n = len(x)
    if op == 'sum':
        return sum(x)
    if op == 'mean':
        return sum(x) / n
    if op in ('var', 'std'):
        variance = (sum(v * v for v in x) - sum(x) ** 2 / n) / (n if population else n - 1)
        return variance if op == 'var' else root(variance)
    if op in ('sumsq', 'norm2', 'rms'):
        squares = sum(v * v for v in x)
        return squares if op == 'sumsq' else root(squares if op == 'norm2' else squares / n)
    if op == 'norm1':
        return sum(map(abs, x))
    if op == 'norminf':
        return max(map(abs, x))
    if op == 'dot':
        return sum(a * Fraction(b) for a, b in zip(x, others, strict=True))
    if op == 'ptp':
        return max(x) - min(x)
    if op == 'weighted-mean':
        w = [Fraction(b) for b in others]
        return sum(a * b for a, b in zip(x, w, strict=True)) / sum(w)
    return min(x) if op == 'min' else max(x)


PLAIN_SUMS = ('sum', 'sumsq', 'norm1', 'dot')
MEANS = ('mean', 'var', 'std', 'norm2', 'rms', 'weighted-mean')
PAIRS = ('dot', 'weighted-mean')
EXTREMES = ('min', 'max', 'norminf')


class Default(CommandTest):
    def inputs(self, op, element):
        arrays = [sample(element) for _ in range(2 if op in PAIRS else 1)]
        return arrays, [self.file('%d.npy' % i, npy_array(element, a, shape=(10, -(-len(a) // 10))))
                        for i, a in enumerate(arrays)]

    def test_sums_and_means(self):
        for element, op in sampled(itertools.product(CODES, PLAIN_SUMS + MEANS)):
            arrays, paths = self.inputs(op, element)
            value = exact(op, *arrays)
            whole = op in PLAIN_SUMS and element in INTEGERS
            self.good(str(value) if whole else text_of(float(value)), op, *paths)

    def test_extremes(self):
        for element, op in sampled(itertools.product(CODES, EXTREMES)):
            arrays, paths = self.inputs(op, element)
            value = exact(op, *arrays)
            if element in INTEGERS:
                self.good(str(value), op, *paths)
                continue
            code, out, _ = self.run_command(op, *paths)
            self.assertEqual((code, as_float(element, float(out))), (0, float(value)))
            if element == 'f64':
                self.assertEqual(out, text_of(float(value)) + '\n')

    def test_both_extremes(self):
        for element in CODES:
            arrays, paths = self.inputs('minmax', element)
            code, out, _ = self.run_command('minmax', *paths)
            least, greatest = (Fraction(word) for word in out.split(' '))
            self.assertEqual(code, 0)
            if element in FLOATS:
                least, greatest = (as_float(element, float(value)) for value in (least, greatest))
            self.assertEqual((least, greatest), (min(arrays[0]), max(arrays[0])))
            value = exact('ptp', *arrays)
            self.good(str(value) if element in INTEGERS else text_of(float(value)), 'ptp', *paths)

    def test_counts_and_bits(self):
        for element in CODES:
            arrays, paths = self.inputs('count', element)
            arrays = arrays[0] + [0] * (-len(arrays[0]) % 10)
            nonzero = sum(v != 0 for v in arrays)
            for op, value in (('count', len(arrays)), ('count-nonzero', nonzero), ('count_nonzero', nonzero),
                              ('any', int(nonzero > 0)), ('all', int(nonzero == len(arrays)))):
                self.good(str(value), op, *paths)
            for op, combine in (('and', operator.and_), ('or', operator.or_), ('xor', operator.xor)):
                if element in FLOATS:
                    self.bad(2, (paths[0], op, element, 'expected integers'), op, *paths)
                else:
                    self.good(str(functools.reduce(combine, arrays)), op, *paths)

    def test_of_nothing(self):
        for op, value in (('count', '0'), ('count-nonzero', '0'), ('any', '0'), ('all', '1')):
            self.good(value, op, stdin='')
        for op, value in (('and', '-1'), ('or', '0'), ('xor', '0')):
            self.good(value, op, '--type', 'i16', stdin='')
            self.bad(2, (op, 'f64', 'expected integers', 'text is f64'), op, stdin='1')
        self.good('65535', 'and', '--type', 'u16', stdin='')
        for op in ('minmax', 'ptp'):
            self.bad(1, op, op, stdin='')
        empty = self.file('empty.txt', '')
        self.bad(1, 'weighted_mean', 'weighted-mean', empty, empty)

    def test_weights(self):
        def mean(values, weights, *options):
            return self.run_command('weighted-mean', *options, self.file('x.txt', values), self.file('w.txt', weights))
        for values, weights, expected in (('1 2 4', '3 -1 4', '2.8333333333333335'), ('1 2', '1 -1', '-inf'),
                                          ('1 1', '1 -1', 'nan'), ('inf 1', '2 -3', '-inf'), ('1 2', 'inf 1', 'nan'),
                                          ('1 nan 5', '1 1 1', 'nan'), ('1e308 1e308', '1e308 1e308', '1e+308')):
            self.assertEqual(mean(values, weights), (0, expected + '\n', ''))
        self.assertEqual(mean('1 nan 5', '1 1 1', '--nan', 'ignore'), (0, '3\n', ''))
        code, _, err = mean('1 2 5', '1 1')
        self.assertEqual(code, 1)
        self.assertIn('expected as many', err)
        self.bad(2, ('weighted-mean', '2 inputs'), 'weighted-mean', self.file('x.txt', '1'))

    def test_places(self):
        for element in CODES:
            for op, best in (('argmin', min), ('argmax', max)):
                arrays, paths = self.inputs(op, element)
                self.good(str(arrays[0].index(best(arrays[0]))), op, *paths)

    def test_population(self):
        values = sample('f64')
        path = self.file('a.npy', npy_array('f64', values))
        for op in ('var', 'std'):
            self.good(text_of(float(exact(op, values, population=True))), op, '--population', path)
        self.good('0', 'var', '--population', stdin='7')
        self.bad(1, 'var', 'var', stdin='7')
        self.bad(1, 'std', 'std', '--population', stdin='')

    def test_f32_extremes_are_short(self):
        """The shortest text that reads back as the same float, not as the double next to it."""
        self.good('0.1', 'max', '--type', 'f32', stdin='0.1')
        self.good('0.10000000149011612', 'sum', '--type', 'f32', stdin='0.1')
        self.good('0.1', 'sum', '--type', 'f32', '--result', 'f32', stdin='0.1')


class Results(CommandTest):
    def test_rounded_once(self):
        """Every float result of every operator that has it is the exact value rounded to that type alone."""
        for element in (*FLOATS, 'i32'):
            for op in PLAIN_SUMS + MEANS:
                arrays = [[as_float(element, v % 64) if element in FLOATS else v % 64 for v in sample(element, 50)]
                          for _ in range(2 if op in PAIRS else 1)]
                paths = [self.file('%d.npy' % i, npy_array(element, a)) for i, a in enumerate(arrays)]
                value = exact(op, *arrays)
                for result in sampled(FORMATS):
                    code, out, err = self.run_command(op, '--result', result, *paths)
                    self.assertEqual((code, err), (0, ''))
                    bits = round_to(result, value)
                    if out == 'inf\n':
                        self.assertGreater(value, 65000)
                    else:
                        self.assertEqual(round_to(result, Fraction(out.strip())), bits, (op, element, result))

    def test_not_through_a_double(self):
        """Just above the middle of two halves: a double in between would round it away."""
        tiny = 2.0 ** -70
        for result in ('f16', 'bf16', 'f32'):
            precision = FORMATS[result][0]
            path = self.file('a.npy', npy_array('f64', [1, 2.0 ** -precision, tiny]))
            above = value_of(result, round_to(result, 1 + Fraction(2) ** (1 - precision)))
            code, out, _ = self.run_command('sum', '--result', result, '--hex', path)
            self.assertEqual((code, Fraction(float.fromhex(out))), (0, above))

    def test_f16_and_bf16(self):
        self.good('1e-07', 'sum', '--result', 'f16', stdin='1e-7')
        self.good('0.1', 'sum', '--result', 'bf16', stdin='0.1')
        self.good('65504', 'sum', '--result', 'f16', stdin='65519')
        self.good('inf', 'sum', '--result', 'f16', stdin='65520')
        self.good('-inf', 'sum', '--result', 'bf16', stdin='-1e39')
        self.good('nan', 'sum', '--result', 'f16', stdin='nan')
        self.good('-0', 'sum', '--result', 'f16', stdin='-0')

    def test_wide_integers(self):
        """Sums beyond 64 and 128 bits, in full."""
        low, high = limits('i64')
        path = self.file('a.npy', npy_array('i64', [low] * 100))
        self.good(str(100 * low), 'sum', path)
        self.good(str(100 * low * low), 'sumsq', path)
        self.good(str(100 * low * low), 'dot', path, path)
        self.good(hex(100 * low), 'sum', '--hex', path)
        self.good(str(100 * low), 'sum', '--result', 'i128', path)
        self.good(str(100 * low * low), 'sumsq', '--result', 'i256', path)
        self.good(text_of(float(100 * low)), 'sum', '--result', 'f64', path)
        top = self.file('b.npy', npy_array('u64', [limits('u64')[1]] * 64))
        self.good(str(64 * limits('u64')[1] ** 2), 'dot', top, top)
        self.good(str(64 * limits('u64')[1]), 'sum', '--result', 'u128', top)

    def test_results_that_do_not_fit(self):
        low, high = limits('i64')
        path = self.file('a.npy', npy_array('i64', [high, high, 5]))
        self.bad(1, path, 'sum', '--result', 'i64', path)
        self.good(str((2 * high + 5 + (1 << 63)) % (1 << 64) - (1 << 63)), 'sum', '--result', 'i64', '--wrap', path)
        self.good(str((2 * high + 5 + (1 << 63)) % (1 << 64) - (1 << 63)), 'sum', '--wrap', path)
        self.good(str((3 * high ** 2) % (1 << 64)), 'sumsq', '--wrap',
                  self.file('b.npy', npy_array('i64', [high, high, high])))
        self.good(str(-3 % (1 << 128)), 'sum', '--result', 'u128', '--wrap', '--type', 'i8', stdin='-3')
        self.bad(1, '(standard input)', 'sum', '--result', 'u128', '--type', 'i8', stdin='-3')

    def test_types_an_operator_does_not_have(self):
        for op, element, result in (('sum', 'f64', 'i64'), ('mean', 'i32', 'i64'), ('min', 'f32', 'f64'),
                                    ('argmin', 'f32', 'f32'), ('norminf', 'i8', 'i8'), ('sum', 'i8', 'i8')):
            self.bad(2, ('--result', op, result, 'can be'), op, '--result', result, '--type', element, stdin='1')


class Hex(CommandTest):
    def test_floats(self):
        for value in (0.1, -1.5, 5e-324, 2.0 ** -1030, 1.7976931348623157e308, -0.0, 3.0):
            code, out, _ = self.run_command('sum', '--hex', stdin=value.hex())
            self.assertEqual((code, struct.pack('d', float.fromhex(out))), (0, struct.pack('d', value)))
        for text, expected in (('inf', 'inf'), ('-inf', '-inf'), ('nan', 'nan'), ('1', '0x1p+0'), ('-0', '-0x0p+0')):
            self.good(expected, 'sum', '--hex', stdin=text)
        self.good('0x1.99999ap-4', 'max', '--hex', '--type', 'f32', stdin='0.1')
        self.good('0x1.998p-4', 'sum', '--hex', '--result', 'f16', stdin='0.1')
        self.good('0x1p-24', 'sum', '--hex', '--result', 'f16', stdin='6e-8')

    def test_integers(self):
        for element in INTEGERS:
            low, high = limits(element)
            self.good(hex(low), 'min', '--hex', '--type', element, stdin='%d %d' % (low, high))
            self.good(hex(high), 'max', '--hex', '--type', element, stdin='%d %d' % (low, high))
        self.good('0x2', 'argmax', '--hex', stdin='1 2 3')


class SpecialValues(CommandTest):
    def test_nan_policies(self):
        text = '3 nan 1 nan 2'
        for op, propagated, ignored in (('sum', 'nan', '6'), ('mean', 'nan', '2'), ('min', 'nan', '1'),
                                        ('max', 'nan', '3'), ('argmin', '1', '2'), ('argmax', '1', '0'),
                                        ('norminf', 'nan', '3'), ('var', 'nan', '1'), ('sumsq', 'nan', '14'),
                                        ('minmax', 'nan nan', '1 3'), ('ptp', 'nan', '2'), ('count', '3', '3'),
                                        ('count-nonzero', '5', '3'), ('any', '1', '1'), ('all', '1', '1')):
            self.good(propagated, op, stdin=text)
            self.good(propagated, op, '--nan', 'propagate', stdin=text)
            self.good(ignored, op, '--nan', 'ignore', stdin=text)
            self.bad(1, '1:3: found NaN', op, '--nan', 'error', stdin=text)
        self.good('0', 'sum', '--nan', 'ignore', stdin='nan nan')
        for op in ('mean', 'min', 'argmin'):
            self.bad(1, op, op, '--nan', 'ignore', stdin='nan nan')

    def test_signed_zeros(self):
        self.good('-0', 'min', stdin='0 -0 0')
        self.good('0', 'max', stdin='-0 0 -0')
        self.good('1', 'argmin', stdin='0 -0 0 -0')
        self.good('1', 'argmax', stdin='-0 0 -0 0')

    def test_sums_no_double_could_form(self):
        self.good('1', 'sum', stdin='1e308 1e308 1 -1e308 -1e308')
        self.good('1e+308', 'mean', stdin='1e308 1e308 1e308')
        self.good('inf', 'sum', stdin='1e308 1e308')
        self.good('5e-324', 'sum', stdin='1e300 5e-324 -1e300')
        self.good('0.6', 'sum', stdin='0.1 0.2 0.3')


def tree_product(values):
    """The tree of docs/numerics.md, with Python's floats as significands and its integers as exponents."""
    exponent = 0

    def times(a, b):
        nonlocal exponent
        significand, shift = math.frexp(a * b)
        exponent += shift
        return significand

    def block(factors):
        lanes = [0.5] * 64  # powers of two do not round
        for i, v in enumerate(factors):
            lanes[i % 64] = times(lanes[i % 64], v)
        while len(lanes) > 1:
            half = len(lanes) // 2
            lanes = [times(a, b) for a, b in zip(lanes[:half], lanes[half:])]
        return lanes[0] * 2

    level = []
    for begin in range(0, len(values), 4096):
        exponent += 63  # of the lanes' halves
        level.append(block([times(v, 1) for v in values[begin:begin + 4096]]))
    while len(level) > 1:
        level = [times(*level[k:k + 2]) if k + 1 < len(level) else level[k] for k in range(0, len(level), 2)]
    return math.ldexp(level[0], exponent)


class Product(CommandTest):
    def test_integers_in_full(self):
        for count in (0, 1, 20, 34, 57):
            self.good(str(math.factorial(count)), 'product', '--type', 'i64', stdin=' '.join(map(str, range(1, count + 1))))
        numbers = ' '.join(map(str, range(1, 59)))
        self.bad(1, ('product', 'i256', '256 bits'), 'product', '--type', 'u64', stdin=numbers)
        self.good('0', 'product', '--type', 'u64', stdin=numbers + ' 0')
        self.good(str(math.factorial(58) % 2 ** 64), 'product', '--type', 'u64', '--wrap', stdin=numbers)
        self.bad(1, ('product', 'i64'), 'product', '--type', 'i8', '--result', 'i64', stdin='127 ' * 10)
        self.bad(2, ('--result', 'f64'), 'product', '--type', 'i8', '--result', 'f64', stdin='1')

    def test_nothing_overflows_on_the_way(self):
        self.good('1e+300', 'product', stdin='1e300 1e300 1e-300')
        self.good('6', 'product', stdin=' '.join(['2'] * 5000 + ['0.5'] * 5000 + ['6']))
        self.good('5e-324', 'product', stdin='5e-324 5e-324 1e300 2.0240225330731058e+23')
        self.good('inf', 'product', stdin='1e300 1e300')
        self.good('-0', 'product', stdin='1e-300 -1e-300')

    def test_special_values(self):
        for text, value in (('', '1'), ('-0 5', '-0'), ('-0 -5', '0'), ('inf -3', '-inf'), ('inf 0', 'nan'),
                            ('nan 0', 'nan')):
            self.good(value, 'product', stdin=text)
        self.good('6', 'product', '--nan', 'ignore', stdin='2 nan 3 nan')
        self.bad(1, '1:3: found NaN', 'product', '--nan', 'error', stdin='2 nan 3')

    def test_same_bits_however_it_comes(self):
        values = [math.ldexp(GENERATOR.uniform(1, 2), GENERATOR.randrange(-900, 900) * (-1) ** i) for i in range(30001)]
        values = [v if i % 2 else 1 / values[i - 1] for i, v in enumerate(values)][1:-1]
        expected = text_of(tree_product(values))
        self.assertTrue(0 < abs(float(expected)) < math.inf)
        data = pack('f64', values)
        raw = ('--format', 'raw', '--type', 'f64')
        path = self.file('a.bin', data)
        self.good(expected, 'product', *raw, path)
        for device in ('cpu', 'cpu:portable'):
            for mode in ('exact', 'fast'):
                self.good(expected, 'product', *raw, '--device', device, '--mode', mode, '-j3', path)
        self.good(expected, 'product', *raw, stdin=data)
        self.good(expected, 'product', stdin='\n'.join(map(repr, values)))
        self.good(expected, 'product', self.file('a.npy', npy_array('f64', values)))
        parts = [self.file(str(end), data[begin:end]) for begin, end in ((0, 8), (8, 81000), (81000, len(data)))]
        self.good(expected, 'product', *raw, *parts)


class Fast(CommandTest):
    def test_error_bound(self):
        self.good('6', 'sum', '--mode', 'fast', stdin='1 2 3')
        values = sample('f64', 10000)
        path = self.file('a.npy', npy_array('f64', values))
        code, out, _ = self.run_command('sum', '--mode', 'fast', path)
        self.assertEqual(code, 0)
        bound = 80 * 2.0 ** -53 * math.fsum(map(abs, values))
        self.assertLessEqual(abs(Fraction(float(out)) - exact('sum', values)), bound)

    def test_same_bits_however_it_comes(self):
        """From files and pipes, in one piece or several, as binary or text, on any number of threads."""
        values = sample('f64', 1009)
        data = pack('f64', values) * 4500
        big = pack('f64', values, '>') * 4500
        text = '\n'.join(map(repr, values * 500))
        raw = ('--mode', 'fast', '--format', 'raw', '--type', 'f64')
        for op in ('sum', 'std', 'dot'):
            inputs = [self.file('a.bin', data)] * (2 if op == 'dot' else 1)
            code, out, _ = self.run_command(op, *raw, *inputs)
            self.assertEqual(code, 0)
            expected = out.strip()
            self.good(expected, op, *raw, '-j1', *inputs)
            self.good(expected, op, *raw, '-j5', *inputs)
            self.good(expected, op, *raw, *inputs[1:], '-', stdin=data)
            self.good(expected, op, *raw, '--byte-order=big', *[self.file('b.bin', big)] * len(inputs))
            self.good(expected, op, *raw, '--offset=1', *[self.file('c.bin', b'x' + data)] * len(inputs))
            if op != 'dot':
                parts = [self.file(str(end), data[begin:end])
                         for begin, end in ((0, 8808), (8808, 9999992), (9999992, len(data)))]
                self.good(expected, op, *raw, *parts)
        parts = [self.file('%d.txt' % i, text) for i in range(9)]
        expected = self.run_command('sum', *raw, self.file('a.bin', data))[1].strip()
        for threads in '13':
            self.good(expected, 'sum', '--mode', 'fast', '-j', threads, *parts)

    def test_pieces_come_to_the_bits_of_a_block(self):
        """A pipe's elements are added in shorter pieces than a file's."""
        for name, op in (('f64', 'sum'), ('f64', 'var'), ('f32', 'dot')):
            values = [*sample(name, 1009), math.nan]
            size = len(pack(name, [0]))
            data = pack(name, values) * (2 ** 23 // 1010 + 1)
            for count in (2 ** 16 - 1, 2 ** 16, 2 ** 16 + 65, 2 ** 22 - 1, 2 ** 22, 2 ** 22 + 2 ** 16 + 1, 2 ** 23):
                whole = data[:count * size]
                inputs = [self.file('a.bin', whole)] * (2 if op == 'dot' else 1)
                arguments = (op, '--mode', 'fast', '--nan', 'ignore', '--format', 'raw', '--type', name)
                code, out, _ = self.run_command(*arguments, *inputs)
                self.assertEqual(code, 0)
                self.assertNotIn(out, ('0\n', 'nan\n'))
                self.good(out.strip(), *arguments, *inputs[1:], '-', stdin=whole)

    def test_nan_under_nan_error(self):
        ones = self.file('ones.bin', pack('f64', [1.0]) * 4500000)
        for at in (3, 4200000):
            data = pack('f64', [1.0]) * at + pack('f64', [math.nan]) + pack('f64', [1.0]) * (4499999 - at)
            path = self.file('a.bin', data)
            for op, inputs in (('sum', (path,)), ('dot', (ones, path))):
                arguments = (op, '--mode', 'fast', '--nan', 'error', '--format', 'raw', '--type', 'f64')
                self.bad(1, path + ': element %d: found NaN' % at, *arguments, *inputs)
                self.bad(1, '(standard input): element %d: found NaN' % at, *arguments, *inputs[:-1], '-', stdin=data)
        self.bad(1, '1:3: found NaN', 'sum', '--mode', 'fast', '--nan', 'error', stdin='1 nan')

    @unittest.skipIf(SANITIZED, 'sanitizers need memory of their own')
    def test_whole_blocks_are_not_copied(self):
        """They are added from where the file is mapped, or in pieces as a pipe brings them: there is no memory for a copy of
        one."""
        block = 8 << 22
        paths = []
        for name in ('a.npy', 'b.npy'):
            paths.append(self.file(name, npy_array('f64', [], shape=(5 << 22,))))
            os.truncate(paths[-1], os.path.getsize(paths[-1]) + 5 * block)  # zeros that take no room
        for arguments in (('sum', paths[0]), ('sum', *paths), ('dot', *paths)):
            process = start(*arguments, '--mode', 'fast', '-j1', preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_DATA, (block * 3 // 4, block * 3 // 4)))
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out, err), (0, b'0\n', b''))
        process = start('sum', '-', '--mode', 'fast', '-j1', '--type', 'f64', '--format', 'raw',
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (block // 4, block // 4)))
        out, err = process.communicate(pack('f64', [1.0]) * (block // 8 + 1), timeout=60)
        self.assertEqual((process.returncode, out, err), (0, b'4194305\n', b''))
        short = self.file('c.npy', npy_array('f64', [], shape=((1 << 22) - 1,)))
        os.truncate(short, os.path.getsize(short) + block - 8)
        for arguments in (('sum', short), ('sum', paths[0], short), ('dot', short, short)):
            process = start(*arguments, '--mode', 'fast', '-j1', preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_DATA, (block * 3 // 4, block * 3 // 4)))
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out, err), (0, b'0\n', b''))


class Dot(CommandTest):
    def test_formats_together(self):
        raw = self.file('a.bin', pack('f64', [1, 2, 3]))
        array = self.file('a.npy', npy_array('f64', [4, 5, 6]))
        text = self.file('a.txt', '7 8\n9')
        self.good('32', 'dot', '--type', 'f64', raw, array)
        self.good('122', 'dot', array, text)
        self.good('50', 'dot', '--type', 'f64', text, raw)
        self.good('32', 'dot', '--type', 'f64', '-', array, stdin='1 2 3')
        self.good('32', 'dot', '--type', 'f64', array, '-', stdin=pack('f64', [1, 2, 3]))

    def test_lengths(self):
        a = self.file('a.npy', npy_array('f64', [1, 2, 3]))
        b = self.file('b.npy', npy_array('f64', [1, 2]))
        text = self.file('c.txt', '1 ' * 300000)
        for first, second in ((a, b), (b, a)):
            self.bad(1, (first, second, ' 3', ' 2'), 'dot', first, second)
        for first, second in ((a, text), (text, a)):
            self.bad(1, (first, second, ' 3', ' 300000'), 'dot', first, second)
        nan = self.file('nan.npy', npy_array('f64', [math.nan]))
        self.bad(1, (a, nan, ' 3', ' 1'), 'dot', '--nan', 'error', a, nan)  # said before anything is read
        self.bad(1, (a, '(standard input)', '3 elements', '2'), 'dot', a, '-', stdin='1 2')
        self.bad(1, ('(standard input)', a, '3'), 'dot', '-', a, stdin='1 2 3 4 5')

    def test_inputs(self):
        path = self.file('a.npy', npy_array('f64', [1, 2, 3]))
        for count in (0, 1, 3):
            self.bad(2, ('dot reduces 2 inputs', '%d given' % count), 'dot', *[path] * count)
        other = self.file('b.npy', npy_array('f32', [1, 2, 3]))
        self.bad(1, (path, other, 'f32', 'f64'), 'dot', path, other)

    def test_nothing(self):
        self.good('0', 'dot', self.file('a', ''), self.file('b', ''))

    def test_chunks_of_different_lengths(self):
        values = [float(i % 1000) for i in range(300000)]
        array = self.file('a.npy', npy_array('f64', values))
        text = '\n'.join(map(repr, values))
        expected = text_of(float(exact('sumsq', values)))
        self.good(expected, 'dot', array, self.file('b.txt', text))
        self.good(expected, 'dot', '-', array, stdin=text)


class SeveralFiles(CommandTest):
    def test_as_one_array(self):
        paths = [self.file('a.txt', '1 2'), self.file('b.npy', npy_array('f64', [3, 4])), self.file('empty', ''),
                 self.file('c.txt', '10\n')]
        self.good('20', 'sum', *paths)
        self.good('4', 'mean', *paths)
        self.good('4', 'argmax', *paths)
        self.good('0', 'argmin', *paths)
        self.good('2', 'argmin', paths[3], paths[3], paths[0])
        self.good('30', 'sum', *paths[:2], '-', *paths[1:], stdin='3')

    def test_types(self):
        a = self.file('a.npy', npy_array('f32', [1]))
        b = self.file('b.npy', npy_array('f64', [2]))
        c = self.file('c.txt', '3')
        self.bad(1, (b, 'f64 elements', a, 'f32'), 'sum', a, b)
        self.bad(1, (c, 'f64 elements', a, 'f32', '--type'), 'sum', a, c)
        self.good('4', 'sum', '--type', 'f32', a, c)

    def test_a_missing_one_is_told_first(self):
        self.bad(1, ('nowhere: No such file',), 'sum', self.file('a.txt', 'bad number'), 'nowhere')


if __name__ == '__main__':
    main()
