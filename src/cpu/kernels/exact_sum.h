/* Part of template.h: exact sums of floats. Elements, or their products, go through windows in blocks, and into bins where no
 * window holds them; what is not finite is counted apart. */

/* Slices are brought home after this many elements, before lanes could run out of room (the bounds are at
 * window_open). */
enum { HELD_MAX = 1 << 18 };

/* A window that failed within so few elements is worth another slice; bins are kept for so many before windows are
 * tried. */
enum { PATIENCE = 16 * RD_BLOCK, BINS_PATIENCE = 64 * RD_BLOCK };

/* ---------------------------------------------------------------------------------------------------------------------
 * Windows
 * ------------------------------------------------------------------------------------------------------------------ */

static void window_close(struct rd_window *w) {
    if (w->level != RD_CLOSED && w->level != RD_BINNED)
        window_flush(w);
    w->level = RD_CLOSED;
}

/* This block and those to come go into bins. */
static void window_give_up(struct rd_window *w, size_t n) {
    window_close(w);
    w->level = RD_BINNED;
    w->added = n;
}

/* Constants for every parameter, so that each variant is compiled by itself. */
static bool window_block(struct rd_window *w, const void *x, size_t n, reduct_type element, bool absolute) {
#define OF(element, slices)                                                                                            \
    (absolute ? add_block(w, x, n, slices, element, true) : add_block(w, x, n, slices, element, false))
#define VARIANTS(slices)                                                                                               \
    (element == REDUCT_F64   ? OF(REDUCT_F64, slices)                                                                  \
     : element == REDUCT_F32 ? OF(REDUCT_F32, slices)                                                                  \
     : element == REDUCT_F16 ? OF(REDUCT_F16, slices)                                                                  \
                             : OF(REDUCT_BF16, slices))
    return w->level == 1 ? VARIANTS(1) : w->level == 2 ? VARIANTS(2) : VARIANTS(3);
#undef VARIANTS
#undef OF
}

/* Counts elements that were added. */
ALWAYS_INLINE void window_count(struct rd_window *w, size_t n) {
    w->added += n;
    w->held += n;
    if (w->held > HELD_MAX - RD_SPAN) {
        window_flush(w);
        w->held = 0;
    }
}

/* Adds a block if the window is open and can hold it. */
ALWAYS_INLINE bool window_try(struct rd_window *w, const void *x, size_t n, reduct_type element, bool absolute) {
    if (w->level == RD_CLOSED || w->level == RD_BINNED || !window_block(w, x, n, element, absolute))
        return false;
    window_count(w, n);
    return true;
}

/* The largest exponent field of finite doubles, and whether most are negative. */
static int largest_exponent(const double *x, size_t n, bool *negative) {
    uint64_t largest = 0, negatives = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        uint64_t magnitude = bits << 1;
        largest = magnitude > largest ? magnitude : largest;
        negatives += bits >> 63;
    }
    *negative = negatives > n / 2;
    return (int)(largest >> 53);
}

/* Opens a closed window for terms as large as those of a first block, so that whole spans can be tried. */
static __attribute__((noinline)) void window_start(struct rd_window *w, const double *x, size_t n, bool absolute) {
    bool negative;
    int field = largest_exponent(x, n, &negative);
    if (field != SPECIAL && window_open(w, w->lowest, (field ? field : 1) - 1023, negative && !absolute))
        w->added = w->held = 0;
}

/* Adds a block of finite doubles that the window could not hold to another that can. If there is none, false: this block and
 * those to come go into bins. */
static __attribute__((noinline)) bool window_retry(struct rd_window *w, const double *x, size_t n) {
    bool failed_early = w->level != RD_CLOSED && w->level != RD_BINNED && w->added < PATIENCE;
    int level = failed_early ? w->level + 1 : w->lowest;
    window_close(w);
    bool negative;
    int field = largest_exponent(x, n, &negative);
    for (; level <= RD_SLICES; level++) {
        if (!window_open(w, level, (field ? field : 1) - 1023, negative))
            break;
        if (window_block(w, x, n, REDUCT_F64, false)) {
            w->added = w->held = n;
            return true;
        }
    }
    window_give_up(w, n);
    return false;
}

static bool window_add(struct rd_window *w, const double *x, size_t n) {
    return window_try(w, x, n, REDUCT_F64, false) || window_retry(w, x, n);
}

