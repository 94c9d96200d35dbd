/* An application on the GPU, a reduction other than a plain sum, with what a rung has, so that it is timed and judged as one. */
import { Climb, ceilDivide } from './climb.js';
import { makePipeline, moduleText } from './kernels.js';

/* Texels of a tile, along each side; and in a row at least, since rows are copied in multiples of 256 bytes. */
const TILE = 16;
const WIDTH_LEAST = 64;

/* {width, height} of the texture for so many floats: about a square. */
export function shapeOf(n) {
    let width = WIDTH_LEAST;
    while (width * width < n) width *= 2;
    return { width, height: TILE * Math.max(1, ceilDivide(n, width * TILE)) };
}

/* Why an application cannot be run on so many elements; null where it can. */
export function whyNot({ texels }, n, { maxTextureDimension2D: most }) {
    const { width, height } = shapeOf(n);
    return texels && Math.max(width, height) > most
        ? `a texture of ${width} × ${height} is more than this GPU takes along a side: ${most}`
        : null;
}

export class ApplicationClimb extends Climb {
    /* others: of a dot product, the second array. */
    constructor(device, arrays, { n, size, others }) {
        super(device, arrays, { n, type: 'f32', size });
        Object.assign(this, { others, textures: [] });
    }

    async prepare(application) {
        this.rung = application;
        const { device, n, size } = this;
        const refused = whyNot(application, n, device.limits);
        if (refused) throw new Error(refused);
        Object.assign(this, shapeOf(n));
        this.count = application.texels === 'tiles' ? this.width * this.height : n;
        const code = await moduleText(application, '', 'f32');
        const pipeline = entry => makePipeline(device, application.id, code, entry, { size });
        this.main = await pipeline('rung');
        this.combine = await pipeline('finish');
        const [columns, rows] = this.grid(this.count);
        const shape = this.buffer('shape', 16, GPUBufferUsage.UNIFORM);
        device.queue.writeBuffer(shape, 0, Uint32Array.of(this.count, columns * rows, this.width));
        const partials = this.buffer('partials', 4 * columns * rows);
        const result = this.buffer('result', 4);
        this.runs = this.arrays.map(array => [
            this.bound(this.main, { ...this.inputs(array), 1: partials, 2: shape }, [columns, rows]),
            this.bound(this.combine, { 1: partials, 2: shape, 3: result }, [1, 1], result),
        ]);
        return this;
    }

    /* What the first launch reads, by binding. */
    inputs(array) {
        const { texels, operator } = this.rung;
        if (texels) return { 4: this.texture(array).createView() };
        return operator === 'dot' ? { 0: array, 4: this.others } : { 0: array };
    }

    /* The elements as texels, row by row; behind the last there are zeros. */
    texture(array) {
        const { device, height, n, width } = this;
        const usage = GPUTextureUsage.TEXTURE_BINDING | GPUTextureUsage.COPY_DST;
        const texture = device.createTexture({ label: 'texels', size: [width, height], format: 'r32float', usage });
        this.textures.push(texture);
        const encoder = device.createCommandEncoder();
        const rows = Math.floor(n / width);
        const copy = (y, size) =>
            encoder.copyBufferToTexture(
                { buffer: array, offset: 4 * y * width, bytesPerRow: 4 * width },
                { texture, origin: [0, y] },
                size,
            );
        if (rows) copy(0, [width, rows]);
        if (n % width) copy(rows, [n % width, 1]);
        device.queue.submit([encoder.finish()]);
        return texture;
    }

    bound(pipeline, resources, grid, output) {
        const entries = Object.entries(resources).map(([binding, resource]) => ({
            binding: Number(binding),
            resource: resource instanceof GPUBuffer ? { buffer: resource } : resource,
        }));
        const group = this.device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
        return { pipeline, group, grid, output };
    }

    async result() {
        return (await this.read(1))[0];
    }

    /* As in a rung, with a product before and a division after. */
    depth() {
        const groups = this.groups(this.count);
        const tree = Math.log2(this.size);
        return this.rung.operator === 'max' ? 0 : ceilDivide(this.count, groups * this.size) + ceilDivide(groups, this.size) + 2 * tree + 3;
    }

    destroy() {
        super.destroy();
        this.textures.forEach(texture => texture.destroy());
        this.textures = [];
    }
}
