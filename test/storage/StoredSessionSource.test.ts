/** Where a source leads, what is read there, and who may write it. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@reprise/domain/Message"
import * as Metadata from "@reprise/domain/Metadata"
import * as SessionSource from "@reprise/domain/SessionSource"
import * as Notation from "@reprise/domain/testing/Notation"
import * as Recovery from "@reprise/recovery/Recovery"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionLock from "@reprise/storage/SessionLock"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as StoredSessionSource from "@reprise/storage/StoredSessionSource"
import * as Transcript from "@reprise/storage/Transcript"
import { Effect, Layer } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "./temporary.ts"

const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`
const other = "7d1f0c52-9b5e-4c7a-8f43-2f6f1f0a9e11"

/** A session in each of two projects, and one in both. */
const place = Effect.map(Temporary.directory, (directory) => {
  const projects = path.join(directory, "projects")
  const write = (project: string, name: string, log: string | Uint8Array): string => {
    fs.mkdirSync(path.join(projects, project), { recursive: true })
    const file = path.join(projects, project, `${name}.jsonl`)
    fs.writeFileSync(file, typeof log === "string" && log.includes("u1") ? Notation.bytes(log) : log)
    return file
  }
  const files = Layer.merge(FileEntryLog.layerWith({ projects }), SessionLock.layerWith({ projects }))
  const layer = StoredSessionSource.layerWith({ version: "2.1.0" }).pipe(
    Layer.provideMerge(SessionWriter.layer),
    Layer.provideMerge(files)
  )
  return { projects, write, layer }
})

const resolve = (source: SessionSource.Source) =>
  SessionSource.SessionSource.use((port) => port.resolve(source)).pipe(
    Effect.map(({ path }) => path),
    Effect.match({ onSuccess: (found) => found, onFailure: (error) => error })
  )

const lastLine = (file: string): number =>
  Buffer.byteLength(fs.readFileSync(file, "utf8").trimEnd().split("\n").at(-1)!) + 1

const adopting = { metadata: { summaries: new Map(), pullRequests: [] }, loadedSize: 0, leaf: Recovery.leaf }

