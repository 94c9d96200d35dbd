/* Images of linear light: memory, files as bytes, numbers that cannot be. See image.h. */
#include "image.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool image_allocate(image *picture, uint64_t width, uint64_t height, problem *why) {
    if (width < 1 || height < 1 || width > IMAGE_SIDE_MOST || height > IMAGE_SIDE_MOST)
        return refuse(why, "the image is %" PRIu64 " x %" PRIu64 " pixels; expected sides from 1 to %d", width, height,
                      IMAGE_SIDE_MOST);
    const size_t pixels = (size_t)(width * height);
    float *memory = malloc(3 * pixels * sizeof *memory);
    if (!memory)
        return refuse(why, "no memory for an image of %" PRIu64 " x %" PRIu64 " pixels", width, height);
    *picture = (image){.width = (uint32_t)width,
                       .height = (uint32_t)height,
                       .channel = {memory, memory + pixels, memory + 2 * pixels}};
    return true;
}

void image_free(image *picture) {
    free(picture->channel[0]);
    *picture = (image){0};
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Files
 * ------------------------------------------------------------------------------------------------------------------ */

typedef bool decoder(const unsigned char *bytes, size_t size, image *picture, problem *why);

const char *image_formats(void) {
#if defined(HARMONICS_HAS_EXR) && defined(HARMONICS_HAS_PNG)
    return "Radiance .hdr, OpenEXR and PNG";
#elif defined(HARMONICS_HAS_EXR)
    return "Radiance .hdr and OpenEXR";
#elif defined(HARMONICS_HAS_PNG)
    return "Radiance .hdr and PNG";
#else
    return "Radiance .hdr";
#endif
}

static decoder *decoder_of(const unsigned char *bytes, size_t size) {
    static const struct {
        const char *magic;
        size_t size;
        decoder *decode;
    } FORMATS[] = {{"#?", 2, hdr_decode}, {"\x76\x2f\x31\x01", 4, exr_decode}, {"\x89PNG\r\n\x1a\n", 8, png_decode}};
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++) {
        if (size >= FORMATS[i].size && memcmp(bytes, FORMATS[i].magic, FORMATS[i].size) == 0)
            return FORMATS[i].decode;
    }
    return NULL;
}

static bool read_all(FILE *file, unsigned char **bytes, size_t *size, problem *why) {
    size_t room = 1 << 20;
    *size = 0;
    *bytes = malloc(room);
    while (*bytes) {
        *size += fread(*bytes + *size, 1, room - *size, file);
        if (ferror(file))
            return refuse(why, "%s", strerror(errno));
        if (*size < room)
            return true;
        unsigned char *more = realloc(*bytes, room *= 2);
        if (!more)
            break;
        *bytes = more;
    }
    return refuse(why, "no memory for a file of this size");
}

static bool read_file(const char *path, unsigned char **bytes, size_t *size, problem *why) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return refuse(why, "%s", strerror(errno));
    const bool good = read_all(file, bytes, size, why);
    fclose(file);
    return good;
}

bool image_read(const char *path, image *picture, problem *why) {
    unsigned char *bytes = NULL;
    size_t size = 0;
    problem reason = {""};
    bool good = read_file(path, &bytes, &size, &reason);
    if (good) {
        decoder *decode = decoder_of(bytes, size);
        good = decode ? decode(bytes, size, picture, &reason)
                      : refuse(&reason, "begins like no image known here; expected %s", image_formats());
    }
    free(bytes);
    return good || refuse(why, "%s: %.300s", path, reason.text);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Numbers that light cannot have
 * ------------------------------------------------------------------------------------------------------------------ */

static bool refuse_pixel(const image *picture, const char *name, size_t pixel, int channel, problem *why) {
    static const char *const CHANNELS[] = {"red", "green", "blue"};
    return refuse(why,
                  "%s: %s of the pixel in column %zu, row %zu is %g; expected a finite number "
                  "(--invalid zero takes it as 0, --invalid keep as it is)",
                  name, CHANNELS[channel], pixel % picture->width, pixel / picture->width,
                  (double)picture->channel[channel][pixel]);
}

bool image_sanitise(image *picture, const char *name, invalid_policy policy, invalid_pixels *found, problem *why) {
    const size_t pixels = image_pixels(picture);
    for (int c = 0; c < 3; c++) {
        for (size_t i = 0; i < pixels; i++) {
            float *value = &picture->channel[c][i];
            if (*value >= 0 && isfinite(*value))
                continue;
            if (policy == INVALID_ERROR && !isfinite(*value))
                return refuse_pixel(picture, name, i, c, why);
            *(isnan(*value) ? &found->nan : isinf(*value) ? &found->infinite : &found->negative) += 1;
            if (policy == INVALID_ZERO)
                *value = 0;
        }
    }
    return true;
}
