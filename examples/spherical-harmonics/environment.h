/* Light from all around: an image's texels, with the direction and the solid angle of each.
 *
 * Axes are those of cube maps in OpenGL, Direct3D and Unity: y up, and for who looks along +z, +x to the right. The
 * centre of a panorama is +z; a quarter of its width to the right is +x.
 *
 *   panorama (equirectangular)      cube, as a cross            and a tall cross, whose -z stands on its head
 *   +-----------------+ up               +y                          +y
 *   | -x    +z     +x |              -x  +z  +x  -z              -x  +z  +x
 *   +-----------------+ down             -y                          -y
 *                                                                    -z
 * A strip of six faces, across or down, has them in the order +x, -x, +y, -y, +z, -z, each as OpenGL has it. */
#ifndef HARMONICS_ENVIRONMENT_H
#define HARMONICS_ENVIRONMENT_H

#include "harmonics.h"
#include "image.h"

enum { FACES = 6 };

/* Names of the faces in order: "+x" to "-z". */
extern const char *const face_names[FACES];

typedef enum layout { PANORAMA, CUBE } layout;

/* Texels row by row, and of a cube face after face: `image.height` is then six times `image.width`. */
typedef struct environment {
    layout layout;
    image image;
} environment;

/* Makes an environment of one image, by its shape: a panorama (twice as wide as high), a cross (4:3 or 3:4) or a strip
 * (6:1 or 1:6). Takes the image over, also when it fails. `form` names what it was, for the user. */
bool environment_from_image(image *source, const char *name, environment *light, const char **form, problem *why);

/* Makes one of six square faces of one size. Takes the images over, also when it fails. */
bool environment_from_faces(image sources[FACES], const char *const names[FACES], environment *light, problem *why);

void environment_free(environment *light);

/* Texels of an environment. */
size_t environment_count(const environment *light);

/* Direction of the middle of a texel, and the solid angle that it covers; those of all texels add up to 4 pi. */
void environment_texel(const environment *light, size_t index, double direction[3], double *solid_angle);

/* Light from a direction, interpolated between texels (within a face), for pictures. */
void environment_look(const environment *light, const double direction[3], double colour[CHANNELS]);

#endif
