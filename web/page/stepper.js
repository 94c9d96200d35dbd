/* Threads step by step: where each one is, what it touches, who waits, which banks are asked twice, and races. The order in which
 * threads take their turns is the visitor's: chips that can be dragged, or moved with the arrow keys. */
import { byId, element } from './dom.js';
import { text } from './kernels.js';
import { Workgroup, parse, raceText } from './threads.js';

/* As many threads and banks as can be seen at once; a warp has 32, and there are 32 banks. */
const SIZE = 8;
const WARP = 4;
const BANKS = 4;
const DIGITS = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3];
const PAUSE = 700; /* milliseconds between steps that go by themselves */

const SVG = 'http://www.w3.org/2000/svg';
const MISTAKE = new URL('../../exercises/the-last-warp/start.wgsl', import.meta.url);

/* elements: of each thread. */
const PROGRAMS = {
    'neighbour-modulo': { elements: 1 },
    'neighbour-strided': { elements: 1 },
    halving: { elements: 1 },
    'first-add': { elements: 2 },
    'the last warp, a mistake': { elements: 1, read: async () => (await fetch(MISTAKE)).text() },
    'your kernel, from the editor above': { own: true, read: async () => byId('kernel').value },
};

/* turns: thread numbers in the order in which they have taken a step; marks: how many there were before each button. */
const state = {
    code: '',
    program: null,
    elements: 1,
    order: [],
    turns: [],
    marks: [],
    group: null,
    problem: null,
    timer: 0,
};

const still = matchMedia('(prefers-reduced-motion: reduce)');

/* ---------------------------------------------------------------------------------------------------------------------
 * Playing
 * ------------------------------------------------------------------------------------------------------------------ */

function begin() {
    const input = Array.from({ length: SIZE * state.elements }, (_, i) => DIGITS[i % DIGITS.length]);
    Object.assign(state, { turns: [], marks: [], problem: null, last: [] });
    state.group =
        state.program && guarded(() => new Workgroup(state.program, { size: SIZE, input, shape: { n: input.length } }));
}

/* What the program does wrong ends it, and is shown. */
function guarded(work) {
    try {
        return work();
    } catch (error) {
        state.problem = error.message;
        return null;
    }
}

function turn(tid) {
    if (state.problem || state.group.threads[tid].state !== 'ready') return false;
    state.turns.push(tid);
    state.last.push(tid);
    guarded(() => state.group.step(tid));
    return true;
}

const ready = () =>
    state.problem || !state.group ? [] : state.order.filter(tid => state.group.threads[tid].state === 'ready');

/* Each kind of move; false where nothing moves any more. */
const MOVES = {
    all() {
        return ready().map(turn).some(Boolean);
    },
    one() {
        const [first] = ready();
        return first !== undefined && turn(first);
    },
    ahead() {
        const [first] = ready();
        const { barriers } = state.group ?? {};
        if (first === undefined) return false;
        while (state.group.barriers === barriers && turn(first));
        return true;
    },
    barrier() {
        const { barriers } = state.group ?? {};
        if (!ready().length) return false;
        while (state.group.barriers === barriers && MOVES.all());
        return true;
    },
};

function move(kind) {
    const before = state.turns.length;
    state.last = [];
    if (!MOVES[kind]()) return false;
    state.marks.push(before);
    show();
    return true;
}

/* Backwards is forwards again, one move less: the same turns have the same outcome. */
function back() {
    const [turns, marks] = [state.turns, state.marks];
    if (!marks.length) return;
    const end = marks.at(-1);
    begin();
    for (let i = 0; i < end; i++) {
        if (marks.includes(i)) state.last = [];
        turn(turns[i]);
    }
    state.marks = marks.slice(0, -1);
    show();
}

function stop() {
    clearInterval(state.timer);
    state.timer = 0;
    byId('step-play').textContent = 'Play';
}

