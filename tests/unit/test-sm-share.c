// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a standby takes of the master's configuration (tests/scenario/configuration.scn): rows that
 * are wrong or too large, a manager without a folder; nothing is due when nothing is shared.
 */
#include <unistd.h>

#include "conf/copied/copied.h"
#include "sm/share/share_internal.h"
#include "tests/unit/two-managers.h"

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

static void reload(struct world *w, unsigned which)
{
	struct conf *next = conf_copy(w->conf[which]);
	_cleanup_(conf_files_unrefp) struct conf_files *files =
		conf_files_read(next, sm_files(sm_of(w, which)));

	conf_unref(w->conf[which]);
	w->conf[which] = next;
	sm_reload(sm_of(w, which), next, files);
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
		TEST(a_master_that_no_longer_shares_rests),
		TEST(a_text_of_another_is_refused),
		TEST(a_standby_without_a_folder_says_that_it_cannot_store),
		TEST(a_configuration_that_is_too_large_is_told),
		TEST(a_standby_alone_says_what_it_has),
	};

	return cmocka_run_group_tests_name("sm-share", tests, NULL, NULL);
}
