"""The command line: every option, every mistake."""
import csv
import io
import os
import re
import subprocess

from harness import CODES, REDUCT, CommandTest, main, npy_array, needs_every_part

OPERATORS = ('sum', 'mean', 'var', 'std', 'sumsq', 'norm1', 'norm2', 'norminf', 'rms', 'dot', 'min', 'max', 'argmin',
             'argmax', 'product')
RESULTS = (*CODES, 'i128', 'u128', 'i256')
OPTIONS = ('mode', 'nan', 'population', 'result', 'wrap', 'type', 'format', 'offset', 'count', 'byte-order', 'threads',
           'device', 'hex', 'quiet')


class Help(CommandTest):
    def help(self, *args):
        code, out, err = self.run_command(*args)
        self.assertEqual((code, err), (0, ''))
        self.assertLessEqual(max(map(len, out.split('\n'))), 80)
        return out

    def test_overall(self):
        out = self.help('--help')
        for word in OPERATORS + RESULTS:
            self.assertRegex(out, r'\b%s\b' % word)
        for option in OPTIONS:
            self.assertRegex(out, '--%s[ =\n]' % option)
        self.assertIn('Exit status', out)
        self.assertEqual(out, self.help('help'))

    def test_of_an_operator(self):
        for op in OPERATORS:
            out = self.help(op, '--help')
            self.assertTrue(out.startswith('Usage: reduct %s [OPTION...]' % op), out)
            for option in OPTIONS:
                self.assertIn('--' + option, out)

    @needs_every_part
    def test_of_every_part(self):
        """However it is asked for, and with every option in the usage too."""
        for part in ((), *((op,) for op in OPERATORS), ('ladder',), ('bench',)):
            out = self.help(*part, '--help')
            for spelling in ('-h', '-?', *(('--hel', '-qh') if part == ('sum',) else ())):
                self.assertEqual(self.help(*part, spelling), out)
            usage = self.help(*part, '--usage')
            self.assertTrue(usage.startswith('Usage: ' + ' '.join(('reduct', *(part or ('OP',))))), usage)
            for option in re.findall(r'^ +(?:-\w, )?(--[a-z-]+(?:=\S+)?)', out, re.M):
                self.assertIn('[%s]' % option.rstrip(','), usage)
            for short in re.findall(r'^ +-(\w), --[a-z-]+(?:=(\S+?),?)?(?: |$)', out, re.M):
                self.assertRegex(usage, r'\[-%s %s\]' % tuple(map(re.escape, short)) if short[1]
                                 else r'\[-\w*%s\w*\]' % short[0])

    def test_every_choice_in_help_works(self):
        """What the help lists is what the option takes."""
        out = ' '.join(self.help('sum', '--help').split())
        for option, pattern in (('type', 'binary; TYPE is (.*?) How'), ('mode', 'MODE is (.*?) --'),
                                ('nan', 'POLICY is (.*?) --'), ('format', 'FORMAT is (.*?) --')):
            for choice in re.split(', | or ', re.search(pattern, out).group(1)):
                if choice not in ('raw', 'npy'):
                    self.good('1', 'sum', '--' + option, choice, stdin='1 0')

    def test_nothing_at_all(self):
        self.bad_help(self.run_command())

    def bad_help(self, result):
        code, out, err = result
        self.assertEqual((code, out), (2, ''))
        for op in OPERATORS:
            self.assertIn(op, err)

    @needs_every_part
    def test_version(self):
        for arguments in (('--version',), ('-V',), ('sum', '--version'), ('sum', '-V'), ('ladder', '-V'),
                          ('bench', '--version')):
            self.assertRegex(self.help(*arguments), r'^reduct \d+\.\d+\.\d+\n$')


