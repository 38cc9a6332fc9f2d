import { assert, describe, it } from "@effect/vitest"
import * as Lane from "@reprise/domain/Lane"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import type * as SessionCatalog from "@reprise/storage/SessionCatalog"
import * as TranscriptSearch from "@reprise/storage/TranscriptSearch"
import { Arbitrary, Effect, Schema, Stream } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "./temporary.ts"

const sessionId = "00000000-0000-4000-8000-000000000001"
const log = EntryLog.session("-a", sessionId)

const user = (content: unknown, more: object = {}) => ({
  type: "user",
  uuid: "u",
  parentUuid: null,
  message: { content },
  ...more
})
const linesOf = (...lines: ReadonlyArray<object | string>): Uint8Array =>
  new TextEncoder().encode(lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""))

const collect = (text: string, options?: TranscriptSearch.Options) =>
  Stream.runCollect(TranscriptSearch.search(text, options))
const isHit = (told: TranscriptSearch.Told): told is TranscriptSearch.Hit => told._tag === "Hit"

/** Numbers of the lines in which a text is found. */
const found = (text: string, ...lines: ReadonlyArray<object | string>) =>
  Effect.gen(function* () {
    yield* (yield* EntryLog.EntryLog).append(log, linesOf(...lines))
    return (yield* collect(text)).filter(isHit).map(({ at }) => at.line)
  }).pipe(Effect.provide(EntryLog.layerMemory))

const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`

/** Every letter in a string as an escape of four digits. */
const escaped = (value: object): string =>
  JSON.stringify(value).replace(/"(?:\\.|[^"\\])*"/g, (string) =>
    string.replace(/\\.|[A-Za-z]|\P{ASCII}/gu, (char) =>
      char.startsWith("\\") ? char : char.split("").map(escape).join("")
    )
  )

describe("a text is found as people see it", () => {
  it.effect("in any case", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* found("SLOW page", user("a"), user("the slow Page"), user("slowpage")), [2])
      assert.deepStrictEqual(yield* found("ÉCOLE", user("École"), user("école"), user("ecole")), [1, 2])
      assert.deepStrictEqual(yield* found("οδος", user("ΟΔΟΣ")), [1])
      assert.deepStrictEqual(yield* found("5 k", user("5 \u212a")), [1])
    })
  )

  it.effect("however JSON spelled it", () =>
    Effect.gen(function* () {
      for (const text of ["café", "plain", "日本語", "😀 done", 'say "hi"', "C:\\temp", "a/b", "tab\there"]) {
        const line = user(`before ${text} behind`)
        const spelled = [JSON.stringify(line), escaped(line), JSON.stringify(line).replaceAll("/", "\\/")]
        assert.deepStrictEqual(yield* found(text, ...spelled, user("nothing")), [1, 2, 3], text)
      }
    })
  )

  it.effect("composed or not, and across line breaks", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* found("cafe\u0301", user("caf\u00e9"), user("cafe\u0301"), user("cafe")), [1, 2])
      assert.deepStrictEqual(yield* found("two words", user("two\n  words"), user("two\u00a0words")), [1, 2])
      assert.deepStrictEqual(yield* found("  two words ", user("two words")), [1])
    })
  )

  it.effect("with what patterns are made of", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* found("a.*(b", user("a.*(b"), user("axx(b")), [1])
      assert.deepStrictEqual(yield* found("\\u0041", user("\\u0041"), user("A")), [1])
      assert.deepStrictEqual(yield* found('"', user('a "quote"'), user("none")), [1])
    })
  )

  it.effect("of any length", () =>
    Effect.gen(function* () {
      const long = "slow page ".repeat(10) + "x".repeat(100_000)
      assert.deepStrictEqual(yield* found(long, user(long.slice(1)), user(`a ${long.toUpperCase()}`)), [2])
    })
  )

  it.effect("a text of gaps is found nowhere", () =>
    Effect.map(found(" \n", user("a b")), (lines) => assert.deepStrictEqual(lines, []))
  )

  const letter = Schema.Literals([
    "a",
    "K",
    "i",
    "é",
    "E\u0301",
    "ß",
    "Σ",
    "ς",
    "İ",
    "\u212a",
    "日",
    "😀",
    " ",
    "\n",
    '"',
    "\\",
    "/",
    ";",
    "`"
  ])
  const text = Arbitrary.map(Arbitrary.array(Arbitrary.schema(letter), { minLength: 1, maxLength: 6 }), (letters) =>
    letters.join("")
  )
  it.effect.prop(
    "the bytes never hide what the decoded text holds",
    { sought: text, said: Arbitrary.array(text, { minLength: 1, maxLength: 8 }) },
    ({ said, sought }) =>
      Effect.gen(function* () {
        const same = (text: string) => text.normalize("NFC").replace(/\s+/g, " ").toLowerCase().replaceAll("ς", "σ")
        if (same(sought).trim() === "") return
        const expected = said.flatMap((text, i) => (same(text).includes(same(sought).trim()) ? [i + 1] : []))
        assert.deepStrictEqual(yield* found(sought, ...said.map((text) => user(text))), expected)
        assert.deepStrictEqual(yield* found(sought, ...said.map((text) => escaped(user(text)))), expected)
      }),
    { arbitrary: { runs: Number(process.env["RUNS"] ?? 400), seed: process.env["SEED"] ?? "search" } }
  )
})

