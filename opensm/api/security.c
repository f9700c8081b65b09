// SPDX-License-Identifier: BSD-2-Clause
/*
 * The lines of the checklist (security.md 8), a row and a function each.
 *
 * Options are looked up by name: a line about an option that this version does not have is UNKNOWN.
 */
#include "api/security.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conf/lists/lists.h"
#include "conf/partitions/partitions.h"
#include "sm/base/keys.h"
#include "sm/expected/expected.h"
#include "ini/ini.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"

#define WELL_KNOWN_KEY 1
#define PROTECT_READS  2 /* m_key_protection_level from which on ports do not answer */
#define REST_FILE      "opensm-rest.conf"
#define REST_FILE_MAX  (256u << 10)

struct desk {
	const struct daemon_api *api;
	const struct sm *sm; /* NULL: no port is open */
	const struct conf *conf;
	enum security_reach reach;
	struct security *ret;
};

__attribute__((format(printf, 3, 4))) static void
judge(struct security_check *c, enum security_verdict verdict, const char *fmt, ...)
{
	va_list args;

	c->verdict = verdict;
	va_start(args, fmt);
	vsnprintf(c->present, sizeof(c->present), fmt, args);
	va_end(args);
}

/* ---- options --------------------------------------------------------------------------------- */

/* The value of an option as text, to be freed; NULL: there is no such option. */
static char *value_of(const struct conf *c, const char *name)
{
	enum conf_id id = conf_option_find(name);

	return id == CONF_N_OPTIONS ? NULL : conf_value_text(c, id);
}

static bool is_true(const struct conf *c, const char *name)
{
	_cleanup_free_ char *value = value_of(c, name);

	return str_equal(value, "TRUE");
}

