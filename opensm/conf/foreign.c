// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names of options that only NVIDIA's subnet manager has, so that files made for it get "not
 * supported here" rather than "unknown". Of their values only those that switch nothing on are
 * known.
 */
#include "conf/foreign.h"

#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "util/mem.h"
#include "util/str.h"

#define NO_VS_KEY "no device gets a key for MADs of the vendor's class 0x0A"
#define NO_N2N_KEY                                                                                 \
	"switches that reroute by themselves, class 0x0C, are not set up, and get no key for it"

#define NO_AM_KEY "the aggregation manager of SHARP is not run here, and gets no key"

/*
 * Options that would protect something, and the protection that is missing. A name that ends in '_'
 * is a prefix. With `enable`, the other options of the group ask for nothing by themselves: files
 * of defaults contain them with values.
 */
static const struct protection {
	const char *name, *why;
	const char *enable; /* the option that switches the group on; NULL: each option by itself */
} protections[] = {
	{ "am_key", NO_AM_KEY, NULL },
	{ "am_key_", NO_AM_KEY, "am_key_enable" },
	{ "key_mgr_seed",
	  "CC_Keys are made from the seed of M_Keys, and no VS or N2N key is given out", NULL },
	{ "m_key_protect_bits", "the option is called m_key_protection_level", NULL },
	{ "n2n_key_", NO_N2N_KEY, "n2n_key_enable" },
	{ "service_name2key_map_file", "every host may register every service", NULL },
	{ "tenants_policy_", "partitions of tenants are made by opensmctl and opensm-rest",
	  "tenants_policy_enabled" },
	{ "validate_smps",
	  "answers are compared with what was asked, and nothing else is checked", NULL },
	{ "vs_key_", NO_VS_KEY, "vs_key_enable" },
};

/* Sorted, for bisection. */
static const char *const others[] = {
	"activity_report_subjects",
	"adaptive_timeout_sl_mask",
	"additional_gi_supporting_devices",
	"additional_mepi_force_devices",
	"adv_routing_engine",
	"aguid_default_hop_limit",
	"aguid_inout_notice",
	"allow_sm_port_reset",
	"ar_mode",
	"ar_sl_mask",
	"ar_transport_mask",
	"ar_tree_asymmetric_flow",
	"auto_join_hca_wo_topo",
	"ca_port_num_limit",
	"ca_port_soft_limit",
	"cache_ar_group_id",
	"cache_files_dir",
	"calc_missing_routes",
	"client_rereg_mode",
	"conf_template",
	"congestion_control_policy_file",
	"consolidate_ipv4_mask",
	"const_multicast",
	"default_mcg_mtu",
	"default_mcg_rate",
	"device_configuration_file",
	"dfp_down_up_turns_mode",
	"dfp_find_roots_color_algorithm",
	"dfp_max_cas_on_spine",
	"disable_default_gi_support",
	"dor_hyper_cube_mode",
	"drop_subscr_on_report_fail",
	"drop_unreachable_event_subscriptions",
	"drop_unreachable_ports_enabled",
	"dump_ar",
	"enable_ar_by_device_cap",
	"enable_ar_group_copy",
	"enable_crashd",
	"enable_empty_arlft_optimization",
	"enable_inc_mc_routing",
	"enable_performance_logging",
	"enable_queries_during_routing",
	"enable_sa",
	"enable_sm_port_failover",
	"enable_subnet_lst",
	"enable_virt_rec_ext",
	"enable_vl_packing",
	"enhanced_missing_routes",
	"enhanced_qos_policy_file",
	"enhanced_qos_vport0_unlimit_default_rl",
	"fabric_mode_policy_file",
	"fabric_mode_profile",
	"fast_recovery_conf_file",
	"fast_recovery_enabled",
	"find_roots_color_algorithm",
	"flid_compression",
	"force_heavy_sweep_window",
	"force_link_speed_ext2",
	"ftree_ca_order_dump_file",
	"get_mft_tables",
	"global_flid_end",
	"global_flid_start",
	"gmp_threads",
	"gmp_traps_threads_num",
	"hbf_hash_fields",
	"hbf_hash_type",
	"hbf_seed",
	"hbf_seed_type",
	"hbf_sl_mask",
	"hbf_weights",
	"held_back_sw_file",
	"improved_lmc_path_distribution",
	"issu_mode",
	"issu_pre_upgrade_time",
	"issu_timeout",
	"lids_per_rtr",
	"load_inform_info_from_sadb",
	"local_flid_end",
	"local_flid_start",
	"log_num_backlogs",
	"master_sm_lid",
	"max_alt_dr_path_retries",
	"max_cas_on_spine",
	"max_msg_fifo_len",
	"max_neighbor_mtu",
	"max_op_vls_ca",
	"max_op_vls_rtr",
	"max_op_vls_sw",
	"max_sa_reports_on_wire",
	"max_sa_reports_queued",
	"max_seq_redisc",
	"max_threads_per_core",
	"max_topologies_per_sw",
	"max_wire_smps_per_device",
	"mc_primary_root_guid",
	"mc_secondary_root_guid",
	"mepi_cache_enabled",
	"mepi_enabled_speeds",
	"mlnx_congestion_control",
	"mlnx_enhanced_link_enable",
	"n2n_max_outstanding_mads",
	"nvlink_enable",
	"offsweep_balancing_enabled",
	"offsweep_balancing_window",
	"osm_perflog_dump_limit",
	"osm_stats_dump_limit",
	"osm_stats_dump_per_sm_port",
	"osm_stats_interval",
	"override_create_mcg_sl",
	"pfrn_mask_clear_timeout",
	"pfrn_mask_force_clear_timeout",
	"pfrn_over_router_enabled",
	"pfrn_sl",
	"pgrp_policy_file",
	"planarized_routing_enabled",
	"plugin_name",
	"plugin_options",
	"port_mtu_change_action",
	"port_recovery_policy_enabled",
	"port_speed_change_action",
	"port_vl_change_action",
	"ppcc_algo_dir",
	"pqft_structure",
	"prism_an_lmc",
	"qos_config_vl_enabled",
	"rch_policy_file",
	"rediscovery_link_penalty_step",
	"rediscovery_max_link_penalty",
	"rediscovery_max_node_penalty",
	"rediscovery_node_penalty_step",
	"reply_lid_smps_in_dr",
	"rereg_on_guid_migr",
	"respond_unknown_lid_traps",
	"router_policy_enabled",
	"router_policy_file",
	"routing_engine_names",
	"routing_flags",
	"routing_threads_num",
	"rtr_aguid_enable",
	"rtr_lmc",
	"rtr_pr_flow_label",
	"rtr_pr_mtu",
	"rtr_pr_rate",
	"rtr_pr_sl",
	"rtr_pr_tclass",
	"rtr_selection_algo_parameters",
	"rtr_selection_function",
	"rtr_selection_seed",
	"sa_db_dump_file",
	"sharp_enabled",
	"shield_mode",
	"sm_assign_guid_func",
	"sm_db_dump",
	"smp_threads",
	"subnet_lst_file",
	"support_mepi_speeds",
	"support_mlnx_enhanced_link",
	"suppress_mc_pkey_traps",
	"sweep_every_hup_signal",
	"switch_name",
	"syslog_log_flags",
	"topo_policy_file",
	"updn_lid_tracking_converge_routes",
	"updn_lid_tracking_mode",
	"updn_lid_tracking_prefer_total_routes",
	"use_optimized_port_mask_slvl",
	"use_scatter_for_switch_lid",
	"validate_conf_files",
	"verbose_bypass_policy_file",
	"virt_default_hop_limit",
	"virt_dump_file",
	"virt_enabled",
	"virt_max_ports_in_process",
	"vs_max_outstanding_mads",
};

