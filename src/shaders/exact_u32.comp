#version 450
// Rung exact, with a window of 32-bit integers: for devices without f64, and for those where f64 is slow.
//
// Idea. An element within the window is x * 2^(RANGE - distance) units, where x is its significand with its sign, and a
// unit the lowest bit that the window holds. That has more than 32 bits, so it is added twice:
//
//   high += x >> distance               whole multiples of 2^RANGE, rounded down
//   low  += x << (RANGE - distance)     everything, modulo 2^32
//
// The sum is high * 2^RANGE + rest, where rest, all that rounding down left behind, is not negative, and below 2^32 as
// long as there are at most 2^(32 - RANGE) elements. Hence rest = low - high * 2^RANGE modulo 2^32, and nothing is
// lost: two shifts and two additions per element, and no carries.
//
// f64 has significands of 53 bits; they are split into 26 and 27 bits, which are added apart. i32 is its own
// significand.
//
// When it loses: a dozen integer instructions per f32, where a window in f64 takes one addition.

#if defined DOT
const uint PARTS = 2, RANGE = 28, TILES = 1, LOW_BITS = 27; // 16 elements of 27 bits
#elif defined TYPE_F64
const uint PARTS = 2, RANGE = 28, TILES = 2, LOW_BITS = 27; // 16 elements of 27 bits
#elif defined TYPE_F32
const uint PARTS = 1, RANGE = 26, TILES = 4; // 64 elements of 24 bits
#else
const uint PARTS = 1, RANGE = 16, TILES = 64; // 1024 elements of 32 bits, half of which the shift drives out
#endif

#include "exact_element.glsl"

#ifdef TYPE_I32
const uint TOP_LEAST = RANGE + 1, TOP_MOST = TOP_LEAST; // there is but one place for the window, where a unit is 1
#else
const uint TOP_LEAST = RANGE + 1, TOP_MOST = EXPONENT_MOST - 1;
#endif

struct Window {
    int high[PARTS];
    uint low[PARTS];
};

Window window_empty() {
    Window empty;
    [[unroll]] for (uint part = 0; part < PARTS; part++) {
        empty.high[part] = 0;
        empty.low[part] = 0;
    }
    return empty;
}

void add_part(inout Window window, uint part, int x, uint distance) {
    window.high[part] += x >> (distance & 31);
    window.low[part] += uint(x) << (RANGE - distance & 31);
}

void window_add(inout Window window, Element x) {
#ifdef TYPE_I32
    add_part(window, 0, int(x), RANGE);
#else
    uint magnitude = magnitude_of(x), distance = (top << EXPONENT_SHIFT | FRACTION) - magnitude >> EXPONENT_SHIFT;
    int sign = int(leading_word(x)) >> 31;                      // -1 for negative elements, or 0; (i ^ -1) - -1 is -i
    uint leading = leading_word(x) & FRACTION | min(magnitude, ONE); // a zero stays one
#ifdef TYPE_F32
    add_part(window, 0, (int(leading) ^ sign) - sign, distance);
#else
    int low = int(x.x & (1u << LOW_BITS) - 1), high = int(leading << (32 - LOW_BITS) | x.x >> LOW_BITS);
    add_part(window, 0, (low ^ sign) - sign, distance);
    add_part(window, 1, (high ^ sign) - sign, distance);
#endif
#endif
}

uvec2 window_units(Window window, uint part) {
    int high = window.high[part];
    uint low = window.low[part], rest = low - (uint(high) << RANGE);
    return uvec2(low, uint(high >> (32 - RANGE)) + (low < rest ? 1 : 0));
}

uint window_place(uint part) {
#ifdef TYPE_F64
    return top - RANGE - 1 + part * LOW_BITS;
#else
    return top - RANGE - 1;
#endif
}

#include "exact.glsl"
