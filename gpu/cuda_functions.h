/* To be included by a file that has defined FUNCTIONS, a list of functions of the CUDA driver that it alone needs: each by its name
 * here, its symbol and its parameters. Looks for them at run time. */
#include <dlfcn.h>
#include <string.h>

typedef struct functions {
#define MEMBER(name, symbol, parameters) rd_cu_result(*name) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
} functions;

/* False if the driver lacks one. */
static bool find_functions(functions *found) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *address;
#define FIND(name, symbol, parameters)                                                                                 \
    address = library ? dlsym(library, symbol) : NULL;                                                                 \
    if (!address)                                                                                                      \
        return false;                                                                                                  \
    memcpy(&found->name, &address, sizeof address); /* POSIX promises that the bytes are the same */
    FUNCTIONS(FIND)
#undef FIND
    return true;
}
