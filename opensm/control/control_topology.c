// SPDX-License-Identifier: BSD-2-Clause
/*
 * Drift and TopologyText: what differs from the fabric as it was meant, and both pictures as text.
 * References are taken on the main thread, and the fabric is copied there in turns; documents are
 * made by the worker. Files are written by the caller: the manager's unit may write to its cache
 * folder alone.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/control_internal.h"
#include "sm/expected/expected.h"
#include "topo/expect_file.h"
#include "util/mem.h"
#include "util/str.h"
#include "view/view_copy.h"
#include "view/view_facts.h"

struct topology {
	const struct daemon_api *api;
	unsigned term; /* term of the master that was asked */
	struct sm_expected shown;
	char *path, *refused;
	struct drift *drift;	/* NULL: nothing was compared yet */
	struct view_copy *copy; /* copy of the fabric in progress; `found` when complete */
	struct view *found;
	char *accept; /* a finding, or "all"; NULL: the picture as it is found */
	enum expect_format format;
	int64_t now;
};

static struct topology *topology_new(const struct daemon_api *api)
{
	struct topology *t = xcalloc(1, sizeof(*t));
	int64_t realtime;
	mono_t now;

	t->api = api;
	t->term = api->terms;
	sm_expected(api->sm, &t->shown);
	t->path = t->shown.path ? xstrdup(t->shown.path) : NULL;
	t->refused = t->shown.refused ? xstrdup(t->shown.refused) : NULL;
	t->drift = t->shown.drift ? drift_ref(t->shown.drift) : NULL;
	api->clock(api->arg, &now, &realtime);
	t->now = realtime / 1000000;
	return t;
}

void control_topology_drop(void *snapshot)
{
	struct topology *t = snapshot;

	drift_unref(t->drift);
	view_copy_free(t->copy);
	view_unref(t->found);
	free(t->path);
	free(t->refused);
	free(t->accept);
	free(t);
}

static bool is_ready(const struct daemon_api *api, struct control_error *err)
{
	if (!control_manager(api, err))
		return false;
	if (sm_state(api->sm) != SM_MASTER || !sm_stats(api->sm)->heavy_sweeps)
		return control_fail(err, "NotMaster",
				    "the manager is %s; the master compares, after its first sweep",
				    sm_state_name(sm_state(api->sm)));
	return true;
}

bool control_same_term(const struct daemon_api *api, unsigned term, struct control_error *err)
{
	if (api->terms == term)
		return true;
	return control_fail(err, "NotMaster",
			    "the manager entered another state meanwhile, and nothing was written: "
			    "ask the master again");
}

/* ---- Drift ----------------------------------------------------------------------------------- */

void *control_drift_new(const struct control_method *m, const struct daemon_api *api,
			struct json_object *parameters, struct control_error *err)
{
	return is_ready(api, err) ? topology_new(api) : NULL;
}

#define ID_STRLEN 9

static char *id_of(const struct drift_row *row, char ret[static ID_STRLEN])
{
	snprintf(ret, ID_STRLEN, "%08" PRIx32, (uint32_t)(row->key ^ row->key >> 32));
	return ret;
}

#define FINDING_FIELDS(F)                                                                          \
	F("id", STR, id_of(row, id))                                                               \
	F("cause", WORD(expect_kind_name, EXPECT_KINDS), expect_kind_name(row->kind))              \
	F("text", STR, row->text)                                                                  \
	F("since", SECONDS, row->since)

static const struct json_field finding_fields[] = FIELDS_TABLE(FINDING_FIELDS);

static struct json_object *finding_of(const struct drift_row *row)
{
	char id[ID_STRLEN];

	return FIELDS_NEW(FINDING_FIELDS);
}

/* In order of causes, as the comparison without a manager. `d` NULL: nothing was compared yet. */
static struct json_object *findings_of(const struct drift *d)
{
	struct json_object *list = json_object_new_array();

	for (unsigned kind = 0; d && kind < EXPECT_KINDS; kind++)
		for (uint32_t i = 0; d->of_kind[kind] && i < d->n; i++)
			if (d->rows[i].kind == kind)
				json_object_array_add(list, finding_of(&d->rows[i]));
	return list;
}

#define DRIFT_FIELDS(F)                                                                            \
	F("file", OPT(STR), t->path)                                                               \
	F("refused", OPT(STR), t->refused)                                                         \
	F("in_force", BOOL, t->shown.in_force)                                                     \
	F("compared", BOOL, t->drift)                                                              \
	F("cables", INT, t->shown.cables)                                                          \
	F("held", INT, t->shown.held)                                                              \
	F("spared", INT, t->shown.spared)                                                          \
	F("grace", BOOL, t->shown.is_grace)                                                        \
	F("learnt", KNOWN, t->shown.learnt, t->shown.learnt)                                       \
	F("findings", LIST(finding_fields), findings_of(t->drift))

