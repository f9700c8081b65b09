// SPDX-License-Identifier: BSD-2-Clause
/*
 * Joins in words, for test-sa-mgroup.c and test-sa-mcmember.c:
 *
 *	mc_set(d, "mgid=ff12::5 port=h1 join=1 qkey=5 pkey=0xffff")
 *
 * A word sets a field and its component; mtu=, rate= and life= take the whole byte, selector in the
 * upper two bits, and both components; mtusel= and mtuval= (ratesel=, rateval=) one of the two.
 * port= is a node of the desk, gid= any GID.
 */
#pragma once

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "conf/partitions/partitions.h"
#include "fabric/fabric_internal.h"
#include "sa/mcast/mgroup.h"
#include "tests/lib/sa-desk.h"
#include "util/mem.h"

struct mc_word {
	const char *name;
	unsigned offset, width; /* bits */
	uint64_t mask;
};

static const struct mc_word mc_words[] = {
	{ "qkey", MCM_QKEY, 32, SA_COMP(MCM_QKEY) },
	{ "mlid", MCM_MLID, 16, SA_COMP(MCM_MLID) },
	{ "mtu", MCM_MTU_SEL, 8, SA_COMP(MCM_MTU_SEL) | SA_COMP(MCM_MTU) },
	{ "mtusel", MCM_MTU_SEL, 8, SA_COMP(MCM_MTU_SEL) },
	{ "mtuval", MCM_MTU_SEL, 8, SA_COMP(MCM_MTU) },
	{ "tclass", MCM_TCLASS, 8, SA_COMP(MCM_TCLASS) },
	{ "pkey", MCM_PKEY, 16, SA_COMP(MCM_PKEY) },
	{ "rate", MCM_RATE_SEL, 8, SA_COMP(MCM_RATE_SEL) | SA_COMP(MCM_RATE) },
	{ "ratesel", MCM_RATE_SEL, 8, SA_COMP(MCM_RATE_SEL) },
	{ "rateval", MCM_RATE_SEL, 8, SA_COMP(MCM_RATE) },
	{ "life", MCM_LIFE_SEL, 8, SA_COMP(MCM_LIFE_SEL) | SA_COMP(MCM_LIFE) },
	{ "sl", MCM_SL, 4, SA_COMP(MCM_SL) },
	{ "flow", MCM_FLOW, 20, SA_COMP(MCM_FLOW) },
	{ "hop", MCM_HOP, 8, SA_COMP(MCM_HOP) },
	{ "scope", MCM_SCOPE, 4, SA_COMP(MCM_SCOPE) },
	{ "join", MCM_JOIN_STATE, 4, SA_COMP(MCM_JOIN_STATE) },
	{ "proxy", MCM_PROXY_JOIN, 1, SA_COMP(MCM_PROXY_JOIN) },
};

static inline uint64_t mc_number(struct desk *d, const char *name, const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(mc_words); i++) {
		if (strcmp(mc_words[i].name, name))
			continue;
		ib_bits_put(d->record, mc_words[i].offset, mc_words[i].width,
			    strtoull(value, NULL, 0));
		return mc_words[i].mask;
	}
	fail_msg("no such word: %s", name);
	return 0;
}

static inline uint64_t mc_word(struct desk *d, const char *name, const char *value)
{
	if (!strcmp(name, "mgid")) {
		assert_int_equal(inet_pton(AF_INET6, value, ib_at(d->record, MCM_MGID)), 1);
		return SA_COMP(MCM_MGID);
	}
	if (!strcmp(name, "gid")) {
		assert_int_equal(inet_pton(AF_INET6, value, ib_at(d->record, MCM_PORT_GID)), 1);
		return SA_COMP(MCM_PORT_GID);
	}
	if (!strcmp(name, "port")) {
		desk_gid(d, value, ib_at(d->record, MCM_PORT_GID));
		return SA_COMP(MCM_PORT_GID);
	}
	return mc_number(d, name, value);
}

/* Writes the words into the record of the next request; returns the component mask. */
static inline uint64_t mc_write(struct desk *d, const char *words)
{
	_cleanup_free_ char *text = xstrdup(words);
	uint64_t mask = 0;
	char *save;

	desk_blank(d);
	for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *value = strchr(w, '=');

		assert_non_null(value);
		*value++ = '\0';
		mask |= mc_word(d, w, value);
	}
	return mask;
}

#define MC_NO_ANSWER 0xFFFF

static inline unsigned mc_ask(struct desk *d, uint8_t method, const char *words)
{
	uint64_t mask = mc_write(d, words);
	const struct desk_message *a = desk_ask(d, method, SA_MC_MEMBER_RECORD, mask);

	return a ? a->status : MC_NO_ANSWER;
}

