/* The Vulkan ladder where this program was built without volk's and Vulkan's headers: see cmake/ReductVulkan.cmake. */
#include "ladder/ladder.h"

reduct_status ladder_vulkan_run(const ladder_options *options, report *r, reduct_error *error) {
    (void)options;
    (void)r;
    return ladder_fail(
        error, REDUCT_ERROR_NO_DEVICE,
        "this build has no Vulkan: it was made without the headers of volk and Vulkan, or with REDUCT_VULKAN=OFF");
}
