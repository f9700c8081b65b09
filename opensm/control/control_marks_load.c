// SPDX-License-Identifier: BSD-2-Clause
#include "control/control_marks_load.h"

#include <stdlib.h>

#include "control/control_detour.h"
#include "fabric/words.h"
#include "util/mem.h"

struct mark_load {
	struct sm_job job;
	struct routes *routes;
	bool *missing;
	struct detour found;
	struct mark_result result;
	mark_done_fn *done;
	void *arg;
};

struct mark_load *mark_load_new(const struct routes *r, const struct fabric *f,
				const struct mark_request *rq)
{
	const struct node *n = fabric_find_node(f, rq->node);
	unsigned port = rq->port == MARK_WHOLE_SWITCH ? 0 : rq->port;
	struct mark_load *l;
	bool *missing;

	if (n && port && port <= n->n_ports && !node_is_switch(n) && n->ports[port].peer) {
		port = n->ports[port].peer->num;
		n = n->ports[rq->port].peer->node;
	}
	if (!r || !n)
		return NULL;
	missing = detour_missing(r->topo, n->guid, port, port || rq->action == MARK_DO_ISOLATE);
	if (!missing)
		return NULL;
	l = xcalloc(1, sizeof(*l));
	l->routes = routes_ref(r);
	l->missing = missing;
	return l;
}

struct mark_load *mark_load_free(struct mark_load *l)
{
	if (!l)
		return NULL;
	routes_unref(l->routes);
	free(l->missing);
	free(l);
	return NULL;
}

static void run(struct sm_job *job)
{
	struct mark_load *l = (struct mark_load *)job;

	detour_of(l->routes, l->missing, &l->found);
}

static void on_done(struct sm_job *job)
{
	struct mark_load *l = (struct mark_load *)job;

	l->done(l->arg, &l->result);
}

void mark_load_find(struct mark_load *l, const struct daemon_api *api,
		    const struct mark_result *result, mark_done_fn *done, void *arg)
{
	l->job = (struct sm_job){ .run = run, .done = on_done, .what = "the load of a plan" };
	l->result = *result;
	l->done = done;
	l->arg = arg;
	api->submit(api->arg, &l->job);
}

#define PEAK_FIELDS(F)                                                                             \
	F("pairs", INT, p->pairs)                                                                  \
	F("node", OPT(STR), n ? node_name(n) : NULL)                                               \
	F("port", KNOWN, sw != TOPO_NONE, sw == TOPO_NONE ? 0 : p->at - t->switches[sw].first_port)

static const struct json_field peak_fields[] = FIELDS_TABLE(PEAK_FIELDS);

static struct json_object *peak_of(const struct mark_load *l, const struct fabric *f,
				   const struct detour_peak *p)
{
	const struct topo *t = l->routes->topo;
	uint32_t sw = p->at == TOPO_NONE ? TOPO_NONE : topo_switch_with(t, p->at);
	const struct node *n = NULL;

	if (f && sw != TOPO_NONE)
		n = fabric_find_node(f, t->switches[sw].guid);
	return FIELDS_NEW(PEAK_FIELDS);
}

#define LOAD_FIELDS(F)                                                                             \
	F("now", OBJECT(peak_fields), peak_of(l, f, &l->found.now))                                \
	F("after", OBJECT(peak_fields), peak_of(l, f, &l->found.after))                            \
	F("pairs_moved", INT, l->found.moved)

const struct json_field mark_load_fields[] = FIELDS_TABLE(LOAD_FIELDS);

struct json_object *mark_load_json(const struct mark_load *l, const struct fabric *f)
{
	return FIELDS_NEW(LOAD_FIELDS);
}
