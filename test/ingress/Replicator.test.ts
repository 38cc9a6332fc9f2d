import { assert, describe, it } from "@effect/vitest"
import { Deleted, Forbidden, TooLarge, TooManyRequests, Unauthorized, Unavailable } from "@reprise/ingress/IngressError"
import * as RemoteLog from "@reprise/ingress/RemoteLog"
import * as ReplicaCursor from "@reprise/ingress/ReplicaCursor"
import * as Replicator from "@reprise/ingress/Replicator"
import { Effect, Stream, SubscriptionRef } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { home, linesOf, sessionId, text } from "./hydrated.ts"
import * as Remote from "./remote.ts"

/** A home and a remote, and replicators between them. */
const world = Effect.gen(function* () {
  const at = yield* home
  const remote = yield* Remote.make
  const replicate = (options: Replicator.Options = {}) =>
    Effect.provide(Replicator.make(at.main, { interval: "20 millis", ...options }), [at.layer, remote.layer])
  /** Replicates until all is sent, and stops. */
  const once = (options: Replicator.Options = {}) =>
    Effect.scoped(Effect.flatMap(replicate(options), ({ drain }) => drain("5 seconds")))
  const add = (content: string, file = at.main): void => {
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.appendFileSync(file, content)
  }
  return { ...at, remote, replicate, once, add, there: (sub = "") => remote.text(sessionId, sub) }
})

/** What a remote was asked, but for where it ends. */
const sent = ({ asked }: { readonly asked: ReadonlyArray<string> }) => asked.filter((request) => request !== "streams")

/** Waits until a replicator is in one of these states. */
const until = ({ status }: Replicator.Replicator, ...tags: ReadonlyArray<string>) =>
  SubscriptionRef.changes(status).pipe(
    Stream.filter(({ _tag }) => tags.includes(_tag)),
    Stream.runHead,
    Effect.timeout("5 seconds"),
    Effect.map((found) => (found._tag === "Some" ? found.value : assert.fail()))
  )

const mode = (n: number) => `${JSON.stringify({ type: "mode", mode: `m${n}`, sessionId })}\n`
const log =
  text("u1-a1") + mode(1) + "torn in the middle\n\n" + mode(1) + text("u1-a1-u2-a2").slice(text("u1-a1").length)

describe("a log is sent as it is", () => {
  it.live("every line, whatever it is, and what comes later", () =>
    Effect.gen(function* () {
      const { add, replicate, there } = yield* world
      const { behind, drain } = yield* replicate()
      assert.deepStrictEqual(yield* drain("1 second"), {
        bytes: 0,
        streams: [],
        aside: 0,
        unnamed: [],
        status: { _tag: "Idle" }
      })
      add(log)
      assert.deepStrictEqual((yield* drain("5 seconds")).status, { _tag: "Live" })
      assert.strictEqual(yield* there(), log)
      add(mode(2))
      add(mode(3))
      yield* drain("5 seconds")
      assert.strictEqual(yield* there(), log + mode(2) + mode(3))
      assert.strictEqual((yield* behind).bytes, 0)
    })
  )

  it.live("a line is sent when it has ended", () =>
    Effect.gen(function* () {
      const { add, replicate, there } = yield* world
      const { drain } = yield* replicate()
      add(mode(1) + mode(2).slice(0, 9))
      const behind = yield* drain("5 seconds")
      assert.deepStrictEqual([behind.bytes, behind.streams], [9, [{ stream: "", bytes: 9 }]])
      assert.strictEqual(yield* there(), mode(1))
      add(mode(2).slice(9))
      yield* drain("5 seconds")
      assert.strictEqual(yield* there(), mode(1) + mode(2))
    })
  )

  it.live("agents have streams of their own", () =>
    Effect.gen(function* () {
      const { add, agent, replicate, there } = yield* world
      add(log)
      add(text("u1~a"), agent("a"))
      const { drain } = yield* replicate()
      yield* drain("5 seconds")
      const deep = path.join(path.dirname(agent("a")), "w", "x", "agent-b.jsonl")
      add(text("u1~b"), deep)
      add(text("u2~a"), agent("a"))
      yield* drain("5 seconds")
      assert.deepStrictEqual(
        [yield* there(), yield* there("a"), yield* there("w/x/b")],
        [log, text("u1~a") + text("u2~a"), text("u1~b")]
      )
    })
  )

  it.live("agents where old versions put them, and those that no remote can name are told", () =>
    Effect.gen(function* () {
      const { add, agent, main, replicate, there } = yield* world
      const beside = (name: string) => path.join(path.dirname(main), `agent-${name}.jsonl`)
      add(log)
      add(text("u1~a"), agent("a"))
      add(text("u1~c"), agent("c.d"))
      for (const [name, session] of [
        ["old", sessionId],
        ["a", sessionId],
        ["other", "else"]
      ] as const) {
        add(
          `${JSON.stringify({ type: "user", uuid: `${name}1`, sessionId: session, message: { content: "x" } })}\n`,
          beside(name)
        )
      }
      const { drain } = yield* replicate()
      const { bytes, status, unnamed } = yield* drain("5 seconds")
      assert.deepStrictEqual([bytes, status._tag], [0, "Live"])
      assert.deepStrictEqual(unnamed, [agent("c.d"), beside("a")])
      assert.deepStrictEqual(
        [yield* there("a"), yield* there("old")],
        [text("u1~a"), fs.readFileSync(beside("old"), "utf8")]
      )
    })
  )

  it.live("in batches, one after the other", () =>
    Effect.gen(function* () {
      const { add, once, remote, there } = yield* world
      add(log)
      yield* once({ batchLines: 2 })
      assert.strictEqual(yield* there(), log)
      assert.deepStrictEqual(sent(remote), [
        "claim",
        "append 2 behind nothing",
        "append 2 behind a1",
        "append 2 behind a1",
        "append 2 behind a1"
      ])
      add(mode(7))
      yield* once({ batchBytes: 1 })
      assert.strictEqual(yield* there(), log + mode(7))
    })
  )
})