static void judge_no_option(struct security_check *c, const char *name)
{
	judge(c, SECURITY_UNKNOWN, "%s is not an option of this version", name);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Without a seed ports keep the keys that they have, which may be none. */
static bool lacks_seed(const struct desk *d)
{
	const struct key_ring *ring = d->sm ? keys_ring(d->sm) : NULL;

	return ring && key_ring_is_empty(ring);
}

static void judge_no_seed(struct security_check *c)
{
	judge(c, SECURITY_FAIL,
	      "m_key_per_port has no seed that can be used: ports keep the keys that they have");
}

static void judge_m_key(const struct desk *d, struct security_check *c)
{
	if (lacks_seed(d))
		judge_no_seed(c);
	else if (is_true(d->conf, "m_key_per_port"))
		judge(c, SECURITY_PASS, "each port has a key made from a seed");
	else if (d->conf->m_key)
		judge(c, SECURITY_PASS, "m_key is set");
	else
		judge(c, SECURITY_FAIL, "m_key is 0: every host can change every port");
}

static void judge_per_port(const struct desk *d, struct security_check *c)
{
	_cleanup_free_ char *value = value_of(d->conf, c->name);

	if (!value)
		judge_no_option(c, c->name);
	else if (lacks_seed(d))
		judge_no_seed(c);
	else
		judge(c, str_equal(value, "TRUE") ? SECURITY_PASS : SECURITY_FAIL, "%s is %s",
		      c->name, value);
}

static void judge_key(struct security_check *c, uint64_t key)
{
	if (key == WELL_KNOWN_KEY)
		judge(c, SECURITY_FAIL, "%s is the default, 1, that everyone knows", c->name);
	else if (!key)
		judge(c, SECURITY_FAIL, "%s is 0: no key is asked for", c->name);
	else
		judge(c, SECURITY_PASS, "%s is set", c->name);
}

/* A host without the M_Key of this manager's port is not answered. */
static bool hosts_are_unanswered(const struct desk *d)
{
	bool has_key = is_true(d->conf, "m_key_per_port") ? !lacks_seed(d) : d->conf->m_key != 0;

	return has_key && d->conf->m_key_protection_level >= PROTECT_READS;
}

/* A manager that is believed as it shows sm_key, and so shows it to every host. */
static bool find_shower(const struct desk *d, struct sm_manager *ret)
{
	for (unsigned i = 0; d->sm && sm_manager_at(d->sm, i, ret); i++)
		if (ret->shows_key)
			return true;
	return false;
}

static void judge_sm_key(const struct desk *d, struct security_check *c)
{
	bool is_drawn = is_true(d->conf, "randomize_sm_key");
	struct sm_manager m;

	judge_key(c, d->conf->sm_key);
	if (is_drawn)
		judge(c, SECURITY_PASS, "sm_key is drawn, and kept in the cache folder");
	if (c->verdict == SECURITY_FAIL)
		return;
	if (d->conf->sm_key_shown && !hosts_are_unanswered(d))
		judge(c, SECURITY_FAIL,
		      "sm_key is set, and shown to every host that asks (sm_key_shown TRUE, "
		      "m_key_protection_level %u): a host becomes master with it",
		      d->conf->m_key_protection_level);
	else if (find_shower(d, &m))
		judge(c, SECURITY_FAIL, "the manager at %.150s shows sm_key to every host",
		      m.where);
}

/* With sm_key a host becomes master, and programs of an administrator send sa_key to the master. */
static void judge_sa_key(const struct desk *d, struct security_check *c)
{
	struct security_check sm_key = { .name = "sm_key" };

	judge_key(c, d->conf->sa_key);
	if (is_true(d->conf, "randomize_sa_key"))
		judge(c, SECURITY_PASS, "sa_key is drawn at each start");
	judge_sm_key(d, &sm_key);
	if (c->verdict == SECURITY_PASS && sm_key.verdict == SECURITY_FAIL)
		judge(c, SECURITY_FAIL,
		      "%s is set, and hosts know sm_key: one that becomes master is sent it by "
		      "programs that use it",
		      c->name);
}

/* ---- partitions ------------------------------------------------------------------------------ */

/* How a host that no item names by its GUID is a member; of several items the last one counts. */
static bool hosts_are_limited(const struct partition *p)
{
	bool limited = true;

	for (size_t i = 0; i < p->n_items; i++)
		if (p->items[i].ports == PARTITION_ALL || p->items[i].ports == PARTITION_ALL_CAS)
			limited = p->items[i].member == PARTITION_LIMITED;
	return limited;
}

static void judge_default_partition(const struct desk *d, struct security_check *c)
{
	const struct partitions *all = d->sm ? sm_partitions(d->sm) : NULL;
	const struct partition *p = all ? partitions_find(all, PKEY_DEFAULT) : NULL;

	if (!p)
		judge(c, SECURITY_UNKNOWN, "only the master knows the partitions in force");
	else if (hosts_are_limited(p))
		judge(c, SECURITY_PASS, "hosts are limited members of partition 0x7fff");
	else
		judge(c, SECURITY_FAIL,
		      "hosts are full members of partition 0x7fff, and reach each other");
}

static void judge_tenant_partitions(const struct desk *d, struct security_check *c)
{
	const struct partitions *all = d->sm ? sm_partitions(d->sm) : NULL;
	const struct tenant_partition *t =
		d->sm ? tenants_find(sm_tenants(d->sm), PKEY_DEFAULT) : NULL;

	if (t && t->n_members)
		judge(c, SECURITY_FAIL, "%zu ports were put into partition 0x7fff at run time",
		      t->n_members);
	else if (!all)
		judge(c, SECURITY_UNKNOWN, "only the master knows the partitions in force");
	else if (all->n < 2)
		judge(c, SECURITY_UNKNOWN, "there is no partition but 0x7fff");
	else
		judge(c, SECURITY_PASS, "%zu partitions besides 0x7fff", all->n - 1);
}

/* ---- ports ----------------------------------------------------------------------------------- */

/* Port 0 of a switch, and ports of hosts and routers whose link is up, at either end. */
static bool is_looked_at(const struct port *p)
{
	return node_is_switch(p->node) || (p->known && port_state(p) > IB_PORT_DOWN) ||
	       (p->peer && port_state(p->peer) > IB_PORT_DOWN);
}

static bool has_wanted_key(const struct desk *d, const struct port *p)
{
	uint64_t key = ib_get(p->info, PI_M_KEY);

	return !fabric_hides_mkey(p) && key && key == keys_wanted(d->sm, p->guid);
}

/* Is the port protected? Not known of a port that does not answer. */
static bool is_protected(const struct desk *d, const struct port *p)
{
	return p->known && !p->node->misses && has_wanted_key(d, p) &&
	       ib_get(p->info, PI_M_KEY_PROTECT) >= d->conf->m_key_protection_level &&
	       ib_get(p->info, PI_M_KEY_LEASE) == d->conf->m_key_lease_period;
}

static void add_unprotected(const struct desk *d, const struct port *p)
{
	struct security *s = d->ret;

	if (s->n_ports < SECURITY_PORTS_MAX)
		fabric_port_str(p, s->ports[s->n_ports]);
	s->n_ports++;
}

/* What is behind these has a link and no name: they are listed by the ports before them. */
static unsigned look_behind(const struct desk *d, const struct node *n)
{
	unsigned silent = 0;

	for (unsigned i = 1; node_is_switch(n) && i <= n->n_ports; i++) {
		const struct port *p = &n->ports[i];

		if (p->peer || !p->silent || port_state(p) <= IB_PORT_DOWN)
			continue;
		silent++;
		add_unprotected(d, p);
	}
	return silent;
}

/* The number of ports that were looked at. */
static unsigned look_at_ports(const struct desk *d)
{
	unsigned n = 0;

	FABRIC_EACH_END_PORT(sm_fabric(d->sm), p) {
		if (!is_looked_at(p))
			continue;
		n++;
		if (!is_protected(d, p))
			add_unprotected(d, p);
	}
	FABRIC_EACH_NODE(sm_fabric(d->sm), node)
		n += look_behind(d, node);
	return n;
}

static void judge_protection(const struct desk *d, struct security_check *c)
{
	unsigned level = d->conf->m_key_protection_level, lease = d->conf->m_key_lease_period;
	unsigned n = d->sm && level ? look_at_ports(d) : 0;
	enum security_verdict verdict = SECURITY_PASS;
	char ports[80];

	if (!level) {
		judge(c, SECURITY_FAIL, "m_key_protection_level 0: no port is protected");
		return;
	}
	snprintf(ports, sizeof(ports), "%u of %u ports have it so", n - d->ret->n_ports, n);
	if (!n)
		verdict = SECURITY_UNKNOWN;
	if (level < PROTECT_READS || !lease || d->ret->n_ports)
		verdict = SECURITY_FAIL;
	judge(c, verdict, "m_key_protection_level %u, m_key_lease_period %u; %s", level, lease,
	      n ? ports : "no port was read yet");
}

static void judge_class_keys(const struct desk *d, struct security_check *c)
{
	judge(c, SECURITY_UNKNOWN,
	      "keys of vendor (VS) and N2N MADs are not supported: none is set; line 13 is about "
	      "those of congestion control");
}

/* Whether devices hold the keys that they are to have. */
static void judge_cc_ports(const struct desk *d, struct security_check *c)
{
	struct cc_status st = { 0 };
	unsigned n = 0;

	if (d->api->cc)
		cc_status(d->api->cc, &st);
	for (unsigned i = 0; i < CC_STATES; i++)
		n += i == CC_UNSUPPORTED ? 0 : st.ports[i];
	if (!n)
		judge(c, SECURITY_UNKNOWN, "only the master knows; it has asked no device yet");
	else if (st.wrong_key)
		judge(c, SECURITY_FAIL, "%u of %u devices that know the class have their CC_Key",
		      n - MIN(n, st.wrong_key), n);
	else
		judge(c, SECURITY_PASS, "all %u devices that know the class have their CC_Key", n);
}

static void judge_cc_key(const struct desk *d, struct security_check *c)
{
	const struct conf *conf = d->conf;

	if (!conf->congestion_control)
		judge(c, SECURITY_UNKNOWN,
		      "congestion control is off: this manager gives no device a CC_Key");
	else if (conf->cc_key_enable != 2 || (!conf->cc_key && !conf->m_key_per_port))
		judge(c, SECURITY_FAIL,
		      "no CC_Key is given: every host can throttle others (cc_key_enable %u)",
		      conf->cc_key_enable);
	else if (!conf->cc_key_protect_bit)
		judge(c, SECURITY_FAIL, "cc_key_protect_bit 0: every host can read CC_Keys");
	else
		judge_cc_ports(d, c);
}

/* ---- subnet administration ------------------------------------------------------------------- */

static const struct {
	const char *name;
	uint64_t most;
} caps[] = {
	{ "sa_etm_max_num_mcgs", 128 },
	{ "sa_etm_max_num_srvcs", 32 },
	{ "sa_etm_max_num_event_subs", 32 },
};

/* Is the limit a number, and at most `most`? */
static bool is_capped(const char *value, uint64_t most)
{
	uint64_t n;

	return str_to_u64(value, 0, most, &n) == 0 && n > 0;
}

static void judge_trust_model(const struct desk *d, struct security_check *c)
{
	bool ok = is_true(d->conf, c->name);
	char text[200];
	size_t len =
		(size_t)snprintf(text, sizeof(text), "%s is %s", c->name, ok ? "TRUE" : "FALSE");

	if (conf_option_find(c->name) == CONF_N_OPTIONS) {
		judge_no_option(c, c->name);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++) {
		_cleanup_free_ char *value = value_of(d->conf, caps[i].name);

		ok = ok && value && is_capped(value, caps[i].most);
		if (len < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len, ", %s %s",
						caps[i].name, value ? value : "missing");
	}
	judge(c, ok ? SECURITY_PASS : SECURITY_FAIL, "%s", text);
}

/* ---- managers -------------------------------------------------------------------------------- */

/* The first manager that was seen, or this one, and is not in the list; false: all are. */
static bool find_stranger(const struct desk *d, const struct conf_guids *list, char *ret,
			  size_t cap)
{
	const struct port *own = d->sm ? sm_fabric(d->sm)->own_port : NULL;
	struct sm_manager m;

	if (own && !conf_guids_has(list, own->guid)) {
		snprintf(ret, cap, "this manager (port 0x%016" PRIx64 ")", own->guid);
		return true;
	}
	for (unsigned i = 0; d->sm && sm_manager_at(d->sm, i, &m); i++)
		if (!conf_guids_has(list, m.guid)) {
			snprintf(ret, cap, "the manager at %.200s", m.where);
			return true;
		}
	return false;
}

static void judge_managers(const struct desk *d, struct security_check *c)
{
	const struct conf_place nowhere = { 0 };
	struct conf_report faults = { 0 };
	struct conf_guids list;
	char who[260];

	conf_guids_words(c->name, d->conf->allowed_sm_guids, &nowhere, &list, &faults);
	if (!list.n)
		judge(c, SECURITY_FAIL, "%s is not set: every manager with the sm_key is believed",
		      c->name);
	else if (find_stranger(d, &list, who, sizeof(who)))
		judge(c, SECURITY_FAIL, "%s is not in the list", who);
	else if (!d->sm)
		judge(c, SECURITY_UNKNOWN, "%s has %zu ports; no port is open to see managers",
		      c->name, list.n);
	else
		judge(c, SECURITY_PASS, "%s has %zu ports, and every manager that is seen", c->name,
		      list.n);
	conf_guids_clear(&list);
	conf_report_clear(&faults);
}

static unsigned count_unexpected(const struct sm_expected *e)
{
	static const enum expect_kind kinds[] = {
		EXPECT_DUPLICATE_GUID, EXPECT_TYPE_CHANGED, EXPECT_REPLACED_HCA,
		EXPECT_REPLACED_SWITCH, EXPECT_SWAPPED_NODES, EXPECT_SWAPPED, EXPECT_WRONG_RAIL,
		EXPECT_SHIFTED, EXPECT_MOVED, EXPECT_EXTRA, EXPECT_UNKNOWN_NODE, EXPECT_PORT_GUID
	};
	unsigned n = 0;

	for (size_t i = 0; e->drift && i < ARRAY_SIZE(kinds); i++)
		n += e->drift->of_kind[kinds[i]];
	return n;
}

static void judge_expected(const struct sm_expected *e, struct security_check *c)
{
	unsigned n = count_unexpected(e);

	if (e->refused || !e->in_force)
		judge(c, SECURITY_FAIL, "expected_topology_file is not in force: %s",
		      e->refused ? e->refused : "it was not read yet");
	else if (e->spared)
		judge(c, SECURITY_FAIL,
		      "%u cables are not in it, and in use as the last way somewhere",
		      e->spared);
	else if (n > e->held)
		judge(c, SECURITY_FAIL, "%u findings about what is cabled otherwise, %u held",
		      n, e->held);
	else if (!e->drift)
		judge(c, SECURITY_UNKNOWN, "nothing was compared yet");
	else
		judge(c, SECURITY_PASS, "%u cables expected, %u others held in INIT", e->cables,
		      e->held);
}

static void judge_topology(const struct desk *d, struct security_check *c)
{
	struct sm_expected e = { 0 };

	if (d->sm)
		sm_expected(d->sm, &e);
	if (e.path) {
		judge_expected(&e, c);
		return;
	}
	judge(c, SECURITY_UNKNOWN,
	      "expected_topology_file is not set: every cable counts; "
	      "guid_location_policy %s: a host that says another's GUID is %s",
	      d->conf->guid_location_policy,
	      str_equal(d->conf->guid_location_policy, "hold") ? "held" : "taken for moved");
}

/* ---- REST ------------------------------------------------------------------------------------ */

static char *rest_path(const struct daemon_api *api)
{
	const char *slash = api->conf_path ? strrchr(api->conf_path, '/') : NULL;

	return slash ? xasprintf("%.*s/" REST_FILE, (int)(slash - api->conf_path), api->conf_path)
		     : NULL;
}

/* 1: passwords may cross the network in the clear; 0: they do not; -errno: that cannot be read. */
static int allows_plain_http(const char *text, size_t len)
{
	struct ini ini;
	int r = ini_read(text, len, INI_PLAIN, &ini);

	for (size_t i = 0; r >= 0 && i < ini.n; i++)
		r |= str_equal(ini.items[i].name, "plain_http") &&
		     str_equal(ini.items[i].value, "yes");
	ini_clear(&ini);
	return r;
}

static void judge_rest(const struct desk *d, struct security_check *c)
{
	_cleanup_free_ char *path = d->reach == SECURITY_WITH_FILES ? rest_path(d->api) : NULL;
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = path ? file_read(path, REST_FILE_MAX, &text, &len) : -EINVAL;

	r = r < 0 ? r : allows_plain_http(text, len);
	if (r == -ENOENT)
		judge(c, SECURITY_PASS, "opensm-rest is not set up on this host");
	else if (r < 0)
		judge(c, SECURITY_UNKNOWN, "%s was not read", REST_FILE);
	else if (r)
		judge(c, SECURITY_FAIL,
		      "%s has plain_http = yes: passwords cross the network in the clear",
		      REST_FILE);
	else
		judge(c, SECURITY_PASS,
		      "opensm-rest asks for TLS, and has no user with a preset password");
}

/* ---- the list -------------------------------------------------------------------------------- */

static const struct row {
	const char *name;
	void (*judge)(const struct desk *d, struct security_check *c);
	const char *advice;
} rows[] = {
	{ "m_key", judge_m_key, "set m_key to a random number of 64 bits" },
	{ "m_key_per_port", judge_per_port, "set m_key_per_port TRUE" },
	{ "sm_key", judge_sm_key,
	  "set sm_key to a random number, the same on every manager, and sm_key_shown FALSE" },
	{ "sa_key", judge_sa_key,
	  "set sa_key to a random number, the same on every manager; and see line sm_key" },
	{ "default_partition", judge_default_partition,
	  "give ALL=limited, SELF=full in partitions.conf" },
	{ "tenant_partitions", judge_tenant_partitions,
	  "give each tenant a partition of its own: opensmctl partitions add" },
	{ "m_key_protection", judge_protection,
	  "set m_key_protection_level 2 and m_key_lease_period 60; if it is set, look at the ports "
	  "that are listed" },
	{ "class_keys", judge_class_keys,
	  "nothing can be set here: hosts can send these MADs to each other and to switches" },
	{ "sa_enhanced_trust_model", judge_trust_model,
	  "set sa_enhanced_trust_model TRUE, and limits of at most 128, 32 and 32" },
	{ "allowed_sm_guids", judge_managers,
	  "list the port GUIDs of all managers: opensmctl managers" },
	{ "expected_topology", judge_topology,
	  "save the cabling (opensmctl topology save), set expected_topology_file, "
	  "expected_topology_links enforce and guid_location_policy hold" },
	{ "rest", judge_rest, "serve TLS, and remove plain_http from opensm-rest.conf" },
	{ "cc_key", judge_cc_key,
	  "with congestion_control TRUE set cc_key_enable 2, and m_key_per_port or a random "
	  "cc_key; if it is set, look at opensmctl congestion" },
};

_Static_assert(ARRAY_SIZE(rows) == SECURITY_CHECKS, "a row for each line");

void security_judge(const struct daemon_api *api, enum security_reach reach, struct security *ret)
{
	const struct desk d = {
		.api = api,
		.sm = api->sm,
		.conf = api->sm ? sm_conf(api->sm) : api->conf,
		.reach = reach,
		.ret = ret,
	};

	assert(d.conf && ret);
	*ret = (struct security){ 0 };
	for (unsigned i = 0; i < SECURITY_CHECKS; i++) {
		ret->checks[i].name = rows[i].name;
		ret->checks[i].advice = rows[i].advice;
		rows[i].judge(&d, &ret->checks[i]);
	}
}

unsigned security_count(const struct security *s, enum security_verdict verdict)
{
	unsigned n = 0;

	for (unsigned i = 0; i < SECURITY_CHECKS; i++)
		if (s->checks[i].verdict == verdict)
			n++;
	return n;
}

const char *security_verdict_name(enum security_verdict verdict)
{
	static const char *const names[] = {
		[SECURITY_UNKNOWN] = "unknown",
		[SECURITY_PASS] = "pass",
		[SECURITY_FAIL] = "fail",
	};

	return names[verdict];
}
