// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary bytes from a client of the control socket, to the real listener on a real
 * socket with a manager behind it. Whatever comes: each answer is a JSON object with parameters or
 * an error, ended by a NUL byte, and the next caller is served. A byte 0x01 lets the thread that
 * renders work; 0x02 has something happen in the subnet, and time pass there.
 */
#include <stdint.h>
#include <stdlib.h>

#include "route/patch/patch_text.h"
#include "sm/alarms/alarms.h"
#include "tests/lib/control-world.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

#define ANSWERS_MAX (1 << 20)

static struct control_world world;

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void end_world(void)
{
	cw_stop(&world);
}

static void judge(const char *text)
{
	struct json_object *o = json_tokener_parse(text);

	require(json_object_is_type(o, json_type_object));
	require(json_object_object_get_ex(o, "parameters", NULL));
	json_object_put(o);
}

struct caller {
	int fd;
	char *in;
	size_t len;
};

/* Takes in what has come, and judges every answer that is whole. */
static void listen_to(struct caller *c)
{
	ssize_t n;
	char *end;

	while ((n = recv(c->fd, c->in + c->len, ANSWERS_MAX - c->len, MSG_DONTWAIT)) > 0) {
		c->len += (size_t)n;
		while ((end = memchr(c->in, '\0', c->len))) {
			judge(c->in);
			c->len -= (size_t)(end + 1 - c->in);
			memmove(c->in, end + 1, c->len);
		}
	}
}

static void happen(void)
{
	static const struct alarm alarm = { .kind = ALARM_HOST_GONE,
					    .object = "h9",
					    .text = "it is gone" };
	static const struct patch_tally tally = { .cables = 1 };
	struct sm_event e = { .kind = (enum sm_event_kind)(world.wakes % SM_EVENT_KINDS) };

	e.at = sim_now(world.rig->sim);
	switch (e.kind) {
	case SM_EVENT_SWEEP_START:
	case SM_EVENT_DISCOVERED:
	case SM_EVENT_SWEEP_DONE:
	case SM_EVENT_SUBNET_UP:
		e.sweep.kind = SWEEP_HEAVY;
		e.sweep.why = "asked for";
		break;
	case SM_EVENT_ROUTES:
		e.routes.engine = "minhop";
		break;
	case SM_EVENT_NODE:
		e.node.desc = "gone";
		break;
	case SM_EVENT_ALARM:
		e.alarm.alarm = &alarm;
		break;
	case SM_EVENT_PATCH:
		e.patch.tally = &tally;
		e.patch.text = "h9/1 lost";
		break;
	default:
		break;
	}
	listen_control_event(world.listener, &e);
	world.wakes++;
	/* Devices answer, and calls that wait for them end. */
	rig_run(world.rig, sim_now(world.rig->sim) + 20 * MONO_MS);
}

static void require_service(void)
{
	static const char text[] = "{\"method\": \"org.opensm.GetPriority\"}";
	struct caller c = { .fd = cw_call(&world), .in = xmalloc(ANSWERS_MAX) };

	require(c.fd >= 0);
	require(send(c.fd, text, sizeof(text), MSG_NOSIGNAL) == sizeof(text));
	cw_turn(&world);
	require(recv(c.fd, c.in, ANSWERS_MAX, MSG_DONTWAIT | MSG_PEEK) > 0);
	listen_to(&c);
	require(c.len == 0);
	close(c.fd);
	free(c.in);
	cw_turn(&world);
}

/* The bytes up to the next sign to us. */
static size_t piece_of(const uint8_t *input, size_t len)
{
	size_t n = 0;

	while (n < len && input[n] != 1 && input[n] != 2)
		n++;
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	struct caller c = { .in = xmalloc(ANSWERS_MAX) };

	if (!world.listener) {
		require(cw_start(&world));
		atexit(end_world);
	}
	c.fd = cw_call(&world);
	require(c.fd >= 0);
	while (len) {
		size_t n = piece_of(input, len);

		if (n)
			(void)!send(c.fd, input, n, MSG_NOSIGNAL | MSG_DONTWAIT);
		cw_turn(&world);
		if (n < len && input[n] == 1)
			cw_work(&world);
		else if (n < len)
			happen();
		listen_to(&c);
		n = n < len ? n + 1 : n;
		input += n;
		len -= n;
	}
	shutdown(c.fd, SHUT_WR);
	cw_turn(&world);
	while (cw_work(&world))
		cw_turn(&world);
	listen_to(&c);
	close(c.fd);
	cw_turn(&world);
	free(c.in);
	require_service();
	return 0;
}
