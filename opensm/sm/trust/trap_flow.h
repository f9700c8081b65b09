// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which traps are heard, and how often: what keeps a storm of notices from being anything but a
 * line in the log (traps.md 3, testing.md 5.1).
 *
 * Every source has a token bucket of its own, so a storm of one costs no trap of another. A source
 * is a base LID of the fabric; all that are not known share one. There is one entry per source that
 * was heard lately, hence at most one per unicast LID: no source can push out another.
 *
 *   a notice that was taken already (same TID, same content)    REPEAT: dropped
 *   a token is there                                            TAKE
 *   none is, or the source says the same for ever               SUPPRESS: counted, and remembered
 *
 * What was suppressed is owed: once there is a token, the last notice is handed out again by
 * trap_flow_due(), with the kinds of all that were left out, so that nothing real is lost in a
 * storm from the same place. Hosts together have a bucket too; when it is empty theirs are handed
 * out in turn.
 *
 * Reads no clock, sends nothing, knows nothing of what traps mean.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ib/attrs.h"
#include "util/mono.h"
#include "util/types.h"

struct trap_flow;

enum trap_from { TRAP_FROM_SWITCH, TRAP_FROM_HOST, TRAP_FROM_STRANGER, TRAP_FROMS };

struct trap_arrival {
	enum trap_from from;
	lid_t lid;     /* base LID of the source; ignored for strangers */
	guid_t guid;   /* GUID of the source: with another GUID on its LID counting begins anew */
	unsigned kind; /* 0..31, defined by the caller */
	uint64_t tid;
	const uint8_t *notice; /* SMP_DATA_SIZE bytes */
};

enum trap_verdict { TRAP_TAKE, TRAP_REPEAT, TRAP_SUPPRESS };

struct trap_flow *trap_flow_new(void);
struct trap_flow *trap_flow_free(struct trap_flow *f);
enum trap_verdict trap_flow_arrived(struct trap_flow *f, const struct trap_arrival *a, mono_t now);

/*
 * Is this arrival answered with TrapRepress? A trap that is taken always is; of a source that sends
 * more, as many as a device needs to come to rest, and then one per second.
 */
bool trap_flow_represses(struct trap_flow *f, const struct trap_arrival *a, enum trap_verdict v,
			 mono_t now);

enum trap_due_what {
	TRAP_DUE_STORM, /* a source began to be suppressed; to be logged */
	/* traps were suppressed lately; `notice` and `kinds` are to be acted upon */
	TRAP_DUE_LOOK,
	TRAP_DUE_OVER, /* a storm that was reported as such has ended */
};

struct trap_due {
	enum trap_due_what what;
	lid_t lid; /* 0: strangers */
	guid_t guid;
	uint32_t kinds;		       /* with LOOK: set of 1 << kind */
	uint64_t suppressed;	       /* traps suppressed in this storm so far */
	mono_t lasted;		       /* time from the first to the last suppressed trap */
	uint8_t notice[SMP_DATA_SIZE]; /* the last suppressed notice */
};

/* Returns the next record that is due; false: none is left. Called until it returns false. */
bool trap_flow_due(struct trap_flow *f, mono_t now, struct trap_due *ret);
mono_t trap_flow_next(const struct trap_flow *f);

/* Numbers for status and tests: sources heard lately; those of them that are suppressed. */
unsigned trap_flow_sources(const struct trap_flow *f);
unsigned trap_flow_storms(const struct trap_flow *f);
