// SPDX-License-Identifier: BSD-2-Clause
/* The parts of the page beside the picture: figures, what is wrong, busy cables, the last day, paths, events, checks. */

const cellText = (v) => v === null || v === undefined ? "-" : Array.isArray(v) ? v.map(cellText).join(", ") :
	typeof v === "number" && !Number.isInteger(v) ? v.toPrecision(4) : String(v);
const word = (k) => String(k).replace(/_/g, " ");
const isThere = (o) => !!o && !("absent" in o);
/* Fills a section anew; `show` gives its elements. A document that the daemon does not serve says why. */
function section(id, what, show) {
	const o = page[id], box = $(id), head = box.querySelector("h2");
	box.hidden = o === undefined;
	box.replaceChildren(head, ...(isThere(o) ? show(o) : [note(o && o.absent ? o.absent : "This daemon has no " + what + ".")]));
}

/* ---- head and figures ---- */

function showHead() {
	const s = page.status || {};
	$("head").textContent = [s.version && "opensm " + s.version, s.instance && "instance " + s.instance, s.state, "as of " + timeText(now * 1000) + " UTC",
		page.mixed && "the fabric changed meanwhile: parts of this page may be of different moments"].filter(Boolean).join(" · ");
	const cables = F.links.filter((l) => l.b), down = cables.filter((l) => !isUp(l)).length, slow = cables.filter((l) => isUp(l) && l.slow).length;
	const failed = page.security && page.security.failed || 0, has = isThere(page.alarms), there = F.hosts.filter((n) => n.type !== GONE).length;
	const systems = [...F.systems.values()].filter((all) => all.some((n) => n.type !== GONE)).length;
	const faults = ofClass(page, "fault").length;
	const card = (n, text, kind, to) => el("a", { class: "card " + (n ? kind : ""), href: to }, el("b", null, n.toLocaleString("en")), text);
	$("cards").replaceChildren(
		has ? card(faults, faults === 1 ? "fault" : "faults", "fault", "#alarms") : "", has ? card(ofClass(page, "degraded").length, "degraded", "degraded", "#alarms") : "",
		has ? card(ofClass(page, "planned").length, "planned", "planned", "#planned") : "",
		card(there, "host adapters" + (systems < there ? " in " + plural(systems, "host") : ""), "", "#map"), card(F.switches.length, F.switches.length === 1 ? "switch" : "switches", "", "#map"),
		card(cables.length, "cables", "", "#map"), card(down, "cables not active", has ? "" : "fault", "#map"), card(slow, "cables below the enabled speed", has ? "" : "degraded", "#map"),
		page.security === undefined ? "" : card(failed, failed === 1 ? "security check fails" : "security checks fail", "degraded", "#security"));
}

/* ---- what is wrong, and what is planned ---- */

const sinceText = (r) => r.before_start ? "before the start" : when(r.since);
/* The object: its devices, where the page knows them. */
function alarmObject(r) {
	const e = endOf(F, r.node_guid, r.port), o = r.peer && endOf(F, r.peer.node_guid, r.peer.port);
	if (!e) return r.object;
	return el("span", null, nodeLink(e.n, r.port), o ? " – " : "", o ? nodeLink(o.n, r.peer.port) : "");
}
function alarmRow(r) {
	return rowOf(endsOf(r), td(tag(r.class, word(r.kind))), td(alarmObject(r)), td(linked(r.cause)), td(r.todo || ""), td(sinceText(r), "when"));
}
function showAlarms(o) {
	const rows = alarmsOf(page).filter((r) => r.class !== "planned");
	return [rows.length ? table(["", "What", "Cause", "To do", "Since (UTC)"], rows.map(alarmRow), o.more ? "and " + o.more.toLocaleString("en") + " more: opensmctl alarms" : "") : note("Nothing is wrong.")];
}
/* One row for a mark, which may be a whole switch: the work of administrators is not a fault. */
function markRow(m) {
	const until = when(m.until), end = m.end || { node_guid: m.node_guid, port: m.port }, cables = m.cables ? m.out + " of " + plural(m.cables, "cable") + " out" + (m.spared ? ", " + m.spared + " kept as the last way" : "") : "";
	return rowOf([end, m.peer].filter(Boolean), td(tag("planned", m.state || m.kind)), td(endLink(end.node_guid, m.port, end.node)), td(m.peer ? endLink(m.peer.node_guid, m.peer.port, m.peer.node) : "-"), td(cables),
		td(m.by || ""), td(m.why || ""), td(when(m.since), "when"), td(until, "when"));
}
function showPlanned() {
	const marks = isThere(page.marks) ? page.marks.marks : [], marked = new Set(marks.map((m) => m.node_guid + "/" + (m.port || 0)));
	const others = ofClass(page, "planned").filter((r) => !marked.has((endsOf(r)[0] || {}).node_guid + "/" + ((endsOf(r)[0] || {}).port || 0)) && !marked.has((endsOf(r)[0] || {}).node_guid + "/0"));
	const rows = [...marks.map(markRow), ...others.map((r) => rowOf(endsOf(r), td(tag("planned", word(r.kind))), td(alarmObject(r)), td("-"), td(r.affected ? plural(r.affected, "port") : ""), td(r.by || ""), td(r.why || r.cause || ""), td(sinceText(r), "when"), td("-", "when")))];
	return [rows.length ? table(["", "What", "Other end", "Cables", "By", "Why", "Since (UTC)", "Until (UTC)"], rows) : note("Nothing is out of service.")];
}

