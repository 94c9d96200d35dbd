/* The browser's GPU: what it is, what it offers, and why there is none. */

import { Climb } from './climb.js';
import { GPU_RUNGS } from './rungs.js';
import { Stopwatch } from './stopwatch.js';

const LIMITS = [
    'maxBufferSize',
    'maxStorageBufferBindingSize',
    'maxComputeInvocationsPerWorkgroup',
    'maxComputeWorkgroupSizeX',
    'maxComputeWorkgroupStorageSize',
    'maxComputeWorkgroupsPerDimension',
    'maxStorageBuffersPerShaderStage',
];

const FEATURES = ['timestamp-query', 'subgroups', 'shader-f16'];

/* Software drivers, which run shaders on the processor, by the names that they give. */
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|softpipe|microsoft basic render/i;

/* Workgroup sizes are powers of two; 1024 threads is the most that any of today's devices takes. */
export const MOST_THREADS = 1024;

/* Either {device, ...} or {missing}: a sentence about what is missing and what can be done. */
export async function openGpu() {
    if (!navigator.gpu) {
        const why = isSecureContext
            ? 'This browser does not offer WebGPU. Current versions of Chrome, Edge, Safari and Firefox do, ' +
              'on most systems.'
            : 'WebGPU is offered only to pages from https:// or from localhost, and this one is from neither.';
        return { missing: why };
    }
    let adapter = null;
    try {
        adapter = await navigator.gpu.requestAdapter({ powerPreference: 'high-performance' });
    } catch (error) {
        return { missing: `This browser has WebGPU, but asking it for a GPU failed: ${error.message}` };
    }
    if (!adapter)
        return {
            missing:
                'This browser has WebGPU, but found no GPU that it would use. A driver may be missing or blocked; ' +
                'chrome://gpu or about:support says more.',
        };
    try {
        return await openDevice(adapter);
    } catch (error) {
        return { missing: `The GPU refused to open: ${error.message}` };
    }
}

async function openDevice(adapter) {
    const requiredLimits = Object.fromEntries(LIMITS.map(name => [name, adapter.limits[name]]));
    for (const name of ['maxComputeInvocationsPerWorkgroup', 'maxComputeWorkgroupSizeX'])
        requiredLimits[name] = Math.min(requiredLimits[name], MOST_THREADS);
    const requiredFeatures = FEATURES.filter(name => adapter.features.has(name));
    const device = await adapter.requestDevice({ label: 'ladder', requiredLimits, requiredFeatures });
    return {
        device,
        description: describe(adapter, device),
        features: requiredFeatures,
        timestamps: device.features.has('timestamp-query'),
    };
}

function describe(adapter, device) {
    const info = device.adapterInfo ?? adapter.info ?? {};
    const name =
        info.description || [info.vendor, info.architecture, info.device].filter(Boolean).join(' ') || 'unnamed GPU';
    const limits = Object.fromEntries(LIMITS.map(key => [key, device.limits[key]]));
    const subgroups = info.subgroupMinSize ? { least: info.subgroupMinSize, most: info.subgroupMaxSize } : null;
    return {
        name,
        vendor: info.vendor ?? '',
        architecture: info.architecture ?? '',
        subgroups,
        limits,
        software: Boolean(info.isFallbackAdapter) || SOFTWARE.test(name),
        features: FEATURES.filter(key => device.features.has(key)),
    };
}

/* The sizes of workgroups that the device can run. */
export function workgroupSizes(device) {
    const most = Math.min(device.limits.maxComputeInvocationsPerWorkgroup, device.limits.maxComputeWorkgroupSizeX);
    return [64, 128, 256, 512, 1024].filter(size => size <= most);
}

/* The most elements of four bytes that one buffer holds. */
export function mostElements(device) {
    return Math.floor(Math.min(device.limits.maxBufferSize, device.limits.maxStorageBufferBindingSize) / 16) * 4;
}

/* Bytes per second below which a device counts as slow; the slowest GPUs do ten times as many. */
const SLOW = 0.5e9;
const PROBES = 4;

/* Whether runs with many elements would take minutes here: a software driver, or what is as slow. */
export async function isSlow({ device, description }) {
    if (description.software) return true;
    const n = 2 ** 20;
    const array = device.createBuffer({ size: 4 * n, usage: GPUBufferUsage.STORAGE });
    try {
        const rung = GPU_RUNGS.find(({ id }) => id === 'grid-stride');
        const climb = await new Climb(device, [array], { n, type: 'f32', size: 64 }).prepare(rung, rung.finish);
        const watch = new Stopwatch(device);
        await watch.pass(climb, 1, 0);
        const seconds = await watch.pass(climb, PROBES, 0);
        climb.destroy();
        watch.destroy();
        return PROBES * 4 * n < SLOW * seconds;
    } catch {
        return false; /* the run will say what is wrong */
    } finally {
        array.destroy();
    }
}
