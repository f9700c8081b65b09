// SPDX-License-Identifier: BSD-2-Clause
/*
 * The picture of the fabric, and the details of what is chosen in it. A fabric of more than two levels is shown by pods; the
 * hosts of more than MAX_HOST_CELLS are numbers at their leaves. Texts of devices are only ever set as textContent.
 */

const FIRST_ROWS = 20, MAX_ROWS = 500, MAX_LINES = 400, MAX_NAMED = 140, MAX_HOST_CELLS = 3000, MAX_FOUND = 60;

/* ---- elements ---- */

const $ = (id) => document.getElementById(id);
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
const timeText = (ms) => new Date(ms).toISOString().replace("T", " ").slice(0, 19);
const when = (text) => text ? timeText(Date.parse(text)) : "-"; /* of documents: ISO 8601 */
const tag = (kind, text) => el("span", { class: "tag " + kind }, text);
const note = (text) => el("p", { class: "note" }, text);
const pairs = (o) => el("dl", null, ...o.filter(([, v]) => v !== undefined && v !== null && v !== "").flatMap(([k, v]) => [el("dt", null, k), el("dd", null, v)]));
/* A table of which the first rows are shown, and the others when they are asked for. */
function table(heads, rows, more, first) {
	const shown = first || FIRST_ROWS, cut = Math.max(0, rows.length - MAX_ROWS), body = el("tbody", null, ...rows.slice(0, shown));
	const head = el("tr", null, ...heads.map((h) => el("th", { class: h.num ? "num" : "" }, h.text === undefined ? h : h.text)));
	const box = el("div", null, el("div", { class: "scroll" }, el("table", { class: heads.some((h) => h.num) ? "" : "stack" }, el("thead", null, head), body)));
	const rest = rows.slice(shown, MAX_ROWS);
	if (rest.length) box.append(el("button", { type: "button", class: "all", on: { click: (e) => { e.target.remove(); body.append(...rest); light(); } } }, "show " + rest.length.toLocaleString("en") + " more"));
	if (cut) box.append(note("and " + cut.toLocaleString("en") + " more, left out here"));
	if (more) box.append(note(more));
	return box;
}
const td = (kid, kind) => el("td", { class: kind || "" }, kid);

/* ---- the state of the page ---- */

let now = 0; /* seconds since 1970, as of the manager */
let page = null, F = null, T = null, L = null, H = null; /* documents; fabric, tables, loads (null: not yet), history */
let mode = "state", onlyFaults = false, chosen = null, chosenPort = 0, way = [], svg = null;
const cells = new Map(), counts = new Map(); /* node: its square; leaf: the square with the number of its hosts */
let shown = null; /* the device in the details */
let pods = []; /* boxes of pods, with their badges and nodes */
const SIGN = { fault: "×", degraded: "!", planned: "–" };

/* A button with the name of a device, which shows it; with a port its cable. */
function nodeLink(n, port) {
	if (!n) return "-";
	return el("button", { class: "link", type: "button", on: { click: (e) => { e.stopPropagation(); choose(n, port, true); } } }, label(n) + (port ? "/" + port : ""));
}
const endLink = (guid, port, name) => { const e = F.byGuid.get(guid); return e ? nodeLink(e, port) : (name || guid || "-") + (port ? "/" + port : ""); };
/* A row of a table that stands for a device or a cable: a click shows it in the picture, and it is lit while that is chosen. */
function rowOf(ends, ...kids) {
	const known = ends.map((e) => ({ n: F.byGuid.get(e.node_guid), port: e.port || 0 })).filter((e) => e.n);
	const row = el("tr", { class: known.length ? "goes" : "" }, ...kids);
	if (!known.length) return row;
	row.tabIndex = 0;
	row.ends = known;
	const go = () => choose(known[0].n, known[0].port, true);
	row.addEventListener("click", go);
	row.addEventListener("keydown", (e) => { if (e.key === "Enter") go(); });
	return row;
}
/* A sentence in which 'names' of devices show them. */
function linked(text) {
	const span = el("span");
	String(text || "").split(/('[^']*')/).forEach((part) => {
		const n = part.length > 2 && part[0] === "'" ? F.byName.get(part.slice(1, -1)) : null;
		span.append(n ? nodeLink(n) : part);
	});
	return span;
}

/* ---- squares ---- */

