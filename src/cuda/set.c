/* Devices by their names: see set.h. Several are a backend of its own, which hands work to that of single devices.
 *
 * Arrays in host memory are dealt out to all devices in pieces; arrays in a device's memory are reduced there. Plans of many results
 * run on one device. Whatever is reduced where, partial results meet on the host. */
#include "cuda/set.h"

#include "core/environment.h"
#include "core/many.h"
#include "core/status.h"
#include "cuda/backend.h"
#include "cuda/owner.h"
#include "cuda/partials.h"
#include "cuda/prepared.h"
#include "cuda/synchronous.h"
#include "cuda/table.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Names
 * ------------------------------------------------------------------------------------------------------------------ */

/* The devices of a name. Lives as long as the process. */
struct set {
    struct set *next;
    unsigned count;
    struct rd_device member[RD_CUDA_DEVICES_MAX];
    char text[]; /* "cuda:0,1" */
};

static pthread_mutex_t sets_lock = PTHREAD_MUTEX_INITIALIZER;
static struct set *sets;

static const struct rd_backend set_backend;

static const struct rd_cuda_device *device_of(const struct rd_device *device) {
    return ((const struct rd_cuda_name *)device->private)->device;
}

static reduct_status open_one(const char *rest, struct rd_device *device, reduct_error *error) {
    const struct rd_cuda_name *name;
    reduct_status status = rd_cuda_device_open(rest, &name, error);
    if (status == REDUCT_OK)
        *device = (struct rd_device){&rd_cuda_backend, name->text, name};
    return status;
}

/* Adds one of the devices in a list, whose name is the first `length` characters of `name`. */
static reduct_status add_member(const char *list, const char *name, size_t length, struct set *set,
                                reduct_error *error) {
    char one[32];
    struct rd_device device;
    length = length < sizeof one ? length : sizeof one - 1;
    memcpy(one, name, length);
    one[length] = 0;
    reduct_status status = open_one(one, &device, error);
    if (status != REDUCT_OK)
        return status;
    for (unsigned i = 0; i < set->count; i++)
        if (device_of(&set->member[i]) == device_of(&device))
            return rd_fail(error, REDUCT_ERROR_NO_DEVICE, "device: \"cuda:%.80s\" names cuda:%d twice", list,
                           device_of(&device)->ordinal);
    set->member[set->count++] = device;
    return REDUCT_OK;
}

static reduct_status add_listed(const char *list, struct set *set, reduct_error *error) {
    reduct_status status = REDUCT_OK;
    for (const char *name = list; name && status == REDUCT_OK;) {
        const char *comma = strchr(name, ',');
        status = add_member(list, name, comma ? (size_t)(comma - name) : strlen(name), set, error);
        name = comma ? comma + 1 : NULL;
    }
    return status;
}

static reduct_status add_all(struct set *set, reduct_error *error) {
    reduct_status status = open_one("0", &set->member[0], error);
    if (status != REDUCT_OK)
        return status;
    const int devices = device_of(&set->member[0])->driver->devices;
    for (set->count = 1; status == REDUCT_OK && (int)set->count < devices && set->count < RD_CUDA_DEVICES_MAX;) {
        char number[16];
        snprintf(number, sizeof number, "%u", set->count);
        status = open_one(number, &set->member[set->count], error);
        set->count += status == REDUCT_OK;
    }
    return status;
}

/* With the sets locked. The set with these members, found or made; null where there is no memory. */
static const struct set *keep(const struct set *wanted) {
    enum { ROOM = RD_CUDA_DEVICES_MAX * sizeof((struct rd_cuda_name){0}.text) };
    char text[ROOM] = "cuda:";
    for (unsigned i = 0; i < wanted->count; i++) {
        const size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s%s", i ? "," : "", wanted->member[i].name + strlen("cuda:"));
    }
    struct set *set = sets;
    while (set && strcmp(set->text, text) != 0)
        set = set->next;
    if (!set && (set = malloc(sizeof *set + strlen(text) + 1))) {
        *set = *wanted;
        set->next = sets;
        memcpy(set->text, text, strlen(text) + 1);
        sets = set;
    }
    return set;
}

