/* The CUDA backend: "cuda", "cuda:0" and so on. */
#ifndef RD_CUDA_BACKEND_H
#define RD_CUDA_BACKEND_H

#include "core/backend.h"

extern const struct rd_backend rd_cuda_backend;

/* Fails where an address, which `name` stands for, is null or not aligned. */
reduct_status rd_cuda_check_address(const char *name, const void *address, size_t alignment, reduct_error *error);

#endif
