/* SPDX-License-Identifier: MIT
 *
 * The main function of each program of unit tests. It prints a line for each test case.
 *
 * usage: test_FOLDER [NAME...]        only those of test_NAME.c; exit status 1 if one failed
 */
#include "support.h"

int main(int argc, char **argv)
{
    return nt_test_run(argv[0], argc - 1, argv + 1);
}
