/* What a work launches: captured as a CUDA graph, whose nodes know their kernels. The functions for that are newer than
 * the oldest driver that the rest is content with, and are looked for here. */
#include "gpu/cuda.h"

#include "drivers/cuda.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct CUgraph_st *cu_graph;
typedef struct CUgraphNode_st *cu_node;
typedef struct CUkern_st *cu_kernel;

/* CUDA_KERNEL_NODE_PARAMS_v2 of cuda.h. */
typedef struct kernel_node {
    rd_cu_function function; /* null where `kernel` is set */
    unsigned grid[3], block[3], shared;
    void **arguments, **extra;
    cu_kernel kernel;
    rd_cu_context context;
} kernel_node;

enum { CAPTURE_RELAXED = 2, NODE_KERNEL = 0 };

/* clang-format off */
#define FUNCTIONS(FUNCTION) \
    FUNCTION(cuStreamBeginCapture, "cuStreamBeginCapture_v2", (rd_cu_stream stream, int mode)) \
    FUNCTION(cuStreamEndCapture, "cuStreamEndCapture", (rd_cu_stream stream, cu_graph *graph)) \
    FUNCTION(cuGraphGetNodes, "cuGraphGetNodes", (cu_graph graph, cu_node *nodes, size_t *count)) \
    FUNCTION(cuGraphNodeGetType, "cuGraphNodeGetType", (cu_node node, int *type)) \
    FUNCTION(cuGraphKernelNodeGetParams, "cuGraphKernelNodeGetParams_v2", (cu_node node, kernel_node *what)) \
    FUNCTION(cuGraphDestroy, "cuGraphDestroy", (cu_graph graph)) \
    FUNCTION(cuFuncGetName, "cuFuncGetName", (const char **name, rd_cu_function function)) \
    FUNCTION(cuKernelGetFunction, "cuKernelGetFunction", (rd_cu_function *function, cu_kernel kernel))
/* clang-format on */

#include "gpu/cuda_functions.h"

/* The last identifier of a C++ symbol's name, as in _ZN3cub6detail18DeviceReduceKernelI..., or a C symbol as it is. */
static void plain_name(const char *symbol, char *name, size_t room) {
    snprintf(name, room, "%s", symbol);
    if (strncmp(symbol, "_Z", 2) != 0)
        return;
    const char *at = symbol + 2 + strspn(symbol + 2, "NKL");
    while (isdigit((unsigned char)*at)) {
        char *rest;
        unsigned long length = strtoul(at, &rest, 10);
        if (length > strlen(rest))
            return;
        snprintf(name, room, "%.*s", (int)length, rest);
        at = rest + length;
    }
}

static void describe_kernel(gpu_cuda *device, const functions *cu, cu_node node, gpu_cuda_launches *seen) {
    kernel_node what = {0};
    const char *symbol = NULL;
    if (cu->cuGraphKernelNodeGetParams(node, &what) != RD_CU_SUCCESS)
        return;
    seen->blocks = what.grid[0] * what.grid[1] * what.grid[2];
    seen->threads = what.block[0] * what.block[1] * what.block[2];
    if (!what.function && cu->cuKernelGetFunction(&what.function, what.kernel) != RD_CU_SUCCESS)
        return;
    seen->needs = gpu_cuda_kernel_of(device, what.function, what.shared);
    if (cu->cuFuncGetName(&symbol, what.function) == RD_CU_SUCCESS && symbol)
        plain_name(symbol, seen->kernel, sizeof seen->kernel);
}

static void describe_graph(gpu_cuda *device, const functions *cu, cu_graph graph, gpu_cuda_launches *seen) {
    enum { NODES_MOST = 16 };
    cu_node nodes[NODES_MOST];
    size_t count = NODES_MOST;
    if (cu->cuGraphGetNodes(graph, nodes, &count) != RD_CU_SUCCESS)
        return;
    for (size_t i = 0; i < count && i < NODES_MOST; i++) {
        int type = -1;
        if (cu->cuGraphNodeGetType(nodes[i], &type) != RD_CU_SUCCESS || type != NODE_KERNEL)
            seen->others++;
        else if (seen->kernels++ == 0)
            describe_kernel(device, cu, nodes[i], seen);
    }
}

gpu_cuda_launches gpu_cuda_watch(gpu_cuda *device, gpu_cuda_work *work, void *context) {
    gpu_cuda_launches seen = {.kernel = ""};
    functions cu;
    cu_graph graph = NULL;
    rd_cu_stream stream = gpu_cuda_stream(device);
    if (gpu_cuda_error(device) || !find_functions(&cu))
        return seen;
    gpu_cuda_wait(device);
    if (cu.cuStreamBeginCapture(stream, CAPTURE_RELAXED) != RD_CU_SUCCESS)
        return seen;
    work(context, 0);
    if (cu.cuStreamEndCapture(stream, &graph) == RD_CU_SUCCESS && graph) {
        describe_graph(device, &cu, graph, &seen);
        cu.cuGraphDestroy(graph);
    }
    return seen;
}
