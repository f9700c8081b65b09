// SPDX-License-Identifier: BSD-2-Clause
/*
 * From the list files of the configuration to the options of a routing job. Ownership of the arrays
 * moves from conf/ to here; conf_guid_port and route_guid_port have one shape, checked below.
 */
#include "sm/route_lists.h"

#include <stddef.h>
#include <string.h>

#include "conf/lists.h"
#include "util/mem.h"

_Static_assert(
	sizeof(struct conf_guid_port) == sizeof(struct route_guid_port) &&
		offsetof(struct conf_guid_port, guid) == offsetof(struct route_guid_port, guid) &&
		offsetof(struct conf_guid_port, port) == offsetof(struct route_guid_port, port) &&
		offsetof(struct conf_guid_port, weight) == offsetof(struct route_guid_port, weight),
	"one shape on both sides of the layer border");

static void take_findings(struct route_report *report, struct conf_report *found)
{
	for (size_t i = 0; i < found->n && report->n_notes < ROUTE_MAX_NOTES; i++) {
		const struct conf_finding *f = &found->findings[i];

		report->notes[report->n_notes++] =
			f->file && f->line
				? xasprintf("%s:%u:%u: %s", f->file, f->line, f->column, f->text)
				: xstrdup(f->text);
	}
	conf_report_clear(found);
}

static struct route_guid_port *copy_ports(const struct conf_guid_ports *from)
{
	return from->n ? xmemdup(from->items, from->n * sizeof(struct route_guid_port)) : NULL;
}

static void read_ports(const char *path, enum conf_list kind, struct route_guid_port **ret,
		       uint32_t *ret_n, struct route_report *report)
{
	struct conf_report found = { 0 };
	struct conf_guid_ports ports = { 0 };

	if (!path)
		return;
	conf_guid_ports_read(path, kind, &ports, &found);
	*ret = copy_ports(&ports);
	*ret_n = ports.n;
	conf_guid_ports_clear(&ports);
	take_findings(report, &found);
}

static void read_order(struct route_lists *lists, const char *path, struct route_report *report)
{
	struct conf_report found = { 0 };
	struct conf_guids guids = { 0 };

	if (!path)
		return;
	conf_guids_read(path, &guids, &found);
	lists->order = guids.n ? xmemdup(guids.guids, guids.n * sizeof(guid_t)) : NULL;
	lists->options.n_order = guids.n;
	conf_guids_clear(&guids);
	take_findings(report, &found);
}

void route_lists_read(struct route_lists *lists, const struct conf *conf,
		      struct route_report *report)
{
	struct route_options *o = &lists->options;

	read_order(lists, conf->guid_routing_order_file, report);
	read_ports(conf->port_prof_ignore_file, CONF_LIST_PORTS, &lists->ignore, &o->n_ignore,
		   report);
	read_ports(conf->hop_weights_file, CONF_LIST_WEIGHTS, &lists->weights, &o->n_weights,
		   report);
	o->order = lists->order;
	o->ignore = lists->ignore;
	o->weights = lists->weights;
	o->port_shifting = conf->port_shifting;
	o->scatter_seed = conf->scatter_ports;
	o->order_no_scatter = conf->guid_routing_order_no_scatter;
	o->count_switches = conf->port_profile_switch_nodes;
}

void route_lists_free(struct route_lists *lists)
{
	free(lists->order);
	free(lists->ignore);
	free(lists->weights);
}
