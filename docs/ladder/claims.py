#!/usr/bin/env python3
"""What the tutorial says in words of measured figures, each as a test of the figures:

    python3 docs/ladder/claims.py      names the sentences that the results in results/ do not bear out; status 1 if there are any

So that sentences are looked at again when something is measured anew. Figures themselves are put in by tables.py.
"""
import json
import os
import sys

import chapters
import tables

MI = 1 << 20

# The languages of shaders that run through Vulkan.
SHADERS = ('glsl', 'hlsl', 'slang')


def seconds(report, name, n, finish=None):
    row = tables.of_finish(report, name, finish, n) if finish else report.own(name, 'f32', n)
    return row['seconds'] if row else None


def share(report, name, n):
    return report.own(name, 'f32', n)['of_limit']


def compared(report, name, other, n, finishes=('atomic', 'second-launch', 'recursive', 'last-block'), kinds=('i32', 'f32', 'f64')):
    """How many times as long as another rung one takes at a size, with each finish that is made on the GPU and of each type."""
    of = {(row['name'], row['variant'], row['type']): row['seconds'] for row in report.rungs if row['n'] == n}
    return [of[name, finish, kind] / of[other, finish, kind] for finish in finishes for kind in kinds if (name, finish, kind) in of]


def row_on(machine, name, n):
    """A rung in CUDA on a machine of docs/results/, by the name of its file."""
    with open(os.path.join(chapters.DOCS, 'results', machine + '.json'), encoding='utf-8') as file:
        rows = json.load(file)['rows']
    return next(row for row in rows
                if (row['group'], row['name'], row['language'], row['type'], row['n']) == ('rungs', name, 'cuda', 'f32', n))


def share_on(machine, name, n):
    return row_on(machine, name, n)['of_limit']


def seconds_on(machine, name, n):
    return row_on(machine, name, n)['seconds']


def gains(report, name, sizes=None):
    """How many times faster a rung is than the one that it starts from, at each size."""
    return [gain for n in sizes or report.sizes if (gain := report.gain(name, 'f32', n)) is not None]


def last_block_costs(report, sizes, kind='f32'):
    """What last-block takes more than atomic, at each of the sizes that are measured."""
    of = {(row['variant'], row['n']): row['seconds'] for row in report.rungs if (row['name'], row['type']) == ('vector-loads', kind)}
    return [of['last-block', n] - of['atomic', n] for n in sizes if ('atomic', n) in of]


def last_block_gains(report, kind):
    """What last-block takes less than second-launch, by size."""
    of = {(row['variant'], row['n']): row['seconds'] for row in report.rungs if (row['name'], row['type']) == ('vector-loads', kind)}
    return [of['second-launch', n] - of['last-block', n] for n in report.sizes if (('last-block', n) in of)]


def rung_of_textures(report, how, language, n=32 * MI):
    """What it takes to sum texels so, or an array."""
    return next(row['seconds'] for row in report.whole['rows'] if (row['group'], row['name'], row['variant'], row['language'], row['n']) ==
                ('applications', 'texture', how, language, n))


def tiles_behind(report, n, language='cuda'):
    """What texels by tiles take longer than by rows."""
    return rung_of_textures(report, 'texels by tiles', language, n) - rung_of_textures(report, 'texels by rows', language, n)


def wide_costs(report, n, language='cuda', since='grid-stride'):
    """What blocks of 1024 take of the time, by rung, from one on."""
    names = report.names[report.names.index(since):]
    return {name: cost for name in names if (cost := report.blocks.cost(language, name, n))}


def errors(report, finish):
    """Errors with a finish, of floats, at the largest size."""
    return [row['ulp'] for row in report.rungs if row['variant'] == finish and row['n'] == report.sizes[-1] and row['ulp'] is not None]


def exact_takes(report, language, n, note=None):
    """The exact rung in a shader, of f32, by what its note says of the window."""
    return next(row['seconds'] for row in report.whole['rows'] if row['group'] == 'rungs' and
                (row['name'], row['language'], row['type'], row['n'], row['note']) == ('exact', language, 'f32', n, note))


def near(figure, said):
    """Within a tenth of what a sentence says."""
    return figure is not None and abs(figure - said) <= 0.1 * abs(said)


def seen(report, name, field):
    return report.profiled(name)[field]


def peer(report, name, kind, n):
    return next((row['seconds'] for row in report.group('peers') if (row['name'], row['type'], row['n']) == (name, kind, n)),
                None)


def same_bits(report, language):
    """Whether shuffle and warp-reduce gave the same sums in a language, at every size."""
    got = {}
    for row in report.whole['rows']:
        if row['group'] == 'rungs' and row['language'] == language and row['type'] == 'f32' and row['verdict'] in tables.GOOD:
            got[row['name'], row['variant'], row['n']] = row['got']
    pairs = [(value, got.get(('warp-reduce', *rest))) for (name, *rest), value in got.items() if name == 'shuffle' and rest[0] != 'atomic']
    return all(a == b for a, b in pairs if b is not None)


def in_shaders(report, name, language, n):
    """A rung in a language of shaders, f32 with its own finish."""
    return next(row for row in report.whole['rows'] if (row['group'], row['name'], row['language'], row['type'], row['n'], row['variant']) ==
                ('rungs', name, language, 'f32', n, tables.OWN_FINISH[name]))


def of_glsl(report, name):
    """What a rung reads in WGSL at 256 Mi, of what it reads in GLSL."""
    return in_shaders(report, name, 'glsl', 256 * MI)['seconds'] / in_shaders(report, name, 'wgsl', 256 * MI)['seconds']


def integers_cost(report, kind, n):
    """What exact takes through Vulkan with a window in integers, as a multiple of that with one in f64."""
    of = {row['note']: row['seconds'] for row in report.whole['rows']
          if (row['group'], row['name'], row['language'], row['type'], row['n']) == ('rungs', 'exact', 'glsl', kind, n)}
    return of['window in 32-bit integers'] / of['window in f64']


def many(report, group, name, language='cuda', kind='f32'):
    """A rung of the ladders of rows and of groups."""
    return next(row for row in report.many if (row['group'], row['name'], row['language'], row['type']) == (group, name, language, kind))


def shown(report, experiment, row, column):
    """A figure of an experiment's table."""
    return report.experiments[experiment, row, column]


