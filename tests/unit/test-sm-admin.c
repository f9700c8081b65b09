// SPDX-License-Identifier: BSD-2-Clause
/*
 * What scenarios (tests/scenario/hosts.scn) cannot see of hosts and the manager together: files at
 * one moment, groups that are made anew, the inside of the SA's machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/client.h"
#include "tests/lib/rig.h"
#include "sim/gen/gen.h"
#include "sm/sm_internal.h"
#include "tests/lib/scratch.h"
#include "util/file.h"
#include "util/log.h"
#include "util/mem.h"

#define N_HOSTS 8

static const char net_text[] =
	"Switch 8 \"L0\"\n[1] \"h0\"[1]\n[2] \"h1\"[1]\n[3] \"h2\"[1]\n[4] \"h3\"[1]\n"
	"[5] \"S0\"[1]\n[6] \"S1\"[1]\n\n"
	"Switch 8 \"L1\"\n[1] \"h4\"[1]\n[2] \"h5\"[1]\n[3] \"h6\"[1]\n[4] \"h7\"[1]\n"
	"[5] \"S0\"[2]\n[6] \"S1\"[2]\n[7] \"r0\"[1]\n\n"
	"Switch 8 \"S0\"\n[1] \"L0\"[5]\n[2] \"L1\"[5]\n\n"
	"Switch 8 \"S1\"\n[1] \"L0\"[6]\n[2] \"L1\"[6]\n\n"
	"Ca 1 \"h0\"\n[1] \"L0\"[1]\n\nCa 1 \"h1\"\n[1] \"L0\"[2]\n\n"
	"Ca 1 \"h2\"\n[1] \"L0\"[3]\n\nCa 1 \"h3\"\n[1] \"L0\"[4]\n\n"
	"Ca 1 \"h4\"\n[1] \"L1\"[1]\n\nCa 1 \"h5\"\n[1] \"L1\"[2]\n\n"
	"Ca 1 \"h6\"\n[1] \"L1\"[3]\n\nCa 1 \"h7\"\n[1] \"L1\"[4]\n\n"
	"Rt 1 \"r0\"\n[1] \"L1\"[7]\n\n";

/* A manager on h0, clients on h1 to h7; files in a folder of its own. */
struct world {
	struct rig *rig;
	struct conf *conf;
	char dir[SCRATCH_PATH], partitions[128];
	struct client *host[N_HOSTS];
};

static void run_for(struct world *w, mono_t t)
{
	rig_run(w->rig, sim_now(w->rig->sim) + t);
}

static void write_partitions(struct world *w, const char *text)
{
	FILE *f = fopen(w->partitions, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void start(struct world *w)
{
	assert_true(rig_start(w->rig, "h0", 1, w->conf, w->dir) >= 0);
	run_for(w, 5 * MONO_S);
	assert_int_equal(rig_count(w->rig, SM_MASTER), 1);
}

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));
	char err[256] = "";
	_cleanup_(netfile_freep) struct netfile *net =
		netfile_parse(net_text, strlen(net_text), err, sizeof(err));

	assert_non_null(net);
	scratch_folder(w->dir);
	snprintf(w->partitions, sizeof(w->partitions), "%s/partitions.conf", w->dir);
	w->conf = conf_new();
	free(w->conf->partition_config_file);
	w->conf->partition_config_file = xstrdup(w->partitions);
	scratch_open_partitions(w->partitions);
	w->rig = rig_new(sim_new(net, 1));
	for (unsigned i = 1; i < N_HOSTS; i++) {
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
	conf_unref(w->conf);
	scratch_remove(w->dir);
	free(w);
	return 0;
}

/* Status of a question; the first record of a good answer into `ret` if that is not NULL. */
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

static int join_broadcast(struct world *w, unsigned host, uint16_t pkey, uint8_t ret[MCM_BYTES])
{
	uint8_t record[MCM_BYTES];
	struct question q = client_join_broadcast(w->host[host], pkey, record);

	return ask(w, host, &q, ret, MCM_BYTES);
}

