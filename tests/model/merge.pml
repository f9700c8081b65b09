// SPDX-License-Identifier: BSD-2-Clause
/*
 * Merging states of one row (ledger/ledger.h), as a model for Spin: three managers write it and
 * merge what others have, in any order. At every state, whatever is merged with whatever: order,
 * repetition and grouping of merges make no difference, to the values as to what is known.
 *
 * A state of a row is the writes that it knows, and those of them that are live: no later write knew
 * them. What a write says is one of three: removed, limited, full; of several live ones the least of
 * these is in force.
 *
 * -DVALUE_DROPPED is the merge that was designed first: of two states that do not know each other,
 * the one that gives less access stays alone, and is said to know what both knew. That is not
 * associative, and Spin shows it:
 *
 *   r  A removes the member.
 *   g  A gives it again, as full, and knows r.
 *   l  B, which knows neither, gives it as limited.
 *
 *   (r with l) with g:  r stays, and knows l. g does not know l, r wins again:  removed.
 *   (r with g) with l:  g knows r and stays. l gives less than g:               limited.
 *
 * So two managers that heard the same three writes would differ for ever, and a member that was given
 * again would be removed by a change that its giver knew. With several live values both come to g
 * and l, of which l is in force.
 */
#ifndef WRITES
#define WRITES 3
#endif

byte known[3], live[3];
byte n_writes;
byte says[4]; /* 0: removed, 1: limited, 2: full */

hidden byte known_1, live_1, known_2, live_2, x, y, z, least_1, least_2;

#ifdef VALUE_DROPPED
/* `live` has one write, or none. */
#define LESS(a, b)	   (FORCE(a) < FORCE(b) || (FORCE(a) == FORCE(b) && (a) < (b)))
#define LIVE(ka, a, kb, b) (((kb) & ~(ka)) == 0 -> (a) : (((ka) & ~(kb)) == 0 -> (b) : (LESS(a, b) -> (a) : (b))))
#else
#define LIVE(ka, a, kb, b) (((a) & (b)) | ((a) & ~(kb)) | ((b) & ~(ka)))
#endif
#define IS_LIVE(a, w, what) (w < WRITES && ((a) >> (w) & 1) && says[w] == (what))
#define ANY(a, what) (IS_LIVE(a, 0, what) || IS_LIVE(a, 1, what) || IS_LIVE(a, 2, what) || IS_LIVE(a, 3, what))
#define FORCE(a) (ANY(a, 0) -> 0 : (ANY(a, 1) -> 1 : (ANY(a, 2) -> 2 : 3)))

/* (x with y) with z, and x with (y with z). */
inline check_grouping()
{
	live_1 = LIVE(known[x], live[x], known[y], live[y]);
	known_1 = known[x] | known[y];
	live_1 = LIVE(known_1, live_1, known[z], live[z]);
	live_2 = LIVE(known[y], live[y], known[z], live[z]);
	known_2 = known[y] | known[z];
	live_2 = LIVE(known[x], live[x], known_2, live_2);
	least_1 = FORCE(live_1);
	least_2 = FORCE(live_2);
	assert(least_1 == least_2);
	assert(live_1 == live_2)
}

inline check_two()
{
	live_1 = LIVE(known[x], live[x], known[y], live[y]);
	live_2 = LIVE(known[y], live[y], known[x], live[x]);
	assert(live_1 == live_2);
	live_2 = LIVE(known[x] | known[y], live_1, known[y], live[y]);
	assert(live_1 == live_2)
}

inline check()
{
	for (x : 0 .. 2) {
		for (y : 0 .. 2) {
			check_two();
			for (z : 0 .. 2) {
				check_grouping()
			}
		}
	}
	x = 0;
	y = 0;
	z = 0;
	live_1 = 0;
	live_2 = 0;
	known_1 = 0;
	known_2 = 0;
	least_1 = 0;
	least_2 = 0
}

inline write(m, what)
{
	says[n_writes] = what;
	known[m] = known[m] | (1 << n_writes);
	live[m] = 1 << n_writes;
	printf("%c writes %d\n", 65 + m, what);
	n_writes++;
	check()
}

proctype manager(byte m)
{
end:	do
	:: d_step { n_writes < WRITES -> write(m, 0) }
	:: d_step { n_writes < WRITES -> write(m, 1) }
	:: d_step { n_writes < WRITES -> write(m, 2) }
	od
}

proctype hears(byte m, other)
{
end:	do
	:: d_step { known[other] & ~known[m] ->
			printf("%c merges what %c has\n", 65 + m, 65 + other);
			live[m] = LIVE(known[m], live[m], known[other], live[other]);
			known[m] = known[m] | known[other];
			check()
		}
	od
}

init {
	byte m;

	atomic {
		for (m : 0 .. 2) {
			run manager(m);
			run hears(m, (m + 1) % 3);
			run hears(m, (m + 2) % 3)
		}
		m = 0
	}
}
