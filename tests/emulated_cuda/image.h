/* Images of kernels as programs have them that are tested on the emulated device: a mark, and the image's name. */
#ifndef EMULATED_CUDA_IMAGE_H
#define EMULATED_CUDA_IMAGE_H

#define EMULATED_CUDA_MARK "emulated CUDA image: "

#endif
