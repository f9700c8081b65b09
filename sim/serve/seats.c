// SPDX-License-Identifier: BSD-2-Clause
/* Ports with programs at them; see seats.h. Few have any, so they are a list. */
#include "sim/serve/seats.h"

#include <errno.h>

#include "sim/agent.h"
#include "util/mem.h"

struct seat {
	struct seat *next;
	struct seats *all;
	int node;
	unsigned port;
	bool gone;
	unsigned device;          /* number of times that it came back */
	struct issm_wish *holder;
	struct issm_wish *line;   /* first come, first served */
	struct ufile **files;
	size_t n_files, cap_files;
};

struct seats {
	struct sim *sim;
	struct seat *first;
	struct host *hosts;
	struct ufile_counts past; /* counts of closed files */
};

struct seats *seats_new(struct sim *sim)
{
	struct seats *s = xcalloc(1, sizeof(*s));

	s->sim = sim;
	return s;
}

struct seats *seats_free(struct seats *s)
{
	while (s && s->first) {
		struct seat *seat = s->first;

		s->first = seat->next;
		free(seat->files);
		free(seat);
	}
	if (s)
		hosts_free(s->hosts);
	free(s);
	return NULL;
}

static struct seat *find(const struct seats *s, int node, unsigned port)
{
	struct seat *seat = s->first;

	while (seat && (seat->node != node || seat->port != port))
		seat = seat->next;
	return seat;
}

struct seat *seats_at(struct seats *s, int node, unsigned port)
{
	struct seat *seat = find(s, node, port);

	if (seat)
		return seat;
	seat = xcalloc(1, sizeof(*seat));
	seat->all = s;
	seat->node = node;
	seat->port = port;
	seat->next = s->first;
	s->first = seat;
	return seat;
}

const struct host *seats_host(const struct seats *s, int node)
{
	return host_of(s->hosts, node);
}

bool seats_present(const struct seats *s, int node, unsigned device, unsigned port)
{
	const struct seat *seat = find(s, node, port);
	const struct host *h = seats_host(s, node);

	if (device >= DEVICE_ETHERNET)
		return true;
	if ((seat && seat->gone) || h->away[device])
		return false;
	return device == DEVICE_MAIN || h->split;
}

void seats_split(struct seats *s, int node, bool split)
{
	host_make(&s->hosts, node)->split = split;
}

void seats_set_ethernet(struct seats *s, int node, unsigned n)
{
	host_make(&s->hosts, node)->ethernet = n;
}

void seats_set_gmp_lid(struct seats *s, int node, unsigned lid)
{
	host_make(&s->hosts, node)->gmp_lid = lid;
}

/* ---- umad files ---- */

static enum ufile_takes takes(const struct seat *seat, unsigned device)
{
	if (device >= DEVICE_ETHERNET)
		return UFILE_NOTHING;
	if (!seats_host(seat->all, seat->node)->split)
		return UFILE_ALL;
	return device == DEVICE_SMI ? UFILE_SMPS : UFILE_GMPS;
}

int seat_open(struct seat *seat, unsigned device, void (*readable)(void *owner), void *owner,
	      struct ufile **ret)
{
	if (!seats_present(seat->all, seat->node, device, seat->port))
		return -ENXIO;
	GROW(seat->files, seat->n_files + 1, seat->cap_files);
	*ret = ufile_new(seat->all->sim, seat->node, seat->port, readable, owner);
	ufile_limit(*ret, takes(seat, device));
	seat->files[seat->n_files++] = *ret;
	return 0;
}

static void add_counts(struct ufile_counts *to, const struct ufile_counts *c)
{
	to->sent += c->sent;
	to->received += c->received;
	to->returned += c->returned;
	to->dropped += c->dropped;
}

void seat_close(struct seat *seat, struct ufile *f)
{
	for (size_t i = 0; i < seat->n_files; i++)
		if (seat->files[i] == f) {
			add_counts(&seat->all->past, ufile_counts(f));
			seat->files[i] = seat->files[--seat->n_files];
			return;
		}
}

struct ufile_counts seats_counts(const struct seats *s)
{
	struct ufile_counts sum = s->past;

	for (const struct seat *seat = s->first; seat; seat = seat->next)
		for (size_t i = 0; i < seat->n_files; i++)
			add_counts(&sum, ufile_counts(seat->files[i]));
	return sum;
}

/* ---- issm ---- */

static void hold(struct seat *seat, struct issm_wish *w)
{
	seat->holder = w;
	w->next = NULL;
	agent_port_issm(seat->all->sim, seat->node, seat->port, true);
}

int issm_take(struct seat *seat, struct issm_wish *w, bool wait)
{
	struct issm_wish **end = &seat->line;

	if (seat->gone)
		return -ENXIO;
	w->seat = seat;
	w->device = seat->device;
	w->next = NULL;
	if (!seat->holder) {
		hold(seat, w);
		return 0;
	}
	if (!wait)
		return -EAGAIN;
	while (*end)
		end = &(*end)->next;
	*end = w;
	return -EINPROGRESS;
}

void issm_forget(struct issm_wish *w)
{
	for (struct issm_wish **at = &w->seat->line; *at; at = &(*at)->next)
		if (*at == w) {
			*at = w->next;
			return;
		}
}

void issm_give(struct issm_wish *w)
{
	struct seat *seat = w->seat;
	struct issm_wish *next = seat->line;

	if (seat->holder != w || seat->device != w->device)
		return;
	seat->holder = NULL;
	if (next)
		seat->line = next->next;
	agent_port_issm(seat->all->sim, seat->node, seat->port, false);
	if (!next)
		return;
	hold(seat, next);
	next->ended(next->owner, 0);
}

/* ---- the device ---- */

static void move_cable(struct seat *seat, int (*how)(struct sim *sim, int node, unsigned port))
{
	/* Port 0 of a switch has none. */
	if (seat->port > 0)
		how(seat->all->sim, seat->node, seat->port);
}

static void void_issm(struct seat *seat)
{
	struct issm_wish *w;

	seat->device++;
	seat->holder = NULL;
	agent_port_issm(seat->all->sim, seat->node, seat->port, false);
	while ((w = seat->line)) {
		seat->line = w->next;
		w->ended(w->owner, -ENXIO);
	}
}

void seat_unplug(struct seat *seat)
{
	if (seat->gone)
		return;
	seat->gone = true;
	void_issm(seat);
	for (size_t i = 0; i < seat->n_files; i++)
		ufile_unplug(seat->files[i]);
	move_cable(seat, sim_link_down);
}

void seats_device_away(struct seats *s, int node, enum device device, bool away)
{
	struct host *h = host_make(&s->hosts, node);
	const enum ufile_takes what = device == DEVICE_SMI ? UFILE_SMPS : UFILE_GMPS;
	bool taken = away && !h->away[device];

	h->away[device] = away;
	for (struct seat *seat = s->first; seat && taken; seat = seat->next) {
		if (seat->node != node)
			continue;
		if (device == DEVICE_SMI)
			void_issm(seat);
		for (size_t i = 0; i < seat->n_files; i++)
			if (ufile_takes(seat->files[i]) == what)
				ufile_unplug(seat->files[i]);
	}
}

void seat_plug(struct seat *seat)
{
	if (!seat->gone)
		return;
	seat->gone = false;
	move_cable(seat, sim_link_up);
}
