/* Plans of many: rows, columns and any other axes, segments, several reductions at once; each result against the oracle, which is given
 * the result's elements one after another, found by counting through the axes one by one.
 *
 * From the survival list: "strides: negative, zero, odd", "zero-length axes", "several results from one pass".
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "values.h"

enum { REDUCTIONS_MOST = 20, REDUCTIONS_OFTEN = 6, RANK_MOST = 6, SPAN = 1 << 15 };

/* What is asked for, and all that the test needs to know to say what must come. */
struct many {
    struct rng rng;
    const struct test_type *type;
    unsigned char *memory[2]; /* SPAN elements each, of x and y */
    size_t span;
    reduct_reduction reduction[REDUCTIONS_MOST];
    size_t reductions;
    unsigned inputs;
    /* Axes in the array's order. */
    unsigned rank;
    uint64_t length[RANK_MOST];
    int64_t stride[2][RANK_MOST], result_stride[RANK_MOST];
    uint64_t axes;
    int64_t first[2], result_first; /* from the start of memory to element (0, 0, ...), and of results */
    size_t result_span;
    /* Or segments. */
    bool segmented;
    uint64_t begin[SPAN], end[SPAN];
    bool twice; /* a plan is executed twice, as what pieces met in must be as it was */
    /* And a mask, whose entries lie as elements do, if in another order. */
    reduct_mask mask;
    unsigned char mask_memory[SPAN + 64];
    int64_t mask_stride[RANK_MOST];
    uint64_t mask_first;
    bool counts[SPAN];    /* of a result's elements */
    uint64_t place[SPAN]; /* of those that count, by number */
    struct oracle filled; /* of all elements, with 1 where one does not count: for products */
    void *gathered_filled;
    uint64_t results;
    struct oracle single, pairs;
    void *gathered[2];
    unsigned threads;
    size_t cases;
};

/* ---------------------------------------------------------------------------------------------------------------------
 * What to ask for
 * ------------------------------------------------------------------------------------------------------------------ */

/* Whether a device has a reduction. What it lacks is said once. */
static bool is_served(const char *device, const reduct_reduction *reduction) {
    static bool said[64];
    const reduct_plan_options options = {
        .reductions = reduction, .reduction_count = 1, .shape = {.n = 9}, .device = device};
    reduct_plan *plan = NULL;
    reduct_error error = {0};
    const reduct_status status = reduct_plan_create(&options, &plan, &error);
    reduct_plan_destroy(plan);
    if (status != REDUCT_ERROR_UNSUPPORTED)
        return true;
    assert_true(reduction->op < 64);
    if (!said[reduction->op])
        print_message("not tested here: %s\n", error.message);
    said[reduction->op] = true;
    return false;
}

/* Whether a device takes masks. One that does not is said once. */
static bool takes_masks(const char *device) {
    static bool said;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const reduct_plan_options options = {
        .reductions = &sum, .reduction_count = 1, .shape = {.n = 9}, .device = device, .mask = REDUCT_MASK_BYTES};
    reduct_plan *plan = NULL;
    reduct_error error = {0};
    const reduct_status status = reduct_plan_create(&options, &plan, &error);
    reduct_plan_destroy(plan);
    if (status == REDUCT_ERROR_UNSUPPORTED && !said)
        print_message("not tested here: %s\n", error.message);
    said = said || status == REDUCT_ERROR_UNSUPPORTED;
    return status == REDUCT_OK;
}

static void choose_reductions(struct many *many, const char *device) {
    many->reductions = rng_below(&many->rng, 3) ? 1 : 1 + rng_below(&many->rng, REDUCTIONS_OFTEN);
    many->inputs = 1;
    for (size_t i = 0; i < many->reductions; i++) {
        const struct test_operator *op;
        do
            op = &test_operators[rng_below(&many->rng, test_operator_count)];
        while (!oracle_has(op->op, many->type->type) ||
               !is_served(device, &(reduct_reduction){.op = op->op, .element = many->type->type}));
        many->reduction[i] = (reduct_reduction){.op = op->op,
                                                .element = many->type->type,
                                                .result = test_pick_result(&many->rng, op->op, many->type->type),
                                                .nan = (reduct_nan)rng_below(&many->rng, 3),
                                                .flags = (uint32_t)rng_below(&many->rng, 4)};
        if (op->inputs == 2)
            many->inputs = 2;
    }
}

/* Those that follow from sums, squares, extremes and the number of NaNs; and now and then another one beside them. */
static void choose_several(struct many *many, const char *device) {
    static const reduct_operator SHARED[] = {REDUCT_SUM,    REDUCT_MEAN,  REDUCT_VAR, REDUCT_STD,   REDUCT_SUMSQ,
                                             REDUCT_NORM2,  REDUCT_RMS,   REDUCT_MIN, REDUCT_MAX,   REDUCT_ARGMIN,
                                             REDUCT_ARGMAX, REDUCT_COUNT, REDUCT_PTP, REDUCT_MINMAX};
    struct rng *rng = &many->rng;
    /* A kernel that adds no squares is another one. */
    const bool squares = rng_below(rng, 4) != 0, others = rng_below(rng, 4) == 0;
    many->inputs = 1;
    many->reductions = rng_below(rng, 10) ? 2 + rng_below(rng, REDUCTIONS_OFTEN) : REDUCTIONS_MOST;
    for (size_t i = 0; i < many->reductions; i++) {
        reduct_operator op;
        do
            op = others && rng_below(rng, 4) == 0 ? test_operators[rng_below(rng, test_operator_count)].op
                                                  : SHARED[rng_below(rng, sizeof SHARED / sizeof *SHARED)];
        while (!oracle_has(op, many->type->type) ||
               !is_served(device, &(reduct_reduction){.op = op, .element = many->type->type}) ||
               (!squares && (op == REDUCT_VAR || op == REDUCT_STD || op == REDUCT_SUMSQ || op == REDUCT_NORM2 ||
                             op == REDUCT_RMS)));
        many->reduction[i] = (reduct_reduction){.op = op,
                                                .element = many->type->type,
                                                .result = test_pick_result(rng, op, many->type->type),
                                                .nan = (reduct_nan)rng_below(rng, 3),
                                                .flags = (uint32_t)rng_below(rng, 2) ? REDUCT_POPULATION : 0};
        if (test_operator(op)->inputs == 2)
            many->inputs = 2;
    }
}

static reduct_reduction resolved(const struct many *many, size_t which) {
    reduct_reduction reduction = many->reduction[which];
    if (reduction.result == REDUCT_DEFAULT)
        reduction.result = oracle_default_result(reduction.op, reduction.element);
    return reduction;
}

/* Strides of axes that lie in memory in a random order, some of them stretched, turned round, or standing still; fills in where the
 * first element is. Returns how far they reach. */
static size_t choose_strides(struct many *many, const bool *wanted, int64_t *stride, int64_t *first, bool distinct) {
    unsigned order[RANK_MOST];
    uint64_t step = 1, reach = 0;
    for (unsigned k = 0; k < many->rank; k++) {
        unsigned at = (unsigned)rng_below(&many->rng, k + 1);
        order[k] = order[at];
        order[at] = k;
        if (rng_below(&many->rng, 2)) /* C order more often than not */
            order[at] = order[k], order[k] = k;
    }
    *first = 0;
    for (unsigned i = many->rank; i-- > 0;) {
        unsigned k = order[i];
        if (!wanted[k]) {
            stride[k] = 0;
            continue;
        }
        if (rng_below(&many->rng, 6) == 0)
            step *= 1 + rng_below(&many->rng, 3);
        stride[k] = (int64_t)step;
        if (!distinct && rng_below(&many->rng, 12) == 0)
            stride[k] = 0;
        uint64_t far = many->length[k] ? (many->length[k] - 1) * (uint64_t)stride[k] : 0;
        step *= many->length[k] ? many->length[k] : 1;
        reach += far;
        if (rng_below(&many->rng, 5) == 0) {
            *first += (int64_t)far;
            stride[k] = -stride[k];
        }
    }
    return reach + 1;
}

/* Lengths whose product is at most `most`. */
static void choose_axes(struct many *many, uint64_t most) {
    uint64_t product = 1;
    many->rank = (unsigned)rng_below(&many->rng, RANK_MOST + 1);
    many->axes = 0;
    for (unsigned k = 0; k < many->rank; k++) {
        uint64_t room = most / product;
        uint64_t length =
            rng_below(&many->rng, 3) ? 1 + rng_below(&many->rng, room < 9 ? room : 9) : 1 + rng_below(&many->rng, room);
        many->length[k] = rng_below(&many->rng, 40) ? length : 0;
        product *= length;
        many->axes |= rng_below(&many->rng, 2) << k;
    }
}

/* Chooses a mask of some kind, or none, of at most `entries` after the first. */
static void choose_mask(struct many *many, uint64_t first, size_t entries) {
    const uint64_t often = rng_below(&many->rng, 5);
    many->mask = rng_below(&many->rng, 3) ? REDUCT_MASK_NONE : (reduct_mask)(1 + rng_below(&many->rng, 2));
    many->mask_first = first + rng_below(&many->rng, 40);
    for (size_t i = 0; i < entries + 40 && i < sizeof many->mask_memory; i++) {
        const bool counts =
            often == 0 || (often == 1 ? rng_below(&many->rng, 30) == 0 : often > 2 - rng_below(&many->rng, 4));
        many->mask_memory[i] = many->mask == REDUCT_MASK_BITS
                                   ? (unsigned char)(rng_next(&many->rng) | (often ? 0 : 0xff))
                               : counts ? (unsigned char)(1 + rng_below(&many->rng, 255))
                                        : 0;
    }
}

static bool mask_counts(const struct many *many, int64_t entry) {
    entry += (int64_t)many->mask_first;
    return many->mask == REDUCT_MASK_NONE ||
           (many->mask == REDUCT_MASK_BYTES ? many->mask_memory[entry] != 0
                                            : many->mask_memory[entry / 8] >> entry % 8 & 1);
}

static void choose_layout(struct many *many) {
    size_t mask_span;
    int64_t mask_first;
    bool all[RANK_MOST], kept[RANK_MOST];
    do {
        choose_axes(many, 3000);
        for (unsigned k = 0; k < many->rank; k++)
            all[k] = true, kept[k] = !(many->axes >> k & 1);
        many->span = 0;
        for (int i = 0; i < 2; i++) {
            size_t span = choose_strides(many, all, many->stride[i], &many->first[i], false);
            many->span = span > many->span ? span : many->span;
        }
        mask_span = choose_strides(many, all, many->mask_stride, &mask_first, false);
        many->result_span = choose_strides(many, kept, many->result_stride, &many->result_first, true);
    } while (many->span > SPAN || many->result_span > SPAN || mask_span > SPAN);
    choose_mask(many, (uint64_t)mask_first, mask_span);
    many->results = 1;
    for (unsigned k = 0; k < many->rank; k++)
        many->results *= kept[k] ? many->length[k] : 1;
    many->segmented = false;
}

static void choose_segments(struct many *many, bool offsets) {
    many->segmented = true;
    many->twice = false;
    many->first[0] = many->first[1] = 0;
    many->span = 1 + rng_below(&many->rng, 3000);
    many->results = rng_below(&many->rng, 60);
    many->result_first = 0;
    many->result_span = many->results;
    uint64_t at = 0;
    for (uint64_t r = 0; r < many->results; r++) {
        uint64_t left = many->span - at;
        many->begin[r] = offsets ? at : rng_below(&many->rng, many->span + 1);
        uint64_t most = offsets ? left : many->span - many->begin[r];
        uint64_t length = rng_below(&many->rng, 3) ? rng_below(&many->rng, (most < 20 ? most : 20) + 1)
                                                   : rng_below(&many->rng, most + 1);
        many->end[r] = many->begin[r] + length;
        at = many->end[r];
    }
    choose_mask(many, 0, many->span);
}

/* Segments of which a device cuts some, or gives them to more threads than others: one of nearly everything among many of next to
 * nothing; lengths that fall as 1 / k; lengths around powers of two, and around sums of them; several long ones that overlap, so that
 * there are more than of others; or one of all. */
static void choose_long_segments(struct many *many, bool offsets) {
    static const uint64_t FEW[] = {1, 3, 40, 300, 1500};
    struct rng *rng = &many->rng;
    const uint64_t kind = rng_below(rng, offsets ? 4 : 5), all = SPAN - 8 - rng_below(rng, 3000);
    uint64_t at = rng_below(rng, 5), r = 0;
    many->segmented = many->twice = true;
    many->span = SPAN;
    many->first[0] = many->first[1] = 0;
    many->result_first = 0;
    many->results = kind == 4 ? 12 + rng_below(rng, 12) : FEW[rng_below(rng, sizeof FEW / sizeof *FEW)];
    const uint64_t longest = rng_below(rng, many->results);
    for (; r < many->results; r++) {
        const uint64_t left = SPAN - at, power = (uint64_t)64 << rng_below(rng, 9),
                       length = kind == 0   ? r == longest ? all - 4 * many->results : rng_below(rng, 5)
                                  : kind == 1 ? all / 9 / (1 + (r + longest) % many->results)
                                : kind == 2 ? power * (1 + rng_below(rng, 5)) + rng_below(rng, 3) - 1
                                : kind == 3 ? r == longest ? SPAN : 0
                                            : 1000 + rng_below(rng, SPAN / 2);
        many->begin[r] = kind == 4 ? rng_below(rng, SPAN / 2 - 1000) : at;
        many->end[r] = many->begin[r] + (length < left ? length : left);
        at = kind == 4 ? 0 : many->end[r];
    }
    many->result_span = many->results;
    choose_mask(many, 0, many->span);
}

/* Segments that follow each other, in an array that begins anywhere: short ones; of lengths around that of a device's tile; of any
 * length, of which one is long now and then; or each twice as long as the next. */
