// SPDX-License-Identifier: BSD-2-Clause
/*
 * The documents of the subnet (show/show.h) on a simulated fabric: what they say of it, of ports
 * that are not ACTIVE, of a path and of why there is none.
 *
 * `test-show bench [K]` measures snapshots of a fat tree of K-port switches; 36 has 11,664 hosts.
 */
#include <sys/stat.h>
#include <time.h>

#include "tests/lib/client.h"
#include "ib/notices.h"
#include "sim/gen/gen.h"
#include "tests/unit/show-world.h"
#include "view/path_walk.h"
#include "view/view.h"

/* ---- tests ---------------------------------------------------------------------------------- */

static void the_topology_is_that_of_the_fabric(void **state)
{
	struct world *w = *state;
	struct json_object *doc = ask(w, "Topology", "{}"), *leaf, *port;
	guid_t last = 0;

	assert_int_equal(length_at(doc, "nodes"), 4 + 4);
	assert_string_equal(text_at(doc, "own.name"), "h0");
	for (size_t i = 0; i < length_at(doc, "nodes"); i++) {
		guid_t guid = strtoull(
			text_at(json_object_array_get_idx(at(doc, "nodes"), i), "node_guid"), NULL,
			16);

		assert_true(guid > last);
		last = guid;
	}
	leaf = with(at(doc, "nodes"), "name", "leaf1");
	assert_string_equal(text_at(leaf, "type"), "switch");
	assert_int_equal(length_at(leaf, "ports"), 8);
	port = with(at(leaf, "ports"), "port", "4");
	assert_string_equal(text_at(port, "state"), "active");
	assert_string_equal(text_at(port, "phys_state"), "link_up");
	assert_string_equal(text_at(port, "peer.name"), "spine1");
	assert_int_equal(number_at(port, "peer.port"), 1);
	assert_string_equal(text_at(port, "speed"), "SDR");
	assert_string_equal(text_at(port, "speed_enabled"), "SDR");
	assert_string_equal(text_at(port, "gbps"), "10");
	assert_null(at(port, "why_not"));
	port = with(at(leaf, "ports"), "port", "7");
	assert_string_equal(text_at(port, "state"), "down");
	assert_contains(text_at(port, "why_not"), "no cable");
	json_object_put(doc);
}

static struct json_object *ask_port(struct world *w, const char *guid, unsigned num)
{
	_cleanup_free_ char *ask_one = xasprintf("{\"port\": \"%s_%u\"}", guid, num);

	return ask(w, "Topology", ask_one);
}

/* Of one port: its node, what it is cabled to, and what shares a name with one of these. */
static void the_topology_of_one_port_has_its_neighbours(void **state)
{
	struct world *w = *state;
	struct json_object *all = ask(w, "Topology", "{}"), *doc, *leaf;
	struct json_object *host = json_object_array_get_idx(
		at(with(at(all, "nodes"), "name", "h1 HCA-1"), "ports"), 0);
	const char *guid = text_at(host, "port_guid") + 2, *of_leaf;

	doc = ask_port(w, guid, 1);
	assert_int_equal(length_at(doc, "nodes"), 3);
	leaf = with(at(doc, "nodes"), "name", "leaf1");
	of_leaf = text_at(with(at(all, "nodes"), "name", "leaf1"), "node_guid") + 2;
	assert_int_equal(number_at(leaf, "rank"), 0);
	assert_int_equal(length_at(leaf, "ports"), 0);
	json_object_put(doc);
	doc = ask_port(w, guid, 2);
	assert_int_equal(length_at(doc, "nodes"), 0);
	json_object_put(doc);
	doc = ask_port(w, of_leaf, 4);
	assert_int_equal(length_at(doc, "nodes"), 2);
	leaf = with(at(doc, "nodes"), "name", "leaf1");
	assert_int_equal(length_at(leaf, "ports"), 1);
	assert_string_equal(text_at(leaf, "ports.0.peer.name"), "spine1");
	assert_int_equal(number_at(with(at(doc, "nodes"), "name", "spine1"), "rank"), 1);
	json_object_put(doc);
	doc = ask(w, "Topology", "{\"port\": \"leaf1\"}");
	assert_int_equal(length_at(doc, "nodes"), 0);
	json_object_put(doc);
	json_object_put(all);
}

