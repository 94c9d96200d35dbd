#!/usr/bin/env python3
"""Puts measured results into the chapters of the ladder, in both languages, from what results/ keeps:

    ladder      every rung, finish, type, size and language
    numbers     the rungs of the CPU and of the GPU on data that cancel
    rows        the ladder of rows
    groups      the ladder of groups
    profile     what the profiler counts
    blocks      rungs in blocks of 256 and of 1024 threads, in every language
    experiments what single programs have measured to explain a cell; ladder/single/banks.cu and ladder/experiments/

all but the last by one run of scripts/measure-ladder, which results/adopt.py puts there; from docs/results/, what is known of other
machines; and from sass.json beside this file, which is of python3 docs/ladder/sass.py >docs/ladder/sass.json. (languages: an older
run of all languages, where ladder has CUDA's alone.)

Run it again whenever one of them changes: python3 docs/ladder/tables.py. It replaces what stands between
`<!-- results:NAME -->` and `<!-- /results:NAME -->`, leaves it empty where there is nothing to report, and draws
bandwidth.svg. No figure is typed by hand.
"""
import glob
import json
import os
import re
import sys

import chapters
import chinese
import draw

FOLDER = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(FOLDER, '..', '..', 'results')
sys.path[:0] = [RESULTS, os.path.join(FOLDER, '..', '..', 'ladder')]
import lists  # noqa: E402
import results  # noqa: E402
TYPES = ('i32', 'f32', 'f64')
FINISHES = tuple(lists.FINISHES)

# The finish that a rung is run with unless another is asked for.
OWN_FINISH = {name: rung['finish'] for name, rung in lists.RUNGS['gpu'].items()}


def step_finish(name):
    """The finish with which a rung is compared with the one before it: the same for both, but where the finish is the step."""
    return 'last-block' if OWN_FINISH[name] == 'last-block' else 'second-launch'


# Published seconds, by source: what each step bought in its day. Two cover most of the ladder.
PUBLISHED = {name: lists.SOURCES[name]['seconds'] for name in ('Harris 2007', 'V100 notes')}


# ----------------------------------------------------------------------------------------------------------------------
# Numbers as text
# ----------------------------------------------------------------------------------------------------------------------

def digits(value):
    """Three significant digits, without an exponent."""
    if value >= 99.95:
        return f'{value:.0f}'
    if value >= 9.995:
        return f'{value:.1f}'
    return f'{value:.2f}' if value >= 0.0995 else f'{value:.2g}'


def time(seconds):
    if not seconds:
        return ''
    if seconds < 0:
        return '-' + time(-seconds)
    for unit, scale in (('ns', 1e-9), ('µs', 1e-6), ('ms', 1e-3), ('s', 1)):
        if seconds < 999.5 * scale or unit == 's':
            return f'{digits(seconds / scale)} {unit}'


def rate(bytes_per_second):
    return digits(bytes_per_second / 1e9) if bytes_per_second else ''


def spread(row):
    """Half the distance between the quartiles of the times, as a share of the median."""
    return '' if row['spread'] is None else f'{100 * row["spread"]:.1f}%'


def percent(share):
    return '' if share is None else f'{100 * share:.{1 if share < 0.0995 else 0}f}%'


def elements(n):
    for unit in ('', ' Ki', ' Mi', ' Gi'):
        if n % 1024 or not n:
            return f'{n}{unit}'
        n //= 1024
    return f'{n} Ti'


def ulps(row):
    """An error as the command writes it."""
    ulp = row['ulp']
    if ulp is None:
        return ''
    if ulp >= 999999.5:
        return f'{ulp:.2g}'
    return f'{ulp:.{0 if ulp % 1 == 0 or ulp >= 9.95 else 1 if ulp >= 0.995 else 2}f}'


# Times that spread by more than that are named: as in ladder/gpu.h, whose warning counts them.
NOISY = 0.05
COUNTED = re.compile(r'the times of (\d+) of (\d+) rows spread by more than ')

def steadiness(rows, named=None):
    """How steady the times of a table are, as a sentence below it; with what `named` calls the rows whose times are not."""
    known = [row['spread'] for row in rows if row and row['seconds'] and row['spread'] is not None]
    if not known:
        return ''
    noisy = sum(spread > NOISY for spread in known)
    more = f', {noisy} of {len(known)} by more than {percent(NOISY)}' if noisy else ''
    if noisy and named:
        more += ': ' + '; '.join(f'{named(row)} ({spread(row)})' for row in rows if row['seconds'] and (row['spread'] or 0) > NOISY)
    return f'\nThe times spread by at most {percent(max(known))} of the median{more}.\n'


# What is as its method promises: the words are those of report/report.h.
GOOD = ('right', 'within bound')


def outcome(row):
    texts = {'wrong': f'**wrong**: expected {row["expected"]}, got {row["got"]}', 'lucky': 'right here, by luck: not guaranteed'}
    error = f', {ulps(row)} ulp' if row['verdict'] in GOOD and row['ulp'] is not None else ''
    text = texts.get(row['verdict'], row['verdict'] + error)
    note = row['note']
    return text if not note or note == text else f'{text}; {note}'


def table(heading, rows, numbers=()):
    """Markdown; columns named in `numbers` are aligned to the right, and empty columns are left out."""
    kept = [i for i in range(len(heading)) if any(row[i] for row in rows)]
    lines = ['| ' + ' | '.join(heading[i] for i in kept) + ' |',
             '|' + '|'.join('---:' if heading[i] in numbers else '---' for i in kept) + '|']
    for row in rows:
        lines.append('| ' + ' | '.join(str(row[i]).replace('|', '\\|') for i in kept) + ' |')
    return '\n'.join(lines) + '\n'


# ----------------------------------------------------------------------------------------------------------------------
# What a report holds
# ----------------------------------------------------------------------------------------------------------------------

# Languages other than a device's own, in the order in which tables show them.
SHADERS = {'glsl': 'GLSL', 'hlsl': 'HLSL', 'slang': 'Slang', 'wgsl': 'WGSL'}


