// SPDX-License-Identifier: BSD-2-Clause
/* Texts on links with findings: log lines and events. */
#include <stdio.h>

#include "sm/base/about.h"
#include "sm/base/events.h"
#include "sm/health/sick_internal.h"

static const struct {
	const char *name, *before, *after; /* words for an action */
} states[SICK_STATES] = {
	[SICK_UNDECIDED] = { "undecided", NULL, "not decided yet" },
	[SICK_REPORTED] = { "reported", NULL, "only reported" },
	[SICK_DRY_RUN] = { "dry_run", "would be ", ": hm_dry_run is TRUE" },
	[SICK_HOST_LINK] = { "host_link", "would be ",
			     ": it leads to a host, and hm_isolate_host_links is FALSE" },
	[SICK_CAPPED] = { "capped", "would be ", ": no more links may be (hm_max_isolated)" },
	[SICK_SPARED] = { "spared", NULL,
			  "stays in use: it is the last way to a part of the fabric, or the "
			  "manager's own" },
	[SICK_ISOLATED] = { "isolated", "", "" },
};

static const char *const done[] = {
	[HEALTH_IGNORE] = "left alone",	  [HEALTH_REPORT] = "reported",
	[HEALTH_ISOLATE] = "isolated",	  [HEALTH_NO_DISCOVER] = "isolated and not read",
	[HEALTH_DISABLE] = "disabled",
};

const char *sm_sick_state_name(enum sick_state state)
{
	return states[state].name;
}

char *sm_sick_words(enum sick_state state, enum health_action action, char ret[SICK_WORDS_STRLEN])
{
	const char *before = states[state].before;

	snprintf(ret, SICK_WORDS_STRLEN, "%s%s%s", before ? before : "", before ? done[action] : "",
		 states[state].after);
	return ret;
}

/* ---- telling --------------------------------------------------------------------------------- */

/* "'leaf1' port 3 (0x...) - 'spine2' port 1 (0x...)", with the names of ends that are known. */
#define LINK_STRLEN (2 * PORT_STRLEN + 4)
static void link_str(const struct sm *sm, const struct health_verdict *v, char ret[LINK_STRLEN])
{
	char name[2][PORT_STRLEN];

	for (unsigned i = 0; i < 2; i++) {
		const struct port *p = sick_port_at(sm, &v->end[i]);

		if (p)
			fabric_port_str(p, name[i]);
		else
			snprintf(name[i], PORT_STRLEN, "a port that is gone");
	}
	snprintf(ret, LINK_STRLEN, "%s - %s", name[0], name[1]);
}

static void log_line(struct sm *sm, const struct health_verdict *v, bool is_over, const char *line)
{
	unsigned suppressed;

	if (!log_allow(&sm->m.sick->log, sm->now, &suppressed))
		return;
	if (suppressed)
		log_error("%u records on the health of links were left out: opensmctl health has "
			  "all",
			  suppressed);
	log_on(about_port(LOG_ID_LINK_HEALTH, sick_port_at(sm, &v->end[0])),
	       is_over ? LOGB_INFO : LOGB_ERROR, "%s", line);
}

void sick_tell(struct sm *sm, uint32_t link, const char *event, const char *what)
{
	const struct health_verdict *v = health_verdict(sm->m.sick->judge, link);
	char where[LINK_STRLEN], why[HEALTH_WHY_STRLEN],
		line[LINK_STRLEN + HEALTH_WHY_STRLEN + SICK_WORDS_STRLEN];

	link_str(sm, v, where);
	health_why(sm->m.sick->judge, link, why);
	snprintf(line, sizeof(line), "%s: %s%s%s", where, why, why[0] ? ": " : "", what);
	log_line(sm, v, event && !strcmp(event, SICK_RETURNED), line);
	if (event)
		event_health(sm, event, v->end, line);
}
