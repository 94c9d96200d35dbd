#version 450
// Rung exact, with a window in f64: the fastest where f64 is fast, and no slower than memory even where there is one
// f64 unit to 64 f32 units, as an f32 takes one addition.
//
// Idea. A sum of f64 is exact as long as all terms are multiples of one unit and the sum stays below 2^53 units.
// Elements within the window have few enough bits, in few enough places, for that: an f32 has 24 bits, and RANGE places
// leave room for 32 elements. Of an f64, the leading 26 bits are added to one sum and the 27 others to another.
//
// A sum starts at 1.5 * 2^52 units and stays between 2^52 and 2^53, where the bits of doubles, read as integers, differ
// by their distance in units. So it becomes an integer by a subtraction of bits.
//
// Every addition is exact: it does not matter how this device rounds. `precise` keeps compilers from reordering.
// Elements and differences near the subnormals lie outside (TOP_LEAST), and so does what would make a start overflow
// (TOP_MOST).
//
// When it loses: in registers, for f64, and where the device has no f64: there exact_u32.comp does it.
#if defined DOT
const uint PARTS = 2, RANGE = 20, TILES = 1, LOW_BITS = 27; // 27 bits, 20 places, 16 elements: 2^51
#elif defined TYPE_F64
const uint PARTS = 2, RANGE = 21, TILES = 1, LOW_BITS = 27; // 27 bits, 21 places, 8 elements: 2^51
#else
const uint PARTS = 1, RANGE = 22, TILES = 2; // 24 bits, 22 places, 32 elements: 2^51
#endif

#include "exact_element.glsl"

#ifdef TYPE_F64
const uint TOP_LEAST = 53 + RANGE, TOP_MOST = 2040;
#else
const uint TOP_LEAST = RANGE + 1, TOP_MOST = EXPONENT_MOST - 1;
#endif

struct Window {
    precise double sum[PARTS];
};

uint window_place(uint part) {
#ifdef TYPE_F64
    return top - RANGE - 1 + part * LOW_BITS;
#else
    return top - RANGE - 1;
#endif
}

// The upper word of 1.5 * 2^52 units; the lower one is zero. A place of 0 stands for 2^-1074 (f64) or 2^-149 (f32).
uint start_of(uint part) {
#ifdef TYPE_F64
    uint exponent = window_place(part) + 1;
#else
    uint exponent = window_place(part) + (1023 + 52 - 149);
#endif
    return exponent << 20 | 1 << 19;
}

Window window_empty() {
    Window empty;
    [[unroll]] for (uint part = 0; part < PARTS; part++)
        empty.sum[part] = packDouble2x32(uvec2(0, start_of(part)));
    return empty;
}

void window_add(inout Window window, Element x) {
#ifdef TYPE_F64
    precise double leading = packDouble2x32(uvec2(x.x & ~((1u << LOW_BITS) - 1), x.y));
    precise double rest = packDouble2x32(x) - leading;
    precise double low = window.sum[0] + rest, high = window.sum[1] + leading;
    window.sum[0] = low;
    window.sum[1] = high;
#else
    precise double sum = window.sum[0] + double(uintBitsToFloat(x));
    window.sum[0] = sum;
#endif
}

uvec2 window_units(Window window, uint part) {
    uvec2 bits = unpackDouble2x32(window.sum[part]);
    return uvec2(bits.x, bits.y - start_of(part));
}

#include "exact.glsl"
