/* The CUDA backend: what is prepared once, and reductions that wait for their result. Executions in streams are in
 * execute.c. */
#include "cuda/backend.h"

#include "core/environment.h"
#include "core/status.h"
#include "cuda/many.h"
#include "cuda/owner.h"
#include "cuda/partials.h"
#include "cuda/prepared.h"
#include "cuda/set.h"
#include "cuda/synchronous.h"
#include "cuda/table.h"

#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Preparing
 * ------------------------------------------------------------------------------------------------------------------ */

static const struct rd_cuda_name *cuda_name(const struct rd_prepared *prepared) {
    return prepared->device.private;
}

/* With the context current. */
static reduct_status make_workspace(struct rd_cuda_context *context, rd_cu_address *workspace, reduct_error *error) {
    const rd_cu_result result = rd_cuda_workspaces_make(context, 1, NULL, workspace);
    if (result != RD_CU_SUCCESS)
        return rd_cuda_fail(context->device, result, "for a workspace", error);
    rd_cuda_stand_ins_reserve(context);
    return REDUCT_OK;
}

static reduct_status cuda_prepare(struct rd_prepared *prepared, reduct_error *error) {
    const bool has_launch = prepared->use != RD_FOR_MANY;
    struct rd_cuda_kept *kept = calloc(1, sizeof *kept);
    if (!kept)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "plan: %zu bytes could not be allocated", sizeof *kept);
    struct rd_cuda_stay stay;
    rd_environment caller = rd_environment_enter();
    reduct_status status = rd_cuda_enter(cuda_name(prepared)->device, &stay, error);
    if (status == REDUCT_OK) {
        kept->launch.context = stay.context;
        if (has_launch)
            status = rd_cuda_launch_make(stay.context, cuda_name(prepared)->integers, &prepared->reduction,
                                         &kept->launch, error);
        if (status == REDUCT_OK && prepared->use == RD_FOR_PLAN)
            status = make_workspace(stay.context, &kept->workspace, error);
        rd_cuda_leave(stay.context->device, &stay);
    }
    rd_environment_leave(caller);
    if (status == REDUCT_OK)
        prepared->kept = kept;
    else
        free(kept);
    return status;
}

/* There are kernels of many results for all operators. */
static bool cuda_only_many(const reduct_reduction *reduction) {
    return !rd_cuda_has_kernel(reduction);
}

static void cuda_release(struct rd_prepared *prepared) {
    struct rd_cuda_kept *kept = prepared->kept;
    struct rd_cuda_context *context = kept->launch.context;
    struct rd_cuda_stay stay;
    rd_environment caller = rd_environment_enter();
    if (kept->workspace && rd_cuda_enter_context(context, &stay, NULL) == REDUCT_OK) {
        context->device->driver->cuMemFree(kept->workspace);
        rd_cuda_leave(context->device, &stay);
    }
    rd_environment_leave(caller);
    free(kept);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Reducing
 * ------------------------------------------------------------------------------------------------------------------ */

static size_t cuda_workspace(const struct rd_prepared *prepared, uint64_t count) {
    (void)prepared;
    (void)count;
    return 0; /* on the host */
}

reduct_status rd_cuda_launch_here(const struct rd_prepared *prepared, struct rd_cuda_context *context,
                                  struct rd_cuda_launch *launch, reduct_error *error) {
    const struct rd_cuda_kept *kept = prepared->kept;
    if (kept->launch.context != context)
        return rd_cuda_launch_make(context, cuda_name(prepared)->integers, &prepared->reduction, launch, error);
    *launch = kept->launch;
    return REDUCT_OK;
}

/* Where the arrays lie: all on the device, or all on the host. */
static reduct_status find_memory(const struct rd_cuda_device *device, const struct rd_cuda_array *array, bool *there,
                                 reduct_error *error) {
    const void *const others[] = {array->y, array->mask};
    static const char *const names[] = {"y", "mask"};
    *there = rd_cuda_on_device(device, array->x);
    for (int i = 0; i < 2; i++)
        if (others[i] && rd_cuda_on_device(device, others[i]) != *there)
            return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: in host memory, while %s is in device memory",
                           *there ? names[i] : "x", *there ? "x" : names[i]);
    return REDUCT_OK;
}

/* With the context current. */
static reduct_status accumulate_here(const struct rd_prepared *prepared, struct rd_cuda_context *context,
                                     const struct rd_cuda_array *array, struct rd_partial *partial,
                                     reduct_error *error) {
    struct rd_cuda_launch launch;
    const struct rd_cuda_launch *const launches[] = {&launch};
    bool there = false;
    uint64_t taken = 0;
    reduct_status status = rd_cuda_launch_here(prepared, context, &launch, error);
    if (status == REDUCT_OK)
        status = find_memory(context->device, array, &there, error);
    if (status == REDUCT_OK)
        status = rd_cuda_begin_by_cpu(context->device, array, there, partial, &taken, error);
    if (status != REDUCT_OK || taken == array->count)
        return status;
    const struct rd_cuda_array rest = rd_cuda_part_of(array, taken, array->count - taken, launch.element_bytes);
    return there ? rd_cuda_reduce_there(&launch, &rest, partial, error)
                 : rd_cuda_reduce_from_host(launches, 1, &rest, &prepared->crew, partial, error);
}

/* The driver may do arithmetic of its own, and leaves traces of it in the environment. */
static reduct_status accumulate(const struct rd_prepared *prepared, const struct rd_cuda_array *array,
                                struct rd_partial *partial, reduct_error *error) {
    if (!array->count)
        return REDUCT_OK;
    struct rd_cuda_stay stay;
    rd_environment caller = rd_environment_enter();
    reduct_status status = rd_cuda_enter(cuda_name(prepared)->device, &stay, error);
    if (status == REDUCT_OK) {
        status = accumulate_here(prepared, stay.context, array, partial, error);
        rd_cuda_leave(stay.context->device, &stay);
    }
    rd_environment_leave(caller);
    return status;
}

static reduct_status cuda_accumulate(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count,
                                     void *workspace, struct rd_partial *partial, reduct_error *error) {
    (void)workspace;
    const struct rd_cuda_array array = {.x = x, .y = y, .count = count};
    return accumulate(prepared, &array, partial, error);
}

static reduct_status cuda_accumulate_masked(const struct rd_prepared *prepared, const void *x, const void *y,
                                            uint64_t count, reduct_mask kind, const void *mask, uint64_t offset,
                                            struct rd_partial *partial, reduct_error *error) {
    const struct rd_cuda_array array = {x, y, count, kind, mask, offset};
    return accumulate(prepared, &array, partial, error);
}

const struct rd_backend rd_cuda_backend = {.name = "cuda",
                                           .open = rd_cuda_open,
                                           .owner = rd_cuda_owner,
                                           .put = rd_cuda_put,
                                           .prepare = cuda_prepare,
                                           .only_many = cuda_only_many,
                                           .release = cuda_release,
                                           .workspace = cuda_workspace,
                                           .accumulate = cuda_accumulate,
                                           .accumulate_masked = cuda_accumulate_masked,
                                           .prepare_many = rd_cuda_prepare_many,
                                           .release_many = rd_cuda_release_many,
                                           .execute_many = rd_cuda_execute_many,
                                           .change_table = rd_cuda_change_table};
