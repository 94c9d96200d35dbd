/* The peers: Thrust and CUB on the ladder's data. */
#include "ladder/cuda_ladder.h"

#include <string.h>

static const char *const peer_names[] = {"CUB DeviceReduce::Sum", "thrust::reduce"};
enum { CUB, THRUST, PEERS };

typedef struct peer_run {
    const gpu_peers *peers;
    cuda_lab *lab;
    const gpu_cuda_input *input;
    enum gpu_peer_type type;
    uint64_t n, scratch;
    size_t scratch_bytes;
    int peer, error; /* the first one */
    _Alignas(8) unsigned char host_result[8];
} peer_run;

enum gpu_peer_type cuda_peer_type(reduct_type type) {
    return type == REDUCT_I32 ? GPU_PEER_I32 : type == REDUCT_F32 ? GPU_PEER_F32 : GPU_PEER_F64;
}

void cuda_peer_version(int version, const char *name, char *text, size_t room) {
    snprintf(text, room, "%s%d.%d.%d", name, version / 100000, version / 100 % 1000, version % 100);
}

static void run_once(void *context, uint64_t run) {
    peer_run *p = context;
    void *from = gpu_cuda_pointer(gpu_cuda_input_at(p->input, run)), *stream = gpu_cuda_stream(p->lab->device);
    int error = p->peer == CUB ? p->peers->sum_in_type(p->type, gpu_cuda_pointer(p->scratch), &p->scratch_bytes, from,
                                                       gpu_cuda_pointer(p->lab->result), p->n, stream)
                               : p->peers->thrust_sum(p->type, from, p->host_result, p->n, stream);
    if (!p->error)
        p->error = error;
}

static void prepare(peer_run *p) {
    if (p->peer != CUB)
        return;
    p->error = p->peers->sum_in_type(p->type, NULL, &p->scratch_bytes, gpu_cuda_pointer(p->input->address),
                                     gpu_cuda_pointer(p->lab->result), p->n, gpu_cuda_stream(p->lab->device));
    p->scratch = gpu_cuda_allocate(p->lab->device, p->scratch_bytes);
}

static void add_peer(peer_run *p, const ladder_options *options, const ladder_data *data, report *r) {
    cuda_lab *lab = p->lab;
    unsigned char result[8];
    report_row row = cuda_row(lab, "peers", peer_names[p->peer], options->type, data->n);
    cuda_peer_version(p->peer == CUB ? p->peers->cub_version : p->peers->thrust_version, "", row.variant,
                      sizeof row.variant);
    snprintf(row.note, sizeof row.note, "%s",
             p->peer == CUB ? "scratch memory allocated before" : "allocates, waits, and returns to the host");
    prepare(p);
    measure_statistics seconds = {0};
    if (!p->error) {
        seconds = gpu_cuda_time(lab->device, run_once, p, options->rounds);
        run_once(p, 0);
        gpu_cuda_download(lab->device, result, lab->result, reduct_type_size(options->type));
        if (p->peer == THRUST)
            memcpy(result, p->host_result, sizeof result);
        cuda_row_time(lab, &row, &seconds);
        ladder_judge(&row, data, result, (double)data->n); /* the bound of any order of additions */
    }
    gpu_row_error(&row, "", p->error ? p->peers->text(p->error) : gpu_cuda_error(lab->device));
    if (gpu_cuda_error(lab->device))
        gpu_cuda_forgive(lab->device);
    gpu_cuda_free(lab->device, p->scratch);
    report_add_row(r, &row);
}

static peer_run run_of(const gpu_peers *peers, int peer, cuda_lab *lab, reduct_type type, uint64_t n,
                       const gpu_cuda_input *input) {
    return (peer_run){.peers = peers, .lab = lab, .input = input, .type = cuda_peer_type(type), .n = n, .peer = peer};
}

void cuda_add_peer_points(cuda_lab *lab, const ladder_options *options, uint64_t n, unsigned rounds,
                          const gpu_cuda_input *input, report *r) {
    const char *why;
    const gpu_peers *peers = gpu_cuda_peers(lab->facts->ordinal, &why);
    for (int peer = 0; peers && peer < PEERS; peer++) {
        peer_run p = run_of(peers, peer, lab, options->type, n, input);
        prepare(&p);
        if (!p.error) {
            double seconds = gpu_cuda_time(lab->device, run_once, &p, rounds).median;
            gpu_add_point(r, peer_names[peer], "cuda", options->type, n, p.error ? 0 : seconds);
        }
        gpu_cuda_free(lab->device, p.scratch);
    }
}

void cuda_run_peers(cuda_lab *lab, const ladder_options *options, const ladder_data *data, const gpu_cuda_input *input,
                    report *r) {
    const char *why;
    const gpu_peers *peers = gpu_cuda_peers(lab->facts->ordinal, &why);
    for (int peer = 0; peer < PEERS; peer++) {
        if (peers) {
            peer_run p = run_of(peers, peer, lab, options->type, data->n, input);
            add_peer(&p, options, data, r);
        } else {
            report_row row = cuda_row(lab, "peers", peer_names[peer], options->type, data->n);
            gpu_row_error(&row, "", why);
            report_add_row(r, &row);
        }
    }
}
