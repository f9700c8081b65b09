// SPDX-License-Identifier: BSD-2-Clause
/*
 * The lines of a trace that managers are the authors of. After each step of the simulator each
 * manager is looked at, and what differs from the lines so far becomes lines: in the order in which
 * one thing follows from another.
 *
 * Nothing is concluded on behalf of a manager: that it is settled with another one is told when its
 * own books say so anew, not when the model expects it.
 */
#include "tests/model/trace-ledger.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ledger/ledger_row.h"
#include "sm/tenants/tenancy_internal.h"
#include "sm/elect/elect.h"
#include "sm/ledger/settle_internal.h"
#include "sm/sm_internal.h"

#define BIT(n) (1u << (n))

void trace_say(struct trace *t, const char *format, ...)
{
	char line[200];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (!t->left_out || !strstr(line, t->left_out))
		puts(line);
	if (getenv("LOUD"))
		fprintf(stderr, "%.6f %s\n", (double)sim_now(t->rig->sim) / MONO_S, line);
}

struct sm *trace_sm(const struct manager *m)
{
	return m->at < 0 ? NULL : m->trace->rig->sms[m->at].sm;
}

static bool is_on_line(const struct manager *m)
{
	return m->at >= 0 && !m->asleep && !m->unplugged;
}

bool trace_reaches(const struct manager *a, const struct manager *b)
{
	return a != b && is_on_line(a) && is_on_line(b) &&
	       !(a->trace->split && a->in_other_half != b->in_other_half);
}

void trace_blank(struct manager *m)
{
	m->said.seen = m->said.settled = m->books = 0;
	memset(m->said.since, 0, sizeof(m->said.since));
}

/* ---- others -------------------------------------------------------------------------------- */

static const struct settle_peer *peer_of(const struct manager *m, const struct manager *other)
{
	const struct settle_peer *p = settle_peer_of(trace_sm(m)->m.settle, other->guid);

	return p && p->connected ? p : NULL;
}

static bool is_in_sight(const struct manager *m, const struct manager *other)
{
	guid_t guid;

	for (unsigned i = 0; (guid = elect_in_sight(trace_sm(m), i)); i++) {
		if (guid == other->guid)
			return true;
	}
	return false;
}

/* It has told what it is: before that a master may be careful for its sake, and need not be. */
static bool has_answered(const struct manager *m, const struct manager *other)
{
	struct sm_manager row;

	for (unsigned i = 0; sm_manager_at(trace_sm(m), i, &row); i++) {
		if (row.guid == other->guid)
			return row.known;
	}
	return false;
}

/* In the model too, a master that is not settled with one that it loses asks the others again. */
static void lose(struct manager *m, unsigned other)
{
	if (!(m->said.seen & BIT(other)))
		return;
	trace_say(m->trace, "manager %u loses %u", m->n + 1, other + 1);
	if (m->said.role == SM_MASTER && !(m->said.settled & BIT(other)))
		m->said.state = SETTLE_ASKING;
	m->said.seen &= ~BIT(other);
	m->said.settled &= ~BIT(other);
	m->books &= ~BIT(other);
}

#define ON_THE_WAY (100 * MONO_US)

/* What was sent before another one was seen is told before that. */
static void tell_sent(struct manager *m)
{
	struct trace *t = m->trace;

	for (unsigned d = 0; d < 2; d++) {
		if (t->has[d] || !m->sent[d][1] || (t->split && m->in_other_half) ||
		    sim_now(t->rig->sim) > m->sent[d][1] + ON_THE_WAY)
			continue;
		trace_say(t, "manager %u gives on device %u", m->n + 1, d + 1);
		t->has[d] = true;
	}
}

static void see(struct manager *m, const struct manager *other)
{
	if (m->said.seen & BIT(other->n) || !trace_reaches(m, other))
		return;
	tell_sent(m);
	trace_say(m->trace, "manager %u sees %u", m->n + 1, other->n + 1);
	m->said.seen |= BIT(other->n);
	m->said.settled &= ~BIT(other->n);
	if (m->said.role == SM_MASTER && other->said.role == SM_MASTER)
		m->said.state = SETTLE_ASKING;
}

