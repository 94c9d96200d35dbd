/* WGSL texts from ladder/wgsl/: fetched once, and put together to modules. */
import { finishText } from './rungs.js';

const FOLDER = new URL('../../ladder/wgsl/', import.meta.url);
const texts = new Map();

export function text(name) {
    if (!texts.has(name))
        texts.set(
            name,
            fetchText(name).catch(error => {
                texts.delete(name);
                throw error;
            }),
        );
    return texts.get(name);
}

async function fetchText(name) {
    const response = await fetch(new URL(`${name}.wgsl`, FOLDER));
    if (!response.ok)
        throw new Error(`ladder/wgsl/${name}.wgsl: the server answers ${response.status}; serve the repository's root`);
    return response.text();
}

/* One module: the element type, what all rungs share, a finish where rungs have one, the helpers, the rung, which may bring its own
 * text. `enable` must come first. */
export async function moduleText(rung, finish, type) {
    const shared = rung.take
        ? ['rows/rows']
        : rung.operator
          ? ['applications/applications']
          : ['rung', finishText(finish, type)];
    const names = [...shared, ...(rung.helpers ?? [])];
    const own = rung.text ?? text(rung.file ?? rung.id);
    const enable = rung.feature === 'subgroups' ? 'enable subgroups;\n' : '';
    return `${enable}alias number = ${type};\n${(await Promise.all([...names.map(text), own])).join('\n')}`;
}

const pipelines = new WeakMap(); /* of each device: promises by text, entry point and constants */

/* A pipeline of a text, made once per device. */
export function makePipeline(device, label, code, entryPoint, constants) {
    if (!pipelines.has(device)) pipelines.set(device, new Map());
    const known = pipelines.get(device);
    const key = JSON.stringify([code, entryPoint, constants]);
    if (!known.has(key))
        known.set(
            key,
            compile(device, label, code, entryPoint, constants).catch(error => {
                known.delete(key);
                throw error;
            }),
        );
    return known.get(key);
}

/* Errors name the rung and the line. */
async function compile(device, label, code, entryPoint, constants) {
    const module = device.createShaderModule({ label, code });
    const { messages } = await module.getCompilationInfo();
    const error = messages.find(message => message.type === 'error');
    if (error) throw new Error(`${label}: line ${error.lineNum}: ${error.message}`);
    return device.createComputePipelineAsync({ label, layout: 'auto', compute: { module, entryPoint, constants } });
}
