"""docs/benchmarks: cuda.py judges what was measured, and cuda.md is what it makes of cuda.json."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'docs', 'benchmarks')
CUB_3_6 = '3.6.0, with scratch memory allocated before; run_to_run determinism, its default, and gpu_to_gpu'
CUB = '3.0.1, with scratch memory allocated before; gpu_to_gpu determinism is not in this CCCL: it came with 3.1'


def make_page(report):
    with tempfile.TemporaryDirectory() as folder:
        source, page = os.path.join(folder, 'a.json'), os.path.join(folder, 'a.md')
        with open(source, 'w', encoding='utf-8') as file:
            json.dump(report, file)
        subprocess.run([sys.executable, '-B', os.path.join(FOLDER, 'cuda.py'), source, page], check=True)
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
        source = os.path.join(FOLDER, 'cuda.json')
        if not os.path.exists(source):
            self.assertFalse(os.path.exists(os.path.join(FOLDER, 'cuda.md')), 'cuda.md without the cuda.json that it is made from')
            return
        with open(source, encoding='utf-8') as data, open(os.path.join(FOLDER, 'cuda.md'), encoding='utf-8') as page:
            self.assertEqual(make_page(json.load(data)), page.read())


if __name__ == '__main__':
    unittest.main()
