// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a new view means for those who registered: GIDs come into service and go out of it (traps 64
 * and 65, once per end port at the end of a heavy sweep), subscribers move.
 *
 * The first view, and the first one after standby, tells of every port: nobody knows what those who
 * subscribed to our predecessor have heard.
 */
#include "sa/guidinfo.h"
#include "sa/inform.h"
#include "sa/service.h"

/* An end port that others can reach. */
static bool in_service(const struct view *v, const struct view_port *p)
{
	return p->guid && p->lid && (view_is_switch(v, p) || p->state == IB_PORT_ACTIVE);
}

static bool has(const struct view *v, guid_t guid)
{
	uint32_t at = v ? view_port_of_guid(v, guid) : VIEW_NONE;

	return at != VIEW_NONE && in_service(v, &v->ports[at]);
}

/* What is in `v` and not in `other`. */
static void tell_of(struct sa *sa, enum ib_trap trap, const struct view *v,
		    const struct view *other)
{
	for (uint32_t i = 0; i < v->n_ports; i++) {
		const struct view_port *p = &v->ports[i];

		if (in_service(v, p) && !has(other, p->guid))
			reports_raise_gid(sa, trap, p->guid, v, i);
	}
}

void events_view_changed(struct sa *sa, const struct view *before, mono_t now)
{
	sa->now = now;
	reports_view_changed(sa);
	informs_view_changed(sa, before, now);
	services_view_changed(sa, before);
	if (sa->view && before)
		tell_of(sa, TRAP_GID_OUT_OF_SERVICE, before, sa->view);
	if (sa->view)
		tell_of(sa, TRAP_GID_IN_SERVICE, sa->view, before);
	alias_guids_view_changed(sa, before);
}
