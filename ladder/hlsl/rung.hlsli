// What every rung shares: the element type, the buffers, the numbers of a dispatch, and the ways out of a group.
//
// A rung is a kernel that reduces what its group is responsible for to one number, held by the thread with tid 0, and
// hands it to deliver(). WAY says what becomes of it:
//
//   WAY_STORE    each group stores its sum; the host adds them up, or the same kernel runs again on the sums, until one
//                is left (finishes host, second-launch, recursive)
//   WAY_ATOMIC   each group adds its sum to the result, which somebody must have cleared
//   WAY_LAST     each group stores its sum and takes a ticket; whoever draws the last one adds up all of them
//
// In Unity: put this file beside the rung, and the rung into a compute shader (halving.compute). What follows `#pragma
// kernel` is the kernel's name for FindKernel(). Set n to the number of elements, groups and total to the number of
// groups, row to the groups in a row (the same number, as long as it is at most 65535; more groups are dispatched in
// rows, y * row + x), and first to 0. For the recursive finish, dispatch again with partials as the input and n =
// groups, until groups is 1. In Direct3D: b0, t0, u1 to u3. Through glslang for Vulkan: bindings 0 to 3 and push
// constants; that is how the rungs are run and checked here. What FXC and DXC do not take either is avoided, except
// where a file says so.
//
// A binding has at most 2^32 bytes, so 32 bits count elements. "Elsewhere" in a rung's file names Harris's kernel
// ("Optimizing Parallel Reduction in CUDA", 2007) and those of the tutorials A to E, which docs/ladder/names.md lists.

#define WAY_STORE 0
#define WAY_ATOMIC 1
#define WAY_LAST 2

// What can be chosen when compiling: the size of a group, 16 to 1024; the way out; TYPE_I32 instead of f32.
#ifndef GROUP
#define GROUP 256
#endif
#ifndef WAY
#define WAY WAY_STORE
#endif

// i32 is added as unsigned: the sum modulo 2^32, which cannot overflow. f64 is left to GLSL: glslang's HLSL has doubles,
// but not the atomics of 64 bits that WAY_ATOMIC would take.
#ifdef TYPE_I32
typedef uint T;
typedef uint4 T4;
#else
typedef float T;
typedef float4 T4;
#endif

#ifndef MORE_NUMBERS
#define MORE_NUMBERS // what an application is told besides
#endif

#ifdef VULKAN
[[vk::push_constant]]
cbuffer Dispatch
#else
cbuffer Dispatch : register(b0)
#endif
{
    uint n;      // elements
    uint groups; // that have work; a dispatch in rows may have a few more
    uint row;    // groups in a row of the dispatch
    uint first;  // where this dispatch's sums begin among the partials
    uint total;  // groups of all dispatches that share partials and ticket
    MORE_NUMBERS
};

#ifdef INPUT_IS_DESTROYED
RWStructuredBuffer<T> input : register(u0);
#elif defined INPUT_IS_VECTORS
StructuredBuffer<T4> input : register(t0);
#else
StructuredBuffer<T> input : register(t0);
#endif

#if WAY == WAY_ATOMIC
RWStructuredBuffer<uint> result : register(u2); // a float is kept as its bits
#elif WAY == WAY_LAST
globallycoherent RWStructuredBuffer<T> partials : register(u1);
RWStructuredBuffer<T> result : register(u2);
RWStructuredBuffer<uint> ticket : register(u3); // groups that are done; zero before and after
groupshared bool is_last;
groupshared T last_values[GROUP];
#else
RWStructuredBuffer<T> partials : register(u1);
#endif

// A group's number. Groups come in rows, since a row has at most 65535 of them.
uint group_number(uint3 group) {
    return group.y * row + group.x;
}

#ifndef INPUT_IS_VECTORS
// An element, or the identity of addition where there is none: what lets n be any number. With an `if`, since `?:`
// evaluates both sides up to HLSL 2021, and in FXC and glslang. Direct3D gives zeros for reads beyond a buffer; Vulkan
// promises nothing.
T load(uint i) {
    T value = 0;
    if (i < n)
        value = input[i];
    return value;
}
#endif

#if WAY == WAY_ATOMIC
// HLSL adds integers atomically, but no floats. So: add to what was there, and store the sum only if what was there
// still is; otherwise again, with what is there now.
void add_to_result(T sum) {
#ifdef TYPE_I32
    InterlockedAdd(result[0], sum);
#else
    uint expected = 0, found;
#ifndef VULKAN
    [allow_uav_condition] // FXC asks for it, glslang does not know it
#endif
    for (;;) {
        InterlockedCompareExchange(result[0], expected, asuint(asfloat(expected) + sum), found);
        if (found == expected)
            break;
        expected = found;
    }
#endif
}
#endif

#ifndef FINISHED
#define FINISHED(sum) (sum) // what an application makes of the sum in the end
#endif

#if WAY == WAY_LAST
// True in every thread of the group that is last to get here, false in all others. No group waits for another. The barrier
// before the ticket makes this group's number visible to whoever sees the ticket; the one after keeps the last group from
// reading numbers as they were before.
bool is_last_group(bool has_work, uint tid) {
    if (tid == 0) {
        uint drawn = 0;
        DeviceMemoryBarrier();
        if (has_work)
            InterlockedAdd(ticket[0], 1, drawn);
        is_last = has_work && drawn == total - 1;
        if (is_last)
            ticket[0] = 0; // for the next run: nothing has to be cleared
    }
    GroupMemoryBarrierWithGroupSync();
    if (is_last)
        DeviceMemoryBarrier();
    return is_last;
}

// Adds up all groups' sums if this group is the last of all. The order in which they are added does not depend on who is
// last: the bits are the same on every run where those of each group's sum are. (In rungs that add by waves they are not:
// see waves.hlsli. FXC does not take a barrier after this branch; DXC does.)
void add_up_if_last(bool has_work, uint tid) {
    if (!is_last_group(has_work, tid))
        return;
    T sum = 0;
    for (uint i = tid; i < total; i += GROUP)
        sum += partials[i];
    last_values[tid] = sum;
    GroupMemoryBarrierWithGroupSync();
    for (uint active = GROUP; active > 1; active = (active + 1) / 2) {
        uint half_way = (active + 1) / 2;
        if (tid + half_way < active)
            last_values[tid] += last_values[tid + half_way];
        GroupMemoryBarrierWithGroupSync();
    }
    if (tid == 0)
        result[0] = FINISHED(last_values[0]);
}
#endif

// The way out. Every thread of the group calls this; `sum` matters in thread 0 alone.
void deliver(T sum, uint group, uint tid) {
    bool has_work = group < groups;
#if WAY == WAY_ATOMIC
    if (tid == 0 && has_work)
        add_to_result(sum);
#else
    if (tid == 0 && has_work)
        partials[first + group] = sum;
#endif
#if WAY == WAY_LAST
    add_up_if_last(has_work, tid);
#endif
}
