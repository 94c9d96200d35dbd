/* Single elements: see element.h. */
#include "element.h"

#include <string.h>

enum type_class { CLASS_FLOAT, CLASS_SIGNED, CLASS_UNSIGNED };

static enum type_class class_of(reduct_type type) {
    switch (type) {
#define REDUCT_TYPE(ID, name, number, class, ...)                                                                      \
    case REDUCT_##ID:                                                                                                  \
        return CLASS_##class;
#include <reduct/types.def>
    default:
        return CLASS_UNSIGNED;
    }
}

/* The bits of a floating-point infinity. */
static uint64_t infinity_of(reduct_type type) {
    switch (type) {
#define REDUCT_TYPE(ID, name, number, class, bytes, precision, max_exponent, ...)                                      \
    case REDUCT_##ID:                                                                                                  \
        return (2 * (uint64_t)max_exponent + 1) << ((precision - 1) % 64);
#include <reduct/types.def>
    default:
        return 0;
    }
}

static uint64_t load(size_t bytes, const void *element) {
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (bytes) {
    case 1:
        memcpy(&u8, element, 1);
        return u8;
    case 2:
        memcpy(&u16, element, 2);
        return u16;
    case 4:
        memcpy(&u32, element, 4);
        return u32;
    default:
        memcpy(&u64, element, 8);
        return u64;
    }
}

uint64_t element_key(reduct_type type, const void *element) {
    size_t bytes = reduct_type_size(type);
    uint64_t bits = load(bytes, element), sign = (uint64_t)1 << (8 * bytes - 1), mask = sign | (sign - 1);
    switch (class_of(type)) {
    case CLASS_UNSIGNED:
        return type == REDUCT_BOOL ? bits != 0 : bits;
    case CLASS_SIGNED:
        return bits ^ sign;
    default:
        if ((bits & ~sign) > infinity_of(type))
            return 0;
        return bits & sign ? ~bits & mask : bits | sign;
    }
}

bool element_is_nan(reduct_type type, const void *element) {
    return reduct_type_is_float(type) && element_key(type, element) == 0;
}
