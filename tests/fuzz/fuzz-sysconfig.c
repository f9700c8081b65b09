// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary text as a file of settings, and the instances it asks for. Names of instances can
 * always be names of files; a refusal is never silent.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

static void try_choice(const struct sysconfig *s)
{
	static const char *const names[] = { "opensm.conf" };
	static const uint64_t ports[] = { 1, 2 };
	const struct choose_input in = { .conf_dir = "/etc/rdma", .settings = *s,
					 .names = names, .n_names = 1, .ports = ports,
					 .n_ports = 2 };
	struct conf_report r = { 0 };
	struct choice c;

	choose(&in, &c, &r);
	for (size_t i = 0; i < c.n; i++) {
		const char *name = c.items[i]->name;

		require(name[0] && name[0] != '.' && !strpbrk(name, "/ \n\""));
		require(c.items[i]->priority <= 15);
	}
	choose_clear(&c);
	conf_report_clear(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	struct conf_report r = { 0 };
	struct sysconfig ours = { 0 };
	_cleanup_free_ char *text = xmalloc(len + 1);
	int result;

	memcpy(text, input, len);
	text[len] = '\0';
	result = sysconfig_read_text("file", text, len, &ours, &r);
	require((result < 0) == (r.errors > 0));
	if (result == 0)
		try_choice(&ours);
	sysconfig_clear(&ours);
	conf_report_clear(&r);
	return 0;
}
