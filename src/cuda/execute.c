/* Asynchronous executions: see reduct/cuda.h. */
#include "core/environment.h"
#include "core/plan.h"
#include "core/status.h"
#include "cuda/backend.h"
#include "cuda/channel.h"
#include "cuda/many.h"
#include "cuda/prepared.h"

#include <reduct/cuda.h>

#include <stdio.h>

_Static_assert(sizeof(reduct_cuda_outcome) == sizeof(struct rd_cuda_outcome), "the public structure is the kernels'");

size_t reduct_cuda_workspace_size(const reduct_plan *plan) {
    if (plan && plan->many)
        return plan->prepared.device.backend == &rd_cuda_backend ? rd_cuda_many_workspace(plan->many) : 0;
    return plan && plan->prepared.device.backend == &rd_cuda_backend ? sizeof(struct rd_cuda_workspace) : 0;
}

reduct_status rd_cuda_check_address(const char *name, const void *address, size_t alignment, reduct_error *error) {
    if (!address)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", name);
    if ((uintptr_t)address % alignment)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: address is not a multiple of %zu", name, alignment);
    return REDUCT_OK;
}

reduct_status rd_cuda_check_address_in(const char *array, size_t which, const char *member, const void *address,
                                       size_t alignment, reduct_error *error) {
    if (address && (uintptr_t)address % alignment == 0)
        return REDUCT_OK;
    char name[48];
    snprintf(name, sizeof name, "%s[%zu]%s%s", array, which, member ? "." : "", member ? member : "");
    return rd_cuda_check_address(name, address, alignment, error);
}

static reduct_status check_execution(const reduct_plan *plan, const void *const *inputs, void *const *results,
                                     const reduct_cuda_outcome *outcome, const void *workspace, reduct_error *error) {
    if (!plan)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "plan: null pointer");
    if (plan->prepared.device.backend != &rd_cuda_backend)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "plan: is for %s; expected a plan for one CUDA device",
                       plan->prepared.device.name);
    if ((!inputs && plan->count) || !results)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", results ? "inputs" : "results");
    size_t element = rd_type(plan->prepared.reduction.element)->bytes,
           result = rd_type(plan->prepared.reduction.result)->bytes;
    reduct_status status = rd_cuda_check_address("results[0]", results[0], result < 8 ? result : 8, error);
    if (status == REDUCT_OK && plan->count)
        status = rd_cuda_check_address("inputs[0]", inputs[0], element, error);
    if (status == REDUCT_OK && plan->count && rd_operator(plan->prepared.reduction.op)->inputs == 2)
        status = rd_cuda_check_address("inputs[1]", inputs[1], element, error);
    if (status == REDUCT_OK && outcome)
        status = rd_cuda_check_address("outcome", outcome, _Alignof(reduct_cuda_outcome), error);
    if (status == REDUCT_OK && workspace)
        status = rd_cuda_check_address("workspace", workspace, 256, error);
    return status;
}

static reduct_status check_array(const char *name, size_t which, const void *address, bool wanted, size_t alignment,
                                 reduct_error *error) {
    return wanted ? rd_cuda_check_address_in(name, which, NULL, address, alignment, error) : REDUCT_OK;
}

/* Which of the inputs is the mask. */
static unsigned mask_input(const struct rd_many *many) {
    return many->inputs + (rd_many_is_segmented(many) ? 1 + (many->segments.with_ends != 0) : rd_many_is_grouped(many));
}

/* Which of them is that of the initial values of groups. */
static unsigned initial_input(const struct rd_many *many) {
    return mask_input(many) + (many->mask != REDUCT_MASK_NONE);
}

