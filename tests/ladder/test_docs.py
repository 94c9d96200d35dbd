"""The tutorial: drawings as they are drawn, a chapter per rung, results where they belong and nowhere else."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

import formats

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docs')
RESULTS = os.path.join(DOCS, '..', 'results')
sys.path[:0] = [os.path.join(DOCS, 'ladder'), RESULTS, os.path.join(DOCS, '..', 'ladder')]
sys.dont_write_bytecode = True
import chapters  # noqa: E402
import lists  # noqa: E402
import results  # noqa: E402
import sass  # noqa: E402


ALL_PAGES = [page for edition in chapters.CONTENTS for page in chapters.pages(edition=edition)]


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def script(name, *arguments):
    subprocess.run([sys.executable, '-B', os.path.join(DOCS, 'ladder', name), *arguments], check=True)


class Drawings(unittest.TestCase):
    def test_they_are_what_the_script_draws(self):
        with tempfile.TemporaryDirectory() as folder:
            script('draw.py', folder)
            drawn = sorted(os.listdir(folder))
            self.assertGreater(len(drawn), 15)
            for name in drawn:
                self.assertEqual(read(folder, name), read(DOCS, 'ladder', name), name)
                self.assertTrue(any(re.search(rf'\]\((ladder/)?{re.escape(name)}\)', read(page)) for page in chapters.pages()), name)

    def test_they_are_whole(self):
        drawings = [name for name in os.listdir(os.path.join(DOCS, 'ladder')) if name.endswith('.svg')]
        self.assertGreater(len(drawings), 15)
        for name in drawings:
            text = read(DOCS, 'ladder', name)
            root = xml.dom.minidom.parseString(text).documentElement
            self.assertEqual(root.tagName, 'svg')
            self.assertTrue(root.getElementsByTagName('title') and root.getElementsByTagName('desc'))
            self.assertIn('prefers-color-scheme', text)
            self.assertNotRegex(text.replace('http://www.w3.org/2000/svg', ''), r'https?:|<script|<image')


def anchors(text):
    """The names by which links lead to a page's headings."""
    return {re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-') for heading in re.findall(r'(?m)^#+ (.*)$', text)}


class Pages(unittest.TestCase):
    def test_a_chapter_per_rung(self):
        listed = formats.output(formats.REDUCT, 'ladder', '--list').split('On a GPU')[1]
        rungs = re.findall(r'(?m)^  ([a-z-]+)  +\S', listed)
        order = list(lists.RUNGS['gpu'])
        self.assertEqual(set(rungs), set(order))
        self.assertEqual([name for name in chapters.chapters() if name in rungs], order)
        for rung in rungs:
            text = read(DOCS, 'ladder', f'{rung}.md')
            self.assertRegex(text, rf'\A# `{rung}`\n')
            self.assertIn(f'<!-- results:{rung} -->', text)
            self.assertIn(f']({rung}.svg)', text)

    def test_chapters_open_and_end_alike(self):
        """A rung's with the profile of the rung below, all with what to use; in both languages."""
        rungs = list(lists.RUNGS['gpu'])
        for edition, (profile, use) in {chapters.ENGLISH: ('**What the profile of ', '**Which should I use?** '),
                                        chapters.CHINESE: ('性能剖析说明什么', '**该用哪一个？** ')}.items():
            for name in chapters.chapters():
                text = chapters.own_text(read(chapters.path_of(name, edition=edition)))
                self.assertIn(use, text.rstrip().split('\n\n')[-1], name)
                if name in rungs:
                    self.assertIn(profile, text[:text.index('![')], name)
                if name in rungs[1:]:
                    self.assertIn(f'<!-- results:{name}-before -->', text)

    def test_every_page_is_in_the_contents(self):
        files = {name[:-len('.md')] for name in os.listdir(os.path.join(DOCS, 'ladder')) if name.endswith('.md')}
        self.assertEqual(files, set(chapters.chapters()))

    def test_chapters_lead_on(self):
        for edition, word in chapters.CONTENTS.items():
            names = chapters.chapters(edition=edition)
            for name in names:
                text = read(chapters.path_of(name, edition=edition))
                self.assertEqual(chapters.with_way(text, name, names, word), text, 'python3 docs/ladder/chapters.py has not been run')

    def test_links(self):
        for page in ALL_PAGES:
            for link in re.findall(r'\]\(([^)\s]+)\)', re.sub(r'(?s)```.*?```', '', read(page))):
                if '://' in link:
                    continue
                name, _, anchor = link.partition('#')
                path = os.path.join(os.path.dirname(page), name) if name else page
                self.assertTrue(os.path.exists(path), f'{page}: {link}')
                if anchor and path.endswith('.md'):
                    self.assertIn(anchor, anchors(read(path)), f'{page}: {link}')


class Chinese(unittest.TestCase):
    """The Chinese edition keeps step with the English one."""

    def test_the_same_chapters(self):
        self.assertEqual(list(chapters.chapters(edition=chapters.CHINESE)), list(chapters.chapters()))
        folder = os.path.join(DOCS, chapters.CHINESE, 'ladder')
        self.assertEqual(set(os.listdir(folder)), {f'{name}.md' for name in chapters.chapters()})

    def test_no_side_has_changed_alone(self):
        for name in ('page', 'ladder', *chapters.chapters()):
            text = read(chapters.path_of(name, edition=chapters.CHINESE))
            self.assertTrue(text.startswith(chapters.stamp(name)),
                            f'{name}: one language has changed. Put the same into the other (docs/zh/ and web/zh.html are Chinese), then run '
                            f'python3 docs/ladder/chapters.py --in-step {name}')

    def test_the_same_code_and_places(self):
        for name in ('ladder', *chapters.chapters()):
            english, chinese = (chapters.own_text(read(chapters.path_of(name, edition=edition))) for edition in chapters.CONTENTS)
            for pattern in (r'(?ms)^```.*?^```$', r'<!-- results:[a-z-]+ -->', r'(?m)^    \S.*$', r'\b([a-z0-9-]+\.svg)\)'):
                self.assertEqual(re.findall(pattern, chinese), re.findall(pattern, english), name)

    def test_the_page_has_the_same_elements(self):
        english, chinese = (re.findall(r'<(\w+)[^>]*?(?: id="([^"]*)")?[^>]*>', read(chapters.path_of('page', edition=edition)))
                            for edition in chapters.CONTENTS)
        ids = [[name for _, name in page if name] for page in (english, chinese)]
        self.assertEqual(*ids)
        self.assertGreater(len(ids[0]), 40)

    def test_a_change_is_noticed(self):
        with tempfile.TemporaryDirectory() as docs:
            for edition in chapters.CONTENTS:
                copy = chapters.path_of('halving', docs, edition)
                os.makedirs(os.path.dirname(copy))
                shutil.copy(chapters.path_of('halving', edition=edition), copy)
            for edition in chapters.CONTENTS:
                path = chapters.path_of('halving', docs, edition)
                before, text = chapters.stamp('halving', docs), read(path)
                chapters.write(path, text.replace('| 4 Mi |', '| 5 Mi |'))
                self.assertEqual(chapters.stamp('halving', docs), before)  # a result, measured anew
                chapters.write(path, text.replace('Harris', 'Harry'))
                self.assertNotEqual(chapters.stamp('halving', docs), before)

    def test_rungs_and_terms(self):
        """Every rung, its file's three sentences in Chinese; the terms of the tutorial."""
        rungs, glossary = (read(DOCS, 'zh', name) for name in ('rungs.md', 'glossary.md'))
        for name, rung in lists.RUNGS['gpu'].items():
            self.assertIn(f'| [`{name}`](ladder/{name}.md) |', rungs)
        for name in lists.RUNGS['cpu']:
            self.assertIn(f'| `{name}` |', rungs)
        for term in ('warp', 'barrier', 'bank conflict', 'coalescing', 'occupancy', 'rung', 'finish', 'specimen', 'ulp'):
            self.assertRegex(glossary, rf'(?m)^\| {term} \|')


class Lists(unittest.TestCase):
    """The lists of ladder/*.def, where they are copied or must be answered by files."""
    ROOT = os.path.join(DOCS, '..')

    def test_the_page_has_them(self):
        self.assertEqual(read(self.ROOT, 'web', 'page', 'lists.js'), lists.page())

    def test_the_command_has_them(self):
        listed = formats.output(formats.REDUCT, 'ladder', '--list')
        for rungs, part in ((lists.RUNGS['cpu'], listed.split('On a GPU')[0]), (lists.RUNGS['gpu'], listed.split('On a GPU')[1])):
            found = dict(re.findall(r'(?m)^  ([a-z-]+)  +(\S.*)$', part))
            self.assertEqual(found, {name: rung['idea'] for name, rung in rungs.items()})
        usage = formats.run(formats.REDUCT, 'ladder', '--finish', '?').stderr.decode()
        self.assertIn(', '.join(lists.FINISHES) + ' or all', usage)

    def test_published_figures(self):
        self.assertEqual(list(lists.SOURCES), ['Harris 2007', 'V100 notes', 'Slang article', 'WebGPU tutorial'])
        self.assertEqual(lists.SOURCES['Harris 2007']['seconds']['grid-stride'], 0.268e-3)
        for source in lists.SOURCES.values():
            self.assertTrue(set(source['seconds']) - {'Thrust'} <= set(lists.RUNGS['gpu']))

    def test_every_language_has_its_rungs(self):
        """A file per rung; what a language lacks is named here."""
        rungs = [name for name, rung in lists.RUNGS['gpu'].items() if not rung['specimen'] and name != 'exact']
        lacks = {'cuda': set(), 'glsl': {'bulk-copy'}, 'hlsl': {'bulk-copy', 'vector-loads'},
                 'wgsl': {'bulk-copy', 'global-halving', 'shuffle'}}
        forms = {'cuda': '.cu', 'glsl': '.comp', 'hlsl': '.hlsl', 'wgsl': '.wgsl'}
        for language, ending in forms.items():
            files = set(os.listdir(os.path.join(self.ROOT, 'ladder', language)))
            missing = {name for name in rungs if not {name + ending, name.replace('-', '_') + ending} & files}
            self.assertEqual(missing, lacks[language], language)
        self.assertEqual({file for file, _ in sass.WANTED}, {name.replace('-', '_') for name in rungs})


class Results(unittest.TestCase):
    def fill(self, folder, times=1):
        """The tutorial, filled with the results in a folder: all of its text."""
        docs = os.path.join(folder, 'docs')
        for page in ALL_PAGES:
            copy = os.path.join(docs, os.path.relpath(page, DOCS))
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copy(page, copy)
        for _ in range(times):
            script('tables.py', docs, folder)
        return ''.join(read(page) for page in chapters.pages(docs))

    def in_chinese(self, folder):
        """The same in Chinese, after fill()."""
        return ''.join(read(page) for page in chapters.pages(os.path.join(folder, 'docs'), chapters.CHINESE))

    def sample(self):
        """A report such as the GPU's ladder makes, its figures made up."""
        report = formats.read_json(formats.output(formats.SAMPLE, 'json'))
        rungs = [row for row in report['rows'] if row['group'] == 'rungs']
        for i, row in enumerate(rungs):
            row['variant'] = 'recursive' if i < 7 else 'second-launch' if i < 11 else 'last-block'
        report['rows'] += [{**row, 'type': 'i32', 'ulp': None} for row in rungs]
        report['rows'] += [{**row, 'n': row['n'] * 8} for row in rungs]
        report['rows'] += [{**rungs[3], 'variant': 'host', 'seconds': 2 * rungs[3]['seconds']}]
        report['rows'] += [{**rungs[0], 'group': 'peers', 'name': 'CUB'}]
        return report

    def test_the_pages_are_up_to_date(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in (*(os.path.join(RESULTS, f'{name}.csv') for name in ('ladder', 'languages', 'facts')),
                         os.path.join(DOCS, 'ladder', 'sass.json')):
                shutil.copy(path, folder)
            self.assertEqual(self.fill(folder), ''.join(read(page) for page in chapters.pages()))
            self.assertEqual(self.in_chinese(folder), ''.join(read(page) for page in chapters.pages(edition=chapters.CHINESE)))
            self.assertEqual(read(folder, 'docs', 'ladder', 'h200.svg'), read(DOCS, 'ladder', 'h200.svg'))

    def test_they_are_put_in_their_places(self):
        with tempfile.TemporaryDirectory() as folder:
            results.write('ladder', self.sample(), folder)
            text = self.fill(folder)
            self.assertEqual(self.fill(folder, times=3), text)
            chart = xml.dom.minidom.parse(os.path.join(folder, 'docs', 'ladder', 'h200.svg'))
            self.assertEqual(chart.documentElement.tagName, 'svg')
        blocks = dict(re.findall(r'<!-- results:([a-z-]+) -->\n(.*?)<!-- /results', text, flags=re.S))
        tables = {name: formats.read_markdown_tables(block) for name, block in blocks.items()}
        self.assertEqual(tables['sass'], [])
        self.assertEqual([row[0] for row in tables['halving'][0][2:]], ['4 Mi', '32 Mi'])
        self.assertEqual(tables['halving'][0][0][:3], ['elements', 'i32', 'f32'])  # no f64, no column
        self.assertEqual([row[1] for row in tables['last-warp-implicit'][0][2:]],
                         ['no synchronisation', 'repaired: __syncwarp'])
        self.assertIn('**wrong**: 1787466, not 2097466.2', blocks['specimens'])
        self.assertEqual([row[0] for row in tables['finishes'][0][2:]], ['`halving`'])
        self.assertEqual(len(tables['summary'][0]), 2 + 14)
        self.assertEqual(tables['numbers'][0][-1], ['`exact`', '0.42'])
        peers = [row[0] for row in tables['peers'][0][2:]]
        self.assertTrue({'CUB recursive', '`one-launch`', '`exact`'} <= set(peers), peers)
        self.assertIn('Harris 2007', tables['steps'][0][0])
        self.assertEqual(tables['steps'][0][3][-2], '2.33')  # neighbour-strided, in its day
        self.assertIn('registers', tables['hardware'][0][0])

    def test_languages_stand_side_by_side(self):
        report = self.sample()
        rungs = [row for row in report['rows'] if row['group'] == 'rungs']
        for language, factor in (('glsl', 2), ('hlsl', 4)):
            rows = [{**row, 'language': language, 'device': 'vulkan:0', 'seconds': factor * row['seconds'],
                     'bytes_per_second': row['bytes_per_second'] / factor} for row in rungs if row['name'] != 'bulk-copy']
            exact = [{**row, 'note': 'window in 32-bit integers', 'seconds': 3 * row['seconds']}
                     for row in rows if row['name'] == 'exact' and language == 'glsl']
            for row in rows:
                row['note'] = 'window in f64' if row['name'] == 'exact' else row['note']
            report['rows'] += [row for row in rows if language == 'glsl' or row['name'] != 'exact'] + exact
        with tempfile.TemporaryDirectory() as folder:
            results.write('languages', report, folder)
            results.write('ladder', self.sample(), folder)
            alone = self.fill(folder)
            results.write('ladder', report, folder)
            self.assertEqual(self.fill(folder), alone)  # shaders' rows are not taken for CUDA's
        blocks = dict(re.findall(r'<!-- results:([a-z-]+) -->\n(.*?)<!-- /results', alone, flags=re.S))
        languages, windows = (formats.read_markdown_tables(blocks[name])[0] for name in ('languages', 'exact-windows'))
        heading, row = languages[0], next(row for row in languages if row[0] == '`halving`')
        at = [heading.index(f'{name}, GB/s at 32 Mi') for name in ('CUDA', 'GLSL', 'HLSL')]
        rates = [float(row[i]) for i in at]
        self.assertAlmostEqual(rates[0] / rates[1], 2, 1)
        self.assertAlmostEqual(rates[0] / rates[2], 4, 1)
        of = {row[0]: [bool(row[i]) for i in at] for row in languages[2:]}
        self.assertEqual((of['`bulk-copy`'], of['`exact`']), ([True, False, False], [True, True, False]))
        f32 = [row for row in windows[2:] if row[0] == 'f32']
        self.assertEqual([row[1] for row in f32], ['window in f64', 'window in 32-bit integers'])
        self.assertEqual(f32[0][2], 'vulkan:0')

    def test_without_results_nothing_is_claimed(self):
        with tempfile.TemporaryDirectory() as folder:
            text = self.fill(folder)
        blocks = re.findall(r'<!-- results:([a-z-]+) -->\n(.*?)<!-- /results:\1 -->', text, flags=re.S)
        self.assertGreater(len(blocks), 20)
        self.assertEqual({block for _, block in blocks}, {''})


class Sass(unittest.TestCase):
    LISTING = '''
	code for sm_90
		Function : sum
	.headerflags	@"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_SM90"
        /*0000*/                   LDC R1, c[0x0][0x28] ;                    /* 0x00000a00ff017b82 */
                                                                             /* 0x000fe20000000800 */
        /*0010*/                   S2R R0, SR_TID.X ;                        /* 0x0000000000007919 */
        /*0020*/              @!P0 LDG.E R5, desc[UR6][R2.64] ;              /* 0x0000000602058981 */
        /*0030*/                   LDG.E.EF.128.CONSTANT R8, desc[UR6][R2.64] ;
        /*0040*/              @UP0 UIADD3 UR4, UR4, 0x1, URZ ;
        /*0050*/                   FADD R5, R5, R8 ;
        /*0060*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0070*/               @P1 BRA 0x20 ;
        /*0080*/                   EXIT ;
        /*0090*/                   BRA 0x90;
        /*00a0*/                   NOP;
'''

    def test_instructions_are_counted(self):
        codes = sass.opcodes(self.LISTING)
        self.assertEqual(codes[:3], ['LDC', 'S2R', 'LDG.E'])
        self.assertEqual(len(codes), 10)
        counts = sass.count(codes)
        self.assertEqual((counts['add'], counts['global load'], counts['of 16 bytes'], counts['block barrier'],
                          counts['branch'], counts['shuffle']), (1, 2, 1, 1, 2, 0))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
