/* The CPU's side, away from the page's own thread: makes the numbers, computes what is expected with the C library in
 * WebAssembly, and runs the CPU's rungs. Without WebAssembly's module there is still a loop in JavaScript.
 *
 * Messages: {id, call, ...arguments} is answered by {id, ...result} or {id, error}. */
import { KINDS, fill, othersOf } from './data.js';
import { load } from '../reduct/index.js';
import { median, statistics } from './stopwatch.js';
import { sumsOf } from './sums.js';

const ROUNDS = 5;
const WARM_SECONDS = 0.15;
const ROUND_SECONDS = 0.02;
const MOST_REPEATS = 2 ** 16;

let reduct = null; /* the library, or null where it could not be loaded */
let held = null; /* {x, at, n, type, columns}: the numbers, in WebAssembly's memory at `at` if it is there */

const calls = { open, make, measure };

async function open() {
    try {
        reduct = await load();
        return { library: reduct.version };
    } catch (error) {
        return {
            missing: `WebAssembly's part of the page could not be loaded (${error.message}); \`make web\` builds it.`,
        };
    }
}

function typedArray(type, n) {
    return type === 'f32' ? new Float32Array(n) : new Int32Array(n);
}

/* Makes the numbers. Answers with a copy of them and what their sum must be; or with columns, those of rows and of columns; or what
 * applications must give. */
function make({ kind, n, seed, columns, applications }) {
    release();
    const { type } = KINDS[kind];
    const x = typedArray(type, n);
    fill(x, kind, seed);
    if (applications) {
        held = { x, others: othersOf(x), n, type };
        return { type, expected: { of: expectEach(held), judge: reduct ? 'the C library in WebAssembly' : 'nothing' }, numbers: x.slice() };
    }
    const expected = columns
        ? { ...sumsOf(x, columns, type), judge: 'JavaScript, in pairs of f64, which lose no bit here' }
        : expect(x, type, kind);
    hold(x, type);
    held.columns = columns;
    return { type, expected, numbers: x, transfer: reduct ? [x.buffer] : [] };
}

/* The exact sum as a number to compare with, the same rounded to the type of the elements, the bits of the exact results,
 * and the sum of magnitudes, which bounds errors. */
function expect(x, type, kind) {
    let magnitude = 0;
    for (let i = 0; i < x.length; i++) magnitude += Math.abs(x[i]);
    if (!reduct) {
        const value = kind === 'cancelling' ? null : loop(x);
        const rounded = value === null || type === 'i32' ? value : Math.fround(value);
        return { value, rounded, magnitude, judge: 'JavaScript (this sum is exact in f64)' };
    }
    const { value } = reduct.reduce('sum', x, { result: type === 'f32' ? 'f64' : 'i64' });
    const bits = Object.fromEntries(
        (type === 'f32' ? ['sum', 'mean', 'min', 'max', 'norm2', 'dot'] : ['sum', 'min', 'max'])
            .map(operator => [operator, reduct.reduce(operator, x, operator === 'dot' ? { y: x } : {})])
            .map(([operator, result]) => [
                operator,
                { value: Number(result.value), bits: result.bits, type: result.type },
            ]),
    );
    return { value: Number(value), rounded: bits.sum.value, magnitude, bits, judge: 'the C library in WebAssembly' };
}

/* By operator, as expect() gives it of the sum. */
function expectEach({ x, others, n }) {
    let [added, multiplied] = [0, 0];
    for (let i = 0; i < n; i++) {
        added += Math.abs(x[i]);
        multiplied += Math.abs(x[i] * others[i]);
    }
    const magnitudes = { dot: multiplied, max: 0, mean: added / n, sum: added };
    const of = (operator, magnitude) => {
        if (!reduct) return { value: null, rounded: null, magnitude };
        const options = operator === 'dot' ? { y: others } : {};
        const rounded = reduct.reduce(operator, x, options).value;
        const value = operator === 'max' ? rounded : reduct.reduce(operator, x, { ...options, result: 'f64' }).value; /* an element */
        return { value, rounded, magnitude };
    };
    return Object.fromEntries(Object.entries(magnitudes).map(([operator, magnitude]) => [operator, of(operator, magnitude)]));
}

function release() {
    if (held?.at) reduct.exports.free(held.at);
    held = null;
}

