/* SPDX-License-Identifier: MIT
 *
 * Whether a sanitizer's runtime is in the process: it has memory of its own, looks around, and stops all threads to search for leaks.
 */
#ifndef NT_BASE_SANITIZED_H
#define NT_BASE_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NT_IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NT_IS_SANITIZED true
#endif
#endif
#ifndef NT_IS_SANITIZED
#define NT_IS_SANITIZED false
#endif

#endif
