"""What the tests of reports share: running programs, and reading what they print as a stranger would."""
import csv
import html.parser
import io
import json
import os
import re
import subprocess
import sys

REDUCT, SAMPLE = (os.path.abspath(path) for path in sys.argv[1:3])

FIELDS = ['group', 'name', 'variant', 'type', 'device', 'language', 'n', 'bytes', 'block', 'seconds', 'spread',
          'bytes_per_second', 'of_limit', 'of_nominal', 'speedup', 'to_plain', 'to_fast', 'to_peer', 'to_gpu_to_gpu', 'to_sum', 'verdict', 'expected', 'got',
          'ulp', 'registers', 'shared_bytes', 'occupancy', 'bank_conflicts', 'shared_transactions', 'divergence', 'active_lanes', 'note']
VERDICTS = {'right', 'within bound', 'wrong', 'lucky', 'not run', 'unchecked'}


def run(*arguments, environment=None):
    return subprocess.run(arguments, capture_output=True, env={**os.environ, **(environment or {})}, timeout=280)


def output(*arguments):
    """Standard output, as text with its line ends, of a run that must succeed."""
    result = run(*arguments)
    if result.returncode != 0:
        raise AssertionError(f'{arguments} returned {result.returncode}: {result.stderr.decode()}')
    return result.stdout.decode('utf-8')


def read_json(text):
    def refuse(constant):
        raise AssertionError(f'{constant} is not JSON')
    return json.loads(text, parse_constant=refuse)


def read_csv(text):
    """Rows as dictionaries, after checking the form of RFC 4180: CRLF after each record, quotes doubled."""
    assert text.endswith('\r\n')
    assert '\n' not in re.sub(r'"(?:[^"]|"")*"', '', text).replace('\r\n', '')
    return list(csv.DictReader(io.StringIO(text, newline=''), strict=True))


def read_markdown_tables(text):
    """Each table as a list of rows of cells, after checking that its rows have as many cells as its heading."""
    tables, table = [], None
    for line in text.split('\n'):
        if not line.startswith('|'):
            table = None
            continue
        cells = [cell.strip() for cell in re.split(r'(?<!\\)\|', line)[1:-1]]
        if table is None:
            table = [cells]
            tables.append(table)
        else:
            assert len(cells) == len(table[0]), line
            table.append(cells)
    return tables


class Page(html.parser.HTMLParser):
    """A page: every element must be closed, in order; collects tags, attributes and text."""
    VOID = {'meta', 'br', 'link', 'img', 'hr', 'input'}

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], ''
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        if 'style' not in self.open:
            self.text += data


def read_charts(text):
    """The bars of a page: a list per chart of its rows, each with its label, ratio and verdict as they are read."""
    def words(row, name):
        found = re.search(rf'<span class="[^"]*\b{name}">(.*?)</span>', row)
        return re.sub(r'<[^>]+>', '', found.group(1)) if found else None
    charts = []
    for chart in re.findall(r'<div class="bars".*?\n</div>\n', text, flags=re.S):
        rows = re.findall(r'<div class="row ([^"]*)">(<span class="label">.*)</div>\n', chart)
        charts.append([{'class': kind, **{name: words(row, name) for name in ('label', 'ratio', 'verdict')}} for kind, row in rows])
    return charts


def check_page(text):
    """A page that needs nothing but itself: nothing is fetched, nothing runs."""
    page = Page(text)
    assert text.startswith('<!DOCTYPE html>')
    for tag in ('script', 'link', 'img', 'iframe', 'object', 'embed', 'base', 'form', 'audio', 'video', 'source'):
        assert tag not in page.tags, tag
    for name, value in page.attributes:
        assert name not in ('src', 'href', 'srcset', 'action', 'background', 'xlink:href'), (name, value)
        assert not name.startswith('on'), (name, value)
    assert 'url(' not in text and '@import' not in text
    assert not re.search(r'(https?:)?//[a-z]', text), 'an address'
    assert 'prefers-color-scheme' in text
    assert 'width=device-width' in text
    assert not re.search(r'\b(nan|inf)\b', text, re.IGNORECASE)
    for percent in re.findall(r'(?:left|bottom|width):(-?[0-9.]+)%', re.sub(r'<style>.*?</style>', '', text, flags=re.S)):
        assert -100 <= float(percent) <= 100.01, percent
    return page
