# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libroute.a
libroute_a_SOURCES = opensm/route/select/engines.c opensm/route/core/engine.c opensm/route/core/engine.h \
	opensm/route/select/external.c opensm/route/select/external.h include/opensm/routing_plugin.h \
	opensm/route/core/routes.c opensm/route/core/routes.h opensm/route/io/routes_pack.c opensm/route/io/routes_pack.h \
	opensm/route/core/graph.c opensm/route/core/graph.h opensm/route/core/distance.c \
	opensm/route/tree/dmodk.c opensm/route/tree/dmodk.h \
	opensm/route/tree/change.c opensm/route/tree/change.h opensm/route/core/unassigned.c opensm/route/core/unassigned.h opensm/route/core/aside.c opensm/route/core/aside.h opensm/route/core/memo.c opensm/route/core/memo.h opensm/route/core/tails.c opensm/route/core/tails_gather.c opensm/route/core/tails.h \
	opensm/route/tree/port_select.c opensm/route/tree/port_select_one.c opensm/route/tree/port_select.h opensm/route/tree/port_select_internal.h opensm/route/tree/port_select_ways.c opensm/route/tree/port_select_even.c opensm/route/tree/port_select_like.c \
	opensm/route/core/nexthop_assign.c opensm/route/core/nexthop_assign.h opensm/route/core/lid_spread.c opensm/route/core/lid_spread.h \
	opensm/route/tree/tree.c opensm/route/tree/tree.h opensm/route/core/simd.h opensm/route/tree/fill.c opensm/route/tree/fill.h opensm/route/tree/repair.c opensm/route/tree/repair.h opensm/route/tree/repair_internal.h \
	opensm/route/tree/repair_distances.c opensm/route/tree/repair_entries.c opensm/route/core/renumber.c opensm/route/core/renumber.h \
	opensm/route/tree/updn.c opensm/route/tree/updown.h opensm/route/tree/ftree.c \
	opensm/route/tree/minhop.c opensm/route/select/engines.h \
	opensm/route/nue/nue.c opensm/route/nue/nue_keep.c opensm/route/nue/nue_net.c opensm/route/nue/nue_net.h \
	opensm/route/nue/nue_tree.c opensm/route/nue/nue_tree.h \
	opensm/route/nue/nue_layer.c opensm/route/nue/nue_layer.h opensm/route/nue/nue_part.c \
	opensm/route/select/choose.c opensm/route/select/choose.h opensm/route/core/sl2vl.c opensm/route/core/sl2vl.h opensm/route/shape/grid.h opensm/route/shape/grid.c \
	opensm/route/shape/grid_arcs.c opensm/route/shape/grid_internal.h opensm/route/shape/grid_shape.c \
	opensm/route/grid/grid_ways.c opensm/route/grid/grid_ways.h opensm/route/grid/grid_detour.c opensm/route/grid/grid_detour.h \
	opensm/route/grid/grid_waits.c opensm/route/grid/grid_routes.c opensm/route/grid/grid_vl.c opensm/route/grid/grid_vl.h opensm/route/grid/grid_routes.h \
	opensm/route/grid/grid_tree.c opensm/route/grid/torus.c opensm/route/grid/torus.h opensm/route/grid/dor.c \
	opensm/route/proof/check.c opensm/route/proof/check_verifier.c opensm/route/proof/check.h opensm/route/proof/check_internal.h opensm/route/proof/check_delta.h opensm/route/proof/metric.c opensm/route/proof/disjoint.c opensm/route/proof/disjoint.h \
	opensm/route/proof/check_run.c opensm/route/proof/check_any.c opensm/route/proof/check_after.c opensm/route/proof/check_paths.c opensm/route/proof/check_distances.c opensm/route/proof/check_turns.c opensm/route/proof/check_renumber.c \
	opensm/route/io/tablefile.c opensm/route/io/tablefile.h \
	opensm/route/proof/cdg.c opensm/route/proof/cdg.h opensm/route/proof/cdg_internal.h opensm/route/proof/cycle.c \
	opensm/route/proof/cdg_turns.c \
	opensm/route/proof/transition.c opensm/route/proof/transition.h \
	opensm/route/patch/patch.c opensm/route/patch/patch.h opensm/route/patch/patch_ground.c opensm/route/patch/patch_way.c opensm/route/patch/patch_internal.h \
	opensm/route/select/reroute.c opensm/route/select/reroute.h \
	opensm/route/proof/keep_policy.c opensm/route/proof/keep_policy.h \
	opensm/route/select/keep_tables.c opensm/route/select/keep_tables.h opensm/route/select/adopt_found.c opensm/route/select/adopt_found.h \
	opensm/route/mcast/mcast.c opensm/route/mcast/mcast.h opensm/route/mcast/mcast_internal.h \
	opensm/route/mcast/mcast_grow.c opensm/route/mcast/mcast_root.c opensm/route/mcast/mcast_safe.c opensm/route/mcast/mcast_tree.c \
	opensm/route/mcast/mcast_dead.c opensm/route/mcast/mcast_mend.c opensm/route/mcast/mcast_way.c \
	opensm/route/select/auto.c opensm/route/shape/recognise.c opensm/route/shape/recognise.h \
	opensm/route/shape/recognise_hyperx.c opensm/route/shape/recognise_groups.c \
	opensm/route/direct/direct_routes.c opensm/route/direct/direct_routes.h \
	opensm/route/direct/dragonfly.c opensm/route/direct/dragonfly_damage.c opensm/route/direct/dragonfly_internal.h \
	opensm/route/core/hops.c opensm/route/direct/hyperx.c \
	opensm/route/core/path_dag.c opensm/route/core/path_dag.h opensm/route/shape/dims.c opensm/route/shape/dims.h opensm/route/sp/sp_balance.c opensm/route/sp/sp_balance.h \
	opensm/route/sp/orders.c opensm/route/sp/orders.h \
	opensm/route/patch/patch_single.c opensm/route/patch/patch_single.h opensm/route/patch/patch_text.c opensm/route/patch/patch_text.h \
	opensm/route/vl/cdg_order.c opensm/route/vl/cdg_order.h opensm/route/vl/vl_layers.c opensm/route/vl/vl_layers.h \
	opensm/route/vl/port_class.c opensm/route/vl/port_class.h \
	opensm/route/sp/dest_order.c opensm/route/sp/dest_order.h opensm/route/sp/balance.c opensm/route/sp/balance.h opensm/route/sp/balance_internal.h opensm/route/sp/balance_fair.c opensm/route/sp/balance_verified.c \
	opensm/route/sp/sssp.c opensm/route/sp/sssp.h opensm/route/sp/dfsssp.c opensm/route/sp/lash.c
