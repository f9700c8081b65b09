// SPDX-License-Identifier: BSD-2-Clause
/*
 * The way of the guide security.md on a running subnet, with two managers: from open to guarded to
 * tenant, a failover, and back. No port leaves ACTIVE, and never are there two masters.
 */
#include "tests/unit/tenancy-desk.h"

#include "conf/conf.h"

#define KEY "0x5ec4e70000000001"

/* `text` is a file of options; partitions are those of the desk. */
static struct conf *conf_of(const struct desk *d, const char *text)
{
	struct conf *c = conf_copy(d->conf);
	struct conf_report r = { 0 };

	assert_int_equal(conf_read_text(c, "opensm.conf", text, strlen(text), &r), 0);
	conf_verify(c, &r);
	assert_int_equal(r.n, 0);
	return c;
}

static void assert_active(const struct desk *d)
{
	for (unsigned i = 0; i < N_HOSTS; i++) {
		char id[8];

		snprintf(id, sizeof(id), "h%u", i);
		assert_int_equal(sim_port_state(d->rig->sim, node_of(d, id), 1), IB_PORT_ACTIVE);
	}
}

static void run_active(struct desk *d, unsigned seconds)
{
	for (unsigned i = 0; i < 10 * seconds; i++) {
		run_for(d, MONO_S / 10);
		assert_active(d);
		assert_true(rig_count(d->rig, SM_MASTER) <= 1);
	}
	assert_int_equal(rig_count(d->rig, SM_MASTER), 1);
}

static void hup(struct desk *d, const char *host, const char *text)
{
	struct sm *sm = d->rig->sms[rig_find(d->rig, host)].sm;
	_cleanup_(conf_unrefp) struct conf *c = conf_of(d, text);
	_cleanup_(conf_files_unrefp) struct conf_files *files = conf_files_read(c, sm_files(sm));

	sm_reload(sm, c, files);
}

static void start_at(struct desk *d, const char *host, const char *text)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_of(d, text);
	_cleanup_free_ char *cache = xasprintf("%s/%s", d->dir, host);

	mkdir(cache, 0700);
	assert_true(rig_start(d->rig, host, 0, c, cache) >= 0);
}

#define OF_ITS_OWN UINT64_MAX /* a key that is not KEY, nor 0 */

/* What guards the hosts, and the switches. */
static void assert_guard(const struct desk *d, uint64_t key, unsigned level, unsigned lease)
{
	uint8_t info[SMP_DATA_SIZE];
	char id[8];

	for (unsigned i = 0; i < N_HOSTS + 2; i++) {
		if (i < N_HOSTS)
			snprintf(id, sizeof(id), "h%u", i);
		else
			snprintf(id, sizeof(id), "leaf%u", i - N_HOSTS + 1);
		if (node_of(d, id) < 0)
			fail_msg("no %s", id);
		assert_int_equal(sim_read(d->rig->sim, node_of(d, id), IB_ATTR_PORT_INFO,
					  i < N_HOSTS ? 1 : 0, info),
				 0);
		if (key != OF_ITS_OWN)
			assert_int_equal(ib_get(info, PI_M_KEY), key);
		else
			assert_true(ib_get(info, PI_M_KEY) != 0 &&
				    ib_get(info, PI_M_KEY) != strtoull(KEY, NULL, 0));
		assert_int_equal(ib_get(info, PI_M_KEY_PROTECT), level);
		assert_int_equal(ib_get(info, PI_M_KEY_LEASE), lease);
	}
}

static void assert_master(const struct desk *d, const char *host)
{
	assert_int_equal(rig_count(d->rig, SM_MASTER), 1);
	assert_int_equal(sm_state(d->rig->sms[rig_find(d->rig, host)].sm), SM_MASTER);
}

static void there_and_back_without_an_outage(void **state)
{
	struct desk *d = desk_new();
	_cleanup_free_ char *keys = xasprintf("m_key " KEY "\nsm_key 0x52\nsa_key 0x53\n"
					      "allowed_sm_guids 0x%" PRIx64 ", 0x%" PRIx64 "\n",
					      d->guid[0], d->guid[11]);
	_cleanup_free_ char *guarded = xasprintf("%ssecurity_profile guarded\n", keys);
	_cleanup_free_ char *tenant = xasprintf("%ssecurity_profile tenant\n", keys);
	_cleanup_free_ char *open = xasprintf("%ssecurity_profile open\n", keys);
	_cleanup_free_ char *bare = xstrdup(strstr(open, "sm_key"));

	start_at(d, "h0", "sm_priority 9\n");
	start_at(d, "h11", "");
	run_for(d, 20 * MONO_S);
	run_active(d, 1);
	assert_guard(d, 0, 0, 0);

	rig_stop(d->rig, (unsigned)rig_find(d->rig, "h11"));
	hup(d, "h0", guarded);
	run_active(d, 20);
	assert_guard(d, 0x5ec4e70000000001, 1, 60);
	start_at(d, "h11", guarded);
	run_active(d, 60);
	assert_master(d, "h0");
	assert_int_equal(rig_count(d->rig, SM_STANDBY), 1);

	hup(d, "h11", tenant);
	run_active(d, 20);
	hup(d, "h0", tenant);
	run_active(d, 200);
	assert_guard(d, OF_ITS_OWN, 2, 60);
	assert_master(d, "h0");

	rig_kill(d->rig, (unsigned)rig_find(d->rig, "h0"));
	for (unsigned i = 0; i < 120; i++) {
		run_for(d, MONO_S);
		assert_active(d);
	}
	assert_master(d, "h11");
	assert_guard(d, OF_ITS_OWN, 2, 60);
	start_at(d, "h0", tenant);
	run_active(d, 60);
	assert_int_equal(rig_count(d->rig, SM_STANDBY), 1);

	hup(d, "h0", open);
	hup(d, "h11", open);
	run_active(d, 60);
	assert_guard(d, 0x5ec4e70000000001, 0, 0);
	hup(d, "h0", bare);
	hup(d, "h11", bare);
	run_active(d, 60);
	assert_guard(d, 0, 0, 0);
	desk_free(d);
}

/* The lease lets a manager in that has lost every key. */
static void a_lost_key_is_read_when_the_lease_has_run_out(void **state)
{
	struct desk *d = desk_new();

	start_at(d, "h0", "m_key " KEY "\nm_key_per_port FALSE\nsecurity_profile tenant\n");
	run_for(d, 60 * MONO_S);
	run_active(d, 1);
	assert_guard(d, 0x5ec4e70000000001, 2, 60);
	rig_kill(d->rig, 0);
	start_at(d, "h5", "m_key 0x77\nm_key_per_port FALSE\nsecurity_profile tenant\n");
	run_for(d, 900 * MONO_S);
	run_active(d, 1);
	assert_master(d, "h5");
	assert_guard(d, 0x77, 2, 60);
	desk_free(d);
}

static void on_line(void *arg, unsigned bits, const char *text)
{
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back_without_an_outage),
		cmocka_unit_test(a_lost_key_is_read_when_the_lease_has_run_out),
	};

	log_set_sink(on_line, NULL);
	return cmocka_run_group_tests_name("sm-profile", tests, NULL, NULL);
}
