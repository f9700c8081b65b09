// SPDX-License-Identifier: BSD-2-Clause
/*
 * The dump files: a ring of three switches built by hand, with one detour and one missing entry,
 * must come out as the Debian peer 3.3.23 writes it for the same fabric, LIDs and tables
 * (tests/golden/dump); then what the peer was not asked.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "dump/dump.h"
#include "dump/dump_out.h"
#include "fabric/fabric_internal.h"
#include "fabric/snapshot.h"
#include "tests/lib/scratch.h"
#include "tests/unit/ring-desk.h"
#include "util/file.h"
#include "util/mem.h"

#define TEXT_MAX (1 << 20)

#define _fabric_ _cleanup_(free_fabric) struct fabric *
#define _routes_ _cleanup_(routes_unrefp) struct routes *
#define _view_   _cleanup_(view_unrefp) struct view *
#define _text_   _cleanup_free_ char *

static void free_fabric(struct fabric **f)
{
	*f = fabric_free(*f);
}

/* ---- files --------------------------------------------------------------------------------- */

static char *golden(const char *name)
{
	const char *top = getenv("abs_top_srcdir");
	_text_ path = xasprintf("%s/tests/golden/dump/%s", top ? top : ".", name);
	char *text = NULL;

	assert_int_equal(file_read(path, TEXT_MAX, &text, NULL), 0);
	return text;
}

static int make_dir(void **state)
{
	*state = scratch_folder(xmalloc(SCRATCH_PATH));
	return 0;
}

static int remove_dir(void **state)
{
	scratch_remove(*state);
	free(*state);
	return 0;
}

static const char *const dump_names[] = {
	"opensm-subnet.lst", "opensm-lfts.dump", "opensm-lid-matrix.dump",
	"opensm.fdbs",	     "opensm.mcfdbs",
};

static bool is_there(const char *dir, const char *name)
{
	_text_ path = xasprintf("%s/%s", dir, name);

	return access(path, F_OK) == 0;
}

static char *written(const char *dir, const char *name)
{
	_text_ path = xasprintf("%s/%s", dir, name);
	char *text = NULL;

	assert_int_equal(file_read(path, TEXT_MAX, &text, NULL), 0);
	return text;
}

static void free_conf(struct conf **c)
{
	*c = conf_unref(*c);
}

/* Of the fabric as it is; `files` may be NULL. */
static struct view *view_of(const struct fabric *f, const struct routes *r,
			    const struct conf_files *files)
{
	_cleanup_(free_conf) struct conf *conf = conf_new();
	const struct view_source from = {
		.conf = conf, .files = files, .fabric = f, .routes = r, .parts = VIEW_TREES,
	};

	return view_new(&from);
}

static void write_all(const char *dir, const struct view *v)
{
	const struct dump_config c = { .dir = dir, .routing = true };
	char err[256] = "";

	assert_int_equal(dump_write_all(v, &c, err, sizeof(err)), 0);
	assert_string_equal(err, "");
}

/* What one file comes to; the caller frees. */
static char *dumped(const char *dir, const char *name, const struct fabric *f,
		    const struct routes *r)
{
	_view_ v = view_of(f, r, NULL);

	write_all(dir, v);
	return written(dir, name);
}

static char *table_of(const struct fabric *f)
{
	_view_ v = view_of(f, NULL, NULL);
	char *text = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&text, &len);

	dump_port_table(v, stream);
	fclose(stream);
	return text;
}

static void assert_contains(const char *text, const char *piece)
{
	if (!strstr(text, piece))
		fail_msg("'%s' is not in:\n%s", piece, text);
}

static void assert_lacks(const char *text, const char *piece)
{
	if (strstr(text, piece))
		fail_msg("'%s' is in:\n%s", piece, text);
}

/* ---- as the peer --------------------------------------------------------------------------- */

static void a_ring_comes_out_as_the_peer_writes_it(void **state)
{
	_fabric_ f = ring();
	_routes_ r = ring_routes(f);
	_view_ v = view_of(f, r, NULL);

	write_all(*state, v);
	for (size_t i = 0; i < 4; i++) {
		_text_ got = written(*state, dump_names[i]);
		_text_ want = golden(dump_names[i]);

		assert_string_equal(got, want);
	}
}

