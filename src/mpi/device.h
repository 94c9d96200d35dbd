/* Memory of GPUs, which MPI is not asked to read: what it sends lies on the host. */
#ifndef RM_DEVICE_H
#define RM_DEVICE_H

#include <reduct/reduct.h>

#include <stdbool.h>

/* Whether memory, which may be null, is a GPU's own. */
bool rm_on_device(const void *memory);

/* Copies between memory of a GPU and the host's, and waits for it. False, and the cause in `error`, where that fails. */
bool rm_from_device(void *host, const void *device, size_t bytes, reduct_error *error);
bool rm_to_device(void *device, const void *host, size_t bytes, reduct_error *error);

#endif
