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
	unsigned term; /* of the master that was asked */
	struct sm_expected shown;
	char *path, *refused;
	struct drift *drift; /* NULL: nothing was compared yet */
	struct view_copy *copy; /* of the fabric; then */
	struct view *found;
	char *accept; /* a finding, or "all"; NULL: the picture as it is found */
	bool csv;
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
	if (!api->sm)
		return control_fail(err, "NotReady", "%s",
				    api->status[0] ? api->status : "no port is open");
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

static void id_of(const struct drift_row *row, char ret[static 9])
{
	snprintf(ret, 9, "%08" PRIx32, (uint32_t)(row->key ^ row->key >> 32));
}

static void put_finding(struct json_object *o, const struct drift_row *row)
{
	char id[9];

	id_of(row, id);
	json_add_str(o, "id", id);
	json_add_str(o, "cause", expect_kind_name(row->kind));
	json_add_str(o, "text", row->text);
	json_add_known(o, "since", row->since, row->since);
}

/* In order of causes, as the comparison without a manager. */
static void put_findings(struct json_object *list, const struct drift *d)
{
	for (unsigned kind = 0; kind < EXPECT_KINDS; kind++)
		for (uint32_t i = 0; d->of_kind[kind] && i < d->n; i++)
			if (d->rows[i].kind == kind)
				put_finding(json_append_object(list), &d->rows[i]);
}

struct json_object *control_drift(void *snapshot, struct control_error *err)
{
	const struct topology *t = snapshot;
	struct json_object *o = json_object_new_object(), *list;

	json_add_str(o, "file", t->path);
	json_add_str(o, "refused", t->refused);
	json_add_bool(o, "in_force", t->shown.in_force);
	json_add_bool(o, "compared", t->drift);
	json_add_int(o, "cables", t->shown.cables);
	json_add_int(o, "held", t->shown.held);
	json_add_int(o, "spared", t->shown.spared);
	json_add_bool(o, "grace", t->shown.is_grace);
	json_add_known(o, "learnt", t->shown.learnt, t->shown.learnt);
	list = json_add_array(o, "findings");
	if (t->drift)
		put_findings(list, t->drift);
	return o;
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
	struct json_object *csv = json_object_object_get(parameters, "csv");
	struct topology *t;

	if (!is_ready(api, err))
		return NULL;
	t = topology_new(api);
	t->accept = accept ? xstrdup(accept) : NULL;
	t->csv = csv && json_object_get_boolean(csv);
	if (!accept) {
		t->copy = sm_view_copy(api->sm, NULL, 0, NULL);
		return t;
	}
	if (t->path && t->drift && !t->drift->by_name)
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
		char own[9];

		id_of(&d->rows[i], own);
		if (strcmp(own, id) != 0)
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
		return control_fail(err, "NotFound", "no finding is called '%.40s'", t->accept);
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

struct json_object *control_topology_text(void *snapshot, struct control_error *err)
{
	struct topology *t = snapshot;
	struct expect *x = text_of(t, err);
	int64_t learnt = t->accept ? t->drift->learnt : t->now;
	bool csv = t->accept ? t->drift->csv : t->csv;
	_cleanup_free_ char *text = NULL;
	struct json_object *o;
	size_t len;
	FILE *out;

	if (!x)
		return NULL;
	out = open_memstream(&text, &len);
	expect_write(x, csv, learnt, out);
	fclose(out);
	o = json_object_new_object();
	json_add_str(o, "file", t->path);
	json_add_int(o, "cables", expect_count_cables(x));
	json_add_str(o, "text", text);
	expect_free(x);
	return o;
}
