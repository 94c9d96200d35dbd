/* Every rung of the ladder of rows, as the page runs it, against big integers: shapes at the edges of workgroups, subgroups, vectors and
 * tiles. The sums of integers are exact in f32 whatever the order, so that every result must be right to the last bit. And what the
 * page judges by, on numbers whose sums are not. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { launch, openPage, serve } from './browser.js';
import { exactSum } from './oracle.js';
import { sample } from './sample.js';
import { fill } from '../page/data.js';
import { judgeAll } from '../page/judge.js';
import { ROW_RUNGS } from '../page/rungs.js';
import { roundPair, sumsOf } from '../page/sums.js';

let server, browser, page, problems;

before(async () => {
    server = await serve();
    browser = await launch();
    ({ page, problems } = await openPage(browser, server.address));
    await page.evaluate(`globalThis.integerAt = ${integerAt}`);
    await page.evaluate(async () => {
        const [{ RowsClimb }, { openGpu }, { ROW_RUNGS }, { Stopwatch }] = await Promise.all(
            ['./page/rows.js', './page/gpu.js', './page/rungs.js', './page/stopwatch.js'].map(
                path => import(new URL(path, location.href)),
            ),
        );
        const gpu = await openGpu();
        const { device } = gpu;
        const lanes = gpu.description.subgroups?.least ?? 4;
        globalThis.runRows = async ({ id, size, type, rows, columns }) => {
            const n = rows * columns;
            const values = (type === 'f32' ? Float32Array : Int32Array).from({ length: n }, globalThis.integerAt);
            const array = device.createBuffer({
                size: Math.ceil(values.byteLength / 16) * 16,
                usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST,
            });
            device.queue.writeBuffer(array, 0, values);
            const rung = ROW_RUNGS.find(rung => rung.id === id);
            device.pushErrorScope('validation');
            const climb = await new RowsClimb(device, [array], { n, columns, type, size, lanes }).prepare(rung);
            const watch = new Stopwatch(device);
            await watch.pass(climb, 2, 0); /* twice, so that what a run leaves behind is seen by the next */
            const sums = [...(await climb.result())];
            const error = await device.popErrorScope();
            const { down } = climb;
            climb.destroy();
            watch.destroy();
            array.destroy();
            return { sums, down, error: error?.message ?? null };
        };
    });
});

after(async () => {
    await browser?.close();
    server?.close();
});

/* Integers between -8 and 8: their sums fit into 24 bits. */
const integerAt = (_, i) => ((i * 7919 + (i >> 3)) % 17) - 8;

/* What they are, by row and by column. */
function expectedSums(rows, columns) {
    const made = { rows: new Array(rows).fill(0), columns: new Array(columns).fill(0) };
    for (let i = 0; i < rows * columns; i++) {
        made.rows[Math.floor(i / columns)] += integerAt(null, i);
        made.columns[i % columns] += integerAt(null, i);
    }
    return made;
}

async function check(rung, size, type, rows, columns) {
    const { sums, down, error } = await page.evaluate(run => globalThis.runRows(run), { id: rung.id, size, type, rows, columns });
    const what = `${rung.id}, workgroups of ${size}, ${rows} x ${columns} ${type}`;
    assert.equal(error, null, what);
    assert.deepEqual(sums, expectedSums(rows, columns)[rung.columns ? 'columns' : 'rows'], what);
    return down;
}

const SHAPES = [[1, 1], [3, 5], [33, 64], [257, 33], [300, 16], [129, 129], [5, 20000], [1000, 7], [100003, 1], [4096, 128], [2, 3]]; // prettier-ignore

for (const rung of ROW_RUNGS) {
    const fits = SHAPES.filter(([, columns]) => rung.take !== 'vectors' || columns % 4 === 0);
    test(`${rung.id}: shapes`, async () => {
        for (const [rows, columns] of sample(fits)) await check(rung, 64, 'f32', rows, columns);
        if (rung.take === 'vectors') for (const columns of [4, 12, 20, 60, 68]) await check(rung, 64, 'f32', 41, columns);
    });
    test(`${rung.id}: types and workgroups`, async () => {
        const all = [64, 128, 256].flatMap(size => ['f32', 'i32'].map(type => [size, type]));
        for (const [size, type] of sample(all)) await check(rung, size, type, 300, 100);
    });
}

test('column-tiles: tiles above each other, and one alone', async () => {
    const rung = ROW_RUNGS.find(({ id }) => id === 'column-tiles');
    assert.ok((await check(rung, 64, 'i32', 1000, 40)) > 1);
    assert.equal(await check(rung, 64, 'i32', 100, 40), 1);
});

test('rows that do not begin at vectors are refused', async () => {
    await assert.rejects(check(ROW_RUNGS.find(({ id }) => id === 'row-vectors'), 64, 'f32', 10, 6), /do not begin at multiples/);
});

test('what rungs are judged by is the exact sum, rounded once', () => {
    for (const kind of ['cancelling', 'uniform']) {
        const [rows, columns] = [50, 61];
        const x = new Float32Array(rows * columns + 7);
        fill(x, kind, 3);
        const sums = sumsOf(x, columns, 'f32');
        for (let row = 0; row < rows; row++)
            assert.equal(sums.rows.rounded[row], exactSum(x.subarray(row * columns, (row + 1) * columns)), `row ${row}`);
        for (let column = 0; column < columns; column++)
            assert.equal(sums.columns.rounded[column], exactSum(Float32Array.from({ length: rows }, (_, r) => x[r * columns + column])));
    }
    assert.equal(roundPair(1 + 2 ** -24, 2 ** -80), 1 + 2 ** -23); /* above the middle by less than an f64 can say */
    assert.equal(roundPair(1 + 2 ** -24, -(2 ** -80)), 1);
    assert.equal(roundPair(1 + 2 ** -24, 0), 1); /* in the middle: to even */
    assert.equal(roundPair(3, 2 ** -60), 3);
});

test('the worst of many results is the one that is told', () => {
    const x = Float32Array.from({ length: 40 }, (_, i) => i + 1);
    const { rows } = sumsOf(x, 10, 'f32');
    const wrong = Float32Array.from(rows.rounded);
    assert.deepEqual([judgeAll(wrong, rows, 'f32', 20).rounded, judgeAll(wrong, rows, 'f32', 20).right], [true, true]);
    wrong[1] += 2 ** -16;
    wrong[2] += 5;
    const told = judgeAll(wrong, rows, 'f32', 20);
    assert.deepEqual([told.which, told.of, told.right, told.value, told.should], [2, 4, false, 260, 255]);
    wrong[2] -= 5;
    const bound = judgeAll(wrong, rows, 'f32', 20);
    assert.deepEqual([bound.which, bound.right, bound.rounded], [1, true, false]);
    wrong[3] = NaN;
    assert.deepEqual([judgeAll(wrong, rows, 'f32', 20).which, judgeAll(wrong, rows, 'f32', 20).right], [3, false]);
});

test('nothing went wrong on the way', () => assert.deepEqual(problems, []));