class Report:
    """The rows of one language of shaders, or those of none: CUDA's, and the CPU's."""
    def __init__(self, report, language=None, profile=None):
        self.whole = report
        self.rows = [row for row in report['rows']
                     if (row['language'] == language if language else row['language'] not in SHADERS)]
        self.facts = report['facts']
        self.warnings = report['warnings']
        self.rungs = self.group('rungs')
        self.sizes = sorted({row['n'] for row in self.rungs})
        self.names = list(dict.fromkeys(row['name'] for row in self.rungs))
        self.profile = {row['name']: row for row in profile['rows'] if row['shared_transactions'] is not None} if profile else {}

    def group(self, name):
        return [row for row in self.rows if row['group'] == name]

    def own(self, name, kind, n):
        """A rung with the finish that is its own, or with the only one there is; None if it was not run, or is wrong."""
        rows = [row for row in self.rungs
                if (row['name'], row['type'], row['n']) == (name, kind, n) and row['verdict'] in GOOD and row['seconds']]
        own = [row for row in rows if row['variant'] == OWN_FINISH.get(name)]
        return own[0] if own else rows[0] if len(rows) == 1 else None

    def before(self, name):
        """The rung that it starts from, or where that was not measured the one that that starts from; None below the first."""
        below = lists.RUNGS['gpu'][name]['before']
        while below and below not in self.names:
            below = lists.RUNGS['gpu'][below]['before']
        return below

    def compared(self, name, kind, n):
        """A rung with the finish with which steps are compared, or with the only one that it has."""
        rows = [row for row in self.rungs
                if (row['name'], row['type'], row['n']) == (name, kind, n) and row['verdict'] in GOOD and row['seconds']]
        same = [row for row in rows if row['variant'] == step_finish(name)]
        return same[0] if same else self.own(name, kind, n)

    def profiled(self, name):
        """A rung as the profiler saw it, f32 with its own finish; where it did not, as it was timed."""
        return self.profile.get(name) or self.own(name, 'f32', self.sizes[-1])

    def gain(self, name, kind, n):
        """How many times faster a rung is than the one that it starts from; None where that is not known."""
        here, below = self.compared(name, kind, n), self.before(name) and self.compared(self.before(name), kind, n)
        return below['seconds'] / here['seconds'] if here and below else None

    def step(self, name, kind, n):
        gain = self.gain(name, kind, n)
        return '' if gain is None else digits(gain)

    def device(self):
        """The name of the machine alone."""
        return (self.facts.get('GPU') or self.facts.get('processor') or 'this machine').split(',')[0]

    def where(self):
        """The machine and the circumstances."""
        parts = [self.facts.get('GPU') or self.facts.get('processor') or '']
        parts += [f'{name} {self.facts[name]}' for name in ('driver', 'date') if name in self.facts]
        return '; '.join(part for part in parts if part)


def rung_block(report, name):
    rows = []
    for n in report.sizes:
        of = {kind: report.own(name, kind, n) for kind in TYPES}
        f32 = of['f32']
        if not any(of.values()):
            continue
        rows.append([elements(n), *(time(of[kind] and of[kind]['seconds']) for kind in TYPES),
                     f32 and spread(f32) or '', f32 and rate(f32['bytes_per_second']) or '', f32 and percent(f32['of_limit']) or '',
                     report.step(name, 'f32', n), f32 and ulps(f32) or ''])
    if not rows:
        return ''
    finish, before = step_finish(name), report.before(name)
    heading = ['elements', 'i32', 'f32', 'f64', '± f32', 'f32 GB/s', 'of the read limit', f'× `{before}`', 'f32 error, ulp']
    compared = ''
    if before and (finish, step_finish(before)) != (OWN_FINISH[name], OWN_FINISH[before]):
        compared = f' The comparison with `{before}` is of both with the finish `{finish}`.'
    used = next(row['variant'] for n in report.sizes for kind in TYPES if (row := report.own(name, kind, n)))
    return (f'Measured on one {report.device()}, with the finish `{used or OWN_FINISH[name]}`.{compared}\n\n'
            + table(heading, rows, heading))


def before_block(report, name):
    """What a profile says of the rung that a rung starts from: the largest array that was profiled, f32."""
    before = report.before(name)
    row = before and report.profiled(before)
    if not row:
        return ''
    heading = ['time', 'GB/s', 'of the read limit', 'registers', 'shared bytes', 'occupancy', 'shared transactions',
               'bank conflicts', 'divergence', 'active lanes']
    timed = report.own(before, 'f32', row['n'])  # as in its own chapter: a profile's time is another run's
    if not timed or timed['variant'] != row['variant']:
        timed = row
    values = [time(timed['seconds']), rate(timed['bytes_per_second']), percent(timed['of_limit']),
              *counters(row, ('registers', 'shared_bytes', 'occupancy', 'shared_transactions', 'bank_conflicts', 'divergence',
                             'active_lanes'))]
    return (f'`{before}`, f32, {elements(row["n"])} elements, finish `{row["variant"]}`, on one {report.device()}:\n\n'
            + table(heading, [values], heading))


def summary_block(report):
    rows = []
    for name in report.names:
        of = [report.compared(name, 'f32', n) for n in report.sizes]
        if any(of):
            rows.append([f'`{name}`', *(time(row and row['seconds']) for row in of),
                         *(rate(row and row['bytes_per_second']) for row in of[-1:]),
                         *(percent(row and row['of_limit']) for row in of[-1:])])
    if not rows:
        return ''
    sizes = [elements(n) for n in report.sizes]
    heading = ['rung', *sizes, f'GB/s at {sizes[-1]}', 'of the read limit']
    return (f'![Bandwidth by rung](ladder/bandwidth.svg)\n\nf32 sums, every rung with the finish `second-launch`, those from `one-launch` on with `last-block`, '
            f'on {report.where()}:\n\n'
            + table(heading, rows, heading[1:]) + '\n' + quality(report))


