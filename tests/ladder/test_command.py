"""`reduct ladder`: the CPU's ladder in every format, its options, and what it says when it cannot."""
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import unittest

import formats
from formats import REDUCT

SMALL = ('--device', 'cpu', '--n', '64Ki', '--rounds', '3')
RUNGS = ['plain', 'accumulators', 'vectors', 'threads', 'std-accumulate', 'std-reduce', 'kahan', 'pairwise', 'exact']
OPTIONAL = 'std-reduce-par'  # where the build had oneTBB


def ladder(*arguments):
    return formats.run(REDUCT, 'ladder', *arguments)


def report(*arguments):
    return formats.read_json(formats.output(REDUCT, 'ladder', *arguments, '--json'))


if report('--device', 'cpu', '--n', '1', '--rounds', '1', '--rung', OPTIONAL)['rows'][0]['verdict'] == 'right':
    RUNGS.insert(RUNGS.index('kahan'), OPTIONAL)


def without_gpu():
    return ladder('--device', 'cuda:0', '--n', '1', '--rounds', '1').returncode == 2


class Formats(unittest.TestCase):
    def test_json(self):
        result = report(*SMALL)
        self.assertIn('processor', result['facts'])
        self.assertIn('date', result['facts'])
        self.assertEqual([row['name'] for row in result['rows']], RUNGS)
        for row in result['rows']:
            self.assertEqual(list(row), formats.FIELDS)
            self.assertEqual((row['group'], row['type'], row['n'], row['bytes']), ('rungs', 'f32', 65536, 262144))
            self.assertEqual(row['verdict'], 'right' if row['got'] == row['expected'] else 'within bound')
            self.assertGreater(row['seconds'], 0)
            self.assertGreater(row['of_limit'], 0)
            self.assertEqual(row['expected'], result['rows'][-1]['got'])
        self.assertEqual(result['rows'][0]['speedup'], 1)
        self.assertEqual(result['rows'][-1]['verdict'], 'right')
        self.assertLessEqual(result['rows'][-1]['ulp'], 0.5)
        self.assertEqual(len(result['references']), 1)

    def test_the_data_are_the_same_everywhere(self):
        """The numbers are made again here, and their exact sum."""
        mask = (1 << 64) - 1
        total = 0
        for i in range(1, 4097):
            z = i * 0x9e3779b97f4a7c15 & mask
            z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & mask
            z = (z ^ z >> 27) * 0x94d049bb133111eb & mask
            total += (z ^ z >> 31) >> 40
        expected = report('--device', 'cpu', '--n', '4Ki', '--rung', 'exact', '--rounds', '1')['rows'][0]['expected']
        self.assertEqual(struct.pack('f', float(expected)), struct.pack('f', total / 2 ** 24))

    def test_csv(self):
        rows = formats.read_csv(formats.output(REDUCT, 'ladder', *SMALL, '--csv'))
        self.assertEqual([row['name'] for row in rows], RUNGS)
        self.assertLessEqual({row['verdict'] for row in rows}, {'right', 'within bound'})

    def test_markdown(self):
        tables = formats.read_markdown_tables(formats.output(REDUCT, 'ladder', *SMALL, '--markdown'))
        self.assertEqual([row[0] for row in tables[0][2:]], RUNGS)

    def test_table(self):
        text = formats.output(REDUCT, 'ladder', *SMALL)
        for rung in RUNGS:
            self.assertRegex(text, rf'(?m)^{rung} .*(right|within bound), [\d.]+ ulp$')
        self.assertNotIn('\033', text)

    def test_html_beside_another_format(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'page.html')
            text = formats.output(REDUCT, 'ladder', *SMALL, '--sweep', '--html', path, '--csv')
            self.assertEqual(len(formats.read_csv(text)), len(RUNGS))
            with open(path, encoding='utf-8') as file:
                page = formats.check_page(file.read())
        for text in RUNGS + ['read limit', f'{len(RUNGS)} of {len(RUNGS)}', 'Bandwidth over the number of elements', 'Cascade Lake']:
            self.assertIn(text, page.text)

    def test_a_page_of_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'page.html')
            formats.output(REDUCT, 'ladder', '--device', 'cpu', '--n', '0', '--rounds', '1', '--html', path)
            with open(path, encoding='utf-8') as file:
                formats.check_page(file.read())


