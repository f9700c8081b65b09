// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two managers of ours, hosts that register with the master, and a standby that takes over with all of
 * it. Hosts here do not register again when they are asked to: what they find is what was kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/client.h"
#include "lib/rig.h"
#include "libvendor/sim/gen.h"
#include "sa/impl.h"
#include "sa/mgroup.h"
#include "sa/service.h"
#include "sm/replica.h"
#include "util/log.h"
#include "util/mem.h"

#define N_HOSTS 12
#define LINES	400

enum { ACTIVE, SPARE };

static struct {
	unsigned n;
	char line[LINES][300];
} seen;

struct world {
	struct rig *rig;
	struct conf *conf[2];
	char dir[2][64];
	struct client *host[N_HOSTS]; /* 1..10 */
};

static void collect(void *arg, unsigned bits, const char *text)
{
	if (getenv("LOUD"))
		fprintf(stderr, "%02x %s\n", bits, text);
	if (seen.n < LINES)
		snprintf(seen.line[seen.n++], sizeof(seen.line[0]), "%s", text);
}

static unsigned said(const char *what, const char *more)
{
	unsigned n = 0;

	for (unsigned i = 0; i < seen.n; i++)
		n += strstr(seen.line[i], what) && strstr(seen.line[i], more);
	return n;
}

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(2, 6, 2, 1);

	seen.n = 0;
	log_set_sink(collect, NULL);
	w->rig = rig_new(sim_new(net, 7));
	for (unsigned i = 0; i < 2; i++) {
		snprintf(w->dir[i], sizeof(w->dir[i]), "/tmp/test-sm-replica.XXXXXX");
		assert_non_null(mkdtemp(w->dir[i]));
		w->conf[i] = conf_new();
		w->conf[i]->sminfo_polling_timeout = 1000;
		w->conf[i]->polling_retry_number = 2;
		w->conf[i]->sa_db_dump = true;
		free(w->conf[i]->partition_config_file);
		w->conf[i]->partition_config_file = xasprintf("%s/partitions.conf", w->dir[i]);
	}
	w->conf[ACTIVE]->sm_priority = 5;
	for (unsigned i = 1; i < N_HOSTS - 1; i++) {
		char name[8];

		snprintf(name, sizeof(name), "h%u", i);
		w->host[i] = client_new(w->rig->sim, name);
		assert_non_null(w->host[i]);
	}
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < N_HOSTS; i++)
		client_free(w->host[i]);
	rig_free(w->rig);
	for (unsigned i = 0; i < 2; i++) {
		char command[128];

		conf_unref(w->conf[i]);
		snprintf(command, sizeof(command), "rm -rf %s", w->dir[i]);
		assert_int_equal(system(command), 0);
	}
	log_set_sink(NULL, NULL);
	free(w);
	return 0;
}

static void run_for(struct world *w, mono_t t)
{
	rig_run(w->rig, sim_now(w->rig->sim) + t);
}

static struct sm *sm_of(struct world *w, unsigned which)
{
	return w->rig->sms[which].sm;
}

static struct replica *spare(struct world *w)
{
	return sm_of(w, SPARE)->replica;
}

/* The master on h0, then the standby on h11. */
static void start_both(struct world *w)
{
	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]), ACTIVE);
	run_for(w, 3 * MONO_S);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), SPARE);
	run_for(w, 8 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, ACTIVE)), SM_MASTER);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_STANDBY);
}

/* Reports that a host gets within `t`. */
static unsigned attend(struct world *w, unsigned host, mono_t t)
{
	mono_t until = sim_now(w->rig->sim) + t;
	unsigned before = w->host[host]->reports;
	struct transport_event ev;

	do {
		while (client_receive(w->host[host], &ev))
			free(ev.whole);
	} while (rig_step(w->rig, until));
	return w->host[host]->reports - before;
}

/* The subscriber answers what it is told meanwhile. */
static void fail_over(struct world *w)
{
	rig_kill(w->rig, ACTIVE);
	attend(w, 4, 20 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_MASTER);
	assert_true(sm_of(w, SPARE)->first_sweep_done);
}