describe("nothing is sent twice, and nothing is left out", () => {
  it.live("after a restart it goes on at its cursor, with the claim that it had", () =>
    Effect.gen(function* () {
      const { add, main, once, remote, there } = yield* world
      add(log)
      yield* once()
      add(mode(2))
      yield* once()
      assert.strictEqual(yield* there(), log + mode(2))
      assert.deepStrictEqual(sent(remote), ["claim", "append 8 behind nothing", "append 1 behind a2"])
      const cursor = yield* ReplicaCursor.read(main)
      assert.deepStrictEqual([cursor?.writer?.epoch, cursor?.seq, cursor?.head], [1, 9, "a2"])
      yield* once({ claim: "anew" })
      assert.strictEqual((yield* ReplicaCursor.read(main))?.writer?.epoch, 2)
    })
  )

  it.live("a copy of log and cursor is another writer: it claims the session, and the first one hears of it", () =>
    Effect.gen(function* () {
      const { add, main, once, remote, there } = yield* world
      add(log)
      yield* once()
      const copy = yield* home
      copy.put(copy.main, fs.readFileSync(main, "utf8"))
      copy.put(ReplicaCursor.fileOf(copy.main), fs.readFileSync(ReplicaCursor.fileOf(main), "utf8"))
      fs.appendFileSync(copy.main, mode(7))
      const copied = yield* Effect.scoped(
        Effect.flatMap(Replicator.make(copy.main), ({ drain }) => drain("5 seconds")).pipe(
          Effect.provide([copy.layer, remote.layer])
        )
      )
      assert.deepStrictEqual([copied.bytes, copied.status._tag], [0, "Live"])
      assert.strictEqual(yield* there(), log + mode(7))
      add(mode(8))
      assert.deepStrictEqual((yield* once()).status, { _tag: "Fenced", epoch: 2 })
    })
  )

  it.live("a cursor that is lost costs a look at what is there", () =>
    Effect.gen(function* () {
      const { add, main, once, there } = yield* world
      add(log)
      yield* once({ batchLines: 3 })
      for (const content of ["", "nonsense", undefined]) {
        if (content === undefined) fs.rmSync(ReplicaCursor.fileOf(main))
        else fs.writeFileSync(ReplicaCursor.fileOf(main), content)
        add(mode(9))
        yield* once({ batchLines: 4 })
        assert.strictEqual(yield* there(), fs.readFileSync(main, "utf8"))
      }
    })
  )

  it.live("answers that are lost are asked for again", () =>
    Effect.gen(function* () {
      const { add, once, remote, there } = yield* world
      add(log)
      const fates: Array<Remote.Fate> = ["well", "lost-after", "lost-before"]
      remote.decide(() => fates.shift() ?? "well")
      yield* once({ batchLines: 3 })
      assert.strictEqual(yield* there(), log)
    })
  )

  it.live("a log that was replaced, cut or written over is looked through from its beginning", () =>
    Effect.gen(function* () {
      const { add, main, once, put, there } = yield* world
      add(log)
      yield* once()
      fs.copyFileSync(main, `${main}.copy`)
      fs.renameSync(`${main}.copy`, main)
      add(mode(4))
      yield* once()
      assert.strictEqual(yield* there(), log + mode(4))
      // The end was lost with the power; what is written now is new.
      put(main, log)
      add(mode(5))
      yield* once()
      assert.strictEqual(yield* there(), log + mode(4) + mode(5))
    })
  )

  it.live("a line that another has the id of is kept beside the log, told, and passed by", () =>
    Effect.gen(function* () {
      const { add, main, replicate, there } = yield* world
      const [u1, a1] = linesOf(text("u1-a1")).map((line) => `${line}\n`) as [string, string]
      const other = u1.replace("[u1]", "else")
      add(u1 + other + a1)
      const { asides, drain } = yield* replicate()
      const behind = yield* drain("5 seconds")
      assert.deepStrictEqual([behind.bytes, behind.aside], [0, 1])
      assert.strictEqual(yield* there(), u1 + a1)
      assert.strictEqual(
        fs.readFileSync(`${main}.conflicts`, "utf8"),
        `{"from":"local","k":"u1","e":${other.trimEnd()}}\n`
      )
      const [aside] = yield* Stream.runCollect(Stream.take(asides, 1))
      assert.deepStrictEqual([aside?.stream, aside?.key], ["", "u1"])
      assert.include(aside!.why, "other bytes")
    })
  )
})

