// SPDX-License-Identifier: BSD-2-Clause
#include "tests/lib/tap.h"

#include <string.h>

#include "ib/attrs.h"
#include "ib/records.h"
#include "util/random.h"

static int tap_fd(struct transport *t)
{
	return transport_fd(((struct tap *)t)->under);
}

static bool tap_rolls(struct tap *tap, unsigned per_cent)
{
	return per_cent && random_next(&tap->channel.dice) % 100 < per_cent;
}

bool tap_is_part(const uint8_t *mad)
{
	return ib_get(mad, SMP_CLASS) == MAD_CLASS_SA && ib_get(mad, SAH_ATTR_ID) == SA_CHANNEL;
}

static void tap_seeks(struct tap *tap, const uint8_t *mad)
{
	uint8_t sought[8];

	ib_bits_put(sought, 0, 64, tap->channel.sought);
	for (unsigned i = 0; tap->channel.sought && i + sizeof(sought) <= MAD_SIZE; i++)
		tap->channel.found += memcmp(mad + i, sought, sizeof(sought)) == 0;
}

/* False: it gets lost on the way. */
static bool tap_sends_part(struct tap *tap, const uint8_t *mad, bool request)
{
	tap_seeks(tap, mad);
	memcpy(tap->channel.sent, mad, MAD_SIZE);
	tap->channel.n_sent++;
	tap->channel.n_requests += request;
	return request || !tap_rolls(tap, tap->channel.lost);
}

/* As version 1 of the channel registers itself. */
static int tap_send_old(struct tap *tap, const struct transport_addr *to, const uint8_t *mad,
			size_t length, unsigned timeout_ms)
{
	uint8_t old[MAD_SIZE];

	memcpy(old, mad, sizeof(old));
	if (ib_get(old, SAH_ATTR_ID) == SA_SERVICE_RECORD && ib_get(old, SAH_METHOD) == MAD_SET)
		ib_put(old + SA_DATA + SVR_DATA8_0 / 8, SMC_CHANNEL, 1);
	return transport_send(tap->under, to, old, length, timeout_ms);
}

static int tap_send(struct transport *t, const struct transport_addr *to, const uint8_t *mad,
		    size_t length, unsigned timeout_ms)
{
	struct tap *tap = (struct tap *)t;

	if (tap->sees)
		tap->sees(to, mad, length);
	if (tap_is_part(mad) && tap->channel.old)
		return 0;
	if (tap_is_part(mad))
		return tap_sends_part(tap, mad, timeout_ms)
			       ? transport_send(tap->under, to, mad, length, timeout_ms)
			       : 0;
	if (ib_get(mad, SMP_CLASS) == MAD_CLASS_SA && timeout_ms) {
		tap->to = *to;
		memcpy(tap->mad, mad, sizeof(tap->mad));
		tap->waits = true;
		tap->questions++;
	}
	if (tap->unregistered && ib_get(mad, SMP_CLASS) == MAD_CLASS_SA &&
	    ib_get(mad, SAH_ATTR_ID) == SA_SERVICE_RECORD && ib_get(mad, SAH_METHOD) == MAD_SET)
		return 0;
	if (tap->channel.old && length == MAD_SIZE)
		return tap_send_old(tap, to, mad, length, timeout_ms);
	return transport_send(tap->under, to, mad, length, timeout_ms);
}

/* In what the channel reads of it: SA_DATA and what follows. */
static void tap_flips(struct tap *tap, struct transport_event *ev)
{
	unsigned bit;

	if (ev->kind != TRANSPORT_MAD || !tap_is_part(ev->mad) ||
	    !tap_rolls(tap, tap->channel.flipped))
		return;
	bit = random_next(&tap->channel.dice) % (8 * (CHP_BYTES + CHANNEL_PART_BYTES));
	ev->mad[SA_DATA + bit / 8] ^= (uint8_t)(1u << bit % 8);
}

/* A request arrives, or not, or twice, or later. False: not now. */
static bool tap_hears_part(struct tap *tap, const struct transport_event *ev)
{
	if (ev->kind != TRANSPORT_MAD || !tap_is_part(ev->mad) ||
	    ib_get(ev->mad, SAH_METHOD) & MAD_RESPONSE_BIT)
		return true;
	if (tap->channel.cut || tap->channel.old || tap_rolls(tap, tap->channel.lost))
		return false;
	tap->channel.heard[tap->channel.n_heard++ % TAP_HEARD] = *ev;
	if (tap->channel.wait)
		return true;
	if (tap_rolls(tap, tap->channel.twice)) {
		tap->channel.kept = *ev;
		tap->channel.wait = 1 + random_next(&tap->channel.dice) % 5;
		return true;
	}
	if (!tap_rolls(tap, tap->channel.late))
		return true;
	tap->channel.kept = *ev;
	tap->channel.wait = 1 + random_next(&tap->channel.dice) % 5;
	return false;
}

static int tap_receive_next(struct tap *tap, struct transport_event *ret)
{
	if (tap->channel.wait == 1) {
		*ret = tap->channel.kept;
		tap->channel.wait = 0;
		return 1;
	}
	for (;;) {
		int r = transport_receive(tap->under, ret);

		if (r != 1)
			return r;
		tap->channel.wait -= tap->channel.wait > 1;
		tap_flips(tap, ret);
		if (tap_hears_part(tap, ret))
			return r;
	}
}

static bool is_heard(const struct tap *tap, const struct transport_event *ev)
{
	unsigned class = ev->kind == TRANSPORT_MAD ? ib_get(ev->mad, SMP_CLASS) : 0;

	if (!tap->deaf || (class != MAD_CLASS_SMI_DR && class != MAD_CLASS_SMI_LID))
		return true;
	return ib_get(ev->mad, SMP_METHOD) != MAD_TRAP &&
	       (ib_get(ev->mad, SMP_METHOD) != MAD_GET_RESP ||
		ib_get(ev->mad, SMP_ATTR_ID) != IB_ATTR_SM_INFO);
}

static int tap_receive(struct transport *t, struct transport_event *ret)
{
	struct tap *tap = (struct tap *)t;
	int r = tap_receive_next(tap, ret);

	while (r == 1 && !is_heard(tap, ret))
		r = tap_receive_next(tap, ret);
	if (r == 1 && ib_get(ret->mad, SMP_CLASS) == MAD_CLASS_SA &&
	    (uint32_t)ib_get(ret->mad, SAH_TID) == (uint32_t)ib_get(tap->mad, SAH_TID))
		tap->waits = false;
	return r;
}

static int tap_set_issm(struct transport *t, bool on)
{
	return transport_set_issm(((struct tap *)t)->under, on);
}

static int tap_look(struct transport *t, struct transport_port *ret)
{
	return transport_look(((struct tap *)t)->under, ret);
}

/* The owner of the port closes it. */
static struct transport *tap_close(struct transport *t)
{
	return NULL;
}

struct transport *tap_open(struct tap *tap, struct transport *under)
{
	static const struct transport_ops ops = { .fd = tap_fd,
						  .send = tap_send,
						  .receive = tap_receive,
						  .set_issm = tap_set_issm,
						  .close = tap_close,
						  .look = tap_look };

	tap->base = (struct transport){ .ops = &ops, .port_guid = under->port_guid };
	tap->under = under;
	return &tap->base;
}
