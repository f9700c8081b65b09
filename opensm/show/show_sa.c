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

/* The owner comes behind these. */
#define SERVICE_FIELDS(F)                                                                          \
	F("service_id", GUID, ib_get(row->record, SVR_ID))                                         \
	F("service_name", STR,                                                                     \
	  str_printable(ib_at((uint8_t *)row->record, SVR_NAME), 64, name, sizeof(name)))          \
	F("gid", GID, ib_at((uint8_t *)row->record, SVR_GID))                                      \
	F("pkey", HEX, (unsigned)ib_get(row->record, SVR_PKEY))                                    \
	F("lease_left", KNOWN, row->left != SERVICE_FOREVER, row->left)

static const struct json_field service_fields[] = { SERVICE_FIELDS(FIELD_ROW)
							    SHOW_END_FIELDS(FIELD_MAYBE){ 0 } };

static struct json_object *service_of(const struct show *s, const struct service_row *row)
{
	struct json_object *o = json_object_new_object();
	char name[65];

	FIELDS_PUT(SERVICE_FIELDS);
	show_put_port_guid(o, s, row->owner);
	return o;
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

/* Behind the port; a trap that is null stands for all. */
#define SUBSCRIPTION_FIELDS(F)                                                                     \
	F("subscriber_lid", INT, row->lid)                                                         \
	F("qpn", INT, ib_get(row->info, INF_QPN))                                                  \
	F("generic", BOOL, ib_get(row->info, INF_IS_GENERIC))                                      \
	F("trap", KNOWN, trap != 0xFFFF, trap)                                                     \
	F("lid_begin", INT, ib_get(row->info, INF_LID_BEGIN))                                      \
	F("lid_end", INT, ib_get(row->info, INF_LID_END))                                          \
	F("state", STR, state_name(row->state))                                                    \
	F("failures", INT, row->failures)

static const struct json_field subscription_fields[] = { SHOW_END_FIELDS(
	FIELD_MAYBE) SUBSCRIPTION_FIELDS(FIELD_ROW){ 0 } };

static struct json_object *subscription_of(const struct show *s, const struct subscription_row *row)
{
	struct json_object *o = json_object_new_object();
	unsigned trap = (unsigned)ib_get(row->info, INF_TRAP);

	show_put_port_guid(o, s, row->port);
	FIELDS_PUT(SUBSCRIPTION_FIELDS);
	return o;
}

/* The port comes behind these. */
#define ALIAS_FIELDS(F)                                                                            \
	F("alias_guid", GUID, row->alias)                                                          \
	F("index", INT, row->index)

static const struct json_field alias_fields[] = { ALIAS_FIELDS(FIELD_ROW)
							  SHOW_END_FIELDS(FIELD_MAYBE){ 0 } };

static struct json_object *alias_of(const struct show *s, const struct alias_row *row)
{
	struct json_object *o = json_object_new_object();

	FIELDS_PUT(ALIAS_FIELDS);
	show_put_port_guid(o, s, row->port);
	return o;
}

#define COUNT_FIELDS(F)                                                                            \
	F("requests", INT, c->requests)                                                            \
	F("answered", INT, c->answered)                                                            \
	F("refused", INT, c->refused)                                                              \
	F("dropped", INT, c->dropped)                                                              \
	F("key_guesses", INT, c->key_guesses)                                                      \
	F("reports", INT, c->reports)                                                              \
	F("reports_lost", INT, c->reports_lost)                                                    \
	F("groups", INT, c->groups)                                                                \
	F("members", INT, c->members)                                                              \
	F("services", INT, c->services)                                                            \
	F("subscriptions", INT, c->subscriptions)                                                  \
	F("aliases", INT, c->guids)                                                                \
	F("queries", INT, c->queries)

const struct json_field show_sa_count_fields[] = FIELDS_TABLE(COUNT_FIELDS);

struct json_object *show_sa_counts(const struct sa_stats *c)
{
	return FIELDS_NEW(COUNT_FIELDS);
}

#define DROP_FIELDS(F)                                                                             \
	F("why", STR, drop->why->text)                                                             \
	F("n", INT, drop->n)

static const struct json_field drop_fields[] = FIELDS_TABLE(DROP_FIELDS);

static struct json_object *drop_of(const struct sa_drop_count *drop)
{
	return FIELDS_NEW(DROP_FIELDS);
}

static struct json_object *quotas_of(const uint32_t values[])
{
	struct json_object *o = json_object_new_object();