static void choose_neighbours(struct many *many) {
    struct rng *rng = &many->rng;
    const uint64_t kind = rng_below(rng, 5), elements = SPAN - 8 - rng_below(rng, 3) * rng_below(rng, SPAN / 3),
                   shortest = rng_below(rng, 2), rare = 1 + rng_below(rng, 40);
    uint64_t at = rng_below(rng, 3) ? 0 : rng_below(rng, 100), r = 0, falls = elements / 2;
    many->segmented = many->twice = true;
    many->first[0] = many->first[1] = (int64_t)rng_below(rng, 9);
    many->span = elements;
    many->result_first = 0;
    for (; r < SPAN / 8 && at < elements; r++, falls /= 2) {
        const uint64_t left = elements - at, length = kind == 0 ? shortest + rng_below(rng, 40)
                                                      : kind == 1
                                                          ? ((uint64_t)128 << rng_below(rng, 4)) + rng_below(rng, 3) - 1
                                                      : kind == 2 ? rng_below(rng, rng_below(rng, rare) ? 50 : 6000)
                                                      : kind == 3 ? shortest + falls
                                                                  : rng_below(rng, 2) * rng_below(rng, 9);
        many->begin[r] = at;
        many->end[r] = at = at + (length < left ? length : left);
        if (rng_below(rng, 3000) == 0) /* others have what is left */
            break;
    }
    many->results = many->result_span = r;
    many->mask = REDUCT_MASK_NONE;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What must come
 * ------------------------------------------------------------------------------------------------------------------ */

/* The places of a result's axes that stay, from its number. */
static void places_of(const struct many *many, uint64_t result, uint64_t place[RANK_MOST]) {
    for (unsigned k = many->rank; k-- > 0;) {
        place[k] = 0;
        if (many->axes >> k & 1)
            continue;
        place[k] = result % many->length[k];
        result /= many->length[k];
    }
}

/* Copies a result's elements, in order; returns how many. */
static uint64_t gather(struct many *many, uint64_t result) {
    uint64_t place[RANK_MOST], count = 0;
    size_t size = many->type->size;
    if (many->segmented) {
        count = many->end[result] - many->begin[result];
        for (int i = 0; i < 2; i++)
            memcpy(many->gathered[i], many->memory[i] + (many->begin[result] + (uint64_t)many->first[i]) * size,
                   count * size);
        for (uint64_t i = 0; i < count; i++)
            many->counts[i] = mask_counts(many, (int64_t)(many->begin[result] + i));
        return count;
    }
    places_of(many, result, place);
    for (bool more = true; more;) {
        bool inside = true;
        for (unsigned k = 0; k < many->rank; k++)
            inside = inside && place[k] < many->length[k];
        for (int i = 0; inside && i < 2; i++) {
            int64_t at = many->first[i];
            for (unsigned k = 0; k < many->rank; k++)
                at += (int64_t)place[k] * many->stride[i][k];
            memcpy((unsigned char *)many->gathered[i] + count * size, many->memory[i] + (size_t)at * size, size);
        }
        if (inside) {
            int64_t entry = 0;
            for (unsigned k = 0; k < many->rank; k++)
                entry += (int64_t)place[k] * many->mask_stride[k];
            many->counts[count] = mask_counts(many, entry);
        }
        count += inside;
        more = false;
        for (unsigned k = many->rank; k-- > 0 && !more;) {
            if (!(many->axes >> k & 1))
                continue;
            more = ++place[k] < many->length[k];
            if (!more)
                place[k] = 0;
        }
    }
    return count;
}

/* Takes out what a mask takes out, and puts 1 in its place in a copy; returns what is left. */
static uint64_t take_out(struct many *many, uint64_t count) {
    const size_t size = many->type->size;
    uint64_t left = 0;
    for (uint64_t i = 0; i < count; i++) {
        const unsigned char *element = (unsigned char *)many->gathered[0] + i * size;
        memcpy((unsigned char *)many->gathered_filled + i * size, element, size);
        if (!many->counts[i]) {
            values_put(many->type, many->gathered_filled, i, 1);
            continue;
        }
        for (int k = 0; k < 2; k++)
            memmove((unsigned char *)many->gathered[k] + left * size, (unsigned char *)many->gathered[k] + i * size,
                    size);
        many->place[left++] = i;
    }
    return left;
}

static bool gives_index(reduct_operator op) {
    return op == REDUCT_ARGMIN || op == REDUCT_ARGMAX;
}

/* What must come of a reduction of a result's elements, of which those that count have been read. */
static struct oracle_result expect_one(const struct many *many, const reduct_reduction *reduction) {
    const bool filled = reduction->op == REDUCT_PRODUCT && reduct_type_is_float(reduction->element);
    struct oracle_result one = oracle_expect(filled                                      ? &many->filled
                                             : test_operator(reduction->op)->inputs == 2 ? &many->pairs
                                                                                         : &many->single,
                                             reduction);
    uint64_t index;
    if (filled)
        return one;
    if (one.status == REDUCT_ERROR_NAN)
        one.index = many->place[one.index];
    if (one.status == REDUCT_OK && gives_index(reduction->op)) {
        memcpy(&index, one.bytes, sizeof index);
        index = many->place[index];
        memcpy(one.bytes, &index, sizeof index);
    }
    return one;
}

static int64_t place_of_result(const struct many *many, uint64_t result) {
    uint64_t place[RANK_MOST];
    int64_t at = many->result_first;
    if (many->segmented)
        return (int64_t)result;
    places_of(many, result, place);
    for (unsigned k = 0; k < many->rank; k++)
        at += (int64_t)place[k] * many->result_stride[k];
    return at;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Running and comparing
 * ------------------------------------------------------------------------------------------------------------------ */

struct run {
    reduct_status status;
    reduct_error error;
    unsigned char *results[REDUCTIONS_MOST]; /* result_span of each, and as many outcomes */
    reduct_outcome *outcomes[REDUCTIONS_MOST];
    bool with_outcomes[REDUCTIONS_MOST];
};

static size_t result_size(const struct many *many, size_t which) {
    const reduct_reduction reduction = resolved(many, which);
    return oracle_result_size(&reduction);
}

/* The bounds of segments in an index type that holds them. */
static void put_bounds(const struct many *many, reduct_type index, bool offsets, void *begins, void *ends) {
    const struct test_type *type = test_type(index);
    for (uint64_t r = 0; r < many->results; r++) {
        values_put_bits(type, begins, r, many->begin[r]);
        values_put_bits(type, offsets ? begins : ends, r + offsets, many->end[r]);
    }
    if (offsets && !many->results)
        values_put_bits(type, begins, 0, 0);
}

static void run_plan(struct many *many, const char *device, bool offsets, struct run *run) {
    static const reduct_type INDICES[] = {REDUCT_I32, REDUCT_U32, REDUCT_I64, REDUCT_U64};
    const reduct_type index = INDICES[rng_below(&many->rng, 4)];
    uint64_t begins[SPAN / 8 + 1], ends[SPAN / 8 + 1];
    const reduct_array array = {.rank = many->rank,
                                .lengths = many->length,
                                .strides = {many->stride[0], many->stride[1]},
                                .axes = many->axes,
                                .result_strides = many->result_stride,
                                .mask_strides = many->mask_stride};
    const reduct_segments segments = {
        .count = many->results, .elements = many->span, .index = index, .with_ends = !offsets};
    const reduct_plan_options options = {.reductions = many->reduction,
                                         .reduction_count = many->reductions,
                                         .kind = many->segmented ? REDUCT_SEGMENTS : REDUCT_ARRAY,
                                         .array = &array,
                                         .segments = &segments,
                                         .device = device,
                                         .threads = many->threads,
                                         .mask = many->mask,
                                         .mask_offset = many->mask ? many->mask_first : 0};
    const void *inputs[5] = {NULL};
    void *results[REDUCTIONS_MOST];
    reduct_outcome *outcomes[REDUCTIONS_MOST];
    bool any = false;
    for (unsigned i = 0; i < many->inputs; i++)
        inputs[i] = many->memory[i] + many->first[i] * (int64_t)many->type->size;
    if (many->segmented) {
        put_bounds(many, index, offsets, begins, ends);
        inputs[many->inputs] = begins;
        inputs[many->inputs + 1] = ends;
    }
    inputs[many->inputs + (!many->segmented ? 0 : offsets ? 1 : 2)] = many->mask_memory;
    for (size_t i = 0; i < many->reductions; i++) {
        size_t bytes = many->result_span * result_size(many, i);
        run->results[i] = test_alloc(bytes + 1);
        memset(run->results[i], ORACLE_UNTOUCHED, bytes);
        run->outcomes[i] = test_alloc((many->results + 1) * sizeof **run->outcomes);
        memset(run->outcomes[i], ORACLE_UNTOUCHED, (many->results + 1) * sizeof **run->outcomes);
        results[i] = run->results[i] + many->result_first * (int64_t)result_size(many, i);
        run->with_outcomes[i] = rng_below(&many->rng, 2);
        any = any || run->with_outcomes[i];
        outcomes[i] = run->with_outcomes[i] ? run->outcomes[i] : NULL;
    }
    reduct_plan *plan = NULL;
    run->error = (reduct_error){.index = UINT64_MAX};
    run->status = reduct_plan_create(&options, &plan, &run->error);
    test_status(run->status, REDUCT_OK);
    assert_int_equal(reduct_plan_result_count(plan), many->results);
    for (size_t i = 0; i < many->reductions; i++)
        assert_int_equal(reduct_plan_result_type(plan, i), resolved(many, i).result);
    for (int time = 0; time <= many->twice; time++) {
        run->error.index = UINT64_MAX;
        run->status = any ? reduct_plan_execute_each(plan, inputs, results, outcomes, NULL, &run->error)
                          : reduct_plan_execute(plan, inputs, results, NULL, &run->error);
    }
    reduct_plan_destroy(plan);
}

static void complain(const struct many *many, const char *device, size_t which, uint64_t result, const char *what) {
    char axes[256] = "";
    for (unsigned k = 0; !many->segmented && k < many->rank; k++)
        snprintf(axes + strlen(axes), sizeof axes - strlen(axes), " %s%llu by %lld",
                 many->axes >> k & 1 ? "reduced " : "", (unsigned long long)many->length[k],
                 (long long)many->stride[0][k]);
    test_fail("case %zu: %s of %s on %s, number %zu of %zu, result %llu of %llu,%s%s: %s", many->cases,
              reduct_operator_name(many->reduction[which].op), many->type->name, device, which, many->reductions,
              (unsigned long long)result, (unsigned long long)many->results, many->segmented ? " segments" : "", axes,
              what);
}

/* One result: what is written there, its outcome, and whether that would be the failure of the call. */
static void check_result(const struct many *many, const char *device, const struct run *run, size_t which,
                         uint64_t result, const struct oracle_result *expected, bool failed) {
    const reduct_type type = resolved(many, which).result;
    const size_t size = result_size(many, which);
    const unsigned char *got = run->results[which] + place_of_result(many, result) * (int64_t)size;
    unsigned char wanted[ORACLE_RESULT_BYTES] = {0};
    if (run->with_outcomes[which]) {
        const reduct_outcome *outcome = &run->outcomes[which][result];
        if (outcome->status != (uint32_t)expected->status || outcome->reserved ||
            outcome->index != (expected->status == REDUCT_ERROR_NAN ? expected->index : UINT64_MAX)) {
            char said[128];
            snprintf(said, sizeof said, "its outcome is %u at %llu, expected %u at %llu", outcome->status,
                     (unsigned long long)outcome->index, (unsigned)expected->status,
                     (unsigned long long)expected->index);
            complain(many, device, which, result, said);
        }
    }
    if (expected->status == REDUCT_OK)
        memcpy(wanted, expected->bytes, size);
    else
        for (size_t i = 0; reduct_type_is_float(type) && i < size / oracle_type_size(type); i++)
            values_put_bits(test_type(type), wanted, i,
                            type == REDUCT_F64   ? 0x7ff8000000000000
                            : type == REDUCT_F32 ? 0x7fc00000
                            : type == REDUCT_F16 ? 0x7e00
                                                 : 0x7fc0);
    if (failed)
        memset(wanted, ORACLE_UNTOUCHED, sizeof wanted);
    if (memcmp(got, wanted, size)) {
        char said[256], of_got[2 * ORACLE_RESULT_BYTES + 3], of_wanted[2 * ORACLE_RESULT_BYTES + 3];
        snprintf(said, sizeof said, "%s %s, expected %s", test_type(type)->name, oracle_hex(of_got, got, size),
                 oracle_hex(of_wanted, wanted, size));
        complain(many, device, which, result, said);
    }
}

static void check_case(struct many *many, const char *device, bool offsets) {
    struct run run;
    if (many->mask && !takes_masks(device))
        many->mask = REDUCT_MASK_NONE;
    run_plan(many, device, offsets, &run);
    struct oracle_result *expected = test_alloc((many->results * many->reductions + 1) * sizeof *expected);
    const struct oracle_result *failure = NULL;
    for (uint64_t r = 0; r < many->results; r++) {
        const uint64_t all = gather(many, r), count = take_out(many, all);
        oracle_read(&many->filled, many->type->type, many->gathered_filled, NULL, all);
        oracle_read(&many->single, many->type->type, many->gathered[0], NULL, count);
        if (many->inputs == 2)
            oracle_read(&many->pairs, many->type->type, many->gathered[0], many->gathered[1], count);
        for (size_t i = 0; i < many->reductions; i++) {
            const reduct_reduction reduction = resolved(many, i);
            struct oracle_result *one = &expected[r * many->reductions + i];
            *one = expect_one(many, &reduction);
            if (!failure && one->status != REDUCT_OK && !run.with_outcomes[i])
                failure = one;
        }
    }
    if (run.status != (failure ? failure->status : REDUCT_OK))
        complain(many, device, 0, 0, run.error.message);
    if (failure && failure->status == REDUCT_ERROR_NAN && run.error.index != failure->index)
        complain(many, device, 0, 0, "the index of the failure is not that of the first NaN");
    for (size_t i = 0; i < many->reductions; i++) {
        size_t touched = 0, size = result_size(many, i);
        for (uint64_t r = 0; r < many->results; r++)
            check_result(many, device, &run, i, r, &expected[r * many->reductions + i], failure != NULL);
        /* Nothing else is written: clear what is, and look. */
        for (uint64_t r = 0; r < many->results; r++)
            memset(run.results[i] + place_of_result(many, r) * (int64_t)size, ORACLE_UNTOUCHED, size);
        for (size_t b = 0; b < many->result_span * size; b++)
            touched += run.results[i][b] != ORACLE_UNTOUCHED;
        if (touched)
            complain(many, device, i, 0, "it wrote between the results");
        free(run.results[i]);
        free(run.outcomes[i]);
    }
    free(expected);
    many->cases++;
}

static struct many *start(uint64_t stream) {
    struct many *many = test_alloc(sizeof *many);
    memset(many, 0, sizeof *many);
    many->rng = rng_of(test_seed() + stream);
    for (int i = 0; i < 2; i++) {
        many->memory[i] = test_alloc(SPAN * 8);
        memset(many->memory[i], 0, SPAN * 8);
        many->gathered[i] = test_alloc(SPAN * 8);
    }
    many->gathered_filled = test_alloc(SPAN * 8);
    oracle_init(&many->single);
    oracle_init(&many->pairs);
    oracle_init(&many->filled);
    return many;
}

static void stop(struct many *many) {
    printf("%zu cases\n", many->cases);
    for (int i = 0; i < 2; i++) {
        free(many->memory[i]);
        free(many->gathered[i]);
    }
    free(many->gathered_filled);
    oracle_clear(&many->filled);
    oracle_clear(&many->single);
    oracle_clear(&many->pairs);
    free(many);
}

static void fill(struct many *many, const struct test_type *const *elements, size_t element_count) {
    const struct distribution *distribution;
    many->type = elements[rng_below(&many->rng, element_count)];
    do
        distribution = &distributions[rng_below(&many->rng, distribution_count)];
    while (!distribution_suits(distribution, many->type));
    distribution->fill(&many->rng, many->type, many->memory[0], many->memory[1], many->span);
    many->threads = rng_below(&many->rng, 3) ? 1 : 2 + (unsigned)rng_below(&many->rng, 6);
}

static void check_many(uint64_t stream, bool segments, uint64_t rounds) {
    const char *devices[TEST_MAX_DEVICES];
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t device_count = test_devices(devices), element_count = test_elements(elements);
    struct many *many = start(stream);
    while (rounds-- > 0) {
        const bool offsets = segments && rng_below(&many->rng, 2);
        if (segments)
            choose_segments(many, offsets);
        else
            choose_layout(many);
        fill(many, elements, element_count);
        const char *device = devices[rng_below(&many->rng, device_count)];
        choose_reductions(many, device);
        check_case(many, device, offsets);
    }
    stop(many);
}

static void arrays(void **state) {
    (void)state;
    check_many(0, false, test_scaled(6000, test_fewest(200)));
}

static void segments(void **state) {
    (void)state;
    check_many(1, true, test_scaled(3000, test_fewest(100)));
}

/* One operator after another, of each type: or several of those that a device may have from one reading. */
static void long_segments(void **state) {
    (void)state;
    const char *devices[TEST_MAX_DEVICES];
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t device_count = test_devices(devices), element_count = test_elements(elements);
    struct many *many = start(7);
    uint64_t rounds = test_scaled(2000, test_fewest(120));
    for (size_t which = rng_below(&many->rng, 1000); rounds-- > 0; which++) {
        const struct test_type *type = elements[which % element_count];
        const bool offsets = rng_below(&many->rng, 2);
        const char *device = devices[rng_below(&many->rng, device_count)];
        choose_long_segments(many, offsets);
        fill(many, &type, 1);
        if (type->class == FLOAT && rng_below(&many->rng, 4) == 0) {
            many->mask = REDUCT_MASK_NONE;
            choose_several(many, device);
        } else {
            choose_reductions(many, device);
        }
        check_case(many, device, offsets);
    }
    stop(many);
}

static reduct_operator operator_of_neighbours(struct rng *rng, const struct test_type *type) {
    static const reduct_operator OPERATORS[] = {
        REDUCT_SUM,    REDUCT_SUM,    REDUCT_SUM,     REDUCT_MEAN,  REDUCT_NORM1, REDUCT_MIN, REDUCT_MAX, REDUCT_MAX,
        REDUCT_ARGMIN, REDUCT_ARGMAX, REDUCT_NORMINF, REDUCT_SUMSQ, REDUCT_NORM2, REDUCT_RMS, REDUCT_VAR, REDUCT_STD};
    reduct_operator op;
    do
        op = OPERATORS[rng_below(rng, sizeof OPERATORS / sizeof *OPERATORS)];
    while (!oracle_has(op, type->type));
    return op;
}

/* Normal data, or lengths of it in turn with such that are far smaller: of these the last digits must not be lost among those of others. */
static void fill_by_scales(struct rng *rng, const struct test_type *type, void *x, uint64_t count) {
    const int usually = (type->type == REDUCT_F64 ? 24 : 12) + (int)rng_below(rng, 25),
              seldom = (int)rng_below(rng, 110);
    const double scale = ldexp(1, type->type == REDUCT_F16 ? -usually / 3 : rng_below(rng, 2) ? -usually : -seldom);
    const uint64_t usual = 1 + rng_below(rng, 1500);
    distribution_named("normal")->fill(rng, type, x, NULL, count);
    if (rng_below(rng, 4) == 0)
        return;
    bool small = false;
    for (uint64_t i = 0, next = 0; i < count; i++) {
        if (i == next) {
            small = !small;
            next += 1 + rng_below(rng, usual);
        }
        if (small)
            values_put(type, x, i, values_get(type, x, i) * scale);
    }
}

/* What a device reads as it lies: of one distribution, of two magnitudes, with zeros of either sign, or with a few that are not finite or far
 * away. */
static void neighbouring_segments(void **state) {
    (void)state;
    const char *devices[TEST_MAX_DEVICES];
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t device_count = test_devices(devices), element_count = test_elements(elements);
    struct many *many = start(11);
    struct rng *rng = &many->rng;
    for (uint64_t rounds = test_scaled(1200, test_fewest(120)); rounds-- > 0;) {
        const struct test_type *type;
        do
            type = rng_below(rng, 2) ? elements[rng_below(rng, element_count)] : test_type(REDUCT_F32);
        while (type->class != FLOAT && rng_below(rng, 3));
        const char *device = devices[rng_below(rng, device_count)];
        const reduct_operator op = operator_of_neighbours(rng, type);
        many->reductions = many->inputs = 1;
        many->reduction[0] = (reduct_reduction){.op = op,
                                                .element = type->type,
                                                .result = test_pick_result(rng, op, type->type),
                                                .nan = (reduct_nan)rng_below(rng, 3)};
        if (!is_served(device, many->reduction))
            continue;
        choose_neighbours(many);
        fill(many, &type, 1);
        if (type->class == FLOAT && rng_below(rng, 6))
            fill_by_scales(rng, type, many->memory[0], many->span);
        const uint64_t kind = type->class == FLOAT ? rng_below(rng, 7) : 2, from = rng_below(rng, many->span);
        if (kind == 0)
            for (uint64_t i = from; i < many->span && i < from + 3000; i++)
                values_put(type, many->memory[0], i, rng_below(rng, 9) ? -0.0 : 0.0);
        else if (kind == 1)
            for (uint64_t i = from; i < many->span; i += 1 + rng_below(rng, 9000))
                values_put(type, many->memory[0], i,
                           rng_below(rng, 3)   ? 0x1p-20
                           : rng_below(rng, 2) ? (double)NAN
                                               : HUGE_VAL);
        check_case(many, device, true);
    }
    stop(many);
}

/* Segments of one length, one after another, so that they are rows; sometimes but for one bound. Any reductions of any elements. */
static void segments_that_are_rows(void **state) {
    (void)state;
    const char *devices[TEST_MAX_DEVICES];
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t device_count = test_devices(devices), element_count = test_elements(elements);
    struct many *many = start(14);
    struct rng *rng = &many->rng;
    uint64_t rounds = test_scaled(1200, test_fewest(120));
    for (size_t which = rng_below(rng, 1000); rounds-- > 0; which++) {
        const char *device = devices[rng_below(rng, device_count)];
        const uint64_t length = 1 + rng_below(rng, rng_below(rng, 3) ? 300 : SPAN / 3),
                       most = (SPAN - 8) / length < SPAN / 8 ? (SPAN - 8) / length : SPAN / 8;
        many->segmented = many->twice = true;
        many->first[0] = many->first[1] = (int64_t)rng_below(rng, 9);
        many->result_first = 0;
        many->results = many->result_span = 2 + rng_below(rng, most - 1);
        many->span = length * many->results;
        for (uint64_t r = 0; r < many->results; r++) {
            many->begin[r] = length * r;
            many->end[r] = length * (r + 1);
        }
        const uint64_t other = rng_below(rng, many->results);
        if (rng_below(rng, 3) == 0) {
            many->end[other]--;
            if (other + 1 < many->results)
                many->begin[other + 1]--;
        }
        choose_mask(many, 0, many->span);
        fill(many, &elements[which % element_count], 1);
        if (rng_below(rng, 3))
            choose_reductions(many, device);
        else
            choose_several(many, device);
        check_case(many, device, true);
    }
    stop(many);
}

/* Rows one after another of which extremes are wanted, in which NaNs come now and then. */
static void rows_of_extremes(void **state) {
    (void)state;
    static const reduct_operator OPERATORS[] = {REDUCT_MIN, REDUCT_MAX, REDUCT_ARGMIN, REDUCT_ARGMAX, REDUCT_NORMINF};
    const char *devices[TEST_MAX_DEVICES];
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t device_count = test_devices(devices), element_count = test_elements(elements);
    struct many *many = start(15);
    struct rng *rng = &many->rng;
    uint64_t rounds = test_scaled(1200, test_fewest(120));
    for (size_t which = rng_below(rng, 1000); rounds-- > 0; which++) {
        const struct test_type *type = elements[which % element_count];
        const uint64_t length = rng_below(rng, 3) ? 1 + rng_below(rng, 300) : 1000 + rng_below(rng, 3200),
                       most = (SPAN - 8) / length;
        const reduct_operator op = OPERATORS[rng_below(rng, sizeof OPERATORS / sizeof *OPERATORS)];
        many->segmented = false;
        many->twice = true;
        many->mask = REDUCT_MASK_NONE;
        many->rank = 2;
        many->axes = 2;
        many->results = many->result_span = 2 + rng_below(rng, most - 1);
        many->result_first = 0;
        many->first[0] = (int64_t)rng_below(rng, 9);
        many->span = length * many->results;
        memcpy(many->length, (uint64_t[]){many->results, length}, 2 * sizeof *many->length);
        memcpy(many->stride[0], (int64_t[]){(int64_t)length, 1}, 2 * sizeof **many->stride);
        memcpy(many->result_stride, (int64_t[]){1, 0}, 2 * sizeof *many->result_stride);
        fill(many, &type, 1);
        if (type->class == FLOAT && rng_below(rng, 2))
            for (uint64_t i = rng_below(rng, many->span); i < many->span; i += 1 + rng_below(rng, 9000))
                values_put(type, many->memory[0], i, (double)NAN);
        many->reductions = many->inputs = 1;
        many->reduction[0] = (reduct_reduction){.op = op,
                                                .element = type->type,
                                                .result = test_pick_result(rng, op, type->type),
                                                .nan = (reduct_nan)rng_below(rng, 3)};
        const char *device = devices[rng_below(rng, device_count)];
        if (oracle_has(op, type->type) && is_served(device, many->reduction))
            check_case(many, device, false);
    }
    stop(many);
}

/* Segments that follow each other, of which every other one, or every other so many, are smaller by so many binades: what comes before must take no
 * digit from them, whether one unit suits both or not. */
static void digits_of_neighbours(void **state) {
    (void)state;
    static const reduct_operator OPERATORS[] = {REDUCT_SUM, REDUCT_SUMSQ, REDUCT_VAR};
    static const reduct_type TYPES[] = {REDUCT_F32, REDUCT_F64, REDUCT_BF16};
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = test_devices(devices);
    struct many *many = start(13);
    for (int binades = 6; binades < 108; binades += 3)
        for (size_t o = 0; o < sizeof OPERATORS / sizeof *OPERATORS; o++) {
            const struct test_type *type = test_type(TYPES[rng_below(&many->rng, 4) % 3]);
            const uint64_t each = 20 + rng_below(&many->rng, 100), group = rng_below(&many->rng, 2) ? 1 : 40;
            many->reductions = many->inputs = 1;
            many->reduction[0] = (reduct_reduction){.op = OPERATORS[o], .element = type->type, .result = REDUCT_F64};
            choose_neighbours(many);
            fill(many, &type, 1);
            distribution_named("normal")->fill(&many->rng, type, many->memory[0], NULL, many->span);
            many->results = many->result_span = many->span / each;
            for (uint64_t r = 0; r < many->results; r++) {
                many->begin[r] = r * each;
                many->end[r] = (r + 1) * each;
                for (uint64_t i = many->begin[r]; r / group % 2 && i < many->end[r]; i++)
                    values_put(type, many->memory[0], i, ldexp(values_get(type, many->memory[0], i), -binades));
            }
            check_case(many, devices[rng_below(&many->rng, device_count)], true);
        }
    stop(many);
}

__extension__ typedef unsigned __int128 unsigned_wide;

/* Puts in numbers up to `most` whose squares come to n; returns how many these are. */
static size_t put_squares(double *x, unsigned_wide n, double most) {
    size_t count = 0;
    for (; n > 0; count++) {
        double root = fmin(floor(sqrt((double)n)), most);
        while ((unsigned_wide)root * (unsigned_wide)root > n)
            root -= root > 0x1p53 ? 2 : 1;
        n -= (unsigned_wide)root * (unsigned_wide)root;
        x[count] = root;
    }
    return count;
}

/* A row of f64 (or of two, for dot) whose result lies just between two numbers, or by what one tiny term comes to above or, where below is
 * set, below that. */
static void put_between(struct rng *rng, reduct_operator op, double *x, double *y, size_t length) {
    const bool below = rng_below(rng, 2);
    const double sign = rng_below(rng, 2) ? -1 : 1,
                 tiny = rng_below(rng, 4) ? ldexp(1, -20 - (int)rng_below(rng, 32)) : 0, part = 0x1p-27,
                 less = below ? part - part * tiny : part;
    for (size_t i = 0; i < length; i++)
        x[i] = y[i] = 0;
    if (op == REDUCT_NORM2 || op == REDUCT_RMS) {
        const uint64_t root = ((uint64_t)1 << 53) + 1 + 2 * rng_below(rng, (uint64_t)1 << 52);
        const size_t count = put_squares(x, (unsigned_wide)root * root - below, 0x1p54);
        assert_true(count < length);
        x[count] = tiny;
    } else if (op == REDUCT_SUMSQ) {
        x[0] = 1;
        x[1] = part;
        x[2] = less;
        x[3] = below ? 0 : tiny;
    } else if (op == REDUCT_DOT) {
        x[0] = sign;
        x[1] = sign * 0x1p-53;
        y[0] = y[1] = 1;
        x[2] = tiny;
        y[2] = below ? -tiny : tiny;
    } else if (op == REDUCT_MEAN) {
        x[0] = sign * (double)length;
        x[1] = sign * (double)length * 0x1p-53;
        x[2] = below ? -tiny * tiny : tiny * tiny;
    } else {
        /* 1 plus and minus so much, each: 1 + 2^-53 of squares in all. */
        const double parts[] = {0.5, 0.5, less, below ? 0 : tiny};
        for (size_t i = 0; i < length; i++)
            x[i] = 1;
        for (size_t i = 0; i < 4; i++) {
            x[2 * i] += parts[i];
            x[2 * i + 1] -= parts[i];
        }
    }
    /* Some have results, or terms, that are no usual numbers. */
    const int scale = rng_below(rng, 3) ? 0 : (int)rng_below(rng, 1300) - 800;
    for (size_t i = 0; i < length && scale; i++)
        x[i] = ldexp(x[i], scale);
}

/* Who knows sums but for a little must not take one of two numbers for the other. */
static void results_between_two(void **state) {
    (void)state;
    static const reduct_operator OPERATORS[] = {REDUCT_SUMSQ, REDUCT_NORM2, REDUCT_RMS, REDUCT_DOT,
                                                REDUCT_MEAN,  REDUCT_VAR,   REDUCT_STD};
    enum { KINDS = sizeof OPERATORS / sizeof *OPERATORS };
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = test_devices(devices);
    struct many *many = start(16);
    struct rng *rng = &many->rng;
    many->type = test_type(REDUCT_F64);
    many->threads = 1;
    many->rank = 2;
    many->axes = 2;
    for (uint64_t rounds = test_scaled(700, test_fewest(70)); rounds-- > 0;) {
        const reduct_operator op = OPERATORS[rounds % KINDS];
        const uint64_t times = op == REDUCT_MEAN && rng_below(rng, 2) ? 3 : 1,
                       length = times << (4 + rng_below(rng, 9)), most = SPAN / length;
        many->results = many->result_span = 1 + rng_below(rng, most < 100 ? most : 100);
        many->span = length * many->results;
        memcpy(many->length, (uint64_t[]){many->results, length}, 2 * sizeof *many->length);
        for (int i = 0; i < 2; i++)
            memcpy(many->stride[i], (int64_t[]){(int64_t)length, 1}, 2 * sizeof **many->stride);
        memcpy(many->result_stride, (int64_t[]){1, 0}, 2 * sizeof *many->result_stride);
        for (uint64_t r = 0; r < many->results; r++)
            put_between(rng, op, (double *)many->memory[0] + r * length, (double *)many->memory[1] + r * length,
                        length);
        many->inputs = op == REDUCT_DOT ? 2 : 1;
        many->reductions = op == REDUCT_DOT ? 1 : 1 + rng_below(rng, 2);
        many->reduction[0] = many->reduction[1] =
            (reduct_reduction){.op = op, .element = REDUCT_F64, .flags = REDUCT_POPULATION};
        check_case(many, devices[rng_below(rng, device_count)], false);
    }
    stop(many);
}

/* Numbers and their negatives, of so many digits, of which the squares come to what is just between two results, or to a little less or more: as
 * of sums that are not cut short, their variance. */
static void put_pairs_between(struct rng *rng, reduct_operator op, int digits, double *x, size_t length) {
    const bool below = rng_below(rng, 2);
    const double tiny = rng_below(rng, 4) ? ldexp(1, -digits / 2 - (int)rng_below(rng, digits == 24 ? 60 : 30)) : 0;
    size_t count;
    for (size_t i = 0; i < length; i++)
        x[i] = 0;
    if (op == REDUCT_NORM2 || op == REDUCT_RMS || op == REDUCT_STD) {
        const uint64_t half = (uint64_t)1 << (digits - 1), root = 2 * half + 1 + 2 * rng_below(rng, half);
        count = put_squares(x, 2 * (unsigned_wide)root * root - 2 * below, (double)(2 * half));
    } else {
        const double part = digits == 24 ? 0x1p-13 : 0x1p-27;
        count = 2;
        x[0] = x[1] = 0.5;
        if (digits == 24)
            x[count++] = part;
        x[count++] = below ? part - ldexp(part, -1 - (int)rng_below(rng, (uint64_t)digits - 1)) : part;
    }
    x[count++] = tiny;
    assert_true(2 * count <= length);
    for (size_t i = 0; i < count; i++)
        x[count + i] = -x[i];
}

/* The same of segments that follow each other, beside others and empty ones, of numbers that may be far larger or smaller. */
static void segments_between_two(void **state) {
    (void)state;
    static const reduct_operator OPERATORS[] = {REDUCT_SUMSQ, REDUCT_NORM2, REDUCT_RMS, REDUCT_VAR, REDUCT_STD};
    enum { KINDS = sizeof OPERATORS / sizeof *OPERATORS, LENGTH_MOST = 1 << 13 };
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = test_devices(devices);
    struct many *many = start(17);
    struct rng *rng = &many->rng;
    double *x = test_alloc(LENGTH_MOST * sizeof *x);
    many->segmented = many->twice = true;
    many->threads = 1;
    many->mask = REDUCT_MASK_NONE;
    for (uint64_t rounds = test_scaled(700, test_fewest(70)); rounds-- > 0;) {
        const struct test_type *type = test_type(rounds / KINDS % 2 ? REDUCT_F64 : REDUCT_F32);
        const reduct_operator op = OPERATORS[rounds % KINDS];
        const int digits = type->type == REDUCT_F64 ? 53 : 24, apart = 1 + (int)rng_below(rng, 60);
        const uint64_t most = rng_below(rng, 4) ? 3 : 8;
        uint64_t at = 0;
        size_t r = 0;
        while (r < SPAN / 8) {
            const bool between = rng_below(rng, 3);
            const size_t length = between              ? (size_t)64 << rng_below(rng, most)
                                  : rng_below(rng, 20) ? rng_below(rng, 3) * rng_below(rng, 20)
                                                       : rng_below(rng, LENGTH_MOST / 4);
            if (at + length > SPAN - 8)
                break;
            const int scale = rng_below(rng, 3) ? 0 : -(int)rng_below(rng, (uint64_t)apart);
            if (between)
                put_pairs_between(rng, op, digits, x, length);
            else
                distribution_named("normal")->fill(rng, test_type(REDUCT_F64), x, NULL, length);
            for (size_t i = 0; i < length; i++)
                values_put(type, many->memory[0], at + i, ldexp(x[i], scale));
            many->begin[r] = at;
            many->end[r++] = at += length;
        }
        many->results = many->result_span = r;
        many->span = at;
        many->first[0] = many->first[1] = many->result_first = 0;
        many->type = type;
        many->inputs = many->reductions = 1;
        many->reduction[0] = (reduct_reduction){.op = op, .element = type->type, .flags = REDUCT_POPULATION};
        if (rng_below(rng, 2))
            many->reduction[many->reductions++] = (reduct_reduction){.op = REDUCT_SUM, .element = type->type};
        check_case(many, devices[rng_below(rng, device_count)], true);
    }
    free(x);
    stop(many);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Rows and columns, of lengths around those of vectors, groups and tiles, with what windows cannot hold in some of them
 * ------------------------------------------------------------------------------------------------------------------ */

static uint64_t near(struct rng *rng, uint64_t most) {
    static const uint64_t EDGES[] = {1, 2, 4, 8, 16, 24, 32, 64, 128, 256, 512, 1024, 2048, 4096, 16384};
    uint64_t length;
    do
        length = EDGES[rng_below(rng, sizeof EDGES / sizeof *EDGES)] + rng_below(rng, 4) - 1;
    while (length < 1 || length > most);
    return length;
}

/* A matrix, or several one after another, of which the rows or the columns are reduced, or all of these; rows may lie apart. Or `few`: of columns
 * of few elements. */
static void choose_matrix(struct many *many, bool few) {
    static const uint64_t AXES[] = {1, 2, 2, 4, 5};
    const uint64_t most = rng_below(&many->rng, 4) ? 5000 : SPAN - 100;
    const uint64_t elements = 1 + rng_below(&many->rng, 70), inner = near(&many->rng, few ? most / elements : most),
                   middle = few ? elements : near(&many->rng, most / inner),
                   outer = rng_below(&many->rng, 3) ? 1 : 1 + rng_below(&many->rng, most / inner / middle);
    const uint64_t pitch = rng_below(&many->rng, 3) || (inner + 1) * middle * outer > SPAN - 100 ? inner : inner + 1;
    int64_t apart = rng_below(&many->rng, 6) ? 1 : 2;
    many->segmented = false;
    many->mask = REDUCT_MASK_NONE;
    many->rank = 3;
    many->axes = few ? 2 : rng_below(&many->rng, 2) ? 4 : AXES[rng_below(&many->rng, sizeof AXES / sizeof *AXES)];
    memcpy(many->length, (uint64_t[]){outer, middle, inner}, 3 * sizeof *many->length);
    const int64_t stride[3] = {(int64_t)(pitch * middle), (int64_t)pitch, 1};
    for (int i = 0; i < 2; i++) {
        memcpy(many->stride[i], stride, sizeof stride);
        many->first[i] = (int64_t)rng_below(&many->rng, 5);
    }
    many->span = pitch * middle * outer + 4;
    many->results = 1;
    many->result_first = 0;
    for (unsigned k = 3; k-- > 0;) {
        const bool kept = !(many->axes >> k & 1);
        many->result_stride[k] = kept ? apart : 0;
        apart *= kept ? (int64_t)many->length[k] : 1;
        many->results *= kept ? many->length[k] : 1;
    }
    many->result_span = (size_t)apart;
}

/* Sums, and what is made of sums; mostly one. */
static void choose_sums(struct many *many) {
    static const reduct_operator SUMS[] = {REDUCT_SUM,   REDUCT_SUM, REDUCT_MEAN, REDUCT_NORM1, REDUCT_SUMSQ,
                                           REDUCT_NORM2, REDUCT_RMS, REDUCT_VAR,  REDUCT_STD,   REDUCT_DOT};
    many->inputs = 1;
    many->reductions = rng_below(&many->rng, 4) ? 1 : 2;
    for (size_t i = 0; i < many->reductions; i++) {
        const reduct_operator op = SUMS[rng_below(&many->rng, sizeof SUMS / sizeof *SUMS)];
        many->reduction[i] = (reduct_reduction){.op = op,
                                                .element = many->type->type,
                                                .result = test_pick_result(&many->rng, op, many->type->type),
                                                .nan = (reduct_nan)rng_below(&many->rng, 3),
                                                .flags = (uint32_t)rng_below(&many->rng, 2) ? REDUCT_POPULATION : 0};
        if (op == REDUCT_DOT)
            many->inputs = 2;
    }
    const double scale = ldexp(1, (int)rng_below(&many->rng, 40) - 20);
    const bool ordinary = many->inputs == 2 && rng_below(&many->rng, 3);
    for (size_t i = 0; ordinary && i < many->span; i++)
        values_put(many->type, many->memory[1], i, scale * (rng_unit(&many->rng) - 0.5));
}

/* Stretches of numbers of about one magnitude each, so that what comes last may lie far from what came first. All are followed by their
 * negatives, but for some of the smallest: what is lost of these shows. */
static void fill_stretches(struct rng *rng, const struct test_type *type, void *x, void *y, size_t count) {
    enum { BINADES = 70, SMALLEST = 60 };
    int exponent = 0;
    size_t end = 0;
    for (size_t i = 0; i + 1 < count; i += 2) {
        if (i >= end) {
            end = i + 100 + rng_below(rng, 1000);
            exponent = -(int)rng_below(rng, BINADES);
        }
        const double value = ldexp(rng_unit(rng) - 0.5, exponent), weight = 0.5 + rng_unit(rng);
        const bool stays = exponent < -SMALLEST && rng_below(rng, 20) == 0;
        values_put(type, x, i, value);
        values_put(type, x, i + 1, stays ? value / 2 : -value);
        values_put(type, y, i, weight);
        values_put(type, y, i + 1, weight);
    }
}

/* Stretches of rows of about one magnitude each, far from each other. The other half of the rows are their negatives, the last row those of
 * the first, but for the last bits of the smallest: what is large is there as long as these are added, and comes to nothing in the end. */
static void fill_rows(struct rng *rng, const struct test_type *type, void *x, size_t rows, size_t pitch) {
    static const int APART[] = {40, 60, 80, 130, 200};
    const int apart = APART[rng_below(rng, sizeof APART / sizeof *APART)];
    const int bits = (int)type->precision / 2;
    const bool even = rng_below(rng, 2); /* as long as what is added at a time may be */
    bool small = false;
    int exponent = 0;
    for (size_t row = 0, end = 0; row < rows / 2; row++) {
        if (row >= end) {
            end = row + (even ? (size_t)64 << rng_below(rng, 5) : 1 + rng_below(rng, 700));
            small = rng_below(rng, 3) == 0;
            exponent = (small ? -apart : 0) - (int)rng_below(rng, 20);
        }
        for (size_t column = 0; column < pitch; column++) {
            const double value = ldexp(rng_unit(rng) - 0.5, exponent);
            values_put(type, x, row * pitch + column, value);
            const double most = ldexp(floor(ldexp(value, bits - exponent)), exponent - bits);
            values_put(type, x, (rows - 1 - row) * pitch + column, small ? -most : -value);
        }
    }
}

/* Ordinary data, or data of one of the usual kinds; and here and there what makes single results, or whole tiles, hard. */
static void fill_matrix(struct many *many, const struct test_type *type) {
    struct rng *rng = &many->rng;
    fill(many, &type, 1);
    if (rng_below(rng,
                  3)) { /* also far from zero, and small whole numbers, whose roots and means are often whole or ties */
        const double scale = ldexp(1, (int)rng_below(rng, 40) - 20), whole = (double)(1 + rng_below(rng, 9)),
                     far = rng_below(rng, 3) ? 0 : ldexp(1, (int)rng_below(rng, 40));
        const uint64_t kind = rng_below(rng, 4),
                       binades = rng_below(rng, 2) ? 26 + rng_below(rng, 8) : 1 + rng_below(rng, 60);
        for (size_t i = 0; i < many->span; i++) {
            const double unit = rng_unit(rng);
            values_put(type, many->memory[0], i,
                       scale * (kind == 0   ? floor(unit * whole)
                                : kind == 1 ? unit + far
                                : kind == 2 ? ldexp(unit - 0.5, -(int)rng_below(rng, binades))
                                            : unit - 0.5));
        }
    }
    if (!many->segmented && many->stride[0][1] && !rng_below(rng, 6))
        fill_rows(rng, type, many->memory[0], many->span / (size_t)many->stride[0][1], (size_t)many->stride[0][1]);
    if (!many->segmented && !rng_below(rng, 6)) { /* columns that come to a zero, of either sign */
        const size_t pitch = many->stride[0][1] ? (size_t)many->stride[0][1] : 4;
        for (size_t i = 0; i < many->span; i++) {
            const size_t column = i % pitch, row = i / pitch;
            values_put(type, many->memory[0], i,
                       column % 4 == 0   ? -0.0
                       : column % 4 == 1 ? (row & 1 ? 0.0 : -0.0)
                       : column % 4 == 2 ? (row & 1 ? -1.5 : 1.5)
                                         : rng_unit(rng));
        }
    }
    for (uint64_t times = rng_below(rng, 2) ? rng_below(rng, 12) : 0; times-- > 0;) {
        const size_t at = rng_below(rng, many->span), count = rng_below(rng, 3) ? 1 : rng_below(rng, many->span - at);
        const uint64_t kind = rng_below(rng, 6);
        for (size_t i = at; i < at + count; i++)
            if (kind == 0)
                values_put_bits(type, many->memory[0], i, values_nan(rng, type));
            else if (kind == 1)
                values_put(type, many->memory[0], i, rng_below(rng, 2) ? INFINITY : -INFINITY);
            else if (kind == 2)
                values_put(type, many->memory[0], i, -0.0);
            else if (kind == 3)
                values_put(type, many->memory[0], i, values_tiny(type) * (double)(1 + rng_below(rng, 99)));
            else if (kind == 4)
                values_put(type, many->memory[0], i, values_max(type) * (rng_unit(rng) - 0.5));
            else
                values_put(type, many->memory[0], i, ldexp(rng_unit(rng) - 0.5, (int)rng_below(rng, 240) - 120));
    }
}

/* An extreme, or its place; often of small numbers, so that many are equal. */
static void choose_extremes(struct many *many) {
    static const reduct_operator EXTREMES[] = {REDUCT_MIN, REDUCT_MAX, REDUCT_NORMINF, REDUCT_ARGMIN, REDUCT_ARGMAX};
    many->inputs = many->reductions = 1;
    many->reduction[0] = (reduct_reduction){.op = EXTREMES[rng_below(&many->rng, 5)],
                                            .element = many->type->type,
                                            .nan = (reduct_nan)rng_below(&many->rng, 3)};
    for (size_t i = 0; rng_below(&many->rng, 2) && i < many->span; i++)
        values_put(many->type, many->memory[0], i, (double)rng_below(&many->rng, 6));
}

static void check_matrices(bool few, uint64_t rounds) {
    const char *devices[TEST_MAX_DEVICES];
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t device_count = test_devices(devices), element_count = test_elements(elements);
    const struct test_type *floats[TEST_MAX_TYPES];
    size_t float_count = 0;
    for (size_t i = 0; i < element_count; i++)
        if (elements[i]->class == FLOAT)
            floats[float_count++] = elements[i];
    struct many *many = start(few ? 5 : 4);
    while (rounds-- > 0) {
        choose_matrix(many, few);
        if (float_count && rng_below(&many->rng, 3)) {
            fill_matrix(many, floats[rng_below(&many->rng, float_count)]);
            choose_sums(many);
        } else {
            fill(many, elements, element_count);
            choose_extremes(many);
        }
        check_case(many, devices[rng_below(&many->rng, device_count)], false);
    }
    stop(many);
}

static void rows_and_columns(void **state) {
    (void)state;
    check_matrices(false, test_scaled(2000, test_fewest(100)));
}

/* A row of numbers whose sum f64 has just so, or which it rounds; that lies between two results of f32, or beside that; of which next to nothing is left;
 * or that is none. */
static void fill_close_row(struct rng *rng, const struct test_type *type, void *x, void *y, size_t first, size_t count,
                           uint64_t kind) {
    const uint64_t digits = 1 + rng_below(rng, 24);
    const double scale = ldexp(1, (int)rng_below(rng, 60) - 30),
                 far = ldexp(1 + (double)rng_below(rng, 9), (int)rng_below(rng, 26));
    for (size_t i = 0; i < count; i++) {
        const double unit = rng_unit(rng) - 0.5;
        values_put(type, y, first + i, kind == 2 || kind == 4 ? 1 : rng_unit(rng) - 0.5);
        values_put(type, x, first + i,
                   kind == 1                ? scale * floor(unit * ldexp(1, (int)digits))
                   : kind == 2 || kind == 8 ? 0
                   : kind == 3 ? scale * (double)(float)(i % 2 ? -values_get(type, x, first + i - 1) / scale : unit)
                   : kind == 4 ? -0.0
                   : kind == 5 ? ldexp(unit, (int)rng_below(rng, 240) - 120)
                   : kind == 6 ? far + unit
                               : scale * unit);
    }
    if (kind ==
        2) { /* 2^24 + 1, or that is what squares come to, and perhaps a little more or less, also as a difference */
        const double most = rng_below(rng, 2) ? 0x1p24 : 0x1p12,
                     little = rng_below(rng, 3) ? ldexp(rng_below(rng, 2) ? 1 : -1, -(int)rng_below(rng, 70)) : 0;
        const size_t at = rng_below(rng, count);
        values_put(type, x, first + at, scale * most);
        values_put(type, x, first + (at + 1) % count, scale);
        values_put(type, x, first + (at + 2) % count, scale * little);
        if (rng_below(rng, 2))
            values_put(type, x, first + (at + 3) % count, scale * little * -(1 - 0x1p-24));
    }
    if (kind == 8) { /* a variance of 25 digits, and perhaps a little more */
        const double odd = 4097 + 2 * (double)rng_below(rng, 800);
        const size_t at = rng_below(rng, count);
        values_put(type, x, first + at, odd);
        values_put(type, x, first + (at + 1) % count, -odd);
        values_put(type, x, first + (at + 2) % count, rng_below(rng, 3) ? ldexp(1, -(int)rng_below(rng, 60)) : 0);
    }
    if (kind == 3 || kind == 4)
        values_put(type, x, first + rng_below(rng, count), kind == 4 ? 0.0 : ldexp(scale, -(int)rng_below(rng, 60)));
    if (kind == 7)
        values_put(type, x, first + rng_below(rng, count), rng_below(rng, 2) ? (double)NAN : (double)INFINITY);
}

/* Rows that are `pitch` elements apart, from the first element on, and results so many. */
static void set_rows(struct many *many, uint64_t rows, uint64_t length, uint64_t pitch, int64_t apart) {
    many->segmented = false;
    many->twice = true;
    many->mask = REDUCT_MASK_NONE;
    many->rank = 2;
    many->axes = 2;
    many->results = rows;
    many->result_span = (size_t)((int64_t)rows * apart);
    many->result_first = many->first[0] = many->first[1] = 0;
    many->span = pitch * rows;
    memcpy(many->length, (uint64_t[]){rows, length}, 2 * sizeof *many->length);
    memcpy(many->result_stride, (int64_t[]){apart, 0}, 2 * sizeof *many->result_stride);
    for (int i = 0; i < 2; i++)
        memcpy(many->stride[i], (int64_t[]){(int64_t)pitch, 1}, 2 * sizeof **many->stride);
}

/* Rows of f32 whose sums devices know but for a bound: all sorts of lengths, with nothing between them or something, of which few or most are such that
 * a bound does not say what the results are. */
static void rows_in_few_additions(void **state) {
    (void)state;
    static const uint64_t LENGTHS[] = {12,  16,  20,  32,  36,  48,  64,   68,   96,   100,  128,  132,
                                       200, 256, 260, 384, 512, 516, 1000, 1024, 1028, 2048, 3000, 4096};
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = test_devices(devices);
    const struct test_type *type = test_type(REDUCT_F32);
    struct many *many = start(18);
    struct rng *rng = &many->rng;
    for (uint64_t rounds = test_scaled(1500, test_fewest(150)); rounds-- > 0;) {
        const uint64_t length = LENGTHS[rng_below(rng, sizeof LENGTHS / sizeof *LENGTHS)],
                       pitch = length + (rng_below(rng, 3) ? 0 : 4 * rng_below(rng, 5)), most = (SPAN - 64) / pitch,
                       rare = 1 + rng_below(rng, rng_below(rng, 3) ? 200 : 3), any = rng_below(rng, 9);
        const bool one_kind = rng_below(rng, 2);
        const int64_t apart = rng_below(rng, 4) ? 1 : 2;
        set_rows(many, rng_below(rng, 2) ? most : 1 + rng_below(rng, most), length, pitch, apart);
        for (int i = 0; i < 2; i++)
            many->first[i] = 4 * (int64_t)rng_below(rng, 3);
        fill(many, &type, 1);
        many->reductions = many->inputs = 1;
        const char *device = devices[rng_below(rng, device_count)];
        if (rng_below(rng, 3))
            choose_sums(many);
        else
            choose_several(many, device);
        if (rng_below(rng, 4) == 0) { /* of one array, beside one of both */
            many->reductions = many->inputs = 2;
            many->reduction[1] = (reduct_reduction){
                .op = REDUCT_DOT, .element = type->type, .result = test_pick_result(rng, REDUCT_DOT, type->type)};
        }
        for (uint64_t row = 0; row < many->results; row++)
            fill_close_row(rng, type, many->memory[0] + many->first[0] * 4, many->memory[1] + many->first[1] * 4,
                           row * pitch, length,
                           rng_below(rng, rare) ? 0
                           : one_kind           ? any
                                                : rng_below(rng, 8));
        check_case(many, device, false);
    }
    stop(many);
}

/* Rows whose sums, or variances, are next to a tie of f32 by less than f64 can tell: 2^24, 1, and what is left of two numbers that differ in
 * their last digit; s and -s, whose squares come to 26 digits, of which the last is 0, and the square of a small number. */
static void rows_beside_ties(void **state) {
    (void)state;
    static const reduct_operator OPERATORS[] = {REDUCT_SUM, REDUCT_MEAN, REDUCT_DOT, REDUCT_VAR, REDUCT_STD};
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = test_devices(devices);
    const struct test_type *type = test_type(REDUCT_F32);
    struct many *many = start(19);
    struct rng *rng = &many->rng;
    for (uint64_t rounds = test_scaled(300, test_fewest(60)); rounds-- > 0;) {
        const uint64_t length = (uint64_t)16 << rng_below(rng, 8), rows = SPAN / length;
        set_rows(many, rows, length, length, 1);
        fill(many, &type, 1);
        const reduct_operator op = OPERATORS[rng_below(rng, sizeof OPERATORS / sizeof *OPERATORS)];
        const bool squares = op == REDUCT_VAR || op == REDUCT_STD;
        many->reductions = 1;
        many->inputs = op == REDUCT_DOT ? 2 : 1;
        many->reduction[0] = (reduct_reduction){
            .op = op, .element = REDUCT_F32, .result = REDUCT_F32, .flags = squares ? REDUCT_POPULATION : 0};
        for (uint64_t row = 0; row < rows; row++) {
            const double little = ldexp(rng_below(rng, 4) ? 1 : -1, -(int)rng_below(rng, 40)),
                         odd = 4097 + 2 * (double)rng_below(rng, 800);
            const double number[] = {squares ? odd : 0x1p24, squares ? -odd : 1, little,
                                     squares ? 0 : little * -(1 - 0x1p-24)};
            /* Not the first, which variances are taken about. */
            const uint64_t at = 1 + rng_below(rng, length - 4);
            for (uint64_t i = 0; i < length; i++) {
                values_put(type, many->memory[0], row * length + i, i >= at && i < at + 4 ? number[i - at] : 0);
                values_put(type, many->memory[1], row * length + i, 1);
            }
        }
        check_case(many, devices[rng_below(rng, device_count)], false);
    }
    stop(many);
}

static void columns_of_few(void **state) {
    (void)state;
    check_matrices(true, test_scaled(1000, test_fewest(100)));
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Several reductions of rows, columns and segments, most of which a device may have from one reading
 * ------------------------------------------------------------------------------------------------------------------ */

static void several(void **state) {
    (void)state;
    const char *devices[TEST_MAX_DEVICES];
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t device_count = test_devices(devices), element_count = test_elements(elements);
    struct many *many = start(6);
    for (uint64_t rounds = test_scaled(4000, test_fewest(150)); rounds-- > 0;) {
        const struct test_type *type;
        const uint64_t kind = rng_below(&many->rng, 8);
        const bool offsets = rng_below(&many->rng, 2);
        do
            type = elements[rng_below(&many->rng, element_count)];
        while (type->class != FLOAT && rng_below(&many->rng, 4));
        if (kind < 5)
            choose_matrix(many, kind == 4);
        else if (kind < 7)
            choose_segments(many, offsets);
        else
            choose_layout(many);
        if (many->segmented || rng_below(&many->rng, 8))
            many->mask = REDUCT_MASK_NONE;
        if (type->class == FLOAT)
            fill_matrix(many, type);
        else
            fill(many, &type, 1);
        if (!rng_below(&many->rng, 4)) /* many are equal */
            for (size_t i = 0; i < many->span; i++)
                values_put(many->type, many->memory[0], i, (double)rng_below(&many->rng, 6));
        const char *device = devices[rng_below(&many->rng, device_count)];
        choose_several(many, device);
        check_case(many, device, offsets);
    }
    stop(many);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Sizes that threads share
 * ------------------------------------------------------------------------------------------------------------------ */

enum { LARGE = 700000, LARGE_MOST = 32 };

/* The bits of each result are those of a plan of its elements alone, and the same whatever the threads: of matrices by rows, by columns and from a
 * middle axis, and of a few long ones, which are cut. */
static void large(void **state) {
    (void)state;
    const bool few = test_scale() < 0.1; /* a third of the operators with each shape, fewer threads */
    static const reduct_shape SHAPES[] = {{3, 200000, 1, 200000, 1, 0}, {1, 200000, 3, 0, 3, 1},
                                          {700, 1000, 1, 1000, 1, 0},   {1, 1000, 700, 0, 700, 1},
                                          {7, 5000, 20, 100000, 20, 1}, {1, LARGE, 1, 0, 1, 0},
                                          {1, LARGE / 2, 1, 0, 2, 0},   {2, LARGE / 2, 1, -LARGE / 2, -1, 0},
                                          {20000, 35, 1, 35, 1, 0},     {1, 35, 20000, 0, 20000, 1}};
    struct rng rng = rng_of(test_seed() + 2);
    double *x = test_alloc(LARGE * sizeof *x), *line = test_alloc(LARGE * sizeof *line);
    distribution_named("60_binades")->fill(&rng, test_type(REDUCT_F64), x, NULL, LARGE);
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        const reduct_shape *shape = &SHAPES[i];
        const double *first = x + (shape->stride < 0 ? LARGE - 1 : 0);
        const size_t results = shape->outer * shape->inner;
        reduct_reduction reductions[LARGE_MOST];
        void *places[LARGE_MOST];
        size_t count = 0, bytes = 0;
        unsigned char *got = test_alloc(LARGE_MOST * results * 16), *one = test_alloc(LARGE_MOST * results * 16);
        for (size_t o = 0; o < test_operator_count; o++) {
            if (!oracle_has(test_operators[o].op, REDUCT_F64) || (few && (o + i) % 3))
                continue;
            assert_true(count < LARGE_MOST);
            reductions[count] = test_reduction(test_operators[o].op, REDUCT_F64, REDUCT_DEFAULT);
            reductions[count].mode = o & 1 ? REDUCT_FAST : REDUCT_EXACT;
            places[count] = got + bytes;
            bytes += (results * oracle_result_size(&reductions[count++]) + 7) / 8 * 8;
        }
        memset(got, 0, bytes);
        for (unsigned threads = 1; threads <= 5; threads += few ? 4 : 2) {
            const reduct_plan_options options = {.reductions = reductions,
                                                 .reduction_count = count,
                                                 .shape = *shape,
                                                 .kind = REDUCT_SHAPE,
                                                 .device = "cpu",
                                                 .threads = threads};
            reduct_plan *plan = NULL;
            test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
            test_status(reduct_plan_execute(plan, (const void *[]){first, first}, places, NULL, NULL), REDUCT_OK);
            reduct_plan_destroy(plan);
            if (threads == 1)
                memcpy(one, got, bytes);
            assert_memory_equal(one, got, bytes);
            for (uint64_t round = test_scaled(12, 3); round-- > 0;) {
                const size_t r = rng_below(&rng, results), o = rng_below(&rng, count),
                             size = oracle_result_size(&reductions[o]);
                const int64_t at = (int64_t)(r / shape->inner) * shape->outer_stride +
                                   (int64_t)(r % shape->inner) * shape->inner_stride;
                for (uint64_t k = 0; k < shape->n; k++)
                    line[k] = first[at + (int64_t)k * shape->stride];
                reduct_reduction exact = reductions[o]; /* as all are that are not of whole arrays */
                exact.mode = REDUCT_EXACT;
                const struct test_outcome alone =
                    test_run(&exact, "cpu", 1, line, oracle_inputs(exact.op) == 2 ? line : NULL, shape->n);
                if (memcmp(alone.bytes, (unsigned char *)places[o] + r * size, size))
                    test_fail("shape %zu, %s, result %zu with %u threads is not that of its elements alone", i,
                              reduct_operator_name(reductions[o].op), r, threads);
            }
        }
        free(got);
        free(one);
    }
    free(x);
    free(line);
}

/* Few long results, which devices cut into pieces that meet: as the CPU has them, of all types and operators, and twice, as what
 * pieces met in must be as it was. */
static void cut_results(void **state) {
    (void)state;
    enum { MOST = 60000, OPERATORS = 32, RESULTS = 30 };
    static const reduct_shape SHAPES[] = {{3, 20000, 1, 20000, 1, 0},
                                          {1, MOST, 1, 0, 1, 0},
                                          {1, 8571, 7, 0, 7, 1},
                                          {2, 29999, 1, 30000, 1, 0},
                                          {RESULTS, 2000, 1, 2000, 1, 0}};
    const char *devices[TEST_MAX_DEVICES];
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t device_count = test_devices(devices), element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed() + 4);
    double *x = test_alloc(MOST * sizeof *x), *y = test_alloc(MOST * sizeof *y);
    unsigned char *mask = test_alloc(MOST + 7);
    for (size_t i = 0; i < MOST + 7; i++)
        mask[i] = (unsigned char)rng_below(&rng, 4) & 85;
    for (uint64_t round = test_scaled(400, test_fewest(12)); round-- > 0;) {
        const struct test_type *type = elements[rng_below(&rng, element_count)];
        const reduct_shape *shape = &SHAPES[rng_below(&rng, sizeof SHAPES / sizeof *SHAPES)];
        const size_t results = shape->outer * shape->inner;
        const struct distribution *distribution;
        do
            distribution = &distributions[rng_below(&rng, distribution_count)];
        while (!distribution_suits(distribution, type));
        distribution->fill(&rng, type, x, y, MOST);
        if (type->class == FLOAT && rng_below(&rng, 3) == 0)
            fill_stretches(&rng, type, x, y, MOST);
        reduct_reduction reductions[OPERATORS];
        unsigned char got[3][OPERATORS][RESULTS][ORACLE_RESULT_BYTES] = {{{{0}}}};
        reduct_outcome told[3][OPERATORS][RESULTS];
        const char *device = devices[rng_below(&rng, device_count)];
        size_t count = 0;
        bool two = false;
        assert_true(test_operator_count <= OPERATORS);
        for (size_t o = 0; o < test_operator_count; o++) {
            reductions[count] = (reduct_reduction){.op = test_operators[o].op,
                                                   .element = type->type,
                                                   .nan = (reduct_nan)rng_below(&rng, 3),
                                                   .flags = (uint32_t)rng_below(&rng, 4)};
            if (!oracle_has(test_operators[o].op, type->type) || !is_served(device, &reductions[count]))
                continue;
            two = two || oracle_inputs(test_operators[o].op) == 2;
            count++;
        }
        memset(told, 0, sizeof told);
        const reduct_mask kind =
            rng_below(&rng, 2) && takes_masks(device) ? (reduct_mask)(1 + rng_below(&rng, 2)) : REDUCT_MASK_NONE;
        reduct_plan *plan = NULL;
        for (int run = 0; run < 3; run++) { /* the CPU's, then twice the device's */
            const reduct_plan_options options = {.reductions = reductions,
                                                 .reduction_count = count,
                                                 .shape = *shape,
                                                 .kind = REDUCT_SHAPE,
                                                 .device = run ? device : "cpu",
                                                 .mask = kind,
                                                 .mask_offset = kind ? 7 : 0};
            const void *const inputs[] = {x, two ? (const void *)y : mask, mask};
            void *places[OPERATORS];
            reduct_outcome *outcomes[OPERATORS];
            for (size_t o = 0; o < count; o++) {
                places[o] = got[run][o];
                outcomes[o] = told[run][o];
            }
            if (run < 2)
                test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
            test_status(reduct_plan_execute_each(plan, inputs, places, outcomes, NULL, NULL), REDUCT_OK);
            if (run != 1)
                reduct_plan_destroy(plan);
        }
        for (int run = 1; run < 3; run++)
            for (size_t o = 0; o < count; o++)
                if (memcmp(got[run][o], got[0][o], sizeof got[0][o]) ||
                    memcmp(told[run][o], told[0][o], results * sizeof **told[0]))
                    test_fail("%s of %s, %zu results of %s data, mask %d, on %s, execution %d: not as on the CPU",
                              reduct_operator_name(reductions[o].op), type->name, results, distribution->name, kind,
                              device, run);
    }
    free(mask);
    free(x);
    free(y);
}

/* Whether a type is among those that are to be tested. */
static bool is_tested(const struct test_type *type) {
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t count = test_elements(elements);
    for (size_t i = 0; i < count; i++)
        if (elements[i] == type)
            return true;
    return false;
}

/* Makes all but one small element of each result cancel out, so that whatever is lost of the others shows; growing: later ones are
 * larger. */
static void make_cancel(const struct test_type *type, void *x, size_t offset, const reduct_shape *shape, bool growing) {
    const uint64_t half = shape->n / 2;
    for (uint64_t r = 0; r < shape->outer * shape->inner; r++) {
        const int64_t first = (int64_t)offset + (int64_t)(r / shape->inner) * shape->outer_stride +
                              (int64_t)(r % shape->inner) * shape->inner_stride;
        for (uint64_t k = 0; k < half; k++) {
            const size_t at = (size_t)(first + (int64_t)k * shape->stride),
                         other = (size_t)(first + (int64_t)(k + half) * shape->stride);
            double element = values_get(type, x, at);
            if (growing)
                element = ldexp(element, (int)((type->type == REDUCT_F16 ? 20 : 40) * k / half));
            if (k == half / 2)
                element = ldexp(element, type->type == REDUCT_F16 ? -20 : -60);
            values_put(type, x, at, element);
            values_put(type, x, other, k == half / 2 ? 0 : -values_get(type, x, at));
        }
    }
}

/* Long rows and columns of f32 and of halves, of sizes for which CUDA devices copy what they add to shared memory ahead: as on the
 * CPU. */
static void long_rows_and_columns(void **state) {
    (void)state;
    enum { MOST = 2400000, RESULTS = 1040, SHAPES_EACH = 7, TOGETHER = 4 };
    static const reduct_shape SHAPES[2][SHAPES_EACH] = {{{300, 516, 1, 520, 1, 0},
                                                         {270, 2000, 1, 2000, 1, 0},
                                                         {260, 4096, 1, 4100, 1, 0},
                                                         {1, 33111, 64, 0, 64, 1},
                                                         {1, 9001, 260, 0, 260, 1},
                                                         {1, 66500, 20, 0, 24, 1},
                                                         {1, 2100, 1032, 0, 1032, 1}},
                                                        {{300, 520, 1, 528, 1, 0},
                                                         {270, 4104, 1, 4104, 1, 0},
                                                         {7, 300008, 1, 300016, 1, 0},
                                                         {1, 33111, 64, 0, 64, 1},
                                                         {1, 9001, 264, 0, 264, 1},
                                                         {1, 66500, 24, 0, 32, 1},
                                                         {1, 2100, 1040, 0, 1040, 1}}};
    static const reduct_operator OPERATORS[] = {REDUCT_SUM,   REDUCT_MEAN, REDUCT_NORM1, REDUCT_SUMSQ,
                                                REDUCT_NORM2, REDUCT_RMS,  REDUCT_VAR,   REDUCT_STD};
    static const reduct_operator OTHERS[] = {REDUCT_MIN, REDUCT_MAX, REDUCT_ARGMIN, REDUCT_ARGMAX, REDUCT_COUNT};
    static const reduct_type TYPES[] = {REDUCT_F32, REDUCT_BF16, REDUCT_F16};
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = test_devices(devices);
    struct rng rng = rng_of(test_seed() + 6);
    unsigned char *x = test_alloc((MOST + 1) * sizeof(float));
    static unsigned char got[2][TOGETHER][RESULTS * ORACLE_RESULT_BYTES];
    static reduct_outcome told[2][TOGETHER][RESULTS];
    for (uint64_t round = test_scaled(450, test_fewest(42)); round-- > 0;) {
        const struct test_type *type = test_type(TYPES[round % 3]);
        if (!is_tested(type))
            continue;
        const size_t which = round % SHAPES_EACH;
        const reduct_shape *shape = &SHAPES[type->type != REDUCT_F32 || rng_below(&rng, 2)][which];
        const size_t results = shape->outer * shape->inner, offset = rng_below(&rng, 4) == 0;
        const size_t elements = offset + (shape->outer - 1) * (size_t)shape->outer_stride +
                                (shape->n - 1) * (size_t)shape->stride +
                                (shape->inner - 1) * (size_t)shape->inner_stride + 1;
        assert_true(elements <= MOST + 1);
        const struct distribution *distribution;
        do
            distribution =
                rng_below(&rng, 3) ? &distributions[rng_below(&rng, distribution_count)] : distribution_named("normal");
        while (!distribution_suits(distribution, type));
        distribution->fill(&rng, type, x, NULL, elements);
        const bool spread = rng_below(&rng, 3) == 0;
        const uint64_t binades = 8 + rng_below(&rng, 52); /* around what is exact in few digits */
        for (size_t i = 0; spread && i < elements; i++)
            values_put(type, x, i, ldexp(rng_unit(&rng) - 0.5, -(int)rng_below(&rng, binades)));
        if (spread || rng_below(&rng, 2))
            make_cancel(type, x, offset, shape, rng_below(&rng, 2));
        /* One alone, or several in one pass: sums, and what else is. */
        const size_t count = rng_below(&rng, 3) ? 1 : 2 + rng_below(&rng, TOGETHER - 1);
        reduct_reduction reduction[TOGETHER];
        for (size_t i = 0; i < count; i++) {
            const reduct_operator op = i < 2 ? OPERATORS[rng_below(&rng, sizeof OPERATORS / sizeof *OPERATORS)]
                                             : OTHERS[rng_below(&rng, sizeof OTHERS / sizeof *OTHERS)];
            reduction[i] = (reduct_reduction){.op = op,
                                              .element = type->type,
                                              .result = test_pick_result(&rng, op, type->type),
                                              .nan = (reduct_nan)rng_below(&rng, 3)};
        }
        const char *device = devices[rng_below(&rng, device_count)];
        memset(told, 0, sizeof told);
        memset(got, 0, sizeof got);
        for (int run = 0; run < 2; run++) {
            const reduct_plan_options options = {.reductions = reduction,
                                                 .reduction_count = count,
                                                 .shape = *shape,
                                                 .kind = REDUCT_SHAPE,
                                                 .device = run ? device : "cpu"};
            void *into[TOGETHER];
            reduct_outcome *outcomes[TOGETHER];
            for (size_t i = 0; i < count; i++) {
                into[i] = got[run][i];
                outcomes[i] = told[run][i];
            }
            reduct_plan *plan = NULL;
            test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
            test_status(
                reduct_plan_execute_each(plan, (const void *[]){x + offset * type->size}, into, outcomes, NULL, NULL),
                REDUCT_OK);
            reduct_plan_destroy(plan);
        }
        for (size_t i = 0; i < count; i++)
            if (memcmp(got[1][i], got[0][i], sizeof got[0][i]) ||
                memcmp(told[1][i], told[0][i], results * sizeof *told[0][i]))
                test_fail("%s of %s, one of %zu, shape %zu of %s data, on %s: not as on the CPU",
                          reduct_operator_name(reduction[i].op), type->name, count, which, distribution->name, device);
    }
    free(x);
}

/* One segment of nearly everything among many of next to nothing. */
static void one_long_segment(void **state) {
    (void)state;
    enum { SEGMENTS = 3000 };
    uint32_t *offsets = test_alloc((SEGMENTS + 1) * sizeof *offsets);
    float *x = test_alloc(LARGE * sizeof *x), *got = test_alloc(SEGMENTS * sizeof *got);
    struct rng rng = rng_of(test_seed() + 3);
    distribution_named("60_binades")->fill(&rng, test_type(REDUCT_F32), x, NULL, LARGE);
    for (size_t i = 0; i <= SEGMENTS; i++)
        offsets[i] = (uint32_t)(i <= SEGMENTS / 2 ? i : LARGE - (SEGMENTS - i));
    for (int op = REDUCT_SUM; op <= REDUCT_PRODUCT; op++)
        for (unsigned threads = 1; threads <= 4; threads++) {
            if (op == REDUCT_DOT || op == REDUCT_ARGMIN || op == REDUCT_ARGMAX || op == REDUCT_VAR || op == REDUCT_STD)
                continue;
            const reduct_reduction reduction = {.op = (reduct_operator)op, .element = REDUCT_F32};
            const reduct_segments all = {.count = SEGMENTS, .elements = LARGE, .index = REDUCT_U32};
            const reduct_plan_options options = {.reductions = &reduction,
                                                 .reduction_count = 1,
                                                 .kind = REDUCT_SEGMENTS,
                                                 .segments = &all,
                                                 .threads = threads};
            reduct_plan *plan = NULL;
            test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
            test_status(reduct_plan_execute(plan, (const void *[]){x, offsets}, (void *[]){got}, NULL, NULL),
                        REDUCT_OK);
            reduct_plan_destroy(plan);
            for (size_t i = SEGMENTS / 2 - 2; i < SEGMENTS / 2 + 2; i++) {
                const struct test_outcome alone =
                    test_run(&reduction, "cpu", 1, x + offsets[i], NULL, offsets[i + 1] - offsets[i]);
                assert_memory_equal(alone.bytes, &got[i], sizeof *got);
            }
        }
    free(offsets);
    free(x);
    free(got);
}

/* Pieces of which each begins with small elements, by which its first tile chooses a window: those that follow just fit the uppermost
 * slice, and those of all pieces together exceed 63 bits there. As a row, and as a segment. */
static void large_terms_of_pieces(void **state) {
    (void)state;
    enum { COUNT = 1 << 23, PERIOD = 1024 };
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = test_devices(devices);
    const uint32_t offsets[2] = {0, COUNT};
    double *x = test_alloc(COUNT * sizeof *x);
    for (size_t i = 0; i < COUNT; i++)
        x[i] = i % PERIOD < PERIOD / 4 ? 1 : 0x1.8p58;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const reduct_segments segments = {.count = 1, .elements = COUNT, .index = REDUCT_U32};
    for (size_t d = 0; d < device_count; d++)
        for (int segmented = 0; segmented < 2; segmented++) {
            const reduct_plan_options options = {.reductions = &sum,
                                                 .reduction_count = 1,
                                                 .kind = segmented ? REDUCT_SEGMENTS : REDUCT_SHAPE,
                                                 .shape = {1, COUNT, 1, COUNT, 1, 0},
                                                 .segments = &segments,
                                                 .device = devices[d]};
            reduct_plan *plan = NULL;
            double got = 0;
            test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
            test_status(reduct_plan_execute(plan, (const void *[]){x, offsets}, (void *[]){&got}, NULL, NULL),
                        REDUCT_OK);
            reduct_plan_destroy(plan);
            if (got != 0x9p78) /* what is less is far below half of its last bit */
                test_fail("%s on %s: %a, expected %a", segmented ? "segment" : "row", devices[d], got, 0x9p78);
        }
    free(x);
}

/* Columns of numbers of three magnitudes, and of their negatives but for the last bits of the smallest: when these come, lanes hold what is so
 * large that they cannot hold both, and what they lose shows in the end. Whatever is added at a time has one magnitude. */
static void columns_far_apart(void **state) {
    (void)state;
    enum { STRETCH = 1024, STRETCHES = 4, COLUMNS = 256, ROWS = STRETCH * STRETCHES, BITS = 26 };
    double *x = test_alloc((size_t)ROWS * COLUMNS * sizeof *x), expected[COLUMNS] = {0}, got[COLUMNS];
    struct rng rng = rng_of(test_seed() + 77);
    for (int apart = 0; apart < 160; apart += 10) {
        memset(expected, 0, sizeof expected);
        for (size_t row = 0; row < ROWS / 2; row++)
            for (size_t column = 0; column < COLUMNS; column++) {
                const bool small = row >= STRETCH;
                const double value = ldexp(rng_unit(&rng) - 0.5, small ? -apart : 0),
                             most = small ? ldexp(floor(ldexp(value, BITS + apart)), -BITS - apart) : value;
                x[row * COLUMNS + column] = value;
                x[(ROWS - 1 - row) * COLUMNS + column] = -most;
                expected[column] += value - most; /* which is exact */
            }
        const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
        const reduct_plan_options options = {.reductions = &sum,
                                             .reduction_count = 1,
                                             .kind = REDUCT_SHAPE,
                                             .shape = {1, ROWS, COLUMNS, 0, COLUMNS, 1},
                                             .device = "cpu",
                                             .threads = 1};
        reduct_plan *plan = NULL;
        test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
        test_status(reduct_plan_execute(plan, (const void *[]){x}, (void *[]){got}, NULL, NULL), REDUCT_OK);
        reduct_plan_destroy(plan);
        for (size_t column = 0; column < COLUMNS; column++)
            if (got[column] != expected[column])
                test_fail("2^-%d apart, column %zu: %a, expected %a", apart, column, got[column], expected[column]);
    }
    free(x);
}

/* Rows of nothing but -0, and of NaNs that are ignored, beside rows whose terms lie so far apart that all of them are reduced alone: a sum
 * is -0 there, whatever else is asked for. */
static void negative_zeros(void **state) {
    (void)state;
    enum { ROWS = 64, COUNT = 24 };
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = test_devices(devices);
    double x[ROWS][COUNT];
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < COUNT; i++)
            x[r][i] = r % 2 ? (i % 3 ? -0.0 : NAN) : i % 2 ? 1e300 : -1e-300;
    const reduct_reduction all[] = {{.op = REDUCT_SUM, .element = REDUCT_F64, .nan = REDUCT_NAN_IGNORE},
                                    {.op = REDUCT_MEAN, .element = REDUCT_F64, .nan = REDUCT_NAN_IGNORE},
                                    {.op = REDUCT_MAX, .element = REDUCT_F64, .nan = REDUCT_NAN_IGNORE}};
    for (size_t d = 0; d < device_count; d++)
        for (size_t several = 1; several <= 3; several++)
            for (size_t first = 0; first + several <= 3; first++) {
                const reduct_plan_options options = {.reductions = all + first,
                                                     .reduction_count = several,
                                                     .kind = REDUCT_SHAPE,
                                                     .shape = {ROWS, COUNT, 1, COUNT, 1, 0},
                                                     .device = devices[d]};
                double got[3][ROWS];
                reduct_plan *plan = NULL;
                test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
                test_status(
                    reduct_plan_execute(plan, (const void *[]){x}, (void *[]){got[0], got[1], got[2]}, NULL, NULL),
                    REDUCT_OK);
                reduct_plan_destroy(plan);
                for (size_t i = 0; i < several; i++)
                    for (int r = 1; r < ROWS; r += 2)
                        if (got[i][r] != 0 || !signbit(got[i][r]))
                            test_fail("reduction %zu, number %zu of %zu, on %s: row %d is %a, expected -0", first + i,
                                      i, several, devices[d], r, got[i][r]);
            }
}

/* Rows of bf16 with one large term, many of nearly half of what is rounded off beside it, and some whose last bit all of them
 * together must keep: whoever adds more of them in few digits than these hold loses it. Sums are numbers of f64. */
static void halves_that_fill_digits(void **state) {
    (void)state;
    enum {
        GAPS = 12,
        FIRST_GAP = 14,
        DEPTHS = 20,
        FIRST_DEPTH = 25,
        ROWS = GAPS * DEPTHS,
        MOST = 4096,
        LANES_HAVE = 8
    };
    const uint16_t one = 127 << 7, significand = 127; /* 1, and the largest significand, 2 - 2^-7 */
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = test_devices(devices), counts[] = {64, 256, 512, 1000, MOST};
    uint16_t *x = malloc(sizeof(uint16_t[ROWS][MOST]));
    assert_non_null(x);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        const size_t count = counts[c];
        double expected[ROWS], got[ROWS];
        for (int r = 0; r < ROWS; r++) {
            const int gap = FIRST_GAP + r % GAPS, depth = FIRST_DEPTH + r / GAPS;
            const uint16_t filling = (uint16_t)((127 - gap) << 7) | significand,
                           last = (uint16_t)((127 - depth) << 7) | 1; /* (1 + 2^-7) 2^-depth */
            int64_t ones = 0, fillings = 0, lasts = 0;
            for (size_t i = 0; i < count; i++) {
                const size_t at = i % (2 * LANES_HAVE);
                x[r * count + i] = i == 0 ? one : at == 2 * LANES_HAVE - 1 ? last : filling;
                ones += x[r * count + i] == one;
                lasts += x[r * count + i] == last;
            }
            fillings = (int64_t)count - ones - lasts;
            expected[r] =
                (double)ones + ldexp((double)(fillings * 255), -gap - 7) + ldexp((double)(lasts * 129), -depth - 7);
        }
        const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_BF16, .result = REDUCT_F64};
        for (size_t d = 0; d < device_count; d++) {
            const reduct_plan_options options = {.reductions = &sum,
                                                 .reduction_count = 1,
                                                 .kind = REDUCT_SHAPE,
                                                 .shape = {ROWS, count, 1, (int64_t)count, 1, 0},
                                                 .device = devices[d]};
            reduct_plan *plan = NULL;
            test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
            test_status(reduct_plan_execute(plan, (const void *[]){x}, (void *[]){got}, NULL, NULL), REDUCT_OK);
            reduct_plan_destroy(plan);
            for (int r = 0; r < ROWS; r++)
                if (got[r] != expected[r])
                    test_fail("rows of %zu, on %s: gap %d, depth %d: got %a, expected %a", count, devices[d],
                              FIRST_GAP + r % GAPS, FIRST_DEPTH + r / GAPS, got[r], expected[r]);
        }
    }
    free(x);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What is refused
 * ------------------------------------------------------------------------------------------------------------------ */

static void refuse(const reduct_plan_options *options, reduct_status expected, const char *said) {
    reduct_plan *plan = NULL;
    reduct_error error = {0};
    test_status(reduct_plan_create(options, &plan, &error), expected);
    if (plan || error.status != expected || strncmp(error.message, said, strlen(said)) != 0)
        test_fail("refused with \"%s\"; expected \"%s...\"", error.message, said);
}

static void refused_plans(void **state) {
    (void)state;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64},
                           other = {.op = REDUCT_SUM, .element = REDUCT_F32};
    const reduct_reduction mixed[] = {sum, other};
    const uint64_t lengths[3] = {1, 2, 3}, huge[2] = {(uint64_t)1 << 40, (uint64_t)1 << 40};
    const int64_t far[3] = {INT64_MAX, INT64_MIN, 1};
    reduct_array array = {.rank = 3, .lengths = lengths};
    reduct_segments parts = {.count = 3, .elements = 10, .index = REDUCT_I32};
    reduct_plan_options options = {.reductions = &sum, .reduction_count = 1, .kind = REDUCT_ARRAY};
    refuse(&options, REDUCT_ERROR_ARGUMENT, "array: null pointer");
    options.array = &array;
    array.rank = REDUCT_RANK_MAX + 1;
    refuse(&options, REDUCT_ERROR_ARGUMENT, "array: rank: 65");
    array.rank = 3;
    array.axes = 8;
    refuse(&options, REDUCT_ERROR_ARGUMENT, "array: axes: 0x8");
    array.axes = 0;
    array.lengths = NULL;
    refuse(&options, REDUCT_ERROR_ARGUMENT, "array: lengths: null pointer");
    array.lengths = lengths;
    array.reserved[2] = 1;
    refuse(&options, REDUCT_ERROR_ARGUMENT, "array: reserved");
    array = (reduct_array){.rank = 2, .lengths = huge, .axes = 1};
    refuse(&options, REDUCT_ERROR_TOO_LARGE, "lengths");
    array = (reduct_array){.rank = 3, .lengths = lengths, .strides = {far}, .axes = 1};
    refuse(&options, REDUCT_ERROR_TOO_LARGE, "strides");
    options = (reduct_plan_options){.reductions = mixed, .reduction_count = 2, .shape = {.n = 3}};
    refuse(&options, REDUCT_ERROR_ARGUMENT, "reductions: number 1 reads f32");
    options = (reduct_plan_options){.reductions = &sum, .reduction_count = 1, .kind = REDUCT_SEGMENTS};
    refuse(&options, REDUCT_ERROR_ARGUMENT, "segments: null pointer");
    options.segments = &parts;
    parts.index = REDUCT_F32;
    refuse(&options, REDUCT_ERROR_ARGUMENT, "segments: index: f32; expected i32");
    parts.index = (reduct_type)99;
    refuse(&options, REDUCT_ERROR_ARGUMENT, "segments: index: 99; expected i32");
    parts = (reduct_segments){.count = 3, .elements = 10, .length = 4};
    refuse(&options, REDUCT_ERROR_ARGUMENT, "segments: 3 of 4 elements");
    parts = (reduct_segments){.count = 3, .elements = UINT64_MAX, .index = REDUCT_I64};
    refuse(&options, REDUCT_ERROR_TOO_LARGE, "segments");
}

