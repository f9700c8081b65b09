// SPDX-License-Identifier: BSD-2-Clause
/* Requests to change partitions at run time, and their answers (tenancy.h). */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/tenants/tenancy.h"
#include "sm/tenants/tenancy_internal.h"
#include "sm/base/news.h"
#include "sm/base/about.h"
#include "util/mem.h"

MACHINE_MEMORY(tenancy);

#define BATCH_MAX   256u       /* requests that are judged together */
#define BATCH_ROWS  16384u     /* rows of the ledger in one batch */
#define BATCH_PORTS 4096u /* most ports of one batch: each is planned, and compared for dry runs */
#define LOOK_AGAIN  (250 * MONO_MS) /* pause before devices are tried again */

/* ---- lists --------------------------------------------------------------------------------- */

static void changes_clear(struct changes *list)
{
	*list = (struct changes){ 0 };
	list->end = &list->first;
}

struct change *changes_take(struct changes *list)
{
	struct change *c = list->first;

	if (!c)
		return NULL;
	list->first = c->next;
	if (!list->first)
		list->end = &list->first;
	list->n--;
	c->next = NULL;
	return c;
}

void changes_add(struct changes *list, struct change *c)
{
	*list->end = c;
	list->end = &c->next;
	list->n++;
}

/* Counts the memory of a change, which is in use until it is answered. */
static void weigh(struct tenancy *t, struct change *c)
{
	size_t n_rows = c->entry.n_rows + c->inverse.n_rows;

	t->bytes -= c->bytes;
	c->bytes = sizeof(*c) + c->rq.n_members * sizeof(c->rq.members[0]) +
		   n_rows * sizeof(struct tenant_row) +
		   MAX(n_rows + c->rq.n_members, c->n_guids) * sizeof(c->guids[0]) +
		   c->n_guids * sizeof(c->wishes[0]);
	t->bytes += c->bytes;
}

static struct change *change_free(struct change *c)
{
	wire_let_go(c);
	tenant_entry_clear(&c->entry);
	tenant_entry_clear(&c->inverse);
	free(c->rq.members);
	free(c->guids);
	free(c->wishes);
	free(c->pending);
	free(c);
	return NULL;
}

/* ---- answers ------------------------------------------------------------------------------- */

/* Are its rows stored, but its ports not planned anew? After a hold of P_Keys, all ports are. */
static bool is_unplanned(const struct sm *sm, const struct change *c)
{
	return sm->state == SM_MASTER && c->stored_as && c->entry.n_rows && !c->wishes &&
	       !partition_is_held(sm);
}

static void change_forget(struct sm *sm, struct change *c)
{
	sm->m.tenancy->bytes -= c->bytes;
	change_free(c);
}

/* Answers a change; frees it unless its ports are still to be planned. */
static void change_ended(struct sm *sm, struct change *c, struct sm_tenancy_result *r)
{
	const struct tenant_partition *p = tenants_find(partition_tenants(sm), c->rq.pkey);

	r->generation = c->generation;
	r->n_members = p ? p->n_members : 0;
	r->changed = c->entry.n_rows > 0 && r->end != SM_TENANCY_REFUSED;
	r->replicated = c->reach.with > 0;
	r->n_standbys = c->reach.of;
	r->n_standbys_with = c->reach.with;
	r->pending = c->pending;
	r->n_pending = c->n_pending;
	if (!c->dry_run)
		sm->m.tenancy->ended[r->end]++;
	if (c->done)
		c->done(c->arg, r);
	if (is_unplanned(sm, c))
		changes_add(&sm->m.tenancy->unplanned, c);
	else
		change_forget(sm, c);
}

/* Logs the end of a change whose caller was told that it is unconfirmed. */
static void log_late_end(const struct change *c, const char *what, const char *why)
{
	if (c->is_late)
		log_on(ABOUT(.id = LOG_ID_TENANT_CHANGE, .pkey = c->rq.pkey,
			     .generation = c->entry.generation),
		       LOGB_INFO, "partition 0x%04x: generation %" PRIu64 " %s%s", c->rq.pkey,
		       c->entry.generation, what, why);
}

