// SPDX-License-Identifier: BSD-2-Clause
/* The subnet around a hostile host, the hosts that go on working, and what has changed. */
#include "tests/lib/attack.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/gen/gen.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/random.h"

#define LEAVES 32u
#define SPINES 16u

/* ---- what the kernel lets through ---------------------------------------------------------- */

/*
 * The simulator drops answers without a question, as Linux does. A manager must not rely on it:
 * these come to it all the same.
 */
#define EAR_MAX 64u
struct attack_ear {
	struct transport base;
	struct transport *real;
	struct transport_event in[EAR_MAX];
	unsigned n;
};

static struct attack_ear *ear_of(struct transport *t)
{
	return (struct attack_ear *)t; /* first member */
}

static int ear_fd(struct transport *t)
{
	return -1;
}

static int ear_send(struct transport *t, const struct transport_addr *to, const uint8_t *mad,
		    size_t length, unsigned timeout_ms)
{
	return transport_send(ear_of(t)->real, to, mad, length, timeout_ms);
}

static int ear_receive(struct transport *t, struct transport_event *ret)
{
	struct attack_ear *e = ear_of(t);

	if (!e->n)
		return transport_receive(e->real, ret);
	*ret = e->in[--e->n];
	return 1;
}

static int ear_set_issm(struct transport *t, bool on)
{
	return transport_set_issm(ear_of(t)->real, on);
}

static struct transport *ear_close(struct transport *t)
{
	return NULL;
}

static struct transport *put_ear(struct rig_sm *s)
{
	static const struct transport_ops ops = {
		.fd = ear_fd, .send = ear_send, .receive = ear_receive,
		.set_issm = ear_set_issm, .close = ear_close,
	};
	struct attack *a = s->rig->owner;

	a->ear = xcalloc(1, sizeof(*a->ear));
	a->ear->base = (struct transport){ .ops = &ops, .port_guid = s->tr->port_guid };
	a->ear->real = s->tr;
	return &a->ear->base;
}

static void inject(struct attack *a, const uint8_t *mad, lid_t from)
{
	struct transport_event ev = { .kind = TRANSPORT_MAD, .length = MAD_SIZE };

	if (a->ear->n == EAR_MAX)
		return;
	memcpy(ev.mad, mad, MAD_SIZE);
	ev.from = (struct transport_addr){ .lid = from, .qp = 1 };
	a->ear->in[a->ear->n++] = ev;
}

static void read_own(struct attack *a, uint16_t attr, uint32_t mod, uint8_t *ret)
{
	sim_read(a->sim, a->node, attr, mod, ret);
}

/* ---- the subnet ---------------------------------------------------------------------------- */

static guid_t guid_of_host(const struct attack *a, unsigned i)
{
	char name[8];

	snprintf(name, sizeof(name), "h%u", i);
	return sim_node_guid(a->sim, sim_find(a->sim, name)) + 1;
}

/* The first honest hosts are tenant One; the hostile one is of tenant Two. */
static void write_partitions(const struct attack *a, const char *path, unsigned hostile)
{
	FILE *f = fopen(path, "w");

	assert(f);
	fputs("Default=0x7fff, ipoib: ALL=limited, SELF=full;\nOne=0x1, ipoib:", f);
	for (unsigned i = 1; i <= ATTACK_HONEST; i++)
		fprintf(f, "%s 0x%016" PRIx64 "=full", i > 1 ? "," : "", guid_of_host(a, i));
	fprintf(f, ";\nTwo=0x2, ipoib: 0x%016" PRIx64 "=full, 0x%016" PRIx64 "=full;\n",
		guid_of_host(a, hostile), guid_of_host(a, hostile + 1));
	fclose(f);
}

static struct conf *tenant_conf(const struct attack *a, unsigned hostile)
{
	_cleanup_free_ char *file = xasprintf("%s/partitions.conf", a->dir);
	_cleanup_free_ char *text = xasprintf(
		"security_profile tenant\nm_key 0x5ec4e70000000001\nsm_key 0x5ec4e70000000002\n"
		"sa_key 0x5ec4e70000000003\nallowed_sm_guids 0x%016" PRIx64 "\n"
		"guid_location_policy hold\nsecurity_violation_policy report\n"
		"partition_config_file %s\n",
		guid_of_host(a, 0), file);
	struct conf *c = conf_new();
	struct conf_report r = { 0 };

	write_partitions(a, file, hostile);
	conf_read_text(c, "opensm.conf", text, strlen(text), &r);
	conf_verify(c, &r);
	assert(r.n == 0);
	return c;
}

static unsigned port_to(const struct attack *a, int from, int to)
{
	int peer;
	unsigned peer_port;

	for (unsigned i = 1; i <= sim_node_ports(a->sim, from); i++)
		if (sim_peer(a->sim, from, i, &peer, &peer_port) && peer == to)
			return i;
	return 0;
}

static void find_way_to_sm(struct attack *a)
{
	int spine = sim_find(a->sim, "spine1"), leaf;
	unsigned port;

	sim_peer(a->sim, a->sm_node, 1, &leaf, &port);
	a->to_sm.length = 4;
	a->to_sm.hop[1] = 1;
	a->to_sm.hop[2] = (uint8_t)port_to(a, a->leaf, spine);
	a->to_sm.hop[3] = (uint8_t)port_to(a, spine, leaf);
	a->to_sm.hop[4] = (uint8_t)port;
}

