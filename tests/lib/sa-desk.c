// SPDX-License-Identifier: BSD-2-Clause
/* Subnet Administration on a desk. What it does not have: devices, time of its own, a manager. */
#include "tests/lib/sa-desk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/partitions/partitions.h"
#include "fabric/fabric_internal.h"
#include "fabric/snapshot.h"
#include "plan/pkey.h"
#include "route/select/engines.h"
#include "sim/gen/gen.h"
#include "tests/lib/scratch.h"
#include "util/mem.h"

#define GUID_CAP   16
#define DESK_M_KEY 0x1122334455667788ull

struct desk_keys {
	unsigned n;
	uint16_t keys[];
};

static void require(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "desk: %s\n", what);
	abort();
}

/* ---- paper ---- */

static struct desk *desk_of(struct transport *t)
{
	return (struct desk *)t;
}

static void keep(struct desk_message *m, const struct transport_addr *to, const uint8_t *mad,
		 size_t len, unsigned timeout_ms)
{
	free(m->mad);
	*m = (struct desk_message){ .to = *to, .len = len, .timeout_ms = timeout_ms };
	m->mad = xcalloc(1, MAX(len, (size_t)MAD_SIZE));
	memcpy(m->mad, mad, len);
	m->method = (uint8_t)ib_get(mad, SAH_METHOD);
	m->status = (uint16_t)ib_get(mad, SAH_STATUS);
	m->attr = (uint16_t)ib_get(mad, SAH_ATTR_ID);
	m->stride = ib_get(mad, SAH_ATTR_OFFSET) * 8u;
	if (m->status)
		return;
	if (ib_get(mad, SAH_RMPP_FLAGS) & RMPP_ACTIVE)
		m->n = m->stride ? (unsigned)((len - SA_DATA) / m->stride) : 0;
	else
		m->n = 1;
}

static int op_send(struct transport *t, const struct transport_addr *to, const uint8_t *mad,
		   size_t length, unsigned timeout_ms)
{
	struct desk *d = desk_of(t);

	if (d->refuse)
		return d->refuse;
	require(length >= SA_DATA && length <= TRANSPORT_MESSAGE_MAX, "length of a message");
	d->n_sent++;
	d->bytes_sent += length;
	if (d->deaf)
		return 0;
	if (d->waits && (ib_get(mad, SAH_METHOD) & MAD_RESPONSE_BIT) &&
	    ib_get(mad, SAH_TID) == d->tid) {
		d->waits = false;
		keep(&d->answer, to, mad, length, timeout_ms);
		return 0;
	}
	if (d->forgetful && d->n_mail == DESK_MAIL)
		return 0;
	require(d->n_mail < DESK_MAIL, "too much mail, or an answer to nothing");
	keep(&d->mail[d->n_mail++], to, mad, length, timeout_ms);
	return 0;
}

static int op_receive(struct transport *t, struct transport_event *ret)
{
	return 0;
}

static const struct transport_ops paper_ops = { .send = op_send, .receive = op_receive };

/* ---- hooks ---- */

static void mcast_changed(void *arg, lid_t mlid)
{
	struct desk *d = arg;

	d->mcast_changes++;
	d->mcast_last = mlid;
}

static void members_lost(void *arg, guid_t port_guid)
{
	struct desk *d = arg;

	d->members_lost++;
	d->lost_last = port_guid;
}

static void abused(void *arg, const char *what, guid_t port_guid, lid_t lid, const char *text)
{
	struct desk *d = arg;

	if (strcmp(what, "sa_key")) {
		d->abuses++;
		snprintf(d->abuse_last, sizeof(d->abuse_last), "%s", what);
		return;
	}
	d->key_guessers++;
	d->guesser_last = port_guid;
}

static void guids_changed(void *arg, guid_t port_guid, unsigned block)
{
	struct desk *d = arg;

	d->guid_changes++;
	d->guid_last = port_guid;
	d->block_last = block;
}

static int read_cell(void *arg, const struct sa_cell_address *at, uint64_t cookie)
{
	struct desk *d = arg;

	d->cells_asked++;
	if (d->n_cells == DESK_CELLS)
		return -ENOENT;
	if (d->reads_nothing)
		return -EAGAIN;
	d->cells[d->n_cells].at = *at;
	d->cells[d->n_cells++].cookie = cookie;
	return 0;
}

static bool device_holds(struct desk *d, const struct sa_cell_address *at,
			 uint8_t payload[SMP_DATA_SIZE])
{
	if (d->cell)
		return d->cell(d, at, payload);
	memset(payload, (int)(at->mod & 0xFF), SMP_DATA_SIZE);
	return true;
}

