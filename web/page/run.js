/* One run of the page: the numbers, every rung on the GPU and on the CPU, the exact results of both, as a report. */
import { Climb } from './climb.js';
import { ApplicationClimb, whyNot as whyNotHere } from './applications.js';
import { RowsClimb, whyNot } from './rows.js';
import { APPLICATION_CPU_RUNGS, APPLICATIONS, CPU_RUNGS, GPU_RUNGS, ROW_CPU_RUNGS, ROW_RUNGS, nameOf } from './rungs.js';
import { Stopwatch } from './stopwatch.js';
import { othersOf } from './data.js';
import { bitsOf, depthOnCpu, judge, judgeAll, judgeSpecimen } from './judge.js';
import { GpuReduct } from '../reduct/index.js';

/* Runs take several copies of the array in turn, this much in all, so that they are not served from a cache alone. */
const ROTATED_BYTES = 2 ** 27;
const MOST_COPIES = 16;

/* What a rung of the CPU takes at least, for the time that is left before one has run. */
const CPU_STEP_SECONDS = 0.5;

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

/* Lanes of the smallest subgroup that a device may have, where it does not say. */
const LEAST_LANES = 4;

/* Why a rung cannot be run on what was chosen; null where it can. */
function refusal(rung, gpu, { columns, n }) {
    if (columns) return whyNot(rung, columns);
    return rung.operator ? whyNotHere(rung, n, gpu.device.limits) : null;
}

/* Which GPU rungs run, and why the others do not. settings.columns: of the ladder of rows, how long a row is; settings.applications:
 * reductions other than a plain sum. */
export function plan(gpu, settings) {
    const rungs = settings.applications ? APPLICATIONS : settings.columns ? ROW_RUNGS : [...GPU_RUNGS, settings.mine];
    return rungs.filter(Boolean).map(rung => {
        if (gpu.missing) return { rung, without: 'no WebGPU' };
        if (rung.feature && !gpu.features.includes(rung.feature))
            return { rung, without: `this GPU's driver or browser does not offer ${rung.feature}` };
        if (rung.engine && settings.type !== 'f32') return { rung, without: 'the exact kernel is for f32' };
        if (rung.engine && !settings.library) return { rung, without: 'its last rounding needs the WebAssembly part' };
        const refused = refusal(rung, gpu, settings);
        if (refused) return { rung, without: refused };
        const own = rung.engine || settings.columns || settings.applications || settings.finish === 'own';
        return { rung, finish: own ? rung.finish : settings.finish };
    });
}

/* A row of the report: `pending` until its rung has run, or will not. */
const gpuRow = ({ rung, finish, without }) => ({
    id: rung.id,
    device: 'gpu',
    name: nameOf(rung),
    ...(without ? { without } : { finish, specimen: Boolean(rung.specimen), pending: true }),
});
const cpuRow = rung => ({ id: rung.id, device: 'cpu', name: nameOf(rung), finish: '', pending: true });

export class Run {
    /* tell(what, done, of) reports progress, show(report) what there is so far, whenever a row is done. signal ends the run
     * after what the devices are at; from then on nothing is told or shown, and report() has what was done before. */
    constructor(gpu, cpu, settings, { tell, signal, show = () => {} }) {
        const planned = plan(gpu, settings);
        const cpuRungs = settings.applications ? APPLICATION_CPU_RUNGS : settings.columns ? ROW_CPU_RUNGS : CPU_RUNGS;
        Object.assign(this, { gpu, cpu, settings, tell, show, signal, planned, cpuRungs, done: 0, bits: null });
        this.rows = [...planned.map(gpuRow), ...cpuRungs.map(cpuRow)];
        this.steps = this.rows.filter(row => row.pending).length + 2;
        this.spent = { gpu: [], cpu: [] }; /* seconds that each rung took, timing included */
    }

    step(what) {
        this.signal.throwIfAborted();
        this.tell(what, this.done++, this.steps);
        this.began = performance.now();
    }

