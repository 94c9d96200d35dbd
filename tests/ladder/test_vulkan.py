"""`reduct ladder --device vulkan:...`: rungs in all languages, several devices in one report, specimens, refusals. Runs on
the driver that VK_ICD_FILENAMES names.

  test_vulkan.py REDUCT SAMPLE [TEST...]    all tests by default"""
import re
import sys
import unittest

import formats
from formats import REDUCT

SMALL = ('--n', '10007', '--rounds', '1')
CLASSIC = ['global-halving', 'neighbour-modulo', 'neighbour-strided', 'halving', 'first-add', 'last-warp', 'unrolled',
           'grid-stride', 'shuffle', 'warp-reduce']
GLSL = CLASSIC + ['vector-loads', 'one-launch', 'exact']
HLSL = CLASSIC + ['vector-loads', 'one-launch']
SLANG = CLASSIC + ['vector-loads', 'one-launch']
ROWS = ['row-thread', 'row-block', 'row-warp', 'rows-per-warp', 'row-vectors', 'column-tiles']
LANGUAGES = {'glsl': GLSL, 'hlsl': HLSL, 'slang': SLANG}
GOOD = ('right', 'within bound')
FINISHES = ['host', 'atomic', 'second-launch', 'recursive', 'last-block']


def ladder(*arguments, **environment):
    return formats.run(REDUCT, 'ladder', *arguments, environment=environment)


def report(*arguments):
    return formats.read_json(formats.output(REDUCT, 'ladder', *arguments, '--json'))


def names(rows):
    """Of rungs, in order; exact has two rows where there are two windows."""
    return list(dict.fromkeys(row['name'] for row in rows))


FACTS = report('--device', 'vulkan:0', '--n', '1', '--rung', 'halving', '--rounds', '1')['facts']
DEVICE = FACTS['vulkan:0']


