/* SPDX-License-Identifier: MIT
 *
 * A main for a fuzzing target where no fuzzer is at hand: gives it the files named on the command line as
 * they are, then `-n` mutations of each. The same arguments always give the same inputs.
 *
 *     fuzz_rntuple [-n mutations] [-s seed] FILE...
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* In memory of its own, so that a read beyond the end is found. */
static void give(const uint8_t *bytes, size_t count)
{
    uint8_t *exact = malloc(count ? count : 1);
    if (!exact)
        exit(EXIT_FAILURE);
    memcpy(exact, bytes, count);
    LLVMFuzzerTestOneInput(exact, count);
    free(exact);
}

static uint8_t *load(const char *path, size_t *count_ret)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    long size = 0;
    if (file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0)
        bytes = malloc((size_t)size + 1);
    *count_ret = bytes ? fread(bytes, 1, (size_t)size, file) : 0;
    if (file)
        fclose(file);
    return bytes;
}

static bool replay(const char *path, unsigned long mutations, uint64_t seed)
{
    size_t count;
    uint8_t *bytes = load(path, &count), *changed = malloc(count + 1);
    struct mutator mutator = {seed};
    if (!bytes || !changed) {
        fprintf(stderr, "%s: cannot be read\n", path);
        free(bytes);
        free(changed);
        return false;
    }
    give(bytes, count);
    for (unsigned long i = 0; i < mutations; i++) {
        memcpy(changed, bytes, count);
        give(changed, mutate(&mutator, changed, count));
    }
    free(bytes);
    free(changed);
    return true;
}

int main(int argc, char **argv)
{
    unsigned long mutations = 0, seed = 1;
    bool is_good = true;
    for (int option; (option = getopt(argc, argv, "n:s:")) != -1;) {
        if (option != 'n' && option != 's')
            return EXIT_FAILURE;
        *(option == 'n' ? &mutations : &seed) = strtoul(optarg, NULL, 10);
    }
    for (int i = optind; i < argc; i++)
        is_good = replay(argv[i], mutations, seed) && is_good;
    return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
