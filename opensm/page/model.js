// SPDX-License-Identifier: BSD-2-Clause
/*
 * The fabric as the page has it: nodes, cables, levels and groups, what is wrong with which, and how much goes over each
 * cable. Knows nothing of how it is shown.
 */
"use strict";

/* ---- nodes, cables, levels, groups ---- */

const HOST = 0, SWITCH = 1, GONE = 3;
const isSwitch = (n) => n.type === SWITCH;
const far = (p) => p.end ? p.link.a : p.link.b;
const farPort = (p) => p.end ? p.link.ap : p.link.bp;
const isUp = (l) => l.sa === "active" && (!l.b || l.sb === "active");
const label = (n) => n.name || n.guid;
const byName = (a, b) => label(a).localeCompare(label(b), "en", { numeric: true });
/* The name of a host is the first word of its adapters' ("node7 mlx5_1"), as opensm-rest has it. */
const hostName = (n) => isSwitch(n) ? label(n) : n.name.trim().split(/\s+/)[0] || n.guid;

/* The fabric of the compact document (compact.c). */
function readFabric(compact) {
	const F = { nodes: [], links: [], byGuid: new Map(), systems: new Map() };
	F.nodes = compact.nodes.map((n, i) => ({ i, name: n[0], guid: n[1], type: n[2], np: n[3], lid: n[4], ports: new Map(), level: -1 }));
	F.byName = new Map();
	for (const n of F.nodes) { F.byGuid.set(n.guid, n); F.byName.set(n.name, n); }
	F.links = compact.links.map((l) => readLink(F, compact, l));
	F.switches = F.nodes.filter(isSwitch);
	F.hosts = F.nodes.filter((n) => !isSwitch(n));
	for (const h of F.hosts) {
		const name = hostName(h);
		if (!F.systems.has(name)) F.systems.set(name, []);
		F.systems.get(name).push(h);
	}
	rankSwitches(F);
	F.planes = parts(F, "plane", () => true);
	const tops = [];
	for (const s of F.switches) tops[s.plane] = Math.max(tops[s.plane] || 0, s.level);
	F.isTop = (s) => s.level === tops[s.plane];
	F.pods = parts(F, "pod", (s) => !F.isTop(s));
	F.leaves = F.switches.filter((s) => s.level === 0);
	F.levels = Math.max(0, ...F.switches.map((s) => s.level)) + 1;
	F.hasPods = F.pods > F.planes && F.pods < F.leaves.length;
	F.hasRails = findRails(F);
	F.planeNames = Array.from({ length: F.planes }, (_, i) => planeName(F, i));
	return F;
}
function readLink(F, compact, l) {
	const kind = (compact.kinds[l[4]] || "|").split("|"), fast = kind[0].split(" ");
	const link = {
		a: F.nodes[l[0]], ap: l[1], b: l[2] < 0 ? null : F.nodes[l[2]], bp: l[3],
		text: fast.slice(0, 2).join(" "), gbps: +fast[2] || 0, slow: !!kind[1] && fast[1] !== kind[1], could: kind[1],
		sa: compact.states[l[5]], sb: compact.states[l[6]], wa: compact.why[l[7] || 0], wb: compact.why[l[8] || 0],
	};
	link.a.ports.set(link.ap, { link, end: 0 });
	if (link.b) link.b.ports.set(link.bp, { link, end: 1 });
	link.between = !!link.b && isSwitch(link.a) && isSwitch(link.b);
	return link;
}
function rankSwitches(F) {
	let now = [];
	for (const h of F.hosts) for (const p of h.ports.values()) {
		const s = far(p);
		if (s && isSwitch(s) && s.level < 0) { s.level = 0; now.push(s); }
	}
	for (let level = 1; now.length; level++) {
		const next = [];
		for (const s of now) for (const p of s.ports.values()) {
			const o = far(p);
			if (o && isSwitch(o) && o.level < 0) { o.level = level; next.push(o); }
		}
		now = next;
	}
	for (const s of F.switches) if (s.level < 0) s.level = 0;
}
/* Gives each switch the number of its part, among those that `keep` keeps; returns how many parts there are. */
function parts(F, key, keep) {
	let n = 0;
	for (const first of F.switches) {
		if (!keep(first) || first[key] !== undefined) continue;
		const todo = [first];
		first[key] = n;
		while (todo.length) for (const p of todo.pop().ports.values()) {
			const o = far(p);
			if (o && isSwitch(o) && keep(o) && o[key] === undefined) { o[key] = n; todo.push(o); }
		}
		n++;
	}
	return n;
}
/*
 * Rails: a leaf is of one if nine of ten cables to hosts end in the same port number, or in adapters whose names end in the
 * same word ("mlx5_3"), and other leaves are of another.
 */
