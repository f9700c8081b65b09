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

/* Most pending members in an answer; of a request of 65,536 members the others are only counted. */
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
	uint64_t job;	  /* number of its job; 0: none */
};

/* ---- answers --------------------------------------------------------------------------------- */

static struct json_object *pkeys_of(const uint16_t *pkeys, size_t n)
{
	return JSON_LIST_OF(char text[8], i < n && snprintf(text, sizeof(text), "0x%04x", pkeys[i]),
			    json_object_new_string(text));
}

#define BLOCK_FIELDS(F)                                                                            \
	F("node_guid", GUID, b->node_guid)                                                         \
	F("node", OPT(STR), node ? node_name(node) : NULL)                                         \
	F("port", INT, b->port)                                                                    \
	F("switch", BOOL, b->is_switch)                                                            \
	F("block", INT, b->block)                                                                  \
	F("before", OF("?[]string"), b->before_known ? pkeys_of(b->before, PKEY_BLOCK) : NULL)     \
	F("after", OF("[]string"), pkeys_of(b->after, PKEY_BLOCK))

static const struct json_field block_fields[] = FIELDS_TABLE(BLOCK_FIELDS);

static struct json_object *block_of(const struct daemon_api *api, const struct sm_tenancy_block *b)
{
	const struct node *node = fabric_find_node(sm_fabric(api->sm), b->node_guid);

	return FIELDS_NEW(BLOCK_FIELDS);
}

static struct json_object *blocks_of(const struct daemon_api *api,
				     const struct sm_tenancy_block *blocks, size_t n)
{
	return JSON_LIST(MIN(n, (size_t)BLOCKS_TOLD), block_of(api, &blocks[i]));
}

#define PENDING_FIELDS(F)                                                                          \
	F("guid", GUID, row->guid)                                                                 \
	F("node", OPT(STR), p ? node_name(p->node) : NULL)                                         \
	F("why", STR, row->why)

static const struct json_field pending_fields[] = FIELDS_TABLE(PENDING_FIELDS);

static struct json_object *pending_of(const struct daemon_api *api,
				      const struct sm_tenancy_pending *row)
{
	const struct port *p = fabric_find_port(sm_fabric(api->sm), row->guid);

	return FIELDS_NEW(PENDING_FIELDS);
}

#define CHANGE_FIELDS(F)                                                                           \
	F("job", IF(c->job, INT), c->job)                                                          \
	F("generation", INT, r->generation)                                                        \
	F("changed", BOOL, r->changed)                                                             \
	F("replicated", BOOL, r->replicated)                                                       \
	F("standbys", INT, r->n_standbys)                                                          \
	F("standbys_with", INT, r->n_standbys_with)                                                \
	F("n_members", INT, r->n_members)                                                          \
	F("n_pending", INT, r->n_pending)                                                          \
	F("pending", LIST(pending_fields),                                                         \
	  JSON_LIST(MIN(r->n_pending, (size_t)PENDING_TOLD), pending_of(c->api, &r->pending[i])))  \
	F("hosts", LIST(control_host_fields), json_object_get(c->hosts))                           \
	F("text", IF(r->text[0] && r->end == SM_TENANCY_DONE, OPT(STR)), r->text)                  \
	F("n_blocks", IF(c->dry_run, OPT(INT)), r->n_blocks)                                       \
	F("blocks", IF(c->dry_run, OPT_LIST(block_fields)),                                        \
	  blocks_of(c->api, r->blocks, r->n_blocks))

const struct json_field control_change_fields[] = FIELDS_TABLE(CHANGE_FIELDS);

/* While the caller is there, and with it the manager. */
static struct json_object *change_answer(const struct change *c, const struct sm_tenancy_result *r)
{
	return FIELDS_NEW(CHANGE_FIELDS);
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

/*
 * Logs a change; requests without a change, and refused ones, only with verbose, as tenants can
 * repeat them.
 */
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

static void end_job(const struct change *c, const struct sm_tenancy_result *r)
{
	char text[sizeof(r->text) + 64];

	snprintf(text, sizeof(text), "%s", r->text);
	if (!r->text[0] && r->n_pending)
		snprintf(text, sizeof(text), "%s not confirmed it yet",
			 STR_COUNT(r->n_pending, "port has", "ports have"));
	control_job_end(c->api, c->job, error_name(r), text, r->changed ? r->generation : 0);
}

static void on_changed(void *arg, const struct sm_tenancy_result *r)
{
	struct change *c = arg;

	log_change(c, r);
	end_job(c, r);
	if (c->ticket)
		answer_change(c->ticket, c, r);
	json_object_put(c->hosts);
	free(c);
}

bool control_is_master(const struct daemon_api *api, struct control_error *err)
{
	if (!control_manager(api, err))
		return false;
	if (sm_state(api->sm) == SM_MASTER)
		return true;
	return control_fail(err, "NotMaster",
			    "this manager is %s; the master has the partitions and changes them",
			    sm_state_name(sm_state(api->sm)));
}

static uint64_t begin_job(const struct control_ticket *t, struct json_object *parameters,
			  const struct tenant_request *rq)
{
	struct control_job_about about;
	char name[64];

	control_user_name(t->uid, name);
	snprintf(about.operation, sizeof(about.operation), "%s", json_str(parameters, "action"));
	snprintf(about.object, sizeof(about.object), "partition 0x%04x", rq->pkey);
	snprintf(about.by, sizeof(about.by), "%s%s%s", name, *name && *rq->user ? "/" : "",
		 rq->user);
	return control_job_begin(t->api, &about);
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
		.dry_run = json_flag(parameters, "dry_run", false),
	};
	name_client(c->client, sizeof(c->client), t, &rq);
	c->job = c->dry_run ? 0 : begin_job(t, parameters, &rq);
	t->work = c;
	sm_tenancy_request(t->api->sm, &rq, json_flag(parameters, "wait", true), c->dry_run,
			   on_changed, c);
	free(rq.members);
	t->api->wake(t->api->arg);
	return true;
}

/* ---- VerifyPartitions ----------------------------------------------------------------------- */

struct audit {
	struct control_ticket *ticket; /* NULL: the caller is gone */
};

#define AUDIT_FIELDS(F)                                                                            \
	F("ports", INT, a->n_ports)                                                                \
	F("blocks", INT, a->n_blocks)                                                              \
	F("silent", INT, a->n_silent)                                                              \
	F("wrong", INT, a->n_wrong)                                                                \
	F("without_room", INT, plan ? plan->n_dropped : 0)                                         \
	F("all_limited", INT, n_limited)                                                           \
	F("all_limited_pkeys", OF("[]string"),                                                     \
	  pkeys_of(limited, MIN(n_limited, (size_t)LIMITED_TOLD)))                                 \
	F("differences", LIST(block_fields), blocks_of(api, a->wrong, a->n_wrong_told))

const struct json_field control_verify_fields[] = FIELDS_TABLE(AUDIT_FIELDS);

static struct json_object *audit_answer(const struct daemon_api *api,
					const struct sm_tenancy_audit *a)
{
	const struct pkey_plan *plan = sm_pkeys(api->sm);
	uint16_t limited[LIMITED_TOLD]; /* partitions that work for none of their members */
	size_t n_limited = tenants_all_limited(sm_tenants(api->sm), sm_partitions(api->sm), limited,
					       LIMITED_TOLD);

	return FIELDS_NEW(AUDIT_FIELDS);
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
	/* The comparison ends when the manager is not the master any more. */
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
