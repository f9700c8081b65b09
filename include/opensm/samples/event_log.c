/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plugin that writes down what happens, one line per event, into the file that
 * event_plugin_options names, or osm_sample_event_plugin_output in the folder for temporary files.
 *
 * 	cc -shared -fPIC -Wall -o libevent_log.so event_log.c
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opensm/event_plugin.h"

struct sample {
	struct opensm *sm;
	FILE *out;
};

static FILE *open_output(struct opensm *sm)
{
	const char *path = opensm_api(sm)->options(sm);
	const char *dir = getenv("OSM_TMP_DIR");
	char standard[400];

	if (!path) {
		snprintf(standard, sizeof(standard), "%s/osm_sample_event_plugin_output",
			 dir ? dir : "/tmp");
		path = standard;
	}
	return fopen(path, "a");
}

static void *create(struct opensm *sm)
{
	struct sample *s = (struct sample *)calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->sm = sm;
	s->out = open_output(sm);
	if (!s->out) {
		opensm_api(sm)->log(sm, OPENSM_LOG_ERROR, "the output file cannot be opened");
		free(s);
		return NULL;
	}
	setvbuf(s->out, NULL, _IOLBF, 0);
	if (opensm_api(sm)->version >= 1)
		opensm_api(sm)->want_all(sm);
	fprintf(s->out, "created: instance %s of %s\n", opensm_api(sm)->instance(sm),
		opensm_api(sm)->program_version(sm));
	return s;
}

static void destroy(void *self)
{
	struct sample *s = (struct sample *)self;

	fprintf(s->out, "destroyed\n");
	fclose(s->out);
	free(s);
}

/*
 * NodeDescription is set on the node: it is printable here, and may be any text all the same.
 */
static const char *name_of(struct sample *s, uint64_t guid, char name[80])
{
	struct opensm_node n;

	if (opensm_api(s->sm)->node(s->sm, guid, &n) == 0)
		snprintf(name, 80, "'%s'", n.description);
	else
		snprintf(name, 80, "0x%016" PRIx64, guid);
	return name;
}

static void on_trap(struct sample *s, const uint8_t *notice)
{
	/* IsGeneric is the first bit; the trap number is in bytes 4 and 5 (13.4.8.2). */
	if (notice[0] & 0x80)
		fprintf(s->out, "trap %u\n", notice[4] * 256u + notice[5]);
	else
		fprintf(s->out, "trap of a vendor\n");
}

static void on_subnet_up(struct sample *s)
{
	struct opensm_counts c;

	if (opensm_api(s->sm)->counts(s->sm, &c) == 0)
		fprintf(s->out, "subnet up: %u nodes, %u switches, %u errors\n", c.nodes,
			c.switches, c.last_errors);
}

static void on_errors(struct sample *s, const struct opensm_port_errors *e)
{
	fprintf(s->out,
		"errors at '%s' port %u in %lld s: symbol %" PRIu64 ", link downed %" PRIu64
		", receive %" PRIu64 ", discards %" PRIu64 ", wait %" PRIu64 "\n",
		e->port.name, e->port.port, (long long)e->seconds, e->symbol, e->link_downed,
		e->rcv, e->xmit_discards, e->xmit_wait);
}

static void on_counts(struct sample *s, const struct opensm_port_counts *c)
{
	fprintf(s->out, "data at '%s' port %u in %lld s: sent %" PRIu64 ", received %" PRIu64 "\n",
		c->port.name, c->port.port, (long long)c->seconds, c->xmit_data, c->rcv_data);
}

static void on_table(struct sample *s, const struct opensm_lft_change *l)
{
	char name[80];

	if (l->flags & OPENSM_LFT_TOP_CHANGED)
		fprintf(s->out, "table of %s: top %u\n", name_of(s, *l->switch_guid, name), l->top);
	else
		fprintf(s->out, "table of %s: block %u\n", name_of(s, *l->switch_guid, name),
			l->block);
}

static void on_link(struct sample *s, const struct opensm_link_event *l)
{
	char a[80], b[80];

	fprintf(s->out, "link %s port %u - %s port %u %s\n", name_of(s, l->node_guid[0], a),
		l->port[0], name_of(s, l->node_guid[1], b), l->port[1], l->up ? "up" : "down");
}

static void on_sweep(struct sample *s, const struct opensm_sweep_event *w)
{
	fprintf(s->out, "%s sweep (%s): %u Gets, %u Sets, %u errors in %u ms%s\n", w->kind, w->why,
		w->n_gets, w->n_sets, w->n_errors, w->milliseconds,
		w->through ? "" : ", ended early");
}

static void report(void *self, int event, void *what)
{
	struct sample *s = (struct sample *)self;

	switch (event) {
	case OPENSM_EVENT_PORT_ERRORS:
		on_errors(s, (const struct opensm_port_errors *)what);
		break;
	case OPENSM_EVENT_PORT_COUNTS:
		on_counts(s, (const struct opensm_port_counts *)what);
		break;
	case OPENSM_EVENT_TRAP:
		on_trap(s, (const uint8_t *)what);
		break;
	case OPENSM_EVENT_SUBNET_UP:
		on_subnet_up(s);
		break;
	case OPENSM_EVENT_SWEEP_START:
		fprintf(s->out, "sweep begins\n");
		break;
	case OPENSM_EVENT_SWEEP_DONE:
		fprintf(s->out, "the fabric has been read\n");
		break;
	case OPENSM_EVENT_ROUTES:
		fprintf(s->out, "routes computed (%d)\n", (int)(intptr_t)what);
		break;
	case OPENSM_EVENT_STATE_CHANGE:
		fprintf(s->out, "state change\n");
		break;
	case OPENSM_EVENT_SA_DB_DUMPED:
		fprintf(s->out, "SA database written\n");
		break;
	case OPENSM_EVENT_LFT_CHANGE:
		on_table(s, (const struct opensm_lft_change *)what);
		break;
	case OPENSM_EVENT_NODE: {
		const struct opensm_node_event *n = (const struct opensm_node_event *)what;

		fprintf(s->out, "node '%s' (0x%016" PRIx64 ") %s\n", n->description, n->node_guid,
			n->came ? "came" : "went");
		break;
	}
	case OPENSM_EVENT_LINK:
		on_link(s, (const struct opensm_link_event *)what);
		break;
	case OPENSM_EVENT_MANAGER:
		fprintf(s->out, "manager %s\n", ((const struct opensm_manager_event *)what)->text);
		break;
	case OPENSM_EVENT_STATE: {
		const struct opensm_state_event *e = (const struct opensm_state_event *)what;

		fprintf(s->out, "state %d -> %d\n", e->from, e->to);
		break;
	}
	case OPENSM_EVENT_SWEEP:
		on_sweep(s, (const struct opensm_sweep_event *)what);
		break;
	default: /* whatever comes with another release */
		fprintf(s->out, "event %d\n", event);
		break;
	}
}

struct opensm_event_plugin osm_event_plugin = { OPENSM_PLUGIN_VERSION, create, destroy, report };
