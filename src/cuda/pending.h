/* What is pending of tables on a CUDA device: numerals of groups in its memory (kernels/numerals.h), to which batches whose states
 * are sums are added without a way to the host. Of each state there are some or none; what does not fit goes to the cells. */
#ifndef RD_CUDA_PENDING_H
#define RD_CUDA_PENDING_H

#include "cuda/groups.h"
#include "cuda/kernels/numerals.h"
#include "state/table.h"

/* What all groups of a state are like. */
struct rd_cuda_extent {
    uint64_t count; /* no group has more elements */
    int32_t low[2],
        high[2]; /* each field is a multiple of 2^low, from -2^high to below 2^high; low above high: all are zero */
};

/* The numerals of a state. */
struct rd_cuda_numbers {
    rd_cu_address words; /* 0: there are none, and nothing of what follows */
    unsigned room;       /* words of a numeral that there is memory for */
    uint64_t groups;
    struct rd_cuda_numeral_form form;
    struct rd_cuda_extent extent;
};

struct rd_cuda_pending {
    struct rd_pending base;
    struct rd_cuda_context *context; /* whose memory it is */
    size_t states;
    struct rd_cuda_numbers numbers[];
};

/* What is pending of a table, if a CUDA device has it; otherwise null. */
struct rd_cuda_pending *rd_cuda_pending_of(const reduct_table *table);

/* The numerals of a table that hold all of it, in a context's memory, for all of its groups: of each state some. Otherwise null. */
struct rd_cuda_numbers *rd_cuda_pending_all(const reduct_table *table, const struct rd_cuda_context *context);

/* That of groups that hold nothing; one in which what lies in either does; and sums of 2^headroom groups that lie in it. */
struct rd_cuda_extent rd_cuda_extent_none(void);
struct rd_cuda_extent rd_cuda_extent_of_both(const struct rd_cuda_extent *a, const struct rd_cuda_extent *b);
struct rd_cuda_extent rd_cuda_extent_of_sums(const struct rd_cuda_extent *extent, unsigned headroom);

/* How numerals are written that lie in an extent, as do the sums of those of up to 2^headroom tables. False where no form has room. */
bool rd_cuda_numeral_form_for(const struct rd_cells *cells, const struct rd_cuda_extent *extent, unsigned headroom,
                              struct rd_cuda_numeral_form *form);

/* Queues that numerals are written in another form, where they are. It must have room for them. With their context current. */
reduct_status rd_cuda_numbers_reform(struct rd_cuda_context *context, const struct rd_cells *cells,
                                     struct rd_cuda_numbers *numbers, const struct rd_cuda_numeral_form *form,
                                     rd_cu_stream stream, reduct_error *error);

/* What a pass over groups left in its workspace, of which the headers are here, is added to what is pending of a state: as new
 * numerals, which the caller has to make those of the table, or to drop. The default stream has been waited for, and is again. `made` is
 * set where that could be done, which is no failure otherwise. With the context current. */
reduct_status rd_cuda_pending_add(const reduct_table *table, size_t state, const struct rd_cuda_groups_pass *pass,
                                  const void *workspace, const struct rd_cuda_groups_header *header,
                                  struct rd_cuda_numbers *fresh, bool *made, reduct_error *error);

/* Makes them those of a table, in place of what they were added to; what can fail of that comes first. */
reduct_status rd_cuda_pending_make(reduct_table *table, struct rd_cuda_context *context, reduct_error *error);
void rd_cuda_pending_take(reduct_table *table, size_t state, const struct rd_cuda_numbers *fresh);

/* Answers from numerals, as struct rd_pending says. */
bool rd_cuda_pending_answer(const reduct_table *table, const struct rd_table_question *question);

/* Frees numerals. With their context current. */
void rd_cuda_numbers_drop(const struct rd_cuda_context *context, struct rd_cuda_numbers *numbers);

#endif
