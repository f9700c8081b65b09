// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides whether this manager may write to devices by rows of the ledger; settle.h has the
 * diagram.
 *
 * As MASTER it first asks every manager of ours in sight: one that the election trusts, and that is
 * known by the channel or from earlier. One that never answers on the channel counts as foreign
 * after a few questions.
 *
 * A manager has doubts if another one may have been master with rows that are missing here: after a
 * start without a file, after another master was followed, or after this process stood still for
 * longer than a takeover takes. The doubts end when it has settled with a manager that has none, or
 * with all known ones. A manager with doubts, and no other to ask, compares devices with its rows;
 * if these agree it continues.
 */
#include "sm/ledger/settle.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/base/about.h"
#include "sm/base/news.h"
#include "sm/base/partition.h"
#include "sm/ledger/settle_internal.h"
#include "util/mem.h"

MACHINE_MEMORY(settle);

#define PATIENCE (10 * MONO_S) /* patience with a manager of ours in sight that does not settle */
#define STRANGER (3 * MONO_S)  /* patience with a manager that has never answered on the channel */
/* patience with a former manager of ours that does not answer on the channel */
#define FORMER	 (60 * MONO_S)

static const char *const state_names[] = {
	[SETTLE_FOREIGN] = "not master", [SETTLE_ASKING] = "asking",   [SETTLE_TAKING] = "taking",
	[SETTLE_WRITING] = "writing",	 [SETTLE_KEEPING] = "keeping",
};

const char *settle_state_name(enum settle_state state)
{
	assert(state < ARRAY_SIZE(state_names));
	return state_names[state];
}

/* ---- known managers -------------------------------------------------------------------------- */

static struct ledger_known *known_manager(struct settle *s, guid_t guid)
{
	for (unsigned i = 0; i < s->meta.n_managers; i++) {
		if (s->meta.managers[i].guid == guid)
			return &s->meta.managers[i];
	}
	return NULL;
}

static bool is_older(const struct ledger_known *a, const struct ledger_known *b)
{
	return a->seen < b->seen;
}

/* A place for a manager; if all are used, that of the one that was last seen the longest ago. */
static struct ledger_known *place_for_manager(struct settle *s)
{
	struct ledger_known *oldest = &s->meta.managers[0];

	if (s->meta.n_managers < LEDGER_MANAGERS_MAX)
		return &s->meta.managers[s->meta.n_managers++];
	for (unsigned i = 1; i < LEDGER_MANAGERS_MAX; i++) {
		if (is_older(&s->meta.managers[i], oldest))
			oldest = &s->meta.managers[i];
	}
	return oldest;
}

#define SEEN_AGAIN (24 * 3600) /* seconds: the stored time is not renewed before */

void settle_lost(struct sm *sm, guid_t guid)
{
	struct ledger_known *k = known_manager(sm->m.settle, guid);

	if (!k || !sm->hooks.realtime)
		return;
	k->seen = sm->hooks.realtime(sm->hooks.arg);
	disk_note_meta(sm);
}

static void note_manager(struct sm *sm, guid_t guid)
{
	struct settle *s = sm->m.settle;
	struct ledger_known *k = known_manager(s, guid);
	int64_t now = sm_realtime(sm);

	if (k && now < k->seen + SEEN_AGAIN && now >= k->seen)
		return;
	if (!k)
		k = place_for_manager(s);
	*k = (struct ledger_known){ .guid = guid, .seen = now };
	disk_note_meta(sm);
}

/* ---- states ---------------------------------------------------------------------------------- */

void links_go_on(struct sm *sm)
{
	if (take(sm->m.settle->links_wait) && sm->state == SM_MASTER)
		tell_news(sm, NEWS_TABLES, .text = "links waited for other managers");
}

static void enter(struct sm *sm, enum settle_state next)
{
	struct settle *s = sm->m.settle;
	enum settle_state before = s->state;

	if (before == next)
		return;
	log_verbose("ledger: %s -> %s", settle_state_name(before), settle_state_name(next));
	s->state = next;
	s->waits_for_contact = contact_waited_for(s);
	peers_tell_state(s);
	if (next == SETTLE_WRITING) {
		s->meta.founded = true;
		s->doubts = 0;
		disk_note_meta(sm);
	}
	tell_news(sm, NEWS_SETTLED, .flag = true);
	links_go_on(sm);
	s->was_absent &= next == SETTLE_ASKING;
}

static void ask(struct sm *sm)
{
	sm->m.settle->asking_since = sm->m.settle->compare_since = sm->now;
	sm->m.settle->asking_from = settle_next_number(sm, LEDGER_MEMBER);
	enter(sm, SETTLE_ASKING);
}

