#!/usr/bin/env python3
"""Writes cuda.md beside this file from what was measured:

    reduct bench --device cuda:0 --json >cuda.json
    python3 results/results.py cuda cuda.json [FOLDER]
    python3 docs/benchmarks/cuda.py [FOLDER [FILE.md]]

results/cuda.csv is of an H200, results/h100/cuda.csv of an H100, from which cuda-h100.md is made.

The first table compares with the targets, which are stated here and nowhere else; whether one is met is computed. No figure
is typed by hand. Ratios are medians of the ratios of time within rounds, rates come from median times.
"""
import os
import re
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(FOLDER, '..', '..', 'results')
sys.path.insert(0, RESULTS)
import results  # noqa: E402

# Bytes per second of an H200, as NVIDIA states it, which the targets' shares are of; and what of it loads alone can read there.
H200, READABLE = 4.8e12, 0.968
nominal = H200
MI, GI = 1 << 20, 1 << 30
FLOATS = ('f64', 'f32')
HALVES = ('f16', 'bf16')
NARROW = ('i8', 'u8', 'i16', 'u16') + HALVES


# ----------------------------------------------------------------------------------------------------------------------
# What was measured
# ----------------------------------------------------------------------------------------------------------------------

class Case:
    """One comparison: the rows of one operator, type, kind of data, size, alignment and shape ('' for a whole array)."""

    def __init__(self, key):
        self.op, self.data, self.type, self.n, self.offset, self.shape, self.waited = key
        self.rows = {}

    def row(self, way):
        return self.rows.get(way)

    def ratio(self, name, way='exact'):
        row = self.row(way)
        return row and row.get(name)

    def own(self):
        """The row of the fast mode, which is that of the exact one where there is no other."""
        return self.row('fast') or self.row('exact')

    def bytes(self):
        return self.row('exact')['bytes']

    def label(self):
        data = '' if self.type not in FLOATS + HALVES else f', {self.data}'
        off = f', {self.offset} off' if self.offset else ''
        shape = f', {self.shape}' if self.shape else ''
        return f'{self.op} {self.type} {elements(self.n)}{data}{shape}{off}{", waited for" if self.waited else ""}'


def way_of(row):
    if row['variant'] == 'gpu_to_gpu':
        return 'gpu_to_gpu'
    if row['name'].startswith('CUB '):
        return 'peer'
    return 'sum' if row['variant'] == 'fast, same bytes' else row['variant']


def read_cases(report):
    cases = {}
    for row in report['rows']:
        op, data, shape, offset, waited = re.fullmatch(r'([\w+]+), (\w+) data(?:, ((?!\d+ off|waited for)[^,]+))?(?:, (\d+) off)?(, waited for)?', row['group']).groups()
        key = (op, data, row['type'], row['n'], int(offset or 0), shape or '', bool(waited))
        cases.setdefault(key, Case(key)).rows[way_of(row)] = row
    return [case for case in cases.values() if case.row('exact') and case.row('exact')['seconds']]


# ----------------------------------------------------------------------------------------------------------------------
# Text
# ----------------------------------------------------------------------------------------------------------------------

def elements(n):
    log = n.bit_length() - 1
    if n == 1 << log and log >= 10:
        return f'2^{log}'
    return f'{n}'


def size(count):
    for unit, scale in (('GiB', GI), ('MiB', MI), ('KiB', 1 << 10)):
        if count >= scale:
            return f'{count / scale:.3g} {unit}'
    return f'{count} B'


def micro(row):
    return f'{row["seconds"] * 1e6:.2f}' if row else ''


def gigabytes(row):
    return f'{row["bytes_per_second"] / 1e9:.0f}' if row else ''


def number(ratio, digits=2):
    return f'{ratio:.{digits}f}' if ratio else ''


def kernel(row):
    return f'`{row["note"].split(",")[0]}`' if row and row['note'] else ''


