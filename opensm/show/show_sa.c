// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sa: the records that hosts registered, table by table, and the quotas of each. Managers: all
 * subnet managers that are known.
 *
 * The key of a service proves its owner: it is never shown.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sa/guidinfo.h"
#include "sa/mcast/mgroup.h"
#include "sa/notice/inform.h"
#include "sa/service.h"
#include "show/show_internal.h"
#include "sm/sm_ledger.h"
#include "util/mem.h"
#include "util/str.h"

struct service_row {
	uint8_t record[SVR_BYTES];
	guid_t owner;
	uint32_t left;
};

struct subscription_row {
	uint8_t info[INF_BYTES];
	guid_t port;
	lid_t lid;
	uint8_t state;
	unsigned failures;
};

struct alias_row {
	guid_t port, alias;
	unsigned index;
};

static const struct {
	const char *name;
	size_t offset; /* in struct conf */
} quotas[] = {
	{ "groups", offsetof(struct conf, sa_max_groups) },
	{ "groups_each", offsetof(struct conf, sa_max_groups_per_port) },
	{ "members", offsetof(struct conf, sa_max_members) },
	{ "members_each", offsetof(struct conf, sa_max_members_per_port) },
	{ "services", offsetof(struct conf, sa_max_services) },
	{ "services_each", offsetof(struct conf, sa_max_services_per_port) },
	{ "subscriptions", offsetof(struct conf, sa_max_subscriptions) },
	{ "subscriptions_each", offsetof(struct conf, sa_max_subscriptions_per_port) },
	{ "aliases", offsetof(struct conf, sa_max_alias_guids) },
	{ "queries", offsetof(struct conf, sa_max_queries) },
	{ "queries_each", offsetof(struct conf, sa_max_queries_per_port) },
	{ "members_each_untrusted", offsetof(struct conf, sa_etm_max_num_mcgs) },
	{ "services_each_untrusted", offsetof(struct conf, sa_etm_max_num_srvcs) },
	{ "subscriptions_each_untrusted", offsetof(struct conf, sa_etm_max_num_event_subs) },
	{ "long_answers_each", offsetof(struct conf, sa_max_long_answers_per_port) },
};

struct tables {
	uint32_t quotas[ARRAY_SIZE(quotas)];
	bool services_wanted, subscriptions_wanted, aliases_wanted;
	struct service_row *services;
	size_t n_services, cap_services;
	struct subscription_row *subscriptions;
	size_t n_subscriptions, cap_subscriptions;
	struct alias_row *aliases;
	size_t n_aliases, cap_aliases;
	struct sa_stats stats;
	struct sa_drop_count drops[SA_DROP_ROWS];
	unsigned n_drops;
};

static void clear_tables(struct show *s)
{
	struct tables *t = s->rows;

	free(t->services);
	free(t->subscriptions);
	free(t->aliases);
}

/* ---- copied on the main thread -------------------------------------------------------------- */

static void copy_services(struct tables *t, const struct sa *sa)
{
	uint64_t cursor = 0;
	const struct service *r;

	while ((r = services_before(sa, &cursor))) {
		if (r->manager)
			continue;
		GROW(t->services, t->n_services + 1, t->cap_services);
		t->services[t->n_services] = (struct service_row){
			.owner = r->owner,
			.left = service_left(r, sa->now),
		};
		memcpy(t->services[t->n_services++].record, r->record, SVR_BYTES);
	}
}

static void copy_subscriptions(struct tables *t, const struct sa *sa)
{
	uint64_t cursor = 0;
	const struct subscription *r;

	while ((r = informs_before(sa, &cursor))) {
		GROW(t->subscriptions, t->n_subscriptions + 1, t->cap_subscriptions);
		t->subscriptions[t->n_subscriptions] = (struct subscription_row){
			.port = r->subscriber->port_guid,
			.lid = r->subscriber->addr.lid,
			.state = r->subscriber->state,
			.failures = r->subscriber->failures,
		};
		memcpy(t->subscriptions[t->n_subscriptions++].info, r->info, INF_BYTES);
	}
}

static void copy_aliases(struct tables *t, const struct sa *sa)
{
	size_t n;
	_cleanup_free_ struct alias_port **ports = alias_guids_sorted(sa, &n);

	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < ports[i]->n_blocks * ALIAS_BLOCK; k++) {
			if (!ports[i]->guids[k])
				continue;
			GROW(t->aliases, t->n_aliases + 1, t->cap_aliases);
			t->aliases[t->n_aliases++] = (struct alias_row){
				.port = ports[i]->port,
				.alias = ports[i]->guids[k],
				.index = k,
			};
		}
}