class Submissions(unittest.TestCase):
    def test_submission(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'mine.json')
            result = report(*SMALL, '--submit-file', path)
            with open(path, encoding='utf-8') as file:
                text = file.read()
        given = json.loads(text)
        self.assertEqual(given['format'], 'reduct ladder results 1')
        self.assertEqual(given['facts']['program'], result['facts']['program'])
        self.assertEqual((given['warnings'], given['facts']['processor']), (result['warnings'], result['facts']['processor']))
        self.assertEqual([row['name'] for row in given['rows']], RUNGS)
        for row, whole in zip(given['rows'], result['rows'], strict=True):
            self.assertAlmostEqual(row['seconds'] / whole['seconds'], 1, 3)
            for field in ('group', 'type', 'n', 'device', 'language', 'verdict'):
                self.assertEqual(row[field], whole[field])
        self.assertEqual(len(text.split('\n')), len(RUNGS) + 6)  # a line per row

    def test_sums_that_cancel(self):
        """Every rung gives another sum, and only the exact one is right."""
        rows = report(*SMALL, '--data', 'cancelling')['rows']
        self.assertEqual(rows[-1]['verdict'], 'right')
        self.assertGreater(rows[0]['ulp'], 1000)
        self.assertGreater(len({row['got'] for row in rows}), 4)
        self.assertNotIn('wrong', {row['verdict'] for row in rows})


