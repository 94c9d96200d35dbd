/* What gpu/vulkan*.c share: a device from inside. Only for them. Each file calls those before it, never those after:
 *
 *   vulkan_failure.c   what failed first
 *   vulkan_record.c    commands, recorded and submitted
 *   vulkan_memory.c    buffers and transfers
 *   vulkan_image.c     textures
 *   vulkan_work.c      kernels, dispatches, time
 *   vulkan.c           which devices there are; opening one, and closing it */
#ifndef GPU_VULKAN_PARTS_H
#define GPU_VULKAN_PARTS_H

#include "gpu/vulkan.h"

#include <volk.h>

struct gpu_vulkan_buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    uint64_t bytes;
};

struct gpu_vulkan_image {
    VkImage handle;
    VkImageView view;
    VkDeviceMemory memory;
    uint64_t bytes;
    uint32_t width, height, layers;
};

struct gpu_vulkan {
    gpu_vulkan_facts facts;
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDevice physical;
    VkPhysicalDeviceMemoryProperties memories;
    VkDevice handle;
    struct VolkDeviceTable vk;
    VkQueue queue;
    uint32_t family;
    double seconds_per_tick;
    uint64_t tick_mask; /* the bits of a timestamp that count */
    uint64_t allocated; /* bytes */
    bool has_budget, tells_registers;

    VkCommandPool command_pool;
    VkCommandBuffer commands;
    VkFence fence;
    VkQueryPool stamps; /* two */
    VkDescriptorPool sets;
    unsigned sets_used, recorded; /* recorded: commands since the last submission */
    bool is_recording;
    gpu_vulkan_buffer *staging;
    unsigned char *staged; /* where it is mapped */

    bool failed, is_lost;
    char error[400];
};

enum {
    VULKAN_STAGING_BYTES = 32 << 20,
    VULKAN_SETS = 4096,     /* descriptor sets, one per dispatch until the next wait */
    VULKAN_SLICES_MOST = 8, /* per dispatch */
    VULKAN_RECORDED_MOST = 16384
};

/* ---------------------------------------------------------------------------------------------------------------------
 * Failures
 * ------------------------------------------------------------------------------------------------------------------ */

/* Calls of the device's functions go through VULKAN_DO: nothing once something has failed, and the first failure is
 * remembered. For functions that return a VkResult. */
#define VULKAN_DO(device, function, ...)                                                                               \
    ((device)->failed ? false : vulkan_check(device, #function, (device)->vk.function(__VA_ARGS__)))

bool vulkan_check(gpu_vulkan *device, const char *what, VkResult result);

/* Remembers a failure that is not a VkResult. */
void vulkan_fail(gpu_vulkan *device, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A sentence for the errors that users meet; null for the others. */
const char *vulkan_result_text(VkResult result);

/* ---------------------------------------------------------------------------------------------------------------------
 * Commands and memory
 * ------------------------------------------------------------------------------------------------------------------ */

/* A command buffer that stands ready for one more command, after a barrier; null once something has failed. */
VkCommandBuffer vulkan_command(gpu_vulkan *device);

/* Memory of a kind that has all of `properties`, and `wish` besides if there is such memory. */
VkDeviceMemory vulkan_allocate_memory(gpu_vulkan *device, const VkMemoryRequirements *needs,
                                      VkMemoryPropertyFlags properties, VkMemoryPropertyFlags wish);

/* A buffer in memory that has all of `properties`, and `wish` besides if there is such memory. */
gpu_vulkan_buffer *vulkan_buffer_create(gpu_vulkan *device, uint64_t bytes, VkMemoryPropertyFlags properties,
                                        VkMemoryPropertyFlags wish);

#endif
