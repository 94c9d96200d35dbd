/* Files beside this module: fetched in browsers, read in Node, whose fetch() knows no file: addresses. */

/* A Response with the file's contents. Spelt out for each, so that bundlers see which files belong to the package. */
const ADDRESSES = {
    'reduct.wasm': new URL('./reduct.wasm', import.meta.url),
    'exact.wgsl': new URL('./exact.wgsl', import.meta.url),
};

export async function readBeside(name) {
    const address = ADDRESSES[name];
    if (address.protocol === 'file:' && globalThis.process?.versions?.node) {
        const { readFile } = await import(/* webpackIgnore: true */ 'node:fs/promises');
        return new Response(await readFile(address));
    }
    const response = await fetch(address);
    if (!response.ok)
        throw new Error(`${address}: HTTP status ${response.status}; expected ${name} beside reduct-web's modules`);
    return response;
}
