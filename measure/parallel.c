/* The team: one mutex, two conditions, a generation number that tells a new task from the last one. */
#include "measure/parallel.h"

#include "program/memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct seat {
    measure_team *team;
    unsigned member;
    pthread_t thread;
} seat;

struct measure_team {
    pthread_mutex_t mutex;
    pthread_cond_t start, done;
    unsigned long generation; /* of the task to run; members remember the last one that they ran */
    unsigned busy;            /* members that have not finished it */
    int closing;
    measure_task *task;
    void *context;
    unsigned members;
    seat seats[];
};

static void *member_main(void *argument) {
    seat *own = argument;
    measure_team *team = own->team;
    unsigned long seen = 0;
    pthread_mutex_lock(&team->mutex);
    for (;;) {
        while (!team->closing && team->generation == seen)
            pthread_cond_wait(&team->start, &team->mutex);
        if (team->closing)
            break;
        seen = team->generation;
        pthread_mutex_unlock(&team->mutex);
        team->task(team->context, own->member, team->members);
        pthread_mutex_lock(&team->mutex);
        if (--team->busy == 0)
            pthread_cond_signal(&team->done);
    }
    pthread_mutex_unlock(&team->mutex);
    return NULL;
}

measure_team *measure_team_create(unsigned members) {
    members = members ? members : 1;
    measure_team *team = program_allocate(sizeof *team + members * sizeof *team->seats);
    *team = (measure_team){.members = members};
    pthread_mutex_init(&team->mutex, NULL);
    pthread_cond_init(&team->start, NULL);
    pthread_cond_init(&team->done, NULL);
    for (unsigned i = 1; i < members; i++) {
        team->seats[i] = (seat){.team = team, .member = i};
        if (pthread_create(&team->seats[i].thread, NULL, member_main, &team->seats[i]) != 0) {
            fprintf(stderr, "cannot create thread %u of %u\n", i + 1, members);
            exit(1);
        }
    }
    return team;
}

void measure_team_destroy(measure_team *team) {
    if (!team)
        return;
    pthread_mutex_lock(&team->mutex);
    team->closing = 1;
    pthread_cond_broadcast(&team->start);
    pthread_mutex_unlock(&team->mutex);
    for (unsigned i = 1; i < team->members; i++)
        pthread_join(team->seats[i].thread, NULL);
    pthread_cond_destroy(&team->done);
    pthread_cond_destroy(&team->start);
    pthread_mutex_destroy(&team->mutex);
    free(team);
}

void measure_team_run(measure_team *team, measure_task *task, void *context) {
    if (team->members > 1) {
        pthread_mutex_lock(&team->mutex);
        team->task = task;
        team->context = context;
        team->busy = team->members - 1;
        team->generation++;
        pthread_cond_broadcast(&team->start);
        pthread_mutex_unlock(&team->mutex);
    }
    task(context, 0, team->members);
    if (team->members > 1) {
        pthread_mutex_lock(&team->mutex);
        while (team->busy)
            pthread_cond_wait(&team->done, &team->mutex);
        pthread_mutex_unlock(&team->mutex);
    }
}

void measure_share(size_t count, size_t grain, unsigned member, unsigned members, size_t *begin, size_t *end) {
    size_t grains = count / grain;
    *begin = (grains / members * member + grains % members * member / members) * grain;
    *end = member + 1 == members
               ? count
               : (grains / members * (member + 1) + grains % members * (member + 1) / members) * grain;
}
