// SPDX-License-Identifier: BSD-2-Clause
/*
 * umad files, see ufile.h. The header is struct ib_user_mad_hdr: numbers in the order of the host,
 * addresses in the order of the network; without ENABLE_PKEY it ends before its last eight bytes.
 */
#include "sim/serve/ufile.h"

#include <errno.h>
#include <rdma/ib_user_mad.h>
#include <string.h>

#include "ib/mad.h"
#include "sim/agent.h"
#include "sim/rmpp.h"
#include "util/mem.h"

#define HEADER_NEW sizeof(struct ib_user_mad_hdr)
#define HEADER_OLD offsetof(struct ib_user_mad_hdr, pkey_index)
#define WRITE_MIN 36        /* common and RMPP header */
#define RETURNED_LENGTH MAD_HEADER_BYTES /* bytes of a request that returns without an answer */
#define QUEUE_MAX 200000u   /* most messages that newer kernels queue for one reader */

_Static_assert(HEADER_NEW == 64 && HEADER_OLD == 56, "struct ib_user_mad_hdr and its predecessor");

/* Network order fields of the header, as bit offset and width. */
#define NET(field)                                                                                 \
	offsetof(struct ib_user_mad_hdr, field) * 8,                                               \
		sizeof(((struct ib_user_mad_hdr *)0)->field) * 8

struct packet {
	struct packet *next;
	size_t n;
	uint8_t *bytes; /* header and message */
};

struct slot {
	struct ufile *f;
	uint32_t id;
	struct agent *agent;
};

struct ufile {
	struct sim *sim;
	int node;
	unsigned port;
	bool pkeys;    /* the header has a P_Key index */
	bool used;
	bool unplugged;
	enum ufile_takes takes;
	struct slot slots[UFILE_AGENTS];
	struct packet *first, **end;
	unsigned n_packets;
	struct ufile_counts counts;
	void (*readable)(void *owner);
	void *owner;
};

struct ufile *ufile_new(struct sim *sim, int node, unsigned port, void (*readable)(void *owner),
			void *owner)
{
	struct ufile *f = xcalloc(1, sizeof(*f));

	f->sim = sim;
	f->node = node;
	f->port = port;
	f->readable = readable;
	f->owner = owner;
	f->end = &f->first;
	for (uint32_t i = 0; i < UFILE_AGENTS; i++)
		f->slots[i] = (struct slot){ .f = f, .id = i };
	return f;
}

static void close_agents(struct ufile *f)
{
	for (size_t i = 0; i < UFILE_AGENTS; i++)
		f->slots[i].agent = agent_close(f->slots[i].agent);
}

static struct packet *take_packet(struct ufile *f)
{
	struct packet *p = f->first;

	f->first = p->next;
	if (!f->first)
		f->end = &f->first;
	f->n_packets--;
	return p;
}

struct ufile *ufile_free(struct ufile *f)
{
	if (!f)
		return NULL;
	close_agents(f);
	while (f->first) {
		struct packet *p = take_packet(f);

		free(p->bytes);
		free(p);
	}
	free(f);
	return NULL;
}

void ufile_limit(struct ufile *f, enum ufile_takes takes)
{
	f->takes = takes;
}

enum ufile_takes ufile_takes(const struct ufile *f)
{
	return f->takes;
}

void ufile_unplug(struct ufile *f)
{
	close_agents(f);
	f->unplugged = true;
	f->readable(f->owner);
}

const struct ufile_counts *ufile_counts(const struct ufile *f)
{
	return &f->counts;
}

static size_t header_size(const struct ufile *f)
{
	return f->pkeys ? HEADER_NEW : HEADER_OLD;
}

/* ---- the header ---- */

static void put_u32(uint8_t *header, size_t offset, uint32_t v)
{
	memcpy(header + offset, &v, sizeof(v));
}

static uint32_t get_u32(const uint8_t *header, size_t offset)
{
	uint32_t v;

	memcpy(&v, header + offset, sizeof(v));
	return v;
}

#define PUT(header, field, v) put_u32(header, offsetof(struct ib_user_mad_hdr, field), v)
#define GET(header, field) get_u32(header, offsetof(struct ib_user_mad_hdr, field))
#define BYTE(header, field) (header)[offsetof(struct ib_user_mad_hdr, field)]

