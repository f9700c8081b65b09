// SPDX-License-Identifier: BSD-2-Clause
/*
 * The master's configuration reaches the standby, and counts there below the standby's own: a
 * failover changes nothing, also where the second host has no files at all.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "conf/copied/copied.h"
#include "sm/share/share_internal.h"
#include "tests/unit/two-managers.h"
#include "util/file.h"

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Lines of opensm.conf, as if read from it. */
static void configure(struct world *w, unsigned which, const char *text)
{
	struct conf_report report = { 0 };

	conf_read_text(w->conf[which], "opensm.conf", text, strlen(text), &report);
	assert_int_equal(report.errors, 0);
	conf_report_clear(&report);
}

#define PARTITIONS "Default=0x7fff, ipoib : ALL=full;\nBlue=0x0123, ipoib : ALL=full;\n"

/* The master has options and files; the second host has none. */
static void configure_master(struct world *w)
{
	_cleanup_free_ char *roots = xasprintf("%s/roots", w->dir[ACTIVE]);
	_cleanup_free_ char *text = xasprintf("lmc 1\nrouting_engine updn\nroot_guid_file %s\n"
					      "subnet_timeout 17\nm_key_lease_period 30\n",
					      roots);

	write_file(roots, "0x0000000000200000\n");
	write_file(w->conf[ACTIVE]->partition_config_file, PARTITIONS);
	configure(w, ACTIVE, text);
	unlink(w->conf[SPARE]->partition_config_file);
}

/* As `reader` has it. */
static struct share_said said_by(struct world *w, unsigned which, unsigned reader)
{
	const struct ledger_key key = share_said_key(sm_of(w, which)->tr->port_guid);
	struct share_said ret;

	assert_true(share_said(sm_of(w, reader), &key, &ret));
	return ret;
}

static void start_and_copy(struct world *w)
{
	start_both(w);
	run_for(w, 20 * MONO_S);
}

static const struct conf *conf_of(struct world *w, unsigned which)
{
	return sm_conf(sm_of(w, which));
}

static void assert_is_as_master(struct world *w, unsigned which)
{
	const struct conf *c = conf_of(w, which);
	_cleanup_free_ char *text = NULL;
	size_t len;

	assert_int_equal(c->lmc, 1);
	assert_string_equal(c->routing_engine, "updn");
	assert_int_equal(c->subnet_timeout, 17);
	assert_int_equal(c->m_key_lease_period, 30);
	assert_int_equal(file_read(c->partition_config_file, 10000, &text, &len), 0);
	assert_string_equal(text, PARTITIONS);
}

static void a_standby_without_files_takes_the_masters(void **state)
{
	struct world *w = *state;
	char text[100];

	configure_master(w);
	start_and_copy(w);
	assert_is_as_master(w, SPARE);
	assert_true(conf_of(w, SPARE)->copied[CONF_ID_lmc]);
	assert_true(conf_of(w, SPARE)->copied_at != 0);
	assert_int_equal(said("this standby has our configuration", ""), 1);
	assert_int_equal(said("set otherwise here", ""), 0);
	run_for(w, 70 * MONO_S);
	assert_int_equal(said("configured otherwise", ""), 0);
	assert_int_equal(sm_configured_otherwise(sm_of(w, ACTIVE), text, sizeof(text)), 0);
}

/* Timing, priority and names of folders are each host's own, and keys are not sent. */
static void what_need_not_agree_stays(void **state)
{
	struct world *w = *state;

	configure_master(w);
	w->conf[ACTIVE]->sweep_interval = 77;
	w->conf[ACTIVE]->m_key = 0x0123456789ABCDEFull;
	start_and_copy(w);
	assert_int_not_equal(conf_of(w, SPARE)->sweep_interval, 77);
	assert_int_equal(conf_of(w, SPARE)->sm_priority, w->conf[SPARE]->sm_priority);
	assert_int_equal(conf_of(w, SPARE)->m_key, 0);
	assert_is_as_master(w, SPARE);
}

static char *kept_name(struct world *w, unsigned which)
{
	return xasprintf("%s/from-master/configuration", w->dir[which]);
}

static void no_key_is_stored(void **state)
{
	struct world *w = *state;
	_cleanup_free_ char *path = kept_name(w, SPARE), *text = NULL;
	size_t len;

	configure_master(w);
	w->conf[ACTIVE]->m_key = w->conf[SPARE]->m_key = 0x0123456789ABCDEFull;
	w->conf[ACTIVE]->sm_key = w->conf[SPARE]->sm_key = 0x1122334455667788ull;
	start_and_copy(w);
	assert_int_equal(file_read(path, COPIED_MAX, &text, &len), 0);
	assert_null(strcasestr(text, "123456789abcdef"));
	assert_null(strcasestr(text, "1122334455667788"));
	assert_non_null(strstr(text, "key m_key 0x"));
}

