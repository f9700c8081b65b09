// SPDX-License-Identifier: BSD-2-Clause
/* Tables of all switches, packed: unpacked they are those in force. */
#include "sim/gen/gen.h"
#include "tests/unit/show-world.h"

/* Of a row as packed: the pattern of each group. */
static void unpack_row(struct json_object *doc, size_t sw, uint32_t *ret)
{
	struct json_object *o = json_object_array_get_idx(at(doc, "switches"), sw);
	struct json_object *rows = at(o, "rows"), *like = json_object_object_get(o, "like");
	size_t n = json_object_array_length(rows), groups = length_at(doc, "groups"), g = 0;

	if (like) {
		assert_true((size_t)json_object_get_int(like) < sw);
		unpack_row(doc, (size_t)json_object_get_int(like), ret);
	}
	for (size_t i = 0; i + 2 < n; i += 3) {
		unsigned many = (unsigned)json_object_get_int(
			json_object_array_get_idx(rows, i + 1));

		g += (size_t)json_object_get_int(json_object_array_get_idx(rows, i));
		assert_true(g + many <= groups);
		while (many--)
			ret[g++] = (uint32_t)json_object_get_int(
				json_object_array_get_idx(rows, i + 2));
	}
	assert_true(like || g == groups);
}

/* Unpacked, every switch sends to every host as its table does. Returns the numbers in rows. */
static size_t assert_tables_are_those_in_force(struct world *w)
{
	struct json_object *doc = ask(w, "Tables", "{}");
	const struct routes *r = sm_routes(w->api.sm);
	uint32_t *row = xcalloc(length_at(doc, "groups") + 1, sizeof(*row)), hosts = 0;
	size_t packed = 0;

	assert_int_equal(length_at(doc, "switches"), r->topo->n_switches);
	for (uint32_t sw = 0; sw < r->topo->n_switches; sw++) {
		packed += json_object_array_length(
			at(json_object_array_get_idx(at(doc, "switches"), sw), "rows"));
		unpack_row(doc, sw, row);
		for (size_t g = 0; g < length_at(doc, "groups"); g++) {
			struct json_object *lids = json_object_array_get_idx(at(doc, "groups"), g);
			const char *ports = json_object_get_string(
				json_object_array_get_idx(at(doc, "patterns"), row[g]));

			for (size_t i = 0; i < json_object_array_length(lids); i++) {
				lid_t lid = (lid_t)json_object_get_int(
					json_object_array_get_idx(lids, i));
				unsigned port;

				assert_int_equal(sscanf(ports + 2 * i, "%2x", &port), 1);
				assert_int_equal(port, routes_port(r, sw, lid));
				hosts++;
			}
		}
	}
	assert_int_equal(hosts, r->topo->n_switches * r->topo->n_hosts);
	free(row);
	json_object_put(doc);
	return packed;
}

static void packed_tables_are_those_in_force(void **state)
{
	struct world world = { 0 }, *w = &world;
	size_t packed;

	assert_tables_are_those_in_force(*state);
	world_start(w, gen_fat_tree3(8), NULL, NULL); /* 128 hosts, 80 switches */
	packed = assert_tables_are_those_in_force(w);
	assert_in_range(packed, 1, 80 * 32);
	sim_unplug(w->rig->sim, sim_find(w->rig->sim, "leaf3"), 6);
	sim_unplug(w->rig->sim, sim_find(w->rig->sim, "agg9"), 2);
	rig_run(w->rig, sim_now(w->rig->sim) + 60 * MONO_S);
	assert_tables_are_those_in_force(w);
	stop((void **)&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_tables_are_those_in_force),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