static void no_multicast_routes_make_an_empty_file(void **state)
{
	_fabric_ f = ring();
	_routes_ r = ring_routes(f);
	_text_ got = dumped(*state, "opensm.mcfdbs", f, r);

	assert_string_equal(got, "");
}

/* A row of a switch for an MLID; `known`: the switch has said so, else a Set is on its way. */
static void multicast(struct fabric *f, guid_t sw, lid_t mlid, unsigned position, uint16_t mask,
		      bool known)
{
	struct mft_have *have = &fabric_find_node(f, sw)->mft;
	unsigned number = mlid - MFT_FIRST_MLID, block = number / MFT_BLOCK_MLIDS;
	struct mft_cell cell = *mft_have_room(have, block, position);

	cell.mask[number % MFT_BLOCK_MLIDS] = mask;
	(known ? mft_have_set : mft_have_doubt)(have, block, position, &cell);
}

static void multicast_routes_are_written_as_the_peer_does(void **state)
{
	_fabric_ f = ring();
	_routes_ r = ring_routes(f);
	_text_ got = NULL;

	multicast(f, 0x200001, 0xC000, 0, 1 << 1 | 1 << 3, true);
	multicast(f, 0x200000, 0xC000, 0, 1 << 1 | 1 << 2, true);
	multicast(f, 0x200000, 0xC001, 0, 0, true); /* emptied */
	multicast(f, 0x200000, 0xC02A, 0, 1 << 2 | 1, false);
	multicast(f, 0x200002, 0xC005, 0, 0, true);
	got = dumped(*state, "opensm.mcfdbs", f, r);
	assert_string_equal(got, "\nSwitch 0x0000000000200000\n"
				 "LID    : Out Port(s)\n"
				 "0xC000 : 0x001  0x002 \n"
				 "0xC02A : 0x000  0x002 \n"
				 "\nSwitch 0x0000000000200001\n"
				 "LID    : Out Port(s)\n"
				 "0xC000 : 0x001  0x003 \n");
}

static void the_table_of_ports_is_that_of_the_peer(void **state)
{
	_fabric_ f = ring();
	_text_ got = table_of(f);
	_text_ want = golden("port-table.txt");

	assert_string_equal(got, want);
}

static void hops_are_counted_when_the_engine_left_none(void **state)
{
	_fabric_ f = ring();
	_routes_ r = ring_routes(f);
	_text_ want_fdbs = golden("opensm.fdbs");
	_text_ want_matrix = golden("opensm-lid-matrix.dump");

	free(r->hops);
	r->hops = NULL;
	_text_ fdbs = dumped(*state, "opensm.fdbs", f, r);
	_text_ matrix = written(*state, "opensm-lid-matrix.dump");

	assert_string_equal(fdbs, want_fdbs);
	assert_string_equal(matrix, want_matrix);
}

/* ---- tables that lead astray --------------------------------------------------------------- */

static void a_loop_and_a_wrong_host_have_unknown_hops(void **state)
{
	_fabric_ f = ring();
	_routes_ r = ring_routes(f);

	routes_row(r, 0)[RING_HC] = 2; /* A -> B -> A -> ... */
	routes_row(r, 1)[RING_HC] = 3;
	routes_row(r, 0)[RING_C] = 1;  /* to HA's door */
	routes_row(r, 0)[RING_HA] = 4; /* a port without cable, at the right switch */
	_text_ got = dumped(*state, "opensm.fdbs", f, r);

	assert_contains(got, "0x0006 : 002  : HOPS UNKNOWN\n");
	assert_contains(got, "0x0006 : 003  : HOPS UNKNOWN\n");
	assert_contains(got, "0x0006 : 001  : 01   : yes\n"); /* C still knows its own */
	assert_contains(got, "0x0004 : 001  : HOPS UNKNOWN\n");
	assert_contains(got, "0x0001 : 004  : HOPS UNKNOWN\n");
}

