/* The CUDA backend: "cuda", "cuda:0" and so on. */
#ifndef RD_CUDA_BACKEND_H
#define RD_CUDA_BACKEND_H

#include "core/backend.h"

extern const struct rd_backend rd_cuda_backend;

/* Fails where an address, which `name` stands for, is null or not aligned. */
reduct_status rd_cuda_check_address(const char *name, const void *address, size_t alignment, reduct_error *error);

/* The same of what `array[which].member` stands for, or `array[which]` if the member is null. The name is made up on failure alone. */
reduct_status rd_cuda_check_address_in(const char *array, size_t which, const char *member, const void *address,
                                       size_t alignment, reduct_error *error);

#endif
