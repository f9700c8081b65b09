// SPDX-License-Identifier: BSD-2-Clause
/*
 * Marks and Mark: links that are out of service, and taking them out or putting them back. The
 * manager logs each change with its cause; here words become ports, and ends become answers. The
 * load that a plan shows is found on the thread that renders (control_marks_load.c).
 *
 * The gateway calls as a member of control_links_group, and asks for the role admin before. Such a
 * caller may not force anything.
 */
#include "control/control_marks_load.h"
#include "control/control_smp.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fabric/words.h"
#include "ib/words.h"
#include "sm/marks/marks.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/str.h"

struct marking {
	struct control_ticket *ticket; /* NULL: the caller is gone */
	const struct daemon_api *api;
	uint64_t job; /* number of its job; 0: none */
	bool plan, restore;
	struct mark_load *load; /* load of a plan; NULL: not known */
};

/* ---- what is marked -------------------------------------------------------------------------- */

#define END_FIELDS(F)                                                                              \
	F("node", STR, node_name(p->node))                                                         \
	F("description", STR, p->node->desc)                                                       \
	F("type", STR, ib_node_row(p->node->type)->word)                                           \
	F("node_guid", GUID, p->node->guid)                                                        \
	F("port_guid", OPT(GUID), port_is_end(p) ? p->guid : 0)                                    \
	F("port", KNOWN, !whole, p->num)                                                           \
	F("lid", INT, port_of_sma_const(p)->lid)

static const struct json_field end_fields[] = FIELDS_TABLE(END_FIELDS);

static struct json_object *end_of(const struct port *p, bool whole)
{
	return p ? FIELDS_NEW(END_FIELDS) : NULL;
}

#define MARK_FIELDS(F)                                                                             \
	F("node_guid", GUID, m->node)                                                              \
	F("port", KNOWN, !whole, m->port)                                                          \
	F("kind", WORD(mark_kind_name, MARK_KINDS), mark_kind_name(m->kind))                       \
	F("state", WORD(sm_mark_state_name, MARK_STATES), sm_mark_state_name(s->state))            \
	F("forced", BOOL, m->forced)                                                               \
	F("by", STR, m->by)                                                                        \
	F("why", TEXT, m->why)                                                                     \
	F("since", SECONDS, m->since)                                                              \
	F("until", SECONDS, m->until)                                                              \
	F("cables", INT, s->n_cables)                                                              \
	F("out", INT, s->n_out)                                                                    \
	F("spared", INT, s->n_spared)                                                              \
	F("kept", TEXT, s->kept)                                                                   \
	F("end", OPT_OBJECT(end_fields), end_of(s->port, whole))                                   \
	F("peer", OPT_OBJECT(end_fields), end_of(s->peer, false))

static const struct json_field mark_fields[] = FIELDS_TABLE(MARK_FIELDS);

static struct json_object *mark_of(const struct mark_shown *s)
{
	const struct link_mark *m = s->mark;
	bool whole = m->port == MARK_WHOLE_SWITCH;

	return FIELDS_NEW(MARK_FIELDS);
}

#define MARKS_FIELDS(F)                                                                            \
	F("generation", INT, sm_marks_generation(api->sm))                                         \
	F("marks", LIST(mark_fields),                                                              \
	  JSON_LIST_OF(struct mark_shown s, sm_mark_at(api->sm, i, &s), mark_of(&s)))

const struct json_field control_marks_fields[] = FIELDS_TABLE(MARKS_FIELDS);

struct json_object *control_marks(const struct daemon_api *api, struct json_object *parameters,
				  struct control_error *err)
{
	return control_manager(api, err) ? FIELDS_NEW(MARKS_FIELDS) : NULL;
}

/* ---- answers --------------------------------------------------------------------------------- */

#define COST_FIELDS(F)                                                                             \
	F("cables", INT, c->cables)                                                                \
	F("pairs_over", INT, c->pairs_over)                                                        \
	F("pairs_lost", INT, c->pairs_lost)                                                        \
	F("hosts_cut_off", INT, c->hosts)                                                          \
	F("switches_cut_off", INT, c->switches)                                                    \
	F("groups", INT, c->groups)                                                                \
	F("load", OPT_OBJECT(mark_load_fields), load ? mark_load_json(load, f) : NULL)

static const struct json_field cost_fields[] = FIELDS_TABLE(COST_FIELDS);

static struct json_object *cost_of(const struct mark_cost *c, const struct mark_load *load,
				   const struct fabric *f)
{
	return FIELDS_NEW(COST_FIELDS);
}

