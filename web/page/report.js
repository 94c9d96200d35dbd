/* A run as text to take away: JSON with everything, Markdown with what the table shows. */
import { KINDS } from './data.js';
import { PUBLISHED } from './rungs.js';
import { bytes, count, factor, rate, time, ulp } from './format.js';

export function json(report) {
    const rows = report.rows.map(row => ({ ...row, verdict: verdict(row) }));
    return JSON.stringify({ ...report, rows, published: PUBLISHED }, null, 2);
}

export function verdict(row) {
    if (row.without) return 'not run';
    if (row.error) return 'failed';
    if (row.right === null) return 'not judged';
    if (!row.right) return 'wrong';
    if (row.specimen) return 'right, by luck';
    if (row.ulp === null || row.ulp <= 0.5) return 'right';
    return row.lost ? 'all digits lost' : 'approximate';
}

export const VERDICTS = {
    right: 'the correctly rounded sum',
    approximate: 'within the error that this way of adding promises',
    'all digits lost': 'within the error that this way of adding promises, which is more than the sum itself',
    'right, by luck': 'the bits that the synchronised version gives, which nothing promises',
    wrong: 'outside of the error that this way of adding promises',
};

export const CLOCKS = {
    timestamp: 'the GPU’s own timestamps around repeated runs',
    wall: 'wall clock from submission to completion, repeated runs',
};

/* What was run on what, as sentences. */
export function circumstances(report) {
    const gpu = report.device
        ? `GPU: ${report.device.name}; workgroups of ${report.workgroup}; clock: ${CLOCKS[report.clock]}; ` +
          `${copies(report.copies)} of the array in turn.`
        : `No GPU: ${report.missing}`;
    return `${count(report.n)} elements (${KINDS[report.kind].label}). ${gpu}`;
}

/* The run in a few sentences. */
export function summary(report) {
    const device = report.rows.some(row => row.device === 'gpu' && row.seconds) ? 'gpu' : 'cpu';
    const rows = report.rows.filter(row => row.device === device && row.seconds && !row.specimen);
    const best = rows.reduce((a, b) => (a.seconds <= b.seconds ? a : b));
    const exact = rows.find(row => row.id.endsWith('exact'));
    const wrong = report.rows.filter(row => row.right === false && !row.specimen);
    const speed = `${time(best.seconds)}, ${rate(best.bytesPerSecond)} GB/s`;
    return [
        `${best.name} is the fastest: ${speed}, ${factor(best.speedup)} times the first rung.`,
        exact && exact !== best ? `The exact sum takes ${time(exact.seconds)}.` : '',
        report.bits ? sameness(report.bits) : '',
        wrong.length ? `Wrong here: ${wrong.map(row => row.name).join(', ')}.` : '',
    ].join(' ');
}

function sameness(bits) {
    return bits.every(({ same }) => same)
        ? 'All exact results have the same bits on the GPU and in C.'
        : 'Some exact results differ between the GPU and C: please report this.';
}

const copies = number => (number === 1 ? '1 copy' : `${number} copies`);

/* What one has to know to read the table. */
export function note(report) {
    const { value, judge } = report.expected;
    const all = bytes(4 * report.n * report.copies);
    const cached = 'what fits into a cache is served from there';
    return [
        report.copies ? `Runs take ${copies(report.copies)} of the array in turn, ${all} in all; ${cached}.` : '',
        `Expected: ${value === null ? 'unknown without the WebAssembly part' : value}, by ${judge}.`,
        report.type === 'f32' ? 'An error of half an ulp or less is the best that f32 can do.' : '',
        'The tutorial’s times (10 Mi floats) hold everything that its page did around the kernel.',
    ].join(' ');
}

function markdownRow(row) {
    const cells = row.seconds
        ? [
              time(row.seconds),
              rate(row.bytesPerSecond),
              factor(row.speedup),
              ulp(row.ulp),
              `${verdict(row)} ${row.bits}`,
          ]
        : ['', '', '', '', `${verdict(row)}: ${row.without ?? row.error}`];
    return `| ${[row.device, row.name, row.finish ?? '', ...cells].join(' | ')} |`;
}

export function markdown(report) {
    const lines = [
        circumstances(report),
        '',
        '| device | rung | finish | time | GB/s | × first | error, ulp | result |',
        '|---|---|---|---:|---:|---:|---:|---|',
        ...report.rows.map(markdownRow),
    ];
    if (report.bits) {
        lines.push('', '| exact, f32 | GPU (WGSL) | C library (WebAssembly) | |', '|---|---|---|---|');
        report.bits.forEach(({ operator, gpu, wasm, same }) =>
            lines.push(`| ${operator} | ${gpu} | ${wasm} | ${same ? 'same bits' : 'DIFFERENT'} |`),
        );
    }
    return `${lines.join('\n')}\n\n${report.date}, ${report.browser}\n`;
}
