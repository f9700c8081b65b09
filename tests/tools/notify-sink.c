// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stands in for the service manager: takes what programs send to NOTIFY_SOCKET and prints one line
 * per message, newlines as blanks.
 *
 *   notify-sink NAME     binds @NAME (abstract), says "listening" first; ends with its reader or by
 *                        a signal
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

int main(int argc, char **argv)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char text[4096];
	ssize_t n;

	if (argc != 2 || strlen(argv[1]) + 2 > sizeof(addr.sun_path))
		return 2;
	snprintf(addr.sun_path + 1, sizeof(addr.sun_path) - 1, "%s", argv[1]);
	if (bind(fd, (struct sockaddr *)&addr,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(argv[1]))) < 0) {
		perror("notify-sink");
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("listening");
	while ((n = recv(fd, text, sizeof(text) - 1, 0)) >= 0) {
		text[n] = '\0';
		for (char *c = text; (c = strchr(c, '\n'));)
			*c = ' ';
		if (puts(text) < 0)
			return 0;
	}
	return 1;
}