static void after_a_failover_all_is_as_before(void **state)
{
	struct world *w = *state;
	lid_t lid;

	configure_master(w);
	start_and_copy(w);
	lid = sim_port_lid(w->rig->sim, w->host[3]->node, 1);
	fail_over(w);
	assert_is_as_master(w, SPARE);
	assert_int_equal(said("options and files are as this former master had them", ""), 1);
	assert_int_equal(sim_port_lid(w->rig->sim, w->host[3]->node, 1), lid);
	assert_non_null(sm_partitions(sm_of(w, SPARE)));
	assert_int_equal(sm_partitions(sm_of(w, SPARE))->n, 2);
}

static void what_is_set_here_is_kept_and_named(void **state)
{
	struct world *w = *state;

	configure_master(w);
	configure(w, SPARE, "lmc 2\nrouting_engine updn\n");
	write_file(w->conf[SPARE]->partition_config_file, "Default=0x7fff : ALL=full;\n");
	start_and_copy(w);
	assert_int_equal(conf_of(w, SPARE)->lmc, 2);
	assert_int_equal(conf_of(w, SPARE)->subnet_timeout, 17);
	assert_int_equal(said("set otherwise here than at the master",
			      "lmc, partition_config_file;"),
			 1);
	assert_string_equal(conf_of(w, SPARE)->partition_config_file,
			    w->conf[SPARE]->partition_config_file);
}

/* Of the other manager; longer than one part of the channel. */
static void both_know_in_what_they_differ(void **state)
{
	struct world *w = *state;
	struct sm_manager_diff d;

	configure_master(w);
	configure(w, SPARE,
		  "lmc 2\nrouting_engine minhop\nsubnet_timeout 12\npacket_life_time 0x11\n"
		  "head_of_queue_lifetime 0x11\nleaf_head_of_queue_lifetime 0x11\n"
		  "max_op_vls 3\n");
	w->conf[SPARE]->m_key = 0xFEEDFACE;
	w->conf[ACTIVE]->sm_key = w->conf[SPARE]->sm_key = 0x515;
	start_and_copy(w);
	run_for(w, 70 * MONO_S); /* and looked at again */
	for (unsigned i = 0; i < 2; i++) {
		assert_true(sm_manager_diff_at(sm_of(w, i), 0, &d));
		assert_int_equal(d.guid, sm_of(w, !i)->tr->port_guid);
		assert_int_equal(d.theirs_first, i == ACTIVE);
		assert_non_null(d.text);
		assert_true(strlen(d.text) > 200);
		assert_non_null(strstr(d.text, "option lmc\t2\t1\n"));
		assert_non_null(strstr(d.text, "option max_op_vls\t3\t5\n"));
		assert_non_null(strstr(d.text, "key m_key\n"));
		assert_null(strcasestr(d.text, "feedface"));
		free(d.text);
		assert_false(sm_manager_diff_at(sm_of(w, i), 1, &d));
	}
}

static void reload(struct world *w, unsigned which)
{
	struct conf *next = conf_copy(w->conf[which]);
	_cleanup_(conf_files_unrefp) struct conf_files *files =
		conf_files_read(next, sm_files(sm_of(w, which)));

	conf_unref(w->conf[which]);
	w->conf[which] = next;
	sm_reload(sm_of(w, which), next, files);
}

static void a_change_at_the_master_comes_over(void **state)
{
	struct world *w = *state;
	struct conf *next;

	configure_master(w);
	start_and_copy(w);
	next = conf_copy(w->conf[ACTIVE]);
	next->subnet_timeout = 19;
	conf_unref(w->conf[ACTIVE]);
	w->conf[ACTIVE] = next;
	write_file(next->partition_config_file, "Default=0x7fff : ALL=full;\n");
	reload(w, ACTIVE);
	run_for(w, 20 * MONO_S);
	assert_int_equal(conf_of(w, SPARE)->subnet_timeout, 19);
	fail_over(w);
	assert_int_equal(sm_partitions(sm_of(w, SPARE))->n, 1);
}

