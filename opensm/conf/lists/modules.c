// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads per-module-logging.conf. The makefile lists our own source files (modules-own.h); `peers`
 * is the only place that knows what OpenSM's are called, and what does the same here.
 */
#include "conf/lists/modules.h"

#include <opensm/conf/modules-own.h> /* made by the makefile */
#include <stdio.h>
#include <string.h>

#include "conf/text/lines.h"
#include "util/mem.h"
#include "util/str.h"

#define NAME_LEN 64
#define BLANKS	 " \t\r\v\f"
#define BETWEEN	 BLANKS "=,"

static const char *const own_files[] = { OWN_FILES };

static const struct {
	const char *name, *ours;
} peers[] = {
	/* the process */
	{ "main.c", "opensm/main.c" },
	{ "osm_opensm.c", "daemon/daemon.c opensm/main.c" },
	{ "osm_subnet.c", "daemon/conf_reload.c sm/sweep/reload.c conf/" },
	{ "osm_log.c", "util/" },
	{ "osm_helper.c", "util/ ib/" },
	{ "osm_console.c", "console/ daemon/listen_console.c" },
	{ "osm_console_io.c", "console/ daemon/listen_console.c" },
	{ "osm_dump.c", "dump/ daemon/daemon.c" },
	{ "osm_event_plugin.c", "plugin/" },
	{ "osm_db_files.c", "fabric/ sm/base/lids.c" },
	{ "osm_db_pack.c", "fabric/ sm/base/lids.c" },
	{ "osm_mad_pool.c", "mad/" },
	{ "osm_vl15intf.c", "mad/" },
	{ "osm_vendor_ibumad.c", "libvendor/" },
	{ "st.c", "util/" },
	/* sweeps and election */
	{ "osm_sm.c", "sm/sm.c sm/sweep/sweep.c sm/sweep/steps.c" },
	{ "osm_state_mgr.c", "sm/sweep/sweep.c sm/sweep/steps.c sm/read/discover.c "
			     "sm/read/incremental.c sm/read/light.c sm/out_of_use/unserved.c" },
	{ "osm_sm_state_mgr.c", "sm/elect/elect.c sm/elect/elect_poll.c sm/answers/replica.c" },
	{ "osm_sminfo_rcv.c", "sm/elect/elect_set.c sm/elect/remote_sm.c sm/elect/elect.c" },
	{ "osm_remote_sm.c", "sm/elect/remote_sm.c" },
	{ "osm_sm_mad_ctrl.c", "sm/inbox.c" },
	{ "osm_req.c", "sm/read/discover.c sync/" },
	{ "osm_resp.c", "sm/inbox.c" },
	{ "osm_drop_mgr.c", "sm/read/forget.c sm/read/incremental.c" },
	{ "osm_node.c", "fabric/ sm/read/discover.c" },
	{ "osm_port.c", "fabric/ sm/read/discover.c" },
	{ "osm_switch.c", "fabric/ sm/read/discover.c" },
	{ "osm_router.c", "fabric/ sm/read/discover.c" },
	{ "osm_node_info_rcv.c", "sm/read/discover.c" },
	{ "osm_node_desc_rcv.c", "sm/read/discover.c sm/read/light.c" },
	{ "osm_port_info_rcv.c", "sm/read/discover.c" },
	{ "osm_mlnx_ext_port_info_rcv.c", "sm/read/discover.c" },
	{ "osm_sw_info_rcv.c", "sm/read/discover.c sm/read/light.c" },
	{ "osm_trap_rcv.c", "sm/trust/traps.c sm/out_of_use/" },
	/* what is written */
	{ "osm_lid_mgr.c", "sm/base/lids.c plan/" },
	{ "osm_link_mgr.c", "sm/sweep/program.c sync/ plan/" },
	{ "osm_guid_mgr.c", "sync/ sa/guidinfo.c" },
	{ "osm_guid_info_rcv.c", "sm/read/light.c sm/read/read_cell.c" },
	{ "osm_pkey.c", "plan/ sm/base/partition.c" },
	{ "osm_pkey_mgr.c", "plan/ sm/base/partition.c sync/" },
	{ "osm_pkey_rcv.c", "sm/read/light.c sm/read/read_cell.c" },
	{ "osm_prtn.c", "sm/base/partition.c" },
	{ "osm_prtn_config.c", "sm/base/partition.c sm/sweep/reload.c" },
	{ "osm_qos.c", "plan/ sync/" },
	{ "osm_qos_parser_l.c", "conf/" },
	{ "osm_qos_parser_y.c", "conf/" },
	{ "osm_qos_policy.c", "plan/" },
	{ "osm_slvl_map_rcv.c", "sm/read/read_cell.c" },
	{ "osm_vl_arb_rcv.c", "sm/read/read_cell.c" },
	{ "osm_congestion_control.c", "plan/ sync/" },
	/* routes */
	{ "osm_ucast_mgr.c", "sm/routing/routing.c sm/routing/route_job.c route/" },
	{ "osm_ucast_cache.c", "route/ sm/routing/route_job.c" },
	{ "osm_ucast_file.c", "route/" },
	{ "osm_ucast_updn.c", "route/" },
	{ "osm_ucast_dnup.c", "route/" },
	{ "osm_ucast_ftree.c", "route/" },
	{ "osm_ucast_lash.c", "route/" },
	{ "osm_ucast_dfsssp.c", "route/" },
	{ "osm_ucast_nue.c", "route/" },
	{ "osm_torus.c", "route/" },
	{ "osm_mesh.c", "route/" },
	{ "osm_lin_fwd_rcv.c", "sm/read/adopt.c sync/" },
	{ "osm_mcast_mgr.c", "sm/sweep/multicast.c route/ sync/" },
	{ "osm_mcast_tbl.c", "sm/sweep/multicast.c sync/" },
	{ "osm_mcast_fwd_rcv.c", "sm/sweep/multicast.c sync/" },
	{ "osm_mtree.c", "route/" },
	/* subnet administration */
	{ "osm_sa.c", "sa/ sm/answers/admin.c" },
	{ "osm_sa_mad_ctrl.c", "sa/sa.c sa/base/answer.c sm/answers/admin.c" },
	{ "osm_sa_class_port_info.c", "sa/base/answer.c" },
	{ "osm_sa_guidinfo_record.c", "sa/guidinfo.c" },
	{ "osm_sa_informinfo.c", "sa/notice/inform.c sa/notice/report.c" },
	{ "osm_inform.c", "sa/notice/inform.c sa/notice/report.c sa/events.c" },
	{ "osm_sa_mcmember_record.c", "sa/mcast/mcmember.c sa/mcast/mgroup_view.c" },
	{ "osm_mcm_port.c", "sa/mcast/mgroup.c" },
	{ "osm_multicast.c", "sa/mcast/mgroup.c sa/mcast/mgroup_view.c" },
	{ "osm_sa_path_record.c", "sa/path/path.c sa/base/answer.c" },
	{ "osm_sa_multipath_record.c", "sa/path/multipath.c sa/base/answer.c" },
	{ "osm_sa_service_record.c", "sa/service.c" },
	{ "osm_service.c", "sa/service.c" },
	{ "osm_sa_lft_record.c", "sa/records_tables.c sa/base/answer.c" },
	{ "osm_sa_mft_record.c", "sa/records_tables.c sa/base/answer.c" },
	{ "osm_sa_pkey_record.c", "sa/records_tables.c sa/base/answer.c" },
	{ "osm_sa_slvl_record.c", "sa/records_tables.c sa/base/answer.c" },
	{ "osm_sa_vlarb_record.c", "sa/records_tables.c sa/base/answer.c" },
	{ "osm_sa_link_record.c", "sa/records_ports.c sa/base/answer.c" },
	{ "osm_sa_node_record.c", "sa/records.c sa/base/answer.c" },
	{ "osm_sa_portinfo_record.c", "sa/records_ports.c sa/base/answer.c" },
	{ "osm_sa_sminfo_record.c", "sa/records.c sa/base/answer.c" },
	{ "osm_sa_sw_info_record.c", "sa/records.c sa/base/answer.c" },
	/* performance manager */
	{ "osm_perfmgr.c", "perf/" },
	{ "osm_perfmgr_db.c", "perf/" },
};