static void refuse(struct sm *sm, struct change *c, enum sm_tenancy_end end, const char *text)
{
	struct sm_tenancy_result r = { .end = end };

	snprintf(r.text, sizeof(r.text), "%s", text);
	tenant_entry_clear(&c->entry);
	c->generation = tenants_generation(partition_tenants(sm));
	change_ended(sm, c, &r);
}

/* Can rights only be taken away, as a manager that may know more does not answer? */
static bool only_takes(const struct sm *sm)
{
	return settle_state(sm) == SETTLE_TAKING;
}

/* The reason why nothing can be changed; NULL: none. `takes`: the change only takes rights. */
static const char *not_now(const struct sm *sm, bool takes, enum sm_tenancy_end *ret)
{
	bool may_take = takes && settle_may_take(sm) && !sm->sweeping_off;
	const char *closed;

	*ret = SM_TENANCY_NOT_MASTER;
	if (sm->state != SM_MASTER)
		return "this manager is not the master";
	if (!sm->first_sweep_done)
		return "the first sweep has not ended yet";
	if (!sm->fabric->own_port)
		return "the manager's own port is not in the fabric";
	*ret = SM_TENANCY_CLOSED;
	closed = settle_closed(sm);
	if (closed && !may_take)
		return closed;
	if (partition_is_held(sm) && !may_take)
		return "P_Key tables are planned anew";
	if (!partition_is_planned(sm))
		return "P_Key tables stay as they are until partitions.conf is mended "
		       "(partition_config_error)";
	*ret = SM_TENANCY_NO_STANDBY;
	if (sm->conf->require_standby && !sm_tenancy_standbys(sm))
		return "no standby could store it (require_standby)";
	return NULL;
}

const char *sm_tenancy_closed(const struct sm *sm)
{
	enum sm_tenancy_end end;

	return not_now(sm, false, &end);
}

/* ---- judging ------------------------------------------------------------------------------- */

static int by_guid(const void *a, const void *b)
{
	guid_t x = *(const guid_t *)a, y = *(const guid_t *)b;

	return x < y ? -1 : x > y;
}

static void note_rows(const struct tenant_entry *e, guid_t *guids, size_t *n)
{
	for (size_t i = 0; i < e->n_rows; i++) {
		if (e->rows[i].member.guid)
			guids[(*n)++] = e->rows[i].member.guid;
	}
}

/* Lists the ports of a change: those whose rights change, and those that it names. */
static void note_guids(struct tenancy *t, struct change *c)
{
	size_t n = 0, kept = 0;

	c->guids = xcalloc(c->entry.n_rows + c->inverse.n_rows + c->rq.n_members + 1,
			   sizeof(*c->guids));
	note_rows(&c->entry, c->guids, &n);
	note_rows(&c->inverse, c->guids, &n);
	for (size_t i = 0; i < c->rq.n_members; i++)
		c->guids[n++] = c->rq.members[i].guid;
	if (n)
		qsort(c->guids, n, sizeof(*c->guids), by_guid);
	for (size_t i = 0; i < n; i++) {
		if (!kept || c->guids[kept - 1] != c->guids[i])
			c->guids[kept++] = c->guids[i];
	}
	c->n_guids = kept;
	weigh(t, c);
}

/* Restores the table as it was before the entry, within one turn. */
static void take_back(struct sm *sm, struct change *c)
{
	tenants_play(partition_tenants(sm), &c->inverse);
}

static void answer_dry_run(struct sm *sm, struct change *c)
{
	struct sm_tenancy_result r = { .end = SM_TENANCY_DONE };
	struct sm_tenancy_block *blocks = wire_blocks(sm, c, &r.n_blocks);

	r.blocks = blocks;
	c->generation = c->entry.generation;
	take_back(sm, c);
	change_ended(sm, c, &r);
	free(blocks);
}

