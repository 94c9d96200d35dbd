// exact: sums, dot products and extremes of f32 without rounding, in integers alone.
//
// WGSL promises neither how f32 additions round nor that subnormal numbers survive, so floats are read as the integers
// that they are: significand * 2^(exponent), and added as such. Integer addition is associative, so the order of
// threads, workgroups and devices cannot matter: the host rounds the total once, and gets the bits of the C library.
//
//   x = ± significand * 2^place * 2^-149     24 bits at a place from 0 to 253; products: 48 bits, 0 to 506, of 2^-298
//
// A place is a shift, and a sum of all places is 277 bits wide; but most data use few places. So there are two levels:
//
//   window     64 bits per thread, at a base chosen for the workgroup: takes terms at places base .. base + 27
//
//                base + 59      base + 32      base + 27      base
//                  [ high: term >> (base + 27 - place), rounded down ]
//                                   [ low: term << (place - base), modulo 2^32 ]
//
//              What all the rounding down of a tile has left behind is at least 0 and below 2^32, and so is low - (high << 27)
//              modulo 2^32: no carry is looked for.
//
//   digits     40 digits of 16 bits per workgroup, with room for carries: takes what strays beyond the window, by
//              atomic additions, and at the end the windows' sum
//
//   total      the same digits for all workgroups, in global memory: each adds its own once, by atomic additions
//
// Phases: sample a few terms for a base; add tiles; where more than a quarter of a tile strayed, move the window; add the
// windows to the digits, and the digits to the total. Nobody waits for another workgroup.
//
// What it fixes: results that depend on the number of workgroups. When it loses: data that jump over more than 28 binary
// orders of magnitude from one number to the next pay three atomic additions for each stray; so do subnormal numbers.
//
// Products are taken as two digits of 24 bits, from four products of 12 bits; each digit has a window of its own.

// Threads of a workgroup: a power of two from 64 to 1024.
override size: u32 = 256;

// What is added: x, |x|, x * y, or x * x (y is then bound and not read). For extremes: x or |x|.
const IDENTITY = 0u;
const ABSOLUTE = 1u;
const PRODUCT = 2u;
const SQUARE = 3u;
override transform: u32 = IDENTITY;
override products: bool = transform >= PRODUCT;

// Elements are counted from a multiple of four words in the bindings on, so that a thread can load four at once; the first up to
// three of them may not be meant.
struct Shape {
    begin: u32,    // the first element that is meant: 0 to 3
    end: u32,      // behind the last one
    vector: u32,   // where they are counted from, in vectors of four words
    index: u32,    // index of element number 0 in the eyes of the caller
    rounds: u32,   // a tile is so many times four elements per thread: at most 2^13 elements
}

// Each array twice: a binding of vectors ends where the last whole one does. Where there is none it is something else, and not read.
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> y: array<u32>;
@group(0) @binding(2) var<storage, read_write> total: array<atomic<u32>, WORDS>;
@group(0) @binding(3) var<uniform> shape: Shape;
@group(0) @binding(4) var<storage, read> x_vectors: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> y_vectors: array<vec4<u32>>;

// The words of the total; web/wasm/device.c reads them. All start at zero.
const DIGITS = 40u;
const NAN_ELEMENTS = 40u;
const NAN_TERMS = 41u; // 0 * infinity
const PLUS_INFINITIES = 42u;
const MINUS_INFINITIES = 43u;
const NONZERO = 44u;   // some term was other than -0
const FIRST_NAN = 45u; // all ones less the index of the first NaN element
const LEAST = 46u;     // all ones less the order of the least element that is not NaN
const GREATEST = 47u;  // the order of the greatest one
const WORDS = 48u;

const SIGN = 0x80000000u;
const INFINITY = 0x7f800000u;

// The two parts of a product add less than 2^17 to a digit, so a tile adds less than 2^30. After carrying, digits are
// below 2^17: those of 2^13 workgroups add up to less than 2^30 in the total.
var<workgroup> digits: array<atomic<i32>, DIGITS>;

// ---------------------------------------------------------------------------------------------------------------------
// Digits
// ---------------------------------------------------------------------------------------------------------------------

// Adds ± magnitude * 2^place.
fn scatter(magnitude: u32, place: u32, negative: bool) {
    let shift = place & 15u;
    let digit = place >> 4u;
    let low = magnitude << shift;
    let high = (magnitude >> 1u) >> (31u - shift);
    let pieces = array<u32, 3>(low & 0xffffu, low >> 16u, high);
    for (var i = 0u; i < 3u; i++) {
        let piece = i32(pieces[i]);
        if piece != 0 {
            atomicAdd(&digits[digit + i], select(piece, -piece, negative));
        }
    }
}