static void weighted_cables_count_with_their_weight(void **state)
{
	/* B-C and C-A cost 2 and 3, A-B costs so much that the long way round is the least. */
	static const uint8_t hops[9] = { 0, 5, 3, 5, 0, 2, 3, 2, 0 };
	_fabric_ f = ring();
	_routes_ r = ring_routes(f);

	memcpy(r->hops, hops, sizeof(hops));
	_text_ fdbs = dumped(*state, "opensm.fdbs", f, r);
	_text_ matrix = written(*state, "opensm-lid-matrix.dump");

	assert_contains(fdbs, "0x0003 : 003  : 05   : yes\n");
	assert_contains(fdbs, "0x0005 : 003  : 06   : yes\n");
	assert_contains(matrix, "0x0004: 03 ff 07 03 ff ff ff # portguid 0x0000000000200002\n");
}

static void a_detour_over_weighted_cables_adds_up(void **state)
{
	static const uint8_t hops[9] = { 0, 2, 2, 2, 0, 2, 2, 2, 0 };
	_fabric_ f = ring();
	_routes_ r = ring_routes(f);

	memcpy(r->hops, hops, sizeof(hops));
	_text_ fdbs = dumped(*state, "opensm.fdbs", f, r);

	assert_contains(fdbs, "0x0003 : 003  : 04   : No 2 hop path possible via port 2!\n");
}

static void a_port_the_switch_does_not_have_is_no_entry(void **state)
{
	_fabric_ f = ring();
	_routes_ r = ring_routes(f);

	routes_row(r, 0)[RING_C] = 200;
	_text_ fdbs = dumped(*state, "opensm.fdbs", f, r);
	_text_ lfts = written(*state, "opensm-lfts.dump");

	assert_contains(fdbs, "0x0004 : 200  : HOPS UNKNOWN\n");
	assert_contains(lfts, "'B'\n0x0005 003 ");
}

static void a_lid_nobody_has_is_unreachable_and_of_unknown_type(void **state)
{
	_fabric_ f = ring();
	struct port *hc = port_at(f, 0x100004, 1);

	hc->lid = 8; /* 6 is free now, and 7 */
	_cleanup_(topo_unrefp) struct topo *t = fabric_snapshot(f, NULL, NULL);
	_routes_ r = routes_new(t, "by hand", t->max_lid);

	routes_row(r, 0)[6] = 3;
	routes_row(r, 0)[8] = 3;
	_text_ fdbs = dumped(*state, "opensm.fdbs", f, r);
	_text_ lfts = written(*state, "opensm-lfts.dump");

	assert_contains(
		fdbs, "0x0006 : UNREACHABLE\n0x0007 : UNREACHABLE\n0x0008 : 003  : HOPS UNKNOWN\n");
	assert_contains(lfts, "Unicast lids [0-8] of switch Lid 2 guid 0x0000000000200000 ('A'):\n"
			      "0x0006 003 # unknown node and type\n"
			      "0x0008 003 # Channel Adapter portguid 0x0000000000100005: 'HC'\n"
			      "8 lids dumped\n");
}

static void every_lid_of_a_range_belongs_to_its_port(void **state)
{
	_fabric_ f = ring();
	struct port *hc = port_at(f, 0x100004, 1);

	hc->lid = 8;
	hc->lmc = 1;
	_cleanup_(topo_unrefp) struct topo *t = fabric_snapshot(f, NULL, NULL);
	_routes_ r = routes_new(t, "by hand", t->max_lid);

	for (unsigned s = 0; s < 3; s++)
		memset(routes_row(r, s) + 8, (uint8_t[]){ 3, 2, 1 }[s], 2);
	_text_ got = dumped(*state, "opensm.fdbs", f, r);

	assert_contains(got, "0x0008 : 003  : 02   : yes\n0x0009 : 003  : 02   : yes\n");
	assert_contains(got, "0x0008 : 002  : 02   : yes\n0x0009 : 002  : 02   : yes\n");
	assert_contains(got, "0x0008 : 001  : 01   : yes\n0x0009 : 001  : 01   : yes\n");
	assert_lacks(got, "0x000A");
}

