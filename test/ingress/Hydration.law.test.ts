import { assert, describe, it } from "@effect/vitest"
import * as Line from "@reprise/domain/Line"
import * as Hydration from "@reprise/ingress/Hydration"
import * as Recovery from "@reprise/recovery/Recovery"
import * as FaultyEntryLog from "@reprise/storage/testing/FaultyEntryLog"
import { Arbitrary, Effect, Layer, Result, Schema } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as budget from "../laws/budget.ts"
import { home, linesOf, remote, sessionId, text, unsent } from "./hydrated.ts"

const all = linesOf(text("u1-a1-u2-a2-u3-a3 a1-u4-a4 u5-a5"))
const meta = ["plan", "default"].map((mode) => JSON.stringify({ type: "mode", mode, sessionId }))
/** Other bytes under a known id; lines that are no entry, one of them empty. */
const odd = [all[1]!.replace("[a1]", "else"), '{"torn', ""]

const Some = Arbitrary.array(Arbitrary.schema(Schema.Literals([...all, ...meta, ...meta, ...odd])), { maxLength: 12 })
/** A log: some lines, and perhaps the beginning of one that was cut. */
const Log = Arbitrary.map(
  Arbitrary.all([Some, Arbitrary.schema(Schema.Literals([0, 0, 0, 9, 60]))]),
  ([lines, cut]) => lines.map((line) => `${line}\n`).join("") + all[3]!.slice(0, cut)
)
/** What a remote holds: whole lines, each id once. */
const Remote = Arbitrary.map(Some, (lines) =>
  lines.filter((line, i) => idOf(line) === undefined || lines.findIndex((one) => idOf(one) === idOf(line)) === i)
)
const Prefer = Arbitrary.map(Arbitrary.schema(Schema.Literals(["", "local", "remote", "newest"])), (side) =>
  side === "" ? undefined : side
)

const idOf = (line: string): string | undefined => (line.endsWith("}") ? /"uuid":"(\w+)"/.exec(line)?.[1] : undefined)
const idsIn = (log: string) => linesOf(log).flatMap((line) => idOf(line) ?? [])
const count = (lines: ReadonlyArray<string>, line: string) => lines.filter((one) => one === line).length
const asText = (lines: ReadonlyArray<string>) => lines.map((line) => `${line}\n`).join("")
const native = { profile: "native" } as const

/** A log on the disk, hydrated from lines of a remote. */
const hydrated = Effect.fnUntraced(function* (
  log: string,
  lines: ReadonlyArray<string>,
  prefer?: Hydration.Options["prefer"]
) {
  const at = yield* home
  at.put(at.main, log)
  const options = prefer === undefined ? {} : { prefer }
  const again = (copy = lines) => at.hydrate(remote({ "": asText(copy) }, native), { ...options, leaf: Recovery.leaf })
  const { streams } = yield* again()
  return { ...at, again, result: streams[0]!, after: at.read() }
})

/** A fifth of what other laws get: each run writes files. */
const budgeted = { arbitrary: { runs: Math.ceil(budget.runs / 5), seed: budget.seed }, timeout: budget.timeout }

