/* Numbers as people read them. */

const significant = (value, digits) =>
    Number(value.toPrecision(digits)).toLocaleString('en', { maximumFractionDigits: 6, useGrouping: false });

export function time(seconds) {
    if (seconds === null || seconds === undefined) return '';
    if (seconds >= 1) return `${significant(seconds, 3)} s`;
    return seconds >= 1e-3 ? `${significant(seconds * 1e3, 3)} ms` : `${significant(seconds * 1e6, 3)} µs`;
}

export const rate = bytesPerSecond => (bytesPerSecond ? significant(bytesPerSecond / 1e9, 3) : '');

export const factor = value => (value ? `${significant(value, 3)}` : '');

/* An error in units in the last place; exactly 0 is the correctly rounded result or half a unit from it at most. */
export function ulp(value) {
    if (value === null || value === undefined) return '';
    if (value > 0 && value < 0.01) return '< 0.01';
    return value < 1e5 ? significant(value, value < 10 ? 2 : 3) : value.toExponential(1).replace('e+', 'e');
}

/* The shortest decimal that reads back as the same f32 (or, failing that, f64). */
export function shortest(value, type = 'f32') {
    if (type === 'f32' && Number.isFinite(value) && value !== 0 && Math.fround(value) === value)
        for (let digits = 1; digits < 10; digits++)
            if (Math.fround(Number(value.toPrecision(digits))) === value)
                return String(Number(value.toPrecision(digits)));
    return plain(value);
}

/* A number as JavaScript writes it, but for the zero with a sign, which it hides. */
export const plain = value => (Object.is(value, -0) ? '-0' : String(value));

/* A result beside the one it should be: {same, different}, its decimal digits up to the first that differs and those from
 * there on. One that stops short of a difference is continued by zeros. */
export function compared(value, expected, type) {
    const text = shortest(value, type);
    const other = shortest(expected, type);
    const [whole, otherWhole] = [text, other].map(digits => digits.split(/[.e]/)[0]);
    if (text === other) return { same: text, different: '' };
    if (whole.length !== otherWhole.length || /[e]|NaN|Infinity/.test(text + other))
        return { same: '', different: text };
    const point = text.includes('.') || !other.includes('.') ? '' : '.';
    const padded = other.startsWith(text) ? (text + point).padEnd(other.length, '0') : text;
    let at = 0;
    while (at < padded.length && padded[at] === other[at]) at++;
    return { same: padded.slice(0, at), different: padded.slice(at) };
}

/* '1 element', '2 elements', '10 Mi elements' */
export const counted = (n, noun) => `${count(n)} ${noun}${n === 1 ? '' : 's'}`;

/* Time that is left, as people want it told. */
export function left(seconds) {
    if (seconds === null) return '';
    if (seconds < 5) return 'a few seconds left';
    if (seconds < 100) return `about ${Math.ceil(seconds / 5) * 5} s left`;
    return `about ${Math.round(seconds / 60)} min left`;
}

/* 10485760 is 10 Mi. */
export function count(n) {
    for (const [unit, size] of [
        ['Gi', 2 ** 30],
        ['Mi', 2 ** 20],
        ['Ki', 2 ** 10],
    ])
        if (n >= size && n % (size / 4) === 0) return `${n / size} ${unit}`;
    return n.toLocaleString('en').replaceAll(',', '\u202f');
}

export function bytes(n) {
    for (const [unit, size] of [
        ['GiB', 2 ** 30],
        ['MiB', 2 ** 20],
        ['KiB', 2 ** 10],
    ])
        if (n >= size) return `${significant(n / size, 3)} ${unit}`;
    return `${n} bytes`;
}

/* '10 Mi', '1e6', '1 000 000', '4Ki' as a number; NaN if it is none of these. */
export function parseCount(text) {
    const match = /^([0-9.]+(?:e[0-9]+)?)(ki|mi|gi|k|m|g)?$/i.exec(text.replace(/[\s\u202f_,]/g, ''));
    if (!match) return NaN;
    const units = { ki: 2 ** 10, mi: 2 ** 20, gi: 2 ** 30, k: 1e3, m: 1e6, g: 1e9 };
    const value = Number(match[1]) * (units[match[2]?.toLowerCase()] ?? 1);
    return Number.isInteger(value) ? value : NaN;
}
