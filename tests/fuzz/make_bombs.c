/* SPDX-License-Identifier: MIT
 *
 * Writes the files that request huge resources: DIRECTORY/<name>.root or .lance for each. All are small but
 * `large_and_dense`.
 */
#include <stdio.h>

#include "bombs.h"
#include "demand.h"
#include "save_bytes.h"

static void write_all(const char *directory, const struct bomb *list, size_t count, const char *ending)
{
    for (size_t i = 0; i < count; i++) {
        char path[4096];
        struct nt_buffer file = {0};
        list[i].write(&file);
        demand(snprintf(path, sizeof(path), "%s/%s.%s", directory, list[i].name, ending) < (int)sizeof(path));
        save_bytes(&file, path);
        nt_buffer_deinit(&file);
    }
}

/* 20 MB of metadata. */
static void large_and_dense(struct nt_buffer *file)
{
    write_dense_fields(130000, 190, file);
}

static const struct bomb large_bombs[] = {BOMB(large_and_dense, BOMB_READ)};

int main(int argc, char **argv)
{
    demand(argc == 2);
    write_all(argv[1], bombs, bomb_count, "root");
    write_all(argv[1], dense_bombs, dense_bomb_count, "root");
    write_all(argv[1], tree_bombs, tree_bomb_count, "root");
    write_all(argv[1], large_bombs, sizeof(large_bombs) / sizeof(*large_bombs), "root");
    write_all(argv[1], lance_bombs, lance_bomb_count, "lance");
    return 0;
}
