// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links that are up and worse than they could be: slower than both ends can, slower than the other
 * cables between the same switches, flapping, of bad health, not as expected.
 *
 * Speeds are compared for nodes that changed since the last look alone: what was found at others
 * still holds.
 */
#include <inttypes.h>
#include <stdio.h>

#include "fabric/words.h"
#include "ib/codes.h"
#include "sm/alarms/alarms_internal.h"
#include "util/mem.h"

static bool cable_is_planned(const struct look *l, const struct port *p)
{
	return alarm_is_planned(l, (struct alarm_end){ p->node->guid, p->num }) ||
	       (p->peer &&
		alarm_is_planned(l, (struct alarm_end){ p->peer->node->guid, p->peer->num }));
}

/* ---- speed ----------------------------------------------------------------------------------- */

static unsigned total(struct link_rate r)
{
	return r.width * r.speed;
}

static const char *speed_name(unsigned tenths)
{
	const struct ib_speed *s = ib_speed_of(tenths);

	return s ? s->name : "?";
}

static bool can(const struct port *p, size_t row)
{
	for (enum ib_speed_set set = IB_SPEED_PLAIN; set <= fabric_speed_sets(p); set++)
		if (ib_speeds[row].bit[set] & ib_speed_bits(p->info, set, IB_SPEED_SUPPORTED))
			return true;
	return false;
}

struct link_rate sm_link_rate(const struct port *p)
{
	return (struct link_rate){ ib_link_width(p->info),
				   ib_link_speed(p->info, fabric_speed_sets(p), false) };
}

struct link_rate sm_link_best(const struct port *p)
{
	const struct port *q = p->peer;
	const struct ib_width *w = ib_widest((unsigned)(ib_get(p->info, PI_WIDTH_SUPPORTED) &
							ib_get(q->info, PI_WIDTH_SUPPORTED)));
	struct link_rate r = { w ? w->lanes : 0, 0 };

	for (size_t row = IB_SPEEDS; row-- > 0 && !r.speed;)
		if (can(p, row) && can(q, row))
			r.speed = ib_speeds[row].tenths;
	return r;
}

static bool is_up(const struct port *p)
{
	return p->known && p->peer && p->peer->known && port_state(p) > IB_PORT_DOWN;
}

static bool is_uplink(const struct port *p)
{
	return is_up(p) && node_is_switch(p->peer->node) && p->peer->node != p->node;
}

#define NO_MAJORITY 1u
#define RATES_MAX   8u

/* The rate of more than half of the cables to other switches; NO_MAJORITY. */
static uint32_t find_peers_rate(const struct node *n)
{
	struct {
		uint32_t rate, n;
	} of[RATES_MAX] = { 0 };
	uint32_t cables = 0;

	for (unsigned i = 1; i <= n->n_ports; i++) {
		uint32_t rate = is_uplink(&n->ports[i]) ? total(sm_link_rate(&n->ports[i])) : 0;

		cables += rate != 0;
		for (unsigned k = 0; rate && k < RATES_MAX; k++) {
			if (of[k].n && of[k].rate != rate)
				continue;
			of[k].rate = rate;
			of[k].n++;
			break;
		}
	}
	for (unsigned k = 0; k < RATES_MAX; k++)
		if (2 * of[k].n > cables && of[k].n > 1)
			return of[k].rate;
	return NO_MAJORITY;
}

static uint32_t peers_rate(struct look *l, const struct node *n)
{
	if (!l->peers_rate)
		l->peers_rate = xcalloc(l->sm->fabric->n_nodes, sizeof(*l->peers_rate));
	if (!l->peers_rate[n->index])
		l->peers_rate[n->index] = find_peers_rate(n);
	return l->peers_rate[n->index];
}

/* Slower than most at both ends, or at one where the other has no majority. */
static bool is_unlike_peers(struct look *l, const struct port *p)
{
	uint32_t now = total(sm_link_rate(p)), a, b;

	if (!node_is_switch(p->node) || !is_uplink(p))
		return false;
	a = peers_rate(l, p->node);
	b = peers_rate(l, p->peer->node);
	return (a != NO_MAJORITY || b != NO_MAJORITY) && (a == NO_MAJORITY || now < a) &&
	       (b == NO_MAJORITY || now < b);
}

static void look_at_speed(struct look *l, const struct port *p)
{
	struct link_rate now = sm_link_rate(p), best = sm_link_best(p);
	struct alarm *a;

	if (!now.width || !now.speed || cable_is_planned(l, p))
		return;
	if (best.speed && (now.width < best.width || now.speed < best.speed)) {
		a = alarm_add_cable(l, ALARM_SLOW, p);
		alarm_say(a, "runs at %ux %s, both its ends can %ux %s", now.width,
			  speed_name(now.speed), best.width, speed_name(best.speed));
	} else if (is_unlike_peers(l, p)) {
		uint32_t peers = MAX(peers_rate(l, p->node), peers_rate(l, p->peer->node));

		a = alarm_add_cable(l, ALARM_UNLIKE, p);
		alarm_say(a, "runs at %ux %s (%u Gb/s), most cables of its switches at %u Gb/s",
			  now.width, speed_name(now.speed), total(now) / 10, peers / 10);
	}
}

static const struct port *port_at(const struct look *l, struct alarm_end e)
{
	const struct node *n = e.node ? fabric_find_node(l->sm->fabric, e.node) : NULL;

	return n && e.port && e.port <= n->n_ports ? &n->ports[e.port] : NULL;
}

static bool has_changed(const struct look *l, const struct node *n)
{
	return !l->before->has_seen || l->before->look_at_all || n->edited > l->before->edits;
}

