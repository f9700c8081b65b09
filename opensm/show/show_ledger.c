// SPDX-License-Identifier: BSD-2-Clause
/* How far another manager has what is entrusted to this one: for Managers, and for Ledger. */
#include <stdio.h>

#include "fabric/words.h"
#include "show/show_internal.h"
#include "sm/sm_ledger.h"
#include "util/mem.h"

#define TEXT_STRLEN 120

static const char *const standings[LEDGER_STANDINGS] = {
	[LEDGER_NOT_OURS] = "not_ours", [LEDGER_WITH] = "with",
	[LEDGER_BEHIND] = "behind",	[LEDGER_COMPARING] = "comparing",
	[LEDGER_REFUSES] = "refuses",	[LEDGER_UNREACHED] = "unreached",
};

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

static const char *tell_standing(const struct sm *sm, const struct sm_ledger_peer *p,
				 char ret[static TEXT_STRLEN])
{
	static const char *const texts[LEDGER_STANDINGS] = {
		[LEDGER_NOT_OURS] = "none of ours", [LEDGER_WITH] = "with us",
		[LEDGER_BEHIND] = "behind",	    [LEDGER_COMPARING] = "comparing",
		[LEDGER_REFUSES] = "cannot store",  [LEDGER_UNREACHED] = "not reached",
	};
	char since[JSON_TIME_STRLEN];

	snprintf(ret, TEXT_STRLEN, "%s", texts[p->standing]);
	if (p->standing == LEDGER_BEHIND)
		tell_behind(sm, p, ret);
	if (p->standing == LEDGER_UNREACHED && p->seen > 0)
		snprintf(ret, TEXT_STRLEN, "not reached since %s", json_time_text(p->seen, since));
	return ret;
}

#define STANDING_FIELDS(F)                                                                         \
	F("standing", STR, standings[p->standing])                                                 \
	F("rows_behind", KNOWN, p->standing == LEDGER_BEHIND || p->standing == LEDGER_WITH,        \
	  p->n_behind)                                                                             \
	F("seen", SECONDS, p->seen)                                                                \
	F("told_all", BOOL, p->is_told)                                                            \
	F("text", STR, tell_standing(sm, p, text))
#define PEER_FIELDS(F)                                                                             \
	F("port_guid", GUID, p->guid)                                                              \
	F("where", STR, port ? fabric_port_str(port, where) : "not in the fabric")                 \
	STANDING_FIELDS(F)

const struct json_field show_ledger_peer_fields[] = FIELDS_TABLE(PEER_FIELDS);

struct json_object *show_ledger_standing(const struct sm *sm, const struct sm_ledger_peer *p)
{
	char text[TEXT_STRLEN];

	return FIELDS_NEW(STANDING_FIELDS);
}

struct json_object *show_ledger_peer(const struct sm *sm, const struct sm_ledger_peer *p)
{
	const struct port *port = fabric_find_port(sm_fabric(sm), p->guid);
	char where[PORT_STRLEN], text[TEXT_STRLEN];

	return FIELDS_NEW(PEER_FIELDS);
}
