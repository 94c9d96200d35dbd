/* In which device's memory an address lies. */
#ifndef RD_CUDA_OWNER_H
#define RD_CUDA_OWNER_H

/* The number of the device that holds this memory, its own or managed; -1 for memory of the host, page-locked or not, and where there
 * is no driver. */
int rd_cuda_owner(const void *memory);

#endif