function tip(e, text) {
	$("tip").hidden = !e;
	if (!e) return;
	$("tip").textContent = text;
	$("tip").style.left = Math.max(4, Math.min(e.clientX + 14, innerWidth - 350)) + "px";
	$("tip").style.top = Math.min(e.clientY + 14, innerHeight - 110) + "px";
}
const alarmText = { "": "nothing is wrong", planned: "planned work", degraded: "degraded", fault: "a fault" };
function describe(n) {
	const time = L && isSwitch(n) ? L.of.get(n) || 0 : null;
	return [label(n), n.guid + (n.lid ? " · LID " + n.lid : ""), n.type === GONE ? "has left the fabric" : plural(n.ports.size, isSwitch(n) ? "cabled port" : "port"),
		alarmText[n.alarm || ""], time === null ? "" : time ? "busiest cable to a switch: x " + (time / L.mean).toFixed(2) + " of the mean" : "carries nothing between switches"].filter(Boolean).join("\n");
}
function cellOf(n, kind) {
	const c = el("button", { class: "cell " + kind, type: "button", "aria-label": label(n), on: { click: () => choose(n), mouseenter: (e) => tip(e, describe(n)), mouseleave: () => tip(null) } });
	c.dataset.kind = kind;
	cells.set(n, c);
	return c;
}
function countOf(leaf, kind) {
	const c = el("button", { class: "cell count", type: "button", "aria-label": label(leaf), on: { click: () => choose(leaf), mouseenter: (e) => tip(e, describe(leaf) + "\n" + plural(hostsOf(leaf).length, "host adapter")), mouseleave: () => tip(null) } });
	c.dataset.kind = kind;
	counts.set(leaf, c);
	return c;
}
const modes = {
	state: { name: "State", of: (n) => n.type === GONE && !n.alarm ? "gone" : n.alarm || "ok" },
	load: { name: "Load", of: (n) => !isSwitch(n) ? "none" : L ? loadClass(L, L.of.get(n) || 0) : "none" },
	traffic: { name: "Traffic", of: (n) => n.traffic === undefined ? "none" : "h" + Math.min(4, Math.floor(n.traffic * 5)) },
	history: { name: "Last day", of: (n) => n.day === undefined ? "none" : "h" + Math.min(4, 1 + Math.floor(Math.log2(n.day))) },
};
/* Why a way to colour the picture is not to be had; "": it is. */
function whyNot(key) {
	if (key === "load") return T ? "" : "the page has no forwarding tables";
	if (key === "traffic") return trafficOf().length ? "" : "nothing was measured (perfmgr TRUE)";
	if (key === "history") return H.cables.size ? "" : "no cable changed in the last day";
	return "";
}
const trafficOf = () => page.traffic && Array.isArray(page.traffic.ports) ? page.traffic.ports : [];
function markNumbers() {
	for (const n of F.nodes) { n.traffic = undefined; n.day = undefined; }
	for (const row of trafficOf()) {
		const n = F.byGuid.get(row.node_guid);
		if (n) n.traffic = Math.max(n.traffic || 0, row.share);
	}
	for (const c of H.cables.values()) for (const e of c.ends) {
		const n = e && F.byGuid.get(e[0]);
		if (n) n.day = (n.day || 0) + c.facts.length;
	}
}
const legends = {
	state: () => [["ok", "nothing is wrong"], ["fault", "× a fault"], ["degraded", "! degraded"], ["planned", "– planned work"], ["gone", "has left"]],
	load: () => [["h0", "under half the mean"], ["h1", ""], ["h2", "the mean, 10 % about"], ["h3", ""], ["h4", "over one and a half"], ["off", "carries nothing: out of use"], ["none", "a host"]],
	traffic: () => [["h0", "under 20 % of the link"], ["h1", ""], ["h2", ""], ["h3", ""], ["h4", "over 80 %"], ["none", "not among the busiest"]],
	history: () => [["h1", "one event in the last day"], ["h2", ""], ["h3", ""], ["h4", "eight or more"], ["none", "none"]],
};
function legendText() {
	const slow = L && L.ports.find((r) => r.p.link.gbps && r.time > r.pairs);
	if (mode === "load" && !L) return "the load is being computed ...";
	if (mode === "load") return "pairs of hosts over the busiest cable to a switch, by the rate of the cable; the mean is of what carries: " + Math.round(L.mean).toLocaleString("en") +
		(slow ? "; slowest cable: x " + (slow.time / L.mean).toFixed(1) + " (" + label(slow.n) + " port " + slow.port + ")" : "");
	return mode === "traffic" ? "what the busiest port to a switch sends, of what its link carries" : "";
}
/* Colours all squares anew. */
function paint() {
	for (const [n, c] of cells) {
		const k = modes[mode].of(n), sign = SIGN[k] || "";
		c.className = "cell " + c.dataset.kind + " " + k;
		if (c.dataset.kind === "named") c.textContent = (sign ? sign + " " : "") + label(n);
		else if (c.dataset.kind !== "tiny") c.textContent = sign;
	}
	for (const [leaf, c] of counts) {
		const k = mode === "state" ? worst([leaf, ...hostsOf(leaf)]) || "ok" : modes[mode].of(leaf);
		c.className = "cell count " + k;
		c.textContent = SIGN[k] || hostsOf(leaf).length;
	}
	for (const pod of pods) {
		const marked = pod.all.filter((n) => n.alarm).length;
		pod.box.classList.toggle("calm", !marked);
		pod.badge.className = "tag " + worst(pod.all);
		pod.badge.hidden = !marked;
		pod.badge.textContent = plural(marked, "device") + " with alarms";
	}
	for (const b of $("modes").children) {
		const why = whyNot(b.dataset.mode);
		b.setAttribute("aria-pressed", b.dataset.mode === mode);
		b.disabled = !!why;
		b.title = why;
	}
	$("legend").replaceChildren(...legends[mode]().map(([k, text]) => el("span", null, el("i", { class: k }), text)), legendText());
	light();
}

