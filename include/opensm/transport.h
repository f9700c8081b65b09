// SPDX-License-Identifier: BSD-2-Clause
/*
 * The transport contract: how MADs leave and arrive. Implemented by libvendor/umad.c over libibumad
 * and by sim, the in-process fabric.
 *
 * A transport is one port. It is used by one thread, never blocks, and owns no policy: the size of
 * the window, retries and matching of answers to questions live in mad/. The rules an
 * implementation keeps:
 *
 *  - A request sent with a timeout comes back exactly once: as its response (TRANSPORT_MAD), or,
 *    when none came in time, as itself (TRANSPORT_RETURNED with error -ETIMEDOUT or what the
 *    kernel said). Only the low 32 bits of a TID are the caller's; they come back unchanged.
 *  - A MAD sent with timeout 0 (a response, TrapRepress) is sent once and never comes back.
 *  - Requests of others (Get, Set, Trap ...) arrive as TRANSPORT_MAD with the full TID, which the
 *    answer must carry.
 *  - The port vanishing is told once: TRANSPORT_GONE. After it send() gives -ENODEV.
 *  - RMPP (13.6) is the transport's affair, both ways: a message of the SA class whose RMPP Active
 *    flag is set may be longer than one MAD and is handed over and delivered whole: common header,
 *    RMPP header, SA header (56 bytes together), then all of the data.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRANSPORT_MAD_SIZE 256
/* Longest message taken in or sent; an implementation refuses more with -EMSGSIZE. */
#define TRANSPORT_MESSAGE_MAX (64u << 20)

/* Global route header of a MAD that came with one; an answer goes back with it turned round. */
struct transport_grh {
	uint8_t gid[16]; /* of the other side, wire order */
	uint32_t flow_label;
	uint8_t gid_index; /* of ours */
	uint8_t hop_limit;
	uint8_t traffic_class;
};

/* Where a MAD goes to, or came from. Directed-route SMPs use lid 0xFFFF, qp 0. Host order. */
struct transport_addr {
	uint16_t lid;
	uint8_t sl;
	uint8_t path_bits;
	uint32_t qp;
	uint32_t qkey;
	uint16_t pkey_index;
	bool global; /* grh counts */
	struct transport_grh grh;
};

/* A request of queue(). ENDED: it came back, or was forgotten, or never was. */
enum transport_fate { TRANSPORT_ENDED, TRANSPORT_WAITS, TRANSPORT_ON_WIRE };

enum transport_kind { TRANSPORT_MAD, TRANSPORT_RETURNED, TRANSPORT_GONE };

struct transport_event {
	enum transport_kind kind;
	int error; /* TRANSPORT_RETURNED: -ETIMEDOUT ...; TRANSPORT_GONE: -errno */
	struct transport_addr from;
	/* Of a request of queue(): microseconds since it went on the wire. 0: not known. */
	uint32_t took_us;
	/* Of the message; SMPs always 256. What comes back may be its common header, 24 bytes. */
	size_t length;
	uint8_t mad[TRANSPORT_MAD_SIZE]; /* its first bytes, zeroes behind a short one */
	/*
	 * All `length` bytes when that is more than TRANSPORT_MAD_SIZE, else NULL; the receiver
	 * frees it.
	 */
	uint8_t *whole;
};

/* The port as its driver knows it, which needs no M_Key for that. */
struct transport_port {
	uint16_t lid, sm_lid; /* 0: none yet */
	uint8_t sm_sl, lmc;
	/*
	 * As the device that GMPs leave by has them: mostly the same one, else it may lag behind.
	 */
	uint16_t gmp_lid, gmp_sm_lid;
};

struct transport;

struct transport_ops {
	/*
	 * A descriptor that polls readable while receive() has something; -1 if there is none
	 * (sim).
	 */
	int (*fd)(struct transport *t);
	/*
	 * Queues one MAD. timeout_ms 0: no answer expected. 0, -EAGAIN (try again after the next
	 * receive), -ENODEV (port gone), or another -errno for this MAD alone.
	 */
	int (*send)(struct transport *t, const struct transport_addr *to, const uint8_t *mad,
		    size_t length, unsigned timeout_ms);
	/*
	 * All that was handed to send() leaves now. Without this it may wait for more. NULL: none
	 * waits.
	 */
	void (*flush)(struct transport *t);
	/*
	 * A transport that refills the wire by itself, so that it is full while the caller
	 * computes. NULL, all four: it does not.
	 *
	 * set_window(): of requests given to queue(), at most `window` are on the wire. False: it
	 * cannot; queue() must not be called.
	 */
	bool (*set_window)(struct transport *t, unsigned window);
	/*
	 * As send(); the request waits for a place on the wire, behind those before it. `tid`: the
	 * low half of its id, which no other request under way has.
	 */
	int (*queue)(struct transport *t, const struct transport_addr *to, const uint8_t *mad,
		     uint32_t tid, unsigned timeout_ms);
	/*
	 * The request does not count as on the wire any more, though it may still come back; or, if
	 * it waits, it is never sent, and does not come back. Returns its fate before.
	 */
	enum transport_fate (*forget)(struct transport *t, uint32_t tid);
	/* *ret_us: ON_WIRE: microseconds of CLOCK_MONOTONIC when it was sent. */
	enum transport_fate (*fate)(struct transport *t, uint32_t tid, int64_t *ret_us);
	/* The next event. 1: *ret filled (whole set too), 0: nothing there now. Never blocks. */
	int (*receive)(struct transport *t, struct transport_event *ret);
	/* Sets or clears the IsSM bit of the port (issm). 0 or -errno. */
	int (*set_issm)(struct transport *t, bool on);
	/* Ends it; pending requests do not come back. Returns NULL. */
	struct transport *(*close)(struct transport *t);
	/* 0, or -errno. NULL: the transport does not know. */
	int (*look)(struct transport *t, struct transport_port *ret);
};

/* First member of every implementation's own struct. */
struct transport {
	const struct transport_ops *ops;
	uint64_t port_guid;
};

static inline int transport_fd(struct transport *t)
{
	return t->ops->fd(t);
}

static inline int transport_send(struct transport *t, const struct transport_addr *to,
				 const uint8_t *mad, size_t length, unsigned timeout_ms)
{
	return t->ops->send(t, to, mad, length, timeout_ms);
}

static inline void transport_flush(struct transport *t)
{
	if (t->ops->flush)
		t->ops->flush(t);
}

static inline bool transport_set_window(struct transport *t, unsigned window)
{
	return t->ops->set_window && t->ops->set_window(t, window);
}

static inline int transport_queue(struct transport *t, const struct transport_addr *to,
				  const uint8_t *mad, uint32_t tid, unsigned timeout_ms)
{
	return t->ops->queue(t, to, mad, tid, timeout_ms);
}

static inline enum transport_fate transport_forget(struct transport *t, uint32_t tid)
{
	return t->ops->forget(t, tid);
}

static inline enum transport_fate transport_fate_of(struct transport *t, uint32_t tid,
						    int64_t *ret_us)
{
	return t->ops->fate(t, tid, ret_us);
}

static inline int transport_receive(struct transport *t, struct transport_event *ret)
{
	return t->ops->receive(t, ret);
}

static inline int transport_set_issm(struct transport *t, bool on)
{
	return t->ops->set_issm(t, on);
}

static inline int transport_look(struct transport *t, struct transport_port *ret)
{
	return t->ops->look ? t->ops->look(t, ret) : -ENOTSUP;
}

static inline struct transport *transport_close(struct transport *t)
{
	return t ? t->ops->close(t) : NULL;
}
