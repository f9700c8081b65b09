// SPDX-License-Identifier: BSD-2-Clause
#include "sm/read/own_port.h"

#include "sm/base/about.h"
#include "sm/base/news.h"
#include "util/mem.h"
#include "util/told.h"

#define PORT_SILENT_FIRST    (500 * MONO_MS) /* short, as MADs may have been lost */
#define PORT_SILENT_INTERVAL (5 * MONO_S)

enum { TOLD_DEVICES_DIFFER };

struct own_port {
	struct told told;
	bool differed; /* set if the LIDs of its two devices differed at the last look */
	bool silent;   /* set if it did not answer when it was last asked */
	mono_t pause;  /* the last pause between two questions to it */
	mono_t ask_at;
};
MACHINE_MEMORY(own_port);

bool own_port_is_silent(const struct own_port *o)
{
	return o->silent;
}

mono_t own_port_next(const struct own_port *o)
{
	return o->ask_at;
}

void own_port_ask_now(struct own_port *o, mono_t now)
{
	o->ask_at = now;
}

void own_port_silent(struct sm *sm, const char *attr)
{
	struct own_port *o = sm->m.own_port;

	tell_faults(sm, 1);
	o->pause = o->silent ? mono_min(2 * o->pause, PORT_SILENT_INTERVAL) : PORT_SILENT_FIRST;
	o->ask_at = sm->now + o->pause;
	if (sm->fabric->own_port)
		sm->fabric->own_port->seen = 0;
	tell_news(sm, NEWS_CONTRADICTED);
	if (o->silent)
		return;
	o->silent = true;
	log_on(ABOUT(.id = LOG_ID_SILENT, .port_guid = sm->tr->port_guid), LOGB_ERROR,
	       "our own port does not answer %s (its firmware hangs, or an M_Key not known here): "
	       "no sweep is possible, "
	       "the fabric is left as it is, the port is asked again at least every %d s",
	       attr, (int)(PORT_SILENT_INTERVAL / MONO_S));
}

/*
 * Is the state of our own port older than that of the switch port, which is in INIT after the link
 * was down in between?
 */
static bool is_out_of_date(const struct sm *sm, const struct port *own)
{
	return !discover_is_partial(sm) && own->peer && own->peer->known &&
	       port_state(own) > IB_PORT_INIT && port_state(own->peer) == IB_PORT_INIT;
}

bool own_port_was_read(struct sm *sm)
{
	struct port *own = sm->fabric->own_port;

	if (!own || own->seen != sm->sweep_no || own->node->seen != sm->sweep_no) {
		own_port_silent(sm, "PortInfo");
		return false;
	}
	if (sm->m.own_port->silent)
		log_on(about_port(LOG_ID_SILENT, own), LOGB_INFO, "our own port answers again");
	sm->m.own_port->silent = false;
	if (is_out_of_date(sm, own))
		tell_port(sm, own, "the link of our own port was out");
	return true;
}

static void say_devices_differ(const struct port *own, const struct transport_port *had)
{
	log_on(about_port(LOG_ID_NONE, own), LOGB_ERROR,
	       "our own port has LID %u and SM LID %u on its SMI device, but LID %u and SM LID %u "
	       "on the device that GMPs leave by: hosts may not be answered (do both belong to one "
	       "adapter? rdma dev show)",
	       had->lid, had->sm_lid, had->gmp_lid, had->gmp_sm_lid);
}

void own_port_compare_devices(struct sm *sm)
{
	const struct port *own = sm->fabric->own_port;
	struct own_port *o = sm->m.own_port;
	struct transport_port has;
	bool differ, again;

	if (!own || transport_look(sm->tr, &has) < 0)
		return;
	differ = has.lid != has.gmp_lid || has.sm_lid != has.gmp_sm_lid;
	again = differ && o->differed;
	o->differed = differ;
	if (differ && !again)
		return;
	switch (told_change(&o->told, TOLD_DEVICES_DIFFER, differ)) {
	case TOLD_BEGINS:
		say_devices_differ(own, &has);
		break;
	case TOLD_ENDS:
		log_on(about_port(LOG_ID_NONE, own), LOGB_INFO,
		       "both devices of our own port have its LIDs again");
		break;
	case TOLD_SAME:
		break;
	}
}
