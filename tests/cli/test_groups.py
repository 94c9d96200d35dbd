"""Results by groups of elements."""
import math
import random
import struct
from fractions import Fraction

from harness import CommandTest, in_fortran_order, main, npy_array

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
        self.bad(1, 'result 1', 'mean', '--by', self.file('z.txt', b'0 0 0 0'), '--groups', '2', array)
        self.bad(2, '--groups: expected with --by', 'sum', '--groups', '3', array)
        self.bad(2, '--skip-outside: expected with --by', 'sum', '--skip-outside', array)
        self.bad(2, 'expected one of them', 'sum', '--by', by, '--rows', array)
        self.bad(2, '2 inputs given', 'sum', '--by', by, array, array)

    def test_empty(self):
        array = self.file('x.npy', npy_array('f64', [], '<', (0,)))
        by = self.file('k.npy', npy_array('i32', [], '<', (0,)))
        self.assertEqual(self.numbers('sum', '--by', by, array), [])
        self.good('0\n0', 'sum', '--by', by, '--groups', '2', array)


if __name__ == '__main__':
    main()
