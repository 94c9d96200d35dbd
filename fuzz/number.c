/* Fuzz target: numbers from text and back.
 *
 * The first byte chooses the type, the rest is the text. What number_parse() takes, strtod(), strtof(), MPFR or GMP must take
 * too, as the same bits; what it refuses, they must refuse. Every number is then written and read back, and so are the
 * bytes of the text taken as a number themselves.
 */
#include "number.h"

#include <gmp.h>

#include <ctype.h>
#include <math.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "support.h"
#include "values.h"

#define require(condition) ((condition) ? (void)0 : broken(#condition, __LINE__))

static char token[FUZZ_MOST + 1]; /* the number alone, as a string, */
static reduct_type type;          /* and its type, for messages */

static void broken(const char *condition, int line) {
    fprintf(stderr, "number.c:%d: %s does not hold for %s '%s'\n", line, condition, reduct_type_name(type), token);
    abort();
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What the C library and GMP make of the token
 * ------------------------------------------------------------------------------------------------------------------ */

/* A number of 16 bits, rounded once by MPFR; its syntax is that of strtod(). */
static enum number_status expect_half(unsigned char value[8]) {
    char *end;
    const double wide = strtod(token, &end);
    memset(value, 0, 8);
    if (end == token || *end)
        return NUMBER_BAD;
    const struct test_type *traits = test_type(type);
    mpfr_t number;
    mpfr_init2(number, traits->precision);
    mpfr_set_emin(3 - traits->max_exponent - traits->precision);
    mpfr_set_emax(traits->max_exponent + 1);
    /* What a double has no room for, these have none for either; MPFR 4.2 takes an exponent below that of a long for a large one. */
    if (wide == 0 || isinf(wide)) {
        mpfr_set_d(number, wide, MPFR_RNDN);
    } else {
        const int ternary = mpfr_strtofr(number, token, NULL, strpbrk(token, "xX") ? 16 : 10, MPFR_RNDN);
        mpfr_subnormalize(number, ternary, MPFR_RNDN);
    }
    const bool said = strpbrk(token, "nN"), infinite = mpfr_inf_p(number);
    const uint64_t sign = signbit(wide) ? 0x8000 : 0;
    if (isnan(wide) || infinite || isinf(wide))
        values_put_bits(traits, value, 0, values_infinity(traits) | (isnan(wide) ? 1 : sign));
    else
        values_put(traits, value, 0, copysign(mpfr_get_d(number, MPFR_RNDN), wide));
    mpfr_clear(number);
    return infinite && !said ? NUMBER_TOO_LARGE : NUMBER_READ;
}

static enum number_status expect_bool(unsigned char value[8]) {
    static const char *const words[] = {"0", "1", "false", "true", "False", "True"};
    memset(value, 0, 8);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(token, words[i])) {
            value[0] = i % 2;
            return NUMBER_READ;
        }
    return NUMBER_BAD;
}

/* The value's bits, NaN being one and the same. */
static enum number_status expect_float(unsigned char value[8]) {
    char *end;
    memset(value, 0, 8);
    if (type == REDUCT_F64) {
        const double number = strtod(token, &end);
        memcpy(value, &number, sizeof number);
    } else {
        const float number = strtof(token, &end);
        memcpy(value, &number, sizeof number);
    }
    if (end == token || *end)
        return NUMBER_BAD;
    const double number = type == REDUCT_F64 ? strtod(token, NULL) : (double)strtof(token, NULL);
    const bool said = strpbrk(token, "nN"); /* inf, nan: a number in digits has no n */
    return isinf(number) && !said ? NUMBER_TOO_LARGE : NUMBER_READ;
}

static enum number_status expect_integer(unsigned char value[8]) {
    const char *digits = token + (*token == '-' || *token == '+');
    const bool hex = digits[0] == '0' && (digits[1] | 0x20) == 'x' && digits[2];
    digits += hex ? 2 : 0;
    for (const char *c = digits; *c; c++) {
        if (!(hex ? isxdigit((unsigned char)*c) : isdigit((unsigned char)*c)))
            return NUMBER_BAD;
    }
    if (!*digits)
        return NUMBER_BAD;
    const struct test_type *traits = test_type(type);
    mpz_t number, limit;
    mpz_init_set_str(number, digits, hex ? 16 : 10);
    mpz_init(limit);
    mpz_ui_pow_ui(limit, 2, (unsigned long)traits->precision); /* one more than the largest */
    if (*token == '-')
        mpz_neg(number, number);
    const bool fits =
        mpz_cmp(number, limit) < 0 && (traits->class == SIGNED ? mpz_cmpabs(number, limit) <= 0 : mpz_sgn(number) >= 0);
    mpz_ui_pow_ui(limit, 2, 64);
    mpz_mod(number, number, limit);
    const uint64_t bits = mpz_get_ui(number);
    memcpy(value, &bits, 8); /* little-endian, as all machines that these tests run on */
    mpz_clears(number, limit, (mpz_ptr)NULL);
    return fits ? NUMBER_READ : NUMBER_TOO_LARGE;
}

