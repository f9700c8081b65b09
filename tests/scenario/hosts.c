// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hosts as clients of subnet administration: what they register with it, are told by it, and find
 * there. A host with a client can have no manager.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sa/mcast/mgroup.h"
#include "sm/sm_internal.h"
#include "tests/lib/client.h"
#include "tests/scenario/look.h"
#include "util/mem.h"

#define MAX_GROUPS 256 /* of `join` */

struct hosts {
	struct client *of[256]; /* by the number of the node */
	lid_t mlid[MAX_GROUPS]; /* that the first member of a group was told */
};

void hosts_end(struct scenario *s)
{
	for (unsigned i = 0; s->hosts && i < ARRAY_SIZE(s->hosts->of); i++)
		client_free(s->hosts->of[i]);
	free(s->hosts);
}

/* NULL with s->error: there can be none on this node. */
static struct client *client_on(struct scenario *s, const char *word)
{
	int node;

	if (parse_node(s, word, &node) < 0)
		return NULL;
	if (!s->hosts)
		s->hosts = xcalloc(1, sizeof(*s->hosts));
	if (node >= (int)ARRAY_SIZE(s->hosts->of)) {
		fault(s, "the fabric is too large for clients");
		return NULL;
	}
	if (!s->hosts->of[node])
		s->hosts->of[node] = client_new(SIM(s), sim_node_id(SIM(s), node));
	if (!s->hosts->of[node])
		fault(s, "no client can run on '%s'", word);
	return s->hosts->of[node];
}

/* Asks, and copies the first record of the answer. The status, or -errno. */
static int ask(struct scenario *s, struct client *c, const struct question *q, void *ret,
	       size_t len)
{
	struct transport_event ev = { 0 };
	int r = client_ask(c, s->rig, q, &ev);

	if (r == 0 && ret)
		memcpy(ret, client_record(&ev), len);
	free(ev.whole);
	return r;
}

/* A line of the test: the answer has this status. */
static int expect_status(struct scenario *s, int status, int expected)
{
	if (status != expected)
		fault(s, "status 0x%x", (unsigned)status);
	tap(s, status == expected);
	return 0;
}

/* A fault: this MCMemberRecord has not the Q_Key of ipoib, or is of no full member. */
static int check_ipoib_member(struct scenario *s, const uint8_t *record)
{
	if (ib_get(record, MCM_QKEY) == 0x0B1B && ib_get(record, MCM_JOIN_STATE) == MC_FULL)
		return 0;
	return fault(s, "the answer has Q_Key 0x%x and JoinState %u",
		     (unsigned)ib_get(record, MCM_QKEY), (unsigned)ib_get(record, MCM_JOIN_STATE));
}

/* join[-refused] HOST broadcast [PKEY], join HOST GROUP, leave HOST GROUP */
static int cmd_join(struct scenario *s, const struct words *w)
{
	uint8_t mgid[16], record[MCM_BYTES], answer[MCM_BYTES] = { 0 };
	struct client *c = client_on(s, w->w[1]);
	uint8_t method = is(w->w[0], "leave") ? MAD_SA_DELETE : MAD_SET;
	uint64_t group, pkey = 0xFFFF;
	struct question q;
	int status;

	if (!c)
		return -EINVAL;
	if (is(w->w[2], "broadcast")) {
		if (w->n == 4)
			CHECK(parse_number(s, w->w[3], UINT16_MAX, &pkey));
		q = client_join_broadcast(c, (uint16_t)pkey, record);
		status = ask(s, c, &q, answer, sizeof(answer));
		if (!status)
			CHECK(check_ipoib_member(s, answer));
		return expect_status(s, status, is(w->w[0], "join") ? 0 : SA_REQ_INVALID);
	}
	CHECK(parse_number(s, w->w[2], MAX_GROUPS - 1, &group));
	client_mgid((unsigned)group, mgid);
	q = client_join(c, method, mgid, MC_FULL, record);
	CHECK(expect_status(s, ask(s, c, &q, answer, sizeof(answer)), 0));
	if (method == MAD_SET && !s->hosts->mlid[group])
		s->hosts->mlid[group] = ib_get(answer, MCM_MLID);
	return 0;
}

/* serve HOST ID SECONDS: a service record, for so long; serve HOST ID ever */
static int cmd_serve(struct scenario *s, const struct words *w)
{
	struct client *c = client_on(s, w->w[1]);
	uint64_t id, lease = UINT32_MAX;
	uint8_t record[SVR_BYTES];
	struct question q;

	if (!c)
		return -EINVAL;
	CHECK(parse_number(s, w->w[2], UINT32_MAX, &id));
	if (!is(w->w[3], "ever"))
		CHECK(parse_number(s, w->w[3], UINT32_MAX, &lease));
	q = client_service(c, MAD_SET, id, (uint32_t)lease, record);
	return expect_status(s, ask(s, c, &q, NULL, 0), 0);
}

