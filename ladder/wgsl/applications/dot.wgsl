// Application dot: multiply pairs, add. (B)

alias partial = f32;

@group(0) @binding(4) var<storage, read> others: array<number>;

fn nothing() -> partial {
    return 0;
}

fn element(i: u32) -> partial {
    return input[i] * others[i];
}

fn combine(a: partial, b: partial) -> partial {
    return a + b;
}

fn finished(all: partial) -> u32 {
    return bitcast<u32>(all);
}
