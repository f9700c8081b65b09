// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ports that programs use: which umad files are open there, which program holds issm and which
 * wait for it, and whether the device exists.
 *
 *   PRESENT --unplug: files die, issm is void, the cable falls--> GONE --plug--> PRESENT
 *
 * Of a split node each of the two devices may be away for itself; no cable falls then.
 */
#pragma once

#include "sim/serve/hosts.h"
#include "sim/serve/ufile.h"

struct seats;
struct seat;

/*
 * A program that waits for issm. `ended` is called once: 0 it has issm, -errno it will not get it.
 */
struct issm_wish {
	struct issm_wish *next;
	struct seat *seat;
	unsigned device;  /* number of the device, in case it is removed and comes back */
	void (*ended)(void *owner, int error);
	void *owner;
};

struct seats *seats_new(struct sim *sim);
struct seats *seats_free(struct seats *s);

/* The seat of this port, created if necessary. */
struct seat *seats_at(struct seats *s, int node, unsigned port);
bool seats_present(const struct seats *s, int node, unsigned device, unsigned port);
/* The devices of a node; see hosts.h. */
const struct host *seats_host(const struct seats *s, int node);
/* Changes the node to two devices, or one. Open files are not changed. */
void seats_split(struct seats *s, int node, bool split);
void seats_set_ethernet(struct seats *s, int node, unsigned n);
void seats_set_gmp_lid(struct seats *s, int node, unsigned lid);
/* Removes one of the two devices of a split node, or brings it back. */
void seats_device_away(struct seats *s, int node, enum device device, bool away);

/* -ENXIO: the device is gone. The file is the caller's; seat_close() before ufile_free(). */
int seat_open(struct seat *seat, unsigned device, void (*readable)(void *owner), void *owner,
	      struct ufile **ret);
void seat_close(struct seat *seat, struct ufile *f);
void seat_unplug(struct seat *seat);
void seat_plug(struct seat *seat);

/*
 * 0: it has issm. -EAGAIN: another program has it. -EINPROGRESS (with `wait`): it waits. -ENXIO:
 * the device is gone.
 */
int issm_take(struct seat *seat, struct issm_wish *w, bool wait);
/* Ends the wait without `ended`. */
void issm_forget(struct issm_wish *w);
/* Releases issm; the next waiting program gets it. */
void issm_give(struct issm_wish *w);

/* Sums over all files that were ever open. */
struct ufile_counts seats_counts(const struct seats *s);