static int compare(const void *key, const void *entry)
{
	return strcmp(key, *(const char *const *)entry);
}

#define IS_AMONG(key, list)                                                                        \
	(bsearch(key, list, ARRAY_SIZE(list), sizeof((list)[0]), compare) != NULL)

bool foreign_is_nvidia(const char *key)
{
	/* Checks of port health that this program does not make. */
	if (str_starts(key, "hm_"))
		return conf_option_find(key) == CONF_N_OPTIONS;
	return foreign_lack(key) || IS_AMONG(key, others);
}

bool foreign_is_old(const char *key)
{
	static const char *const names[] = {
		"no_multicast_option",
		"no_qos",
		"pfn_ui_mcast_fdb_assign",
		"pfn_ui_mcast_fdb_assign_ctx",
		"pfn_ui_pre_lid_assign",
		"pfn_ui_pre_lid_assign_ctx",
		"updn_guid_file",
	};

	/* The former names of options qos_ca_... */
	if (str_starts(key, "qos_hca_"))
		return true;
	return IS_AMONG(key, names);
}

bool foreign_is_engine(const char *name)
{
	static const char *const names[] = {
		"ar_dor", "ar_ftree", "ar_minhop", "ar_torus", "ar_updn", "chain",
		"dfp", "dfp2", "kdor-ghc", "kdor-hc", "pqft",
	};

	return IS_AMONG(name, names);
}

static bool is_of(const char *key, const char *name)
{
	size_t len = strlen(name);

	return name[len - 1] == '_' ? strncmp(key, name, len) == 0 : strcmp(key, name) == 0;
}

static const struct protection *protection_of(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(protections); i++)
		if (is_of(key, protections[i].name))
			return &protections[i];
	return NULL;
}

const char *foreign_lack(const char *key)
{
	const struct protection *p = protection_of(key);

	return p ? p->why : NULL;
}

bool foreign_asks(const char *key, const char *value)
{
	static const char *const nothing[] = { "",   "(null)", "null",	  "none",    "off",
					       "no", "false",  "disable", "disabled" };
	const struct protection *p = protection_of(key);
	uint64_t number;

	if (p && p->enable && strcmp(key, p->enable) != 0)
		return false;
	for (unsigned i = 0; i < ARRAY_SIZE(nothing); i++)
		if (strcasecmp(value, nothing[i]) == 0)
			return false;
	return str_to_u64(value, 0, UINT64_MAX, &number) < 0 || number;
}