/* ---- busy cables ---- */

function barOf(part) {
	const bar = el("span", { class: "meter" }, el("i"));
	bar.firstChild.style.width = Math.max(1, Math.min(100, 100 * part)).toFixed(0) + "%";
	return bar;
}
function showHot() {
	const traffic = trafficOf(), out = [], cable = (a, ap, b, bp) => [td(endLink(a, ap)), td(endLink(b, bp))];
	if (!T) out.push(note("By routes: the page has no forwarding tables. " + (page.tables && page.tables.absent || "")));
	else if (!L) out.push(note("By routes: being computed ..."));
	else out.push(el("div", null, el("h3", null, "By routes: pairs of hosts whose way leads over it"), table(["Sends from", "To", "Link", { text: "Pairs", num: true }, { text: "of the mean", num: true }, ""], L.ports.slice(0, 50).map((r) =>
		rowOf([{ node_guid: r.n.guid, port: r.port }, { node_guid: far(r.p).guid, port: farPort(r.p) }], ...cable(r.n.guid, r.port, far(r.p).guid, farPort(r.p)), td(r.p.link.text), td(r.pairs.toLocaleString("en"), "num"), td("x " + (r.time / L.mean).toFixed(2), "num"), td(barOf(r.time / L.ports[0].time)))), 0, 10)));
	if (!isThere(page.traffic)) out.push(note("By traffic: " + (page.traffic && page.traffic.absent || "this daemon does not say it.")));
	else if (!traffic.length) out.push(note("By traffic: " + (page.traffic.enabled ? "nothing was measured twice yet." : "counters are not read (perfmgr TRUE).")));
	else out.push(el("div", null, el("h3", null, "By traffic: what was sent between the last two readings"), table(["Sends from", "To", { text: "Gb/s", num: true }, { text: "of the link", num: true }, ""], traffic.map((r) =>
		rowOf([{ node_guid: r.node_guid, port: r.port }, { node_guid: r.peer_guid, port: r.peer_port }], ...cable(r.node_guid, r.port, r.peer_guid, r.peer_port), td((r.bits_per_second / 1e9).toFixed(2), "num"), td((100 * r.share).toFixed(1) + " %", "num"), td(barOf(r.share)))), 0, 10),
		note(plural(page.traffic.measured, "port") + " between switches measured; they send " + (100 * (page.traffic.mean_share || 0)).toFixed(1) + " % of what their links carry, on average.")));
	return [el("div", { class: "halves" }, ...out)];
}

/* ---- the last day ---- */

function showDay() {
	const all = [...H.cables.values()].sort((x, y) => y.downs - x.downs || y.errors - x.errors || y.facts[0].time - x.facts[0].time);
	if (!all.length) return [note("No cable changed.")];
	const ends = (c) => c.ends.filter(Boolean).map(([guid, port]) => ({ node_guid: guid, port }));
	return [table(["One end", "Other end", { text: "Went down", num: true }, { text: "Errors", num: true }, "24 hours", "Last"], all.map((c) => rowOf(ends(c), td(endLink(c.ends[0][0], c.ends[0][1])), td(c.ends[1] ? endLink(c.ends[1][0], c.ends[1][1]) : "-"),
		td(String(c.downs), "num"), td(H.counted || c.errors ? c.errors.toLocaleString("en") : "-", "num"), td(stripOf(c, 180)), td(factText(c.facts[0]))))),
		note("As this manager has seen it since " + when(H.since) + " UTC: red is down, a bar above is an hour with errors, a tick a finding or a mark." + (H.counted ? "" : " Errors are not counted (perfmgr TRUE)."))];
}