describe("a source", () => {
  it.live("leads to the latest session of a directory, or says that there is none", () =>
    Effect.gen(function* () {
      const { layer, write } = yield* place
      write("-work", id(1), "u1:10-a1:20")
      const newest = write("-work", id(2), "u1:30-a1:40")
      write("-work", id(3), "")
      write("-home", other, "u1:50-a1:60")
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* resolve(SessionSource.latest("/work")), newest)
        const missing = yield* resolve(SessionSource.latest("/none"))
        assert.instanceOf(missing, SessionSource.SessionNotFound)
        assert.include(String(missing), "expected a session of the directory /none, found none")
      }).pipe(Effect.provide(layer))
    })
  )

  it.live("leads to an id in any project, whole or its beginning, and names those that are meant perhaps", () =>
    Effect.gen(function* () {
      const { layer, write } = yield* place
      const one = write("-work", id(1), "u1-a1")
      const two = write("-work", id(2), "u1-a1")
      const elsewhere = write("-home", other, "u1-a1")
      const copy = write("-copy", id(2), "u1-a1")
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* resolve(SessionSource.id(id(1))), one)
        assert.strictEqual(yield* resolve(SessionSource.id(other)), elsewhere)
        assert.strictEqual(yield* resolve(SessionSource.id("7D1F0C52")), elsewhere)
        const twice = yield* resolve(SessionSource.id(id(2)))
        assert.instanceOf(twice, SessionSource.AmbiguousSession)
        assert.sameMembers([...(twice as SessionSource.AmbiguousSession).paths], [two, copy])
        assert.instanceOf(yield* resolve(SessionSource.id("0000")), SessionSource.AmbiguousSession)
        const shouted = write("-home", "ABCD0C52-9B5E-4C7A-8F43-2F6F1F0A9E11", "u1-a1")
        assert.strictEqual(yield* resolve(SessionSource.id("abcd0c52")), shouted)
        assert.strictEqual(yield* resolve(SessionSource.id("abcd0c52-9b5e-4c7a-8f43-2f6f1f0a9e11")), shouted)
        const near = yield* resolve(SessionSource.id("7d1f0c52-9b5e-4c7a-8f43-2f6f1f0a9e1"))
        assert.strictEqual(near, elsewhere)
        const typed = yield* resolve(SessionSource.id("7d1f0c25-9b5e-4c7a-8f43-2f6f1f0a9e11"))
        assert.deepStrictEqual((typed as SessionSource.SessionNotFound).near, [other])
        const wrong = yield* resolve(SessionSource.id("7d1f0c55"))
        assert.deepStrictEqual((wrong as SessionSource.SessionNotFound).near, [other])
        const none = yield* resolve(SessionSource.id("ffffffff"))
        assert.deepStrictEqual((none as SessionSource.SessionNotFound).near, [])
        for (const odd of ["", "../..", "%", ".*", "7d1f*", "7d1f\0", "\ud800".repeat(9), "7".repeat(1_000_000)]) {
          assert.instanceOf(yield* resolve(SessionSource.id(odd)), SessionSource.SessionNotFound)
        }
        assert.instanceOf(yield* resolve(SessionSource.id("")), SessionSource.SessionNotFound)
      }).pipe(Effect.provide(layer))
    })
  )

  it.live("does not say that there is none where a project could not be looked at", () =>
    Effect.gen(function* () {
      const { layer, projects, write } = yield* place
      const readable = write("-home", other, "u1-a1")
      write("-work", id(1), "u1-a1")
      const port = yield* Effect.provide(EntryLog.EntryLog, layer)
      const cause = new EntryLog.EntryLogError({
        operation: "list",
        path: path.join(projects, "-work"),
        reason: "Denied"
      })
      const denied = Layer.succeed(EntryLog.EntryLog, {
        ...port,
        listing: (project) => (project === "-work" ? Effect.fail(cause) : port.listing(project))
      })
      yield* Effect.gen(function* () {
        const found = (source: SessionSource.Source) =>
          StoredSessionSource.resolve(source).pipe(
            Effect.match({ onSuccess: (at) => at.path, onFailure: ({ _tag }) => _tag })
          )
        assert.strictEqual(yield* found(SessionSource.id(other)), readable)
        assert.strictEqual(yield* found(SessionSource.id(id(1))), "SourceFailed")
        assert.strictEqual(yield* found(SessionSource.latest("/work")), "SourceFailed")
      }).pipe(Effect.provide(denied))
    })
  )

  it.live("leads to a file that is a transcript, and says what another one is", () =>
    Effect.gen(function* () {
      const { layer, projects, write } = yield* place
      const file = write("-work", id(1), "u1-a1")
      const named = write("-work", "backup of tuesday", "u1-a1")
      const empty = write("-work", id(3), "")
      const text = write("-work", "notes", "no line of this is an entry\n")
      const found = (answer: unknown) => (answer as SessionSource.NotATranscript).found
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* resolve(SessionSource.path(file)), file)
        assert.strictEqual(yield* resolve(SessionSource.path(named)), named)
        assert.strictEqual(yield* resolve(SessionSource.loaded({ path: file })), file)
        assert.strictEqual(found(yield* resolve(SessionSource.path(empty))), "an empty file")
        assert.strictEqual(found(yield* resolve(SessionSource.path(text))), "no entry of a transcript in it")
        assert.include(found(yield* resolve(SessionSource.path(projects))), "a directory")
        const agent = write(`-work/${id(1)}/subagents`, "agent-a1", "u1~a1")
        assert.include(found(yield* resolve(SessionSource.path(agent))), "an agent's own log")
        const typed = yield* resolve(SessionSource.path(file.replace("1.jsonl", "7.jsonl")))
        assert.include((typed as SessionSource.SessionNotFound).near, file)
      }).pipe(Effect.provide(layer))
    })
  )
})

