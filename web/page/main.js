/* The page: reads the settings, runs, and shows. */
import { Cpu } from './cpu.js';
import { FINISHES } from './rungs.js';
import { KINDS } from './data.js';
import { METRICS, draw } from './chart.js';
import { Run } from './run.js';
import { bitsTable, ladderTable } from './table.js';
import { byId, element } from './dom.js';
import { bytes, count, factor, parseCount, rate, time } from './format.js';
import { CLOCKS, circumstances, json, markdown, note, summary } from './report.js';
import { mostElements, openGpu, workgroupSizes } from './gpu.js';
import { openTarget, rungList } from './sources.js';
import { setUpFiles } from './file.js';

const SEED = 1;

/* Without a GPU, the most that the CPU's side is asked for; WebAssembly has 4 GiB at most. */
const MOST_ON_CPU = 2 ** 28;

const state = { gpu: null, cpu: new Cpu(), library: null, report: null, abort: null };

/* ---------------------------------------------------------------------------------------------------------------------
 * What there is
 * ------------------------------------------------------------------------------------------------------------------ */

async function open() {
    const [gpu, library] = await Promise.all([
        openGpu(),
        state.cpu.open().catch(error => ({ missing: error.message })),
    ]);
    Object.assign(state, { gpu, library: library.library ?? null });
    showDevice(gpu, library);
    showChoices();
    gpu.device?.lost.then(lost => lost.reason !== 'destroyed' && loseDevice(lost));
    byId('start').disabled = false;
}

function loseDevice(lost) {
    state.gpu = {
        missing: `The GPU was lost: ${lost.message || 'the browser does not say why'}. Reload the page to try again.`,
    };
    state.abort?.abort();
    showDevice(state.gpu, { library: state.library });
}

const chip = text => element('span', { class: 'chip' }, text);

function showDevice(gpu, library) {
    const lines = [];
    if (gpu.missing) {
        lines.push(
            element(
                'p',
                {},
                element('strong', {}, 'No WebGPU here. '),
                gpu.missing,
                ' The CPU’s ladder runs all the same.',
            ),
        );
    } else {
        const { description, timestamps } = gpu;
        const { limits, subgroups } = description;
        lines.push(
            element(
                'p',
                {},
                element('strong', { id: 'device-name' }, description.name),
                description.fallback ? ' (software)' : '',
            ),
            element(
                'p',
                { class: 'chips' },
                chip(`up to ${Math.max(...workgroupSizes(gpu.device))} threads per workgroup`),
                chip(`${bytes(limits.maxComputeWorkgroupStorageSize)} workgroup memory`),
                chip(`${bytes(limits.maxStorageBufferBindingSize)} per buffer`),
                subgroups && gpu.features.includes('subgroups')
                    ? chip(
                          subgroups.least === subgroups.most
                              ? `subgroups of ${subgroups.least}`
                              : `subgroups of ${subgroups.least} to ${subgroups.most}`,
                      )
                    : null,
                ...gpu.features.map(chip),
            ),
            element(
                'p',
                { class: 'dim' },
                `Clock: ${timestamps ? CLOCKS.timestamp : `no timestamps are offered, so ${CLOCKS.wall}`}.`,
            ),
        );
    }
    if (library.missing) lines.push(element('p', {}, element('strong', {}, 'No WebAssembly part. '), library.missing));
    byId('device').replaceChildren(...lines);
}

function option(value, text = value, selected = false) {
    return element('option', { value, selected }, text);
}

function showChoices() {
    const { gpu } = state;
    const sizes = gpu.missing ? [] : workgroupSizes(gpu.device);
    byId('size').replaceChildren(
        ...sizes.map(size => option(String(size), String(size), size === Math.min(256, sizes.at(-1)))),
    );
    byId('size').disabled = byId('finish').disabled = sizes.length === 0;
    byId('finish').replaceChildren(
        option('own', 'each rung’s own'),
        ...Object.keys(FINISHES).map(name => option(name)),
    );
    byId('kind').replaceChildren(...Object.entries(KINDS).map(([kind, { label }]) => option(kind, label)));
    byId('count-help').textContent = `1 to ${count(mostHere())}, such as 1e6 or 4 Mi`;
}

const mostHere = () => (state.gpu.missing ? MOST_ON_CPU : Math.min(MOST_ON_CPU, mostElements(state.gpu.device)));

/* ---------------------------------------------------------------------------------------------------------------------
 * Running
 * ------------------------------------------------------------------------------------------------------------------ */

function settings() {
    const n = parseCount(byId('count').value);
    if (!(n >= 1 && n <= mostHere()))
        throw new RangeError(
            `Elements: expected a whole number from 1 to ${count(mostHere())}, such as 10 Mi or 1e6; ` +
                `found '${byId('count').value}'.`,
        );
    const kind = byId('kind').value;
    return {
        n,
        kind,
        type: KINDS[kind].type,
        seed: SEED,
        size: Number(byId('size').value),
        finish: byId('finish').value,
        library: state.library,
    };
}

function showProblem(message) {
    byId('problem').hidden = !message;
    byId('problem').textContent = message ?? '';
}

function tell(what, done, of) {
    byId('progress').value = done / of;
    byId('progress-text').textContent = what;
}

function running(yes) {
    byId('start').disabled = yes;
    byId('stop').hidden = byId('progress-box').hidden = !yes;
    byId('settings').setAttribute('aria-busy', String(yes));
}

async function run(event) {
    event.preventDefault();
    showProblem(null);
    state.abort = new AbortController();
    try {
        const chosen = settings();
        running(true);
        show(await new Run(state.gpu, state.cpu, chosen, { tell, signal: state.abort.signal }).all());
    } catch (error) {
        if (error.name !== 'AbortError') showProblem(error.message);
    } finally {
        running(false);
        state.abort = null;
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Showing
 * ------------------------------------------------------------------------------------------------------------------ */

function show(report) {
    state.report = report;
    byId('results').hidden = false;
    byId('summary').textContent = summary(report);
    byId('circumstances').textContent = circumstances(report);
    byId('table').replaceChildren(ladderTable(report));
    byId('table-note').textContent = note(report);
    byId('bits').replaceChildren(bitsTable(report));
    byId('copied').textContent = '';
    redraw();
    byId('results').focus({ preventScroll: true });
    byId('results').scrollIntoView({
        behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth',
    });
}

function redraw() {
    if (!state.report) return;
    const metric = document.querySelector('input[name="metric"]:checked').value;
    draw(byId('chart'), state.report, metric in METRICS ? metric : 'bandwidth');
}

async function copy(make) {
    try {
        await navigator.clipboard.writeText(make(state.report));
        byId('copied').textContent = 'Copied.';
    } catch (error) {
        byId('copied').textContent = `The browser did not allow it: ${error.message}`;
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */

byId('settings').addEventListener('submit', run);
byId('stop').addEventListener('click', () => state.abort?.abort());
byId('finish').addEventListener('change', event => {
    byId('finish-help').textContent = FINISHES[event.target.value] ?? 'how the workgroups’ sums are added';
});
document.querySelectorAll('input[name="metric"]').forEach(input => input.addEventListener('change', redraw));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
byId('copy-json').addEventListener('click', () => copy(json));
byId('copy-markdown').addEventListener('click', () => copy(markdown));
byId('rung-list').replaceChildren(...rungList());
addEventListener('hashchange', openTarget);
openTarget();
setUpFiles();
open();
