/* The C library in WebAssembly: reductions of typed arrays, and accumulators.
 *
 * Data are copied into the module's memory piece by piece, so that arrays of any size need little of it, and added to
 * an accumulator of the library. Exact results do not depend on how data are cut, so neither do these bits.
 */

/* Bytes of a piece: it stays in the processor's second-level cache between being copied and being read. */
const PIECE = 1 << 18;

/* The C structures of reduct.h, and room for the widest result and for a 64-bit number. */
const REDUCTION_BYTES = 24, ERROR_BYTES = 256, RESULT_BYTES = 32, WORD_BYTES = 8;
const ERROR_INDEX = 8, ERROR_MESSAGE = 16;
const NO_INDEX = 2n ** 64n - 1n;

const STATUSES = ['ok', 'argument', 'unsupported', 'out of memory', 'empty', 'overflow', 'nan', 'no device',
    'device lost', 'too large', 'corrupt', 'version', 'mismatch'];

const ELEMENT_TYPES = {
    Float64Array: 'f64', Float32Array: 'f32', Int8Array: 'i8', Int16Array: 'i16', Int32Array: 'i32',
    BigInt64Array: 'i64', Uint8Array: 'u8', Uint8ClampedArray: 'u8', Uint16Array: 'u16', Uint32Array: 'u32',
    BigUint64Array: 'u64',
};

const NAN_POLICIES = ['propagate', 'ignore', 'error'];
const POPULATION = 1, WRAP = 2;

export const OPERATORS = ['sum', 'mean', 'var', 'std', 'sumsq', 'norm1', 'norm2', 'norminf', 'rms', 'dot', 'min', 'max',
    'argmin', 'argmax'];

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

/* The element type of a typed array; undefined for anything else. */
export function elementType(data) {
    return ArrayBuffer.isView(data) ? ELEMENT_TYPES[data[Symbol.toStringTag]] : undefined;
}

function checkNumbers(name, data) {
    const type = elementType(data);
    if (type)
        return type;
    const advice = Array.isArray(data) ? '; convert it, as in Float64Array.from(data)' : '';
    throw new TypeError(`${name}: expected one of ${Object.keys(ELEMENT_TYPES).join(', ')}, found ${describe(data)}${advice}`);
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

/* The value of an IEEE 754 binary16. */
function fromHalf(bits) {
    const sign = bits >> 15 ? -1 : 1, field = bits >> 10 & 31, fraction = bits & 1023;
    if (field === 31)
        return fraction ? NaN : sign * Infinity;
    return sign * (field ? (1024 + fraction) * 2 ** (field - 25) : fraction * 2 ** -24);
}

function fromBfloat(bits) {
    const view = new DataView(new ArrayBuffer(4));
    view.setUint32(0, bits << 16);
    return view.getFloat32(0);
}

/* An integer of any width from its bytes. */
function wideInteger(bytes, signed) {
    let value = 0n;
    for (let i = bytes.length - 1; i >= 0; i--)
        value = value << 8n | BigInt(bytes[i]);
    return signed ? BigInt.asIntN(8 * bytes.length, value) : value;
}

function decode(bytes, type) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    switch (type) {
    case 'f64':
        return view.getFloat64(0, true);
    case 'f32':
        return view.getFloat32(0, true);
    case 'f16':
        return fromHalf(view.getUint16(0, true));
    case 'bf16':
        return fromBfloat(view.getUint16(0, true));
    default: {
        const value = wideInteger(bytes, type[0] === 'i');
        return bytes.length <= 4 ? Number(value) : value;
    }
    }
}

function hexadecimal(bytes) {
    return '0x' + Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).reverse().join('');
}

/* ------------------------------------------------------------------------------------------------------------------ */

export class Reduct {
    /* What the module exports: `memory`, `malloc`, `free`, and the functions of reduct.h by their names. Pointers are
     * numbers, 64-bit integers bigints; views of `memory.buffer` die when it grows. */
    exports;
    #scratch; /* a reduction, an error, a result, a word; then room for a name */
    #piece;

    constructor(instance) {
        this.exports = instance.exports;
        this.exports._initialize();
        this.#scratch = this.#allocate(REDUCTION_BYTES + ERROR_BYTES + RESULT_BYTES + WORD_BYTES + 32);
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
        this.check(this.exports.reduct_accumulator_create(this.reductionPointer, 0, 1, this.wordPointer,
            this.errorPointer));
        return new Accumulator(this, this.view.getUint32(this.wordPointer, true), operator, element);
    }

