"""docs/benchmarks: cuda.py judges what was measured, and cuda.md is what it makes of results/cuda.csv. And results/ itself."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
FOLDER = os.path.join(ROOT, 'docs', 'benchmarks')
RESULTS = os.path.join(ROOT, 'results')
sys.path.insert(0, RESULTS)
sys.dont_write_bytecode = True
import results  # noqa: E402

CUB_3_6 = '3.6.0, with scratch memory allocated before; run_to_run determinism, its default, and gpu_to_gpu'
CUB = '3.0.1, with scratch memory allocated before; gpu_to_gpu determinism is not in this CCCL: it came with 3.1'


def make_page(report):
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, 'a.md')
        results.write('cuda', report, folder)
        subprocess.run([sys.executable, '-B', os.path.join(FOLDER, 'cuda.py'), folder, page], check=True)
        with open(page, encoding='utf-8') as file:
            return file.read()


def row(group, name, variant, kind, n, size, rate, **more):
    unknown = {'to_fast': None, 'to_peer': None, 'to_gpu_to_gpu': None, 'to_sum': None, 'of_limit': None, 'verdict': 'right', 'note': 'kernel_x, 9 blocks'}
    return {**unknown, 'group': group, 'name': name, 'variant': variant, 'type': kind, 'n': n, 'bytes': n * size,
            'seconds': n * size / rate, 'bytes_per_second': rate, **more}


def sums(kind, size, n, to_fast, to_peer, rate=4.7e12, data='normal'):
    group = f'sum, {data} data'
    return [row(group, 'CUB Sum', '3.0.1', kind, n, size, rate),
            row(group, 'sum', 'exact', kind, n, size, rate, to_fast=to_fast, to_peer=to_fast * to_peer),
            row(group, 'sum', 'fast', kind, n, size, rate, to_peer=to_peer)]


def sums_beside_gpu_to_gpu(kind, size, n, ratio):
    """With a row of its own behind that of CUB's default."""
    cub, exact, fast = sums(kind, size, n, 1.0, 1.0)
    return [cub, row('sum, normal data', 'CUB Sum', 'gpu_to_gpu', kind, n, size, 1.0e12), {**exact, 'to_gpu_to_gpu': ratio}, fast]


def targets(*rows, cub=CUB):
    """The table of targets: verdict and worst value by what each speaks of."""
    page = make_page({'title': '', 'facts': {'GPU': 'a GPU', 'CUB': cub}, 'warnings': [], 'rows': [r for some in rows for r in some]})
    lines = page.split('## Targets')[1].split('## Sums by size')[0].splitlines()
    cells = [line.strip('| ').split(' | ') for line in lines if line.startswith('| ')]
    return {line[0]: line[2:] for line in cells}, page


