// Application texture, by rows: a sum whose elements are texels. They come by textureLoad(): whole numbers in, no filter, no
// sampler. A subgroup takes neighbours of one row, as it would of an array. (A)
//
// docs/ladder/texture.md says what textures bring, and what they do not.

alias partial = f32;

@group(0) @binding(4) var texels: texture_2d<f32>;

fn nothing() -> partial {
    return 0;
}

fn element(i: u32) -> partial {
    return textureLoad(texels, vec2u(i % shape.width, i / shape.width), 0).r;
}

fn combine(a: partial, b: partial) -> partial {
    return a + b;
}

fn finished(all: partial) -> u32 {
    return bitcast<u32>(all);
}
