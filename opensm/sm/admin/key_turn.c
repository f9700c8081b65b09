// SPDX-License-Identifier: BSD-2-Clause
#include "sm/admin/key_turn.h"

#include <errno.h>
#include <string.h>

#include "sm/base/about.h"
#include "sm/base/news.h"
#include "sm/channel/channel.h"
#include "sm/channel/peer_rows.h"
#include "sm/elect/elect.h"
#include "util/mem.h"
#include "util/told.h"

#define PATIENCE    (10 * MONO_S) /* a rotation does not wait longer for a standby */
#define PAUSE	    (10 * MONO_S)
#define RETRY	    (60 * MONO_S) /* after a disk fault */
/*
 * enum reply_status, mark of the ring that the standby has, and then, perhaps, a seed that the
 * master has not.
 */
#define REPLY_BYTES 9
#define REPLY_MORE  (REPLY_BYTES + KEY_SEED_SENT)

enum reply_status { REPLY_STORED = 1, REPLY_NOT_STORED, REPLY_DAMAGED, REPLY_BUSY };

enum { TOLD_DISK, TOLD_OTHER_SEED, TOLD_OTHER_KIND };
/* Of a standby. */
enum { TOLD_FAULT, TOLD_REFUSED };

struct key_peer {
	guid_t guid;	    /* 0: a free row */
	uint64_t has, sent; /* marks of rings; 0: none that is known */
	mono_t again;
	bool busy;
	bool has_seed; /* that is not known here, to be taken when no ring is on its way */
	mono_t take_at; /* not before: each one is written to the disk, and sent to all */
	uint8_t seed[KEY_SEED_SENT];
	struct told told;
};

struct key_turn {
	enum { TURN_IDLE, TURN_KEEPING, TURN_SENDING, TURN_STORING } state;
	struct key_ring *next; /* on its way into force; NULL in TURN_IDLE */
	bool is_stored;	       /* `next` is on the disk */
	bool is_sent;	       /* ... and standbys have it; or had time enough */
	bool is_with_all;      /* ... and none lacks it */
	bool is_rotation;      /* `next` is the next epoch of the seed, by time or command */
	bool is_begun;	       /* standbys are to be looked at now */
	const char *why, *turn_why; /* of `next`, and of what comes at turn_at */
	mono_t sending_until, turn_at, retry_at;
	mono_t found_by; /* standbys of the master before have found this one, and registered */
	bool is_writing; /* a ring came into force, and no sweep that began then has ended */
	mono_t forced_at;
	unsigned n_sweeps; /* that wrote, and had ended */
	bool is_asked;	   /* options are to be looked at once more */
	bool is_unsaved;   /* ports have other keys than guid2mkey says */
	bool is_unwritten; /* a ring came into force amidst the first sweep */
	struct key_peer peers[MAX_REMOTE_SMS];
	unsigned n_rows; /* of peers: those behind were never in use, and are not looked at */
	/* As standby: the message whose ring is being stored. */
	struct channel_ticket ticket;
	uint64_t received; /* its mark */
	bool has_ticket;
	bool has_own; /* a seed that the master has not, to be sent with the reply */
	uint8_t own[KEY_SEED_SENT];
	struct told told;
};

void key_turn_new(struct sm *sm)
{
	sm->m.key_turn = xcalloc(1, sizeof(*sm->m.key_turn));
	sm->m.key_turn->turn_at = MONO_NEVER;
}

void key_turn_free(struct sm *sm)
{
	key_ring_unref(sm->m.key_turn->next);
	free_wiped(sm->m.key_turn, sizeof(*sm->m.key_turn)); /* it holds seeds of standbys */
	sm->m.key_turn = NULL;
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
	t->sending_until = sm->now + PATIENCE;
	t->is_begun = true;
}

/*
 * Ports get other keys, as this manager decides. A standby keeps what the master decided; at a
 * first seed no port has a key.
 */
static bool is_sent_first(const struct sm *sm)
{
	const struct key_turn *t = sm->m.key_turn;
	const struct key_ring *known = keys_known(sm);

	return sm->state == SM_MASTER && !t->has_ticket && !key_ring_is_empty(known) &&
	       !key_ring_is_alike(t->next, known);
}

