/* SPDX-License-Identifier: MIT
 *
 * The main function of a fuzzing target in builds without a fuzzer: runs the target on the files of the
 * command line, then on `-n` mutations of each, within the first `-b` bytes. The same arguments always give
 * the same inputs.
 *
 *     fuzz_rntuple [-n mutations] [-s seed] [-b bytes] FILE...
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* In memory of its own, so that a read past the end is found. */
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

static bool replay(const char *path, unsigned long mutations, uint64_t seed, size_t most)
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
        size_t front = count < most ? count : most, kept = mutate(&mutator, changed, front);
        give(changed, kept < front ? kept : count);
    }
    free(bytes);
    free(changed);
    return true;
}

int main(int argc, char **argv)
{
    unsigned long mutations = 0, seed = 1, most = ULONG_MAX;
    bool is_good = true;
    for (int option; (option = getopt(argc, argv, "n:s:b:")) != -1;) {
        if (option == '?')
            return EXIT_FAILURE;
        *(option == 'n' ? &mutations : option == 's' ? &seed : &most) = strtoul(optarg, NULL, 10);
    }
    for (int i = optind; i < argc; i++)
        is_good = replay(argv[i], mutations, seed, most) && is_good;
    return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
