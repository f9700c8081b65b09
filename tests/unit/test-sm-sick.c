// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links isolated for their health, on a simulated tree: by counters that are told; dry run, cap and
 * guards; return to service; restarts.
 */
#include "unit/marks-world.h"

#include <inttypes.h>
#include <unistd.h>

#include "sm/health/sick.h"
#include "tests/lib/scratch.h"

static int start_world(void **st)
{
	assert_int_equal(open_world(st), 0);
	((struct world *)*st)->conf->hm_dry_run = false;
	((struct world *)*st)->conf->hm_probation_secs = 60;
	((struct world *)*st)->conf->hm_ber_short_secs = 60;
	((struct world *)*st)->conf->hm_ber_long_secs = 300;
	return 0;
}

/* The port has counted symbol errors; `n` 0: it is in order. */
static void errors_at(struct world *w, const char *name, unsigned port, unsigned n)
{
	struct port_counts c = { .interval_us = 10000000,
				 .known = 1u << PORT_COUNT_SYMBOL_ERRORS };

	c.grown[PORT_COUNT_SYMBOL_ERRORS] = n;
	sm_port_counts(w->sm, guid_of(w, name), port, &c);
}

static enum sick_state state_at(struct world *w, unsigned n)
{
	struct sick_shown s;

	assert_true(sm_sick_at(w->sm, n, &s));
	return s.state;
}

static void isolate_hosts(struct world *w)
{
	free(w->conf->hm_ca_symbol_ber_action);
	w->conf->hm_ca_symbol_ber_action = xstrdup("isolate");
}

static void dry_run_leaves_the_wire_alone(void **st)
{
	struct world *w = *st;
	struct sick_shown s;
	unsigned port;

	w->conf->hm_dry_run = true;
	start(w);
	port = uplink(w, "leaf2", "spine1");
	errors_at(w, "leaf2", port, 2);
	assert_false(sm_sick_at(w->sm, 0, &s));
	listen_for(w, "would be isolated");
	errors_at(w, "leaf2", port, 2);
	assert_int_equal(state_at(w, 0), SICK_DRY_RUN);
	assert_true(w->said);
	run_for(w, 30 * MONO_S);
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
	assert_false(port_of(w, "leaf2", port)->out.avoided);
	assert_true(is_good(w));
}

static void a_sick_link_is_isolated_and_comes_back(void **st)
{
	struct world *w = *st;
	struct sick_shown s;
	unsigned port;

	start(w);
	port = uplink(w, "leaf2", "spine1");
	errors_at(w, "leaf2", port, 100);
	assert_int_equal(state_at(w, 0), SICK_ISOLATED);
	run_for(w, 30 * MONO_S);
	assert_true(link_is(w, "leaf2", port, IB_PORT_INIT));
	assert_int_equal(unreachable(w), 0);
	/* all windows, and the probation, are over */
	run_for(w, 420 * MONO_S);
	assert_false(sm_sick_at(w->sm, 0, &s));
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
	assert_true(is_good(w));
}

static void the_last_way_and_our_own_are_spared(void **st)
{
	struct world *w = *st;

	isolate_hosts(w);
	w->conf->hm_isolate_host_links = true;
	start(w);
	errors_at(w, "leaf2", uplink(w, "leaf2", "spine1"), 100);
	run_for(w, 20 * MONO_S);
	errors_at(w, "leaf2", uplink(w, "leaf2", "spine2"), 100);
	assert_int_equal(state_at(w, 0), SICK_ISOLATED);
	assert_int_equal(state_at(w, 1), SICK_SPARED);
	errors_at(w, "h0", 1, 100);
	assert_int_equal(state_at(w, 2), SICK_SPARED);
	run_for(w, 30 * MONO_S);
	assert_int_equal(unreachable(w), 0);
	errors_at(w, "h5", 1, 100);
	assert_int_equal(state_at(w, 3), SICK_ISOLATED);
	run_for(w, 30 * MONO_S);
	assert_int_equal(state(w, "h5", 1), IB_PORT_INIT);
	assert_int_equal(state(w, "h0", 1), IB_PORT_ACTIVE);
}

