// SPDX-License-Identifier: BSD-2-Clause
/*
 * The document of lanes: what stands on devices, the share of each VL, lanes that starve and SLs
 * for which a cable has no VL.
 */
#include "fabric/fabric.h"
#include "fabric/observe.h"
#include "tests/unit/show-world.h"

static struct json_object *group_of(struct json_object *doc, const char *kind)
{
	return with(at(doc, "ports"), "kind", kind);
}

static struct json_object *lane(struct json_object *group, unsigned vl)
{
	char text[8];

	snprintf(text, sizeof(text), "%u", vl);
	return with(at(group, "lanes"), "vl", text);
}

static struct world *begin(struct world *w, const char *sl2vl)
{
	*w = (struct world){ .sl2vl = sl2vl };
	world_start(w, parse(net_text), "Default=0x7fff : ALL=full;\n", NULL);
	return w;
}

/* With other options from now on. */
static void reload(struct world *w)
{
	sm_request_heavy(w->rig->sms[0].sm, NULL);
	rig_run(w->rig, sim_now(w->rig->sim) + 10 * MONO_S);
}

static void finish(struct world *w)
{
	rig_free(w->rig);
	conf_unref(w->conf);
}

static void tables_of_devices_are_shown_by_kind(void **state)
{
	struct world w;
	struct json_object *doc = ask(begin(&w, "0,1,2,3,0,1,2,15"), "Qos", "{}"), *swe;

	assert_true(json_object_get_boolean(at(doc, "qos")));
	assert_null(at(doc, "note"));
	swe = group_of(doc, "swe");
	assert_non_null(swe);
	/* 4 hosts that are up, 5 cables between switches. */
	assert_int_equal(number_at(swe, "ports"), 4 + 5 * 2);
	assert_int_equal(number_at(group_of(doc, "ca"), "ports"), 4);
	assert_int_equal(length_at(swe, "sl2vl"), 1);
	assert_int_equal(number_at(swe, "sl2vl.0.3"), 3);
	assert_int_equal(number_at(swe, "sl2vl.0.7"), 15);
	assert_int_equal(number_at(lane(swe, 1), "sls.1"), 5);
	assert_int_equal(number_at(lane(swe, 0), "high"), 4);
	assert_int_equal(number_at(lane(swe, 1), "low"), 4);
	assert_int_equal(number_at(lane(swe, 1), "high"), 0);
	/* One packet of high priority for one of low priority, which three VLs share. */
	assert_string_equal(text_at(lane(swe, 0), "share"), "50");
	assert_string_equal(text_at(lane(swe, 1), "share"), "16.7");
	assert_null(at(lane(swe, 4), "share"));
	json_object_put(doc);
	finish(&w);
}

static void without_qos_nothing_is_known(void **state)
{
	struct world w;
	struct json_object *doc = ask(begin(&w, NULL), "Qos", "{}");

	assert_false(json_object_get_boolean(at(doc, "qos")));
	assert_int_equal(number_at(doc, "engine_vls"), 0);
	assert_int_equal(length_at(doc, "warnings"), 0);
	assert_int_equal(length_at(group_of(doc, "swe"), "sl2vl"), 0);
	assert_false(json_object_get_boolean(at(group_of(doc, "swe"), "known")));
	json_object_put(doc);
	finish(&w);
}

static void a_lane_without_a_weight_is_told(void **state)
{
	struct world w;
	struct json_object *doc, *warning;

	begin(&w, "0,1,2,3");
	w.conf->qos_swe_vlarb_high = xstrdup("0:4,1:4");
	w.conf->qos_swe_vlarb_low = xstrdup("2:8");
	w.conf->qos_swe_high_limit = 3;
	reload(&w);
	doc = ask(&w, "Qos", "{}");
	assert_string_equal(text_at(lane(group_of(doc, "swe"), 0), "share"), "37.5");
	assert_string_equal(text_at(lane(group_of(doc, "swe"), 2), "share"), "25");
	assert_string_equal(text_at(lane(group_of(doc, "swe"), 3), "share"), "0");
	assert_int_equal(length_at(doc, "warnings"), 1);
	warning = at(doc, "warnings.0");
	assert_string_equal(text_at(warning, "fault"), "starves");
	assert_string_equal(text_at(warning, "kind"), "swe");
	assert_int_equal(number_at(warning, "sls.0"), 3);
	assert_int_equal(number_at(warning, "vl"), 3);
	assert_int_equal(number_at(warning, "ports"), 14);
	assert_non_null(at(warning, "such_as.name"));
	assert_non_null(at(warning, "at.name"));
	assert_contains(text_at(warning, "text"), "VL 3 has no weight");
	json_object_put(doc);
	finish(&w);
}