class Colour(unittest.TestCase):
    def on_terminal(self, **environment):
        """What `reduct ladder` writes to a terminal."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ.update({'TERM': 'xterm', **environment})
            os.execv(REDUCT, ['reduct', 'ladder', *SMALL, '--type', 'f64'])
        text = b''
        while True:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            text += piece
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        return text

    def test_on_a_terminal(self):
        self.assertIn(b'\033[32mright', self.on_terminal(NO_COLOR=''))

    def test_no_colour_when_refused(self):
        self.assertNotIn(b'\033', self.on_terminal(NO_COLOR='1'))


class Runs(unittest.TestCase):
    def test_every_type_at_awkward_sizes(self):
        sizes = [0, 1, 2, 3, 31, 129, 1000, 4097, 65521]
        result = report('--device', 'cpu', '--type', 'all', '--n', ','.join(map(str, sizes)), '--rounds', '1')
        rows = result['rows']
        self.assertEqual(len(rows), len(sizes) * 3 * len(RUNGS))
        for row in rows:
            absent = row['type'] == 'i32' and row['name'] in ('kahan', 'pairwise')
            same = row['got'] == row['expected']
            self.assertEqual(row['verdict'], 'not run' if absent else 'right' if same else 'within bound', row)
            self.assertEqual(row['ulp'] is None, row['type'] == 'i32', row)
            if row['type'] != 'i32' and row['verdict'] == 'right':
                self.assertLessEqual(row['ulp'], 0.5)
            if row['type'] == 'i32' or row['name'] == 'exact':
                self.assertNotEqual(row['verdict'], 'within bound', row)

    def test_one_rung(self):
        rows = report(*SMALL, '--rung', 'pairwise', '--type', 'f64')['rows']
        self.assertEqual([(row['name'], row['speedup']) for row in rows], [('pairwise', None)])

    def test_what_the_build_lacks_is_said_where_it_is_asked_for(self):
        row = report(*SMALL, '--rung', OPTIONAL)['rows'][0]
        if OPTIONAL in RUNGS:
            self.assertIn(row['verdict'], ('right', 'within bound'))
        else:
            self.assertEqual((row['verdict'], 'oneTBB' in row['note']), ('not run', True))

    def test_sweep(self):
        series = report('--device', 'cpu', '--n', '1Ki,8Ki', '--sweep', '--rounds', '1')['series']
        self.assertEqual([s['name'] for s in series], [rung + ' f32' for rung in RUNGS] + ['reading alone f32'])
        for s in series:
            self.assertEqual([x for x, _ in s['points']], [1024, 2048, 4096, 8192])
            self.assertTrue(all(y > 0 for _, y in s['points']))

    def test_the_cpu_where_there_is_no_gpu(self):
        if not without_gpu():
            self.skipTest('there is a GPU')
        result = ladder('--n', '1Ki', '--rounds', '1', '--csv')
        self.assertEqual(result.returncode, 0)
        self.assertIn(b'climbing the ladder of the CPU', result.stderr)
        self.assertEqual(len(formats.read_csv(result.stdout.decode())), len(RUNGS))
        self.assertEqual(ladder('--n', '1Ki', '--rounds', '1', '--quiet').stderr, b'')
        self.assertEqual(ladder('--n', '1Ki', '--rounds', '1', '--rung', 'plain').stderr, b'')

    def test_list(self):
        text = formats.output(REDUCT, 'ladder', '--list')
        names = re.findall(r'(?m)^  ([a-z-]+)  +\S', text)
        for rung in RUNGS + ['global-halving', 'last-warp-implicit', 'bulk-copy']:
            self.assertIn(rung, names)
        self.assertEqual(names.count('exact'), 2)

    def test_help(self):
        text = formats.output(REDUCT, 'ladder', '--help')
        for option in ('device', 'n', 'type', 'rung', 'finish', 'block', 'specimens', 'applications', 'peers', 'profile',
                       'sweep', 'rounds', 'list', 'quiet', 'json', 'csv', 'markdown', 'html', 'columns', 'data', 'submit-file'):
            self.assertIn('--' + option, text)
        self.assertTrue(all(len(line) <= 80 for line in text.split('\n')))
        self.assertIn('reduct ladder', formats.output(REDUCT, '--help'))


class Refusals(unittest.TestCase):
    def refuse(self, status, words, *arguments):
        result = ladder(*arguments)
        message = result.stderr.decode()
        self.assertEqual(result.returncode, status, (arguments, message))
        self.assertEqual(result.stdout, b'')
        self.assertTrue(message.startswith('reduct'), message)
        for word in words:
            self.assertIn(word, message)

    def test_values(self):
        for option, value, expected in [
                ('--n', '4Xi', 'such as 1000 or 1Mi,4Mi'), ('--n', '', 'numbers of elements'),
                ('--n', '-1', 'numbers of elements'), ('--n', '1,,2', 'numbers of elements'),
                ('--n', '1,', 'numbers of elements'), ('--n', '1' * 40, 'numbers of elements'),
                ('--n', ','.join('1' * 17), 'up to 16'), ('--n', '99999999999999999999', 'numbers of elements'),
                ('--type', 'f16', 'i32, f32, f64 or all'), ('--type', 'F32', 'i32, f32, f64 or all'),
                ('--finish', 'default', 'last-block or all'), ('--finish', '', 'last-block or all'),
                ('--block', '15', 'a whole number from 16 to 1024'), ('--block', '1025', 'from 16 to 1024'),
                ('--rounds', '0', 'a whole number from 1 to'), ('--rounds', '2.5', 'a whole number from 1 to'),
                ('--device', 'gpu', 'cpu, cuda:N or vulkan:N'), ('--device', 'cuda', 'cpu, cuda:N or vulkan:N'),
                ('--device', 'cuda:', 'cpu, cuda:N or vulkan:N'), ('--device', 'cuda:x', 'cpu, cuda:N or vulkan:N'),
                ('--rung', 'nonesuch', 'reduct ladder --list')]:
            self.refuse(2, [option + ':', "found '" + value[:40], 'expected', expected], option, value)

    def test_combinations(self):
        self.refuse(2, ['--json, --csv, --markdown', 'one'], '--json', '--csv')
        self.refuse(2, ['--finish', 'only GPUs'], '--device', 'cpu', '--finish', 'atomic')
        self.refuse(2, ['--specimens', 'only GPUs'], '--device', 'cpu', '--specimens')
        self.refuse(2, ['--rung', "'halving'", 'the CPU'], '--device', 'cpu', '--rung', 'halving')
        self.refuse(2, ['--rung', "'plain'", 'GPUs'], '--device', 'cuda:0', '--rung', 'plain')
        self.refuse(2, ["'data.npy'", 'no files'], 'data.npy')

    def test_rows(self):
        self.refuse(2, ['--columns', 'only the ladder of rows', 'reduct ladder rows'], '--columns', '64')
        self.refuse(2, ['--columns', "found '0'", 'one element at least'], 'rows', '--columns', '0')
        self.refuse(2, ['--columns', "found '1,x'"], 'rows', '--columns', '1,x')
        self.refuse(2, ["'more'", 'no files'], 'rows', 'more')
        self.refuse(2, ['rows', 'ladder of GPUs', 'cpu'], 'rows', '--device', 'cpu')
        self.refuse(2, ['--finish', 'ladder of rows'], 'rows', '--finish', 'atomic')
        self.refuse(2, ['--sweep', 'ladder of rows'], 'rows', '--sweep')
        self.refuse(2, ['--data cancelling', 'ladder of rows'], 'rows', '--data', 'cancelling')
        self.refuse(2, ["'halving'", 'rows'], 'rows', '--rung', 'halving')
        self.refuse(2, ["'row-warp'"], '--rung', 'row-warp')
        if without_gpu():
            self.refuse(1, ['rows', 'ladder of GPUs'], 'rows')

    def test_groups(self):
        self.refuse(2, ['--groups', 'only the ladder of groups', 'reduct ladder groups'], '--groups', '64')
        self.refuse(2, ['--groups', "found '0'", '1 to 256Mi'], 'groups', '--groups', '0')
        self.refuse(2, ['--groups', "found '257Mi'", '1 to 256Mi'], 'groups', '--groups', '257Mi')
        self.refuse(2, ['--columns', 'ladder of groups'], 'groups', '--columns', '64')
        self.refuse(2, ['groups', 'only CUDA', 'cpu'], 'groups', '--device', 'cpu')
        self.refuse(2, ["'row-warp'", 'groups'], 'groups', '--rung', 'row-warp')
        if without_gpu():
            self.refuse(1, ['groups', 'only CUDA'], 'groups')

    def test_data(self):
        self.refuse(2, ['--data', "found 'nonesuch'", 'uniform or cancelling'], '--data', 'nonesuch')

    def test_unknown_option(self):
        self.refuse(2, ['unrecognized option'], '--nonesuch')

    def test_absent_device(self):
        self.refuse(2, ['--device', 'cuda:999'], '--device', 'cuda:999')

    def test_gpu_only_without_gpu(self):
        if not without_gpu():
            self.skipTest('there is a GPU')
        self.refuse(1, ['--specimens', 'only GPUs'], '--specimens')
        self.refuse(1, ['halving', 'only GPUs'], '--rung', 'halving')

    def test_too_many_elements(self):
        self.refuse(1, ['memory'], '--device', 'cpu', '--n', '4194304Ti')

    def test_files_that_cannot_be_written(self):
        self.refuse(1, ['/nonesuch/page.html', 'No such file'], *SMALL, '--html', '/nonesuch/page.html')
        self.refuse(1, ['/nonesuch/mine.json', 'No such file'], *SMALL, '--submit-file', '/nonesuch/mine.json')
        if os.path.exists('/dev/full'):
            self.refuse(1, ['/dev/full', 'No space'], *SMALL, '--html', '/dev/full')
            for form in ([], ['--json'], ['--csv'], ['--markdown']):
                with open('/dev/full', 'wb') as full:
                    result = subprocess.run([REDUCT, 'ladder', *SMALL, *form], stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(result.returncode, 1)
                self.assertIn(b'standard output', result.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
