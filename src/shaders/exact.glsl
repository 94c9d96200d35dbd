// What the exact kernels share: limbs wide enough for every sum, and the way from elements to limbs in one dispatch.
// Each kernel has a window of its own: a few registers per invocation in which nearly all elements are added, exactly
// and fast.
//
// Idea. A sum of floats is a sum of integers: every element is a significand times a power of two, hence a whole
// multiple of the smallest subnormal. Integers can be added in any order. The host rounds, once (vulkan_exact.c), and
// so the result is the correctly rounded sum: the same bits on every device.
//
// Phases.
//   1. An invocation loads a tile and adds it to its window, which is right for exponents from top - RANGE to top. The
//      largest and the smallest magnitude are found on the way. If they lie outside, the window is put back to what it
//      was, moved if it lies wrong, and the tile is tried again.
//   2. Where that does not help, the tile is read again, element by element: those within the window are added to it,
//      others go straight to the limbs of the group, in shared memory. So do subnormals; infinities and NaNs are noted.
//   3. At the end windows go to the group's limbs, and those to the device's, by integer atomics, whose order cannot
//      matter.
//   4. The last group to finish hands the limbs out and leaves zeros for the next dispatch.
//
// Nothing is rounded on the device, so that rounding modes, and what a driver does to subnormals, cannot matter. There
// are no subgroup operations, so neither can the size of subgroups. No group waits for another.
//
// When it loses: data over many binades take phase 2, which is several times slower; and where n is so small that the
// data come from cache, the limbs at the end show.
//
// Included after exact_element.glsl and the window, which defines
//   RANGE, TOP_LEAST, TOP_MOST   how far below top elements may lie, and which exponents may be on top; so that
//                                subnormals lie outside, TOP_LEAST > RANGE
//   TILES                        how many tiles fit before the window must be emptied
//   PARTS                        into how many numbers it splits an element
//   struct Window, window_empty(), window_add(window, x)
//   window_units(window, part)   the sum of a part in its units, 64 bits in two's complement
//   window_place(part)           the bit of the limbs at which a unit of the part stands
#ifndef EXACT_GLSL
#define EXACT_GLSL

layout(local_size_x = 256) in; // GROUP in vulkan_exact.c
const uint GROUP = 256, LOADS = 4;

layout(push_constant) uniform Push { // vulkan_push, as for every rung
    uint n, groups, row, first, total;
};

// The elements twice, as vectors to be loaded fast and as words.
layout(set = 0, binding = 0) readonly buffer Vectors { uvec4 vectors[]; };
layout(set = 0, binding = 0) readonly buffer Words { uint words[]; };
// The sums of all groups, and a word for what was seen: zero before and after.
layout(set = 0, binding = 1) coherent buffer Device { uint device_limbs[]; };
layout(set = 0, binding = 2) writeonly buffer Result { uint result[]; };
#ifdef DOT // the other factors; the ticket stands behind what was seen, since Vulkan promises no more than four buffers
layout(set = 0, binding = 3) readonly buffer OtherVectors { uvec4 other_vectors[]; };
layout(set = 0, binding = 3) readonly buffer OtherWords { uint other_words[]; };
#define ticket device_limbs[BOTH + 1]
#else
layout(set = 0, binding = 3) coherent buffer Ticket { uint ticket; };
#endif

Vector vector_at(uint i) {
#ifdef DOT
    return products(vectors[i], other_vectors[i]);
#else
    return vectors[i];
#endif
}

Element element_at(uint i) {
#if defined DOT
    return element_of(products(uvec4(words[i]), uvec4(other_words[i])), 0);
#elif defined TYPE_F64
    return uvec2(words[2 * i], words[2 * i + 1]);
#else
    return words[i];
#endif
}

#define tid gl_LocalInvocationIndex
#define group (gl_WorkGroupID.y * row + gl_WorkGroupID.x)

// ---------------------------------------------------------------------------------------------------------------------
// Limbs: 32 bits each, limb i in units of 2^(32 i). Positive and negative numbers are kept apart, so that carries are
// short. Shared memory holds several copies, so that neighbours seldom want the same limb at once.
// ---------------------------------------------------------------------------------------------------------------------

const uint BOTH = 2 * LIMBS, COPIES = 8, STRIDE = BOTH + 1; // odd: copies begin in different banks
shared uint limbs[COPIES * STRIDE];

// Adds four words to a number in memory that has `most` limbs from `at` on. An atomic addition gives back what was
// there: whoever makes a limb overflow knows it, and carries. Once all are done, the number is right.
#define DEFINE_DEPOSIT(name, memory)                                                                                   \
    void name(uint at, uint most, uvec4 word) {                                                                        \
        uint carry = 0;                                                                                                \
        for (uint i = 0; i < most && (i < 4 || carry != 0); i++) {                                                     \
            uint more = carry;                                                                                         \
            if (i < 4)                                                                                                 \
                more += word[i];                                                                                       \
            carry = more < carry ? 1 : 0;                                                                              \
            if (more != 0) {                                                                                           \
                uint there = atomicAdd(memory[at + i], more);                                                          \
                carry += there + more < more ? 1 : 0;                                                                  \
            }                                                                                                          \
        }                                                                                                              \
    }