static void nodes_answer_to_names_guids_and_lids(void **state)
{
	struct world *w = *state;
	struct json_object *doc = ask(w, "Nodes", "{\"node\": \"h2\"}"), *again;
	char ask_lid[64];

	assert_int_equal(length_at(doc, "nodes"), 1);
	snprintf(ask_lid, sizeof(ask_lid), "{\"node\": \"%d\"}",
		 (int)number_at(doc, "nodes.0.lids.0"));
	again = ask(w, "Nodes", ask_lid);
	assert_true(json_object_equal(doc, again));
	json_object_put(again);
	snprintf(ask_lid, sizeof(ask_lid), "{\"node\": \"%s\"}", text_at(doc, "nodes.0.node_guid"));
	again = ask(w, "Nodes", ask_lid);
	assert_true(json_object_equal(doc, again));
	json_object_put(again);
	json_object_put(doc);
	doc = ask(w, "Nodes", "{\"node\": \"h1\"}"); /* the first word, of two of them */
	assert_int_equal(length_at(doc, "nodes"), 2);
	json_object_put(doc);
	doc = ask(w, "Nodes", "{\"type\": \"switch\"}");
	assert_int_equal(length_at(doc, "nodes"), 4);
	json_object_put(doc);
	refused(w, "Nodes", "{\"type\": \"hub\"}", "InvalidParameter",
		"expected switch, ca or router");
	refused(w, "Nodes", "{\"node\": \"nobody\"}", "NotFound", "nobody");
}

/* leaf2 tells of h2, which is at its port 1. */
static void ports_from_behind_which_rules_were_broken(void **state)
{
	struct world *w = *state;
	struct json_object *doc = ask(w, "Ports", "{\"violations\": true}");
	struct sim *sim = w->rig->sim;
	int leaf2 = sim_find(sim, "leaf2");
	uint8_t notice[SMP_DATA_SIZE] = { 0 };

	assert_int_equal(length_at(doc, "ports"), 0);
	json_object_put(doc);
	ib_put(notice, NT_IS_GENERIC, 1);
	ib_put(notice, NT_TRAP, TRAP_SWITCH_BAD_PKEY);
	ib_put(notice, NT_ISSUER_LID, sim_port_lid(sim, leaf2, 0));
	ib_put(notice, N259_PORT, 1);
	sim_send_trap(sim, leaf2, 0, notice);
	rig_run(w->rig, sim_now(sim) + MONO_S);
	doc = ask(w, "Ports", "{\"violations\": true}");
	assert_int_equal(length_at(doc, "ports"), 1);
	assert_string_equal(text_at(doc, "ports.0.name"), "leaf2");
	assert_int_equal(number_at(doc, "ports.0.port"), 1);
	assert_int_equal(number_at(doc, "ports.0.violations.p_key"), 1);
	json_object_put(doc);
	doc = ask(w, "Ports", "{\"node\": \"h2\"}");
	assert_int_equal(number_at(doc, "ports.0.violations.p_key"), 1);
	json_object_put(doc);
}

static void ports_say_why_they_are_not_active(void **state)
{
	struct world *w = *state;
	struct json_object *doc = ask(w, "Ports", "{\"not_active\": true}");

	/* No cable was ever seen there: normal, counted. h3 is off since before the start. */
	assert_int_equal(length_at(doc, "ports"), 0);
	assert_int_equal(number_at(doc, "hidden"), (8 - 5) + (8 - 4) + (8 - 3) + (8 - 2) + 1);
	json_object_put(doc);
	sim_link_down(w->rig->sim, sim_find(w->rig->sim, "h2"), 1);
	rig_run(w->rig, sim_now(w->rig->sim) + 30 * MONO_S);
	doc = ask(w, "Ports", "{\"not_active\": true}");
	assert_int_equal(length_at(doc, "ports"), 1);
	assert_string_equal(text_at(doc, "ports.0.name"), "leaf2");
	assert_int_equal(number_at(doc, "ports.0.port"), 1);
	assert_contains(text_at(doc, "ports.0.why_not"), "the link fell");
	assert_string_equal(text_at(doc, "ports.0.was_cabled_to.name"), "h2");
	assert_int_equal(number_at(doc, "ports.0.was_cabled_to.port"), 1);
	assert_in_range(number_at(doc, "ports.0.was_cabled_to.gone_seconds"), 1, 30);
	json_object_put(doc);
	sim_link_up(w->rig->sim, sim_find(w->rig->sim, "h2"), 1);
	rig_run(w->rig, sim_now(w->rig->sim) + 30 * MONO_S);
	doc = ask(w, "Ports", "{\"node\": \"leaf1/4\"}");
	assert_int_equal(length_at(doc, "ports"), 1);
	assert_string_equal(text_at(doc, "ports.0.peer.name"), "spine1");
	json_object_put(doc);
	doc = ask(w, "Ports", "{\"node\": \"leaf1\", \"down\": true}");
	assert_int_equal(length_at(doc, "ports"), 3);
	json_object_put(doc);
	refused(w, "Ports", "{\"node\": \"leaf1/9\"}", "NotFound", "its ports are 0 to 8");
}

/*
 * A request for a host that went is answered with its place, by any of its names; until it is back.
 */