describe("where it is looked for", () => {
  it.effect("in what was said, thought, called for and answered, and in titles; not in ids, paths and pictures", () =>
    Effect.gen(function* () {
      const call = { type: "tool_use", id: "needle", name: "Bash", input: { commands: [{ command: "grep needle" }] } }
      const result = { type: "tool_result", tool_use_id: "c", content: [{ type: "text", text: "a needle" }] }
      const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "needle" } }
      const assistant = (block: object) => ({ ...user([block]), type: "assistant" })
      const lines = yield* found(
        "needle",
        user([{ type: "text", text: "needle" }]),
        assistant({ type: "thinking", thinking: "needle", signature: "s" }),
        assistant(call),
        user([result]),
        { type: "custom-title", customTitle: "needle", sessionId: "s" },
        { type: "system", uuid: "s", parentUuid: null, subtype: "informational", content: "needle" },
        user([image]),
        assistant({ type: "thinking", thinking: "", signature: "needle" }),
        user("none", { cwd: "/needle", uuid: "needle" })
      )
      assert.deepStrictEqual(lines, [1, 2, 3, 4, 5, 6])
    })
  )

  it.effect("a hit has its place, its entry, and the text around it", () =>
    Effect.gen(function* () {
      const bytes = linesOf(
        user("first"),
        "{torn",
        user(`${"x".repeat(100)} The\nNeedle ${"y".repeat(100)}`, { uuid: "here" })
      )
      yield* (yield* EntryLog.EntryLog).append(log, bytes)
      const [hit, ...others] = yield* collect("the needle")
      assert.deepStrictEqual(others, [])
      assert.isTrue(isHit(hit!))
      const { at, entry, excerpt, log: where, start, end } = hit as TranscriptSearch.Hit
      assert.strictEqual(at.line, 3)
      const line = new TextDecoder().decode(bytes.subarray(at.byteStart, at.byteEnd))
      assert.strictEqual(JSON.parse(line).uuid, "here")
      assert.deepInclude(entry, { uuid: "here" })
      assert.deepStrictEqual(where, log)
      assert.strictEqual(excerpt.slice(start, end), "The Needle")
      assert.match(excerpt, /^…x{59} The Needle y{59}…$/)
    }).pipe(Effect.provide(EntryLog.layerMemory))
  )

  it.effect("in lines of any length, at any place of a read", () =>
    Effect.gen(function* () {
      const long = (size: number) => user(`${"z".repeat(size)} needle`)
      const lines = [long(10), long(262_000), long(262_144), long(900_000), user("none"), long(3), user("needle")]
      assert.deepStrictEqual(yield* found("needle", ...lines), [1, 2, 3, 4, 6, 7])
      const unended = linesOf(user("a"), user("needle")).slice(0, -1)
      assert.deepStrictEqual(yield* found("needle", new TextDecoder().decode(unended)), [2])
    })
  )
})

