/* web/readers.js: files as the command would read them, and the sentences for those that cannot be read. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { MADE, script, signatures } from '../generate.js';
import { load } from '../reduct/index.js';
import { native } from '../reduct/tests/native.js';
import { bitsOf } from '../reduct/tests/oracle.js';
import { open, parseNumber, reduceFile } from '../readers.js';

const reduct = await load();

function fileOf(parts, name = 'data') {
    const file = new Blob(Array.isArray(parts) ? parts : [parts]);
    file.name = name;
    return file;
}

/* A .npy file as NumPy writes it. */
function npy(dictionary, data = [], version = 1) {
    const header = new TextEncoder().encode(dictionary), start = version === 1 ? 10 : 12;
    const prefix = new Uint8Array(start), view = new DataView(prefix.buffer);
    prefix.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, version, 0]);
    if (version === 1)
        view.setUint16(8, header.length, true);
    else
        view.setUint32(8, header.length, true);
    return fileOf([prefix, header, data], 'a.npy');
}
const dictionary = (descr, shape, fortran = 'False') => `{'descr': '${descr}', 'fortran_order': ${fortran}, 'shape': ${shape}, }   \n`;

async function numbersOf(file, options) {
    const input = await open(file, options), all = [];
    for await (const { numbers } of input.pieces())
        for (const number of numbers)
            all.push(number);
    return all;
}

test('text: every form of number, every kind of white space', async () => {
    const text = '\ufeff1 -2.5e3\t.5\r\n5. +3\v0x1.8p3\f-0X.8P-1 inf -Infinity NaN 1e-400\n-0';
    assert.deepEqual(await numbersOf(fileOf(text)), [1, -2500, 0.5, 5, 3, 12, -0.25, Infinity, -Infinity, NaN, 0, -0]);
    assert.deepEqual(await numbersOf(fileOf('')), []);
    assert.deepEqual(await numbersOf(fileOf(' \n\n')), []);
});

test('hexadecimal numbers are rounded once, to nearest, ties to even', () => {
    const cases = { '0x1.00000000000008p0': 1, '0x1.00000000000008001p0': 1 + 2 ** -52, '0x1.00000000000018p0': 1 + 2 ** -51,
        '0x1p-1074': 2 ** -1074, '0x1p-1075': 0, '0x1.00000000000001p-1075': 2 ** -1074, '0x3p-1075': 2 ** -1073,
        '0x1.fffffffffffffp1023': Number.MAX_VALUE, '0x1.fffffffffffff7p1023': Number.MAX_VALUE, '0x1.fffffffffffff8p1023': Infinity,
        '0x1p1024': Infinity, '0x1p99999999999999999999': Infinity, '0x1p-99999999999999999999': 0, '0x0p99999': 0, '0xff': 255,
        '0x1.fffffffffffffp-1023': 2 ** -1022, '0x.0000000000000000000000000000001p124': 1 };
    for (const [text, value] of Object.entries(cases)) {
        assert.equal(parseNumber(text), value, text);
        assert.equal(parseNumber(`-${text}`), -value, text);
    }
    for (const text of ['0x', '0x.', '0xp1', '0x1p', '0b1', '0o7', '1_000', '--1', '1e', 'infin', '', 'e5', '.', '١'])
        assert.equal(parseNumber(text), undefined, text);
});

test('text that is cut anywhere reads the same', async () => {
    const piece = 1 << 22, words = [];
    for (let i = 0, size = 0; size < piece + 1000; i++) {
        words.push(String(i * 1.1));
        size += words.at(-1).length + 1;
    }
    const text = words.join('\n');
    assert.deepEqual(await numbersOf(fileOf(text)), words.map(Number));
    const bad = `${words.join('\n')} 12 abc`, line = words.length, column = words.at(-1).length + 5;
    await assert.rejects(numbersOf(fileOf(bad, 'f.txt')), { name: 'ReadError',
        message: `f.txt:${line}:${column}: 'abc' is not a number; expected one such as -1.5e3, 0x1.8p3, inf or nan` });
});