/* Whether a block goes into bins, as those before it, without looking for a window first. */
static bool stays_binned(struct rd_window *w, size_t n) {
    bool stays = w->level == RD_BINNED && w->added < BINS_PATIENCE;
    w->added += stays ? n : 0;
    return stays;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Cleaning: what is not finite is counted and replaced by -0, which adds nothing
 * ------------------------------------------------------------------------------------------------------------------ */

struct specials {
    uint64_t nans, plus, minus;
};

static void count_specials(struct rd_partial *partial, struct specials found) {
    bool ignore = partial->reduction.nan == REDUCT_NAN_IGNORE;
    *(ignore ? &partial->ignored : &partial->nans) += found.nans;
    partial->plus_infinities += found.plus;
    partial->minus_infinities += found.minus;
}

/* n is a multiple of RD_LANES. */
ALWAYS_INLINE void widen(const void *x, size_t n, reduct_type element, double *wide) {
    for (size_t i = 0; i < n; i += IN_VECTOR) {
        doubles v = load_doubles((const char *)x + i * size_of(element), element);
        memcpy(wide + i, &v, sizeof v);
    }
}

/* Cleans doubles from x to clean, which may be the same. */
static void clean(struct rd_partial *partial, const double *x, size_t n, bool absolute, double *cleaned) {
    const uint64_t infinity = (uint64_t)0x7ff << 52, sign = (uint64_t)1 << 63;
    struct specials found = {0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bits &= absolute ? ~sign : ~(uint64_t)0;
        uint64_t magnitude = bits & ~sign;
        found.nans += magnitude > infinity;
        found.plus += bits == infinity;
        found.minus += bits == (infinity | sign);
        bits = magnitude >= infinity ? sign : bits;
        memcpy(&cleaned[i], &bits, sizeof bits);
    }
    count_specials(partial, found);
}

static bool all_finite(const double *x, size_t n) {
    bool negative;
    return largest_exponent(x, n, &negative) != SPECIAL;
}

/* Cleans pairs whose product is not finite because a factor is not. A pair with a NaN element may be ignored; a NaN
 * that comes of 0 * infinity is a NaN term whatever the policy. Weights, y, that are finite are kept; one that is not makes the
 * weighted mean NaN, as infinity / infinity is. Rare enough to be done one pair at a time. */
static void clean_pairs(struct rd_partial *partial, double *x, double *y, size_t n) {
    struct specials found = {0, 0, 0};
    const bool weighted = rd_operator(partial->reduction.op)->transform == RD_WEIGHTED;
    if (all_finite(x, n) && all_finite(y, n))
        return;
    for (size_t i = 0; i < n; i++) {
        double term = x[i] * y[i];
        bool finite = x[i] - x[i] == 0 && y[i] - y[i] == 0, kept = false;
        if (finite)
            continue;
        if (x[i] != x[i] || y[i] != y[i])
            found.nans++;
        else if (term != term || (weighted && y[i] - y[i] != 0))
            partial->nans++;
        else {
            *(term > 0 ? &found.plus : &found.minus) += 1;
            kept = weighted;
        }
        x[i] = -0.0;
        if (!kept)
            y[i] = 0.0;
    }
    count_specials(partial, found);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Blocks of elements: n is a multiple of RD_LANES, at most RD_BLOCK
 * ------------------------------------------------------------------------------------------------------------------ */

/* Adds finite doubles, or their absolute values, to the bins or, where these do not pay, one by one. */
static void add_far_elements(struct rd_scratch *s, const double *x, size_t n) {
    if (s->bins && (s->elements_ready || n >= ELEMENTS_WORTH))
        add_to_bins(s, x, n, false);
    else
        for (size_t i = 0; i < n; i++)
            rd_sum_add_double(s->terms.sum, x[i], 0);
}

/* Adds elements or absolute values that the window of terms does not hold. Returns as add_elements(). */
static __attribute__((noinline)) const double *add_elements_again(struct rd_scratch *s, const void *x, size_t n,
                                                                  reduct_type element, bool absolute) {
    const double *wide = element == REDUCT_F64 ? x : s->clean[0];
    if (element == REDUCT_F32)
        widen(x, n, REDUCT_F32, s->clean[0]);
    else if (element == REDUCT_F16)
        widen(x, n, REDUCT_F16, s->clean[0]);
    else if (element == REDUCT_BF16)
        widen(x, n, REDUCT_BF16, s->clean[0]);
    bool added = s->elements_ready && stays_binned(&s->terms, n);
    if (added && add_to_bins(s, wide, n, absolute))
        return wide;
    clean(s->partial, wide, n, absolute, s->clean[0]);
    if (!added && !window_retry(&s->terms, s->clean[0], n))
        add_far_elements(s, s->clean[0], n);
    return s->clean[0];
}

/* Adds elements or absolute values to the window of terms. Returns finite doubles of the same squares: x itself, a copy, or
 * null for narrower elements that are as they were. */
ALWAYS_INLINE const double *add_elements(struct rd_scratch *s, const void *x, size_t n, reduct_type element,
                                         bool absolute) {
    if (window_try(&s->terms, x, n, element, absolute))
        return element == REDUCT_F64 ? x : NULL;
    return add_elements_again(s, x, n, element, absolute);
}

/* Copies of pairs that are finite, or that add nothing; where all are finite, the pairs themselves. Squares stay pairs of the same. */
static void take_finite(struct rd_scratch *s, const double **x, const double **y, size_t n) {
    bool square = *x == *y;
    if (all_finite(*x, n) && (square || all_finite(*y, n)))
        return;
    if (*x != s->clean[0])
        memcpy(s->clean[0], *x, n * sizeof **x);
    memcpy(s->clean[1], *y, n * sizeof **y);
    clean_pairs(s->partial, s->clean[0], s->clean[1], n);
    *x = s->clean[0];
    *y = s->clean[square ? 0 : 1];
}

/* Adds rounding errors of products that no window holds while one does hold the products: hardly ever. */
static __attribute__((noinline)) void add_far_errors(struct rd_sum *sum, const double *error, size_t n) {
    for (size_t i = 0; i < n; i++)
        rd_sum_add_double(sum, error[i], 0);
}

/* Where a block does not fit its windows that is mostly because of a term or two, as small as few are: it is added in pieces, of which so
 * many may be added one by one. */
enum { FAR_PIECE = 2 * RD_LANES, FAR_PIECES = 3 };

#ifdef HAS_PRODUCT_BLOCK
enum { PRODUCTS_AT_ONCE = 1 };
#else
enum { PRODUCTS_AT_ONCE = 0 };
#endif

/* Adds products, and the rounding errors of those of doubles, in one go where two slices hold each, as they mostly do. */
static bool products_try(struct rd_scratch *s, struct rd_window *w, const void *x, const void *y, size_t n,
                         reduct_type element) {
#ifdef HAS_PRODUCT_BLOCK
    struct rd_window *errors = &s->errors;
    const bool wide = element == REDUCT_F64;
#define OF(errors, element)                                                                                            \
    (x == y ? add_product_block(w, errors, x, x, n, element, true)                                                     \
            : add_product_block(w, errors, x, y, n, element, false))
    if (w->level != 2 || (wide && errors->level != 2) ||
        !(wide                    ? OF(errors, REDUCT_F64)
          : element == REDUCT_F32 ? OF(NULL, REDUCT_F32)
          : element == REDUCT_F16 ? OF(NULL, REDUCT_F16)
                                  : OF(NULL, REDUCT_BF16)))
        return false;
#undef OF
    window_count(w, n);
    if (wide)
        window_count(errors, n);
    return true;
#else
    (void)s, (void)w, (void)x, (void)y, (void)n, (void)element;
    return false;
#endif
}

/* Opens closed windows for products of doubles as large as those of a first block, and for what rounding leaves of them. */
static __attribute__((noinline)) void products_start(struct rd_window *products, struct rd_window *errors,
                                                     const double *x, const double *y, size_t n) {
    bool negative;
    const int of_x = largest_exponent(x, n, &negative), of_y = largest_exponent(y, n, &negative),
              e = (of_x ? of_x : 1) + (of_y ? of_y : 1) - 2 * 1023 + 1;
    if (of_x == SPECIAL || of_y == SPECIAL || e - 53 < -1022 || !window_open(products, 2, e, false) ||
        !window_open(errors, 2, e - 53, false))
        products->level = errors->level = RD_CLOSED;
    products->added = products->held = errors->added = errors->held = 0;
}

/* The same of a block, in pieces if need be. Returns of how many pairs; if of any, all are finite. */
static size_t add_products_at_once(struct rd_scratch *s, struct rd_window *w, const double *x, const double *y,
                                   size_t n) {
    if (!PRODUCTS_AT_ONCE)
        return 0;
    if (products_try(s, w, x, y, n, REDUCT_F64))
        return n;
    if (w->level != 2 || s->errors.level != 2 || !all_finite(x, n) || (x != y && !all_finite(y, n)))
        return 0;
    size_t done = 0, far = 0;
    for (size_t some; done < n; done += some) {
        some = n - done < FAR_PIECE ? n - done : FAR_PIECE;
        if (products_try(s, w, x + done, y + done, some, REDUCT_F64))
            continue;
        if (far++ == FAR_PIECES)
            break;
        add_far_products(s, w->sum, x + done, y + done, some);
    }
    return done;
}

/* Adds the products of doubles to a window, their rounding errors to another; or the exact products to bins. Returns y, or a
 * copy of it in which everything is finite. */
static const double *add_products_apart(struct rd_scratch *s, struct rd_window *w, const double *x, const double *y,
                                        size_t n) {
    if (stays_binned(w, n)) {
        take_finite(s, &x, &y, n);
        add_far_products(s, w->sum, x, y, n);
        return y;
    }
    bool exact = multiply_exactly(x, y, n, s->product[0], s->product[1]);
    if (!exact) {
        take_finite(s, &x, &y, n);
        exact = multiply_exactly(x, y, n, s->product[0], s->product[1]);
    }
    if (!exact)
        window_give_up(w, n);
    if (!exact || !window_add(w, s->product[0], n))
        add_far_products(s, w->sum, x, y, n);
    else if (!window_add(&s->errors, s->product[1], n)) {
        add_far_errors(s->errors.sum, s->product[1], n);
        window_give_up(w, n);
    }
    return y;
}

/* The same, at once if possible. */
static const double *add_products_f64(struct rd_scratch *s, struct rd_window *w, const double *x, const double *y,
                                      size_t n) {
    const size_t done = add_products_at_once(s, w, x, y, n);
    if (!done)
        return add_products_apart(s, w, x, y, n);
    if (done < n)
        (void)add_products_apart(s, w, x + done, y + done, n - done);
    return y;
}

/* Adds the products of elements that have been widened, exact as doubles, to a window or to bins: to those of elements, which is
 * faster, where there are no elements to be added as well. */
static void add_widened_products(struct rd_scratch *s, struct rd_window *w, const double *x, const double *y,
                                 size_t n) {
    for (size_t i = 0; i < n; i++)
        s->product[0][i] = x[i] * y[i];
    if (!stays_binned(w, n) && window_add(w, s->product[0], n))
        return;
    if (w == &s->terms)
        add_far_elements(s, s->product[0], n);
    else
        add_far_products(s, w->sum, x, y, n);
}

/* The products of elements narrower than f64, which are doubles: of n, a multiple of IN_VECTOR. */
ALWAYS_INLINE void multiply_narrow_elements(const void *x, const void *y, size_t n, reduct_type element,
                                            double *product) {
    const size_t bytes = size_of(element);
    for (size_t i = 0; i < n; i += IN_VECTOR) {
        doubles v =
            load_doubles((const char *)x + i * bytes, element) * load_doubles((const char *)y + i * bytes, element);
        memcpy(product + i, &v, sizeof v);
    }
}

/* Adds the products of elements narrower than f64 if the window is open and can hold them. */
ALWAYS_INLINE bool narrow_products_try(struct rd_scratch *s, struct rd_window *w, const void *x, const void *y,
                                       size_t n, reduct_type element) {
    if (products_try(s, w, x, y, n, element))
        return true;
    if (w->level == RD_BINNED)
        return false;
    multiply_narrow_elements(x, y, n, element, s->product[0]);
    return window_try(w, s->product[0], n, REDUCT_F64, false);
}

/* Adds those of a block that a window of two slices could not hold, in pieces. Returns of how many pairs: all of these are finite. */
static size_t add_narrow_pieces(struct rd_scratch *s, struct rd_window *w, const void *x, const void *y, size_t n,
                                reduct_type element) {
    size_t done = 0, far = 0;
    for (size_t some; w->level == 2 && done < n; done += some) {
        const char *a = (const char *)x + done * size_of(element), *b = (const char *)y + done * size_of(element);
        some = n - done < FAR_PIECE ? n - done : FAR_PIECE;
        if (narrow_products_try(s, w, a, b, some, element))
            continue;
        if (far++ == FAR_PIECES || !all_finite(s->product[0], some))
            break;
        for (size_t i = 0; i < some; i++)
            rd_sum_add_double(w->sum, s->product[0][i], 0);
    }
    return done;
}

/* Adds products to a window. Returns y as doubles of which everything is finite, or null where everything was. */
ALWAYS_INLINE const double *add_narrow_products(struct rd_scratch *s, struct rd_window *w, const void *x, const void *y,
                                                size_t n, reduct_type element) {
    if (narrow_products_try(s, w, x, y, n, element))
        return NULL;
    const size_t done = add_narrow_pieces(s, w, x, y, n, element);
    if (done == n)
        return NULL;
    double *const rest = s->clean[1] + done;
    widen((const char *)x + done * size_of(element), n - done, element, s->clean[0]);
    widen(y, n, element, s->clean[1]);
    clean_pairs(s->partial, s->clean[0], rest, n - done);
    add_widened_products(s, w, s->clean[0], x == y ? s->clean[0] : rest, n - done);
    return s->clean[1];
}

static void block_f64(struct rd_scratch *s, enum rd_transform transform, const double *x, const double *y, size_t n) {
    switch (transform) {
    case RD_IDENTITY:
        add_elements(s, x, n, REDUCT_F64, false);
        break;
    case RD_ABSOLUTE:
        add_elements(s, x, n, REDUCT_F64, true);
        break;
    case RD_SQUARE:
        add_products_f64(s, &s->terms, x, x, n);
        break;
    case RD_TIMES:
        add_products_f64(s, &s->terms, x, y, n);
        break;
    case RD_MOMENTS:
        x = add_elements(s, x, n, REDUCT_F64, false);
        add_products_f64(s, &s->squares, x, x, n);
        break;
    case RD_WEIGHTED:
        add_elements(s, add_products_f64(s, &s->squares, x, y, n), n, REDUCT_F64, false);
        break;
    case RD_PRESENT: /* which are no sums of this family */
    case RD_NONZERO:
        break;
    }
}

/* What comes after so many bytes, for loops that read two arrays and do not keep memory busy by themselves. */
ALWAYS_INLINE void read_ahead(const void *x, size_t bytes, size_t after) {
    const size_t asking = count_ahead(bytes, 64, 1, after);
    for (size_t i = 0; i < asking; i += 64)
        READ_AHEAD((const char *)x + i, AHEAD);
}

ALWAYS_INLINE void block_narrow(struct rd_scratch *s, enum rd_transform transform, const void *x, const void *y,
                                size_t n, reduct_type element) {
    const double *finite;
    switch (transform) {
    case RD_IDENTITY:
        add_elements(s, x, n, element, false);
        break;
    case RD_ABSOLUTE:
        add_elements(s, x, n, element, true);
        break;
    case RD_SQUARE:
        add_narrow_products(s, &s->terms, x, x, n, element);
        break;
    case RD_TIMES:
        add_narrow_products(s, &s->terms, x, y, n, element);
        break;
    case RD_MOMENTS:
        finite = add_elements(s, x, n, element, false);
        if (!finite) {
            add_narrow_products(s, &s->squares, x, x, n, element);
            break;
        }
        add_widened_products(s, &s->squares, finite, finite, n);
        break;
    case RD_WEIGHTED:
        read_ahead(x, n * size_of(element), s->terms.after);
        read_ahead(y, n * size_of(element), s->terms.after);
        finite = add_narrow_products(s, &s->squares, x, y, n, element);
        if (finite)
            add_elements(s, finite, n, REDUCT_F64, false);
        else
            add_elements(s, y, n, element, false);
        break;
    case RD_PRESENT: /* which are no sums of this family */
    case RD_NONZERO:
        break;
    }
}

#define NARROW(name, T, element)                                                                                       \
    static void block_##name(struct rd_scratch *s, enum rd_transform transform, const T *x, const T *y, size_t n) {    \
        block_narrow(s, transform, x, y, n, element);                                                                  \
    }                                                                                                                  \
    static const double *as_doubles_##name(const struct rd_scratch *s, const T *x) {                                   \
        widen(x, RD_BLOCK, element, s->clean[0]);                                                                      \
        return s->clean[0];                                                                                            \
    }
