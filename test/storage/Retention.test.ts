import { assert, describe, it } from "@effect/vitest"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as Retention from "@reprise/storage/Retention"
import * as SessionBundle from "@reprise/storage/SessionBundle"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fs from "node:fs"
import * as path from "node:path"
import { home, session } from "./bundled.ts"

const day = 86_400_000
const ids = ["1", "2", "3"].map((n) => `0f0f0f0f-0000-4000-8000-00000000000${n}`)

/** Three sessions, the last message of each a day after that of the one before, at noon of the fourth day. */
const placed = Effect.gen(function* () {
  const at = yield* home
  ids.forEach((sessionId, i) => {
    const timestamp = `2026-03-0${i + 1}T12:00:00.000Z`
    const line = {
      type: "user",
      uuid: "u1",
      parentUuid: null,
      message: { content: "x" },
      cwd: "/old/work",
      timestamp,
      sessionId
    }
    session(at, sessionId, `${JSON.stringify(line)}\n`)
  })
  yield* TestClock.setTime(Date.parse("2026-03-04T12:00:00.000Z"))
  const plan = (policy: Retention.Policy) => Effect.provide(Retention.plan(policy), at.layer)
  const letGo = (one: Retention.Candidate, how: Parameters<typeof Retention.letGo>[1]) =>
    Effect.provide(Retention.letGo(one, how), at.layer)
  const left = () => Object.keys(at.tree())
  return { ...at, plan, letGo, left }
})

const named = ({ candidates, kept }: Retention.Plan) => [
  candidates.map(({ session: { path: file }, why }) => `${ids.indexOf(path.basename(file, ".jsonl")) + 1} ${why}`),
  kept.sessions
]

