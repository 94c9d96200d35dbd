/* What MPI is asked for by the library and the tests, which call these functions of ours in the place of its own: collectives are
 * counted, and where ranks take turns (REDUCT_TEST_TURNS in the environment) one that waits lets the others have the processor, which MPICH's own
 * never does. */
#ifndef CALLS_H
#define CALLS_H

/* Collectives that this rank has begun. */
long calls_made(void);

#endif