static void act(char **option, const char *action)
{
	free(*option);
	*option = xstrdup(action);
}

static unsigned phys(struct world *w, const char *name, unsigned port)
{
	return sim_phys_state(w->sim, node_of(w, name), port);
}

static void a_sick_link_is_disabled_and_enabled_again(void **st)
{
	struct world *w = *st;
	struct sick_shown s;
	unsigned port, far;

	act(&w->conf->hm_sw_symbol_ber_action, "disable");
	start(w);
	port = uplink(w, "leaf2", "spine1");
	far = port_of(w, "leaf2", port)->peer->num;
	errors_at(w, "leaf2", port, 100);
	run_for(w, 30 * MONO_S);
	assert_int_equal(state_at(w, 0), SICK_ISOLATED);
	/* at one end, the one that is nearer to the manager; the other only lost its link */
	assert_int_equal(phys(w, "spine1", far), IB_PHYS_DISABLED);
	assert_int_not_equal(phys(w, "leaf2", port), IB_PHYS_DISABLED);
	assert_int_equal(unreachable(w), 0);
	run_for(w, 420 * MONO_S);
	assert_false(sm_sick_at(w->sm, 0, &s));
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
	assert_true(is_good(w));
}

/* The other uplink of the leaf falls: the disabled one is its last way, and comes back. */
static void a_disabled_link_that_becomes_the_last_way_is_enabled(void **st)
{
	struct world *w = *st;
	unsigned port, other;

	act(&w->conf->hm_sw_symbol_ber_action, "disable");
	start(w);
	port = uplink(w, "leaf2", "spine1");
	other = uplink(w, "leaf2", "spine2");
	errors_at(w, "leaf2", port, 100);
	run_for(w, 30 * MONO_S);
	assert_int_equal(state(w, "leaf2", port), IB_PORT_DOWN);
	sim_unplug(w->sim, node_of(w, "leaf2"), other);
	run_for(w, 60 * MONO_S);
	assert_int_equal(state_at(w, 0), SICK_SPARED);
	assert_int_equal(state(w, "leaf2", port), IB_PORT_ACTIVE);
	assert_int_equal(unreachable(w), 0);
}

static void a_port_that_others_enable_is_left_alone(void **st)
{
	struct world *w = *st;
	struct sick_shown s;
	unsigned port, far;

	act(&w->conf->hm_sw_symbol_ber_action, "disable");
	start(w);
	port = uplink(w, "leaf2", "spine1");
	far = port_of(w, "leaf2", port)->peer->num;
	errors_at(w, "leaf2", port, 100);
	run_for(w, 30 * MONO_S);
	assert_int_equal(phys(w, "spine1", far), IB_PHYS_DISABLED);
	listen_for(w, "enabled by others");
	sim_link_enable(w->sim, node_of(w, "spine1"), far, true);
	run_for(w, 30 * MONO_S);
	assert_true(w->said);
	assert_false(sm_sick_at(w->sm, 0, &s));
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
}

static void a_port_disabled_by_others_stays_so(void **st)
{
	struct world *w = *st;
	struct sick_shown s;
	unsigned port, far;

	start(w);
	port = uplink(w, "leaf2", "spine1");
	far = port_of(w, "leaf2", port)->peer->num;
	errors_at(w, "leaf2", port, 100);
	run_for(w, 30 * MONO_S);
	sim_link_enable(w->sim, node_of(w, "spine1"), far, false);
	run_for(w, 420 * MONO_S);
	assert_false(sm_sick_at(w->sm, 0, &s));
	assert_int_equal(phys(w, "spine1", far), IB_PHYS_DISABLED);
}

