// Asks the official D2 what each chart of d2_charts.txt and d2_random.txt draws, and writes the
// answers to d2_answers.json beside them. Not part of the test run: it needs the npm package
//
//     npm install @terrastruct/d2@0.1.33     (D2 0.9)
//     node ask_d2.mjs
//
// An answer holds the objects as [id, label] and the edges as [left, right, label, arrow], or
// the messages with which D2 refuses the chart.
import { readFileSync, writeFileSync } from "node:fs";
import { D2 } from "@terrastruct/d2";

const here = new URL(".", import.meta.url);

function* readCharts(file) {
  const text = readFileSync(new URL(file, here), "utf8");
  for (const part of text.split(/^%% /m).slice(1)) {
    const end = part.indexOf("\n");
    yield [part.slice(0, end), part.slice(end + 1).replace(/\n$/, "")];
  }
}

const entities = { amp: "&", lt: "<", gt: ">", "#34": '"', "#39": "'" };
const plain = (id) => id.replace(/&(amp|lt|gt|#34|#39);/g, (_, name) => entities[name]);

function describe({ diagram, graph }) {
  const nodes = (diagram.shapes ?? []).map((shape) => [plain(shape.id), shape.label]);
  const edges = (diagram.connections ?? []).map((edge, at) => [
    plain(edge.src),
    plain(edge.dst),
    edge.label,
    (graph.edges[at].src_arrow ? "<-" : "-") + (graph.edges[at].dst_arrow ? ">" : "-"),
  ]);
  return { nodes, edges };
}

function listErrors(error) {
  try {
    return JSON.parse(error.message).map((each) => each.errmsg);
  } catch {
    return [String(error.message ?? error)];
  }
}

const d2 = new D2();
const answers = {};
for (const file of ["d2_charts.txt", "d2_random.txt"]) {
  for (const [name, chart] of readCharts(file)) {
    try {
      answers[name] = describe(await d2.compile(chart));
    } catch (error) {
      answers[name] = { errors: listErrors(error) };
    }
  }
}
const lines = Object.entries(answers).map(([k, v]) => `${JSON.stringify(k)}: ${JSON.stringify(v)}`);
writeFileSync(new URL("d2_answers.json", here), `{\n${lines.join(",\n")}\n}\n`);
process.exit(0);
