// SPDX-License-Identifier: BSD-2-Clause
/* Hosts as Slurm knows them, and names that it can take: for slurm_tree.c. */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "opensmctl/format/slurm_tree.h"
#include "util/guidmap.h"

struct slurm_host {
	char *name;    /* safe, each once */
	char *word;    /* as the description has it */
	char *slot;    /* "mlx5_0/1", or "1": which of its ports this is */
	uint32_t leaf; /* switch, as read */
	const char *leaf_name; /* of the document */
	unsigned rank; /* the lower, the more it is what a host is placed by */
	double gbps;
	guid_t guid;
	guid_t system;
	const char *desc; /* of the document */
	bool many_leaves, namesakes;
};

/* A port of a host, whether the host is placed by it or not. */
struct slurm_port {
	char *word, *slot; /* as of struct slurm_host */
	uint32_t leaf;	   /* switch, as read */
};

struct slurm_hosts {
	struct slurm_host *all; /* by leaf, then by name */
	size_t n, cap;
	struct slurm_port *ports; /* of all hosts, by word, then by slot */
	size_t n_ports;
};

/* `switches`: node GUID -> place + 1. Remarks go to the tree. Each host once. */
void slurm_hosts_read(struct slurm_hosts *ret, struct json_object *topology,
		      const struct guidmap *switches, const struct slurm_wish *wish,
		      struct slurm_tree *tree);
/*
 * slurm_place.c: of all ports of all hosts, in any order, those that a host may be placed by,
 * ranked; the others go. Says by which port hosts are placed, and which hosts have none.
 */
void slurm_place(struct slurm_hosts *h, const struct slurm_wish *wish, struct slurm_tree *tree);
void slurm_host_drop(struct slurm_host *h);
/* slurm_rails.c: notes all ports, before slurm_place(). */
void slurm_rails_note(struct slurm_hosts *h);
/*
 * slurm_rails.c: the leaf with the hosts of which a switch is linked, for every switch that has
 * ports of hosts and on which none is placed; UINT32_MAX: none. `ret`: `n_switches` numbers. Such a
 * switch is the leaf of another rail: all its hosts are placed on one leaf, and are at least half
 * of that leaf's.
 */
void slurm_rails_pair(const struct slurm_hosts *h, uint32_t n_switches, uint32_t *ret);
/*
 * slurm_rails.c: sets tree->rails if a host has several ports. `names`: of switches, as read;
 * `h->all` has the order of tree->hosts.
 */
void slurm_rails_list(const struct slurm_hosts *h, const char *const *names,
		      struct slurm_tree *tree);
void slurm_rails_free(struct slurm_rails *rails, size_t n); /* NULL is fine */
/* "a, b, c and 7 more" of names, each once, sorted. Their order changes. To be freed. */
char *slurm_names(const char **names, size_t n);
void slurm_hosts_clear(struct slurm_hosts *h);
/* A safe name that no switch of the tree has yet; where it is not `name`, a remark says so. */
char *slurm_unique_name(struct slurm_tree *tree, const char *name);
void slurm_remark(struct slurm_tree *tree, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
