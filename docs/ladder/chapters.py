#!/usr/bin/env python3
"""The tutorial's chapters, in the order of the contents in docs/ladder.md.

    python3 docs/ladder/chapters.py        writes the way to the next chapter under each; run it when the contents change
"""
import os
import re

DOCS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CONTENTS = 'ladder.md'


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def write(path, text):
    with open(path, 'w', encoding='utf-8', newline='\n') as file:
        file.write(text)


def chapters(docs=DOCS):
    """Each chapter's name and title: the file is ladder/NAME.md."""
    found = re.findall(r'(?m)^- \[(.+?)\]\(ladder/([a-z0-9-]+)\.md\)', read(os.path.join(docs, CONTENTS)))
    return {name: title for title, name in found}


def pages(docs=DOCS):
    """The files of the tutorial: the contents, then every chapter."""
    return [os.path.join(docs, CONTENTS), *(os.path.join(docs, 'ladder', name + '.md') for name in chapters(docs))]


def with_way(text, name, names):
    """The chapter with the line that leads on at its end, in place of the one that it has."""
    order = list(names)
    at = order.index(name)
    steps = [f'[← {names[order[at - 1]]}]({order[at - 1]}.md)'] if at else []
    steps.append('[Contents](../ladder.md)')
    steps += [f'[{names[order[at + 1]]} →]({order[at + 1]}.md)'] if at + 1 < len(order) else []
    text = re.sub(r'\n*<!-- way -->.*?<!-- /way -->\n*$', '', text, flags=re.S).rstrip('\n')
    return f'{text}\n\n<!-- way -->\n{" · ".join(steps)}\n<!-- /way -->\n'


def main():
    names = chapters()
    for name in names:
        path = os.path.join(DOCS, 'ladder', name + '.md')
        write(path, with_way(read(path), name, names))


if __name__ == '__main__':
    main()