def exact_behind(report, kind, n, sign=1):
    """What exact takes more than overlapped-launch, or, with a sign of -1, less."""
    return sign * (shown(report, 'cell-exact', n, f'{kind} `exact`') - shown(report, 'cell-exact', n, f'{kind} `overlapped-launch`'))


def takes_more(report, name, other, kind, n):
    """What a rung takes more than another one, each with its own finish."""
    return report.own(name, kind, n)['seconds'] - report.own(other, kind, n)['seconds']


def textures_apart(report, how):
    """What GLSL takes more than CUDA."""
    return shown(report, 'cell-textures', how, 'GLSL') - shown(report, 'cell-textures', how, 'CUDA')


def noisy(report):
    """Rows of applications that spread by more than is told."""
    return [row for row in report.whole['rows'] if row['group'] == 'applications' and (row['spread'] or 0) > tables.NOISY]


# Page, what it says, and whether it is so. What is not measured yet cannot be wrong: such claims are of rungs or experiments in NEEDS.
CLAIMS = [
    ('cells', 'the divergence of neighbour-modulo is 0', None, lambda r: r.profiled('neighbour-modulo')['divergence'] == 0),
    ('cells', 'global-halving has shared transactions, and no shared memory', None,
     lambda r: r.profiled('global-halving')['shared_transactions'] > 0 and r.profiled('global-halving')['shared_bytes'] == 0),
    ('cells', 'counted by warps, shared transactions come out to ten or fifteen per block, in every kernel', None,
     lambda r: all(5 < tables.shared_per_block(r, name) - counted < 18 for name, (_, counted) in tables.TREES.items())),
    ('cells', 'atomic is the fastest finish of vector-loads at 4 Mi', None,
     lambda r: all(seconds(r, 'vector-loads', 4 * MI, 'atomic') <= seconds(r, 'vector-loads', 4 * MI, finish)
                   for finish in ('host', 'second-launch', 'recursive', 'last-block'))),
    ('cells', 'last-block takes 0.7 to 0.8 µs more than atomic at 4 and 10 Mi, and 1.0 to 1.2 µs from 32 Mi on, half a percent at 256 Mi', None,
     lambda r: all(0.65e-6 < cost < 0.85e-6 for cost in last_block_costs(r, [4 * MI, 10 * MI])) and
     all(0.95e-6 < cost < 1.25e-6 for cost in last_block_costs(r, [32 * MI, 256 * MI])) and
     all(near(cost / seconds(r, 'vector-loads', 256 * MI, 'atomic'), 0.005) for cost in last_block_costs(r, [256 * MI]))),
    ('cells', 'at 1 Mi last-block is ahead of atomic by 0.1 µs, and behind it by 0.1 µs with integers', None,
     lambda r: all(0.05e-6 < sign * cost < 0.15e-6 for kind, sign in (('f32', -1), ('i32', 1)) for cost in last_block_costs(r, [MI], kind))),
    ('cells', 'exact is behind overlapped-launch at 1 Mi, and ahead at 4 Mi', 'overlapped-launch',
     lambda r: gains(r, 'exact', [MI])[0] < 1 < gains(r, 'exact', [4 * MI])[0]),
    ('cells', 'windows take 1.5 µs, as much at 64 Ki as at 512 Ki', None,
     lambda r: all(near(shown(r, 'cell-exact', n, 'f32 `exact`') - shown(r, 'cell-exact', n, 'i32 `exact`'), 1.5e-6) for n in ('64 Ki', '512 Ki'))),
    ('cells', 'without a window exact is ahead by 1.1 to 1.4 µs from 64 Ki to 1 Mi', 'overlapped-launch',
     lambda r: all(1.05e-6 < exact_behind(r, 'i32', n, -1) < 1.45e-6 for n in ('64 Ki', '256 Ki', '512 Ki', '1 Mi'))),
    ('cells', 'on the H200 exact is behind by 0.8 µs at 1 Mi in f32, ahead by 0.4 in i32 and 0.2 in f64; at 4 Mi it is ahead in all three', None,
     lambda r: all(abs(takes_more(r, 'exact', 'overlapped-launch', kind, MI) - said) < 0.05e-6
                   for kind, said in (('f32', 0.8e-6), ('i32', -0.4e-6), ('f64', -0.2e-6))) and
     all(takes_more(r, 'exact', 'overlapped-launch', kind, 4 * MI) < 0 for kind in ('i32', 'f32', 'f64'))),
    ('cells', 'in f32 it is 0.3 to 0.5 µs behind there, level at 2 Mi and ahead at 4 Mi; in f64 it is ahead throughout', 'overlapped-launch',
     lambda r: all(0.25e-6 < exact_behind(r, 'f32', n) < 0.5e-6 for n in ('64 Ki', '256 Ki', '512 Ki', '1 Mi')) and
     abs(exact_behind(r, 'f32', '2 Mi')) < 0.1e-6 and exact_behind(r, 'f32', '4 Mi') < -1e-6 and
     all(exact_behind(r, 'f64', n) < 0 for n in ('1 Ki', '64 Ki', '256 Ki', '512 Ki', '1 Mi', '2 Mi', '4 Mi'))),
    ('cells', "last-warp takes 35 µs more in GLSL than the 73 in CUDA, of which the group's barrier is three quarters, and so is the loop", None,
     lambda r: near(seconds_on('nvidia-h100-80gb-hbm3', 'last-warp', 32 * MI), 73e-6) and
     near(shown(r, 'cell-last-warp', 'as it is', 'time') - seconds_on('nvidia-h100-80gb-hbm3', 'last-warp', 32 * MI), 35e-6) and
     all(near(shown(r, 'cell-last-warp', 'as it is', 'time') - shown(r, 'cell-last-warp', way, 'time'), 3 / 4 * 35e-6)
         for way in ('no barrier of the group at the end', 'six steps written out, for 32 lanes'))),
    ('cells', 'on the H200 last-warp takes 36 µs more in GLSL than in CUDA', None,
     lambda r: near(in_shaders(r, 'last-warp', 'glsl', 32 * MI)['seconds'] - seconds(r, 'last-warp', 32 * MI), 36e-6)),
    ('cells', 'with both, and sums in registers, 2 µs are left, less than the 4 that first-add differs by', None,
     lambda r: 1.5e-6 < (shown(r, 'cell-last-warp', 'both, and sums in registers, as in CUDA', 'time') -
                         seconds_on('nvidia-h100-80gb-hbm3', 'last-warp', 32 * MI)) < 2.5e-6 and
     3.5e-6 < (shown(r, 'cell-last-warp', '`first-add` in GLSL', 'time') - seconds_on('nvidia-h100-80gb-hbm3', 'first-add', 32 * MI)) < 4.5e-6),
    ('cells', 'on the H200 global-halving takes 254 µs in WGSL at 32 Mi, 192 in CUDA and 831 in GLSL, and more than six times as long in WGSL as in CUDA at 256 Mi',
     None, lambda r: abs(seconds(r, 'global-halving', 32 * MI) - 192e-6) < 0.5e-6 and
     all(abs(in_shaders(r, 'global-halving', language, 32 * MI)['seconds'] - said) < 0.5e-6 for language, said in (('wgsl', 254e-6), ('glsl', 831e-6))) and
     (256 * MI not in r.sizes or
      6 < in_shaders(r, 'global-halving', 'wgsl', 256 * MI)['seconds'] / seconds(r, 'global-halving', 256 * MI) < 7)),
    ('cells', 'after spirv-opt Slang takes what GLSL takes', None,
     lambda r: near(shown(r, 'cell-last-warp', '`last-warp` in Slang, after `spirv-opt -O`', 'time'), shown(r, 'cell-last-warp', 'as it is', 'time'))),
    ('cells', 'what global-halving costs more in shaders is the barrier for the device', None,
     lambda r: all(shown(r, 'cell-global-halving', f'{loads} L1; on the device', language) > 2 * shown(r, 'cell-global-halving', f'{loads} L1; within the block', language)
                   for loads in ('in', 'past') for language in ('CUDA', 'GLSL'))),
    ('neighbour-strided', 'a word for all lanes costs what neighbours cost, and each further word of a bank a clock', None,
     lambda r: near(shown(r, 'banks', 'all lanes the same word', 'time per load of a warp'), shown(r, 'banks', 'neighbours', 'time per load of a warp')) and
     near(shown(r, 'banks', 'every 32nd word', 'time per load of a warp'), 32 / 1.98)),
    ('cluster', 'the second wave is two thirds of what is lost, and empty multiprocessors three percent', None,
     lambda r: near(shown(r, 'clusters', '8', '256 Mi, 1056 blocks') - shown(r, 'clusters', '8', '256 Mi, as many as fit'),
                    2 / 3 * (shown(r, 'clusters', '8', '256 Mi, 1056 blocks') - shown(r, 'clusters', 'none', '256 Mi, 1056 blocks'))) and
     near(shown(r, 'clusters', '8', '256 Mi, as many as fit') / shown(r, 'clusters', 'none', '256 Mi, 1056 blocks'), 1.03)),
    ('cluster', 'on the H200 the rung is behind one-launch by 4.6% at 256 Mi, and by 0.9 µs at 1 Mi', 'cluster',
     lambda r: near(takes_more(r, 'cluster', 'one-launch', 'f32', MI), 0.9e-6) and
     (256 * MI not in r.sizes or abs(seconds(r, 'cluster', 256 * MI) / seconds(r, 'one-launch', 256 * MI) - 1.046) < 0.0025)),
    ('cluster', 'on another H100 it was half a percent and 1.5 µs', 'cluster',
     lambda r: near(seconds_on('nvidia-h100-80gb-hbm3', 'cluster', MI) - seconds_on('nvidia-h100-80gb-hbm3', 'one-launch', MI), 1.5e-6) and
     1.0025 < seconds_on('nvidia-h100-80gb-hbm3', 'cluster', 256 * MI) / seconds_on('nvidia-h100-80gb-hbm3', 'one-launch', 256 * MI) < 1.0075),
    ('applications', 'what spreads is of the processor, or waits for it', None,
     lambda r: all(row['device'].startswith('cpu') or 'returns to the host' in (row['note'] or '') for row in noisy(r))),
    ('applications', 'the busy machine takes two to seven times as long as the quiet one, that of the table 0.8 to 1.4 times', None,
     lambda r: all(1.8 < shown(r, 'noise', name, 'time, on a busy day') / shown(r, 'noise', name, 'time') < 7.7
                   for name in ('dot', 'maximum', 'mean', 'norm2', 'product', 'affine composition')) and
     all(0.75 < row['seconds'] / shown(r, 'noise', row['name'], 'time') < 1.45 for row in r.group('applications')
         if row['device'].startswith('cpu') and row['type'] in ('f32', 'i32') and row['n'] == 4 * MI)),
    ('applications', 'kernels on the GPU spread by no more than half a percent', None,
     lambda r: all(row['spread'] <= 0.005 for row in r.group('applications') if row['seconds'] and row['n'] == 4 * MI and
                   not row['device'].startswith('cpu') and 'returns to the host' not in (row['note'] or ''))),
    ('shuffle', 'from 4 Mi on it is level with grid-stride, and at 1 Mi it takes 1 to 3% longer; cg-reduce is not behind', None,
     lambda r: all(0.98 < times < 1.015 for n in r.sizes if n > MI for times in compared(r, 'shuffle', 'grid-stride', n)) and
     all(1.005 < times < 1.035 for times in compared(r, 'shuffle', 'grid-stride', MI)) and
     all(times < 1.005 for times in compared(r, 'cg-reduce', 'grid-stride', MI))),
    ('shuffle', 'f32 with second-launch took 7% longer at 1 Mi on an H100, and takes 1% on the H200', None,
     lambda r: 1.065 < share_on('nvidia-h100-80gb-hbm3', 'grid-stride', MI) / share_on('nvidia-h100-80gb-hbm3', 'shuffle', MI) < 1.08 and
     1.005 < compared(r, 'shuffle', 'grid-stride', MI, ('second-launch',), ('f32',))[0] < 1.015),
    ('overlapped-launch', '5% are left at 10 Mi and 2% at 32 Mi, and at 256 Mi it is level', 'overlapped-launch',
     lambda r: all(abs(gains(r, 'overlapped-launch', [n])[0] - said) < 0.005 for n, said in ((10 * MI, 1.05), (32 * MI, 1.02), (256 * MI, 1))
                   if n in r.sizes)),
    ('overlapped-launch', 'recursive is the faster way from 4 Mi on, by 9% at 4 Mi and by 1% at 256 Mi', 'overlapped-launch',
     lambda r: all(seconds(r, 'overlapped-launch', n, 'recursive') < seconds(r, 'overlapped-launch', n, finish)
                   for n in r.sizes if n >= 4 * MI for finish in ('last-block', 'second-launch', 'atomic')) and
     all(abs(seconds(r, 'overlapped-launch', n, 'recursive') / seconds(r, 'overlapped-launch', n, 'last-block') - said) < 0.005
         for n, said in ((4 * MI, 0.91), (256 * MI, 0.99)) if n in r.sizes)),
    ('grid-stride', 'unrolled is 9% faster than last-warp at 32 Mi', None,
     lambda r: 1.085 < seconds(r, 'last-warp', 32 * MI, 'recursive') / seconds(r, 'unrolled', 32 * MI, 'recursive') < 1.095),
    ('grid-stride', 'most of the gain at 256 Mi is the finish: second-launch spends 179 µs more than recursive on the sums of unrolled', None,
     lambda r: 256 * MI not in r.sizes or
     (179e-6 < (cost := seconds(r, 'unrolled', 256 * MI, 'second-launch') - seconds(r, 'unrolled', 256 * MI, 'recursive')) < 179.5e-6 and
      cost > 0.5 * (seconds(r, 'unrolled', 256 * MI, 'second-launch') - seconds(r, 'grid-stride', 256 * MI, 'second-launch')))),
    ('grid-stride', 'with recursive on both sides it is ahead of unrolled by 9% at 256 Mi, 417 µs against 457, for f64 by 4%', None,
     lambda r: 256 * MI not in r.sizes or
     (1.085 < compared(r, 'unrolled', 'grid-stride', 256 * MI, ('recursive',), ('f32',))[0] < 1.095 and
      1.035 < compared(r, 'unrolled', 'grid-stride', 256 * MI, ('recursive',), ('f64',))[0] < 1.045 and
      abs(seconds(r, 'grid-stride', 256 * MI, 'recursive') - 417e-6) < 0.5e-6 and
      abs(seconds(r, 'unrolled', 256 * MI, 'recursive') - 457e-6) < 0.5e-6)),
    ('grid-stride', 'at 1 Mi unrolled is ahead, by 1% with second-launch and by 6% with recursive', None,
     lambda r: all(said - 0.005 < compared(r, 'grid-stride', 'unrolled', MI, (finish,), ('f32',))[0] - 1 < said + 0.005
                   for finish, said in (('second-launch', 0.01), ('recursive', 0.06)))),
    ('bytes-in-flight', 'grid-stride reads 2.59 TB/s at 256 Mi and harris-seven 3.64', 'harris-seven',
     lambda r: 256 * MI not in r.sizes or (near(MI * 1024 / seconds(r, 'grid-stride', 256 * MI, 'second-launch'), 2.59e12) and
                                           near(MI * 1024 / seconds(r, 'harris-seven', 256 * MI, 'second-launch'), 3.64e12))),
    ('cells', 'exact is ahead of atomic at 10 Mi, where overlapped-launch is 1% behind', 'overlapped-launch',
     lambda r: 10 * MI not in r.sizes or seconds(r, 'exact', 10 * MI) < seconds(r, 'vector-loads', 10 * MI, 'atomic') and
     1.005 < seconds(r, 'overlapped-launch', 10 * MI) / seconds(r, 'vector-loads', 10 * MI, 'atomic') < 1.015),
    ('cells', 'exact and overlapped-launch are ahead of atomic at 1 and 4 Mi', 'overlapped-launch',
     lambda r: all(seconds(r, name, n) < seconds(r, 'vector-loads', n, 'atomic') for name in ('exact', 'overlapped-launch') for n in (MI, 4 * MI))),
    ('looking-back', 'the copy engine is 3 to 4% behind good loads at 32 Mi, and at 256 Mi 2% behind with a warp of its own, or level', 'producer-warp',
     lambda r: all(1.025 < seconds(r, name, 32 * MI) / seconds(r, 'one-launch', 32 * MI) < 1.045 for name in ('bulk-copy', 'producer-warp')) and
     all(abs(seconds(r, name, 256 * MI) / seconds(r, 'one-launch', 256 * MI) - said) < 0.005 for name, said in
         (('bulk-copy', 1), ('producer-warp', 1.02)) if 256 * MI in r.sizes)),
    ('bulk-copy', 'from 4 to 32 Mi it is 4 to 5% behind one-launch, at 256 Mi level', 'bulk-copy',
     lambda r: all(1.035 < seconds(r, 'bulk-copy', n) / seconds(r, 'one-launch', n) < 1.055 for n in r.sizes if 4 * MI <= n <= 32 * MI) and
     (256 * MI not in r.sizes or abs(seconds(r, 'bulk-copy', 256 * MI) / seconds(r, 'one-launch', 256 * MI) - 1) < 0.005)),
    ('cells', 'exact is ahead of vector-loads with atomic by 6% at 10 Mi, behind it by 4% at 32 Mi, and ahead by 0.8% at 256 Mi', None,
     lambda r: all(abs(seconds(r, 'vector-loads', n, 'atomic') / seconds(r, 'exact', n) - said) < within for n, said, within in
                   ((10 * MI, 1.06, 0.005), (32 * MI, 0.96, 0.005), (256 * MI, 1.008, 0.001)) if n in r.sizes)),
    ('cells', 'exact takes 33.2 µs for 32 Mi i32, and atomic 33.7', None,
     lambda r: abs(r.own('exact', 'i32', 32 * MI)['seconds'] - 33.2e-6) < 0.06e-6 and
     all(abs(row['seconds'] - 33.7e-6) < 0.06e-6 for row in r.rungs
         if (row['name'], row['variant'], row['type'], row['n']) == ('vector-loads', 'atomic', 'i32', 32 * MI))),
    ('figures', 'exact is at 99% of the read limit at 256 Mi on the H200, and at 101% on an H100', None,
     lambda r: 256 * MI not in r.sizes or (0.985 < share(r, 'exact', 256 * MI) < 0.995 and
                                           1.005 < share_on('nvidia-h100-80gb-hbm3', 'exact', 256 * MI) < 1.015)),
    ('cells', 'exact is ahead of vector-loads with a finish that gives the same bits on every run, but at 32 Mi 1% behind last-block', None,
     lambda r: all(seconds(r, 'exact', n) < seconds(r, 'vector-loads', n, finish)
                   for n in r.sizes if n != 32 * MI for finish in ('last-block', 'second-launch', 'recursive')) and
     1.005 < seconds(r, 'exact', 32 * MI) / seconds(r, 'vector-loads', 32 * MI, 'last-block') < 1.015),
    ('exact', 'overlapped-launch is at 97% of the read limit at 256 Mi, and at 32 Mi exact takes 2.5% longer', 'overlapped-launch',
     lambda r: (256 * MI not in r.sizes or abs(share(r, 'overlapped-launch', 256 * MI) - 0.97) < 0.006) and
     abs(gains(r, 'exact', [32 * MI])[0] - 1 / 1.025) < 0.003),
    ('texture', 'GLSL takes 7 µs longer than CUDA by rows, from an array 3.4; less these it is 3 to 4 µs behind by rows, and 3 ahead by tiles', None,
     lambda r: all(3e-6 < textures_apart(r, f'texels by rows, {how}') - textures_apart(r, 'from an array') < 4e-6
                   for how in ("shifts (CUDA's rung)", "divisions (GLSL's)")) and near(textures_apart(r, 'from an array'), 3.4e-6) and
     all(near(textures_apart(r, 'from an array') - textures_apart(r, f'texels by tiles, {how}'), 2.7e-6) for how in ('shifts', 'divisions (both)'))),
    ('cells', 'where launches weigh more, exact is ahead of atomic, too', None,
     lambda r: seconds(r, 'exact', 4 * MI) < seconds(r, 'vector-loads', 4 * MI, 'atomic')),
    ('looking-back', 'vector-loads is the step from half of the read limit to 84% at 32 Mi, and from 57% to 98% at 256 Mi', None,
     lambda r: all(abs(share(r, name, n) - said) < 0.006 for name, n, said in
                   (('warp-reduce', 32 * MI, 0.5), ('vector-loads', 32 * MI, 0.84), ('warp-reduce', 256 * MI, 0.57), ('vector-loads', 256 * MI, 0.98))
                   if n in r.sizes)),
    ('looking-back', 'global-halving is not the worst rung any more', None,
     lambda r: seconds(r, 'global-halving', 32 * MI) < seconds(r, 'neighbour-modulo', 32 * MI)),
    ('looking-back', 'shuffles and the sum of a warp hardly show in the time of a large array', None,
     lambda r: all(0.95 < gain < 1.05 for name in ('shuffle', 'warp-reduce') for gain in gains(r, name, [32 * MI]))),
    ('numbers', 'with a finish that is a tree all rungs come out within a unit', None,
     lambda r: all(ulp < 1 for finish in ('second-launch', 'recursive', 'last-block') for ulp in errors(r, finish))),
    ('numbers', 'with host and atomic they are up to 216 units off', None,
     lambda r: r.sizes[-1] < 256 * MI or all(near(max(errors(r, finish)), 216) for finish in ('host', 'atomic'))),
    ('numbers', 'of f32 that cancel, a plain loop has no digit right', None, lambda r: r.numbers['plain'] > 1 << 22),
    ('numbers', 'of f32 that cancel, kahan and pairwise have some', None,
     lambda r: all(1 < r.numbers[name] < 1 << 18 for name in ('kahan', 'pairwise'))),
    ('numbers', 'of f32 that cancel, only the exact sum has all', None,
     lambda r: r.numbers['exact'] <= 0.5 and all(ulp > 0.5 for name, ulp in r.numbers.items() if name != 'exact')),
    ('one-launch', 'it gains 0.7 µs of f32 at 1 Mi, at most 0.3 above, where it is level; for i32 second-launch is ahead from 4 to 32 Mi', None,
     lambda r: near(last_block_gains(r, 'f32')[0], 0.7e-6) and all(0 < gain < 0.35e-6 for gain in last_block_gains(r, 'f32')[1:]) and
     all(gain < 0 for n, gain in zip(r.sizes, last_block_gains(r, 'i32')) if 4 * MI <= n <= 32 * MI) and
     all(0.98 < gain < 1.02 for gain in gains(r, 'one-launch', [n for n in r.sizes if n >= 4 * MI]))),
    ('one-launch', 'a second launch costs 0.6 to 1.5 µs beside atomic', None,
     lambda r: all(0.55e-6 < seconds(r, 'vector-loads', n, 'second-launch') - seconds(r, 'vector-loads', n, 'atomic') < 1.55e-6 for n in r.sizes)),
    ('one-launch', 'vector-loads is at 98% of the read limit at 256 Mi', None,
     lambda r: 256 * MI not in r.sizes or abs(share(r, 'vector-loads', 256 * MI) - 0.98) < 0.006),
    ('texture', 'in CUDA by tiles is slower than by rows at 32 Mi, and faster at 4 Mi; in shaders it is faster at 32 Mi', None,
     lambda r: tiles_behind(r, 32 * MI) > 0 > tiles_behind(r, 4 * MI) and all(tiles_behind(r, 32 * MI, language) < 0 for language in SHADERS)),
    ('texture', "on the table's machine GLSL is 0.7 µs behind CUDA from an array, and 2.4 ahead by tiles", None,
     lambda r: near(rung_of_textures(r, 'from an array', 'glsl') - rung_of_textures(r, 'from an array', 'cuda'), 0.7e-6) and
     near(rung_of_textures(r, 'texels by tiles', 'cuda') - rung_of_textures(r, 'texels by tiles', 'glsl'), 2.4e-6)),
    ('tutorials', 'first-add is 1.75 times as fast as halving at 10 Mi', None, lambda r: all(near(gain, 1.75) for gain in gains(r, 'first-add', [10 * MI]))),
    ('tutorials', 'with a fixed grid blocks of 1024 gain up to a fifth at 4 Mi, and lose 8 to 11% with the copy engine, 5% with clusters',
     'producer-warp',
     lambda r: 0.78 < min(wide_costs(r, 4 * MI).values()) < 0.85 and abs(wide_costs(r, 4 * MI)['cluster'] - 1.05) < 0.006 and
     all(1.075 < wide_costs(r, n)[name] < 1.115 for n in (4 * MI, 10 * MI) for name in ('bulk-copy', 'producer-warp'))),
    ('tutorials', 'in GLSL, HLSL and Slang blocks of 1024 with a fixed grid cost up to 9%, in WGSL 2 to 15%', None,
     lambda r: all(0.97 < cost < 1.095 for language in SHADERS for n in (4 * MI, 10 * MI) for cost in wide_costs(r, n, language).values()) and
     all(1.015 < cost < 1.155 for n in (4 * MI, 10 * MI) for cost in wide_costs(r, n, 'wgsl').values())),
    ('tutorials', 'knowing the size of blocks of 256 is worth a few percent', 'static-blocks',
     lambda r: all(1.01 < shown(r, 'static-blocks', '`blockDim.x`, 256 threads', n) / shown(r, 'static-blocks', '`BLOCK_SIZE`, 256 threads', n) < 1.12
                   for n in ('4 Mi', '10 Mi', '32 Mi'))),
    ('cg-reduce', 'that it is shorter hardly shows: 1 to 4% at 1 Mi, less than one from 10 Mi on', 'cg-reduce',
     lambda r: all(0.96 < times < 0.995 for times in compared(r, 'cg-reduce', 'warp-reduce', MI)) and
     all(0.99 < times < 1.01 for n in r.sizes if n >= 10 * MI for times in compared(r, 'cg-reduce', 'warp-reduce', n))),
    ('harris-seven', 'grid-stride is at half of the read limit', None, lambda r: abs(share(r, 'grid-stride', 32 * MI) - 0.5) < 0.01),
    ('vector-loads', 'warp-reduce reaches half of the read limit', None, lambda r: abs(share(r, 'warp-reduce', 32 * MI) - 0.5) < 0.01),
    ('harris-seven', 'vector-loads is faster', 'harris-seven',
     lambda r: seconds(r, 'vector-loads', 32 * MI, 'second-launch') < seconds(r, 'harris-seven', 32 * MI, 'second-launch')),
    ('overlapped-launch', 'for small arrays it saves the gap', 'overlapped-launch',
     lambda r: all(gain > 1 for gain in gains(r, 'overlapped-launch', [MI]))),
    ('cooperative', 'one-launch is the one to use', 'cooperative', lambda r: all(gain < 1.1 for gain in gains(r, 'cooperative', [4 * MI, 32 * MI]))),
    ('cluster', 'a sum has little to gain', 'cluster', lambda r: all(gain < 1.1 for gain in gains(r, 'cluster', [32 * MI]))),
    ('producer-warp', 'a sum has too little to do per byte', 'producer-warp',
     lambda r: seconds(r, 'one-launch', 32 * MI) < 1.1 * seconds(r, 'producer-warp', 32 * MI)),
    ('finishes', 'vector-loads is at 98% of the read limit at 256 Mi, at 84% at 32 Mi with 31.2 active lanes and 100% occupancy, at 1 Mi at 15%, in '
     '5.36 µs or 21.7', None,
     lambda r: all(abs(share(r, 'vector-loads', n) - said) < 0.006 for n, said in ((256 * MI, 0.98), (32 * MI, 0.84), (MI, 0.15)) if n in r.sizes) and
     near(seen(r, 'vector-loads', 'active_lanes'), 31.2) and seen(r, 'vector-loads', 'occupancy') == 1 and
     abs(seconds(r, 'vector-loads', MI, 'last-block') - 5.36e-6) < 0.01e-6 and abs(seconds(r, 'vector-loads', MI, 'host') - 21.7e-6) < 0.1e-6),
    ('finishes', 'where a million blocks draw tickets each takes 2 to 3 ns more than with recursive', None,
     lambda r: 256 * MI not in r.sizes or
     all(1.5e-9 < (seconds(r, name, 256 * MI, 'last-block') - seconds(r, name, 256 * MI, 'recursive')) / MI < 3e-9
         for name in ('global-halving', 'neighbour-modulo', 'neighbour-strided', 'halving'))),
    ('rows', 'one sum of 32 Mi is at 84% of the read limit and takes 35 µs, with a block for each row of 64 419 µs, 7%', None,
     lambda r: abs(share(r, 'vector-loads', 32 * MI) - 0.84) < 0.006 and near(seconds(r, 'vector-loads', 32 * MI), 35e-6) and
     near(many(r, 'rows of 64', 'row-block')['seconds'], 419e-6) and near(many(r, 'rows of 64', 'row-block')['of_limit'], 0.07)),
    ('rows', 'in GLSL row-block takes twice as long in rows of 16, and less than half as long in rows of 65536', None,
     lambda r: near(many(r, 'rows of 16', 'row-block', 'glsl')['seconds'] / many(r, 'rows of 16', 'row-block')['seconds'], 2) and
     many(r, 'rows of 65536', 'row-block', 'glsl')['seconds'] < 0.5 * many(r, 'rows of 65536', 'row-block')['seconds']),
    ('groups', 'rows of 64 are at 77% of the read limit, of 4096 at 88%, one sum at 84%; 100 groups take 7.43 ms, 0.8%', None,
     lambda r: abs(many(r, 'rows of 64', 'row-vectors')['of_limit'] - 0.77) < 0.006 and
     abs(many(r, 'rows of 4096', 'row-vectors')['of_limit'] - 0.88) < 0.006 and abs(share(r, 'vector-loads', 32 * MI) - 0.84) < 0.006 and
     near(many(r, '100 groups, random keys', 'group-global')['seconds'], 7.43e-3) and
     near(many(r, '100 groups, random keys', 'group-global')['of_limit'], 0.008)),
    ('groups', 'a float takes 1.76 ns in the queue for one sum, on both machines', None,
     lambda r: abs(many(r, '1 groups, random keys', 'group-global')['seconds'] / (32 * MI) - 1.76e-9) < 0.006e-9 and
     abs(shown(r, 'cell-atomics', '1', 'f32') / (4 * MI) - 1.76e-9) < 0.006e-9),
    ('groups', 'with one group slices are faster than one atomic addition; f64 is slower with 100 random groups, faster with 10000; sorted is slower',
     None,
     lambda r: many(r, '1 groups, random keys', 'group-slices')['seconds'] < many(r, '1 groups, random keys', 'group-global')['seconds'] and
     many(r, '100 groups, random keys', 'group-global', kind='f64')['seconds'] > many(r, '100 groups, random keys', 'group-global')['seconds'] and
     many(r, '10000 groups, random keys', 'group-global', kind='f64')['seconds'] < many(r, '10000 groups, random keys', 'group-global')['seconds'] and
     all(many(r, f'{n} groups, sorted keys', 'group-global')['seconds'] > many(r, f'{n} groups, random keys', 'group-global')['seconds']
         for n in (100, 10000, 1000000))),
    ('shaders', 'one-launch has 32 registers, 132 shared bytes and 100% occupancy; at 256 Mi it is at 98% of the read limit, in HLSL at 94%', None,
     lambda r: (seen(r, 'one-launch', 'registers'), seen(r, 'one-launch', 'shared_bytes'), seen(r, 'one-launch', 'occupancy')) == (32, 132, 1) and
     (256 * MI not in r.sizes or abs(share(r, 'one-launch', 256 * MI) - 0.98) < 0.006 and
      all(abs(in_shaders(r, 'one-launch', language, 256 * MI)['of_limit'] - said) < 0.006 for language, said in
          (('glsl', 0.98), ('slang', 0.98), ('hlsl', 0.94))))),
    ('shaders', 'at 1 Mi one-launch takes 5.36 µs in CUDA, 6.26 in WGSL, 6.31 in GLSL, 6.41 in Slang and 7.73 in HLSL', None,
     lambda r: near(seconds(r, 'one-launch', MI), 5.36e-6) and
     all(near(in_shaders(r, 'one-launch', language, MI)['seconds'], said) for language, said in
         (('wgsl', 6.26e-6), ('glsl', 6.31e-6), ('slang', 6.41e-6), ('hlsl', 7.73e-6)))),
    ('shaders', 'at 256 Mi WGSL reads 87% of what GLSL reads in one-launch, 94% in vector-loads, and is 15 to 19% behind where a tree is a loop', None,
     lambda r: 256 * MI not in r.sizes or
     all(abs(of_glsl(r, name) - said) < 0.006 for name, said in (('one-launch', 0.87), ('vector-loads', 0.94))) and
     all(0.81 < of_glsl(r, name) < 0.855 for name in ('neighbour-modulo', 'neighbour-strided', 'halving', 'first-add'))),
    ('shaders', 'at 256 Mi exact reads in WGSL 58% of what it reads in GLSL with a window in f64, and 65% of what it does with one in integers', None,
     lambda r: 256 * MI not in r.sizes or
     all(abs(exact_takes(r, 'glsl', 256 * MI, note) / exact_takes(r, 'wgsl', 256 * MI) - said) < 0.006
         for note, said in (('window in f64', 0.58), ('window in 32-bit integers', 0.65)))),
    ('shaders', 'at 256 Mi unrolled is ahead of all other shaders in WGSL', None,
     lambda r: 256 * MI not in r.sizes or
     all(in_shaders(r, 'unrolled', 'wgsl', 256 * MI)['seconds'] < in_shaders(r, 'unrolled', language, 256 * MI)['seconds'] for language in SHADERS)),
    ('shaders', 'at 1 Mi global-halving takes 16.7 µs in WGSL, in the other shaders 35 to 41, and is behind them at 256 Mi', None,
     lambda r: near(in_shaders(r, 'global-halving', 'wgsl', MI)['seconds'], 16.7e-6) and
     all(34.5e-6 < in_shaders(r, 'global-halving', language, MI)['seconds'] < 41.5e-6 for language in SHADERS) and
     (256 * MI not in r.sizes or of_glsl(r, 'global-halving') < 1)),
    ('shaders', 'at 1 Mi the rungs with a fixed grid take 12.5 to 12.6 µs in WGSL, 8.4 to 9.7 in the other shaders, vector-loads 7.32', None,
     lambda r: all(12.45e-6 < in_shaders(r, name, 'wgsl', MI)['seconds'] < 12.65e-6 and
                   all(8.35e-6 < in_shaders(r, name, language, MI)['seconds'] < 9.75e-6 for language in SHADERS)
                   for name in ('grid-stride', 'shuffle', 'warp-reduce')) and near(in_shaders(r, 'vector-loads', 'wgsl', MI)['seconds'], 7.32e-6)),
    ('shaders', 'in WGSL one-launch gains 1.1 µs at 1 Mi, and is behind vector-loads with a second launch at 32 and 256 Mi', None,
     lambda r: near(in_shaders(r, 'vector-loads', 'wgsl', MI)['seconds'] - in_shaders(r, 'one-launch', 'wgsl', MI)['seconds'], 1.1e-6) and
     all(in_shaders(r, 'one-launch', 'wgsl', n)['seconds'] > in_shaders(r, 'vector-loads', 'wgsl', n)['seconds'] for n in r.sizes if n > 10 * MI)),
    ('shaders', 'from grid-stride on large arrays take the same through Vulkan, but in HLSL one-launch is 4% behind', None,
     lambda r: 256 * MI not in r.sizes or
     all(abs(in_shaders(r, name, language, 256 * MI)['seconds'] / seconds(r, name, 256 * MI) - 1) < 0.025
         for name in ('grid-stride', 'shuffle', 'warp-reduce', 'vector-loads', 'one-launch') for language in SHADERS
         if (name, language) != ('one-launch', 'hlsl')) and
     1.035 < in_shaders(r, 'one-launch', 'hlsl', 256 * MI)['seconds'] / seconds(r, 'one-launch', 256 * MI) < 1.045),
    ('shaders', 'at 256 Mi a window in integers takes 11% longer than one in f64, and 9% longer of f64', None,
     lambda r: 256 * MI not in r.sizes or all(abs(integers_cost(r, kind, 256 * MI) - said) < 0.006 for kind, said in (('f32', 1.11), ('f64', 1.09)))),
    ('tutorials', '4 Mi floats take 34 µs by #2, 29 by #3 and 9 by one-launch', None,
     lambda r: near(seconds(r, 'neighbour-strided', 4 * MI), 34e-6) and near(seconds(r, 'halving', 4 * MI), 29e-6) and
     near(seconds(r, 'one-launch', 4 * MI), 9e-6)),
    ('tutorials', 'a factor of 4.9 between #3 and one-launch at 32 Mi', None,
     lambda r: abs(seconds(r, 'halving', 32 * MI) / seconds(r, 'one-launch', 32 * MI) - 4.9) < 0.06),
    ('tutorials', 'occupancy is 100% from global-halving to one-launch; bulk-copy and exact run at 25%', None,
     lambda r: all(seen(r, name, 'occupancy') == 1 for name in r.names[:r.names.index('one-launch') + 1] if name not in ('cg-reduce',)) and
     seen(r, 'bulk-copy', 'occupancy') == seen(r, 'exact', 'occupancy') == 0.25),
    ('tutorials', '67,722 transactions of shared memory for shuffle at 32 Mi, 84,289 for grid-stride and 28,690,010 for halving', None,
     lambda r: all(near(seen(r, name, 'shared_transactions'), said) for name, said in
                   (('shuffle', 67722), ('grid-stride', 84289), ('halving', 28690010)))),
    ('tutorials', '67,673 transactions of shared memory for warp-reduce', None, lambda r: near(seen(r, 'warp-reduce', 'shared_transactions'), 67673)),
    ('tutorials', 'halving makes 166 transactions of shared memory in a nanosecond, first-add 151, unrolled 82', None,
     lambda r: all(near(seen(r, name, 'shared_transactions') / seconds(r, name, 32 * MI, 'recursive'), said * 1e9) for name, said in
                   (('halving', 166), ('first-add', 151), ('unrolled', 82)))),
    ('tutorials', 'from unrolled to shuffle transactions fall to an eightieth, and the time by 6%', None,
     lambda r: near(seen(r, 'unrolled', 'shared_transactions') / seen(r, 'shuffle', 'shared_transactions'), 80) and
     abs(1 - seconds(r, 'shuffle', 32 * MI, 'recursive') / seconds(r, 'unrolled', 32 * MI, 'recursive') - 0.06) < 0.006),
    ('tutorials', 'whole warps are worth 1.3 to 1.6 times', None, lambda r: all(1.3 < gain < 1.6 for gain in gains(r, 'neighbour-strided'))),
    ('tutorials', 'bank conflicts of halving are 0.6%', None,
     lambda r: seen(r, 'halving', 'bank_conflicts') < 0.02 * seen(r, 'halving', 'shared_transactions')),
    ('tutorials', 'Thrust takes 30.2 µs for 1 Mi ints, CUB 6.2 and one-launch 5.2', None,
     lambda r: near(peer(r, 'thrust::reduce', 'i32', MI), 30.2e-6) and near(peer(r, 'CUB DeviceReduce::Sum', 'i32', MI), 6.2e-6) and
     near(r.own('one-launch', 'i32', MI)['seconds'], 5.2e-6)),
    ('tutorials', 'first-add is 1.6 to 1.9 times as fast as halving at 4 Mi and 32 Mi', None,
     lambda r: all(1.5 < gain < 2 for gain in gains(r, 'first-add', [4 * MI, 32 * MI]))),
    ('tutorials', 'shuffle and warp-reduce give the same bits in CUDA, GLSL and HLSL', None,
     lambda r: all(same_bits(r, language) for language in ('cuda', 'glsl', 'hlsl'))),
    ('tutorials', 'shuffle is at 50% of the limit, and four loads of 16 bytes bring 1.66 times', None,
     lambda r: near(share(r, 'shuffle', 32 * MI), 0.50) and all(near(gain, 1.66) for gain in gains(r, 'vector-loads', [32 * MI]))),
    ('unity', 'the halving kernel sums 4 Mi floats in 29 µs, one-launch in 9', None,
     lambda r: near(seconds(r, 'halving', 4 * MI), 29e-6) and near(seconds(r, 'one-launch', 4 * MI), 9e-6)),
    ('interview', 'from 50% to 84% of what can be read', None,
     lambda r: abs(share(r, 'warp-reduce', 32 * MI) - 0.50) < 0.006 and abs(share(r, 'vector-loads', 32 * MI) - 0.84) < 0.006),
    ('interview', 'on an H100 from 67% to 89%', None,
     lambda r: abs(share_on('nvidia-h100-80gb-hbm3', 'warp-reduce', 32 * MI) - 0.67) < 0.006 and
     abs(share_on('nvidia-h100-80gb-hbm3', 'vector-loads', 32 * MI) - 0.89) < 0.006),
]


