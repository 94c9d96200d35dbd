/* Checking options: see options.h. */
#include "core/options.h"

#include "core/status.h"

reduct_status rd_check_reserved(const char *name, const uint64_t *reserved, size_t words, reduct_error *error) {
    for (size_t i = 0; i < words; i++)
        if (reserved[i])
            return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: must be zero", name);
    return REDUCT_OK;
}

reduct_status rd_check_executor(const reduct_executor *executor, reduct_error *error) {
    if (!executor)
        return REDUCT_OK;
    if (!executor->run && !executor->stop)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "executor: run: null pointer; expected a function");
    return RD_CHECK_RESERVED("executor: reserved", executor, error);
}

struct rd_place rd_place_of(const char *device, const void *example, unsigned threads, const reduct_executor *executor,
                            reduct_executor *kept) {
    if (executor)
        *kept = *executor;
    return (struct rd_place){device, example, {threads, executor ? kept : NULL}};
}
