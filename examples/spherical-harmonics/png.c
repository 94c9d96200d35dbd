/* PNG files, through libpng: maps to read, pictures to write.
 *
 * Samples of a map stand for light as the file says: by its gAMA chunk, or else, and where that is the one of sRGB, by
 * the curve of sRGB. */
#include "image.h"

#include <png.h>

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* What a read needs, kept where a jump out of libpng finds it unharmed. */
struct reading {
    const unsigned char *at, *end;
    png_structp png;
    png_infop info;
    image found;
    unsigned char *pixels; /* all rows, six bytes per pixel, most significant first */
    png_bytepp rows;
    problem *why;
};

static void take_bytes(png_structp png, png_bytep to, size_t size) {
    struct reading *reading = png_get_io_ptr(png);
    if (size > (size_t)(reading->end - reading->at))
        png_error(png, "it is cut short");
    memcpy(to, reading->at, size);
    reading->at += size;
}

static void on_error(png_structp png, png_const_charp message) {
    struct reading *reading = png_get_error_ptr(png);
    refuse(reading->why, "cannot be read as PNG: %s", message);
    longjmp(png_jmpbuf(png), 1);
}

static void on_warning(png_structp png, png_const_charp message) {
    (void)png, (void)message;
}

/* Light of a sample from 0 to 1; `gamma` is 0 for sRGB. */
static float light_of(double sample, double gamma) {
    if (gamma != 0)
        return (float)pow(sample, 1 / gamma);
    return (float)(sample <= 0.04045 ? sample / 12.92 : pow((sample + 0.055) / 1.055, 2.4));
}

static bool convert(struct reading *reading, double gamma) {
    float *table = malloc(65536 * sizeof *table);
    if (!table)
        return refuse(reading->why, "no memory");
    for (int i = 0; i < 65536; i++)
        table[i] = light_of(i / 65535.0, gamma);
    for (size_t i = 0; i < 3 * image_pixels(&reading->found); i++)
        reading->found.channel[i % 3][i / 3] = table[reading->pixels[2 * i] << 8 | reading->pixels[2 * i + 1]];
    free(table);
    return true;
}

/* Everything as three samples of 16 bits; 8 bits widen to 257 times themselves, which is the same share. */
static void ask_for_colour(struct reading *reading) {
    png_set_expand_16(reading->png);
    png_set_gray_to_rgb(reading->png);
    png_set_strip_alpha(reading->png);
    png_set_interlace_handling(reading->png);
    png_read_update_info(reading->png, reading->info);
}

static bool read_rows(struct reading *reading) {
    png_set_read_fn(reading->png, reading, take_bytes);
    png_set_user_limits(reading->png, IMAGE_SIDE_MOST, IMAGE_SIDE_MOST);
    png_read_info(reading->png, reading->info);
    const size_t width = png_get_image_width(reading->png, reading->info);
    const size_t height = png_get_image_height(reading->png, reading->info);
    double gamma = 0;
    int intent;
    if (png_get_sRGB(reading->png, reading->info, &intent) || !png_get_gAMA(reading->png, reading->info, &gamma) ||
        fabs(gamma - 0.45455) < 1e-4)
        gamma = 0;
    ask_for_colour(reading);
    if (!image_allocate(&reading->found, width, height, reading->why))
        return false;
    reading->pixels = malloc(6 * width * height);
    reading->rows = malloc(height * sizeof *reading->rows);
    if (!reading->pixels || !reading->rows)
        return refuse(reading->why, "no memory for a PNG image of %zu x %zu pixels", width, height);
    for (size_t y = 0; y < height; y++)
        reading->rows[y] = reading->pixels + 6 * width * y;
    png_read_image(reading->png, reading->rows);
    png_read_end(reading->png, NULL);
    return convert(reading, gamma);
}

/* libpng leaves by a jump to here when it fails. */
static bool guarded(struct reading *reading) {
    return setjmp(png_jmpbuf(reading->png)) == 0 && read_rows(reading);
}

bool png_decode(const unsigned char *bytes, size_t size, image *picture, problem *why) {
    struct reading *reading = calloc(1, sizeof *reading);
    if (!reading)
        return refuse(why, "no memory");
    *reading = (struct reading){.at = bytes, .end = bytes + size, .why = why};
    reading->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reading, on_error, on_warning);
    reading->info = reading->png ? png_create_info_struct(reading->png) : NULL;
    const bool good = reading->info ? guarded(reading) : refuse(why, "no memory");
    if (good)
        *picture = reading->found;
    else
        image_free(&reading->found);
    if (reading->png)
        png_destroy_read_struct(&reading->png, &reading->info, NULL);
    free(reading->pixels);
    free(reading->rows);
    free(reading);
    return good;
}

bool png_write(const char *path, const unsigned char *pixels, uint32_t width, uint32_t height, problem *why) {
    png_image file = {.version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = PNG_FORMAT_RGB};
    if (png_image_write_to_file(&file, path, 0, pixels, 0, NULL))
        return true;
    return refuse(why, "%s: cannot be written as PNG: %s", path, file.message);
}
