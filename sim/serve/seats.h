// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ports that programs sit at: which umad files are open there, which holds issm and which wait
 * for it, and whether the device is there at all.
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
	unsigned device;  /* which device it was, if that is taken away and comes back */
	void (*ended)(void *owner, int error);
	void *owner;
};

struct seats *seats_new(struct sim *sim);
struct seats *seats_free(struct seats *s);

/* The seat at this port, made if need be. */
struct seat *seats_at(struct seats *s, int node, unsigned port);
bool seats_present(const struct seats *s, int node, unsigned device, unsigned port);
/* How a node is seen; see hosts.h. */
const struct host *seats_host(const struct seats *s, int node);
/* Makes it so: two devices, or one. Files that are open stay what they are. */
void seats_split(struct seats *s, int node, bool split);
void seats_set_ethernet(struct seats *s, int node, unsigned n);
void seats_set_gmp_lid(struct seats *s, int node, unsigned lid);
/* One of the two devices of a split node is taken away, or comes back. */
void seats_device_away(struct seats *s, int node, enum device device, bool away);

/* -ENXIO: the device is gone. The file is the caller's; seat_close() before ufile_free(). */
int seat_open(struct seat *seat, unsigned device, void (*readable)(void *owner), void *owner,
	      struct ufile **ret);
void seat_close(struct seat *seat, struct ufile *f);
void seat_unplug(struct seat *seat);
void seat_plug(struct seat *seat);

/* 0: taken. -EAGAIN: another program has it. -EINPROGRESS (with `wait`): in line. -ENXIO: gone. */
int issm_take(struct seat *seat, struct issm_wish *w, bool wait);
/* Out of the line, without `ended`. */
void issm_forget(struct issm_wish *w);
/* Given back; the next in line gets it. */
void issm_give(struct issm_wish *w);

/* Sums over all files there were. */
struct ufile_counts seats_counts(const struct seats *s);
