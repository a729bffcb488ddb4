/* SPDX-License-Identifier: MIT
 *
 * A request for one thing does not wait for work on another. A gate in the model delays the reading of a
 * page list, or the closing of a file, as long as the test needs.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model.h"
#include "support.h"
#include "vfs/tree.h"
#include "core/model/model.h"
#include "vfs/vfs.h"

enum { FILES = 150 }; /* more than stay open while unused */

static char folder[] = "/tmp/ntuple-waiting-XXXXXX";
static struct nt_vfs *vfs;
static struct nt_error error;

/* Threads that reach the gate wait there while it is closed. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_shut;
    unsigned waiting;
} gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, true, 0};

static void pass_gate(void)
{
    pthread_mutex_lock(&gate.lock);
    gate.waiting++;
    pthread_cond_broadcast(&gate.changed);
    while (gate.is_shut)
        pthread_cond_wait(&gate.changed, &gate.lock);
    gate.waiting--;
    pthread_mutex_unlock(&gate.lock);
}

static void wait_for_somebody_at_the_gate(void)
{
    pthread_mutex_lock(&gate.lock);
    while (!gate.waiting)
        pthread_cond_wait(&gate.changed, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

static void set_gate(bool is_shut)
{
    pthread_mutex_lock(&gate.lock);
    gate.is_shut = is_shut;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
}

static void for_each_file(void (*act)(const char *path))
{
    char path[80];
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof(path), "%s/good%d", folder, i);
        act(path);
    }
}

static void touch(const char *path)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
}

static void remove_file(const char *path)
{
    unlink(path);
}

static void setup(void)
{
    const char *const paths[] = {folder};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    for_each_file(touch);
    gate.is_shut = true;
    model_before_load = NULL;
    model_before_close = NULL;
    assert_ok(nt_vfs_new(paths, 1, &(struct nt_vfs_options){0}, &vfs, &error));
}

static void teardown(void)
{
    nt_vfs_free(vfs);
    for_each_file(remove_file);
    rmdir(folder);
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
}

static uint64_t size_of(const char *path)
{
    struct nt_vfs_attributes attributes;
    uint64_t node = 0;
    assert_ok(nt_vfs_resolve(vfs, path, &node, &error));
    assert_ok(nt_vfs_stat(vfs, node, true, &attributes, &error));
    return (uint64_t)attributes.stat.st_size;
}

/* ---- datasets ---- */

static void hold_first_dataset(const struct nt_dataset *dataset)
{
    if (dataset->index == 0 && dataset->file->path[strlen(dataset->file->path) - 1] == '0')
        pass_gate();
}

static void *look(void *path)
{
    struct nt_error own = {0};
    struct nt_vfs_attributes attributes;
    uint64_t node;
    if (nt_vfs_resolve(vfs, path, &node, &own) != NT_OK ||
        nt_vfs_stat(vfs, node, true, &attributes, &own) != NT_OK)
        return (void *)"failed";
    return NULL;
}

TEST(a_look_at_one_dataset_waits_for_no_other, .setup = setup, .teardown = teardown)
{
    pthread_t thread;
    void *problem;
    model_before_load = hold_first_dataset;
    ck_assert_int_eq(pthread_create(&thread, NULL, look, (void *)"good0/Events/table.arrow"), 0);
    wait_for_somebody_at_the_gate(); /* the page lists of good0/Events are being read */
    ck_assert_uint_gt(size_of("good0/sub/Events/table.arrow"), 0);
    ck_assert_uint_gt(size_of("good0/evil/same/data.npy"), 0);
    ck_assert_uint_gt(size_of("good0/sub/Events/jets/_0/pt/data.bin"), 0);
    ck_assert_uint_gt(size_of("good1/Events/table.arrow"), 0);
    /* nor of the same: its fields' names, and what the schema alone defines */
    ck_assert_uint_eq(size_of("good0/Events/run/data.bin"), 4 * MODEL_ENTRIES);
    ck_assert_uint_gt(size_of("good0/Events/jets/_0/field.json"), 0);
    ck_assert_uint_gt(size_of("good0/Events/sizes.svg"), 0);
    ck_assert_uint_gt(size_of("good0/layout.svg"), 0);
    set_gate(false);
    pthread_join(thread, &problem);
    ck_assert_msg(problem == NULL, "%s", (const char *)problem);
}

/* ---- files ---- */

TEST(opening_files_waits_for_no_closing, .setup = setup, .teardown = teardown)
{
    char path[80];
    model_before_close = pass_gate;
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof(path), "good%d/Events/run/data.bin", i);
        ck_assert_uint_eq(size_of(path), 4 * MODEL_ENTRIES);
    }
    wait_for_somebody_at_the_gate(); /* the first one to be closed */
    uint32_t open = atomic_load(&model_open_files);
    ck_assert_uint_eq(size_of("good0/Events/run/data.bin"), 4 * MODEL_ENTRIES); /* opened again */
    set_gate(false);
    for (int tenths = 0; tenths < 100 && atomic_load(&model_open_files) >= open; tenths++)
        usleep(100000);
    ck_assert_uint_lt(atomic_load(&model_open_files), open); /* they are closed in the end */
}

TEST(the_end_waits_until_files_are_closed, .setup = setup, .teardown = teardown)
{
    char path[80];
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof(path), "good%d/Events/run/data.bin", i);
        size_of(path);
    }
    nt_vfs_free(vfs); /* while a thread is closing some */
    vfs = NULL;
}
