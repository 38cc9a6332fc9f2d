import { assert, describe, it } from "@effect/vitest"
import * as Hydration from "@reprise/ingress/Hydration"
import * as Ingress from "@reprise/ingress/Ingress"
import * as RemoteLog from "@reprise/ingress/RemoteLog"
import * as ReplicaCursor from "@reprise/ingress/ReplicaCursor"
import * as Replicator from "@reprise/ingress/Replicator"
import { Effect, Stream } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { home, linesOf, sessionId, text } from "./hydrated.ts"
import { client } from "./scripted.ts"
import * as SeedServer from "./seedServer.ts"

/** A home, a literal server, and replicators between them over HTTP. */
const world = Effect.gen(function* () {
  const at = yield* home
  const server = yield* SeedServer.make
  const ingress = yield* client([server.url])
  const services = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(Effect.provideService(Ingress.Ingress, ingress), Effect.provide(at.layer))
  const once = (most = "5 seconds") =>
    Replicator.make(at.main, { profile: "compat", interval: "20 millis" }).pipe(
      Effect.flatMap(({ drain }) => drain(most as "5 seconds")),
      services,
      Effect.scoped
    )
  const hydrate = Effect.flatMap(RemoteLog.ofIngress(sessionId, "compat"), (log) =>
    Hydration.hydrate(at.main, log)
  ).pipe(services)
  const add = (content: string): void => {
    fs.mkdirSync(path.dirname(at.main), { recursive: true })
    fs.appendFileSync(at.main, content, { mode: 0o600 })
  }
  const own = () => server.log.entries.filter(({ uuid }) => !uuid.startsWith("foreign")).map(({ uuid }) => uuid)
  return { ...at, ...server, once, hydrate, add, own }
})

const mode = `${JSON.stringify({ type: "mode", mode: "plan", sessionId })}\n`
const picture = "u1-a1-u2-a2-u3-a3"
const messages = text(picture)
const ids = picture.split("-")
/** Messages among other lines, some of them of a sidechain, one with numbers that JSON would spell in another way. */
const log = [
  mode,
  text("u1~side"),
  ...linesOf(messages).map((line, i) => `${i === 2 ? line.replace("{", '{"n":1.0,') : line}\n${mode}`),
  "torn\n"
].join("")

describe("a literal server of the seed's protocol", () => {
  it.live("gets the messages of the main lane, each behind the one before, as they were written", () =>
    Effect.gen(function* () {
      const { add, asked, log: remote, once } = yield* world
      add(log)
      assert.strictEqual((yield* once()).status._tag, "Live")
      assert.deepStrictEqual(
        remote.entries.map((one) => one.text),
        linesOf(log).filter((line) => ids.some((id) => line.includes(`"uuid":"${id}"`)) && !line.includes("agentId"))
      )
      assert.deepStrictEqual(remote.puts, [undefined, ...ids.slice(0, -1)])
      assert.deepStrictEqual(
        [...new Set(asked.map(({ method, url }) => `${method} ${url}`))],
        [`PUT /v1/session_ingress/session/${sessionId}`]
      )
      add(text("u1-a1-u2-a2-u3-a3-u4").slice(messages.length))
      yield* once()
      assert.deepStrictEqual(remote.puts.at(-1), "a3")
      assert.strictEqual(remote.entries.length, 7)
    })
  )

  const lost: ReadonlyArray<
    readonly [what: string, put: ReadonlyArray<SeedServer.PutFate>, get?: ReadonlyArray<SeedServer.GetFate>]
  > = [
    ["answers that are lost after the entry was stored", ["drop-after", "well", "drop-after", "drop-after"]],
    ["requests that never arrive", ["drop-before", "well", "drop-before"]],
    ["a server that has no time", [503, "well", 503]],
    ["a token that is refused once", [401]],
    ["somebody else who writes there", ["well", "foreign-first", "well", "foreign-first"]],
    ["a lost answer, and then somebody else", ["well", "drop-after-then-foreign", "well", "drop-after-then-foreign"]],
    ["conflicts that do not say where the log ends", ["drop-after", "no-header", "well", "drop-after", "no-header"]],
    ["… and a log that cannot be read at first", ["drop-after", "no-header"], [401, "garbage", "cut", "well"]],
    ["… and one that is short at first", ["well", "well", "drop-after", "no-header"], ["short", "short"]],
    ["… and one that says that it is not there", ["drop-after", "no-header"], [404]]
  ]
  for (const [what, put, get = []] of lost)
    it.live(`${what}: each entry is there once, in order`, () =>
      Effect.gen(function* () {
        const { add, fates, once, own } = yield* world
        fates.put = [...put]
        fates.get = [...get]
        add(log)
        assert.strictEqual((yield* once("15 seconds")).status._tag, "Live")
        assert.deepStrictEqual(own(), ids)
      })
    )

  it.live("that lost its end, or all, gets it again", () =>
    Effect.gen(function* () {
      for (const kept of [0, 1, 3, 5]) {
        const { add, log: remote, once, own } = yield* world
        add(log)
        yield* once()
        remote.entries = remote.entries.slice(0, kept)
        add(text("u1-a1-u2-a2-u3-a3-u4").slice(messages.length))
        yield* once()
        assert.deepStrictEqual(own(), [...ids, "u4"], `${kept} kept`)
      }
    })
  )

  it.live("a cursor that is lost costs a few conflicts", () =>
    Effect.gen(function* () {
      const { add, log: remote, main, once, own } = yield* world
      add(log)
      yield* once()
      fs.rmSync(ReplicaCursor.fileOf(main))
      remote.puts = []
      add(text("u1-a1-u2-a2-u3-a3-u4").slice(messages.length))
      yield* once()
      assert.deepStrictEqual(own(), [...ids, "u4"])
      assert.deepStrictEqual(remote.puts, [undefined, "a3"])
    })
  )

  it.live("a program that was killed between an answer and its cursor goes on behind what is there", () =>
    Effect.gen(function* () {
      const { add, log: remote, main, once, own } = yield* world
      add(log)
      yield* once()
      const cursor = fs.readFileSync(ReplicaCursor.fileOf(main))
      add(text("u1-a1-u2-a2-u3-a3-u4-a4").slice(messages.length))
      yield* once()
      fs.writeFileSync(ReplicaCursor.fileOf(main), cursor)
      remote.intrude()
      yield* once()
      assert.deepStrictEqual(own(), [...ids, "u4", "a4"])
    })
  )
})