test('text that is wrong says where and why', async () => {
    const cases = [
        ['1\n2\nthree\n', /^f:3:1: 'three' is not a number; expected one such as/],
        ['1\n  2, 3\n', /^f:2:3: '2,' is not a number; expected white space between numbers, no commas/],
        ['1 1e999', /^f:1:3: '1e999' does not fit f64/],
        ['1 0x1p1024', /^f:1:3: '0x1p1024' does not fit f64/],
        ['1\n\u0001\u0002', /^f:2:1: '\\x01\\x02' is not text; expected a number\. For raw binary/],
        ['9'.repeat(70000), /is not a number: it is longer than 65536 characters/],
        ['1 caf\u00e9\u2192\u20ac 2', /^f:1:3: 'caf\u00e9\u2192\u20ac' is not a number/],
    ];
    for (const [text, message] of cases)
        await assert.rejects(numbersOf(fileOf(text, 'f')), { name: 'ReadError', message }, text.slice(0, 20));
    await assert.rejects(open(fileOf('1'), { format: 'text', type: 'f32' }), /text is read as f64/);
    await assert.rejects(open(fileOf('1'), { format: 'csv' }), /format: expected one of auto, npy, text, raw, found 'csv'/);
});

test('.npy: every type, both byte orders, every version', async () => {
    const arrays = { f8: Float64Array, f4: Float32Array, i1: Int8Array, i2: Int16Array, i4: Int32Array, i8: BigInt64Array,
        u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, u8: BigUint64Array };
    for (const [code, Type] of Object.entries(arrays)) {
        const values = [1, 0, 100].map(code[1] === '8' && code[0] !== 'f' ? BigInt : Number), x = Type.from(values);
        const bytes = new Uint8Array(x.buffer), size = x.BYTES_PER_ELEMENT;
        const swapped = bytes.map((_, i) => bytes[i - i % size + size - 1 - i % size]);
        for (const version of [1, 2, 3]) {
            assert.deepEqual(await numbersOf(npy(dictionary(`${size === 1 ? '|' : '<'}${code}`, '(3,)'), bytes, version)), values);
            assert.deepEqual(await numbersOf(npy(dictionary(`>${code}`, '(3, 1)'), swapped, version)), values);
        }
    }
    const scalar = await open(npy(dictionary('<f8', '()'), new Uint8Array(8)));
    assert.deepEqual([scalar.count, scalar.shape, scalar.type, scalar.format], [1, [], 'f64', 'npy']);
    assert.equal((await open(npy(dictionary('<f8', '(0, 7)')))).count, 0);
    assert.equal((await open(npy(dictionary('<f8', `(${'9'.repeat(19)}, ${'9'.repeat(19)}, 0)`)))).count, 0);
    assert.deepEqual((await open(npy(`{"shape":(1L,00002,) ,"fortran_order":False,"descr":"=f8"}`.replace('0000', ''), new Uint8Array(16)))).shape, [1, 2]);
});

