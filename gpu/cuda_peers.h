/* CUB and Thrust, from the shared object that gpu/cuda/peers.cu is compiled to. */
#ifndef GPU_CUDA_PEERS_H
#define GPU_CUDA_PEERS_H

#include "gpu/cuda/peers.h"

/* The functions, with device number `ordinal` made the calling thread's. Null, and one sentence in `*why` (static storage),
 * where the shared object does not lie beside the program, or the device cannot be used. */
const gpu_peers *gpu_cuda_peers(unsigned ordinal, const char **why);

#endif
