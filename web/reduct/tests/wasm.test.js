/* The library in WebAssembly: against BigInt fractions, and against the native library's bits. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { runInNewContext } from 'node:vm';
import * as reductWeb from '../index.js';
import { floats, generator, partners } from './data.js';
import { testHalves } from './halves.js';
import { native } from './native.js';
import { bitsOf, expected, hexadecimal } from './oracle.js';
import { readsTwo } from '../wasm.js';
import { sample } from '../../tests/sample.js';

const reduct = await reductWeb.load();
const OPERATORS = ['sum', 'mean', 'norm1', 'sumsq', 'norm2', 'rms', 'var', 'std', 'min', 'max', 'norminf'];
const SIZES = sample([0, 1, 2, 3, 31, 32, 33, 1023, 1024, 1025, 4097]);

/* The bits, or the status of the error. */
function attempt(reduce) {
    try {
        return reduce().bits;
    } catch (error) {
        if (!(error instanceof reductWeb.ReductError))
            throw error;
        return error.status;
    }
}

/* Doubles that f32 arrays cannot hold: wider in range and in significand. */
function doubles(n) {
    const next = generator(n + 17), view = new DataView(new ArrayBuffer(8));
    const any = () => {
        view.setUint32(0, next() % 0x7ff << 20 | next() >>> 12 | (next() & 1) << 31);
        view.setUint32(4, next());
        return view.getFloat64(0);
    };
    const wide = Float64Array.from({ length: n }, any);
    return {
        wide,
        near: Float64Array.from({ length: n }, () => next() / 2 ** 32 + next() / 2 ** 63),
        cancelling: Float64Array.from(wide, (v, i) => (i & 1 ? -wide[i - 1] : i === n - 1 ? 5e-324 : v)),
        subnormal: Float64Array.from({ length: n }, () => next() * 5e-324),
        huge: Float64Array.from({ length: n }, (_, i) => (i & 1 ? -1 : 1) * Number.MAX_VALUE),
    };
}

for (const n of SIZES) {
    test(`f32, ${n} elements: every operator on every kind of data`, () => {
        for (const [name, x] of Object.entries(floats(n)))
            for (const operator of OPERATORS)
                for (const nan of ['propagate', 'ignore'])
                    for (const type of operator.startsWith('m') && operator !== 'mean' || operator === 'norminf' ? ['f32'] : ['f32', 'f64'])
                        assert.equal(attempt(() => reduct.reduce(operator, x, { nan, result: type })),
                            expected(operator, x, { nan, type }), `${operator} of ${name} as ${type}, NaN ${nan}`);
    });

    test(`f64, ${n} elements: every operator`, () => {
        for (const [name, x] of Object.entries(doubles(n)))
            for (const operator of OPERATORS)
                assert.equal(attempt(() => reduct.reduce(operator, x)), expected(operator, x), `${operator} of ${name}`);
    });

    test(`dot, ${n} pairs`, () => {
        for (const [name, x] of Object.entries(floats(n)))
            for (const [other, y] of Object.entries(partners(x)))
                for (const nan of ['propagate', 'ignore'])
                    assert.equal(attempt(() => reduct.reduce('dot', x, { y, nan })),
                        expected('dot', x, { y, nan, type: 'f32' }), `${name} times ${other}, NaN ${nan}`);
    });
}

test('weighted means and ranges', () => {
    for (const n of SIZES.slice(1))
        for (const [name, x] of Object.entries(doubles(n))) {
            const y = Float64Array.from(x, (v, i) => (i % 3 - 1) * (1 + v % 7));
            for (const [operator, options] of [['weighted_mean', { y }], ['ptp', {}]])
                assert.equal(attempt(() => reduct.reduce(operator, x, options)), expected(operator, x, options), `${operator} of ${n} ${name}`);
        }
});

