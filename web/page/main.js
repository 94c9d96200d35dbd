/* The page: reads the settings, runs, and shows. */
import { Cpu } from './cpu.js';
import { FINISHES } from './rungs.js';
import { KINDS } from './data.js';
import { METRICS, draw } from './chart.js';
import { Run } from './run.js';
import { bitsTable, ladderTable, targetLine } from './table.js';
import { byId, element } from './dom.js';
import { bytes, count, counted, left, parseCount } from './format.js';
import { CLOCKS, circumstances, json, markdown, note, summary } from './report.js';
import { isSlow, mostElements, openGpu, workgroupSizes } from './gpu.js';
import { applicationList, openTarget, rowRungList, rungList } from './sources.js';
import { setUpExercises } from './exercises.js';
import { setUpFiles } from './file.js';
import { setUpStepper } from './stepper.js';

const SEED = 1;

/* Without a GPU, the most that the CPU's side is asked for; WebAssembly has 4 GiB at most. */
const MOST_ON_CPU = 2 ** 28;

/* Elements to begin with on slow devices, where those of the headline take minutes. */
const ELEMENTS_ON_SLOW = 2 ** 16;

/* mine: the visitor's own kernel, for one run; climb, abort: of the run that is on; ended: once the devices have done what runs gave them, which Stop does not wait
 * for. */
const state = {
    gpu: null,
    cpu: new Cpu(),
    library: null,
    report: null,
    mine: null,
    climb: null,
    abort: null,
    ended: Promise.resolve(),
};

/* ---------------------------------------------------------------------------------------------------------------------
 * What there is
 * ------------------------------------------------------------------------------------------------------------------ */

async function open() {
    const [gpu, library] = await Promise.all([
        openGpu(),
        state.cpu.open().catch(error => ({ missing: error.message })),
    ]);
    Object.assign(state, { gpu, library: library.library ?? null });
    if (!gpu.missing) gpu.slow = await isSlow(gpu);
    showDevice(gpu, library);
    showChoices();
    gpu.device?.lost.then(lost => lost.reason !== 'destroyed' && loseDevice(lost));
    byId('start').disabled = false;
}

function loseDevice(lost) {
    state.gpu = {
        missing: `The GPU was lost: ${lost.message || 'the browser does not say why'}. Reload the page to try again.`,
    };
    state.ended = Promise.resolve(); /* a lost device does nothing more */
    state.abort?.abort(new DOMException('the GPU was lost', 'AbortError'));
    showDevice(state.gpu, { library: state.library });
}

/* Named as what it is, since its times say nothing about GPUs. */
function slowness({ name, software }) {
    const what = software
        ? `${name} is no GPU but a program that plays one on the processor: it is slow, and its times say nothing about GPUs.`
        : `${name} is slow here.`;
    return `${what} The page begins with ${counted(ELEMENTS_ON_SLOW, 'element')}; more take as much longer.`;
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
                description.software ? ' (software)' : '',
            ),
            gpu.slow ? element('p', { id: 'slow' }, slowness(description)) : null,
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
    byId('size').disabled = sizes.length === 0;
    chooseLadder();
    byId('finish').replaceChildren(
        option('own', 'each rung’s own'),
        ...Object.keys(FINISHES).map(name => option(name)),
    );
    if (gpu.slow && !byId('count').dataset.touched) byId('count').value = count(ELEMENTS_ON_SLOW);
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
    const { type, label } = KINDS[kind];
    const applications = byId('ladder').value === 'applications';
    if (applications && type !== 'f32')
        throw new RangeError(`Numbers: expected f32, of which these reductions are; found '${label}'.`);
    const columns = climbsRows() ? parseCount(byId('columns').value) : undefined;
    if (climbsRows() && !(columns >= 1 && columns <= n))
        throw new RangeError(
            `Row: expected a whole number of elements from 1 to ${count(n)}, as many as there are; ` +
                `found '${byId('columns').value}'.`,
        );
    return {
        n,
        columns,
        applications,
        kind,
        type,
        seed: SEED,
        size: Number(byId('size').value),
        finish: byId('finish').value,
        library: state.library,
        mine: state.mine,
    };
}

const climbsRows = () => byId('ladder').value === 'rows';

/* Rows have no finish: each sum belongs to one thread in the end. Applications have one of their own. */
function chooseLadder() {
    byId('columns').disabled = !climbsRows();
    byId('finish').disabled = byId('ladder').value !== 'sum' || byId('size').options.length === 0;
}

function showProblem(message) {
    byId('problem').hidden = !message;
    byId('problem').textContent = message ?? '';
}

