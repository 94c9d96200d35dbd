// Elements of the exact kernels, taken apart: a sign, a significand, and the exponent as it is stored. The value is
// significand * 2^(exponent - 1) in units of the smallest subnormal, where subnormals have exponent 1 for once.
//
// With DOT and TYPE_F64, elements are the products of two arrays of f32. A product has 48 bits at most, at places well
// within an f64's, so it is an f64, without rounding: all else is as in a sum of these.
#ifndef EXACT_ELEMENT_GLSL
#define EXACT_ELEMENT_GLSL

#extension GL_EXT_control_flow_attributes : require

#ifdef TYPE_F64
#define Element uvec2
const uint LIMBS = 68; // 2098 bits, and 78 for the number of elements
const uint EXPONENT_SHIFT = 20, EXPONENT_MOST = 2047;

uint leading_word(Element x) { return x.y; }
uint following_word(Element x) { return x.x; }
#else
#define Element uint
const uint LIMBS = 10; // 277 bits of f32, and 43 for the number of elements
const uint EXPONENT_SHIFT = 23, EXPONENT_MOST = 255;

uint leading_word(Element x) { return x; }
uint following_word(Element x) { return 0; }
#endif

// Elements come as vectors: as many as 16 bytes of an array hold.
#if defined DOT
#define PER_VECTOR 4
struct Vector {
    uvec4 following, leading;
};
Element element_of(Vector vector, uint i) { return uvec2(vector.following[i], vector.leading[i]); }
#elif defined TYPE_F64
#define PER_VECTOR 2
#define Vector uvec4
Element element_of(Vector vector, uint i) { return uvec2(vector[2 * i], vector[2 * i + 1]); }
#else
#define PER_VECTOR 4
#define Vector uvec4
Element element_of(Vector vector, uint i) { return vector[i]; }
#endif

// In the leading word.
const uint SIGN = 0x80000000, ONE = 1u << EXPONENT_SHIFT, FRACTION = ONE - 1;

uint magnitude_of(Element x) { return leading_word(x) & ~SIGN; }
bool is_negative(Element x) { return (leading_word(x) & SIGN) != 0; }
bool is_minus_zero(Element x) { return leading_word(x) == SIGN && following_word(x) == 0; }
bool is_infinite(Element x) { return magnitude_of(x) == EXPONENT_MOST << EXPONENT_SHIFT && following_word(x) == 0; }

// The significand of a finite element, least significant word first.
uvec2 significand_of(Element x) {
    uint leading = leading_word(x) & FRACTION | (magnitude_of(x) < ONE ? 0 : ONE);
#ifdef TYPE_F64
    return uvec2(x.x, leading);
#else
    return uvec2(leading, 0);
#endif
}

#ifdef DOT
// Products of f32, in integers: what a device does to subnormals and NaNs must not matter, and f64 may be absent.
//
// Both significands are moved up until their leading one is bit 31. Their product then has bit 63 or 62 as its leading
// one, and zeros in its lowest 16. It counts units of 2^(x + y - 300), where x and y are the exponents as stored, less
// what the significands were moved. With bit 63 it is a number from 2^(x + y - 237) on; an f64 stores 1023 more.
Vector products(uvec4 a, uvec4 b) {
    const uint F32_ONE = 1u << 23, F32_INFINITY = 255u << 23;
    uvec4 sign = (a ^ b) & SIGN, x = a & ~SIGN, y = b & ~SIGN, greater = max(x, y), smaller = min(x, y);
    uvec4 x_bits = x & F32_ONE - 1 | min(x >> 23, uvec4(1)) << 23, x_moved = uvec4(31 - findMSB(x_bits));
    uvec4 y_bits = y & F32_ONE - 1 | min(y >> 23, uvec4(1)) << 23, y_moved = uvec4(31 - findMSB(y_bits));
    uvec4 exponent = max(x >> 23, uvec4(1)) - x_moved + max(y >> 23, uvec4(1)) - y_moved + (1023 - 237), high, low;
    umulExtended(x_bits << (x_moved & 31), y_bits << (y_moved & 31), high, low);

    uvec4 short_by = 1 - (high >> 31); // whether bit 62 leads
    high = high << short_by | (low >> 31) * short_by;
    low <<= short_by;
    exponent -= short_by;
    uvec4 leading = exponent << EXPONENT_SHIFT | high >> 11 & FRACTION, following = high << 21 | low >> 11;

    bvec4 is_zero = equal(smaller, uvec4(0)), is_finite = lessThan(greater, uvec4(F32_INFINITY));
    uvec4 nan = uvec4(greaterThan(greater, uvec4(F32_INFINITY))) | uvec4(is_zero); // 0 times infinity is one
    leading = mix(uvec4(EXPONENT_MOST << EXPONENT_SHIFT), mix(leading, uvec4(0), is_zero), is_finite);
    following = mix(nan, mix(following, uvec4(0), is_zero), is_finite);
    return Vector(following, sign | leading);
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// Which elements suit a window: zeros, and those with exponents from top - RANGE to top. In two numbers for any number
// of elements: the largest magnitude, and the smallest one that is not zero, less 1, so that a zero is the largest
// there is.
// ---------------------------------------------------------------------------------------------------------------------

uint top; // the highest exponent that this invocation's window takes

struct Reach {
    uint highest, lowest;
};
const Reach NOWHERE = Reach(0, ~0u);

void extend(inout Reach reach, Element x) {
    uint magnitude = magnitude_of(x);
    reach.highest = max(reach.highest, magnitude);
    reach.lowest = min(reach.lowest, (magnitude | min(following_word(x), 1)) - 1);
}

bool is_within(Reach reach) {
#ifdef TYPE_I32
    return true; // integers suit any
#else
    return reach.highest < (top + 1) << EXPONENT_SHIFT && reach.lowest >= ((top - RANGE) << EXPONENT_SHIFT) - 1;
#endif
}

#endif
