/* To be loaded before the command: mapping text files (*.txt) fails from the REDUCT_TEST_MAPS-th time on, as on file systems that
 * cannot. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int is_text(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path);
    return length > 4 && length < (ssize_t)sizeof path && memcmp(path + length - 4, ".txt", 4) == 0;
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
    __attribute__((visibility("default")));
void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    static int before;
    const char *most = getenv("REDUCT_TEST_MAPS");
    void *(*original)(void *, size_t, int, int, int, off_t);
    *(void **)&original = dlsym(RTLD_NEXT, "mmap");
    if (most && fd >= 0 && is_text(fd) && ++before >= atoi(most)) {
        errno = ENODEV;
        return MAP_FAILED;
    }
    return original(address, length, protection, flags, fd, offset);
}
