/* Stands in for png.c where there is no PNG library. */
#include "image.h"

bool png_decode(const unsigned char *bytes, size_t size, image *picture, problem *why) {
    (void)bytes, (void)size, (void)picture;
    return refuse(why, "is PNG, which this program was built without: install libpng-dev and build it again");
}

bool png_write(const char *path, const unsigned char *pixels, uint32_t width, uint32_t height, problem *why) {
    (void)pixels, (void)width, (void)height;
    return refuse(
        why, "%s: pictures are PNG, which this program was built without: install libpng-dev and build it again", path);
}
