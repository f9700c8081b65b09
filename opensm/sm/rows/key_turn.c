// SPDX-License-Identifier: BSD-2-Clause
#include "sm/rows/key_turn.h"

#include <errno.h>
#include <string.h>

#include "sm/rows/key_seeds.h"
#include "sm/base/about.h"
#include "sm/base/key_epoch.h"
#include "sm/base/news.h"
#include "sm/channel/channel.h"
#include "sm/elect/elect.h"
#include "sm/sm_internal.h"
#include "util/mem.h"
#include "util/told.h"

#define PATIENCE   (10 * MONO_S) /* longest wait of a rotation for a standby */
#define PAUSE	   (10 * MONO_S)
#define RETRY	   (60 * MONO_S) /* pause after a disk fault */
#define JOIN_PAUSE MONO_S	 /* two masters that do not see each other may write in turn */

enum { TOLD_DISK, TOLD_OTHER_SEED, TOLD_OTHER_KIND, TOLD_REFUSED };

struct key_turn {
	enum { TURN_IDLE, TURN_WRITING, TURN_SENDING, TURN_STORING } state;
	struct key_ring *next; /* ring that comes into force; NULL in TURN_IDLE */
	uintptr_t turns;       /* number of turns begun; the last one is that of `next` */
	uint64_t number;       /* number of the rows of `next`, in TURN_SENDING */
	bool is_with_all;      /* set if no standby lacks the rows */
	bool is_rotation;      /* set if `next` is the next epoch of the seed, by time or command */
	bool is_begun;	       /* set if standbys must be looked at now */
	const char *why, *turn_why; /* reasons: of `next`; of the turn due at turn_at */
	mono_t sending_until, turn_at, retry_at;
	mono_t join_at;	 /* as MASTER: time before which seeds of others are not joined with ours */
	mono_t found_by; /* time by which standbys of the former master have registered here */
	bool is_writing; /* set until a sweep ends that began after a ring came into force */
	mono_t forced_at;
	unsigned n_sweeps;  /* number of ended sweeps that wrote */
	bool is_asked;	    /* set if options must be checked again */
	bool is_unsaved;    /* set if keys of ports differ from guid2mkey */
	bool is_unwritten;  /* set if a ring came into force during the first sweep */
	bool rows_came;	    /* set if rows may have seeds and epochs that the known ring lacks */
	bool rows_are_new;  /* set if rows_came is due to changed rows, not to a new state */
	bool rows_lack;	    /* set if rows may lack seeds of the ring */
	bool is_committing; /* set while missing rows are being written */
	bool is_filing; /* set while the known ring is being written to its file without a turn */
	struct told told;
};
MACHINE_MEMORY_WITH(key_turn, .turn_at = MONO_NEVER);

void key_turn_free(struct sm *sm)
{
	key_ring_unref(sm->m.key_turn->next);
}

/* ---- the disk -------------------------------------------------------------------------------- */

static void ring_stored(struct sm *sm, const struct key_ring *ring, int error);

static void store_next(struct sm *sm)
{
	sm->m.key_turn->state = TURN_STORING;
	keys_store_later(sm, key_ring_copy(sm->m.key_turn->next), ring_stored);
}

static void send_next(struct sm *sm)
{
	struct key_turn *t = sm->m.key_turn;

	t->state = TURN_SENDING;
	t->number = key_seeds_number(sm);
	t->sending_until = sm->now + PATIENCE;
	t->is_begun = true;
}

static void rows_written(struct sm *sm, void *arg, int error);

/* Begins a turn, which brings `ring` into force; takes it over. */
static void start_turn(struct sm *sm, struct key_ring *ring, const char *why)
{
	struct key_turn *t = sm->m.key_turn;

	key_seeds_raise(sm, ring);
	t->next = ring;
	t->why = why;
	t->state = TURN_WRITING;
	t->is_rotation = false;
	if (!key_seeds_write(sm, ring, SEEDS_IN_FORCE, rows_written, (void *)++t->turns))
		send_next(sm);
}

static void give_up_turn(struct key_turn *t)
{
	t->next = key_ring_unref(t->next);
	t->state = TURN_IDLE;
}