void desk_answer_cells(struct desk *d)
{
	unsigned n = d->n_cells;

	for (unsigned i = 0; i < n; i++) {
		uint8_t payload[SMP_DATA_SIZE] = { 0 };
		bool answered = device_holds(d, &d->cells[i].at, payload);

		sa_cell(d->sa, d->cells[i].cookie, answered ? payload : NULL);
	}
	d->n_cells -= n;
}

/* ---- the fabric ---- */

static void fill_port(struct desk *d, struct port *p, const struct netfile_port *from, lid_t lid)
{
	uint8_t *pi = p->info;

	p->known = true;
	p->seen = 1;
	p->lid = lid;
	p->lmc = node_is_switch(p->node) ? 0 : d->lmc;
	ib_put(pi, PI_M_KEY, DESK_M_KEY);
	ib_put(pi, PI_GID_PREFIX, d->conf->subnet_prefix);
	ib_put(pi, PI_LID, lid);
	ib_put(pi, PI_MASTER_SM_LID, 1);
	ib_put(pi, PI_CAP_MASK,
	       IB_CAP(IB_CAP_SL_MAPPING) | IB_CAP(IB_CAP_EXTENDED_SPEEDS) |
		       (lid == 1 ? IB_CAP(IB_CAP_IS_SM) : 0));
	ib_put(pi, PI_LOCAL_PORT, 1);
	ib_put(pi, PI_WIDTH_ENABLED, 2);
	ib_put(pi, PI_WIDTH_SUPPORTED, 3);
	ib_put(pi, PI_WIDTH_ACTIVE, 2); /* 4x */
	ib_put(pi, PI_SPEED_SUPPORTED, 1);
	ib_put(pi, PI_SPEED_ENABLED, 1);
	ib_put(pi, PI_SPEED_ACTIVE, 1); /* SDR */
	ib_put(pi, PI_PORT_STATE, from->peer_node >= 0 || !p->num ? IB_PORT_ACTIVE : IB_PORT_DOWN);
	ib_put(pi, PI_PHYS_STATE,
	       from->peer_node >= 0 || !p->num ? IB_PHYS_LINK_UP : IB_PHYS_POLLING);
	ib_put(pi, PI_LMC, p->lmc);
	ib_put(pi, PI_MTU_CAP, IB_MTU_4096);
	ib_put(pi, PI_NEIGHBOR_MTU, IB_MTU_4096);
	ib_put(pi, PI_VL_CAP, 4);
	ib_put(pi, PI_OPER_VLS, 1);
	ib_put(pi, PI_VLARB_LOW_CAP, 8);
	ib_put(pi, PI_VLARB_HIGH_CAP, 8);
	ib_put(pi, PI_GUID_CAP, GUID_CAP);
	ib_put(pi, PI_SUBNET_TIMEOUT, 18);
	ib_put(pi, PI_RESP_TIME, 16);
}

static void fill_switch(struct node *n)
{
	n->switch_known = true;
	ib_put(n->switch_info, SI_LINEAR_FDB_CAP, LID_MAX_UCAST);
	ib_put(n->switch_info, SI_MULTICAST_FDB_CAP, 1024);
	ib_put(n->switch_info, SI_PARTITION_ENF_CAP, 32);
	ib_put(n->switch_info, SI_LIFE_TIME, 18);
}

static lid_t take_lid(lid_t *next, uint8_t lmc)
{
	lid_t lid = (lid_t)((*next + (1u << lmc) - 1) >> lmc << lmc);

	*next = (lid_t)(lid + (1u << lmc));
	return lid;
}

static void add_node(struct desk *d, const struct netfile_node *from, lid_t *next_lid)
{
	uint8_t ni[NI_BYTES] = { 0 };
	struct node *n;
	lid_t lid = 0;

	ib_put(ni, NI_BASE_VERSION, 1);
	ib_put(ni, NI_CLASS_VERSION, 1);
	ib_put(ni, NI_NODE_TYPE, from->type);
	ib_put(ni, NI_NUM_PORTS, from->nports);
	ib_put(ni, NI_SYSTEM_IMAGE_GUID, from->sysimg_guid ? from->sysimg_guid : from->guid);
	ib_put(ni, NI_NODE_GUID, from->guid);
	ib_put(ni, NI_PORT_GUID, from->type == IB_NODE_SWITCH ? from->guid : from->ports[1].guid);
	ib_put(ni, NI_PARTITION_CAP, 64);
	ib_put(ni, NI_DEVICE_ID, from->device_id);
	ib_put(ni, NI_VENDOR_ID, from->vendor_id);
	ib_put(ni, NI_LOCAL_PORT, 1);
	n = fabric_add_node(d->fabric, ni);
	require(n, "a node that makes no sense");
	n->seen = 1;
	n->desc_known = true;
	snprintf(n->desc, sizeof(n->desc), "%.64s", from->desc);
	if (node_is_switch(n)) {
		fill_switch(n);
		lid = take_lid(next_lid, 0);
	}
	for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports; i++) {
		if (!node_is_switch(n)) {
			lid = take_lid(next_lid, d->lmc);
			fabric_set_port_guid(d->fabric, &n->ports[i], from->ports[i].guid);
		}
		fill_port(d, &n->ports[i], &from->ports[i], node_is_switch(n) && i ? 0 : lid);
	}
}

