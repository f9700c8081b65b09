// SPDX-License-Identifier: BSD-2-Clause
/* Hosts as Slurm knows them, and names that it can take: for slurm_tree.c. */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "opensmctl/format/slurm_tree.h"
#include "util/guidmap.h"

/* A port of a host that leads to a switch. */
struct slurm_port {
	char *word;	       /* the host's, as the description has it */
	char *slot;	       /* "mlx5_0/1", or "1": the port among those of the host */
	uint32_t leaf;	       /* index of the switch in the fabric as read */
	const char *leaf_name; /* name in the document, valid as long as that */
	unsigned rank; /* the lower, the more it is what a host is placed by; RANK_UNFIT: never */
	double gbps;
	guid_t guid;
	guid_t system;
	const char *desc; /* description in the document, valid as long as that */
};

enum { RANK_SLOT, RANK_LEAF, RANK_OTHER, RANK_UNFIT };

/* Adapters with the same word are one host. */
struct slurm_host {
	char *name;	 /* safe, each once */
	size_t first, n; /* its ports: index of the first one, and their number */
	size_t n_fit;	 /* ports that it may be placed by */
	uint32_t leaf;	 /* leaf of the port by which it is placed */
	double gbps;	 /* rate of the port by which it is placed */
};

struct slurm_hosts {
	struct slurm_port *ports; /* sorted by word, then by slot */
	size_t n_ports, cap_ports;
	struct slurm_host *all; /* hosts with a place, by leaf, then by name */
	size_t n;
};

static inline const char *slurm_word(const struct slurm_hosts *h, const struct slurm_host *host)
{
	return h->ports[host->first].word;
}

/* `switches`: node GUID -> place + 1. Remarks go to the tree. Each host once. */
void slurm_hosts_read(struct slurm_hosts *ret, struct json_object *topology,
		      const struct guidmap *switches, const struct slurm_wish *wish,
		      struct slurm_tree *tree);
/*
 * slurm_place.c: ranks the ports of all hosts, which are ordered by word. Says by which port hosts
 * are placed; hosts that have no port that fits go, and are named.
 */
void slurm_place(struct slurm_hosts *h, const struct slurm_wish *wish, struct slurm_tree *tree);
/*
 * slurm_rails.c: the leaf with the hosts of which a switch is linked, for every switch that has
 * ports of hosts and on which none is placed; UINT32_MAX: none. `ret`: `n_switches` numbers. Such a
 * switch is the leaf of another rail: all its hosts are placed on one leaf, and are at least half
 * of that leaf's.
 */
void slurm_rails_pair(const struct slurm_hosts *h, uint32_t n_switches, uint32_t *ret);
/* "a, b, c and 7 more" of names, each once, sorted. Their order changes. To be freed. */
char *slurm_names(const char **names, size_t n);
void slurm_hosts_clear(struct slurm_hosts *h);
/*
 * The name of a switch for a scheduler: "leaf1" of "MF0;leaf1:MQM9700/U1", "core1/L01" of
 * "MF0;core1:CS7500/L01/U1", else as it is. To be freed.
 */
char *slurm_switch_name(const char *name);
/* A safe name that no switch of the tree has yet; where it is not `name`, a remark says so. */
char *slurm_unique_name(struct slurm_tree *tree, const char *name);
void slurm_remark(struct slurm_tree *tree, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
