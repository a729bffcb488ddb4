/* SPDX-License-Identifier: MIT
 *
 * A table from data sets to what was worked out for them. Views are built by their users; here they are only
 * found, made and ended.
 */
#include "page/views.h"

#include <stdlib.h>

enum { BUCKETS = 256 };

struct nt_views {
    pthread_mutex_t lock;
    struct nt_view *buckets[BUCKETS];
};

static struct nt_view **bucket_of(struct nt_views *views, const struct nt_dataset *dataset)
{
    return &views->buckets[(uintptr_t)dataset / sizeof(*dataset) % BUCKETS];
}

static void view_free(struct nt_view *view)
{
    for (uint32_t i = 0; i < view->column_count; i++)
        free(atomic_load(&view->columns[i]));
    free(view->columns);
    free(atomic_load(&view->order));
    pthread_mutex_destroy(&view->lock);
    free(view);
}

static struct nt_view *view_new(const struct nt_dataset *dataset)
{
    struct nt_view *view = calloc(1, sizeof(*view));
    if (!view)
        return NULL;
    view->dataset = dataset;
    view->column_count = dataset->column_count;
    view->columns = calloc(view->column_count ? view->column_count : 1, sizeof(*view->columns));
    if (!view->columns || pthread_mutex_init(&view->lock, NULL)) {
        free(view->columns);
        free(view);
        return NULL;
    }
    return view;
}

struct nt_view *nt_views_get(struct nt_views *views, const struct nt_dataset *dataset)
{
    pthread_mutex_lock(&views->lock);
    struct nt_view **bucket = bucket_of(views, dataset), *view = *bucket;
    while (view && view->dataset != dataset)
        view = view->next;
    if (!view && (view = view_new(dataset))) {
        view->next = *bucket;
        *bucket = view;
    }
    pthread_mutex_unlock(&views->lock);
    return view;
}

void nt_views_forget(struct nt_views *views, const struct nt_dataset *dataset)
{
    struct nt_view *found = NULL;
    pthread_mutex_lock(&views->lock);
    for (struct nt_view **link = bucket_of(views, dataset); *link; link = &(*link)->next)
        if ((*link)->dataset == dataset) {
            found = *link;
            *link = found->next;
            break;
        }
    pthread_mutex_unlock(&views->lock);
    if (found)
        view_free(found);
}

struct nt_views *nt_views_new(void)
{
    struct nt_views *views = calloc(1, sizeof(*views));
    if (views && pthread_mutex_init(&views->lock, NULL)) {
        free(views);
        views = NULL;
    }
    return views;
}

void nt_views_free(struct nt_views *views)
{
    if (!views)
        return;
    for (unsigned i = 0; i < BUCKETS; i++)
        for (struct nt_view *view = views->buckets[i], *next; view; view = next) {
            next = view->next;
            view_free(view);
        }
    pthread_mutex_destroy(&views->lock);
    free(views);
}
