// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds ports that refuse every M_Key that this manager has for them, with proof. A port is asked
 * with its keys one by one, NodeDescription with a number of ours as attribute modifier: the key is
 * checked first, and trap 256 repeats the modifier. Only keys that are tried on the port anyway are
 * used, so its host learns nothing new. A port that answers shows or hides its key in PortInfo.
 * Between two rounds a key may be on its way to the port.
 */
#include "sm/base/drawn_key.h"
#include "sm/trust/lockout.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "ib/notices.h"
#include "sm/base/about.h"
#include "sm/base/events.h"
#include "sm/trust/violations.h"
#include "sm/sm_internal.h"
#include "util/mem.h"

/* Most ports that are examined at a time, and most keys of each. */
#define MAX_SUSPECTS 64u
#define MAX_KEYS     24u
/* Most questions under way: others wait for the same window, and these mostly time out. */
#define ASKED_MOST   4u
/* Rounds through all keys, with a pause in between, that prove a lockout. */
#define ROUNDS	     3u
#define PAUSE	     (1 * MONO_S)
/* Pause before a port is examined again. */
#define COOLS	     (30 * MONO_S)

enum suspect_stage { SUSPECT_COOLS, SUSPECT_DUE, SUSPECT_ASKED };

struct suspect {
	enum suspect_stage stage;
	guid_t guid; /* port GUID; 0: free */
	mono_t at;   /* COOLS: end of the pause; DUE: time of the next question */
	uint64_t keys[MAX_KEYS];
	unsigned n, nth, round;
	uint32_t number; /* number of the question under way */
	bool refused;	 /* set if that question was refused */
};

struct lockout {
	struct suspect all[MAX_SUSPECTS];
	/* n_due: number of suspects due; mostly 0, so that the table need not be searched */
	unsigned n_due, n_asked;
	uint32_t since; /* number of the first sweep since this manager became master */
};
MACHINE_MEMORY(lockout);

void lockout_state_leaves(struct sm *sm, enum sm_state next)
{
	sm->m.lockout->since = sm->sweep_no + (sm->state == SM_DISCOVERING ? 0 : 1);
}

/* ---- which ports are asked ------------------------------------------------------------------- */

static void set_stage(struct lockout *l, struct suspect *s, enum suspect_stage stage)
{
	l->n_due -= s->stage == SUSPECT_DUE ? 1 : 0;
	l->n_asked -= s->stage == SUSPECT_ASKED ? 1 : 0;
	s->stage = stage;
	l->n_due += stage == SUSPECT_DUE ? 1 : 0;
	l->n_asked += stage == SUSPECT_ASKED ? 1 : 0;
}

static void cool(struct sm *sm, struct suspect *s)
{
	explicit_bzero(s->keys, sizeof(s->keys));
	set_stage(sm->m.lockout, s, SUSPECT_COOLS);
	s->at = sm->now + COOLS;
}

static struct suspect *find_suspect(struct lockout *l, guid_t guid)
{
	for (unsigned i = 0; i < MAX_SUSPECTS; i++) {
		if (l->all[i].guid == guid)
			return &l->all[i];
	}
	return NULL;
}

/* The free or cooling place that has been so for longest; NULL: all ports are being examined. */
static struct suspect *room_for_suspect(struct lockout *l)
{
	struct suspect *first = NULL;

	for (unsigned i = 0; i < MAX_SUSPECTS; i++) {
		struct suspect *s = &l->all[i];

		if (s->stage == SUSPECT_COOLS && (!first || s->at < first->at))
			first = s;
	}
	return first;
}

/* Did the port show its key to this manager as master, or accept it, in a sweep since then? */
static bool had_our_key(const struct sm *sm, const struct port *p)
{
	uint32_t since = sm->m.lockout->since;

	return (p->key_shown && p->key_shown >= since) ||
	       (p->known && p->seen >= since && ib_get(p->info, PI_M_KEY));
}

/* Can only the port itself have changed the key? Not if another manager may have, or a rotation. */
static bool may_be_locked(const struct sm *sm, const struct port *p)
{
	return p != sm->fabric->own_port && p->guid && !node_is_switch(p->node) &&
	       had_our_key(sm, p) && !keys_others_ruled(sm) && !keys_may_be_mixed(sm) &&
	       !keys_later(sm);
}

static void add_key(struct suspect *s, uint64_t key)
{
	for (unsigned i = 0; i < s->n; i++) {
		if (s->keys[i] == key)
			return;
	}
	if (key && s->n < MAX_KEYS)
		s->keys[s->n++] = key;
}

/* Lists every key that the port may have. */
static void list_keys(const struct sm *sm, const struct port *p, struct suspect *s)
{
	unsigned n = keys_n_expected(sm, p->guid);

	s->n = 0;
	add_key(s, p->m_key);
	add_key(s, p->m_key_other);
	for (unsigned i = 0; i < n; i++)
		add_key(s, keys_expected(sm, p->guid, i));
	if (p->known)
		add_key(s, ib_get(p->info, PI_M_KEY));
}

static void suspect(struct sm *sm, struct port *p)
{
	struct lockout *l = sm->m.lockout;
	struct suspect *s = find_suspect(l, p->guid);

	if (!violations_isolate(sm) || !may_be_locked(sm, p) ||
	    (s && (s->stage != SUSPECT_COOLS || sm->now < s->at)))
		return;
	if (!s)
		s = room_for_suspect(l);
	if (!s)
		return;
	*s = (struct suspect){ .stage = SUSPECT_COOLS, .guid = p->guid, .at = sm->now };
	set_stage(l, s, SUSPECT_DUE);
	list_keys(sm, p, s);
	if (!s->n)
		cool(sm, s);
}

