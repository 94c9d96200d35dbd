/* One rung with one finish on the GPU: its launches, encoded as often as wanted into a compute pass, and its result. */
import { makePipeline, moduleText, text } from './kernels.js';
import { GPU_RUNGS } from './rungs.js';

/* Threads of a fixed grid. WebGPU does not say how many a device holds at once; the largest hold about this many. */
export const GRID_THREADS = 2 ** 18;

/* How a fixed grid shrinks with the array: a thread should have at least this much to do. */
const LEAST_PER_THREAD = 16;

export const ceilDivide = (a, b) => Math.floor((a + b - 1) / b);

/* A row of workgroups is limited; larger grids take several rows, and a few workgroups too many, which find nothing. */
export function gridOf(groups, longestRow) {
    const rows = ceilDivide(groups, longestRow);
    return [ceilDivide(groups, rows), rows];
}

export class Climb {
    /* arrays: buffers of equal content, each n elements; runs take them in turn. */
    constructor(device, arrays, { n, type, size }) {
        Object.assign(this, { device, arrays, n, type, size, made: [] });
    }

    /* Makes everything that runs of this rung need. */
    async prepare(rung, finish) {
        Object.assign(this, { rung, finish });
        if (rung.engine) throw new Error('the exact rung brings its own engine');
        this.main = await this.pipeline(rung, finish);
        if (finish === 'second-launch')
            this.combine = await this.pipeline(
                GPU_RUNGS.find(other => other.id === 'grid-stride'),
                finish,
            );
        if (finish === 'atomic')
            this.clear = await makePipeline(this.device, 'clear', await text('clear'), 'clear', {});
        this.makeBuffers();
        if (rung.destroys) await this.duplicate();
        this.runs = (this.copies ?? this.arrays).map(array => this.launches(array));
        this.refresh();
        return this;
    }

    /* Arrays for a rung that destroys them, and what fills them. */
    async duplicate() {
        this.copies = this.arrays.map(() => this.buffer('copy', 4 * this.n));
        this.copy = await makePipeline(this.device, 'copy', await text('copy'), 'copy', {});
        this.copying = this.arrays.map((array, k) => {
            const entries = [array, this.copies[k]].map((buffer, binding) => ({ binding, resource: { buffer } }));
            return this.device.createBindGroup({ layout: this.copy.getBindGroupLayout(0), entries });
        });
    }

    /* Before the result is asked for, and at first: where runs destroy their input, one on what it was. */
    refresh() {
        if (!this.copies) return;
        const encoder = this.device.createCommandEncoder();
        const pass = encoder.beginComputePass();
        pass.setPipeline(this.copy);
        const words = this.copies[0].size / 4;
        const grid = gridOf(ceilDivide(words, 64), this.device.limits.maxComputeWorkgroupsPerDimension);
        for (const group of this.copying) {
            pass.setBindGroup(0, group);
            pass.dispatchWorkgroups(...grid);
        }
        this.dispatch(pass, 1);
        pass.end();
        this.device.queue.submit([encoder.finish()]);
    }

    async pipeline(rung, finish) {
        return makePipeline(
            this.device,
            `${rung.id}, finish ${finish}`,
            await moduleText(rung, finish, this.type),
            'rung',
            { size: this.size },
        );
    }

    /* In multiples of 16 bytes: read as vectors, what is behind the last whole one would not be there. */
    buffer(label, bytes, usage = 0) {
        const buffer = this.device.createBuffer({
            label,
            size: 16 * ceilDivide(bytes, 16),
            usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST | usage,
        });
        this.made.push(buffer);
        return buffer;
    }

    makeBuffers() {
        const [columns, rows] = this.grid(this.n);
        const groups = columns * rows;
        /* finish-last.wgsl's Desk: result, tickets, two words per workgroup. */
        this.first = this.buffer('sums', this.finish === 'last-block' ? 8 + 8 * groups : 4 * groups);
        this.second =
            this.finish === 'recursive' || this.finish === 'second-launch'
                ? this.buffer('sums of sums', 4 * groups)
                : null;
        this.shapes = new Map();
    }