/* Finds the entry of a change. False: the change was refused, and answered. */
static bool find_entry(struct sm *sm, struct change *c)
{
	struct sm_tenancy_result r = { .end = SM_TENANCY_REFUSED };
	int64_t at = sm_realtime(sm);
	guid_t manager = tenancy_moves_index0(sm, c);

	if (manager) {
		r.fault = TENANT_INVALID;
		snprintf(r.text, sizeof(r.text),
			 "0x%016" PRIx64 " is %s: its full default P_Key stays at index 0",
			 manager,
			 manager == sm->tr->port_guid
				 ? "the subnet manager's own port"
				 : "the port of another subnet manager, or in allowed_sm_guids");
	} else {
		r.fault = tenants_judge(partition_tenants(sm), partition_of_file(sm), &c->rq, at,
					&c->entry, r.text, sizeof(r.text));
	}
	if (r.fault == TENANT_FINE)
		return true;
	c->generation = tenants_generation(partition_tenants(sm));
	change_ended(sm, c, &r);
	return false;
}

/*
 * Plays the entry. False: it was undone and answered, being a dry run, or without room at a port.
 */
static bool play_entry(struct sm *sm, struct change *c)
{
	struct tenants *table = partition_tenants(sm);
	char why[300];

	tenants_inverse(table, &c->entry, &c->inverse);
	rows_note_removals(sm, c);
	note_guids(sm->m.tenancy, c);
	sm->m.tenancy->judged += c->n_guids;
	tenants_play(table, &c->entry);
	if (!only_takes(sm) && wire_without_room(sm, c, why, sizeof(why))) {
		take_back(sm, c);
		refuse(sm, c, SM_TENANCY_NO_ROOM, why);
		return false;
	}
	if (!c->dry_run)
		return true;
	answer_dry_run(sm, c);
	return false;
}

static void start_stored(struct sm *sm, struct change *c)
{
	c->generation =
		c->entry.n_rows ? c->entry.generation : tenants_generation(partition_tenants(sm));
	c->stored_as = ledger_number(settle_ledger(sm), LEDGER_MEMBER);
	wire_change(sm, c);
	changes_add(&sm->m.tenancy->stored, c);
	sm->m.tenancy->settled = true;
}

/* Refuses a change, or adds it to the batch, with its rows among the edits. */
static void judge(struct sm *sm, struct change *c)
{
	enum sm_tenancy_end end;
	bool takes = c->rq.action == TENANT_REMOVE || c->rq.action == TENANT_DELETE;
	const char *why = not_now(sm, takes && !c->dry_run, &end);

	if (why) {
		refuse(sm, c, end, why);
		return;
	}
	/* The manager that does not answer may have added members: the partition is kept. */
	c->rq.keep_empty |= only_takes(sm);
	if (!find_entry(sm, c))
		return;
	if (only_takes(sm) && c->entry.n_rows < MAX(c->rq.n_members, (size_t)1)) {
		refuse(sm, c, SM_TENANCY_CLOSED,
		       "not all of these members are known here, and a manager that does not "
		       "answer may know them");
		return;
	}
	if (!c->entry.n_rows && !c->dry_run) {
		/* The table has it already, but rows of the batch may not be stored yet. */
		note_guids(sm->m.tenancy, c);
		changes_add(&sm->m.tenancy->batch, c);
		return;
	}
	if (!play_entry(sm, c))
		return;
	edits_of_change(sm, &sm->m.tenancy->edits, c);
	changes_add(&sm->m.tenancy->batch, c);
}

/* Is there memory for another change? Always if there is none yet: one alone may be larger. */
static bool has_bytes_left(const struct tenancy *t)
{
	return t->bytes <= TENANCY_BYTES_MAX || !(t->batch.n + t->stored.n);
}

static void on_committed(struct sm *sm, void *arg, int error)
{
	struct tenancy *t = sm->m.tenancy;

	t->writing = false;
	if (error < 0)
		snprintf(t->write_fault, sizeof(t->write_fault), "%s", settle_fault(sm));
	tenancy_batch_ended(sm, error);
}

