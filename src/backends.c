/* The list of backends, devices by name, and what is made ready for them. */
#include "core/backend.h"

#include "core/status.h"
#include "cpu/backend.h"
#include "cuda/backend.h"

#include <stdio.h>
#include <string.h>

const struct rd_backend *const rd_backends[] = {&rd_cpu_backend, &rd_cuda_backend, NULL};

static reduct_status open_best(const void *example, struct rd_device *device, reduct_error *error) {
    for (size_t i = 0; example && rd_backends[i]; i++) {
        int number = rd_backends[i]->owner ? rd_backends[i]->owner(example) : -1;
        if (number < 0)
            continue;
        char text[16];
        snprintf(text, sizeof text, "%d", number);
        return rd_backends[i]->open(text, device, error);
    }
    return rd_backends[0]->open(NULL, device, error);
}

reduct_status rd_device_open(const char *name, const void *example, struct rd_device *device, reduct_error *error) {
    if (!name || !strcmp(name, "auto"))
        return open_best(example, device, error);
    for (size_t i = 0; rd_backends[i]; i++) {
        size_t length = strlen(rd_backends[i]->name);
        if (strncmp(name, rd_backends[i]->name, length))
            continue;
        if (!name[length])
            return rd_backends[i]->open(NULL, device, error);
        if (name[length] == ':')
            return rd_backends[i]->open(name + length + 1, device, error);
    }
    return rd_fail(error, REDUCT_ERROR_NO_DEVICE,
                   "device: \"%s\" is not here; this library has auto, cpu, cpu:NAME, cuda:N and cuda:all", name);
}

reduct_status rd_prepare(const reduct_reduction *reduction, const struct rd_place *place, enum rd_use use,
                         struct rd_prepared *prepared, reduct_error *error) {
    *prepared = (struct rd_prepared){.reduction = *reduction, .crew = place->crew, .use = use};
    reduct_status status = rd_device_open(place->device, place->example, &prepared->device, error);
    return status == REDUCT_OK ? prepared->device.backend->prepare(prepared, error) : status;
}

void rd_release(struct rd_prepared *prepared) {
    if (prepared->kept)
        prepared->device.backend->release(prepared);
}
