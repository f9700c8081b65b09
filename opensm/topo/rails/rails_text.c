// SPDX-License-Identifier: BSD-2-Clause
/* Rails in one line, for the log, opensmctl and the planner. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "topo/rails/rails.h"

static void add(char *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(char *text, const char *fmt, ...)
{
	size_t len = strlen(text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(text + len, RAILS_STRLEN - len, fmt, args);
	va_end(args);
}

char *rails_host_str(const struct topo *t, const char *const *names, uint32_t host,
		     char ret[RAILS_HOST_STRLEN])
{
	const struct topo_host *h = &t->hosts[host];

	if (names && names[host] && names[host][0])
		snprintf(ret, RAILS_HOST_STRLEN, "'%.60s' port %u", names[host], h->node_port);
	else
		snprintf(ret, RAILS_HOST_STRLEN, "0x%016llx port %u",
			 (unsigned long long)h->node_guid, h->node_port);
	return ret;
}

static void add_planes(char *text, const struct rails *r)
{
	if (r->planes == 1) {
		add(text, ", which share spines");
		return;
	}
	add(text, ", in %u planes with spines of their own", r->planes);
	if (!r->joined)
		add(text, ", which no cable connects");
	if (r->crossing)
		add(text, ", %u cable%s to a spine of another plane", r->crossing,
		    r->crossing == 1 ? "" : "s");
}

char *rails_str(const struct rails *r, const struct topo *t, const char *const *names,
		char ret[RAILS_STRLEN])
{
	char host[RAILS_HOST_STRLEN];

	ret[0] = '\0';
	if (!r->n)
		return ret;
	add(ret, "%u rails of ", r->n);
	if (r->least < r->most)
		add(ret, "%u to ", r->least);
	add(ret, "%u end ports (%s %s %s)", r->most, r->of[0].name, r->n > 2 ? "..." : "and",
	    r->of[r->n - 1].name);
	add_planes(ret, r);
	add(ret, "; %u port%s on another rail", r->wrong, r->wrong == 1 ? "" : "s");
	for (unsigned i = 0; i < MIN(r->wrong, (uint32_t)RAILS_SHOWN); i++)
		add(ret, "%s%s on %s", i ? ", " : ": ",
		    rails_host_str(t, names, r->first_wrong[i].host, host),
		    r->of[r->first_wrong[i].on].name);
	if (r->wrong > RAILS_SHOWN)
		add(ret, " and others");
	return ret;
}