describe("the remote went another way", () => {
  it.live("back, as after a restore: what it lost is sent again", () =>
    Effect.gen(function* () {
      for (const kept of [0, 1, 2, 3, 5, 7, 8]) {
        const { add, agent, once, remote, there } = yield* world
        add(log)
        add(text("u1~a-u2~a"), agent("a"))
        yield* once()
        yield* remote.restore(sessionId, (_, count) => Math.min(kept, count))
        add(mode(2))
        add(text("u3~a"), agent("a"))
        yield* once({ batchLines: 3 })
        assert.deepStrictEqual(
          [yield* there(), yield* there("a")],
          [log + mode(2), text("u1~a-u2~a") + text("u3~a")],
          `${kept} lines kept`
        )
      }
    })
  )

  it.live("back to before it was claimed: it is claimed again", () =>
    Effect.gen(function* () {
      const { add, main, once, remote, there } = yield* world
      add(log)
      yield* once()
      yield* once({ claim: "anew" })
      yield* remote.restore(sessionId, () => 3, { sameId: true, claims: 0 })
      add(mode(2))
      const { status } = yield* once()
      assert.deepStrictEqual([status._tag, yield* there()], ["Live", log + mode(2)])
      assert.strictEqual((yield* ReplicaCursor.read(main))?.writer?.epoch, 1)
    })
  )

  it.live("another store is in its place: all is sent, and what is there is known", () =>
    Effect.gen(function* () {
      for (const [kept, claims] of [
        [0, 0],
        [4, 0],
        [8, 1],
        [8, 9],
        [2, 1]
      ] as const) {
        const { add, agent, main, once, remote, there } = yield* world
        add(log)
        add(text("u1~a-u2~a"), agent("a"))
        yield* once()
        const before = (yield* ReplicaCursor.read(main))?.backend
        yield* remote.restore(sessionId, (_, count) => Math.min(kept, count), { sameId: false, claims })
        add(mode(2))
        const { status } = yield* once()
        if (claims === 9) {
          // Somebody else claimed it there, and more often.
          assert.strictEqual(status._tag, "Fenced")
          continue
        }
        yield* once()
        assert.strictEqual(yield* there(), log + mode(2))
        assert.strictEqual(yield* there("a"), text("u1~a-u2~a"))
        assert.notStrictEqual((yield* ReplicaCursor.read(main))?.backend, before)
      }
    })
  )

  it.live("another store takes no new line before all that is older was sent again", () =>
    Effect.gen(function* () {
      const { add, once, remote, there } = yield* world
      add(log)
      yield* once()
      const before = remote.asked.length
      // It ends as the one before did, so that the new line would fit behind its end.
      yield* remote.restore(sessionId, (_, count) => count, { sameId: false, claims: 1 })
      add(mode(2))
      yield* once()
      const count = linesOf(log).length
      assert.deepStrictEqual(
        remote.asked.slice(before).filter((one) => one.startsWith("append")),
        ["append 1 behind a2", `append ${count + 1} behind nothing`]
      )
      assert.strictEqual(yield* there(), log + mode(2))
    })
  )

  it.live("by another writer, whose lines the log does not have: it stops until they are hydrated", () =>
    Effect.gen(function* () {
      const { add, hydrate, main, once, remote, there } = yield* world
      add(text("u1-a1"))
      yield* once()
      yield* remote.write(sessionId, text("u9-a9"))
      add(mode(2))
      const { bytes, status } = yield* once()
      assert.deepStrictEqual(status, { _tag: "Diverged", stream: "", head: "a9" })
      assert.strictEqual(bytes, mode(2).length)
      const copy = yield* Effect.provide(RemoteLog.ofIngress(sessionId, "native"), remote.layer)
      yield* hydrate(copy)
      assert.strictEqual((yield* once()).status._tag, "Live")
      assert.strictEqual(yield* there(), text("u1-a1") + text("u9-a9") + mode(2))
      assert.strictEqual(fs.readFileSync(main, "utf8"), text("u1-a1") + mode(2) + text("u9-a9"))
    })
  )

  it.live("another claimed the session: nothing of ours gets there any more, the log goes on", () =>
    Effect.gen(function* () {
      const { add, remote, replicate, there } = yield* world
      add(text("u1"))
      const replicator = yield* replicate()
      yield* replicator.drain("5 seconds")
      yield* remote.ingress.claim(sessionId, "another")
      add(text("u1-a1").slice(text("u1").length))
      assert.deepStrictEqual(yield* until(replicator, "Fenced"), { _tag: "Fenced", epoch: 2 })
      const before = remote.asked.length
      add(mode(1))
      yield* Effect.sleep("100 millis")
      assert.strictEqual(
        (yield* replicator.drain("5 seconds")).bytes,
        linesOf(text("u1-a1"))[1]!.length + 1 + mode(1).length
      )
      assert.strictEqual(remote.asked.length, before)
      assert.strictEqual(yield* there(), text("u1"))
    })
  )
})

