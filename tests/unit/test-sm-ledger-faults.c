// SPDX-License-Identifier: BSD-2-Clause
/*
 * Faults that meet the exchange between managers: messages that end in the middle, a disk that is full
 * for a while, rows that no manager of ours writes (sm/ledger/).
 */
#include "ledger-managers.h"
#include "sm/ledger/settle_internal.h"

static const struct ledger_store *full; /* nothing can be written to it; NULL: to all */

int __real_ledger_store_write(struct ledger_store *s, const uint8_t *rows, size_t len,
			      const struct ledger_meta *meta);
int __wrap_ledger_store_write(struct ledger_store *s, const uint8_t *rows, size_t len,
			      const struct ledger_meta *meta);

int __wrap_ledger_store_write(struct ledger_store *s, const uint8_t *rows, size_t len,
			      const struct ledger_meta *meta)
{
	return full && s == full ? -ENOSPC : __real_ledger_store_write(s, rows, len, meta);
}

static struct settle *settle_of(struct world *w, unsigned which)
{
	return sm_of(w, which)->m.settle;
}

static struct settle_peer *peer_in(struct world *w, unsigned which, unsigned other)
{
	return settle_peer_of(settle_of(w, which), sm_of(w, other)->tr->port_guid);
}

/* A message is under way to one that takes a moment: digests are sent behind it, not a minute later. */
static void a_doubt_with_a_message_under_way_ends_soon(void **state)
{
	struct world *w = *state;
	static struct answer a;

	start_connected(w);
	rig_freeze(w->rig, SPARE, true);
	submit(w, ACTIVE, true, 0x8, 3, &a);
	run_for(w, 300 * MONO_MS);
	assert_true(peer_in(w, ACTIVE, SPARE)->busy);
	settle_doubt(sm_of(w, ACTIVE), "as this test wants it");
	run_for(w, 500 * MONO_MS);
	rig_freeze(w->rig, SPARE, false);
	run_for(w, 5 * MONO_S);
	assert_int_equal(settle_state(sm_of(w, ACTIVE)), SETTLE_WRITING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_doubt_with_a_message_under_way_ends_soon),
	};

	if (getenv("ONLY"))
		cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
