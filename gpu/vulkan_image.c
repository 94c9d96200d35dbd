/* Textures of Vulkan devices: layers of texels that shaders read without a sampler. See vulkan.h. */
#include "gpu/vulkan_parts.h"

#include "program/memory.h"

#include <stdlib.h>

enum { TEXEL_BYTES = 4 };

static void create_handle(gpu_vulkan *device, gpu_vulkan_image *image) {
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = VK_FORMAT_R32_SFLOAT,
                                    .extent = {image->width, image->height, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = image->layers,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .tiling = VK_IMAGE_TILING_OPTIMAL,
                                    .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                    .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED};
    VkMemoryRequirements needs = {0};
    VULKAN_DO(device, vkCreateImage, device->handle, &info, NULL, &image->handle);
    if (!device->failed)
        device->vk.vkGetImageMemoryRequirements(device->handle, image->handle, &needs);
    image->bytes = needs.size;
    image->memory = vulkan_allocate_memory(device, &needs, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
    VULKAN_DO(device, vkBindImageMemory, device->handle, image->handle, image->memory, 0);
}

static void create_view(gpu_vulkan *device, gpu_vulkan_image *image) {
    const VkImageViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image->handle,
        .viewType = VK_IMAGE_VIEW_TYPE_2D_ARRAY,
        .format = VK_FORMAT_R32_SFLOAT,
        .subresourceRange = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .levelCount = 1, .layerCount = image->layers}};
    VULKAN_DO(device, vkCreateImageView, device->handle, &info, NULL, &image->view);
}

gpu_vulkan_image *gpu_vulkan_image_create(gpu_vulkan *device, unsigned width, unsigned height, unsigned layers) {
    if (width > device->facts.image_side || height > device->facts.image_side || layers > device->facts.image_layers)
        vulkan_fail(device, "a texture of %u x %u texels in %u layers is more than this device can have: %u, %u", width,
                    height, layers, device->facts.image_side, device->facts.image_layers);
    if (device->failed)
        return NULL;
    gpu_vulkan_image *image = program_allocate(sizeof *image);
    *image = (gpu_vulkan_image){.width = width, .height = height, .layers = layers};
    create_handle(device, image);
    create_view(device, image);
    device->allocated += image->bytes;
    if (!device->failed)
        return image;
    gpu_vulkan_image_destroy(device, image);
    return NULL;
}

void gpu_vulkan_image_destroy(gpu_vulkan *device, gpu_vulkan_image *image) {
    if (!image)
        return;
    gpu_vulkan_wait(device);
    device->vk.vkDestroyImageView(device->handle, image->view, NULL);
    device->vk.vkDestroyImage(device->handle, image->handle, NULL);
    device->vk.vkFreeMemory(device->handle, image->memory, NULL);
    device->allocated -= image->bytes;
    free(image);
}

/* The driver keeps texels in an order of its own, which may differ by what they are used for. */
static void turn_into(gpu_vulkan *device, VkCommandBuffer commands, const gpu_vulkan_image *image, VkImageLayout from,
                      VkImageLayout to) {
    bool to_be_written = to == VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    const VkPipelineStageFlags shader = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, transfer = VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = to_be_written ? 0 : VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = to_be_written ? VK_ACCESS_TRANSFER_WRITE_BIT : VK_ACCESS_SHADER_READ_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image->handle,
        .subresourceRange = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .levelCount = 1, .layerCount = image->layers}};
    device->vk.vkCmdPipelineBarrier(commands, to_be_written ? shader : transfer, to_be_written ? transfer : shader, 0,
                                    0, NULL, 0, NULL, 1, &barrier);
}

void gpu_vulkan_image_fill(gpu_vulkan *device, gpu_vulkan_image *image, gpu_vulkan_buffer *texels) {
    const VkImageLayout target = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    VkBufferImageCopy region = {.imageSubresource = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .layerCount = 1},
                                .imageExtent = {image->width, image->height, 1}};
    if (texels->bytes < (uint64_t)image->width * image->height * TEXEL_BYTES)
        vulkan_fail(device, "fewer texels than the texture has");
    VkCommandBuffer commands = vulkan_command(device);
    if (!commands)
        return;
    turn_into(device, commands, image, VK_IMAGE_LAYOUT_UNDEFINED, target);
    for (uint32_t layer = 0; layer < image->layers; layer++) {
        region.imageSubresource.baseArrayLayer = layer;
        device->vk.vkCmdCopyBufferToImage(commands, texels->handle, image->handle, target, 1, &region);
    }
    turn_into(device, commands, image, target, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    gpu_vulkan_wait(device);
}
