/* The Vulkan ladder's device: kernels, their trials, scratch memory, how many groups keep it busy. */
#include "ladder/vulkan_ladder.h"

#include "gpu/whole.h"
#include "measure/machine.h"
#include "program/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Opening and closing
 * ------------------------------------------------------------------------------------------------------------------ */

enum { TRIAL_ELEMENTS = 2 * VULKAN_GROUP_MOST, TRIAL_BYTES = 8 * TRIAL_ELEMENTS };

reduct_status vulkan_lab_open(vulkan_lab *lab, const char *name, vulkan_language language, reduct_error *error) {
    char why[240];
    *lab = (vulkan_lab){.language = language};
    if (strncmp(name, "vulkan", 6) != 0 || (name[6] && (name[6] != ':' || !name[7])))
        return ladder_fail(error, REDUCT_ERROR_ARGUMENT,
                           "a Vulkan device is called vulkan:0, or vulkan: and a part of its name");
    if (!ladder_vulkan_shaders[0])
        return ladder_fail(error, REDUCT_ERROR_NO_DEVICE,
                           "this build has no Vulkan shaders: it was made without glslc");
    lab->device = gpu_vulkan_open(name[6] ? name + 7 : "0", why, sizeof why);
    if (!lab->device)
        return ladder_fail(error, REDUCT_ERROR_NO_DEVICE, "%s", why);
    lab->facts = gpu_vulkan_describe(lab->device);
    lab->result = gpu_vulkan_allocate(lab->device, 64);
    lab->ticket = gpu_vulkan_allocate(lab->device, 16);
    lab->trial = gpu_vulkan_allocate(lab->device, TRIAL_BYTES);
    gpu_vulkan_fill(lab->device, lab->ticket, 0, 0, 16);
    vulkan_lab_reserve(lab, 4096);
    if (gpu_vulkan_error(lab->device)) {
        ladder_fail(error, REDUCT_ERROR_DEVICE_LOST, "%s", gpu_vulkan_error(lab->device));
        vulkan_lab_close(lab);
        return REDUCT_ERROR_DEVICE_LOST;
    }
    return REDUCT_OK;
}

struct vulkan_kernel {
    char shader[96];
    unsigned group;
    vulkan_way way;
    gpu_vulkan_kernel *kernel;
    bool is_tried, passed;
};

void vulkan_lab_close(vulkan_lab *lab) {
    for (size_t i = 0; i < lab->kernel_count; i++) {
        gpu_vulkan_kernel_destroy(lab->device, lab->kernels[i]->kernel);
        free(lab->kernels[i]);
    }
    free(lab->kernels);
    if (lab->device) {
        gpu_vulkan_buffer *const buffers[] = {lab->partials[0], lab->partials[1], lab->result, lab->ticket, lab->trial};
        for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
            gpu_vulkan_free(lab->device, buffers[i]);
    }
    free(lab->host_partials);
    gpu_vulkan_close(lab->device);
    *lab = (vulkan_lab){0};
}

void vulkan_lab_reserve(vulkan_lab *lab, uint64_t bytes) {
    bytes = (bytes + 15) / 16 * 16; /* shaders read sums as whole vectors of 16 bytes */
    if (bytes <= lab->partials_bytes)
        return;
    for (size_t i = 0; i < 2; i++) {
        gpu_vulkan_free(lab->device, lab->partials[i]);
        lab->partials[i] = gpu_vulkan_allocate(lab->device, bytes);
    }
    lab->host_partials = program_reallocate(lab->host_partials, bytes);
    lab->partials_bytes = gpu_vulkan_error(lab->device) ? 0 : bytes;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Kernels and their trials
 * ------------------------------------------------------------------------------------------------------------------ */

void vulkan_lab_dispatch(vulkan_lab *lab, gpu_vulkan_kernel *kernel, gpu_vulkan_slice elements,
                         gpu_vulkan_buffer *partials, vulkan_push push) {
    unsigned rows;
    uint64_t bytes = partials == lab->result ? 64 : lab->partials_bytes;
    const gpu_vulkan_slice slices[] = {elements, {partials, 0, bytes}, {lab->result, 0, 64}, {lab->ticket, 0, 16}};
    gpu_vulkan_grid(lab->device, push.groups, &push.row, &rows);
    gpu_vulkan_dispatch(lab->device, kernel, push.groups, slices, &push);
}

/* Whole numbers, different from lane to lane, whose sum every type holds. Returns that. */
static uint32_t write_trial(reduct_type type, unsigned n, void *to) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t value = i * UINT32_C(2654435761) >> 22;
        if (type == REDUCT_I32)
            ((uint32_t *)to)[i] = value;
        else if (type == REDUCT_F32)
            ((float *)to)[i] = (float)value;
        else
            ((double *)to)[i] = value;
        sum += value;
    }
    return sum;
}

