// SPDX-License-Identifier: BSD-2-Clause
/*
 * ChangePartition and VerifyPartitions: the request goes to the manager, its end becomes the answer
 * and one record of the log.
 *
 *   begin --(manager)--> done, answered, logged
 *     \-- the caller hangs up, or the port is lost --> done, logged only
 *
 * A change outlives its caller: it is logged with its generation in any case.
 */
#include "control/control_change.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/control_internal.h"
#include "fabric/words.h"
#include "plan/pkey.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/str.h"

/* Of a request of 65,536 members: more are counted, not told. */
#define PENDING_TOLD 10000
#define BLOCKS_TOLD  2000
#define LIMITED_TOLD 64 /* partitions without a full member */
#define HOSTS_LOGGED 8
#define HOSTS_TEXT   600

struct change {
	struct control_ticket *ticket; /* NULL: the caller is gone */
	const struct daemon_api *api;
	enum tenant_action action;
	uint16_t pkey;
	size_t n_members;
	bool dry_run;
	struct json_object *hosts; /* control_read_change() */
	char client[500]; /* the cause, for the log */
};

/* ---- answers --------------------------------------------------------------------------------- */

static void put_keys(struct json_object *keys, const uint16_t block[PKEY_BLOCK])
{
	char text[12];

	for (unsigned i = 0; i < PKEY_BLOCK; i++) {
		snprintf(text, sizeof(text), "0x%04x", block[i]);
		json_append_str(keys, text);
	}
}

static void put_block(struct json_object *o, const struct daemon_api *api,
		      const struct sm_tenancy_block *b)
{
	const struct node *node = fabric_find_node(sm_fabric(api->sm), b->node_guid);

	json_add_guid(o, "node_guid", b->node_guid);
	json_add_str(o, "node", node ? node_name(node) : NULL);
	json_add_int(o, "port", b->port);
	json_add_bool(o, "switch", b->is_switch);
	json_add_int(o, "block", b->block);
	if (b->before_known)
		put_keys(json_add_array(o, "before"), b->before);
	else
		json_add_str(o, "before", NULL);
	put_keys(json_add_array(o, "after"), b->after);
}

static void put_pending(struct json_object *all, const struct daemon_api *api,
			const struct sm_tenancy_pending *rows, size_t n)
{
	for (size_t i = 0; i < MIN(n, (size_t)PENDING_TOLD); i++) {
		const struct port *p = fabric_find_port(sm_fabric(api->sm), rows[i].guid);
		struct json_object *o = json_append_object(all);

		json_add_guid(o, "guid", rows[i].guid);
		json_add_str(o, "node", p ? node_name(p->node) : NULL);
		json_add_str(o, "why", rows[i].why);
	}
}

/* While the caller is there, and with it the manager. */
static struct json_object *change_answer(const struct change *c, const struct sm_tenancy_result *r)
{
	struct json_object *o = json_object_new_object(), *blocks;

	json_add_int(o, "generation", (int64_t)r->generation);
	json_add_bool(o, "changed", r->changed);
	json_add_bool(o, "replicated", r->replicated);
	json_add_int(o, "standbys", r->n_standbys);
	json_add_int(o, "standbys_with", r->n_standbys_with);
	json_add_int(o, "n_members", (int64_t)r->n_members);
	json_add_int(o, "n_pending", (int64_t)r->n_pending);
	put_pending(json_add_array(o, "pending"), c->api, r->pending, r->n_pending);
	json_object_object_add(o, "hosts", json_object_get(c->hosts));
	if (r->text[0] && r->end == SM_TENANCY_DONE)
		json_add_str(o, "text", r->text);
	if (!c->dry_run)
		return o;
	json_add_int(o, "n_blocks", (int64_t)r->n_blocks);
	blocks = json_add_array(o, "blocks");
	for (size_t i = 0; i < MIN(r->n_blocks, (size_t)BLOCKS_TOLD); i++)
		put_block(json_append_object(blocks), c->api, &r->blocks[i]);
	return o;
}

static const char *error_name(const struct sm_tenancy_result *r)
{
	static const char *const of_end[] = {
		[SM_TENANCY_NO_ROOM] = "NoRoom",	 [SM_TENANCY_NOT_MASTER] = "NotMaster",
		[SM_TENANCY_CLOSED] = "Closed",		 [SM_TENANCY_NO_STANDBY] = "NoStandby",
		[SM_TENANCY_BUSY] = "Busy",		 [SM_TENANCY_UNCONFIRMED] = "Unconfirmed",
		[SM_TENANCY_REFUSED] = "InvalidParameter", [SM_TENANCY_DONE] = NULL,
	};
	static const char *const of_fault[] = {
		[TENANT_FINE] = "InvalidParameter", [TENANT_UNKNOWN] = "NotFound",
		[TENANT_EXISTS] = "Exists",	    [TENANT_INVALID] = "InvalidParameter",
		[TENANT_READ_ONLY] = "ReadOnly",    [TENANT_OVERTAKEN] = "Overtaken",
		[TENANT_TOO_MANY] = "NoRoom",
	};

	return r->end == SM_TENANCY_REFUSED ? of_fault[r->fault] : of_end[r->end];
}

