/* Exact sums on the CPU: of floats through windows (cpu/kernels.h), of integers as they are. */
#include "cpu/call.h"

#include "arithmetic/element.h"
#include "core/environment.h"

/* Whether term i of a range of floats, an element or a product, is anything but -0. A NaN that is ignored is no term.
 */
static bool is_nonzero(const struct rd_range *range, uint64_t i, reduct_type element, bool ignore_nan) {
    if (ignore_nan && rd_range_nan(range, i, element))
        return false;
    double x = rd_element_value(element, range->x, i), y = range->y ? rd_element_value(element, range->y, i) : 1;
    return (x != 0 && y != 0) || !__builtin_signbit(x) == !__builtin_signbit(y);
}

/* Looks for a term that is not -0, most often the first one. */
static void find_nonzero(struct rd_partial *partial, const struct rd_range *range) {
    bool ignore = partial->reduction.nan == REDUCT_NAN_IGNORE;
    for (uint64_t i = 0; i < range->count && !partial->nonzero; i++)
        partial->nonzero = is_nonzero(range, i, partial->reduction.element, ignore);
}

static void window_init(struct rd_window *w, int lowest, struct rd_sum *sum) {
    w->level = RD_CLOSED;
    w->lowest = lowest;
    w->added = w->held = w->after = 0;
    w->sum = sum;
}

/* `block`: six arrays of so many doubles. */
static void scratch_init(struct rd_scratch *s, struct rd_partial *partial, double *block, size_t length,
                         struct rd_bins *bins) {
    const struct rd_operator *op = rd_operator(partial->reduction.op);
    bool two = op->transform == RD_MOMENTS || op->transform == RD_WEIGHTED;
    bool elements = two || op->transform == RD_IDENTITY || op->transform == RD_ABSOLUTE;
    s->partial = partial;
    /* Elements of at most 24 bits mostly fit one slice; 53-bit elements and all products need two. */
    window_init(&s->terms, elements && partial->reduction.element != REDUCT_F64 ? 1 : 2, &partial->sum);
    window_init(&s->squares, 2, &partial->squares);
    window_init(&s->errors, 2, two ? &partial->squares : &partial->sum);
    for (int i = 0; i < 2; i++, block += 3 * length) {
        s->tail[i] = block;
        s->clean[i] = block + length;
        s->product[i] = block + 2 * length;
    }
    s->bins = bins;
    s->elements_ready = s->products_ready = false;
}

bool rd_cpu_add_briefly(const struct rd_call *call) {
    struct rd_partial *total = call->total;
    enum rd_transform transform = rd_operator(total->reduction.op)->transform;
    bool absolute = transform == RD_ABSOLUTE;
    double high, low;
    if (call->count > RD_BRIEF || !(absolute || transform == RD_IDENTITY))
        return false;
    rd_environment caller = rd_environment_enter();
    bool held = call->kernels->brief[total->reduction.element](call->x, call->count, absolute, &high, &low);
    if (held) {
        rd_sum_add_double(&total->sum, high, 0);
        rd_sum_add_double(&total->sum, low, 0);
        find_nonzero(total, &(struct rd_range){call->x, NULL, 0, call->count});
    }
    rd_environment_leave(caller);
    return held;
}

static void add_exactly(const struct rd_call *call, struct rd_scratch *scratch, const struct rd_range *range) {
    struct rd_partial *partial = scratch->partial;
    enum rd_transform transform = rd_operator(partial->reduction.op)->transform;
    reduct_type element = partial->reduction.element;
    uint64_t nans = partial->nans;
    find_nonzero(partial, range);
    const size_t bytes = rd_element_size(partial);
    scratch->beyond = (size_t)(call->x - range->x) + (size_t)(call->count - range->count) * bytes;
    call->kernels->add[element](scratch, transform, range->x, range->y, range->count);
    if (partial->nans > nans && partial->reduction.nan == REDUCT_NAN_ERROR)
        rd_note_nan(partial, rd_first_nan(range, element));
}

void rd_cpu_add_exactly(struct rd_call *call) {
    struct rd_scratch scratch;
    struct rd_range range;
    struct rd_turn turn = rd_call_turn(call);
    struct rd_room *room = rd_call_enter(call);
    if (!room)
        return;
    struct rd_partial *partial = rd_call_begin_part(call, &room->partial);
    scratch_init(&scratch, partial, room->block[0], RD_BLOCK, &room->bins);
    while (rd_call_next(call, &turn, &range))
        add_exactly(call, &scratch, &range);
    call->kernels->finish(&scratch);
    rd_call_end_part(call, partial);
    rd_call_leave(call, room);
}

void rd_cpu_add_few_exactly(struct rd_call *call) {
    _Alignas(64) double block[6][RD_SHORT];
    struct rd_scratch scratch;
    struct rd_range range = {call->x, call->y, 0, call->count};
    scratch_init(&scratch, call->total, block[0], RD_SHORT, NULL);
    add_exactly(call, &scratch, &range);
    call->kernels->finish(&scratch);
}

void rd_cpu_add_integers(struct rd_call *call) {
    struct rd_partial part, *partial = rd_call_begin_part(call, &part);
    struct rd_range range;
    struct rd_turn turn = rd_call_turn(call);
    reduct_type element = call->total->reduction.element;
    enum rd_transform transform = rd_operator(call->total->reduction.op)->transform;
    while (rd_call_next(call, &turn, &range))
        call->kernels->add_integer[element](partial, transform, range.x, range.y, range.count);
    rd_call_end_part(call, partial);
}
