// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of a QoS policy for sets of P_Keys (view_policy.h): by numbers, and by names of partitions
 * as they stand for P_Keys at a time.
 */
#pragma once

#include "conf/partitions/partitions.h"
#include "conf/qos/qos_policy.h"

struct pkey_set;
struct policy_keys;

/* One reference; NULL: no policy, or no group of it uses P_Keys. */
struct policy_keys *policy_keys_new(const struct qos_policy *policy,
				    const struct partitions *partitions);
struct policy_keys *policy_keys_ref(struct policy_keys *k);
struct policy_keys *policy_keys_unref(struct policy_keys *k); /* NULL is fine; returns NULL */
bool policy_keys_equal(const struct policy_keys *a, const struct policy_keys *b);
unsigned policy_keys_words(const struct policy_keys *k); /* words of a row */
void policy_keys_row(const struct policy_keys *k, const struct pkey_set *set, uint64_t *ret);
