// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compares the configurations of standby and master. Managers of ours tell each other digests of
 * their settings, one per group below; a group that differs is logged on both sides, as the fabric
 * would be set up differently after a failover. A setting belongs to a group if it affects the
 * fabric or hosts; priority, folders, timing and logging may differ. If a setting names a file, the
 * content of the file is compared; of the partition file its meaning; of a key its mark
 * (base/key_mark.h).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sm/answers/replica_internal.h"
#include "sm/tenants/tenancy.h"
#include "sm/base/about.h"
#include "sm/base/key_mark.h"
#include "util/file.h"
#include "util/hash.h"
#include "util/mem.h"

#define LAYOUT	 2 /* version of the layout of the data; another version cannot be compared */
#define FILE_MAX (16u << 20)
#define REFRESH	 (60 * MONO_S) /* period at which files are read again */
#define FORGET	 (600 * MONO_S)
#define MEET	 (5 * MONO_S) /* time for a standby to get the master's configuration */
/* Time for files to be changed, and read again, on both hosts. */
#define SETTLE	 (90 * MONO_S)

enum { NONE, PARTITIONS, PREFIXES, ROUTING, QOS, ADDRESSES, PORTS, SERVICE, CONGESTION, GROUPS };

_Static_assert(GROUPS - 1 == SMC_DIGESTS, "a digest for each group");

static const char *const group_names[GROUPS] = {
	[PARTITIONS] = "partitions",
	[PREFIXES] = "prefix routes",
	[ROUTING] = "routing",
	[QOS] = "QoS",
	[ADDRESSES] = "subnet prefix, LMC and keys",
	[PORTS] = "port settings",
	[SERVICE] = "subnet administration",
	[CONGESTION] = "congestion control",
};

/* Sets the group by section of opensm.conf; exceptions within sections follow. */
static const struct {
	enum conf_id id;
	uint8_t group;
} sections[] = {
	{ CONF_ID_subnet_timeout, PORTS },   { CONF_ID_part_enforce, PARTITIONS },
	{ CONF_ID_routing_engine, ROUTING }, { CONF_ID_qos, QOS },
	{ CONF_ID_congestion_control, CONGESTION },
	{ CONF_ID_cc_sw_cong_setting_threshold, CONGESTION },
	{ CONF_ID_cc_ca_cong_setting_port_control, CONGESTION },
	{ CONF_ID_cc_cct, CONGESTION },
}, exceptions[] = {
	{ CONF_ID_guid, NONE },
	{ CONF_ID_m_key, ADDRESSES },
	{ CONF_ID_m_key_lease_period, ADDRESSES },
	{ CONF_ID_m_key_protection_level, ADDRESSES },
	{ CONF_ID_m_key_lookup, NONE },
	{ CONF_ID_sm_key, ADDRESSES },
	{ CONF_ID_sa_key, ADDRESSES },
	{ CONF_ID_subnet_prefix, ADDRESSES },
	{ CONF_ID_lmc, ADDRESSES },
	{ CONF_ID_lmc_esp0, ADDRESSES },
	{ CONF_ID_partition_config_file, NONE }, /* digest_partitions() compares its content */
	{ CONF_ID_sa_db_file, NONE },
	{ CONF_ID_sa_db_dump, NONE },
	{ CONF_ID_prefix_routes_file, PREFIXES },
	{ CONF_ID_drop_event_subscriptions, SERVICE },
	{ CONF_ID_ipoib_mcgroup_creation_validation, SERVICE },
	{ CONF_ID_mcgroup_join_validation, SERVICE },
	{ CONF_ID_max_rate_enum, SERVICE },
	{ CONF_ID_enable_quirks, SERVICE },
	{ CONF_ID_disable_multicast, SERVICE },
	{ CONF_ID_consolidate_ipv6_snm_req, SERVICE },
	{ CONF_ID_sa_enhanced_trust_model, SERVICE },
	{ CONF_ID_sa_etm_allow_untrusted_guidinfo_rec, SERVICE },
	{ CONF_ID_sa_etm_allow_guidinfo_rec_by_vf, SERVICE },
	{ CONF_ID_sa_etm_allow_untrusted_proxy_requests, SERVICE },
	{ CONF_ID_sa_etm_max_num_mcgs, SERVICE },
	{ CONF_ID_sa_etm_max_num_srvcs, SERVICE },
	{ CONF_ID_sa_etm_max_num_event_subs, SERVICE },
	{ CONF_ID_sa_rate_threshold, SERVICE },
	{ CONF_ID_sa_check_sgid_spoofing, SERVICE },
	{ CONF_ID_sa_pr_full_world_queries_allowed, SERVICE },
	{ CONF_ID_default_membership, PARTITIONS },
	{ CONF_ID_cc_no_throttle_sls, CONGESTION },
	{ CONF_ID_cc_profile, CONGESTION },
	{ CONF_ID_cc_sw_port_cong_setting, CONGESTION },
	{ CONF_ID_quirks_file, NONE },
	{ CONF_ID_expected_topology_file, PORTS },
	{ CONF_ID_topo_config_file, PORTS },
	{ CONF_ID_topo_config_enabled, PORTS },
	{ CONF_ID_expected_topology_links, PORTS },
	{ CONF_ID_expected_topology_node_guid, PORTS },
	{ CONF_ID_expected_topology_port_guid, PORTS },
	{ CONF_ID_expected_topology_description, PORTS },
	{ CONF_ID_expected_topology_rate, PORTS },
	{ CONF_ID_expected_topology_cap, PORTS },
	{ CONF_ID_expected_topology_grace, PORTS },
};

