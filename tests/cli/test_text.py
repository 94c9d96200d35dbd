"""Text: numbers between white space."""
import math
import os
import random
import struct
import subprocess
from fractions import Fraction

from harness import INTEGERS, CommandTest, as_float, limits, main, start, text_of

PIECE = 1 << 20  # what one thread parses at a time
TOKEN_MOST = 1 << 16


class Good(CommandTest):
    def test_white_space(self):
        for text in ('1 2 3', '1\n2\n3\n', '1\r\n2\r\n3\r\n', '\n\n1\n\n\n2 3', '  1\t2\v3\f', '1 2 3\n\n \n',
                     '\r1\r2\r3\r', '\ufeff1 2 3'):
            self.good('6', 'sum', stdin=text)

    def test_nothing(self):
        for text in ('', '\n', ' \n\t\r\n ', '\ufeff'):
            self.good('0', 'sum', stdin=text)
            self.bad(1, ('(standard input)', 'mean'), 'mean', stdin=text)

    def test_forms(self):
        self.good('nan', 'sum', stdin='1 nan 2')
        self.good('inf', 'sum', stdin='1 inf 2')
        self.good('-inf', 'sum', stdin='1 -infinity 2')
        self.good('nan', 'sum', stdin='inf -inf')
        self.good('12.5', 'sum', stdin='0x1.8p3 +.5')
        self.good('-0', 'sum', stdin='-0 -0.0')
        self.good('0', 'sum', stdin='-0 0')

    def test_400_digits(self):
        """Exactly between two doubles, and a little above: only the 400th digit tells."""
        middle = str((1 << 53) + 1) + '.' + '0' * 383
        self.good('9007199254740992', 'max', stdin=middle + '0')
        self.good('9007199254740994', 'max', stdin=middle + '1')

    def test_rounded_straight_to_f32(self):
        """A decimal just above the middle of two floats, so close that a double rounds it to the middle."""
        middle = Fraction(1) + Fraction(1, 1 << 24)
        above = str(int((middle + Fraction(1, 10 ** 25)) * 10 ** 60))
        above = above[0] + '.' + above[1:]
        self.assertEqual(as_float('f32', float(above)), 1.0)
        self.good(text_of(1 + 2.0 ** -23), 'sum', '--type', 'f32', stdin=above)

    def test_underflow_rounds(self):
        self.good('0', 'sum', stdin='1e-400')
        self.good('5e-324', 'sum', stdin='3e-324')
        self.good('0', 'sum', '--type', 'f32', stdin='1e-46')

    def test_integers(self):
        for element in INTEGERS:
            low, high = limits(element)
            self.good(str(low + 2 * high), 'sum', '--type', element, stdin='%d %d\n%d' % (low, high, high))
        self.good('9223372036854775807', 'max', '--type', 'i64', stdin='9223372036854775807 9223372036854775806')

    def test_halves(self):
        """Each number is rounded straight to its type."""
        for element, ulp in (('f16', 2.0 ** -10), ('bf16', 2.0 ** -7)):
            middle = '%.20f' % (1 + ulp / 2)
            self.good('1', 'sum', '--type', element, stdin=middle)
            self.good(text_of(1 + ulp), 'sum', '--type', element, stdin=middle + '0' * 400 + '1')
        self.bad(1, ("'65520'", 'does not fit f16'), 'sum', '--type', 'f16', stdin='1 65520')
        self.good('65504', 'max', '--type', 'f16', stdin='1 65519 -inf')

    def test_truth_values(self):
        self.good('3', 'sum', '--type', 'bool', stdin='1 0 true\nFalse True\tfalse')
        for text in ('2', 'yes', 'nan', '1.0'):
            self.bad(1, ("'%s'" % text, '0, 1, false or true'), 'sum', '--type', 'bool', stdin='1 ' + text)

    def test_names_of_files(self):
        odd = self.file('-1', '1 2')
        self.good('3', 'sum', odd)
        os.chdir(self.directory)
        self.good('3', 'sum', '--', '-1')
        self.good('3', 'sum', self.file('a\nb', '1 2'))


