#include "stage.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "message.h"

struct stage stage;

/* ---------------------------------------------------------------------------------------------------------------------
 * Diversions. The names are the linker's.
 * ------------------------------------------------------------------------------------------------------------------ */

ssize_t __real_read(int fd, void *data, size_t size);
ssize_t __real_write(int fd, const void *data, size_t size);
void *__real_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void __real__exit(int status) __attribute__((noreturn));

ssize_t __wrap_read(int fd, void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void __wrap__exit(int status) __attribute__((noreturn));
enum outcome __wrap_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
enum outcome __wrap_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

ssize_t __wrap_read(int fd, void *data, size_t size) {
    stage_tick();
    if (stage.interrupt && ++stage.reads % (stage.interrupt + 1) == 0) {
        errno = stage.reads % 4 < 2 ? EINTR : EAGAIN;
        return -1;
    }
    return __real_read(fd, data, stage.read_most && stage.read_most < size ? stage.read_most : size);
}

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    stage_tick();
    if (stage.way == STAGE_MAPPED)
        return __real_mmap(address, size, protection, flags, fd, offset);
    errno = ENODEV;
    return MAP_FAILED;
}

/* What the handler of SIGBUS says. */
ssize_t __wrap_write(int fd, const void *data, size_t size) {
    return stage.guarded ? (ssize_t)size : __real_write(fd, data, size);
}

void __wrap__exit(int status) {
    if (stage.guarded)
        siglongjmp(stage.escape, 1);
    __real__exit(status);
}

static void say(const char *format, va_list arguments) {
    const int length = vsnprintf(stage.said, sizeof stage.said, format, arguments);
    FUZZ_REQUIRE(length > 0 && (size_t)length < sizeof stage.said);
    for (const char *c = stage.said; *c; c++)
        FUZZ_REQUIRE(*c >= ' ' && *c <= '~');
}

enum outcome __wrap_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    return FAILED;
}

enum outcome __wrap_misuse(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    return MISUSED;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The file
 * ------------------------------------------------------------------------------------------------------------------ */

static void write_all(int fd, const uint8_t *data, size_t size, off_t at) {
    for (size_t done = 0; done < size;) {
        const ssize_t wrote = at < 0 ? __real_write(fd, data + done, size - done)
                                     : pwrite(fd, data + done, size - done, at + (off_t)done);
        FUZZ_REQUIRE(wrote > 0);
        done += (size_t)wrote;
    }
}

void stage_open(void) {
    int ends[2];
    stage.reads = 0;
    stage.said[0] = 0;
    stage.guarded = false;
    if (stage.way == STAGE_PIPE) { /* which holds 64 KiB */
        FUZZ_REQUIRE(pipe(ends) == 0);
        write_all(ends[1], stage.data, stage.size, -1);
        stage.fd = ends[0];
        snprintf(stage.path, sizeof stage.path, "/proc/self/fd/%d", stage.fd);
        stage.later = stage.size;
        close(ends[1]);
        return;
    }
    stage.fd = memfd_create("fuzz", 0);
    FUZZ_REQUIRE(stage.fd >= 0);
    write_all(stage.fd, stage.data, stage.size, 0);
    snprintf(stage.path, sizeof stage.path, "/proc/self/fd/%d", stage.fd);
}

void stage_tick(void) {
    if (stage.later == stage.size || stage.calls-- > 0)
        return;
    if (stage.later > stage.size)
        write_all(stage.fd, stage.data + stage.size, stage.later - stage.size, (off_t)stage.size);
    else
        FUZZ_REQUIRE(ftruncate(stage.fd, (off_t)stage.later) == 0);
    stage.size = stage.later;
}

void stage_close(void) {
    close(stage.fd);
    stage.guarded = false;
}