    async all() {
        const { cpu, settings } = this;
        this.step('making the numbers');
        const { numbers, type, expected } = await cpu.make(
            settings.kind,
            settings.n,
            settings.seed,
            settings.columns,
            settings.applications,
        );
        Object.assign(this, { type, expected });
        await this.runGpu(numbers);
        await this.runCpu();
        this.signal.throwIfAborted();
        this.tell('done', this.steps, this.steps);
        return this.report();
    }

    row(device, id) {
        return this.rows.find(row => row.device === device && row.id === id);
    }

    /* A rung is done: with figures, an error, or the reason why it has none. */
    settle(row, what) {
        this.signal.throwIfAborted();
        delete row.pending;
        Object.assign(row, what);
        this.spent[row.device].push((performance.now() - this.began) / 1000);
        this.show(this.report());
    }

    /* Seconds until the end, as far as the rungs that have run tell; null before the first has. */
    left() {
        const pending = device => this.rows.filter(row => row.pending && row.device === device).length;
        const mean = ({ length }, sum, otherwise) => (length ? sum / length : otherwise);
        const each = device =>
            mean(
                this.spent[device],
                this.spent[device].reduce((a, b) => a + b, 0),
                device === 'cpu' ? CPU_STEP_SECONDS : null,
            );
        if (pending('gpu') && each('gpu') === null) return null;
        const now = (performance.now() - this.began) / 1000; /* of the rung that runs, no more than a rung takes */
        const running = Math.min(now, each(pending('gpu') ? 'gpu' : 'cpu'));
        return Math.max(0, pending('gpu') * each('gpu') + pending('cpu') * each('cpu') - running);
    }

    async runCpu() {
        const { applications, columns, library, n } = this.settings;
        for (const rung of this.cpuRungs) {
            this.step(`${nameOf(rung)} on the CPU`);
            const { value, ...times } = await this.cpu.measure(rung.id);
            const without = library ? 'for f32 only' : 'needs the WebAssembly part';
            this.settle(
                this.row('cpu', rung.id),
                value === null
                    ? { without }
                    : this.judged(
                          times,
                          this.type === 'f32' && !columns ? Math.fround(value) : value,
                          applications ? 0 : depthOnCpu(rung.id, columns ?? n),
                          rung,
                      ),
            );
        }
    }

    async runGpu(numbers) {
        if (this.gpu.missing) return;
        const { device } = this.gpu;
        const { arrays, error } = await this.guarded(async () => ({ arrays: this.uploadAll(numbers) }));
        if (error) {
            const without = `the numbers do not fit on the GPU (${error}): choose fewer`;
            this.rows.filter(row => row.device === 'gpu').forEach(row => this.settle(row, { without }));
            return;
        }
        const stopwatch = new Stopwatch(device, this.signal);
        try {
            for (const { rung, finish } of this.planned.filter(({ without }) => !without))
                await this.measure(rung, finish, arrays, stopwatch);
            this.step('the bits of both');
            const { applications, columns, library } = this.settings;
            if (this.type === 'f32' && library && !columns && !applications) this.bits = await this.exactBits(arrays);
        } finally {
            stopwatch.destroy();
            this.others?.destroy();
            arrays.forEach(array => array.destroy());
        }
    }

    /* Buffers are made in multiples of 16 bytes, as vector loads read them. */
    upload(label, numbers) {
        const { device } = this.gpu;
        const buffer = device.createBuffer({
            label,
            size: Math.max(16, Math.ceil(numbers.byteLength / 16) * 16),
            usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC,
        });
        device.queue.writeBuffer(buffer, 0, numbers);
        return buffer;
    }

    /* The copies; and for dot products the other factors. */
    uploadAll(numbers) {
        this.copies = Math.max(1, Math.min(MOST_COPIES, Math.floor(ROTATED_BYTES / Math.max(16, numbers.byteLength))));
        if (this.settings.applications) this.others = this.upload('the other factors', othersOf(numbers));
        return Array.from({ length: this.copies }, (_, k) => this.upload(`numbers, copy ${k}`, numbers));
    }

