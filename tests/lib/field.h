// SPDX-License-Identifier: BSD-2-Clause
/*
 * Multicast without a subnet manager: a simulated fabric whose state is read directly instead of
 * discovered, groups of hosts, the planner and the differ. Time jumps from event to event.
 */
#pragma once

#include <stdbool.h>

#include "fabric/fabric.h"
#include "sim/gen/gen.h"
#include "sim/sim.h"
#include "route/mcast/mcast.h"
#include "sync/mft.h"
#include "util/mem.h"

struct field_member {
	int host; /* node of the simulator */
	bool receive;
};

struct field_group {
	struct field_member *members;
	uint32_t n, cap;
	bool dirty;
};

struct field {
	struct sim *sim;
	int *hosts; /* nodes of the simulator */
	unsigned n_hosts;
	struct transport *tr;
	struct mad_engine *mad;
	struct fabric *fabric;
	struct topo *topo;
	struct mcast_planner *planner;
	struct mft_sync *sync;
	struct field_group *groups; /* group g has MLID 0xC000 + g */
	unsigned n_groups;
	bool may_write, may_write_top;
	bool may_replan;
	bool adopt;		 /* set if new groups are planned from the tables of switches */
	unsigned idles;		 /* number of times that the differ has finished */
	struct mft_outcome last; /* last outcome of the differ */
	unsigned planned;	 /* number of trees planned */
};

/* Takes over `net`; all ports are ACTIVE. The manager is on the first host. */
struct field *field_new(struct netfile *net, uint64_t seed, unsigned n_groups);
struct field *field_free(struct field *f);
FREEP(field_free, struct field)

/* Replaces the manager by one without knowledge; groups are passed to it again. */
void field_restart(struct field *f);

/* The nth host of the simulator. */
int field_host(const struct field *f, unsigned n);
unsigned field_hosts(const struct field *f);
void field_join(struct field *f, unsigned group, int host, bool receive);
void field_leave(struct field *f, unsigned group, int host);
bool field_is_member(const struct field *f, unsigned group, int host);
/* Plans changed groups and passes them to the differ. */
void field_plan(struct field *f);
/* The cable at this port dies, and the manager has read that: nothing else is read. */
void field_cable_dies(struct field *f, int node, unsigned port);
/* Mends the trees that lead over dead cables, and passes them to the differ, in a hurry. */
void field_mend(struct field *f);
/* Lets time pass until the differ has finished. */
void field_settle(struct field *f);
/* Lets `t` pass. */
void field_run(struct field *f, mono_t t);
/* A sweep: reads the state of the fabric, brings links up, plans trees, calls topology(). */
void field_sweep(struct field *f);

/* Does every connected member reach all receivers, once, and no other port? */
bool field_reaches(struct field *f, unsigned group);
bool field_all_reach(struct field *f);
/* Number of MFT Sets sent. */
uint64_t field_sets(const struct field *f);
/* Number of cells that differ between two images; images are freed by the caller. */
uint8_t *field_image(struct field *f);
unsigned field_cells_changed(const struct field *f, const uint8_t *before, const uint8_t *after);
