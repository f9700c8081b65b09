// SPDX-License-Identifier: BSD-2-Clause
/* The configuration of a master as text, and what a manager makes of it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conf/copied/copied.h"
#include "tests/lib/scratch.h"
#include "util/hash.h"
#include "util/random.h"

#define MASTER 0x10ull
#define SELF   0x20ull

static struct copied *sample(void)
{
	struct copied *c = copied_new(MASTER);

	copied_add_option(c, CONF_ID_lmc, MASTER, "2");
	copied_add_option(c, CONF_ID_routing_engine, MASTER, "updn");
	copied_add_option(c, CONF_ID_subnet_timeout, SELF, "17");
	copied_add_option(c, CONF_ID_cc_ca_cong_setting_ccti_increase, MASTER, "1 5, 3 7");
	copied_add_file(c, CONF_ID_partition_config_file, MASTER, "A=1: ALL;\nB=2 : ALL;\n", 21);
	copied_add_file(c, CONF_ID_root_guid_file, MASTER, NULL, 0);
	copied_add_key(c, CONF_ID_m_key, 0x1234);
	return c;
}

static void text_reads_back(void **state)
{
	_cleanup_(copied_unrefp) struct copied *a = sample(), *b = NULL;
	_cleanup_free_ char *text = NULL, *again = NULL;
	size_t len, again_len;

	text = copied_text(a, &len);
	assert_int_equal(copied_read(text, len, &b), 0);
	assert_int_equal(b->from, MASTER);
	assert_int_equal(b->hash, a->hash);
	assert_string_equal(copied_option(b, CONF_ID_routing_engine)->text, "updn");
	assert_int_equal(copied_option(b, CONF_ID_subnet_timeout)->source, SELF);
	assert_false(copied_file(b, CONF_ID_root_guid_file)->exists);
	again = copied_text(b, &again_len);
	assert_int_equal(len, again_len);
	assert_memory_equal(text, again, len);
}

/* Every byte counts, and every cut is seen. */
static void damage_is_seen(void **state)
{
	_cleanup_(copied_unrefp) struct copied *a = sample();
	_cleanup_free_ char *text = NULL;
	size_t len;

	text = copied_text(a, &len);
	for (size_t i = 0; i < len; i++) {
		struct copied *b = NULL;

		assert_int_equal(copied_read(text, i, &b), -EINVAL);
		text[i] ^= 1;
		assert_int_equal(copied_read(text, len, &b), -EINVAL);
		text[i] ^= 1;
		assert_null(b);
	}
}

/* Bytes that are no text of ours, with a digest that fits. */
static void nonsense_does_no_harm(void **state)
{
	uint64_t dice = 7;

	for (unsigned n = 0; n < 20000; n++) {
		_cleanup_(copied_unrefp) struct copied *a = sample(), *b = NULL;
		_cleanup_free_ char *text = NULL;
		char *end;
		size_t len;

		text = copied_text(a, &len);
		for (unsigned i = 0; i < 1 + n % 4; i++)
			text[random_next(&dice) % len] = (char)random_next(&dice);
		end = memmem(text, len, "\nend ", 5);
		if (end) {
			uint64_t hash = hash_bytes(HASH_START, text, (size_t)(end + 1 - text));

			snprintf(end + 5, 20, "0x%016llx", (unsigned long long)hash);
			text[len - 1] = '\n';
		}
		if (copied_read(text, len, &b) == 0)
			assert_true(b->n_options <= CONF_N_OPTIONS);
	}
}

/* ---- layers -------------------------------------------------------------------------------- */

struct world {
	char dir[SCRATCH_PATH];
	struct conf *own;
	struct copied_pins pins;
};

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));

	scratch_folder(w->dir);
	w->own = conf_new();
	free(w->own->partition_config_file);
	w->own->partition_config_file = xasprintf("%s/partitions.conf", w->dir);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	conf_unref(w->own);
	scratch_remove(w->dir);
	free(w);
	return 0;
}

static struct conf *layer(struct world *w)
{
	_cleanup_(copied_unrefp) struct copied *c = sample();
	struct conf_report report = { 0 };
	struct conf *conf = copied_layer(w->own, c, SELF, w->dir, &w->pins, &report);

	conf_report_clear(&report);
	return conf;
}

static void write_own_file(struct world *w, const char *text)
{
	FILE *f = fopen(w->own->partition_config_file, "w");

	fputs(text, f);
	fclose(f);
}

