// What every shader of the ladder is about: the type of the elements, T, and who an invocation is.
#ifndef TYPES_GLSL
#define TYPES_GLSL

#if defined TYPE_I32
#define T uint // added as unsigned: the sum modulo 2^32, which cannot overflow
#elif defined TYPE_F32
#define T float
#elif defined TYPE_F64
#define T double
#endif

layout(local_size_x_id = 0) in; // specialised by the host, as CUDA's launch decides the block's size
const uint GROUP = gl_WorkGroupSize.x;

#define tid gl_LocalInvocationIndex

#endif
