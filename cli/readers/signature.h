/* Files of other programs, known by their first bytes. */
#ifndef REDUCT_CLI_SIGNATURE_H
#define REDUCT_CLI_SIGNATURE_H

#include "source.h"

/* Refuses a source that begins as files do that are not read here: compressed files, archives, tables, images. Where a
 * type is said, it may be meant as raw binary, and how to say that is told. */
enum outcome signature_refuse(struct source *source, bool type_said);

#endif
