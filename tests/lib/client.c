// SPDX-License-Identifier: BSD-2-Clause
/* A host's side of subnet administration, in the simulator. */
#include "tests/lib/client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"

#define PREFIX	   0xFE80000000000000ull
#define TIMEOUT_MS 2000

struct client *client_new(struct sim *sim, const char *node)
{
	struct transport *tr = sim_attach(sim, node, 0);
	struct client *c;

	if (!tr)
		return NULL;
	c = xcalloc(1, sizeof(*c));
	c->sim = sim;
	c->tr = tr;
	c->node = sim_find(sim, node);
	c->port = sim_node_is_switch(sim, c->node) ? 0 : 1;
	c->guid = tr->port_guid;
	return c;
}

struct client *client_free(struct client *c)
{
	if (c)
		transport_close(c->tr);
	free(c);
	return NULL;
}

static void put_gid(uint8_t *p, guid_t guid)
{
	ib_bits_put(p, 0, 64, PREFIX);
	ib_bits_put(p, 64, 64, guid);
}

int client_send(struct client *c, const struct question *q)
{
	uint8_t mad[MAD_SIZE] = { 0 }, info[SMP_DATA_SIZE];
	struct transport_addr to = { .qp = 1, .qkey = MAD_QP1_QKEY };

	if (sim_read(c->sim, c->node, IB_ATTR_PORT_INFO, c->port, info) < 0)
		return -ENODEV;
	to.lid = ib_get(info, PI_MASTER_SM_LID);
	ib_put(mad, SAH_BASE_VERSION, 1);
	ib_put(mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(mad, SAH_CLASS_VERSION, 2);
	ib_put(mad, SAH_METHOD, q->method);
	ib_put(mad, SAH_TID, ++c->tid);
	ib_put(mad, SAH_ATTR_ID, q->attr);
	ib_put(mad, SAH_ATTR_MOD, q->mod);
	ib_put(mad, SAH_SM_KEY, c->sm_key);
	ib_put(mad, SAH_COMP_MASK, q->mask);
	memcpy(mad + SA_DATA, q->data, MIN(q->len, (size_t)SA_DATA_SIZE));
	return transport_send(c->tr, &to, mad, sizeof(mad), TIMEOUT_MS);
}

/* A ReportResp is the Report with another method (13.4.9). */
static void take_report(struct client *c, const struct transport_event *ev)
{
	struct transport_addr to = ev->from;
	uint8_t mad[MAD_SIZE];

	c->reports++;
	if (ib_get(ev->mad + SA_DATA, NT_TRAP) <= TRAP_MGID_DESTROYED)
		memcpy(c->notice, ev->mad + SA_DATA, sizeof(c->notice));
	if (c->mute)
		return;
	memcpy(mad, ev->mad, sizeof(mad));
	ib_put(mad, SAH_METHOD, MAD_REPORT_RESP);
	to.qkey = MAD_QP1_QKEY;
	transport_send(c->tr, &to, mad, sizeof(mad), 0);
}

int client_receive(struct client *c, struct transport_event *ret)
{
	ret->whole = NULL;
	while (transport_receive(c->tr, ret) > 0) {
		if (ib_get(ret->mad, SAH_CLASS) != MAD_CLASS_SA ||
		    ib_get(ret->mad, SAH_METHOD) == MAD_REPORT) {
			if (ret->kind == TRANSPORT_MAD &&
			    ib_get(ret->mad, SAH_CLASS) == MAD_CLASS_SA)
				take_report(c, ret);
			free(ret->whole);
			ret->whole = NULL;
			continue;
		}
		return 1;
	}
	return 0;
}

int client_ask(struct client *c, struct rig *rig, const struct question *q,
	       struct transport_event *ret)
{
	mono_t until = sim_now(c->sim) + 10 * MONO_S;
	int r = client_send(c, q);

	while (r == 0) {
		if (client_receive(c, ret) > 0) {
			if (ret->kind == TRANSPORT_RETURNED)
				return ret->error;
			if ((uint32_t)ib_get(ret->mad, SAH_TID) == c->tid)
				return (int)ib_get(ret->mad, SAH_STATUS);
			free(ret->whole);
		} else if (!rig_step(rig, until)) {
			return -ETIMEDOUT;
		}
	}
	return r;
}

struct question client_join_broadcast(const struct client *c, uint16_t pkey,
				      uint8_t record[MCM_BYTES])
{
	static const uint8_t broadcast[16] = { 0xFF, 0x12, 0x40, 0x1B, 0, 0, 0,	   0,
					       0,    0,	   0,	 0,    0xFF, 0xFF, 0xFF, 0xFF };

	memset(record, 0, MCM_BYTES);
	memcpy(ib_at(record, MCM_MGID), broadcast, 16);
	ib_bits_put(record, 32, 16, pkey | 0x8000);
	put_gid(ib_at(record, MCM_PORT_GID), c->guid);
	ib_put(record, MCM_PKEY, pkey | 0x8000);
	ib_put(record, MCM_JOIN_STATE, MC_FULL);
	return (struct question){
		.method = MAD_SET,
		.attr = SA_MC_MEMBER_RECORD,
		.mask = SA_COMP(MCM_MGID) | SA_COMP(MCM_PORT_GID) | SA_COMP(MCM_PKEY) |
			SA_COMP(MCM_JOIN_STATE),
		.data = record,
		.len = MCM_BYTES,
	};
}

struct question client_join(const struct client *c, uint8_t method, const uint8_t mgid[16],
			    unsigned join_state, uint8_t record[MCM_BYTES])
{
	uint64_t mask = SA_COMP(MCM_MGID) | SA_COMP(MCM_PORT_GID) | SA_COMP(MCM_JOIN_STATE);

	memset(record, 0, MCM_BYTES);
	memcpy(ib_at(record, MCM_MGID), mgid, 16);
	put_gid(ib_at(record, MCM_PORT_GID), c->guid);
	ib_put(record, MCM_JOIN_STATE, join_state);
	ib_put(record, MCM_PKEY, 0xFFFF);
	ib_put(record, MCM_QKEY, 0x0B1B);
	if (method == MAD_SET)
		mask |= SA_COMP(MCM_PKEY) | SA_COMP(MCM_QKEY) | SA_COMP(MCM_TCLASS) |
			SA_COMP(MCM_SL) | SA_COMP(MCM_FLOW);
	return (struct question){
		.method = method,
		.attr = SA_MC_MEMBER_RECORD,
		.mask = mask,
		.data = record,
		.len = MCM_BYTES,
	};
}

struct question client_path(const struct client *c, guid_t to, uint16_t pkey,
			    uint8_t record[PR_BYTES])
{
	memset(record, 0, PR_BYTES);
	put_gid(ib_at(record, PR_SGID), c->guid);
	put_gid(ib_at(record, PR_DGID), to);
	ib_put(record, PR_PKEY, pkey);
	ib_put(record, PR_NUMB_PATH, 1);
	return (struct question){
		.method = MAD_GET,
		.attr = SA_PATH_RECORD,
		.mask = SA_COMP(PR_SGID) | SA_COMP(PR_DGID) | SA_COMP(PR_PKEY) |
			SA_COMP(PR_NUMB_PATH),
		.data = record,
		.len = PR_BYTES,
	};
}

void client_mgid(unsigned group, uint8_t ret[16])
{
	memset(ret, 0, 16);
	ret[0] = 0xFF;
	ret[1] = 0x12;
	ret[2] = 0x10;
	ret[3] = 0x10;
	ret[14] = (uint8_t)(group >> 8);
	ret[15] = (uint8_t)group;
}

struct question client_service(const struct client *c, uint8_t method, uint64_t id, uint32_t lease,
			       uint8_t record[SVR_BYTES])
{
	struct question q = { .method = method,
			      .attr = SA_SERVICE_RECORD,
			      .mask = SA_COMP(SVR_ID),
			      .data = record,
			      .len = SVR_BYTES };

	memset(record, 0, SVR_BYTES);
	ib_put(record, SVR_ID, id);
	if (method != MAD_SET)
		return q;
	q.mask |= SA_COMP(SVR_GID) | SA_COMP(SVR_LEASE) | SA_COMP(SVR_NAME);
	put_gid(ib_at(record, SVR_GID), c->guid);
	ib_put(record, SVR_LEASE, lease);
	snprintf((char *)ib_at(record, SVR_NAME), 64, "service %u", (unsigned)id);
	return q;
}

struct question client_subscribe(uint8_t record[INF_BYTES])
{
	memset(record, 0, INF_BYTES);
	ib_put(record, INF_LID_BEGIN, 0xFFFF);
	ib_put(record, INF_IS_GENERIC, 1);
	ib_put(record, INF_SUBSCRIBE, 1);
	ib_put(record, INF_TYPE, 0xFFFF);
	ib_put(record, INF_TRAP, 0xFFFF);
	ib_put(record, INF_PRODUCER, 0xFFFFFF);
	return (struct question){
		.method = MAD_SET, .attr = SA_INFORM_INFO, .data = record, .len = INF_BYTES
	};
}

struct question client_alias(const struct client *c, uint8_t method, guid_t guid,
			     uint8_t record[GIR_BYTES])
{
	memset(record, 0, GIR_BYTES);
	ib_put(record, GIR_LID, sim_port_lid(c->sim, c->node, c->port));
	ib_put(record, GIR_GUID1, guid);
	return (struct question){ .method = method,
				  .attr = SA_GUID_INFO_RECORD,
				  .mask = SA_COMP(GIR_LID) | SA_COMP(GIR_BLOCK) |
					  (method == MAD_SET ? SA_COMP(GIR_GUID1) : 0),
				  .data = record,
				  .len = GIR_BYTES };
}
