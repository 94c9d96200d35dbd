/* CUDA devices by their names: "cuda:0", and several under one name: "cuda:all", "cuda:0,1". */
#ifndef RD_CUDA_SET_H
#define RD_CUDA_SET_H

#include "core/backend.h"

/* The device or the devices that are called so; null is cuda:0. */
reduct_status rd_cuda_open(const char *rest, struct rd_device *device, reduct_error *error);

#endif
