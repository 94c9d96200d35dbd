/* How much is tested: all, or with REDUCT_TEST_SCALE below 1 in the environment such a part of it, both ends always. */
export const scale = Math.min(Number(process.env.REDUCT_TEST_SCALE ?? 1), 1);

if (scale < 1) console.log(`# REDUCT_TEST_SCALE is ${scale}: such a part of the sizes, types and kinds of data is tested`);

/* Of a list, in its order. */
export function sample(list) {
    const last = list.length - 1, count = Math.min(list.length, Math.max(2, Math.ceil(list.length * scale)));
    return Array.from({ length: count }, (_, i) => list[count === 1 ? 0 : Math.round((i * last) / (count - 1))]);
}