NARROW(f32, float, REDUCT_F32)
NARROW(f16, uint16_t, REDUCT_F16)
NARROW(bf16, uint16_t, REDUCT_BF16)

static const double *as_doubles_f64(const struct rd_scratch *s, const double *x) {
    (void)s;
    return x;
}

/* Adds a span of products, and of elements where these are summed, too. False, and nothing is added, where there is no window for all
 * products. */
static bool add_span_f64(struct rd_scratch *s, enum rd_transform transform, const double *x, const double *y) {
    const bool moments = transform == RD_MOMENTS;
    struct rd_window *w = moments ? &s->squares : &s->terms;
    if (transform != RD_SQUARE && transform != RD_TIMES && !moments)
        return false;
    y = y ? y : x;
    if (w->level == RD_CLOSED && s->errors.level == RD_CLOSED)
        products_start(w, &s->errors, x, y, RD_BLOCK);
    if (!products_try(s, w, x, y, RD_SPAN, REDUCT_F64))
        return false;
    if (moments && !window_try(&s->terms, x, RD_SPAN, REDUCT_F64, false))
        for (size_t i = 0; i < RD_SPAN; i += RD_BLOCK)
            add_elements(s, x + i, RD_BLOCK, REDUCT_F64, false);
    return true;
}
#define NO_SPAN(name, T)                                                                                               \
    static bool add_span_##name(struct rd_scratch *s, enum rd_transform transform, const T *x, const T *y) {           \
        (void)s, (void)transform, (void)x, (void)y;                                                                    \
        return false;                                                                                                  \
    }
