/**
 * What importing costs: `node bench/imports.ts [--reps N] [--quick] [--json]`. What is built counts, so the packages and
 * the command are built first, as they are for publishing.
 *
 * G11 import of the command ≤ 1.2 of the modules of Effect that any program needs, growth ≤ 40 MB.
 */
import { spawnSync } from "node:child_process"
import { registerHooks } from "node:module"
import { fileURLToPath } from "node:url"
import { compare, timed, type Variant } from "./support/compare.ts"
import { peakMb } from "./support/memory.ts"
import { main, type Measure, rowOf } from "./support/report.ts"

const root = new URL("../", import.meta.url)

/** `@reprise/storage/History` ─▶ packages/storage/dist/History.js, as in the published packages. */
const useBuilt = (): void =>
  void registerHooks({
    resolve: (specifier, context, next) => {
      const [, name, file] = /^@reprise\/([a-z]+)\/([A-Za-z/]+)$/.exec(specifier) ?? []
      return name === undefined
        ? next(specifier, context)
        : next(new URL(`packages/${name}/dist/${file}.js`, root).href, context)
    }
  })

/** A job, and by how much it made the peak of memory grow. */
const growing = (note: string, job: () => Promise<unknown>): Variant => ({
  note,
  setup: () => {
    useBuilt()
    return peakMb()
  },
  run: async (before: number) => {
    const time = await timed(job)
    return { n: 1, ...time, growthMb: Math.round(peakMb() - before) }
  }
})

const importing = (note: string, specifiers: ReadonlyArray<string>): Variant =>
  growing(note, async () => {
    for (const specifier of specifiers) await import(specifier)
  })

const effect = ["effect/Effect", "effect/Schema", "effect/Queue", "effect/Stream", "effect/Layer"]

/** From the import of the published file until nothing is left to do. */
const started = async (...args: ReadonlyArray<string>): Promise<void> => {
  const file = new URL("packages/cli/dist/reprise.js", root)
  process.argv = [process.execPath, fileURLToPath(file), ...args]
  const ended = new Promise((resolve) => process.once("beforeExit", resolve))
  await import(file.href)
  await ended
}

/** By name, for the process that runs one. */
export const variants: { readonly [name: string]: Variant } = {
  subpaths: importing("floor: Effect, Schema, Queue, Stream, Layer", effect),
  recovery: importing("recovery", ["@reprise/recovery/Recovery"]),
  storage: importing("a session that is written", ["@reprise/storage/Transcript", "@reprise/storage/FileEntryLog"]),
  modules: importing("the modules of the command, for programs", ["@reprise/cli/Reprise"]),
  command: growing("the published command, until it has told its version", () => started("--version"))
}

/** Builds as for publishing. */
const build = (bin: string, ...args: ReadonlyArray<string>): void => {
  const cwd = new URL("packages/cli", root)
  const file = fileURLToPath(new URL(`node_modules/${bin}`, root))
  const built = spawnSync(process.execPath, [file, ...args], { cwd, encoding: "utf8" })
  if (built.status !== 0) throw new Error(`the packages cannot be built: ${built.stdout}${built.stderr}`)
}

/** G11, the import. */
export const measure: Measure = ({ reps, scratch }) => {
  build("typescript/bin/tsc", "-b")
  build("rolldown/bin/cli.mjs", "-c")
  const rows = compare({
    module: new URL(import.meta.url),
    variants: Object.keys(variants),
    reps,
    warm: 0,
    times: 1,
    args: { scratch }
  })
  const command = rowOf(rows, "command")
  return {
    tables: new Map([["importing", rows]]),
    goals: [
      { name: "G11 import of the command, CPU over the modules of Effect", value: command?.cpuRatio ?? NaN, most: 1.2 },
      { name: "G11 growth in MB by importing it", value: command?.more["growthMb"] ?? NaN, most: 40 }
    ]
  }
}

if (import.meta.main) main({ imports: measure })