static reduct_status open_several(const char *rest, struct rd_device *device, reduct_error *error) {
    struct set wanted = {.count = 0};
    reduct_status status = strcmp(rest, "all") == 0 ? add_all(&wanted, error) : add_listed(rest, &wanted, error);
    if (status != REDUCT_OK)
        return status;
    if (wanted.count == 1) {
        *device = wanted.member[0];
        return REDUCT_OK;
    }
    pthread_mutex_lock(&sets_lock);
    const struct set *set = keep(&wanted);
    pthread_mutex_unlock(&sets_lock);
    if (!set)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "device: %zu bytes could not be allocated", sizeof *set);
    *device = (struct rd_device){&set_backend, set->text, set};
    return REDUCT_OK;
}

reduct_status rd_cuda_open(const char *rest, struct rd_device *device, reduct_error *error) {
    const bool several = rest && (strcmp(rest, "all") == 0 || strchr(rest, ','));
    rd_environment caller = rd_environment_enter();
    reduct_status status = several ? open_several(rest, device, error) : open_one(rest, device, error);
    rd_environment_leave(caller);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Preparing: on each device
 * ------------------------------------------------------------------------------------------------------------------ */

static const struct set *set_of(const struct rd_prepared *prepared) {
    return prepared->device.private;
}

static void release_members(struct rd_prepared *members, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        rd_cuda_backend.release(&members[i]);
    free(members);
}

static void set_release(struct rd_prepared *prepared) {
    release_members(prepared->kept, set_of(prepared)->count);
}

static reduct_status set_prepare(struct rd_prepared *prepared, reduct_error *error) {
    const struct set *set = set_of(prepared);
    struct rd_prepared *members = malloc(set->count * sizeof *members);
    if (!members)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "plan: %zu bytes could not be allocated",
                       set->count * sizeof *members);
    for (unsigned i = 0; i < set->count; i++) {
        members[i] = *prepared;
        members[i].device = set->member[i];
        members[i].use = prepared->use == RD_FOR_MANY ? RD_FOR_MANY : RD_FOR_ARRAYS; /* no stream is of all devices */
        reduct_status status = rd_cuda_backend.prepare(&members[i], error);
        if (status != REDUCT_OK) {
            release_members(members, i);
            return status;
        }
    }
    prepared->kept = members;
    return REDUCT_OK;
}

static bool set_only_many(const reduct_reduction *reduction) {
    return rd_cuda_backend.only_many(reduction);
}

static size_t set_workspace(const struct rd_prepared *prepared, uint64_t count) {
    (void)prepared;
    (void)count;
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Where data lie
 * ------------------------------------------------------------------------------------------------------------------ */

/* The member in whose memory some data lie. */
struct place {
    bool found;
    unsigned member;   /* the first one, unless it was found */
    const char *first; /* what was found there first */
};

/* Looks where `data` lie, which may be null. Managed memory is everywhere. */
static reduct_status look(const struct set *set, const char *name, const void *data, struct place *place,
                          reduct_error *error) {
    const rd_cuda_driver *driver = device_of(&set->member[0])->driver;
    const int owner = data ? rd_cuda_owner(data) : -1;
    unsigned managed = 0, member = 0;
    if (owner < 0 || (driver->cuPointerGetAttribute(&managed, RD_CU_POINTER_IS_MANAGED,
                                                    (rd_cu_address)(uintptr_t)data) == RD_CU_SUCCESS &&
                      managed))
        return REDUCT_OK;
    while (member < set->count && device_of(&set->member[member])->ordinal != owner)
        member++;
    if (member == set->count)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: in the memory of cuda:%d, which is none of %.80s", name,
                       owner, set->text);
    if (place->found && place->member != member)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: in the memory of %s, while %s is in that of %s", name,
                       set->member[member].name, place->first, set->member[place->member].name);
    if (!place->found)
        *place = (struct place){true, member, name};
    return REDUCT_OK;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Reducing
 * ------------------------------------------------------------------------------------------------------------------ */

