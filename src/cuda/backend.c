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
    if (has_launch && !rd_cuda_has_kernel(&prepared->reduction))
        return rd_cuda_refuse(cuda_name(prepared)->text, &prepared->reduction, error);
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

/* With the context current. */
static reduct_status accumulate_here(const struct rd_prepared *prepared, struct rd_cuda_context *context, const void *x,
                                     const void *y, uint64_t count, struct rd_partial *partial, reduct_error *error) {
    struct rd_cuda_launch launch;
    reduct_status status = rd_cuda_launch_here(prepared, context, &launch, error);
    if (status != REDUCT_OK)
        return status;
    const bool x_there = rd_cuda_on_device(context->device, x),
               y_there = y ? rd_cuda_on_device(context->device, y) : x_there;
    if (x_there != y_there)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: in host memory, while %s is in device memory",
                       x_there ? "y" : "x", x_there ? "x" : "y");
    uint64_t taken = 0;
    status = rd_cuda_fill_block(context->device, x, x_there, count, partial, &taken, error);
    if (status != REDUCT_OK || taken == count)
        return status;
    x = (const unsigned char *)x + taken * launch.element_bytes;
    return x_there ? rd_cuda_reduce_there(&launch, x, y, count - taken, partial, error)
                   : rd_cuda_reduce_from_host((const struct rd_cuda_launch *const[]){&launch}, 1, x, y, count - taken,
                                              &prepared->crew, partial, error);
}

/* The driver may do arithmetic of its own, and leaves traces of it in the environment. */
static reduct_status cuda_accumulate(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count,
                                     void *workspace, struct rd_partial *partial, reduct_error *error) {
    (void)workspace;
    if (!count)
        return REDUCT_OK;
    struct rd_cuda_stay stay;
    rd_environment caller = rd_environment_enter();
    reduct_status status = rd_cuda_enter(cuda_name(prepared)->device, &stay, error);
    if (status == REDUCT_OK) {
        status = accumulate_here(prepared, stay.context, x, y, count, partial, error);
        rd_cuda_leave(stay.context->device, &stay);
    }
    rd_environment_leave(caller);
    return status;
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
                                           .prepare_many = rd_cuda_prepare_many,
                                           .release_many = rd_cuda_release_many,
                                           .execute_many = rd_cuda_execute_many,
                                           .change_table = rd_cuda_change_table};
