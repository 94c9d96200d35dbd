/* Machine description, from Linux's /proc, sysconf and the compiler's own macros. */
#include "measure/machine.h"

#include "program/sizes.h"

#include <sched.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void find_processor(char *name, size_t room) {
    snprintf(name, room, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file)
        return;
    char line[512];
    while (fgets(line, sizeof line, file)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(name, room, "%s", value + 1 + strspn(value + 1, " "));
        break;
    }
    fclose(file);
}

static void find_instruction_sets(char *names, size_t room) {
    snprintf(names, room, "unknown");
#if defined(__x86_64__)
    __builtin_cpu_init();
    snprintf(names, room, "sse2%s%s%s%s%s", __builtin_cpu_supports("avx2") ? " avx2" : "",
             __builtin_cpu_supports("fma") ? " fma" : "", __builtin_cpu_supports("avx512f") ? " avx512f" : "",
             __builtin_cpu_supports("avx512dq") ? " avx512dq" : "",
             __builtin_cpu_supports("avx512bw") ? " avx512bw" : "");
#elif defined(__aarch64__)
    snprintf(names, room, "neon");
#endif
}

static unsigned find_processors(void) {
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

static uint64_t ask(int name) {
    long answer = sysconf(name);
    return answer > 0 ? (uint64_t)answer : 0;
}

void measure_machine_describe(measure_machine *machine) {
    *machine = (measure_machine){0};
    find_processor(machine->processor, sizeof machine->processor);
    find_instruction_sets(machine->instruction_sets, sizeof machine->instruction_sets);
    machine->processors = find_processors();
    machine->memory = ask(_SC_PHYS_PAGES) * ask(_SC_PAGESIZE);
#ifdef _SC_LEVEL1_DCACHE_SIZE
    machine->cache[1] = ask(_SC_LEVEL1_DCACHE_SIZE);
    machine->cache[2] = ask(_SC_LEVEL2_CACHE_SIZE);
    machine->cache[3] = ask(_SC_LEVEL3_CACHE_SIZE);
#endif
#if defined(__clang__)
    snprintf(machine->compiler, sizeof machine->compiler, "clang %s, %s", __clang_version__, REDUCT_BUILD_TYPE);
#else
    snprintf(machine->compiler, sizeof machine->compiler, "gcc %s, %s", __VERSION__, REDUCT_BUILD_TYPE);
#endif
    struct utsname name;
    snprintf(machine->system, sizeof machine->system, "unknown");
    if (uname(&name) == 0)
        snprintf(machine->system, sizeof machine->system, "%.40s %.80s %.30s", name.sysname, name.release,
                 name.machine);
    time_t now = time(NULL);
    struct tm calendar;
    gmtime_r(&now, &calendar);
    strftime(machine->date, sizeof machine->date, "%Y-%m-%d %H:%M UTC", &calendar);
}

void measure_machine_print(const measure_machine *machine, FILE *stream) {
    char size[4][32];
    for (int level = 1; level <= 3; level++) {
        if (machine->cache[level])
            program_size_text(machine->cache[level], size[level], sizeof size[level]);
        else
            snprintf(size[level], sizeof size[level], "unknown");
    }
    fprintf(stream, "processor  %s, %u usable\n", machine->processor, machine->processors);
    fprintf(stream, "sets       %s\n", machine->instruction_sets);
    fprintf(stream, "caches     L1 %s, L2 %s, L3 %s as reported\n", size[1], size[2], size[3]);
    fprintf(stream, "memory     %s\n", program_size_text(machine->memory, size[0], sizeof size[0]));
    fprintf(stream, "system     %s\n", machine->system);
    fprintf(stream, "compiler   %s\n", machine->compiler);
    fprintf(stream, "date       %s\n", machine->date);
}
