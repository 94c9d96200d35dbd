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

/* A maximum that takes this for a number that is not there. */
const maximumFrom = identity =>
    kernel(`    let i = group(me) * size + me.tid;
    var largest = number(${identity});
    if (i < shape.n) { largest = input[i]; }
    tile[me.tid] = largest;
    workgroupBarrier();
    for (var s = size / 2; s > 0; s /= 2) {
        if (me.tid < s) { tile[me.tid] = max(tile[me.tid], tile[me.tid + s]); }
        workgroupBarrier();
    }
    deliver(tile[0], me);`);

test('the identity of a maximum is larger than nothing', () => {
    const start = read('exercises/maximum/start.wgsl');
    const cases = {
        '0': /whole numbers: expected -\d+, got 0/,
        '-200': /negative numbers alone: expected -\d+, got -200/,
        '-2147483648': /nothing but -FLT_MAX: .* got -2147483648/,
        '-1e30': /nothing but -FLT_MAX/,
        '-3.402823466e+38f': /nothing but -infinity: expected -Infinity, got -3.4028234663852886e\+38/,
        '-0x1.fffffep+127': /nothing but -infinity/,
        '-1e39': /line 5: 1e39 is more than an f32 holds/,
        '-1 / (me.tid - me.tid)': /line 5: a division by 0/,
    };
    for (const [identity, message] of Object.entries(cases)) {
        const found = judge(maximumFrom(identity), start);
        assert.equal(found.verdict, 'wrong', identity);
        assert.match(found.message, message, identity);
    }
    assert.equal(judge(maximumFrom('input[0]'), start).verdict, 'right');
});

/* The page's words in Chinese, as on its Chinese side. */
async function inChinese() {
    globalThis.document = { documentElement: { lang: 'zh' } };
    globalThis.MutationObserver = class {
        observe() {}
    };
    const made = await import('../page/chinese.js?zh');
    delete globalThis.document;
    delete globalThis.MutationObserver;
    return made;
}

test('what the judge says is there in Chinese', async () => {
    const { say, missed } = await inChinese();
    const start = read('exercises/maximum/start.wgsl');
    const found = ['0', '-200', '-1e30', '-3.4e38', '-1e39', 'input[0]'].map(identity =>
        judge(maximumFrom(identity), start),
    );
    const rows = read('exercises/rows/answer.wgsl');
    const wrongRows = ['shape.columns + 1', 'me.tid', 'shape.columns - 1'].map(at =>
        judge(rows.replace('shape.columns + i', `shape.columns + ${at}`), rows),
    );
    for (const { message } of [...found, ...wrongRows, judge(halving.replace('me.tid < s', 'me.tid < 1'))])
        assert.doesNotMatch(say(message), /[a-z]{2,} [a-z]{2,}/i, message);
    assert.equal(say('16 elements, nothing but -infinity: expected -Infinity, got -1.'), '16 个元素（全是负无穷）：应为 -Infinity，得到 -1。');
    assert.deepEqual([...missed], []);
});

test('a sum is one of every type', () => {
    const through = type => halving.replace(/load\((.*)\);/, `number(${type}(load($1)));`);
    assert.notEqual(through('i32'), halving);
    assert.match(judge(through('i32')).message, /^1 element, fractions: expected/);
    const inFloats = halving.replace('deliver(tile[0], me)', 'deliver(f32(tile[0]), me)');
    assert.match(judge(inFloats).message, /^\d+ elements, large whole numbers: expected/);
    assert.equal(judge(halving).verdict, 'right');
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
        '0xFF': 255,
        '0xffi': 255,
        '1.5e1': 15,
        '25E-1f': 2.5,
        '0x1.8p+1': 3,
        '0xe+1': 15,
        '0.1 == f32(0.1)': true,
        'i32(-2.5)': -2,
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