def table(headings, alignments, rows):
    lines = ['| ' + ' | '.join(headings) + ' |', '|' + '|'.join(alignments) + '|']
    return '\n'.join(lines + ['| ' + ' | '.join(cells) + ' |' for cells in rows]) + '\n'


# ----------------------------------------------------------------------------------------------------------------------
# Targets
# ----------------------------------------------------------------------------------------------------------------------

class Target:
    """`value` of a case against `limit` of it, either of which may be None: the target does not speak of the case."""

    def __init__(self, text, limit_text, value, limit, higher=False, form=number):
        self.text, self.limit_text, self.value, self.limit, self.higher, self.form = text, limit_text, value, limit, higher, form

    def judge(self, cases):
        """What is said of it: how many cases, how many meet it, and the worst: the nearest to its limit, or beyond."""
        seen = []
        for case in cases:
            limit = self.limit(case)
            value = self.value(case) if limit else None
            if value:
                seen.append((value / limit if self.higher else limit / value, value, limit, case))
        if not seen:
            return 'not measured', '', ''
        met = sum(share >= 1 for share, *_ in seen)
        _, value, limit, case = min(seen, key=lambda item: item[0])
        verdict = 'met' if met == len(seen) else f'**missed** by {len(seen) - met} of {len(seen)}'
        return verdict, f'{self.form(value)} ({self.form(limit)})', case.label()


def columns(case):
    """Of a matrix: 64 of 'rows of 64', 1024 of '2^10 columns' and '1 Ki columns'."""
    base, power, unit = re.search(r'(\d+)(?:\^(\d+))?(?: ([KMG])i)?', case.shape).groups()
    return int(base) ** int(power or 1) << {None: 0, 'K': 10, 'M': 20, 'G': 30}[unit]


def percent(share):
    return f'{100 * share:.1f}%'


def yardstick(facts):
    """What shares are of: as much beyond what loads can read there, which differs by some percent between H200s, too."""
    if 'read limit' not in facts:
        return H200
    return float(facts['read limit'].split()[0]) * 1e9 / READABLE


def yardstick_text():
    return f'{nominal / 1e12:.2f}'.rstrip('0') + ' TB/s'


def share(row):
    return row['bytes_per_second'] / nominal


def bandwidth(case):
    return share(case.own())


def bandwidth_limit(offset):
    def limit(case):
        if case.shape or case.waited or case.op not in ('sum', 'min', 'max') or case.bytes() < GI or bool(case.offset) != offset or case.data in ('wide', 'full'):
            return None
        if case.type in HALVES and case.op == 'sum':
            return None
        if case.type in NARROW:
            return 0.95 if case.bytes() >= 4 * GI else 0.93
        return 0.97 if case.bytes() >= 4 * GI else 0.95
    return limit


def is_sum(case, data=('normal', 'uniform')):
    return case.op == 'sum' and case.type in FLOATS and case.offset == 0 and case.data in data and not case.shape and not case.waited


def fast_to_cub(case):
    if not is_sum(case):
        return None
    for least, limit in ((1 << 27, 1.00), (1 << 24, 0.98), (1 << 22, 0.9), (1 << 14, 0.6)):
        if case.n >= least:
            return limit
    return 0.85


def exact_to_fast(case):
    if not is_sum(case) or case.n <= 1 << 20:
        return None
    if case.n >= 1 << 28:
        return 1.01 if case.type == 'f64' else 1.02
    return 1.15 if case.n >= 1 << 23 else 1.25


def extra_microseconds(case):
    """At least a nanosecond, so that what is no slower counts."""
    fast = case.row('fast')
    return fast and max((case.row('exact')['seconds'] - fast['seconds']) * 1e6, 1e-3)


def to_sum_limit(case):
    if case.bytes() < GI or case.offset or case.shape:
        return None
    return {'var': 1.3}.get(case.op, 1.05 if case.op in ('min', 'max', 'argmin', 'argmax', 'dot', 'norm2') else None)


