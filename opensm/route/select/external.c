// SPDX-License-Identifier: BSD-2-Clause
/* Runs a plugin's engine like a built-in one: topo in, its rows out, every entry checked. */
#include "route/select/external.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "route/core/unassigned.h"
#include "util/mem.h"
#include "util/str.h"

#define NAME_MAX_LEN 31

bool external_name_is_good(const char *name)
{
	size_t len = name ? strlen(name) : 0;

	if (!len || len > NAME_MAX_LEN || !strcmp(name, "no_fallback"))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_' && name[i] != '-')
			return false;
	return true;
}

/* ---- the picture of the fabric --------------------------------------------------------------- */

/* `face` comes first: the plugin's pointer to it leads back to the job. */
struct picture {
	struct opensm_topology face;
	const struct route_job *job;
	struct opensm_topo_switch *switches;
	struct opensm_topo_host *hosts;
	struct opensm_topo_port *ports;
	struct arena memory;
};

static int is_unwanted(const struct opensm_topology *t)
{
	return route_is_cancelled(((const struct picture *)(const void *)t)->job);
}

static void draw_switches(struct picture *p, const struct topo *t)
{
	uint32_t n_ports = topo_n_entries(t);

	ARENA_ARRAY(&p->memory, p->switches, t->n_switches + 1);
	ARENA_ARRAY(&p->memory, p->ports, n_ports + 1);
	for (uint32_t i = 0; i < t->n_switches; i++) {
		const struct topo_switch *sw = &t->switches[i];

		p->switches[i] = (struct opensm_topo_switch){
			.guid = sw->guid,
			.system_guid = sw->sysimg_guid,
			.first_port = sw->first_port,
			.lid = sw->lid,
			.table_size = sw->lft_cap,
			.n_ports = sw->n_ports,
			.lmc = sw->lmc,
		};
	}
	for (uint32_t i = 0; i < n_ports; i++)
		p->ports[i] = (struct opensm_topo_port){
			.peer_switch = t->ports[i].sw,
			.peer_host = t->ports[i].host,
			.peer_port = t->ports[i].port,
		};
}

static void draw_hosts(struct picture *p, const struct topo *t)
{
	ARENA_ARRAY(&p->memory, p->hosts, t->n_hosts + 1);
	for (uint32_t i = 0; i < t->n_hosts; i++) {
		const struct topo_host *h = &t->hosts[i];

		p->hosts[i] = (struct opensm_topo_host){
			.port_guid = h->guid,
			.node_guid = h->node_guid,
			.system_guid = h->sysimg_guid,
			.at_switch = h->sw,
			.lid = h->lid,
			.at_port = h->sw_port,
			.node_port = h->node_port,
			.lmc = h->lmc,
			.is_router = h->router,
		};
	}
}

static struct picture *picture_new(const struct route_job *job, const struct topo *t)
{
	struct picture *p = xcalloc(1, sizeof(*p));

	p->job = job;
	draw_switches(p, t);
	draw_hosts(p, t);
	p->face = (struct opensm_topology){
		.size = sizeof(p->face),
		.n_switches = t->n_switches,
		.n_hosts = t->n_hosts,
		.switches = p->switches,
		.hosts = p->hosts,
		.ports = p->ports,
		.max_lid = t->max_lid,
		.cancelled = is_unwanted,
		.n_lanes = route_vls(job),
	};
	return p;
}

static ARENA_FREE(picture_free, struct picture)
FREEP(picture_free, struct picture)

/* ---- the plugin's tables --------------------------------------------------------------------- */

static bool leads_somewhere(const struct topo *t, uint32_t sw, unsigned port)
{
	return port && port <= t->switches[sw].n_ports &&
	       (topo_port(t, sw, port)->sw != TOPO_NONE ||
		topo_port(t, sw, port)->host != TOPO_NONE);
}