const char *conf_modules_peer(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(peers); i++)
		if (strcmp(peers[i].name, name) == 0)
			return peers[i].ours;
	return NULL;
}

/* ---- names --------------------------------------------------------------------------------- */

struct reader {
	struct conf_modules *to;
	size_t cap;
	struct conf_report *report;
};

static void add_module(struct reader *rd, const char *name, unsigned mask)
{
	GROW(rd->to->items, rd->to->n + 1, rd->cap);
	rd->to->items[rd->to->n++] = (struct log_module){ xstrdup(name), mask };
}

static void add_peer(struct reader *rd, const char *ours, unsigned mask)
{
	_cleanup_free_ char *copy = xstrdup(ours);
	char *save = NULL;

	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		add_module(rd, w, mask);
}

static const char *base_name(const char *file)
{
	return strrchr(file, '/') + 1;
}

/* A folder that a source file is in: "sm/" of "sm/trust/traps.c". */
static bool is_folder_of(const char *file, const char *name, size_t len)
{
	return strncmp(file, name, len) == 0 && file[len] == '/';
}

/*
 * A path of an earlier release: the file of that name, if the top folder of the path has just one.
 * "sm/trust/traps.c" for "sm/traps.c". NULL: none, or several.
 */
static const char *find_moved(const char *path)
{
	const char *slash = strchr(path, '/'), *found = NULL;

	if (!slash)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(own_files); i++) {
		if (!is_folder_of(own_files[i], path, (size_t)(slash - path)) ||
		    strcmp(base_name(own_files[i]), base_name(path)) != 0)
			continue;
		if (found)
			return NULL;
		found = own_files[i];
	}
	return found;
}

