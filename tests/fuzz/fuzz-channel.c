// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary parts of the channel between managers against a standby, as if its master had sent and
 * sealed them, and arbitrary answers against the master. The input is a row of commands: a byte
 * that says which side and what is made right in the part, a byte with its length, and bytes that
 * overwrite the part from its beginning. Whatever arrives, no message is delivered that its sender
 * did not seal, and afterwards a message of the master's own is delivered once, and one of the
 * standby's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/records.h"
#include "sim/gen/gen.h"
#include "sm/channel/channel_internal.h"
#include "tests/lib/channel-seal.h"
#include "tests/lib/rig.h"
#include "util/log.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);
extern const unsigned fuzz_runs;
const unsigned fuzz_runs = 150; /* replay.c: two managers come up for each */

#define MAX_PARTS 200

enum { TO_MASTER = 1, RIGHT_SESSION = 2, RIGHT_SERIAL = 4, RIGHT_SEAL = 8, WRONG_LID = 16,
       FIRST_SHOT = 32 };

static unsigned delivered, replied, lost;
static bool is_allowed; /* to deliver: some part was sealed, or was sent */

static void on_message(struct sm *sm, void *arg, struct channel_message *m)
{
	bool is_of_test = m->version == 1;

	if (is_of_test && !is_allowed)
		abort();
	delivered += is_of_test;
	if (m->len > CHANNEL_MESSAGE_MAX)
		abort();
	if (m->version % 2 || !m->version)
		channel_reply(sm, &m->ticket, m->bytes, MIN(m->len, (size_t)CHANNEL_REPLY_MAX));
}

static void on_reply(struct sm *sm, void *arg, guid_t peer, enum channel_end end,
		     const uint8_t *bytes, size_t len)
{
	replied++;
	lost += end != CHANNEL_REPLIED;
	if (len > CHANNEL_REPLY_MAX || (end != CHANNEL_REPLIED && len))
		abort();
}

static lid_t lid_of(const struct sm *sm, guid_t guid)
{
	const struct port *p = fabric_find_port(sm_fabric(sm), guid);

	return p ? ib_get(p->info, PI_LID) : 0;
}

static void correct(struct sm *to, const struct sm *from, unsigned flags,
		    struct transport_event *ev)
{
	uint8_t *part = ev->mad + SA_DATA;
	const struct channel_peer *p = peer_find(from->m.channel, to->tr->port_guid),
				  *back = peer_find(to->m.channel, from->tr->port_guid);
	const struct channel_session *session = flags & TO_MASTER ? &back->session : &p->session;

	if (flags & RIGHT_SESSION)
		ib_put(part, CHP_SESSION, session->id);
	if (flags & RIGHT_SERIAL)
		ib_put(part, CHP_SERIAL, ib_get(part, CHP_SERIAL) & 3);
	if (flags & RIGHT_SEAL) {
		seal_part(flags & TO_MASTER ? session->back : session->forth, ev->mad);
		is_allowed = true;
	}
	ev->from.lid = lid_of(to, from->tr->port_guid);
	if (flags & WRONG_LID)
		ev->from.lid++;
}