# Said wherever the rung stands beside others that are launched one after the other.
LAUNCHES = '`exact` is launched with its blocks overlapping the launch before, like `overlapped-launch`, with which to compare it.'


def quality(report):
    """How steady the times of the summary are, and what the run warned of."""
    rows = [row for name in report.names for n in report.sizes if (row := report.compared(name, 'f32', n)) and row['spread'] is not None]
    wide = [f'`{row["name"]}` at {elements(row["n"])} ({spread(row)})' for row in rows if row['spread'] > NOISY]
    steady = max((row['spread'] for row in rows if row['spread'] <= NOISY), default=0)
    text = f'The times spread by at most {percent(steady)} of the median, half the distance between their quartiles'
    text += f'; but those of {", ".join(wide)}' if wide else ''
    return f'{text}. {LAUNCHES}\n' + unsteady(report) + warned(report)


def unsteady(report):
    """The rungs whose times spread by more than is usual, with every finish, type and language: what the run's warnings only count."""
    timed = [row for row in report.whole['rows'] if row['group'] == 'rungs' and row['seconds'] and row['spread'] is not None]
    wide = [row for row in timed if row['spread'] > NOISY]
    named = '; '.join(f'`{row["name"]}`, {SHADERS.get(row["language"], row["language"].upper())}, {row["type"]}, `{row["variant"]}`, {elements(row["n"])} ({spread(row)})'
                      for row in wide)
    return f'\nOf all {len(timed)} times of rungs, with every finish, type and language, {len(wide)} spread by more than {percent(NOISY)}: {named}.\n' if wide else ''


def warned(report):
    """What else the run warned of."""
    warnings = ''.join(f'\n- {warning}' for warning in report.warnings if not COUNTED.match(warning))
    return f'\nWarnings of the whole run:\n{warnings}\n' if warnings else ''


def machines_block(submissions, report=None):
    """GPUs of docs/results/ beside each other: f32 in CUDA, each rung with its own finish. What is of the report's own run is
    taken from the report: a submission has fewer digits, and would be rounded twice."""
    reports = {device: report if report and all(report.facts.get(fact) == submission['facts'].get(fact) for fact in ('GPU', 'date'))
               else Report({**submission, 'rows': [results.Row(row) for row in submission['rows']]})
               for submission in submissions if (device := submission['facts'].get('GPU', '').split(',')[0])}
    if len(reports) < 2:
        return ''
    sizes = sorted(set.intersection(*(set(report.sizes) for report in reports.values())))
    sizes = list(dict.fromkeys((sizes[0], sizes[-1]))) if sizes else []
    rows = []
    for name in dict.fromkeys(name for report in reports.values() for name in report.names):
        of = [[report.own(name, 'f32', n) for n in sizes] for report in reports.values()]
        if any(row for found in of for row in found):
            rows.append([f'`{name}`', *(time(row and row['seconds']) for found in of for row in found),
                         *(percent(found[-1] and found[-1]['of_limit']) for found in of)])
    heading = ['rung', *(f'{device}, {elements(n)}' for device in reports for n in sizes),
               *(f'{device}, of the read limit' for device in reports)]
    dates = {submission['facts']['GPU'].split(',')[0]: submission['facts'].get('date', '')[:10] for submission in submissions
             if submission['facts'].get('GPU')}
    when = ', '.join(f'{device} {dates[device]}'.strip() for device in reports)
    return (f'The same on different GPUs, f32 sums, each rung with its own finish (`recursive` up to `unrolled`, then `second-launch`, '
            'from `one-launch` on `last-block` or its own), each GPU with its own read limit; what was not there yet when it was '
            f'measured is empty ({when}):\n\n') + table(heading, rows, heading[1:]) + f'\n{LAUNCHES}\n' if rows else ''


def steps_block(report):
    """What each step bought, then and now."""
    rows = []
    for name in report.names:
        if not report.before(name):
            continue
        published = []
        for seconds in PUBLISHED.values():
            known = [rung for rung in report.names if rung in seconds]
            at = known.index(name) if name in known else 0
            published.append(digits(seconds[known[at - 1]] / seconds[name]) if at else '')
        rows.append([f'`{name}`', f'`{report.before(name)}`', f'`{step_finish(name)}`',
                     *(report.step(name, 'f32', n) for n in report.sizes), *published])
    if not any(row[3] for row in rows):
        return ''
    heading = ['rung', 'than', 'finish', *(f'{elements(n)}' for n in report.sizes), *PUBLISHED]
    return (f'How many times faster than the rung that it starts from: f32 on one {report.device()}, and as published (there, than '
            'the rung before in the same source). Both are measured with the finish that is named; only the step to `one-launch` is '
            'from `second-launch` to `last-block`, since the finish is what it changes. What `last-block` does to other rungs '
            'stands in the table of finishes; so does that the second launch takes long where a rung leaves very many sums, which the step to '
            '`grid-stride` gains by.\n\n' + table(heading, rows, heading[3:]))


def finishes_block(report):
    sizes = dict.fromkeys((4 << 20 if 4 << 20 in report.sizes else report.sizes[0], report.sizes[-1]))
    return '\n'.join(text for text in (finishes_at(report, n) for n in sizes) if text)


def finishes_at(report, n):
    rows, shown = [], []
    for name in report.names:
        found = {row['variant']: row for row in report.rungs
                 if (row['name'], row['type'], row['n']) == (name, 'f32', n) and row['seconds']}
        if len(found) > 1:
            shown += found.values()
            rows.append([f'`{name}`', *(time(found[f]['seconds']) if f in found else '' for f in FINISHES)])
    if not rows:
        return ''
    return (f'f32 sums of {elements(n)} elements on one {report.device()}:\n\n' + table(['rung', *FINISHES], rows, FINISHES)
            + steadiness(shown))


def mistake(row):
    """What came of a specimen, in a few words."""
    if row['verdict'] == 'wrong':
        return f'**wrong**: {row["got"]}, not {row["expected"]}'
    return {'lucky': 'right, by luck', 'not run': row['note'] or 'not run'}.get(row['verdict'], row['verdict'])


