/* Results of what is pending on a CUDA device: numerals become planes of a window (kernels/groups.h), and the kernels of plans over groups round
 * these. What that takes is memory for the planes; where they do not hold all bits, a result fails whose outcome nobody asks for, or
 * anything else does, results come from the cells. */
#include "cuda/pending.h"

#include "core/environment.h"
#include "core/reduction.h"
#include "cpu/numbers.h"
#include "cuda/owner.h"

#include <string.h>

/* Of so many groups at least one in so many must be asked for: fewer are soon asked for again, and brought home once. */
enum { ONE_IN = 4 };

/* An answer under way. */
struct answer {
    struct rd_cuda_context *context;
    const rd_cuda_driver *driver;
    const struct rd_table_question *question;
    const struct rd_cuda_numbers *numbers;
    struct rd_cuda_groups_pass pass;
    rd_cu_address memory; /* the pass's workspace, then the results, their outcomes, and a failure */
    size_t result_bytes, outcome_bytes, results_at, outcomes_at, failure_at;
};

/* The pass that would have left such planes, if none of its groups has more elements than any here. */
static bool prepare(struct answer *answer) {
    const uint64_t results = answer->question->count;
    reduct_reduction reduction = answer->question->reduction;
    reduction.mode = REDUCT_EXACT;
    const struct rd_many many = {
        .reductions = 1,
        .reduction = &reduction,
        .layout.results = results,
        .groups = {.count = results, .elements = answer->numbers->extent.count, .index = REDUCT_U32, .width = 1}};
    return rd_cuda_groups_prepare(answer->context, &many, 0, false, &answer->pass, NULL) == REDUCT_OK;
}

/* Where a field's window begins, which of integers is at 1. False where it does not reach as far as the field. */
static bool find_unit(const struct answer *answer, unsigned field, int32_t *unit) {
    const struct rd_cuda_groups_pass *pass = &answer->pass;
    const struct rd_cuda_extent *extent = &answer->numbers->extent;
    const bool zero = extent->low[field] > extent->high[field];
    const int32_t bits = (int32_t)(pass->scan[field].grid.window_planes * pass->groups.step);
    *unit = zero || !pass->floats ? 0 : extent->low[field];
    return zero || extent->high[field] - *unit <= bits;
}

static void *at(const struct answer *answer, size_t place) {
    return (void *)(uintptr_t)(answer->memory + place);
}

static bool describe(const struct answer *answer, struct rd_cuda_numeral_planes *planes) {
    const struct rd_cuda_groups_pass *pass = &answer->pass;
    *planes = (struct rd_cuda_numeral_planes){.groups = answer->numbers->groups,
                                              .first = answer->question->first,
                                              .results = answer->question->count,
                                              .from = (const uint64_t *)(uintptr_t)answer->numbers->words,
                                              .form = answer->numbers->form,
                                              .counted = pass->counted == SIZE_MAX ? NULL : at(answer, pass->counted),
                                              .scans = pass->scans,
                                              .step = pass->groups.step};
    for (unsigned s = 0; s < pass->scans; s++) {
        planes->to[s].header = at(answer, pass->scan[s].header);
        planes->to[s].plane = at(answer, pass->scan[s].window);
        planes->to[s].planes = pass->scan[s].grid.window_planes;
        if (!find_unit(answer, s, &planes->to[s].unit))
            return false;
    }
    return true;
}

static size_t round_up(size_t bytes) {
    return (bytes + 255) / 256 * 256;
}

/* Queues that results go where they are wanted. */
static rd_cu_result deliver(const struct answer *answer) {
    _Static_assert(sizeof(struct rd_cuda_outcome) == sizeof(reduct_outcome), "outcomes are copied");
    const rd_cuda_driver *driver = answer->driver;
    const rd_cu_address from = answer->memory + answer->results_at;
    void *to = answer->question->results;
    const rd_cu_result result =
        rd_cuda_on_device(answer->context->device, to)
            ? driver->cuMemcpyDtoDAsync((rd_cu_address)(uintptr_t)to, from, answer->result_bytes, NULL)
            : driver->cuMemcpyDtoHAsync(to, from, answer->result_bytes, NULL);
    return result == RD_CU_SUCCESS && answer->outcome_bytes
               ? driver->cuMemcpyDtoHAsync(answer->question->outcomes, answer->memory + answer->outcomes_at,
                                           answer->outcome_bytes, NULL)
               : result;
}