class Large(CommandTest):
    """Several blocks, cut into pieces for several threads."""

    def numbers(self):
        generator = random.Random(7)
        values, parts = [], []
        for _ in range(260000):
            values.append(math.ldexp(generator.uniform(-1, 1), generator.randrange(-60, 60)))
            parts.append(repr(values[-1]) + generator.choice((' ', '\n', '\r\n', '  \n\n', '\t')))
        return values, ''.join(parts)

    def test_file_and_pipe(self):
        values, text = self.numbers()
        self.assertGreater(len(text), 5 * PIECE)
        path = self.file('large.txt', text)
        expected = text_of(math.fsum(values))
        for threads in ('1', '2', '7'):
            self.good(expected, 'sum', '--threads', threads, path)
            self.good(expected, 'sum', '--threads', threads, stdin=text)
        smallest = min(range(len(values)), key=values.__getitem__)
        self.good(str(smallest), 'argmin', path)
        self.good(str(smallest), 'argmin', stdin=text)

    def test_numbers_across_every_boundary(self):
        """The boundary of the first piece in each place of a number, a space and a line end."""
        for shift in range(12):
            text = ' ' * (PIECE - 6 + shift) + '12345\r\n' + '1 ' * 10
            self.good('12355', 'sum', '--threads', '4', self.file('a.txt', text))
            self.good('12355', 'sum', '--threads', '4', stdin=text)

    def test_shortest_numbers(self):
        """A piece holds as many numbers as it can."""
        for text in ('1 ' * (PIECE + 5), ' 1' * (PIECE + 5), '1 ' * PIECE + '1' * 9):
            expected = str(sum(map(int, text.split())))
            self.good(expected, 'sum', '-j3', self.file('ones.txt', text))
            self.good(expected, 'sum', '-j1', '--type', 'i64', stdin=text)

    def test_place_far_into_the_file(self):
        lines = ['%d' % i for i in range(400000)]
        lines[300001] = '  7 seven'
        path = self.file('long.txt', '\n'.join(lines))
        for threads in ('1', '2', '5'):
            self.bad(1, path + ":300002:5: 'seven' is not a number", 'sum', '--threads', threads, path)
            self.bad(1, "(standard input):300002:5: 'seven'", 'sum', '--threads', threads, stdin='\n'.join(lines))
        lines[300001] = '1 nan'
        path = self.file('nan.txt', '\n'.join(lines))
        self.bad(1, path + ':300002:3: ', 'sum', '--nan', 'error', '--threads', '3', path)