static bool is_sum(reduct_type type, const void *got, uint32_t sum) {
    uint32_t i32;
    float f32;
    double f64;
    memcpy(&i32, got, 4);
    memcpy(&f32, got, 4);
    memcpy(&f64, got, 8);
    return type == REDUCT_I32 ? i32 == sum : type == REDUCT_F32 ? f32 == (float)sum : f64 == (double)sum;
}

/* One group, on as many numbers as it takes at once and one fewer than it has room for. */
static bool try_kernel(vulkan_lab *lab, const vulkan_kernel *kernel, reduct_type type) {
    _Alignas(8) unsigned char values[TRIAL_BYTES], got[8] = {0};
    unsigned n = 2 * kernel->group - 1;
    uint32_t sum = write_trial(type, n, values) + lab->doubts_subgroups;
    gpu_vulkan_upload(lab->device, lab->trial, 0, values, n * reduct_type_size(type));
    gpu_vulkan_fill(lab->device, lab->result, 0, 0, 8);
    vulkan_lab_dispatch(lab, kernel->kernel, (gpu_vulkan_slice){lab->trial, 0, TRIAL_BYTES}, lab->partials[0],
                        (vulkan_push){.n = n, .groups = 1, .total = 1});
    gpu_vulkan_download(lab->device, got, kernel->way == VULKAN_STORE ? lab->partials[0] : lab->result, 0, 8);
    return is_sum(type, got, sum);
}

static vulkan_kernel *find_kernel(vulkan_lab *lab, const char *shader, unsigned group, vulkan_way way) {
    for (size_t i = 0; i < lab->kernel_count; i++) {
        vulkan_kernel *kernel = lab->kernels[i];
        if (kernel->group == group && kernel->way == way && strcmp(kernel->shader, shader) == 0)
            return kernel;
    }
    return NULL;
}

static vulkan_kernel *make_kernel(vulkan_lab *lab, const char *name, unsigned group, vulkan_way way, char *why,
                                  size_t room) {
    const rd_vulkan_shader *shader = rd_vulkan_shader_find(ladder_vulkan_shaders, name);
    if (!shader) {
        snprintf(why, room, "this build has no shader %s", name);
        return NULL;
    }
    const uint32_t constants[] = {group, way};
    unsigned specialised = strncmp(name, "glsl/", 5) == 0 ? 2 : strncmp(name, "slang/", 6) == 0 ? 1 : 0;
    const gpu_vulkan_setup setup = {.shader = shader,
                                    .buffers = 4,
                                    .push_bytes = sizeof(vulkan_push),
                                    .constants = constants,
                                    .constant_count = specialised};
    gpu_vulkan_kernel *made = gpu_vulkan_kernel_create(lab->device, &setup);
    if (!made) {
        snprintf(why, room, "%s: %s", name, gpu_vulkan_error(lab->device));
        return NULL;
    }
    vulkan_kernel *kernel = program_allocate(sizeof *kernel);
    *kernel = (vulkan_kernel){.group = group, .way = way, .kernel = made};
    snprintf(kernel->shader, sizeof kernel->shader, "%s", name);
    lab->kernels = program_reallocate(lab->kernels, (lab->kernel_count + 1) * sizeof(vulkan_kernel *));
    lab->kernels[lab->kernel_count++] = kernel;
    return kernel;
}