static int ask(struct world *w, unsigned host, const struct question *q, void *ret, size_t size)
{
	struct transport_event ev;
	int r = client_ask(w->host[host], w->rig, q, &ev);

	if (r < 0)
		return r;
	if (ret)
		memcpy(ret, client_record(&ev), size);
	free(ev.whole);
	return r;
}

static void mgid_of(unsigned group, uint8_t ret[16])
{
	memset(ret, 0, 16);
	ret[0] = 0xFF;
	ret[1] = 0x12;
	ret[2] = 0x10;
	ret[3] = 0x10;
	ret[14] = group >> 8;
	ret[15] = group;
}

/* Join or leave; the MLID. */
static lid_t membership(struct world *w, unsigned host, uint8_t method, unsigned group)
{
	uint8_t mgid[16], record[MCM_BYTES], answer[MCM_BYTES];
	struct question q;

	mgid_of(group, mgid);
	q = client_join(w->host[host], method, mgid, MC_FULL, record);
	assert_int_equal(ask(w, host, &q, answer, sizeof(answer)), 0);
	return ib_get(answer, MCM_MLID);
}

static lid_t join(struct world *w, unsigned host, unsigned group)
{
	return membership(w, host, MAD_SET, group);
}

static void join_broadcast(struct world *w, unsigned host)
{
	uint8_t record[MCM_BYTES];
	struct question q = client_join_broadcast(w->host[host], 0xFFFF, record);

	assert_int_equal(ask(w, host, &q, NULL, 0), 0);
}

static const struct mgroup *group_at(struct world *w, unsigned which, unsigned group)
{
	uint8_t mgid[16];

	mgid_of(group, mgid);
	return mgroup_find(sm_of(w, which)->sa, mgid);
}

static void note_copy(void *arg, int node, unsigned port)
{
	*(uint64_t *)arg |= 1ull << node;
}

/* Who receives what `host` sends to this MLID, as bits of hosts' numbers. */
static uint64_t reached(struct world *w, lid_t mlid, unsigned host)
{
	uint64_t nodes = 0, hosts = 0;

	sim_mcast_reach(w->rig->sim, mlid, w->host[host]->node, 1, note_copy, &nodes);
	for (unsigned i = 1; i < N_HOSTS - 1; i++)
		hosts |= (nodes >> w->host[i]->node & 1) << i;
	return hosts;
}

static void service_of(const struct client *c, uint64_t id, uint32_t lease, uint8_t ret[SVR_BYTES])
{
	memset(ret, 0, SVR_BYTES);
	ib_put(ret, SVR_ID, id);
	ib_bits_put(ret, SVR_GID, 64, 0xFE80000000000000ull);
	ib_bits_put(ret, SVR_GID + 64, 64, c->guid);
	ib_put(ret, SVR_LEASE, lease);
	snprintf((char *)ib_at(ret, SVR_NAME), 64, "service %u", (unsigned)id);
}

static void serve(struct world *w, unsigned host, uint64_t id, uint32_t lease)
{
	uint8_t record[SVR_BYTES];
	const struct question q = { .method = MAD_SET,
				    .attr = SA_SERVICE_RECORD,
				    .mask = SA_COMP(SVR_ID) | SA_COMP(SVR_GID) |
					    SA_COMP(SVR_LEASE) | SA_COMP(SVR_NAME),
				    .data = record,
				    .len = sizeof(record) };

	service_of(w->host[host], id, lease, record);
	assert_int_equal(ask(w, host, &q, NULL, 0), 0);
}

static int find_service(struct world *w, unsigned host, uint64_t id, uint8_t ret[SVR_BYTES])
{
	uint8_t record[SVR_BYTES] = { 0 };
	const struct question q = { .method = MAD_GET,
				    .attr = SA_SERVICE_RECORD,
				    .mask = SA_COMP(SVR_ID),
				    .data = record,
				    .len = sizeof(record) };

	ib_put(record, SVR_ID, id);
	return ask(w, host, &q, ret, SVR_BYTES);
}

static void subscribe(struct world *w, unsigned host)
{
	uint8_t record[INF_BYTES] = { 0 };
	const struct question q = {
		.method = MAD_SET, .attr = SA_INFORM_INFO, .data = record, .len = sizeof(record)
	};

	ib_put(record, INF_LID_BEGIN, 0xFFFF);
	ib_put(record, INF_IS_GENERIC, 1);
	ib_put(record, INF_SUBSCRIBE, 1);
	ib_put(record, INF_TYPE, 0xFFFF);
	ib_put(record, INF_TRAP, 0xFFFF);
	ib_put(record, INF_PRODUCER, 0xFFFFFF);
	assert_int_equal(ask(w, host, &q, NULL, 0), 0);
}

