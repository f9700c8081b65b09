// SPDX-License-Identifier: BSD-2-Clause
/*
 * A long random life of the store of groups beside a model that is too simple to be wrong: joins,
 * leaves, proxies, shared MLIDs, ports that die. After every operation the MLIDs in use are those
 * of the groups, and trees have heard of exactly the MLIDs whose ports have changed.
 */
#include "sa/base/sa_internal.h"
#include "tests/lib/rounds.h"
#include "tests/unit/mc-desk.h"
#include "util/log.h"

#define HOSTS  8
#define GROUPS 24
#define SHARED 8 /* of them, IPv6 solicited-node groups */

struct model {
	uint8_t join[GROUPS][HOSTS]; /* 0: not a member */
	bool proxy[GROUPS][HOSTS];
	lid_t mlid[GROUPS]; /* 0: no such group */
	uint64_t seed;
};

static unsigned random_below(struct model *m, unsigned n)
{
	m->seed ^= m->seed << 13;
	m->seed ^= m->seed >> 7;
	m->seed ^= m->seed << 17;
	return (unsigned)(m->seed >> 33) % n;
}

static const char *mgid_name(unsigned g, char ret[64])
{
	if (g < SHARED)
		snprintf(ret, 64, "ff12:601b:ffff::1:ff00:%x", g + 1);
	else
		snprintf(ret, 64, "ff12::%x", g + 1);
	return ret;
}

static const char *host_name(unsigned h)
{
	static const char *const names[HOSTS] = { "h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7" };

	return names[h];
}

static bool full(unsigned join)
{
	return join & 9;
}

static unsigned others_full(const struct model *m, unsigned g, unsigned h)
{
	unsigned n = 0;

	for (unsigned i = 0; i < HOSTS; i++)
		n += i != h && full(m->join[g][i]);
	return n;
}

/* 0 nothing, 1 sends, 2 receives. */
static unsigned role(const struct model *m, lid_t mlid, unsigned h)
{
	unsigned r = 0;

	for (unsigned g = 0; g < GROUPS; g++) {
		if (m->mlid[g] == mlid && m->join[g][h])
			r = MAX(r, m->join[g][h] & 3 ? 2u : 1u);
	}
	return r;
}

/* MLIDs at which some host's role is another one than before. */
static unsigned count_changes(const struct model *before, const struct model *after)
{
	lid_t seen[2 * GROUPS];
	unsigned n_seen = 0, n = 0;

	for (unsigned i = 0; i < 2 * GROUPS; i++) {
		lid_t mlid = i < GROUPS ? before->mlid[i] : after->mlid[i - GROUPS];
		bool differs = false, known = !mlid;

		for (unsigned k = 0; k < n_seen; k++)
			known |= seen[k] == mlid;
		if (known)
			continue;
		seen[n_seen++] = mlid;
		for (unsigned h = 0; h < HOSTS; h++)
			differs |= role(before, mlid, h) != role(after, mlid, h);
		n += differs;
	}
	return n;
}

static void model_end_group(struct model *m, unsigned g)
{
	memset(m->join[g], 0, sizeof(m->join[g]));
	memset(m->proxy[g], 0, sizeof(m->proxy[g]));
	m->mlid[g] = 0;
}

static void model_leave(struct model *m, unsigned g, unsigned h, unsigned bits)
{
	m->join[g][h] &= ~bits;
	if (!full(m->join[g][h]) && !others_full(m, g, h))
		model_end_group(m, g);
	if (!m->join[g][h])
		m->proxy[g][h] = false;
}

static unsigned model_expects_join(const struct model *m, unsigned g, unsigned h, unsigned by,
				   unsigned bits)
{
	if (!m->mlid[g])
		return full(bits) ? 0 : SA_REQ_INVALID;
	if (!bits || (m->join[g][h] && !m->proxy[g][h] && h != by))
		return SA_REQ_INVALID;
	return 0;
}