NO_SPAN(f32, float)
NO_SPAN(f16, uint16_t)
NO_SPAN(bf16, uint16_t)

/* Of what is added so many bytes come after the next block. */
static void set_after(struct rd_scratch *s, size_t bytes) {
    bytes += s->beyond;
    s->terms.after = s->squares.after = s->errors.after = bytes;
}

/* Spans while they fit the window, whole blocks where not, then the rest of the data filled up with zeros to whole
 * lanes. */
#define ADD(name, T, element)                                                                                          \
    static void add_##name(struct rd_scratch *s, enum rd_transform transform, const void *from, const void *other,     \
                           size_t count) {                                                                             \
        const T *x = from, *y = other;                                                                                 \
        const bool absolute = transform == RD_ABSOLUTE, direct = absolute || transform == RD_IDENTITY;                 \
        size_t done = 0;                                                                                               \
        if (direct && count >= RD_SPAN && s->terms.level == RD_CLOSED)                                                 \
            window_start(&s->terms, as_doubles_##name(s, x), RD_BLOCK, absolute);                                      \
        for (; count - done >= RD_SPAN; done += RD_SPAN) {                                                             \
            set_after(s, (count - done - RD_SPAN) * sizeof(T));                                                        \
            if (!(direct ? window_try(&s->terms, x + done, RD_SPAN, element, absolute)                                 \
                         : add_span_##name(s, transform, x + done, y ? y + done : NULL)))                              \
                for (size_t i = 0; i < RD_SPAN; i += RD_BLOCK)                                                         \
                    block_##name(s, transform, x + done + i, y ? y + done + i : NULL, RD_BLOCK);                       \
        }                                                                                                              \
        for (; count - done >= RD_BLOCK; done += RD_BLOCK) {                                                           \
            set_after(s, (count - done - RD_BLOCK) * sizeof(T));                                                       \
            block_##name(s, transform, x + done, y ? y + done : NULL, RD_BLOCK);                                       \
        }                                                                                                              \
        set_after(s, 0);                                                                                               \
        size_t rest = count - done, filled = (rest + RD_LANES - 1) / RD_LANES * RD_LANES;                              \
        if (!rest)                                                                                                     \
            return;                                                                                                    \
        T *tail[2] = {(void *)s->tail[0], (void *)s->tail[1]};                                                         \
        for (int i = 0; i < (y ? 2 : 1); i++) {                                                                        \
            memcpy(tail[i], (i ? y : x) + done, rest * sizeof(T));                                                     \
            memset(tail[i] + rest, 0, (filled - rest) * sizeof(T));                                                    \
        }                                                                                                              \
        block_##name(s, transform, tail[0], y ? tail[1] : NULL, filled);                                               \
    }
ADD(f64, double, REDUCT_F64)
ADD(f32, float, REDUCT_F32)
ADD(f16, uint16_t, REDUCT_F16)
ADD(bf16, uint16_t, REDUCT_BF16)

static void finish(struct rd_scratch *s) {
    window_close(&s->terms);
    window_close(&s->squares);
    window_close(&s->errors);
    if (s->elements_ready)
        empty_elements(s->bins, s->terms.sum);
    if (s->products_ready)
        empty_products(s->bins, s->errors.sum); /* which is that of products */
}
