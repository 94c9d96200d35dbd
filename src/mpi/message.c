/* Packing, reducing and unpacking messages: see message.h. */
#include "mpi/message.h"

#include "mpi/table.h"

#include <limits.h>
#include <string.h>

reduct_reduction rm_reduction(const struct rm_fields *all, size_t i) {
    if (all->accumulators && all->accumulators[i])
        return reduct_accumulator_reduction(all->accumulators[i]);
    return *all->fields[i].reduction;
}

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
    size_t states = 0, width = 0;
    bool adds = true, alike = true;
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
        signature = rm_sign(signature, &reduction);
    }
    size_t first = adds ? 1 : 2 + all->count;
    *message = (struct rm_message){.adds = adds,
                                   .fields = all->count,
                                   .words = first + states,
                                   .row = adds && alike ? width : 0,
                                   .first = first,
                                   .signature = signature};
    if (message->words > (adds ? RM_CALLS * RM_CALL_MOST : (size_t)INT_MAX))
        return rm_fail(error, REDUCT_ERROR_TOO_LARGE, "fields: %zu, of %zu words in all, are too many for one message",
                       all->count, message->words);
    return REDUCT_OK;
}

void rm_message_pack(struct rm_message *message, const struct rm_fields *all, bool failed) {
    int64_t *at = message->sent + message->first;
    message->sent[0] = failed;
    if (!message->adds)
        message->sent[1] = (int64_t)message->fields;
    if (failed)
        memset(at, 0, (message->words - message->first) * sizeof *at);
    for (size_t i = 0; i < all->count; i++) {
        if (!message->adds) {
            reduct_reduction reduction = rm_reduction(all, i);
            message->sent[2 + i] = describe(&reduction);
        }
        if (failed)
            continue;
        reduct_accumulator_pack(all->accumulators[i], at, NULL);
        at += width_of(message, all, i);
    }
}

bool rm_message_failed(const struct rm_message *message) {
    return message->received[0] != 0;
}