static void what_is_disabled_is_enabled_after_a_restart(void **st)
{
	struct world *w = *st;
	char dir[SCRATCH_PATH];
	unsigned port, far;

	act(&w->conf->hm_sw_symbol_ber_action, "disable");
	scratch_folder(dir);
	assert_int_equal(rig_start(w->rig, "h0", 0, w->conf, dir), 0);
	run_for(w, 15 * MONO_S);
	w->sm = rig_master(w->rig);
	port = uplink(w, "leaf2", "spine1");
	far = port_of(w, "leaf2", port)->peer->num;
	errors_at(w, "leaf2", port, 100);
	run_for(w, 30 * MONO_S);
	assert_int_equal(phys(w, "spine1", far), IB_PHYS_DISABLED);
	rig_kill(w->rig, 0);
	assert_true(rig_start(w->rig, "h0", 0, w->conf, dir) >= 0);
	run_for(w, 30 * MONO_S);
	w->sm = rig_master(w->rig);
	assert_int_equal(sm_sick_links(w->sm, SICK_ISOLATED), 1);
	assert_int_equal(phys(w, "spine1", far), IB_PHYS_DISABLED);
	assert_true(sm_sick_clear(w->sm, guid_of(w, "leaf2"), port));
	run_for(w, 30 * MONO_S);
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
	scratch_remove(dir);
}

static void a_sick_link_is_not_read_and_comes_back(void **st)
{
	struct world *w = *st;
	struct sick_shown s;
	unsigned port;

	act(&w->conf->hm_sw_symbol_ber_action, "no_discover");
	start(w);
	port = uplink(w, "leaf2", "spine1");
	errors_at(w, "leaf2", port, 100);
	run_for(w, 30 * MONO_S);
	assert_int_equal(state_at(w, 0), SICK_ISOLATED);
	assert_null(port_of(w, "leaf2", port)->peer);
	assert_int_equal(state(w, "leaf2", port), IB_PORT_INIT);
	sm_request_heavy(w->sm, NULL);
	run_for(w, 20 * MONO_S);
	assert_null(port_of(w, "leaf2", port)->peer);
	assert_int_equal(unreachable(w), 0);
	run_for(w, 420 * MONO_S);
	assert_false(sm_sick_at(w->sm, 0, &s));
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
	assert_true(is_good(w));
}

static void a_link_that_is_not_read_and_becomes_the_last_way_is_used(void **st)
{
	struct world *w = *st;
	unsigned port;

	act(&w->conf->hm_sw_symbol_ber_action, "no_discover");
	start(w);
	port = uplink(w, "leaf2", "spine1");
	errors_at(w, "leaf2", port, 100);
	run_for(w, 30 * MONO_S);
	assert_null(port_of(w, "leaf2", port)->peer);
	sim_unplug(w->sim, node_of(w, "leaf2"), uplink(w, "leaf2", "spine2"));
	run_for(w, 60 * MONO_S);
	assert_int_equal(state_at(w, 0), SICK_SPARED);
	assert_int_equal(state(w, "leaf2", port), IB_PORT_ACTIVE);
	assert_int_equal(unreachable(w), 0);
}

/* A host behind a link that is not read is gone; and known again when its link is. */
static void a_host_behind_what_is_not_read_is_gone(void **st)
{
	struct world *w = *st;
	guid_t host;

	act(&w->conf->hm_ca_symbol_ber_action, "no_discover");
	w->conf->hm_isolate_host_links = true;
	start(w);
	host = guid_of(w, "h5");
	errors_at(w, "h5", 1, 100);
	run_for(w, 30 * MONO_S);
	assert_null(fabric_find_node(w->sm->fabric, host));
	assert_true(sm_sick_clear(w->sm, host, 1));
	run_for(w, 30 * MONO_S);
	assert_non_null(fabric_find_node(w->sm->fabric, host));
	assert_int_equal(state(w, "h5", 1), IB_PORT_ACTIVE);
}