class Wrong(CommandTest):
    def test_operator(self):
        for op in ('summ', 'SUM', '', '--sum', '-x', '\x1b[2J'):
            self.bad(2, ('is not an operator', *OPERATORS), op)

    @needs_every_part
    def test_options(self):
        self.bad(2, '--fooo', 'sum', '--fooo')
        self.bad(2, "'y'", 'sum', '-y')
        for option in ('mode', 'nan', 'result', 'type', 'format', 'offset', 'count', 'byte-order', 'threads', 'device'):
            self.bad(2, ('--' + option, 'argument'), 'sum', '--' + option)
        self.bad(2, ('--hex', "'1'"), 'sum', '--hex=1')
        self.bad(2, ("'y'", 'unrecognized'), 'sum', '-xy')
        self.bad(2, ("'--s'", 'ambiguous', '--sizes', '--sample', '--seed'), 'bench', '--s=3')
        self.bad(2, ("'--r'", 'ambiguous', '--rung', '--rounds'), 'ladder', '--r', '3')
        for part in ('sum', 'ladder', 'bench'):
            self.bad(2, ("'--HANG'", 'unrecognized'), part, '--HANG', '--help')
            self.bad(2, r"'\x1b'", part, '-\x1b[2J')
            self.bad(2, (r'--\x1b[2J', 'unrecognized'), part, '--\x1b[2J')
        self.bad(2, r"'\x1b[2J'", 'ladder', '\x1b[2J')
        self.bad(2, r"'\x1b[2J'", 'bench', '\x1b[2J')
        self.bad(2, (r'\xc3\xa9', '--repeat'), 'bench', '--repeat', 'é')

    def test_given_twice(self):
        """Of two values one would be lost, be they the same or not. Switches are no different the second time."""
        path = self.file('x.txt', '1 2')
        for option, values in (('mask', ('m', 'n')), ('mode', ('fast', 'fast')), ('type', ('f32', 'f64')), ('threads', ('1', '2')),
                               ('by', ('a', 'b')), ('output', ('a', 'b')), ('missing', ('', 'x')), ('device', ('cpu', 'cpu'))):
            self.bad(2, '--%s: given twice; expected it once' % option, 'sum', '--%s=%s' % (option, values[0]), path,
                     '--' + option, values[1])
        self.bad(2, '--threads: given twice', 'sum', '-j1', path, '--thr=2')
        self.good('1.5', 'mean', '-q', '-q', '--quiet', path)
        self.good('3', 'sum', '--axis', '0', '--axis', '-1', self.file('a.npy', npy_array('f64', [1, 2], '<', (1, 2))))

    @needs_every_part
    def test_given_twice_to_every_part(self):
        self.bad(2, '--sizes: given twice; expected it once', 'bench', '--sizes', '1Ki', '--size', '1Ki')
        self.bad(2, '--device: given twice; expected it once', 'ladder', '--device', 'cpu', '--device', 'cpu')

    @needs_every_part
    def test_bench(self):
        for option, needle in (('--device=nope', 'nope'), ('--device=cpu:nope', 'cpu:nope'), ('--op=nope', 'nope'), ('--op=minmax', 'expected one of sum,mean,'),
                               ('--sizes=', 'empty'), ('--threads=0', "'0'"), ('--offset=1', 'cuda'),
                               ('--repeat=0', '100000'), ('--seed=18446744073709551616', '18446744073709551615'),
                               ('--shape=rows:0', "'rows:0' is not known"), ('--shape=groups:4', 'expected whole, rows:N or columns:N')):
            self.bad(2, (option.split('=')[0], needle), 'bench', option)

    @needs_every_part
    def test_bench_of_matrices(self):
        status, out, _ = self.run_command('bench', '--csv', '--device=cpu', '--threads=1', '--repeat=1', '--sample=0', '--sizes=8Ki', '--type=f64,f32,f16',
                                          '--op=sum,mean,dot,norm1,norm2,var,min,argmin', '--shape=whole,rows:3,rows:64,columns:5,columns:2Ki')
        self.assertEqual(status, 0)
        rows = list(csv.DictReader(io.StringIO(out)))
        of_all = 6 * 3 + 2 * 2  # operators and ways; minima have no fast one
        # 8 KiB are no row of 2 Ki f64, one of f32, which has no variance, and two of f16.
        self.assertEqual(len(rows), 4 * of_all + 4 * of_all + of_all - 3 + 5 * of_all)
        self.assertLessEqual({row['verdict'] for row in rows}, {'right', 'within bound'})
        self.assertIn('sum, normal data, rows of 64', {row['group'] for row in rows})

    def test_choices(self):
        for option, expected in (('mode', ('exact', 'fast')), ('nan', ('propagate', 'ignore', 'error')),
                                 ('result', (*RESULTS, 'bool')), ('type', (*CODES, 'bool')),
                                 ('format', ('auto', 'npy', 'raw', 'text')),
                                 ('byte-order', ('little', 'big', 'native'))):
            for value in ('bogus', '', expected[0].upper(), expected[0] + ' '):
                self.bad(2, ("--%s: found '%s'" % (option, value), 'expected', *expected), 'sum', '--' + option, value)
        for value in ('i128', 'i256', 'u128'):
            self.bad(2, ('--type: found', value), 'sum', '--type', value)

    def test_numbers(self):
        for option in ('offset', 'count', 'threads'):
            for value in ('', '-1', 'x', '1.5', '1e3', ' 1', '1 ', '0x10', '1k', '1KiB', '1ki', 'Ki', '+1'):
                self.bad(2, ('--%s: found ' % option, "'%s'" % value, 'expected'), 'sum', '--%s=%s' % (option, value))
            for value in ('9223372036854775808', '18446744073709551616', '9' * 50):
                self.bad(2, ('--%s: found ' % option, 'at most'), 'sum', '--%s=%s' % (option, value))
        self.bad(2, ('--threads', "'1Ki'", 'whole number'), 'sum', '--threads=1Ki')
        self.bad(2, ('--threads', '65536'), 'sum', '--threads=65537')
        self.bad(2, ('--offset', 'at most'), 'sum', '--offset=8388608Ti')
        self.bad(2, ('--count', 'at most'), 'sum', '--count=17179869184Gi')

    def test_options_an_operator_does_not_have(self):
        for op in OPERATORS:
            inputs = [self.file('a.txt', '1 2')] * (2 if op == 'dot' else 1)
            if op in ('var', 'std'):
                self.assertEqual(self.run_command(op, '--population', *inputs)[0], 0)
            else:
                self.bad(2, ('--population', op), op, '--population', *inputs)
            if op in ('sum', 'sumsq', 'norm1', 'dot', 'product'):
                self.assertEqual(self.run_command(op, '--wrap', '--type', 'i32', *inputs)[0], 0)
            else:
                self.bad(2, ('--wrap', op), op, '--wrap', '--type', 'i32', *inputs)
        self.bad(2, ('--wrap', 'f64'), 'sum', '--wrap', stdin='1')
        self.bad(2, ('--wrap', 'f64'), 'sum', '--wrap', '--type', 'i32', '--result', 'f64', stdin='1')

    def test_device(self):
        for device in ('', 'bogus', 'cpu:bogus', 'CPU'):
            self.bad(2, ('--device', device), 'sum', '--device', device, stdin='1')

    def test_standard_input_twice(self):
        self.bad(2, ('standard input', 'once', '2 times'), 'sum', '-', '-', stdin='1')
        self.bad(2, 'standard input', 'dot', '-', '-', stdin='1')
        for option in ('--mask', '--by', '--keys'):
            for inputs in ((), ('-',)):
                self.bad(2, ('standard input', 'once', '2 times'), 'sum', option, '-', *inputs, stdin='1\n2\n3\n4\n')
        self.bad(2, ('standard input', '2 times'), 'sum', '--mask', '-', '--by', '-', self.file('x.txt', '1 2'), stdin='1 2')
        self.bad(2, ('standard input', '3 times'), 'dot', '-', '-', '--by', '-', stdin='1 2')

    def test_standard_input_of_an_option(self):
        array = self.file('x.txt', '1 2 4')
        self.good('5\n2', 'sum', '--by', '-', array, stdin='0 1 0')
        self.good('-3 2\n7 5', 'sum', '--keys', '-', array, stdin='7 -3 7')
        self.good('6', 'sum', '--mask', '-', array, stdin=b'\0\1\1')
        self.good('5\n2', 'sum', '--by', self.file('k.txt', '0 1 0'), stdin='1 2 4')

    def test_files(self):
        self.bad(1, 'nowhere.txt: No such file', 'sum', 'nowhere.txt')
        self.bad(1, 'No such file', 'sum', '')
        if os.getuid() != 0:
            path = self.file('secret', '1')
            os.chmod(path, 0)
            self.bad(1, path + ': Permission denied', 'sum', path)


