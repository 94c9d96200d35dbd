/* Dot products by the library: one plan, executed for every pair of arrays. */
#include "dots.h"

#include <reduct/reduct.h>

#include <stdio.h>
#include <stdlib.h>

static bool execute(const reduct_plan *plan, const dots_input *input, void *workspace, double *results, problem *why) {
    for (size_t i = 0; i < input->lefts; i++) {
        for (size_t j = 0; j < input->rights; j++) {
            const void *const pair[] = {input->left[i], input->right[j]};
            void *const result[] = {&results[i * input->rights + j]};
            reduct_error error;
            if (reduct_plan_execute(plan, pair, result, workspace, &error) != REDUCT_OK)
                return refuse(why, "%s", error.message);
        }
    }
    return true;
}

bool dots_by_library(const dots_request *request, const dots_input *input, double *results, dots_used *used,
                     problem *why) {
    const reduct_reduction dot = {.op = REDUCT_DOT, .element = REDUCT_F32, .result = REDUCT_F64};
    const reduct_plan_options options = {.reductions = &dot,
                                         .reduction_count = 1,
                                         .shape = {.outer = 1, .n = input->count, .inner = 1, .stride = 1},
                                         .device = request->device,
                                         .threads = request->threads};
    reduct_plan *plan;
    reduct_error error;
    if (reduct_plan_create(&options, &plan, &error) != REDUCT_OK)
        return refuse(why, "%s", error.message);
    snprintf(used->device, sizeof used->device, "%s", reduct_plan_device(plan));
    const size_t room = (reduct_plan_workspace_size(plan) + 63) / 64 * 64;
    void *workspace = room ? aligned_alloc(64, room) : NULL; /* without it each execution allocates its own */
    const bool good = execute(plan, input, workspace, results, why);
    free(workspace);
    reduct_plan_destroy(plan);
    return good;
}
