# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libview.a
libview_a_SOURCES = opensm/view/lid_hops.c opensm/view/lid_hops.h opensm/view/view.c opensm/view/view.h opensm/view/view_copy.c opensm/view/view_copy.h opensm/view/view_facts.c opensm/view/view_facts.h opensm/view/view_sets.c opensm/view/view_sets.h opensm/view/view_policy.c opensm/view/view_policy.h opensm/view/policy_keys.c opensm/view/policy_keys.h opensm/view/path_walk.c opensm/view/path_walk.h
