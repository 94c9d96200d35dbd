/* Part of template.h: exact sums of few floats in two doubles, without scratch memory. */

/* a + b, rounded, and its error, of numbers or vectors (O. Moller, 1965; D. E. Knuth, "The Art of Computer Programming", volume
 * 2). */
#define ADD_TWO(T, a, b, sum, error)                                                                                   \
    do {                                                                                                               \
        const T sum_ = (a) + (b), part_ = sum_ - (a);                                                                  \
        (error) = ((a) - (sum_ - part_)) + ((b)-part_);                                                                \
        (sum) = sum_;                                                                                                  \
    } while (0)

/* A sum as high + low. What that could not hold, or NaNs where something was not finite, left bits in `lost`. */
struct pair {
    double high, low;
    uint64_t lost;
};

ALWAYS_INLINE void add_low(struct pair *pair, double term) {
    double rest;
    ADD_TWO(double, pair->low, term, pair->low, rest);
    pair->lost |= bits_at(&rest) << 1;
}

ALWAYS_INLINE void add_high(struct pair *pair, double term) {
    double error;
    ADD_TWO(double, pair->high, term, pair->high, error);
    add_low(pair, error);
}

/* The same, a pair for each lane. */
struct pairs {
    doubles high, low;
    words lost;
};

ALWAYS_INLINE void add_lows(struct pairs *pairs, doubles terms) {
    doubles rest;
    ADD_TWO(doubles, pairs->low, terms, pairs->low, rest);
    pairs->lost |= (words)rest << 1;
}

ALWAYS_INLINE void add_highs(struct pairs *pairs, doubles terms) {
    doubles error;
    ADD_TWO(doubles, pairs->high, terms, pairs->high, error);
    add_lows(pairs, error);
}

ALWAYS_INLINE double load_term(const void *x, size_t i, reduct_type element, bool absolute) {
    double term = rd_element_value(element, x, i);
    return absolute ? __builtin_fabs(term) : term;
}

ALWAYS_INLINE doubles load_terms(const void *x, size_t i, reduct_type element, bool absolute) {
    doubles terms = load_doubles((const char *)x + i * size_of(element), element);
    return absolute ? (doubles)((words)terms << 1 >> 1) : terms;
}

/* The sum of elements: of many in VECTORS_OF_PAIRS vectors of pairs, which then meet in one; of what is left one by one. */
enum { VECTORS_OF_PAIRS = 4, FEW = 15 };

ALWAYS_INLINE bool sum_in_pairs(const void *x, size_t n, reduct_type element, bool absolute, double *high,
                                double *low) {
    struct pair sum = {0, 0, 0};
    size_t i = 0;
    if (n > FEW) {
        struct pairs lanes[VECTORS_OF_PAIRS] = {{{0}, {0}, {0}}};
        for (; n - i >= VECTORS_OF_PAIRS * IN_VECTOR; i += VECTORS_OF_PAIRS * IN_VECTOR)
#pragma GCC unroll 4
            for (size_t j = 0; j < VECTORS_OF_PAIRS; j++)
                add_highs(&lanes[j], load_terms(x, i + j * IN_VECTOR, element, absolute));
        for (size_t j = 1; j < VECTORS_OF_PAIRS; j++) {
            add_highs(&lanes[0], lanes[j].high);
            add_lows(&lanes[0], lanes[j].low);
            lanes[0].lost |= lanes[j].lost;
        }
        for (size_t l = 0; l < IN_VECTOR; l++) {
            add_high(&sum, lanes[0].high[l]);
            add_low(&sum, lanes[0].low[l]);
            sum.lost |= lanes[0].lost[l];
        }
    }
    for (; i < n; i++)
        add_high(&sum, load_term(x, i, element, absolute));
    *high = sum.high;
    *low = sum.low;
    return !sum.lost;
}

