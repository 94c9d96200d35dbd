/* Exact reductions for browsers and Node: the types of reduct-web.
 *
 * Four ways in, from short to general:
 *   1. one call: `await sum(array)`, a promise of a number (of a bigint for integer results)
 *   2. `await reduce(operator, data, options)`: the same with the bits, the type, the count and the device
 *   3. `const reduct = await load()`, whose methods do the same on typed arrays and return at once
 *   4. accumulators, for data that comes in pieces; GpuReduct, for kernels that are encoded and timed by the caller
 */

export type Operator = keyof Operators;

/* What the library rounds to or adds in. */
export type ResultType = keyof Types;

/* Float16Array where the engine has it, whatever TypeScript's `lib` knows of it. */
export interface Float16Numbers {
    readonly [Symbol.toStringTag]: 'Float16Array';
    readonly buffer: ArrayBufferLike;
    readonly byteOffset: number;
    readonly byteLength: number;
    readonly length: number;
    [index: number]: number;
}

/* The arrays of each type of element. */
export interface Arrays {
    f64: Float64Array;
    f32: Float32Array;
    f16: Float16Numbers;
    i8: Int8Array;
    i16: Int16Array;
    i32: Int32Array;
    i64: BigInt64Array;
    u8: Uint8Array | Uint8ClampedArray;
    u16: Uint16Array;
    u32: Uint32Array;
    u64: BigUint64Array;
}

export type ElementType = keyof Arrays;

export type Numbers = Arrays[ElementType];

/* What can be reduced. */
export type Data = Numbers | GpuBuffer;

/* The type of an array's elements; f32 for a GPUBuffer. */
export type ElementOf<D> = D extends GpuBuffer ? 'f32' : { [E in ElementType]: D extends Arrays[E] ? E : never }[ElementType];

/* ---------------------------------------------------------------------------------------------------------------------
 * Result types: "Result types" of docs/numerics.md
 * ------------------------------------------------------------------------------------------------------------------ */

type Named<Table, Pattern> = { [K in keyof Table]: Table[K] extends Pattern ? K : never }[keyof Table];

type Floats = Named<Types, { kind: 'float' }>;
type WideIntegers = Named<Types, { kind: 'signed' | 'unsigned'; bytes: 8 | 16 | 32 }>;
type UnsignedOf<E extends ElementType> = E extends `i${infer Bits}` ? `u${Bits}` & ResultType : E;

type Indices = Named<Operators, { finish: 'index' }> | Named<Operators, { combine: 'add'; transform: 'present' | 'nonzero' }>;
type Truths = Named<Operators, { combine: 'and' | 'or'; transform: 'nonzero' }>;
type Bits = Exclude<Named<Operators, { combine: 'and' | 'or' | 'xor' }>, Truths>;
type Ranges = Named<Operators, { finish: 'range' }>;
type Extremes = Exclude<Named<Operators, { combine: 'least' | 'greatest' | 'both' }>, Indices | Ranges>;
type Pairs = Named<Operators, { combine: 'both'; finish: 'value' }>;
type Magnitudes = Named<Operators, { transform: 'absolute' | 'square' }>;
type Products = Named<Operators, { combine: 'multiply' }>;
type Values = Named<Operators, { finish: 'value' }>;

/* The type of a result where none is asked for. */
export type DefaultResult<O extends Operator, E extends ElementType> =
    O extends Indices ? 'u64'
    : O extends Truths ? 'bool'
    : O extends Bits ? (E extends Floats ? never : E)
    : O extends Ranges ? UnsignedOf<E>
    : O extends Extremes ? (O extends Magnitudes ? UnsignedOf<E> : E)
    : E extends Floats ? E
    : O extends Values ? (O extends Magnitudes ? 'u64' : E extends `u${string}` ? 'u64' : 'i64')
    : 'f64';

/* The types that can be asked for. */
export type ResultOf<O extends Operator, E extends ElementType> =
    | DefaultResult<O, E>
    | (O extends Indices | Extremes | Truths | Bits ? never
        : O extends Ranges ? (E extends Floats ? Floats : never)
        : E extends Floats ? Floats
        : (O extends Values ? WideIntegers : never) | (O extends Products ? never : Floats));

