/* Collectives, counted, and waited for in turns: see calls.h. */
#include "calls.h"

#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#define FOR_ALL __attribute__((visibility("default")))

static long made;

long calls_made(void) {
    return made;
}

static bool takes_turns(void) {
    static int known = -1;
    if (known < 0)
        known = getenv("REDUCT_TEST_TURNS") != NULL;
    return known;
}

/* Waits for what began with that code. */
static int finish(int code, int count, MPI_Request *requests, MPI_Status *statuses) {
    for (int done = 0; code == MPI_SUCCESS && !done;) {
        code = PMPI_Testall(count, requests, &done, statuses);
        if (!done)
            sched_yield();
    }
    return code;
}

static int finish_one(int code, MPI_Request *request) {
    MPI_Status status;
    return finish(code, 1, request, &status);
}

/* Those that take an operation, by the names of a call and of the one that only begins it. */
#define WITH_OPERATION(CALL, BEGIN)                                                                                    \
    FOR_ALL int MPI_##CALL(const void *sent, void *received, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) { \
        MPI_Request request;                                                                                           \
        made++;                                                                                                        \
        if (!takes_turns())                                                                                            \
            return PMPI_##CALL(sent, received, count, type, op, comm);                                                 \
        return finish_one(PMPI_##BEGIN(sent, received, count, type, op, comm, &request), &request);                    \
    }
WITH_OPERATION(Allreduce, Iallreduce)
WITH_OPERATION(Scan, Iscan)
WITH_OPERATION(Exscan, Iexscan)

FOR_ALL int MPI_Reduce(const void *sent, void *received, int count, MPI_Datatype type, MPI_Op op, int root,
                       MPI_Comm comm) {
    MPI_Request request;
    made++;
    if (!takes_turns())
        return PMPI_Reduce(sent, received, count, type, op, root, comm);
    return finish_one(PMPI_Ireduce(sent, received, count, type, op, root, comm, &request), &request);
}

FOR_ALL int MPI_Allgather(const void *sent, int sent_count, MPI_Datatype sent_type, void *received, int count,
                          MPI_Datatype type, MPI_Comm comm) {
    MPI_Request request;
    made++;
    if (!takes_turns())
        return PMPI_Allgather(sent, sent_count, sent_type, received, count, type, comm);
    return finish_one(PMPI_Iallgather(sent, sent_count, sent_type, received, count, type, comm, &request), &request);
}

FOR_ALL int MPI_Bcast(void *bytes, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    MPI_Request request;
    made++;
    return takes_turns() ? finish_one(PMPI_Ibcast(bytes, count, type, root, comm, &request), &request)
                         : PMPI_Bcast(bytes, count, type, root, comm);
}

FOR_ALL int MPI_Barrier(MPI_Comm comm) {
    MPI_Request request;
    made++;
    return takes_turns() ? finish_one(PMPI_Ibarrier(comm, &request), &request) : PMPI_Barrier(comm);
}

FOR_ALL int MPI_Iallreduce(const void *sent, void *received, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                           MPI_Request *request) {
    made++;
    return PMPI_Iallreduce(sent, received, count, type, op, comm, request);
}

FOR_ALL int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses) {
    return takes_turns() ? finish(MPI_SUCCESS, count, requests, statuses) : PMPI_Waitall(count, requests, statuses);
}

FOR_ALL int MPI_Sendrecv(const void *sent, int sent_count, MPI_Datatype sent_type, int to, int sent_tag, void *received,
                         int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    if (!takes_turns())
        return PMPI_Sendrecv(sent, sent_count, sent_type, to, sent_tag, received, count, type, from, tag, comm, status);
    int code = PMPI_Irecv(received, count, type, from, tag, comm, &requests[0]);
    if (code == MPI_SUCCESS)
        code = PMPI_Isend(sent, sent_count, sent_type, to, sent_tag, comm, &requests[1]);
    code = finish(code, 2, requests, statuses);
    if (status != MPI_STATUS_IGNORE)
        *status = statuses[0];
    return code;
}
