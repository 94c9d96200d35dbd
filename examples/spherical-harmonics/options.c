/* The command line: see options.h. */
#include "options.h"

#include "program/command_line.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICE = 'd', THREADS = 'j', PICTURE = 'p', EXPOSURE = 'e', SIZE = 's' };
enum { INVALID = 256, PLAIN, EXPECT, MAKE, CUBE_FORM };

static const program_option OPTIONS[] = {
    {.text = "How it is computed:"},
    {"device", DEVICE, "NAME",
     "auto (the default), cpu, cpu:avx2 or any other that the library knows; vulkan:0, or vulkan: and a part of a "
     "name"},
    {"invalid", INVALID, "POLICY",
     "what to do about numbers that light cannot have: error (the default) refuses maps with NaN or infinities and "
     "keeps negative numbers, zero takes all three as 0, keep leaves them as they are"},
    {"threads", THREADS, "N", "most threads to use; 0, the default, for one per processor"},
    {.text = "What is shown:"},
    {"expect", EXPECT, "LIGHT", "show too the known coefficients of LIGHT and how far the map's are from them"},
    {"exposure", EXPOSURE, "STOPS", "make the picture brighter by so many stops, or darker (default 0)"},
    {"plain", PLAIN, NULL, "show too what plain loops over floats give, forwards and backwards"},
    {"picture", PICTURE, "FILE",
     "draw the map, the irradiance that the coefficients rebuild, and balls lit by it, as a PNG file"},
    {.text = "Maps to test with:"},
    {"cube", CUBE_FORM, NULL, "as a strip of cube faces instead of a panorama"},
    {"make-test-map", MAKE, "LIGHT", "write a Radiance .hdr map of known coefficients to MAP, and do nothing else"},
    {"size", SIZE, "N", "rows of the map (default 256), of its faces (with --cube), or of the picture (default 652)"},
    {0}};

/* clang-format off */
static const char ABOUT[] =
    "Projects an environment map on nine spherical harmonics per colour: all that is needed to light diffuse surfaces. "
    "Sums are exact, so the coefficients have the same bits on every device and any number of threads.";
static const char NOTES[] =
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

static int take_option(int key, char *text, void *state);

static program_command command = {.name = "spherical-harmonics",
                                  .arguments = "MAP\n+X -X +Y -Y +Z -Z",
                                  .about = ABOUT,
                                  .options = OPTIONS,
                                  .take = take_option};

/* Returns 0, or the exit status after saying what is wrong; so do all of these. */
static int read_count(const char *name, const char *text, unsigned least, unsigned most, unsigned *count) {
    char *end;
    errno = 0;
    const unsigned long value = strtoul(text, &end, 10);
    *count = (unsigned)value;
    if (*text >= '0' && *text <= '9' && !*end && !errno && value >= least && value <= most)
        return 0;
    return program_command_refuse(&command, "--%s: found '%s'; expected a whole number from %u to %u", name, text,
                                  least, most);
}

static int read_exposure(const char *text, double *exposure) {
    char *end;
    *exposure = strtod(text, &end);
    if (end > text && !*end && fabs(*exposure) <= 100)
        return 0;
    return program_command_refuse(&command, "--exposure: found '%s'; expected a number of stops from -100 to 100",
                                  text);
}

static int read_policy(const char *text, invalid_policy *policy) {
    static const char *const NAMES[] = {"error", "zero", "keep"};
    for (int i = 0; i < 3; i++) {
        *policy = (invalid_policy)i;
        if (strcmp(NAMES[i], text) == 0)
            return 0;
    }
    return program_command_refuse(&command, "--invalid: found '%s'; expected error, zero or keep", text);
}

static int read_light(const char *name, const char *text, const char **light) {
    *light = text;
    if (analytic_find(text))
        return 0;
    return program_command_refuse(&command, "--%s: found '%s'; expected %s", name, text, analytic_names());
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Parsing
 * ------------------------------------------------------------------------------------------------------------------ */

/* What can only be said when all is known. */
static int check(const options *all) {
    const int count = all->path_count;
    if (all->made && count != 1)
        return program_command_refuse(&command, "--make-test-map: %d files given; expected one, to write to", count);
    if (count != 1 && count != FACES)
        return program_command_refuse(&command, "%d files given; expected one map, or the six faces of a cube", count);
    if (all->form == CUBE && !all->made)
        return program_command_refuse(
            &command, "--cube: expected with --make-test-map; what a map to read is, is told by its shape");
    if (all->size && !all->made && !all->picture)
        return program_command_refuse(&command, "--size: expected with --make-test-map or --picture");
    if (all->picture && all->size && all->size < 60)
        return program_command_refuse(&command, "--size: found %u; expected at least 60 for a picture", all->size);
    return 0;
}

static int take_option(int key, char *text, void *state) {
    options *all = state;
    switch (key) {
    case DEVICE:
        all->request.device = text;
        return 0;
    case THREADS:
        return read_count("threads", text, 0, 65536, &all->request.threads);
    case INVALID:
        return read_policy(text, &all->invalid);
    case PICTURE:
        all->picture = text;
        return 0;
    case EXPOSURE:
        return read_exposure(text, &all->exposure);
    case PLAIN:
        all->plain = true;
        return 0;
    case EXPECT:
        return read_light("expect", text, &all->expected);
    case MAKE:
        return read_light("make-test-map", text, &all->made);
    case CUBE_FORM:
        all->form = CUBE;
        return 0;
    default:
        return read_count("size", text, 1, 8192, &all->size);
    }
}

/* The end of the help, with the lights from their table. */
static const char *notes(void) {
    static char text[4096];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", NOTES);
    for (size_t i = 0; analytic_name(i); i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "  %-9s %s\n", analytic_name(i), analytic_text(i));
    snprintf(text + used, sizeof text - used, "%s", EXAMPLES);
    return text;
}

int options_parse(int argc, char **argv, options *all) {
    int first;
    *all = (options){.request = {.device = "auto"}};
    command.notes = notes();
    const int status = program_command_read(&command, argc, argv, all, &first);
    if (status != 0)
        return status;
    all->paths = argv + first;
    all->path_count = argc - first;
    return check(all);
}
