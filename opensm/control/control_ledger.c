// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ledger, LedgerAdopt and LedgerForget: what is entrusted to managers at run time, which of them
 * have it, and the two ways out of the state in which P_Keys on devices are kept as nothing
 * explains them.
 *
 * Each of the two changes what tenants have: they need the right to change partitions, and the log
 * names the caller.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/control_internal.h"
#include "show/show.h"
#include "sm/sm_ledger.h"
#include "util/log.h"
#include "util/mem.h"

struct leaving {
	struct control_ticket *ticket; /* NULL: the caller is gone */
	bool adopts;
	char by[160];
};

/* ---- Ledger ---------------------------------------------------------------------------------- */

static void put_whole(struct json_object *o, const struct sm *sm)
{
	char trouble[LEDGER_REASON_STRLEN];
	struct sm_ledger l;

	sm_ledger(sm, &l);
	json_add_str(o, "state", l.state);
	json_add_str(o, "reason", l.reason[0] ? l.reason : NULL);
	json_add_str(o, "trouble", sm_ledger_status(sm, trouble)[0] ? trouble : NULL);
	json_add_int(o, "term", (int64_t)l.term);
	json_add_str(o, "file", l.file);
	json_add_str(o, "fault", l.fault);
	json_add_int(o, "unexplained", (int64_t)l.n_unexplained);
	show_add_seconds(o, "changed", l.changed);
	json_add_int(o, "standbys", l.n_standbys);
	json_add_int(o, "standbys_behind", l.n_behind);
}

static void put_table(struct json_object *o, const struct sm_ledger_table *t)
{
	json_add_str(o, "name", t->name);
	json_add_int(o, "rows", (int64_t)t->n_rows);
	json_add_int(o, "removed", (int64_t)t->n_removed);
	json_add_known(o, "number", t->number, (int64_t)t->number);
	show_add_seconds(o, "changed", t->changed);
}

struct json_object *control_ledger(const struct daemon_api *api, struct json_object *parameters,
				   struct control_error *err)
{
	struct json_object *o, *list;
	struct sm_ledger_table t;
	struct sm_ledger_peer p;

	if (!api->sm)
		return control_fail(err, "NotReady", "%s",
				    api->status[0] ? api->status : "no port is open");
	o = json_object_new_object();
	put_whole(o, api->sm);
	list = json_add_array(o, "tables");
	for (unsigned i = 0; sm_ledger_table_at(api->sm, i, &t); i++)
		put_table(json_append_object(list), &t);
	list = json_add_array(o, "managers");
	for (unsigned i = 0; sm_ledger_peer_at(api->sm, i, &p); i++)
		show_put_ledger_peer(json_append_object(list), api->sm, &p);
	return o;
}

/* ---- out of KEEPING -------------------------------------------------------------------------- */

/* "root", "opensm-rest for alice", "uid4711". */
static void name_caller(const struct control_ticket *t, struct json_object *parameters,
			char ret[static 160])
{
	const char *user = json_str(parameters, "user");
	char name[64];

	control_user_name(t->uid, name);
	if (!name[0])
		snprintf(name, sizeof(name), "uid%u", t->uid);
	snprintf(ret, 160, "%s%s%.64s", name, user ? " for " : "", user ? user : "");
}

static void log_adopted(const struct leaving *w, const struct sm_ledger_ended *r)
{
	if (r->error)
		log_error("ledger: P_Keys on devices were not adopted, asked for by '%s': %s",
			  w->by, strerror(-r->error));
	else if (w->adopts)
		log_info("ledger: adopted %zu members of %zu new partitions at %zu ports, as "
			 "devices hold their P_Keys; %zu P_Keys that devices lack are given; asked "
			 "for by '%s'",
			 r->n_members, r->n_partitions, r->n_ports, r->n_missing, w->by);
	else
		log_info("ledger: %zu P_Keys that were not explained are cleared, or given; asked "
			 "for by '%s'",
			 r->n_unexplained, w->by);
}

static struct json_object *ended_answer(const struct leaving *w, const struct sm_ledger_ended *r)
{
	struct json_object *o = json_object_new_object();

	if (!w->adopts) {
		json_add_int(o, "unexplained", (int64_t)r->n_unexplained);
		return o;
	}
	json_add_int(o, "partitions", (int64_t)r->n_partitions);
	json_add_int(o, "members", (int64_t)r->n_members);
	json_add_int(o, "ports", (int64_t)r->n_ports);
	json_add_int(o, "missing", (int64_t)r->n_missing);
	return o;
}

static void on_ended(void *arg, const struct sm_ledger_ended *r)
{
	struct leaving *w = arg;
	struct control_ticket *t = w->ticket;
	struct control_error err = { 0 };
	struct json_object *answer = NULL;

	log_adopted(w, r);
	if (t && r->error)
		control_fail(&err, "Closed",
			     "the ledger cannot be written: %s; nothing was changed",
			     strerror(-r->error));
	else if (t)
		answer = ended_answer(w, r);
	free(w);
	if (!t)
		return;
	t->work = NULL;
	t->end(t, answer, &err);
}

/* False, for `return`. */
static bool refuse(const struct sm *sm, int error, struct control_error *err)
{
	struct sm_ledger l;

	sm_ledger(sm, &l);
	switch (error) {
	case -EALREADY:
		return control_fail(err, "NotReady",
				    "nothing is to be adopted or forgotten: the ledger is in state "
				    "'%s', and P_Keys are kept in state 'keeping' alone",
				    l.state);
	case -EBUSY:
		return control_fail(err, "Busy", "this is under way already");
	case -ENOSPC:
		return control_fail(err, "NoRoom", "devices hold P_Keys of more partitions or "
						   "members than there may be");
	default:
		return control_fail(err, "Closed", "%.290s", l.fault ? l.fault : strerror(-error));
	}
}

static bool start_leaving(struct control_ticket *t, struct json_object *parameters, bool adopts,
			  struct control_error *err)
{
	struct sm *sm = t->api->sm;
	struct leaving *w;
	int r;

	if (!sm)
		return control_fail(err, "NotReady", "%s",
				    t->api->status[0] ? t->api->status : "no port is open");
	w = xcalloc(1, sizeof(*w));
	w->ticket = t;
	w->adopts = adopts;
	name_caller(t, parameters, w->by);
	r = adopts ? sm_ledger_adopt(sm, on_ended, w) : sm_ledger_forget(sm, on_ended, w);
	if (r < 0) {
		free(w);
		return refuse(sm, r, err);
	}
	t->work = w;
	t->api->wake(t->api->arg);
	return true;
}

bool control_ledger_adopt(struct control_ticket *t, struct json_object *parameters,
			  struct control_error *err)
{
	return start_leaving(t, parameters, true, err);
}

bool control_ledger_forget(struct control_ticket *t, struct json_object *parameters,
			   struct control_error *err)
{
	return start_leaving(t, parameters, false, err);
}

void control_leave_ledger(struct control_ticket *t)
{
	struct leaving *w = take(t->work);

	if (w)
		w->ticket = NULL;
}
