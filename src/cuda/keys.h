/* Keys in device memory. */
#ifndef RD_CUDA_KEYS_OF_DEVICE_H
#define RD_CUDA_KEYS_OF_DEVICE_H

#include <stdint.h>

/* The most keys of 32 bits in an array of which a slot of the hash table is one word. Tests lower it. */
extern uint64_t rd_cuda_keys_narrow_most;

#endif
