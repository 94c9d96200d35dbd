/* The exercises: their texts, an editor, and the judge, which plays the threads (threads.js). What is right can be run on the GPU,
 * among the rungs. */
import { byId, element } from './dom.js';
import { judge, parse } from './threads.js';

const FOLDER = new URL('../../exercises/', import.meta.url);

export const EXERCISES = [
    'beyond-the-end',
    'two-at-a-time',
    'odd-blocks',
    'the-last-warp',
    'half-a-warp',
    'maximum',
    'beat-a-rung',
    'rows',
];

async function fetchText(path) {
    const response = await fetch(new URL(path, FOLDER));
    if (!response.ok) throw new Error(`exercises/${path}: the server answers ${response.status}`);
    return response.text();
}

/* The texts' file, in the page's language. */
function readme() {
    return document.documentElement.lang.startsWith('zh') ? 'README.zh.md' : 'README.md';
}

/* The exercises' titles by name, as the contents of them all has them. */
export function readTitles(markdown) {
    const lines = markdown.matchAll(/^\| \d+ \| \[(.*?)\]\(([a-z-]+)\/README/gm);
    return new Map([...lines].map(([, title, name]) => [name, title]));
}

/* Title, sentences and hints of an exercise's page, which is written in that order. */
export function readTask(markdown) {
    const [, title] = markdown.match(/^# \d+\. (.*)$/m);
    const [, text] = markdown.match(/^# .*\n\n([^]*?)\n\n {4}/m);
    const [, list] = markdown.match(/## [^\n]*\n\n([^]*?)\n\n/);
    const hints = list.split(/^\d+\. /m).slice(1);
    const plain = words => words.replace(/\s+/g, ' ').trim();
    return { title, text: plain(text), hints: hints.map(plain) };
}

/* `code` within words becomes an element. */
function words(text) {
    return text.split('`').map((part, i) => (i % 2 ? element('code', {}, part) : part));
}

const state = { name: null, start: '', verdict: null };

function showVerdict({ verdict, message }) {
    state.verdict = verdict;
    byId('verdict').replaceChildren(
        element('strong', { class: verdict === 'right' ? 'good' : 'bad' }, verdict),
        ` ${message}`,
    );
    showUse();
}

function forget() {
    state.verdict = null;
    byId('verdict').textContent = '';
    showUse();
}

/* Only a sum that is right has a place among sums. */
function showUse() {
    byId('run-mine').disabled = !mine();
}

/* The kernel in the editor as a rung, or null where it cannot be one. */
function mine() {
    if (state.verdict !== 'right') return null;
    const text = byId('kernel').value;
    const { elements, task } = parse(text).settings;
    if (task !== 'sum') return null;
    return { id: 'mine', name: 'yours', idea: 'Your kernel.', finish: 'recursive', elements, text };
}

async function load(name) {
    const [markdown, start] = await Promise.all([readme(), 'start.wgsl'].map(file => fetchText(`${name}/${file}`)));
    const { text, hints } = readTask(markdown);
    Object.assign(state, { name, start });
    byId('exercise-text').replaceChildren(...words(text));
    byId('hints').open = false;
    byId('hint-list').replaceChildren(...hints.map(hint => element('li', {}, ...words(hint))));
    byId('kernel').value = start;
    forget();
}

async function select(name) {
    try {
        await load(name);
    } catch (error) {
        byId('exercise-text').textContent = error.message;
    }
}

/* Tab indents, as in an editor; after Escape it leaves. */
function indent(event) {
    const area = event.target;
    if (event.key === 'Escape') area.dataset.leaving = 'yes';
    if (event.key !== 'Tab' || event.shiftKey || area.dataset.leaving) return;
    event.preventDefault();
    area.setRangeText('    ', area.selectionStart, area.selectionEnd, 'end');
}

async function showTitles() {
    const titles = readTitles(await fetchText(readme()));
    for (const option of byId('exercise').options) option.textContent = `${option.index + 1}. ${titles.get(option.value)}`;
}

/* run(rung) climbs the ladder with the rung on it. */
export async function setUpExercises(run) {
    byId('exercise').replaceChildren(...EXERCISES.map(name => element('option', { value: name }, name)));
    byId('exercise').addEventListener('change', event => select(event.target.value));
    byId('judge').addEventListener('click', () => showVerdict(judge(byId('kernel').value, state.start)));
    byId('start-again').addEventListener('click', () => {
        byId('kernel').value = state.start;
        forget();
    });
    byId('run-mine').addEventListener('click', () => run(mine()));
    byId('kernel').addEventListener('input', forget);
    byId('kernel').addEventListener('keydown', indent);
    byId('kernel').addEventListener('blur', event => delete event.target.dataset.leaving);
    await select(EXERCISES[0]);
    await showTitles().catch(() => {}); // without them, names will do
}
