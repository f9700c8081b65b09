// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds a replaced switch by its cables: ports that led to the lost switch lead to the new one.
 * Cables come up one by one, and some may have been lost earlier, so more than half of the known
 * cables of one of the two are enough.
 */
#include "sm/routing/replacements.h"

#include <string.h>

#include "util/bisect.h"
#include "util/log.h"
#include "util/mem.h"

/* The other end of a cable: a port of a switch. */
struct end {
	guid_t sw;
	uint8_t port;
};

struct lost {
	guid_t guid, order_guid;
	struct end *ends; /* owned */
	uint32_t n_ends;
};

struct replacements {
	struct topo *topo;		     /* last topology, one reference; NULL: none yet */
	struct lost lost[REPLACEMENTS_LOST]; /* oldest first */
	uint32_t n_lost;
};

struct replacements *replacements_new(void)
{
	return xcalloc(1, sizeof(struct replacements));
}

struct replacements *replacements_free(struct replacements *s)
{
	if (!s)
		return NULL;
	for (uint32_t i = 0; i < s->n_lost; i++)
		free(s->lost[i].ends);
	topo_unref(s->topo);
	free(s);
	return NULL;
}

static void forget(struct replacements *s, uint32_t i)
{
	free(s->lost[i].ends);
	s->n_lost--;
	memmove(&s->lost[i], &s->lost[i + 1], (s->n_lost - i) * sizeof(s->lost[0]));
}

static struct lost *find_lost(struct replacements *s, guid_t guid)
{
	for (uint32_t i = 0; i < s->n_lost; i++)
		if (s->lost[i].guid == guid)
			return &s->lost[i];
	return NULL;
}

static void note_lost(struct replacements *s, uint32_t sw)
{
	const struct topo_switch *it = &s->topo->switches[sw];
	struct lost *lost = find_lost(s, it->guid);

	if (lost)
		forget(s, (uint32_t)(lost - s->lost));
	else if (s->n_lost == REPLACEMENTS_LOST)
		forget(s, 0);
	lost = &s->lost[s->n_lost++];
	*lost = (struct lost){
		.guid = it->guid,
		.order_guid = topo_order_guid(it),
		.ends = xcalloc(it->n_ports + 1u, sizeof(*lost->ends)),
	};
	for (unsigned p = 1; p <= it->n_ports; p++) {
		const struct topo_port *port = topo_port(s->topo, sw, p);

		if (port->sw != TOPO_NONE)
			lost->ends[lost->n_ends++] = (struct end){
				s->topo->switches[port->sw].guid,
				port->port,
			};
	}
}

static uint32_t count_cables(const struct topo *t, uint32_t sw)
{
	uint32_t n = 0;

	for (unsigned p = 1; p <= t->switches[sw].n_ports; p++)
		n += topo_port(t, sw, p)->sw != TOPO_NONE;
	return n;
}

/* The switch that most of these ends lead to now; TOPO_NONE: none. */
static uint32_t find_most(const struct topo *now, const struct lost *lost, uint32_t *ret_n)
{
	_cleanup_free_ uint32_t *to = xcalloc(lost->n_ends + 1u, sizeof(*to));
	uint32_t most = TOPO_NONE, n = 0;

	for (uint32_t i = 0; i < lost->n_ends; i++) {
		uint32_t sw = topo_find_switch(now, lost->ends[i].sw);

		if (sw != TOPO_NONE)
			sw = topo_behind(now, sw, lost->ends[i].port);
		if (sw != TOPO_NONE)
			to[n++] = sw;
	}
	SORT(to, n, compare_u32);
	*ret_n = 0;
	for (uint32_t i = 0, alike = 0; i < n; i++) {
		alike = i && to[i] == to[i - 1] ? alike + 1 : 1;
		if (alike > *ret_n) {
			*ret_n = alike;
			most = to[i];
		}
	}
	return most;
}

/* The switch that now has the cables of a lost one; TOPO_NONE: none. */
static uint32_t find_next(const struct topo *now, const struct lost *lost)
{
	uint32_t n, sw = find_most(now, lost, &n);

	return sw != TOPO_NONE && 2 * n > MIN(lost->n_ends, count_cables(now, sw)) ? sw : TOPO_NONE;
}

static void tell_next(const struct topo_switch *next, const struct lost *lost)
{
	log_info("switch 0x%016llx is in the place of switch 0x%016llx, on its cables: routes take "
		 "it for the same one",
		 (unsigned long long)next->guid, (unsigned long long)lost->guid);
}

/* Sets order GUIDs of switches that are new (`was` is TOPO_NONE). */
static void find_new_order(struct replacements *s, const struct topo *now, const uint32_t *was,
			   guid_t *order)
{
	for (uint32_t i = 0; i < s->n_lost; i++) {
		const struct lost *lost = &s->lost[i];
		uint32_t sw = topo_find_switch(now, lost->guid);
		bool is_other = sw == TOPO_NONE;

		if (is_other)
			sw = find_next(now, lost);
		if (sw == TOPO_NONE || was[sw] != TOPO_NONE ||
		    (is_other && find_lost(s, now->switches[sw].guid)))
			continue;
		order[sw] = lost->order_guid;
		if (is_other)
			tell_next(&now->switches[sw], lost);
	}
}

/* The order GUID by switch of `now`. NULL: each is its own GUID. */
static guid_t *find_order(struct replacements *s, const struct topo *now)
{
	_cleanup_free_ uint32_t *was = topo_match_switches(now, s->topo);
	_cleanup_free_ guid_t *order = xcalloc(now->n_switches + 1u, sizeof(*order));
	bool some_came = false, some = false;

	for (uint32_t sw = 0; sw < now->n_switches; sw++) {
		some_came |= was[sw] == TOPO_NONE;
		order[sw] = was[sw] == TOPO_NONE ? now->switches[sw].guid
						 : topo_order_guid(&s->topo->switches[was[sw]]);
	}
	if (some_came)
		find_new_order(s, now, was, order);
	for (uint32_t sw = 0; sw < now->n_switches; sw++)
		some |= order[sw] != now->switches[sw].guid;
	return some ? take(order) : NULL;
}

static void note_all_lost(struct replacements *s, const struct topo *now)
{
	_cleanup_free_ uint32_t *to = topo_match_switches(s->topo, now);

	for (uint32_t sw = 0; sw < s->topo->n_switches; sw++)
		if (to[sw] == TOPO_NONE)
			note_lost(s, sw);
}

struct topo *replacements_order(struct replacements *s, struct topo *now)
{
	_cleanup_free_ guid_t *order = NULL;
	struct topo *ret = now;

	if (s->topo) {
		note_all_lost(s, now);
		order = find_order(s, now);
	}
	if (order) {
		ret = topo_with_order(now, order);
		topo_unref(now);
	}
	topo_unref(s->topo);
	s->topo = topo_ref(ret);
	return ret;
}
