/* Memory of Vulkan devices: buffers, staging, arrays in pieces and copies. See vulkan.h. */
#include "gpu/vulkan_parts.h"
#include "gpu/whole.h"

#include "program/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Buffers
 * ------------------------------------------------------------------------------------------------------------------ */

/* The first type of memory among `allowed` with these properties, -1 if there is none: the driver lists the best first. */
static int memory_type(const gpu_vulkan *device, uint32_t allowed, VkMemoryPropertyFlags properties) {
    for (uint32_t i = 0; i < device->memories.memoryTypeCount; i++)
        if (allowed & UINT32_C(1) << i && (device->memories.memoryTypes[i].propertyFlags & properties) == properties)
            return (int)i;
    return -1;
}

VkDeviceMemory vulkan_allocate_memory(gpu_vulkan *device, const VkMemoryRequirements *needs,
                                      VkMemoryPropertyFlags properties, VkMemoryPropertyFlags wish) {
    VkDeviceMemory memory = VK_NULL_HANDLE;
    if (device->failed)
        return memory;
    int type = memory_type(device, needs->memoryTypeBits, properties | wish);
    if (type < 0)
        type = memory_type(device, needs->memoryTypeBits, properties);
    if (type < 0) {
        vulkan_fail(device, "the device has no memory of the kind that is needed");
        return memory;
    }
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .allocationSize = needs->size,
                                       .memoryTypeIndex = (uint32_t)type};
    VULKAN_DO(device, vkAllocateMemory, device->handle, &info, NULL, &memory);
    return memory;
}

static void back_with_memory(gpu_vulkan *device, gpu_vulkan_buffer *buffer, VkMemoryPropertyFlags properties,
                             VkMemoryPropertyFlags wish) {
    VkMemoryRequirements needs = {0};
    if (device->failed)
        return;
    device->vk.vkGetBufferMemoryRequirements(device->handle, buffer->handle, &needs);
    buffer->memory = vulkan_allocate_memory(device, &needs, properties, wish);
    VULKAN_DO(device, vkBindBufferMemory, device->handle, buffer->handle, buffer->memory, 0);
}

gpu_vulkan_buffer *vulkan_buffer_create(gpu_vulkan *device, uint64_t bytes, VkMemoryPropertyFlags properties,
                                        VkMemoryPropertyFlags wish) {
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = bytes ? (bytes + 15) / 16 * 16 : 16,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    if (device->failed)
        return NULL;
    gpu_vulkan_buffer *buffer = program_allocate(sizeof *buffer);
    *buffer = (gpu_vulkan_buffer){.bytes = info.size};
    if (info.size > device->facts.allocation)
        vulkan_fail(device, "a buffer of %llu bytes is larger than this device can have: %llu",
                    (unsigned long long)info.size, (unsigned long long)device->facts.allocation);
    VULKAN_DO(device, vkCreateBuffer, device->handle, &info, NULL, &buffer->handle);
    back_with_memory(device, buffer, properties, wish);
    device->allocated += buffer->bytes;
    if (!device->failed)
        return buffer;
    gpu_vulkan_free(device, buffer);
    return NULL;
}

