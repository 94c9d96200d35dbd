/* Fuzz target: Radiance .hdr images (examples/spherical-harmonics), from any bytes.
 *
 * What is accepted must hold finite light, and must read as the same when written and read again: eight bits per pixel
 * stay what they are, but for the darkest, which may become 0. What is refused must be refused in words that can be shown.
 */
#include "image.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "values.h"

#define require(condition) ((condition) ? (void)0 : broken(#condition, __LINE__))

static void broken(const char *condition, int line) {
    fprintf(stderr, "hdr.c:%d: %s does not hold\n", line, condition);
    abort();
}

static void check_refusal(const problem *why) {
    const char *end = memchr(why->text, 0, sizeof why->text);
    require(end && end - why->text > 5);
    for (const char *c = why->text; c < end; c++)
        require(*c >= ' ' && *c <= '~');
}

/* Writes to memory and reads that. */
static void check_again(const image *picture) {
    problem why;
    image again;
    char path[64];
    const int file = memfd_create("hdr", 0);
    require(file >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    require(hdr_write(path, picture, &why) && image_read(path, &again, &why));
    close(file);
    require(again.width == picture->width && again.height == picture->height);
    for (size_t i = 0; i < image_pixels(picture); i++) {
        const bool dark = picture->channel[0][i] + picture->channel[1][i] + picture->channel[2][i] < 0x1p-120F;
        for (int c = 0; c < 3; c++)
            require(dark || again.channel[c][i] == picture->channel[c][i]);
    }
    image_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    problem why = {""};
    image picture = {0};
    unsigned char *bytes = malloc(size + !size); /* to the byte, for the address sanitizer */
    require(bytes);
    memcpy(bytes, data, size);
    if (hdr_decode(bytes, size, &picture, &why)) {
        for (size_t i = 0; i < 3 * image_pixels(&picture); i++)
            require(picture.channel[0][i] >= 0 && isfinite(picture.channel[0][i]));
        if (image_pixels(&picture) <= 1 << 16)
            check_again(&picture);
        image_free(&picture);
    } else {
        require(!picture.channel[0]);
        check_refusal(&why);
    }
    free(bytes);
    return 0;
}

/* A small map with a gradient, run-length encoded or not. */
size_t fuzz_start(uint64_t number, uint8_t *data) {
    const size_t width = number % 2 ? 16 : 4, height = width / 2;
    char *text = (char *)data;
    size_t size =
        (size_t)sprintf(text, "#?RADIANCE\nEXPOSURE=1\nFORMAT=32-bit_rle_rgbe\n\n-Y %zu +X %zu\n", height, width);
    for (size_t y = 0; y < height; y++) {
        if (width < 8) {
            for (size_t x = 0; x < width; x++)
                size += (size_t)sprintf(text + size, "%c%c%c%c", (int)(128 + x), (int)(20 + y), 7, 128);
            continue;
        }
        const uint8_t row[] = {2, 2, 0, 16, 144, 200, 8, 1, 2, 3, 4, 5, 6, 7, 8, 136, 9, 144, 0, 130, 128, 142, 129};
        memcpy(data + size, row, sizeof row);
        size += sizeof row;
    }
    return size;
}
