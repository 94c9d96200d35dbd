/* Executing: plans and single calls. */
#include "execute.h"

#include "core/plan.h"
#include "core/status.h"
#include "family/family.h"

#include <stdatomic.h>
#include <string.h>

static reduct_status check_input(const char *name, const void *input, bool wanted, uint64_t count, size_t bytes,
                                 reduct_error *error) {
    if (!wanted && input)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: not null, but the operator reads one array", name);
    if (wanted && !input && count)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", name);
    if (wanted && (uintptr_t)input & (bytes - 1))
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: address is not a multiple of the element's %zu bytes", name,
                       bytes);
    return REDUCT_OK;
}

/* Elements have a power of two of bytes, so that nothing is divided here: that would take longer than to add up four. */
reduct_status rd_check_inputs(const reduct_reduction *reduction, const void *x, const void *y, uint64_t count,
                              reduct_error *error) {
    size_t bytes = rd_type(reduction->element)->bytes;
    reduct_status status = check_input("x", x, true, count, bytes, error);
    if (status == REDUCT_OK)
        status = check_input("y", y, rd_operator(reduction->op)->inputs == 2, count, bytes, error);
    if (status == REDUCT_OK && count > (uint64_t)PTRDIFF_MAX >> __builtin_ctzll(bytes))
        status = rd_fail(error, REDUCT_ERROR_TOO_LARGE, "count: %llu elements of %zu bytes exceed an address space",
                         (unsigned long long)count, bytes);
    return status;
}

/* Fails where a NaN was added that is an error. */
static reduct_status check_nan(const struct rd_prepared *prepared, uint64_t first, const struct rd_partial *partial,
                               reduct_error *error) {
    if (prepared->reduction.nan == REDUCT_NAN_ERROR && partial->nan_index != UINT64_MAX)
        return rd_fail_at(error, REDUCT_ERROR_NAN, first + partial->nan_index, "element %llu is NaN",
                          (unsigned long long)(first + partial->nan_index));
    return REDUCT_OK;
}

/* Adds inputs that have been checked. */
static reduct_status accumulate(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count,
                                void *workspace, uint64_t first, struct rd_partial *partial, reduct_error *error) {
    reduct_status status = prepared->device.backend->accumulate(prepared, x, y, count, workspace, partial, error);
    return status == REDUCT_OK ? check_nan(prepared, first, partial, error) : status;
}

reduct_status rd_accumulate_masked(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count,
                                   reduct_mask kind, const void *mask, uint64_t offset, uint64_t first,
                                   struct rd_partial *partial, reduct_error *error) {
    const struct rd_backend *backend = prepared->device.backend;
    if (kind == REDUCT_MASK_NONE && offset)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "offset: %llu; expected 0 without a mask",
                       (unsigned long long)offset);
    if (kind == REDUCT_MASK_NONE)
        return rd_accumulate(prepared, x, y, count, NULL, first, partial, error);
    if (kind != REDUCT_MASK_BYTES && kind != REDUCT_MASK_BITS)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "kind: %d is not a kind of mask", (int)kind);
    if (offset > INT64_MAX - count)
        return rd_fail(error, REDUCT_ERROR_TOO_LARGE, "offset: %llu; expected at most 2^63 entries of the mask in all",
                       (unsigned long long)offset);
    reduct_status status = rd_check_inputs(&prepared->reduction, x, y, count, error);
    if (status == REDUCT_OK)
        status = check_input("mask", mask, true, count, 1, error);
    if (status == REDUCT_OK)
        status = backend->accumulate_masked(prepared, x, y, count, kind, mask, offset, partial, error);
    return status == REDUCT_OK ? check_nan(prepared, first, partial, error) : status;
}

reduct_status rd_accumulate(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count,
                            void *workspace, uint64_t first, struct rd_partial *partial, reduct_error *error) {
    reduct_status status = rd_check_inputs(&prepared->reduction, x, y, count, error);
    return status == REDUCT_OK ? accumulate(prepared, x, y, count, workspace, first, partial, error) : status;
}

