/* web/readers.js on files that nobody would write: made from what the formats are made of, then damaged. Whatever the
 * bytes, they are read or refused with a ReadError, in time, the same however they are cut into pieces, and as the command
 * reads or refuses them.
 *
 * Always the same files, from FUZZ_SEED; FUZZ_ROUNDS times as many for a longer search, by default REDUCT_TEST_SCALE. What fails is printed as base64;
 * once mended, it belongs in corpus/readers.json. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { load, ReductError } from '../reduct/index.js';
import { generator } from '../reduct/tests/data.js';
import { parseHex } from '../reduct/tests/native.js';
import { bitsOf } from '../reduct/tests/oracle.js';
import { open, ReadError, reduceFile } from '../readers.js';
import { scale } from './sample.js';

const SEED = Number(process.env.FUZZ_SEED ?? 1), ROUNDS = Number(process.env.FUZZ_ROUNDS ?? scale);
const MOST_BYTES = 1 << 17, MOST_SECONDS = 10; /* a file of so many bytes takes milliseconds */
const PIECES = [8, 16, 24, 4096];
const TYPES = ['f64', 'f32', 'i8', 'i16', 'i32', 'i64', 'u8', 'u16', 'u32', 'u64'];
const corpus = JSON.parse(readFileSync(new URL('corpus/readers.json', import.meta.url), 'utf8'));

const command = process.env.REDUCT ?? new URL('../../build/reduct', import.meta.url).pathname;
assert.ok(existsSync(command), `${command}: not found; build the native command, or name it in the environment variable REDUCT`);
const folder = mkdtempSync(join(tmpdir(), 'reduct-fuzz-')), path = join(folder, 'numbers');
after(() => rmSync(folder, { recursive: true }));
const reduct = await load();

/* ---------------------------------------------------------------------------------------------------------------------
 * Files
 * ------------------------------------------------------------------------------------------------------------------ */

/* Choices, from a seed. */
function chooser(seed) {
    const next = generator(Math.imul(seed + 1, 2654435761) ^ Math.imul(SEED, 40503));
    for (let i = 0; i < 8; i++)
        next(); /* neighbouring seeds begin alike */
    const below = n => next() % n;
    return { below, one: list => list[below(list.length)], few: most => Math.floor(most ** (below(1000) / 1000)) };
}

const encode = text => Buffer.from(text, 'latin1');

const WORDS = ['0', '-0', '1', '+1', '-1.5e3', '.5', '5.', '1e308', '1.7976931348623159e308', '1e309', '-1e-400', '4.9e-324', '2.4703282292062328e-324',
    '9007199254740993', '0.1', '0x1.8p3', '-0X.8P-1', '0x1p-1075', '0x1.00000000000008p0', '0x1.fffffffffffff8p1023', '0x1p1024', 'inf', '-Infinity', 'nan',
    '+NaN', 'nan(1)', '1_0', '1,5', '0x', '0xp1', 'e5', '.', '+', '--1', '1e', '1e+', 'infin', '1f', '1d5', '\xe9', '\x00', '\ufeff', 'NaNs', '1'.repeat(400), `0.${'0'.repeat(400)}1`];
const SPACES = [' ', '  ', '\n', '\r\n', '\t', '\v', '\f', ' \n ', '\n\n', '\x85', '\xa0', ','];

function randomWord({ below, one, few }) {
    const digits = () => Array.from({ length: few(40) }, () => below(10)).join('');
    return `${one(['', '-', '+'])}${digits()}${one(['', '.'])}${digits()}${one(['', '', `e${one(['', '-', '+'])}${few(400)}`])}`;
}

function text(choose) {
    const { below, one, few } = choose, parts = [one(['', '', ' ', '\xef\xbb\xbf'])], strange = below(2);
    for (let i = few(200); i > 0; i--)
        parts.push(below(2) ? randomWord(choose) : WORDS[below(strange ? WORDS.length : 12)], SPACES[below(strange ? SPACES.length : 9)]);
    return encode(parts.join(''));
}

const headerOf = (dictionary, version) => Buffer.concat([Buffer.from([0x93, ...encode('NUMPY'), version, 0]),
    version === 1 ? Buffer.from(Uint16Array.of(dictionary.length).buffer) : Buffer.from(Uint32Array.of(dictionary.length).buffer), encode(dictionary)]);

