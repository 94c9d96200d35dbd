"""Raw binary, and how it is told from text."""
import bz2
import gzip
import io
import lzma
import os
import pickle
import re
import time
import zipfile

from harness import CODES, FLOATS, CommandTest, limits, main, npy_array, pack, size_of, start, text_of

RAW = ('--format', 'raw', '--type')


class Good(CommandTest):
    def test_types_and_orders(self):
        for element in CODES:
            values = [1, 2, 100] if element in FLOATS else [*limits(element), 100]
            total = text_of(float(sum(values))) if element in FLOATS else str(sum(values))
            for order, option in (('<', 'little'), ('>', 'big'), ('=', 'native')):
                data = pack(element, values, order)
                path = self.file('a.bin', data)
                self.good(total, 'sum', *RAW, element, '--byte-order', option, path)
                self.good(total, 'sum', *RAW, element, '--byte-order', option, stdin=data)
            self.good(total, 'sum', *RAW, element, path)

    def test_truth_values(self):
        path = self.file('a.bin', bytes([0, 1, 2, 255, 0]))
        self.good('3', 'sum', *RAW, 'bool', path)
        self.good('1', 'max', '--type', 'bool', '--offset', '1', '--count', '3', path)
        self.good('1', 'min', '--type', 'bool', '--offset', '1', '--count', '3', path)

    def test_offset_and_count(self):
        """Also where the elements are not aligned."""
        for element in ('f64', 'i16', 'u8'):
            values = list(range(1, 101))
            for offset in (0, 1, 3, 8, 4096, 5000):
                data = b'x' * offset + pack(element, values)
                path = self.file('a.bin', data)
                for order in ('little', 'native'):
                    arguments = ('sum', '--type', element, '--byte-order', order, '--offset', str(offset))
                    expected = 5050 if size_of(element) > 1 or max(values) < 256 else None
                    self.good(str(expected), *arguments, path)
                    self.good(str(expected), *arguments, stdin=data)
                    self.good('55', *arguments, '--count', '10', path)
                    self.good('55', *arguments, '--count', '10', stdin=data)
                    self.good('0', *arguments, '--count', '0', path)

    def test_misaligned_and_swapped_at_length(self):
        """More than the command converts at a time, on several threads."""
        values = list(range(700000))
        for order, option in (('<', 'little'), ('>', 'big')):
            data = b'abc' + pack('f64', values, order)
            path = self.file('a.bin', data)
            for threads in '13':
                arguments = ('--type', 'f64', '--offset', '3', '--byte-order', option, '-j', threads)
                self.good(str(sum(values)), 'sum', *arguments, path)
                self.good(str(sum(values)), 'sum', *arguments, stdin=data)
                self.good('699999', 'argmax', *arguments, path)

    def test_suffixes(self):
        data = bytes(4096) + b'\1' * (2 << 20)
        path = self.file('a.bin', data)
        self.good('1024', 'sum', '--type', 'u8', '--offset', '4Ki', '--count', '1Ki', path)
        self.good('2097152', 'sum', '--type', 'u8', '--offset', '4096', '--count', '2Mi', path)
        self.good('2097152', 'sum', '--type', 'u8', '--offset', '0Gi', path)

    def test_standard_input_that_was_read_before(self):
        """Reading begins where the file stands, not at its beginning."""
        path = self.file('a.bin', pack('f64', [1, 2, 3, 4]))
        for skipped, expected in ((0, b'10\n'), (8, b'9\n'), (32, b'0\n'), (100, b'0\n')):
            with open(path, 'rb', buffering=0) as file:
                os.lseek(file.fileno(), skipped, os.SEEK_SET)
                process = start('sum', *RAW, 'f64', stdin=file)
                self.assertEqual(process.communicate(timeout=30), (expected, b''))

    def test_empty(self):
        self.good('0', 'sum', *RAW, 'f32', self.file('empty', b''))
        self.good('0', 'sum', *RAW, 'i32', stdin=b'')
        self.bad(1, 'min', 'min', *RAW, 'i32', stdin=b'')

    def test_files_that_say_they_are_empty(self):
        """Those of /proc have no size until they are read."""
        with open('/proc/version', 'rb') as file:
            total = sum(file.read())
        self.good(str(total), 'sum', *RAW, 'u8', '/proc/version')


