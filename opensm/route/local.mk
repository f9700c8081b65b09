# SPDX-License-Identifier: BSD-2-Clause
noinst_LIBRARIES += libroute.a
libroute_a_SOURCES = opensm/route/engine.c opensm/route/engine.h opensm/route/cancel.h \
	opensm/route/external.c opensm/route/external.h include/opensm/routing_plugin.h \
	opensm/route/routes.c opensm/route/routes.h \
	opensm/route/graph.c opensm/route/graph.h opensm/route/distance.c \
	opensm/route/spread.c opensm/route/spread.h \
	opensm/route/change.c opensm/route/change.h opensm/route/stale.c opensm/route/stale.h \
	opensm/route/place.c opensm/route/place.h opensm/route/place_private.h opensm/route/place_ways.c opensm/route/place_even.c opensm/route/place_like.c \
	opensm/route/columns.c opensm/route/columns.h \
	opensm/route/tree.c opensm/route/tree.h opensm/route/simd.h opensm/route/fill.c opensm/route/fill.h opensm/route/repair.c opensm/route/repair.h \
	opensm/route/updn.c opensm/route/updn.h opensm/route/updown.h opensm/route/ftree.c opensm/route/ftree.h \
	opensm/route/minhop.c opensm/route/engines.h \
	opensm/route/nue.c opensm/route/nue_keep.c opensm/route/nue_keep.h opensm/route/nue_net.c opensm/route/nue_net.h \
	opensm/route/nue_cdg.c opensm/route/nue_cdg.h opensm/route/nue_tree.c opensm/route/nue_tree.h \
	opensm/route/nue_layer.c opensm/route/nue_layer.h opensm/route/nue_part.c opensm/route/nue_part.h \
	opensm/route/choose.c opensm/route/choose.h opensm/route/lanes.c opensm/route/lanes.h opensm/route/grid.h opensm/route/grid.c \
	opensm/route/grid_arcs.c opensm/route/grid_private.h opensm/route/grid_shape.c \
	opensm/route/grid_ways.c opensm/route/grid_ways.h opensm/route/grid_detour.c opensm/route/grid_detour.h \
	opensm/route/grid_waits.c opensm/route/grid_waits.h opensm/route/grid_routes.c opensm/route/grid_routes.h \
	opensm/route/grid_tree.c opensm/route/torus.c opensm/route/torus.h opensm/route/dor.c \
	opensm/route/check.c opensm/route/check.h opensm/route/check_private.h opensm/route/check_delta.h opensm/route/metric.c \
	opensm/route/check_run.c opensm/route/check_any.c opensm/route/check_after.c opensm/route/check_distances.c \
	opensm/route/tablefile.c opensm/route/tablefile.h opensm/route/tablefile_lanes.c opensm/route/tablefile_write.c \
	opensm/route/depend.c opensm/route/depend.h opensm/route/depend_private.h opensm/route/cycle.c \
	opensm/route/turns.c opensm/route/turns.h \
	opensm/route/transition.c opensm/route/transition.h \
	opensm/route/reroute.c opensm/route/reroute.h opensm/route/ease.c opensm/route/ease.h \
	opensm/route/weigh.c opensm/route/weigh.h opensm/route/stand.c opensm/route/stand.h \
	opensm/route/mcast.c opensm/route/mcast.h opensm/route/mcast_private.h \
	opensm/route/mcast_grow.c opensm/route/mcast_root.c opensm/route/mcast_safe.c \
	opensm/route/auto.c opensm/route/shapes.h opensm/route/recognise.c opensm/route/recognise.h \
	opensm/route/recognise_hyperx.c opensm/route/recognise_groups.c \
	opensm/route/steps.c opensm/route/steps.h \
	opensm/route/dragonfly.c opensm/route/dragonfly_damage.c opensm/route/dragonfly_private.h \
	opensm/route/hops.c opensm/route/hops.h opensm/route/hyperx.c \
	opensm/route/ways.c opensm/route/ways.h opensm/route/dims.c opensm/route/dims.h opensm/route/courses.c opensm/route/courses.h \
	opensm/route/orders.c opensm/route/orders.h \
	opensm/route/acyclic.c opensm/route/acyclic.h opensm/route/layers.c opensm/route/layers.h \
	opensm/route/roll.c opensm/route/roll.h opensm/route/relieve.c opensm/route/relieve.h \
	opensm/route/sssp.c opensm/route/sssp.h opensm/route/dfsssp.c opensm/route/deal.h opensm/route/lash.c
ROUTE_LIBS = libroute.a $(TOPO_LIBS)

# Numbers, not verdicts: `make bench-route && ./bench-route fat-tree3 36`.
EXTRA_PROGRAMS += bench-route
TOPOCUT = tests/lib/topocut.c tests/lib/topocut.h tests/lib/topogen.c tests/lib/topogen.h
bench_route_SOURCES = tests/bench/bench-route.c $(TOPOCUT)
bench_route_LDADD = $(ROUTE_LIBS)

# Do two builds make the same tables? `make bench-hash && ./bench-hash`, and diff.
EXTRA_PROGRAMS += bench-hash
bench_hash_SOURCES = tests/bench/bench-hash.c $(TOPOCUT)
bench_hash_LDADD = $(ROUTE_LIBS)

# What one event costs: `make bench-reroute && ./bench-reroute fat-tree3 16`.
EXTRA_PROGRAMS += bench-reroute
bench_reroute_SOURCES = tests/bench/bench-reroute.c $(TOPOCUT)
bench_reroute_LDADD = $(ROUTE_LIBS)

