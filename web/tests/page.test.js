/* The page as its visitors use it: runs, bits, files, keyboard, no WebGPU, narrow screens, themes, accessibility. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch, openPage, ROOT, serve, waitUntilReady } from './browser.js';
import { exactSum } from './oracle.js';
import { fill } from '../page/data.js';
import { CPU_RUNGS, GPU_RUNGS } from '../page/rungs.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const command = process.env.REDUCT;
const shots = process.env.SCREENSHOTS ?? mkdtempSync(join(tmpdir(), 'reduct-page-'));

let server, browser;

before(async () => {
    assert.ok(command, 'REDUCT names the command of the C library, which judges bits');
    server = await serve();
    browser = await launch();
});

after(async () => {
    await browser?.close();
    server?.close();
});

const open = options => openPage(browser, server.address, options);

async function run(page, { count = '20000', kind = 'uniform' } = {}) {
    await page.fill('#count', count);
    await page.selectOption('#kind', kind);
    await page.click('#start');
    await waitUntilReady(page);
}

async function report(page) {
    await page.click('#copy-json');
    await page.waitForFunction(() => document.querySelector('#copied').textContent !== '', null, { polling: 50 });
    return JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
}

const verdict = (page, id) => page.textContent(`[data-rung="gpu ${id}"] .verdict`);

const allowClipboard = (page, context) => context.grantPermissions(['clipboard-read', 'clipboard-write']);

/* The bits by the C library's command, from a raw file of f32. */
function commandBits(operator, x, result = 'f32') {
    const file = join(shots, 'numbers.f32');
    writeFileSync(file, new Uint8Array(x.buffer));
    const files = operator === 'dot' ? [file, file] : [file];
    const text = execFileSync(command, [operator, '--format', 'raw', '--type', 'f32', ...files, '--result', result], {
        encoding: 'utf8',
    });
    const value = result === 'f32' ? Float32Array.of(Number(text)) : Float64Array.of(Number(text));
    return `0x${Array.from(new Uint8Array(value.buffer), byte => byte.toString(16).padStart(2, '0'))
        .reverse()
        .join('')}`;
}

function numbers(kind, n) {
    const x = new Float32Array(n);
    fill(x, kind, 1);
    return x;
}

test('a run: every rung is there and right, and the bits are those of the C library', async () => {
    const { page, context, problems } = await open({ prepare: allowClipboard });
    for (const kind of ['uniform', 'cancelling']) {
        await run(page, { kind });
        const result = await report(page);
        const x = numbers(kind, 20000);
        assert.deepEqual(
            result.rows.filter(row => row.device === 'gpu').map(row => row.id),
            GPU_RUNGS.map(rung => rung.id),
        );
        assert.deepEqual(
            result.rows.filter(row => row.device === 'cpu').map(row => row.id),
            CPU_RUNGS.map(rung => rung.id),
        );
        for (const row of result.rows) {
            assert.ok(row.seconds > 0 && row.bytesPerSecond > 0, `${row.id} was timed: ${row.error ?? row.without}`);
            if (!row.specimen)
                /* which may be right by luck */
                assert.equal(row.right, true, `${row.device} ${row.id} of ${kind}: ${row.value}`);
            assert.equal(row.bits === result.expected.bits.sum.bits, row.ulp <= 0.5, `${row.id} of ${kind}: its error`);
        }
        for (const id of ['exact', 'cpu-exact'])
            assert.equal(result.rows.find(row => row.id === id).value, exactSum(x), `${id} of ${kind}`);
        for (const { operator, gpu, wasm } of result.bits) {
            assert.equal(wasm, commandBits(operator, x), `${operator} of ${kind}, WebAssembly and the command`);
            assert.equal(gpu, wasm, `${operator} of ${kind}, GPU and WebAssembly`);
        }
    }
    assert.deepEqual(problems, []);
    await context.close();
});

test('i32: sums of integers are right to the last one', async () => {
    const { page, context, problems } = await open({ prepare: allowClipboard });
    await run(page, { kind: 'integers', count: '5000' });
    const result = await report(page);
    const x = new Int32Array(5000);
    fill(x, 'integers', 1);
    const sum = x.reduce((a, b) => a + b);
    for (const row of result.rows.filter(row => row.seconds && !row.specimen)) assert.equal(row.value, sum, row.id);
    assert.deepEqual(problems, []);
    await context.close();
});

test('a rung that adds wrongly is shown as wrong', async () => {
    const { page, context } = await open({
        prepare: page =>
            page.route('**/halving.wgsl', async route => {
                const response = await route.fetch();
                await route.fulfill({
                    response,
                    body: (await response.text()).replace('var s = size / 2', 'var s = size / 4'),
                });
            }),
    });
    await run(page);
    assert.equal(await verdict(page, 'halving'), 'wrong');
    assert.match(await page.textContent('#summary'), /Wrong here: halving/);
    assert.match(await verdict(page, 'first-add'), /^(right|approximate)$/);
    await context.close();
});