static void what_is_not_set_here_is_taken(void **state)
{
	struct world *w = *state;
	_cleanup_(conf_unrefp) struct conf *conf = layer(w);
	_cleanup_free_ char *path = copied_file_name(w->dir, CONF_ID_partition_config_file);

	assert_int_equal(conf->lmc, 2);
	assert_true(conf->copied[CONF_ID_lmc]);
	assert_string_equal(conf->routing_engine, "updn");
	assert_int_equal(conf->cc_ca_cong_setting_ccti_increase.values[3], 7);
	assert_string_equal(conf->partition_config_file, path);
	assert_true(conf->copied[CONF_ID_partition_config_file]);
	assert_null(conf->root_guid_file);
	assert_int_equal(w->pins.n, 0);
	assert_int_equal(conf->copied_from, MASTER);
}

/* What came from this manager itself is as its own file says now. */
static void own_values_do_not_come_back(void **state)
{
	_cleanup_(conf_unrefp) struct conf *conf = layer(*state);

	assert_int_equal(conf->subnet_timeout, 18);
	assert_false(conf->copied[CONF_ID_subnet_timeout]);
}

static void what_is_set_here_stays(void **state)
{
	struct world *w = *state;
	static const char text[] = "lmc 1\nrouting_engine updn\n";
	_cleanup_(conf_unrefp) struct conf *conf = NULL;
	struct conf_report report = { 0 };

	conf_read_text(w->own, "opensm.conf", text, strlen(text), &report);
	conf_report_clear(&report);
	write_own_file(w, "C=3 : ALL;\n");
	conf = layer(w);
	assert_int_equal(conf->lmc, 1);
	assert_string_equal(conf->partition_config_file, w->own->partition_config_file);
	assert_int_equal(w->pins.n, 2); /* routing_engine is set, and the same */
	assert_int_equal(w->pins.ids[0], CONF_ID_lmc);
	assert_int_equal(w->pins.ids[1], CONF_ID_partition_config_file);
}

/* A line that says the default, and the command line, are as good as any. */
static void a_default_that_is_set_stays(void **state)
{
	struct world *w = *state;
	static const char text[] = "lmc 0\n";
	_cleanup_(conf_unrefp) struct conf *conf = NULL;
	struct conf_report report = { 0 };

	conf_read_text(w->own, "opensm.conf", text, strlen(text), &report);
	conf_report_clear(&report);
	w->own->given[CONF_ID_routing_engine] = true;
	conf = layer(w);
	assert_int_equal(conf->lmc, 0);
	assert_null(conf->routing_engine);
	assert_int_equal(w->pins.n, 2);
}

static void the_same_file_is_no_pin(void **state)
{
	struct world *w = *state;
	_cleanup_(conf_unrefp) struct conf *conf = NULL;

	write_own_file(w, "A=1: ALL;\nB=2 : ALL;\n");
	conf = layer(w);
	assert_int_equal(w->pins.n, 0);
	assert_false(conf->copied[CONF_ID_partition_config_file]);
}

static uint16_t mark_of(const struct conf *c, enum conf_id id)
{
	return (uint16_t)(c->m_key + id);
}

static void differences_are_named(void **state)
{
	struct world *w = *state;
	_cleanup_(copied_unrefp) struct copied *c = sample();
	_cleanup_free_ char *text = NULL;

	write_own_file(w, "A=1: ALL;\nC=3 : ALL;\n");
	w->own->lmc = 1;
	w->own->m_key = 0xFEEDFACE;
	text = copied_diff(w->own, c, mark_of);
	assert_non_null(strstr(text, "option lmc\t1\t2\n"));
	assert_non_null(strstr(text, "option routing_engine\t(null)\tupdn\n"));
	assert_non_null(strstr(text, "file partition_config_file\t2\tC=3 : ALL;\tB=2 : ALL;\n"));
	assert_non_null(strstr(text, "key m_key\n"));
	assert_null(strcasestr(text, "FEEDFACE"));
	assert_null(strstr(text, "root_guid_file")); /* missing on both */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_reads_back),
		cmocka_unit_test(damage_is_seen),
		cmocka_unit_test(nonsense_does_no_harm),
#define LAYER(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		LAYER(what_is_not_set_here_is_taken),
		LAYER(own_values_do_not_come_back),
		LAYER(what_is_set_here_stays),
		LAYER(a_default_that_is_set_stays),
		LAYER(the_same_file_is_no_pin),
		LAYER(differences_are_named),
	};

	return cmocka_run_group_tests_name("copied", tests, NULL, NULL);
}