test('two values, counts, truth and bits', () => {
    const x = Float64Array.of(3, -0, NaN, -2), whole = Int16Array.of(7, 5, 13, -1);
    const value = (operator, data, options) => reduct.reduce(operator, data, options).value;
    assert.deepEqual(reduct.reduce('minmax', x, { nan: 'ignore' }), { value: [-2, 3], bits: ['0xc000000000000000', '0x4008000000000000'],
        type: 'f64', count: 3, device: 'wasm' });
    assert.deepEqual(value('minmax', x), [NaN, NaN]);
    assert.deepEqual(value('minmax', whole), [-1, 13]);
    assert.deepEqual(value('minmax', BigInt64Array.of(5n, -1n)), [-1n, 5n]);
    assert.deepEqual(['count', 'count_nonzero', 'any', 'all'].map(operator => value(operator, x)), [3, 3, 1, 0]);
    assert.deepEqual(['count', 'count_nonzero', 'any', 'all'].map(operator => value(operator, x, { nan: 'ignore' })), [3, 2, 1, 0]);
    assert.deepEqual(['and', 'or', 'xor'].map(operator => value(operator, whole)), [5, -1, ~15]);
    assert.equal(value('ptp', Int8Array.of(-128, 127)), 255);
    assert.throws(() => value('and', x), { status: 'unsupported', message: /expected integers/ });
    const parts = reduct.accumulator('minmax', 'f64').add(x.subarray(0, 1)).merge(reduct.accumulator('minmax', 'f64').add(x.subarray(3)));
    assert.deepEqual(reduct.loadAccumulator(parts.save()).result().value, [-2, 3]);
    assert.throws(() => reduct.reduce('weighted_mean', whole), { name: 'TypeError', message: /^y: / });
});

test('the native library gives the same bits', () => {
    for (const [name, x] of sample(Object.entries(floats(5000))))
        for (const operator of ['sum', 'mean', 'norm2', 'std', 'min', 'max']) {
            const bits = native(operator, x, { element: 'f32', result: operator.startsWith('mi') || operator === 'max' ? undefined : 'f32' });
            assert.equal(attempt(() => reduct.reduce(operator, x)), bits, `${operator} of ${name}`);
        }
    for (const [name, x] of Object.entries(doubles(5000)))
        for (const operator of ['sum', 'norm2', 'var'])
            assert.equal(attempt(() => reduct.reduce(operator, x)), native(operator, x, { element: 'f64' }), `${operator} of ${name}`);
    const { normal: x } = floats(5000), { any: y } = partners(x);
    assert.equal(reduct.reduce('dot', x, { y }).bits, native('dot', x, { y, element: 'f32', result: 'f32' }));
});

test('integers of every type, at both ends of their range', () => {
    for (const Type of [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array]) {
        const bits = 8 * Type.BYTES_PER_ELEMENT, signed = Type.name.includes('Int') && !Type.name.includes('Uint');
        const low = signed ? -(1n << BigInt(bits - 1)) : 0n, high = low + (1n << BigInt(bits)) - 1n;
        const next = generator(bits);
        const values = Array.from({ length: 3001 }, (_, i) => (i % 3 === 0 ? low : i % 3 === 1 ? high : low + BigInt(next()) % (high - low)));
        const cast = bits === 64 ? BigInt : Number, x = Type.from(values, cast);
        const sum = values.reduce((a, b) => a + b, 0n), squares = values.reduce((a, b) => a + b * b, 0n);
        assert.equal(reduct.reduce('sum', x, { result: 'i256' }).value, sum, Type.name);
        assert.equal(reduct.reduce('dot', x, { y: x, result: 'i256' }).value, squares, Type.name);
        assert.equal(reduct.min(x), cast(low), Type.name);
        assert.equal(reduct.max(x), cast(high), Type.name);
        assert.equal(reduct.reduce('argmax', x).value, 1, Type.name);
        const fits = BigInt.asIntN(64, sum) === sum && signed || !signed && BigInt.asUintN(64, sum) === sum;
        assert.equal(attempt(() => reduct.reduce('sum', x)), fits ? hexadecimal(sum, 8) : 'overflow', Type.name);
        assert.equal(reduct.reduce('sum', x, { wrap: true }).bits, hexadecimal(sum, 8), Type.name);
    }
});

