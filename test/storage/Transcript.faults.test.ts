/** What becomes of a session when its log, its redactor or its caller does what nobody expects. */
import { assert, describe, it } from "@effect/vitest"
import type * as Entry from "@reprise/domain/Entry"
import * as Message from "@reprise/domain/Message"
import * as Metadata from "@reprise/domain/Metadata"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as Redactor from "@reprise/storage/Redactor"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as FaultyEntryLog from "@reprise/storage/testing/FaultyEntryLog"
import * as Transcript from "@reprise/storage/Transcript"
import { Effect, Exit, Fiber, Layer, Scheduler, Scope } from "effect"
import { TestClock } from "effect/testing"
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "./temporary.ts"
import { textOf } from "./writers.ts"

const sessionId = "00000000-0000-4000-8000-000000000001"
const log = EntryLog.session("-w", sessionId)
const options = { sessionId, log, cwd: "/w", version: "2.1.0" }

type Json = { readonly [key: string]: any }

const linesOf = (text: string) =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Json => JSON.parse(line))

/** Runs over a log in memory that fails when told to. */
const inMemory = <A, E>(
  use: Effect.Effect<A, E, SessionWriter.SessionWriter | EntryLog.EntryLog | FaultyEntryLog.Faults | Scope.Scope>,
  writer: SessionWriter.Options = {}
) => {
  const faulty = FaultyEntryLog.layer.pipe(Layer.provide(EntryLog.layerMemory))
  return Effect.scoped(use).pipe(Effect.provide(SessionWriter.layerWith(writer).pipe(Layer.provideMerge(faulty))))
}

/** Runs over files; `file` is the log. */
const onFiles = <A, E>(
  use: (file: string) => Effect.Effect<A, E, SessionWriter.SessionWriter | EntryLog.EntryLog | Scope.Scope>
) =>
  Effect.gen(function* () {
    const projects = path.join(yield* Temporary.directory, "projects")
    const layer = SessionWriter.layer.pipe(Layer.provideMerge(FileEntryLog.layerWith({ projects })))
    return yield* Effect.scoped(use(EntryLog.pathOf(projects, log))).pipe(Effect.provide(layer))
  }).pipe(Effect.scoped)

describe("a session that ends while its log fails", () => {
  it.effect("ends, also when nothing more has room; who waited for room is told, and what was accepted is kept", () =>
    inMemory(
      Effect.gen(function* () {
        const { breakDown, mend } = yield* FaultyEntryLog.Faults
        const transcript = yield* Transcript.open(options)
        yield* transcript.append(Message.user("0"))
        yield* transcript.title("T")
        yield* transcript.flush
        yield* breakDown({ reason: "NoSpace" })
        for (let n = 1; n < 5; n++) yield* transcript.append(Message.user(`${n}`))
        const waiting = yield* Effect.forkChild(transcript.append(Message.user("late")), { startImmediately: true })
        const { unwritten } = yield* transcript.close
        assert.strictEqual(unwritten?._tag, "FlushError")
        yield* mend
        yield* TestClock.adjust("5 seconds")
        const told = yield* Effect.flip(Fiber.join(waiting))
        assert(told._tag === "AppendError")
        assert.strictEqual(told.reason, "closed")
        const contents = linesOf(yield* textOf(log)).flatMap(({ message }) => message?.content ?? [])
        assert.deepStrictEqual(contents, ["0", "1", "2", "3", "4"])
      }),
      { capacity: 4 }
    )
  )
})

describe("interruption", () => {
  it.effect("wherever opening is interrupted, the session is free again when the scope has ended", () =>
    onFiles((file) =>
      Effect.gen(function* () {
        const lock = file.replace(/jsonl$/, "lock")
        for (let turns = 0, isOpen = false; !isOpen; turns++) {
          const scope = yield* Scope.make()
          const opening = Scope.provide(Transcript.open(options), scope).pipe(
            Effect.provideService(Scheduler.MaxOpsBeforeYield, 3)
          )
          const fiber = yield* Effect.forkChild(opening)
          for (let turn = 0; turn < turns; turn++) yield* Effect.yieldNow
          isOpen = fiber.pollUnsafe() !== undefined
          yield* Fiber.interrupt(fiber)
          yield* Scope.close(scope, Exit.void)
          assert.isFalse(fs.existsSync(lock), `after ${turns} turns`)
          assert.isBelow(turns, 10_000)
        }
      })
    )
  )
})

describe("something else in the place of the log", () => {
  for (const [name, put, away] of [
    ["a directory", (file: string) => fs.mkdirSync(file), (file: string) => fs.rmdirSync(file)],
    ["a pipe", (file: string) => execFileSync("mkfifo", [file]), (file: string) => fs.rmSync(file)]
  ] as const) {
    it.effect.skipIf(process.platform === "win32")(`${name}: nothing is lost in it, and it is over when it goes`, () =>
      onFiles((file) =>
        Effect.gen(function* () {
          const transcript = yield* Transcript.open(options)
          yield* transcript.append(Message.user("0"))
          yield* transcript.flush
          fs.rmSync(file)
          put(file)
          yield* Effect.yieldNow
          yield* transcript.append(Message.user("1"))
          assert.strictEqual((yield* Effect.flip(transcript.flush))._tag, "FlushError")
          away(file)
          yield* transcript.append(Message.user("2"))
          yield* transcript.flush
          assert.deepStrictEqual(
            linesOf(fs.readFileSync(file, "utf8")).map(({ message }) => message.content),
            ["1", "2"]
          )
        })
      )
    )
  }

  it.effect("bytes of another program that are gone before they are read hold nobody up", () =>
    onFiles((file) =>
      Effect.gen(function* () {
        const transcript = yield* Transcript.open(options)
        yield* transcript.append(Message.user("0"))
        yield* transcript.flush
        fs.appendFileSync(file, `${JSON.stringify({ type: "user", uuid: "theirs" })}\n`)
        yield* transcript.append(Message.user("1"))
        fs.rmSync(path.dirname(file), { recursive: true })
        yield* transcript.append(Message.user("2"))
        yield* transcript.flush
        assert.include(fs.readFileSync(file, "utf8"), `"content":"2"`)
      })
    )
  )
})

