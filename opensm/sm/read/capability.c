// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compares PortInfo of a host port with itself, with the switch port at the other end, and with the
 * last answer. The ends of a cable are read one after the other, and the link may retrain in
 * between, so a difference between them must be seen in two sweeps in a row.
 */
#include "sm/read/capability.h"

#include <stdio.h>

#include "health/judge.h"
#include "ib/codes.h"
#include "sm/base/about.h"
#include "sm/base/events.h"
#include "sm/base/news.h"
#include "sm/read/discover_internal.h"

#define CAPABILITY_STRLEN 120
/* name of the kind of violation (trust/violations.h, which is a layer above) */
#define KIND_NAME	  "capability"
/* Number of sweeps in a row that must see a difference. */
#define ENDS_DIFFER_AFTER 2

enum { MTU_CODE_MAX = 5, VL_CODE_MAX = 5 };

static bool is_code(unsigned code, unsigned max)
{
	return code && code <= max;
}

/* Does the port report values that no port can have? */
static bool says_nonsense(const struct port *p, char ret[CAPABILITY_STRLEN])
{
	unsigned mtu = (unsigned)ib_get(p->info, PI_MTU_CAP);
	unsigned vls = (unsigned)ib_get(p->info, PI_VL_CAP);

	if (!is_code(mtu, MTU_CODE_MAX))
		snprintf(ret, CAPABILITY_STRLEN, "MTUCap %u, which is no MTU", mtu);
	else if (!is_code(vls, VL_CODE_MAX))
		snprintf(ret, CAPABILITY_STRLEN, "VLCap %u, which is no number of VLs", vls);
	else if (!p->node->partition_cap)
		snprintf(ret, CAPABILITY_STRLEN, "PartitionCap 0: room for no P_Key");
	else
		return false;
	return true;
}

/* Does the port report less than before? Hardware does not change while its link is up. */
static bool says_less(const struct port *p, const uint8_t *before, char ret[CAPABILITY_STRLEN])
{
	static const struct {
		const char *name;
		uint16_t offset, width;
	} caps[] = { { "MTUCap", PI_MTU_CAP, PI_MTU_CAP_W }, { "VLCap", PI_VL_CAP, PI_VL_CAP_W } };

	for (unsigned i = 0; i < ARRAY_SIZE(caps); i++) {
		uint64_t was = ib_bits_get(before, caps[i].offset, caps[i].width);
		uint64_t is = ib_bits_get(p->info, caps[i].offset, caps[i].width);

		if (is >= was)
			continue;
		snprintf(ret, CAPABILITY_STRLEN, "%s %u, and said %u before on the same link",
			 caps[i].name, (unsigned)is, (unsigned)was);
		return true;
	}
	return false;
}

static unsigned speed_of(const struct port *p)
{
	const struct port *speaker = node_is_switch(p->node) ? &p->node->ports[0] : p;

	return ib_link_speed(p->info, ib_speed_sets(speaker->known ? speaker->info : NULL), false);
}

/* Is the speed of the port certain? A device that refuses the modifier may hide extended speeds. */
static bool shows_speed(const struct port *p)
{
	return !p->node->no_ext_modifier && !p->ext_known;
}

/* Do width or speed of the two ends differ? */
static bool ends_differ(const struct port *p, char ret[CAPABILITY_STRLEN])
{
	const struct port *far = p->peer;
	unsigned here = ib_link_width(p->info), there = ib_link_width(far->info);

	if (here && there && here != there) {
		snprintf(ret, CAPABILITY_STRLEN, "link width %ux, and its switch port has %ux",
			 here, there);
		return true;
	}
	here = speed_of(p);
	there = speed_of(far);
	if (!here || !there || here == there || !shows_speed(p) || !shows_speed(far))
		return false;
	snprintf(ret, CAPABILITY_STRLEN,
		 "link speed %u.%u Gb/s a lane, and its switch port has %u.%u", here / 10,
		 here % 10, there / 10, there % 10);
	return true;
}

static bool has_switch_in_front(const struct port *p)
{
	return p->peer && p->peer->known && node_is_switch(p->peer->node) &&
	       port_state(p->peer) > IB_PORT_DOWN;
}

/* Has the difference been seen in enough sweeps in a row? */
static bool is_certain(const struct sm *sm, struct port *p)
{
	char why[CAPABILITY_STRLEN];

	if (!has_switch_in_front(p) || p->peer->seen != sm->sweep_no || !ends_differ(p, why)) {
		p->ends_differ = 0;
		return false;
	}
	if (p->ends_differ < ENDS_DIFFER_AFTER)
		p->ends_differ++;
	return p->ends_differ == ENDS_DIFFER_AFTER;
}

static void tell_fault(struct sm *sm, struct port *p, const char *why)
{
	char text[PLACE_STRLEN + CAPABILITY_STRLEN + 120], where[PLACE_STRLEN];

	tell_news(sm, NEWS_VIOLATION, .number = VIOLATION_CAPABILITY, .port = p);
	tell_news(sm, NEWS_BAD_ANSWER, .port = p, .number = HEALTH_ILLEGAL);
	if (told_holds(&p->logged, TOLD_CAPABILITY) ||
	    !log_allow(&sm->m.discover->claim_log, sm->now, &(unsigned){ 0 }))
		return;
	told_first(&p->logged, TOLD_CAPABILITY);
	snprintf(text, sizeof(text),
		 "%s: says %s; multicast joins that this does not suffice for are refused, no "
		 "group is lowered for it",
		 fabric_place_str(p, where), why);
	log_on(about_port(LOG_ID_CAPABILITY, p), LOGB_ERROR, "%s", text);
	event_security(sm, KIND_NAME, p->guid, p->lid, text);
}

void capability_read(struct sm *sm, struct port *p, const uint8_t *before)
{
	char why[CAPABILITY_STRLEN];
	bool certain;

	if (node_is_switch(p->node) || port_state(p) <= IB_PORT_DOWN || sm->state != SM_MASTER)
		return;
	certain = is_certain(sm, p);
	if (says_nonsense(p, why) || (before && says_less(p, before, why)) ||
	    (certain && ends_differ(p, why)))
		tell_fault(sm, p, why);
}
