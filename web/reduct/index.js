/* reduct-web: exact reductions in browsers and Node. index.d.ts documents what is exported here. */
import { GpuReduct, isGpuBuffer } from './gpu.js';
import { load } from './load.js';
import { REDUCTION_OPTIONS, checkNumbers, checkOperator, checkOptions, describe } from './wasm.js';

export { Accumulator, OPERATORS, Reduct, ReductError } from './wasm.js';
export { GpuReduct, GpuReduction } from './gpu.js';
export { load } from './load.js';

/* Kernels for a device, made once. */
const engines = new WeakMap();

function engineOf(device) {
    if (typeof device?.createComputePipelineAsync !== 'function')
        throw new TypeError(`options.device: expected a GPUDevice, found ${describe(device)}`);
    if (!engines.has(device)) {
        const engine = GpuReduct.create(device);
        engines.set(device, engine);
        engine.catch(() => engines.delete(device));
    }
    return engines.get(device);
}

function checkUpload(name, data) {
    if (checkNumbers(name, data) !== 'f32')
        throw new TypeError(`${name}: a device reduces a Float32Array or a GPUBuffer of f32, found ${describe(data)}`);
}

/* WebGPU takes no views of resizable buffers, and its implementation for Node crashes on shared ones. */
const isPlain = buffer => buffer[Symbol.toStringTag] === 'ArrayBuffer' && !buffer.resizable;

/* Calls use(buffer) with f32 data in a buffer of the device: itself, or a copy. */
async function withBuffers(device, arrays, use) {
    const made = arrays.map(data => {
        if (data === undefined || isGpuBuffer(data))
            return data;
        if (data.byteLength > device.limits.maxBufferSize)
            throw new RangeError(`data: ${data.byteLength} bytes do not fit a buffer of this device, which holds ${device.limits.maxBufferSize}; ask for more in requestDevice(), or leave the device out`);
        const buffer = device.createBuffer({ label: 'reduct data', usage: GPU_STORAGE | GPU_COPY_DST,
            size: Math.max(data.byteLength, 4) });
        device.queue.writeBuffer(buffer, 0, isPlain(data.buffer) ? data : data.slice());
        return buffer;
    });
    try {
        return await use(...made);
    } finally {
        made.forEach((buffer, i) => buffer !== arrays[i] && buffer.destroy());
    }
}
const GPU_STORAGE = 0x80, GPU_COPY_DST = 0x08;

async function reduceOnDevice(operator, data, options) {
    const { device, y, ...rest } = options;
    if (!device)
        throw new TypeError('options.device: a GPUBuffer needs the GPUDevice that made it');
    const engine = await engineOf(device);
    if (y !== undefined && isGpuBuffer(y) !== isGpuBuffer(data))
        throw new TypeError('y: expected the same kind of data as the first array');
    if (!isGpuBuffer(data)) {
        if (rest.offset !== undefined || rest.count !== undefined)
            throw new TypeError('options: offset and count are for GPUBuffers; give a subarray()');
        checkUpload('data', data);
        if (y !== undefined)
            checkUpload('y', y);
        rest.count = data.length;
        if (y !== undefined && y.length !== data.length)
            throw new RangeError(`y: expected as many elements as x has, ${data.length}, found ${y.length}`);
    }
    return withBuffers(device, [data, y], async (buffer, second) => {
        const reduction = await engine.prepare(operator, buffer, { ...rest, y: second });
        try {
            return await reduction.run();
        } finally {
            reduction.destroy();
        }
    });
}

export async function reduce(operator, data, options = {}) {
    checkOperator(operator);
    checkOptions(options, [...REDUCTION_OPTIONS, 'y', 'device', 'offset', 'count']);
    if (isGpuBuffer(data) || options.device !== undefined)
        return reduceOnDevice(operator, data, options);
    const { device, offset, count, ...rest } = options;
    if (offset !== undefined || count !== undefined)
        throw new TypeError('options: offset and count are for GPUBuffers; give a subarray()');
    return (await load()).reduce(operator, data, rest);
}

async function valueOf(operator, data, options) {
    return (await reduce(operator, data, options)).value;
}

export const sum = (data, options) => valueOf('sum', data, options);
export const mean = (data, options) => valueOf('mean', data, options);
export const min = (data, options) => valueOf('min', data, options);
export const max = (data, options) => valueOf('max', data, options);
export const norm2 = (data, options) => valueOf('norm2', data, options);
export const variance = (data, options) => valueOf('var', data, options);
export const std = (data, options) => valueOf('std', data, options);
export const product = (data, options) => valueOf('product', data, options);
export const dot = (x, y, options) => valueOf('dot', x, { ...options, y });