/* subscribe HOST: to all notices */
static int cmd_subscribe(struct scenario *s, const struct words *w)
{
	struct client *c = client_on(s, w->w[1]);
	uint8_t record[INF_BYTES];
	struct question q = client_subscribe(record);

	return c ? expect_status(s, ask(s, c, &q, NULL, 0), 0) : -EINVAL;
}

/* alias HOST GUID */
static int cmd_alias(struct scenario *s, const struct words *w)
{
	struct client *c = client_on(s, w->w[1]);
	uint8_t record[GIR_BYTES];
	struct question q;
	uint64_t guid;

	if (!c)
		return -EINVAL;
	CHECK(parse_number(s, w->w[2], UINT64_MAX, &guid));
	q = client_alias(c, MAD_SET, guid, record);
	return expect_status(s, ask(s, c, &q, NULL, 0), 0);
}

/* attend T: time goes by, and hosts answer what they are told */
static int cmd_attend(struct scenario *s, const struct words *w)
{
	struct transport_event ev;
	mono_t t;

	CHECK(parse_time(s, w->w[1], &t));
	t += sim_now(SIM(s));
	do {
		for (unsigned i = 0; s->hosts && i < ARRAY_SIZE(s->hosts->of); i++)
			while (s->hosts->of[i] && client_receive(s->hosts->of[i], &ev))
				free(ev.whole);
	} while (rig_step(s->rig, t));
	return 0;
}

const struct command host_commands[] = {
	{ "join", 3, 4, cmd_join },	      { "join-refused", 3, 4, cmd_join },
	{ "leave", 3, 3, cmd_join },	      { "serve", 4, 4, cmd_serve },
	{ "subscribe", 2, 2, cmd_subscribe }, { "alias", 3, 3, cmd_alias },
	{ "attend", 2, 2, cmd_attend },	      { 0 },
};

/* ---- conditions ---- */

/* group NODE GROUP N: members of it at its manager, with the MLID that hosts were told; 0: none */
static int cond_group(struct look *l, const char *const *arg)
{
	const struct mgroup *g;
	uint8_t mgid[16];
	uint64_t group;
	struct sm *sm;
	int r;

	sm = manager_on(l, arg[0], &r);
	if (!sm || parse_number(l->s, arg[1], MAX_GROUPS - 1, &group) < 0)
		return -EINVAL;
	client_mgid((unsigned)group, mgid);
	g = mgroup_find(sm->sa, mgid);
	if (g && l->s->hosts && mgroup_mlid(g) != l->s->hosts->mlid[group])
		return require(l, false, "its MLID is 0x%x, and was 0x%x", mgroup_mlid(g),
			       l->s->hosts->mlid[group]);
	return compare(l, "number of members", g ? mgroup_members(g) : 0, arg[2]);
}

static void note_copy(void *arg, int node, unsigned port)
{
	((uint8_t *)arg)[node] = 1;
}

/* reaches HOST GROUP|broadcast HOST,HOST...: what it sends there comes to these hosts alone */
static int cond_reaches(struct look *l, const char *const *arg)
{
	struct sim *sim = l->s->rig->sim;
	_cleanup_free_ uint8_t *got = xcalloc(sim_n_nodes(sim), 1);
	_cleanup_free_ char *copy = xstrdup(arg[2]);
	uint64_t group = 0;
	char *save;
	int node;

	if (parse_node(l->s, arg[0], &node) < 0 ||
	    (!is(arg[1], "broadcast") && parse_number(l->s, arg[1], MAX_GROUPS - 1, &group) < 0))
		return -EINVAL;
	sim_mcast_reach(sim, is(arg[1], "broadcast") ? 0xC000 : l->s->hosts->mlid[group], node, 1,
			note_copy, got);
	for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		if (parse_node(l->s, w, &node) < 0)
			return -EINVAL;
		if (!got[node])
			return require(l, false, "%s is not reached", w);
		got[node] = 0;
	}
	for (unsigned i = 0; i < sim_n_nodes(sim); i++)
		if (got[i] && !sim_node_is_switch(sim, (int)i))
			return require(l, false, "%s is reached", sim_node_id(sim, (int)i));
	return 1;
}

/* Has the answer with this status a record? No answer, and any other refusal, is a fault. */
static int has_record(struct look *l, int status)
{
	if (status && status != SA_NO_RECORDS)
		return fault(l->s, "status %d in place of an answer", status);
	return require(l, !status, "there is no such record");
}

