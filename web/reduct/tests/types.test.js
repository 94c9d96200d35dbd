/* index.d.ts: what it accepts is what the library does, for every operator, type of elements and type of results, and each
 * result comes out as the JavaScript type that it says. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { load, OPERATORS, ReductError } from '../index.js';
import { TYPES } from '../tables.js';
import { readsTwo } from '../wasm.js';
import { compile, install } from './installed.js';
import { sample, scale } from '../../tests/sample.js';

const { project, remove } = install(), reduct = await load();
after(remove);

function accepted(name, program, options) {
    writeFileSync(join(project, name), program);
    assert.equal(compile(project, name, options), '');
}

const MODERN = ['--module', 'nodenext', '--lib', 'esnext,dom'];
const ARRAYS = [...Object.values(TYPES).map(type => type.array).filter(Boolean), 'Uint8ClampedArray'];
const FUNCTIONS = { sum: 'sum', mean: 'mean', min: 'min', max: 'max', norm2: 'norm2', product: 'product', variance: 'var', std: 'std', dot: 'dot' };

/* What a reduction gives: the type of its value, or undefined where it is unsupported. f16, where this engine lacks it,
 * is as f32 is, but for extremes, which are f16. */
function valueType(operator, array, result) {
    const half = array === 'Float16Array' && !globalThis.Float16Array, extreme = ['min', 'max', 'norminf', 'minmax'].includes(operator);
    if (half && extreme && result !== undefined)
        return result !== 'f16' ? undefined : operator === 'minmax' ? '[number, number]' : 'number';
    const Type = globalThis[half ? 'Float32Array' : array], one = array.startsWith('Big') ? 1n : 1, x = Type.of(one, one);
    try {
        const { value } = reduct.reduce(operator, x, { result, y: readsTwo(operator) ? x : undefined });
        return Array.isArray(value) ? `[${value.map(one => typeof one).join(', ')}]` : typeof value;
    } catch (error) {
        if (!(error instanceof ReductError) || error.status !== 'unsupported')
            throw error;
        return undefined;
    }
}

/* A statement that must compile, and one that must not: the result given to the other type. */
const right = (type, expression) => `{ const v: ${type} = ${expression}; }\n`;
const wrong = (type, expression) => `// @ts-expect-error\n${right(type, expression)}`;
const other = type => (type === 'number' ? 'bigint' : 'number');
const PREAMBLE = `import * as r from 'reduct-web';\ndeclare const reduct: r.Reduct;\n${ARRAYS.map(array => `declare const ${array[0].toLowerCase()}${array.slice(1)}: ${array};\n`).join('')}`;
const variable = array => array[0].toLowerCase() + array.slice(1);

test('every function and method of every array', () => {
    let program = PREAMBLE;
    for (const [name, operator] of Object.entries(FUNCTIONS))
        for (const array of ARRAYS) {
            const x = variable(array), data = name === 'dot' ? `${x}, ${x}` : x, type = valueType(operator, array);
            for (const call of [`await r.${name}(${data})`, `reduct.${name}(${data})`, `(await r.${name}(${data}, { nan: 'ignore' }))`])
                program += right(type, call) + wrong(other(type), call);
        }
    accepted('functions.ts', program, MODERN);
});

test('every operator of every array as every type, or not', () => {
    let program = PREAMBLE, refused = 0;
    for (const operator of OPERATORS)
        for (const array of ARRAYS)
            for (const result of sample([undefined, ...Object.keys(TYPES)])) {
                const x = variable(array), type = valueType(operator, array, result);
                const options = `{ ${result ? `result: '${result}', ` : ''}${readsTwo(operator) ? `y: ${x}` : ''} }`;
                const call = `reduct.reduce('${operator}', ${x}, ${options}).value`;
                refused += type === undefined;
                program += type === undefined ? wrong('number | bigint', call) : right(type, call) + wrong(other(type), call);
                if (type && !readsTwo(operator))
                    program += right(type, `(await r.reduce('${operator}', ${x}, ${options})).value`);
            }
    assert.ok(refused > 500 * scale, `${refused} combinations are refused`);
    accepted('reduce.ts', program, MODERN);
});

test('accumulators of every type', () => {
    let program = PREAMBLE;
    for (const operator of OPERATORS)
        for (const array of ARRAYS) {
            const element = Object.keys(TYPES).find(name => TYPES[name].array === array) ?? 'u8', x = variable(array);
            const total = `reduct.accumulator('${operator}', '${element}').add(${x}, ${x})`;
            const standard = valueType(operator, array);
            program += (standard ? right : wrong)(standard ?? 'number | bigint', `${total}.result().value`);
            for (const result of ['f16', 'i128']) {
                const type = valueType(operator, array, result);
                program += (type ? right : wrong)(type ?? 'number | bigint', `${total}.result('${result}').value`);
            }
        }
    accepted('accumulators.ts', program, MODERN);
});

