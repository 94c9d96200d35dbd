/* The exact kernel on a WebGPU device: against BigInt fractions, and against the library in WebAssembly and the native
 * one, bit for bit. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { openDevice } from './device.js';
import * as reductWeb from '../index.js';
import { floats, generator, partners } from './data.js';
import { native } from './native.js';
import { expected } from './oracle.js';
import { sample } from '../../tests/sample.js';

const device = await openDevice(), reduct = await reductWeb.load();
const OPERATORS = ['sum', 'mean', 'norm1', 'sumsq', 'norm2', 'rms', 'var', 'std', 'min', 'max', 'norminf'];

after(() => device.destroy());

/* The bits, or the status of the error. */
async function attempt(promise) {
    try {
        const result = await promise;
        assert.equal(result.device, 'webgpu');
        return result.bits;
    } catch (error) {
        if (!(error instanceof reductWeb.ReductError))
            throw error;
        return error.status;
    }
}

function upload(data, { before = 0, usage = GPUBufferUsage.STORAGE } = {}) {
    const buffer = device.createBuffer({ size: 4 * (before + data.length) + 4, usage: usage | GPUBufferUsage.COPY_DST });
    device.queue.writeBuffer(buffer, 4 * before, data);
    return buffer;
}

for (const n of sample([0, 1, 2, 5, 255, 256, 257, 1025]))
    test(`${n} elements: every operator on every kind of data`, async () => {
        for (const [name, x] of Object.entries(floats(n, 3)))
            for (const operator of OPERATORS)
                assert.equal(await attempt(reductWeb.reduce(operator, x, { device })), expected(operator, x, { type: 'f32' }),
                    `${operator} of ${name}`);
    });

for (const n of sample([0, 1, 3, 256, 1025]))
    test(`${n} pairs: dot on every kind of data`, async () => {
        for (const [name, x] of Object.entries(floats(n, 4)))
            for (const [other, y] of Object.entries(partners(x)))
                assert.equal(await attempt(reductWeb.reduce('dot', x, { y, device })), expected('dot', x, { y, type: 'f32' }),
                    `${name} times ${other}`);
    });

test('NaN ignored, or an error; other result types', async () => {
    for (const [name, x] of sample(Object.entries(floats(515, 5)))) {
        for (const operator of OPERATORS)
            assert.equal(await attempt(reductWeb.reduce(operator, x, { device, nan: 'ignore' })),
                expected(operator, x, { nan: 'ignore', type: 'f32' }), `${operator} of ${name}`);
        const y = partners(x).near;
        assert.equal(await attempt(reductWeb.reduce('dot', x, { y, device, nan: 'ignore', result: 'f64' })),
            expected('dot', x, { y, nan: 'ignore', type: 'f64' }), name);
        assert.equal(await attempt(reductWeb.reduce('std', x, { device, population: true, result: 'f64' })),
            expected('std', x, { population: true, type: 'f64' }), name);
    }
    const x = floats(5000, 6).uniform;
    x[4321] = x[4500] = NaN;
    for (const operator of ['sum', 'norm2', 'max'])
        await assert.rejects(reductWeb.reduce(operator, x, { device, nan: 'error' }), { name: 'ReductError', status: 'nan', index: 4321 });
    assert.equal((await reductWeb.reduce('mean', x, { device, nan: 'ignore' })).count, 4998);
});

test('the native library and WebAssembly give the same bits: 70,001 elements, many tiles for few workgroups', async () => {
    const engine = await reductWeb.GpuReduct.create(device);
    for (const [name, x] of sample(Object.entries(floats(70001, 7)))) {
        const buffer = upload(x);
        for (const operator of ['sum', 'norm2', 'std', 'min']) {
            const reduction = await engine.prepare(operator, buffer, { count: x.length, groups: 2 });
            assert.ok(reduction.groups <= 2, `${reduction.groups} workgroups`);
            const bits = await attempt(reduction.run());
            reduction.destroy();
            assert.equal(bits, reduct.reduce(operator, x).bits, `${operator} of ${name}`);
            if (operator === 'sum')
                assert.equal(bits, native(operator, x, { element: 'f32', result: 'f32' }), name);
        }
        buffer.destroy();
    }
});

