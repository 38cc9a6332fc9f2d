import { assert, describe, it } from "@effect/vitest"
import * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as Message from "@reprise/domain/Message"
import * as Metadata from "@reprise/domain/Metadata"
import * as Projection from "@reprise/domain/Projection"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as LineReader from "@reprise/storage/LineReader"
import * as MetadataTail from "@reprise/storage/MetadataTail"
import * as SessionLock from "@reprise/storage/SessionLock"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Transcript from "@reprise/storage/Transcript"
import { Effect, Fiber, Layer, Schema } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Child from "./child.ts"
import * as Temporary from "./temporary.ts"

const program = new URL("session-child.ts", import.meta.url)

const sessionId = "00000000-0000-4000-8000-000000000001"
const log = EntryLog.session("-work", sessionId)
const options = { sessionId, cwd: "/work", version: "2.1.0" }
const memory = SessionWriter.layer.pipe(Layer.provideMerge(EntryLog.layerMemory))
const kilobyte = Message.user("x".repeat(1000))

const bytesOf = (id: EntryLog.LogId) =>
  Effect.scoped(
    Effect.gen(function* () {
      const reader = yield* (yield* EntryLog.EntryLog).reader(id)
      const into = new Uint8Array(reader.size)
      yield* reader.read(0, into)
      return into
    })
  )

/** What a reader of the last 64 KiB knows: from the lines that lie wholly inside. */
const tailOf = (bytes: Uint8Array) => {
  const from = Math.max(0, bytes.length - MetadataTail.WINDOW)
  const whole = from === 0 ? 0 : bytes.indexOf(0x0a, from) + 1
  return Projection.fold(Projection.entries(SessionMetadata.projection), Line.decodeAll(bytes.subarray(whole)))
}

const linesOf = (bytes: Uint8Array, kind?: string) =>
  Line.decodeAll(bytes).filter(({ entry }) => kind === undefined || entry.type === kind)

/** Runs with logs in files, and a program of its own that sets their titles. */
const inFiles = <A, E>(
  use: (
    others: (title: string) => Effect.Effect<void, Transcript.AppendError | EntryLog.EntryLogError>
  ) => Effect.Effect<A, E, EntryLog.EntryLog | SessionWriter.SessionWriter>
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const projects = path.join(yield* Temporary.directory, "projects")
      const files = Layer.merge(FileEntryLog.layerWith({ projects }), SessionLock.layerWith({ projects }))
      const others = (title: string) =>
        Transcript.annotate(log, Metadata.customTitle(title)).pipe(
          Effect.provide(FileEntryLog.layerWith({ projects }), { local: true })
        )
      return yield* Effect.provide(use(others), SessionWriter.layer.pipe(Layer.provideMerge(files)))
    })
  )

