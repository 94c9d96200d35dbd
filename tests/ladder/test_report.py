"""The writers of reports, on a sample that has something of everything."""
import sys
import unittest

import formats


def sample(form):
    return formats.output(formats.SAMPLE, form)


class Json(unittest.TestCase):
    def setUp(self):
        self.report = formats.read_json(sample('json'))

    def test_head(self):
        self.assertEqual(list(self.report), ['title', 'subtitle', 'facts', 'warnings', 'rows', 'series', 'references'])
        self.assertEqual(self.report['facts'], {'GPU': 'NVIDIA Sample 100, 132 multiprocessors', 'driver': '1.2.3',
                                                'date': '2025-01-31 12:00 UTC'})
        self.assertEqual(len(self.report['warnings']), 1)

    def test_rows(self):
        rows = self.report['rows']
        self.assertEqual(len(rows), 18)
        for row in rows:
            self.assertEqual(list(row), formats.FIELDS)
            self.assertIn(row['verdict'], formats.VERDICTS)
        first = rows[0]
        self.assertEqual((first['group'], first['name'], first['n'], first['bytes'], first['block'], first['ulp']),
                         ('rungs', 'global-halving', 1 << 22, 1 << 24, 256, 3))
        self.assertAlmostEqual(first['bytes_per_second'] * first['seconds'] / first['bytes'], 1, places=6)
        self.assertIsNone(first['expected'])
        self.assertIsNone(first['bank_conflicts'])

    def test_verdicts(self):
        wrong, right, lucky, absent = self.report['rows'][-4:]
        self.assertEqual((wrong['verdict'], wrong['expected'], wrong['got']), ('wrong', '2097466.2', '1787466'))
        self.assertEqual((right['verdict'], lucky['verdict'], absent['verdict']), ('right', 'lucky', 'not-run'))
        self.assertIsNone(absent['seconds'])
        self.assertEqual(absent['name'], '<script>|a*b+1, "quoted"')
        self.assertEqual(absent['note'], 'needs 1024 threads & a line break')

    def test_curves_and_references(self):
        self.assertEqual(len(self.report['series']), 14)
        for series in self.report['series']:
            self.assertEqual([x for x, _ in series['points']], [1 << e for e in range(10, 31)])
        old, older = self.report['references']
        self.assertEqual(len(old['points']), 7)
        self.assertEqual(older['points'][-1], {'name': 'a library', 'seconds': 1e-3, 'bytes_per_second': 4.2e9})
        self.assertIsNone(older['points'][0]['seconds'])


class Csv(unittest.TestCase):
    def test_rows_are_those_of_json(self):
        rows = formats.read_csv(sample('csv'))
        expected = formats.read_json(sample('json'))['rows']
        self.assertEqual(len(rows), len(expected))
        for row, other in zip(rows, expected):
            self.assertEqual(list(row), formats.FIELDS)
            for name, value in other.items():
                if isinstance(value, (int, float)):
                    self.assertAlmostEqual(float(row[name]), value, delta=abs(value) * 1e-8)
                else:
                    self.assertEqual(row[name], value or '')


class Markdown(unittest.TestCase):
    def test_tables(self):
        text = sample('markdown')
        tables = formats.read_markdown_tables(text)
        rungs = tables[0]
        self.assertEqual(rungs[0], ['what', 'how', 'time', '±', 'GB/s', 'of limit', 'of nominal', 'speed-up', 'result'])
        self.assertEqual(len(rungs), 2 + 14)
        self.assertEqual(rungs[2][0], 'global-halving')
        self.assertEqual(rungs[-1][-1], 'right, 0 ulp')
        self.assertIn('block', tables[1][0])
        self.assertIn('wrong: expected 2097466.2, got 1787466', [row[-1] for row in tables[2]])
        self.assertIn('\\<script\\>\\|a\\*b+1', text)


class Terminal(unittest.TestCase):
    def test_tables(self):
        text = sample('terminal')
        for line in ('rungs: f32, 4 Mi elements, 16 MiB, cuda, cuda:0; read limit 4.70 TB/s; nominal 4.80 TB/s',
                     'wrong: expected 2097466.2, got 1787466', 'right here, by luck: not guaranteed',
                     'not run: needs 1024 threads & a line break', 'registers', 'For reference: An old talk'):
            self.assertIn(line, text)
        self.assertIn('█', text)
        self.assertNotIn('\033', text)  # not a terminal
        bars = [line.count('█') for line in text.split('\n') if 'second-launch' in line and 'ulp' in line]
        self.assertEqual(bars, sorted(bars))


class Html(unittest.TestCase):
    def test_it_needs_nothing_else(self):
        page = formats.check_page(sample('html'))
        self.assertIn('svg', page.tags)

    def test_it_says_everything(self):
        page = formats.check_page(sample('html'))
        for text in ('Sample: the ladder of reductions', 'read limit 4.70 TB/s', 'nominal 4.80',
                     '14 of 14', '<script>|a*b+1, "quoted"', 'wrong: expected 2097466.2, got 1787466',
                     'right here, by luck', 'Older notes', 'Warning:', '2025-01-31 12:00 UTC'):
            self.assertIn(text, page.text)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
