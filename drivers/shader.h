/* Shaders that were compiled to SPIR-V when the program was built: tables that cmake/ReductVulkan.cmake makes. */
#ifndef RD_VULKAN_SHADER_H
#define RD_VULKAN_SHADER_H

#include <stddef.h>
#include <stdint.h>

typedef struct rd_vulkan_shader {
    const char *name;  /* "glsl/halving_f32", "slang/halving_f32_store": language, file, variant */
    const char *entry; /* point of entry: "main" in GLSL; a module may have several */
    const uint32_t *words;
    size_t bytes;
} rd_vulkan_shader;

/* The shader of that name in a list of tables, one per source; the list ends with a null pointer, a table with a null
 * name. Null if it is not there. */
const rd_vulkan_shader *rd_vulkan_shader_find(const rd_vulkan_shader *const *tables, const char *name);

#endif
