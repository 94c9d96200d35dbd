/* Reporting failures. */
#ifndef RD_STATUS_H
#define RD_STATUS_H

#include <reduct/reduct.h>

/* Fills `error`, where there is one, and returns `status`, so that a failure is one return statement. */
reduct_status rd_fail(reduct_error *error, reduct_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a failure at one element. */
reduct_status rd_fail_at(reduct_error *error, reduct_status status, uint64_t index, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
