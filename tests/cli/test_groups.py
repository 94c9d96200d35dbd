"""Results by groups of elements."""
import math
import os
import random
import resource
import struct
import unittest
from fractions import Fraction

from harness import SANITIZED, CommandTest, in_fortran_order, limits, main, npy_array, size_of, start, text_of

GENERATOR = random.Random(12)


def exact_sum(values):
    return float(sum(map(Fraction, values), Fraction(0)))


class Groups(CommandTest):
    def numbers(self, *arguments):
        status, out, err = self.run_command(*arguments)
        self.assertEqual((status, err), (0, ''), arguments)
        return [float(number) for number in out.split()]

    def test_elements(self):
        values = [GENERATOR.choice((-1, 1)) * GENERATOR.random() * 2.0 ** GENERATOR.randrange(-40, 40) for _ in range(500)]
        ids = [GENERATOR.randrange(7) for _ in values]
        groups = [[v for v, k in zip(values, ids) if k == group] for group in range(7)]
        array, text = self.file('x.npy', npy_array('f64', values, '<', (500,))), self.file('x.txt', '\n'.join(map(repr, values)).encode())
        raw = self.file('x.raw', struct.pack('<500d', *values))
        for kind in ('u8', 'u16', 'u32', 'u64', 'i32', 'i64'):
            by = self.file(f'{kind}.npy', npy_array(kind, ids, '<', (500,)))
            self.assertEqual(self.numbers('sum', '--by', by, array), [exact_sum(group) for group in groups])
        by = self.file('ids.txt', ' '.join(map(str, ids)).encode())
        for path, more in ((array, ()), (text, ()), (raw, ('--type', 'f64'))):
            self.assertEqual(self.numbers('sum,count,max', *more, '--by', by, path),
                             [number for group in groups for number in (exact_sum(group), len(group), max(group))])
        self.assertEqual(self.numbers('argmin', '--by', by, array), [values.index(min(group)) for group in groups])
        self.assertEqual(self.numbers('count', '--by', by, '--groups', '9', array), [len(group) for group in groups] + [0, 0])
        self.assertEqual(self.numbers('dot', '--by', by, array, array), [exact_sum(Fraction(v) * Fraction(v) for v in group) for group in groups])
        mask = self.file('m.raw', bytes(k % 2 for k in range(500)))
        self.assertEqual(self.numbers('sum', '--by', by, '--mask', mask, array),
                         [exact_sum(v for i, (v, k) in enumerate(zip(values, ids)) if i % 2 and k == group) for group in range(7)])

    def test_rows(self):
        shape = (20, 3, 2)
        values = [GENERATOR.random() - 0.5 for _ in range(math.prod(shape))]
        ids = [GENERATOR.randrange(4) for _ in range(20)]
        by, out = self.file('ids.npy', npy_array('i32', ids, '<', (20,))), self.file('out.npy', b'')
        expected = [exact_sum(values[6 * row + place] for row in range(20) if ids[row] == group) for group in range(4) for place in range(6)]
        for turned in (False, True):
            array = self.file('x.npy', npy_array('f64', in_fortran_order(values, shape) if turned else values, '<', shape, turned))
            self.assertEqual(self.numbers('sum', '--by', by, '--groups', '4', array), expected)
            self.assertEqual(self.run_command('sum', '--by', by, '--groups', '4', '-o', out, array), (0, '', ''))
            with open(out, 'rb') as file:
                data = file.read()
            self.assertIn(b"'shape': (4,3,2,)", data)
            self.assertEqual(list(struct.unpack('<24d', data[-192:])), expected)
        matrix = self.file('m.txt', b'1 2\n3 4\n5 6\n')
        self.good('6\n8\n3\n4', 'sum', '--by', self.file('k.txt', b'0 1 0'), matrix)

    def test_outside(self):
        array = self.file('x.npy', npy_array('f64', [1, 2, 4, 8], '<', (4,)))
        by = self.file('k.txt', b'1 -3 0 5')
        self.bad(1, ('k.txt', 'number 1 is -3', '6 groups'), 'sum', '--by', by, array)
        self.bad(1, ('k.txt', 'number 1 is -3', '2 groups'), 'sum', '--by', by, '--groups', '2', array)
        self.good('4\n1', 'sum', '--by', by, '--groups', '2', '--skip-outside', array)
        self.good('4\n1\n0\n0\n0\n8', 'sum', '--by', by, '--skip-outside', array)

    def test_refused(self):
        array = self.file('x.npy', npy_array('f64', [1, 2, 4, 8], '<', (4,)))
        by = self.file('k.txt', b'0 1 0')
        self.bad(1, ('x.npy', '4 elements', 'k.txt', '3 numbers', 'expected as many'), 'sum', '--by', by, array)
        self.bad(1, 'f64 elements; expected the numbers of groups', 'sum', '--by', array, array)
        self.bad(1, 'x.npy: group 1: mean of too few elements does not exist; it takes at least 1', 'mean', '--by', self.file('z.txt', b'0 0 0 0'), '--groups', '2', array)
        self.bad(2, '--groups: expected with --by', 'sum', '--groups', '3', array)
        self.bad(2, '--skip-outside: expected with --by', 'sum', '--skip-outside', array)
        self.bad(2, 'expected one of them', 'sum', '--by', by, '--rows', array)
        self.bad(2, '2 inputs given', 'sum', '--by', by, array, array)

    @unittest.skipIf(SANITIZED, 'sanitizers need address space of their own')
    def test_too_many(self):
        """More groups than there is memory for, be they counted or said."""
        def run(*arguments):
            limit = (8 << 30, 8 << 30)
            process = start(*arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit))
            out, err = process.communicate(timeout=60)
            return process.returncode, out, err.decode()
        array = self.file('x.npy', npy_array('f64', [1, 2, 4]))
        for kind, largest in (('i64', 2**32 + 1), ('i64', 2**40), ('u32', 2**32 - 1), ('u64', 2**62), ('u64', 2**64 - 1)):
            by = self.file('k.npy', npy_array(kind, [0, largest, 1]))
            for more in ((), ('--skip-outside',)):
                status, out, err = run('sum', '--by', by, *more, array)
                self.assertEqual((status, out), (1, b''))
                self.assertIn(f'k.npy: number 1 is {largest}, the largest', err)
                self.assertIn(f'that makes {largest + 1} of them, which are more than there is memory for', err)
            self.good('1\n4', 'sum', '--by', by, '--groups', '2', '--skip-outside', array)
        by = self.file('k.txt', '0 1 0')
        for groups in (2**32 - 1, 2**32, 2**63 - 1):
            self.assertEqual(run('sum', '--by', by, '--groups', str(groups), array),
                             (1, b'', f'reduct: --groups: {groups} groups are more than there is memory for\n'))
        self.bad(2, ('--groups', 'at most 9223372036854775807'), 'sum', '--by', by, '--groups', str(2**63), array)

    def test_empty(self):
        array = self.file('x.npy', npy_array('f64', [], '<', (0,)))
        by = self.file('k.npy', npy_array('i32', [], '<', (0,)))
        self.assertEqual(self.numbers('sum', '--by', by, array), [])
        self.good('0\n0', 'sum', '--by', by, '--groups', '2', array)