static void who_went_is_known(void **state)
{
	struct world *w = *state;
	struct json_object *doc = ask(w, "Ports", "{\"node\": \"h2\"}");
	char lid[64];

	snprintf(lid, sizeof(lid), "{\"node\": \"%d\"}", (int)number_at(doc, "ports.0.lid"));
	json_object_put(doc);
	sim_link_down(w->rig->sim, sim_find(w->rig->sim, "h2"), 1);
	rig_run(w->rig, sim_now(w->rig->sim) + 30 * MONO_S);
	refused(w, "Ports", "{\"node\": \"h2\"}", "NotFound", "It was behind 'leaf2' port 1");
	refused(w, "Ports", "{\"node\": \"h2/1\"}", "NotFound",
		"s ago. It was behind 'leaf2' port 1");
	refused(w, "Ports", lid, "NotFound", "It was behind 'leaf2' port 1");
	refused(w, "Path", "{\"from\": \"h0\", \"to\": \"h2\"}", "NotFound",
		"It was behind 'leaf2' port 1");
	refused(w, "Ports", "{\"node\": \"h7\"}", "NotFound",
		"no node in the fabric has the name 'h7'");
	refused(w, "Ports", "{\"node\": \"0\"}", "NotFound", "no port in the fabric has LID 0");
	sim_link_up(w->rig->sim, sim_find(w->rig->sim, "h2"), 1);
	rig_run(w->rig, sim_now(w->rig->sim) + 30 * MONO_S);
	doc = ask(w, "Ports", "{\"node\": \"h2\"}");
	assert_null(at(doc, "ports.0.was_cabled_to"));
	json_object_put(doc);
	/*
	 * A switch, and with it what hangs on it: the switch was behind another one, not behind its
	 * hosts.
	 */
	sim_link_down(w->rig->sim, sim_find(w->rig->sim, "leaf2"), 4);
	sim_link_down(w->rig->sim, sim_find(w->rig->sim, "leaf2"), 6);
	rig_run(w->rig, sim_now(w->rig->sim) + 30 * MONO_S);
	refused(w, "Ports", "{\"node\": \"leaf2\"}", "NotFound", "It was behind 'spine1' port 3");
	refused(w, "Ports", "{\"node\": \"h2\"}", "NotFound",
		"It was behind 'leaf2' port 1, which went");
	sim_link_up(w->rig->sim, sim_find(w->rig->sim, "leaf2"), 4);
	sim_link_up(w->rig->sim, sim_find(w->rig->sim, "leaf2"), 6);
	rig_run(w->rig, sim_now(w->rig->sim) + 30 * MONO_S);
	for (unsigned i = 0; i < DAEMON_GONE; i++)
		assert_int_equal(w->api.memory.gone[i].node_guid, 0);
}

/* Of more than fit the oldest is forgotten. */
static void the_oldest_that_went_is_forgotten(void **state)
{
	struct daemon_api api = { 0 };
	struct sm_event e = { .kind = SM_EVENT_NODE, .node = { .desc = "x" } };

	for (unsigned i = 1; i <= DAEMON_GONE + 1; i++) {
		e.node.node_guid = i;
		e.at = i;
		daemon_api_note(&api, &e);
	}
	for (unsigned i = 0; i < DAEMON_GONE; i++)
		assert_in_range(api.memory.gone[i].node_guid, 2, DAEMON_GONE + 1);
	e.node.came = true;
	daemon_api_note(&api, &e);
	e.node.node_guid = 1;
	daemon_api_note(&api, &e);
	for (unsigned i = 0; i < DAEMON_GONE; i++)
		assert_in_range(api.memory.gone[i].node_guid, 0, DAEMON_GONE);
}

/* A host that does not answer any more is named with what unserved.c says. */
static void a_silent_host_is_named(void **state)
{
	struct world *w = *state;
	struct json_object *doc;
	int h2 = sim_find(w->rig->sim, "h2");

	sim_set_silent(w->rig->sim, h2, SIM_SILENT, 0);
	sm_request_heavy(w->rig->sms[0].sm, NULL);
	rig_run(w->rig, sim_now(w->rig->sim) + 60 * MONO_S);
	doc = ask(w, "Ports", "{\"not_active\": true}");
	assert_true(length_at(doc, "ports") > 0);
	assert_contains(json_object_to_json_string(doc), "does not answer");
	json_object_put(doc);
	sim_set_silent(w->rig->sim, h2, SIM_ANSWERS, 0);
	rig_run(w->rig, sim_now(w->rig->sim) + 60 * MONO_S);
}

static void routes_show_load_and_equal_ways(void **state)
{
	struct world *w = *state;
	struct json_object *doc = ask(w, "Routes", "{\"switch\": \"leaf1\"}"), *one;
	int64_t lids = 0;

	for (size_t i = 0; i < length_at(doc, "ports"); i++)
		lids += number_at(json_object_array_get_idx(at(doc, "ports"), i), "lids");
	assert_int_equal(lids, length_at(doc, "routes"));
	assert_int_equal(lids, 4 + 4); /* switches; h0, h1, h2, twin */
	assert_string_equal(text_at(doc, "engine"), "auto");
	json_object_put(doc);
	one = ask(w, "Routes", "{\"switch\": \"leaf1\", \"to\": \"h2\"}");
	assert_int_equal(length_at(one, "routes"), 1);
	assert_int_equal(length_at(one, "routes.0.equal_ports"), 3); /* 4, 5 and 6 */
	assert_int_equal(number_at(one, "routes.0.equal_ports.0"), 4);
	assert_int_equal(number_at(one, "routes.0.hops"), 3);
	assert_int_equal(number_at(one, "routes.0.least_hops"), 3);
	json_object_put(one);
	refused(w, "Routes", "{\"switch\": \"h0\"}", "InvalidParameter", "no switch");
	refused(w, "Routes", "{}", "InvalidParameter", "missing");
}

