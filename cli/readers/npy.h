/* The header of .npy files, as NumPy writes arrays:
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
#ifndef REDUCT_CLI_NPY_H
#define REDUCT_CLI_NPY_H

#include <reduct/reduct.h>

#include <stdbool.h>

/* NumPy itself stops at 64. */
#define LAYOUT_MOST 64

/* How a many-dimensional array lies in a file. */
struct layout {
    bool shaped;  /* it has a shape; otherwise it is a row of numbers whose length may not be known */
    bool fortran; /* the first index runs fastest, rather than the last, and that is not the same */
    unsigned rank;
    uint64_t shape[LAYOUT_MOST];
};

/* The index that an element would have if its array lay in C order, from its position in the file. */
uint64_t layout_index(const struct layout *layout, uint64_t position);

bool layout_same_shape(const struct layout *a, const struct layout *b);

/* Room for any shape as text. */
#define LAYOUT_TEXT 2048

/* A shape as Python writes it, such as (2, 3). Returns `text`. */
const char *layout_text(const struct layout *layout, char text[LAYOUT_TEXT]);

struct npy_header {
    reduct_type type;
    bool swap;    /* the elements have the other byte order than this machine */
    bool untyped; /* two bytes each, of which nothing says that they are the bf16 which they are taken for */
    struct layout layout;
    uint64_t count;
};

#define NPY_PROBLEM 320

/* Parses the dictionary of a header, such as {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }. Where it
 * cannot be used, returns false and says why. */
bool npy_parse(const char *text, size_t size, struct npy_header *header, char problem[NPY_PROBLEM]);

#endif
