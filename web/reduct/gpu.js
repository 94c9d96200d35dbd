/* Exact reductions on a WebGPU device: exact.wgsl adds without rounding and leaves a total of 48 words; the library in
 * WebAssembly rounds it. */
import { kernels, load } from './load.js';
import { OPERATORS as OPERATOR_TABLE } from './tables.js';
import { REDUCTION_OPTIONS, ReductError, checkOperator, checkOptions, describe, readsTwo } from './wasm.js';

/* WebGPU's flags, whose names are not defined everywhere where a device may come from. */
const MAP_READ = 0x1, COPY_SRC = 0x4, COPY_DST = 0x8, UNIFORM = 0x40, STORAGE = 0x80, READ = 0x1;

/* Of exact.wgsl: words of a total; most elements of a tile, tiles of a workgroup, and workgroups of a total. */
const WORDS = 48, TILE_MOST = 1 << 13, TILES_MOST = 64, GROUPS_MOST = 1 << 13;
const COUNT_MOST = 2 ** 31; /* in half of the tiles that GROUPS_MOST leaves, since parts are rounded up to whole ones */
const TRANSFORMS = { identity: 0, absolute: 1, times: 2, square: 3 };

/* The passes over the data that an operator takes, and the entry point and transform of each. None for what depends on
 * the order of the elements, and for what exact.wgsl has no transform of. */
function passesOf({ transform, combine, finish }) {
    if (!['add', 'least', 'greatest'].includes(combine) || !(transform in TRANSFORMS || transform === 'moments') || finish === 'index')
        return undefined;
    const entryPoint = combine === 'add' ? 'sums' : 'extremes';
    return (transform === 'moments' ? ['identity', 'square'] : [transform]).map(which => ({ entryPoint, transform: which }));
}
const PASSES = Object.fromEntries(Object.entries(OPERATOR_TABLE).map(([name, operator]) => [name, passesOf(operator)]));

/* Workgroups: enough to keep large GPUs busy, few enough that each has something to do. */
const GROUPS_WANTED = 1024, GROUPS_WORTH = 256;

const totalBytes = 4 * WORDS;

export function isGpuBuffer(data) {
    return typeof data === 'object' && data !== null && typeof data.mapAsync === 'function' && typeof data.usage === 'number';
}

/* A whole number of an option, within bounds. */
function checkInteger(name, value, least, most, multiple = 1) {
    if (!Number.isSafeInteger(value) || value < least || value > most || value % multiple)
        throw new RangeError(`${name}: expected ${multiple > 1 ? `a multiple of ${multiple}` : 'an integer'} from ${least} to ${most}, found ${describe(value)}`);
    return value;
}

function checkBuffer(name, buffer, offset, count) {
    if (!isGpuBuffer(buffer))
        throw new TypeError(`${name}: expected a GPUBuffer, found ${describe(buffer)}`);
    if (!(buffer.usage & STORAGE))
        throw new TypeError(`${name}: the GPUBuffer was created without GPUBufferUsage.STORAGE, which reading it in a shader needs`);
    checkInteger('options.offset', offset, 0, buffer.size, 4);
    const room = Math.floor((buffer.size - offset) / 4);
    return checkInteger('options.count', count ?? room, 0, Math.min(room, COUNT_MOST));
}

/* Does work() and throws what the device found wrong with it, which would otherwise show as a wrong result only. */
async function validated(device, work) {
    device.pushErrorScope('validation');
    let made, found;
    try {
        made = work();
    } finally {
        found = device.popErrorScope();
    }
    const error = await found.catch(() => undefined); /* the device is lost, which reading back will tell */
    if (error)
        throw new TypeError(`WebGPU: ${error.message}`);
    return made;
}

export class GpuReduct {
    #reduct;
    #module;
    #pipelines = new Map();