static void put_address(uint8_t *h, const struct transport_addr *a, bool pkeys)
{
	ib_bits_put(h, NET(qpn), a->qp);
	ib_bits_put(h, NET(qkey), a->qkey);
	ib_bits_put(h, NET(lid), a->lid);
	BYTE(h, sl) = a->sl;
	BYTE(h, path_bits) = a->path_bits;
	if (pkeys)
		memcpy(h + offsetof(struct ib_user_mad_hdr, pkey_index), &a->pkey_index,
		       sizeof(a->pkey_index));
	BYTE(h, grh_present) = a->global;
	if (!a->global)
		return;
	BYTE(h, gid_index) = a->grh.gid_index;
	BYTE(h, hop_limit) = a->grh.hop_limit;
	BYTE(h, traffic_class) = a->grh.traffic_class;
	memcpy(h + offsetof(struct ib_user_mad_hdr, gid), a->grh.gid, sizeof(a->grh.gid));
	ib_bits_put(h, NET(flow_label), a->grh.flow_label);
}

static void get_address(const uint8_t *h, bool pkeys, struct transport_addr *ret)
{
	*ret = (struct transport_addr){
		.lid = (uint16_t)ib_bits_get(h, NET(lid)),
		.qp = (uint32_t)ib_bits_get(h, NET(qpn)),
		.qkey = (uint32_t)ib_bits_get(h, NET(qkey)),
		.sl = BYTE(h, sl),
		.path_bits = BYTE(h, path_bits),
		.global = BYTE(h, grh_present),
	};
	if (pkeys)
		memcpy(&ret->pkey_index, h + offsetof(struct ib_user_mad_hdr, pkey_index),
		       sizeof(ret->pkey_index));
	if (!ret->global)
		return;
	ret->grh.gid_index = BYTE(h, gid_index);
	ret->grh.hop_limit = BYTE(h, hop_limit);
	ret->grh.traffic_class = BYTE(h, traffic_class);
	ret->grh.flow_label = (uint32_t)ib_bits_get(h, NET(flow_label)) & 0xFFFFF;
	memcpy(ret->grh.gid, h + offsetof(struct ib_user_mad_hdr, gid), sizeof(ret->grh.gid));
}

/* ---- what came ---- */

static void on_mail(void *owner, struct transport_event *ev)
{
	struct slot *slot = owner;
	struct ufile *f = slot->f;
	bool returned = ev->kind == TRANSPORT_RETURNED;
	size_t head = header_size(f), length = returned ? RETURNED_LENGTH : ev->length;
	struct packet *p;

	/* Programs are informed of timeouts only, not of messages that the peer has stopped. */
	if ((returned && ev->error != -ETIMEDOUT) || f->n_packets == QUEUE_MAX) {
		f->counts.dropped++;
		free(ev->whole);
		return;
	}
	p = xcalloc(1, sizeof(*p));
	p->n = head + length;
	p->bytes = xcalloc(1, p->n);
	PUT(p->bytes, id, slot->id);
	PUT(p->bytes, status, returned ? ETIMEDOUT : 0);
	PUT(p->bytes, length, (uint32_t)p->n);
	put_address(p->bytes, &ev->from, f->pkeys);
	memcpy(p->bytes + head, ev->whole ? ev->whole : ev->mad, length);
	free(ev->whole);
	*f->end = p;
	f->end = &p->next;
	f->n_packets++;
	if (!returned)
		f->counts.received++;
	f->counts.returned += returned;
	f->readable(f->owner);
}

bool ufile_is_readable(const struct ufile *f)
{
	return f->first || f->unplugged;
}

bool ufile_is_unplugged(const struct ufile *f)
{
	return f->unplugged;
}

int ufile_read(struct ufile *f, size_t room, uint8_t **ret, size_t *ret_n)
{
	size_t head = header_size(f), first = head + MAD_SIZE;
	struct packet *p = f->first;

	if (room < head)
		return -EINVAL;
	if (f->unplugged)
		return -EIO;
	if (!p)
		return -EAGAIN;
	if (room < MIN(p->n, first))
		return -EINVAL;
	if (room < p->n) {
		*ret = xmemdup(p->bytes, first);
		*ret_n = first;
		return -ENOSPC;
	}
	take_packet(f);
	*ret = p->bytes;
	*ret_n = p->n;
	free(p);
	return 0;
}

/* ---- what goes ---- */

int ufile_write(struct ufile *f, const uint8_t *bytes, size_t n)
{
	size_t head = header_size(f);
	struct transport_addr to;
	uint32_t id;
	int r;

	if (n < head + WRITE_MIN)
		return -EINVAL;
	id = GET(bytes, id);
	if (id >= UFILE_AGENTS)
		return -EINVAL;
	if (!f->slots[id].agent)
		return -EIO;
	get_address(bytes, f->pkeys, &to);
	r = agent_send(f->slots[id].agent, &to, bytes + head, n - head, GET(bytes, timeout_ms),
		       GET(bytes, retries));
	if (r == -EMSGSIZE)
		r = -EINVAL;
	if (r < 0)
		return r;
	f->counts.sent++;
	return (int)n;
}

