// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ports whose P_Key tables are to be confirmed: each is tried until its devices hold what the table
 * of tenants says, also when no request waits for it any more.
 *
 *   DUE --> RUNNING --both sides confirmed--> CONFIRMED
 *    ^         |-- the port is not there ---> ABSENT    a sweep writes its tables before it
 *    |         |                                        becomes ACTIVE; a link that is up without
 *    |         |                                        it loses other keys first
 *    |         |                                        (tenancy_place.c)
 *    |         |-- the end port is silent --> SILENT    its switch port lets nothing else through
 *    |         '-- otherwise ---------------> FAILED
 *    '-- another change; or a pause has passed (SILENT, FAILED)
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/tenants/tenancy_internal.h"
#include "sm/base/about.h"
#include "sm/base/news.h"
#include "util/bisect.h"
#include "util/mem.h"

#define RUNNING_MAX 256u
#define PAUSE_FIRST (250 * MONO_MS)
#define PAUSE_LAST  (30 * MONO_S)
#define TELL_AFTER  3 /* number of failures in a row before one is logged */

static const char no_port[] = "no such port in the fabric";
static const char not_planned[] = "the next sweep sets it up";
static const char silent[] = "it does not answer";
static const char hidden[] = "it is not known where it was, and behind a link that is up nothing "
			     "answers";

/* ---- ports --------------------------------------------------------------------------------- */

/* The reason why the devices of a port are not asked; NULL: they are. */
static const char *absence_of(const struct sm *sm, const struct port *p)
{
	if (!p || !p->known)
		return no_port;
	if (p->quarantined)
		return "another port has the same GUID";
	if (node_is_switch(p->node) && p->num == 0)
		return NULL;
	if (!p->peer || !p->peer->known || port_state(p) == IB_PORT_DOWN)
		return "its link is down";
	if (p->peer->quarantined)
		return "it is cabled to a port whose GUID another port has too";
	if (sm_pkeys(sm) && pkey_plan_find(sm_pkeys(sm), p->guid) == SIZE_MAX)
		return not_planned;
	return NULL;
}

const char *wire_absence(const struct sm *sm, guid_t guid)
{
	return absence_of(sm, fabric_find_port(sm->fabric, guid));
}

/* ---- targets ------------------------------------------------------------------------------- */

static struct target *target_of(struct sm *sm, guid_t guid, const struct port *p)
{
	struct tenancy *t = sm->m.tenancy;
	struct target *target = guidmap_get(t->targets, guid);

	if (target)
		return target;
	target = xcalloc(1, sizeof(*target));
	target->guid = guid;
	target->sm = sm;
	if (p)
		held_note_table(target, p);
	guidmap_put(t->targets, guid, target);
	return target;
}

static void target_is_due(struct target *target)
{
	struct tenancy *t = target->sm->m.tenancy;

	target->state = TARGET_DUE;
	if (target->is_queued)
		return;
	target->is_queued = true;
	target->next_due = NULL;
	*t->last_due = target;
	t->last_due = &target->next_due;
}

static struct target *take_due(struct tenancy *t)
{
	struct target *target = t->first_due;

	t->first_due = target->next_due;
	if (!t->first_due)
		t->last_due = &t->first_due;
	target->is_queued = false;
	return target;
}

static void target_free(struct target *target)
{
	held_clear(target);
	free(target);
}

/* Frees the target if it is done and no change waits for it. */
static void target_retire(struct target *target)
{
	bool is_over = target->state == TARGET_ABSENT || target->state == TARGET_CONFIRMED;

	if (target->n_wishes || target->is_queued || !is_over || target->tried != target->wanted)
		return;
	guidmap_remove(target->sm->m.tenancy->targets, target->guid);
	target_free(target);
}

/* Logs a failure; limited for all ports together, so that a silent fabric does not fill the log. */
static void tell_failure(struct target *target)
{
	struct sm *sm = target->sm;
	unsigned more;

	if (!log_allow(&sm->m.tenancy->log, sm->now, &more))
		return;
	log_guid(sm, target->guid, LOG_ID_REFUSED_SET, LOGB_ERROR,
		 "its P_Keys are not as partitions say: %s; it is tried again%s", target->why,
		 more ? " (and others)" : "");
}

