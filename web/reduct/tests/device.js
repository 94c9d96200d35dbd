/* A WebGPU device in Node, from npm's `webgpu` (Dawn) on the Vulkan driver at hand. There is no device to do without: a
 * test that cannot get one fails. */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { create, globals } from 'webgpu';

/* Chromium's software driver, where no other is named: it is the same everywhere, and slow. */
const SWIFTSHADER = '/usr/lib/chromium/vk_swiftshader_icd.json';
if (!process.env.VK_ICD_FILENAMES && existsSync(SWIFTSHADER))
    process.env.VK_ICD_FILENAMES = SWIFTSHADER;
process.env.XDG_RUNTIME_DIR ??= tmpdir();

Object.assign(globalThis, globals);
globalThis.gpuOfTests = create([]); /* held here: adapters and devices do not survive it */

/* `limits`: names of those to raise to what the adapter has. */
export async function openDevice({ features = [], limits = [] } = {}) {
    const adapter = await globalThis.gpuOfTests.requestAdapter();
    if (!adapter)
        throw new Error('no WebGPU adapter: install a Vulkan driver (Debian: chromium brings SwiftShader), or name one in VK_ICD_FILENAMES');
    const requiredLimits = Object.fromEntries(limits.map(name => [name, adapter.limits[name]]));
    const device = await adapter.requestDevice({ requiredFeatures: features, requiredLimits });
    device.addEventListener('uncapturederror', event => {
        throw new Error(`WebGPU: ${event.error.message}`);
    });
    return device;
}
