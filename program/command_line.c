/* Command lines: see command_line.h. Nothing here allocates memory, so that help works without any. */
#include "program/command_line.h"

#include <assert.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The most options that a table may have, with the standard ones. */
enum { OPTIONS_MOST = 64 };

/* The key of the standard option that has no character. */
enum { USAGE = 0x10000 };

/* Columns of the help. */
enum { SHORT_AT = 2, LONG_AT = 6, TEXT_AT = 29, USAGE_AT = 12, WIDTH = 79 };

static const program_option STANDARD[] = {{"help", 'h', NULL, "Give this help list"},
                                          {"usage", USAGE, NULL, "Give a short usage message"},
                                          {"version", 'V', NULL, "Print program version"},
                                          {0}};

static bool is_last(const program_option *option) {
    return !option->name && !option->text;
}

static bool has_character(const program_option *option) {
    return option->key > ' ' && option->key < 0x7f;
}

/* Another name shares all but the name with the option before it. */
static const program_option *meant(const program_option *option) {
    while (!option->key && option->name)
        option--;
    return option;
}

/* The standard options; the last only where the version is known. */
static size_t standard_count(const program_command *command) {
    return sizeof STANDARD / sizeof *STANDARD - (command->version ? 1 : 2);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Text in columns
 * ------------------------------------------------------------------------------------------------------------------ */

struct page {
    FILE *stream;
    size_t column, margin; /* where it stands, where lines begin that are broken */
};

static void put(struct page *page, const char *text, size_t size) {
    fwrite(text, 1, size, page->stream);
    page->column += size;
}

static void new_line(struct page *page) {
    fputc('\n', page->stream);
    page->column = 0;
}

static void move_to(struct page *page, size_t column) {
    while (page->column < column)
        put(page, " ", 1);
}

/* A word behind `spaces` blanks, on a new line if it does not fit. */
static void put_word(struct page *page, size_t spaces, const char *word, size_t size) {
    if (page->column > page->margin && page->column + spaces + size > WIDTH) {
        new_line(page);
        move_to(page, page->margin);
    } else {
        move_to(page, page->column + spaces);
    }
    put(page, word, size);
}

/* Text with its own line ends and blanks, behind `spaces` more; lines that are too long are broken. */
static void put_text(struct page *page, size_t spaces, const char *text) {
    while (*text) {
        size_t blanks = strspn(text, " "), size = strcspn(text + blanks, " \n");
        put_word(page, spaces + blanks, text + blanks, size);
        spaces = 0;
        for (text += blanks + size; *text == '\n'; text++) {
            new_line(page);
            if (text[1] && text[1] != '\n')
                move_to(page, page->margin);
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Help
 * ------------------------------------------------------------------------------------------------------------------ */

static void put_name(struct page *page, const char *before, const char *name, const char *argument) {
    put_text(page, 0, before);
    put_text(page, 0, name);
    put_text(page, 0, argument ? "=" : "");
    put_text(page, 0, argument ? argument : "");
}

static void write_option(const program_command *command, const program_option *option, FILE *stream) {
    struct page page = {.stream = stream, .margin = TEXT_AT};
    char room[PROGRAM_VALUES];
    const char *values = command->values ? command->values(option->key, room) : NULL;
    if (has_character(option)) {
        const char name[] = {'-', (char)option->key, ',', 0};
        put_text(&page, SHORT_AT, name);
    }
    move_to(&page, LONG_AT);
    put_name(&page, "--", option->name, option->argument);
    for (const program_option *other = option + 1; other->name && !other->key; other++)
        put_name(&page, ", --", other->name, option->argument);
    if (page.column > TEXT_AT + 3)
        new_line(&page);
    move_to(&page, page.column < TEXT_AT ? TEXT_AT : page.column + 3);
    put_text(&page, 0, option->text);
    put_text(&page, 1, values ? values : "");
    new_line(&page);
}

void program_command_write_options(const program_command *command, FILE *stream) {
    for (const program_option *option = command->options; !is_last(option); option++) {
        if (option->name && option->key)
            write_option(command, option, stream);
        else if (!option->name)
            fprintf(stream, "%s %s\n", option == command->options ? "" : "\n", option->text);
    }
    fputc('\n', stream);
    for (size_t i = 0; i < standard_count(command); i++)
        write_option(command, &STANDARD[i], stream);
    struct page page = {.stream = stream};
    if (!command->notes)
        return;
    new_line(&page);
    put_text(&page, 0, command->notes);
    if (page.column > 0)
        new_line(&page);
}

/* A line for each alternative of the arguments, which stay unbroken. */
static void write_ways(const program_command *command, const char *before, const char *arguments, FILE *stream) {
    do {
        size_t length = strcspn(arguments, "\n");
        fprintf(stream, "%s %s [OPTION...]%s%.*s\n", before, command->name, length ? " " : "", (int)length, arguments);
        arguments += length + (arguments[length] == '\n');
        before = "  or: ";
    } while (*arguments);
}

static void write_help(const program_command *command, FILE *stream) {
    struct page page = {.stream = stream};
    write_ways(command, "Usage:", command->arguments ? command->arguments : "", stream);
    if (command->about) {
        put_text(&page, 0, command->about);
        new_line(&page);
    }
    new_line(&page);
    program_command_write_options(command, stream);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Usage
 * ------------------------------------------------------------------------------------------------------------------ */

/* Calls `work` for each option of the table and each standard one. */
static void for_each(const program_command *command, void (*work)(const program_option *option, void *state),
                     void *state) {
    for (const program_option *option = command->options; !is_last(option); option++) {
        if (option->name)
            work(option, state);
    }
    for (size_t i = 0; i < standard_count(command); i++)
        work(&STANDARD[i], state);
}

static void add_switch(const program_option *option, void *state) {
    char *end = (char *)state + strlen(state);
    if (has_character(option) && !option->argument) {
        end[0] = (char)option->key;
        end[1] = 0;
    }
}

static void put_short(const program_option *option, void *state) {
    char text[64];
    if (!has_character(option) || !option->argument)
        return;
    snprintf(text, sizeof text, "[-%c %s]", option->key, option->argument);
    put_word(state, 1, text, strlen(text));
}

static void put_long(const program_option *option, void *state) {
    char text[128];
    const char *argument = meant(option)->argument;
    snprintf(text, sizeof text, "[--%s%s%s]", option->name, argument ? "=" : "", argument ? argument : "");
    put_word(state, 1, text, strlen(text));
}

void program_command_write_usage(const program_command *command, FILE *stream) {
    struct page page = {.stream = stream, .margin = USAGE_AT};
    char switches[OPTIONS_MOST + 4] = "[-";
    for_each(command, add_switch, switches);
    strcat(switches, "]");
    put_text(&page, 0, "Usage: ");
    put_text(&page, 0, command->name);
    put_word(&page, 1, switches, strlen(switches));
    for_each(command, put_short, &page);
    for_each(command, put_long, &page);
    const char *arguments = command->arguments ? command->arguments : "";
    const char *others = strchr(arguments, '\n');
    put_word(&page, *arguments ? 1 : 0, arguments, strcspn(arguments, "\n"));
    new_line(&page);
    if (others)
        write_ways(command, "  or: ", others + 1, stream);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Mistakes
 * ------------------------------------------------------------------------------------------------------------------ */

static int point_to_help(const program_command *command) {
    fprintf(stderr, "Try '%s --help' or '%s --usage' for more information.\n", command->name, command->name);
    return 2;
}

/* What the command line holds may be anything: control characters, which terminals obey, are escaped. */
static void show(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++)
        fprintf(stderr, text[i] >= ' ' && text[i] < 0x7f ? "%c" : "\\x%02x", (unsigned char)text[i]);
}

int program_command_refuse(const program_command *command, const char *format, ...) {
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: ", command->name);
    show(message, strlen(message));
    fputc('\n', stderr);
    return point_to_help(command);
}

/* Options whose names begin as the one that was given. */
struct beginnings {
    const char *name;
    size_t size, count;
    bool exact;
};

static void compare(const program_option *option, void *state) {
    struct beginnings *beginnings = state;
    if (strncmp(option->name, beginnings->name, beginnings->size) != 0)
        return;
    beginnings->count++;
    beginnings->exact = beginnings->exact || !option->name[beginnings->size];
}

static void list(const program_option *option, void *state) {
    const struct beginnings *beginnings = state;
    if (strncmp(option->name, beginnings->name, beginnings->size) == 0)
        fprintf(stderr, " --%s", option->name);
}

/* A long option that getopt_long() did not take: unknown, or short for several, or with a value that it has not. */
static int refuse_long(const program_command *command, const char *given) {
    struct beginnings beginnings = {.name = given + 2, .size = strcspn(given + 2, "=")};
    for_each(command, compare, &beginnings);
    bool known = beginnings.exact || beginnings.count == 1;
    fprintf(stderr, "%s: %s '", command->name, known || beginnings.count ? "option" : "unrecognized option");
    show(given, beginnings.size + 2);
    if (known) {
        fputs("' takes no value; found '", stderr);
        show(given + 3 + beginnings.size, strlen(given + 3 + beginnings.size));
    }
    fputs(known ? "'" : beginnings.count ? "' is ambiguous; expected one of" : "'", stderr);
    if (!known && beginnings.count)
        for_each(command, list, &beginnings);
    fputc('\n', stderr);
    return point_to_help(command);
}

static int refuse_short(const program_command *command, char given) {
    fprintf(stderr, "%s: unrecognized option '", command->name);
    show(&given, 1);
    fputs("'\n", stderr);
    return point_to_help(command);
}

/* The option with a key, or null. */
static const program_option *find(const program_command *command, int key) {
    const program_option *option = command->options;
    while (!is_last(option) && (!option->name || option->key != key))
        option++;
    return is_last(option) ? NULL : option;
}

static bool is_standard(const program_command *command, int key) {
    for (size_t i = 0; i < standard_count(command); i++) {
        if (STANDARD[i].key == key)
            return true;
    }
    return false;
}

static int refuse_bare(const program_command *command, const program_option *option) {
    return program_command_refuse(command, "--%s: the argument is missing; expected %s", option->name,
                                  option->argument);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------------------------------------------------ */

/* The tables of getopt_long(). */
struct tables {
    char shorts[2 * OPTIONS_MOST];
    struct option longs[OPTIONS_MOST + 1];
    size_t short_count, long_count;
};

static void enter(const program_option *option, void *state) {
    struct tables *tables = state;
    const program_option *with = meant(option);
    assert(tables->long_count < OPTIONS_MOST);
    tables->longs[tables->long_count++] = (struct option){
        .name = option->name, .has_arg = with->argument ? required_argument : no_argument, .val = with->key};
    if (has_character(option)) {
        tables->shorts[tables->short_count++] = (char)option->key;
        if (option->argument)
            tables->shorts[tables->short_count++] = ':';
    }
}

/* So that it can be called again. */
static void start_getopt(void) {
    opterr = 0; /* messages are made here, the same everywhere */
#if defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__)
    optreset = 1;
    optind = 1;
#else
    optind = 0;
#endif
}

static void answer(const program_command *command, int key) {
    if (key == 'h')
        write_help(command, stdout);
    else if (key == USAGE)
        program_command_write_usage(command, stdout);
    else
        printf("%.*s %s\n", (int)strcspn(command->name, " "), command->name, command->version);
    exit(0);
}

/* What getopt_long() could not take; -? asks for help. A character that is no option comes in `optopt`; behind a long
 * option there is 0, or the key of one that it knows. */
static int refuse(const program_command *command, int code, char **argv) {
    const program_option *known = find(command, optopt);
    if (code == ':')
        return refuse_bare(command, known);
    if (optopt == '?')
        answer(command, 'h');
    bool is_long = optopt == 0 || known || is_standard(command, optopt);
    return is_long ? refuse_long(command, argv[optind - 1]) : refuse_short(command, (char)optopt);
}

/* Whether an option is in the list of those that may be given several times. */
static bool may_repeat(const program_command *command, int key) {
    const int *several = command->several;
    while (several && *several && *several != key)
        several++;
    return several && *several;
}

/* Options with a value that were given, by key. */
struct given {
    int keys[OPTIONS_MOST];
    size_t count;
};

/* Refuses the second of two values, of which one would be lost. */
static int check_once(const program_command *command, struct given *given, int key) {
    for (size_t i = 0; i < given->count; i++) {
        if (given->keys[i] == key)
            return program_command_refuse(command, "--%s: given twice; expected it once", find(command, key)->name);
    }
    if (find(command, key)->argument && !may_repeat(command, key))
        given->keys[given->count++] = key;
    return 0;
}

int program_command_read(const program_command *command, int argc, char **argv, void *state, int *rest) {
    struct tables tables = {.shorts = ":", .short_count = 1};
    struct given given = {.count = 0};
    for_each(command, enter, &tables);
    start_getopt();
    for (int code; (code = getopt_long(argc, argv, tables.shorts, tables.longs, NULL)) != -1;) {
        if (code == '?' || code == ':')
            return refuse(command, code, argv);
        if (code == 'h' || code == USAGE || (code == 'V' && command->version))
            answer(command, code);
        int status = check_once(command, &given, code);
        if (status == 0)
            status = command->take(code, optarg, state);
        if (status != 0)
            return status;
    }
    *rest = optind;
    return 0;
}
