# SPDX-License-Identifier: BSD-2-Clause
EXTRA_DIST += tests/lib/scratch.h
# The rig: a simulated fabric with managers on it.
noinst_LIBRARIES += librig.a
librig_a_SOURCES = tests/lib/rig.c tests/lib/rig.h tests/lib/client.c tests/lib/client.h \
	tests/lib/lanewalk.c tests/lib/lanewalk.h
# Campaigns of random faults, on the rig.
noinst_LIBRARIES += libcampaign.a
libcampaign_a_SOURCES = tests/lib/campaign.c tests/lib/campaign.h tests/lib/campaign-impl.h \
	tests/lib/campaign-world.c tests/lib/campaign-fault.c tests/lib/campaign-hosts.c \
	tests/lib/campaign-judge.c
CAMPAIGN_LIBS = libcampaign.a $(RIG_LIBS)
RIG_LIBS = librig.a $(SM_LIBS) $(SIM_LIBS)