static uint64_t key_of(const struct attack *a)
{
	uint8_t info[SMP_DATA_SIZE];

	sim_read(a->sim, a->node, IB_ATTR_PORT_INFO, 1, info);
	return ib_get(info, PI_M_KEY);
}

static void find_places(struct attack *a, unsigned hostile)
{
	char name[8];

	snprintf(name, sizeof(name), "h%u", hostile);
	a->node = sim_find(a->sim, name);
	a->sm_node = sim_find(a->sim, "h0");
	sim_peer(a->sim, a->node, 1, &a->leaf, &a->leaf_port);
	a->guid = guid_of_host(a, hostile);
	a->victim = guid_of_host(a, 1);
	a->partner = guid_of_host(a, 2);
	a->read_own = read_own;
	a->inject = inject;
	find_way_to_sm(a);
}

static void settle(struct attack *a)
{
	rig_start(a->rig, "h0", 0, a->conf, a->dir);
	attack_run(a, 30 * MONO_S);
	a->sm = rig_master(a->rig);
	assert(a->sm);
	a->old_key = key_of(a);
	sm_rotate_keys(a->sm);
	attack_run(a, 120 * MONO_S);
	a->sm_lid = sim_port_lid(a->sim, a->sm_node, 1);
	a->lid = sim_port_lid(a->sim, a->node, 1);
	fabric_place_str(fabric_find_port(sm_fabric(a->sm), a->guid), a->place);
	for (unsigned i = 0; i < sim_n_nodes(a->sim); i++) {
		lid_t lid =
			sim_port_lid(a->sim, (int)i, sim_node_is_switch(a->sim, (int)i) ? 0 : 1);

		a->max_lid = MAX(a->max_lid, lid);
	}
}

struct attack *attack_new(unsigned hosts, uint64_t seed)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(LEAVES, hosts, SPINES, 1);
	struct attack *a = xcalloc(1, sizeof(*a));
	unsigned hostile = LEAVES / 2 * hosts + 1;

	scratch_folder(a->dir);
	a->dice = seed;
	a->sim = sim_new(net, seed);
	sim_watch_loops(a->sim, false);
	sim_set_own_port_open(a->sim, true);
	a->rig = rig_new(a->sim);
	a->rig->owner = a;
	a->rig->between = put_ear;
	find_places(a, hostile);
	a->conf = tenant_conf(a, hostile);
	settle(a);
	a->tr = sim_attach(a->sim, sim_node_id(a->sim, a->node), 0);
	for (unsigned i = 0; i < ATTACK_HONEST; i++) {
		char name[8];

		snprintf(name, sizeof(name), "h%u", i + 1);
		a->honest[i] = client_new(a->sim, name);
	}
	attack_run(a, MONO_S);
	return a;
}

struct attack *attack_free(struct attack *a)
{
	if (!a)
		return NULL;
	for (unsigned i = 0; i < ATTACK_HONEST; i++)
		client_free(a->honest[i]);
	transport_close(a->tr);
	rig_free(a->rig);
	conf_unref(a->conf);
	scratch_remove(a->dir);
	free(a->ear);
	free(a->before);
	free(a);
	return NULL;
}

void attack_run(struct attack *a, mono_t t)
{
	rig_run(a->rig, sim_now(a->sim) + t);
}

/* ---- hosts that work ----------------------------------------------------------------------- */

static struct client *partner_of(struct attack *a, unsigned i)
{
	return a->honest[(i + 1) % ATTACK_HONEST];
}

void attack_ask(struct attack *a)
{
	unsigned i = a->next_honest++ % ATTACK_HONEST;
	uint8_t record[PR_BYTES];
	struct question q = client_path(a->honest[i], partner_of(a, i)->guid, 0x8001, record);

	a->asked++;
	client_send(a->honest[i], &q);
}

static bool is_right(struct attack *a, unsigned i, const struct transport_event *ev)
{
	const uint8_t *record = client_record(ev);

	return ev->kind == TRANSPORT_MAD && !ib_get(ev->mad, SAH_STATUS) &&
	       ib_get(record, PR_DLID) == sim_port_lid(a->sim, partner_of(a, i)->node, 1) &&
	       ib_get(record, PR_SLID) == sim_port_lid(a->sim, a->honest[i]->node, 1);
}

void attack_hear(struct attack *a)
{
	struct transport_event ev;

	for (unsigned i = 0; i < ATTACK_HONEST; i++) {
		while (client_receive(a->honest[i], &ev) > 0) {
			a->answered += is_right(a, i, &ev);
			a->wrong += !is_right(a, i, &ev);
			free(ev.whole);
		}
	}
}

/* ---- what has changed ---------------------------------------------------------------------- */

void attack_look(struct attack *a)
{
	unsigned n = sim_n_nodes(a->sim);

	free(a->before);
	a->before = xcalloc(n, sizeof(*a->before));
	for (unsigned i = 0; i < n; i++)
		a->before[i] = sim_node_fingerprint(a->sim, (int)i);
}

static bool counts(const struct attack *a, int node, enum attack_reach reach)
{
	return node != a->node && (node != a->leaf || reach == ATTACK_ANYWHERE);
}

unsigned attack_changed(struct attack *a, enum attack_reach reach, const char **ret_name)
{
	unsigned n = 0;

	assert(a->before);
	*ret_name = "";
	for (unsigned i = 0; i < sim_n_nodes(a->sim); i++) {
		if (!counts(a, (int)i, reach) ||
		    a->before[i] == sim_node_fingerprint(a->sim, (int)i))
			continue;
		if (!n++)
			*ret_name = sim_node_id(a->sim, (int)i);
	}
	return n;
}
