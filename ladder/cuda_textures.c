/* Sums of texels on CUDA devices, beside sums of the same elements in an array. Kernels are in cuda/applications/texture.cu. */
#include "ladder/cuda_ladder.h"

enum { THREADS = 256 };

/* A way of reading, ready to run. */
typedef struct reading {
    cuda_lab *lab;
    const ladder_data *data;
    const gpu_cuda_input *array;
    gpu_cuda_texture layers[GPU_TEXTURE_LAYERS_MOST]; /* of the array's elements each */
    unsigned count;
    gpu_texture_shape shape;
    gpu_cuda_kernel kernel;
    unsigned blocks;
} reading;

static void run_once(void *context, uint64_t run) {
    reading *r = context;
    cuda_lab *lab = r->lab;
    uint64_t array = gpu_cuda_input_at(r->array, run), n = r->data->n, tiles = gpu_texture_tiles(&r->shape);
    uint64_t texels = r->layers[run % r->count].object;
    gpu_cuda_launch(
        lab->device, &r->kernel, r->blocks, THREADS,
        (void *[]){&array, &texels, &r->shape.width, &tiles, &n, &lab->partials[0], &lab->result, &lab->ticket});
}

/* As many textures as exceed the cache together, as far as there is room. */
static void create_layers(reading *r) {
    gpu_cuda *device = r->lab->device;
    uint64_t bytes = (uint64_t)r->shape.width * r->shape.height * sizeof(float);
    uint64_t texels = gpu_cuda_allocate(device, bytes);
    uint64_t wanted = 3 * r->lab->facts->l2 / bytes + 2, room = gpu_cuda_free_memory(device) / 2 / bytes;
    wanted = wanted < room ? wanted : room;
    gpu_cuda_fill(device, texels, 0, bytes);
    gpu_cuda_copy(device, texels, r->array->address, r->data->n * sizeof(float));
    do
        r->layers[r->count++] = gpu_cuda_texture_create(device, texels, r->shape.width, r->shape.height);
    while (r->count < wanted && r->count < GPU_TEXTURE_LAYERS_MOST && !gpu_cuda_error(device));
    gpu_cuda_wait(device);
    gpu_cuda_free(device, texels);
}

/* False, and one sentence in the row's note, where it cannot be run. */
static bool prepare(reading *r, gpu_texture_way way, report_row *row) {
    char name[48];
    snprintf(name, sizeof name, "texture_%s_f32", gpu_textures[way].file);
    r->kernel = cuda_lab_kernel(r->lab, "applications/texture", name, 0, row->note, sizeof row->note);
    if (!r->kernel.function)
        return false;
    uint64_t wanted = r->data->n / THREADS + 1;
    uint64_t most =
        (uint64_t)r->lab->facts->multiprocessors * gpu_cuda_resident_blocks(r->lab->device, &r->kernel, THREADS);
    r->blocks = (unsigned)(wanted < most ? wanted : most);
    cuda_row_kernel(r->lab, row, &r->kernel, THREADS);
    cuda_lab_reserve(r->lab, r->blocks * sizeof(float));
    return true;
}

static void add(reading *r, gpu_texture_way way, unsigned rounds, report *to) {
    gpu_cuda *device = r->lab->device;
    report_row row = cuda_row(r->lab, "applications", "texture", r->data->type, r->data->n);
    float sum = 0;
    snprintf(row.variant, sizeof row.variant, "%s", gpu_textures[way].variant);
    if (!gpu_cuda_error(device) && prepare(r, way, &row)) {
        measure_statistics seconds = gpu_cuda_time(device, run_once, r, rounds);
        cuda_row_time(r->lab, &row, &seconds);
        run_once(r, 0);
        gpu_cuda_download(device, &sum, r->lab->result, sizeof sum);
        ladder_judge(&row, r->data, &sum, gpu_texture_terms(&r->shape, r->blocks, THREADS));
    } else {
        row.verdict = REPORT_NOT_RUN;
    }
    gpu_row_error(&row, "", gpu_cuda_error(device));
    report_add_row(to, &row);
}

void cuda_run_textures(cuda_lab *lab, const ladder_options *options, const ladder_data *data,
                       const gpu_cuda_input *array, report *r) {
    reading read = {.lab = lab, .data = data, .array = array, .shape = gpu_texture_shape_of(data->n)};
    char why[160];
    if (cuda_lab_kernel(lab, "applications/texture", "texture_rows_f32", 0, why, sizeof why).function)
        create_layers(&read);
    for (int way = 0; way < GPU_TEXTURE_WAYS; way++)
        add(&read, (gpu_texture_way)way, options->rounds, r);
    for (unsigned i = 0; i < read.count; i++)
        gpu_cuda_texture_destroy(&read.layers[i]);
    if (gpu_cuda_error(lab->device))
        gpu_cuda_forgive(lab->device);
}
