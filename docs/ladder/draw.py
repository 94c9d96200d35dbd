#!/usr/bin/env python3
"""Draws the diagrams of the tutorial, docs/ladder.md and its chapters: python3 docs/ladder/draw.py writes the SVG files beside this one, and
those of the Chinese edition, whose words drawn.py has, to docs/zh/ladder/.

One visual language for all of them:
  square cells     numbers in memory: blue global (all blocks see it), green shared (one block), orange registers
  circles          threads, with their number; two lines in, what it adds; filled when at work, hollow when idle
  strips           the threads of a block in warps of four (real ones have 32): who is at work in this step
  down             time
  red              what goes wrong
Every drawing brings its own background and follows the reader's choice of dark or light.
"""
import os
import re
import sys
import textwrap
import unicodedata
from html import escape

import drawn

# The first digits of pi; they add up to 80.
DIGITS = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3]
WARP = 4

# Of a caption: characters in a line, as many as fit in the widest of the fonts that browsers take, and from line to line.
CAPTION, LINE = 124, 20

STYLE = '''
:root { --paper: #ffffff; --ink: #1b1f24; --dim: #646d76; --faint: #d5dae0; --on: #3f6fd8; --ontext: #ffffff; --bad: #c8313d;
  --global: #dfe9fd; --globalline: #3f6fd8; --shared: #dcf3e5; --sharedline: #1c8a57; --register: #fdeacd;
  --registerline: #b56a00; --good: #1c8a57 }
@media (prefers-color-scheme: dark) { :root { --paper: #12161b; --ink: #e6e9ed; --dim: #9aa4ae; --faint: #343b44; --on: #6d97f2;
  --ontext: #0d1014; --bad: #ff7a80; --global: #1b2b4d; --globalline: #6d97f2; --shared: #15372a; --sharedline: #4cc79b;
  --register: #43300f; --registerline: #f0b35a; --good: #4cc79b } }
text { font-family: system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif; font-size: 13px;
  fill: var(--ink) }
.paper { fill: var(--paper); stroke: var(--faint) }
.number, .code { font-family: ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace }
.code { font-size: 12px; white-space: pre }
.title { font-size: 15px; font-weight: 600 }
.dim { fill: var(--dim) }
.small { font-size: 11px }
.tiny { font-size: 10px }
.red { fill: var(--bad) }
.green { fill: var(--good) }
.middle { text-anchor: middle }
.end { text-anchor: end }
.global { fill: var(--global); stroke: var(--globalline) }
.shared { fill: var(--shared); stroke: var(--sharedline) }
.register { fill: var(--register); stroke: var(--registerline) }
.spent { fill: none; stroke: var(--faint) }
.spenttext { fill: var(--dim) }
.empty { fill: none; stroke: var(--dim); stroke-dasharray: 3 3 }
.wrong { fill: none; stroke: var(--bad); stroke-width: 2 }
.line { stroke: var(--dim); fill: none; stroke-width: 1.3 }
.flow { stroke: var(--on); fill: none; stroke-width: 1.8 }
.faintline { stroke: var(--faint); fill: none }
.redline { stroke: var(--bad); fill: none; stroke-width: 1.6; stroke-dasharray: 5 3 }
.barrier { stroke: var(--good); stroke-width: 2.5 }
.on { fill: var(--on); stroke: var(--on) }
.ontext { fill: var(--ontext); font-weight: 600 }
.off { fill: none; stroke: var(--faint) }
.box { fill: none; stroke: var(--dim); rx: 6 }
.blank { fill: var(--paper); stroke: none }
.band { fill: var(--faint); opacity: .45 }
'''


def is_wide(character):
    return unicodedata.east_asian_width(character) in 'WF'


def lines_of(text):
    """A caption in lines. Chinese may break anywhere but before a mark, and its characters are as wide as two."""
    if not any(map(is_wide, text)):
        return textwrap.wrap(text, CAPTION)
    lines, room = [], 0
    for part in re.findall(r'[!-~]+|.', text):
        width = sum(1 + is_wide(character) for character in part)
        if room < width and part not in '，。；：）、？”' or not lines:
            lines.append('')
            room = CAPTION
            part = part.strip()
        lines[-1] += part
        room -= width
    return lines


class Drawing:
    words = str  # what is said of a text: itself, or it in another language

    def __init__(self, name, title, description, width=960, height=400):
        self.name, self.title, self.description = name, self.words(title), self.words(description)
        self.width, self.height = width, height
        self.parts = []
        self.put(20, 28, self.title, 'title')

    def add(self, element):
        self.parts.append(element)

    def rect(self, x, y, width, height, style, radius=3):
        self.add(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius}" class="{style}"/>')

    def text(self, x, y, text, style=''):
        """A text in the drawing's language; code has none."""
        self.put(x, y, text if 'code' in style.split() else self.words(str(text)), style)

    def put(self, x, y, text, style=''):
        self.add(f'<text x="{x:g}" y="{y:g}" class="{style}">{escape(str(text))}</text>')

    def caption(self, y, text):
        """The last words, in as many lines as they need; the drawing grows where it has no room for them."""
        for line in lines_of(self.words(text)):
            self.put(20, y, line, 'dim')
            y += LINE
        self.height = max(self.height, y - LINE + 16)

    def line(self, x1, y1, x2, y2, style='line'):
        self.add(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" class="{style}"/>')

    def path(self, d, style='line', arrow=False):
        end = ' marker-end="url(#red)"' if arrow and style == 'redline' else ' marker-end="url(#arrow)"' if arrow else ''
        self.add(f'<path d="{d}" class="{style}"{end}/>')

    def arrow(self, x1, y1, x2, y2, style='flow'):
        self.path(f'M{x1:g} {y1:g}L{x2:g} {y2:g}', style, True)

    def cell(self, x, y, value, style, width=32, height=26):
        """A number in memory; its middle is at x."""
        self.rect(x - width / 2, y, width, height, style)
        shade = 'number middle spenttext' if style == 'spent' else 'number middle'
        self.text(x, y + height / 2 + 4.5, value, shade)

    def thread(self, x, y, number, on=True, radius=9):
        self.add(f'<circle cx="{x:g}" cy="{y:g}" r="{radius}" class="{"on" if on else "off"}"/>')
        self.text(x, y + 3.6, number, 'tiny middle ' + ('ontext' if on else 'dim'))

    def strip(self, x, y, count, working, size=9):
        """Threads in warps; a warp in which some work and some idle is marked."""
        for first in range(0, count, WARP):
            left = x + first * (size + 2) + first // WARP * 6
            busy = [thread in working for thread in range(first, first + WARP)]
            if any(busy) and not all(busy):
                self.rect(left - 3, y - 3, WARP * (size + 2) + 4, size + 6, 'wrong', 2)
            for lane in range(WARP):
                self.rect(left + lane * (size + 2), y, size, size, 'on' if busy[lane] else 'off', 1)

    def write(self, folder):
        arrow = '<marker id="{0}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">' \
                '<path d="M0 0L8 4L0 8z" style="fill:var(--{1})"/></marker>'
        body = '\n'.join(self.parts)
        svg = f'''<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" \
height="{self.height}" role="img" aria-labelledby="t d">
<title id="t">{escape(self.title)}</title>
<desc id="d">{escape(self.description)}</desc>
<style>{STYLE}</style>
<defs>{arrow.format('arrow', 'on')}{arrow.format('red', 'bad')}</defs>
<rect x=".5" y=".5" width="{self.width - 1}" height="{self.height - 1}" rx="8" class="paper"/>
{body}
</svg>
'''
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, self.name + '.svg'), 'w', encoding='utf-8', newline='\n') as file:
            file.write(svg)


# ----------------------------------------------------------------------------------------------------------------------
# Trees: rows of cells, and between them the threads that add
# ----------------------------------------------------------------------------------------------------------------------

