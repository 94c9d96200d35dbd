#!/usr/bin/env python3
"""Puts what scripts/measure-ladder wrote where it is kept, and makes everything that shows it again:

    python3 results/adopt.py FOLDER [--tables]

What it wrote for docs/results/ becomes docs/results/MACHINE.json, of any machine. The reports become results/*.csv, from which the
tutorial's tables are made, if they are of the machine that these are of already, or with --tables in its place; parts that were
not measured stay as they are. At last it says which sentences of the tutorial are not true of the new figures.
"""
import glob
import json
import os
import re
import subprocess
import sys

import results

ROOT = os.path.join(results.FOLDER, '..')
sys.path.insert(0, os.path.join(ROOT, 'ladder'))
import lists  # noqa: E402

# What is kept under a name, of which parts; where one of them is missing, what is there stays. OPTIONAL: measured only where
# there is Vulkan, or Dawn.
TYPES = ('f32', 'i32', 'f64')
SHADERS = tuple(f'shaders-{kind}' for kind in TYPES)
PARTS = {'ladder': (*(f'ladder-{kind}' for kind in TYPES), *SHADERS, 'shaders-wgsl', 'applications-f32', 'applications-f64'),
         'numbers': ('numbers-f32', 'numbers-f64'),
         'rows': ('rows-f32', 'rows-f64'), 'groups': ('groups-f32', 'groups-f64'),
         'profile': ('profile',), 'blocks': ('blocks-256', 'blocks-1024', 'blocks-wgsl')}
OPTIONAL = (*SHADERS, 'shaders-wgsl', 'blocks-wgsl')
# Measured with the ladder since, where shaders are: not kept beside it.
REPLACED = {'ladder': ('languages',)}
SUBMISSIONS = ('submission-cuda.json', 'submission-vulkan.json')


def read(path):
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def rows_of(part, report):
    """What is kept of a part: of applications, not the rung that was climbed on the way."""
    return [row for row in report['rows'] if not part.startswith('applications') or row['group'] == 'applications']


def merge(reports, rows):
    """One report of several: what any says of the machine, what any warns of, the rows that are given."""
    facts, warnings = {}, {}
    for report in reports:
        facts = {**facts, **{name: text for name, text in report['facts'].items() if name not in facts}}
        warnings.update(dict.fromkeys(report['warnings']))
    return {'facts': facts, 'warnings': list(warnings), 'rows': rows}


def machine(report):
    return (report['facts'].get('GPU') or report['facts'].get('vulkan:0') or report['facts']['processor']).split(',')[0]


def slug(name):
    return re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')


def keep(folder, parts, kept):
    """The parts that are there, as results/*.csv. Returns the names of those that are not."""
    missing = []
    for name, needs in parts.items():
        there = {part: read(path) for part in needs if os.path.exists(path := os.path.join(folder, part + '.json'))}
        absent = [part for part in needs if part not in there]
        missing += absent
        if not set(absent) <= set(OPTIONAL):
            continue
        rows = [row for part, report in there.items() for row in rows_of(part, report)]
        results.write(name, merge(there.values(), rows), kept)
        for other in REPLACED.get(name, ()):
            if set(SHADERS) <= set(there):
                results.remove(other, kept)
    return missing


def keep_experiments(folder, kept):
    """What programs of ladder/experiments/ have printed: the lines of an experiment take the place of those that it had. The day is a
    fact of its own, and so is the GPU where it is another than that of the first."""
    for path in sorted(glob.glob(os.path.join(folder, 'experiments-*.json'))):
        report, known = read(path), results.read('experiments', kept) or {'facts': {}, 'warnings': [], 'rows': []}
        names = list(dict.fromkeys(row['experiment'] for row in report['rows']))
        place = next((i for i, row in enumerate(known['rows']) if row['experiment'] in names), len(known['rows']))
        rows = [row for row in known['rows'] if row['experiment'] not in names]
        facts = {**{'GPU': report['facts']['GPU']}, **known['facts'], **{f'date of {name}': report['facts']['date'] for name in names}}
        for name in names:
            facts.pop(f'GPU of {name}', None)
            if machine(report) != machine({'facts': facts}):
                facts[f'GPU of {name}'] = report['facts']['GPU']
        results.write('experiments', {**known, 'facts': facts, 'rows': [*rows[:place], *report['rows'], *rows[place:]]}, kept)


def own(rows):
    """The rows of rungs with the finish that is their own. CUDA's are measured with all of them, but for those that bring one."""
    rungs = [row for row in rows if row['group'] == 'rungs']
    listed = {row['name'] for row in rungs if row['variant'] == lists.RUNGS['gpu'].get(row['name'], {}).get('finish')}
    return [row for row in rungs if row['language'] != 'cuda' or row['name'] not in listed or
            row['variant'] == lists.RUNGS['gpu'][row['name']]['finish']]


def submission(folder):
    """What was written for docs/results/, as one; None where nothing was."""
    found = [read(path) for name in SUBMISSIONS if os.path.exists(path := os.path.join(folder, name))]
    if not found:
        return None
    return {'format': found[0]['format'], **merge(found, own([row for report in found for row in report['rows']]))}


def write_submission(report, path):
    """As the command does: a line for each row."""
    parts = [f'{json.dumps(name)}: {json.dumps(report[name], ensure_ascii=False)}' for name in ('format', 'facts', 'warnings')]
    rows = ',\n'.join(json.dumps(row, separators=(',', ':')) for row in report['rows'])
    with open(path, 'w', encoding='utf-8', newline='\n') as file:
        file.write('{' + ',\n'.join(parts) + ',\n"rows": [\n' + rows + '\n]}\n')


def main():
    folder = sys.argv[1]
    report = submission(folder)
    if report:
        target = os.path.join(ROOT, 'docs', 'results', slug(machine(report)) + '.json')
        write_submission(report, target)
        print(f'docs/results/{os.path.basename(target)}')
    parts = [path for names in PARTS.values() for part in names if os.path.exists(path := os.path.join(folder, part + '.json'))]
    parts += glob.glob(os.path.join(folder, 'experiments-*.json'))
    now = results.read('ladder')
    if '--tables' in sys.argv or (parts and now and machine(read(parts[0])) == machine(now)):
        for part in keep(folder, PARTS, results.FOLDER):
            print(f'{part}: not measured; what is there stays')
        keep_experiments(folder, results.FOLDER)
    else:
        print(f'The tables stay those of {machine(now)}: --tables replaces them')
    for script in (('docs', 'ladder', 'tables.py'), ('docs', 'results', 'chart.py')):
        subprocess.run([sys.executable, '-B', os.path.join(ROOT, *script)], check=True)
    subprocess.run([sys.executable, '-B', os.path.join(ROOT, 'docs', 'ladder', 'claims.py')])


if __name__ == '__main__':
    main()
