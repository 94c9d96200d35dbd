/* The projection as a picture: see picture.h. */
#include "picture.h"

#include "angle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Samples per pixel are SAMPLES * SAMPLES. */
enum { SAMPLES = 4 };

struct scene {
    const environment *light;
    const coefficients *rebuilt;
    double gain;
    double turned; /* where the camera looks, as an angle from +z towards +x */
};

/* Colour at (x, y) of a panel, both from 0 to 1 from the top left. */
typedef void painter(const struct scene *scene, double x, double y, double colour[CHANNELS]);

/* Colour in a direction. */
typedef void painter_of_direction(const struct scene *scene, const double direction[3], double colour[CHANNELS]);

/* ---------------------------------------------------------------------------------------------------------------------
 * Panels
 * ------------------------------------------------------------------------------------------------------------------ */

static void panorama_direction(double x, double y, double direction[3]) {
    const double down = PI * y, aside = 2 * PI * x - PI;
    direction[0] = sin(down) * sin(aside);
    direction[1] = cos(down);
    direction[2] = sin(down) * cos(aside);
}

/* What a white diffuse surface sends out. Nine coefficients can dip below zero opposite a strong light. */
static void diffuse(const struct scene *scene, const double normal[3], double colour[CHANNELS]) {
    for (int c = 0; c < CHANNELS; c++)
        colour[c] = fmax(0, irradiance(scene->rebuilt, c, normal) / PI);
}

static void look(const struct scene *scene, const double direction[3], double colour[CHANNELS]) {
    environment_look(scene->light, direction, colour);
}

static void paint_map(const struct scene *scene, double x, double y, double colour[CHANNELS]) {
    double direction[3];
    panorama_direction(x, y, direction);
    look(scene, direction, colour);
}

static void paint_irradiance(const struct scene *scene, double x, double y, double colour[CHANNELS]) {
    double direction[3];
    panorama_direction(x, y, direction);
    diffuse(scene, direction, colour);
}

/* Where the ray from the eye in a direction of length 1 meets the ball of radius 1: the normal there. */
static bool meets(const double ray[3], const double centre[3], double normal[3]) {
    const double along = ray[0] * centre[0] + ray[1] * centre[1] + ray[2] * centre[2];
    const double root = along * along - (centre[0] * centre[0] + centre[1] * centre[1] + centre[2] * centre[2]) + 1;
    if (root < 0)
        return false;
    for (int i = 0; i < 3; i++)
        normal[i] = (along - sqrt(root)) * ray[i] - centre[i];
    return true;
}

/* Colour that a ray of light brings to the eye. The camera's x and z are turned into the map's. */
static void arriving(const struct scene *scene, const double ray[3], painter_of_direction *paint,
                     double colour[CHANNELS]) {
    const double sine = sin(scene->turned), cosine = cos(scene->turned);
    const double direction[3] = {cosine * ray[0] + sine * ray[2], ray[1], cosine * ray[2] - sine * ray[0]};
    paint(scene, direction, colour);
}

static void paint_balls(const struct scene *scene, double x, double y, double colour[CHANNELS]) {
    static const double MIRROR[3] = {-1.08, 0, 4.2}, WHITE[3] = {1.08, 0, 4.2};
    static const double WIDE = 0.6; /* tangent of half the angle of view */
    double ray[3] = {WIDE * (2 * x - 1), WIDE * (1 - 2 * y), 1}, normal[3];
    const double length = sqrt(ray[0] * ray[0] + ray[1] * ray[1] + 1);
    for (int i = 0; i < 3; i++)
        ray[i] /= length;
    if (meets(ray, WHITE, normal)) {
        arriving(scene, normal, diffuse, colour);
        return;
    }
    if (meets(ray, MIRROR, normal)) {
        const double twice = 2 * (ray[0] * normal[0] + ray[1] * normal[1] + ray[2] * normal[2]);
        for (int i = 0; i < 3; i++)
            ray[i] -= twice * normal[i];
    }
    arriving(scene, ray, look, colour);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Pixels
 * ------------------------------------------------------------------------------------------------------------------ */

/* What is shown of light, from 0 to 1: a curve that saturates slowly, as film does. Samples are averaged behind it, so
 * that the edges of bright things are smooth. */
static double shown(double light) {
    return 1 - exp(-fmax(0, light));
}

/* The encoding of sRGB. */
static unsigned char encoded(double linear) {
    const double value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
    return (unsigned char)lrint(255 * value);
}

struct panel {
    painter *paint;
    size_t x, y, width, height;
};

static void paint_pixel(const struct scene *scene, const struct panel *panel, size_t x, size_t y, unsigned char *rgb) {
    double sum[CHANNELS] = {0}, colour[CHANNELS];
    for (int s = 0; s < SAMPLES * SAMPLES; s++) {
        panel->paint(scene, ((double)x + (s % SAMPLES + 0.5) / SAMPLES) / (double)panel->width,
                     ((double)y + (s / SAMPLES + 0.5) / SAMPLES) / (double)panel->height, colour);
        for (int c = 0; c < CHANNELS; c++)
            sum[c] += shown(colour[c] * scene->gain);
    }
    for (int c = 0; c < CHANNELS; c++)
        rgb[c] = encoded(sum[c] / (SAMPLES * SAMPLES));
}

static void paint_panel(const struct scene *scene, const struct panel *panel, unsigned char *pixels, size_t width) {
    for (size_t y = 0; y < panel->height; y++) {
        for (size_t x = 0; x < panel->width; x++)
            paint_pixel(scene, panel, x, y, pixels + 3 * ((panel->y + y) * width + panel->x + x));
    }
}

/* The gain that shows light of the mean brightness, which the first coefficients tell, as a middle grey. */
static double gain_of(const coefficients *rebuilt, double exposure) {
    const double mean = (rebuilt->of[0][0] + rebuilt->of[0][1] + rebuilt->of[0][2]) / 3 * sqrt(1 / (4 * PI));
    return mean > 0 && isfinite(mean) ? 0.5 / mean * exp2(exposure) : 1;
}

/* The camera looks to where the main light, which band 1 tells, comes from the right. */
static double camera_of(const coefficients *rebuilt) {
    double x = 0, z = 0;
    for (int c = 0; c < CHANNELS; c++) {
        x += rebuilt->of[3][c];
        z += rebuilt->of[2][c];
    }
    return isfinite(x + z) ? atan2(x, z) - 0.54 * PI : 0;
}

bool picture_write(const char *path, const environment *light, const coefficients *rebuilt, double exposure,
                   uint32_t height, problem *why) {
    const size_t gap = height / 60, half = (height - gap) / 2, width = 2 * half + gap + height;
    const struct panel panels[] = {{paint_map, 0, 0, 2 * half, half},
                                   {paint_irradiance, 0, height - half, 2 * half, half},
                                   {paint_balls, 2 * half + gap, 0, height, height}};
    const struct scene scene = {light, rebuilt, gain_of(rebuilt, exposure), camera_of(rebuilt)};
    unsigned char *pixels = malloc(3 * width * height);
    if (!pixels)
        return refuse(why, "no memory for a picture of %zu x %zu pixels", width, (size_t)height);
    memset(pixels, 255, 3 * width * height);
    for (size_t i = 0; i < sizeof panels / sizeof *panels; i++)
        paint_panel(&scene, &panels[i], pixels, width);
    const bool good = png_write(path, pixels, (uint32_t)width, height, why);
    free(pixels);
    return good;
}