reduct_status rm_message_unpack(const struct rm_message *message, const int64_t *words, const struct rm_fields *all,
                                reduct_error *error) {
    const int64_t *at = words + message->first;
    for (size_t i = 0; i < all->count; i++) {
        reduct_status status = reduct_accumulator_unpack(all->accumulators[i], at, error);
        if (status != REDUCT_OK)
            return status;
        at += width_of(message, all, i);
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
        int64_t merged[RM_WORDS];
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

int rm_add(const int64_t *sent, int64_t *received, size_t words, MPI_Comm comm) {
    int64_t both[2 * RM_WORDS];
    int ranks = 0, code = MPI_Comm_size(comm, &ranks);
    if (code != MPI_SUCCESS)
        return code;
    if (ranks != 2 || words > RM_WORDS)
        return MPI_Allreduce(sent, received, (int)words, MPI_INT64_T, MPI_SUM, comm);
    code = MPI_Allgather(sent, (int)words, MPI_INT64_T, both, (int)words, MPI_INT64_T, comm);
    for (size_t i = 0; i < words && code == MPI_SUCCESS; i++)
        received[i] = both[i] + both[words + i];
    return code;
}

static int make_operation(struct rm_message *message) {
    message->operation = MPI_OP_NULL;
    message->type = MPI_DATATYPE_NULL;
    int code = MPI_Op_create(merge_messages, 0, &message->operation);
    if (code == MPI_SUCCESS)
        code = MPI_Type_contiguous((int)message->words, MPI_INT64_T, &message->type);
    return code == MPI_SUCCESS ? MPI_Type_commit(&message->type) : code;
}

void rm_message_end(struct rm_message *message) {
    if (message->adds)
        return;
    if (message->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&message->type);
    if (message->operation != MPI_OP_NULL)
        MPI_Op_free(&message->operation);
}

static int exchange_sums(struct rm_message *message, enum rm_kind kind, MPI_Comm comm) {
    int code = MPI_SUCCESS;
    for (size_t done = 0, count; done < message->words && code == MPI_SUCCESS; done += count) {
        count = message->words - done < RM_CALL_MOST ? message->words - done : RM_CALL_MOST;
        code = kind == RM_ALLREDUCE ? rm_add(message->sent + done, message->received + done, count, comm)
                                    : rm_merge_words(message->sent + done, message->received + done, (int)count,
                                                     MPI_INT64_T, MPI_SUM, kind, comm);
    }
    return code;
}

/* Words of a state of so many in all, its sums' middle limbs, that suffice where all ranks' sums lie between 2^-128 and 2^64, those
 * of products between 2^-256 and 2^128, in a message of a fraction of the size. */
struct narrow {
    size_t row, first, count;
};
enum { HALF = 32 };

static const struct narrow *narrow_of(const struct rm_message *message) {
    static const struct narrow NARROW[] = {{75, RM_COUNTS + 30, RM_NARROW_F64}, {141, RM_COUNTS + 60, 12}}; /* of f64 */
    for (size_t i = 0; i < sizeof NARROW / sizeof *NARROW; i++)
        if (message->adds && message->row == NARROW[i].row && message->words <= RM_WORDS)
            return &NARROW[i];
    return NULL;
}

/* Whether what is not sent is zero, or follows from what is; where nothing else is known, of a rank that failed, it is. */
static bool fits(const struct rm_message *message, const struct narrow *narrow) {
    int64_t left = 0;
    for (size_t f = 0; f < message->fields; f++) {
        const int64_t *state = message->sent + message->first + f * narrow->row;
        for (size_t i = RM_SEEN_HIGH; i < RM_NONZERO; i++)
            left |= state[i];
        left |= (state[RM_SEEN] != 0) != (state[RM_NONZERO] != 0);
        for (size_t i = RM_COUNTS; i < narrow->first; i++)
            left |= state[i];
        for (size_t i = narrow->first + narrow->count; i < narrow->row; i++)
            left |= state[i];
    }
    return left == 0;
}

/* Tries it with the short message, in which the upper half of the first word says how many ranks need the long one: `*all` if none
 * does, or if a rank failed. */
static int exchange_narrow(struct rm_message *message, const struct narrow *narrow, MPI_Comm comm, bool *all) {
    const size_t width = 1 + narrow->count, words = 1 + message->fields * width;
    int64_t sent[RM_WORDS] /* not cleared */, received[RM_WORDS];
    sent[0] = message->sent[0] + (fits(message, narrow) ? 0 : (int64_t)1 << HALF);
    for (size_t f = 0; f < message->fields; f++) {
        const int64_t *state = message->sent + message->first + f * narrow->row;
        sent[1 + f * width] = state[RM_SEEN];
        memcpy(sent + 2 + f * width, state + narrow->first, narrow->count * sizeof *sent);
    }
    int code = rm_add(sent, received, words, comm);
    if (code != MPI_SUCCESS)
        return code;
    message->received[0] = received[0] & UINT32_MAX;
    *all = message->received[0] || received[0] == 0;
    memset(message->received + 1, 0, (message->words - 1) * sizeof *sent);
    for (size_t f = 0; f < message->fields; f++) {
        int64_t *state = message->received + message->first + f * narrow->row;
        state[RM_SEEN] = received[1 + f * width];
        state[RM_NONZERO] = state[RM_SEEN] != 0;
        memcpy(state + narrow->first, received + 2 + f * width, narrow->count * sizeof *sent);
    }
    return code;
}

reduct_status rm_message_exchange(struct rm_message *message, const struct rm_failure *failure,
                                  const reduct_mpi_field *fields, enum rm_kind kind, MPI_Comm comm,
                                  reduct_error *error) {
    if (kind == RM_ALLREDUCE && message->row && message->words > RM_WORDS) {
        memcpy(message->received, message->sent, message->words * sizeof *message->sent);
        return rm_table_reduce(&(struct rm_table){message->received + message->first, message->fields, message->row,
                                                  message->row, MPI_SUM},
                               RM_ALLREDUCE, -1, failure, fields, comm, error);
    }
    int code = MPI_SUCCESS;
    bool all = false;
    const struct narrow *narrow = kind == RM_ALLREDUCE && !message->is_long ? narrow_of(message) : NULL;
    if (narrow)
        code = exchange_narrow(message, narrow, comm, &all);
    if (code != MPI_SUCCESS || all)
        return rm_check(code, error);
    if (message->adds) {
        code = exchange_sums(message, kind, comm);
    } else {
        code = make_operation(message);
        if (code == MPI_SUCCESS)
            code = rm_merge_words(message->sent, message->received, 1, message->type, message->operation, kind, comm);
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