static void target_is(struct target *target, enum target_state state, const char *why)
{
	target->state = state;
	target->why = why;
	target->sm->m.tenancy->settled = true;
	if (state == TARGET_CONFIRMED)
		target->confirmed = target->tried;
	if (state == TARGET_CONFIRMED || state == TARGET_ABSENT)
		target->takes = false;
	if (state != TARGET_SILENT && state != TARGET_FAILED) {
		target->failures = 0;
		return;
	}
	target->again =
		target->sm->now + mono_min(PAUSE_FIRST << MIN(target->failures, 10u), PAUSE_LAST);
	target->sm->m.tenancy->retry_at = mono_min(target->sm->m.tenancy->retry_at, target->again);
	if (++target->failures == TELL_AFTER)
		tell_failure(target);
}

static bool is_fine(enum pkeys_state s)
{
	return s == PKEYS_CONFIRMED || s == PKEYS_NOTHING;
}

static bool is_silent(enum pkeys_state s)
{
	return s == PKEYS_SILENT || s == PKEYS_CANCELLED;
}

static void judge_end(struct target *target, const struct sync_pkeys *r)
{
	const struct port *p = fabric_find_port(target->sm->fabric, target->guid);

	if (r->end_port == PKEYS_NOTHING)
		target_is(target, TARGET_FAILED, not_planned);
	else if (is_fine(r->switch_port) && is_fine(r->end_port))
		target_is(target, TARGET_CONFIRMED, NULL);
	else if (is_silent(r->end_port) && r->switch_port == PKEYS_CONFIRMED && p &&
		 held_checks_pkeys(p->peer))
		target_is(target, TARGET_SILENT, silent);
	else if (is_silent(r->end_port) || is_silent(r->switch_port))
		target_is(target, TARGET_FAILED,
			  is_silent(r->end_port) ? silent : "its switch does not answer");
	else
		target_is(target, TARGET_FAILED,
			  is_fine(r->end_port) ? "its switch port does not keep the P_Keys"
					       : "it does not keep the P_Keys");
}

static const char not_master[] = "this manager is not the master";

/* After a try: starts another if the rights changed; ends if this is not the master any more. */
static void target_goes_on(struct target *target)
{
	if (target->sm->state != SM_MASTER) {
		target->wanted = target->tried;
		target_is(target, TARGET_ABSENT, not_master);
	} else if (target->tried != target->wanted) {
		target_is_due(target);
	}
	target_retire(target);
}

static void on_tried(void *arg, const struct sync_pkeys *r)
{
	struct target *target = arg;

	target->sm->m.tenancy->n_running--;
	judge_end(target, r);
	target_goes_on(target);
}

/*
 * Has the link of a port looked at again if a run is bringing it up: the run may have left it out
 * because of tables that are being written now.
 */
static void look_after(struct sm *sm, const struct port *p)
{
	if (sync_running(sm->sync) && !port_is_live(p))
		tell_news(sm, NEWS_TABLES, .text = "P_Keys of a port that comes up were changed");
}

static void on_removed(void *arg, const struct sync_pkeys *r)
{
	struct target *target = arg;
	enum pkeys_state state = r->switch_port;

	target->sm->m.tenancy->n_running--;
	if (state == PKEYS_CONFIRMED && target->is_checked)
		target_is(target, TARGET_ABSENT, target->why);
	else
		target_is(target, TARGET_FAILED,
			  state == PKEYS_CONFIRMED
				  ? "its link is up, and its switch port does not check P_Keys"
				  : "its link is up, and its switch port does not drop P_Keys");
	target_goes_on(target);
}

/* Leaves the switch port only the keys that the GUID may have. */
static void remove_keys(struct sm *sm, struct target *target, struct port *at)
{
	struct pkey_trial trial;

	partition_try_guid(sm, target->guid, &trial);
	target->is_checked = held_checks_pkeys(at);
	target->state = TARGET_RUNNING;
	sm->m.tenancy->n_running++;
	sync_remove_pkeys(sm->sync, at, (struct pkey_table){ trial.keys, trial.n }, on_removed,
			 target);
	pkey_trial_clear(&trial);
}

/* The reason why it is uncertain that the port cannot send; NULL: it is certain. */
static const char *doubt_of(const struct sm *sm, const struct target *target, const struct port *p,
			    const char *absence)
{
	if (absence == not_planned)
		return absence;
	if (place_is_behind_silence(sm, target->guid, p))
		return "its switch does not answer";
	return target->takes && place_may_be_hidden(sm, target->guid, p) ? hidden : NULL;
}

