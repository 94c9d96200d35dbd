/* What the library expects of a system, where there is none: no drivers, no files, and no threads but the caller's. (Locks
 * are in include/.) */
#include "core/status.h"
#include "core/system.h"
#include "cpu/team.h"
#include "cuda/backend.h"

#include <stdint.h>
#include <stdlib.h>

static reduct_status no_driver(const char *rest, struct rd_device *device, reduct_error *error) {
    (void)rest, (void)device;
    return rd_fail(error, REDUCT_ERROR_NO_DEVICE, "device: WebAssembly reaches no GPU driver; it has auto and cpu");
}

const struct rd_backend rd_cuda_backend = {.name = "cuda", .open = no_driver};

void *rd_large_alloc(size_t bytes) {
    return malloc(bytes);
}

void rd_yield(void) {
}

unsigned rd_team_number(void) {
    return 0;
}

unsigned rd_team_threads(const struct rd_crew *crew, uint64_t pieces, uint64_t bytes) {
    (void)crew, (void)pieces, (void)bytes;
    return 1;
}

void rd_team_run(const struct rd_crew *crew, unsigned threads, void (*work)(void *context), void *context) {
    (void)crew, (void)threads;
    work(context);
}

/* WASI's vsnprintf() is linked with streams that nobody opens. With these functions here rather than imported, the
 * module can be instantiated anywhere without a system interface. */
enum { NOT_A_FILE = 8 };

int32_t __imported_wasi_snapshot_preview1_fd_close(int32_t file);
int32_t __imported_wasi_snapshot_preview1_fd_close(int32_t file) {
    (void)file;
    return NOT_A_FILE;
}

int32_t __imported_wasi_snapshot_preview1_fd_seek(int32_t file, int64_t offset, int32_t whence, int32_t to);
int32_t __imported_wasi_snapshot_preview1_fd_seek(int32_t file, int64_t offset, int32_t whence, int32_t to) {
    (void)file, (void)offset, (void)whence, (void)to;
    return NOT_A_FILE;
}

int32_t __imported_wasi_snapshot_preview1_fd_write(int32_t file, int32_t from, int32_t count, int32_t written);
int32_t __imported_wasi_snapshot_preview1_fd_write(int32_t file, int32_t from, int32_t count, int32_t written) {
    (void)file, (void)from, (void)count, (void)written;
    return NOT_A_FILE;
}
