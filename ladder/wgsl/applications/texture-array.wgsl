// Application texture, from an array: the plain sum, to compare those of texels with.

alias partial = f32;

fn nothing() -> partial {
    return 0;
}

fn element(i: u32) -> partial {
    return input[i];
}

fn combine(a: partial, b: partial) -> partial {
    return a + b;
}

fn finished(all: partial) -> u32 {
    return bitcast<u32>(all);
}
