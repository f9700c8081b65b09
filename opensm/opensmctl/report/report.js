// SPDX-License-Identifier: BSD-2-Clause
// Shows the data of the page. Texts of devices are only ever set as textContent.
"use strict";
(() => {
const page = JSON.parse(document.getElementById("data").textContent);
const fabric = page.fabric, status = page.status;
const $ = (id) => document.getElementById(id);
const MAX_ROWS = 500, MAX_LINES = 1500, MAX_NAMED = 140, MAX_HOST_CELLS = 3000;

/* ---- elements ---- */
function el(tag, attrs, ...kids) {
	const e = document.createElement(tag);
	for (const [k, v] of Object.entries(attrs || {})) {
		if (k === "on") for (const [name, fn] of Object.entries(v)) e.addEventListener(name, fn);
		else if (k === "class") e.className = v;
		else if (v !== undefined && v !== null) e.setAttribute(k, v);
	}
	for (const kid of kids) if (kid !== null && kid !== undefined) e.append(kid);
	return e;
}
const plural = (n, one) => n.toLocaleString("en") + " " + one + (n === 1 ? "" : one.endsWith("ch") ? "es" : "s");
const when = (time) => new Date(time).toISOString().replace("T", " ").slice(0, 19);
function table(heads, rows, more) {
	const t = el("table", null, el("thead", null, el("tr", null, ...heads.map((h) =>
		el("th", { class: h.num ? "num" : "" }, h.text || h)))), el("tbody", null, ...rows.slice(0, MAX_ROWS)));
	return el("div", null, el("div", { class: "scroll" }, t), rows.length > MAX_ROWS || more
		? el("p", { class: "note" }, "and " + (rows.length - Math.min(rows.length, MAX_ROWS) + (more || 0)) + " more, left out here") : null);
}
const tag = (kind, text) => el("span", { class: "tag " + kind }, text);
const note = (text) => el("p", { class: "note" }, text);

/* ---- the fabric: nodes, ports, levels, groups ---- */
const nodes = fabric.nodes.map((n, i) => ({ i, name: n[0], guid: n[1], type: n[2], np: n[3], lid: n[4], ports: new Map(), level: -1 }));
const links = fabric.links.map((l) => {
	const kind = (fabric.kinds[l[4]] || "|").split("|"), fast = kind[0].split(" ");
	const link = { a: nodes[l[0]], ap: l[1], b: l[2] < 0 ? null : nodes[l[2]], bp: l[3], text: fast.slice(0, 2).join(" "), gbps: +fast[2] || 0,
		slow: !!kind[1] && fast[1] !== kind[1], could: kind[1], sa: fabric.states[l[5]], sb: fabric.states[l[6]], wa: fabric.why[l[7] || 0], wb: fabric.why[l[8] || 0] };
	link.a.ports.set(link.ap, { link, end: 0 });
	if (link.b) link.b.ports.set(link.bp, { link, end: 1 });
	return link;
});
const isSwitch = (n) => n.type === 1;
const switches = nodes.filter(isSwitch), hosts = nodes.filter((n) => !isSwitch(n));
const far = (p) => p.end ? p.link.a : p.link.b;
const farPort = (p) => p.end ? p.link.ap : p.link.bp;
const isUp = (l) => l.sa === "active" && (!l.b || l.sb === "active");

function rankSwitches() {
	let now = [];
	for (const h of hosts) for (const p of h.ports.values()) {
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
	for (const s of switches) if (s.level < 0) s.level = 0;
}
/* Gives each switch the number of its part, among those that `keep` keeps. */
function parts(key, keep) {
	let n = 0;
	for (const first of switches) {
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
rankSwitches();
const planes = parts("plane", () => true);
const tops = [];
for (const s of switches) tops[s.plane] = Math.max(tops[s.plane] || 0, s.level);
const pods = parts("pod", (s) => s.level < tops[s.plane]);
const leaves = switches.filter((s) => s.level === 0);
const hasPods = pods > planes && pods < leaves.length;
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
function findRails() {
	const kinds = [(p) => farPort(p), (p) => { const w = far(p).name.trim().split(/\s+/); return w.length > 1 ? w[w.length - 1] : ""; }];
	for (const of of kinds) {
		for (const s of leaves) s.rail = commonest([...s.ports.values()].filter((p) => far(p) && !isSwitch(far(p))).map(of));
		const names = new Set(leaves.map((s) => s.rail).filter(Boolean));
		if (names.size > 1 && names.size <= 32 && leaves.filter((s) => s.rail).length * 10 >= leaves.length * 9) return true;
	}
	for (const s of leaves) s.rail = "";
	return false;
}
const hasRails = findRails();
/* Of a plane whose leaves are all of one rail; else its number. */
const planeName = (plane) => {
	const rails = new Set(leaves.filter((s) => s.plane === plane).map((s) => s.rail));
	return hasRails && rails.size === 1 && [...rails][0] ? "rail " + [...rails][0] : "plane " + (plane + 1);
};
const planeNames = Array.from({ length: planes }, (_, i) => planeName(i));
const levels = Math.max(0, ...switches.map((s) => s.level)) + 1;

/* ---- verdicts ---- */
/* Tables as the daemon packs them (show_tables.c): where a switch sends to each group of hosts, as a pattern of ports. */
const tables = page.tables && !("absent" in page.tables) ? page.tables : null, placeOf = new Map(), rowOf = new Map();
function unpack() {
	const rows = [], patterns = tables.patterns.map((p) => Uint8Array.from(p.match(/../g) || [], (x) => parseInt(x, 16)));
	tables.groups.forEach((lids, g) => lids.forEach((lid, i) => placeOf.set(lid, [g, i])));
	for (const s of tables.switches) {
		const row = s.like === null ? new Uint32Array(tables.groups.length) : rows[s.like].slice();
		for (let i = 0, g = 0; i < s.rows.length; i += 3) { g += s.rows[i]; row.fill(s.rows[i + 2], g, g + s.rows[i + 1]); g += s.rows[i + 1]; }
		rows.push(row);
		rowOf.set(s.guid, row);
	}
	tables.ports = patterns;
}
/* How many hosts a switch sends to over each port; a pattern counts as often as it stands in the row. */
function loadsOf(row) {
	const times = new Map(), load = new Uint32Array(256);
	for (const k of row) times.set(k, (times.get(k) || 0) + 1);
	for (const [k, n] of times) for (const port of tables.ports[k]) load[port] += n;
	return load;
}
if (tables) unpack();
const loads = tables ? new Map([...rowOf].map(([guid, row]) => [guid, loadsOf(row)])) : null;
const loadOf = (s, port) => loads && loads.has(s.guid) ? loads.get(s.guid)[port] : null;
const portTo = (s, lid) => { const at = placeOf.get(lid), row = rowOf.get(s.guid); return at && row ? tables.ports[row[at[0]]][at[1]] : 255; };
/* The ends of a row of any document, which has them in one of these ways. */
const endsOf = (row) => row && typeof row === "object" ? [row, row.end, row.peer, ...(Array.isArray(row.ends) ? row.ends : [])].filter((e) => e && e.node_guid) : [];
const errors = new Map(); /* node GUID -> count of what health tells of it */
for (const rows of Object.values(page.health || {})) if (Array.isArray(rows)) for (const row of rows) {
	for (const guid of endsOf(row).map((e) => e.node_guid)) if (guid) errors.set(guid, (errors.get(guid) || 0) + 1);
}
const marked = new Set((page.marks && page.marks.marks || []).map((m) => m.node_guid));
function linkState(l) {
	if (!l.b) return l.sa && l.sa !== "active" ? "warn" : "ok";
	if (isUp(l)) return l.slow ? "warn" : "ok";
	return [l.sa, l.sb].some((state) => state === "" || state === "down") ? "bad" : "warn";
}
function stateOf(n) {
	let worst = marked.has(n.guid) ? "warn" : "ok";
	if (!n.ports.size) return "none";
	for (const p of n.ports.values()) {
		const s = linkState(p.link);
		if (s === "bad") return "bad";
		if (s === "warn") worst = "warn";
	}
	return worst;
}
for (const n of nodes) n.state = stateOf(n);
/* How many times as long as the median cable between switches a cable takes for the same bytes. */
const rates = links.filter((l) => l.b && isSwitch(l.a) && isSwitch(l.b) && l.gbps).map((l) => l.gbps).sort((x, y) => x - y);
const paceOf = (l) => rates.length && l.gbps ? rates[rates.length >> 1] / l.gbps : 1;
const busiest = (s) => s.busiest !== undefined ? s.busiest : (s.busiest = Math.max(0, ...[...s.ports].filter(([, p]) => far(p) && isSwitch(far(p))).map(([num, p]) => (loadOf(s, num) || 0) * paceOf(p.link))));
const busy = loads ? switches.map(busiest).filter(Boolean) : [], meanLoad = busy.reduce((t, v) => t + v, 0) / (busy.length || 1);
/* From the mean: even load is one plain colour, and what is apart from it is seen. */
const loadClass = (v) => "h" + [0.5, 0.9, 1.1, 1.5].filter((limit) => v > limit * meanLoad).length;
/* Of the cables below the median rate the one that takes longest for what is sent over it. */
const slowest = loads ? switches.flatMap((s) => [...s.ports].filter(([, p]) => far(p) && isSwitch(far(p)) && paceOf(p.link) > 1)
	.map(([num, p]) => ({ s, num, time: (loadOf(s, num) || 0) * paceOf(p.link) }))).sort((x, y) => y.time - x.time)[0] : null;
const maxErrors = Math.max(1, ...errors.values());
const heat = (v, max) => "h" + Math.min(4, Math.floor(5 * v / (max * 1.0001)));
const modes = {
	state: { name: "State", of: (n) => n.state, has: true },
	load: { name: "Load", of: (n) => isSwitch(n) ? loadClass(busiest(n)) : "none", has: !!loads, why: "the page was made without forwarding tables" },
	errors: { name: "Errors", of: (n) => errors.get(n.guid) ? heat(errors.get(n.guid), maxErrors) : "none", has: !!page.health && !("absent" in page.health), why: "this daemon has no health" },
};
let mode = "state";

/* ---- head and cards ---- */
function showHead() {
	const sub = status.subnet || {};
	$("head").textContent = [status.version && "opensm " + status.version, status.instance && "instance " + status.instance, status.state, "made " + when(page.made) + " UTC", page.mixed && "the fabric changed meanwhile: parts of this page may be of different moments"].filter(Boolean).join(" · ");
	const cables = links.filter((l) => l.b), down = cables.filter((l) => !isUp(l)).length, slow = cables.filter((l) => isUp(l) && l.slow).length;
	const failed = page.security && page.security.failed || 0;
	const card = (n, text, kind) => el("div", { class: "card " + (n ? kind : "") }, el("b", null, n.toLocaleString("en")), text);
	$("cards").append(card(hosts.length, hosts.length === 1 ? "host adapter" : "host adapters", ""), card(switches.length, "switches", ""), card(cables.length, "cables", ""),
		card(down, "cables not active", "bad"), card(slow, "cables below the enabled speed", "warn"), card(marked.size, "devices out of service", "warn"), card(failed, "security checks fail", "bad"));
	void sub;
}

/* ---- the map ---- */
const cells = new Map(), leafCells = new Map();
let selected = null, svg;
const label = (n) => n.name || n.guid;
const describe = (n) => label(n) + "\n" + n.guid + (n.lid ? " · LID " + n.lid : "") + "\n" + plural(n.ports.size, isSwitch(n) ? "cabled port" : "port") +
	(n.state === "ok" ? "" : n.state === "bad" ? "\na cable is down" : "\nneeds attention") + (loads && isSwitch(n) ? "\nbusiest cable to a switch: " + "to " + plural(Math.round(busiest(n)), "host") : "");
function cellOf(n, kind) {
	const c = el("button", { class: "cell " + kind, "aria-label": label(n), on: { click: () => select(n), mouseenter: (e) => tip(e, describe(n)), mouseleave: () => tip(null) } });
	c.dataset.kind = kind;
	if (kind === "named") c.textContent = label(n);
	cells.set(n, c);
	return c;
}
const worstOf = (list) => list.some((n) => n.state === "bad") ? "bad" : list.some((n) => n.state === "warn") ? "warn" : "ok";
function paint() {
	for (const [n, c] of cells) {
		const k = modes[mode].of(n);
		c.className = "cell " + c.dataset.kind + " " + k;
		if (c.dataset.kind !== "named" && c.dataset.kind !== "tiny") c.textContent = k === "bad" ? "×" : k === "warn" ? "!" : "";
		else if (c.dataset.kind === "named") c.textContent = (k === "bad" ? "× " : k === "warn" ? "! " : "") + label(n);
	}
	for (const [leaf, c] of leafCells) {
		const list = hostsOf(leaf);
		c.className = "cell count " + (mode === "state" ? worstOf(list) : mode === "errors" && modes.errors.has ? heat(list.reduce((t, h) => t + (errors.get(h.guid) || 0), 0), maxErrors) : "none");
	}
	for (const b of $("modes").children) b.setAttribute("aria-pressed", b.dataset.mode === mode);
	const item = (k, text) => el("span", null, el("i", { class: k }), text);
	$("legend").replaceChildren(...(mode === "state" ? [item("ok", "all cables active"), item("warn", "! slower than enabled, marked, or not set up"), item("bad", "× a cable is down"), item("none", "no cable known")]
		: [...[0, 1, 2, 3, 4].map((i) => item("h" + i, mode === "load" ? ["under half the mean", "", "the mean, 10 % about", "", "over one and a half"][i] : i ? "" : "few")), el("span", null, mode === "load" ? "hosts sent to over the busiest cable to a switch, " + Math.round(meanLoad) + " on average" + (slowest ? "; slowest cable: x " + (slowest.time / meanLoad).toFixed(1) + " (" + label(slowest.s) + " port " + slowest.num + ")" : "") : "up to " + maxErrors + " sick links"), item("none", "none")]));
	mark();
}
const hostsOf = (leaf) => leaf.hosts || (leaf.hosts = [...new Set([...leaf.ports.values()].map(far).filter((n) => n && !isSwitch(n)))]);
function groupsOf(list) {
	const by = new Map();
	for (const s of list) {
		const name = [planes > 1 ? planeNames[s.plane] : "", hasPods && s.level < tops[s.plane] ? "pod " + (s.pod + 1) : "",
			s.level === 0 && s.rail && !(planes > 1 && planeNames[s.plane] === "rail " + s.rail) ? "rail " + s.rail : ""].filter(Boolean).join(", ");
		if (!by.has(name)) by.set(name, []);
		by.get(name).push(s);
	}
	return new Map([...by].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true })));
}
const byName = (a, b) => label(a).localeCompare(label(b), "en", { numeric: true });
function showLevel(level) {
	const list = switches.filter((s) => s.level === level).sort(byName), kind = switches.length <= MAX_NAMED ? "named" : "";
	const names = levels === 1 ? ["Switches"] : levels === 2 ? ["Leaves", "Spines"] : ["Leaves", ...Array.from({ length: levels - 2 }, (_, i) => "Level " + (i + 1)), "Spines"];
	return el("div", { class: "level" + (kind ? "" : " dense") }, el("h3", null, names[level] + " ", el("span", null, plural(list.length, "switch"))),
		el("div", { class: "groups" }, ...[...groupsOf(list)].map(([name, group]) => {
			const box = el("div", { class: "group" + (name && !kind ? " fixed" : "") }, name ? el("small", null, name) : null, el("div", { class: "cells" }, ...group.map((s) => cellOf(s, kind))));
			box.style.setProperty("--cols", Math.min(9, group.length));
			return box;
		})));
}
function showHosts() {
	const few = hosts.length <= MAX_HOST_CELLS, list = leaves.filter((s) => hostsOf(s).length).sort(byName);
	return el("div", { class: "level dense" }, el("h3", null, "Hosts ", el("span", null, plural(hosts.length, "adapter") + (few ? ", a square each, by leaf" : ": how many are at each leaf"))),
		el("div", { class: "groups" }, ...[...(few ? list.map((s) => [label(s), s]) : groupsOf(list))].map(([name, of]) => {
			if (few) {
				const box = el("div", { class: "group fixed" }, el("small", null, name.slice(0, 18)), el("div", { class: "cells" }, ...hostsOf(of).sort(byName).map((h) => cellOf(h, "tiny"))));
				box.style.setProperty("--cols", 9);
				return box;
			}
			const box = el("div", { class: "group fixed" }, name ? el("small", null, name) : null, el("div", { class: "cells" }, ...of.map((s) => {
				const c = el("button", { class: "cell count", on: { click: () => listHosts(s), mouseenter: (e) => tip(e, "hosts at " + label(s)), mouseleave: () => tip(null) } }, String(hostsOf(s).length));
				leafCells.set(s, c);
				return c;
			})));
			box.style.setProperty("--cols", 6);
			return box;
		})));
}
function showMap() {
	svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
	$("levels").append(svg);
	for (let level = levels - 1; level >= 0 && switches.length; level--) $("levels").append(showLevel(level));
	$("levels").append(showHosts());
	for (const [key, m] of Object.entries(modes)) {
		const b = el("button", { "data-mode": key, title: m.has ? "" : m.why, on: { click: () => { mode = key; paint(); } } }, m.name);
		b.disabled = !m.has;
		$("modes").append(b);
	}
	$("find").addEventListener("change", () => { const n = findNode($("find").value); if (n) select(n); else $("detail").replaceChildren(el("h2", null, "Nothing found"), note("No device has this name, GUID or LID.")); });
	$("detail").append(el("h2", null, "Details"), note("A click on a square shows the device and its ports; a click on a port shows both ends of its cable."));
	window.addEventListener("resize", drawLines);
}
function drawLines() {
	const box = $("levels").getBoundingClientRect(), between = links.filter((l) => l.b && isSwitch(l.a) && isSwitch(l.b));
	svg.replaceChildren(...(between.length <= MAX_LINES ? between : []).map((l) => {
		const a = cells.get(l.a).getBoundingClientRect(), b = cells.get(l.b).getBoundingClientRect(), [u, d] = a.top < b.top ? [a, b] : [b, a];
		const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
		for (const [k, v] of Object.entries({ x1: u.left + u.width / 2 - box.left, y1: u.bottom - box.top, x2: d.left + d.width / 2 - box.left, y2: d.top - box.top })) line.setAttribute(k, v.toFixed(1));
		line.setAttribute("class", l.a === selected || l.b === selected ? "on" : linkState(l) === "bad" ? "sick" : "");
		return line;
	}));
}
function mark(path) {
	for (const c of document.querySelectorAll(".near, .sel")) c.classList.remove("near", "sel");
	const near = path || (selected ? [...selected.ports.values()].map(far) : []);
	for (const n of near) if (n && cells.has(n)) cells.get(n).classList.add("near");
	if (selected && cells.has(selected)) cells.get(selected).classList.add("sel");
	drawLines();
}
function tip(e, text) {
	$("tip").hidden = !e;
	if (!e) return;
	$("tip").textContent = text;
	$("tip").style.left = Math.min(e.clientX + 14, innerWidth - 350) + "px";
	$("tip").style.top = Math.min(e.clientY + 14, innerHeight - 90) + "px";
}

/* ---- details ---- */
const nodeLink = (n) => n ? el("button", { class: "link", on: { click: (e) => { e.stopPropagation(); select(n); } } }, label(n)) : "-";
const pairs = (o) => el("dl", null, ...o.filter(([, v]) => v !== undefined && v !== null && v !== "").flatMap(([k, v]) => [el("dt", null, k), el("dd", null, v)]));
function select(n) {
	selected = n;
	const rows = [...n.ports].sort((x, y) => x[0] - y[0]).map(([num, p]) => portRow(n, num, p));
	$("detail").replaceChildren(el("h2", null, label(n)), pairs([["Kind", ["host adapter", "switch", "router"][n.type]], ["GUID", n.guid], ["LID", n.lid || null], ["Ports", String(n.np)], ["Sick links", errors.get(n.guid) ? String(errors.get(n.guid)) : null]]),
		el("div", { id: "port" }), table(["Port", "State", "Link", "Other end", ...(loads && isSwitch(n) ? [{ text: "Hosts", num: true }] : [])], rows),
		n.np > n.ports.size ? note(plural(n.np - n.ports.size, "port") + " without a cable") : "");
	mark();
}
function portRow(n, num, p) {
	const l = p.link, s = linkState(l), row = el("tr", { class: "port", tabindex: 0 }, el("td", { class: "num" }, String(num)), el("td", null, s === "ok" ? "active" : tag(s, (p.end ? l.sb : l.sa) || "not read")), el("td", null, l.text), el("td", null, nodeLink(far(p)), far(p) ? " /" + farPort(p) : ""),
		loads && isSwitch(n) ? el("td", { class: "num" }, String(loadOf(n, num) === null ? "-" : loadOf(n, num))) : null);
	const show = () => { for (const r of document.querySelectorAll("tr.port.sel")) r.classList.remove("sel"); row.classList.add("sel"); showPort(n, num, p); };
	row.addEventListener("click", show);
	row.addEventListener("keydown", (e) => { if (e.key === "Enter") show(); });
	return row;
}
function showPort(n, num, p) {
	const l = p.link, o = far(p), mine = (page.health && !("absent" in page.health) ? Object.values(page.health).filter(Array.isArray).flat() : []).filter((r) => endsOf(r).some((e) => e.node_guid === n.guid && e.port === num));
	$("port").replaceChildren(el("h3", null, "Port " + num), pairs([["State", (p.end ? l.sb : l.sa) || "not read"], ["Why", p.end ? l.wb : l.wa], ["Link", l.text && l.text + ", " + l.gbps + " Gb/s"], ["Enabled up to", l.slow ? l.could : null],
		["Other end", o ? label(o) + " port " + farPort(p) : "none"], ["Its GUID", o && o.guid], ["Its state", o && ((p.end ? l.sa : l.sb) || "not read")], ["Its reason", p.end ? l.wa : l.wb], ["Hosts sent to over it", loadOf(n, num) === null ? null : String(loadOf(n, num))]]), ...mine.map(facts));
	$("port").scrollIntoView({ block: "nearest" });
}
function listHosts(leaf) {
	selected = leaf;
	$("detail").replaceChildren(el("h2", null, "Hosts at " + label(leaf)), table(["Host", "State"], hostsOf(leaf).sort(byName).map((h) => el("tr", null, el("td", null, nodeLink(h)), el("td", null, h.state === "ok" ? "active" : tag(h.state, h.state === "bad" ? "a cable is down" : "needs attention"))))));
	mark();
}
function findNode(word) {
	const w = word.trim().toLowerCase();
	return w && (nodes.find((n) => n.name.toLowerCase() === w || n.guid === w || String(n.lid) === w) || nodes.find((n) => n.name.toLowerCase().includes(w)));
}

/* ---- paths ---- */
function pathOf(a, b) {
	const first = [...a.ports.values()].find((p) => far(p) && isUp(p.link));
	const hops = [{ n: a }];
	if (!placeOf.has(b.lid) || !first) return null;
	hops[0].out = first.end ? first.link.bp : first.link.ap;
	for (let n = far(first), i = 0; i < 64; i++) {
		if (n === b) return [...hops, { n }];
		const port = portTo(n, b.lid), p = n.ports.get(port);
		if (!p || !far(p)) return null;
		hops.push({ n, out: port });
		n = far(p);
	}
	return null;
}
function showPaths() {
	const from = el("input", { id: "from", placeholder: "from", "aria-label": "from" }), to = el("input", { id: "to", placeholder: "to", "aria-label": "to" }), out = el("div", { id: "way" });
	const has = !!tables;
	$("path").append(el("form", { on: { submit: (e) => { e.preventDefault(); walk(); } } }, from, to, el("button", { type: "submit" }, "Show")), has ? note("As the manager's forwarding tables lead, by the first LID of each end.") :
		note("This page has no forwarding tables: " + (page.tables ? page.tables.absent : "it was made without them") + " The daemon shows a path by: opensmctl path A B"), out);
	function walk() {
		const a = findNode(from.value), b = findNode(to.value);
		if (!a || !b) { out.replaceChildren(note("No device has the name '" + (a ? to : from).value + "'.")); return; }
		if (isSwitch(a) || isSwitch(b)) { out.replaceChildren(note("A path is shown between two hosts; " + label(isSwitch(a) ? a : b) + " is a switch.")); return; }
		if (!has) { out.replaceChildren(el("code", null, "opensmctl path '" + label(a).replace(/'/g, "'\\''") + "' '" + label(b).replace(/'/g, "'\\''") + "'")); return; }
		const hops = pathOf(a, b);
		out.replaceChildren(hops ? el("ol", { class: "hops" }, ...hops.map((h) => el("li", null, nodeLink(h.n), h.out === undefined ? "" : " port " + h.out))) : note("The tables have no way from " + label(a) + " to " + label(b) + "."));
		selected = a;
		mark(hops ? hops.map((h) => h.n) : []);
	}
}

/* ---- sections ---- */
const word = (k) => k.replace(/_/g, " ");
const cellText = (v) => v === null || v === undefined ? "-" : Array.isArray(v) ? v.map(cellText).join(", ") : typeof v === "object" ? (v.node || v.name || v.node_guid || "") + (v.port ? "/" + v.port : "") || JSON.stringify(v) : typeof v === "number" && !Number.isInteger(v) ? v.toPrecision(4) : String(v);
const facts = (o) => pairs(Object.entries(o).map(([k, v]) => [word(k), cellText(v)]));
function section(id, what, show) {
	const o = page[id];
	if (!o || "absent" in o) $(id).append(note(o && o.absent ? o.absent : "This daemon has no " + what + "."));
	else $(id).append(...show(o));
}
function showLinks() {
	const sick = links.filter((l) => linkState(l) !== "ok"), end = (n, p) => el("td", null, nodeLink(n), n ? " /" + p : "");
	$("links").append(sick.length ? table(["State", "One end", "Other end", "Link", "Why"], sick.slice(0, MAX_ROWS).map((l) => el("tr", null, el("td", null, tag(linkState(l), isUp(l) ? "slow" : l.sa || "not read")), end(l.a, l.ap), end(l.b, l.bp), el("td", null, l.text), el("td", null, l.wa || l.wb || (l.slow ? l.could + " is enabled" : ""))))) : note("All cables are active at the fastest speed that is enabled."));
}
/* A cable row: both ends, and what `rest` says of it. */
const linkRow = (r, ...rest) => el("tr", null, ...[0, 1].map((i) => el("td", null, endsOf(r)[i] ? cellText(endsOf(r)[i]) : "-")), ...rest.map((t) => el("td", null, t)));
function showHealth(o) {
	const out = [note(!o.checks ? "Links are not judged: hm_unhealthy_ports_checks is FALSE." : !o.master ? "Links are judged by the master, which this manager is not." : o.links.length ? plural(o.links.length, "link") + " with a finding." : "No link has a finding.")];
	if (o.links.length) out.push(table(["One end", "Other end", "State", "Done", "Why", "Since (UTC)"], o.links.map((r) => linkRow(r, r.state, r.done, r.why, when(r.since)))));
	if (o.slow.length) out.push(el("h3", null, "Slower or narrower than both ends can"), table(["One end", "Other end", "Now", "Both ends can"], o.slow.map((r) => linkRow(r, r.width + "x " + r.speed, r.width_possible + "x " + r.speed_possible))));
	if (o.checks && !o.counters) out.push(note("No counters are read: bit errors, packets and link downs are not judged (perfmgr TRUE)."));
	out.push(note(o.isolated + " of at most " + o.most_isolated + " links are isolated for their health" + (o.dry_run ? "; hm_dry_run is TRUE: none will be." : ".")));
	return out;
}
function showDrift(o) {
	if (!o.file) return [note("No cabling is expected: opensmctl topology save FILE writes the present one, and expected_topology_file names it.")];
	const out = [note(o.refused ? o.file + " is not in force: " + o.refused : o.file + ": " + plural(o.cables, "cable") + " expected, " + o.held + " held in INIT, " + o.spared + " not held as the last way" + (o.grace ? "; learnt a moment ago: nothing is held yet." : "."))];
	if (o.in_force) out.push(o.findings.length ? table(["Finding", "Since (UTC)", "What"], o.findings.map((f) => el("tr", null, el("td", null, f.id), el("td", { class: "when" }, f.since ? when(f.since) : "-"), el("td", null, f.text)))) : note(o.compared ? "The fabric is as it was meant." : "Nothing was compared yet."));
	return out;
}
/* Events one behind the other that differ in names and numbers only are one row, which opens. */
function foldEvents(day) {
	const runs = [], alike = (e) => e.kind + " " + e.text.replace(/'[^']*'|[0-9]+/g, "#");
	for (const e of day)
		if (runs.length && alike(runs[runs.length - 1][0]) === alike(e)) runs[runs.length - 1].push(e);
		else runs.push([e]);
	return runs.flatMap((run) => run.length < 4 ? run.map((e) => [e]) : [run]);
}
function eventText(run) {
	if (run.length === 1) return run[0].text;
	return el("details", null, el("summary", null, run[0].text + ", and " + (run.length - 1) + " more such events, the first of them at " + when(run[run.length - 1].time)), ...run.slice(1, MAX_ROWS).map((e) => el("div", null, when(e.time) + " " + e.text)), run.length > MAX_ROWS ? note("and " + (run.length - MAX_ROWS) + " more, left out here") : "");
}
function showEvents(o) {
	const day = o.events.filter((e) => Date.parse(e.time) > Date.parse(page.made) - 86400e3);
	return [day.length ? table(["Time (UTC)", "Kind", "Event"], foldEvents(day).map((run) => el("tr", null, el("td", { class: "when" }, when(run[0].time)), el("td", null, word(run[0].kind)), el("td", null, eventText(run)))), o.forgotten) : note("None.")];
}
function showSecurity(o) {
	const kind = { pass: "", fail: "bad", unknown: "warn" };
	return [note("Profile " + o.profile + ": " + o.passed + " pass, " + o.failed + " fail, " + o.unknown + " unknown"), table(["", "Check", "Now", "To do"], o.checks.map((c) => el("tr", null, el("td", null, tag(kind[c.verdict] === undefined ? "warn" : kind[c.verdict], c.verdict)), el("td", null, word(c.name)), el("td", null, c.present), el("td", null, c.advice || ""))))];
}
function showMarks(o) {
	const place = (e, m) => e ? e.node + (e.port ? "/" + e.port : "") : m.node_guid + (m.port ? "/" + m.port : "");
	return [o.marks.length ? table(["Link", "Other end", "Kind", "State", "By", "Since (UTC)", "Why"], o.marks.map((m) => el("tr", null, el("td", null, place(m.end, m)), el("td", null, m.peer ? place(m.peer, m) : "-"), el("td", null, m.kind), el("td", null, tag("warn", m.state)), el("td", null, m.by), el("td", { class: "when" }, m.since ? when(m.since) : "-"), el("td", null, m.why || "")))) : note("Nothing is out of service.")];
}

showHead();
showMap();
showPaths();
showLinks();
section("health", "health of links", showHealth);
section("marks", "marks", showMarks);
section("events", "memory of events", showEvents);
section("drift", "expected topology", showDrift);
section("security", "security checklist", showSecurity);
paint();
document.documentElement.dataset.ready = "yes";
})();
