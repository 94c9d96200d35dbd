/* The package as npm packs it: complete, and usable from where it is installed, by import and by require(). */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after } from 'node:test';
import * as source from '../index.js';
import { install, OLD_NODE, PACKAGE, run, withoutOldNode } from './installed.js';

const { project, files, remove } = install();
after(remove);

test('holds all that it needs and nothing else', () => {
    assert.deepEqual(files, ['LICENSE', 'README.md', 'embedded.js', 'exact.wgsl', 'gpu.js', 'index.cjs', 'index.d.cts',
        'index.d.ts', 'index.js', 'load.js', 'node.mjs', 'package.json', 'reduct.wasm', 'tables.js', 'wasm.js']);
});

const [, readme] = /```js\n(.*?)```/s.exec(readFileSync(join(PACKAGE, 'README.md'), 'utf8'));
const promised = readme.match(/(?<=\); \/\/ ).*/g);

/* Both ways in, and in one process: they must be one. */
const IMPORTED = 'import-and-require.mjs', REQUIRED = 'require.cjs', README = 'readme.js';
writeFileSync(join(project, README), readme);
writeFileSync(join(project, REQUIRED), `
const reduct = require('reduct-web');
(async () => {
    console.log(await reduct.sum(Float64Array.of(1e100, 1, -1e100)), await reduct.product(Int8Array.of(-3, 5)));
    console.log((await import('reduct-web')).Accumulator === reduct.Accumulator, Object.keys(reduct).sort().join());
})();
`);
writeFileSync(join(project, IMPORTED), `
import { createRequire } from 'node:module';
import * as imported from 'reduct-web';
const required = createRequire(import.meta.url)('reduct-web'), total = (await imported.load()).accumulator('sum', 'f64');
console.log(total instanceof required.Accumulator, (await required.load()) === (await imported.load()));
console.log(total.merge((await required.load()).accumulator('sum', 'f64').add(Float64Array.of(3))).result().value, Object.keys(imported).sort().join());
`);

const names = Object.keys(source).sort().join();
for (const [node, name, skip] of [[process.execPath, process.version, false], [OLD_NODE, 'Node 18', withoutOldNode]]) {
    test(`${name}: prints what the README says`, { skip }, () => {
        assert.equal(promised.length, 7);
        assert.deepEqual(run(node, [README], project).trim().split('\n'), promised);
    });

    test(`${name}: require(), and import beside it`, { skip }, () => {
        assert.equal(run(node, [REQUIRED], project), `1 -15n\ntrue ${names}\n`);
        assert.equal(run(node, [IMPORTED], project), `true true\n3 ${names}\n`);
    });
}

test('Node 18 passes the tests of the library in WebAssembly', { skip: withoutOldNode }, () => {
    assert.match(run(OLD_NODE, ['--version'], project), /^v18\./);
    const printed = run(OLD_NODE, ['--test', '--test-reporter=tap', 'tests/tables.test.js', 'tests/wasm.test.js'], PACKAGE);
    assert.match(printed, /# fail 0\n/);
});
