// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is remembered of ports that ask: how many requests came in the present 100 ms, how many keys
 * a port has tried, and what it was refused.
 *
 *   QUIET --SA_GUESSES wrong keys--> told: one event --SA_GUESS_QUIET without a guess--> QUIET
 *   QUIET --SA_ABUSE_MANY refusals of a kind--> told: one event --SA_ABUSE_QUIET--> QUIET
 *
 * A port has a row from its first request under a limit, guess or refusal on. There are no more
 * rows than LIDs, and what a row says is forgotten when another port has its LID.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "sa/base/requester.h"
#include "sa/base/trust.h"
#include "util/guidmap.h"
#include "util/mem.h"
#include "util/told.h"

#define RATE_WINDOW (100 * MONO_MS)
/* Records on refused joins of a port: as many at once as log_flood.h allows. */
#define REFUSALS_AT_ONCE 60
#define REFUSALS_EVERY	 MONO_S

enum { TOLD_GUESSES = SA_ABUSES };

struct asker {
	guid_t guid; /* 0: no port has the LID */
	mono_t window;
	uint32_t n; /* number of requests since `window` */
	uint64_t guesses;
	mono_t guessed_at;
	struct told told; /* abuses by kind, and TOLD_GUESSES */
	struct log_limit refusals;
	struct {
		uint32_t n; /* number since `since` */
		mono_t since, told_at;
	} abuses[SA_ABUSES];
};

struct askers {
	struct guidmap *by_lid; /* struct asker by base LID */
};

struct askers *askers_new(void)
{
	struct askers *a = xcalloc(1, sizeof(*a));

	a->by_lid = guidmap_new();
	return a;
}

struct askers *askers_free(struct askers *a)
{
	size_t pos = 0;
	void *asker;

	if (!a)
		return NULL;
	while (guidmap_next(a->by_lid, &pos, NULL, &asker))
		free(asker);
	guidmap_free(a->by_lid);
	free(a);
	return NULL;
}

static struct asker *asker_of(struct sa *sa, const struct sa_request *rq)
{
	const struct view_port *p = rq->port != VIEW_NONE ? &sa->view->ports[rq->port] : NULL;
	lid_t lid = p ? p->lid : rq->from.lid;
	guid_t guid = p ? p->guid : 0;
	struct asker *a = guidmap_get(sa->askers->by_lid, lid);

	if (!a) {
		a = xcalloc(1, sizeof(*a));
		a->guid = guid;
		guidmap_put(sa->askers->by_lid, lid, a);
	}
	if (a->guid != guid)
		*a = (struct asker){ .guid = guid };
	return a;
}

bool askers_may_ask(struct sa *sa, const struct sa_request *rq)
{
	uint32_t most = sa->conf->sa_rate_threshold;
	struct asker *a;

	if (!most)
		return true;
	a = asker_of(sa, rq);
	if (!a->n || sa->now - a->window >= RATE_WINDOW) {
		a->window = sa->now;
		a->n = 0;
	}
	if (a->n >= most)
		return false;
	a->n++;
	return true;
}

static void tell_guesses(struct sa *sa, const struct sa_request *rq, const struct asker *a)
{
	const char *hint = rq->port != VIEW_NONE && sa->hooks.is_manager &&
					   sa->hooks.is_manager(sa->hooks.arg, a->guid)
				   ? " (a subnet manager is there: is its sa_key another one?)"
				   : "";
	char text[PLACE_STRLEN + 200];
	struct sa_port_text port;

	sa_requester_text(sa, rq, &port);
	port.about.id = LOG_ID_SA_KEY_GUESSED;
	snprintf(text, sizeof(text),
		 "%s has sent %" PRIu64 " requests to subnet administration with keys that are not "
		 "sa_key: keys are tried out there, or a program has another one%s",
		 port.text, a->guesses, hint);
	log_on(port.about, LOGB_ERROR, "%s", text);
	if (sa->hooks.abused)
		sa->hooks.abused(sa->hooks.arg, "sa_key", a->guid, rq->from.lid, text);
}

void askers_guessed(struct sa *sa, const struct sa_request *rq)
{
	struct asker *a = asker_of(sa, rq);

	sa->stats.key_guesses++;
	if (a->guesses && sa->now - a->guessed_at >= SA_GUESS_QUIET) {
		a->guesses = 0;
		told_change(&a->told, TOLD_GUESSES, false);
	}
	a->guesses++;
	a->guessed_at = sa->now;
	if (a->guesses < SA_GUESSES || !told_first(&a->told, TOLD_GUESSES))
		return;
	sa->stats.key_guessers++;
	tell_guesses(sa, rq, a);
}

/* ---- refusals ------------------------------------------------------------------------------- */

bool askers_may_log(struct sa *sa, const struct sa_request *rq, unsigned *ret_more)
{
	struct log_limit *limit = &asker_of(sa, rq)->refusals;

	limit->burst = REFUSALS_AT_ONCE;
	limit->interval = REFUSALS_EVERY;
	return log_allow(limit, sa->now, ret_more);
}

static const struct {
	const char *name, *text;
} abuse_words[SA_ABUSES] = {
	[SA_ABUSE_MODEL] = { "sa_model", "that only hosts with sa_key may send" },
	[SA_ABUSE_CLAIM] = { "sa_claim", "for other ports, or in their names" },
	[SA_ABUSE_ALIAS] = { "sa_alias", "for alias GUIDs that are those of other ports" },
	[SA_ABUSE_QUOTA] = { "sa_quota", "for more than one port may register" },
	[SA_ABUSE_RATE] = { "sa_rate", "beyond sa_rate_threshold" },
};

static void tell_abuse(struct sa *sa, const struct sa_request *rq, enum sa_abuse kind, mono_t since)
{
	char text[PLACE_STRLEN + 200];
	struct sa_port_text port;

	sa_requester_text(sa, rq, &port);
	port.about.id = LOG_ID_SA_REFUSED;
	port.about.hint = abuse_words[kind].name;
	snprintf(text, sizeof(text),
		 "%s has sent %u requests to subnet administration in %u s %s: all were refused; "
		 "those that follow are counted",
		 port.text, SA_ABUSE_MANY, (unsigned)((sa->now - since) / MONO_S) + 1,
		 abuse_words[kind].text);
	log_on(port.about, LOGB_ERROR, "%s", text);
	if (sa->hooks.abused)
		sa->hooks.abused(sa->hooks.arg, abuse_words[kind].name, port.about.port_guid,
				 rq->from.lid, text);
}

void sa_abused(struct sa *sa, const struct sa_request *rq, enum sa_abuse kind)
{
	struct asker *a;

	assert(kind < SA_ABUSES);
	if (rq->trusted)
		return;
	a = asker_of(sa, rq);
	if (!a->abuses[kind].n || sa->now - a->abuses[kind].since >= SA_ABUSE_WINDOW) {
		a->abuses[kind].since = sa->now;
		a->abuses[kind].n = 0;
	}
	if (++a->abuses[kind].n < SA_ABUSE_MANY ||
	    (!told_first(&a->told, kind) && sa->now - a->abuses[kind].told_at < SA_ABUSE_QUIET))
		return;
	a->abuses[kind].told_at = sa->now;
	tell_abuse(sa, rq, kind, a->abuses[kind].since);
}