def rows_to_cub(case):
    if case.op != 'sum' or case.type != 'f32' or case.data != 'normal' or not case.shape.startswith('rows'):
        return None
    return 1.0 if columns(case) < 4096 else 1.02


def halves_limit(case):
    if case.op != 'sum' or case.type not in HALVES or case.data != 'normal' or case.offset or case.n < 1 << 28 or 'groups' in case.shape or 'segments' in case.shape:
        return None
    return 1 / 1.5 if case.shape.startswith('rows') and columns(case) < 256 else 1 / 1.2


TARGETS = (
    Target('fast sum, min, max of every type, share of {}, aligned', '95% at 1 GiB, 97% from 4 GiB; types of 1 and 2 bytes 93%, 95%',
           bandwidth, bandwidth_limit(False), higher=True, form=percent),
    Target('the same, one element off', 'the same', bandwidth, bandwidth_limit(True), higher=True, form=percent),
    Target('fast f32 and f64 sum against CUB Sum', '1.00 above 2^26, 0.98 from 2^24, 0.9 from 2^22, 0.6 from 2^14, 0.85 below',
           lambda case: case.ratio('to_peer', 'fast'), fast_to_cub),
    Target('exact f64 and f32 sum against own fast', '1.01 (f64), 1.02 (f32) from 2^28; 1.15 from 2^23, 1.25 from 2^22',
           lambda case: case.ratio('to_fast'), exact_to_fast, form=lambda ratio: number(ratio, 3)),
    Target('the same, microseconds more', '2 up to 2^20', extra_microseconds,
           lambda case: 2 if is_sum(case) and case.n <= 1 << 20 else None),
    Target('exact sum against CUB Sum', 'faster up to 2^20', lambda case: case.ratio('to_peer'),
           lambda case: 1.0 if is_sum(case) and case.n <= 1 << 20 else None),
    Target('exact and fast sums that are waited for against CUB Sum and its wait', 'never slower',
           lambda case: max(case.ratio('to_peer') or 0, case.ratio('to_peer', 'fast') or 0),
           lambda case: 1.0 if case.waited else None, form=lambda ratio: number(ratio, 3)),
    Target('exact sum against CUB gpu_to_gpu', 'faster at every size', lambda case: case.ratio('to_gpu_to_gpu'),
           lambda case: 1.0 if is_sum(case) else None),
    Target('exact min, max, argmin, argmax, dot, norm2, variance of every type against the fast sum of the same bytes',
           '1.05; variance 1.3', lambda case: case.ratio('to_sum'), to_sum_limit,
           form=lambda ratio: number(ratio, 3)),
    Target('exact sum over 60 binades against own fast', '1.05 (f64), 1.35 (f32)', lambda case: case.ratio('to_fast'),
           lambda case: {'f64': 1.05, 'f32': 1.35}[case.type] if is_sum(case, ('wide',)) else None),
    Target('exact sum over every exponent, share of {}', '15% (f64), 30% (f32)',
           lambda case: share(case.row('exact')),
           lambda case: {'f64': 0.15, 'f32': 0.30}[case.type] if is_sum(case, ('full',)) else None, higher=True, form=percent),
    Target("exact sums of rows of f32 against CUB's segmented sums", '1.00; 1.02 for rows of 4096 and more',
           lambda case: case.ratio('to_peer'), rows_to_cub),
    Target('exact sum of f16 and bf16 from 2^28, of rows and columns too, share of {}', '83%; rows of less than 256 67%',
           lambda case: share(case.row('exact')), halves_limit, higher=True, form=percent),
)


def target_table(cases, facts):
    rows = []
    for target in TARGETS:
        verdict, worst, where = target.judge(cases)
        if 'gpu_to_gpu' in target.text and 'gpu_to_gpu determinism is not in this CCCL' in facts.get('CUB', ''):
            verdict = 'not in this CCCL'
        rows.append((target.text.format(yardstick_text()), target.limit_text, verdict, worst, where))
    return table(('what', 'target', '', 'nearest to its limit, or beyond (the limit)', 'where'), ('---',) * 5, rows)


