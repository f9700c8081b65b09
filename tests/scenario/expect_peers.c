// SPDX-License-Identifier: BSD-2-Clause
/* Conditions of managers among themselves: their ledgers, and partitions of tenants. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ledger/ledger.h"
#include "sm/channel/channel.h"
#include "sm/ledger/settle.h"
#include "sm/sm_internal.h"
#include "sm/sm_ledger.h"
#include "tests/scenario/front.h"
#include "tests/scenario/look.h"
#include "util/file.h"
#include "util/mem.h"

struct sm *manager_on(struct look *l, const char *node, int *ret_r)
{
	unsigned sm;

	*ret_r = parse_sm(l->s, node, &sm);
	return *ret_r < 0 ? NULL : l->s->rig->sms[sm].sm;
}

static guid_t port_guid_of(const struct look *l, int node)
{
	struct sim_m_key has = { 0 };

	sim_port_m_key(l->s->rig->sim, node, sim_node_is_switch(l->s->rig->sim, node) ? 0 : 1,
		       &has);
	return has.guid;
}

/* settled N: one master, which may write what rows decide; N standbys have all its rows */
static int cond_settled(struct look *l, const char *const *arg)
{
	struct sm *master = rig_master(l->s->rig);

	if (!master || !settle_may_write(master) || rig_sweeping(l->s->rig))
		return require(l, false, "no single master that may write, or a sweep runs");
	return compare(l, "number of standbys with all rows", sm_tenancy_standbys(master), arg[0]);
}

/* ledger NODE STATE: foreign, asking, taking, writing, keeping */
static int cond_ledger(struct look *l, const char *const *arg)
{
	const char *state;
	struct sm *sm;
	int r;

	sm = manager_on(l, arg[0], &r);
	if (!sm)
		return r;
	state = settle_state_name(settle_state(sm));
	return require(l, is(state, arg[1]), "the ledger of %s is %s", arg[0], state);
}

/* may-write NODE: it is a master that has swept, and may write what rows decide */
static int cond_may_write(struct look *l, const char *const *arg)
{
	struct sm *sm;
	int r;

	sm = manager_on(l, arg[0], &r);
	if (!sm)
		return r;
	return require(
		l, sm_state(sm) == SM_MASTER && settle_may_write(sm) && sm_stats(sm)->heavy_sweeps,
		"%s is %s, its ledger %s", arg[0], sm_state_name(sm_state(sm)),
		settle_state_name(settle_state(sm)));
}

/* waits NODE: it holds back P_Keys of tenants, as another manager is out of reach */
static int cond_waits(struct look *l, const char *const *arg)
{
	struct sm *sm;
	int r;

	sm = manager_on(l, arg[0], &r);
	return sm ? require(l, settle_waits(sm), "%s waits for nothing", arg[0]) : r;
}

/* configured NODE OPTION VALUE: in force at its manager */
static int cond_configured(struct look *l, const char *const *arg)
{
	enum conf_id id = conf_option_find(arg[1]);
	_cleanup_free_ char *value = NULL;
	struct sm *sm;
	int r;

	sm = manager_on(l, arg[0], &r);
	if (!sm || id == CONF_N_OPTIONS)
		return sm ? fault(l->s, "no option '%s'", arg[1]) : r;
	value = conf_value_text(sm_conf(sm), id);
	return require(l, value && begins(value, arg[2]), "%s is %s", arg[1], value ? value : "-");
}

/* looks NODE N: sweeps of its manager so far, with those of a standby */
static int cond_looks(struct look *l, const char *const *arg)
{
	struct sm *sm;
	int r;

	sm = manager_on(l, arg[0], &r);
	return sm ? compare(l, "number of sweeps", sm->sweep_no, arg[1]) : r;
}

/* generation NODE N: of its table of tenants */
static int cond_generation(struct look *l, const char *const *arg)
{
	struct sm *sm;
	int r;

	sm = manager_on(l, arg[0], &r);
	return sm ? compare(l, "generation", tenants_generation(sm_tenants(sm)), arg[1]) : r;
}

/* rows NODE TABLE N: rows of its ledger that are there */
static int cond_rows(struct look *l, const char *const *arg)
{
	struct sm_ledger_table t;
	struct sm *sm;
	int r;

	sm = manager_on(l, arg[0], &r);
	if (!sm)
		return r;
	for (unsigned i = 0; sm_ledger_table_at(sm, i, &t); i++)
		if (is(t.name, arg[1]))
			return compare(l, "number of rows", t.n_rows, arg[2]);
	return fault(l->s, "no table '%s'", arg[1]);
}

