/* The rungs that are plain C, for each element type. */
#include "ladder/cpu/cpu.h"

#include "ladder/cpu/names.h"

#define T      int32_t
#define SUFFIX i32
#include "ladder/cpu/accumulators.h"
#include "ladder/cpu/plain.h"
CPU_SUM(plain)
CPU_SUM(accumulators)
#undef T
#undef SUFFIX

#define T      float
#define SUFFIX f32
#include "ladder/cpu/accumulators.h"
#include "ladder/cpu/kahan.h"
#include "ladder/cpu/pairwise.h"
#include "ladder/cpu/plain.h"
CPU_SUM(plain)
CPU_SUM(accumulators)
CPU_SUM(kahan)
CPU_SUM(pairwise)
#undef T
#undef SUFFIX

#define T      double
#define SUFFIX f64
#include "ladder/cpu/accumulators.h"
#include "ladder/cpu/kahan.h"
#include "ladder/cpu/pairwise.h"
#include "ladder/cpu/plain.h"
CPU_SUM(plain)
CPU_SUM(accumulators)
CPU_SUM(kahan)
CPU_SUM(pairwise)
#undef T
#undef SUFFIX

cpu_sum *const cpu_plain[CPU_TYPES] = {run_plain_i32, run_plain_f32, run_plain_f64};
cpu_sum *const cpu_accumulators[CPU_TYPES] = {run_accumulators_i32, run_accumulators_f32, run_accumulators_f64};
cpu_sum *const cpu_kahan[CPU_TYPES] = {NULL, run_kahan_f32, run_kahan_f64};
cpu_sum *const cpu_pairwise[CPU_TYPES] = {NULL, run_pairwise_f32, run_pairwise_f64};