test('.npy that is wrong says why', async () => {
    const cases = [
        [dictionary('<c16', '(1,)'), /complex numbers; reduce a\.real and a\.imag/],
        [dictionary('|O', '(1,)'), /Python objects, which cannot be read without running Python/],
        [dictionary('<U5', '(1,)'), /'<U5': strings/],
        [dictionary('|b1', '(1,)'), /booleans; convert them/],
        [dictionary('<f2', '(1,)'), /numbers of a width that cannot be read; convert them, as in a\.astype\('f4'\)/],
        ["{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", /the elements are structured/],
        [dictionary('<f8', '(-1,)'), /the shape is '\(-1,\)'; expected lengths/],
        [dictionary('<f8', '(1)'), /the shape is '\(1\)'; expected lengths such as \(3, 4\); of one axis \(1,\)/],
        [dictionary('<f8', '(01,)'), /the shape is '\(01,\)'; expected lengths such as \(3, 4\), without leading zeros/],
        [dictionary('<f8', '(1,,)'), /the shape is '\(1,,\)'; expected lengths/],
        [dictionary('<f8', `(${'9'.repeat(40)},)`), /the shape is .* none of them longer than any memory/],
        [dictionary('<f8', `(${'1,'.repeat(65)})`), /the shape is .* at most 64/],
        [dictionary('<f8', '(1,)').replace('}', '} x'), /damaged at 'x/],
        [dictionary('<f8', '(1'), /the shape is /],
        [dictionary('<f10', '(1,)'), /numbers of a width that cannot be read/],
        [dictionary('', '(1,)'), /the elements are '': a type unknown here/],
        ["{'descr", /damaged at ''descr'; expected a key/],
        [dictionary('<f8', '(3,)'), /announces 3 f64 elements, 24 bytes, but 8 bytes follow/],
        [dictionary('<f8', '(99999999, 99999999, 99999999)'), /announces .* but 8 bytes follow/],
        [dictionary('<f8', '(1,)', 'Maybe'), /damaged at '/],
        ["{'descr': '<f8', 'shape': (1,), }", /lacks 'fortran_order'/],
        ["{'descr': '<f8', 'descr': '<f8', 'shape': (1,), }", /'descr' twice/],
        ["{'descr': '<f8', 'oops': '1', 'shape': (1,), }", /unknown key 'oops'/],
        ['nothing', /damaged at 'nothing'/],
    ];
    for (const [header, message] of cases)
        await assert.rejects(open(npy(header, new Uint8Array(8))), { name: 'ReadError', message }, header);
    const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
    await assert.rejects(open(fileOf(Uint8Array.from(magic))), /cut short after 6 bytes/);
    await assert.rejects(open(fileOf(Uint8Array.from([...magic, 4, 0, 0, 0]))), /version 4\.0; expected 1\.0, 2\.0 or 3\.0/);
    await assert.rejects(open(fileOf(Uint8Array.from([...magic, 1, 0, 99, 0, 1, 1]))), /claims 99 bytes, but only 2 follow/);
    await assert.rejects(open(fileOf(Uint8Array.from([...magic, 2, 0, 0, 0, 0, 9]))), /claims 150994944 bytes; expected at most/);
    await assert.rejects(open(fileOf('1 2'), { format: 'npy' }), /not a \.npy file/);
    await assert.rejects(open(npy(dictionary('<f8', '(1,)'), new Uint8Array(8)), { type: 'f32' }), /the type f32 was given, but the file holds f64/);
});

test('what takes long to read is long', async () => {
    const start = performance.now();
    for (const word of ['9'.repeat(60000) + 'x', `${'9'.repeat(30000)}.${'9'.repeat(30000)}x`, `0x${'f'.repeat(60000)}x`, `0x1p${'9'.repeat(60000)}x`, 'e'.repeat(60000)])
        assert.equal(parseNumber(word), undefined);
    for (const header of [dictionary('<f8', `(1${' '.repeat(5e5)}x)`), dictionary('<f8', `(${'1, '.repeat(3e5)}x)`), `{'descr': [${']'.repeat(5e5)}`,
        `${' '.repeat(5e5)}x`, `{${"'".repeat(5e5)}`, dictionary('<f8', `(${'9'.repeat(5e5)},)`), `{'descr': '<f8'${' '.repeat(5e5)}x`])
        await assert.rejects(open(npy(header, [], 2)), { name: 'ReadError' });
    assert.ok(performance.now() - start < 5000, `${performance.now() - start} ms`);
});

test('files of other kinds are called by their names', async () => {
    const zip = Uint8Array.of(0x50, 0x4b, 3, 4, 20, 0, 0, 0);
    await assert.rejects(open(fileOf(Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0), 'a.gz')), { name: 'ReadError', message: 'a.gz: this is compressed by gzip, which is not read here; decompress it' });
    await assert.rejects(open(fileOf(zip, 'a.npz'), { type: 'f64' }), { name: 'ReadError', message: /^a\.npz: this is a zip archive, as NumPy's \.npz files are/ });
    await assert.rejects(open(fileOf('PAR1 and so on')), { name: 'ReadError', message: /this is a Parquet file/ });
    assert.deepEqual(await numbersOf(fileOf(zip), { format: 'raw', type: 'u8' }), [...zip]); /* where that is meant */
});

test('the signatures are those of the command; where not, run web/generate.js', async () => {
    assert.equal(readFileSync(MADE, 'utf8'), script());
    for (const [bytes, what] of signatures()) {
        await assert.rejects(open(fileOf(Uint8Array.from(bytes), 'file')), error => error.message.startsWith(`file: this is ${what}, `));
        assert.ok(bytes.length > 2 && bytes.every(byte => byte >= 0 && byte < 256), what);
    }
    assert.ok(signatures().length > 25);
});

test('raw binary', async () => {
    const x = Float32Array.of(1, -2, 3.5);
    assert.deepEqual(await numbersOf(fileOf(x), { format: 'raw', type: 'f32' }), [1, -2, 3.5]);
    assert.deepEqual(await numbersOf(fileOf(x), { type: 'f32' }), [1, -2, 3.5]); /* cannot be text */
    await assert.rejects(open(fileOf(x, 'x.bin'), { format: 'raw', type: 'f64' }), /^ReadError: x\.bin: 12 bytes are not a whole number of f64 elements of 8 bytes/);
    await assert.rejects(open(fileOf(x), { format: 'raw' }), /does not say what its elements are; give a type/);
    await assert.rejects(open(fileOf(x), { format: 'raw', type: 'f16' }), /type: expected one of f64, f32/);
});

test('files are reduced to the bits of the native library', async () => {
    const x = Float32Array.from({ length: 1 << 21 }, (_, i) => Math.sin(i) * 10 ** (i % 30 - 15)); /* more than one piece */
    let steps = 0, last = 0;
    const file = fileOf(x), result = await reduceFile(reduct, file, 'sum', { format: 'raw', type: 'f32',
        onProgress: (done, total) => { steps++; assert.ok(done > last && total === file.size); last = done; } });
    assert.equal(result.bits, native('sum', x, { element: 'f32', result: 'f64' }));
    assert.deepEqual([steps, last, result.count, result.type, result.element, result.format], [2, file.size, x.length, 'f64', 'f32', 'raw']);
    assert.equal((await reduceFile(reduct, file, 'max', { format: 'raw', type: 'f32' })).bits, native('max', x, { element: 'f32' }));
    const text = fileOf('0.1 0.2 0.3');
    assert.equal((await reduceFile(reduct, text, 'sum')).bits, bitsOf(0.6, 'f64'));
    const integers = fileOf(BigInt64Array.of(2n ** 63n - 1n, 2n ** 63n - 1n));
    assert.equal((await reduceFile(reduct, integers, 'sum', { format: 'raw', type: 'i64' })).value, 2n ** 64n - 2n);
    assert.equal((await reduceFile(reduct, integers, 'sumsq', { format: 'raw', type: 'i64' })).value, 2n * (2n ** 63n - 1n) ** 2n);
    assert.equal((await reduceFile(reduct, fileOf('1 nan 3'), 'mean', { nan: 'ignore' })).value, 2);
    await assert.rejects(reduceFile(reduct, fileOf('1 nan 3'), 'mean', { nan: 'error' }), { status: 'nan', index: 1 });
    await assert.rejects(reduceFile(reduct, fileOf(''), 'mean'), { status: 'empty' });
    await assert.rejects(reduceFile(reduct, file, 'sum', { format: 'raw', type: 'f32', signal: AbortSignal.abort() }), { name: 'AbortError' });
});

test('an index counts elements as NumPy does, also in Fortran order', async () => {
    const column = Float64Array.of(1, 2, 3, 9, 5, 6); /* [[1, 3, 5], [2, 9, 6]] column by column */
    const file = npy(dictionary('<f8', '(2, 3)', 'True'), column);
    const { value, bits } = await reduceFile(reduct, file, 'argmax');
    assert.deepEqual([value, bits], [4, '0x0000000000000004']);
    const equal = npy(dictionary('<f8', '(2, 2)', 'True'), Float64Array.of(1, 9, 9, NaN)); /* [[1, 9], [9, nan]] */
    assert.equal((await reduceFile(reduct, equal, 'argmax', { nan: 'ignore' })).value, 1);
    const missing = npy(dictionary('<f8', '(2, 3)', 'True'), Float64Array.of(1, NaN, 2, 3, NaN, 5)); /* [[1, 2, nan], [nan, 3, 5]] */
    for (const operator of ['sum', 'max', 'argmax', 'product'])
        await assert.rejects(reduceFile(reduct, missing, operator, { nan: 'error' }), { status: 'nan', index: 2 }, operator);
    const folder = mkdtempSync(join(tmpdir(), 'reduct-'));
    try {
        const path = join(folder, 'a.npy');
        writeFileSync(path, new Uint8Array(await file.arrayBuffer()));
        const command = process.env.REDUCT ?? new URL('../../build/reduct', import.meta.url).pathname;
        assert.equal(execFileSync(command, ['argmax', path], { encoding: 'utf8' }).trim(), '4');
    } finally {
        rmSync(folder, { recursive: true });
    }
});

test('products, whose rounding shows the order, are those of the same array in C order', async () => {
    const shape = [7, 31, 23], n = 7 * 31 * 23, x = Float64Array.from({ length: n }, (_, i) => 1 + Math.sin(i) / 64);
    const fortran = new Float64Array(n);
    for (let i = 0; i < n; i++) /* a[i, j, k] lies at i + 7 * (j + 31 * k) */
        fortran[Math.floor(i / (31 * 23)) + 7 * (Math.floor(i / 23) % 31 + 31 * (i % 23))] = x[i];
    const file = npy(dictionary('<f8', `(${shape.join(', ')})`, 'True'), fortran), inOrder = native('product', x, { element: 'f64' });
    assert.notEqual(native('product', fortran, { element: 'f64' }), inOrder);
    for (const band of [1 << 24, 1000, n, n - 1])
        for (const piece of [undefined, 1000])
            assert.equal((await reduceFile(reduct, file, 'product', { band, piece })).bits, inOrder, `${band} ${piece}`);
    assert.equal((await reduceFile(reduct, npy(dictionary('<i8', '(2, 2)', 'True'), BigInt64Array.of(2n ** 62n, 3n, 5n, -7n)), 'product')).value, -105n * 2n ** 62n);
});
