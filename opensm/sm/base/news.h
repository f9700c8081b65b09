// SPDX-License-Identifier: BSD-2-Clause
/*
 * News of one machine for the others: events. A machine says what has happened, and does not know
 * which machines act on it: wires.def says that (event, from, to, effect). An event has had its
 * effect when the call returns.
 */
#pragma once

#include "sm/sm_internal.h"

enum news_kind {
#define WIRE(kind, ...) NEWS_##kind,
#include "sm/wires.def"
#undef WIRE
	NEWS_KINDS
};

struct news {
	enum news_kind kind;
	struct node *node;
	struct port *port;
	const char *text;
	const uint8_t *bytes;
	const struct routes *routes;
	const struct port *const *ports; /* `number` of them */
	const struct delta *delta;
	const struct conf *conf;
	guid_t guid;
	unsigned number;
	enum sweep_kind sweep;
	enum sm_state state;
	bool flag;
};

/* Example: tell_news(sm, NEWS_SWITCH, .node = n, .text = "trap 128: a link changed") */
#define tell_news(sm, what, ...)                                                                   \
	((sm)->tell((sm), &(const struct news){ .kind = (what), ##__VA_ARGS__ }))

static inline void want_sweep(struct sm *sm, enum sweep_kind kind, const char *why)
{
	tell_news(sm, NEWS_SWEEP_WANTED, .sweep = kind, .text = why);
}

static inline void want_sweep_now(struct sm *sm, enum sweep_kind kind, const char *why)
{
	tell_news(sm, NEWS_SWEEP_WANTED, .sweep = kind, .text = why, .flag = true);
}

static inline void tell_delta(struct sm *sm, const struct delta *d)
{
	if (d->kinds)
		tell_news(sm, NEWS_DELTA, .delta = d);
}

static inline void tell_switch(struct sm *sm, struct node *n, const char *why)
{
	tell_news(sm, NEWS_SWITCH, .node = n, .text = why);
}

static inline void tell_port(struct sm *sm, struct port *p, const char *why)
{
	tell_news(sm, NEWS_PORT, .port = p, .text = why);
}

static inline void tell_faults(struct sm *sm, unsigned n)
{
	tell_news(sm, NEWS_FAULT, .number = n);
}