static void a_path_is_what_hosts_are_told(void **state)
{
	struct world *w = *state;
	struct json_object *doc = ask(w, "Path", "{\"from\": \"h0\", \"to\": \"h2\"}");
	const struct view *v = sm_view(w->api.sm);
	struct path_way there, back;
	struct path_ask pair = { 0 };

	assert_true(json_object_get_boolean(at(doc, "reachable")));
	assert_true(json_object_get_boolean(at(doc, "reversible")));
	assert_int_equal(length_at(doc, "hops"), 5);
	assert_string_equal(text_at(doc, "hops.0.name"), "h0");
	assert_string_equal(text_at(doc, "hops.1.name"), "leaf1");
	assert_int_equal(number_at(doc, "hops.1.in_port"), 1);
	assert_int_equal(length_at(doc, "hops.1.candidates"), 3);
	assert_contains(text_at(doc, "hops.1.chosen_because"), "3 ports are as short; auto");
	assert_string_equal(text_at(doc, "hops.2.chosen_because"), "the only shortest way");
	assert_string_equal(text_at(doc, "hops.3.chosen_because"), "the destination is here");
	assert_string_equal(text_at(doc, "hops.4.name"), "h2");
	pair.slid = (lid_t)number_at(doc, "from.lid");
	pair.dlid = (lid_t)number_at(doc, "to.lid");
	pair.src = view_port_at(v, pair.slid);
	pair.dst = view_port_at(v, pair.dlid);
	assert_true(path_walk(v, &pair, &there, &back));
	assert_int_equal(number_at(doc, "mtu.bytes"), ib_mtu_bytes(there.mtu));
	assert_int_equal(number_at(doc, "rate.code"), there.rate);
	assert_int_equal(length_at(doc, "hops"), there.n + 2);
	assert_string_equal(text_at(doc, "partition.name"), "Default");
	assert_int_equal(number_at(doc, "sl.value"), 0);
	json_object_put(doc);
	/* To a switch, from one, and to itself. */
	doc = ask(w, "Path", "{\"from\": \"spine2\", \"to\": \"leaf1\"}");
	assert_true(json_object_get_boolean(at(doc, "reachable")));
	assert_int_equal(length_at(doc, "hops"), 2);
	json_object_put(doc);
	doc = ask(w, "Path", "{\"from\": \"h0\", \"to\": \"h0\"}");
	assert_true(json_object_get_boolean(at(doc, "reachable")));
	json_object_put(doc);
}

static void a_path_is_asked_for_in_many_words(void **state)
{
	struct world *w = *state;
	struct json_object *doc = ask(w, "Path", "{\"from\": \"h0\", \"to\": \"h2\"}"), *again;
	char text[256];

	snprintf(text, sizeof(text), "{\"from\": %d, \"to\": \"%s\"}",
		 (int)number_at(doc, "from.lid"), text_at(doc, "to.port_guid"));
	again = ask(w, "Path", text);
	assert_true(json_object_equal(doc, again));
	json_object_put(again);
	again = ask(w, "Path", "{\"from\": \"fe80::10:1\", \"to\": \"h2/1\"}");
	assert_true(json_object_equal(doc, again));
	json_object_put(again);
	json_object_put(doc);
	refused(w, "Path", "{\"from\": \"h0\", \"to\": \"h1\"}", "Ambiguous", "2 nodes");
	refused(w, "Path", "{\"from\": \"h0\", \"to\": \"99\"}", "NotFound", "LID 99");
	refused(w, "Path", "{\"from\": \"h0\"}", "InvalidParameter", "missing");
	refused(w, "Path", "{\"from\": \"h0\", \"to\": \"0xdead00000000\"}", "NotFound", "GUID");
}

/* No partition that both are in; and, in another world, none in which one is full. */
static void why_there_is_no_path(void **state)
{
	struct world world = { 0 }, *w = &world;
	struct json_object *doc;

	world_start(w, parse(net_text),
		    "Default=0x7fff : ALL=limited, SELF=full;\n"
		    "green=0x10 : 0x0000000000100001, 0x0000000000100004=full;\n", NULL);
	doc = ask(w, "Path", "{\"from\": \"h2\", \"to\": \"0x0000000000100003\"}");
	assert_false(json_object_get_boolean(at(doc, "reachable")));
	assert_contains(text_at(doc, "why_not.0"), "both are limited members of 0x7fff");
	assert_int_equal(length_at(doc, "hops"), 5);
	assert_null(at(doc, "partition"));
	json_object_put(doc);
	stop((void **)&w);
}