/* A segment that leaves the array, or runs backwards, is named; nothing is written. */
static void refused_segments(void **state) {
    (void)state;
    const double x[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    static const struct {
        int64_t offsets[4];
        int number; /* of the first segment that is none, or -1 */
    } CASES[] = {{{0, 3, 3, 10}, -1}, {{0, 3, 2, 10}, 1},         {{0, 3, 5, 11}, 2},
                 {{-1, 3, 5, 10}, 0}, {{0, INT64_MIN, 5, 10}, 0}, {{0, 0, 0, INT64_MAX}, 2}};
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const reduct_segments parts = {.count = 3, .elements = 10, .index = REDUCT_I64};
    const reduct_plan_options options = {
        .reductions = &sum, .reduction_count = 1, .kind = REDUCT_SEGMENTS, .segments = &parts};
    reduct_plan *plan = NULL;
    test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        double results[3] = {-1, -1, -1};
        reduct_error error = {0};
        const reduct_status status =
            reduct_plan_execute(plan, (const void *[]){x, CASES[i].offsets}, (void *[]){results}, NULL, &error);
        char said[64];
        snprintf(said, sizeof said, "segments: number %d is", CASES[i].number);
        if (CASES[i].number < 0) {
            test_status(status, REDUCT_OK);
            assert_true(results[0] == 6 && results[1] == 0 && results[2] == 49);
        } else {
            test_status(status, REDUCT_ERROR_ARGUMENT);
            assert_int_equal(error.index, CASES[i].number);
            assert_memory_equal(error.message, said, strlen(said));
            assert_true(results[0] == -1 && results[1] == -1 && results[2] == -1);
        }
    }
    reduct_error error = {0};
    test_status(reduct_plan_execute(plan, (const void *[]){x, NULL}, (void *[]){(double[3]){0}}, NULL, &error),
                REDUCT_ERROR_ARGUMENT);
    assert_memory_equal(error.message, "offsets: null", 13);
    test_status(reduct_plan_execute(plan, (const void *[]){x, (const char *)CASES[0].offsets + 1},
                                    (void *[]){(double[3]){0}}, NULL, &error),
                REDUCT_ERROR_ARGUMENT);
    assert_memory_equal(error.message, "offsets: address", 16);
    reduct_plan_destroy(plan);
}

