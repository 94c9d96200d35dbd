/* The ladder as data: which texts make up each rung, how it divides the work, and what others published. */

/* elements: how many each thread takes, or 'grid' where the grid is fixed. finish: the rung's own, when none is chosen.
 * faulty: the lines of a specimen that are its mistake.
 * The ideas in one line are those of ladder/rungs.def. */
export const GPU_RUNGS = [
    {
        id: 'neighbour-modulo',
        elements: 1,
        finish: 'recursive',
        idea: 'Workgroup memory, strides 1, 2, 4 …: whoever tid % (2 s) == 0 adds tid + s.',
    },
    {
        id: 'neighbour-strided',
        elements: 1,
        finish: 'recursive',
        idea: 'The same pairs, added by threads that are neighbours.',
    },
    {
        id: 'halving',
        elements: 1,
        finish: 'recursive',
        idea: 'tid and tid + s, s halved: neighbouring threads, neighbouring memory.',
    },
    {
        id: 'first-add',
        elements: 2,
        finish: 'recursive',
        idea: 'Each thread adds two elements while loading: half the workgroups.',
    },
    {
        id: 'last-warp-implicit',
        elements: 2,
        finish: 'recursive',
        specimen: true,
        faulty: /^\s*tile\[me\.tid\] \+= tile\[me\.tid \+ \d+\];/ /* what nothing synchronises */,
        idea: 'The last 64 values without any synchronisation: a mistake, run to see what it does here.',
    },
    { id: 'last-warp', elements: 2, finish: 'recursive', idea: 'The same made right: every step keeps its barrier.' },
    {
        id: 'unrolled',
        elements: 2,
        finish: 'recursive',
        idea: 'No loop: the workgroup’s size is known when the pipeline is made.',
    },
    {
        id: 'grid-stride',
        elements: 'grid',
        finish: 'second-launch',
        helpers: ['tree'],
        idea: 'A fixed grid whose threads add many elements each before they meet.',
    },
    {
        id: 'warp-reduce',
        elements: 'grid',
        finish: 'second-launch',
        feature: 'subgroups',
        idea: 'The sum of a subgroup left to the hardware or the driver.',
    },
    {
        id: 'vector-loads',
        elements: 'grid',
        finish: 'second-launch',
        helpers: ['tree', 'vectors'],
        idea: '16 bytes per load, several loads under way per thread.',
    },
    {
        id: 'one-launch',
        elements: 'grid',
        finish: 'last-block',
        helpers: ['tree', 'vectors'],
        idea: 'The last workgroup to finish adds up the others: no second launch.',
    },
    { id: 'exact', finish: 'its own', engine: true, idea: 'The library: the infinitely precise sum, rounded once.' },
];

export const CPU_RUNGS = [
    {
        id: 'js',
        name: 'JavaScript loop',
        idea: 'What one writes first. JavaScript adds in f64, so it is more accurate than f32.',
    },
    { id: 'plain', idea: 'WebAssembly: one loop, one f32 sum; every addition waits for the one before.' },
    { id: 'accumulators', idea: 'Eight sums in turn, so that eight additions are under way at once.' },
    { id: 'vectors', idea: 'Eight sums, each a vector of four (SIMD).' },
    { id: 'kahan', idea: 'One loop that carries along what each addition rounded off.' },
    { id: 'pairwise', idea: 'Halves of halves: rounding errors grow with log n.' },
    { id: 'cpu-exact', name: 'exact (WebAssembly)', idea: 'The C library: the infinitely precise sum, rounded once.' },
];

export const FINISHES = {
    host: 'the CPU reads the workgroups’ sums and adds them',
    'second-launch': 'one more workgroup adds them',
    recursive: 'the same kernel, until one value is left',
    atomic: 'each workgroup adds its sum to the result',
    'last-block': 'the last workgroup to finish adds them',
};

/* The texts of ladder/wgsl/ that make up the finishes. */
export function finishText(finish, type) {
    if (finish === 'atomic') return `finish-atomic-${type}`;
    return finish === 'last-block' ? 'finish-last' : 'finish-store';
}

/* Published ladders, in seconds. They belong to their day and their machines: compare the steps, not the figures. */
export const PUBLISHED = [
    {
        id: 'webgpu',
        name: 'WebGPU tutorial',
        machine: 'a browser, 10 Mi f32, the whole call from a page',
        n: 10 * 2 ** 20,
        seconds: { 'neighbour-modulo': 1.88853, 'neighbour-strided': 1.71031, halving: 1.64008, 'first-add': 1.6578 },
    },
    {
        id: 'harris',
        name: 'Harris 2007',
        machine: 'G80 (86.4 GB/s), 4 Mi i32, CUDA',
        n: 4 * 2 ** 20,
        seconds: {
            'neighbour-modulo': 8.054e-3,
            'neighbour-strided': 3.456e-3,
            halving: 1.722e-3,
            'first-add': 0.965e-3,
            'last-warp': 0.536e-3,
            unrolled: 0.381e-3,
            'grid-stride': 0.268e-3,
        },
    },
    {
        id: 'v100',
        name: 'V100 notes',
        machine: 'V100, 1 Mi i32, CUDA',
        n: 2 ** 20,
        seconds: {
            'neighbour-modulo': 120e-6,
            halving: 65e-6,
            'first-add': 42e-6,
            'last-warp': 36e-6,
            unrolled: 32e-6,
        },
    },
];

export const nameOf = rung => rung.name ?? rung.id;
