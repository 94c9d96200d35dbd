// Application maximum: the larger one, from -infinity; a NaN wins. (B)
//
// WGSL lets a driver assume that floats are neither infinite nor NaN: there is no isnan(), and what a comparison with a NaN gives
// is not said. So elements are read as their bits and compared as integers, which are exact everywhere. Bits of floats are in
// order if those of negative ones are inverted, and the sign bit of the others is set:
//
//   -infinity   ff800000   007fffff
//   -1          bf800000   407fffff
//    0          00000000   80000000
//    1          3f800000   bf800000
//    NaN        7fc00000   ffffffff      whatever its sign
//
// With such keys atomicMax() would do, too. On the bits themselves it is wrong for negative numbers: see the specimen max-of-bits.

alias partial = u32;

@group(0) @binding(0) var<storage, read> bits: array<u32>; // the input once more; an entry point may use one of the two

fn nothing() -> partial {
    return 0x007fffff;
}

fn element(i: u32) -> partial {
    let x = bits[i];
    if ((x & 0x7fffffff) > 0x7f800000) {
        return 0xffffffff;
    }
    return select(x | 0x80000000, ~x, x >> 31 == 1);
}

fn combine(a: partial, b: partial) -> partial {
    return max(a, b);
}

fn finished(all: partial) -> u32 {
    if (all == 0xffffffff) {
        return 0x7fc00000;
    }
    return select(~all, all & 0x7fffffff, all >> 31 == 1);
}