	json_add_int(o, "mlids", MLIDS_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(quotas); i++)
		json_add_int(o, quotas[i].name, values[i]);
	return o;
}

/* A table that was not asked for is null. */
#define SA_TABLE(wanted, n, row) ((wanted) ? JSON_LIST(n, row) : NULL)

#define SA_FIELDS(F)                                                                               \
	F("counts", OBJECT(show_sa_count_fields), show_sa_counts(&t->stats))                       \
	F("dropped", LIST(drop_fields), JSON_LIST(t->n_drops, drop_of(&t->drops[i])))              \
	F("quotas", OF("[string]int"), quotas_of(t->quotas))                                       \
	F("services", OPT_LIST(service_fields),                                                    \
	  SA_TABLE(t->services_wanted, t->n_services, service_of(s, &t->services[i])))             \
	F("subscriptions", OPT_LIST(subscription_fields),                                          \
	  SA_TABLE(t->subscriptions_wanted, t->n_subscriptions,                                    \
		   subscription_of(s, &t->subscriptions[i])))                                      \
	F("aliases", OPT_LIST(alias_fields),                                                       \
	  SA_TABLE(t->aliases_wanted, t->n_aliases, alias_of(s, &t->aliases[i])))

const struct json_field show_sa_fields[] = FIELDS_TABLE(SA_FIELDS);

struct json_object *show_sa(void *snapshot, struct control_error *err)
{
	const struct show *s = snapshot;
	const struct tables *t = s->rows;

	return FIELDS_NEW(SA_FIELDS);
}

/* ---- managers ------------------------------------------------------------------------------- */

#define MANAGER_FIELDS(F)                                                                          \
	F("own", BOOL, is_own)                                                                     \
	F("port_guid", GUID, guid)                                                                 \
	F("state", OPT_WORD(sm_state_name, SM_MASTER + 1), known ? sm_state_name(state) : NULL)    \
	F("priority", KNOWN, known, priority)                                                      \
	F("watched", IF(!is_own, BOOL), m->polled)                                                 \
	F("not_trusted", IF(!is_own, OPT(STR)), m->trust)                                          \
	F("where", OPT(STR), at)                                                                   \
	F("ledger", IF(!is_own, OF("object")), ledger_of(sm, m->guid))

static const struct json_field manager_fields[] = FIELDS_TABLE(MANAGER_FIELDS);

static struct json_object *ledger_of(const struct sm *sm, guid_t guid)
{
	struct sm_ledger_peer p;

	sm_ledger_peer(sm, guid, &p);
	return show_ledger_standing(sm, &p);
}

/* `m` NULL: this one. */
static struct json_object *manager_of(const struct sm *sm, const struct sm_manager *m)
{
	const struct port *own = sm_fabric(sm)->own_port;
	bool is_own = !m, known = is_own || m->heard;
	guid_t guid = m ? m->guid : own ? own->guid : 0;
	enum sm_state state = m ? m->state : sm_state(sm);
	unsigned priority = m ? m->priority : sm_told_priority(sm);
	char where[PORT_STRLEN];
	const char *at = m ? m->where : own ? fabric_port_str(own, where) : NULL;

	return FIELDS_NEW(MANAGER_FIELDS);
}

#define MANAGERS_FIELDS(F) F("managers", LIST(manager_fields), managers)

const struct json_field show_managers_fields[] = FIELDS_TABLE(MANAGERS_FIELDS);

struct json_object *show_managers(const struct daemon_api *api, struct json_object *parameters,
				  struct control_error *err)
{
	struct json_object *managers;
	struct sm_manager m;

	if (!api->sm)
		return control_fail(err, "NotReady", "no port is open: %.250s", api->status);
	managers = json_object_new_array();
	json_object_array_add(managers, manager_of(api->sm, NULL));
	for (unsigned i = 0; sm_manager_at(api->sm, i, &m); i++)
		json_object_array_add(managers, manager_of(api->sm, &m));
	return FIELDS_NEW(MANAGERS_FIELDS);
}