/* ---- levels ---- */

const kindOfCell = () => F.switches.length <= MAX_NAMED ? "named" : "";
const withHosts = () => F.hosts.length <= MAX_HOST_CELLS;
function levelName(level) {
	if (F.levels === 1) return "Switches";
	if (level === 0) return "Leaves";
	return level === F.levels - 1 ? "Spines" : "Level " + (level + 1);
}
function grouped(list) {
	const by = new Map();
	for (const s of list) {
		const name = groupName(F, s);
		if (!by.has(name)) by.set(name, []);
		by.get(name).push(s);
	}
	return [...by].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
}
function leafBox(leaf) {
	if (!withHosts()) return countOf(leaf, "count");
	return el("div", { class: "leaf" }, cellOf(leaf, kindOfCell() || "wide"), el("div", { class: "cells" }, ...hostsOf(leaf).map((h) => cellOf(h, "tiny"))));
}
const boxOf = (s) => s.level === 0 && F.levels >= 1 && hostsOf(s).length ? leafBox(s) : cellOf(s, kindOfCell());
function showLevel(level) {
	const list = F.switches.filter((s) => s.level === level).sort(byName), hosts = level ? 0 : F.hosts.filter((h) => h.type !== GONE).length;
	const groups = grouped(list).map(([name, of]) => el("div", { class: "group" + (kindOfCell() && F.planes === 1 ? " wide" : "") }, name ? el("small", null, name) : null, el("div", { class: "cells" + (kindOfCell() ? " spread" : "") }, ...of.map(boxOf))));
	return el("div", { class: "level" }, el("h3", null, levelName(level) + " ", el("span", null, plural(list.length, "switch") + (hosts ? ", " + plural(hosts, "host adapter") : ""))), el("div", { class: "groups" }, ...groups));
}
function showPod(name, of) {
	const hosts = of.filter((s) => s.level === 0).flatMap(hostsOf), rows = [], badge = tag("", "");
	for (let level = Math.max(...of.map((s) => s.level)); level >= 0; level--) {
		const list = of.filter((s) => s.level === level).sort(byName);
		if (list.length) rows.push(el("div", { class: "cells" + (level ? "" : " low"), "aria-label": levelName(level) }, ...list.map(boxOf)));
	}
	const box = el("div", { class: "group pod" }, el("small", null, el("b", null, name), " " + plural(of.length, "switch") + ", " + plural(hosts.length, "host"), badge), ...rows);
	pods.push({ box, badge, all: [...of, ...hosts] });
	return box;
}
function showPods() {
	const below = F.switches.filter((s) => !F.isTop(s)), by = new Map();
	for (const s of below) {
		const name = [F.planes > 1 ? F.planeNames[s.plane] : "", "pod " + (s.pod + 1)].filter(Boolean).join(", ");
		if (!by.has(name)) by.set(name, []);
		by.get(name).push(s);
	}
	const all = [...by].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
	const only = el("label", { class: "only" }, el("input", { type: "checkbox", id: "only", checked: onlyFaults ? "" : null, on: { change: (e) => { onlyFaults = e.target.checked; $("map").classList.toggle("only-marked", onlyFaults); } } }), " only pods with alarms");
	return el("div", { class: "level" }, el("h3", null, "Pods ", el("span", null, plural(all.length, "pod") + ", " + plural(F.leaves.length, "leaf").replace("leafs", "leaves") + ", " + plural(F.hosts.filter((h) => h.type !== GONE).length, "host adapter") +
		(withHosts() ? "" : "; a number is how many are at a leaf")), only), el("div", { class: "groups pods" }, ...all.map(([name, of]) => showPod(name, of))));
}
function showMap() {
	cells.clear();
	counts.clear();
	pods = [];
	svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
	$("levels").replaceChildren(svg);
	for (let level = F.levels - 1; level >= (F.hasPods ? F.levels - 1 : 0) && F.switches.length; level--) $("levels").append(showLevel(level));
	if (F.hasPods) $("levels").append(showPods());
	const loose = F.hosts.filter((h) => ![...h.ports.values()].some((p) => far(p) && isSwitch(far(p)))).sort(byName);
	if (loose.length) $("levels").append(el("div", { class: "level" }, el("h3", null, "Hosts without a switch ", el("span", null, String(loose.length))), el("div", { class: "cells" }, ...loose.slice(0, MAX_HOST_CELLS).map((h) => cellOf(h, "tiny")))));
	$("levels").classList.toggle("large", F.hosts.length <= 300);
	$("modes").replaceChildren(...Object.entries(modes).map(([key, m]) => el("button", { type: "button", "data-mode": key, on: { click: () => { mode = key; paint(); } } }, m.name)));
}