class Keys(CommandTest):
    """Keys that are no numbers of groups."""

    def values_and_keys(self, kind, count=400, different=9):
        low, high = limits(kind)
        some = [low, high, 0] + [GENERATOR.randrange(low, high) for _ in range(different - 3)]
        values = [GENERATOR.choice((-1, 1)) * GENERATOR.random() * 2.0 ** GENERATOR.randrange(-40, 40) for _ in range(count)]
        return values, [GENERATOR.choice(some) for _ in values]

    def lines(self, values, keys, order):
        return '\n'.join(f'{key} {text_of(exact_sum(v for v, k in zip(values, keys) if k == key))} {keys.count(key)}' for key in order)

    def test_elements(self):
        for kind in ('i32', 'u32', 'i64', 'u64'):
            values, keys = self.values_and_keys(kind)
            array, file = self.file('x.npy', npy_array('f64', values)), self.file('k.npy', npy_array(kind, keys))
            self.good(self.lines(values, keys, sorted(set(keys))), 'sum,count', '--keys', file, array)
            self.good(self.lines(values, keys, dict.fromkeys(keys)), 'sum,count', '--keys', file, '--unsorted', array)
        values, keys = self.values_and_keys('i64')
        array, file = self.file('x.txt', ' '.join(map(repr, values))), self.file('k.txt', '\n'.join(map(str, keys)))
        self.good(self.lines(values, keys, sorted(set(keys))), 'sum,count', '--keys', file, array)
        self.good('-7 0x1p+2\n12 0x1.8p+1', 'sum', '--hex', '--keys', self.file('k.txt', '12 -7 12'), self.file('x.txt', '1 4 2'))

    def test_rows(self):
        matrix, keys = self.file('m.txt', '1 2\n3 4\n5 6\n'), self.file('k.txt', '9 -1 9')
        self.good('-1 3\n-1 4\n9 6\n9 8', 'sum', '--keys', keys, matrix)
        self.good('9 6\n9 8\n-1 3\n-1 4', 'sum', '--unsorted', '--keys', keys, matrix)

    def test_text_of_u64(self):
        """Numbers that fit i64 or, where some is larger and none negative, u64."""
        array = self.file('x.txt', '1 2 4 8')
        for text, expected in (('18446744073709551615 7 18446744073709551615 0', '0 8\n7 2\n18446744073709551615 5'),
                               ('9223372036854775808 9223372036854775807 -0 0x8000000000000000', '0 4\n9223372036854775807 2\n9223372036854775808 9'),
                               ('-9223372036854775808 9223372036854775807 -1 -1', '-9223372036854775808 1\n-1 12\n9223372036854775807 2')):
            self.good(expected, 'sum', '--keys', self.file('k.txt', text), array)
            self.good(expected, 'sum', '--keys', '-', array, stdin=text)
        keys, out, out_keys = self.file('k.txt', '5 18446744073709551615 5 5'), self.file('o.npy', ''), self.file('ok.npy', '')
        self.assertEqual(self.run_command('sum', '--keys', keys, '-o', out, '--output-keys', out_keys, array), (0, '', ''))
        with open(out_keys, 'rb') as file:
            data = file.read()
        self.assertIn(b"'<u8'", data)
        self.assertEqual(data[-16:], struct.pack('<2Q', 5, 2**64 - 1))
        for text, large, negative in (('1\n18446744073709551615\n3 -4', '2:1', '3:3'), ('-1 9223372036854775808 3 4', '1:4', '1:1')):
            for option in ('--keys', '--by'):
                self.bad(1, 'k.txt: the number at %s is above 2^63 - 1, the one at %s negative; expected' % (large, negative), 'sum', option,
                         self.file('k.txt', text), array)
        for text in ('18446744073709551616 1 2 3', '1 -9223372036854775809 2 3'):
            self.bad(1, ('k.txt:1:', 'fits neither i64 nor u64'), 'sum', '--keys', self.file('k.txt', text), array)
        self.bad(1, ('k.txt:1:3:', "'x' is not a whole number", 'i64 or u64'), 'sum', '--keys', self.file('k.txt', '1 x 2 3'), array)
        self.good('1\n8', 'sum', '--by', self.file('k.txt', '0 18446744073709551615 7 1'), '--groups', '2', '--skip-outside', array)
        self.bad(1, 'number 1 is 18446744073709551615', 'sum', '--by', self.file('k.txt', '0 18446744073709551615 7 1'), '--groups', '2', array)
        many = 300000  # in several pieces: the first such number, and the type, are those of the whole text
        array, keys = self.file('y.npy', npy_array('i64', [1] * many)), '\n'.join(['12345'] * (many - 1) + ['18446744073709551615'])
        self.good(f'12345 {many - 1}\n18446744073709551615 1', 'sum', '--keys', self.file('k.txt', keys), array)
        self.bad(1, f'the number at {many}:1 is above 2^63 - 1, the one at 7:1 negative', 'sum', '--keys', self.file('k.txt', keys.replace('12345', '-2345', 7).replace('-2345', '12345', 6)), array)

    def test_standard_input(self):
        """Of either format."""
        array = self.file('x.txt', '1 2 4')
        for file in (npy_array('u8', [1, 0, 1]), '1 0 1'):
            self.good('2\n5', 'sum', '--by', '-', array, stdin=file)
        for file in (npy_array('u32', [7, 0, 7]), '7 0 7'):
            self.good('0 2\n7 5', 'sum', '--keys', '-', array, stdin=file)
        for mask in (npy_array('u8', [0, 1, 1]), b'\0\1\1'):
            self.good('6', 'sum', '--mask', '-', array, stdin=mask)

    def test_a_result_is_named_by_its_key(self):
        array, keys = self.file('x.txt', '1 2 nan 4'), self.file('k.txt', '-7 12 12 -7')
        self.bad(1, 'x.txt: key 12: min: element 2 is NaN', 'min,count', '--nan', 'error', '--keys', keys, array)
        self.bad(1, 'x.txt: key 12: var of too few elements does not exist; it takes at least 2', 'var', '--nan', 'ignore', '--keys', keys, array)
        large = self.file('u.npy', npy_array('u64', [5, 2**64 - 1, 5, 5]))
        self.bad(1, 'key 18446744073709551615: std of too few', 'max,std', '--keys', large, array)
        matrix, keys = self.file('m.txt', '1 2\n3 4\n5 nan\n'), self.file('k.txt', '9 -1 9')
        self.bad(1, 'm.txt: key 9: column 1: sum: row 2 is NaN', 'sum', '--nan', 'error', '--keys', keys, matrix)
        self.bad(1, 'm.txt: group 1: column 0: var of too few', 'var', '--by', self.file('b.txt', '0 1 0'), matrix)
        self.bad(1, 'x.txt: group 2: min of too few', 'min', '--by', self.file('b.txt', '0 1 0 3'), array)
        cube = self.file('c.npy', npy_array('f64', [0.0] * 23 + [math.nan], '<', (2, 3, 4)))
        self.bad(1, 'c.npy: group 3: place (2, 3): sum: row 1 is NaN', 'sum', '--nan', 'error', '--by', self.file('b.txt', '0 3'), cube)

    def test_masked(self):
        """Keys of which no element counts make no group."""
        array, keys = self.file('x.txt', '1 2 3 4 5'), self.file('k.txt', '5 1 5 -7 1')
        for mask, expected in (((0, 1, 1, 0, 1), '1 3.5\n5 3'), ((0, 1, 0, 0, 0), '1 2'), ((1, 0, 0, 1, 0), '-7 4\n5 1')):
            self.good(expected, 'mean', '--keys', keys, '--mask', self.file('m.raw', bytes(mask)), array)
        self.assertEqual(self.run_command('mean', '--keys', keys, '--mask', self.file('m.raw', bytes(5)), array), (0, '', ''))
        matrix, keys = self.file('m.txt', '1 2\n3 4\n5 6\n'), self.file('k.txt', '8 7 6')
        self.good('6 0\n6 6\n8 1\n8 0', 'sum', '--keys', keys, '--mask', self.file('m.raw', bytes((1, 0, 0, 0, 0, 1))), matrix)

    def test_files(self):
        values, keys = self.values_and_keys('u32')
        array, file = self.file('x.npy', npy_array('f64', values)), self.file('k.npy', npy_array('u32', keys))
        out, out_keys = self.file('out.npy', ''), self.file('keys.npy', '')
        for more, order in (((), sorted(set(keys))), (('--unsorted',), list(dict.fromkeys(keys)))):
            self.assertEqual(self.run_command('sum', '--keys', file, *more, '-o', out, '--output-keys', out_keys, array), (0, '', ''))
            sums = [exact_sum(v for v, k in zip(values, keys) if k == key) for key in order]
            for path, expected in ((out, npy_array('f64', sums)), (out_keys, npy_array('u32', order))):
                with open(path, 'rb') as made:
                    data = made.read()
                size = size_of('f64' if path == out else 'u32') * len(order)
                self.assertEqual(data[-size:], expected[-size:])
                self.assertIn(b"'shape': (%d,)" % len(order), data)
                self.assertEqual((len(data) - size) % 64, 0)

    def test_files_are_left_alone(self):
        """Neither file is put in its place where one cannot be."""
        array, keys, out = self.file('x.txt', '1 2'), self.file('k.txt', '5 6'), self.file('out.npy', 'before')
        self.bad(1, 'nowhere', 'sum', '--keys', keys, '-o', out, '--output-keys', self.directory + '/nowhere/keys.npy', array)
        with open(out, 'rb') as file:
            self.assertEqual(file.read(), b'before')
        self.assertEqual(sorted(os.listdir(self.directory)), ['k.txt', 'out.npy', 'x.txt'])

    def test_empty(self):
        array, keys = self.file('x.npy', npy_array('f64', [])), self.file('k.npy', npy_array('i32', []))
        self.assertEqual(self.run_command('sum', '--keys', keys, array), (0, '', ''))

    def test_refused(self):
        array, keys = self.file('x.txt', '1 2 3'), self.file('k.txt', '1 2')
        self.bad(1, ('x.txt', '3 elements', 'k.txt', '2 keys', 'expected as many'), 'sum', '--keys', keys, array)
        self.bad(1, 'u8 elements; expected the keys', 'sum', '--keys', self.file('k.npy', npy_array('u8', [1, 2, 3])), array)
        self.bad(1, 'f64 elements; expected the keys', 'sum', '--keys', self.file('k.npy', npy_array('f64', [1, 2, 3])), array)
        self.bad(1, 'k.txt', 'sum', '--keys', self.file('k.txt', '1 2.5 3'), array)
        self.bad(2, 'expected one of them', 'sum', '--keys', keys, '--by', keys, array)
        self.bad(2, 'expected one of them', 'sum', '--keys', keys, '--axis', '0', array)
        self.bad(2, '--groups: expected with --by', 'sum', '--keys', keys, '--groups', '3', array)
        self.bad(2, '--skip-outside: expected with --by', 'sum', '--keys', keys, '--skip-outside', array)
        self.bad(2, '--unsorted: expected with --keys', 'sum', '--unsorted', array)
        self.bad(2, '--output-keys: expected with --keys', 'sum', '--by', keys, '--output-keys', 'keys.npy', array)
        self.bad(2, '--output: expected with --output-keys', 'sum', '--keys', keys, '-o', 'out.npy', array)
        self.bad(2, '--output-keys: expected with --output', 'sum', '--keys', keys, '--output-keys', 'out.npy', array)
        self.bad(2, 'the same file', 'sum', '--keys', keys, '-o', 'out.npy', '--output-keys', 'out.npy', array)
        self.bad(2, '--keys: one array at a time; 2 inputs given', 'sum', '--keys', keys, array, array)


if __name__ == '__main__':
    main()