class Bad(CommandTest):
    def test_place_and_what_was_read(self):
        for text, place, found in (('abc', '1:1', 'abc'), ('1 2\n3 x4\n', '2:3', 'x4'),
                                   ('\r\n\r\n  1.2.3', '3:3', '1.2.3'), ('1\n\n\n2 3 4e\n5', '4:5', '4e'),
                                   ('\ufeff1 bad', '1:3', 'bad'),
                                   ('1\t--1', '1:3', '--1'), ('0x', '1:1', '0x'), ('# 3', '1:1', '#')):
            path = self.file('bad.txt', text)
            self.bad(1, ("%s:%s: '%s' is not a number" % (path, place, found), 'expected'), 'sum', path)
            self.bad(1, "(standard input):%s: '%s'" % (place, found), 'sum', stdin=text)

    def test_whole_numbers(self):
        for text in ('1.5', '1e3', 'nan', 'inf'):
            self.bad(1, ('1:3', "'%s'" % text, 'i32', 'whole number'), 'sum', '--type', 'i32', stdin='1 ' + text)

    def test_out_of_range(self):
        self.bad(1, (":1:3: '256' does not fit u8", 'unsigned 8-bit'), 'sum', '--type', 'u8', stdin='1 256')
        self.bad(1, "'-1' does not fit u64", 'sum', '--type', 'u64', stdin='-1')
        self.bad(1, "'1e400' does not fit f64", 'sum', stdin='1e400')
        self.bad(1, "'1e39' does not fit f32", 'sum', '--type', 'f32', stdin='1e39')

    def test_commas(self):
        for text in ('1,2,3', '1, 2', '3,14', '1;2'):
            self.bad(1, ('not a number', 'white space', 'commas'), 'sum', stdin=text)

    def test_what_cannot_be_printed(self):
        self.bad(1, r"'\x1b[31mred' is not text", 'sum', '--format', 'text', stdin='\x1b[31mred')
        self.bad(1, r"'caf\xc3\xa9' is not a number", 'sum', stdin='1 café')
        self.bad(1, ("'" + 'x' * 40 + "'...", 'not a number'), 'sum', stdin='x' * 1000)

    def test_binary_without_a_type(self):
        data = struct.pack('<4d', 1, 2, 3, 4)
        self.bad(1, ('is not text', '--type'), 'sum', stdin=data)
        self.bad(1, ('is not text', '--type'), 'sum', self.file('a.bin', data))

    def test_too_long(self):
        for length in (TOKEN_MOST + 1, 3 * PIECE):
            for digits in ('1' + '0' * (length - 1), '0' * length):
                for text in (digits, '1 ' + digits, '1\n' + digits + '\n2 3\n'):
                    place = '%d:%d' % (text.count('\n', 0, 3) + 1, 3 if text[1] == ' ' else 1)
                    self.bad(1, (place, 'longer than 65536'), 'max', '-j2', stdin=text)
                    self.bad(1, (place, 'longer than 65536'), 'max', '-j2', self.file('a.txt', text))
        self.good('1', 'max', stdin='0' * (TOKEN_MOST - 1) + '1')

    def test_nan_under_nan_error(self):
        path = self.file('nan.txt', '1 2\n3 nan 4\nnan')
        self.bad(1, path + ':2:3: found NaN', 'sum', '--nan', 'error', path)
        self.bad(1, path + ':2:3: found NaN', 'argmin', '--nan', 'error', path)
        other = self.file('other.txt', '1 2 3 nan 5 6')
        good = self.file('good.txt', '1 2 3 4 5 6')
        self.bad(1, other + ':1:7: found NaN', 'dot', '--nan', 'error', good, other)
        self.bad(1, other + ':1:7: found NaN', 'dot', '--nan', 'error', other, good)
        self.bad(1, other + ':1:7: found NaN', 'sum', '--nan', 'error', good, other)


class Locale(CommandTest):
    def test_decimal_points_in_germany(self):
        environment = dict(os.environ, LC_ALL='de_DE.UTF-8', LOCPATH=self.directory)
        try:
            subprocess.run(['localedef', '-i', 'de_DE', '-f', 'UTF-8', self.directory + '/de_DE.UTF-8'],
                           capture_output=True, check=False)
        except FileNotFoundError:
            pass  # then the locale must be there already for the test to mean something
        self.good('3.75', 'sum', stdin='1.25 2.5', env=environment)
        self.good('0x1.ep+1', 'sum', '--hex', stdin='1.25 2.5', env=environment)
        self.good('3.75', 'sum', '--result', 'f16', stdin='1.25 2.5', env=environment)


class Slow(CommandTest):
    def test_numbers_in_pieces(self):
        """A pause within a number is no end of it."""
        import time
        process = start('sum')
        for part in (b'1', b'2 ', b'\n3', b'4', b'5\r', b'\n-', b'1e', b'1'):
            process.stdin.write(part)
            process.stdin.flush()
            time.sleep(.08)
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out, err), (0, b'347\n', b''))

    def test_a_bad_number_is_told_before_the_end(self):
        process = start('sum')
        process.stdin.write(b'1 2 x 3\n')
        process.stdin.flush()
        self.assertEqual(process.wait(timeout=30), 1)
        self.assertIn(b"1:5: 'x'", process.communicate()[1])


if __name__ == '__main__':
    main()
