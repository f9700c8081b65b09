// SPDX-License-Identifier: BSD-2-Clause
/*
 * SA requests of a host in the simulator, as the kernel's ib_sa and ipoib send them, in virtual
 * time, beside the managers of a rig.
 */
#pragma once

#include "ib/records.h"
#include "sim/sim.h"
#include "tests/lib/rig.h"

struct client {
	struct sim *sim;
	struct transport *tr;
	int node;
	unsigned port;
	guid_t guid;
	uint32_t tid;
	uint64_t sm_key;    /* sent with every request */
	unsigned reports;   /* number of Reports received and answered */
	bool mute;	    /* set if Reports are not answered */
	uint8_t notice[NT_BYTES]; /* the last notice of traps 64 to 67 */
};

/*
 * A client on the first port of a host without a manager. NULL: there is no such node, or it is
 * taken.
 */
struct client *client_new(struct sim *sim, const char *node);
struct client *client_free(struct client *c);

struct question {
	uint8_t method;
	uint16_t attr;
	uint32_t mod;
	uint64_t mask;
	const void *data;
	size_t len;
};

/* Sends a request without waiting. 0 or -errno of the transport. */
int client_send(struct client *c, const struct question *q);
/*
 * Receives what has arrived. 1: `ret` is an answer (or a request returned unanswered); 0: there is
 * none.
 */
int client_receive(struct client *c, struct transport_event *ret);
/*
 * Sends a request and lets time pass until the answer is there. Returns the SA status, or
 * -ETIMEDOUT. `ret` is valid then; its owner frees ret->whole.
 */
int client_ask(struct client *c, struct rig *rig, const struct question *q,
	       struct transport_event *ret);

/* Join of ipoib: broadcast group of `pkey` (only MGID, PortGID, P_Key, JoinState). */
struct question client_join_broadcast(const struct client *c, uint16_t pkey,
				      uint8_t record[MCM_BYTES]);
/* Join or leave of any group, with all components for creation. method MAD_SET or MAD_SA_DELETE. */
struct question client_join(const struct client *c, uint8_t method, const uint8_t mgid[16],
			    unsigned join_state, uint8_t record[MCM_BYTES]);
/* PathRecord request of ipoib: SGID, DGID, P_Key, NumbPath 1. */
struct question client_path(const struct client *c, guid_t to, uint16_t pkey,
			    uint8_t record[PR_BYTES]);

/* The MGID of the group with this number, for client_join(). */
void client_mgid(unsigned group, uint8_t ret[16]);
/* ServiceRecord "service ID" of this host (MAD_SET), or any service of that ID (MAD_GET). */
struct question client_service(const struct client *c, uint8_t method, uint64_t id, uint32_t lease,
			       uint8_t record[SVR_BYTES]);
/* InformInfo: subscribes to all notices. */
struct question client_subscribe(uint8_t record[INF_BYTES]);
/* GUIDInfoRecord of this port: MAD_SET puts `guid` at index 1, MAD_GET reads. */
struct question client_alias(const struct client *c, uint8_t method, guid_t guid,
			     uint8_t record[GIR_BYTES]);

/* The answer's first record. */
static inline const uint8_t *client_record(const struct transport_event *ev)
{
	return (ev->whole ? ev->whole : ev->mad) + SA_DATA;
}
