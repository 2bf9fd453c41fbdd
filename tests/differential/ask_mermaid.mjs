// Asks the official Mermaid what it reads in each chart of mermaid_charts.txt, and prints the
// answers as JSON. Run in a folder where `npm install mermaid@11 jsdom` was done:
//
//     node ask_mermaid.mjs < mermaid_charts.txt > mermaid_answers.json
//
// Nothing is drawn: the answers come from the flowchart's own database, labels as they stand there
// (entities still in Mermaid's inner form; the test that compares turns them into text).
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const here = createRequire(join(process.cwd(), "x.js"));
const { JSDOM } = here("jsdom");
const page = new JSDOM("<!DOCTYPE html><body></body>", { pretendToBeVisual: true });
globalThis.window = page.window;
globalThis.document = page.window.document;
for (const name of ["Element", "HTMLElement", "Node", "NodeFilter", "DOMParser"]) {
  globalThis[name] = page.window[name];
}
const root = join(process.cwd(), "node_modules", "mermaid");
const { default: mermaid } = await import(pathToFileURL(join(root, "dist", "mermaid.core.mjs")));
mermaid.initialize({ startOnLoad: false, maxEdges: 100000, maxTextSize: 10000000 });
for (const level of ["log", "info", "warn", "error", "debug"]) console[level] = () => {};

function splitCharts(text) {
  const charts = [];
  for (const part of text.split(/^#### /m).slice(1)) {
    const end = part.indexOf("\n");
    // Line ends and other signs that an editor would not keep are written as \u escapes.
    const chart = part.slice(end + 1).replace(/\n$/, "");
    charts.push([
      part.slice(0, end).trim(),
      chart.replace(/\\u\{([0-9A-F]+)\}/g, (_, hex) => String.fromCodePoint(parseInt(hex, 16))),
    ]);
  }
  return charts;
}

async function ask(text) {
  let diagram;
  try {
    diagram = await mermaid.mermaidAPI.getDiagramFromText(text);
  } catch (error) {
    return { refused: String(error.message).split("\n")[0].slice(0, 120) };
  }
  if (!diagram.type.startsWith("flowchart")) return { refused: `a ${diagram.type} diagram` };
  const db = diagram.db;
  const titles = new Map(db.getSubGraphs().map((subgraph) => [subgraph.id, subgraph.title]));
  const ends = new Set(db.getEdges().flatMap((edge) => [edge.start, edge.end]));
  return {
    // A subgraph that only a style line names is a vertex too, but only its frame is drawn.
    nodes: [...db.getVertices().values()]
      .filter(({ id }) => ends.has(id) || !titles.has(id))
      .map(({ id, text, labelType }) => [id, String(titles.get(id) ?? text ?? ""), labelType]),
    edges: db
      .getEdges()
      .map((edge) => [edge.start, edge.end, edge.text ?? "", edge.type ?? "", edge.stroke ?? ""]),
    direction: db.getDirection() ?? "",
    title: db.getDiagramTitle?.() ?? "",
  };
}

const answers = {};
for (const [name, text] of splitCharts(readFileSync(0, "utf8"))) {
  if (name in answers) throw new Error(`two charts are named ${name}`);
  answers[name] = await ask(text);
}
const version = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version;
process.stdout.write(
  `{\n"mermaid": ${JSON.stringify(version)},\n"charts": {\n` +
    Object.entries(answers)
      .map(([name, answer]) => `${JSON.stringify(name)}: ${JSON.stringify(answer)}`)
      .join(",\n") +
    "\n}\n}\n",
);