static void alias(struct world *w, unsigned host, uint8_t method, guid_t guid,
		  uint8_t ret[GIR_BYTES])
{
	uint8_t record[GIR_BYTES] = { 0 };
	const struct question q = {
		.method = method,
		.attr = SA_GUID_INFO_RECORD,
		.mask = SA_COMP(GIR_LID) | SA_COMP(GIR_BLOCK) |
			(method == MAD_SET ? SA_COMP(GIR_GUID1) : 0),
		.data = record,
		.len = sizeof(record),
	};

	ib_put(record, GIR_LID, sim_port_lid(w->rig->sim, w->host[host]->node, 1));
	ib_put(record, GIR_GUID1, guid);
	assert_int_equal(ask(w, host, &q, ret, GIR_BYTES), 0);
}

/* Records of managers that the master's SA holds. */
static unsigned managers(struct world *w)
{
	const struct service *s;
	uint64_t cursor = 0;
	unsigned n = 0;

	while ((s = services_before(sm_of(w, ACTIVE)->sa, &cursor)))
		n += s->manager;
	return n;
}

/* ---- taking over ---------------------------------------------------------------------------- */

/* MLIDs in an order that nobody would give them anew: the first group is gone. */
static void register_much(struct world *w, lid_t mlid[4])
{
	uint8_t record[GIR_BYTES];

	for (unsigned i = 1; i < N_HOSTS - 1; i++)
		join_broadcast(w, i);
	join(w, 1, 0);
	for (unsigned g = 1; g < 4; g++)
		mlid[g] = join(w, g, 9 - g);
	assert_int_equal(join(w, 5, 8), mlid[1]);
	assert_int_equal(join(w, 6, 8), mlid[1]);
	membership(w, 1, MAD_SA_DELETE, 0);
	serve(w, 2, 77, 1000);
	serve(w, 3, 78, 0xFFFFFFFF);
	subscribe(w, 4);
	alias(w, 6, MAD_SET, 0x1234567, record);
}

static void check_much(struct world *w, const lid_t mlid[4])
{
	uint8_t record[SVR_BYTES];

	for (unsigned g = 1; g < 4; g++) {
		const struct mgroup *group = group_at(w, SPARE, 9 - g);

		assert_non_null(group);
		assert_int_equal(mgroup_mlid(group), mlid[g]);
		assert_int_equal(mgroup_members(group), g == 1 ? 3 : 1);
	}
	assert_null(group_at(w, SPARE, 0));
	assert_int_equal(reached(w, mlid[1], 1), 1 << 5 | 1 << 6);
	assert_int_equal(reached(w, 0xC000, 1), 0x7FC);
	assert_int_equal(find_service(w, 1, 77, record), 0);
	assert_true(ib_get(record, SVR_LEASE) <= 1000);
	assert_int_equal(find_service(w, 1, 78, record), 0);
	assert_int_equal(ib_get(record, SVR_LEASE), 0xFFFFFFFF);
	alias(w, 6, MAD_GET, 0, record);
	assert_int_equal(ib_get(record, GIR_GUID1), 0x1234567);
	assert_int_equal(sa_stats(sm_sa(sm_of(w, SPARE)))->services, 2);
}

static void check_reports(struct world *w)
{
	assert_int_equal(sim_link_down(w->rig->sim, w->host[8]->node, 1), 0);
	assert_true(attend(w, 4, 5 * MONO_S) > 0);
	assert_int_equal(ib_get(w->host[4]->notice, NT_TRAP), TRAP_GID_OUT_OF_SERVICE);
}

static void what_was_registered_survives(void **state)
{
	struct world *w = *state;
	lid_t mlid[4];

	start_both(w);
	register_much(w, mlid);
	run_for(w, 3 * MONO_S);
	fail_over(w);
	assert_int_equal(said("taking over with what was registered", "; 0 records left out"), 1);
	check_much(w, mlid);
	check_reports(w);
}

