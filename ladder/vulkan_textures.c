/* Sums of texels on Vulkan devices, beside sums of the same elements in an array. Shaders are in glsl/applications/,
 * hlsl/applications/ and slang/texture.slang. */
#include "ladder/vulkan_ladder.h"

#include "gpu/whole.h"

enum { GROUP = VULKAN_GROUP_DEFAULT, BUFFERS = 4 };

/* As in texture.comp. */
typedef struct push {
    vulkan_push rung;
    uint32_t width, tiles, layer;
} push;

/* A way of reading, ready to run. */
typedef struct reading {
    vulkan_lab *lab;
    const ladder_data *data;
    const gpu_vulkan_input *array;
    const gpu_vulkan_image *image; /* with the array's elements in each layer */
    unsigned layers;
    gpu_texture_shape shape;
    gpu_vulkan_kernel *kernel;
    uint64_t groups;
} reading;

static void run_once(void *context, uint64_t number) {
    const reading *r = context;
    vulkan_lab *lab = r->lab;
    uint64_t bytes;
    unsigned rows;
    push p = {.rung = {.n = (uint32_t)r->data->n, .groups = (uint32_t)r->groups, .total = (uint32_t)r->groups},
              .width = r->shape.width,
              .tiles = (uint32_t)gpu_texture_tiles(&r->shape),
              .layer = (uint32_t)(number % r->layers)};
    const gpu_vulkan_slice slices[BUFFERS] = {gpu_vulkan_input_piece(r->array, number, 0, &bytes),
                                              {lab->partials[0], 0, lab->partials_bytes},
                                              {lab->result, 0, 64},
                                              {lab->ticket, 0, 16}};
    gpu_vulkan_grid(lab->device, r->groups, &p.rung.row, &rows);
    gpu_vulkan_dispatch_with_image(lab->device, r->kernel, r->groups, slices, r->image, &p);
}

/* Layers that together exceed every cache as the copies of the array do, as far as there is room. */
static unsigned layers_of(const vulkan_lab *lab, const gpu_vulkan_input *array, const gpu_texture_shape *shape) {
    uint64_t bytes = (uint64_t)shape->width * shape->height * sizeof(float);
    uint64_t room = gpu_least(lab->facts->allocation, gpu_vulkan_free_memory(lab->device) / 2) / bytes;
    uint64_t wanted = gpu_ceil_divide(array->copies * array->stride, bytes);
    wanted = gpu_least(gpu_least(wanted, room), gpu_least(lab->facts->image_layers, GPU_TEXTURE_LAYERS_MOST));
    return wanted ? (unsigned)wanted : 1;
}

static gpu_vulkan_image *create_image(vulkan_lab *lab, const ladder_data *data, const gpu_texture_shape *shape,
                                      unsigned layers) {
    uint64_t bytes = (uint64_t)shape->width * shape->height * sizeof(float);
    gpu_vulkan_image *image = gpu_vulkan_image_create(lab->device, shape->width, shape->height, layers);
    gpu_vulkan_buffer *texels = gpu_vulkan_allocate(lab->device, bytes);
    if (image && texels) {
        gpu_vulkan_fill(lab->device, texels, 0, 0, bytes);
        gpu_vulkan_upload(lab->device, texels, 0, data->values, data->n * sizeof(float));
        gpu_vulkan_image_fill(lab->device, image, texels);
    }
    gpu_vulkan_free(lab->device, texels);
    return image;
}