/* Takes over `ring`, which is on its way into force from now on. */
static void start_turn(struct sm *sm, struct key_ring *ring, const char *why)
{
	struct key_turn *t = sm->m.key_turn;
	_cleanup_(key_ring_unrefp) struct key_ring *kept = key_ring_copy(keys_known(sm));

	t->next = ring;
	t->why = why;
	t->is_stored = t->is_sent = t->is_rotation = false;
	if (!is_sent_first(sm)) {
		store_next(sm);
	} else if (key_ring_keep(kept, ring)) {
		t->state = TURN_KEEPING;
		keys_store_later(sm, take(kept), ring_stored);
	} else {
		send_next(sm);
	}
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

static struct key_peer *peer_of(struct key_turn *t, guid_t guid)
{
	return peer_row_find(t->peers, sizeof(t->peers[0]), guid);
}

void key_turn_standby(struct sm *sm, guid_t guid, bool connected)
{
	struct key_turn *t = sm->m.key_turn;

	peer_row_change(t->peers, sizeof(t->peers[0]), &t->n_rows, guid, connected);
}

/* The ring that standbys are to have: the one that comes into force next, else the one in force. */
static const struct key_ring *ring_to_send(const struct sm *sm)
{
	const struct key_turn *t = sm->m.key_turn;

	return t->state == TURN_SENDING || (t->next && t->is_sent) ? t->next : keys_ring(sm);
}

/*
 * A stranger that knows what every distribution knows may pass for a standby of ours, under its
 * GUID: a list of GUIDs does not tell the two apart.
 */
static bool may_have_keys(struct sm *sm, struct key_peer *p)
{
	bool single = keys_are_single(sm);

	if (keys_may_be_sent(sm))
		return true;
	if (told_first(&p->told, TOLD_REFUSED))
		log_guid(sm, p->guid, LOG_ID_REPLICA, single ? LOGB_ERROR : LOGB_INFO,
			 "this standby is not sent %s, and %s: set sm_key and sa_key on both to "
			 "other values than 0 and 1",
			 single ? "the seeds of M_Keys" : "the M_Key",
			 single ? "could not reach locked ports"
				: "reaches locked ports by m_key of its own options only");
	return false;
}

static void take_reply(struct sm *sm, struct key_peer *p, const uint8_t *reply)
{
	uint64_t mark = 0;

	for (unsigned i = 0; i < 8; i++)
		mark = mark << 8 | reply[1 + i];
	switch ((enum reply_status)reply[0]) {
	case REPLY_STORED:
		p->has = mark == p->sent ? mark : 0;
		told_change(&p->told, TOLD_FAULT, false);
		if (p->has)
			p->again = sm->now;
		return;
	case REPLY_BUSY:
		p->again = sm->now + MONO_S;
		return;
	case REPLY_NOT_STORED:
	case REPLY_DAMAGED:
		break;
	}
	if (told_first(&p->told, TOLD_FAULT))
		log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_ERROR,
			 "this standby cannot store M_Keys and their seeds: its own log says why");
}

static void on_reply(struct sm *sm, void *arg, guid_t guid, enum channel_end end,
		     const uint8_t *bytes, size_t len)
{
	struct key_peer *p = peer_of(sm->m.key_turn, guid);

	if (!p)
		return;
	p->busy = p->has_seed = false;
	p->again = sm->now + PAUSE;
	if (end != CHANNEL_REPLIED || len < REPLY_BYTES)
		return;
	take_reply(sm, p, bytes);
	p->has_seed = len >= REPLY_MORE && keys_may_be_sent(sm);
	if (p->has_seed)
		memcpy(p->seed, bytes + REPLY_BYTES, sizeof(p->seed));
}

/* The peer lacks the ring with this mark, and none is on its way to it. */
static bool is_behind(const struct key_peer *p, uint64_t mark)
{
	return p->guid && !p->busy && p->has != mark;
}

static void serve_peer(struct sm *sm, struct key_peer *p, const struct key_ring *ring)
{
	uint64_t mark = key_ring_mark(ring);
	char *text;
	size_t len;

	if (!is_behind(p, mark) || sm->now < p->again)
		return;
	p->again = sm->now + PAUSE;
	if (!may_have_keys(sm, p))
		return;
	text = key_ring_text(ring, &len);
	p->sent = mark;
	p->busy = channel_send(sm, p->guid, CHANNEL_KEYS, key_ring_epoch(ring), text, len, on_reply,
			       NULL) == 0;
	free_wiped(text, len);
}

