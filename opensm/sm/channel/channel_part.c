// SPDX-License-Identifier: BSD-2-Clause
/* Parts of messages as MADs, and requests that await an answer. */
#include <errno.h>
#include <string.h>

#include "sm/channel/channel_internal.h"
#include "util/mem.h"

/* Time that the transport may take beyond the timeout until it returns a request unanswered. */
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

/* ---- seals --------------------------------------------------------------------------------- */

/* Makes the label of a part, which differs for any two different parts of a session. */
static void label_of(const struct channel_part *p, uint8_t ret[CHANNEL_LABEL_BYTES])
{
	const uint32_t segment = p->offset / CHANNEL_PART_BYTES;

	memset(ret, 0, CHANNEL_LABEL_BYTES);
	ret[0] = (uint8_t)p->kind;
	ret[1] = p->stream;
	ret[2] = p->reason;
	ib_bits_put(ret, 32, 32, p->serial);
	ib_bits_put(ret, 64, 32, segment);
}

static struct channel_box box_of(const uint8_t *part, const uint8_t *key, const uint8_t *label)
{
	return (struct channel_box){
		.key = key, .label = label, .head = part, .head_len = CHP_TAG / 8
	};
}

bool channel_part_open(const struct transport_event *ev, const uint8_t *key,
		       struct channel_part *part, uint8_t ret[CHANNEL_PART_BYTES])
{
	uint8_t label[CHANNEL_LABEL_BYTES];
	const struct channel_box box = box_of(ev->mad + SA_DATA, key, label);

	label_of(part, label);
	if (!channel_open(&box, &part->tag, part->bytes, part->n, ret))
		return false;
	part->bytes = ret;
	return true;
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
		.bytes = part + CHP_BYTES,
	};
	memcpy(ret->tag.bytes, ib_at(part, CHP_TAG), sizeof(ret->tag.bytes));
	if (ev->length < MAD_SIZE)
		return false;
	if (ret->version != CHANNEL_VERSION)
		return true; /* the rest may have another format */
	switch (ret->kind) {
	case PART_SEGMENT:
		return is_segment_whole(ret);
	case PART_REPLY:
		ret->n = ret->length;
		return ret->n <= CHANNEL_PART_BYTES;
	case PART_HELLO:
	case PART_WELCOME:
	case PART_CONFIRM:
		ret->n = CHM_BYTES;
		return true;
	case PART_CONFIRMED:
	case PART_RECEIVED:
	case PART_PENDING:
	case PART_REFUSED:
		return true;
	}
	return false;
}

void channel_meeting_read(const struct channel_part *part, struct channel_meeting *ret)
{
	ret->guid = ib_get(part->bytes, CHM_GUID);
	ret->life = ib_get(part->bytes, CHM_LIFE);
	memcpy(ret->nonce.bytes, ib_at(part->bytes, CHM_NONCE), CHANNEL_NONCE_BYTES);
	memcpy(ret->answered.bytes, ib_at(part->bytes, CHM_ANSWERED), CHANNEL_NONCE_BYTES);
}

/* ---- writing ------------------------------------------------------------------------------- */

void channel_meeting_write(const struct channel_meeting *m, uint8_t ret[CHM_BYTES])
{
	ib_put(ret, CHM_GUID, m->guid);
	ib_put(ret, CHM_LIFE, m->life);
	memcpy(ib_at(ret, CHM_NONCE), m->nonce.bytes, CHANNEL_NONCE_BYTES);
	memcpy(ib_at(ret, CHM_ANSWERED), m->answered.bytes, CHANNEL_NONCE_BYTES);
}

static void write_part(uint8_t *mad, const struct channel_part *p, const uint8_t *key)
{
	uint8_t *part = mad + SA_DATA, label[CHANNEL_LABEL_BYTES];
	const struct channel_box box = box_of(part, key, label);
	struct channel_tag tag = p->tag;

	ib_put(part, CHP_VERSION, CHANNEL_VERSION);
	ib_put(part, CHP_KIND, p->kind);
	ib_put(part, CHP_STREAM, p->stream);
	ib_put(part, CHP_REASON, p->reason);
	ib_put(part, CHP_SESSION, p->session);
	ib_put(part, CHP_SERIAL, p->serial);
	ib_put(part, CHP_LENGTH, p->length);
	ib_put(part, CHP_OFFSET, p->offset);
	label_of(p, label);
	if (key)
		channel_seal(&box, p->bytes, p->n, part + CHP_BYTES, &tag);
	else if (p->n)
		memcpy(part + CHP_BYTES, p->bytes, p->n);
	memcpy(ib_at(part, CHP_TAG), tag.bytes, sizeof(tag.bytes));
}

void channel_answer(struct sm *sm, const struct transport_addr *from, const uint8_t *head,
		    const struct channel_part *part, const uint8_t *key)
{
	struct transport_addr to = *from;
	uint8_t mad[MAD_SIZE] = { 0 };

	memcpy(mad, head, SA_DATA);
	ib_put(mad, SAH_METHOD, MAD_GET_RESP);
	ib_put(mad, SAH_STATUS, SA_OK);
	ib_put(mad, SAH_SM_KEY, 0);
	write_part(mad, part, key);
	to.qkey = MAD_QP1_QKEY;
	to.grh.gid_index = 0;
	mad_send_once(sm->mad, &to, mad);
}

static int send_part(struct sm *sm, uint32_t tid, const struct transport_addr *to,
		     const struct channel_part *part, const uint8_t *key, unsigned timeout_ms)
{
	uint8_t mad[MAD_SIZE] = { 0 };

	ib_put(mad, SAH_BASE_VERSION, 1);
	ib_put(mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(mad, SAH_CLASS_VERSION, 2);
	ib_put(mad, SAH_METHOD, MAD_SET);
	ib_put(mad, SAH_TID, tid);
	ib_put(mad, SAH_ATTR_ID, SA_CHANNEL);
	write_part(mad, part, key);
	return mad_send_gmp(sm->mad, to, mad, sizeof(mad), timeout_ms);
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
		  const uint8_t *key, unsigned timeout_ms)
{
	struct channel *c = sm->m.channel;
	const struct transport_addr to = peer_address(sm, &c->peers[shot->peer]);
	struct channel_shot *s = free_shot(c);
	int r;

	if (!to.lid)
		return -ENOTCONN;
	if (!s)
		return -EAGAIN;
	*s = *shot;
	s->lid = to.lid;
	s->tid = mad_gmp_tid(sm->mad, s->lid);
	s->sent_at = sm->now;
	s->deadline = sm->now + timeout_ms * MONO_MS + GRACE;
	r = send_part(sm, s->tid, &to, part, key, timeout_ms);
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