UNIT_TESTS += tests/unit/test-tablefile tests/unit/test-check-after
tests_unit_test_check_after_SOURCES = tests/unit/test-check-after.c tests/unit/route-desk.h tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_check_after_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_tablefile_SOURCES = tests/unit/test-tablefile.c tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_tablefile_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-depend
tests_unit_test_depend_SOURCES = tests/unit/test-depend.c tests/unit/route-desk.h tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_depend_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-external
tests_unit_test_external_SOURCES = tests/unit/test-external.c tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_external_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-graph tests/unit/test-minhop tests/unit/test-reroute tests/unit/test-check tests/unit/test-transition
tests_unit_test_transition_SOURCES = tests/unit/test-transition.c $(TOPOCUT)
tests_unit_test_transition_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_graph_SOURCES = tests/unit/test-graph.c tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_graph_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_minhop_SOURCES = tests/unit/test-minhop.c tests/unit/route-desk.h \
	tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_reroute_SOURCES = tests/unit/test-reroute.c tests/unit/route-desk.h $(TOPOCUT)
tests_unit_test_reroute_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_minhop_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_check_SOURCES = tests/unit/test-check.c tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_check_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-nue
tests_unit_test_nue_SOURCES = tests/unit/test-nue.c tests/unit/route-desk.h tests/unit/lanes-walk.h \
	tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_nue_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-mcast-safe
tests_unit_test_mcast_safe_SOURCES = tests/unit/test-mcast-safe.c tests/unit/route-desk.h tests/unit/lanes-walk.h \
	tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_mcast_safe_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-mcast
tests_unit_test_mcast_SOURCES = tests/unit/test-mcast.c tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_mcast_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)

# `make bench-mcast && ./bench-mcast 36`
EXTRA_PROGRAMS += bench-mcast
bench_mcast_SOURCES = tests/bench/bench-mcast.c tests/lib/topogen.c tests/lib/topogen.h
bench_mcast_LDADD = $(ROUTE_LIBS)

UNIT_TESTS += tests/unit/test-grid
tests_unit_test_grid_SOURCES = tests/unit/test-grid.c tests/unit/route-desk.h $(TOPOCUT)
tests_unit_test_grid_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-route-choose tests/unit/test-weigh
tests_unit_test_weigh_SOURCES = tests/unit/test-weigh.c tests/unit/route-desk.h $(TOPOCUT)
tests_unit_test_weigh_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_route_choose_SOURCES = tests/unit/test-route-choose.c tests/unit/route-desk.h $(TOPOCUT)
tests_unit_test_route_choose_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-recognise tests/unit/test-auto tests/unit/test-auto-life
tests_unit_test_auto_life_SOURCES = tests/unit/test-auto-life.c tests/unit/route-desk.h $(TOPOCUT)
tests_unit_test_auto_life_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_recognise_SOURCES = tests/unit/test-recognise.c $(TOPOCUT)
tests_unit_test_recognise_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_auto_SOURCES = tests/unit/test-auto.c tests/unit/route-desk.h $(TOPOCUT)
tests_unit_test_auto_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-updn tests/unit/test-dnup tests/unit/test-ftree
UPDOWN_DESK = tests/unit/updown-desk.h tests/unit/route-desk.h tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_updn_SOURCES = tests/unit/test-updn.c $(UPDOWN_DESK)
tests_unit_test_updn_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_dnup_SOURCES = tests/unit/test-dnup.c $(UPDOWN_DESK)
tests_unit_test_dnup_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_ftree_SOURCES = tests/unit/test-ftree.c $(UPDOWN_DESK)
tests_unit_test_ftree_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)

UNIT_TESTS += tests/unit/test-dor
tests_unit_test_dor_SOURCES = tests/unit/test-dor.c tests/unit/grid-desk.h tests/unit/route-desk.h $(TOPOCUT)
tests_unit_test_dor_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)

# Engines that deal paths out to lanes.
LANES_DESK = tests/unit/lanes-desk.h tests/unit/lanes-cases.h tests/unit/route-desk.h $(TOPOCUT)
UNIT_TESTS += tests/unit/test-dfsssp
tests_unit_test_dfsssp_SOURCES = tests/unit/test-dfsssp.c $(LANES_DESK)
tests_unit_test_dfsssp_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-sssp tests/unit/test-lash tests/unit/test-layers
tests_unit_test_sssp_SOURCES = tests/unit/test-sssp.c $(LANES_DESK)
tests_unit_test_sssp_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_lash_SOURCES = tests/unit/test-lash.c $(LANES_DESK)
tests_unit_test_lash_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_layers_SOURCES = tests/unit/test-layers.c tests/lib/topogen.c tests/lib/topogen.h
tests_unit_test_layers_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-torus
tests_unit_test_torus_SOURCES = tests/unit/test-torus.c tests/unit/grid-desk.h $(TOPOCUT)
tests_unit_test_torus_LDADD = $(ROUTE_LIBS) $(CONF_LIBS) $(CMOCKA_LIBS)
UNIT_TESTS += tests/unit/test-repair
tests_unit_test_repair_SOURCES = tests/unit/test-repair.c $(UPDOWN_DESK) tests/lib/topocut.c tests/lib/topocut.h
tests_unit_test_repair_LDADD = $(ROUTE_LIBS) $(CMOCKA_LIBS)