# Pages that stand beside the tutorial.
BESIDE = ('tutorials', 'unity', 'interview')


def kept():
    """The report that the tutorial's tables are made from, with the errors in f32 of data that cancel, by rung."""
    runs = {name: tables.results.read(name) for name in ('ladder', 'profile', 'numbers')}
    report = tables.Report(runs['ladder'], profile=runs['profile'])
    measured = tables.results.read('experiments')
    cells, machine = measured['rows'], measured['facts'].get('GPU of cell-exact', measured['facts']['GPU']).split(',')[0]
    if report.device() == machine:
        cells, _ = tables.with_the_ladders(cells, report)
    report.experiments = {(cell['experiment'], cell['row'], cell['column']): float(cell['value']) for cell in cells}
    report.blocks = tables.Blocks(tables.results.read('blocks'))
    report.many = [row for name in ('rows', 'groups') for row in tables.results.read(name)['rows']]
    report.numbers = {row['name']: row['ulp'] for row in runs['numbers']['rows'] if row['type'] == 'f32' and row['ulp'] is not None}
    return report


def untrue(report):
    """The page and the sentence of each claim that the report does not bear out."""
    return [f'{page}: {sentence}' for page, sentence, needs, holds in CLAIMS
            if (needs is None or needs in report.names or any(name == needs for name, _, _ in report.experiments)) and not holds(report)]


def main():
    found = untrue(kept())
    for sentence in found:
        print(f'not so in these results: docs/{sentence if sentence.split(":")[0] in BESIDE else "ladder/" + sentence}')
    return 1 if found else 0


if __name__ == '__main__':
    sys.dont_write_bytecode = True
    sys.exit(main())
