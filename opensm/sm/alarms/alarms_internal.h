// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of this room. */
#pragma once

#include "sm/alarms/alarms.h"
#include "sm/sm_internal.h"

/* A device that went, so that its alarm has a name. */
struct went {
	guid_t node, behind; /* behind: other end of its cable, as last met; 0: not known */
	uint8_t type;	     /* enum ib_node_type */
	mono_t at;	     /* time at which it went */
	char name[NODE_DESC_STRLEN];
};
/* Most devices that went and are remembered by name; later ones are named by their GUID. */
#define WENT_MAX 8192u

struct alarm_list {
	struct alarm *all; /* sorted by object */
	uint32_t n, cap;
	unsigned more[ALARM_CLASSES]; /* alarms beyond ALARMS_MAX */
};

struct alarms {
	alarms_oldest_fn *oldest;
	struct alarm_list list;	   /* as of the last look */
	uint32_t *order;	   /* indexes in `list`, the severest kinds first */
	bool has_looked, has_seen; /* has_seen: a look at the fabric as MASTER has ended */
	mono_t looked;		   /* time of the last look */
	uint64_t edits;		   /* fabric->edits at the last look at the fabric */
	/* set if links are looked at whose nodes did not change, as not all alarms are listed */
	bool look_at_all;
	int64_t since;	      /* time of the first look at the fabric, in seconds since 1970 */
	struct guidmap *went; /* node GUID -> struct went, owned; NULL: none */
};

/* Most alarms that a look keeps before those about one object become one. */
#define ALARMS_FOUND_MAX (4 * ALARMS_MAX)

/* A look under way. */
struct look {
	struct sm *sm;
	const struct alarms *before; /* alarms of the last look */
	const struct mark_table *marks;
	struct alarm_list found; /* unsorted, with several alarms about one object */
	struct alarm beyond;	 /* an alarm beyond ALARMS_FOUND_MAX: counted, and not kept */
	bool look_at_all;	 /* set if one alarm stands for all slow links */
	guid_t counted;		 /* switch that is gone whose hosts were counted last */
	unsigned hosts;		 /* their number */
	bool is_same;		 /* set if no device or cable has changed since the last look */
	uint32_t *peers_rate; /* by index of the node: rate of most of its cables; 1: no majority */
};

/* Adds an alarm, whose text is the cause of its kind, and which the caller may complete. */
struct alarm *alarm_add(struct look *l, enum alarm_kind kind, struct alarm_end at);
/* Adds an alarm about the manager or the subnet. */
void alarm_add_own(struct look *l, enum alarm_kind kind, unsigned n, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Adds an alarm about the cable of this port, or about the port if it has no cable. */
struct alarm *alarm_add_cable(struct look *l, enum alarm_kind kind, const struct port *p);
/* The object of an alarm about a device, and the port that it is behind. */
void alarm_name_node(const struct look *l, struct alarm *a);
void alarm_name_cable(const struct look *l, struct alarm *a);
void alarm_say(struct alarm *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const struct went *went_find(const struct alarms *s, guid_t node);
void went_forget(struct alarms *s, guid_t node);
/* Did an administrator take out this port, its device or its cable? */
bool alarm_is_planned(const struct look *l, struct alarm_end at);

void alarms_look_at_marks(struct look *l);   /* alarms_planned.c */
void alarms_look_at_manager(struct look *l); /* alarms_manager.c */
void alarms_look_at_fabric(struct look *l);  /* alarms_fabric.c */
void alarms_look_at_quality(struct look *l); /* alarms_links.c */