test('a rung that does not compile is a row that says so', async () => {
    const { page, context } = await open({
        prepare: page => page.route('**/unrolled.wgsl', route => route.fulfill({ body: 'fn rung( {' })),
    });
    await run(page);
    assert.match(await page.textContent('[data-rung="gpu unrolled"]'), /failed.*line/s);
    assert.match(await verdict(page, 'grid-stride'), /^(right|approximate)$/);
    await context.close();
});

test('sizes that cannot be are refused with what was expected', async () => {
    const { page, context } = await open();
    for (const count of ['0', 'many', '1.5', '1e12']) {
        await run(page, { count });
        assert.match(await page.textContent('#problem'), /expected a whole number from 1 to .*found/, count);
    }
    await context.close();
});

test('without WebGPU: a clear sentence, and the CPU’s ladder', async () => {
    const { page, context, problems } = await open({
        prepare: page =>
            page.addInitScript(() => Object.defineProperty(Navigator.prototype, 'gpu', { value: undefined })),
    });
    assert.match(await page.textContent('#device'), /does not offer WebGPU/);
    await run(page);
    const verdicts = await page.locator('#ladder-table tr[data-rung^="cpu"] .verdict').allTextContents();
    assert.equal(verdicts.length, CPU_RUNGS.length);
    verdicts.forEach(word => assert.match(word, /^(right|approximate)$/));
    assert.equal(await page.locator('#ladder-table tr[data-rung^="gpu"] .number').count(), 0);
    await page.screenshot({ path: join(shots, 'without-webgpu.png'), fullPage: true });
    assert.deepEqual(problems, []);
    await context.close();
});

test('without timestamps and subgroups: wall clock, and it says so', async () => {
    const hide = () => {
        const { has } = GPUSupportedFeatures.prototype;
        GPUSupportedFeatures.prototype.has = function (name) {
            return !['timestamp-query', 'subgroups'].includes(name) && has.call(this, name);
        };
    };
    const { page, context, problems } = await open({
        prepare: async (page, context) => {
            await allowClipboard(page, context);
            await page.addInitScript(hide);
        },
    });
    assert.match(await page.textContent('#device'), /no timestamps are offered, so wall clock/);
    await run(page, { count: '3000' });
    const result = await report(page);
    assert.equal(result.clock, 'wall');
    assert.match(result.rows.find(row => row.id === 'warp-reduce').without, /subgroups/);
    assert.equal(result.rows.find(row => row.id === 'exact').right, true);
    assert.deepEqual(problems, []);
    await context.close();
});

test('a run can be stopped, and another started', async () => {
    const { page, context, problems } = await open();
    await page.fill('#count', '1 Mi');
    await page.click('#start');
    await page.waitForFunction(
        () => document.querySelector('#progress-text').textContent.includes('on the GPU'),
        null,
        { polling: 50, timeout: 60_000 },
    );
    await page.click('#stop');
    await waitUntilReady(page);
    assert.equal(await page.isVisible('#results'), false);
    await run(page, { count: '1000' });
    assert.equal(await page.isVisible('#results'), true);
    assert.deepEqual(problems, []);
    await context.close();
});

test('without the WebAssembly part: a sentence, and what can run does', async () => {
    const { page, context } = await open({
        prepare: (page, context) => context.route('**/embedded.js', route => route.fulfill({ status: 404 })),
    });
    assert.match(await page.textContent('#device'), /make web/);
    await run(page, { count: '3000' });
    assert.match(await verdict(page, 'halving'), /^(right|approximate)$/);
    assert.match(await page.textContent('[data-rung="gpu exact"]'), /WebAssembly/);
    await context.close();
});

