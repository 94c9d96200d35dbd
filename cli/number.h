/* Numbers and their text: correctly rounded both ways, whatever the locale.
 *
 * Behind this header stands the one C++ file of the command, because <charconv> is the only standard library that
 * promises both: from_chars() rounds correctly, and to_chars() writes the shortest text that reads back as the same
 * bits. */
#ifndef REDUCT_CLI_NUMBER_H
#define REDUCT_CLI_NUMBER_H

#include <reduct/reduct.h>

#ifdef __cplusplus
extern "C" {
#endif

enum number_status {
    NUMBER_READ,     /* and written to *value */
    NUMBER_BAD,      /* no number, or not one of this type */
    NUMBER_TOO_LARGE /* a number beyond the type's range: an integer that does not fit, a finite float that rounds to
                        infinity */
};

/* 1 if number_parse() knows the type. */
int number_can_parse(reduct_type type);

/* Reads the number that starts at `text` and ends at white space or at `end`, straight into `type`, rounding to
 * nearest, ties to even. `*stop` is set to where the number ends, or as far as one could be recognised.
 *   floats    decimal (-1.5e3), hexadecimal (0x1.8p3), inf, infinity, nan without a payload in brackets; a plus sign is accepted
 *   integers  decimal or hexadecimal (0xff)
 *   bool      0, 1, false, true, False, True */
enum number_status number_parse(reduct_type type, const char *text, const char *end, const char **stop, void *value);

/* 1 for the white space that separates numbers. */
static inline int number_is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Room for any text that number_format() writes: 78 digits of an i256, a sign and the end. */
#define NUMBER_TEXT 96

/* Writes a number of any type as text: floats as the shortest decimal that reads back to the same bits of their type,
 * integers in full; with `hex`, exactly in base 16 (as printf's %a, and as 0x...), but for bool, 0 or 1. Terminated. */
void number_format(reduct_type type, const void *value, int hex, char text[NUMBER_TEXT]);

#ifdef __cplusplus
}
#endif
#endif
