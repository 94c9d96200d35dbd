"""What is exact, worked out in fractions and with none of the library's code: the data that the ladder and the benchmarks make,
the exact value of a reduction of them, and how far a number is from that."""
import math
import struct
from fractions import Fraction

MASK = (1 << 64) - 1
DIGITS = {'f64': 53, 'f32': 24}
PIECE = 1 << 16  # elements per stream of the benchmarks' data


def splitmix(z):
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & MASK
    z = (z ^ z >> 27) * 0x94d049bb133111eb & MASK
    return z ^ z >> 31


def ladder_values(kind, n):
    """As ladder/ladder.c makes them: uniform over [0, 1)."""
    shift, scale = (40, 24) if kind == 'f32' else (11, 53)
    return [Fraction(splitmix((i + 1) * 0x9e3779b97f4a7c15 & MASK) >> shift, 1 << scale) for i in range(n)]


class Stream:
    """As measure/data.c makes them: xoshiro256**, seeded by splitmix64."""
    def __init__(self, seed):
        self.s = [splitmix(seed + (i + 1) * 0x9e3779b97f4a7c15 & MASK) for i in range(4)]

    def bits(self):
        def rotate(x, by):
            return (x << by | x >> (64 - by)) & MASK
        s = self.s
        result, t = rotate(s[1] * 5 & MASK, 7) * 9 & MASK, s[1] << 17 & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 45)
        return result


def f32(number):
    return struct.unpack('f', struct.pack('f', number))[0]


def bench_values(kind, data, seed, n):
    """Uniform over [0, 1), or of either sign over 60 binades, `wide`, or 40, `range40`."""
    assert n <= PIECE
    stream, values, binades = Stream(seed), [], 40 if data == 'range40' else 60
    for _ in range(n):
        if data == 'uniform':
            number = (stream.bits() >> 11) * 2.0 ** -53
            values.append(Fraction(f32(number) if kind == 'f32' else number))
        elif kind == 'f64':
            exponent = 1023 - binades // 2 + ((stream.bits() >> 32) * binades >> 32)
            word = stream.bits() & 0x800fffffffffffff | exponent << 52
            values.append(Fraction(struct.unpack('d', struct.pack('Q', word))[0]))
        else:
            exponent = 127 - binades // 2 + ((stream.bits() >> 32) * binades >> 32)
            word = stream.bits() >> 32 & 0x807fffff | exponent << 23
            values.append(Fraction(struct.unpack('f', struct.pack('I', word))[0]))
    return values


def root(square):
    """To 200 bits, of which fractions of an ulp need few."""
    return Fraction(math.isqrt(int(square * (1 << 400))), 1 << 200)


def exact(operator, x, y=None):
    squares = sum(a * a for a in x)
    return {'sum': lambda: sum(x), 'norm1': lambda: sum(map(abs, x)), 'norm2': lambda: root(squares),
            'dot': lambda: sum(a * b for a, b in zip(x, y)), 'min': lambda: min(x), 'max': lambda: max(x),
            'mean': lambda: sum(x) / len(x),
            'var': lambda: (squares - sum(x) ** 2 / len(x)) / (len(x) - 1)}[operator]()


def unit(kind, value):
    """An ulp: the distance from a number of the size of `value` to the next."""
    return Fraction(2) ** (math.frexp(float(value))[1] - DIGITS[kind])


def read(kind, text):
    """The number that a text of the fewest digits stands for."""
    return Fraction(f32(float(text)) if kind == 'f32' else float(text))


def error(kind, got, value):
    """In ulp of the exact value, correctly rounded."""
    nearest = round(value / unit(kind, value)) * unit(kind, value) if value else Fraction(0)  # ties to even
    return (abs(got - value) / unit(kind, nearest), got == nearest) if value else (got, got == 0)