/*
 * Can changes be taken soon, so that they wait? After a hold they wait until tables are written, as
 * an answer covers all members of a partition, also those removed before.
 */
static bool is_about_to_open(const struct sm *sm)
{
	return sm->state == SM_MASTER && sm->first_sweep_done && partition_is_planned(sm) &&
	       (settle_state(sm) == SETTLE_ASKING ||
		(settle_state(sm) == SETTLE_WRITING &&
		 (partition_is_held(sm) || sm->m.tenancy->is_behind_hold)));
}

static bool may_judge(const struct sm *sm)
{
	const struct tenancy *t = sm->m.tenancy;

	return t->waiting.first && !t->writing && has_bytes_left(t) && !is_about_to_open(sm);
}

/* Judges waiting changes, as many as one commit may have and one turn has time for. */
static void judge_waiting(struct sm *sm)
{
	struct tenancy *t = sm->m.tenancy;

	if (!may_judge(sm))
		return;
	t->judged = 0;
	for (unsigned i = 0; i < BATCH_MAX && t->edits.n < BATCH_ROWS && t->judged < BATCH_PORTS &&
			     t->waiting.first && has_bytes_left(t);
	     i++)
		judge(sm, changes_take(&t->waiting));
	if (!t->edits.n) {
		tenancy_batch_ended(sm, 0);
		return;
	}
	t->writing = true;
	t->was_derived = false;
	edits_commit(sm, &t->edits, on_committed, NULL);
}

/* ---- what is stored ------------------------------------------------------------------------ */

static void log_change(const struct sm *sm, const struct change *c)
{
	log_verbose("partition 0x%04x: generation %" PRIu64 " is stored, %zu ports, asked for by "
		    "'%s' at '%s'",
		    c->rq.pkey, c->generation, c->n_guids, c->rq.user, c->rq.address);
}

static bool changes_partitions(const struct change *c)
{
	for (size_t i = 0; i < c->entry.n_rows; i++) {
		if (c->entry.rows[i].kind == TENANT_ROW_PARTITION ||
		    c->entry.rows[i].kind == TENANT_ROW_GONE)
			return true;
	}
	return false;
}

static void take_batch_back(struct sm *sm)
{
	struct tenancy *t = sm->m.tenancy;
	struct change **all = xcalloc(t->batch.n + 1, sizeof(struct change *));
	unsigned n = 0;

	while (t->batch.first)
		all[n++] = changes_take(&t->batch);
	for (unsigned i = n; i-- > 0;) {
		if (all[i]->entry.n_rows)
			take_back(sm, all[i]);
	}
	/* A sweep may have used the table in the meantime. */
	partition_join(sm);
	for (unsigned i = 0; i < n; i++)
		wire_plan_back(sm, all[i]);
	for (unsigned i = 0; i < n; i++) {
		log_late_end(all[i], "was not stored, and is taken back: ", t->write_fault);
		refuse(sm, all[i], SM_TENANCY_CLOSED, t->write_fault);
	}
	free(all);
	/* Rows that came from elsewhere in the meantime are applied all the same. */
	tenancy_derive_edits(sm);
	edits_clear(&t->edits);
}

/* Ports whose rights a batch has changed; to be freed. */
struct ports_changed {
	guid_t *guids;
	size_t n, cap;
	bool partitions; /* set if a partition came, went, or has other fields */
};

static void note_changed(struct ports_changed *all, const struct change *c)
{
	if (!c->entry.n_rows)
		return;
	all->partitions |= changes_partitions(c);
	GROW(all->guids, all->n + c->n_guids + 1, all->cap);
	if (c->n_guids)
		memcpy(all->guids + all->n, c->guids, c->n_guids * sizeof(*c->guids));
	all->n += c->n_guids;
}