function commonest(words) {
	const times = new Map();
	for (const w of words) times.set(w, (times.get(w) || 0) + 1);
	const [w, n] = [...times].sort((a, b) => b[1] - a[1])[0] || ["", 0];
	return n > 1 && n * 10 >= words.length * 9 ? String(w) : "";
}
function findRails(F) {
	const lastWord = (p) => { const w = far(p).name.trim().split(/\s+/); return w.length > 1 ? w[w.length - 1] : ""; };
	for (const of of [farPort, lastWord]) {
		for (const s of F.leaves) s.rail = commonest([...s.ports.values()].filter((p) => far(p) && !isSwitch(far(p))).map(of));
		const names = new Set(F.leaves.map((s) => s.rail).filter(Boolean));
		if (names.size > 1 && names.size <= 32 && F.leaves.filter((s) => s.rail).length * 10 >= F.leaves.length * 9) return true;
	}
	for (const s of F.leaves) s.rail = "";
	return false;
}
/* Of a plane whose leaves are all of one rail its name; else its number. */
function planeName(F, plane) {
	const rails = new Set(F.leaves.filter((s) => s.plane === plane).map((s) => s.rail));
	return F.hasRails && rails.size === 1 && [...rails][0] ? "rail " + [...rails][0] : "plane " + (plane + 1);
}
function groupName(F, s) {
	const plane = F.planes > 1 ? F.planeNames[s.plane] : "", rail = s.level === 0 && s.rail ? "rail " + s.rail : "";
	return [plane, F.hasPods && !F.isTop(s) ? "pod " + (s.pod + 1) : "", rail === plane ? "" : rail].filter(Boolean).join(", ");
}
const hostsOf = (leaf) => leaf.hosts || (leaf.hosts = [...new Set([...leaf.ports.values()].map(far).filter((n) => n && !isSwitch(n)))].sort(byName));
function findNodes(F, word) {
	const w = word.trim().toLowerCase();
	if (!w) return [];
	const same = F.nodes.filter((n) => n.name.toLowerCase() === w || n.guid === w || (n.lid && String(n.lid) === w) || hostName(n).toLowerCase() === w);
	return same.length ? same : F.nodes.filter((n) => n.name.toLowerCase().includes(w)).sort(byName);
}
const endOf = (F, guid, port) => { const n = F.byGuid.get(guid); return n ? { n, port: port || 0, p: n.ports.get(port) } : null; };
/* The same text for both ends of a cable. */
const cableKey = (l) => l.b ? [l.a.guid + "/" + l.ap, l.b.guid + "/" + l.bp].sort().join(" ") : l.a.guid + "/" + l.ap;

/* ---- what is wrong: rows of the document Alarms ---- */

const RANK = { "": 0, planned: 1, degraded: 2, fault: 3 };
const alarmsOf = (page) => page.alarms && Array.isArray(page.alarms.alarms) ? page.alarms.alarms : [];
const ofClass = (page, name) => alarmsOf(page).filter((r) => r.class === name);
/* The ends of a row of any document, which has them in one of these ways. */
const endsOf = (row) => row && typeof row === "object" ?
	[row, row.end, row.peer, row.place, ...(Array.isArray(row.ends) ? row.ends : [])].filter((e) => e && e.node_guid) : [];