unsigned config_group_of(enum conf_id id)
{
	const struct conf_option *o = conf_option(id);

	for (size_t i = 0; i < ARRAY_SIZE(exceptions); i++) {
		if (exceptions[i].id == id)
			return exceptions[i].group;
	}
	if (o->state != CONF_STATE_EFFECTIVE)
		return NONE; /* without effect, or an option of ours that may differ */
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		if (!strcmp(conf_option(sections[i].id)->section, o->section))
			return sections[i].group;
	}
	return NONE;
}

/* ---- digests ------------------------------------------------------------------------------- */

static uint64_t hash_number(uint64_t h, uint64_t v)
{
	uint8_t bytes[8];

	ib_bits_put(bytes, 0, 64, v);
	return hash_bytes(h, bytes, sizeof(bytes));
}

/* Folds a hash into a digest, which is never 0, as 0 stands for unknown. */
static uint32_t digest_of(uint64_t h)
{
	uint32_t d = (uint32_t)(h ^ h >> 32);

	return d ? d : 1;
}

static uint64_t hash_file(uint64_t h, const char *path)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (file_read(path, FILE_MAX, &text, &len) < 0)
		return hash_number(h, UINT64_MAX);
	return hash_bytes(h, text, len);
}

static uint64_t hash_option(uint64_t h, const struct conf *c, enum conf_id id)
{
	const struct conf_option *o = conf_option(id);
	bool is_path = o->type == CONF_STRING && strstr(o->range, "path");
	_cleanup_free_ char *text = NULL;

	h = hash_number(h, id);
	if (id == CONF_ID_qos_policy_file && !c->qos)
		return h; /* the file is not read */
	if (conf_is_secret(id))
		return hash_number(h, key_mark(c, id));
	text = conf_value_text(c, id);
	if (is_path && *(const conf_string *)((const char *)c + o->offset))
		return hash_file(h, text);
	return hash_bytes(h, text, strlen(text) + 1);
}

static uint64_t hash_partition(uint64_t h, const struct partition *p)
{
	h = hash_number(h, (uint64_t)p->api << 32 | (uint64_t)p->pkey << 8 | p->sl);
	for (size_t i = 0; i < p->n_items; i++) {
		const struct partition_item *item = &p->items[i];

		h = hash_number(h, item->guid);
		h = hash_number(h, (uint64_t)item->ports << 16 | item->member << 8 | item->indx0);
	}
	return h;
}

/* Hashes a group without its packet life time, which subnet_timeout gives. */
static uint64_t hash_partition_group(uint64_t h, const struct partition_group *g)
{
	h = hash_bytes(h, g->mgid, sizeof(g->mgid));
	h = hash_number(h,
			(uint64_t)g->qkey << 32 | (uint64_t)g->pkey << 16 | g->mtu << 8 | g->rate);
	return hash_number(h, (uint64_t)g->flow << 32 | g->sl << 16 | g->tclass << 8 | g->hop);
}

