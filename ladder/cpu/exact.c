/* Rung: exact.
 *
 * The idea. The library: partial sums are kept so that nothing is ever rounded off, and the one number that comes out at
 * the end is rounded once. See src/arithmetic/ for how.
 *
 * What it fixes. The result: it is the correctly rounded sum, the same bits with any number of threads, any instruction
 * set, any order of the data.
 *
 * When it loses. In the caches, where arithmetic is what limits: exactness takes several operations per element. From
 * memory it is as fast as reading. */
#include "ladder/cpu/cpu.h"

#include <stdlib.h>

struct cpu_exact {
    reduct_plan *plan;
    bool is_integer;
    void *workspace;
};

reduct_status cpu_exact_open(reduct_type type, size_t n, cpu_exact **opened, reduct_error *error) {
    cpu_exact *exact = calloc(1, sizeof *exact);
    reduct_reduction sum = {.op = REDUCT_SUM, .element = type};
    reduct_plan_options options = {.reductions = &sum,
                                   .reduction_count = 1,
                                   .shape = {.outer = 1, .n = n, .inner = 1, .stride = 1},
                                   .device = "cpu"};
    reduct_status status = exact ? reduct_plan_create(&options, &exact->plan, error) : REDUCT_ERROR_OUT_OF_MEMORY;
    if (status == REDUCT_OK) {
        size_t room = reduct_plan_workspace_size(exact->plan) / 64 * 64 + 64;
        exact->is_integer = !reduct_type_is_float(type);
        exact->workspace = aligned_alloc(64, room);
        status = exact->workspace ? REDUCT_OK : REDUCT_ERROR_OUT_OF_MEMORY;
    }
    if (status != REDUCT_OK) {
        cpu_exact_close(exact);
        return status;
    }
    *opened = exact;
    return REDUCT_OK;
}

void cpu_exact_close(cpu_exact *exact) {
    if (!exact)
        return;
    reduct_plan_destroy(exact->plan);
    free(exact->workspace);
    free(exact);
}

/* Sums of i32 come out as i64. */
void cpu_exact_sum(const cpu_exact *exact, const void *x, void *result) {
    int64_t wide = 0;
    void *target = exact->is_integer ? &wide : result;
    if (reduct_plan_execute(exact->plan, &x, &target, exact->workspace, NULL) != REDUCT_OK)
        return; /* the result stays what it was, and is judged */
    if (exact->is_integer)
        *(int32_t *)result = (int32_t)(uint32_t)wide;
}

const char *cpu_exact_device(const cpu_exact *exact) {
    return reduct_plan_device(exact->plan);
}
