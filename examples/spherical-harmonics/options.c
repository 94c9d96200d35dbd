/* The command line: see options.h. */
#include "options.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICE = 'd', THREADS = 'j', PICTURE = 'p', EXPOSURE = 'e', SIZE = 's' };
enum { INVALID = 256, PLAIN, EXPECT, MAKE, CUBE_FORM };

static const struct argp_option OPTIONS[] = {
    {NULL, 0, NULL, 0, "How it is computed:", 1},
    {"device", DEVICE, "NAME", 0,
     "auto (the default), cpu, cpu:avx2 or any other that the library knows; vulkan:0, or vulkan: and a part of a name",
     1},
    {"threads", THREADS, "N", 0, "most threads to use; 0, the default, for one per processor", 1},
    {"invalid", INVALID, "POLICY", 0,
     "what to do about numbers that light cannot have: error (the default) refuses maps with NaN or infinities and "
     "keeps "
     "negative numbers, zero takes all three as 0, keep leaves them as they are",
     1},
    {NULL, 0, NULL, 0, "What is shown:", 2},
    {"picture", PICTURE, "FILE", 0,
     "draw the map, the irradiance that the coefficients rebuild, and balls lit by it, as a PNG file", 2},
    {"exposure", EXPOSURE, "STOPS", 0, "make the picture brighter by so many stops, or darker (default 0)", 2},
    {"plain", PLAIN, NULL, 0, "show too what plain loops over floats give, forwards and backwards", 2},
    {"expect", EXPECT, "LIGHT", 0, "show too the known coefficients of LIGHT and how far the map's are from them", 2},
    {NULL, 0, NULL, 0, "Maps to test with:", 3},
    {"make-test-map", MAKE, "LIGHT", 0, "write a Radiance .hdr map of known coefficients to MAP, and do nothing else",
     3},
    {"cube", CUBE_FORM, NULL, 0, "as a strip of cube faces instead of a panorama", 3},
    {"size", SIZE, "N", 0, "rows of the map (default 256), of its faces (with --cube), or of the picture (default 652)",
     3},
    {0}};

/* clang-format off */
static const char DOCUMENTATION[] =
    "Projects an environment map on nine spherical harmonics per colour: all that is needed to light diffuse surfaces. "
    "Sums are exact, so the coefficients have the same bits on every device and any number of threads."
    "\v"
    "MAP is a panorama, twice as wide as high, or the faces of a cube as a cross (4:3, or 3:4 with -z standing on its "
    "head) or as a strip (6:1 or 1:6) in the order +x -x +y -y +z -z. Six files are faces in that order. Up is +y, the "
    "centre of a panorama is +z and to the right of it lies +x.\n\n"
    "LIGHT is one of\n\n";
static const char EXAMPLES[] =
    "\nExamples:\n\n"
    "  spherical-harmonics sky.hdr --picture sky.png\n"
    "  spherical-harmonics px.png nx.png py.png ny.png pz.png nz.png\n"
    "  spherical-harmonics city.exr --device cpu:portable --threads 1\n"
    "  spherical-harmonics city.exr --device vulkan:0\n"
    "  spherical-harmonics --make-test-map cosine cosine.hdr\n"
    "  spherical-harmonics cosine.hdr --expect cosine --plain\n";
/* clang-format on */

/* ---------------------------------------------------------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------------------------------------------------------ */

static unsigned read_count(struct argp_state *state, const char *name, const char *text, unsigned least,
                           unsigned most) {
    char *end;
    errno = 0;
    const unsigned long value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || value < least || value > most)
        argp_error(state, "--%s: found '%s'; expected a whole number from %u to %u", name, text, least, most);
    return (unsigned)value;
}

static double read_exposure(struct argp_state *state, const char *text) {
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end || !(fabs(value) <= 100))
        argp_error(state, "--exposure: found '%s'; expected a number of stops from -100 to 100", text);
    return value;
}

static invalid_policy read_policy(struct argp_state *state, const char *text) {
    static const char *const NAMES[] = {"error", "zero", "keep"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(NAMES[i], text) == 0)
            return (invalid_policy)i;
    }
    argp_error(state, "--invalid: found '%s'; expected error, zero or keep", text);
    return INVALID_ERROR;
}

static const char *read_light(struct argp_state *state, const char *name, const char *text) {
    if (!analytic_find(text))
        argp_error(state, "--%s: found '%s'; expected %s", name, text, analytic_names());
    return text;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Parsing
 * ------------------------------------------------------------------------------------------------------------------ */

/* What can only be said when all is known. */
static void check(struct argp_state *state, const options *all) {
    const int count = all->path_count;
    if (all->made && count != 1)
        argp_error(state, "--make-test-map: %d files given; expected one, to write to", count);
    else if (count != 1 && count != FACES)
        argp_error(state, "%d files given; expected one map, or the six faces of a cube", count);
    if (all->form == CUBE && !all->made)
        argp_error(state, "--cube: expected with --make-test-map; what a map to read is, is told by its shape");
    if (all->size && !all->made && !all->picture)
        argp_error(state, "--size: expected with --make-test-map or --picture");
    if (all->picture && all->size && all->size < 60)
        argp_error(state, "--size: found %u; expected at least 60 for a picture", all->size);
}

static error_t take_option(int key, char *text, struct argp_state *state) {
    options *all = state->input;
    switch (key) {
    case DEVICE:
        all->request.device = text;
        return 0;
    case THREADS:
        all->request.threads = read_count(state, "threads", text, 0, 65536);
        return 0;
    case INVALID:
        all->invalid = read_policy(state, text);
        return 0;
    case PICTURE:
        all->picture = text;
        return 0;
    case EXPOSURE:
        all->exposure = read_exposure(state, text);
        return 0;
    case PLAIN:
        all->plain = true;
        return 0;
    case EXPECT:
        all->expected = read_light(state, "expect", text);
        return 0;
    case MAKE:
        all->made = read_light(state, "make-test-map", text);
        return 0;
    case CUBE_FORM:
        all->form = CUBE;
        return 0;
    case SIZE:
        all->size = read_count(state, "size", text, 1, 8192);
        return 0;
    case ARGP_KEY_ARGS:
        all->paths = state->argv + state->next;
        all->path_count = state->argc - state->next;
        return 0;
    case ARGP_KEY_END:
        check(state, all);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The help, with the lights from their table. */
static char *documentation(void) {
    static char text[4096];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", DOCUMENTATION);
    for (size_t i = 0; analytic_name(i); i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "  %-9s %s\n", analytic_name(i), analytic_text(i));
    snprintf(text + used, sizeof text - used, "%s", EXAMPLES);
    return text;
}

void options_parse(int argc, char **argv, options *all) {
    const struct argp parser = {
        .options = OPTIONS, .parser = take_option, .args_doc = "MAP\n+X -X +Y -Y +Z -Z", .doc = documentation()};
    *all = (options){.request = {.device = "auto"}};
    static char name[] = "spherical-harmonics";
    argv[0] = name; /* as argp is to call the program */
    argp_err_exit_status = 2;
    argp_parse(&parser, argc, argv, 0, NULL, all);
}
