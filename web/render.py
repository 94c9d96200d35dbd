#!/usr/bin/env python3
"""Renders the tutorial, the package's page and the project's, and every document that they lead to, as HTML for the site:

    web/render.py FOLDER        run by web/assemble, which finds a Python that has markdown-it

Links keep working: a document becomes a page beside where it was, a picture is copied, a source file becomes a page of
its text, a folder a page of its files. A link that leads nowhere ends this with 1, and says where it is.
"""
import os
import posixpath
import re
import shutil
import sys
import urllib.parse
from html import escape

from markdown_it import MarkdownIt
from mdit_py_plugins.anchors import anchors_plugin

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIRST = ['docs/ladder.md', 'docs/zh/ladder.md', 'web/reduct/README.md', 'README.md']
COPIED = ('.svg', '.png', '.spv')  # as they are
CHINESE = re.compile(r'docs/zh/|.*\.zh\.html$')

PAGE = '''<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<title>{title} · reduct</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'">
<link rel="icon" href="{root}web/page/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="{root}web/page/style.css">
</head>
<body>
<header class="top">
  <p class="mark"><a href="{root}web/index.html">reduct</a></p>
  <nav aria-label="Site">
    <a href="{root}web/index.html">Run</a>
    <a href="{root}docs/ladder.html">Tutorial</a>
    <a href="{root}web/reduct/README.html">Package</a>
    <a href="{root}README.html">Project</a>
  </nav>
</header>
<main class="document">
{body}
</main>
</body>
</html>
'''


class Site:
    def __init__(self, folder):
        self.folder = folder
        self.waiting = list(FIRST)  # paths below the repository that the site needs
        self.done = set()
        self.problems = []
        self.ids = {}   # of each document, for links into it
        self.into = []  # (document, path, id) of links into documents

    def build(self):
        while self.waiting:
            path = self.waiting.pop()
            if path not in self.done:
                self.done.add(path)
                self.add(path)
        for document, path, anchor in self.into:
            if anchor not in self.ids[path]:
                self.problems.append(f"{document}: {path} has no heading '#{anchor}'")
        return self.problems

    def add(self, path):
        if path.endswith('.md'):
            self.add_document(path)
        elif path.endswith(COPIED):
            os.makedirs(os.path.dirname(self.place(path)), exist_ok=True)
            shutil.copyfile(os.path.join(ROOT, path), self.place(path))
        elif os.path.isdir(os.path.join(ROOT, path)):
            self.add_folder(path)
        else:
            self.add_source(path)

    def add_document(self, path):
        markdown = MarkdownIt('commonmark').enable('table').use(anchors_plugin, max_level=4)
        tokens = markdown.parse(read(path))
        headings = [k for k, token in enumerate(tokens) if token.type == 'heading_open']
        self.ids[path] = {tokens[k].attrGet('id') for k in headings}
        for token in tokens:
            for child in token.children or []:
                for name in ('href', 'src'):
                    if child.attrGet(name):
                        child.attrSet(name, self.target(path, child.attrGet(name)))
        body = markdown.renderer.render(tokens, markdown.options, {})
        body = body.replace('<table>', '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>')
        body = body.replace('</table>', '</table></div>').replace('<pre>', '<pre tabindex="0">')
        body = body.replace('<p><img ', '<p class="scroll diagram" tabindex="0"><img ')
        self.write(page_of(path), tokens[headings[0] + 1].content, body)

    def add_source(self, path):
        self.write(page_of(path), path, f'<h1>{escape(path)}</h1>\n<pre tabindex="0"><code>{escape(read(path))}</code></pre>')

    def add_folder(self, path):
        files = sorted(name for name in os.listdir(os.path.join(ROOT, path)) if not name.startswith(('.', '_')))
        items = [f'<li><a href="{self.target(f"{path}/x", name)}">{escape(name)}</a></li>' for name in files]
        self.write(f'{path}/index.html', path, f'<h1>{escape(path)}</h1>\n<ul>\n' + '\n'.join(items) + '\n</ul>')

    def target(self, document, link):
        """A link of a document as the site has it; the site gets what it leads to."""
        if '://' in link or link.startswith('mailto:'):
            return link
        name, _, anchor = link.partition('#')
        path = posixpath.normpath(posixpath.join(posixpath.dirname(document), name)) if name else document
        end = f'#{anchor}' if anchor else ''
        if not os.path.exists(os.path.join(ROOT, path)) or path.startswith('..'):
            self.problems.append(f"{document}: a link leads to '{link}', which is not there")
            return link
        if anchor and path.endswith('.md'):
            self.into.append((document, path, urllib.parse.unquote(anchor)))  # Chinese headings come encoded
        if not path.endswith('.html'):  # the site has those as they are
            self.waiting.append(path)
        if path.endswith(COPIED + ('.html',)):
            return link
        if os.path.isdir(os.path.join(ROOT, path)):
            return f'{name}/index.html'
        return (page_of(name) if name else '') + end

    def place(self, path):
        return os.path.join(self.folder, path)

    def write(self, path, title, body):
        os.makedirs(os.path.dirname(self.place(path)), exist_ok=True)
        with open(self.place(path), 'w', encoding='utf-8', newline='\n') as file:
            file.write(PAGE.format(title=escape(title), body=body, root='../' * path.count('/'),
                                   language='zh-Hans' if CHINESE.match(path) else 'en'))


def page_of(path):
    return path[:-len('.md')] + '.html' if path.endswith('.md') else path + '.html'


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as file:
        return file.read()


def main():
    if len(sys.argv) != 2:
        sys.exit(f'usage: {sys.argv[0]} FOLDER')
    problems = Site(sys.argv[1]).build()
    for problem in problems:
        print(f'render.py: {problem}', file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == '__main__':
    main()
