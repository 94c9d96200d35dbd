/* The machine that was measured on. */
#ifndef MEASURE_MACHINE_H
#define MEASURE_MACHINE_H

#include <stdint.h>
#include <stdio.h>

typedef struct measure_machine {
    char processor[128];
    char instruction_sets[64]; /* those that matter here: "sse2 avx2 fma avx512f" */
    char compiler[96];         /* that built this program, with the build type */
    char system[160];          /* kernel, its version, architecture */
    char date[24];             /* of today, "2025-01-31 12:00 UTC" */
    unsigned processors;       /* that this process may run on */
    uint64_t cache[4];         /* bytes of the data cache of level 1, 2, 3 at [1], [2], [3]; 0 where not known */
    uint64_t memory;           /* bytes of main memory; 0 where not known */
} measure_machine;

/* Describes the machine that this runs on. What cannot be found out is "unknown" or 0. */
void measure_machine_describe(measure_machine *machine);

/* Prints a description, one line per fact. */
void measure_machine_print(const measure_machine *machine, FILE *stream);

#endif
