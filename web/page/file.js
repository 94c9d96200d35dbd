/* A file of the user's, reduced here by the exact engine: nothing is uploaded. */
import { bytes, plain } from './format.js';
import { byId, element } from './dom.js';
import { load, OPERATORS } from '../reduct/index.js';

const OPERATORS_OF_ONE_ARRAY = OPERATORS.filter(operator => !['dot', 'weighted_mean'].includes(operator));
const TYPES = ['f64', 'f32', 'i8', 'i16', 'i32', 'i64', 'u8', 'u16', 'u32', 'u64'];

const state = { file: null, abort: null };

function show(...children) {
    byId('file-result').replaceChildren(...children);
}

function pair(term, ...what) {
    return [element('dt', {}, term), element('dd', {}, ...what)];
}

function showResult(file, operator, result, seconds) {
    show(
        element(
            'p',
            { class: 'result' },
            element('span', { class: 'dim' }, `${operator} = `),
            element('strong', { id: 'file-value' }, [result.value].flat().map(plain).join(' ')),
        ),
        element(
            'dl',
            {},
            ...pair('bits', element('code', { id: 'file-bits' }, [result.bits].flat().join(' ')), ` as ${result.type}`),
            ...pair(
                'numbers',
                `${result.count}, read as ${result.element} from ${file.name} (${result.format}, ${bytes(file.size)})`,
            ),
            ...pair('time', `${(seconds * 1000).toFixed(1)} ms, reading included; correctly rounded, once`),
        ),
    );
}

function showProgress(file) {
    const bar = element('progress', { max: 1, value: 0, 'aria-label': `Reading ${file.name}` });
    show(bar);
    return (done, total) => {
        bar.value = total ? done / total : 1;
    };
}

/* Reduces the file that was chosen last; a newer choice stops an older one. */
async function reduce() {
    const { file } = state;
    if (!file) return;
    state.abort?.abort();
    const abort = (state.abort = new AbortController());
    const operator = byId('operator').value;
    const format = byId('format').value;
    const start = performance.now();
    try {
        const { reduceFile } = await import('../readers.js');
        const result = await reduceFile(await load(), file, operator, {
            format,
            nan: byId('nan').value,
            type: format === 'raw' ? byId('raw-type').value : undefined,
            onProgress: showProgress(file),
            signal: abort.signal,
        });
        if (!abort.signal.aborted) showResult(file, operator, result, (performance.now() - start) / 1000);
    } catch (error) {
        if (!abort.signal.aborted) show(element('p', { class: 'notice bad' }, error.message));
    }
}

function take(file) {
    if (!file) return;
    state.file = file;
    reduce();
}

function setUpDrop(target) {
    const over = yes => event => {
        event.preventDefault();
        byId('drop').classList.toggle('over', yes);
    };
    target.addEventListener('dragover', over(true));
    target.addEventListener('dragleave', over(false));
    target.addEventListener('drop', event => {
        over(false)(event);
        take(event.dataTransfer.files[0]);
        byId('file').scrollIntoView();
    });
}

function showRawType() {
    byId('raw-type').disabled = byId('format').value !== 'raw';
}

export function setUpFiles() {
    byId('operator').append(...OPERATORS_OF_ONE_ARRAY.map(name => element('option', { value: name }, name)));
    byId('raw-type').append(...TYPES.map(name => element('option', { value: name }, name)));
    byId('pick').addEventListener('change', event => take(event.target.files[0]));
    for (const id of ['operator', 'format', 'raw-type', 'nan'])
        byId(id).addEventListener('change', () => {
            showRawType();
            reduce();
        });
    showRawType();
    setUpDrop(document.documentElement); /* the whole page takes a file: the section shows where it goes */
}