# ----------------------------------------------------------------------------------------------------------------------
# Tables
# ----------------------------------------------------------------------------------------------------------------------

def sums_by_size(cases):
    chosen = sorted((case for case in cases if is_sum(case) and case.n == 1 << (case.n.bit_length() - 1) and case.row('fast')),
                    key=lambda case: (FLOATS.index(case.type), case.n))
    rows = [(case.type, elements(case.n), micro(case.row('exact')), micro(case.row('fast')), micro(case.row('peer')),
             gigabytes(case.row('exact')), gigabytes(case.row('fast')), gigabytes(case.row('peer')),
             number(case.ratio('to_fast'), 3), number(case.ratio('to_peer'), 3), number(case.ratio('to_peer', 'fast'), 3),
             number(case.ratio('to_gpu_to_gpu'), 3)) for case in chosen]
    headings = ('type', 'elements', 'exact µs', 'fast µs', 'CUB µs', 'exact GB/s', 'fast GB/s', 'CUB GB/s', 'exact/fast', 'exact/CUB',
                'fast/CUB', 'exact/gpu_to_gpu')
    columns = len(headings) if any(row[-1] for row in rows) else len(headings) - 1
    return table(headings[:columns], ('---',) + ('---:',) * (columns - 1), [row[:columns] for row in rows])


def waited_sums(cases):
    chosen = sorted((case for case in cases if case.waited), key=lambda case: (FLOATS.index(case.type), case.n))
    rows = [(case.type, elements(case.n), micro(case.row('exact')), micro(case.row('fast')), micro(case.row('peer')),
             micro(case.row('gpu_to_gpu')), number(case.ratio('to_peer'), 3), number(case.ratio('to_peer', 'fast'), 3)) for case in chosen]
    return table(('type', 'elements', 'exact µs', 'fast µs', 'CUB µs', 'gpu_to_gpu µs', 'exact/CUB', 'fast/CUB'), ('---',) + ('---:',) * 7, rows)


def other_data(cases):
    chosen = [case for case in cases if is_sum(case, ('wide', 'full'))]
    names = {'wide': '60 binades', 'full': 'every exponent'}
    rows = [(names[case.data], case.type, elements(case.n), micro(case.row('exact')), micro(case.row('fast')),
             gigabytes(case.row('exact')), percent(share(case.row('exact'))), number(case.ratio('to_fast'), 3),
             number(case.ratio('to_peer'), 3), kernel(case.row('exact'))) for case in chosen]
    return table(('data', 'type', 'elements', 'exact µs', 'fast µs', 'exact GB/s', 'of ' + yardstick_text(), 'exact/fast', 'exact/CUB', 'kernel'),
                 ('---', '---') + ('---:',) * 7 + ('---',), rows)


def all_types(cases):
    chosen = [case for case in cases if case.op in ('sum', 'min', 'max') and case.bytes() >= GI and not case.shape and
              case.data not in ('wide', 'full')]
    rows = []
    for case in sorted(chosen, key=lambda case: (case.op, case.type, case.bytes(), case.offset)):
        own = case.own()
        rows.append((case.op, case.type, size(case.bytes()), str(case.offset), micro(own), gigabytes(own), percent(bandwidth(case)),
                     percent(own['of_limit']) if own['of_limit'] else '', number(own['to_peer'], 3), kernel(own)))
    return table(('op', 'type', 'bytes', 'off', 'µs', 'GB/s', 'of ' + yardstick_text(), 'of read limit', 'to CUB', 'kernel'),
                 ('---', '---') + ('---:',) * 7 + ('---',), rows)


