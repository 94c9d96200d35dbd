#!/usr/bin/env python3
"""The ladder's lists for what is not C: rungs.def, finishes.def and references.def, read as they stand.

    python3 ladder/lists.py [FILE]     writes them for the page, to web/page/lists.js, with the ideas in Chinese of docs/zh/rungs.md;
                                       run it when one of them changes

docs/ladder/tables.py imports RUNGS, FINISHES and SOURCES.
"""
import json
import os
import re
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(FOLDER, '..', 'web', 'page', 'lists.js')
CHINESE = os.path.join(FOLDER, '..', 'docs', 'zh', 'rungs.md')


def lines(name):
    """Each line MACRO(...) of a list, as the macro and its parameters; strings without their quotes."""
    with open(os.path.join(FOLDER, name), encoding='utf-8') as file:
        for line in file:
            match = re.match(r'(LADDER_\w+)(?:\((.*)\))?$', line.strip())
            if match:
                parameters = re.findall(r'"([^"]*)"|([^\s,]+)', match.group(2) or '')
                yield match.group(1), [text or word for text, word in parameters]


def read_finishes():
    return {name: {'id': identifier, 'idea': idea} for _, (identifier, name, idea) in lines('finishes.def')}


def read_rungs(finishes):
    """The GPU's rungs, the CPU's, those of rows and those of groups, by name: a finish and the rung that it starts from (None but of the GPU's),
    whether it is a specimen, whether only CUDA has it, the idea."""
    finish_names = {finish['id']: name for name, finish in finishes.items()}
    rungs, names = {'gpu': {}, 'cpu': {}, 'rows': {}, 'groups': {}}, {'NONE': None}
    for macro, (identifier, name, *more, idea) in lines('rungs.def'):
        finish, before = more or (None, 'NONE')
        names[identifier] = name
        rungs['gpu' if more else macro[len('LADDER_'):].lower()][name] = {
            'finish': finish_names.get(finish), 'before': names[before], 'specimen': macro.endswith('SPECIMEN'),
            'only_cuda': macro.endswith('CUDA'), 'idea': idea}
    return rungs


def read_sources():
    """Published ladders by name: title, machine, elements of 4 bytes, and seconds of each thing measured."""
    sources = {}
    for macro, parameters in lines('references.def'):
        if macro == 'LADDER_SOURCE':
            identifier, name, title, machine, n = parameters
            sources[name] = latest = {'id': identifier.lower(), 'title': title, 'machine': machine, 'n': int(n), 'seconds': {}}
        elif macro == 'LADDER_FIGURE':
            latest['seconds'][parameters[0]] = float(parameters[1])
    return sources


def read_chinese_ideas():
    """The idea of each rung, in Chinese and in WebGPU's words."""
    with open(CHINESE, encoding='utf-8') as file:
        rows = re.findall(r'(?m)^\| (?:\[`([a-z-]+)`\]\(.*?\)|`([a-z-]+)`) \| (.*?) \|', file.read())
    ideas = {}
    for linked, plain, idea in rows:
        for word, other in (('线程块', '工作组'), ('块数', '工作组数'), ('八个块', '八个工作组'), ('一个块', '一个工作组'), ('整个块', '整个工作组'),
                            ('块的大小', '工作组的大小'), ('共享内存', '工作组内存'), ('`', '')):
            idea = idea.replace(word, other)
        ideas.setdefault(linked or plain, idea + '。')
    return ideas


FINISHES = read_finishes()
RUNGS = read_rungs(FINISHES)
SOURCES = read_sources()


def page():
    """The text of web/page/lists.js."""
    tables = {'GPU_LIST': {name: {key: rung[key] for key in ('finish', 'idea')}
                           for name, rung in RUNGS['gpu'].items() if not rung['only_cuda']},
              'CPU_LIST': {name: {'idea': rung['idea']} for name, rung in RUNGS['cpu'].items()},
              'ROWS_LIST': {name: {'idea': rung['idea']} for name, rung in RUNGS['rows'].items()},
              'FINISH_LIST': {name: finish['idea'] for name, finish in FINISHES.items()},
              'IDEAS_ZH': read_chinese_ideas(),
              'SOURCES': [{'id': source['id'], 'name': name, 'machine': f'{source["machine"]}, {source["n"] >> 20} Mi',
                           'n': source['n'], 'seconds': source['seconds']} for name, source in SOURCES.items()]}
    text = '/* Made by ladder/lists.py from ladder/*.def. */\n'
    for name, table in tables.items():
        text += f'\nexport const {name} = {json.dumps(table, indent=4, ensure_ascii=False)};\n'
    return text


def main():
    with open(sys.argv[1] if len(sys.argv) > 1 else PAGE, 'w', encoding='utf-8', newline='\n') as file:
        file.write(page())


if __name__ == '__main__':
    main()
