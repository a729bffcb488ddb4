/* SPDX-License-Identifier: MIT
 *
 * The module of ntuplefs-fetch in a build that measures coverage: a loaded module has its own counters,
 * and the program makes it write them (fetch.c).
 */
void __gcov_dump(void);
__attribute__((visibility("default"))) void nt_coverage_dump(void);

void nt_coverage_dump(void)
{
    __gcov_dump();
}