static void hosts_that_join_again_change_nothing(void **state)
{
	struct world *w = *state;
	lid_t mlid[4];

	start_both(w);
	register_much(w, mlid);
	run_for(w, 3 * MONO_S);
	fail_over(w);
	for (unsigned i = 1; i < N_HOSTS - 1; i++)
		join_broadcast(w, i);
	for (unsigned g = 3; g > 0; g--)
		assert_int_equal(join(w, g, 9 - g), mlid[g]);
	check_much(w, mlid);
}

static void a_lease_goes_on_running(void **state)
{
	struct world *w = *state;
	uint8_t record[SVR_BYTES];

	start_both(w);
	serve(w, 2, 5, 60);
	run_for(w, 15 * MONO_S);
	fail_over(w);
	assert_int_equal(find_service(w, 1, 5, record), 0);
	run_for(w, 30 * MONO_S);
	assert_int_equal(find_service(w, 1, 5, record), SA_NO_RECORDS);
}

static void ten_per_cent_lost(void **state)
{
	struct world *w = *state;
	lid_t mlid[4];

	start_both(w);
	register_much(w, mlid);
	sim_set_loss(w->rig->sim, 10, 10);
	run_for(w, 60 * MONO_S);
	rig_kill(w->rig, ACTIVE);
	run_for(w, 60 * MONO_S);
	sim_set_loss(w->rig->sim, 0, 0);
	run_for(w, 60 * MONO_S);
	check_much(w, mlid);
}

/* The copy that was whole counts, not the one that was being made. */
static void the_master_dies_while_it_is_copied(void **state)
{
	struct world *w = *state;
	lid_t mlid[4];

	start_both(w);
	register_much(w, mlid);
	run_for(w, 3 * MONO_S);
	join(w, 7, 100);
	while (!spare(w)->tid || spare(w)->question.method != MAD_SA_GET_TABLE ||
	       spare(w)->question.attr != SA_SERVICE_RECORD)
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
	fail_over(w);
	check_much(w, mlid);
}

static void tables_of_many_segments(void **state)
{
	struct world *w = *state;
	uint8_t record[SVR_BYTES];
	lid_t mlid[60];

	start_both(w);
	for (unsigned i = 0; i < 200; i++)
		serve(w, 1 + i % 10, 1000 + i, 0xFFFFFFFF);
	for (unsigned i = 0; i < 60; i++)
		mlid[i] = join(w, 1 + i % 10, i);
	run_for(w, 5 * MONO_S);
	fail_over(w);
	for (unsigned i = 0; i < 60; i++)
		assert_int_equal(mgroup_mlid(group_at(w, SPARE, i)), mlid[i]);
	for (unsigned i = 0; i < 200; i++)
		assert_int_equal(find_service(w, 1, 1000 + i, record), 0);
}

/* Groups and services of a partition that the standby is not in. */
static void other_partitions_are_copied(void **state)
{
	struct world *w = *state;
	uint8_t mgid[16], record[MCM_BYTES], answer[MCM_BYTES];
	struct question q;

	for (unsigned i = 0; i < 2; i++) {
		FILE *f = fopen(w->conf[i]->partition_config_file, "w");

		fprintf(f,
			"Default=0x7fff, ipoib: ALL=full;\nA=0x1: 0x%016llx=full, "
			"0x%016llx=full;\n",
			(unsigned long long)w->host[1]->guid, (unsigned long long)w->host[2]->guid);
		fclose(f);
	}
	start_both(w);
	mgid_of(3, mgid);
	q = client_join(w->host[1], MAD_SET, mgid, MC_FULL, record);
	ib_put(record, MCM_PKEY, 0x8001);
	assert_int_equal(ask(w, 1, &q, answer, sizeof(answer)), 0);
	run_for(w, 3 * MONO_S);
	fail_over(w);
	assert_non_null(group_at(w, SPARE, 3));
	assert_int_equal(mgroup_members(group_at(w, SPARE, 3)), 1);
}

