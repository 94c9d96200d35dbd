/* The CPU backend. Needs about 100 KiB of the calling thread's stack, and no workspace. */
#ifndef RD_CPU_BACKEND_H
#define RD_CPU_BACKEND_H

#include "core/backend.h"

extern const struct rd_backend rd_cpu_backend;

#endif
