/* Every rung with every finish, as the page runs them, against sums of integers: workgroup sizes, both types, sizes at the
 * edges of workgroups and of grids. The sums are exact in f32 whatever the order, so that every result must be right to
 * the last bit. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { launch, openPage, serve } from './browser.js';
import { sample, scale } from './sample.js';
import { FINISHES, GPU_RUNGS } from '../page/rungs.js';

let server, browser, page, problems;

before(async () => {
    server = await serve();
    browser = await launch();
    ({ page, problems } = await openPage(browser, server.address));
    await page.evaluate(`globalThis.integerAt = ${integerAt}`);
    await page.evaluate(async () => {
        const [{ Climb }, { openGpu }, { GPU_RUNGS }, { Stopwatch }] = await Promise.all(
            ['./page/climb.js', './page/gpu.js', './page/rungs.js', './page/stopwatch.js'].map(
                path => import(new URL(path, location.href)),
            ),
        );
        const gpu = await openGpu();
        globalThis.runRung = async ({ id, finish, size, type, n, times }) => {
            const { device } = gpu;
            const values = new (type === 'f32' ? Float32Array : Int32Array)(n);
            for (let i = 0; i < n; i++) values[i] = globalThis.integerAt(null, i);
            const array = device.createBuffer({
                size: Math.ceil(values.byteLength / 16) * 16 || 16,
                usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST,
            });
            device.queue.writeBuffer(array, 0, values);
            const climb = await new Climb(device, [array], { n: values.length, type, size }).prepare(
                GPU_RUNGS.find(rung => rung.id === id),
                finish,
            );
            const watch = new Stopwatch(device);
            await watch.pass(climb, times, 0);
            climb.refresh();
            const value = await climb.result();
            climb.destroy();
            watch.destroy();
            array.destroy();
            return value;
        };
    });
});

after(async () => {
    await browser?.close();
    server?.close();
});

/* Integers between -8 and 8: their sums fit into 24 bits. */
const integerAt = (_, i) => ((i * 7919 + (i >> 3)) % 17) - 8;

const RUNGS = GPU_RUNGS.filter(rung => !rung.specimen && !rung.engine);

const sums = new Map();

/* Of so many integers. */
function expectedSum(n) {
    if (sums.has(n)) return sums.get(n);
    let sum = 0;
    for (let i = 0; i < n; i++) sum += integerAt(null, i);
    sums.set(n, sum);
    return sum;
}

/* Runs twice, so that what a run leaves behind is seen by the next. */
async function check(id, finish, size, type, n, times = 2) {
    const value = await page.evaluate(run => globalThis.runRung(run), { id, finish, size, type, n, times });
    assert.equal(
        value,
        expectedSum(n),
        `${id}, finish ${finish}, workgroups of ${size}, ${n} ${type}`,
    );
}

for (const rung of RUNGS) {
    test(`${rung.id}: every finish, both types`, async () => {
        const all = Object.keys(FINISHES).flatMap(finish => ['f32', 'i32'].map(type => [finish, type]));
        for (const [finish, type] of sample(all)) await check(rung.id, finish, 64, type, 10_007);
    });
    test(`${rung.id}: sizes of arrays and workgroups`, async () => {
        for (const n of sample([1, 2, 3, 63, 64, 65, 127, 128, 129, 1023, 4096, 4099]))
            await check(rung.id, rung.finish, 64, 'f32', n);
        for (const size of [128, 256]) await check(rung.id, rung.finish, size, 'f32', 5_001);
    });
}

test('more workgroups than fit in a row of the grid', async () => {
    if (scale < 1) console.log('# REDUCT_TEST_SCALE is below 1: with one finish');
    for (const finish of scale < 1 ? ['last-block'] : ['recursive', 'last-block']) await check('halving', finish, 64, 'f32', 65_535 * 64 + 100, 1);
});

test('nothing went wrong on the way', () => assert.deepEqual(problems, []));