def operators(cases):
    chosen = [case for case in cases if case.op != 'sum' and case.bytes() >= GI and case.offset == 0 and case.bytes() <= 2 * GI and
              not case.shape]
    rows = []
    for case in sorted(chosen, key=lambda case: (case.op, case.type, case.bytes())):
        exact = case.row('exact')
        rows.append((case.op, case.type, size(case.bytes()), micro(exact), micro(case.row('fast')), gigabytes(exact),
                     number(case.ratio('to_sum'), 3), number(case.ratio('to_sum', 'fast'), 3), number(case.ratio('to_peer'), 3),
                     kernel(exact)))
    return table(('op', 'type', 'bytes', 'exact µs', 'fast µs', 'exact GB/s', 'exact/sum', 'fast/sum', 'exact/CUB', 'kernel'),
                 ('---', '---') + ('---:',) * 7 + ('---',), rows)


def matrices(cases):
    chosen = [case for case in cases if case.shape]
    order = sorted(chosen, key=lambda case: (case.op != 'sum', case.op, case.type, case.data != 'normal', case.data,
                                             not case.shape.startswith('rows'), columns(case)))
    rows = [(case.op, case.type, case.data, case.shape, micro(case.row('exact')), micro(case.row('peer')), gigabytes(case.row('exact')),
             percent(share(case.row('exact'))), number(case.ratio('to_sum'), 3), number(case.ratio('to_peer'), 3),
             kernel(case.row('exact'))) for case in order]
    return table(('op', 'type', 'data', 'shape', 'exact µs', 'CUB µs', 'exact GB/s', 'of ' + yardstick_text(), 'exact/sum', 'exact/CUB', 'kernel'),
                 ('---',) * 4 + ('---:',) * 6 + ('---',), rows)


def page(report):
    global nominal
    cases, facts = read_cases(report), report['facts']
    nominal = yardstick(facts)
    verdicts = [row['verdict'] for row in report['rows']]
    shown = ('GPU', 'GPU memory', 'nominal bandwidth', 'read limit', 'driver', 'CUB', 'processor', 'system', 'compiler', 'date', 'program',
             'data', 'time', 'rounds')
    lines = ['# Exact sums on a GPU', '',
             'Made by `docs/benchmarks/cuda.py` from `results/`, which keeps what `reduct bench --device cuda:0` wrote. In each round',
             'of a case the exact result, the fast one, CUB\'s and the fast sum of the same bytes take turns on the same data in device memory;',
             'times are medians, ratios medians of the ratios within rounds.', '']
    lines += [f'- {name}: {facts[name]}' for name in shown if name in facts]
    if nominal != H200:
        lines += [f'- shares are of {yardstick_text()}: of that loads can read {READABLE}, as of the 4.8 TB/s of an H200']
    lines += [f'- **warning:** {warning}' for warning in report['warnings']]
    told = {'right': 'right', 'within bound': 'within bound', 'wrong': 'wrong',
            'unchecked': 'unchecked: overflowed on the way, which no bound covers'}
    lines += ['- results: ' + ', '.join(f'{verdicts.count(word)} {text}' for word, text in told.items()
                                        if word in verdicts or word in ('right', 'wrong'))]
    lines += [f'- **wrong:** {row["name"]} {row["variant"]}, {row["type"]}, {elements(row["n"])} elements, {row["group"]}: '
              f'{row["got"]}, not {row["expected"]}' for row in report['rows'] if row['verdict'] == 'wrong'] + ['']
    for heading, text in (('Targets', target_table(cases, facts)), ('Sums by size', sums_by_size(cases)),
                          ('Sums, each waited for', waited_sums(cases)),
                          ('Sums of other data', other_data(cases)),
                          ('Sums, minima and maxima of all types, aligned and not', all_types(cases)),
                          ('Other operators', operators(cases)), ('Rows and columns', matrices(cases))):
        if heading != 'Rows and columns' or any(case.shape for case in cases):
            lines += [f'## {heading}', '', text]
    return '\n'.join(lines)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else RESULTS
    made = page(results.read('cuda', folder))
    with open(sys.argv[2] if len(sys.argv) > 2 else os.path.join(FOLDER, 'cuda.md'), 'w', encoding='utf-8') as file:
        file.write(made.rstrip('\n') + '\n')


if __name__ == '__main__':
    main()
