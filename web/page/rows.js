/* One rung of the ladder of rows on the GPU: with what a rung of the first ladder has, so that it is timed and judged as one. */
import { Climb, GRID_THREADS, ceilDivide, gridOf } from './climb.js';
import { makePipeline, moduleText } from './kernels.js';

/* As in the texts: columns of a tile, vectors that a lane has under way. A tile has at least so many rows. */
const TILE = 32;
const LOADS = 4;
const CHUNK_LEAST = 64;

/* Subgroups may be larger than the smallest. */
const LANES_MOST = 128;

/* The greatest power of two that is at most x, within 1 and `most`. */
const powerWithin = (x, most) => 2 ** Math.floor(Math.log2(Math.max(1, Math.min(x, most))));

/* Why a rung cannot be run on rows of so many elements; null where it can. */
export const whyNot = (rung, columns) =>
    rung.take === 'vectors' && columns % 4
        ? `rows of ${columns} elements do not begin at multiples of 16 bytes`
        : null;

export class RowsClimb extends Climb {
    /* Rows of so many columns each; what is left over is not summed. lanes: of the smallest subgroup that the device has. */
    constructor(device, arrays, { n, columns, type, size, lanes }) {
        super(device, arrays, { n, type, size });
        Object.assign(this, { columns, rows: Math.floor(n / columns), lanes: Math.min(lanes, size) });
    }

    async prepare(rung) {
        this.rung = rung;
        const refused = whyNot(rung, this.columns);
        if (refused) throw new Error(refused);
        this.share = this.lanesOfRow();
        this.down = rung.take === 'tiles' ? this.tiles() : 1;
        const code = await moduleText(rung, '', this.type);
        const pipeline = entry => makePipeline(this.device, rung.id, code, entry, { size: this.size, share: this.share });
        this.main = await pipeline('rung');
        if (this.down > 1) this.combine = await pipeline('finish');
        this.shapes = new Map();
        this.sums = this.buffer('sums', 4 * this.results);
        this.first = this.down > 1 ? this.buffer('sums of tiles', 4 * this.down * this.columns) : this.sums;
        this.runs = this.arrays.map(array => this.launches(array));
        return this;
    }

    get results() {
        return this.rung.columns ? this.columns : this.rows;
    }

    /* Lanes that share a row, where the rung lets the page choose. */
    lanesOfRow() {
        const { take } = this.rung;
        if (take === 'lanes') return this.columns < 4 ? 2 : powerWithin(this.columns, this.lanes / 2);
        if (take === 'vectors') return powerWithin(ceilDivide(this.columns / 4, LOADS), this.lanes);
        return 1;
    }

    /* How many tiles lie above each other: as many as make a workgroup for each that the device holds, but none of few rows. */
    tiles() {
        const wanted = ceilDivide(GRID_THREADS / this.size, ceilDivide(this.columns, TILE));
        return Math.max(1, Math.min(wanted, Math.floor(this.rows / CHUNK_LEAST)));
    }

    /* Rows that a workgroup takes at a time, as far as the page knows how many subgroups it has. */
    rowsAtOnce() {
        const each = { thread: 1, workgroup: this.size, subgroup: this.lanes }[this.rung.take] ?? this.share;
        return this.size / each;
    }

    groups() {
        if (this.rung.take === 'tiles') return ceilDivide(this.columns, TILE) * this.down;
        return Math.max(1, Math.min(GRID_THREADS / this.size, ceilDivide(this.rows, this.rowsAtOnce())));
    }

    /* [rows, columns, tiles above each other] as a buffer. */
    shape(numbers) {
        const name = numbers.join(' x ');
        if (!this.shapes.has(name)) {
            const buffer = this.buffer(name, 16, GPUBufferUsage.UNIFORM);
            this.device.queue.writeBuffer(buffer, 0, Uint32Array.from(numbers));
            this.shapes.set(name, buffer);
        }
        return this.shapes.get(name);
    }

    launches(array) {
        const { columns, down, rows } = this;
        const longest = this.device.limits.maxComputeWorkgroupsPerDimension;
        const main = this.launch(this.main, array, this.first, [rows, columns, down], gridOf(this.groups(), longest));
        if (down === 1) return [main];
        const grid = gridOf(ceilDivide(columns, this.size), longest);
        return [main, this.launch(this.combine, this.first, this.sums, [down, columns, 1], grid)];
    }

    /* All sums. */
    async result() {
        return this.read(this.results);
    }

    depth() {
        const { columns, down, lanes, rows, rung, share, size } = this;
        const atOnce = size / TILE;
        if (rung.take === 'tiles') /* the last tile is longer by what is left over */
            return (2 * ceilDivide(rows, down)) / atOnce + atOnce + down + 1;
        const each = { thread: 1, workgroup: size, subgroup: lanes }[rung.take] ?? share;
        const tree = rung.take === 'subgroup' ? Math.log2(LANES_MOST) : Math.log2(each);
        return ceilDivide(columns, each) + tree + 8;
    }
}
