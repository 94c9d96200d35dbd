/* The ladder as data: which texts make up each rung, and how it divides the work. Names, finishes, ideas and what others
 * published are those of all languages: lists.js has them from ladder/*.def. */
import { isChinese } from './chinese.js';
import { CPU_LIST, FINISH_LIST, GPU_LIST, IDEAS_ZH, ROWS_LIST, SOURCES } from './lists.js';

/* An idea as a sentence in WebGPU's words. */
function sentence(idea) {
    const words = idea
        .replaceAll('shared memory', 'workgroup memory')
        .replaceAll('block', 'workgroup')
        .replaceAll('...', '…')
        .replaceAll("'", '’');
    return `${words[0].toUpperCase()}${words.slice(1)}.`;
}

/* On the Chinese page, what docs/zh/rungs.md says. */
const ideaOf = (id, english) => (isChinese && IDEAS_ZH[id]) || english;

/* elements: how many each thread takes, or 'grid' where the grid is fixed. faulty: the lines of a specimen that are its
 * mistake. destroys: its input, so that it works on copies. idea: where WGSL does it in another way than the other languages. */
const WGSL = {
    'global-halving': { elements: 1, destroys: true },
    'neighbour-modulo': { elements: 1 },
    'neighbour-strided': { elements: 1 },
    halving: { elements: 1 },
    'first-add': { elements: 2 },
    'last-warp-implicit': {
        elements: 2,
        specimen: true,
        faulty: /^\s*tile\[me\.tid\] \+= tile\[me\.tid \+ \d+\];/ /* what nothing synchronises */,
        idea: 'The last 64 values without any synchronisation: a mistake, run to see what it does here.',
    },
    'last-warp': { elements: 2, idea: 'The same made right: every step keeps its barrier.' },
    unrolled: { elements: 2, idea: 'No loop: the workgroup’s size is known when the pipeline is made.' },
    'grid-stride': { elements: 'grid', helpers: ['tree'] },
    shuffle: { elements: 'grid', feature: 'subgroups', helpers: ['slots'] },
    'warp-reduce': {
        elements: 'grid',
        feature: 'subgroups',
        helpers: ['slots'],
        idea: 'The sum of a subgroup left to the hardware or the driver.',
    },
    'vector-loads': { elements: 'grid', helpers: ['tree', 'vectors'] },
    'one-launch': { elements: 'grid', helpers: ['tree', 'vectors'] },
    exact: { finish: 'its own', engine: true },
};

/* Those of the list that there are in WGSL, in its order. */
export const GPU_RUNGS = Object.entries(GPU_LIST)
    .filter(([id]) => id in WGSL)
    .map(([id, { finish, idea }]) => ({ id, finish, ...WGSL[id], idea: ideaOf(id, WGSL[id].idea ?? sentence(idea)) }));

/* The ladder of rows. take: who takes a row. */
const ROWS = {
    'row-thread': { take: 'thread' },
    'row-block': { take: 'workgroup', helpers: ['tree'] },
    'row-warp': { take: 'subgroup', feature: 'subgroups', helpers: ['rows/subgroups'] },
    'rows-per-warp': { take: 'lanes', feature: 'subgroups', helpers: ['rows/subgroups'] },
    'row-vectors': { take: 'vectors', feature: 'subgroups', helpers: ['rows/subgroups'] },
    'column-tiles': { take: 'tiles', columns: true },
};

/* Those of the list that there are in WGSL, in its order: all but the library's. columns: the sums are of columns. */
export const ROW_RUNGS = Object.entries(ROWS_LIST)
    .filter(([id]) => id in ROWS)
    .map(([id, { idea }]) => ({ id, idea: ideaOf(id, sentence(idea)), finish: '', file: `rows/${id}`, ...ROWS[id] }));

/* Reductions other than a plain sum, and sums of texels. operator: as the library has it. texels: in which order. */
export const APPLICATIONS = [
    { id: 'dot', operator: 'dot', idea: 'Multiply pairs, and add: the numbers, and the same in reverse.' },
    { id: 'maximum', operator: 'max', idea: 'The larger one of two, from -∞; a NaN wins.' },
    { id: 'mean', operator: 'mean', idea: 'Add, and divide by the number of elements once, at the end.' },
    { id: 'texture-array', operator: 'sum', idea: 'The plain sum of an array, beside those of texels.' },
    { id: 'texture-rows', operator: 'sum', texels: 'rows', idea: 'The same numbers as texels, read row by row.' },
    { id: 'texture-tiles', operator: 'sum', texels: 'tiles', idea: 'Texels read tile by tile, in squares that a GPU keeps close together.' },
].map(application => ({ ...application, elements: 'grid', finish: '', file: `applications/${application.id}` }));

/* Beside them: one call of the library each. */
export const APPLICATION_CPU_RUNGS = ['dot', 'max', 'mean', 'sum'].map(operator => ({
    id: `cpu-${operator}`,
    name: `${operator} (WebAssembly)`,
    operator,
}));

const cpuRung = (id, more) => ({ id, idea: sentence(CPU_LIST[id].idea), ...more });

/* Of the CPU's ladder what a page can run, and the loop that one writes there first. */
export const CPU_RUNGS = [
    {
        id: 'js',
        name: 'JavaScript loop',
        idea: 'What one writes first. JavaScript adds in f64, so it is more accurate than f32.',
    },
    cpuRung('plain', {
        idea: 'WebAssembly: one loop, one f32 sum; every addition waits for the one before.',
    }),
    cpuRung('accumulators'),
    cpuRung('vectors', { idea: 'Eight sums, each a vector of four (SIMD).' }),
    cpuRung('kahan'),
    cpuRung('pairwise'),
    cpuRung('exact', {
        id: 'cpu-exact',
        name: 'exact (WebAssembly)',
        idea: 'The C library: the infinitely precise sum, rounded once.',
    }),
];

/* Beside the ladder of rows. */
export const ROW_CPU_RUNGS = CPU_RUNGS.filter(({ id }) => id === 'js' || id === 'cpu-exact');

export const FINISHES = Object.fromEntries(
    Object.entries(FINISH_LIST).map(([id, idea]) => [id, idea.replaceAll('block', 'workgroup')]),
);

/* The texts of ladder/wgsl/ that make up the finishes. */
export function finishText(finish, type) {
    if (finish === 'atomic') return `finish-atomic-${type}`;
    return finish === 'last-block' ? 'finish-last' : 'finish-store';
}

/* Published ladders, in seconds. They belong to their day and their machines: compare the steps, not the figures. */
export const PUBLISHED = SOURCES;

export const nameOf = rung => rung.name ?? rung.id;