/* number NODE TABLE N: of the last change that its ledger has of this table */
static int cond_number(struct look *l, const char *const *arg)
{
	struct sm_ledger_table t;
	struct sm *sm;
	int r;

	sm = manager_on(l, arg[0], &r);
	if (!sm)
		return r;
	for (unsigned i = 0; sm_ledger_table_at(sm, i, &t); i++)
		if (is(t.name, arg[1]))
			return compare(l, "number", t.number, arg[2]);
	return fault(l->s, "no table '%s'", arg[1]);
}

/* has-all NODE OTHER: its manager may hand over to the other one, which has all that is needed */
static int cond_has_all(struct look *l, const char *const *arg)
{
	struct sm *sm;
	int node, r;

	sm = manager_on(l, arg[0], &r);
	if (!sm || parse_node(l->s, arg[1], &node) < 0)
		return -EINVAL;
	return require(l, settle_has_all(sm, port_guid_of(l, node)), "%s lacks rows", arg[1]);
}

/* sees NODE OTHER: its manager, a standby perhaps, has the other node in its picture */
static int cond_sees(struct look *l, const char *const *arg)
{
	struct sm *sm;
	int node, r;

	sm = manager_on(l, arg[0], &r);
	if (!sm || parse_node(l->s, arg[1], &node) < 0)
		return -EINVAL;
	return require(l, fabric_find_node(sm_fabric(sm), sim_node_guid(l->s->rig->sim, node)),
		       "%s is not known", arg[1]);
}

/* has-file NODE NAME: in the folder of its manager */
static int cond_has_file(struct look *l, const char *const *arg)
{
	_cleanup_free_ char *path = NULL;
	int node;

	if (parse_node(l->s, arg[0], &node) < 0)
		return -EINVAL;
	path = xasprintf("%s/%s", front_folder(l->s->front, sim_node_id(l->s->rig->sim, node)),
			 arg[1]);
	return require(l, access(path, F_OK) == 0, "there is no %s", path);
}

/* file-says NODE NAME WORDS_OF_IT: a file in the folder of its manager */
static int cond_file_says(struct look *l, const char *const *arg)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	size_t len;
	int node;

	if (parse_node(l->s, arg[0], &node) < 0)
		return -EINVAL;
	path = xasprintf("%s/%s",
			 front_folder(l->s->front, sim_node_id(l->s->rig->sim, node)), arg[1]);
	if (file_read(path, 1 << 24, &text, &len) < 0)
		return require(l, false, "there is no %s", path);
	return require(l, find_words(text, arg[2]), "it does not say so");
}

/* differs NODE OTHER WORDS_OF_IT: in which the configuration of the other one is another */
static int cond_differs(struct look *l, const char *const *arg)
{
	struct sm_manager_diff d;
	bool found = false;
	struct sm *sm;
	int node, r;

	sm = manager_on(l, arg[0], &r);
	if (!sm || parse_node(l->s, arg[1], &node) < 0)
		return -EINVAL;
	for (unsigned i = 0; sm_manager_diff_at(sm, i, &d); i++) {
		found |= d.guid == port_guid_of(l, node) && d.text && find_words(d.text, arg[2]);
		free(d.text);
	}
	return require(l, found, "nothing like that");
}

/* open-at NODE PKEY N: ports that may hold a P_Key that they are to lose, as its manager has it */
static int cond_open_at(struct look *l, const char *const *arg)
{
	uint64_t pkey;
	struct sm *sm;
	int r;

	sm = manager_on(l, arg[0], &r);
	if (!sm || parse_number(l->s, arg[1], 0x7FFF, &pkey) < 0)
		return -EINVAL;
	return compare(l, "number of ports", sm_tenancy_open(sm, (uint16_t)pkey), arg[2]);
}

/* connected NODE OTHER: messages of the channel between their managers can be sent */
static int cond_connected(struct look *l, const char *const *arg)
{
	struct sm *sm;
	int node, r;

	sm = manager_on(l, arg[0], &r);
	if (!sm || parse_node(l->s, arg[1], &node) < 0)
		return -EINVAL;
	return require(l, channel_is_connected(sm, port_guid_of(l, node)), "%s is not connected",
		       arg[1]);
}

