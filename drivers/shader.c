/* Tables of embedded shaders: see shader.h. */
#include "drivers/shader.h"

#include <string.h>

const rd_vulkan_shader *rd_vulkan_shader_find(const rd_vulkan_shader *const *tables, const char *name) {
    for (; *tables; tables++)
        for (const rd_vulkan_shader *shader = *tables; shader->name; shader++)
            if (strcmp(shader->name, name) == 0)
                return shader;
    return NULL;
}
