/* The page's ladder without a browser: the same modules on Dawn for Node, on the Vulkan driver that VK_ICD_FILENAMES
 * names. Prints the run as Markdown; ends with 1 if a rung that is no specimen is wrong or bits differ.
 *
 *   node web/tests/climb.js [--n 10Mi] [--size 256] [--finish own] [--kind uniform] [--columns 64] [--applications] [--json]
 *   node web/tests/climb.js --rows [--n 4Mi,10Mi] [--size 256,1024]
 *
 * --columns climbs the ladder of rows, of so many elements each; --applications runs reductions other than a plain sum. --rows
 * prints the GPU's rungs as a report of `reduct ladder --json` has them, for each number of elements in workgroups of each size.
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
        rows: { type: 'boolean' },
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

const { openGpu, workgroupSizes } = await import('../page/gpu.js');
const { Run } = await import('../page/run.js');
const { json, markdown, verdict } = await import('../page/report.js');
const { parseCount } = await import('../page/format.js');
const { KINDS } = await import('../page/data.js');

const gpu = await openGpu();
const cpu = new Cpu();
if (gpu.missing) throw new Error(gpu.missing);
const { library, missing } = await cpu.open();
if (missing) throw new Error(missing);
const settingsOf = (n, size) => ({
    n: parseCount(n),
    columns: options.columns && parseCount(options.columns),
    applications: options.applications,
    kind: options.kind,
    type: KINDS[options.kind].type,
    seed: 1,
    size: Number(size),
    finish: options.finish,
    library,
});
const climb = (n, size) =>
    new Run(gpu, cpu, settingsOf(n, size), {
        tell: what => process.stderr.write(`${what}\n`),
        signal: new AbortController().signal,
    }).all();

/* With as many digits as the command writes. */
const figure = value => (value ? Number(value.toPrecision(9)) : null);

/* A row of the page's report as the command has it. The page's exact rung has workgroups of its own. */
const rowOf = ({ n, type, expected }, size, row) => ({
    group: 'rungs',
    name: row.id,
    variant: row.finish ?? null,
    type,
    device: 'webgpu',
    language: 'wgsl',
    n,
    bytes: 4 * n,
    block: row.id === 'exact' ? null : size,
    seconds: figure(row.seconds),
    spread: figure(row.seconds && row.spread / row.seconds),
    bytes_per_second: figure(row.bytesPerSecond),
    verdict: row.error ? 'not run' : verdict(row),
    expected: row.seconds ? String(expected.rounded) : null,
    got: row.seconds ? String(row.value) : null,
    ulp: row.seconds ? figure(row.ulp) ?? 0 : null,
    note: row.error ?? row.without ?? null,
});

async function rows() {
    const facts = { date: `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`, WebGPU: gpu.description.name, 'WebGPU by': navigator.userAgent };
    const offered = workgroupSizes(gpu.device);
    const sizes = options.size.split(',').map(Number);
    const reports = [];
    cpu.measure = async () => ({ value: null });
    for (const n of options.n.split(','))
        for (const size of sizes.filter(size => offered.includes(size))) reports.push([size, await climb(n, size)]);
    const warnings = sizes
        .filter(size => !offered.includes(size))
        .map(size => `WebGPU: workgroups of ${size} were not run: here they have at most ${Math.max(...offered)} threads`);
    const found = reports.flatMap(([size, report]) =>
        report.rows.filter(row => row.device === 'gpu' && !row.specimen).map(row => rowOf(report, size, row)),
    );
    console.log(JSON.stringify({ facts, warnings, rows: found }, null, 1));
    return reports.map(([, report]) => report);
}

async function table() {
    const report = await climb(options.n, options.size);
    console.log(options.json ? json(report) : markdown(report));
    return [report];
}

const reports = await (options.rows ? rows() : table());
const all = reports.flatMap(report => report.rows);
const wrong = all.filter(row => row.error || (row.right === false && !row.specimen)).map(row => row.name);
const different = reports.flatMap(report => report.bits ?? []).filter(({ same }) => !same).map(({ operator }) => operator);
if (wrong.length || different.length) console.error(`wrong: ${[...wrong, ...different].join(', ')}`);
process.exit(wrong.length || different.length ? 1 : 0); /* Dawn would keep the process alive */
