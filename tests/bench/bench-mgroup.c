// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a join costs: requests handed to the SA one by one, answers thrown away, trees not made.
 * Numbers, not verdicts: `make bench-mgroup && ./bench-mgroup fat-tree3 36`.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sa/base/sa_internal.h"
#include "sa/mcast/mgroup.h"
#include "tests/lib/sa-desk.h"
#include "util/mem.h"

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* One Set or Delete of `port`, as IPoIB sends it. */
static void send_request(struct desk *d, const struct view_port *port, uint8_t method,
			 const uint8_t *mgid)
{
	struct transport_event ev = { .kind = TRANSPORT_MAD, .length = MAD_SIZE };
	uint8_t *r = ev.mad + SA_DATA;

	ev.from = (struct transport_addr){ .lid = port->lid, .qp = 1 };
	ib_put(ev.mad, SAH_BASE_VERSION, 1);
	ib_put(ev.mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(ev.mad, SAH_CLASS_VERSION, 2);
	ib_put(ev.mad, SAH_METHOD, method);
	ib_put(ev.mad, SAH_ATTR_ID, SA_MC_MEMBER_RECORD);
	ib_put(ev.mad, SAH_COMP_MASK,
	       SA_COMP(MCM_MGID) | SA_COMP(MCM_PORT_GID) | SA_COMP(MCM_JOIN_STATE) |
		       SA_COMP(MCM_QKEY) | SA_COMP(MCM_TCLASS) | SA_COMP(MCM_PKEY) |
		       SA_COMP(MCM_FLOW) | SA_COMP(MCM_SL));
	memcpy(ib_at(r, MCM_MGID), mgid, 16);
	sa_gid(d->conf->subnet_prefix, port->guid, ib_at(r, MCM_PORT_GID));
	ib_put(r, MCM_PKEY, 0xFFFF);
	ib_put(r, MCM_QKEY, 0x0B1B);
	ib_put(r, MCM_JOIN_STATE, MC_FULL);
	sa_receive(d->sa, &ev, d->now);
}

static void group_mgid(unsigned n, uint8_t ret[16])
{
	memset(ret, 0, 16);
	ret[0] = 0xFF;
	ret[1] = 0x12;
	ib_bits_put(ret, 96, 32, n);
}

struct bench {
	struct desk *d;
	const struct view_port **hosts;
	unsigned n;
};

static void find_hosts(struct bench *b)
{
	const struct view *v = b->d->view;

	b->n = 0;
	for (uint32_t i = 0; i < v->n_ports; i++) {
		if (v->ports[i].guid && !view_is_switch(v, &v->ports[i]))
			b->hosts[b->n++] = &v->ports[i];
	}
}

/* All hosts, in an order that has nothing to do with their GUIDs; said per eighth of them. */
static void all_to_one(struct bench *b, uint8_t method, const char *what)
{
	unsigned step = 7919, at = 0;
	uint8_t mgid[16];

	group_mgid(1, mgid);
	printf("%s:", what);
	for (unsigned part = 0; part < 8; part++) {
		unsigned from = b->n * part / 8, to = b->n * (part + 1) / 8;
		double start = seconds();

		for (unsigned i = from; i < to; i++, at = (at + step) % b->n)
			send_request(b->d, b->hosts[at], method, mgid);
		printf(" %.2f", (seconds() - start) * 1e6 / (to - from));
	}
	printf(" us each, by eighths of %u; %u members\n", b->n, sa_stats(b->d->sa)->members);
}

static void many_groups(struct bench *b, unsigned groups, unsigned members, uint8_t method)
{
	double start = seconds();
	uint8_t mgid[16];

	for (unsigned g = 0; g < groups; g++) {
		group_mgid(100 + g * 7919 % groups, mgid);
		for (unsigned i = 0; i < members; i++)
			send_request(b->d, b->hosts[(g * 17 + i * 1009) % b->n], method, mgid);
	}
	printf("%u groups x %u %s: %.2f us each; now %u groups, %u members\n", groups, members,
	       method == MAD_SET ? "joins" : "leaves",
	       (seconds() - start) * 1e6 / (groups * members), sa_stats(b->d->sa)->groups,
	       sa_stats(b->d->sa)->members);
}

static void members_of_all(struct bench *b)
{
	double start = seconds();
	unsigned lists = 0;
	uint32_t n, most = 0;

	for (lid_t mlid = sa_next_mlid(b->d->sa, 0); mlid;
	     mlid = sa_next_mlid(b->d->sa, mlid + 1)) {
		free(sa_mc_members(b->d->sa, mlid, &n));
		most = MAX(most, n);
		lists++;
	}
	printf("sa_mc_members of %u MLIDs (largest %u): %.2f ms in all\n", lists, most,
	       (seconds() - start) * 1e3);
}

int main(int argc, char **argv)
{
	char words[128] = "";
	struct bench b = { 0 };
	double start;

	for (int i = 1; i < argc; i++)
		snprintf(words + strlen(words), sizeof(words) - strlen(words), "%s%s",
			 i > 1 ? " " : "", argv[i]);
	b.d = desk_new(*words ? words : "fat-tree3 8");
	FABRIC_EACH_NODE(b.d->fabric, n) {
		if (node_is_switch(n))
			ib_put(n->switch_info, SI_MULTICAST_FDB_CAP, 0x3FFF);
	}
	desk_publish(b.d);
	b.d->deaf = true;
	b.hosts = xcalloc(b.d->view->n_ports, sizeof(void *));
	find_hosts(&b);
	all_to_one(&b, MAD_SET, "joins of one group");
	all_to_one(&b, MAD_SET, "once more");
	many_groups(&b, 2000, 8, MAD_SET);
	members_of_all(&b);
	start = seconds();
	mgroups_view_changed(b.d->sa, b.d->view, b.d->now);
	printf("a view in which no node is gone: %.2f ms\n", (seconds() - start) * 1e3);
	many_groups(&b, 2000, 8, MAD_SA_DELETE);
	all_to_one(&b, MAD_SA_DELETE, "leaves");
	printf("changes told: %u; refused: %llu; MLIDs in use: %s\n", b.d->mcast_changes,
	       (unsigned long long)sa_stats(b.d->sa)->refused,
	       sa_next_mlid(b.d->sa, 0) ? "yes" : "none");
	free(b.hosts);
	desk_free(b.d);
	return 0;
}