static void a_cut_off_switch_is_left_out_of_the_matrix(void **state)
{
	_fabric_ f = ring();

	fabric_disconnect(port_at(f, 0x200002, 2));
	fabric_disconnect(port_at(f, 0x200002, 3));
	_cleanup_(topo_unrefp) struct topo *t = fabric_snapshot(f, NULL, NULL);
	_routes_ r = routes_new(t, "by hand", t->max_lid);
	_text_ got = dumped(*state, "opensm-lid-matrix.dump", f, r);

	assert_string_equal(got, "Switch: guid 0x0000000000200000\n"
				 "0x0002: 00 ff 02 ff ff ff ff # portguid 0x0000000000200000\n"
				 "0x0003: 01 ff 01 ff ff ff ff # portguid 0x0000000000200001\n"
				 "Switch: guid 0x0000000000200001\n"
				 "0x0002: 01 ff ff 01 ff ff ff # portguid 0x0000000000200000\n"
				 "0x0003: 00 ff ff 02 ff ff ff # portguid 0x0000000000200001\n"
				 "Switch: guid 0x0000000000200002\n"
				 "0x0004: 00 ff ff ff ff ff ff # portguid 0x0000000000200002\n");
}

static void without_routes_the_tables_are_empty(void **state)
{
	_fabric_ f = ring();

	for (size_t i = 1; i < ARRAY_SIZE(dump_names); i++) {
		_text_ got = dumped(*state, dump_names[i], f, NULL);

		assert_string_equal(got, "");
	}
}

/* ---- ports --------------------------------------------------------------------------------- */

static void guids_sort_from_their_last_byte(void **state)
{
	static const guid_t guids[] = { 0x200000, 0x200001, 0x100000, 0x0100000000000000, 0x100 };
	static const guid_t sorted[] = { 0x0100000000000000, 0x100000, 0x200000, 0x100, 0x200001 };
	_fabric_ f = fabric_new();

	for (size_t i = 0; i < ARRAY_SIZE(guids); i++)
		add_node(f, IB_NODE_SWITCH, guids[i], 1, "");
	_text_ table = table_of(f);
	const char *at = table;

	for (size_t i = 0; i < ARRAY_SIZE(sorted); i++) {
		_text_ guid = xasprintf(" %016" PRIx64 " :\n", sorted[i]);

		at = strstr(at, guid);
		if (!at)
			fail_msg("'%s' is not where it should be in:\n%s", guid, table);
	}
}

static void braces_in_a_description_do_not_end_the_field(void **state)
{
	_fabric_ f = ring();

	snprintf(port_at(f, 0x200000, 0)->node->desc, NODE_DESC_STRLEN, "a } PN:01 } {\"b'");
	_text_ got = dumped(*state, "opensm-subnet.lst", f, NULL);

	assert_contains(got, " Rev:000000A1 {a ) PN:01 ) (\"b'} LID:0002 PN:01 } ");
	assert_lacks(got, "{a }");
}

static void vendor_and_device_have_two_forms(void **state)
{
	_fabric_ f = ring();
	struct node *a = fabric_find_node(f, 0x200000);

	a->vendor_id = 0x2c9;
	a->device_id = 0xb924;
	_text_ got = dumped(*state, "opensm-subnet.lst", f, NULL);

	assert_contains(got, " PortGUID:0000000000200000 VenID:0002C9 DevID:B924 Rev:");
	assert_contains(got, " PortGUID:0000000000200000 VenID:000002C9 DevID:B9240000 Rev:");
}

static void extended_speed_counts_if_the_other_end_knows_it(void **state)
{
	_fabric_ f = ring();
	struct port *a2 = port_at(f, 0x200000, 2), *a0 = port_at(f, 0x200000, 0);

	ib_put(a2->info, PI_SPEED_EXT_ACTIVE, 8);
	ib_put(a2->peer->info, PI_SPEED_EXT_ACTIVE, 8);
	ib_put(a0->info, PI_CAP_MASK, IB_CAP(IB_CAP_EXTENDED_SPEEDS)); /* A knows, B does not */
	_text_ list = dumped(*state, "opensm-subnet.lst", f, NULL);
	_text_ table = table_of(f);

	assert_contains(list, "{A} LID:0002 PN:02 } PHY=4x LOG=ACT SPD=100\n");
	assert_contains(list, "{B} LID:0003 PN:03 } PHY=4x LOG=ACT SPD=2.5\n");
	assert_contains(table,
			": SW : 02 : ACT :      :     : 2048 : 4x  : 100  : 0000000000200000 :");
	assert_contains(table,
			": SW : 03 : ACT :      :     : 2048 : 4x  : 2.5  : 0000000000200001 :");
}

