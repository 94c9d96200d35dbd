/* Dot products through Vulkan, by the library's exact shaders, which the ladder's code drives. The arrays on the right
 * stay on the device, those on the left come one after the other. */
#include "dots.h"

#include "ladder/vulkan_exact.h"
#include "program/memory.h"

#include <stdio.h>
#include <stdlib.h>

static gpu_vulkan_input upload(vulkan_lab *lab, const float *array, size_t count) {
    return gpu_vulkan_input_create(lab->device, array, count * sizeof *array, false, 0);
}

static bool multiply(vulkan_lab *lab, const gpu_vulkan_input *left, const gpu_vulkan_input *right, double *result,
                     problem *why) {
    char text[400];
    vulkan_exact *exact = vulkan_exact_create_dot(lab, left, right, VULKAN_EXACT_BEST, text, sizeof text);
    if (!exact)
        return refuse(why, "%s", text);
    vulkan_exact_run(exact, 0);
    vulkan_exact_result(exact, result);
    vulkan_exact_destroy(exact);
    return !gpu_vulkan_error(lab->device) || refuse(why, "%s", gpu_vulkan_error(lab->device));
}

static bool multiply_all(vulkan_lab *lab, const dots_input *input, double *results, problem *why) {
    gpu_vulkan_input *rights = program_allocate(input->rights * sizeof *rights);
    bool good = true;
    for (size_t j = 0; j < input->rights; j++)
        rights[j] = upload(lab, input->right[j], input->count);
    for (size_t i = 0; i < input->lefts && good; i++) {
        gpu_vulkan_input left = upload(lab, input->left[i], input->count);
        for (size_t j = 0; j < input->rights && good; j++)
            good = multiply(lab, &left, &rights[j], &results[i * input->rights + j], why);
        gpu_vulkan_input_destroy(lab->device, &left);
    }
    for (size_t j = 0; j < input->rights; j++)
        gpu_vulkan_input_destroy(lab->device, &rights[j]);
    free(rights);
    return good;
}

bool dots_by_vulkan(const dots_request *request, const dots_input *input, double *results, dots_used *used,
                    problem *why) {
    vulkan_lab lab;
    reduct_error error;
    if (vulkan_lab_open(&lab, request->device, VULKAN_GLSL, &error) != REDUCT_OK)
        return refuse(why, "%s", error.message);
    snprintf(used->device, sizeof used->device, "vulkan:%u", lab.facts->ordinal);
    const bool good = multiply_all(&lab, input, results, why);
    vulkan_lab_close(&lab);
    return good;
}
