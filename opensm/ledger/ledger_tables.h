// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tables of the ledger: one line each in ledger_tables.c.
 *
 * Keys and values are bytes, numbers most significant byte first. What a value says beyond the
 * bytes that the rule of its table looks at is known to its owner alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEDGER_KEY_MAX 64u

enum ledger_table {
	LEDGER_PARTITION, /* P_Key (2): fields of a partition made at run time */
	LEDGER_MEMBER,	  /* P_Key (2), port GUID (8): LEDGER_MEMBER_FULL, LEDGER_MEMBER_INDEX0 */
	LEDGER_MARK,	  /* node GUID (8), port (1): a link or switch out of service */
	LEDGER_SEED,	  /* digest (8): a seed of M_Keys, and its epoch; secret */
	LEDGER_EPOCH,	  /* port GUID (8): the M_Key that a port was given last; secret */
	LEDGER_CABLE,	  /* port GUID (8), port (1): the port it was cabled to last */
	LEDGER_HEALTH,	  /* node GUID (8), port (1): what is counted against a link */
	LEDGER_CONFIG,	  /* a name: the master's configuration, what a standby says of it */
	LEDGER_TABLES
};

/* Only numbers of the same clock are compared with each other. */
enum ledger_clock {
	CLOCK_TENANTS,
	CLOCK_MARKS,
	CLOCK_KEYS,
	CLOCK_FABRIC,
	CLOCK_CONFIG,
	LEDGER_CLOCKS
};

#define LEDGER_MEMBER_FULL   1u /* bits of the one byte of a member */
#define LEDGER_MEMBER_INDEX0 2u

/* First byte of a mark's value; then `until` (8 bytes; 0: unlimited). */
#define LEDGER_MARK_DRAIN   1u
#define LEDGER_MARK_ISOLATE 2u

/* Offset of the epoch (4 bytes) in the value of a seed; then its turn (8 bytes). */
#define LEDGER_SEED_EPOCH 32u

struct ledger_value;

struct ledger_table_row {
	const char *name; /* "member" */
	enum ledger_clock clock;
	uint8_t key_min, key_max;
	uint32_t value_max; /* bytes */
	bool secret;	    /* set if it is never sent to a manager that proves no secret key */
	bool is_wanted;	    /* set if a manager takes over only with all its rows */
	/*
	 * Set if of concurrent values only the one in force is kept, as a row with two of them may
	 * be longer than a message. For the rule "later" alone.
	 */
	bool keeps_one;
	/*
	 * Chooses the value in force of two concurrent ones: < 0: `a`, > 0: `b`. A total order: 0
	 * only for equal values with equal dots.
	 */
	int (*prefer)(const struct ledger_value *a, const struct ledger_value *b);
	/* Are these bytes a valid value? `len` is at most value_max. */
	bool (*is_value)(const uint8_t *bytes, size_t len);
};

const struct ledger_table_row *ledger_table(enum ledger_table table);
/* Are these bytes a valid key: of the table's length, or, where that varies, printable ASCII? */
bool ledger_table_is_key(enum ledger_table table, const uint8_t *bytes, size_t len);