static void fdr10_has_a_name(void **state)
{
	_fabric_ f = ring();
	struct port *a2 = port_at(f, 0x200000, 2);

	ib_put(a2->info, PI_SPEED_ACTIVE, 4);
	a2->ext_known = true;
	a2->ext_active = EPI_SPEED_FDR10;
	_text_ list = dumped(*state, "opensm-subnet.lst", f, NULL);
	_text_ table = table_of(f);

	assert_contains(list, "SPD=FDR10\n");
	assert_contains(table, ": 4x  : FDR10 : 0000000000200000 :");
}

static void what_makes_no_sense_is_shown_as_unknown(void **state)
{
	_fabric_ f = ring();
	struct port *a2 = port_at(f, 0x200000, 2);

	ib_put(a2->info, PI_WIDTH_ACTIVE, 3);
	ib_put(a2->info, PI_SPEED_ACTIVE, 0);
	ib_put(a2->info, PI_NEIGHBOR_MTU, 0);
	ib_put(a2->info, PI_PORT_STATE, 9);
	_text_ list = dumped(*state, "opensm-subnet.lst", f, NULL);
	_text_ table = table_of(f);

	assert_contains(list, "PHY=?? LOG=DWN SPD=??\n");
	assert_contains(table,
			": SW : 02 : ??? :      :     : ???  : ??? : ???? : 0000000000200000 :");
}

static void a_port_that_is_up_without_a_neighbor_says_so(void **state)
{
	_fabric_ f = ring();

	fabric_disconnect(port_at(f, 0x200000, 2));
	ib_put(port_at(f, 0x200000, 2)->info, PI_PORT_STATE, IB_PORT_INIT);
	_text_ list = dumped(*state, "opensm-subnet.lst", f, NULL);
	_text_ table = table_of(f);

	assert_contains(
		table,
		": SW : 02 : INI :      :     : 2048 : 4x  : 2.5  : 0000000000200000 : UNKNOWN\n");
	assert_lacks(list, "{A} LID:0002 PN:02 }");
}

static void enhanced_port_0_shows_its_link(void **state)
{
	_fabric_ f = ring();

	ib_put(fabric_find_node(f, 0x200000)->switch_info, SI_ENHANCED_PORT0, 1);
	_text_ table = table_of(f);

	assert_contains(table,
			": SW : 00 : ACT : 0002 :  0  : 2048 : 4x  : 2.5  : 0000000000200000 :\n");
	assert_contains(table,
			": SW : 00 :     : 0003 :  0  :      :     :      : 0000000000200001 :\n");
}

static void every_port_of_the_managers_switch_has_the_mark(void **state)
{
	_fabric_ f = ring();

	f->own_port = port_at(f, 0x200000, 0);
	_text_ table = table_of(f);

	assert_contains(table,
			": SW : 00 :     : 0002 :  0  :      :     :      * 0000000000200000 *\n");
	assert_contains(table,
			": SW : 04 : DWN :      :     : ???  : ??? : ???? * 0000000000200000 *\n");
	assert_contains(table, ": 0000000000100001 : 0000000000200000 (01)\n");
}

static void ports_of_a_host_never_seen_have_no_row(void **state)
{
	_fabric_ f = fabric_new();

	add_node(f, IB_NODE_CA, 0x2c90000000001, 2, "two ports");
	set_port(port_at(f, 0x2c90000000001, 2), IB_PORT_INIT);
	_text_ table = table_of(f);

	assert_contains(table, "Mellanox    : CA : 02 : INI : 0000 :  0  : ");
	assert_lacks(table, ": CA : 01 ");
	assert_lacks(table, ": CA : 00 ");
}