/* ---- agents ---- */

struct wish {
	uint32_t qpn;
	uint8_t rmpp_version;
	bool own_rmpp;
	struct agent_spec spec;
};

static bool is_smi(unsigned mgmt_class)
{
	return mgmt_class == MAD_CLASS_SMI_LID || mgmt_class == MAD_CLASS_SMI_DR;
}

static int add_agent(struct ufile *f, const struct wish *wish, uint32_t *ret_id)
{
	struct agent_spec spec = wish->spec;
	struct slot *slot = f->slots;
	int r;

	if (f->unplugged)
		return -EPIPE;
	if (wish->qpn > 1 || wish->rmpp_version > 1)
		return -EINVAL;
	if (spec.mgmt_class && is_smi(spec.mgmt_class) != (wish->qpn == 0))
		return -EINVAL;
	if (f->takes == UFILE_NOTHING ||
	    (f->takes != UFILE_ALL && (wish->qpn == 0) != (f->takes == UFILE_SMPS)))
		return -EPROTONOSUPPORT;
	while (slot < f->slots + UFILE_AGENTS && slot->agent)
		slot++;
	if (slot == f->slots + UFILE_AGENTS)
		return -ENOMEM;
	if (!spec.mgmt_class)
		spec.methods[0] = spec.methods[1] = 0;
	spec.qp = wish->qpn;
	spec.rmpp = wish->rmpp_version && !wish->own_rmpp;
	spec.deliver = on_mail;
	spec.owner = slot;
	r = agent_open(f->sim, f->node, f->port, &spec, &slot->agent);
	if (r < 0)
		return r;
	f->used = true;
	*ret_id = slot->id;
	return 0;
}

static int register_old(struct ufile *f, uint8_t *arg)
{
	struct ib_user_mad_reg_req q;
	struct wish wish;
	int r;

	memcpy(&q, arg, sizeof(q));
	wish = (struct wish){
		.qpn = q.qpn, .rmpp_version = q.rmpp_version,
		.spec = { .mgmt_class = q.mgmt_class, .class_version = q.mgmt_class_version },
	};
	memcpy(wish.spec.methods, q.method_mask, sizeof(wish.spec.methods));
	r = add_agent(f, &wish, &q.id);
	memcpy(arg, &q, sizeof(q));
	return r;
}

static int register_new(struct ufile *f, uint8_t *arg)
{
	struct ib_user_mad_reg_req2 q;
	struct wish wish;
	int r;

	memcpy(&q, arg, sizeof(q));
	if ((q.flags & ~(uint32_t)IB_USER_MAD_REG_FLAGS_CAP) || (q.oui & 0xFF000000)) {
		q.flags = IB_USER_MAD_REG_FLAGS_CAP;
		memcpy(arg, &q, sizeof(q));
		return -EINVAL;
	}
	wish = (struct wish){
		.qpn = q.qpn,
		.rmpp_version = q.rmpp_version,
		.own_rmpp = q.flags & IB_USER_MAD_USER_RMPP,
		.spec = { .mgmt_class = q.mgmt_class, .class_version = q.mgmt_class_version },
	};
	wish.spec.methods[0] = q.method_mask[0];
	wish.spec.methods[1] = q.method_mask[1];
	r = add_agent(f, &wish, &q.id);
	memcpy(arg, &q, sizeof(q));
	return r;
}

static int unregister(struct ufile *f, const uint8_t *arg)
{
	uint32_t id = get_u32(arg, 0);

	if (id >= UFILE_AGENTS || !f->slots[id].agent)
		return -EINVAL;
	f->slots[id].agent = agent_close(f->slots[id].agent);
	return 0;
}

static int enable_pkeys(struct ufile *f)
{
	if (f->used)
		return -EINVAL;
	f->pkeys = true;
	return 0;
}

int ufile_ioctl(struct ufile *f, unsigned request, uint8_t arg[UFILE_IOCTL_MAX], size_t n)
{
	if (n < _IOC_SIZE(request))
		return -EFAULT;
	switch (request) {
	case IB_USER_MAD_REGISTER_AGENT:
		return register_old(f, arg);
	case IB_USER_MAD_REGISTER_AGENT2:
		return register_new(f, arg);
	case IB_USER_MAD_UNREGISTER_AGENT:
		return unregister(f, arg);
	case IB_USER_MAD_ENABLE_PKEY:
		return enable_pkeys(f);
	default:
		return -ENOTTY;
	}
}
