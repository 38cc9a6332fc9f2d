/**
 * The law: what the windows tell is what the whole log says, whatever their size, on every log that was written forward:
 * no message in the unread middle is later than all at the end.
 */
import { assert, describe, it } from "@effect/vitest"
import type * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as Written from "@reprise/domain/testing/History"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionSummary from "@reprise/storage/SessionSummary"
import { Arbitrary, Effect, Schema } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { begin, lineOf, Said } from "./said.ts"

const runs = Number(process.env["RUNS"] ?? 300)
const options = { arbitrary: { runs, seed: process.env["SEED"] ?? "summaries" } }
const log = EntryLog.session("p", "00000000-0000-4000-8000-000000000001")

const whole = (bytes: Uint8Array): SessionSummary.Said =>
  Projection.fold(Projection.entries(SessionSummary.projection), Line.decodeAll(bytes))

const told = Effect.fnUntraced(function* (bytes: Uint8Array, options?: SessionSummary.Options) {
  const port = yield* EntryLog.EntryLog
  yield* port.append(log, bytes)
  const { log: _, mtime: __, size, ...said } = yield* SessionSummary.read(log, options)
  assert.strictEqual(size, bytes.length)
  return said as SessionSummary.Said
}, Effect.provide(EntryLog.layerMemory))

/** Whether the last window holds the latest message, or is not needed to. */
const isForward = (bytes: Uint8Array, window: number): boolean => {
  if (bytes.length <= 2 * window) return true
  const stamps = Line.decodeAll(bytes).flatMap(({ at, entry }) => {
    const { isSidechain, timestamp, type } = entry as Entry.Message
    const isMessage = ["user", "assistant", "attachment", "system"].includes(type)
    return isMessage && isSidechain !== true && timestamp !== undefined ? [{ at: at.byteStart, timestamp }] : []
  })
  return stamps.every(({ timestamp }, i) => i === 0 || stamps[i - 1]!.timestamp <= timestamp)
}

const law = Effect.fnUntraced(function* (bytes: Uint8Array, window?: number, message?: string) {
  if (!isForward(bytes, window ?? 65536)) return false
  assert.deepStrictEqual(yield* told(bytes, window === undefined ? {} : { window }), whole(bytes), message)
  return true
})

describe("the windows tell what the whole log says", () => {
  const sizes = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3000 })))

  it.effect.prop(
    "on what a session writes, through windows of any size",
    { history: Written.arbitrary(), window: sizes },
    ({ history, window }) => Effect.asVoid(law(history.bytes, window)),
    options
  )

  it.effect.prop(
    "whatever messages say, in whatever order of time they were written",
    { said: Arbitrary.array(Arbitrary.schema(Said), { maxLength: 16 }), window: sizes },
    ({ said, window }) => {
      const lines = said.map((one) => lineOf(one, "u1"))
      const bytes = bytesOf(...((said[0]?.id ?? 0) < 80 ? [begin, ...lines] : lines))
      return Effect.asVoid(Effect.andThen(law(bytes), law(bytes, window)))
    },
    options
  )

  it.effect("and most of what a session writes is written forward", () =>
    Effect.gen(function* () {
      const tries = yield* Arbitrary.sampleEffect(Arbitrary.all([Written.arbitrary(), sizes]), {
        count: 100,
        seed: "most"
      })
      const forward = tries.filter(([{ bytes }, window]) => isForward(bytes, window))
      assert.isAbove(forward.length, 67)
    })
  )

  const root = fileURLToPath(new URL("../..", import.meta.url))
  for (const name of ["test/fixtures", "../shared/cases", "../shared/corpus"]) {
    const folder = path.join(root, name)
    const files = fs.existsSync(folder)
      ? fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".jsonl"))
      : []
    if (files.length === 0) console.log(`skipped: no logs in ${name}`)
    it.effect.skipIf(files.length === 0)(
      `on ${name}`,
      () =>
        Effect.gen(function* () {
          let tried = 0
          for (const file of files) {
            const bytes = new Uint8Array(fs.readFileSync(path.join(folder, file)))
            if (bytes.length === 0) continue
            for (const window of [65536, 700, 1]) {
              const isTried = yield* law(bytes, window, `${file} through ${window}`)
              if (isTried) tried++
            }
          }
          assert.isAbove(tried, 0)
        }),
      300_000
    )
  }
})

