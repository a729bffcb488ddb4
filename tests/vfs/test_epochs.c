/* SPDX-License-Identifier: MIT
 *
 * Epochs: a freed object is not in use, and every retired object is freed in the end.
 */
#include <pthread.h>

#include "support.h"
#include "vfs/inode.h"

TEST(the_epoch_advances_only_when_earlier_readers_left)
{
    struct nt_epoch epoch = {0};
    unsigned early = nt_epoch_enter(&epoch);
    ck_assert(nt_epoch_advance(&epoch));
    unsigned late = nt_epoch_enter(&epoch), later = nt_epoch_enter(&epoch);
    ck_assert(!nt_epoch_advance(&epoch));
    nt_epoch_exit(&epoch, late);
    ck_assert(!nt_epoch_advance(&epoch));
    nt_epoch_exit(&epoch, early);
    ck_assert(nt_epoch_advance(&epoch)); /* threads that entered since */
    ck_assert(!nt_epoch_advance(&epoch));
    nt_epoch_exit(&epoch, later);
    ck_assert(nt_epoch_advance(&epoch));
    ck_assert(nt_epoch_advance(&epoch));
}

enum { VISITORS = 4, LOOKS = 200000, THINGS = 1000 };

static struct {
    struct nt_epoch epoch;
    _Atomic(int *) shown;
} hall;

/* Readers see the current value, which must not change while they are in the epoch. */
static void *look(void *unused)
{
    for (unsigned i = 0; i < LOOKS; i++) {
        unsigned visit = nt_epoch_enter(&hall.epoch);
        int *thing = atomic_load(&hall.shown);
        if (*thing != 1)
            return (void *)"what was found is gone";
        for (volatile int pause = 0; pause < 20; pause++)
            ;
        if (*thing != 1)
            return (void *)"what is held has gone";
        nt_epoch_exit(&hall.epoch, visit);
    }
    return NULL;
}

static int *new_thing(void)
{
    int *thing = malloc(sizeof(*thing));
    *thing = 1;
    return thing;
}

TEST(a_referenced_object_is_not_freed)
{
    pthread_t threads[VISITORS];
    void *problem;
    int *waiting[THINGS], *retired[THINGS];
    unsigned waiting_count = 0, put_away_count = 0, freed = 0;
    atomic_store(&hall.shown, new_thing());
    for (int i = 0; i < VISITORS; i++)
        pthread_create(&threads[i], NULL, look, NULL);
    while (freed < 20 * THINGS) {
        if (put_away_count < THINGS)
            retired[put_away_count++] = atomic_exchange(&hall.shown, new_thing());
        if (!nt_epoch_advance(&hall.epoch))
            continue;
        for (unsigned i = 0; i < waiting_count; i++, freed++) {
            *waiting[i] = 0;
            free(waiting[i]);
        }
        for (unsigned i = 0; i < put_away_count; i++)
            waiting[i] = retired[i];
        waiting_count = put_away_count;
        put_away_count = 0;
    }
    for (int i = 0; i < VISITORS; i++) {
        pthread_join(threads[i], &problem);
        ck_assert_msg(!problem, "%s", (const char *)problem);
    }
    for (unsigned i = 0; i < waiting_count; i++)
        free(waiting[i]);
    free(atomic_load(&hall.shown));
}
