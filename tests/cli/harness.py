"""What the tests of the command share: running it, writing its inputs, and oracles that are not ours.

Each test_*.py is run as `python3 test_X.py COMMAND NUMBER_TOOL`.
"""
import fcntl
import itertools
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from fractions import Fraction

REDUCT = os.path.abspath(sys.argv[1])
NUMBER_TOOL = os.path.abspath(sys.argv[2])
SAMPLE = random.Random(4)
SANITIZED = bool(os.environ.get('REDUCT_TEST_SANITIZED'))  # slow, and with much memory of its own
# What this build of the command lacks, and so cannot be tested.
LACKS = os.environ.get('REDUCT_TEST_LACKS')
needs_every_part = unittest.skipIf(LACKS, f'this build lacks {LACKS}')

# Element types of numbers, with their struct codes; bf16, which has none, is packed as its bits. bool has tests of its own.
CODES = {'f64': 'd', 'f32': 'f', 'f16': 'e', 'bf16': 'H', 'i8': 'b', 'i16': 'h', 'i32': 'i', 'i64': 'q',
         'u8': 'B', 'u16': 'H', 'u32': 'I', 'u64': 'Q'}
FLOATS = ('f64', 'f32', 'f16', 'bf16')
INTEGERS = tuple(t for t in CODES if t not in FLOATS)
# Float formats: significand bits, largest exponent.
FORMATS = {'f64': (53, 1023), 'f32': (24, 127), 'f16': (11, 15), 'bf16': (8, 127)}


def size_of(element):
    return struct.calcsize(CODES[element])


def numpy_name(element):
    """What NumPy calls it; bf16 what the package ml_dtypes does."""
    return ('V' if element == 'bf16' else element[0]) + str(size_of(element))


def limits(element):
    bits = 8 * size_of(element)
    return (-1 << bits - 1, (1 << bits - 1) - 1) if element[0] == 'i' else (0, (1 << bits) - 1)


def pack(element, values, order='<'):
    if element == 'bf16':  # the upper half of f32
        values = [struct.unpack('<I', struct.pack('<f', v))[0] >> 16 for v in values]
    return struct.pack(order + str(len(values)) + CODES[element], *values)


def npy(header, data=b'', version=(1, 0), length=None):
    """A .npy file with any header, also a wrong one."""
    if isinstance(header, dict):
        header = repr(header)
    if isinstance(header, str):
        header = header.encode()
    width = 2 if version[0] == 1 else 4
    header += b' ' * (-(len(header) + 9 + width) % 64) + b'\n'
    length = len(header) if length is None else length
    return b'\x93NUMPY' + bytes(version) + length.to_bytes(width, 'little') + header + data


def npy_array(element, values, order='<', shape=None, fortran=False, version=(1, 0)):
    shape = (len(values),) if shape is None else shape
    descr = ('|' if size_of(element) == 1 else order) + numpy_name(element)
    return npy({'descr': descr, 'fortran_order': fortran, 'shape': shape}, pack(element, values, order), version)


def in_fortran_order(values, shape):
    """The elements of an array in C order, as a file in Fortran order has them."""
    strides = [math.prod(shape[i + 1:]) for i in range(len(shape))]
    indices = itertools.product(*[range(n) for n in reversed(shape)])
    return [values[sum(i * s for i, s in zip(reversed(index), strides))] for index in indices]


# ----------------------------------------------------------------------------------------------------------------------
# Oracles
# ----------------------------------------------------------------------------------------------------------------------