/* Outcomes of a plan of one whole array. */
static void whole_outcomes(void **state) {
    (void)state;
    const double x[3] = {1, (double)NAN, 2};
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64, .nan = REDUCT_NAN_ERROR};
    const reduct_plan_options options = {.reductions = &sum, .reduction_count = 1, .shape = {.n = 3}};
    reduct_plan *plan = NULL;
    double result = -1;
    reduct_outcome outcome;
    test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
    test_status(reduct_plan_execute_each(plan, (const void *[]){x}, (void *[]){&result}, (reduct_outcome *[]){&outcome},
                                         NULL, NULL),
                REDUCT_OK);
    assert_true(result != result && outcome.status == REDUCT_ERROR_NAN && outcome.index == 1);
    result = -1;
    test_status(reduct_plan_execute_each(plan, (const void *[]){x}, (void *[]){&result}, (reduct_outcome *[]){NULL},
                                         NULL, NULL),
                REDUCT_ERROR_NAN);
    assert_true(result == -1);
    test_status(reduct_plan_execute_each(plan, (const void *[]){x}, (void *[]){&result}, NULL, NULL, NULL),
                REDUCT_ERROR_ARGUMENT);
    reduct_plan_destroy(plan);
}

/* Segments that follow each other in an array that no cache holds, with outcomes: executed twice each, with right offsets and with
 * some that do not ascend, or lie outside, and then once more with right ones. The oracle is the CPU, whose results are those of others (neighbouring_segments). */
