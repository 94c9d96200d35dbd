"""`reduct bench`: reports in every format, and errors that are the ladder's: both judged by fractions worked out here."""
import os
import re
import sys
import tempfile
import unittest

import exact_values
import formats
from formats import REDUCT

QUICK = ('--repeat', '1', '--sample', '0')
COUNT = 3000
OPERATORS = ('sum', 'mean', 'dot', 'norm1', 'norm2', 'var', 'min', 'max')
DATA = ('uniform', 'wide', 'range40')


def bench(*arguments):
    return formats.output(REDUCT, 'bench', *QUICK, *arguments)


def page_of(command, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'page.html')
        formats.output(REDUCT, command, *arguments, '--html', path, '--csv')
        with open(path, encoding='utf-8') as file:
            text = file.read()
    formats.check_page(text)
    return text


class Errors(unittest.TestCase):
    """One definition: the distance from the exact value in ulp. Right: the bits of the exact value, correctly rounded."""
    def check(self, row, value):
        off, right = exact_values.error(row['type'], exact_values.read(row['type'], row['got']), value)
        what = [row[name] for name in ('group', 'name', 'variant', 'type', 'got', 'ulp')]
        self.assertAlmostEqual(row['ulp'], float(off), delta=max(1e-6 * off, 1e-7), msg=what)
        self.assertEqual(row['verdict'], 'right' if right else 'within bound', what)
        if right:
            self.assertLessEqual(row['ulp'], 0.5)

    def test_of_benchmarks(self):
        for kind, size in (('f64', 8), ('f32', 4)):
            report = formats.read_json(bench('--json', '--op', ','.join(OPERATORS), '--type', kind, '--data', ','.join(DATA),
                                             '--sizes', str(COUNT * size), '--device', 'cpu', '--threads', '1',
                                             '--seed', '7'))
            exact = 0
            for data in DATA:
                x, y = (exact_values.bench_values(kind, data, seed, COUNT) for seed in (7, 8))
                for operator in OPERATORS:
                    value = exact_values.exact(operator, x, y)
                    rows = [row for row in report['rows'] if row['group'] == f'{operator}, {data} data']
                    self.assertGreaterEqual(len(rows), 2)
                    for row in rows:
                        self.check(row, value)
                        exact += row['variant'] == 'exact' and row['verdict'] == 'right'
            self.assertEqual(exact, len(DATA) * len(OPERATORS))

    def test_of_the_ladder(self):
        for kind in ('f32', 'f64'):
            rows = formats.read_json(formats.output(REDUCT, 'ladder', '--device', 'cpu', '--n', str(COUNT), '--type', kind,
                                                    '--rounds', '1', '--json'))['rows']
            value = exact_values.exact('sum', exact_values.ladder_values(kind, COUNT))
            for row in rows:
                self.check(row, value)
            self.assertEqual((rows[-1]['name'], rows[-1]['verdict']), ('exact', 'right'))
            self.assertGreater(rows[-1]['ulp'], 0)  # such a sum is never a number of the type

    def test_integers_have_none(self):
        rows = formats.read_csv(bench('--csv', '--op', 'sum,min,max,argmin', '--type', 'i64,i32', '--sizes', '64Ki'))
        self.assertEqual({(row['verdict'], row['ulp']) for row in rows}, {('right', '')})


class Columns(unittest.TestCase):
    """What exactness costs and what came out, in every format."""
    ONE = ('--op', 'sum', '--type', 'f64', '--sizes', '64Ki', '--threads', '1')

    def test_csv_and_json(self):
        for rows in (formats.read_csv(bench(*self.ONE, '--csv')), formats.read_json(bench(*self.ONE, '--json'))['rows']):
            self.assertEqual([row['variant'] for row in rows][-2:], ['exact', 'fast'])
            for row in rows:
                self.assertEqual(list(row), formats.FIELDS)
                self.assertGreater(float(row['to_plain']), 0)
                self.assertIn(row['verdict'], ('right', 'within bound'))

    def test_markdown(self):
        table = formats.read_markdown_tables(bench(*self.ONE, '--markdown'))[0]
        self.assertIn('to plain', table[0])
        for row in table[2:]:
            self.assertRegex(row[table[0].index('to plain')], r'^\d+\.\d{3}$')
            self.assertRegex(row[-1], r'^(right|within bound), [\d.]+ ulp$')

    def test_terminal(self):
        heading, _, row = bench(*self.ONE).split('As asked for\n\n')[1].split('\n')[:3]
        for name in ('exact/plain', 'fast/plain', 'exact is', 'fast is', 'plain is'):
            self.assertIn(name, heading)
        self.assertRegex(row, r'  right, 0\.\d+ ulp  ')

    def test_html(self):
        charts = formats.read_charts(page_of('bench', *QUICK, *self.ONE))
        self.assertEqual(len(charts), 1)
        for row in charts[0]:
            self.assertRegex(row['ratio'], r'^\d+\.\d{3} to plain$')
            self.assertRegex(row['verdict'], r'^(right|within bound), [\d.]+ ulp$')

    def test_the_target_is_told(self):
        for text in (bench(*self.ONE), bench(*self.ONE, '--json'), bench(*self.ONE, '--markdown'),
                     page_of('bench', *QUICK, *self.ONE)):
            self.assertRegex(text, r'1\.05 times the time of plain ones[^\n]*: not measured')


class Charts(unittest.TestCase):
    def test_labels_are_distinct(self):
        for page in (page_of('bench', *QUICK, '--op', 'sum', '--type', 'f64', '--sizes', '64Ki', '--device', 'all', '--threads', '1,2'),
                     page_of('ladder', '--device', 'cpu', '--n', '1Ki', '--rounds', '1')):
            for rows in formats.read_charts(page):
                labels = [row['label'] for row in rows]
                self.assertEqual(len(set(labels)), len(labels), labels)

    def test_labels_name_kernels_and_threads(self):
        rows = formats.read_charts(page_of('bench', *QUICK, '--op', 'sum', '--type', 'f64', '--sizes', '64Ki', '--device',
                                           'cpu:portable', '--threads', '1,2'))[0]
        self.assertEqual([row['label'] for row in rows if 'exact' in row['label']],
                         ['sum exact, cpu:portable x 1 thread', 'sum exact, cpu:portable x 2 threads'])
        self.assertEqual(sum('begins' in row['class'].split() for row in rows), 1)  # two groups

    def test_every_type(self):
        page = page_of('bench', *QUICK, '--op', 'sum', '--type', 'all', '--sizes', '4Ki,8Ki', '--threads', '1')
        for kind in ('f64', 'f32', 'i64', 'i32'):
            self.assertEqual(len(re.findall(rf'<h2>sum, \w+ data: {kind}, [^<]*</h2>\s*<div class="bars"', page)), 2, kind)
            self.assertEqual(page.count(f'<h2>Bandwidth over the number of elements: {kind}</h2>'), 1, kind)

    def test_every_type_beside_published_figures(self):
        page = page_of('ladder', '--device', 'cpu', '--n', '1Ki', '--type', 'all', '--sweep', '--rounds', '1')
        beside = page.split('Beside published figures')[1]
        for kind in ('i32', 'f32', 'f64'):
            self.assertEqual(len(re.findall(rf'<h2>rungs: {kind}, ', page)), 1, kind)
            figure = re.findall(rf'<figcaption>rungs: {kind}, .*?</figure>', beside, flags=re.S)
            self.assertEqual(len(figure), 1, kind)
            self.assertIn('class="ours"', figure[0])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