static reduct_status check_many(const struct rd_many *many, const void *const *inputs, void *const *results,
                                const reduct_cuda_outcome *outcome, const void *workspace, reduct_error *error) {
    const bool segmented = rd_many_is_segmented(many), grouped = rd_many_is_grouped(many);
    const uint64_t elements = rd_many_elements(many);
    const size_t element = rd_type(many->reduction[0].element)->bytes;
    reduct_status status = REDUCT_OK;
    if (!results || (!inputs && (elements || segmented || many->groups.with_initial)))
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", results ? "inputs" : "results");
    for (unsigned i = 0; status == REDUCT_OK && i < many->inputs; i++)
        status = check_array("inputs", i, inputs ? inputs[i] : NULL, elements != 0, element, error);
    for (unsigned i = many->inputs;
         status == REDUCT_OK && segmented && i <= many->inputs + (many->segments.with_ends != 0); i++)
        status = check_array("inputs", i, inputs[i], many->layout.results || !many->segments.with_ends,
                             rd_type(many->segments.index)->bytes, error);
    if (status == REDUCT_OK && grouped)
        status = check_array("inputs", many->inputs, inputs ? inputs[many->inputs] : NULL, elements != 0,
                             rd_type(many->groups.index)->bytes, error);
    if (status == REDUCT_OK && grouped && many->groups.with_initial)
        status = check_array("inputs", initial_input(many), inputs[initial_input(many)], many->layout.results != 0,
                             element, error);
    if (status == REDUCT_OK && many->mask)
        status =
            check_array("inputs", mask_input(many), inputs ? inputs[mask_input(many)] : NULL, elements != 0, 1, error);
    for (size_t i = 0; status == REDUCT_OK && i < many->reductions; i++) {
        const size_t result = rd_type(many->reduction[i].result)->bytes;
        status = check_array("results", i, results[i], many->layout.results != 0, result < 8 ? result : 8, error);
    }
    if (status == REDUCT_OK && outcome)
        status = rd_cuda_check_address("outcome", outcome, _Alignof(reduct_cuda_outcome), error);
    if (status == REDUCT_OK && workspace)
        status = rd_cuda_check_address("workspace", workspace, 256, error);
    return status;
}

/* What a call gave. */
struct execution {
    const reduct_plan *plan;
    const void *const *inputs;
    void *const *results;
    reduct_cuda_outcome *outcome;
    void *workspace;
    struct CUstream_st *stream;
    bool waits;
};

static reduct_status execute_many(const struct execution *execution, reduct_error *error) {
    const struct rd_many *many = execution->plan->many;
    const void *const *inputs = execution->inputs;
    reduct_status status =
        check_many(many, inputs, execution->results, execution->outcome, execution->workspace, error);
    /* Without results an index may still be outside, which is of interest to those who wait. */
    if (status != REDUCT_OK || (!many->layout.results && !(execution->waits && many->groups.elements)))
        return status;
    struct rd_cuda_addresses addresses = {.outcome = (struct rd_cuda_outcome *)execution->outcome};
    for (unsigned i = 0; i < many->inputs; i++)
        addresses.input[i] = inputs ? inputs[i] : NULL;
    if (rd_many_is_segmented(many)) {
        addresses.begins = inputs[many->inputs];
        addresses.ends = many->segments.with_ends ? inputs[many->inputs + 1] : NULL;
    }
    if (rd_many_is_grouped(many)) {
        addresses.indices = inputs ? inputs[many->inputs] : NULL;
        addresses.initial = many->groups.with_initial ? inputs[initial_input(many)] : NULL;
    }
    if (many->mask)
        addresses.mask = inputs ? inputs[mask_input(many)] : NULL;
    return (execution->waits ? rd_cuda_await_many : rd_cuda_queue_many)(many, &addresses, execution->results,
                                                                        execution->workspace, execution->stream, error);
}

