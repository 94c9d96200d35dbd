// What every rung shares: the element types, what a rung is given, the ways out of a group.
//
// A rung reduces what its group is responsible for to one number, held by invocation 0, and hands it to deliver(). How
// the groups' numbers become one is the finish, which is independent of the rung:
//
//   STORE        each group stores its sum; the host adds them, or another dispatch does (finishes host, second-launch,
//                recursive)
//   ATOMIC       each group adds its sum to the result, which somebody must have cleared before
//   LAST_GROUP   each group stores its sum and takes a ticket; whoever draws the last one adds up all of them
//
// A group of Vulkan is CUDA's block, an invocation its thread, a subgroup its warp; but subgroups have 4 to 128
// invocations, as the device likes, and floats can be added atomically on some devices only.
//
// Every rung takes any n, from 0 up, and groups of any size. "Elsewhere" in a rung's file names Harris's kernel
// ("Optimizing Parallel Reduction in CUDA", 2007) and those of the tutorials A to E, which docs/ladder/names.md lists.
#ifndef RUNG_GLSL
#define RUNG_GLSL

#include "types.glsl"

const uint STORE = 0, ATOMIC = 1, LAST_GROUP = 2;
layout(constant_id = 1) const uint WAY = STORE;

#ifndef MORE_PUSH
#define MORE_PUSH // what an application is told besides
#endif

// 32 bits index an array: a binding has 4 GiB at most. Larger arrays come in pieces, each with a dispatch of its own.
layout(push_constant) uniform Push {
    uint n;      // elements
    uint groups; // that have work: rows of a large dispatch may have more
    uint row;    // groups in a row, since no device must have more than 65535 along x
    uint first;  // where this dispatch's sums begin among the partials
    uint total;  // groups of all dispatches over the pieces of the array
    MORE_PUSH
};
#ifdef WRITES_INPUT
layout(set = 0, binding = 0) coherent buffer Elements { T elements[]; };
#else
layout(set = 0, binding = 0) readonly buffer Elements { T elements[]; };
#endif
layout(set = 0, binding = 1) coherent buffer Partials { T partials[]; };
layout(set = 0, binding = 3) coherent buffer Ticket { uint ticket; };

// The number of this group. One without work has nothing to do: it must return before it touches anything.
#define group (gl_WorkGroupID.y * row + gl_WorkGroupID.x)
#define HAS_WORK (group < groups)

// Where this invocation stands among all of them, and how many those are.
#define global_thread (group * GROUP + tid)
#define grid_threads (groups * GROUP)

// An element, or the identity of addition where there is none: what lets n be any number.
T load(uint i) {
    return i < n ? elements[i] : T(0);
}

#include "result.glsl"

// The sum over the group of what each invocation has, held by invocation 0 at least. Subgroups do it in rungs that have
// climbed so far (SHUFFLES, ADDS), unless the device's are not to be trusted; a tree in shared memory does it elsewhere.
#if (defined SHUFFLES || defined ADDS) && !defined NO_SUBGROUPS
#include "group_sum.glsl"
#else
#include "tree.glsl"
#endif

// True in every invocation of the group that is last to get here, false in all others.
//
// Invocation 0 has stored its group's sum. The barrier before the ticket makes that visible to the device before the ticket
// is; the one after barrier() keeps every invocation of the last group from reading partials, which are coherent, as they
// were before the last ticket. No group waits for another, which Vulkan would
// not promise to work; so this is safe however many groups run at once.
shared bool is_last;
bool is_last_group() {
    if (tid == 0) {
        memoryBarrierBuffer();
        is_last = atomicAdd(ticket, 1) == total - 1;
        if (is_last)
            ticket = 0; // for the next run: nothing has to be cleared
    }
    barrier();
    memoryBarrierBuffer();
    return is_last;
}

#ifndef FINISHED
#define FINISHED(sum) (sum) // what an application makes of the sum in the end
#endif

// The way out. Every invocation of the group calls this; `sum` matters in invocation 0 alone.
void deliver(T sum) {
    if (WAY == ATOMIC) {
        if (tid == 0)
            add_to_result(sum);
        return;
    }
    if (tid == 0)
        partials[first + group] = sum;
    if (WAY != LAST_GROUP || !is_last_group())
        return;
    // Always in the same order, whichever group is last: the same bits on every run.
    T all = T(0);
    for (uint i = tid; i < total; i += GROUP)
        all += partials[i];
    all = group_sum(all);
    if (tid == 0)
        set_result(FINISHED(all));
}

#endif