/* A standby that was master once: what it knew then is not what is. */
static void an_earlier_life_is_forgotten(void **state)
{
	struct world *w = *state;
	lid_t mlid[4];

	start_both(w);
	register_much(w, mlid);
	join(w, 3, 50);
	run_for(w, 3 * MONO_S);
	fail_over(w);
	assert_non_null(group_at(w, SPARE, 50));
	w->rig->n_sms = 2;
	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], NULL), 2);
	run_for(w, 30 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, 2)), SM_MASTER);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_STANDBY);
	join(w, 4, 51);
	run_for(w, 5 * MONO_S);
	rig_kill(w->rig, 2);
	run_for(w, 20 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_MASTER);
	assert_non_null(group_at(w, SPARE, 51));
}

static void a_standby_writes_no_dump(void **state)
{
	struct world *w = *state;
	char path[128];
	lid_t mlid[4];

	start_both(w);
	register_much(w, mlid);
	run_for(w, 20 * MONO_S);
	snprintf(path, sizeof(path), "%s/opensm-sa.dump", w->dir[SPARE]);
	assert_int_not_equal(access(path, F_OK), 0);
	fail_over(w);
	assert_int_equal(access(path, F_OK), 0);
}

/* ---- cost ----------------------------------------------------------------------------------- */

/* While nothing changes, a round is one question. */
static void tables_are_asked_for_when_something_changed(void **state)
{
	struct world *w = *state;
	uint64_t before;
	mono_t at;

	start_both(w);
	join(w, 1, 1);
	run_for(w, 5 * MONO_S);
	before = sa_stats(sm_sa(sm_of(w, ACTIVE)))->requests;
	at = spare(w)->kept.at;
	run_for(w, 30 * MONO_S);
	assert_int_equal(spare(w)->kept.at, at);
	assert_in_range(sa_stats(sm_sa(sm_of(w, ACTIVE)))->requests - before, 25, 35);
	join(w, 1, 2);
	run_for(w, MONO_S);
	assert_true(spare(w)->kept.at > at);
	assert_true(spare(w)->subscribed == 6);
}

/* ---- masters that are not ours -------------------------------------------------------------- */

/* A master that does not see us as a manager answers as to any client: as the peer would. */
static void a_foreign_master_is_copied_too(void **state)
{
	struct world *w = *state;
	lid_t mlid[4];

	w->conf[ACTIVE]->ignore_other_sm = true;
	start_both(w);
	register_much(w, mlid);
	run_for(w, 15 * MONO_S);
	assert_false(spare(w)->ours);
	assert_int_equal(said("this foreign master is kept", ""), 1);
	assert_int_equal(managers(w), 1);
	fail_over(w);
	check_much(w, mlid);
	check_reports(w);
}

static void a_foreign_master_is_asked_seldom(void **state)
{
	struct world *w = *state;
	uint64_t before;

	w->conf[ACTIVE]->ignore_other_sm = true;
	start_both(w);
	run_for(w, 30 * MONO_S);
	before = sa_stats(sm_sa(sm_of(w, ACTIVE)))->requests;
	run_for(w, 100 * MONO_S);
	assert_in_range(sa_stats(sm_sa(sm_of(w, ACTIVE)))->requests - before, 30, 70);
}

/* Another sa_key: we are dropped, say so once, and go on standing by. */
static void a_master_that_does_not_answer(void **state)
{
	struct world *w = *state;

	w->conf[SPARE]->sa_key = 99;
	start_both(w);
	run_for(w, 120 * MONO_S);
	assert_int_equal(said("cannot be copied", "sa_key"), 1);
	fail_over(w);
}

/* ---- configuration --------------------------------------------------------------------------- */

static void equal_configurations_are_not_mentioned(void **state)
{
	struct world *w = *state;
	char text[100];

	w->conf[SPARE]->log_max_size = 17;
	start_both(w);
	run_for(w, 30 * MONO_S);
	assert_int_equal(said("configured otherwise", ""), 0);
	assert_int_equal(spare(w)->n_peers, 1);
	assert_int_equal(sm_of(w, ACTIVE)->replica->n_peers, 1);
	assert_int_equal(replica_differs(sm_of(w, ACTIVE), text, sizeof(text)), 0);
}

