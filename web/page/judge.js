/* What is right: exact rungs and integers to the last bit, others within the error that their method promises. */

/* The distance from an f32 of this size to the next. */
export function unitInLastPlace(value) {
    const magnitude = Math.abs(value);
    if (magnitude < 2 ** -126) return 2 ** -149;
    let exponent = Math.floor(Math.log2(magnitude)); /* off by one near powers of two: */
    if (2 ** exponent > magnitude) exponent--;
    else if (2 ** (exponent + 1) <= magnitude) exponent++;
    return 2 ** (exponent - 23);
}

/* {right, rounded, ulp, lost}: whether it is within its bound, whether it is the correctly rounded result, its distance
 * from the exact value in units in the last place of that value as its own type has them (at most a half where it is
 * correctly rounded), whether no digit is left. `depth`: the most additions that an element passes through, 0 where the
 * result must be exact. */
export function judge(value, expected, type, depth) {
    if (expected.value === null) /* nothing here is able to tell */ return { right: null, rounded: null, ulp: null };
    const rounded = Object.is(value, expected.rounded);
    if (type === 'i32') return { right: rounded, rounded, ulp: null };
    const unit = unitInLastPlace(expected.value);
    const error = Math.abs(value - expected.value);
    const bound = depth > 0 ? depth * 2 ** -24 * expected.magnitude + unit / 2 : null;
    return {
        right: bound === null ? rounded : error <= bound,
        rounded,
        ulp: error / unit,
        lost: error >= Math.abs(expected.value) / 2,
    };
}

/* The same of many results at once, `sums` being {value, rounded, magnitude} of arrays: the worst of them, with its number, what it
 * is, what it should be, and how many there are. */
export function judgeAll(values, sums, type, depth) {
    const one = i => ({ value: sums.value[i], rounded: sums.rounded[i], magnitude: sums.magnitude[i] });
    let which = 0;
    let worst = -1;
    for (let i = 0; i < values.length; i++) {
        if (Object.is(values[i], sums.rounded[i])) continue;
        const error = Math.abs(values[i] - sums.value[i]);
        const bound = depth * 2 ** -24 * sums.magnitude[i] + unitInLastPlace(sums.value[i]) / 2;
        const bad = type === 'f32' && depth > 0 && error <= bound ? error / bound : Infinity;
        if (bad <= worst) continue;
        [which, worst] = [i, bad];
    }
    const value = values[which];
    return { value, which, of: values.length, should: sums.rounded[which], ...judge(value, one(which), type, depth) };
}

/* On numbers that cancel, bounds are too wide to tell whether threads raced. But a specimen without its mistake gives what its
 * repair gives, to the last bit, unless the finish changes the order: they are compared once the repair has run. */
export function judgeSpecimen(specimen, repair) {
    if (!specimen?.seconds || specimen.finish === 'atomic') return;
    if (repair?.seconds) specimen.right = specimen.bits === repair.bits;
    else if (repair?.pending) specimen.right = null;
}

/* The bits of an f32 or an i32, as 0x and eight digits. */
export function bitsOf(value, type) {
    const view = new DataView(new ArrayBuffer(4));
    if (type === 'f32') view.setFloat32(0, value);
    else view.setInt32(0, value);
    return `0x${view.getUint32(0).toString(16).padStart(8, '0')}`;
}

/* The same for the CPU's rungs: their chains of additions. JavaScript's loop adds in f64 and is rounded to f32 here. */
export function depthOnCpu(rung, n) {
    switch (rung) {
        case 'js':
            return 1 + n * 2 ** -29;
        case 'plain':
            return n;
        case 'accumulators':
            return n / 8 + 16;
        case 'vectors':
            return n / 32 + 40;
        case 'kahan':
            return 2 + n * 2 ** -23;
        case 'pairwise':
            return Math.ceil(Math.log2(Math.max(n, 2))) + 56;
        default:
            return 0;
    }
}
