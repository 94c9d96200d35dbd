/* Vulkan devices: which there are, what they offer, opening one. See vulkan.h. */
#include "gpu/vulkan_parts.h"
#include "gpu/whole.h"

#include "program/memory.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * The instance
 * ------------------------------------------------------------------------------------------------------------------ */

static bool is_validating(void) {
    const char *wish = getenv("REDUCT_VULKAN_VALIDATION");
    return wish && *wish && strcmp(wish, "0") != 0;
}

/* Every message of the validation layer is a failure of what is being done, but for the warning that it cannot check
 * something on this device (64-bit addresses where there are no 64-bit integers). */
static VKAPI_ATTR VkBool32 VKAPI_CALL hear(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                           VkDebugUtilsMessageTypeFlagsEXT type,
                                           const VkDebugUtilsMessengerCallbackDataEXT *data, void *context) {
    (void)type;
    bool about_layer = severity == VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT && data->pMessageIdName &&
                       strcmp(data->pMessageIdName, "UNASSIGNED-GPU-Assisted Validation Warning") == 0;
    if (!about_layer) {
        fprintf(stderr, "validation: %s\n", data->pMessage);
        vulkan_fail(context, "validation: %s", data->pMessage);
    }
    return VK_FALSE;
}

static VkDebugUtilsMessengerCreateInfoEXT listener(gpu_vulkan *device) {
    return (VkDebugUtilsMessengerCreateInfoEXT){.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
                                                .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                                                                   VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
                                                .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                                                               VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
                                                .pfnUserCallback = hear,
                                                .pUserData = device};
}

/* An instance; with the validation layer where that is switched on and there is a `device` to take its messages. */
static VkResult create_instance(gpu_vulkan *device, VkInstance *instance) {
    static const VkValidationFeatureEnableEXT CHECKS[] = {
        VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT,
        VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_RESERVE_BINDING_SLOT_EXT,
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    static const char *const LAYERS[] = {"VK_LAYER_KHRONOS_validation"}, *const EXTENSIONS[] = {"VK_EXT_debug_utils"};
    const VkValidationFeaturesEXT checks = {.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                            .enabledValidationFeatureCount = sizeof CHECKS / sizeof *CHECKS,
                                            .pEnabledValidationFeatures = CHECKS};
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "reduct", .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    if (device && is_validating()) {
        info.pNext = &checks;
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = LAYERS;
        info.enabledExtensionCount = 1;
        info.ppEnabledExtensionNames = EXTENSIONS;
    }
    VkResult result = vkCreateInstance(&info, NULL, instance);
    if (result != VK_SUCCESS)
        return result;
    volkLoadInstanceOnly(*instance);
    if (device && is_validating()) {
        VkDebugUtilsMessengerCreateInfoEXT listens = listener(device);
        device->facts.is_validated = true;
        result = vkCreateDebugUtilsMessengerEXT(*instance, &listens, NULL, &device->messenger);
    }
    return result;
}

/* An instance and its physical devices; their number, and 0 with a sentence in `why` if there are none. */
enum { DEVICES_MOST = 32 };
static unsigned find_devices(gpu_vulkan *device, VkInstance *instance, VkPhysicalDevice found[DEVICES_MOST], char *why,
                             size_t room) {
    uint32_t count = DEVICES_MOST;
    *instance = VK_NULL_HANDLE;
    if (volkInitialize() != VK_SUCCESS) {
        snprintf(why, room, "there is no Vulkan here: its loader, libvulkan.so.1, was not found");
        return 0;
    }
    VkResult result = create_instance(device, instance);
    if (result == VK_ERROR_LAYER_NOT_PRESENT) {
        snprintf(why, room, "REDUCT_VULKAN_VALIDATION is set, but VK_LAYER_KHRONOS_validation is not installed");
        return 0;
    }
    if (result == VK_SUCCESS)
        result = vkEnumeratePhysicalDevices(*instance, &count, found);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE) {
        const char *known = vulkan_result_text(result);
        snprintf(why, room, "there is no Vulkan device here: %s",
                 known ? known : "the loader found no driver that works");
        return 0;
    }
    if (count == 0)
        snprintf(why, room, "there is no Vulkan device here: no driver has one");
    return count;
}

