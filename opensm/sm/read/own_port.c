// SPDX-License-Identifier: BSD-2-Clause
#include "sm/read/own_port.h"

#include "sm/base/about.h"
#include "sm/base/news.h"
#include "util/mem.h"

#define PORT_SILENT_FIRST    (500 * MONO_MS) /* it may be that MADs were lost */
#define PORT_SILENT_INTERVAL (5 * MONO_S)

struct own_port {
	bool silent;  /* it did not answer when it was last asked */
	mono_t pause; /* the last one between two questions to it */
	mono_t ask_at;
};

struct own_port *own_port_new(void)
{
	return xcalloc(1, sizeof(struct own_port));
}

struct own_port *own_port_free(struct own_port *o)
{
	free(o);
	return NULL;
}

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
	tell_faults(sm, 1);
	sm->m.own->pause = sm->m.own->silent ? mono_min(2 * sm->m.own->pause, PORT_SILENT_INTERVAL)
					     : PORT_SILENT_FIRST;
	sm->m.own->ask_at = sm->now + sm->m.own->pause;
	if (sm->fabric->own_port)
		sm->fabric->own_port->seen = 0;
	tell_news(sm, NEWS_CONTRADICTED);
	if (sm->m.own->silent)
		return;
	sm->m.own->silent = true;
	log_on(ABOUT(.id = LOG_ID_SILENT, .port_guid = sm->tr->port_guid), LOGB_ERROR,
	       "our own port does not answer %s (its firmware hangs, or an M_Key not known here): "
	       "no sweep is possible, "
	       "the fabric is left as it is, the port is asked again at least every %d s",
	       attr, (int)(PORT_SILENT_INTERVAL / MONO_S));
}

bool own_port_was_read(struct sm *sm)
{
	const struct port *own = sm->fabric->own_port;

	if (!own || own->seen != sm->sweep_no || own->node->seen != sm->sweep_no) {
		own_port_silent(sm, "PortInfo");
		return false;
	}
	if (sm->m.own->silent)
		log_on(about_port(LOG_ID_SILENT, own), LOGB_INFO, "our own port answers again");
	sm->m.own->silent = false;
	return true;
}
