/* Light from all around: see environment.h. */
#include "environment.h"

#include "angle.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *const face_names[FACES] = {"+x", "-x", "+y", "-y", "+z", "-z"};

/* Directions of a face's middle, its right and its lower side: sc, tc and ma of OpenGL's table of cube maps. */
static const struct face {
    double middle[3], right[3], down[3];
} CUBE_FACES[FACES] = {
    {{1, 0, 0}, {0, 0, -1}, {0, -1, 0}}, {{-1, 0, 0}, {0, 0, 1}, {0, -1, 0}}, {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}},
    {{0, -1, 0}, {1, 0, 0}, {0, 0, -1}}, {{0, 0, 1}, {1, 0, 0}, {0, -1, 0}},  {{0, 0, -1}, {-1, 0, 0}, {0, -1, 0}},
};

size_t environment_count(const environment *light) {
    return image_pixels(&light->image);
}

void environment_free(environment *light) {
    image_free(&light->image);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Layouts
 * ------------------------------------------------------------------------------------------------------------------ */

/* Where the faces lie in one image: columns and rows of it, in faces. */
struct arrangement {
    const char *form;
    uint32_t columns, rows;
    struct {
        uint32_t column, row;
        bool turned; /* by half a turn */
    } place[FACES];
};

static const struct arrangement ARRANGEMENTS[] = {
    {"cross", 4, 3, {{2, 1, 0}, {0, 1, 0}, {1, 0, 0}, {1, 2, 0}, {1, 1, 0}, {3, 1, 0}}},
    {"tall cross", 3, 4, {{2, 1, 0}, {0, 1, 0}, {1, 0, 0}, {1, 2, 0}, {1, 1, 0}, {1, 3, 1}}},
    {"strip", 6, 1, {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {4, 0, 0}, {5, 0, 0}}},
    {"tall strip", 1, 6, {{0, 0, 0}, {0, 1, 0}, {0, 2, 0}, {0, 3, 0}, {0, 4, 0}, {0, 5, 0}}},
};

/* Copies the square of `side` pixels whose corner is at (x, y) of `from` to face number `face` of `to`. */
static void copy_face(const image *from, size_t x, size_t y, bool turned, const image *to, size_t face) {
    const size_t side = to->width;
    for (size_t c = 0; c < CHANNELS; c++) {
        float *out = to->channel[c] + face * side * side;
        for (size_t row = 0; row < side; row++) {
            const float *in = from->channel[c] + (y + (turned ? side - 1 - row : row)) * from->width + x;
            for (size_t column = 0; column < side; column++)
                *out++ = in[turned ? side - 1 - column : column];
        }
    }
}

static bool unfold(const image *source, const struct arrangement *how, environment *light, problem *why) {
    const uint32_t side = source->width / how->columns;
    light->layout = CUBE;
    if (!image_allocate(&light->image, side, (uint64_t)side * FACES, why))
        return false;
    for (size_t f = 0; f < FACES; f++)
        copy_face(source, (size_t)how->place[f].column * side, (size_t)how->place[f].row * side, how->place[f].turned,
                  &light->image, f);
    return true;
}

bool environment_from_image(image *source, const char *name, environment *light, const char **form, problem *why) {
    const uint64_t width = source->width, height = source->height;
    if (width == 2 * height) {
        *form = "panorama";
        *light = (environment){PANORAMA, *source};
        *source = (image){0};
        return true;
    }
    bool good = false, known = false;
    for (size_t i = 0; i < sizeof ARRANGEMENTS / sizeof *ARRANGEMENTS && !known; i++) {
        const struct arrangement *how = &ARRANGEMENTS[i];
        known = width * how->rows == height * how->columns && width % how->columns == 0;
        *form = how->form;
        good = known && unfold(source, how, light, why);
    }
    image_free(source);
    if (known)
        return good;
    return refuse(why,
                  "%s: %" PRIu64 " x %" PRIu64
                  " pixels; expected a panorama, twice as wide as high, or the faces of a cube "
                  "as a cross (4:3 or 3:4) or a strip (6:1 or 1:6)",
                  name, width, height);
}

static bool check_faces(const image sources[FACES], const char *const names[FACES], problem *why) {
    for (size_t f = 0; f < FACES; f++) {
        if (sources[f].width != sources[f].height)
            return refuse(why, "%s: %" PRIu32 " x %" PRIu32 " pixels; expected a square, as face %s of six", names[f],
                          sources[f].width, sources[f].height, face_names[f]);
        if (sources[f].width != sources[0].width)
            return refuse(why, "%s: %" PRIu32 " x %" PRIu32 " pixels; expected %" PRIu32 " x %" PRIu32 ", as of %s",
                          names[f], sources[f].width, sources[f].height, sources[0].width, sources[0].height, names[0]);
    }
    return true;
}

bool environment_from_faces(image sources[FACES], const char *const names[FACES], environment *light, problem *why) {
    light->layout = CUBE;
    const bool good = check_faces(sources, names, why) &&
                      image_allocate(&light->image, sources[0].width, (uint64_t)sources[0].width * FACES, why);
    for (size_t f = 0; f < FACES; f++) {
        if (good)
            copy_face(&sources[f], 0, 0, false, &light->image, f);
        image_free(&sources[f]);
    }
    return good;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Directions
 * ------------------------------------------------------------------------------------------------------------------ */

static void panorama_texel(const image *map, uint64_t column, uint64_t row, double direction[3], double *solid_angle) {
    const uint64_t width = map->width, height = map->height;
    double sine, cosine, aside, ahead, half, unused;
    angle_of_turn(2 * row + 1, 4 * height, &sine, &cosine);           /* from straight up: half a turn has all rows */
    angle_of_turn(2 * column + 1 + width, 2 * width, &aside, &ahead); /* from ahead, which is half the width away */
    angle_of_turn(1, 4 * height, &half, &unused);                     /* half a texel */
    direction[0] = sine * aside;
    direction[1] = cosine;
    direction[2] = sine * ahead;
    *solid_angle = 2 * PI / (double)width * (2 * sine * half); /* the difference of the cosines of its edges */
}

/* The eight texels that mirror each other on a face get the same solid angle to the bit, computed where 0 <= v <= u. */
static double cube_solid_angle(double u, double v, double half) {
    const double x = fmax(fabs(u), fabs(v)), y = fmin(fabs(u), fabs(v));
    return angle_of_rectangle(x - half, y - half, x + half, y + half);
}

static void cube_texel(const image *map, size_t index, double direction[3], double *solid_angle) {
    const size_t side = map->width;
    const struct face *face = &CUBE_FACES[index / (side * side)];
    const double u = (2 * (double)(index % side) + 1 - (double)side) / (double)side;
    const double v = (2 * (double)(index / side % side) + 1 - (double)side) / (double)side;
    const double length = sqrt(u * u + v * v + 1);
    for (int i = 0; i < 3; i++)
        direction[i] = (face->middle[i] + u * face->right[i] + v * face->down[i]) / length;
    *solid_angle = cube_solid_angle(u, v, 1 / (double)side);
}

void environment_texel(const environment *light, size_t index, double direction[3], double *solid_angle) {
    const image *map = &light->image;
    if (light->layout == CUBE)
        cube_texel(map, index, direction, solid_angle);
    else
        panorama_texel(map, index % map->width, index / map->width, direction, solid_angle);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Looking
 * ------------------------------------------------------------------------------------------------------------------ */

/* Interpolates between the texels around (x, y) of the block of rows that begins at `first`; across, it may go round. */
static void interpolate(const image *map, size_t first, size_t rows, double x, double y, bool round,
                        double colour[CHANNELS]) {
    const double width = map->width;
    const double left = floor(x -= 0.5), top = floor(y -= 0.5);
    memset(colour, 0, CHANNELS * sizeof *colour);
    for (int i = 0; i < 4; i++) {
        double column = left + i % 2, row = top + i / 2;
        const double weight = (i % 2 ? x - left : left + 1 - x) * (i / 2 ? y - top : top + 1 - y);
        column = round ? column - floor(column / width) * width : fmin(fmax(column, 0), width - 1);
        row = fmin(fmax(row, 0), (double)rows - 1);
        for (int c = 0; c < CHANNELS; c++)
            colour[c] += weight * (double)map->channel[c][(first + (size_t)row) * map->width + (size_t)column];
    }
}

static double along(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void environment_look(const environment *light, const double direction[3], double colour[CHANNELS]) {
    const image *map = &light->image;
    const double width = map->width, height = map->height;
    if (light->layout == PANORAMA) {
        const double up = fmin(fmax(direction[1], -1), 1);
        interpolate(map, 0, map->height, (atan2(direction[0], direction[2]) / (2 * PI) + 0.5) * width,
                    acos(up) / PI * height, true, colour);
        return;
    }
    size_t face = 0;
    for (size_t f = 1; f < FACES; f++) {
        if (along(direction, CUBE_FACES[f].middle) > along(direction, CUBE_FACES[face].middle))
            face = f;
    }
    const double distance = along(direction, CUBE_FACES[face].middle);
    interpolate(map, face * map->width, map->width,
                (along(direction, CUBE_FACES[face].right) / distance + 1) / 2 * width,
                (along(direction, CUBE_FACES[face].down) / distance + 1) / 2 * width, false, colour);
}
