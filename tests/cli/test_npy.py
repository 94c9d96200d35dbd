"""NumPy's .npy files, good and broken."""
import random

from harness import CODES, FLOATS, CommandTest, limits, main, npy, npy_array, pack, start, text_of

SAMPLE = {'descr': '<f8', 'fortran_order': False, 'shape': (3,)}


def with_entry(**changes):
    return {**SAMPLE, **changes}


class Good(CommandTest):
    def values(self, element):
        if element in FLOATS:
            return [1.5, -2.25, 3e9 if element in ('f64', 'f32') else 2.0 ** 15, -0.0, 0.1 if element == 'f64' else 0.125]
        low, high = limits(element)
        return [low, high, high, 1, 2]

    def test_types_orders_versions(self):
        for element in CODES:
            values = self.values(element)
            total = sum(values)
            expected = text_of(total) if element in FLOATS else str(total)
            for order in '<>':
                for version in ((1, 0), (2, 0), (3, 0)):
                    data = npy_array(element, values, order, version=version)
                    self.good(expected, 'sum', self.file('a.npy', data))
                    self.good(expected, 'sum', stdin=data)
            self.good(expected, 'sum', '--type', element, '--format', 'npy', self.file('a.npy', data))

    def test_bfloat16(self):
        """NumPy has no name for it; the package ml_dtypes writes '<V2', what loads and saves that without it '|V2'."""
        values = [1.0, -2.5, 2.0 ** 100, -2.0 ** 100, 2.0 ** -133]
        for order in '<>':
            path = self.file('a.npy', npy_array('bf16', values, order))
            self.good('-1.5', 'sum', path)
            self.good('-2.5', 'min', self.file('b.npy', npy_array('bf16', values[:2], order)))
            self.good('3', 'argmin', path)
        untyped = self.file('a.npy', npy_array('bf16', values, '<').replace(b'<V2', b'|V2'))
        self.good('-1.5', 'sum', '--type', 'bf16', untyped)
        self.bad(1, (untyped, "'|V2'", '--type bf16'), 'sum', untyped)
        self.bad(2, ('--type: f16', 'holds bf16'), 'sum', '--type', 'f16', untyped)

    def test_truth_values(self):
        data = npy({'descr': '|b1', 'fortran_order': True, 'shape': (2, 3)}, bytes([1, 0, 255, 1, 0, 128]))
        path = self.file('a.npy', data)
        for op, expected in (('sum', '4'), ('mean', '0.6666666666666666'), ('min', '0'), ('max', '1'), ('argmin', '2'),
                             ('argmax', '0'), ('product', '0'), ('norm2', '2')):
            self.good(expected, op, path)
            self.good(expected, op, stdin=data)
        path = self.file('b.npy', npy({'descr': '|b1', 'fortran_order': False, 'shape': (6,)}, bytes(range(6))))
        self.good('5', 'dot', path, path)

    def test_shapes(self):
        for shape, count in (((), 1), ((0,), 0), ((1,), 1), ((2, 3), 6), ((2, 0, 3), 0), ((1 << 62, 0, 1 << 62), 0),
                             ((2, 1, 2, 1, 2, 1), 8), ((1,) * 64, 1)):
            for fortran in (False, True):
                data = npy_array('i32', [1] * count, shape=shape, fortran=fortran)
                self.good(str(count), 'sum', self.file('a.npy', data))
                self.good(str(count), 'sum', stdin=data)

    def test_how_headers_are_written(self):
        data = pack('f64', [1, 2, 3])
        for header in ("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }",
                       '{"descr":"<f8","fortran_order":False,"shape":(3,)}',
                       "{'shape': (3L,), 'descr': '<f8', 'fortran_order': True}",
                       "{'shape': (3,), 'descr': '=f8', 'fortran_order': False}",
                       "{'shape': (3, 1), 'descr': '=f8', 'fortran_order': False}",
                       "{'shape': (3, 1,), 'descr': '=f8', 'fortran_order': False}",
                       "{ 'fortran_order' : False ,\n 'shape' : ( 1 , 3 ) ,\t'descr' : '<f8' , }"):
            self.good('6', 'sum', self.file('a.npy', npy(header, data)))

    def test_slowly_through_a_pipe(self):
        """One byte at a time, so that every read is short."""
        data = npy_array('f64', [1, 2, 3.5], '>')
        process = start('sum')
        for i in range(len(data)):
            process.stdin.write(data[i:i + 1])
            process.stdin.flush()
        self.assertEqual(process.communicate(timeout=30), (b'6.5\n', b''))

    def test_several(self):
        paths = [self.file('%d.npy' % i, npy_array('i16', [i, -3 * i], order)) for i, order in enumerate('<><')]
        self.good('-6', 'sum', *paths)
        self.good('-6', 'sum', paths[0], '-', paths[2], stdin=npy_array('i16', [1, -3]))
        self.good('5', 'argmin', *paths)

    def test_misaligned(self):
        """A header that is no multiple of the elements' size."""
        header = repr(SAMPLE).encode()
        for padding in range(9):
            text = header + b' ' * padding + b'\n'
            data = b'\x93NUMPY\1\0' + len(text).to_bytes(2, 'little') + text + pack('f64', [1, 2, 4])
            self.good('7', 'sum', self.file('a.npy', data))
            self.good('7', 'sum', stdin=data)


