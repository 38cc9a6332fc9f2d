/** Several programs and one project: who asks for the lock is refused, who does not is noticed. */
import { assert, describe, it } from "@effect/vitest"
import * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as Message from "@reprise/domain/Message"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionLock from "@reprise/storage/SessionLock"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Transcript from "@reprise/storage/Transcript"
import { Effect, Fiber, Layer, Stream } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Child from "./child.ts"
import * as Temporary from "./temporary.ts"

const program = new URL("session-child.ts", import.meta.url)

const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`
const sessionId = id(1)
const options = { sessionId, cwd: "/work", version: "2.1.0" }

const place = Effect.map(Temporary.directory, (directory) => {
  const projects = path.join(directory, "projects")
  const fileOf = (session: string) => EntryLog.pathOf(projects, EntryLog.session("-work", session))
  const files = Layer.merge(FileEntryLog.layerWith({ projects }), SessionLock.layerWith({ projects }))
  return { projects, fileOf, file: fileOf(sessionId), layer: SessionWriter.layer.pipe(Layer.provideMerge(files)) }
})

const promptsOf = (file: string) =>
  Line.decodeAll(fs.readFileSync(file)).flatMap(({ entry }) => {
    assert.isFalse(entry instanceof Entry.Malformed)
    return Entry.is("user")(entry) ? [entry] : []
  })

const textOf = ({ message }: ReturnType<typeof promptsOf>[number]) => String(message.content).trim()

/** Eight programs; starting them is what takes time, so they are used for more than one promise. */
const programs = (projects: string) =>
  Effect.all(
    Array.from({ length: 8 }, () => Child.start(program, projects)),
    { concurrency: 8 }
  )

/** Each in turn has the session, the others are refused; every other one is killed, the rest close. */
const takeTurns = Effect.fnUntraced(function* (
  children: ReadonlyArray<Child.Child>,
  session: string,
  leave: (child: Child.Child, i: number) => Effect.Effect<unknown>
) {
  for (const [i, child] of children.entries()) {
    assert.strictEqual(yield* child.ask(`open ${session}`), "open")
    const others = children.slice(i + 1)
    const answers = yield* Effect.forEach(others, ({ ask }) => ask(`open ${session}`), { concurrency: 8 })
    for (const answer of answers) assert.strictEqual(answer, `SessionLocked ${child.pid}`)
    yield* child.ask(`append ${session} 5 0 p${i}`)
    yield* leave(child, i)
  }
})

const areInTurn = (file: string, count: number) => {
  const prompts = promptsOf(file)
  const expected = Array.from({ length: 5 * count }, (_, n) => `p${Math.floor(n / 5)} ${n % 5}`)
  assert.deepStrictEqual(prompts.map(textOf), expected)
  for (const [i, prompt] of prompts.entries()) assert.strictEqual(prompt.parentUuid, prompts[i - 1]?.uuid ?? null)
}

describe("programs that know the lock", () => {
  it.live(
    "eight on eight sessions: nothing in a wrong file, lost or torn; two, and eight, on one: one writes, the others are " +
      "refused and succeed after it closed or was killed",
    () =>
      Effect.gen(function* () {
        const { fileOf, projects } = yield* place
        const children = yield* programs(projects)
        const ids = children.map((_, i) => id(i + 10))
        yield* Effect.forEach(
          children,
          Effect.fnUntraced(function* (child, i) {
            yield* child.ask(`open ${ids[i]}`)
            for (let round = 0; round < 3; round++) yield* child.ask(`append ${ids[i]} 100 700 ${ids[i]}-${round}`)
          }),
          { concurrency: 8 }
        )
        for (const session of ids) {
          const prompts = promptsOf(fileOf(session))
          assert.deepStrictEqual(new Set(prompts.map((prompt) => prompt.sessionId)), new Set([session]))
          const rounds = [0, 1, 2].flatMap((round) => Array.from({ length: 100 }, (_, n) => `${session}-${round} ${n}`))
          assert.deepStrictEqual(
            prompts.map((prompt) => textOf(prompt).replace(/ x+$/, "")),
            rounds
          )
        }
        yield* takeTurns(children.slice(0, 2), id(2), (child) => child.ask(`close ${id(2)}`))
        areInTurn(fileOf(id(2)), 2)
        yield* takeTurns(children, id(8), (child, i) => (i % 2 === 0 ? child.kill : child.ask(`close ${id(8)}`)))
        areInTurn(fileOf(id(8)), 8)
      }).pipe(Effect.scoped),
    120_000
  )
})

describe("a program that knows no lock", () => {
  it.live("is told of, and the next message hangs on its last one", () =>
    Effect.gen(function* () {
      const { file, layer, projects } = yield* place
      const child = yield* Child.start(program, projects)
      yield* Effect.gen(function* () {
        const transcript = yield* Transcript.open(options)
        yield* transcript.append(Message.user("ours 0"))
        yield* transcript.flush
        const { size } = fs.statSync(file)
        yield* child.ask(`foreign ${sessionId} 3 theirs`)
        const after = fs.statSync(file).size
        assert.strictEqual((yield* transcript.append(Message.user("ours 1")))._tag, "Accepted")
        const again = yield* transcript.append(Message.user("theirs 1"), { uuid: "theirs-1" })
        assert.strictEqual(again._tag, "AlreadyThere")
        yield* transcript.append(Message.user("ours 2"))
        yield* transcript.endTurn()
        yield* transcript.flush
        const [found] = yield* transcript.foreign.pipe(Stream.take(1), Stream.runCollect)
        assert.deepStrictEqual([found?._tag, found?.ours, found?.size], ["ForeignWriter", size, after])
        assert.strictEqual(found?.path, file)
      }).pipe(Effect.scoped, Effect.provide(layer))
      const prompts = promptsOf(file)
      assert.deepStrictEqual(prompts.map(textOf), ["ours 0", "theirs 0", "theirs 1", "theirs 2", "ours 1", "ours 2"])
      assert.deepStrictEqual(
        prompts.slice(4).map((prompt) => prompt.parentUuid),
        ["theirs-2", prompts[4]!.uuid]
      )
    }).pipe(Effect.scoped)
  )

  it.live(
    "writes in the middle of ours: no line is torn, none is lost, none is written twice",
    () =>
      Effect.gen(function* () {
        const { file, layer, projects } = yield* place
        const child = yield* Child.start(program, projects)
        yield* Effect.gen(function* () {
          const transcript = yield* Transcript.open(options)
          const theirs = yield* Effect.forkChild(child.ask(`foreign ${sessionId} 300 theirs`), {
            startImmediately: true
          })
          for (let n = 0; n < 300; n++) {
            yield* transcript.append(Message.user(`ours ${n}`))
            if (n % 10 === 0) yield* transcript.flush
            if (n % 10 === 5) yield* Effect.sleep(1)
          }
          yield* Fiber.join(theirs)
          yield* transcript.append(Message.user("ours 300"))
        }).pipe(Effect.scoped, Effect.provide(layer))
        const prompts = promptsOf(file)
        assert.strictEqual(prompts.length, 601)
        assert.strictEqual(new Set(prompts.map(({ uuid }) => uuid)).size, 601)
        const own = prompts.filter((prompt) => textOf(prompt).startsWith("ours")).map(textOf)
        assert.deepStrictEqual(
          own,
          Array.from({ length: 301 }, (_, n) => `ours ${n}`)
        )
        // Each of ours hangs on a message that stands before it.
        const before = new Set<string | null | undefined>([null])
        for (const prompt of prompts) {
          assert.isTrue(before.has(prompt.parentUuid))
          before.add(prompt.uuid)
        }
        assert.strictEqual(prompts.at(-1)?.parentUuid, prompts.at(-2)?.uuid)
      }).pipe(Effect.scoped),
    120_000
  )

  it.live("only sets a title: nobody is told, and the title stays", () =>
    Effect.gen(function* () {
      const { file, layer, projects } = yield* place
      const child = yield* Child.start(program, projects)
      yield* Effect.gen(function* () {
        const transcript = yield* Transcript.open(options)
        yield* transcript.append(Message.user("ours"))
        yield* transcript.title("ours")
        yield* transcript.flush
        yield* child.ask(`annotate ${sessionId} theirs`)
        yield* transcript.append(Message.user("ours"))
        assert.strictEqual((yield* transcript.metadata).customTitle, "theirs")
        yield* transcript.flush
        yield* child.ask(`foreign ${sessionId} 1 theirs`)
        yield* transcript.append(Message.user("ours"))
        const found = yield* transcript.foreign.pipe(Stream.take(1), Stream.runCollect)
        assert.isAbove(found[0]!.ours, fs.readFileSync(file, "utf8").indexOf('"theirs"'))
      }).pipe(Effect.scoped, Effect.provide(layer))
    }).pipe(Effect.scoped)
  )

  it.live("cuts the log: we go on, and the tail shows the metadata again", () =>
    Effect.gen(function* () {
      const { file, layer } = yield* place
      yield* Effect.gen(function* () {
        const transcript = yield* Transcript.open(options)
        yield* transcript.append(Message.user("ours 0"))
        yield* transcript.title("ours")
        yield* transcript.flush
        fs.truncateSync(file, 10)
        yield* transcript.append(Message.user("ours 1"))
        yield* transcript.flush
        yield* transcript.append(Message.user("ours 2"))
      }).pipe(Effect.scoped, Effect.provide(layer))
      const lines = Line.decodeAll(fs.readFileSync(file)).map(({ entry }) => entry.type)
      assert.deepStrictEqual(lines, [undefined, "user", "custom-title", "user"])
    }).pipe(Effect.scoped)
  )
})

describe("a session that is open", () => {
  it.live("tells what is written to it, by itself and by others", () =>
    Effect.gen(function* () {
      const { file, layer } = yield* place
      yield* Effect.gen(function* () {
        const transcript = yield* Transcript.open(options)
        const told = yield* transcript.follow({ interval: 5 }).pipe(
          Stream.filter(({ _tag }) => _tag === "Entry"),
          Stream.take(2),
          Stream.runCollect,
          Effect.forkScoped
        )
        yield* transcript.append(Message.user("[one]"), { uuid: id(7) })
        yield* transcript.flush
        fs.appendFileSync(file, `${JSON.stringify({ type: "tag", tag: "theirs", sessionId })}\n`)
        const lines = (yield* Fiber.join(told)).map((one) => (one._tag === "Entry" ? one.located.entry : one))
        assert.deepStrictEqual(
          lines.map((entry) => ("uuid" in entry ? entry.uuid : "tag" in entry ? entry.tag : entry)),
          [id(7), "theirs"]
        )
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.scoped)
  )
})