ROUTE_LIBS = libroute.a $(TOPO_LIBS) -lm

# Numbers, not verdicts: `make bench-route && ./bench-route fat-tree3 36`.
EXTRA_PROGRAMS += bench-route
TABLES = tests/lib/tables.c tests/lib/tables.h
TOPOCUT = tests/lib/topocut.c tests/lib/topocut.h tests/lib/topogen.c tests/lib/topogen.h
bench_route_SOURCES = tests/bench/bench-route.c tests/lib/tables.h $(TOPOCUT)
bench_route_LDADD = $(ROUTE_LIBS)

# How many disjoint paths an LMC gives: `make bench-disjoint && ./bench-disjoint -l 2 fat-tree3 12`.
EXTRA_PROGRAMS += bench-disjoint
bench_disjoint_SOURCES = tests/bench/bench-disjoint.c tests/lib/tables.h $(TOPOCUT)
bench_disjoint_LDADD = $(ROUTE_LIBS)

# Do two builds make the same tables? `make bench-hash && ./bench-hash`, and diff.
EXTRA_PROGRAMS += bench-hash
bench_hash_SOURCES = tests/bench/bench-hash.c $(TOPOCUT)
bench_hash_LDADD = $(ROUTE_LIBS)

# What one event costs: `make bench-reroute && ./bench-reroute fat-tree3 16`.
EXTRA_PROGRAMS += bench-reroute
bench_reroute_SOURCES = tests/bench/bench-reroute.c tests/lib/tables.h $(TOPOCUT)
bench_reroute_LDADD = $(ROUTE_LIBS)

