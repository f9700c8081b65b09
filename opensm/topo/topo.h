// SPDX-License-Identifier: BSD-2-Clause
/*
 * The immutable picture of a fabric on which routes are computed.
 *
 * Switches are numbered 0..n_switches-1 and end ports ("hosts": each CA or router port) follow,
 * both ordered by GUID: the same fabric gives the same topo whatever the order of answers. A switch
 * that was put in the place of another one has the GUID of that one as its *order GUID*: it is
 * numbered where that one was, so routes that go by the order of switches stay what they were
 * (sm/routing/replacements.h). Built once through a builder, then shared by reference and never
 * changed; safe to read from any thread.
 *
 * End ports that are no hosts are *set aside*, in an array of their own: aggregation nodes, one in
 * each switch of the later generations, leaf or not. To engines, to shapes, loads, measures and
 * rails their switch ports are empty. Packets to them go where those to their switch go
 * (route/core/aside.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/types.h"
#include "util/mem.h"

#define TOPO_NONE UINT32_MAX
#define TOPO_PACE 256u

/* Where the cable of a switch port leads. Only cables whose both ends are up are here. */
struct topo_port {
	uint32_t sw;   /* peer switch; TOPO_NONE: none */
	uint32_t host; /* peer host; TOPO_NONE: none */
	/* Port number at the peer; without a peer: 0, or the other port of a loop cable. */
	uint8_t port;
	uint8_t vls : 4; /* number of data VLs that both ends of the cable have, 1..15 */
	/* set if slower or narrower than both ends support (avoid_throttled_links) */
	bool slow : 1;
	/* set if an end port that is set aside is here; `sw` and `host` are TOPO_NONE */
	bool aside : 1;
	/* Set if a cable is here that routes do not use, but that old tables may lead over. */
	bool left_out : 1;
	uint16_t rate; /* data rate of the cable as it runs, in units of 100 Mb/s; 0: not known */
	uint32_t left_sw; /* with left_out: peer switch; TOPO_NONE if that is left out as well */
};

struct topo_switch {
	guid_t guid;
	guid_t sysimg_guid;
	guid_t order_guid;         /* it is numbered as if this were its GUID; 0: its own */
	uint32_t first_port; /* topo->ports[first_port + p] is port p; entry 0 is unused */
	uint8_t n_ports;     /* external ports */
	lid_t lid;	     /* base LID of port 0; 0: none yet */
	uint8_t lmc;	     /* 0 unless enhanced port 0 with lmc_esp0 */
	/* LinearFDBCap: LIDs below it fit; 0: no table, so no route leads there. */
	lid_t lft_cap;
};

struct topo_host {
	guid_t guid; /* port GUID */
	guid_t node_guid;
	guid_t sysimg_guid;
	/* switch that it is connected to; TOPO_NONE: none (back to back, cable down) */
	uint32_t sw;
	uint8_t sw_port;
	uint8_t node_port; /* port number at the host */
	bool router;
	bool aside;    /* set if it is in topo->asides, and no host */
	bool gathered; /* set if its switch is left out here (route/core/tails.h) */
	lid_t lid;     /* base LID; 0: none yet */
	uint8_t lmc;
};

struct topo {
	_Atomic unsigned refs; /* atomic, as the worker takes and drops references, too */
	uint32_t n_switches, n_hosts, n_asides;
	struct topo_switch *switches;
	struct topo_host *hosts;
	struct topo_host *asides; /* end ports that are set aside, sorted by GUID */
	struct topo_port *ports;
	lid_t max_lid; /* highest LID in use, LMC ranges included; 0: none */
	/*
	 * Time that a cable takes for the same bytes, by index in `ports`: ratio to the median
	 * cable between switches, in units of TOPO_PACE; TOPO_PACE for other entries, and for
	 * cables of unknown rate. NULL: all cables between switches have one rate.
	 */
	uint32_t *paces;
	uint16_t median_rate; /* of cables between switches; 0: no rate is known */
	bool leaves_out;     /* some port is left_out */
	bool is_reordered;      /* some order GUID is that of another switch */
};

