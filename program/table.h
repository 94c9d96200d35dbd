/* Plain text tables: aligned columns, a heading, nothing else. Cells may hold UTF-8 and colour sequences; a code point
 * counts as one column, which holds for all but East Asian wide and combining characters. */
#ifndef PROGRAM_TABLE_H
#define PROGRAM_TABLE_H

#include <stdio.h>

typedef struct program_table program_table;

/* A table with one column per character of `alignments`: 'l' to the left, 'r' to the right. Free it when done. */
program_table *program_table_create(const char *alignments);
void program_table_destroy(program_table *table);

/* Fills the next cell, row by row from the left; the first row is the heading. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void program_table_cell(program_table *table, const char *format, ...);

/* Prints every row, each behind `indent` spaces, the heading underlined; cells of a last row begun but not filled are
 * left empty. */
void program_table_print(const program_table *table, FILE *stream, int indent);

#endif