/* The status, or MC_NO_ANSWER; the answer is d->answer. */
static inline unsigned mc_set(struct desk *d, const char *words)
{
	return mc_ask(d, MAD_SET, words);
}

static inline unsigned mc_delete(struct desk *d, const char *words)
{
	return mc_ask(d, MAD_SA_DELETE, words);
}

static inline unsigned mc_get(struct desk *d, const char *words)
{
	return mc_ask(d, MAD_GET, words);
}

/* The number of records. */
static inline unsigned mc_table(struct desk *d, const char *words)
{
	assert_int_equal(mc_ask(d, MAD_SA_GET_TABLE, words), 0);
	return d->answer.n;
}

/* The same by another host, with its own PortGID. */
static inline unsigned mc_as(struct desk *d, const char *host, uint8_t method, const char *words)
{
	const char *before = d->from;
	char text[512];
	unsigned status;

	snprintf(text, sizeof(text), "port=%s %s", host, words);
	d->from = host;
	status = mc_ask(d, method, text);
	d->from = before;
	return status;
}

static inline unsigned mc_join(struct desk *d, const char *host, const char *words)
{
	return mc_as(d, host, MAD_SET, words);
}

static inline unsigned mc_leave(struct desk *d, const char *host, const char *words)
{
	return mc_as(d, host, MAD_SA_DELETE, words);
}

/* Everything a creation needs, but the MGID. */
#define MC_NEW "join=1 qkey=0x11111111 tclass=0 pkey=0xffff flow=0 sl=0 "

static inline const uint8_t *mc_mgid(const char *text, uint8_t ret[16])
{
	assert_int_equal(inet_pton(AF_INET6, text, ret), 1);
	return ret;
}

static inline struct mgroup *mc_group(struct desk *d, const char *text)
{
	uint8_t mgid[16];

	return mgroup_find(d->sa, mc_mgid(text, mgid));
}

static inline lid_t mc_mlid(struct desk *d, const char *text)
{
	const struct mgroup *g = mc_group(d, text);

	return g ? mgroup_mlid(g) : 0;
}

/* JoinState of a node's port in a group, by its own GUID; 0: not a member. */
static inline unsigned mc_state(struct desk *d, const char *group, const char *node)
{
	const struct mgroup *g = mc_group(d, group);
	const struct mgroup_member *m = g ? mgroup_member(g, desk_end(d, node)->guid) : NULL;

	return m ? m->join : 0;
}

/* Takes a partition file into force; errors in it fail the test. */
static inline void mc_partitions(struct desk *d, const char *text)
{
	_cleanup_(partitions_unrefp) struct partitions *parts = NULL;
	struct conf_report report = { 0 };

	assert_int_equal(partitions_parse(text, strlen(text), "test", d->conf, &report, &parts), 0);
	conf_report_clear(&report);
	sa_set_partitions(d->sa, parts);
}

#define MC_IPOIB     "Default=0x7fff, ipoib : ALL=full;\n"
#define MC_BROADCAST "ff12:401b:ffff::ffff:ffff"

/* h0..h3 at two leaves, in the default partition with its IPoIB group. */
static inline struct desk *mc_start(void)
{
	struct desk *d = desk_new("tree 2 2 1");

	mc_partitions(d, MC_IPOIB);
	return d;
}

static inline guid_t mc_guid(struct desk *d, const char *node)
{
	return desk_end(d, node)->guid;
}

/* The MLIDs in use are those of the groups there are, no more, no less. */
static inline void mc_check_mlids(struct desk *d)
{
	uint8_t used[MLIDS_MAX] = { 0 };
	unsigned n = 0, n_groups = 0;

	for (struct mgroup *g = mgroup_next(d->sa, NULL); g;
	     g = mgroup_next(d->sa, mgroup_mgid(g))) {
		assert_in_range(mgroup_mlid(g), MLID_FIRST, MLID_LAST);
		used[mgroup_mlid(g) - MLID_FIRST] = 1;
		n_groups++;
	}
	for (unsigned mlid = sa_next_mlid(d->sa, 0); mlid; mlid = sa_next_mlid(d->sa, mlid + 1)) {
		assert_true(used[mlid - MLID_FIRST]);
		n++;
	}
	for (unsigned i = 0; i < MLIDS_MAX; i++)
		n -= used[i];
	assert_int_equal(n, 0);
	assert_int_equal(sa_stats(d->sa)->groups, n_groups);
}

/* A port is gone and another one stands in its place. */
static inline void mc_replace_port(struct desk *d, const char *node, guid_t guid)
{
	fabric_set_port_guid(d->fabric, desk_end(d, node), guid);
	desk_publish(d);
}

/* For log_set_sink(). */
static inline void mc_not_shown(void *arg, unsigned bits, const char *text)
{
}
