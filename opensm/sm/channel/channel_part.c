// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parts of messages as MADs, and the ones that wait for an answer.
 */
#include <errno.h>
#include <string.h>

#include "sm/channel/channel_internal.h"
#include "util/mem.h"

/* The transport gives each request back; one that does not must not hold us for ever. */
#define GRACE (2 * MONO_S)

uint32_t channel_segments(size_t len)
{
	return len ? (uint32_t)((len + CHANNEL_PART_BYTES - 1) / CHANNEL_PART_BYTES) : 1;
}

size_t channel_segment_bytes(size_t len, uint32_t segment)
{
	size_t before = (size_t)segment * CHANNEL_PART_BYTES;

	return before >= len ? 0 : MIN(len - before, (size_t)CHANNEL_PART_BYTES);
}

/* ---- reading ------------------------------------------------------------------------------- */

static bool is_segment_whole(struct channel_part *p)
{
	if (p->offset % CHANNEL_PART_BYTES || (p->offset && p->offset >= p->length))
		return false;
	p->n = channel_segment_bytes(p->length, p->offset / CHANNEL_PART_BYTES);
	return true;
}

bool channel_part_read(const struct transport_event *ev, struct channel_part *ret)
{
	const uint8_t *part = ev->mad + SA_DATA;

	*ret = (struct channel_part){
		.kind = ib_get(part, CHP_KIND),
		.version = ib_get(part, CHP_VERSION),
		.stream = ib_get(part, CHP_STREAM),
		.reason = ib_get(part, CHP_REASON),
		.session = ib_get(part, CHP_SESSION),
		.serial = ib_get(part, CHP_SERIAL),
		.length = ib_get(part, CHP_LENGTH),
		.offset = ib_get(part, CHP_OFFSET),
		.digest = ib_get(part, CHP_DIGEST),
		.message_version = ib_get(part, CHP_MESSAGE_VERSION),
		.bytes = part + CHP_BYTES,
	};
	if (ev->length < MAD_SIZE)
		return false;
	if (ret->version != CHANNEL_VERSION)
		return true; /* what follows may have another format */
	switch (ret->kind) {
	case PART_SEGMENT:
		return is_segment_whole(ret);
	case PART_REPLY:
		ret->n = ret->length;
		return ret->n <= CHANNEL_PART_BYTES;
	case PART_HELLO:
	case PART_WELCOME:
	case PART_RECEIVED:
	case PART_PENDING:
	case PART_REFUSED:
		return true;
	}
	return false;
}

/* ---- writing ------------------------------------------------------------------------------- */

static void write_part(uint8_t *mad, const struct channel_part *p)
{
	uint8_t *part = mad + SA_DATA;

	ib_put(part, CHP_VERSION, CHANNEL_VERSION);
	ib_put(part, CHP_KIND, p->kind);
	ib_put(part, CHP_STREAM, p->stream);
	ib_put(part, CHP_REASON, p->reason);
	ib_put(part, CHP_SESSION, p->session);
	ib_put(part, CHP_SERIAL, p->serial);
	ib_put(part, CHP_LENGTH, p->length);
	ib_put(part, CHP_OFFSET, p->offset);
	ib_put(part, CHP_DIGEST, p->digest);
	ib_put(part, CHP_MESSAGE_VERSION, p->message_version);
	if (p->n)
		memcpy(part + CHP_BYTES, p->bytes, p->n);
}

void channel_answer(struct sm *sm, const struct transport_addr *from, const uint8_t *head,
		    const struct channel_part *part)
{
	struct transport_addr to = *from;
	uint8_t mad[MAD_SIZE] = { 0 };

	memcpy(mad, head, SA_DATA);
	ib_put(mad, SAH_METHOD, MAD_GET_RESP);
	ib_put(mad, SAH_STATUS, SA_OK);
	write_part(mad, part);
	to.qkey = MAD_QP1_QKEY;
	to.grh.gid_index = 0;
	mad_send_once(sm->mad, &to, mad);
}

