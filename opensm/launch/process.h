// SPDX-License-Identifier: BSD-2-Clause
/* The process of an instance and the socket by which it reports. Touches processes and sockets; decides nothing. */
#pragma once

#include "launch/instance.h"

/*
 * Starts it. The descriptor of its socket, or -errno with `*ret_what` to be freed. SIGHUP and SIGUSR1 are blocked in
 * the new process, so that one that comes before its handlers are there is neither lost nor the end of it.
 */
int process_start(struct instance *i, const struct launch_paths *p, mono_t watchdog,
		  char **ret_what);
void process_signal(const struct instance *i, int signal);

/* What one message says. */
struct process_message {
	bool ready, reloading, stopping, alive, hung, faulted;
	bool has_status;
	char status[400]; /* printable */
};

/*
 * The next message that this very process sent; messages of others are dropped. False: there is none.
 */
bool process_next_message(int fd, pid_t pid, struct process_message *ret);
/* Text of sd_notify(3) as a message. */
void process_parse_message(const char *text, size_t len, struct process_message *ret);