/* SIGHUP of the standby: its own file changes, what was copied stays. */
static void a_reload_of_the_standby_keeps_what_was_copied(void **state)
{
	struct world *w = *state;

	configure_master(w);
	start_and_copy(w);
	configure(w, SPARE, "sweep_interval 33\n");
	reload(w, SPARE);
	run_for(w, MONO_S);
	assert_int_equal(conf_of(w, SPARE)->sweep_interval, 33);
	assert_is_as_master(w, SPARE);
}

/* Both hosts were off, and only the second one comes back. */
static void a_restart_begins_with_the_copy(void **state)
{
	struct world *w = *state;

	configure_master(w);
	start_and_copy(w);
	rig_kill(w->rig, ACTIVE);
	rig_kill(w->rig, SPARE);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), 2);
	run_for(w, 20 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, 2)), SM_MASTER);
	assert_is_as_master(w, 2);
}

/* The former master comes back, and its own file counts there: also what is gone from it. */
static void the_returning_master_goes_by_its_own_file(void **state)
{
	struct world *w = *state;
	struct conf *next;

	configure_master(w);
	start_and_copy(w);
	fail_over(w);
	join(w, 3, 7); /* so that it waits for what it is to copy */
	next = conf_copy(w->conf[ACTIVE]);
	next->lmc = 0;
	next->file_line[CONF_ID_lmc] = 0; /* its line is gone */
	next->subnet_timeout = 16;
	conf_unref(w->conf[ACTIVE]);
	w->conf[ACTIVE] = next;
	assert_int_equal(rig_start(w->rig, "h0", 1, next, w->dir[ACTIVE]), 2);
	run_for(w, 90 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, 2)), SM_MASTER);
	assert_int_equal(conf_of(w, 2)->lmc, 0);
	assert_int_equal(conf_of(w, 2)->subnet_timeout, 16);
	assert_int_equal(conf_of(w, SPARE)->lmc, 0); /* and at its standby, then */
	assert_int_equal(conf_of(w, SPARE)->subnet_timeout, 16);
}

/* The standby is greater, and gets the fabric. */
static void start_both_greater(struct world *w)
{
	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]), ACTIVE);
	run_for(w, 3 * MONO_S);
	join(w, 3, 7); /* the SA has something to hand over */
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), SPARE);
	run_for(w, 30 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_MASTER);
}

/* It gets the fabric, and not before it has the configuration. */
static void a_greater_manager_without_files_rules_by_the_copy(void **state)
{
	struct world *w = *state;

	configure_master(w);
	w->conf[SPARE]->sm_priority = 10;
	start_both_greater(w);
	assert_is_as_master(w, SPARE);
	assert_int_equal(said("options and files are as this former master had them", ""), 1);
	assert_int_equal(conf_of(w, ACTIVE)->lmc, 1); /* its own file still counts */
}

/* It had the copy before, and said so: the master does not go by that. */
static void a_greater_manager_that_lost_its_copy_gets_it_first(void **state)
{
	struct world *w = *state;
	mono_t until;

	configure_master(w);
	w->conf[SPARE]->sm_priority = 10;
	start_both_greater(w);
	rig_kill(w->rig, SPARE);
	run_for(w, 30 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, ACTIVE)), SM_MASTER);
	scratch_remove(w->dir[SPARE]);
	assert_int_equal(mkdir(w->dir[SPARE], 0700), 0);
	w->rig->disk_time = MONO_S;
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), 2);
	until = sim_now(w->rig->sim) + 40 * MONO_S;
	do {
		assert_true(sm_state(sm_of(w, 2)) != SM_MASTER || conf_of(w, 2)->lmc == 1);
	} while (rig_step(w->rig, until));
	assert_int_equal(sm_state(sm_of(w, 2)), SM_MASTER);
}

static void a_damaged_copy_is_not_used(void **state)
{
	struct world *w = *state;
	_cleanup_free_ char *path = kept_name(w, SPARE), *text = NULL;
	size_t len;

	configure_master(w);
	start_and_copy(w);
	rig_kill(w->rig, ACTIVE);
	rig_kill(w->rig, SPARE);
	assert_int_equal(file_read(path, COPIED_MAX, &text, &len), 0);
	text[len / 2] ^= 1;
	write_file(path, text);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), 2);
	assert_int_equal(said("is not used: it is damaged", ""), 1);
	assert_int_equal(conf_of(w, 2)->lmc, 0);
}

static void either_side_may_decline(void **state)
{
	struct world *w = *state;

	configure_master(w);
	w->conf[SPARE]->replicate_configuration = false;
	start_and_copy(w);
	assert_int_equal(conf_of(w, SPARE)->lmc, 0);
	assert_int_equal(said("does not take our configuration", ""), 1);
	run_for(w, 200 * MONO_S);
	assert_int_equal(said("does not take our configuration", ""), 1);
}

