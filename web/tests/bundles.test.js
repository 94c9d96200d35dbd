/* The package reduct-web in the bundles that its users make: built without a warning, run in a browser and in Node. And
 * what of the package needs an engine newer than the Node at hand, in the browser. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { rollup } from '@rollup/wasm-node';
import { build } from 'esbuild';
import webpack from 'webpack';
import { install, OLD_NODE, run, withoutOldNode } from '../reduct/tests/installed.js';
import { launch, serve } from './browser.js';
import { sample, scale } from './sample.js';

const { project, remove } = install();
let server, sources, browser;

before(async () => {
    server = await serve(project);
    sources = await serve();
    browser = await launch();
});

after(async () => {
    await browser?.close();
    server?.close();
    sources?.close();
    remove();
});

/* Uses the engine and, where there is a GPU, the kernels. */
const PROGRAM = `
async function answer() {
    const found = { sum: await sum(Float64Array.of(1e100, 1, -1e100)), product: String(await product(Int32Array.of(6, 7))) };
    found.error = await mean(new Float64Array(0)).catch(error => error instanceof ReductError && error.status);
    if (globalThis.navigator?.gpu) {
        const device = await (await navigator.gpu.requestAdapter()).requestDevice();
        found.device = (await reduce('sum', Float32Array.of(1e30, 1, -1e30), { device })).value;
    }
    return JSON.stringify(found);
}
globalThis.answer = answer();
globalThis.answer.then(found => globalThis.process && console.log(found));
`;
const ANSWER = { sum: 1, product: '42', error: 'empty' };
const entry = join(project, 'entry.js'), common = join(project, 'entry.cjs');
writeFileSync(entry, `import { mean, product, reduce, ReductError, sum } from 'reduct-web';\n${PROGRAM}`);
writeFileSync(common, `const { mean, product, reduce, ReductError, sum } = require('reduct-web');\n${PROGRAM}`);

async function esbuild(folder, from, options) {
    const { warnings } = await build({ entryPoints: { main: from }, bundle: true, outdir: folder, logLevel: 'silent', ...options });
    assert.deepEqual(warnings, []);
}

async function rolled(folder, options) {
    const bundle = await rollup({ input: { main: entry }, plugins: [nodeResolve()], onLog: (level, log) => assert.fail(`${level}: ${log.message}`) });
    await bundle.write({ dir: folder, ...options });
    await bundle.close();
}

function packed(folder, options) {
    return new Promise((resolve, reject) => webpack({ mode: 'production', entry: { main: entry }, context: project, performance: { hints: false },
        output: { path: folder }, ...options }, (error, stats) => {
        if (error || stats.hasErrors() || stats.hasWarnings())
            reject(error ?? new Error(stats.toString('errors-warnings')));
        else
            resolve();
    }));
}

/* What is made, how, and where it runs: 'script' and 'module' in the browser, 'node' in this Node and in Node 18. */
const BUNDLES = [
    ['esbuild --bundle', folder => esbuild(folder, entry, {}), ['script', 'node']],
    ['esbuild, minified', folder => esbuild(folder, entry, { minify: true }), ['script', 'node']],
    ['esbuild, ES modules in pieces', folder => esbuild(folder, entry, { format: 'esm', splitting: true }), ['module', 'node']],
    ['esbuild of require()', folder => esbuild(folder, common, {}), ['script', 'node']],
    ['esbuild for Node', folder => esbuild(folder, entry, { platform: 'node', format: 'cjs' }), ['node']],
    ['Rollup, ES modules', folder => rolled(folder, { format: 'es' }), ['module', 'node']],
    ['Rollup, one script', folder => rolled(folder, { format: 'iife', inlineDynamicImports: true }), ['script', 'node']],
    ['webpack', folder => packed(folder, {}), ['script']],
    ['webpack of require()', folder => packed(folder, { entry: { main: common } }), ['script']],
    ['webpack for Node', folder => packed(folder, { target: 'node' }), ['node']],
];

async function inBrowser(name) {
    const page = await browser.newPage(), problems = [];
    page.on('pageerror', error => problems.push(error.message));
    page.on('console', message => message.type() === 'error' && !/favicon/.test(message.location().url) && problems.push(message.text()));
    await page.goto(new URL(`/${name}/index.html`, server.address).href);
    await page.waitForFunction(() => globalThis.answer, null, { timeout: 20_000 }).catch(() => assert.fail(`no answer: ${problems}`));
    const answer = JSON.parse(await page.evaluate(() => globalThis.answer));
    assert.deepEqual(problems, []);
    await page.close();
    return answer;
}

const made = sample(BUNDLES);
BUNDLES.forEach(([name, make, places], i) => {
    const skip = !made.includes(BUNDLES[i]) && 'REDUCT_TEST_SCALE is below 1';
    test(name, { skip }, async t => {
        const path = `bundle${i}`, folder = join(project, path), isModule = places.includes('module');
        mkdirSync(folder);
        await make(folder);
        writeFileSync(join(folder, 'package.json'), `{ "type": "${isModule ? 'module' : 'commonjs'}" }`);
        writeFileSync(join(folder, 'index.html'), `<!DOCTYPE html><title>${name}</title><script ${isModule ? 'type="module" ' : ''}src="main.js"></script>`);
        if (places[0] !== 'node')
            await t.test('in the browser', async () => assert.deepEqual(await inBrowser(path), { ...ANSWER, device: 1 }));
        if (places.includes('node')) {
            await t.test(`in Node ${process.version}`, () => assert.deepEqual(JSON.parse(run(process.execPath, ['main.js'], folder)), ANSWER));
            await t.test('in Node 18', { skip: withoutOldNode }, () => assert.deepEqual(JSON.parse(run(OLD_NODE, ['main.js'], folder)), ANSWER));
        }
    });
});

test('f16 elements, where the engine has Float16Array', async t => {
    const page = await browser.newPage();
    await page.goto(new URL('README.md', sources.address).href);
    if (!(await page.evaluate(() => 'Float16Array' in globalThis)))
        return t.skip(`${browser.version()} has no Float16Array`);
    const step = Math.max(1, Math.round(1 / scale));
    const compared = await page.evaluate(async step => {
        const [reductWeb, { testHalves }] = await Promise.all([import('/web/reduct/index.js'), import('/web/reduct/tests/halves.js')]);
        return testHalves(reductWeb, step);
    }, step);
    assert.ok(compared > 2 ** 17 / step, `${compared} results`);
    await page.close();
});

test('arrays that were transferred to a worker are refused', async () => {
    const page = await browser.newPage();
    await page.goto(new URL('README.md', sources.address).href);
    const found = await page.evaluate(async () => {
        const { sum } = await import('/web/reduct/index.js'), x = Float64Array.of(1, 2);
        new Worker(URL.createObjectURL(new Blob(['']))).postMessage(x, [x.buffer]);
        return sum(x).catch(error => `${error.name}: ${error.message}`);
    });
    assert.match(String(found), /^TypeError: data: .* ArrayBuffer is detached/);
    await page.close();
});