#define CHANGE_FIELDS(F)                                                                           \
	F("job", IF(w->job, INT), w->job)                                                          \
	F("generation", INT, r->generation)                                                        \
	F("changed", BOOL, r->changed)                                                             \
	F("replicated", BOOL, r->replicated)                                                       \
	F("standbys", INT, r->n_standbys)                                                          \
	F("standbys_with", INT, r->n_standbys_with)                                                \
	F("marks", INT, r->n_marks)                                                                \
	F("state", OPT_WORD(sm_mark_state_name, MARK_STATES),                                      \
	  has_state ? sm_mark_state_name(r->state) : NULL)                                         \
	F("text", TEXT, is_refused ? NULL : r->text)                                               \
	F("refused", OPT(STR), is_refused ? r->text : NULL)                                        \
	F("cost", OBJECT(cost_fields), cost_of(&r->cost, load, f))

const struct json_field control_mark_fields[] = FIELDS_TABLE(CHANGE_FIELDS);

static struct json_object *mark_answer(const struct mark_result *r, const struct marking *w,
				       const struct mark_load *load)
{
	const struct sm *sm = w->ticket->api->sm;
	const struct fabric *f = sm ? sm_fabric(sm) : NULL;
	bool is_refused = w->plan && r->end != MARK_DONE;
	bool has_state = !w->plan && !w->restore && r->n_marks == 1;

	return FIELDS_NEW(CHANGE_FIELDS);
}

static const char *error_name(enum mark_end end)
{
	static const char *const names[] = {
		[MARK_DONE] = NULL,
		[MARK_UNAPPLIED] = "Unconfirmed",
		[MARK_REFUSED] = "TooCostly",
		[MARK_INVALID] = "InvalidParameter",
		[MARK_NOT_FOUND] = "NotFound",
		[MARK_NOT_MASTER] = "NotMaster",
		[MARK_NOT_MARKED] = "NotMarked",
		[MARK_CLOSED] = "Closed",
		[MARK_NO_ROOM] = "NoRoom",
	};

	return names[end];
}

static void end_marking(struct marking *w)
{
	if (w->ticket)
		w->ticket->work = NULL;
	mark_load_free(w->load);
	free(w);
}

/* Ends the call with the verdict and the load that the worker found. */
static void on_load(void *arg, const struct mark_result *r)
{
	struct marking *w = arg;
	struct control_ticket *t = w->ticket;
	struct control_error err = { 0 };
	struct json_object *answer = t ? mark_answer(r, w, w->load) : NULL;

	end_marking(w);
	if (t)
		t->end(t, answer, &err);
}

static void on_marked(void *arg, const struct mark_result *r)
{
	struct marking *w = arg;
	struct control_ticket *t = w->ticket;
	bool is_verdict = w->plan && r->end == MARK_REFUSED;
	struct control_error err = { 0 };
	struct json_object *answer = NULL;

	control_job_end(w->api, w->job, error_name(r->end), r->text,
			r->changed ? r->generation : 0);
	if (!t) {
		end_marking(w);
		return;
	}
	if (w->load && (r->end == MARK_DONE || is_verdict)) {
		mark_load_find(w->load, t->api, r, on_load, w);
		return;
	}
	if (r->end == MARK_DONE || is_verdict)
		answer = mark_answer(r, w, NULL);
	else
		control_fail(&err, error_name(r->end), "%.290s", r->text);
	if (r->end == MARK_UNAPPLIED)
		err.more = mark_answer(r, w, NULL);
	end_marking(w);
	t->end(t, answer, &err);
}

/* ---- the call -------------------------------------------------------------------------------- */

static bool read_action(struct json_object *parameters, struct mark_request *ret,
			struct control_error *err)
{
	static const char *const names[] = { [MARK_DO_DRAIN] = "drain",
					     [MARK_DO_ISOLATE] = "isolate",
					     [MARK_DO_RESTORE] = "restore" };
	const char *action = json_str(parameters, "action");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i], action))
			continue;
		ret->action = (enum mark_action)i;
		return true;
	}
	return control_fail(err, "InvalidParameter", "action must be drain, isolate or restore");
}