/* Asks without comparing devices again: if the newcomer knows nothing, KEEPING needs no sweep. */
static void ask_newcomer(struct sm *sm)
{
	sm->m.settle->asking_since = sm->now;
	sm->m.settle->asking_from = settle_next_number(sm, LEDGER_MEMBER);
	enter(sm, SETTLE_ASKING);
}

/* Managers that must have settled, or stepped down, before this one writes. */
struct open_managers {
	guid_t first;
	unsigned n;
};

/* May a manager that does not answer on the channel be one of ours? */
static bool may_be_ours(const struct sm *sm, guid_t guid)
{
	struct settle *s = sm->m.settle;
	mono_t waited = sm->now - s->asking_since;

	if (channel_has_answered(sm, guid))
		return true;
	return waited < (known_manager(s, guid) ? FORMER : STRANGER);
}

static void note_open(struct open_managers *open, guid_t guid)
{
	open->first = open->n++ ? open->first : guid;
}

static struct open_managers find_open(struct sm *sm)
{
	struct settle *s = sm->m.settle;
	struct open_managers open = { 0 };
	guid_t guid, rival = elect_rival(sm, true);

	for (unsigned i = 0; (guid = elect_in_sight(sm, i)); i++) {
		const struct settle_peer *p = settle_peer_of(s, guid);

		if (guid == rival || (p ? !peer_is_settled(p) : may_be_ours(sm, guid)))
			note_open(&open, guid);
	}
	/* Masters that the election may not have met yet. */
	for (unsigned i = 0; i < s->n_peers; i++) {
		if (s->peers[i].guid && s->peers[i].state != SETTLE_FOREIGN)
			note_open(&open, s->peers[i].guid);
	}
	return open;
}

static void tell_silent(struct sm *sm, guid_t guid)
{
	if (told_first(&sm->m.settle->told, TOLD_SILENT))
		log_guid(sm, guid, LOG_ID_REPLICA, LOGB_ERROR,
			 "this manager may know of changes made at run time that are not here, and "
			 "does not tell them: P_Keys of tenants stay on devices, and none is given "
			 "until it has answered, or is stopped; what is removed now is taken");
}

static void keep(struct sm *sm)
{
	struct settle *s = sm->m.settle;

	if (told_first(&s->told, TOLD_KEEPING))
		log_on(ABOUT(.id = LOG_ID_LEDGER_KEEPING, .file = s->path), LOGB_ERROR,
		       "%zu P_Keys on devices are not as the ledger and partitions.conf say, and "
		       "no "
		       "other manager is there to ask: devices keep what they hold. 'opensmctl "
		       "ledger adopt' takes over what they hold, 'opensmctl ledger forget' clears "
		       "it",
		       s->n_unexplained);
	enter(sm, SETTLE_KEEPING);
}

/* Are the rows here, as far as is known, those of all managers of ours? */
static bool is_sure(const struct settle *s)
{
	return s->meta.founded && !s->doubts;
}

/* Called if no manager is left to be asked: compares devices if rows are not sure, then writes. */
static void nobody_open(struct sm *sm)
{
	struct settle *s = sm->m.settle;

	told_change(&s->told, TOLD_SILENT, false);
	if (!is_sure(s)) {
		if (!sm->first_sweep_done)
			return;
		if (sm->stats.tables_read_since < s->compare_since) {
			if (sm->sweep != SWEEP_HEAVY || sm->sweep_started < s->compare_since)
				want_sweep(sm, SWEEP_HEAVY, "P_Keys on devices are compared");
			return;
		}
		s->n_unexplained = s->unexplained(sm);
		if (s->n_unexplained) {
			keep(sm);
			return;
		}
	}
	told_change(&s->told, TOLD_KEEPING, false);
	enter(sm, SETTLE_WRITING);
}

static void look_as_master(struct sm *sm)
{
	struct settle *s = sm->m.settle;
	struct open_managers open;

	if (s->state == SETTLE_WRITING || s->state == SETTLE_FOREIGN)
		return;
	open = find_open(sm);
	s->silent = open.first;
	if (!open.n) {
		nobody_open(sm);
	} else if (s->state == SETTLE_KEEPING) {
		ask_newcomer(sm);
	} else if (sm->now >= s->asking_since + PATIENCE) {
		tell_silent(sm, open.first);
		if (s->state == SETTLE_ASKING) {
			enter(sm, SETTLE_TAKING);
			tell_news(sm, NEWS_DEVICES_DOUBTED, .text = "a manager does not answer");
		}
	}
}