/* Of a cable whose ends have both changed, that with the lesser GUID is looked at. */
static bool is_looked_at_from_peer(const struct look *l, const struct port *p)
{
	return p->peer->node->guid < p->node->guid && has_changed(l, p->peer->node);
}

/* Links of nodes that changed, and those that had an alarm for their speed. */
static void look_at_speeds(struct look *l)
{
	const unsigned long long kinds = 1ULL << ALARM_SLOW | 1ULL << ALARM_UNLIKE;

	for (uint32_t i = 0; i < l->before->list.n; i++) {
		const struct alarm *a = &l->before->list.all[i];
		const struct port *p = port_at(l, a->at);

		if ((a->also | 1ULL << a->kind) & kinds && p && is_up(p))
			look_at_speed(l, p);
	}
	if (l->is_same && !l->before->look_at_all)
		return;
	FABRIC_EACH_NODE(l->sm->fabric, n)
		for (unsigned i = 1; i <= n->n_ports && has_changed(l, n); i++)
			if (is_up(&n->ports[i]) && !is_looked_at_from_peer(l, &n->ports[i]))
				look_at_speed(l, &n->ports[i]);
}

/* So many slow links are not faults of cables: the fabric is as it was bought, or simulated. */
#define SLOW_LINKS_MOST 32u

static uint32_t links_up(const struct fabric *f)
{
	uint32_t ends = 0;

	FABRIC_EACH_NODE(f, n)
		for (unsigned i = 1; i <= n->n_ports; i++)
			ends += is_up(&n->ports[i]);
	return ends / 2;
}

/*
 * Puts one alarm in place of those about slow links, from `first` on, if most links are slow;
 * `more`: alarms beyond those kept before the first.
 */
static void merge_slow(struct look *l, uint32_t first, unsigned more)
{
	uint32_t n = l->found.more[ALARM_DEGRADED] - more, kept = first;

	for (uint32_t i = first; i < l->found.n; i++)
		n += l->found.all[i].kind == ALARM_SLOW;
	if (n <= SLOW_LINKS_MOST || 2 * n <= links_up(l->sm->fabric))
		return;
	for (uint32_t i = first; i < l->found.n; i++)
		if (l->found.all[i].kind != ALARM_SLOW)
			l->found.all[kept++] = l->found.all[i];
	l->found.n = kept;
	l->found.more[ALARM_DEGRADED] = more;
	l->look_at_all = true;
	alarm_add_own(l, ALARM_ALL_SLOW, n, "%s", alarm_rows[ALARM_ALL_SLOW].cause);
}

/* ---- flapping, sick, unlike the expected topology -------------------------------------------- */

static void look_at_falls(struct look *l)
{
	struct out_of_use_falls f;

	for (unsigned i = 0; out_of_use_falls_at(l->sm, i, &f); i++) {
		struct alarm *a;

		if (!f.port || cable_is_planned(l, f.port))
			continue;
		a = alarm_add_cable(l, ALARM_FLAPPING, f.port);
		alarm_say(a, "comes and goes: it fell %u times%s", f.falls,
			  f.probation ? ", was held down, and is watched now"
				      : " in the last 2 minutes");
	}
}

static void look_at_health(struct look *l)
{
	struct sick_shown s;

	for (unsigned i = 0; sm_sick_at(l->sm, i, &s); i++) {
		const struct port *p = s.port[0] ? s.port[0] : s.port[1];
		enum alarm_kind kind = s.state == SICK_ISOLATED ? ALARM_SICK_OUT : ALARM_SICK;
		char done[SICK_WORDS_STRLEN];
		struct alarm *a;

		if (s.action == HEALTH_IGNORE || !p || cable_is_planned(l, p))
			continue;
		a = alarm_add_cable(l, kind, p);
		a->since = s.verdict->since;
		alarm_say(a, "%s (%s)", s.why, sm_sick_words(s.state, s.action, done));
	}
}

static struct alarm_end end_of(const struct expect_end *e)
{
	return (struct alarm_end){ e->guid, e->port };
}

static void add_drift(struct look *l, const struct drift *d, const struct drift_row *row)
{
	const struct expect_finding *f = &d->report->findings[row->finding];
	const struct expect_change *c = f->n_changes ? &d->report->changes[f->first_change] : NULL;
	bool is_missing = row->kind == EXPECT_MISSING || row->kind == EXPECT_MISSING_NODE;
	enum alarm_kind kind = is_missing ? ALARM_MISSING : ALARM_DRIFT;
	struct alarm_end at = f->node.guid || !c ? end_of(&f->node) : end_of(&c->at);
	const struct port *p = port_at(l, at);
	struct alarm *a;

	if (alarm_is_planned(l, at) || (c && alarm_is_planned(l, end_of(&c->was))))
		return;
	if (p) {
		a = alarm_add_cable(l, kind, p);
	} else {
		a = alarm_add(l, kind, at);
		alarm_name_node(l, a);
		a->where = c ? end_of(&c->at) : at;
	}
	a->since = row->since;
	alarm_say(a, "%s", row->text);
}

static void look_at_drift(struct look *l)
{
	struct sm_expected e;

	sm_expected(l->sm, &e);
	for (uint32_t i = 0; e.drift && i < e.drift->n; i++)
		add_drift(l, e.drift, &e.drift->rows[i]);
}

void alarms_look_at_quality(struct look *l)
{
	const uint32_t first = l->found.n;
	const unsigned more = l->found.more[ALARM_DEGRADED];

	look_at_speeds(l);
	merge_slow(l, first, more);
	look_at_falls(l);
	look_at_health(l);
	look_at_drift(l);
}
