/* Tables: cells are kept as text until all widths are known. */
#include "program/table.h"

#include "program/memory.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct program_table {
    char **cells;
    size_t columns, count, room;
    char alignments[];
};

program_table *program_table_create(const char *alignments) {
    size_t columns = strlen(alignments);
    program_table *table = program_allocate(sizeof *table + columns + 1);
    *table = (program_table){.columns = columns};
    memcpy(table->alignments, alignments, columns + 1);
    return table;
}

void program_table_destroy(program_table *table) {
    if (!table)
        return;
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table);
}

void program_table_cell(program_table *table, const char *format, ...) {
    if (table->count == table->room) {
        table->room = table->room ? 2 * table->room : 64;
        table->cells = program_reallocate(table->cells, table->room * sizeof *table->cells);
    }
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = program_reallocate(NULL, (size_t)length + 1);
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    table->cells[table->count++] = text;
}

/* Columns that a text takes on the screen: code points outside escape sequences. */
static size_t width(const char *text) {
    size_t columns = 0;
    while (*text) {
        if (*text == '\033') {
            text += strcspn(text, "m");
            text += *text == 'm';
            continue;
        }
        columns += ((unsigned char)*text & 0xC0) != 0x80; /* bytes 10xxxxxx continue a code point */
        text++;
    }
    return columns;
}

static size_t column_width(const program_table *table, size_t column) {
    size_t widest = 0;
    for (size_t i = column; i < table->count; i += table->columns) {
        size_t columns = width(table->cells[i]);
        widest = columns > widest ? columns : widest;
    }
    return widest;
}

static void print_spaces(FILE *stream, size_t count) {
    fprintf(stream, "%*s", (int)count, "");
}

static void print_row(const program_table *table, size_t first, const size_t *widths, FILE *stream) {
    for (size_t column = 0; column < table->columns && first + column < table->count; column++) {
        const char *text = table->cells[first + column];
        size_t padding = widths[column] - width(text);
        int last = column + 1 == table->columns;
        if (table->alignments[column] == 'r')
            print_spaces(stream, padding);
        fputs(text, stream);
        if (table->alignments[column] != 'r' && !last) /* no blanks at line ends */
            print_spaces(stream, padding);
        if (!last)
            print_spaces(stream, 2);
    }
    fputc('\n', stream);
}

static void print_underline(const program_table *table, const size_t *widths, FILE *stream) {
    for (size_t column = 0; column < table->columns; column++) {
        for (size_t i = 0; i < widths[column]; i++)
            fputc('-', stream);
        if (column + 1 < table->columns)
            print_spaces(stream, 2);
    }
    fputc('\n', stream);
}

void program_table_print(const program_table *table, FILE *stream, int indent) {
    size_t *widths = program_allocate(table->columns * sizeof *widths);
    for (size_t column = 0; column < table->columns; column++)
        widths[column] = column_width(table, column);
    for (size_t first = 0; first < table->count; first += table->columns) {
        print_spaces(stream, (size_t)indent);
        print_row(table, first, widths, stream);
        if (first == 0) {
            print_spaces(stream, (size_t)indent);
            print_underline(table, widths, stream);
        }
    }
    free(widths);
}