/* From data to result in a call of its own, so that what is answered at once has no partial result to make room for. */
static __attribute__((noinline)) reduct_status run_whole(const struct rd_prepared *prepared, const void *x,
                                                         const void *y, uint64_t count, void *workspace, void *result,
                                                         reduct_error *error) {
    struct rd_partial partial;
    rd_partial_init(&partial, &prepared->reduction);
    reduct_status status = accumulate(prepared, x, y, count, workspace, 0, &partial, error);
    return status == REDUCT_OK ? rd_partial_finish(&partial, prepared->reduction.result, result, error) : status;
}

static reduct_status run(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count,
                         void *workspace, void *result, reduct_error *error) {
    const struct rd_backend *backend = prepared->device.backend;
    reduct_status status = rd_check_inputs(&prepared->reduction, x, y, count, error);
    if (status != REDUCT_OK)
        return status;
    if (backend->answer && backend->answer(prepared, x, y, count, result))
        return REDUCT_OK;
    return run_whole(prepared, x, y, count, workspace, result, error);
}

/* A whole array to one result. */
static reduct_status execute_whole(const reduct_plan *plan, const void *const *inputs, void *const *results,
                                   void *workspace, reduct_error *error) {
    bool two = rd_operator(plan->prepared.reduction.op)->inputs == 2;
    return run(&plan->prepared, inputs ? inputs[0] : NULL, inputs && two ? inputs[1] : NULL, plan->count, workspace,
               results[0], error);
}

/* The same with an outcome in place of a failure that depends on the data. */
static reduct_status execute_whole_each(const reduct_plan *plan, const void *const *inputs, void *const *results,
                                        reduct_outcome *outcome, void *workspace, reduct_error *error) {
    reduct_error own = {.index = UINT64_MAX};
    reduct_status status = execute_whole(plan, inputs, results, workspace, &own);
    if (status != REDUCT_OK && status != REDUCT_ERROR_NAN && status != REDUCT_ERROR_OVERFLOW &&
        status != REDUCT_ERROR_EMPTY) {
        if (error)
            *error = own;
        return status;
    }
    if (status != REDUCT_OK)
        rd_store_failed(&plan->prepared.reduction, results[0]);
    *outcome = (reduct_outcome){.status = status, .index = own.index};
    return REDUCT_OK;
}

static reduct_status execute_many(const struct rd_many *many, const void *const *inputs, void *const *results,
                                  reduct_outcome *const *outcomes, reduct_error *error) {
    bool segmented = rd_many_is_segmented(many), grouped = rd_many_is_grouped(many);
    const void *none[5] = {NULL};
    struct rd_execution execution = {.results = results, .outcomes = outcomes};
    uint64_t elements = rd_many_elements(many);
    size_t bytes = rd_type(many->reduction[0].element)->bytes;
    const void *const *bounds = (inputs ? inputs : none) + many->inputs;
    reduct_status status = REDUCT_OK;
    for (unsigned i = 0; status == REDUCT_OK && i < many->inputs; i++) {
        status = check_input(i ? "y" : "x", inputs ? inputs[i] : NULL, true, elements, bytes, error);
        execution.input[i] = inputs ? inputs[i] : NULL;
    }
    if (status == REDUCT_OK && segmented) {
        size_t index = rd_type(many->segments.index)->bytes;
        bool pairs = many->segments.with_ends;
        uint64_t needed = many->layout.results + !pairs; /* one offset more */
        status = check_input(pairs ? "begins" : "offsets", bounds[0], true, needed, index, error);
        if (status == REDUCT_OK && pairs)
            status = check_input("ends", bounds[1], true, needed, index, error);
        execution.begins = bounds[0];
        execution.ends = pairs ? bounds[1] : NULL;
        bounds += pairs ? 2 : 1;
    }
    if (status == REDUCT_OK && grouped) {
        status =
            check_input("indices", bounds[0], true, many->groups.elements, rd_type(many->groups.index)->bytes, error);
        execution.indices = *bounds++;
    }
    if (status == REDUCT_OK && many->mask) {
        status = check_input("mask", bounds[0], true, elements, 1, error);
        execution.mask = *bounds++;
    }
    if (status == REDUCT_OK && grouped && many->groups.with_initial) {
        status = check_input("initial", bounds[0], true, many->layout.results, bytes, error);
        execution.initial = bounds[0];
    }
    return status == REDUCT_OK ? many->state[0].device.backend->execute_many(many, &execution, error) : status;
}