    async engine() {
        const { device } = this.gpu;
        this.exact ??= await GpuReduct.create(device);
        return this.exact;
    }

    async climb(rung, finish, arrays) {
        const { others, settings, type } = this;
        const { applications, columns, n, size } = settings;
        const lanes = this.gpu.description.subgroups?.least ?? LEAST_LANES;
        if (applications) return new ApplicationClimb(this.gpu.device, arrays, { n, size, others }).prepare(rung);
        if (columns) return new RowsClimb(this.gpu.device, arrays, { n, columns, type, size, lanes }).prepare(rung);
        if (rung.engine) return new ExactClimb(await this.engine(), arrays, n).prepare();
        return new Climb(this.gpu.device, arrays, { n, type, size }).prepare(rung, finish);
    }

    /* A rung that fails is a row that says so; the others go on. */
    async measure(rung, finish, arrays, stopwatch) {
        this.step(`${rung.id} on the GPU`);
        const measured = await this.guarded(() => this.timed(rung, finish, arrays, stopwatch));
        const { error, times, value, depth } = measured;
        this.settle(this.row('gpu', rung.id), error ? { error } : this.judged(times, value, depth, rung));
    }

    async timed(rung, finish, arrays, stopwatch) {
        const climb = await this.climb(rung, finish, arrays);
        try {
            const times = finish === 'host' ? await stopwatch.timeWithHost(climb) : await stopwatch.time(climb);
            climb.refresh?.();
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

    /* value: the sum, or all sums of rows, or of columns, or what an application gives. */
    found(value, depth, rung) {
        const { expected, settings, type } = this;
        if (settings.columns) return judgeAll(value, rung.columns ? expected.columns : expected.rows, type, depth);
        if (!settings.applications) return { value, ...judge(value, expected, type, depth) };
        const wanted = expected.of[rung.operator];
        return { value, should: wanted.rounded, ...judge(value, wanted, type, depth) };
    }

    judged(times, value, depth, rung) {
        const found = this.found(value, depth, rung);
        const arrays = rung.operator === 'dot' ? 2 : 1;
        return {
            ...times,
            ...found,
            bits: bitsOf(found.value, this.type),
            bytesPerSecond: (4 * arrays * this.settings.n) / times.seconds,
        };
    }

    /* Each reduction by the GPU and by the C library: the same bits, or else something is wrong. */
    async exactBits(arrays) {
        const engine = await this.engine();
        const table = [];
        for (const operator of WITH_BITS) {
            this.signal.throwIfAborted();
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

    /* The rungs that have not run will not, for this reason. */
    end(why) {
        for (const row of this.rows.filter(row => row.pending)) {
            delete row.pending;
            row.without = why;
        }
    }

    /* What there is by now; null before there are numbers. */
    report() {
        const { gpu, settings, expected, type, copies, bits } = this;
        if (!expected) return null;
        judgeSpecimen(this.row('gpu', 'last-warp-implicit'), this.row('gpu', 'last-warp'));
        const first = device => this.rows.find(row => row.device === device && row.seconds && !row.specimen);
        for (const row of this.rows)
            row.speedup = row.seconds && !settings.applications ? first(row.device)?.seconds / row.seconds : null;
        return {
            unfinished: this.rows.some(row => row.pending),
            date: new Date().toISOString(),
            device: gpu.missing ? null : gpu.description,
            missing: gpu.missing ?? null,
            browser: navigator.userAgent,
            n: settings.n,
            columns: settings.columns ?? null,
            applications: Boolean(settings.applications),
            type,
            kind: settings.kind,
            seed: settings.seed,
            workgroup: gpu.missing ? null : settings.size,
            finish: settings.finish,
            copies: copies ?? null,
            clock: gpu.missing ? null : gpu.timestamps ? 'timestamp' : 'wall',
            library: settings.library ?? null,
            expected: {
                value: expected.value ?? null,
                rounded: expected.rounded ?? null,
                judge: expected.judge,
                bits: expected.bits ?? null,
            },
            bits,
            rows: this.rows.map(row => ({ ...row })),
        };
    }
}