/* hm_ports_health_policy_file, with one line on the port; NULL: no line. */
static void policy_is(struct world *w, const char *head, const char *name, unsigned port,
		      const char *state)
{
	FILE *f = fopen(w->conf->hm_ports_health_policy_file, "we");

	assert_non_null(f);
	fprintf(f, "%s\n", head);
	if (state)
		fprintf(f, "0x%016" PRIx64 " %u %s\n", guid_of(w, name), port, state);
	assert_int_equal(fclose(f), 0);
	if (w->sm)
		sm_request_heavy(w->sm, NULL);
}

static void open_policy(struct world *w, char dir[SCRATCH_PATH])
{
	scratch_folder(dir);
	free(w->conf->hm_ports_health_policy_file);
	w->conf->hm_ports_health_policy_file = xasprintf("%s/policy", dir);
	policy_is(w, "# none", NULL, 0, NULL);
	start(w);
}

static void a_port_called_healthy_is_left_alone(void **st)
{
	struct world *w = *st;
	char dir[SCRATCH_PATH];
	struct sick_shown s;
	unsigned port;

	open_policy(w, dir);
	port = uplink(w, "leaf2", "spine1");
	/* by the other end of the cable */
	policy_is(w, "", "spine1", port_of(w, "leaf2", port)->peer->num, "healthy");
	run_for(w, 20 * MONO_S);
	errors_at(w, "leaf2", port, 100);
	assert_false(sm_sick_at(w->sm, 0, &s));
	/* without the line it is judged, and with it what was done is taken back */
	policy_is(w, "# none", NULL, 0, NULL);
	run_for(w, 20 * MONO_S);
	errors_at(w, "leaf2", port, 100);
	run_for(w, 30 * MONO_S);
	assert_true(link_is(w, "leaf2", port, IB_PORT_INIT));
	policy_is(w, "", "leaf2", port, "healthy");
	run_for(w, 30 * MONO_S);
	assert_false(sm_sick_at(w->sm, 0, &s));
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
	assert_true(is_good(w));
	scratch_remove(dir);
}

static void a_port_called_unhealthy_is_taken_out_and_comes_back(void **st)
{
	struct world *w = *st;
	char dir[SCRATCH_PATH];
	struct sick_shown s;
	unsigned port, far;

	w->conf->hm_dry_run = true; /* of what is found, not of what is asked for */
	open_policy(w, dir);
	port = uplink(w, "leaf2", "spine1");
	far = port_of(w, "leaf2", port)->peer->num;
	policy_is(w, "", "leaf2", port, "unhealthy");
	run_for(w, 30 * MONO_S);
	assert_int_equal(state_at(w, 0), SICK_ISOLATED);
	assert_true(link_is(w, "leaf2", port, IB_PORT_INIT));
	policy_is(w, "", "leaf2", port, "unhealthy disable");
	run_for(w, 60 * MONO_S);
	assert_int_equal(phys(w, "spine1", far), IB_PHYS_DISABLED);
	policy_is(w, "# none", NULL, 0, NULL);
	run_for(w, 40 * MONO_S);
	assert_false(sm_sick_at(w->sm, 0, &s));
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
	assert_true(is_good(w));
	scratch_remove(dir);
}

static void the_last_way_is_spared_whatever_is_asked_for(void **st)
{
	struct world *w = *st;
	char dir[SCRATCH_PATH];

	open_policy(w, dir);
	sim_unplug(w->sim, node_of(w, "leaf2"), uplink(w, "leaf2", "spine2"));
	run_for(w, 20 * MONO_S);
	policy_is(w, "", "leaf2", uplink(w, "leaf2", "spine1"), "unhealthy disable");
	run_for(w, 30 * MONO_S);
	assert_int_equal(state_at(w, 0), SICK_SPARED);
	assert_int_equal(unreachable(w), 0);
	scratch_remove(dir);
}

