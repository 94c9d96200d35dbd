#!/usr/bin/env python3
"""Puts what scripts/measure-ladder wrote where it is kept, and makes everything that shows it again:

    python3 results/adopt.py FOLDER [--tables]

The submission becomes docs/results/MACHINE.json. The other reports become results/*.csv, from which the tutorial's tables are
made, if they are of the machine that these are of already, or with --tables in its place. At last it says which sentences of the
tutorial are not true of the new figures.
"""
import json
import os
import re
import subprocess
import sys

import results

ROOT = os.path.join(results.FOLDER, '..')
# What is kept under a name, of which parts; where one of them is missing, what is there stays.
PARTS = {'ladder': ('ladder-f32', 'ladder-i32', 'ladder-f64'), 'numbers': ('numbers-f32', 'numbers-f64'),
         'rows': ('rows-f32', 'rows-f64'), 'groups': ('groups-f32', 'groups-f64'),
         'profile': ('profile',)}
# Measured with the ladder since: not kept beside it.
REPLACED = {'ladder': ('languages',)}


def read(path):
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def merge(reports):
    """One report of several: the facts of the first, what any warns of, all rows."""
    warnings = dict.fromkeys(text for report in reports for text in report['warnings'])
    return {'facts': reports[0]['facts'], 'warnings': list(warnings), 'rows': [row for report in reports for row in report['rows']]}


def machine(report):
    return (report['facts'].get('GPU') or report['facts'].get('vulkan:0') or report['facts']['processor']).split(',')[0]


def slug(name):
    return re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')


def keep(folder, parts, kept):
    """The parts that are there, as results/*.csv. Returns the names of those that are not."""
    missing = []
    for name, needs in parts.items():
        absent = [part for part in needs if not os.path.exists(os.path.join(folder, part + '.json'))]
        missing += absent
        if absent:
            continue
        results.write(name, merge([read(os.path.join(folder, part + '.json')) for part in needs]), kept)
        for other in REPLACED.get(name, ()):
            results.remove(other, kept)
    return missing


def main():
    folder = sys.argv[1]
    submission = os.path.join(folder, 'submission.json')
    if os.path.exists(submission):
        report = read(submission)
        target = os.path.join(ROOT, 'docs', 'results', slug(machine(report)) + '.json')
        with open(submission, encoding='utf-8') as source, open(target, 'w', encoding='utf-8', newline='\n') as file:
            file.write(source.read())
        print(f'docs/results/{os.path.basename(target)}')
    first = os.path.join(folder, 'ladder-f32.json')
    now = results.read('ladder')
    if '--tables' in sys.argv or (os.path.exists(first) and now and machine(read(first)) == machine(now)):
        for part in keep(folder, PARTS, results.FOLDER):
            print(f'{part}: not measured; what is there stays')
    else:
        print(f'The tables stay those of {machine(now)}: --tables replaces them')
    for script in (('docs', 'ladder', 'tables.py'), ('docs', 'results', 'chart.py')):
        subprocess.run([sys.executable, '-B', os.path.join(ROOT, *script)], check=True)
    subprocess.run([sys.executable, '-B', os.path.join(ROOT, 'docs', 'ladder', 'claims.py')])


if __name__ == '__main__':
    main()
