/* A static server of the repository and a headless Chromium with WebGPU on its software GPU, for the tests.
 *
 * CHROMIUM names another browser; REDUCT the command of the C library, which judges bits. */
import { createServer } from 'node:http';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const TYPES = {
    '.html': 'text/html',
    '.js': 'text/javascript',
    '.css': 'text/css',
    '.svg': 'image/svg+xml',
    '.wasm': 'application/wasm',
    '.wgsl': 'text/plain',
    '.md': 'text/plain',
};

/* The rungs of the GPU that tests of a hurried page look at; what such a page runs where less is to be tested. */
const FEW_RUNGS = ['neighbour-modulo', 'halving', 'first-add', 'last-warp-implicit', 'last-warp', 'unrolled', 'grid-stride', 'one-launch', 'exact'];
export const FEWER = {
    '/web/page/rungs.js': [['([id]) => id in WGSL)', `([id]) => id in WGSL && ${JSON.stringify(FEW_RUNGS)}.includes(id))`]],
    '/web/page/run.js': [["WITH_BITS = ['sum', 'mean', 'min', 'max', 'norm2', 'dot']", "WITH_BITS = ['sum']"]],
};

/* The page with a tenth of the time for each measurement, and one round of it where that takes longer, for tests to which the figures
 * do not matter: by file, what stands there and what is to. */
export const HURRIED = {
    '/web/page/cpu-worker.js': [
        ['WARM_SECONDS = 0.15', 'WARM_SECONDS = 0.015'],
        ['ROUND_SECONDS = 0.02', 'ROUND_SECONDS = 0.002'],
    ],
    '/web/page/stopwatch.js': [
        ['TIMESTAMP_SECONDS = 0.03', 'TIMESTAMP_SECONDS = 0.003'],
        ['WALL_SECONDS = 0.06', 'WALL_SECONDS = 0.006'],
        ['LEAST_ROUNDS = 3', 'LEAST_ROUNDS = 1'],
        ['ROUNDS_SECONDS = 1;', 'ROUNDS_SECONDS = 0.1;'],
    ],
};

function changed(body, changes) {
    let text = String(body);
    for (const [old, replacement] of changes) {
        if (!text.includes(old)) throw new Error(`the page no longer says '${old}'`);
        text = text.replace(old, replacement);
    }
    return text;
}

/* Serves the repository, or another folder, at 127.0.0.1, as any static server would; some files changed. */
export async function serve(root = ROOT, changes = {}) {
    for (const [path, list] of Object.entries(changes)) changed(await readFile(join(root, path)), list); /* which may throw */
    const server = createServer(async (request, response) => {
        const path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
        const file = join(root, path.endsWith('/') ? `${path}index.html` : path);
        try {
            const body = await readFile(file);
            response
                .writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' })
                .end(path in changes ? changed(body, changes[path]) : body);
        } catch {
            response.writeHead(404).end(`no ${path}`);
        }
    });
    await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
    return { address: `http://127.0.0.1:${server.address().port}/web/`, close: () => server.close() };
}

function executable() {
    const found = [
        process.env.CHROMIUM,
        '/usr/bin/chromium',
        '/usr/bin/chromium-browser',
        '/usr/bin/google-chrome',
    ].find(path => path && existsSync(path));
    if (!found) throw new Error('no Chromium found: install the package chromium, or name a browser in CHROMIUM');
    return found;
}

/* Chromium's software GPU, SwiftShader, serves WebGPU if asked so; what Playwright would switch off is left out. */
export function launch() {
    const args = [
        '--headless=new',
        '--enable-unsafe-webgpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
    ];
    if (process.getuid?.() === 0) args.push('--no-sandbox');
    return chromium.launch({
        executablePath: executable(),
        args,
        ignoreDefaultArgs: ['--headless', '--disable-gpu', '--enable-unsafe-swiftshader'],
    });
}

/* A page in a fresh profile, ready to run, and everything that went wrong in it: errors, requests to other hosts. */
export async function openPage(browser, address, { prepare, ...options } = {}) {
    const context = await browser.newContext({
        viewport: { width: 1280, height: 900 },
        reducedMotion: 'reduce',
        ...options,
    });
    const page = await context.newPage();
    const problems = [];
    page.on('pageerror', error => problems.push(`error: ${error.message}`));
    page.on('console', message => message.type() === 'error' && problems.push(`console: ${message.text()}`));
    page.on('request', request => {
        if (
            !request.url().startsWith(new URL('/', address).href) &&
            !request.url().startsWith('data:') &&
            !request.url().startsWith('blob:')
        )
            problems.push(`a request to ${request.url()}`);
    });
    await prepare?.(page, context);
    await page.goto(address);
    await waitUntilReady(page);
    return { page, context, problems };
}

export async function waitUntilReady(page) {
    await page.waitForFunction(() => !document.querySelector('#start').disabled, null, {
        polling: 100,
        timeout: 120_000,
    });
}