static void try_absent(struct sm *sm, struct target *target, struct port *p, const char *absence)
{
	struct port *at = place_live(sm, target->guid, p);
	const char *doubt = doubt_of(sm, target, p, absence);

	target->why = absence;
	if (at && absence != not_planned)
		remove_keys(sm, target, at);
	else if (doubt)
		target_is(target, TARGET_FAILED, doubt);
	else
		target_is(target, TARGET_ABSENT, absence);
}

static void try_target(struct sm *sm, struct target *target)
{
	struct port *p = fabric_find_port(sm->fabric, target->guid);
	const char *absence = absence_of(sm, p);

	target->tried = target->wanted;
	if (absence) {
		try_absent(sm, target, p, absence);
		return;
	}
	target->state = TARGET_RUNNING;
	sm->m.tenancy->n_running++;
	look_after(sm, p);
	sync_confirm_pkeys(sm->sync, p, on_tried, target);
}

/* ---- changes ------------------------------------------------------------------------------- */

static size_t place_of(const struct change *c, guid_t guid)
{
	return BISECT(i, 0, c->n_guids, c->guids[i] < guid);
}

/* Marks ports that are full members of the partition before or after the change. */
static void note_full(const struct change *c, const struct tenant_entry *e, bool *full)
{
	for (size_t r = 0; r < e->n_rows; r++) {
		const struct tenant_row *row = &e->rows[r];

		if (row->kind == TENANT_ROW_MEMBER && row->pkey == c->rq.pkey && row->member.full)
			full[place_of(c, row->member.guid)] = true;
	}
}

/* Marks ports from which the change only takes rights; full to limited takes some, too. */
static void note_takes(const struct change *c, bool *takes)
{
	_cleanup_free_ bool *was_full = xcalloc(c->n_guids + 1, sizeof(*was_full));

	note_full(c, &c->inverse, was_full);
	for (size_t i = 0; i < c->n_guids; i++)
		takes[i] = c->entry.n_rows > 0 || c->rq.action == TENANT_REMOVE ||
			   c->rq.action == TENANT_DELETE;
	for (size_t r = 0; r < c->entry.n_rows; r++) {
		const struct tenant_row *row = &c->entry.rows[r];
		size_t at = place_of(c, row->member.guid);
		bool is_demoted = row->pkey == c->rq.pkey && !row->member.full && was_full[at];

		if (row->kind == TENANT_ROW_MEMBER && !is_demoted)
			takes[at] = false;
	}
}

static void add_wish(struct sm *sm, struct change *c, size_t i, bool takes)
{
	const struct port *p = fabric_find_port(sm->fabric, c->guids[i]);
	struct target *target;

	target = target_of(sm, c->guids[i], p);
	held_note_key(target, c->rq.pkey);
	/* A change without rows asks if all is written; if tables are known this takes no SMP. */
	if (c->entry.n_rows || target->wanted == target->confirmed)
		target->wanted++;
	if (target->state != TARGET_RUNNING)
		target_is_due(target);
	target->n_wishes++;
	target->takes |= takes;
	c->wishes[i] = (struct wish){ target, target->wanted, takes };
	if (p && p->known && c->entry.n_rows)
		partition_plan_port(sm, p);
}

void wire_change(struct sm *sm, struct change *c)
{
	_cleanup_free_ bool *takes = NULL;

	if (c->wishes || !tenancy_is_at_work(sm))
		return;
	takes = xcalloc(c->n_guids + 1, sizeof(*takes));
	c->wishes = xcalloc(c->n_guids + 1, sizeof(*c->wishes));
	note_takes(c, takes);
	for (size_t i = 0; i < c->n_guids; i++)
		add_wish(sm, c, i, takes[i]);
}

void wire_plan_back(struct sm *sm, const struct change *c)
{
	bool any = false;

	for (size_t i = 0; i < c->n_guids && tenancy_is_at_work(sm); i++) {
		const struct port *p = fabric_find_port(sm->fabric, c->guids[i]);

		if (!p || !p->known)
			continue;
		partition_plan_port(sm, p);
		any = true;
	}
	if (any)
		tell_news(sm, NEWS_TABLES, .text = "a change of partitions was taken back");
}

static void note_pending(struct change *c, const struct target *target)
{
	GROW(c->pending, c->n_pending + 1, c->cap_pending);
	c->pending[c->n_pending++] = (struct sm_tenancy_pending){ target->guid, target->why };
}

/*
 * Is the wish fulfilled? For a port that is away, keys to be given are pending; keys to be taken
 * away are gone, as it has no way to send.
 */