unsigned gpu_vulkan_count(char *why, size_t room) {
    VkInstance instance;
    VkPhysicalDevice found[DEVICES_MOST];
    unsigned count = find_devices(NULL, &instance, found, why, room);
    if (instance)
        vkDestroyInstance(instance, NULL);
    return count;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Which device
 * ------------------------------------------------------------------------------------------------------------------ */

static bool contains(const char *text, const char *part) {
    size_t length = strlen(part);
    for (; *text; text++) {
        size_t i = 0;
        while (i < length && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
            i++;
        if (i == length)
            return true;
    }
    return false;
}

static void identify(VkPhysicalDevice physical, gpu_vulkan_facts *facts, VkPhysicalDeviceProperties *properties) {
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    vkGetPhysicalDeviceProperties(physical, properties);
    if (properties->apiVersion >= VK_API_VERSION_1_2) {
        all.pNext = &driver;
        vkGetPhysicalDeviceProperties2(physical, &all);
    }
    snprintf(facts->name, sizeof facts->name, "%s", properties->deviceName);
    snprintf(facts->driver, sizeof facts->driver, "%s%s%s", driver.driverName, *driver.driverInfo ? " " : "",
             driver.driverInfo);
    facts->api = properties->apiVersion;
    facts->is_software = properties->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
}

/* The device that is meant; false, and a sentence in `why`, if there is none. */
static bool choose(gpu_vulkan *device, const char *wanted, const VkPhysicalDevice *found, unsigned count, char *why,
                   size_t room) {
    VkPhysicalDeviceProperties properties;
    bool is_number = *wanted && strspn(wanted, "0123456789") == strlen(wanted);
    unsigned long ordinal = is_number ? strtoul(wanted, NULL, 10) : 0;
    if (is_number && ordinal >= count) {
        snprintf(why, room, "there is no vulkan:%s here: the last one is vulkan:%u", wanted, count - 1);
        return false;
    }
    int used = snprintf(why, room, "there is no Vulkan device called '%s' here; those that there are:", wanted);
    for (unsigned i = 0; i < count; i++) {
        identify(found[i], &device->facts, &properties);
        if (is_number ? i == ordinal : contains(device->facts.name, wanted) || contains(device->facts.driver, wanted)) {
            device->facts.ordinal = i;
            device->physical = found[i];
            return true;
        }
        if (used > 0 && (size_t)used < room)
            used += snprintf(why + used, room - (size_t)used, "%s vulkan:%u %s", i ? "," : "", i, device->facts.name);
    }
    return false;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What it offers
 * ------------------------------------------------------------------------------------------------------------------ */

/* Extensions that are used where they are there. */
typedef enum extension {
    ATOMIC_FLOAT,
    ATOMIC_INT64,
    FLOAT_CONTROLS,
    MEMORY_MODEL,
    SUBGROUP_SIZE,
    MAINTENANCE4,
    EXECUTABLES,
    BUDGET,
    SM_BUILTINS,
    EXTENSIONS
} extension;

static const struct {
    const char *name;
    uint32_t core; /* since when it is a part of Vulkan, 0 if it is not */
} extensions[EXTENSIONS] = {
    [ATOMIC_FLOAT] = {"VK_EXT_shader_atomic_float", 0},
    [ATOMIC_INT64] = {"VK_KHR_shader_atomic_int64", VK_API_VERSION_1_2},
    [FLOAT_CONTROLS] = {"VK_KHR_shader_float_controls", VK_API_VERSION_1_2},
    [MEMORY_MODEL] = {"VK_KHR_vulkan_memory_model", VK_API_VERSION_1_2},
    [SUBGROUP_SIZE] = {"VK_EXT_subgroup_size_control", VK_API_VERSION_1_3},
    [MAINTENANCE4] = {"VK_KHR_maintenance4", VK_API_VERSION_1_3},
    [EXECUTABLES] = {"VK_KHR_pipeline_executable_properties", 0},
    [BUDGET] = {"VK_EXT_memory_budget", 0},
    [SM_BUILTINS] = {"VK_NV_shader_sm_builtins", 0},
};

/* A device's features and properties, chained as Vulkan wants them: what the device does not know is left out. */
typedef struct offer {
    const char *listed[EXTENSIONS]; /* the extensions to switch on */
    uint32_t listed_count;
    bool has[EXTENSIONS];
    VkPhysicalDeviceFeatures2 features;
    VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomic_float;
    VkPhysicalDeviceShaderAtomicInt64Features atomic_int64;
    VkPhysicalDeviceVulkanMemoryModelFeatures memory_model;
    VkPhysicalDeviceMaintenance4Features maintenance4;
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables;
    VkPhysicalDeviceShaderSMBuiltinsFeaturesNV sm_builtins;
    VkPhysicalDeviceProperties2 properties;
    VkPhysicalDeviceSubgroupProperties subgroup;
    VkPhysicalDeviceMaintenance3Properties allocation;
    VkPhysicalDeviceFloatControlsProperties floats;
    VkPhysicalDeviceSubgroupSizeControlProperties subgroup_size;
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV sms;
} offer;

static void find_extensions(VkPhysicalDevice physical, uint32_t api, offer *o) {
    uint32_t count = 0;
    vkEnumerateDeviceExtensionProperties(physical, NULL, &count, NULL);
    VkExtensionProperties *all = program_allocate((count + 1) * sizeof *all);
    if (vkEnumerateDeviceExtensionProperties(physical, NULL, &count, all) != VK_SUCCESS)
        count = 0;
    for (int i = 0; i < EXTENSIONS; i++) {
        o->has[i] = extensions[i].core && api >= extensions[i].core;
        for (uint32_t k = 0; k < count; k++) {
            if (strcmp(all[k].extensionName, extensions[i].name) != 0)
                continue;
            o->has[i] = true;
            o->listed[o->listed_count++] = extensions[i].name;
        }
    }
    free(all);
}

/* All of Vulkan's structures that can be chained begin like this. */
static void chain(void *head, bool wanted, void *link, VkStructureType type) {
    VkBaseOutStructure *first = head, *next = link;
    if (!wanted)
        return;
    next->sType = type;
    next->pNext = first->pNext;
    first->pNext = next;
}

static void query(VkPhysicalDevice physical, uint32_t api, offer *o) {
    find_extensions(physical, api, o);
    o->features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    o->properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    void *features = &o->features, *properties = &o->properties;
    chain(features, o->has[ATOMIC_FLOAT], &o->atomic_float,
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT);
    chain(features, o->has[ATOMIC_INT64], &o->atomic_int64,
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES);
    chain(features, o->has[MEMORY_MODEL], &o->memory_model,
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES);
    chain(features, o->has[MAINTENANCE4], &o->maintenance4, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES);
    chain(features, o->has[EXECUTABLES], &o->executables,
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR);
    chain(features, o->has[SM_BUILTINS], &o->sm_builtins,
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_FEATURES_NV);
    chain(properties, true, &o->subgroup, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES);
    chain(properties, true, &o->allocation, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES);
    chain(properties, o->has[FLOAT_CONTROLS], &o->floats, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES);
    chain(properties, o->has[SUBGROUP_SIZE], &o->subgroup_size,
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES);
    chain(properties, o->has[SM_BUILTINS], &o->sms, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV);
    vkGetPhysicalDeviceFeatures2(physical, &o->features);
    vkGetPhysicalDeviceProperties2(physical, &o->properties);
}

static void describe_limits(gpu_vulkan_facts *facts, const offer *o) {
    const VkPhysicalDeviceLimits *limits = &o->properties.properties.limits;
    facts->group_most = (unsigned)gpu_least(limits->maxComputeWorkGroupInvocations, limits->maxComputeWorkGroupSize[0]);
    facts->groups_most = (unsigned)gpu_least(limits->maxComputeWorkGroupCount[0], limits->maxComputeWorkGroupCount[1]);
    facts->shared = limits->maxComputeSharedMemorySize;
    facts->range = limits->maxStorageBufferRange;
    facts->allocation = o->allocation.maxMemoryAllocationSize;
    facts->alignment = (unsigned)limits->minStorageBufferOffsetAlignment;
    facts->buffers =
        (unsigned)gpu_least(limits->maxPerStageDescriptorStorageBuffers, limits->maxDescriptorSetStorageBuffers);
    facts->push_bytes = limits->maxPushConstantsSize;
    facts->image_side = limits->maxImageDimension2D;
    facts->image_layers = limits->maxImageArrayLayers;
    facts->processors = o->sms.shaderSMCount;
    facts->processor_warps = o->sms.shaderWarpsPerSM;
    /* NVIDIA's guides: 65536 registers of 32 bits, on every architecture that has a Vulkan driver. */
    facts->registers_shared = o->has[SM_BUILTINS] ? 65536 : 0;
}

static void describe_features(gpu_vulkan_facts *facts, const offer *o) {
    VkSubgroupFeatureFlags operations =
        o->subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT ? o->subgroup.supportedOperations : 0;
    facts->subgroup = facts->subgroup_least = facts->subgroup_greatest = o->subgroup.subgroupSize;
    if (o->has[SUBGROUP_SIZE]) {
        facts->subgroup_least = o->subgroup_size.minSubgroupSize;
        facts->subgroup_greatest = o->subgroup_size.maxSubgroupSize;
    }
    facts->subgroup_arithmetic = operations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
    facts->subgroup_shuffle = operations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    facts->subgroup_shuffle_relative = operations & VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT;
    facts->subgroup_ballot = operations & VK_SUBGROUP_FEATURE_BALLOT_BIT;
    facts->subgroup_vote = operations & VK_SUBGROUP_FEATURE_VOTE_BIT;
    facts->f64 = o->features.features.shaderFloat64;
    facts->i64 = o->features.features.shaderInt64;
    facts->i64_atomics = facts->i64 && o->atomic_int64.shaderBufferInt64Atomics;
    facts->i64_shared_atomics = facts->i64 && o->atomic_int64.shaderSharedInt64Atomics;
    facts->f32_atomic_add = o->atomic_float.shaderBufferFloat32AtomicAdd;
    facts->f64_atomic_add = facts->f64 && o->atomic_float.shaderBufferFloat64AtomicAdd;
    facts->rte_f32 = o->floats.shaderRoundingModeRTEFloat32;
    facts->rte_f64 = facts->f64 && o->floats.shaderRoundingModeRTEFloat64;
    facts->denormals_f32 = o->floats.shaderDenormPreserveFloat32;
    facts->denormals_f64 = facts->f64 && o->floats.shaderDenormPreserveFloat64;
    facts->exact_specials_f32 = o->floats.shaderSignedZeroInfNanPreserveFloat32;
    facts->exact_specials_f64 = facts->f64 && o->floats.shaderSignedZeroInfNanPreserveFloat64;
    facts->local_size_id = o->maintenance4.maintenance4;
    facts->memory_model = o->memory_model.vulkanMemoryModel && o->memory_model.vulkanMemoryModelDeviceScope;
}

static void describe_memory(gpu_vulkan *device) {
    vkGetPhysicalDeviceMemoryProperties(device->physical, &device->memories);
    for (uint32_t i = 0; i < device->memories.memoryHeapCount; i++)
        if (device->memories.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT &&
            device->memories.memoryHeaps[i].size > device->facts.memory)
            device->facts.memory = device->memories.memoryHeaps[i].size;
}

/* The first family of queues that computes; -1 if none does. Those that draw as well are as good. */
static int compute_family(gpu_vulkan *device) {
    VkQueueFamilyProperties families[32];
    uint32_t count = sizeof families / sizeof *families;
    vkGetPhysicalDeviceQueueFamilyProperties(device->physical, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT))
            continue;
        unsigned bits = families[i].timestampValidBits;
        device->facts.has_timestamps = bits > 0;
        device->tick_mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
        return (int)i;
    }
    return -1;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Opening and closing
 * ------------------------------------------------------------------------------------------------------------------ */

/* What is switched on of the many old features: what shaders here use, and what the validation layer needs to watch. */
static void select_features(const gpu_vulkan *device, offer *o) {
    const VkPhysicalDeviceFeatures *has = &o->features.features;
    bool watched = device->facts.is_validated;
    o->features.features = (VkPhysicalDeviceFeatures){
        .shaderFloat64 = has->shaderFloat64,
        .shaderInt64 = has->shaderInt64,
        .fragmentStoresAndAtomics = watched && has->fragmentStoresAndAtomics,
        .vertexPipelineStoresAndAtomics = watched && has->vertexPipelineStoresAndAtomics,
    };
}

static bool open_device(gpu_vulkan *device, offer *o) {
    const float priority = 1;
    int family = compute_family(device);
    if (family < 0) {
        vulkan_fail(device, "it has no queue that computes");
        return false;
    }
    device->family = (uint32_t)family;
    select_features(device, o);
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = device->family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &o->features,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = o->listed_count,
                                     .ppEnabledExtensionNames = o->listed};
    vulkan_check(device, "vkCreateDevice", vkCreateDevice(device->physical, &info, NULL, &device->handle));
    if (!device->handle)
        return false;
    volkLoadDeviceTable(&device->vk, device->handle);
    device->vk.vkGetDeviceQueue(device->handle, device->family, 0, &device->queue);
    return !device->failed;
}

static void create_working_parts(gpu_vulkan *device) {
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = device->family};
    VULKAN_DO(device, vkCreateCommandPool, device->handle, &pool, NULL, &device->command_pool);
    const VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                  .commandPool = device->command_pool,
                                                  .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                                  .commandBufferCount = 1};
    VULKAN_DO(device, vkAllocateCommandBuffers, device->handle, &commands, &device->commands);
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VULKAN_DO(device, vkCreateFence, device->handle, &fence, NULL, &device->fence);
    const VkQueryPoolCreateInfo stamps = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, .queryType = VK_QUERY_TYPE_TIMESTAMP, .queryCount = 2};
    if (device->facts.has_timestamps)
        VULKAN_DO(device, vkCreateQueryPool, device->handle, &stamps, NULL, &device->stamps);
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, VULKAN_SETS * VULKAN_SLICES_MOST},
                                          {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, VULKAN_SETS}};
    const VkDescriptorPoolCreateInfo sets = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = VULKAN_SETS,
                                             .poolSizeCount = 2,
                                             .pPoolSizes = sizes};
    VULKAN_DO(device, vkCreateDescriptorPool, device->handle, &sets, NULL, &device->sets);
    device->staging = vulkan_buffer_create(device, VULKAN_STAGING_BYTES,
                                           VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                           VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
    void *mapped = NULL;
    if (device->staging)
        VULKAN_DO(device, vkMapMemory, device->handle, device->staging->memory, 0, VK_WHOLE_SIZE, 0, &mapped);
    device->staged = mapped;
}

