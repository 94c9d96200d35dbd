/* Several reductions of one array in one pass: see several.h. */
#include "cuda/several.h"

#include "core/reduction.h"
#include "core/status.h"

#include <stdio.h>

/* What follows from sums of elements and of squares, from extremes, and from how many NaNs there are. */
static bool follows(const reduct_reduction *reduction) {
    const struct rd_operator *op = rd_operator(reduction->op);
    switch (rd_family(reduction)) {
    case RD_EXACT_SUM:
    case RD_FAST_SUM: /* as plans of many have it: exact */
    case RD_INTEGER_SUM:
        return op->transform == RD_IDENTITY || op->transform == RD_SQUARE || op->transform == RD_MOMENTS;
    case RD_EXTREME:
        return op->transform == RD_IDENTITY;
    case RD_COUNT:
        return op->transform == RD_PRESENT;
    case RD_FLOAT_PRODUCT:
    case RD_INTEGER_PRODUCT:
    case RD_BITS:
        break;
    }
    return false;
}

/* One result of a contiguous array. */
static bool is_whole(const struct rd_many *many) {
    const struct rd_layout *layout = &many->layout;
    if (rd_many_is_segmented(many) || rd_many_is_grouped(many) || many->mask || layout->kept_axes ||
        layout->results != 1)
        return false;
    return layout->reduced_axes == 0 || (layout->reduced_axes == 1 && layout->reduced[0].stride[0] == 1);
}

bool rd_cuda_several_may_take(const struct rd_many *many, size_t which) {
    return is_whole(many) && follows(&many->reduction[which]);
}

/* Places are kept in 32 bits. Pieces meet in one word for each end, which has no room for a place beside 64 bits. */
bool rd_cuda_together_may_take(const struct rd_many *many, size_t which, uint64_t pieces) {
    const reduct_reduction *reduction = &many->reduction[which];
    const struct rd_type *element = rd_type(reduction->element);
    const uint64_t most = rd_many_is_segmented(many) ? many->segments.elements : many->layout.count;
    if (is_whole(many) || rd_many_is_grouped(many) || many->mask || element->kind != RD_FLOAT || !follows(reduction))
        return false;
    return rd_operator(reduction->op)->finish != RD_INDEX || (most < UINT32_MAX && (pieces == 1 || element->bytes < 8));
}

/* Kernels of floats come with squares and without; both types of 16 bits share one, which takes them as f32. */
static struct rd_cuda_several_kernels kernels_of(const struct rd_type *element, bool squares) {
    struct rd_cuda_several_kernels kernels = {.halves = element->kind == RD_FLOAT && element->bytes == 2};
    const bool is_float = element->kind == RD_FLOAT;
    snprintf(kernels.image, sizeof kernels.image, is_float ? "kernels/several" : "kernels/several_integers");
    if (is_float)
        snprintf(kernels.pass, sizeof kernels.pass, "several_%s_%s", squares ? "moments" : "identity",
                 kernels.halves ? "half" : element->name);
    else
        snprintf(kernels.pass, sizeof kernels.pass, "several_%s", element->name);
    snprintf(kernels.answers, sizeof kernels.answers, "answers_%s",
             !is_float        ? "integers"
             : kernels.halves ? "f32"
                              : element->name);
    return kernels;
}

reduct_status rd_cuda_several_prepare(struct rd_cuda_context *context, const struct rd_many *many,
                                      struct rd_cuda_several *several, reduct_error *error) {
    const struct rd_type *element = rd_type(many->reduction[0].element);
    bool squares = false;
    for (size_t i = 0; i < many->reductions; i++) {
        const enum rd_transform transform = rd_operator(many->reduction[i].op)->transform;
        squares = squares || (rd_cuda_several_may_take(many, i) && (transform == RD_SQUARE || transform == RD_MOMENTS));
    }
    const struct rd_cuda_several_kernels kernels = kernels_of(element, squares);
    reduct_status status =
        rd_cuda_launch_make_several(context, many->reduction[0].element, &kernels, squares, &several->launch, error);
    if (status == REDUCT_OK)
        status = rd_cuda_kernel(context, kernels.image, kernels.answers, &several->answers, error);
    several->launch.call.count = many->layout.count;
    several->there = status == REDUCT_OK;
    if (several->there)
        rd_cuda_stand_ins_reserve(context);
    return status;
}

static struct rd_cuda_several_room *room_of(const struct rd_cuda_several *several, void *table) {
    return (struct rd_cuda_several_room *)((unsigned char *)table + several->place);
}

rd_cu_result rd_cuda_several_read(const struct rd_cuda_several *several, const void *x, void *table, bool own,
                                  bool follows, rd_cu_stream stream) {
    struct rd_cuda_several_room *room = room_of(several, table);
    struct rd_cuda_launch launch = several->launch;
    launch.overlaps = launch.overlaps && follows;
    launch.call.x = x;
    launch.call.workspace = &room->workspace;
    launch.call.partial = &room->findings.partial;
    return own ? rd_cuda_launch_start(&launch, &launch.call, stream)
               : rd_cuda_launch_in(&launch, &launch.call, &room->workspace, stream);
}

void rd_cuda_answer_add(struct rd_cuda_rounding *rounding, const struct rd_many *many, size_t which, void *result,
                        struct rd_cuda_outcome *outcome, uint64_t *failure, bool dense) {
    struct rd_cuda_answer *answer = &rounding->answers.answer[rounding->count];
    answer->call = rd_cuda_describe(&many->reduction[which]);
    answer->call.count = many->layout.count;
    answer->call.result = result;
    answer->call.outcome = outcome;
    answer->failure = failure;
    rounding->dense |= (uint32_t)dense << rounding->count++;
}

rd_cu_result rd_cuda_several_answer(const struct rd_cuda_several *several, const struct rd_many *many, size_t which,
                                    void *result, struct rd_cuda_outcome *outcome, uint64_t *failure,
                                    struct rd_cuda_rounding *rounding, void *table, rd_cu_stream stream) {
    rd_cuda_answer_add(rounding, many, which, result, outcome, failure, false);
    return rounding->count == RD_CUDA_ANSWERS ? rd_cuda_several_round(several, rounding, table, stream) : RD_CU_SUCCESS;
}

rd_cu_result rd_cuda_several_round(const struct rd_cuda_several *several, struct rd_cuda_rounding *rounding,
                                   void *table, rd_cu_stream stream) {
    const unsigned count = rounding->count;
    if (!count)
        return RD_CU_SUCCESS;
    rounding->count = 0;
    rounding->dense = 0;
    rounding->answers.findings = &room_of(several, table)->findings;
    return rd_cuda_start_kernel(several->launch.context->device->driver, several->answers,
                                several->launch.overlaps && rounding->follows, count, RD_CUDA_THREADS, 0, stream,
                                &rounding->answers);
}
