/* Part of template.h: sums that are close to what they stand for, with a bound of how close. A set that has fused multiply-adds in
 * hardware defines HAS_CLOSE and, besides template.h's parameters:
 *
 *   close_fused(a, b, c), close_quietly(a, b, c)   a * b + c, rounded once; the latter raises no flag where the set can do without
 *   close_rest(a, b, c)                            a * b - c, rounded once
 *   close_flags_clear()                            whether no operation since the last call was inexact, as far as flags tell
 *
 * A lane of a slice starts from 1.5 * 2^52 units. While it stays in that binade, adding a term rounds to whole units: what is added is
 * the difference of two such numbers, exactly, and what is left of the term is half a unit at most. Of a product it is found by a second
 * fused multiply-add, so that products are never formed, and rounds once. What is left is added up in doubles, which round: of m numbers of
 * half a unit at most each partial sum is below m / 2 units, so that each addition is wrong by less than m / 2 units * 2^-53. Coarse sums
 * leave out what is left: each term is then wrong by half a unit at most. */

#ifdef HAS_CLOSE

enum { CLOSE_VECTORS = 4, CLOSE_LANES = CLOSE_VECTORS * IN_VECTOR };

/* Running sums of one kind of terms. */
struct close_lanes {
    doubles start, slice[CLOSE_VECTORS], rest[CLOSE_VECTORS];
};

ALWAYS_INLINE struct close_lanes close_open(int unit) {
    struct close_lanes lanes;
    lanes.start = (doubles){0} + 1.5 * power_of_two(52 + unit);
    for (int j = 0; j < CLOSE_VECTORS; j++) {
        lanes.slice[j] = lanes.start;
        lanes.rest[j] = (doubles){0};
        BARRIER(lanes.slice[j]);
        BARRIER(lanes.rest[j]);
    }
    return lanes;
}

/* Adds a * b. Bits that the slice does not share with its start join `strayed`. */
ALWAYS_INLINE void close_add(struct close_lanes *lanes, int j, doubles a, doubles b, bool coarse, words *strayed) {
    const doubles before = lanes->slice[j], sum = coarse ? close_fused(a, b, before) : close_quietly(a, b, before);
    lanes->slice[j] = sum;
    if (!coarse)
        lanes->rest[j] += close_rest(a, b, sum - before);
    *strayed |= (words)sum ^ (words)lanes->start;
}

/* What has been added to all lanes. */
ALWAYS_INLINE void close_up(const struct close_lanes *lanes, struct rd_close *sum) {
    words units = {0};
    doubles rest = {0};
    for (int j = 0; j < CLOSE_VECTORS; j++) {
        units += (words)lanes->slice[j] - (words)lanes->start;
        rest += lanes->rest[j];
    }
    uint64_t all = 0; /* which is of no use where lanes strayed, and then may overflow */
    *sum = (struct rd_close){.rest = 0};
    for (int l = 0; l < IN_VECTOR; l++) {
        all += units[l];
        sum->rest += rest[l];
    }
    sum->units = (int64_t)all;
    BARRIER(sum->rest);
}

/* How far from the truth that may be after m additions to each lane. What is left: for each lane m (m + 1) / 4 for these, m / 2 as it
 * has been rounded; and for each addition over the lanes half of what all of them hold. */
static double close_slack(size_t adds, bool coarse, int unit) {
    const double m = (double)adds;
    return coarse ? m * CLOSE_LANES * power_of_two(unit - 1)
                  : (m * m / 2 + m * CLOSE_LANES) * CLOSE_LANES * power_of_two(unit - 53);
}

/* Adds a vector for each lane, of constant kinds, and asks for what lies so many bytes ahead. */
ALWAYS_INLINE void close_step(struct close_lanes lanes[2], enum rd_transform transform, bool coarse,
                              reduct_type element, const char *x, const char *y, size_t ahead, doubles one,
                              words strayed[CLOSE_VECTORS]) {
    const bool moments = transform == RD_MOMENTS;
    const size_t bytes = IN_VECTOR * size_of(element);
#pragma GCC unroll 4
    for (int j = 0; j < CLOSE_VECTORS; j++) {
        const doubles a = load_doubles(x + (size_t)j * bytes, element),
                      b = transform == RD_TIMES ? load_doubles(y + (size_t)j * bytes, element) : a;
        if (ahead && (size_t)j * bytes % 64 == 0) {
            READ_AHEAD(x + (size_t)j * bytes, ahead);
            if (transform == RD_TIMES)
                READ_AHEAD(y + (size_t)j * bytes, ahead);
        }
        close_add(&lanes[moments], j, a, b, coarse, &strayed[j]);
        if (moments)
            close_add(&lanes[0], j, a, one, coarse, &strayed[j]);
    }
}

