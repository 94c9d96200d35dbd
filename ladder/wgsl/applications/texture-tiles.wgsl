// Application texture, by tiles: the same texels in another order. A subgroup takes a small square, whose texels a GPU keeps close
// together. n is that of whole tiles of 16 x 16; texels beyond the last element are 0. (A)

alias partial = f32;

@group(0) @binding(4) var texels: texture_2d<f32>;

fn nothing() -> partial {
    return 0;
}

// Z order: numbers 0 to 255 fill 16 x 16 texels so that each 4, 8, 16, 32 of them that follow one another have a square, or two
// side by side. The even bits of the number make x, the odd ones y.
fn even_bits(i: u32) -> u32 {
    return (i & 1) | ((i >> 1) & 2) | ((i >> 2) & 4) | ((i >> 3) & 8);
}

fn element(i: u32) -> partial {
    let in_row = shape.width / 16;
    let tile = i / 256;
    let corner = vec2u(tile % in_row, tile / in_row) * 16;
    return textureLoad(texels, corner + vec2u(even_bits(i), even_bits(i >> 1)), 0).r;
}

fn combine(a: partial, b: partial) -> partial {
    return a + b;
}

fn finished(all: partial) -> u32 {
    return bitcast<u32>(all);
}
