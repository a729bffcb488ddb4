/* SPDX-License-Identifier: MIT
 *
 * Compile-time test for AddressSanitizer and ThreadSanitizer.
 */
#pragma once

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