ALWAYS_INLINE bool close_in(enum rd_transform transform, bool coarse, reduct_type element, const void *x, const void *y,
                            size_t n, const int unit[2], struct rd_close found[2]) {
    const size_t bytes = CLOSE_LANES * size_of(element), whole = n / CLOSE_LANES, left = n % CLOSE_LANES;
    const bool pairs = transform == RD_TIMES;
    const int sums = transform == RD_MOMENTS ? 2 : 1;
    const char *of_x = x, *of_y = y;
    doubles one = (doubles){0} + 1;
    words strayed[CLOSE_VECTORS] = {{0}};
    struct close_lanes lanes[2];
    BARRIER(one); /* the compiler must not know that it is 1 */
    close_flags_clear();
    for (int s = 0; s < sums; s++)
        lanes[s] = close_open(unit[s]);
    /* Two loops, as questions take time even where nothing is asked; narrower elements do not come that fast. */
    const size_t asking =
        element == REDUCT_F64 ? count_ahead(n - left, CLOSE_LANES, sizeof(double), 0) / CLOSE_LANES : 0;
    for (size_t i = 0; i < asking; i++, of_x += bytes, of_y = pairs ? of_y + bytes : of_y)
        close_step(lanes, transform, coarse, element, of_x, of_y, AHEAD, one, strayed);
    for (size_t i = asking; i < whole; i++, of_x += bytes, of_y = pairs ? of_y + bytes : of_y)
        close_step(lanes, transform, coarse, element, of_x, of_y, 0, one, strayed);
    if (left) {
        _Alignas(64) char last[2][CLOSE_LANES * sizeof(double)] = {{0}, {0}};
        memcpy(last[0], of_x, left * size_of(element));
        if (pairs)
            memcpy(last[1], of_y, left * size_of(element));
        close_step(lanes, transform, coarse, element, last[0], last[1], 0, one, strayed);
    }
    for (int s = 0; s < sums; s++) {
        for (int j = 0; j < CLOSE_VECTORS; j++)
            BARRIER(lanes[s].slice[j]);
        close_up(&lanes[s], &found[s]);
    }
    const bool exact = close_flags_clear();
    for (int s = 0; s < sums; s++)
        found[s].slack = exact ? 0 : close_slack(whole + (left != 0), coarse, unit[s]);
    uint64_t bits = 0;
    for (int j = 0; j < CLOSE_VECTORS; j++)
        for (int l = 0; l < IN_VECTOR; l++)
            bits |= strayed[j][l];
    return !(bits >> 52);
}

/* Coarse sums are for elements narrower than f64. */
#define CLOSE_OF(transform, element)                                                                                   \
    (coarse && (element) != REDUCT_F64 ? close_in(transform, (element) != REDUCT_F64, element, x, y, n, unit, found)   \
                                       : close_in(transform, false, element, x, y, n, unit, found))
#define CLOSE(name, element)                                                                                           \
    static bool close_##name(enum rd_transform transform, bool coarse, const void *x, const void *y, size_t n,         \
                             const int unit[2], struct rd_close found[2]) {                                            \
        return transform == RD_MOMENTS  ? CLOSE_OF(RD_MOMENTS, element)                                                \
               : transform == RD_SQUARE ? CLOSE_OF(RD_SQUARE, element)                                                 \
                                        : CLOSE_OF(RD_TIMES, element);                                                 \
    }
CLOSE(f64, REDUCT_F64)
CLOSE(f32, REDUCT_F32)
CLOSE(f16, REDUCT_F16)
CLOSE(bf16, REDUCT_BF16)

#endif
