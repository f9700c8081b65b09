// SPDX-License-Identifier: BSD-2-Clause
/* Adds path, key and target to requests to SMAs. */
#include "sync/smp_sender.h"

#include <assert.h>

static bool address_request(const struct smp_sender *d, struct port *p, uint8_t method,
			    struct mad_request *rq, struct dr_path *path)
{
	assert(d && p && p->node);
	if (!rq->path && fabric_port_path(d->fabric, p, path) < 0)
		return false;
	rq->method = method;
	rq->path = rq->path ?: path;
	rq->target = &p->node->target;
	if (!rq->m_key)
		rq->m_key = port_of_sma(p)->m_key;
	return true;
}

static bool smp_submit(const struct smp_sender *d, struct port *p, uint8_t method,
		       const struct mad_request *what, mad_done_fn on_done, void *owner, void *arg)
{
	struct mad_request rq = *what;
	struct dr_path path;

	assert(on_done);
	if (!address_request(d, p, method, &rq, &path))
		return false;
	mad_submit(d->mad, &rq, on_done, owner, arg);
	return true;
}

bool smp_set(const struct smp_sender *d, struct port *p, const struct mad_request *what,
	     mad_done_fn on_done, void *owner, void *arg)
{
	return d->may_write(d->arg) && smp_submit(d, p, MAD_SET, what, on_done, owner, arg);
}

bool smp_set_once(const struct smp_sender *d, struct port *p, const struct mad_request *what)
{
	static const struct transport_addr next_hop = { .lid = LID_PERMISSIVE };
	struct mad_request rq = *what;
	uint8_t mad[MAD_SIZE];
	struct dr_path path;

	if (!d->may_write(d->arg) || !address_request(d, p, MAD_SET, &rq, &path))
		return false;
	smp_build_dr(mad,
		     &(struct smp_head){ .method = MAD_SET,
					 .attr = rq.attr,
					 .mod = rq.mod,
					 .m_key = rq.m_key,
					 .tid = mad_once_tid(d->mad, rq.path, 0) },
		     rq.path, rq.payload);
	return mad_send_once(d->mad, &next_hop, mad) == 0;
}

bool smp_get(const struct smp_sender *d, struct port *p, const struct mad_request *what,
	     mad_done_fn on_done, void *owner, void *arg)
{
	return smp_submit(d, p, MAD_GET, what, on_done, owner, arg);
}
