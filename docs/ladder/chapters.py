#!/usr/bin/env python3
"""The tutorial's chapters, in the order of its contents: in English docs/ladder.md and docs/ladder/NAME.md, in Chinese the same
below docs/zh/.

    python3 docs/ladder/chapters.py                     writes the way to the next chapter under each; run it when the contents change
    python3 docs/ladder/chapters.py --in-step NAME...   says that these are the same in both languages: chapters by their names; ladder:
                                                        the contents; page: web/index.html and web/zh.html; slang, tutorials,
                                                        interview, unity, glossary: those pages in docs/; exercises and
                                                        exercises/NAME: README.md and README.zh.md there; rungs: the summaries in
                                                        the rungs' files, which docs/zh/rungs.md has in Chinese

The first line of a Chinese page holds the hashes of both texts as they were when that was said last; results, which are filled
in, do not count. A test fails where one of the two has changed since.
"""
import hashlib
import os
import re
import sys

DOCS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Where each edition lies, and its word for the contents.
ENGLISH, CHINESE = '', 'zh'
CONTENTS = {ENGLISH: 'Contents', CHINESE: '目录'}


# Pages beside the chapters that are in both languages.
BESIDE = ('slang', 'tutorials', 'interview', 'unity', 'glossary')

# A Chinese page whose English text is not a page: it lies in the rungs' files.
RUNGS = 'rungs'


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def write(path, text):
    with open(path, 'w', encoding='utf-8', newline='\n') as file:
        file.write(text)


def contents(docs=DOCS, edition=ENGLISH):
    return os.path.join(docs, edition, 'ladder.md')


def path_of(name, docs=DOCS, edition=ENGLISH):
    """The file of a chapter; of the contents where the name is 'ladder', of the page that runs in browsers where it is 'page', of the
    exercises or one of them where it is 'exercises' or begins so."""
    if name.split('/')[0] == 'exercises':
        return os.path.join(docs, '..', name, 'README.zh.md' if edition else 'README.md')
    if name in (*BESIDE, RUNGS):
        return os.path.join(docs, edition, name + '.md')
    if name == 'page':
        return os.path.join(docs, '..', 'web', 'zh.html' if edition else 'index.html')
    return contents(docs, edition) if name == 'ladder' else os.path.join(docs, edition, 'ladder', name + '.md')


def chapters(docs=DOCS, edition=ENGLISH):
    """Each chapter's name and title, in their order."""
    found = re.findall(r'(?m)^- \[(.+?)\]\(ladder/([a-z0-9-]+)\.md\)', read(contents(docs, edition)))
    return {name: title for title, name in found}


def exercises(docs=DOCS):
    """The names of the exercises' texts: of all, then of each."""
    folder = os.path.join(docs, '..', 'exercises')
    return ['exercises', *(f'exercises/{name}' for name in sorted(os.listdir(folder)) if os.path.isdir(os.path.join(folder, name)))]


def pages(docs=DOCS, edition=ENGLISH):
    """The files of an edition: the contents, then every chapter."""
    return [path_of(name, docs, edition) for name in ('ladder', *chapters(docs, edition))]


def filled(docs=DOCS, edition=ENGLISH):
    """These, and the pages beside them: all that may have places for results."""
    return pages(docs, edition) + [path_of(name, docs, edition) for name in BESIDE]


# ----------------------------------------------------------------------------------------------------------------------
# The way from chapter to chapter
# ----------------------------------------------------------------------------------------------------------------------

def without_way(text):
    return re.sub(r'\n*<!-- way -->.*?<!-- /way -->\n*$', '', text, flags=re.S).rstrip('\n') + '\n'


def with_way(text, name, names, word):
    """The chapter with the line that leads on at its end, in place of the one that it has."""
    order = list(names)
    at = order.index(name)
    steps = [f'[← {names[order[at - 1]]}]({order[at - 1]}.md)'] if at else []
    steps.append(f'[{word}](../ladder.md)')
    steps += [f'[{names[order[at + 1]]} →]({order[at + 1]}.md)'] if at + 1 < len(order) else []
    return f'{without_way(text)}\n<!-- way -->\n{" · ".join(steps)}\n<!-- /way -->\n'


def lead_on():
    for edition, word in CONTENTS.items():
        names = chapters(edition=edition)
        for name in names:
            path = path_of(name, edition=edition)
            write(path, with_way(read(path), name, names, word))


# ----------------------------------------------------------------------------------------------------------------------
# Two languages in step
# ----------------------------------------------------------------------------------------------------------------------

STAMP = re.compile(r'\A<!-- in step: (\w+) (\w+) -->\n')


def own_text(text):
    """What somebody has written: without the stamp, the results and the way."""
    text = re.sub(r'(<!-- results:([a-z-]+) -->\n).*?(<!-- /results:\2 -->)', r'\1\3', STAMP.sub('', text), flags=re.S)
    return without_way(text)


# How those paragraphs at the head of a rung's file begin that docs/zh/rungs.md sums up.
SUMMED_UP = ('Rung ', 'Specimen ', 'Idea: ', 'The mistake: ', 'What it fixes: ', 'When it loses: ')


def summary(path):
    """These paragraphs, a line each, so that where lines break does not count."""
    head = re.match(r'(?://.*\n)*', read(path)).group()
    paragraphs = (' '.join(re.sub(r'(?m)^//', '', text).split()) for text in re.split(r'(?m)^//\n', head))
    return [text for text in paragraphs if text.startswith(SUMMED_UP)]


def summaries(docs=DOCS):
    """What docs/zh/rungs.md has in Chinese: every rung's line in ladder/rungs.def, and the summary in its file in CUDA, where it has
    one."""
    ladder = os.path.join(docs, '..', 'ladder')
    said = []
    for name, idea in re.findall(r'(?m)^LADDER_\w+\(\w+, +"([a-z-]+)".*"(.*)"\)$', read(os.path.join(ladder, 'rungs.def'))):
        said.append(f'{name}: {idea}')
        files = (os.path.join(ladder, 'cuda', folder, name.replace('-', '_') + '.cu') for folder in ('', 'specimens'))
        said += [text for path in files if os.path.exists(path) for text in summary(path)]
    return '\n'.join(said) + '\n'


def text_of(name, docs=DOCS, edition=ENGLISH):
    """What of a text is to be the same in both languages."""
    return summaries(docs) if (name, edition) == (RUNGS, ENGLISH) else own_text(read(path_of(name, docs, edition)))


def stamp(name, docs=DOCS):
    """The first line of a Chinese page for the two texts as they are."""
    hashes = [hashlib.sha256(text_of(name, docs, edition).encode()).hexdigest()[:12] for edition in CONTENTS]
    return '<!-- in step: {} {} -->\n'.format(*hashes)


def say_in_step(names):
    for name in names:
        path = path_of(name, edition=CHINESE)
        write(path, stamp(name) + STAMP.sub('', read(path)))


def main():
    if sys.argv[1:2] == ['--in-step']:
        say_in_step(sys.argv[2:])
    else:
        lead_on()


if __name__ == '__main__':
    main()
