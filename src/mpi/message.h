/* What ranks send each other: one array of 64-bit words that holds the states of all fields.
 *
 * Where all words add, the first says how many ranks failed and the states' words follow: MPI adds them. Otherwise there are
 * before the states a count of fields, one of words, and a word for each field that says which reduction it is, and an operation of ours
 * merges whole messages.
 *
 * A rank may have been given no fields, or other ones than the rest, and must send what MPI can take for what they send. So the first exchange
 * of a call depends on nothing but how many fields there are: it is a short message, or the question whether all is well. Where there is
 * no failure and the reductions are the same, they decide what follows.
 *
 * A rank may lack the memory for a message, and others must not wait for it. So a message that every rank has room for goes with one
 * all-reduce, and says itself that a rank failed. Before a longer one ranks ask each other with a few words whether all is well, and
 * then also which words of states, by their places, are zero on all of them: where words add these are not sent. */
#ifndef RM_MESSAGE_H
#define RM_MESSAGE_H

#include "mpi/agree.h"
#include "mpi/table.h"

/* So many fields and words need no memory of their own. */
enum { RM_FIELDS = 16, RM_WORDS = 2048 };

/* The words of a state that count, in order; limbs follow. */
enum rm_count {
    RM_SEEN,
    RM_SEEN_HIGH,
    RM_IGNORED,
    RM_NANS,
    RM_PLUS_INFINITIES,
    RM_MINUS_INFINITIES,
    RM_NONZERO,
    RM_COUNTS
};

/* What a short message has of a state of a sum of f64 whose elements are fewer than 2^32, all finite, none left out, and not all -0, unless there are
 * none at all: how many there are, and so many limbs. That there are any then says that some are not -0. */
enum { RM_NARROW_F64 = 6, RM_WIDTH_F64 = 75 };

/* What is before the states where an operation of ours merges: which failure there is, how many fields, and words in all; then which reductions. */
enum { RM_FAILED, RM_COUNT, RM_SIZE, RM_BEFORE };

/* What the first word says of a message that is not short, but for one that adds: there it is how many ranks failed. */
enum { RM_WELL, RM_OF_RANK, RM_OF_MERGING, RM_OF_MISMATCH };

/* Before the states of a short message come how many ranks failed and need a long one, and the sum of all ranks' marks. */
enum { RM_STATE, RM_MARK, RM_HEAD };

/* Words of the short message by which an all-reduce of so many fields begins, whatever they are: a rank that has none knows nothing else, and
 * must send as much as the others. Sums have room in it, of few fields those of products of f64, too. 0 where that is too much: ranks then
 * ask each other first. */
static inline size_t rm_opening(size_t fields) {
    enum { SUM = 1 + RM_NARROW_F64, MORE = 6 };
    if (fields > (RM_WORDS - RM_HEAD) / SUM)
        return 0;
    const size_t words = RM_HEAD + SUM * fields + MORE * (fields < MORE ? fields : MORE);
    return words < RM_WORDS ? words : RM_WORDS;
}

struct rm_message {
    bool adds;
    size_t fields;
    size_t words; /* in all */
    size_t brief; /* words of the short message, and whether the states have room in it if they fit */
    bool is_roomy;
    size_t row;         /* words of each field where they are as many, otherwise 0 */
    size_t first;       /* where the states begin */
    uint64_t signature; /* of the reductions */
    int64_t mark;       /* likewise, of less than 2^32, and 0 of sums of f64 */
    bool is_brief;      /* the short one is what is sent */
    bool fits;          /* all states fit in it: here, and then on all ranks */
    bool asks;          /* ranks ask each other first */
    int64_t *sent, *received;
    bool merges;      /* the following have been made */
    MPI_Op operation; /* where it does not add */
    MPI_Datatype type;
};

/* What a call reduces. */
struct rm_fields {
    const reduct_mpi_field *fields; /* null where accumulators are what is reduced, and on a rank that was given none */
    reduct_accumulator *const
        *accumulators; /* which hold the fields' data; null, all or some, where they are not made */
    size_t count;
};

/* The reduction of field number `i`. A rank that was not told takes it for a sum of f64, as it must send something. */
reduct_reduction rm_reduction(const struct rm_fields *all, size_t i);

/* A number that stands for reductions, as far as merging must know them: for none, and for one more. */
#define RM_SIGNATURE ((uint64_t)0xcbf29ce484222325)
uint64_t rm_sign(uint64_t signature, const reduct_reduction *reduction);

/* What a call is about to do with them, which that signature stands for. */
struct rm_plan rm_plan_of(const struct rm_fields *all, uint64_t signature);

/* Words of a message of so many fields by an operation of ours which has room for any reductions; 0 where that is too much. */
static inline size_t rm_uniform(size_t fields) {
    enum { WIDEST = 209 };
    const size_t words = fields > RM_FIELDS ? 0 : RM_BEFORE + fields * (1 + WIDEST);
    return words <= RM_WORDS ? words : 0;
}

/* Finds out the message's sizes. They depend on what is the same on all ranks; where that fails, on the number of fields alone. */
reduct_status rm_message_shape(struct rm_message *message, const struct rm_fields *all, reduct_error *error);

/* Makes it one that has room for any reductions, which is not too much. */
void rm_message_make_uniform(struct rm_message *message);

/* Words of what is sent now. */
size_t rm_message_size(const struct rm_message *message);

/* Writes what is sent, and whether it fits; of a rank that failed that it did, and nothing else. */
void rm_message_pack(struct rm_message *message, const struct rm_fields *all, bool failed);

/* Writes what a short message has of a state of so many words; false where it does not fit. */
bool rm_brief_pack(const int64_t *state, size_t width, int64_t *to);

/* Reduces it over the ranks. A failure may be found then, and agreed on: that of a rank, of which `failure` and `fields` tell as
 * for rm_agree(). A rank that failed may have no memory for the message where ranks ask first. A short message has done only if it still
 * fits afterwards. Collective. */
reduct_status rm_message_exchange(struct rm_message *message, const struct rm_fields *all,
                                  const struct rm_failure *failure, const reduct_mpi_field *fields, enum rm_kind kind,
                                  MPI_Comm comm, reduct_error *error);

/* The same of a short message by itself, of so many words, which `signature` and `mark` stand for; its head is written here. */
struct rm_brief {
    const struct rm_fields *all;
    int64_t *sent, *received;
    size_t words;
    uint64_t signature;
    int64_t mark;
    bool fits, asks;
};
reduct_status rm_brief_exchange(struct rm_brief *brief, const struct rm_failure *failure,
                                const reduct_mpi_field *fields, MPI_Comm comm, reduct_error *error);

/* Begins the same of an all-reduce; writes how many requests it takes. */
reduct_status rm_message_begin(struct rm_message *message, MPI_Comm comm, MPI_Request requests[RM_CALLS], int *count,
                               reduct_error *error);

/* Frees what exchanging took. */
void rm_message_end(struct rm_message *message);

/* What a message that is not short says, in the end, where no rank has anything to say: more elements than can be counted, or other reductions. */
reduct_status rm_message_status(const struct rm_message *message, reduct_error *error);

/* Puts the states of a message, sent or received, into the accumulators; where one is refused, those before it have been put
 * there. */
reduct_status rm_message_unpack(const struct rm_message *message, const int64_t *words, const struct rm_fields *all,
                                reduct_error *error);

#endif
