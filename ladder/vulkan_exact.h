/* The exact rung on Vulkan: the library's sum, the infinitely precise one, rounded once; and its dot product of f32. The
 * device adds up integers, in src/shaders/exact_f64.comp or exact_u32.comp; the library rounds what they come to. */
#ifndef LADDER_VULKAN_EXACT_H
#define LADDER_VULKAN_EXACT_H

#include "ladder/vulkan_ladder.h"

/* In which registers the device adds: f64 where it has them, 32-bit integers anywhere. The bits of the result are the
 * same. Elements of all types suit integers; i32 does not need f64. */
typedef enum vulkan_exact_window { VULKAN_EXACT_BEST, VULKAN_EXACT_F64, VULKAN_EXACT_U32 } vulkan_exact_window;

typedef struct vulkan_exact vulkan_exact;

/* Makes the sum of an input's elements of a type ready, for groups of `group` invocations (0: its own choice). Null, and
 * one sentence in `why`, where that cannot be on this device. Lab and input must live as long as this. */
vulkan_exact *vulkan_exact_create(vulkan_lab *lab, reduct_type type, const gpu_vulkan_input *input,
                                  vulkan_exact_window window, unsigned group, char *why, size_t room);

/* The same for the dot product of two inputs of f32, as long as each other, in a window of either kind. Its result is an
 * f64: there the library's has the same bits. */
vulkan_exact *vulkan_exact_create_dot(vulkan_lab *lab, const gpu_vulkan_input *left, const gpu_vulkan_input *right,
                                      vulkan_exact_window window, char *why, size_t room);
void vulkan_exact_destroy(vulkan_exact *exact);

/* Records the reduction of the copy of that number, once. */
void vulkan_exact_run(vulkan_exact *exact, uint64_t copy);

/* What the last run gave: a sum in the element type, of i32 modulo 2^32; a dot product as f64. */
void vulkan_exact_result(vulkan_exact *exact, void *result);

/* The row's block, registers and, in its note, the window. */
void vulkan_exact_describe(const vulkan_exact *exact, report_row *row);

#endif