/* Publishes the new rights, by which hosts are answered, before devices are written. */
static void publish(struct sm *sm, const struct ports_changed *all)
{
	if (all->partitions)
		partition_join(sm);
	if (sm->state == SM_MASTER && (all->n || all->partitions))
		admin_publish_pkeys(sm, all->guids, all->n, all->partitions);
}

void tenancy_batch_ended(struct sm *sm, int error)
{
	struct tenancy *t = sm->m.tenancy;
	struct ports_changed all = { 0 };
	struct change *c;

	if (error < 0) {
		take_batch_back(sm);
		return;
	}
	/* Rows came from elsewhere in the meantime; those of the batch take them into account. */
	if (t->was_derived)
		tenancy_derive_edits(sm);
	edits_clear(&t->edits);
	while ((c = changes_take(&t->batch))) {
		note_changed(&all, c);
		start_stored(sm, c);
		log_change(sm, c);
		log_late_end(c, "is stored after all", "");
	}
	publish(sm, &all);
	if (all.n && only_takes(sm))
		tell_news(sm, NEWS_TABLES, .text = "P_Keys were removed");
	free(all.guids);
	if (!sync_running(sm->sync))
		partition_tidy(sm);
}

/* Removes ports that lost a right from groups of the partition, before the change is answered. */
static void leave_groups(struct sm *sm, const struct change *c)
{
	if (!admin_view(sm))
		return;
	for (size_t i = 0; i < c->inverse.n_rows; i++) {
		const struct tenant_row *row = &c->inverse.rows[i];

		if (row->kind == TENANT_ROW_MEMBER)
			sa_leave_partition(sm->sa, row->member.guid, row->pkey);
	}
}

static void answer_stored(struct sm *sm, struct change *c, enum sm_tenancy_end end,
			  const char *text)
{
	struct sm_tenancy_result r = { .end = end };

	snprintf(r.text, sizeof(r.text), "%s", text);
	leave_groups(sm, c);
	change_ended(sm, c, &r);
}

/* Answers a stored change if that is possible. True: it is answered and freed. */
static bool end_stored(struct sm *sm, struct change *c)
{
	bool fulfilled = wire_is_fulfilled(sm, c), replicated;

	c->reach = settle_reach(sm, LEDGER_MEMBER, c->stored_as);
	replicated = !c->reach.waited_for && (c->reach.with || !sm->conf->require_standby);
	if (settle_closed(sm)) {
		answer_stored(sm, c, SM_TENANCY_UNCONFIRMED, doubt_why_unconfirmed(sm));
		return true;
	}
	if (replicated && (fulfilled || !c->wait)) {
		answer_stored(sm, c, SM_TENANCY_DONE, "");
		return true;
	}
	if (sm->now < c->since + TENANCY_DEADLINE)
		return false;
	answer_stored(
		sm, c, SM_TENANCY_UNCONFIRMED,
		fulfilled ? "it is stored here, but no standby has stored it in time "
			    "(require_standby)"
			  : "it is stored, but not every device has confirmed it in time; it is "
			    "tried on");
	return true;
}

static void end_all_stored(struct sm *sm)
{
	struct tenancy *t = sm->m.tenancy;
	struct changes open = t->stored;
	struct change *c;

	if (!open.first)
		return;
	t->look_at = MONO_NEVER;
	if (open.end == &t->stored.first)
		open.end = &open.first;
	changes_clear(&t->stored);
	while ((c = changes_take(&open))) {
		if (end_stored(sm, c))
			continue;
		changes_add(&t->stored, c);
		t->look_at = mono_min(t->look_at, c->since + TENANCY_DEADLINE);
		if (!c->wishes || c->reach.waited_for)
			t->look_at = mono_min(t->look_at, sm->now + LOOK_AGAIN);
	}
}

/* ---- as its owner sees it ------------------------------------------------------------------ */

static struct change *change_new(const struct tenant_request *rq)
{
	struct change *c = xcalloc(1, sizeof(*c));

	c->rq = *rq;
	c->rq.members = xcalloc(rq->n_members + 1, sizeof(*rq->members));
	if (rq->n_members)
		memcpy(c->rq.members, rq->members, rq->n_members * sizeof(*rq->members));
	return c;
}

