/* The exact rung on Vulkan: what is dispatched, and from the device's limbs to the sum. See vulkan_exact.h. */
#include "ladder/vulkan_exact.h"

#include "gpu/whole.h"
#include "program/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As in src/shaders/exact.glsl and exact_element.glsl. */
enum { GROUP = 256, LOADS = 4, LIMBS_MOST = 68, LIMBS_BYTES = 1024 };
enum { SAW_NAN = 1, SAW_PLUS = 2, SAW_MINUS = 4, SAW_OTHER = 8 };

struct vulkan_exact {
    vulkan_lab *lab;
    reduct_type type; /* of the elements */
    uint64_t n;
    const gpu_vulkan_input *input, *other; /* other: for a dot product */
    vulkan_exact_window window;
    gpu_vulkan_kernel *kernel;
    uint64_t resident, groups; /* groups that the device holds; of all pieces */
    gpu_vulkan_buffer *sums, *result;
};

/* ---------------------------------------------------------------------------------------------------------------------
 * On the device
 * ------------------------------------------------------------------------------------------------------------------ */

static uint64_t piece(const vulkan_exact *exact, const gpu_vulkan_input *input, uint64_t copy, size_t number,
                      gpu_vulkan_slice *slice) {
    uint64_t bytes;
    *slice = gpu_vulkan_input_piece(input, copy, number, &bytes);
    return bytes / reduct_type_size(exact->type);
}

static uint64_t groups_for(const vulkan_exact *exact, uint64_t n) {
    uint64_t each = GROUP * LOADS * (16 / reduct_type_size(exact->type));
    uint64_t wanted = gpu_least(gpu_ceil_divide(n, each), exact->resident);
    return wanted ? wanted : 1;
}

static bool choose_window(vulkan_exact *exact, char *why, size_t room) {
    bool f64 = exact->lab->facts->f64 && exact->type != REDUCT_I32;
    if (exact->window == VULKAN_EXACT_BEST)
        exact->window = f64 ? VULKAN_EXACT_F64 : VULKAN_EXACT_U32;
    if (exact->window == VULKAN_EXACT_U32 || f64)
        return true;
    snprintf(why, room, exact->type == REDUCT_I32 ? "integers need no window in f64" : "this device has no f64");
    return false;
}

static bool choose_kernel(vulkan_exact *exact, char *why, size_t room) {
    char name[64];
    bool passed;
    snprintf(name, sizeof name, "glsl/exact_%s_%s", exact->window == VULKAN_EXACT_F64 ? "f64" : "u32",
             exact->other ? "dot" : reduct_type_name(exact->type));
    exact->kernel = vulkan_lab_kernel(exact->lab, name, GROUP, VULKAN_LAST_GROUP, exact->type, VULKAN_NEEDS_NOTHING,
                                      &passed, why, room);
    return exact->kernel != NULL;
}

static bool prepare(vulkan_exact *exact, unsigned group, char *why, size_t room) {
    vulkan_lab *lab = exact->lab;
    gpu_vulkan_slice slice;
    if (group && group != GROUP) {
        snprintf(why, room, "compiled for groups of %d", GROUP);
        return false;
    }
    if (lab->facts->group_most < GROUP) {
        snprintf(why, room, "a group of this device has at most %u invocations, and %d are needed",
                 lab->facts->group_most, GROUP);
        return false;
    }
    if (!choose_window(exact, why, room) || !choose_kernel(exact, why, room))
        return false;
    exact->resident = vulkan_lab_resident_groups(lab, GROUP, gpu_vulkan_kernel_registers(exact->kernel));
    for (size_t i = 0; i < exact->input->pieces; i++)
        exact->groups += groups_for(exact, piece(exact, exact->input, 0, i, &slice));
    exact->sums = gpu_vulkan_allocate(lab->device, LIMBS_BYTES);
    exact->result = gpu_vulkan_allocate(lab->device, LIMBS_BYTES);
    gpu_vulkan_fill(lab->device, exact->sums, 0, 0, LIMBS_BYTES);
    if (gpu_vulkan_error(lab->device))
        snprintf(why, room, "%s", gpu_vulkan_error(lab->device));
    return !gpu_vulkan_error(lab->device);
}

static vulkan_exact *create(vulkan_exact wanted, unsigned group, char *why, size_t room) {
    vulkan_exact *exact = program_allocate(sizeof *exact);
    *exact = wanted;
    exact->n = exact->input->bytes / reduct_type_size(exact->type);
    if (prepare(exact, group, why, room))
        return exact;
    vulkan_exact_destroy(exact);
    return NULL;
}

vulkan_exact *vulkan_exact_create(vulkan_lab *lab, reduct_type type, const gpu_vulkan_input *input,
                                  vulkan_exact_window window, unsigned group, char *why, size_t room) {
    return create((vulkan_exact){.lab = lab, .type = type, .input = input, .window = window}, group, why, room);
}

vulkan_exact *vulkan_exact_create_dot(vulkan_lab *lab, const gpu_vulkan_input *left, const gpu_vulkan_input *right,
                                      vulkan_exact_window window, char *why, size_t room) {
    return create((vulkan_exact){.lab = lab, .type = REDUCT_F32, .input = left, .other = right, .window = window}, 0,
                  why, room);
}

