/* Files of numbers, read here piece by piece: NumPy's .npy, raw binary, text. Nothing leaves the machine.
 *
 *   open(file, options)                       what is in a File or Blob, and its pieces as typed arrays
 *   reduceFile(reduct, file, op, options)     all of it reduced by the library, in bounded memory
 *
 * The formats and their rules are those of the command `reduct`. What is wrong is a ReadError that says where.
 */
import { SIGNATURES } from './signatures.js';

export class ReadError extends Error {
    constructor(message) {
        super(message);
        this.name = 'ReadError';
    }
}

/* Bytes read at a time; a multiple of every element's size. */
const PIECE = 1 << 22;

const ARRAYS = { f64: Float64Array, f32: Float32Array, i8: Int8Array, i16: Int16Array, i32: Int32Array, i64: BigInt64Array,
    u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, u64: BigUint64Array };

const FORMATS = ['auto', 'npy', 'text', 'raw'];

async function bytesOf(file, start, end) {
    return new Uint8Array(await file.slice(start, end).arrayBuffer());
}

/* Text for messages: short, and nothing in it that could hide or break a line. */
function quote(text) {
    const shown = text.length > 40 ? `${text.slice(0, 40)}...` : text;
    return `'${shown.replace(/[\u0000-\u001f\u007f-\u009f]/g, c => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)}'`;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Raw binary, which the elements of .npy files are too
 * ------------------------------------------------------------------------------------------------------------------ */

/* Turns the bytes of each element round. */
function swap(bytes, size) {
    for (let at = 0; at < bytes.length; at += size)
        bytes.subarray(at, at + size).reverse();
}

async function* binaryPieces(file, start, Type, bigEndian, piece) {
    for (let at = start; at < file.size; at += piece) {
        const bytes = await bytesOf(file, at, Math.min(at + piece, file.size));
        if (bigEndian)
            swap(bytes, Type.BYTES_PER_ELEMENT);
        yield { numbers: new Type(bytes.buffer), done: at + bytes.length };
    }
}

function openRaw(file, name, type, piece) {
    if (!ARRAYS[type])
        throw new ReadError(`${name}: raw binary does not say what its elements are; give a type, one of ${Object.keys(ARRAYS).join(', ')}`);
    const size = ARRAYS[type].BYTES_PER_ELEMENT;
    if (file.size % size)
        throw new ReadError(`${name}: ${file.size} bytes are not a whole number of ${type} elements of ${size} bytes`);
    return { format: 'raw', type, count: file.size / size, pieces: () => binaryPieces(file, 0, ARRAYS[type], false, piece) };
}

/* ---------------------------------------------------------------------------------------------------------------------
 * .npy: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 * ------------------------------------------------------------------------------------------------------------------ */

const MAGIC = [0x93, ...new TextEncoder().encode('NUMPY')];
const HEADER_MOST = 1 << 20, AXES_MOST = 64;

const KINDS_REFUSED = {
    b: "booleans; convert them, as in a.astype('u1')",
    c: 'complex numbers; reduce a.real and a.imag',
    O: 'Python objects, which cannot be read without running Python',
    S: 'strings', a: 'strings', U: 'strings',
    V: 'structured or untyped data; save one field of numbers',
    M: "dates or times; convert them, as in a.astype('i8')", m: "dates or times; convert them, as in a.astype('i8')",
};

const isNpy = bytes => MAGIC.every((byte, i) => bytes[i] === byte);

/* Where the dictionary of the header begins and ends. */
function headerRange(bytes, name) {
    if (bytes.length < 8)
        throw new ReadError(`${name}: the .npy header is cut short after ${bytes.length} bytes`);
    const [major, minor] = [bytes[6], bytes[7]];
    if (major < 1 || major > 3 || minor !== 0)
        throw new ReadError(`${name}: .npy version ${major}.${minor}; expected 1.0, 2.0 or 3.0`);
    const start = major === 1 ? 10 : 12;
    if (bytes.length < start)
        throw new ReadError(`${name}: the .npy header is cut short after ${bytes.length} bytes`);
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const length = major === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
    if (length > HEADER_MOST)
        throw new ReadError(`${name}: the .npy header claims ${length} bytes; expected at most ${HEADER_MOST}`);
    return { start, end: start + length };
}

/* The header's dictionary, read from left to right, each byte once: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }. */
class Header {
    #text;
    #name;
    #at = 0;

    constructor(text, name) {
        this.#text = text;
        this.#name = name;
    }

    /* { descr, fortran_order, shape } */
    entries() {
        const read = { descr: () => this.#type(), fortran_order: () => this.#flag(), shape: () => this.#shape() }, entries = {};
        this.#expect(/\{/y, "'{'");
        while (!this.#accept(/\}/y)) {
            const key = this.#string('a key');
            if (!Object.hasOwn(read, key))
                throw this.#error(`the header has the unknown key ${quote(key)}`);
            if (key in entries)
                throw this.#error(`the header has ${quote(key)} twice`);
            this.#expect(/:/y, "':'");
            entries[key] = read[key]();
            if (!this.#accept(/,/y)) {
                this.#expect(/\}/y, "'}'");
                break;
            }
        }
        for (const key of Object.keys(read))
            if (!(key in entries))
                throw this.#error(`the header lacks '${key}'`);
        this.#expect(/$/y, 'its end');
        return entries;
    }

    #error(message) {
        return new ReadError(`${this.#name}: ${message}`);
    }

    /* What matches next, after white space; undefined if it does not. */
    #accept(pattern) {
        const space = /[ \t\r\n]*/y;
        space.lastIndex = this.#at;
        space.exec(this.#text);
        this.#at = pattern.lastIndex = space.lastIndex;
        const found = pattern.exec(this.#text);
        this.#at = found ? pattern.lastIndex : this.#at;
        return found ?? undefined;
    }

    #expect(pattern, expected) {
        const found = this.#accept(pattern);
        if (!found)
            throw this.#error(`the .npy header is damaged at ${quote(this.#text.slice(this.#at, this.#at + 41))}; expected ${expected} of a dictionary such as {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`);
        return found;
    }

    #string(expected) {
        const [, single, double] = this.#expect(/'([^']*)'|"([^"]*)"/y, expected);
        return single ?? double;
    }

    /* The element type: byte order, kind and width. */
    #type() {
        if (this.#accept(/\[/y))
            throw this.#error('the elements are structured, which cannot be reduced; save one field of numbers');
        const descr = this.#string('the element type'), [, order, kind, width] = /^([<>|=]?)([^]?)([^]*)$/.exec(descr);
        if (!kind || !'fiu'.includes(kind))
            throw this.#error(`the elements are ${quote(descr)}: ${KINDS_REFUSED[kind] ?? 'a type unknown here'}`);
        const type = /^\d$/.test(width) ? `${kind}${8 * Number(width)}` : '';
        if (!Object.hasOwn(ARRAYS, type))
            throw this.#error(`the elements are ${quote(descr)}: numbers of a width that cannot be read; convert them, as in ${kind === 'f' ? "a.astype('f4') or 'f8'" : "a.astype('i8')"}`);
        return { type, bigEndian: order === '>' };
    }

    #flag() {
        return this.#expect(/True|False/y, 'True or False')[0] === 'True';
    }

    /* A tuple of lengths, which of one length has a comma: (3,). */
    #shape() {
        this.#expect(/\(/y, "the shape's '('");
        const from = this.#at - 1, lengths = [];
        const wrong = why => this.#error(`the shape is ${quote(this.#text.slice(from, from + 41).replace(/\)[^]*/, ')'))}; expected lengths such as (3, 4)${why}`);
        while (!this.#accept(/\)/y)) {
            if (lengths.length === AXES_MOST)
                throw wrong(`, at most ${AXES_MOST}`);
            const [length] = this.#accept(/\d+/y) ?? [];
            if (length === undefined)
                throw wrong('');
            if (length.length > 19)
                throw wrong(', none of them longer than any memory');
            if (/^0+[1-9]/.test(length))
                throw wrong(', without leading zeros');
            lengths.push(Number(length));
            this.#accept(/L/y); /* as Python 2 wrote long integers */
            if (!this.#accept(/,/y)) {
                if (!this.#accept(/\)/y))
                    throw wrong('');
                if (lengths.length === 1)
                    throw wrong(`; of one axis (${lengths[0]},)`);
                break;
            }
        }
        return lengths;
    }
}

