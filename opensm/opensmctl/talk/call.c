// SPDX-License-Identifier: BSD-2-Clause
/* Which daemon is asked, the call, and what is said when there is no answer. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/client.h"
#include "opensmctl/talk/ctl.h"
#include "opensmctl/talk/launched.h"
#include "util/mem.h"
#include "util/str.h"

#define SERVICE	    "org.opensm."
/* Seconds, waited for in steps of TICK ms, after which a silent daemon is said to hang. */
#define PATIENCE    60
#define TICK	    1000
#define PENDING_MAX 100 /* most ports printed */

/* ---- which daemon -------------------------------------------------------------------------- */

static char *names_of(const struct instances *found)
{
	char *names = xstrdup("");

	for (size_t i = 0; i < found->n; i++) {
		char *more = xasprintf("%s%s%s", names, i ? ", " : "", found->all[i].name);

		free(names);
		names = more;
	}
	return names;
}

static struct client *no_daemon(struct ctl *c, const char *path, int error)
{
	struct json_object *launched = launched_read(c);
	_cleanup_free_ char *unit =
		c->instance && !strchr(c->instance, '/') && launched_find(launched, c->instance)
			? xstrdup(js_str(launched_find(launched, c->instance), "unit"))
			: xstrdup("opensm");

	if (launched_why_none(launched)[0])
		ctl_refuse(c, "opensm-launch: %s", launched_why_none(launched));
	json_object_put(launched);
	c->exit_code =
		error == EACCES
			? ctl_fail(c, CTL_NO_DAEMON_NAME, NULL,
				   "%s may not be opened: %s; root may, and members of the groups "
				   "control_tenant_group and control_links_group",
				   path, strerror(error))
			: ctl_fail(c, CTL_NO_DAEMON_NAME, NULL,
				   "no opensm answers at %s (%s); why it does not run: systemctl "
				   "status %s; whether its configuration is in order: opensm "
				   "--check",
				   path, strerror(error), unit);
	return NULL;
}

static struct client *connect_named(struct ctl *c)
{
	_cleanup_free_ char *path = strchr(c->instance, '/')
					    ? xstrdup(c->instance)
					    : xasprintf("%s/%s.sock", c->run_dir, c->instance);
	struct client *cl = client_open(path);
	struct instances found;

	if (cl)
		return cl;
	no_daemon(c, path, errno);
	if (!strchr(c->instance, '/') && instances_find(c->run_dir, &found) == 0) {
		_cleanup_free_ char *names = names_of(&found);

		if (found.n)
			ctl_refuse(c, "there is: %s", names);
		instances_clear(&found);
	}
	return NULL;
}

static struct client *connect_only(struct ctl *c)
{
	struct instances found;
	struct client *cl = NULL;
	int r = instances_find(c->run_dir, &found);

	if (r < 0 || !found.n) {
		instances_clear(&found);
		return no_daemon(c, c->run_dir, r < 0 ? -r : ENOENT);
	}
	if (found.n == 1) {
		cl = client_open(found.all[0].path);
		if (!cl)
			no_daemon(c, found.all[0].path, errno);
	} else {
		_cleanup_free_ char *names = names_of(&found);

		c->exit_code = CTL_USAGE;
		ctl_fail(c, "Usage", NULL,
			 "there are %zu instances: say which one with --instance NAME (%s), or "
			 "--instance all",
			 found.n, names);
	}
	instances_clear(&found);
	return cl;
}

static void note_peer(const struct ctl *c)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(client_fd(c->client), SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0)
		c->seen->pid = MAX(c->seen->pid, peer.pid);
}

static bool is_connected(struct ctl *c)
{
	if (!c->client)
		c->client = c->instance ? connect_named(c) : connect_only(c);
	if (c->client && c->seen)
		note_peer(c);
	return c->client != NULL;
}

/* ---- answers ------------------------------------------------------------------------------- */

static void show_waiting(const char *method, int seconds)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%s: waiting for the daemon, %d s\033[K", method, seconds);
}