/* Has every known manager settled with this one? Then none knows more. */
static bool is_with_all_known(struct settle *s)
{
	for (unsigned i = 0; i < s->meta.n_managers; i++) {
		const struct settle_peer *p = settle_peer_of(s, s->meta.managers[i].guid);

		if (!p || !peer_is_settled(p))
			return false;
	}
	return true;
}

static void note_settled(struct sm *sm, const struct settle_peer *p)
{
	struct settle *s = sm->m.settle;

	note_manager(sm, p->guid);
	contact_settled(sm, p->guid);
	s->meta.term = MAX(s->meta.term, p->term);
	if (p->is_founded && !s->meta.founded) {
		s->meta.founded = true;
		disk_note_meta(sm);
	}
	if (p->is_founded && !p->has_doubts)
		s->doubts = 0;
}

void settle_look(struct sm *sm)
{
	struct settle *s = sm->m.settle;
	unsigned n = 0;

	for (unsigned i = 0; i < s->n_peers; i++) {
		if (!s->peers[i].guid || !peer_is_settled(&s->peers[i]))
			continue;
		s->peers[i].was_settled = true;
		note_settled(sm, &s->peers[i]);
		n++;
	}
	if (n && is_with_all_known(s))
		s->doubts = 0;
	s->has_rival &= elect_rival(sm, false) != 0;
	contacts_look(sm);
	if (sm->state == SM_MASTER)
		look_as_master(sm);
}

/* ---- doubts ---------------------------------------------------------------------------------- */

/* Are other managers known? A manager that was always alone cannot have missed anything. */
static bool has_others(const struct settle *s)
{
	return s->meta.n_managers > 0;
}

static void doubt(struct sm *sm, const char *why)
{
	struct settle *s = sm->m.settle;

	s->doubts |= DOUBT_ABSENT;
	s->was_away = true;
	s->has_old_smps = true;
	peers_doubt(sm);
	if (sm->state != SM_MASTER)
		return;
	log_on(ABOUT(.id = LOG_ID_REPLICA), LOGB_INFO,
	       "%s: other managers are asked what was changed, before P_Keys of tenants are "
	       "written again",
	       why);
	ask(sm);
	tell_news(sm, NEWS_DEVICES_DOUBTED, .text = why);
}

void settle_doubt(struct sm *sm, const char *why)
{
	if (has_others(sm->m.settle))
		doubt(sm, why);
}

void settle_lacks(struct sm *sm)
{
	if (sm->m.settle->state == SETTLE_WRITING)
		doubt(sm, "what another manager knows cannot be stored");
}

/* Called if this process stood still: others may have been master in the meantime. */
static void absent(struct sm *sm, const char *why)
{
	contacts_begin(sm);
	settle_doubt(sm, why);
	sm->m.settle->was_absent = has_others(sm->m.settle);
}

/* Asks the rival, even if this manager knew of no other: its folder may have been cleared. */
void settle_rival(struct sm *sm, bool has_ended)
{
	struct settle *s = sm->m.settle;

	if (s->has_rival && !has_ended)
		return;
	s->has_rival = true;
	doubt(sm, "another master was met");
}

/*
 * Reacts to the state of another manager. While there are two masters neither writes: they could
 * undo each other's rows.
 */
void settle_heard(struct sm *sm, const struct settle_peer *p)
{
	struct settle *s = sm->m.settle;
	bool is_later = p->term > s->meta.term;

	if (s->state == SETTLE_WRITING && p->state != SETTLE_FOREIGN)
		doubt(sm, "another master was heard");
	if (s->state != SETTLE_FOREIGN && is_later) {
		s->meta.term = p->term;
		disk_note_meta(sm);
		settle_doubt(sm, "another manager was master since");
	}
	/* The master that is followed has written nothing since this manager had all rows. */
	if (p->guid == elect_polled(sm) && p->state != SETTLE_WRITING && !is_later)
		s->doubts &= ~DOUBT_FOLLOWED;
}

bool settle_holds(void *owner, uint16_t attr)
{
	const struct sm *sm = owner;
	const struct settle *s = sm->m.settle;

	return attr == IB_ATTR_PKEY_TABLE && sm->hooks.clock && has_others(s) && s->turn_at &&
	       sm->hooks.clock(sm->hooks.arg) > s->turn_at + settle_pause_limit(sm);
}