static void tell_disk(struct sm *sm, int error)
{
	if (told_change(&sm->m.key_turn->told, TOLD_DISK, error < 0) == TOLD_BEGINS)
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = keys_path(sm), .error = -error),
		       LOGB_ERROR,
		       "%s: M_Keys cannot be stored: %s; those in force stay, tried again every "
		       "%d s",
		       keys_path(sm), strerror(-error), (int)(RETRY / MONO_S));
}

/* ---- standbys -------------------------------------------------------------------------------- */

/* Is a manager of ours, which may take over, not connected? It may be about to register. */
static bool is_one_missing(const struct sm *sm)
{
	guid_t guid;

	for (unsigned i = 0; (guid = elect_successor_at(sm, i)); i++) {
		if (!channel_is_connected(sm, guid))
			return true;
	}
	return false;
}

/* The number of managers that cannot store, so are not waited for. */
static unsigned n_refusing(const struct sm *sm)
{
	struct settle_peer_view p;
	unsigned n = 0;

	for (unsigned i = 0; settle_peer_at(sm, i, &p); i++)
		n += p.refuses || p.in_memory ? 1 : 0;
	return n;
}

/*
 * Have the standbys the rows of the ring, so that ports may get its keys? A silent standby is
 * waited for longer than for other rows, as it may take over without the key.
 */
static bool is_sent(const struct sm *sm, struct settle_reach *ret)
{
	*ret = settle_reach(sm, LEDGER_SEED, sm->m.key_turn->number);
	return ret->with + n_refusing(sm) >= ret->of &&
	       (!keys_may_be_sent(sm) || !is_one_missing(sm));
}

/*
 * Logs that seeds are not sent. The default keys are publicly known: with them a stranger could
 * pass for a standby of ours, under a GUID of the list.
 */
static void tell_refused(struct sm *sm)
{
	guid_t standby;
	const struct key_ring *ring = keys_ring(sm);
	bool single = keys_are_single(sm);
	bool refused = sm->state == SM_MASTER && ring && !key_ring_is_empty(ring) &&
		       !keys_may_be_sent(sm) && channel_standby_at(sm, 0, &standby);

	if (told_change(&sm->m.key_turn->told, TOLD_REFUSED, refused) == TOLD_BEGINS)
		log_guid(sm, standby, LOG_ID_REPLICA, single ? LOGB_ERROR : LOGB_INFO,
			 "this standby is not sent %s, and %s: set sm_key and sa_key on both to "
			 "other values than 0 and 1",
			 single ? "the seeds of M_Keys" : "the M_Key",
			 single ? "could not reach locked ports"
				: "reaches locked ports by m_key of its own options only");
}

/* ---- a new ring ------------------------------------------------------------------------------ */

static void plan_turn(struct sm *sm)
{
	struct key_turn *t = sm->m.key_turn;
	uint32_t minutes = sm->conf->periodic_key_update;

	t->turn_at = sm->state == SM_MASTER && sm->conf->m_key_per_port && minutes
			     ? sm->now + minutes * 60 * MONO_S
			     : MONO_NEVER;
	t->turn_why = "periodic_key_update";
}

/*
 * Brings the ring, which is stored, into force. False: another epoch has become known in the
 * meantime, and the turn starts again.
 */
static bool use_next(struct sm *sm)
{
	struct key_turn *t = sm->m.key_turn;
	bool is_rotation = t->is_rotation;

	if (keys_add_known(sm, t->next) && sm->state == SM_MASTER) {
		start_turn(sm, t->next, t->why);
		t->is_rotation = is_rotation;
		return false;
	}
	keys_use(sm, take(t->next));
	t->state = TURN_IDLE;
	return true;
}

static void tell_unwritten(struct sm *sm)
{
	if (!sm->m.key_turn->is_unwritten || sm->state != SM_MASTER || !sm->first_sweep_done)
		return;
	sm->m.key_turn->is_unwritten = false;
	tell_news(sm, NEWS_TABLES, .text = "M_Keys change");
}

