/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event plugins: a shared object that the subnet manager loads and tells what happens.
 *
 *   opensm.conf    event_plugin_name NAME          loads libNAME.so at the start
 *                  event_plugin_options TEXT       whatever the plugin makes of it
 *
 * The object exports one variable, osm_event_plugin:
 *
 *   static void *create(struct opensm *sm) { ... return my_state; }      NULL: it is not wanted
 *   static void report(void *my_state, int event, void *what) { ... }    see enum opensm_event
 *   static void destroy(void *my_state) { ... }
 *
 *   struct opensm_event_plugin osm_event_plugin = {
 *           OPENSM_PLUGIN_VERSION, create, destroy, report
 *   };
 *
 * Build it as a shared object against this header alone, with nothing to link:
 *
 *   cc -shared -fPIC -o libmine.so mine.c
 *
 * The loader, the numbers of events and what comes with them are those of OpenSM's own interface;
 * the objects of OpenSM, of which its plugins read the members, are not: here they are asked,
 * through struct opensm_api.
 *
 * All functions of a plugin are called on the thread that serves the subnet, one at a time. While
 * one of them runs nothing else happens: traps wait, hosts wait. Hand work that takes long to a
 * thread of your own; a report() of more than 100 ms is logged with the plugin's name. (Routing
 * engines are different: routing_plugin.h.) Nothing is reported once the manager has been asked to
 * end; destroy() is called then, in the order of loading.
 *
 * A plugin runs with all the rights of the manager. So libNAME.so, and every folder above it, must
 * belong to root or to the user of the manager, and be writable for no other user; otherwise it is
 * not loaded. It is looked for where the dynamic linker looks. Each failure is logged, and the
 * manager starts without the plugin.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What `osm_version` must be, to the letter; a plugin is built again for another release. */
#define OPENSM_PLUGIN_VERSION "OpenSM 4.0.0"
/* Grows with what struct opensm_api has at its end; nothing in it ever moves. */
#define OPENSM_API 1

struct opensm; /* the manager: what create() gets, for the calls below */
struct opensm_routing_engine; /* routing_plugin.h */

struct opensm_event_plugin {
	const char *osm_version;
	/* The plugin's own state, handed to the other two. NULL: it does not want to be there. */
	void *(*create)(struct opensm *sm);
	void (*destroy)(void *self); /* may be NULL */
	void (*report)(void *self, int event, void *what); /* may be NULL */
};

/* Defined by the plugin. */
extern struct opensm_event_plugin osm_event_plugin;

/* ---- events ---- */

enum opensm_event {
	/* While perfmgr is on, for each port that was read. */
	OPENSM_EVENT_PORT_ERRORS = 0, /* const struct opensm_port_errors *, if some counter grew */
	OPENSM_EVENT_PORT_COUNTS = 1, /* const struct opensm_port_counts * */
	OPENSM_EVENT_PORT_SELECT = 2, /* never sent */
	OPENSM_EVENT_TRAP = 3,	      /* const uint8_t[80]: the Notice (13.4.8.2) in wire order */
	OPENSM_EVENT_SUBNET_UP = 4,   /* NULL; also after a sweep with errors */
	/*
	 * NULL. Around the reading of the fabric, by a sweep of the whole or of what changed. The
	 * order in one sweep is 5, 6, 7, 10 for each table, 4.
	 */
	OPENSM_EVENT_SWEEP_START = 5,
	OPENSM_EVENT_SWEEP_DONE = 6,
	/* no pointer, but 1: in a sweep; 2: nothing was read before */
	OPENSM_EVENT_ROUTES = 7,
	OPENSM_EVENT_STATE_CHANGE = 8,	/* NULL; we stand by now, or our port lost its link */
	OPENSM_EVENT_SA_DB_DUMPED = 9,	/* NULL; opensm-sa.dump, or what outlives a restart */
	OPENSM_EVENT_LFT_CHANGE = 10,	/* const struct opensm_lft_change * */
	OPENSM_EVENT_MAX = 11,

	/* Not known to OpenSM; for plugins that called opensm_api.want_all(). */
	OPENSM_EVENT_NODE = 100,    /* const struct opensm_node_event * */
	OPENSM_EVENT_LINK = 101,    /* const struct opensm_link_event * */
	OPENSM_EVENT_MANAGER = 102, /* const struct opensm_manager_event * */
	OPENSM_EVENT_STATE = 103,   /* const struct opensm_state_event * */
	OPENSM_EVENT_SWEEP = 104,   /* const struct opensm_sweep_event *, at the end of each */
};

/* All of this is the manager's, and ends with the call. GUIDs and LIDs are in host order. */
struct opensm_lft_change {
	const uint64_t *switch_guid; /* points to its node GUID */
	uint32_t flags;		     /* one of the two below */
	uint16_t top;		     /* the new LinearFDBTop */
	uint32_t block;		     /* 64 LIDs each */
};
#define OPENSM_LFT_TOP_CHANGED	 1u
#define OPENSM_LFT_BLOCK_CHANGED 2u

