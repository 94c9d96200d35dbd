// 16 bytes of elements, V, and how many they are.
#ifndef VECTOR_TYPE_GLSL
#define VECTOR_TYPE_GLSL

#if defined TYPE_I32
#define V uvec4
#define PER_VECTOR 4
#elif defined TYPE_F32
#define V vec4
#define PER_VECTOR 4
#else
#define V dvec2
#define PER_VECTOR 2
#endif

T sum_of(V x) {
#if PER_VECTOR == 4
    return (x.x + x.y) + (x.z + x.w);
#else
    return x.x + x.y;
#endif
}

#endif