test('every workgroup size and number of workgroups', async () => {
    const { normal: x, sixtyBinades: wide } = floats(20011, 8);
    for (const workgroupSize of [64, 128, 256]) {
        const engine = await reductWeb.GpuReduct.create(device, { workgroupSize });
        for (const data of [x, wide])
            for (const groups of [1, 3, 64, 4096]) {
                const [a, b] = [upload(data), upload(x)];
                const reduction = await engine.prepare('dot', a, { y: b, count: data.length, groups });
                assert.equal((await reduction.run()).bits, reduct.reduce('dot', data, { y: x }).bits);
                [reduction, a, b].forEach(made => made.destroy());
            }
    }
});

test('parts of buffers, at any offset', async () => {
    const x = floats(3000, 9).fullRange, buffer = upload(x, { before: 5 });
    for (const [first, count] of [[0, 3000], [1, 1], [63, 2000], [64, 2936], [65, 2935], [2999, 1], [3000, 0]]) {
        const part = x.subarray(first, first + count), options = { device, offset: 4 * (5 + first), count };
        for (const operator of ['sum', 'norm2'])
            assert.equal((await reductWeb.reduce(operator, buffer, options)).bits, reduct.reduce(operator, part).bits);
        if (count)
            assert.equal(await reductWeb.max(buffer, options), reduct.max(part));
    }
    assert.equal((await reductWeb.reduce('sum', buffer, { device, offset: 20 + 4 * 2990 })).count, 11);
    buffer.destroy();
});

test('parts that begin and end within vectors of four: what lies beside them is not seen', async () => {
    const x = floats(4200, 13).normal, y = partners(x).near, at = 4100;
    const surrounded = (data, first, count, room) => {
        const all = new Float32Array(room).fill(NaN);
        all.set(data.subarray(0, count), first);
        const buffer = device.createBuffer({ size: 4 * room, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST });
        device.queue.writeBuffer(buffer, 0, all);
        return buffer;
    };
    for (let first = 0; first < 4; first++)
        for (const count of sample([1, 2, 3, 4, 5, 8, 1021, 1024, 1027, 4095, 4096, 4101]))
            for (const behind of [0, 1, 4]) {
                const [a, b] = [x, y].map(data => surrounded(data, first, count, first + count + behind));
                const [u, v] = [x, y].map(data => data.subarray(0, count)), options = { device, offset: 4 * first, count };
                for (const operator of ['sum', 'norm2', 'min', 'max'])
                    assert.equal((await reductWeb.reduce(operator, a, options)).bits, reduct.reduce(operator, u).bits,
                        `${operator} of ${count} from ${first} on, ${behind} behind`);
                assert.equal((await reductWeb.reduce('dot', a, { ...options, y: b })).bits, reduct.reduce('dot', u, { y: v }).bits);
                [a, b].forEach(buffer => buffer.destroy());
            }
    const buffer = upload(Float32Array.from(x, (value, i) => (i === at ? NaN : value)), { before: 3 });
    for (const operator of ['sum', 'norm2', 'max'])
        await assert.rejects(reductWeb.reduce(operator, buffer, { device, offset: 12, count: x.length, nan: 'error' }), { status: 'nan', index: at });
    buffer.destroy();
});

test('a prepared reduction runs again and again, and sees new data', async () => {
    const x = floats(9999, 10).normal, buffer = upload(x), engine = await reductWeb.GpuReduct.create(device);
    const reduction = await engine.prepare('sum', buffer, { count: x.length });
    const encoder = device.createCommandEncoder(), pass = encoder.beginComputePass();
    for (let i = 0; i < 3; i++)
        reduction.dispatch(pass);
    pass.end();
    device.queue.submit([encoder.finish()]);
    assert.equal((await reduction.result()).bits, reduct.reduce('sum', x).bits);
    x[17] = 1e30;
    device.queue.writeBuffer(buffer, 0, x);
    assert.equal((await reduction.run()).bits, reduct.reduce('sum', x).bits);
    reduction.destroy();
    buffer.destroy();
});

