// SPDX-License-Identifier: BSD-2-Clause
#include "sm/ledger/edits.h"

#include <assert.h>

#include "util/mem.h"

void edits_put(struct edits *all, const struct ledger_key *key, uint64_t number, const void *bytes,
	       size_t len)
{
	assert(len);
	APPEND(all->list, all->n, all->cap) = (struct settle_edit){
		.key = *key, .number = number, .len = (uint32_t)len, .bytes = xmemdup(bytes, len)
	};
}

void edits_remove(struct edits *all, const struct ledger_key *key, uint64_t number)
{
	APPEND(all->list, all->n, all->cap) =
		(struct settle_edit){ .key = *key, .number = number, .removed = true };
}

uint64_t edits_number(const struct sm *sm, struct edits *all, enum ledger_table table)
{
	if (!all->number[table])
		all->number[table] = settle_next_number(sm, table);
	return all->number[table];
}

void edits_commit(struct sm *sm, const struct edits *all, settle_done_fn *done, void *arg)
{
	settle_commit(sm, all->list, all->n, done, arg);
}

void edits_clear(struct edits *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->list[i].bytes)
			free_wiped(as_owner(all->list[i].bytes), all->list[i].len);
	free(all->list);
	*all = (struct edits){ 0 };
}
