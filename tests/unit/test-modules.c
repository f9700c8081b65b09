// SPDX-License-Identifier: BSD-2-Clause
/*
 * conf/lists/modules.c: names of ours and of OpenSM, all separators, and clear words about what is
 * wrong.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "conf/lists/modules.h"
#include "util/mem.h"

/* "NAME=MASK NAME=MASK ", then findings, one a line. */
static char *reading(const char *text)
{
	struct conf_report r = { 0 };
	struct conf_modules m;
	char *ret = NULL;
	size_t len;
	FILE *out = open_memstream(&ret, &len);

	assert_int_equal(conf_modules_read_text("f", text, strlen(text), &m, &r), 0);
	for (size_t i = 0; i < m.n; i++)
		fprintf(out, "%s=%x ", m.items[i].name, m.items[i].mask);
	for (size_t i = 0; i < r.n; i++)
		fprintf(out, "\n%u:%u: %s", r.findings[i].line, r.findings[i].column,
			r.findings[i].text);
	fclose(out);
	conf_modules_clear(&m);
	conf_report_clear(&r);
	return ret;
}

static void assert_read(const char *text, const char *expected)
{
	_cleanup_free_ char *read = reading(text);

	assert_string_equal(read, expected);
}

static void files_and_folders_of_ours(void **state)
{
	assert_read("sm/trust/traps.c 0x04\n", "sm/trust/traps.c=4 ");
	assert_read("traps.c 0x04\n", "sm/trust/traps.c=4 ");
	assert_read("sa/ 8\n", "sa/=8 ");
	assert_read("sa 8\n", "sa/=8 ");
	assert_read("records.c 8\n", "ib/records.c=8 sa/records.c=8 ");
}

static void paths_of_earlier_releases_find_the_file(void **state)
{
	assert_read("sm/traps.c 4\n", "sm/trust/traps.c=4 ");
	assert_read("sm/old/folder/traps.c 4\n", "sm/trust/traps.c=4 ");
	assert_read("sa/mcmember.c=4\n", "sa/mcast/mcmember.c=4 ");
	/* Another top folder, and folders alone, find nothing. */
	assert_read("console/traps.c 4\n",
		    "\n1:1: \"console/traps.c\" is no source file or folder; the line is ignored");
	assert_read("sm/old/ 4\n",
		    "\n1:1: \"sm/old/\" is no source file or folder; the line is ignored");
}

static void every_separator_and_base(void **state)
{
	assert_read("traps.c=0x0F\n", "sm/trust/traps.c=f ");
	assert_read("  traps.c\t= 017  ignored\n", "sm/trust/traps.c=f ");
	assert_read("traps.c,15 # comment\n\n# comment\n", "sm/trust/traps.c=f ");
}

static void files_of_the_peer_stand_for_ours(void **state)
{
	assert_read("osm_trap_rcv.c 0x4\n",
		    "sm/trust/traps.c=4 sm/out_of_use/=4 ");
	assert_read("osm_sa_mcmember_record.c=0x4\n",
		    "sa/mcast/mcmember.c=4 sa/mcast/mgroup_view.c=4 ");
	assert_string_equal(conf_modules_peer("osm_sa.c"), "sa/ sm/answers/admin.c");
	assert_null(conf_modules_peer("osm_nothing.c"));
}

static void what_is_wrong_is_said_and_the_rest_counts(void **state)
{
	assert_read("trasp.c 4\nsa 8\n",
		    "sa/=8 \n1:1: \"trasp.c\" is no source file or folder (did you mean traps.c?); "
		    "the line is ignored");
	assert_read("zzzzzzzzzzzz 4\n",
		    "\n1:1: \"zzzzzzzzzzzz\" is no source file or folder; the line is ignored");
	assert_read("traps.c\n",
		    "\n1:8: nothing; expected log flags between 0 and 0xff; the line is ignored");
	assert_read(" sa 0x100\n",
		    "\n1:5: \"0x100\"; expected log flags between 0 and 0xff; the line is ignored");
}