struct ranges {
    int64_t *offsets;
    uint64_t count, elements;
};

static struct ranges choose_ranges(struct rng *rng, uint64_t elements) {
    struct ranges ranges = {test_alloc((elements / 8 + 2) * sizeof *ranges.offsets), 0, elements};
    const uint64_t usual = (uint64_t)16 << rng_below(rng, 8), longest = (uint64_t)1 << rng_below(rng, 24);
    uint64_t at = rng_below(rng, 2) * rng_below(rng, 70);
    if (rng_below(rng, 4) == 0) { /* which are rows */
        for (at = 0; at <= elements / usual; at++)
            ranges.offsets[at] = (int64_t)(at * usual);
        ranges.count = elements / usual;
        return ranges;
    }
    for (ranges.offsets[0] = (int64_t)at; ranges.count < elements / 8 && at < elements;) {
        uint64_t length = rng_below(rng, usual);
        if (rng_below(rng, 2000) == 0)
            length = rng_below(rng, longest + 1);
        at += length < elements - at ? length : elements - at;
        ranges.offsets[++ranges.count] = (int64_t)at;
    }
    return ranges;
}

static void disorder(struct rng *rng, const struct ranges *ranges) {
    for (uint64_t left = 1 + rng_below(rng, 4); left-- > 0;) {
        int64_t *one = &ranges->offsets[rng_below(rng, ranges->count + 1)];
        switch (rng_below(rng, 4)) {
        case 0:
            *one = -1 - (int64_t)rng_below(rng, 100);
            break;
        case 1:
            *one = (int64_t)(ranges->elements + 1 + rng_below(rng, 100));
            break;
        case 2:
            *one = 0;
            break;
        default:
            *one = (int64_t)rng_below(rng, ranges->elements + 1);
        }
    }
}