class Targets(unittest.TestCase):
    def find(self, table, start):
        return next(cells for what, cells in table.items() if what.startswith(start))

    def test_met(self):
        table, page = targets(sums('f64', 8, 1 << 28, 1.005, 0.99), sums('f32', 4, 1 << 28, 1.015, 1.0))
        self.assertEqual(self.find(table, 'exact f64 and f32 sum against own fast')[0], 'met')
        self.assertEqual(self.find(table, 'fast f32 and f64 sum against CUB')[0], 'met')
        self.assertEqual(self.find(table, 'fast sum, min, max')[0], 'met')
        self.assertIn('4700', page)
        self.assertIn('2^28', page)

    def test_missed(self):
        table, _ = targets(sums('f64', 8, 1 << 28, 1.02, 1.03), sums('f32', 4, 1 << 28, 1.0, 0.9, rate=4.0e12))
        self.assertEqual(self.find(table, 'exact f64 and f32 sum against own fast'),
                         ['**missed** by 1 of 2', '1.020 (1.010)', 'sum f64 2^28, normal'])
        self.assertEqual(self.find(table, 'fast f32 and f64 sum against CUB')[:2], ['**missed** by 1 of 2', '1.03 (1.00)'])
        self.assertEqual(self.find(table, 'fast sum, min, max'), ['**missed** by 1 of 2', '83.3% (95.0%)', 'sum f32 2^28, normal'])

    def test_matrices_stand_apart(self):
        def matrix(shape, ratio):
            return [{**each, 'group': f'sum, normal data, {shape}'} for each in sums('f32', 4, 1 << 28, 1.0, ratio)[:2]]

        table, page = targets(sums('f32', 4, 1 << 28, 1.0, 0.9), matrix('rows of 64', 1.01), matrix('rows of 2^12', 1.015),
                              matrix('2^10 columns', 1.5))
        self.assertEqual(self.find(table, 'exact sums of rows')[:2], ['**missed** by 1 of 2', '1.01 (1.00)'])
        self.assertEqual(self.find(table, 'fast f32 and f64 sum against CUB')[0], 'met')
        lines = [line for line in page.split('## Rows and columns')[1].splitlines() if line.startswith('| sum')]
        self.assertEqual([line.split(' | ')[3] for line in lines], ['rows of 64', 'rows of 2^12', '2^10 columns'])

    def test_sizes_have_targets_of_their_own(self):
        table, _ = targets(sums('f32', 4, 1 << 20, 1.5, 0.61), sums('f32', 4, 1 << 10, 1.0, 0.84))
        self.assertEqual(self.find(table, 'fast f32 and f64 sum against CUB')[:2], ['**missed** by 1 of 2', '0.61 (0.60)'])
        self.assertTrue(self.find(table, 'exact f64 and f32 sum against own fast')[0].startswith('not measured'))

    def test_other_data_and_operators(self):
        group = 'var, normal data'
        var = [row(group, 'var', 'exact', 'f64', 1 << 27, 8, 4.0e12, to_sum=1.31),
               row(group, 'sum', 'fast, same bytes', 'f64', 1 << 27, 8, 4.6e12)]
        table, _ = targets(sums('f64', 8, 1 << 28, 1.04, 1.0, data='wide'), sums('f32', 4, 1 << 28, 5, 1.0, rate=1.0e12, data='full'), var)
        self.assertEqual(self.find(table, 'exact sum over 60 binades')[:2], ['met', '1.04 (1.05)'])
        self.assertEqual(self.find(table, 'exact sum over every exponent')[:2], ['**missed** by 1 of 1', '20.8% (30.0%)'])
        self.assertEqual(self.find(table, 'exact min, max')[:2], ['**missed** by 1 of 1', '1.310 (1.300)'])

    def test_halves(self):
        def matrix(kind, shape, rate):
            return [{**each, 'group': f'sum, normal data, {shape}'} for each in sums(kind, 2, 1 << 28, 1.0, 1.0, rate)]

        what = 'exact sum of f16 and bf16'
        table, _ = targets(matrix('bf16', 'rows of 64', 3.3e12), matrix('f16', '2^10 columns', 4.1e12), matrix('f16', '100 groups', 1e12))
        self.assertEqual(self.find(table, what)[0], 'met')
        table, _ = targets(matrix('bf16', 'rows of 2^10', 3.3e12), sums('f16', 2, 1 << 28, 1.0, 1.0, 4.1e12))
        self.assertEqual(self.find(table, what), ['**missed** by 1 of 2', '68.8% (83.3%)', 'sum bf16 2^28, normal, rows of 2^10'])

    def test_gpu_to_gpu(self):
        what = 'exact sum against CUB gpu_to_gpu'
        rows = (sums_beside_gpu_to_gpu('f64', 8, 1 << 28, 0.971), sums_beside_gpu_to_gpu('f32', 4, 1 << 10, 0.512))
        table, page = targets(*rows, cub=CUB_3_6)
        self.assertEqual(self.find(table, what), ['met', '0.97 (1.00)', 'sum f64 2^28, normal'])
        lines = [line.strip('| ').split(' | ') for line in page.split('## Sums by size')[1].split('##')[0].splitlines() if line.startswith('|')]
        self.assertEqual(lines[0][-1], 'exact/gpu_to_gpu')
        self.assertEqual([line[-1] for line in lines[2:]], ['0.971', '0.512'])
        self.assertEqual({line[7] for line in lines[2:]}, {'4700'}) # the default's rate
        table, _ = targets(*rows, sums_beside_gpu_to_gpu('f32', 4, 1 << 28, 1.04), cub=CUB_3_6)
        self.assertEqual(self.find(table, what), ['**missed** by 1 of 3', '1.04 (1.00)', 'sum f32 2^28, normal'])

    def test_without_gpu_to_gpu(self):
        table, page = targets(sums('f64', 8, 1 << 28, 1.0, 1.0))
        self.assertEqual(self.find(table, 'exact sum against CUB gpu_to_gpu')[0], 'not in this CCCL')
        self.assertNotIn('exact/gpu_to_gpu', page)
        table, _ = targets(sums('f64', 8, 1 << 28, 1.0, 1.0), cub=CUB_3_6)
        self.assertEqual(self.find(table, 'exact sum against CUB gpu_to_gpu')[0].strip(' |'), 'not measured')

    def test_what_was_not_measured_says_so(self):
        table, _ = targets([])
        verdicts = {cells[0].strip(' |') for what, cells in table.items() if what not in ('what', '---')}
        self.assertEqual(verdicts - {'target', ''}, {'not measured', 'not in this CCCL'})