/* ---- cables: of what is chosen, those that are down, and all of a small fabric ---- */

const squareOf = (n) => cells.get(n) || counts.get(n);
function lineOf(box, a, b, kind) {
	const r = a.getBoundingClientRect(), s = b.getBoundingClientRect(), [u, d] = r.top < s.top ? [r, s] : [s, r];
	const x1 = u.left + u.width / 2 - box.left, y1 = u.bottom - box.top, x2 = d.left + d.width / 2 - box.left, y2 = d.top - box.top;
	const path = document.createElementNS("http://www.w3.org/2000/svg", "path"), bend = Math.max(12, (y2 - y1) / 2);
	path.setAttribute("d", `M${x1.toFixed(1)} ${y1.toFixed(1)}C${x1.toFixed(1)} ${(y1 + bend).toFixed(1)} ${x2.toFixed(1)} ${(y2 - bend).toFixed(1)} ${x2.toFixed(1)} ${y2.toFixed(1)}`);
	path.setAttribute("class", kind);
	return path;
}
function drawLines() {
	if (!svg || !F) return;
	const box = $("levels").getBoundingClientRect(), between = F.links.filter((l) => l.between), lines = [];
	const few = between.length <= MAX_LINES && F.levels === 2 && !F.hasPods;
	const onWay = new Set(way.map((h) => h.n && h.n.ports.get(h.out)).filter(Boolean).map((p) => p.link));
	for (const l of between) {
		const a = squareOf(l.a), b = squareOf(l.b), own = l.a === chosen || l.b === chosen;
		const kind = onWay.has(l) || (own && isUp(l)) ? "on" : !isUp(l) ? "down" : "";
		if (a && b && (kind || few) && lines.length < 2 * MAX_LINES) lines.push([kind, lineOf(box, a, b, kind)]);
	}
	svg.replaceChildren(...lines.sort((x, y) => x[0].length - y[0].length).map((l) => l[1]));
}
/* Lights what is chosen: its square, the other ends of its cables, the rows of tables that are about it. */
function light() {
	for (const c of document.querySelectorAll(".near, .sel")) c.classList.remove("near", "sel");
	const near = way.length ? way.map((h) => h.n) : chosen ? [...chosen.ports.values()].map(far) : [];
	for (const n of near) if (n && squareOf(n)) squareOf(n).classList.add("near");
	const leaf = chosen && !squareOf(chosen) ? [...chosen.ports.values()].map(far).find((n) => n && squareOf(n)) : null;
	const square = chosen && (squareOf(chosen) || squareOf(leaf));
	if (square) square.classList.add("sel");
	for (const row of document.querySelectorAll("tr.goes"))
		if (chosen && row.ends.some((e) => e.n === chosen && (!chosenPort || !e.port || e.port === chosenPort))) row.classList.add("sel");
	for (const row of document.querySelectorAll("tr.port")) row.classList.toggle("sel", row.num === chosenPort);
	drawLines();
}