static void a_difference_is_said_on_both(void **state)
{
	struct world *w = *state;
	char text[100];
	FILE *f;

	w->conf[SPARE]->lmc = 0;
	w->conf[SPARE]->subnet_timeout = 17;
	w->conf[SPARE]->port_shifting = true;
	start_both(w);
	run_for(w, 30 * MONO_S);
	assert_int_equal(said("this standby is configured otherwise", "routing; port settings"), 1);
	assert_int_equal(said("this master is configured otherwise", "routing; port settings"), 1);
	assert_int_equal(replica_differs(sm_of(w, ACTIVE), text, sizeof(text)), 1);
	f = fopen(w->conf[SPARE]->partition_config_file, "w");
	fputs("A=0x1: ALL=full;\n", f);
	fclose(f);
	run_for(w, 200 * MONO_S);
	assert_int_equal(said("this standby is configured otherwise", "(partitions; routing"), 1);
	assert_int_equal(said("this master is configured otherwise", "(partitions; routing"), 1);
}

/* Comments of a partition file do not count; what a file named by an option holds does. */
static void files_are_compared_by_what_they_say(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < 2; i++) {
		FILE *f = fopen(w->conf[i]->partition_config_file, "w");

		fprintf(f, "%sA=0x1:%s ALL=full;\n", i ? "# a comment\n" : "", i ? "  " : "");
		fclose(f);
		w->conf[i]->hop_weights_file = xasprintf("%s/weights", w->dir[i]);
		f = fopen(w->conf[i]->hop_weights_file, "w");
		fputs("0x1234 1 2\n", f);
		fclose(f);
	}
	start_both(w);
	run_for(w, 30 * MONO_S);
	assert_int_equal(said("configured otherwise", ""), 0);
}

/* Whoever adds a key that reaches the fabric says here, too, that both must have it. */
static void what_reaches_the_fabric_is_compared(void **state)
{
	for (unsigned id = 0; id < CONF_N_OPTIONS; id++) {
		const struct conf_option *o = conf_option(id);

		if (o->state != CONF_STATE_EFFECTIVE || id == CONF_ID_reassign_lids)
			continue;
		if (o->cost == CONF_COST_SWEEP || o->cost == CONF_COST_ROUTE)
			assert_true(config_group_of(id));
	}
	assert_int_equal(config_group_of(CONF_ID_sm_priority), 0);
	assert_int_equal(config_group_of(CONF_ID_log_file), 0);
}

/* ---- who may see it -------------------------------------------------------------------------- */

static uint32_t services_shown(struct world *w, unsigned host, const struct question *q)
{
	struct transport_event ev;
	uint32_t n;

	assert_int_equal(client_ask(w->host[host], w->rig, q, &ev), 0);
	n = (uint32_t)((ev.length - SA_DATA) / SVR_BYTES);
	free(ev.whole);
	return n;
}

static void hosts_see_nothing_of_managers(void **state)
{
	struct world *w = *state;
	uint8_t record[SVR_BYTES] = { 0 };
	struct question q = { .method = MAD_SA_GET_TABLE,
			      .attr = SA_SERVICE_RECORD,
			      .data = record,
			      .len = sizeof(record) };
	size_t len;
	_cleanup_free_ char *dump = NULL;

	start_both(w);
	run_for(w, 5 * MONO_S);
	assert_int_equal(managers(w), 2);
	assert_int_equal(services_shown(w, 1, &q), 0);
	w->host[1]->sm_key = 1;
	assert_int_equal(services_shown(w, 1, &q), 0);
	ib_put(record, SVR_ID, SA_MANAGER_ID);
	q.mask = SA_COMP(SVR_ID);
	assert_int_equal(services_shown(w, 1, &q), 0);
	q.mod = SA_FOR_STANDBY;
	assert_int_equal(ask(w, 1, &q, NULL, 0), SA_REQ_DENIED);
	dump = sa_db_text(sm_sa(sm_of(w, ACTIVE)), &len);
	assert_null(strstr(dump, "Service Record"));
	assert_int_equal(sa_stats(sm_sa(sm_of(w, ACTIVE)))->services, 0);
}

