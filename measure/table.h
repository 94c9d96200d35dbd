/* Plain text tables: aligned columns, a heading, nothing else. Cells may hold UTF-8 and colour sequences; a code point
 * counts as one column, which holds for all but East Asian wide and combining characters. */
#ifndef MEASURE_TABLE_H
#define MEASURE_TABLE_H

#include <stdio.h>

typedef struct measure_table measure_table;

/* A table with one column per character of `alignments`: 'l' to the left, 'r' to the right. Free it when done. */
measure_table *measure_table_create(const char *alignments);
void measure_table_destroy(measure_table *table);

/* Fills the next cell, row by row from the left; the first row is the heading. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void measure_table_cell(measure_table *table, const char *format, ...);

/* Prints every row, each behind `indent` spaces, the heading underlined; cells of a last row begun but not filled are
 * left empty. */
void measure_table_print(const measure_table *table, FILE *stream, int indent);

#endif
