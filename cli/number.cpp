/* Numbers and their text, over <charconv>: see number.h. The only C++ of the command; nothing here throws or allocates.
 */
#include "number.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace {

/* ---------------------------------------------------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------------------------------------------------ */

struct unsigned_text {
    const char *digits; /* after the sign and the 0x */
    bool negative;
    bool hex;
};

unsigned_text strip_prefix(const char *text, const char *end) {
    unsigned_text result = {text, false, false};
    if (text < end && (*text == '-' || *text == '+')) {
        result.negative = *text == '-';
        result.digits = ++text;
    }
    if (end - text >= 3 && text[0] == '0' && (text[1] | 0x20) == 'x') {
        result.hex = true;
        result.digits = text + 2;
    }
    return result;
}

/* The exponent of a number's leading digit, as if the point stood before that: of 10 or, in base 16, of 2. */
long long leading_exponent(const char *text, const char *end, bool hex) {
    long long position = 0; /* of the leading digit: 1 for the last one before the point, 0 for the first one after */
    bool point = false, leading = false;
    for (; text < end && (*text | 0x20) != (hex ? 'p' : 'e'); text++) {
        if (*text == '.') {
            point = true;
        } else {
            leading = leading || *text != '0';
            if (leading && !point)
                position++;
            else if (!leading && point)
                position--;
        }
    }
    long long exponent = 0;
    if (text < end) {
        text++;
        bool negative = text < end && *text == '-';
        if (text < end && (*text == '-' || *text == '+'))
            text++;
        for (; text < end && exponent < 1000000000000; text++)
            exponent = exponent * 10 + (*text - '0');
        exponent = negative ? -exponent : exponent;
    }
    return position * (hex ? 4 : 1) + exponent;
}

/* In base 16, libstdc++ takes an exponent with two signs, "p+-3". */
bool has_two_signs(const char *text, const char *end) {
    while (text < end && (*text | 0x20) != 'p')
        text++;
    return end - text > 2 && text[1] == '+' && text[2] == '-';
}

template <class T> number_status parse_float(const char *text, const char *end, const char **stop, void *value) {
    unsigned_text number = strip_prefix(text, end);
    *stop = number.digits;
    /* from_chars() takes a sign of its own, and words in base 16 too. */
    if (number.digits == end || *number.digits == '-' ||
        (number.hex && *number.digits != '.' && !std::strchr("0123456789abcdefABCDEF", *number.digits)))
        return NUMBER_BAD;
    T parsed = 0;
    std::from_chars_result result =
        std::from_chars(number.digits, end, parsed, number.hex ? std::chars_format::hex : std::chars_format::general);
    *stop = result.ptr;
    if (number.hex && has_two_signs(number.digits, result.ptr))
        return NUMBER_BAD;
    if (std::isnan(parsed) && result.ptr[-1] == ')') /* nan(0x1): a payload would be lost */
        return NUMBER_BAD;
    if (result.ec == std::errc::result_out_of_range) {
        /* Too large, or rounded to zero: hundreds of orders of magnitude apart. */
        if (leading_exponent(number.digits, result.ptr, number.hex) >= 0)
            return NUMBER_TOO_LARGE;
        parsed = 0;
    } else if (result.ec != std::errc()) {
        return NUMBER_BAD;
    }
    if (number.negative)
        parsed = -parsed;
    std::memcpy(value, &parsed, sizeof parsed);
    return NUMBER_READ;
}

/* A floating-point format of 16 bits. */
struct half_format {
    int fraction_bits;
    unsigned infinity;
};

/* The digits of a positive number of at most 12 bits, from the exponent of its leading digit on. In base 16 that of the text is
 * taken, and the number of digits before that one is returned in its place, which for the same number is none. */
long long write_digits(double value, bool hex, long long text_exponent, char digits[256]) {
    if (!hex) {
        char text[256]; /* 134 places suffice for the smallest midpoint of bfloat16 */
        std::snprintf(text, sizeof text, "%.160e", value);
        digits[0] = text[0];
        std::memcpy(digits + 1, text + 2, 160);
        digits[161] = 0;
        return std::strtol(text + 163, nullptr, 10) + 1;
    }
    double rest = std::ldexp(value, static_cast<int>(-text_exponent));
    if (rest >= 1)
        return text_exponent + 1;
    int count = 0;
    for (; rest != 0; rest -= std::floor(rest)) {
        rest *= 16;
        digits[count++] = "0123456789abcdef"[static_cast<int>(rest)];
    }
    digits[count] = 0;
    return text_exponent;
}

