/* SPDX-License-Identifier: MIT
 *
 * The index of a chain. What is parsed is found again, and what is written parses to the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "chain/chain.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* Through an unnamed file. */
static enum nt_status read_text(const void *bytes, size_t count, struct nt_chain_index **index_ret,
                                struct nt_error *error)
{
    char path[64];
    int file = memfd_create("index", MFD_CLOEXEC);
    if (file < 0 || fchmod(file, 0600) != 0 || write(file, bytes, count) != (ssize_t)count)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    enum nt_status status = nt_chain_index_read(path, index_ret, error);
    close(file);
    return status;
}

static bool have_equal_claims(const struct nt_indexed_dataset *left, const struct nt_indexed_dataset *right)
{
    bool are_equal = !left->counts == !right->counts;
    for (uint64_t i = 0; are_equal && left->counts && i < left->clusters; i++) {
        const struct nt_cluster_counts *a = &left->counts[i], *b = &right->counts[i];
        are_equal = a->run_count == b->run_count &&
                    (!a->run_count || memcmp(a->runs, b->runs, a->run_count * sizeof(*a->runs)) == 0);
    }
    return are_equal;
}

static bool is_same(const struct nt_indexed_file *left, const struct nt_indexed_file *right)
{
    bool is_same = strcmp(left->path, right->path) == 0 && strcmp(left->meant, right->meant) == 0 &&
                   !left->state == !right->state && left->bytes == right->bytes &&
                   left->dataset_count == right->dataset_count;
    for (uint32_t i = 0; is_same && i < left->dataset_count; i++)
        is_same = strcmp(left->datasets[i].path, right->datasets[i].path) == 0 &&
                  left->datasets[i].entries == right->datasets[i].entries &&
                  have_equal_claims(&left->datasets[i], &right->datasets[i]);
    return is_same;
}

/* Among files with equal path and dataset, the first one found counts. */
static void check_again(const struct nt_chain_index *index)
{
    struct nt_error error = {0};
    struct nt_chain_index *again;
    for (uint32_t i = 0; i < index->count; i++) {
        struct nt_buffer line = {0};
        const struct nt_indexed_file *file = &index->files[i];
        const struct nt_chain_identity found = {.bytes = file->bytes, .has_validator = file->validator};
        if (!nt_chain_index_find(index, file->path, file->meant))
            abort();
        (void)nt_indexed_file_check(file, &found, &error);
        nt_indexed_file_append(&line, file, 1 << 20);
        if (line.failed || !line.length || read_text(line.bytes, line.length, &again, &error) != NT_OK)
            abort();
        if (again->count != 1 || !is_same(&again->files[0], file))
            abort();
        nt_chain_index_free(again);
        nt_buffer_deinit(&line);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct nt_error error = {0};
    struct nt_chain_index *index;
    enum nt_status status = read_text(bytes, count, &index, &error);
    if (status != NT_OK) {
        if (error.status != status || !error.message[0])
            abort();
        return 0;
    }
    check_again(index);
    nt_chain_index_free(index);
    return 0;
}
