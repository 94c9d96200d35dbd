/* The parts of ladder_vulkan_check that have a file of their own. */
#ifndef LADDER_VULKAN_CHECK_H
#define LADDER_VULKAN_CHECK_H

#include "ladder/check.h"
#include "ladder/vulkan_ladder.h"

/* The exact rung, and its dot product, on data at which mistakes show, through both windows, bit for bit against the
 * library on the CPU. Prints what is wrong and counts. */
void vulkan_check_exact(vulkan_lab *lab, bool quick, check_count *count);

#endif