/* Queues all, and waits. Results are where they are wanted when it is known that none fails, or that each has an outcome. */
static bool run(const struct answer *answer, rd_cu_function function, struct rd_cuda_numeral_planes *planes) {
    const rd_cuda_driver *driver = answer->driver;
    const uint64_t results = answer->question->count,
                   most = (uint64_t)answer->context->device->multiprocessors * RD_CUDA_GROUPS_FINISH_BLOCKS;
    const uint64_t blocks = rd_divide_up(results, RD_CUDA_THREADS);
    const struct rd_cuda_groups_addresses addresses = {
        .result = at(answer, answer->results_at),
        .outcome = answer->outcome_bytes ? at(answer, answer->outcomes_at) : NULL,
        .failure = at(answer, answer->failure_at),
        .workspace = at(answer, 0)};
    uint64_t failure = 0;
    rd_cu_result result = driver->cuMemsetD8Async(answer->memory, 0, answer->pass.zero_bytes, NULL);
    if (result == RD_CU_SUCCESS)
        result = driver->cuMemsetD8Async(answer->memory + answer->failure_at, 0xff, sizeof failure, NULL);
    if (result == RD_CU_SUCCESS)
        result = rd_cuda_start_kernel(driver, function, false, (unsigned)(blocks < most ? blocks : most),
                                      RD_CUDA_THREADS, 0, NULL, planes);
    if (result == RD_CU_SUCCESS)
        result = rd_cuda_groups_finish(&answer->pass, &addresses, NULL);
    if (result == RD_CU_SUCCESS)
        result = driver->cuMemcpyDtoHAsync(&failure, answer->memory + answer->failure_at, sizeof failure, NULL);
    if (driver->cuStreamSynchronize(NULL) != RD_CU_SUCCESS || result != RD_CU_SUCCESS ||
        (failure != UINT64_MAX && !answer->outcome_bytes))
        return false;
    result = deliver(answer);
    return driver->cuStreamSynchronize(NULL) == RD_CU_SUCCESS && result == RD_CU_SUCCESS;
}

/* With the context current. */
static bool finish(struct answer *answer, const struct rd_cells *cells) {
    struct rd_cuda_numeral_planes planes;
    rd_cu_function function;
    if (!prepare(answer))
        return false;
    answer->result_bytes = (size_t)answer->question->count * rd_result_size(&answer->question->reduction);
    answer->results_at = round_up(answer->pass.zero_bytes);
    answer->outcome_bytes = answer->question->outcomes ? (size_t)answer->question->count * sizeof(reduct_outcome) : 0;
    answer->outcomes_at = answer->results_at + round_up(answer->result_bytes);
    answer->failure_at = answer->outcomes_at + round_up(answer->outcome_bytes);
    const char *kernel = cells->fields == 2 ? "planes_two" : "planes_one";
    if (!describe(answer, &planes) || /* before there is memory for it */
        rd_cuda_kernel(answer->context, "kernels/numerals", kernel, &function, NULL) != REDUCT_OK ||
        answer->driver->cuMemAlloc(&answer->memory, answer->failure_at + sizeof(uint64_t)) != RD_CU_SUCCESS)
        return false;
    describe(answer, &planes);
    const bool done = run(answer, function, &planes);
    answer->driver->cuMemFree(answer->memory);
    return done;
}

bool rd_cuda_pending_answer(const reduct_table *table, const struct rd_table_question *question) {
    const struct rd_cuda_pending *pending = rd_cuda_pending_of(table);
    const struct rd_cuda_numbers *numbers = rd_cuda_pending_all(table, pending->context);
    const int owner = rd_cuda_owner(question->results);
    struct rd_cuda_stay stay;
    if (!numbers || !question->count || question->count < table->groups / ONE_IN ||
        (owner >= 0 && owner != pending->context->device->ordinal))
        return false;
    rd_environment caller = rd_environment_enter();
    bool done = rd_cuda_enter_context(pending->context, &stay, NULL) == REDUCT_OK;
    if (done) {
        struct answer answer = {.context = pending->context,
                                .driver = pending->context->device->driver,
                                .question = question,
                                .numbers = &numbers[question->state]};
        done = finish(&answer, &table->cells[question->state]);
        rd_cuda_leave(pending->context->device, &stay);
    }
    rd_environment_leave(caller);
    return done;
}