const time = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
const message = (type: "user" | "assistant", text: string, second: number, more: object = {}) => ({
  parentUuid: null,
  type,
  uuid: `m${second}`,
  timestamp: time(second),
  message: { role: type, content: text },
  cwd: "/work",
  gitBranch: "main",
  version: "2.1.0",
  ...more
})
const padding = (count: number, from: number) =>
  Array.from({ length: count }, (_, i) => message("assistant", "x".repeat(1000), from + i))
const bytesOf = (...lines: ReadonlyArray<object | string>): Uint8Array =>
  new TextEncoder().encode(lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""))

/** Checked against the whole log, whatever else is asked of it. */
const summary = Effect.fnUntraced(function* (...lines: ReadonlyArray<object | string>) {
  const bytes = bytesOf(...lines)
  const said = yield* told(bytes)
  assert.deepStrictEqual(said, whole(bytes))
  return said
})

describe("a session is told as it is", () => {
  it.effect("titles, tag, prompts, mode, agent, pull request, directory, branch and times", () =>
    Effect.gen(function* () {
      const pullRequest = { type: "pr-link" as const, prNumber: 7, prUrl: "https://example.test/7", sessionId: "s" }
      const said = yield* summary(
        { type: "mode", mode: "normal", sessionId: "s" },
        message("user", "Why is it slow?", 1),
        message("assistant", "A loop.", 2, { gitBranch: "fix", version: "2.1.1" }),
        { type: "last-prompt", lastPrompt: "And now?", sessionId: "s" },
        { type: "custom-title", customTitle: "Slow page", sessionId: "s" },
        { type: "tag", tag: "web", sessionId: "s" },
        { type: "agent-name", agentName: "reviewer", sessionId: "s" },
        { type: "agent-setting", agentSetting: "review", sessionId: "s" },
        { type: "permission-mode", permissionMode: "plan", sessionId: "s" },
        pullRequest
      )
      assert.deepStrictEqual(said, {
        isEmpty: false,
        origin: "human",
        title: "Slow page",
        tag: "web",
        firstPrompt: "Why is it slow?",
        lastPrompt: "And now?",
        mode: "normal",
        permissionMode: "plan",
        agentName: "reviewer",
        agentSetting: "review",
        pullRequest,
        cwd: "/work",
        branch: "fix",
        version: "2.1.1",
        createdAt: time(1),
        updatedAt: time(2)
      })
    })
  )

  it.effect("what stands in the middle alone is found there", () =>
    Effect.gen(function* () {
      const said = yield* summary(
        message("user", "Begin.", 0),
        ...padding(200, 1),
        { type: "custom-title", customTitle: "Old", sessionId: "s" },
        { type: "custom-title", customTitle: "In the middle", sessionId: "s" },
        { sessionId: "s", tag: "odd order", type: "tag" },
        ...padding(200, 201)
      )
      assert.deepInclude(said, {
        title: "In the middle",
        tag: "odd order",
        firstPrompt: "Begin.",
        updatedAt: time(400)
      })
    })
  )

  it.effect("a title behind a torn line of the middle is found", () =>
    Effect.gen(function* () {
      const torn = '{"parentUuid":null,"type":"user","message":{"content":"torn he'
      const sessionId = "00000000-0000-4000-8000-000000000001"
      const title = JSON.stringify({ type: "custom-title", customTitle: "Behind", sessionId })
      const said = yield* summary(message("user", "Begin.", 0), ...padding(100, 1), torn + title, ...padding(100, 101))
      assert.strictEqual(said.title, "Behind")
    })
  )

  it.effect("what only the tail holds of a beginning is found there", () =>
    Effect.gen(function* () {
      const snapshot = { type: "file-history-snapshot", messageId: "m", snapshot: { held: "x".repeat(100_000) } }
      const said = yield* summary(
        snapshot,
        snapshot,
        message("user", "Begin.", 1, { cwd: "/first" }),
        message("assistant", "Yes.", 2),
        message("user", "Go on.", 3)
      )
      assert.deepInclude(said, { firstPrompt: "Begin.", cwd: "/first", origin: "human", createdAt: time(1) })
    })
  )

  it.effect("a value that is said again counts, however the one between was written", () =>
    Effect.gen(function* () {
      const tag = (value: string) => ({ type: "tag", tag: value, sessionId: "s" })
      const between = { sessionId: "s", tag: "B", type: "tag" }
      const middle = [...padding(100, 1), tag("A"), between, tag("A"), ...padding(100, 101)]
      assert.strictEqual((yield* summary(message("user", "Begin.", 0), ...middle)).tag, "A")
    })
  )

  it.effect("what only looks like a value is none, in the tail as in the middle", () =>
    Effect.gen(function* () {
      const sessionId = "00000000-0000-4000-8000-000000000001"
      const tag = (rest: string) => `{"type":"tag",${rest}}`
      const lines = [
        tag(`"tag":"control \u0001","sessionId":"${sessionId}"`),
        tag(`"tag":"esc\\ape","sessionId":"${sessionId}"`),
        tag(`"tag":"\\u12","sessionId":"${sessionId}"`),
        tag(`"tag":"\\u12zz"`),
        tag(`"tag":"twice","tag":"then"`),
        tag(`"tag":"twice","tag":7`),
        tag(`"tag":"another kind","type":"mode"`),
        tag(`"tag":"no object",`),
        tag(`"tag":"nested","more":{"tag":"within"}`),
        tag(`"tag":"two" "values":""`),
        `${tag('"tag":"closed twice"')}}`
      ]
      for (const line of lines) {
        for (const more of [[], padding(200, 10)]) {
          yield* summary(
            message("user", "Begin.", 0),
            ...padding(200, 1),
            tag('"tag":"good \\u00e9\\n"'),
            line,
            ...more
          )
        }
      }
    })
  )

  it.effect("a title glued behind another line is found", () =>
    Effect.gen(function* () {
      const title = JSON.stringify({ type: "custom-title", customTitle: "Glued", sessionId: "s" })
      const queued = JSON.stringify({ type: "queue-operation", operation: "dequeue", sessionId: "s" })
      const middle = [...padding(100, 1), queued + title, ...padding(100, 101)]
      assert.strictEqual((yield* summary(message("user", "Begin.", 0), ...middle)).title, "Glued")
    })
  )

  it.effect("a time that is none is not the last, nor the first", () =>
    Effect.gen(function* () {
      for (const timestamp of ["yesterday", "", "1"]) {
        const odd = (gitBranch: string) => message("assistant", "?", 0, { timestamp, gitBranch })
        const ends = [message("user", "Begin.", 1), message("assistant", "Yes.", 2)]
        const said = yield* summary(odd("a"), ...ends, odd("b"))
        assert.deepInclude(said, { createdAt: time(1), updatedAt: time(2), branch: "b" })
        const far = yield* summary(odd("a"), ...ends, ...padding(200, 3), odd("b"), message("user", "End.", 300))
        assert.deepInclude(far, { createdAt: time(1), updatedAt: time(300), branch: "main" })
      }
    })
  )

  it.effect("lines longer than a window hide nothing", () =>
    Effect.gen(function* () {
      const said = yield* summary(
        message("user", `A novel. ${"é".repeat(200_000)}`, 1),
        message("assistant", "y".repeat(300_000), 2, { gitBranch: "long" })
      )
      assert.isTrue(said.firstPrompt?.startsWith("A novel. é"))
      assert.deepInclude(said, { branch: "long", updatedAt: time(2), createdAt: time(1) })
    })
  )

  it.effect("a message written out of order is not the last, nor is a time that it quotes", () =>
    Effect.gen(function* () {
      const said = yield* summary(
        message("user", "Begin.", 1),
        message("assistant", "Late.", 9, { gitBranch: "late" }),
        message("user", "quotes", 5, { toolUseResult: { timestamp: time(50) }, gitBranch: "early" })
      )
      assert.deepInclude(said, { branch: "late", updatedAt: time(9) })
    })
  )

  it.effect("who held it goes by its first message, wherever that stands", () =>
    Effect.gen(function* () {
      const mode = { type: "mode", mode: "normal", sessionId: "s" }
      const origin = (more: object) => Effect.map(summary(mode, message("user", "Do.", 1, more)), (said) => said.origin)
      assert.strictEqual(yield* origin({ entrypoint: "cli" }), "human")
      assert.strictEqual(yield* origin({ entrypoint: "sdk-ts" }), "agent")
      assert.strictEqual(yield* origin({ sessionKind: "bg" }), "agent")
      assert.strictEqual(yield* origin({ isSidechain: true, agentId: "a1" }), "sidechain")
    })
  )

  it.effect("a log without a message is told as one, and one of nothing as empty", () =>
    Effect.gen(function* () {
      const titled = yield* summary({ type: "summary", summary: "Talk", leafUuid: "x" })
      assert.deepStrictEqual(titled, { isEmpty: false, title: "Talk" })
      assert.deepStrictEqual(yield* summary("\u0000\u0000", "[1]", "{"), { isEmpty: true })
    })
  )
})