/* Returns the number of the first segment that is none, or UINT64_MAX. */
static uint64_t execute_ranges(reduct_plan *plan, size_t size, const void *x, const struct ranges *ranges,
                               unsigned char **results, reduct_outcome **outcomes) {
    reduct_error error = {.index = UINT64_MAX};
    *results = test_alloc(ranges->count * size);
    *outcomes = test_alloc(ranges->count * sizeof **outcomes);
    memset(*results, ORACLE_UNTOUCHED, ranges->count * size);
    memset(*outcomes, ORACLE_UNTOUCHED, ranges->count * sizeof **outcomes);
    const reduct_status status =
        reduct_plan_execute_each(plan, (const void *[]){x, ranges->offsets}, (void *[]){*results},
                                 (reduct_outcome *[]){*outcomes}, NULL, &error);
    test_status(status, error.index == UINT64_MAX ? REDUCT_OK : REDUCT_ERROR_ARGUMENT);
    return error.index;
}

static void fill_much(struct rng *rng, const struct test_type *type, void *x, uint64_t elements) {
    const struct distribution *wide = distribution_named("60_binades"),
                              *usual = distribution_named(type->class == FLOAT ? "normal" : "raw");
    (rng_below(rng, 3) || !distribution_suits(wide, type) ? usual : wide)->fill(rng, type, x, NULL, elements);
    if (type->class != FLOAT)
        return;
    if (rng_below(rng, 3))
        fill_by_scales(rng, type, x, elements);
    for (uint64_t i = rng_below(rng, elements); i < elements && rng_below(rng, 3);
         i += 1 + rng_below(rng, elements / 9))
        values_put(type, x, i, rng_below(rng, 2) ? 0x1p-60 : rng_below(rng, 2) ? (double)NAN : HUGE_VAL);
}