const struct json_field control_drift_fields[] = FIELDS_TABLE(DRIFT_FIELDS);

struct json_object *control_drift(void *snapshot, struct control_error *err)
{
	const struct topology *t = snapshot;

	return FIELDS_NEW(DRIFT_FIELDS);
}

/* ---- TopologyText ---------------------------------------------------------------------------- */

static void refuse_accept(const struct topology *t, struct control_error *err)
{
	if (!t->path)
		control_fail(err, "NotReady",
			     "no file is expected: expected_topology_file is not set");
	else if (!t->drift)
		control_fail(err, "NotReady", "nothing was compared yet");
	else
		control_fail(err, "InvalidParameter",
			     "%s is a .topo of ibdm, which is not written here: change it there, "
			     "or replace it (opensmctl topology save)",
			     t->path);
}

void *control_topology_text_new(const struct control_method *m, const struct daemon_api *api,
				struct json_object *parameters, struct control_error *err)
{
	const char *accept = json_str(parameters, "accept");
	struct topology *t;

	if (!is_ready(api, err))
		return NULL;
	t = topology_new(api);
	t->accept = accept ? xstrdup(accept) : NULL;
	t->format = json_flag(parameters, "ndt", false)	  ? EXPECT_NDT
		    : json_flag(parameters, "csv", false) ? EXPECT_CSV
							  : EXPECT_NETDISCOVER;
	if (!accept) {
		t->copy = sm_view_copy(api->sm, NULL, 0, NULL);
		return t;
	}
	if (t->path && t->drift && t->drift->format != EXPECT_TOPO)
		return t;
	refuse_accept(t, err);
	control_topology_drop(t);
	return NULL;
}

enum control_collected control_topology_collect(void *snapshot, const struct daemon_api *api,
						struct control_error *err)
{
	struct topology *t = snapshot;

	if (!control_same_term(api, t->term, err))
		return CONTROL_FAILED;
	return !t->copy || view_copy_turn(&t->copy, &t->found) ? CONTROL_COLLECTED : CONTROL_MORE;
}

static const struct expect_finding *find(const struct drift *d, const char *id, bool *ret_several)
{
	const struct expect_finding *found = NULL;

	*ret_several = false;
	for (uint32_t i = 0; i < d->n; i++) {
		char own[ID_STRLEN];

		if (strcmp(id_of(&d->rows[i], own), id) != 0)
			continue;
		*ret_several |= found != NULL;
		found = &d->report->findings[d->rows[i].finding];
	}
	return found;
}

/* NULL: `err` says why. */
static struct expect *accepted(const struct topology *t, struct control_error *err)
{
	const struct drift *d = t->drift;
	bool all = str_equal(t->accept, "all"), several = false;
	const struct expect_finding *f = all ? NULL : find(d, t->accept, &several);

	if (!all && !f)
		return control_fail(err, "NotFound",
				    "no finding is called '%.40s'; expected 'all', or the "
				    "first column of 'topology diff'",
				    t->accept);
	if (several)
		return control_fail(err, "Ambiguous", "'%.40s' stands for several findings",
				    t->accept);
	return expect_accept(d->want, d->have, d->report, f);
}

/* NULL: `err`. The caller writes it to the file that managers go by. */
static struct expect *text_of(const struct topology *t, struct control_error *err)
{
	if (!control_same_term(t->api, t->term, err))
		return NULL;
	return t->accept ? accepted(t, err) : expect_build(view_facts(t->found));
}

#define TEXT_FIELDS(F)                                                                             \
	F("file", OPT(STR), t->path)                                                               \
	F("cables", INT, expect_count_cables(x))                                                   \
	F("text", STR, text)

const struct json_field control_topology_text_fields[] = FIELDS_TABLE(TEXT_FIELDS);

struct json_object *control_topology_text(void *snapshot, struct control_error *err)
{
	struct topology *t = snapshot;
	struct expect *x = text_of(t, err);
	int64_t learnt = t->accept ? t->drift->learnt : t->now;
	enum expect_format format = t->accept ? t->drift->format : t->format;
	_cleanup_free_ char *text = NULL;
	struct json_object *ret;
	size_t len;
	FILE *out;

	if (!x)
		return NULL;
	out = open_memstream(&text, &len);
	expect_write(x, format, learnt, out);
	fclose(out);
	ret = FIELDS_NEW(TEXT_FIELDS);
	expect_free(x);
	return ret;
}
