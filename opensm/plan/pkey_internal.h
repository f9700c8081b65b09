// SPDX-License-Identifier: BSD-2-Clause
/*
 * Between the files of pkey*.c.
 *
 *   pkey_pool.c    tables and sets, stored once each; questions about sets
 *   pkey_member.c  which port is in which partition
 *   pkey_place.c   where in one table its keys go
 *   pkey_port.c    one port: its table, and that of the switch port
 *   pkey.c         all ports
 */
#pragma once

#include "plan/pkey.h"
#include "util/guidmap.h"
#include "util/mem.h"

/* --- pkey_pool.c ---------------------------------------------------------------------------- */

/* Byte strings stored once each; equal ones have equal ids, from 0. */
struct intern {
	uint8_t *bytes;
	size_t used, cap;
	struct intern_row {
		size_t at, len;
	} * rows;
	size_t n, rows_cap;
	struct guidmap *ids; /* row + 1, by hash or one of the numbers after it */
};

uint32_t pkey_intern_put(struct intern *in, const void *bytes, size_t len);
const void *pkey_intern_get(const struct intern *in, uint32_t id, size_t *ret_len);
void pkey_intern_clear(struct intern *in);

struct pkey_answer;

struct pkey_pool {
	struct intern tables;	    /* tables of P_Keys, without zeros at the end */
	struct intern sets;	    /* arrays of struct pkey_entry */
	struct pkey_set **set_rows; /* allocated one by one, so that pointers stay valid */
	size_t set_rows_cap;
	uint16_t *dropped;
	size_t n_dropped, dropped_cap;
	struct guidmap *ports;	    /* index + 1, by GUID */
	struct pkey_answer *answer; /* working memory of pkey.c */
	size_t n_fresh;		    /* number of tables when the whole plan was made */
};

struct pkey_pool *pkey_pool_new(void);
struct pkey_pool *pkey_pool_free(struct pkey_pool *pool);
uint32_t pkey_pool_table(struct pkey_pool *pool, const uint16_t *keys, size_t n);
struct pkey_table pkey_pool_get(const struct pkey_pool *pool, uint32_t table);
uint32_t pkey_pool_set(struct pkey_pool *pool, uint32_t table);

/* --- pkey_member.c -------------------------------------------------------------------------- */

/* The wanted keys of a port, in their order; to be zero-initialised. */
struct pkey_wants {
	uint16_t *keys;
	size_t n, cap;
	uint16_t owner0; /* key that belongs at index 0; 0: none */
	/* set if the port has rights made at run time: its keys keep their indexes */
	bool is_still;
};

/* Numbers ports by what they want; to be zero-initialised. */
struct pkey_kinds {
	struct intern numbers;
	uint32_t *words;
	size_t words_cap;
};
void pkey_kinds_clear(struct pkey_kinds *kinds);

/* The number of a port's wants; equal numbers mean equal wants. */
uint32_t pkey_rights_kind(const struct pkey_rights *rights, const struct tenants *tenants,
			  const struct pkey_port *port, struct pkey_kinds *kinds);
bool pkey_is_still(const struct tenants *tenants, const struct pkey_port *port);
void pkey_rights_wants(const struct pkey_rights *rights, const struct pkey_job *job,
		       const struct pkey_port *port, struct pkey_wants *ret);

/* --- pkey_place.c --------------------------------------------------------------------------- */

/* The index of each P_Key in a table, for all 65,536 keys. */
struct where {
	uint32_t round;
	uint32_t rounds[0x10000];
	uint16_t at[0x10000];
};

/* Working memory for the placing of one table; to be zero-initialised. */
struct place {
	bool allow_both, is_still;
	struct where have, memory;
	uint16_t *table; /* result: table of `capacity` entries */
	size_t table_cap;
	uint16_t *memory_after; /* result: memory of n_memory entries */
	size_t n_memory, memory_cap;
	uint16_t *dropped; /* result: dropped keys */
	size_t n_dropped, dropped_cap;
	size_t capacity;
	size_t highest; /* highest index of a key that was confirmed or given */
	size_t hole;	/* no index below is free */
};

void place_clear(struct place *p);
/*
 * Puts the wanted keys into a table of `capacity` entries that holds `have`. `memory`: the memory
 * of the port, or, if it is still, the table of the last plan. Uses up `wants`.
 */
void place_keys(struct place *p, struct pkey_wants *wants, uint16_t capacity,
		struct pkey_table have, struct pkey_table memory);
/*
 * Reorders the `n` keys (at most `capacity`) of a switch port's table so that keys of `before` have
 * their index there. `keys` has room for `capacity`. Returns the new length.
 */
size_t place_peer(struct place *p, uint16_t *keys, size_t n, uint16_t capacity,
		  struct pkey_table before);

/* --- pkey_port.c ---------------------------------------------------------------------------- */

/* The input for the tables of a port besides its wants. */
struct pkey_input {
	struct pkey_table have, memory; /* as for place_keys() */
	struct pkey_table peer_before;	/* table of the switch port in the last plan; empty: none */
	uint16_t capacity, peer_capacity;
	enum pkey_enforce enforce;
	bool allow_both;
};

/* Working memory for one port, and its results; to be zero-initialised. */
struct pkey_answer {
	struct pkey_wants wants;
	struct place place; /* table of the port */
	uint16_t *peer;
	size_t n_peer, peer_cap;
	bool has_peer, peer_too_small;
};

struct pkey_answer *pkey_answer_free(struct pkey_answer *a);
/* Computes the answer; a->wants is input, and is used up. */
void pkey_answer_make(struct pkey_answer *a, const struct pkey_input *in);
/* Stores the answer in the pool, and the ids in `ret`. */
void pkey_answer_keep(const struct pkey_answer *a, struct pkey_pool *pool,
		      enum pkey_enforce enforce, struct pkey_port_plan *ret);
/* The part of the table as read that is used. */
struct pkey_table pkey_have(const struct pkey_job *job, const struct pkey_port *port);
/* The memory of a port for the next plan: from `before`, its plan in `pool` (NULL: none). */
struct pkey_table pkey_memory(const struct pkey_job *job, const struct pkey_pool *pool,
			      const struct pkey_port_plan *before, bool is_still);
struct pkey_table pkey_peer_before(const struct pkey_job *job, const struct pkey_pool *pool,
				   const struct pkey_port_plan *before, bool is_still);
