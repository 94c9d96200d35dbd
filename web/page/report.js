/* A run as text to take away: JSON with everything, Markdown with what the table shows. */
import { KINDS } from './data.js';
import { PUBLISHED } from './rungs.js';
import { bytes, counted, factor, plain, rate, shortest, time, ulp } from './format.js';

export function json(report) {
    const rows = report.rows.map(row => ({ ...row, verdict: verdict(row) }));
    return JSON.stringify({ ...report, rows, published: PUBLISHED }, null, 2);
}

/* In the words that the reports of the C programs have, too. */
export function verdict(row) {
    if (row.pending) return 'waiting';
    if (row.without) return 'not run';
    if (row.error) return 'failed';
    if (row.right === null) return 'unchecked';
    if (!row.right) return 'wrong';
    if (row.specimen) return 'lucky';
    return row.rounded ? 'right' : 'within bound';
}

export const VERDICTS = {
    right: 'the bits of the correctly rounded sum',
    'within bound': 'not the correctly rounded sum, but within the error that this way of adding promises',
    lucky: 'the bits that the synchronised version gives, which nothing promises',
    unchecked: 'there is nothing to compare it with',
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
    const rows = report.columns ? ` in rows of ${report.columns}` : '';
    return `${counted(report.n, 'element')}${rows} (${KINDS[report.kind].label}). ${gpu}`;
}

/* The run in a few sentences. */
export function summary(report) {
    const device = report.rows.some(row => row.device === 'gpu' && row.seconds) ? 'gpu' : 'cpu';
    const rows = report.rows.filter(row => row.device === device && row.seconds && !row.specimen);
    if (!rows.length) return '';
    const best = rows.reduce((a, b) => (a.seconds <= b.seconds ? a : b));
    const exact = rows.find(row => row.id.endsWith('exact'));
    const wrong = report.rows.filter(row => row.right === false && !row.specimen);
    if (report.applications)
        return wrong.length ? wrongHere(wrong) : 'Every result is right, or within the error that its way of adding promises.';
    const speed = `${time(best.seconds)}, ${rate(best.bytesPerSecond)} GB/s`;
    return [
        misses(report),
        `${best.name} is the fastest: ${speed}, ${factor(best.speedup)} times the first rung.`,
        exact && exact !== best ? `The exact sum takes ${time(exact.seconds)}.` : '',
        report.bits ? sameness(report.bits) : '',
        wrong.length ? wrongHere(wrong) : '',
    ].join(' ');
}

const wrongHere = rows => `Wrong here: ${rows.map(row => row.name).join(', ')}.`;

/* How ordinary sums fare beside the exact ones. */
function misses({ rows, columns }) {
    const ordinary = rows.filter(row => row.seconds && !row.specimen && row.ulp !== null && !row.id.endsWith('exact'));
    const missed = ordinary.filter(row => !row.rounded);
    const exact = rows.find(row => row.id.endsWith('exact') && row.rounded);
    if (!missed.length || !exact) return '';
    const lost = missed.filter(row => row.lost).length;
    const digits = lost ? `, ${lost} of them with no digit left` : '';
    return columns
        ? `${missed.length} of ${ordinary.length} ordinary ways give sums that are not the right ones${digits}; exact sums are.`
        : `${missed.length} of ${ordinary.length} ordinary sums are not the right one${digits}; the exact sum is.`;
}

function sameness(bits) {
    return bits.every(({ same }) => same)
        ? 'All exact results have the same bits on the GPU and in C.'
        : 'Some exact results differ between the GPU and C: please report this.';
}

const copies = number => (number === 1 ? '1 copy' : `${number} copies`);

/* What every sum should be: {exact, rounded} as text; null where nothing here can tell. */
export function target({ expected: { value, rounded, bits }, type }) {
    if (value === null) return null;
    return { exact: plain(value), rounded: shortest(rounded, type), bits: bits?.sum.bits ?? null };
}

/* Where rungs are compared across finishes. */
function acrossFinishes({ rows, finish, columns, applications }) {
    const timed = rows.filter(row => row.device === 'gpu' && row.seconds && !row.specimen);
    return !columns && !applications && finish === 'own' && new Set(timed.map(row => row.finish)).size > 1
        ? 'Speed-ups on the GPU are over the first rung, each rung with its own finish; the finish second-launch sets like beside like.'
        : '';
}

/* What one has to know to read the table. */
export function note(report) {
    const all = bytes(4 * report.n * report.copies);
    const cached = 'what fits into a cache is served from there';
    return [
        report.copies ? `Runs take ${copies(report.copies)} of the array in turn, ${all} in all; ${cached}.` : '',
        `The exact ${report.applications ? 'results are' : report.columns ? 'sums are' : 'sum is'} by ${report.expected.judge}.`,
        report.type === 'f32'
            ? 'Errors are distances from the exact value, in units in the last place of an f32 (ulp); the correctly rounded sum has half an ulp at most.'
            : '',
        acrossFinishes(report),
        report.columns || report.applications ? '' : 'The tutorial’s times (10 Mi floats) hold everything that its page did around the kernel.',
    ].join(' ');
}

function markdownRow(row, type) {
    const cells = row.seconds
        ? [
              time(row.seconds),
              rate(row.bytesPerSecond),
              factor(row.speedup),
              ulp(row.ulp),
              `${verdict(row)}: ${shortest(row.value, type)} ${row.bits}`,
          ]
        : ['', '', '', '', [verdict(row), row.without ?? row.error].filter(Boolean).join(': ')];
    return `| ${[row.device, row.name, row.finish ?? '', ...cells].join(' | ')} |`;
}

export function markdown(report) {
    const lines = [
        circumstances(report),
        '',
        '| device | rung | finish | time | GB/s | × first | error, ulp | result |',
        '|---|---|---|---:|---:|---:|---:|---|',
        ...report.rows.map(row => markdownRow(row, report.type)),
    ];
    if (report.bits) {
        lines.push('', '| exact, f32 | GPU (WGSL) | C library (WebAssembly) | |', '|---|---|---|---|');
        report.bits.forEach(({ operator, gpu, wasm, same }) =>
            lines.push(`| ${operator} | ${gpu} | ${wasm} | ${same ? 'same bits' : 'DIFFERENT'} |`),
        );
    }
    if (acrossFinishes(report)) lines.push('', acrossFinishes(report));
    return `${lines.join('\n')}\n\n${report.date}, ${report.browser}\n`;
}