struct topo_builder;
struct topo_builder *topo_builder_new(void);
struct topo_builder *topo_builder_free(struct topo_builder *b);
FREEP(topo_builder_free, struct topo_builder)
/*
 * Adds to the builder, in any order; GUIDs must be unique and non-zero among switches and among end
 * ports. An end port with `aside` becomes one of topo->asides.
 */
void topo_add_switch(struct topo_builder *b, const struct topo_switch *sw);
void topo_add_host(struct topo_builder *b, const struct topo_host *host);
/*
 * Adds a cable between switches, in both directions; a loop cable (a == b_guid) has no peer. Cables
 * of a switch without a table (lft_cap 0) are left out, so that all paths go around it.
 */
void topo_add_link(struct topo_builder *b, guid_t a, uint8_t a_port, guid_t b_guid, uint8_t b_port);
/* Host `host` (port GUID) on port `sw_port` of switch `sw`. */
void topo_add_host_link(struct topo_builder *b, guid_t host, guid_t sw, uint8_t sw_port);
/* Sets the number of data VLs of cables without topo_set_port(), 1..15; 8 if not called. */
void topo_set_vls(struct topo_builder *b, unsigned vls);
/* The abilities of a switch port; a cable has those that both its ends have. */
struct topo_port_facts {
	uint8_t vls;   /* 1..15; 0: not known */
	bool slow;     /* as in struct topo_port */
	uint16_t rate; /* the same */
};
void topo_set_port(struct topo_builder *b, guid_t sw, uint8_t port, struct topo_port_facts facts);
/* Notes a cable to switch `peer` that carries packets, but is not to be used by routes. */
void topo_leave_out(struct topo_builder *b, guid_t sw, uint8_t port, guid_t peer);
/* Makes the topo, with one reference, and frees the builder. */
struct topo *topo_build(struct topo_builder *b);

/* Are switches, hosts, cables and LIDs the same? Cables that are left out are not compared. */
bool topo_is_same(const struct topo *a, const struct topo *b);

/*
 * `t` with the switches of `more` that it lacks, bare: without cables, end ports and LIDs; `t`
 * itself if it lacks none. The caller owns the reference.
 */
struct topo *topo_with_bare(const struct topo *t, const struct topo *more);
/* `t` with these order GUIDs, one per switch. The caller owns the reference. */
struct topo *topo_with_order(const struct topo *t, const guid_t *order);
/* `t`, which may be itself, with switches by their own GUIDs. The caller owns the reference. */
struct topo *topo_by_guid(const struct topo *t);
/* Has the switch no cable to another switch? */
bool topo_is_bare(const struct topo *t, uint32_t sw);

struct topo *topo_ref(const struct topo *t);
struct topo *topo_unref(const struct topo *t);
FREEP(topo_unref, struct topo)

uint32_t topo_find_switch(const struct topo *t, guid_t guid); /* index or TOPO_NONE */
uint32_t topo_find_host(const struct topo *t, guid_t port_guid);
/* The end port with this port GUID, host or set aside; NULL: none. */
const struct topo_host *topo_find_end(const struct topo *t, guid_t port_guid);
/* The end port at port `port` of switch `sw`, host or set aside; NULL: none. */
const struct topo_host *topo_end_at(const struct topo *t, uint32_t sw, unsigned port);
/* The switch whose port this index of topo->ports is. */
uint32_t topo_switch_with(const struct topo *t, uint32_t entry);

/* The number of end ports on each switch, and of those that have LIDs. The caller frees. */
uint32_t *topo_count_hosts(const struct topo *t);
uint32_t *topo_count_senders(const struct topo *t);
/* The median of `hosts` (topo_count_hosts()) over the switches with hosts; 0: no hosts. */
uint32_t topo_median_hosts(const struct topo *t, const uint32_t *hosts);
/*
 * Finds the stubs, a flag by switch: all cables of a stub lead to one other switch, which has more
 * neighbours; it has less than half of the median of hosts, or one where that is two; and at most
 * an eighth of the switches with hosts have one neighbour. Example: a leaf for management on one
 * spine. A switch that would be one without the stubs on it is one, too. Routes cannot change what
 * the cables of a stub carry together, so these are no measure for routes. If no other cables are
 * left, none is a stub. The caller frees.
 */