void sm_tenancy_request(struct sm *sm, const struct tenant_request *rq, bool wait, bool dry_run,
			sm_tenancy_done_fn *done, void *arg)
{
	struct change *c = change_new(rq);

	assert(done && rq->n_members <= TENANT_REQUEST_MAX);
	c->wait = wait;
	c->dry_run = dry_run;
	c->done = done;
	c->arg = arg;
	changes_add(&sm->m.tenancy->fresh, c);
}

static void abandon(struct changes *list, const void *arg)
{
	for (struct change *c = list->first; c; c = c->next) {
		if (c->arg == arg)
			c->done = NULL;
	}
}

void sm_tenancy_abandon(struct sm *sm, const void *arg)
{
	struct tenancy *t = sm->m.tenancy;

	abandon(&t->fresh, arg);
	abandon(&t->waiting, arg);
	abandon(&t->batch, arg);
	abandon(&t->stored, arg);
}

uint64_t sm_tenancy_ended(const struct sm *sm, enum sm_tenancy_end end)
{
	assert(end < SM_TENANCY_ENDS);
	return sm->m.tenancy->ended[end];
}

const struct tenants *sm_tenants(const struct sm *sm)
{
	return partition_tenants(sm);
}

/* Refuses waiting changes beyond the limit, the latest ones first. */
static void refuse_crowd(struct sm *sm)
{
	struct tenancy *t = sm->m.tenancy;
	struct changes kept = { 0 };

	if (t->waiting.n <= TENANCY_WAITING_MAX)
		return;
	changes_clear(&kept);
	while (kept.n < TENANCY_WAITING_MAX)
		changes_add(&kept, changes_take(&t->waiting));
	while (t->waiting.first)
		refuse(sm, changes_take(&t->waiting), SM_TENANCY_BUSY,
		       "too many changes wait already");
	t->waiting = kept;
}

static const char too_much[] = "the changes under way have too many members already "
			       "(limit: 128 MiB of memory); again when they are answered";
_Static_assert(TENANCY_BYTES_MAX == 128u << 20, "as the text says");

/* Memory for each member of a waiting request: the member, and a row. */
#define BYTES_PER_MEMBER (sizeof(struct tenant_member) + sizeof(struct tenant_row))

static void take_fresh(struct sm *sm)
{
	struct tenancy *t = sm->m.tenancy;
	struct change *c;

	while ((c = changes_take(&t->fresh))) {
		c->since = sm->now;
		if (t->bytes + c->rq.n_members * BYTES_PER_MEMBER > TENANCY_BYTES_MAX && t->bytes) {
			refuse(sm, c, SM_TENANCY_BUSY, too_much);
			continue;
		}
		weigh(t, c);
		changes_add(&t->waiting, c);
	}
}

/* Answers changes of a late commit as unconfirmed: no caller waits longer than for a device. */
static void end_late_batch(struct sm *sm)
{
	struct tenancy *t = sm->m.tenancy;
	struct sm_tenancy_result r = { .end = SM_TENANCY_UNCONFIRMED };

	snprintf(r.text, sizeof(r.text),
		 "the disk has not stored it in time; it may be refused yet");
	for (struct change *c = t->batch.first; c; c = c->next) {
		if (!c->done || sm->now < c->since + TENANCY_DEADLINE)
			continue;
		r.changed = c->entry.n_rows > 0;
		r.generation = r.changed ? c->entry.generation
					 : tenants_generation(partition_tenants(sm));
		c->is_late = r.changed;
		c->done(c->arg, &r);
		c->done = NULL;
	}
}

static void refuse_late(struct sm *sm)
{
	struct tenancy *t = sm->m.tenancy;

	while (t->waiting.first && sm->now >= t->waiting.first->since + TENANCY_DEADLINE)
		refuse(sm, changes_take(&t->waiting), SM_TENANCY_BUSY,
		       is_about_to_open(sm)
			       ? "P_Key tables are written anew: again in some seconds"
			       : "earlier changes have not been stored, or confirmed, in time");
	if (t->batch.first)
		end_late_batch(sm);
}