function raise(o, kind) {
	if (RANK[kind] > RANK[o.alarm || ""]) o.alarm = kind;
}
/* Marks nodes and cables with the worst of their alarms. A switch is not marked for the cable of a host. */
function markAlarms(F, page) {
	for (const n of F.nodes) n.alarm = "";
	for (const l of F.links) l.alarm = "";
	for (const row of alarmsOf(page)) for (const e of endsOf(row)) {
		const at = endOf(F, e.node_guid, e.port), link = at && at.p && at.p.link, other = link && far(at.p);
		if (link) raise(link, row.class);
		if (at && !(isSwitch(at.n) && other && !isSwitch(other))) raise(at.n, row.class);
		if (other && (!isSwitch(other) || isSwitch(at.n))) raise(other, row.class);
	}
}
const worst = (list) => list.reduce((w, n) => RANK[n.alarm || ""] > RANK[w] ? n.alarm : w, "");

/* ---- where switches send: the document Tables (show_tables.c) ---- */

/* Where each switch sends to each group of hosts, as a pattern of ports; NULL: the page has no tables. */
function readTables(doc) {
	if (!doc || "absent" in doc) return null;
	const T = { rows: new Map(), place: new Map(), groups: doc.groups };
	const rows = [];
	T.ports = doc.patterns.map((p) => Uint8Array.from(p.match(/../g) || [], (x) => parseInt(x, 16)));
	doc.groups.forEach((lids, g) => lids.forEach((lid, i) => T.place.set(lid, [g, i])));
	for (const s of doc.switches) {
		const row = s.like === null ? new Uint32Array(doc.groups.length) : rows[s.like].slice();
		for (let i = 0, g = 0; i < s.rows.length; i += 3) { g += s.rows[i]; row.fill(s.rows[i + 2], g, g + s.rows[i + 1]); g += s.rows[i + 1]; }
		rows.push(row);
		T.rows.set(s.guid, row);
	}
	return T;
}
function portTo(T, s, lid) {
	const at = T.place.get(lid), row = T.rows.get(s.guid);
	return at && row ? T.ports[row[at[0]]][at[1]] : 255;
}
/* The way between two adapters as the tables lead, by their first LIDs; null: there is none. */
function pathOf(T, a, b) {
	const first = [...a.ports.values()].find((p) => far(p) && isUp(p.link)), hops = [{ n: a }];
	if (!T.place.has(b.lid) || !first) return null;
	hops[0].out = first.end ? first.link.bp : first.link.ap;
	for (let n = far(first), i = 0; i < 64; i++) {
		if (n === b) return [...hops, { n }];
		const port = portTo(T, n, b.lid), p = n.ports.get(port);
		if (!p || !far(p)) return null;
		hops.push({ n, out: port });
		n = far(p);
	}
	return null;
}

/* ---- load: how many pairs of hosts go over each port ---- */

const PORTS = 256;
/* The arrays for the walk: next switch by port, and hosts at each switch. */
function prepareFlows(F, T) {
	const list = F.switches.filter((s) => T.rows.has(s.guid)), at = new Map(list.map((s, i) => [s, i]));
	const W = { list, at, next: new Int32Array(list.length * PORTS).fill(-1), hosts: new Float64Array(list.length), flow: new Float64Array(list.length * PORTS) };
	list.forEach((s, i) => {
		for (const [num, p] of s.ports) if (far(p) && at.has(far(p)) && isUp(p.link)) W.next[i * PORTS + num] = at.get(far(p));
	});
	W.rows = list.map((s) => T.rows.get(s.guid));
	/* The switch of a group is the one that sends to its first host by a port to a host. */
	W.leaf = T.groups.map((lids, g) => list.findIndex((s, i) => { const p = s.ports.get(T.ports[W.rows[i][g]][0]); return p && far(p) && !isSwitch(far(p)) && isUp(p.link); }));
	W.leaf.forEach((i, g) => { if (i >= 0) W.hosts[i] += T.groups[g].length; });
	return W;
}
/* Adds what all hosts send to host `i` of group `g`: each switch passes on what it got once all of it has come. */
function addFlow(T, W, g, i, out, waits, sum, ready) {
	const n = W.list.length;
	waits.fill(0);
	for (let s = 0; s < n; s++) {
		const port = T.ports[W.rows[s][g]][i], to = W.next[s * PORTS + port];
		out[s] = port;
		sum[s] = W.hosts[s];
		if (to >= 0) waits[to]++;
	}
	if (W.leaf[g] >= 0) sum[W.leaf[g]]--;
	let end = 0;
	for (let s = 0; s < n; s++) if (!waits[s]) ready[end++] = s;
	for (let k = 0; k < end; k++) {
		const s = ready[k], at = s * PORTS + out[s], to = W.next[at];
		W.flow[at] += sum[s];
		if (to < 0) continue;
		sum[to] += sum[s];
		if (--waits[to] === 0) ready[end++] = to;
	}
}
/*
 * Counts for each port between switches the pairs of hosts whose way goes over it. What is out of use carries nothing, though
 * its own table has entries. In turns, so that the page stays alive: 11,664 hosts and 1,620 switches are 19 million steps.
 */
