// SPDX-License-Identifier: BSD-2-Clause
/*
 * Effects of a new view on registrations: GIDs come into service and leave it (traps 64 and 65,
 * once per end port at the end of a heavy sweep), and subscribers may have moved. The first view,
 * also after standby, raises trap 64 for every port, as the Reports of the former manager are
 * unknown.
 */
#include "sa/guidinfo.h"
#include "sa/notice/inform.h"
#include "sa/service.h"

/* Can other ports reach this end port? */
static bool is_reachable(const struct view *v, const struct view_port *p)
{
	return p->guid && p->lid && (view_is_switch(v, p) || p->state == IB_PORT_ACTIVE);
}

static bool is_in_service(const struct view *v, guid_t guid)
{
	uint32_t at = v ? view_port_of_guid(v, guid) : VIEW_NONE;

	return at != VIEW_NONE && is_reachable(v, &v->ports[at]);
}

/* Raises a trap for each GID that is in service in `v` and not in `other`. */
static void raise_for_gids(struct sa *sa, enum ib_trap trap, const struct view *v,
			   const struct view *other)
{
	for (uint32_t i = 0; i < v->n_ports; i++) {
		const struct view_port *p = &v->ports[i];

		if (is_reachable(v, p) && !is_in_service(other, p->guid))
			reports_raise_gid(sa, trap, p->guid, v, i);
	}
}

void events_view_changed(struct sa *sa, const struct view *before, mono_t now)
{
	sa->now = now;
	reports_view_changed(sa);
	informs_view_changed(sa, before);
	services_view_changed(sa, before);
	if (sa->view && before)
		raise_for_gids(sa, TRAP_GID_OUT_OF_SERVICE, before, sa->view);
	if (sa->view)
		raise_for_gids(sa, TRAP_GID_IN_SERVICE, sa->view, before);
	alias_guids_view_changed(sa, before);
}