/* A session that ended and began anew within one step is another one. */
static void watch_sight(struct manager *m, const struct manager *other)
{
	const struct settle_peer *p = peer_of(m, other);
	mono_t *since = &m->said.since[other->n];

	if (!is_in_sight(m, other) || (*since && p && p->connected_at != *since))
		lose(m, other->n);
	*since = p ? p->connected_at : 0;
	if (is_in_sight(m, other) && has_answered(m, other))
		see(m, other);
}

/* One that is in sight again, and was settled all the time, is so anew. */
static void watch_settled(struct manager *m, const struct manager *other)
{
	const struct settle_peer *p = peer_of(m, other);
	bool is_settled = p && peer_is_settled(p) && (m->said.seen & BIT(other->n));

	if (is_settled && !(m->books & BIT(other->n))) {
		trace_say(m->trace, "manager %u settles with %u", m->n + 1, other->n + 1);
		m->said.settled |= BIT(other->n);
	}
	m->books = (m->books & ~BIT(other->n)) | (unsigned)is_settled << other->n;
}

/* ---- election and state -------------------------------------------------------------------- */

static void take_role(struct manager *m, enum sm_state role)
{
	m->said.role = role;
	m->said.settled = 0;
	m->said.state = role == SM_MASTER ? SETTLE_ASKING : SETTLE_FOREIGN;
	if (role != SM_MASTER)
		m->said.pending = 0;
}

/* The manager on this port. */
static struct manager *manager_of(struct trace *t, guid_t guid)
{
	for (unsigned i = 0; guid && i < t->n; i++) {
		if (t->managers[i].guid == guid)
			return &t->managers[i];
	}
	return NULL;
}

/* The greater standby that a master gave the fabric to; NULL: it stepped down before a master. */
static struct manager *successor_of(const struct manager *m)
{
	struct manager *next = manager_of(m->trace, elect_polled(trace_sm(m)));

	return m->said.role == SM_MASTER && next && next->said.role == SM_STANDBY ? next : NULL;
}

/*
 * The lesser one gives the fabric away at one moment, and the greater one takes it at a later one;
 * in a trace this is one line, at the first of both.
 */
static void watch_role(struct manager *m)
{
	enum sm_state role = sm_state(trace_sm(m));
	struct manager *next = role == SM_STANDBY ? successor_of(m) : NULL;

	m->is_given &= role == SM_STANDBY;
	if (role == m->said.role || role == SM_NOT_ACTIVE || m->is_given)
		return;
	if (next) {
		trace_say(m->trace, "manager %u hands over to %u", m->n + 1, next->n + 1);
		take_role(next, SM_MASTER);
		next->is_given = true;
	} else {
		trace_say(m->trace, "manager %u becomes %s", m->n + 1, sm_state_name(role));
	}
	take_role(m, role);
}

static void watch_state(struct manager *m)
{
	static const char *const names[] = { "FOREIGN", "ASKING", "TAKING", "WRITING", "KEEPING" };
	enum settle_state state = settle_state(trace_sm(m));

	if (state == m->said.state || m->is_given)
		return;
	trace_say(m->trace, "manager %u enters %s", m->n + 1, names[state]);
	m->said.state = state;
	m->said.settled = state == SETTLE_ASKING ? 0 : m->said.settled;
}

/* ---- the row ------------------------------------------------------------------------------- */

static bool is_own(const struct manager *m, const struct ledger_dot *dot)
{
	const struct ledger_writer *self = &trace_sm(m)->m.settle->self;

	return dot->by.guid == self->guid && dot->by.instance == self->instance;
}

static bool is_new(const struct trace *t, const struct ledger_dot *dot)
{
	for (unsigned i = 0; i < t->n_changes; i++) {
		if (t->changes[i].number == dot->number &&
		    !ledger_writer_compare(&t->changes[i].by, &dot->by))
			return false;
	}
	return true;
}