def specimens_block(report, only=None):
    """A row per specimen and way, a column per type; of several runs the first outcome, and whether others differed."""
    results = {}
    for row in report.group('specimens'):
        if only in (None, row['name']):
            outcomes = results.setdefault((row['name'], row['variant'] or ''), {}).setdefault(row['type'], [])
            if mistake(row) not in outcomes:
                outcomes.append(mistake(row))
    if not results:
        return ''
    def told(outcomes):
        return '' if not outcomes else outcomes[0] if len(outcomes) == 1 else outcomes[0] + ', or another number'
    rows = [[f'`{name}`', how, *(told(of.get(kind)) for kind in TYPES)] for (name, how), of in results.items()]
    return f'What happened on one {report.device()}:\n\n' + table(['specimen', 'how', *TYPES], rows)


def applications_block(report):
    """In every language."""
    rows, seen, shown = [], set(), []
    n = 4 << 20 if 4 << 20 in report.sizes else report.sizes[-1]
    for row in report.whole['rows']:
        key = row['name'], row['variant'], row['device'], row['language'], row['type']
        if row['group'] == 'applications' and row['n'] == n and row['name'] != 'texture' and key not in seen:
            seen.add(key)
            shown.append(row)
            rows.append([row['name'], row['variant'] or '', row['device'] or '', row['language'] or '', row['type'] or '',
                         time(row['seconds']), spread(row) if row['seconds'] else '', rate(row['bytes_per_second']), outcome(row)])
    if not rows:
        return ''
    heading = ['what', 'how', 'where', 'language', 'type', 'time', '±', 'GB/s', 'result']
    return (f'{elements(n)} elements, on one {report.device()}:\n\n' + table(heading, rows, heading[5:8])
            + steadiness(shown, lambda row: f'{row["name"]}, {row["type"]}, {row["variant"]}, {row["device"]}'))


def textures_block(run):
    """Sums of texels beside those of arrays, in every language of one run."""
    reports = {name: Report(run, key) for key, name in ((None, 'CUDA'), *SHADERS.items())}
    found = {(name, row['variant'], row['n']): row for name, report in reports.items() for row in report.group('applications')
             if row['name'] == 'texture' and row['verdict'] in GOOD and row['seconds']}
    if not found:
        return ''
    sizes = sorted({n for _, _, n in found})
    rows = []
    for name, how in dict.fromkeys((name, how) for name, how, _ in found):
        of = [found.get((name, how, n)) for n in sizes]
        rows.append([how, name, *(time(row and row['seconds']) for row in of), rate(of[-1] and of[-1]['bytes_per_second'])])
    heading = ['how', 'language', *(elements(n) for n in sizes), f'GB/s at {elements(sizes[-1])}']
    return (f'f32 sums of texels and of an array, on one {Report(run).device()}:\n\n' + table(heading, rows, heading[2:])
            + steadiness(found.values()))


def peers_block(report):
    """Other libraries by size, with the top of the ladder beside them."""
    peers = report.group('peers')
    if not peers:
        return ''
    rows = []
    for kind in TYPES:
        for name in dict.fromkeys(row['name'] for row in peers):
            of = {row['n']: row for row in peers if (row['name'], row['type']) == (name, kind)}
            if of:
                first = next(iter(of.values()))
                rows.append([f'{name} {first["variant"] or ""}'.strip(), kind,
                             *(time(of[n]['seconds']) if n in of else '' for n in report.sizes), first['note'] or ''])
        for name in ('one-launch', 'overlapped-launch', 'exact'):
            of = [name in report.names and report.own(name, kind, n) for n in report.sizes]
            if any(of):
                rows.append([f'`{name}`', kind, *(time(row['seconds']) if row else '' for row in of), ''])
    heading = ['what', 'type', *(elements(n) for n in report.sizes), 'note']
    return f'On one {report.device()}:\n\n' + table(heading, rows, heading[2:-1]) + steadiness(peers)


def cancelling_block(report):
    """The rungs of CPU and GPU on data that cancel."""
    rows = {}
    for row in report.rungs:
        if row['verdict'] in GOOD and row['seconds'] and row['type'] in ('f32', 'f64'):
            where = 'GPU' if row['language'] == 'cuda' else 'CPU'
            rows.setdefault((where, row['name']), {})[row['type']] = row
    if not rows:
        return ''
    lines = [[where, f'`{name}`', *(ulps(of[kind]) if kind in of else '' for kind in ('f32', 'f64'))]
             for (where, name), of in rows.items()]
    n = report.sizes[-1]
    return (f'Error of the sum of {elements(n)} numbers that cancel, in ulp of the sum, on {report.where()}:\n\n'
            + table(['where', 'rung', 'f32', 'f64'], lines, ('f32', 'f64')))


def numbers_block(report):
    n = report.sizes[-1]
    rows = []
    for name in report.names:
        of = {kind: report.own(name, kind, n) for kind in ('f32', 'f64')}
        if any(of.values()):
            rows.append([f'`{name}`', *(row and ulps(row) or '' for row in of.values())])
    if not rows:
        return ''
    return (f'Error of the sum of {elements(n)} numbers between 0 and 1, in ulp from the exact sum, each rung with its own finish, on one {report.device()}:\n\n'
            + table(['rung', 'f32', 'f64'], rows, ('f32', 'f64')))


def counters(row, names):
    """What compiler and profiler say of a kernel."""
    return [percent(row[name]) if name == 'occupancy' else '' if row[name] is None else
            f'{row[name]:,.0f}' if row[name] >= 10000 else f'{row[name]:g}' for name in names]


def hardware_block(report):
    names = ['block', 'registers', 'shared_bytes', 'occupancy', 'shared_transactions', 'bank_conflicts', 'divergence', 'active_lanes']
    rows = []
    for name in report.names:
        row = report.profiled(name)
        if row and row['registers'] is not None:
            rows.append([f'`{name}`', *counters(row, names)])
    if not rows:
        return ''
    heading = ['rung', *(field.replace('_', ' ') for field in names)]
    return f'f32, as compiled for {report.device()}:\n\n' + table(heading, rows, heading[1:])