describe("restating at the tail (FORMAT §6, §8)", () => {
  it.effect("what leaves the window is said again before it does, in order, and costs nothing while it is inside", () =>
    Effect.gen(function* () {
      const transcript = yield* Transcript.open(options)
      yield* transcript.append(kilobyte)
      const link = { prNumber: 7, prUrl: "u", prRepository: "r", timestamp: "t" }
      yield* transcript.pullRequest(link)
      yield* transcript.worktree({ worktreePath: "/w", worktreeName: "w" })
      yield* transcript.permissionMode("plan")
      yield* transcript.mode("normal")
      yield* transcript.agentSetting("reviewer")
      yield* transcript.agentColor("red")
      yield* transcript.agentName("ada")
      yield* transcript.tag("x")
      yield* transcript.aiTitle("ai")
      yield* transcript.title("T")
      yield* transcript.lastPrompt("hello")
      for (let i = 0; i < 40; i++) yield* transcript.append(kilobyte)
      yield* transcript.flush
      assert.strictEqual(linesOf(yield* bytesOf(log)).length, 1 + 11 + 40)
      for (let i = 0; i < 100; i++) {
        yield* transcript.append(kilobyte)
        yield* transcript.flush
        const tail = tailOf(yield* bytesOf(log))
        assert.deepStrictEqual(
          [tail.customTitle, tail.tag, tail.mode, tail.lastPrompt, tail.pullRequests.at(-1)?.prNumber],
          ["T", "x", "normal", "hello", 7]
        )
      }
      const lines = linesOf(yield* bytesOf(log)).map(({ entry }) => entry)
      const again = lines.findIndex(({ type }, i) => i > 12 && type !== "user")
      assert.deepStrictEqual(
        lines.slice(again, again + 11).map(({ type }) => type),
        [
          "last-prompt",
          "custom-title",
          "ai-title",
          "tag",
          "agent-name",
          "agent-color",
          "agent-setting",
          "mode",
          "permission-mode",
          "worktree-state",
          "pr-link"
        ]
      )
      const prompt = lines[again - 1]
      assert(prompt !== undefined && Entry.is("user")(prompt))
      assert.deepStrictEqual(lines[again], {
        ...Metadata.lastPrompt({ lastPrompt: "hello", leafUuid: prompt.uuid }),
        sessionId
      })
      assert.deepStrictEqual(lines[again + 10], { type: "pr-link", ...link, sessionId })
    }).pipe(Effect.scoped, Effect.provide(memory))
  )

  it.effect("a line longer than the window is followed by what it pushed out", () =>
    Effect.gen(function* () {
      const transcript = yield* Transcript.open(options)
      yield* transcript.append(kilobyte)
      yield* transcript.title("T")
      yield* transcript.append(Message.user("x".repeat(200_000)))
      yield* transcript.flush
      assert.strictEqual(tailOf(yield* bytesOf(log)).customTitle, "T")
      assert.strictEqual(linesOf(yield* bytesOf(log), "custom-title").length, 2)
    }).pipe(Effect.scoped, Effect.provide(memory))
  )

  it.effect("a value that would crowd out the conversation is not restated, a cleared one is", () =>
    Effect.gen(function* () {
      const transcript = yield* Transcript.open(options)
      yield* transcript.append(kilobyte)
      yield* transcript.lastPrompt("y".repeat(20_000))
      yield* transcript.title("")
      for (let i = 0; i < 200; i++) yield* transcript.append(kilobyte)
      yield* transcript.flush
      const bytes = yield* bytesOf(log)
      assert.strictEqual(linesOf(bytes, "last-prompt").length, 1)
      assert.strictEqual(tailOf(bytes).customTitle, "")
    }).pipe(Effect.scoped, Effect.provide(memory))
  )

  const Step = Schema.Union([
    Schema.Struct({ kind: Schema.Literals(["title", "tag", "mode"]), value: Schema.String }),
    Schema.Struct({
      kind: Schema.Literal("append"),
      bytes: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 90_000 }))
    }),
    Schema.Struct({ kind: Schema.Literal("other"), title: Schema.String }),
    Schema.Struct({ kind: Schema.Literal("flush") }),
    Schema.Struct({ kind: Schema.Literal("reopen") }),
    Schema.Struct({ kind: Schema.Literal("sync") })
  ])

  it.effect.prop(
    "whatever is set here and by others: what is in the log's tail is what the whole log says",
    [Schema.Array(Step)],
    ([steps]) =>
      inFiles((others) =>
        Effect.gen(function* () {
          const port = yield* EntryLog.EntryLog
          let transcript = yield* Transcript.open(options)
          yield* transcript.append(kilobyte)
          yield* transcript.flush
          let isPending = false
          for (const step of steps) {
            // Of a title that waits to be written and one of others, ours is the later one in the log.
            if (step.kind === "other" && isPending) yield* transcript.flush
            isPending = step.kind === "title" || (isPending && step.kind !== "other")
            if (step.kind === "append") yield* transcript.append(Message.user("x".repeat(step.bytes)))
            else if (step.kind === "other") yield* others(step.title.slice(0, 99))
            else if (step.kind === "flush") yield* transcript.flush
            else if (step.kind === "sync") yield* transcript.flushSync
            else if (step.kind === "reopen") {
              yield* transcript.close
              transcript = yield* Transcript.adopt(options)
            } else yield* transcript[step.kind](step.value.slice(0, 99))
          }
          const { unwritten } = yield* transcript.close
          assert.isUndefined(unwritten)
          const bytes = yield* bytesOf(log)
          const whole = Projection.fold(Projection.entries(SessionMetadata.projection), Line.decodeAll(bytes))
          const { customTitle, mode, tag } = tailOf(bytes)
          assert.deepStrictEqual([customTitle, mode, tag], [whole.customTitle, whole.mode, whole.tag])
          const titles = steps.flatMap((step) =>
            step.kind === "other" ? [step.title] : step.kind === "title" ? [step.value] : []
          )
          assert.strictEqual(whole.customTitle, titles.at(-1)?.slice(0, 99))
          const { size } = yield* port.stat(log)
          yield* Effect.scoped(Transcript.adopt(options))
          assert.strictEqual((yield* port.stat(log)).size, size)
        }).pipe(Effect.scoped)
      ),
    { arbitrary: { runs: 30 } }
  )
})