static void copy_drops(struct tables *t, const struct sa *sa)
{
	const struct sa_drop_count *drops = sa_drop_counts(sa, &t->n_drops);

	memcpy(t->drops, drops, t->n_drops * sizeof(*drops));
}

static bool choose_tables(struct tables *t, const char *word, struct control_error *err)
{
	t->services_wanted = !word[0] || !strcmp(word, "services");
	t->subscriptions_wanted = !word[0] || !strcmp(word, "subscriptions");
	t->aliases_wanted = !word[0] || !strcmp(word, "aliases");
	if (t->services_wanted || t->subscriptions_wanted || t->aliases_wanted)
		return true;
	return control_fail(err, "InvalidParameter",
			    "'%.40s' is no table; expected services, subscriptions or aliases",
			    word);
}

enum control_collected show_sa_collect(void *snapshot, const struct daemon_api *api,
				       struct control_error *err)
{
	struct show *s = snapshot;
	struct tables *t;

	if (show_collect(s, api, err) == CONTROL_MORE)
		return CONTROL_MORE;
	s->rows = t = xcalloc(1, sizeof(*t));
	s->clear_rows = clear_tables;
	if (!choose_tables(t, s->word[0], err))
		return CONTROL_FAILED;
	t->stats = *sa_stats(sm_sa(api->sm));
	copy_drops(t, sm_sa(api->sm));
	for (size_t i = 0; i < ARRAY_SIZE(quotas); i++)
		t->quotas[i] = *(const uint32_t *)((const char *)api->conf + quotas[i].offset);
	t->quotas[1] = sa_groups_per_port(sm_sa(api->sm));
	if (t->services_wanted)
		copy_services(t, sm_sa(api->sm));
	if (t->subscriptions_wanted)
		copy_subscriptions(t, sm_sa(api->sm));
	if (t->aliases_wanted)
		copy_aliases(t, sm_sa(api->sm));
	return CONTROL_COLLECTED;
}

/* ---- tables --------------------------------------------------------------------------------- */

static void put_service(struct json_object *o, const struct show *s, const struct service_row *row)
{
	char name[65];

	json_add_guid(o, "service_id", ib_get(row->record, SVR_ID));
	json_add_str(o, "service_name",
		 str_printable(ib_at((uint8_t *)row->record, SVR_NAME), 64, name, sizeof(name)));
	show_put_gid(o, "gid", ib_at((uint8_t *)row->record, SVR_GID));
	json_add_hex(o, "pkey", (unsigned)ib_get(row->record, SVR_PKEY));
	json_add_known(o, "lease_left", row->left != SERVICE_FOREVER, row->left);
	show_put_port_guid(o, s, row->owner);
}

static const char *state_name(unsigned state)
{
	switch ((enum subscriber_state)state) {
	case SUBSCRIBER_READY:
	case SUBSCRIBER_IDLE:
	case SUBSCRIBER_BLOCKED:
	case SUBSCRIBER_CROWDED:
	case SUBSCRIBER_STATES:
		return "listening";
	case SUBSCRIBER_WAITING:
		return "asked, no answer yet";
	case SUBSCRIBER_RESTING:
		return "does not answer, left in peace for a while";
	}
	return "";
}

static void put_subscription(struct json_object *o, const struct show *s,
			     const struct subscription_row *row)
{
	unsigned trap = (unsigned)ib_get(row->info, INF_TRAP);

	show_put_port_guid(o, s, row->port);
	json_add_int(o, "subscriber_lid", row->lid);
	json_add_int(o, "qpn", (int64_t)ib_get(row->info, INF_QPN));
	json_add_bool(o, "generic", ib_get(row->info, INF_IS_GENERIC));
	json_add_known(o, "trap", trap != 0xFFFF, trap); /* null: all traps */
	json_add_int(o, "lid_begin", (int64_t)ib_get(row->info, INF_LID_BEGIN));
	json_add_int(o, "lid_end", (int64_t)ib_get(row->info, INF_LID_END));
	json_add_str(o, "state", state_name(row->state));
	json_add_int(o, "failures", row->failures);
}

static void put_alias(struct json_object *o, const struct show *s, const struct alias_row *row)
{
	json_add_guid(o, "alias_guid", row->alias);
	json_add_int(o, "index", row->index);
	show_put_port_guid(o, s, row->port);
}