/* A manager of ours that may take over is not connected: it may be about to register. */
static bool is_one_missing(const struct sm *sm)
{
	guid_t guid;

	for (unsigned i = 0; (guid = elect_successor_at(sm, i)); i++) {
		if (!peer_of(sm->m.key_turn, guid))
			return true;
	}
	return false;
}

static bool is_with_all(struct sm *sm, const struct key_ring *ring)
{
	struct key_turn *t = sm->m.key_turn;

	for (unsigned i = 0; i < t->n_rows; i++) {
		struct key_peer *p = &t->peers[i];

		if (p->guid && p->has != key_ring_mark(ring) && may_have_keys(sm, p))
			return false;
	}
	return !keys_may_be_sent(sm) || !is_one_missing(sm);
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
 * The ring on its way, which is on the disk, is in force now. False: a port has shown another epoch
 * meanwhile, and the ring begins anew.
 */
static bool use_next(struct sm *sm)
{
	struct key_turn *t = sm->m.key_turn;
	bool is_rotation = t->is_rotation;

	if (key_ring_merge(t->next, keys_known(sm))) {
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
	bool changes = !key_ring_is_alike(t->next, keys_known(sm)) || keys_are_unstored(sm);

	if (!use_next(sm))
		return;
	if (!changes) {
		log_info("the seed of M_Keys of a standby is known here now");
		return;
	}
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

static void reply_stored(struct sm *sm, enum reply_status status)
{
	struct key_turn *t = sm->m.key_turn;
	uint8_t reply[REPLY_MORE] = { (uint8_t)status };

	if (!t->has_ticket)
		return;
	t->has_ticket = false;
	for (unsigned i = 0; i < 8; i++)
		reply[1 + i] = (uint8_t)(t->received >> 8 * (7 - i));
	if (t->has_own)
		memcpy(reply + REPLY_BYTES, t->own, sizeof(t->own));
	channel_reply(sm, &t->ticket, reply, t->has_own ? REPLY_MORE : REPLY_BYTES);
	explicit_bzero(reply, sizeof(reply));
	explicit_bzero(t->own, sizeof(t->own));
	t->has_own = false;
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
	reply_stored(sm, REPLY_NOT_STORED);
}

/* Seeds behind the first, which are in the file now, change no key. */
static void seeds_kept(struct sm *sm, const struct key_ring *ring, int error)
{
	const struct key_ring *known = keys_known(sm);
	_cleanup_(key_ring_unrefp) struct key_ring *kept = key_ring_copy(ring);

	/* Unless a port has shown another epoch meanwhile: use_next() begins anew then. */
	if (error == 0 && key_ring_is_alike(kept, known) && !key_ring_merge(kept, known))
		keys_use(sm, take(kept));
	if (sm->state == SM_MASTER)
		send_next(sm);
	else
		give_up_turn(sm->m.key_turn);
}

static void next_stored(struct sm *sm)
{
	struct key_turn *t = sm->m.key_turn;

	t->is_stored = true;
	if (t->has_ticket || sm->state != SM_MASTER) {
		if (!use_next(sm))
			return;
		reply_stored(sm, REPLY_STORED);
		tell_differing_seed(sm);
		if (sm->state == SM_DISCOVERING)
			want_sweep_now(sm, SWEEP_HEAVY, "the master sent M_Keys");
	} else if (t->is_sent) {
		put_in_force(sm);
	} else {
		send_next(sm);
	}
}

static void ring_stored(struct sm *sm, const struct key_ring *ring, int error)
{
	struct key_turn *t = sm->m.key_turn;
	bool kept_by_options = !sm->conf->m_key_per_port && !t->has_ticket;

	tell_disk(sm, error);
	if (error < 0 && !kept_by_options)
		not_stored(sm);
	else if (t->state == TURN_KEEPING)
		seeds_kept(sm, ring, error);
	else
		next_stored(sm);
}

/* Standbys have it, or had time enough. */
static void next_sent(struct sm *sm)
{
	struct key_turn *t = sm->m.key_turn;

	t->is_sent = true;
	t->is_with_all = is_with_all(sm, t->next);
	if (t->is_stored)
		put_in_force(sm);
	else
		store_next(sm);
}

/*
 * A port may have the key in force or the one that guid2mkey has. With a third one possible, a
 * manager that starts would have to try all, each wrong one being a timeout and a violation.
 */
static bool is_settled(const struct sm *sm)
{
	const struct key_turn *t = sm->m.key_turn;

	return t->state == TURN_IDLE && !t->is_writing && !lids_are_being_saved(sm);
}

void sm_release_keys(struct sm *sm, const struct conf *before)
{
	keys_release(sm, before);
}

static int rotate(struct sm *sm, const char *why)
{
	_cleanup_(key_ring_unrefp) struct key_ring *next = NULL;
	const struct key_ring *ring = keys_ring(sm);

	if (sm->state != SM_MASTER || !sm->first_sweep_done)
		return -EAGAIN;
	if (!ring || key_ring_is_empty(ring) || key_ring_is_shared(ring))
		return -ENOKEY;
	if (!is_settled(sm))
		return -EBUSY;
	next = key_ring_copy(keys_known(sm));
	if (key_ring_turn(next)) {
		start_turn(sm, take(next), why);
		sm->m.key_turn->is_rotation = true;
	}
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

void sm_keys(const struct sm *sm, struct sm_keys *ret)
{
	const struct key_turn *t = sm->m.key_turn;
	const struct key_ring *ring = keys_ring(sm);

	*ret = (struct sm_keys){
		.per_port = keys_are_single(sm),
		.changing = !is_settled(sm),
		.epoch = ring ? key_ring_epoch(ring) : 0,
		.next_in = t->turn_at == MONO_NEVER ? -1 : MAX(t->turn_at - sm->now, 0),
	};
	count_ports(sm, ret);
	for (unsigned i = 0; ring && i < t->n_rows; i++) {
		const struct key_peer *p = &t->peers[i];

		ret->n_standbys += p->guid != 0;
		ret->n_informed += p->guid && p->has == key_ring_mark(ring);
	}
}

/* ---- as standby ------------------------------------------------------------------------------ */

/* The master's seeds come first: ports have keys of these. Own ones are kept behind. */
static void on_message(struct sm *sm, void *arg, struct channel_message *m)
{
	struct key_turn *t = sm->m.key_turn;
	_cleanup_(key_ring_unrefp) struct key_ring *ring = NULL, *own = keys_asked_for(sm);
	int r = key_ring_read((const char *)m->bytes, m->len, &ring);

	explicit_bzero(m->bytes, m->len);
	if (t->has_ticket) {
		const uint8_t busy[REPLY_BYTES] = { REPLY_BUSY };

		channel_reply(sm, &m->ticket, busy, sizeof(busy));
		return;
	}
	t->ticket = m->ticket;
	t->has_ticket = true;
	t->received = r < 0 ? 0 : key_ring_mark(ring);
	t->has_own = ring && keys_may_be_sent(sm) &&
		     key_ring_lacks(own ? own : keys_known(sm), ring, t->own);
	if (ring)
		key_ring_merge(ring, own ? own : keys_known(sm));
	if (r < 0) {
		reply_stored(sm, REPLY_DAMAGED);
	} else if (t->state != TURN_IDLE) {
		reply_stored(sm, REPLY_BUSY);
	} else if (key_ring_mark(ring) == key_ring_mark(keys_known(sm)) && keys_are_kept(sm)) {
		keys_ruled(sm);
		reply_stored(sm, REPLY_STORED);
	} else {
		start_turn(sm, take(ring), "the master's");
	}
}

void key_turn_listen(struct sm *sm)
{
	channel_register(sm, CHANNEL_KEYS, on_message, NULL);
}

/* ---- when ------------------------------------------------------------------------------------ */

void key_turn_reconfigured(struct sm *sm)
{
	struct key_turn *t = sm->m.key_turn;
	const char *why = t->turn_why;
	mono_t before = t->turn_at;

	t->is_asked = t->is_unsaved = true;
	plan_turn(sm);
	if (t->turn_at == MONO_NEVER || before > t->turn_at)
		return;
	t->turn_at = before;
	t->turn_why = why;
}

void key_turn_state_changed(struct sm *sm)
{
	struct key_turn *t = sm->m.key_turn;

	memset(t->peers, 0, sizeof(t->peers));
	t->has_ticket = t->is_writing = t->is_unwritten = t->is_sent = false;
	if (t->state == TURN_SENDING && sm->state != SM_MASTER) {
		if (t->is_stored)
			use_next(sm);
		else
			give_up_turn(t);
	}
	t->found_by = sm->now + PATIENCE +
		      (sm->conf->polling_retry_number + 1) * sm->conf->sminfo_polling_timeout *
			      MONO_MS;
	key_turn_reconfigured(sm);
	plan_turn(sm);
}

/*
 * As MASTER only: a standby has the master's seed in front, whatever its options say. Ports that
 * have keys of the master before are met by the first sweep, with those.
 */
static bool is_to_look_at_options(const struct sm *sm)
{
	const struct key_turn *t = sm->m.key_turn;

	return t->is_asked && t->state == TURN_IDLE && sm->state == SM_MASTER &&
	       sm->first_sweep_done;
}

/*
 * Standbys that ports are locked against with a seed of this manager would have to wait for leases
 * to end.
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
		start_turn(sm, ring,
			    key_ring_is_shared(ring) ? "another m_key" : "another seed");
}

/* Another manager has rotated, as a port showed: on its way like a ring of our own. */
static bool is_found(const struct sm *sm)
{
	return keys_are_unstored(sm) && sm->m.key_turn->state == TURN_IDLE;
}

static void store_found(struct sm *sm)
{
	if (is_found(sm) && sm->now >= sm->m.key_turn->retry_at)
		start_turn(sm, key_ring_copy(keys_known(sm)), "another manager's");
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

/* Where a subnet that fell apart grows together, ports may have keys of the standby's seed. */
static void take_seed(struct sm *sm, struct key_peer *p)
{
	_cleanup_(key_ring_unrefp) struct key_ring *ring = NULL;

	if (!p->has_seed || sm->m.key_turn->state != TURN_IDLE || sm->now < p->take_at)
		return;
	p->take_at = sm->now + PAUSE;
	ring = key_ring_copy(keys_known(sm));
	if (key_ring_take(ring, p->seed))
		start_turn(sm, take(ring), "a standby's seed");
	p->has_seed = false;
	explicit_bzero(p->seed, sizeof(p->seed));
}

static void turn_if_due(struct sm *sm)
{
	struct key_turn *t = sm->m.key_turn;
	const char *why = t->turn_why;

	if (sm->now < t->turn_at)
		return;
	plan_turn(sm);
	if (rotate(sm, why) != -EBUSY)
		return;
	t->turn_at = sm->now + PAUSE;
	t->turn_why = why;
}

void key_turn_tick(struct sm *sm)
{
	struct key_turn *t = sm->m.key_turn;
	const struct key_ring *ring;

	t->is_begun = false;
	store_found(sm);
	look_at_options(sm);
	turn_if_due(sm);
	ring = ring_to_send(sm);
	if (sm->state != SM_MASTER || !ring || key_ring_is_empty(ring))
		return;
	for (unsigned i = 0; i < t->n_rows; i++) {
		take_seed(sm, &t->peers[i]);
		serve_peer(sm, &t->peers[i], ring);
	}
	if (t->state == TURN_SENDING && (is_with_all(sm, t->next) || sm->now >= t->sending_until))
		next_sent(sm);
}

mono_t key_turn_next(const struct sm *sm)
{
	const struct key_turn *t = sm->m.key_turn;
	const struct key_ring *ring = ring_to_send(sm);
	uint64_t mark = ring && t->n_rows ? key_ring_mark(ring) : 0;
	mono_t next = is_found(sm) ? MAX(t->retry_at, sm->now) : MONO_NEVER;

	if (sm->state != SM_MASTER)
		return next;
	next = mono_min(next, t->turn_at);
	if (t->state == TURN_SENDING)
		next = mono_min(next, t->is_begun ? sm->now : t->sending_until);
	if (is_to_look_at_options(sm))
		next = mono_min(next, look_at_options_at(sm));
	for (unsigned i = 0; i < t->n_rows; i++) {
		if (mark && is_behind(&t->peers[i], mark))
			next = mono_min(next, MAX(t->peers[i].again, sm->now));
		if (t->peers[i].has_seed && t->state == TURN_IDLE)
			next = mono_min(next, MAX(t->peers[i].take_at, sm->now));
	}
	return next;
}
