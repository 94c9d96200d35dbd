/* Work for Vulkan devices: kernels, dispatches, time. See vulkan.h. */
#include "gpu/vulkan_parts.h"

#include "measure/clock.h"
#include "program/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Kernels
 * ------------------------------------------------------------------------------------------------------------------ */

struct gpu_vulkan_kernel {
    unsigned buffers, push_bytes;
    bool has_image;
    int registers;
    VkDescriptorSetLayout set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
};

static void create_layout(gpu_vulkan *device, gpu_vulkan_kernel *kernel) {
    VkDescriptorSetLayoutBinding bindings[VULKAN_SLICES_MOST + 1];
    unsigned count = kernel->buffers + kernel->has_image;
    for (unsigned i = 0; i < count; i++)
        bindings[i] =
            (VkDescriptorSetLayoutBinding){.binding = i,
                                           .descriptorType = i < kernel->buffers ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
                                                                                 : VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
                                           .descriptorCount = 1,
                                           .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = count, .pBindings = bindings};
    VULKAN_DO(device, vkCreateDescriptorSetLayout, device->handle, &set, NULL, &kernel->set);
    const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, kernel->push_bytes};
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &kernel->set,
                                               .pushConstantRangeCount = kernel->push_bytes > 0,
                                               .pPushConstantRanges = &push};
    VULKAN_DO(device, vkCreatePipelineLayout, device->handle, &layout, NULL, &kernel->layout);
}

static void create_pipeline(gpu_vulkan *device, gpu_vulkan_kernel *kernel, const gpu_vulkan_setup *setup) {
    enum { CONSTANTS_MOST = 16 };
    VkSpecializationMapEntry entries[CONSTANTS_MOST];
    VkShaderModule module = VK_NULL_HANDLE;
    if (setup->constant_count > CONSTANTS_MOST) {
        vulkan_fail(device, "%s: more specialisation constants than %d", setup->shader->name, CONSTANTS_MOST);
        return;
    }
    for (uint32_t i = 0; i < setup->constant_count; i++)
        entries[i] = (VkSpecializationMapEntry){.constantID = i, .offset = 4 * i, .size = 4};
    const VkSpecializationInfo constants = {.mapEntryCount = setup->constant_count,
                                            .pMapEntries = entries,
                                            .dataSize = 4 * (size_t)setup->constant_count,
                                            .pData = setup->constants};
    const VkShaderModuleCreateInfo code = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = setup->shader->bytes,
                                           .pCode = setup->shader->words};
    VULKAN_DO(device, vkCreateShaderModule, device->handle, &code, NULL, &module);
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .flags = device->tells_registers ? VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR : 0,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = setup->shader->entry,
                  .pSpecializationInfo = setup->constant_count ? &constants : NULL},
        .layout = kernel->layout};
    VULKAN_DO(device, vkCreateComputePipelines, device->handle, VK_NULL_HANDLE, 1, &info, NULL, &kernel->pipeline);
    device->vk.vkDestroyShaderModule(device->handle, module, NULL);
}

/* Each driver has names of its own for its statistics: NVIDIA's is "Register Count". */
static int count_registers(gpu_vulkan *device, const gpu_vulkan_kernel *kernel) {
    enum { STATISTICS_MOST = 32 };
    VkPipelineExecutableStatisticKHR statistics[STATISTICS_MOST];
    uint32_t count = STATISTICS_MOST;
    const VkPipelineExecutableInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
                                              .pipeline = kernel->pipeline};
    if (!device->tells_registers || device->failed)
        return -1;
    for (uint32_t i = 0; i < count; i++)
        statistics[i] =
            (VkPipelineExecutableStatisticKHR){.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR};
    VkResult result = device->vk.vkGetPipelineExecutableStatisticsKHR(device->handle, &info, &count, statistics);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE)
        return -1;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(statistics[i].name, "Register Count") == 0 &&
            statistics[i].format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR)
            return (int)statistics[i].value.u64;
    return -1;
}