static void names_are_those_of_the_map(void **state)
{
	struct world world = { 0 }, *w = &world;
	struct json_object *doc;

	world_start(w, parse(net_text), NULL, "0x0000000000200000 \"rack 1 leaf\"\n");
	doc = ask(w, "Nodes", "{\"node\": \"rack 1 leaf\"}");
	assert_string_equal(text_at(doc, "nodes.0.name"), "rack 1 leaf");
	assert_string_equal(text_at(doc, "nodes.0.desc"), "leaf1");
	json_object_put(doc);
	/* the description means it, too */
	doc = ask(w, "Path", "{\"from\": \"h0\", \"to\": \"leaf1\"}");
	assert_string_equal(text_at(doc, "to.name"), "rack 1 leaf");
	assert_string_equal(text_at(doc, "hops.1.name"), "rack 1 leaf");
	json_object_put(doc);
	stop((void **)&w);
}

/*
 * A node with the GUID of another is left out: the port that leads to it says so, though it is
 * up.
 */
static guid_t guid_of_node(const struct world *w, const char *name)
{
	return sim_node_guid(w->rig->sim, sim_find(w->rig->sim, name));
}

static void count_port(void *arg, size_t at, guid_t guid, bool is_gone)
{
	unsigned *n = arg;

	assert_false(is_gone);
	++*n;
}

/* Returns the ports; 0: refused with this error. */
static unsigned ports_of_host(const struct world *w, const char *word, const char *error)
{
	struct control_error err = { 0 };
	unsigned n = 0;
	bool fine = show_hosts(&w->api, &word, 1, false, count_port, &n, &err);

	if (fine == (error != NULL) || (error && strcmp(err.name, error)))
		fail_msg("%s: %s: %s", word, err.name ? err.name : "fine", err.text);
	return fine ? n : 0;
}

/* A host describes itself as it likes; the map is the administrator's. */
static void names_of_the_map_count_before_descriptions(void **state)
{
	static struct world world;
	struct world *w = &world;
	char map[200];

	world_start(w, parse(net_text), NULL, NULL);
	assert_int_equal(ports_of_host(w, "h2", NULL), 1);
	assert_int_equal(ports_of_host(w, "h1", "InvalidParameter"), 0);
	snprintf(map, sizeof(map),
		 "0x%016" PRIx64 " \"h2 a\"\n0x%016" PRIx64 " \"h2 b\"\n0x%016" PRIx64
		 " \"h1\"\n",
		 guid_of_node(w, "h0"), guid_of_node(w, "twin"), guid_of_node(w, "h1"));
	stop((void **)&w);
	memset(w, 0, sizeof(*w));
	world_start(w, parse(net_text), NULL, map);
	assert_int_equal(ports_of_host(w, "h2", NULL), 2);
	assert_int_equal(ports_of_host(w, "h1", NULL), 1);
	assert_int_equal(ports_of_host(w, "h2 b", NULL), 1);
	assert_int_equal(ports_of_host(w, "h0", NULL), 1);
	stop((void **)&w);
}

static void a_second_node_with_a_guid_is_named(void **state)
{
	struct world world = { 0 }, *w = &world;
	struct json_object *doc;
	struct sim *sim;

	world_start(w, parse(net_text), NULL, NULL);
	sim = w->rig->sim;
	sim_link_down(sim, sim_find(sim, "twin"), 1);
	rig_run(w->rig, sim_now(sim) + 30 * MONO_S);
	sim_set_guid(sim, sim_find(sim, "twin"), sim_node_guid(sim, sim_find(sim, "h2")));
	sim_link_up(sim, sim_find(sim, "twin"), 1);
	rig_run(w->rig, sim_now(sim) + 60 * MONO_S);
	doc = ask(w, "Ports", "{\"not_active\": true}");
	assert_contains(json_object_to_json_string(doc),
			"duplicate node GUID behind this port");
	json_object_put(doc);
	stop((void **)&w);
}

/*
 * A cable that comes and goes is named once, as held down, and routes do not lead over it.
 */
static void a_cable_that_is_held_is_named(void **state)
{
	struct world world = { 0 }, *w = &world;
	struct json_object *doc, *ports, *port;

	world_start(w, parse(net_text), NULL, NULL);
	for (unsigned i = 0; i < 20; i++) {
		sim_link_flap(w->rig->sim, sim_find(w->rig->sim, "leaf1"), 6, 200 * MONO_MS);
		rig_run(w->rig, sim_now(w->rig->sim) + MONO_S);
	}
	doc = ask(w, "Ports", "{\"not_active\": true}");
	ports = at(doc, "ports");
	assert_int_equal(json_object_array_length(ports), 1);
	port = json_object_array_get_idx(ports, 0);
	assert_string_equal(text_at(port, "why_not"), "comes and goes, held down");
	assert_in_range(json_object_get_int(at(port, "held_seconds")), 1, 240);
	json_object_put(doc);
	doc = ask(w, "Routes", "{\"switch\": \"leaf1\", \"to\": \"h2\"}");
	assert_int_equal(length_at(doc, "routes.0.equal_ports"), 2); /* 4 and 5 */
	json_object_put(doc);
	stop((void **)&w);
}