type OneValue<O extends Operator, R extends ResultType> = O extends Indices ? number : R extends WideIntegers ? bigint : number;

/* How a result comes out in JavaScript: integers of 64 bits and more as bigints, all others, indices and counts as numbers; of
 * minmax two of them. */
export type Value<O extends Operator, R extends ResultType> =
    [R] extends [never] ? undefined /* bits of floats, which mean nothing */
    : O extends Pairs ? [OneValue<O, R>, OneValue<O, R>] : OneValue<O, R>;

/* What is used of WebGPU's objects, so that no other package of types is needed. */
export interface GpuBuffer {
    readonly size: number;
    readonly usage: number;
    readonly label: string;
    mapAsync(mode: number, offset?: number, size?: number): Promise<undefined | void>;
}
export interface GpuDevice {
    readonly limits: unknown;
    readonly queue: unknown;
    createBuffer(descriptor: any): any;
    createComputePipelineAsync(descriptor: any): Promise<any>;
}

export interface Options<R extends ResultType = ResultType> {
    /* The type that the exact value is rounded to, once. Default: the element type for floats; i64 or u64 for sums of
     * integers, f64 for their means and roots. */
    result?: R | undefined;
    /* What NaN elements do: give NaN (the default), count as absent, or be an error with its index. */
    nan?: NanPolicy;
    /* var and std divide by n, not by n - 1. */
    population?: boolean;
    /* An integer result that does not fit is taken modulo 2^bits instead of being an error. */
    wrap?: boolean;
}

/* Of f32, which devices reduce. */
export interface DeviceOptions<R extends ResultType = ResultType> extends Options<R> {
    /* Where to reduce: the device of a GPUBuffer, or one to which a Float32Array is uploaded. Default: WebAssembly. */
    device?: GpuDevice;
}

export interface GpuOptions<R extends ResultType = ResultType> extends DeviceOptions<R> {
    /* Of a GPUBuffer: first byte (a multiple of 4) and number of f32 elements. Default: all of it. */
    offset?: number;
    count?: number;
}

/* What can be said of a reduction of this data. */
export type OptionsOf<D extends Data, R extends ResultType> =
    [D] extends [Numbers] ? ([ElementOf<D>] extends ['f32'] ? DeviceOptions<R> : Options<R>)
    : [ElementOf<D>] extends ['f32'] ? GpuOptions<R>
    : Options<R>;

export interface Result<O extends Operator = Operator, R extends ResultType = ResultType> {
    /* bigint for integer results (the sum of an Int32Array is an i64), except indices, counts and elements of up to 32 bits. */
    value: Value<O, R>;
    /* The bits of the result as hexadecimal digits of its full width: '0x3f800000' is 1 as f32; of two values two of these. */
    bits: O extends Pairs ? [string, string] : string;
    type: R;
    /* Elements that counted: without NaNs that were ignored. */
    count: number;
    device: 'wasm' | 'webgpu';
}

/* A failure of the library: bad arguments are TypeErrors and RangeErrors instead. */
export class ReductError extends Error {
    readonly status: Status;
    /* Of the first element at fault, where there is one (status 'nan'). */
    readonly index?: number;
}

/* One call: on WebAssembly, or on the GPU where `data` is a GPUBuffer or `options.device` is given. An array is read some
 * time before the promise is fulfilled: leave it as it is until then. */
export function sum<D extends Data, R extends ResultOf<'sum', ElementOf<D>> = DefaultResult<'sum', ElementOf<D>>>(
    data: D, options?: OptionsOf<D, R>): Promise<Value<'sum', R>>;
export function mean<D extends Data, R extends ResultOf<'mean', ElementOf<D>> = DefaultResult<'mean', ElementOf<D>>>(
    data: D, options?: OptionsOf<D, R>): Promise<Value<'mean', R>>;
