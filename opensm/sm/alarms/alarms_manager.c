// SPDX-License-Identifier: BSD-2-Clause
/* Alarms about the manager, its peers, and the subnet as a whole. */
#include <inttypes.h>
#include <stdio.h>

#include "sm/alarms/alarms_internal.h"
#include "sm/sm_ledger.h"
#include "topo/rails/rails.h"

/* A master with another SM_Key does not stand by, and neither do we. */
static void look_at_rivals(struct look *l)
{
	struct sm_manager m;

	for (unsigned i = 0; l->sm->state == SM_MASTER && sm_manager_at(l->sm, i, &m); i++)
		if (m.heard && m.trust && m.state == SM_MASTER)
			alarm_add_own(l, ALARM_TWO_MASTERS, 1,
				      "two masters write to this fabric: stop one; the other is "
				      "%.160s, which %s",
				      m.where, m.trust);
}

static void look_at_own_port(struct look *l)
{
	if (sweep_port_is_down(l->sm))
		alarm_add_own(l, ALARM_OWN_PORT_DOWN, 0, "%s",
			      alarm_rows[ALARM_OWN_PORT_DOWN].cause);
	if (own_port_is_silent(l->sm->m.own_port))
		alarm_add_own(l, ALARM_OWN_PORT_SILENT, 0, "%s",
			      alarm_rows[ALARM_OWN_PORT_SILENT].cause);
}

static void look_at_ledger(struct look *l)
{
	char text[LEDGER_REASON_STRLEN];
	const char *fault = settle_fault(l->sm);

	if (sm_ledger_status(l->sm, text)[0])
		alarm_add_own(l, ALARM_LEDGER, 0, "%s", text);
	if (fault)
		alarm_add_own(l, ALARM_CHANGES_CLOSED, 0,
			      "partitions and marks cannot be changed at run time: %s", fault);
}

static void look_at_changes(struct look *l)
{
	struct sm_unserved is;

	if (l->before->oldest(l->sm, l->sm->now, &is) && (is.stuck || is.is_late))
		alarm_add_own(l, ALARM_STUCK, 0, "%s for %" PRId64 " s (%s): %s",
			      is.stuck ? "A CHANGE IS NOT SERVED" : "a change is not served yet",
			      is.age / MONO_S, is.why, is.cause);
	if (reload_is_held(l->sm))
		alarm_add_own(l, ALARM_CONF_REFUSED, 0, "%s", alarm_rows[ALARM_CONF_REFUSED].cause);
	if (l->sm->sweeping_off)
		alarm_add_own(l, ALARM_SWEEPING_OFF, 0, "%s", alarm_rows[ALARM_SWEEPING_OFF].cause);
}

static void look_at_routing(struct look *l)
{
	const char *failed = sm_no_routes(l->sm);
	uint64_t pairs = routing_unreachable(l->sm);
	char out[200];

	sm_engines_out(l->sm, out, sizeof(out));
	if (failed[0])
		alarm_add_own(l, ALARM_NO_TABLES_MADE, 0, "the last routing made no tables: %s",
			      failed);
	if (out[0])
		alarm_add_own(l, ALARM_ENGINES_OUT, 0, "routing goes on without %s", out);
	if (pairs)
		alarm_add_own(l, ALARM_UNREACHABLE, 0, "%" PRIu64 " pairs of ports have no path",
			      pairs);
	if (sm_rails(l->sm) && (sm_rails(l->sm)->wrong || sm_rails(l->sm)->crossing))
		alarm_add_own(l, ALARM_ON_OTHER_RAIL, sm_rails(l->sm)->wrong, "%.300s",
			      sm_rails_text(l->sm));
}

static void look_at_partitions(struct look *l)
{
	const struct pkey_plan *plan = partition_wanted(l->sm);
	uint16_t first;
	size_t n = tenants_all_limited(sm_tenants(l->sm), sm_partitions(l->sm), &first, 1);

	if (plan && plan->n_dropped)
		alarm_add_own(l, ALARM_CROWDED, (unsigned)plan->n_dropped,
			      "P_Keys do not fit into the tables of %zu ports", plan->n_dropped);
	if (n)
		alarm_add_own(l, ALARM_ALL_LIMITED, (unsigned)n,
			      "partitions without a full member: %zu, the first 0x%04x", n, first);
}

void alarms_look_at_manager(struct look *l)
{
	char differs[160];

	look_at_own_port(l);
	look_at_rivals(l);
	look_at_ledger(l);
	look_at_changes(l);
	if (sm_configured_otherwise(l->sm, differs, sizeof(differs)))
		alarm_add_own(l, ALARM_CONFIGURED_OTHERWISE, 0,
			      "another manager is configured otherwise: %s (a failover will "
			      "change the fabric)",
			      differs);
	if (l->sm->state != SM_MASTER)
		return;
	look_at_routing(l);
	look_at_partitions(l);
}