class Rungs(unittest.TestCase):
    def test_glsl_is_what_runs(self):
        rows = report('--device', 'vulkan:0', *SMALL)['rows']
        self.assertEqual(names(rows), GLSL)
        for row in rows:
            self.assertEqual(list(row), formats.FIELDS)
            self.assertEqual((row['group'], row['device'], row['language'], row['type'], row['n']),
                             ('rungs', 'vulkan:0', 'glsl', 'f32', 10007), row)
            self.assertIn(row['verdict'], GOOD, row)
            self.assertGreater(row['seconds'], 0)
            self.assertGreater(row['of_limit'], 0)
        self.assertEqual(rows[-1]['verdict'], 'right')
        self.assertLessEqual(rows[-1]['ulp'], 0.5)
        self.assertEqual(rows[0]['speedup'], 1)

    def test_speed_ups_across_finishes_are_told(self):
        """Where each rung has its own; not where they are alike, or every one is shown."""
        for options, told in (((), True), (('--finish', 'second-launch'), False), (('--rung', 'halving'), False), (('--finish', 'all'), False)):
            facts = report('--device', 'vulkan:0', '--n', '1000', '--rounds', '1', *options)['facts']
            self.assertEqual('each rung with its own finish; --finish second-launch' in facts.get('speed-up', ''), told, options)

    def test_rows(self):
        """The ladder of rows, whose last rung is CUDA's alone."""
        rows = report('rows', '--device', 'vulkan:0', '--n', '10000', '--columns', '8,1000', '--rounds', '1')['rows']
        self.assertEqual([(row['name'], row['group']) for row in rows],
                         [(name, f'rows of {length}') for length in (8, 1000) for name in ROWS])
        for row in rows:
            self.assertIn(row['verdict'], GOOD, row)
            self.assertEqual((row['language'], row['variant']),
                             ('glsl', 'sums of columns' if row['name'] == 'column-tiles' else 'sums of rows'))
        result = formats.run(REDUCT, 'ladder', 'rows', '--device', 'vulkan:0', '--rung', 'row-exact')
        self.assertEqual(result.returncode, 1)

    def test_all_languages(self):
        rows = report('--device', 'vulkan:0', *SMALL, '--language', 'all', '--type', 'i32')['rows']
        self.assertEqual({row['verdict'] for row in rows}, {'right'})
        for language, rungs in LANGUAGES.items():
            self.assertEqual(names(row for row in rows if row['language'] == language), rungs)

    def test_one_language_alone(self):
        for language in ('hlsl', 'slang'):
            rows = report('--device', 'vulkan:0', *SMALL, '--language', language, '--rung', 'shuffle')['rows']
            self.assertEqual([(row['name'], row['language'], row['verdict'] in GOOD) for row in rows],
                             [('shuffle', language, True)])

    def test_every_finish_in_groups_of_16(self):
        rows = report('--device', 'vulkan:0', *SMALL, '--rung', 'halving', '--finish', 'all', '--block', '16')['rows']
        self.assertEqual([(row['variant'], row['block'], row['verdict'] in GOOD) for row in rows],
                         [(finish, 16, True) for finish in FINISHES])

    def test_groups_too_large(self):
        most = int(re.search(r'up to (\d+) invocations', FACTS['vulkan:0 groups']).group(1))
        row = report('--device', 'vulkan:0', *SMALL, '--rung', 'halving', '--block', str(most))['rows'][0]
        self.assertEqual((row['block'], row['verdict'] in GOOD), (most, True))
        if most < 1024:
            row = report('--device', 'vulkan:0', *SMALL, '--rung', 'halving', '--block', '1024')['rows'][0]
            self.assertEqual(row['verdict'], 'not run')
            self.assertIn(f'16 to {most} invocations', row['note'])

    def test_f64_where_there_is_some(self):
        """Every row is right, or says what the device or the language lacks."""
        lacks = {'glsl': 'this device has no f64', 'hlsl': 'in HLSL compiled for i32 and f32',
                 'slang': 'this device has no f64'}
        for language in LANGUAGES:
            for row in report('--device', 'vulkan:0', *SMALL, '--type', 'f64', '--language', language)['rows']:
                if row['verdict'] == 'not run':
                    self.assertEqual(row['note'], lacks[language])
                    self.assertFalse(language != 'hlsl' and 'llvmpipe' in DEVICE)
                else:
                    self.assertIn(row['verdict'], GOOD, row)

    def test_nothing_and_next_to_nothing(self):
        rows = report('--device', 'vulkan:0', '--n', '0,1,2,3', '--type', 'i32', '--rounds', '1')['rows']
        self.assertEqual(len(rows), 4 * len(GLSL))
        self.assertEqual({row['verdict'] for row in rows}, {'right'})

    def test_sweep(self):
        series = report('--device', 'vulkan:0', '--n', '8Ki', '--sweep', '--rounds', '1', '--rung', 'one-launch')['series']
        self.assertEqual([s['name'] for s in series], ['one-launch glsl f32'])
        self.assertEqual([x for x, _ in series[0]['points']][:4], [1024, 2048, 4096, 8192])

    def test_applications(self):
        rows = report('--device', 'vulkan:0', *SMALL, '--language', 'all', '--applications')['rows']
        rows = [row for row in rows if row['group'] == 'applications']
        self.assertEqual([(row['language'], row['name']) for row in rows],
                         [(language, name) for language in LANGUAGES for name in ('dot', 'maximum', 'mean', *['texture'] * 3)])
        self.assertEqual([row['variant'] for row in rows if row['name'] == 'texture'],
                         ['from an array', 'texels by rows', 'texels by tiles'] * 3)
        for row in rows:
            self.assertIn(row['verdict'], GOOD if row['name'] != 'maximum' else ['right'], row)
        alone = report('--device', 'vulkan:0', *SMALL, '--applications', '--rung', 'halving')['rows']
        self.assertEqual([(row['group'], row['name']) for row in alone][:2], [('rungs', 'halving'), ('applications', 'dot')])

    def test_rows_that_are_long(self):
        rows = report('rows', '--device', 'vulkan:0', '--n', '70000', '--columns', '70000', '--rung', 'row-thread', '--type', 'i32',
                      '--rounds', '1')['rows']
        self.assertEqual(len(rows), 1)
        if rows[0]['verdict'] == 'not run':
            self.assertIn('ends loops', rows[0]['note'])
            self.assertIn('llvmpipe', DEVICE)
        else:
            self.assertEqual(rows[0]['verdict'], 'right')

    def test_specimens(self):
        rows = report('--device', 'vulkan:0', '--n', '1', '--rung', 'last-warp-implicit', '--rounds', '1', '--language',
                      'all')['rows']
        self.assertEqual([(row['language'], row['name']) for row in rows],
                         [(language, 'last-warp-implicit') for language in LANGUAGES for _ in range(2)])
        for row in rows:
            self.assertEqual(row['group'], 'specimens')
            self.assertIn(row['verdict'], GOOD if 'repair' in row['variant'] else ['wrong', 'lucky'], row)