describe("a session that is taken over", () => {
  it.live("is claimed, bound to its file, and let go with its scope", () =>
    Effect.gen(function* () {
      const { layer, write } = yield* place
      const file = write("-work", id(1), "u1-a1")
      yield* Effect.gen(function* () {
        const port = yield* SessionSource.SessionSource
        const at = yield* port.resolve(SessionSource.path(file))
        assert.strictEqual(at.sessionId, id(1))
        const session = { ...adopting, sessionId: id(1), cwd: "/work" }
        yield* Effect.scoped(
          Effect.gen(function* () {
            const claimed = yield* port.claim(at)
            assert.strictEqual((yield* Effect.flip(Effect.scoped(port.claim(at))))._tag, "SessionLocked")
            const adopted = yield* port.adopt(claimed, session)
            assert.strictEqual(yield* adopted.tail, "a1")
            yield* adopted.append(Message.user("go on"))
            yield* adopted.record(Metadata.tag("later"))
            yield* adopted.flush
            assert.strictEqual(StoredSessionSource.transcriptOf(adopted)?.sessionId, id(1))
            const again = yield* Effect.flip(Effect.scoped(port.adopt(claimed, session)))
            assert.include(again.message, "claim the log again")
          })
        )
        const text = fs.readFileSync(file, "utf8")
        assert.include(text, '"content":"go on"')
        assert.include(text, '"tag":"later"')
        yield* Effect.scoped(port.claim(at))
        yield* Effect.scoped(port.claim(at))
      }).pipe(Effect.provide(layer))
    })
  )

  it.live("is read through a door; a file that is gone is a typed error", () =>
    Effect.gen(function* () {
      const { layer, write } = yield* place
      const file = write("-work", id(1), "u1-a1")
      yield* Effect.gen(function* () {
        const port = yield* SessionSource.SessionSource
        const at = yield* port.resolve(SessionSource.path(file))
        const { answer, size } = yield* port.read(at, Recovery.judged(), "suffix")
        assert.deepStrictEqual(
          answer.conversation.map(({ uuid }) => uuid),
          ["u1", "a1"]
        )
        assert.strictEqual(size, fs.statSync(file).size)
        fs.rmSync(file)
        const gone = yield* Effect.flip(port.read(at, Recovery.judged()))
        assert.deepStrictEqual([gone._tag, gone.operation], ["SourceFailed", "read"])
        assert.match(yield* port.newSessionId, /^[\da-f-]{36}$/)
      }).pipe(Effect.provide(layer))
    })
  )

  it.live("is read again only where its log changed since it was loaded, or another session took what was read", () =>
    Effect.gen(function* () {
      const { layer, projects, write } = yield* place
      let bytes = 0
      const counting = Layer.effect(
        EntryLog.EntryLog,
        Effect.map(EntryLog.EntryLog, (port) => ({
          ...port,
          reader: (log: EntryLog.LogId) =>
            Effect.map(port.reader(log), (reader) => ({
              ...reader,
              read: (offset: number, into: Uint8Array) =>
                Effect.tap(reader.read(offset, into), (count) => Effect.sync(() => (bytes += count)))
            }))
        }))
      ).pipe(Layer.provide(layer))
      const source = StoredSessionSource.layerWith({ version: "2.1.0" }).pipe(
        Layer.provideMerge(SessionWriter.layer),
        Layer.provideMerge(counting),
        Layer.provideMerge(SessionLock.layerWith({ projects }))
      )
      const file = write("-work", id(1), "u1-a1-u2-a2")
      const more = (picture: string): Uint8Array =>
        Notation.bytes(picture).subarray(Notation.bytes("u1-a1-u2-a2").length)
      yield* Effect.gen(function* () {
        const port = yield* SessionSource.SessionSource
        const at = yield* port.resolve(SessionSource.path(file))
        const load = Effect.map(port.read(at, Recovery.judged()), ({ answer, reading, size }) => ({
          ...adopting,
          metadata: answer.metadata,
          loadedSize: size,
          sessionId: id(1),
          known: { reading: reading!, leaf: Recovery.leafOf(answer) }
        }))
        const adopt = (session: SessionSource.Adopting) =>
          Effect.gen(function* () {
            bytes = 0
            const adopted = yield* port.adopt(yield* port.claim(at), session)
            const read = bytes
            const { uuid } = yield* adopted.append(Message.user("go on"))
            yield* adopted.flush
            const last = JSON.parse(fs.readFileSync(file, "utf8").trimEnd().split("\n").at(-1)!)
            assert.strictEqual(last.uuid, uuid)
            return { read, parent: last.parentUuid }
          }).pipe(Effect.scoped)
        const again = (log: string | Uint8Array) => fs.writeFileSync(file, log)
        const original = fs.readFileSync(file)

        const loaded = yield* load
        assert.deepStrictEqual(yield* adopt(loaded), { read: 1, parent: "a2" })

        // What a session learned since is not what another one would read.
        const { parent, read } = yield* adopt(loaded)
        assert.isAtLeast(read, original.length)
        assert.notStrictEqual(parent, "a2")

        again(original)
        const before = yield* load
        fs.appendFileSync(file, more("u1-a1-u2-a2-u3-a3"))
        // Twice, where there is no boundary: its bytes are looked through for one.
        assert.deepStrictEqual(yield* adopt(before), {
          read: 2 * (fs.statSync(file).size - lastLine(file)),
          parent: "a3"
        })

        again(original)
        const replaced = yield* load
        const { mtime } = fs.statSync(file)
        fs.writeFileSync(`${file}.new`, original.toString().replaceAll('"a2"', '"b2"'))
        fs.renameSync(`${file}.new`, file)
        fs.utimesSync(file, mtime, mtime)
        assert.deepStrictEqual(yield* adopt(replaced), { read: 2 * original.length, parent: "b2" })

        again(original.subarray(0, -1))
        const torn = yield* load
        assert.deepStrictEqual(yield* adopt(torn), { read: 2 * original.length - 1, parent: "a2" })
      }).pipe(Effect.provide(source))
    })
  )

  it.live("lives in memory as well", () =>
    Effect.gen(function* () {
      const port = yield* SessionSource.SessionSource
      yield* Effect.scoped(
        Effect.gen(function* () {
          const transcript = yield* Transcript.open({ sessionId: id(1), cwd: "/work", version: "2.1.0" })
          yield* transcript.append(Message.user("hello"))
        })
      )
      const at = yield* port.resolve(SessionSource.id(id(1)))
      const adopted = yield* Effect.flatMap(port.claim(at), (claimed) =>
        port.adopt(claimed, { ...adopting, sessionId: id(1) })
      )
      yield* adopted.append(Message.user("go on"))
      yield* adopted.flush
      const { answer } = yield* port.read(at, Recovery.judged())
      assert.strictEqual(answer.conversation.length, 2)
    }).pipe(Effect.scoped, Effect.provide(StoredSessionSource.layerMemory))
  )
})