LEFT, PITCH, ROW = 150, 36, 92
STRIP = 752  # where the strips begin


def column(i):
    return LEFT + i * PITCH


class Tree:
    """Rows of numbers. A step is a list of (thread, target, sources): sources are columns of the row before."""

    def __init__(self, drawing, values, style, label, threads):
        self.d, self.threads, self.y = drawing, threads, 62
        self.values, self.style = list(values), style
        self.text(label)
        self.cells(range(len(values)), set(range(len(values))))
        drawing.text(STRIP, 50, 'threads at work', 'small dim')

    def text(self, label, extra=''):
        self.d.text(20, self.y + 11, label, '')
        self.d.text(20, self.y + 26, extra, 'small dim')

    def cells(self, columns, fresh):
        for i in columns:
            self.d.cell(column(i), self.y, self.values[i], self.style if i in fresh else 'spent')

    def step(self, adds, label, extra='', style=None, banks=None, keep=True):
        """One step down: who adds what, and the row that results. `banks`: threads whose accesses collide."""
        top, self.y = self.y + 26, self.y + ROW
        before = list(self.values)
        if not keep:
            self.values = self.values[:max(target for _, target, _ in adds) + 1]
        for thread, target, sources in adds:
            self.values[target] = sum(before[s] for s in sources)
            x, y = column(target), self.y - 22
            for source in sources:
                self.d.line(column(source), top, x, y - 4)
            self.d.line(x, y, x, self.y)
            self.d.thread(x, y, thread)
            if banks and thread in banks:
                self.d.text(x + 12, y + 4, banks[thread], 'tiny red')
        self.style = style or self.style
        self.text(label, extra)
        self.cells(range(len(self.values)), {target for _, target, _ in adds})
        self.d.strip(STRIP, self.y - 26, self.threads, {thread for thread, _, _ in adds})


def halvings(n):
    while n > 1:
        n //= 2
        yield n


def global_halving():
    d = Drawing('global-halving', 'global-halving: in place in global memory',
                'A block of sixteen threads owns sixteen numbers in global memory. With half = 8, threads 0 to 7 add element '
                'i + 8 to element i, then threads 0 to 3 add element i + 4, and so on, until element 0 holds the sum.', height=500)
    tree = Tree(d, DIGITS, 'global', 'global memory', 16)
    for half in halvings(16):
        tree.step([(t, t, (t, t + half)) for t in range(half)], f'half = {half}', f'tid < {half}')
    d.caption(484, 'Every step reads and writes global memory, and waits for the whole block. The input is gone afterwards.')
    return d


def neighbour_modulo():
    d = Drawing('neighbour-modulo', 'neighbour-modulo: thread tid adds its neighbour if tid is a multiple of 2 s',
                'Sixteen numbers in shared memory. With stride 1, threads 0, 2, 4 and so on add their right neighbour; with '
                'stride 2 threads 0, 4, 8 and 12; in every warp some threads work and some idle.', height=500)
    tree = Tree(d, DIGITS, 'shared', 'shared memory', 16)
    for s in (1, 2, 4, 8):
        tree.step([(t, t, (t, t + s)) for t in range(0, 16, 2 * s)], f's = {s}', f'tid % {2 * s} == 0')
    d.caption(484, 'Red: warps in which some threads work and the others wait for them. Working threads are never neighbours.')
    return d