static uint64_t hash_partitions(uint64_t h, const struct partitions *p)
{
	for (size_t i = 0; i < p->n; i++)
		h = hash_partition(h, &p->list[i]);
	for (size_t i = 0; i < p->n_groups; i++)
		h = hash_partition_group(h, &p->groups[i]);
	return hash_number(h, p->n);
}

/*
 * Hashes the partitions: a master's are those in force; a standby reads the file, as it has none or
 * old ones.
 */
static uint64_t hash_partition_file(uint64_t h, const struct sm *sm)
{
	_cleanup_(partitions_unrefp) struct partitions *p = NULL;
	struct conf_report report = { 0 };
	int r;

	if (sm->state == SM_MASTER && partition_of_file(sm))
		return hash_partitions(h, partition_of_file(sm));
	r = partitions_read(sm->conf->partition_config_file, sm->conf, &report, &p);
	conf_report_clear(&report);
	if (r == -ENOENT && !conf_file_is_needed(CONF_FILE_PARTITIONS, sm->conf))
		p = partitions_builtin(sm->conf);
	if (!p) /* after faults the partitions in force are unknown */
		return hash_file(hash_number(h, UINT64_MAX), sm->conf->partition_config_file);
	return hash_partitions(h, p);
}

static void make_digests(const struct sm *sm, uint32_t ret[SMC_DIGESTS])
{
	uint64_t h[GROUPS];

	for (unsigned i = 0; i < GROUPS; i++)
		h[i] = HASH_START;
	for (unsigned id = 0; id < CONF_N_OPTIONS; id++) {
		unsigned group = config_group_of(id);

		h[group] = hash_option(h[group], sm->conf, id);
	}
	h[PARTITIONS] = hash_partition_file(h[PARTITIONS], sm);
	for (unsigned i = 1; i < GROUPS; i++)
		ret[i - 1] = digest_of(h[i]);
}

/* ---- managers that differ ----------------------------------------------------------------- */

static unsigned differing_groups(const struct replica *r, const struct config_peer *p)
{
	unsigned mask = 0;

	for (unsigned i = 1; i < GROUPS; i++) {
		uint32_t a = r->config.digests[i - 1], b = p->digests[i - 1];

		if (a && b && a != b)
			mask |= 1u << i;
	}
	return mask;
}

static void name_groups(unsigned mask, char *ret, size_t cap)
{
	size_t len = 0;

	*ret = '\0';
	for (unsigned i = 1; i < GROUPS && len < cap; i++) {
		if (mask >> i & 1)
			len += (size_t)snprintf(ret + len, cap - len, "%s%s", len ? "; " : "",
						group_names[i]);
	}
}

static void tell_difference(struct sm *sm, const struct config_peer *p)
{
	const char *role = sm->state == SM_MASTER ? "standby" : "master";
	char names[160];
	unsigned more;

	if (!log_allow(&sm->m.replica->config.log, sm->now, &more))
		return;
	name_groups(p->differs, names, sizeof(names));
	if (p->differs)
		log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_ERROR,
			 "this %s is configured otherwise than this host (%s): a failover will "
			 "change the fabric; make the files on both hosts equal "
			 "(opensmctl managers --diff)",
			 role, names);
	else
		log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_INFO,
			 "this %s is configured as this host is", role);
}

static void compare_digests(struct sm *sm, struct config_peer *p)
{
	unsigned differs = differing_groups(sm->m.replica, p);

	if (differs != p->differs && sm->now >= p->tell_at)
		p->tell_at = sm->now + SETTLE;
	p->differs = differs;
	if (differs == p->told || (sm->conf->replicate_configuration && sm->now < p->tell_at))
		return;
	p->told = p->differs;
	tell_difference(sm, p);
}

static bool is_old(const struct config_peer *p, mono_t now)
{
	return now >= p->heard + FORGET;
}

static void drop_old_peers(struct replica *r, mono_t now)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->config.n_peers; i++) {
		if (!is_old(&r->config.peers[i], now))
			r->config.peers[n++] = r->config.peers[i];
	}
	r->config.n_peers = n;
}

static struct config_peer *peer_of(struct replica *r, guid_t guid, mono_t now)
{
	for (unsigned i = 0; i < r->config.n_peers; i++) {
		if (r->config.peers[i].guid == guid)
			return &r->config.peers[i];
	}
	drop_old_peers(r, now);
	if (r->config.n_peers == CONFIG_PEERS)
		return NULL;
	r->config.peers[r->config.n_peers] =
		(struct config_peer){ .guid = guid, .tell_at = now + MEET };
	return &r->config.peers[r->config.n_peers++];
}