/* A file of ours with or without its folder, or with a former one. Several may have one name. */
static bool add_own_files(struct reader *rd, const char *name, unsigned mask)
{
	const char *moved;
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(own_files); i++) {
		if (strcmp(own_files[i], name) != 0 && strcmp(base_name(own_files[i]), name) != 0)
			continue;
		add_module(rd, own_files[i], mask);
		found = true;
	}
	moved = found ? NULL : find_moved(name);
	if (moved)
		add_module(rd, moved, mask);
	return found || moved;
}

static bool add_own_folder(struct reader *rd, const char *name, unsigned mask)
{
	size_t len = strlen(name);

	len -= len && name[len - 1] == '/';
	for (size_t i = 0; i < ARRAY_SIZE(own_files); i++) {
		_cleanup_free_ char *folder = NULL;

		if (!is_folder_of(own_files[i], name, len))
			continue;
		folder = xasprintf("%.*s/", (int)len, name);
		add_module(rd, folder, mask);
		return true;
	}
	return false;
}

/* The known name most like it; NULL: none is. */
static const char *nearest_to(const char *name)
{
	const char *words[ARRAY_SIZE(peers) + 2 * ARRAY_SIZE(own_files)];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(peers); i++)
		words[n++] = peers[i].name;
	for (size_t i = 0; i < ARRAY_SIZE(own_files); i++) {
		words[n++] = own_files[i];
		words[n++] = base_name(own_files[i]);
	}
	return str_nearest(name, words, n);
}

/* ---- lines --------------------------------------------------------------------------------- */

static void add_line(struct reader *rd, const struct conf_place *at, const char *name,
			unsigned mask)
{
	const char *ours = conf_modules_peer(name), *near;
	char quoted[CONF_QUOTE_MAX];

	if (ours)
		add_peer(rd, ours, mask);
	if (ours || add_own_files(rd, name, mask) || add_own_folder(rd, name, mask))
		return;
	near = nearest_to(name);
	conf_report_at(rd->report, CONF_WARNING, at,
		       "%s is no source file or folder%s%s%s; the line is ignored",
		       conf_quote(name, strlen(name), quoted), near ? " (did you mean " : "",
		       near ? near : "", near ? "?)" : "");
}

/* The word at *p, cut off from what follows, which *p is then. */
static char *cut_word(char **p, const char *end)
{
	char *word = *p;
	size_t len = strcspn(word, end);

	*p = word + len;
	if (**p) {
		**p = '\0';
		*p += 1;
		*p += strspn(*p, end);
	}
	return word;
}

static void read_module(void *arg, struct line *line)
{
	struct reader *rd = arg;
	char *p = line->text, *name, *word, quoted[CONF_QUOTE_MAX];
	struct conf_place at_name, at_word;
	uint64_t mask;

	p[strcspn(p, "#")] = '\0';
	p += strspn(p, BLANKS);
	if (!*p)
		return;
	at_name = line_place(line, p);
	name = cut_word(&p, BETWEEN);
	at_word = line_place(line, p);
	word = cut_word(&p, BLANKS);
	if (rd->to->n >= CONF_MODULES_MAX)
		conf_report_at(rd->report, CONF_WARNING, &at_name,
			       "more than %d modules; the line is ignored", CONF_MODULES_MAX);
	else if (str_to_u64(word, 0, 0xFF, &mask) < 0)
		conf_report_at(rd->report, CONF_ERROR, &at_word,
			       "%s; expected log flags between 0 and 0xff; the line is ignored",
			       *word ? conf_quote(word, strlen(word), quoted) : "nothing");
	else
		add_line(rd, &at_name, name, (unsigned)mask);
}

int conf_modules_read_text(const char *path, const char *text, size_t len, struct conf_modules *ret,
			   struct conf_report *r)
{
	struct reader rd = { .to = ret, .report = r };

	*ret = (struct conf_modules){ 0 };
	return lines_split(path, text, len, r, read_module, &rd);
}

int conf_modules_read(const char *path, struct conf_modules *ret, struct conf_report *r)
{
	struct reader rd = { .to = ret, .report = r };

	*ret = (struct conf_modules){ 0 };
	return lines_read(path, r, read_module, &rd);
}

void conf_modules_clear(struct conf_modules *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(as_owner(m->items[i].name));
	free(m->items);
	*m = (struct conf_modules){ 0 };
}
