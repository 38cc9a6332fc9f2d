/** Forks on real files: what is written, what is not touched, and how much is held meanwhile. */
import { assert, describe, it } from "@effect/vitest"
import * as Line from "@reprise/domain/Line"
import * as Notation from "@reprise/domain/testing/Notation"
import * as ForkPlan from "@reprise/recovery/ForkPlan"
import * as ModelMessages from "@reprise/recovery/ModelMessages"
import * as Recovery from "@reprise/recovery/Recovery"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionFork from "@reprise/storage/SessionFork"
import * as FaultyEntryLog from "@reprise/storage/testing/FaultyEntryLog"
import { Effect, Exit, Fiber, Layer } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "./temporary.ts"

const sessionId = "0f0f0f0f-0000-4000-8000-000000000001"
const target = "0f0f0f0f-0000-4000-8000-000000000002"
const idOf = SessionFork.idsOf(target)

const forkPlan = (at?: string) => ForkPlan.projection(at === undefined ? {} : { at })

/** A session in files, and forks of it. */
const placed = (log: string | Uint8Array, sidechains: Record<string, string> = {}) =>
  Effect.map(Temporary.directory, (directory) => {
    const project = path.join(directory, "-work")
    fs.mkdirSync(project, { mode: 0o700 })
    const source = EntryLog.session(project, sessionId)
    const fileOf = (name: string) => path.join(project, name)
    fs.writeFileSync(fileOf(`${sessionId}.jsonl`), log, { mode: 0o600 })
    for (const [agent, text] of Object.entries(sidechains)) {
      const file = fileOf(`${sessionId}/subagents/${agent}`)
      fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
      fs.writeFileSync(file, text, { mode: 0o600 })
    }
    const fork = (at?: string, more: Partial<SessionFork.Options> = {}) =>
      Effect.provide(
        SessionFork.fork(source, { plan: forkPlan(at), sessionId: target, ...more }),
        FileEntryLog.layerWith({ projects: directory })
      )
    const read = (id = target) => new Uint8Array(fs.readFileSync(fileOf(`${id}.jsonl`)))
    const lines = (id = target) => new TextDecoder().decode(read(id)).trimEnd().split("\n")
    return { directory, project, fileOf, fork, read, lines }
  })

const stateOf = (bytes: Uint8Array, at?: string) =>
  Recovery.fold(Line.decodeAll(bytes), at === undefined ? {} : { leaf: { uuid: at } })
const shown = (bytes: Uint8Array, at?: string) => stateOf(bytes, at).conversation.map(({ uuid }) => uuid)