describe("any log and any remote", () => {
  it.effect.prop(
    "every local byte keeps its offset, and all that either holds is there",
    [Log, Remote, Prefer],
    ([log, lines, prefer]) =>
      Effect.gen(function* () {
        const { after } = yield* hydrated(log, lines, prefer)
        assert.strictEqual(after.slice(0, log.length), log)
        const ids = idsIn(after)
        for (const id of [...idsIn(log), ...lines.flatMap((line) => idOf(line) ?? [])]) assert.include(ids, id)
        for (const id of new Set(ids)) assert.isAtMost(count(ids, id), Math.max(1, count(idsIn(log), id)))
        for (const line of [...meta, ...odd.slice(1)])
          assert.isAtLeast(count(linesOf(after), line), Math.max(count(linesOf(log), line), count(lines, line)))
      }).pipe(Effect.scoped),
    budgeted
  )

  it.effect.prop(
    "twice is once, and a remote that grew only adds what it grew by",
    [Log, Remote, Remote],
    ([log, lines, more]) =>
      Effect.gen(function* () {
        const { after, again, read } = yield* hydrated(log, lines)
        const { streams } = yield* again()
        assert.deepStrictEqual([streams[0]!.added, read()], [0, after])
        const fresh = more.filter((line) => idOf(line) !== undefined && !lines.some((one) => idOf(one) === idOf(line)))
        yield* again([...lines, ...fresh])
        assert.strictEqual(read().slice(0, after.length), after)
      }).pipe(Effect.scoped),
    budgeted
  )

  it.effect.prop(
    "a replicator sends what the remote lacks, and nothing that came from it",
    [Log, Remote, Prefer],
    ([log, lines, prefer]) =>
      Effect.gen(function* () {
        const { after, main, result } = yield* hydrated(log, lines, prefer)
        const sent = yield* unsent(main)
        assert.isDefined(sent)
        const kept = new Set(lines.flatMap((line) => idOf(line) ?? []))
        const missing = idsIn(log).filter((id) => !kept.has(id))
        for (const id of missing) assert.include(sent.map(idOf), id)
        if (result.leaves.named !== undefined) assert.include(sent.at(-1), `"leafUuid":"${result.leaves.named}"`)
        // Of what was added nothing is sent but the leaf.
        const added = linesOf(after).length - linesOf(log).length - (result.leaves.named === undefined ? 0 : 1)
        assert.isAtMost(sent.length, linesOf(after).length - added)
      }).pipe(Effect.scoped),
    budgeted
  )

  it.effect.prop(
    "the leaf that is named is the leaf that recovery finds",
    [Log, Remote, Prefer],
    ([log, lines, prefer]) =>
      Effect.gen(function* () {
        const { after, result } = yield* hydrated(log, lines, prefer)
        if (result.leaves.named === undefined) return
        const { conversation } = Recovery.fold(Line.decodeAll(Buffer.from(after)))
        assert.include(
          conversation.map(({ uuid }) => uuid),
          result.leaves.named
        )
      }).pipe(Effect.scoped),
    budgeted
  )
})

describe("a crash in the middle", () => {
  const local = asText([...all.slice(0, 4), meta[0]!])
  const copy = [...all.slice(0, 2), meta[1]!, ...all.slice(6, 8)]

  it.effect("leaves every local line where it was, and again is once, wherever it comes", () =>
    Effect.gen(function* () {
      const whole = yield* hydrated(local, copy)
      const added = whole.after.length - local.length
      for (let bytes = 0; bytes <= added; bytes += 29) {
        const { hydrate, layer, main, put, read } = yield* home
        put(main, local)
        const faulty = FaultyEntryLog.layer.pipe(Layer.provide(layer))
        const first = yield* Effect.gen(function* () {
          yield* FaultyEntryLog.Faults.use(({ crashAfter }) => crashAfter(bytes))
          return yield* Effect.result(Hydration.hydrate(main, remote({ "": asText(copy) }, native)))
        }).pipe(Effect.provide(faulty), Effect.scoped)
        assert.strictEqual(Result.isFailure(first), bytes < added)
        assert.strictEqual(read().slice(0, local.length), local)
        yield* hydrate(remote({ "": asText(copy) }, native))
        const after = read()
        assert.strictEqual(after.slice(0, local.length), local)
        for (const line of copy) assert.strictEqual(count(linesOf(after), line), 1)
        yield* hydrate(remote({ "": asText(copy) }, native))
        assert.strictEqual(read(), after)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("a log that is new is not there, or is there as a whole", () =>
    Effect.gen(function* () {
      const { hydrate, main, read } = yield* home
      fs.mkdirSync(path.dirname(main), { recursive: true })
      fs.writeFileSync(`${main}.draft`, asText(copy).slice(0, 100))
      fs.writeFileSync(`${main}.hydration.draft`, asText(copy).slice(0, 100))
      yield* hydrate(remote({ "": asText(copy) }))
      assert.strictEqual(read(), asText(copy))
      assert.deepStrictEqual(fs.readdirSync(path.dirname(main)).length, 1)
    }).pipe(Effect.scoped)
  )
})