/* finds HOST ID: the host is answered a service with this ID */
static int cond_finds(struct look *l, const char *const *arg)
{
	struct client *c = client_on(l->s, arg[0]);
	uint8_t record[SVR_BYTES];
	struct question q;
	uint64_t id;

	if (!c || parse_number(l->s, arg[1], UINT32_MAX, &id) < 0)
		return -EINVAL;
	q = client_service(c, MAD_GET, id, 0, record);
	return has_record(l, ask(l->s, c, &q, NULL, 0));
}

/* has-alias HOST GUID: the host is answered that its port has it */
static int cond_has_alias(struct look *l, const char *const *arg)
{
	struct client *c = client_on(l->s, arg[0]);
	uint8_t record[GIR_BYTES], answer[GIR_BYTES] = { 0 };
	struct question q;
	uint64_t guid;
	int r;

	if (!c || parse_number(l->s, arg[1], UINT64_MAX, &guid) < 0)
		return -EINVAL;
	q = client_alias(c, MAD_GET, 0, record);
	r = ask(l->s, c, &q, answer, sizeof(answer));
	return require(l, r == 0 && ib_get(answer, GIR_GUID1) == guid, "status 0x%x, GUID 0x%llx",
		       (unsigned)r, (unsigned long long)ib_get(answer, GIR_GUID1));
}

/* Is the host on arg[0] answered a path to the one on arg[1]? `pkey` 0: by any P_Key. */
static int look_for_path(struct look *l, const char *const *arg, uint64_t pkey)
{
	struct client *c = client_on(l->s, arg[0]);
	uint8_t record[PR_BYTES];
	struct sim_m_key to;
	struct question q;
	int node;

	if (!c || parse_node(l->s, arg[1], &node) < 0 ||
	    !sim_port_m_key(l->s->rig->sim, node, 1, &to))
		return -EINVAL;
	q = client_path(c, to.guid, (uint16_t)pkey, record);
	if (!pkey)
		q.mask &= ~SA_COMP(PR_PKEY);
	return has_record(l, ask(l->s, c, &q, NULL, 0));
}

/* path HOST OTHER: the host is answered a path to the other one; path-in HOST OTHER PKEY */
static int cond_path(struct look *l, const char *const *arg)
{
	return look_for_path(l, arg, 0);
}

static int cond_path_in(struct look *l, const char *const *arg)
{
	uint64_t pkey;

	if (parse_number(l->s, arg[2], UINT16_MAX, &pkey) < 0)
		return -EINVAL;
	return look_for_path(l, arg, pkey);
}

/* reports HOST N: that it got and answered; report HOST TRAP: the last one was of this trap */
static int cond_reports(struct look *l, const char *const *arg)
{
	const struct client *c = client_on(l->s, arg[0]);

	return c ? compare(l, "number of reports", c->reports, arg[1]) : -EINVAL;
}

static int cond_report(struct look *l, const char *const *arg)
{
	const struct client *c = client_on(l->s, arg[0]);

	return c ? compare(l, "trap", ib_get(c->notice, NT_TRAP), arg[1]) : -EINVAL;
}

/* report-of HOST OTHER: the last one was about the port of the other host */
static int cond_report_of(struct look *l, const char *const *arg)
{
	const struct client *c = client_on(l->s, arg[0]);
	struct sim_m_key other;
	int node;

	if (!c || parse_node(l->s, arg[1], &node) < 0 ||
	    !sim_port_m_key(l->s->rig->sim, node, 1, &other))
		return -EINVAL;
	return require(l, ib_bits_get(c->notice, (NOTICE_GID + 8) * 8, 64) == other.guid,
		       "it was about another port");
}

/* registered NODE WHAT N: with its manager: services, members (of groups), subscriptions */
static int cond_registered(struct look *l, const char *const *arg)
{
	const struct sa_stats *have;
	struct sm *sm;
	int r;

	sm = manager_on(l, arg[0], &r);
	if (!sm)
		return r;
	have = sa_stats(sm_sa(sm));
	if (is(arg[1], "services"))
		return compare(l, arg[1], have->services, arg[2]);
	if (is(arg[1], "members"))
		return compare(l, arg[1], have->members, arg[2]);
	if (is(arg[1], "subscriptions"))
		return compare(l, arg[1], have->subscriptions, arg[2]);
	return fault(l->s, "expected services, members or subscriptions");
}

const struct cond host_conds[] = {
	{ "group", 3, cond_group },
	{ "reaches", 3, cond_reaches },
	{ "finds", 2, cond_finds },
	{ "has-alias", 2, cond_has_alias },
	{ "path", 2, cond_path },
	{ "path-in", 3, cond_path_in },
	{ "reports", 2, cond_reports },
	{ "report", 2, cond_report },
	{ "report-of", 2, cond_report_of },
	{ "registered", 3, cond_registered },
	{ 0 },
};