/* Elements of an array, exactly or too many for any file. */
const product = lengths => (lengths.includes(0) ? 0 : lengths.reduce((a, b) => a * b, 1));

async function openNpy(file, name, type, piece) {
    const { start, end } = headerRange(await bytesOf(file, 0, 12), name);
    if (file.size < end)
        throw new ReadError(`${name}: the .npy header claims ${end - start} bytes, but only ${file.size - start} follow`);
    const header = new Header(new TextDecoder().decode(await bytesOf(file, start, end)), name).entries();
    const { type: found, bigEndian } = header.descr, { shape } = header;
    if (type && type !== found)
        throw new ReadError(`${name}: the type ${type} was given, but the file holds ${found}`);
    const count = product(shape), bytes = count * ARRAYS[found].BYTES_PER_ELEMENT;
    if (file.size - end !== bytes)
        throw new ReadError(`${name}: the .npy header announces ${count} ${found} elements, ${bytes} bytes, but ${file.size - end} bytes follow it`);
    /* with fewer than two axes that are longer than 1, both orders are the same */
    const fortran = header.fortran_order && shape.filter(length => length > 1).length > 1;
    return { format: 'npy', type: found, count, shape, fortran, pieces: () => binaryPieces(file, end, ARRAYS[found], bigEndian, piece) };
}

