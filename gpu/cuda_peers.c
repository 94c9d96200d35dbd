/* Loading CUB and Thrust: see cuda_peers.h. */
#include "gpu/cuda_peers.h"

#include "gpu/plugin.h"

#include <string.h>

const gpu_peers *gpu_cuda_peers(unsigned ordinal, const char **why) {
    void *symbol = gpu_plugin(GPU_PEERS_FILE, GPU_PEERS_SYMBOL);
    gpu_cuda_peers_function *function;
    memcpy(&function, &symbol, sizeof symbol);
    if (!function) {
        *why = GPU_PEERS_FILE " is not beside the program, or of another version: `make peers` builds it";
        return NULL;
    }
    const gpu_peers *peers = function();
    int error = peers->open((int)ordinal);
    if (error == 0)
        return peers;
    *why = peers->text(error);
    return NULL;
}