describe("what is read", () => {
  const restated = [
    { type: "last-prompt", lastPrompt: "Now?", sessionId: "s" },
    { type: "custom-title", customTitle: "Title", sessionId: "s" },
    { type: "tag", tag: "t", sessionId: "s" },
    { type: "agent-name", agentName: "n", sessionId: "s" },
    { type: "agent-setting", agentSetting: "a", sessionId: "s" },
    { type: "mode", mode: "normal", sessionId: "s" },
    { type: "permission-mode", permissionMode: "plan", sessionId: "s" },
    { type: "pr-link", prNumber: 1, sessionId: "s" }
  ]

  /** How many bytes are read beside the two windows. */
  const between = Effect.fnUntraced(function* (bytes: Uint8Array, options?: SessionSummary.Options) {
    const port = yield* EntryLog.EntryLog
    yield* port.append(log, bytes)
    let count = 0
    const counting = EntryLog.EntryLog.of({
      ...port,
      reader: (log) =>
        Effect.map(port.reader(log), (reader) => ({
          ...reader,
          read: (offset, into) => Effect.tap(reader.read(offset, into), (bytes) => Effect.sync(() => (count += bytes)))
        }))
    })
    yield* Effect.provideService(SessionSummary.read(log, options), EntryLog.EntryLog, counting)
    return count
  }, Effect.provide(EntryLog.layerMemory))

  it.effect("two windows, however long the log, where all is said again near its end", () =>
    Effect.gen(function* () {
      for (const count of [200, 2000]) {
        const bytes = bytesOf(message("user", "Begin.", 0), ...padding(count, 1), ...restated)
        assert.strictEqual(yield* between(bytes), 0)
      }
    })
  )

  it.effect("the middle once, where the tail leaves something open; less where nobody looks for it", () =>
    Effect.gen(function* () {
      const untagged = restated.filter(({ type }) => type !== "tag")
      const bytes = bytesOf(message("user", "Begin.", 0), ...padding(400, 1), ...untagged)
      const read = yield* between(bytes)
      assert.isAbove(read, bytes.length - 2 * 65536)
      assert.isAtMost(read, bytes.length)
      assert.strictEqual(yield* between(bytes, { lookFor: ["custom-title"] }), 0)
    })
  )

  it.effect("no more of the middle than up to the first prompt, where only that is open", () =>
    Effect.gen(function* () {
      const late = bytesOf(...padding(100, 0), message("user", "At last.", 101), ...padding(2000, 102), ...restated)
      assert.isBelow(yield* between(late), 200_000)
    })
  )
})