void vulkan_exact_destroy(vulkan_exact *exact) {
    if (!exact)
        return;
    gpu_vulkan_free(exact->lab->device, exact->sums);
    gpu_vulkan_free(exact->lab->device, exact->result);
    free(exact);
}

/* A dispatch for each piece; the last group of all hands the limbs out. Inputs of the same size have the same pieces. */
void vulkan_exact_run(vulkan_exact *exact, uint64_t copy) {
    vulkan_lab *lab = exact->lab;
    for (size_t i = 0; i < exact->input->pieces; i++) {
        gpu_vulkan_slice slice, last = {lab->ticket, 0, 16};
        uint64_t n = piece(exact, exact->input, copy, i, &slice), groups = groups_for(exact, n);
        vulkan_push push = {.n = (uint32_t)n, .groups = (uint32_t)groups, .total = (uint32_t)exact->groups};
        unsigned rows;
        gpu_vulkan_grid(lab->device, groups, &push.row, &rows);
        if (exact->other)
            piece(exact, exact->other, copy, i, &last);
        const gpu_vulkan_slice slices[] = {slice, {exact->sums, 0, LIMBS_BYTES}, {exact->result, 0, LIMBS_BYTES}, last};
        gpu_vulkan_dispatch(lab->device, exact->kernel, groups, slices, &push);
    }
}

void vulkan_exact_describe(const vulkan_exact *exact, report_row *row) {
    report_set(row, MEASURE_BLOCK, GROUP);
    report_set(row, MEASURE_REGISTERS, gpu_vulkan_kernel_registers(exact->kernel));
    if (exact->type != REDUCT_I32)
        snprintf(row->note, sizeof row->note, "%s",
                 exact->window == VULKAN_EXACT_F64 ? "window in f64" : "window in 32-bit integers");
}

/* ---------------------------------------------------------------------------------------------------------------------
 * From limbs to the sum
 * ------------------------------------------------------------------------------------------------------------------ */

/* plus -= minus, both least significant first. Returns whether the difference is negative; `plus` is its magnitude. */
static bool subtract(uint32_t *plus, const uint32_t *minus, unsigned count) {
    int64_t borrow = 0;
    for (unsigned i = 0; i < count; i++) {
        int64_t digit = (int64_t)plus[i] - minus[i] + borrow;
        plus[i] = (uint32_t)digit;
        borrow = digit >> 32;
    }
    if (borrow == 0)
        return false;
    uint64_t carry = 1;
    for (unsigned i = 0; i < count; i++) {
        carry += (uint32_t)~plus[i];
        plus[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return true;
}

/* Numbers whose sum is the sum, special values included: the library knows what becomes of those. A limb too large for
 * f64 is an infinity, as the sum is then. */
static size_t terms_of(uint32_t *limbs, unsigned count, int lowest, double *term) {
    size_t terms = 0;
    uint32_t saw = limbs[2 * count];
    bool negative = subtract(limbs, limbs + count, count);
    for (unsigned i = 0; i < count; i++) {
        double digit = ldexp(limbs[i], 32 * (int)i + lowest);
        if (digit > 0)
            term[terms++] = negative ? -digit : digit;
    }
    if (saw & SAW_NAN)
        term[terms++] = (double)NAN;
    if (saw & SAW_PLUS)
        term[terms++] = HUGE_VAL;
    if (saw & SAW_MINUS)
        term[terms++] = -HUGE_VAL;
    term[terms++] = saw & SAW_OTHER ? 0.0 : -0.0; /* which decides the sign of a sum that is zero */
    return terms;
}

static void round_sum(reduct_type type, const double *term, size_t count, void *result) {
    const reduct_reduction reduction = {.op = REDUCT_SUM, .element = REDUCT_F64, .result = type};
    reduct_accumulator *sum = NULL;
    double unknown = (double)NAN;
    float unknown_f32 = NAN;
    memcpy(result, type == REDUCT_F32 ? (const void *)&unknown_f32 : &unknown, reduct_type_size(type));
    if (reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &reduction, .device = "cpu", .threads = 1},
                                  &sum, NULL) == REDUCT_OK &&
        reduct_accumulator_add(sum, term, NULL, count, NULL) == REDUCT_OK)
        reduct_accumulator_result(sum, type, result, NULL);
    reduct_accumulator_destroy(sum);
}

void vulkan_exact_result(vulkan_exact *exact, void *result) {
    reduct_type type = exact->other ? REDUCT_F64 : exact->type;
    unsigned count = type == REDUCT_F64 ? LIMBS_MOST : 10;
    uint32_t limbs[2 * LIMBS_MOST + 1] = {0};
    double term[LIMBS_MOST + 4];
    gpu_vulkan_download(exact->lab->device, limbs, exact->result, 0, (2 * count + 1) * sizeof *limbs);
    if (type == REDUCT_I32) {
        uint32_t sum = limbs[0] - limbs[count];
        memcpy(result, &sum, sizeof sum);
        return;
    }
    size_t terms = exact->n ? terms_of(limbs, count, type == REDUCT_F64 ? -1074 : -149, term) : 0;
    round_sum(type, term, terms, result);
}