/* The launches of all members, each for the context that calls for its device belong to. */
static reduct_status make_launches(const struct rd_prepared *prepared, struct rd_cuda_launch *launches,
                                   const struct rd_cuda_launch **each, reduct_error *error) {
    const struct rd_prepared *members = prepared->kept;
    const struct set *set = set_of(prepared);
    for (unsigned i = 0; i < set->count; i++) {
        const struct rd_cuda_name *name = set->member[i].private;
        struct rd_cuda_stay stay;
        reduct_status status = rd_cuda_enter(name->device, &stay, error);
        if (status != REDUCT_OK)
            return status;
        status = rd_cuda_launch_here(&members[i], stay.context, &launches[i], error);
        rd_cuda_leave(name->device, &stay);
        if (status != REDUCT_OK)
            return status;
        each[i] = &launches[i];
    }
    return REDUCT_OK;
}

static reduct_status share_out(const struct rd_prepared *prepared, const struct rd_cuda_array *array,
                               struct rd_partial *partial, reduct_error *error) {
    const struct set *set = set_of(prepared);
    const struct rd_cuda_launch *each[RD_CUDA_DEVICES_MAX];
    struct rd_cuda_launch *launches = malloc(set->count * sizeof *launches);
    if (!launches)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "%zu bytes could not be allocated",
                       set->count * sizeof *launches);
    uint64_t taken = 0;
    reduct_status status = make_launches(prepared, launches, each, error);
    if (status == REDUCT_OK)
        status = rd_cuda_begin_by_cpu(device_of(&set->member[0]), array, false, partial, &taken, error);
    if (status == REDUCT_OK && taken < array->count) {
        const struct rd_cuda_array rest =
            rd_cuda_part_of(array, taken, array->count - taken, launches[0].element_bytes);
        status = rd_cuda_reduce_from_host(each, set->count, &rest, &prepared->crew, partial, error);
    }
    free(launches);
    return status;
}

static bool any_on_device(const struct rd_cuda_device *device, const struct rd_cuda_array *array) {
    return rd_cuda_on_device(device, array->x) || (array->y && rd_cuda_on_device(device, array->y)) ||
           (array->mask && rd_cuda_on_device(device, array->mask));
}

/* Adds an array, by the device in whose memory it lies or by all. */
static reduct_status add(const struct rd_prepared *prepared, const struct rd_cuda_array *array,
                         struct rd_partial *partial, reduct_error *error) {
    const struct set *set = set_of(prepared);
    const struct rd_prepared *members = prepared->kept, *member;
    struct place place = {.member = 0};
    reduct_status status = look(set, "x", array->x, &place, error);
    if (status == REDUCT_OK)
        status = look(set, "y", array->y, &place, error);
    if (status == REDUCT_OK)
        status = look(set, "mask", array->mask, &place, error);
    if (status != REDUCT_OK)
        return status;
    member = &members[place.member];
    if (!any_on_device(device_of(&member->device), array))
        return share_out(prepared, array, partial, error);
    return array->kind ? rd_cuda_backend.accumulate_masked(member, array->x, array->y, array->count, array->kind,
                                                           array->mask, array->offset, partial, error)
                       : rd_cuda_backend.accumulate(member, array->x, array->y, array->count, NULL, partial, error);
}

static reduct_status accumulate(const struct rd_prepared *prepared, const struct rd_cuda_array *array,
                                struct rd_partial *partial, reduct_error *error) {
    if (!array->count)
        return REDUCT_OK;
    rd_environment caller = rd_environment_enter();
    reduct_status status = add(prepared, array, partial, error);
    rd_environment_leave(caller);
    return status;
}

static reduct_status set_accumulate(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count,
                                    void *workspace, struct rd_partial *partial, reduct_error *error) {
    (void)workspace;
    const struct rd_cuda_array array = {.x = x, .y = y, .count = count};
    return accumulate(prepared, &array, partial, error);
}