function numpy({ below, one, few }) {
    const shape = Array.from({ length: few(4) }, () => few(12)), kind = one(['f8', 'f4', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', 'u8', 'f2', 'c16', 'O', 'U5']);
    const lengths = `(${shape.join(one([', ', ',', ' ,']))}${shape.length === 1 || below(4) === 0 ? one([',', ',', ', ', '']) : ''})`;
    const quote = one(["'", "'", "'", '"']), key = word => quote + word + quote;
    const entries = [`${key('descr')}: ${key(one(['<', '>', '|', '=', '']) + kind)}`, `${key('fortran_order')}: ${one(['False', 'True', 'true'].slice(0, 2 + (below(20) === 0)))}`, `${key('shape')}: ${lengths}`];
    if (below(4) === 0)
        entries.reverse();
    const dictionary = `{${entries.join(', ')}${one([', ', '', ','])}}${' '.repeat(below(30))}\n`;
    const bytes = shape.reduce((a, b) => a * b, 1) * Number(kind.slice(1) || 1);
    return Buffer.concat([headerOf(dictionary, one([1, 1, 2, 3])), Buffer.from(Array.from({ length: bytes }, () => below(4) && below(256)))]);
}

/* Bytes with a few faults. */
function damaged(bytes, { below, one, few }) {
    for (let faults = below(4); faults > 0 && bytes.length > 0; faults--) {
        const at = bytes.length > 200 && below(2) ? below(200) : below(bytes.length), length = few(20), rest = bytes.subarray(at + length);
        const inserted = one([() => encode(one(WORDS)), () => encode(one(SPACES)), () => Buffer.from([below(256)]), () => bytes.subarray(at, at + length),
            () => Buffer.alloc(few(60000), bytes.subarray(at, at + 1 + below(3))), () => Buffer.alloc(0)])();
        bytes = Buffer.concat([bytes.subarray(0, at), inserted, below(2) ? bytes.subarray(at) : rest]);
        if (below(8) === 0)
            bytes = bytes.subarray(0, below(bytes.length + 1));
    }
    return bytes.subarray(0, MOST_BYTES);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What becomes of them
 * ------------------------------------------------------------------------------------------------------------------ */

/* What use() gives, or { refused: its message }. */
async function attempt(use) {
    try {
        return await use();
    } catch (error) {
        if (error instanceof ReadError)
            return { refused: error.message };
        throw error;
    }
}

function fileOf(bytes) {
    const file = new Blob([bytes]);
    file.name = path;
    return file;
}

/* All numbers of a file as a string of their bytes, and what it said of itself. */
const readAll = (file, options) => attempt(async () => {
    const { pieces, ...input } = await open(file, options), all = [];
    for await (const { numbers } of pieces())
        all.push(Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength));
    return { ...input, numbers: Buffer.concat(all).toString('base64') };
});

/* The command's answer as the bits of a sum, or where it refused. */
function byCommand(bytes, options) {
    writeFileSync(path, bytes);
    const { status, stdout, stderr } = spawnSync(command, ['sum', '--quiet', ...options, path], { encoding: 'latin1' });
    assert.ok(status === 0 || status === 1, `the command ended with ${status}: ${stderr}`);
    return status === 0 ? stdout.trim() : { refused: stderr.trim() };
}

/* What the command reads and the page does not: numbers of 16 bits, and truth values. */
const ONLY_BY_COMMAND = /the elements are '[<>|=]?(f2|b1|V2)'/;

/* Where in a text something is wrong. */
const place = message => /numbers:(\d+:\d+): /.exec(message)?.[1];

async function check(bytes, { format = 'auto', type, judge = true }) {
    const file = fileOf(bytes), start = performance.now(), found = await readAll(file, { format, type });
    for (const piece of PIECES.filter(piece => piece >= 4096 || bytes.length < 4096))
        assert.deepEqual(await readAll(file, { format, type, piece }), found, `cut every ${piece} bytes`);
    assert.ok(performance.now() - start < 1000 * MOST_SECONDS, `${(performance.now() - start) / 1000} s`);
    if (!judge || (found.refused && ONLY_BY_COMMAND.test(found.refused)))
        return;
    const isFloat = found.type?.[0] !== 'i' && found.type?.[0] !== 'u', result = isFloat ? 'f64' : 'i256';
    const answer = byCommand(bytes, [...(isFloat ? ['--hex'] : []), '--result', result, ...(format === 'raw' ? ['--format', 'raw', '--type', type] : [])]);
    assert.equal(Boolean(answer.refused), Boolean(found.refused), `the command: ${JSON.stringify(answer)}; here: ${JSON.stringify(found).slice(0, 300)}`);
    if (found.refused) {
        assert.equal(place(found.refused), place(answer.refused), `${found.refused}; the command: ${answer.refused}`);
        return;
    }
    const reduced = await reduceFile(reduct, file, 'sum', { format, type, result });
    assert.equal(isFloat ? reduced.bits : String(reduced.value), isFloat ? bitsOf(parseHex(answer), 'f64') : answer);
}

async function checkAll(count, make) {
    for (let seed = 0; seed < count * ROUNDS; seed++) {
        const choose = chooser(seed), { bytes, ...options } = make(choose, seed);
        try {
            await check(bytes, options);
        } catch (error) {
            error.message += `\nseed ${seed}, ${JSON.stringify(options)}: ${Buffer.from(bytes).toString('base64').slice(0, 4000)}`;
            throw error;
        }
    }
}

test('files that once failed', async () => {
    for (const { base64, ...options } of corpus)
        await check(Buffer.from(base64, 'base64'), options);
});

/* The command judges every fourth file; a process for each would take most of the time. */
test('text', () => checkAll(1200, (choose, seed) => ({ bytes: damaged(text(choose), choose), judge: seed % 4 === 0 })));

test('.npy', () => checkAll(1600, (choose, seed) => ({ bytes: damaged(numpy(choose), choose), judge: seed % 4 === 0 })));

test('raw binary', () => checkAll(300, (choose, seed) => ({ bytes: Buffer.from(Array.from({ length: choose.few(600) }, () => choose.below(256))),
    format: 'raw', type: choose.one(TYPES), judge: seed % 4 === 0 })));

test('any bytes as any format and type', () => checkAll(600, choose => ({ bytes: damaged(choose.one([text, numpy])(choose), choose),
    format: choose.one(['auto', 'npy', 'text', 'raw']), type: choose.one([undefined, ...TYPES]), judge: false })));

test('what reduces a file fails as the library does, or as the readers do', async () => {
    for (let seed = 0; seed < 200 * ROUNDS; seed++) {
        const choose = chooser(seed + 1e6), file = fileOf(damaged(choose.one([text, numpy])(choose), choose));
        for (const operator of ['sum', 'argmin', 'product', 'norminf'])
            await reduceFile(reduct, file, operator, { nan: choose.one(['propagate', 'ignore', 'error']), piece: choose.one(PIECES), band: Math.ceil((file.size + 1) / (1 + choose.below(20))) }).catch(error =>
                assert.ok(error instanceof ReadError || error instanceof ReductError, `seed ${seed}, ${operator}: ${error.stack}`));
    }
});
