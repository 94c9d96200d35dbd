/* What the tests of the CUDA backend share: the device, its memory, plans that are executed on data that is there.
 *
 * Nothing here needs a CUDA header: functions of the driver come from drivers/cuda.h, and those that only tests call
 * are found by name in the library that it opened. */
#ifndef REDUCT_TESTS_CUDA_SUPPORT_H
#define REDUCT_TESTS_CUDA_SUPPORT_H

#include <reduct/cuda.h>

#include "drivers/cuda.h"
#include "support.h"
#include "values.h"

/* Functions of the driver that the library has no use for, as in drivers/cuda.h. */
typedef struct CUgraph_st *rd_cu_graph;
typedef struct CUgraphExec_st *rd_cu_graph_exec;
/* clang-format off */
#define GPU_FUNCTIONS(FUNCTION) \
    FUNCTION(cuStreamBeginCapture, "cuStreamBeginCapture_v2", (rd_cu_stream stream, int mode)) \
    FUNCTION(cuStreamEndCapture, "cuStreamEndCapture", (rd_cu_stream stream, rd_cu_graph *graph)) \
    FUNCTION(cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags", \
             (rd_cu_graph_exec *exec, rd_cu_graph graph, unsigned long long flags)) \
    FUNCTION(cuGraphLaunch, "cuGraphLaunch", (rd_cu_graph_exec exec, rd_cu_stream stream)) \
    FUNCTION(cuGraphExecDestroy, "cuGraphExecDestroy", (rd_cu_graph_exec exec)) \
    FUNCTION(cuGraphDestroy, "cuGraphDestroy", (rd_cu_graph graph)) \
    FUNCTION(cuGraphGetNodes, "cuGraphGetNodes", (rd_cu_graph graph, void **nodes, size_t *count)) \
    FUNCTION(cuCtxCreate, "cuCtxCreate_v2", (rd_cu_context *context, unsigned flags, rd_cu_device device)) \
    FUNCTION(cuCtxDestroy, "cuCtxDestroy_v2", (rd_cu_context context)) \
    FUNCTION(cuDevicePrimaryCtxReset, "cuDevicePrimaryCtxReset_v2", (rd_cu_device device)) \
    FUNCTION(cuMemAllocManaged, "cuMemAllocManaged", (rd_cu_address *address, size_t bytes, unsigned flags))
/* clang-format on */

struct gpu {
    const char *name; /* the device's */
    const rd_cuda_driver *driver;
#define GPU_MEMBER(name, symbol, parameters) rd_cu_result(*name) parameters;
    GPU_FUNCTIONS(GPU_MEMBER)
#undef GPU_MEMBER
    rd_cu_device device;
    rd_cu_context primary; /* current in the thread that runs the tests */
    rd_cu_stream stream;
    unsigned multiprocessors;
    unsigned char *seen; /* page-locked: where gpu_run() has results and outcomes written */
    bool small;          /* few multiprocessors: it takes few data to fill all of them, which quick tests then do */
    bool quick;          /* few and small cases, for tools that slow a kernel down a hundred times */
};
extern struct gpu gpu;

/* Opens the device. False, and one sentence in `why`, where there is none to test. */
bool gpu_open(const char **why);

/* A call of the driver that must succeed. */
#define CU(call) gpu_check((call), #call, __FILE__, __LINE__)
void gpu_check(rd_cu_result result, const char *call, const char *file, int line);

/* Memory on the device. Uploads and downloads wait. */
rd_cu_address gpu_alloc(size_t bytes);
void gpu_free(rd_cu_address address);
void gpu_upload(rd_cu_address to, const void *from, size_t bytes);
void gpu_download(void *to, rd_cu_address from, size_t bytes);
void gpu_fill(rd_cu_address address, unsigned char value, size_t bytes);
rd_cu_address gpu_copy_of(const void *from, size_t bytes);

/* An address `bytes` further on, as the pointer that the library takes. */
void *gpu_pointer(rd_cu_address address, size_t bytes);

/* Workspace for a plan, all zero. */
rd_cu_address gpu_workspace(const reduct_plan *plan);

/* A plan for whole arrays; one that must be made. */
reduct_status gpu_plan_create(const reduct_reduction *reduction, uint64_t count, reduct_plan **plan,
                              reduct_error *error);
reduct_plan *gpu_plan(const reduct_reduction *reduction, uint64_t count);

/* Queues an execution with the plan's own workspace, and waits; what the kernel wrote, as an outcome. `x` and `y` are in
 * memory that the device can access. For the thread that runs the tests. */
struct test_outcome gpu_run(const reduct_plan *plan, const void *x, const void *y);

/* The same in a stream of the plan's context, which is current. */
struct test_outcome gpu_run_in(const reduct_plan *plan, const void *x, const void *y, rd_cu_stream stream);

/* gpu_run() with a plan made for it; its failure is the outcome's. */
struct test_outcome gpu_reduce(const reduct_reduction *reduction, const void *x, const void *y, uint64_t count);

/* What reduct_plan_execute() gives: for data here or there. */
struct test_outcome gpu_execute(const reduct_plan *plan, const void *x, const void *y);

/* What the CPU gives for the same data on the host, as what is expected. */
struct oracle_result gpu_expected(const reduct_reduction *reduction, const void *x, const void *y, uint64_t count);

/* Whether fast mode is exact for the pair as well. */
bool gpu_always_exact(reduct_operator op, const struct test_type *type);

/* The groups of tests, one per file; each returns the number of tests that failed. */
int test_cuda_bits(void);
int test_cuda_calls(void);
int test_cuda_auto(void);
int test_cuda_several(void);
int test_cuda_masks(void);
int test_cuda_faults(void);
int test_cuda_groups(void);
int test_cuda_keys(void);
int test_cuda_set(void);

/* Whether the devices have a kernel of whole arrays for an operator, and it means something for elements of a type. */
bool gpu_has(reduct_operator op, reduct_type element);

#endif
