/* SPDX-License-Identifier: MIT
 *
 * How the public headers declare what libntuple exports, for C from C11 on and for C++ from C++17 on.
 */
#ifndef NTUPLE_API_H
#define NTUPLE_API_H

/* Around all declarations of a header: they have C's names in C++, too, and are visible outside of the
 * library. */
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

/* In front of a function whose result has to be looked at. */
#ifdef __GNUC__
#define NT_CHECKED __attribute__((__warn_unused_result__))
#else
#define NT_CHECKED
#endif

#endif