static void all_healthy_clears_what_is_not_listed(void **st)
{
	struct world *w = *st;
	char dir[SCRATCH_PATH];
	struct sick_shown s;
	unsigned port, other;

	open_policy(w, dir);
	port = uplink(w, "leaf2", "spine1");
	other = uplink(w, "leaf3", "spine1");
	errors_at(w, "leaf2", port, 100);
	errors_at(w, "leaf3", other, 100);
	run_for(w, 30 * MONO_S);
	assert_int_equal(sm_sick_links(w->sm, SICK_ISOLATED), 2);
	policy_is(w, "ALL healthy", "leaf3", other, "unhealthy");
	run_for(w, 40 * MONO_S);
	assert_int_equal(sm_sick_links(w->sm, SICK_ISOLATED), 1);
	assert_false(sm_sick_at(w->sm, 1, &s));
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
	assert_true(link_is(w, "leaf3", other, IB_PORT_INIT));
	scratch_remove(dir);
}

static void a_file_that_is_gone_changes_nothing(void **st)
{
	struct world *w = *st;
	char dir[SCRATCH_PATH];
	unsigned port;

	open_policy(w, dir);
	port = uplink(w, "leaf2", "spine1");
	policy_is(w, "", "leaf2", port, "unhealthy");
	run_for(w, 30 * MONO_S);
	assert_int_equal(unlink(w->conf->hm_ports_health_policy_file), 0);
	sm_request_heavy(w->sm, NULL);
	run_for(w, 30 * MONO_S);
	assert_true(link_is(w, "leaf2", port, IB_PORT_INIT));
	scratch_remove(dir);
}

static unsigned found_on(struct world *w)
{
	struct sick_shown s;

	return sm_sick_at(w->sm, 0, &s) ? s.verdict->on : 0;
}

static void sweep_often(struct world *w, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		sm_request_heavy(w->sm, NULL);
		run_for(w, 20 * MONO_S);
	}
}

/* The file, and what was found, count again when checks are made again. */
static void checks_that_are_off_and_on_again_find_what_they_found(void **st)
{
	struct world *w = *st;
	char dir[SCRATCH_PATH];
	unsigned called, found;

	w->conf->hm_probation_secs = 3600;
	open_policy(w, dir);
	called = uplink(w, "leaf2", "spine1");
	found = uplink(w, "leaf3", "spine1");
	policy_is(w, "", "leaf2", called, "unhealthy isolate");
	errors_at(w, "leaf3", found, 100);
	run_for(w, 40 * MONO_S);
	assert_int_equal(state(w, "leaf2", called), IB_PORT_INIT);
	assert_int_equal(state(w, "leaf3", found), IB_PORT_INIT);
	w->conf->hm_unhealthy_ports_checks = false;
	sm_request_heavy(w->sm, NULL);
	run_for(w, 60 * MONO_S);
	assert_int_equal(state(w, "leaf2", called), IB_PORT_ACTIVE);
	assert_int_equal(state(w, "leaf3", found), IB_PORT_ACTIVE);
	w->conf->hm_unhealthy_ports_checks = true;
	sm_request_heavy(w->sm, NULL);
	run_for(w, 20 * MONO_S);
	errors_at(w, "leaf3", found, 100);
	run_for(w, 60 * MONO_S);
	assert_int_equal(state(w, "leaf2", called), IB_PORT_INIT);
	assert_int_equal(state(w, "leaf3", found), IB_PORT_INIT);
	scratch_remove(dir);
}

/* Another master's file calls the link unhealthy; ours, which is in force again, healthy. */
static void a_healthy_line_counts_again_after_another_master(void **st)
{
	struct world *w = *st;
	uint8_t row[HEALTH_ROW_MAX];
	char dir[SCRATCH_PATH];
	struct sick_shown s;
	struct health_end at;
	unsigned port;
	size_t len;

	open_policy(w, dir);
	port = uplink(w, "leaf2", "spine1");
	policy_is(w, "", "leaf2", port, "unhealthy isolate");
	run_for(w, 40 * MONO_S);
	assert_true(sm_sick_at(w->sm, 0, &s));
	at = s.verdict->end[0];
	len = health_pack(sick_judge(w->sm), at, row); /* as the other one has it */
	policy_is(w, "", "leaf2", port, "healthy");
	run_for(w, 60 * MONO_S);
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
	w->sm->state = SM_STANDBY;
	assert_true(health_take(sick_judge(w->sm), at, row, len));
	sick_took(w->sm);
	w->sm->state = SM_MASTER;
	sm_request_heavy(w->sm, NULL);
	run_for(w, 120 * MONO_S);
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
	assert_false(sm_sick_at(w->sm, 0, &s));
	scratch_remove(dir);
}