static bool is_fulfilled(struct change *c, const struct wish *w)
{
	const struct target *target = w->target;

	if (target->confirmed >= w->revision)
		return true;
	if (target->tried < w->revision)
		return false;
	if (target->state == TARGET_SILENT && w->takes)
		return true;
	if (target->state == TARGET_ABSENT && w->takes)
		return true;
	if (target->state == TARGET_ABSENT || (!w->takes && target->why == silent)) {
		note_pending(c, target);
		return true;
	}
	return false;
}

static void drop_wish(struct wish *w)
{
	struct target *target = w->target;

	w->target = NULL;
	target->n_wishes--;
	target_retire(target);
}

bool wire_is_fulfilled(struct sm *sm, struct change *c)
{
	wire_change(sm, c);
	if (!c->wishes)
		return !c->n_guids;
	for (; c->next_wish < c->n_guids; c->next_wish++) {
		struct wish *w = &c->wishes[c->next_wish];

		if (!w->target)
			continue;
		if (!is_fulfilled(c, w))
			return false;
		drop_wish(w);
	}
	return true;
}

void wire_let_go(struct change *c)
{
	for (size_t i = 0; c->wishes && i < c->n_guids; i++) {
		if (c->wishes[i].target)
			drop_wish(&c->wishes[i]);
	}
}

/* ---- room, and dry runs -------------------------------------------------------------------- */

static bool lacks_room(const struct sm *sm, const struct port *p, char *why, size_t size)
{
	const struct pkey_plan *plan = sm_pkeys(sm);
	size_t at = pkey_plan_find(plan, p->guid);
	struct pkey_trial trial;
	bool end, facing;

	if (at == SIZE_MAX)
		return false;
	partition_try_port(sm, p, &trial);
	end = trial.n_dropped > plan->ports[at].n_dropped;
	facing = trial.peer_too_small && !plan->ports[at].peer_too_small;
	if (end)
		snprintf(why, size,
			 "port 0x%016" PRIx64
			 " ('%.64s') has no room for P_Key 0x%04x: its table of %u "
			 "entries is full",
			 p->guid, p->node->desc, trial.first_dropped, fabric_pkey_cap(p));
	else if (facing)
		snprintf(why, size,
			 "the switch port that faces 0x%016" PRIx64
			 " ('%.64s') has room for %u P_Keys: "
			 "with one more it could not check partitions",
			 p->guid, p->node->desc, fabric_pkey_cap(p->peer));
	pkey_trial_clear(&trial);
	return end || facing;
}

const struct port *wire_without_room(struct sm *sm, const struct change *c, char *why, size_t size)
{
	for (size_t i = 0; i < c->n_guids; i++) {
		const struct port *p = fabric_find_port(sm->fabric, c->guids[i]);

		if (p && p->known && lacks_room(sm, p, why, size))
			return p;
	}
	return NULL;
}

struct blocks {
	struct sm_tenancy_block *rows;
	size_t n, cap;
};

static void add_block(struct blocks *all, const struct sm *sm, const struct port *p,
		      struct pkey_table want, unsigned block)
{
	const uint8_t *have = fabric_cell(sm->fabric, p, TABLE_PKEYS, block);
	struct sm_tenancy_block row = {
		.node_guid = p->node->guid,
		.port = p->num,
		.is_switch = !port_is_end(p),
		.block = (uint16_t)block,
		.before_known = have != NULL,
	};

	pkey_table_block(want, block, row.after);
	for (unsigned i = 0; have && i < PKEY_BLOCK; i++)
		row.before[i] = (uint16_t)ib_bits_get(have, i * 16, 16);
	if (have && !memcmp(row.before, row.after, sizeof(row.after)))
		return;
	GROW(all->rows, all->n + 1, all->cap);
	all->rows[all->n++] = row;
}

static void add_table(struct blocks *all, const struct sm *sm, const struct port *p,
		      struct pkey_table want, unsigned blocks)
{
	for (unsigned block = 0; block < blocks; block++)
		add_block(all, sm, p, want, block);
}

static void add_port_blocks(struct blocks *all, const struct sm *sm, const struct port *p)
{
	struct pkey_trial trial;
	struct pkey_table end, facing;

	partition_try_port(sm, p, &trial);
	end = (struct pkey_table){ trial.keys, trial.n };
	facing = (struct pkey_table){ trial.peer_keys, trial.n_peer };
	if (trial.peer_keys)
		add_table(all, sm, p->peer, facing,
			  (fabric_pkey_cap(p->peer) + PKEY_BLOCK - 1) / PKEY_BLOCK);
	add_table(all, sm, p, end, (fabric_pkey_cap(p) + PKEY_BLOCK - 1) / PKEY_BLOCK);
	pkey_trial_clear(&trial);
}