gpu_vulkan_buffer *gpu_vulkan_allocate(gpu_vulkan *device, uint64_t bytes) {
    return vulkan_buffer_create(device, bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
}

void gpu_vulkan_free(gpu_vulkan *device, gpu_vulkan_buffer *buffer) {
    if (!buffer)
        return;
    gpu_vulkan_wait(device);
    device->vk.vkDestroyBuffer(device->handle, buffer->handle, NULL);
    device->vk.vkFreeMemory(device->handle, buffer->memory, NULL);
    device->allocated -= buffer->bytes;
    free(buffer);
}

/* Where the driver does not tell, half of the memory is taken to be free. */
uint64_t gpu_vulkan_free_memory(gpu_vulkan *device) {
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
                                             .pNext = device->has_budget ? &budget : NULL};
    uint64_t most = 0;
    vkGetPhysicalDeviceMemoryProperties2(device->physical, &all);
    for (uint32_t i = 0; i < device->memories.memoryHeapCount; i++) {
        if (!(device->memories.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT))
            continue;
        uint64_t ours = device->has_budget ? budget.heapBudget[i] : device->memories.memoryHeaps[i].size / 2;
        uint64_t used = device->has_budget ? budget.heapUsage[i] : device->allocated;
        if (ours > used && ours - used > most)
            most = ours - used;
    }
    return most;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Transfers
 * ------------------------------------------------------------------------------------------------------------------ */

void gpu_vulkan_copy(gpu_vulkan *device, gpu_vulkan_buffer *to, uint64_t to_at, gpu_vulkan_buffer *from,
                     uint64_t from_at, uint64_t bytes) {
    const VkBufferCopy region = {from_at, to_at, bytes};
    VkCommandBuffer commands = bytes ? vulkan_command(device) : NULL;
    if (commands)
        device->vk.vkCmdCopyBuffer(commands, from->handle, to->handle, 1, &region);
}

void gpu_vulkan_fill(gpu_vulkan *device, gpu_vulkan_buffer *buffer, uint64_t at, uint32_t word, uint64_t bytes) {
    VkCommandBuffer commands = bytes ? vulkan_command(device) : NULL;
    if (commands)
        device->vk.vkCmdFillBuffer(commands, buffer->handle, at, bytes, word);
}

void gpu_vulkan_upload(gpu_vulkan *device, gpu_vulkan_buffer *to, uint64_t at, const void *from, uint64_t bytes) {
    for (uint64_t done = 0; done < bytes && !device->failed;) {
        uint64_t part = bytes - done < VULKAN_STAGING_BYTES ? bytes - done : VULKAN_STAGING_BYTES;
        gpu_vulkan_wait(device); /* for what still reads the staging */
        memcpy(device->staged, (const unsigned char *)from + done, part);
        gpu_vulkan_copy(device, to, at + done, device->staging, 0, part);
        done += part;
    }
    gpu_vulkan_wait(device);
}

void gpu_vulkan_download(gpu_vulkan *device, void *to, gpu_vulkan_buffer *from, uint64_t at, uint64_t bytes) {
    for (uint64_t done = 0; done < bytes && !device->failed;) {
        uint64_t part = bytes - done < VULKAN_STAGING_BYTES ? bytes - done : VULKAN_STAGING_BYTES;
        gpu_vulkan_copy(device, device->staging, 0, from, at + done, part);
        gpu_vulkan_wait(device);
        if (!device->failed)
            memcpy((unsigned char *)to + done, device->staged, part);
        done += part;
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Arrays
 * ------------------------------------------------------------------------------------------------------------------ */

enum { PIECE_STEP = 256 };

/* Vulkan tells no cache's size. Three times the largest of today's data-centre GPUs, 60 MB and more. */
static const uint64_t ROTATED_BYTES = UINT64_C(192) << 20;

static uint64_t piece_limit(const gpu_vulkan *device, uint64_t piece_most) {
    uint64_t limit = gpu_least(device->facts.range, device->facts.allocation);
    if (piece_most)
        limit = gpu_least(limit, piece_most);
    return limit / PIECE_STEP * PIECE_STEP;
}

static void lay_out(gpu_vulkan *device, gpu_vulkan_input *input, bool rotate, uint64_t piece_most) {
    uint64_t limit = piece_limit(device, piece_most);
    input->stride = (input->bytes / PIECE_STEP + 1) * PIECE_STEP;
    input->piece_bytes = limit;
    input->pieces = input->bytes ? (size_t)((input->bytes - 1) / limit + 1) : 1;
    input->copies = input->copies_per_buffer = 1;
    if (rotate) {
        uint64_t room = gpu_vulkan_free_memory(device) / 2 / input->stride;
        input->copies = gpu_least(ROTATED_BYTES / input->stride + 2, room ? room : 1);
    }
    if (input->pieces == 1) /* several copies in a buffer, which must fit a binding */
        input->copies_per_buffer = gpu_least(input->copies, limit / input->stride ? limit / input->stride : 1);
    input->buffer_count = input->pieces * (size_t)((input->copies - 1) / input->copies_per_buffer + 1);
}

gpu_vulkan_input gpu_vulkan_input_create(gpu_vulkan *device, const void *from, uint64_t bytes, bool rotate,
                                         uint64_t piece_most) {
    gpu_vulkan_input input = {.bytes = bytes};
    lay_out(device, &input, rotate, piece_most);
    uint64_t most = input.pieces > 1 ? input.piece_bytes : input.copies_per_buffer * input.stride;
    input.buffers = program_allocate(input.buffer_count * sizeof(gpu_vulkan_buffer *));
    for (size_t i = 0; i < input.buffer_count; i++) {
        bool is_last = input.pieces > 1 && i % input.pieces == input.pieces - 1;
        uint64_t size = is_last ? bytes - i % input.pieces * input.piece_bytes : most;
        input.buffers[i] = gpu_vulkan_allocate(device, size);
    }
    gpu_vulkan_input_restore(device, &input, from);
    return input;
}

void gpu_vulkan_input_destroy(gpu_vulkan *device, gpu_vulkan_input *input) {
    for (size_t i = 0; i < input->buffer_count; i++)
        gpu_vulkan_free(device, input->buffers[i]);
    free(input->buffers);
    *input = (gpu_vulkan_input){0};
}

/* The first buffer: one upload, then what is there is doubled until it is full. */
static void fill_first(gpu_vulkan *device, const gpu_vulkan_input *input, const void *from) {
    gpu_vulkan_buffer *buffer = input->buffers[0];
    gpu_vulkan_upload(device, buffer, 0, from, input->bytes);
    for (uint64_t done = 1; done < input->copies_per_buffer; done *= 2)
        gpu_vulkan_copy(device, buffer, done * input->stride, buffer, 0,
                        gpu_least(input->copies_per_buffer - done, done) * input->stride);
}

void gpu_vulkan_input_restore(gpu_vulkan *device, const gpu_vulkan_input *input, const void *from) {
    if (device->failed)
        return;
    if (input->pieces == 1) {
        fill_first(device, input, from);
        for (size_t i = 1; i < input->buffer_count; i++)
            gpu_vulkan_copy(device, input->buffers[i], 0, input->buffers[0], 0, input->buffers[0]->bytes);
    } else {
        for (size_t i = 0; i < input->buffer_count; i++) {
            uint64_t at = i % input->pieces * input->piece_bytes;
            gpu_vulkan_upload(device, input->buffers[i], 0, (const unsigned char *)from + at,
                              gpu_least(input->bytes - at, input->piece_bytes));
        }
    }
    gpu_vulkan_wait(device);
}

gpu_vulkan_slice gpu_vulkan_input_piece(const gpu_vulkan_input *input, uint64_t run, size_t piece, uint64_t *bytes) {
    uint64_t copy = run % input->copies;
    gpu_vulkan_slice slice = {0};
    if (input->pieces == 1) {
        slice.buffer = input->buffers[copy / input->copies_per_buffer];
        slice.at = copy % input->copies_per_buffer * input->stride;
        *bytes = input->bytes;
    } else {
        slice.buffer = input->buffers[copy * input->pieces + piece];
        *bytes = gpu_least(input->bytes - piece * input->piece_bytes, input->piece_bytes);
    }
    slice.bytes = (*bytes + 15) / 16 * 16; /* so that a shader can see it as vectors, too */
    if (slice.bytes == 0)
        slice.bytes = 16;
    return slice;
}