describe("hydration from it", () => {
  it.live("gets the entries as they are, and none of what is there already", () =>
    Effect.gen(function* () {
      const { add, hydrate, log: remote, once, read } = yield* world
      add(log)
      yield* once()
      remote.intrude()
      const { streams } = yield* hydrate
      assert.deepStrictEqual([streams[0]!.outcome, streams[0]!.added], ["fast-forward", 1])
      assert.strictEqual(read(), `${log}${remote.entries.at(-1)!.text}\n`)
      yield* once()
      assert.strictEqual(remote.entries.length, 7)
    })
  )

  it.live("changes nothing for an answer that is no log, with a session and without", () =>
    Effect.gen(function* () {
      for (const fate of [401, 404, "garbage", "cut"] as const)
        for (const content of ["", log]) {
          const { add, fates, hydrate, log: remote, tree } = yield* world
          if (content !== "") add(content)
          for (const line of linesOf(text("u1-a1-u9"))) remote.put(line, remote.head, "well")
          const before = tree()
          fates.get = [fate, fate]
          const result = yield* Effect.result(hydrate)
          assert.strictEqual(result._tag, fate === 404 ? "Success" : "Failure")
          if (result._tag === "Success") assert.strictEqual(result.success.streams[0]!.outcome, "remote-empty")
          const after = tree()
          for (const [file, was] of Object.entries(before)) assert.strictEqual(after[file], was)
          assert.deepStrictEqual(
            Object.keys(after).filter((file) => file.endsWith(".jsonl")),
            Object.keys(before)
          )
        }
    })
  )

  it.live("of a short log adds what is in it, and takes nothing away", () =>
    Effect.gen(function* () {
      const { add, fates, hydrate, log: remote, read } = yield* world
      add(messages)
      for (const line of linesOf(text("u1-a1-u9-a9"))) remote.put(line, remote.head, "well")
      fates.get = ["short"]
      assert.strictEqual((yield* hydrate).streams[0]!.outcome, "local-ahead")
      assert.strictEqual(read(), messages)
      yield* hydrate
      assert.strictEqual(read().slice(0, messages.length), messages)
      assert.strictEqual(linesOf(read()).length, linesOf(messages).length + 3)
    })
  )

  it.live("of events of agents with hostile names writes nothing but the session's own files", () =>
    Effect.gen(function* () {
      const { layer, main, tree } = yield* world
      const names = ["../x", "../../../../tmp/x", "a/../../b", "x\u0000", "/etc/passwd", "good"]
      const pages = Stream.succeed(names.map((agent_id) => ({ agent_id, payload: { type: "user", uuid: "u1" } })))
      const { refused } = yield* Effect.provide(Hydration.hydrate(main, RemoteLog.ofEvents(pages)), layer)
      assert.deepStrictEqual(
        refused.map(({ stream }) => stream),
        names.slice(0, -1)
      )
      assert.deepStrictEqual(
        Object.keys(tree()).map((file) => path.basename(file)),
        ["agent-good.jsonl"]
      )
    })
  )
})
