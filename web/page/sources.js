/* Each rung's diagram and source, opened on demand. */
import { element } from './dom.js';
import { FINISHES, GPU_RUNGS } from './rungs.js';
import { text } from './kernels.js';

const DIAGRAMS = new URL('../../docs/ladder/', import.meta.url);

const KEYWORDS = 'fn let var const override struct if else for while loop break continue return alias enable';
const TYPES = 'u32 i32 f32 bool number vec2u vec3u vec4u vec4 array atomic workgroup storage uniform read read_write';
const words = list => `\\b(${list.replaceAll(' ', '|')})\\b`;

/* Comments, attributes and keywords, so that code can be read at a glance; everything else is left alone. */
const TOKENS = new RegExp(['(//[^\\n]*)', '(@[a-z_]+)', words(KEYWORDS), words(TYPES)].join('|'), 'g');
const CLASSES = ['comment', 'attribute', 'keyword', 'type'];

export function highlight(code) {
    const made = element('code', {});
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

async function codeBlock(name) {
    const block = element('figure', { class: 'code' }, element('figcaption', {}, `ladder/wgsl/${name}.wgsl`));
    try {
        const label = `Source of ${name}`;
        block.append(element('pre', { tabindex: 0, role: 'region', 'aria-label': label }, highlight(await text(name))));
    } catch (error) {
        block.append(element('p', { class: 'bad' }, error.message));
    }
    return block;
}

async function fillRung(body, rung) {
    body.append(
        element('img', {
            src: new URL(`${rung.id}.svg`, DIAGRAMS).href,
            alt: `Diagram of ${rung.id}: ${rung.idea}`,
            loading: 'lazy',
        }),
    );
    for (const name of [rung.id, ...(rung.helpers ?? [])]) body.append(await codeBlock(name));
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

export function rungList() {
    const list = GPU_RUNGS.map(rung => drawer(`rung-${rung.id}`, rung.id, rung.idea, body => fillRung(body, rung)));
    const finishes = drawer(
        'rung-finishes',
        'finishes',
        `How the workgroups’ sums become one: ${Object.keys(FINISHES).join(', ')}.`,
        async body => {
            body.append(
                element('img', {
                    src: new URL('finishes.svg', DIAGRAMS).href,
                    alt: 'Diagram of the finishes',
                    loading: 'lazy',
                }),
            );
            for (const name of ['rung', 'finish-store', 'finish-atomic-f32', 'finish-last'])
                body.append(await codeBlock(name));
        },
    );
    return [...list, finishes];
}

/* Opens the rung that a link names. */
export function openTarget() {
    const target = document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) target.open = true;
}