/* A standby shows what it sees; routes and answers are the master's. */
static void a_standby_knows_the_fabric_alone(void **state)
{
	struct world world = { 0 }, *w = &world;
	struct json_object *doc;

	world_start(w, parse(net_text), NULL, NULL);
	assert_int_equal(rig_start(w->rig, "h2", 0, w->conf, NULL), 1);
	rig_run(w->rig, sim_now(w->rig->sim) + 60 * MONO_S);
	w->api.sm = w->rig->sms[1].sm;
	assert_int_equal(sm_state(w->api.sm), SM_STANDBY);
	doc = ask(w, "Topology", "{}");
	assert_int_equal(length_at(doc, "nodes"), 4 + 4);
	assert_string_equal(text_at(with(at(doc, "nodes"), "name", "leaf1"), "ports.0.state"),
			    "active");
	assert_true(number_at(with(at(doc, "nodes"), "name", "leaf1"), "lid") > 0);
	json_object_put(doc);
	refused(w, "Path", "{\"from\": \"h0\", \"to\": \"h2\"}", "NotReady",
		"this manager is STANDBY");
	refused(w, "Groups", "{}", "NotReady", "STANDBY");
	w->api.sm = w->rig->sms[0].sm;
	stop((void **)&w);
}

static void partitions_name_their_members(void **state)
{
	struct world *w = *state;
	struct json_object *doc = ask(w, "Partitions", "{}"), *green, *blue;

	assert_string_equal(text_at(doc, "origin"), "file");
	assert_int_equal(length_at(doc, "partitions"), 3);
	green = with(at(doc, "partitions"), "name", "green");
	assert_string_equal(text_at(green, "pkey"), "0x0010");
	assert_int_equal(length_at(green, "members"), 1); /* only h0 has such a port GUID */
	assert_string_equal(text_at(green, "members.0.name"), "h0");
	assert_string_equal(text_at(green, "members.0.membership"), "limited");
	assert_string_equal(text_at(green, "absent.0.remark"),
			    "this is the GUID of a node; partitions.conf wants that of a port");
	blue = with(at(doc, "partitions"), "name", "blue");
	assert_int_equal(length_at(blue, "members"), 4 + 4);
	assert_string_equal(text_at(blue, "absent.0.port_guid"), "0xdeadbeef00000001");
	assert_int_equal(length_at(with(at(doc, "partitions"), "name", "Default"), "groups"), 1);
	json_object_put(doc);
	doc = ask(w, "Partitions", "{\"partition\": \"0x8010\"}");
	assert_int_equal(length_at(doc, "partitions"), 1);
	json_object_put(doc);
	refused(w, "Partitions", "{\"partition\": \"red\"}", "NotFound", "red");
}

static void note_end(void *arg, const struct sm_tenancy_result *r)
{
	assert_int_equal(r->end, SM_TENANCY_DONE);
	(*(unsigned *)arg)++;
}

/* "h2", and a port that the fabric does not have. */
static void add_two(struct world *w, uint16_t pkey)
{
	struct tenant_member members[] = { { .guid = 0xabc }, { .full = true } };
	const struct tenant_request rq = {
		.action = TENANT_ADD, .pkey = pkey, .members = members, .n_members = 2
	};
	unsigned ends = 0;

	FABRIC_EACH_NODE(sm_fabric(w->api.sm), n)
		if (!strcmp(n->desc, "h2"))
			members[1].guid = n->ports[1].guid;
	assert_true(members[1].guid);
	assert_int_equal(mkdir(w->dir, 0700), 0);
	sm_tenancy_request(w->api.sm, &rq, true, false, note_end, &ends);
	rig_run(w->rig, sim_now(w->rig->sim) + MONO_S);
	assert_int_equal(ends, 1);
	scratch_remove(w->dir);
}

static void members_of_run_time_are_shown_with_their_source(void **state)
{
	struct world world = { 0 }, *w = &world;
	struct json_object *doc, *pink;

	world_start(w, parse(net_text), NULL, NULL);
	add_two(w, 0x5);
	doc = ask(w, "Partitions", "{}");
	assert_string_equal(text_at(with(at(doc, "partitions"), "name", "Default"), "source"),
			    "file");
	pink = with(at(doc, "partitions"), "pkey", "0x0005");
	assert_string_equal(text_at(pink, "source"), "api");
	assert_int_equal(length_at(pink, "members"), 1);
	assert_string_equal(text_at(pink, "members.0.name"), "h2");
	assert_string_equal(text_at(pink, "members.0.membership"), "full");
	assert_int_equal(length_at(pink, "absent"), 1);
	assert_string_equal(text_at(pink, "absent.0.port_guid"), "0x0000000000000abc");
	assert_string_equal(text_at(pink, "absent.0.membership"), "limited");
	assert_true(strlen(text_at(pink, "absent.0.pending")) > 5);
	json_object_put(doc);
	/* Of another partition nothing is copied. */
	doc = ask(w, "Partitions", "{\"partition\": \"0x7fff\"}");
	assert_int_equal(length_at(doc, "partitions"), 1);
	assert_int_equal(length_at(doc, "partitions.0.absent"), 0);
	json_object_put(doc);
	stop((void **)&w);
}