class Works(CommandTest):
    def test_devices_and_threads(self):
        path = self.file('a.npy', npy_array('f64', [0.1] * 100000))
        expected = self.run_command('sum', path)[1].strip()
        for options in (('--device', 'auto'), ('--device', 'cpu'), ('--device', 'cpu:portable'), ('--threads', '0'),
                        ('--threads', '1'), ('--threads=3',), ('-j', '64'), ('-j65536',), ('-q',), ('--quiet',)):
            self.good(expected, 'sum', *options, path)
            self.good(expected, 'sum', path, *options)

    def test_short_and_abbreviated(self):
        self.good('3', 'sum', '-t', 'i8', stdin='1 2')
        self.good('0x3', 'sum', '-ti8', '-x', stdin='1 2')
        self.good('0.1', 'sum', '-r', 'f32', stdin='0.1')
        self.good('1', 'var', '--pop', stdin='1 3')

    def test_name_of_the_command(self):
        """Messages call it reduct, however it was called."""
        for name in ('/some/where/else', ''):
            done = subprocess.run([name, 'sum', 'nowhere'], executable=REDUCT, capture_output=True, timeout=30)
            self.assertTrue(done.stderr.startswith(b'reduct: nowhere:'), done.stderr)


if __name__ == '__main__':
    main()