class Devices(unittest.TestCase):
    def test_by_a_part_of_the_name(self):
        part = re.match(r'\w+', DEVICE).group()
        for name in (part, part.upper(), part.lower()):
            rows = report('--device', f'vulkan:{name}', *SMALL, '--rung', 'halving')['rows']
            self.assertEqual([(row['device'], row['verdict'] in GOOD) for row in rows], [('vulkan:0', True)])

    def test_several_in_one_report(self):
        result = report('--device', 'cpu,vulkan:0', *SMALL)
        self.assertEqual({(row['language'], row['verdict'] in GOOD) for row in result['rows']}, {('c', True), ('glsl', True)})
        self.assertIn('vulkan:0', result['facts'])
        self.assertIn('processor', result['facts'])

    def refuse(self, code, words, *arguments, **environment):
        result = ladder(*arguments, **environment)
        message = result.stderr.decode()
        self.assertEqual(result.returncode, code, message)
        self.assertEqual(result.stdout, b'')
        if code == 1:
            self.assertEqual(message.count('\n'), 1, message)
            self.assertTrue(message.startswith('reduct: '))
        for word in words:
            self.assertIn(word, message)

    def test_absent(self):
        self.refuse(2, ['there is no vulkan:99 here'], '--device', 'vulkan:99')
        self.refuse(2, ["no Vulkan device called 'nonesuch'", 'vulkan:0 ' + DEVICE.split(',')[0][:20]],
                    '--device', 'vulkan:nonesuch')

    def test_rungs_of_others(self):
        self.refuse(1, ["no rung 'bulk-copy' in GLSL"], '--device', 'vulkan:0', '--rung', 'bulk-copy')
        self.refuse(1, ["no rung 'exact' in HLSL"], '--device', 'vulkan:0', '--rung', 'exact', '--language', 'hlsl')
        self.refuse(1, ["no rung 'exact' in Slang"], '--device', 'vulkan:0', '--rung', 'exact', '--language', 'slang')
        rows = report('--device', 'vulkan:0', *SMALL, '--rung', 'exact', '--language', 'all')['rows']
        self.assertEqual({row['language'] for row in rows}, {'glsl'})

    def test_no_driver(self):
        self.refuse(2, ['there is no Vulkan device here'], '--device', 'vulkan:0', VK_ICD_FILENAMES='/nonesuch.json')

    def test_no_validation_layer(self):
        self.refuse(2, ['REDUCT_VULKAN_VALIDATION', 'not installed'], '--device', 'vulkan:0',
                    REDUCT_VULKAN_VALIDATION='1', VK_LAYER_PATH='/nonesuch')

    def test_what_does_not_go_together(self):
        self.refuse(2, ['--language', "found 'wgsl'", 'glsl, hlsl, slang or all'], '--device', 'vulkan:0', '--language', 'wgsl')
        self.refuse(2, ['--language', 'only Vulkan devices'], '--device', 'cpu', '--language', 'glsl')
        self.refuse(2, ['--peers', "only CUDA's ladder"], '--device', 'vulkan:0', '--peers')
        self.refuse(2, ['--device', "found ''"], '--device', 'vulkan:0,')
        self.refuse(2, ['--rung', "'plain'", 'GPUs'], '--device', 'vulkan:0', '--rung', 'plain')
        self.refuse(2, ['--rung', "'halving'", 'the CPU'], '--device', 'cpu,vulkan:0', '--rung', 'halving')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
