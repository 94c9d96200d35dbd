/* The files that a command line comes to, where it names directories too. */
#ifndef REDUCT_CLI_FILES_H
#define REDUCT_CLI_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "message.h"

struct files {
    const char **names;       /* "-" is standard input */
    const char **directories; /* that each was found in; null where the command line names the file itself */
    uint64_t *sizes;          /* in bytes; 0 where there is no telling */
    size_t count, room;
};

/* Whether each path is a regular file or a directory, which can be opened any number of times: no pipe, no device, not standard input. */
bool files_are_regular(const char *const *paths, size_t count);

/* Lists them: with `directories`, in the place of a directory all files in it, in the order of the bytes of their names. Files whose names begin with a
 * point are left out. A directory without files is an error, and so is whatever in it is no file, directories included. What was
 * found up to an error is listed. To be freed either way. */
enum outcome files_find(struct files *files, const char *const *paths, size_t count, bool directories);
void files_free(struct files *files);

#endif
