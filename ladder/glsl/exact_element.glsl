// Elements of the exact kernels, taken apart: a sign, a significand, and the exponent as it is stored. The value is
// significand * 2^(exponent - 1) in units of the smallest subnormal, where subnormals have exponent 1 for once.
#ifndef EXACT_ELEMENT_GLSL
#define EXACT_ELEMENT_GLSL

#extension GL_EXT_control_flow_attributes : require

#ifdef TYPE_F64
#define Element uvec2
const uint PER_VECTOR = 2, LIMBS = 68; // 2098 bits, and 78 for the number of elements
const uint EXPONENT_SHIFT = 20, EXPONENT_MOST = 2047;

Element element_of(uvec4 vector, uint i) { return uvec2(vector[2 * i], vector[2 * i + 1]); }
uint leading_word(Element x) { return x.y; }
uint following_word(Element x) { return x.x; }
#else
#define Element uint
const uint PER_VECTOR = 4, LIMBS = 10; // 277 bits of f32, and 43 for the number of elements
const uint EXPONENT_SHIFT = 23, EXPONENT_MOST = 255;

Element element_of(uvec4 vector, uint i) { return vector[i]; }
uint leading_word(Element x) { return x; }
uint following_word(Element x) { return 0; }
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
