// SPDX-License-Identifier: BSD-2-Clause
/* How far another manager has what is entrusted to this one: for Managers, and for Ledger. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "fabric/words.h"
#include "show/show_internal.h"
#include "sm/sm_ledger.h"
#include "util/mem.h"

#define TEXT_STRLEN 120

static const char *const standings[LEDGER_STANDINGS] = {
	[LEDGER_NOT_OURS] = "not_ours",	  [LEDGER_WITH] = "with",
	[LEDGER_BEHIND] = "behind",	  [LEDGER_COMPARING] = "comparing",
	[LEDGER_REFUSES] = "refuses",	  [LEDGER_UNREACHED] = "unreached",
};

static const char *time_text(int64_t seconds, char ret[static 40])
{
	struct tm tm;
	time_t t = (time_t)seconds;

	if (!gmtime_r(&t, &tm) || !strftime(ret, 40, "%Y-%m-%dT%H:%M:%SZ", &tm))
		ret[0] = '\0';
	return ret;
}

void show_add_seconds(struct json_object *o, const char *key, int64_t seconds)
{
	char text[40];

	json_add_str(o, key, seconds > 0 ? time_text(seconds, text) : NULL);
}

static void tell_behind(const struct sm *sm, const struct sm_ledger_peer *p,
			char ret[static TEXT_STRLEN])
{
	const char *plural = p->n_behind == 1 ? "" : "s";

	if (sm_ledger_waiting(sm) == p->guid)
		snprintf(ret, TEXT_STRLEN, "takes over when it has %zu more row%s", p->n_behind,
			 plural);
	else
		snprintf(ret, TEXT_STRLEN, "%zu row%s behind", p->n_behind, plural);
}

static void tell_standing(const struct sm *sm, const struct sm_ledger_peer *p,
			  char ret[static TEXT_STRLEN])
{
	static const char *const texts[LEDGER_STANDINGS] = {
		[LEDGER_NOT_OURS] = "none of ours",	[LEDGER_WITH] = "with us",
		[LEDGER_BEHIND] = "behind",		[LEDGER_COMPARING] = "comparing",
		[LEDGER_REFUSES] = "cannot store",	[LEDGER_UNREACHED] = "not reached",
	};
	char since[40];

	snprintf(ret, TEXT_STRLEN, "%s", texts[p->standing]);
	if (p->standing == LEDGER_BEHIND)
		tell_behind(sm, p, ret);
	if (p->standing == LEDGER_UNREACHED && p->seen > 0)
		snprintf(ret, TEXT_STRLEN, "not reached since %s", time_text(p->seen, since));
}

void show_put_ledger(struct json_object *o, const struct sm *sm, const struct sm_ledger_peer *p)
{
	char text[TEXT_STRLEN];

	tell_standing(sm, p, text);
	json_add_str(o, "standing", standings[p->standing]);
	json_add_known(o, "rows_behind",
		       p->standing == LEDGER_BEHIND || p->standing == LEDGER_WITH,
		       (int64_t)p->n_behind);
	show_add_seconds(o, "seen", p->seen);
	json_add_bool(o, "told_all", p->is_told);
	json_add_str(o, "text", text);
}

void show_put_ledger_peer(struct json_object *o, const struct sm *sm,
			  const struct sm_ledger_peer *p)
{
	const struct port *port = fabric_find_port(sm_fabric(sm), p->guid);
	char where[PORT_STRLEN];

	json_add_guid(o, "port_guid", p->guid);
	json_add_str(o, "where", port ? fabric_port_str(port, where) : "not in the fabric");
	show_put_ledger(o, sm, p);
}
