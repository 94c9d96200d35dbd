/* Of signals, what src/cpu/ uses to keep them away from its threads: there are none. */
#ifndef REDUCT_WASM_SIGNAL_H
#define REDUCT_WASM_SIGNAL_H

typedef int reduct_wasm_signals;
#define sigset_t reduct_wasm_signals

#define SIG_SETMASK 0

#define sigfillset(set)                   ((void)(set))
#define pthread_sigmask(how, set, former) ((void)(set), (void)(former))

#endif
