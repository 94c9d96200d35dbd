/* The command line. */
#ifndef HARMONICS_OPTIONS_H
#define HARMONICS_OPTIONS_H

#include "analytic.h"
#include "dots.h"

typedef struct options {
    dots_request request;
    invalid_policy invalid;
    const char *picture;  /* file to draw to, or null */
    double exposure;      /* stops */
    uint32_t size;        /* rows of the picture, or of the map to make; 0 if not given */
    const char *expected; /* name of the analytic light that the map shows, or null */
    const char *made;     /* name of the analytic light to make a map of, or null */
    layout form;          /* of the map to make */
    bool plain;           /* compare with plain loops */
    char *const *paths;
    int path_count; /* 1 or 6 */
} options;

/* Reads the command line. Returns 0, or the exit status after saying what is wrong; --help and --usage end the program. */
int options_parse(int argc, char **argv, options *all);

#endif