describe("taking over a session", () => {
  const recorded = Effect.gen(function* () {
    const transcript = yield* Transcript.open(options)
    yield* transcript.append(kilobyte)
    yield* transcript.title("old")
    yield* transcript.tag("t")
  }).pipe(Effect.scoped)
  const loaded = Effect.gen(function* () {
    const metadata = yield* LineReader.fold(log, Projection.entries(SessionMetadata.projection))
    return { metadata, loadedSize: (yield* (yield* EntryLog.EntryLog).stat(log)).size }
  })
  const titleNow = Effect.map(bytesOf(log), (bytes) => tailOf(bytes).customTitle)

  it.effect("ten rounds of taking over and leaving add no byte", () =>
    Effect.gen(function* () {
      yield* recorded
      const before = yield* bytesOf(log)
      for (let round = 0; round < 10; round++) {
        yield* Effect.scoped(Transcript.adopt({ ...options, ...(yield* loaded) }))
      }
      assert.deepStrictEqual(yield* bytesOf(log), before)
    }).pipe(Effect.provide(memory))
  )

  it.effect("a title that the program set between loading and taking over survives, without a message", () =>
    Effect.gen(function* () {
      yield* recorded
      const { loadedSize, metadata } = yield* loaded
      yield* Effect.scoped(Transcript.adopt({ ...options, loadedSize, metadata: { ...metadata, customTitle: "new" } }))
      assert.strictEqual(yield* titleNow, "new")
    }).pipe(Effect.provide(memory))
  )

  it.effect("a title that another program wrote between loading and taking over survives", () =>
    Effect.gen(function* () {
      yield* recorded
      const { loadedSize, metadata } = yield* loaded
      yield* Transcript.annotate(log, Metadata.customTitle("theirs"))
      const own = { ...metadata, customTitle: "new", tag: "new" }
      yield* Effect.scoped(Transcript.adopt({ ...options, loadedSize, metadata: own }))
      const tail = tailOf(yield* bytesOf(log))
      assert.deepStrictEqual([tail.customTitle, tail.tag], ["theirs", "new"])
    }).pipe(Effect.provide(memory))
  )

  it.effect("a title that is set after taking over survives an exit without a message", () =>
    Effect.gen(function* () {
      yield* recorded
      yield* Effect.scoped(Effect.flatMap(Transcript.adopt(options), (transcript) => transcript.title("new")))
      assert.strictEqual(yield* titleNow, "new")
    }).pipe(Effect.provide(memory))
  )

  it.effect("what the window does not show any more is said again at once", () =>
    Effect.gen(function* () {
      yield* recorded
      const port = yield* EntryLog.EntryLog
      const line = Line.encode({ ...Message.user("x".repeat(90_000)), uuid: "u", parentUuid: null })
      yield* port.append(log, new TextEncoder().encode(`${line}\n`))
      assert.isUndefined(yield* titleNow)
      const transcript = yield* Transcript.adopt(options)
      yield* transcript.flush
      assert.strictEqual(yield* titleNow, "old")
    }).pipe(Effect.scoped, Effect.provide(memory))
  )

  it.effect("there must be something to take over", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Effect.scoped(Transcript.adopt(options)))
      assert(error._tag === "EntryLogError")
      assert.strictEqual(error.reason, "NotFound")
      // And the session is free again.
      yield* Effect.scoped(Transcript.open(options))
    }).pipe(Effect.provide(memory))
  )

  it.effect("without the lock nothing is added but what is set", () =>
    Effect.gen(function* () {
      yield* recorded
      const before = yield* bytesOf(log)
      const own = { ...(yield* loaded).metadata, customTitle: "new" }
      yield* Effect.scoped(Transcript.adopt({ ...options, lock: false, metadata: own }))
      assert.deepStrictEqual(yield* bytesOf(log), before)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const reader = yield* Transcript.open({ ...options, lock: false })
          const refused = yield* Effect.flip(reader.append(kilobyte))
          assert(refused._tag === "AppendError")
          assert.strictEqual(refused.reason, "unlocked")
          yield* reader.title("new")
        })
      )
      assert.strictEqual(yield* titleNow, "new")
    }).pipe(Effect.provide(memory))
  )
})

