// SPDX-License-Identifier: BSD-2-Clause
/*
 * Multicast without a subnet manager around it: a simulated fabric whose facts are looked up
 * instead of discovered, groups of hosts, the planner and the differ. Time jumps from event to
 * event.
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
	bool adopt;		 /* new groups are planned on what switches hold */
	unsigned idles;		 /* times the differ said it was done */
	struct mft_outcome last; /* what it said */
	unsigned planned;	 /* trees planned */
};

/* Takes over `net`; every port is ACTIVE. The manager sits on the first host. */
struct field *field_new(struct netfile *net, uint64_t seed, unsigned n_groups);
struct field *field_free(struct field *f);
FREEP(field_free, struct field)

/* A manager that knows nothing of the one before takes its place; groups are told to it anew. */
void field_restart(struct field *f);

/* The nth host of the simulator. */
int field_host(const struct field *f, unsigned n);
unsigned field_hosts(const struct field *f);
void field_join(struct field *f, unsigned group, int host, bool receive);
void field_leave(struct field *f, unsigned group, int host);
bool field_is_member(const struct field *f, unsigned group, int host);
/* Plans groups that changed and tells the differ. */
void field_plan(struct field *f);
/* Lets time pass until the differ is done. */
void field_settle(struct field *f);
/* Lets `t` pass. */
void field_run(struct field *f, mono_t t);
/* A sweep: facts as they are now, links brought up, trees planned, topology() told. */
void field_sweep(struct field *f);

/*
 * Does every member that is connected to the switches reach all receivers, once, and no other port?
 */
bool field_reaches(struct field *f, unsigned group);
bool field_all_reach(struct field *f);
/* MFT Sets that the fabric has seen. */
uint64_t field_sets(const struct field *f);
/* Cells whose contents differ between two images; an image is the caller's to free. */
uint8_t *field_image(struct field *f);
unsigned field_cells_changed(const struct field *f, const uint8_t *before, const uint8_t *after);