/* A manager that is master learns of it, as after a split: the next sweep decides. */
static void what_another_manager_found_is_acted_on(void **st)
{
	struct world *w = *st;
	uint8_t row[HEALTH_ROW_MAX];
	struct sick_shown s;
	struct health_end at;
	unsigned port;
	size_t len;

	start(w);
	port = uplink(w, "leaf2", "spine1");
	errors_at(w, "leaf2", port, 100);
	assert_true(sm_sick_at(w->sm, 0, &s));
	at = s.verdict->end[0];
	len = health_pack(sick_judge(w->sm), at, row);
	assert_true(sm_sick_clear(w->sm, guid_of(w, "leaf2"), port));
	run_for(w, 20 * MONO_S);
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
	assert_true(health_take(sick_judge(w->sm), at, row, len));
	sick_took(w->sm);
	run_for(w, 60 * MONO_S);
	assert_int_equal(state_at(w, 0), SICK_ISOLATED);
	assert_true(link_is(w, "leaf2", port, IB_PORT_INIT));
	assert_true(health_take(sick_judge(w->sm), at, NULL, 0)); /* and cleared it */
	sick_took(w->sm);
	run_for(w, 60 * MONO_S);
	assert_false(sm_sick_at(w->sm, 0, &s));
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
}

static void a_silent_host_is_found(void **st)
{
	struct world *w = *st;
	struct sick_shown s;

	w->conf->hm_num_no_resp_sweeps = 2;
	start(w);
	sweep_often(w, 3);
	assert_false(sm_sick_at(w->sm, 0, &s));
	sim_set_silent(w->sim, node_of(w, "h5"), SIM_SILENT, 0);
	sweep_often(w, 3);
	assert_int_equal(found_on(w), 1u << HEALTH_UNRESPONSIVE);
	assert_int_equal(state_at(w, 0), SICK_REPORTED);
}

/* Its SwitchInfo alone: it counts against the cable over which it is reached. */
static void a_silent_switch_is_found_at_the_cable_that_leads_there(void **st)
{
	struct world *w = *st;
	struct sick_shown s;

	w->conf->hm_num_no_resp_sweeps = 2;
	start(w);
	sim_set_silent(w->sim, node_of(w, "leaf2"), SIM_SILENT_GET, IB_ATTR_SWITCH_INFO);
	sweep_often(w, 3);
	assert_true(sm_sick_at(w->sm, 0, &s));
	assert_int_equal(s.verdict->on, 1u << HEALTH_UNRESPONSIVE);
	assert_true(s.verdict->end[0].node == guid_of(w, "leaf2") ||
		    s.verdict->end[1].node == guid_of(w, "leaf2"));
	assert_false(s.verdict->host);
}

static void refused_sets_are_found(void **st)
{
	struct world *w = *st;

	w->conf->hm_num_set_err_sweeps = 2;
	start(w);
	sim_set_refuse(w->sim, node_of(w, "h5"), IB_ATTR_PORT_INFO, MAD_STATUS_BAD_VALUE);
	sim_reboot(w->sim, node_of(w, "h5"), 2 * MONO_S);
	run_for(w, 10 * MONO_S);
	sweep_often(w, 3);
	assert_true(found_on(w) & 1u << HEALTH_SETERR);
}

