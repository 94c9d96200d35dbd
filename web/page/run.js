/* One run of the page: the numbers, every rung on the GPU and on the CPU, the exact results of both, as a report. */
import { Climb } from './climb.js';
import { CPU_RUNGS, GPU_RUNGS, nameOf } from './rungs.js';
import { Stopwatch } from './stopwatch.js';
import { bitsOf, depthOnCpu, judge, judgeSpecimen } from './judge.js';
import { GpuReduct } from '../reduct/index.js';

/* Runs take several copies of the array in turn, this much in all, so that they are not served from a cache alone. */
const ROTATED_BYTES = 2 ** 27;
const MOST_COPIES = 16;

const WITH_BITS = ['sum', 'mean', 'min', 'max', 'norm2', 'dot'];

/* The exact rung, with what the other rungs have. */
class ExactClimb {
    constructor(engine, arrays, n) {
        Object.assign(this, { engine, arrays, n, runs: [] });
    }

    async prepare() {
        for (const array of this.arrays) this.runs.push(await this.engine.prepare('sum', array, { count: this.n }));
        return this;
    }

    dispatch(pass, repeats, from = 0) {
        for (let k = 0; k < repeats; k++) this.runs[(from + k) % this.runs.length].dispatch(pass);
    }

    /* The last dispatch need not have been of the first array, so one more is made. */
    async result() {
        return (await this.runs[0].run()).value;
    }

    depth() {
        return 0;
    }

    destroy() {
        this.runs.forEach(run => run.destroy());
    }
}

/* Which GPU rungs run, and why the others do not. */
export function plan(gpu, settings) {
    return GPU_RUNGS.map(rung => {
        if (gpu.missing) return { rung, without: 'no WebGPU' };
        if (rung.feature && !gpu.features.includes(rung.feature))
            return { rung, without: `this GPU's driver or browser does not offer ${rung.feature}` };
        if (rung.engine && settings.type !== 'f32') return { rung, without: 'the exact kernel is for f32' };
        if (rung.engine && !settings.library) return { rung, without: 'its last rounding needs the WebAssembly part' };
        return { rung, finish: rung.engine || settings.finish === 'own' ? rung.finish : settings.finish };
    });
}

export class Run {
    /* tell(what, done, of) reports progress; signal stops the run between rungs. */
    constructor(gpu, cpu, settings, { tell, signal }) {
        Object.assign(this, { gpu, cpu, settings, tell, signal, rows: [], done: 0 });
    }

    step(what) {
        this.signal.throwIfAborted();
        this.tell(what, this.done++, this.steps);
    }

    async all() {
        const { gpu, cpu, settings } = this;
        const planned = plan(gpu, settings);
        this.steps = planned.filter(({ finish }) => finish).length + CPU_RUNGS.length + 2;
        this.step('making the numbers');
        const { numbers, type, expected } = await cpu.make(settings.kind, settings.n, settings.seed);
        Object.assign(this, { type, expected });
        const bits = await this.runGpu(planned, numbers);
        await this.runCpu();
        this.tell('done', this.steps, this.steps);
        return this.report(bits);
    }

    async runCpu() {
        for (const rung of CPU_RUNGS) {
            this.step(nameOf(rung));
            const { value, ...times } = await this.cpu.measure(rung.id);
            if (value === null) {
                const without = this.settings.library ? 'for f32 only' : 'needs the WebAssembly part';
                this.rows.push({ id: rung.id, device: 'cpu', name: nameOf(rung), without });
                continue;
            }
            this.add(
                { id: rung.id, device: 'cpu', name: nameOf(rung), finish: '' },
                times,
                this.type === 'f32' ? Math.fround(value) : value,
                depthOnCpu(rung.id, this.settings.n),
            );
        }
    }

    async runGpu(planned, numbers) {
        if (this.gpu.missing) return null;
        const { device } = this.gpu;
        const { arrays, error } = await this.guarded(async () => ({ arrays: this.upload(numbers) }));
        if (error) {
            const without = `the numbers do not fit on the GPU (${error}): choose fewer`;
            planned.forEach(({ rung }) => this.rows.push({ id: rung.id, device: 'gpu', name: rung.id, without }));
            return null;
        }
        const stopwatch = new Stopwatch(device);
        try {
            for (const { rung, finish, without } of planned) {
                if (without) this.rows.push({ id: rung.id, device: 'gpu', name: rung.id, without });
                else await this.measure(rung, finish, arrays, stopwatch);
            }
            this.step('the bits of both');
            return this.type === 'f32' && this.settings.library ? await this.exactBits(arrays) : null;
        } finally {
            stopwatch.destroy();
            arrays.forEach(array => array.destroy());
        }
    }