describe("the tail of a session that is killed", () => {
  it.live(
    "title, tag and mode set, 10 MB, a foreign title, 200 KB, kill -9: the last 64 KiB hold the foreign title and our tag and mode",
    () =>
      Effect.gen(function* () {
        const projects = path.join(yield* Temporary.directory, "projects")
        const file = EntryLog.pathOf(projects, log)
        const child = yield* Child.start(program, projects)
        yield* child.ask(`open ${sessionId}`)
        yield* child.ask(`append ${sessionId} 1 100 first`)
        for (const [kind, value] of [
          ["title", "ours"],
          ["tag", "t"],
          ["mode", "m"]
        ] as const) {
          assert.strictEqual(yield* child.ask(`set ${sessionId} ${kind} ${value}`), "Accepted")
        }
        yield* child.ask(`append ${sessionId} 5000 2000 before`)
        assert.isAbove(fs.statSync(file).size, 10_000_000)
        assert.strictEqual(tailOf(fs.readFileSync(file)).customTitle, "ours")
        yield* Transcript.annotate(log, Metadata.customTitle("theirs")).pipe(
          Effect.provide(FileEntryLog.layerWith({ projects }))
        )
        yield* child.ask(`append ${sessionId} 100 2000 after`)
        yield* child.kill
        const tail = tailOf(fs.readFileSync(file))
        assert.deepStrictEqual([tail.customTitle, tail.tag, tail.mode], ["theirs", "t", "m"])
      }).pipe(Effect.scoped)
  )

  it.live("the same while the child writes at full speed, and at any byte of the log from then on", () =>
    Effect.gen(function* () {
      const projects = path.join(yield* Temporary.directory, "projects")
      const file = EntryLog.pathOf(projects, log)
      const child = yield* Child.start(program, projects)
      yield* child.ask(`open ${sessionId}`)
      yield* child.ask(`append ${sessionId} 1 100 first`)
      yield* child.ask(`set ${sessionId} title ours`)
      yield* child.ask(`set ${sessionId} tag t`)
      const running = yield* Effect.forkChild(child.ask(`append ${sessionId} 5000 2000 run`), {
        startImmediately: true
      })
      while (fs.statSync(file).size < 3_000_000) yield* Effect.sleep(1)
      yield* Transcript.annotate(log, Metadata.customTitle("theirs")).pipe(
        Effect.provide(FileEntryLog.layerWith({ projects }))
      )
      yield* Fiber.join(running)
      yield* child.ask(`append ${sessionId} 100 2000 after`)
      yield* child.kill
      const bytes = fs.readFileSync(file)
      const tail = tailOf(bytes)
      assert.deepStrictEqual([tail.customTitle, tail.tag], ["theirs", "t"])
      for (let end = 1_000_000; end <= bytes.length; end += 77_777) {
        assert.strictEqual(tailOf(bytes.subarray(0, end)).tag, "t")
        assert.isDefined(tailOf(bytes.subarray(0, end)).customTitle)
      }
    }).pipe(Effect.scoped)
  )
})