describe("the remote does not do it", () => {
  const cases = [
    { failure: "lost-before", tag: "Backoff" },
    { failure: new Unavailable({ retryAfter: 0 }), tag: "Backoff" },
    { failure: new TooManyRequests({ retryAfter: 0 }), tag: "Backoff" },
    { failure: new Unauthorized(), tag: "AuthRequired" },
    { failure: new Forbidden({ scope: "append" }), tag: "AuthRequired" }
  ] as const
  for (const { failure, tag } of cases)
    it.live(
      `${typeof failure === "string" ? failure : failure._tag}: ${tag}, since when and why, and then it goes on`,
      () =>
        Effect.gen(function* () {
          const { add, remote, replicate, there } = yield* world
          remote.decide(() => failure)
          add(log)
          const replicator = yield* replicate()
          const found = yield* until(replicator, tag)
          assert.isAbove((found as { readonly since: number }).since, 1_700_000_000_000)
          assert.isNotEmpty((found as { readonly why: string }).why)
          assert.strictEqual((yield* replicator.drain("50 millis")).bytes, log.length)
          remote.decide(() => "well")
          assert.strictEqual((yield* replicator.drain("5 seconds")).status._tag, "Live")
          assert.strictEqual(yield* there(), log)
        })
    )

  it.live("it is asked again when it says, and not before", () =>
    Effect.gen(function* () {
      const { add, remote, replicate } = yield* world
      let n = 0
      remote.decide(() => (n++ === 0 ? new Unavailable({ retryAfter: 1 }) : "well"))
      add(log)
      const { drain } = yield* replicate()
      assert.strictEqual((yield* drain("700 millis")).status._tag, "Backoff")
      assert.strictEqual(remote.asked.length, 1)
      assert.strictEqual((yield* drain("5 seconds")).status._tag, "Live")
    })
  )

  it.live("a batch that is too large is sent in parts; a line that is stays where it is, others go on", () =>
    Effect.gen(function* () {
      const { add, agent, remote, replicate, there } = yield* world
      remote.decide((request) => {
        const count = Number(/^append (\d+)/.exec(request)?.[1] ?? 0)
        return count > 2 ? new TooLarge({ what: "batch", limit: 9 }) : "well"
      })
      add(log)
      const replicator = yield* replicate()
      yield* replicator.drain("5 seconds")
      assert.strictEqual(yield* there(), log)
      remote.decide((request) => (request.endsWith(" in a") ? new TooLarge({ what: "line", limit: 9 }) : "well"))
      add(text("u1~a-u2~a"), agent("a"))
      add(mode(2))
      const { bytes, status } = yield* replicator.drain("5 seconds")
      assert.deepStrictEqual(status, { _tag: "Blocked", stream: "a", why: "entry-too-large" })
      assert.strictEqual(bytes, text("u1~a-u2~a").length)
      assert.strictEqual(yield* there(), log + mode(2))
    })
  )

  it.live("a session that was deleted there ends it", () =>
    Effect.gen(function* () {
      const { add, once, remote } = yield* world
      add(log)
      remote.decide(() => new Deleted())
      assert.deepStrictEqual((yield* once()).status, { _tag: "Blocked", stream: "", why: "deleted" })
    })
  )
})

describe("what can be replicated", () => {
  it.live("a main log whose name a remote takes", () =>
    Effect.gen(function* () {
      const { agent, layer, project, remote } = yield* world
      for (const file of [agent("a"), path.join(project, "notes.txt"), path.join(project, "a b.jsonl")]) {
        const error = yield* Effect.flip(Effect.provide(Replicator.make(file), [layer, remote.layer]))
        assert.strictEqual(error._tag, "NotReplicable")
        assert.include(error.message, file)
      }
    })
  )
})
