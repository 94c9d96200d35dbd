/* The tests' own arithmetic: reductions as exact fractions of BigInts, rounded by their definition. It knows nothing of
 * the library's code, and is slow and plain. */

export const FORMATS = {
    f64: { bytes: 8, precision: 53, lowest: -1074 },
    f32: { bytes: 4, precision: 24, lowest: -149 },
};

const abs = n => (n < 0n ? -n : n);
const bitLength = n => (n === 0n ? 0 : n.toString(2).length);

export const hexadecimal = (bits, bytes) => '0x' + BigInt.asUintN(8 * bytes, bits).toString(16).padStart(2 * bytes, '0');

export function bitsOf(value, type) {
    const view = new DataView(new ArrayBuffer(8));
    if (type === 'f64')
        view.setFloat64(0, value);
    else
        view.setFloat32(4, value);
    return hexadecimal(view.getBigUint64(0), FORMATS[type].bytes);
}

const number = new Float64Array(1), word = new BigUint64Array(number.buffer);

/* x * 2^1074, an integer for every finite double. */
function scaled(x) {
    number[0] = x;
    const bits = word[0], field = (bits >> 52n) & 0x7ffn, fraction = bits & ((1n << 52n) - 1n);
    const magnitude = field ? (fraction | 1n << 52n) << (field - 1n) : fraction;
    return bits >> 63n ? -magnitude : magnitude;
}

/* What make() gives of an array, made once: many reductions of the same numbers follow each other. */
function once(make) {
    const made = new WeakMap();
    return array => {
        if (!made.has(array))
            made.set(array, make(array));
        return made.get(array);
    };
}
const numbersOf = once(data => Array.from(data)), withoutNaN = once(x => (x.some(Number.isNaN) ? x.filter(v => !Number.isNaN(v)) : x));
const scaledAll = once(x => x.map(scaled)), magnitudes = once(x => x.map(v => (Object.is(v, -0) ? 0 : Math.abs(v))));

const infinityBits = ({ bytes, precision }) => ((1n << BigInt(8 * bytes - precision)) - 1n) << BigInt(precision - 1);
const nanBits = format => infinityBits(format) | 1n << BigInt(format.precision - 2);
const signBit = ({ bytes }) => 1n << BigInt(8 * bytes - 1);

/* q * 2^e, and a little more where `more`, to nearest, ties to even. Where there is more, q has bits to spare. */
function roundMagnitude(q, more, e, format) {
    const { precision, lowest } = format;
    const unit = Math.max(bitLength(q) + e - precision, lowest), shift = BigInt(Math.max(unit - e, 0));
    let m = unit >= e ? q >> shift : q << BigInt(e - unit);
    const rest = q - (m << shift), half = shift ? 1n << (shift - 1n) : 0n;
    if (unit > e && (rest > half || (rest === half && (more || m & 1n))))
        m++;
    /* fields follow each other, so a carry out of the significand gives the next one's smallest number */
    const bits = m < 1n << BigInt(precision - 1) ? m : m + (BigInt(unit - lowest) << BigInt(precision - 1));
    return bits > infinityBits(format) ? infinityBits(format) : bits;
}

function squareRoot(n) {
    if (n < 2n)
        return n;
    let x = 1n << BigInt((bitLength(n) + 1) >> 1);
    for (;;) {
        const next = (x + n / x) >> 1n;
        if (next >= x)
            return x;
        x = next;
    }
}

/* numerator / denominator * 2^e, or its square root, rounded. */
function roundFraction(numerator, denominator, e, format, root = false) {
    if (numerator === 0n)
        return 0n;
    const negative = numerator < 0n, n = abs(numerator), wanted = (root ? 2 : 1) * (format.precision + 4);
    let up = Math.max(wanted - (bitLength(n) - bitLength(denominator)), 0);
    if (root && (e - up) % 2)
        up++;
    const dividend = n << BigInt(up);
    let q = dividend / denominator, more = q * denominator !== dividend, at = e - up;
    if (root) {
        const r = squareRoot(q);
        more ||= r * r !== q;
        q = r;
        at /= 2;
    }
    return roundMagnitude(q, more, at, format) | (negative ? signBit(format) : 0n);
}

/* What the terms of a sum come to where not all are finite: bits, or undefined. */
function specialSum(terms, format) {
    if (terms.some(Number.isNaN) || (terms.includes(Infinity) && terms.includes(-Infinity)))
        return nanBits(format);
    if (terms.includes(Infinity))
        return infinityBits(format);
    return terms.includes(-Infinity) ? infinityBits(format) | signBit(format) : undefined;
}

/* Of numbers all finite. */
function productsOf(x, y) {
    const [a, b] = [scaledAll(x), scaledAll(y)];
    return a.map((v, i) => v * b[i]);
}
const total = numbers => numbers.reduce((a, b) => a + b, 0n);

