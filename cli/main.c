/* reduct, the command: finds the subcommand and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "ladder.h"
#include "message.h"
#include "options.h"
#include "outputs.h"
#include "print.h"
#include "progress.h"
#include "ranks.h"
#include "reduce.h"

static void print_help(FILE *stream) {
    fputs("Usage: reduct OP [OPTION...] [FILE...]\n"
          "Reduces many numbers to one, in parallel and exactly: the result is the one that\n"
          "infinite precision would give, rounded once, whatever the order of the data, the\n"
          "number of threads or the processor. Products of floats are rounded on the way,\n"
          "in one fixed order; they depend on the order of the data and on nothing else.\n"
          "\n"
          "OP is one of\n\n",
          stream);
    options_print_operators(stream);
    fputs("\n"
          "Examples:\n"
          "  reduct sum numbers.txt                sum of a text file\n"
          "  reduct std --population a.npy b.npy   of two arrays taken as one\n"
          "  reduct dot weights.npy values.npy     of two arrays of the same length\n"
          "  reduct sum,mean --rows table.txt      two results for each line\n"
          "  reduct max --axis 0 -o top.npy a.npy  along an axis, into a file\n"
          "  reduct max --type f32 dump.bin        raw binary\n"
          "  generate | reduct mean                standard input\n"
          "\n"
          "'reduct ladder' climbs the ladder of parallel reduction: every step from the\n"
          "first loop or kernel to the exact one, run, checked and timed here; see\n"
          "'reduct ladder --help'.\n"
          "\n"
          "'reduct bench' times the operators beside plain vectorised loops; see\n"
          "'reduct bench --help'.\n"
          "\n",
          stream);
    options_print(stream);
    fputs("\n"
          "The number alone goes to standard output, in the shortest decimal that reads\n"
          "back to the same bits; everything else goes to standard error. Exit status: 0\n"
          "if the number was printed, 1 if the data or the system failed, 2 if the command\n"
          "line is wrong, 130 if interrupted.\n",
          stream);
}

static void print_usage(FILE *stream) {
    options_print_usage(stream);
    fputs("  or:  reduct ladder [OPTION...]\n  or:  reduct bench [OPTION...]\n", stream);
}

/* Nothing half-done is to take back but files that are not complete, so that the process can end wherever it is: in a read, in a
 * kernel, on any thread. */
static void on_interrupt(int number) {
    (void)number;
    progress_erase();
    outputs_abandon();
    _exit(INTERRUPTED);
}

static void prepare_signals(void) {
    struct sigaction action = {.sa_handler = on_interrupt}, before;
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write, and reported as one; */
    signal(SIGXFSZ, SIG_IGN); /* so is a file that may not grow */
}

/* A file that is opened gets the lowest free number, and must never pass for standard input, output or error: where one
 * of these is closed, its number is taken by what cannot be read, or written, so that it still fails as a closed one. */
static enum outcome prepare_streams(void) {
    static const int WRONG_WAY[] = {[STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_RDONLY};
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", WRONG_WAY[stream]) != stream)
            return fail("/dev/null: %s", strerror(errno));
    }
    return DONE;
}

static enum outcome run_ladder(int argc, char **argv) {
#if defined(REDUCT_HAS_LADDER)
    return ladder_command(argc, argv);
#else
    (void)argc, (void)argv;
    return fail("ladder: this build has none");
#endif
}

static enum outcome run_bench(int argc, char **argv) {
#if defined(REDUCT_HAS_BENCH)
    return bench_command(argc, argv);
#else
    (void)argc, (void)argv;
    return fail("bench: this build has none");
#endif
}

/* Also where help ended the process. */
static void check_output(void) {
    enum outcome outcome = print_finish();
    if (outcome != DONE)
        _exit(outcome);
}

/* What is asked where an operator could stand: for help 'h', usage 'u' or the version 'V'; nothing 0. */
static char question(const char *word) {
    static const struct {
        const char *word;
        char asked;
    } QUESTIONS[] = {{"--help", 'h'},  {"-h", 'h'},        {"-?", 'h'}, {"help", 'h'},
                     {"--usage", 'u'}, {"--version", 'V'}, {"-V", 'V'}};
    for (size_t i = 0; i < sizeof QUESTIONS / sizeof *QUESTIONS; i++) {
        if (strcmp(QUESTIONS[i].word, word) == 0)
            return QUESTIONS[i].asked;
    }
    return 0;
}

static enum outcome run(int argc, char **argv, struct ranks ranks) {
    if (argc < 2) {
        print_help(stderr);
        return MISUSED;
    }
    switch (question(argv[1])) {
    case 'h':
        print_help(stdout);
        return DONE;
    case 'u':
        print_usage(stdout);
        return DONE;
    case 'V':
        printf("reduct %s\n", reduct_version());
        return DONE;
    default:
        break;
    }
    bool bench = strcmp(argv[1], "bench") == 0;
    if (ranks.size > 1 && (bench || strcmp(argv[1], "ladder") == 0))
        return misuse("%s: found %d ranks of a launcher; expected one process", argv[1], ranks.size);
    if (strcmp(argv[1], "ladder") == 0)
        return run_ladder(argc - 1, argv + 1);
    if (bench)
        return run_bench(argc - 1, argv + 1);
    return reduce_command(argc - 1, argv + 1, ranks);
}

int main(int argc, char **argv) {
    if (prepare_streams() != DONE)
        return FAILED;
    prepare_signals();
    print_prepare();
    atexit(check_output);
    struct ranks ranks;
    enum outcome outcome = ranks_find(&ranks);
    if (outcome == DONE)
        outcome = run(argc, argv, ranks);
    return (int)(outcome == DONE ? DONE : ranks_fail(&ranks, outcome));
}
