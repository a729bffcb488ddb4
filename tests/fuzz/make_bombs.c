/* SPDX-License-Identifier: MIT
 *
 * Writes the small files that ask for much: DIRECTORY/<name>.root for each, or .lance.
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

int main(int argc, char **argv)
{
    demand(argc == 2);
    write_all(argv[1], bombs, bomb_count, "root");
    write_all(argv[1], lance_bombs, lance_bomb_count, "lance");
    return 0;
}
