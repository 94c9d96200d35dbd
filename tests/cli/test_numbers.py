"""Reading and writing single numbers, against Python's fractions."""
import math
import random
import struct
import subprocess
import unittest
from fractions import Fraction

from harness import (FORMATS, INTEGERS, NUMBER_TOOL, as_float, digits_of, limits, main, round_to, shorter_notation,
                     size_of, text_of, value_of)

RANDOM = random.Random(20240607)


def tool(action, element, lines):
    done = subprocess.run([NUMBER_TOOL, action, element], input='\n'.join(lines) + '\n', capture_output=True,
                          text=True, check=True, timeout=120)
    return done.stdout.split('\n')[:-1]


def decimal_near(value):
    """An exact decimal of a dyadic fraction."""
    power = value.denominator.bit_length() - 1
    return '%de-%d' % (value.numerator * 5 ** power, power)


def hexadecimal(value):
    power = value.denominator.bit_length() - 1
    return '%s0x%xp-%d' % ('-' if value < 0 else '', abs(value.numerator), power)


def hard_cases(element):
    """Numbers on, just below and just above the points where rounding turns, everywhere in the range."""
    precision, largest = FORMATS[element]
    infinity = 2 * largest + 1 << precision - 1
    for _ in range(1000):
        bits = RANDOM.choice((RANDOM.randrange(infinity), RANDOM.randrange(1 << precision),
                              infinity - 1 - RANDOM.randrange(1 << precision)))
        value = value_of(element, bits)
        middle = (value + value_of(element, bits + 1)) / 2 if bits + 1 < infinity else value
        nudge = Fraction(1, 2 ** RANDOM.choice((1200, 1400)))
        yield from (value, middle, middle + nudge, middle - nudge)


class Parsing(unittest.TestCase):
    def check(self, element, texts, values):
        infinity = 2 * FORMATS[element][1] + 1 << FORMATS[element][0] - 1
        for text, value, got in zip(texts, values, tool('parse', element, texts), strict=True):
            bits = round_to(element, value)
            width = infinity.bit_length()
            expected = 'large' if bits & (1 << width) - 1 == infinity else '%x' % bits
            self.assertEqual(got, expected, text)

    def test_decimals_at_the_turning_points(self):
        for element in FORMATS:
            values = list(hard_cases(element))
            self.check(element, [decimal_near(v) for v in values], values)

    def test_hexadecimals_at_the_turning_points(self):
        for element in FORMATS:
            values = list(hard_cases(element))
            self.check(element, [hexadecimal(v) for v in values], values)

    def test_hexadecimals_with_points(self):
        texts, values = [], []
        for _ in range(3000):
            whole = ''.join(RANDOM.choices('0123456789abcdefABCDEF', k=RANDOM.choice((1, 2, 20))))
            fraction = ''.join(RANDOM.choices('0123456789abcdef', k=RANDOM.choice((0, 1, 14, 40))))
            power = RANDOM.randrange(-1100, 1000)
            texts.append('0x%s.%sp%+d' % (whole, fraction, power))
            values.append(int(whole + fraction, 16) * Fraction(2) ** (power - 4 * len(fraction)))
        for element in FORMATS:
            self.check(element, texts, values)

    def test_random_decimals(self):
        texts = []
        for _ in range(5000):
            digits = ''.join(RANDOM.choices('0123456789', k=RANDOM.choice((1, 3, 17, 20, 400))))
            point = RANDOM.randrange(len(digits) + 1)
            text = digits[:point] + '.' + digits[point:]
            texts.append(RANDOM.choice(('', '-')) + text + 'e%d' % RANDOM.randrange(-400, 320))
        texts = [text for text in texts if Fraction(text) != 0]
        for element in FORMATS:
            self.check(element, texts, [Fraction(text) for text in texts])

    def test_forms(self):
        forms = {'0': 0.0, '-0': -0.0, '+1': 1.0, '.5': .5, '5.': 5.0, '1E3': 1000.0, '1e+3': 1000.0, 'inf': math.inf,
                 '-Infinity': -math.inf, '+INF': math.inf, '0X1P4': 16.0, '-0x.8p1': -1.0, '0x10': 16.0, '0xa': 10.0,
                 '1e-400': 0.0, '-1e-999999999999999999999': -0.0, '0e999999999999999999999': 0.0,
                 '0x0p99999999999999999999': 0.0, '0x1p-99999999999999999999': 0.0, '0' * 5000 + '1': 1.0,
                 '0.' + '0' * 5000 + '1e5001': 1.0, '1' + '0' * 5000 + 'e-5000': 1.0}
        for form, got in zip(forms, tool('parse', 'f64', forms)):
            self.assertEqual(got, '%x' % struct.unpack('<Q', struct.pack('<d', forms[form]))[0], form)
        for got in tool('parse', 'f64', ['nan', 'NaN', '-nan', '+nan']):
            self.assertEqual(int(got, 16) & 0x7ff8 << 48, 0x7ff8 << 48)

    def test_what_is_no_number(self):
        texts = ['', '-', '+', '.', 'e5', '1e', '1e+', '--1', '+-1', '-+1', '0x', '0xp3', '0x.p1', '0x-1', '0xinf',
                 '0xnan', '-0x-1', '1_000', '1,5', '1f', '1.2.3', 'infi', 'nanx', 'in', '1e5.5', '0x1p', '0x1p1.5',
                 '0x1p+-3', '0x1p-+3', '1e+-3', '١', 'nan()', 'nan(0x1)', '-nan(ind)', 'nan(snan)', 'NAN(1)', 'nan(',
                 'nan(1', 'inf()']
        self.assertEqual(tool('parse', 'f64', texts), ['bad'] * len(texts))
        texts = ['', '-', '+', '1.0', '1e3', 'inf', 'nan', '0x', '0x-1', '--1', '+-1', '1_0', '0b1', '0x1p3']
        for element in INTEGERS:
            self.assertEqual(tool('parse', element, texts), ['bad'] * len(texts))

    def test_floats_too_large(self):
        texts = ['1e309', '-1e309', '1e999999999999999999999', '0x1p1024', '9' * 400, '0x' + 'f' * 300,
                 '0.' + '0' * 400 + '1e800', '0x1p99999999999999999999']
        self.assertEqual(tool('parse', 'f64', texts), ['large'] * len(texts))

    def test_every_16_bit_number(self):
        for element in ('f16', 'bf16'):
            infinity = 2 * FORMATS[element][1] + 1 << FORMATS[element][0] - 1
            numbers = [bits for bits in range(1 << 16) if bits & 0x7fff <= infinity]
            texts = tool('format', element, ['%x' % bits for bits in numbers])
            self.assertEqual(tool('parse', element, texts), ['%x' % bits for bits in numbers])
            self.assertEqual(tool('parse', element, ['nan', '-nan']),
                             ['%x' % (infinity | infinity >> 1 & ~infinity | sign | 1 << FORMATS[element][0] - 2)
                              for sign in (0, 1 << 15)])
        self.assertEqual(tool('parse', 'f16', ['65519', '65520', '65519.99999999999999999999999', '-0x1.ffep15',
                                               '0x1p-25', '0x1.000000000000000000001p-25', '2.98023223876953125e-8']),
                         ['7bff', 'large', '7bff', 'large', '0', '1', '0'])

    def test_truth_values(self):
        self.assertEqual(tool('parse', 'bool', ['0', '1', 'false', 'true', 'False', 'True']), ['0', '1'] * 3)
        texts = ['', '2', '-1', '+1', '1.0', '00', 'TRUE', 't', 'truely', 'nan', '0x1']
        self.assertEqual(tool('parse', 'bool', texts), ['bad'] * len(texts))

    def test_integers_at_their_limits(self):
        for element in INTEGERS:
            low, high = limits(element)
            mask = (1 << 8 * size_of(element)) - 1
            texts = [str(low), str(high), '+%d' % high, '-0', '000%d' % high, '0x%x' % high, '-0x%x' % -low]
            self.assertEqual(tool('parse', element, texts),
                             ['%x' % (v & mask) for v in (low, high, high, 0, high, high, low)], element)
            texts = [str(low - 1), str(high + 1), '9' * 100, '-' + '9' * 100, '0x' + 'f' * 17]
            self.assertEqual(tool('parse', element, texts), ['large'] * len(texts), element)


