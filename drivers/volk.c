/* volk's functions, which open Vulkan's loader at run time; the code is volk's own. */
#define VOLK_IMPLEMENTATION
#include <volk.h>