static void look_at_clock(struct sm *sm)
{
	struct settle *s = sm->m.settle;
	mono_t pause = sm->now - s->turn_at;

	s->turn_at = sm->now;
	if (s->turn_at && pause > settle_pause_limit(sm) && has_others(s) &&
	    (sm->state == SM_MASTER || sm->state == SM_STANDBY))
		absent(sm, "this process stood still for longer than a takeover may take");
}

/* ---- as its owner sees it -------------------------------------------------------------------- */

const struct ledger *settle_ledger(const struct sm *sm)
{
	return sm->m.settle->ledger;
}

bool settle_is_asking(const struct sm *sm)
{
	return sm->m.settle->state == SETTLE_ASKING;
}

bool settle_is_fresh(const struct sm *sm)
{
	return !sm->m.settle->was_away;
}

uint64_t settle_asking_from(const struct sm *sm)
{
	return sm->m.settle->asking_from;
}

bool settle_may_take(const struct sm *sm)
{
	return sm->m.settle->state == SETTLE_TAKING && disk_has_all(sm->m.settle);
}

enum settle_state settle_state(const struct sm *sm)
{
	return sm->m.settle->state;
}

/*
 * Did a manager come into sight just now? It may know of a removal, so nothing is given before that
 * is known here.
 */
static bool has_newcomer(const struct sm *sm)
{
	const struct settle *s = sm->m.settle;

	for (unsigned i = 0; i < s->n_peers; i++) {
		const struct settle_peer *p = &s->peers[i];

		if (p->guid && !p->was_settled && !peer_is_settled(p) &&
		    sm->now < p->connected_at + SETTLE_NEWCOMER)
			return true;
	}
	return false;
}

bool settle_may_write(const struct sm *sm)
{
	return sm->m.settle->state == SETTLE_WRITING && !has_newcomer(sm) && !settle_waits(sm);
}

bool settle_waits(const struct sm *sm)
{
	return sm->m.settle->waits_for_contact;
}

bool settle_links_wait(const struct sm *sm)
{
	return sm->m.settle->links_wait;
}

static bool is_of_manager(const struct sm *sm, guid_t guid)
{
	return guid == sm->tr->port_guid || elect_is_manager(sm, guid) || elect_is_listed(sm, guid);
}

/*
 * Must the link of the port wait? A host would come up with P_Keys that another manager may have
 * removed.
 */
static bool may_have_old_keys(const struct sm *sm, const struct port *p)
{
	const struct settle *s = sm->m.settle;
	const struct port *end = p->peer && !port_is_end(p) ? p->peer : p;
	bool is_frozen = s->state == SETTLE_ASKING && s->was_away;

	return (is_frozen || s->waits_for_contact || partition_is_unwritten(sm)) &&
	       port_is_end(end) && !is_of_manager(sm, end->guid);
}

bool settle_may_arm(void *owner, const struct port *p)
{
	const struct sm *sm = owner;
	struct settle *s = sm->m.settle;
	bool waits = (s->state == SETTLE_ASKING && s->was_absent && s->doubts) ||
		     may_have_old_keys(sm, p);

	s->links_wait |= waits;
	return !waits;
}

const char *settle_closed(const struct sm *sm)
{
	const struct settle *s = sm->m.settle;

	switch (s->state) {
	case SETTLE_FOREIGN:
		return "this manager is not the master";
	case SETTLE_ASKING:
		return "other managers are asked for changes that are not here";
	case SETTLE_TAKING:
		return "another manager may know of changes that are not here, and does not "
		       "answer: see its log, or stop it; until then members can only be removed";
	case SETTLE_KEEPING:
		return "devices hold P_Keys that nothing explains: opensmctl ledger adopt, or "
		       "opensmctl ledger forget";
	case SETTLE_WRITING:
		break;
	}
	return s->path && !s->is_shut ? NULL : s->fault;
}

const char *settle_unready(const struct sm *sm)
{
	const struct settle *s = sm->m.settle;

	return s->state == SETTLE_WRITING && !s->path ? NULL : settle_closed(sm);
}

const char *settle_fault(const struct sm *sm)
{
	const struct settle *s = sm->m.settle;

	return s->path && s->fault[0] ? s->fault : NULL;
}

size_t settle_unexplained(const struct sm *sm)
{
	return sm->m.settle->state == SETTLE_KEEPING ? sm->m.settle->n_unexplained : 0;
}

int settle_forget_devices(struct sm *sm)
{
	if (sm->m.settle->state != SETTLE_KEEPING)
		return -EALREADY;
	log_on(ABOUT(.id = LOG_ID_REPLICA), LOGB_INFO,
	       "P_Keys on devices that nothing explains are cleared: asked for");
	enter(sm, SETTLE_WRITING);
	return 0;
}

