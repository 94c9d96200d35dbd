/* What the options of plans, accumulators and custom operators have in common. */
#ifndef RD_OPTIONS_H
#define RD_OPTIONS_H

#include "core/backend.h"

#include <stddef.h>

/* Fails where reserved words are not zero: a later version may give them a meaning, which this one must not ignore. `name` is how
 * the message begins. */
reduct_status rd_check_reserved(const char *name, const uint64_t *reserved, size_t words, reduct_error *error);
#define RD_CHECK_RESERVED(name, options, error)                                                                        \
    rd_check_reserved(name, (options)->reserved, sizeof(options)->reserved / sizeof *(options)->reserved, error)

/* Fails where there is an executor that cannot be one. */
reduct_status rd_check_executor(const reduct_executor *executor, reduct_error *error);

/* Where options say to run. The structure of an executor, which need not outlive the call, is copied to `kept`. */
struct rd_place rd_place_of(const char *device, const void *example, unsigned threads, const reduct_executor *executor,
                            reduct_executor *kept);

#endif
