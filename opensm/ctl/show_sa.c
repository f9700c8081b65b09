// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sa: what hosts have registered, table by table, and how much of each they may. Managers: who else is
 * there.
 *
 * A service's key is what its owner proves himself with: it is never shown.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/show.h"
#include "sa/guidinfo.h"
#include "sa/inform.h"
#include "sa/mgroup.h"
#include "sa/service.h"
#include "util/guidmap.h"
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

struct tables {
	bool services_wanted, subscriptions_wanted, aliases_wanted;
	struct service_row *services;
	size_t n_services, cap_services;
	struct subscription_row *subscriptions;
	size_t n_subscriptions, cap_subscriptions;
	struct alias_row *aliases;
	size_t n_aliases, cap_aliases;
	struct sa_stats stats;
};

static void free_tables(struct show *s)
{
	struct tables *t = s->rows;

	if (!t)
		return;
	free(t->services);
	free(t->subscriptions);
	free(t->aliases);
	free(t);
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
			.port = r->who->port_guid,
			.lid = r->who->addr.lid,
			.state = r->who->state,
			.failures = r->who->failures,
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

static bool choose(struct tables *t, const char *word, struct control_error *err)
{
	t->services_wanted = !word[0] || !strcmp(word, "services");
	t->subscriptions_wanted = !word[0] || !strcmp(word, "subscriptions");
	t->aliases_wanted = !word[0] || !strcmp(word, "aliases");
	if (t->services_wanted || t->subscriptions_wanted || t->aliases_wanted)
		return true;
	control_fail(err, "InvalidParameter", "'%.40s' is no table; expected services, subscriptions or aliases",
		     word);
	return false;
}

void *show_sa_new(const struct scene *scene, struct json_object *parameters,
		  struct control_error *err)
{
	struct show *s = show_asked(scene, parameters, (const char *const[]){ "table", NULL },
				    SHOW_ANSWERS, err);
	struct tables *t;

	if (!s)
		return NULL;
	s->rows = t = xcalloc(1, sizeof(*t));
	s->free_rows = free_tables;
	if (!choose(t, s->word[0], err)) {
		show_drop(s);
		return NULL;
	}
	t->stats = *sa_stats(sm_sa(scene->sm));
	if (t->services_wanted)
		copy_services(t, sm_sa(scene->sm));
	if (t->subscriptions_wanted)
		copy_subscriptions(t, sm_sa(scene->sm));
	if (t->aliases_wanted)
		copy_aliases(t, sm_sa(scene->sm));
	return s;
}

/* ---- tables --------------------------------------------------------------------------------- */

static struct json_object *service_object(const struct show *s, const struct service_row *row)
{
	struct json_object *o = json_object_new_object();
	char name[65];

	json_add_guid(o, "service_id", ib_get(row->record, SVR_ID));
	json_add_str(o, "service_name",
		 str_printable(ib_at((uint8_t *)row->record, SVR_NAME), 64, name, sizeof(name)));
	show_put_gid(o, "gid", ib_at((uint8_t *)row->record, SVR_GID));
	show_put_hex(o, "pkey", (unsigned)ib_get(row->record, SVR_PKEY));
	/* null: for ever */
	json_object_object_add(o, "lease_left", row->left == SERVICE_FOREVER
							? NULL : json_object_new_int64(row->left));
	show_put_port_guid(o, s, row->owner);
	return o;
}

static const char *state_name(unsigned state)
{
	switch ((enum subscriber_state)state) {
	case SUBSCRIBER_LISTENING:
		return "listening";
	case SUBSCRIBER_WAITING:
		return "asked, no answer yet";
	case SUBSCRIBER_RESTING:
		return "does not answer, left in peace for a while";
	}
	return "";
}

static struct json_object *subscription_object(const struct show *s,
					       const struct subscription_row *row)
{
	struct json_object *o = json_object_new_object();
	bool generic = ib_get(row->info, INF_IS_GENERIC);
	unsigned trap = (unsigned)ib_get(row->info, INF_TRAP), qpn = (unsigned)ib_get(row->info, INF_QPN);

	show_put_port_guid(o, s, row->port);
	json_add_int(o, "subscriber_lid", row->lid);
	json_add_int(o, "qpn", qpn);
	json_add_bool(o, "generic", generic);
	json_object_object_add(o, "trap", trap == 0xFFFF ? NULL : json_object_new_int((int)trap)); /* null: all */
	json_add_int(o, "lid_begin", (int64_t)ib_get(row->info, INF_LID_BEGIN));
	json_add_int(o, "lid_end", (int64_t)ib_get(row->info, INF_LID_END));
	json_add_str(o, "state", state_name(row->state));
	json_add_int(o, "failures", row->failures);
	return o;
}

static struct json_object *alias_object(const struct show *s, const struct alias_row *row)
{
	struct json_object *o = json_object_new_object();

	json_add_guid(o, "alias_guid", row->alias);
	json_add_int(o, "index", row->index);
	show_put_port_guid(o, s, row->port);
	return o;
}

struct json_object *show_sa_counts(const struct sa_stats *c)
{
	struct json_object *o = json_object_new_object();

	json_add_int(o, "requests", (int64_t)c->requests);
	json_add_int(o, "answered", (int64_t)c->answered);
	json_add_int(o, "refused", (int64_t)c->refused);
	json_add_int(o, "dropped", (int64_t)c->dropped);
	json_add_int(o, "reports", (int64_t)c->reports);
	json_add_int(o, "reports_lost", (int64_t)c->reports_lost);
	json_add_int(o, "groups", c->groups);
	json_add_int(o, "members", c->members);
	json_add_int(o, "services", c->services);
	json_add_int(o, "subscriptions", c->subscriptions);
	json_add_int(o, "aliases", c->guids);
	json_add_int(o, "queries", c->queries);
	return o;
}

static void put_quotas(struct json_object *ret)
{
	struct json_object *o = json_object_new_object();

	json_add_int(o, "groups", MGROUPS_MAX);
	json_add_int(o, "mlids", MLIDS_MAX);
	json_add_int(o, "members", MGROUP_MEMBERS_MAX);
	json_add_int(o, "members_each", MGROUP_MEMBERS_PER_PORT);
	json_add_int(o, "services", SERVICE_MAX);
	json_add_int(o, "services_each", SERVICE_PER_PORT);
	json_add_int(o, "subscriptions", INFORM_MAX);
	json_add_int(o, "subscriptions_each", INFORM_PER_PORT);
	json_add_int(o, "aliases", ALIAS_MAX);
	json_object_object_add(ret, "quotas", o);
}

struct json_object *show_sa(void *snapshot, struct control_error *err)
{
	struct show *s = snapshot;
	const struct tables *t = s->rows;
	struct json_object *ret = json_object_new_object();
	struct json_object *services = json_object_new_array(), *aliases = json_object_new_array();
	struct json_object *subscriptions = json_object_new_array();

	show_index(s);
	json_object_object_add(ret, "counts", show_sa_counts(&t->stats));
	put_quotas(ret);
	for (size_t i = 0; i < t->n_services; i++)
		json_object_array_add(services, service_object(s, &t->services[i]));
	for (size_t i = 0; i < t->n_subscriptions; i++)
		json_object_array_add(subscriptions, subscription_object(s, &t->subscriptions[i]));
	for (size_t i = 0; i < t->n_aliases; i++)
		json_object_array_add(aliases, alias_object(s, &t->aliases[i]));
	json_object_object_add(ret, "services", t->services_wanted ? services : NULL);
	json_object_object_add(ret, "subscriptions", t->subscriptions_wanted ? subscriptions : NULL);
	json_object_object_add(ret, "aliases", t->aliases_wanted ? aliases : NULL);
	if (!t->services_wanted)
		json_object_put(services);
	if (!t->subscriptions_wanted)
		json_object_put(subscriptions);
	if (!t->aliases_wanted)
		json_object_put(aliases);
	return ret;
}

/* ---- managers ------------------------------------------------------------------------------- */

static struct json_object *own_manager(const struct sm *sm)
{
	struct json_object *o = json_object_new_object();
	const struct port *own = sm_fabric(sm)->own_port;
	char where[PORT_STRLEN];

	json_add_bool(o, "own", true);
	json_add_guid(o, "port_guid", own ? own->guid : 0);
	json_add_str(o, "state", sm_state_name(sm_state(sm)));
	json_add_int(o, "priority", sm_told_priority(sm));
	json_add_str(o, "where", own ? fabric_port_str(own, where) : NULL);
	return o;
}

static struct json_object *other_manager(const struct sm_manager *m)
{
	struct json_object *o = json_object_new_object();

	json_add_bool(o, "own", false);
	json_add_guid(o, "port_guid", m->guid);
	json_add_str(o, "state", m->known ? sm_state_name(m->state) : NULL);
	json_object_object_add(o, "priority", m->known ? json_object_new_int(m->priority) : NULL);
	json_add_bool(o, "watched", m->polled);
	json_add_str(o, "not_trusted", m->trust);
	json_add_str(o, "where", m->where);
	return o;
}

struct json_object *show_managers(const struct scene *scene, struct json_object *parameters,
				  struct control_error *err)
{
	struct json_object *ret, *array;
	struct sm_manager m;

	if (!scene->sm) {
		control_fail(err, "NotReady", "no port is open: %.250s", scene->status);
		return NULL;
	}
	ret = json_object_new_object();
	array = json_object_new_array();
	json_object_array_add(array, own_manager(scene->sm));
	for (unsigned i = 0; sm_manager_at(scene->sm, i, &m); i++)
		json_object_array_add(array, other_manager(&m));
	json_object_object_add(ret, "managers", array);
	return ret;
}
