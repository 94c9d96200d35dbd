/* The page's end of cpu-worker.js: each call is a promise. */
export class Cpu {
    constructor() {
        this.waiting = new Map();
        this.next = 0;
        this.worker = new Worker(new URL('cpu-worker.js', import.meta.url), { type: 'module' });
        this.worker.onmessage = ({ data: { id, result, error } }) => {
            const { resolve, reject } = this.waiting.get(id);
            this.waiting.delete(id);
            return error === undefined ? resolve(result) : reject(new Error(error));
        };
        this.worker.onerror = event => {
            const error = new Error(event.message || 'the worker could not be started');
            this.waiting.forEach(({ reject }) => reject(error));
            this.waiting.clear();
        };
    }

    call(call, rest = {}) {
        return new Promise((resolve, reject) => {
            const id = this.next++;
            this.waiting.set(id, { resolve, reject });
            this.worker.postMessage({ id, call, ...rest });
        });
    }

    /* {library: version} or {missing: a sentence} */
    open() {
        return this.call('open');
    }

    /* {type, numbers, expected: {value, rounded, magnitude, bits?, judge}}; with columns, expected: {rows, columns, judge}, as
     * sums.js makes them; with applications {of, judge}, a result for each operator. */
    make(kind, n, seed, columns, applications) {
        return this.call('make', { kind, n, seed, columns, applications });
    }

    /* {value, seconds, spread, rounds, clock}; value is null where the rung cannot run, and one for each row where there are rows. */
    measure(rung) {
        return this.call('measure', { rung });
    }
}
