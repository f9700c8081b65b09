// SPDX-License-Identifier: BSD-2-Clause
/* The devices of nodes; see hosts.h. */
#include "sim/serve/hosts.h"

#include <stdio.h>

#include "util/mem.h"

const struct host *host_of(const struct host *first, int node)
{
	static const struct host plain = { 0 };

	while (first && first->node != node)
		first = first->next;
	return first ? first : &plain;
}

struct host *host_make(struct host **first, int node)
{
	struct host *h = *first;

	while (h && h->node != node)
		h = h->next;
	if (h)
		return h;
	h = xcalloc(1, sizeof(*h));
	h->node = node;
	h->next = *first;
	*first = h;
	return h;
}

void hosts_free(struct host *first)
{
	while (first) {
		struct host *next = first->next;

		free(first);
		first = next;
	}
}

bool host_device(const struct host *h, unsigned i, char name[DEVICE_NAME_MAX])
{
	if (i >= DEVICE_ETHERNET) {
		snprintf(name, DEVICE_NAME_MAX, "eth%03u", i - DEVICE_ETHERNET);
		return i - DEVICE_ETHERNET < h->ethernet;
	}
	snprintf(name, DEVICE_NAME_MAX, "%s", i == DEVICE_SMI ? "smi0" : "sim0");
	return i == DEVICE_MAIN || h->split;
}
