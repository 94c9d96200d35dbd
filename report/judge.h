/* Judging results: what an error is, and which word is said of it, for every program that measures.
 *
 * An error is the distance from the exact, infinitely precise value, in units in the last place of the result type at
 * that value. A correctly rounded result is at most 0.5 off. */
#ifndef REPORT_JUDGE_H
#define REPORT_JUDGE_H

#include "report/report.h"

#include <reduct/reduct.h>

/* A result of a floating-point or an integer type. */
typedef union judge_value {
    unsigned char bytes[32];
    float f32;
    double f64;
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
} judge_value;

/* The exact value of a reduction: the result, correctly rounded to its type, and what the rounding took off. */
typedef struct judge_exact {
    reduct_type type;
    judge_value value;
    double rest; /* the exact value less `value`, to the precision of f64; 0 for integers, NaN if not known */
} judge_exact;

/* Finds the rest, where type and value are set to the exact result of `op` over `n` elements on the host (`y` for dot,
 * otherwise null). Not known of what leaves the range of its type, and of products of f64. Returns REDUCT_OK, or why the
 * library could not work it out. */
reduct_status judge_find_rest(judge_exact *exact, reduct_operator op, reduct_type element, const void *x, const void *y,
                              uint64_t n);

typedef struct judge_finding {
    report_verdict verdict;
    double ulp; /* the error; negative for integers, and where it is not known */
    char expected[48], got[48];
} judge_finding;

/* Right: the same bits. Else within the bound, where the distance from the exact value is at most `bound` (0 for what must
 * be exact); else wrong; or unchecked, where the bound is infinite. */
judge_finding judge_result(const judge_exact *exact, const void *result, double bound);

/* Puts a finding into a row. */
void judge_fill(report_row *row, const judge_finding *finding);

/* A number of a type as text: for floats the fewest digits that read back. Returns `text`. */
char *judge_text(reduct_type type, const void *value, char *text, size_t room);

/* The same as f64, rounded. */
double judge_real(reduct_type type, const void *value);

/* The distance from a float of a type, of the size of `value`, to the next. */
double judge_unit(reduct_type type, double value);

/* The unit roundoff of a floating-point type: half the distance from 1 to the next number. */
double judge_roundoff(reduct_type type);

#endif