/* A .npy file of version 1.0. */
function npy(x) {
    const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${x.length},), }`.padEnd(117) + '\n';
    const head = Buffer.concat([
        Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, header.length, 0]),
        Buffer.from(header),
    ]);
    return Buffer.concat([head, Buffer.from(x.buffer)]);
}

async function reduceFile(page, name, buffer) {
    await page.setInputFiles('#pick', { name, mimeType: 'application/octet-stream', buffer });
    await page.waitForSelector('#file-value, #file-result .bad');
}

test('files: .npy, text and raw binary, reduced where they are', async () => {
    const { page, context, problems } = await open();
    const x = numbers('cancelling', 3001);
    await reduceFile(page, 'x.npy', npy(x));
    assert.equal(await page.textContent('#file-bits'), commandBits('sum', x, 'f64'));
    await reduceFile(page, 'x.txt', Buffer.from('1e100\n1\n-1e100\n'));
    assert.equal(await page.textContent('#file-value'), '1');
    await page.selectOption('#operator', 'max');
    await page.waitForFunction(() => document.querySelector('#file-value')?.textContent === '1e+100', null, {
        polling: 50,
    });
    await page.selectOption('#operator', 'sum');
    await page.selectOption('#format', 'raw');
    await page.selectOption('#raw-type', 'f32');
    await reduceFile(page, 'x.bin', Buffer.from(x.buffer));
    await page.waitForFunction(() => document.querySelector('#file-result').textContent.includes('x.bin'), null, {
        polling: 50,
    });
    assert.equal(await page.textContent('#file-bits'), commandBits('sum', x, 'f64'));
    await page.selectOption('#format', 'auto');
    await reduceFile(page, 'bad.txt', Buffer.from('1\n2\nthree\n'));
    await page.waitForSelector('#file-result .bad');
    assert.match(await page.textContent('#file-result'), /three/);
    assert.deepEqual(problems, []);
    await context.close();
});

test('a file can be dropped', async () => {
    const { page, context } = await open();
    const transfer = await page.evaluateHandle(() => {
        const data = new DataTransfer();
        data.items.add(new File(['0.1 0.2 0.3'], 'dropped.txt'));
        return data;
    });
    await page.dispatchEvent('#drop', 'drop', { dataTransfer: transfer });
    await page.waitForSelector('#file-value');
    assert.equal(await page.textContent('#file-value'), '0.6');
    await context.close();
});

test('the keyboard is enough', async () => {
    const { page, context } = await open();
    await page.fill('#count', '1000');
    await page.focus('#finish');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'start');
    await page.keyboard.press('Enter');
    await waitUntilReady(page);
    assert.equal(await page.isVisible('#results'), true);
    await page.focus('input[name="metric"]:checked');
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.isChecked('input[value="time"]'), true);
    await page.focus('#rung-halving summary');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#rung-halving pre');
    assert.match(await page.textContent('#rung-halving pre'), /Rung halving/);
    await context.close();
});

test('results can be taken away as Markdown', async () => {
    const { page, context } = await open({ prepare: allowClipboard });
    await run(page, { count: '1000' });
    await page.click('#copy-markdown');
    await page.waitForFunction(() => document.querySelector('#copied').textContent === 'Copied.', null, {
        polling: 50,
    });
    const text = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(text, /\| gpu \| halving \| recursive \|/);
    assert.match(text, /\| sum \| 0x[0-9a-f]{8} \| 0x[0-9a-f]{8} \| same bits \|/);
    await context.close();
});

for (const colorScheme of ['light', 'dark']) {
    for (const [name, viewport] of [
        ['desktop', { width: 1280, height: 900 }],
        ['phone', { width: 375, height: 720 }],
    ]) {
        test(`accessible and within its width: ${colorScheme}, ${name}`, async () => {
            const { page, context, problems } = await open({ colorScheme, viewport });
            await run(page, { count: '4 Ki' });
            await page.click('#rung-halving summary');
            await page.waitForSelector('#rung-halving pre');
            await reduceFile(page, 'x.txt', Buffer.from('1 2 3'));
            await page.screenshot({ path: join(shots, `${colorScheme}-${name}.png`), fullPage: true });
            assert.equal(
                await page.evaluate(() => document.scrollingElement.scrollWidth <= innerWidth),
                true,
                'nothing is wider than the screen',
            );
            await page.evaluate(axe);
            const { violations } = await page.evaluate(() =>
                globalThis.axe.run(document, {
                    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
                }),
            );
            assert.deepEqual(
                violations.map(
                    ({ id, nodes }) =>
                        `${id}: ${nodes
                            .map(node => node.html)
                            .join(' ')
                            .slice(0, 300)}`,
                ),
                [],
            );
            assert.deepEqual(problems, []);
            await context.close();
        });
    }
}

test('the rungs are those of the other languages, in their order', () => {
    const table = readFileSync(join(ROOT, 'ladder/rungs.def'), 'utf8');
    const ids = [...table.matchAll(/^LADDER_GPU(?:_SPECIMEN)?\(\w+, *"([^"]+)"/gm)].map(match => match[1]);
    const ours = GPU_RUNGS.map(rung => rung.id);
    assert.ok(ids.length >= ours.length);
    assert.deepEqual(
        ids.filter(id => ours.includes(id)),
        ours,
    );
});

test('numbers that do not fit on the GPU: it says so, and the CPU’s ladder runs', async () => {
    const refuse = () => {
        const { createBuffer } = GPUDevice.prototype;
        GPUDevice.prototype.createBuffer = function (descriptor) {
            const size = descriptor.label?.startsWith('numbers') ? this.limits.maxBufferSize + 16 : descriptor.size;
            return createBuffer.call(this, { ...descriptor, size });
        };
    };
    const { page, context } = await open({ prepare: page => page.addInitScript(refuse) });
    await run(page, { count: '1000' });
    assert.match(await page.textContent('[data-rung="gpu halving"]'), /do not fit on the GPU/);
    assert.match(await page.textContent('[data-rung="cpu plain"] .verdict'), /^(right|approximate)$/);
    await context.close();
});

test('the charting library is the one that the lock file names', () => {
    const ours = readFileSync(join(ROOT, 'web/vendor/chart.js/chart.umd.min.js'), 'utf8');
    const theirs = readFileSync(
        createRequire(import.meta.url)
            .resolve('chart.js')
            .replace(/[^/]*$/, 'chart.umd.min.js'),
        'utf8',
    );
    assert.equal(ours.trim(), theirs.replace(/\/\/# sourceMappingURL=.*/, '').trim());
});
