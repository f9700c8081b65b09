// SPDX-License-Identifier: BSD-2-Clause
/* Families of partitions at run time. */
#include "metrics/metrics_internal.h"
#include "util/mem.h"

/* Most ports looked at for pending members, as a scrape runs on the main thread. */
#define PENDING_LOOKED_AT 65536

static const char *const ends[SM_TENANCY_ENDS] = {
	[SM_TENANCY_DONE] = "done",
	[SM_TENANCY_REFUSED] = "refused",
	[SM_TENANCY_NO_ROOM] = "no_room",
	[SM_TENANCY_NOT_MASTER] = "not_master",
	[SM_TENANCY_CLOSED] = "closed",
	[SM_TENANCY_NO_STANDBY] = "no_standby",
	[SM_TENANCY_BUSY] = "busy",
	[SM_TENANCY_UNCONFIRMED] = "unconfirmed",
};

void metrics_take_tenants(struct metrics *m, const struct sm *sm)
{
	const struct tenants *t = sm_tenants(sm);
	struct metrics_tenants *to = &m->tenants;
	size_t at = 0;
	guid_t guid;

	while (tenants_at(t, to->n_partitions))
		to->n_partitions++;
	to->n_members = tenants_members(t);
	to->generation = tenants_generation(t);
	to->closed = sm_tenancy_closed(sm) != NULL;
	for (unsigned i = 0; i < SM_TENANCY_ENDS; i++)
		to->ends[i] = sm_tenancy_ended(sm, (enum sm_tenancy_end)i);
	if (m->state != SM_MASTER)
		return;
	for (unsigned n = 0; n < PENDING_LOOKED_AT && (guid = tenants_each_port(t, &at)); n++)
		to->n_pending += sm_tenancy_pending(sm, guid) != NULL;
}

void metrics_tenants(const struct metrics *m, struct metrics_text *t)
{
	const struct metrics_tenants *from = &m->tenants;

	metric_gauge(t, "opensm_tenant_partitions", "Partitions that were made at run time",
		     (double)from->n_partitions);
	metric_gauge(t, "opensm_tenant_members", "Members of all of them", (double)from->n_members);
	metric_gauge(t, "opensm_tenant_pending",
		     "Ports among them whose P_Keys are not on the device yet; 65536 are looked at",
		     (double)from->n_pending);
	metric_gauge(t, "opensm_tenant_generation", "Generation of the table of partitions",
		     (double)from->generation);
	metric_gauge(t, "opensm_tenant_closed", "The table cannot be changed; the log says why",
		     from->closed);
	metric_family(t, "opensm_tenant_changes_total", METRIC_COUNTER,
		      "Changes that were asked for, by how they ended");
	for (unsigned i = 0; i < ARRAY_SIZE(ends); i++) {
		metric_labelled(t, "end", ends[i], from->ends[i]);
	}
}