static struct conf_files *files_with_names(const char *dir, const char *map)
{
	_cleanup_(free_conf) struct conf *conf = conf_new();
	_text_ path = xasprintf("%s/names", dir);
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(map, out);
	fclose(out);
	free(conf->node_name_map_name);
	conf->node_name_map_name = xstrdup(path);
	return conf_files_read(conf, NULL);
}

static void names_of_the_map_replace_descriptions(void **state)
{
	static const char map[] =
		"0x200000 \"spine 1\"\n0x100004 \"a name of more than sixty-four characters, "
		"which no description can have\"\n";
	_fabric_ f = ring();
	_routes_ r = ring_routes(f);
	_cleanup_(conf_files_unrefp) struct conf_files *files = files_with_names(*state, map);
	_view_ v = view_of(f, r, files);

	files = conf_files_unref(files); /* the view has what it needs */
	write_all(*state, v);
	_text_ list = written(*state, "opensm-subnet.lst");
	_text_ lfts = written(*state, "opensm-lfts.dump");

	assert_contains(list, " {spine 1} ");
	assert_lacks(list, " {A} ");
	assert_contains(list, " {B} ");
	assert_contains(lfts, "('spine 1'):\n");
	assert_contains(
		lfts,
		": 'a name of more than sixty-four characters, which no description can have'\n");
}

/* ---- files and jobs ------------------------------------------------------------------------ */

static void without_routing_there_is_only_the_list(void **state)
{
	_fabric_ f = ring();
	_routes_ r = ring_routes(f);
	_view_ v = view_of(f, r, NULL);
	const struct dump_config c = { .dir = *state };
	char err[256] = "";

	assert_int_equal(dump_write_all(v, &c, err, sizeof(err)), 0);
	assert_true(is_there(*state, "opensm-subnet.lst"));
	for (size_t i = 1; i < ARRAY_SIZE(dump_names); i++)
		assert_false(is_there(*state, dump_names[i]));
}

static void a_folder_that_is_not_there_is_named(void **state)
{
	_fabric_ f = ring();
	_view_ v = view_of(f, NULL, NULL);
	const struct dump_config c = { .dir = "/nowhere/at/all", .routing = true };
	char err[256] = "";

	assert_int_equal(dump_write_all(v, &c, err, sizeof(err)), -ENOENT);
	assert_string_equal(err, "cannot create file '/nowhere/at/all/opensm-subnet.lst': No such "
				 "file or directory");
}

static void one_file_in_the_way_does_not_stop_the_others(void **state)
{
	_fabric_ f = ring();
	_view_ v = view_of(f, NULL, NULL);
	const struct dump_config c = { .dir = *state, .routing = true };
	_text_ obstacle = xasprintf("%s/opensm-subnet.lst", (char *)*state);
	char err[256] = "";

	assert_int_equal(file_mkdirs(obstacle, 0755), 0);
	assert_int_equal(dump_write_all(v, &c, err, sizeof(err)), -EISDIR);
	assert_contains(err, "opensm-subnet.lst");
	assert_true(is_there(*state, "opensm.mcfdbs"));
	rmdir(obstacle);
}

static void on_done(void *arg, const char *error)
{
	char **ret = arg;

	*ret = xstrdup(error ? error : "fine");
}

static void a_job_outlives_what_it_was_made_from(void **state)
{
	_fabric_ f = ring();
	_routes_ r = ring_routes(f);
	_text_ dir = xstrdup(*state);
	_text_ said = NULL;
	const struct dump_config c = { .dir = dir, .routing = true };
	struct sm_job *job = dump_job_new(view_of(f, r, NULL), &c, on_done, &said);

	f = fabric_free(f);
	r = routes_unref(r);
	memset(dir, 'x', strlen(dir));
	job->run(job);
	assert_null(said);
	job->done(job);
	assert_string_equal(said, "fine");
	_text_ got = written(*state, "opensm-lfts.dump");
	_text_ want = golden("opensm-lfts.dump");

	assert_string_equal(got, want);
}