// A digit after what is above its 16 bits has gone to the next one; the last one keeps all.
fn carried(digit: u32) -> i32 {
    let value = atomicLoad(&digits[digit]);
    let below = atomicLoad(&digits[max(digit, 1u) - 1u]) >> 16u;
    return select(value & 0xffff, value, digit == DIGITS - 1u) + select(below, 0, digit == 0u);
}

fn carry_digits(thread: u32) {
    workgroupBarrier();
    var value = 0;
    if thread < DIGITS {
        value = carried(thread);
    }
    workgroupBarrier();
    if thread < DIGITS {
        atomicStore(&digits[thread], value);
    }
    workgroupBarrier();
}

// ---------------------------------------------------------------------------------------------------------------------
// Windows
// ---------------------------------------------------------------------------------------------------------------------

// Four sums side by side, for the four elements of a round, and what has been taken out of them: digits of 16 bits from
// the window's base, the last one signed.
//
// A term below 2^24 adds at most 2^24 to a high word, and leaves less than 2^27 behind; a tile has at most 32 rounds, so
// high words stay below 2^30, and what is left behind below 2^32. Each tile adds at most 2^18 to a digit of a thread, and
// a workgroup has at most 64 tiles. These have 2^19 terms below 2^51 at most, so the last digits, whose unit is 2^48, stay
// below 2^22 for a whole workgroup.
const SPAN = 27u; // places of a window above its base
struct Window {
    low: vec4<u32>,
    high: vec4<i32>,
    digits: vec4<i32>,
}

var<private> lower: Window;
var<private> upper: Window; // of the upper digits of products: 24 places above

// Shifts are at most SPAN, but for zeros: WGSL takes shifts modulo 32, and a zero stays one.
fn window_add(window: ptr<private, Window>, term: vec4<i32>, shift: vec4<u32>) {
    (*window).low += vec4<u32>(term) << shift;
    (*window).high += term >> (vec4(SPAN) - shift);
}

fn sum4(v: vec4<i32>) -> i32 {
    return v.x + v.y + v.z + v.w;
}

// Takes the sums out of the window.
fn window_fold(window: ptr<private, Window>) {
    let low = (*window).low;
    let behind = low - (vec4<u32>((*window).high) << vec4(SPAN));
    let high = ((*window).high + vec4<i32>(behind >> vec4(SPAN))) >> vec4(32u - SPAN); // carries from `low` are in it
    (*window).digits += vec4(sum4(vec4<i32>(low & vec4(0xffffu))), sum4(vec4<i32>(low >> vec4(16u))),
                             sum4(high & vec4(0xffff)), sum4(high >> vec4(16u)));
    (*window).low = vec4(0u);
    (*window).high = vec4(0);
}

// The digits of all threads' windows, the upper one's after the lower one's. A sum over 2^10 threads has room for them.
var<workgroup> window_digits: array<atomic<i32>, 8>;

fn window_give(window: ptr<private, Window>, first: u32) {
    var carry = 0;
    for (var i = 0u; i < 4u; i++) {
        let value = (*window).digits[i] + carry;
        carry = value >> 16u;
        atomicAdd(&window_digits[first + i], select(value & 0xffff, value, i == 3u));
    }
    (*window).digits = vec4(0);
}

