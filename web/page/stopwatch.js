/* Times work on the GPU: with its own clock where it offers timestamps, with the page's otherwise. */

/* As many rounds as fit into the time; a few more, or a single one, where they are slow: such devices need not be timed
 * to the microsecond. */
const ROUNDS = 7;
const ROUNDS_SECONDS = 1;
const LEAST_ROUNDS = 3;
const LEAST_ROUNDS_SECONDS = 4;

/* A submission that takes too long makes the system believe that the GPU hangs; one that is too short cannot be
 * told from the clock's steps (browsers round timestamps to 0.1 ms) or, by wall clock, from the cost of submitting. */
const TIMESTAMP_SECONDS = 0.03;
const WALL_SECONDS = 0.06;
const MOST_REPEATS = 4000;

export function median(values) {
    const sorted = Float64Array.from(values).sort();
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function quartiles(values) {
    const sorted = Float64Array.from(values).sort();
    return [sorted[Math.floor((sorted.length - 1) / 4)], sorted[Math.ceil((3 * (sorted.length - 1)) / 4)]];
}

/* The median of the rounds and half the distance between their quartiles. */
export function statistics(seconds) {
    const [low, high] = quartiles(seconds);
    return { seconds: median(seconds), spread: (high - low) / 2, rounds: seconds.length };
}

function wanted(seconds, repeats) {
    const spent = repeats * seconds.reduce((sum, value) => sum + value, 0);
    if (seconds.length < LEAST_ROUNDS) return spent < LEAST_ROUNDS_SECONDS;
    return seconds.length < ROUNDS && spent < ROUNDS_SECONDS;
}

export class Stopwatch {
    /* signal ends its work after the pass that the GPU is at. */
    constructor(device, signal) {
        Object.assign(this, { device, signal });
        if (device.features.has('timestamp-query')) {
            this.queries = device.createQuerySet({ type: 'timestamp', count: 2 });
            this.resolved = device.createBuffer({
                size: 16,
                usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC,
            });
            this.staging = device.createBuffer({ size: 16, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
        }
    }

    get clock() {
        return this.queries ? 'timestamp' : 'wall';
    }

    /* Seconds of one pass of `repeats` runs by the GPU's clock; by the page's, from the submission until it is done. */
    async pass(work, repeats, from) {
        this.signal?.throwIfAborted();
        const encoder = this.device.createCommandEncoder();
        const timestampWrites = this.queries && {
            querySet: this.queries,
            beginningOfPassWriteIndex: 0,
            endOfPassWriteIndex: 1,
        };
        const pass = encoder.beginComputePass({ timestampWrites });
        work.dispatch(pass, repeats, from);
        pass.end();
        if (this.queries) {
            encoder.resolveQuerySet(this.queries, 0, 2, this.resolved, 0);
            encoder.copyBufferToBuffer(this.resolved, 0, this.staging, 0, 16);
        }
        const commands = encoder.finish();
        const start = performance.now();
        this.device.queue.submit([commands]);
        await this.device.queue.onSubmittedWorkDone();
        const wall = (performance.now() - start) / 1000;
        return this.queries ? await this.elapsed() : wall;
    }

    async elapsed() {
        await this.staging.mapAsync(GPUMapMode.READ);
        const [begin, end] = new BigUint64Array(this.staging.getMappedRange());
        this.staging.unmap();
        return Number(end - begin) * 1e-9;
    }

    /* Times runs of work that stays on the GPU. Warms up first. */
    async time(work) {
        const goal = this.queries ? TIMESTAMP_SECONDS : WALL_SECONDS;
        let repeats = 1;
        let once = await this.pass(work, 1, 0);
        while (once < goal / 4 && repeats < MOST_REPEATS) {
            repeats = Math.min(
                MOST_REPEATS,
                Math.max(repeats * 4, Math.floor((repeats * goal) / Math.max(once, goal / 64) / 2)),
            );
            once = await this.pass(work, repeats, 0);
        }
        /* A pass that takes long is warm-up and only round at once: nobody should wait for a second one. */
        if (once > LEAST_ROUNDS_SECONDS) return { ...statistics([once / repeats]), repeats, clock: this.clock };
        repeats = Math.max(1, Math.min(MOST_REPEATS, Math.round((repeats * goal) / Math.max(once, 1e-5))));
        const seconds = [];
        while (wanted(seconds, repeats)) seconds.push((await this.pass(work, repeats, seconds.length)) / repeats);
        return { ...statistics(seconds), repeats, clock: this.clock };
    }

    /* Times runs that end on the host: the whole way from the submission to the number, by the page's clock. */
    async timeWithHost(work) {
        const once = await this.withHost(work, 0); /* warms up */
        const seconds = once > LEAST_ROUNDS_SECONDS ? [once] : [];
        while (once <= LEAST_ROUNDS_SECONDS && wanted(seconds, 1))
            seconds.push(await this.withHost(work, seconds.length + 1));
        return { ...statistics(seconds), repeats: 1, clock: 'wall' };
    }

    async withHost(work, from) {
        this.signal?.throwIfAborted();
        const start = performance.now();
        const encoder = this.device.createCommandEncoder();
        const pass = encoder.beginComputePass();
        work.dispatch(pass, 1, from);
        pass.end();
        this.device.queue.submit([encoder.finish()]);
        await work.result();
        return (performance.now() - start) / 1000;
    }

    destroy() {
        this.queries?.destroy();
        this.resolved?.destroy();
        this.staging?.destroy();
    }
}
