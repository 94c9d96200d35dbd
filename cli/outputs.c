/* Arrays that are written: see outputs.h. */
#include "outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names of files that are not complete, for outputs_abandon(). */
static const char *volatile unfinished[OUTPUTS_MOST];

void outputs_abandon(void) {
    for (size_t i = 0; i < OUTPUTS_MOST; i++)
        if (unfinished[i])
            unlink(unfinished[i]);
}

static const char *name_of(const struct output *output) {
    return strcmp(output->path, "-") == 0 ? "standard output" : output->path;
}

static enum outcome fail_output(const struct output *output, int why) {
    return fail("%s: %s", name_of(output), strerror(why));
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Places
 * ------------------------------------------------------------------------------------------------------------------ */

/* Puts `name` in the place of the last part of a path; in memory of malloc(). */
static char *beside(const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    size_t folder = slash && name[0] != '/' ? (size_t)(slash + 1 - path) : 0, rest = strlen(name) + 1;
    char *joined = malloc(folder + rest);
    if (joined) {
        memcpy(joined, path, folder);
        memcpy(joined + folder, name, rest);
    }
    return joined;
}

/* Where a path leads behind all links, be there a file or not; in memory of malloc(), null with errno. */
static char *follow(const char *path) {
    enum { LINKS_MOST = 40 };
    char target[PATH_MAX];
    char *at = strdup(path);
    for (int links = 0; at && links < LINKS_MOST; links++) {
        ssize_t size = readlink(at, target, sizeof target - 1);
        if (size < 0)
            return at;
        target[size] = 0;
        char *next = beside(at, target);
        free(at);
        at = next;
    }
    errno = at ? ELOOP : ENOMEM;
    free(at);
    return NULL;
}

/* Finds out what is replaced, if it is that. */
static enum outcome find_place(struct output *output) {
    struct stat there;
    if (strcmp(output->path, "-") == 0)
        return DONE;
    const bool is_there = stat(output->path, &there) == 0;
    if (!is_there && errno != ENOENT)
        return fail_output(output, errno);
    if (is_there && S_ISDIR(there.st_mode))
        return fail("%s: this is a directory; expected a file", output->path);
    if (is_there && !S_ISREG(there.st_mode))
        return DONE;
    if (is_there && access(output->path, W_OK) != 0)
        return fail_output(output, errno);
    output->place = follow(output->path);
    return output->place ? DONE : fail_output(output, errno);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Writing
 * ------------------------------------------------------------------------------------------------------------------ */

/* The header of a .npy file of version 1.0, as cli/readers/npy.h has it: a multiple of 64 bytes. Returns its size. */
static size_t make_header(const struct output *output, char header[4096]) {
    char *dictionary = header + 10;
    int size = snprintf(dictionary, 4000, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", output->type,
                        output->shape);
    size_t all = ((size_t)size + 11 + 63) / 64 * 64;
    memset(dictionary + size, ' ', all - 11 - (size_t)size);
    header[all - 1] = '\n';
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)((all - 10) & 0xff);
    header[9] = (char)((all - 10) >> 8);
    return all;
}

/* Writes all of it to a file that is open, and closes that. */
static enum outcome write_array(const struct output *output, int fd) {
    char header[4096];
    size_t size = make_header(output, header);
    FILE *file = fdopen(fd, "wb");
    bool written =
        file && fwrite(header, 1, size, file) == size && fwrite(output->data, 1, output->bytes, file) == output->bytes;
    int why = errno;
    if ((file ? fclose(file) : close(fd)) != 0 && written) {
        written = false;
        why = errno;
    }
    return written ? DONE : fail_output(output, why);
}

static enum outcome write_in_place(const struct output *output) {
    const bool standard = strcmp(output->path, "-") == 0;
    int fd = standard ? dup(STDOUT_FILENO) : open(output->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    return fd >= 0 ? write_array(output, fd) : fail_output(output, errno);
}

/* Gives a file the owner and the mode of the one whose place it takes. Where it cannot be of that group, no group gets what that
 * one may do. */
static int take_after(int fd, const struct stat *there) {
    mode_t mode = there->st_mode & 0777;
    if (fchown(fd, there->st_uid, there->st_gid) != 0 && fchown(fd, (uid_t)-1, there->st_gid) != 0)
        mode &= ~(mode_t)S_IRWXG;
    return fchmod(fd, mode);
}

/* Whether a file that was made for one of these outputs has the name of another's. */
static bool is_taken(const struct output *outputs, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (outputs[i].made && strcmp(outputs[i].beside, name) == 0)
            return true;
    return false;
}

/* Writes outputs[which] beside the file whose place it is to take. */
static enum outcome write_beside(struct output *outputs, size_t which) {
    struct output *output = &outputs[which];
    struct stat there;
    const bool is_there = stat(output->place, &there) == 0;
    const size_t room = strlen(output->place) + 32;
    output->beside = malloc(room);
    if (!output->beside)
        return fail_memory();
    snprintf(output->beside, room, "%s.part%ld", output->place, (long)getpid());
    if (is_taken(outputs, which, output->beside))
        return fail("%s: two results are to be written there; expected a file for each", output->path);
    unlink(output->beside); /* of a process of that number, which was killed */
    unfinished[which] = output->beside;
    int fd = open(output->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, is_there ? 0600 : 0666);
    if (fd < 0 && is_there)
        return fail("%s: %s, which is to take its place, cannot be made: %s", output->path, output->beside,
                    strerror(errno));
    if (fd < 0)
        return fail_output(output, errno);
    output->made = true;
    if (is_there && take_after(fd, &there) != 0) {
        int why = errno;
        close(fd);
        return fail_output(output, why);
    }
    return write_array(output, fd);
}

static enum outcome move_to_place(struct output *output) {
    if (rename(output->beside, output->place) != 0)
        return fail_output(output, errno);
    output->made = false;
    return DONE;
}

enum outcome outputs_write(struct output *outputs, size_t count) {
    enum outcome outcome = DONE;
    for (size_t i = 0; i < count && outcome == DONE; i++)
        outcome = find_place(&outputs[i]);
    for (size_t i = 0; i < count && outcome == DONE; i++)
        outcome = outputs[i].place ? write_beside(outputs, i) : DONE;
    for (size_t i = 0; i < count && outcome == DONE; i++)
        outcome = outputs[i].place ? DONE : write_in_place(&outputs[i]);
    for (size_t i = 0; i < count && outcome == DONE; i++)
        outcome = outputs[i].place ? move_to_place(&outputs[i]) : DONE;
    for (size_t i = 0; i < count; i++) {
        if (outputs[i].made)
            unlink(outputs[i].beside);
        unfinished[i] = NULL;
        free(outputs[i].beside);
        free(outputs[i].place);
    }
    return outcome;
}
