// SPDX-License-Identifier: BSD-2-Clause
/* fork, exec, kill, and the receiving end of sd_notify(3). */
#include "launch/process.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "util/mem.h"
#include "util/str.h"

#define EXIT_NO_PROGRAM 127
#define MESSAGE_MAX 4096

/* ---- the socket ---------------------------------------------------------------------------- */

static int bind_private(int fd, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(path);
	const int on = 1;
	mode_t mask;
	int r;

	if (len >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, len);
	unlink(path);
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		return -errno;
	mask = umask(0177);
	r = bind(fd, (struct sockaddr *)&address,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + 1));
	r = r < 0 ? -errno : 0;
	umask(mask);
	return r;
}

/* The descriptor; the path stands in `i` then. */
static int open_socket(struct instance *i, const struct launch_paths *p)
{
	_cleanup_free_ char *path = xasprintf("%s/notify.%s", p->run_dir, i->plan.name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r;

	if (fd < 0)
		return -errno;
	r = bind_private(fd, path);
	if (r < 0) {
		close(fd);
		return r;
	}
	free(i->notify_path);
	i->notify_path = take(path);
	return fd;
}

/* ---- messages ------------------------------------------------------------------------------ */

static void parse_line(const char *line, size_t len, struct process_message *m)
{
	static const char status[] = "STATUS=";
	_cleanup_free_ char *copy = xmemdup(line, len + 1);

	copy[len] = '\0';
	if (str_starts(copy, status)) {
		m->has_status = true;
		str_printable(copy + strlen(status), len - strlen(status), m->status,
			      sizeof(m->status));
		return;
	}
	m->ready |= str_equal(copy, "READY=1");
	m->reloading |= str_equal(copy, "RELOADING=1");
	m->stopping |= str_equal(copy, "STOPPING=1");
	m->alive |= str_equal(copy, "WATCHDOG=1");
	m->hung |= str_equal(copy, "WATCHDOG=trigger");
	m->faulted |= str_starts(copy, "ERRNO=") && !str_equal(copy, "ERRNO=0");
}

void process_parse_message(const char *text, size_t len, struct process_message *ret)
{
	const char *end = text + len;

	*ret = (struct process_message){ 0 };
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((newline ? newline : end) - text);

		parse_line(text, n, ret);
		text += n + 1;
	}
}

static pid_t sender_of(struct msghdr *header)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
		struct ucred cred;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&cred, CMSG_DATA(c), sizeof(cred));
		return cred.pid;
	}
	return 0;
}

/* Descriptors that somebody sends along are never taken: there is room for credentials only. */
bool process_next_message(int fd, pid_t pid, struct process_message *ret)
{
	for (;;) {
		char text[MESSAGE_MAX + 1];
		union {
			struct cmsghdr align;
			char room[CMSG_SPACE(sizeof(struct ucred))];
		} control;
		struct iovec part = { .iov_base = text, .iov_len = MESSAGE_MAX };
		struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1,
					 .msg_control = &control,
					 .msg_controllen = sizeof(control) };
		ssize_t n = recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		if (!pid || sender_of(&header) != pid)
			continue;
		text[n] = '\0';
		process_parse_message(text, (size_t)n, ret);
		return true;
	}
}

/* ---- the process --------------------------------------------------------------------------- */

static void become(char **argv, char **envp, pid_t parent)
{
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGHUP);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	signal(SIGPIPE, SIG_DFL);
	/* A launcher that is killed leaves nobody behind whom a successor would have to fight. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_NO_PROGRAM);
	execve(argv[0], argv, envp);
	dprintf(STDERR_FILENO, "opensm-launch: cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(EXIT_NO_PROGRAM);
}

int process_start(struct instance *i, const struct launch_paths *p, mono_t watchdog,
		  char **ret_what)
{
	char **argv, **envp;
	pid_t pid, parent = getpid();
	int fd = open_socket(i, p);

	if (fd < 0) {
		*ret_what = xasprintf("cannot make a socket in %s: %s", p->run_dir, strerror(-fd));
		return fd;
	}
	argv = instance_argv(i, p);
	envp = instance_envp(i, p, watchdog);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		become(argv, envp, parent);
	strv_free(argv);
	strv_free(envp);
	if (pid < 0) {
		pid = -errno;
		close(fd);
		*ret_what = xasprintf("cannot make a process: %s", strerror(-pid));
		return pid;
	}
	i->pid = pid;
	return fd;
}

void process_signal(const struct instance *i, int signal)
{
	if (i->pid > 0)
		kill(i->pid, signal);
}
