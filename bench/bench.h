/* `reduct bench`: the library beside plain vectorised loops, by operator, type, data, size, device and threads. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

/* Runs `reduct bench` with the command line that follows "reduct". Returns the exit status: 0; 1 when a result was
 * wrong or could not be written; 2 when the command line is wrong, as it is where it names a device that is not here. */
int bench_command(int argc, char **argv);

#endif
