/* The player of threads and its judge, without a browser: exercises, rungs, races, and what a text can do wrong. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXERCISES, readTask, readTitles } from '../page/exercises.js';
import { ProgramError, Workgroup, judge, parse } from '../page/threads.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (...path) => readFileSync(join(ROOT, ...path), 'utf8');

const folders = readdirSync(join(ROOT, 'exercises')).filter(name =>
    statSync(join(ROOT, 'exercises', name)).isDirectory(),
);

test('every exercise is on the page, with a text and hints', () => {
    assert.deepEqual([...EXERCISES].sort(), folders.sort());
    const hinted = {};
    for (const [file, least] of [['README.md', 80], ['README.zh.md', 40]]) {
        const contents = read('exercises', file);
        EXERCISES.forEach((name, i) => {
            const { title, text, hints } = readTask(read('exercises', name, file));
            assert.ok(contents.includes(`| ${i + 1} | [${title}](${name}/${file}) |`), name);
            assert.equal(readTitles(contents).get(name), title);
            assert.ok(text.length > least && hints.length >= 2 && hints.every(hint => hint.length > 10), name);
            assert.equal(hints.length, (hinted[name] ??= hints.length), `${name}: as many hints in both languages`);
        });
    }
});

for (const name of folders)
    test(`${name}: the start is wrong, the answer right`, () => {
        const start = read('exercises', name, 'start.wgsl');
        assert.equal(judge(start).verdict, 'wrong', judge(start).message);
        const { verdict, message } = judge(read('exercises', name, 'answer.wgsl'), start);
        assert.equal(verdict, 'right', message);
    });

/* The rungs that the player knows all words of. */
const RUNGS = {
    'neighbour-modulo': 1,
    'neighbour-strided': 1,
    halving: 1,
    'first-add': 2,
    'last-warp': 2,
    'grid-stride': 'grid',
};

for (const [name, elements] of Object.entries(RUNGS))
    test(`the rung ${name} is right, and has no race`, () => {
        const helper = elements === 'grid' ? read('ladder/wgsl/tree.wgsl') : '';
        const { verdict, message } = judge(
            `// Threads: 64\n// Elements per thread: ${elements}\n${read(`ladder/wgsl/${name}.wgsl`)}${helper}`,
        );
        assert.equal(verdict, 'right', message);
    });

test('the specimen races', () => {
    const { verdict, message } = judge(
        `// Threads: 64\n// Elements per thread: 2\n${read('ladder/wgsl/last-warp-implicit.wgsl')}`,
    );
    assert.equal(verdict, 'wrong');
    assert.match(message, /^Race: thread \d+ .* no barrier stands between the two/);
});

const kernel = body =>
    `var<workgroup> tile: array<number, size>;\n@compute @workgroup_size(size)\nfn rung(me: Place) {\n${body}\n}`;
const halving = read('ladder/wgsl/halving.wgsl');

test('a barrier left out is a race, whatever comes out', () => {
    const without = halving.replace('workgroupBarrier();', '');
    assert.notEqual(without, halving);
    assert.match(judge(without).message, /^Race/);
});

test('threads that only read do not race, nor does one with itself', () => {
    const text = kernel(
        'if (me.tid == 0) { tile[0] = load(0); tile[0] += 1; }\nworkgroupBarrier();\nlet x = tile[0];\ndeliver(x, me);',
    );
    const group = new Workgroup(parse(text), { size: 4, input: [6], shape: { n: 1 } });
    while (!group.ended) for (const { tid } of group.threads) group.step(tid);
    assert.deepEqual([group.races, group.delivered, group.barriers], [[], 7, 1]);
});

test('what is wrong is said with its line', () => {
    const cases = {
        'let x = nothing;': /line 4: 'nothing' is not declared/,
        'let x = 1; x = 2;': /line 4: 'x' is a constant/,
        'let y = input[100000];': /line 4: thread \d+ reads input\[100000\], which has \d+ elements?/,
        'tile[me.tid + size] = 1;': /line 4: thread \d+ writes tile\[\d+\]/,
        'input[0] = 1;': /line 4: the input can only be read/,
        'while (true) { }': /line 4: this loop does not end/,
        'let x = 1 / (me.tid - me.tid);': /line 4: a division by 0/,
        'if (me.tid == 0) { workgroupBarrier(); }': /line 4: thread 0 waits here for thread \d+, which has ended/,
        'if (me.tid == 0) {\nworkgroupBarrier(); } else {\nworkgroupBarrier(); }': /at another barrier, in line \d/,
        'let x = subgroupAdd(1);': /line 4: 'subgroupAdd' is not known/,
        'let x = ;': /line 4: expected a number or a name/,
        'x +;': /line 4: expected an assignment/,
        'deliver(1, me': /expected ','/,
        'let x = "a";': /line 4: '"' is nothing that can stand here/,
    };
    for (const [body, message] of Object.entries(cases)) {
        const found = judge(kernel(body));
        assert.equal(found.verdict, 'wrong', body);
        assert.match(found.message, message, body);
    }
    assert.throws(() => parse('fn rung() {}'), ProgramError);
});

test('arithmetic is that of whole numbers', () => {
    const values = {
        '7 / 2': 3,
        '2 + 3 * 4': 14,
        '(2 + 3) * 4': 20,
        '1 << 4 | 3': 19,
        '17 % 5': 2,
        '-3 + 5': 2,
        '0x10': 16,
        '4u': 4,
        'max(2, min(9, 5))': 5,
        'select(1, 2, 3 > 2 && !(1 >= 2))': 2,
    };
    for (const [expression, value] of Object.entries(values)) {
        const group = new Workgroup(parse(kernel(`deliver(${expression}, me);`)), {
            size: 1,
            input: [],
            shape: { n: 0 },
        });
        while (!group.ended) group.step(0);
        assert.equal(group.delivered, value, expression);
    }
});
