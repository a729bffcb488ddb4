/* SPDX-License-Identifier: MIT
 *
 * Writes the small files that ask for much: DIRECTORY/<name>.root for each.
 */
#include <stdio.h>

#include "bombs.h"
#include "demand.h"
#include "save_bytes.h"

int main(int argc, char **argv)
{
    demand(argc == 2);
    for (size_t i = 0; i < bomb_count; i++) {
        char path[4096];
        struct nt_buffer file = {0};
        bombs[i].write(&file);
        demand(snprintf(path, sizeof(path), "%s/%s.root", argv[1], bombs[i].name) < (int)sizeof(path));
        save_bytes(&file, path);
        nt_buffer_deinit(&file);
    }
    return 0;
}
