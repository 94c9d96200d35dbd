/* Executing: plans and single calls. */
#include "execute.h"

#include "core/plan.h"
#include "core/status.h"

#include <stdatomic.h>

static reduct_status check_input(const char *name, const void *input, bool wanted, uint64_t count, size_t bytes,
                                 reduct_error *error) {
    if (!wanted && input)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: not null, but the operator reads one array", name);
    if (wanted && !input && count)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", name);
    if (wanted && (uintptr_t)input % bytes)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: address is not a multiple of the element's %zu bytes", name,
                       bytes);
    return REDUCT_OK;
}

reduct_status rd_accumulate(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count,
                            void *workspace, uint64_t first, struct rd_partial *partial, reduct_error *error) {
    const reduct_reduction *reduction = &prepared->reduction;
    size_t bytes = rd_type(reduction->element)->bytes;
    reduct_status status = check_input("x", x, true, count, bytes, error);
    if (status == REDUCT_OK)
        status = check_input("y", y, rd_operator(reduction->op)->inputs == 2, count, bytes, error);
    if (status == REDUCT_OK && count > (uint64_t)PTRDIFF_MAX / bytes)
        status = rd_fail(error, REDUCT_ERROR_TOO_LARGE, "count: %llu elements of %zu bytes exceed an address space",
                         (unsigned long long)count, bytes);
    if (status == REDUCT_OK)
        status = prepared->device.backend->accumulate(prepared, x, y, count, workspace, partial, error);
    if (status == REDUCT_OK && reduction->nan == REDUCT_NAN_ERROR && partial->nan_index != UINT64_MAX)
        return rd_fail_at(error, REDUCT_ERROR_NAN, first + partial->nan_index, "element %llu is NaN",
                          (unsigned long long)(first + partial->nan_index));
    return status;
}

/* Of one array, in order: what is missing is for the ordinary way to tell. */
static bool answer(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count, void *result) {
    const struct rd_backend *backend = prepared->device.backend;
    bool aligned = (uintptr_t)x % rd_type(prepared->reduction.element)->bytes == 0;
    return backend->answer && x && !y && aligned && backend->answer(prepared, x, count, result);
}

/* From data to result in a call of its own, so that what is answered at once has no partial result to make room for. */
static __attribute__((noinline)) reduct_status run_whole(const struct rd_prepared *prepared, const void *x,
                                                         const void *y, uint64_t count, void *workspace, void *result,
                                                         reduct_error *error) {
    struct rd_partial partial;
    rd_partial_init(&partial, &prepared->reduction);
    reduct_status status = rd_accumulate(prepared, x, y, count, workspace, 0, &partial, error);
    return status == REDUCT_OK ? rd_partial_finish(&partial, prepared->reduction.result, result, error) : status;
}

static reduct_status run(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count,
                         void *workspace, void *result, reduct_error *error) {
    if (answer(prepared, x, y, count, result))
        return REDUCT_OK;
    return run_whole(prepared, x, y, count, workspace, result, error);
}

reduct_status reduct_plan_execute(const reduct_plan *plan, const void *const *inputs, void *const *results,
                                  void *workspace, reduct_error *error) {
    if (!plan)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "plan: null pointer");
    if (!inputs && plan->count)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "inputs: null pointer");
    if (!results || !results[0])
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "results: null pointer");
    if ((uintptr_t)workspace % 64)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "workspace: address is not a multiple of 64");
    bool two = rd_operator(plan->prepared.reduction.op)->inputs == 2;
    return run(&plan->prepared, inputs ? inputs[0] : NULL, inputs && two ? inputs[1] : NULL, plan->count, workspace,
               results[0], error);
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
        status = rd_prepare(&reduction, &(struct rd_place){.device = "cpu"}, false, prepared,
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
