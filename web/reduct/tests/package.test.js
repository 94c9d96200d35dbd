/* The package as npm packs it: complete, usable from where it is installed, and typed as it says. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const project = mkdtempSync(join(tmpdir(), 'reduct-web-'));
after(() => rmSync(project, { recursive: true }));

const run = (command, arguments_, folder) => execFileSync(command, arguments_, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });

/* Installs the packed package in an empty project. */
const [packed] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', project], root));
const installed = join(project, 'node_modules', 'reduct-web');
mkdirSync(installed, { recursive: true });
run('tar', ['-xzf', join(project, packed.filename), '--strip-components=1', '-C', installed], project);
writeFileSync(join(project, 'package.json'), '{ "type": "module" }');

test('holds all that it needs and nothing else', () => {
    assert.deepEqual(packed.files.map(file => file.path).sort(), ['LICENSE', 'README.md', 'exact.wgsl', 'files.js', 'gpu.js',
        'index.d.ts', 'index.js', 'package.json', 'reduct.wasm', 'wasm.js']);
});

test('runs where it is installed, and prints what its README says', () => {
    const [, program] = /```js\n(.*?)```/s.exec(readFileSync(join(installed, 'README.md'), 'utf8'));
    writeFileSync(join(project, 'use.js'), program);
    const promised = program.match(/(?<=\); \/\/ ).*/g);
    assert.equal(promised.length, 6);
    assert.deepEqual(run(process.execPath, ['use.js'], project).trim().split('\n'), promised);
});

/* Accepted by the compiler, and refused where @ts-expect-error says so. */
const PROGRAM = `
import { Accumulator, GpuReduct, ReductError, dot, load, max, reduce, sum, type Result } from 'reduct-web';
const total: number | bigint = await sum(Float32Array.of(1, 2), { nan: 'ignore', result: 'f64' });
const { bits, value, type }: Result = await reduce('norm2', new Float64Array(3));
const product = await dot(new Int8Array(2), new Int8Array(2));
declare const device: GPUDevice, buffer: GPUBuffer;
await max(buffer, { device, count: 10 });
const reduction = await (await GpuReduct.create(device, { workgroupSize: 64 })).prepare('sum', buffer);
reduction.encode(device.createCommandEncoder());
const reduct = await load(), accumulator: Accumulator = reduct.accumulator('mean', 'f64').add(new Float64Array(1));
const saved: Uint8Array = accumulator.save();
if (new Error() instanceof ReductError) console.log(total, bits, value, type, product, saved);
// @ts-expect-error: not an array of numbers of one type
await sum([1, 2]);
// @ts-expect-error: not an operator
await reduce('median', new Float64Array(1));
// @ts-expect-error: not an option
await sum(new Float64Array(1), { precision: 3 });
`;

test('is typed', () => {
    writeFileSync(join(project, 'use.ts'), PROGRAM);
    const compiler = join(root, 'node_modules', '.bin', 'tsc');
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--types', '', '--lib', 'es2022,dom'];
    try {
        run(compiler, [...options, 'use.ts'], project);
    } catch (error) {
        assert.fail(error.stdout);
    }
});
