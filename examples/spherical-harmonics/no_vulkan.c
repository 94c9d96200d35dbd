/* Stands in for dots_vulkan.c where this program was built without the ladder's shaders. */
#include "dots.h"

bool dots_by_vulkan(const dots_request *request, const dots_input *input, double *results, dots_used *used,
                    problem *why) {
    (void)input, (void)results, (void)used;
    return refuse(why,
                  "device %s: this program was built without Vulkan: install libvulkan-volk-dev, libvulkan-dev, glslc "
                  "and spirv-tools and build it again, with the reduct command",
                  request->device);
}
