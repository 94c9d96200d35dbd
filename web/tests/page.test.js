/* The page as its visitors use it: runs, bits, files, keyboard, no WebGPU, narrow screens, themes, accessibility. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FEWER, HURRIED, launch, openPage, ROOT, serve, waitUntilReady } from './browser.js';
import { exactSum } from './oracle.js';
import { sample, scale } from './sample.js';
import { fill } from '../page/data.js';
import { APPLICATION_CPU_RUNGS, APPLICATIONS, CPU_RUNGS, GPU_RUNGS, ROW_CPU_RUNGS, ROW_RUNGS } from '../page/rungs.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const command = process.env.REDUCT;
const shots = process.env.SCREENSHOTS ?? mkdtempSync(join(tmpdir(), 'reduct-page-'));

let server, whole, hurried, browser;

before(async () => {
    if (scale < 1) console.log(`# REDUCT_TEST_SCALE is ${scale}: hurried pages run fewer rungs, and whole ones are hurried but for the first`);
    assert.ok(command, 'REDUCT names the command of the C library, which judges bits');
    server = await serve();
    whole = scale < 1 ? await serve(ROOT, HURRIED) : server;
    hurried = await serve(ROOT, { ...HURRIED, ...(scale < 1 ? FEWER : {}) });
    browser = await launch();
});

after(async () => {
    await browser?.close();
    for (const each of new Set([server, whole, hurried])) each?.close();
});

/* on: the server, of the page as it is, whole with all rungs, or hurried. */
const open = ({ on = hurried, ...options } = {}) => openPage(browser, on.address, options);

/* One hurried page for tests that need nothing new of it but a run: what it has compiled stays. They leave it open. */
let used;
const openUsed = () => (used ??= open({ prepare: allowClipboard }));

async function run(page, { count = '2000', kind = 'uniform' } = {}) {
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
    const { page, context, problems } = await open({ on: server, prepare: allowClipboard });
    const n = scale < 1 ? 4000 : 20000;
    for (const kind of ['uniform', 'cancelling']) {
        await run(page, { kind, count: String(n) });
        const result = await report(page);
        const x = numbers(kind, n);
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
    const { page, problems } = await openUsed();
    await run(page, { kind: 'integers', count: '5000' });
    const result = await report(page);
    const x = new Int32Array(5000);
    fill(x, 'integers', 1);
    const sum = x.reduce((a, b) => a + b);
    for (const row of result.rows.filter(row => row.seconds && !row.specimen)) assert.equal(row.value, sum, row.id);
    assert.deepEqual(problems, []);
});

async function runRows(page, columns, what) {
    await page.selectOption('#ladder', 'rows');
    await page.fill('#columns', columns);
    await run(page, what);
}

test('the ladder of rows: every rung is there, right and timed', async () => {
    const { page, context, problems } = await open({ on: whole, prepare: allowClipboard });
    const rows = scale < 1 ? 100 : 333;
    for (const kind of sample(['uniform', 'cancelling', 'integers'])) {
        await runRows(page, '60', { kind, count: String(60 * rows + 20) });
        const result = await report(page);
        assert.deepEqual([result.columns, result.bits], [60, null]);
        assert.deepEqual(
            result.rows.map(row => row.id),
            [...ROW_RUNGS, ...ROW_CPU_RUNGS].map(rung => rung.id),
        );
        for (const row of result.rows) {
            assert.ok(row.seconds > 0 && row.bytesPerSecond > 0, `${row.id} was timed: ${row.error ?? row.without}`);
            assert.equal(row.right, true, `${row.device} ${row.id} of ${kind}: ${row.value}`);
            assert.equal(row.of, row.id === 'column-tiles' ? 60 : rows, row.id);
        }
        for (const row of result.rows.filter(row => kind === 'integers' || row.id === 'cpu-exact'))
            assert.equal(row.rounded, true, row.id);
    }
    assert.match(await page.textContent('#circumstances'), rows === 333 ? /^20\D?000 elements in rows of 60/ : /^6\D?020 elements in rows of 60/);
    assert.equal(await page.isVisible('#bits'), false);
    assert.equal(await page.isDisabled('#finish'), true);
    await page.click('[data-rung="gpu row-warp"] a');
    await page.waitForSelector('#rung-row-warp pre');
    assert.match(await page.textContent('#rung-row-warp'), /Rung row-warp.*subgroups\.wgsl.*fn deal/s);
    await page.selectOption('#ladder', 'sum');
    await run(page, { count: '1000' });
    assert.equal(await page.isVisible('#bits'), true);
    assert.match(await verdict(page, 'halving'), /^(right|within bound)$/);
    assert.deepEqual(problems, []);
    await context.close();
});