class Refused(CommandTest):
    def refused(self, needles, data):
        path = self.file('refused.npy', data)
        self.bad(1, [path] + ([needles] if isinstance(needles, str) else list(needles)), 'sum', path)
        self.bad(1, needles, 'sum', stdin=data)

    def test_types(self):
        for descr, reason in (('<f16', 'width'), ('|b2', 'width'), ('<c16', 'complex'),
                              ('<c8', 'complex'), ('|O', 'Python objects'), ('|S5', 'strings'), ('|a5', 'strings'),
                              ('<U7', 'strings'), ('|V8', 'structured'), ('<M8[ns]', 'dates'), ('<m8[s]', 'times'),
                              ('<i3', 'width'), ('<u16', 'width'), ('<f', 'width'), ('', 'unknown'), ('<', 'unknown'),
                              ('<x8', 'unknown'), ('<<f8', 'unknown'), ('\0f8', 'unknown'), ('f80', 'width')):
            self.refused(("the elements are '%s'" % descr.replace('\0', r'\x00'), reason),
                         npy("{'descr': '%s', 'fortran_order': False, 'shape': (3,)}" % descr, bytes(48)))
        self.refused(('structured', 'one field'), npy(with_entry(descr=[('x', '<f8'), ('y', '<i4')]), bytes(36)))

    def test_headers(self):
        for header, reason in (
                ('', "ends where '{'"), ('[]', "has '[]"), ('{}', "lacks 'descr'"),
                ("{'descr': '<f8', 'fortran_order': False}", "lacks 'shape'"),
                ("{'descr': '<f8', 'shape': (3,)}", "lacks 'fortran_order'"),
                (with_entry(extra=1), "unknown key 'extra'"),
                ("{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", "'descr' twice"),
                (with_entry(fortran_order=0), 'True or False'), (with_entry(fortran_order=None), 'True or False'),
                ("{'descr': '<f8', 'fortran_order': False, 'shape': (3)}", 'a tuple, as in (3,)'),
                ("{'descr': '<f8', 'fortran_order': False, 'shape': (03,)}", 'leading 0'),
                ("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 03)}", 'leading 0'),
                ("{'descr': '<f8', 'fortran_order': False, 'shape': (,)}", 'length of an axis'),
                (with_entry(shape=3), "where '('"), (with_entry(shape=(-3,)), 'negative'),
                (with_entry(shape=(1.5,)), "where ')'"), (with_entry(shape='(3,)'), "where '('"),
                (with_entry(descr=8), 'element type'), (with_entry(descr=None), 'element type'),
                ("{'descr': '<f8", 'does not end'), ("{'descr' '<f8'", "where ':'"),
                ("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4", "where ')'"),
                ("{'descr': '<f8', 'fortran_order': False, 'shape': (3,,)}", 'length of an axis'),
                ("{'descr': '<f8', 'fortran_order': False, 'shape': (3,)", "where '}'"),
                (repr(SAMPLE) + '; import os', 'its end'), ("{'descr': __import__('os'),", 'element type'),
                (with_entry(shape=(1,) * 65), 'more than 64 axes')):
            self.refused(reason, npy(header, bytes(24)))

    def test_sizes_that_overflow(self):
        for shape in ((1 << 63,), (1 << 61,), (1 << 60,), (1 << 32, 1 << 32), (1 << 64,), (10 ** 30, 2),
                      ((1 << 64) // 8, 1), (3, 1 << 63, 3, 1 << 63)):
            self.refused('any memory', npy(with_entry(shape=shape), bytes(24)))

    def test_lengths_of_headers(self):
        self.refused(('claims 4294967295 bytes', 'at most'), npy(SAMPLE, bytes(24), (2, 0), length=0xffffffff))
        self.refused(('claims 60000 bytes', 'only'), npy(SAMPLE, bytes(24), length=60000))
        self.refused('claims 999999 bytes', npy(SAMPLE, bytes(24), (3, 0), length=999999))
        self.refused('the header', npy(SAMPLE, bytes(24), length=20))
        whole = npy(SAMPLE, pack('f64', [1, 2, 3]))
        for size in range(6, 12):
            self.refused('cut short', whole[:size])

    def test_versions(self):
        for version in ((0, 0), (4, 0), (1, 1), (255, 255)):
            self.refused(('version %d.%d' % version, 'expected 1.0'), npy(SAMPLE, bytes(24), version))

    def test_truncated_data(self):
        whole = npy_array('f64', [1, 2, 3])
        for missing in (1, 7, 8, 17, 24):
            self.refused((), whole[:-missing])
        self.bad(1, ('announces 3 f64 elements, 24 bytes', '23 bytes follow'), 'sum', self.file('a.npy', whole[:-1]))
        self.bad(1, ('cut short: 7 of the 8 bytes', 'after 2'), 'sum', stdin=whole[:-1])
        self.bad(1, 'ends after 2 elements; expected 3', 'sum', stdin=whole[:-8])

    def test_what_follows_the_data(self):
        whole = npy_array('f64', [1, 2, 3])
        for extra in (b'\0', whole):
            self.bad(1, ('announces 3 f64', '%d bytes follow' % (24 + len(extra))), 'sum',
                     self.file('a.npy', whole + extra))
            self.bad(1, 'more bytes follow the 3 elements', 'sum', stdin=whole + extra)
        self.bad(1, 'more bytes follow', 'sum', stdin=npy_array('f64', []) + b'x')

    def test_nan_under_nan_error(self):
        path = self.file('nan.npy', npy_array('f32', [1, 2, float('nan'), 4]))
        good = self.file('good.npy', npy_array('f32', [1, 2, 3, 4]))
        for op in ('sum', 'std', 'max', 'argmax'):
            self.bad(1, path + ': element 2: found NaN', op, '--nan', 'error', good, path)

    def test_against_the_command_line(self):
        path = self.file('a.npy', npy_array('f64', [1, 2, 3]))
        self.bad(2, ('--type: f32', 'holds f64'), 'sum', '--type', 'f32', path)
        for option in ('--offset=8', '--count=2', '--byte-order=big'):
            self.bad(2, (option.split('=')[0], '.npy', '--format raw'), 'sum', option, path)
            self.bad(2, option.split('=')[0], 'sum', '--format', 'npy', option, path)
        self.good('3', 'sum', '--format', 'raw', '--type', 'f64', '--offset', '128', '--count', '2', path)
        self.bad(1, 'not a .npy file', 'sum', '--format', 'npy', self.file('a.txt', '1 2 3'))
        self.bad(1, 'not a .npy file', 'sum', '--format', 'npy', self.file('empty', ''))
        self.bad(1, 'is not text', 'sum', '--format', 'text', path)

    def test_damaged_at_random(self):
        """Whatever happens, it ends in an answer or in a message."""
        generator = random.Random(11)
        whole = npy_array('f64', [1, 2, 3], shape=(3, 1))
        for _ in range(150):
            data = bytearray(whole)
            for _ in range(generator.choice((1, 1, 2, 5))):
                data[generator.randrange(6, 100)] = generator.choice((0, 39, 40, 44, 57, 125, generator.randrange(256)))
            code, out, err = self.run_command('argmin', stdin=bytes(data))
            self.assertIn(code, (0, 1), bytes(data))
            self.assertEqual(code == 0, bool(out), bytes(data))
            self.assertEqual(code == 1, err.startswith('reduct: '), err)


if __name__ == '__main__':
    main()
