#!/usr/bin/env python3
"""What was measured, as it is kept: a CSV of rows per run, and the facts of all runs in facts.csv.

    python3 results/results.py NAME REPORT.json [FOLDER]     keeps a report of `reduct ladder` or `reduct bench` as NAME.csv there

Columns are the fields of a report's rows that some row fills, in the report's order; rows stand in the order in which they were
measured, which is the same each time. Curves and published figures, which a report also holds, are not kept.
"""
import csv
import json
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
WHOLE = {'n', 'bytes', 'block', 'registers', 'shared_bytes'}
REAL = {'seconds', 'spread', 'bytes_per_second', 'of_limit', 'of_nominal', 'speedup', 'to_plain', 'to_fast', 'to_peer',
        'to_gpu_to_gpu', 'to_sum', 'ulp', 'occupancy', 'bank_conflicts', 'shared_transactions', 'divergence', 'active_lanes'}
FACTS = ('run', 'name', 'value')


class Row(dict):
    """What is not known is None, whether or not there is a column for it."""
    def __missing__(self, field):
        return None


def value(field, text):
    if text == '':
        return None
    return int(text) if field in WHOLE else float(text) if field in REAL else text


def read_table(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding='utf-8', newline='') as file:
        return list(csv.DictReader(file, strict=True))


def write_table(path, columns, rows):
    with open(path, 'w', encoding='utf-8', newline='') as file:
        writer = csv.writer(file, lineterminator='\n')
        writer.writerow(columns)
        for row in rows:
            writer.writerow(['' if row[column] is None else row[column] for column in columns])


def read(name, folder=FOLDER):
    """A run as the report that it was: facts, warnings and rows; None if it is not there."""
    path = os.path.join(folder, f'{name}.csv')
    if not os.path.exists(path):
        return None
    facts = [(row['name'], row['value']) for row in read_table(os.path.join(folder, 'facts.csv')) if row['run'] == name]
    return {'facts': {fact: text for fact, text in facts if fact != 'warning'},
            'warnings': [text for fact, text in facts if fact == 'warning'],
            'rows': [Row({field: value(field, text) for field, text in row.items()}) for row in read_table(path)]}


def write(name, report, folder=FOLDER):
    """Keeps a report in place of the one of that name."""
    rows = [Row({field: float(at) if field in REAL and at is not None else at for field, at in row.items()}) for row in report['rows']]
    fields = dict.fromkeys(field for row in rows for field in row)
    write_table(os.path.join(folder, f'{name}.csv'), [f for f in fields if any(row[f] is not None for row in rows)], rows)
    facts = [*report['facts'].items(), *(('warning', text) for text in report['warnings'])]
    path = os.path.join(folder, 'facts.csv')
    others = [row for row in read_table(path) if row['run'] != name]
    write_table(path, FACTS, sorted([*others, *(dict(zip(FACTS, (name, *fact))) for fact in facts)], key=lambda row: row['run']))


def remove(name, folder=FOLDER):
    """Forgets a run."""
    path = os.path.join(folder, f'{name}.csv')
    if os.path.exists(path):
        os.remove(path)
    path = os.path.join(folder, 'facts.csv')
    write_table(path, FACTS, [row for row in read_table(path) if row['run'] != name])


def main():
    if len(sys.argv) not in (3, 4):
        raise SystemExit('results.py: expected NAME REPORT.json [FOLDER]')
    with open(sys.argv[2], encoding='utf-8') as file:
        write(sys.argv[1], json.load(file), *sys.argv[3:])


if __name__ == '__main__':
    main()