static void a_host_cannot_pose_as_a_manager(void **state)
{
	struct world *w = *state;
	uint8_t record[SVR_BYTES];
	struct question q = { .method = MAD_SET,
			      .attr = SA_SERVICE_RECORD,
			      .mask = ~0ull & ~SA_COMP(SVR_PKEY),
			      .data = record,
			      .len = sizeof(record) };

	start_both(w);
	service_of(w->host[1], SA_MANAGER_ID, 100, record);
	w->host[1]->sm_key = 1;
	assert_int_equal(ask(w, 1, &q, NULL, 0), SA_REQ_INVALID);
	q.method = MAD_SA_DELETE;
	service_of(w->host[1], SA_MANAGER_ID, 100, record);
	ib_bits_put(record, SVR_GID + 64, 64, sm_of(w, ACTIVE)->tr->port_guid);
	assert_int_equal(ask(w, 1, &q, NULL, 0), SA_NO_RECORDS);
}

/* ---- answers that cannot be believed ---------------------------------------------------------- */

/* An answer to the question that is out, as it would come from the master. */
static struct transport_event answer_to(struct world *w, size_t stride, size_t bytes)
{
	const struct replica *r = spare(w);
	struct transport_event ev = { .kind = TRANSPORT_MAD, .length = SA_DATA + bytes };

	ev.from = r->to;
	ib_put(ev.mad, SAH_BASE_VERSION, 1);
	ib_put(ev.mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(ev.mad, SAH_CLASS_VERSION, 2);
	ib_put(ev.mad, SAH_METHOD, r->question.method | MAD_RESPONSE_BIT);
	ib_put(ev.mad, SAH_TID, r->tid);
	ib_put(ev.mad, SAH_ATTR_ID, r->question.attr);
	ib_put(ev.mad, SAH_ATTR_OFFSET, stride / 8);
	ib_put(ev.mad, SAH_RMPP_FLAGS, RMPP_ACTIVE | RMPP_FIRST | RMPP_LAST);
	if (ev.length > MAD_SIZE) {
		ev.whole = xcalloc(1, ev.length);
		memcpy(ev.whole, ev.mad, MAD_SIZE);
	}
	return ev;
}

/* Stops where the standby waits for the table of members. */
static void wait_for_members_question(struct world *w)
{
	start_both(w);
	join(w, 1, 1);
	while (!spare(w)->tid || spare(w)->question.attr != SA_MC_MEMBER_RECORD)
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 20 * MONO_S));
}

/* True: the table was taken. */
static bool is_taken(struct world *w, struct transport_event ev)
{
	uint32_t tid = spare(w)->tid;
	unsigned step = spare(w)->step;
	bool ours = replica_receive(sm_of(w, SPARE), &ev), taken;

	assert_true(ours);
	free(ev.whole);
	taken = spare(w)->tid != tid && spare(w)->step == step + 1;
	return taken;
}

static void a_cut_table_is_not_believed(void **state)
{
	struct world *w = *state;
	mono_t at;

	wait_for_members_question(w);
	at = spare(w)->kept.at;
	assert_false(is_taken(w, answer_to(w, MCM_BYTES, 200)));
	assert_int_equal(spare(w)->kept.at, at);
	assert_int_equal(said("is no whole table", ""), 1);
	assert_int_equal(spare(w)->tid, 0);
}

static void a_wrong_record_size_is_not_believed(void **state)
{
	struct world *w = *state;

	wait_for_members_question(w);
	assert_false(is_taken(w, answer_to(w, 64, 640)));
	assert_int_equal(spare(w)->failures, 1);
}

static void records_without_a_size_are_not_believed(void **state)
{
	struct world *w = *state;

	wait_for_members_question(w);
	assert_false(is_taken(w, answer_to(w, 0, 560)));
}

static void an_absurd_number_is_not_believed(void **state)
{
	struct world *w = *state;

	wait_for_members_question(w);
	spare(w)->question.limit = 9;
	assert_false(is_taken(w, answer_to(w, MCM_BYTES, MCM_BYTES * 10)));
}

static void another_lid_is_not_the_master(void **state)
{
	struct world *w = *state;
	struct transport_event ev;

	wait_for_members_question(w);
	ev = answer_to(w, MCM_BYTES, MCM_BYTES);
	ev.from.lid++;
	assert_false(is_taken(w, ev));
	assert_int_not_equal(spare(w)->tid, 0); /* it is still waited for */
	assert_true(is_taken(w, answer_to(w, MCM_BYTES, MCM_BYTES)));
}

static void an_empty_table_is_believed(void **state)
{
	struct world *w = *state;

	wait_for_members_question(w);
	assert_true(is_taken(w, answer_to(w, 0, 0)));
}

