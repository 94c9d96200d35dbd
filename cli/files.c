/* Directories on the command line: see files.h. */
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool files_are_regular(const char *const *paths, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        if (strcmp(paths[i], "-") == 0 || stat(paths[i], &status) != 0 ||
            !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
            return false;
    }
    return true;
}

static enum outcome make_room(struct files *files) {
    if (files->count < files->room)
        return DONE;
    size_t room = 2 * files->room + 16;
    const char **names = realloc(files->names, room * sizeof *names);
    if (!names)
        return fail_memory();
    files->names = names;
    const char **directories = realloc(files->directories, room * sizeof *directories);
    if (!directories)
        return fail_memory();
    files->directories = directories;
    uint64_t *sizes = realloc(files->sizes, room * sizeof *sizes);
    if (!sizes)
        return fail_memory();
    files->sizes = sizes;
    files->room = room;
    return DONE;
}

static enum outcome add(struct files *files, const char *name, const char *directory, const struct stat *status) {
    enum outcome outcome = make_room(files);
    if (outcome != DONE)
        return outcome;
    files->names[files->count] = name;
    files->sizes[files->count] = status && S_ISREG(status->st_mode) ? (uint64_t)status->st_size : 0;
    files->directories[files->count++] = directory;
    return DONE;
}

static char *join(const char *directory, const char *name) {
    size_t length = strlen(directory), rest = strlen(name) + 1;
    char *path = malloc(length + 1 + rest);
    if (!path)
        return NULL;
    memcpy(path, directory, length);
    if (directory[length - 1] != '/')
        path[length++] = '/';
    memcpy(path + length, name, rest);
    return path;
}

static enum outcome add_entry(struct files *files, const char *directory, const char *name) {
    char *path = join(directory, name);
    if (!path)
        return fail_memory();
    struct stat status;
    enum outcome outcome;
    if (stat(path, &status) != 0)
        outcome = fail("%s: %s", path, strerror(errno));
    else if (!S_ISREG(status.st_mode))
        outcome = fail("%s: this is %s; expected files alone in the directory %s", path,
                       S_ISDIR(status.st_mode) ? "a directory" : "no file", directory);
    else
        outcome = add(files, path, directory, &status);
    if (outcome != DONE)
        free(path);
    return outcome;
}

static int is_shown(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static int by_bytes(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static enum outcome add_directory(struct files *files, const char *directory) {
    struct dirent **entries;
    int count = scandir(directory, &entries, is_shown, by_bytes);
    if (count < 0)
        return fail("%s: %s", directory, strerror(errno));
    enum outcome outcome =
        count > 0 ? DONE : fail("%s: there are no files in this directory; expected some", directory);
    for (int i = 0; i < count; i++) {
        if (outcome == DONE)
            outcome = add_entry(files, directory, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return outcome;
}

enum outcome files_find(struct files *files, const char *const *paths, size_t count, bool directories) {
    *files = (struct files){.count = 0};
    enum outcome outcome = DONE;
    for (size_t i = 0; i < count && outcome == DONE; i++) {
        struct stat status;
        bool known = strcmp(paths[i], "-") != 0 && stat(paths[i], &status) == 0;
        outcome = directories && known && S_ISDIR(status.st_mode) ? add_directory(files, paths[i])
                                                                  : add(files, paths[i], NULL, known ? &status : NULL);
    }
    return outcome;
}

void files_free(struct files *files) {
    for (size_t i = 0; i < files->count; i++)
        if (files->directories[i])
            free((void *)(uintptr_t)files->names[i]); /* made here */
    free(files->names);
    free(files->directories);
    free(files->sizes);
    *files = (struct files){.count = 0};
}