static void a_job_that_fails_says_why(void **state)
{
	_fabric_ f = ring();
	_text_ said = NULL;
	const struct dump_config c = { .dir = "/nowhere" };
	struct sm_job *job = dump_job_new(view_of(f, NULL, NULL), &c, on_done, &said);

	job->run(job);
	job->done(job);
	assert_contains(said, "/nowhere/opensm-subnet.lst");
}

/* ---- numbers ------------------------------------------------------------------------------- */

static void numbers_are_those_of_printf(void **state)
{
	static const uint64_t values[] = {
		0,          1, 9, 10, 15, 16, 99, 100, 255, 0xBFFF, 0xDEADBEEF, 0x0002c90300a1b2c3,
		UINT64_MAX,
	};
	_text_ got = NULL;
	_text_ want = NULL;
	size_t got_len, want_len;
	FILE *mine = open_memstream(&got, &got_len), *libc = open_memstream(&want, &want_len);
	struct dump_out *o = out_new(mine);

	for (unsigned round = 0; round < 1000; round++) /* beyond one buffer */
		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			int width = (int)(round % 21);

			out_hex(o, values[i], round % 21);
			out_lit(o, " ");
			out_hex_upper(o, values[i], round % 21);
			out_lit(o, " ");
			out_dec(o, values[i], round % 21);
			out_lit(o, "\n");
			fprintf(libc, "%0*" PRIx64 " %0*" PRIX64 " %0*" PRIu64 "\n", width,
				values[i], width, values[i], width, values[i]);
		}
	out_free(o);
	fclose(mine);
	fclose(libc);
	assert_true(want_len > sizeof(o->text));
	assert_int_equal(got_len, want_len);
	assert_memory_equal(got, want, want_len);
}

#define DUMP_TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		DUMP_TEST(a_ring_comes_out_as_the_peer_writes_it),
		DUMP_TEST(no_multicast_routes_make_an_empty_file),
		DUMP_TEST(multicast_routes_are_written_as_the_peer_does),
		DUMP_TEST(the_table_of_ports_is_that_of_the_peer),
		DUMP_TEST(hops_are_counted_when_the_engine_left_none),
		DUMP_TEST(a_loop_and_a_wrong_host_have_unknown_hops),
		DUMP_TEST(weighted_cables_count_with_their_weight),
		DUMP_TEST(a_detour_over_weighted_cables_adds_up),
		DUMP_TEST(a_port_the_switch_does_not_have_is_no_entry),
		DUMP_TEST(a_lid_nobody_has_is_unreachable_and_of_unknown_type),
		DUMP_TEST(every_lid_of_a_range_belongs_to_its_port),
		DUMP_TEST(a_cut_off_switch_is_left_out_of_the_matrix),
		DUMP_TEST(without_routes_the_tables_are_empty),
		DUMP_TEST(guids_sort_from_their_last_byte),
		DUMP_TEST(braces_in_a_description_do_not_end_the_field),
		DUMP_TEST(vendor_and_device_have_two_forms),
		DUMP_TEST(extended_speed_counts_if_the_other_end_knows_it),
		DUMP_TEST(fdr10_has_a_name),
		DUMP_TEST(what_makes_no_sense_is_shown_as_unknown),
		DUMP_TEST(a_port_that_is_up_without_a_neighbor_says_so),
		DUMP_TEST(enhanced_port_0_shows_its_link),
		DUMP_TEST(every_port_of_the_managers_switch_has_the_mark),
		DUMP_TEST(ports_of_a_host_never_seen_have_no_row),
		DUMP_TEST(names_of_the_map_replace_descriptions),
		DUMP_TEST(without_routing_there_is_only_the_list),
		DUMP_TEST(a_folder_that_is_not_there_is_named),
		DUMP_TEST(one_file_in_the_way_does_not_stop_the_others),
		DUMP_TEST(a_job_outlives_what_it_was_made_from),
		DUMP_TEST(a_job_that_fails_says_why),
		cmocka_unit_test(numbers_are_those_of_printf),
	};

	return cmocka_run_group_tests_name("dump", tests, NULL, NULL);
}
