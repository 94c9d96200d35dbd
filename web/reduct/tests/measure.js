/* Times the exact kernels on the WebGPU device at hand, by its own clock, and checks every result against the library in
 * WebAssembly; prints a Markdown table:    node web/reduct/tests/measure.js [log2 of the most elements, 24] */
import { openDevice } from './device.js';
import { GpuReduct, load } from '../index.js';

const most = Number(process.argv[2] ?? 24), RUNS = 20;
const device = await openDevice({ features: ['timestamp-query'], limits: ['maxBufferSize', 'maxStorageBufferBindingSize'] });
const reduct = await load(), engine = await GpuReduct.create(device, { reduct });
const queries = device.createQuerySet({ type: 'timestamp', count: 2 });
const stamps = device.createBuffer({ size: 16, usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC });
const readback = device.createBuffer({ size: 16, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });

/* Microseconds that the device took. */
async function time(reduction) {
    const encoder = device.createCommandEncoder();
    reduction.encode(encoder, { timestampWrites: { querySet: queries, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 } });
    encoder.resolveQuerySet(queries, 0, 2, stamps, 0);
    encoder.copyBufferToBuffer(stamps, 0, readback, 0, 16);
    device.queue.submit([encoder.finish()]);
    await readback.mapAsync(GPUMapMode.READ);
    const [begin, end] = new BigUint64Array(readback.getMappedRange().slice(0));
    readback.unmap();
    return Number(end - begin) / 1000;
}

const KINDS = {
    uniform: () => Math.random(),
    'full range': (view => () => {
        view.setUint32(0, (Math.random() * 2 ** 32) >>> 0 & 0xff7fffff);
        return view.getFloat32(0);
    })(new DataView(new ArrayBuffer(4))),
};

const { vendor, architecture, description } = device.adapterInfo;
console.log(`${vendor} ${architecture} ${description}, ${new Date().toISOString().slice(0, 10)}; median of ${RUNS} runs\n`);
console.log('| operator | data | elements | microseconds | GB/s | bits |\n|---|---|---|---|---|---|');
for (let log = 16; log <= most; log += 4)
    for (const [kind, value] of Object.entries(KINDS)) {
        const x = new Float32Array(2 ** log), block = Float32Array.from({ length: 2 ** 16 }, value);
        for (let at = 0; at < x.length; at += block.length)
            x.set(block, at);
        const buffer = device.createBuffer({ size: x.byteLength, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST });
        device.queue.writeBuffer(buffer, 0, x);
        for (const operator of ['sum', 'norm2', 'max']) {
            const reduction = await engine.prepare(operator, buffer), times = [];
            for (let i = 0; i < RUNS; i++)
                times.push(await time(reduction));
            const same = (await reduction.result()).bits === reduct.reduce(operator, x).bits;
            const median = times.sort((a, b) => a - b)[RUNS >> 1];
            console.log(`| ${operator} | ${kind} | 2^${log} | ${median.toFixed(1)} | ${(x.byteLength / median / 1000).toFixed(2)} | ${same ? 'the same' : 'DIFFERENT'} |`);
            process.exitCode ||= same ? 0 : 1;
            reduction.destroy();
        }
        buffer.destroy();
    }
device.destroy();