/* Switched off while a standby is connected: nothing is due any more, and the manager rests. */
static void a_master_that_no_longer_shares_rests(void **state)
{
	struct world *w = *state;
	struct sm *master;

	configure_master(w);
	start_and_copy(w);
	master = sm_of(w, ACTIVE);
	for (unsigned i = 0; i < 2; i++) {
		configure(w, ACTIVE,
			  i ? "replicate_configuration TRUE\n" : "replicate_configuration FALSE\n");
		reload(w, ACTIVE);
		run_for(w, 130 * MONO_S); /* longer than it waits for anything */
		assert_int_equal(sm_state(master), SM_MASTER);
		assert_int_equal(share_next(master), MONO_NEVER);
	}
}

/* It tries again and again, and the log says once why that is in vain. */
static void a_standby_that_cannot_store_says_it_once(void **state)
{
	struct world *w = *state;
	_cleanup_free_ char *folder = xasprintf("%s/from-master", w->dir[SPARE]);

	configure_master(w);
	write_file(folder, "no folder\n");
	start_and_copy(w);
	run_for(w, 300 * MONO_S);
	assert_int_equal(said("the configuration of the master cannot be stored", ""), 1);
	assert_int_equal(said("it cannot store it, its log says why", ""), 1);
	assert_int_equal(unlink(folder), 0);
	run_for(w, 90 * MONO_S);
	assert_is_as_master(w, SPARE);
}

static void count_write(struct sm *sm, void *arg, int error)
{
	assert_int_equal(error, 0);
	++*(unsigned *)arg;
}

/* The master writes this as its configuration. */
static void write_text(struct world *w, const char *text, size_t len)
{
	const struct ledger_key key = share_text_key();
	unsigned n = 0;
	const struct settle_edit e = {
		.key = key,
		.number = settle_next_number(sm_of(w, ACTIVE), LEDGER_CONFIG),
		.len = (uint32_t)len,
		.bytes = (const uint8_t *)text,
	};

	settle_commit(sm_of(w, ACTIVE), &e, 1, count_write, &n);
	run_for(w, 5 * MONO_S);
	assert_int_equal(n, 1);
}

/* A text that is not of the master that wrote it, and one that is cut. */
static void a_text_of_another_is_refused(void **state)
{
	struct world *w = *state;

	configure_master(w);
	w->conf[ACTIVE]->replicate_configuration = false;
	start_and_copy(w);
	for (unsigned i = 0; i < 2; i++) {
		_cleanup_(copied_unrefp) struct copied *c =
			copied_new(i ? sm_of(w, ACTIVE)->tr->port_guid : 0x77);
		_cleanup_free_ char *text = NULL;
		size_t len;

		copied_add_option(c, CONF_ID_lmc, 0x77, "3");
		text = copied_text(c, &len);
		write_text(w, text, len - i);
		assert_int_equal(conf_of(w, SPARE)->lmc, 0);
		assert_int_equal(said_by(w, SPARE, ACTIVE).status, SHARE_DAMAGED);
	}
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The number of the last write of the row; 0: it is not there. */
static uint64_t number_of_text(struct world *w, unsigned which)
{
	const struct ledger_key key = share_text_key();
	struct ledger_value v;

	return ledger_get(settle_ledger(sm_of(w, which)), &key, &v) ? v.dot.number : 0;
}

/* Neither time, nor a reload that changes nothing; a standby that starts says once what it has. */
static void what_is_a_row_already_is_not_written_again(void **state)
{
	struct world *w = *state;
	uint64_t number, all;

	configure_master(w);
	start_and_copy(w);
	number = number_of_text(w, SPARE);
	all = ledger_number(settle_ledger(sm_of(w, SPARE)), LEDGER_CONFIG);
	assert_true(number != 0);
	run_for(w, 200 * MONO_S);
	reload(w, ACTIVE);
	reload(w, SPARE);
	run_for(w, 20 * MONO_S);
	assert_int_equal(ledger_number(settle_ledger(sm_of(w, SPARE)), LEDGER_CONFIG), all);
	rig_kill(w->rig, SPARE);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), 2);
	run_for(w, 20 * MONO_S);
	assert_int_equal(number_of_text(w, 2), number);
	assert_int_equal(ledger_number(settle_ledger(sm_of(w, 2)), LEDGER_CONFIG), all + 1);
	assert_int_equal(said("this standby has our configuration", ""), 2);
}

