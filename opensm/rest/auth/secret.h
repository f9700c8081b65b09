// SPDX-License-Identifier: BSD-2-Clause
/* Random bytes, hashes, and comparison whose time does not depend on the bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECRET_BYTES 32
#define SECRET_TEXT  65 /* bytes of hexadecimal digits, with the NUL */

/* Random bytes of the kernel; the process ends if there are none. */
void secret_random(void *ret, size_t len);
/* SHA-256. */
void secret_hash(const void *bytes, size_t len, uint8_t ret[SECRET_BYTES]);
/* HMAC-SHA-256. */
void secret_mac(const uint8_t key[SECRET_BYTES], const void *bytes, size_t len,
		uint8_t ret[SECRET_BYTES]);
bool secret_equal(const void *a, const void *b, size_t len);
/* `ret` has 2 * len + 1 bytes. */
void secret_to_hex(const uint8_t *bytes, size_t len, char *ret);
/* 0, or -EINVAL: `text` is not exactly 2 * len hexadecimal digits. */
int secret_from_hex(const char *text, uint8_t *ret, size_t len);
/* RFC 4648, 4, with or without padding. The length, or -EINVAL, also where `cap` is too small. */
int secret_from_base64(const char *text, uint8_t *ret, size_t cap);