/* No port of it is in the file; it is of the file all the same. */
static void an_empty_partition_of_the_file_is_of_both(void **state)
{
	struct world world = { 0 }, *w = &world;
	struct json_object *doc;

	world_start(w, parse(net_text), "Default=0x7fff : ALL=full;\njobs=0x20, ipoib, api : ;\n",
		    NULL);
	add_two(w, 0x20);
	doc = ask(w, "Partitions", "{\"partition\": \"jobs\"}");
	assert_string_equal(text_at(doc, "partitions.0.source"), "both");
	json_object_put(doc);
	stop((void **)&w);
}

static void groups_are_decoded(void **state)
{
	struct world *w = *state;
	static const uint8_t mdns[16] = { 0xFF, 0x12, 0x40, 0x1B, 0xFF, 0xFF, 0, 0,
					  0,	0,    0,    0,	  0,	0,    0, 0xFB };
	static const uint8_t own[16] = { 0xFF, 0x12, 0x01, 0x02, 0xFF, 0xFF, 0, 0,
					 0,    0,    0,	   0,	 0,    0,    0, 1 };
	struct client *h2 = client_new(w->rig->sim, "h2");
	struct transport_event ev = { 0 };
	uint8_t record[MCM_BYTES];
	struct question q = client_join(h2, MAD_SET, mdns, MC_FULL, record);
	struct json_object *doc, *g;

	assert_int_equal(client_ask(h2, w->rig, &q, &ev), 0);
	free(ev.whole);
	q = client_join(h2, MAD_SET, own, MC_FULL, record);
	assert_int_equal(client_ask(h2, w->rig, &q, &ev), 0);
	free(ev.whole);
	rig_run(w->rig, sim_now(w->rig->sim) + 5 * MONO_S);
	doc = ask(w, "Groups", "{}");
	g = with(at(doc, "groups"), "mgid", "ff12:401b:ffff::fb");
	assert_string_equal(
		text_at(g, "meaning"),
		"IPv4 group 224.0.0.251 (mDNS) of partition 0x7fff (ff12:401b:ffff::fb)");
	assert_int_equal(number_at(g, "n_members"), 1);
	assert_null(at(g, "members"));
	assert_string_equal(
		text_at(with(at(doc, "groups"), "mgid", "ff12:401b:ffff::ffff:ffff"), "address"),
		"255.255.255.255");
	assert_string_equal(text_at(with(at(doc, "groups"), "mgid", "ff12:102:ffff::1"), "kind"),
			    "other");
	json_object_put(doc);
	doc = ask(w, "Groups", "{\"group\": \"ff12:401b:ffff::fb\"}");
	assert_string_equal(text_at(doc, "groups.0.members.0.name"), "h2");
	assert_string_equal(text_at(doc, "groups.0.members.0.join.0"), "full");
	json_object_put(doc);
	refused(w, "Groups", "{\"group\": \"0xfffe\"}", "NotFound", "MLID");
	client_free(h2);
}

static void tables_of_the_sa_are_shown(void **state)
{
	struct world *w = *state;
	struct json_object *doc = ask(w, "Sa", "{}");

	assert_true(number_at(doc, "counts.groups") > 0);
	assert_true(number_at(doc, "quotas.services_each") > 0);
	assert_int_equal(length_at(doc, "services"), 0);
	json_object_put(doc);
	doc = ask(w, "Sa", "{\"table\": \"aliases\"}");
	assert_null(at(doc, "services"));
	assert_int_equal(length_at(doc, "aliases"), 0);
	json_object_put(doc);
	refused(w, "Sa", "{\"table\": \"chairs\"}", "InvalidParameter",
		"services, subscriptions or aliases");
}

static void managers_begin_with_our_own(void **state)
{
	struct world *w = *state;
	struct json_object *doc = ask(w, "Managers", "{}");

	assert_int_equal(length_at(doc, "managers"), 1);
	assert_string_equal(text_at(doc, "managers.0.state"), "MASTER");
	assert_contains(text_at(doc, "managers.0.where"), "'h0'");
	json_object_put(doc);
}

static void without_a_port_there_is_nothing_to_show(void **state)
{
	struct world w = { .api = { .status = "waiting for mlx5_0" } };

	for (const struct control_method *m = show_methods; m->name; m++)
		refused(&w, m->name, "{}", "NotReady", "waiting for mlx5_0");
}

