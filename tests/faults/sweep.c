/* SPDX-License-Identifier: MIT
 *
 * Lets every call of the machine fail once. For each operation on each path of small files of every format,
 * the first allocation (read, other call) fails, then the second, and so on. With the failure, the operation
 * has its usual result or the machine's error. Repeated without the failure it has its usual result, so no
 * code has kept the failure.
 *
 * usage: sweep [-f FAULT] [-d CALLERS | -n POINTS] [-s START] [-l] [-t THREADS] [-e ENTRIES] [-b DIRECTORY]
 *              [-c] [FILE...]
 *   -d  try only points whose innermost CALLERS callers no earlier point had: each call path once
 *   -n  try POINTS points, evenly spread, beginning with number START
 *   -l  all later calls fail, too
 *   -t  use THREADS workers
 *   -e  select the entries of the only dataset of each file that the file ENTRIES names
 *   -b  show friends of trees, and read files of branches below DIRECTORY
 *   -c  each file is the list of a chain
 * Without files: the samples.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/text.h"
#include "chain/chain.h"
#include "faults.h"
#include "looks.h"
#include "samples.h"
#include "support.h"
#include "read/read.h"
#include "vfs/tree.h"
#include "vfs/vfs.h"
#include <ntuple/selection.h>

struct kind {
    const char *name;
    enum fault_site site;
    int error;
    enum nt_status status; /* that a look may return instead */
    bool is_remembered;    /* for seconds, like that of a page: it is tried again afterwards */
    bool is_of_opening;    /* later there are no such calls */
};

static const struct kind kinds[] = {
    {.name = "allocation", .site = FAULT_ALLOCATION, .error = ENOMEM, .status = NT_NO_MEMORY},
    {.name = "read", .site = FAULT_READ, .error = EIO, .status = NT_IO, .is_remembered = true},
    {.name = "interrupted-read", .site = FAULT_READ, .error = EINTR, .status = NT_OK},
    {.name = "short-read", .site = FAULT_READ, .error = FAULT_SHORT, .status = NT_OK},
    {.name = "call", .site = FAULT_CALL, .error = EIO, .status = NT_IO, .is_remembered = true},
    {.name = "call-memory", .site = FAULT_CALL, .error = ENOMEM, .status = NT_NO_MEMORY},
    {.name = "thread", .site = FAULT_THREAD, .error = EAGAIN, .status = NT_OK, .is_of_opening = true},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds), PATIENCE = 60, REMEMBERED_SECONDS = 11 };

struct sweep {
    const struct kind *kind;
    bool lasts;
    const struct nt_selection *choice; /* of entries of the source's only dataset; NULL: all are shown */
    bool is_chain;                     /* that the source lists */
    const char *bases[2];              /* NULL: none, and no friends */
    struct nt_chain_list *list;        /* of the open tree */
    unsigned threads, callers;
    uint64_t stride, start;
    uint64_t points, tried, failed; /* of all; tried; those whose looks gave an error */
    unsigned wrong, reports;
    const char *source;
};

/* The position of a crash or an endless loop. */
static char where[1024];

