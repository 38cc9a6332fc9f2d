/**
 * What listing costs, beside the least that it can cost, in the same run.
 *
 *   node bench/list.ts [--reps 5] [--quick] [--json] [--peers DIR]
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
import * as path from "node:path"
import { pathToFileURL } from "node:url"
import { type Args, compare, timed, type Variant } from "./support/compare.ts"
import { floors, job } from "./support/listFloors.ts"
import * as Peers from "./support/peers.ts"
import { type Shape, write } from "./support/projects.ts"
import { main, type Measure, rowOf, type Rows } from "./support/report.ts"

const list = (directory: string, options: SessionCatalog.Options = {}) =>
  SessionCatalog.list(options).pipe(
    Effect.provide(FileEntryLog.layerWith({ projects: path.dirname(directory) })),
    Effect.map(({ sessions }) => sessions),
    Effect.runPromise
  )

const AGENT_SDK = "@anthropic-ai/claude-agent-sdk"

/** The peer, where somebody has installed it. */
const sdk: Variant = {
  few: true,
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

/** G8. */
export const measure: Measure = ({ peers, quick, reps, scratch }) => {
  const count = quick ? 100 : 1000
  const run = (shape: Shape, names: ReadonlyArray<string>): Rows => {
    const projects = path.join(scratch, Object.values(shape).join("-"), "projects")
    if (!fs.existsSync(projects)) write(projects, shape)
    const module = new URL(import.meta.url)
    // A program that has listed before: all that is to be compiled is.
    return compare({
      module,
      variants: names,
      reps,
      together: quick,
      warm: quick ? 4 : 20,
      times: quick ? 3 : 9,
      args: { scratch, projects, peers }
    })
  }
  const restated = { sessions: count, capKb: 300, restated: true }
  const tables = new Map([
    ["list", run(restated, ["sync", "readdirStat", "list", ...Peers.installed(peers)])],
    ["list, metadata in the middle", run({ ...restated, restated: false }, ["sync", "list"])],
    ["list, with an index", run(restated, ["indexFloor", "indexed"])],
    ["first page of ten times as many", run({ sessions: 10 * count, capKb: 16, restated: true }, ["firstPage", "page"])]
  ])
  const cpu = (title: string, name: string): number => rowOf(tables.get(title), name)?.cpuRatio ?? NaN
  const goals = [
    { name: "G8 list, CPU over its floor", value: cpu("list", "list"), most: 1.3 },
    { name: "G8 with an index, CPU over its floor", value: cpu("list, with an index", "indexed"), most: 1.3 },
    { name: "G8 first page, CPU over its floor", value: cpu("first page of ten times as many", "page"), most: 1.5 },
    { name: "G8 times faster than the SDK", value: cpu("list", "sdk") / cpu("list", "list"), least: 5 }
  ]
  return { tables, goals }
}

if (import.meta.main) main({ list: measure })
