/* Fuzz target: whether bytes may be text, against the C library's UTF-8.
 *
 * text_is_plausible() looks at the beginning of a file, which may end within a character, and is lenient; so all that
 * iconv() takes must be plausible, and what is plausible stays so when its end is cut off.
 */
#include "readers/reader.h"

#include "number.h"

#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "values.h"

#define require(condition) ((condition) ? (void)0 : broken(#condition, __LINE__))

static void broken(const char *condition, int line) {
    fprintf(stderr, "text.c:%d: %s does not hold\n", line, condition);
    abort();
}

/* True for whole characters of UTF-8. */
static bool is_utf8(const uint8_t *data, size_t size) {
    static char wide[4 * FUZZ_MOST + 4];
    char *in = (char *)data, *out = wide;
    size_t left = size, room = sizeof wide;
    iconv_t conversion = iconv_open("UTF-32LE", "UTF-8");
    require(conversion != (iconv_t)-1);
    const bool good = iconv(conversion, &in, &left, &out, &room) != (size_t)-1 && left == 0;
    iconv_close(conversion);
    return good;
}

static bool has_control(const uint8_t *data, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if ((data[i] < 0x20 && !number_is_space((char)data[i])) || data[i] == 0x7f)
            return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > FUZZ_MOST)
        return 0;
    uint8_t *bytes = malloc(size + !size); /* to the byte, for the address sanitizer */
    require(bytes);
    memcpy(bytes, data, size);
    const bool plausible = text_is_plausible(bytes, size), control = has_control(bytes, size);
    require(!(plausible && control));
    require(plausible || control || !is_utf8(bytes, size));
    for (size_t cut = 1; plausible && cut <= 8 && cut <= size; cut++)
        require(text_is_plausible(bytes, size - cut));
    free(bytes);
    return 0;
}

size_t fuzz_start(uint64_t number, uint8_t *data) {
    static const char *const TEXTS[] = {"1.5 2e3\n-0x1p4\r\n",
                                        "\357\273\2771 2 3",
                                        "3,14 \xe2\x82\xac",
                                        "na\xc3\xafve",
                                        "\xf0\x9f\x98\x80 7",
                                        "\xe0\xa0\x80\xed\x9f\xbf\xf4\x8f\xbf\xbf",
                                        "\x80",
                                        "1\x7f"};
    const char *text = TEXTS[number % (sizeof TEXTS / sizeof *TEXTS)];
    memcpy(data, text, strlen(text));
    return strlen(text);
}