    static async create(device, options = {}) {
        if (typeof device?.createComputePipelineAsync !== 'function')
            throw new TypeError(`device: expected a GPUDevice, found ${describe(device)}`);
        checkOptions(options, ['workgroupSize', 'source', 'reduct']);
        const most = Math.min(device.limits.maxComputeInvocationsPerWorkgroup, device.limits.maxComputeWorkgroupSizeX, 1024);
        const size = options.workgroupSize ?? Math.min(256, most);
        checkInteger('options.workgroupSize', size, 64, most);
        if (size & (size - 1))
            throw new RangeError(`options.workgroupSize: expected a power of two, found ${size}`);
        const source = options.source ?? await kernels();
        return new GpuReduct(device, size, source, options.reduct ?? await load());
    }

    constructor(device, workgroupSize, source, reduct) {
        this.device = device;
        this.workgroupSize = workgroupSize;
        this.source = source;
        this.#reduct = reduct;
        this.#module = device.createShaderModule({ label: 'exact.wgsl', code: source });
    }

    async prepare(operator, buffer, options = {}) {
        checkOperator(operator);
        checkOptions(options, [...REDUCTION_OPTIONS, 'y', 'offset', 'count', 'groups']);
        if (!PASSES[operator])
            throw new TypeError(`operator: ${operator} is not done on a device; it is on arrays, in WebAssembly`);
        const { y, offset = 0, count, groups, ...reduction } = options;
        if (readsTwo(operator) !== (y !== undefined))
            throw new TypeError(`y: ${operator} reads ${readsTwo(operator) ? 'two arrays' : 'one array'}`);
        const size = checkBuffer('data', buffer, offset, count);
        if (y !== undefined)
            checkBuffer('y', y, offset, size);
        if (groups !== undefined)
            checkInteger('options.groups', groups, 1, 4096);
        this.#reduct.reductionAt(operator, 'f32', reduction); /* checks the rest */
        const passes = await Promise.all(PASSES[operator].map(async pass => ({ ...pass, ...await this.#pipeline(pass) })));
        return validated(this.device, () => new GpuReduction(this.device, this.#reduct, { operator, reduction, passes,
            buffer, y, offset, count: size, groups, workgroupSize: this.workgroupSize }));
    }

    /* The pipelines of a pass, made once. */
    #pipeline({ entryPoint, transform }) {
        const key = `${entryPoint} ${transform}`;
        if (!this.#pipelines.has(key)) {
            const make = (entry, constants) => this.device.createComputePipelineAsync({ label: `exact ${key}`, layout: 'auto',
                compute: { module: this.#module, entryPoint: entry, constants } });
            const made = Promise.all([make('clear', {}),
                make(entryPoint, { size: this.workgroupSize, transform: TRANSFORMS[transform] })]);
            this.#pipelines.set(key, made.then(([clear, add]) => ({ clear, add })));
        }
        return this.#pipelines.get(key);
    }
}

/* How many elements a tile has and how many workgroups, `most` if possible, share the tiles. */
function schedule(count, workgroupSize, most) {
    const round = 4 * workgroupSize, roundsMost = TILE_MOST / round;
    const rounds = Math.min(Math.max(Math.ceil(count / (round * GROUPS_WORTH)), 1), roundsMost);
    const tiles = Math.ceil(count / (round * rounds));
    const groups = Math.max(Math.min(tiles, most), Math.ceil(tiles / TILES_MOST));
    return { rounds, groups };
}

export class GpuReduction {
    #device;
    #reduct;
    #what;
    #total; /* the totals of all passes, each at an offset that bindings allow */
    #readback;
    #steps = []; /* { pipeline, bindGroup, groups } in order */
    #made = [];  /* buffers to destroy */

    constructor(device, reduct, what) {
        this.#device = device;
        this.#reduct = reduct;
        this.#what = what;
        const stride = Math.max(256, device.limits.minStorageBufferOffsetAlignment);
        this.totalStride = stride;
        const size = stride * (what.passes.length - 1) + totalBytes;
        this.#total = this.#create('reduct total', size, STORAGE | COPY_SRC);
        this.#readback = this.#create('reduct read back', size, MAP_READ | COPY_DST);
        what.passes.forEach((pass, i) => this.#addPass(pass, { buffer: this.#total, offset: i * stride, size: totalBytes }));
    }

    get groups() {
        return Math.max(0, ...this.#steps.map(step => step.counts ? step.groups : 0));
    }

    dispatch(pass) {
        for (const { pipeline, bindGroup, groups } of this.#steps) {
            pass.setPipeline(pipeline);
            pass.setBindGroup(0, bindGroup);
            pass.dispatchWorkgroups(groups);
        }
    }

    encode(encoder, { timestampWrites } = {}) {
        const pass = encoder.beginComputePass({ label: 'reduct', timestampWrites });
        this.dispatch(pass);
        pass.end();
    }

    async result() {
        const encoder = this.#device.createCommandEncoder({ label: 'reduct read back' });
        encoder.copyBufferToBuffer(this.#total, 0, this.#readback, 0, this.#readback.size);
        this.#device.queue.submit([encoder.finish()]);
        try {
            await this.#readback.mapAsync(READ);
        } catch (error) {
            const lost = await Promise.race([this.#device.lost, undefined]);
            throw lost ? new ReductError('device lost', `the device stopped working: ${lost.message}`) : error;
        }
        const totals = new Uint8Array(this.#readback.getMappedRange()).slice();
        this.#readback.unmap();
        return this.#round(totals);
    }

    async run() {
        await validated(this.#device, () => {
            const encoder = this.#device.createCommandEncoder({ label: 'reduct' });
            this.encode(encoder);
            this.#device.queue.submit([encoder.finish()]);
        });
        return this.result();
    }

    destroy() {
        this.#made.forEach(buffer => buffer.destroy());
    }

    #create(label, size, usage) {
        const buffer = this.#device.createBuffer({ label, size, usage });
        this.#made.push(buffer);
        return buffer;
    }

    #addStep(pipeline, entries, groups, counts) {
        const bindGroup = this.#device.createBindGroup({ layout: pipeline.getBindGroupLayout(0),
            entries: entries.map(([binding, resource]) => ({ binding, resource })) });
        this.#steps.push({ pipeline, bindGroup, groups, counts });
    }

    /* Clears a total, then adds the data to it, in as many parts as the device's largest binding makes necessary. */
    #addPass({ clear, add, entryPoint }, total) {
        const { buffer, y, offset, count } = this.#what;
        this.#addStep(clear, [[2, total]], 1, false);
        const alignment = this.#device.limits.minStorageBufferOffsetAlignment;
        const most = Math.floor((this.#device.limits.maxStorageBufferBindingSize - alignment) / 4);
        const groupsMost = Math.min(this.#what.groups ?? GROUPS_WANTED, Math.floor(GROUPS_MOST / Math.ceil(count / most)));
        for (let done = 0; done < count; done += most) {
            const part = Math.min(most, count - done), start = offset + 4 * done;
            const aligned = Math.floor(start / alignment) * alignment, first = (start - aligned) / 4;
            const begin = first % 4, end = begin + part, words = first + part, whole = words - words % 4;
            const { rounds, groups } = schedule(end, this.#what.workgroupSize, groupsMost);
            const shape = this.#create('reduct shape', 32, UNIFORM | STORAGE | COPY_DST);
            this.#device.queue.writeBuffer(shape, 0, new Uint32Array([begin, end, (first - begin) / 4, done - begin, rounds]));
            const bound = (which, words) => words ? { buffer: which, offset: aligned, size: 4 * words } : { buffer: shape };
            const entries = [[0, bound(buffer, words)], [2, total], [3, { buffer: shape }], [4, bound(buffer, whole)]];
            if (entryPoint === 'sums')
                entries.push([1, bound(y ?? buffer, words)], [5, bound(y ?? buffer, whole)]);
            this.#addStep(add, entries, groups, true);
        }
    }

    /* Rounds what the device has added up. */
    #round(totals) {
        const { operator, reduction, passes, count } = this.#what, reduct = this.#reduct;
        reduct.reductionAt(operator, 'f32', reduction);
        return reduct.withBytes(totals, at => {
            reduct.check(reduct.exports.reduct_device_result(reduct.reductionPointer, at,
                passes.length > 1 ? at + this.totalStride : 0, BigInt(count), reduct.resultPointer, reduct.wordPointer,
                reduct.errorPointer));
            const counted = reduct.view.getBigUint64(reduct.wordPointer, true);
            return reduct.resultOf(reduct.resultTypeNumber, operator, counted, 'webgpu');
        });
    }
}
