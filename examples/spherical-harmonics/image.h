/* Images of linear light, and the files they come from. What a file holds is told by how it begins. */
#ifndef HARMONICS_IMAGE_H
#define HARMONICS_IMAGE_H

#include "problem.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Three planes of width * height floats each, row by row from the top left; in one piece of memory. */
typedef struct image {
    uint32_t width, height;
    float *channel[3]; /* red, green, blue */
} image;

/* Neither side of an image may be longer. */
#define IMAGE_SIDE_MOST 65536

/* An image of unset pixels. Free with image_free(), which is fine for a zeroed image too. */
bool image_allocate(image *picture, uint64_t width, uint64_t height, problem *why);
void image_free(image *picture);

static inline size_t image_pixels(const image *picture) {
    return (size_t)picture->width * picture->height;
}

/* Reads a Radiance .hdr, OpenEXR or PNG file. Problems name the file. */
bool image_read(const char *path, image *picture, problem *why);

/* Formats that this program was built to read: "Radiance .hdr, OpenEXR and PNG". */
const char *image_formats(void);

/* What to do with numbers that light cannot have. Small negative ones are common, left by lossy compression and by
 * resampling, and harmless: they are kept unless all is to be 0. */
typedef enum invalid_policy {
    INVALID_ERROR, /* NaN and infinities are errors */
    INVALID_ZERO,  /* NaN, infinities and negative numbers become 0 */
    INVALID_KEEP   /* all are kept */
} invalid_policy;

typedef struct invalid_pixels {
    uint64_t nan, infinite, negative;
} invalid_pixels;

/* Applies the policy. `found` counts the numbers; a problem names the first pixel, and the file by `name`. */
bool image_sanitise(image *picture, const char *name, invalid_policy policy, invalid_pixels *found, problem *why);

/* The readers behind image_read(). Each gets a file's bytes and leaves `picture` untouched unless it succeeds. */
bool hdr_decode(const unsigned char *bytes, size_t size, image *picture, problem *why);
bool exr_decode(const unsigned char *bytes, size_t size, image *picture, problem *why);
bool png_decode(const unsigned char *bytes, size_t size, image *picture, problem *why);

/* Writes a Radiance .hdr file, run-length encoded. Each pixel keeps eight bits of its largest channel. */
bool hdr_write(const char *path, const image *picture, problem *why);

/* Writes 8-bit sRGB pixels, three bytes each, as a PNG file. */
bool png_write(const char *path, const unsigned char *pixels, uint32_t width, uint32_t height, problem *why);

#ifdef __cplusplus
}
#endif
#endif