class Formatting(unittest.TestCase):
    def test_every_16_bit_number(self):
        for element in ('f16', 'bf16'):
            precision, largest = FORMATS[element]
            infinity = 2 * largest + 1 << precision - 1
            texts = tool('format', element, ['%x' % bits for bits in range(1 << 16)])
            self.assertEqual((texts[0], texts[1 << 15], texts[infinity], texts[infinity | 1 << 15]),
                             ('0', '-0', 'inf', '-inf'))
            self.assertEqual(set(texts[infinity + 1:1 << 15]), {'nan'})
            for bits in range(1, infinity):
                self.assertEqual(texts[bits | 1 << 15], '-' + texts[bits])
                if element == 'f16' or bits % 7 == 0 or bits % 128 in (0, 1, 127):
                    self.check_shortest(element, bits, texts[bits])

    def check_shortest(self, element, bits, text):
        value = value_of(element, bits)
        digits, exponent = digits_of(text)
        whole = str(int(value)) if value == int(value) and len(str(int(value))) == exponent + 1 else None
        self.assertEqual(text, shorter_notation(digits, exponent, whole))
        if whole == text:
            return  # as long as the shortest, and exact
        self.assertEqual(round_to(element, Fraction(text)), bits, text)
        # No decimal of one digit less reads back; and none of as many digits that does is nearer.
        for kept in range(max(len(digits) - 1, 1), len(digits) + 1):
            unit = Fraction(10) ** (exponent - kept + 1)
            below = math.floor(value / unit) * unit
            for other in (below, below + unit):
                if round_to(element, other) == bits:
                    self.assertEqual(kept, len(digits), text)
                    self.assertLessEqual(abs(Fraction(text) - value), abs(other - value), text)

    def test_wide_floats(self):
        for element, code, width in (('f64', 'd', 64), ('f32', 'f', 32)):
            patterns = [RANDOM.getrandbits(width) for _ in range(5000)] + list(range(10))
            for bits, text in zip(patterns, tool('format', element, ['%x' % b for b in patterns])):
                value = struct.unpack('<' + code, bits.to_bytes(width // 8, 'little'))[0]
                if element == 'f64':
                    self.assertEqual(text, text_of(value))
                elif value == value:
                    self.assertEqual(as_float('f32', float(text)), value)

    def test_integers(self):
        for element in INTEGERS:
            low, high = limits(element)
            values = [low, high, 0, 1, low // 3, high // 7]
            mask = (1 << 8 * size_of(element)) - 1
            self.assertEqual(tool('format', element, ['%x' % (v & mask) for v in values]), [str(v) for v in values])


if __name__ == '__main__':
    main()