function play() {
    if (state.timer) return stop();
    byId('step-play').textContent = 'Pause';
    state.timer = setInterval(() => move('all') || stop(), PAUSE);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The order of the threads
 * ------------------------------------------------------------------------------------------------------------------ */

function place(tid, to) {
    const order = state.order.filter(other => other !== tid);
    order.splice(Math.max(0, Math.min(SIZE - 1, to)), 0, tid);
    state.order = order;
    showOrder(tid);
}

function chip(tid, at) {
    const made = element(
        'button',
        {
            type: 'button',
            class: 'thread-chip',
            'data-tid': tid,
            'aria-label': `Thread ${tid}, turn ${at + 1} of ${SIZE}; arrow keys move it`,
        },
        String(tid),
    );
    made.addEventListener('keydown', event => {
        const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
        if (!by) return;
        event.preventDefault();
        place(tid, state.order.indexOf(tid) + by);
    });
    made.addEventListener('pointerdown', event => {
        byId('step-order').dataset.dragged = tid;
        byId('step-order').setPointerCapture(event.pointerId);
    });
    return made;
}

function drag(event) {
    const { dragged } = byId('step-order').dataset;
    if (dragged === undefined) return;
    const under = [...byId('step-order').children].find(other => other.dataset.tid !== dragged && isOver(event, other));
    if (under) place(Number(dragged), state.order.indexOf(Number(under.dataset.tid)));
}

function isOver({ clientX, clientY }, chip) {
    const { left, right, top, bottom } = chip.getBoundingClientRect();
    return clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
}

function drop() {
    delete byId('step-order').dataset.dragged;
}

function showOrder(focused) {
    byId('step-order').replaceChildren(...state.order.map(chip));
    if (focused !== undefined) byId('step-order').querySelector(`[data-tid="${focused}"]`).focus();
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Showing
 * ------------------------------------------------------------------------------------------------------------------ */

function drawn(tag, attributes, ...children) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
}

const label = (x, y, words, style = '') => drawn('text', { x, y, class: `middle ${style}` }, String(words));

const PITCH = 46;
const x = i => 32 + (i % SIZE) * PITCH + (i % SIZE >= WARP ? 8 : 0);
const Y = { thread: 44, memory: 152, input: 246 };

/* Words of one bank that threads of one warp asked for in the last move, by reading or by writing: [warp, bank, words]. */
function conflicts() {
    const found = [];
    for (let warp = 0; warp < SIZE / WARP; warp++)
        for (const write of [false, true])
            for (let bank = 0; bank < BANKS; bank++) {
                const asked = new Set();
                for (const tid of state.last.filter(tid => Math.floor(tid / WARP) === warp))
                    for (const access of state.group.threads[tid].accesses)
                        if (access.write === write && access.at % BANKS === bank) asked.add(access.at);
                if (asked.size > 1) found.push([warp, bank, asked.size]);
            }
    return found;
}

function threadParts({ tid, state: at, line }) {
    const style = { ready: 'is-ready', barrier: 'is-waiting', ended: 'is-ended' }[at];
    const words = { ready: `line ${line}`, barrier: 'waits', ended: 'done' }[at];
    return [
        drawn('circle', { cx: x(tid), cy: Y.thread, r: 14, class: `thread ${style}` }),
        label(x(tid), Y.thread + 5, tid, `in-thread ${style}`),
        label(x(tid), Y.thread + 30, words, 'tiny'),
    ];
}

function warpParts(warp) {
    const threads = state.group.threads.slice(warp * WARP, (warp + 1) * WARP);
    const lines = new Set(threads.filter(thread => thread.state === 'ready').map(({ line }) => line));
    const first = x(warp * WARP) - 21;
    return [
        drawn('rect', {
            x: first,
            y: 8,
            width: WARP * PITCH - 4,
            height: 74,
            rx: 6,
            class: lines.size > 1 ? 'warp diverged' : 'warp',
        }),
        label(
            first + (WARP * PITCH) / 2,
            22,
            lines.size > 1 ? `warp ${warp}: at ${lines.size} places` : `warp ${warp}`,
            'tiny',
        ),
    ];
}

function memoryParts() {
    const [array] = state.group.memory;
    if (!array) return [];
    const [name, words] = array;
    const raced = new Set(state.group.races.filter(race => race.name === name).map(({ at }) => at));
    return words
        .slice(0, SIZE)
        .flatMap((value, i) => [
            drawn('rect', {
                x: x(i) - 18,
                y: Y.memory,
                width: 36,
                height: 28,
                rx: 3,
                class: raced.has(i) ? 'word raced' : 'word',
            }),
            label(x(i), Y.memory + 19, value),
            label(x(i), Y.memory + 42, `bank ${i % BANKS}`, 'tiny'),
        ]);
}

function inputParts() {
    return state.group.input.flatMap((value, i) => {
        const y = Y.input + Math.floor(i / SIZE) * 30;
        return [
            drawn('rect', { x: x(i) - 16, y, width: 32, height: 24, rx: 3, class: 'element' }),
            label(x(i), y + 17, value),
        ];
    });
}

function accessParts() {
    return [...new Set(state.last)].flatMap(tid =>
        state.group.threads[tid].accesses.map(({ at, write }) =>
            drawn('line', {
                x1: x(tid),
                y1: Y.thread + 34,
                x2: x(at) + (write ? 4 : -4),
                y2: Y.memory - 2,
                class: write ? 'access writes' : 'access',
            }),
        ),
    );
}

function picture() {
    const rows = Math.ceil(state.group.input.length / SIZE);
    const height = Y.input + rows * 30 + 6;
    const parts = [
        ...[0, 1].flatMap(warpParts),
        ...accessParts(),
        ...state.group.threads.flatMap(threadParts),
        drawn('text', { x: 12, y: Y.memory - 8, class: 'tiny' }, 'workgroup memory'),
        ...memoryParts(),
        drawn('text', { x: 12, y: Y.input - 8, class: 'tiny' }, 'input'),
        ...inputParts(),
    ];
    return drawn('svg', { viewBox: `0 0 400 ${height}`, role: 'img', 'aria-label': spoken() }, ...parts);
}

/* The picture in words. */
function spoken() {
    const threads = state.group.threads.map(
        ({ tid, state: at, line }) =>
            `thread ${tid} ${at === 'ready' ? `in line ${line}` : at === 'barrier' ? 'waits' : 'done'}`,
    );
    const [array] = state.group.memory;
    return `${threads.join(', ')}. ${array ? `${array[0]}: ${array[1].slice(0, SIZE).join(', ')}` : ''}`;
}

/* The code without the words before it, each line with the threads that are there. */
function listing() {
    const lines = state.code.split('\n');
    const first = Math.max(
        0,
        lines.findIndex(line => line.trim() && !line.startsWith('//')),
    );
    return lines.slice(first).map((line, i) => {
        const number = first + i + 1;
        const here = (state.group?.threads ?? [])
            .filter(thread => thread.state !== 'ended' && thread.line === number)
            .map(({ tid }) => tid);
        return element(
            'span',
            { class: here.length ? 'code-line here' : 'code-line' },
            element('span', { class: 'line-number' }, String(number)),
            `${line} `,
            here.length ? element('span', { class: 'threads-here' }, here.join(' ')) : null,
        );
    });
}

function messages() {
    if (!state.group) return [];
    const sum = state.group.input.reduce((a, b) => a + b, 0);
    const outcome = state.group.ended
        ? `All threads are done: ${state.group.delivered} was delivered, ${sum} is the sum. ${state.group.delivered === sum ? 'Right.' : 'Wrong.'}`
        : null;
    return [
        ...state.group.races.slice(-2).map(race => element('p', { class: 'bad' }, raceText(race))),
        ...conflicts().map(([warp, bank, count]) =>
            element('p', {}, `Warp ${warp} asks for ${count} words of bank ${bank} at once: one after the other.`),
        ),
        outcome && element('p', {}, outcome),
    ];
}

function show() {
    byId('step-code').replaceChildren(...listing());
    const said = [...messages(), state.problem && element('p', { class: 'bad' }, state.problem)].filter(Boolean);
    byId('step-said').replaceChildren(
        ...(said.length
            ? said
            : [
                  element(
                      'p',
                      { class: 'dim' },
                      `${state.turns.length} steps, ${state.group?.barriers ?? 0} barriers passed.`,
                  ),
              ]),
    );
    byId('step-picture').replaceChildren(...(state.group ? [picture()] : []));
    byId('step-back').disabled = !state.marks.length;
    for (const kind of Object.keys(MOVES)) byId(`step-${kind}`).disabled = !ready().length;
}

async function choose(name) {
    const { elements, own, read } = PROGRAMS[name];
    stop();
    Object.assign(state, { problem: null, program: null, order: Array.from({ length: SIZE }, (_, tid) => tid) });
    try {
        state.code = read ? await read() : await text(name);
        state.program = parse(state.code);
        state.elements = own ? Math.max(1, Number(state.program.settings.elements) || 2) : elements;
    } catch (error) {
        state.problem = error.message;
    }
    const { problem } = state;
    begin();
    state.problem ??= problem;
    showOrder();
    show();
}

export function setUpStepper() {
    byId('step-program').replaceChildren(
        ...Object.keys(PROGRAMS).map(name => element('option', { value: name }, name)),
    );
    byId('step-program').addEventListener('change', event => choose(event.target.value));
    for (const kind of Object.keys(MOVES)) byId(`step-${kind}`).addEventListener('click', () => move(kind));
    byId('step-back').addEventListener('click', back);
    byId('step-reset').addEventListener('click', () => choose(byId('step-program').value));
    byId('step-play').addEventListener('click', play);
    byId('step-order').addEventListener('pointermove', drag);
    for (const end of ['pointerup', 'pointercancel']) byId('step-order').addEventListener(end, drop);
    const honour = () => {
        byId('step-play').hidden = still.matches;
        if (still.matches) stop();
    };
    still.addEventListener('change', honour);
    honour();
    return choose(Object.keys(PROGRAMS)[0]);
}
