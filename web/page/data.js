/* The numbers that the ladder adds up, made from a seed: the same on every machine. */

/* A generator of 32 random bits (Marsaglia's xorshift). */
function random32(seed) {
    let state = seed >>> 0 || 1;
    return () => {
        state ^= state << 13;
        state ^= state >>> 17;
        state ^= state << 5;
        return state >>> 0;
    };
}

/* Each kind fills an array and says, for people, what is in it. The first is what the page begins with: numbers whose
 * ordinary sums are wrong in digits that everybody sees. */
export const KINDS = {
    cancelling: {
        type: 'f32',
        label: 'f32, both signs, large terms that cancel',
        /* Large terms of many magnitudes in front, their negatives in other order at the end, small ones in between:
         * the small ones alone are the sum. */
        fill(x, random) {
            const third = Math.floor(x.length / 3);
            for (let i = 0; i < third; i++) {
                const large = (1 + (random() >>> 8) * 2 ** -24) * 2 ** (random() % 21);
                x[i] = large;
                x[x.length - 1 - (i * 2 < third ? i * 2 : 2 * (third - i) - 1)] = -large;
            }
            for (let i = third; i < x.length - third; i++) x[i] = (random() >>> 8) * 2 ** -34;
        },
    },
    uniform: {
        type: 'f32',
        label: 'f32, evenly between 0 and 1',
        fill(x, random) {
            for (let i = 0; i < x.length; i++) x[i] = (random() >>> 8) * 2 ** -24;
        },
    },
    integers: {
        type: 'i32',
        label: 'i32, between -100 and 100',
        fill(x, random) {
            for (let i = 0; i < x.length; i++) x[i] = (random() % 201) - 100;
        },
    },
};

/* The other factors of a dot product: the same in reverse. */
export const othersOf = x => x.slice().reverse();

export function fill(x, kind, seed) {
    KINDS[kind].fill(x, random32(seed));
}
