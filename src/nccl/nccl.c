/* Exact reductions over the ranks of an NCCL communicator: see reduct/nccl.h.
 *
 * A call goes three steps, all in the caller's stream. The library's own kernels leave the partial result of this rank's part
 * of each field in the workspace, and one more writes these as words (cuda/kernels/ranks.h), if they cannot be added as they are.
 * NCCL adds the words of all ranks, or gathers them. A last kernel makes the results. */
#include "core/environment.h"
#include "core/options.h"
#include "core/plan.h"
#include "core/reduction.h"
#include "core/status.h"
#include "cuda/backend.h"
#include "cuda/kernels/ranks.h"
#include "cuda/prepared.h"
#include "nccl/calls.h"

#include <reduct/nccl.h>

uint64_t rd_nccl_raw_most = (uint64_t)1 << 26;

/* ---------------------------------------------------------------------------------------------------------------------
 * A field's words
 * ------------------------------------------------------------------------------------------------------------------ */

/* The limbs that a kernel leaves of a sum: it sums elements of 16 bits as f32. */
static void find_limbs(const reduct_reduction *reduction, bool products, struct rd_cuda_ranks_field *field, int which) {
    const struct rd_type *type = rd_type(reduction->element);
    struct rd_sum sum;
    rd_sum_init(&sum, type->kind == RD_FLOAT && type->bytes == 2 ? rd_type(REDUCT_F32) : type, products);
    field->first[which] = (int16_t)sum.first;
    field->limbs[which] = (int16_t)sum.length;
}

static enum rd_cuda_ranks_kind kind_of(const reduct_reduction *reduction) {
    switch (rd_family(reduction)) {
    case RD_EXTREME:
        return RD_CUDA_RANKS_EXTREMES;
    case RD_COUNT:
        return RD_CUDA_RANKS_COUNTED;
    case RD_BITS:
        return RD_CUDA_RANKS_BITS;
    case RD_INTEGER_PRODUCT:
        return RD_CUDA_RANKS_PRODUCTS;
    case RD_EXACT_SUM:
    case RD_INTEGER_SUM:
    case RD_FAST_SUM:      /* refused before */
    case RD_FLOAT_PRODUCT: /* likewise */
        break;
    }
    return RD_CUDA_RANKS_SUMS;
}

/* Whether there is anything that ranks gather. */
static bool has_own(const reduct_reduction *reduction) {
    const enum rd_cuda_ranks_kind kind = kind_of(reduction);
    return (kind != RD_CUDA_RANKS_SUMS && kind != RD_CUDA_RANKS_COUNTED) || reduction->nan == REDUCT_NAN_ERROR;
}

/* A field but for its addresses. */
static struct rd_cuda_ranks_field describe(const reduct_plan *plan) {
    const reduct_reduction *reduction = &plan->prepared.reduction;
    const struct rd_type *element = rd_type(reduction->element);
    const enum rd_transform transform = rd_operator(reduction->op)->transform;
    const struct rd_cuda_kept *kept = plan->prepared.kept;
    struct rd_cuda_ranks_field field = {.call = kept->launch.call,
                                        .kind = (uint8_t)kind_of(reduction),
                                        .element_class = (uint8_t)element->kind,
                                        .element_bytes = element->bytes};
    if (transform == RD_ABSOLUTE && element->kind == RD_SIGNED)
        field.element_class = RD_UNSIGNED; /* as magnitudes are */
    if (field.kind == RD_CUDA_RANKS_SUMS)
        find_limbs(reduction, transform == RD_SQUARE || transform == RD_TIMES, &field, 0);
    if (field.kind == RD_CUDA_RANKS_SUMS && transform == RD_MOMENTS)
        find_limbs(reduction, true, &field, 1);
    return field;
}