bool *topo_find_stubs(const struct topo *t);
/* Per entry of topo->ports: a cable between switches, none of which is a stub. The caller frees. */
bool *topo_find_counted(const struct topo *t);
/* Sets t->paces and t->median_rate from the rates of ports, once these are final. */
void topo_set_paces(struct topo *t);
/* The capacity of a channel in median cables. `paces`: topo->paces. */
static inline double topo_room(const uint32_t *paces, uint32_t entry)
{
	return paces ? (double)TOPO_PACE / paces[entry] : 1;
}
/* The load of `flows` on a channel, expressed in flows on a median cable. */
static inline uint32_t topo_load(const uint32_t *paces, uint32_t entry, uint32_t flows)
{
	uint64_t load;

	if (!paces)
		return flows;
	load = (uint64_t)flows * paces[entry] / TOPO_PACE;
	return load < UINT32_MAX ? (uint32_t)load : UINT32_MAX;
}
/* The number of LIDs of all switches and end ports, those set aside included. */
uint32_t topo_count_lids(const struct topo *t);
/* Per switch of `now`: the one with its GUID in `before`, or TOPO_NONE. The caller frees. */
uint32_t *topo_match_switches(const struct topo *now, const struct topo *before);
/*
 * Have equal numbers the same switch in both, with as many ports and as large a table? LIDs may
 * differ if a switch has none in one of them.
 */
bool topo_has_same_switches(const struct topo *a, const struct topo *b);
/* Sorts `switches`, in the order of their numbers, by GUID. */
void topo_sort_by_guid(const struct topo *t, uint32_t *switches, uint32_t n);
/*
 * Was the cable between switches at this port of `now` in `before`, at the same ports? `match`:
 * topo_match_switches().
 */
bool topo_had_cable(const struct topo *now, const struct topo *before, const uint32_t *match,
		    uint32_t sw, unsigned port);

static inline guid_t topo_order_guid(const struct topo_switch *sw)
{
	return sw->order_guid ? sw->order_guid : sw->guid;
}

/* Loops over the LIDs of a switch or host, as `uint32_t LID`. */
#define TOPO_EACH_LID(of, LID)                                                                     \
	for (uint32_t LID = (of)->lid, LID##_end = LID ? LID + (1u << (of)->lmc) : 0;              \
	     LID < LID##_end; LID++)

/* The number of entries of topo->ports: one per port of every switch, port 0 included. */
static inline uint32_t topo_n_entries(const struct topo *t)
{
	const struct topo_switch *last;

	if (!t->n_switches)
		return 0;
	last = &t->switches[t->n_switches - 1];
	return last->first_port + last->n_ports + 1u;
}

static inline const struct topo_port *topo_port(const struct topo *t, uint32_t sw, unsigned port)
{
	return &t->ports[t->switches[sw].first_port + port];
}

/* The switch behind a port of any number; TOPO_NONE: a host, the switch itself, or nothing. */
static inline uint32_t topo_behind(const struct topo *t, uint32_t sw, unsigned port)
{
	return port && port <= t->switches[sw].n_ports ? topo_port(t, sw, port)->sw : TOPO_NONE;
}

/* The index of the other end of a cable to a switch; TOPO_NONE: no such cable, or port 0. */
static inline uint32_t topo_peer(const struct topo *t, uint32_t entry)
{
	const struct topo_port *p = &t->ports[entry];

	return p->sw == TOPO_NONE ? TOPO_NONE : t->switches[p->sw].first_port + p->port;
}

/* Is this a loop cable, which leads back to the same switch? No route uses it. */
static inline bool topo_port_loops(const struct topo_port *p)
{
	return p->sw == TOPO_NONE && p->host == TOPO_NONE && !p->aside && p->port;
}
