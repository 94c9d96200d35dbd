/* The table of a run, and the bits of both exact engines. */
import { element } from './dom.js';
import { PUBLISHED } from './rungs.js';
import { factor, rate, shortest, time, ulp } from './format.js';
import { VERDICTS, verdict } from './report.js';

const [TUTORIAL] = PUBLISHED;

function mark(row) {
    const word = verdict(row);
    const kind =
        { right: 'good', 'right, by luck': 'luck', 'all digits lost': 'luck', wrong: 'bad', failed: 'bad' }[word] ??
        'dim';
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

function published(row) {
    const seconds = row.device === 'gpu' ? TUTORIAL.seconds[row.id] : null;
    return element('td', { class: 'number dim' }, seconds ? time(seconds) : '');
}

function rowOf(row, best) {
    if (!row.seconds)
        return element(
            'tr',
            { class: 'without', 'data-rung': `${row.device} ${row.id}` },
            name(row),
            element('td', { colspan: 6, class: 'dim' }, mark(row), ` ${row.without ?? row.error}`),
        );
    const spread = `± ${((100 * row.spread) / row.seconds).toFixed(1)} %`;
    return element(
        'tr',
        { class: row.specimen ? 'specimen' : null, 'data-rung': `${row.device} ${row.id}` },
        name(row),
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
        element('td', { class: 'number' }, factor(row.speedup)),
        element('td', { class: 'number' }, ulp(row.ulp)),
        element('td', {}, mark(row), element('code', { class: 'bits', title: String(row.value) }, row.bits)),
        published(row),
    );
}

const HEADS = [
    ['Rung'],
    ['Time', 'number'],
    ['GB/s', 'number'],
    ['× first', 'number'],
    ['Error, ulp', 'number'],
    ['Result'],
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
            ...report.rows.filter(row => row.device === device).map(row => rowOf(row, best)),
        );
    return element(
        'table',
        { id: 'ladder-table' },
        element(
            'caption',
            { class: 'hidden' },
            'Every rung: time, bandwidth, speed-up over the first rung of its device, error and result',
        ),
        element(
            'thead',
            {},
            element(
                'tr',
                {},
                ...HEADS.map(([text, kind]) => element('th', { scope: 'col', class: kind ?? null }, text)),
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