describe("what cannot be written is refused, and nothing of it is accepted", () => {
  it.effect("an agent whose log no system can name", () =>
    onFiles(() =>
      Effect.gen(function* () {
        const transcript = yield* Transcript.open(options)
        yield* transcript.append(Message.user("0"))
        for (const [agentId, subPath] of [
          ["x".repeat(244), []],
          ["é".repeat(122), []],
          ["a", ["x".repeat(256)]],
          ["a", Array.from({ length: 20 }, () => "x".repeat(240))]
        ] as const) {
          const refused = yield* Effect.flip(transcript.append(Message.user("1"), { agentId, subPath }))
          assert.include(["AppendError", "EntryLogError"], refused._tag)
        }
        yield* transcript.append(Message.user("2"), { agentId: "x".repeat(243) })
        yield* transcript.flush
      })
    )
  )

  const withRedactor = <A, E>(
    redact: Redactor.Redact,
    use: (transcript: Transcript.Transcript) => Effect.Effect<A, E, EntryLog.EntryLog | Scope.Scope>
  ) => inMemory(Effect.flatMap(Transcript.open(options), use)).pipe(Effect.provideService(Redactor.Redactor, redact))
  const strict: Redactor.Redact = (text) => {
    if (text.includes("secret")) throw new Error("a secret")
    return text
  }

  it.effect("a compaction whose summary is refused cuts nothing", () =>
    withRedactor(strict, (transcript) =>
      Effect.gen(function* () {
        yield* transcript.append(Message.user("0"))
        const tail = yield* transcript.tail
        const refused = yield* Effect.flip(transcript.compact("the secret"))
        assert.strictEqual(refused._tag, "AppendError")
        assert.strictEqual(yield* transcript.tail, tail)
        yield* transcript.append(Message.user("1"))
        yield* transcript.flush
        const lines = linesOf(yield* textOf(log))
        assert.deepStrictEqual(
          lines.map(({ parentUuid, type }) => [type, parentUuid]),
          [
            ["user", null],
            ["user", tail]
          ]
        )
      })
    )
  )

  it.effect("a text for which the redactor gives none", () =>
    withRedactor(
      () => undefined as never,
      (transcript) =>
        Effect.gen(function* () {
          const refused = yield* Effect.flip(transcript.append(Message.user("0")))
          assert(refused._tag === "AppendError")
          assert.include(refused.what, "the redactor gave no text")
          assert.isNull(yield* transcript.tail)
        })
    )
  )

  it.effect("a title of another program that the redactor refuses is not said again, and stops nobody", () =>
    withRedactor(strict, (transcript) =>
      Effect.gen(function* () {
        yield* transcript.append(Message.user("0"))
        yield* transcript.flush
        yield* Transcript.annotate(log, Metadata.customTitle("the secret")).pipe(
          Effect.provideService(Redactor.Redactor, undefined)
        )
        yield* transcript.flush
        yield* transcript.tag("t")
        yield* transcript.append(Message.user("x".repeat(70_000)))
        const closed = yield* transcript.close
        assert.isUndefined(closed.unwritten)
        const kinds = linesOf(yield* textOf(log)).map(({ type }) => type)
        assert.deepStrictEqual(kinds, ["user", "custom-title", "tag", "user", "tag"])
      })
    )
  )

  it.effect("an entry without a JSON form", () =>
    inMemory(
      Effect.gen(function* () {
        const transcript = yield* Transcript.open(options)
        const entry = { type: "own", toJSON: () => undefined } as unknown as Entry.Unknown
        for (const _ of ["waiting", "in the log"]) {
          const refused = yield* Effect.flip(transcript.appendEntry(entry))
          assert(refused._tag === "AppendError")
          assert.strictEqual(refused.reason, "not-json")
          yield* transcript.append(Message.user("0"))
        }
      })
    )
  )
})

describe("what is written is what was given", () => {
  it.effect("also a key that has a meaning of its own in the language", () =>
    inMemory(
      Effect.gen(function* () {
        const transcript = yield* Transcript.open(options)
        const more = JSON.parse(`{"__proto__":{"isMeta":true}}`) as object
        const body = Object.defineProperties(Message.user("0"), Object.getOwnPropertyDescriptors(more))
        yield* transcript.append(body)
        yield* transcript.flush
        assert.include(yield* textOf(log), `"__proto__":{"isMeta":true}`)
      })
    )
  )

  it.effect("metadata of any length does not push itself out of the window, entry after entry", () =>
    inMemory(
      Effect.gen(function* () {
        const transcript = yield* Transcript.open(options)
        yield* transcript.append(Message.user("0"))
        for (const kind of ["title", "aiTitle", "tag", "agentName", "agentColor", "agentSetting", "mode"] as const) {
          yield* transcript[kind]("m".repeat(7_900))
        }
        for (const kind of ["permissionMode", "lastPrompt"] as const) yield* transcript[kind]("m".repeat(7_900))
        yield* transcript.flush
        const before = (yield* textOf(log)).length
        for (let n = 0; n < 20; n++) yield* transcript.append(Message.user("tiny"))
        yield* transcript.flush
        assert.isBelow((yield* textOf(log)).length - before, 2 * 65_536)
      })
    )
  )
})