/* ---- the log --------------------------------------------------------------------------------- */

/* `words`, and `text` in quotes: it is the client's, and may say anything. */
static void quote_client(char *ret, size_t cap, const char *words, const char *text)
{
	size_t len = strlen(ret);

	if (!*text)
		return;
	len += (size_t)snprintf(ret + len, cap - len, "%s\"", words);
	for (; *text && len + 4 < cap; text++) {
		if (*text == '"' || *text == '\\')
			ret[len++] = '\\';
		ret[len++] = *text;
	}
	snprintf(ret + len, cap - len, "\"");
}

static void name_client(char *ret, size_t cap, const struct control_ticket *t,
			const struct tenant_request *rq)
{
	char name[64];

	control_user_name(t->uid, name);
	snprintf(ret, cap, "uid %u%s%s%s", t->uid, name[0] ? " (" : "", name, name[0] ? ")" : "");
	quote_client(ret, cap, " for user ", rq->user);
	quote_client(ret, cap, " at ", rq->address);
	quote_client(ret, cap, ", request ", rq->request);
}

/* "3 members added", "created". */
static void describe_change(const struct change *c, char ret[static 80])
{
	static const char *const words[] = {
		[TENANT_CREATE] = "created", [TENANT_DELETE] = "deleted",
		[TENANT_ADD] = "added",	     [TENANT_REMOVE] = "removed",
		[TENANT_SET] = "set",	     [TENANT_CONFIGURE] = "configured",
	};
	bool has_members = c->action == TENANT_ADD || c->action == TENANT_REMOVE ||
			   c->action == TENANT_SET;

	if (has_members)
		snprintf(ret, 80, "%zu member%s %s", c->n_members, c->n_members == 1 ? "" : "s",
			 words[c->action]);
	else
		snprintf(ret, 80, "%s", words[c->action]);
}

/* ", node17 is 0x..., 0x..., and 3 more names": what names stood for, as far as there is room. */
static void describe_hosts(const struct change *c, char *ret, size_t cap)
{
	size_t n = json_object_array_length(c->hosts), told = MIN(n, (size_t)HOSTS_LOGGED), len = 0;

	*ret = '\0';
	for (size_t i = 0; i < told; i++) {
		struct json_object *o = json_object_array_get_idx(c->hosts, i);
		struct json_object *guids = json_object_object_get(o, "guids");
		char name[48];

		str_printable(json_str(o, "host"), strlen(json_str(o, "host")), name, sizeof(name));
		len += (size_t)snprintf(ret + len, cap - len, ", '%s' is", name);
		for (size_t k = 0; k < json_object_array_length(guids) && len + 30 < cap; k++)
			len += (size_t)snprintf(
				ret + len, cap - len, "%s %s", k ? "," : "",
				json_object_get_string(json_object_array_get_idx(guids, k)));
		if (len + 120 > cap)
			told = i + 1;
	}
	if (n > told)
		snprintf(ret + len, cap - len, ", and %zu more names", n - told);
}

/* What changed nothing, and what is refused, any tenant may cause again and again. */
static void log_change(const struct change *c, const struct sm_tenancy_result *r)
{
	bool is_stored = r->end == SM_TENANCY_DONE || r->end == SM_TENANCY_UNCONFIRMED;
	bool is_change = is_stored && r->changed && !c->dry_run;
	char what[80], hosts[HOSTS_TEXT];

	describe_change(c, what);
	describe_hosts(c, hosts, sizeof(hosts));
	if (is_change)
		log_on(ABOUT(.id = LOG_ID_TENANT_CHANGE, .pkey = c->pkey, .client = c->client,
			     .generation = r->generation, .status = error_name(r)),
		       LOGB_INFO, "partition 0x%04x: %s, generation %" PRIu64 ", by %s%s%s%s",
		       c->pkey, what, r->generation, c->client, hosts, r->text[0] ? ": " : "",
		       r->text);
	else
		log_verbose("partition 0x%04x: %s by %s: %s", c->pkey, what, c->client,
			    r->text[0]	 ? r->text
			    : c->dry_run ? "a dry run"
					 : "nothing to change");
}

/* ---- ChangePartition ------------------------------------------------------------------------ */

static void answer_change(struct control_ticket *t, const struct change *c,
			  const struct sm_tenancy_result *r)
{
	struct control_error err = { 0 };

	t->work = NULL;
	if (r->end == SM_TENANCY_DONE) {
		t->end(t, change_answer(c, r), &err);
		return;
	}
	control_fail(&err, error_name(r), "%s", r->text);
	if (r->end == SM_TENANCY_UNCONFIRMED)
		err.more = change_answer(c, r);
	t->end(t, NULL, &err);
}