/* Null, and one sentence in the row's note, where it cannot be had. */
static gpu_vulkan_kernel *create_kernel(vulkan_lab *lab, gpu_texture_way way, report_row *row) {
    static const unsigned constant_counts[] = {[VULKAN_GLSL] = 2, [VULKAN_HLSL] = 0, [VULKAN_SLANG] = 1};
    char name[64];
    snprintf(name, sizeof name, "%s/texture_%s_f32%s", vulkan_language_name(lab->language), gpu_textures[way].file,
             lab->language == VULKAN_SLANG ? "_last" : "");
    const uint32_t constants[] = {GROUP, VULKAN_LAST_GROUP};
    const gpu_vulkan_setup setup = {.shader = rd_vulkan_shader_find(ladder_vulkan_shaders, name),
                                    .buffers = BUFFERS,
                                    .has_image = way != GPU_TEXTURE_ARRAY,
                                    .push_bytes = sizeof(push),
                                    .constants = constants,
                                    .constant_count = constant_counts[lab->language]};
    const char *lacks = vulkan_language_lack(lab->language, lab->facts);
    if (lacks)
        snprintf(row->note, sizeof row->note, "%s", lacks);
    else if (!setup.shader)
        snprintf(row->note, sizeof row->note, "this build has no shader %s", name);
    return setup.shader && !lacks ? gpu_vulkan_kernel_create(lab->device, &setup) : NULL;
}

static void time_and_judge(reading *r, unsigned rounds, report_row *row) {
    vulkan_lab *lab = r->lab;
    float sum = 0;
    r->groups = gpu_ceil_divide(r->data->n, GROUP);
    r->groups = gpu_least(r->groups, vulkan_lab_resident_groups(lab, GROUP, gpu_vulkan_kernel_registers(r->kernel)));
    vulkan_lab_reserve(lab, r->groups * sizeof(float));
    measure_statistics seconds = gpu_vulkan_time(lab->device, run_once, r, rounds);
    gpu_row_time(row, &seconds, lab->read_limit, 0);
    run_once(r, 0);
    gpu_vulkan_download(lab->device, &sum, lab->result, 0, sizeof sum);
    ladder_judge(row, r->data, &sum, gpu_texture_terms(&r->shape, r->groups, GROUP));
}

/* Null, and one sentence in `why`, where a device cannot have such a texture. */
static gpu_vulkan_image *find_room(reading *r, const char **why) {
    const gpu_vulkan_facts *facts = r->lab->facts;
    *why = facts->image_side < r->shape.width || facts->image_side < r->shape.height
               ? "a texture of this device has fewer texels along a side"
           : r->array->pieces > 1 ? "the array is larger than a binding"
                                  : "there is no memory for the texture";
    if (facts->image_side < r->shape.width || facts->image_side < r->shape.height || r->array->pieces > 1)
        return NULL;
    r->layers = layers_of(r->lab, r->array, &r->shape);
    return create_image(r->lab, r->data, &r->shape, r->layers);
}

void vulkan_run_textures(vulkan_lab *lab, const ladder_options *options, const ladder_data *data,
                         const gpu_vulkan_input *array, report *r) {
    reading read = {.lab = lab, .data = data, .array = array, .shape = gpu_texture_shape_of(data->n)};
    const char *why;
    gpu_vulkan_image *image = find_room(&read, &why);
    read.image = image;
    for (int way = 0; way < GPU_TEXTURE_WAYS; way++) {
        report_row row = vulkan_row(lab, "applications", "texture", data->type, data->n);
        snprintf(row.variant, sizeof row.variant, "%s", gpu_textures[way].variant);
        report_set(&row, MEASURE_BLOCK, GROUP);
        snprintf(row.note, sizeof row.note, "%s", image ? "" : why);
        read.kernel = image ? create_kernel(lab, (gpu_texture_way)way, &row) : NULL;
        row.verdict = REPORT_NOT_RUN;
        if (read.kernel)
            time_and_judge(&read, options->rounds, &row);
        gpu_row_error(&row, "", gpu_vulkan_error(lab->device));
        if (gpu_vulkan_error(lab->device))
            gpu_vulkan_forgive(lab->device);
        gpu_vulkan_kernel_destroy(lab->device, read.kernel);
        report_add_row(r, &row);
    }
    gpu_vulkan_image_destroy(lab->device, image);
}
