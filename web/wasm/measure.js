/* Times the library in WebAssembly beside plain JavaScript loops, in turns, and prints the best of many runs as a
 * Markdown table:    node web/wasm/measure.js
 *
 * A call of the package copies its data into WebAssembly's memory; "in place" is the library alone, on data that are
 * there already. */
import { load } from '../reduct/index.js';

const reduct = await load(), { exports } = reduct;
const SIZES = [1 << 16, 1 << 24]; /* elements */
const SECONDS = 2;                /* for each row */

const plain = {
    sum: x => {
        let sum = 0;
        for (let i = 0; i < x.length; i++)
            sum += x[i];
        return sum;
    },
    norm2: x => {
        let sum = 0;
        for (let i = 0; i < x.length; i++)
            sum += x[i] * x[i];
        return Math.sqrt(sum);
    },
    max: x => {
        let greatest = -Infinity;
        for (let i = 0; i < x.length; i++)
            greatest = Math.max(greatest, x[i]);
        return greatest;
    },
};

let kept; /* or the engine might drop loops whose results nobody reads */

function time(run) {
    const start = performance.now();
    kept = run();
    return performance.now() - start;
}

/* The best time of each of several ways, taken in turns. */
function race(ways) {
    const best = ways.map(() => Infinity), end = performance.now() + 1000 * SECONDS;
    while (performance.now() < end)
        ways.forEach((way, i) => { best[i] = Math.min(best[i], time(way)); });
    return best;
}

console.log(`Node ${process.version}, ${new Date().toISOString().slice(0, 10)}; GB/s\n`);
console.log('| operator | data | JavaScript loop | exact, package | exact, in place |\n|---|---|---|---|---|');
for (const [type, Type] of [['f32', Float32Array], ['f64', Float64Array]])
    for (const n of SIZES) {
        const x = Type.from({ length: n }, () => Math.random() * 2 - 1), at = exports.malloc(x.byteLength), out = exports.malloc(8);
        new Type(exports.memory.buffer, at, n).set(x);
        for (const operator of ['sum', 'norm2', 'max']) {
            const best = race([() => plain[operator](x), () => reduct[operator](x), () => exports[`reduct_${operator}_${type}`](at, n, out)]);
            const rates = best.map(ms => (x.byteLength / ms / 1e6).toFixed(2));
            console.log(`| ${operator} | ${type}, ${x.byteLength / 1024} KiB | ${rates.join(' | ')} |`);
        }
        exports.free(at);
        exports.free(out);
    }
process.exitCode = kept === undefined ? 1 : 0;