export function min<D extends Data, R extends ResultOf<'min', ElementOf<D>> = DefaultResult<'min', ElementOf<D>>>(
    data: D, options?: OptionsOf<D, R>): Promise<Value<'min', R>>;
export function max<D extends Data, R extends ResultOf<'max', ElementOf<D>> = DefaultResult<'max', ElementOf<D>>>(
    data: D, options?: OptionsOf<D, R>): Promise<Value<'max', R>>;
export function norm2<D extends Data, R extends ResultOf<'norm2', ElementOf<D>> = DefaultResult<'norm2', ElementOf<D>>>(
    data: D, options?: OptionsOf<D, R>): Promise<Value<'norm2', R>>;
export function dot<D extends Data, R extends ResultOf<'dot', ElementOf<D>> = DefaultResult<'dot', ElementOf<D>>>(
    x: D, y: D, options?: OptionsOf<D, R>): Promise<Value<'dot', R>>;
/* In WebAssembly only: of floats, the bits depend on the order, and are those that docs/numerics.md defines. */
export function product<D extends Numbers, R extends ResultOf<'product', ElementOf<D>> = DefaultResult<'product', ElementOf<D>>>(
    data: D, options?: Options<R>): Promise<Value<'product', R>>;
/* Variance ('var' is a reserved word) and standard deviation, of a sample unless options.population. */
export function variance<D extends Data, R extends ResultOf<'var', ElementOf<D>> = DefaultResult<'var', ElementOf<D>>>(
    data: D, options?: OptionsOf<D, R>): Promise<Value<'var', R>>;
export function std<D extends Data, R extends ResultOf<'std', ElementOf<D>> = DefaultResult<'std', ElementOf<D>>>(
    data: D, options?: OptionsOf<D, R>): Promise<Value<'std', R>>;

/* Any operator, with everything that is known of the result. `y`: the second array of dot and weighted_mean. On the GPU the
 * operators of GpuOperator. */
export function reduce<O extends Operator, D extends Data, R extends ResultOf<O, ElementOf<D>> = DefaultResult<O, ElementOf<D>>>(
    operator: O, data: D, options?: OptionsOf<D, R> & { y?: D | undefined }): Promise<Result<O, R>>;

/* Every operator's name. */
export const OPERATORS: readonly Operator[];

/* The library in WebAssembly, loaded once. `source`: the bytes or a compiled module of reduct.wasm, to be used
 * instead of what the package holds; for instance one that is fetched and compiled as it streams. */
export function load(source?: ArrayBuffer | ArrayBufferView | CompiledModule): Promise<Reduct>;

/* A WebAssembly.Module, which not every `lib` of TypeScript knows. */
export type CompiledModule = object;

export class Reduct {
    private constructor();
    readonly version: string;
    /* What the module exports: `memory`, `malloc`, `free`, and the functions of reduct.h by their names. Pointers are
     * numbers, 64-bit integers bigints; views of `memory.buffer` die when it grows. */
    readonly exports: any;
    reduce<O extends Operator, D extends Numbers, R extends ResultOf<O, ElementOf<D>> = DefaultResult<O, ElementOf<D>>>(
        operator: O, data: D, options?: Options<R> & { y?: D | undefined }): Result<O, R>;
    sum<D extends Numbers, R extends ResultOf<'sum', ElementOf<D>> = DefaultResult<'sum', ElementOf<D>>>(
        data: D, options?: Options<R>): Value<'sum', R>;
    mean<D extends Numbers, R extends ResultOf<'mean', ElementOf<D>> = DefaultResult<'mean', ElementOf<D>>>(
        data: D, options?: Options<R>): Value<'mean', R>;
    min<D extends Numbers, R extends ResultOf<'min', ElementOf<D>> = DefaultResult<'min', ElementOf<D>>>(
        data: D, options?: Options<R>): Value<'min', R>;
    max<D extends Numbers, R extends ResultOf<'max', ElementOf<D>> = DefaultResult<'max', ElementOf<D>>>(
        data: D, options?: Options<R>): Value<'max', R>;
    norm2<D extends Numbers, R extends ResultOf<'norm2', ElementOf<D>> = DefaultResult<'norm2', ElementOf<D>>>(
        data: D, options?: Options<R>): Value<'norm2', R>;
    product<D extends Numbers, R extends ResultOf<'product', ElementOf<D>> = DefaultResult<'product', ElementOf<D>>>(
        data: D, options?: Options<R>): Value<'product', R>;
    variance<D extends Numbers, R extends ResultOf<'var', ElementOf<D>> = DefaultResult<'var', ElementOf<D>>>(
        data: D, options?: Options<R>): Value<'var', R>;
    std<D extends Numbers, R extends ResultOf<'std', ElementOf<D>> = DefaultResult<'std', ElementOf<D>>>(
        data: D, options?: Options<R>): Value<'std', R>;
    dot<D extends Numbers, R extends ResultOf<'dot', ElementOf<D>> = DefaultResult<'dot', ElementOf<D>>>(
        x: D, y: D, options?: Options<R>): Value<'dot', R>;
    accumulator<O extends Operator, E extends ElementType, R extends ResultOf<O, E> = DefaultResult<O, E>>(
        operator: O, element: E, options?: Options<R>): Accumulator<O, E, R>;
    /* From the bytes that Accumulator.save() or the C library wrote. Where they may hold a minmax, whose value is a pair, say so:
     * loadAccumulator<'minmax'>(bytes). */
    loadAccumulator<O extends Operator = Exclude<Operator, Pairs>>(bytes: Uint8Array): Accumulator<O>;
}

