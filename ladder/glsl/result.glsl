// The result, one element: stored, and added to atomically. Only integers can be added atomically everywhere; what
// devices have beyond that is compiled as a variant of its own (ATOMIC_NATIVE), since a shader that so much as declares
// what a device lacks must not be given to it.
#if defined TYPE_I32

layout(set = 0, binding = 2) coherent buffer Result { uint result; };

void set_result(uint sum) {
    result = sum;
}
void add_to_result(uint sum) {
    atomicAdd(result, sum);
}

#elif defined TYPE_F32 && defined ATOMIC_NATIVE

#extension GL_EXT_shader_atomic_float : require
layout(set = 0, binding = 2) coherent buffer Result { float result; };

void set_result(float sum) {
    result = sum;
}
void add_to_result(float sum) {
    atomicAdd(result, sum);
}

#elif defined TYPE_F32

layout(set = 0, binding = 2) coherent buffer Result { uint result; };

void set_result(float sum) {
    result = floatBitsToUint(sum);
}

// Compare and swap: what is there is read as bits, and replaced if it is still there; otherwise again. Some invocation
// always succeeds, so this ends.
void add_to_result(float sum) {
    uint there = result, expected;
    do {
        expected = there;
        there = atomicCompSwap(result, expected, floatBitsToUint(uintBitsToFloat(expected) + sum));
    } while (there != expected);
}

#elif defined TYPE_F64 && defined ATOMIC_NATIVE

#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
layout(set = 0, binding = 2) coherent buffer Result { uint64_t result; };

void set_result(double sum) {
    result = packUint2x32(unpackDouble2x32(sum));
}

// As for floats, with 64-bit integers.
void add_to_result(double sum) {
    uint64_t there = result, expected;
    do {
        expected = there;
        double more = packDouble2x32(unpackUint2x32(expected)) + sum;
        there = atomicCompSwap(result, expected, packUint2x32(unpackDouble2x32(more)));
    } while (there != expected);
}

#else

layout(set = 0, binding = 2) coherent buffer Result { uvec2 result; };

void set_result(double sum) {
    result = unpackDouble2x32(sum);
}
void add_to_result(double sum) {
    // There is no way without 64-bit atomics: the host does not ask for this.
}

#endif