static void answers_that_cannot_be_are_found(void **st)
{
	struct world *w = *st;

	start(w);
	assert_int_equal(found_on(w), 0);
	sim_set_caps(w->sim, node_of(w, "h5"), 0, 1);
	sweep_often(w, 1);
	assert_int_equal(found_on(w), 1u << HEALTH_ILLEGAL);
}

static void host_links_only_if_asked_for(void **st)
{
	struct world *w = *st;

	isolate_hosts(w);
	start(w);
	errors_at(w, "h5", 1, 100);
	assert_int_equal(state_at(w, 0), SICK_HOST_LINK);
	run_for(w, 15 * MONO_S);
	assert_int_equal(state(w, "h5", 1), IB_PORT_ACTIVE);
}

static void a_finding_of_a_host_is_reported(void **st)
{
	struct world *w = *st;

	start(w);
	errors_at(w, "h5", 1, 100);
	assert_int_equal(state_at(w, 0), SICK_REPORTED);
}

static void no_more_than_the_cap(void **st)
{
	struct world *w = *st;

	w->conf->hm_max_isolated = 1;
	start(w);
	errors_at(w, "leaf2", uplink(w, "leaf2", "spine1"), 100);
	run_for(w, 20 * MONO_S);
	errors_at(w, "leaf3", uplink(w, "leaf3", "spine1"), 100);
	/* the other end of the same cable is no link of its own */
	errors_at(w, "spine1", port_of(w, "leaf2", uplink(w, "leaf2", "spine1"))->peer->num, 100);
	assert_int_equal(sm_sick_links(w->sm, SICK_ISOLATED), 1);
	assert_int_equal(sm_sick_links(w->sm, SICK_CAPPED), 1);
	run_for(w, 20 * MONO_S);
	assert_true(link_is(w, "leaf3", uplink(w, "leaf3", "spine1"), IB_PORT_ACTIVE));
}

static void a_mark_and_bad_health_are_removed_each_for_itself(void **st)
{
	struct world *w = *st;
	guid_t leaf;
	unsigned port;

	start(w);
	port = uplink(w, "leaf2", "spine1");
	leaf = guid_of(w, "leaf2");
	errors_at(w, "leaf2", port, 100);
	run_for(w, 20 * MONO_S);
	assert_int_equal(ask(w, MARK_DO_DRAIN, "leaf2", port).end, MARK_DONE);
	assert_true(link_is(w, "leaf2", port, IB_PORT_INIT)); /* the more restrictive one */
	assert_int_equal(ask(w, MARK_DO_RESTORE, "leaf2", port).end, MARK_DONE);
	run_for(w, 20 * MONO_S);
	assert_true(link_is(w, "leaf2", port, IB_PORT_INIT));
	assert_int_equal(ask(w, MARK_DO_DRAIN, "leaf2", port).end, MARK_DONE);
	assert_true(sm_sick_clear(w->sm, leaf, port));
	run_for(w, 20 * MONO_S);
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
	assert_true(port_of(w, "leaf2", port)->out.avoided);
	assert_int_equal(ask(w, MARK_DO_RESTORE, "leaf2", port).end, MARK_DONE);
	run_for(w, 20 * MONO_S);
	assert_true(is_good(w));
}

