/* Every application, as the page runs it, against what is computed here: sizes at the edges of workgroups and of textures, and numbers in
 * which a wrong identity, a wrong comparison, a NaN or a lost element would show. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { launch, openPage, serve } from './browser.js';
import { exactSum } from './oracle.js';
import { sample } from './sample.js';
import { APPLICATIONS } from '../page/rungs.js';

let server, browser, page, problems;

before(async () => {
    server = await serve();
    browser = await launch();
    ({ page, problems } = await openPage(browser, server.address));
    await page.evaluate(`globalThis.makers = { ${Object.entries(MAKERS).map(([name, maker]) => `${JSON.stringify(name)}: ${maker}`)} }`);
    await page.evaluate(async () => {
        const [{ ApplicationClimb }, { openGpu }, { APPLICATIONS }, { Stopwatch }] = await Promise.all(
            ['./page/applications.js', './page/gpu.js', './page/rungs.js', './page/stopwatch.js'].map(
                path => import(new URL(path, location.href)),
            ),
        );
        const { device } = await openGpu();
        const upload = values => {
            const buffer = device.createBuffer({
                size: Math.ceil(values.byteLength / 16) * 16,
                usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC,
            });
            device.queue.writeBuffer(buffer, 0, values);
            return buffer;
        };
        globalThis.runApplication = async ({ id, maker, n, size }) => {
            const make = globalThis.makers[maker];
            const values = Float32Array.from({ length: n }, (_, i) => make(i, n));
            const words = new Uint32Array(values.buffer);
            if (maker.endsWith('negative NaN')) words.forEach((_, i) => Number.isNaN(values[i]) && (words[i] = 0xffc00001));
            const array = upload(values);
            const others = upload(Float32Array.from({ length: n }, (_, i) => globalThis.makers.others(i)));
            const application = APPLICATIONS.find(application => application.id === id);
            device.pushErrorScope('validation');
            const climb = await new ApplicationClimb(device, [array], { n, size, others }).prepare(application);
            const watch = new Stopwatch(device);
            await watch.pass(climb, 2, 0); /* twice, so that what a run leaves behind is seen by the next */
            const value = await climb.result();
            const error = await device.popErrorScope();
            climb.destroy();
            watch.destroy();
            [array, others].forEach(buffer => buffer.destroy());
            return { value, error: error?.message ?? null };
        };
    });
});

after(async () => {
    await browser?.close();
    server?.close();
});

/* Numbers by their place. Whole ones have sums that f32 holds. */
const MAKERS = {
    'whole numbers': i => ((i * 7919 + (i >> 3)) % 17) - 8,
    'negative numbers': (i, n) => -1 - ((i * 7919) % n),
    'fractions, large and small': i => (i % 3 ? -1 : 1) * 1.7 ** ((i * 7919) % 97),
    '-infinity alone': () => -Infinity,
    'zeros of both signs': i => (i % 5 ? -0 : 0),
    'infinities and a NaN': (i, n) => (i === Math.floor((3 * n) / 4) ? NaN : Infinity),
    '-infinities and a negative NaN': (i, n) => (i === n >> 1 ? NaN : -Infinity),
    others: i => ((i * 31) % 13) - 6,
};

const made = (maker, n) => Float32Array.from({ length: n }, (_, i) => MAKERS[maker](i, n));

function expected(operator, maker, n) {
    const x = made(maker, n);
    if (operator === 'dot') return exactSum(x.map((value, i) => value * MAKERS.others(i)));
    if (operator === 'max') return x.reduce((a, b) => Math.max(a, b), -Infinity);
    return operator === 'mean' ? exactSum(x) / n : exactSum(x);
}

async function check(application, maker, n, size = 64) {
    const { value, error } = await page.evaluate(run => globalThis.runApplication(run), { id: application.id, maker, n, size });
    const what = `${application.id} of ${n} ${maker}, workgroups of ${size}`;
    const wanted = expected(application.operator, maker, n);
    assert.equal(error, null, what);
    if (application.operator === 'mean') /* division may be wrong by 2.5 ulp in a shader */
        assert.ok(Math.abs(value - wanted) <= 3 * 2 ** -23 * Math.abs(wanted), `${what}: ${value}, not ${wanted}`);
    else assert.ok(Object.is(value, wanted), `${what}: ${value}, not ${wanted}`);
}

const SIZES = [1, 2, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 4099, 10_007];

for (const application of APPLICATIONS) {
    test(`${application.id}: sizes of arrays and workgroups`, async () => {
        for (const n of sample(SIZES)) await check(application, 'whole numbers', n);
        for (const size of [128, 256]) await check(application, 'whole numbers', 5_001, size);
    });
}

test('maximum: what a wrong identity, comparison or NaN would show in', async () => {
    const maximum = APPLICATIONS.find(({ id }) => id === 'maximum');
    for (const maker of Object.keys(MAKERS)) for (const n of [1, 2, 64, 257, 4099]) await check(maximum, maker, n);
});

test('a texture that is too large is refused', async () => {
    const rows = APPLICATIONS.find(({ id }) => id === 'texture-rows');
    const { whyNot } = await import('../page/applications.js');
    assert.equal(whyNot(rows, 2 ** 26, { maxTextureDimension2D: 8192 }), null);
    assert.match(whyNot(rows, 2 ** 26 + 1, { maxTextureDimension2D: 8192 }), /16384 × .* more than this GPU takes along a side: 8192/);
    assert.equal(whyNot(APPLICATIONS[0], 2 ** 27, { maxTextureDimension2D: 8192 }), null);
});

test('nothing went wrong on the way', () => assert.deepEqual(problems, []));
