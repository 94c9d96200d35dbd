/* Packing, reducing and unpacking messages: see message.h. */
#include "mpi/message.h"

#include "mpi/table.h"

#include <limits.h>
#include <string.h>

reduct_reduction rm_reduction(const struct rm_fields *all, size_t i) {
    if (all->accumulators && all->accumulators[i])
        return reduct_accumulator_reduction(all->accumulators[i]);
    return all->fields && all->fields[i].reduction ? *all->fields[i].reduction
                                                   : (reduct_reduction){.op = REDUCT_SUM, .element = REDUCT_F64};
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Short messages
 * ------------------------------------------------------------------------------------------------------------------ */

/* Words of a state of so many in all, its sums' middle limbs, that suffice where all ranks' sums lie between 2^-128 and 2^64, those
 * of products between 2^-256 and 2^128, in a message of a fraction of the size. */
struct narrow {
    size_t row, first, count;
};

static const struct narrow *narrow_of(size_t width) {
    static const struct narrow NARROW[] = {{RM_WIDTH_F64, RM_COUNTS + 30, RM_NARROW_F64},
                                           {141, RM_COUNTS + 60, 12}}; /* of f64 */
    for (size_t i = 0; i < sizeof NARROW / sizeof *NARROW; i++)
        if (width == NARROW[i].row)
            return &NARROW[i];
    return NULL;
}

/* Words that a state of so many takes in a short message; all of them where nothing is known of it. */
static size_t narrowed(size_t width) {
    const struct narrow *narrow = narrow_of(width);
    return narrow ? 1 + narrow->count : width;
}

/* Whether what is not sent of a state is zero, or follows from what is. */
static bool fits(const int64_t *state, const struct narrow *narrow) {
    int64_t left = (state[RM_SEEN] != 0) != (state[RM_NONZERO] != 0);
    for (size_t i = RM_SEEN_HIGH; i < RM_NONZERO; i++)
        left |= state[i];
    for (size_t i = RM_COUNTS; i < narrow->first; i++)
        left |= state[i];
    for (size_t i = narrow->first + narrow->count; i < narrow->row; i++)
        left |= state[i];
    return left == 0;
}

bool rm_brief_pack(const int64_t *state, size_t width, int64_t *to) {
    const struct narrow *narrow = narrow_of(width);
    if (!narrow) {
        memcpy(to, state, width * sizeof *state);
        return true;
    }
    to[0] = state[RM_SEEN];
    memcpy(to + 1, state + narrow->first, narrow->count * sizeof *state);
    return fits(state, narrow);
}

static void make_wide(const int64_t *from, size_t width, int64_t *state) {
    const struct narrow *narrow = narrow_of(width);
    if (!narrow) {
        memcpy(state, from, width * sizeof *state);
        return;
    }
    memset(state, 0, width * sizeof *state);
    state[RM_SEEN] = from[0];
    state[RM_NONZERO] = from[0] != 0;
    memcpy(state + narrow->first, from + 1, narrow->count * sizeof *state);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Packing
 * ------------------------------------------------------------------------------------------------------------------ */

/* Words of field number `i`. */
static size_t width_of(const struct rm_message *message, const struct rm_fields *all, size_t i) {
    if (message->row)
        return message->row;
    reduct_words form = {0};
    reduct_reduction reduction = rm_reduction(all, i);
    reduct_reduction_words(&reduction, &form, NULL); /* as it was when the message's size was found out */
    return form.count;
}

/* Which reduction it is, as far as merging must know, in one word. */
static int64_t describe(const reduct_reduction *reduction) {
    return (int64_t)((uint64_t)reduction->op | (uint64_t)reduction->element << 8 | (uint64_t)reduction->mode << 16 |
                     (uint64_t)reduction->nan << 24 | (uint64_t)reduction->flags << 32);
}

static reduct_reduction described(int64_t word) {
    uint64_t bits = (uint64_t)word;
    return (reduct_reduction){.op = (reduct_operator)(bits & 255),
                              .element = (reduct_type)(bits >> 8 & 255),
                              .mode = (reduct_mode)(bits >> 16 & 255),
                              .nan = (reduct_nan)(bits >> 24 & 255),
                              .flags = (uint32_t)(bits >> 32)};
}

uint64_t rm_sign(uint64_t signature, const reduct_reduction *reduction) {
    return (signature ^ (uint64_t)describe(reduction)) * 0x100000001b3;
}

reduct_status rm_message_shape(struct rm_message *message, const struct rm_fields *all, reduct_error *error) {
    size_t states = 0, width = 0, brief = 0;
    bool adds = true, alike = true, narrows = false;
    uint64_t signature = RM_SIGNATURE;
    reduct_words form = {0};
    for (size_t i = 0; i < all->count; i++) {
        reduct_reduction reduction = rm_reduction(all, i);
        reduct_status status = reduct_reduction_words(&reduction, &form, error);
        if (status != REDUCT_OK)
            return status;
        states += form.count;
        adds = adds && form.added == form.count;
        alike = alike && (i == 0 || form.count == width);
        width = form.count;
        narrows = narrows || narrow_of(width);
        brief += narrowed(width);
        signature = rm_sign(signature, &reduction);
    }
    size_t first = adds ? 1 : 2 + all->count;
    *message = (struct rm_message){.adds = adds,
                                   .fields = all->count,
                                   .words = first + states,
                                   .brief = adds && narrows ? 1 + brief : 0,
                                   .row = alike ? width : 0,
                                   .first = first,
                                   .signature = signature};
    if (message->words > (adds ? RM_CALLS * RM_CALL_MOST : (size_t)INT_MAX))
        return rm_fail(error, REDUCT_ERROR_TOO_LARGE, "fields: %zu, of %zu words in all, are too many for one message",
                       all->count, message->words);
    return REDUCT_OK;
}

size_t rm_message_size(const struct rm_message *message) {
    return message->is_brief ? message->brief : message->words;
}

void rm_message_pack(struct rm_message *message, const struct rm_fields *all, bool failed) {
    const size_t first = message->is_brief ? 1 : message->first;
    int64_t *at = message->sent + first, state[RM_ROW] /* not cleared */;
    message->fits = true;
    if (failed && message->asks) /* it will not be sent, and there may be no room for it */
        return;
    message->sent[0] = failed;
    if (failed)
        memset(at, 0, (rm_message_size(message) - first) * sizeof *at);
    if (!message->adds)
        message->sent[1] = (int64_t)message->fields;
    for (size_t i = 0; !message->adds && i < all->count; i++) {
        reduct_reduction reduction = rm_reduction(all, i);
        message->sent[2 + i] = describe(&reduction);
    }
    for (size_t i = 0; !failed && i < all->count; i++) {
        const size_t width = width_of(message, all, i);
        reduct_accumulator_pack(all->accumulators[i], message->is_brief ? state : at, NULL);
        if (message->is_brief)
            message->fits = rm_brief_pack(state, width, at) && message->fits;
        at += message->is_brief ? narrowed(width) : width;
    }
}

bool rm_message_failed(const struct rm_message *message) {
    return message->received[0] != 0;
}

reduct_status rm_message_unpack(const struct rm_message *message, const int64_t *words, const struct rm_fields *all,
                                reduct_error *error) {
    const int64_t *at = words + (message->is_brief ? 1 : message->first);
    int64_t state[RM_ROW] /* not cleared */;
    for (size_t i = 0; i < all->count; i++) {
        const size_t width = width_of(message, all, i);
        if (message->is_brief)
            make_wide(at, width, state);
        reduct_status status = reduct_accumulator_unpack(all->accumulators[i], message->is_brief ? state : at, error);
        if (status != REDUCT_OK)
            return status;
        at += message->is_brief ? narrowed(width) : width;
    }
    return REDUCT_OK;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The operation of ours
 * ------------------------------------------------------------------------------------------------------------------ */

/* Merges the states of `first` and, after it, `second` into the latter. Returns the words of both. */
static size_t merge_message(const int64_t *first, int64_t *second) {
    size_t fields = (size_t)first[1], at = 2 + fields;
    for (size_t i = 0; i < fields; i++) {
        int64_t merged[RM_ROW];
        reduct_words form = {0};
        reduct_reduction reduction = described(first[2 + i]);
        reduct_reduction_words(&reduction, &form, NULL);
        memcpy(merged, first + at, form.count * sizeof *merged);
        if (first[0] || second[0]) /* nobody wants it */
            second[0] = 1;
        else if (reduct_words_merge(&reduction, merged, second + at, NULL) != REDUCT_OK)
            second[0] = 1;
        else
            memcpy(second + at, merged, form.count * sizeof *merged);
        at += form.count;
    }
    return at;
}

static void merge_messages(void *first, void *second, int *count, MPI_Datatype *type) {
    (void)type; /* one message in words */
    int64_t *a = first, *b = second;
    for (int i = 0; i < *count; i++) {
        size_t words = merge_message(a, b);
        a += words;
        b += words;
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Exchanging
 * ------------------------------------------------------------------------------------------------------------------ */

/* Words that two ranks exchange and each adds up, which takes MPICH half as long as to let it add, and no library longer. */
enum { SHORT = 512 };

/* Adds the words of all ranks, in place where `sent` is `received`. Returns what MPI does. */
static int add_words(const int64_t *sent, int64_t *received, size_t words, MPI_Comm comm) {
    int ranks = 0, code = MPI_Comm_size(comm, &ranks);
    if (ranks == 2 && words <= SHORT) {
        int64_t both[2 * SHORT] /* not cleared */;
        code = MPI_Allgather(sent, (int)words, MPI_INT64_T, both, (int)words, MPI_INT64_T, comm);
        for (size_t i = 0; i < words && code == MPI_SUCCESS; i++)
            received[i] = both[i] + both[words + i];
        return code;
    }
    for (size_t done = 0, count; done < words && code == MPI_SUCCESS; done += count) {
        count = words - done < RM_CALL_MOST ? words - done : RM_CALL_MOST;
        code = MPI_Allreduce(sent == received ? MPI_IN_PLACE : sent + done, received + done, (int)count, MPI_INT64_T,
                             MPI_SUM, comm);
    }
    return code;
}

/* The same of a kind. */
static int exchange_sums(const int64_t *sent, int64_t *received, size_t words, enum rm_kind kind, MPI_Comm comm) {
    int code = MPI_SUCCESS;
    if (kind == RM_ALLREDUCE)
        return add_words(sent, received, words, comm);
    for (size_t done = 0, count; done < words && code == MPI_SUCCESS; done += count) {
        count = words - done < RM_CALL_MOST ? words - done : RM_CALL_MOST;
        code = rm_merge_words(sent == received ? MPI_IN_PLACE : sent + done, received + done, (int)count, MPI_INT64_T,
                              MPI_SUM, kind, comm);
    }
    return code;
}

static int make_operation(struct rm_message *message) {
    message->merges = true;
    message->operation = MPI_OP_NULL;
    message->type = MPI_DATATYPE_NULL;
    int code = MPI_Op_create(merge_messages, 0, &message->operation);
    if (code == MPI_SUCCESS)
        code = MPI_Type_contiguous((int)message->words, MPI_INT64_T, &message->type);
    return code == MPI_SUCCESS ? MPI_Type_commit(&message->type) : code;
}

void rm_message_end(struct rm_message *message) {
    if (!message->merges)
        return;
    message->merges = false;
    if (message->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&message->type);
    if (message->operation != MPI_OP_NULL)
        MPI_Op_free(&message->operation);
}

/* The upper half of a short message's first word says how many ranks need the long one. */
enum { HALF = 32 };

reduct_status rm_brief_exchange(struct rm_brief *brief, const struct rm_failure *failure,
                                const reduct_mpi_field *fields, MPI_Comm comm, reduct_error *error) {
    if (brief->words > RM_WORDS) {
        uint64_t bits[RM_BITS] = {!brief->fits};
        reduct_status status = rm_poll(failure, brief->signature, bits, fields, comm, error);
        brief->fits = !bits[0];
        return status == REDUCT_OK && brief->fits
                   ? rm_check(add_words(brief->sent, brief->received, brief->words, comm), error)
                   : status;
    }
    const bool failed = failure->error.status != REDUCT_OK;
    brief->sent[0] = failed + (brief->fits ? 0 : (int64_t)1 << HALF);
    reduct_status status = rm_check(add_words(brief->sent, brief->received, brief->words, comm), error);
    if (status != REDUCT_OK)
        return status;
    brief->fits = !brief->received[0];
    return brief->received[0] & UINT32_MAX ? rm_agree(failure, fields, comm, error) : status;
}

/* Sets the bits of the places in states at which some word is not zero. */
static void find_used(const struct rm_message *message, const struct rm_fields *all, uint64_t used[RM_BITS]) {
    uint64_t seen[RM_ROW] = {0};
    const int64_t *state = message->sent + message->first;
    for (size_t i = 0, width; i < message->fields; i++, state += width) {
        width = width_of(message, all, i);
        rm_see(seen, state, width);
    }
    rm_find_used(seen, used);
}

/* Writes, of each state, the words of those columns. Returns how many there are in all. */
static size_t gather(const struct rm_message *message, const struct rm_fields *all, const struct rm_columns *columns,
                     int64_t *to) {
    const int64_t *state = message->sent + message->first;
    const int64_t *const begin = to;
    for (size_t i = 0, width; i < message->fields; i++, state += width) {
        width = width_of(message, all, i);
        for (size_t c = 0; c < columns->count && columns->at[c] < width; c++)
            *to++ = state[columns->at[c]];
    }
    return (size_t)(to - begin);
}

/* Puts them, of which there are `count`, back to where they belong, in place: the last come first, as they move furthest. */
static void spread(int64_t *words, size_t count, const struct rm_message *message, const struct rm_fields *all,
                   const struct rm_columns *columns) {
    const int64_t *from = words + count;
    int64_t *state = words + message->words, some[RM_ROW] /* not cleared */;
    for (size_t i = message->fields; i-- > 0;) {
        const size_t width = width_of(message, all, i);
        size_t own = 0;
        while (own < columns->count && columns->at[own] < width)
            own++;
        from -= own;
        state -= width;
        memcpy(some, from, own * sizeof *some);
        memset(state, 0, width * sizeof *state);
        for (size_t c = 0; c < own; c++)
            state[columns->at[c]] = some[c];
    }
    words[0] = 0; /* nobody failed */
}

static int exchange_used(const struct rm_message *message, const struct rm_fields *all, const uint64_t used[RM_BITS],
                         enum rm_kind kind, MPI_Comm comm) {
    struct rm_columns columns;
    rm_columns_of(&columns, used, RM_ROW);
    const size_t count = gather(message, all, &columns, message->received);
    int code = exchange_sums(message->received, message->received, count, kind, comm);
    spread(message->received, count, message, all, &columns);
    return code;
}

static reduct_status exchange_brief(struct rm_message *message, const struct rm_failure *failure,
                                    const reduct_mpi_field *fields, MPI_Comm comm, reduct_error *error) {
    struct rm_brief brief = {message->sent, message->received, message->brief, message->signature, message->fits};
    reduct_status status = rm_brief_exchange(&brief, failure, fields, comm, error);
    message->fits = brief.fits;
    return status;
}

reduct_status rm_message_exchange(struct rm_message *message, const struct rm_fields *all,
                                  const struct rm_failure *failure, const reduct_mpi_field *fields, enum rm_kind kind,
                                  MPI_Comm comm, reduct_error *error) {
    uint64_t used[RM_BITS] = {0};
    if (message->is_brief)
        return exchange_brief(message, failure, fields, comm, error);
    if (message->asks) {
        if (message->adds && failure->error.status == REDUCT_OK)
            find_used(message, all, used);
        reduct_status status = rm_poll(failure, message->signature, used, fields, comm, error);
        if (status != REDUCT_OK)
            return status;
    }
    int code;
    if (!message->adds) {
        code = make_operation(message);
        if (code == MPI_SUCCESS)
            code = rm_merge_words(message->sent, message->received, 1, message->type, message->operation, kind, comm);
    } else if (message->asks) {
        code = exchange_used(message, all, used, kind, comm);
    } else {
        code = exchange_sums(message->sent, message->received, message->words, kind, comm);
    }
    return rm_check(code, error);
}

reduct_status rm_message_begin(struct rm_message *message, MPI_Comm comm, MPI_Request requests[RM_CALLS], int *count,
                               reduct_error *error) {
    int code = MPI_SUCCESS;
    *count = 0;
    if (!message->adds) {
        code = make_operation(message);
        if (code == MPI_SUCCESS)
            code = MPI_Iallreduce(message->sent, message->received, 1, message->type, message->operation, comm,
                                  &requests[(*count)++]);
        return rm_check(code, error);
    }
    for (size_t done = 0, words; done < message->words && code == MPI_SUCCESS; done += words) {
        words = message->words - done < RM_CALL_MOST ? message->words - done : RM_CALL_MOST;
        code = MPI_Iallreduce(message->sent + done, message->received + done, (int)words, MPI_INT64_T, MPI_SUM, comm,
                              &requests[(*count)++]);
    }
    return rm_check(code, error);
}
