/* SPDX-License-Identifier: MIT
 *
 * In: a command line. Out: a copy of it; in its place one that shows nothing secret.
 */
#include "cli/arguments.h"

#include <stdlib.h>
#include <string.h>

#include "core/io/remote.h"

/* What is shown of an address is never longer than the address. */
static bool hide(char *argument)
{
    char *shown = nt_is_address(argument) ? nt_address_shown(argument) : NULL;
    if (!shown)
        return !nt_is_address(argument);
    size_t length = strlen(argument), shown_length = strlen(shown);
    if (shown_length < length) {
        memset(argument, 0, length);
        memcpy(argument, shown, shown_length);
    }
    free(shown);
    return true;
}

char **nt_arguments_hide(int count, char **arguments, struct nt_arena *arena)
{
    char **copies = nt_arena_alloc(arena, (size_t)count + 1, sizeof(*copies));
    for (int i = 0; copies && i < count; i++) {
        copies[i] = nt_arena_copy(arena, arguments[i], strlen(arguments[i]));
        if (!copies[i] || !hide(arguments[i]))
            return NULL;
    }
    return copies;
}