/* A partial result: any order of additions and merges gives the bits of a single pass (products of floats: in order, and
 * merged only where their tree allows it). An accumulator of f32 takes f16 too. */
export class Accumulator<O extends Operator = Operator, E extends ElementType = ElementType, R extends ResultType = ResultType> {
    private constructor();
    readonly operator: O;
    readonly element: E;
    readonly count: number;
    add(x: Arrays[E] | (E extends 'f32' ? Float16Numbers : never), y?: Arrays[E] | (E extends 'f32' ? Float16Numbers : never)): this;
    merge(other: Accumulator<O, E, ResultType>): this;
    result(): Result<O, R>;
    result<T extends ResultOf<O, E>>(type: T | undefined): Result<O, T>;
    save(): Uint8Array;
    /* Gives its memory back; what is not freed is freed when it is collected. */
    free(): void;
}

/* The exact kernels on one WebGPU device, for callers who encode and time them. f32 elements. */
export class GpuReduct {
    private constructor();
    static create(device: GpuDevice, options?: {
        /* Threads of a workgroup, a power of two from 64 to 1024 or the device's limit. Default: 256, or the limit if less. */
        workgroupSize?: number;
        /* Another text of exact.wgsl than the one that the package holds. */
        source?: string;
        /* The library that rounds. Default: load(). */
        reduct?: Reduct;
    }): Promise<GpuReduct>;
    readonly device: GpuDevice;
    readonly workgroupSize: number;
    /* The WGSL text that runs. */
    readonly source: string;
    /* Makes pipelines, bindings and the device's accumulator, once for as many runs as wanted. The buffers need
     * GPUBufferUsage.STORAGE. */
    prepare<O extends GpuOperator, R extends ResultOf<O, 'f32'> = DefaultResult<O, 'f32'>>(
        operator: O, buffer: GpuBuffer, options?: Options<R> & {
            y?: GpuBuffer | undefined; offset?: number; count?: number;
            /* Most workgroups. Default: enough for large GPUs. Changes the time, never the bits. */
            groups?: number;
        }): Promise<GpuReduction<O, R>>;
}

/* Those that exact.wgsl has: sums and single extremes, but for what depends on the order of the elements. */
export type GpuOperator = Exclude<Operator, Indices | Products | Truths | Bits | Ranges | Pairs | 'weighted_mean'>;

