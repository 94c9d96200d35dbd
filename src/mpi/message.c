/* Packing, reducing and unpacking messages: see message.h. */
#include "mpi/message.h"

#include "mpi/table.h"

#include <limits.h>
#include <string.h>

/* What the caller knows them by. */
static const char *array_of(const struct rm_fields *all) {
    return all->fields || !all->accumulators ? "fields" : "accumulators";
}

/* Says which one of what is reduced a failure is of. */
static reduct_status of_item(reduct_status status, const struct rm_fields *all, size_t i, reduct_error *error) {
    rm_name_item(error, array_of(all), i, all->count);
    return status;
}

reduct_reduction rm_reduction(const struct rm_fields *all, size_t i) {
    if (all->accumulators && all->accumulators[i])
        return reduct_accumulator_reduction(all->accumulators[i]);
    return all->fields && all->fields[i].reduction ? *all->fields[i].reduction
                                                   : (reduct_reduction){.op = REDUCT_SUM, .element = REDUCT_F64};
}

static reduct_reduction planned(const void *what, size_t i) {
    return rm_reduction(what, i);
}

struct rm_plan rm_plan_of(const struct rm_fields *all, uint64_t signature) {
    return (struct rm_plan){.signature = signature,
                            .counted = array_of(all),
                            .number = all->count,
                            .name = array_of(all),
                            .is_array = true,
                            .count = all->count,
                            .reduction = planned,
                            .what = all};
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Short messages
 * ------------------------------------------------------------------------------------------------------------------ */

/* The words of a state of so many in all, all of which add, that are in a short message: how many elements there are, and of its sums those
 * limbs that suffice where they lie between 2^-128 and 2^64, those of products between 2^-256 and 2^128, of f32 2^-96 and 2^96 or
 * 2^-192 and 2^192. Where there are few words anyway, all but the other counts, which integers have none of, are sent. */
struct narrow {
    size_t row;
    bool has_nonzero;
    struct {
        size_t first, count;
    } part[2];
};

static const struct narrow *narrow_of(size_t width) {
    enum { N = RM_COUNTS };
    static const struct narrow NARROW[] = {{RM_WIDTH_F64, false, {{N + 30, RM_NARROW_F64}}},
                                           {141, false, {{N + 60, 12}}},
                                           {209, false, {{N + 30, 6}, {N + 68 + 60, 12}}},
                                           {18, false, {{N + 2, 6}}}, /* f32 */
                                           {27, false, {{N + 4, 12}}},
                                           {38, false, {{N + 2, 6}, {N + 11 + 4, 12}}},
                                           {8, true, {{N, 1}}}, /* counts, f16, integers */
                                           {11, true, {{N, 4}}},
                                           {13, true, {{N, 6}}},
                                           {17, true, {{N, 10}}}};
    for (size_t i = 0; i < sizeof NARROW / sizeof *NARROW; i++)
        if (width == NARROW[i].row)
            return &NARROW[i];
    return NULL;
}

/* Words that a state of so many takes in a short message; all of them where nothing is known of it. */
static size_t narrowed(size_t width) {
    const struct narrow *narrow = narrow_of(width);
    return narrow ? 1 + narrow->has_nonzero + narrow->part[0].count + narrow->part[1].count : width;
}

/* Whether what is not sent of a state is zero, or follows from what is. */
static bool fits(const int64_t *state, const struct narrow *narrow) {
    int64_t left = !narrow->has_nonzero && (state[RM_SEEN] != 0) != (state[RM_NONZERO] != 0);
    size_t at = RM_COUNTS;
    for (size_t i = RM_SEEN_HIGH; i < RM_NONZERO; i++)
        left |= state[i];
    for (size_t p = 0; p < 2 && narrow->part[p].count; p++) {
        for (; at < narrow->part[p].first; at++)
            left |= state[at];
        at += narrow->part[p].count;
    }
    for (; at < narrow->row; at++)
        left |= state[at];
    return left == 0;
}

bool rm_brief_pack(const int64_t *state, size_t width, int64_t *to) {
    const struct narrow *narrow = narrow_of(width);
    if (!narrow) {
        memcpy(to, state, width * sizeof *state);
        return true;
    }
    *to++ = state[RM_SEEN];
    if (narrow->has_nonzero)
        *to++ = state[RM_NONZERO];
    for (size_t p = 0; p < 2; p++) {
        memcpy(to, state + narrow->part[p].first, narrow->part[p].count * sizeof *state);
        to += narrow->part[p].count;
    }
    return fits(state, narrow);
}

static void make_wide(const int64_t *from, size_t width, int64_t *state) {
    const struct narrow *narrow = narrow_of(width);
    if (!narrow) {
        memcpy(state, from, width * sizeof *state);
        return;
    }
    memset(state, 0, width * sizeof *state);
    state[RM_SEEN] = *from++;
    state[RM_NONZERO] = narrow->has_nonzero ? *from++ : state[RM_SEEN] != 0;
    for (size_t p = 0; p < 2; p++) {
        memcpy(state + narrow->part[p].first, from, narrow->part[p].count * sizeof *state);
        from += narrow->part[p].count;
    }
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

uint64_t rm_sign(uint64_t signature, const reduct_reduction *reduction) {
    return (signature ^ (uint64_t)rm_describe(reduction)) * 0x100000001b3;
}

/* What field number `i` is in a mark: nothing where it is a sum of f64. */
static uint64_t mark_of(const reduct_reduction *reduction, size_t i) {
    static const reduct_reduction SUM = {.op = REDUCT_SUM, .element = REDUCT_F64};
    return ((uint64_t)rm_describe(reduction) ^ (uint64_t)rm_describe(&SUM)) * (2 * (uint64_t)i + 1) *
           0x9e3779b97f4a7c15;
}

/* Marks of ranks are added, and none may be the mean of others': so what fields come to is mixed, and multiplied by itself. Nothing stays nothing. */
static int64_t mix(uint64_t mark) {
    mark ^= mark >> 32;
    mark *= mark | 1;
    mark ^= mark >> 29;
    return (int64_t)(mark * 0xd6e8feb86659fd93 >> 32);
}

reduct_status rm_message_shape(struct rm_message *message, const struct rm_fields *all, reduct_error *error) {
    const size_t opening = rm_opening(all->count);
    size_t states = 0, width = 0, brief = RM_HEAD;
    bool adds = true, alike = true;
    uint64_t signature = RM_SIGNATURE, mark = 0;
    reduct_words form = {0};
    *message = (struct rm_message){.fields = all->count, .brief = opening, .asks = opening == 0};
    for (size_t i = 0; i < all->count; i++) {
        reduct_reduction reduction = rm_reduction(all, i);
        reduct_status status = reduct_reduction_words(&reduction, &form, error);
        if (status != REDUCT_OK)
            return of_item(status, all, i, error);
        states += form.count;
        adds = adds && form.added == form.count;
        alike = alike && (i == 0 || form.count == width);
        width = form.count;
        brief += narrowed(width);
        signature = rm_sign(signature, &reduction);
        mark += mark_of(&reduction, i);
    }
    const size_t first = adds ? 1 : RM_BEFORE + all->count, words = first + states;
    if (words > (adds ? RM_CALLS * RM_CALL_MOST : (size_t)INT_MAX))
        return rm_fail(error, REDUCT_ERROR_TOO_LARGE, "fields: %zu, of %zu words in all, are too many for one message",
                       all->count, words);
    *message = (struct rm_message){.adds = adds,
                                   .fields = all->count,
                                   .words = words,
                                   .brief = opening || !adds ? opening : brief,
                                   .is_roomy = adds && (!opening || brief <= opening),
                                   .row = alike ? width : 0,
                                   .first = first,
                                   .signature = signature,
                                   .mark = mix(mark),
                                   .asks = opening == 0};
    return REDUCT_OK;
}

void rm_message_make_uniform(struct rm_message *message) {
    message->adds = false;
    message->first = RM_BEFORE + message->fields;
    message->words = rm_uniform(message->fields);
}

size_t rm_message_size(const struct rm_message *message) {
    return message->is_brief ? message->brief : message->words;
}

/* What is before the states. */
static void pack_head(struct rm_message *message, const struct rm_fields *all, bool failed) {
    if (message->is_brief) /* where it is written when it is sent */
        return;
    message->sent[0] = failed;
    if (message->adds)
        return;
    message->sent[RM_COUNT] = (int64_t)message->fields;
    message->sent[RM_SIZE] = (int64_t)message->words;
    for (size_t i = 0; i < all->count; i++) {
        reduct_reduction reduction = rm_reduction(all, i);
        message->sent[RM_BEFORE + i] = rm_describe(&reduction);
    }
}

void rm_message_pack(struct rm_message *message, const struct rm_fields *all, bool failed) {
    int64_t *at = message->sent + (message->is_brief ? RM_HEAD : message->first), state[RM_ROW] /* not cleared */;
    const bool is_empty = failed || (message->is_brief && !message->is_roomy);
    message->fits = !is_empty;
    if (failed && message->asks) /* it will not be sent, and there may be no room for it */
        return;
    pack_head(message, all, failed);
    for (size_t i = 0; !is_empty && i < all->count; i++) {
        const size_t width = width_of(message, all, i);
        reduct_accumulator_pack(all->accumulators[i], message->is_brief ? state : at, NULL);
        if (message->is_brief)
            message->fits = rm_brief_pack(state, width, at) && message->fits;
        at += message->is_brief ? narrowed(width) : width;
    }
    memset(at, 0, (size_t)(message->sent + rm_message_size(message) - at) * sizeof *at);
}

reduct_status rm_message_status(const struct rm_message *message, reduct_error *error) {
    if (!message->adds && message->received[0] == RM_OF_MISMATCH)
        return rm_fail(error, REDUCT_ERROR_MISMATCH, "reductions: not the same on all ranks");
    return message->received[0] == RM_WELL
               ? REDUCT_OK
               : rm_fail(error, REDUCT_ERROR_TOO_LARGE, "the ranks hold more elements than 2^63 in all");
}

reduct_status rm_message_unpack(const struct rm_message *message, const int64_t *words, const struct rm_fields *all,
                                reduct_error *error) {
    const int64_t *at = words + (message->is_brief ? RM_HEAD : message->first);
    int64_t state[RM_ROW] /* not cleared */;
    for (size_t i = 0; i < all->count; i++) {
        const size_t width = width_of(message, all, i);
        if (message->is_brief)
            make_wide(at, width, state);
        reduct_status status = reduct_accumulator_unpack(all->accumulators[i], message->is_brief ? state : at, error);
        if (status != REDUCT_OK)
            return of_item(status, all, i, error);
        at += message->is_brief ? narrowed(width) : width;
    }
    return REDUCT_OK;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The operation of ours
 * ------------------------------------------------------------------------------------------------------------------ */

/* Merges the states of `first` and, after it, `second` into the latter, unless there is a failure, for which nobody wants them. Returns which. */
static int64_t merge_states(const int64_t *first, int64_t *second) {
    const size_t fields = (size_t)first[RM_COUNT];
    size_t at = RM_BEFORE + fields;
    if (first[RM_FAILED] || second[RM_FAILED])
        return first[RM_FAILED] > second[RM_FAILED] ? first[RM_FAILED] : second[RM_FAILED];
    if (memcmp(first + RM_COUNT, second + RM_COUNT, (at - RM_COUNT) * sizeof *first) != 0)
        return RM_OF_MISMATCH;
    for (size_t i = 0; i < fields; i++) {
        int64_t merged[RM_ROW];
        reduct_words form = {0};
        reduct_reduction reduction = rm_described(first[RM_BEFORE + i]);
        reduct_reduction_words(&reduction, &form, NULL);
        memcpy(merged, first + at, form.count * sizeof *merged);
        if (reduct_words_merge(&reduction, merged, second + at, NULL) != REDUCT_OK)
            return RM_OF_MERGING;
        memcpy(second + at, merged, form.count * sizeof *merged);
        at += form.count;
    }
    return RM_WELL;
}

static void merge_messages(void *first, void *second, int *count, MPI_Datatype *type) {
    (void)type; /* one message in words */
    int64_t *a = first, *b = second;
    for (int i = 0; i < *count; i++) {
        const size_t words = (size_t)a[RM_SIZE];
        b[RM_FAILED] = merge_states(a, b);
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
    const bool failed = failure->error.status != REDUCT_OK;
    const struct rm_plan plan = rm_plan_of(brief->all, brief->signature);
    if (brief->asks) {
        uint64_t bits[RM_BITS] = {!brief->fits};
        reduct_status status = rm_poll(failure, &plan, bits, fields, comm, error);
        brief->fits = !bits[0];
        if (status != REDUCT_OK || !brief->fits)
            return status;
    }
    int ranks = 0, code = brief->mark ? MPI_Comm_size(comm, &ranks) : MPI_SUCCESS;
    brief->sent[RM_STATE] = failed + (brief->fits ? 0 : (int64_t)1 << HALF);
    brief->sent[RM_MARK] = brief->mark;
    if (code == MPI_SUCCESS)
        code = add_words(brief->sent, brief->received, brief->words, comm);
    if (code != MPI_SUCCESS)
        return rm_check(code, error);
    brief->fits = !brief->received[RM_STATE];
    if (brief->received[RM_STATE] & UINT32_MAX)
        return rm_agree(failure, fields, comm, error);
    return brief->received[RM_MARK] == ranks * brief->mark ? REDUCT_OK : rm_mismatch(&plan, comm, error);
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

static reduct_status exchange_brief(struct rm_message *message, const struct rm_fields *all,
                                    const struct rm_failure *failure, const reduct_mpi_field *fields, MPI_Comm comm,
                                    reduct_error *error) {
    struct rm_brief brief = {.all = all,
                             .sent = message->sent,
                             .received = message->received,
                             .words = message->brief,
                             .signature = message->signature,
                             .mark = message->mark,
                             .fits = message->fits,
                             .asks = message->asks};
    reduct_status status = rm_brief_exchange(&brief, failure, fields, comm, error);
    message->fits = brief.fits;
    return status;
}

reduct_status rm_message_exchange(struct rm_message *message, const struct rm_fields *all,
                                  const struct rm_failure *failure, const reduct_mpi_field *fields, enum rm_kind kind,
                                  MPI_Comm comm, reduct_error *error) {
    uint64_t used[RM_BITS] = {0};
    if (message->is_brief)
        return exchange_brief(message, all, failure, fields, comm, error);
    if (message->asks) {
        if (message->adds && failure->error.status == REDUCT_OK)
            find_used(message, all, used);
        const struct rm_plan plan = rm_plan_of(all, message->signature);
        reduct_status status = rm_poll(failure, &plan, used, fields, comm, error);
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