/* What the command says of a product in the same type. */
const nativeProduct = (x, element, nan) => native('product', x, { element, result: element, nan });

test('products have the bits of the native library', () => {
    for (const n of sample([0, 1, 65, 4097, 5000])) /* lanes, blocks */
        for (const nan of ['propagate', 'ignore']) {
            for (const [name, x] of sample(Object.entries(floats(n))))
                assert.equal(reduct.reduce('product', x, { nan }).bits, nativeProduct(x, 'f32', nan), `${n} of ${name}, NaN ${nan}`);
            for (const [name, x] of Object.entries(doubles(n)))
                assert.equal(reduct.reduce('product', x, { nan }).bits, nativeProduct(x, 'f64', nan), `${n} of ${name}, NaN ${nan}`);
        }
    const long = floats(300001).fullRange; /* more than one piece */
    const near = Float64Array.from(floats(100001).uniform, v => 1 + v / 2 ** 10);
    assert.equal(reduct.reduce('product', long).bits, nativeProduct(long, 'f32', 'propagate'));
    assert.equal(reduct.reduce('product', near).bits, nativeProduct(near, 'f64', 'propagate'));
    const halves = [near.subarray(0, 65536), near.subarray(65536)].map(part => reduct.accumulator('product', 'f64').add(part));
    assert.equal(halves[0].merge(halves[1]).result().bits, reduct.reduce('product', near).bits);
    assert.throws(() => halves[1].merge(halves[0]), { name: 'ReductError', status: 'unsupported' });
});

test('products of integers are exact', async () => {
    for (const [Type, bits] of [[Int8Array, 64], [Uint16Array, 64], [Int32Array, 64], [BigInt64Array, 64], [BigUint64Array, 64]]) {
        const cast = Type.name.startsWith('Big') ? BigInt : Number, signed = !Type.name.includes('Uint');
        for (const values of [[], [7], [3, 5, 100], signed ? [-3, 5, 7] : [3, 5, 7], Array(41).fill(3), Array(70).fill(2), [0, ...Array(300).fill(2)]]) {
            const x = Type.from(values, cast), whole = values.reduce((a, b) => a * BigInt(b), 1n);
            const fits = (signed ? BigInt.asIntN(bits, whole) : BigInt.asUintN(bits, whole)) === whole;
            assert.equal(attempt(() => reduct.reduce('product', x)), fits ? hexadecimal(whole, 8) : 'overflow', `${Type.name} ${values}`);
            assert.equal(reduct.reduce('product', x, { wrap: true }).bits, hexadecimal(whole, 8), `${Type.name} ${values}`);
            assert.equal(reduct.product(x, { result: 'i256' }), whole);
        }
    }
    assert.equal(await reductWeb.product(Int32Array.of(6, 7)), 42n);
    assert.equal(await reductWeb.product(Float32Array.of(1e30, 1e30, 1e-30)), Math.fround(1e30));
    await assert.rejects(reductWeb.product(Int32Array.of(1), { result: 'f64' }), { status: 'unsupported' });
});

/* Arrays whose memory has been taken away. */
function lost() {
    const detached = Float64Array.of(1, 2, 3);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    const all = [['detached', detached, /data: expected an array with its numbers, found one whose ArrayBuffer is detached: it was transferred/]];
    if (ArrayBuffer.prototype.resize) { /* Node 20 and later */
        const buffer = new ArrayBuffer(64, { maxByteLength: 128 });
        const fixed = new Float64Array(buffer, 8, 4), tracking = new Float64Array(buffer, 16);
        buffer.resize(15);
        all.push(['beyond', fixed, /ArrayBuffer has been resized and no longer reaches as far/], ['tracking, beyond', tracking, /has been resized/]);
    }
    return all;
}