// Adds the windows of all threads to the digits of the workgroup, and leaves them empty.
fn drain(base: u32, thread: u32) {
    window_give(&lower, 0u);
    if products {
        window_give(&upper, 4u);
    }
    workgroupBarrier();
    if thread < select(4u, 8u, products) {
        let value = atomicExchange(&window_digits[thread], 0);
        scatter(u32(abs(value)), base + 16u * (thread & 3u) + 24u * (thread >> 2u), value < 0);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Terms
// ---------------------------------------------------------------------------------------------------------------------

// What a thread has met.
var<private> nan_elements: u32;
var<private> nan_terms: u32;
var<private> plus_infinities: u32;
var<private> minus_infinities: u32;
var<private> first_nan: u32;
var<private> nonzero: vec4<u32>;
var<private> strays: u32;  // terms beyond the window
var<private> highest: u32; // place of these

// Floats in parts.
fn exponents(bits: vec4<u32>) -> vec4<u32> {
    return (bits >> vec4(23u)) & vec4(255u);
}

// Subnormal numbers, and zero, have no leading one, and the exponent of the smallest normal ones.
fn significands(bits: vec4<u32>, exponent: vec4<u32>) -> vec4<u32> {
    return (bits & vec4(0x7fffffu)) | (min(exponent, vec4(1u)) << vec4(23u));
}

fn places(exponent: vec4<u32>) -> vec4<u32> {
    return max(exponent, vec4(1u)) - vec4(1u);
}

fn significand(bits: u32) -> u32 {
    let exponent = (bits >> 23u) & 255u;
    return (bits & 0x7fffffu) | (min(exponent, 1u) << 23u);
}

// All ones where negative.
fn signs(bits: vec4<u32>) -> vec4<i32> {
    return vec4<i32>(bits) >> vec4(31u);
}

fn with_signs(magnitude: vec4<u32>, sign: vec4<i32>) -> vec4<i32> {
    return (vec4<i32>(magnitude) ^ sign) - sign;
}

// Whether all of these elements are meant.
fn all_meant(first: u32, count: u32) -> bool {
    return first >= shape.begin && first + count <= shape.end;
}

fn four_from(at: u32) -> vec4<u32> {
    return vec4(at) + vec4(0u, 1u, 2u, 3u);
}

// Which of the four elements from a multiple of four on are meant, and where they lie, or others in place of those that are not.
fn meant(at: u32) -> vec4<bool> {
    let element = four_from(at);
    return (element >= vec4(shape.begin)) & (element < vec4(shape.end));
}

fn slots(at: u32) -> vec4<u32> {
    return vec4(4u * shape.vector) + clamp(four_from(at), vec4(shape.begin), vec4(shape.end - 1u));
}

// Four elements; where they are not meant -0, and +0 for y, so that terms are -0, which adds nothing. `whole`: all are meant.
fn load_x(at: u32, whole: bool) -> vec4<u32> {
    let mask = vec4(select(~0u, ~SIGN, transform == ABSOLUTE));
    if whole {
        return x_vectors[shape.vector + at / 4u] & mask;
    }
    let slot = slots(at);
    return select(vec4(SIGN), vec4(x[slot.x], x[slot.y], x[slot.z], x[slot.w]) & mask, meant(at));
}

fn load_y(at: u32, whole: bool) -> vec4<u32> {
    if whole {
        return y_vectors[shape.vector + at / 4u];
    }
    let slot = slots(at);
    return select(vec4(0u), vec4(y[slot.x], y[slot.y], y[slot.z], y[slot.w]), meant(at));
}

fn note_nan(at: u32) {
    nan_elements++;
    first_nan = max(first_nan, ~(shape.index + at));
}

fn note_infinity(negative: bool) {
    if negative {
        minus_infinities++;
    } else {
        plus_infinities++;
    }
}

// An element beyond the window: too large, too small, or no finite number.
fn add_stray(bits: u32, place: u32, at: u32) {
    let magnitude = bits & ~SIGN;
    let negative = bits >= SIGN;
    if magnitude > INFINITY {
        note_nan(at);
    } else if magnitude == INFINITY {
        note_infinity(negative);
    } else {
        nonzero.x = 1u;
        scatter(significand(bits), place, negative);
        strays++;
        highest = max(highest, place);
    }
}

// Zeros and subnormal numbers have no leading one. Their exponent field, 0, is below every window: the latter stray, zeros add nothing.
fn add_elements(at: u32, elements: vec4<u32>, base: u32) {
    var bits = elements;
    let exponent = exponents(bits);
    let shift = exponent - vec4(base + 1u); // wraps where it is negative
    var magnitude = (bits & vec4(0x7fffffu)) | vec4(0x800000u);
    if max(max(shift.x, shift.y), max(shift.z, shift.w)) > SPAN {
        let beyond = shift > vec4(SPAN);
        let stray = beyond & ((bits << vec4(1u)) != vec4(0u));
        for (var i = 0u; i < 4u; i++) {
            if stray[i] {
                add_stray(bits[i], max(exponent[i], 1u) - 1u, at + i);
            }
        }
        bits = select(bits, vec4(SIGN), stray);
        magnitude = select(magnitude, vec4(0u), beyond);
    }
    nonzero |= bits ^ vec4(SIGN);
    window_add(&lower, with_signs(magnitude, signs(bits)), shift);
}

struct Product {
    low: vec4<u32>, // 24 bits
    high: vec4<u32>,
}

// 24 times 24 bits.
fn multiply(a: vec4<u32>, b: vec4<u32>) -> Product {
    let mask = vec4(0xfffu);
    let al = a & mask;
    let ah = a >> vec4(12u);
    let bl = b & mask;
    let bh = b >> vec4(12u);
    let low = al * bl;
    let middle = al * bh + ah * bl + (low >> vec4(12u)); // below 2^26
    return Product(((middle & mask) << vec4(12u)) | (low & mask), ah * bh + (middle >> vec4(12u)));
}

fn add_stray_product(a: u32, b: u32, place: u32, at: u32) {
    let x_magnitude = a & ~SIGN;
    let y_magnitude = b & ~SIGN;
    let negative = (a ^ b) >= SIGN;
    if max(x_magnitude, y_magnitude) > INFINITY {
        note_nan(at);
    } else if max(x_magnitude, y_magnitude) == INFINITY {
        if min(x_magnitude, y_magnitude) == 0u {
            nan_terms++;
        } else {
            note_infinity(negative);
        }
    } else {
        nonzero.x = 1u;
        let product = multiply(vec4(significand(a)), vec4(significand(b)));
        scatter(product.low.x, place, negative);
        scatter(product.high.x, place + 24u, negative);
        strays++;
        highest = max(highest, place);
    }
}

fn add_products(at: u32, elements: vec4<u32>, others: vec4<u32>, base: u32) {
    var a = elements;
    var b = others;
    var exponent_a = exponents(a);
    var exponent_b = exponents(b);
    let place = places(exponent_a) + places(exponent_b);
    let shift = place - vec4(base);
    let special = max(exponent_a, exponent_b) == vec4(255u);
    if any(special | (shift > vec4(SPAN))) {
        let zero = ((a << vec4(1u)) == vec4(0u)) | ((b << vec4(1u)) == vec4(0u));
        let stray = special | ((shift > vec4(SPAN)) & !zero);
        for (var i = 0u; i < 4u; i++) {
            if stray[i] {
                add_stray_product(a[i], b[i], place[i], at + i);
            }
        }
        a = select(a, vec4(SIGN), stray);
        b = select(b, vec4(0u), stray);
        exponent_a = exponents(a);
        exponent_b = exponents(b);
    }
    let product = multiply(significands(a, exponent_a), significands(b, exponent_b));
    let sign = signs(a ^ b);
    nonzero |= product.low | product.high | vec4<u32>(~sign);
    window_add(&lower, with_signs(product.low, sign), shift);
    window_add(&upper, with_signs(product.high, sign), shift);
}

// The highest place of four terms, of those that are finite.
fn sample(at: u32) -> u32 {
    let exponent = exponents(load_x(at, false));
    var place = places(exponent);
    var finite = exponent < vec4(255u);
    if products {
        var other = exponent;
        if transform == PRODUCT {
            other = exponents(load_y(at, false));
        }
        finite = max(exponent, other) < vec4(255u);
        place += places(other);
    }
    place = select(vec4(0u), place, finite);
    return max(max(place.x, place.y), max(place.z, place.w));
}

// ---------------------------------------------------------------------------------------------------------------------
// Sums
// ---------------------------------------------------------------------------------------------------------------------

var<workgroup> sample_of_all: atomic<u32>;
var<workgroup> strays_of_all: atomic<u32>;
var<workgroup> highest_of_all: atomic<u32>;
var<workgroup> nonzero_of_all: atomic<u32>;

// About the next tile. All threads must be seen to agree on it, since barriers depend on it.
struct Decision {
    base: u32,
    base_moves: bool,
    digits_carry: bool,
}
var<workgroup> decision: Decision;

// The base of a window in which this place has four places to spare above. The exponent field 255 must lie beyond it, so
// that infinities and NaNs of elements stray; products look for them.
fn base_for(place: u32) -> u32 {
    let base = max(place + 4u, SPAN) - SPAN;
    return select(min(base, 253u - SPAN), base, products);
}

// Decides about the next tile, from the strays of this one.
fn decide(base: u32, tile_size: u32, thread: u32) -> Decision {
    if strays != 0u {
        atomicAdd(&strays_of_all, strays);
        atomicMax(&highest_of_all, highest);
        strays = 0u;
        highest = 0u;
    }
    workgroupBarrier();
    if thread == 0u {
        let count = atomicExchange(&strays_of_all, 0u);
        let place = atomicExchange(&highest_of_all, 0u);
        let next = select(base, base_for(place), count > tile_size / 4u);
        decision = Decision(next, next != base, count != 0u);
    }
    return workgroupUniformLoad(&decision);
}

// Adds a tile: `rounds` times four elements per thread. Each round asks for what the next one adds, so that it is under way.
fn add_tile(tile: u32, thread: u32, base: u32) {
    let whole = all_meant(tile, 4u * size * shape.rounds);
    var at = tile + 4u * thread;
    var next = load_x(at, whole);
    var other: vec4<u32>;
    if transform == PRODUCT {
        other = load_y(at, whole);
    }
    for (var left = shape.rounds; left > 0u; left--) {
        let here = at;
        let elements = next;
        let others = select(elements, other, transform == PRODUCT);
        if left > 1u {
            at += 4u * size;
            next = load_x(at, whole);
            if transform == PRODUCT {
                other = load_y(at, whole);
            }
        }
        if products {
            add_products(here, elements, others, base);
        } else {
            add_elements(here, elements, base);
        }
    }
    window_fold(&lower);
    if products {
        window_fold(&upper);
    }
}

fn add_to_total(thread: u32) {
    if any(nonzero != vec4(0u)) {
        atomicOr(&nonzero_of_all, 1u);
    }
    workgroupBarrier();
    if thread < DIGITS {
        atomicAdd(&total[thread], u32(carried(thread)));
    }
    if thread == 0u && atomicLoad(&nonzero_of_all) != 0u {
        atomicOr(&total[NONZERO], 1u);
    }
    if (nan_elements | nan_terms | plus_infinities | minus_infinities) != 0u {
        atomicAdd(&total[NAN_ELEMENTS], nan_elements);
        atomicAdd(&total[NAN_TERMS], nan_terms);
        atomicAdd(&total[PLUS_INFINITIES], plus_infinities);
        atomicAdd(&total[MINUS_INFINITIES], minus_infinities);
        atomicMax(&total[FIRST_NAN], first_nan);
    }
}

@compute @workgroup_size(size)
fn sums(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) thread: u32) {
    let tile_size = 4u * size * shape.rounds;
    let step = groups.x * tile_size;
    var tile = group.x * tile_size;
    atomicMax(&sample_of_all, sample(tile + 4u * thread));
    workgroupBarrier();
    var base = base_for(atomicLoad(&sample_of_all));
    add_tile(tile, thread, base);
    for (tile += step; tile < shape.end; tile += step) {
        let next = decide(base, tile_size, thread);
        if next.base_moves {
            drain(base, thread);
        }
        if next.digits_carry {
            carry_digits(thread);
        }
        base = next.base;
        add_tile(tile, thread, base);
    }
    drain(base, thread);
    add_to_total(thread);
}

// ---------------------------------------------------------------------------------------------------------------------
// Extremes
// ---------------------------------------------------------------------------------------------------------------------

// Numbers that order as the floats do, -0 below +0: negative ones are turned over, the others moved above them.
fn orders(bits: vec4<u32>) -> vec4<u32> {
    return bits ^ (vec4<u32>(signs(bits)) | vec4(SIGN));
}

var<workgroup> least_of_all: atomic<u32>; // all ones less it
var<workgroup> greatest_of_all: atomic<u32>;

@compute @workgroup_size(size)
fn extremes(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
            @builtin(local_invocation_index) thread: u32) {
    let step = 4u * size;
    var least = vec4(~0u);
    var greatest = vec4(0u);
    for (var tile = group.x * step; tile < shape.end; tile += groups.x * step) {
        let at = tile + 4u * thread;
        let whole = all_meant(tile, step);
        let bits = load_x(at, whole);
        var counts = vec4(true);
        if !whole {
            counts = meant(at);
        }
        let nan = !counts | ((bits & vec4(~SIGN)) > vec4(INFINITY));
        let order = orders(bits);
        least = min(least, select(order, vec4(~0u), nan));
        greatest = max(greatest, select(order, vec4(0u), nan));
        if any(nan) {
            for (var i = 0u; i < 4u; i++) {
                if nan[i] && counts[i] {
                    note_nan(at + i);
                }
            }
        }
    }
    atomicMax(&least_of_all, ~min(min(least.x, least.y), min(least.z, least.w)));
    atomicMax(&greatest_of_all, max(max(greatest.x, greatest.y), max(greatest.z, greatest.w)));
    workgroupBarrier();
    if thread == 0u {
        atomicMax(&total[LEAST], atomicLoad(&least_of_all));
        atomicMax(&total[GREATEST], atomicLoad(&greatest_of_all));
    }
    if nan_elements != 0u {
        atomicAdd(&total[NAN_ELEMENTS], nan_elements);
        atomicMax(&total[FIRST_NAN], first_nan);
    }
}

// ---------------------------------------------------------------------------------------------------------------------

@compute @workgroup_size(WORDS)
fn clear(@builtin(local_invocation_index) thread: u32) {
    atomicStore(&total[thread], 0u);
}
