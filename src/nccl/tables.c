/* Tables of accumulators over the ranks of an NCCL communicator: see reduct/nccl.h, and state/join.h for the steps.
 *
 * Cells are in host memory, those of tables on a CUDA device, too. So each message is written to page-locked memory, goes to the device,
 * where NCCL reduces it, and comes back, all in the caller's stream. While one is under way, the next is written and the one before is
 * read. Only where all that the ranks' tables hold is pending on the communicator's devices (cuda/pending.h) nothing of it comes to the
 * host: all write their numerals in the form that has room for what these come to, and NCCL adds the words.
 *
 * NCCL adds and finds the least of integers. What merges by bits goes as counts, a few bits for each, which add; of pairs first the least
 * first words are found, and then the least second words of those that have these. */
#include "core/environment.h"
#include "core/options.h"
#include "core/status.h"
#include "cuda/backend.h"
#include "cuda/channel.h"
#include "cuda/kernels/tuning.h"
#include "cuda/pending.h"
#include "nccl/calls.h"
#include "state/join.h"

#include <reduct/nccl.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A channel's memory is two slots, of so many words. */
enum { SLOTS = 2, SLOT = RD_CUDA_STAGE_BYTES / SLOTS / 8 };
_Static_assert(SLOT >= RD_JOIN_PART / 2 * 32, "bits of a part have room, of however many ranks");

/* The most states of a table that is not brought to the host. */
enum { PENDING_MOST = 8 };

/* What each rank tells all others. */
struct record {
    uint64_t signature, groups, seen;
    int64_t root, status;
    uint64_t pending; /* states, if all that the table holds is; otherwise 0 */
    struct {
        struct rd_cuda_extent extent;
        uint64_t room; /* words of a numeral */
    } of_state[PENDING_MOST];
    char message[240];
};
_Static_assert(sizeof(struct record) % sizeof(int64_t) == 0, "records are words");
enum { RECORD = sizeof(struct record) / sizeof(int64_t), RANKS_MOST = SLOTS * SLOT / RECORD };

/* One rank of those that the calling thread has. */
struct part {
    const reduct_nccl_table *of;
    char name[32]; /* how messages begin that name what of it is wrong */
    int rank, ranks;
    struct rd_cuda_context *context;
    struct rd_cuda_channel *channel;
    struct rd_cuda_numbers *pending; /* of each state, if all that the table holds is; otherwise null */
    uint64_t before;                 /* elements of the ranks before this one */
    struct rd_join *join;
    struct rd_join_message asked;
    struct rd_join_part at[SLOTS]; /* what the slots hold */
    int64_t *words;                /* of what NCCL does not merge as it is */
    reduct_error failure;          /* a rank that has failed goes on taking part */
};

struct call {
    const rd_nccl *nccl;
    struct part *part;
    size_t count;
    bool for_all;
    int root;              /* whose result it is where it is not for all */
    uint64_t groups, seen; /* the most of any table; elements of all */
    bool lost;             /* NCCL or a device failed: the GPUs may still use channels */
};

/* ---------------------------------------------------------------------------------------------------------------------
 * Failures
 * ------------------------------------------------------------------------------------------------------------------ */

/* Notes what failed on one rank alone, unless something did before. */
static void note(struct part *part, const reduct_error *error) {
    if (part->failure.status == REDUCT_OK)
        part->failure = *error;
}

static bool writes(const struct call *call, const struct part *part) {
    return call->for_all || call->root == part->rank;
}