    /* Buffers are made in multiples of 16 bytes, as vector loads read them. */
    upload(numbers) {
        const { device } = this.gpu;
        const size = Math.max(16, Math.ceil(numbers.byteLength / 16) * 16);
        this.copies = Math.max(1, Math.min(MOST_COPIES, Math.floor(ROTATED_BYTES / size)));
        return Array.from({ length: this.copies }, (_, k) => {
            const buffer = device.createBuffer({
                label: `numbers, copy ${k}`,
                size,
                usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST,
            });
            device.queue.writeBuffer(buffer, 0, numbers);
            return buffer;
        });
    }

    async engine() {
        const { device } = this.gpu;
        this.exact ??= await GpuReduct.create(device);
        return this.exact;
    }

    async climb(rung, finish, arrays) {
        const { settings, type } = this;
        if (rung.engine) return new ExactClimb(await this.engine(), arrays, settings.n).prepare();
        return new Climb(this.gpu.device, arrays, { n: settings.n, type, size: settings.size }).prepare(rung, finish);
    }

    /* A rung that fails is a row that says so; the others go on. */
    async measure(rung, finish, arrays, stopwatch) {
        this.step(`${rung.id} on the GPU`);
        const about = { id: rung.id, device: 'gpu', name: rung.id, finish, specimen: Boolean(rung.specimen) };
        const measured = await this.guarded(() => this.timed(rung, finish, arrays, stopwatch));
        if (measured.error) this.rows.push({ ...about, error: measured.error });
        else this.add(about, measured.times, measured.value, measured.depth);
    }

    async timed(rung, finish, arrays, stopwatch) {
        const climb = await this.climb(rung, finish, arrays);
        try {
            const times = finish === 'host' ? await stopwatch.timeWithHost(climb) : await stopwatch.time(climb);
            return { times, value: await climb.result(), depth: climb.depth() };
        } finally {
            climb.destroy();
        }
    }

    /* What work() gives, or {error}: the first thing that went wrong, here or on the device. */
    async guarded(work) {
        const { device } = this.gpu;
        const filters = ['validation', 'out-of-memory', 'internal'];
        filters.forEach(filter => device.pushErrorScope(filter));
        let result = await work().catch(error => ({ error: error.message }));
        for (const _ of filters) {
            const error = await device.popErrorScope().catch(() => null); /* of a device that was lost */
            if (error && !result.error) result = { error: error.message };
        }
        return result;
    }

    add(about, times, value, depth) {
        const judged = judge(value, this.expected, this.type, depth);
        this.rows.push({
            ...about,
            ...times,
            value,
            bits: bitsOf(value, this.type),
            ...judged,
            bytesPerSecond: (4 * this.settings.n) / times.seconds,
        });
    }

    /* Each reduction by the GPU and by the C library: the same bits, or else something is wrong. */
    async exactBits(arrays) {
        const engine = await this.engine();
        const table = [];
        for (const operator of WITH_BITS) {
            const y = operator === 'dot' ? arrays.at(-1) : undefined; /* a copy of the same numbers */
            const reduction = await engine.prepare(operator, arrays[0], { count: this.settings.n, y });
            try {
                const { value, bits, type } = await reduction.run();
                const cpu = this.expected.bits[operator];
                table.push({ operator, value, type, gpu: bits, wasm: cpu.bits, same: bits === cpu.bits });
            } finally {
                reduction.destroy();
            }
        }
        return table;
    }

    report(bits) {
        const { gpu, settings, expected, type, copies } = this;
        const byId = id => this.rows.find(row => row.device === 'gpu' && row.id === id);
        judgeSpecimen(byId('last-warp-implicit'), byId('last-warp'));
        const first = device => this.rows.find(row => row.device === device && row.seconds && !row.specimen);
        for (const row of this.rows) row.speedup = row.seconds ? first(row.device).seconds / row.seconds : null;
        return {
            date: new Date().toISOString(),
            device: gpu.missing ? null : gpu.description,
            missing: gpu.missing ?? null,
            browser: navigator.userAgent,
            n: settings.n,
            type,
            kind: settings.kind,
            seed: settings.seed,
            workgroup: gpu.missing ? null : settings.size,
            finish: settings.finish,
            copies: copies ?? null,
            clock: gpu.missing ? null : gpu.timestamps ? 'timestamp' : 'wall',
            library: settings.library ?? null,
            expected: { value: expected.value, judge: expected.judge, bits: expected.bits ?? null },
            bits,
            rows: this.rows,
        };
    }
}