test('more than sums: every application is there, right and timed', async () => {
    const { page, context, problems } = await open({ on: whole, prepare: allowClipboard });
    await page.selectOption('#ladder', 'applications');
    assert.equal(await page.isDisabled('#finish'), true);
    const n = scale < 1 ? 5001 : 20001;
    for (const kind of ['uniform', 'cancelling']) {
        await run(page, { kind, count: String(n) });
        const result = await report(page);
        const x = numbers(kind, n);
        assert.deepEqual([result.applications, result.bits], [true, null]);
        assert.deepEqual(
            result.rows.map(row => row.id),
            [...APPLICATIONS, ...APPLICATION_CPU_RUNGS].map(rung => rung.id),
        );
        for (const row of result.rows) {
            assert.ok(row.seconds > 0 && row.bytesPerSecond > 0, `${row.id} was timed: ${row.error ?? row.without}`);
            assert.equal(row.right, true, `${row.device} ${row.id} of ${kind}: ${row.value}`);
        }
        const valueOf = id => result.rows.find(row => row.id === id).value;
        const products = Float64Array.from(x, (value, i) => value * x[x.length - 1 - i]);
        for (const id of ['maximum', 'cpu-max']) assert.equal(valueOf(id), x.reduce((a, b) => Math.max(a, b)), id);
        assert.equal(valueOf('cpu-sum'), exactSum(x));
        assert.ok(Math.abs(valueOf('cpu-mean') - exactSum(x) / n) <= 2 ** -23 * Math.abs(valueOf('cpu-mean')));
        if (kind === 'uniform') assert.ok(Math.abs(valueOf('cpu-dot') - products.reduce((a, b) => a + b)) < 1e-3);
    }
    assert.match(await page.textContent('#summary'), /^Every result is right, or within/);
    assert.equal(await page.isVisible('text=Speed-up'), false);
    assert.match(await page.textContent('#target'), /^Each result should be the f32 nearest/);
    assert.equal(await page.isVisible('#bits'), false);
    await page.click('[data-rung="gpu maximum"] a');
    await page.waitForSelector('#rung-maximum pre');
    assert.match(await page.textContent('#rung-maximum'), /Application maximum.*fn combine/s);
    await run(page, { kind: 'integers', count: '1000' });
    assert.match(await page.textContent('#problem'), /^Numbers: expected f32, of which these reductions are; found 'i32/);
    assert.deepEqual(problems, []);
    await context.close();
});

test('an application that begins with the wrong identity is shown as wrong', async () => {
    const { page, context } = await open({
        prepare: page =>
            page.route('**/dot.wgsl', async route => {
                const response = await route.fetch();
                const text = await response.text();
                await route.fulfill({ response, body: text.replace('return 0;', 'return 1;') });
            }),
    });
    await page.selectOption('#ladder', 'applications');
    await run(page, { kind: 'uniform', count: '5000' });
    assert.equal(await verdict(page, 'dot'), 'wrong');
    assert.equal(await page.textContent('#summary'), 'Wrong here: dot.');
    assert.match(await verdict(page, 'texture-tiles'), /^(right|within bound)$/);
    await context.close();
});

test('rows: a rung that forgets some, lengths that cannot be, subgroups that are not there', async () => {
    const { page, context } = await open({
        prepare: async page => {
            await page.route('**/row-block.wgsl', async route => {
                const response = await route.fetch();
                const text = await response.text();
                await route.fulfill({ response, body: text.replace('row += groups(grid)', 'row += 2 * groups(grid)') });
            });
            await page.addInitScript(() => {
                const { has } = GPUSupportedFeatures.prototype;
                GPUSupportedFeatures.prototype.has = function (name) {
                    return name !== 'subgroups' && has.call(this, name);
                };
            });
        },
    });
    await runRows(page, '6', { count: '60000' });
    assert.equal(await verdict(page, 'row-block'), 'wrong');
    assert.match(await page.textContent('#summary'), /Wrong here: row-block/);
    assert.match(await verdict(page, 'row-thread'), /^(right|within bound)$/);
    assert.match(await page.textContent('[data-rung="gpu row-warp"]'), /does not offer subgroups/);
    assert.match(await page.textContent('[data-rung="gpu row-block"] small'), /^sum \d+, the worst of 10000$/);
    for (const columns of ['0', 'x', '60001', '1.5']) {
        await runRows(page, columns, { count: '60000' });
        assert.match(await page.textContent('#problem'), /expected a whole number of elements from 1 to .*found/, columns);
    }
    await context.close();
});

test('rows in Chinese', async () => {
    const { page, context, problems } = await openPage(browser, new URL('zh.html', hurried.address).href);
    assert.match(await page.textContent('#rows-head'), /每行一个和/);
    await runRows(page, '64', { count: '6400' });
    assert.match(await verdict(page, 'rows-per-warp'), /^(正确|在界限内)$/);
    assert.deepEqual(problems, []);
    await context.close();
});

/* Texts of the page that are left in English; what is named here comes from elsewhere: a browser, a compiler. */
const untranslated = page =>
    page.evaluate(async () => [...(await import(new URL('./page/chinese.js', location.href))).missed]);

test('what the Chinese page says while it runs is Chinese, and none of it is lost', async () => {
    const { page, context, problems } = await openPage(browser, new URL('zh.html', hurried.address).href, { prepare: allowClipboard });
    assert.match(await page.textContent('#slow'), /不是 GPU，而是/);
    assert.match(await page.textContent('#device .dim'), /^时钟：GPU 自己的时间戳，围绕重复的运行。$/);
    for (const kind of [...sample(['cancelling', 'integers']), 'uniform']) await run(page, { kind, count: '3000' });
    assert.match(await page.textContent('#summary'), /最快：.*是第一级的.*所有精确结果在 GPU 上和 C 里的位都相同。/);
    assert.match(await page.textContent('#circumstances'), /个元素（f32，均匀分布在 0 与 1 之间）。GPU：.*工作组 256 个线程/);
    assert.match(await page.textContent('#table-note'), /轮流用数组的.*误差是与精确值的距离/);
    assert.match(await verdict(page, 'halving'), /^(正确|在界限内)$/);
    assert.match(await page.textContent('#rung-halving .idea'), /相邻的线程，相邻的内存/);
    assert.ok(await page.evaluate(() => globalThis.Chart.getChart('chart').data.labels.includes('CPU JavaScript 循环')));
    await page.selectOption('#finish', 'recursive');
    assert.equal(await page.textContent('#finish-help'), '同一个核函数，直到只剩一个值');
    await page.click('#rung-halving summary');
    await page.waitForSelector('#rung-halving pre');
    assert.match(await page.textContent('#rung-halving pre'), /Rung halving: tid and tid/); /* code stays as it is */
    await page.click('#copy-json');
    await page.waitForFunction(() => document.querySelector('#copied').textContent === '已复制。', null, { polling: 50 });
    const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
    assert.equal(copied.rows.find(({ id }) => id === 'exact').verdict, 'right'); /* for programs */
    await runRows(page, '61', { count: '3000', kind: 'uniform' });
    assert.match(await page.textContent('[data-rung="gpu row-vectors"]'), /未运行.*不从 16 字节的倍数开始/);
    await page.selectOption('#ladder', 'applications');
    await run(page, { count: '3000', kind: 'uniform' });
    assert.match(await page.textContent('#summary'), /^每个结果都正确，或/);
    assert.match(await page.textContent('#target'), /^每个结果都应该是离精确结果最近的 f32。不同的数字/);
    assert.match(await page.textContent('#rung-mean .idea'), /相加，最后除以元素个数一次/);
    await run(page, { count: '3000', kind: 'integers' });
    assert.match(await page.textContent('#problem'), /^数据：这些归约需要 f32；实际是“i32，/);
    await run(page, { count: 'x', kind: 'uniform' });
    assert.match(await page.textContent('#problem'), /^元素个数：应为 1 到 .* 的整数.*实际是“x”。$/);
    await page.click('#judge');
    assert.match(await page.textContent('#verdict'), /^错误.*第 \d+ 行：线程 \d+ 读 input\[\d+\]，它有 \d+ 个元素。$/);
    await page.fill('#kernel', readFileSync(join(ROOT, 'exercises/beyond-the-end/answer.wgsl'), 'utf8'));
    await page.click('#judge');
    assert.match(await page.textContent('#verdict'), /^正确.*没有竞争。$/);
    await page.selectOption('#step-program', { index: 4 });
    await page.waitForFunction(() => document.querySelector('#step-code').textContent.includes('s > 4'));
    for (const button of ['#step-barrier', '#step-ahead', '#step-all', '#step-barrier']) await page.click(button);
    assert.match(await page.textContent('#step-said'), /竞争：线程 \d+ .*没有屏障。/);
    assert.match(await page.getAttribute('#step-picture svg', 'aria-label'), /^线程 0 .*，线程 1 /);
    await reduceFile(page, 'x.txt', Buffer.from('1 2 3'));
    assert.match(await page.textContent('#file-result'), /3 个，按 f64 从 x\.txt 读入.*包括读取/);
    assert.deepEqual(await untranslated(page), []);
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
    assert.match(await verdict(page, 'first-add'), /^(right|within bound)$/);
    await context.close();
});

test('a rung that does not compile is a row that says so', async () => {
    const { page, context } = await open({
        prepare: page => page.route('**/unrolled.wgsl', route => route.fulfill({ body: 'fn rung( {' })),
    });
    await run(page);
    assert.match(await page.textContent('[data-rung="gpu unrolled"]'), /failed.*line/s);
    assert.match(await verdict(page, 'grid-stride'), /^(right|within bound)$/);
    await context.close();
});

test('sizes that cannot be are refused with what was expected', async () => {
    const { page } = await openUsed();
    for (const count of ['0', 'many', '1.5', '1e12']) {
        await run(page, { count });
        assert.match(await page.textContent('#problem'), /expected a whole number from 1 to .*found/, count);
    }
});

test('exercises: the judge, and a kernel of one’s own among the rungs', async () => {
    const { page, context, problems } = await open();
    await page.waitForSelector('#exercise-text code');
    await page.click('#judge');
    assert.match(await page.textContent('#verdict'), /^wrong.*reads input/);
    assert.ok(await page.isDisabled('#run-mine'));
    const answer = readFileSync(join(ROOT, 'exercises/beyond-the-end/answer.wgsl'), 'utf8');
    await page.fill('#kernel', answer);
    await page.click('#judge');
    assert.match(await page.textContent('#verdict'), /^right/);
    await page.fill('#count', '2000');
    await page.click('#run-mine');
    await waitUntilReady(page);
    assert.match(await verdict(page, 'mine'), /^(right|within bound)$/);
    await page.selectOption('#exercise', 'rows');
    await page.waitForFunction(() => document.querySelector('#kernel').value.includes('Task: rows'));
    assert.equal(await page.textContent('#verdict'), '');
    assert.deepEqual(problems, []);
    await context.close();
});

test('exercises: in Chinese on the Chinese page', async () => {
    const { page, context, problems } = await openPage(browser, new URL('zh.html', hurried.address).href);
    await page.waitForFunction(() => /^1\. 越过/.test(document.querySelector('#exercise').options[0].textContent));
    assert.match(await page.textContent('#exercise-text'), /核函数/);
    assert.match(await page.textContent('#hint-list'), /屏障/);
    assert.deepEqual(problems, []);
    await context.close();
});

test('step by step: turns, their order by keyboard and by dragging, a race', async () => {
    const { page, context, problems } = await open();
    await page.selectOption('#step-program', 'the last warp, a mistake');
    await page.waitForFunction(() => document.querySelector('#step-code').textContent.includes('s > 4'));
    const order = () => page.locator('#step-order button').allTextContents();
    assert.ok(await page.isHidden('#step-play'), 'nothing moves by itself where motion is not wanted');
    await page.focus('#step-order [data-tid="0"]');
    for (let i = 0; i < 2; i++) await page.keyboard.press('ArrowRight');
    assert.deepEqual(await order(), ['1', '2', '0', '3', '4', '5', '6', '7']);
    const [from, to] = await Promise.all(
        ['0', '1'].map(tid => page.locator(`#step-order [data-tid="${tid}"]`).boundingBox()),
    );
    await page.mouse.move(from.x + 10, from.y + 10);
    await page.mouse.down();
    await page.mouse.move(to.x + 10, to.y + 10, { steps: 8 });
    await page.mouse.up();
    assert.deepEqual(await order(), ['0', '1', '2', '3', '4', '5', '6', '7']);
    await page.click('#step-barrier');
    assert.equal(await page.locator('#step-picture .raced').count(), 0);
    await page.click('#step-ahead');
    await page.click('#step-all');
    await page.click('#step-barrier');
    assert.ok((await page.locator('#step-picture .raced').count()) > 0);
    assert.match(await page.textContent('#step-said'), /Race: thread .*Wrong\./s);
    const turned = await page.textContent('#step-said');
    await page.click('#step-back');
    assert.notEqual(await page.textContent('#step-said'), turned);
    await page.click('#step-barrier');
    assert.equal(await page.textContent('#step-said'), turned);
    await page.selectOption('#step-program', 'neighbour-strided');
    await page.click('#step-barrier');
    const told = [];
    for (let i = 0; i < 7; i++) {
        await page.click('#step-all');
        told.push(await page.textContent('#step-said'));
    }
    assert.match(told.join('\n'), /Warp 0 asks for 2 words of bank 0 at once/);
    assert.deepEqual(problems, []);
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
    verdicts.forEach(word => assert.match(word, /^(right|within bound)$/));
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
        on: whole,
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

const doneRows = page => page.locator('[data-rung]:has(.digits)').count();

const waitForRows = (page, count) =>
    page.waitForFunction(n => document.querySelectorAll('[data-rung] .digits').length >= n, count, {
        polling: 50,
        timeout: 120_000,
    });

test('rows and bars appear as rungs finish, with the time that is left', async () => {
    const { page, context, problems } = await open({ on: whole });
    await page.fill('#count', '16 Ki');
    await page.click('#start');
    await waitForRows(page, 2);
    const [rows, waiting, bars, text] = await page.evaluate(() => [
        document.querySelectorAll('[data-rung] .digits').length,
        document.querySelectorAll('[data-rung].waiting').length,
        globalThis.Chart.getChart('chart').data.datasets[0].data.filter(Number.isFinite).length,
        document.querySelector('#progress-text').textContent,
    ]);
    assert.ok(await page.isVisible('#stop'), 'it still runs');
    assert.equal(rows + waiting, GPU_RUNGS.length + CPU_RUNGS.length);
    assert.ok(waiting > 0);
    assert.equal(bars, rows);
    assert.match(text, /on the (GPU|CPU), \d+ of \d+, .* left$/);
    assert.ok(await page.locator('#stop').evaluate(stop => stop.getBoundingClientRect().bottom <= innerHeight));
    await waitUntilReady(page);
    assert.equal(await doneRows(page), GPU_RUNGS.length + CPU_RUNGS.length);
    assert.deepEqual(problems, []);
    await context.close();
});

test('Stop answers at once and keeps what is done; another run can be started', async () => {
    const { page, context, problems } = await open({ on: whole });
    await page.fill('#count', '512 Ki'); /* each rung takes seconds */
    await page.click('#start');
    await waitForRows(page, 1);
    await page.waitForTimeout(500); /* the next rung is under way */
    const took = await page.evaluate(
        () =>
            new Promise(resolve => {
                const start = performance.now();
                const button = document.querySelector('#start');
                new MutationObserver(() => button.disabled || resolve(performance.now() - start)).observe(button, {
                    attributes: true,
                });
                document.querySelector('#stop').click();
            }),
    );
    assert.ok(took < 500, `Stop took ${took} ms`);
    const done = await doneRows(page);
    assert.ok(done >= 1 && done < GPU_RUNGS.length, `${done} rungs were done`);
    assert.equal(await page.locator('[data-rung].waiting').count(), 0, 'no rung waits any longer');
    assert.match(await page.textContent('[data-rung="gpu exact"]'), /not run.*stopped/);
    await page.waitForTimeout(3000);
    assert.equal(await doneRows(page), done, 'nothing comes after Stop');
    await run(page, { count: '1000' });
    const table = await page.innerText('#ladder-table');
    assert.equal(await doneRows(page), GPU_RUNGS.length + CPU_RUNGS.length, table);
    assert.match(await page.textContent('#circumstances'), /^1\D?000 elements/);
    assert.deepEqual(problems, []);
    await context.close();
});

test('Stop before the first rung is done: a sentence, and nothing to see', async () => {
    const { page, context } = await open({ on: whole });
    await page.fill('#count', '32 Mi');
    await page.click('#start');
    await page.click('#stop');
    await waitUntilReady(page);
    assert.match(await page.textContent('#problem'), /Stopped before/);
    assert.equal(await page.isVisible('#results'), false);
    await context.close();
});

test('a program that plays a GPU is named as one and begins with fewer elements', async () => {
    const { page, context } = await open();
    assert.match(await page.textContent('#slow'), /swiftshader is no GPU but a program/i);
    assert.equal(await page.inputValue('#count'), '64 Ki');
    await context.close();
});

test('a device that hides its name and is as slow is told, too', async () => {
    const anonymous = () => {
        const hide = name => Object.defineProperty(GPUAdapterInfo.prototype, name, { get: () => '' });
        ['vendor', 'architecture', 'device', 'description'].forEach(hide);
        Object.defineProperty(GPUAdapterInfo.prototype, 'isFallbackAdapter', { get: () => false });
    };
    const { page, context } = await open({ prepare: page => page.addInitScript(anonymous) });
    assert.match(await page.textContent('#slow'), /unnamed GPU is slow here/);
    assert.equal(await page.inputValue('#count'), '64 Ki');
    await context.close();
});

test('the numbers to begin with are ones whose ordinary sums fail, and the digits that differ are marked', async () => {
    const { page, context, problems } = await open();
    const kind = await page.inputValue('#kind');
    await run(page, { kind, count: '20000' });
    assert.match(await page.textContent('#summary'), /ordinary sums are not the right one/);
    const rounded = await page.textContent('#rounded');
    const x = numbers(kind, 20000);
    assert.equal(Number(rounded), Number(exactSum(x).toPrecision(rounded.replace(/[^0-9]/g, '').length)));
    for (const [id, text] of [
        ['gpu exact', rounded],
        ['cpu cpu-exact', rounded],
    ]) {
        assert.equal(await page.textContent(`[data-rung="${id}"] .digits`), text);
        assert.equal(await page.locator(`[data-rung="${id}"] mark`).count(), 0);
    }
    for (const id of ['gpu halving', 'gpu one-launch', 'cpu plain', 'cpu pairwise']) {
        assert.equal(await page.locator(`[data-rung="${id}"] mark`).count(), 1, id);
        const digits = await page.textContent(`[data-rung="${id}"] .digits`);
        const same = digits.slice(0, digits.length - (await page.textContent(`[data-rung="${id}"] mark`)).length);
        assert.ok(rounded.startsWith(same), `${id}: ${digits} beside ${rounded}`);
        assert.equal(await page.textContent(`[data-rung="${id}"] .verdict`), 'within bound');
    }
    assert.deepEqual(problems, []);
    await context.close();
});

test('the axis of errors begins where its title says', async () => {
    const { page } = await openUsed();
    await run(page, { count: '5000' });
    await page.check('input[name="metric"][value="error"]', { force: true });
    const [title, min, least] = await page.evaluate(() => {
        const chart = globalThis.Chart.getChart('chart');
        const values = chart.data.datasets[0].data.filter(Number.isFinite);
        return [String(chart.options.scales.x.title.text), chart.scales.x.min, Math.min(...values)];
    });
    assert.equal(Number(/([0-9.]+) or less at the edge/.exec(title)[1]), min);
    assert.ok(least >= min);
    await page.check('input[name="metric"][value="bandwidth"]', { force: true });
});

test('one element is one element', async () => {
    const { page } = await openUsed();
    await run(page, { count: '1' });
    assert.match(await page.textContent('#circumstances'), /^1 element \(/);
});

test('opened as a file: a sentence at once, and what to do instead', async () => {
    const page = await browser.newPage();
    await page.goto(pathToFileURL(join(ROOT, 'web/index.html')).href);
    assert.match(await page.textContent('#device'), /opened as a file.*make web/s);
    await page.close();
});

test('a part that is missing is named', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.route('**/page/chart.js', route => route.fulfill({ status: 404 }));
    await page.goto(server.address);
    await page.waitForFunction(() => document.querySelector('#device').textContent.includes('make web'));
    assert.match(await page.textContent('#device'), /could not be loaded/);
    await context.close();
});

test('without the WebAssembly part: a sentence, and what can run does', async () => {
    const { page, context } = await open({
        prepare: (page, context) => context.route('**/embedded.js', route => route.fulfill({ status: 404 })),
    });
    assert.match(await page.textContent('#device'), /make web/);
    await run(page, { count: '3000' });
    assert.match(await verdict(page, 'halving'), /^(right|within bound)$/);
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
    await reduceFile(page, 'zero.txt', Buffer.from('-0.0\n'));
    await page.waitForFunction(() => document.querySelector('#file-result').textContent.includes('zero.txt'));
    assert.equal(await page.textContent('#file-value'), '-0');
    await reduceFile(page, 'x.txt', Buffer.from('1e100\n1\n-1e100\n'));
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
    const { page } = await openUsed();
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
});

test('results can be taken away as Markdown', async () => {
    const { page } = await openUsed();
    await run(page, { count: '1000' });
    await page.click('#copy-markdown');
    await page.waitForFunction(() => document.querySelector('#copied').textContent === 'Copied.', null, {
        polling: 50,
    });
    const text = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(text, /\| gpu \| halving \| recursive \|/);
    assert.match(text, /\| sum \| 0x[0-9a-f]{8} \| 0x[0-9a-f]{8} \| same bits \|/);
});

/* What a phone shows without scrolling sideways: verdicts and errors, the labels of the chart, the mistake of the specimen. */
async function fitsOnPhone(page) {
    const right = selector =>
        page.locator(selector).evaluateAll(found => Math.max(...found.map(one => one.getBoundingClientRect().right)));
    const width = page.viewportSize().width;
    assert.ok((await right('#ladder-table .verdict')) <= width, 'verdicts are in sight');
    assert.ok((await right('#ladder-table .digits')) <= width, 'digits are in sight');
    assert.ok((await right('#ladder-table tr[data-rung] td:nth-child(3)')) <= width, 'errors are in sight');
    assert.equal(await page.textContent('#ladder-table th:nth-child(3)'), 'Error, ulp');
    for (const metric of ['bandwidth', 'time', 'speedup', 'error']) {
        await page.check(`input[name="metric"][value="${metric}"]`, { force: true });
        assert.deepEqual(await page.evaluate(clippedLabels), [], `labels of the chart: ${metric}`);
    }
    await page.click('#rung-last-warp-implicit summary');
    await page.waitForSelector('#rung-last-warp-implicit .faulty');
    const [pre, lines] = await page.evaluate(() => {
        const box = one => one.getBoundingClientRect().toJSON();
        const range = document.createRange();
        return [
            box(document.querySelector('#rung-last-warp-implicit pre')),
            [...document.querySelectorAll('#rung-last-warp-implicit .faulty')].map(line => {
                range.selectNodeContents(line);
                return box(range);
            }),
        ];
    });
    assert.equal(lines.length, 6);
    for (const line of lines)
        assert.ok(
            line.right <= pre.right && line.top >= pre.top && line.bottom <= pre.bottom,
            'the faulty lines are in sight',
        );
}

/* The labels of the chart that are wider than their room. */
function clippedLabels() {
    const chart = globalThis.Chart.getChart('chart');
    const context = chart.ctx;
    const { x, y } = chart.scales;
    const wide = (scale, text) => {
        const { size, family } = scale.options.ticks.font;
        context.font = `${size}px ${family}`;
        return context.measureText(text).width;
    };
    const padding = y.options.ticks.padding;
    const titles = [x.options.title.text].flat().filter(text => wide(x, text) > chart.width - x.left);
    const labels = y.ticks.map(({ label }) => label).filter(label => wide(y, label) + padding > y.right);
    const ticks = x.ticks.filter(
        ({ label }, k) => x.getPixelForTick(k) + wide(x, label) / 2 > chart.width || x.labelRotation !== 0,
    );
    return [...titles, ...labels, ...ticks.map(({ label }) => label)];
}

const looks = ['light', 'dark'].flatMap(colorScheme =>
    [
        ['desktop', { width: 1280, height: 900 }],
        ['phone', { width: 390, height: 844 }],
        ['small phone', { width: 320, height: 568 }],
    ].map(screen => [colorScheme, ...screen]),
);
for (const [colorScheme, name, viewport] of sample(looks)) {
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
        if (viewport.width <= 390) await fitsOnPhone(page);
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
    assert.match(await page.textContent('[data-rung="cpu plain"] .verdict'), /^(right|within bound)$/);
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