static reduct_status check_execution(const reduct_plan *plan, const void *const *inputs, void *const *results,
                                     const void *workspace, reduct_error *error) {
    if (!plan)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "plan: null pointer");
    if (!inputs && plan->count)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "inputs: null pointer");
    size_t reductions = plan->many ? plan->many->reductions : 1;
    for (size_t i = 0; i < reductions; i++)
        if (!results || (!results[i] && reduct_plan_result_count(plan)))
            return rd_fail(error, REDUCT_ERROR_ARGUMENT, "results: null pointer");
    if ((uintptr_t)workspace % 64)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "workspace: address is not a multiple of 64");
    return REDUCT_OK;
}

reduct_status reduct_plan_execute(const reduct_plan *plan, const void *const *inputs, void *const *results,
                                  void *workspace, reduct_error *error) {
    reduct_status status = check_execution(plan, inputs, results, workspace, error);
    if (status != REDUCT_OK)
        return status;
    return plan->many ? execute_many(plan->many, inputs, results, NULL, error)
                      : execute_whole(plan, inputs, results, workspace, error);
}

reduct_status reduct_plan_execute_each(const reduct_plan *plan, const void *const *inputs, void *const *results,
                                       reduct_outcome *const *outcomes, void *workspace, reduct_error *error) {
    reduct_status status = check_execution(plan, inputs, results, workspace, error);
    if (status != REDUCT_OK)
        return status;
    if (!outcomes)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "outcomes: null pointer");
    if (plan->many)
        return execute_many(plan->many, inputs, results, outcomes, error);
    return outcomes[0] ? execute_whole_each(plan, inputs, results, outcomes[0], workspace, error)
                       : execute_whole(plan, inputs, results, workspace, error);
}

/* Single calls prepare each pair of operator and type once in the life of the process: for four numbers it would take longer than
 * the rest. */
static reduct_status prepare_once(reduct_operator op, reduct_type element, struct rd_prepared *prepared) {
    static struct {
        atomic_int state; /* 0: not here yet, 1: being written, 2: here */
        struct rd_prepared prepared;
    } known[RD_OPERATOR_END][RD_TYPE_END];
    reduct_reduction reduction = {.op = op, .element = element};
    bool listed = rd_operator(op) && rd_type(element);
    int none = 0;
    if (listed && atomic_load_explicit(&known[op][element].state, memory_order_acquire) == 2) {
        *prepared = known[op][element].prepared;
        return REDUCT_OK;
    }
    reduct_status status = reduct_reduction_resolve(&reduction, NULL);
    if (status == REDUCT_OK)
        status = rd_prepare(&reduction, &(struct rd_place){.device = "cpu"}, RD_FOR_ARRAYS, prepared,
                            NULL); /* which keeps nothing */
    if (status == REDUCT_OK && atomic_compare_exchange_strong(&known[op][element].state, &none, 1)) {
        known[op][element].prepared = *prepared;
        atomic_store_explicit(&known[op][element].state, 2, memory_order_release);
    }
    return status;
}

reduct_status reduct_reduce(reduct_operator op, reduct_type element, const void *x, const void *y, size_t count,
                            void *result) {
    struct rd_prepared prepared;
    reduct_status status = result ? prepare_once(op, element, &prepared) : REDUCT_ERROR_ARGUMENT;
    return status == REDUCT_OK ? run(&prepared, x, y, count, NULL, result, NULL) : status;
}