static void add_cables(struct desk *d)
{
	for (size_t i = 0; i < d->net->n_nodes; i++) {
		for (unsigned k = 1; k <= d->net->nodes[i].nports; k++) {
			const struct netfile_port *p = &d->net->nodes[i].ports[k];

			if (p->peer_node >= 0)
				fabric_connect(
					&d->fabric->nodes[i]->ports[k],
					&d->fabric->nodes[p->peer_node]->ports[p->peer_port]);
		}
	}
}

static void add_fabric(struct desk *d)
{
	lid_t next = 1;

	d->fabric = fabric_new();
	for (size_t i = 0; i < d->net->n_nodes; i++)
		add_node(d, &d->net->nodes[i], &next);
	add_cables(d);
	d->fabric->own = d->fabric->nodes[0];
	d->fabric->own_port = desk_end(d, d->fabric->nodes[0]->desc);
}

/* ---- P_Keys ---- */

static int by_order(const void *a, const void *b)
{
	return (int)partition_order(*(const uint16_t *)a) -
	       (int)partition_order(*(const uint16_t *)b);
}

/* `keys` is sorted. The set and its entries are one block. */
static struct pkey_set *make_set(unsigned n, const uint16_t *keys)
{
	struct pkey_set *set = xcalloc(1, sizeof(*set) + n * sizeof(struct pkey_entry));
	struct pkey_entry *entries = (struct pkey_entry *)(set + 1);

	set->entries = entries;
	for (unsigned i = 0; i < n; i++) {
		uint16_t place = partition_order(keys[i]);

		if (!set->n || entries[set->n - 1].order != place)
			entries[set->n++].order = place;
		entries[set->n - 1].forms |= keys[i] & 0x8000 ? PKEY_SET_FULL : PKEY_SET_LIMITED;
		if (!set->self_pkey && keys[i] & 0x8000)
			set->self_pkey = keys[i];
	}
	return set;
}

/* The P_Keys of d->keys, of end port `at` of the view; freed by the caller. */
static struct pkey_set *set_of(struct desk *d, const struct view *v, uint32_t at)
{
	static const uint16_t plain[] = { 0xFFFF };
	const struct desk_keys *k = guidmap_get(d->keys, v->ports[at].guid);

	return k ? make_set(k->n, k->keys) : make_set(1, plain);
}

static struct view *with_sets(struct desk *d, const struct view *v)
{
	struct view_pkey_change *changes = xcalloc(v->n_ports + 1, sizeof(*changes));
	struct view *ret;
	size_t n = 0;

	for (uint32_t i = 0; i < v->n_ports; i++) {
		if (!v->ports[i].guid)
			continue;
		changes[n++] = (struct view_pkey_change){ v->ports[i].guid, set_of(d, v, i) };
	}
	ret = view_with_pkeys(v, changes, n);
	for (size_t i = 0; i < n; i++)
		free(as_owner(changes[i].set));
	free(changes);
	return ret;
}

static void hold_keys(struct desk *d, const char *node, unsigned n, const uint16_t *keys)
{
	struct desk_keys *k = xcalloc(1, sizeof(*k) + n * sizeof(*keys));

	k->n = n;
	if (n) {
		memcpy(k->keys, keys, n * sizeof(*keys));
		qsort(k->keys, n, sizeof(*k->keys), by_order);
	}
	free(guidmap_put(d->keys, desk_end(d, node)->guid, k));
}

void desk_keys(struct desk *d, const char *node, unsigned n, const uint16_t *keys)
{
	hold_keys(d, node, n, keys);
	desk_publish(d);
}