/* The sign of what the text says less `value`, which is that rounded to a double. */
int compare_with(const char *text, const char *end, bool hex, double value) {
    char digits[256];
    long long exponent = leading_exponent(text, end, hex), other = write_digits(value, hex, exponent, digits);
    if (exponent != other)
        return exponent < other ? -1 : 1;
    const char *digit = digits;
    bool leading = false;
    for (; text < end && (*text | 0x20) != (hex ? 'p' : 'e'); text++) {
        leading = leading || (*text != '0' && *text != '.');
        if (*text == '.' || !leading)
            continue;
        int expected = *digit ? *digit++ : '0', found = *text > '9' ? *text | 0x20 : *text;
        if (found != expected)
            return found < expected ? -1 : 1;
    }
    return std::strspn(digit, "0") == std::strlen(digit) ? 0 : -1;
}

/* The magnitude of a number of 16 bits nearest to a double that is not negative; halfway between two of them the sign of what
 * rounding to the double has taken off decides, and if that is nothing, the even one. */
template <class Sign> unsigned round_to_half(half_format format, double value, Sign excess) {
    int exponent = 0,
        least = 2 - (1 << (14 - format.fraction_bits)) - format.fraction_bits; /* of the smallest number */
    std::frexp(value, &exponent);
    int unit = exponent - 1 - format.fraction_bits;
    unit = unit < least || value == 0 ? least : unit;
    double units = std::ldexp(value, -unit), below = std::floor(units);
    unsigned magnitude = (static_cast<unsigned>(unit - least) << format.fraction_bits) + static_cast<unsigned>(below);
    if (units - below != 0.5)
        return magnitude + (units - below > 0.5);
    int sign = excess();
    return magnitude + (sign > 0 || (sign == 0 && magnitude % 2));
}

template <unsigned INFINITE>
number_status parse_half(const char *text, const char *end, const char **stop, void *value) {
    const half_format format = {INFINITE == 0x7c00 ? 10 : 7, INFINITE};
    double wide = 0;
    number_status status = parse_float<double>(text, end, stop, &wide);
    if (status != NUMBER_READ)
        return status;
    double size = std::fabs(wide);
    unsigned magnitude = format.infinity;
    if (std::isnan(wide)) {
        magnitude |= 1u << (format.fraction_bits - 1);
    } else if (!std::isinf(wide)) {
        unsigned_text number = strip_prefix(text, *stop);
        magnitude = size >= std::ldexp(1, 130) ? format.infinity : round_to_half(format, size, [&] {
            return compare_with(number.digits, *stop, number.hex, size);
        });
        if (magnitude >= format.infinity)
            return NUMBER_TOO_LARGE;
    }
    uint16_t bits = static_cast<uint16_t>(magnitude | (std::signbit(wide) ? 0x8000u : 0));
    std::memcpy(value, &bits, sizeof bits);
    return NUMBER_READ;
}

/* 0, 1, false or true, of which the words may begin with a capital. */
number_status parse_bool(const char *text, const char *end, const char **stop, void *value) {
    static const char *const WORDS[] = {"0", "1", "false", "true", "False", "True"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        size_t length = std::strlen(WORDS[i]);
        if (static_cast<size_t>(end - text) < length || std::memcmp(text, WORDS[i], length) != 0)
            continue;
        *stop = text + length;
        *static_cast<uint8_t *>(value) = i % 2;
        return NUMBER_READ;
    }
    return NUMBER_BAD;
}

template <class T> number_status parse_integer(const char *text, const char *end, const char **stop, void *value) {
    unsigned_text number = strip_prefix(text, end);
    uint64_t magnitude = 0;
    std::from_chars_result result = std::from_chars(number.digits, end, magnitude, number.hex ? 16 : 10);
    *stop = result.ptr;
    if (result.ec == std::errc::invalid_argument)
        return NUMBER_BAD;
    uint64_t largest = std::numeric_limits<T>::max();
    if (number.negative)
        largest = std::numeric_limits<T>::is_signed ? largest + 1 : 0;
    if (result.ec == std::errc::result_out_of_range || magnitude > largest)
        return NUMBER_TOO_LARGE;
    T parsed = static_cast<T>(number.negative ? 0 - magnitude : magnitude);
    std::memcpy(value, &parsed, sizeof parsed);
    return NUMBER_READ;
}