static size_t words_of(const struct rd_cuda_ranks_field *field) {
    return (size_t)(RD_CUDA_RANKS_COUNTS + field->limbs[0] + field->limbs[1]);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * One rank's part in a call
 * ------------------------------------------------------------------------------------------------------------------ */

/* NCCL takes as long for so many whole partial results as for a word. */
enum { EVERY_RANK = -1, WHOLE_FIELDS = 4 };

struct part {
    const rd_nccl *nccl;
    struct rd_cuda_context *context;
    reduct_nccl_rank of;
    size_t fields;
    int root; /* whose results are wanted */
    int ranks, rank;
    /* The workspace: where blocks meet; partial results; words that are added; what all ranks have of their own. */
    struct rd_cuda_partial *partial;
    int64_t *added;
    struct rd_cuda_ranks_own *own;
    size_t added_count, own_count; /* of a rank */
    size_t bytes;
    bool whole; /* partial results are added as they are */
};

reduct_status rd_nccl_fail(const rd_nccl *nccl, int result, reduct_error *error) {
    if (result == RD_NCCL_SUCCESS)
        return REDUCT_OK;
    if (result == RD_NCCL_IN_PROGRESS)
        return rd_fail(error, REDUCT_ERROR_UNSUPPORTED, "comm: is not a blocking communicator");
    return rd_fail(error, REDUCT_ERROR_DEVICE_LOST, "NCCL: %.200s", nccl->ncclGetErrorString(result));
}

reduct_status rd_nccl_find_place(const rd_nccl *nccl, struct ncclComm *comm, struct rd_nccl_place *place,
                                 reduct_error *error) {
    int result = nccl->ncclCommCount(comm, &place->ranks);
    if (result == RD_NCCL_SUCCESS)
        result = nccl->ncclCommUserRank(comm, &place->rank);
    if (result == RD_NCCL_SUCCESS)
        result = nccl->ncclCommCuDevice(comm, &place->device);
    return rd_nccl_fail(nccl, result, error);
}

reduct_status rd_nccl_check_root(int root, int ranks, reduct_error *error) {
    return root >= 0 && root < ranks
               ? REDUCT_OK
               : rd_fail(error, REDUCT_ERROR_ARGUMENT, "root: %d; expected a rank from 0 to %d", root, ranks - 1);
}

static const struct rd_cuda_kept *kept_of(const struct part *part, size_t i) {
    return part->of.fields[i].plan->prepared.kept;
}

static reduct_status check_reduction(size_t i, const reduct_reduction *reduction, reduct_error *error) {
    const char *op = rd_operator(reduction->op)->name, *element = rd_type(reduction->element)->name;
    if (!rd_is_exact(reduction))
        return rd_fail(error, REDUCT_ERROR_UNSUPPORTED,
                       "fields[%zu].plan: %s in mode fast; over ranks it is exact or not at all", i, op);
    if (rd_family(reduction) == RD_FLOAT_PRODUCT)
        return rd_fail(error, REDUCT_ERROR_UNSUPPORTED,
                       "fields[%zu].plan: %s of %s elements depends on which parts meet; it is not reduced over ranks",
                       i, op, element);
    return REDUCT_OK;
}

static reduct_status check_plan(const struct part *part, size_t i, int device, reduct_error *error) {
    const reduct_plan *plan = part->of.fields[i].plan;
    if (!plan)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "fields[%zu].plan: null pointer", i);
    if (plan->prepared.device.backend != &rd_cuda_backend)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "fields[%zu].plan: is for %s; expected a plan for a CUDA device",
                       i, plan->prepared.device.name);
    if (plan->many)
        return rd_fail(error, REDUCT_ERROR_UNSUPPORTED,
                       "fields[%zu].plan: has many results; expected one of a whole array", i);
    const struct rd_cuda_context *context = kept_of(part, i)->launch.context;
    if (context->device->ordinal != device)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "fields[%zu].plan: is for %s; the communicator is of cuda:%d", i,
                       plan->prepared.device.name, device);
    if (context != kept_of(part, 0)->launch.context)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "fields[%zu].plan: is of another context than that of fields[0]",
                       i);
    return check_reduction(i, &plan->prepared.reduction, error);
}

static void place(struct part *part) {
    unsigned char *at = part->of.workspace;
    part->added_count = part->own_count = 0;
    part->whole = part->fields <= WHOLE_FIELDS;
    for (size_t i = 0; i < part->fields; i++) {
        const struct rd_cuda_ranks_field field = describe(part->of.fields[i].plan);
        part->added_count += words_of(&field);
        part->whole = part->whole && field.kind == RD_CUDA_RANKS_SUMS;
        part->own_count += has_own(&part->of.fields[i].plan->prepared.reduction);
    }
    part->whole = part->whole && !part->own_count;
    if (part->whole)
        part->added_count = part->fields * sizeof *part->partial / sizeof *part->added;
    const size_t partials = RD_CUDA_WORKSPACE_STRIDE,
                 added = partials + (part->whole ? 0 : part->fields) * sizeof *part->partial,
                 own = added + part->added_count * sizeof *part->added;
    part->bytes = own + (size_t)part->ranks * part->own_count * sizeof *part->own;
    if (!at)
        return;
    part->partial = (struct rd_cuda_partial *)(void *)(at + partials);
    part->added = (int64_t *)(void *)(at + added);
    part->own = (struct rd_cuda_ranks_own *)(void *)(at + own);
}

