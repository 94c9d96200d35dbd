/* Data that have broken sums before: see the names. Always the same, from a seed. */

/* Numbers in [0, 2^32) (George Marsaglia's xorshift). */
export function generator(seed) {
    let state = seed >>> 0 || 1;
    return () => {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        return state >>>= 0;
    };
}

/* Floats from their bits. */
const fromBits = (n, bits) => new Float32Array(Uint32Array.from({ length: n }, (_, i) => bits(i)).buffer);

function shuffle(array, next) {
    for (let i = array.length - 1; i > 0; i--) {
        const j = next() % (i + 1);
        [array[i], array[j]] = [array[j], array[i]];
    }
    return array;
}

const make = (n, value) => Float32Array.from({ length: n }, (_, i) => value(i));

/* Bits of finite floats with exponent fields from `low` to `high`. */
const finiteBits = (next, low, high) => ((next() & 0x807fffff) | (low + next() % (high - low + 1)) << 23) >>> 0;

function cancelling(n, next) {
    const all = fromBits(n, () => finiteBits(next, 0, 254));
    return shuffle(all.map((v, i) => (i & 1 ? -all[i - 1] : i === n - 1 ? 2 ** -149 : v)), next);
}

/* f32 arrays by name, of n elements each. */
export function floats(n, seed = 1) {
    const next = generator(seed * 7919 + n);
    const uniform = () => next() / 2 ** 32;
    const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
    return {
        uniform: make(n, uniform),
        normal: make(n, normal),
        fullRange: fromBits(n, () => finiteBits(next, 0, 254)),
        sixtyBinades: fromBits(n, () => finiteBits(next, 100, 160)),
        subnormal: fromBits(n, () => finiteBits(next, 0, 0)),
        largest: make(n, i => (i % 3 ? 1 : -1) * (2 - 2 ** -23) * 2 ** 127),
        overflowing: make(n, () => 2 ** 127),
        cancelling: cancelling(n, next),
        growing: make(n, i => 2 ** (-149 + Math.floor(276 * i / Math.max(n, 1)))),
        shrinking: make(n, i => -(2 ** (127 - Math.floor(276 * i / Math.max(n, 1))))),
        outlier: make(n, i => (i === 0 ? 2 ** 100 : uniform())),
        sparse: make(n, i => (i % 97 ? 0 : normal())),
        jumping: make(n, i => (i & 1 ? 2 ** 30 : 2 ** -30) * (1 + uniform())),
        windowEdges: make(n, i => 2 ** ((i % 67) - 33)),
        tie: make(n, i => (i === 0 ? 2 ** 24 : i === 1 ? 1 : 0)),
        tieAbove: make(n, i => (i === 0 ? 2 ** 24 : i === 1 ? 1 : i === 2 ? 2 ** -149 : 0)),
        equal: make(n, () => 0.1),
        minusZero: make(n, () => -0),
        zeros: make(n, i => (i === n - 1 ? 0 : -0)),
        nanLast: make(n, i => (i === n - 1 ? NaN : uniform())),
        nanAndInfinity: make(n, i => (i % 5 === 3 ? NaN : i % 7 === 2 ? -Infinity : uniform())),
        nanPatterns: fromBits(n, i => (i % 4 === 1 ? 0xff800001 + next() % 0x7fffff : finiteBits(next, 1, 254))),
        minusZeroAndNan: make(n, i => (i % 3 === 1 ? NaN : -0)),
        infinity: make(n, i => (i === n >> 1 ? Infinity : -uniform())),
        infinities: make(n, i => (i === 0 ? Infinity : i === n - 1 ? -Infinity : 1)),
        allInfinite: make(n, () => -Infinity),
    };
}

/* Second arrays for dot, of the data's length. */
export function partners(x, seed = 2) {
    const next = generator(seed * 104729 + x.length);
    const any = fromBits(x.length, () => finiteBits(next, 0, 254));
    return {
        ones: x.map(() => 1),
        near: x.map(() => next() / 2 ** 31 - 1),
        any,
        zeros: x.map((_, i) => (i & 1 ? 0 : -0)),
        opposite: x.map((v, i) => (i & 1 ? -x[i - 1] : x[Math.min(i + 1, x.length - 1)])),
    };
}