static void a_restart_goes_on_in_the_window(void **st)
{
	struct world *w = *st;
	char dir[SCRATCH_PATH];
	unsigned port;

	scratch_folder(dir);
	assert_int_equal(rig_start(w->rig, "h0", 0, w->conf, dir), 0);
	run_for(w, 15 * MONO_S);
	w->sm = rig_master(w->rig);
	port = uplink(w, "leaf2", "spine1");
	errors_at(w, "leaf2", port, 2);
	run_for(w, 10 * MONO_S);
	rig_kill(w->rig, 0);
	assert_true(rig_start(w->rig, "h0", 0, w->conf, dir) >= 0);
	run_for(w, 15 * MONO_S);
	w->sm = rig_master(w->rig);
	assert_int_equal(sm_sick_links(w->sm, SICK_ISOLATED), 0);
	errors_at(w, "leaf2", port, 1);
	assert_int_equal(sm_sick_links(w->sm, SICK_ISOLATED), 1);
	run_for(w, 30 * MONO_S); /* stored by then */
	rig_kill(w->rig, 1);
	assert_true(rig_start(w->rig, "h0", 0, w->conf, dir) >= 0);
	run_for(w, 15 * MONO_S);
	w->sm = rig_master(w->rig);
	assert_int_equal(sm_sick_links(w->sm, SICK_ISOLATED), 1);
	assert_true(link_is(w, "leaf2", port, IB_PORT_INIT));
	scratch_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(dry_run_leaves_the_wire_alone, start_world,
						close_world),
		cmocka_unit_test_setup_teardown(a_sick_link_is_isolated_and_comes_back, start_world,
						close_world),
		cmocka_unit_test_setup_teardown(the_last_way_and_our_own_are_spared, start_world,
						close_world),
		cmocka_unit_test_setup_teardown(a_sick_link_is_disabled_and_enabled_again,
						start_world, close_world),
		cmocka_unit_test_setup_teardown(
			a_disabled_link_that_becomes_the_last_way_is_enabled, start_world,
			close_world),
		cmocka_unit_test_setup_teardown(a_port_that_others_enable_is_left_alone,
						start_world, close_world),
		cmocka_unit_test_setup_teardown(a_port_disabled_by_others_stays_so, start_world,
						close_world),
		cmocka_unit_test_setup_teardown(what_is_disabled_is_enabled_after_a_restart,
						start_world, close_world),
		cmocka_unit_test_setup_teardown(a_sick_link_is_not_read_and_comes_back, start_world,
						close_world),
		cmocka_unit_test_setup_teardown(
			a_link_that_is_not_read_and_becomes_the_last_way_is_used, start_world,
			close_world),
		cmocka_unit_test_setup_teardown(a_host_behind_what_is_not_read_is_gone, start_world,
						close_world),
		cmocka_unit_test_setup_teardown(a_port_called_healthy_is_left_alone, start_world,
						close_world),
		cmocka_unit_test_setup_teardown(
			a_port_called_unhealthy_is_taken_out_and_comes_back, start_world,
			close_world),
		cmocka_unit_test_setup_teardown(
			the_last_way_is_spared_whatever_is_asked_for, start_world,
			close_world),
		cmocka_unit_test_setup_teardown(all_healthy_clears_what_is_not_listed, start_world,
						close_world),
		cmocka_unit_test_setup_teardown(a_file_that_is_gone_changes_nothing, start_world,
						close_world),
		cmocka_unit_test_setup_teardown(
			checks_that_are_off_and_on_again_find_what_they_found, start_world,
			close_world),
		cmocka_unit_test_setup_teardown(a_healthy_line_counts_again_after_another_master,
						start_world, close_world),
		cmocka_unit_test_setup_teardown(what_another_manager_found_is_acted_on, start_world,
						close_world),
		cmocka_unit_test_setup_teardown(a_silent_host_is_found, start_world,
						close_world),
		cmocka_unit_test_setup_teardown(
			a_silent_switch_is_found_at_the_cable_that_leads_there, start_world,
			close_world),
		cmocka_unit_test_setup_teardown(refused_sets_are_found, start_world,
						close_world),
		cmocka_unit_test_setup_teardown(answers_that_cannot_be_are_found, start_world,
						close_world),
		cmocka_unit_test_setup_teardown(host_links_only_if_asked_for, start_world,
						close_world),
		cmocka_unit_test_setup_teardown(a_finding_of_a_host_is_reported, start_world,
						close_world),
		cmocka_unit_test_setup_teardown(no_more_than_the_cap, start_world, close_world),
		cmocka_unit_test_setup_teardown(a_mark_and_bad_health_are_removed_each_for_itself,
						start_world, close_world),
		cmocka_unit_test_setup_teardown(a_restart_goes_on_in_the_window, start_world,
						close_world),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