void show_put_sa_counts(struct json_object *o, const struct sa_stats *c)
{
	json_add_int(o, "requests", (int64_t)c->requests);
	json_add_int(o, "answered", (int64_t)c->answered);
	json_add_int(o, "refused", (int64_t)c->refused);
	json_add_int(o, "dropped", (int64_t)c->dropped);
	json_add_int(o, "key_guesses", (int64_t)c->key_guesses);
	json_add_int(o, "reports", (int64_t)c->reports);
	json_add_int(o, "reports_lost", (int64_t)c->reports_lost);
	json_add_int(o, "groups", c->groups);
	json_add_int(o, "members", c->members);
	json_add_int(o, "services", c->services);
	json_add_int(o, "subscriptions", c->subscriptions);
	json_add_int(o, "aliases", c->guids);
	json_add_int(o, "queries", c->queries);
}

static void put_drops(struct json_object *array, const struct tables *t)
{
	for (unsigned i = 0; i < t->n_drops; i++) {
		struct json_object *o = json_append_object(array);

		json_add_str(o, "why", t->drops[i].why);
		json_add_int(o, "n", (int64_t)t->drops[i].n);
	}
}

static void put_quotas(struct json_object *o, const uint32_t values[])
{
	json_add_int(o, "mlids", MLIDS_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(quotas); i++)
		json_add_int(o, quotas[i].name, values[i]);
}

/* An array, or null where the table was not asked for. */
static struct json_object *add_table(struct json_object *o, const char *key, bool wanted)
{
	if (wanted)
		return json_add_array(o, key);
	json_add_str(o, key, NULL);
	return NULL;
}

struct json_object *show_sa(void *snapshot, struct control_error *err)
{
	struct show *s = snapshot;
	const struct tables *t = s->rows;
	struct json_object *ret = json_object_new_object(), *rows;

	show_put_sa_counts(json_add_object(ret, "counts"), &t->stats);
	put_drops(json_add_array(ret, "dropped"), t);
	put_quotas(json_add_object(ret, "quotas"), t->quotas);
	rows = add_table(ret, "services", t->services_wanted);
	for (size_t i = 0; i < t->n_services; i++)
		put_service(json_append_object(rows), s, &t->services[i]);
	rows = add_table(ret, "subscriptions", t->subscriptions_wanted);
	for (size_t i = 0; i < t->n_subscriptions; i++)
		put_subscription(json_append_object(rows), s, &t->subscriptions[i]);
	rows = add_table(ret, "aliases", t->aliases_wanted);
	for (size_t i = 0; i < t->n_aliases; i++)
		put_alias(json_append_object(rows), s, &t->aliases[i]);
	return ret;
}

/* ---- managers ------------------------------------------------------------------------------- */

static void put_own_manager(struct json_object *o, const struct sm *sm)
{
	const struct port *own = sm_fabric(sm)->own_port;
	char where[PORT_STRLEN];

	json_add_bool(o, "own", true);
	json_add_guid(o, "port_guid", own ? own->guid : 0);
	json_add_str(o, "state", sm_state_name(sm_state(sm)));
	json_add_int(o, "priority", sm_told_priority(sm));
	json_add_str(o, "where", own ? fabric_port_str(own, where) : NULL);
}

static void put_other_manager(struct json_object *o, const struct sm *sm,
			      const struct sm_manager *m)
{
	struct sm_ledger_peer p;

	sm_ledger_peer(sm, m->guid, &p);
	json_add_bool(o, "own", false);
	json_add_guid(o, "port_guid", m->guid);
	json_add_str(o, "state", m->known ? sm_state_name(m->state) : NULL);
	json_add_known(o, "priority", m->known, m->priority);
	json_add_bool(o, "watched", m->polled);
	json_add_str(o, "not_trusted", m->trust);
	json_add_str(o, "where", m->where);
	json_object_object_add(o, "ledger", show_ledger_standing(sm, &p));
}

struct json_object *show_managers(const struct daemon_api *api, struct json_object *parameters,
				  struct control_error *err)
{
	struct json_object *ret, *array;
	struct sm_manager m;

	if (!api->sm)
		return control_fail(err, "NotReady", "no port is open: %.250s", api->status);
	ret = json_object_new_object();
	array = json_add_array(ret, "managers");
	put_own_manager(json_append_object(array), api->sm);
	for (unsigned i = 0; sm_manager_at(api->sm, i, &m); i++)
		put_other_manager(json_append_object(array), api->sm, &m);
	return ret;
}
