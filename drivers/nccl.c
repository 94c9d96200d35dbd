/* Opening NCCL: see nccl.h. */
#include "drivers/nccl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static rd_nccl table;
static char failure[256]; /* empty when all is well */

/* Fills the table; the name of the first function that the library lacks, or null. */
static const char *find_functions(void *library) {
    /* ISO C has no conversion from object to function pointers, POSIX promises that the bytes are the same. */
#define RD_NCCL_FIND(name, parameters)                                                                                 \
    do {                                                                                                               \
        void *found = dlsym(library, #name);                                                                           \
        if (!found)                                                                                                    \
            return #name;                                                                                              \
        memcpy(&table.name, &found, sizeof found);                                                                     \
    } while (0);
    RD_NCCL_FUNCTIONS(RD_NCCL_FIND)
    RD_NCCL_FIND(ncclGetErrorString, )
#undef RD_NCCL_FIND
    return NULL;
}

static void open_library(void) {
    void *library = dlopen(NULL, RTLD_NOW); /* the program and what it is linked with */
    if (!library || !dlsym(library, "ncclAllReduce"))
        library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(failure, sizeof failure, "NCCL is not here: libnccl.so.2 cannot be opened");
        return;
    }
    const char *missing = find_functions(library);
    if (missing)
        snprintf(failure, sizeof failure, "NCCL is too old, or another library: it lacks %s", missing);
}

const rd_nccl *rd_nccl_open(const char **why) {
    pthread_once(&once, open_library);
    if (failure[0] == 0)
        return &table;
    if (why)
        *why = failure;
    return NULL;
}