/* What a standby without a folder says, it says in memory. */
static void a_standby_without_a_folder_says_that_it_cannot_store(void **state)
{
	struct world *w = *state;

	configure_master(w);
	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]), ACTIVE);
	run_for(w, 3 * MONO_S);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], NULL), SPARE);
	run_for(w, 20 * MONO_S);
	assert_int_equal(said_by(w, SPARE, ACTIVE).status, SHARE_DISK);
	assert_int_equal(said("it cannot store it, its log says why", ""), 1);
}

/* A standby that starts later, and follows a master that does not share any more. */
static void a_master_that_no_longer_shares_takes_its_row_back(void **state)
{
	struct world *w = *state;

	configure_master(w);
	start_and_copy(w);
	assert_true(number_of_text(w, ACTIVE) != 0);
	configure(w, ACTIVE, "replicate_configuration FALSE\n");
	reload(w, ACTIVE);
	run_for(w, 5 * MONO_S);
	assert_int_equal(number_of_text(w, ACTIVE), 0);
	assert_int_equal(number_of_text(w, SPARE), 0);
	assert_is_as_master(w, SPARE); /* what it has, it keeps */
	configure(w, ACTIVE, "replicate_configuration TRUE\n");
	reload(w, ACTIVE);
	run_for(w, 5 * MONO_S);
	assert_true(number_of_text(w, SPARE) != 0);
}

/* Two files, each of which may be sent, and not both. */
static void a_configuration_that_is_too_large_is_told(void **state)
{
	const size_t len = 7u << 20;
	struct world *w = *state;
	_cleanup_free_ char *lines = xcalloc(len + 1, 1);
	_cleanup_free_ char *roots = xasprintf("%s/roots", w->dir[ACTIVE]);

	configure_master(w);
	memset(lines, '\n', len);
	write_file(roots, lines);
	memcpy(lines, PARTITIONS, strlen(PARTITIONS));
	write_file(w->conf[ACTIVE]->partition_config_file, lines);
	start_and_copy(w);
	assert_int_equal(said("bytes with its files, and more than 12582912 are not sent", ""), 1);
	assert_int_equal(number_of_text(w, ACTIVE), 0);
	assert_int_equal(conf_of(w, SPARE)->lmc, 0);
}

/* Its row says what another one has said in its place, until it sees that. */
static void a_standby_alone_says_what_it_has(void **state)
{
	struct world *w = *state;
	struct settle_edit e = { .number = 1000, .len = 3, .bytes = (const uint8_t *)"lie" };
	unsigned n = 0;

	configure_master(w);
	start_and_copy(w);
	e.key = share_said_key(sm_of(w, SPARE)->tr->port_guid);
	assert_int_equal(said_by(w, SPARE, ACTIVE).status, SHARE_STORED);
	settle_commit(sm_of(w, ACTIVE), &e, 1, count_write, &n);
	run_for(w, 5 * MONO_S);
	assert_int_equal(n, 1);
	assert_int_equal(said_by(w, SPARE, ACTIVE).status, SHARE_STORED);
	assert_true(ledger_number(settle_ledger(sm_of(w, ACTIVE)), LEDGER_CONFIG) > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_standby_without_files_takes_the_masters),
		TEST(what_need_not_agree_stays),
		TEST(no_key_is_stored),
		TEST(after_a_failover_all_is_as_before),
		TEST(what_is_set_here_is_kept_and_named),
		TEST(both_know_in_what_they_differ),
		TEST(a_change_at_the_master_comes_over),
		TEST(a_reload_of_the_standby_keeps_what_was_copied),
		TEST(a_restart_begins_with_the_copy),
		TEST(the_returning_master_goes_by_its_own_file),
		TEST(a_greater_manager_without_files_rules_by_the_copy),
		TEST(a_greater_manager_that_lost_its_copy_gets_it_first),
		TEST(a_damaged_copy_is_not_used),
		TEST(either_side_may_decline),
		TEST(a_master_that_no_longer_shares_rests),
		TEST(a_standby_that_cannot_store_says_it_once),
		TEST(a_text_of_another_is_refused),
		TEST(what_is_a_row_already_is_not_written_again),
		TEST(a_standby_without_a_folder_says_that_it_cannot_store),
		TEST(a_master_that_no_longer_shares_takes_its_row_back),
		TEST(a_configuration_that_is_too_large_is_told),
		TEST(a_standby_alone_says_what_it_has),
	};

	return cmocka_run_group_tests_name("sm-share", tests, NULL, NULL);
}
