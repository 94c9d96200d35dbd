/* Each rung's diagram and source, opened on demand. */
import { element } from './dom.js';
import { APPLICATIONS, FINISHES, GPU_RUNGS, ROW_RUNGS } from './rungs.js';
import { text } from './kernels.js';

const EDITION = document.documentElement.lang.startsWith('zh') ? 'docs/zh/ladder/' : 'docs/ladder/';
const DIAGRAMS = new URL(`../../${EDITION}`, import.meta.url);

/* Of the code before faulty lines, as much stays in sight. */
const LINES_BEFORE = 3;

const KEYWORDS = 'fn let var const override struct if else for while loop break continue return alias enable';
const TYPES = 'u32 i32 f32 bool number vec2u vec3u vec4u vec4 array atomic workgroup storage uniform read read_write';
const words = list => `\\b(${list.replaceAll(' ', '|')})\\b`;

/* Comments, attributes and keywords, so that code can be read at a glance; everything else is left alone. */
const TOKENS = new RegExp(['(//[^\\n]*)', '(@[a-z_]+)', words(KEYWORDS), words(TYPES)].join('|'), 'g');
const CLASSES = ['comment', 'attribute', 'keyword', 'type'];

export function highlight(code) {
    const made = document.createDocumentFragment();
    let at = 0;
    for (const match of code.matchAll(TOKENS)) {
        made.append(
            code.slice(at, match.index),
            element('span', { class: CLASSES[match.slice(1).findIndex(Boolean)] }, match[0]),
        );
        at = match.index + match[0].length;
    }
    made.append(code.slice(at));
    return made;
}

/* The code, with its faulty lines, if any, in boxes of their own. */
function marked(code, faulty) {
    const made = element('code', {});
    if (!faulty) return append(made, highlight(code));
    for (const line of code.split(/(?<=\n)/))
        made.append(
            faulty.test(line) ? append(element('span', { class: 'faulty' }), highlight(line)) : highlight(line),
        );
    return made;
}

function append(to, ...children) {
    to.append(...children);
    return to;
}

/* Boxes scroll: to what is wrong, where something is. */
function showFaulty(pre) {
    const first = pre.querySelector('.faulty');
    if (first) pre.scrollTop = first.offsetTop - pre.offsetTop - LINES_BEFORE * first.offsetHeight;
}

async function codeBlock(name, faulty) {
    const block = element('figure', { class: 'code' }, element('figcaption', {}, `ladder/wgsl/${name}.wgsl`));
    try {
        const label = `Source of ${name}`;
        const code = marked(await text(name), faulty);
        block.append(element('pre', { tabindex: 0, role: 'region', 'aria-label': label }, code));
    } catch (error) {
        block.append(element('p', { class: 'bad' }, error.message));
    }
    return block;
}

/* Wider than a phone, so that its words can be read: it scrolls there. */
function diagram(name, alt) {
    const image = element('img', { src: new URL(`${name}.svg`, DIAGRAMS).href, alt, loading: 'lazy' });
    const label = `The diagram ${name}`;
    return element('div', { class: 'scroll diagram', tabindex: 0, role: 'region', 'aria-label': label }, image);
}

async function fillRung(body, rung) {
    if (!rung.take && !rung.operator) body.append(diagram(rung.id, `Diagram of ${rung.id}: ${rung.idea}`));
    for (const name of [rung.file ?? rung.id, ...(rung.helpers ?? [])]) body.append(await codeBlock(name, rung.faulty));
    body.querySelectorAll('pre').forEach(showFaulty);
}

function drawer(id, title, idea, fillBody) {
    const body = element('div', { class: 'body' });
    const made = element(
        'details',
        { id },
        element('summary', {}, element('span', { class: 'title' }, title), element('span', { class: 'idea' }, idea)),
        body,
    );
    made.addEventListener('toggle', () => {
        if (made.open && !body.hasChildNodes()) fillBody(body);
    });
    return made;
}

const drawers = rungs =>
    rungs.map(rung => drawer(`rung-${rung.id}`, rung.id, rung.idea, body => fillRung(body, rung)));

/* The ladder of rows, and one diagram for all of it. */
export function rowRungList() {
    const shared = drawer('rung-rows', 'rows', 'What the rungs share: who takes a row.', async body => {
        body.append(diagram('rows', 'Diagram of the ladder of rows'));
        body.append(await codeBlock('rows/rows'));
    });
    return [...drawers(ROW_RUNGS), shared];
}

/* Reductions other than a plain sum, and what they share. */
export function applicationList() {
    const shared = drawer('rung-applications', 'applications', 'What they share: the walk, the tree, the second launch.', async body =>
        body.append(await codeBlock('applications/applications')),
    );
    return [...drawers(APPLICATIONS), shared];
}

export function rungList() {
    const finishes = drawer(
        'rung-finishes',
        'finishes',
        `How the workgroups’ sums become one: ${Object.keys(FINISHES).join(', ')}.`,
        async body => {
            body.append(diagram('finishes', 'Diagram of the finishes'));
            for (const name of ['rung', 'finish-store', 'finish-atomic-f32', 'finish-last'])
                body.append(await codeBlock(name));
        },
    );
    return [...drawers(GPU_RUNGS), finishes];
}

/* Opens the rung that a link names. */
export function openTarget() {
    const target = document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) target.open = true;
}
