/* Commands of Vulkan devices: recorded in order, submitted together. See vulkan.h. */
#include "gpu/vulkan_parts.h"

static void submit(gpu_vulkan *device) {
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &device->commands};
    /* What was written is to be seen by the host, which may read the staging. */
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    if (!device->failed)
        device->vk.vkCmdPipelineBarrier(device->commands,
                                        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                                        VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    VULKAN_DO(device, vkEndCommandBuffer, device->commands);
    if (VULKAN_DO(device, vkQueueSubmit, device->queue, 1, &info, device->fence)) {
        VULKAN_DO(device, vkWaitForFences, device->handle, 1, &device->fence, VK_TRUE, UINT64_MAX);
        VULKAN_DO(device, vkResetFences, device->handle, 1, &device->fence);
    }
    VULKAN_DO(device, vkResetCommandPool, device->handle, device->command_pool, 0);
    device->is_recording = false;
    device->recorded = 0;
}

void gpu_vulkan_wait(gpu_vulkan *device) {
    if (device->is_recording && !device->failed)
        submit(device);
    if (device->sets_used && !device->failed) {
        VULKAN_DO(device, vkResetDescriptorPool, device->handle, device->sets, 0);
        device->sets_used = 0;
    }
}

static void begin(gpu_vulkan *device) {
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    device->is_recording = VULKAN_DO(device, vkBeginCommandBuffer, device->commands, &info);
}

VkCommandBuffer vulkan_command(gpu_vulkan *device) {
    const VkAccessFlags writes = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    const VkAccessFlags reads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;
    const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = writes, .dstAccessMask = reads | writes};
    if (device->recorded == VULKAN_RECORDED_MOST)
        gpu_vulkan_wait(device);
    if (!device->is_recording)
        begin(device);
    if (device->failed)
        return NULL;
    device->vk.vkCmdPipelineBarrier(device->commands, stages, stages, 0, 1, &barrier, 0, NULL, 0, NULL);
    device->recorded++;
    return device->commands;
}