/* A prepared reduction. It has one total on the device: finish one run before starting the next. */
export class GpuReduction<O extends GpuOperator = GpuOperator, R extends ResultType = ResultType> {
    private constructor();
    /* Workgroups of each dispatch. */
    readonly groups: number;
    /* Dispatches the reduction, the clearing of its total included, in a GPUComputePassEncoder; as often as wanted. */
    dispatch(pass: any): void;
    /* The same in a compute pass of its own. `timestampWrites` as in GPUComputePassDescriptor. */
    encode(encoder: any, options?: { timestampWrites?: any }): void;
    /* After the submission of what was encoded: reads the total and rounds it. */
    result(): Promise<Result<O, R>>;
    /* Encodes, submits and rounds. */
    run(): Promise<Result<O, R>>;
    destroy(): void;
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* Generated by web/wasm/generate.js from include/reduct/: change that, and run it again. */

interface Operators {
    sum: { transform: 'identity'; combine: 'add'; finish: 'value' };
    mean: { transform: 'identity'; combine: 'add'; finish: 'mean' };
    var: { transform: 'moments'; combine: 'add'; finish: 'variance' };
    std: { transform: 'moments'; combine: 'add'; finish: 'deviation' };
    sumsq: { transform: 'square'; combine: 'add'; finish: 'value' };
    norm1: { transform: 'absolute'; combine: 'add'; finish: 'value' };
    norm2: { transform: 'square'; combine: 'add'; finish: 'root' };
    norminf: { transform: 'absolute'; combine: 'greatest'; finish: 'value' };
    rms: { transform: 'square'; combine: 'add'; finish: 'root_mean' };
    dot: { transform: 'times'; combine: 'add'; finish: 'value' };
    min: { transform: 'identity'; combine: 'least'; finish: 'value' };
    max: { transform: 'identity'; combine: 'greatest'; finish: 'value' };
    argmin: { transform: 'identity'; combine: 'least'; finish: 'index' };
    argmax: { transform: 'identity'; combine: 'greatest'; finish: 'index' };
    product: { transform: 'identity'; combine: 'multiply'; finish: 'value' };
    count: { transform: 'present'; combine: 'add'; finish: 'value' };
    count_nonzero: { transform: 'nonzero'; combine: 'add'; finish: 'value' };
    any: { transform: 'nonzero'; combine: 'or'; finish: 'value' };
    all: { transform: 'nonzero'; combine: 'and'; finish: 'value' };
    and: { transform: 'identity'; combine: 'and'; finish: 'value' };
    or: { transform: 'identity'; combine: 'or'; finish: 'value' };
    xor: { transform: 'identity'; combine: 'xor'; finish: 'value' };
    minmax: { transform: 'identity'; combine: 'both'; finish: 'value' };
    ptp: { transform: 'identity'; combine: 'both'; finish: 'range' };
    weighted_mean: { transform: 'weighted'; combine: 'add'; finish: 'quotient' };
}

interface Types {
    f64: { kind: 'float'; bytes: 8 };
    f32: { kind: 'float'; bytes: 4 };
    f16: { kind: 'float'; bytes: 2 };
    bf16: { kind: 'float'; bytes: 2 };
    i8: { kind: 'signed'; bytes: 1 };
    i16: { kind: 'signed'; bytes: 2 };
    i32: { kind: 'signed'; bytes: 4 };
    i64: { kind: 'signed'; bytes: 8 };
    u8: { kind: 'unsigned'; bytes: 1 };
    u16: { kind: 'unsigned'; bytes: 2 };
    u32: { kind: 'unsigned'; bytes: 4 };
    u64: { kind: 'unsigned'; bytes: 8 };
    i128: { kind: 'signed'; bytes: 16 };
    u128: { kind: 'unsigned'; bytes: 16 };
    i256: { kind: 'signed'; bytes: 32 };
    bool: { kind: 'unsigned'; bytes: 1 };
}

/* Every way in which the library can fail. */
export type Status =
    | 'argument'
    | 'unsupported'
    | 'out of memory'
    | 'empty'
    | 'overflow'
    | 'nan'
    | 'no device'
    | 'device lost'
    | 'too large'
    | 'corrupt'
    | 'version'
    | 'mismatch'
    | 'callback';

export type NanPolicy =
    | 'propagate'
    | 'ignore'
    | 'error';