/* ---- a path ---- */

function adaptersNamed(word) {
	const found = findNodes(F, word).filter((n) => n.type !== GONE);
	return { hosts: found.filter((n) => !isSwitch(n)), first: found[0] };
}
/* Of hosts with several adapters the pair that reaches each other; the first of each if none does. */
function pairOf(a, b) {
	for (const x of a.slice(0, 16)) for (const y of b.slice(0, 16)) if (x !== y && T && pathOf(T, x, y)) return [x, y];
	return [a[0], b[0]];
}
function walk(from, to, out) {
	const a = adaptersNamed(from), b = adaptersNamed(to), quote = (n) => "'" + label(n).replace(/'/g, "'\\''") + "'";
	const say = (text) => { way = []; out.replaceChildren(text); light(); };
	if (!a.first || !b.first) return say(note("No device has the name '" + (a.first ? to : from) + "'."));
	if (!a.hosts.length || !b.hosts.length) return say(note("A path is shown between two hosts; " + label(a.hosts.length ? b.first : a.first) + " is a switch."));
	const [x, y] = pairOf(a.hosts, b.hosts);
	if (!T) return say(el("code", null, "opensmctl path " + quote(x) + " " + quote(y)));
	const hops = pathOf(T, x, y);
	if (!hops) return say(note("The tables have no way from " + label(x) + " to " + label(y) + "."));
	chosen = null;
	way = hops;
	out.replaceChildren(el("ol", { class: "hops" }, ...hops.map((h) => el("li", null, nodeLink(h.n), h.out === undefined ? "" : " port " + h.out))), ...hops.filter((h) => h.n.alarm === "fault").map((h) => note(label(h.n) + " has a fault: see What is wrong.")));
	return light();
}
function showPaths() {
	const kept = $("from") ? [$("from").value, $("to").value] : ["", ""], from = el("input", { id: "from", placeholder: "from", "aria-label": "from" }), to = el("input", { id: "to", placeholder: "to", "aria-label": "to" }), out = el("div", { id: "way" });
	[from.value, to.value] = kept;
	$("path").replaceChildren(el("form", { on: { submit: (e) => { e.preventDefault(); walk(from.value, to.value, out); } } }, from, to, el("button", { type: "submit" }, "Show")), note(T ? "As the manager's forwarding tables lead, by the first LID of each end. A host may be named without its adapter." :
		"This page has no forwarding tables: " + (page.tables && page.tables.absent || "it was made without them.") + " The daemon shows a path by: opensmctl path A B"), out);
}

/* ---- what is found by a name ---- */

function find(text) {
	const found = findNodes(F, text);
	if (found.length === 1) return choose(found[0]);
	chosen = null;
	way = [];
	$("detail").classList.add("open");
	$("detail").replaceChildren(el("div", { class: "bar" }, el("h2", null, found.length ? plural(found.length, "device") + " found" : "Nothing found"), el("button", { type: "button", class: "close", "aria-label": "close", on: { click: close } }, "×")),
		found.length ? el("ul", { class: "brief" }, ...found.slice(0, MAX_FOUND).map((n) => el("li", null, nodeLink(n), n.alarm ? " " : "", n.alarm ? tag(n.alarm, n.alarm) : ""))) : note("No device has this name, GUID or LID."),
		found.length > MAX_FOUND ? note("and " + (found.length - MAX_FOUND) + " more") : "");
	return light();
}

/* ---- documents that are shown as they are ---- */

const endCell = (e) => td(e ? endLink(e.node_guid, e.port, e.node) : "-");
function showHealth(o) {
	const out = [note(!o.checks ? "Links are not judged: hm_unhealthy_ports_checks is FALSE." : !o.master ? "Links are judged by the master, which this manager is not." : o.links.length ? plural(o.links.length, "link") + " with a finding." : "No link has a finding.")];
	if (o.links.length) out.push(table(["One end", "Other end", "State", "Done", "Why", "Since (UTC)"], o.links.map((r) => rowOf(r.ends, endCell(r.ends[0]), endCell(r.ends[1]), td(r.state), td(r.done), td(r.why), td(when(r.since), "when")))));
	if (o.slow.length) out.push(el("h3", null, "Slower or narrower than both ends can"), table(["One end", "Other end", "Now", "Both ends can"], o.slow.map((r) => rowOf(r.ends, endCell(r.ends[0]), endCell(r.ends[1]), td(r.width + "x " + r.speed), td(r.width_possible + "x " + r.speed_possible)))));
	if (o.checks && !o.counters) out.push(note("No counters are read: bit errors, packets and link downs are not judged (perfmgr TRUE)."));
	out.push(note(o.isolated + " of at most " + o.most_isolated + " links are isolated for their health" + (o.dry_run ? "; hm_dry_run is TRUE: none will be." : ".")));
	return out;
}
function showDrift(o) {
	if (!o.file) return [note("No cabling is expected: opensmctl topology save FILE writes the present one, and expected_topology_file names it.")];
	const out = [note(o.refused ? o.file + " is not in force: " + o.refused : o.file + ": " + plural(o.cables, "cable") + " expected, " + o.held + " held in INIT, " + o.spared + " not held as the last way" + (o.grace ? "; learnt a moment ago: nothing is held yet." : "."))];
	if (o.in_force) out.push(o.findings.length ? table(["Finding", "Since (UTC)", "What"], o.findings.map((f) => el("tr", null, td(f.id), td(when(f.since), "when"), td(linked(f.text))))) : note(o.compared ? "The fabric is as it was meant." : "Nothing was compared yet."));
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
	if (run.length === 1) return linked(run[0].text);
	return el("details", null, el("summary", null, run[0].text + ", and " + (run.length - 1) + " more such events, the first of them at " + when(run[run.length - 1].time)), ...run.slice(1, MAX_ROWS).map((e) => el("div", null, when(e.time) + " " + e.text)),
		run.length > MAX_ROWS ? note("and " + (run.length - MAX_ROWS) + " more, left out here") : "");
}
function showEvents(o) {
	const day = o.events.filter((e) => Date.parse(e.time) > (now - 86400) * 1000);
	return [day.length ? table(["Time (UTC)", "Kind", "Event"], foldEvents(day).map((run) => el("tr", null, td(when(run[0].time), "when"), td(word(run[0].kind), "when"), td(eventText(run)))), o.forgotten ? plural(o.forgotten, "older event") + " no longer kept" : "") : note("None.")];
}
function showSecurity(o) {
	const kind = { pass: "ok", fail: "degraded", unknown: "none" };
	return [note("Profile " + o.profile + ": " + o.passed + " pass, " + o.failed + " fail, " + o.unknown + " unknown"), table(["", "Check", "Now", "To do"], o.checks.map((c) => el("tr", null, td(tag(kind[c.verdict] || "none", c.verdict)), td(word(c.name)), td(c.present), td(c.advice || ""))))];
}

/* ---- all of it ---- */

const fill = (id, ...kids) => $(id).replaceChildren($(id).querySelector("h2"), ...kids);
/*
 * Shows what has changed, by the names of documents ("load": of the routes); all if there is no set. What stays is left alone,
 * so that a table that was opened stays open while events come.
 */
function refresh(changed) {
	const has = (...names) => !changed || names.some((n) => changed.has(n));
	if (has("alarms")) markAlarms(F, page);
	if (has("history")) H = readHistory(F, page.history);
	if (has("history", "traffic")) markNumbers();
	showHead();
	if (has("alarms")) section("alarms", "list of what is wrong", showAlarms);
	if (has("alarms", "marks")) fill("planned", ...showPlanned());
	if (has("traffic", "load")) fill("hot", ...showHot());
	if (has("history")) fill("history", ...showDay());
	if (has("health")) section("health", "health of links", showHealth);
	if (has("events")) section("events", "memory of events", showEvents);
	if (has("drift")) section("drift", "expected topology", showDrift);
	if (has("security")) section("security", "security checklist", showSecurity);
	if (has("alarms", "history", "traffic", "load")) showDetail();
	if (has("alarms", "history", "traffic", "load")) paint();
}
/* Another fabric. What was chosen stays chosen if it is still there. */
async function build() {
	const guid = chosen && chosen.guid;
	F = readFabric(page.fabric);
	T = readTables(page.tables);
	L = null;
	way = [];
	chosen = guid && F.byGuid.get(guid) || null;
	showMap();
	showPaths();
	refresh();
	const built = F, W = T ? await computeFlows(F, T) : null;
	if (F !== built || !W) return; /* a newer one is being shown */
	L = readLoads(F, W);
	refresh(new Set(["load"]));
}
