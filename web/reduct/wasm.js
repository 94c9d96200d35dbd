/* The C library in WebAssembly: reductions of typed arrays, and accumulators.
 *
 * Data are copied into the module's memory piece by piece, so that arrays of any size need little of it, and added to
 * an accumulator of the library. Exact results do not depend on how data are cut, so neither do these bits.
 */

import { FLAGS, NAN_POLICIES, OPERATORS as OPERATOR_TABLE, STATUSES, TYPES } from './tables.js';

/* Bytes of a piece: it stays in the processor's second-level cache between being copied and being read. */
const PIECE = 1 << 18;

/* The C structures of reduct.h, and room for the widest result and for a 64-bit number. */
const REDUCTION_BYTES = 56, OPTIONS_BYTES = 88, ERROR_BYTES = 288, RESULT_BYTES = 32, WORD_BYTES = 8;
const ERROR_INDEX = 8, ERROR_MESSAGE = 16;
const NO_INDEX = 2n ** 64n - 1n;

const STATUS_NAMES = Object.fromEntries(Object.entries(STATUSES).map(([name, number]) => [number, name]));

/* Element types by the names of the arrays that hold them. */
const ELEMENT_TYPES = Object.fromEntries(Object.entries(TYPES).filter(([, type]) => type.array).map(([name, type]) => [type.array, name]));
ELEMENT_TYPES.Uint8ClampedArray = 'u8';

/* Elements that the library reads as wider ones, which hold them exactly. */
const WIDENED = { f16: 'f32' };

export const OPERATORS = Object.keys(OPERATOR_TABLE);

/* Whether an operator reads a second array; whether a result of it is two values; whether it is a count or a place, which is never
 * rounded and comes out as a number; whether it is of bits, whose types are fixed as well. */
export const readsTwo = operator => OPERATOR_TABLE[operator].inputs === 2;
const givesTwo = ({ combine, finish }) => combine === 'both' && finish === 'value';
const givesCount = ({ transform, combine, finish }) => finish === 'index' || (combine === 'add' && ['present', 'nonzero'].includes(transform));
const givesBits = ({ combine }) => ['and', 'or', 'xor'].includes(combine);