static void tell_change(const char *why, const struct key_ring *ring)
{
	if (key_ring_is_shared(ring))
		log_on(ABOUT(.id = LOG_ID_KEYS_CHANGE), LOGB_INFO,
		       "the M_Key of all ports changes (%s)", why);
	else
		log_on(ABOUT(.id = LOG_ID_KEYS_CHANGE), LOGB_INFO,
		       "M_Keys of all ports change (%s): epoch %u", why, key_ring_epoch(ring));
}

static void put_in_force(struct sm *sm)
{
	struct key_turn *t = sm->m.key_turn;

	if (!use_next(sm))
		return;
	if (!t->is_with_all)
		log_on(ABOUT(.id = LOG_ID_REPLICA), LOGB_ERROR,
		       "M_Keys change though a standby has not stored the new key, seed or epoch: "
		       "if it takes over soon, it may not reach locked ports");
	tell_change(t->why, keys_known(sm));
	t->is_unsaved = t->is_writing = t->is_unwritten = true;
	t->forced_at = sm->now;
	plan_turn(sm);
	tell_unwritten(sm);
}

static void tell_differing_seed(struct sm *sm)
{
	struct key_turn *t = sm->m.key_turn;
	bool theirs = !key_ring_is_shared(keys_known(sm)), ours = sm->conf->m_key_per_port;
	_cleanup_(key_ring_unrefp) struct key_ring *own = keys_asked_for(sm);
	bool differs = own && theirs == ours;

	if (told_change(&t->told, TOLD_OTHER_SEED, differs) == TOLD_BEGINS)
		log_on(ABOUT(.id = LOG_ID_REPLICA), LOGB_ERROR,
		       "the master %s than the options here name: when this manager takes over, "
		       "it changes the keys of all ports",
		       ours ? "makes M_Keys from another seed" : "has another m_key");
	if (told_change(&t->told, TOLD_OTHER_KIND, theirs != ours) == TOLD_BEGINS)
		log_on(ABOUT(.id = LOG_ID_REPLICA), LOGB_ERROR,
		       "the master gives %s, and m_key_per_port is %s here: when this manager "
		       "takes over, it changes the keys of all ports",
		       theirs ? "each port an M_Key of its own" : "all ports one M_Key",
		       ours ? "TRUE" : "FALSE");
}

static void not_stored(struct sm *sm)
{
	struct key_turn *t = sm->m.key_turn;

	give_up_turn(t);
	t->retry_at = sm->now + RETRY;
	if (t->is_rotation && sm->state == SM_MASTER && t->retry_at < t->turn_at) {
		t->turn_at = t->retry_at;
		t->turn_why = t->why;
	}
	t->is_asked = true;
}

/* Must seeds be stored? Without m_key_per_port the options have the key. */
static bool must_store(const struct sm *sm)
{
	return sm->conf->m_key_per_port;
}

/*
 * Seeds of rows are known from now on, behind the own ones, and change no key: another manager may
 * bring them into force. Not while an epoch that a port showed is on its way into force.
 */
static bool keep_seeds(struct sm *sm, const struct key_ring *ring)
{
	_cleanup_(key_ring_unrefp) struct key_ring *kept = key_ring_copy(keys_known(sm));

	if (keys_are_unstored(sm) || key_ring_is_empty(kept) || !key_ring_keep(kept, ring))
		return false;
	keys_use(sm, take(kept));
	return true;
}

static void rows_written(struct sm *sm, void *arg, int error)
{
	struct key_turn *t = sm->m.key_turn;

	if (t->state != TURN_WRITING || (uintptr_t)arg != t->turns) /* the turn was given up */
		return;
	if (error < 0 && must_store(sm)) {
		not_stored(sm);
		return;
	}
	keep_seeds(sm, t->next);
	send_next(sm);
}

static void ring_stored(struct sm *sm, const struct key_ring *ring, int error)
{
	tell_disk(sm, error);
	if (error < 0 && must_store(sm))
		not_stored(sm);
	else if (sm->state == SM_MASTER)
		put_in_force(sm);
	else
		use_next(sm);
}