/* ---- details ---- */

function choose(n, port, fromRow) {
	chosen = n;
	chosenPort = port || 0;
	way = [];
	showDetail();
	light();
	if (fromRow && $("map").getBoundingClientRect().bottom > 0 && $("map").getBoundingClientRect().top < innerHeight) return;
	if (fromRow) $("map").scrollIntoView({ block: "start" });
}
function close() {
	chosen = null;
	chosenPort = 0;
	way = [];
	showDetail();
	light();
}
/* Without a choice: what is wrong, and what is busiest, in short. */
function showSummary() {
	const rows = alarmsOf(page), short = rows.slice(0, 8), hot = L ? L.ports.slice(0, 5) : [];
	$("detail").classList.remove("open");
	$("detail").replaceChildren(el("h2", null, "At a glance"),
		...(rows.length ? [] : [note(page.alarms && !("absent" in page.alarms) ? "Nothing is wrong." : "This daemon does not say what is wrong.")]),
		el("ul", { class: "brief" }, ...short.map((r) => {
			const e = endsOf(r)[0], n = e && F.byGuid.get(e.node_guid);
			return el("li", null, tag(r.class, r.class), " ", n ? nodeLink(n, e.port) : r.object, el("div", { class: "dim" }, r.cause || ""));
		})), rows.length > short.length ? note("and " + (rows.length - short.length) + " more: see What is wrong") : "",
		hot.length ? el("h3", null, "Most loaded by routes") : "", el("ul", { class: "brief" }, ...hot.map((r) => el("li", null, nodeLink(r.n, r.port), " → ", nodeLink(far(r.p), farPort(r.p)), " x " + (r.time / L.mean).toFixed(2)))),
		note("A click on a square or a row shows the device, its ports and the last day of its cables."));
}
function stateTag(p) {
	const l = p.link, state = (p.end ? l.sb : l.sa) || "not read";
	if (l.alarm) return tag(l.alarm, state);
	return isUp(l) ? state : tag("none", state);
}
function portRow(n, num, p) {
	const load = L && isSwitch(n) ? L.pairs(n, num) : null;
	const row = el("tr", { class: "port", tabindex: 0 }, td(String(num), "num"), td(stateTag(p)), td(p.link.text), td(nodeLink(far(p), far(p) ? farPort(p) : 0)),
		L && isSwitch(n) ? td(load === null ? "-" : load.toLocaleString("en"), "num") : null);
	row.num = num;
	const show = () => { chosenPort = num; showDetail(); light(); };
	row.addEventListener("click", show);
	row.addEventListener("keydown", (e) => { if (e.key === "Enter") show(); });
	return row;
}
const aboutNode = (r, n) => endsOf(r).some((e) => e.node_guid === n.guid);
function alarmNotes(n, port) {
	const isAsked = (r) => !port || endsOf(r).some((e) => e.node_guid === n.guid && e.port === port);
	return alarmsOf(page).filter((r) => aboutNode(r, n) && isAsked(r)).slice(0, 20).map((r) => el("div", { class: "alarm " + r.class }, el("b", null, r.object + ": "), r.cause || r.kind, r.todo ? el("div", { class: "dim" }, r.todo) : null));
}
/* Other adapters of the same host. */
function adaptersOf(n) {
	const all = isSwitch(n) ? [] : F.systems.get(hostName(n)) || [];
	if (all.length < 2) return null;
	return el("div", null, el("h3", null, "Host " + hostName(n) + ": " + plural(all.length, "adapter")), el("ul", { class: "brief" }, ...[...all].sort(byName).map((h) => {
		const p = [...h.ports.values()].find(far);
		return el("li", null, h === n ? label(h) : nodeLink(h), p ? " at " : "", p ? nodeLink(far(p), farPort(p)) : "", h.alarm ? " " : "", h.alarm ? tag(h.alarm, h.alarm) : null);
	})));
}
function showDetail() {
	if (!chosen) return showSummary();
	const scrolled = $("detail").scrollTop;
	const n = chosen, rows = [...n.ports].sort((x, y) => x[0] - y[0]).map(([num, p]) => portRow(n, num, p)), loaded = L && isSwitch(n);
	const time = loaded ? L.of.get(n) || 0 : null;
	$("detail").classList.add("open");
	$("detail").replaceChildren(el("div", { class: "bar" }, el("h2", null, label(n)), el("button", { type: "button", class: "close", "aria-label": "close", on: { click: close } }, "×")),
		pairs([["Kind", ["host adapter", "switch", "router", "has left the fabric"][n.type]], ["GUID", n.guid], ["LID", n.lid || null], ["Ports", n.np ? String(n.np) : null],
			["Load", time === null ? null : time ? "busiest cable to a switch: x " + (time / L.mean).toFixed(2) + " of the mean" : "carries nothing between switches"]]),
		...(n.ports.has(chosenPort) ? [] : alarmNotes(n, 0)), adaptersOf(n) || "", portDetail(n), rows.length ? table(["Port", "State", "Link", "Other end", ...(loaded ? [{ text: "Pairs", num: true }] : [])], rows, 0, 64) : "",
		n.np > n.ports.size ? note(plural(n.np - n.ports.size, "port") + " without a cable") : "");
	$("detail").scrollTop = scrolled && shown === n ? scrolled : 0;
	shown = n;
}
function portDetail(n) {
	const p = n.ports.get(chosenPort);
	if (!p) return "";
	const l = p.link, o = far(p), c = H.cables.get(cableKey(l)), load = L && isSwitch(n) ? L.pairs(n, chosenPort) : null, busy = trafficOf().find((r) => r.node_guid === n.guid && r.port === chosenPort);
	return el("div", { id: "port" }, el("h3", null, "Port " + chosenPort), pairs([["State", (p.end ? l.sb : l.sa) || "not read"], ["Why", p.end ? l.wb : l.wa], ["Link", l.text && l.text + ", " + l.gbps + " Gb/s"], ["Enabled up to", l.slow ? l.could : null],
		["Other end", o ? el("span", null, nodeLink(o, farPort(p))) : "none"], ["Its GUID", o && o.guid], ["Its state", o && ((p.end ? l.sa : l.sb) || "not read")], ["Its reason", p.end ? l.wa : l.wb],
		["Pairs of hosts", load === null ? null : load.toLocaleString("en") + " are sent over it"], ["Sends", busy ? rateText(busy) : null]]),
		...alarmNotes(n, chosenPort), el("h3", null, "Its last day"), c ? stripOf(c, 330) : null, c ? el("ul", { class: "brief" }, ...c.facts.slice(0, 12).map((f) => el("li", null, factText(f)))) : note(H.since ? "Nothing happened." : "This daemon keeps no history of cables."));
}
const rateText = (r) => (r.bits_per_second / 1e9).toFixed(r.bits_per_second < 1e9 ? 2 : 1) + " Gb/s, " + (100 * r.share).toFixed(1) + " %";

