/* SPDX-License-Identifier: MIT
 *
 * The time that libntuple takes to open a file and to report its entries.
 *
 *   open_file FILE ROUNDS
 *
 * Prints the entries, then the seconds of each round. Exits at the end of its input, so that its memory can
 * be measured.
 */
#include "columns.h"

int main(int argument_count, char **arguments)
{
    struct nt_error error;
    if (argument_count != 3) {
        fprintf(stderr, "usage: open_file FILE ROUNDS\n");
        return EXIT_FAILURE;
    }
    for (int round = 0; round < atoi(arguments[2]); round++) {
        struct nt_file *file;
        double start = seconds_now();
        check(nt_file_open(arguments[1], NULL, &file, &error), &error);
        uint64_t entries = file->datasets[0]->entries;
        double seconds = seconds_now() - start;
        if (round == 0)
            printf("%llu", (unsigned long long)entries);
        printf(" %.6f", seconds);
        nt_file_close(file);
    }
    putchar('\n');
    fflush(stdout);
    getchar();
}
