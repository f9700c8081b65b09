// SPDX-License-Identifier: BSD-2-Clause
/* Rows of a QoS policy for sets of P_Keys. */
#include "view/policy_keys.h"

#include <string.h>

#include "plan/pkey.h"
#include "util/bisect.h"

/* What a partition's name in the policy stands for. */
struct named_key {
	uint16_t pkey;
	uint64_t *row;
};

struct policy_keys {
	_Atomic unsigned refs;
	const struct qos_policy *policy; /* one reference */
	unsigned words;
	struct named_key *named; /* by P_Key */
	size_t n;
};

static int compare_named(const void *a, const void *b)
{
	const struct named_key *x = a, *y = b;

	return COMPARE(x->pkey, y->pkey);
}

static void resolve_names(struct policy_keys *k, const struct partitions *partitions)
{
	size_t cap = 0;

	for (size_t i = 0; partitions && i < partitions->n; i++) {
		_cleanup_free_ uint64_t *row = xcalloc(k->words, sizeof(*row));

		if (!qos_policy_partition(k->policy, partitions->list[i].name, row))
			continue;
		GROW(k->named, k->n + 1, cap);
		k->named[k->n++] = (struct named_key){ partitions->list[i].pkey, take(row) };
	}
	if (k->n)
		qsort(k->named, k->n, sizeof(*k->named), compare_named);
}

struct policy_keys *policy_keys_new(const struct qos_policy *policy,
				    const struct partitions *partitions)
{
	struct policy_keys *k;

	if (!policy || !qos_policy_has_pkeys(policy))
		return NULL;
	k = xcalloc(1, sizeof(*k));
	k->refs = 1;
	k->policy = qos_policy_ref(policy);
	k->words = 2 * policy->words;
	resolve_names(k, partitions);
	return k;
}

struct policy_keys *policy_keys_ref(struct policy_keys *k)
{
	if (k)
		atomic_fetch_add(&k->refs, 1);
	return k;
}

struct policy_keys *policy_keys_unref(struct policy_keys *k)
{
	if (!k || atomic_fetch_sub(&k->refs, 1) > 1)
		return NULL;
	for (size_t i = 0; i < k->n; i++)
		free(k->named[i].row);
	free(k->named);
	qos_policy_unref(k->policy);
	free(k);
	return NULL;
}

bool policy_keys_equal(const struct policy_keys *a, const struct policy_keys *b)
{
	bool equal = a->policy == b->policy && a->n == b->n;

	for (size_t i = 0; equal && i < a->n; i++)
		equal = a->named[i].pkey == b->named[i].pkey &&
			!memcmp(a->named[i].row, b->named[i].row, a->words * sizeof(uint64_t));
	return equal;
}

unsigned policy_keys_words(const struct policy_keys *k)
{
	return k ? k->words : 0;
}

static void or_row(uint64_t *ret, const uint64_t *row, unsigned words)
{
	for (unsigned i = 0; row && i < words; i++)
		ret[i] |= row[i];
}

void policy_keys_row(const struct policy_keys *k, const struct pkey_set *set, uint64_t *ret)
{
	memset(ret, 0, k->words * sizeof(*ret));
	for (unsigned i = 0; i < set->n; i++) {
		uint16_t pkey = partition_pkey(set->entries[i].order);
		size_t at = BISECT(m, 0, k->n, k->named[m].pkey < pkey);

		or_row(ret, qos_policy_pkey(k->policy, pkey), k->words);
		if (at < k->n && k->named[at].pkey == pkey)
			or_row(ret, k->named[at].row, k->words);
	}
}