test('strays of one sign, in whole tiles and in all tiles: the most that digits have to hold', async () => {
    const tile = 1 << 13, n = 256 * tile, engine = await reductWeb.GpuReduct.create(device);
    const ones = new Float32Array(n).fill(1), y = upload(ones), whole = n - n % 10;
    const cases = [
        { groups: 256, sign: 1, exponent: -100, isStray: i => i % tile >= 1024 },         /* what the first 1024 hide */
        { groups: 4, sign: -1, exponent: -92, isStray: i => i % 5 === 0 || i >= whole }, /* too few to move the window */
    ];
    for (const { groups, sign, exponent, isStray } of cases) {
        const stray = sign * (2 - 2 ** -23) * 2 ** exponent; /* the others cancel, so every bit of these shows */
        const x = Float32Array.from({ length: n }, (_, i) => (isStray(i) ? stray : i & 1 ? 2 ** 100 : -(2 ** 100))), buffer = upload(x);
        for (const operator of ['sum', 'dot']) {
            const second = operator === 'dot', reduction = await engine.prepare(operator, buffer, { y: second ? y : undefined, count: n, groups, result: 'f64' });
            assert.equal((await reduction.run()).bits, reduct.reduce(operator, x, { y: second ? ones : undefined, result: 'f64' }).bits,
                `${operator}, ${groups} workgroups`);
            reduction.destroy();
        }
        buffer.destroy();
    }
    y.destroy();
});

test('many rounds for each thread', async () => {
    const engine = await reductWeb.GpuReduct.create(device, { workgroupSize: 64 });
    const { uniform: x, normal: y } = floats((1 << 18) + 5, 12), [a, b] = [upload(x), upload(y)];
    for (const [operator, options] of [['sum', {}], ['norm2', {}], ['dot', { y: b }]]) {
        const reduction = await engine.prepare(operator, a, { ...options, count: x.length, result: 'f64' });
        assert.equal((await reduction.run()).bits, reduct.reduce(operator, x, { y: options.y && y, result: 'f64' }).bits, operator);
        reduction.destroy();
    }
    [a, b].forEach(made => made.destroy());
});

test('as many rounds as there can be, each of which leaves the most behind below the window', async () => {
    const engine = await reductWeb.GpuReduct.create(device, { workgroupSize: 64 }), n = (1 << 21) + 3;
    for (const sign of [1, -1])
        for (const least of sample([2 - 2 ** -23, 1 + 2 ** -23, 1])) {
            /* The first of each tile decides where its window lies: the others are at the lowest place. */
            const x = Float32Array.from({ length: n }, (_, i) => (i % 8192 ? sign * least : 2 ** 23)), buffer = upload(x);
            const reduction = await engine.prepare('sum', buffer, { count: n, groups: 4, result: 'f64' });
            assert.equal((await reduction.run()).bits, reduct.reduce('sum', x, { result: 'f64' }).bits, `${sign * least}`);
            [reduction, buffer].forEach(made => made.destroy());
        }
});

test('more than one binding holds', async () => {
    const n = device.limits.maxStorageBufferBindingSize / 4 + 1001, next = generator(11);
    const block = Float32Array.from({ length: 1 << 16 }, () => (next() - 2 ** 31) * 2 ** (next() % 20));
    const x = new Float32Array(n);
    for (let i = 0; i < n; i += block.length)
        x.set(block.subarray(0, n - i), i);
    x[n - 3] = NaN;
    const buffer = upload(x);
    assert.equal((await reductWeb.reduce('sum', buffer, { device, count: n, nan: 'ignore' })).bits, reduct.reduce('sum', x, { nan: 'ignore' }).bits);
    await assert.rejects(reductWeb.sum(buffer, { device, count: n, nan: 'error' }), { status: 'nan', index: n - 3 });
    await assert.rejects(reductWeb.max(buffer, { device, count: n, nan: 'error' }), { status: 'nan', index: n - 3 });
    buffer.destroy();
});

