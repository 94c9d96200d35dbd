/* The page's ladder without a browser: the same modules on Dawn for Node, on the Vulkan driver that VK_ICD_FILENAMES
 * names. Prints the run as Markdown; ends with 1 if a rung that is no specimen is wrong or bits differ.
 *
 *   node web/tests/climb.js [--n 10Mi] [--size 256] [--finish own] [--kind uniform] [--columns 64] [--applications] [--json]
 *
 * --columns climbs the ladder of rows, of so many elements each; --applications runs reductions other than a plain sum.
 *
 * Needs web/wasm/build and `npm install` in web/reduct. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import '../reduct/tests/device.js'; /* Dawn, in globalThis.gpuOfTests */

const { values: options } = parseArgs({
    options: {
        n: { type: 'string', default: '10Mi' },
        size: { type: 'string', default: '256' },
        finish: { type: 'string', default: 'own' },
        kind: { type: 'string', default: 'uniform' },
        columns: { type: 'string' },
        applications: { type: 'boolean' },
        json: { type: 'boolean' },
    },
});

/* What a browser has and Node has not: a GPU, files by fetch(), a worker's messages. */
const dawn = createRequire(new URL('../reduct/package.json', import.meta.url))('webgpu/package.json').version;
Object.defineProperty(globalThis, 'navigator', {
    value: { gpu: globalThis.gpuOfTests, userAgent: `Node ${process.version}, Dawn (webgpu ${dawn})` },
});
const fetchFromWeb = globalThis.fetch;
globalThis.fetch = async address =>
    address.protocol === 'file:' ? new Response(await readFile(address)) : fetchFromWeb(address);

/* cpu-worker.js in this thread. */
class Cpu {
    async open() {
        globalThis.onmessage = null;
        globalThis.postMessage = ({ result, error }) =>
            error === undefined ? this.settle.resolve(result) : this.settle.reject(new Error(error));
        await import('../page/cpu-worker.js');
        return this.call({ call: 'open' });
    }

    call(data) {
        return new Promise((resolve, reject) => {
            this.settle = { resolve, reject };
            globalThis.onmessage({ data });
        });
    }

    make(kind, n, seed, columns, applications) {
        return this.call({ call: 'make', kind, n, seed, columns, applications });
    }

    measure(rung) {
        return this.call({ call: 'measure', rung });
    }
}

const { openGpu } = await import('../page/gpu.js');
const { Run } = await import('../page/run.js');
const { json, markdown } = await import('../page/report.js');
const { parseCount } = await import('../page/format.js');
const { KINDS } = await import('../page/data.js');

const gpu = await openGpu();
const cpu = new Cpu();
if (gpu.missing) throw new Error(gpu.missing);
const { library, missing } = await cpu.open();
if (missing) throw new Error(missing);
const settings = {
    n: parseCount(options.n),
    columns: options.columns && parseCount(options.columns),
    applications: options.applications,
    kind: options.kind,
    type: KINDS[options.kind].type,
    seed: 1,
    size: Number(options.size),
    finish: options.finish,
    library,
};
const report = await new Run(gpu, cpu, settings, {
    tell: what => process.stderr.write(`${what}\n`),
    signal: new AbortController().signal,
}).all();
console.log(options.json ? json(report) : markdown(report));
const wrong = report.rows.filter(row => row.error || (row.right === false && !row.specimen)).map(row => row.name);
const different = (report.bits ?? []).filter(({ same }) => !same).map(({ operator }) => operator);
if (wrong.length || different.length) console.error(`wrong: ${[...wrong, ...different].join(', ')}`);
process.exit(wrong.length || different.length ? 1 : 0); /* Dawn would keep the process alive */