/* Goes on if standbys have the rows, or have had enough time. */
static void look_at_standbys(struct sm *sm)
{
	struct key_turn *t = sm->m.key_turn;
	struct settle_reach reach;
	bool sent;

	if (t->state != TURN_SENDING || !settle_may_write(sm))
		return;
	sent = is_sent(sm, &reach);
	if (!sent && sm->now < t->sending_until)
		return;
	t->is_with_all = sent && reach.with == reach.of;
	store_next(sm);
}

/*
 * Has each port the key in force or that of guid2mkey? With a third key possible, a new manager had
 * to try all, and each wrong one causes a timeout and a violation.
 */
static bool is_settled(const struct sm *sm)
{
	const struct key_turn *t = sm->m.key_turn;

	return t->state == TURN_IDLE && !t->is_writing && !lids_are_being_saved(sm);
}

static int rotate(struct sm *sm, const char *why)
{
	_cleanup_(key_ring_unrefp) struct key_ring *next = NULL;
	const struct key_ring *ring = keys_ring(sm);

	if (!settle_may_write(sm) || !sm->first_sweep_done)
		return -EAGAIN;
	if (!ring || key_ring_is_empty(ring) || key_ring_is_shared(ring))
		return -ENOKEY;
	if (!is_settled(sm) || keys_later(sm))
		return -EBUSY;
	next = key_ring_copy(keys_known(sm));
	if (!key_ring_turn(next))
		return -ERANGE;
	start_turn(sm, take(next), why);
	sm->m.key_turn->is_rotation = true;
	return 0;
}

int sm_rotate_keys(struct sm *sm)
{
	return rotate(sm, "asked for");
}

static void count_ports(const struct sm *sm, struct sm_keys *ret)
{
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 0; i <= n->n_ports; i++) {
			const struct port *p = &n->ports[i];

			if (!port_is_end(p) || !p->known || !p->guid)
				continue;
			ret->n_ports++;
			if (!fabric_hides_mkey(p) &&
			    ib_get(p->info, PI_M_KEY) == keys_wanted(sm, p->guid))
				ret->n_right++;
		}
	}
}

static void count_standbys(const struct sm *sm, struct sm_keys *ret)
{
	uint64_t number = key_seeds_number(sm);
	guid_t standby;

	while (channel_standby_at(sm, ret->n_standbys, &standby))
		ret->n_standbys++;
	ret->n_informed = MIN(settle_reach(sm, LEDGER_SEED, number).with, ret->n_standbys);
}

/* May options change the ring? Not before they were checked since this manager is master. */
static bool may_change(const struct sm *sm)
{
	return sm->state == SM_MASTER && keys_ring(sm) && sm->m.key_turn->is_asked;
}