/* Accepted by the compiler, and refused where @ts-expect-error says so. */
const PROGRAM = `
import { Accumulator, GpuReduct, ReductError, dot, load, max, mean, product, reduce, sum, type Options, type Result, type Status } from 'reduct-web';
const s: number = await sum(Float64Array.of(1));
const total: number = await sum(Float32Array.of(1, 2), { nan: 'ignore', result: 'f64' });
const { bits, value, type }: Result<'norm2', 'f64'> = await reduce('norm2', new Float64Array(3));
const pairs: bigint = await dot(new Int8Array(2), new Int8Array(2));
declare const device: GPUDevice, buffer: GPUBuffer;
const most: number = await max(buffer, { device, count: 10 });
const uploaded: number = await sum(Float32Array.of(1), { device, result: 'f64' });
const both: [number, number] = (await load()).loadAccumulator<'minmax'>(new Uint8Array(9)).result().value as [number, number];
const ends: [number, number] = (await load()).reduce('minmax', Float32Array.of(1)).value;
const products: Result<'dot', 'f32'> = await reduce('dot', Float32Array.of(1), { device, y: Float32Array.of(1) });
declare const anywhere: Float32Array | GPUBuffer;
const fromAnywhere: number = await sum(anywhere, { device, nan: 'ignore' });
const reduction = await (await GpuReduct.create(device, { workgroupSize: 64 })).prepare('sum', buffer, { result: 'f64' });
reduction.encode(device.createCommandEncoder());
const onDevice: number = (await reduction.result()).value;
const reduct = await load(), accumulator: Accumulator = reduct.accumulator('mean', 'f64').add(new Float64Array(1));
const saved: Uint8Array = accumulator.save();
const any: number | bigint = reduct.loadAccumulator(saved).result().value;
declare const error: unknown, either: Float64Array | BigInt64Array, shared: Float64Array<SharedArrayBuffer>;
if (error instanceof ReductError) { const status: Status = error.status; const index: number | undefined = error.index; }
const mixed: number | bigint = await sum(either);
const average: number = await mean(either);
const fromShared: number = await sum(shared);
const options: Options<'f64'> = { result: 'f64' };
const rounded: number = await sum(new Int32Array(1), options);
const half: number = reduct.accumulator('sum', 'f32').add(new Float16Array(1)).result().value;
async function general<T extends Int32Array | Uint32Array>(x: T): Promise<bigint> { return await sum<Int32Array | Uint32Array>(x); }
// @ts-expect-error: may be a bigint
const narrow: number = await sum(either);
// @ts-expect-error: not an array of numbers of one type
await sum([1, 2]);
// @ts-expect-error: not numbers
await sum(new DataView(new ArrayBuffer(8)));
// @ts-expect-error: not an operator
await reduce('median', new Float64Array(1));
// @ts-expect-error: not an option
await sum(new Float64Array(1), { precision: 3 });
// @ts-expect-error: no integer
await sum(new Float64Array(1), { result: 'i64' });
// @ts-expect-error: not a policy
await sum(new Float64Array(1), { nan: 'skip' });
// @ts-expect-error: two types of elements
await dot(new Float64Array(1), new Float32Array(1));
// @ts-expect-error: other elements
reduct.accumulator('sum', 'f64').add(new Float32Array(1));
// @ts-expect-error: another operator
reduct.accumulator('sum', 'f64').merge(reduct.accumulator('max', 'f64'));
// @ts-expect-error: devices reduce f32
await sum(new Float64Array(1), { device });
// @ts-expect-error: devices reduce f32
await sum(new Int32Array(1), { device });
// @ts-expect-error: devices reduce f32
await reduce('mean', new Float16Array(1), { device });
// @ts-expect-error: devices reduce f32
await max(either, { device });
// @ts-expect-error: of a GPUBuffer
await sum(new Float32Array(1), { device, offset: 4 });
// @ts-expect-error: in WebAssembly only
await product(buffer);
// @ts-expect-error: in WebAssembly only
await (await GpuReduct.create(device)).prepare('argmax', buffer);
`;

test('a program as users write them', () => accepted('use.ts', PROGRAM, MODERN));

test('every way to find the types', () => {
    const program = `import { sum } from 'reduct-web';\nexport const s: Promise<number> = sum(Float64Array.of(1));\n`;
    accepted('bundled.ts', program, ['--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2022']);
    accepted('module.mts', program, ['--module', 'node16', '--lib', 'es2022']);
    accepted('common.cts', `import reduct = require('reduct-web');\nexport const s: Promise<number> = reduct.sum(Float64Array.of(1));\n`, ['--module', 'node16', '--lib', 'es2022']);
});
