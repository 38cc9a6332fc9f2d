/**
 * What listing costs, beside the least that it can cost, in the same run.
 *
 *   node bench/list.ts [--sessions 1000] [--reps 5] [--quick] [--json] [--peers DIR]
 *
 * G8 a list ≤ 1.3 of its floor, with an index ≤ 1.3 of that floor, a first page of ten times as many ≤ 1.5 of its floor.
 * The logs say their metadata again near the end; one figure is of logs that do not.
 */
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionCatalog from "@reprise/storage/SessionCatalog"
import * as Effect from "effect/Effect"
import "effect/schema/SchemaJITCompiler/enable"
import * as fs from "node:fs"
import { createRequire } from "node:module"
import * as os from "node:os"
import * as path from "node:path"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import { type Args, compare, type Row, table, timed, type Variant } from "./support/compare.ts"
import { floors, job } from "./support/listFloors.ts"
import { type Shape, write } from "./support/projects.ts"

const list = (directory: string, options: SessionCatalog.Options = {}) =>
  SessionCatalog.list(options).pipe(
    Effect.provide(FileEntryLog.layerWith({ projects: path.dirname(directory) })),
    Effect.map(({ sessions }) => sessions),
    Effect.runPromise
  )

const AGENT_SDK = "@anthropic-ai/claude-agent-sdk"

/** The peer, where somebody has installed it. */
const sdk: Variant = {
  note: `peer: listSessions of ${AGENT_SDK}`,
  setup: async ({ peers, projects }: Args) => {
    process.env["CLAUDE_CONFIG_DIR"] = path.dirname(String(projects))
    const file = createRequire(path.join(path.resolve(String(peers)), "/")).resolve(AGENT_SDK)
    return import(pathToFileURL(file).href)
  },
  run: async (sdk) => {
    let n = 0
    const time = await timed(async () => {
      n = (await sdk.listSessions({})).length
    })
    return { n, ...time }
  }
}

/** By name, for the process that runs one. */
export const variants: { readonly [name: string]: Variant } = {
  ...floors,
  list: job("SessionCatalog.list", (directory) => list(directory)),
  indexed: job(
    "SessionCatalog.list with an index",
    (directory, index) => list(directory, { index }),
    (directory, index) => list(directory, { index })
  ),
  page: job("SessionCatalog.list, limit 50", (directory) => list(directory, { limit: 50 })),
  sdk
}

interface Options {
  readonly sessions: number
  readonly reps: number
  readonly quick: boolean
  readonly scratch: string
  /** A directory in whose `node_modules` the peer is installed; empty: it is left out. */
  readonly peers: string
}

type Rows = ReadonlyMap<string, Row | string>

/** G8. */
export const measure = ({
  peers,
  quick,
  reps,
  scratch,
  sessions = 1000
}: Partial<Options> & Omit<Options, "sessions">) => {
  const count = quick ? Math.min(sessions, 300) : sessions
  const run = (shape: Shape, names: ReadonlyArray<string>): Rows => {
    const projects = path.join(scratch, Object.values(shape).join("-"), "projects")
    if (!fs.existsSync(projects)) write(projects, shape)
    const module = new URL(import.meta.url)
    // A program that has listed before: all that is to be compiled is.
    return compare({ module, variants: names, reps, warm: 20, times: 9, args: { scratch, projects, peers } })
  }
  const restated = { sessions: count, capKb: 300, restated: true }
  const tables = new Map([
    ["list", run(restated, ["sync", "readdirStat", "list", ...(peers === "" ? [] : ["sdk"])])],
    ["list, metadata in the middle", run({ ...restated, restated: false }, ["sync", "list"])],
    ["list, with an index", run(restated, ["indexFloor", "indexed"])],
    ["first page of ten times as many", run({ sessions: 10 * count, capKb: 16, restated: true }, ["firstPage", "page"])]
  ])
  const cpu = (title: string, name: string): number => {
    const row = tables.get(title)?.get(name)
    return typeof row === "object" ? row.cpuRatio : NaN
  }
  const goals = [
    { name: "G8 list, CPU over its floor", value: cpu("list", "list"), most: 1.3 },
    { name: "G8 with an index, CPU over its floor", value: cpu("list, with an index", "indexed"), most: 1.3 },
    { name: "G8 first page, CPU over its floor", value: cpu("first page of ten times as many", "page"), most: 1.5 },
    ...(peers === ""
      ? []
      : [{ name: "G8 times faster than the peer", value: cpu("list", "sdk") / cpu("list", "list"), least: 5 }])
  ]
  return { tables, goals }
}

const main = (): void => {
  const { values } = parseArgs({
    options: {
      sessions: { type: "string", default: "1000" },
      reps: { type: "string", default: "5" },
      peers: { type: "string", default: "" },
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false }
    }
  })
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "reprise-bench-"))
  const { json, peers, quick } = values
  try {
    const { goals, tables } = measure({
      peers,
      quick,
      scratch,
      sessions: Number(values.sessions),
      reps: quick ? 3 : Number(values.reps)
    })
    if (json) {
      const rows = Array.from(tables, ([title, rows]) => [title, Object.fromEntries(rows)])
      console.log(JSON.stringify({ tables: Object.fromEntries(rows), goals }, null, 2))
      return
    }
    for (const [title, rows] of tables) console.log(`${table(title, rows)}\n`)
    for (const { name, value, ...bound } of goals) {
      const isMet = "most" in bound ? value <= bound.most : value >= bound.least
      console.log(
        `${isMet ? "met   " : "missed"} ${name}, ${"most" in bound ? `≤ ${bound.most}` : `≥ ${bound.least}`}: ${value.toFixed(2)}`
      )
    }
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true })
  }
}

if (import.meta.main) main()