static void random_join(struct desk *d, struct model *m)
{
	unsigned g = random_below(m, GROUPS), h = random_below(m, HOSTS),
		 bits = random_below(m, 16);
	unsigned by = random_below(m, 4) ? h : random_below(m, HOSTS);
	unsigned expected = model_expects_join(m, g, h, by, bits);
	bool fails = !m->mlid[g] && !random_below(m, 8);
	char words[256], name[64];

	snprintf(words, sizeof(words),
		 "mgid=%s port=%s join=%u qkey=0xb1b tclass=0 pkey=0xffff flow=0 sl=0%s%s",
		 mgid_name(g, name), host_name(h), bits, fails ? " rate=0x87" : "",
		 random_below(m, 8) ? "" : " mlid=0xc020");
	d->from = host_name(by);
	assert_int_equal(mc_set(d, words), fails ? SA_REQ_INVALID : expected);
	if (fails || expected)
		return;
	m->proxy[g][h] = (m->join[g][h] ? m->proxy[g][h] : true) && by != h;
	m->join[g][h] |= bits;
	if (!m->mlid[g])
		m->mlid[g] = ib_get(desk_record(&d->answer, 0), MCM_MLID);
	assert_int_equal(ib_get(desk_record(&d->answer, 0), MCM_MLID), m->mlid[g]);
	assert_int_equal(ib_get(desk_record(&d->answer, 0), MCM_JOIN_STATE), m->join[g][h]);
	assert_int_equal(ib_get(desk_record(&d->answer, 0), MCM_PROXY_JOIN), m->proxy[g][h]);
}

static void random_leave(struct desk *d, struct model *m)
{
	unsigned g = random_below(m, GROUPS), h = random_below(m, HOSTS),
		 bits = random_below(m, 16);
	unsigned by = random_below(m, 4) ? h : random_below(m, HOSTS);
	char words[256], name[64];
	bool ok;

	if (random_below(m, 4))
		bits &= m->join[g][h];
	ok = bits && !(bits & ~m->join[g][h]) && (h == by || m->proxy[g][h]);
	snprintf(words, sizeof(words), "mgid=%s port=%s join=%u", mgid_name(g, name), host_name(h),
		 bits);
	d->from = host_name(by);
	assert_int_equal(mc_delete(d, words), ok ? 0 : SA_REQ_INVALID);
	if (!ok)
		return;
	model_leave(m, g, h, bits);
	assert_int_equal(ib_get(desk_record(&d->answer, 0), MCM_JOIN_STATE), m->join[g][h]);
}

/* A host goes, another one comes in its place. */
static void random_loss(struct desk *d, struct model *m)
{
	unsigned h = random_below(m, HOSTS);

	mc_replace_port(d, host_name(h), 0x5000000 + random_below(m, 1u << 30) + 1);
	for (unsigned g = 0; g < GROUPS; g++) {
		if (m->join[g][h])
			model_leave(m, g, h, 0xF);
	}
}

static void check_model(struct desk *d, const struct model *m)
{
	unsigned n_groups = 0, n_members = 0;
	char name[64];

	for (unsigned g = 0; g < GROUPS; g++) {
		const struct mgroup *group = mc_group(d, mgid_name(g, name));

		assert_int_equal(group ? mgroup_mlid(group) : 0, m->mlid[g]);
		n_groups += group != NULL;
		for (unsigned h = 0; group && h < HOSTS; h++) {
			const struct mgroup_member *member =
				mgroup_member(group, mc_guid(d, host_name(h)));

			assert_int_equal(member ? member->join : 0, m->join[g][h]);
			n_members += member != NULL;
		}
	}
	assert_int_equal(sa_stats(d->sa)->groups, n_groups);
	assert_int_equal(sa_stats(d->sa)->members, n_members);
}

static void check_roles(struct desk *d, const struct model *m)
{
	for (lid_t mlid = sa_next_mlid(d->sa, 0); mlid; mlid = sa_next_mlid(d->sa, mlid + 1)) {
		_cleanup_free_ struct sa_mc_port *list = NULL;
		uint32_t n;
		unsigned found = 0;

		list = sa_mc_members(d->sa, mlid, &n);
		for (unsigned h = 0; h < HOSTS; h++) {
			found -= role(m, mlid, h) != 0;
			for (uint32_t i = 0; i < n; i++) {
				if (list[i].port != desk_port(d, host_name(h)))
					continue;
				found++;
				assert_int_equal(role(m, mlid, h), list[i].receives ? 2 : 1);
			}
		}
		assert_int_equal(found, 0);
	}
}