class ToldByContent(CommandTest):
    def test_binary_with_a_type(self):
        path = self.file('a.bin', pack('f64', [1, 2, 3]))
        self.good('6', 'sum', '--type', 'f64', path)
        self.good('6', 'sum', '--type', 'f64', stdin=pack('f64', [1, 2, 3]))
        self.good('3', 'sum', '--type', 'u8', self.file('b.bin', b'\1\2'))
        self.good(str(0xff + 0xfe), 'sum', '--type', 'u8', stdin=b'\xff\xfe')

    def test_text_with_a_type(self):
        self.good('6', 'sum', '--type', 'f32', self.file('a.txt', '1 2 3'))
        self.good('6', 'sum', '--type', 'u8', stdin='1 2 3')
        self.good(str(ord('1') + ord('2')), 'sum', *RAW, 'u8', stdin='12')
        self.good(str(ord('1') + ord('2')), 'sum', '--type', 'u8', '--offset', '0', stdin='12')
        self.bad(1, "1:1: 'caf", 'sum', '--type', 'u8', stdin='café 1')

    def test_text_that_a_pipe_brings_slowly(self):
        """What it is depends on the bytes, not on when they come."""
        import time
        data = b'1' * 8 + bytes(8)
        process = start('sum', '--type', 'u8')
        for part in (data[:8], data[8:]):
            process.stdin.write(part)
            process.stdin.flush()
            time.sleep(.1)
        self.assertEqual(process.communicate(timeout=30), (b'392\n', b''))

    def test_a_character_across_the_end_of_the_sample(self):
        text = '1 ' * 2047 + '1é'
        self.bad(1, "1:4095: '1\\xc3\\xa9'", 'sum', '--type', 'u8', stdin=text)


class OtherFiles(CommandTest):
    """What other programs write is not taken for raw binary."""

    def samples(self):
        numbers = pack('f64', [1.5] * 100)
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, 'w') as file:
            file.writestr('arr_0.npy', npy_array('f64', [1.5] * 100))
        empty = io.BytesIO()
        zipfile.ZipFile(empty, 'w').close()
        return (('gzip', gzip.compress(numbers)), ('gzip', gzip.compress(b'1 2 3')), ('xz', lzma.compress(numbers)),
                ('bzip2', bz2.compress(numbers)), ('.npz', archive.getvalue()), ('zip', empty.getvalue()),
                ('zstd', bytes.fromhex('28b52ffd2003190000010203')), ('lz4', bytes.fromhex('04224d1864')),
                ('Parquet', b'PAR1' + numbers + b'PAR1'), ('Arrow', b'ARROW1\0\0' + numbers),
                ('Feather', b'FEA1' + numbers), ('HDF5', b'\x89HDF\r\n\x1a\n' + numbers),
                ('PNG', b'\x89PNG\r\n\x1a\n' + numbers), ('pickle', pickle.dumps([1.5] * 100, 4)),
                ('TIFF', b'II*\0' + numbers), ('NetCDF', b'CDF\1' + numbers), ('7z', b'7z\xbc\xaf\x27\x1c' + numbers),
                ('SQLite', b'SQLite format 3\0' + numbers), ('FITS', b'SIMPLE  =                    T'))

    def test_what_they_are(self):
        for what, data in self.samples():
            path = self.file('a.bin', data)
            for options in ((), ('--type', 'f64'), ('--type', 'u8'), ('--format', 'text'), ('--format', 'npy')):
                for arguments, inputs, name in (((path,), b'', path), ((), data, '(standard input)')):
                    code, out, err = self.run_command('sum', *options, *arguments, stdin=inputs)
                    self.assertEqual((code, out), (1, ''), (what, options))
                    self.assertRegex(err, r'^reduct: ' + re.escape(name) + ': this is .*%s' % re.escape(what))
                    self.assertNotIn('--type', err)
                    self.assertEqual('--format raw' in err, '--type' in options)

    def test_bytes_that_are_meant(self):
        """With --format raw, or an option that only raw binary has."""
        for what, data in self.samples():
            path = self.file('a.bin', data)
            for options in (('--format', 'raw'), ('--offset', '0'), ('--count', str(len(data)))):
                self.good(str(sum(data)), 'sum', '--type', 'u8', *options, path)

    def test_beginnings(self):
        """Fewer bytes than tell what it is, also slowly."""
        for what, data in self.samples():
            self.good(str(sum(data[:2])), 'sum', '--format', 'raw', '--type', 'u8', stdin=data[:2])
        self.bad(1, "1:1: 'BZ' is not a number", 'sum', stdin='BZ')
        self.bad(1, "1:1: 'PKW' is not a number", 'sum', stdin='PKW 3')
        process = start('sum')
        for byte in gzip.compress(b'1 2 3'):
            process.stdin.write(bytes([byte]))
            try:
                process.stdin.flush()
            except BrokenPipeError:
                break
            time.sleep(.01)
        self.assertEqual(process.wait(timeout=30), 1)
        self.assertIn(b'gzip', process.stderr.read())
        process.stdout.close()
        process.stderr.close()


