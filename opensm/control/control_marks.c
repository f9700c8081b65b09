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
	bool plan, restore;
	struct mark_load *load; /* of a plan; NULL: not known */
};

/* ---- what is marked -------------------------------------------------------------------------- */

static void put_end(struct json_object *o, const char *key, const struct port *p, bool whole)
{
	struct json_object *end = p ? json_add_object(o, key) : NULL;

	if (!p) {
		json_add_str(o, key, NULL);
		return;
	}
	json_add_str(end, "node", node_name(p->node));
	json_add_str(end, "description", p->node->desc);
	json_add_str(end, "type", ib_node_type_name(p->node->type));
	json_add_guid(end, "node_guid", p->node->guid);
	json_add_guid(end, "port_guid", port_is_end(p) ? p->guid : 0);
	json_add_known(end, "port", !whole, p->num);
	json_add_int(end, "lid", port_of_sma_const(p)->lid);
}

static void put_mark(struct json_object *o, const struct mark_shown *s)
{
	const struct link_mark *m = s->mark;
	bool whole = m->port == MARK_WHOLE_SWITCH;

	json_add_guid(o, "node_guid", m->node);
	json_add_known(o, "port", !whole, m->port);
	json_add_str(o, "kind", mark_kind_name(m->kind));
	json_add_str(o, "state", sm_mark_state_name(s->state));
	json_add_bool(o, "forced", m->forced);
	json_add_str(o, "by", m->by);
	json_add_str(o, "why", m->why[0] ? m->why : NULL);
	json_add_known(o, "since", m->since, m->since);
	json_add_known(o, "until", m->until, m->until);
	json_add_int(o, "cables", s->n_cables);
	json_add_int(o, "out", s->n_out);
	json_add_int(o, "spared", s->n_spared);
	json_add_str(o, "kept", s->kept[0] ? s->kept : NULL);
	put_end(o, "end", s->port, whole);
	put_end(o, "peer", s->peer, false);
}

struct json_object *control_marks(const struct daemon_api *api, struct json_object *parameters,
				  struct control_error *err)
{
	struct json_object *o, *list;
	struct mark_shown s;

	if (!api->sm)
		return control_fail(err, "NotReady", "%s",
				    api->status[0] ? api->status : "no port is open");
	o = json_object_new_object();
	json_add_int(o, "generation", (int64_t)sm_marks_generation(api->sm));
	list = json_add_array(o, "marks");
	for (unsigned i = 0; sm_mark_at(api->sm, i, &s); i++)
		put_mark(json_append_object(list), &s);
	return o;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void put_cost(struct json_object *o, const struct mark_cost *c, const struct mark_load *load,
		     const struct fabric *f)
{
	json_add_int(o, "cables", c->cables);
	json_add_int(o, "pairs_over", (int64_t)c->pairs_over);
	json_add_int(o, "pairs_lost", (int64_t)c->pairs_lost);
	json_add_int(o, "hosts_cut_off", c->hosts);
	json_add_int(o, "switches_cut_off", c->switches);
	json_add_int(o, "groups", c->groups);
	mark_load_put(o, load, f);
}

static struct json_object *mark_answer(const struct mark_result *r, const struct marking *w,
				       const struct mark_load *load)
{
	const struct daemon_api *api = w->ticket->api;
	struct json_object *o = json_object_new_object();
	bool is_refused = w->plan && r->end != MARK_DONE;
	bool has_state = !w->plan && !w->restore && r->n_marks == 1;

	json_add_int(o, "generation", (int64_t)r->generation);
	json_add_bool(o, "changed", r->changed);
	json_add_bool(o, "replicated", r->replicated);
	json_add_int(o, "standbys", r->n_standbys);
	json_add_int(o, "standbys_with", r->n_standbys_with);
	json_add_int(o, "marks", r->n_marks);
	json_add_str(o, "state", has_state ? sm_mark_state_name(r->state) : NULL);
	json_add_str(o, "text", r->text[0] && !is_refused ? r->text : NULL);
	json_add_str(o, "refused", is_refused ? r->text : NULL);
	put_cost(json_add_object(o, "cost"), &r->cost, load,
		 api->sm ? sm_fabric(api->sm) : NULL);
	return o;
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

/* The verdict, with what the worker found. */
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

static bool is_true(struct json_object *parameters, const char *key, bool otherwise)
{
	struct json_object *o = json_object_object_get(parameters, key);

	return o ? json_object_get_boolean(o) : otherwise;
}

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

/* A host that has one cable need not be told its port. */
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

/* A node that is not there any more is restored by its GUID. */
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
	ret->force = is_true(parameters, "force", false);
	ret->plan = is_true(parameters, "plan", false);
	ret->wait = is_true(parameters, "wait", true);
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

/* "root", "opensm-rest/admin", "uid4711". */
static void name_caller(const struct control_ticket *t, struct json_object *parameters,
			char ret[static 160])
{
	const char *user = json_str(parameters, "user");
	char name[64];

	control_user_name(t->uid, name);
	if (!name[0])
		snprintf(name, sizeof(name), "uid%u", t->uid);
	snprintf(ret, 160, "%s%s%.64s", name, user ? "/" : "", user ? user : "");
}

bool control_mark(struct control_ticket *t, struct json_object *parameters,
		  struct control_error *err)
{
	const struct daemon_api *api = t->api;
	struct mark_request rq = { .wait = true };
	struct marking *w;
	char by[160];

	if (!api->sm)
		return control_fail(err, "NotReady", "%s",
				    api->status[0] ? api->status : "no port is open");
	if (!read_action(parameters, &rq, err) || !read_target(api, parameters, &rq, err) ||
	    !read_rest(t, parameters, &rq, err))
		return false;
	name_caller(t, parameters, by);
	rq.by = by;
	rq.routes = rq.plan ? sm_routes(api->sm) : NULL;
	w = xcalloc(1, sizeof(*w));
	*w = (struct marking){
		.ticket = t, .plan = rq.plan, .restore = rq.action == MARK_DO_RESTORE
	};
	if (rq.plan && rq.action != MARK_DO_RESTORE)
		w->load = mark_load_new(rq.routes, sm_fabric(api->sm), &rq);
	if (!sm_mark_request(api->sm, &rq, on_marked, w)) {
		mark_load_free(w->load);
		free(w);
		return control_fail(err, "Busy", "too many requests wait; try again in a while");
	}
	t->work = w;
	api->wake(api->arg);
	return true;
}

void control_leave_mark(struct control_ticket *t)
{
	struct marking *w = take(t->work);

	if (w)
		w->ticket = NULL;
}