gpu_vulkan_kernel *gpu_vulkan_kernel_create(gpu_vulkan *device, const gpu_vulkan_setup *setup) {
    if (setup->buffers > VULKAN_SLICES_MOST || setup->buffers > device->facts.buffers)
        vulkan_fail(device, "%s: %u storage buffers are more than this device can bind", setup->shader->name,
                    setup->buffers);
    if (setup->push_bytes > device->facts.push_bytes)
        vulkan_fail(device, "%s: %u bytes of push constants are more than this device has", setup->shader->name,
                    setup->push_bytes);
    if (device->failed)
        return NULL;
    gpu_vulkan_kernel *kernel = program_allocate(sizeof *kernel);
    *kernel =
        (gpu_vulkan_kernel){.buffers = setup->buffers, .has_image = setup->has_image, .push_bytes = setup->push_bytes};
    create_layout(device, kernel);
    create_pipeline(device, kernel, setup);
    kernel->registers = count_registers(device, kernel);
    if (!device->failed)
        return kernel;
    gpu_vulkan_kernel_destroy(device, kernel);
    return NULL;
}

void gpu_vulkan_kernel_destroy(gpu_vulkan *device, gpu_vulkan_kernel *kernel) {
    if (!kernel)
        return;
    gpu_vulkan_wait(device);
    device->vk.vkDestroyPipeline(device->handle, kernel->pipeline, NULL);
    device->vk.vkDestroyPipelineLayout(device->handle, kernel->layout, NULL);
    device->vk.vkDestroyDescriptorSetLayout(device->handle, kernel->set, NULL);
    free(kernel);
}

int gpu_vulkan_kernel_registers(const gpu_vulkan_kernel *kernel) {
    return kernel->registers;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Dispatches
 * ------------------------------------------------------------------------------------------------------------------ */

/* Rows of equal length, so that the last one has as few groups too many as can be. */
void gpu_vulkan_grid(const gpu_vulkan *device, uint64_t groups, unsigned *row, unsigned *rows) {
    uint64_t most = device->facts.groups_most;
    *rows = groups ? (unsigned)((groups - 1) / most + 1) : 1;
    *row = (unsigned)((groups + *rows - 1) / *rows);
}

static VkDescriptorSet describe_bindings(gpu_vulkan *device, const gpu_vulkan_kernel *kernel,
                                         const gpu_vulkan_slice *slices, const gpu_vulkan_image *image) {
    VkDescriptorBufferInfo buffers[VULKAN_SLICES_MOST];
    VkDescriptorImageInfo texture;
    VkWriteDescriptorSet writes[VULKAN_SLICES_MOST + 1];
    VkDescriptorSet set = VK_NULL_HANDLE;
    const VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                              .descriptorPool = device->sets,
                                              .descriptorSetCount = 1,
                                              .pSetLayouts = &kernel->set};
    if (!VULKAN_DO(device, vkAllocateDescriptorSets, device->handle, &info, &set))
        return VK_NULL_HANDLE;
    device->sets_used++;
    for (unsigned i = 0; i < kernel->buffers; i++) {
        if (slices[i].bytes > device->facts.range) {
            vulkan_fail(device, "a slice of %llu bytes is more than this device can bind: %llu",
                        (unsigned long long)slices[i].bytes, (unsigned long long)device->facts.range);
            return VK_NULL_HANDLE;
        }
        buffers[i] = (VkDescriptorBufferInfo){slices[i].buffer->handle, slices[i].at, slices[i].bytes};
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = set,
                                           .dstBinding = i,
                                           .descriptorCount = 1,
                                           .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                           .pBufferInfo = &buffers[i]};
    }
    if (kernel->has_image) {
        texture =
            (VkDescriptorImageInfo){.imageView = image->view, .imageLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
        writes[kernel->buffers] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                                         .dstSet = set,
                                                         .dstBinding = kernel->buffers,
                                                         .descriptorCount = 1,
                                                         .descriptorType = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
                                                         .pImageInfo = &texture};
    }
    device->vk.vkUpdateDescriptorSets(device->handle, kernel->buffers + kernel->has_image, writes, 0, NULL);
    return set;
}