/* ---- bench ---------------------------------------------------------------------------------- */

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* How many turns; the most CPU time of one, in ms. */
static unsigned collect_all(const struct control_method *m, const struct world *w, void *snapshot,
			    double *ret_most)
{
	struct control_error err = { 0 };
	enum control_collected got = CONTROL_MORE;
	unsigned turns = 0;

	*ret_most = 0;
	for (; got == CONTROL_MORE; turns++) {
		double began = seconds();

		got = m->collect ? m->collect(snapshot, &w->api, &err) : CONTROL_COLLECTED;
		*ret_most = MAX(*ret_most, (seconds() - began) * 1e3);
	}
	return turns;
}

/* On a fat tree of three levels; 36: 11,664 hosts. CPU time. */
static int bench(unsigned k)
{
	struct world w = { 0 };
	double t[5], most;
	unsigned turns;

	world_start(&w, gen_fat_tree3(k), NULL, NULL);
	for (const struct control_method *m = show_methods; m->name; m++) {
		struct control_error err = { 0 };
		struct json_object *p = json_tokener_parse(
			"{\"switch\": \"leaf1\", \"from\": \"h0\", \"to\": \"h100\"}"), *doc;
		void *snapshot;

		if (!m->snapshot)
			continue;
		t[0] = seconds();
		snapshot = m->snapshot(m, &w.api, p, &err);
		t[1] = seconds();
		turns = collect_all(m, &w, snapshot, &most);
		t[2] = seconds();
		doc = snapshot ? m->render(snapshot, &err) : NULL;
		t[3] = seconds();
		m->drop(snapshot);
		t[4] = seconds();
		printf("%-12s begun %4.1f ms, collected %5.1f ms in %2u turns, most %4.1f ms, "
		       "document %7.1f ms, drop %5.1f ms %s\n",
		       m->name, (t[1] - t[0]) * 1e3, (t[2] - t[1]) * 1e3, turns, most,
		       (t[3] - t[2]) * 1e3, (t[4] - t[3]) * 1e3, doc ? "" : err.text);
		json_object_put(doc);
		json_object_put(p);
	}
	rig_free(w.rig);
	conf_unref(w.conf);
	return 0;
}

static void a_path_has_a_lane_on_every_cable(void **state)
{
	struct world worlds[] = { { .sl2vl = "0,1,2,5,15" }, { .sl2vl = "0,1,2,15,5" } };

	for (unsigned i = 0; i < 2; i++) {
		struct json_object *doc;

		world_start(&worlds[i], parse(net_text), "Default=0x7fff, sl=3 : ALL=full;\n",
			    NULL);
		doc = ask(&worlds[i], "Path", "{\"from\":\"h0\",\"to\":\"h2\"}");
		assert_int_equal(number_at(doc, "sl.value"), 3);
		assert_int_equal(number_at(doc, "hops.0.vl"), i ? 15 : 5);
		assert_int_equal(number_at(doc, "hops.3.vl"), i ? 15 : 5);
		if (i)
			assert_non_null(strstr(text_at(doc, "why_not.0"), "SL 3 gets no VL"));
		json_object_put(doc);
		rig_free(worlds[i].rig);
		conf_unref(worlds[i].conf);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_topology_is_that_of_the_fabric),
		cmocka_unit_test(the_topology_of_one_port_has_its_neighbours),
		cmocka_unit_test(nodes_answer_to_names_guids_and_lids),
		cmocka_unit_test(routes_show_load_and_equal_ways),
		cmocka_unit_test(a_path_is_what_hosts_are_told),
		cmocka_unit_test(a_path_is_asked_for_in_many_words),
		cmocka_unit_test(a_path_has_a_lane_on_every_cable),
		cmocka_unit_test(partitions_name_their_members),
		cmocka_unit_test(members_of_run_time_are_shown_with_their_source),
		cmocka_unit_test(an_empty_partition_of_the_file_is_of_both),
		cmocka_unit_test(groups_are_decoded),
		cmocka_unit_test(tables_of_the_sa_are_shown),
		cmocka_unit_test(managers_begin_with_our_own),
		cmocka_unit_test(ports_from_behind_which_rules_were_broken),
		cmocka_unit_test(ports_say_why_they_are_not_active),
		cmocka_unit_test(who_went_is_known),
		cmocka_unit_test(the_oldest_that_went_is_forgotten),
		cmocka_unit_test(a_silent_host_is_named),
		cmocka_unit_test(why_there_is_no_path),
		cmocka_unit_test(names_are_those_of_the_map),
		cmocka_unit_test(names_of_the_map_count_before_descriptions),
		cmocka_unit_test(a_second_node_with_a_guid_is_named),
		cmocka_unit_test(a_cable_that_is_held_is_named),
		cmocka_unit_test(a_standby_knows_the_fabric_alone),
		cmocka_unit_test(without_a_port_there_is_nothing_to_show),
	};

	if (argc > 1 && !strcmp(argv[1], "bench"))
		return bench(argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 36);
	return cmocka_run_group_tests(tests, start, stop);
}