static reduct_status set_accumulate_masked(const struct rd_prepared *prepared, const void *x, const void *y,
                                           uint64_t count, reduct_mask kind, const void *mask, uint64_t offset,
                                           struct rd_partial *partial, reduct_error *error) {
    const struct rd_cuda_array array = {x, y, count, kind, mask, offset};
    return accumulate(prepared, &array, partial, error);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Plans of many results
 * ------------------------------------------------------------------------------------------------------------------ */

/* The plan as each device has it. */
struct many {
    const struct set *set;
    struct rd_many *member;
    struct rd_prepared state[]; /* of each member as many as there are; the members follow */
};

static void release_many(struct many *kept, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        rd_cuda_backend.release_many(&kept->member[i]);
    free(kept);
}

static void set_release_many(struct rd_many *many) {
    struct many *kept = many->kept;
    release_many(kept, kept->set->count);
}

static reduct_status set_prepare_many(struct rd_many *many, reduct_error *error) {
    const struct set *set = set_of(&many->state[0]);
    const size_t states = set->count * many->states, bytes = sizeof(struct many) + states * sizeof(struct rd_prepared) +
                                                             set->count * sizeof(struct rd_many);
    struct many *kept = malloc(bytes);
    if (!kept)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "plan: %zu bytes could not be allocated", bytes);
    kept->set = set;
    kept->member = (struct rd_many *)(kept->state + states);
    for (unsigned i = 0; i < set->count; i++) {
        struct rd_many *member = &kept->member[i];
        *member = *many;
        member->state = kept->state + i * many->states;
        for (size_t s = 0; s < many->states; s++)
            member->state[s] = ((const struct rd_prepared *)many->state[s].kept)[i];
        reduct_status status = rd_cuda_backend.prepare_many(member, error);
        if (status != REDUCT_OK) {
            release_many(kept, i);
            return status;
        }
    }
    many->kept = kept;
    return REDUCT_OK;
}

/* The device in whose memory any of its data lie, and which all others then lie in, too, or on the host; otherwise the first. */
static reduct_status find_place(const struct set *set, const struct rd_many *many, const struct rd_execution *execution,
                                struct place *place, reduct_error *error) {
    const struct {
        const char *name;
        const void *data;
    } inputs[] = {{"inputs[0]", execution->input[0]}, {"inputs[1]", execution->input[1]}, {"begins", execution->begins},
                  {"ends", execution->ends},          {"indices", execution->indices},    {"mask", execution->mask},
                  {"initial", execution->initial}};
    reduct_status status = REDUCT_OK;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs && status == REDUCT_OK; i++)
        status = look(set, inputs[i].name, inputs[i].data, place, error);
    for (size_t i = 0; i < many->reductions && status == REDUCT_OK; i++)
        status = look(set, "results", execution->results[i], place, error);
    return status;
}

static reduct_status set_execute_many(const struct rd_many *many, const struct rd_execution *execution,
                                      reduct_error *error) {
    const struct many *kept = many->kept;
    struct place place = {.member = 0};
    rd_environment caller = rd_environment_enter();
    reduct_status status = find_place(kept->set, many, execution, &place, error);
    if (status == REDUCT_OK)
        status = rd_cuda_backend.execute_many(&kept->member[place.member], execution, error);
    rd_environment_leave(caller);
    return status;
}

/* On the device in whose memory any of the data lie. */
static reduct_status set_change_table(const struct rd_device *device, reduct_table *table,
                                      const struct rd_table_change *change, reduct_error *error) {
    const struct set *set = device->private;
    const struct {
        const char *name;
        const void *data;
    } arrays[] = {{"x", change->batch->x},
                  {"y", change->batch->y},
                  {"indices", change->batch->indices},
                  {"mask", change->batch->mask_kind ? change->batch->mask : NULL}};
    struct place place = {.member = 0};
    reduct_status status = REDUCT_OK;
    rd_environment caller = rd_environment_enter();
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && status == REDUCT_OK; i++)
        status = look(set, arrays[i].name, arrays[i].data, &place, error);
    if (status == REDUCT_OK)
        status = rd_cuda_change_table(&set->member[place.member], table, change, error);
    rd_environment_leave(caller);
    return status;
}

/* Found by names that are those of CUDA, so that it is in no list of backends and opens nothing itself. */
static const struct rd_backend set_backend = {.name = "cuda",
                                              .owner = rd_cuda_owner,
                                              .put = rd_cuda_put,
                                              .prepare = set_prepare,
                                              .only_many = set_only_many,
                                              .release = set_release,
                                              .workspace = set_workspace,
                                              .accumulate = set_accumulate,
                                              .accumulate_masked = set_accumulate_masked,
                                              .prepare_many = set_prepare_many,
                                              .release_many = set_release_many,
                                              .execute_many = set_execute_many,
                                              .change_table = set_change_table};