function roundSum(terms, format, divisor = 1n) {
    const special = specialSum(terms, format);
    if (special !== undefined)
        return special;
    if (terms.length && terms.every(x => Object.is(x, -0)))
        return signBit(format);
    return roundFraction(total(scaledAll(terms)), divisor, -1074, format);
}

/* Numbers that stand for products where these are not finite; -0 and +0 where they are, by sign, so that specialSum and
 * zeros work alike. */
const signOfProduct = (x, y) => (Number.isFinite(x) && Number.isFinite(y) ?
    (Object.is(Math.sign(x) * Math.sign(y), -0) ? -0 : Math.sign(x) * Math.sign(y)) : x * y);

function roundProducts(x, y, format, finish = sum => roundFraction(sum, 1n, -2148, format)) {
    const signs = x.map((v, i) => signOfProduct(v, y[i])), special = specialSum(signs, format);
    if (special !== undefined)
        return special;
    if (signs.length && signs.every(s => Object.is(s, -0)))
        return signBit(format);
    return finish(total(productsOf(x, y)));
}

const largest = x => scaledAll(x).reduce((a, b) => (a > b ? a : b));
const smallest = x => scaledAll(x).reduce((a, b) => (a < b ? a : b));

/* The sum of products over that of weights, of finite numbers, as IEEE 754 divides. */
function roundQuotient(x, weights, format) {
    const products = total(productsOf(x, weights)), over = total(scaledAll(weights));
    const negativeZero = x.every((v, i) => Object.is(signOfProduct(v, weights[i]), -0));
    const negative = (products < 0n || (products === 0n && negativeZero)) !== over < 0n, sign = negative ? signBit(format) : 0n;
    if (over === 0n)
        return products === 0n ? nanBits(format) : infinityBits(format) | sign;
    return products === 0n ? sign : roundFraction(over < 0n ? -products : products, abs(over), -1074, format);
}

function roundVariance(x, format, population, root) {
    if (!x.every(Number.isFinite))
        return nanBits(format);
    const terms = scaledAll(x), n = BigInt(x.length), sum = total(terms), squares = total(terms.map(t => t * t));
    return roundFraction(n * squares - sum * sum, n * (population ? n : n - 1n), -2148, format, root);
}

/* IEEE 754-2019 minimum and maximum. */
function extreme(x, format, greatest) {
    if (x.some(Number.isNaN))
        return nanBits(format);
    const less = (a, b) => a < b || (a === b && Object.is(a, -0) && !Object.is(b, -0));
    const value = x.reduce((a, b) => (less(a, b) === greatest ? b : a));
    return BigInt(bitsOf(value, format === FORMATS.f64 ? 'f64' : 'f32'));
}

const MINIMUM = { mean: 1, rms: 1, min: 1, max: 1, var: 2, std: 2 };

/* The bits of a reduction of floats, or 'empty'. `type`: of the result. What is in `data` must stay as it is from call to call. */
export function expected(operator, data, { y, type = 'f64', nan = 'propagate', population = false } = {}) {
    const format = FORMATS[type];
    let x = numbersOf(data), second = y && numbersOf(y);
    if (nan === 'ignore' && !second)
        x = withoutNaN(x);
    else if (nan === 'ignore') {
        const kept = x.map((v, i) => !Number.isNaN(v) && !Number.isNaN(second[i]));
        if (!kept.every(Boolean))
            [x, second] = [x, second].map(numbers => numbers.filter((_, i) => kept[i]));
    }
    if (x.length < (population && MINIMUM[operator] === 2 ? 1 : MINIMUM[operator] ?? 0))
        return 'empty';
    const n = BigInt(x.length);
    const bits = {
        sum: () => roundSum(x, format),
        mean: () => roundSum(x, format, n),
        norm1: () => roundSum(magnitudes(x), format),
        dot: () => roundProducts(x, second, format),
        sumsq: () => roundProducts(x, x, format),
        norm2: () => roundProducts(x, x, format, sum => roundFraction(sum, 1n, -2148, format, true)),
        rms: () => roundProducts(x, x, format, sum => roundFraction(sum, n, -2148, format, true)),
        var: () => roundVariance(x, format, population, false),
        std: () => roundVariance(x, format, population, true),
        min: () => extreme(x, format, false),
        max: () => extreme(x, format, true),
        ptp: () => roundFraction(largest(x) - smallest(x), 1n, -1074, format),
        weighted_mean: () => roundQuotient(x, second, format),
        norminf: () => (x.length ? extreme(x.map(Math.abs), format, true) : 0n),
    }[operator]();
    return hexadecimal(bits, format.bytes);
}