gpu_vulkan *gpu_vulkan_open(const char *number_or_name, char *why, size_t room) {
    VkPhysicalDevice found[DEVICES_MOST];
    gpu_vulkan *device = program_allocate(sizeof *device);
    *device = (gpu_vulkan){0};
    unsigned count = find_devices(device, &device->instance, found, why, room);
    if (count == 0 || !choose(device, number_or_name, found, count, why, room)) {
        gpu_vulkan_close(device);
        return NULL;
    }
    offer o = {0};
    if (device->facts.api < VK_API_VERSION_1_1)
        vulkan_fail(device, "its driver is older than Vulkan 1.1, which subgroups came with");
    if (!device->failed) {
        query(device->physical, device->facts.api, &o);
        describe_limits(&device->facts, &o);
        describe_features(&device->facts, &o);
        describe_memory(device);
        device->has_budget = o.has[BUDGET];
        device->tells_registers = o.executables.pipelineExecutableInfo;
        device->seconds_per_tick = (double)o.properties.properties.limits.timestampPeriod * 1e-9;
        if (open_device(device, &o))
            create_working_parts(device);
    }
    if (!device->failed)
        return device;
    snprintf(why, room, "vulkan:%s cannot be used: %s", number_or_name, device->error);
    gpu_vulkan_close(device);
    return NULL;
}

void gpu_vulkan_close(gpu_vulkan *device) {
    if (!device)
        return;
    if (device->handle) {
        const struct VolkDeviceTable *vk = &device->vk;
        vk->vkDeviceWaitIdle(device->handle);
        gpu_vulkan_free(device, device->staging);
        vk->vkDestroyDescriptorPool(device->handle, device->sets, NULL);
        vk->vkDestroyQueryPool(device->handle, device->stamps, NULL);
        vk->vkDestroyFence(device->handle, device->fence, NULL);
        vk->vkDestroyCommandPool(device->handle, device->command_pool, NULL);
        vk->vkDestroyDevice(device->handle, NULL);
    }
    if (device->messenger)
        vkDestroyDebugUtilsMessengerEXT(device->instance, device->messenger, NULL);
    if (device->instance)
        vkDestroyInstance(device->instance, NULL);
    free(device);
}

const gpu_vulkan_facts *gpu_vulkan_describe(const gpu_vulkan *device) {
    return &device->facts;
}
