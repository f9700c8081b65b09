// SPDX-License-Identifier: BSD-2-Clause
/*
 * The control socket without its daemon: the real listener on a real socket, a manager of a small
 * simulated fabric, and jobs that are rendered when the test says so.
 */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <json-c/json.h>

#include "daemon/listen.h"
#include "sim/netfile/netfile.h"
#include "tests/lib/rig.h"
#include "tests/lib/scratch.h"
#include "util/log.h"
#include "util/mem.h"

struct control_world {
	struct rig *rig;
	struct conf *conf;
	struct daemon_api api;
	sd_event *event;
	struct listen_control *listener;
	struct sm_job *jobs[64]; /* submitted jobs, in order */
	unsigned n_jobs, wakes, reloads, checks;
	mono_t look, looked; /* advance of the clock at each reading, and the sum so far */
	char dir[SCRATCH_PATH], path[SCRATCH_PATH + 16];
};

static inline void cw_quiet(void *arg, unsigned bits, const char *text)
{
}

static inline void cw_wake(void *arg)
{
	((struct control_world *)arg)->wakes++;
}

static inline void cw_reload(void *arg)
{
	((struct control_world *)arg)->reloads++;
}

static inline void cw_clock(void *arg, mono_t *ret_now, int64_t *ret_realtime)
{
	struct control_world *w = arg;

	w->looked += w->look;
	*ret_now = sim_now(w->rig->sim) + w->looked;
	*ret_realtime = 1700000000ll * MONO_S + *ret_now;
}

static inline void cw_check(void *arg, struct conf_report *ret, char **ret_news)
{
	((struct control_world *)arg)->checks++;
	conf_report_add(ret, CONF_ERROR, "/etc/rdma/opensm.conf", 3, 7, "'%s' is no number", "x");
	*ret_news = NULL;
}

static inline void cw_submit(void *arg, struct sm_job *job)
{
	struct control_world *w = arg;

	if (w->n_jobs < ARRAY_SIZE(w->jobs))
		w->jobs[w->n_jobs++] = job;
}

/* Runs the next submitted job to its end. False: there is none. */
static inline bool cw_work(struct control_world *w)
{
	struct sm_job *job = w->jobs[0];

	if (!w->n_jobs)
		return false;
	memmove(w->jobs, w->jobs + 1, --w->n_jobs * sizeof(w->jobs[0]));
	job->run(job);
	job->done(job);
	return true;
}

/* Runs the event loop as long as there is work. */
static inline void cw_turn(struct control_world *w)
{
	while (sd_event_run(w->event, 0) > 0)
		;
}

static inline void cw_event(struct rig_sm *sm, const struct sm_event *event)
{
	struct control_world *w = sm->rig->owner;

	daemon_api_note(&w->api, event);
	listen_control_event(w->listener, event);
}

/* Starts on a fabric with a host h0; `net` is freed. False: a part that it needs is missing. */
static inline bool cw_start_on(struct control_world *w, struct netfile *net)
{
	*w = (struct control_world){ 0 };
	log_set_sink(cw_quiet, NULL);
	scratch_folder(w->dir);
	if (!net || sd_event_new(&w->event) < 0)
		return false;
	snprintf(w->path, sizeof(w->path), "%s/one.sock", w->dir);
	w->conf = conf_new();
	w->rig = rig_new(sim_new(net, 1));
	netfile_free(net);
	w->rig->owner = w;
	w->rig->event = cw_event;
	w->api = (struct daemon_api){
		.conf = w->conf,
		.version = "4.0.0",
		.instance = "one",
		.conf_path = "/etc/rdma/opensm.conf",
		.run_dir = w->dir,
		.port_name = "sim0/1",
		.wake = cw_wake,
		.reload = cw_reload,
		.clock = cw_clock,
		.check = cw_check,
		.submit = cw_submit,
		.arg = w,
	};
	if (rig_start(w->rig, "h0", 0, w->conf, NULL) != 0)
		return false;
	w->api.sm = w->rig->sms[0].sm;
	rig_run(w->rig, 10 * MONO_S);
	w->listener = listen_control_open(w->event, &w->api);
	return w->listener != NULL;
}

static inline bool cw_start(struct control_world *w)
{
	static const char text[] =
		"Switch 4 \"leaf1\"\n[1] \"h0\"[1]\n[2] \"h1\"[1]\n\n"
		"Ca 1 \"h0\"\n[1] \"leaf1\"[1]\n\nCa 1 \"h1\"\n[1] \"leaf1\"[2]\n\n";
	char err[200];

	return cw_start_on(w, netfile_parse(text, strlen(text), err, sizeof(err)));
}

/* Frees the manager, as if its port vanished. */
static inline void cw_lose_port(struct control_world *w)
{
	listen_control_sm_gone(w->listener);
	daemon_api_sm_gone(&w->api);
	snprintf(w->api.status, sizeof(w->api.status), "Waiting for a port: none");
}

static inline void cw_stop(struct control_world *w)
{
	while (cw_work(w))
		;
	w->listener = listen_control_close(w->listener);
	rig_free(w->rig);
	conf_unref(w->conf);
	sd_event_unref(w->event);
	unlink(w->path);
	scratch_remove(w->dir);
}

/* Connects a client. */
static inline int cw_call(const struct control_world *w)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	memcpy(at.sun_path, w->path, sizeof(w->path));
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}