static bool knows(const struct ledger_row *row, const struct ledger_dot *dot)
{
	struct ledger_entries e = ledger_entries_of(row);
	struct ledger_entry entry;

	if (dot->number <= e.floor)
		return true;
	while (ledger_entries_next(&e, &entry)) {
		if (!ledger_writer_compare(&entry.value.dot.by, &dot->by))
			return dot->number <= entry.value.dot.number;
	}
	return false;
}

static unsigned known_of(const struct trace *t, const struct ledger_row *row)
{
	unsigned known = 0;

	for (unsigned i = 0; row && i < t->n_changes; i++)
		known |= knows(row, &t->changes[i]) << i;
	return known;
}

static void tell_known(struct manager *m, unsigned known, enum force force)
{
	static const char *const words[] = { "nothing", "given", "removed" };
	char list[3 * TRACE_CHANGES] = "";

	for (unsigned i = 0; i < TRACE_CHANGES; i++) {
		if (known & BIT(i))
			snprintf(list + strlen(list), sizeof(list) - strlen(list), " %u", i + 1);
	}
	trace_say(m->trace, "manager %u knows%s: %s", m->n + 1, list, words[force]);
}

/* True: it is a change that this manager made. */
static bool tell_change(struct manager *m, const struct ledger_row *row)
{
	struct ledger_value v = ledger_row_value(row);
	struct trace *t = m->trace;

	if (!is_own(m, &v.dot) || !is_new(t, &v.dot))
		return false;
	assert(t->n_changes < TRACE_CHANGES);
	t->changes[t->n_changes++] = v.dot;
	trace_say(t, "manager %u changes %u: %s", m->n + 1, t->n_changes,
		  v.removed ? "remove" : "give");
	m->said.pending = t->n_changes;
	return true;
}

static void watch_row(struct manager *m)
{
	const struct ledger_key key = tenancy_member_key(TRACE_PKEY, m->trace->member);
	const struct ledger_row *row = ledger_find(settle_ledger(trace_sm(m)), &key);
	enum force force = FORCE_NOTHING;
	bool is_change;
	unsigned known;

	if (row)
		force = ledger_row_value(row).removed ? FORCE_REMOVED : FORCE_GIVEN;
	is_change = row && tell_change(m, row);
	known = known_of(m->trace, row);
	if (!is_change && (known != m->said.knows || force != m->said.force))
		tell_known(m, known, force);
	m->said.knows = known;
	m->said.force = force;
}

/* ---- answers ------------------------------------------------------------------------------- */

static void watch_answer(struct manager *m)
{
	const struct sm_tenancy_result *r = &m->answer;

	if (!m->answered)
		return;
	m->asked = m->answered = false;
	if (!m->said.pending)
		return;
	if (r->end != SM_TENANCY_DONE)
		trace_say(m->trace, "manager %u gives up %u", m->n + 1, m->said.pending);
	else if (r->n_standbys_with < r->n_standbys)
		trace_say(m->trace, "manager %u acknowledges %u, not by all", m->n + 1,
			  m->said.pending);
	else
		trace_say(m->trace, "manager %u acknowledges %u", m->n + 1, m->said.pending);
	m->said.pending = 0;
}

/*
 * One that woke has to have its turn first. With its cable out it can do nothing; what it takes
 * itself to be is told when the cable is in.
 */
static bool is_watched(const struct manager *m)
{
	return is_on_line(m) && trace_sm(m)->m.settle->turn_at >= m->woke_at;
}

static void watch(struct manager *m)
{
	struct trace *t = m->trace;

	for (unsigned i = 0; i < t->n; i++) {
		if (i != m->n)
			watch_sight(m, &t->managers[i]);
	}
	watch_role(m);
	watch_row(m);
	for (unsigned i = 0; i < t->n; i++) {
		if (i != m->n)
			watch_settled(m, &t->managers[i]);
	}
	watch_state(m);
	watch_answer(m);
}

void trace_watch(struct trace *t)
{
	for (unsigned i = 0; i < t->n; i++) {
		if (is_watched(&t->managers[i]))
			watch(&t->managers[i]);
	}
}

/* ---- devices ------------------------------------------------------------------------------- */