def neighbour_strided():
    d = Drawing('neighbour-strided', 'neighbour-strided: the same pairs, added by threads that are neighbours',
                'The same pairs as in neighbour-modulo, but thread tid adds at index 2 s tid: working threads fill whole '
                'warps, while their accesses fall into the same memory banks.', height=500)
    tree = Tree(d, DIGITS, 'shared', 'shared memory', 16)
    for s in (1, 2, 4, 8):
        adds = [(t, 2 * s * t, (2 * s * t, 2 * s * t + s)) for t in range(8 // s)]
        banks = {t: f'bank {2 * s * t % 4}' for t, _, _ in adds} if s < 8 else None
        tree.step(adds, f's = {s}', f'index = {2 * s} tid', banks=banks)
    d.caption(484, 'Whole warps work or are done. Red: the bank of each access, of four in this drawing (real ones: 32). The '
                   'same bank for several threads of a warp: they queue.')
    return d


def halving():
    d = Drawing('halving', 'halving: thread tid adds tid + s, and s is halved',
                'Sixteen numbers in shared memory. With s = 8, threads 0 to 7 add element tid + 8, then threads 0 to 3 add '
                'tid + 4, and so on: neighbouring threads read neighbouring memory.', height=500)
    tree = Tree(d, DIGITS, 'shared', 'shared memory', 16)
    for s in halvings(16):
        tree.step([(t, t, (t, t + s)) for t in range(s)], f's = {s}', f'tid < {s}')
    d.caption(484, 'No half-empty warps until the last one, no bank twice. But half of the threads do nothing from the start.')
    return d


def first_add():
    d = Drawing('first-add', 'first-add: each thread loads two elements and adds them before it stores',
                'Sixteen numbers in global memory become eight in shared memory: thread tid adds elements tid and tid + 8 '
                'while loading. Then halving goes on with eight threads.', height=500)
    tree = Tree(d, DIGITS, 'global', 'global memory', 8)
    tree.step([(t, t, (t, t + 8)) for t in range(8)], 'load and add', '8 threads', style='shared', keep=False)
    for s in halvings(8):
        tree.step([(t, t, (t, t + s)) for t in range(s)], f's = {s}', f'tid < {s}')
    d.caption(484, 'The same block takes twice as much: half the blocks, and no thread idles from the start.')
    return d


# ----------------------------------------------------------------------------------------------------------------------
# The last warp
# ----------------------------------------------------------------------------------------------------------------------

def last_warp(implicit):
    name = 'last-warp-implicit' if implicit else 'last-warp'
    title = 'last-warp-implicit: nothing makes the threads of a warp wait for each other' if implicit else \
            'last-warp: a barrier of the warp after every step'
    description = 'Eight numbers, a warp of four. ' + (
        'Thread 1 runs ahead and reads element 3 before thread 3 has added to it: the result is 25 instead of 31.' if implicit
        else 'After each step all four threads wait for each other, so that each reads what the others have written.')
    d = Drawing(name, title, description, height=456)
    values, style = DIGITS[:8], 'shared'
    d.text(20, 73, 'shared memory')
    for i, v in enumerate(values):
        d.cell(column(i), 62, v, style)
    y = 62
    for s in (4, 2, 1):
        top, y = y + 26, y + 106
        new = list(values)
        early = implicit and s == 2
        for t in range(s):
            new[t] = values[t] + values[t + s]
        if early:
            new[1] = values[1] + DIGITS[3]  # what element 3 held before thread 3 added
        for t in range(s):
            d.line(column(t), top, column(t), y - 26)
            if early and t == 1:
                d.path(f'M{column(3)} {62 + 26}C{column(3) + 78} {62 + 70} {column(3) + 60} {y - 52} {column(1) + 12} {y - 24}',
                       'redline', True)
                d.text(column(3) + 62, 150, 'thread 1 is early: it reads the 1 that was', 'small red')
                d.text(column(3) + 62, 165, 'there before thread 3 added 6', 'small red')
            else:
                d.line(column(t + s), top, column(t), y - 26)
            d.line(column(t), y - 22, column(t), y)
            d.thread(column(t), y - 22, t)
        values = new
        d.text(20, y + 11, f's = {s}')
        if not implicit and s > 1:
            d.line(column(0) - 22, y + 38, column(7) + 22, y + 38, 'barrier')
            d.text(column(7) + 34, y + 42, '__syncwarp()  subgroupBarrier()', 'code green')
        for i, v in enumerate(values):
            mistaken = implicit and ((s == 2 and i == 1) or (s == 1 and i == 0))
            d.cell(column(i), y, v, 'wrong' if mistaken else style if i < s else 'spent')
    if implicit:
        d.text(column(8), y + 18, 'expected 31', 'red')
    last = 'It was right as long as the 32 threads of a warp moved in lockstep. Since Volta (2017) each has its own program counter.' \
        if implicit else 'Only the warp waits, not the block. Green: nobody passes before all have arrived and what they wrote is seen.'
    d.caption(440, last)
    return d


def last_warp_implicit():
    return last_warp(True)


def last_warp_right():
    return last_warp(False)


# ----------------------------------------------------------------------------------------------------------------------
# Instructions, grids, registers
# ----------------------------------------------------------------------------------------------------------------------

def unrolled():
    d = Drawing('unrolled', 'unrolled: the block size is a constant, so the loop can go',
                'Left: a loop that compares, branches and halves around each addition. Right: for a block of 256 threads, the '
                'same additions in a row, the tests of the block size decided by the compiler.', height=330)
    d.text(40, 64, 'a loop: unknown block size', 'dim')
    steps = ['s = blockDim.x / 2', 'if (tid < s) x[tid] += x[tid + s]', 'barrier', 's = s / 2', 's > 0 ?']
    for i, step in enumerate(steps):
        y = 78 + i * 44
        d.rect(40, y, 300, 28, 'shared' if i == 1 else 'box')
        d.text(52, y + 18, step, 'code')
        if i:
            d.arrow(190, y - 16, 190, y - 1)
    d.path('M340 268C400 268 400 136 342 136', 'flow', True)
    d.text(394, 206, 'log2(block) times', 'small dim')
    d.text(560, 64, 'a block of 256, known when compiling', 'dim')
    lines = [('', None), ('', None), ('if (tid < 128) x[tid] += x[tid + 128];  barrier', 1),
             ('if (tid <  64) x[tid] += x[tid +  64];  barrier', 1), ('x[tid] += x[tid + 32];  __syncwarp()', 1),
             ('x[tid] += x[tid + 16];  __syncwarp()', 1), ('...', 1), ('x[tid] += x[tid + 1]', 1)]
    for i, (line, kept) in enumerate(lines):
        y = 78 + i * 27
        if not kept:
            line = f'if (block >= {[1024, 512][i]}) ...'
        d.rect(560, y, 376, 22, 'shared' if kept else 'empty')
        d.text(570, y + 15, line + ('' if kept else '          gone: 256 is less'), 'code' + ('' if kept else ' dim'))
    d.caption(314, 'Fewer instructions per addition. What is left to do is the same additions, in the same order: the same '
                   'bits.')
    return d


def grid_stride():
    d = Drawing('grid-stride', 'grid-stride: a fixed grid walks over all elements',
                'Thirty-two elements, two blocks of four threads. Thread i of the grid adds elements i, i + 8, i + 16 and i + 24 '
                'in a register; then each block combines its four sums.', height=330)
    d.text(20, 78, 'global memory')
    for i in range(32):
        block, x = i % 8 // 4, 150 + i * 25
        d.rect(x - 11, 62, 22, 26, 'global')
        d.text(x, 79, DIGITS[i % 16], 'number middle')
        if i % 8 == 0 and i:
            d.line(x - 12.5, 54, x - 12.5, 96, 'line')
    for k in range(4):
        d.text(150 + k * 200 + 88, 52, ['first turn', 'second turn', 'third', 'fourth'][k], 'small dim middle')
    for t in range(8):
        target = 262 + t * 60 + (40 if t >= 4 else 0)
        for k in range(4):
            d.path(f'M{150 + (t + 8 * k) * 25} 88C{150 + (t + 8 * k) * 25} 130 {target} 110 {target} 150', 'line' if t else 'flow')
        d.thread(target, 160, t)
        total = sum(DIGITS[(t + 8 * k) % 16] for k in range(4))
        d.line(target, 169, target, 184)
        d.cell(target, 184, total, 'register')
    d.text(20, 164, '8 threads in all')
    d.text(20, 201, 'registers')
    for b in range(2):
        first = 262 + b * 280
        d.rect(first - 24, 144, 228, 76, 'box')
        total = sum(DIGITS[(t + 8 * k) % 16] for k in range(4) for t in range(4 * b, 4 * b + 4))
        d.arrow(first + 90, 220, first + 90, 246)
        d.cell(first + 90, 248, total, 'global', 44)
        d.text(first + 120, 265, f'block {b}', 'small dim')
    d.text(20, 265, 'block sums')
    d.caption(314, 'Threads live long and meet once. The grid fits the GPU, not the data: few block sums, whatever n is.')
    return d


def shuffle():
    d = Drawing('shuffle', 'shuffle: from register to register within a warp',
                'Eight lanes of a warp hold one number each in a register. Each takes the register of the lane 4 further down '
                'and adds it, then 2, then 1; lane 0 has the sum. No memory is used.', height=400)
    values = DIGITS[:8]
    d.text(20, 79, 'registers')
    pitch = 62
    for i, v in enumerate(values):
        d.thread(LEFT + i * pitch, 52, i)
        d.cell(LEFT + i * pitch, 66, v, 'register', 40)
    y = 66
    for s in (4, 2, 1):
        top, y = y + 26, y + 86
        new = [values[i] + values[i + s] if i + s < 8 else 2 * values[i] for i in range(8)]
        for i in range(8):
            live = i < s
            if i + s < 8:
                ends = LEFT + (i + s) * pitch, top, LEFT + i * pitch + 10, y - 2
                if live:
                    d.arrow(*ends)
                else:
                    d.line(*ends, 'faintline')
            d.line(LEFT + i * pitch, top, LEFT + i * pitch, y, 'line' if live else 'faintline')
            d.cell(LEFT + i * pitch, y, new[i] if live else '·', 'register' if live else 'spent', 40)
        values = new
        d.text(LEFT + 8 * pitch - 6, y + 17, f'v += __shfl_down_sync(mask, v, {s})', 'code')
    d.caption(384, 'All lanes execute every step; only what leads to lane 0 is drawn in full. One shared slot per warp, then '
                   'the first warp does the same with the warps’ sums.')
    return d


def warp_reduce():
    d = Drawing('warp-reduce', 'warp-reduce: say what is wanted, not how',
                'Eight lanes hand their number to one operation and get back the sum: __reduce_add_sync in CUDA, WaveActiveSum '
                'in HLSL, subgroupAdd in GLSL and WGSL.', height=300)
    pitch = 62
    d.text(20, 83, 'registers')
    for i, v in enumerate(DIGITS[:8]):
        x = LEFT + i * pitch
        d.thread(x, 52, i)
        d.cell(x, 66, v, 'register', 40)
        d.arrow(x, 92, x, 122)
        d.arrow(x, 186, x, 212)
        d.cell(x, 214, 31, 'register', 40)
    d.rect(LEFT - 30, 124, 7 * pitch + 60, 62, 'box')
    d.text(LEFT + 3.5 * pitch, 150, '__reduce_add_sync(mask, v)  32-bit integers, since Ampere', 'code middle')
    d.text(LEFT + 3.5 * pitch, 172, 'WaveActiveSum(v)    subgroupAdd(v)', 'code middle')
    d.text(LEFT + 8 * pitch, 230, 'every lane has the sum', 'small dim')
    d.caption(284, 'For floats the order of the additions is the implementation’s: the last bits may differ between GPUs and drivers.')
    return d


def vector_loads():
    d = Drawing('vector-loads', 'vector-loads: 16 bytes per load, several loads under way',
                'Four threads. Each loads four neighbouring numbers with one instruction, and asks for the second four before '
                'the first have arrived; then it adds the eight.', height=330)
    d.text(20, 79, 'global memory')
    for i in range(32):
        group, inside = divmod(i, 4)
        x = 140 + group * 102 + inside * 24
        d.rect(x, 62, 22, 26, 'global')
        d.text(x + 11, 79, DIGITS[i % 16], 'number middle')
    for group in range(8):
        left = 140 + group * 102
        d.path(f'M{left} 94V100H{left + 94}V94', 'flow')
        d.text(left + 47, 56, 'one load', 'tiny dim middle')
    for t in range(4):
        x = 290 + t * 120
        d.thread(x, 186, t)
        for k in range(2):
            d.path(f'M{140 + (t + 4 * k) * 102 + 47} 100C{140 + (t + 4 * k) * 102 + 47} 150 {x} 130 {x} 176',
                   'flow' if t == 0 else 'line')
        d.line(x, 195, x, 214)
        d.cell(x, 214, sum(DIGITS[i % 16] for k in range(2) for i in range((t + 4 * k) * 4, (t + 4 * k) * 4 + 4)), 'register', 44)
    d.text(20, 190, 'threads')
    d.text(20, 232, 'registers')
    d.text(140, 142, 'the first load', 'small dim')
    d.text(720, 166, 'the second load, asked for', 'small dim')
    d.text(720, 182, 'before the first has arrived', 'small dim')
    d.caption(290, 'Memory answers after hundreds of cycles. To keep it busy, bytes must be under way: bandwidth × latency '
                   'of them. Wide loads ask for more with fewer instructions. What is left over at the ends, less than 16 '
                   'bytes, goes one by one.')
    return d


def one_launch():
    d = Drawing('one-launch', 'one-launch: the last block to finish adds up the block sums',
                'Three blocks write their sums to global memory, make them visible with a fence, and draw a ticket. Block 1 draws '
                'the last ticket, so that it adds up the sums of all blocks in a fixed order.', height=400)
    sums = [sum(DIGITS[0:5]), sum(DIGITS[5:10]), sum(DIGITS[10:16])]
    finish, ticket = [150, 228, 186], [0, 2, 1]
    for b in range(3):
        x = 200 + b * 200
        d.rect(x - 60, 56, 120, finish[b] - 56, 'box')
        d.text(x, 78, f'block {b}', 'middle')
        d.text(x, 96, 'adds its part', 'small dim middle')
        d.line(x, finish[b], x, 268)
        d.cell(x, 268, sums[b], 'global', 48)
        d.text(x + 66, finish[b] - 6, f'ticket {ticket[b]}', 'small ' + ('green' if ticket[b] == 2 else 'dim'))
    d.text(20, 286, 'block sums')
    d.text(736, 132, '1. write the sum', 'small')
    d.text(736, 152, '2. __threadfence(): it is seen', 'small')
    d.text(736, 172, '3. ticket = atomicAdd(&n, 1)', 'code')
    d.text(736, 192, '4. ticket == blocks - 1: I am the last', 'small')
    d.line(20, 228, 660, 228, 'barrier')
    d.text(560, 222, 'all sums are there', 'small green')
    for b in range(3):
        d.line(200 + b * 200, 294, 400, 330)
    d.thread(400, 336, 1)
    d.line(400, 345, 400, 354)
    d.cell(400, 354, sum(sums), 'global', 48)
    d.text(440, 341, 'block 1 adds them, always in the same order', 'small')
    d.text(20, 371, 'result')
    return d


def bulk_copy():
    d = Drawing('bulk-copy', 'bulk-copy: the copy engine fills a ring of stages while threads add',
                'The copy engine fetches tiles of global memory into stages of shared memory; threads add the stage that has '
                'arrived, and hand it back to be filled again.', height=400)
    d.text(20, 78, 'global memory')
    for i in range(8):
        d.rect(150 + i * 96, 60, 90, 28, 'global')
        d.text(195 + i * 96, 79, f'tile {i}', 'middle')
    stages = [('stage 0', 'tile 4, on its way', False), ('stage 1', 'tile 1, being added', True),
              ('stage 2', 'tile 2, there', False), ('stage 3', 'tile 3, on its way', False)]
    d.text(20, 202, 'shared memory')
    for i, (stage, state, adding) in enumerate(stages):
        x = 150 + i * 196
        d.rect(x, 180, 176, 46, 'shared' if 'way' not in state else 'empty')
        d.text(x + 88, 199, stage, 'middle')
        d.text(x + 88, 217, state, 'small dim middle')
        tile = [4, 1, 2, 3][i]
        if tile in (3, 4):
            d.path(f'M{195 + tile * 96} 88C{195 + tile * 96} 130 {x + 88} 130 {x + 88} 178', 'flow', True)
    d.text(20, 122, 'cp.async.bulk: no thread', 'small')
    d.text(20, 138, 'and no register is needed', 'small')
    for t in range(6):
        d.thread(374 + t * 22, 290, t)
        d.line(374 + t * 22, 281, 434, 226)
    d.text(520, 286, 'all threads add one stage, then say:', 'small')
    d.text(520, 302, 'free again, fetch the next tile', 'small')
    d.path('M360 290C150 300 190 260 230 230', 'flow', True)
    d.text(20, 340, 'Time', 'dim')
    for i in range(6):
        d.rect(110 + i * 130, 324, 124, 18, 'global')
        d.text(172 + i * 130, 337, f'copy tile {i}', 'tiny middle')
        if i:
            d.rect(110 + i * 130, 346, 124, 18, 'shared')
            d.text(172 + i * 130, 359, f'add tile {i - 1}', 'tiny middle')
    d.caption(386, 'Threads never wait for memory as long as the ring is longer than the delay. A barrier in shared '
                   'memory counts the bytes.')
    return d


def exact():
    d = Drawing('exact', 'exact: every bit goes to its own place, and the sum is rounded once',
                'Three numbers of very different size are added in a register that is wide enough for all of their bits; nothing '
                'is rounded until the end, when the sum is rounded to the nearest number of the result type.', height=334)
    left, width, top = 150, 24, 62
    places = [10 - i for i in range(30)]
    for i, p in enumerate(places):
        d.text(left + i * width + 12, top - 8, p if p % 5 == 0 else '', 'tiny dim middle')
    d.text(20, top - 8, 'place of a bit', 'small dim')
    numbers = [('1000.0', 1000.0), ('0.3125', 0.3125), ('-0.0000114', -(2 ** -17 + 2 ** -18))]
    whole = 0.0
    for row, (text, value) in enumerate(numbers):
        y = top + row * 36
        d.text(20, y + 17, text, 'number')
        bits = abs(value)
        whole += value
        for i, p in enumerate(places):
            one = int(bits / 2.0 ** p) % 2 == 1
            d.rect(left + i * width, y, width - 2, 24, 'register' if one else 'off', 2)
            if one:
                d.text(left + i * width + 11, y + 17, '1', 'number middle')
    y = top + 3 * 36 + 18
    d.line(left, y - 8, left + 30 * width, y - 8, 'line')
    d.text(20, y + 17, 'their exact sum')
    for i, p in enumerate(places):
        one = int(whole / 2.0 ** p) % 2 == 1
        d.rect(left + i * width, y, width - 2, 24, 'shared' if one else 'off', 2)
        d.text(left + i * width + 11, y + 17, '1' if one else '0' if p <= 9 else '', 'number middle' + ('' if one else ' dim'))
    y += 62
    d.path(f'M{left + width} {y - 34}V{y - 28}H{left + 25 * width - 2}V{y - 34}', 'line')
    d.text(left + 13 * width, y - 12, 'the 24 bits that an f32 keeps', 'small dim middle')
    d.path(f'M{left + 25 * width} {y - 34}V{y - 28}H{left + 30 * width - 2}V{y - 34}', 'redline')
    d.text(left + 27.5 * width, y - 12, 'decide the rounding', 'small red middle')
    d.caption(y + 24, 'Added one after the other in f32, each step would drop what does not fit beside the largest number. Kept '
                      'whole, the order cannot matter: integers are added, and integer addition is associative. One rounding, at '
                      'the end, gives the same bits on one thread or a hundred thousand.')
    return d


# ----------------------------------------------------------------------------------------------------------------------
# In shaders
# ----------------------------------------------------------------------------------------------------------------------

def levels():
    d = Drawing('levels', 'Subgroups of any size: add up what subgroups have left, until one number remains',
                'Sixteen numbers in subgroups of four: each subgroup adds up its own and leaves one number in a slot of shared '
                'memory; after a barrier one subgroup adds up the four slots.', height=350)
    values, y = DIGITS, 60
    d.text(20, y + 17, 'registers')
    for i, v in enumerate(values):
        d.cell(column(i) + i // WARP * 14, y, v, 'register')
    level = 1
    while len(values) > 1:
        groups = [values[i:i + WARP] for i in range(0, len(values), WARP)]
        middles = []
        for g, group in enumerate(groups):
            left = column(g * WARP) + g * 14
            middles.append(left + 1.5 * PITCH)
            for lane in range(len(group)):
                d.line(left + lane * PITCH, y + 26, left + lane * PITCH, y + 38)
            d.line(middles[-1], y + 60, middles[-1], y + 70)
            d.rect(left - 18, y + 38, 3 * PITCH + 36, 22, 'box')
            d.text(middles[-1], y + 53, 'subgroupAdd(v)', 'code middle')
        values = [sum(group) for group in groups]
        for middle, v in zip(middles, values):
            d.cell(middle, y + 70, v, 'shared' if len(values) > 1 else 'register', 40)
        if level == 1:
            d.text(20, y + 87, 'one slot per subgroup')
            d.line(20, y + 108, 800, y + 108, 'barrier')
            d.text(812, y + 112, 'barrier()', 'code green')
            for middle, to, v in zip(middles, range(4), values):
                d.arrow(middle, y + 97, column(to), y + 128)
                d.cell(column(to), y + 130, v, 'register')
            d.text(20, y + 147, 'first subgroup')
        y += 130
        level += 1
    d.caption(314, 'Two levels are enough for 4 × 4 numbers here, for 32 × 32 = 1024 on an NVIDIA GPU, and for 8 × 8 = 64 on '
                   'a device with subgroups of 8: there, 256 invocations need a third. Code that stops after two is right on '
                   'one machine and wrong on the next.')
    return d


def window():
    d = Drawing('window', 'A window in integers: high takes whole multiples, low takes everything modulo 2^32',
                'Three numbers of four bits at distances 0, 2 and 5 below the top of a window. What lies left of a line goes to '
                'high; low takes the whole number, and overflows; the two give back the sum.', height=330)
    left, width, top, reach, bits = 330, 34, 76, 6, 0b1011
    places = reach + 4
    def row(y, label, value, style, note=''):
        d.text(20, y + 17, label, 'code')
        for i in range(places):
            one = value >> (places - 1 - i) & 1
            d.rect(left + i * width, y, width - 3, 24, style if one else 'off', 2)
            d.text(left + i * width + width / 2 - 1, y + 17, one, 'number middle' + ('' if one else ' dim'))
        d.text(left + places * width + 16, y + 17, note, 'code')
    for i in range(places):
        d.text(left + i * width + width / 2 - 1, top - 8, f'{places - 1 - i}', 'tiny dim middle')
    d.text(20, top - 8, 'place, from the bottom of the window', 'small dim')
    high = rest = whole = 0
    for k, distance in enumerate((0, 2, 5)):
        value = bits << (reach - distance)
        row(top + 34 * k, f'x = 1011, distance {distance}', value, 'register', f'high += {bits >> distance}')
        high += bits >> distance
        rest += value % (1 << reach)
        whole += value
    line = left + 4 * width - 1.5
    y = top + 34 * 3 + 12
    d.line(line, top - 20, line, y + 100, 'redline')
    row(y, f'high * 2^{reach}', high << reach, 'global', f'high = {high}')
    row(y + 34, 'what rounding down left', rest, 'shared', f'rest = low - high * 2^{reach} = {rest}')
    d.line(left, y + 66, left + places * width, y + 66)
    row(y + 74, 'the sum, exactly', whole, 'shared', f'{high << reach} + {rest} = {whole}')
    assert (high << reach) + rest == whole
    d.caption(y + 122, 'Each number is cut at the line by one shift. Many remainders may pass the line together; they are '
                       'counted all the same, as long as they stay below 2^32.')
    return d


# ----------------------------------------------------------------------------------------------------------------------
# Around the ladder
# ----------------------------------------------------------------------------------------------------------------------

def gpu():
    d = Drawing('gpu', 'What a GPU looks like from C',
                'A grid of blocks; each block has threads, in warps that execute together, and shared memory; all blocks see '
                'global memory; each thread has registers.', height=380)
    d.rect(20, 48, 920, 208, 'box')
    d.text(34, 68, 'grid: one launch of a kernel, kernel<<<blocks, threads>>>(...)', 'small dim')
    for b in range(3):
        x = 36 + b * 302
        d.rect(x, 80, 286, 164, 'band', 6)
        d.text(x + 12, 100, f'block {b}', '')
        for w in range(2):
            d.rect(x + 12 + w * 134, 110, 126, 62, 'box')
            d.text(x + 18 + w * 134, 124, f'warp {w}', 'tiny dim')
            for t in range(4):
                cx = x + 34 + w * 134 + t * 27
                d.thread(cx, 140, 4 * w + t)
                d.rect(cx - 9, 153, 18, 12, 'register', 2)
        d.rect(x + 12, 184, 260, 30, 'shared')
        d.text(x + 142, 203, 'shared memory of this block', 'small middle')
        d.text(x + 12, 234, '__syncthreads(): the block waits for itself', 'small dim')
    d.rect(20, 272, 920, 34, 'global')
    d.text(480, 294, 'global memory: gigabytes, seen by all blocks, hundreds of cycles away', 'middle')
    d.caption(332, 'Orange: registers, a few dozen per thread, at no distance at all. A warp (four threads here, 32 in '
                   'reality) executes one instruction at a time for all of its threads. Blocks of an ordinary launch run in '
                   'any order, and must not wait for each other: what they have in common goes through global memory.')
    return d


def finishes():
    d = Drawing('finishes', 'Finishes: how the sums of blocks become one number',
                'Five ways: copy to the host and add there; every block adds to one cell with an atomic; a second launch of one '
                'block; the same kernel again until one value is left; the last block to finish adds all.', height=330)
    names = ['host', 'atomic', 'second-launch', 'recursive', 'last-block']
    notes = [['copied back,', 'added by the CPU'], ['one cell, in any order;', 'cleared first'],
             ['one more launch', 'of one block'], ['the same kernel,', 'until one is left'],
             ['the last to finish,', 'in the same launch']]
    for k, name in enumerate(names):
        x = 26 + k * 186
        d.text(x + 80, 66, name, 'number middle')
        cells = [x + 20 + i * 40 for i in range(4)]
        for i, c in enumerate(cells):
            d.cell(c, 82, [9, 16, 31, 24][i], 'global')
        if name == 'host':
            d.rect(x + 30, 150, 100, 44, 'box')
            d.text(x + 80, 176, 'CPU', 'middle')
            d.arrow(x + 80, 110, x + 80, 148)
            d.line(x + 80, 194, x + 80, 214)
        elif name == 'atomic':
            for c in cells:
                d.arrow(c, 110, x + 80 + (c - x - 80) * .2, 212)
            d.rect(x + 44, 160, 72, 22, 'blank')
            d.text(x + 80, 176, 'atomicAdd', 'code middle')
        elif name == 'second-launch':
            d.line(x, 128, x + 160, 128, 'barrier')
            for c in cells:
                d.line(c, 108, x + 80, 172)
            d.thread(x + 80, 176, 0)
            d.line(x + 80, 185, x + 80, 214)
        elif name == 'recursive':
            d.line(x, 122, x + 160, 122, 'barrier')
            for pair in range(2):
                px = x + 40 + pair * 80
                d.line(cells[2 * pair], 108, px, 136)
                d.line(cells[2 * pair + 1], 108, px, 136)
                d.cell(px, 136, [25, 55][pair], 'global')
                d.line(px, 162, x + 80, 214)
            d.line(x, 176, x + 160, 176, 'barrier')
        else:
            for c in cells:
                d.line(c, 108, x + 80, 172)
            d.thread(x + 80, 176, 2)
            d.text(x + 96, 180, 'last ticket', 'tiny green')
            d.line(x + 80, 185, x + 80, 214)
        d.cell(x + 80, 214, 80, 'global', 44)
        for i, note in enumerate(notes[k]):
            d.text(x + 80, 262 + 16 * i, note, 'small dim middle')
    d.caption(314, 'Green: the end of a launch, which everything waits for. The order of atomic additions changes from run '
                   'to run, and with it the last bits of a float.')
    return d


def numbers():
    d = Drawing('numbers', 'Why float sums differ: three significant digits, three orders',
                'With three significant decimal digits, 100 + 0.4 + 0.4 + 0.4 is 100 from left to right, but 101 when the small '
                'numbers are added first; exactly it is 101.2, which rounds to 101.', height=300)
    def chain(x, label, steps, result, wrong, note):
        d.text(x, 66, label, '')
        for i, (step, rounded) in enumerate(steps):
            d.text(x, 96 + 30 * i, step, 'number')
            d.text(x + 168, 96 + 30 * i, '→ ' + rounded if rounded else '', 'number dim')
        d.rect(x - 6, 190, 254, 34, 'wrong' if wrong else 'shared')
        d.text(x + 6, 212, result, 'number')
        d.text(x, 246, note, 'small ' + ('red' if wrong else 'green'))
    chain(34, 'from left to right', [('100 + 0.4 = 100.4', '100'), ('100 + 0.4 = 100.4', '100'), ('100 + 0.4 = 100.4', '100')],
          '100', True, 'each 0.4 is rounded away')
    chain(350, 'the small ones first', [('0.4 + 0.4 = 0.8', '0.80'), ('0.8 + 0.4 = 1.2', '1.20'), ('1.2 + 100 = 101.2', '101')],
          '101', False, 'right, in this order')
    chain(666, 'exactly, rounded once', [('100 + 0.4 + 0.4 + 0.4', ''), ('= 101.2', '101')], '101', False,
          'right in every order')
    d.caption(284, 'f32 keeps about 7 digits and f64 about 16, but the effect is the same. Every tree, thread count '
                   'and vector width is another order.')
    return d

# ----------------------------------------------------------------------------------------------------------------------
# Before the climb
# ----------------------------------------------------------------------------------------------------------------------

def start():
    d = Drawing('start', 'A first program: what lies where, and what moves',
                'Numbers are made in host memory and copied to global memory of the GPU; a launch of many blocks reads them and '
                'writes one sum per block; these are copied back, and the CPU adds them.', height=330)
    d.rect(20, 48, 250, 226, 'box')
    d.text(34, 70, 'host: CPU and its memory', 'dim')
    d.rect(330, 48, 610, 226, 'box')
    d.text(344, 70, 'device: GPU and its global memory', 'dim')
    for i, v in enumerate(DIGITS[:6]):
        d.cell(60 + i * 34, 92, v, 'empty')
        d.cell(390 + i * 34, 92, v, 'global')
    d.arrow(256, 105, 368, 105)
    d.text(292, 96, '2', 'title')
    for b in range(3):
        x = 420 + b * 150
        d.rect(x - 56, 158, 124, 40, 'box')
        d.text(x + 6, 182, f'block {b}', 'middle')
        d.line(390 + 2 * b * 34 + 17, 120, x + 6 - 20 * b, 156)
        d.arrow(x + 6, 200, x + 6, 228)
        d.cell(x + 6, 230, DIGITS[2 * b] + DIGITS[2 * b + 1], 'global', 44)
    d.text(640, 100, '1  cudaMalloc: room for numbers and sums', 'small dim')
    d.text(640, 118, '3  kernel<<<blocks, threads>>>(...)', 'small dim')
    for b in range(3):
        d.cell(80 + b * 56, 230, DIGITS[2 * b] + DIGITS[2 * b + 1], 'empty', 44)
    d.path('M398 243L226 243', 'flow', True)
    d.text(292, 234, '4', 'title')
    d.text(44, 216, '5  the CPU adds, and checks', 'small dim')
    d.text(44, 146, 'numbers', 'small dim')
    d.caption(300, '2 and 4: cudaMemcpy, over a bus that is much slower than either memory. 3 only queues the work: the copy at 4 waits '
                   'for it.')
    return d


def coalescing():
    d = Drawing('coalescing', 'Coalescing: what a warp asks for at once should lie together',
                'Eight threads that read eight neighbouring words need one piece of 32 bytes of memory. The same threads that read '
                'every fourth word need four pieces, and use a quarter of what is moved.', height=330)
    def row(y, stride, label, note, style):
        touched = {t * stride // 8 for t in range(8)}
        for i in range(32):
            x = 130 + i * 25 + i // 8 * 8
            used = i % stride == 0 and i // stride < 8
            d.rect(x - 11, y + 56, 22, 26, 'global' if used else 'spent' if i // 8 in touched else 'off')
        for piece in range(4):
            left = 130 + piece * 8 * 25 + piece * 8 - 15
            d.rect(left, y + 50, 204, 38, 'wrong' if piece in touched and stride > 1 else 'box' if piece in touched else 'off')
        for t in range(8):
            i = t * stride
            x = 130 + i * 25 + i // 8 * 8
            d.thread(180 + t * 80, y + 10, t)
            d.line(180 + t * 80, y + 19, x, y + 55)
        d.text(20, y + 14, label, 'code')
        d.text(20, y + 72, 'memory', 'small dim')
        d.text(130, y + 106, note, 'small ' + style)
    row(52, 1, 'input[i]', 'one piece of 32 bytes for eight words: all that is moved is used', 'green')
    row(178, 4, 'input[4 * i]', 'four pieces for eight words: three quarters of what is moved is thrown away', 'red')
    d.caption(312, 'Memory is moved in pieces of 32 bytes (sectors). A warp has 32 threads; neighbouring floats are four pieces.')
    return d


def occupancy():
    d = Drawing('occupancy', 'Occupancy: how many threads a multiprocessor holds at once',
                'A multiprocessor has places for 2048 threads and 65536 registers. Threads with 32 registers fill all places; with '
                '64 registers half of them; with 128 a quarter. Shared memory can be what runs out as well.', height=330)
    for k, (registers, blocks) in enumerate(((32, 8), (64, 4), (128, 2))):
        y = 70 + k * 72
        d.text(20, y + 20, f'{registers} registers per thread', '')
        for b in range(8):
            x = 220 + b * 78
            d.rect(x, y, 72, 30, 'register' if b < blocks else 'empty')
            if b < blocks:
                d.text(x + 36, y + 20, f'block {b}', 'small middle')
        d.text(858, y + 20, f'{100 * blocks // 8}%', 'title')
        d.text(220, y + 48, f'{blocks} blocks × 256 threads × {registers} registers = {blocks * 256 * registers} of 65536', 'small dim')
    d.caption(300, 'While one warp waits for memory, another computes: that is what the others are for. More is not better by itself: '
                   'a few threads with many loads under way each wait as well as many threads with one.')
    return d


def bytes_in_flight():
    d = Drawing('bytes-in-flight', 'Bytes in flight: bandwidth × latency must be under way',
                'Three time lines. With one load under way, the memory is idle most of the time; with two it is used twice as much; '
                'with as many as fit in the latency, it never idles.', height=340)
    def line(y, label, loads, note, style):
        d.text(20, y + 16, label, '')
        span, width = 236, 44
        for i in range(loads * 3):
            turn, k = divmod(i, loads)
            x = 190 + turn * span + k * (width + 3)
            if x + span > 930:
                break
            d.rect(x + span - width - 8, y + 30, width, 16, 'global')
            d.path(f'M{x} {y + 8}L{x + span - width - 10} {y + 34}', 'line' if k else 'flow', k == 0)
            d.text(x, y + 4, '↓', 'tiny middle')
        d.text(20, y + 44, note, 'small ' + style)
    line(62, 'one load at a time', 1, 'memory: mostly idle', 'red')
    line(140, 'two at once', 2, 'memory: twice as busy', 'dim')
    line(218, 'five at once', 5, 'memory: always busy', 'green')
    d.caption(304, 'Arrows: a request and, a latency later, its bytes (blue). A thread that adds what it loaded before it asks again is the '
                   'first line. Many threads, wide loads, and several loads per thread all fill the gaps.')
    return d


def brent():
    d = Drawing('brent', 'Brent’s theorem: first many additions per thread, then the tree',
                'Sixteen numbers. With eight threads the tree takes four steps, in which 15 of 32 places for additions are used. Two '
                'threads take eight steps, in which 15 of 16 are used.', height=376)
    def chart(left, threads, steps, title, note):
        d.text(left, 66, title, '')
        for t in range(threads):
            for s, working in enumerate(steps):
                busy = t < working
                d.rect(left + 70 + t * 34, 84 + s * 26, 30, 22, 'on' if busy else 'off', 2)
        for s, working in enumerate(steps):
            d.text(left, 100 + s * 26, f'step {s + 1}', 'small dim')
            d.text(left + 80 + threads * 34, 100 + s * 26, f'{working}', 'number dim')
        used, room = sum(steps), threads * len(steps)
        assert used == 15
        d.text(left, 84 + len(steps) * 26 + 20, f'{used} of {room} places used; {note}', 'small dim')
    chart(40, 8, (8, 4, 2, 1), 'eight threads, the tree at once', 'time 4, cost 8 × 4 = 32')
    chart(560, 2, (2, 2, 2, 2, 2, 2, 2, 1), 'two threads, seven additions each, then the tree', 'time 8, cost 2 × 8 = 16')
    d.caption(346, 'n numbers on p threads take n / p + log2 p steps, up to rounding. Up to about n / log2 n threads that costs no more additions '
                   'than a loop, and hardly more time than all threads: so give each thread many numbers.')
    return d


def blocks_of(d, y, count, text, left=150, pitch=110, style='box', width=96, height=40):
    """Blocks in a row, each with a line of text."""
    for b in range(count):
        d.rect(left + b * pitch, y, width, height, style)
        d.text(left + b * pitch + width / 2, y + 17, f'block {b}', 'small middle')
        d.text(left + b * pitch + width / 2, y + 32, text[b] if isinstance(text, list) else text, 'tiny dim middle')


def harris_seven():
    d = Drawing('harris-seven', 'harris-seven: two elements per thread and turn, and no loop in the tree',
                'Two blocks of four threads. In a turn each thread adds two elements, a block apart: block 0 takes elements 0 to 7, block 1 '
                'elements 8 to 15; then the grid moves on.', height=300)
    d.text(20, 78, 'global memory')
    for i in range(32):
        x = 150 + i * 25
        d.rect(x - 11, 62, 22, 26, 'global')
        d.text(x, 79, DIGITS[i % 16], 'number middle')
        if i % 16 == 0:
            d.text(x + 190, 50, ['first turn', 'second turn'][i // 16], 'small dim middle')
    for block in range(2):
        for t in range(4):
            target = 230 + block * 360 + t * 60
            for k in range(4):
                x = 150 + (16 * (k // 2) + 8 * block + 4 * (k % 2) + t) * 25
                d.path(f'M{x} 88C{x} 126 {target} 110 {target} 144', 'flow' if k < 2 else 'line')
            d.thread(target, 154, 4 * block + t)
            d.line(target, 163, target, 178)
            values = [DIGITS[(16 * (k // 2) + 8 * block + 4 * (k % 2) + t) % 16] for k in range(4)]
            d.cell(target, 178, sum(values), 'shared', 40)
        d.text(230 + block * 360 + 90, 236, 'if (B >= 512) ... if (B >= 256) ...', 'code middle')
        d.arrow(230 + block * 360 + 90, 206, 230 + block * 360 + 90, 222)
    d.text(20, 196, 'shared memory')
    d.caption(276, 'Harris’s kernel 7 of 2007: the grid walks, two loads are under way per turn, and the block’s size is known when compiling.')
    return d


def cg_reduce():
    d = Drawing('cg-reduce', 'cg-reduce: a warp is an object, and its sum a call',
                'A block of eight threads is cut into tiles of four. reduce() gives each thread of a tile the sum of the tile.', height=250)
    for tile in range(2):
        left = 150 + tile * 420
        d.rect(left - 24, 56, 260, 132, 'box')
        d.text(left - 14, 76, f'tile {tile}: tiled_partition<4>(block)', 'code')
        for t in range(4):
            x, value = left + 20 + t * 56, DIGITS[4 * tile + t]
            d.thread(x, 98, 4 * tile + t)
            d.cell(x, 112, value, 'register')
            d.line(x, 138, x, 154)
            d.cell(x, 154, sum(DIGITS[4 * tile:4 * tile + 4]), 'register')
        d.text(left + 252, 171, 'reduce(tile, x)', 'code')
    d.text(20, 129, 'registers')
    d.caption(222, 'No mask, no lane number, no distance in the source. Which instructions it becomes is decided by the type.')
    return d


def overlapped_launch():
    d = Drawing('overlapped-launch', 'overlapped-launch: the next launch is there before this one has ended',
                'Two launches in a stream. Plainly launched, the second begins some time after the first has ended. Overlapping, its blocks '
                'come early, wait inside the kernel, and begin to read at once.', height=320)
    def strip(y, title, first, second, gap, waits):
        d.text(20, y + 20, title)
        d.rect(190, y, first, 30, 'global')
        d.text(190 + first / 2, y + 20, 'launch 1', 'middle')
        start = 190 + first + gap
        if waits:
            d.rect(start - 150, y + 40, 150, 30, 'empty')
            d.text(start - 75, y + 60, 'set up, wait', 'small middle')
        else:
            d.text(190 + first + gap / 2, y + 20, 'nothing', 'tiny red middle')
        d.rect(start, y + (40 if waits else 0), second, 30, 'global')
        d.text(start + second / 2, y + (60 if waits else 20), 'launch 2', 'middle')
    strip(60, 'plain', 280, 280, 70, False)
    strip(140, 'overlapping', 280, 280, 6, True)
    d.line(476, 130, 476, 226, 'barrier')
    d.text(484, 226, 'griddepcontrol.wait returns: launch 1 has ended, and all that it wrote is seen', 'small green')
    d.caption(270, 'What the launch before wrote may be what this one reads or overwrites: so wait before anything in global memory is touched. '
                   'Then let the next launch come.')
    return d


def cooperative():
    d = Drawing('cooperative', 'cooperative: a barrier for the whole grid',
                'Four blocks store their sums and meet at grid.sync(). Then block 0 adds the sums; the others end.', height=330)
    sums = [sum(DIGITS[4 * b:4 * b + 4]) for b in range(4)]
    blocks_of(d, 56, 4, 'adds its part', pitch=150)
    for b in range(4):
        x = 198 + b * 150
        d.line(x, 96, x, 120)
        d.cell(x, 120, sums[b], 'global', 44)
        d.line(x, 146, x, 170)
    d.line(140, 172, 800, 172, 'barrier')
    d.text(806, 176, 'grid.sync()', 'small green')
    d.text(20, 138, 'block sums')
    for b in range(4):
        d.path(f'M{198 + b * 150} 146C{198 + b * 150} 200 198 190 198 226', 'flow' if b == 0 else 'line')
    d.thread(198, 236, 0)
    d.line(198, 245, 198, 256)
    d.cell(198, 256, sum(sums), 'global', 44)
    d.text(236, 241, 'adds them', 'small')
    for b in range(1, 4):
        d.text(198 + b * 150, 241, 'ends', 'small dim middle')
    d.text(20, 273, 'result')
    d.caption(312, 'A cooperative launch promises that all blocks are on the device at once. Otherwise some would wait for blocks that cannot begin.')
    return d


def cluster():
    d = Drawing('cluster', 'cluster: blocks that read each other’s shared memory',
                'Two clusters of four blocks. Each block leaves its sum in its own shared memory; the first block of the cluster reads all four '
                'and delivers one sum.', height=330)
    for c in range(2):
        left = 130 + c * 410
        d.rect(left - 10, 50, 394, 190, 'box')
        d.text(left, 68, f'cluster {c}', 'small dim')
        total = 0
        for b in range(4):
            x, value = left + 48 + b * 94, DIGITS[8 * c + 2 * b] + DIGITS[8 * c + 2 * b + 1]
            total += value
            d.text(x, 90, f'block {4 * c + b}', 'small middle')
            d.rect(x - 40, 98, 80, 52, 'box')
            d.cell(x, 112, value, 'shared', 44)
            d.path(f'M{x} 138C{x} 180 {left + 48} 160 {left + 48} 190', 'flow' if b else 'line')
        d.thread(left + 48, 200, 0)
        d.text(left + 70, 205, 'map_shared_rank(&slot, rank)', 'code')
        d.line(left + 48, 209, left + 48, 262)
        d.cell(left + 48, 262, total, 'global', 44)
    d.text(20, 129, 'shared memory')
    d.text(20, 279, 'one sum each')
    d.caption(312, 'The blocks of a cluster run at the same time on neighbouring multiprocessors. None may end while its memory is being read.')
    return d


def producer_warp():
    d = Drawing('producer-warp', 'producer-warp: one warp orders the copies, the others add',
                'The producer warp runs ahead through a ring of stages and orders a copy into each that is free; the other warps add the '
                'stages that have arrived.', height=330)
    for i, state in enumerate(('free: order tile 6', 'tile 3, being added', 'tile 4, there', 'tile 5, on its way')):
        x = 150 + i * 196
        d.rect(x, 120, 176, 46, 'empty' if 'free' in state or 'way' in state else 'shared')
        d.text(x + 88, 139, f'stage {i}', 'middle')
        d.text(x + 88, 157, state, 'small dim middle')
    d.text(20, 146, 'shared memory')
    d.rect(170, 56, 136, 34, 'box')
    d.text(238, 77, 'warp 0: orders', 'middle')
    d.arrow(238, 90, 238, 118)
    d.rect(350, 206, 400, 34, 'box')
    d.text(550, 227, 'warps 1 to 7: wait for a tile, add it, say that it is read', 'middle')
    d.arrow(434, 166, 434, 204)
    d.path('M350 224C200 224 120 180 170 150', 'flow', True)
    d.text(150, 252, '"read": the stage is free again', 'small')
    d.text(330, 77, 'waits for "read" of a stage, never for data', 'small dim')
    d.caption(296, 'In bulk-copy one thread does both, and its warp waits for the slowest. Here nobody who adds waits for anything but data.')
    return d


def rows():
    d = Drawing('rows', 'Sums of rows: who takes a row',
                'A matrix of four rows. A thread per row reads addresses a whole row apart; a warp per row reads neighbours; several rows per warp '
                'read neighbours with no lane idle.', height=330)
    def matrix(left, title, owner, note):
        d.text(left, 60, title)
        for r in range(4):
            for c in range(8):
                d.rect(left + c * 26, 72 + r * 30, 24, 24, 'global')
                lane = owner(r, c)
                if lane is not None:
                    d.thread(left + c * 26 + 12, 84 + r * 30, lane, True, 8)
        for i, line in enumerate(note):
            d.text(left, 212 + 16 * i, line, 'small dim')
    matrix(40, 'a thread per row', lambda r, c: r if c == 0 else None, ['one step: four addresses,', 'each a row from the next'])
    matrix(360, 'a warp per row', lambda r, c: c if r == 0 and c < 4 else None, ['one step: four neighbours;', 'then shuffles, then the next row'])
    matrix(680, 'two rows per warp', lambda r, c: 2 * r + c if r < 2 and c < 2 else None, ['one step: two rows at once;', 'half as many shuffles'])
    d.caption(276, 'A matrix lies in memory row by row. Which way is best depends on the length of a row: short rows need several per warp, long ones a '
                   'warp or a block each.')
    return d


def groups():
    d = Drawing('groups', 'Sums by group: who waits for whom',
                'Eight elements with keys. With atomic additions in global memory all threads queue for the sums; with a copy per block only '
                'those of one block do; where keys are sorted, neighbours add up first.', height=330)
    def elements(left, title, keys, note):
        d.text(left, 60, title)
        for i, key in enumerate(keys):
            d.cell(left + 12 + i * 30, 76, key, 'global', 26)
            d.thread(left + 12 + i * 30, 124, i, radius=8)
            d.line(left + 12 + i * 30, 102, left + 12 + i * 30, 115)
        for i, line in enumerate(note):
            d.text(left, 260 + 16 * i, line, 'small dim')
        return [left + 12 + i * 30 for i in range(len(keys))]
    keys, in_order = (2, 0, 2, 1, 2, 2, 0, 2), (0, 0, 1, 2, 2, 2, 2, 2)
    def sums(left, y, style, between=50):
        for g in range(3):
            d.cell(left + g * between, y, g, style)
        return [left + g * between for g in range(3)]
    x = elements(40, 'group-global', keys, ['eight atomic additions,', 'five of them to one sum'])
    at = sums(100, 214, 'global')
    for i, key in enumerate(keys):
        d.line(x[i], 133, at[key], 212, 'redline' if key == 2 else 'line')
    x = elements(360, 'group-shared: a copy per block', keys, ['queues are short, and near;', 'then one addition per copy and group'])
    for block in range(2):
        at = sums(386 + 124 * block, 160, 'shared', 36)
        for i in range(4 * block, 4 * block + 4):
            d.line(x[i], 133, at[keys[i]], 159)
        for a, b in zip(at, (420, 470, 520), strict=True):
            d.line(a, 186, b, 213)
    sums(420, 214, 'global')
    x = elements(680, 'group-runs: keys sorted', in_order, ['neighbours of one key add up first:', 'an addition per run'])
    at = sums(740, 214, 'global')
    for g, run in enumerate(((0, 1), (2, 2), (3, 7))):
        d.rect(x[run[0]] - 11, 140, x[run[1]] - x[run[0]] + 22, 18, 'register')
        d.arrow((x[run[0]] + x[run[1]]) / 2, 158, at[g], 212)
    d.caption(306, 'The number in a cell of the array is its key, below it the thread that has it; the cells at the bottom are the sums. Additions of floats '
                   'in any order give other bits in every run; those of integers (group-slices, group-exact) do not.')
    return d


DRAWINGS = [start, coalescing, occupancy, bytes_in_flight, brent, gpu, global_halving, neighbour_modulo, neighbour_strided,
            halving, first_add, last_warp_implicit, last_warp_right, unrolled, grid_stride, harris_seven, shuffle, warp_reduce,
            cg_reduce, vector_loads, one_launch, overlapped_launch, cooperative, cluster, bulk_copy, producer_warp, exact, rows,
            groups, levels, window, finishes, numbers]


def main():
    """draw.py [DOCS]: the folder below which the drawings go, docs/ if none is given."""
    docs = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    in_chinese = drawn.Chinese()
    for edition, Drawing.words in (('', str), ('zh', in_chinese)):
        for drawing in DRAWINGS:
            drawing().write(os.path.join(docs, edition, 'ladder'))
    in_chinese.check()


if __name__ == '__main__':
    main()
