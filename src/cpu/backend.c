/* The CPU backend: shares the data out in pieces to threads, and each piece to the code of the reduction's family.
 *
 * The pieces of fast sums depend on the number of elements alone: they are added piece by piece in order, so that the result
 * does not depend on threads. Pieces of products of floats are whole subtrees of their tree. Everything else does not care
 * how it is cut. */
#include "cpu/backend.h"

#include "core/environment.h"
#include "core/status.h"
#include "cpu/answer.h"
#include "cpu/call.h"
#include "cpu/many.h"
#include "cpu/mask.h"
#include "cpu/numbers.h"
#include "cpu/features.h"
#include "cpu/team.h"

#include <stddef.h>
#include <string.h>

static bool is_short(const struct rd_call *call) {
    return call->count <= RD_SHORT;
}

/* Whether the threads need room to work in, and the call for what its pieces come to. */
static bool needs_room(enum rd_family family, uint64_t count) {
    switch (family) {
    case RD_EXACT_SUM:
    case RD_FAST_SUM:
        return count > RD_SHORT;
    case RD_FLOAT_PRODUCT:
        return count >= RD_PRODUCT_BLOCK;
    case RD_INTEGER_SUM:
    case RD_INTEGER_PRODUCT:
    case RD_EXTREME:
    case RD_COUNT:
    case RD_BITS:
        break;
    }
    return false;
}

static void reduce(struct rd_call *call, enum rd_family family) {
    switch (family) {
    case RD_EXACT_SUM:
        rd_call_share(call, is_short(call) ? rd_cpu_add_few_exactly : rd_cpu_add_exactly);
        break;
    case RD_INTEGER_SUM:
        rd_call_share(call, rd_cpu_add_integers);
        break;
    case RD_FAST_SUM:
        rd_call_share(call, is_short(call) ? rd_cpu_add_few_fast : rd_cpu_add_fast);
        break;
    case RD_EXTREME:
        rd_call_share(call, rd_cpu_take_extremes);
        break;
    case RD_COUNT:
        rd_call_share(call, rd_cpu_count);
        break;
    case RD_BITS:
        rd_call_share(call, rd_cpu_combine_bits);
        break;
    case RD_FLOAT_PRODUCT:
        rd_cpu_multiply(call);
        break;
    case RD_INTEGER_PRODUCT:
        rd_call_share(call, rd_cpu_multiply_integers);
        break;
    }
    if (family == RD_FAST_SUM && !is_short(call) && !rd_team_stops(&call->crew)) {
        rd_environment caller = rd_environment_enter();
        rd_cpu_merge_fast(call);
        rd_environment_leave(caller);
    }
}

static reduct_status cpu_accumulate(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count,
                                    void *workspace, struct rd_partial *partial, reduct_error *error) {
    if (!count)
        return REDUCT_OK;
    struct rd_call call;
    enum rd_family family = rd_family(&prepared->reduction);
    struct rd_room *taken = NULL;
    rd_call_open(&call, prepared, x, y, count, partial);
    if (family == RD_EXACT_SUM && rd_cpu_add_briefly(&call)) {
        partial->seen = count;
        return REDUCT_OK;
    }
    rd_call_plan(&call, family);
    if (!workspace && (call.threads > 1 || needs_room(family, count)) && !(workspace = taken = rd_room_take())) {
        if (needs_room(family, count))
            return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "workspace: %zu bytes could not be allocated",
                           sizeof(struct rd_room));
        call.threads = 1; /* which needs none */
    }
    call.own = workspace;
    reduce(&call, family);
    partial->seen = count;
    if (taken)
        rd_room_give(taken);
    return rd_team_stops(&call.crew) ? rd_team_stopped(error) : REDUCT_OK;
}

/* ------------------------------------------------------------------------------------------------------------------ */

static reduct_status cpu_open(const char *rest, struct rd_device *device, reduct_error *error) {
    const struct rd_kernels *kernels = rest ? rd_kernels_find(rest) : rd_kernels_best();
    if (!kernels) {
        char here[128];
        rd_kernels_list(here, sizeof here);
        return rd_fail(error, REDUCT_ERROR_NO_DEVICE, "device: \"cpu:%s\" is not here; this processor runs %s", rest,
                       here);
    }
    *device = (struct rd_device){&rd_cpu_backend, kernels->name, kernels};
    return REDUCT_OK;
}

/* Kernels come with the device, and what else there is to decide depends on the length. */
static reduct_status cpu_prepare(struct rd_prepared *prepared, reduct_error *error) {
    const struct rd_kernels *kernels = prepared->device.private;
    if (kernels->extreme[prepared->reduction.element])
        return REDUCT_OK;
    return rd_fail(error, REDUCT_ERROR_UNSUPPORTED, "element: %s does not reduce %s elements in this version",
                   prepared->device.name, rd_type(prepared->reduction.element)->name);
}

/* One room; helpers bring their own. What needs none but for queues is given them where threads may be used. */
static size_t cpu_workspace(const struct rd_prepared *prepared, uint64_t count) {
    return count > RD_PIECE_MIN || needs_room(rd_family(&prepared->reduction), count) ? sizeof(struct rd_room) : 0;
}

const struct rd_backend rd_cpu_backend = {.name = "cpu",
                                          .open = cpu_open,
                                          .prepare = cpu_prepare,
                                          .workspace = cpu_workspace,
                                          .accumulate = cpu_accumulate,
                                          .accumulate_masked = rd_cpu_accumulate_masked,
                                          .answer = rd_cpu_answer,
                                          .execute_many = rd_cpu_execute_many};
