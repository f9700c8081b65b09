// SPDX-License-Identifier: BSD-2-Clause
/* The D-Bus interface of systemd (org.freedesktop.systemd1(5)), as far as unit.h wants it. */
#include "launch/unit.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>

#include "util/mem.h"
#include "util/mono.h"
#include "util/str.h"

#define ADDRESS	     "unix:path=/run/systemd/private"
#define SERVICE	     "org.freedesktop.systemd1"
#define MANAGER_PATH "/org/freedesktop/systemd1"
#define MANAGER	     SERVICE ".Manager"
#define UNITS	     MANAGER_PATH "/unit"
#define OURS	     "opensm@"
#define AGAIN	     (200 * MONO_MS) /* from one attempt at a connection to the next */

struct units {
	sd_event *event;
	sd_bus *bus;		/* NULL: systemd does not answer */
	sd_event_source *again; /* timer of the next try to connect */
	units_changed_fn *changed;
	void *arg;
};

/* ---- the connection ------------------------------------------------------------------------ */

static int on_properties(sd_bus_message *m, void *arg, sd_bus_error *error)
{
	_cleanup_free_ char *unit = NULL;
	const struct units *u = arg;

	if (sd_bus_path_decode(sd_bus_message_get_path(m), UNITS, &unit) > 0 &&
	    str_starts(unit, OURS))
		u->changed(u->arg, unit);
	return 0;
}

static int on_job_removed(sd_bus_message *m, void *arg, sd_bus_error *error)
{
	const struct units *u = arg;
	const char *job, *unit;
	uint32_t id;

	if (sd_bus_message_read(m, "uos", &id, &job, &unit) >= 0 && str_starts(unit, OURS))
		u->changed(u->arg, unit);
	return 0;
}

static int on_disconnected(sd_bus_message *m, void *arg, sd_bus_error *error)
{
	struct units *u = arg;

	sd_event_source_set_time_relative(u->again, AGAIN);
	sd_event_source_set_enabled(u->again, SD_EVENT_ONESHOT);
	return 0;
}

static int match_signals(struct units *u)
{
	int r = sd_bus_add_match(u->bus, NULL,
				 "type='signal',interface='org.freedesktop.DBus.Properties',"
				 "member='PropertiesChanged',path_namespace='" UNITS "'",
				 on_properties, u);

	if (r >= 0)
		r = sd_bus_match_signal(u->bus, NULL, NULL, MANAGER_PATH, MANAGER, "JobRemoved",
					on_job_removed, u);
	if (r >= 0)
		r = sd_bus_match_signal(u->bus, NULL, NULL, "/org/freedesktop/DBus/Local",
					"org.freedesktop.DBus.Local", "Disconnected",
					on_disconnected, u);
	return r;
}

static int connect_bus(struct units *u)
{
	int r = sd_bus_new(&u->bus);

	if (r >= 0)
		r = sd_bus_set_address(u->bus, ADDRESS);
	if (r >= 0)
		r = sd_bus_start(u->bus);
	if (r >= 0)
		r = match_signals(u);
	if (r >= 0)
		r = sd_bus_attach_event(u->bus, u->event, SD_EVENT_PRIORITY_NORMAL);
	if (r < 0)
		u->bus = sd_bus_close_unref(u->bus);
	return r;
}

static int on_again(sd_event_source *s, uint64_t usec, void *arg)
{
	struct units *u = arg;

	u->bus = sd_bus_close_unref(u->bus);
	if (connect_bus(u) < 0)
		on_disconnected(NULL, u, NULL);
	else
		u->changed(u->arg, NULL);
	return 0;
}

int units_open(sd_event *event, units_changed_fn *changed, void *arg, struct units **ret)
{
	struct units *u = xcalloc(1, sizeof(*u));
	int r;

	assert(changed);
	*u = (struct units){ .event = sd_event_ref(event), .changed = changed, .arg = arg };
	r = sd_event_add_time_relative(event, &u->again, CLOCK_MONOTONIC, 0, 0, on_again, u);
	if (r >= 0)
		r = sd_event_source_set_enabled(u->again, SD_EVENT_OFF);
	if (r >= 0)
		r = connect_bus(u);
	if (r < 0)
		u = units_free(u);
	*ret = u;
	return r < 0 ? r : 0;
}

struct units *units_free(struct units *u)
{
	if (!u)
		return NULL;
	sd_event_source_disable_unref(u->again);
	sd_bus_flush_close_unref(u->bus);
	sd_event_unref(u->event);
	free(u);
	return NULL;
}

/* ---- names --------------------------------------------------------------------------------- */

/* Escapes like systemd-escape(1): '-', and characters not allowed in unit names, become \x2d. */
char *unit_name(const char *instance)
{
	char *escaped = xcalloc(4 * strlen(instance) + 1, 1), *to = escaped;
	char *name;

	assert(instance[0]);
	for (const char *c = instance; *c; c++) {
		bool plain = isalnum((unsigned char)*c) || (*c && strchr(":_.", *c));

		if (plain && (c > instance || *c != '.'))
			*to++ = *c;
		else
			to += snprintf(to, 5, "\\x%02x", (unsigned char)*c);
	}
	name = xasprintf(OURS "%s.service", escaped);
	free(escaped);
	return name;
}

static char *path_of(const char *unit)
{
	_cleanup_free_ char *path = NULL;

	return sd_bus_path_encode(UNITS, unit, &path) < 0 ? xstrdup(UNITS) : take(path);
}

