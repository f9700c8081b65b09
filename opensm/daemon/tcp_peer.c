// SPDX-License-Identifier: BSD-2-Clause
/*
 * Asks the kernel by sock_diag(7) for the one socket that is the other end. It needs no privilege.
 * A socket without inode was closed: the kernel would give its owner as 0, which is root.
 */
#include "daemon/tcp_peer.h"

#include <assert.h>
#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/mem.h"
#include "util/str.h"

struct question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 body;
};

/* Ports and addresses are in wire order there. */
static void put_port(uint16_t port, void *ret)
{
	const uint8_t wire[2] = { (uint8_t)(port >> 8), (uint8_t)port };

	memcpy(ret, wire, sizeof(wire));
}

/* "127.0.0.1:40022" */
static int read_name(const char *name, struct inet_diag_sockid *ret)
{
	const char *colon = strrchr(name, ':');
	char address[INET_ADDRSTRLEN];
	uint64_t port;

	if (!colon || (size_t)(colon - name) >= sizeof(address))
		return -EINVAL;
	memcpy(address, name, colon - name);
	address[colon - name] = '\0';
	if (inet_pton(AF_INET, address, ret->idiag_src) != 1 ||
	    str_to_u64(colon + 1, 10, UINT16_MAX, &port) < 0)
		return -EINVAL;
	put_port(port, &ret->idiag_sport);
	return 0;
}

static int read_answer(const char *bytes, size_t len, uid_t *ret)
{
	struct nlmsghdr head;
	struct nlmsgerr error;
	struct inet_diag_msg msg;

	if (len < NLMSG_HDRLEN)
		return -EPROTO;
	memcpy(&head, bytes, sizeof(head));
	if (head.nlmsg_type == NLMSG_ERROR && len >= NLMSG_HDRLEN + sizeof(error)) {
		memcpy(&error, bytes + NLMSG_HDRLEN, sizeof(error));
		return error.error ? error.error : -EPROTO;
	}
	if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY || len < NLMSG_HDRLEN + sizeof(msg))
		return -EPROTO;
	memcpy(&msg, bytes + NLMSG_HDRLEN, sizeof(msg));
	if (!msg.idiag_inode)
		return -ENOENT;
	*ret = msg.idiag_uid;
	return 0;
}

static int ask(int fd, const struct question *q, uid_t *ret)
{
	char answer[1024];
	ssize_t n = send(fd, q, sizeof(*q), 0);

	if (n < 0)
		return -errno;
	/* The kernel has answered before send() returns. */
	n = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
	return n < 0 ? -errno : read_answer(answer, (size_t)n, ret);
}

int tcp_peer_uid(const char *from, uint16_t to, uid_t *ret)
{
	struct question q = {
		.head = { .nlmsg_len = sizeof(q),
			  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST },
		.body = { .sdiag_family = AF_INET,
			  .sdiag_protocol = IPPROTO_TCP,
			  .idiag_states = UINT32_MAX,
			  .id.idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } },
	};
	int fd, r;

	assert(from && ret);
	r = read_name(from, &q.body.id);
	if (r < 0)
		return r;
	put_port(to, &q.body.id.idiag_dport);
	inet_pton(AF_INET, "127.0.0.1", q.body.id.idiag_dst);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (fd < 0)
		return -errno;
	r = ask(fd, &q, ret);
	close(fd);
	return r;
}
