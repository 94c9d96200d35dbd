/* Binary sizes, read and written. */
#include "program/sizes.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char prefixes[] = "KMGT"; /* 2^10, 2^20, 2^30, 2^40 */

static const char *read_number(const char *text, uint64_t *number) {
    if (!isdigit((unsigned char)*text))
        return NULL;
    *number = 0;
    for (; isdigit((unsigned char)*text); text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        if (*number > (UINT64_MAX - digit) / 10)
            return NULL;
        *number = *number * 10 + digit;
    }
    return text;
}

int program_size_parse(const char *text, uint64_t *size) {
    uint64_t number;
    unsigned shift = 0;
    text = read_number(text, &number);
    if (!text)
        return -1;
    if (*text == ' ' && text[1])
        text++;
    const char *prefix = *text ? strchr(prefixes, toupper((unsigned char)*text)) : NULL;
    if (prefix) {
        shift = 10 * (unsigned)(prefix - prefixes + 1);
        text++;
        if (tolower((unsigned char)*text) == 'i')
            text++;
    }
    if (toupper((unsigned char)*text) == 'B')
        text++;
    if (*text || number > UINT64_MAX >> shift)
        return -1;
    *size = number << shift;
    return 0;
}

char *program_size_text(uint64_t size, char *text, size_t room) {
    unsigned unit = 0;
    while (unit < sizeof prefixes - 1 && size >> (10 * (unit + 1)))
        unit++;
    if (unit == 0) {
        snprintf(text, room, "%llu B", (unsigned long long)size);
        return text;
    }
    char digits[32];
    snprintf(digits, sizeof digits, "%.3f", (double)size / (double)(UINT64_C(1) << (10 * unit)));
    size_t length = strlen(digits);
    while (digits[length - 1] == '0')
        length--;
    if (digits[length - 1] == '.')
        length--;
    snprintf(text, room, "%.*s %ciB", (int)length, digits, prefixes[unit - 1]);
    return text;
}