def languages_block(languages):
    """The rungs in every language of one report: the time of its smallest size, the bandwidth of its largest."""
    reports = {name: Report(languages, key) for key, name in ((None, 'CUDA'), *SHADERS.items())}
    reports = {name: report for name, report in reports.items() if report.rungs}
    if len(reports) < 2:
        return ''
    small, large = (choose(*(choose(*report.sizes) for report in reports.values())) for choose in (min, max))
    rows, shown = [], []
    for name in dict.fromkeys(name for report in reports.values() for name in report.names):
        of = [[report.own(name, 'f32', n) for report in reports.values()] for n in dict.fromkeys((small, large))]
        if any(row for size in of for row in size):
            shown += [row for size in of for row in size]
            rows.append([f'`{name}`', *(time(row and row['seconds']) for row in of[0]),
                         *(rate(row and row['bytes_per_second']) for size in of[1:] for row in size),
                         *(percent(row and row['of_limit']) for row in of[-1])])
    heading = ['rung', *(f'{name}, {elements(small)}' for name in reports),
               *(f'{name}, GB/s at {elements(large)}' for name in reports if large > small),
               *(f'{name}, of the read limit' for name in reports)]
    first = next(iter(reports.values()))
    return (f'f32 sums, each rung with its own finish, on one {first.device()}; the read limit is the one measured through '
            'CUDA or Vulkan, respectively:\n\n' + table(heading, rows, heading[1:]) + steadiness(shown) + f'\nIn CUDA {LAUNCHES}\n')


def shaders_block(submissions, known):
    """The rungs that Slang has, in each language of shaders, on the devices of docs/results/ but the one whose figures stand in the
    tutorial anyhow."""
    texts = []
    for submission in submissions:
        facts, kept = submission['facts'], {**submission, 'rows': [results.Row(row) for row in submission['rows']]}
        reports = {name: report for key, name in SHADERS.items() if (report := Report(kept, key)).rungs}
        device = facts.get('GPU', facts.get('vulkan:0', '')).split(',')[0].split(' (')[0]
        if 'Slang' not in reports or device == known:
            continue
        sizes = sorted(set.intersection(*(set(report.sizes) for report in reports.values())))
        columns = [(name, n) for n in dict.fromkeys((sizes[0], sizes[-1])) for name in reports]
        rows, shown = [], []
        for rung in reports['Slang'].names:
            of = [reports[name].own(rung, 'f32', n) for name, n in columns]
            shown += [row for row in of if row]
            rows.append([f'`{rung}`', *(time(row and row['seconds']) for row in of)])
        heading = ['rung', *(f'{name}, {elements(n)}' for name, n in columns)]
        texts.append(f'f32 sums, each rung with its own finish, through Vulkan on {device}, {facts.get("date", "")[:10]}:\n\n'
                     + table(heading, rows, heading[1:]) + steadiness(shown))
    return '\n'.join(texts)


def windows_block(languages):
    """The exact rung in GLSL, by the window that its note names."""
    report = Report(languages, 'glsl')
    rows = {}
    for row in report.rungs:
        if row['name'] == 'exact' and row['seconds'] and row['verdict'] == 'right':
            rows.setdefault((row['note'] or '', row['type'], row['device']), {})[row['n']] = row
    if not rows:
        return ''
    lines = []
    for (note, kind, device), of in rows.items():
        last = of[max(of)]
        lines.append([kind, note or 'no window: integers', device or '',
                      *(time(of[n]['seconds']) if n in of else '' for n in report.sizes),
                      rate(last['bytes_per_second']), percent(last['of_limit'])])
    heading = ['type', 'how', 'device', *(elements(n) for n in report.sizes),
               f'GB/s at {elements(report.sizes[-1])}', 'of the read limit']
    return (f'Exact sums through Vulkan, on one {report.device()}:\n\n' + table(heading, lines, heading[3:])
            + steadiness(row for of in rows.values() for row in of.values()))


def lengthwise(report, kind, pattern, shares, shader=False, names=()):
    """A table of one type, of CUDA's kernels or those of shaders: a line for each rung, a column for each number that the pattern finds in the names of groups, and the shares of
    the read limit at some of them; then why a rung was not run, and how many elements there are. None where nothing was measured. `names`: of
    rungs that have a line though nothing was measured of them."""
    found = {}
    for row in report['rows']:
        number = re.fullmatch(pattern, row['group'])
        if number and row['type'] == kind and (row['language'] in SHADERS) == bool(shader):
            found.setdefault(row['name'], {})[int(number.group(1))] = row
    if not found:
        return None
    def good(of, n):
        return n in of and of[n]['verdict'] in GOOD
    numbers = sorted({n for of in found.values() for n in of})
    lines = [[f'`{name}`', *(time(of[n]['seconds']) if good(of, n) else '' for n in numbers),
              *(percent(of[n]['of_limit']) if good(of, n) else '' for n in shares)]
             for name, of in {**{name: {} for name in names}, **found}.items()]
    heading = ['rung', *(f'{n}' for n in numbers), *(f'of the read limit, {n}' for n in shares)]
    why = dict.fromkeys(f'`{name}`: {row["note"]}' for name, of in found.items() for row in of.values()
                        if row['verdict'] == 'not run' and row['note'])
    why.update(dict.fromkeys(f'`{name}`: newer than these figures' for name in names if name not in found))
    text = table(heading, lines, heading[1:]) + ''.join(f'\n{reason}.\n' for reason in why)
    text += steadiness(row for of in found.values() for row in of.values() if row['verdict'] in GOOD)
    return text, elements(next(iter(next(iter(found.values())).values()))['n'])


