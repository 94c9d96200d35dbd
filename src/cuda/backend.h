/* The CUDA backend: "cuda", "cuda:0" and so on. */
#ifndef RD_CUDA_BACKEND_H
#define RD_CUDA_BACKEND_H

#include "core/backend.h"

extern const struct rd_backend rd_cuda_backend;

#endif