    groups(n) {
        const { elements } = this.rung;
        if (elements !== 'grid') return Math.max(1, ceilDivide(n, elements * this.size));
        return Math.max(1, Math.min(GRID_THREADS / this.size, ceilDivide(n, LEAST_PER_THREAD * this.size)));
    }

    grid(n) {
        return gridOf(this.groups(n), this.device.limits.maxComputeWorkgroupsPerDimension);
    }

    shape(n) {
        if (!this.shapes.has(n)) {
            const buffer = this.buffer(`n = ${n}`, 16, GPUBufferUsage.UNIFORM);
            this.device.queue.writeBuffer(buffer, 0, new Uint32Array([n]));
            this.shapes.set(n, buffer);
        }
        return this.shapes.get(n);
    }

    /* shape: what shape() makes a buffer of. */
    launch(pipeline, input, output, shape, grid) {
        const entries = [input, output, this.shape(shape)].map((buffer, binding) => ({ binding, resource: { buffer } }));
        const group = this.device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
        return { pipeline, group, grid, output };
    }

    clearing() {
        const entries = [{ binding: 1, resource: { buffer: this.first } }];
        const group = this.device.createBindGroup({ layout: this.clear.getBindGroupLayout(0), entries });
        return { pipeline: this.clear, group, grid: [1, 1], output: this.first };
    }

    /* The launches of one run over one array. */
    launches(array) {
        const main = this.launch(this.main, array, this.first, this.n, this.grid(this.n));
        switch (this.finish) {
            case 'atomic':
                return [this.clearing(), main];
            case 'second-launch':
                return [main, this.launch(this.combine, this.first, this.second, this.groups(this.n), [1, 1])];
            case 'recursive':
                return this.passes(main);
            default:
                return [main];
        }
    }

    /* The same kernel on its own sums, until one is left. */
    passes(main) {
        const passes = [main];
        let left = this.groups(this.n);
        let from = this.first;
        let to = this.second;
        while (left > 1) {
            passes.push(this.launch(this.main, from, to, left, this.grid(left)));
            left = this.groups(left);
            [from, to] = [to, from];
        }
        return passes;
    }

    /* Encodes `repeats` runs; `from` is the number of the first array. */
    dispatch(pass, repeats, from = 0) {
        for (let k = 0; k < repeats; k++) {
            for (const { pipeline, group, grid } of this.runs[(from + k) % this.runs.length]) {
                pass.setPipeline(pipeline);
                pass.setBindGroup(0, group);
                pass.dispatchWorkgroups(...grid);
            }
        }
    }

    /* The sum that the last run left, after its submission. */
    async result() {
        const values = await this.read(this.finish === 'host' ? this.groups(this.n) : 1);
        const sum = values.reduce((total, value) => total + value, 0);
        return this.type === 'f32' ? Math.fround(sum) : sum | 0;
    }

    /* The first `count` numbers that the last launch of a run left. */
    async read(count) {
        const { output } = this.runs[0].at(-1);
        const staging = this.device.createBuffer({
            label: 'result',
            size: 4 * count,
            usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
        });
        try {
            const encoder = this.device.createCommandEncoder();
            encoder.copyBufferToBuffer(output, 0, staging, 0, 4 * count);
            this.device.queue.submit([encoder.finish()]);
            await staging.mapAsync(GPUMapMode.READ);
            return new (this.type === 'f32' ? Float32Array : Int32Array)(staging.getMappedRange().slice(0));
        } finally {
            staging.destroy();
        }
    }

    /* How many additions one element can pass through at most, each of which may round: what bounds the error. */
    depth() {
        const tree = Math.log2(this.size);
        const groups = this.groups(this.n);
        const perThread = this.rung.elements === 'grid' ? ceilDivide(this.n, groups * this.size) : this.rung.elements;
        const block = tree + perThread;
        switch (this.finish) {
            case 'host':
            case 'atomic':
                return block + groups;
            case 'recursive':
                return block * this.runs[0].length;
            default:
                return block + ceilDivide(groups, this.size) + tree;
        }
    }

    destroy() {
        this.made.forEach(buffer => buffer.destroy());
        this.made = [];
    }
}