static void segments_of_much(void **state) {
    (void)state;
    static const reduct_type TYPES[] = {REDUCT_F32, REDUCT_F64, REDUCT_BF16, REDUCT_F16, REDUCT_I32,
                                        REDUCT_F32, REDUCT_F64, REDUCT_BF16, REDUCT_F16, REDUCT_U8};
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = test_devices(devices);
    const uint64_t bytes = test_scaled(64 << 20, 256 << 10); /* of a full test: more than a GPU's L2 cache holds */
    struct rng rng = rng_of(test_seed() + 12);
    unsigned char *x = test_alloc(bytes);
    for (uint64_t round = 0, rounds = test_scaled(24, 4); round < rounds; round++) {
        const struct test_type *type = test_type(TYPES[round % (sizeof TYPES / sizeof *TYPES)]);
        const uint64_t elements = bytes / type->size;
        const reduct_operator op =
            round / 2 % 2 && type->class == FLOAT ? REDUCT_SUM : operator_of_neighbours(&rng, type);
        const reduct_reduction reduction = {
            .op = op, .element = type->type, .result = oracle_default_result(op, type->type)};
        const size_t size = test_type(reduction.result)->size;
        const char *device = devices[rng_below(&rng, device_count)];
        struct ranges ranges = choose_ranges(&rng, elements);
        int64_t *right = test_alloc((ranges.count + 1) * sizeof *right);
        memcpy(right, ranges.offsets, (ranges.count + 1) * sizeof *right);
        const reduct_segments parts = {.count = ranges.count, .elements = elements, .index = REDUCT_I64};
        reduct_plan_options options = {
            .reductions = &reduction, .reduction_count = 1, .kind = REDUCT_SEGMENTS, .segments = &parts};
        reduct_plan *on_device = NULL, *on_cpu = NULL;
        fill_much(&rng, type, x, elements);
        test_status(reduct_plan_create(&options, &on_cpu, NULL), REDUCT_OK);
        options.device = device;
        test_status(reduct_plan_create(&options, &on_device, NULL), REDUCT_OK);
        for (int time = 0; time < 5; time++) {
            unsigned char *results[2];
            reduct_outcome *outcomes[2];
            if (time == 2)
                disorder(&rng, &ranges);
            if (time == 4)
                memcpy(ranges.offsets, right, (ranges.count + 1) * sizeof *right);
            const uint64_t wrong = execute_ranges(on_cpu, size, x, &ranges, &results[0], &outcomes[0]);
            if (execute_ranges(on_device, size, x, &ranges, &results[1], &outcomes[1]) != wrong)
                test_fail("%s: another segment than number %llu is none", device, (unsigned long long)wrong);
            for (uint64_t r = 0; r < ranges.count; r++)
                if (memcmp(results[0] + r * size, results[1] + r * size, size) ||
                    memcmp(&outcomes[0][r], &outcomes[1][r], sizeof **outcomes))
                    test_fail("%s of %s on %s, execution %d: segment %llu of %llu, %lld to %lld",
                              reduct_operator_name(reduction.op), type->name, device, time, (unsigned long long)r,
                              (unsigned long long)ranges.count, (long long)ranges.offsets[r],
                              (long long)ranges.offsets[r + 1]);
            for (int i = 0; i < 2; i++) {
                free(results[i]);
                free(outcomes[i]);
            }
        }
        reduct_plan_destroy(on_cpu);
        reduct_plan_destroy(on_device);
        free(ranges.offsets);
        free(right);
    }
    free(x);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(arrays),
                                       cmocka_unit_test(segments),
                                       cmocka_unit_test(rows_and_columns),
                                       cmocka_unit_test(columns_of_few),
                                       cmocka_unit_test(several),
                                       cmocka_unit_test(large),
                                       cmocka_unit_test(cut_results),
                                       cmocka_unit_test(one_long_segment),
                                       cmocka_unit_test(refused_plans),
                                       cmocka_unit_test(refused_segments),
                                       cmocka_unit_test(whole_outcomes),
                                       cmocka_unit_test(long_rows_and_columns),
                                       cmocka_unit_test(long_segments),
                                       cmocka_unit_test(large_terms_of_pieces),
                                       cmocka_unit_test(negative_zeros),
                                       cmocka_unit_test(halves_that_fill_digits),
                                       cmocka_unit_test(columns_far_apart),
                                       cmocka_unit_test(neighbouring_segments),
                                       cmocka_unit_test(segments_that_are_rows),
                                       cmocka_unit_test(rows_of_extremes),
                                       cmocka_unit_test(rows_in_few_additions),
                                       cmocka_unit_test(rows_beside_ties),
                                       cmocka_unit_test(digits_of_neighbours),
                                       cmocka_unit_test(results_between_two),
                                       cmocka_unit_test(segments_between_two),
                                       cmocka_unit_test(segments_of_much)};
    if (argc > 1 && argv[1][0] != '-') /* tools say --quick to all programs */
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