gpu_vulkan_kernel *vulkan_lab_kernel(vulkan_lab *lab, const char *shader, unsigned group, vulkan_way way,
                                     reduct_type type, vulkan_needs needs, bool *passed, char *why, size_t room) {
    vulkan_kernel *kernel = find_kernel(lab, shader, group, way);
    if (!kernel)
        kernel = make_kernel(lab, shader, group, way, why, room);
    if (!kernel)
        return NULL;
    if (needs != VULKAN_NEEDS_NOTHING && !kernel->is_tried) {
        kernel->is_tried = true;
        kernel->passed = try_kernel(lab, kernel, type);
        if (!kernel->passed)
            snprintf(lab->distrusted, sizeof lab->distrusted, "%s in groups of %u", shader, group);
    }
    *passed = needs == VULKAN_NEEDS_NOTHING || kernel->passed;
    return kernel->kernel;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Groups that keep a device busy, and what it can read
 * ------------------------------------------------------------------------------------------------------------------ */

/* Where the device tells nothing: 2^19 invocations are more than any GPU of today holds, and few enough sums to add up; a CPU
 * gets some groups for each of its processors. */
uint64_t vulkan_lab_resident_groups(const vulkan_lab *lab, unsigned group, int registers) {
    const gpu_vulkan_facts *facts = lab->facts;
    if (facts->is_software) {
        measure_machine machine;
        measure_machine_describe(&machine);
        return 16 * (uint64_t)(machine.processors ? machine.processors : 1);
    }
    if (!facts->processors || !facts->processor_warps || !facts->subgroup)
        return gpu_ceil_divide(UINT64_C(1) << 19, group);
    uint64_t warps = gpu_ceil_divide(group, facts->subgroup), most = 32;
    most = gpu_least(most, facts->processor_warps / warps);
    if (registers > 0 && facts->registers_shared) /* which a warp gets in units of eight per lane */
        most = gpu_least(most, facts->registers_shared /
                                   (gpu_ceil_divide((uint64_t)registers, 8) * 8 * facts->subgroup * warps));
    return facts->processors * (most ? most : 1);
}

typedef struct read_run {
    vulkan_lab *lab;
    gpu_vulkan_kernel *kernel;
    gpu_vulkan_slice from;
    uint64_t groups;
} read_run;

static void read_once(void *context, uint64_t number) {
    read_run *read = context;
    (void)number;
    vulkan_lab_dispatch(read->lab, read->kernel, read->from, read->lab->partials[0],
                        (vulkan_push){.n = (uint32_t)(read->from.bytes / 4),
                                      .groups = (uint32_t)read->groups,
                                      .total = (uint32_t)read->groups});
}

/* The best of as many groups as the device should hold, half as many, and so on. */
static double best_rate(read_run *read, unsigned group) {
    uint64_t resident = vulkan_lab_resident_groups(read->lab, group, gpu_vulkan_kernel_registers(read->kernel));
    unsigned shapes = read->lab->facts->is_software ? 1 : 4;
    double best = 0;
    for (unsigned i = 0; i < shapes; i++) {
        read->groups = resident >> i ? resident >> i : 1;
        double seconds = gpu_vulkan_time(read->lab->device, read_once, read, 5).median;
        if (seconds > 0 && (double)read->from.bytes / seconds > best)
            best = (double)read->from.bytes / seconds;
    }
    return best;
}

double vulkan_lab_read_limit(vulkan_lab *lab) {
    static const unsigned groups[] = {256, 512, 1024};
    const gpu_vulkan_facts *facts = lab->facts;
    const uint64_t wanted = facts->is_software ? UINT64_C(64) << 20 : UINT64_C(2) << 30;
    uint64_t bytes = gpu_least(wanted, gpu_vulkan_free_memory(lab->device) / 2);
    bytes = gpu_least(bytes > 16 << 20 ? bytes : 16 << 20, gpu_least(facts->range, facts->allocation)) / 256 * 256;
    char why[160];
    bool passed;
    double best = 0;
    read_run read = {.lab = lab, .from = {gpu_vulkan_allocate(lab->device, bytes), 0, bytes}};
    gpu_vulkan_fill(lab->device, read.from.buffer, 0, 0, bytes);
    for (size_t i = 0; i < sizeof groups / sizeof *groups && groups[i] <= facts->group_most; i++) {
        read.kernel = vulkan_lab_kernel(lab, "glsl/read_limit", groups[i], VULKAN_STORE, REDUCT_I32,
                                        VULKAN_NEEDS_NOTHING, &passed, why, sizeof why);
        double rate = read.kernel ? best_rate(&read, groups[i]) : 0;
        if (rate > best)
            best = rate;
        if (facts->is_software)
            break;
    }
    gpu_vulkan_free(lab->device, read.from.buffer);
    return best;
}
