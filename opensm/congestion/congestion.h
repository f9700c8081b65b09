// SPDX-License-Identifier: BSD-2-Clause
/*
 * The manager of congestion control (IBA annex A10): gives switches and hosts the settings that
 * options ask for, gives or takes CC_Keys, and reads which flows switches mark.
 *
 *   port:  QUEUED --a slot is free--> ASKED --answers--> QUEUED ... --nothing left--> SETTLED
 *             ^                         |---four timeouts in a row--> SILENT
 *             |                         \---class refused-----------> UNSUPPORTED
 *             \---link trained anew, other options; not SILENT, UNSUPPORTED: heavy sweep
 *              \--SILENT only: in 5 minutes, then after twice that time, up to 80 minutes
 *
 * A silent port that is asked again gets one question, with the next of the keys that it may have;
 * of these so many go out a second, however many ports are silent.
 *
 * Settings are cells as others: read, compared, and written where they differ. One that a device
 * rounds or refuses is written once, until something else is wanted or the port trained anew.
 *
 * Only while we are MASTER and congestion_control is TRUE; else nothing is sent, and nothing kept.
 * Reads no clock and sends nothing but GMPs through the MAD engine that it is given. Main thread
 * only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/conf.h"
#include "fabric/fabric.h"
#include "keys/key_ring.h"
#include "mad/mad.h"
#include "util/mono.h"

struct cc;

enum cc_state { CC_QUEUED, CC_ASKED, CC_SETTLED, CC_SILENT, CC_UNSUPPORTED, CC_STATES };

/* The surroundings of the manager at a dispatch. */
struct cc_place {
	const struct fabric *fabric; /* NULL: there is no manager, or it is not MASTER */
	struct mad_engine *mad;
	const struct conf *conf;
	const struct key_ring *keys; /* NULL or empty: ports have no keys of their own */
	/* Returns the SL of the path to a LID. NULL: SL 0. */
	uint8_t (*sl_to)(const void *arg, lid_t lid);
	const void *sl_arg;
	mono_t now;
};

/* A flow whose packets a switch marked, or that a host slowed down. */
struct cc_flow {
	lid_t from, to;
	uint8_t sl, events; /* events: number of times in the log */
};
#define CC_FLOWS 15

struct cc_port {
	guid_t guid; /* port GUID; of a switch that of port 0 */
	lid_t lid;
	bool is_switch;
	enum cc_state state;
	unsigned rounded, refused; /* settings that it rounded; settings that it refused */
	bool cut;		   /* set if its control table has too few blocks */
	bool has_key, key_right;   /* has_key: a CC_Key; key_right: the wanted one */
	uint16_t key_violations;   /* number of wrong keys that it has met */
	uint64_t marks;		   /* events in its log since it was first read */
	/* ports of a switch that marked packets: bit n is bit n % 8 of [n / 8] */
	uint8_t marked[32];
	struct cc_flow flows[CC_FLOWS]; /* flows of the last log that was not empty */
	unsigned n_flows;
	mono_t flows_at; /* time at which that log was read */
};

struct cc_status {
	bool on;
	unsigned ports[CC_STATES]; /* number of ports by state */
	unsigned outstanding, rounded, refused, cut, with_key, wrong_key;
	uint64_t n_gets, n_sets, timeouts; /* numbers since the start */
	uint64_t violations, marks;	   /* sums over the known ports; marks: of switches */
};

/* The settings of links of one rate, from options and cc_profile; `sl` 0 is shown for hosts. */
struct cc_rate {
	unsigned rate; /* tenths of Gb/s */
	unsigned hosts, switch_ports;
	unsigned threshold, packet_size, marking_rate; /* for switch ports */
	unsigned timer, increase;		       /* for hosts */
};
#define CC_RATES 25

/* The settings that are the same for all rates. */
struct cc_slow_down {
	const char *profile; /* value of cc_profile */
	unsigned entries;    /* entries of the control table, if a device has room for them */
	unsigned longest;    /* delay of the last entry, in packet times */
	/* number of hosts that may send to one; 0: the table does not depend on it */
	unsigned incast;
	char *port_settings; /* cc_sw_port_cong_setting, to be freed; NULL: not set */
	unsigned spared_sls; /* bit n: SL n is never slowed down */
};

struct cc *cc_new(void);
struct cc *cc_free(struct cc *cc); /* NULL is fine; returns NULL */

/* Called after a sweep: ports may have come, gone, or trained anew. `heavy`: all are read again. */
void cc_sweep_ended(struct cc *cc, bool heavy);
/* Called when cc_next() has come, a sweep has ended, or the configuration has changed. */
void cc_dispatch(struct cc *cc, const struct cc_place *place);
mono_t cc_next(const struct cc *cc); /* MONO_NEVER: nothing to do */
/* Is it on, and is every port as wanted, or given up? */
bool cc_is_settled(const struct cc *cc);
/* Takes a GMP of class 0x21: an answer, or a request that returned unanswered. */
void cc_receive(struct cc *cc, struct transport_event *ev, const struct cc_place *place);

/* Fills in the status; O(ports). */
void cc_status(const struct cc *cc, struct cc_status *ret);
/* Fills in the rates of links with settings, ascending; returns their number. O(ports). */
unsigned cc_rates(const struct cc *cc, struct cc_rate ret[CC_RATES]);
/* Fills in the settings of the control table; only while it is on. */
void cc_slow_down(const struct cc *cc, struct cc_slow_down *ret);
/* The n-th port by GUID; NULL: no more. Valid until the next call with a non-const `cc`. */
const struct cc_port *cc_port_at(struct cc *cc, unsigned n);
const struct cc_port *cc_port_of_lid(const struct cc *cc, lid_t lid);