/* A host with one cable may be named without its port. */
static bool take_host(const struct node *n, struct mark_request *ret, struct control_error *err)
{
	unsigned found = 0;

	for (unsigned i = 1; i <= n->n_ports; i++) {
		if (!n->ports[i].peer)
			continue;
		ret->port = (uint8_t)i;
		found++;
	}
	if (found == 1)
		return true;
	return control_fail(err, found ? "Ambiguous" : "NotFound",
			    "'%.64s' has %u ports with a cable: say which, as NAME/PORT",
			    node_name(n), found);
}

/* A node that is gone can be restored by its GUID only. */
static bool is_gone(const struct mark_request *rq, struct control_error *err)
{
	if (rq->action != MARK_DO_RESTORE || !rq->node || !str_equal(err->name, "NotFound"))
		return false;
	*err = (struct control_error){ 0 };
	return true;
}

static bool read_target(const struct daemon_api *api, struct json_object *parameters,
			struct mark_request *ret, struct control_error *err)
{
	const char *word = json_str(parameters, "target");
	const struct node *n;
	unsigned port;

	if (!word)
		return control_fail(err, "InvalidParameter", "a target is needed");
	if (ret->action == MARK_DO_RESTORE && !strcmp(word, "all")) {
		ret->all = true;
		return true;
	}
	if (!control_find_place(sm_fabric(api->sm), word, &ret->node, &port, err) &&
	    !is_gone(ret, err))
		return false;
	ret->port = (uint8_t)port;
	n = fabric_find_node(sm_fabric(api->sm), ret->node);
	if (!port && n && !node_is_switch(n))
		return take_host(n, ret, err);
	if (!port)
		ret->port = MARK_WHOLE_SWITCH;
	return true;
}

static bool may_force(const struct control_ticket *t)
{
	return t->uid == 0 || t->uid == geteuid();
}

static bool read_rest(const struct control_ticket *t, struct json_object *parameters,
		      struct mark_request *ret, struct control_error *err)
{
	struct json_object *until = json_object_object_get(parameters, "until_seconds");
	int64_t seconds = until ? json_object_get_int64(until) : 0;

	ret->seconds = (uint32_t)seconds;
	ret->force = json_flag(parameters, "force", false);
	ret->plan = json_flag(parameters, "plan", false);
	ret->wait = json_flag(parameters, "wait", true);
	ret->why = json_str(parameters, "why");
	if (ret->why && strlen(ret->why) > MARK_WHY_MAX)
		return control_fail(err, "InvalidParameter", "a reason has at most %u characters",
				    MARK_WHY_MAX);
	if (seconds < 0 || seconds > UINT32_MAX)
		return control_fail(err, "InvalidParameter",
				    "until_seconds is how long from now, at most %u seconds",
				    UINT32_MAX);
	if (ret->force && !may_force(t))
		return control_fail(err, "Denied",
				    "only root, and the user that runs opensm, may force it");
	return true;
}

static uint64_t begin_job(const struct control_ticket *t, struct json_object *parameters,
			  const char *by)
{
	const char *target = json_str(parameters, "target");
	struct control_job_about about;

	snprintf(about.operation, sizeof(about.operation), "%s", json_str(parameters, "action"));
	str_printable(target, strlen(target), about.object, sizeof(about.object));
	snprintf(about.by, sizeof(about.by), "%s", by);
	return control_job_begin(t->api, &about);
}

bool control_mark(struct control_ticket *t, struct json_object *parameters,
		  struct control_error *err)
{
	const struct daemon_api *api = t->api;
	struct mark_request rq = { .wait = true };
	struct marking *w;
	char by[CONTROL_CALLER_STRLEN];

	if (!control_manager(api, err) || !read_action(parameters, &rq, err) ||
	    !read_target(api, parameters, &rq, err) || !read_rest(t, parameters, &rq, err))
		return false;
	control_name_caller(t, parameters, "/", by);
	rq.by = by;
	rq.routes = rq.plan ? sm_routes(api->sm) : NULL;
	w = xcalloc(1, sizeof(*w));
	*w = (struct marking){
		.ticket = t, .api = api, .plan = rq.plan, .restore = rq.action == MARK_DO_RESTORE
	};
	if (rq.plan && rq.action != MARK_DO_RESTORE)
		w->load = mark_load_new(rq.routes, sm_fabric(api->sm), &rq);
	if (!sm_mark_request(api->sm, &rq, on_marked, w)) {
		mark_load_free(w->load);
		free(w);
		return control_fail(err, "Busy", "too many requests wait; try again in a while");
	}
	if (!rq.plan)
		w->job = begin_job(t, parameters, by);
	t->work = w;
	api->wake(api->arg);
	return true;
}