/* stored-by NODE N: standbys that have its whole table of tenants, as its manager counts them */
static int cond_stored_by(struct look *l, const char *const *arg)
{
	struct settle_reach reach;
	struct sm *sm;
	int r;

	sm = manager_on(l, arg[0], &r);
	if (!sm)
		return r;
	reach = settle_reach(sm, LEDGER_MEMBER, tenants_generation(sm_tenants(sm)));
	return compare(l, "number of standbys", reach.with, arg[1]);
}

static bool is_member(const struct sm *sm, guid_t guid, uint64_t pkey)
{
	size_t n;
	const struct tenant_right *rights = tenants_of_port(sm_tenants(sm), guid, &n);

	while (n && rights[n - 1].pkey != pkey)
		n--;
	return n;
}

/* member NODE PKEY HOST: in the table of tenants of its manager */
static int cond_member(struct look *l, const char *const *arg)
{
	uint64_t pkey;
	struct sm *sm;
	int host, r;

	sm = manager_on(l, arg[0], &r);
	if (!sm || parse_number(l->s, arg[1], 0x7FFF, &pkey) < 0 ||
	    parse_node(l->s, arg[2], &host) < 0)
		return -EINVAL;
	return require(l, is_member(sm, port_guid_of(l, host), pkey), "%s is no member", arg[2]);
}

/* as-told NODE PKEY HOST: the host and its switch port hold the P_Key if it is a member there */
static int cond_as_told(struct look *l, const char *const *arg)
{
	struct sim *sim = l->s->rig->sim;
	bool member, at_host, at_switch;
	unsigned port;
	uint64_t pkey;
	struct sm *sm;
	int host, leaf, r;

	sm = manager_on(l, arg[0], &r);
	if (!sm || parse_number(l->s, arg[1], 0x7FFF, &pkey) < 0 ||
	    parse_node(l->s, arg[2], &host) < 0)
		return -EINVAL;
	if (!sim_peer(sim, host, 1, &leaf, &port))
		return fault(l->s, "no cable at %s", arg[2]);
	member = is_member(sm, port_guid_of(l, host), pkey);
	at_host = port_holds(sim, host, 0, 0x8000 | pkey);
	at_switch = port_holds(sim, leaf, port, 0x8000 | pkey);
	return require(l, at_host == member && at_switch == member,
		       "a member: %d, at the host: %d, at the switch: %d", member, at_host,
		       at_switch);
}

/* marked WORDS_OF_IT: the answer to the mark of `ask`; nothing: there is none yet */
static int cond_marked(struct look *l, const char *const *arg)
{
	return require(l, find_words(l->s->marked_text, arg[0]), "the answer is: %s",
		       l->s->marked_text);
}

/* answered WORD: the change of `ask`: done, refused, closed, unconfirmed ..., or nothing */
static int cond_answered(struct look *l, const char *const *arg)
{
	static const char *const ends[SM_TENANCY_ENDS] = {
		[SM_TENANCY_DONE] = "done",	  [SM_TENANCY_REFUSED] = "refused",
		[SM_TENANCY_NO_ROOM] = "no-room", [SM_TENANCY_NOT_MASTER] = "not-master",
		[SM_TENANCY_CLOSED] = "closed",	  [SM_TENANCY_NO_STANDBY] = "no-standby",
		[SM_TENANCY_BUSY] = "busy",	  [SM_TENANCY_UNCONFIRMED] = "unconfirmed",
	};
	const char *end = l->s->asked.is_there ? ends[l->s->asked.end] : "nothing";

	return require(l, is(end, arg[0]), "the answer is: %s", end);
}

const struct cond peer_conds[] = {
	{ "settled", 1, cond_settled },
	{ "ledger", 2, cond_ledger },
	{ "may-write", 1, cond_may_write },
	{ "waits", 1, cond_waits },
	{ "configured", 3, cond_configured },
	{ "looks", 2, cond_looks },
	{ "generation", 2, cond_generation },
	{ "rows", 3, cond_rows },
	{ "number", 3, cond_number },
	{ "has-all", 2, cond_has_all },
	{ "sees", 2, cond_sees },
	{ "has-file", 2, cond_has_file },
	{ "file-says", 3, cond_file_says },
	{ "differs", 3, cond_differs },
	{ "open-at", 3, cond_open_at },
	{ "connected", 2, cond_connected },
	{ "stored-by", 2, cond_stored_by },
	{ "member", 3, cond_member },
	{ "as-told", 3, cond_as_told },
	{ "answered", 1, cond_answered },
	{ "marked", 1, cond_marked },
	{ 0 },
};