/* All files of OpenSM 3.3.23 (qos.md 8), and each stands for something that is there. */
static const char *const names[] = {
	"main.c", "osm_console.c", "osm_console_io.c", "osm_db_files.c", "osm_db_pack.c",
	"osm_drop_mgr.c", "osm_dump.c", "osm_event_plugin.c", "osm_guid_info_rcv.c",
	"osm_guid_mgr.c", "osm_helper.c", "osm_inform.c", "osm_lid_mgr.c", "osm_lin_fwd_rcv.c",
	"osm_link_mgr.c", "osm_log.c", "osm_mad_pool.c", "osm_mcast_fwd_rcv.c",
	"osm_mcast_mgr.c", "osm_mcast_tbl.c", "osm_mcm_port.c", "osm_mesh.c",
	"osm_mlnx_ext_port_info_rcv.c", "osm_mtree.c", "osm_multicast.c", "osm_node.c",
	"osm_node_desc_rcv.c", "osm_node_info_rcv.c", "osm_opensm.c", "osm_perfmgr.c",
	"osm_perfmgr_db.c", "osm_pkey.c", "osm_pkey_mgr.c", "osm_pkey_rcv.c", "osm_port.c",
	"osm_port_info_rcv.c", "osm_prtn.c", "osm_prtn_config.c", "osm_qos.c",
	"osm_qos_parser_l.c", "osm_qos_parser_y.c", "osm_qos_policy.c", "osm_remote_sm.c",
	"osm_req.c", "osm_resp.c", "osm_router.c", "osm_sa.c", "osm_sa_class_port_info.c",
	"osm_sa_guidinfo_record.c", "osm_sa_informinfo.c", "osm_sa_lft_record.c",
	"osm_sa_link_record.c", "osm_sa_mad_ctrl.c", "osm_sa_mcmember_record.c",
	"osm_sa_mft_record.c", "osm_sa_multipath_record.c", "osm_sa_node_record.c",
	"osm_sa_path_record.c", "osm_sa_pkey_record.c", "osm_sa_portinfo_record.c",
	"osm_sa_service_record.c", "osm_sa_slvl_record.c", "osm_sa_sminfo_record.c",
	"osm_sa_sw_info_record.c", "osm_sa_vlarb_record.c", "osm_service.c",
	"osm_slvl_map_rcv.c", "osm_sm.c", "osm_sminfo_rcv.c", "osm_sm_mad_ctrl.c",
	"osm_sm_state_mgr.c", "osm_state_mgr.c", "osm_subnet.c", "osm_sw_info_rcv.c",
	"osm_switch.c", "osm_torus.c", "osm_trap_rcv.c", "osm_ucast_cache.c", "osm_ucast_dnup.c",
	"osm_ucast_file.c", "osm_ucast_ftree.c", "osm_ucast_lash.c", "osm_ucast_mgr.c",
	"osm_ucast_updn.c", "osm_vendor_ibumad.c", "osm_vl15intf.c", "osm_vl_arb_rcv.c", "st.c",
	"osm_ucast_dfsssp.c", "osm_congestion_control.c", "osm_ucast_nue.c",
};

static void all_names_of_the_peer_are_known(void **state)
{
	assert_int_equal(ARRAY_SIZE(names), 91);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *ours = conf_modules_peer(names[i]);
		_cleanup_free_ char *copy = NULL;
		char *save = NULL;

		assert_non_null(ours);
		copy = xstrdup(ours);
		for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
			_cleanup_free_ char *text = xasprintf("%s 1\n", w);
			_cleanup_free_ char *read = reading(text);

			if (strcmp(w, "perf/") != 0 && strchr(read, '\n'))
				fail_msg("%s stands for %s, which is not there", names[i], w);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_and_folders_of_ours),
		cmocka_unit_test(paths_of_earlier_releases_find_the_file),
		cmocka_unit_test(every_separator_and_base),
		cmocka_unit_test(files_of_the_peer_stand_for_ours),
		cmocka_unit_test(what_is_wrong_is_said_and_the_rest_counts),
		cmocka_unit_test(all_names_of_the_peer_are_known),
	};

	return cmocka_run_group_tests_name("modules", tests, NULL, NULL);
}
