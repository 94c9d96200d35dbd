#!/usr/bin/env python3
"""Charts the results that docs/results/*.json collect, and lists them in README.md there: python3 docs/results/chart.py [FOLDER]

Each file is what `reduct ladder --submit-file FILE` wrote on some machine. A chart shows f32 sums of the largest number of elements
that was measured there, a bar per rung and language, as a share of the fastest; each with its finish: the rung's
own, unless another was asked for. Where only some are launched overlapping the launch before, these are marked, and the chart says so.
"""
import json
import os
import re
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, '..', 'ladder'))
import draw  # noqa: E402
import tables  # noqa: E402

FORMAT = 'reduct ladder results 1'
PLACE = '<!-- results -->'
OVERLAPPING = ('overlapped-launch', 'exact')  # in CUDA, from compute capability 9.0 on


def read(path):
    with open(path, encoding='utf-8') as file:
        report = json.load(file)
    if report['format'] != FORMAT:
        raise SystemExit(f'{path}: format {report["format"]!r}; expected {FORMAT!r}')
    return report


def device(report):
    """The name of the machine, or of the driver that stands in for one."""
    facts = report['facts']
    return facts.get('GPU') or facts.get('vulkan:0') or facts.get('processor') or 'unknown'


def shown(report):
    """The rows of the chart: f32, the largest n; of a rung measured in several ways the fastest."""
    rows = [row for row in report['rows'] if row['group'] == 'rungs' and row['type'] == 'f32' and row['verdict'] in tables.GOOD]
    n = max((row['n'] for row in rows), default=0)
    best = {}
    for row in rows:
        key = row['name'], row['language']
        if row['n'] == n and (key not in best or row['seconds'] < best[key]['seconds']):
            best[key] = row
    return list(best.values())


def overlapping(report, rows):
    """Of these rows the ones whose blocks come while the launch before ends, if there are others beside them."""
    capability = re.search(r'compute capability (\d+)', report['facts'].get('GPU', ''))
    if not capability or int(capability.group(1)) < 9:
        return []
    found = [row for row in rows if row['language'] == 'cuda' and row['name'] in OVERLAPPING]
    return found if len(found) < len(rows) else []


def chart(name, report, folder):
    rows = shown(report)
    marked = overlapping(report, rows)
    title = f'Sum of {tables.elements(rows[0]["n"])} f32: bandwidth by rung'
    d = draw.Drawing(name, title, 'Bars of bandwidth, one per rung and language, each with its finish.', 960, 56 + 22 * len(rows) + 56)
    fastest = min(row['seconds'] for row in rows)
    for i, row in enumerate(rows):
        y = 50 + 22 * i
        d.text(190, y + 13, row['name'] + (' *' if row in marked else ''), 'end')
        d.text(200, y + 13, row['language'], 'small dim')
        d.text(236, y + 13, row['variant'], 'small dim')
        d.rect(324, y + 2, max(1, 456 * fastest / row['seconds']), 15, 'on', 2)
        rate = tables.rate(row['n'] * 4 / row['seconds'])
        d.text(792, y + 13, f'{rate} GB/s ± {100 * row["spread"]:.1f}%', 'small')
    y = 50 + 22 * len(rows) + 28
    if marked:
        d.caption(y, '* launched with its blocks overlapping the launch before; the others begin when that has ended')
        y += draw.LINE
    d.caption(y, f'{device(report)}; {report["facts"].get("date", "")}; {report["facts"].get("program", "")}')
    d.write(folder)


def warnings(report):
    """What its runs warned of, one for each language and type; how many times were not steady is said once, for all of them."""
    spreads = [row['spread'] for row in report['rows'] if row['seconds'] and row['spread'] is not None]
    unsteady = sum(spread > tables.NOISY for spread in spreads)
    said = [f'{unsteady} of these {len(spreads)} times spread by more than {tables.percent(tables.NOISY)}'] if unsteady else []
    return said + [text for text in report['warnings'] if not tables.COUNTED.match(text)]


def entry(name, report):
    rows = shown(report)
    best = min(rows, key=lambda row: row['seconds'])
    lines = [f'## {device(report).split(",")[0].split(" (")[0]}', '']
    lines += [f'![Bandwidth by rung]({name}.svg)', '']
    lines += [f'{tables.elements(best["n"])} f32: fastest `{best["name"]}` in {tables.time(best["seconds"])}. '
              f'All figures: [`{name}.json`]({name}.json).', '']
    lines += [f'- {fact}: {text}' for fact, text in report['facts'].items()
              if fact in ('GPU', 'vulkan:0', 'vulkan:0 driver', 'processor', 'driver', 'read limit', 'date', 'program')]
    lines += [f'- warning: {text}' for text in warnings(report)]
    return '\n'.join(lines) + '\n'


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else FOLDER
    names = sorted(name[:-5] for name in os.listdir(folder) if name.endswith('.json'))
    reports = {name: read(os.path.join(folder, name + '.json')) for name in names}
    for name, report in reports.items():
        chart(name, report, folder)
    path = os.path.join(folder, 'README.md')
    with open(path, encoding='utf-8') as file:
        head = file.read().split(PLACE)[0]
    with open(path, 'w', encoding='utf-8', newline='\n') as file:
        file.write(head + PLACE + '\n\n' + '\n'.join(entry(name, report) for name, report in reports.items()))


if __name__ == '__main__':
    main()