void sm_keys(const struct sm *sm, struct sm_keys *ret)
{
	const struct key_turn *t = sm->m.key_turn;
	const struct key_ring *ring = keys_ring(sm);

	*ret = (struct sm_keys){
		.per_port = keys_are_single(sm),
		.changing = !is_settled(sm) || may_change(sm),
		.epoch = ring ? key_ring_epoch(ring) : 0,
		.next_in = t->turn_at == MONO_NEVER ? -1 : MAX(t->turn_at - sm->now, 0),
	};
	count_ports(sm, ret);
	if (ring)
		count_standbys(sm, ret);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void lack_written(struct sm *sm, void *arg, int error)
{
	struct key_turn *t = sm->m.key_turn;

	t->is_committing = false;
	if (error == 0)
		return;
	t->rows_lack = true;
	t->retry_at = sm->now + RETRY;
}

static void write_seeds(struct sm *sm, const struct key_ring *ring, enum key_seeds_use use)
{
	struct key_turn *t = sm->m.key_turn;

	t->rows_lack = false;
	t->is_committing = true;
	if (!key_seeds_write(sm, ring, use, lack_written, NULL))
		t->is_committing = false;
}

/* Do options name the seed, so that no other one would come into force? */
static bool has_seed_of_options(const struct conf *c)
{
	return c->m_key_seed_file || (c->m_key && c->m_key != UINT64_MAX);
}

/*
 * Writes the own seed as a row: if the subnet splits, each half is locked with the seed of its
 * manager, and the master then knows that of a standby.
 */
static void write_own_seeds(struct sm *sm)
{
	_cleanup_(key_ring_unrefp) struct key_ring *asked =
		has_seed_of_options(sm->conf) ? keys_asked_for(sm) : NULL;
	const struct key_ring *ring = asked ? asked : keys_known(sm);

	if (!key_ring_is_empty(ring))
		write_seeds(sm, ring, SEEDS_KNOWN);
}

/* A ring of rows of other managers, followed by the own seeds. */
static struct key_ring *put_behind(const struct key_ring *rows, const struct key_ring *own)
{
	struct key_ring *ring = key_ring_copy(rows);

	key_ring_merge(ring, own);
	return ring;
}

/* Takes the seeds of rows, as a standby, or locked out: ports have keys of the master. */
static void follow_rows(struct sm *sm)
{
	bool in_force;
	_cleanup_(key_ring_unrefp) struct key_ring *rows = key_seeds_ring(sm, &in_force);
	_cleanup_(key_ring_unrefp) struct key_ring *ring = NULL;

	if (!in_force) {
		keep_seeds(sm, rows);
		return;
	}
	ring = put_behind(rows, keys_known(sm));
	if (key_ring_mark(ring) != key_ring_mark(keys_known(sm)))
		keys_use(sm, take(ring));
	else if (sm->m.key_turn->rows_are_new)
		keys_ruled(sm);
	tell_differing_seed(sm);
	if (sm->state == SM_DISCOVERING)
		want_sweep_now(sm, SWEEP_HEAVY, "the master sent M_Keys");
}

/* Was our own seed drawn when no other was known, and shared with no manager? */
static bool is_passing(const struct sm *sm, const struct key_ring *rows)
{
	return sm->conf->m_key_per_port && !has_seed_of_options(sm->conf) &&
	       !key_ring_is_shared(rows) && !key_seeds_have(sm, keys_known(sm));
}

/* Adds the seeds of rows to the ring, as MASTER: ports have keys of our seed until it changes. */
static void join_rows(struct sm *sm)
{
	const struct key_ring *known = keys_known(sm);
	bool in_force;
	_cleanup_(key_ring_unrefp) struct key_ring *rows = key_seeds_ring(sm, &in_force);
	_cleanup_(key_ring_unrefp) struct key_ring *ring = NULL;

	ring = in_force && is_passing(sm, rows) ? put_behind(rows, known) : put_behind(known, rows);
	if (!key_ring_is_alike(ring, known))
		start_turn(sm, take(ring), "another manager's seed");
	else if (key_ring_mark(ring) != key_ring_mark(known))
		keys_use(sm, take(ring));
}

/* Loads the ring at the start: the one in the file is in force, and rows may have more. */
static void load_rows(struct sm *sm)
{
	const struct key_ring *known = keys_known(sm);
	bool in_force;
	_cleanup_(key_ring_unrefp) struct key_ring *rows = key_seeds_ring(sm, &in_force);
	_cleanup_(key_ring_unrefp) struct key_ring *others = key_seeds_of_others(sm);
	_cleanup_(key_ring_unrefp) struct key_ring *ring = NULL;

	if (keys_are_fresh(sm) && in_force)
		ring = put_behind(rows, known);
	else
		ring = put_behind(known, others);
	key_ring_keep(ring, rows);
	if (!key_ring_is_empty(known) && key_ring_mark(ring) != key_ring_mark(known))
		keys_use(sm, take(ring));
}

void key_turn_take_seeds(struct sm *sm, const struct ledger_key *keys, size_t n)
{
	bool in_force;
	_cleanup_(key_ring_unrefp) struct key_ring *rows = NULL;

	if (sm->state == SM_NOT_ACTIVE) {
		load_rows(sm);
		return;
	}
	sm->m.key_turn->rows_came = sm->m.key_turn->rows_are_new = true;
	if (sm->state != SM_MASTER || settle_may_write(sm))
		return;
	rows = key_seeds_ring(sm, &in_force);
	if (keep_seeds(sm, rows))
		want_sweep_now(sm, SWEEP_HEAVY, "another manager knows M_Keys");
}

/* Has another manager sent all its rows? */
static bool is_settled_as_standby(const struct sm *sm)
{
	struct settle_peer_view p;

	for (unsigned i = 0; sm->state == SM_STANDBY && settle_peer_at(sm, i, &p); i++) {
		if (p.is_settled)
			return true;
	}
	return false;
}

static bool is_to_follow(const struct sm *sm)
{
	const struct key_turn *t = sm->m.key_turn;

	return t->rows_came && t->state == TURN_IDLE &&
	       (sm->state == SM_DISCOVERING || sm->state == SM_STANDBY);
}

static bool is_to_join(const struct sm *sm)
{
	const struct key_turn *t = sm->m.key_turn;

	return t->rows_came && t->state == TURN_IDLE && settle_may_write(sm) &&
	       sm->first_sweep_done && keys_ring(sm) && !keys_are_unstored(sm);
}

static void look_at_rows(struct sm *sm)
{
	struct key_turn *t = sm->m.key_turn;

	if (is_to_follow(sm)) {
		t->rows_came = false;
		follow_rows(sm);
	} else if (is_to_join(sm) && sm->now >= MAX(t->retry_at, t->join_at)) {
		t->join_at = sm->now + JOIN_PAUSE;
		t->rows_came = false;
		t->rows_lack = true;
		join_rows(sm);
	}
}

static bool has_ring_in_force(const struct sm *sm)
{
	return settle_may_write(sm) && sm->first_sweep_done && keys_ring(sm) &&
	       !key_ring_is_empty(keys_ring(sm)) && !keys_are_unstored(sm);
}

static void write_lacking(struct sm *sm)
{
	struct key_turn *t = sm->m.key_turn;

	if (!t->rows_lack || t->rows_came || t->is_committing || t->state != TURN_IDLE ||
	    sm->now < t->retry_at)
		return;
	if (is_settled_as_standby(sm) && keys_may_be_sent(sm))
		write_own_seeds(sm);
	else if (has_ring_in_force(sm))
		write_seeds(sm, keys_ring(sm), SEEDS_IN_FORCE);
}

static void filed(struct sm *sm, const struct key_ring *ring, int error)
{
	struct key_turn *t = sm->m.key_turn;

	t->is_filing = false;
	tell_disk(sm, error);
	if (error < 0)
		t->retry_at = sm->now + RETRY;
}

/* Must the file be written, as the ring changed without a turn, by rows that are on the disk? */
static bool is_to_file(const struct sm *sm)
{
	const struct key_turn *t = sm->m.key_turn;

	return t->state == TURN_IDLE && !t->is_filing && !keys_are_kept(sm) &&
	       !key_ring_is_empty(keys_known(sm)) && !keys_are_unstored(sm);
}

static void file_known(struct sm *sm)
{
	if (!is_to_file(sm) || sm->now < sm->m.key_turn->retry_at)
		return;
	sm->m.key_turn->is_filing = true;
	keys_store_later(sm, key_ring_copy(keys_known(sm)), filed);
}

/* ---- when ------------------------------------------------------------------------------------ */

void key_turn_reconfigured(struct sm *sm, const struct conf *before)
{
	struct key_turn *t = sm->m.key_turn;
	const char *why = t->turn_why;
	mono_t due = t->turn_at;

	t->is_asked = t->is_unsaved = t->rows_lack = true;
	plan_turn(sm);
	if (t->turn_at == MONO_NEVER || due > t->turn_at)
		return;
	t->turn_at = due;
	t->turn_why = why;
}

void key_turn_state_changed(struct sm *sm)
{
	struct key_turn *t = sm->m.key_turn;

	t->is_writing = t->is_unwritten = false;
	if ((t->state == TURN_WRITING || t->state == TURN_SENDING) && sm->state != SM_MASTER)
		give_up_turn(t);
	t->rows_came |= sm->state != SM_DISCOVERING;
	t->rows_are_new = false;
	keys_state_changed(sm);
	t->found_by =
		sm->now + PATIENCE +
		(sm->conf->polling_retry_number + 1) * sm->conf->sminfo_polling_timeout * MONO_MS;
	key_turn_reconfigured(sm, sm->conf);
	plan_turn(sm);
}

/*
 * Must options be checked? Only as MASTER: a standby uses the master's seed first. Ports with keys
 * of the former master are met by the first sweep, with those keys.
 */
static bool is_to_look_at_options(const struct sm *sm)
{
	const struct key_turn *t = sm->m.key_turn;

	return t->is_asked && t->state == TURN_IDLE && settle_may_write(sm) && sm->first_sweep_done;
}

/*
 * The time from which options are checked: standbys that do not have the new seed would be locked
 * out until leases end.
 */
static mono_t look_at_options_at(const struct sm *sm)
{
	const struct key_turn *t = sm->m.key_turn;
	bool waits = keys_may_be_sent(sm) && sm->now < t->found_by && is_one_missing(sm);

	return MAX(waits ? t->found_by : t->retry_at, sm->now);
}

static void look_at_options(struct sm *sm)
{
	struct key_turn *t = sm->m.key_turn;
	struct key_ring *ring;

	if (!is_to_look_at_options(sm) || sm->now < look_at_options_at(sm))
		return;
	t->is_asked = false;
	ring = keys_asked_for(sm);
	if (ring)
		start_turn(sm, ring, key_ring_is_shared(ring) ? "another m_key" : "another seed");
}

/* Has a port shown that another manager has rotated? That is handled like a ring of our own. */
static bool is_found(const struct sm *sm)
{
	return keys_found(sm) && sm->m.key_turn->state == TURN_IDLE && settle_may_write(sm);
}

static void store_found(struct sm *sm)
{
	if (is_found(sm) && sm->now >= sm->m.key_turn->retry_at)
		start_turn(sm, key_ring_copy(keys_found(sm)), "another manager's");
}

/* Takes an epoch that another manager reported; not in a turn, as standbys report its back. */
void key_turn_epoch_told(struct sm *sm, const uint8_t *info)
{
	bool is_later = sm->m.key_turn->state == TURN_IDLE && key_epoch_told(sm, info);

	if (is_later)
		tell_news(sm, NEWS_KEYS_MIXED);
	if (is_later && sm->state == SM_MASTER)
		want_sweep_now(sm, SWEEP_HEAVY, "another manager has rotated M_Keys");
}

void key_turn_sweep_ended(struct sm *sm)
{
	struct key_turn *t = sm->m.key_turn;
	unsigned n = sm->stats.heavy_sweeps + sm->stats.dirty_sweeps;

	if (n != t->n_sweeps)
		keys_met(sm);
	if (n != t->n_sweeps && sm->sweep_started >= t->forced_at)
		t->is_writing = false;
	t->n_sweeps = n;
	tell_unwritten(sm);
	if (sm->state != SM_MASTER || !t->is_unsaved)
		return;
	t->is_unsaved = false;
	lids_save(sm);
}

static void turn_if_due(struct sm *sm)
{
	struct key_turn *t = sm->m.key_turn;
	const char *why = t->turn_why;
	int r;

	if (sm->now < t->turn_at)
		return;
	plan_turn(sm);
	r = rotate(sm, why);
	if (r != -EBUSY && r != -EAGAIN)
		return;
	t->turn_at = sm->now + PAUSE;
	t->turn_why = why;
}

void key_turn_tick(struct sm *sm)
{
	sm->m.key_turn->is_begun = false;
	look_at_rows(sm);
	store_found(sm);
	look_at_options(sm);
	turn_if_due(sm);
	write_lacking(sm);
	file_known(sm);
	look_at_standbys(sm);
	tell_refused(sm);
}

mono_t key_turn_next(const struct sm *sm)
{
	const struct key_turn *t = sm->m.key_turn;
	mono_t next = MONO_NEVER;

	if (is_to_follow(sm))
		return sm->now;
	if (is_found(sm) || is_to_file(sm))
		next = MAX(t->retry_at, sm->now);
	if (is_to_join(sm))
		next = mono_min(next, MAX(MAX(t->retry_at, t->join_at), sm->now));
	if (sm->state != SM_MASTER)
		return next;
	next = mono_min(next, t->turn_at);
	if (t->state == TURN_SENDING && settle_may_write(sm))
		next = mono_min(next, t->is_begun ? sm->now : t->sending_until);
	if (is_to_look_at_options(sm))
		next = mono_min(next, look_at_options_at(sm));
	return next;
}