struct sm_tenancy_block *wire_blocks(struct sm *sm, const struct change *c, size_t *ret_n)
{
	struct blocks all = { 0 };

	for (size_t i = 0; i < c->n_guids; i++) {
		const struct port *p = fabric_find_port(sm->fabric, c->guids[i]);

		if (!absence_of(sm, p))
			add_port_blocks(&all, sm, p);
	}
	*ret_n = all.n;
	return all.rows;
}

/* ---- as tenancy.c and others see it -------------------------------------------------------- */

const char *sm_tenancy_pending(const struct sm *sm, guid_t guid)
{
	const struct target *target = guidmap_get(sm->m.tenancy->targets, guid);
	const char *absence = wire_absence(sm, guid);

	if (absence)
		return absence;
	if (!target || target->confirmed == target->wanted)
		return NULL;
	return target->why ? target->why : "it is being written";
}

struct sm_tenancy_pending *sm_tenancy_all_pending(const struct sm *sm, size_t *ret_n,
						  const char **ret_other)
{
	struct sm_tenancy_pending *all = NULL;
	size_t n = 0, cap = 0;

	FABRIC_EACH_END_PORT(sm->fabric, p) {
		if (!p->guid || fabric_find_port(sm->fabric, p->guid) != p)
			continue;
		GROW(all, n + 1, cap);
		all[n++] = (struct sm_tenancy_pending){ p->guid, sm_tenancy_pending(sm, p->guid) };
	}
	*ret_n = n;
	*ret_other = no_port;
	return all;
}

/* Makes targets due again that failed long enough ago. */
static void wake_failed(struct sm *sm)
{
	struct tenancy *t = sm->m.tenancy;
	size_t pos = 0;
	guid_t guid;
	void *value;

	t->retry_at = MONO_NEVER;
	while (guidmap_next(t->targets, &pos, &guid, &value)) {
		struct target *target = value;

		if (target->state != TARGET_FAILED && target->state != TARGET_SILENT)
			continue;
		if (sm->now >= target->again)
			target_is_due(target);
		else
			t->retry_at = mono_min(t->retry_at, target->again);
	}
}

/* Handles a limited number at a time: ports that are away must not hold up the others. */
void wire_tick(struct sm *sm)
{
	struct tenancy *t = sm->m.tenancy;

	if (!tenancy_is_at_work(sm))
		return;
	if (sm->now >= t->retry_at)
		wake_failed(sm);
	for (unsigned i = 0; i < RUNNING_MAX && t->first_due && t->n_running < RUNNING_MAX; i++) {
		struct target *target = take_due(t);

		if (target->state == TARGET_DUE)
			try_target(sm, target);
		target_retire(target);
	}
}

mono_t wire_next(const struct sm *sm)
{
	const struct tenancy *t = sm->m.tenancy;

	if (!tenancy_is_at_work(sm))
		return MONO_NEVER;
	return t->first_due && t->n_running < RUNNING_MAX ? 0 : t->retry_at;
}

/* All targets as an array, to be freed, as targets may go during a walk over it. */
static struct target **all_targets(const struct tenancy *t, size_t *ret_n)
{
	struct target **all = xcalloc(guidmap_count(t->targets) + 1, sizeof(struct target *));
	size_t pos = 0, n = 0;
	guid_t guid;
	void *value;

	while (guidmap_next(t->targets, &pos, &guid, &value))
		all[n++] = value;
	*ret_n = n;
	return all;
}

void wire_stop(struct sm *sm)
{
	struct tenancy *t = sm->m.tenancy;
	size_t n;
	_cleanup_free_ struct target **all = all_targets(t, &n);

	while (t->first_due)
		take_due(t);
	for (size_t i = 0; i < n; i++) {
		all[i]->wanted = all[i]->tried;
		if (all[i]->state != TARGET_RUNNING)
			target_is(all[i], TARGET_ABSENT, not_master);
		target_retire(all[i]);
	}
}

void wire_free(struct tenancy *t)
{
	size_t n;
	_cleanup_free_ struct target **all = all_targets(t, &n);

	for (size_t i = 0; i < n; i++)
		target_free(all[i]);
	guidmap_free(t->targets);
}
