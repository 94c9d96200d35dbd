/* Answers by sums that are close to the exact ones.
 *
 * A norm, a dot product or a variance is rounded to so few bits that a sum which is known to lie between two numbers is as good as an exact
 * one, if both of these round to the same result. Kernels make such sums in less than half of the time (cpu/kernels/close.h), and say how
 * far they may be from the truth: of doubles so little that the two ends round apart in less than one of some ten thousand sums, or where
 * terms cancel to less than 2^-25 of their size. Then the exact way is taken after all. Bits are the same either way (A. Ziv, "Fast
 * evaluation of elementary mathematical functions with correctly rounded last bit", 1991). */
#include "cpu/answer.h"

#include "arithmetic/element.h"
#include "core/environment.h"
#include "core/reduction.h"
#include "cpu/call.h"
#include "family/family.h"

#include <math.h>
#include <string.h>

/* Elements that are looked at for a unit; terms as large as those are below 2^HEAD units, and as much larger as 2^51 leaves room for. Coarse
 * sums, which are good for results of so many bits, have smaller units, of which runs hold fewer terms. A unit that is found too small is
 * raised so many times, by so many bits. Sums have PLACES bits below a unit. */
enum {
    SAMPLED = 32,
    HEAD = 38,
    COARSE_HEAD = 42,
    COARSE_RUN = RD_CLOSE / 4,
    COARSE_PRECISION = 24,
    RAISES = 2,
    RAISED_BY = 12,
    UNIT_MOST = 900,
    PLACES = 30
};

/* A sum, of the last place of the first unit, and how far it may be from the truth. */
struct near {
    rd_i128 sum;
    double slack;
};

struct closing {
    struct rd_call call; /* first, as that is what threads are given */
    struct rd_partial shape;
    enum rd_transform transform;
    reduct_type element;
    bool coarse;
    int sums, unit[2]; /* of moments: of the elements, then of the squares */
    struct near total[2];
    atomic_bool lost;
};