static bool block_has(const uint8_t *block)
{
	for (unsigned i = 0; i < 32; i++) {
		if (ib_bits_get(block, i * 16, 16) == TRACE_ENTRY)
			return true;
	}
	return false;
}

static bool device_has(struct trace *t, unsigned device)
{
	uint8_t block[SMP_DATA_SIZE];
	uint32_t port = device ? t->leaf_port : 0;

	return sim_read(t->rig->sim, device ? t->leaf : t->host, IB_ATTR_PKEY_TABLE, port << 16,
			block) >= 0 &&
	       block_has(block);
}

/* The one that sent such a table last, and is in the half of the devices. */
static const struct manager *writer_of(const struct trace *t, unsigned device, bool has)
{
	const struct manager *last = NULL;

	for (unsigned i = 0; i < t->n; i++) {
		const struct manager *m = &t->managers[i];

		if (m->at < 0 || !m->sent[device][has] || (t->split && m->in_other_half))
			continue;
		if (!last || m->sent[device][has] > last->sent[device][has])
			last = m;
	}
	return last;
}

static void on_set(void *arg, int node)
{
	struct trace *t = arg;

	for (unsigned d = 0; d < 2; d++) {
		bool has = device_has(t, d);
		const struct manager *m = writer_of(t, d, has);

		if (has == t->has[d] || (node != t->host && node != t->leaf))
			continue;
		assert(m);
		trace_say(t, "manager %u %s on device %u", m->n + 1, has ? "gives" : "takes",
			  d + 1);
		t->has[d] = has;
	}
}

/* Between a manager and its port. */
struct tap {
	struct transport base, *under;
	struct manager *manager;
};

static int tap_fd(struct transport *t)
{
	return transport_fd(((struct tap *)t)->under);
}

static void note_sent(struct manager *m, const uint8_t *mad)
{
	struct trace *t = m->trace;
	uint32_t mod = (uint32_t)ib_get(mad, SMP_ATTR_MOD);
	unsigned device = mod >> 16 == t->leaf_port;

	if (ib_get(mad, SMP_METHOD) != MAD_SET || ib_get(mad, SMP_ATTR_ID) != IB_ATTR_PKEY_TABLE ||
	    (mod >> 16 && !device) || (uint16_t)mod)
		return;
	m->sent[device][block_has(mad + SMP_DATA)] = sim_now(t->rig->sim) + 1;
}

static int tap_send(struct transport *t, const struct transport_addr *to, const uint8_t *mad,
		    size_t length, unsigned timeout_ms)
{
	struct tap *tap = (struct tap *)t;
	unsigned class = (unsigned)ib_get(mad, SMP_CLASS);

	if (class == MAD_CLASS_SMI_LID || class == MAD_CLASS_SMI_DR)
		note_sent(tap->manager, mad);
	return transport_send(tap->under, to, mad, length, timeout_ms);
}

static int tap_receive(struct transport *t, struct transport_event *ret)
{
	return transport_receive(((struct tap *)t)->under, ret);
}

static int tap_set_issm(struct transport *t, bool on)
{
	return transport_set_issm(((struct tap *)t)->under, on);
}

static int tap_look(struct transport *t, struct transport_port *ret)
{
	return transport_look(((struct tap *)t)->under, ret);
}

static struct transport *between(struct rig_sm *s)
{
	static const struct transport_ops ops = { .fd = tap_fd,
						  .send = tap_send,
						  .receive = tap_receive,
						  .set_issm = tap_set_issm,
						  .look = tap_look };
	static struct tap taps[RIG_MAX_SMS];
	struct tap *tap = &taps[s - s->rig->sms];
	struct trace *t = s->rig->owner;

	for (unsigned i = 0; i < t->n; i++) {
		if (strcmp(t->managers[i].node, s->node) == 0)
			tap->manager = &t->managers[i];
	}
	tap->base = (struct transport){ .ops = &ops, .port_guid = s->tr->port_guid };
	tap->under = s->tr;
	tap->manager->guid = s->tr->port_guid;
	return &tap->base;
}

void trace_watch_devices(struct trace *t)
{
	t->rig->between = between;
	t->rig->owner = t;
	sim_on_set(t->rig->sim, on_set, t);
}
