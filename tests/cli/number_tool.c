/* Gives the tests the command's way with numbers, without running the command once for each:
 *
 *   reduct_number_tool parse TYPE    for each line of standard input, the bits of the number (hexadecimal), or "bad"
 *   reduct_number_tool format TYPE   for each line, bits in hexadecimal, the text of that number
 */
#include "number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void parse_line(reduct_type type, const char *line) {
    uint64_t bits = 0;
    const char *end = line + strlen(line), *stop;
    switch (number_parse(type, line, end, &stop, &bits)) {
    case NUMBER_READ:
        printf("%" PRIx64 "\n", bits);
        break;
    case NUMBER_TOO_LARGE:
        puts("large");
        break;
    default:
        puts("bad");
    }
}

static void format_line(reduct_type type, const char *line) {
    uint64_t bits = 0;
    char text[NUMBER_TEXT];
    sscanf(line, "%" SCNx64, &bits);
    number_format(type, &bits, 0, text);
    puts(text);
}

int main(int argc, char **argv) {
    static char line[1 << 16];
    reduct_type type;
    if (argc != 3 || reduct_type_parse(argv[2], &type) != REDUCT_OK)
        return 2;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (strcmp(argv[1], "parse") == 0)
            parse_line(type, line);
        else
            format_line(type, line);
    }
    return 0;
}