void gpu_vulkan_dispatch(gpu_vulkan *device, gpu_vulkan_kernel *kernel, uint64_t groups, const gpu_vulkan_slice *slices,
                         const void *push) {
    gpu_vulkan_dispatch_with_image(device, kernel, groups, slices, NULL, push);
}

void gpu_vulkan_dispatch_with_image(gpu_vulkan *device, gpu_vulkan_kernel *kernel, uint64_t groups,
                                    const gpu_vulkan_slice *slices, const gpu_vulkan_image *image, const void *push) {
    const struct VolkDeviceTable *vk = &device->vk;
    unsigned row, rows;
    if (groups / device->facts.groups_most >= device->facts.groups_most)
        vulkan_fail(device, "%llu groups are more than this device can dispatch", (unsigned long long)groups);
    if (kernel->has_image && !image)
        vulkan_fail(device, "a kernel that reads a texture is dispatched without one");
    if (groups == 0 || device->failed)
        return;
    gpu_vulkan_grid(device, groups, &row, &rows);
    if (device->sets_used == VULKAN_SETS || device->recorded == VULKAN_RECORDED_MOST)
        gpu_vulkan_wait(device); /* before the set is made: a wait frees all sets */
    VkDescriptorSet set = describe_bindings(device, kernel, slices, image);
    VkCommandBuffer commands = vulkan_command(device);
    if (!commands)
        return;
    vk->vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
    vk->vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->layout, 0, 1, &set, 0, NULL);
    if (kernel->push_bytes)
        vk->vkCmdPushConstants(commands, kernel->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, kernel->push_bytes, push);
    vk->vkCmdDispatch(commands, row, rows, 1);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Time
 * ------------------------------------------------------------------------------------------------------------------ */

static void stamp(gpu_vulkan *device, uint32_t which) {
    VkCommandBuffer commands = vulkan_command(device);
    if (!commands || !device->facts.has_timestamps)
        return;
    if (which == 0)
        device->vk.vkCmdResetQueryPool(commands, device->stamps, 0, 2);
    device->vk.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, device->stamps, which);
}

static double time_runs(gpu_vulkan *device, gpu_vulkan_work *work, void *context, uint64_t *run, uint64_t runs) {
    uint64_t ticks[2] = {0};
    gpu_vulkan_wait(device);
    double started = measure_seconds();
    stamp(device, 0);
    for (uint64_t i = 0; i < runs && !device->failed; i++)
        work(context, (*run)++);
    stamp(device, 1);
    gpu_vulkan_wait(device);
    double seconds = measure_seconds() - started;
    if (device->facts.has_timestamps) {
        VULKAN_DO(device, vkGetQueryPoolResults, device->handle, device->stamps, 0, 2, sizeof ticks, ticks,
                  sizeof *ticks, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
        seconds = (double)((ticks[1] - ticks[0]) & device->tick_mask) * device->seconds_per_tick;
    }
    return seconds / (double)runs;
}

measure_statistics gpu_vulkan_time(gpu_vulkan *device, gpu_vulkan_work *work, void *context, unsigned rounds) {
    enum { ROUNDS_MOST = 1000, RUNS_MOST = 4096 };
    const double sample = 1e-3;
    double seconds[ROUNDS_MOST];
    uint64_t run = 0, runs = 1;
    if (rounds > ROUNDS_MOST)
        rounds = ROUNDS_MOST;
    /* Trials that double until a sample is long enough warm up. A device whose clock stands still must not hang. */
    time_runs(device, work, context, &run, 1);
    while (!device->failed && runs < RUNS_MOST && time_runs(device, work, context, &run, runs) * (double)runs < sample)
        runs *= 2;
    for (unsigned i = 0; i < rounds && !device->failed; i++)
        seconds[i] = time_runs(device, work, context, &run, runs);
    return device->failed ? (measure_statistics){0} : measure_summarise(seconds, rounds);
}