static bool is_moments(const struct closing *closing) {
    return closing->sums == 2;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Adding
 * ------------------------------------------------------------------------------------------------------------------ */

/* Whether a unit for terms as large as one is among those that kernels take. */
static bool find_unit(double largest, bool coarse, int *unit) {
    int exponent;
    if (!(largest > 0 && largest < INFINITY))
        return false;
    frexp(largest, &exponent);
    *unit = exponent - (coarse ? COARSE_HEAD : HEAD);
    return *unit >= -UNIT_MOST && *unit <= UNIT_MOST - RAISES * RAISED_BY;
}

/* Whether squares less the square of the sum leave no more than so much of them, as of numbers that lie close together. */
static bool cancels(double sum, double squares, double left) {
    return squares * SAMPLED * (1 - left) <= sum * sum;
}

/* Units for what a sample shows. False where it shows that no bracket would do: of nothing but zeros, and of variances that cancel too much. */
static bool find_units(struct closing *closing) {
    const struct rd_call *call = &closing->call;
    double element = 0, product = 0, sum = 0, squares = 0;
    for (uint64_t i = 0; i < SAMPLED; i++) {
        const uint64_t at = call->count / SAMPLED * i;
        const double value = rd_element_value(closing->element, call->x, at), x = __builtin_fabs(value),
                     y = call->y ? __builtin_fabs(rd_element_value(closing->element, call->y, at)) : x;
        element = x > element ? x : element;
        product = x * y > product ? x * y : product;
        sum += value;
        squares += x * x;
    }
    if (is_moments(closing) && cancels(sum, squares, closing->coarse ? 0x1p-12 : 0x1p-20))
        return false;
    return find_unit(product, closing->coarse, &closing->unit[closing->sums - 1]) &&
           (!is_moments(closing) || find_unit(element, closing->coarse, &closing->unit[0]));
}

/* Adds what some elements came to, in a unit that may have been raised; false if that is too much. */
static bool add_found(struct near *near, const struct rd_close *found, int unit, int first) {
    const double places = ldexp(found->rest, PLACES - unit), whole = rint(places); /* below 2^51 */
    const rd_i128 sum = found->units * ((rd_i128)1 << PLACES) + (rd_i128)whole;
    near->slack += found->slack + (whole == places ? 0 : ldexp(1, unit - PLACES - 1));
    return !__builtin_add_overflow(near->sum, sum * ((rd_i128)1 << (unit - first)), &near->sum);
}

/* Adds at most RD_CLOSE elements, with units that may have to be raised, once more than what is found too small. */
static bool add_some(const struct closing *closing, struct near *near, const struct rd_range *range, int *raised) {
    struct rd_close found[2];
    for (; *raised <= RAISES * RAISED_BY; *raised += RAISED_BY) {
        const int unit[2] = {closing->unit[0] + *raised, closing->unit[1] + *raised};
        if (!closing->call.kernels->close[closing->element](closing->transform, closing->coarse, range->x, range->y,
                                                            (size_t)range->count, unit, found))
            continue;
        bool held = true;
        for (int s = 0; s < closing->sums; s++)
            held = add_found(&near[s], &found[s], unit[s], closing->unit[s]) && held;
        return held;
    }
    return false;
}

static bool add_range(const struct closing *closing, struct near *near, struct rd_range range, int *raised) {
    const uint64_t count = range.count, most = closing->coarse ? COARSE_RUN : RD_CLOSE;
    const size_t bytes = rd_type(closing->element)->bytes;
    for (uint64_t done = 0; done < count; done += range.count) {
        range.count = count - done < most ? count - done : most;
        if (!add_some(closing, near, &range, raised))
            return false;
        range.x += range.count * bytes;
        range.y = range.y ? range.y + range.count * bytes : NULL;
    }
    return true;
}

/* What each thread does. */
static void add_closely(struct rd_call *call) {
    struct closing *closing = (struct closing *)call;
    struct rd_turn turn = rd_call_turn(call);
    struct rd_range range;
    struct near near[2] = {{0, 0}, {0, 0}};
    int raised = 0;
    bool held = true;
    while (held && !atomic_load_explicit(&closing->lost, memory_order_relaxed) && rd_call_next(call, &turn, &range))
        held = add_range(closing, near, range, &raised);
    rd_call_lock(call);
    for (int s = 0; s < closing->sums; s++) {
        held = !__builtin_add_overflow(closing->total[s].sum, near[s].sum, &closing->total[s].sum) && held;
        closing->total[s].slack += near[s].slack;
    }
    rd_call_unlock(call);
    if (!held)
        atomic_store_explicit(&closing->lost, true, memory_order_relaxed);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Answering
 * ------------------------------------------------------------------------------------------------------------------ */

/* Where a sum lies: from low to high, times 2^exponent. */
struct bracket {
    rd_i128 low, high;
    int exponent;
};

static bool find_bracket(const struct closing *closing, int s, struct bracket *bracket) {
    const struct near *near = &closing->total[s];
    bracket->exponent = closing->unit[s] - PLACES;
    /* A little more, as slacks were rounded when they were added up. */
    const double places = near->slack == 0 ? 0 : ceil(ldexp(near->slack * (1 + 0x1p-30), -bracket->exponent)) + 1;
    return places < 0x1p126 && !__builtin_sub_overflow(near->sum, (rd_i128)places, &bracket->low) &&
           !__builtin_add_overflow(near->sum, (rd_i128)places, &bracket->high);
}

/* An integer times 2^exponent, in a layout for no more. */
static void to_sum(rd_i128 value, int exponent, struct rd_sum *sum) {
    sum->first = exponent >> 5;
    sum->length = 7;
    sum->pending = 0;
    memset(sum->limb, 0, (size_t)sum->length * sizeof *sum->limb);
    rd_sum_add(sum, value, exponent);
}

/* The result that a sum, or moments, would have. */
static uint64_t finish(const struct closing *closing, rd_i128 value, rd_i128 of_squares) {
    const reduct_reduction *reduction = &closing->shape.reduction;
    struct rd_sum sum, squares;
    to_sum(value, closing->unit[0] - PLACES, &sum);
    if (is_moments(closing))
        to_sum(of_squares, closing->unit[1] - PLACES, &squares);
    return rd_cpu_finish_sums(reduction, closing->call.count, &sum, is_moments(closing) ? &squares : NULL);
}

/* Products, and what is made of squares: zero has a sign, which is another question, and a root has none of what is negative. */
static bool finish_products(const struct closing *closing, uint64_t *bits) {
    struct bracket sum;
    if (!find_bracket(closing, 0, &sum) || !(sum.low > 0 || (sum.high < 0 && closing->transform == RD_TIMES)))
        return false;
    *bits = finish(closing, sum.low, 0);
    return sum.low == sum.high || finish(closing, sum.high, 0) == *bits;
}

/* Variances, the greater the more the squares are and the less the sum is. What cancels for the most part is left to the exact way, so
 * that no end is negative. */
static bool finish_moments(const struct closing *closing, uint64_t *bits) {
    struct bracket sum, squares;
    if (!find_bracket(closing, 0, &sum) || !find_bracket(closing, 1, &squares) || squares.low <= 0)
        return false;
    const rd_i128 low = sum.low < 0 ? -sum.low : sum.low, high = sum.high < 0 ? -sum.high : sum.high,
                  far = low > high ? low : high,
                  near = (sum.low < 0) != (sum.high < 0) ? 0
                         : low < high                    ? low
                                                         : high;
    const double least = ldexp((double)squares.low, squares.exponent) * (double)closing->call.count,
                 square = ldexp((double)far, sum.exponent) * ldexp((double)far, sum.exponent);
    if (!(least * (1 - 0x1p-20) > square && least < INFINITY))
        return false;
    *bits = finish(closing, far, squares.low);
    return (far == near && squares.low == squares.high) || finish(closing, near, squares.high) == *bits;
}

/* Whether all elements have been added. */
static bool add_all(struct closing *closing) {
    closing->total[0] = closing->total[1] = (struct near){0, 0};
    rd_environment caller = rd_environment_enter();
    const bool found = find_units(closing);
    rd_environment_leave(caller);
    if (!found)
        return false;
    atomic_init(&closing->lost, false);
    rd_call_plan(&closing->call, RD_EXACT_SUM);
    struct rd_room *room = closing->call.threads > 1 ? rd_room_take() : NULL;
    closing->call.threads = room ? closing->call.threads : 1;
    closing->call.own = room;
    rd_call_share(&closing->call, add_closely);
    if (room)
        rd_room_give(room);
    return !atomic_load(&closing->lost) && !rd_team_stops(&closing->call.crew);
}

static bool finish_all(const struct closing *closing, uint64_t *bits) {
    rd_environment caller = rd_environment_enter();
    const bool done = is_moments(closing) ? finish_moments(closing, bits) : finish_products(closing, bits);
    rd_environment_leave(caller);
    return done;
}

bool rd_cpu_answer_closely(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count,
                           void *result) {
    const reduct_reduction *reduction = &prepared->reduction;
    const struct rd_type *type = rd_type(reduction->result);
    struct closing closing;
    uint64_t bits;
    closing.shape.reduction = *reduction; /* all that is looked at */
    rd_call_open(&closing.call, prepared, x, y, count, &closing.shape);
    closing.transform = rd_operator(reduction->op)->transform;
    closing.element = reduction->element;
    closing.sums = closing.transform == RD_MOMENTS ? 2 : 1;
    closing.unit[1] = 0;
    closing.coarse = closing.element != REDUCT_F64 && type->precision <= COARSE_PRECISION;
    /* Of narrow elements two sums that are not coarse take as long as the exact ones. */
    const bool refines = closing.element == REDUCT_F64 || !is_moments(&closing);
    if (!closing.coarse && !refines)
        return false;
    bool added = add_all(&closing), done = added && finish_all(&closing, &bits);
    if (added && !done && closing.coarse && refines) {
        closing.coarse = false;
        done = add_all(&closing) && finish_all(&closing, &bits);
    }
    if (done)
        rd_store(result, bits, type->bytes);
    return done;
}