/* Checks the plans against the communicator, and finds out what the part needs. */
static reduct_status open_part(const reduct_nccl_rank *rank, size_t fields, int root, struct part *part,
                               reduct_error *error) {
    const char *why = NULL;
    struct rd_nccl_place at = {0};
    *part = (struct part){.nccl = rd_nccl_open(&why), .of = *rank, .fields = fields, .root = root};
    if (!rank->comm || !rank->fields)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", rank->fields ? "comm" : "fields");
    if (!part->nccl)
        return rd_fail(error, REDUCT_ERROR_NO_DEVICE, "%s", why);
    reduct_status status = rd_nccl_find_place(part->nccl, rank->comm, &at, error);
    part->rank = at.rank;
    part->ranks = at.ranks;
    for (size_t i = 0; status == REDUCT_OK && i < fields; i++)
        status = check_plan(part, i, at.device, error);
    if (status == REDUCT_OK && root != EVERY_RANK)
        status = rd_nccl_check_root(root, part->ranks, error);
    if (status != REDUCT_OK)
        return status;
    part->context = kept_of(part, 0)->launch.context;
    place(part);
    return REDUCT_OK;
}

static bool gets_results(const struct part *part) {
    return part->root == EVERY_RANK || part->root == part->rank;
}

static reduct_status check_field(const struct part *part, size_t i, reduct_error *error) {
    const reduct_nccl_field *field = &part->of.fields[i];
    const reduct_reduction *reduction = &field->plan->prepared.reduction;
    const size_t element = rd_type(reduction->element)->bytes, result = rd_type(reduction->result)->bytes;
    reduct_status status = RD_CHECK_RESERVED("fields: reserved", field, error);
    if (status == REDUCT_OK && field->count > (uint64_t)PTRDIFF_MAX / element)
        status = rd_fail(error, REDUCT_ERROR_ARGUMENT, "fields[%zu].count: %llu elements of %zu bytes", i,
                         (unsigned long long)field->count, element);
    if (status == REDUCT_OK && field->count)
        status = rd_cuda_check_address_in("fields", i, "x", field->x, element, error);
    if (status == REDUCT_OK && field->count && rd_operator(reduction->op)->inputs == 2)
        status = rd_cuda_check_address_in("fields", i, "y", field->y, element, error);
    if (status == REDUCT_OK && gets_results(part))
        status = rd_cuda_check_address_in("fields", i, "result", field->result, result < 8 ? result : 8, error);
    if (status == REDUCT_OK && field->outcome)
        status = rd_cuda_check_address_in("fields", i, "outcome", field->outcome, _Alignof(reduct_cuda_outcome), error);
    return status;
}

