// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary text as a file of settings, and what it says as an order for instances. What both iniparser and our own reader
 * can read, they read alike; names of instances can always be names of files; a refusal is never silent.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launch/choose.h"
#include "launch/sysconfig.h"
#include "util/mem.h"
#include "util/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* The text as a file; the caller closes. */
static int file_of(const char *text, size_t len, char path[static 64])
{
	int fd = memfd_create("sysconfig", MFD_CLOEXEC);

	require(fd >= 0 && write(fd, text, len) == (ssize_t)len);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static void require_alike(const struct sysconfig *a, const struct sysconfig *b)
{
	static const char *const names[] = { "GUIDS", "PRIORITY", "PORTS", "A", "B" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct sysconfig_setting *x = sysconfig_find(a, names[i]);
		const struct sysconfig_setting *y = sysconfig_find(b, names[i]);

		require(!x == !y);
		require(!x || (str_equal(x->value, y->value) && x->line == y->line &&
			       x->column == y->column));
	}
}

static void try_choice(const struct sysconfig *s)
{
	static const char *const names[] = { "opensm.conf" };
	static const uint64_t ports[] = { 1, 2 };
	const struct choose_input in = { .conf_dir = "/etc/rdma", .files = { s, NULL },
					 .names = names, .n_names = 1, .ports = ports,
					 .n_ports = 2 };
	struct conf_report r = { 0 };
	struct choice c;

	choose(&in, &c, &r);
	for (size_t i = 0; i < c.n; i++) {
		const char *name = c.plans[i].name;

		require(name[0] && name[0] != '.' && !strpbrk(name, "/ \n\""));
		require(c.plans[i].priority <= 15);
	}
	choose_clear(&c);
	conf_report_clear(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	struct conf_report r = { 0 }, r2 = { 0 };
	struct sysconfig ours, both;
	_cleanup_free_ char *text = xmalloc(len + 1);
	char path[64];
	int fd, result;

	memcpy(text, input, len);
	text[len] = '\0';
	result = sysconfig_read_text("file", text, len, &ours, &r);
	require((result < 0) == (r.errors > 0));
	if (result == 0)
		try_choice(&ours);
	if (sysconfig_is_plain(text, len)) {
		fd = file_of(text, len, path);
		require(result == 0);
		require(sysconfig_read(path, &both, &r2) == 0 && both.by_iniparser);
		require_alike(&both, &ours);
		sysconfig_clear(&both);
		conf_report_clear(&r2);
		close(fd);
	}
	sysconfig_clear(&ours);
	conf_report_clear(&r);
	return 0;
}