test('an array whose memory is gone is refused, not empty', async () => {
    const there = Float64Array.of(1, 2, 3);
    for (const [name, x, message] of lost()) {
        assert.equal(x.length, 0, name);
        for (const operator of reductWeb.OPERATORS) {
            const expected = { name: 'TypeError', message };
            assert.throws(() => reduct.reduce(operator, x, readsTwo(operator) ? { y: x } : {}), expected, `${operator}, ${name}`);
            await assert.rejects(reductWeb.reduce(operator, x, readsTwo(operator) ? { y: there } : {}), expected, `${operator}, ${name}`);
        }
        const total = reduct.accumulator('sum', 'f64').add(there), product = reduct.accumulator('dot', 'f64');
        assert.throws(() => total.add(x), { name: 'TypeError', message: /^x: / });
        assert.throws(() => product.add(there, x), { name: 'TypeError', message: /^y: .*(detached|resized)/ });
        assert.equal(total.result().value, 6);
    }
    const saved = reduct.accumulator('sum', 'f64').save();
    structuredClone(saved.buffer, { transfer: [saved.buffer] });
    assert.throws(() => reduct.loadAccumulator(saved), { name: 'TypeError', message: /^bytes: .*detached/ });
    /* taken away after the call, before the engine was there to read it */
    const x = Float64Array.of(1), late = reductWeb.sum(x);
    structuredClone(x.buffer, { transfer: [x.buffer] });
    await assert.rejects(late, { name: 'TypeError', message: /detached/ });
});

test('arrays without elements, of any kind of memory, are empty', () => {
    assert.equal(reduct.sum(new Float64Array(0)), 0);
    assert.equal(reduct.sum(new Float64Array(new ArrayBuffer(8), 8)), 0);
    assert.equal(reduct.sum(new Float64Array(new SharedArrayBuffer(0))), 0);
});

test('views of resizable and shared memory', { skip: !ArrayBuffer.prototype.resize && `${process.version} has no resizable ArrayBuffers` }, () => {
    const buffer = new ArrayBuffer(8, { maxByteLength: 2 ** 20 }), tracking = new Float64Array(buffer);
    buffer.resize(2 ** 20);
    tracking.fill(0.1);
    assert.equal(reduct.reduce('sum', tracking).bits, reduct.reduce('sum', new Float64Array(2 ** 17).fill(0.1)).bits);
    buffer.resize(20); /* two elements and a half */
    assert.equal(reduct.reduce('sum', tracking).count, 2);
    const shared = new SharedArrayBuffer(32, { maxByteLength: 64 }), x = new Int32Array(shared);
    x.fill(3);
    shared.grow(64);
    assert.deepEqual([reduct.sum(x), reduct.dot(x, x), reduct.product(x.subarray(0, 4))], [24n, 72n, 81n]);
});

test('arrays of other realms, and of classes made from them', () => {
    class Mine extends Float32Array {
        get [Symbol.toStringTag]() {
            return 'Mine';
        }
    }
    assert.equal(reduct.sum(Mine.of(1, 2)), 3);
    assert.equal(reduct.sum(Buffer.from([250, 250])), 500n);
    const foreign = runInNewContext('Float64Array.of(1e100, 1, -1e100)');
    assert.equal(reduct.sum(foreign), 1);
    assert.equal(reduct.dot(foreign, Float64Array.of(0, 2, 0)), 2);
    assert.throws(() => reduct.sum({ [Symbol.toStringTag]: 'Float64Array', length: 1 }), TypeError);
    assert.throws(() => reduct.sum(new DataView(new ArrayBuffer(8))), TypeError);
});

test('f16 elements', { skip: !globalThis.Float16Array && `${process.version} has no Float16Array; web/tests/bundles.test.js does this in Chromium` }, () => testHalves(reductWeb));