void desk_move(struct desk *d, const char *node, unsigned n, const uint16_t *keys)
{
	struct view_pkey_change change = { .port = desk_end(d, node)->guid };
	struct view *v;

	hold_keys(d, node, n, keys);
	change.set = set_of(d, d->view, desk_port(d, node));
	v = view_with_pkeys(d->view, &change, 1);
	free(as_owner(change.set));
	sa_publish_pkeys(d->sa, v, d->now);
	view_unref(d->view);
	d->view = v;
}

/* ---- the view ---- */

static struct routes *route(struct desk *d, struct topo *topo)
{
	const struct route_job job = { .topo = topo, .threads = 1 };
	char why[128];

	return topo->n_switches ? minhop_compute(&job, why, sizeof(why)) : NULL;
}

/* Switches know how far their tables go, and hold them. */
static void program(struct desk *d, const struct routes *r)
{
	FABRIC_EACH_NODE(d->fabric, n) {
		if (node_is_switch(n))
			ib_put(n->switch_info, SI_LINEAR_FDB_TOP, r->top);
	}
}

void desk_publish(struct desk *d)
{
	_cleanup_(topo_unrefp) struct topo *topo = fabric_snapshot(d->fabric, NULL, NULL);
	_cleanup_(routes_unrefp) struct routes *routes = route(d, topo);
	const struct view_sm own = { .guid = d->fabric->own_port ? d->fabric->own_port->guid : 0,
				     .act_count = 7,
				     .priority = 5,
				     .state = 3 };
	const struct view_source from = {
		.conf = d->conf,
		.files = d->files,
		.fabric = d->fabric,
		.routes = routes,
		.sms = &own,
		.n_sms = 1,
		.parts = VIEW_PATHS,
	};
	_cleanup_(view_unrefp) struct view *plain = NULL;
	struct view *v;

	if (routes)
		program(d, routes);
	plain = view_new(&from);
	v = with_sets(d, plain);
	sa_publish(d->sa, v, d->now);
	view_unref(d->view);
	d->view = v;
}

/* ---- life ---- */

static struct netfile *net_of(const char *words)
{
	_cleanup_free_ char *text = xstrdup(words);
	const char *word[8];
	unsigned n = 0;
	char err[128] = "";
	struct netfile *net;

	for (char *p = text; p && *p && n < ARRAY_SIZE(word);) {
		word[n++] = p;
		p = strchr(p, ' ');
		if (p)
			*p++ = '\0';
	}
	net = gen_words(n, word, err, sizeof(err));
	require(net, err);
	return net;
}

struct desk *desk_new_lmc(const char *words, uint8_t lmc)
{
	static const struct mad_params params = { .max_wire = 4, .timeout_ms = 200 };
	struct desk *d = xcalloc(1, sizeof(*d));
	const struct sa_hooks hooks = { .mcast_changed = mcast_changed,
					.members_lost = members_lost,
					.guids_changed = guids_changed,
					.abused = abused,
					.read_cell = read_cell,
					.arg = d };

	d->paper.ops = &paper_ops;
	d->lmc = lmc;
	d->conf = conf_new();
	d->net = net_of(words);
	d->keys = guidmap_new();
	d->mad = mad_new(&d->paper, &params);
	d->way.qp = 1;
	d->now = 1000 * MONO_S;
	d->tid = 0x5A000000;
	add_fabric(d);
	d->from = d->fabric->nodes[0]->desc;
	d->sa = sa_new(d->conf, d->fabric, d->mad, &hooks);
	desk_publish(d);
	return d;
}

struct desk *desk_new(const char *words)
{
	return desk_new_lmc(words, 0);
}

struct desk *desk_free(struct desk *d)
{
	size_t pos = 0;
	guid_t guid;
	void *keys;

	if (!d)
		return NULL;
	sa_free(d->sa);
	view_unref(d->view);
	mad_free(d->mad);
	fabric_free(d->fabric);
	netfile_free(d->net);
	while (guidmap_next(d->keys, &pos, &guid, &keys))
		free(keys);
	guidmap_free(d->keys);
	conf_files_unref(d->files);
	conf_unref(d->conf);
	for (unsigned i = 0; i < DESK_MAIL; i++)
		free(d->mail[i].mad);
	free(d->answer.mad);
	free(d);
	return NULL;
}

void desk_freep(struct desk **d)
{
	desk_free(*d);
}

void desk_conf(struct desk *d, const char *key, const char *value)
{
	struct conf *conf = conf_copy(d->conf);
	struct conf_report report = { 0 };
	enum conf_id id = conf_option_find(key);
	const struct conf_place at = { 0 };

	require(id != CONF_N_OPTIONS && !conf_set(conf, id, value, &at, &report), key);
	conf_report_clear(&report);
	conf_unref(d->conf);
	d->conf = conf;
	sa_set_conf(d->sa, conf);
}