struct opensm_node_event {
	uint64_t node_guid, port_guid; /* of its first end port; 0: not known */
	const char *description;       /* printable */
	uint8_t type;		       /* 1 host, 2 switch, 3 router */
	uint8_t came;		       /* 1 came, 0 went */
};

struct opensm_link_event {
	uint64_t node_guid[2];
	uint8_t port[2];
	uint8_t up; /* 1 up, 0 down */
};

struct opensm_manager_event {
	uint64_t port_guid;
	uint8_t state; /* enum opensm_state */
	uint8_t priority;
	uint8_t gone;
	const char *text; /* where it is and what we make of it */
};

struct opensm_state_event {
	int from, to; /* enum opensm_state */
};

struct opensm_sweep_event {
	const char *kind; /* "heavy", "dirty", "light", "watch", "rerouting" */
	const char *why;
	uint32_t n_gets, n_sets, n_errors, milliseconds;
	uint8_t through; /* it went through to its end */
};

/* ---- what may be asked ---- */

enum opensm_state {
	OPENSM_NOT_ACTIVE = 0,
	OPENSM_DISCOVERING = 1,
	OPENSM_STANDBY = 2,
	OPENSM_MASTER = 3,
	OPENSM_NO_PORT_YET = -1, /* no port is open: there is no subnet to ask about */
};

struct opensm_counts {
	uint32_t nodes, switches;
	uint32_t ports_active;
	uint32_t heavy_sweeps, light_sweeps, dirty_sweeps;
	uint32_t last_errors; /* of the last sweep that set up the subnet */
	uint8_t up;	      /* it ended without errors */
};

struct opensm_node {
	uint64_t guid, system_guid;
	uint8_t type; /* 1 host, 2 switch, 3 router */
	uint8_t n_ports;
	char description[65]; /* printable, ends in NUL */
};

struct opensm_port {
	uint64_t guid;	    /* of end ports; 0 for external ports of switches */
	uint64_t peer_guid; /* node at the other end of the cable; 0: none is known */
	uint8_t peer_port;
	uint8_t state; /* PortState: 1 down, 2 init, 3 armed, 4 active */
	uint8_t lmc;
	uint16_t lid; /* base LID of end ports; 0: none */
};

enum opensm_log { OPENSM_LOG_ERROR = 1, OPENSM_LOG_INFO = 2, OPENSM_LOG_VERBOSE = 4 };

/* Only from create(), report() and destroy(). Strings are the manager's and end with the call. */
struct opensm_api {
	unsigned version; /* OPENSM_API of the manager */
	size_t size;	  /* of this struct, as the manager knows it */
	const char *(*program_version)(struct opensm *sm); /* "OpenSM 4.0.0" */
	const char *(*options)(struct opensm *sm);  /* event_plugin_options; NULL: not set */
	const char *(*instance)(struct opensm *sm); /* which of several on this machine */
	/* One line in the manager's log, with the plugin's name. */
	void (*log)(struct opensm *sm, enum opensm_log level, const char *text);
	/* report() is told of events from 100 on, too. */
	void (*want_all)(struct opensm *sm);
	int (*state)(struct opensm *sm); /* enum opensm_state */
	/* The following: 0, or -1 where there is no such thing. */
	int (*counts)(struct opensm *sm, struct opensm_counts *ret);
	int (*node)(struct opensm *sm, uint64_t node_guid, struct opensm_node *ret);
	int (*node_at)(struct opensm *sm, uint32_t n, struct opensm_node *ret); /* from 0 on */
	int (*port)(struct opensm *sm, uint64_t node_guid, uint8_t port, struct opensm_port *ret);
	/* The port through which a switch sends to a LID: 0 to 254, or -1. */
	int (*lft_entry)(struct opensm *sm, uint64_t switch_guid, uint16_t lid);
	/*
	 * From create() alone: a routing engine that routing_engine may name (routing_plugin.h). 0;
	 * -1: the name is taken or no name, or it is built for another interface; the log says
	 * which.
	 */
	int (*register_engine)(struct opensm *sm, const struct opensm_routing_engine *engine);
};

/* The first member of struct opensm; the rest is the manager's. */
struct opensm_head {
	const struct opensm_api *api;
};
static inline const struct opensm_api *opensm_api(const struct opensm *sm)
{
	return ((const struct opensm_head *)(const void *)sm)->api;
}

/* ---- counters of ports: events 0 and 1 ---- */

struct opensm_port_id {
	uint64_t node_guid;
	uint8_t port;
	char name[65]; /* description of the node */
};

/* What was counted since the last time. */
struct opensm_port_errors {
	struct opensm_port_id port;
	uint64_t symbol, link_recover, link_downed, rcv, rcv_remote_phys, rcv_switch_relay,
		xmit_discards, xmit_constraint, rcv_constraint, link_integrity, buffer_overrun,
		vl15_dropped, xmit_wait;
	int64_t seconds; /* since the last time */
};

struct opensm_port_counts {
	struct opensm_port_id port;
	uint64_t xmit_data, rcv_data, xmit_packets, rcv_packets, unicast_xmit_packets,
		unicast_rcv_packets, multicast_xmit_packets, multicast_rcv_packets;
	int64_t seconds;
};

#ifdef __cplusplus
}
#endif
