/* The browser's GPU: what it is, what it offers, and why there is none. */

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
        fallback: Boolean(info.isFallbackAdapter),
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