def rows_block(report):
    """Sums of rows: the time of each rung by the length of a row."""
    blocks = []
    for shader, language in ((False, ''), (True, ' in GLSL')):
        for kind in ('f32', 'f64'):
            made = lengthwise(report, kind, r'rows of (\d+)', (64, 4096), shader)
            if made:
                blocks.append(f'{kind}{language}, {made[1]} elements in rows of so many, on one {Report(report).device()}:\n\n{made[0]}')
    return '\n'.join(blocks)


def groups_block(report):
    """Sums by group: the time of each rung by the number of groups, for each order of keys."""
    blocks = []
    for kind in ('f32', 'f64'):
        for order in ('random', 'sorted'):
            made = lengthwise(report, kind, rf'(\d+) groups, {order} keys', (100, 1000000), names=lists.RUNGS['groups'])
            if made:
                blocks.append(f'{kind}, {made[1]} elements with {order} keys in so many groups, on one {Report(report).device()}:\n\n{made[0]}')
    return '\n'.join(blocks)


def sass_block(sass):
    if not sass:
        return ''
    columns = list(sass['kernels'][0]['counts'])
    rows = [[f'`{kernel["kernel"]}`', kernel['total'], *(kernel['counts'][column] or '·' for column in columns)]
            for kernel in sass['kernels']]
    return (f'Instructions in the machine code that {sass["compiler"]} makes for {sass["architecture"]}:\n\n'
            + table(['kernel', 'all', *columns], rows, ['all', *columns]))


# ----------------------------------------------------------------------------------------------------------------------
# What docs/ladder/cells.md explains
# ----------------------------------------------------------------------------------------------------------------------

# Rungs whose blocks are as many as n demands, by the elements of a block of 256 threads; and how many times each of its eight
# warps meets an instruction on shared memory, as the source has them: one to store, three in each step of the tree, one to
# deliver, and of the last warp two and ten.
TREES = {'global-halving': (256, 0), 'neighbour-modulo': (256, 8 + 3 * 8 * 8 + 8), 'halving': (256, 8 + 3 * 8 * 8 + 8),
         'first-add': (512, 8 + 3 * 8 * 8 + 8), 'last-warp': (512, 8 + 3 * 2 * 8 + 2 + 10)}


