// Rung overlapped-launch: the next launch is there before this one has ended.
//
// Idea: launches in a stream follow each other, and between the last block of one and the first of the next a few
// microseconds pass in which the memory is idle. Since Hopper a launch may say that its blocks can come earlier
// ("programmatic dependent launch"): they set themselves up, and wait inside the kernel for the one before.
//
//   plain         [ kernel 1      ]   gap   [ kernel 2      ]
//   overlapped    [ kernel 1      ][ kernel 2      ]
//                   begin.. wait ^
//
// Phases:
//   1. wait until the launch before has ended and all that it wrote can be seen (griddepcontrol.wait): before anything in
//      global memory is touched, since that may be what the other launch writes
//   2. let the blocks of the next launch come as soon as there is room for them (griddepcontrol.launch_dependents)
//   3. as one-launch
// The host must allow it as well, by an attribute of the launch: gpu_cuda_launch() in gpu/cuda.c.
//
// What it fixes: the gap between launches, which for small arrays is as long as the work itself.
//
// When it loses: where nothing is queued before it, and before compute capability 9.0, where it does not exist. The rung
// exact, which is a call of the library, is launched like this too: compare it with this rung.
//
// Elsewhere: CUDA C++ Programming Guide, "Programmatic Dependent Launch and Synchronization".
#include "rung.cuh"
#include "vector_loads.cuh"

template <typename T, finish F> __device__ void overlapped_launch(const T *input, uint64_t n, outlet<T> out) {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    deliver<F>(block_sum(sum_vectors(input, n)), out);
#endif
}

RUNG(overlapped_launch)
