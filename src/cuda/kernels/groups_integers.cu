/* Sums of integers by groups: see groups_sums.cuh. By their size, as whether they are signed is known when the kernel runs. All terms fit the
 * window, which lies where they begin. */
#include "groups_sums.cuh"

RD_CUDA_GROUPS_ADD(terms_1, INTEGERS, 1, false)
RD_CUDA_GROUPS_ADD(terms_2, INTEGERS, 2, false)
RD_CUDA_GROUPS_ADD(terms_4, INTEGERS, 4, false)
RD_CUDA_GROUPS_ADD(terms_8, INTEGERS, 8, false)
RD_CUDA_GROUPS_ADD(products_1, INTEGERS, 1, true)
RD_CUDA_GROUPS_ADD(products_2, INTEGERS, 2, true)
RD_CUDA_GROUPS_ADD(products_4, INTEGERS, 4, true)
RD_CUDA_GROUPS_ADD(products_8, INTEGERS, 8, true)
RD_CUDA_GROUPS_GATHER(terms_1, INTEGERS, 1, false)
RD_CUDA_GROUPS_GATHER(terms_2, INTEGERS, 2, false)
RD_CUDA_GROUPS_GATHER(terms_4, INTEGERS, 4, false)
RD_CUDA_GROUPS_GATHER(terms_8, INTEGERS, 8, false)
RD_CUDA_GROUPS_GATHER(products_1, INTEGERS, 1, true)
RD_CUDA_GROUPS_GATHER(products_2, INTEGERS, 2, true)
RD_CUDA_GROUPS_GATHER(products_4, INTEGERS, 4, true)