UNIT_TESTS += tests/unit/test-patch-text tests/unit/test-patch-single
tests_unit_test_patch_single_SOURCES = tests/unit/test-patch-single.c tests/unit/route-desk.h $(TOPOCUT)
UNIT_TESTS += tests/unit/test-aside
tests_unit_test_aside_SOURCES = tests/unit/test-aside.c tests/unit/route-desk.h tests/lib/topogen.c tests/lib/topogen.h
UNIT_TESTS += tests/unit/test-tablefile tests/unit/test-check-after
tests_unit_test_check_after_SOURCES = tests/unit/test-check-after.c tests/unit/route-desk.h $(TOPOCUT)
tests_unit_test_tablefile_SOURCES = tests/unit/test-tablefile.c $(TABLES) tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_tablefile_LDADD = liboffline.a $(ROUTE_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-cdg
tests_unit_test_cdg_SOURCES = tests/unit/test-cdg.c $(TABLES) tests/unit/route-desk.h tests/lib/topogen.c tests/lib/topogen.h
UNIT_TESTS += tests/unit/test-external
tests_unit_test_external_SOURCES = tests/unit/test-external.c tests/lib/topogen.c tests/lib/topogen.h
UNIT_TESTS += tests/unit/test-graph tests/unit/test-minhop tests/unit/test-reroute \
	tests/unit/test-check tests/unit/test-transition
tests_unit_test_transition_SOURCES = tests/unit/test-transition.c $(TOPOCUT)
tests_unit_test_graph_SOURCES = tests/unit/test-graph.c tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_minhop_SOURCES = tests/unit/test-minhop.c tests/lib/tables.h tests/unit/route-desk.h \
	tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_reroute_SOURCES = tests/unit/test-reroute.c tests/lib/tables.h tests/unit/route-desk.h $(TOPOCUT)
tests_unit_test_check_SOURCES = tests/unit/test-check.c tests/lib/tables.h tests/lib/topogen.c tests/lib/topogen.h
UNIT_TESTS += tests/unit/test-nue
tests_unit_test_nue_SOURCES = tests/unit/test-nue.c tests/unit/route-desk.h tests/unit/lanes-walk.h \
	tests/lib/topogen.c tests/lib/topogen.h
UNIT_TESTS += tests/unit/test-mcast-safe
tests_unit_test_mcast_safe_SOURCES = tests/unit/test-mcast-safe.c tests/unit/route-desk.h tests/unit/lanes-walk.h \
	tests/lib/topogen.c tests/lib/topogen.h
UNIT_TESTS += tests/unit/test-mcast
tests_unit_test_mcast_SOURCES = tests/unit/test-mcast.c tests/unit/mcast-judge.h tests/lib/topogen.c tests/lib/topogen.h
UNIT_TESTS += tests/unit/test-mcast-mend
tests_unit_test_mcast_mend_SOURCES = tests/unit/test-mcast-mend.c tests/unit/mcast-judge.h tests/unit/route-desk.h \
	tests/unit/lanes-walk.h tests/lib/topogen.c tests/lib/topogen.h

# `make bench-mcast && ./bench-mcast 36`
EXTRA_PROGRAMS += bench-mcast
bench_mcast_SOURCES = tests/bench/bench-mcast.c tests/lib/topogen.c tests/lib/topogen.h
bench_mcast_LDADD = $(ROUTE_LIBS)
# `make bench-mcast-mend && ./bench-mcast-mend`
EXTRA_PROGRAMS += bench-mcast-mend
bench_mcast_mend_SOURCES = tests/bench/bench-mcast-mend.c tests/lib/topogen.c tests/lib/topogen.h
bench_mcast_mend_LDADD = $(ROUTE_LIBS)

UNIT_TESTS += tests/unit/test-grid
tests_unit_test_grid_SOURCES = tests/unit/test-grid.c tests/unit/route-desk.h $(TOPOCUT)

UNIT_TESTS += tests/unit/test-radix
tests_unit_test_radix_SOURCES = tests/unit/test-radix.c tests/unit/route-desk.h $(TOPOCUT)
UNIT_TESTS += tests/unit/test-routes-pack
tests_unit_test_routes_pack_SOURCES = tests/unit/test-routes-pack.c tests/unit/route-desk.h $(TOPOCUT)
UNIT_TESTS += tests/unit/test-route-choose tests/unit/test-keep-tables
tests_unit_test_keep_tables_SOURCES = tests/unit/test-keep-tables.c tests/unit/route-desk.h $(TOPOCUT)
tests_unit_test_route_choose_SOURCES = tests/unit/test-route-choose.c tests/unit/route-desk.h $(TOPOCUT)

UNIT_TESTS += tests/unit/test-recognise tests/unit/test-auto tests/unit/test-auto-life
tests_unit_test_auto_life_SOURCES = tests/unit/test-auto-life.c tests/unit/route-desk.h $(TOPOCUT)
tests_unit_test_recognise_SOURCES = tests/unit/test-recognise.c $(TOPOCUT)
tests_unit_test_auto_SOURCES = tests/unit/test-auto.c tests/unit/route-desk.h $(TOPOCUT)
UNIT_TESTS += tests/unit/test-updn tests/unit/test-dnup tests/unit/test-ftree
UPDOWN_DESK = tests/lib/tables.h tests/unit/updown-desk.h tests/unit/route-desk.h tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_updn_SOURCES = tests/unit/test-updn.c $(UPDOWN_DESK)
tests_unit_test_dnup_SOURCES = tests/unit/test-dnup.c $(UPDOWN_DESK)
tests_unit_test_ftree_SOURCES = tests/unit/test-ftree.c $(UPDOWN_DESK)
tests_unit_test_ftree_LDADD = libdump.a $(ROUTE_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-dor
tests_unit_test_dor_SOURCES = tests/unit/test-dor.c tests/unit/grid-desk.h tests/unit/route-desk.h $(TOPOCUT)

# Engines that deal paths out to lanes.
LANES_DESK = tests/lib/tables.h tests/unit/lanes-desk.h tests/unit/lanes-cases.h tests/unit/route-desk.h $(TOPOCUT)
UNIT_TESTS += tests/unit/test-port-class
tests_unit_test_port_class_SOURCES = tests/unit/test-port-class.c $(LANES_DESK)
UNIT_TESTS += tests/unit/test-memo
tests_unit_test_memo_SOURCES = tests/unit/test-memo.c $(LANES_DESK)
UNIT_TESTS += tests/unit/test-dfsssp
tests_unit_test_dfsssp_SOURCES = tests/unit/test-dfsssp.c $(LANES_DESK)
UNIT_TESTS += tests/unit/test-tails
tests_unit_test_tails_SOURCES = tests/unit/test-tails.c $(LANES_DESK)
UNIT_TESTS += tests/unit/test-sssp tests/unit/test-lash tests/unit/test-layers
tests_unit_test_sssp_SOURCES = tests/unit/test-sssp.c $(LANES_DESK)
tests_unit_test_lash_SOURCES = tests/unit/test-lash.c $(LANES_DESK)
tests_unit_test_layers_SOURCES = tests/unit/test-layers.c tests/lib/topogen.c tests/lib/topogen.h
UNIT_TESTS += tests/unit/test-levels
tests_unit_test_levels_SOURCES = tests/unit/test-levels.c $(LANES_DESK)
UNIT_TESTS += tests/unit/test-torus
tests_unit_test_torus_SOURCES = tests/unit/test-torus.c tests/unit/grid-desk.h $(TOPOCUT)
UNIT_TESTS += tests/unit/test-disjoint
tests_unit_test_disjoint_SOURCES = tests/unit/test-disjoint.c tests/unit/route-desk.h $(TOPOCUT)
UNIT_TESTS += tests/unit/test-routes tests/unit/test-repair
tests_unit_test_repair_SOURCES = tests/unit/test-repair.c $(UPDOWN_DESK) tests/lib/topocut.c tests/lib/topocut.h
tests_unit_test_repair_LDADD = libdump.a $(ROUTE_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-direct
tests_unit_test_direct_SOURCES = tests/unit/test-direct.c tests/unit/route-desk.h $(TOPOCUT)
UNIT_TESTS += tests/unit/test-rates
tests_unit_test_rates_SOURCES = tests/unit/test-rates.c tests/unit/route-desk.h $(TOPOCUT)
UNIT_TESTS += tests/unit/test-rebalance
tests_unit_test_rebalance_SOURCES = tests/unit/test-rebalance.c tests/unit/route-desk.h $(TOPOCUT)
UNIT_TESTS += tests/unit/test-patch-random
tests_unit_test_patch_random_SOURCES = tests/unit/test-patch-random.c tests/unit/patch-desk.h tests/unit/route-desk.h $(TOPOCUT)
UNIT_TESTS += tests/unit/test-patch
tests_unit_test_patch_SOURCES = tests/unit/test-patch.c tests/unit/patch-desk.h tests/unit/route-desk.h $(TOPOCUT)