function tell(what, done, of) {
    byId('progress').value = done / of;
    byId('progress-text').dataset.what = of > 1 ? `${what}, ${Math.min(done + 1, of)} of ${of}` : what;
    showProgress(state.climb);
}

/* With the time that is left of the run, which shrinks within a step too. */
function showProgress(climb) {
    const { what } = byId('progress-text').dataset;
    byId('progress-text').textContent = [what, climb ? left(climb.left()) : ''].filter(Boolean).join(', ');
}

function running(yes) {
    const focused = document.activeElement; /* stays where a keyboard can go on from */
    byId('start').disabled = yes;
    byId('stop').hidden = byId('progress-box').hidden = !yes;
    byId('settings').setAttribute('aria-busy', String(yes));
    if (yes && focused === byId('start')) byId('stop').focus({ preventScroll: true });
    if (!yes && focused === byId('stop')) byId(state.report ? 'results' : 'start').focus({ preventScroll: true });
}

/* Rejects when the visitor, or a lost device, ends the run: nobody waits for what the GPU is at. */
function stopped(signal) {
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}

/* Begins a run once the devices have done what a stopped one gave them. */
async function begin(chosen, signal) {
    tell('waiting for what the stopped run has begun', 0, 1);
    await state.ended;
    signal.throwIfAborted();
    state.report = null;
    byId('results').hidden = true;
    const climb = new Run(state.gpu, state.cpu, chosen, { tell, signal, show });
    const ticking = setInterval(showProgress, 250, climb);
    signal.addEventListener('abort', () => clearInterval(ticking));
    state.climb = climb;
    return climb.all().finally(() => clearInterval(ticking));
}

async function run(event) {
    event.preventDefault();
    showProblem(null);
    const { signal } = (state.abort = new AbortController());
    state.climb = null;
    try {
        const chosen = settings();
        running(true);
        const work = begin(chosen, signal);
        state.ended = Promise.allSettled([state.ended, work]);
        show(await Promise.race([work, stopped(signal)]));
    } catch (error) {
        keep(state.climb, error);
    } finally {
        running(false);
        state.abort = state.mine = null;
    }
}

/* With a kernel of the visitor's among the rungs. */
function runWith(rung) {
    if (state.abort) return;
    state.mine = rung;
    byId('ladder').value = 'sum';
    chooseLadder();
    byId('settings').requestSubmit();
}

/* What is done stays, whatever ended the run. */
function keep(climb, error) {
    const stop = error.name === 'AbortError';
    climb?.end(stop ? 'stopped before its turn' : 'the run failed before its turn');
    const done = climb?.rows.filter(row => row.seconds).length ?? 0;
    if (done) show(climb.report());
    if (!stop) showProblem(error.message);
    else showProblem(done ? null : 'Stopped before the first rung was done.');
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Showing
 * ------------------------------------------------------------------------------------------------------------------ */

/* Shows a report, whole or in the making. The page moves to it once, when there is something to see. */
function show(report) {
    if (!report) return;
    const first = byId('results').hidden;
    state.report = report;
    byId('results').hidden = false;
    byId('summary').textContent = report.unfinished ? '' : summary(report);
    byId('circumstances').textContent = circumstances(report);
    byId('target').replaceChildren(...targetLine(report));
    byId('table').replaceChildren(ladderTable(report));
    byId('table-note').textContent = note(report);
    byId('bits-part').hidden = Boolean(report.columns || report.applications);
    byId('bits').replaceChildren(bitsTable(report));
    byId('copied').textContent = '';
    showMetrics(report);
    redraw();
    if (!first) return;
    byId('results').scrollIntoView({
        behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth',
    });
}

/* Applications are not faster than each other. */
function showMetrics({ applications }) {
    const speedup = document.querySelector('input[name="metric"][value="speedup"]');
    speedup.closest('label').hidden = applications;
    if (applications && speedup.checked) document.querySelector('input[name="metric"][value="bandwidth"]').checked = true;
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
byId('count').addEventListener('input', event => (event.target.dataset.touched = 'yes'));
byId('finish').addEventListener('change', event => {
    byId('finish-help').textContent = FINISHES[event.target.value] ?? 'how the workgroups’ sums are added';
});
document.querySelectorAll('input[name="metric"]').forEach(input => input.addEventListener('change', redraw));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
byId('copy-json').addEventListener('click', () => copy(json));
byId('copy-markdown').addEventListener('click', () => copy(markdown));
byId('ladder').addEventListener('change', chooseLadder);
byId('rung-list').replaceChildren(...rungList());
byId('row-rung-list').replaceChildren(...rowRungList());
byId('application-list').replaceChildren(...applicationList());
addEventListener('hashchange', openTarget);
openTarget();
setUpFiles();
setUpExercises(runWith).then(setUpStepper);
open();
