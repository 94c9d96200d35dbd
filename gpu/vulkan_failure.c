/* Failures of Vulkan devices: the first one is remembered, and can be forgotten. See vulkan.h. */
#include "gpu/vulkan_parts.h"

#include <stdarg.h>
#include <stdio.h>

const char *vulkan_result_text(VkResult result) {
    switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return "there is no memory left on the host";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        return "there is no memory left on the device";
    case VK_ERROR_DEVICE_LOST:
        return "the device was lost";
    case VK_ERROR_INITIALIZATION_FAILED:
        return "the driver could not be initialised";
    case VK_ERROR_LAYER_NOT_PRESENT:
        return "a layer is not installed";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
        return "an extension is missing";
    case VK_ERROR_FEATURE_NOT_PRESENT:
        return "a feature is missing";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
        return "no driver is installed";
    default:
        return NULL;
    }
}

static void describe_result(const char *what, VkResult result, char *text, size_t room) {
    const char *known = vulkan_result_text(result);
    if (known)
        snprintf(text, room, "%s: %s", what, known);
    else
        snprintf(text, room, "%s: error %d", what, (int)result);
}

bool vulkan_check(gpu_vulkan *device, const char *what, VkResult result) {
    if (result == VK_SUCCESS)
        return !device->failed; /* the validation layer may have reported something */
    device->is_lost |= result == VK_ERROR_DEVICE_LOST;
    if (!device->failed)
        describe_result(what, result, device->error, sizeof device->error);
    device->failed = true;
    return false;
}

void vulkan_fail(gpu_vulkan *device, const char *format, ...) {
    va_list arguments;
    if (device->failed)
        return;
    va_start(arguments, format);
    vsnprintf(device->error, sizeof device->error, format, arguments);
    va_end(arguments);
    device->failed = true;
}

const char *gpu_vulkan_error(const gpu_vulkan *device) {
    return device->failed ? device->error : NULL;
}

/* Whatever was under way is over: what was recorded is forgotten, what was submitted has ended. */
bool gpu_vulkan_forgive(gpu_vulkan *device) {
    if (device->is_lost || device->vk.vkDeviceWaitIdle(device->handle) != VK_SUCCESS)
        return false;
    if (!device->failed)
        return true;
    device->vk.vkResetFences(device->handle, 1, &device->fence);
    device->vk.vkResetCommandPool(device->handle, device->command_pool, 0);
    device->is_recording = false;
    device->recorded = 0;
    device->failed = false;
    return true;
}
