// Walks over the array by vectors of four, as the rungs vector-loads and one-launch do: four loads of 16 bytes are
// under way before the first is added, and the four sums do not wait for each other.
//
// The array is declared a second time, as vectors; an entry point may use one of the two declarations. The last vector
// may reach beyond n, and what lies there is not counted; but it must be there: the buffer's size has to be a multiple of
// 16 bytes, or the array of vectors would end before the last elements, which would be missing in the sum.

@group(0) @binding(0) var<storage, read> vectors: array<vec4<number>>;

fn load_vector(i: u32) -> vec4<number> {
    if (i >= (shape.n + 3) / 4) {
        return vec4<number>();
    }
    let elements = 4 * i + vec4u(0, 1, 2, 3);
    return select(vec4<number>(), vectors[i], elements < vec4u(shape.n));
}

fn sum_vectors(me: Place) -> number {
    let count = (shape.n + 3) / 4;
    var sums = array<vec4<number>, 4>();
    for (var i = group(me) * (4 * size) + me.tid; i < count; i += groups(me) * (4 * size)) {
        let a = load_vector(i);
        let b = load_vector(i + size);
        let c = load_vector(i + 2 * size);
        let d = load_vector(i + 3 * size);
        sums[0] += a;
        sums[1] += b;
        sums[2] += c;
        sums[3] += d;
    }
    let all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    return (all.x + all.y) + (all.z + all.w);
}
