/* The part of DLPack's interface that is read here, https://dmlc.github.io/dlpack/latest/c_api.html, version 1.3. */
#ifndef PYREDUCT_DLPACK_H
#define PYREDUCT_DLPACK_H

#include <stdint.h>

enum { DLPACK_CPU = 1, DLPACK_CUDA = 2, DLPACK_CUDA_HOST = 3, DLPACK_CUDA_MANAGED = 13 };
enum { DLPACK_INT = 0, DLPACK_UINT = 1, DLPACK_FLOAT = 2, DLPACK_BFLOAT = 4, DLPACK_BOOL = 6 };
enum { DLPACK_MAJOR_VERSION = 1, DLPACK_MINOR_VERSION = 1, DLPACK_READ_ONLY = 1, DLPACK_IS_COPIED = 2 };

struct dlpack_tensor {
    void *data;
    struct {
        int32_t type, number;
    } device;
    int32_t rank;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } type;
    int64_t *lengths;
    int64_t *strides; /* elements; null: C order */
    uint64_t offset;  /* bytes from data to the first element */
};

/* In a capsule "dltensor". */
struct dlpack_managed {
    struct dlpack_tensor tensor;
    void *context;
    void (*release)(struct dlpack_managed *self);
};

/* In a capsule "dltensor_versioned". */
struct dlpack_versioned {
    struct {
        uint32_t major, minor;
    } version;
    void *context;
    void (*release)(struct dlpack_versioned *self);
    uint64_t flags;
    struct dlpack_tensor tensor;
};

/* In a capsule "dlpack_exchange_api" that a class has as __dlpack_c_exchange_api__. Functions return 0, or raise. */
struct dlpack_exchange {
    struct {
        uint32_t major, minor;
    } version;
    const struct dlpack_exchange *previous; /* one of an older version, or null */
    void (*unused[3])(void);
    int (*view)(void *object, struct dlpack_tensor *tensor); /* what the object owns; may be null */
    int (*stream)(int32_t device_type, int32_t device, void **current);
};

#endif
