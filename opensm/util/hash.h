// SPDX-License-Identifier: BSD-2-Clause
/*
 * FNV-1a of 64 bits: the same on all machines, so numbers of other machines can be compared; not
 * safe against bytes that are chosen to collide.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_START UINT64_C(0xCBF29CE484222325)

/* `h`: HASH_START, or the hash of the preceding bytes. */
static inline uint64_t hash_bytes(uint64_t h, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001B3);
	return h;
}

/*
 * Hashes for use within this process: `n` words of 8 bytes, not necessarily aligned, in the order
 * of this machine. Inputs that differ in one word only never have the same hash.
 */
static inline uint64_t hash_words(uint64_t h, const void *words, size_t n)
{
	const uint8_t *p = words;
	uint64_t word;

	for (size_t i = 0; i < n; i++, p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
		h ^= h >> 32;
	}
	return h;
}

/* Folds the upper half in, for tables whose size is a power of two. */
static inline uint32_t hash_fold(uint64_t h)
{
	return (uint32_t)(h ^ h >> 32);
}