function hold(x, type) {
    const n = x.length;
    if (!reduct) {
        held = { x, n, type };
        return;
    }
    const at = reduct.exports.malloc(Math.max(4 * n, 4));
    if (!at) throw new Error(`${n} numbers do not fit into WebAssembly's memory; choose fewer`);
    new x.constructor(reduct.exports.memory.buffer, at, n).set(x);
    held = { at, n, type };
}

function loop(x) {
    let sum = 0;
    for (let i = 0; i < x.length; i++) sum += x[i];
    return sum;
}

/* The exact sum by the library, on the numbers where they are. Integers are summed as i64. */
function exactSum() {
    const { type, at, n } = held;
    const { exports } = reduct;
    const out = exports.malloc(8);
    try {
        const status = exports[`reduct_sum_${type}`](at, n, out);
        if (status !== 0) throw new Error(`the library answers with status ${status}`);
        const view = new DataView(exports.memory.buffer);
        return type === 'f32' ? view.getFloat32(out, true) : Number(view.getBigInt64(out, true));
    } finally {
        exports.free(out);
    }
}

const heldNumbers = () =>
    held.x ?? new (held.type === 'f32' ? Float32Array : Int32Array)(reduct.exports.memory.buffer, held.at, held.n);

/* A loop for each row. */
function loopRows(x, columns, sums) {
    for (let row = 0, i = 0; row < sums.length; row++) {
        let sum = 0;
        for (const end = i + columns; i < end; i++) sum += x[i];
        sums[row] = sum;
    }
    return sums;
}

/* A call of the library for each row. */
function exactRows(sums) {
    const { type, at, columns } = held;
    const { exports } = reduct;
    const out = exports.malloc(8);
    try {
        for (let row = 0; row < sums.length; row++) {
            const status = exports[`reduct_sum_${type}`](at + 4 * columns * row, columns, out);
            if (status !== 0) throw new Error(`the library answers with status ${status}`);
            const view = new DataView(exports.memory.buffer, out, 8);
            sums[row] = type === 'f32' ? view.getFloat32(0, true) : Number(view.getBigInt64(0, true));
        }
        return sums;
    } finally {
        exports.free(out);
    }
}

function runnerOf(rung) {
    if (held.others) {
        const operator = rung.replace('cpu-', '');
        return reduct && (() => reduct.reduce(operator, held.x, operator === 'dot' ? { y: held.others } : {}).value);
    }
    if (held.columns) {
        const sums = typedArray(held.type, Math.floor(held.n / held.columns));
        if (rung === 'js') return () => loopRows(heldNumbers(), held.columns, sums);
        return rung === 'cpu-exact' && reduct ? () => exactRows(sums) : null;
    }
    if (rung === 'js') {
        const x = heldNumbers();
        return () => loop(x);
    }
    if (!reduct) return null;
    if (rung === 'cpu-exact') return exactSum;
    const run = reduct.exports[`ladder_${rung}`];
    return held.type === 'f32' && run ? () => run(held.at, held.n) : null;
}

/* Seconds of `repeats` runs. */
function pass(run, repeats) {
    const start = performance.now();
    for (let k = 0; k < repeats; k++) run();
    return (performance.now() - start) / 1000;
}

/* Runs a rung in rounds that are long beside the clock's steps; its value is null where it cannot run here. */
function measure({ rung }) {
    const run = runnerOf(rung);
    if (!run) return { value: null };
    const value = run();
    const start = performance.now();
    while (performance.now() - start < WARM_SECONDS * 1000) /* JavaScript is compiled while it runs */ run();
    let repeats = 1;
    let once = pass(run, 1);
    let seconds = null;
    while (!seconds || (once < ROUND_SECONDS / 4 && repeats < MOST_REPEATS)) {
        while (once < ROUND_SECONDS / 2 && repeats < MOST_REPEATS) {
            repeats *= 4;
            once = pass(run, repeats);
        }
        seconds = Array.from({ length: ROUNDS }, () => pass(run, repeats) / repeats);
        once = median(seconds) * repeats; /* less than it was if the system held that pass up */
    }
    return { value, ...statistics(seconds), repeats, clock: 'wall' };
}

onmessage = async ({ data: { id, call, ...rest } }) => {
    try {
        const { transfer, ...result } = await calls[call](rest);
        postMessage({ id, result }, transfer ?? []);
    } catch (error) {
        postMessage({ id, error: error.message });
    }
};