static void send_one(struct rig *rig, unsigned flags, const uint8_t *bytes, size_t n)
{
	bool to_master = flags & TO_MASTER;
	struct sm *to = rig->sms[!to_master].sm, *from = rig->sms[to_master].sm;
	struct transport_event ev = { .kind = TRANSPORT_MAD, .length = MAD_SIZE };
	uint8_t *part = ev.mad + SA_DATA;

	ib_put(ev.mad, SAH_BASE_VERSION, 1);
	ib_put(ev.mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(ev.mad, SAH_METHOD, to_master ? MAD_GET_RESP : MAD_SET);
	ib_put(ev.mad, SAH_ATTR_ID, SA_CHANNEL);
	ib_put(part, CHP_VERSION, CHANNEL_VERSION);
	memcpy(part, bytes, MIN(n, (size_t)SA_DATA_SIZE));
	if (to_master)
		ib_put(ev.mad, SAH_TID, to->m.channel->shots[flags / FIRST_SHOT].tid);
	ev.from.qp = 1;
	correct(to, from, flags, &ev);
	inbox_gmp(to, &ev, sim_now(rig->sim));
}

static void send_all(struct rig *rig, const uint8_t *input, size_t len)
{
	for (unsigned i = 0; i < MAX_PARTS && len >= 2; i++) {
		size_t n = MIN((size_t)input[1], len - 2);

		send_one(rig, input[0], input + 2, n);
		input += 2 + n;
		len -= 2 + n;
		rig_run(rig, sim_now(rig->sim) + MONO_MS);
	}
}

static void require(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static bool exchange_once(struct rig *rig, unsigned from)
{
	guid_t guid = rig->sms[!from].sm->tr->port_guid;
	uint8_t bytes[1000] = { 1, 2, 3 };
	int r = -EBUSY;

	rig_run(rig, sim_now(rig->sim) + 100 * MONO_S);
	delivered = replied = lost = 0;
	is_allowed = true;
	/* The manager has messages of its own; in between the stream is free. */
	for (unsigned i = 0; i < 200 && r == -EBUSY; i++) {
		rig_run(rig, sim_now(rig->sim) + MONO_S);
		r = channel_send(rig->sms[from].sm, guid, CHANNEL_LEDGER, 1, bytes, sizeof(bytes),
				 on_reply, NULL);
	}
	require(r == 0, "the channel is closed");
	rig_run(rig, sim_now(rig->sim) + 100 * MONO_S);
	require(replied == 1, "a message did not end once");
	require(lost || delivered == 1, "a message was not delivered once");
	return !lost;
}

/*
 * Own messages still go through; where others had later numbers under the right seal, after the
 * first has failed.
 */
static void exchange(struct rig *rig, unsigned from)
{
	require(exchange_once(rig, from) || exchange_once(rig, from), "messages do not go through");
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	const struct log_config quiet = { .path = "/dev/null", .quiet = true };
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(2, 2, 1, 1);
	struct conf *conf[2] = { conf_new(), conf_new() };
	struct rig *rig = rig_new(sim_new(net, 1));
	uint8_t bytes[5000] = { 0 };

	log_open(&quiet);
	conf[0]->sm_priority = 5;
	for (unsigned i = 0; i < 2; i++) {
		conf[i]->sminfo_polling_timeout = 1000;
		conf[i]->replicate_configuration = false; /* messages of this test alone */
		require(rig_start(rig, i ? "h1" : "h0", 1, conf[i], NULL) == (int)i, "no manager");
		rig_run(rig, sim_now(rig->sim) + 5 * MONO_S);
	}
	/* Neither registers: each has heard of the other one. */
	for (unsigned i = 0; i < 2; i++) {
		struct channel_peer *p = peer_find(rig->sms[i].sm->m.channel,
						   rig->sms[!i].sm->tr->port_guid);

		require(p, "no row of the other manager");
		p->heard_at = sim_now(rig->sim);
	}
	channel_register(rig->sms[1].sm, CHANNEL_LEDGER, on_message, NULL);
	rig_run(rig, sim_now(rig->sim) + 5 * MONO_S);
	/* The ledger sends nothing, so that the stream is free. */
	settle_peer(rig->sms[0].sm, rig->sms[1].sm->tr->port_guid, false);
	rig_run(rig, sim_now(rig->sim) + MONO_S);
	channel_send(rig->sms[0].sm, rig->sms[1].sm->tr->port_guid, CHANNEL_LEDGER, 3, bytes,
		     sizeof(bytes), on_reply, NULL);
	channel_register(rig->sms[0].sm, CHANNEL_LEDGER, on_message, NULL);
	is_allowed = false;
	send_all(rig, input, len);
	for (unsigned i = 0; i < 2; i++)
		exchange(rig, i);
	rig_free(rig);
	for (unsigned i = 0; i < 2; i++)
		conf_unref(conf[i]);
	return 0;
}