test('f16 where the engine has no Float16Array', { skip: globalThis.Float16Array && 'it has' }, () => {
    assert.throws(() => reduct.accumulator('sum', 'f16'), { name: 'TypeError', message: /element: f16 needs Float16Array, which this engine lacks/ });
    assert.throws(() => reduct.accumulator('sum', 'bf16'), { name: 'TypeError', message: /element: expected one of f64, f32, f16, i8, .* found 'bf16'/ });
    assert.throws(() => reduct.accumulator('sum', 'i128'), { name: 'TypeError', message: /element: expected one of/ });
    assert.throws(() => reduct.sum([1]), /expected one of Float64Array, Float32Array, Int8Array/);
});

test('results of every type', () => {
    const x = Float64Array.of(1, 2 ** -30, -3);
    assert.deepEqual(reduct.reduce('sum', x, { result: 'f16' }), { value: -2, bits: '0xc000', type: 'f16', count: 3, device: 'wasm' });
    assert.equal(reduct.reduce('sum', Float64Array.of(2 ** -24), { result: 'f16' }).value, 2 ** -24);
    assert.equal(reduct.reduce('sum', Float64Array.of(65504, 8), { result: 'f16' }).value, 65504);
    assert.equal(reduct.reduce('sum', Float64Array.of(65504, 16), { result: 'f16' }).value, Infinity);
    assert.equal(reduct.reduce('sum', Float64Array.of(1, 2 ** -7), { result: 'bf16' }).bits, '0x3f81');
    assert.equal(reduct.reduce('sum', Float64Array.of(1, 2 ** -7), { result: 'bf16' }).value, 1 + 2 ** -7);
    for (let bits = 0; bits < 1 << 16; bits++) { /* every bf16, which is the upper half of an f32 */
        const exact = new Float32Array(Uint32Array.of(bits << 16).buffer), { value, bits: found } = reduct.reduce('sum', exact, { result: 'bf16' });
        assert.ok(Object.is(value, exact[0]), String(exact[0]));
        assert.equal(found, hexadecimal(Number.isNaN(value) ? 0x7fc0n : BigInt(bits), 2));
    }
    assert.equal(reduct.reduce('sum', Int32Array.of(-5, 2), { result: 'i128' }).value, -3n);
    assert.equal(reduct.reduce('sum', Int32Array.of(5, 2), { result: 'f64' }).value, 7);
});

test('more data than one piece, cut anywhere', () => {
    const x = floats(300001).fullRange, whole = reduct.reduce('sum', x);
    assert.equal(whole.bits, expected('sum', x, { type: 'f32' }));
    assert.equal(reduct.reduce('sum', x.subarray(1)).bits, expected('sum', x.subarray(1), { type: 'f32' }));
    const parts = [0, 1, 77777, 200000, 300001].map((start, i, all) => x.subarray(start, all[i + 1] ?? 0));
    const accumulators = parts.map(part => reduct.accumulator('sum', 'f32').add(part));
    const total = accumulators.reduceRight((a, b) => a.merge(b));
    assert.equal(total.result().bits, whole.bits);
    assert.equal(total.count, x.length);
    assert.equal(total.result('f64').bits, expected('sum', x, { type: 'f64' }));
    const saved = total.save(), loaded = reduct.loadAccumulator(saved);
    assert.equal(loaded.result().bits, whole.bits);
    assert.equal(loaded.operator, 'sum');
    assert.equal(loaded.element, 'f32');
    assert.deepEqual(loaded.save(), saved);
    saved[40] ^= 1;
    assert.throws(() => reduct.loadAccumulator(saved), { name: 'ReductError', status: 'corrupt' });
    accumulators.forEach(accumulator => accumulator.free());
    assert.throws(() => total.add(x), /it has been freed/);
});

test('a NaN that is an error leaves an accumulator as it was', () => {
    const x = new Float64Array(100000).fill(0.5);
    const accumulator = reduct.accumulator('sum', 'f64', { nan: 'error' }).add(Float64Array.of(1, 2));
    x[99990] = NaN;
    assert.throws(() => accumulator.add(x), { name: 'ReductError', status: 'nan', index: 99992, message: /99992/ });
    assert.equal(accumulator.count, 2);
    assert.equal(accumulator.result().value, 3);
});

