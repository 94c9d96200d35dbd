/* Bytes of files and pipes: see source.h. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../progress.h"

/* Large enough that many threads have work, small enough to be bounded memory; and a little more, for what stands before
 * the elements: a header, the beginning of a page. */
#define WINDOW (((size_t)128 << 20) + ((size_t)64 << 10))

/* What is read stays in the cache until it has been reduced. */
#define BUFFER ((size_t)1 << 20)

/* No data for so long is a pause. */
enum { PAUSE_MS = 50 };

/* ---------------------------------------------------------------------------------------------------------------------
 * Files that shrink: touching a page beyond the end raises SIGBUS, in whichever thread that happens
 * ------------------------------------------------------------------------------------------------------------------ */

/* The sources that may have a window: as many as a reduction has inputs. */
static const struct source *mapped_sources[2];

static void say_in_handler(const char *text) {
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written; /* there is nobody left to tell */
}

static void on_bus_error(int number, siginfo_t *info, void *context) {
    (void)context;
    for (size_t i = 0; i < 2; i++) {
        const struct source *source = mapped_sources[i];
        if (!source || !source->window || (uintptr_t)info->si_addr - (uintptr_t)source->window >= source->window_size)
            continue;
        progress_erase();
        say_in_handler("reduct: ");
        say_in_handler(source->name);
        say_in_handler(": the file was cut short while it was read, or its disk failed\n");
        _exit(FAILED);
    }
    signal(number, SIG_DFL); /* not ours: let it happen again */
}

static void watch_mapping(const struct source *source) {
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &action, NULL);
    mapped_sources[mapped_sources[0] ? 1 : 0] = source;
}

static void unwatch_mapping(const struct source *source) {
    for (size_t i = 0; i < 2; i++) {
        if (mapped_sources[i] == source)
            mapped_sources[i] = NULL;
    }
}