describe("Retention", () => {
  it.effect("plans by age, count and size, the oldest first, and changes nothing", () =>
    Effect.gen(function* () {
      const { plan, tree } = yield* placed
      const before = tree()
      assert.deepStrictEqual(named(yield* plan({})), [[], 3])
      assert.deepStrictEqual(named(yield* plan({ olderThan: 2 * day })), [["1 age"], 2])
      assert.deepStrictEqual(named(yield* plan({ olderThan: 3 * day })), [[], 3])
      assert.deepStrictEqual(named(yield* plan({ maxCount: 1 })), [["1 count", "2 count"], 1])
      assert.deepStrictEqual(named(yield* plan({ olderThan: 2 * day, maxCount: 1 })), [["1 age", "2 count"], 1])
      const { candidates, kept } = yield* plan({ maxCount: 1 })
      const bytes = candidates[0]!.bytes
      assert.strictEqual(bytes, kept.bytes)
      assert.strictEqual(candidates[0]!.files.length, 5)
      assert.deepStrictEqual(named(yield* plan({ maxBytes: 2 * bytes })), [["1 size"], 2])
      assert.deepStrictEqual(named(yield* plan({ maxBytes: 2 * bytes - 1 })), [["1 size", "2 size"], 1])
      assert.deepStrictEqual(named(yield* plan({ maxBytes: 0 })), [["1 size", "2 size", "3 size"], 0])
      assert.deepStrictEqual(tree(), before)
    }).pipe(Effect.scoped)
  )

  it.effect("deletes whole sessions, with all that lies beside them, and no other", () =>
    Effect.gen(function* () {
      const { config, left, letGo, plan } = yield* placed
      const others = left().filter((file) => !file.includes(ids[0]!))
      const { candidates } = yield* plan({ olderThan: 2 * day })
      const gone = yield* letGo(candidates[0]!, { delete: true })
      assert.strictEqual(gone.outcome, "deleted")
      assert.deepStrictEqual(left(), others)
      assert.isFalse(fs.existsSync(path.join(config, "projects/-old-work", ids[0]!)))
      assert.isFalse(fs.existsSync(path.join(config, "file-history", ids[0]!)))
    }).pipe(Effect.scoped)
  )

  it.effect("archives instead, so that the session can be brought back as it was", () =>
    Effect.gen(function* () {
      const { layer, left, letGo, plan, projects, root, tree } = yield* placed
      const before = tree()
      const { candidates } = yield* plan({ olderThan: 2 * day })
      const directory = path.join(root, "archive")
      const put = yield* letGo(candidates[0]!, { archive: directory })
      assert.deepStrictEqual([put.outcome, put.archive], ["archived", path.join(directory, `${ids[0]!}.tar.gz`)])
      assert.deepStrictEqual(fs.readdirSync(directory), [`${ids[0]!}.tar.gz`])
      assert.isFalse(left().some((file) => file.includes(ids[0]!)))
      yield* Effect.provide(SessionBundle.importFrom(put.archive!, { projects }), layer)
      assert.deepStrictEqual(tree(), before)
    }).pipe(Effect.scoped)
  )

  it.effect("goes on where a kill left it: with its archive made, and some of its files gone", () =>
    Effect.gen(function* () {
      const { layer, left, letGo, plan, projects, root, tree } = yield* placed
      const before = tree()
      const directory = path.join(root, "archive")
      const planned = Effect.map(plan({ olderThan: 2 * day }), ({ candidates }) => candidates[0]!)
      const first = yield* planned
      const archive = path.join(directory, `${ids[0]!}.tar.gz`)
      fs.mkdirSync(directory)
      yield* Effect.provide(SessionBundle.exportTo(first.session.path, archive), layer)
      for (const { path: file } of first.files.slice(0, 2)) fs.rmSync(file)
      const again = yield* letGo(yield* planned, { archive: directory })
      assert.deepStrictEqual([again.outcome, again.archive], ["archived", archive])
      assert.isFalse(left().some((file) => file.includes(ids[0]!)))
      yield* Effect.provide(SessionBundle.importFrom(archive, { projects }), layer)
      assert.deepStrictEqual(tree(), before)
      // What went on since it was archived is not what the archive holds.
      fs.appendFileSync(first.session.path, "\n")
      const other = yield* letGo(yield* planned, { archive: directory })
      assert.strictEqual(other.outcome, "failed")
      assert.match(other.error!.message, /found one of another state; move it, or archive into another directory/)
      assert.isTrue(fs.existsSync(first.session.path))
    }).pipe(Effect.scoped)
  )

  it.effect("leaves a session to which somebody appends while it is archived, and its archive goes", () =>
    Effect.gen(function* () {
      const { layer, plan, root, tree } = yield* placed
      const [one] = (yield* plan({ olderThan: 2 * day })).candidates
      const directory = path.join(root, "archive")
      const before = tree()
      const appending = Effect.gen(function* () {
        const port = yield* EntryLog.EntryLog
        let listings = 0
        // The last look at the session before it is removed, by a program that knows no lock.
        const sidechains: typeof port.sidechains = (log) => {
          if (++listings === 3) fs.appendFileSync(one!.session.path, "\n")
          return port.sidechains(log)
        }
        return yield* Effect.provideService(Retention.letGo(one!, { archive: directory }), EntryLog.EntryLog, {
          ...port,
          sidechains
        })
      })
      assert.strictEqual((yield* Effect.provide(appending, layer)).outcome, "changed")
      assert.deepStrictEqual(fs.readdirSync(directory), [])
      assert.deepStrictEqual(Object.keys(tree()), Object.keys(before))
    }).pipe(Effect.scoped)
  )

  it.effect("leaves a session that is open, that changed, or that cannot be archived", () =>
    Effect.gen(function* () {
      const { layer, letGo, plan, root, tree } = yield* placed
      const { candidates } = yield* plan({ maxCount: 0 })
      const before = tree()
      const open = yield* Effect.provide(
        Effect.gen(function* () {
          const port = yield* EntryLog.EntryLog
          yield* port.locks!.claim(EntryLog.at(candidates[0]!.session.path))
          return yield* Retention.letGo(candidates[0]!, { delete: true })
        }).pipe(Effect.scoped),
        layer
      )
      assert.deepStrictEqual([open.outcome, open.error?._tag], ["open", "SessionLocked"])
      const directory = path.join(root, "archive")
      fs.mkdirSync(directory)
      fs.writeFileSync(path.join(directory, `${ids[1]!}.tar.gz`), "mine")
      const failed = yield* letGo(candidates[1]!, { archive: directory })
      assert.deepStrictEqual([failed.outcome, failed.error?._tag], ["failed", "BundleError"])
      assert.strictEqual(fs.readFileSync(path.join(directory, `${ids[1]!}.tar.gz`), "utf8"), "mine")
      assert.deepStrictEqual(tree(), before)
      fs.appendFileSync(candidates[2]!.session.path, "\n")
      assert.strictEqual((yield* letGo(candidates[2]!, { delete: true })).outcome, "changed")
      assert.isTrue(fs.existsSync(candidates[2]!.session.path))
    }).pipe(Effect.scoped)
  )
})