class Bad(CommandTest):
    def test_no_whole_number_of_elements(self):
        path = self.file('a.bin', bytes(20))
        self.bad(1, (path, '20 bytes', 'f64', '8 bytes each'), 'sum', *RAW, 'f64', path)
        self.bad(1, ('(standard input)', 'cut short: 4 of the 8 bytes', 'after 2'), 'sum', *RAW, 'f64', stdin=bytes(20))
        self.bad(1, ('17 bytes after the offset', 'i16'), 'sum', *RAW, 'i16', '--offset', '3', path)

    def test_beyond_the_end(self):
        path = self.file('a.bin', bytes(20))
        self.bad(1, (path, '--offset', '21', '20'), 'sum', *RAW, 'u8', '--offset', '21', path)
        self.bad(1, ('--offset', '21', '20'), 'sum', *RAW, 'u8', '--offset', '21', stdin=bytes(20))
        self.bad(1, (path, '--count asks for 6 i32', '20 bytes', 'hold 5'), 'sum', *RAW, 'i32', '--count', '6', path)
        self.bad(1, 'ends after 5 elements; expected 6', 'sum', *RAW, 'i32', '--count', '6', stdin=bytes(20))
        self.bad(1, ('--count', 'hold 4'), 'sum', *RAW, 'i32', '--offset', '4', '--count', '5', path)
        self.bad(1, '--count', 'sum', *RAW, 'f64', '--count', str((1 << 63) - 1), path)
        self.good('0', 'sum', *RAW, 'i32', '--offset', '20', path)

    def test_no_type(self):
        path = self.file('a.bin', bytes(20))
        for options in (('--format', 'raw'), ('--offset', '4'), ('--count', '4'), ('--byte-order', 'big')):
            self.bad(2, ('raw binary', '--type f64'), 'sum', *options, path)

    def test_options_of_raw_binary_on_text(self):
        for option in ('--offset=8', '--count=2', '--byte-order=big'):
            self.bad(2, (option.split('=')[0], 'raw binary'), 'sum', '--format', 'text', option, stdin='1 2')

    def test_nan_under_nan_error(self):
        path = self.file('nan.bin', b'x' + pack('f64', [1, 2, float('nan')]))
        self.bad(1, path + ': element 2: found NaN', 'sum', '--nan', 'error', *RAW, 'f64', '--offset', '1', path)


if __name__ == '__main__':
    main()