static bool may_plan(const struct sm *sm)
{
	return sm->m.tenancy->unplanned.first &&
	       (sm->state != SM_MASTER || tenancy_is_at_work(sm));
}

/* Plans the ports of stored changes; a manager that takes over plans all ports anyway. */
static void plan_unplanned(struct sm *sm)
{
	struct tenancy *t = sm->m.tenancy;

	while (may_plan(sm)) {
		struct change *c = changes_take(&t->unplanned);

		if (sm->state == SM_MASTER)
			wire_change(sm, c);
		change_forget(sm, c);
	}
}

void tenancy_tick(struct sm *sm)
{
	struct tenancy *t = sm->m.tenancy;

	import_tick(sm);
	take_fresh(sm);
	refuse_late(sm);
	refuse_crowd(sm);
	judge_waiting(sm);
	plan_unplanned(sm);
	wire_tick(sm);
	adoption_tick(sm);
	if (t->settled || sm->now >= t->look_at) {
		t->settled = false;
		end_all_stored(sm);
	}
	held_tick(sm);
	audit_tick(sm);
}

mono_t tenancy_next(const struct sm *sm)
{
	const struct tenancy *t = sm->m.tenancy;
	mono_t next = mono_min(audit_next(sm), wire_next(sm));

	next = mono_min(next, held_next(sm));
	if (t->stored.first)
		next = mono_min(next, t->look_at);

	if (t->fresh.first || t->settled || adoption_is_over(sm) || may_judge(sm) ||
	    may_plan(sm))
		return 0;
	if (t->waiting.first)
		next = mono_min(next, t->waiting.first->since + TENANCY_DEADLINE);
	for (const struct change *c = t->batch.first; c; c = c->next) {
		if (c->done)
			next = mono_min(next, c->since + TENANCY_DEADLINE);
	}
	return next;
}

void tenancy_state_changed(struct sm *sm)
{
	if (sm->state == SM_MASTER)
		return;
	wire_stop(sm);
	audit_end(sm);
	end_all_stored(sm);
}

unsigned sm_tenancy_standbys(const struct sm *sm)
{
	return settle_reach(sm, LEDGER_MEMBER, tenants_generation(partition_tenants(sm))).with;
}

void tenancy_new(struct sm *sm, const struct sm_paths *paths)
{
	struct tenancy *t = sm->m.tenancy;

	changes_clear(&t->fresh);
	changes_clear(&t->waiting);
	changes_clear(&t->batch);
	changes_clear(&t->stored);
	changes_clear(&t->unplanned);
	t->targets = guidmap_new();
	t->places = guidmap_new();
	t->log = (struct log_limit){ .interval = 10 * MONO_S, .burst = 10 };
	t->last_due = &t->first_due;
	t->retry_at = MONO_NEVER;
	import_read(sm, paths);
}

static void end_unheard(struct sm *sm, struct change *c)
{
	struct sm_tenancy_result r = { .end = SM_TENANCY_UNCONFIRMED };

	snprintf(r.text, sizeof(r.text), "opensm ends before every device has confirmed it");
	change_ended(sm, c, &r);
}

void tenancy_free(struct sm *sm)
{
	struct tenancy *t = sm->m.tenancy;

	audit_end(sm);
	adoption_free(sm);
	take_fresh(sm);
	while (t->waiting.first)
		refuse(sm, changes_take(&t->waiting), SM_TENANCY_NOT_MASTER, "opensm ends");
	while (t->batch.first)
		changes_add(&t->stored, changes_take(&t->batch));
	while (t->stored.first)
		end_unheard(sm, changes_take(&t->stored));
	while (t->unplanned.first)
		change_forget(sm, changes_take(&t->unplanned));
	wire_free(t);
	places_free(t);
	import_free(t);
	rows_free(t);
}