async function computeFlows(F, T) {
	const W = prepareFlows(F, T), n = W.list.length;
	const out = new Uint8Array(n), waits = new Int32Array(n), sum = new Float64Array(n), ready = new Int32Array(n);
	let from = performance.now();
	for (let g = 0; g < T.groups.length; g++) {
		for (let i = 0; i < T.groups[g].length; i++) addFlow(T, W, g, i, out, waits, sum, ready);
		if (performance.now() - from < 30) continue;
		await new Promise((go) => setTimeout(go, 0));
		from = performance.now();
	}
	return W;
}
/* Loads of cables and switches, in the time that the median cable between switches takes for a pair. */
function readLoads(F, W) {
	const rates = F.links.filter((l) => l.between && l.gbps).map((l) => l.gbps).sort((x, y) => x - y), median = rates[rates.length >> 1] || 1;
	const L = { of: new Map(), ports: [], mean: 0 };
	L.pairs = (n, port) => W.at.has(n) ? W.flow[W.at.get(n) * PORTS + port] : null;
	for (const s of W.list) {
		let most = 0;
		for (const [num, p] of s.ports) {
			if (!p.link.between) continue;
			const pairs = L.pairs(s, num), time = pairs * (p.link.gbps ? median / p.link.gbps : 1);
			if (!pairs) continue;
			L.ports.push({ n: s, port: num, p, pairs, time });
			most = Math.max(most, time);
		}
		L.of.set(s, most);
	}
	/* The mean of what carries: a switch out of use neither lowers it, nor is it shown as little loaded. */
	L.mean = L.ports.reduce((t, r) => t + r.time, 0) / (L.ports.length || 1);
	L.ports.sort((x, y) => y.time - x.time || byName(x.n, y.n) || x.port - y.port);
	return L;
}
/* "off": nothing is sent over it; else h0 to h4, from the mean: even load is one plain colour, and what is apart from it is seen. */
const loadClass = (L, time) => !time ? "off" : "h" + [0.5, 0.9, 1.1, 1.5].filter((limit) => time > limit * L.mean).length;

/* ---- the last day of each cable: the document CableHistory, as compact.c has it ---- */

function readHistory(F, doc) {
	const H = { cables: new Map(), of: new Map(), counted: !!doc && doc.errors_counted, since: doc && doc.since };
	if (!doc || !Array.isArray(doc.cables)) return H;
	for (const [time, fact, count, text, ga, pa, gb, pb] of doc.cables) {
		const end = endOf(F, ga, pa), link = end && end.p && end.p.link;
		const key = link ? cableKey(link) : [ga + "/" + pa, gb ? gb + "/" + pb : ""].filter(Boolean).sort().join(" ");
		if (!H.cables.has(key)) H.cables.set(key, { key, ends: [[ga, pa], link && far(end.p) ? [far(end.p).guid, farPort(end.p)] : gb ? [gb, pb] : null], facts: [], downs: 0, errors: 0 });
		const c = H.cables.get(key), what = doc.facts[fact];
		c.facts.push({ time, what, count, text: doc.texts[text] });
		if (what === "down") c.downs++;
		if (what === "errors") c.errors += count;
	}
	for (const c of H.cables.values()) c.facts.sort((x, y) => y.time - x.time);
	return H;
}