static void low_priority_waits_for_high_without_a_limit(void **state)
{
	struct world w;
	struct json_object *doc;

	begin(&w, "0,1");
	w.conf->qos_high_limit = 255;
	reload(&w);
	doc = ask(&w, "Qos", "{}");
	assert_string_equal(text_at(doc, "warnings.0.fault"), "waits");
	assert_string_equal(text_at(lane(group_of(doc, "ca"), 0), "share"), "100");
	json_object_put(doc);
	finish(&w);
}

static void a_vl_that_cables_do_not_have_is_told(void **state)
{
	struct world w;
	struct json_object *doc, *warning;

	begin(&w, "0,1,2,9");
	w.conf->max_op_vls = 3;
	reload(&w);
	doc = ask(&w, "Qos", "{}");
	assert_int_equal(number_at(group_of(doc, "ca"), "vls"), 4);
	warning = with(at(doc, "warnings"), "fault", "folded");
	assert_non_null(warning);
	assert_int_equal(number_at(warning, "vl"), 1);
	assert_contains(text_at(warning, "text"), "SL 3: the options say VL 9, the port has 4");
	json_object_put(doc);
	finish(&w);
}

static void expect_folded(const char *sl2vl, const char *text)
{
	struct world w;
	struct json_object *doc;

	begin(&w, sl2vl);
	w.conf->max_op_vls = 4;
	reload(&w);
	doc = ask(&w, "Qos", "{}");
	assert_int_equal(length_at(doc, "warnings"), 2); /* one a kind of port, not one an SL */
	assert_string_equal(text_at(doc, "warnings.0.text"), text);
	json_object_put(doc);
	finish(&w);
}

static void all_vls_that_are_folded_are_one_warning(void **state)
{
	expect_folded("0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7",
		      "SLs 8-14: the options say VLs 8-14, the port has 8, so they take VLs 0-6");
	expect_folded("0,1,2,8,14,3,3,3,3,3,3,3,3,3,3,3",
		      "SLs 3, 4: the options say VLs 8, 14, the port has 8, so they take VLs 0, 6");
	expect_folded("0,1,2,9,9,9,3,3,3,3,3,3,3,3,3,3",
		      "SLs 3-5: the options say VL 9, the port has 8, so they take VL 1");
}

/* One port of a switch, of which nothing else is known than that it has another row. */
static void a_row_with_a_vl_that_is_not_there_is_told(void **state)
{
	uint8_t row[SMP_DATA_SIZE] = { 0x0E, 0xEF };
	struct world w;
	struct json_object *doc, *warning;
	struct fabric *f;

	begin(&w, "0,1");
	/* What a manager that went by had left behind. */
	f = (struct fabric *)(uintptr_t)sm_fabric(w.rig->sms[0].sm);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (!strcmp(f->nodes[i]->desc, "spine2"))
			observe_block(f, &f->nodes[i]->ports[1], TABLE_SL2VL, 2, row);
	doc = ask(&w, "Qos", "{}");
	assert_int_equal(length_at(doc, "warnings"), 1);
	warning = at(doc, "warnings.0");
	assert_string_equal(text_at(warning, "fault"), "missing_vl");
	assert_int_equal(number_at(warning, "ports"), 1);
	assert_string_equal(text_at(warning, "such_as.name"), "spine2");
	assert_string_equal(text_at(warning, "at.name"), "leaf1");
	assert_contains(text_at(warning, "text"), "SLs 1, 2: VL 14 does not exist, the port has 8");
	json_object_put(doc);
	finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_of_devices_are_shown_by_kind),
		cmocka_unit_test(without_qos_nothing_is_known),
		cmocka_unit_test(a_lane_without_a_weight_is_told),
		cmocka_unit_test(low_priority_waits_for_high_without_a_limit),
		cmocka_unit_test(a_vl_that_cables_do_not_have_is_told),
		cmocka_unit_test(all_vls_that_are_folded_are_one_warning),
		cmocka_unit_test(a_row_with_a_vl_that_is_not_there_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
