// How far a word travels: shares of its outputs by how near they are, over the
// whole range of the slider. Drawn by hand: one chart needs no library.

import { PRESETS } from "./privacy.js";

const byId = (id) => document.getElementById(id);
const NS = "http://www.w3.org/2000/svg";
const DRAWS = 500;

/** Positions of the slider that are computed. */
const LEVELS = [0.05, 0.15, 0.25, 0.35, 0.5, 0.65, 0.75, 0.85, 0.95];

const BANDS = ["the word itself", "10 nearest", "100 nearest", "1,000 nearest", "farther away"];

const HEIGHT = 280;
const BOX = { left: 52, right: 12, top: 10, bottom: 46 };

function element(name, attributes, text) {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

// Drawn to the width there is, so that letters keep their size on a phone.
const widthOf = () => Math.max(280, byId("chart").clientWidth);
const xOf = (keep) => {
  const span = widthOf() - BOX.left - BOX.right;
  return BOX.left + (span * (keep - LEVELS[0])) / (LEVELS.at(-1) - LEVELS[0]);
};
const yOf = (share) => HEIGHT - BOX.bottom - share * (HEIGHT - BOX.top - BOX.bottom);

// Upper edge of each band at each level: cumulative shares.
function edges(points) {
  return points.map(({ outcomes }) => [...outcomes.reach.map((r) => r.share), 1]);
}

function area(points, all, band) {
  const upper = points.map(({ keep }, i) => `${xOf(keep).toFixed(1)},${yOf(all[i][band]).toFixed(1)}`);
  const lower = points.map(({ keep }, i) =>
    `${xOf(keep).toFixed(1)},${yOf(band === 0 ? 0 : all[i][band - 1]).toFixed(1)}`);
  return `M${upper.join("L")}L${lower.reverse().join("L")}Z`;
}

function axes(svg) {
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const y = yOf(share);
    svg.append(element("line", { x1: BOX.left, x2: widthOf() - BOX.right, y1: y, y2: y, class: "grid" }));
    svg.append(element("text", { x: BOX.left - 8, y: y + 4, "text-anchor": "end" }, `${100 * share} %`));
  }
  const ends = [["start", LEVELS[0], "← fewer words stay"], ["end", LEVELS.at(-1), "more words stay →"]];
  for (const [anchor, keep, text] of ends) {
    svg.append(element("text", { x: xOf(keep), y: HEIGHT - 8, "text-anchor": anchor }, text));
  }
  for (const keep of Object.values(PRESETS)) {
    const x = xOf(keep);
    svg.append(element("line", { x1: x, x2: x, y1: yOf(0), y2: yOf(0) + 5, class: "tick" }));
    svg.append(element("text", { x, y: yOf(0) + 18, "text-anchor": "middle" }, `${100 * keep} %`));
  }
}

function legend() {
  const list = document.createElement("ul");
  list.className = "legend";
  for (const [band, name] of BANDS.entries()) {
    const item = document.createElement("li");
    const key = document.createElement("span");
    key.className = `key b${band}`;
    item.append(key, name);
    list.append(item);
  }
  return list;
}

function draw(points, position, word) {
  const svg = element("svg", {
    width: widthOf(), height: HEIGHT, role: "img",
    "aria-label": `Where outputs of “${word}” come from, from few words kept to many. The table below has the numbers.`,
  });
  const all = edges(points);
  for (let band = BANDS.length - 1; band >= 0; band--) {
    svg.append(element("path", { d: area(points, all, band), class: `band b${band}` }));
  }
  axes(svg);
  svg.append(element("line", { x1: 0, x2: 0, y1: yOf(0), y2: yOf(1), class: "here", id: "chart-here" }));
  byId("chart").replaceChildren(svg, legend());
  mark(position);
}

/** Moves the line that shows the share of words kept. */
export function mark(position) {
  const line = byId("chart-here");
  if (!line) return;
  shown.position = position;
  const x = xOf(Math.min(Math.max(position, LEVELS[0]), LEVELS.at(-1)));
  line.setAttribute("x1", x);
  line.setAttribute("x2", x);
}

function table(points) {
  const cells = (tag, texts) => {
    const row = document.createElement("tr");
    row.append(...texts.map((text) => Object.assign(document.createElement(tag), { textContent: text })));
    return row;
  };
  const node = document.createElement("table");
  node.append(cells("th", ["words kept", ...BANDS]));
  for (const [i, edge] of edges(points).entries()) {
    const shares = edge.map((top, b) => Math.max(0, top - (b ? edge[b - 1] : 0)));
    node.append(cells("td", [points[i].keep, ...shares].map((s) => `${(100 * s).toFixed(0)} %`)));
  }
  byId("chart-table").replaceChildren(node);
}

// What is shown, to be drawn again when the width changes.
let shown;
new ResizeObserver(() => {
  if (shown) draw(shown.points, shown.position, shown.word);
}).observe(byId("chart"));

/** Computes and draws the chart for a word. */
export async function chart(engine, privacy, word) {
  const points = [];
  for (const keep of LEVELS) {
    const options = { ...privacy.optionsAt(keep, false), top: 1, draws: DRAWS };
    const outcomes = await engine.call("outcomes", { word, options });
    if (!outcomes) {
      byId("chart-note").textContent = "The model does not know this word, or it is public.";
      return;
    }
    points.push({ keep, outcomes });
  }
  const { method } = points[0].outcomes;
  byId("chart-note").textContent = method === "exact" ? "Computed exactly." : `Estimated from ${DRAWS} draws at each point.`;
  shown = { points, word, position: privacy.position };
  draw(points, shown.position, word);
  table(points);
}
