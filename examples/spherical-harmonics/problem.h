/* Why something cannot be done, in words for the user: what was found and what was expected. */
#ifndef HARMONICS_PROBLEM_H
#define HARMONICS_PROBLEM_H

#include <stdbool.h>

typedef struct problem {
    char text[400];
} problem;

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the sentence and returns false, so that whoever fails can return it. */
bool refuse(problem *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif
#endif