class Page(unittest.TestCase):
    def test_it_is_what_the_script_makes(self):
        for name, folder in (('cuda.md', RESULTS), ('cuda-h100.md', os.path.join(RESULTS, 'h100'))):
            with open(os.path.join(FOLDER, name), encoding='utf-8') as page:
                self.assertEqual(make_page(results.read('cuda', folder)), page.read(), name)

    def test_verdicts_are_counted_in_words(self):
        rows = sums('f64', 8, 1 << 20, 1.0, 1.0)
        rows[0]['verdict'], rows[1]['verdict'] = 'unchecked', 'within bound'
        _, page = targets(rows)
        self.assertIn('- results: 1 right, 1 within bound, 0 wrong, 1 unchecked: overflowed on the way', page)


class Results(unittest.TestCase):
    """What was measured is kept as CSV: one heading, one row per measurement, the same bytes when written again."""
    NAMES = ('cuda', 'ladder', 'numbers', 'profile', 'rows', 'groups', 'blocks')
    OTHERS = ('experiments',) # of programs other than the command, without verdicts

    def test_every_figure_has_a_kind(self):
        """Of measure/figures.def, and no others."""
        with open(os.path.join(ROOT, 'measure', 'figures.def'), encoding='utf-8') as file:
            figures = re.findall(r'(?m)^MEASURE_FIGURE\(\w+, +"(\w+)", +"[^"]+", +(\w+),', file.read())
        whole = {field for field, kind in figures if kind in ('COUNT', 'BYTES')}
        self.assertGreater(len(figures), 10)
        self.assertEqual(results.WHOLE, whole | {'n', 'bytes'})
        self.assertEqual(results.REAL, {field for field, _ in figures} - whole |
                         {'seconds', 'spread', 'bytes_per_second', 'of_limit', 'of_nominal', 'ulp'})

    def test_written_again_they_are_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in reversed(self.NAMES + self.OTHERS):
                results.write(name, results.read(name), folder)
            for name in (*self.NAMES, *self.OTHERS, 'facts'):
                with open(os.path.join(folder, f'{name}.csv'), 'rb') as copy, open(os.path.join(RESULTS, f'{name}.csv'), 'rb') as file:
                    self.assertEqual(copy.read(), file.read(), name)

    def test_a_line_per_measurement(self):
        for name in self.NAMES:
            with open(os.path.join(RESULTS, f'{name}.csv'), encoding='utf-8') as file:
                lines = file.read().splitlines()
            rows = results.read(name)['rows']
            self.assertEqual(len(lines), 1 + len(rows))
            self.assertTrue(all(any(row[field] is not None for row in rows) for field in lines[0].split(',')))

    def test_verdicts_and_errors_are_those_of_the_program(self):
        for name in self.NAMES:
            for row in results.read(name)['rows']:
                self.assertIn(row['verdict'], ('right', 'within bound', 'wrong', 'lucky', 'not run', 'unchecked'))
                if row['verdict'] == 'right' and row['ulp'] is not None:
                    self.assertLessEqual(row['ulp'], 0.5, row)
                if row['type'] not in ('f64', 'f32', 'f16', 'bf16'):
                    self.assertTrue(row['verdict'] != 'within bound' and row['ulp'] is None, row)

    def test_what_is_read_is_what_was_written(self):
        report = {'facts': {'GPU': 'a GPU, "quoted"', 'date': 'today'}, 'warnings': ['noise', 'more'],
                  'rows': [{'name': 'a', 'n': 1 << 40, 'seconds': 1.25e-05, 'note': 'x,\ny', 'ulp': None},
                           {'name': 'b', 'n': 0, 'seconds': None, 'note': None, 'ulp': None}]}
        with tempfile.TemporaryDirectory() as folder:
            results.write('one', report, folder)
            results.write('another', {**report, 'facts': {}, 'warnings': []}, folder)
            back = results.read('one', folder)
            self.assertIsNone(results.read('none', folder))
        self.assertEqual((back['facts'], back['warnings']), (report['facts'], report['warnings']))
        for row, expected in zip(back['rows'], report['rows'], strict=True):
            self.assertEqual(list(row), ['name', 'n', 'seconds', 'note'])
            self.assertEqual({field: row[field] for field in expected}, expected)


if __name__ == '__main__':
    unittest.main()