void config_compare(struct sm *sm, guid_t guid, const uint8_t *record)
{
	const uint8_t *config = ib_at(record, SVR_DATA8_0);
	struct config_peer *p;

	if (ib_get(config, SMC_LAYOUT) != LAYOUT || guid == sm->tr->port_guid)
		return;
	config_refresh(sm);
	p = peer_of(sm->m.replica, guid, sm->now);
	if (!p)
		return;
	p->heard = sm->now;
	p->copied = ib_get(config, SMC_EPOCH) == sm->m.replica->config.own_epoch;
	for (unsigned i = 0; i < SMC_DIGESTS; i++)
		p->digests[i] = ib_bits_get(config, SMC_DIGEST0 + 32 * i, 32);
	compare_digests(sm, p);
}

const struct config_peer *config_peer(const struct replica *r, guid_t guid)
{
	for (unsigned i = 0; i < r->config.n_peers; i++) {
		if (r->config.peers[i].guid == guid)
			return &r->config.peers[i];
	}
	return NULL;
}

void config_refresh(struct sm *sm)
{
	struct replica *r = sm->m.replica;

	if (r->config.digests_of == sm->conf && sm->now < r->config.digests_at + REFRESH)
		return;
	r->config.digests_at = sm->now;
	if (r->config.digests_of != sm->conf) {
		conf_unref(r->config.digests_of);
		r->config.digests_of = conf_ref(sm->conf);
	}
	make_digests(sm, r->config.digests);
	for (unsigned i = 0; i < r->config.n_peers; i++)
		compare_digests(sm, &r->config.peers[i]);
}

void config_record(const struct sm *sm, uint8_t *ret)
{
	const struct replica *r = sm->m.replica;
	uint8_t *config = ib_at(ret, SVR_DATA8_0);

	memset(ret, 0, SVR_BYTES);
	ib_put(ret, SVR_ID, SA_MANAGER_ID);
	ib_bits_put(ret, SVR_GID, 64,
		    sm->state == SM_MASTER ? sm->conf->subnet_prefix : r->own.prefix);
	ib_bits_put(ret, SVR_GID + 64, 64, sm->tr->port_guid);
	ib_put(ret, SVR_LEASE, 0xFFFFFFFF);
	memcpy(ib_at(ret, SVR_NAME), SA_MANAGER_NAME, strlen(SA_MANAGER_NAME));
	ib_put(config, SMC_LAYOUT, LAYOUT);
	ib_put(config, SMC_STATE, sm->state);
	ib_put(config, SMC_CHANNEL, CHANNEL_VERSION);
	ib_put(config, SMC_TENANTS, tenants_generation(partition_tenants(sm)));
	for (unsigned i = 0; i < SMC_DIGESTS; i++)
		ib_bits_put(config, SMC_DIGEST0 + 32 * i, 32, r->config.digests[i]);
	ib_put(config, SMC_EPOCH, sm->state == SM_MASTER ? r->config.own_epoch : r->kept.epoch);
}

void config_publish(struct sm *sm)
{
	struct replica *r = sm->m.replica;
	uint8_t record[SVR_BYTES];

	if (!admin_view(sm) || (r->config.published == sm->stats.heavy_sweeps + 1 &&
				r->config.digests_of == sm->conf &&
				r->config.digests_of_file == partition_of_file(sm)))
		return;
	r->config.digests_of_file = partition_of_file(sm);
	r->config.published = sm->stats.heavy_sweeps + 1;
	r->config.digests_at = sm->now - REFRESH; /* the sweep has read the partition file again */
	config_refresh(sm);
	config_record(sm, record);
	sa_set_manager(sm->sa, record);
}

unsigned sm_configured_otherwise(const struct sm *sm, char *ret, size_t cap)
{
	const struct replica *r = sm->m.replica;
	unsigned mask = 0, n = 0;

	for (unsigned i = 0; i < r->config.n_peers; i++) {
		if (is_old(&r->config.peers[i], sm->now))
			continue;
		mask |= r->config.peers[i].differs;
		n += r->config.peers[i].differs != 0;
	}
	name_groups(mask, ret, cap);
	return n;
}