/* After this nothing can be agreed on. */
static reduct_status lose(struct call *call, reduct_status status) {
    call->lost = call->lost || status != REDUCT_OK;
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Words: to the devices, through NCCL, and back
 * ------------------------------------------------------------------------------------------------------------------ */

static int64_t *slot_of(const struct part *part, unsigned slot) {
    return (int64_t *)part->channel->staging + (size_t)slot * SLOT;
}

static rd_cu_address there(const struct part *part, size_t word) {
    return part->channel->buffer + word * sizeof(int64_t);
}

/* Queues that words go to the device or come from it; the first is number `at` of the memory. */
static reduct_status copy(const struct part *part, size_t at, size_t words, bool comes, reduct_error *error) {
    const struct rd_cuda_device *device = part->context->device;
    int64_t *here = slot_of(part, 0) + at;
    struct rd_cuda_stay stay;
    reduct_status status = rd_cuda_enter_context(part->context, &stay, error);
    if (status != REDUCT_OK)
        return status;
    const size_t bytes = words * sizeof *here;
    const rd_cu_result result = comes
                                    ? device->driver->cuMemcpyDtoHAsync(here, there(part, at), bytes, part->of->stream)
                                    : device->driver->cuMemcpyHtoDAsync(there(part, at), here, bytes, part->of->stream);
    if (result != RD_CU_SUCCESS)
        status = rd_cuda_fail(device, result, "to copy words of a table", error);
    rd_cuda_leave(device, &stay);
    return status;
}

/* Queues what NCCL does with words of all ranks: an all-reduce, or that each rank's own come to all. Sums are those of unsigned integers, which
 * are the same and may be of 64 bits. */
enum { GATHER = -1 };
static reduct_status exchange(const struct call *call, size_t at, size_t words, int operation, reduct_error *error) {
    const int type = operation == RD_NCCL_MIN ? RD_NCCL_INT64 : RD_NCCL_UINT64;
    int result = call->nccl->ncclGroupStart();
    for (size_t i = 0; result == RD_NCCL_SUCCESS && i < call->count; i++) {
        const struct part *part = &call->part[i];
        void *all = (void *)(uintptr_t)there(part, at),
             *own = (void *)(uintptr_t)there(part, at + (size_t)part->rank * words);
        result = operation == GATHER
                     ? call->nccl->ncclAllGather(own, all, words, type, part->of->comm, part->of->stream)
                     : call->nccl->ncclAllReduce(all, all, words, type, operation, part->of->comm, part->of->stream);
    }
    const int ended = call->nccl->ncclGroupEnd();
    return rd_nccl_fail(call->nccl, result != RD_NCCL_SUCCESS ? result : ended, error);
}

/* Queues that a slot's words are reduced, to where they are. */
static reduct_status start(struct call *call, unsigned slot, size_t words, int operation, reduct_error *error) {
    const size_t at = (size_t)slot * SLOT;
    reduct_status status = REDUCT_OK;
    for (size_t i = 0; status == REDUCT_OK && i < call->count; i++)
        status = copy(&call->part[i], at, words, false, error);
    if (status == REDUCT_OK)
        status = exchange(call, at, words, operation, error);
    for (size_t i = 0; status == REDUCT_OK && i < call->count; i++)
        status = copy(&call->part[i], at, words, true, error);
    return lose(call, status);
}

/* Whether all that is queued for a rank is done. Where another rank is gone, NCCL finds out by itself; its kernels may then wait for
 * ever. */
static reduct_status look(const struct call *call, const struct part *part, bool *done, reduct_error *error) {
    const struct rd_cuda_device *device = part->context->device;
    struct rd_cuda_stay stay;
    int found = RD_NCCL_SUCCESS;
    reduct_status status = rd_cuda_enter_context(part->context, &stay, error);
    if (status != REDUCT_OK)
        return status;
    const rd_cu_result result = device->driver->cuStreamQuery(part->of->stream);
    rd_cuda_leave(device, &stay);
    *done = result == RD_CU_SUCCESS;
    if (!*done && result != RD_CU_ERROR_NOT_READY)
        return rd_cuda_fail(device, result, "to reduce a table over ranks", error);
    const int asked = call->nccl->ncclCommGetAsyncError(part->of->comm, &found);
    return rd_nccl_fail(call->nccl, asked != RD_NCCL_SUCCESS ? asked : found, error);
}

static reduct_status await(struct call *call, reduct_error *error) {
    reduct_status status = REDUCT_OK;
    for (size_t i = 0; status == REDUCT_OK && i < call->count; i++)
        for (bool done = false; status == REDUCT_OK && !done;) {
            status = look(call, &call->part[i], &done, error);
            if (!done)
                sched_yield();
        }
    return lose(call, status);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What ranks tell each other
 * ------------------------------------------------------------------------------------------------------------------ */

static void tell_of_pending(struct part *part, struct record *record) {
    const reduct_table *table = part->of->table;
    part->pending = table->states <= PENDING_MOST ? rd_cuda_pending_all(table, part->context) : NULL;
    record->pending = part->pending ? table->states : 0;
    for (size_t s = 0; s < record->pending; s++) {
        record->of_state[s].extent = part->pending[s].extent;
        record->of_state[s].room = part->pending[s].room;
    }
}

static void fill_record(const struct call *call, struct part *part) {
    const reduct_table *table = part->of->table;
    struct record *record = (struct record *)part->channel->staging + part->rank;
    *record = (struct record){.groups = reduct_table_groups(table),
                              .root = call->for_all ? INT64_MIN : call->root,
                              .status = (int64_t)part->failure.status};
    if (table) {
        record->signature = reduct_joining.signature(table);
        record->seen = reduct_joining.seen(table);
        tell_of_pending(part, record);
    }
    memcpy(record->message, part->failure.message, sizeof record->message);
}

/* Everybody's records come to everybody; fails, alike on all ranks, where one has failed. */
static reduct_status agree(struct call *call, reduct_error *error) {
    const struct part *first = call->part;
    const struct record *record = first->channel->staging;
    reduct_status status = REDUCT_OK;
    for (size_t i = 0; status == REDUCT_OK && i < call->count; i++) {
        fill_record(call, &call->part[i]);
        status = copy(&call->part[i], (size_t)call->part[i].rank * RECORD, RECORD, false, error);
    }
    if (status == REDUCT_OK)
        status = exchange(call, 0, RECORD, GATHER, error);
    for (size_t i = 0; status == REDUCT_OK && i < call->count; i++)
        status = copy(&call->part[i], 0, (size_t)first->ranks * RECORD, true, error);
    if (lose(call, status) == REDUCT_OK)
        status = await(call, error);
    for (int r = 0; status == REDUCT_OK && r < first->ranks; r++)
        if (record[r].status != REDUCT_OK)
            status = rd_fail(error, (reduct_status)record[r].status, "rank %d: %.200s", r, record[r].message);
    return status;
}

/* Whether ranks are about to do the same; what all have together. */
static reduct_status compare(struct call *call, reduct_error *error) {
    const int ranks = call->part->ranks;
    const struct record *record = call->part->channel->staging;
    bool fits = true;
    for (int r = 0; r < ranks; r++) {
        if (record[r].signature != record->signature)
            return rd_fail(error, REDUCT_ERROR_MISMATCH, "reductions: not the same on all ranks");
        if (record[r].root != record->root)
            return rd_fail(error, REDUCT_ERROR_MISMATCH, "root: not the same on all ranks");
        for (size_t i = 0; i < call->count; i++)
            if (call->part[i].rank == r)
                call->part[i].before = call->seen;
        fits = fits && record[r].seen <= ((uint64_t)1 << 63) - call->seen;
        call->seen += fits ? record[r].seen : 0;
        call->groups = record[r].groups > call->groups ? record[r].groups : call->groups;
    }
    return fits ? REDUCT_OK
                : rd_fail(error, REDUCT_ERROR_TOO_LARGE, "table: more than 2^63 elements on all ranks together");
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Messages, as NCCL takes them
 * ------------------------------------------------------------------------------------------------------------------ */

/* How bits are counted: each in so many bits of a word, as many of them as there is room for, in so many words. */
struct spread {
    unsigned each, in_word, words;
};

static struct spread spread_of(int ranks) {
    const unsigned each = 32 - (unsigned)__builtin_clz((unsigned)ranks), in_word = 64 / each;
    return (struct spread){each, in_word, (64 + in_word - 1) / in_word};
}

static bool is_by_bits(const struct rd_join_message *message) {
    return message->merge == REDUCT_MERGE_OR || message->merge == REDUCT_MERGE_XOR;
}

static bool is_of_pairs(const struct rd_join_message *message) {
    return message->width == 2;
}

/* Whether NCCL merges its words as they are. */
static bool is_plain(const struct rd_join_message *message) {
    return !is_by_bits(message) && !is_of_pairs(message);
}

static int operation_of(const struct rd_join_message *message) {
    return message->merge == REDUCT_MERGE_LEAST ? RD_NCCL_MIN : RD_NCCL_SUM;
}

static void spread_bits(const struct spread *spread, const int64_t *words, size_t count, int64_t *to) {
    memset(to, 0, count * spread->words * sizeof *to);
    for (size_t i = 0; i < count; i++, to += spread->words)
        for (uint64_t left = (uint64_t)words[i]; left; left &= left - 1) {
            const unsigned bit = (unsigned)__builtin_ctzll(left);
            to[bit / spread->in_word] |= (int64_t)((uint64_t)1 << bit % spread->in_word * spread->each);
        }
}

/* Of counts those that are not zero, or that are odd. */
static void collect_bits(const struct spread *spread, bool odd, const int64_t *from, size_t count, int64_t *words) {
    const uint64_t mask = ((uint64_t)1 << spread->each) - 1;
    for (size_t i = 0; i < count; i++, words++) {
        *words = 0;
        for (unsigned w = 0; w < spread->words; w++, from++)
            for (uint64_t left = (uint64_t)*from; left;) {
                const unsigned place = (unsigned)__builtin_ctzll(left) / spread->each, at = place * spread->each;
                const uint64_t counted = left >> at & mask;
                *words |= (int64_t)((odd ? counted & 1 : 1) << (w * spread->in_word + place));
                left &= ~(mask << at);
            }
    }
}

/* Writes a round of a message's words to a slot; returns how many there are. Of pairs the first words make the first round. */
static size_t encode(const struct part *part, const struct rd_join_message *message, unsigned round,
                     const int64_t *words, int64_t *to) {
    const struct spread spread = spread_of(part->ranks);
    const size_t count = (size_t)(message->count / message->width);
    if (is_by_bits(message)) {
        spread_bits(&spread, words, count, to);
        return count * spread.words;
    }
    for (size_t i = 0; i < count; i++)
        to[i] = words[message->width * i + round];
    return count;
}

/* Reads what a round came to. A second word of a pair whose first one is not the least is as none. */
static void decode(const struct part *part, const struct rd_join_message *message, unsigned round, const int64_t *from,
                   int64_t *words) {
    const struct spread spread = spread_of(part->ranks);
    const size_t count = (size_t)(message->count / message->width);
    if (is_by_bits(message)) {
        collect_bits(&spread, message->merge == REDUCT_MERGE_XOR, from, count, words);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        int64_t *own = words + message->width * i;
        if (is_of_pairs(message) && round == 0 && own[0] != from[i])
            own[1] = INT64_MAX;
        own[round] = from[i];
    }
}

/* Merges a message of each rank in place, and waits for it: one that fits in the slot, of the words from number `from` on. */
static reduct_status merge(struct call *call, const struct rd_join_message *message, int64_t *(*words)(struct part *),
                           size_t from, unsigned slot, reduct_error *error) {
    reduct_status status = REDUCT_OK;
    for (unsigned round = 0; status == REDUCT_OK && round < message->width; round++) {
        size_t count = 0;
        for (size_t i = 0; i < call->count; i++)
            count = encode(&call->part[i], message, round, words(&call->part[i]) + from, slot_of(&call->part[i], slot));
        status = start(call, slot, count, operation_of(message), error);
        if (status == REDUCT_OK)
            status = await(call, error);
        for (size_t i = 0; status == REDUCT_OK && i < call->count; i++)
            decode(&call->part[i], message, round, slot_of(&call->part[i], slot), words(&call->part[i]) + from);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Asking
 * ------------------------------------------------------------------------------------------------------------------ */

static int64_t *asked_words(struct part *part) {
    return part->asked.words;
}

/* However many words are asked for. */
static reduct_status merge_asked(struct call *call, reduct_error *error) {
    const struct rd_join_message all = call->part->asked;
    const struct spread spread = spread_of(call->part->ranks);
    const size_t most = is_by_bits(&all) ? SLOT / spread.words : SLOT;
    reduct_status status = REDUCT_OK;
    for (size_t done = 0, some; status == REDUCT_OK && done < all.count; done += some) {
        struct rd_join_message message = all;
        some = all.count - done < most ? (size_t)all.count - done : most;
        message.count = some;
        status = merge(call, &message, asked_words, done, 0, error);
    }
    return status;
}

static reduct_status ask_all(struct call *call, reduct_error *error) {
    reduct_status status = REDUCT_OK;
    for (bool more = true; status == REDUCT_OK && more;) {
        for (size_t i = 0; i < call->count; i++)
            more = reduct_joining.ask(call->part[i].join, &call->part[i].asked); /* the same of all */
        if (more)
            status = merge_asked(call, error);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Parts
 * ------------------------------------------------------------------------------------------------------------------ */

static int64_t *own_words(struct part *part) {
    return part->words;
}

/* The parts after those of the other slot. */
static bool next_parts(struct call *call, bool aside, unsigned slot) {
    bool more = false;
    for (size_t i = 0; i < call->count; i++) {
        struct part *part = &call->part[i];
        part->at[slot] = part->at[!slot];
        more = reduct_joining.next(part->join, aside, &part->at[slot]);
    }
    return more;
}

static void pack(struct call *call, unsigned slot, bool plain) {
    for (size_t i = 0; i < call->count; i++) {
        const struct part *part = &call->part[i];
        reduct_joining.pack(part->join, &part->at[slot], plain ? slot_of(part, slot) : part->words);
    }
}

static void unpack(struct call *call, unsigned slot, bool plain) {
    for (size_t i = 0; i < call->count; i++) {
        const struct part *part = &call->part[i];
        if (writes(call, part))
            reduct_joining.unpack(part->join, &part->at[slot], plain ? slot_of(part, slot) : part->words);
    }
}

/* A part after the other. What is plain is under way while the next is packed, and the one before is unpacked. */
static reduct_status merge_parts(struct call *call, bool aside, reduct_error *error) {
    reduct_status status = REDUCT_OK;
    bool more = true, flying = false;
    for (size_t i = 0; i < call->count; i++)
        memset(call->part[i].at, 0, sizeof call->part[i].at);
    for (unsigned slot = 0; status == REDUCT_OK && more; slot = !slot) {
        const struct rd_join_message *message = &call->part->at[slot].message;
        more = next_parts(call, aside, slot);
        const bool plain = more && is_plain(message);
        if (more)
            pack(call, slot, plain);
        if (flying)
            status = await(call, error);
        if (status == REDUCT_OK && plain)
            status = start(call, slot, (size_t)message->count, operation_of(message), error);
        if (status == REDUCT_OK && flying)
            unpack(call, !slot, true);
        if (status == REDUCT_OK && more && !plain) {
            status = merge(call, message, own_words, 0, slot, error);
            if (status == REDUCT_OK)
                unpack(call, slot, false);
        }
        flying = plain;
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Calls
 * ------------------------------------------------------------------------------------------------------------------ */

/* A stream that is being captured would be asked to wait. */
static reduct_status check_stream(const struct part *part, reduct_error *error) {
    const struct rd_cuda_device *device = part->context->device;
    int capturing = 0;
    const rd_cu_result result = device->driver->cuStreamIsCapturing(part->of->stream, &capturing);
    if (result != RD_CU_SUCCESS)
        return rd_cuda_fail(device, result, "to look at the stream", error);
    return capturing ? rd_fail(error, REDUCT_ERROR_UNSUPPORTED,
                               "%sstream: is being captured; tables over ranks cannot be part of a graph", part->name)
                     : REDUCT_OK;
}

/* What a rank needs to take part. */
static reduct_status open_part(struct call *call, struct part *part, reduct_error *error) {
    struct ncclComm *comm = part->of->comm;
    const struct rd_cuda_name *name;
    struct rd_cuda_stay stay;
    struct rd_nccl_place at = {0};
    char text[16];
    if (!comm)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%scomm: null pointer", part->name);
    reduct_status status = rd_nccl_find_place(call->nccl, comm, &at, error);
    part->rank = at.rank;
    part->ranks = at.ranks;
    if (status == REDUCT_OK && part->ranks > RANKS_MOST)
        return rd_fail(error, REDUCT_ERROR_UNSUPPORTED, "%scomm: has %d ranks; expected %d at most", part->name,
                       part->ranks, RANKS_MOST);
    snprintf(text, sizeof text, "%d", at.device);
    if (status == REDUCT_OK)
        status = rd_cuda_device_open(text, &name, error);
    if (status == REDUCT_OK)
        status = rd_cuda_enter(name->device, &stay, error);
    if (status != REDUCT_OK)
        return status;
    part->context = stay.context;
    status = check_stream(part, error);
    if (status == REDUCT_OK)
        status = rd_cuda_channel_take(part->context, true, &part->channel, error);
    rd_cuda_leave(name->device, &stay);
    return status;
}

/* What else there is to say of a rank's arguments. It can take part, and all are told. */
static reduct_status check_part(const struct call *call, const struct part *part, reduct_error *error) {
    if (!part->of->table)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "table: null pointer");
    reduct_status status = call->for_all ? REDUCT_OK : rd_nccl_check_root(call->root, part->ranks, error);
    if (status != REDUCT_OK)
        return status;
    for (const struct part *other = call->part; other < part; other++)
        if (other->of->table == part->of->table)
            return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%stable: is that of rank %d, too", part->name, other->rank);
    return RD_CHECK_RESERVED("ranks: reserved", part->of, error);
}

static void open_join(struct call *call, struct part *part) {
    reduct_error local;
    part->words = malloc(RD_JOIN_PART * sizeof *part->words);
    if (!part->words) {
        rd_fail(&local, REDUCT_ERROR_OUT_OF_MEMORY, "table: %zu bytes could not be allocated",
                RD_JOIN_PART * sizeof *part->words);
        note(part, &local);
    }
    if (reduct_joining.open(part->of->table, (uint64_t)part->ranks, call->groups, part->before, &part->join, &local) !=
        REDUCT_OK)
        note(part, &local);
}

static void settle(struct call *call, struct part *part) {
    reduct_error local;
    if (reduct_joining.settle(part->join, writes(call, part), &local) != REDUCT_OK)
        note(part, &local);
}

static void finish(struct call *call, struct part *part) {
    if (!writes(call, part))
        return;
    reduct_joining.finish(part->join, call->seen);
    part->join = NULL;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What is pending everywhere
 * ------------------------------------------------------------------------------------------------------------------ */

/* A state on all ranks. */
struct pending_state {
    struct rd_cuda_extent extent;
    struct rd_cuda_numeral_form form;
};

/* Whether all ranks have it pending, in as many groups, and room for what it comes to: the same answer everywhere. */
static bool find_form(const struct call *call, size_t s, struct pending_state *state) {
    const int ranks = call->part->ranks;
    const struct record *record = call->part->channel->staging;
    const unsigned headroom = ranks > 1 ? 32 - (unsigned)__builtin_clz((unsigned)ranks - 1) : 0;
    struct rd_cuda_extent extent = rd_cuda_extent_none();
    uint64_t room = UINT64_MAX;
    for (int r = 0; r < ranks; r++) {
        if (s >= record[r].pending || record[r].groups != call->groups)
            return false;
        extent = rd_cuda_extent_of_both(&extent, &record[r].of_state[s].extent);
        room = record[r].of_state[s].room < room ? record[r].of_state[s].room : room;
    }
    state->extent = rd_cuda_extent_of_sums(&extent, headroom);
    return rd_cuda_numeral_form_for(&call->part->of->table->cells[s], &state->extent, headroom, &state->form) &&
           state->form.words <= room;
}

/* Returns how many states there are; 0 where not all can be reduced as they are. */
static size_t find_forms(const struct call *call, struct pending_state state[PENDING_MOST]) {
    const size_t states = call->part->of->table->states;
    for (size_t s = 0; s < states; s++)
        if (!find_form(call, s, &state[s]))
            return 0;
    return states;
}

/* Queues that a rank's numerals are written as all ranks' are. */
static reduct_status reform(const struct part *part, const struct pending_state *state, size_t states,
                            reduct_error *error) {
    struct rd_cuda_stay stay;
    reduct_status status = rd_cuda_enter_context(part->context, &stay, error);
    if (status != REDUCT_OK)
        return status;
    for (size_t s = 0; s < states && status == REDUCT_OK; s++)
        status = rd_cuda_numbers_reform(part->context, &part->of->table->cells[s], &part->pending[s], &state[s].form,
                                        part->of->stream, error);
    rd_cuda_leave(part->context->device, &stay);
    return status;
}

/* Queues that they are added, where they are. What is for one rank leaves those of others. */
static reduct_status add_numerals(const struct call *call, size_t states, reduct_error *error) {
    const rd_nccl *nccl = call->nccl;
    int result = nccl->ncclGroupStart();
    for (size_t i = 0; i < call->count; i++)
        for (size_t s = 0; s < states && result == RD_NCCL_SUCCESS; s++) {
            const reduct_nccl_table *of = call->part[i].of;
            const struct rd_cuda_numbers *numbers = &call->part[i].pending[s];
            void *words = (void *)(uintptr_t)numbers->words;
            const size_t count = (size_t)(numbers->groups * numbers->form.words);
            result = call->for_all
                         ? nccl->ncclAllReduce(words, words, count, RD_NCCL_UINT64, RD_NCCL_SUM, of->comm, of->stream)
                         : nccl->ncclReduce(words, writes(call, &call->part[i]) ? words : NULL, count, RD_NCCL_UINT64,
                                            RD_NCCL_SUM, call->root, of->comm, of->stream);
        }
    const int ended = nccl->ncclGroupEnd();
    return rd_nccl_fail(nccl, result != RD_NCCL_SUCCESS ? result : ended, error);
}

/* What numerals are like now. As channels, those that a GPU may still write to are nobody's from now on. */
static void settle_pending(const struct call *call, struct rd_cuda_numbers *numbers, const struct pending_state *state,
                           bool written) {
    if (call->lost)
        *numbers = (struct rd_cuda_numbers){.words = 0};
    else if (written)
        numbers->extent = state->extent;
}

static reduct_status reduce_pending(struct call *call, const struct pending_state *state, size_t states,
                                    reduct_error *error) {
    reduct_status status = REDUCT_OK;
    for (size_t i = 0; i < call->count && status == REDUCT_OK; i++)
        status = reform(&call->part[i], state, states, error);
    if (status == REDUCT_OK && call->groups)
        status = add_numerals(call, states, error);
    if (lose(call, status) == REDUCT_OK)
        status = await(call, error);
    for (size_t i = 0; i < call->count; i++)
        for (size_t s = 0; s < states; s++)
            settle_pending(call, &call->part[i].pending[s], &state[s], writes(call, &call->part[i]));
    for (size_t i = 0; i < call->count && status == REDUCT_OK; i++)
        if (writes(call, &call->part[i]))
            call->part[i].of->table->seen = call->seen;
    return status;
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* With all channels taken. */
static reduct_status reduce(struct call *call, reduct_error *error) {
    struct pending_state state[PENDING_MOST];
    reduct_error local;
    for (size_t i = 0; i < call->count; i++)
        if (check_part(call, &call->part[i], &local) != REDUCT_OK)
            note(&call->part[i], &local);
    reduct_status status = agree(call, error);
    if (status == REDUCT_OK)
        status = compare(call, error);
    if (status != REDUCT_OK)
        return status;
    const size_t states = find_forms(call, state);
    if (states)
        return reduce_pending(call, state, states, error);
    for (size_t i = 0; i < call->count; i++)
        open_join(call, &call->part[i]);
    status = agree(call, error);
    if (status == REDUCT_OK)
        status = ask_all(call, error);
    if (status == REDUCT_OK)
        status = merge_parts(call, true, error);
    if (status != REDUCT_OK)
        return status;
    for (size_t i = 0; i < call->count; i++)
        settle(call, &call->part[i]);
    status = agree(call, error);
    if (status == REDUCT_OK)
        status = merge_parts(call, false, error);
    for (size_t i = 0; status == REDUCT_OK && i < call->count; i++)
        finish(call, &call->part[i]);
    return status;
}

/* Channels that a GPU may still write to are nobody's from now on: to free them would be to wait. */
static void close_part(const struct call *call, struct part *part) {
    reduct_joining.close(part->join);
    free(part->words);
    if (part->channel && !call->lost)
        rd_cuda_channel_give(part->context, part->channel);
}

/* With memory for what is known of each rank; `named`: messages tell which of them. */
static reduct_status reduce_all(struct call *call, const reduct_nccl_table *ranks, bool named, reduct_error *error) {
    reduct_status status = REDUCT_OK;
    for (size_t i = 0; i < call->count; i++) {
        call->part[i] = (struct part){.of = &ranks[i]};
        if (named)
            snprintf(call->part[i].name, sizeof call->part[i].name, "ranks[%zu].", i);
    }
    for (size_t i = 0; status == REDUCT_OK && i < call->count; i++)
        status = open_part(call, &call->part[i], error);
    if (status == REDUCT_OK)
        status = reduce(call, error);
    for (size_t i = 0; i < call->count; i++)
        close_part(call, &call->part[i]);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The public functions
 * ------------------------------------------------------------------------------------------------------------------ */

/* `root`: null where the result is for all. An only rank needs no memory that there might not be. */
static reduct_status run(const reduct_nccl_table *ranks, size_t count, bool named, const int *root,
                         reduct_error *error) {
    const char *why = NULL;
    struct part only;
    struct call call = {.nccl = rd_nccl_open(&why),
                        .part = count > 1 ? malloc(count * sizeof only) : &only,
                        .count = count,
                        .for_all = !root,
                        .root = root ? *root : 0};
    reduct_status status = REDUCT_OK;
    rd_environment caller = rd_environment_enter();
    if (!call.nccl)
        status = rd_fail(error, REDUCT_ERROR_NO_DEVICE, "%s", why);
    else if (!call.part)
        status = rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "ranks: memory for %zu could not be allocated", count);
    else
        status = reduce_all(&call, ranks, named, error);
    rd_environment_leave(caller);
    if (call.part != &only)
        free(call.part);
    return status;
}

reduct_status reduct_nccl_allreduce_table(reduct_table *table, struct ncclComm *comm, struct CUstream_st *stream,
                                          reduct_error *error) {
    const reduct_nccl_table rank = {.table = table, .comm = comm, .stream = stream};
    return run(&rank, 1, false, NULL, error);
}

reduct_status reduct_nccl_reduce_table(reduct_table *table, int root, struct ncclComm *comm, struct CUstream_st *stream,
                                       reduct_error *error) {
    const reduct_nccl_table rank = {.table = table, .comm = comm, .stream = stream};
    return run(&rank, 1, false, &root, error);
}

reduct_status reduct_nccl_allreduce_table_ranks(const reduct_nccl_table *ranks, size_t rank_count,
                                                reduct_error *error) {
    if (!ranks || !rank_count)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s",
                       ranks ? "rank_count: 0; expected one rank at least" : "ranks: null pointer");
    return run(ranks, rank_count, true, NULL, error);
}
