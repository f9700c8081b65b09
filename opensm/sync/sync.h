// SPDX-License-Identifier: BSD-2-Clause
/*
 * Want minus have, turned into transactions, stage by stage.
 *
 *   CLEAR   PortStateChange of switches whose ports were read before we could clear it
 *   TRIM    P_Keys that live ports hold and shall not: gone, before anybody gets one
 *   LANES   SL2VL and VL arbitration, where something is wanted of them (slvl.c says what holds meanwhile)
 *   DRAIN   LFT entries of LIDs that could loop between the old tables and the new: nowhere
 *   TABLES  LFT blocks that differ or are unknown, striped over all switches, once per epoch of the
 *           transition; a switch that takes none is asked with one block that leads nowhere whether
 *           it does now
 *   TOP     SwitchInfo: LinearFDBTop, LifeTimeValue
 *   LEFTOVERS  SL2VL and VL arbitration where nothing is wanted any more, and something still stands
 *   SPEED   ExtendedPortInfo: FDR10 on or off, on devices that have it
 *   PKEYS   P_Key tables of end ports, as wanted
 *   CHECKS  P_Key tables of the switch ports that face them
 *   GUIDS   alias GUIDs of end ports
 *   ARM     PortInfo: LID and parameters of every port; a port in INIT becomes ARMED in the same Set
 *   ACTIVE  ports that are ARMED at both ends
 *
 * A stage ends when everything it asked has ended. A node that stayed silent is left out of the
 * following stages and of no one else's. All writes of the daemon pass here, and every one asks
 * `may_write` first: a standby sends nothing.
 *
 * A port that is to be armed and does not hold the P_Keys and lanes it shall waits: no port becomes ACTIVE
 * with a wrong table. Partition enforcement is in the PortInfo that ARM writes, and is turned on only where
 * the switch port holds its table.
 *
 * What a device answers to a Set is an observation. Fields it did not keep are remembered with the
 * values that were wanted and not written again until those change.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/conf.h"
#include "fabric/fabric.h"
#include "mad/mad.h"
#include "plan/link.h"
#include "plan/pkey.h"
#include "plan/qos.h"
#include "route/routes.h"
#include "route/transition.h"

struct sync;

/* What the fabric should be. Borrowed references, held by the caller until the sync has ended. */
struct plan {
	const struct conf *conf;
	const struct routes *routes;
	const struct transition *transition; /* NULL: every order is good */
	/*
	 * P_Key tables of end ports (by GUID) and of the switch ports that face them. End ports that it
	 * does not know are left alone; NULL: so are all, enforcement bits included (policy keep).
	 */
	const struct pkey_plan *pkeys;
	const struct qos_plan *qos; /* of these routes; NULL: SLs and VLs are left alone */
	lid_t sm_lid;
	/*
	 * Which registry subnet administration keeps: end ports that registered with another one (or
	 * none) are asked to do it again, once.
	 */
	uint32_t registry;
};

#define GUID_BLOCK 8 /* GUIDs in one block of GUIDInfo */

/* What one run did. */
struct sync_outcome {
	unsigned sets;		 /* requests that were queued */
	unsigned timeouts;	 /* ended without an answer */
	unsigned refused;	 /* answered with a bad status */
	unsigned unstored_ports; /* ports that did not keep a field, newly noticed */
	link_fields unstored;	 /* which fields */
	struct port *unstored_example;
	unsigned
		unkept_tables; /* P_Key tables and GUID blocks not kept or refused, newly given up */
	struct port *unkept_example;
	uint16_t unkept_attr;
	unsigned unmapped;	   /* switches that need lanes, and say that they cannot map SLs */
	struct node *unmapped_example;
	struct node *failed_example; /* of timeouts or refused */
	uint16_t failed_attr, failed_status;
	unsigned ports_armed, ports_activated;
	unsigned ports_held; /* ARMED, and may_activate() said no */
	unsigned recovered;  /* switches that take forwarding tables again */
	unsigned tables_kept; /* blocks that stayed as they were, because another switch must change first */
};

struct sync_hooks {
	bool (*may_write)(void *arg);
	void (*ended)(void *arg, const struct sync_outcome *outcome); /* may start the next */
	/* NULL: always. A port that would carry packets along tables which are not right yet waits. */
	bool (*may_activate)(void *arg, const struct port *p);
	/* NULL: nobody asks. A Set or a question met a link lower than it was, which was `before`. */
	void (*link_fell)(void *arg, struct port *p, unsigned before);
	/* NULL: nobody asks. Block `value` of a forwarding table was written, or its top became `value`. */
	void (*table_written)(void *arg, const struct node *n, bool top, unsigned value);
	/* GUIDs that were written outside of a run did not arrive: another run is needed. */
	void (*unsettled)(void *arg);
	void *arg;
};

struct sync *sync_new(struct fabric *f, struct mad_engine *mad, const struct sync_hooks *hooks);
struct sync *sync_free(struct sync *s);

/*
 * A command: an effect sent once, outside of a run (clearing PortStateChange). Passes the same
 * authority; false if nothing may be written, then `on_done` is not called. `what->m_key` 0: the port's.
 */
bool sync_command(struct sync *s, struct port *p, const struct mad_request *what,
		  mad_done_fn on_done, void *owner, void *arg);

/*
 * A command: the link at `p` (its PortInfo is known) goes down and does not train again until somebody
 * enables the port. As sync_command().
 */
bool sync_switch_off(struct sync *s, struct port *p, mad_done_fn on_done, void *owner, void *arg);

/*
 * Alias GUIDs: what block `block` (0..31) of an end port's GUIDInfo shall hold; entry 0 of block 0 is
 * the port's own and never changed. Kept until told otherwise, whether the fabric knows the port or
 * not. Written at once (outside of runs, to a port that is up), or by the next run, and again after
 * a reboot of the port. All zero: aliases are taken away. NULL: nothing is wanted any more and nothing
 * is written (the port has lost all it held).
 */
void sync_want_guids(struct sync *s, guid_t port_guid, unsigned block,
		     const guid_t guids[GUID_BLOCK]);

/* Starts a run; the previous one must have ended. `ended` is called from sync_feed(). */
void sync_start(struct sync *s, const struct plan *plan);
/* Queues more work as far as the engine wants it and moves on to the next stage. Call after each mad_dispatch(). */
void sync_feed(struct sync *s);
/* Before fabric_remove_node(): ends its transactions. */
void sync_forget(struct sync *s, struct node *n);
/* Gives up a run without calling `ended`; its transactions are cancelled. */
void sync_stop(struct sync *s);
bool sync_running(const struct sync *s);
