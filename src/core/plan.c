/* Making plans: everything that can be checked without data is checked here, once. */
#include "core/plan.h"

#include "core/options.h"
#include "core/reduction.h"
#include "core/status.h"

#include <stdlib.h>

static reduct_status check_count(uint64_t count, size_t bytes, reduct_error *error) {
    if (count > (uint64_t)PTRDIFF_MAX / bytes)
        return rd_fail(error, REDUCT_ERROR_TOO_LARGE,
                       "shape: n = %llu elements of %zu bytes are more than an address space holds",
                       (unsigned long long)count, bytes);
    return REDUCT_OK;
}

static reduct_status check_options(const reduct_plan_options *options, reduct_error *error) {
    if (!options->reductions)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "reductions: null pointer");
    if (options->reduction_count == 0)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "reduction_count: 0; a plan needs at least one");
    if ((unsigned)options->kind > REDUCT_GROUPS)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "kind: %d is not a kind of plan", (int)options->kind);
    if ((unsigned)options->mask > REDUCT_MASK_BITS)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "mask: %d is not a kind of mask", (int)options->mask);
    if (options->mask_offset > INT64_MAX || (options->mask_offset && !options->mask))
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "mask_offset: %llu; expected %s",
                       (unsigned long long)options->mask_offset,
                       options->mask ? "at most 2^63 - 1" : "0 without a mask");
    reduct_status status = RD_CHECK_RESERVED("reserved", options, error);
    return status == REDUCT_OK ? rd_check_executor(options->executor, error) : status;
}

/* Several reductions, or several results of each. */
static reduct_status make_many(const reduct_plan_options *options, const struct rd_place *place,
                               struct reduct_plan *plan, reduct_error *error) {
    reduct_status status = rd_many_make(options, place, &plan->many, error);
    if (status == REDUCT_OK)
        plan->prepared = plan->many->state[0];
    return status;
}

static void release(struct reduct_plan *plan) {
    if (plan->many)
        rd_many_release(plan->many);
    else
        rd_release(&plan->prepared);
}

static reduct_status is_only_many(const reduct_reduction *reduction, const struct rd_place *place, bool *many,
                                  reduct_error *error) {
    struct rd_device device;
    reduct_status status = rd_device_open(place->device, place->example, &device, error);
    *many = status == REDUCT_OK && device.backend->only_many && device.backend->only_many(reduction);
    return status;
}

/* A whole array to one result. */
static reduct_status make_whole(const reduct_plan_options *options, const struct rd_place *place,
                                struct reduct_plan *plan, reduct_error *error) {
    reduct_reduction reduction = options->reductions[0];
    reduct_status status = reduct_reduction_resolve(&reduction, error);
    if (status == REDUCT_OK)
        status = check_count(options->shape.n, rd_type(reduction.element)->bytes, error);
    bool many = false;
    if (status == REDUCT_OK)
        status = is_only_many(&reduction, place, &many, error);
    if (status == REDUCT_OK)
        status = many ? make_many(options, place, plan, error)
                      : rd_prepare(&reduction, place, RD_FOR_PLAN, &plan->prepared, error);
    if (status != REDUCT_OK)
        return status;
    if (many)
        plan->many->is_whole = true;
    plan->count = options->shape.n;
    uint64_t minimum = rd_minimum(&reduction);
    if (plan->count >= minimum)
        return REDUCT_OK;
    release(plan);
    return rd_fail(error, REDUCT_ERROR_EMPTY, "shape: n = %llu; %s takes at least %llu elements",
                   (unsigned long long)plan->count, rd_operator(reduction.op)->name, (unsigned long long)minimum);
}

static reduct_status make(const reduct_plan_options *options, struct reduct_plan *plan, reduct_error *error) {
    reduct_status status = check_options(options, error);
    if (status != REDUCT_OK)
        return status;
    const struct rd_place place =
        rd_place_of(options->device, options->example, options->threads, options->executor, &plan->executor);
    if (options->kind == REDUCT_WHOLE && options->reduction_count == 1 && !options->mask)
        return make_whole(options, &place, plan, error);
    return make_many(options, &place, plan, error);
}

reduct_status reduct_plan_create(const reduct_plan_options *options, reduct_plan **plan, reduct_error *error) {
    if (!options)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "options: null pointer");
    if (!plan)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "plan: null pointer");
    struct reduct_plan *made = malloc(sizeof *made);
    if (!made)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "plan: %zu bytes could not be allocated", sizeof *made);
    *made = (struct reduct_plan){.count = 0};
    reduct_status status = make(options, made, error);
    if (status == REDUCT_OK)
        *plan = made;
    else
        free(made);
    return status;
}

void reduct_plan_destroy(reduct_plan *plan) {
    if (plan)
        release(plan);
    free(plan);
}

size_t reduct_plan_workspace_size(const reduct_plan *plan) {
    return plan && !plan->many ? plan->prepared.device.backend->workspace(&plan->prepared, plan->count) : 0;
}

reduct_type reduct_plan_result_type(const reduct_plan *plan, size_t which) {
    if (plan && plan->many)
        return which < plan->many->reductions ? plan->many->reduction[which].result : REDUCT_DEFAULT;
    return plan && which == 0 ? plan->prepared.reduction.result : REDUCT_DEFAULT;
}

uint64_t reduct_plan_result_count(const reduct_plan *plan) {
    return !plan ? 0 : plan->many ? plan->many->layout.results : 1;
}

const char *reduct_plan_device(const reduct_plan *plan) {
    return plan ? plan->prepared.device.name : NULL;
}
