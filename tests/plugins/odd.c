/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plugins that are odd in one way, chosen by a macro:
 *
 * OLD_VERSION     osm_version of another release          NUMBER          a number in its place
 * NO_SYMBOL no osm_event_plugin                     NULL_STATE      create() returns NULL NO_CREATE
 * no create()                             SLOW            report() takes 150 ms LOOPS
 * an engine whose tables go round         NOWHERE         one that leads out of empty ports CANNOT
 * one that says it cannot                 NAMES           engines with bad names, and a good one
 * SEGV     an engine that crashes                  HANG            one that does not end CRASH
 * its constructor ends the process, so it must not be loaded
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "opensm/event_plugin.h"
#include "opensm/routing_plugin.h"

#ifdef CRASH
__attribute__((constructor)) static void crash(void)
{
	abort();
}
#endif

static char here;

static int compute(void *arg, const struct opensm_topology *t, struct opensm_tables *ret, char *why,
		   size_t why_len)
{
#ifdef CANNOT
	snprintf(why, why_len, "this is no ring\nof mine");
	return -5;
#endif
#ifdef SEGV
	*(volatile char *)0 = 1;
#endif
#ifdef HANG
	for (volatile int i = 0; i < 2; i = 1)
		;
#endif
	for (uint32_t sw = 0; sw < t->n_switches; sw++) {
		const struct opensm_topo_switch *s = &t->switches[sw];
		uint8_t port = 0xFE;

		/* LOOPS: everything to some neighbour, for any destination. */
		for (unsigned p = 1; p <= s->n_ports; p++) {
			if (t->ports[s->first_port + p].peer_switch != OPENSM_NONE)
				port = (uint8_t)p;
		}
#ifdef NOWHERE
		port = s->n_ports + 1;
#endif
		for (unsigned lid = 0; lid <= t->max_lid; lid++)
			ret->rows[sw * ret->row_size + lid] = port;
	}
	return 0;
}

__attribute__((unused)) static struct opensm_routing_engine engine = { OPENSM_ROUTING_API,
								       sizeof(engine), "odd",
								       compute, NULL };

__attribute__((unused)) static void *create(struct opensm *sm)
{
#ifdef NULL_STATE
	return NULL;
#endif
#ifdef NAMES
	static struct opensm_routing_engine other, minhop, blank, none;

	other = minhop = blank = none = engine;
	other.api = OPENSM_ROUTING_API + 1;
	minhop.name = "minhop";
	blank.name = "two words";
	none.name = NULL;
	opensm_api(sm)->register_engine(sm, &other);
	opensm_api(sm)->register_engine(sm, &minhop);
	opensm_api(sm)->register_engine(sm, &blank);
	opensm_api(sm)->register_engine(sm, &none);
	opensm_api(sm)->register_engine(sm, &engine);
#endif
#if defined(LOOPS) || defined(NOWHERE) || defined(CANNOT) || defined(NAMES) || defined(SEGV) || \
	defined(HANG)
	opensm_api(sm)->register_engine(sm, &engine);
#endif
	return &here;
}

__attribute__((unused)) static void report(void *self, int event, void *what)
{
#ifdef SLOW
	struct timespec t = { 0, 150000000 };

	if (event == OPENSM_EVENT_SUBNET_UP)
		nanosleep(&t, NULL);
#endif
}

#ifndef NO_SYMBOL
struct opensm_event_plugin osm_event_plugin = {
#if defined(OLD_VERSION)
	"OpenSM 3.3.23",
#elif defined(NUMBER)
	(const char *)1,
#else
	OPENSM_PLUGIN_VERSION,
#endif
#ifdef NO_CREATE
	NULL,
#else
	create,
#endif
	NULL, report
};
#endif
