/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routing engines from outside: what an event plugin (event_plugin.h) may register in create().
 *
 *   static int compute(void *arg, const struct opensm_topology *t, struct opensm_tables *ret,
 *                      char *why, size_t why_len) { ... return 0; }
 *
 *   static const struct opensm_routing_engine mine = {
 *           OPENSM_ROUTING_API, sizeof(mine), "mine", compute, NULL
 *   };
 *   opensm_api(sm)->register_engine(sm, &mine);
 *
 * From then on routing_engine (-R) may name it, alone or in a list: "mine,minhop",
 * "mine,no_fallback".
 *
 * compute() is a function from a picture of the fabric to forwarding tables. It runs in a child
 * process (a fork of the manager, which goes on serving), one call at a time. It may read its
 * arguments and whatever state it has, and must not call struct opensm_api. The same picture should
 * give the same tables, or hosts are disturbed for nothing.
 *
 * State that compute() changes is seen by later calls in the same child only, and never by
 * create(), report() or destroy(): a new child begins with the state of the manager's process. A
 * child lasts for one call or for many; it is replaced when the configuration changes, when it
 * dies, and whenever the manager sees fit. So state is good for a cache, and for nothing that must
 * last. Threads, files, sockets and locks of the plugin are not there in the child.
 *
 * A call may take seconds. Where it crashes, exits, needs more memory than a few copies of all
 * tables, or has no result in time (10 s, and more on large fabrics), the child is ended, the log
 * says so, and the next engine of the list has its turn; this one is asked again a minute later,
 * then ever more rarely. cancelled() is not 0 only where the manager computes in its own process
 * because the system allows it no other.
 *
 * The result is not believed but judged, like that of every engine: each end port must reach each
 * LID, nothing may go round for ever, and no cycle of channels and lanes may wait for itself.
 * Tables that fail are refused (unless allow_unsafe_routes is TRUE): the log says why, and the next
 * engine of the list has its turn, then auto, unless the list says no_fallback.
 *
 * A child that got next to no processor time in the first 2 s after its fork is replaced once, and
 * compute() runs again: a lock of a library may have been held at the moment of the fork.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OPENSM_ROUTING_API 1

#define OPENSM_NONE    UINT32_MAX /* no switch, no host */
#define OPENSM_NO_PORT 0xFF	  /* in a table: nothing leads there */

/*
 * Switches are numbered 0 to n_switches - 1 in the order of their GUIDs, hosts (end ports)
 * likewise.
 */
struct opensm_topo_switch {
	uint64_t guid, system_guid;
	uint32_t first_port; /* topology.ports[first_port + p] is port p; entry 0 is not used */
	uint16_t lid;	     /* of port 0; 0: none */
	/* LIDs below it fit into its table; 0: nothing can be routed through it */
	uint16_t table_size;
	uint8_t n_ports;
	uint8_t lmc;
};

/* One end of a cable that is up. At most one of the two is not OPENSM_NONE. */
struct opensm_topo_port {
	uint32_t peer_switch, peer_host;
	uint8_t peer_port;
};

/*
 * An end port. Aggregation nodes inside of switches are left out: the manager gives each the
 * entries of the LID of its switch, so a plugin that fills in none for switches leaves them without
 * a path.
 */
struct opensm_topo_host {
	uint64_t port_guid, node_guid, system_guid;
	uint32_t at_switch; /* OPENSM_NONE: on none */
	uint16_t lid;	    /* 0: none. It owns lid to lid + 2^lmc - 1 */
	uint8_t at_port;    /* of the switch */
	uint8_t node_port;  /* its own port number */
	uint8_t lmc;
	uint8_t is_router;
};

struct opensm_topology {
	size_t size; /* of this struct, as the manager knows it */
	uint32_t n_switches, n_hosts;
	const struct opensm_topo_switch *switches;
	const struct opensm_topo_host *hosts;
	const struct opensm_topo_port *ports;
	uint16_t max_lid; /* the highest one in use */
	/* Not 0: the result is not wanted any more; compute() may return whatever it likes. */
	int (*cancelled)(const struct opensm_topology *t);
	/* Data VLs that every cable between switches has and that may be used: 1..15. */
	unsigned n_lanes;
};

/*
 * What compute() fills: rows[(size_t)sw * row_size + lid] is the port through which switch `sw`
 * sends what is for `lid`. Everything is OPENSM_NO_PORT at first. What a switch does with its own
 * LIDs need not be said.
 */
struct opensm_tables {
	uint8_t *rows;
	size_t row_size; /* more than max_lid */
	/*
	 * Lanes, for engines that are free of deadlock only with several: levels[(size_t)sw *
	 * row_size + lid] is the service level, 0..15, of packets from hosts on switch `sw` to
	 * `lid`; hosts learn it when they ask for the path. On all cables they travel on VL (level
	 * mod lanes). All 0 at first, and `lanes` too: one lane.
	 */
	uint8_t *levels;
	unsigned lanes; /* up to topology.n_lanes */
};

struct opensm_routing_engine {
	unsigned api; /* OPENSM_ROUTING_API */
	size_t size;  /* of this struct */
	/*
	 * Up to 31 letters, digits, '-', '_'. The struct and the name stay as long as the plugin.
	 */
	const char *name;
	/*
	 * 0; else it cannot route this fabric, and `why` (a string of up to why_len bytes) may say
	 * why not.
	 */
	int (*compute)(void *arg, const struct opensm_topology *t, struct opensm_tables *ret,
		       char *why, size_t why_len);
	void *arg;
};

#ifdef __cplusplus
}
#endif