export class ReductError extends Error {
    constructor(status, message, index) {
        super(message);
        this.name = 'ReductError';
        this.status = status;
        if (index !== undefined)
            this.index = index;
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Checking what callers give
 * ------------------------------------------------------------------------------------------------------------------ */

/* What a value is, for messages. */
export function describe(value) {
    if (value === null)
        return 'null';
    if (typeof value === 'string')
        return `'${value}'`;
    if (typeof value === 'object' || typeof value === 'function')
        return `a value of class ${value.constructor?.name ?? 'unknown'}`;
    return typeof value === 'undefined' ? 'undefined' : `${typeof value} ${String(value)}`;
}

/* Of any realm, and of any class derived from these. */
const { get: arrayTag } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag);
const { keys: arrayKeys } = Object.getPrototypeOf(Uint8Array.prototype);

/* The element type of a typed array; undefined for anything else. */
export function elementType(data) {
    return ELEMENT_TYPES[arrayTag.call(data)];
}

/* Refuses arrays whose memory is gone: they look empty, and would sum to 0. */
function checkAttached(name, data) {
    try {
        arrayKeys.call(data); /* throws for them, and for no other array */
    } catch {
        let detached = false;
        try {
            new Uint8Array(data.buffer);
        } catch {
            detached = true;
        }
        throw new TypeError(`${name}: expected an array with its numbers, found one whose ArrayBuffer ${detached ?
            'is detached: it was transferred, as by postMessage(), structuredClone() or transfer()' :
            'has been resized and no longer reaches as far'}`);
    }
}

/* The element type of an array of numbers that are there. */
export function checkNumbers(name, data) {
    const type = elementType(data);
    if (type) {
        checkAttached(name, data);
        return type;
    }
    const known = Object.keys(ELEMENT_TYPES).filter(array => globalThis[array]);
    const advice = Array.isArray(data) ? '; convert it, as in Float64Array.from(data)' : '';
    throw new TypeError(`${name}: expected one of ${known.join(', ')}, found ${describe(data)}${advice}`);
}

export function checkOperator(operator) {
    if (!OPERATORS.includes(operator))
        throw new TypeError(`operator: expected one of ${OPERATORS.join(', ')}, found ${describe(operator)}`);
}

/* Refuses options that nobody reads: most are misspelt. */
export function checkOptions(options, known) {
    if (typeof options !== 'object' || options === null)
        throw new TypeError(`options: expected an object, found ${describe(options)}`);
    for (const key of Object.keys(options))
        if (!known.includes(key))
            throw new TypeError(`options: '${key}' is not an option here; expected ${known.join(', ')}`);
}

function checkFlag(options, name) {
    const value = options[name];
    if (value !== undefined && typeof value !== 'boolean')
        throw new TypeError(`options.${name}: expected true or false, found ${describe(value)}`);
    return value === true;
}

export const REDUCTION_OPTIONS = ['result', 'nan', 'population', 'wrap'];

/* ---------------------------------------------------------------------------------------------------------------------
 * Results
 * ------------------------------------------------------------------------------------------------------------------ */

/* The value of a float of 16 bits, `precision` of them significand, the hidden one included. */
function fromSixteen(bits, precision) {
    const sign = bits >> 15 ? -1 : 1, stored = precision - 1, most = 2 ** (15 - stored) - 1;
    const field = bits >> stored & most, fraction = bits & (2 ** stored - 1), lowest = 2 - (most >> 1) - precision;
    if (field === most)
        return fraction ? NaN : sign * Infinity;
    return sign * (field ? (2 ** stored + fraction) * 2 ** (field - 1 + lowest) : fraction * 2 ** lowest);
}

/* An integer of any width from its bytes. */
function wideInteger(bytes, signed) {
    let value = 0n;
    for (let i = bytes.length - 1; i >= 0; i--)
        value = value << 8n | BigInt(bytes[i]);
    return signed ? BigInt.asIntN(8 * bytes.length, value) : value;
}

function decode(bytes, { kind, precision }) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    if (kind !== 'float') {
        const value = wideInteger(bytes, kind === 'signed');
        return bytes.length <= 4 ? Number(value) : value;
    }
    return bytes.length === 8 ? view.getFloat64(0, true) : bytes.length === 4 ? view.getFloat32(0, true) :
        fromSixteen(view.getUint16(0, true), precision);
}

function hexadecimal(bytes) {
    return '0x' + Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).reverse().join('');
}

/* Whether the library gives an element of this type as a wider one. What is rounded, it rounds to any type. */
const comesOutWide = (operator, element) => element in WIDENED && ['least', 'greatest', 'both'].includes(OPERATOR_TABLE[operator].combine) &&
    OPERATOR_TABLE[operator].finish === 'value';

/* The result type to ask the library for, where `result` is wanted of these elements, or the default one. */
function resultToAsk(operator, element, result) {
    if (!(element in WIDENED) || givesCount(OPERATOR_TABLE[operator]) || givesBits(OPERATOR_TABLE[operator]))
        return result;
    if (!comesOutWide(operator, element))
        return result ?? element;
    if (result !== undefined && result !== element)
        throw new ReductError('unsupported', `result type: ${operator} of ${element} elements cannot be ${result}; it can be ${element} only`);
    return undefined;
}

/* The bits of an f16. */
function bitsOfHalf(value) {
    const view = new DataView(new ArrayBuffer(2));
    view.setFloat16(0, value);
    const bits = Number.isNaN(value) ? 0x7e00 : view.getUint16(0);
    return `0x${bits.toString(16).padStart(4, '0')}`;
}