describe("the logs", () => {
  const withLogs = <A, E>(use: (projects: string) => Effect.Effect<A, E, EntryLog.EntryLog>) =>
    Effect.flatMap(Temporary.directory, (directory) => {
      const projects = path.join(fs.realpathSync(directory), "projects")
      return Effect.provide(use(projects), FileEntryLog.layerWith({ projects }))
    })

  it.effect("newest first, with those of sidechains, and what is passed by", () =>
    withLogs((projects) =>
      Effect.gen(function* () {
        const put = (file: string, second: number) => {
          const at = path.join(projects, file)
          fs.mkdirSync(path.dirname(at), { recursive: true })
          fs.writeFileSync(at, linesOf(user("needle")))
          fs.utimesSync(at, second, second)
        }
        const other = sessionId.replace(/1$/, "2")
        put(`-a/${sessionId}.jsonl`, 10)
        put(`-b/${other}.jsonl`, 20)
        put(`-a/${sessionId}/subagents/deep/agent-a1.jsonl`, 30)
        put("-a/notes.jsonl", 40)
        const told = yield* collect("needle")
        assert.deepStrictEqual(
          told.map((one) => [one._tag, path.relative(projects, one.path)]),
          [
            ["Hit", `-b/${other}.jsonl`],
            ["Hit", `-a/${sessionId}.jsonl`],
            ["Hit", `-a/${sessionId}/subagents/deep/agent-a1.jsonl`],
            ["Passed", "-a/notes.jsonl"]
          ]
        )
        assert.deepStrictEqual(
          (told[2] as TranscriptSearch.Hit).log,
          EntryLog.withLane(log, Lane.sidechain("a1", ["deep"]))
        )
        const mains = yield* collect("needle", { sidechains: false })
        assert.deepStrictEqual(mains.filter(isHit).length, 2)
      })
    )
  )

  it.effect("one that cannot be read is told, and hides nothing; reading is told too", () =>
    withLogs((projects) =>
      Effect.gen(function* () {
        const port = yield* EntryLog.EntryLog
        const other = EntryLog.session("-a", sessionId.replace(/1$/, "2"))
        for (const one of [log, other]) yield* port.append(one, linesOf(user("needle")))
        const error = new EntryLog.EntryLogError({ operation: "read", path: "/x", reason: "Denied" })
        const reader: typeof port.reader = (one) =>
          one._tag === "Session" && one.sessionId === sessionId ? Effect.fail(error) : port.reader(one)
        const heard: Array<SessionCatalog.Progress> = []
        const watch = (progress: SessionCatalog.Progress) => Effect.sync(() => void heard.push(progress))
        const told = yield* Effect.provideService(collect("needle", { watch }), EntryLog.EntryLog, { ...port, reader })
        assert.deepStrictEqual(told.map((one) => (one._tag === "Hit" ? one._tag : one.error?.reason)).toSorted(), [
          "Denied",
          "Hit"
        ])
        const size = linesOf(user("needle")).length
        assert.deepStrictEqual(heard, [{ done: size, total: 2 * size }])
        assert.isTrue(fs.existsSync(projects))
      })
    )
  )

  it.effect("as few as are asked for are read", () =>
    Effect.gen(function* () {
      const port = yield* EntryLog.EntryLog
      for (let n = 1; n < 9; n++)
        yield* port.append(EntryLog.session("-a", sessionId.replace(/1$/, String(n))), linesOf(user("needle")))
      let opened = 0
      const reader: typeof port.reader = (one) => Effect.suspend(() => (opened++, port.reader(one)))
      const first = Stream.runCollect(Stream.take(TranscriptSearch.search("needle"), 2))
      assert.strictEqual((yield* Effect.provideService(first, EntryLog.EntryLog, { ...port, reader })).length, 2)
      assert.isBelow(opened, 8)
    }).pipe(Effect.provide(EntryLog.layerMemory))
  )
})