static void report_place(int signal_number)
{
    (void)!write(STDERR_FILENO, where, strlen(where));
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void report_wrong(struct sweep *sweep, const char *what)
{
    if (sweep->wrong++ < 50)
        printf("FAIL %s: %s\n", where, what), fflush(stdout);
}

static void count_report(void *context, const char *line)
{
    ((struct sweep *)context)->reports++;
}

static void close_tree(struct sweep *sweep, struct nt_vfs *vfs)
{
    nt_vfs_free(vfs);
    nt_chain_list_free(sweep->list);
    sweep->list = NULL;
}

static enum nt_status open_tree(struct sweep *sweep, struct nt_vfs **vfs_ret, struct nt_error *error)
{
    const struct nt_vfs_selection choice = {.dataset = "", .selection = sweep->choice};
    struct nt_vfs_options options = {.open = NT_OPEN_OPTIONS_INIT,
                                     .selections = &choice,
                                     .selection_count = sweep->choice != NULL,
                                     .chain_options = {.is_lazy = true},
                                     .threads = sweep->threads,
                                     .report = count_report,
                                     .context = sweep};
    enum nt_status status = NT_OK;
    options.open.bases = sweep->bases;
    options.open.friends = sweep->bases[0] != NULL;
    if (sweep->is_chain)
        status = nt_chain_list_new(&sweep->source, 1, false, &sweep->list, error);
    options.chain = sweep->list;
    if (status == NT_OK)
        status = nt_vfs_new(&sweep->source, 1, &options, vfs_ret, error);
    if (status != NT_OK)
        close_tree(sweep, NULL);
    return status;
}

static struct nt_vfs *must_open(struct sweep *sweep)
{
    struct nt_vfs *vfs;
    struct nt_error error = {0};
    if (open_tree(sweep, &vfs, &error) != NT_OK) {
        printf("FAIL %s does not open: %s\n", sweep->source, error.message);
        exit(EXIT_FAILURE);
    }
    return vfs;
}

static void arm(const struct sweep *sweep, uint64_t number)
{
    fault_arm(&(struct fault){
        .site = sweep->kind->site, .number = number, .error = sweep->kind->error, .lasts = sweep->lasts});
}

/* ---- choosing ---- */

enum { PLACES = 1 << 17, SEEN = 1 << 18 };

static uint64_t places[PLACES]; /* of the last counted calls */
static uint64_t
    *seen; /* places that were tried, by hash; over all tests, each of which has its own process */

static void arm_to_count(const struct sweep *sweep)
{
    fault_arm(&(struct fault){.site = sweep->kind->site,
                              .places = sweep->callers ? places : NULL,
                              .place_count = PLACES,
                              .depth = sweep->callers});
}

static bool is_seen(uint64_t place)
{
    uint64_t at = place % SEEN;
    while (seen[at] && seen[at] != place)
        at = (at + 1) % SEEN;
    bool was_there = seen[at] == place;
    seen[at] = place;
    return was_there;
}

/* Is the call's point, counted from 1, one of those to try? */
static bool is_selected(struct sweep *sweep, uint64_t number)
{
    uint64_t point = sweep->points++;
    if (sweep->callers)
        return number <= PLACES && !is_seen(places[number - 1]);
    return (point + sweep->stride - sweep->start % sweep->stride) % sweep->stride == 0;
}

static bool is_same(const struct sight *a, const struct sight *b)
{
    return a->status == b->status && a->digest == b->digest;
}

/* ---- one look ---- */

struct usual {
    struct sight sight;
    unsigned failures; /* reported for the file without any fault */
};

static void check_fault(struct sweep *sweep, const struct sight *got, const struct usual *usual)
{
    bool is_refused = got->refusal != usual->sight.refusal;
    sweep->failed += is_refused;
    if (is_refused && got->refusal != sweep->kind->status)
        report_wrong(sweep, nt_status_name(got->refusal));
    else if (!is_refused && got->status != usual->sight.status)
        report_wrong(sweep, nt_status_name(got->status));
    else if ((!is_refused || got->is_whole) && got->digest != usual->sight.digest)
        report_wrong(sweep, "something else was served");
}

static void try_point(struct sweep *sweep, const char *path, enum look look, uint64_t number,
                      const struct usual *usual)
{
    struct sight got;
    struct nt_vfs *vfs = must_open(sweep);
    snprintf(where, sizeof(where), "%s: %s of '%s': %s %llu\n", sweep->source, look_names[look], path,
             sweep->kind->name, (unsigned long long)number);
    where[strlen(where) - 1] = '\0';
    alarm(PATIENCE);
    sweep->reports = 0;
    arm(sweep, number);
    look_at(vfs, path, look, &got);
    fault_disarm();
    check_fault(sweep, &got, usual);
    if (look < LOOK_TREE && got.refusal == NT_IO && sweep->reports == 0)
        report_wrong(sweep, "nothing was reported");
    if (sweep->kind->is_remembered)
        fault_pass_time(REMEMBERED_SECONDS);
    look_at(vfs, path, look, &got);
    if (!is_same(&got, &usual->sight))
        report_wrong(sweep,
                     got.status != usual->sight.status ? "the failure was kept" : "something else was kept");
    if (!sweep->kind->is_remembered && count_failures(vfs) > usual->failures)
        report_wrong(sweep, "the file was called damaged");
    alarm(0);
    close_tree(sweep, vfs);
    sweep->tried++;
}

/* Returns the number of points. */
static uint64_t look_usual(struct sweep *sweep, const char *path, enum look look, struct sight *sight)
{
    struct nt_vfs *vfs = must_open(sweep);
    arm_to_count(sweep);
    look_at(vfs, path, look, sight);
    uint64_t calls = fault_disarm();
    close_tree(sweep, vfs);
    return calls;
}

/* Of the file without any fault, after two looks. */
static unsigned usual_failures(struct sweep *sweep, const char *path, enum look look)
{
    struct nt_vfs *vfs = must_open(sweep);
    for (int i = 0; i < 2; i++)
        look_at(vfs, path, look, &(struct sight){0});
    unsigned failures = count_failures(vfs);
    close_tree(sweep, vfs);
    return failures;
}

/* `is_tried` false: the points are only counted. */
static void sweep_look(struct sweep *sweep, const char *path, enum look look, bool is_tried)
{
    struct usual usual;
    bool has_failures = false;
    uint64_t calls = look_usual(sweep, path, look, &usual.sight);
    for (uint64_t number = 1; number <= calls; number++) {
        if (!is_selected(sweep, number) || !is_tried)
            continue;
        if (!has_failures) /* few looks are tried */
            usual.failures = usual_failures(sweep, path, look);
        has_failures = true;
        try_point(sweep, path, look, number, &usual);
    }
}

/* ---- opening ---- */

static void try_opening(struct sweep *sweep, uint64_t number, const struct sight *usual)
{
    struct nt_vfs *vfs = NULL;
    struct sight got = {0};
    snprintf(where, sizeof(where), "%s: opening: %s %llu", sweep->source, sweep->kind->name,
             (unsigned long long)number);
    alarm(PATIENCE);
    arm(sweep, number);
    enum nt_status status = open_tree(sweep, &vfs, NULL);
    fault_disarm();
    sweep->tried++;
    if (status != NT_OK) {
        sweep->failed++;
        if (status != sweep->kind->status)
            report_wrong(sweep, nt_status_name(status));
        return;
    }
    if (sweep->kind->is_remembered)
        fault_pass_time(REMEMBERED_SECONDS);
    look_at(vfs, "", LOOK_TREE, &got);
    if (!is_same(&got, usual))
        report_wrong(sweep, "another tree was opened");
    close_tree(sweep, vfs);
    alarm(0);
}

static void sweep_opening(struct sweep *sweep, bool is_tried)
{
    struct sight usual;
    struct nt_vfs *vfs;
    look_usual(sweep, "", LOOK_TREE, &usual);
    arm_to_count(sweep);
    open_tree(sweep, &vfs, NULL);
    uint64_t calls = fault_disarm();
    close_tree(sweep, vfs);
    for (uint64_t number = 1; number <= calls; number++)
        if (is_selected(sweep, number) && is_tried)
            try_opening(sweep, number, &usual);
}

/* ---- all ---- */

/* A chain has no lists of its own: one file alone. If the disk refuses one, the error is shown. */
static void sweep_inner(struct sweep *sweep, bool is_tried)
{
    char path[512];
    if (!sweep->is_chain || sweep->kind->status == NT_IO)
        return;
    struct nt_vfs *vfs = must_open(sweep);
    snprintf(path, sizeof(path), "files.d/%s", nt_path_name(sweep->list->files[0].path).bytes);
    close_tree(sweep, vfs);
    const struct tree_path at = {path, .is_directory = true};
    for (enum look look = 0; look < LOOK_TREE; look++)
        if (look_applies(look, &at))
            sweep_look(sweep, path, look, is_tried);
}

static void sweep_source(struct sweep *sweep, bool is_tried)
{
    struct nt_vfs *vfs = must_open(sweep);
    struct tree_path *paths = list_paths(vfs);
    close_tree(sweep, vfs);
    sweep_opening(sweep, is_tried);
    if (sweep->kind->is_of_opening) {
        free_paths(paths);
        return;
    }
    sweep_look(sweep, "", LOOK_LISTING, is_tried);
    for (const struct tree_path *at = paths; at->path; at++)
        for (enum look look = 0; look < LOOK_TREE; look++)
            if (look_applies(look, at))
                sweep_look(sweep, at->path, look, is_tried);
    sweep_inner(sweep, is_tried);
    sweep_look(sweep, "", LOOK_VERIFY, is_tried);
    sweep_look(sweep, "", LOOK_DIFF, is_tried);
    sweep_look(sweep, "", LOOK_ARROW, is_tried);
    free_paths(paths);
}

static uint64_t requested; /* points in all, 0: every one */
static struct sweep sweep = {.kind = kinds, .stride = 1};
static const char *const *sources;

/* In the parent: the samples, and their numbers of points. */
static void set_up(void)
{
    const char *data = getenv("NTUPLE_TEST_DATA");
    const char *const *samples = samples_make(data ? data : "tests/data");
    sources = sources ? sources : samples;
    seen = mmap(NULL, SEEN * sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(seen, MAP_FAILED);
    for (size_t i = 0; requested && sources[i]; i++) {
        sweep.source = sources[i];
        sweep_source(&sweep, false);
    }
    if (requested)
        sweep.stride = (sweep.points + requested - 1) / requested;
}

START_TEST(every_call_may_fail_and_nothing_wrong_is_served_or_kept)
{
    sweep.points = 0;
    sweep.source = sources[_i];
    sweep_source(&sweep, true);
    fault_restore_time(); /* the test's own limit uses the same clock */
    printf("%s: %llu points, %llu tried, %llu of them errors\n", sweep.source,
           (unsigned long long)sweep.points, (unsigned long long)sweep.tried,
           (unsigned long long)sweep.failed);
    ck_assert_uint_eq(sweep.wrong, 0);
}
END_TEST

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    fprintf(stderr, "no such fault: %s\n", name);
    exit(2);
}

static void choose(const char *path)
{
    static struct nt_selection *choice;
    struct nt_error error = {0};
    if (nt_selection_open(path, &choice, &error) != NT_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(2);
    }
    sweep.choice = choice;
}

static void parse(int argc, char **argv)
{
    int option;
    while ((option = getopt(argc, argv, "f:d:e:b:n:s:lt:c")) != -1)
        switch (option) {
        case 'f':
            sweep.kind = find_kind(optarg);
            break;
        case 'd':
            sweep.callers = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'e':
            choose(optarg);
            break;
        case 'b':
            sweep.bases[0] = optarg;
            break;
        case 'c':
            sweep.is_chain = true;
            break;
        case 'n':
            requested = strtoull(optarg, NULL, 10);
            break;
        case 's':
            sweep.start = strtoull(optarg, NULL, 10);
            break;
        case 'l':
            sweep.lasts = true;
            break;
        case 't':
            sweep.threads = (unsigned)strtoul(optarg, NULL, 10);
            break;
        default:
            exit(2);
        }
    if (optind < argc)
        sources = (const char *const *)argv + optind;
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    signal(SIGSEGV, report_place);
    signal(SIGALRM, report_place);
    Suite *suite = suite_create("faults");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 24 * 3600); /* each point has its own */
    tcase_add_unchecked_fixture(tcase, set_up, samples_remove);
    tcase_add_loop_test(tcase, every_call_may_fail_and_nothing_wrong_is_served_or_kept, 0,
                        sources ? argc - optind : SAMPLES);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_VERBOSE);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
