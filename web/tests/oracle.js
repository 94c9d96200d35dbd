/* What sums must be, by arithmetic that has nothing to do with ours: big integers. An f32 is one times 2^-149. */

const SCALE = 149n;

const view = new DataView(new ArrayBuffer(8));

function scaled(value) {
    view.setFloat64(0, value);
    const bits = view.getBigUint64(0);
    const exponent = (bits >> 52n) & 0x7ffn;
    const mantissa = (bits & (2n ** 52n - 1n)) | (exponent ? 2n ** 52n : 0n);
    const shift = (exponent || 1n) - 1075n + SCALE;
    const magnitude = shift >= 0n ? mantissa << shift : mantissa >> -shift; /* an f32 has nothing below */
    return bits >> 63n ? -magnitude : magnitude;
}

/* The f32 nearest to sum * 2^-149, ties to even. */
function rounded(sum) {
    const negative = sum < 0n;
    const magnitude = negative ? -sum : sum;
    const excess = BigInt(Math.max(0, magnitude.toString(2).length - 24));
    let kept = magnitude >> excess;
    const rest = magnitude - (kept << excess);
    const half = excess ? 1n << (excess - 1n) : 0n;
    if (excess && (rest > half || (rest === half && kept & 1n))) kept += 1n;
    const value = Number(kept) * 2 ** (Number(excess) - 149);
    return negative ? -value : value;
}

export function exactSum(x) {
    let sum = 0n;
    for (const value of x) sum += scaled(value);
    return rounded(sum);
}