DEFINE_DEPOSIT(deposit_in_group, limbs)
DEFINE_DEPOSIT(deposit_on_device, device_limbs)

// Adds a number of three words, times 2^place, to the group's limbs.
void deposit(bool negative, uvec3 number, uint place) {
    uint shift = place & 31, limb = place >> 5;
    uvec3 kept = number << shift, over = (number >> 1) >> (31 - shift); // which is by 32 - shift, 32 included
    uvec4 word = uvec4(kept.x, kept.y | over.x, kept.z | over.y, over.z);
    deposit_in_group(tid % COPIES * STRIDE + (negative ? LIMBS : 0) + limb, LIMBS - limb, word);
}

// What limbs cannot hold; the bits are those of vulkan_exact.c.
const uint SAW_NAN = 1, SAW_PLUS = 2, SAW_MINUS = 4, SAW_OTHER = 8; // other: than -0
uint saw = 0;
shared uint group_saw;

// ---------------------------------------------------------------------------------------------------------------------
// The invocation's window, and what has been emptied from it: 96 bits in two's complement for each part
// ---------------------------------------------------------------------------------------------------------------------

Window window;
uint tiles;             // in the window
bool is_placed = false; // whether a first tile has been there, and said where the window should be
uvec3 sums[PARTS];

void open_window(uint at) {
    top = at;
    window = window_empty();
    tiles = 0;
    [[unroll]] for (uint part = 0; part < PARTS; part++)
        sums[part] = uvec3(0);
}

void empty_window() {
    [[unroll]] for (uint part = 0; part < PARTS; part++) {
        uvec2 units = window_units(window, part);
        uint sign = int(units.y) < 0 ? ~0u : 0u, first_carry, carry, last_carry;
        sums[part].x = uaddCarry(sums[part].x, units.x, first_carry);
        sums[part].y = uaddCarry(sums[part].y, units.y, carry);
        sums[part].y = uaddCarry(sums[part].y, first_carry, last_carry);
        sums[part].z += sign + carry + last_carry;
    }
    window = window_empty();
    tiles = 0;
}

void close_window() {
    empty_window();
    [[unroll]] for (uint part = 0; part < PARTS; part++) {
        uvec3 sum = sums[part];
        bool negative = int(sum.z) < 0;
        if (negative) {
            sum = ~sum;
            if (++sum.x == 0 && ++sum.y == 0)
                ++sum.z;
        }
        deposit(negative, sum, window_place(part));
    }
}