static enum number_status expect(unsigned char value[8]) {
    if (type == REDUCT_BOOL)
        return expect_bool(value);
    if (type == REDUCT_F16 || type == REDUCT_BF16)
        return expect_half(value);
    return reduct_type_is_float(type) ? expect_float(value) : expect_integer(value);
}

static bool is_nan(const unsigned char value[8]) {
    double number;
    float narrow;
    memcpy(&number, value, sizeof number);
    memcpy(&narrow, value, sizeof narrow);
    if (type == REDUCT_F16 || type == REDUCT_BF16)
        return isnan(values_get(test_type(type), value, 0));
    return (type == REDUCT_F64 && isnan(number)) || (type == REDUCT_F32 && isnan(narrow));
}

static bool same(const unsigned char a[8], const unsigned char b[8]) {
    return (is_nan(a) && is_nan(b)) || memcmp(a, b, reduct_type_size(type)) == 0;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Checks
 * ------------------------------------------------------------------------------------------------------------------ */

/* Text that was written reads back, all of it, as the same bits. */
static void check_written(const unsigned char value[8], int hex) {
    char text[NUMBER_TEXT];
    unsigned char back[8] = {0};
    const char *stop;
    memset(text, 'x', sizeof text);
    number_format(type, value, hex, text);
    const char *end = memchr(text, 0, sizeof text);
    require(end);
    require(number_parse(type, text, end, &stop, back) == NUMBER_READ && stop == end);
    require(same(back, value));
}

static void check_text(const char *text, const char *end) {
    unsigned char got[8] = {0}, expected[8];
    const char *stop = NULL, *after = text;
    const enum number_status status = number_parse(type, text, end, &stop, got);
    require(text <= stop && stop <= end);
    while (after < end && !number_is_space(*after))
        after++;
    const size_t length = (size_t)(after - text);
    if (length == 0 || memchr(text, 0, length)) { /* C's strings would end there */
        require(status == NUMBER_BAD);
        return;
    }
    memcpy(token, text, length);
    token[length] = 0;
    require(status == expect(expected));
    require(status == NUMBER_BAD || stop == after);
    if (status == NUMBER_READ) {
        require(same(got, expected));
        check_written(got, 0);
        check_written(got, 1);
    }
}

/* Types that cannot be read from text are written all the same. */
static void check_written_only(reduct_type wide, const uint8_t *data, size_t size) {
    unsigned char value[32] = {0};
    char text[NUMBER_TEXT];
    memcpy(value, data, size < sizeof value ? size : sizeof value);
    for (int hex = 0; hex < 2; hex++) {
        memset(text, 'x', sizeof text);
        number_format(wide, value, hex, text);
        require(memchr(text, 0, sizeof text) && *text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size > FUZZ_MOST)
        return 0;
    type = test_types[data[0] % test_type_count].type;
    const size_t length = size - 1;
    token[0] = 0;
    if (!number_can_parse(type)) {
        check_written_only(type, data + 1, length);
        return 0;
    }
    char *text = malloc(length + !length); /* to the byte, for the address sanitizer */
    require(text);
    memcpy(text, data + 1, length);
    check_text(text, text + length);
    if (length >= 8) {
        unsigned char value[8] = {0};
        memcpy(value, text, reduct_type_size(type));
        if (type == REDUCT_BOOL)
            value[0] = value[0] != 0;
        check_written(value, 0);
        check_written(value, 1);
    }
    free(text);
    return 0;
}

size_t fuzz_start(uint64_t number, uint8_t *data) {
    static const char *const NUMBERS[] = {"0",
                                          "-0.0",
                                          "1.5e3",
                                          "+0x1.8p3",
                                          "-inf",
                                          "nan",
                                          "infinity",
                                          "255",
                                          "-128",
                                          "0xff",
                                          "18446744073709551616",
                                          "-9223372036854775808",
                                          "2.2250738585072011e-308",
                                          "1.7976931348623159e308",
                                          "0x1p-1075",
                                          "0x1.fffffep-150",
                                          "7.0064923216240853546186479164495e-46",
                                          ".5 1",
                                          "0x1.fffffffffffff8p1023",
                                          "9007199254740993"};
    const char *text = NUMBERS[number / 16 % (sizeof NUMBERS / sizeof *NUMBERS)];
    data[0] = (uint8_t)(number % 16);
    memcpy(data + 1, text, strlen(text));
    return 1 + strlen(text);
}