/* Records that make no sense cost themselves. */
static void nonsense_costs_itself(void **state)
{
	struct world *w = *state;
	uint8_t rows[4 * MCM_BYTES] = { 0 }, services[2 * SVR_BYTES] = { 0 }, mgid[16];
	struct sa_tables t = { .members = { rows, 4 }, .services = { services, 2 }, .whole = true };
	struct sa *sa;

	start_both(w);
	sa = sm_of(w, SPARE)->sa;
	for (unsigned i = 0; i < 4; i++) {
		uint8_t *r = rows + i * MCM_BYTES;

		mgid_of(i, mgid);
		memcpy(ib_at(r, MCM_MGID), mgid, 16);
		ib_put(r, MCM_MLID, 0xC001 + i);
		ib_put(r, MCM_PKEY, 0xFFFF);
		ib_put(r, MCM_MTU, 4);
		ib_put(r, MCM_RATE, 3);
		ib_bits_put(r, MCM_PORT_GID + 64, 64, w->host[1]->guid);
		ib_put(r, MCM_JOIN_STATE, MC_FULL);
	}
	rows[0] = 0x12;					 /* no multicast GID */
	ib_put(rows + MCM_BYTES, MCM_MLID, 0x0042);	 /* no multicast LID */
	ib_put(rows + 2 * MCM_BYTES, MCM_JOIN_STATE, 0); /* a port, but no member */
	ib_put(services, SVR_ID, SA_MANAGER_ID);
	ib_put(services + SVR_BYTES, SVR_LEASE, 0);
	assert_int_equal(sa_restore_tables(sa, &t), 3);
	assert_int_equal(sa_stats(sa)->members, 1);
	assert_int_equal(sa_stats(sa)->services, 0);
}

/* ---- Reports ---------------------------------------------------------------------------------- */

static void reports_come_from_the_master_alone(void **state)
{
	struct world *w = *state;
	struct transport_event ev;
	mono_t next;

	start_both(w);
	run_for(w, 10 * MONO_S);
	ev = answer_to(w, 0, NT_BYTES);
	ib_put(ev.mad, SAH_METHOD, MAD_REPORT);
	ib_put(ev.mad, SAH_ATTR_ID, SA_NOTICE);
	ib_put(ev.mad + SA_DATA, NT_IS_GENERIC, 1);
	ib_put(ev.mad + SA_DATA, NT_TRAP, TRAP_MGID_CREATED);
	spare(w)->next_at = next = sm_of(w, SPARE)->now + 9 * MONO_S;
	ev.from.lid++;
	assert_true(replica_receive(sm_of(w, SPARE), &ev));
	assert_int_equal(spare(w)->next_at, next);
	ev.from.lid--;
	assert_true(replica_receive(sm_of(w, SPARE), &ev));
	assert_true(spare(w)->next_at < next);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_registered_survives),
		TEST(hosts_that_join_again_change_nothing),
		TEST(a_lease_goes_on_running),
		TEST(ten_per_cent_lost),
		TEST(the_master_dies_while_it_is_copied),
		TEST(tables_of_many_segments),
		TEST(other_partitions_are_copied),
		TEST(an_earlier_life_is_forgotten),
		TEST(a_standby_writes_no_dump),
		TEST(tables_are_asked_for_when_something_changed),
		TEST(a_foreign_master_is_copied_too),
		TEST(a_foreign_master_is_asked_seldom),
		TEST(a_master_that_does_not_answer),
		TEST(equal_configurations_are_not_mentioned),
		TEST(a_difference_is_said_on_both),
		TEST(files_are_compared_by_what_they_say),
		TEST(what_reaches_the_fabric_is_compared),
		TEST(hosts_see_nothing_of_managers),
		TEST(a_host_cannot_pose_as_a_manager),
		TEST(a_cut_table_is_not_believed),
		TEST(a_wrong_record_size_is_not_believed),
		TEST(records_without_a_size_are_not_believed),
		TEST(an_absurd_number_is_not_believed),
		TEST(another_lid_is_not_the_master),
		TEST(an_empty_table_is_believed),
		TEST(nonsense_costs_itself),
		TEST(reports_come_from_the_master_alone),
	};

	return cmocka_run_group_tests_name("sm-replica", tests, NULL, NULL);
}
