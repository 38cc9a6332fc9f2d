import { assert, describe, it } from "@effect/vitest"
import * as Message from "@reprise/domain/Message"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionLock from "@reprise/storage/SessionLock"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Transcript from "@reprise/storage/Transcript"
import { Clock, Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import filesystem, * as fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import * as path from "node:path"
import * as Child from "./child.ts"
import { linkless } from "./linkless.ts"
import * as Temporary from "./temporary.ts"

const program = new URL("lock-child.ts", import.meta.url)

const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`
const log = EntryLog.session("-work", id(1))

/** A projects directory, its locks, and where the lock of session 1 lies. */
const place = Effect.map(Temporary.directory, (directory) => {
  const projects = path.join(directory, "projects")
  const folder = path.join(projects, "-work")
  return { projects, folder, file: path.join(folder, `${id(1)}.lock`), locks: SessionLock.makeFiles({ projects }) }
})

/** The record of an owner, made from that of a real claim. */
const record = (changes: object) =>
  Effect.gen(function* () {
    const { file, locks } = yield* place
    yield* locks.claim(log)
    return { ...JSON.parse(fs.readFileSync(file, "utf8")), nonce: "other", ...changes }
  }).pipe(Effect.scoped)

const put = (file: string, owner: unknown) => {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, typeof owner === "string" ? owner : JSON.stringify(owner))
}

/** No process has it: it is above what the kernel gives. */
const deadPid = 2 ** 22 + 1

describe("one writer per session", () => {
  for (const [name, make] of [
    ["memory", Effect.sync(SessionLock.makeMemory)],
    ["files", Effect.map(place, ({ locks }) => locks)]
  ] as const) {
    it.effect(`${name}: a claimed session is refused until it is let go, others are free`, () =>
      Effect.gen(function* () {
        const locks = yield* make
        const scope = yield* Scope.make()
        yield* Scope.provide(locks.claim(log), scope)
        const refused = yield* Effect.flip(locks.claim(log))
        assert(refused._tag === "SessionLocked")
        assert.strictEqual(refused.pid, process.pid)
        assert.match(refused.message, /written by process \d+ on .* since 1970-01-01T00:00:00.000Z\. .* remove .*\.$/)
        yield* locks.claim(EntryLog.session("-work", id(2)))
        yield* Scope.close(scope, Exit.void)
        const claim = yield* locks.claim(log)
        assert.isUndefined(claim.lost())
      }).pipe(Effect.scoped)
    )
  }

  it.effect(
    "the lock is 0600, no log by its name, and leaves nothing behind, nor the folder that was made for it",
    () =>
      Effect.gen(function* () {
        const { file, folder, locks, projects } = yield* place
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* locks.claim(log)
            assert.deepStrictEqual(fs.readdirSync(folder), [path.basename(file)])
            assert.strictEqual(fs.statSync(file).mode & 0o777, 0o600)
            assert.strictEqual(fs.statSync(folder).mode & 0o777, 0o700)
            const { host, pid, since } = JSON.parse(fs.readFileSync(file, "utf8"))
            assert.deepStrictEqual([typeof host, pid, since], ["string", process.pid, "1970-01-01T00:00:00.000Z"])
          })
        )
        assert.deepStrictEqual(fs.readdirSync(projects), [])
      }).pipe(Effect.scoped)
  )

  it.effect("the lock lies beside any log", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      yield* SessionLock.makeFiles({ projects: "/nowhere" }).claim(EntryLog.at(path.join(directory, "notes.jsonl")))
      assert.deepStrictEqual(fs.readdirSync(directory), ["notes.lock"])
    }).pipe(Effect.scoped)
  )
})

describe("an owner that is gone is succeeded", () => {
  const claimOver = (owner: unknown, prepare: (file: string) => void = () => undefined) =>
    Effect.gen(function* () {
      const { file, folder, locks } = yield* place
      put(file, owner)
      prepare(file)
      const result = yield* Effect.result(locks.claim(log))
      if (result._tag === "Failure") return result.failure._tag
      assert.deepStrictEqual(fs.readdirSync(folder), [path.basename(file)])
      return JSON.parse(fs.readFileSync(file, "utf8")).pid === process.pid ? "taken" : "not ours"
    }).pipe(Effect.scoped)
  const age = (seconds: number) => (file: string) => {
    const then = Date.now() / 1000 - seconds
    fs.utimesSync(file, then, then)
  }
  const expected: ReadonlyArray<readonly [string, object, number, string]> = [
    ["its pid is gone", { pid: deadPid }, 0, "taken"],
    ["its pid is another program's now", { startTime: "1" }, 0, "taken"],
    ["the machine was started anew", { bootId: "before" }, 0, "taken"],
    ["it lives, however long it is silent", {}, 600, "SessionLocked"],
    ["it is on another host and beats", { host: "elsewhere" }, 10, "SessionLocked"],
    ["it is on another host and is silent for a minute", { host: "elsewhere" }, 70, "taken"],
    ["it is in another container and beats", { namespace: "pid:[1]", pid: deadPid }, 10, "SessionLocked"],
    ["it is in another container and is silent for a minute", { namespace: "pid:[1]" }, 70, "taken"]
  ]
  for (const [name, changes, seconds, outcome] of expected) {
    it.effect(`${name}: ${outcome}`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* claimOver(yield* record(changes), age(seconds)), outcome)
      })
    )
  }

  it.effect("a lock that cannot be read is taken when it is old", () =>
    Effect.gen(function* () {
      for (const text of ["", "{", '{"nonce":"../../x","host":"h","pid":1,"since":"s"}']) {
        assert.strictEqual(yield* claimOver(text, age(1)), "SessionLocked")
        assert.strictEqual(yield* claimOver(text, age(20)), "taken")
      }
    })
  )

  it.effect("takers that died on their way are succeeded as well, and their litter goes", () =>
    Effect.gen(function* () {
      const dead = yield* record({ pid: deadPid, nonce: "a" })
      const outcome = claimOver(dead, (file) => {
        put(`${file}.a`, { ...dead, nonce: "b" })
        put(`${file}.b`, { ...dead, nonce: "c" })
        put(`${file}.x.new`, { ...dead, nonce: "x" })
      })
      assert.strictEqual(yield* outcome, "taken")
      const alive = yield* record({ nonce: "b" })
      assert.strictEqual(yield* claimOver(dead, (file) => put(`${file}.a`, alive)), "SessionLocked")
    })
  )

  it.effect("what lies beside a dead owner's lock and is no lock keeps nobody out", () =>
    Effect.gen(function* () {
      const dead = yield* record({ pid: deadPid, nonce: "a" })
      const { file, locks } = yield* place
      put(file, dead)
      fs.mkdirSync(`${file}.folder`)
      yield* locks.claim(log)
      assert.strictEqual(JSON.parse(fs.readFileSync(file, "utf8")).pid, process.pid)
    }).pipe(Effect.scoped)
  )

  it.effect("who was taken over in error takes nothing away", () =>
    Effect.gen(function* () {
      const { file, locks } = yield* place
      const other = yield* record({})
      yield* Effect.scoped(
        Effect.andThen(
          locks.claim(log),
          Effect.sync(() => put(`${file}.new`, other))
        ).pipe(Effect.andThen(Effect.sync(() => fs.renameSync(`${file}.new`, file))))
      )
      assert.deepStrictEqual(JSON.parse(fs.readFileSync(file, "utf8")), other)
    }).pipe(Effect.scoped)
  )
})

describe("the heartbeat", () => {
  const beat = TestClock.adjust("15 seconds")

  it.effect("touches the lock, and makes it again when it was removed", () =>
    Effect.gen(function* () {
      const { file, locks } = yield* place
      const claim = yield* locks.claim(log)
      fs.utimesSync(file, 1, 1)
      yield* beat
      assert.isAbove(fs.statSync(file).mtimeMs, Date.now() - 10_000)
      fs.rmSync(file)
      yield* beat
      assert.strictEqual(JSON.parse(fs.readFileSync(file, "utf8")).pid, process.pid)
      assert.isUndefined(claim.lost())
    }).pipe(Effect.scoped)
  )

  it.effect("notices that another has the session, and then nothing more is accepted", () =>
    Effect.gen(function* () {
      const { file, locks } = yield* place
      const other = yield* record({ pid: 4242 })
      const transcript = yield* Transcript.open({ sessionId: id(1), cwd: "/work", version: "2.1.0" }).pipe(
        Effect.provideService(SessionLock.SessionLock, locks)
      )
      yield* transcript.append(Message.user("x"))
      put(`${file}.new`, other)
      fs.renameSync(`${file}.new`, file)
      yield* beat
      const lost = yield* Effect.flip(transcript.append(Message.user("x")))
      assert(lost._tag === "SessionLocked")
      assert.strictEqual(lost.pid, 4242)
    }).pipe(Effect.scoped, Effect.provide(SessionWriter.layer.pipe(Layer.provideMerge(EntryLog.layerMemory))))
  )

  it.effect("a program that was stopped for long looks before it accepts anything more", () =>
    Effect.gen(function* () {
      let now = 0
      const clock = {
        ...(yield* Clock.Clock),
        currentTimeMillisUnsafe: () => now,
        currentTimeMillis: Effect.sync(() => now),
        sleep: () => Effect.never
      }
      const { file, locks } = yield* place
      const other = yield* record({ pid: 4242 })
      const claim = yield* locks.claim(log).pipe(Effect.provideService(Clock.Clock, clock))
      put(`${file}.new`, other)
      fs.renameSync(`${file}.new`, file)
      assert.isUndefined(claim.lost())
      now = 45_000
      assert.strictEqual(claim.lost()?.pid, 4242)
    }).pipe(Effect.scoped)
  )

  it.effect("heals a lock that was written over", () =>
    Effect.gen(function* () {
      const { file, locks } = yield* place
      const claim = yield* locks.claim(log)
      fs.writeFileSync(file, "x".repeat(4096))
      yield* beat
      assert.isUndefined(claim.lost())
      assert.strictEqual(JSON.parse(fs.readFileSync(file, "utf8")).pid, process.pid)
    }).pipe(Effect.scoped)
  )

  it.effect("a log may bring locks of its own", () =>
    Effect.gen(function* () {
      const { locks } = yield* place
      const port = yield* EntryLog.EntryLog
      const open = Transcript.open({ sessionId: id(1), cwd: "/work", version: "2.1.0" }).pipe(
        Effect.provideService(EntryLog.EntryLog, { ...port, locks })
      )
      yield* open
      assert.strictEqual((yield* Effect.flip(Effect.scoped(locks.claim(log))))._tag, "SessionLocked")
    }).pipe(Effect.scoped, Effect.provide(SessionWriter.layer.pipe(Layer.provideMerge(EntryLog.layerMemory))))
  )
})

describe("a file system without hard links", () => {
  it.effect("locks all the same", () =>
    Effect.gen(function* () {
      const dead = yield* record({ pid: deadPid, nonce: "a" })
      yield* linkless
      const { file, folder, locks } = yield* place
      put(file, dead)
      const scope = yield* Scope.make()
      yield* Scope.provide(locks.claim(log), scope)
      assert.strictEqual((yield* Effect.flip(locks.claim(log)))._tag, "SessionLocked")
      assert.deepStrictEqual(fs.readdirSync(folder), [path.basename(file)])
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(fs.readdirSync(folder), [])
    }).pipe(Effect.scoped)
  )
})

describe("a full disk", () => {
  /** A file can be made, and takes nothing. */
  const full = Effect.acquireRelease(
    Effect.sync(() => {
      const { writeFileSync } = filesystem
      filesystem.writeFileSync = (file, _, options) => {
        writeFileSync(file, "", options)
        throw Object.assign(new Error("no space left"), { code: "ENOSPC" })
      }
      syncBuiltinESMExports()
      return writeFileSync
    }),
    (writeFileSync) =>
      Effect.sync(() => {
        filesystem.writeFileSync = writeFileSync
        syncBuiltinESMExports()
      })
  )

  it.effect("a session that was let go on it is free, and one that cannot be claimed leaves nothing behind", () =>
    Effect.gen(function* () {
      const { file, folder, locks } = yield* place
      const scope = yield* Scope.make()
      yield* Scope.provide(locks.claim(log), scope)
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* full
          const refused = yield* Effect.flip(locks.claim(EntryLog.session("-work", id(2))))
          assert(refused._tag === "EntryLogError")
          assert.strictEqual(refused.reason, "NoSpace")
          yield* Scope.close(scope, Exit.void)
          assert.deepStrictEqual(fs.readdirSync(folder), [path.basename(file)])
        })
      )
      yield* locks.claim(log)
      assert.deepStrictEqual(fs.readdirSync(folder), [path.basename(file)])
    }).pipe(Effect.scoped)
  )
})

describe("what is above and below a log", () => {
  it.effect("an older wider mode of transcript, project folder and what is below is narrowed", () =>
    Effect.gen(function* () {
      const { folder, locks } = yield* place
      const agents = path.join(folder, id(1), "subagents", "x")
      fs.mkdirSync(agents, { recursive: true })
      const files = [path.join(folder, `${id(1)}.jsonl`), path.join(agents, "agent-a.jsonl")]
      for (const file of files) fs.writeFileSync(file, "")
      const all = [folder, path.join(folder, id(1)), path.dirname(agents), agents, ...files]
      for (const one of all) fs.chmodSync(one, 0o777)
      yield* locks.claim(log)
      assert.deepStrictEqual(
        all.map((one) => fs.statSync(one).mode & 0o777),
        [0o700, 0o700, 0o700, 0o700, 0o600, 0o600]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("the transcript may not be a symlink, what is above it may", () =>
    Effect.gen(function* () {
      const { folder, locks, projects } = yield* place
      fs.mkdirSync(path.join(projects, "real"), { recursive: true })
      fs.symlinkSync("real", folder)
      yield* Effect.scoped(locks.claim(log))
      fs.writeFileSync(path.join(projects, "target"), "")
      fs.symlinkSync("../target", path.join(folder, `${id(1)}.jsonl`))
      const refused = yield* Effect.flip(locks.claim(log))
      assert(refused._tag === "EntryLogError")
      assert.strictEqual(refused.reason, "Symlink")
    }).pipe(Effect.scoped)
  )

  it.effect.skipIf(process.geteuid?.() !== 0)(
    "a directory above that others may write, without the sticky bit and not ours, is refused unless allowed",
    () =>
      Effect.gen(function* () {
        const { projects } = yield* place
        const shared = path.dirname(projects)
        const claim = (allowSharedDirectories?: boolean) =>
          Effect.scoped(
            SessionLock.makeFiles({ projects, allowSharedDirectories: allowSharedDirectories === true }).claim(log)
          )
        fs.chownSync(shared, 4242, 4242)
        for (const mode of [0o777, 0o775]) {
          fs.chmodSync(shared, mode)
          const refused = yield* Effect.flip(claim())
          assert(refused._tag === "EntryLogError")
          assert.deepStrictEqual([refused.operation, refused.reason], ["lock", "SharedDirectory"])
          yield* claim(true)
        }
        fs.chmodSync(shared, 0o1777)
        yield* claim()
        fs.chownSync(shared, 0, 0)
        fs.chmodSync(shared, 0o777)
        yield* claim()
      }).pipe(Effect.scoped)
  )
})

describe("across processes", () => {
  it.live(
    "of eight that find a dead owner at once, exactly one wins, every time; each gets the session after the one before " +
      "let go or was killed",
    () =>
      Effect.gen(function* () {
        const { file, folder, projects } = yield* place
        const dead = yield* record({ pid: deadPid })
        const programs = Array.from({ length: 8 }, () => Child.start(program, projects))
        const children = yield* Effect.all(programs, { concurrency: 8 })
        yield* Effect.forEach(children, ({ ask }) => ask(`claim ${id(99)}`), { concurrency: 8 })
        for (let round = 0; round < 20; round++) {
          put(file, { ...dead, nonce: `dead-${round}` })
          if (round % 3 === 0) put(`${file}.dead-${round}`, { ...dead, nonce: `taker-${round}` })
          const at = Date.now() + 10
          const answers = yield* Effect.forEach(children, ({ ask }) => ask(`race ${id(1)} ${at}`), { concurrency: 8 })
          const winners = children.filter((_, i) => answers[i] === "held")
          assert.strictEqual(winners.length, 1, answers.join())
          const refused = answers.filter((answer) => answer === `locked ${winners[0]!.pid}`)
          assert.strictEqual(refused.length, 7, answers.join())
          assert.strictEqual(JSON.parse(fs.readFileSync(file, "utf8")).pid, winners[0]!.pid)
          yield* winners[0]!.ask(`release ${id(1)}`)
          const left = fs.readdirSync(folder).filter((name) => name.startsWith(id(1)))
          assert.deepStrictEqual(left, [])
        }
        for (const [i, child] of children.entries()) {
          assert.strictEqual(yield* child.ask(`claim ${id(1)}`), "held")
          const others = children.slice(i + 1)
          const answers = yield* Effect.forEach(others, ({ ask }) => ask(`claim ${id(1)}`), { concurrency: 8 })
          for (const answer of answers) assert.strictEqual(answer, `locked ${child.pid}`)
          yield* i % 2 === 0 ? child.kill : child.ask(`release ${id(1)}`)
        }
      }).pipe(Effect.scoped)
  )
})
