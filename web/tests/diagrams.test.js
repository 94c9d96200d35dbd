/* The diagrams of the tutorial: every word lies within its picture, and they are what their program draws. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch, ROOT } from './browser.js';

const DOCS = join(ROOT, 'docs'), EDITIONS = ['ladder', 'zh/ladder'];
const svgsIn = folder => readdirSync(folder).filter(name => name.endsWith('.svg'));

/* Words nearer to the edge than this touch the frame. */
const MARGIN = 4;

let browser, page;

before(async () => {
    browser = await launch();
    page = await browser.newPage();
});

after(() => browser?.close());

/* The texts that reach beyond the picture, less its margin. */
function outside(margin) {
    const svg = document.querySelector('svg');
    const { x, y, width, height } = svg.viewBox.baseVal;
    const edge = { left: x + margin, top: y + margin, right: x + width - margin, bottom: y + height - margin };
    return [...svg.querySelectorAll('text')]
        .map(text => ({ text: text.textContent, box: text.getBBox() }))
        .filter(({ text, box }) => text.trim() && box.width > 0)
        .filter(
            ({ box }) =>
                box.x < edge.left ||
                box.y < edge.top ||
                box.x + box.width > edge.right ||
                box.y + box.height > edge.bottom,
        )
        .map(
            ({ text, box }) => `'${text}' ends at ${Math.round(box.x + box.width)}, ${Math.round(box.y + box.height)}`,
        );
}

for (const path of EDITIONS.flatMap(edition => svgsIn(join(DOCS, edition)).map(name => join(edition, name))))
    test(`${path}: its words are within it`, async () => {
        await page.setContent(readFileSync(join(DOCS, path), 'utf8'));
        assert.ok((await page.locator('svg text').count()) > 0, 'there are words');
        assert.deepEqual(await page.evaluate(outside, MARGIN), []);
    });

test('they are what draw.py draws', () => {
    const folder = mkdtempSync(join(tmpdir(), 'reduct-diagrams-'));
    execFileSync('python3', [join(ROOT, 'docs/ladder/draw.py'), folder]);
    for (const edition of EDITIONS) {
        const drawn = svgsIn(join(folder, edition));
        assert.ok(drawn.length > 0, edition);
        for (const name of drawn)
            assert.equal(readFileSync(join(DOCS, edition, name), 'utf8'), readFileSync(join(folder, edition, name), 'utf8'), `${edition}/${name}`);
    }
});
