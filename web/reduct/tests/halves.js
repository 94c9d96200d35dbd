/* f16 elements against their own arithmetic, in any engine that has Float16Array: in a browser as well as in Node. */

/* Every bit pattern of an f16 NaN is one NaN here. */
function bitsOf(value) {
    const view = new DataView(new ArrayBuffer(2));
    view.setFloat16(0, value);
    return `0x${(Number.isNaN(value) ? 0x7e00 : view.getUint16(0)).toString(16).padStart(4, '0')}`;
}

/* Finite f16 are integers times 2^-24. */
const scaled = x => BigInt(x * 2 ** 24);

/* The value of each bit pattern without a sign, up to the infinity's, which stands for the next power of two. */
let values;
const fill = () => Float64Array.from(new Float16Array(Uint16Array.from({ length: 0x7c01 }, (_, bits) => bits).buffer)).map(x => (x === Infinity ? 65536 : x));

/* n * 2^e as the nearest f16, ties to even. */
function nearest(n, e) {
    const unit = -72, magnitude = (n < 0n ? -n : n) << BigInt(e - unit), at = bits => scaled(values[bits]) << BigInt(-24 - unit);
    let low = 0, high = values.length - 1; /* the last one that is not above */
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (at(middle) <= magnitude)
            low = middle;
        else
            high = middle - 1;
    }
    if (low < values.length - 1) {
        const below = magnitude - at(low), above = at(low + 1) - magnitude;
        if (above < below || (above === below && low & 1))
            low++;
    }
    const value = low === values.length - 1 ? Infinity : values[low];
    return n < 0n ? -value : value;
}

function equal(found, expected, what) {
    if (JSON.stringify(found) !== JSON.stringify(expected))
        throw new Error(`${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`);
}

/* Throws where a result differs; gives the number of results that were compared. step: of every so many f16, one is reduced alone. */
export async function testHalves({ load, sum, ReductError }, step = 1) {
    const reduct = await load();
    values = fill();
    let compared = 0;
    const check = (operator, x, value, options = {}) => {
        const result = reduct.reduce(operator, x, options);
        equal([result.bits, result.type], [bitsOf(value), 'f16'], `${operator} of ${x.length} f16`);
        if (!Object.is(result.value, value))
            throw new Error(`${operator}: expected ${value}, found ${result.value}`);
        compared++;
    };

    /* each f16 that there is, alone: nothing is lost on the way in or out */
    for (let bits = 0; bits < 1 << 16; bits += step) {
        const x = new Float16Array(Uint16Array.of(bits).buffer);
        for (const operator of bits % 7 ? ['sum', 'max'] : ['sum', 'max', 'min', 'product'])
            check(operator, x, x[0]);
        check('norminf', x, Math.abs(x[0]));
    }

    let state = 12345;
    const next = () => (state = Math.imul(state, 1664525) + 1013904223 >>> 0) >>> 16;
    for (const n of [0, 1, 2, 3, 1000, 70001]) {
        const finite = Float16Array.from({ length: n }, () => values[next() % 0x7c00] * (next() & 1 ? 1 : -1));
        const small = finite.map(x => x / 1024), both = [finite, small];
        for (const x of both) {
            const terms = Array.from(x, scaled), total = terms.reduce((a, b) => a + b, 0n);
            if (!x.every(v => Object.is(v, -0)) || n === 0)
                check('sum', x, total ? nearest(total, -24) : 0);
            check('sumsq', x, nearest(terms.reduce((a, b) => a + b * b, 0n), -48));
            check('norm1', x, nearest(terms.reduce((a, b) => a + (b < 0n ? -b : b), 0n), -24));
            const y = x.map(() => values[next() % 0x7c00]);
            const dot = terms.reduce((a, b, i) => a + b * scaled(y[i]), 0n);
            check('dot', x, nearest(dot, -48), { y });
            if (n) {
                check('max', x, x.reduce((a, b) => Math.max(a, b)));
                check('min', x, x.reduce((a, b) => Math.min(a, b)));
                equal(reduct.reduce('argmax', x).value, x.indexOf(x.reduce((a, b) => Math.max(a, b))), 'argmax');
            }
            /* as f32, f64: what an array of these values gives there */
            const wide = Float32Array.from(x);
            for (const operator of n > 1 ? ['sum', 'mean', 'norm2', 'var', 'std', 'rms', 'product'] : ['sum', 'norm2', 'product'])
                for (const result of ['f64', 'f32', 'f16', 'bf16'])
                    equal(reduct.reduce(operator, x, { result }), reduct.reduce(operator, wide, { result }), `${operator} as ${result}`);
            const parts = [x.subarray(0, n >> 1), x.subarray(n >> 1)].map(part => reduct.accumulator('sum', 'f16').add(part));
            equal(parts[0].merge(parts[1]).result(), reduct.reduce('sum', x), 'merged');
            equal(reduct.loadAccumulator(parts[0].save()).result(), reduct.reduce('sum', x), 'saved and loaded');
            equal(reduct.accumulator('sum', 'f32', { result: 'f16' }).add(x).result(), reduct.reduce('sum', x), 'in one of f32');
        }
    }
    check('max', Float16Array.of(1, NaN), NaN);
    check('max', Float16Array.of(1, NaN), 1, { nan: 'ignore' });
    check('norminf', new Float16Array(0), 0);
    check('sum', Float16Array.of(65504, 16), Infinity);
    check('sum', Float16Array.of(-0, -0), -0);
    equal(await sum(Float16Array.of(0.5, 2 ** -24)), 0.5, 'one call');
    for (const wrong of [() => reduct.reduce('max', Float16Array.of(1), { result: 'f32' }), () => reduct.accumulator('max', 'f16').add(Float16Array.of(1)).result('f64')])
        try {
            wrong();
            throw new Error('an extreme of f16 came out as another type');
        } catch (error) {
            if (!(error instanceof ReductError) || error.status !== 'unsupported')
                throw error;
        }
    return compared;
}
