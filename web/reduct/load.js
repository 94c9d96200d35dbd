/* What the package carries beside its modules, the engine in WebAssembly and the kernels in WGSL: as text in a module,
 * which web/wasm/build writes. So bundlers, browsers and Node all find it as they find every module, and nothing is
 * fetched or read from a disk. It is imported when it is first needed. */
import { Reduct } from './wasm.js';

async function bytesOf(name) {
    const text = atob((await import('./embedded.js'))[name]), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++)
        bytes[i] = text.charCodeAt(i);
    return bytes;
}

/* The bytes of reduct.wasm. */
export const engine = () => bytesOf('engine');

/* The text of exact.wgsl. */
export const kernels = async () => new TextDecoder().decode(await bytesOf('kernels'));

async function instantiate(source) {
    const made = await WebAssembly.instantiate(source, {});
    return new Reduct(source instanceof WebAssembly.Module ? made : made.instance);
}

let loaded; /* the promise of the library, made once */

export function load(source) {
    const attempt = source === undefined ? loaded ?? engine().then(instantiate) : instantiate(source);
    loaded = attempt;
    attempt.catch(() => { loaded = loaded === attempt ? undefined : loaded; }); /* so that another one can be made */
    return attempt;
}
