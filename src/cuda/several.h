/* Several reductions in one pass: of plans that reduce a whole array to one result each, and of those of many results. */
#ifndef RD_CUDA_SEVERAL_PLAN_H
#define RD_CUDA_SEVERAL_PLAN_H

#include "core/many.h"
#include "cuda/kernels/several.h"
#include "cuda/launch.h"

struct rd_cuda_several {
    bool there;                   /* whether a plan has such a pass */
    struct rd_cuda_launch launch; /* of the pass */
    rd_cu_function answers;       /* what rounds its results */
    size_t place;                 /* bytes before its room in the plan's table */
};

/* Whether a reduction of a plan is among those that share a pass, if there are two of them: over a whole array, and over many
 * results, which are so many pieces each. */
bool rd_cuda_several_may_take(const struct rd_many *many, size_t which);
bool rd_cuda_together_may_take(const struct rd_many *many, size_t which, uint64_t pieces);

/* The pass of a plan in which there are. With the context current. */
reduct_status rd_cuda_several_prepare(struct rd_cuda_context *context, const struct rd_many *many,
                                      struct rd_cuda_several *several, reduct_error *error);

/* Queues the pass over an array. The table is the plan's `own`, whose workspace is zero, or a caller's, which may hold anything;
 * if `follows` is false, what the pass follows in the stream is no kernel. With the context current. */
rd_cu_result rd_cuda_several_read(const struct rd_cuda_several *several, const void *x, void *table, bool own,
                                  bool follows, rd_cu_stream stream);

/* Results that are to be rounded together. */
struct rd_cuda_rounding {
    struct rd_cuda_answers answers;
    unsigned count;
    uint32_t dense; /* as in kernels/several.h; not of whole arrays */
    bool follows;   /* kernels alone are queued from the pass on */
};

/* One more of them. There is room for so many as share a pass of many results. */
void rd_cuda_answer_add(struct rd_cuda_rounding *rounding, const struct rd_many *many, size_t which, void *result,
                        struct rd_cuda_outcome *outcome, uint64_t *failure, bool dense);

/* The same of a whole array; and queues what has come. With the context current. */
rd_cu_result rd_cuda_several_answer(const struct rd_cuda_several *several, const struct rd_many *many, size_t which,
                                    void *result, struct rd_cuda_outcome *outcome, uint64_t *failure,
                                    struct rd_cuda_rounding *rounding, void *table, rd_cu_stream stream);
rd_cu_result rd_cuda_several_round(const struct rd_cuda_several *several, struct rd_cuda_rounding *rounding,
                                   void *table, rd_cu_stream stream);

#endif
