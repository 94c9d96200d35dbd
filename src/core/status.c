/* Statuses in words, and the library's version. */
#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

const char *reduct_version(void) {
    return TEXT(REDUCT_VERSION_MAJOR) "." TEXT(REDUCT_VERSION_MINOR) "." TEXT(REDUCT_VERSION_PATCH);
}

const char *reduct_status_text(reduct_status status) {
    switch (status) {
    case REDUCT_OK:
        return "done";
    case REDUCT_ERROR_ARGUMENT:
        return "an argument is not valid";
    case REDUCT_ERROR_UNSUPPORTED:
        return "this library or device does not support that";
    case REDUCT_ERROR_OUT_OF_MEMORY:
        return "out of memory";
    case REDUCT_ERROR_EMPTY:
        return "too few elements for the result to exist";
    case REDUCT_ERROR_OVERFLOW:
        return "the result does not fit its integer type";
    case REDUCT_ERROR_NAN:
        return "a NaN was found";
    case REDUCT_ERROR_NO_DEVICE:
        return "no such device";
    case REDUCT_ERROR_DEVICE_LOST:
        return "the device stopped working";
    case REDUCT_ERROR_TOO_LARGE:
        return "the size is impossible";
    case REDUCT_ERROR_CORRUPT:
        return "the saved accumulator is damaged or not one";
    case REDUCT_ERROR_VERSION:
        return "the accumulator was saved by a newer version of the library";
    case REDUCT_ERROR_MISMATCH:
        return "the accumulators hold different reductions";
    case REDUCT_ERROR_CALLBACK:
        return "a function of the caller's reported a failure";
    }
    return "not a status of this library";
}

static void fill(reduct_error *error, reduct_status status, uint64_t index, const char *format, va_list arguments) {
    if (!error)
        return;
    error->status = status;
    error->index = index;
    vsnprintf(error->message, sizeof error->message, format, arguments);
}

reduct_status rd_fail(reduct_error *error, reduct_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, UINT64_MAX, format, arguments);
    va_end(arguments);
    return status;
}

reduct_status rd_fail_at(reduct_error *error, reduct_status status, uint64_t index, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, index, format, arguments);
    va_end(arguments);
    return status;
}
