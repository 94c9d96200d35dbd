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


def seconds(report, name, n, finish=None):
    row = tables.of_finish(report, name, finish, n) if finish else report.own(name, 'f32', n)
    return row['seconds'] if row else None


def share(report, name, n):
    return report.own(name, 'f32', n)['of_limit']


def share_on(machine, name, n):
    """The same in CUDA on a machine of docs/results/, by the name of its file."""
    with open(os.path.join(chapters.DOCS, 'results', machine + '.json'), encoding='utf-8') as file:
        rows = json.load(file)['rows']
    return next(row['of_limit'] for row in rows
                if (row['group'], row['name'], row['language'], row['type'], row['n']) == ('rungs', name, 'cuda', 'f32', n))


def gains(report, name, sizes=None):
    """How many times faster a rung is than the one that it starts from, at each size."""
    return [gain for n in sizes or report.sizes if (gain := report.gain(name, 'f32', n)) is not None]


def last_block_costs(report):
    """What last-block takes more than atomic, by size."""
    return [seconds(report, 'vector-loads', n, 'last-block') - seconds(report, 'vector-loads', n, 'atomic')
            for n in report.sizes if seconds(report, 'vector-loads', n, 'atomic')]


def last_block_gains(report, kind):
    """What last-block takes less than second-launch, by size."""
    of = {(row['variant'], row['n']): row['seconds'] for row in report.rungs if (row['name'], row['type']) == ('vector-loads', kind)}
    return [of['second-launch', n] - of['last-block', n] for n in report.sizes if (('last-block', n) in of)]


def tiles_behind(report, n):
    """What texels by tiles take longer than by rows, in CUDA."""
    of = {row['variant']: row['seconds'] for row in report.group('applications')
          if (row['name'], row['language'], row['n']) == ('texture', 'cuda', n)}
    return of['texels by tiles'] - of['texels by rows']


def wide_costs(report, n, language='cuda', since='grid-stride'):
    """What blocks of 1024 take of the time, by rung, from one on."""
    names = report.names[report.names.index(since):]
    return {name: cost for name in names if (cost := report.blocks.cost(language, name, n))}


def errors(report, finish):
    """Errors with a finish, of floats, at the largest size."""
    return [row['ulp'] for row in report.rungs if row['variant'] == finish and row['n'] == report.sizes[-1] and row['ulp'] is not None]


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


def many(report, group, name):
    """A rung of the ladders of rows and of groups, f32 in CUDA."""
    return next(row for row in report.many if (row['group'], row['name'], row['language'], row['type']) == (group, name, 'cuda', 'f32'))


def shown(report, experiment, row, column):
    """A figure of an experiment's table."""
    return report.experiments[experiment, row, column]


