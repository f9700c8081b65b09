// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rails and planes: hosts with an adapter for each of several rails, every rail on leaf switches of
 * its own.
 *
 * Adapters of one host have a description with the same first word ("node17 mlx5_3") or, without
 * descriptions that tell hosts apart, one SystemImageGUID. What follows the first word, and the
 * number of the port, is the slot of a port; slots that hang on the same leaves are one rail. Hosts
 * that share leaves are a unit; in one that has no leaf of the rail of a slot, the port is of the
 * rail that it hangs on. Rails whose leaves share spines are one plane; a rail with spines of its
 * own is a plane by itself.
 *
 * A pure function of the fabric; its cost grows with the ports.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "topo/topo.h"
#include "util/mem.h"

#define RAILS_MAX	32
#define RAILS_HOSTS_MIN 4 /* least number of end ports of a rail */
#define RAILS_SHOWN	4
#define RAIL_NAME_MAX	48
#define RAIL_NONE	UINT8_MAX

struct rail {
	char name[RAIL_NAME_MAX]; /* name of its first slot: "mlx5_0", "port 1"; printable */
	uint32_t ports;		  /* number of end ports whose slot is of this rail */
	uint32_t leaves;	  /* number of switches with most of their ports on it */
	unsigned plane;		  /* 0, 1 ... */
};

struct rails {
	unsigned n;		   /* 0: no rails, and all other members are 0 */
	struct rail of[RAILS_MAX]; /* sorted by the names of their slots */
	uint32_t hosts;		   /* number of hosts with ports on several rails */
	uint32_t least, most;	   /* end ports of the smallest and of the largest rail */
	unsigned planes;
	bool joined;	   /* set if cables connect planes; false also if there is one plane */
	uint32_t crossing; /* number of cables from a leaf to a spine of another plane */
	uint32_t wrong;	   /* number of end ports on a leaf of another rail */
	struct {
		uint32_t host; /* index in topo->hosts */
		uint8_t on;    /* rail that it is connected to */
	} first_wrong[RAILS_SHOWN];
	uint8_t *rail; /* by index in topo->hosts; RAIL_NONE: none */
};

/*
 * Finds the rails. `names`: descriptions by index in topo->hosts, printable, each may be NULL;
 * NULL: none are known. The caller frees.
 */
struct rails *rails_find(const struct topo *t, const char *const *names);
struct rails *rails_free(struct rails *r); /* NULL is fine; returns NULL */
FREEP(rails_free, struct rails)

/*
 * Writes "8 rails of 128 end ports (mlx5_0 ... mlx5_7), which share spines; 1 port on another rail:
 * 'node17 mlx5_3' port 1 on mlx5_4"; "": no rails. Returns `ret`.
 */
#define RAILS_STRLEN 600
char *rails_str(const struct rails *r, const struct topo *t, const char *const *names,
		char ret[RAILS_STRLEN]);
/* Writes the name of the host, or its GUID. Returns `ret`. */
#define RAILS_HOST_STRLEN 80
char *rails_host_str(const struct topo *t, const char *const *names, uint32_t host,
		     char ret[RAILS_HOST_STRLEN]);

/* Fills in which of the `n` hosts are on the rail; `ret` has room for all. Returns their number. */
uint32_t rails_pick(const struct rails *r, unsigned rail, const uint32_t *hosts, uint32_t n,
		    uint32_t *ret);
