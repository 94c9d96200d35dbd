/* The table of a run, and the bits of both exact engines. */
import { element } from './dom.js';
import { PUBLISHED } from './rungs.js';
import { compared, factor, rate, shortest, time, ulp } from './format.js';
import { target, VERDICTS, verdict } from './report.js';

const TUTORIAL = PUBLISHED.find(({ id }) => id === 'webgpu');

function mark(row) {
    const word = verdict(row);
    const kind = { right: 'good', lucky: 'luck', 'within bound': 'luck', wrong: 'bad', failed: 'bad' }[word] ?? 'dim';
    return element('span', { class: `verdict ${kind}`, title: VERDICTS[word] ?? null }, word);
}

/* The bar behind a bandwidth is as long as it is of the best of the run. */
function bandwidth(row, best) {
    const cell = element('td', { class: 'number bar' }, element('span', {}, rate(row.bytesPerSecond)));
    cell.style.setProperty('--share', row.bytesPerSecond / best);
    return cell;
}

function name(row) {
    const link = row.device === 'gpu' ? element('a', { href: `#rung-${row.id}` }, row.name) : row.name;
    return element('th', { scope: 'row' }, link, row.finish ? element('small', {}, row.finish) : null);
}

/* What the tutorial published is of one sum, and applications are not faster than each other. */
const hasTutorial = ({ columns, applications }) => !columns && !applications;
const headsOf = report => HEADS.slice(0, HEADS.length - (report.applications ? 2 : report.columns ? 1 : 0));

function published(row) {
    const seconds = row.device === 'gpu' ? TUTORIAL.seconds[row.id] : null;
    return element('td', { class: 'number dim' }, seconds ? time(seconds) : '');
}

/* The verdict, the digits with those marked that differ from the right ones, the bits. */
function result(row, { expected, type }) {
    const rounded = row.should ?? expected.rounded;
    const { same, different } =
        rounded === null ? { same: shortest(row.value, type), different: '' } : compared(row.value, rounded, type);
    return element(
        'td',
        { class: 'result-cell' },
        mark(row),
        element('span', { class: 'digits' }, same, different ? element('mark', {}, different) : null),
        element('code', { class: 'bits' }, row.bits),
        row.of > 1 ? element('small', {}, row.rounded ? `sum 0 of ${row.of}` : `sum ${row.which}, the worst of ${row.of}`) : null,
    );
}

/* Above the table: what all of its sums should be. */
export function targetLine(report) {
    if (report.columns)
        return [
            'A sum for each row, and in column-tiles for each column: all of them are checked, and of each rung the worst is shown. ' +
                'Digits that differ are ',
            element('mark', {}, 'marked'),
            '.',
        ];
    if (report.applications)
        return ['Each result should be the f32 nearest to the exact one. Digits that differ are ', element('mark', {}, 'marked'), '.'];
    const sum = target(report);
    if (!sum) return ['What the sum should be, nothing here can tell without the WebAssembly part.'];
    if (report.type !== 'f32') return ['Every sum should be ', element('strong', {}, sum.exact), '.'];
    return [
        'The exact sum is ',
        element('strong', {}, sum.exact),
        '; every rung should give the f32 nearest to it, ',
        element('strong', { id: 'rounded' }, sum.rounded),
        sum.bits ? element('code', { class: 'bits' }, sum.bits) : null,
        ' Digits that differ are ',
        element('mark', {}, 'marked'),
        '.',
    ].filter(Boolean);
}

function rowOf(row, best, report) {
    if (!row.seconds)
        return element(
            'tr',
            { class: row.pending ? 'waiting' : 'without', 'data-rung': `${row.device} ${row.id}` },
            name(row),
            element('td', { colspan: 6, class: 'dim' }, mark(row), ` ${row.without ?? row.error ?? ''}`),
        );
    const spread = `± ${((100 * row.spread) / row.seconds).toFixed(1)} %`;
    return element(
        'tr',
        { class: row.specimen ? 'specimen' : null, 'data-rung': `${row.device} ${row.id}` },
        name(row),
        result(row, report),
        element('td', { class: 'number' }, ulp(row.ulp)),
        element(
            'td',
            {
                class: 'number',
                title: `median of ${row.rounds} rounds of ${row.repeats}, ${spread}, clock: ${row.clock}`,
            },
            time(row.seconds),
            row.clock === 'wall' && row.device === 'gpu' ? element('small', {}, 'wall clock') : null,
        ),
        bandwidth(row, best),
        report.applications ? null : element('td', { class: 'number' }, factor(row.speedup)),
        hasTutorial(report) ? published(row) : null,
    );
}

const HEADS = [
    ['Rung'],
    ['Result'],
    ['Error, ulp', 'number'],
    ['Time', 'number'],
    ['GB/s', 'number'],
    ['× first', 'number'],
    ['WebGPU tutorial', 'number'],
];

export function ladderTable(report) {
    const best = Math.max(...report.rows.map(row => row.bytesPerSecond ?? 0));
    const body = device =>
        element(
            'tbody',
            {},
            element(
                'tr',
                { class: 'group' },
                element('th', { colspan: 7, scope: 'rowgroup' }, device === 'gpu' ? 'GPU, WGSL' : 'CPU, one thread'),
            ),
            ...report.rows.filter(row => row.device === device).map(row => rowOf(row, best, report)),
        );
    return element(
        'table',
        { id: 'ladder-table' },
        element(
            'caption',
            { class: 'hidden' },
            'Every rung: result, error, time, bandwidth, and speed-up over the first rung of its device',
        ),
        element(
            'thead',
            {},
            element(
                'tr',
                {},
                ...headsOf(report).map(([text, kind]) => element('th', { scope: 'col', class: kind ?? null }, text)),
            ),
        ),
        ...(report.rows.some(row => row.device === 'gpu') ? [body('gpu')] : []),
        body('cpu'),
    );
}

/* The heads of both, and whether all are the same. */
export function bitsTable(report) {
    const rows =
        report.bits ??
        Object.entries(report.expected.bits ?? {}).map(([operator, { bits, value, type }]) => ({
            operator,
            value,
            type,
            wasm: bits,
        }));
    return element(
        'table',
        { id: 'bits-table' },
        element('caption', { class: 'hidden' }, 'Bits of the exact results'),
        element(
            'thead',
            {},
            element(
                'tr',
                {},
                ...['', 'GPU, WGSL', 'C library, WebAssembly', ''].map(text =>
                    text ? element('th', { scope: 'col' }, text) : element('td', {}),
                ),
            ),
        ),
        element(
            'tbody',
            {},
            ...rows.map(({ operator, value, type, gpu, wasm, same }) =>
                element(
                    'tr',
                    {},
                    element('th', { scope: 'row' }, operator),
                    element('td', {}, element('code', {}, gpu ?? 'not run')),
                    element('td', {}, element('code', {}, wasm), element('small', {}, shortest(value, type))),
                    element(
                        'td',
                        {},
                        gpu
                            ? element(
                                  'span',
                                  { class: `verdict ${same ? 'good' : 'bad'}` },
                                  same ? 'same bits' : 'different',
                              )
                            : '',
                    ),
                ),
            ),
        ),
    );
}