def exact_behind(report, kind, n, sign=1):
    """What exact takes more than overlapped-launch, or, with a sign of -1, less."""
    return sign * (shown(report, 'cell-exact', n, f'{kind} `exact`') - shown(report, 'cell-exact', n, f'{kind} `overlapped-launch`'))


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
    ('cells', 'last-block takes 0.3 µs more than atomic at 1 Mi, and 1.3 to 1.8 µs from 4 Mi on', None,
     lambda r: near(last_block_costs(r)[0], 0.3e-6) and all(1.25e-6 < cost < 1.85e-6 for cost in last_block_costs(r)[1:])),
    ('cells', 'exact is behind overlapped-launch at 1 Mi, and ahead at 4 Mi', 'overlapped-launch',
     lambda r: gains(r, 'exact', [MI])[0] < 1 < gains(r, 'exact', [4 * MI])[0]),
    ('cells', 'windows take 1.5 µs, as much at 64 Ki as at 512 Ki', None,
     lambda r: all(near(shown(r, 'cell-exact', n, 'f32 `exact`') - shown(r, 'cell-exact', n, 'i32 `exact`'), 1.5e-6) for n in ('64 Ki', '512 Ki'))),
    ('cells', 'without a window exact is ahead by about a microsecond from 64 Ki to 1 Mi', 'overlapped-launch',
     lambda r: all(0.85e-6 < exact_behind(r, 'i32', n, -1) < 1.25e-6 for n in ('64 Ki', '256 Ki', '512 Ki', '1 Mi'))),
    ('cells', 'in f32 it is 0.3 to 0.4 µs behind there, level at 2 Mi and ahead at 4 Mi; in f64 it is ahead throughout', 'overlapped-launch',
     lambda r: all(0.25e-6 < exact_behind(r, 'f32', n) < 0.45e-6 for n in ('64 Ki', '256 Ki', '512 Ki', '1 Mi')) and
     abs(exact_behind(r, 'f32', '2 Mi')) < 0.1e-6 and exact_behind(r, 'f32', '4 Mi') < -1e-6 and
     all(exact_behind(r, 'f64', n) < 0 for n in ('1 Ki', '64 Ki', '256 Ki', '512 Ki', '1 Mi', '2 Mi', '4 Mi'))),
    ('cells', "last-warp takes 35 µs more in GLSL than in CUDA, of which the group's barrier is three quarters, and so is the loop", None,
     lambda r: near(shown(r, 'cell-last-warp', 'as it is', 'time') - seconds(r, 'last-warp', 32 * MI), 35e-6) and
     all(near(shown(r, 'cell-last-warp', 'as it is', 'time') - shown(r, 'cell-last-warp', way, 'time'), 3 / 4 * 35e-6)
         for way in ('no barrier of the group at the end', 'six steps written out, for 32 lanes'))),
    ('cells', 'with both, and sums in registers, 2 µs are left, less than first-add differs by', None,
     lambda r: 1.5e-6 < shown(r, 'cell-last-warp', 'both, and sums in registers, as in CUDA', 'time') - seconds(r, 'last-warp', 32 * MI) < 2.5e-6 <
     shown(r, 'cell-last-warp', '`first-add` in GLSL', 'time') - seconds(r, 'first-add', 32 * MI)),
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
    ('cluster', 'the rung is behind one-launch by half a percent at 256 Mi, and by 1.5 µs at 1 Mi', 'cluster',
     lambda r: near(seconds(r, 'cluster', MI) - seconds(r, 'one-launch', MI), 1.5e-6) and
     (256 * MI not in r.sizes or 1.0025 < seconds(r, 'cluster', 256 * MI) / seconds(r, 'one-launch', 256 * MI) < 1.0075)),
    ('applications', 'what spreads is of the processor, or waits for it', None,
     lambda r: all(row['device'].startswith('cpu') or 'returns to the host' in (row['note'] or '') for row in noisy(r))),
    ('applications', 'the busy machine takes two to seven times as long as the quiet one, that of the table up to 1.4 times', None,
     lambda r: all(1.8 < shown(r, 'noise', name, 'time, on a busy day') / shown(r, 'noise', name, 'time') < 7.7
                   for name in ('dot', 'maximum', 'mean', 'norm2', 'product', 'affine composition')) and
     all(0.95 < row['seconds'] / shown(r, 'noise', row['name'], 'time') < 1.45 for row in r.group('applications')
         if row['device'].startswith('cpu') and row['type'] in ('f32', 'i32') and row['n'] == 4 * MI)),
    ('applications', 'kernels on the GPU spread by no more than half a percent', None,
     lambda r: all(row['spread'] <= 0.005 for row in r.group('applications') if row['seconds'] and row['n'] == 4 * MI and
                   not row['device'].startswith('cpu') and 'returns to the host' not in (row['note'] or ''))),
    ('shuffle', 'it is level with grid-stride at 1 Mi, but for f32 with second-launch', None,
     lambda r: all(near(seconds(r, 'shuffle', MI, finish), seconds(r, 'grid-stride', MI, finish)) for finish in ('atomic', 'last-block')) and
     near(gains(r, 'shuffle', [MI])[0], 0.93)),
    ('overlapped-launch', '2% are left at 10 and 32 Mi, at 256 Mi it takes 1% longer, and recursive is the faster way at 4 Mi', 'overlapped-launch',
     lambda r: all(1.01 < gain < 1.025 for gain in gains(r, 'overlapped-launch', [n for n in (10 * MI, 32 * MI) if n in r.sizes])) and
     (256 * MI not in r.sizes or 0.985 < gains(r, 'overlapped-launch', [256 * MI])[0] < 0.995) and
     seconds(r, 'overlapped-launch', 4 * MI, 'recursive') < 0.95 * seconds(r, 'overlapped-launch', 4 * MI, 'last-block')),
    ('grid-stride', 'with the finish recursive unrolled and grid-stride are level at 256 Mi', None,
     lambda r: near(seconds(r, 'unrolled', 256 * MI, 'recursive') / seconds(r, 'grid-stride', 256 * MI, 'recursive'), 1)
     if 256 * MI in r.sizes else True),
    ('bytes-in-flight', 'grid-stride reads 2.29 TB/s at 256 Mi and harris-seven 2.76', 'harris-seven',
     lambda r: 256 * MI not in r.sizes or (near(MI * 1024 / seconds(r, 'grid-stride', 256 * MI, 'second-launch'), 2.29e12) and
                                           near(MI * 1024 / seconds(r, 'harris-seven', 256 * MI, 'second-launch'), 2.76e12))),
    ('cells', 'exact is ahead of atomic at 10 Mi, where overlapped-launch is not', 'overlapped-launch',
     lambda r: 10 * MI not in r.sizes or seconds(r, 'exact', 10 * MI) < seconds(r, 'vector-loads', 10 * MI, 'atomic') <
     seconds(r, 'overlapped-launch', 10 * MI)),
    ('looking-back', 'the copy engine is no faster than good loads, with a warp of its own or without', 'producer-warp',
     lambda r: all(seconds(r, 'one-launch', 32 * MI) < 1.02 * seconds(r, name, 32 * MI) for name in ('bulk-copy', 'producer-warp'))),
    ('cells', 'less than a percent is between vector-loads with atomic and exact at 32 Mi, and at 256 Mi exact is ahead by two', None,
     lambda r: 0.99 < seconds(r, 'vector-loads', 32 * MI, 'atomic') / seconds(r, 'exact', 32 * MI) < 1.01 and
     (256 * MI not in r.sizes or 1.015 < seconds(r, 'vector-loads', 256 * MI, 'atomic') / seconds(r, 'exact', 256 * MI) < 1.025)),
    ('figures', 'exact is at 101% of the read limit at 256 Mi', None,
     lambda r: 256 * MI not in r.sizes or 1.005 < share(r, 'exact', 256 * MI) < 1.015),
    ('cells', 'exact is ahead of vector-loads with a finish that gives the same bits on every run', None,
     lambda r: all(seconds(r, 'exact', 32 * MI) < seconds(r, 'vector-loads', 32 * MI, finish) for finish in ('last-block', 'second-launch'))),
    ('texture', 'GLSL takes 7 µs longer than CUDA by rows, from an array 3.4; less these it is 3 to 4 µs behind by rows, and 3 ahead by tiles', None,
     lambda r: all(3e-6 < textures_apart(r, f'texels by rows, {how}') - textures_apart(r, 'from an array') < 4e-6
                   for how in ("shifts (CUDA's rung)", "divisions (GLSL's)")) and near(textures_apart(r, 'from an array'), 3.4e-6) and
     all(near(textures_apart(r, 'from an array') - textures_apart(r, f'texels by tiles, {how}'), 2.7e-6) for how in ('shifts', 'divisions (both)'))),
    ('cells', 'where launches weigh more, exact is ahead of atomic, too', None,
     lambda r: seconds(r, 'exact', 4 * MI) < seconds(r, 'vector-loads', 4 * MI, 'atomic')),
    ('looking-back', 'vector-loads is the step from two thirds of the read limit to nine tenths', None,
     lambda r: near(share(r, 'warp-reduce', 32 * MI), 2 / 3) and near(share(r, 'vector-loads', 32 * MI), 0.9)),
    ('looking-back', 'global-halving is not the worst rung any more', None,
     lambda r: seconds(r, 'global-halving', 32 * MI) < seconds(r, 'neighbour-modulo', 32 * MI)),
    ('looking-back', 'shuffles and the sum of a warp hardly show in the time of a large array', None,
     lambda r: all(0.95 < gain < 1.05 for name in ('shuffle', 'warp-reduce') for gain in gains(r, name, [32 * MI]))),
    ('numbers', 'with a finish that is a tree all rungs come out within a unit', None,
     lambda r: all(ulp < 1 for finish in ('second-launch', 'recursive', 'last-block') for ulp in errors(r, finish))),
    ('numbers', 'with host and atomic they are up to 220 units off', None,
     lambda r: r.sizes[-1] < 256 * MI or all(near(max(errors(r, finish)), 220) for finish in ('host', 'atomic'))),
    ('numbers', 'of f32 that cancel, a plain loop has no digit right', None, lambda r: r.numbers['plain'] > 1 << 22),
    ('numbers', 'of f32 that cancel, kahan and pairwise have some', None,
     lambda r: all(1 < r.numbers[name] < 1 << 18 for name in ('kahan', 'pairwise'))),
    ('numbers', 'of f32 that cancel, only the exact sum has all', None,
     lambda r: r.numbers['exact'] <= 0.5 and all(ulp > 0.5 for name, ulp in r.numbers.items() if name != 'exact')),
    ('one-launch', 'it gains 0.8 µs of f32 at 1 Mi and 0.1 at 4 Mi; then it is level, and for i32 second-launch is ahead', None,
     lambda r: near(last_block_gains(r, 'f32')[0], 0.8e-6) and 0.05e-6 < last_block_gains(r, 'f32')[1] < 0.15e-6 and
     all(gain < 0 for gain in last_block_gains(r, 'i32')[2:]) and
     all(0.98 < gain < 1.02 for gain in gains(r, 'one-launch', [n for n in r.sizes if n > 4 * MI]))),
    ('one-launch', 'a second launch costs a microsecond or more beside atomic', None,
     lambda r: all(seconds(r, 'vector-loads', n, 'second-launch') - seconds(r, 'vector-loads', n, 'atomic') > 1e-6 for n in r.sizes)),
    ('texture', 'in CUDA by tiles is slower than by rows at 32 Mi, and faster at 4 Mi', None,
     lambda r: tiles_behind(r, 32 * MI) > 0 > tiles_behind(r, 4 * MI)),
    ('tutorials', 'first-add is 1.75 times as fast as halving at 10 Mi', None, lambda r: all(near(gain, 1.75) for gain in gains(r, 'first-add', [10 * MI]))),
    ('tutorials', 'with a fixed grid blocks of 1024 gain up to a fifth at 4 Mi, and lose 4% with the copy engine', 'producer-warp',
     lambda r: 0.78 < min(wide_costs(r, 4 * MI).values()) < 0.85 and
     all(1.03 < wide_costs(r, n)[name] < 1.06 for n in (4 * MI, 10 * MI) for name in ('bulk-copy', 'producer-warp'))),
    ('tutorials', 'in GLSL, HLSL and Slang blocks of 1024 with a fixed grid cost up to 6%, in WGSL up to 17%', None,
     lambda r: all(0.97 < cost < 1.065 for language in ('glsl', 'hlsl', 'slang') for n in (4 * MI, 10 * MI)
                   for cost in wide_costs(r, n, language).values()) and
     1.165 < max(wide_costs(r, 4 * MI, 'wgsl').values()) < 1.175 and max(wide_costs(r, 10 * MI, 'wgsl').values()) < 1.17),
    ('tutorials', 'knowing the size of blocks of 256 is worth a few percent', 'static-blocks',
     lambda r: all(1.01 < shown(r, 'static-blocks', '`blockDim.x`, 256 threads', n) / shown(r, 'static-blocks', '`BLOCK_SIZE`, 256 threads', n) < 1.12
                   for n in ('4 Mi', '10 Mi', '32 Mi'))),
    ('cg-reduce', 'that it is shorter hardly shows', 'cg-reduce', lambda r: all(0.95 < gain < 1.05 for gain in gains(r, 'cg-reduce', [32 * MI]))),
    ('harris-seven', 'vector-loads is faster', 'harris-seven',
     lambda r: seconds(r, 'vector-loads', 32 * MI, 'second-launch') < seconds(r, 'harris-seven', 32 * MI, 'second-launch')),
    ('overlapped-launch', 'for small arrays it saves the gap', 'overlapped-launch',
     lambda r: all(gain > 1 for gain in gains(r, 'overlapped-launch', [MI]))),
    ('cooperative', 'one-launch is the one to use', 'cooperative', lambda r: all(gain < 1.1 for gain in gains(r, 'cooperative', [4 * MI, 32 * MI]))),
    ('cluster', 'a sum has little to gain', 'cluster', lambda r: all(gain < 1.1 for gain in gains(r, 'cluster', [32 * MI]))),
    ('producer-warp', 'a sum has too little to do per byte', 'producer-warp',
     lambda r: seconds(r, 'one-launch', 32 * MI) < 1.1 * seconds(r, 'producer-warp', 32 * MI)),
    ('finishes', 'vector-loads is at 89% of the read limit with 31.2 active lanes and 100% occupancy, at 1 Mi at 20%, in 5.70 µs or 21.2', None,
     lambda r: near(share(r, 'vector-loads', 32 * MI), 0.89) and near(seen(r, 'vector-loads', 'active_lanes'), 31.2) and
     seen(r, 'vector-loads', 'occupancy') == 1 and near(share(r, 'vector-loads', MI), 0.20) and
     near(seconds(r, 'vector-loads', MI, 'atomic'), 5.70e-6) and near(seconds(r, 'vector-loads', MI, 'host'), 21.2e-6)),
    ('rows', 'one sum of 32 Mi takes 49 µs, with a block for each row of 64 423 µs, 10% of the read limit', None,
     lambda r: near(seconds(r, 'vector-loads', 32 * MI), 49e-6) and near(many(r, 'rows of 64', 'row-block')['seconds'], 423e-6) and
     near(many(r, 'rows of 64', 'row-block')['of_limit'], 0.10)),
    ('groups', 'rows of 64 are at 85% of the read limit, of 4096 at 92%; 100 groups take 7.47 ms, 1.2%', None,
     lambda r: near(many(r, 'rows of 64', 'rows-per-warp')['of_limit'], 0.85) and near(many(r, 'rows of 4096', 'row-vectors')['of_limit'], 0.92) and
     near(many(r, '100 groups, random keys', 'group-global')['seconds'], 7.47e-3) and
     near(many(r, '100 groups, random keys', 'group-global')['of_limit'], 0.012)),
    ('shaders', 'one-launch has 32 registers, 132 shared bytes and 100% occupancy; at 256 Mi it is at 99% of the read limit, in HLSL at 97%', None,
     lambda r: (seen(r, 'one-launch', 'registers'), seen(r, 'one-launch', 'shared_bytes'), seen(r, 'one-launch', 'occupancy')) == (32, 132, 1) and
     (256 * MI not in r.sizes or abs(share(r, 'one-launch', 256 * MI) - 0.99) < 0.006 and
      all(abs(in_shaders(r, 'one-launch', language, 256 * MI)['of_limit'] - said) < 0.006 for language, said in
          (('glsl', 0.99), ('slang', 0.99), ('hlsl', 0.97))))),
    ('shaders', 'at 1 Mi one-launch takes 6.00 µs in CUDA, 6.90 in GLSL, 7.12 in Slang and 8.05 in HLSL', None,
     lambda r: near(seconds(r, 'one-launch', MI), 6.00e-6) and
     all(near(in_shaders(r, 'one-launch', language, MI)['seconds'], said) for language, said in
         (('glsl', 6.90e-6), ('slang', 7.12e-6), ('hlsl', 8.05e-6)))),
    ('tutorials', '4 Mi floats take 35 µs by #2, 30 by #3 and 11 by one-launch', None,
     lambda r: near(seconds(r, 'neighbour-strided', 4 * MI), 35e-6) and near(seconds(r, 'halving', 4 * MI), 30e-6) and
     near(seconds(r, 'one-launch', 4 * MI), 11e-6)),
    ('tutorials', 'a factor of 3.5 between #3 and one-launch at 32 Mi', None,
     lambda r: near(seconds(r, 'halving', 32 * MI) / seconds(r, 'one-launch', 32 * MI), 3.5)),
    ('tutorials', 'occupancy is 100% from global-halving to one-launch; bulk-copy and exact run at 25%', None,
     lambda r: all(seen(r, name, 'occupancy') == 1 for name in r.names[:r.names.index('one-launch') + 1] if name not in ('cg-reduce',)) and
     seen(r, 'bulk-copy', 'occupancy') == seen(r, 'exact', 'occupancy') == 0.25),
    ('tutorials', '67,690 transactions of shared memory for shuffle at 32 Mi, 84,139 for grid-stride and 28,689,918 for halving', None,
     lambda r: all(near(seen(r, name, 'shared_transactions'), said) for name, said in
                   (('shuffle', 67690), ('grid-stride', 84139), ('halving', 28689918)))),
    ('tutorials', '67,707 transactions of shared memory for warp-reduce', None, lambda r: near(seen(r, 'warp-reduce', 'shared_transactions'), 67707)),
    ('tutorials', 'halving makes 165 transactions of shared memory in a nanosecond, first-add 150, unrolled 79', None,
     lambda r: all(near(seen(r, name, 'shared_transactions') / seconds(r, name, 32 * MI, 'recursive'), said * 1e9) for name, said in
                   (('halving', 165), ('first-add', 150), ('unrolled', 79)))),
    ('tutorials', 'whole warps are worth 1.3 to 1.6 times', None, lambda r: all(1.3 < gain < 1.6 for gain in gains(r, 'neighbour-strided'))),
    ('tutorials', 'bank conflicts of halving are 0.6%', None,
     lambda r: seen(r, 'halving', 'bank_conflicts') < 0.02 * seen(r, 'halving', 'shared_transactions')),
    ('tutorials', 'Thrust takes 29.3 µs for 1 Mi ints, CUB 8.8 and one-launch 6.0', None,
     lambda r: near(peer(r, 'thrust::reduce', 'i32', MI), 29.3e-6) and near(peer(r, 'CUB DeviceReduce::Sum', 'i32', MI), 8.8e-6) and
     near(r.own('one-launch', 'i32', MI)['seconds'], 6.0e-6)),
    ('tutorials', 'first-add is 1.6 to 1.9 times as fast as halving at 4 Mi and 32 Mi', None,
     lambda r: all(1.5 < gain < 2 for gain in gains(r, 'first-add', [4 * MI, 32 * MI]))),
    ('tutorials', 'shuffle and warp-reduce give the same bits in CUDA, GLSL and HLSL', None,
     lambda r: all(same_bits(r, language) for language in ('cuda', 'glsl', 'hlsl'))),
    ('tutorials', 'shuffle is at 67% of the limit, and four loads of 16 bytes bring 1.34 times', None,
     lambda r: near(share(r, 'shuffle', 32 * MI), 0.67) and all(near(gain, 1.34) for gain in gains(r, 'vector-loads', [32 * MI]))),
    ('unity', 'the halving kernel sums 4 Mi floats in 30 µs, one-launch in 11', None,
     lambda r: near(seconds(r, 'halving', 4 * MI), 30e-6) and near(seconds(r, 'one-launch', 4 * MI), 11e-6)),
    ('interview', 'from 67% to 89% of what can be read', None,
     lambda r: near(share(r, 'warp-reduce', 32 * MI), 0.67) and near(share(r, 'vector-loads', 32 * MI), 0.89)),
    ('interview', 'on an H200 from 50% to 84%', None,
     lambda r: abs(share_on('nvidia-h200', 'warp-reduce', 32 * MI) - 0.50) < 0.006 and
     abs(share_on('nvidia-h200', 'vector-loads', 32 * MI) - 0.84) < 0.006),
]


# Pages that stand beside the tutorial.
BESIDE = ('tutorials', 'unity', 'interview')


def kept():
    """The report that the tutorial's tables are made from, with the errors in f32 of data that cancel, by rung."""
    runs = {name: tables.results.read(name) for name in ('ladder', 'profile', 'numbers')}
    report = tables.Report(runs['ladder'], profile=runs['profile'])
    cells, _ = tables.with_the_ladders(tables.results.read('experiments')['rows'], report)
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