def shared_per_block(report, name):
    row = report.profiled(name) if name in report.names else None
    if not row or row['shared_transactions'] is None:
        return None
    return (row['shared_transactions'] - (row['bank_conflicts'] or 0)) / -(-row['n'] // TREES[name][0])


def divergence_cell(report, sass):
    """Branches are what divergence counts: how many there are, and how many lanes work."""
    branches = {kernel['kernel']: kernel['counts']['branch'] for kernel in sass['kernels']} if sass else {}
    rows = []
    for name in ('neighbour-modulo', 'neighbour-strided', 'halving', 'global-halving'):
        row = report.profiled(name) if name in report.names else None
        if row and row['divergence'] is not None:
            rows.append([f'`{name}`', branches.get(f'{name.replace("-", "_")}_f32_store', ''), *counters(row, ['divergence', 'active_lanes'])])
    heading = ['rung', 'branches in the machine code', 'divergence', 'active lanes of 32']
    return table(heading, rows, heading[1:]) if rows else ''


def shared_cell(report):
    rows = []
    for name, (_, counted) in TREES.items():
        seen = shared_per_block(report, name)
        if seen is not None:
            rows.append([f'`{name}`', counted, digits(seen), digits(seen - counted)])
    heading = ['rung', 'by the source', 'counted', 'more']
    return ('Instructions on shared memory of a block, less bank conflicts:\n\n' + table(heading, rows, heading[1:])) if rows else ''


def of_finish(report, name, finish, n):
    return next((row for row in report.rungs if (row['name'], row['variant'], row['type'], row['n']) == (name, finish, 'f32', n)
                 and row['seconds']), None)


def atomic_cell(report):
    """What the finish takes of the time, at every size."""
    rows = []
    for n in report.sizes:
        of = [of_finish(report, 'vector-loads', finish, n) for finish in ('atomic', 'last-block', 'second-launch')]
        others = [name in report.names and report.own(name, 'f32', n) for name in ('overlapped-launch', 'exact')]
        if all(of):
            rows.append([elements(n), *(time(row['seconds']) for row in of), time(of[1]['seconds'] - of[0]['seconds']),
                         *(time(row['seconds']) if row else '' for row in others)])
    heading = ['elements', '`atomic`', '`last-block`', '`second-launch`', '`last-block` less `atomic`', '`overlapped-launch`', '`exact`']
    return ('`vector-loads` in f32 with three finishes, and the rungs that are launched overlapping:\n\n'
            + table(heading, rows, heading[1:])) if rows else ''


# ----------------------------------------------------------------------------------------------------------------------
# Experiments: figures that programs other than the command have measured, a line of experiments.csv for each cell of a table
# ----------------------------------------------------------------------------------------------------------------------

# How a figure is written, by its unit. Seconds of a single instruction are shorter than what time() is for.
UNITS = {'s': time, 'ns': lambda ns: f'{ns:.3f} ns', 'B/s': rate, 'count': lambda count: f'{count:,.0f}', 'ratio': digits,
         'share': percent}


def with_the_ladders(cells, report):
    """The cells of experiments, with the ladder's figure in place of one of `cell-exact` that the ladder has measured, too: so that
    a rung at a size has one figure on all pages. And the sizes of which this is so."""
    sizes = {elements(n): n for n in report.sizes}
    shown, taken = [], []
    for cell in cells:
        row = None
        if cell['experiment'] == 'cell-exact' and cell['row'] in sizes:
            kind, name = cell['column'].split()
            row = report.own(name.strip('`'), kind, sizes[cell['row']])
        if row and cell['row'] not in taken:
            taken.append(cell['row'])
        shown.append({**cell, 'value': row['seconds']} if row else cell)
    return shown, taken


def experiments_blocks(experiments, report=None):
    """A table per experiment: rows and columns in the order of the file, the first column under the experiment's own heading."""
    def device(name):
        return experiments['facts'].get(f'GPU of {name}', experiments['facts'].get('GPU', 'this machine')).split(',')[0]

    made, cells, taken = {}, experiments['rows'], []
    if report and report.device() == device('cell-exact'):
        cells, taken = with_the_ladders(cells, report)
    for name in dict.fromkeys(cell['experiment'] for cell in cells):
        of = {(cell['row'], cell['column']): UNITS[cell['unit']](float(cell['value'])) for cell in cells if cell['experiment'] == name}
        columns = list(dict.fromkeys(column for _, column in of))
        rows = [[row, *(of.get((row, column), '') for column in columns)] for row in dict.fromkeys(row for row, _ in of)]
        heading = [next(cell['heading'] for cell in cells if cell['experiment'] == name), *columns]
        runs = f'; {" and ".join(taken)} in the ladder\'s run, the others' if taken and name == 'cell-exact' else ','
        made[name] = f'On one {device(name)}{runs} in runs of their own:\n\n' + table(heading, rows, columns)
    return made


# ----------------------------------------------------------------------------------------------------------------------
# What docs/tutorials.md compares with the tutorials' own figures
# ----------------------------------------------------------------------------------------------------------------------

# B's table: a technique, the rungs before and with it, and what B gives it. Stars are explained below the table.
EFFECTS = (('avoid divergence', 'neighbour-modulo', 'neighbour-strided', '1.8 \\*'),
           ('no bank conflicts', 'neighbour-strided', 'halving', '\\*'),
           ('coalesce global memory', None, None, '1.6'),
           ('fewer barriers', 'first-add', 'last-warp', '1.2'),
           ('unroll', 'last-warp', 'unrolled', '1.1'),
           ('shuffles', 'grid-stride', 'shuffle', '1.3'),
           ('several elements per thread: two', 'halving', 'first-add', '1.5'),
           ('several elements per thread: many', 'unrolled', 'grid-stride', ''),
           ('bytes under way', 'warp-reduce', 'vector-loads', ''),
           ('all of them', 'neighbour-modulo', 'one-launch', '4 to 5'))
EFFECT_SIZES = (('i32', 1 << 20), ('f32', 4 << 20), ('f32', 32 << 20))


def effects_block(report):
    """What each technique brings, all with the finish second-launch."""
    seconds = {(row['name'], row['type'], row['n']): row['seconds'] for row in report.rungs
               if row['variant'] == 'second-launch' and row['seconds'] and row['verdict'] in GOOD}
    rows = []
    for technique, before, after, given in EFFECTS:
        pairs = [(seconds.get((before, *size)), seconds.get((after, *size))) for size in EFFECT_SIZES]
        step = f'`{before}` to `{after}`' if before else 'none: the loads of every rung are coalesced'
        rows.append([technique, step, given, *(digits(was / now) if was and now else '' for was, now in pairs)])
    if not any(row[3] for row in rows):
        return ''
    heading = ['technique', 'the step', 'B', *(f'{elements(n)} {kind}' for kind, n in EFFECT_SIZES)]
    return f'On one {report.device()}:\n\n' + table(heading, rows, heading[2:])


def profile_block(report):
    """What D reads in its profile, of ours: f32 with the finish recursive."""
    names, n = ('halving', 'first-add', 'unrolled', 'shuffle', 'vector-loads'), 32 << 20
    of = [of_finish(report, name, 'recursive', n) for name in names]
    seen = [report.profiled(name) if name in report.names else None for name in names]
    if not all(of) or not all(row and row['shared_transactions'] is not None for row in seen):
        return ''
    rows = [['time, finish `recursive`', *(time(row['seconds']) for row in of)],
            ['of the read limit', *(percent(row['of_limit']) for row in of)]]
    rows += [[text, *(f'{row[field]:,.0f}' for row in seen)] for text, field in
             (('transactions of shared memory', 'shared_transactions'), ('conflicts among them', 'bank_conflicts'))]
    rows += [['occupancy', *(percent(row['occupancy']) for row in seen)], ['registers', *(row['registers'] for row in seen)]]
    heading = ['', *(f'`{name}`' for name in names)]
    return f'{elements(n)} f32 on one {report.device()}, `--profile`:\n\n' + table(heading, rows, heading[1:])


NARROW, WIDE = 256, 1024


class Blocks:
    """A run of all rungs in blocks of two sizes."""
    def __init__(self, run):
        rungs = [row for row in run['rows'] if row['group'] == 'rungs']
        self.names = list(dict.fromkeys(row['name'] for row in rungs))
        self.sizes = sorted({row['n'] for row in rungs})
        self.languages = [language for language in ('cuda', *SHADERS) if any(row['language'] == language for row in rungs)]
        self.of = {(language, block): Report({**run, 'rows': [row for row in rungs if row['block'] == block]}, language if language in SHADERS else None)
                   for language in self.languages for block in (NARROW, WIDE)}

    def pair(self, language, name, n):
        """A rung in narrow and in wide blocks, f32 with its own finish; None where it was not run in both."""
        rows = [self.of[language, block].own(name, 'f32', n) for block in (NARROW, WIDE)]
        return rows if all(rows) else None

    def cost(self, language, name, n):
        """What wide blocks take of the time."""
        pair = self.pair(language, name, n)
        return pair and pair[1]['seconds'] / pair[0]['seconds']


def block_sizes_block(run):
    """What blocks of 1024 take of the time of blocks of 256, in each language."""
    if not run:
        return ''
    blocks = Blocks(run)
    columns = [(language, n) for language in blocks.languages for n in blocks.sizes]
    rows, shown = [], []
    for name in blocks.names:
        pairs = [blocks.pair(language, name, n) for language, n in columns]
        if any(pairs):
            shown += [row for pair in pairs if pair for row in pair]
            rows.append([f'`{name}`', *(digits(pair[1]['seconds'] / pair[0]['seconds']) if pair else '' for pair in pairs)])
    if not rows:
        return ''
    heading = ['rung', *(f'{SHADERS.get(language, "CUDA")}, {elements(n)}' for language, n in columns)]
    return (f'Time in blocks of {WIDE} threads, as a multiple of that in blocks of {NARROW}, f32 on one {Report(run).device()}:\n\n'
            + table(heading, rows, heading[1:]) + steadiness(shown))


def blocks(report, languages, sass, numbers, rows, groups, submissions, block_sizes, experiments):
    """Every block of results by name."""
    made = {'sass': sass_block(sass), 'machines': machines_block(submissions, report),
            'shaders': shaders_block(submissions, report and report.device())}
    if experiments:
        made.update(experiments_blocks(experiments, report))
    if rows:
        made['rows'] = rows_block(rows)
    if groups:
        made['groups'] = groups_block(groups)
    if languages:
        made.update({'languages': languages_block(languages), 'exact-windows': windows_block(languages)})
    if report and report.rungs:
        made.update({name: rung_block(report, name) for name in report.names})
        made.update({f'{name}-before': before_block(report, name) for name in lists.RUNGS['gpu']})
        made.update({'summary': summary_block(report), 'finishes': finishes_block(report),
                     'specimens': specimens_block(report),
                     'last-warp-implicit': specimens_block(report, 'last-warp-implicit'),
                     'effects': effects_block(report), 'profile-read': profile_block(report),
                     'block-sizes': block_sizes_block(block_sizes),
                     'applications': applications_block(report), 'textures': textures_block(report.whole), 'peers': peers_block(report),
                     'numbers': '\n'.join(text for text in (numbers_block(report), cancelling_block(Report(numbers)) if numbers else '')
                                          if text),
                     'cell-divergence': divergence_cell(report, sass), 'cell-shared': shared_cell(report),
                     'cell-atomic': atomic_cell(report), 'hardware': hardware_block(report), 'steps': steps_block(report)})
    return made


# ----------------------------------------------------------------------------------------------------------------------
# The pages and the chart
# ----------------------------------------------------------------------------------------------------------------------

def insert(text, made, places):
    """A page with every block in its place, and the names of its places added to `places`; doing it twice changes nothing."""
    def replace(match):
        name = match.group(1)
        places.add(name)
        return f'<!-- results:{name} -->\n{made.get(name, "")}<!-- /results:{name} -->'
    return re.sub(r'<!-- results:([a-z-]+) -->\n.*?<!-- /results:\1 -->', replace, text, flags=re.S)


def fill(docs, made):
    """Every page of the tutorial, in both languages, in a folder such as docs/."""
    places = set()
    in_chinese = {name: chinese.translate(text) for name, text in made.items()}
    for edition, texts in ((chapters.ENGLISH, made), (chapters.CHINESE, in_chinese)):
        for page in chapters.filled(docs, edition):
            chapters.write(page, insert(chapters.read(page), texts, places))
    missing = [name for name, text in made.items() if text and name not in places]
    if missing:
        raise SystemExit('tables.py: no page has a place for ' + ', '.join(missing))


def chart(report, folder):
    """Bandwidth by rung, as a drawing: for the top of the page, and for slides."""
    if not report.sizes:
        return
    n = report.sizes[-1]
    best = [(name, report.compared(name, 'f32', n)) for name in report.names]
    best = [(name, row) for name, row in best if row]
    if not best:
        return
    limit = next((row['bytes_per_second'] / row['of_limit'] for _, row in best if row['of_limit']), 0)
    nominal = next((row['bytes_per_second'] / row['of_nominal'] for _, row in best if row['of_nominal']), 0)
    scale = max(limit, nominal, *(row['bytes_per_second'] for _, row in best))
    left, width, top = 170, 640, 84
    title = f'Sum of {elements(n)} f32: bandwidth by rung'
    d = draw.Drawing('bandwidth', title, 'Bars of bandwidth, one per rung, with the measured read limit.', 960,
                     top + 28 * len(best) + 44)
    for name, value, style, y in (('nominal', nominal, 'line', 54), ('read limit', limit, 'redline', 72)):
        if value:
            x = left + width * value / scale
            d.line(x, y - 12, x, top + 28 * len(best), style)
            d.text(x - 6, y, f'{name} {rate(value)} GB/s', 'small end' + (' red' if style == 'redline' else ' dim'))
    for i, (name, row) in enumerate(best):
        y = top + 28 * i
        d.text(left - 10, y + 16, name, 'end')
        d.rect(left, y + 3, max(1, width * row['bytes_per_second'] / scale), 20, 'on', 2)
        d.text(left + width + 12, y + 17, f'{rate(row["bytes_per_second"])} GB/s, {time(row["seconds"])}', 'small')
    d.text(20, top + 28 * len(best) + 26, report.where(), 'small dim')
    d.write(folder)


def read_sass(path):
    if not os.path.exists(path):
        return None
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def read_submissions(folder):
    """What docs/results/ collects, by the names of the files."""
    submissions = []
    for path in sorted(glob.glob(os.path.join(folder, '*.json'))):
        with open(path, encoding='utf-8') as file:
            submissions.append(json.load(file))
    return submissions


def main():
    """tables.py [DOCS [FOLDER]]: the folder whose pages are filled, and where all results lie."""
    docs = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(FOLDER)
    sources, kept = (sys.argv[2], sys.argv[2]) if len(sys.argv) > 2 else (FOLDER, RESULTS)
    kept_runs = {name: results.read(name, kept) for name in ('ladder', 'languages', 'numbers', 'rows', 'groups', 'profile', 'blocks', 'experiments')}
    measured = kept_runs['ladder']
    report = Report(measured, profile=kept_runs['profile']) if measured else None
    fill(docs, blocks(report, kept_runs['languages'] or measured, read_sass(os.path.join(sources, 'sass.json')), kept_runs['numbers'],
                      kept_runs['rows'], kept_runs['groups'], read_submissions(os.path.join(docs, 'results')), kept_runs['blocks'],
                      kept_runs['experiments']))
    if report:
        chart(report, os.path.join(docs, 'ladder'))


if __name__ == '__main__':
    main()
