/* The CUDA ladder's device: kernels, scratch memory, calls of the library, what rows say of it. */
#include "ladder/cuda_ladder.h"

#include "program/memory.h"

#include <reduct/cuda.h>

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Opening and closing
 * ------------------------------------------------------------------------------------------------------------------ */

reduct_status cuda_lab_open(cuda_lab *lab, const char *name, reduct_error *error) {
    char why[240], *end = NULL;
    unsigned long ordinal = 0;
    *lab = (cuda_lab){0};
    if (strncmp(name, "cuda:", 5) == 0) {
        ordinal = strtoul(name + 5, &end, 10);
        if (name[5] < '0' || name[5] > '9' || *end || ordinal > 1u << 16)
            return ladder_fail(error, REDUCT_ERROR_ARGUMENT, "a CUDA device is called cuda:0, cuda:1 and so on");
    } else if (strcmp(name, "cuda") != 0) {
        return ladder_fail(error, REDUCT_ERROR_ARGUMENT, "a CUDA device is called cuda:0, cuda:1 and so on");
    }
    if (!ladder_cuda_images[0].name)
        return ladder_fail(error, REDUCT_ERROR_NO_DEVICE,
                           "this build has no CUDA kernels: it was made without NVIDIA's compiler, nvcc");
    lab->device = gpu_cuda_open((unsigned)ordinal, why, sizeof why);
    if (!lab->device)
        return ladder_fail(error, REDUCT_ERROR_NO_DEVICE, "%s", why);
    lab->facts = gpu_cuda_describe(lab->device);
    snprintf(lab->name, sizeof lab->name, "cuda:%u", lab->facts->ordinal);
    lab->result = gpu_cuda_allocate(lab->device, 64);
    lab->ticket = gpu_cuda_allocate(lab->device, 4);
    gpu_cuda_fill(lab->device, lab->ticket, 0, 4);
    if (gpu_cuda_error(lab->device)) {
        ladder_fail(error, REDUCT_ERROR_DEVICE_LOST, "%s", gpu_cuda_error(lab->device));
        cuda_lab_close(lab);
        return REDUCT_ERROR_DEVICE_LOST;
    }
    return REDUCT_OK;
}

void cuda_lab_close(cuda_lab *lab) {
    reduct_plan_destroy(lab->plan);
    for (size_t i = 0; i < lab->module_count; i++)
        gpu_cuda_module_unload(lab->device, lab->modules[i].module);
    for (size_t i = 0; i < 2; i++)
        gpu_cuda_free(lab->device, lab->partials[i]);
    gpu_cuda_free(lab->device, lab->result);
    gpu_cuda_free(lab->device, lab->ticket);
    free(lab->host_partials);
    free(lab->counters);
    gpu_cuda_close(lab->device);
    *lab = (cuda_lab){0};
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Kernels and memory
 * ------------------------------------------------------------------------------------------------------------------ */

static gpu_cuda_module *module_of(cuda_lab *lab, const rd_cuda_image *image) {
    for (size_t i = 0; i < lab->module_count; i++)
        if (lab->modules[i].image == image->name)
            return lab->modules[i].module;
    gpu_cuda_module *module = gpu_cuda_module_load(lab->device, image->data);
    if (module && lab->module_count < CUDA_MODULES_MOST) {
        lab->modules[lab->module_count].image = image->name;
        lab->modules[lab->module_count++].module = module;
    }
    return module;
}

gpu_cuda_kernel cuda_lab_kernel(cuda_lab *lab, const char *image_name, const char *name, unsigned dynamic_shared,
                                char *why, size_t room) {
    gpu_cuda_kernel none = {0};
    const rd_cuda_image *image = rd_cuda_image_find(ladder_cuda_images, image_name);
    if (!image) {
        snprintf(why, room, "this build has no kernels for it");
        return none;
    }
    if (lab->facts->capability < image->least) {
        snprintf(why, room, "needs compute capability %u.%u; this device has %u.%u", image->least / 10,
                 image->least % 10, lab->facts->capability / 10, lab->facts->capability % 10);
        return none;
    }
    gpu_cuda_module *module = module_of(lab, image);
    if (!module) {
        snprintf(why, room, "%s: kernels compiled by nvcc %s, a driver for CUDA %u.%u", gpu_cuda_error(lab->device),
                 LADDER_CUDA_TOOLKIT, lab->facts->driver / 1000, lab->facts->driver % 1000 / 10);
        return none;
    }
    gpu_cuda_kernel kernel = gpu_cuda_kernel_named(lab->device, module, name, dynamic_shared);
    if (!kernel.function)
        snprintf(why, room, "%s: %s", name, gpu_cuda_error(lab->device));
    return kernel;
}

void cuda_lab_reserve(cuda_lab *lab, uint64_t bytes) {
    if (bytes <= lab->partials_bytes)
        return;
    for (size_t i = 0; i < 2; i++) {
        gpu_cuda_free(lab->device, lab->partials[i]);
        lab->partials[i] = gpu_cuda_allocate(lab->device, bytes);
    }
    lab->host_partials = program_reallocate(lab->host_partials, bytes);
    lab->partials_bytes = gpu_cuda_error(lab->device) ? 0 : bytes;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Calls of the library
 * ------------------------------------------------------------------------------------------------------------------ */

reduct_plan *cuda_plan(const char *device, reduct_operator op, reduct_type type, uint64_t n, char *why, size_t room) {
    const reduct_reduction reduction = {.op = op, .element = type};
    const reduct_plan_options options = {.reductions = &reduction,
                                         .reduction_count = 1,
                                         .shape = {.outer = 1, .n = n, .inner = 1, .stride = 1},
                                         .device = device};
    reduct_plan *plan = NULL;
    reduct_error error;
    if (reduct_plan_create(&options, &plan, &error) == REDUCT_OK)
        return plan;
    snprintf(why, room, "%s", error.message);
    return NULL;
}

void cuda_lab_execute(cuda_lab *lab, const reduct_plan *plan, uint64_t x, uint64_t y) {
    cuda_lab_execute_into(lab, plan, x, y, lab->result);
}

void cuda_lab_execute_into(cuda_lab *lab, const reduct_plan *plan, uint64_t x, uint64_t y, uint64_t result) {
    reduct_error error;
    if (!gpu_cuda_error(lab->device) &&
        reduct_cuda_execute(plan, (const void *[]){gpu_cuda_pointer(x), gpu_cuda_pointer(y)},
                            (void *[]){gpu_cuda_pointer(result)}, NULL, NULL, gpu_cuda_stream(lab->device),
                            &error) != REDUCT_OK)
        gpu_cuda_fail(lab->device, error.message);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------------------------------------------------ */

report_row cuda_row(const cuda_lab *lab, const char *group, const char *name, reduct_type type, uint64_t n) {
    return ladder_row(group, name, lab->name, "cuda", type, n);
}

void cuda_row_kernel(const cuda_lab *lab, report_row *row, const gpu_cuda_kernel *kernel, unsigned block) {
    if (!kernel->function)
        return;
    report_set(row, MEASURE_BLOCK, block);
    report_set(row, MEASURE_REGISTERS, kernel->registers);
    report_set(row, MEASURE_SHARED_BYTES, kernel->static_shared + kernel->dynamic_shared);
    report_set(row, MEASURE_OCCUPANCY, gpu_cuda_occupancy(lab->device, kernel, block));
}

void cuda_row_time(const cuda_lab *lab, report_row *row, const measure_statistics *seconds) {
    gpu_row_time(row, seconds, lab->read_limit, lab->facts->nominal);
}