using parser = number_status (*)(const char *, const char *, const char **, void *);

parser parser_of(reduct_type type) {
    switch (type) {
    case REDUCT_F64:
        return parse_float<double>;
    case REDUCT_F32:
        return parse_float<float>;
    case REDUCT_F16:
        return parse_half<0x7c00>;
    case REDUCT_BF16:
        return parse_half<0x7f80>;
    case REDUCT_BOOL:
        return parse_bool;
    case REDUCT_I8:
        return parse_integer<int8_t>;
    case REDUCT_I16:
        return parse_integer<int16_t>;
    case REDUCT_I32:
        return parse_integer<int32_t>;
    case REDUCT_I64:
        return parse_integer<int64_t>;
    case REDUCT_U8:
        return parse_integer<uint8_t>;
    case REDUCT_U16:
        return parse_integer<uint16_t>;
    case REDUCT_U32:
        return parse_integer<uint32_t>;
    case REDUCT_U64:
        return parse_integer<uint64_t>;
    default:
        return nullptr;
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Writing
 * ------------------------------------------------------------------------------------------------------------------ */

void terminate(std::to_chars_result result) {
    *result.ptr = 0;
}

/* A number of a 16-bit format by its magnitude (the bits without the sign). The next magnitude up is the next number,
 * one past the largest counting as the power of two that would follow it. */
double widen(unsigned magnitude, int fraction_bits) {
    int maximum = (1 << (15 - fraction_bits)) - 1; /* the exponent field of infinity and NaN */
    int bias = maximum / 2;
    int exponent = static_cast<int>(magnitude >> fraction_bits);
    double fraction = magnitude & ((1u << fraction_bits) - 1);
    if (exponent == 0)
        return std::ldexp(fraction, 1 - bias - fraction_bits);
    if (exponent == maximum && fraction != 0)
        return std::numeric_limits<double>::quiet_NaN();
    return std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

/* The shortest decimal that rounds to this number of a 16-bit format, of those the nearest. Five digits always suffice,
 * and a decimal of five digits is its own shortest text as a double. Below a power of two the numbers lie closer, so
 * that the decimal next to the nearest one may be the one that reads back. */
double shortest_16(unsigned magnitude, int fraction_bits) {
    double value = widen(magnitude, fraction_bits);
    double above = (value + widen(magnitude + 1, fraction_bits)) / 2;
    double below = magnitude == 0 ? 0 : (value + widen(magnitude - 1, fraction_bits)) / 2;
    bool even = magnitude % 2 == 0;
    double best = std::numeric_limits<double>::infinity();
    for (int digits = 1; digits <= 5 && std::isinf(best); digits++) {
        int exponent = magnitude == 0 ? 0 : static_cast<int>(std::floor(std::log10(value))) - digits + 1;
        double rounded = std::floor(value / std::pow(10.0, exponent));
        for (double candidate = rounded - 1; candidate <= rounded + 2; candidate++) {
            char text[32];
            std::snprintf(text, sizeof text, "%.0fe%d", candidate, exponent);
            double decimal = 0;
            std::from_chars(text, text + std::strlen(text), decimal);
            bool inside = even ? below <= decimal && decimal <= above : below < decimal && decimal < above;
            if (inside && std::fabs(decimal - value) < std::fabs(best - value))
                best = decimal;
        }
    }
    return best;
}

void write_shortest_16(unsigned magnitude, int fraction_bits, char *text, char *end) {
    terminate(std::to_chars(text, end, shortest_16(magnitude, fraction_bits)));
    if (!std::strpbrk(text, ".e")) /* a whole number in full: as to_chars() does, with all of its digits */
        terminate(std::to_chars(text, end, widen(magnitude, fraction_bits), std::chars_format::fixed));
}

void format_16(half_format format, uint16_t bits, bool hex, char *text) {
    unsigned magnitude = bits & 0x7fffu;
    char *end = text + NUMBER_TEXT - 1;
    if (magnitude > format.infinity) {
        std::strcpy(text, "nan");
        return;
    }
    if (bits >> 15)
        *text++ = '-';
    if (magnitude == format.infinity)
        std::strcpy(text, "inf");
    else if (hex)
        std::snprintf(text, static_cast<size_t>(end - text), "%a", widen(magnitude, format.fraction_bits));
    else
        write_shortest_16(magnitude, format.fraction_bits, text, end);
}

template <class T> void format_float(T value, bool hex, char *text) {
    if (std::isnan(value))
        std::strcpy(text, "nan");
    else if (hex)
        std::snprintf(text, NUMBER_TEXT, "%a", static_cast<double>(value));
    else
        terminate(std::to_chars(text, text + NUMBER_TEXT - 1, value));
}

/* An integer of `size` bytes, native byte order within its 64-bit words, sign-extended to 256 bits. */
reduct_i256 load_integer(const void *value, size_t size, bool is_signed) {
    reduct_i256 wide = {{0, 0, 0, 0}};
    size_t words = size <= 8 ? 1 : size / 8;
    if (size == 1) {
        uint8_t byte;
        std::memcpy(&byte, value, 1);
        wide.word[0] = byte;
    } else if (size == 2) {
        uint16_t pair;
        std::memcpy(&pair, value, 2);
        wide.word[0] = pair;
    } else if (size == 4) {
        uint32_t quad;
        std::memcpy(&quad, value, 4);
        wide.word[0] = quad;
    } else {
        std::memcpy(wide.word, value, size);
    }
    unsigned top_bit = static_cast<unsigned>(size < 8 ? size * 8 - 1 : 63);
    if (!is_signed || !(wide.word[words - 1] >> top_bit & 1))
        return wide;
    if (top_bit < 63)
        wide.word[0] |= ~uint64_t(0) << top_bit;
    for (; words < 4; words++)
        wide.word[words] = ~uint64_t(0);
    return wide;
}

/* Divides a magnitude by a divisor below 2^32; the remainder. */
unsigned divide(reduct_i256 *magnitude, unsigned divisor) {
    uint64_t remainder = 0;
    for (int i = 3; i >= 0; i--) {
        uint64_t high = remainder << 32 | magnitude->word[i] >> 32;
        uint64_t low = (high % divisor) << 32 | (magnitude->word[i] & 0xffffffffu);
        magnitude->word[i] = high / divisor << 32 | low / divisor;
        remainder = low % divisor;
    }
    return static_cast<unsigned>(remainder);
}

void format_integer(reduct_i256 value, bool negative, bool hex, char *text) {
    if (negative) {
        *text++ = '-';
        uint64_t carry = 1;
        for (uint64_t &word : value.word) {
            word = ~word + carry;
            carry = carry && word == 0;
        }
    }
    if (hex) {
        *text++ = '0';
        *text++ = 'x';
    }
    char digits[NUMBER_TEXT];
    size_t count = 0;
    do {
        digits[count++] = "0123456789abcdef"[divide(&value, hex ? 16 : 10)];
    } while (value.word[0] | value.word[1] | value.word[2] | value.word[3]);
    while (count > 0)
        *text++ = digits[--count];
    *text = 0;
}

} // namespace

int number_can_parse(reduct_type type) {
    return parser_of(type) != nullptr;
}

enum number_status number_parse(reduct_type type, const char *text, const char *end, const char **stop, void *value) {
    parser parse = parser_of(type);
    *stop = text;
    number_status status = parse ? parse(text, end, stop, value) : NUMBER_BAD;
    if (status != NUMBER_BAD && *stop != end && !number_is_space(**stop))
        return NUMBER_BAD;
    return status;
}

void number_format(reduct_type type, const void *value, int hex, char text[NUMBER_TEXT]) {
    if (type == REDUCT_F64) {
        double number;
        std::memcpy(&number, value, sizeof number);
        format_float(number, hex, text);
    } else if (type == REDUCT_F32) {
        float number;
        std::memcpy(&number, value, sizeof number);
        format_float(number, hex, text);
    } else if (type == REDUCT_F16 || type == REDUCT_BF16) {
        uint16_t bits;
        std::memcpy(&bits, value, sizeof bits);
        format_16(type == REDUCT_F16 ? half_format{10, 0x7c00} : half_format{7, 0x7f80}, bits, hex, text);
    } else {
        reduct_type unsigned_types[] = {REDUCT_U8, REDUCT_U16, REDUCT_U32, REDUCT_U64, REDUCT_U128, REDUCT_BOOL};
        bool is_signed = true;
        for (reduct_type candidate : unsigned_types)
            is_signed = is_signed && type != candidate;
        reduct_i256 wide = load_integer(value, reduct_type_size(type), is_signed);
        if (type == REDUCT_BOOL) {
            wide.word[0] = wide.word[0] != 0;
            hex = 0;
        }
        format_integer(wide, is_signed && wide.word[3] >> 63, hex, text);
    }
}