void lockout_hidden(struct sm *sm, struct port *p)
{
	suspect(sm, p);
}

void lockout_trap(struct sm *sm, struct port *p, const uint8_t *notice)
{
	struct suspect *s = p->guid ? find_suspect(sm->m.lockout, p->guid) : NULL;

	if (!s || s->stage != SUSPECT_ASKED) {
		suspect(sm, p);
		return;
	}
	if (ib_get(notice, N256_ATTR) == IB_ATTR_NODE_DESC &&
	    ib_get(notice, N256_MOD) == s->number && ib_get(notice, N256_M_KEY) == s->keys[s->nth])
		s->refused = true;
}

/* ---- questions ------------------------------------------------------------------------------- */

/* Logs a proven lockout; the policy decides what follows. */
static void tell_lockout(struct sm *sm, struct suspect *s, struct port *p)
{
	char text[PLACE_STRLEN + 200], where[PLACE_STRLEN];
	bool is_new = violation_count(sm, VIOLATION_LOCKOUT, p);

	if (is_new && violation_may_tell(sm, VIOLATION_LOCKOUT, p)) {
		struct log_about about = about_port(LOG_ID_TRAP_KEY, p);

		about.hint = violation_kind_name(VIOLATION_LOCKOUT);
		snprintf(text, sizeof(text),
			 "%s: its host locked this manager out: it refused each of its M_Keys that "
			 "are known here, %u times (%u questions)",
			 fabric_place_str(p, where), ROUNDS, ROUNDS * s->n);
		log_on(about, LOGB_ERROR, "%s", text);
		event_security(sm, about.hint, p->guid, p->lid, text);
	}
	violation_proven(sm, VIOLATION_LOCKOUT, p);
}

static void take_refusal(struct sm *sm, struct suspect *s, struct port *p)
{
	set_stage(sm->m.lockout, s, SUSPECT_DUE);
	s->at = sm->now;
	if (++s->nth < s->n)
		return;
	s->nth = 0;
	s->at += PAUSE;
	if (++s->round < ROUNDS)
		return;
	cool(sm, s);
	tell_lockout(sm, s, p);
}

static bool may_go_on(const struct sm *sm, const struct port *p)
{
	return p && violations_isolate(sm) && may_be_locked(sm, p);
}

/*
 * Handles PortInfo: a port that hides its key refused; if not, the key is right, or readable by
 * all.
 */
static void on_port_info(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct suspect *s = r->arg;
	struct port *p = fabric_find_port(sm->fabric, s->guid);
	bool hides = r->end == MAD_END_ANSWERED && !ib_get(r->payload, PI_M_KEY) &&
		     ib_get(r->payload, PI_M_KEY_PROTECT);

	if (hides && may_go_on(sm, p))
		take_refusal(sm, s, p);
	else
		cool(sm, s);
}

static void ask(struct sm *sm, struct suspect *s, uint16_t attr, uint32_t mod, mad_done_fn done)
{
	const struct port *p = fabric_find_port(sm->fabric, s->guid);
	struct dr_path path;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = attr,
		.mod = mod,
		.path = &path,
		.m_key = s->keys[s->nth],
	};

	if (!may_go_on(sm, p) || fabric_port_path(sm->fabric, p, &path) < 0) {
		cool(sm, s);
		return;
	}
	set_stage(sm->m.lockout, s, SUSPECT_ASKED);
	mad_submit(sm->mad, &rq, done, sm, s);
}

static void on_node_desc(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct suspect *s = r->arg;
	struct port *p = fabric_find_port(sm->fabric, s->guid);
	bool answered = r->end == MAD_END_ANSWERED || r->end == MAD_END_BAD_STATUS;

	if (answered && p)
		ask(sm, s, IB_ATTR_PORT_INFO, p->num, on_port_info);
	else if (r->end == MAD_END_TIMEOUT && s->refused && may_go_on(sm, p))
		take_refusal(sm, s, p);
	else
		cool(sm, s);
}

/* Draws a number, never 0, which is the modifier of other questions. */
static bool draw_number(const struct sm *sm, uint32_t *ret)
{
	if (!sm_draw(sm, ret, sizeof(*ret)))
		return false;
	*ret |= 1u << 31;
	return true;
}

void lockout_tick(struct sm *sm)
{
	struct lockout *l = sm->m.lockout;

	for (unsigned i = 0; l->n_due && i < MAX_SUSPECTS && l->n_asked < ASKED_MOST; i++) {
		struct suspect *s = &l->all[i];

		if (s->stage != SUSPECT_DUE || sm->now < s->at)
			continue;
		s->refused = false;
		if (draw_number(sm, &s->number))
			ask(sm, s, IB_ATTR_NODE_DESC, s->number, on_node_desc);
		else
			cool(sm, s);
	}
}

mono_t lockout_next(const struct sm *sm)
{
	const struct lockout *l = sm->m.lockout;
	mono_t next = MONO_NEVER;

	/* If enough questions are under way, an answer or a timeout wakes the manager. */
	for (unsigned i = 0; l->n_due && i < MAX_SUSPECTS && l->n_asked < ASKED_MOST; i++) {
		if (l->all[i].stage == SUSPECT_DUE)
			next = mono_min(next, l->all[i].at);
	}
	return next;
}