static void on_changed(void *arg, const struct sm_tenancy_result *r)
{
	struct change *c = arg;

	log_change(c, r);
	if (c->ticket)
		answer_change(c->ticket, c, r);
	json_object_put(c->hosts);
	free(c);
}

bool control_is_master(const struct daemon_api *api, struct control_error *err)
{
	if (!api->sm)
		return control_fail(err, "NotReady", "%s",
				    api->status[0] ? api->status : "no port is open");
	if (sm_state(api->sm) == SM_MASTER)
		return true;
	return control_fail(err, "NotMaster",
			    "this manager is %s; the master has the partitions and changes them",
			    sm_state_name(sm_state(api->sm)));
}

static bool flag(struct json_object *parameters, const char *key, bool otherwise)
{
	struct json_object *value = json_object_object_get(parameters, key);

	return value ? json_object_get_boolean(value) : otherwise;
}

bool control_change_partition(struct control_ticket *t, struct json_object *parameters,
			      struct control_error *err)
{
	struct tenant_request rq;
	struct json_object *hosts;
	struct change *c;

	if (!control_is_master(t->api, err) ||
	    !control_read_change(t->api, parameters, &rq, &hosts, err))
		return false;
	c = xcalloc(1, sizeof(*c));
	*c = (struct change){
		.ticket = t,
		.api = t->api,
		.action = rq.action,
		.pkey = rq.pkey,
		.n_members = rq.n_members,
		.hosts = hosts,
		.dry_run = flag(parameters, "dry_run", false),
	};
	name_client(c->client, sizeof(c->client), t, &rq);
	t->work = c;
	sm_tenancy_request(t->api->sm, &rq, flag(parameters, "wait", true), c->dry_run, on_changed,
			   c);
	free(rq.members);
	t->api->wake(t->api->arg);
	return true;
}

void control_leave_change(struct control_ticket *t)
{
	struct change *c = take(t->work);

	if (c)
		c->ticket = NULL;
}

/* ---- VerifyPartitions ----------------------------------------------------------------------- */

struct audit {
	struct control_ticket *ticket; /* NULL: the caller is gone */
};

/* Partitions that work for none of their members. */
static void put_all_limited(struct json_object *o, const struct sm *sm)
{
	uint16_t pkeys[LIMITED_TOLD];
	size_t n = tenants_all_limited(sm_tenants(sm), sm_partitions(sm), pkeys, LIMITED_TOLD);
	struct json_object *array;

	json_add_int(o, "all_limited", (int64_t)n);
	array = json_add_array(o, "all_limited_pkeys");
	for (size_t i = 0; i < MIN(n, (size_t)LIMITED_TOLD); i++) {
		char text[8];

		snprintf(text, sizeof(text), "0x%04x", pkeys[i]);
		json_append_str(array, text);
	}
}

static struct json_object *audit_answer(const struct daemon_api *api,
					const struct sm_tenancy_audit *a)
{
	struct json_object *o = json_object_new_object(), *differences;
	const struct pkey_plan *plan = sm_pkeys(api->sm);

	json_add_int(o, "ports", (int64_t)a->n_ports);
	json_add_int(o, "blocks", (int64_t)a->n_blocks);
	json_add_int(o, "silent", (int64_t)a->n_silent);
	json_add_int(o, "wrong", (int64_t)a->n_wrong);
	json_add_int(o, "without_room", plan ? (int64_t)plan->n_dropped : 0);
	put_all_limited(o, api->sm);
	differences = json_add_array(o, "differences");
	for (size_t i = 0; i < MIN(a->n_wrong_told, (size_t)BLOCKS_TOLD); i++)
		put_block(json_append_object(differences), api, &a->wrong[i]);
	return o;
}

static void on_audited(void *arg, const struct sm_tenancy_audit *a)
{
	struct audit *audit = arg;
	struct control_ticket *t = audit->ticket;
	struct control_error err = { 0 };

	free(audit);
	if (!t)
		return;
	t->work = NULL;
	/* A manager that is not the master any more compares no further. */
	t->end(t, control_is_master(t->api, &err) ? audit_answer(t->api, a) : NULL, &err);
}

bool control_verify_partitions(struct control_ticket *t, struct json_object *parameters,
			       struct control_error *err)
{
	struct audit *audit;

	if (!control_is_master(t->api, err))
		return false;
	audit = xcalloc(1, sizeof(*audit));
	audit->ticket = t;
	if (!sm_tenancy_verify(t->api->sm, on_audited, audit)) {
		free(audit);
		return control_fail(err, "Busy",
				    "P_Key tables are being compared already, or are not planned "
				    "yet; try again in a while");
	}
	t->work = audit;
	t->api->wake(t->api->arg);
	return true;
}

void control_leave_verify(struct control_ticket *t)
{
	struct audit *audit = take(t->work);

	if (audit)
		audit->ticket = NULL;
}