/* The index in C order of an element of an array in Fortran order, from its position in the file. */
function indexOfPosition(shape, position) {
    let stride = shape.reduce((a, b) => a * b, 1), index = 0;
    for (const length of shape) {
        stride /= length;
        index += position % length * stride;
        position = Math.floor(position / length);
    }
    return index;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Text: numbers between white space, as f64
 * ------------------------------------------------------------------------------------------------------------------ */

/* The longest number taken. Exact decimals of doubles have up to 1077 characters. */
const TOKEN_MOST = 64 << 10;

/* No part of these can match what another part does, so that a long word takes no longer than its length. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const WORD = /^([+-]?)(?:(inf|infinity)|nan)$/i;
const HEXADECIMAL = /^([+-]?)0x([0-9a-f]*)(?:\.([0-9a-f]*))?(?:p([+-]?\d+))?$/i;

/* m * 2^e to nearest, ties to even. */
function roundToDouble(m, e) {
    const top = m.toString(2).length + e; /* the value is below 2^top */
    if (m === 0n || top < -1075)
        return 0;
    if (top > 1024)
        return Infinity;
    const surplus = BigInt(Math.max(-1074, top - 53) - e); /* bits that do not fit */
    if (surplus > 0n) {
        const half = 1n << (surplus - 1n), rest = m & (2n * half - 1n);
        m >>= surplus;
        e += Number(surplus);
        if (rest > half || (rest === half && m & 1n))
            m++;
    }
    const step = Math.trunc(e / 2); /* 2^e itself may over- or underflow */
    return Number(m) * 2 ** step * 2 ** (e - step);
}

/* The number that a word stands for; undefined if it stands for none. */
export function parseNumber(token) {
    if (DECIMAL.test(token))
        return Number(token);
    const word = WORD.exec(token);
    if (word)
        return word[2] ? (word[1] === '-' ? -Infinity : Infinity) : NaN;
    const [, sign, whole, fraction = '', exponent = '0'] = HEXADECIMAL.exec(token) ?? [];
    if (whole === undefined || whole + fraction === '')
        return undefined;
    const value = roundToDouble(BigInt(`0x${whole}${fraction}`), Number(exponent) - 4 * fraction.length);
    return sign === '-' ? -value : value;
}

/* Gives a character for each byte: numbers need no more, and columns count bytes. */
const bytewise = () => new TextDecoder('latin1');

/* Words of the text before its last white space, or all of it; `rest` is what may go on in the next piece. */
function cut(text, last) {
    let end = text.length;
    while (!last && end > 0 && !/[\t-\r ]/.test(text[end - 1]))
        end--;
    return { whole: text.slice(0, end), rest: text.slice(end) };
}

/* Where a word of the text stands, after `line` lines; columns count bytes. */
function place(text, word, line, column) {
    const words = /[^\t-\r ]+/g;
    let found = words.exec(text);
    for (let i = 0; i < word; i++)
        found = words.exec(text);
    const before = text.slice(0, found.index), breaks = before.split('\n').length - 1;
    const inLine = breaks ? before.length - before.lastIndexOf('\n') - 1 : before.length + column;
    return `${line + breaks + 1}:${inLine + 1}`;
}

/* The text again that was decoded a byte at a time. */
function fromBytewise(token) {
    const characters = bytewise().decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
    return new TextDecoder().decode(Uint8Array.from(token, c => characters.indexOf(c)));
}

function refuse(token, where) {
    const text = fromBytewise(token);
    if (token.length > TOKEN_MOST)
        throw new ReadError(`${where}: ${quote(text)} is not a number: it is longer than ${TOKEN_MOST} characters`);
    if (/[\u0000-\u001f\ufffd]/.test(text))
        throw new ReadError(`${where}: ${quote(text)} is not text; expected a number. For raw binary choose that format and the type of its elements`);
    if (/[,;]/.test(text))
        throw new ReadError(`${where}: ${quote(text)} is not a number; expected white space between numbers, no commas, and decimal points`);
    if (DECIMAL.test(token) || HEXADECIMAL.test(token))
        throw new ReadError(`${where}: ${quote(text)} does not fit f64 (double precision, IEEE 754 binary64)`);
    throw new ReadError(`${where}: ${quote(text)} is not a number; expected one such as -1.5e3, 0x1.8p3, inf or nan`);
}

async function* textPieces(file, start, name, piece) {
    const decoder = bytewise();
    let carried = '', line = 0, column = 0;
    for (let at = start; at < file.size; at += piece) {
        const end = Math.min(at + piece, file.size);
        const { whole, rest } = cut(carried + decoder.decode(await bytesOf(file, at, end)), end === file.size);
        const words = whole.split(/[\t-\r ]+/).filter(Boolean), numbers = new Float64Array(words.length);
        for (let i = 0; i < words.length; i++) {
            const value = words[i].length > TOKEN_MOST ? undefined : parseNumber(words[i]);
            if (value === undefined || (Math.abs(value) === Infinity && !WORD.test(words[i])))
                refuse(words[i], `${name}:${place(whole, i, line, column)}`);
            numbers[i] = value;
        }
        const breaks = whole.split('\n').length - 1;
        column = breaks ? whole.length - whole.lastIndexOf('\n') - 1 : column + whole.length;
        line += breaks;
        if (rest.length > TOKEN_MOST)
            refuse(rest, `${name}:${line + 1}:${column + 1}`);
        carried = rest;
        yield { numbers, done: end };
    }
}

function openText(file, name, type, bytes, piece) {
    if (type && type !== 'f64')
        throw new ReadError(`${name}: the type ${type} was given, but text is read as f64; for raw binary choose that format`);
    const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0; /* some editors begin UTF-8 so */
    return { format: 'text', type: 'f64', count: undefined, pieces: () => textPieces(file, start, name, piece) };
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* Refuses files that hold numbers in a way that is not read here. Taken for raw binary they would give a result that means
 * nothing. */
function refuseOthers(bytes, name) {
    const [, what, advice] = SIGNATURES.find(([begin]) => begin.every((byte, i) => bytes[i] === byte)) ?? [];
    if (what)
        throw new ReadError(`${name}: this is ${what}, which is not read here; ${advice}`);
}

/* Whether bytes could be the beginning of text. */
function isPlausibleText(bytes) {
    const text = new TextDecoder().decode(bytes, { stream: true });
    return !/[\u0000-\u0008\u000e-\u001f\u007f\ufffd]/.test(text);
}

/* `piece`: bytes to read at a time, a multiple of 8. */
export async function open(file, { format = 'auto', type, piece = PIECE } = {}) {
    const name = file.name ?? 'data';
    if (!FORMATS.includes(format))
        throw new TypeError(`format: expected one of ${FORMATS.join(', ')}, found ${quote(String(format))}`);
    if (type !== undefined && !ARRAYS[type])
        throw new TypeError(`type: expected one of ${Object.keys(ARRAYS).join(', ')}, found ${quote(String(type))}`);
    const bytes = await bytesOf(file, 0, 4096);
    if (format !== 'raw')
        refuseOthers(bytes, name);
    if (format === 'auto')
        format = isNpy(bytes) ? 'npy' : type && !isPlausibleText(bytes) ? 'raw' : 'text';
    if (format === 'npy' && !isNpy(bytes))
        throw new ReadError(`${name}: not a .npy file: it does not begin with \\x93NUMPY`);
    return format === 'npy' ? openNpy(file, name, type, piece) : format === 'raw' ? openRaw(file, name, type, piece) :
        openText(file, name, type, bytes, piece);
}

/* Results, where none is asked for, are those of the command: sums of floats, and what is built on them, as f64; sums of
 * integers in full. */
const INTEGER_SUMS = { sum: 'i128', norm1: 'i128', sumsq: 'i256', product: 'i256' };
const ELEMENTS = ['min', 'max', 'norminf', 'argmin', 'argmax'];

function defaultResult(operator, type) {
    if (ELEMENTS.includes(operator))
        return undefined;
    return type[0] === 'f' ? 'f64' : INTEGER_SUMS[operator];
}

/* Numbers of a band: an array in Fortran order is read once for each, so that one band of it is in memory at a time. */
const BAND = 1 << 24;

/* The pieces of an array in Fortran order in the order of its indices (C order). */
async function* inOrder({ type, count, shape, pieces }, size, band) {
    for (let first = 0; first < count; first += band) {
        const numbers = new ARRAYS[type](Math.min(band, count - first));
        let position = 0;
        for await (const piece of pieces()) {
            for (const number of piece.numbers) {
                const index = indexOfPosition(shape, position++) - first;
                if (index >= 0 && index < numbers.length)
                    numbers[index] = number;
            }
        }
        yield { numbers, done: Math.floor(size * Math.min(first + band, count) / count) };
    }
}

/* Whether the order of the elements shows in what comes out: an index, that of the first NaN too, or how a product of
 * floats is rounded. */
const dependsOnOrder = (operator, type, nan) => operator.startsWith('arg') || (type[0] === 'f' && (operator === 'product' || nan === 'error'));

/* All numbers of a file, reduced. `options`: format and type as for open(); result, nan and population as for the
 * library; onProgress(bytes read, bytes in all); signal, an AbortSignal; piece as for open(), band as for inOrder(). Resolves to the library's result, with `format`
 * and `element`, the type of the elements. */
export async function reduceFile(reduct, file, operator, options = {}) {
    const { format, type, result, nan, population, onProgress, signal, piece, band = BAND } = options;
    const input = await open(file, { format, type, piece });
    const ordered = input.fortran && dependsOnOrder(operator, input.type, nan);
    const accumulator = reduct.accumulator(operator, input.type, { result: result ?? defaultResult(operator, input.type), nan, population });
    try {
        for await (const { numbers, done } of ordered ? inOrder(input, file.size, band) : input.pieces()) {
            signal?.throwIfAborted();
            accumulator.add(numbers);
            onProgress?.(done, file.size);
        }
        const reduced = accumulator.result();
        return { ...reduced, format: input.format, element: input.type };
    } finally {
        accumulator.free();
    }
}
