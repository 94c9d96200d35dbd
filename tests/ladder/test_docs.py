"""The tutorial: drawings as they are drawn, a chapter per rung, results where they belong and nowhere else."""
import hashlib
import json
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
import adopt  # noqa: E402
import chapters  # noqa: E402
import chinese  # noqa: E402
import claims  # noqa: E402
import drawn  # noqa: E402
import lists  # noqa: E402
import results  # noqa: E402
import sass  # noqa: E402
import tables  # noqa: E402


ALL_PAGES = [page for edition in chapters.CONTENTS for page in chapters.pages(edition=edition)]
ALL_PAGES += [chapters.path_of(name, edition=edition) for edition in chapters.CONTENTS for name in chapters.exercises()]
ALL_PAGES += [chapters.path_of(name, edition=edition) for edition in chapters.CONTENTS for name in chapters.BESIDE]


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def script(name, *arguments):
    subprocess.run([sys.executable, '-B', os.path.join(DOCS, 'ladder', name), *arguments], check=True)


class Drawings(unittest.TestCase):
    def test_they_are_what_the_script_draws(self):
        """In both languages; each is in a page of its edition."""
        with tempfile.TemporaryDirectory() as docs:
            for edition in chapters.CONTENTS:
                os.makedirs(os.path.join(docs, edition, 'ladder'))
            script('draw.py', docs)
            for edition in chapters.CONTENTS:
                drawings = sorted(os.listdir(os.path.join(docs, edition, 'ladder')))
                text = ''.join(read(page) for page in chapters.pages(edition=edition))
                self.assertGreater(len(drawings), 15)
                for name in drawings:
                    self.assertEqual(read(docs, edition, 'ladder', name), read(DOCS, edition, 'ladder', name), name)
                    self.assertRegex(text, rf'\]\((ladder/)?{re.escape(name)}\)')

    def test_words_that_no_language_has_are_noticed(self):
        said = drawn.Chinese()
        self.assertEqual([said(text) for text in ('block 3', 's = 4', 'memory')], ['块 3', 's = 4', '内存'])
        for wrong in (lambda: said('a text that nobody has put into Chinese'), said.check):
            with self.assertRaises(SystemExit):
                wrong()

    def test_they_are_whole(self):
        drawings = [os.path.join(edition, 'ladder', name) for edition in chapters.CONTENTS
                    for name in os.listdir(os.path.join(DOCS, edition, 'ladder')) if name.endswith('.svg')]
        self.assertGreater(len(drawings), 30)
        for name in drawings:
            text = read(DOCS, name)
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
        listed = formats.output(formats.REDUCT, 'ladder', '--list').split('On a GPU')[1].split('Sums of rows')[0]
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
        """A rung's with the profile of the rung below, those that go on from the rungs with figures of what was before, all with what to
        use; in both languages."""
        rungs = list(lists.RUNGS['gpu'])
        for edition, (profile, goes_on, use) in {
                chapters.ENGLISH: ('**What the profile of ', r'\*\*What the (profile|table) of .* says\.\*\* ', '**Which should I use?** '),
                chapters.CHINESE: ('性能剖析说明什么', r'\*\*.*的(性能剖析|表)说明什么。\*\* ', '**该用哪一个？** ')}.items():
            for name in chapters.chapters():
                text = chapters.own_text(read(chapters.path_of(name, edition=edition)))
                self.assertIn(use, text.rstrip().split('\n\n')[-1], name)
                if name in rungs:
                    self.assertIn(profile, text[:text.index('![')], name)
                if name in ('finishes', 'shaders', 'rows', 'groups'):
                    opening = text.split('\n\n')[1]
                    self.assertRegex(opening, r'\A' + goes_on, name)
                    self.assertRegex(opening, r'\d%', name)
                    self.assertRegex(opening, r'\d (µs|ms)', name)
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
        self.assertEqual({name for name in os.listdir(folder) if name.endswith('.md')}, {f'{name}.md' for name in chapters.chapters()})

    def test_no_side_has_changed_alone(self):
        for name in ('page', 'ladder', *chapters.chapters(), *chapters.BESIDE, *chapters.exercises(), chapters.RUNGS):
            text = read(chapters.path_of(name, edition=chapters.CHINESE))
            self.assertTrue(text.startswith(chapters.stamp(name)),
                            f'{name}: one language has changed. Put the same into the other (docs/zh/, web/zh.html and README.zh.md are Chinese; of rungs, '
                            f'ladder/rungs.def and the heads of ladder/cuda/*.cu are English), then run '
                            f'python3 docs/ladder/chapters.py --in-step {name}')

    def test_the_same_code_and_places(self):
        for name in ('ladder', *chapters.chapters(), *chapters.BESIDE, *chapters.exercises()):
            english, chinese = (chapters.own_text(read(chapters.path_of(name, edition=edition))) for edition in chapters.CONTENTS)
            for pattern in (r'(?ms)^```.*?^```$', r'<!-- results:[a-z-]+ -->', r'(?m)^    \S.*$', r'\b([a-z0-9-]+\.svg)\)'):
                self.assertEqual(re.findall(pattern, chinese), re.findall(pattern, english), name)

    def test_links_lead_to_chinese_pages(self):
        names = ('ladder', *chapters.chapters(), *chapters.BESIDE, *chapters.exercises())
        twins = {os.path.realpath(chapters.path_of(name)): chapters.path_of(name, edition=chapters.CHINESE) for name in names}
        for page, twin in ((english, twins[english]) for english in twins):
            for link in re.findall(r'\]\(([^)#:\s]+\.md)', read(twin)):
                target = os.path.realpath(os.path.join(os.path.dirname(twin), link))
                self.assertTrue(target == page or target not in twins, f'{twin}: {link} is there in Chinese, too')

    def test_tables_are_in_chinese(self):
        for page in chapters.filled(edition=chapters.CHINESE):
            for name, block in re.findall(r'<!-- results:([a-z-]+) -->\n(.*?)<!-- /results', read(page), flags=re.S):
                words = re.sub(r'`[^`\n]*`|\bnvcc [\d.]+|\bCUB DeviceReduce|SwiftShader Device', '', block)
                self.assertEqual(re.findall(r'(?i)\b[a-z]{2,}[,;:]? [a-z]{2,}\b', words), [], f'{page}: {name}: say it in docs/ladder/chinese.py')

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

    def test_a_changed_summary_is_noticed(self):
        """Of a rung, in its file or in the list; where lines break and what else stands in the file does not count."""
        with tempfile.TemporaryDirectory() as folder:
            docs, ladder = os.path.join(folder, 'docs'), os.path.join(folder, 'ladder')
            shutil.copytree(os.path.join(DOCS, '..', 'ladder', 'cuda'), os.path.join(ladder, 'cuda'))
            shutil.copy(os.path.join(DOCS, '..', 'ladder', 'rungs.def'), ladder)
            os.makedirs(os.path.join(docs, 'zh'))
            shutil.copy(os.path.join(DOCS, 'zh', 'rungs.md'), os.path.join(docs, 'zh'))
            before = chapters.stamp(chapters.RUNGS, docs)
            for path, said, other, counts in (('ladder/cuda/halving.cu', 'What it fixes: ', 'What it fixes: not ', True),
                                              ('ladder/cuda/cluster.cu', 'When it loses: ', 'When it loses: not ', True),
                                              ('ladder/cuda/specimens/last_warp_implicit.cu', 'The mistake: ', 'The mistake: not ', True),
                                              ('ladder/rungs.def', '"several rows', '"two rows', True),
                                              ('docs/zh/rungs.md', '想法', '主意', True),
                                              ('ladder/cuda/halving.cu', 'What it fixes: ', 'What it fixes:\n// ', False),
                                              ('ladder/cuda/halving.cu', 'Elsewhere: ', 'Elsewhere: not ', False)):
                path = os.path.join(folder, path)
                text = read(path)
                self.assertIn(said, text)
                chapters.write(path, text.replace(said, other))
                self.assertEqual(chapters.stamp(chapters.RUNGS, docs) != before, counts, f'{path}: {other}')
                chapters.write(path, text)

    def test_summaries_are_found(self):
        """At the head of every rung's file; there is none below the first for it to be better than, and the library's has no file."""
        for name, rung in lists.RUNGS['gpu'].items():
            begins = [f'Rung {name}', 'Idea', 'What it fixes', 'When it loses']
            if name == 'global-halving':
                begins.remove('What it fixes')
            if rung['specimen']:
                begins = [f'Specimen {name}', 'The mistake']
            path = os.path.join(DOCS, '..', 'ladder', 'cuda', 'specimens' if rung['specimen'] else '', name.replace('-', '_') + '.cu')
            if name != 'exact':
                self.assertEqual([text.split(':')[0] for text in chapters.summary(path)], begins)
                self.assertIn('\n'.join(chapters.summary(path)), chapters.summaries())

    def test_rungs_and_terms(self):
        """Every rung, its file's three sentences in Chinese; the terms of the tutorial, the same in both languages."""
        rungs, glossary = (read(DOCS, 'zh', name) for name in ('rungs.md', 'glossary.md'))
        terms, in_chinese = (re.findall(r'(?m)^\| (.+?) \| ', text)[1:] for text in (read(DOCS, 'glossary.md'), glossary))
        self.assertEqual(terms, in_chinese)
        self.assertEqual(terms, sorted(terms, key=str.lower))
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
        parts = re.split('On a GPU|Sums of rows|Sums by group', listed)
        for rungs, part in zip((lists.RUNGS[kind] for kind in ('cpu', 'gpu', 'rows', 'groups')), parts, strict=True):
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
        only_cuda = {name for name in rungs if lists.RUNGS['gpu'][name]['only_cuda']}
        lacks = {'cuda': set(), 'glsl': only_cuda, 'hlsl': only_cuda, 'slang': only_cuda, 'wgsl': only_cuda}
        forms = {'cuda': '.cu', 'glsl': '.comp', 'hlsl': '.hlsl', 'slang': '.slang', 'wgsl': '.wgsl'}
        for language, ending in forms.items():
            files = set(os.listdir(os.path.join(self.ROOT, 'ladder', language)))
            missing = {name for name in rungs if not {name + ending, name.replace('-', '_') + ending} & files}
            self.assertEqual(missing, lacks[language], language)
        self.assertEqual({file for file, _ in sass.WANTED}, {name.replace('-', '_') for name in rungs})

    # Applications that are shaders in every language.
    SHADERS = ('dot', 'maximum', 'mean')

    def test_applications_have_a_shader_in_every_language(self):
        """And the chapter links to each."""
        links = re.findall(r'\]\(\.\./\.\./(ladder/[a-z/]+/\w+\.(?:comp|hlsl|slang|wgsl))\)', read(DOCS, 'ladder', 'applications.md'))
        wanted = [f'ladder/{folder}/{"largest" if (folder, name) == ("glsl/applications", "maximum") else name}.{ending}'
                  for name in self.SHADERS
                  for folder, ending in (('glsl/applications', 'comp'), ('hlsl/applications', 'hlsl'), ('slang', 'slang'),
                                         ('wgsl/applications', 'wgsl'))]
        self.assertEqual(links, wanted)
        for path in links:
            self.assertRegex(read(self.ROOT, path), r'(?m)^// Application (dot|maximum|mean): ')

    def test_rows_and_groups_have_theirs(self):
        """A file and a chapter's section for each of their rungs, but those of libraries, which have no file; and a line in Chinese."""
        for kind, languages in (('rows', {'cuda': ('.cu', '.cuh'), 'glsl': ('.comp', '.glsl'), 'wgsl': ('.wgsl', '.wgsl')}),
                                ('groups', {'cuda': ('.cu', '.cuh')})):
            chapter = read(DOCS, 'ladder', f'{kind}.md')
            names = list(lists.RUNGS[kind])
            for language, (ending, header) in languages.items():
                files = set(os.listdir(os.path.join(self.ROOT, 'ladder', language, kind))) - {kind + header, 'subgroups.wgsl'}
                self.assertEqual({file.replace('-', '_') for file in files},
                                 {name.replace('-', '_') + ending for name in names if not re.search('-(exact|sorted)$', name)})
            self.assertEqual(re.findall(r'(?m)^## `([a-z-]+)`', chapter), names)
            for name in names:
                self.assertIn(f'| `{name}` |', read(DOCS, 'zh', 'rungs.md'))

    def test_unity_kernels_compile(self):
        """Those of docs/unity.md, each by name."""
        glslang = shutil.which('glslangValidator')
        if not glslang:
            self.skipTest('glslangValidator is not installed')
        path = os.path.join(self.ROOT, 'ladder', 'hlsl', 'unity', 'EnvironmentSums.compute')
        kernels = re.findall(r'(?m)^#pragma kernel (\w+)$', read(path))
        self.assertEqual(len(kernels), 4)
        with tempfile.TemporaryDirectory() as folder:
            for kernel in kernels:
                result = subprocess.run([glslang, '-D', '-V', '--target-env', 'vulkan1.1', '-S', 'comp', '-e', kernel, path, '-o',
                                         os.path.join(folder, kernel)], stdout=subprocess.PIPE, text=True)
                self.assertEqual(result.returncode, 0, result.stdout)
        driver = read(path.replace('.compute', '.cs'))
        self.assertEqual(set(re.findall(r'"(\w+_(?:texels|partials))"', driver)), set(kernels))

    def test_slang_is_what_its_modules_were_made_of(self):
        """Modules of SPIR-V are checked in; each source is as it was when they were compiled."""
        folder = os.path.join(self.ROOT, 'ladder', 'slang')
        version, *made_of = read(folder, 'spirv', 'sources.txt').splitlines()
        self.assertRegex(version, r'^slangc \d{4}\.\d+')
        sources = {name: read(folder, name) for name in os.listdir(folder) if re.search(r'\.slangh?$', name)}
        hashes = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in sources.items()}
        self.assertEqual({name: found for found, name in map(str.split, made_of)}, hashes, 'run ladder/slang/compile')
        rungs = {name[:-len('.slang')] for name in sources if name.endswith('.slang')} - {*self.SHADERS, 'texture'}
        modules = {f'{rung}_{variant}.spv' for rung in rungs for variant in ('i32', 'f32', 'f64', 'f64_atomic')}
        modules |= {f'texture_{how}_f32.spv' for how in ('array', 'rows', 'tiles')}
        modules |= {f'{name}_{kind}.spv' for name in self.SHADERS for kind in ('f32', 'f64')}
        self.assertEqual({name for name in os.listdir(os.path.join(folder, 'spirv')) if name.endswith('.spv')}, modules)


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
        return ''.join(read(page) for page in chapters.filled(docs))

    def in_chinese(self, folder):
        """The same in Chinese, after fill()."""
        return ''.join(read(page) for page in chapters.filled(os.path.join(folder, 'docs'), chapters.CHINESE))

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
            for path in (*(os.path.join(RESULTS, name) for name in os.listdir(RESULTS) if name.endswith('.csv')),
                         os.path.join(DOCS, 'ladder', 'sass.json')):
                shutil.copy(path, folder)
            os.makedirs(os.path.join(folder, 'docs', 'results'))
            for name in os.listdir(os.path.join(DOCS, 'results')):
                if name.endswith('.json'):
                    shutil.copy(os.path.join(DOCS, 'results', name), os.path.join(folder, 'docs', 'results'))
            self.assertEqual(self.fill(folder), ''.join(read(page) for page in chapters.filled()))
            self.assertEqual(self.in_chinese(folder), ''.join(read(page) for page in chapters.filled(edition=chapters.CHINESE)))
            self.assertEqual(read(folder, 'docs', 'ladder', 'bandwidth.svg'), read(DOCS, 'ladder', 'bandwidth.svg'))

    def test_they_are_put_in_their_places(self):
        with tempfile.TemporaryDirectory() as folder:
            results.write('ladder', self.sample(), folder)
            text = self.fill(folder)
            self.assertEqual(self.fill(folder, times=3), text)
            chart = xml.dom.minidom.parse(os.path.join(folder, 'docs', 'ladder', 'bandwidth.svg'))
            self.assertEqual(chart.documentElement.tagName, 'svg')
        blocks = dict(re.findall(r'<!-- results:([a-z-]+) -->\n(.*?)<!-- /results', text, flags=re.S))
        found = {name: formats.read_markdown_tables(block) for name, block in blocks.items()}
        self.assertEqual(found['sass'], [])
        self.assertEqual([row[0] for row in found['halving'][0][2:]], ['4 Mi', '32 Mi'])
        self.assertEqual(found['halving'][0][0][:3], ['elements', 'i32', 'f32'])  # no f64, no column
        self.assertEqual([row[1] for row in found['last-warp-implicit'][0][2:]],
                         ['no synchronisation', 'repaired: __syncwarp'])
        self.assertIn('**wrong**: 1787466, not 2097466.2', blocks['specimens'])
        self.assertEqual([row[0] for row in found['finishes'][0][2:]], ['`halving`'])
        self.assertEqual(len(found['summary'][0]), 2 + 14)
        self.assertEqual(found['numbers'][0][-1], ['`exact`', '0.42'])
        peers = [row[0] for row in found['peers'][0][2:]]
        self.assertTrue({'CUB recursive', '`one-launch`', '`exact`'} <= set(peers), peers)
        self.assertIn('Harris 2007', found['steps'][0][0])
        steps = {row[0]: row for row in found['steps'][0]}
        self.assertEqual(steps['`neighbour-strided`'][-2], '2.33')  # in its day
        self.assertEqual(steps['`bulk-copy`'][1:3], ['`one-launch`', '`last-block`'])
        self.assertIn('registers', found['hardware'][0][0])

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

    def test_steps_are_between_equal_finishes(self):
        report = self.sample()
        rungs = [row for row in report['rows'] if row['group'] == 'rungs' and row['variant'] == 'recursive']
        report['rows'] += [{**row, 'variant': 'second-launch', 'seconds': 10 * row['seconds']} for row in rungs]
        made = tables.Report({**report, 'rows': [results.Row(row) for row in report['rows']]})
        halving, below = (made.compared(name, 'f32', 4 << 20) for name in ('halving', 'neighbour-strided'))
        self.assertEqual((halving['variant'], below['variant']), ('second-launch', 'second-launch'))
        self.assertEqual(made.own('halving', 'f32', 4 << 20)['variant'], 'recursive')
        self.assertAlmostEqual(made.gain('halving', 'f32', 4 << 20), below['seconds'] / halving['seconds'])
        one, vectors = (made.compared(name, 'f32', 4 << 20) for name in ('one-launch', 'vector-loads'))
        self.assertEqual((one['variant'], vectors['variant']), ('last-block', 'second-launch'))
        summary = formats.read_markdown_tables(tables.summary_block(made))[0]
        shown = {row[0]: row[1 + made.sizes.index(4 << 20)] for row in summary[2:]}
        self.assertEqual([shown[f'`{name}`'] for name in ('halving', 'one-launch')], [tables.time(row['seconds']) for row in (halving, one)])

    def measured(self):
        """Reports such as scripts/measure-ladder leaves, by the names of its files."""
        sample = self.sample()
        rungs = [row for row in sample['rows'] if row['group'] == 'rungs']
        shaders = [{**row, 'language': 'glsl', 'device': 'vulkan:0', 'seconds': 2 * row['seconds']}
                   for row in rungs if row['type'] == 'f32' and row['name'] not in ('bulk-copy', 'exact')]
        plain = {**rungs[0], 'name': 'plain', 'variant': '', 'language': 'c', 'device': 'cpu', 'ulp': 7e6}
        rows = [{**rungs[0], 'group': f'rows of {length}', 'name': name, 'variant': 'sums of rows'}
                for length in (64, 4096) for name in ('row-thread', 'row-warp')]
        refused = {**rows[0], 'name': 'row-exact', 'verdict': 'not run', 'seconds': None, 'note': 'the backend refuses'}
        groups = [{**rungs[0], 'group': f'{count} groups, {order} keys', 'name': name, 'variant': f'{order} keys'}
                  for order in ('random', 'sorted') for count in (100, 1000000) for name in ('group-global', 'group-runs')]
        rows += [{**row, 'language': 'glsl', 'device': 'vulkan:0'} for row in rows if row['name'] == 'row-warp']
        texels = [{**rungs[0], 'group': 'applications', 'name': 'texture', 'variant': how, 'language': language}
                  for how in ('from an array', 'texels by tiles') for language in ('cuda', 'glsl')]
        maxima = [{**rungs[0], 'group': 'applications', 'name': 'maximum', 'variant': 'one launch', 'language': language}
                  for language in ('cuda', 'slang')]
        parts = {'ladder-f32': [row for row in sample['rows'] if row['type'] != 'i32'], 'shaders-f32': shaders,
                 'shaders-i32': [], 'shaders-f64': [], 'applications-f32': [*rungs[:4], *texels, *maxima], 'applications-f64': [],
                 'ladder-i32': [row for row in sample['rows'] if row['type'] == 'i32'],
                 'ladder-f64': [], 'numbers-f32': [plain, *rungs[:3]], 'numbers-f64': [], 'rows-f32': [*rows, refused], 'rows-f64': [],
                 'groups-f32': groups, 'groups-f64': [],
                 'profile': [{**rungs[1], 'shared_transactions': 12345.0, 'divergence': 0.0, 'active_lanes': 11.5}],
                 **{f'blocks-{block}': [{**row, 'block': block, 'seconds': factor * row['seconds']} for row in (*rungs, *shaders)
                                        if row['name'] in ('halving', 'exact') and (row['name'] == 'halving' or block == 256)]
                    for block, factor in ((256, 1), (1024, 3))},
                 'shaders-wgsl': [{**row, 'language': 'wgsl', 'device': 'webgpu'} for row in rungs if row['name'] == 'halving'],
                 'blocks-wgsl': [{**row, 'language': 'wgsl', 'block': block, 'seconds': block * row['seconds']}
                                 for row in rungs if row['name'] == 'halving' for block in (256, 1024)]}
        return {name: {**sample, 'rows': rows} for name, rows in parts.items()}

    def test_what_was_measured_is_adopted(self):
        with tempfile.TemporaryDirectory() as folder:
            given = os.path.join(folder, 'measured')
            os.mkdir(given)
            for name, report in self.measured().items():
                with open(os.path.join(given, name + '.json'), 'w', encoding='utf-8') as file:
                    json.dump(report, file)
            results.write('languages', self.sample(), folder)
            self.assertEqual(adopt.keep(given, adopt.PARTS, folder), [])
            self.assertIsNone(results.read('languages', folder))
            self.assertEqual(len(tables.Report(results.read('ladder', folder)).rungs), 3 * 14 + 1)  # applications bring no rungs
            blocks = dict(re.findall(r'<!-- results:([a-z-]+) -->\n(.*?)<!-- /results', self.fill(folder), flags=re.S))
            os.remove(os.path.join(given, 'rows-f64.json'))
            self.assertEqual(adopt.keep(given, adopt.PARTS, folder), ['rows-f64'])
            self.assertIsNotNone(results.read('rows', folder))
            os.remove(os.path.join(given, 'shaders-f32.json'))  # a machine without Vulkan
            results.write('languages', self.sample(), folder)
            self.assertEqual(adopt.keep(given, adopt.PARTS, folder), ['shaders-f32', 'rows-f64'])
            self.assertIsNotNone(results.read('languages', folder))
        found = {name: formats.read_markdown_tables(block) for name, block in blocks.items()}
        self.assertIn(['CPU', '`plain`', '7e+06'], found['numbers'][1])
        self.assertEqual(found['rows'][0][0][:3], ['rung', '64', '4096'])
        self.assertIn('`row-exact`: the backend refuses.', blocks['rows'])
        self.assertEqual([row[0] for row in found['rows'][1][2:]], ['`row-warp`'])
        self.assertEqual([rows[0][:3] for rows in found['groups']], 2 * [['rung', '100', '1000000']])
        self.assertIn('with sorted keys', blocks['groups'])
        self.assertEqual([row[0] for row in found['groups'][0][2:]], [f'`{name}`' for name in lists.RUNGS['groups']])
        self.assertIn(['`group-sorted`', '', '', '', ''], found['groups'][0])
        self.assertIn('`group-sorted`: newer than these figures.', blocks['groups'])
        for language in ('GLSL', 'WGSL'):
            self.assertIn(f'{language}, 4 Mi', found['languages'][0][0])
        self.assertEqual([row[:2] for row in found['textures'][0][2:]],
                         [[how, language] for language in ('CUDA', 'GLSL') for how in ('from an array', 'texels by tiles')])
        self.assertEqual([row[3] for row in found['applications'][0] if row[0] == 'maximum'], ['cuda', 'slang'])
        self.assertEqual(found['hardware'][0][3][-1], '11.5')
        heading, _, *block_sizes = found['block-sizes'][0]
        self.assertEqual(heading, ['rung', *(f'{language}, {n}' for language in ('CUDA', 'GLSL', 'WGSL') for n in ('4 Mi', '32 Mi'))])
        self.assertEqual(block_sizes, [['`halving`', *4 * ['3.00'], *2 * ['4.00']]])
        self.assertRegex(blocks['rows'], r'The times spread by at most \d')
        self.assertIn('12,345', blocks['neighbour-strided-before'])

    def test_experiments_take_the_place_of_what_they_gave_before(self):
        def cell(experiment, row, value):
            return {'experiment': experiment, 'heading': 'how', 'row': row, 'column': '4 Mi', 'unit': 's', 'value': value}
        def given(folder, date, *rows):
            with open(os.path.join(folder, 'experiments-some_program.json'), 'w', encoding='utf-8') as file:
                json.dump({'facts': {'GPU': 'A GPU', 'date': date}, 'warnings': [], 'rows': rows}, file)
        with tempfile.TemporaryDirectory() as folder:
            given(folder, 'today', cell('static-blocks', 'a', '1e-05'), cell('static-blocks', 'b', '2e-05'))
            adopt.keep_experiments(folder, folder)
            self.assertEqual(results.read('experiments', folder)['facts'], {'GPU': 'A GPU', 'date of static-blocks': 'today'})
            first = [cell('banks', 'a', '3e-05'), *results.read('experiments', folder)['rows'], cell('clusters', 'a', '4e-05')]
            results.write('experiments', {'facts': {'GPU': 'A GPU, at 1 GHz', 'date': 'then'}, 'warnings': [], 'rows': first}, folder)
            given(folder, 'later', cell('static-blocks', 'c', '5e-05'))
            adopt.keep_experiments(folder, folder)
            kept = results.read('experiments', folder)
            text = self.fill(folder)
            results.write('experiments', {**kept, 'facts': {**kept['facts'], 'GPU': 'Another'}}, folder)
            adopt.keep_experiments(folder, folder)
            elsewhere = tables.experiments_blocks(results.read('experiments', folder))
        self.assertEqual([(row['experiment'], row['row']) for row in kept['rows']], [('banks', 'a'), ('static-blocks', 'c'), ('clusters', 'a')])
        self.assertEqual(kept['facts'], {'GPU': 'A GPU, at 1 GHz', 'date': 'then', 'date of static-blocks': 'later'})
        self.assertIn('| how | 4 Mi |\n|---|---:|\n| c | 50.0 µs |', text)
        self.assertEqual({name: block.split(',')[0] for name, block in elsewhere.items()},
                         {'banks': 'On one Another', 'static-blocks': 'On one A GPU', 'clusters': 'On one Another'})

    def test_what_is_submitted_is_of_each_rungs_own_finish(self):
        sample = self.sample()
        rungs = [row for row in sample['rows'] if row['group'] == 'rungs' and row['type'] == 'f32']
        cuda = {**sample, 'format': 'it', 'rows': [{**row, 'variant': variant} for row in rungs for variant in tables.FINISHES] +
                [row for row in sample['rows'] if row['group'] == 'peers']}
        vulkan = {**sample, 'format': 'it', 'facts': {'vulkan:0': 'A GPU, Vulkan 1.4'}, 'warnings': ['slow'],
                  'rows': [{**row, 'language': 'glsl', 'variant': 'host'} for row in rungs]}
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(adopt.submission(folder))
            for name, report in zip(adopt.SUBMISSIONS, (cuda, vulkan)):
                with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
                    json.dump(report, file)
            made = adopt.submission(folder)
            path = os.path.join(folder, 'made.json')
            adopt.write_submission(made, path)
            self.assertEqual(adopt.read(path), made)
        self.assertEqual({(row['language'], row['variant']) for row in made['rows'] if row['name'] == 'halving'},
                         {('cuda', 'recursive'), ('glsl', 'host')})
        self.assertEqual(made['facts'], {**sample['facts'], 'vulkan:0': 'A GPU, Vulkan 1.4'})
        self.assertIn('slow', made['warnings'])

    def test_machines_stand_side_by_side(self):
        """Those of docs/results/ that are GPUs: with one of them, and with others, there is nothing to compare."""
        def submission(gpu, factor):
            rows = [{**row, 'seconds': factor * row['seconds']} for row in self.sample()['rows'] if row['group'] == 'rungs']
            return {'facts': {'GPU': f'{gpu}, of a kind'}, 'warnings': [], 'rows': rows}
        first, second, cpu = submission('NVIDIA A 80GB', 1), submission('B', 2), {'facts': {'processor': 'C'}, 'warnings': [], 'rows': []}
        self.assertEqual(tables.machines_block([first, cpu]), '')
        text = tables.machines_block([first, cpu, second])
        heading, _, *rows = formats.read_markdown_tables(text)[0]
        self.assertEqual(heading[1:5], ['NVIDIA A 80GB, 4 Mi', 'NVIDIA A 80GB, 32 Mi', 'B, 4 Mi', 'B, 32 Mi'])
        times = [float(next(row for row in rows if row[0] == '`halving`')[i].split()[0]) for i in (1, 3)]
        self.assertAlmostEqual(times[1] / times[0], 2, 1)
        self.assertEqual(chinese.translate('| shuffles | `grid-stride` to `shuffle` | 1.3 |'), '| 洗牌 | `grid-stride` 到 `shuffle` | 1.3 |')
        self.assertEqual(chinese.translate('The times spread by at most 22% of the median, 7 of 32 by more than 5.0%.'),
                         '时间的离散至多是中位数的 22%，32 个里有 7 个超过 5.0%。')
        self.assertIn('| 级 | NVIDIA A 80GB，4 Mi |', chinese.translate(text))

    def test_shaders_elsewhere(self):
        def submission(gpu, languages):
            rows = [{**row, 'group': 'rungs', 'language': language} for row in self.sample()['rows'] if row['group'] == 'rungs' for language in languages]
            return {'facts': {'vulkan:0': f'{gpu}, Vulkan 1.3', 'date': '2026-11-26 01:02 UTC'}, 'warnings': [], 'rows': rows}
        three = submission('A GPU (of a kind)', ('glsl', 'hlsl', 'slang'))
        text = tables.shaders_block([submission('Another', ('glsl', 'hlsl')), three, submission('Known', ('slang',))], 'Known')
        self.assertEqual(re.findall('through Vulkan on (.*):', text), ['A GPU, 2026-11-26'])
        (heading, _, *rows), = formats.read_markdown_tables(text)
        self.assertEqual(heading, ['rung', *(f'{name}, {n}' for n in ('4 Mi', '32 Mi') for name in ('GLSL', 'HLSL', 'Slang'))])
        self.assertIn('`halving`', [row[0] for row in rows])
        self.assertEqual(tables.shaders_block([submission('Another', ('glsl',))], None), '')
        self.assertIn('f32 求和，每级用自己的收尾，经 Vulkan，在 A GPU 上，2026-11-26：', chinese.translate(text))

    # A command that says what it was asked for in place of measuring, fails for one type and never ends for another.
    PRETENDER = '''#!/bin/sh
        echo "$*" >>"$LOG"
        case "$*" in
            *vulkan*:0*--rounds\\ 1*) [ -n "$WITH_VULKAN" ]; exit ;;
            *--type\\ i32*) exit 2 ;;
            *--type\\ f64*--specimens*) sleep 60 ;;
            *--submit-file*) while [ $# -gt 1 ]; do [ "$1" = --submit-file ] && echo '{"format": "it"}' >"$2"; shift; done ;;
        esac
        echo '{"rows": []}'
    '''

    def measure(self, folder, *parts, **environment):
        """What scripts/measure-ladder does with such a command: what it says, the files, the command's arguments."""
        program, out, log = (os.path.join(folder, name) for name in ('reduct', 'out', 'log'))
        with open(program, 'w', encoding='utf-8') as file:
            file.write(self.PRETENDER)
        os.chmod(program, 0o755)
        run = subprocess.run([os.path.join(DOCS, '..', 'scripts', 'measure-ladder'), folder, *parts], stdout=subprocess.PIPE, text=True,
                             env={**os.environ, 'OUT': out, 'LOG': log, 'LIMIT': '2', 'NODE': program, **environment}, timeout=60)
        return run, {name for name in os.listdir(out) if name.endswith('.json')}, read(log)

    def test_measuring_goes_on_after_what_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            run, files, asked = self.measure(folder)
        self.assertEqual(run.returncode, 1)
        self.assertIn('ladder-i32: NOT MEASURED, status 2', run.stdout)
        self.assertRegex(run.stdout, 'ladder-f64: NOT MEASURED, status 124')
        self.assertIn('Vulkan: not measured', run.stdout)
        self.assertIn('ladder-f32.json', files)
        self.assertFalse(files & {'ladder-i32.json', 'ladder-f64.json'})
        self.assertNotIn('--language', asked)

    def test_measuring_names_every_part(self):
        with tempfile.TemporaryDirectory() as folder:
            self.PRETENDER = self.PRETENDER.replace('exit 2', 'true').replace('sleep 60', 'true')
            run, files, asked = self.measure(folder, WITH_VULKAN='1', LIMIT='60')
        self.assertEqual(run.returncode, 0, run.stdout)
        parts = {part + '.json' for names in adopt.PARTS.values() for part in names}
        self.assertEqual(files, parts | set(adopt.SUBMISSIONS))
        self.assertIn('cuda:0,vulkan:0 --language all --n 4Mi,10Mi --type f32 --block 1024', asked)
        self.assertRegex(asked, 'web/tests/climb.js --rows --n 4Mi,10Mi --size 256,1024')
        self.assertRegex(asked, 'web/tests/climb.js --rows --n 1Mi,4Mi,10Mi,32Mi,256Mi --size 256')
        self.assertIn('vulkan:0 --n 1Mi,4Mi,10Mi,32Mi,256Mi --type f32 --rounds 7 --language all', asked)

    def test_parts_can_be_measured_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            run, files, _ = self.measure(folder, 'rows', 'ladder-f32', WITH_VULKAN='1', LIMIT='60')
            self.assertEqual((run.returncode, files), (0, {'rows-f32.json', 'rows-f64.json', 'ladder-f32.json', adopt.SUBMISSIONS[0]}))
            os.mkdir(os.path.join(folder, 'experiments'))
            shutil.copy(os.path.join(folder, 'reduct'), os.path.join(folder, 'experiments', 'some_program'))
            run, files_now, asked = self.measure(folder, 'experiments')
            self.assertEqual((run.returncode, files_now - files), (0, {'experiments-some_program.json'}))
            self.assertEqual(asked.splitlines()[-1], '--json')
            run, files_now, _ = self.measure(folder, 'blocks', NODE='none', LIMIT='60')
            self.assertEqual((run.returncode, files_now - files), (0, {'experiments-some_program.json', 'blocks-256.json', 'blocks-1024.json'}))
            self.assertIn('WGSL: not measured', run.stdout)
            run, _, asked = self.measure(folder, 'row')
        self.assertEqual(run.returncode, 2)
        self.assertNotIn('NOT MEASURED', run.stdout)

    def test_what_is_said_of_them_is_so(self):
        run = subprocess.run([sys.executable, '-B', os.path.join(DOCS, 'ladder', 'claims.py')], stdout=subprocess.PIPE, text=True)
        self.assertEqual((run.returncode, run.stdout), (0, ''))

    def test_claims_can_be_untrue(self):
        report = claims.kept()
        for row in report.rungs:
            if row['name'] == 'vector-loads' and row['of_limit']:
                row['of_limit'] /= 3
        self.assertIn('looking-back: vector-loads is the step from half of the read limit to 84% at 32 Mi, and from 57% to 98% at 256 Mi', claims.untrue(report))

    def test_results_from_anywhere(self):
        """docs/results/: chart and entry of each file are as the script makes them."""
        kept = os.path.join(DOCS, 'results')
        with tempfile.TemporaryDirectory() as folder:
            for name in os.listdir(kept):
                if name.endswith(('.json', '.md')):
                    shutil.copy(os.path.join(kept, name), folder)
            subprocess.run([sys.executable, '-B', os.path.join(kept, 'chart.py'), folder], check=True)
            made = sorted(os.listdir(folder))
            self.assertEqual(made, sorted(name for name in os.listdir(kept) if name.endswith(('.json', '.md', '.svg'))))
            for name in made:
                self.assertEqual(read(folder, name), read(kept, name), name)
        self.assertTrue({'lavapipe.json', 'nvidia-h100-80gb-hbm3.json', 'nvidia-h200.json', 'swiftshader.json'} <= set(made))

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
