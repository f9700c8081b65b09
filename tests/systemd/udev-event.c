// SPDX-License-Identifier: BSD-2-Clause
/*
 * udev-event ACTION SUBSYSTEM DEVPATH WANTS: tells the network namespace it is run in what udev
 * would tell it of a device with the tag "systemd" and the property SYSTEMD_WANTS, so that units of
 * devices can be tested where no kernel has any. Root only.
 *
 * Not here: the device. The form is that of libudev's monitor: a head, then "NAME=value" strings.
 */
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define UDEV_GROUP 2u
#define MAGIC 0xfeedcafeu

struct head {
	char prefix[8];
	uint32_t magic, size, properties_at, properties_size;
	uint32_t subsystem_hash, devtype_hash, tags_high, tags_low;
};

/* MurmurHash2, seed 0: what receivers filter subsystems by. */
static uint32_t hash(const char *text)
{
	const uint8_t *p = (const uint8_t *)text;
	const uint32_t m = 0x5bd1e995;
	size_t n = strlen(text);
	uint32_t h = (uint32_t)n;

	for (; n >= 4; n -= 4, p += 4) {
		uint32_t k = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
			     (uint32_t)p[3] << 24;

		k *= m;
		k ^= k >> 24;
		h = (h * m) ^ (k * m);
	}
	for (size_t i = n; i > 0; i--)
		h ^= (uint32_t)p[i - 1] << (8 * (i - 1));
	if (n)
		h *= m;
	h = (h ^ h >> 13) * m;
	return h ^ h >> 15;
}

/* A bloom filter of 64 bits with the one tag. */
static void put_tag(struct head *head, const char *tag)
{
	uint32_t h = hash(tag);
	uint64_t bits = 0;

	for (unsigned i = 0; i < 4; i++)
		bits |= UINT64_C(1) << (h >> 6 * i & 63);
	head->tags_high = htonl((uint32_t)(bits >> 32));
	head->tags_low = htonl((uint32_t)bits);
}

int main(int argc, char **argv)
{
	struct head head = { .prefix = "libudev", .magic = htonl(MAGIC), .size = sizeof(head) };
	struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_groups = UDEV_GROUP };
	char text[1024];
	struct iovec parts[] = { { &head, sizeof(head) }, { text, 0 } };
	struct msghdr message = {
		.msg_name = &to, .msg_namelen = sizeof(to), .msg_iov = parts, .msg_iovlen = 2
	};
	int fd, n;

	if (argc != 5) {
		fprintf(stderr, "usage: udev-event ACTION SUBSYSTEM DEVPATH WANTS\n");
		return 2;
	}
	n = snprintf(text, sizeof(text),
		     "ACTION=%s%cSUBSYSTEM=%s%cDEVPATH=%s%cSEQNUM=1%cTAGS=:systemd:%cCURRENT_TAGS=:"
		     "systemd:%c"
		     "SYSTEMD_WANTS=%s",
		     argv[1], 0, argv[2], 0, argv[3], 0, 0, 0, 0, argv[4]);
	if (n < 0 || (size_t)n >= sizeof(text)) {
		fprintf(stderr, "udev-event: too long\n");
		return 2;
	}
	parts[1].iov_len = (size_t)n + 1;
	head.properties_at = sizeof(head);
	head.properties_size = (uint32_t)parts[1].iov_len;
	head.subsystem_hash = htonl(hash(argv[2]));
	put_tag(&head, "systemd");
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
	if (fd < 0 || sendmsg(fd, &message, 0) < 0) {
		perror("udev-event");
		return 1;
	}
	close(fd);
	return 0;
}
