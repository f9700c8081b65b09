// SPDX-License-Identifier: BSD-2-Clause
/* Subscribers on the desk: which queue pairs subscribe, what becomes of a Report. */
#pragma once

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "sa/notice/inform.h"
#include "tests/lib/sa-desk.h"
#include "util/mem.h"

/* Wants everything, from everywhere. */
static inline void info_any(uint8_t *info)
{
	memset(info, 0, SA_DATA_SIZE);
	ib_put(info, INF_LID_BEGIN, 0xFFFF);
	ib_put(info, INF_IS_GENERIC, 1);
	ib_put(info, INF_SUBSCRIBE, 1);
	ib_put(info, INF_TYPE, 0xFFFF);
	ib_put(info, INF_TRAP, 0xFFFF);
	ib_put(info, INF_PRODUCER, 0xFFFFFF);
}

/* InformInfo in d->record, from a queue pair of d->from. Returns the status. */
static inline uint16_t inform_by(struct desk *d, uint32_t qp)
{
	struct transport_event ev = { .kind = TRANSPORT_MAD, .length = MAD_SIZE };

	ev.from = (struct transport_addr){ .lid = desk_lid(d, d->from), .qp = qp };
	ib_put(ev.mad, SAH_BASE_VERSION, 1);
	ib_put(ev.mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(ev.mad, SAH_CLASS_VERSION, 2);
	ib_put(ev.mad, SAH_METHOD, MAD_SET);
	ib_put(ev.mad, SAH_TID, ++d->tid);
	ib_put(ev.mad, SAH_ATTR_ID, SA_INFORM_INFO);
	ib_put(ev.mad, SAH_SM_KEY, d->sm_key);
	memcpy(ev.mad + SA_DATA, d->record, SA_DATA_SIZE);
	d->waits = true;
	sa_receive(d->sa, &ev, d->now);
	assert_non_null(desk_reply(d));
	return desk_reply(d)->status;
}

/* Subscribes d->from (queue pair 1) to one trap number, or to all (0xFFFF). */
static inline void subscribe(struct desk *d, const char *from, unsigned trap)
{
	const char *before = d->from;

	d->from = from;
	info_any(d->record);
	ib_put(d->record, INF_TRAP, trap);
	assert_int_equal(inform_by(d, 1), SA_OK);
	d->from = before;
}

static inline unsigned trap_of(const struct desk_message *m)
{
	return ib_get(m->mad + SA_DATA, NT_TRAP);
}

/* The subscriber answers. */
static inline void answer_report(struct desk *d, const struct desk_message *m)
{
	struct transport_event ev = { .kind = TRANSPORT_MAD, .length = MAD_SIZE };

	ev.from = (struct transport_addr){ .lid = m->to.lid, .qp = m->to.qp };
	memcpy(ev.mad, m->mad, MAD_SIZE);
	ib_put(ev.mad, SAH_METHOD, MAD_REPORT_RESP);
	sa_receive(d->sa, &ev, d->now);
}

/* No answer came: the transport gives it back. */
static inline void return_report(struct desk *d, const struct desk_message *m)
{
	struct transport_event ev = { .kind = TRANSPORT_RETURNED,
				      .error = -ETIMEDOUT,
				      .length = MAD_SIZE };

	memcpy(ev.mad, m->mad, MAD_SIZE);
	sa_receive(d->sa, &ev, d->now);
}

/* Forgets all mail so far. */
static inline void drop_mail(struct desk *d)
{
	while (desk_mail(d))
		;
}

/* A trap 128 of a node's port 0 or 1 comes in. */
static inline void trap_from(struct desk *d, const char *node, unsigned trap)
{
	uint8_t notice[SMP_DATA_SIZE] = { 0 };
	const struct transport_addr from = { .lid = desk_lid(d, node) };

	ib_put(notice, NT_IS_GENERIC, 1);
	ib_put(notice, NT_TYPE, 1);
	ib_put(notice, NT_PRODUCER, 2);
	ib_put(notice, NT_TRAP, trap);
	ib_put(notice, NT_ISSUER_LID, from.lid);
	sa_forward_trap(d->sa, &from, notice, d->now);
	desk_settle(d);
}
