// SPDX-License-Identifier: BSD-2-Clause
/*
 * Distinct payloads known by a 16-bit number. A large fabric has millions of SL2VL rows and
 * VL arbitration blocks but only a handful of different ones.
 */
#include "sim/sim_internal.h"
#include "util/hash.h"

#define INTERN_MAX 65536

static size_t find_place(const struct intern *in, const uint8_t *value)
{
	size_t mask = in->n_hash - 1, i = hash_fold(hash_bytes(HASH_START, value, in->size)) & mask;

	while (in->hash[i] &&
	       memcmp(in->values + (in->hash[i] - 1) * (size_t)in->size, value, in->size))
		i = (i + 1) & mask;
	return i;
}

static void rehash(struct intern *in)
{
	in->n_hash = in->n_hash ? in->n_hash * 2 : 64;
	free(in->hash);
	in->hash = xcalloc(in->n_hash, sizeof(*in->hash));
	for (size_t v = 0; v < in->n; v++)
		in->hash[find_place(in, in->values + v * in->size)] = (uint32_t)v + 1;
}

/* Number of `value`; beyond 65536 different ones all others share the last number. */
uint16_t intern_put(struct intern *in, const uint8_t *value)
{
	size_t i;

	if (in->n_hash < 2 * (in->n + 1))
		rehash(in);
	i = find_place(in, value);
	if (in->hash[i])
		return (uint16_t)(in->hash[i] - 1);
	if (in->n == INTERN_MAX)
		return INTERN_MAX - 1;
	GROW(in->values, (in->n + 1) * in->size, in->cap);
	memcpy(in->values + in->n * in->size, value, in->size);
	in->hash[i] = (uint32_t)++in->n;
	return (uint16_t)(in->n - 1);
}

const uint8_t *intern_get(const struct intern *in, unsigned number)
{
	return in->values + (size_t)number * in->size;
}

void intern_free(struct intern *in)
{
	free(in->values);
	free(in->hash);
}