/* A result that came out wide, as the f16 that it is. */
function narrow(result) {
    const bits = Array.isArray(result.value) ? result.value.map(bitsOfHalf) : bitsOfHalf(result.value);
    return { ...result, bits, type: 'f16' };
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* The array in which the library reads elements, and how many of them are a piece. */
const arrayRead = element => globalThis[TYPES[WIDENED[element] ?? element].array];
const pieceLength = element => PIECE / arrayRead(element).BYTES_PER_ELEMENT;

export class Reduct {
    /* What the module exports: `memory`, `malloc`, `free`, and the functions of reduct.h by their names. Pointers are
     * numbers, 64-bit integers bigints; views of `memory.buffer` die when it grows. */
    exports;
    #scratch; /* a reduction, options of an accumulator, an error, a result, a word */
    #piece;

    constructor(instance) {
        this.exports = instance.exports;
        this.exports._initialize();
        const bytes = REDUCTION_BYTES + OPTIONS_BYTES + ERROR_BYTES + RESULT_BYTES + WORD_BYTES;
        this.#scratch = this.#allocate(bytes);
        new Uint8Array(this.exports.memory.buffer, this.#scratch, bytes).fill(0);
        this.view.setUint32(this.optionsPointer, this.reductionPointer, true);
        this.#piece = this.#allocate(2 * PIECE);
    }

    get version() {
        return this.#text(this.exports.reduct_version());
    }

    reduce(operator, data, options = {}) {
        checkOptions(options, [...REDUCTION_OPTIONS, 'y']);
        checkOperator(operator);
        const { y, ...rest } = options;
        const accumulator = this.accumulator(operator, checkNumbers('data', data), rest);
        try {
            return accumulator.add(data, y).result();
        } finally {
            accumulator.free();
        }
    }

    sum(data, options) {
        return this.reduce('sum', data, options).value;
    }

    mean(data, options) {
        return this.reduce('mean', data, options).value;
    }

    min(data, options) {
        return this.reduce('min', data, options).value;
    }

    max(data, options) {
        return this.reduce('max', data, options).value;
    }

    product(data, options) {
        return this.reduce('product', data, options).value;
    }

    norm2(data, options) {
        return this.reduce('norm2', data, options).value;
    }

    dot(x, y, options = {}) {
        return this.reduce('dot', x, { ...options, y }).value;
    }

    variance(data, options) {
        return this.reduce('var', data, options).value;
    }

    std(data, options) {
        return this.reduce('std', data, options).value;
    }

    accumulator(operator, element, options = {}) {
        checkOptions(options, REDUCTION_OPTIONS);
        checkOperator(operator);
        this.reductionAt(operator, element, options);
        this.check(this.exports.reduct_accumulator_create(this.optionsPointer, this.wordPointer,
            this.errorPointer));
        return new Accumulator(this, this.view.getUint32(this.wordPointer, true), operator, element);
    }

    loadAccumulator(bytes) {
        if (elementType(bytes) !== 'u8')
            throw new TypeError(`bytes: expected a Uint8Array, found ${describe(bytes)}`);
        checkAttached('bytes', bytes);
        const pointer = this.loadPointer(bytes);
        this.exports.reduct_accumulator_reduction(this.reductionPointer, pointer);
        const operator = this.#text(this.exports.reduct_operator_name(this.view.getUint32(this.reductionPointer, true)));
        const element = this.#text(this.exports.reduct_type_name(this.view.getUint32(this.reductionPointer + 4, true)));
        return new Accumulator(this, pointer, operator, element);
    }

    /* -----------------------------------------------------------------------------------------------------------------
     * For the other modules of this package
     * -------------------------------------------------------------------------------------------------------------- */

    get view() {
        return new DataView(this.exports.memory.buffer);
    }

    get reductionPointer() {
        return this.#scratch;
    }

    /* Options of an accumulator of the reduction at reductionPointer; all else is as the library has it. */
    get optionsPointer() {
        return this.#scratch + REDUCTION_BYTES;
    }

    get errorPointer() {
        return this.optionsPointer + OPTIONS_BYTES;
    }

    get resultPointer() {
        return this.errorPointer + ERROR_BYTES;
    }

    get wordPointer() {
        return this.resultPointer + RESULT_BYTES;
    }

    /* Writes a reduction, whose options have been checked to be known, to reductionPointer, and resolves its result type. */
    reductionAt(operator, element, options) {
        const policy = options.nan ?? 'propagate';
        if (!Object.hasOwn(NAN_POLICIES, policy))
            throw new TypeError(`options.nan: expected one of ${Object.keys(NAN_POLICIES).join(', ')}, found ${describe(options.nan)}`);
        const flags = Object.keys(FLAGS).reduce((set, name) => (checkFlag(options, name) ? set | FLAGS[name] : set), 0);
        this.#checkElement(element);
        if (options.result !== undefined)
            this.typeNumber('options.result', options.result);
        const result = resultToAsk(operator, element, options.result);
        const fields = [OPERATOR_TABLE[operator].number, this.typeNumber('element', WIDENED[element] ?? element),
            result === undefined ? 0 : this.typeNumber('result', result), 0, NAN_POLICIES[policy], flags];
        fields.forEach((field, i) => this.view.setUint32(this.reductionPointer + 4 * i, field, true));
        this.check(this.exports.reduct_reduction_resolve(this.reductionPointer, this.errorPointer));
    }

    typeNumber(name, type) {
        if (typeof type !== 'string' || !Object.hasOwn(TYPES, type))
            throw new TypeError(`${name}: expected one of ${Object.keys(TYPES).join(', ')}, found ${describe(type)}`);
        return TYPES[type].number;
    }

    /* The result of a type that lies at resultPointer. */
    resultOf(type, operator, count, device) {
        const number = typeof type === 'number' ? type : this.typeNumber('type', type);
        const name = this.#text(this.exports.reduct_type_name(number));
        const row = OPERATOR_TABLE[operator], size = this.exports.reduct_type_size(number);
        const bytes = Array.from({ length: givesTwo(row) ? 2 : 1 }, (_, i) =>
            new Uint8Array(this.exports.memory.buffer, this.resultPointer + i * size, size).slice());
        let values = bytes.map(each => decode(each, TYPES[name])), bits = bytes.map(hexadecimal);
        if (givesCount(row))
            values = values.map(Number);
        return { value: givesTwo(row) ? values : values[0], bits: givesTwo(row) ? bits : bits[0], type: name, count: Number(count), device };
    }

    /* The type of results of the reduction at reductionPointer. */
    get resultTypeNumber() {
        return this.view.getUint32(this.reductionPointer + 8, true);
    }

    /* Loads an accumulator of the library. */
    loadPointer(bytes) {
        this.withBytes(bytes, at => this.check(this.exports.reduct_accumulator_load(at, bytes.length, 0,
            this.wordPointer, this.errorPointer)));
        return this.view.getUint32(this.wordPointer, true);
    }

    /* Calls use(at) with a copy of the bytes in the module's memory. */
    withBytes(bytes, use) {
        const at = this.#allocate(Math.max(bytes.length, 1));
        try {
            new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
            return use(at);
        } finally {
            this.exports.free(at);
        }
    }

    /* Throws what went wrong, unless nothing did. */
    check(status) {
        if (status === 0)
            return;
        const index = this.view.getBigUint64(this.errorPointer + ERROR_INDEX, true);
        throw new ReductError(STATUS_NAMES[status], this.#text(this.errorPointer + ERROR_MESSAGE),
            index === NO_INDEX ? undefined : Number(index));
    }

    /* Copies numbers of an element type in, a piece at a time, each number once; calls `use` with where x and y are and how
     * many. */
    pieces(element, x, y, use) {
        const step = pieceLength(element), length = x.length; /* of shared memory it may grow meanwhile */
        const copy = (from, at, count, to) => {
            const From = globalThis[arrayTag.call(from)];
            const part = new From(from.buffer, from.byteOffset + at * from.BYTES_PER_ELEMENT, count);
            new (arrayRead(element))(this.exports.memory.buffer, to, count).set(part);
        };
        for (let at = 0; at < length; at += step) {
            const count = Math.min(step, length - at);
            copy(x, at, count, this.#piece);
            if (y)
                copy(y, at, count, this.#piece + PIECE);
            use(this.#piece, y ? this.#piece + PIECE : 0, count);
        }
    }

    #checkElement(element) {
        const known = Object.keys(TYPES).filter(name => TYPES[name].array);
        if (!known.includes(element))
            throw new TypeError(`element: expected one of ${known.join(', ')}, found ${describe(element)}`);
        if (!globalThis[TYPES[element].array])
            throw new TypeError(`element: ${element} needs ${TYPES[element].array}, which this engine lacks`);
    }

    #allocate(bytes) {
        const at = this.exports.malloc(bytes);
        if (!at)
            throw new ReductError('out of memory', `WebAssembly memory: ${bytes} bytes could not be allocated`);
        return at;
    }

    /* A string of the C library. */
    #text(at) {
        const bytes = new Uint8Array(this.exports.memory.buffer, at);
        return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
    }
}

/* Gives back the memory of accumulators that nobody freed. */
const registry = new FinalizationRegistry(held => held.reduct.exports.reduct_accumulator_destroy(held.pointer));

export class Accumulator {
    #reduct;
    #held; /* { reduct, pointer }, shared with the registry; pointer is 0 once freed */

    constructor(reduct, pointer, operator, element) {
        this.#reduct = reduct;
        this.#held = { reduct, pointer };
        this.operator = operator;
        this.element = element;
        registry.register(this, this.#held, this);
    }

    get count() {
        return Number(this.#reduct.exports.reduct_accumulator_count(this.#here()));
    }

    add(x, y) {
        const pointer = this.#here(), reduct = this.#reduct;
        this.#checkData('x', x);
        if (readsTwo(this.operator)) {
            this.#checkData('y', y);
            if (x.length !== y.length)
                throw new RangeError(`y: expected as many elements as x has, ${x.length}, found ${y.length}`);
        } else if (y !== undefined) {
            throw new TypeError(`y: ${this.operator} reads one array`);
        }
        const saved = x.length > pieceLength(this.element) ? this.save() : undefined;
        try {
            reduct.pieces(this.element, x, y, (atX, atY, count) =>
                reduct.check(reduct.exports.reduct_accumulator_add(pointer, atX, atY, BigInt(count), reduct.errorPointer)));
        } catch (error) { /* a NaN that is an error, after whole pieces have been added */
            if (saved)
                this.#restore(saved);
            throw error;
        }
        return this;
    }

    merge(other) {
        if (!(other instanceof Accumulator) || other.#reduct !== this.#reduct)
            throw new TypeError(`other: expected an accumulator of the same load(), found ${describe(other)}`);
        this.#reduct.check(this.#reduct.exports.reduct_accumulator_merge(this.#here(), other.#here(),
            this.#reduct.errorPointer));
        return this;
    }

    result(type) {
        const reduct = this.#reduct, pointer = this.#here();
        if (type !== undefined)
            reduct.typeNumber('type', type);
        const wide = comesOutWide(this.operator, this.element), asked = wide ? resultToAsk(this.operator, this.element, type) : type;
        const number = asked === undefined ? 0 : reduct.typeNumber('type', asked);
        reduct.check(reduct.exports.reduct_accumulator_result(pointer, number, reduct.resultPointer, reduct.errorPointer));
        reduct.exports.reduct_accumulator_reduction(reduct.reductionPointer, pointer);
        const result = reduct.resultOf(number || reduct.resultTypeNumber, this.operator, this.count, 'wasm');
        return wide ? narrow(result) : result;
    }

    save() {
        const reduct = this.#reduct, pointer = this.#here();
        reduct.exports.reduct_accumulator_save(pointer, 0, reduct.wordPointer, 0);
        const size = reduct.view.getUint32(reduct.wordPointer, true), at = reduct.exports.malloc(size);
        if (!at)
            throw new ReductError('out of memory', `WebAssembly memory: ${size} bytes could not be allocated`);
        try {
            reduct.check(reduct.exports.reduct_accumulator_save(pointer, at, reduct.wordPointer, reduct.errorPointer));
            return new Uint8Array(reduct.exports.memory.buffer, at, size).slice();
        } finally {
            reduct.exports.free(at);
        }
    }

    free() {
        registry.unregister(this);
        this.#reduct.exports.reduct_accumulator_destroy(this.#held.pointer);
        this.#held.pointer = 0;
    }

    #here() {
        if (!this.#held.pointer)
            throw new TypeError('accumulator: it has been freed');
        return this.#held.pointer;
    }

    #restore(bytes) {
        const pointer = this.#reduct.loadPointer(bytes);
        this.#reduct.exports.reduct_accumulator_destroy(this.#held.pointer);
        this.#held.pointer = pointer;
    }

    #checkData(name, data) {
        const type = checkNumbers(name, data);
        if (type !== this.element && WIDENED[type] !== this.element)
            throw new TypeError(`${name}: expected ${this.element} elements, found ${type}`);
    }
}