/* ---- the last day of a cable ---- */

const factWords = { up: "up", down: "down", health: "health", mark: "mark", patch: "lost", errors: "errors" };
function factText(f) {
	if (f.what === "errors") return timeText(f.time * 1000).slice(0, 16) + " and within the hour: " + plural(f.count, "error");
	return timeText(f.time * 1000) + " " + (f.text || "the link is " + factWords[f.what]);
}
/* A strip of 24 hours: red where the link was down, bars where errors were counted, ticks for all else. */
function stripOf(c, width) {
	const height = 18, to = now, from = to - 86400, x = (t) => Math.max(0, Math.min(width, (t - from) * width / 86400));
	const strip = document.createElementNS("http://www.w3.org/2000/svg", "svg");
	const put = (kind, x0, y0, w, h) => { const r = document.createElementNS("http://www.w3.org/2000/svg", "rect"); for (const [k, v] of Object.entries({ class: kind, x: x0.toFixed(1), y: y0, width: Math.max(1.5, w).toFixed(1), height: h })) r.setAttribute(k, v); strip.append(r); };
	for (const [k, v] of Object.entries({ class: "strip", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "the last 24 hours" })) strip.setAttribute(k, v);
	put("base", 0, 8, width, 3);
	let down = null;
	for (const f of [...c.facts].reverse()) {
		if (f.what === "down") down = f.time;
		if (f.what === "up" && down !== null) { put("gap", x(down), 4, x(f.time) - x(down), 11); down = null; }
		if (f.what === "errors") put("errors", x(f.time), 1, width / 24 - 1, 5);
		if (f.what === "health" || f.what === "mark" || f.what === "patch") put("tick", x(f.time), 2, 2, 14);
	}
	if (down !== null) put("gap", x(down), 4, width - x(down), 11);
	return strip;
}