test('one call', async () => {
    const x = Float64Array.of(1e100, 1, -1e100, 0.1, 0.2);
    assert.equal(await reductWeb.sum(x), 1.3);
    assert.equal(await reductWeb.mean(Float64Array.of(1, 2, 4, 5)), 3);
    assert.equal(await reductWeb.min(x), -1e100);
    assert.equal(await reductWeb.max(x), 1e100);
    assert.equal(await reductWeb.norm2(Float64Array.of(3 * 2 ** 1000, 4 * 2 ** 1000)), 5 * 2 ** 1000);
    assert.equal(await reductWeb.dot(Float32Array.of(1, 2), Float32Array.of(3, 4)), 11);
    assert.equal(await reductWeb.variance(Float64Array.of(1, 3)), 2);
    assert.equal(await reductWeb.std(Float64Array.of(1, 3), { population: true }), 1);
    assert.equal(await reductWeb.sum(Int8Array.of(-128, -128)), -256n);
    assert.equal((await reductWeb.reduce('sum', x)).bits, bitsOf(1.3, 'f64'));
    assert.match(reduct.version, /^\d+\.\d+\.\d+$/);
});

test('what is wrong is said', async () => {
    const x = Float64Array.of(1, 2);
    await assert.rejects(reductWeb.sum([1, 2]), { name: 'TypeError', message: /data: expected one of Float64Array.*found a value of class Array; convert it, as in Float64Array\.from/ });
    await assert.rejects(reductWeb.sum(), { name: 'TypeError', message: /data: .*found undefined/ });
    await assert.rejects(reductWeb.reduce('median', x), { name: 'TypeError', message: /operator: expected one of sum, .*found 'median'/ });
    await assert.rejects(reductWeb.sum(x, { reslt: 'f32' }), { name: 'TypeError', message: /'reslt' is not an option here; expected result, nan/ });
    await assert.rejects(reductWeb.sum(x, { result: 'float' }), { name: 'TypeError', message: /options\.result: .*found 'float'/ });
    await assert.rejects(reductWeb.sum(x, { nan: 'skip' }), { name: 'TypeError', message: /options\.nan: expected one of propagate, ignore, error, found 'skip'/ });
    await assert.rejects(reductWeb.std(x, { population: 1 }), { name: 'TypeError', message: /options\.population: expected true or false, found number 1/ });
    await assert.rejects(reductWeb.dot(x, Float64Array.of(1)), { name: 'RangeError', message: /y: expected as many elements as x has, 2, found 1/ });
    await assert.rejects(reductWeb.dot(x, Float32Array.of(1, 2)), { name: 'TypeError', message: /y: expected f64 elements, found f32/ });
    await assert.rejects(reductWeb.dot(x), { name: 'TypeError', message: /y: .*found undefined/ });
    await assert.rejects(reductWeb.reduce('sum', x, { y: x }), { name: 'TypeError', message: /y: sum reads one array/ });
    await assert.rejects(reductWeb.sum(x, { count: 1 }), { name: 'TypeError', message: /for GPUBuffers; give a subarray/ });
    await assert.rejects(reductWeb.mean(new Float64Array(0)), { name: 'ReductError', status: 'empty', message: /mean of 0 elements/ });
    await assert.rejects(reductWeb.sum(x, { result: 'i64' }), { name: 'ReductError', status: 'unsupported' });
    await assert.rejects(reductWeb.sum(x, { device: {} }), { name: 'TypeError', message: /options\.device: expected a GPUDevice/ });
    const other = reduct.accumulator('max', 'f64');
    assert.throws(() => reduct.accumulator('sum', 'f64').merge(other), { status: 'mismatch' });
    assert.throws(() => reduct.accumulator('sum', 'f64').merge(x), /other: expected an accumulator/);
    assert.throws(() => reduct.loadAccumulator('text'), /bytes: expected a Uint8Array/);
});
