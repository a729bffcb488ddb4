/* SPDX-License-Identifier: MIT
 *
 * Macros for the declarations of the public headers, for C11 and C++17 and newer.
 */
#ifndef NTUPLE_API_H
#define NTUPLE_API_H

/* Enclose all declarations of a header: C linkage in C++, and visibility outside the library. */
#ifdef __cplusplus
#define NT_LINKAGE_BEGIN extern "C" {
#define NT_LINKAGE_END }
#else
#define NT_LINKAGE_BEGIN
#define NT_LINKAGE_END
#endif
#ifdef __GNUC__
#define NT_API_BEGIN NT_LINKAGE_BEGIN _Pragma("GCC visibility push(default)")
#define NT_API_END _Pragma("GCC visibility pop") NT_LINKAGE_END
#else
#define NT_API_BEGIN NT_LINKAGE_BEGIN
#define NT_API_END NT_LINKAGE_END
#endif

/* Marks a function whose result the caller must check. */
#ifdef __GNUC__
#define NT_CHECKED __attribute__((__warn_unused_result__))
#else
#define NT_CHECKED
#endif

#endif
