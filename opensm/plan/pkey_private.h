// SPDX-License-Identifier: BSD-2-Clause
/*
 * Between the files of pkey*.c.
 *
 *   pkey_pool.c    what is stored once: tables, sets; questions about sets
 *   pkey_member.c  which port is in which partition
 *   pkey_place.c   where in one table its keys go
 *   pkey.c         all ports
 */
#pragma once

#include "plan/pkey.h"
#include "util/guidmap.h"

/* --- pkey_pool.c ---------------------------------------------------------------------------- */

/* Byte strings stored once each; equal ones have equal numbers, from 0. */
struct intern {
	uint8_t *bytes;
	size_t used, cap;
	struct intern_row {
		size_t at;
		uint32_t len;
		uint32_t hash;
	} * rows;
	size_t n, rows_cap;
	uint32_t *slots; /* row + 1 */
	size_t n_slots;	 /* a power of two, or 0 */
};

uint32_t pkey_intern_put(struct intern *in, const void *bytes, size_t len);
const void *pkey_intern_get(const struct intern *in, uint32_t id, size_t *ret_len);
void pkey_intern_clear(struct intern *in);

struct pkey_pool {
	struct intern tables; /* of P_Keys, zeros at the end cut off */
	struct intern sets;   /* of uint16_t order, uint16_t forms */
	uint32_t *table_set;  /* by table: its set + 1; 0: not asked for yet */
	size_t table_set_cap;
	struct pkey_set *set_rows;
	size_t set_rows_cap;
	uint16_t *dropped;
	size_t n_dropped, dropped_cap;
	struct guidmap *ports; /* index + 1 */
};

struct pkey_pool *pkey_pool_new(void);
struct pkey_pool *pkey_pool_free(struct pkey_pool *pool);
uint32_t pkey_pool_table(struct pkey_pool *pool, const uint16_t *keys, size_t n);
struct pkey_table pkey_pool_get(const struct pkey_pool *pool, uint32_t table);
uint32_t pkey_pool_set(struct pkey_pool *pool, uint32_t table);
/* After the last table: gives the sets their arrays, which then stay where they are. */
void pkey_pool_seal(struct pkey_pool *pool);

/* --- pkey_member.c -------------------------------------------------------------------------- */

/* What a port is to have, keys in their order. */
struct pkey_wants {
	uint16_t *keys; /* room for two per partition */
	size_t n;
	uint16_t owner0; /* of index 0; 0: nobody */
};

struct members;

/* Counts members into `n_members`, one per partition. */
struct members *members_new(const struct pkey_job *job, const struct guidmap *ports,
			    uint32_t *n_members);
struct members *members_free(struct members *m);
void members_freep(struct members **m);
/* Ports with equal numbers want the same. */
uint32_t members_kind(struct members *m, size_t port);
void members_wants(const struct members *m, size_t port, struct pkey_wants *ret);

/* --- pkey_place.c --------------------------------------------------------------------------- */

/* Where a key is in a table, for all keys at once. */
struct where {
	uint32_t round;
	uint32_t rounds[0x10000];
	uint16_t at[0x10000];
};

/* Room for the placing of one table; zero-initialise. */
struct place {
	bool allow_both;
	struct where have, memory;
	uint16_t *table; /* result: `capacity` entries */
	size_t table_cap;
	uint16_t *memory_after; /* result: n_memory entries */
	size_t n_memory, memory_cap;
	uint16_t *dropped; /* result */
	size_t n_dropped, dropped_cap;
	size_t capacity;
	size_t highest; /* index of a key confirmed or given */
	size_t hole;	/* none below */
};

void place_clear(struct place *p);
/* Puts the wanted keys into a table of `capacity` entries that holds `have`. Uses `wants` up. */
void place_keys(struct place *p, struct pkey_wants *wants, uint16_t capacity,
		struct pkey_table have, struct pkey_table memory);
