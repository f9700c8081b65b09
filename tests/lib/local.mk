# SPDX-License-Identifier: BSD-2-Clause
EXTRA_DIST += tests/lib/channel-seal.h tests/lib/full-disk.h tests/lib/no-syslog.h tests/lib/rounds.h tests/lib/scratch.h tests/lib/wait.bash
# The rig: a simulated fabric with managers on it.
noinst_LIBRARIES += librig.a
librig_a_SOURCES = tests/lib/rig.c tests/lib/rig.h tests/lib/client.c tests/lib/client.h \
	tests/lib/tap.c tests/lib/tap.h tests/lib/lanewalk.c tests/lib/lanewalk.h
# Campaigns of random faults, on the rig.
noinst_LIBRARIES += libcampaign.a
libcampaign_a_SOURCES = tests/lib/campaign.c tests/lib/campaign.h tests/lib/campaign-impl.h \
	tests/lib/campaign-world.c tests/lib/campaign-fault.c tests/lib/campaign-hosts.c \
	tests/lib/campaign-judge.c
CAMPAIGN_LIBS = libcampaign.a $(RIG_LIBS)
# A hostile host on a large subnet.
ATTACK = tests/lib/attack.c tests/lib/attack-mads.c tests/lib/attack.h
RIG_LIBS = librig.a $(SM_LIBS) $(SIM_LIBS)
# Numbers, not verdicts: `make bench-loss && ./bench-loss 36`.
EXTRA_PROGRAMS += bench-keys
bench_keys_SOURCES = tests/bench/bench-keys.c
bench_keys_LDADD = $(RIG_LIBS)
EXTRA_PROGRAMS += bench-congestion
bench_congestion_SOURCES = tests/bench/bench-congestion.c opensm/daemon/counters.c
bench_congestion_LDADD = libcongestion.a $(RIG_LIBS)
EXTRA_PROGRAMS += bench-tenancy
bench_tenancy_SOURCES = tests/bench/bench-tenancy.c
bench_tenancy_LDADD = $(RIG_LIBS)
EXTRA_PROGRAMS += bench-attacks
bench_attacks_SOURCES = tests/bench/bench-attacks.c $(ATTACK)
bench_attacks_LDADD = $(RIG_LIBS)
EXTRA_PROGRAMS += bench-loss
bench_loss_SOURCES = tests/bench/bench-loss.c
bench_loss_LDADD = $(RIG_LIBS)
# A manager of paper for the endpoints of opensm-rest, and what their clients send.
EXTRA_DIST += tests/lib/metrics-counted.h
REST_FAKE = tests/lib/rest-fake.c tests/lib/rest-fake.h tests/lib/openapi-fits.c tests/lib/openapi-fits.h \
	tests/lib/schema-fits.c tests/lib/schema-fits.h
EXTRA_DIST += tests/lib/rest-replay.rows