def root(value):
    """The square root of a fraction, to far more bits than any format has, its inexactness kept in the last one."""
    shift = max(0, 200 - value.numerator.bit_length() + value.denominator.bit_length())
    shift += shift % 2
    scaled = (value.numerator << shift) // value.denominator
    r = math.isqrt(scaled)
    exact = r * r * value.denominator == value.numerator << shift
    return Fraction(2 * r + (not exact), 2 << shift // 2)


def round_to(element, value):
    """The bits of a fraction rounded to a float format, to nearest, ties to even; the sign of a zero is plus."""
    precision, largest = FORMATS[element]
    magnitude = abs(value)
    estimate = magnitude.numerator.bit_length() - magnitude.denominator.bit_length() - 1
    exponent = max(estimate, 1 - largest) if magnitude else 1 - largest
    if exponent > largest:
        magnitude = Fraction(2) ** (largest + 1)
        exponent = largest
    while magnitude >= Fraction(2) ** (exponent + 1):
        exponent += 1
    units = magnitude / Fraction(2) ** (exponent - precision + 1)
    n = round(units)  # ties to even
    bits = n if exponent == 1 - largest else n + (exponent + largest - 1 << precision - 1)
    infinity = 2 * largest + 1 << precision - 1
    width = infinity.bit_length() + 1
    return min(bits, infinity) | (value < 0) << width - 1


def value_of(element, bits):
    """The fraction that finite bits stand for."""
    precision, largest = FORMATS[element]
    width = (2 * largest + 1 << precision - 1).bit_length() + 1
    magnitude = bits & ((1 << width - 1) - 1)
    field, fraction = magnitude >> precision - 1, magnitude & ((1 << precision - 1) - 1)
    significand = fraction if field == 0 else fraction | 1 << precision - 1
    value = significand * Fraction(2) ** (max(field, 1) - largest - precision + 1)
    return -value if bits >> width - 1 else value


def as_float(element, number):
    """The nearest number of a float element type, as a Python float."""
    if element == 'f64' or math.isnan(number) or math.isinf(number):
        return float(number)
    return math.copysign(float(value_of(element, round_to(element, Fraction(number)))), number)


def text_of(value):
    """A float as the command prints it: the same digits as repr(), in the shorter notation."""
    if value != value:
        return 'nan'
    if math.isinf(value):
        return 'inf' if value > 0 else '-inf'
    sign = '-' if math.copysign(1, value) < 0 else ''
    value = abs(value)
    digits, exponent = digits_of(repr(value))
    return sign + shorter_notation(digits, exponent, str(int(value)) if value == int(value) else None)


def digits_of(text):
    """Significant digits without zeros at the ends, and the decimal exponent of the first."""
    mantissa, _, exponent = text.partition('e')
    whole, _, fraction = mantissa.partition('.')
    digits = (whole + fraction).lstrip('0')
    first = len(whole) + int(exponent or 0) - 1 - (len(whole + fraction) - len(digits))
    return digits.rstrip('0') or '0', first if digits else 0


def shorter_notation(digits, exponent, whole=None):
    """Fixed or scientific, whichever is shorter. A whole number in fixed notation has all of its digits."""
    scientific = digits[0] + ('.' + digits[1:] if len(digits) > 1 else '') + 'e%+03d' % exponent
    if exponent < 0:
        fixed = '0.' + '0' * (-exponent - 1) + digits
    elif exponent >= len(digits) - 1:
        fixed = whole or digits + '0' * (exponent + 1 - len(digits))
    else:
        fixed = digits[:exponent + 1] + '.' + digits[exponent + 1:]
    return fixed if len(fixed) <= len(scientific) else scientific


# ----------------------------------------------------------------------------------------------------------------------
# Running
# ----------------------------------------------------------------------------------------------------------------------

STARTED = []


def start(*args, **options):
    for stream in ('stdin', 'stdout', 'stderr'):
        options.setdefault(stream, subprocess.PIPE)
    STARTED.append(subprocess.Popen([REDUCT, *args], **options))
    return STARTED[-1]


def end_started():
    """Some of them read without end, and a test that fails does not wait for them."""
    while STARTED:
        process = STARTED.pop()
        if process.poll() is None:
            process.kill()
            process.wait()


def sampled(items):
    """All of them; under sanitizers, where each start of the command takes long, about every fourth."""
    return [item for item in items if not SANITIZED or SAMPLE.random() < .25]


def wait_until(condition):
    """As long as a busy machine may need for what comes soon."""
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(.002)


def field_of_status(process, name):
    """A line of /proc/PID/status."""
    with open(f'/proc/{process.pid}/status') as file:
        return next(line.split(':', 1)[1].strip() for line in file if line.startswith(name + ':'))


def wait_until_caught(process, number):
    """Until the process handles the signal, as it does soon after its start."""
    wait_until(lambda: int(field_of_status(process, 'SigCgt'), 16) >> number - 1 & 1)


def wait_until_open(process, path):
    folder = f'/proc/{process.pid}/fd'

    def leads_there(name):
        try:
            return os.readlink(os.path.join(folder, name)) == path
        except FileNotFoundError:  # closed just now
            return False
    wait_until(lambda: any(leads_there(name) for name in os.listdir(folder)))


def wait_until_it_waits(process, path):
    """Until the process has the file open, has read all that was written to its standard input, and sleeps until there is more:
    by then it has measured the file, too."""
    wait_until_open(process, path)

    def sleeps():
        unread = struct.unpack('i', fcntl.ioctl(process.stdin, termios.FIONREAD, b'\0\0\0\0'))[0]
        return unread == 0 and field_of_status(process, 'State').startswith('S')

    def stays_asleep():
        for _ in range(10):
            if not sleeps():
                return False
            time.sleep(.01)
        return True
    wait_until(stays_asleep)


class CommandTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix='reduct-test-')
        self.addCleanup(directory.cleanup)
        self.addCleanup(end_started)
        self.directory = directory.name

    def file(self, name, content):
        path = os.path.join(self.directory, name)
        with open(path, 'wb') as file:
            file.write(content.encode() if isinstance(content, str) else content)
        return path

    def run_command(self, *args, stdin=b'', env=None):
        stdin = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run([REDUCT, *args], input=stdin, capture_output=True, timeout=120, env=env)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def good(self, expected, *args, stdin=b'', env=None):
        """The command prints exactly this, and nothing else."""
        self.assertEqual(self.run_command(*args, stdin=stdin, env=env), (0, expected + '\n', ''), args)

    def bad(self, status, needles, *args, stdin=b''):
        """The command fails with this status, says these things, and prints no result."""
        code, out, err = self.run_command(*args, stdin=stdin)
        self.assertEqual((code, out), (status, ''), (args, err))
        self.assertTrue(err.startswith('reduct'), err)
        self.assertNotIn('Sanitizer', err)
        self.assertTrue(all(c == '\n' or ' ' <= c <= '~' for c in err), 'unprintable in ' + repr(err))
        for needle in [needles] if isinstance(needles, str) else needles:
            self.assertIn(needle, err, args)


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
