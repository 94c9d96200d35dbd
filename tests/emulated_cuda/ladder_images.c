/* The ladder's table of kernels where its device is the emulated one: an image that nothing asks for. */
#include "drivers/cuda.h"

extern const rd_cuda_image ladder_cuda_images[];
const rd_cuda_image ladder_cuda_images[] = {{"none", "", 0}, {0}};