static void a_long_life(uint64_t seed, unsigned operations)
{
	_desk_ d = desk_new("tree 2 4 1");
	struct model m = { .seed = seed };

	print_message("seed %#llx\n", (unsigned long long)seed);
	desk_conf(d, "ipoib_mcgroup_creation_validation", "FALSE");
	desk_conf(d, "consolidate_ipv6_snm_req", "TRUE");
	for (unsigned i = 0; i < operations; i++) {
		struct model before = m;
		unsigned changes = d->mcast_changes, what = random_below(&m, 1000);

		if (what < 5)
			random_loss(d, &m);
		else if (what < 600)
			random_join(d, &m);
		else
			random_leave(d, &m);
		assert_int_equal(d->mcast_changes - changes, count_changes(&before, &m));
		if (d->mcast_changes != changes)
			mc_check_mlids(d);
		if (i % 16 == 0) {
			mc_check_mlids(d);
			check_model(d, &m);
		}
		if (i % 64 == 0)
			check_roles(d, &m);
	}
	for (unsigned h = 0; h < HOSTS; h++)
		mc_replace_port(d, host_name(h), 0x4000000 + h);
	assert_int_equal(sa_next_mlid(d->sa, 0), 0);
	assert_int_equal(sa_stats(d->sa)->members, 0);
}

static void no_mlid_leaks_in_a_long_life(void **state)
{
	a_long_life(0x9E3779B97F4A7C15, test_rounds(50000));
	a_long_life(0xD1B54A32D192ED03, test_rounds(50000));
}

/* A request that is partly sound, so that it gets far; the rest of it is noise. */
static void send_garbage(struct desk *d, struct model *m)
{
	static const uint8_t methods[] = { MAD_SET, MAD_SET, MAD_SA_DELETE, MAD_GET,
					   MAD_SA_GET_TABLE };
	uint64_t mask = 0;
	char name[64];

	desk_blank(d);
	if (random_below(m, 2))
		mask = mc_write(d, MC_NEW);
	for (unsigned i = 0; i < MCM_BYTES && !random_below(m, 4); i++)
		d->record[i] ^= (uint8_t)random_below(m, 256);
	for (unsigned i = random_below(m, 4); i; i--) {
		unsigned at = 32 + random_below(m, 20);

		d->record[at] = (uint8_t)random_below(m, 256);
	}
	if (random_below(m, 8))
		mc_mgid(mgid_name(random_below(m, GROUPS), name), ib_at(d->record, MCM_MGID));
	if (random_below(m, 8))
		desk_gid(d, host_name(random_below(m, HOSTS)), ib_at(d->record, MCM_PORT_GID));
	if (random_below(m, 8))
		mask |= SA_COMP(MCM_MGID) | SA_COMP(MCM_PORT_GID) | SA_COMP(MCM_JOIN_STATE);
	if (!random_below(m, 4))
		mask ^= 1ull << random_below(m, random_below(m, 8) ? 18 : 64);
	d->from = host_name(random_below(m, HOSTS));
	d->sm_key = random_below(m, 2);
	desk_ask(d, methods[random_below(m, ARRAY_SIZE(methods))], SA_MC_MEMBER_RECORD, mask);
}

static void garbage_leaves_the_store_sound(void **state)
{
	_desk_ d = desk_new("tree 2 4 1");
	struct model m = { .seed = 0xA5A5F00DBEEF1234 };
	unsigned n = getenv("GARBAGE") ? (unsigned)atoi(getenv("GARBAGE")) : test_rounds(20000);

	for (unsigned i = 0; i < n; i++) {
		send_garbage(d, &m);
		if (i % 100 == 0)
			mc_check_mlids(d);
	}
	print_message("%llu of %u answered with a status\n",
		      (unsigned long long)sa_stats(d->sa)->refused, n);
	for (unsigned h = 0; h < HOSTS; h++)
		desk_remove(d, host_name(h));
	assert_int_equal(sa_next_mlid(d->sa, 0), 0);
	assert_int_equal(sa_stats(d->sa)->members, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_mlid_leaks_in_a_long_life),
		cmocka_unit_test(garbage_leaves_the_store_sound),
	};

	log_set_sink(mc_not_shown, NULL);
	return cmocka_run_group_tests_name("sa-mgroup-life", tests, NULL, NULL);
}