    loadAccumulator(bytes) {
        if (elementType(bytes) !== 'u8')
            throw new TypeError(`bytes: expected a Uint8Array, found ${describe(bytes)}`);
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

    get errorPointer() {
        return this.#scratch + REDUCTION_BYTES;
    }

    get resultPointer() {
        return this.errorPointer + ERROR_BYTES;
    }

    get wordPointer() {
        return this.resultPointer + RESULT_BYTES;
    }

    /* Writes a reduction, whose options have been checked to be known, to reductionPointer, and resolves its result type. */
    reductionAt(operator, element, options) {
        const policy = NAN_POLICIES.indexOf(options.nan ?? 'propagate');
        if (policy < 0)
            throw new TypeError(`options.nan: expected one of ${NAN_POLICIES.join(', ')}, found ${describe(options.nan)}`);
        const flags = (checkFlag(options, 'population') ? POPULATION : 0) | (checkFlag(options, 'wrap') ? WRAP : 0);
        const result = options.result === undefined ? 0 : this.typeNumber('options.result', options.result);
        const fields = [this.#parse('operator', 'operator', operator), this.typeNumber('element', element), result, 0,
            policy, flags];
        fields.forEach((field, i) => this.view.setUint32(this.reductionPointer + 4 * i, field, true));
        this.check(this.exports.reduct_reduction_resolve(this.reductionPointer, this.errorPointer));
    }

    typeNumber(name, type) {
        return this.#parse('type', name, type);
    }

    /* The result of a type that lies at resultPointer. */
    resultOf(type, operator, count, device) {
        const number = typeof type === 'number' ? type : this.typeNumber('type', type);
        const name = this.#text(this.exports.reduct_type_name(number));
        const bytes = new Uint8Array(this.exports.memory.buffer, this.resultPointer, this.exports.reduct_type_size(number)).slice();
        let value = decode(bytes, name);
        if (operator.startsWith('arg'))
            value = Number(value);
        return { value, bits: hexadecimal(bytes), type: name, count: Number(count), device };
    }

    /* The type of results of the reduction at reductionPointer. */
    get resultTypeNumber() {
        return this.view.getUint32(this.reductionPointer + 8, true);
    }

    /* Loads an accumulator of the library. */
    loadPointer(bytes) {
        this.withBytes(bytes, at => this.check(this.exports.reduct_accumulator_load(at, bytes.length, 0, 1,
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
        throw new ReductError(STATUSES[status], this.#text(this.errorPointer + ERROR_MESSAGE),
            index === NO_INDEX ? undefined : Number(index));
    }

    /* Copies numbers in, a piece at a time; calls `use` with where x and y are and how many. */
    pieces(x, y, use) {
        const step = PIECE / x.BYTES_PER_ELEMENT;
        for (let at = 0; at < x.length; at += step) {
            const count = Math.min(step, x.length - at);
            new x.constructor(this.exports.memory.buffer, this.#piece, count).set(x.subarray(at, at + count));
            if (y)
                new y.constructor(this.exports.memory.buffer, this.#piece + PIECE, count).set(y.subarray(at, at + count));
            use(this.#piece, y ? this.#piece + PIECE : 0, count);
        }
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

    /* The number of a name in one of the library's tables. */
    #parse(table, argument, name) {
        const at = this.wordPointer + WORD_BYTES, bytes = new TextEncoder().encode(String(name)).slice(0, 31);
        new Uint8Array(this.exports.memory.buffer, at, bytes.length + 1).set([...bytes, 0]);
        if (typeof name !== 'string' || this.exports[`reduct_${table}_parse`](at, this.wordPointer) !== 0)
            throw new TypeError(`${argument}: expected a ${table} such as ${table === 'type' ? 'f64' : 'sum'}, found ${describe(name)}`);
        return this.view.getUint32(this.wordPointer, true);
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
        if (this.operator === 'dot') {
            this.#checkData('y', y);
            if (x.length !== y.length)
                throw new RangeError(`y: expected as many elements as x has, ${x.length}, found ${y.length}`);
        } else if (y !== undefined) {
            throw new TypeError(`y: ${this.operator} reads one array`);
        }
        const saved = x.byteLength > PIECE ? this.save() : undefined;
        try {
            reduct.pieces(x, y, (atX, atY, count) =>
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
        const number = type === undefined ? 0 : reduct.typeNumber('type', type);
        reduct.check(reduct.exports.reduct_accumulator_result(pointer, number, reduct.resultPointer, reduct.errorPointer));
        reduct.exports.reduct_accumulator_reduction(reduct.reductionPointer, pointer);
        return reduct.resultOf(number || reduct.resultTypeNumber, this.operator, this.count, 'wasm');
    }

    save() {
        const reduct = this.#reduct, pointer = this.#here();
        reduct.exports.reduct_accumulator_save(pointer, 0, reduct.wordPointer);
        const size = reduct.view.getUint32(reduct.wordPointer, true), at = reduct.exports.malloc(size);
        if (!at)
            throw new ReductError('out of memory', `WebAssembly memory: ${size} bytes could not be allocated`);
        try {
            reduct.check(reduct.exports.reduct_accumulator_save(pointer, at, reduct.wordPointer));
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
        if (type !== this.element)
            throw new TypeError(`${name}: expected ${this.element} elements, found ${type}`);
    }
}