void desk_policy(struct desk *d, const char *text)
{
	_cleanup_free_ char *path = scratch_file(text);

	desk_conf(d, "qos", "TRUE");
	desk_conf(d, "qos_policy_file", path);
	conf_files_unref(d->files);
	d->files = conf_files_read(d->conf, NULL);
	require(conf_files_policy(d->files), text);
	desk_publish(d);
}

void desk_remove(struct desk *d, const char *node)
{
	fabric_remove_node(d->fabric, desk_node(d, node));
	desk_publish(d);
}

/* ---- names ---- */

struct node *desk_node(struct desk *d, const char *name)
{
	FABRIC_EACH_NODE(d->fabric, n) {
		if (!strcmp(n->desc, name))
			return n;
	}
	require(false, name);
	return NULL;
}

struct port *desk_end(struct desk *d, const char *name)
{
	struct node *n = desk_node(d, name);

	return &n->ports[node_is_switch(n) ? 0 : 1];
}

uint32_t desk_port(struct desk *d, const char *name)
{
	return view_port_of_guid(d->view, desk_end(d, name)->guid);
}

lid_t desk_lid(struct desk *d, const char *name)
{
	return desk_end(d, name)->lid;
}

void desk_gid(struct desk *d, const char *name, uint8_t ret[16])
{
	ib_bits_put(ret, 0, 64, d->conf->subnet_prefix);
	ib_bits_put(ret, 64, 64, desk_end(d, name)->guid);
}

/* ---- questions ---- */

uint8_t *desk_blank(struct desk *d)
{
	memset(d->record, 0, sizeof(d->record));
	return d->record;
}

void desk_post_raw(struct desk *d, const uint8_t *message, size_t len)
{
	struct transport_event ev = { .kind = TRANSPORT_MAD, .length = len };

	ev.from = d->way;
	if (!ev.from.lid)
		ev.from.lid = desk_lid(d, d->from);
	memcpy(ev.mad, message, MIN(len, sizeof(ev.mad)));
	if (len > sizeof(ev.mad))
		ev.whole = xmemdup(message, len);
	sa_receive(d->sa, &ev, d->now);
	free(ev.whole);
}

void desk_post(struct desk *d, uint8_t method, uint16_t attr, uint64_t mask)
{
	uint8_t mad[MAD_SIZE] = { 0 };

	ib_put(mad, SAH_BASE_VERSION, 1);
	ib_put(mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(mad, SAH_CLASS_VERSION, 2);
	ib_put(mad, SAH_METHOD, method);
	ib_put(mad, SAH_TID, ++d->tid);
	ib_put(mad, SAH_ATTR_ID, attr);
	ib_put(mad, SAH_ATTR_MOD, d->mod);
	ib_put(mad, SAH_RMPP_FLAGS, d->rmpp ? RMPP_ACTIVE : 0);
	ib_put(mad, SAH_SM_KEY, d->sm_key);
	ib_put(mad, SAH_COMP_MASK, mask);
	memcpy(mad + SA_DATA, d->record, SA_DATA_SIZE);
	free(d->answer.mad);
	d->answer = (struct desk_message){ 0 };
	d->waits = true;
	desk_post_raw(d, mad, sizeof(mad));
}

void desk_settle(struct desk *d)
{
	bool waits;

	do {
		while (sa_dispatch(d->sa, d->now))
			;
		waits = d->n_cells && !d->mute;
		if (waits)
			desk_answer_cells(d);
	} while (waits);
}

const struct desk_message *desk_reply(struct desk *d)
{
	return d->answer.mad ? &d->answer : NULL;
}

const struct desk_message *desk_ask(struct desk *d, uint8_t method, uint16_t attr, uint64_t mask)
{
	desk_post(d, method, attr, mask);
	desk_settle(d);
	return desk_reply(d);
}

const uint8_t *desk_record(const struct desk_message *a, unsigned i)
{
	require(a && i < a->n, "no such record in the answer");
	return a->mad + SA_DATA + i * a->stride;
}

const struct desk_message *desk_mail(struct desk *d)
{
	if (d->next_mail < d->n_mail)
		return &d->mail[d->next_mail++];
	d->n_mail = d->next_mail = 0;
	return NULL;
}

void desk_wait(struct desk *d, mono_t t)
{
	d->now += t;
	desk_settle(d);
}
