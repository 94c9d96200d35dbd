#version 450
// Rung column-tiles: sums of columns, by tiles.
//
// Idea: the sum of a column takes one element from each row. An invocation per column reads well, since neighbours have
// neighbouring columns; but a matrix of 64 columns would keep 64 invocations busy. So cut it into tiles of 32 columns and some
// hundred rows: each group takes one, 32 invocations per row of the tile, and leaves 32 sums.
//
// Phases:
//   1. each invocation walks down its column of the tile, eight rows at a time
//   2. eight sums per column meet in shared memory; the first 32 invocations add them and store one sum per column and tile
//   3. a second dispatch (FINISH) adds up the tiles of each column, an invocation per column: its `rows` are the tiles that lie
//      above each other
//
// What it fixes: there are enough groups whatever the shape, and every access is to 32 neighbouring elements.
//
// When it loses: less than 32 columns leave invocations idle.
#include "rows.glsl"

#ifdef FINISH

void main() {
    if (!HAS_WORK || global_thread >= columns)
        return;
    T sum = T(0);
    for (uint row = 0; row < rows; row++)
        sum += elements[row * columns + global_thread];
    sums[global_thread] = sum;
}

#else

#define TILE 32
shared T tile[GROUP];

void main() {
    if (!HAS_WORK)
        return;
    uint across = (columns + TILE - 1) / TILE, down = groups / across, chunk = group / across;
    uint column = group % across * TILE + tid % TILE, first = rows / down * chunk;
    uint last = chunk + 1 == down ? rows : first + rows / down;

    T sum = T(0);
    if (column < columns)
        for (uint row = first + tid / TILE; row < last; row += GROUP / TILE)
            sum += elements[row * columns + column];
    tile[tid] = sum;
    barrier();
    if (tid >= TILE || column >= columns)
        return;
    for (uint w = TILE + tid; w < GROUP; w += TILE)
        sum += tile[w];
    sums[chunk * columns + column] = sum;
}

#endif