test('what is wrong is said', async () => {
    const buffer = upload(Float32Array.of(1, 2)), vertices = upload(Float32Array.of(1), { usage: GPUBufferUsage.VERTEX });
    await assert.rejects(reductWeb.sum(buffer), /options\.device: a GPUBuffer needs the GPUDevice that made it/);
    await assert.rejects(reductWeb.sum(vertices, { device }), /created without GPUBufferUsage\.STORAGE/);
    await assert.rejects(reductWeb.sum(buffer, { device, offset: 2 }), { name: 'RangeError', message: /options\.offset: expected a multiple of 4/ });
    await assert.rejects(reductWeb.sum(buffer, { device, count: 4 }), { name: 'RangeError', message: /options\.count: expected an integer from 0 to 3, found number 4/ });
    await assert.rejects(reductWeb.dot(buffer, undefined, { device }), /y: dot reads two arrays/);
    for (const operator of ['argmin', 'argmax', 'product'])
        await assert.rejects(reductWeb.reduce(operator, buffer, { device }), { name: 'TypeError',
            message: `operator: ${operator} is not done on a device; it is on arrays, in WebAssembly` });
    const detached = Float32Array.of(1, 2);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    await assert.rejects(reductWeb.sum(detached, { device }), { name: 'TypeError', message: /^data: .*detached/ });
    await assert.rejects(reductWeb.dot(Float32Array.of(1, 2), detached, { device }), { name: 'TypeError', message: /^y: .*detached/ });
    await assert.rejects(reductWeb.sum(Float64Array.of(1), { device }), /a device reduces a Float32Array/);
    await assert.rejects(reductWeb.GpuReduct.create(device, { workgroupSize: 100 }), /options\.workgroupSize: expected a power of two/);
    await assert.rejects(reductWeb.GpuReduct.create({}), /device: expected a GPUDevice/);
    [buffer, vertices].forEach(made => made.destroy());
    await assert.rejects(reductWeb.sum(buffer, { device }), { name: 'TypeError', message: /WebGPU: .*destroyed/s });
});

test('every operator is done on a device or says why not', async () => {
    const x = Float32Array.of(1, 2, 4);
    for (const operator of reductWeb.OPERATORS)
        if (![...OPERATORS, 'dot'].includes(operator))
            await assert.rejects(reductWeb.reduce(operator, x, { device }), /is not done on a device/, operator);
});

test('shared and resizable memory is uploaded', async () => {
    const memory = [new SharedArrayBuffer(12), new SharedArrayBuffer(12, { maxByteLength: 16 }), new ArrayBuffer(12, { maxByteLength: 16 })];
    for (const x of memory.map(buffer => new Float32Array(buffer))) {
        x.set([1, 2, 4]);
        assert.equal(await reductWeb.sum(x, { device }), 7);
        assert.equal(await reductWeb.dot(x.subarray(1), x.subarray(1), { device }), 20);
    }
});

test('no wrong number from a buffer that cannot be read', async () => {
    const other = await openDevice(), foreign = other.createBuffer({ size: 4, usage: GPUBufferUsage.STORAGE });
    await assert.rejects(reductWeb.sum(foreign, { device }), { name: 'TypeError', message: /WebGPU: / });
    const mapped = device.createBuffer({ size: 4, usage: GPUBufferUsage.STORAGE, mappedAtCreation: true });
    await assert.rejects(reductWeb.sum(mapped, { device }), { name: 'TypeError', message: /WebGPU: .*mapped/s });
    const engine = await reductWeb.GpuReduct.create(other), reduction = await engine.prepare('sum', foreign);
    other.destroy();
    await assert.rejects(reduction.run(), { name: 'ReductError', status: 'device lost' });
});
