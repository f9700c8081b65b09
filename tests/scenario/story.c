// SPDX-License-Identifier: BSD-2-Clause
/*
 * The events of a manager since `mark`, a word each: "heavy", "h5 went", "h5-leaf2 down", "UP";
 * LFT blocks in a row are one "lft". Nodes have the names of the scenario.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/notices.h"
#include "route/patch/patch_text.h"
#include "tests/scenario/front.h"
#include "tests/scenario/scenario.h"
#include "util/mem.h"

static const char *name_of(const struct sim *sim, guid_t guid)
{
	for (unsigned i = 0; i < sim_n_nodes(sim); i++)
		if (sim_node_guid(sim, (int)i) == guid)
			return sim_node_id(sim, (int)i);
	return "?";
}

__attribute__((format(printf, 2, 3))) static void add(struct story *story, const char *fmt, ...)
{
	_cleanup_free_ char *word = NULL;
	va_list ap;
	size_t len;

	va_start(ap, fmt);
	if (vasprintf(&word, fmt, ap) < 0)
		abort();
	va_end(ap);
	len = strlen(word);
	GROW(story->text, story->len + len + 2, story->cap);
	if (story->len)
		story->text[story->len++] = ',';
	memcpy(story->text + story->len, word, len + 1);
	story->len += len;
}

static void keep_text(char ret[STORY_TEXT], const char *text)
{
	snprintf(ret, STORY_TEXT, "%s", text);
}

static bool ends_in(const struct story *story, const char *word)
{
	size_t len = strlen(word);

	return story->len >= len && !strcmp(story->text + story->len - len, word);
}

static void add_link(struct story *story, const struct sim *sim, const struct sm_event *e)
{
	unsigned a = strcmp(name_of(sim, e->link.guid[0]), name_of(sim, e->link.guid[1])) > 0;

	add(story, "%s-%s %s", name_of(sim, e->link.guid[a]), name_of(sim, e->link.guid[!a]),
	    e->link.up ? "up" : "down");
}

/* Of both ends the one whose node comes first by its name. */
static void add_health(struct story *story, const struct sim *sim, const struct sm_event *e)
{
	unsigned a = strcmp(name_of(sim, e->health.guid[0]), name_of(sim, e->health.guid[1])) > 0;

	add(story, "health %s %s/%u", e->health.what, name_of(sim, e->health.guid[a]),
	    e->health.port[a]);
	keep_text(story->sentence, e->health.text);
}

/* "patch 214", or with entries that wait "patch 214 waiting 3". */
static void add_patch(struct story *story, const struct sm_event *e)
{
	const struct patch_tally *t = e->patch.tally;
	char waiting[40] = "";

	if (t->destinations[PATCH_WAITING])
		snprintf(waiting, sizeof(waiting), " waiting %u", t->destinations[PATCH_WAITING]);
	add(story, "patch %u%s", patch_tally_moved(t), waiting);
	keep_text(story->sentence, e->patch.text);
}

static void add_event(struct story *story, const struct sim *sim, const struct sm_event *e)
{
	switch (e->kind) {
	case SM_EVENT_STATE:
		add(story, "%s->%s", sm_state_name(e->state.from), sm_state_name(e->state.to));
		break;
	case SM_EVENT_SWEEP_START:
		add(story, "%s", sweep_kind_name(e->sweep.kind));
		break;
	case SM_EVENT_DISCOVERED:
		add(story, "discovered");
		break;
	case SM_EVENT_SWEEP_DONE:
		add(story, "done%s", e->sweep.through ? "" : " early");
		snprintf(story->sweep, STORY_TEXT, "%u Gets, %u Sets; %u blocks, %u tops",
			 e->sweep.n_gets, e->sweep.n_sets, story->n_blocks, story->n_tops);
		break;
	case SM_EVENT_ROUTES:
		add(story, "%s %u%s", e->routes.engine, e->routes.unreachable,
		    e->routes.reroute ? " anew" : "");
		break;
	case SM_EVENT_LFT:
		story->n_blocks += !e->lft.top_changed;
		story->n_tops += e->lft.top_changed;
		if (!ends_in(story, ",lft"))
			add(story, "lft");
		break;
	case SM_EVENT_SUBNET_UP:
		add(story, e->sweep.errors ? "UP with errors" : "UP");
		break;
	case SM_EVENT_NODE:
		add(story, "%s %s", name_of(sim, e->node.node_guid),
		    e->node.came ? "came" : "went");
		break;
	case SM_EVENT_LINK:
		add_link(story, sim, e);
		break;
	case SM_EVENT_TRAP:
		add(story, "trap %u%s", (unsigned)ib_get(e->trap.notice, NT_TRAP),
		    e->trap.notice[SMP_DATA_SIZE] == 0xFE ? "" : " without a GID");
		keep_text(story->trap, e->trap.text);
		break;
	case SM_EVENT_MANAGER:
		add(story, "manager %s",
		    e->manager.gone ? "gone" : sm_state_name(e->manager.state));
		break;
	case SM_EVENT_SA_DUMPED:
		add(story, "saved");
		break;
	case SM_EVENT_PORT_DOWN:
		add(story, "PORT DOWN");
		break;
	case SM_EVENT_SECURITY:
		add(story, "security %s", e->security.what);
		keep_text(story->sentence, e->security.text);
		break;
	case SM_EVENT_DRIFT:
		add(story, "topology %s", e->drift.cause);
		break;
	case SM_EVENT_HEALTH:
		add_health(story, sim, e);
		break;
	case SM_EVENT_MARK:
		add(story, "mark %s %s/%u", e->mark.what, name_of(sim, e->mark.guid), e->mark.port);
		keep_text(story->sentence, e->mark.text);
		break;
	case SM_EVENT_ALARM: /* named by its cause already: another event of this list */
		break;
	case SM_EVENT_PATCH:
		add_patch(story, e);
		break;
	case SM_EVENT_KINDS:
		abort();
	}
}

/*
 * No event is of a time that is still to come; nodes and links that were announced to follow at
 * once do. Else the story has a word that no scenario expects.
 */
static void look_at_order(struct story *story, const struct sim *sim, const struct sm_event *e)
{
	if (e->at > sim_now(sim))
		add(story, "TOO EARLY");
	if (story->more && e->more != story->more - 1)
		add(story, "NOT ANNOUNCED");
	story->more = e->more;
}

void story_event(struct rig_sm *sm, const struct sm_event *event)
{
	struct scenario *s = sm->rig->owner;
	struct story *story = &s->stories[sm - sm->rig->sms];

	look_at_order(story, sm->rig->sim, event);
	add_event(story, sm->rig->sim, event);
	if (s->front)
		front_event(sm, event);
}