static void show_no_waiting(int seconds)
{
	if (seconds && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

/* The next reply; -errno as client_receive(). `for_ever`: it comes when it comes. */
static int next_reply(struct ctl *c, const char *method, bool for_ever, struct json_object **ret)
{
	int r;

	if (for_ever)
		return client_receive(c->client, -1, ret);
	for (int waited = 0;; waited++) {
		r = client_receive(c->client, TICK, ret);
		if (r != -ETIMEDOUT || waited >= PATIENCE) {
			show_no_waiting(waited);
			return r;
		}
		show_waiting(method, waited + 1);
	}
}

static void report_lost(struct ctl *c, int error)
{
	c->exit_code = CTL_NO_DAEMON;
	if (error == -EPIPE)
		ctl_fail(c, CTL_NO_DAEMON_NAME, NULL,
			 "the daemon has hung up: it has ended, or has let us go");
	else if (error == -ETIMEDOUT)
		ctl_fail(c, CTL_NO_DAEMON_NAME, NULL, "the daemon has not answered for %d s",
			 PATIENCE);
	else
		ctl_fail(c, CTL_NO_DAEMON_NAME, NULL, "the daemon's answer cannot be read: %s",
			 strerror(-error));
}

/* Prints the pending ports of a change that is stored and not confirmed. */
static void print_pending(const struct ctl *c, struct json_object *pending)
{
	for (size_t i = 0; i < js_len(pending) && i < PENDING_MAX; i++)
		ctl_refuse(c, "%s: %s", js_str(js_at(pending, i), "guid"),
			   js_str(js_at(pending, i), "why"));
	if (js_len(pending) > PENDING_MAX)
		ctl_refuse(c, "and %zu more", js_len(pending) - PENDING_MAX);
}

/* True: `reply` is an error, and was reported. */
static bool is_error(struct ctl *c, struct json_object *reply)
{
	const char *error = js_str(reply, "error"), *dot = strrchr(error, '.');
	struct json_object *parameters = js_get(reply, "parameters");
	const char *text = js_str(parameters, "text");

	if (!error[0])
		return false;
	if (text[0])
		ctl_fail(c, dot ? dot + 1 : error, parameters, "%s", text);
	else
		ctl_fail(c, dot ? dot + 1 : error, parameters, "the daemon says %s %s", error,
			 parameters ? json_object_to_json_string(parameters) : "");
	if (!c->json)
		print_pending(c, js_get(js_get(reply, "parameters"), "pending"));
	c->exit_code = CTL_REFUSED;
	return true;
}

static int send_call(struct ctl *c, const char *method, struct json_object *parameters, bool more)
{
	_cleanup_free_ char *name = xasprintf(SERVICE "%s", method);
	int r = 0;

	if (!is_connected(c)) {
		json_object_put(parameters);
		return -ENOTCONN;
	}
	r = client_send(c->client, name, parameters, more);
	json_object_put(parameters);
	if (r < 0)
		report_lost(c, r);
	return r;
}

struct json_object *ctl_call(struct ctl *c, const char *method, struct json_object *parameters)
{
	struct json_object *reply, *answer;
	int r;

	if (send_call(c, method, parameters, false) < 0)
		return NULL;
	r = next_reply(c, method, false, &reply);
	if (r < 0) {
		report_lost(c, r);
		return NULL;
	}
	if (is_error(c, reply)) {
		json_object_put(reply);
		return NULL;
	}
	answer = js_get(reply, "parameters");
	answer = answer ? json_object_get(answer) : json_object_new_object();
	json_object_put(reply);
	return answer;
}

struct json_object *ctl_call_if_there(struct ctl *c, const char *method)
{
	struct json_object *reply, *answer;
	const char *text;
	int r;

	if (send_call(c, method, NULL, false) < 0)
		return NULL;
	r = next_reply(c, method, false, &reply);
	if (r < 0) {
		report_lost(c, r);
		return NULL;
	}
	answer = js_get(reply, "parameters");
	if (js_str(reply, "error")[0]) {
		text = js_str(answer, "text");
		if (strstr(js_str(reply, "error"), "MethodNotFound"))
			text = "";
		answer = json_object_new_object();
		json_object_object_add(answer, "absent", json_object_new_string(text));
	} else {
		answer = answer ? json_object_get(answer) : json_object_new_object();
	}
	json_object_put(reply);
	return answer;
}

struct json_object *ctl_call_at(const struct ctl *c, const char *path, const char *method,
				int *ret_exit)
{
	struct ctl one = *c;
	struct json_object *answer;

	one.instance = path;
	one.client = NULL;
	answer = ctl_call(&one, method, NULL);
	if (!answer)
		*ret_exit = one.exit_code;
	client_close(one.client);
	return answer;
}

int ctl_begin_more(struct ctl *c, const char *method, struct json_object *parameters)
{
	return send_call(c, method, parameters, true);
}

int ctl_next_more(struct ctl *c, struct json_object **ret)
{
	struct json_object *reply;
	int r = client_receive(c->client, 0, &reply);

	if (r == -ETIMEDOUT)
		return -EAGAIN;
	if (r < 0) {
		report_lost(c, r);
		return r;
	}
	if (is_error(c, reply)) {
		json_object_put(reply);
		return -EREMOTEIO;
	}
	*ret = reply;
	return 0;
}

int ctl_call_more(struct ctl *c, const char *method, struct json_object *parameters,
		  bool (*on_reply)(void *arg, struct json_object *reply), void *arg)
{
	bool goes_on = true;

	if (send_call(c, method, parameters, true) < 0)
		return c->exit_code;
	while (goes_on) {
		struct json_object *reply;
		int r = next_reply(c, method, true, &reply);

		if (r == -ECANCELED)
			break;
		if (r < 0) {
			report_lost(c, r);
			return c->exit_code;
		}
		if (is_error(c, reply)) {
			json_object_put(reply);
			return c->exit_code;
		}
		goes_on = on_reply(arg, js_get(reply, "parameters")) && js_bool(reply, "continues");
		json_object_put(reply);
	}
	return CTL_OK;
}