/* open_part(), and a look at all pointers. */
static reduct_status check_part(const reduct_nccl_rank *rank, size_t fields, int root, struct part *part,
                                reduct_error *error) {
    reduct_status status = open_part(rank, fields, root, part, error);
    if (status == REDUCT_OK)
        status = RD_CHECK_RESERVED("ranks: reserved", rank, error);
    if (status == REDUCT_OK)
        status = rd_cuda_check_address("workspace", rank->workspace, 256, error);
    for (size_t i = 0; status == REDUCT_OK && i < fields; i++)
        status = check_field(part, i, error);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The steps
 * ------------------------------------------------------------------------------------------------------------------ */

static struct rd_cuda_call call_of(const struct part *part, size_t i) {
    const reduct_nccl_field *field = &part->of.fields[i];
    struct rd_cuda_call call = kept_of(part, i)->launch.call;
    call.count = field->count;
    call.x = field->count ? field->x : NULL;
    call.y = field->count && rd_operator(field->plan->prepared.reduction.op)->inputs == 2 ? field->y : NULL;
    call.partial = part->partial + i;
    call.outcome = (struct rd_cuda_outcome *)field->outcome;
    /* A result that nobody wants has the place of the partial one, which is no longer needed then. */
    call.result = gets_results(part) ? field->result : (void *)call.partial;
    return call;
}

/* Launches a kernel for all fields; it may overlap with what is before it in the stream, if that is a kernel. With the context
 * current. */
static reduct_status launch_ranks(const struct part *part, const char *name, bool overlaps,
                                  const struct rd_cuda_ranks_own *own_base, reduct_error *error) {
    const rd_cuda_driver *driver = part->context->device->driver;
    struct rd_cuda_ranks launch = {.ranks = (uint32_t)part->ranks, .stride = (uint32_t)part->own_count};
    rd_cu_function function;
    int64_t *added = part->added;
    size_t own = 0;
    reduct_status status = rd_cuda_kernel(part->context, "kernels/ranks", name, &function, error);
    overlaps = overlaps && status == REDUCT_OK && rd_cuda_is_newer(driver, function);
    for (size_t i = 0; status == REDUCT_OK && i < part->fields;) {
        unsigned blocks = 0;
        for (; blocks < RD_CUDA_RANKS_FIELDS && i < part->fields; blocks++, i++) {
            const bool owns = has_own(&part->of.fields[i].plan->prepared.reduction);
            struct rd_cuda_ranks_field *field = &launch.field[blocks];
            *field = describe(part->of.fields[i].plan);
            field->call = call_of(part, i);
            field->added = part->whole ? NULL : added;
            field->own = owns ? (struct rd_cuda_ranks_own *)(uintptr_t)(own_base + own) : NULL;
            added += words_of(field);
            own += owns;
        }
        const rd_cu_result result =
            rd_cuda_start_kernel(driver, function, overlaps, blocks, RD_CUDA_THREADS, 0, part->of.stream, &launch);
        if (result != RD_CU_SUCCESS)
            status = rd_cuda_fail(part->context->device, result, "to launch a kernel", error);
    }
    return status;
}

/* Whether partial results are to be made words. */
static bool has_to_share(const struct part *part) {
    bool is_large = false;
    for (size_t i = 0; part->whole && i < part->fields; i++)
        is_large = is_large || part->of.fields[i].count > rd_nccl_raw_most / (unsigned)part->ranks;
    return !part->whole || is_large;
}

/* Reduces this rank's part, to words. */
static reduct_status reduce_part(const struct part *part, reduct_error *error) {
    struct rd_cuda_stay stay;
    reduct_status status = rd_cuda_enter_context(part->context, &stay, error);
    if (status != REDUCT_OK)
        return status;
    rd_cu_result result = RD_CU_SUCCESS;
    for (size_t i = 0; i < part->fields && result == RD_CU_SUCCESS; i++) {
        struct rd_cuda_call call = call_of(part, i);
        result = rd_cuda_launch_in(&kept_of(part, i)->launch, &call, part->of.workspace, part->of.stream);
    }
    if (result != RD_CU_SUCCESS)
        status = rd_cuda_fail(part->context->device, result, "to launch a kernel", error);
    if (status == REDUCT_OK && has_to_share(part))
        status = launch_ranks(part, "ranks_share", kept_of(part, part->fields - 1)->launch.overlaps,
                              part->own + (size_t)part->rank * part->own_count, error);
    rd_cuda_leave(part->context->device, &stay);
    return status;
}

/* Within a group. */
static int exchange(const struct part *part) {
    const rd_nccl *nccl = part->nccl;
    const size_t words = part->own_count * sizeof *part->own / sizeof(uint64_t);
    int result = nccl->ncclAllReduce(part->added, part->added, part->added_count, RD_NCCL_INT64, RD_NCCL_SUM,
                                     part->of.comm, part->of.stream);
    if (result == RD_NCCL_SUCCESS && words)
        result = nccl->ncclAllGather(part->own + (size_t)part->rank * part->own_count, part->own, words, RD_NCCL_UINT64,
                                     part->of.comm, part->of.stream);
    return result;
}

/* Whether what NCCL queues last is known to be a kernel: into a graph it may put something else. */
static bool follows_kernel(const struct part *part) {
    int capturing = 1;
    return kept_of(part, 0)->launch.overlaps &&
           part->context->device->driver->cuStreamIsCapturing(part->of.stream, &capturing) == RD_CU_SUCCESS &&
           !capturing;
}

static reduct_status finish_part(const struct part *part, reduct_error *error) {
    struct rd_cuda_stay stay;
    reduct_status status = rd_cuda_enter_context(part->context, &stay, error);
    if (status != REDUCT_OK)
        return status;
    status = launch_ranks(part, "ranks_finish", follows_kernel(part), part->own, error);
    rd_cuda_leave(part->context->device, &stay);
    return status;
}

/* The part of one of several ranks once more, as there is no memory to keep them in; an only one is kept. */
static reduct_status find_part(const reduct_nccl_rank *rank, size_t count, size_t fields, int root, struct part *part,
                               reduct_error *error) {
    return count == 1 ? REDUCT_OK : open_part(rank, fields, root, part, error);
}

/* All parts are checked before anything is queued. */
static reduct_status reduce(const reduct_nccl_rank *ranks, size_t count, size_t fields, int root, reduct_error *error) {
    struct part part;
    reduct_status status = REDUCT_OK;
    for (size_t r = 0; status == REDUCT_OK && r < count; r++)
        status = check_part(&ranks[r], fields, root, &part, error);
    for (size_t r = 0; status == REDUCT_OK && r < count; r++) {
        status = find_part(&ranks[r], count, fields, root, &part, error);
        if (status == REDUCT_OK)
            status = reduce_part(&part, error);
    }
    if (status != REDUCT_OK)
        return status;
    const rd_nccl *nccl = rd_nccl_open(NULL); /* which is there, as the parts were opened */
    int result = nccl->ncclGroupStart();
    for (size_t r = 0; status == REDUCT_OK && result == RD_NCCL_SUCCESS && r < count; r++) {
        status = find_part(&ranks[r], count, fields, root, &part, error);
        if (status == REDUCT_OK)
            result = exchange(&part);
    }
    const int ended = nccl->ncclGroupEnd();
    if (status == REDUCT_OK)
        status = rd_nccl_fail(nccl, result != RD_NCCL_SUCCESS ? result : ended, error);
    for (size_t r = 0; status == REDUCT_OK && r < count; r++) {
        status = find_part(&ranks[r], count, fields, root, &part, error);
        if (status == REDUCT_OK)
            status = finish_part(&part, error);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The public functions
 * ------------------------------------------------------------------------------------------------------------------ */

/* Loads what calls launch. */
static reduct_status load_kernels(const struct part *part, reduct_error *error) {
    struct rd_cuda_stay stay;
    rd_cu_function function;
    reduct_status status = rd_cuda_enter_context(part->context, &stay, error);
    if (status != REDUCT_OK)
        return status;
    static const char *const names[] = {"ranks_share", "ranks_finish"};
    for (size_t i = 0; status == REDUCT_OK && i < sizeof names / sizeof *names; i++)
        status = rd_cuda_kernel(part->context, "kernels/ranks", names[i], &function, error);
    rd_cuda_leave(part->context->device, &stay);
    return status;
}

reduct_status reduct_nccl_prepare(const reduct_nccl_field *fields, size_t count, struct ncclComm *comm,
                                  size_t *workspace_bytes, reduct_error *error) {
    const reduct_nccl_rank rank = {.fields = fields, .comm = comm};
    struct part part;
    if (!workspace_bytes || !count)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s",
                       count ? "workspace_bytes: null pointer" : "count: 0; expected one field at least");
    rd_environment caller = rd_environment_enter();
    reduct_status status = open_part(&rank, count, EVERY_RANK, &part, error);
    if (status == REDUCT_OK)
        status = load_kernels(&part, error);
    rd_environment_leave(caller);
    if (status == REDUCT_OK)
        *workspace_bytes = part.bytes;
    return status;
}

static reduct_status reduce_ranks(const reduct_nccl_rank *ranks, size_t rank_count, size_t field_count, int root,
                                  reduct_error *error) {
    if (!ranks)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "ranks: null pointer");
    if (!rank_count || !field_count)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "count: 0; expected one %s at least",
                       rank_count ? "field" : "rank");
    rd_environment caller = rd_environment_enter();
    reduct_status status = reduce(ranks, rank_count, field_count, root, error);
    rd_environment_leave(caller);
    return status;
}

reduct_status reduct_nccl_allreduce(const reduct_nccl_field *fields, size_t count, struct ncclComm *comm,
                                    void *workspace, struct CUstream_st *stream, reduct_error *error) {
    const reduct_nccl_rank rank = {.fields = fields, .comm = comm, .workspace = workspace, .stream = stream};
    return reduce_ranks(&rank, 1, count, EVERY_RANK, error);
}

reduct_status reduct_nccl_reduce(const reduct_nccl_field *fields, size_t count, int root, struct ncclComm *comm,
                                 void *workspace, struct CUstream_st *stream, reduct_error *error) {
    const reduct_nccl_rank rank = {.fields = fields, .comm = comm, .workspace = workspace, .stream = stream};
    if (root < 0)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "root: %d; expected a rank", root);
    return reduce_ranks(&rank, 1, count, root, error);
}

reduct_status reduct_nccl_allreduce_ranks(const reduct_nccl_rank *ranks, size_t rank_count, size_t field_count,
                                          reduct_error *error) {
    return reduce_ranks(ranks, rank_count, field_count, EVERY_RANK, error);
}
