/* Radiance .hdr files: https://radsite.lbl.gov/radiance/refer/filefmts.pdf
 *
 * Lines of text up to an empty one, a line with the resolution, then pixels of four bytes: three significands and a
 * common exponent, 128 more than the true one. Rows of 8 to 32767 pixels are mostly stored as four runs of bytes, one
 * for each significand and one for the exponents.
 *
 * A byte of red stands for the number byte / 256 * 2^exponent, as most programs have it, which a float holds exactly.
 * Lines EXPOSURE and COLORCORR are not applied. */
#include "image.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------------------------------------------------ */

struct cursor {
    const unsigned char *at, *end;
};

static size_t left(const struct cursor *cursor) {
    return (size_t)(cursor->end - cursor->at);
}

/* The next line, without its end; false if there is none, or one of an absurd length. */
static bool take_line(struct cursor *cursor, char line[128]) {
    const unsigned char *end = memchr(cursor->at, '\n', left(cursor));
    if (!end || end - cursor->at > 4096)
        return false;
    size_t size = (size_t)(end - cursor->at);
    if (size > 0 && end[-1] == '\r')
        size--;
    snprintf(line, 128, "%.*s", (int)(size < 127 ? size : 127), (const char *)cursor->at);
    for (char *c = line; *c; c++)
        *c = *c >= ' ' && *c <= '~' ? *c : '?'; /* it may be shown on a terminal */
    cursor->at = end + 1;
    return true;
}

static bool take_header(struct cursor *cursor, uint64_t *width, uint64_t *height, problem *why) {
    char line[128];
    bool more;
    while ((more = take_line(cursor, line)) && *line) {
        if (strncmp(line, "FORMAT=", 7) == 0 && strcmp(line + 7, "32-bit_rle_rgbe") != 0)
            return refuse(why, "the pixels are '%s'; expected FORMAT=32-bit_rle_rgbe", line);
    }
    if (!more || !take_line(cursor, line))
        return refuse(why, "the header is cut short; expected an empty line and the resolution after it");
    char rest;
    if (sscanf(line, "-Y %9" SCNu64 " +X %9" SCNu64 " %c", height, width, &rest) != 2)
        return refuse(why,
                      "the resolution is '%.40s'; expected '-Y height +X width': rows from the top, from left to right",
                      line);
    return true;
}

/* A row of one plane of bytes: counts above 128 announce so many less 128 times the next byte, others as many bytes. */
static bool take_runs(struct cursor *cursor, unsigned char *plane, size_t width) {
    for (size_t filled = 0; filled < width;) {
        if (left(cursor) < 2)
            return false;
        const unsigned char count = *cursor->at++;
        const size_t length = count > 128 ? count - 128U : count;
        if (length == 0 || length > width - filled || (count <= 128 && left(cursor) < length))
            return false;
        if (count > 128)
            memset(plane + filled, *cursor->at++, length);
        else
            memcpy(plane + filled, cursor->at, length);
        cursor->at += count > 128 ? 0 : length;
        filled += length;
    }
    return true;
}

/* A row of whole pixels, where 1, 1, 1, n repeats the pixel before n times, and further ones 256 n times ... */
static bool take_pixels(struct cursor *cursor, unsigned char *row, size_t width) {
    unsigned shift = 0;
    for (size_t filled = 0; filled < width;) {
        if (left(cursor) < 4)
            return false;
        const unsigned char *pixel = cursor->at;
        cursor->at += 4;
        if (pixel[0] != 1 || pixel[1] != 1 || pixel[2] != 1) {
            for (size_t c = 0; c < 4; c++)
                row[c * width + filled] = pixel[c];
            filled++;
            shift = 0;
            continue;
        }
        const size_t length = shift < 24 ? (size_t)pixel[3] << shift : width;
        if (filled == 0 || length > width - filled)
            return false;
        for (size_t c = 0; c < 4; c++)
            memset(row + c * width + filled, row[c * width + filled - 1], length);
        filled += length;
        shift += 8;
    }
    return true;
}

static bool take_row(struct cursor *cursor, unsigned char *row, size_t width) {
    const unsigned char *at = cursor->at;
    if (width < 8 || width > 32767 || left(cursor) < 4 || at[0] != 2 || at[1] != 2 || at[2] > 127)
        return take_pixels(cursor, row, width);
    if (((size_t)at[2] << 8 | at[3]) != width)
        return false;
    cursor->at += 4;
    for (size_t c = 0; c < 4; c++) {
        if (!take_runs(cursor, row + c * width, width))
            return false;
    }
    return true;
}

