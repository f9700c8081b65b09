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
	char by[CONTROL_CALLER_STRLEN];
};

/* ---- Ledger ---------------------------------------------------------------------------------- */

/* Times are those of RFC 3339. */
#define TABLE_FIELDS(F)                                                                            \
	F("name", STR, t.name)                                                                     \
	F("rows", INT, t.n_rows)                                                                   \
	F("removed", INT, t.n_removed)                                                             \
	F("number", KNOWN, t.number, t.number)                                                     \
	F("changed", SECONDS, t.changed)

static const struct json_field table_fields[] = FIELDS_TABLE(TABLE_FIELDS);

#define LEDGER_FIELDS(F)                                                                           \
	F("state", STR, l.state)                                                                   \
	F("reason", TEXT, l.reason)                                                                \
	F("trouble", TEXT, sm_ledger_status(sm, trouble))                                          \
	F("term", INT, l.term)                                                                     \
	F("file", OPT(STR), l.file)                                                                \
	F("fault", OPT(STR), l.fault)                                                              \
	F("unexplained", INT, l.n_unexplained)                                                     \
	F("changed", SECONDS, l.changed)                                                           \
	F("standbys", INT, l.n_standbys)                                                           \
	F("standbys_behind", INT, l.n_behind)                                                      \
	F("tables", LIST(table_fields),                                                            \
	  JSON_LIST_OF(struct sm_ledger_table t, sm_ledger_table_at(sm, i, &t),                    \
		       FIELDS_ITEM(TABLE_FIELDS)))                                                 \
	F("managers", LIST(show_ledger_peer_fields),                                               \
	  JSON_LIST_OF(struct sm_ledger_peer p, sm_ledger_peer_at(sm, i, &p),                      \
		       show_ledger_peer(sm, &p)))

const struct json_field control_ledger_fields[] = FIELDS_TABLE(LEDGER_FIELDS);

struct json_object *control_ledger(const struct daemon_api *api, struct json_object *parameters,
				   struct control_error *err)
{
	const struct sm *sm = control_manager(api, err);
	char trouble[LEDGER_REASON_STRLEN];
	struct sm_ledger l;

	if (!sm)
		return NULL;
	sm_ledger(sm, &l);
	return FIELDS_NEW(LEDGER_FIELDS);
}

/* ---- out of KEEPING -------------------------------------------------------------------------- */

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

#define ADOPTED_FIELDS(F)                                                                          \
	F("partitions", INT, r->n_partitions)                                                      \
	F("members", INT, r->n_members)                                                            \
	F("ports", INT, r->n_ports)                                                                \
	F("missing", INT, r->n_missing)
#define FORGOTTEN_FIELDS(F) F("unexplained", INT, r->n_unexplained)

const struct json_field control_adopted_fields[] = FIELDS_TABLE(ADOPTED_FIELDS);
const struct json_field control_forgotten_fields[] = FIELDS_TABLE(FORGOTTEN_FIELDS);

static struct json_object *ended_answer(const struct leaving *w, const struct sm_ledger_ended *r)
{
	return w->adopts ? FIELDS_NEW(ADOPTED_FIELDS) : FIELDS_NEW(FORGOTTEN_FIELDS);
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
	struct sm *sm = control_manager(t->api, err);
	struct leaving *w;
	int r;

	if (!sm)
		return false;
	w = xcalloc(1, sizeof(*w));
	w->ticket = t;
	w->adopts = adopts;
	control_name_caller(t, parameters, " for ", w->by);
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