#ifdef HAS_BRIEF
/* The sum of elements narrower than f64 without splitting any: that all was exact, as it mostly is, flags prove. */
ALWAYS_INLINE bool sum_in_one(const void *x, size_t n, reduct_type element, bool absolute, double *high, double *low) {
    doubles lanes[VECTORS_OF_PAIRS] = {{0}};
    double sum = 0;
    size_t i = 0;
    for (size_t j = 0; j < VECTORS_OF_PAIRS; j++)
        BARRIER(lanes[j]);
#ifdef HAS_HALVES
    if (element == REDUCT_F32 && rd_does_halves()) {
        i = n / RD_LANES * RD_LANES;
        lanes[0] = sum_in_halves(x, i, absolute);
    }
#endif
    for (; n - i >= VECTORS_OF_PAIRS * IN_VECTOR; i += VECTORS_OF_PAIRS * IN_VECTOR)
#pragma GCC unroll 4
        for (size_t j = 0; j < VECTORS_OF_PAIRS; j++)
            lanes[j] += load_terms(x, i + j * IN_VECTOR, element, absolute);
    for (; n - i >= IN_VECTOR; i += IN_VECTOR)
        lanes[0] += load_terms(x, i, element, absolute);
    lanes[0] = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    for (size_t l = 0; l < IN_VECTOR; l++)
        sum += lanes[0][l];
    for (; i < n; i++)
        sum += load_term(x, i, element, absolute);
    BARRIER(sum);
    *high = sum;
    *low = 0;
    return flags_clear(RD_INVALID | RD_OVERFLOW | RD_UNDERFLOW | RD_INEXACT) &&
           (bits_at(&sum) >> 52 & 0x7ff) != 0x7ff; /* quiet NaNs raise none, nor does an infinity */
}
#define BRIEF_OF_MANY(element, absolute)                                                                               \
    ((element != REDUCT_F64 && sum_in_one(x, n, element, absolute, high, low)) ||                                      \
     (n <= RD_BRIEF && brief(x, n, element, absolute, high, low)))
#else
#define BRIEF_OF_MANY(element, absolute) (n <= RD_BRIEF && sum_in_pairs(x, n, element, absolute, high, low))
#endif
#define BRIEF_OF(element, absolute)                                                                                    \
    (n > FEW ? BRIEF_OF_MANY(element, absolute) : sum_in_pairs(x, n, element, absolute, high, low))
#define BRIEF(name, element)                                                                                           \
    static bool brief_##name(const void *x, size_t n, bool absolute, double *high, double *low) {                      \
        return absolute ? BRIEF_OF(element, true) : BRIEF_OF(element, false);                                          \
    }
BRIEF(f64, REDUCT_F64)
BRIEF(f32, REDUCT_F32)
BRIEF(f16, REDUCT_F16)
BRIEF(bf16, REDUCT_BF16)

/* The same of what may be nothing but zeros, as the errors of products of short numbers are. */
static bool sum_or_zero(const double *x, size_t n, double *high, double *low) {
    uint64_t all = 0;
    for (size_t i = 0; i < n; i++)
        all |= bits_at(&x[i]) << 1;
    *high = *low = 0;
    return !all || brief_f64(x, n, false, high, low);
}

#ifdef HAS_BRIEF_PRODUCTS
enum { MOST_PRODUCTS = RD_BRIEF };
#define IF_MANY(element)                                                                                               \
    if (n > FEW)                                                                                                       \
        return x == y ? brief_products(x, x, n, element, true, part) : brief_products(x, y, n, element, false, part);
#else
enum { MOST_PRODUCTS = RD_FEW };
#define IF_MANY(element)
#endif

static bool brief_products_f64(const void *x, const void *y, size_t n, double part[4]) {
    IF_MANY(REDUCT_F64)
    _Alignas(64) double product[RD_FEW], error[RD_FEW], last[2][RD_LANES] = {{0}, {0}};
    const double *a = x, *b = y;
    const size_t whole = n / RD_LANES * RD_LANES, rest = n - whole;
    bool exact = multiply_exactly(a, b, whole, product, error);
    if (exact && rest) {
        memcpy(last[0], a + whole, rest * sizeof *a);
        memcpy(last[1], b + whole, rest * sizeof *b);
        exact = multiply_exactly(last[0], last[1], RD_LANES, product + whole, error + whole);
    }
    return exact && sum_or_zero(product, n, &part[0], &part[1]) && sum_or_zero(error, n, &part[2], &part[3]);
}

/* The products of narrower elements are doubles. */
#define BRIEF_PRODUCTS(name, element)                                                                                  \
    static bool brief_products_##name(const void *x, const void *y, size_t n, double part[4]) {                        \
        IF_MANY(element)                                                                                               \
        double product[RD_FEW];                                                                                        \
        const size_t whole = n / IN_VECTOR * IN_VECTOR;                                                                \
        multiply_narrow_elements(x, y, whole, element, product);                                                       \
        for (size_t i = whole; i < n; i++)                                                                             \
            product[i] = load_term(x, i, element, false) * load_term(y, i, element, false);                            \
        part[2] = part[3] = 0;                                                                                         \
        return sum_or_zero(product, n, &part[0], &part[1]);                                                            \
    }
BRIEF_PRODUCTS(f32, REDUCT_F32)
BRIEF_PRODUCTS(f16, REDUCT_F16)
BRIEF_PRODUCTS(bf16, REDUCT_BF16)