describe("SessionFork", () => {
  it.effect("copies the chain up to a message, says where from, and leaves the source as it was", () =>
    Effect.gen(function* () {
      const log = Notation.bytes("u1-u2-u3-u4-u5 u3-u6-u7-u8")
      const { fileOf, fork, lines, read } = yield* placed(log)
      const file = fileOf(`${sessionId}.jsonl`)
      fs.utimesSync(file, 1, 1)
      const forked = yield* fork()
      assert.deepStrictEqual(shown(read()), ["u1", "u2", "u3", "u6", "u7", "u8"].map(idOf))
      assert.deepInclude(forked, { sessionId: target, leaf: idOf("u8"), messages: 6, sidechains: 0 })
      assert.deepStrictEqual(forked.from, { sessionId, messageUuid: "u8" })
      assert.strictEqual(stateOf(read()).metadata.title, forked.title)
      for (const line of lines()) assert.strictEqual(JSON.parse(line).sessionId, target)
      assert.deepStrictEqual(
        lines().flatMap((line) => JSON.parse(line).forkedFrom ?? []),
        ["u1", "u2", "u3", "u6", "u7", "u8"].map((messageUuid) => ({ sessionId, messageUuid }))
      )
      const text = new TextDecoder().decode(read())
      assert.notInclude(text, '"u4"')
      assert.notInclude(text, '"u5"')
      assert.deepStrictEqual([read(sessionId), fs.statSync(file).mtimeMs], [log, 1000])
      assert.strictEqual(fs.statSync(fileOf(`${target}.jsonl`)).mode & 0o777, 0o600)
      assert.isFalse(fs.existsSync(fileOf(`${target}.lock`)))
      const other = yield* fork("u5", { sessionId: "0f0f0f0f-0000-4000-8000-000000000003" })
      assert.strictEqual(other.messages, 5)
    }).pipe(Effect.scoped)
  )

  it.effect(
    "moves texts as bytes: numbers, escapes, lone halves, repeated keys, unknown keys, bytes that are no UTF-8",
    () =>
      Effect.gen(function* () {
        const odd = String.raw`"message":{"role":"user","content":"\/ caf\u00e9 \ud83c … \udfaf \u0000","n":1.0,"big":9007199254740993,"n":2}`
        const first = `{"type":"user","uuid":"u1","parentUuid":null,${odd},"newField":{"keep":[1.0]},"z":1,"z":2}`
        const link = `{"type":"future-node","uuid":"n1","parentUuid":"u1","payload":"x","n":1.50}`
        const log = Buffer.concat([
          Buffer.from(`${first}\n${link}\n{"type":"user","uuid":"u2","parentUuid":"n1","message":{"content":"`),
          Buffer.from([0xff, 0xfe]),
          Buffer.from(`"}}`)
        ])
        const { fork, read } = yield* placed(log)
        yield* fork()
        const copied = Buffer.from(read()).toString("latin1")
        const of = (text: string) => Buffer.from(text).toString("latin1")
        const from = (uuid: string) =>
          `"sessionId":"${target}","forkedFrom":{"sessionId":"${sessionId}","messageUuid":"${uuid}"}}\n`
        const body = of(`${odd},"newField":{"keep":[1.0]},"z":1,"z":2`)
        assert.strictEqual(
          copied.slice(0, copied.indexOf('{"type":"last-prompt"')),
          `{"type":"user","uuid":"${idOf("u1")}","parentUuid":null,${body},${from("u1")}` +
            `{"type":"future-node","uuid":"${idOf("n1")}","parentUuid":"${idOf("u1")}","payload":"x","n":1.50,${from("n1")}` +
            `{"type":"user","uuid":"${idOf("u2")}","parentUuid":"${idOf("n1")}","message":{"content":"\u00ff\u00fe"},${from("u2")}`
        )
      }).pipe(Effect.scoped)
  )

  it.effect("takes one of two entries that are glued on a line, and none of what is torn", () =>
    Effect.gen(function* () {
      const entry = (uuid: string, parentUuid: string | null) =>
        JSON.stringify({ type: "user", uuid, parentUuid, message: { content: uuid } })
      const { fork, read } = yield* placed(
        `${entry("a", null)}${entry("b", "a")}\n{"type":"user","uu\n${entry("c", "b")}`
      )
      yield* fork()
      assert.deepStrictEqual(shown(read()), ["a", "b", "c"].map(idOf))
      assert.deepStrictEqual(
        stateOf(read()).findings.filter(({ kind }) => kind !== "foreign-session"),
        []
      )
    }).pipe(Effect.scoped)
  )

  it.effect("takes sidechains with it, repeats and all, with what their files say of them", () =>
    Effect.gen(function* () {
      const side = new TextDecoder().decode(Notation.bytes("u1~abc-s1~abc u1~abc-s2~abc"))
      const { fileOf, fork } = yield* placed(Notation.bytes("u1-a1"), {
        "agent-abc.jsonl": side,
        "agent-abc.meta.json": '{"agentType":"x"}',
        "workflows/wf_1/agent-def.jsonl": "",
        "workflows/wf_1/journal.jsonl": "{}\n"
      })
      const forked = yield* fork()
      assert.strictEqual(forked.sidechains, 2)
      const copied = fs.readFileSync(fileOf(`${target}/subagents/agent-abc.jsonl`), "utf8")
      const ids = (text: string) =>
        text
          .trimEnd()
          .split("\n")
          .map((line) => {
            const { parentUuid, uuid } = JSON.parse(line)
            return [uuid, parentUuid]
          })
      assert.deepStrictEqual(
        ids(copied),
        ids(side).map((pair) => pair.map((id) => (id === null ? null : idOf(id))))
      )
      for (const line of copied.trimEnd().split("\n")) assert.strictEqual(JSON.parse(line).sessionId, target)
      const meta = fileOf(`${target}/subagents/agent-abc.meta.json`)
      assert.deepStrictEqual(
        [fs.readFileSync(meta, "utf8"), fs.statSync(meta).mode & 0o777],
        ['{"agentType":"x"}', 0o600]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("forks a fork, which then names the fork", () =>
    Effect.gen(function* () {
      const { directory, fork, lines, project, read } = yield* placed(
        Notation.bytes("u1-a1@m(A)-a2@m(B) a1-rA a2-rB-a3")
      )
      yield* fork()
      const third = "0f0f0f0f-0000-4000-8000-000000000004"
      const again = SessionFork.fork(EntryLog.session(project, target), { plan: forkPlan(), sessionId: third })
      const { title } = yield* Effect.provide(again, FileEntryLog.layerWith({ projects: directory }))
      assert.strictEqual(title, "[u1] (fork) (fork)")
      assert.deepStrictEqual(shown(read(third)), shown(read()).map(SessionFork.idsOf(third)))
      const first = JSON.parse(lines(third)[0]!)
      assert.deepStrictEqual(first.forkedFrom, { sessionId: target, messageUuid: idOf("u1") })
      assert.strictEqual(JSON.parse(lines(third)[1]!).requestSessionId, sessionId)
    }).pipe(Effect.scoped)
  )

  it.effect("writes nothing where the id is taken or none, the message is nowhere, or the log an agent's", () =>
    Effect.gen(function* () {
      const { directory, fork, project } = yield* placed(Notation.bytes("u1-a1"), { "agent-abc.jsonl": "" })
      const before = fs.readdirSync(project, { recursive: true })
      const exists = yield* Effect.flip(fork(undefined, { sessionId }))
      assert.strictEqual(exists._tag === "ForkUnfit" && exists.found, "Exists")
      const none = yield* Effect.flip(fork(undefined, { sessionId: "../x" }))
      assert.match(none.message, /expected a UUID .* found "..\/x"/)
      for (const odd of ["", ".", "../..", "a/b", "\0"]) {
        const lost = yield* Effect.flip(fork(undefined, { project: odd }))
        assert.match(lost.message, /expected the key of a project or an absolute directory/)
      }
      const nowhere = yield* Effect.flip(fork("x"))
      assert.strictEqual(nowhere._tag, "NoForkPoint")
      const agent = SessionFork.fork(EntryLog.at(path.join(project, sessionId, "subagents", "agent-abc.jsonl")), {
        plan: forkPlan()
      })
      const sidechain = yield* Effect.flip(Effect.provide(agent, FileEntryLog.layerWith({ projects: directory })))
      assert.match(sidechain.message, /agent's own/)
      assert.deepStrictEqual(fs.readdirSync(project, { recursive: true }), before)
    }).pipe(Effect.scoped)
  )

  it.effect("takes the backups that its file history names and the plan with it, each its own", () =>
    Effect.gen(function* () {
      const backup = (backupFileName: string | null) => ({ backupFileName, version: 1, backupTime: "" })
      const snapshot = (messageId: string, trackedFileBackups: object) =>
        `${JSON.stringify({ type: "file-history-snapshot", messageId, snapshot: { messageId, trackedFileBackups } })}\n`
      const drawn = new TextDecoder()
        .decode(Notation.bytes("u1-a1"))
        .replaceAll('"type":"u', '"slug":"old-lamp","type":"u')
      const history = snapshot("u1", { "/w/a": backup("a@v1"), "/w/b": backup(null), "/w/c": backup("../../secret") })
      const { directory, fileOf, fork, lines, project } = yield* placed(drawn + history)
      const write = (file: string, text: string) => {
        const at = path.join(project, file)
        fs.mkdirSync(path.dirname(at), { recursive: true })
        fs.writeFileSync(at, text)
        return at
      }
      const file = write(`file-history/${sessionId}/a@v1`, "before")
      write(`file-history/${sessionId}/later@v1`, "of no message")
      write("plans/old-lamp.md", "1. lamp")
      fs.writeFileSync(path.join(directory, "secret"), "secret")
      const { backups, hasPlan } = yield* fork()
      assert.deepStrictEqual([backups, hasPlan], [1, true])
      const copies = fileOf(`file-history/${target}`)
      assert.deepStrictEqual(fs.readdirSync(copies), ["a@v1"])
      assert.strictEqual(fs.statSync(path.join(copies, "a@v1")).ino, fs.statSync(file).ino)
      const { slug } = JSON.parse(lines()[0]!)
      assert.strictEqual(slug, "old-lamp-0f0f0f0f")
      const plan = fileOf(`plans/${slug}.md`)
      assert.deepStrictEqual([fs.readFileSync(plan, "utf8"), fs.statSync(plan).mode & 0o777], ["1. lamp", 0o600])
      // A plan of its own is found by a fork of the fork, which has another one again.
      const third = "1f0f0f0f-0000-4000-8000-000000000003"
      const again = SessionFork.fork(EntryLog.session(project, target), { plan: forkPlan(), sessionId: third })
      assert.isTrue((yield* Effect.provide(again, FileEntryLog.layerWith({ projects: directory }))).hasPlan)
      assert.strictEqual(JSON.parse(lines(third)[0]!).slug, "old-lamp-1f0f0f0f")
      assert.deepStrictEqual(fs.readdirSync(fileOf(`file-history/${third}`)), ["a@v1"])
      // Where one file cannot be put in its place, those before it are taken away again.
      const fourth = "2f0f0f0f-0000-4000-8000-000000000004"
      write(`${sessionId}/subagents/agent-abc.jsonl`, new TextDecoder().decode(Notation.bytes("s1~abc")))
      write(`file-history/${fourth}`, "in the way")
      const list = () => fs.readdirSync(directory, { recursive: true }).toSorted()
      const before = list()
      assert.strictEqual((yield* Effect.flip(fork(undefined, { sessionId: fourth })))._tag, "EntryLogError")
      assert.deepStrictEqual(list(), before)
    }).pipe(Effect.scoped)
  )

  it.effect("leaves nothing behind where the disk is full at any byte, or a file cannot be put in its place", () =>
    Effect.gen(function* () {
      const side = {
        "agent-abc.jsonl": new TextDecoder().decode(Notation.bytes("u1~abc-s1~abc")),
        "agent-abc.meta.json": "{}"
      }
      const { directory, project } = yield* placed(Notation.bytes("u1-a1-u2-a2"), side)
      const other = path.join(directory, "-other")
      const list = () => fs.readdirSync(directory, { recursive: true }).toSorted()
      const before = list()
      const faulty = FaultyEntryLog.layer.pipe(Layer.provide(FileEntryLog.layerWith({ projects: directory })))
      const fork = (into: string) =>
        SessionFork.fork(EntryLog.session(project, sessionId), { plan: forkPlan(), sessionId: target, project: into })
      yield* Effect.gen(function* () {
        const faults = yield* FaultyEntryLog.Faults
        let bytes = 0
        for (; bytes < 10_000; bytes += 97) {
          yield* faults.crashAfter(bytes)
          const forked = yield* Effect.result(fork(bytes % 2 === 0 ? other : project))
          yield* faults.mend
          if (forked._tag === "Success") break
          assert.strictEqual(forked.failure._tag, "EntryLogError")
          assert.deepStrictEqual(list(), before, `after ${bytes} bytes`)
        }
        assert.isAbove(bytes, 1000)
        fs.rmSync(path.join(bytes % 2 === 0 ? other : project, `${target}.jsonl`))
        fs.rmSync(path.join(bytes % 2 === 0 ? other : project, target), { recursive: true })
        fs.rmSync(other, { recursive: true, force: true })
        assert.deepStrictEqual(list(), before)

        yield* faults.breakDown({ operation: "sync", reason: "InputOutput" })
        assert.strictEqual((yield* Effect.flip(fork(other)))._tag, "EntryLogError")
        yield* faults.mend
        assert.deepStrictEqual(list(), before)

        // A folder of this name is in the way of the last file.
        fs.mkdirSync(path.join(project, `${target}.jsonl`, "in the way"), { recursive: true })
        assert.isTrue(Exit.isFailure(yield* Effect.exit(fork(project))))
        fs.rmSync(path.join(project, `${target}.jsonl`), { recursive: true })
        assert.deepStrictEqual(list(), before)
      }).pipe(Effect.provide(faulty))
    }).pipe(Effect.scoped)
  )

  it.live("leaves nothing behind where it is interrupted", () =>
    Effect.gen(function* () {
      const { directory, project } = yield* placed(Notation.bytes("u1-a1"), { "agent-abc.jsonl": "{}" })
      const before = fs.readdirSync(directory, { recursive: true }).toSorted()
      yield* Effect.gen(function* () {
        const port = yield* EntryLog.EntryLog
        let isReached = false
        const hanging = {
          ...port,
          sync: () =>
            Effect.andThen(
              Effect.sync(() => (isReached = true)),
              Effect.never
            )
        }
        const fork = SessionFork.fork(EntryLog.session(project, sessionId), { plan: forkPlan(), sessionId: target })
        const fiber = yield* Effect.forkChild(Effect.provideService(fork, EntryLog.EntryLog, hanging))
        yield* Effect.sleep(1).pipe(Effect.repeat({ until: () => isReached }))
        assert.include(fs.readdirSync(project), `.fork-${target}`)
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(fs.readdirSync(directory, { recursive: true }).toSorted(), before)
      }).pipe(Effect.provide(FileEntryLog.layerWith({ projects: directory })))
    }).pipe(Effect.scoped)
  )

  it.effect("is not made of a log that was cut or replaced meanwhile; what is appended meanwhile is not in it", () =>
    Effect.gen(function* () {
      const log = Notation.bytes("u1-a1-u2-a2")
      const { directory, fileOf, project, read } = yield* placed(log)
      const file = fileOf(`${sessionId}.jsonl`)
      /** What happens between the plan and the copy. */
      const meanwhile = (happens: () => void) => {
        const plan = { ...forkPlan(), extract: (state: unknown) => (happens(), forkPlan().extract(state)) }
        return SessionFork.fork(EntryLog.session(project, sessionId), { plan, sessionId: target }).pipe(
          Effect.provide(FileEntryLog.layerWith({ projects: directory }))
        )
      }
      for (const happens of [
        () => fs.truncateSync(file, 200),
        () => {
          fs.writeFileSync(`${file}.new`, Notation.bytes("u9-a9-u8-a8-u7-a7"))
          fs.renameSync(`${file}.new`, file)
        }
      ]) {
        fs.writeFileSync(file, log)
        const failed = yield* Effect.flip(meanwhile(happens))
        assert.include(failed.message, "fork it again")
        assert.deepStrictEqual(fs.readdirSync(project), [`${sessionId}.jsonl`])
      }
      fs.writeFileSync(file, log)
      const more = Notation.bytes("u1-a1-u2-a2-u3-a3").subarray(log.length)
      yield* meanwhile(() => fs.appendFileSync(file, more))
      assert.deepStrictEqual(shown(read()), ["u1", "a1", "u2", "a2"].map(idOf))
    }).pipe(Effect.scoped)
  )

  it.effect("is made anew where another one was killed half way, and nothing of that is left", () =>
    Effect.gen(function* () {
      const { fileOf, fork, project, read } = yield* placed(Notation.bytes("u1-a1"))
      const half = fileOf(`.fork-${target}/project/${target}.jsonl`)
      fs.mkdirSync(path.dirname(half), { recursive: true })
      fs.writeFileSync(half, Notation.bytes("u1"))
      yield* fork()
      assert.deepStrictEqual(shown(read()), ["u1", "a1"].map(idOf))
      assert.deepStrictEqual(fs.readdirSync(project).toSorted(), [`${sessionId}.jsonl`, `${target}.jsonl`])
      // Killed while it was put in place: its sidechains are, and its main log is not.
      fs.rmSync(fileOf(`${target}.jsonl`))
      fs.mkdirSync(path.dirname(half), { recursive: true })
      fs.mkdirSync(fileOf(`${target}/subagents`), { recursive: true })
      fs.writeFileSync(fileOf(`${target}/subagents/agent-abc.jsonl`), "")
      yield* fork()
      assert.deepStrictEqual(fs.readdirSync(project).toSorted(), [`${sessionId}.jsonl`, `${target}.jsonl`])
      const third = "0f0f0f0f-0000-4000-8000-000000000003"
      fs.mkdirSync(fileOf(`${third}/subagents`), { recursive: true })
      fs.writeFileSync(fileOf(`${third}/subagents/agent-abc.jsonl`), "")
      const taken = yield* Effect.flip(fork(undefined, { sessionId: third }))
      assert.strictEqual(taken._tag === "ForkUnfit" && taken.found, "Exists")
    }).pipe(Effect.scoped)
  )

  it.effect("holds one window and one batch of the texts, however long the log is", () =>
    Effect.gen(function* () {
      const text = "x".repeat(20_000)
      const lines = Array.from({ length: 400 }, (_, i) =>
        JSON.stringify({
          type: "user",
          uuid: `u${i}`,
          parentUuid: i === 0 ? null : `u${i - 1}`,
          message: { content: text }
        })
      )
      const port = yield* EntryLog.EntryLog
      const source = EntryLog.session("p", sessionId)
      yield* port.append(source, Buffer.from(`${lines.join("\n")}\n`))
      const largest = { read: 0, append: 0 }
      const counted = EntryLog.EntryLog.of({
        ...port,
        append: (log, bytes) => {
          largest.append = Math.max(largest.append, bytes.length)
          return port.append(log, bytes)
        },
        reader: (log) =>
          Effect.map(port.reader(log), (reader) => ({
            ...reader,
            read: (offset, into) => {
              largest.read = Math.max(largest.read, into.length)
              return reader.read(offset, into)
            }
          }))
      })
      const { messages } = yield* Effect.provideService(
        SessionFork.fork(source, { plan: forkPlan(), sessionId: target }),
        EntryLog.EntryLog,
        counted
      )
      assert.strictEqual(messages, 400)
      assert.isAtMost(largest.read, 1 << 20)
      assert.isAtMost(largest.append, (1 << 20) + 21_000)
    }).pipe(Effect.provide(EntryLog.layerMemory), Effect.scoped)
  )
})

const corpus = path.resolve(import.meta.dirname, "../../../shared/corpus")
const isThere = fs.existsSync(corpus)
if (!isThere) console.log("no corpus beside the project: forks of it are skipped")

describe.skipIf(!isThere)("a fork of every transcript of the corpus", () => {
  it.effect(
    "shows the same conversation, and is sent to a model as the source is",
    () =>
      Effect.gen(function* () {
        const files = fs.readdirSync(corpus).filter((file) => file.endsWith(".jsonl"))
        let forks = 0
        for (const file of files) {
          const log = EntryLog.at(path.join(corpus, file))
          const directory = yield* Temporary.directory
          const forked = yield* Effect.result(
            Effect.provide(
              SessionFork.fork(log, { plan: forkPlan(), sessionId: target, project: directory }),
              FileEntryLog.layerWith({ projects: directory })
            )
          )
          if (forked._tag === "Failure") {
            // A file of sidechain lines alone has nothing to fork.
            assert.strictEqual(forked.failure._tag, "NoForkPoint", file)
            continue
          }
          forks++
          const source = stateOf(new Uint8Array(fs.readFileSync(path.join(corpus, file))))
          const copy = stateOf(new Uint8Array(fs.readFileSync(path.join(directory, `${target}.jsonl`))))
          const ids = (state: typeof source) => state.conversation.map(({ uuid }) => uuid)
          assert.deepStrictEqual(ids(copy), ids(source).map(idOf), file)
          const [sent, copied] = [source, copy].map((state) =>
            ModelMessages.make(state).messages.map(({ parts, role }) => JSON.stringify([role, parts]))
          )
          assert.deepStrictEqual(copied, sent, file)
        }
        console.log(`corpus: ${forks} forks of ${files.length} transcripts`)
        assert.isAbove(forks, 0)
      }).pipe(Effect.scoped),
    { timeout: 600_000 }
  )
})
