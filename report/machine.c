/* The machine as facts of a report. */
#include "report/report.h"

#include "measure/machine.h"
#include "program/sizes.h"

#include <string.h>

void report_add_machine(report *r) {
    measure_machine machine;
    char size[32], caches[128] = "";
    measure_machine_describe(&machine);
    for (int level = 1; level <= 3; level++) {
        size_t used = strlen(caches);
        if (machine.cache[level])
            snprintf(caches + used, sizeof caches - used, "%sL%d %s", used ? ", " : "", level,
                     program_size_text(machine.cache[level], size, sizeof size));
    }
    report_fact(r, "processor", "%s, %u usable", machine.processor, machine.processors);
    report_fact(r, "instructions", "%s", machine.instruction_sets);
    if (*caches)
        report_fact(r, "caches", "%s as reported", caches);
    if (machine.memory)
        report_fact(r, "memory", "%s", program_size_text(machine.memory, size, sizeof size));
    report_fact(r, "system", "%s", machine.system);
    report_fact(r, "compiler", "%s", machine.compiler);
}