// Moves the window to where a tile with that highest exponent needs it. False if it is there already, or
// no place helps.
bool move_window(uint highest) {
    if (highest == EXPONENT_MOST)
        return false;
    uint at = clamp(highest + 1, TOP_LEAST, TOP_MOST); // room for a somewhat larger one
    if (at == top || (highest <= top && highest + RANGE / 2 > top))
        return false;
    if (is_placed)
        close_window();
    open_window(at);
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// Phase 1: LOADS vectors at once, of which vector number `at` is the first
// ---------------------------------------------------------------------------------------------------------------------

// Written out by hand: glslc's optimiser unrolls loops, but forgets `precise` in all passes but the first.
#define FOR_EACH_VECTOR(body) body(0) body(1) body(2) body(3)
#define HAS_VECTOR(k) (at + k * GROUP < count)

Vector tile[LOADS];

void add_one(inout Window with_tile, inout Reach reach, Element x) {
    extend(reach, x);
    window_add(with_tile, x); // it does not matter what comes of one too far away
}

void add_vector(inout Window with_tile, inout Reach reach, Vector vector) {
    add_one(with_tile, reach, element_of(vector, 0));
    add_one(with_tile, reach, element_of(vector, 1));
#if PER_VECTOR == 4
    add_one(with_tile, reach, element_of(vector, 2));
    add_one(with_tile, reach, element_of(vector, 3));
#endif
}

uint signs_of(Vector vector) {
    uint signs = leading_word(element_of(vector, 0)) & leading_word(element_of(vector, 1));
#if PER_VECTOR == 4
    signs = signs & leading_word(element_of(vector, 2)) & leading_word(element_of(vector, 3));
#endif
    return signs;
}

// Of a tile that holds nothing but zeros.
bool has_plus_zero(uint at, uint count) {
    uint signs = SIGN;
#define COMPARE(k)                                                                                                     \
    if (HAS_VECTOR(k))                                                                                                 \
        signs &= signs_of(tile[k]);
    FOR_EACH_VECTOR(COMPARE)
    return signs == 0;
}

bool tile_fits(bool whole, uint at, uint count) {
    Window with_tile = window;
    Reach reach = NOWHERE;
#define ADD(k)                                                                                                         \
    if (whole || HAS_VECTOR(k))                                                                                        \
        add_vector(with_tile, reach, tile[k]);
    FOR_EACH_VECTOR(ADD)
    if (!is_within(reach))
        return false;
    window = with_tile;
    if (reach.highest != 0 || has_plus_zero(at, count))
        saw |= SAW_OTHER;
    return true;
}

uint highest_in_vector(Vector vector) {
    uint highest = max(magnitude_of(element_of(vector, 0)), magnitude_of(element_of(vector, 1)));
#if PER_VECTOR == 4
    highest = max(highest, max(magnitude_of(element_of(vector, 2)), magnitude_of(element_of(vector, 3))));
#endif
    return highest >> EXPONENT_SHIFT;
}

uint highest_in_tile(uint at, uint count) {
    uint highest = 0;
#define TAKE_HIGHER(k)                                                                                                 \
    if (HAS_VECTOR(k))                                                                                                 \
        highest = max(highest, highest_in_vector(tile[k]));
    FOR_EACH_VECTOR(TAKE_HIGHER)
    return highest;
}

bool add_tile(uint at, uint count) {
    bool whole = at + (LOADS - 1) * GROUP < count, tried = whole && is_placed;
    if (whole) {
#define LOAD(k) tile[k] = vector_at(at + k * GROUP);
        FOR_EACH_VECTOR(LOAD)
    } else {
#define LOAD_IF_THERE(k)                                                                                               \
    if (HAS_VECTOR(k))                                                                                                 \
        tile[k] = vector_at(at + k * GROUP);
        FOR_EACH_VECTOR(LOAD_IF_THERE)
    }
    if (tried && tile_fits(true, at, count))
        return true;
    bool moved = move_window(highest_in_tile(at, count));
    is_placed = true;
    return (moved || !tried) && tile_fits(false, at, count);
}

// ---------------------------------------------------------------------------------------------------------------------
// Phase 2: element by element
// ---------------------------------------------------------------------------------------------------------------------

void add_element(Element x) {
    Reach reach = NOWHERE;
    extend(reach, x);
    if (!is_minus_zero(x))
        saw |= SAW_OTHER;
    if (is_within(reach))
        window_add(window, x);
    else if (magnitude_of(x) >> EXPONENT_SHIFT < EXPONENT_MOST)
        deposit(is_negative(x), uvec3(significand_of(x), 0), max(magnitude_of(x) >> EXPONENT_SHIFT, 1) - 1);
    else if (is_infinite(x))
        saw |= is_negative(x) ? SAW_MINUS : SAW_PLUS;
    else
        saw |= SAW_NAN;
}

void add_elements_of_tile(uint at, uint count) {
    for (uint i = 0; i < LOADS * PER_VECTOR; i++) {
        uint vector = at + i / PER_VECTOR * GROUP;
        if (vector < count)
            add_element(element_at(vector * PER_VECTOR + i % PER_VECTOR));
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Phases 3 and 4: the group and the device
// ---------------------------------------------------------------------------------------------------------------------

void add_up_copies() {
    for (uint i = tid; i < BOTH; i += GROUP) {
        uint sum = 0, carries = 0;
        for (uint copy = 0; copy < COPIES; copy++) {
            uint carry;
            sum = uaddCarry(sum, limbs[copy * STRIDE + i], carry);
            carries += carry;
        }
        deposit_on_device(i, LIMBS - i % LIMBS, uvec4(sum, carries, 0, 0));
    }
    if (tid == 0 && group_saw != 0)
        atomicOr(device_limbs[BOTH], group_saw);
}

shared bool is_last;

// Every invocation has added limbs: each makes that visible before the barrier, and invocation 0 all of it before the
// ticket. Whoever draws the last ticket sees every group's.
bool is_last_group() {
    memoryBarrierBuffer();
    barrier();
    if (tid == 0) {
        memoryBarrierBuffer();
        is_last = atomicAdd(ticket, 1) == total - 1;
        if (is_last)
            ticket = 0;
        memoryBarrierBuffer();
    }
    barrier();
    memoryBarrierBuffer();
    return is_last;
}

void main() {
    if (group >= groups)
        return;
    for (uint i = tid; i < COPIES * STRIDE; i += GROUP)
        limbs[i] = 0;
    if (tid == 0)
        group_saw = 0;
    barrier();

    uint count = n / PER_VECTOR;
    open_window(TOP_LEAST);
    for (uint at = group * (LOADS * GROUP) + tid; at < count; at += groups * (LOADS * GROUP)) {
        if (!add_tile(at, count))
            add_elements_of_tile(at, count);
        if (++tiles == TILES)
            empty_window();
    }
    uint rest = count * PER_VECTOR + group * GROUP + tid; // the last elements, which fill no vector
    if (rest < n)
        add_element(element_at(rest));
    close_window();
    if (saw != 0)
        atomicOr(group_saw, saw);

    barrier();
    add_up_copies();
    if (!is_last_group())
        return;
    for (uint i = tid; i <= BOTH; i += GROUP)
        result[i] = atomicExchange(device_limbs[i], 0);
}

#endif