/* In the library's own workspace, unless the call brings one. With the context current. */
static rd_cu_result launch_whole(const struct execution *execution, rd_cu_address own,
                                 struct rd_cuda_outcome *outcome) {
    const reduct_plan *plan = execution->plan;
    const struct rd_cuda_kept *kept = plan->prepared.kept;
    struct rd_cuda_call call = kept->launch.call;
    call.count = plan->count;
    call.x = plan->count ? execution->inputs[0] : NULL;
    call.y = plan->count && rd_operator(plan->prepared.reduction.op)->inputs == 2 ? execution->inputs[1] : NULL;
    call.workspace = (struct rd_cuda_workspace *)(uintptr_t)own;
    call.result = execution->results[0];
    call.outcome = outcome;
    return execution->workspace ? rd_cuda_launch_in(&kept->launch, &call, execution->workspace, execution->stream)
                                : rd_cuda_launch_start(&kept->launch, &call, execution->stream);
}

/* The outcome is written where the host reads it. With the context current. */
static reduct_status await_whole(const struct execution *execution, struct rd_cuda_context *context,
                                 reduct_error *error) {
    struct rd_cuda_channel *channel;
    reduct_status status = rd_cuda_check_stream(context->device, execution->stream, error);
    if (status == REDUCT_OK)
        status = rd_cuda_channel_take(context, false, &channel, error);
    if (status != REDUCT_OK)
        return status;
    struct rd_cuda_outcome *outcome = (struct rd_cuda_outcome *)(void *)channel->partial;
    rd_cu_result result = launch_whole(execution, channel->workspace, outcome);
    if (result == RD_CU_SUCCESS)
        result = context->device->driver->cuStreamSynchronize(execution->stream);
    if (result != RD_CU_SUCCESS) {
        rd_cuda_channel_destroy(context, channel);
        return rd_cuda_fail(context->device, result, "to reduce", error);
    }
    if (outcome->status != REDUCT_OK)
        status = rd_cuda_report(&execution->plan->prepared.reduction, 1, 0, outcome, error);
    rd_cuda_channel_give(context, channel);
    return status;
}

static reduct_status execute_whole(const struct execution *execution, reduct_error *error) {
    reduct_status status = check_execution(execution->plan, execution->inputs, execution->results, execution->outcome,
                                           execution->workspace, error);
    if (status != REDUCT_OK)
        return status;
    const struct rd_cuda_kept *kept = execution->plan->prepared.kept;
    struct rd_cuda_context *context = kept->launch.context;
    struct rd_cuda_stay stay;
    status = rd_cuda_enter_context(context, &stay, error);
    if (status != REDUCT_OK)
        return status;
    if (execution->waits) {
        status = await_whole(execution, context, error);
    } else {
        const rd_cu_result result =
            launch_whole(execution, kept->workspace, (struct rd_cuda_outcome *)execution->outcome);
        if (result != RD_CU_SUCCESS)
            status = rd_cuda_fail(context->device, result, "to launch a kernel", error);
    }
    rd_cuda_leave(context->device, &stay);
    return status;
}

static reduct_status execute(const struct execution *execution, reduct_error *error) {
    const reduct_plan *plan = execution->plan;
    const bool many = plan && plan->many && plan->prepared.device.backend == &rd_cuda_backend;
    rd_environment caller = rd_environment_enter();
    const reduct_status status = many ? execute_many(execution, error) : execute_whole(execution, error);
    rd_environment_leave(caller);
    return status;
}

reduct_status reduct_cuda_execute(const reduct_plan *plan, const void *const *inputs, void *const *results,
                                  reduct_cuda_outcome *outcome, void *workspace, struct CUstream_st *stream,
                                  reduct_error *error) {
    const struct execution execution = {plan, inputs, results, outcome, workspace, stream, false};
    return execute(&execution, error);
}

reduct_status reduct_cuda_execute_checked(const reduct_plan *plan, const void *const *inputs, void *const *results,
                                          void *workspace, struct CUstream_st *stream, reduct_error *error) {
    const struct execution execution = {plan, inputs, results, NULL, workspace, stream, true};
    return execute(&execution, error);
}
