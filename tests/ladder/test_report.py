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
        self.assertEqual(len(rows), 24)
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
        wrong, within, lucky, absent = self.report['rows'][-4:]
        self.assertEqual((wrong['verdict'], wrong['expected'], wrong['got']), ('wrong', '2097466.2', '1787466'))
        self.assertEqual((within['verdict'], lucky['verdict'], absent['verdict']), ('within bound', 'lucky', 'not run'))
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
        self.assertEqual(rungs[2][-1], 'within bound, 3 ulp')
        self.assertEqual(rungs[-1][-1], 'right, 0.42 ulp')
        self.assertIn('block', tables[1][0])
        self.assertEqual([row[-2:] for row in tables[2][2:4]], [['1.000', 'within bound, 187 ulp'], ['1.020', 'right, 0 ulp']])
        self.assertIn('wrong: expected 2097466.2, got 1787466', [row[-1] for row in tables[4]])
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

    def test_charts_say_what_came_out(self):
        rungs, alike, windows, specimens = formats.read_charts(sample('html'))
        self.assertEqual((rungs[0]['verdict'], rungs[-1]['verdict']), ('within bound, 3 ulp', 'right, 0.42 ulp'))
        self.assertEqual(rungs[0]['ratio'], '1.00 speed-up')
        self.assertEqual([row['ratio'] for row in alike], ['1.000 to plain', '1.020 to plain'] * 2)
        self.assertEqual([row['verdict'] for row in specimens], ['wrong, 1.2e+06 ulp', 'within bound, 2 ulp', 'lucky'])

    def test_labels_are_distinct(self):
        for rows in formats.read_charts(sample('html')):
            labels = [row['label'] for row in rows]
            self.assertEqual(len(set(labels)), len(labels), labels)
        _, alike, windows, _ = formats.read_charts(sample('html'))
        self.assertEqual(alike[1]['label'], 'sum exact, cpu:avx2 x 1 thread')
        self.assertEqual([row['class'] for row in alike], ['within-bound', 'right', 'within-bound begins', 'right'])
        self.assertEqual(windows[1]['label'], 'exact last-block, window in f64')

    def test_verdicts_have_one_name(self):
        """The words of the rows for programs are those that people read."""
        words = [row['verdict'] for row in formats.read_csv(sample('csv'))]
        self.assertEqual(set(words), formats.VERDICTS - {'unchecked'})
        for form in ('terminal', 'markdown', 'html'):
            text = sample(form)
            for word in set(words) - {'lucky'}:
                self.assertIn(word, text)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