static bool take_rows(struct cursor *cursor, const image *picture, unsigned char *row, problem *why) {
    const size_t width = picture->width;
    for (size_t y = 0; y < picture->height; y++) {
        if (!take_row(cursor, row, width))
            return refuse(why, "row %zu of %" PRIu32 " is damaged or cut short; expected %zu pixels", y,
                          picture->height, width);
        for (size_t x = 0; x < width; x++) {
            const unsigned char exponent = row[3 * width + x];
            const float unit = exponent ? ldexpf(1, exponent - 136) : 0;
            for (size_t c = 0; c < 3; c++)
                picture->channel[c][y * width + x] = (float)row[c * width + x] * unit;
        }
    }
    return true;
}

bool hdr_decode(const unsigned char *bytes, size_t size, image *picture, problem *why) {
    struct cursor cursor = {bytes, bytes + size};
    uint64_t width, height;
    image found;
    if (!take_header(&cursor, &width, &height, why))
        return false;
    /* Rows take two bytes at least for 127 pixels' worth of each plane; what announces more is not worth its memory. */
    if (width <= IMAGE_SIDE_MOST && height <= IMAGE_SIDE_MOST && left(&cursor) < height * (width / 127))
        return refuse(why, "%" PRIu64 " x %" PRIu64 " pixels are announced, but only %zu bytes follow: it is cut short",
                      width, height, left(&cursor));
    if (!image_allocate(&found, width, height, why))
        return false;
    unsigned char *row = malloc(4 * found.width);
    const bool good = row ? take_rows(&cursor, &found, row, why) : refuse(why, "no memory");
    free(row);
    if (good)
        *picture = found;
    else
        image_free(&found);
    return good;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Writing
 * ------------------------------------------------------------------------------------------------------------------ */

/* The pixel whose numbers are nearest with eight bits for the largest; black where all are below 2^-128. */
static void encode_pixel(const image *picture, size_t at, unsigned char pixel[4]) {
    const float *const *channel = (const float *const *)picture->channel;
    const float largest = fmaxf(fmaxf(channel[0][at], channel[1][at]), channel[2][at]);
    int exponent;
    if (frexpf(largest, &exponent) * 256 >= 255.5F)
        exponent++; /* it would round up to 256 */
    if (!(largest > 0) || exponent <= -128) {
        memset(pixel, 0, 4);
        return;
    }
    for (size_t c = 0; c < 3; c++)
        pixel[c] = (unsigned char)lrintf(fmaxf(0, ldexpf(channel[c][at], 8 - exponent)));
    pixel[3] = (unsigned char)(exponent + 128);
}

static size_t run_length(const unsigned char *plane, size_t from, size_t width) {
    size_t length = 1;
    while (from + length < width && length < 127 && plane[from + length] == plane[from])
        length++;
    return length;
}

/* Runs of four and more are worth a count of their own; the rest goes as it is, 128 bytes at a time. */
static void write_runs(FILE *file, const unsigned char *plane, size_t width) {
    for (size_t at = 0; at < width;) {
        size_t length = run_length(plane, at, width);
        if (length >= 4) {
            putc((int)(128 + length), file);
            putc(plane[at], file);
            at += length;
            continue;
        }
        size_t end = at;
        while (end < width && end - at < 128 && run_length(plane, end, width) < 4)
            end++;
        putc((int)(end - at), file);
        fwrite(plane + at, 1, end - at, file);
        at = end;
    }
}

static void write_row(FILE *file, const image *picture, size_t y, unsigned char *row) {
    const size_t width = picture->width;
    const bool runs = width >= 8 && width <= 32767;
    if (runs)
        fwrite((unsigned char[]){2, 2, (unsigned char)(width >> 8), (unsigned char)width}, 1, 4, file);
    for (size_t x = 0; x < width; x++) {
        unsigned char pixel[4];
        encode_pixel(picture, y * width + x, pixel);
        for (size_t c = 0; c < 4; c++)
            row[c * width + x] = pixel[c];
        if (!runs)
            fwrite(pixel, 1, 4, file);
    }
    for (size_t c = 0; runs && c < 4; c++)
        write_runs(file, row + c * width, width);
}

bool hdr_write(const char *path, const image *picture, problem *why) {
    FILE *file = fopen(path, "wb");
    unsigned char *row = malloc(4 * (size_t)picture->width);
    if (file && row) {
        fprintf(file, "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y %" PRIu32 " +X %" PRIu32 "\n", picture->height,
                picture->width);
        for (size_t y = 0; y < picture->height; y++)
            write_row(file, picture, y, row);
    }
    bool good = file && row && !ferror(file);
    if (file && fclose(file) != 0)
        good = false;
    free(row);
    return good || refuse(why, "%s: cannot be written: %s", path, strerror(errno));
}