static void unmap(struct source *source) {
    if (!source->window)
        return;
    void *window = source->window;
    source->window = NULL;
    munmap(window, source->window_size);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Opening and closing
 * ------------------------------------------------------------------------------------------------------------------ */

/* Regular files that have a size are mapped; those of /proc say 0 and are read. */
static void measure(struct source *source, const struct stat *status) {
    if (!S_ISREG(status->st_mode) || status->st_size == 0)
        return;
    off_t offset = lseek(source->fd, 0, SEEK_CUR);
    source->start = offset > 0 ? (uint64_t)offset : 0;
    source->size = (uint64_t)status->st_size > source->start ? (uint64_t)status->st_size - source->start : 0;
    source->mapped = true;
    watch_mapping(source);
}

enum outcome source_open(struct source *source, const char *path) {
    bool standard = strcmp(path, "-") == 0;
    *source = (struct source){.name = standard ? "(standard input)" : path, .size = SOURCE_SIZE_UNKNOWN};
    source->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (source->fd < 0 || fstat(source->fd, &status) != 0)
        return fail("%s: %s", source->name, strerror(errno));
    if (S_ISDIR(status.st_mode)) {
        source_close(source);
        return fail("%s: this is a directory; expected a file", source->name);
    }
    measure(source, &status);
#if defined(F_SETPIPE_SZ)
    if (S_ISFIFO(status.st_mode))
        fcntl(source->fd, F_SETPIPE_SZ, (int)BUFFER); /* fewer wake-ups; as well if it is refused */
#endif
    return DONE;
}

void source_close(struct source *source) {
    unwatch_mapping(source);
    unmap(source);
    free(source->buffer);
    source->buffer = NULL;
    if (source->fd > STDIN_FILENO)
        close(source->fd);
    source->fd = -1;
}

struct source source_look(const struct source *source) {
    struct source look = *source;
    look.window = NULL;
    look.available = 0;
    look.ended = false;
    look.buffer = NULL;
    look.capacity = 0;
    return look;
}

void source_end_look(struct source *look) {
    unmap(look);
    free(look->buffer);
}

/* What is in hand stays, as it may have been read and cannot be had again. */
void source_cut(struct source *source, uint64_t size) {
    source->size = size < source->position ? source->position : size;
    uint64_t left = source->size - source->position;
    source->available = source->available < left ? source->available : (size_t)left;
    source->ended = source->available == left;
}

bool source_has_grown(const struct source *source) {
    struct stat status;
    off_t end =
        source->size != SOURCE_SIZE_UNKNOWN ? (off_t)(source->start + source->size) : lseek(source->fd, 0, SEEK_CUR);
    return fstat(source->fd, &status) == 0 && S_ISREG(status.st_mode) && end >= 0 && status.st_size > end;
}

enum outcome source_check_length(const struct source *source) {
    struct stat status;
    uint64_t end = source->start + source->size;
    if (source->size == SOURCE_SIZE_UNKNOWN || !source->size || fstat(source->fd, &status) != 0 ||
        (uint64_t)status.st_size >= end)
        return DONE;
    return fail("%s: the file was cut short while it was read: it has %" PRIu64 " bytes; expected %" PRIu64
                ", as when it was opened",
                source->name, (uint64_t)status.st_size, end);
}

bool source_is_terminal(const struct source *source) {
    return isatty(source->fd);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Bytes
 * ------------------------------------------------------------------------------------------------------------------ */

static enum outcome read_more(struct source *source, size_t least, size_t wish);

/* Moves the window to the position. */
static enum outcome map_more(struct source *source, size_t least, size_t wish) {
    unmap(source);
    source->available = 0;
    source->ended = source->position >= source->size;
    if (source->ended)
        return DONE;
    uint64_t offset = source->start + source->position, end = source->start + source->size;
    size_t before = (size_t)(offset % (uint64_t)sysconf(_SC_PAGESIZE));
    uint64_t length = end - offset + before, most = least < WINDOW ? WINDOW : (uint64_t)least + before;
    source->window_size = (size_t)(length < most ? length : most);
    void *window =
        mmap(NULL, source->window_size, PROT_READ, MAP_PRIVATE, source->fd, (off_t)(offset - (uint64_t)before));
    if (window == MAP_FAILED) { /* some file systems cannot: then it is read */
        if (lseek(source->fd, (off_t)offset, SEEK_SET) < 0)
            return fail("%s: %s", source->name, strerror(errno));
        source->mapped = false;
        return read_more(source, least, wish);
    }
    source->window = window;
    source->data = (const unsigned char *)window + before;
    source->available = source->window_size - before;
    source->ended = source->position + source->available == source->size;
    return DONE;
}

/* Makes room for `capacity` bytes, what is in hand first. */
static enum outcome make_room(struct source *source, size_t capacity) {
    if (capacity <= source->capacity) {
        memmove(source->buffer, source->data, source->available);
    } else {
        unsigned char *buffer = aligned_alloc(64, (capacity + 63) / 64 * 64);
        if (!buffer)
            return fail_memory();
        if (source->available > 0)
            memcpy(buffer, source->data, source->available);
        free(source->buffer);
        source->buffer = buffer;
        source->capacity = capacity;
    }
    source->data = source->buffer;
    return DONE;
}

static bool is_ready(int fd, int milliseconds) {
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    return poll(&wait, 1, milliseconds) != 0;
}

static enum outcome read_more(struct source *source, size_t least, size_t wish) {
    size_t target = wish < BUFFER ? BUFFER : wish;
    enum outcome outcome = make_room(source, target < least ? least : target);
    if (outcome != DONE)
        return outcome;
    while (source->available < source->capacity && !source->ended) {
        if (source->available >= least && source->available > 0 && !is_ready(source->fd, PAUSE_MS))
            break;
        size_t room = source->capacity - source->available;
        uint64_t left = source->size - source->position - source->available; /* up to the end, as mappings go */
        room = left < room ? (size_t)left : room;
        ssize_t got = room > 0 ? read(source->fd, source->buffer + source->available, room) : 0;
        if (got > 0)
            source->available += (size_t)got;
        else if (got == 0)
            source->ended = true;
        else if (errno == EAGAIN)
            is_ready(source->fd, -1);
        else if (errno != EINTR)
            return fail("%s: %s", source->name, strerror(errno));
    }
    return DONE;
}

enum outcome source_peek(struct source *source, size_t least, size_t wish) {
    if (source->ended || source->available >= (least > wish ? least : wish))
        return DONE;
    return source->mapped ? map_more(source, least, wish) : read_more(source, least, wish);
}

void source_forget(const struct source *source) {
    if (source->window && source->window_size > WINDOW)              /* else it holds no more than always */
        madvise(source->window, source->window_size, MADV_DONTNEED); /* as well if it is refused */
}

void source_consume(struct source *source, size_t bytes) {
    if (bytes == 0)
        return; /* there may be no data to point to */
    source->data += bytes;
    source->available -= bytes;
    source->position += bytes;
}

enum outcome source_skip(struct source *source, uint64_t bytes, uint64_t *skipped) {
    *skipped = 0;
    if (source->mapped) {
        uint64_t left = source->size - source->position;
        *skipped = bytes < left ? bytes : left;
        source->position += *skipped;
        source->available = 0;
        source->ended = false;
        return DONE;
    }
    while (*skipped < bytes) {
        enum outcome outcome = source_peek(source, 1, 1);
        if (outcome != DONE || source->available == 0)
            return outcome;
        size_t step = source->available < bytes - *skipped ? source->available : (size_t)(bytes - *skipped);
        source_consume(source, step);
        *skipped += step;
    }
    return DONE;
}
