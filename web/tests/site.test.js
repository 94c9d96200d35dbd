/* The site as web/assemble gathers it: every link leads somewhere, every picture is there, and nothing is wider than a phone. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch, ROOT, serve } from './browser.js';
import { scale } from './sample.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let server, browser, page, site;

before(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'reduct-site-'));
    execFileSync(join(ROOT, 'web/assemble'), [folder]);
    server = await serve(folder);
    site = new URL('..', server.address).href;
    browser = await launch();
    page = await browser.newPage({ viewport: { width: 390, height: 844 } });
});

after(async () => {
    await browser?.close();
    server?.close();
});

/* What a page consists of: links, names that links can use, pictures. */
const read = async path => {
    const response = await page.goto(`${site}${path}`);
    assert.equal(response.status(), 200, path);
    return page.evaluate(async () => {
        const images = [...document.images];
        await Promise.all(images.map(image => ((image.loading = 'eager'), image.decode().catch(() => null))));
        return {
            title: document.title,
            ids: [...document.querySelectorAll('[id]')].map(({ id }) => id),
            links: [...document.querySelectorAll('a[href]')].map(({ href }) => href),
            broken: images.filter(image => image.naturalWidth === 0).map(image => image.src),
            fits: document.scrollingElement.scrollWidth <= innerWidth,
        };
    });
};

/* The same as far as its text tells, without laying it out; pictures among the links. */
const readText = async path => {
    const response = await page.request.get(`${site}${path}`);
    assert.equal(response.status(), 200, path);
    const parse = ([text, address]) => {
        const parsed = new DOMParser().parseFromString(text, 'text/html');
        const found = selector => [...parsed.querySelectorAll(selector)];
        const links = [...found('a[href]'), ...found('img')].map(one => new URL(one.getAttribute('href') ?? one.getAttribute('src'), address).href);
        return { title: parsed.title, ids: found('[id]').map(({ id }) => id), links, broken: [], fits: true };
    };
    return page.evaluate(parse, [await response.text(), `${site}${path}`]);
};

/* Of so many pages, one is laid out, and all those that scripts add to. */
const STEP = Math.max(1, Math.round(1 / scale));

test('every link of every page leads somewhere, from the page on', async () => {
    const pages = new Map(), files = new Set();
    const waiting = ['web/index.html'];
    while (waiting.length) {
        const path = waiting.pop();
        if (pages.has(path)) continue;
        const found = await (pages.size % STEP && !path.startsWith('web/') ? readText : read)(path);
        pages.set(path, found);
        for (const link of found.links.filter(link => link.startsWith(site))) {
            const target = new URL(link).pathname.slice(1).replace(/(^|\/)$/, '$1index.html');
            if (target.endsWith('.html')) waiting.push(target);
            else if (!files.has(target)) {
                assert.equal((await page.request.get(`${site}${target}`)).status(), 200, `${path}: ${link}`);
                files.add(target);
            }
        }
    }
    if (STEP > 1) console.log(`# REDUCT_TEST_SCALE is ${scale}: one of ${STEP} documents is laid out, to see whether it fits and its pictures are whole`);
    for (const [path, { links, broken, fits }] of pages) {
        assert.deepEqual(broken, [], `pictures of ${path}`);
        assert.ok(fits, `${path} is no wider than a phone`);
        for (const link of links.filter(link => link.startsWith(site))) {
            const { pathname, hash } = new URL(link);
            const ids = pages.get(pathname.slice(1).replace(/(^|\/)$/, '$1index.html'))?.ids;
            if (hash && ids) assert.ok(ids.includes(decodeURIComponent(hash.slice(1))), `${path}: ${link}`);
        }
    }
    for (const path of ['docs/ladder.html', 'web/reduct/README.html', 'README.html', 'docs/numerics.html'])
        assert.ok(pages.has(path), `${path} can be reached from the page`);
    assert.ok(pages.has('docs/ladder/neighbour-modulo.html'));
});

test('documents are accessible', async () => {
    for (const path of ['docs/ladder.html', 'docs/ladder/shaders.html', 'docs/zh/ladder/halving.html', 'web/zh.html', 'README.html', 'ladder/cuda/index.html']) {
        await page.goto(`${site}${path}`);
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() =>
            globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }),
        );
        assert.deepEqual(
            violations.map(({ id, nodes }) => `${path}: ${id}: ${nodes[0].html}`.slice(0, 300)),
            [],
        );
    }
});
