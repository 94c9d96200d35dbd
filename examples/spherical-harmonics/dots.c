/* The ways to compute dot products, and which devices are whose: see dots.h. */
#include "dots.h"

#include <string.h>

static const struct {
    const char *prefix; /* of the device's name */
    dots_way *compute;
} WAYS[] = {
    {"vulkan", dots_by_vulkan}, {"", dots_by_library}, /* all others; last */
};

bool dots(const dots_request *request, const dots_input *input, double *results, dots_used *used, problem *why) {
    size_t way = 0;
    while (strncmp(request->device, WAYS[way].prefix, strlen(WAYS[way].prefix)) != 0)
        way++;
    return WAYS[way].compute(request, input, results, used, why);
}