static void prefix_routes_lead_to_a_router(void **state)
{
	struct world *w = *state;
	uint8_t record[PR_BYTES], answer[PR_BYTES];
	struct question q = client_path(w->host[1], 0x1234, 0xFFFF, record);
	char *path = xasprintf("%s/prefix-routes.conf", w->dir);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs("fec0000000000001 *\n", f);
	fclose(f);
	free(w->conf->prefix_routes_file);
	w->conf->prefix_routes_file = path;
	start(w);
	ib_bits_put(record, PR_DGID, 64, UINT64_C(0xFEC0000000000001));
	assert_int_equal(ask(w, 1, &q, answer, sizeof(answer)), 0);
	assert_int_equal(ib_get(answer, PR_HOP), 0xFF);
	assert_memory_equal(ib_at(answer, PR_DGID), ib_at(record, PR_DGID), 16);
	assert_int_not_equal(ib_get(answer, PR_DLID), 0);
	ib_bits_put(record, PR_DGID, 64, UINT64_C(0xFEC0000000000002));
	assert_int_equal(ask(w, 1, &q, NULL, 0), SA_NO_RECORDS);
}

static void on_changed(void *arg, const struct sm_tenancy_result *r)
{
	enum sm_tenancy_end *end = arg;

	*end = r->end;
}

/* P_Key 5 with this MTU, and h1 in it. */
static void change_partition(struct world *w, enum tenant_action action, uint8_t mtu)
{
	struct tenant_member member = { .guid = w->host[1]->guid, .full = true };
	const struct tenant_request rq = {
		.action = action,
		.pkey = 5,
		.has = TENANT_IPOIB | TENANT_MTU | TENANT_RATE,
		.fields = { .ipoib = true, .mtu = mtu, .rate = 3 },
		.members = &member,
		.n_members = action == TENANT_ADD ? 1 : 0,
	};
	enum sm_tenancy_end end = SM_TENANCY_ENDS;

	sm_tenancy_request(rig_master(w->rig), &rq, true, false, on_changed, &end);
	run_for(w, 3 * MONO_S);
	assert_int_equal(end, SM_TENANCY_DONE);
}

/* The partition's MTU changes: the member is out, and is asked to register again, it alone. */
static void a_group_made_anew_calls_its_members(void **state)
{
	struct world *w = *state;
	uint8_t record[MCM_BYTES] = { 0 };

	start(w);
	change_partition(w, TENANT_ADD, IB_MTU_2048);
	assert_int_equal(join_broadcast(w, 1, 0x8005, record), 0);
	assert_int_equal(ib_get(record, MCM_MTU), IB_MTU_2048);
	assert_int_equal(sim_reregistered(w->rig->sim, w->host[1]->node, 1), 1);
	change_partition(w, TENANT_CONFIGURE, IB_MTU_1024);
	assert_int_equal(sim_reregistered(w->rig->sim, w->host[1]->node, 1), 2);
	assert_int_equal(sim_reregistered(w->rig->sim, w->host[2]->node, 1), 1);
	assert_int_equal(join_broadcast(w, 1, 0x8005, record), 0);
	assert_int_equal(ib_get(record, MCM_MTU), IB_MTU_1024);
	run_for(w, 30 * MONO_S);
	assert_int_equal(sim_reregistered(w->rig->sim, w->host[1]->node, 1), 2);
}

/*
 * A manager stood by after its end, and takes over without a copy: its old file says "complete" no
 * longer by the time hosts are told of it, so that a process after a kill -9 asks them again.
 */
static void a_file_from_before_a_standby_is_complete_no_more(void **state)
{
	struct world *w = *state;

	start(w);
	assert_int_equal(join_broadcast(w, 1, 0xFFFF, (uint8_t[MCM_BYTES]){ 0 }), 0);
	run_for(w, 5 * MONO_S);
	sm_shutdown(rig_master(w->rig));
	rig_kill(w->rig, 0);
	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf, w->dir), 1);
	/* Another manager was master in its time. */
	elect_enter(w->rig->sms[1].sm, SM_STANDBY);
	elect_enter(w->rig->sms[1].sm, SM_DISCOVERING);
	while (sim_reregistered(w->rig->sim, w->host[7]->node, 1) < 2)
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + MONO_S));
	rig_kill(w->rig, 1);
	start(w);
	assert_int_equal(sim_reregistered(w->rig->sim, w->host[7]->node, 1), 3);
}

