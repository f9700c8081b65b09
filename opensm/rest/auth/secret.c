// SPDX-License-Identifier: BSD-2-Clause
/* The hashes are those of GnuTLS, which the program needs for TLS anyway. */
#include "rest/auth/secret.h"

#include <assert.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <string.h>
#include <sys/random.h>

#include "util/mem.h"

void secret_random(void *ret, size_t len)
{
	assert(ret && len <= 256);
	/* Up to 256 bytes come whole, whatever signals there are: getrandom(2). */
	if (getrandom(ret, len, 0) != (ssize_t)len)
		abort();
}

void secret_hash(const void *bytes, size_t len, uint8_t ret[SECRET_BYTES])
{
	assert((bytes || !len) && ret);
	if (gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes, len, ret) < 0)
		abort();
}

void secret_mac(const uint8_t key[SECRET_BYTES], const void *bytes, size_t len,
		uint8_t ret[SECRET_BYTES])
{
	assert(key && (bytes || !len) && ret);
	if (gnutls_hmac_fast(GNUTLS_MAC_SHA256, key, SECRET_BYTES, bytes, len, ret) < 0)
		abort();
}

bool secret_equal(const void *a, const void *b, size_t len)
{
	return gnutls_memcmp(a, b, len) == 0;
}

void secret_to_hex(const uint8_t *bytes, size_t len, char *ret)
{
	static const char digits[] = "0123456789abcdef";

	assert(bytes && ret);
	for (size_t i = 0; i < len; i++) {
		ret[2 * i] = digits[bytes[i] >> 4];
		ret[2 * i + 1] = digits[bytes[i] & 15];
	}
	ret[2 * len] = '\0';
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int secret_from_hex(const char *text, uint8_t *ret, size_t len)
{
	assert(text && ret);
	if (strlen(text) != 2 * len)
		return -EINVAL;
	for (size_t i = 0; i < 2 * len; i++)
		if (digit_of(text[i]) < 0)
			return -EINVAL;
	for (size_t i = 0; i < len; i++)
		ret[i] = (uint8_t)(digit_of(text[2 * i]) << 4 | digit_of(text[2 * i + 1]));
	return 0;
}

static int sextet_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

int secret_from_base64(const char *text, uint8_t *ret, size_t cap)
{
	size_t n = strcspn(text, "="), len = 0, padding = strlen(text + n);
	uint32_t bits = 0;

	assert(text && ret);
	if (n % 4 == 1 || padding > 2 || strspn(text + n, "=") != padding ||
	    (padding && (n + padding) % 4))
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		int six = sextet_of(text[i]);

		if (six < 0 || (i % 4 && len >= cap))
			return -EINVAL;
		bits = (bits << 6 | (uint32_t)six) & 0xFFFFFF;
		if (i % 4)
			ret[len++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
	}
	return (int)len;
}
