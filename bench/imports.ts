/**
 * What importing costs: `node bench/imports.ts [--reps N] [--quick] [--json]`. Of the library it is the built one that
 * counts, so the packages are built first.
 *
 * G11 import of the command ≤ 1.2 of the modules of Effect that any program needs, growth ≤ 40 MB.
 */
import { spawnSync } from "node:child_process"
import { registerHooks } from "node:module"
import { fileURLToPath } from "node:url"
import { compare, timed, type Variant } from "./support/compare.ts"
import { main, type Measure, rowOf } from "./support/report.ts"

const root = new URL("../", import.meta.url)

/** `@reprise/storage/History` ─▶ packages/storage/dist/History.js, as in the published packages. */
const useBuilt = (): void =>
  void registerHooks({
    resolve: (specifier, context, next) => {
      const [, name, file] = /^@reprise\/([a-z]+)\/([A-Za-z]+)$/.exec(specifier) ?? []
      return name === undefined
        ? next(specifier, context)
        : next(new URL(`packages/${name}/dist/${file}.js`, root).href, context)
    }
  })

const importing = (note: string, specifiers: ReadonlyArray<string>): Variant => ({
  note,
  setup: () => {
    useBuilt()
    return process.resourceUsage().maxRSS
  },
  run: async (before: number) => {
    const time = await timed(async () => {
      for (const specifier of specifiers) await import(specifier)
    })
    return { n: 1, ...time, growthMb: Math.round((process.resourceUsage().maxRSS - before) / 1024) }
  }
})

const effect = ["effect/Effect", "effect/Schema", "effect/Queue", "effect/Stream", "effect/Layer"]

/** By name, for the process that runs one. */
export const variants: { readonly [name: string]: Variant } = {
  subpaths: importing("floor: Effect, Schema, Queue, Stream, Layer", effect),
  recovery: importing("recovery", ["@reprise/recovery/Recovery"]),
  storage: importing("a session that is written", ["@reprise/storage/Transcript", "@reprise/storage/FileEntryLog"]),
  command: importing("the command, without what it runs on", ["@reprise/cli/Reprise"])
}

/** G11, the import. */
export const measure: Measure = ({ reps, scratch }) => {
  const tsc = fileURLToPath(new URL("node_modules/typescript/bin/tsc", root))
  const built = spawnSync(process.execPath, [tsc, "-b", fileURLToPath(new URL("packages/cli", root))], {
    encoding: "utf8"
  })
  if (built.status !== 0) throw new Error(`the packages cannot be built: ${built.stdout}${built.stderr}`)
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