bool settle_knows(const struct sm *sm, guid_t guid)
{
	return channel_has_answered(sm, guid) || known_manager(sm->m.settle, guid);
}

void settle_explained(struct sm *sm)
{
	if (sm->m.settle->state == SETTLE_KEEPING)
		enter(sm, SETTLE_WRITING);
}

void settle_listen(struct sm *sm)
{
	struct settle *s = sm->m.settle;

	peers_listen(sm);
	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		size_t n = 0, pos = 0;
		struct ledger_key *keys = xcalloc(ledger_rows(s->ledger, t) + 1, sizeof(*keys));
		const struct ledger_row *row;

		while ((row = ledger_next(s->ledger, t, &pos))) {
			keys[n++] = *ledger_row_key(row);
			disk_note_change(s, row);
		}
		former_begin(sm, t);
		disk_tell_owners(sm, keys, n);
		free(keys);
	}
}

void settle_state_changed(struct sm *sm)
{
	struct settle *s = sm->m.settle;
	enum sm_state before = s->sm_state;

	s->sm_state = sm->state;
	told_change(&s->told, TOLD_SILENT, false);
	told_change(&s->told, TOLD_KEEPING, false);
	if (sm->state != SM_MASTER) {
		s->was_away |= sm->state == SM_STANDBY;
		enter(sm, SETTLE_FOREIGN);
		if (before == SM_MASTER && sm->state == SM_DISCOVERING)
			settle_doubt(sm, "our own port was down");
		/*
		 * This manager did not hand over to the master that it follows, which may know
		 * more.
		 */
		if (before != SM_MASTER && sm->state == SM_STANDBY && has_others(s))
			s->doubts |= DOUBT_FOLLOWED;
		return;
	}
	/*
	 * Managers that settled with this one as a standby are asked again, as they may have met
	 * others.
	 */
	peers_doubt(sm);
	contacts_begin(sm);
	/*
	 * A new term begins: this manager may write what files decide, which does not wait for the
	 * ledger.
	 */
	s->meta.term++;
	disk_note_meta(sm);
	ask(sm);
	settle_look(sm);
}

void settle_sweep_ended(struct sm *sm)
{
	contacts_sweep_ended(sm);
	if (sm->m.settle->state != SETTLE_ASKING && !sm->m.settle->waits_for_contact)
		links_go_on(sm);
	settle_look(sm);
}

void settle_tick(struct sm *sm)
{
	struct settle *s = sm->m.settle;

	look_at_clock(sm);
	contacts_tick(sm);
	if (s->has_old_smps)
		mad_cancel_attr(sm->mad, IB_ATTR_PKEY_TABLE);
	s->has_old_smps = false;
	peers_tick(sm);
	if (s->state == SETTLE_ASKING || s->state == SETTLE_TAKING)
		settle_look(sm);
}

/* The time at which waiting for some manager ends. */
static mono_t next_look(const struct sm *sm)
{
	const struct settle *s = sm->m.settle;
	const mono_t ends[] = { STRANGER, PATIENCE, FORMER };
	mono_t next = MONO_NEVER;

	if (s->state != SETTLE_ASKING && s->state != SETTLE_TAKING)
		return MONO_NEVER;
	for (unsigned i = 0; i < ARRAY_SIZE(ends); i++) {
		if (sm->now < s->asking_since + ends[i])
			next = mono_min(next, s->asking_since + ends[i]);
	}
	return next;
}

mono_t settle_next(const struct sm *sm)
{
	const struct settle *s = sm->m.settle;
	mono_t next = mono_min(mono_min(peers_next(sm), contacts_next(sm)), next_look(sm));

	if (has_others(s) && (sm->state == SM_MASTER || sm->state == SM_STANDBY))
		next = mono_min(next, s->turn_at + settle_pause_limit(sm) / 2);
	return next;
}

void settle_new(struct sm *sm, const struct sm_paths *paths, const struct settle_owner *owners,
		size_t (*unexplained)(struct sm *sm))
{
	struct settle *s = sm->m.settle;

	assert(owners && unexplained);
	s->owners = owners;
	s->unexplained = unexplained;
	s->folder = paths && paths->cache_dir ? xstrdup(paths->cache_dir) : NULL;
	disk_load(sm, paths);
}

void settle_free(struct sm *sm)
{
	struct settle *s = sm->m.settle;

	contacts_free(sm);
	peers_free(s);
	disk_free(s);
	for (unsigned t = 0; t < LEDGER_TABLES; t++)
		free(s->former[t]);
	free(s->folder);
}