/* False and `why`: the row holds an impossible entry. `at`: unassigned_owners(). */
static bool tidy_row(struct routes *r, uint32_t sw, const uint32_t *at, char *why, size_t why_len)
{
	const struct topo_switch *s = &r->topo->switches[sw];
	unsigned end = s->lid ? s->lid + (1u << s->lmc) : 0;
	uint8_t *row = routes_row(r, sw);

	for (unsigned lid = 0; lid < r->row_size; lid++) {
		if (lid > r->top || at[lid] == TOPO_NONE || lid >= s->lft_cap)
			row[lid] = LFT_NO_PORT;
		else if (lid >= s->lid && lid < end)
			row[lid] = 0;
		else if (row[lid] != LFT_NO_PORT && !leads_somewhere(r->topo, sw, row[lid]))
			return route_refuse(
				why, why_len,
				"switch 0x%016llx sends LID %u out of port %u, where nothing is",
				(unsigned long long)s->guid, lid, row[lid]);
	}
	return true;
}

/* Takes the levels over as VLs. False and `why`: they are impossible. */
static bool take_vls(struct routes *r, const struct opensm_tables *tables, unsigned most,
		       char *why, size_t why_len)
{
	size_t n = (size_t)r->topo->n_switches * r->row_size;

	if (tables->lanes < 2)
		return true;
	if (tables->lanes > most)
		return route_refuse(why, why_len, "it wants %u VLs, and there are %u",
				    tables->lanes, most);
	for (size_t i = 0; i < n; i++)
		if (tables->levels[i] >= SL2VL_SLS)
			return route_refuse(why, why_len, "service level %u is beyond %u",
					    tables->levels[i], SL2VL_SLS - 1);
	r->lanes = sl2vl_new(r->topo, tables->lanes, SL2VL_BY_SWITCH_LID, r->row_size, 1);
	memcpy(r->lanes->sl, tables->levels, n);
	return true;
}

/* Rows of switches by GUID, as they are shown, become rows by order GUID. */
static void order_rows(uint8_t *rows, size_t size, const struct topo *shown, const struct topo *t)
{
	_cleanup_free_ uint32_t *from = topo_match_switches(t, shown);
	_cleanup_free_ uint8_t *was = xmemdup(rows, t->n_switches * size);

	for (uint32_t s = 0; s < t->n_switches; s++)
		memcpy(rows + s * size, was + from[s] * size, size);
}

static struct routes *compute(void *arg, const struct route_job *job, char *why, size_t why_len)
{
	const struct opensm_routing_engine *from = arg;
	_cleanup_(topo_unrefp) struct topo *shown = topo_by_guid(job->topo);
	_cleanup_(picture_freep) struct picture *p = picture_new(job, shown);
	_cleanup_(routes_unrefp) struct routes *r =
		routes_new(job->topo, from->name, job->topo->max_lid);
	_cleanup_free_ uint32_t *at = unassigned_owners(job->topo, r->top);
	_cleanup_free_ uint8_t *levels =
		xcalloc((size_t)job->topo->n_switches * r->row_size + 1, sizeof(*levels));
	struct opensm_tables tables = {
		.rows = r->lft, .row_size = r->row_size, .levels = levels,
	};
	char said[160] = "";
	int result = from->compute(from->arg, &p->face, &tables, said, sizeof(said));

	why[0] = '\0';
	if (route_is_cancelled(job))
		return route_refuse(why, why_len, "cancelled");
	if (result) {
		str_printable(said, sizeof(said), why, why_len);
		if (!why[0])
			snprintf(why, why_len, "it returned %d", result);
		return NULL;
	}
	if (shown != job->topo) {
		order_rows(r->lft, r->row_size, shown, job->topo);
		order_rows(levels, r->row_size, shown, job->topo);
	}
	for (uint32_t i = 0; i < r->topo->n_switches; i++)
		if (!tidy_row(r, i, at, why, why_len))
			return NULL;
	if (!take_vls(r, &tables, p->face.n_lanes, why, why_len))
		return NULL;
	return take(r);
}

struct route_engine external_engine(const struct opensm_routing_engine *from)
{
	return (struct route_engine){
		.name = from->name,
		.compute_with = compute,
		.arg = (void *)from, /* which compute() takes back as const */
	};
}