/* A save is under way when the end comes: the last word is written all the same. */
static void the_end_is_saved_behind_a_save(void **state)
{
	struct world *w = *state;
	struct sm *sm;

	start(w);
	sm = rig_master(w->rig);
	w->rig->job_time = 10 * MONO_S;
	assert_int_equal(join_broadcast(w, 1, 0xFFFF, (uint8_t[MCM_BYTES]){ 0 }), 0);
	run_for(w, 2 * MONO_S);
	assert_true(admin_saves(sm));
	sm_shutdown(sm);
	rig_kill(w->rig, 0);
	w->rig->job_time = 0;
	start(w);
	assert_int_equal(sim_reregistered(w->rig->sim, w->host[2]->node, 1), 1);
}

/* All that is registered is not written out every second for a disk that is full. */
static void a_save_that_fails_waits(void **state)
{
	struct world *w = *state;
	struct sm *sm;

	w->conf->sa_db_dump = true;
	assert_true(rig_start(w->rig, "h0", 1, w->conf, "/proc/none") >= 0);
	run_for(w, 5 * MONO_S);
	sm = rig_master(w->rig);
	assert_true(admin_save_failed(sm));
	assert_true(admin_next(sm) > sim_now(w->rig->sim) + 10 * MONO_S);
}

/* A node may be taken out while a sweep is looking around; traps from its LID go on coming. */
static void no_lid_leads_to_a_node_that_is_gone(void **state)
{
	struct world *w = *state;
	struct sm *sm;
	struct port *p;
	lid_t lid;

	start(w);
	sm = rig_master(w->rig);
	p = fabric_find_port(sm->fabric, w->host[3]->guid);
	lid = p->lid;
	assert_ptr_equal(lids_port_at(sm, lid), p);
	forget_node(sm, p->node);
	assert_null(lids_port_at(sm, lid));
}

/*
 * While nothing can be answered yet, those that asked lately are remembered, however many asked
 * before.
 */
static void who_asked_long_ago_takes_no_place(void **state)
{
	struct world *w = *state;
	struct transport_event ev = { .kind = TRANSPORT_MAD };
	struct sm *sm;

	free(w->conf->partition_config_error);
	w->conf->partition_config_error = xstrdup("refuse");
	write_partitions(w, "A=0x1 ALL=full;\n");
	assert_true(rig_start(w->rig, "h0", 1, w->conf, w->dir) >= 0);
	run_for(w, 5 * MONO_S);
	sm = rig_master(w->rig);
	ib_put(ev.mad, SMP_CLASS, MAD_CLASS_SA);
	for (unsigned i = 0; i < 100000; i++)
		inbox_gmp(sm, &ev, sm->now);
	assert_true(admin_waiting(sm) < 100000);
	inbox_gmp(sm, &ev, sm->now + 5 * MONO_S);
	assert_int_equal(admin_waiting(sm), 1);
}

/* More groups than fit a slice, and one more below the place of the slice: it has its turn, too. */
static void no_group_is_left_behind_the_slice(void **state)
{
	struct world *w = *state;
	struct sm *sm;

	start(w);
	sm = rig_master(w->rig);
	for (lid_t mlid = MLID_MIN + 100; mlid < MLID_MIN + 1400; mlid++)
		multicast_changed(sm, mlid);
	sm->now += MONO_S;
	multicast_feed(sm);
	assert_int_equal(multicast_next(sm), 0);
	multicast_changed(sm, MLID_MIN);
	multicast_feed(sm);
	assert_int_equal(multicast_next(sm), 0);
	multicast_feed(sm);
	assert_true(multicast_next(sm) > sm->now); /* all are planned; once more when it is quiet */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_group_made_anew_calls_its_members),
		TEST(a_file_from_before_a_standby_is_complete_no_more),
		TEST(the_end_is_saved_behind_a_save),
		TEST(a_save_that_fails_waits),
		TEST(no_lid_leads_to_a_node_that_is_gone),
		TEST(who_asked_long_ago_takes_no_place),
		TEST(no_group_is_left_behind_the_slice),
		TEST(prefix_routes_lead_to_a_router),
	};

	return cmocka_run_group_tests_name("sm-admin", tests, NULL, NULL);
}
