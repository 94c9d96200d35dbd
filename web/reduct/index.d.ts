/* Exact reductions for browsers and Node: the types of reduct-web.
 *
 * Four ways in, from short to general:
 *   1. one call: `await sum(array)`, a promise of a number (of a bigint for integer results)
 *   2. `await reduce(operator, data, options)`: the same with the bits, the type, the count and the device
 *   3. `const reduct = await load()`, whose methods do the same on typed arrays and return at once
 *   4. accumulators, for data that comes in pieces; GpuReduct, for kernels that are encoded and timed by the caller
 */

export type Operator =
    | 'sum' | 'mean' | 'var' | 'std' | 'sumsq' | 'norm1' | 'norm2' | 'norminf' | 'rms'
    | 'dot' | 'min' | 'max' | 'argmin' | 'argmax';

export type ElementType = 'f64' | 'f32' | 'i8' | 'i16' | 'i32' | 'i64' | 'u8' | 'u16' | 'u32' | 'u64';

export type ResultType = ElementType | 'f16' | 'bf16' | 'i128' | 'u128' | 'i256';

export type Numbers =
    | Float64Array | Float32Array | Int8Array | Int16Array | Int32Array | BigInt64Array
    | Uint8Array | Uint8ClampedArray | Uint16Array | Uint32Array | BigUint64Array;

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

export interface Options {
    /* The type that the exact value is rounded to, once. Default: the element type for floats; i64 or u64 for sums of
     * integers, f64 for their means and roots. */
    result?: ResultType;
    /* What NaN elements do: give NaN (the default), count as absent, or be an error with its index. */
    nan?: 'propagate' | 'ignore' | 'error';
    /* var and std divide by n, not by n - 1. */
    population?: boolean;
    /* An integer result that does not fit is taken modulo 2^bits instead of being an error. */
    wrap?: boolean;
}

export interface GpuOptions extends Options {
    /* Where to reduce: the device of a GPUBuffer, or one to which a Float32Array is uploaded. Default: WebAssembly. */
    device?: GpuDevice;
    /* Of a GPUBuffer: first byte (a multiple of 4) and number of f32 elements. Default: all of it. */
    offset?: number;
    count?: number;
}

export interface Result {
    /* bigint for integer results (the sum of an Int32Array is an i64), except indices and elements of up to 32 bits. */
    value: number | bigint;
    /* The bits of the result as hexadecimal digits of its full width: '0x3f800000' is 1 as f32. */
    bits: string;
    type: ResultType;
    /* Elements that counted: without NaNs that were ignored. */
    count: number;
    device: 'wasm' | 'webgpu';
}

/* A failure of the library: bad arguments are TypeErrors and RangeErrors instead. */
export class ReductError extends Error {
    /* 'argument', 'unsupported', 'out of memory', 'empty', 'overflow', 'nan', 'no device', 'device lost', 'too large',
     * 'corrupt', 'version', 'mismatch' */
    readonly status: string;
    /* Of the first element at fault, where there is one (status 'nan'). */
    readonly index?: number;
}

/* One call: on WebAssembly, or on the GPU where `data` is a GPUBuffer or `options.device` is given. */
export function sum(data: Numbers | GpuBuffer, options?: GpuOptions): Promise<number | bigint>;
export function mean(data: Numbers | GpuBuffer, options?: GpuOptions): Promise<number>;
export function min(data: Numbers | GpuBuffer, options?: GpuOptions): Promise<number | bigint>;
export function max(data: Numbers | GpuBuffer, options?: GpuOptions): Promise<number | bigint>;
export function norm2(data: Numbers | GpuBuffer, options?: GpuOptions): Promise<number>;
export function dot<T extends Numbers | GpuBuffer>(x: T, y: T, options?: GpuOptions): Promise<number | bigint>;
/* Variance ('var' is a reserved word) and standard deviation, of a sample unless options.population. */
export function variance(data: Numbers | GpuBuffer, options?: GpuOptions): Promise<number>;
export function std(data: Numbers | GpuBuffer, options?: GpuOptions): Promise<number>;

/* Any operator, with everything that is known of the result. `y`: the second array of dot. On the GPU every operator
 * but argmin and argmax. */
export function reduce<T extends Numbers | GpuBuffer>(
    operator: Operator, data: T, options?: GpuOptions & { y?: T }): Promise<Result>;

/* The library in WebAssembly, loaded once. `source`: the bytes or a compiled module of reduct.wasm, where it cannot be
 * found beside this module. */
export function load(source?: BufferSource | WebAssembly.Module): Promise<Reduct>;

export class Reduct {
    private constructor();
    readonly version: string;
    /* What the module exports: `memory`, `malloc`, `free`, and the functions of reduct.h by their names. Pointers are
     * numbers, 64-bit integers bigints; views of `memory.buffer` die when it grows. */
    readonly exports: any;
    reduce(operator: Operator, data: Numbers, options?: Options & { y?: Numbers }): Result;
    sum(data: Numbers, options?: Options): number | bigint;
    mean(data: Numbers, options?: Options): number;
    min(data: Numbers, options?: Options): number | bigint;
    max(data: Numbers, options?: Options): number | bigint;
    norm2(data: Numbers, options?: Options): number;
    dot(x: Numbers, y: Numbers, options?: Options): number | bigint;
    variance(data: Numbers, options?: Options): number;
    std(data: Numbers, options?: Options): number;
    accumulator(operator: Operator, element: ElementType, options?: Options): Accumulator;
    /* From the bytes that Accumulator.save() or the C library wrote. */
    loadAccumulator(bytes: Uint8Array): Accumulator;
}

/* A partial result: any order of additions and merges gives the bits of a single pass. */
export class Accumulator {
    private constructor();
    readonly operator: Operator;
    readonly element: ElementType;
    readonly count: number;
    add(x: Numbers, y?: Numbers): this;
    merge(other: Accumulator): this;
    result(type?: ResultType): Result;
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
        /* The text of exact.wgsl, where it cannot be found beside this module. */
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
    prepare(operator: Operator, buffer: GpuBuffer, options?: Options & {
        y?: GpuBuffer; offset?: number; count?: number;
        /* Most workgroups. Default: enough for large GPUs. Changes the time, never the bits. */
        groups?: number;
    }): Promise<GpuReduction>;
}

/* A prepared reduction. It has one total on the device: finish one run before starting the next. */
export class GpuReduction {
    private constructor();
    /* Workgroups of each dispatch. */
    readonly groups: number;
    /* Dispatches the reduction, the clearing of its total included, in a GPUComputePassEncoder; as often as wanted. */
    dispatch(pass: any): void;
    /* The same in a compute pass of its own. `timestampWrites` as in GPUComputePassDescriptor. */
    encode(encoder: any, options?: { timestampWrites?: any }): void;
    /* After the submission of what was encoded: reads the total and rounds it. */
    result(): Promise<Result>;
    /* Encodes, submits and rounds. */
    run(): Promise<Result>;
    destroy(): void;
}