/* ---- calls --------------------------------------------------------------------------------- */

char *unit_job(struct units *u, const char *method, const char *unit)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	char *why = NULL;
	int r = u->bus ? sd_bus_call_method(u->bus, SERVICE, MANAGER_PATH, MANAGER, method, &error,
					    NULL, "ss", unit, "replace")
		       : -ENOTCONN;

	if (r < 0)
		why = xstrdup(error.message ? error.message : strerror(-r));
	sd_bus_error_free(&error);
	return why;
}

/* A unit that systemd does not know has nothing to forget, and no process. */
void unit_reset(struct units *u, const char *unit)
{
	if (u->bus)
		sd_bus_call_method(u->bus, SERVICE, MANAGER_PATH, MANAGER, "ResetFailedUnit", NULL,
				   NULL, "s", unit);
}

void unit_signal(struct units *u, const char *unit, int signal)
{
	if (u->bus)
		sd_bus_call_method(u->bus, SERVICE, MANAGER_PATH, MANAGER, "KillUnit", NULL, NULL,
				   "ssi", unit, "main", (int32_t)signal);
}

/* ---- states -------------------------------------------------------------------------------- */

static char *text_of(sd_bus *bus, const char *path, const char *interface, const char *property)
{
	char *text = NULL;

	if (sd_bus_get_property_string(bus, SERVICE, path, interface, property, NULL, &text) < 0)
		return xstrdup("");
	return text;
}

static int number_of(sd_bus *bus, const char *path, const char *property, char type)
{
	int32_t number = 0;

	sd_bus_get_property_trivial(bus, SERVICE, path, SERVICE ".Service", property, NULL, type,
				    &number);
	return number;
}

/* Job 0 is none. */
static bool has_job(sd_bus *bus, const char *path)
{
	sd_bus_message *reply = NULL;
	const char *job;
	uint32_t id = 0;
	int r = sd_bus_get_property(bus, SERVICE, path, SERVICE ".Unit", "Job", NULL, &reply,
				    "(uo)");

	if (r >= 0)
		sd_bus_message_read(reply, "(uo)", &id, &job);
	sd_bus_message_unref(reply);
	return id != 0;
}

/* RestartPreventExitStatus= of opensm@.service: usage, sysexits(3), an option out of range. */
static bool is_permanent(int exit_status)
{
	return exit_status == 2 || (exit_status >= 64 && exit_status <= 78) || exit_status == 255;
}

static enum unit_phase phase_of(const char *state, const char *sub, int exit_status)
{
	if (str_equal(state, "active") || str_equal(state, "reloading"))
		return UNIT_RUNNING;
	if (str_equal(state, "activating"))
		return str_equal(sub, "auto-restart") ? UNIT_WAITING : UNIT_STARTING;
	if (str_equal(state, "failed"))
		return is_permanent(exit_status) ? UNIT_FAILED : UNIT_PAUSED;
	return str_equal(state, "deactivating") ? UNIT_ENDING : UNIT_STOPPED;
}

static void read_end(sd_bus *bus, const char *path, const char *result, struct unit_state *ret)
{
	int code = number_of(bus, path, "ExecMainCode", 'i');
	int status = number_of(bus, path, "ExecMainStatus", 'i');

	ret->hung = str_equal(result, "watchdog");
	ret->exit_status = code == CLD_EXITED ? status : -1;
	ret->exit_signal = code == CLD_KILLED || code == CLD_DUMPED ? status : -1;
}

bool unit_read(struct units *u, const char *unit, struct unit_state *ret)
{
	_cleanup_free_ char *path = path_of(unit);
	_cleanup_free_ char *state = NULL, *sub = NULL, *result = NULL, *said = NULL;
	uint64_t since = 0;

	if (!u->bus)
		return false;
	state = text_of(u->bus, path, SERVICE ".Unit", "ActiveState");
	if (!state[0])
		return false;
	sub = text_of(u->bus, path, SERVICE ".Unit", "SubState");
	result = text_of(u->bus, path, SERVICE ".Service", "Result");
	said = text_of(u->bus, path, SERVICE ".Service", "StatusText");
	sd_bus_get_property_trivial(u->bus, SERVICE, path, SERVICE ".Unit", "StateChangeTimestamp",
				    NULL, 't', &since);
	*ret = (struct unit_state){ .since = (int64_t)since, .busy = has_job(u->bus, path) };
	ret->pid = number_of(u->bus, path, "MainPID", 'u');
	ret->restarts = (unsigned)number_of(u->bus, path, "NRestarts", 'u');
	ret->faulted = number_of(u->bus, path, "StatusErrno", 'i') != 0;
	read_end(u->bus, path, result, ret);
	ret->phase = phase_of(state, sub, ret->exit_status);
	str_printable(said, strlen(said), ret->status, sizeof(ret->status));
	return true;
}

const char *unit_phase_name(enum unit_phase phase)
{
	static const char *const names[] = {
		[UNIT_STOPPED] = "stopped", [UNIT_STARTING] = "starting",
		[UNIT_RUNNING] = "running", [UNIT_WAITING] = "waiting",
		[UNIT_ENDING] = "ending",   [UNIT_PAUSED] = "failed",
		[UNIT_FAILED] = "failed",
	};

	assert(phase < ARRAY_SIZE(names));
	return names[phase];
}
