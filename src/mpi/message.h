/* What ranks send each other: one array of 64-bit words that holds the states of all fields.
 *
 * Where all words add, the first says how many ranks failed and the states' words follow: MPI adds them. Otherwise there are
 * before the states a count of fields and a word for each that says which reduction it is, and an operation of ours merges whole
 * messages. */
#ifndef RM_MESSAGE_H
#define RM_MESSAGE_H

#include "mpi/agree.h"
#include "mpi/table.h"

/* So many fields and words need no memory of their own. */
enum { RM_FIELDS = 16, RM_WORDS = 512 };

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

/* What a short message has of a state whose elements are fewer than 2^32, all finite, none left out, and not all -0, unless there are
 * none at all: how many there are, and so many limbs of a sum of f64. That there are any then says that some are not -0. */
enum { RM_NARROW_F64 = 6 };

struct rm_message {
    bool adds;
    size_t fields;
    size_t words;       /* in all */
    size_t row;         /* words of each field where they all add and are as many, otherwise 0 */
    size_t first;       /* where the states begin */
    uint64_t signature; /* of the reductions */
    bool is_long;       /* a short one was sent, and does not do */
    int64_t *sent, *received;
    MPI_Op operation; /* where it does not add */
    MPI_Datatype type;
};

/* What a call reduces. */
struct rm_fields {
    const reduct_mpi_field *fields; /* null where accumulators are what is reduced */
    reduct_accumulator *const
        *accumulators; /* which hold the fields' data; null, all or some, where they are not made */
    size_t count;
};

/* The reduction of field number `i`. */
reduct_reduction rm_reduction(const struct rm_fields *all, size_t i);

/* A number that stands for reductions, as far as merging must know them: for none, and for one more. */
#define RM_SIGNATURE ((uint64_t)0xcbf29ce484222325)
uint64_t rm_sign(uint64_t signature, const reduct_reduction *reduction);

/* Finds out the message's size. It depends on what is the same on all ranks. */
reduct_status rm_message_shape(struct rm_message *message, const struct rm_fields *all, reduct_error *error);

/* Writes what is sent; of a rank that failed that it did, and nothing else. */
void rm_message_pack(struct rm_message *message, const struct rm_fields *all, bool failed);

/* Reduces it over the ranks. A failure may be found then, and agreed on: that of a rank, of which `failure` and `fields` tell as
 * for rm_agree(). Collective. */
reduct_status rm_message_exchange(struct rm_message *message, const struct rm_failure *failure,
                                  const reduct_mpi_field *fields, enum rm_kind kind, MPI_Comm comm,
                                  reduct_error *error);

/* Adds the words of all ranks, at most 2^30 of them. Two ranks exchange what is short and each adds it up, which takes MPICH half as long
 * as to let it add, and no library longer. Returns what MPI does. */
int rm_add(const int64_t *sent, int64_t *received, size_t words, MPI_Comm comm);

/* Begins the same of an all-reduce; writes how many requests it takes. */
reduct_status rm_message_begin(struct rm_message *message, MPI_Comm comm, MPI_Request requests[RM_CALLS], int *count,
                               reduct_error *error);

/* Frees what exchanging took. */
void rm_message_end(struct rm_message *message);

/* Whether a rank failed whose part is in what was received. */
bool rm_message_failed(const struct rm_message *message);

/* Puts the states of a message, sent or received, into the accumulators; where one is refused, those before it have been put
 * there. */
reduct_status rm_message_unpack(const struct rm_message *message, const int64_t *words, const struct rm_fields *all,
                                reduct_error *error);

#endif
