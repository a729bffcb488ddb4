/* SPDX-License-Identifier: MIT
 *
 * A table from data sets to what was worked out for them. Indexes are built by their users; here they are
 * only found, made and ended.
 */
#include "read/dataset_index.h"

#include <stdlib.h>

enum { BUCKETS = 256 };

struct nt_dataset_indexes {
    pthread_mutex_t lock;
    struct nt_dataset_index *buckets[BUCKETS];
};

static struct nt_dataset_index **bucket_of(struct nt_dataset_indexes *indexes,
                                           const struct nt_dataset *dataset)
{
    return &indexes->buckets[(uintptr_t)dataset / sizeof(*dataset) % BUCKETS];
}

static void index_free(struct nt_dataset_index *index)
{
    for (uint32_t i = 0; i < index->column_count; i++)
        free(atomic_load(&index->columns[i]));
    free(index->columns);
    for (uint64_t i = 0; index->left_out && i < 2 * (uint64_t)index->dataset->field_count; i++)
        free(atomic_load(&index->left_out[i]));
    free(index->left_out);
    free(atomic_load(&index->order));
    pthread_mutex_destroy(&index->lock);
    free(index);
}

static struct nt_dataset_index *index_new(const struct nt_dataset *dataset)
{
    struct nt_dataset_index *index = calloc(1, sizeof(*index));
    if (!index)
        return NULL;
    index->dataset = dataset;
    index->column_count = dataset->column_count;
    index->columns = calloc(index->column_count ? index->column_count : 1, sizeof(*index->columns));
    if (dataset->selection)
        index->left_out = calloc(2 * ((size_t)dataset->field_count + 1), sizeof(*index->left_out));
    bool has_memory = index->columns && (index->left_out || !dataset->selection);
    if (!has_memory || pthread_mutex_init(&index->lock, NULL)) {
        free(index->columns);
        free(index->left_out);
        free(index);
        return NULL;
    }
    return index;
}

struct nt_dataset_index *nt_dataset_index_get(struct nt_dataset_indexes *indexes,
                                              const struct nt_dataset *dataset)
{
    pthread_mutex_lock(&indexes->lock);
    struct nt_dataset_index **bucket = bucket_of(indexes, dataset), *index = *bucket;
    while (index && index->dataset != dataset)
        index = index->next;
    if (!index && (index = index_new(dataset))) {
        index->next = *bucket;
        *bucket = index;
    }
    pthread_mutex_unlock(&indexes->lock);
    return index;
}

void nt_dataset_indexes_forget(struct nt_dataset_indexes *indexes, const struct nt_dataset *dataset)
{
    struct nt_dataset_index *found = NULL;
    pthread_mutex_lock(&indexes->lock);
    for (struct nt_dataset_index **link = bucket_of(indexes, dataset); *link; link = &(*link)->next)
        if ((*link)->dataset == dataset) {
            found = *link;
            *link = found->next;
            break;
        }
    pthread_mutex_unlock(&indexes->lock);
    if (found)
        index_free(found);
}

struct nt_dataset_indexes *nt_dataset_indexes_new(void)
{
    struct nt_dataset_indexes *indexes = calloc(1, sizeof(*indexes));
    if (indexes && pthread_mutex_init(&indexes->lock, NULL)) {
        free(indexes);
        indexes = NULL;
    }
    return indexes;
}

void nt_dataset_indexes_free(struct nt_dataset_indexes *indexes)
{
    if (!indexes)
        return;
    for (unsigned i = 0; i < BUCKETS; i++)
        for (struct nt_dataset_index *index = indexes->buckets[i], *next; index; index = next) {
            next = index->next;
            index_free(index);
        }
    pthread_mutex_destroy(&indexes->lock);
    free(indexes);
}