/* Managers talk to each other in the default partition. */
static uint16_t default_pkey_index(const struct sm *sm)
{
	const struct port *own = sm->fabric->own_port;
	const uint8_t *block = own ? fabric_cell(sm->fabric, own, TABLE_PKEYS, 0) : NULL;

	for (unsigned i = 0; block && i < PKEYS_PER_BLOCK; i++) {
		if ((ib_bits_get(block, i * 16, 16) & PKEY_BASE) == PKEY_DEFAULT)
			return (uint16_t)i;
	}
	return 0;
}

static struct transport_addr address_of(const struct sm *sm, lid_t lid)
{
	return (struct transport_addr){
		.lid = lid,
		.sl = sm->m.channel->questions->path_sl(sm, lid),
		.qp = 1,
		.qkey = MAD_QP1_QKEY,
		.pkey_index = default_pkey_index(sm),
	};
}

static int send_part(struct sm *sm, const struct channel_shot *shot,
		     const struct channel_part *part, unsigned timeout_ms)
{
	struct transport_addr to = address_of(sm, shot->lid);
	uint8_t mad[MAD_SIZE] = { 0 };

	ib_put(mad, SAH_BASE_VERSION, 1);
	ib_put(mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(mad, SAH_CLASS_VERSION, 2);
	ib_put(mad, SAH_METHOD, MAD_SET);
	ib_put(mad, SAH_TID, shot->tid);
	ib_put(mad, SAH_ATTR_ID, SA_CHANNEL);
	ib_put(mad, SAH_SM_KEY, sm->conf->sa_key);
	write_part(mad, part);
	return mad_send_gmp(sm->mad, &to, mad, sizeof(mad), timeout_ms);
}

/* ---- shots --------------------------------------------------------------------------------- */

static struct channel_shot *free_shot(struct channel *c)
{
	for (unsigned i = 0; i < CHANNEL_SHOTS; i++) {
		if (!c->shots[i].tid)
			return &c->shots[i];
	}
	return NULL;
}

int channel_shoot(struct sm *sm, const struct channel_shot *shot, const struct channel_part *part,
		  unsigned timeout_ms)
{
	struct channel *c = sm->m.channel;
	struct channel_shot *s = free_shot(c);
	int r;

	if (!s)
		return -EAGAIN;
	*s = *shot;
	s->tid = mad_gmp_tid(sm->mad, s->lid);
	s->sent_at = sm->now;
	s->deadline = sm->now + timeout_ms * MONO_MS + GRACE;
	r = send_part(sm, s, part, timeout_ms);
	if (r < 0) {
		s->tid = 0;
		c->blocked_until = sm->now + MONO_MS;
		return r;
	}
	c->n_shots++;
	c->stats.parts_sent++;
	return 0;
}

static struct channel_shot *shot_of(struct channel *c, uint32_t tid)
{
	for (unsigned i = 0; tid && i < CHANNEL_SHOTS; i++) {
		if (c->shots[i].tid == tid)
			return &c->shots[i];
	}
	return NULL;
}

struct channel_shot *channel_find_shot(struct sm *sm, const struct transport_event *ev)
{
	struct channel_shot *s = shot_of(sm->m.channel, (uint32_t)ib_get(ev->mad, SAH_TID));

	if (ev->kind != TRANSPORT_MAD)
		return s;
	if (s && ev->from.lid == s->lid && ev->from.qp == 1)
		return s;
	mad_refuse_gmp(sm->mad, s ? MAD_STRAY_ELSEWHERE : MAD_STRAY_UNASKED, ev);
	return NULL;
}

void channel_free_shot(struct channel *c, struct channel_shot *shot)
{
	shot->tid = 0;
	c->n_shots--;
}

void channel_free_shots(struct channel *c, unsigned peer)
{
	for (unsigned i = 0; i < CHANNEL_SHOTS; i++) {
		if (c->shots[i].tid && c->shots[i].peer == peer)
			channel_free_shot(c, &c->shots[i]);
	}
}
