import { assert, describe, it } from "@effect/vitest"
import * as Hydration from "@reprise/ingress/Hydration"
import * as Ingress from "@reprise/ingress/Ingress"
import * as RemoteLog from "@reprise/ingress/RemoteLog"
import * as ReplicaCursor from "@reprise/ingress/ReplicaCursor"
import * as Replicator from "@reprise/ingress/Replicator"
import { Arbitrary, Effect, Exit, Fiber, Schema, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as fs from "node:fs"
import * as path from "node:path"
import * as budget from "../laws/budget.ts"
import { home, linesOf, sessionId } from "./hydrated.ts"
import * as Remote from "./remote.ts"
import * as SeedServer from "./seedServer.ts"

const kinds = [
  ...(["message", "message", "message", "message", "mode", "mode", "odd", "blank", "half", "agent", "agent"] as const),
  ...(["kill", "kill", "forget", "copy", "back", "swap", "rest", "rest"] as const)
]

/** What happens: a line is written, a half of one, a program dies, the remote loses its end, and so on. */
const Op = Schema.Struct({
  what: Schema.Literals(kinds),
  n: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 7 }))
})
const Ops = Arbitrary.array(Arbitrary.schema(Op), { maxLength: 30 })
/** What becomes of requests, one after the other, and again from the first: now and then all goes well. */
const Fates = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Literals(["well", "lost-before", "lost-after"])), { maxLength: 8 }),
  (fates): ReadonlyArray<Remote.Fate> => [...fates, "well"]
)

const line = (value: object) => `${JSON.stringify({ ...value, sessionId })}\n`

/** A home with a replicator that can be killed, and a clock that nobody waits for. */
const world = Effect.fnUntraced(function* (
  fates: ReadonlyArray<Remote.Fate>,
  other: { readonly profile?: "compat"; readonly ingress?: Ingress.Ingress["Service"] } = {}
) {
  const at = yield* home
  const remote = yield* Remote.make
  let asked = 0
  remote.decide(() => fates[asked++ % fates.length]!)
  let running: { readonly replicator: Replicator.Replicator; readonly scope: Scope.Closeable } | undefined
  const start = Effect.gen(function* () {
    const scope = yield* Scope.make()
    const making = Replicator.make(at.main, { batchLines: 3, batchBytes: 300, profile: other.profile ?? "native" })
    const replicator = yield* making.pipe(
      Effect.provideService(Ingress.Ingress, other.ingress ?? remote.ingress),
      Effect.provide(at.layer),
      Scope.provide(scope)
    )
    running = { replicator, scope }
    return replicator
  })
  const kill = Effect.suspend(() => {
    const dead = running
    running = undefined
    return dead === undefined ? Effect.void : Scope.close(dead.scope, Exit.void)
  })
  const rest = Effect.gen(function* () {
    yield* running === undefined ? Effect.asVoid(start) : running.replicator.nudge
    for (let i = 0; i < 3; i++) yield* TestClock.adjust("3 seconds")
  })
  /** All that is there is sent, however long that takes. */
  const settle = Effect.gen(function* () {
    const replicator = running?.replicator ?? (yield* start)
    const drained = yield* Effect.forkChild(replicator.drain("1 hour"))
    for (let i = 0; i < 500 && drained.pollUnsafe() === undefined; i++) yield* TestClock.adjust("9 seconds")
    return yield* Fiber.join(drained)
  })
  return { ...at, remote, start, kill, rest, settle }
})

/** A fifth of what other laws get: each run writes files. */
const budgeted = { arbitrary: { runs: Math.ceil(budget.runs / 5), seed: budget.seed }, timeout: budget.timeout }

describe("one writer, whatever happens", () => {
  it.effect.prop(
    "the remote is a prefix of every stream, and equal once all is sent",
    [Ops, Fates],
    ([ops, fates]) =>
      Effect.gen(function* () {
        const { agent, copy, kill, main, remote, rest, settle } = yield* Effect.map(world(fates), (made) => ({
          ...made,
          copy: () => {
            if (!fs.existsSync(made.main)) return
            fs.copyFileSync(made.main, `${made.main}.copy`)
            fs.renameSync(`${made.main}.copy`, made.main)
          }
        }))
        const files = { "": main, a: agent("a") }
        const add = (content: string, file = main): void => {
          fs.mkdirSync(path.dirname(file), { recursive: true })
          fs.appendFileSync(file, content)
        }
        let count = 0
        let half = ""
        for (const { n, what } of ops) {
          const ends = half
          half = ""
          if (ends !== "") add(ends)
          const id = `m${++count}`
          if (what === "message") add(line({ type: "user", uuid: id, text: "x".repeat(n * 30) }))
          else if (what === "mode") add(line({ type: "mode", mode: String(n % 2) }))
          else if (what === "odd") add("torn before\n")
          else if (what === "blank") add("\n")
          else if (what === "agent") add(line({ type: "user", uuid: id, agentId: "a", isSidechain: true }), files.a)
          else if (what === "half") {
            const whole = line({ type: "user", uuid: id })
            half = whole.slice(9)
            add(whole.slice(0, 9))
          } else if (what === "kill") yield* kill
          else if (what === "forget") {
            yield* kill
            fs.rmSync(ReplicaCursor.fileOf(n % 2 === 0 ? main : files.a), { force: true })
          } else if (what === "copy") copy()
          else if (what === "back") yield* remote.restore(sessionId, (_, all) => Math.max(0, all - n))
          else if (what === "swap")
            yield* remote.restore(sessionId, (_, all) => Math.max(0, all - n), { sameId: false, claims: 0 })
          else yield* rest
          for (const [sub, file] of Object.entries(files)) {
            const there = (yield* remote.text(sessionId, sub)) ?? ""
            const here = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : ""
            assert.strictEqual(here.slice(0, there.length), there)
          }
        }
        if (half !== "") add(half)
        const { bytes } = yield* settle
        assert.strictEqual(bytes, 0)
        for (const [sub, file] of Object.entries(files)) {
          const here = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : ""
          assert.strictEqual((yield* remote.text(sessionId, sub)) ?? "", here)
        }
        yield* kill
      }).pipe(Effect.scoped),
    budgeted
  )
})

describe("two machines, one session", () => {
  const Turn = Schema.Struct({
    who: Schema.Literals([0, 1]),
    lines: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 })),
    sends: Schema.Boolean
  })

  it.effect.prop(
    "each hydrates before it writes: nothing of either is lost, nothing is there twice, and both end with the same",
    [Arbitrary.array(Arbitrary.schema(Turn), { maxLength: 12 }), Fates],
    ([turns, fates]) =>
      Effect.gen(function* () {
        const first = yield* world(fates)
        const second = yield* world(["well"])
        const { remote } = first
        const both = [first, { ...second, remote }] as const
        const written: Array<string> = []
        /** A session on one machine: what the other wrote comes first, then what is said, then all is sent or not. */
        const turn = Effect.fnUntraced(function* (who: 0 | 1, lines: number, sends: boolean) {
          const { layer, main } = both[who]
          remote.decide(() => "well")
          yield* Effect.gen(function* () {
            const copy = yield* RemoteLog.ofIngress(sessionId, "native")
            yield* Hydration.hydrate(main, copy)
          }).pipe(Effect.provide([layer, remote.layer]))
          let asked = 0
          remote.decide(() => fates[asked++ % fates.length]!)
          fs.mkdirSync(path.dirname(main), { recursive: true })
          for (let i = 0; i < lines; i++) {
            const uuid = `${who}-${written.length}`
            written.push(uuid)
            const mode = i === 1 ? line({ type: "mode", mode: uuid }) : ""
            fs.appendFileSync(main, line({ type: "user", uuid }) + mode)
          }
          if (!sends) return
          const replicator = yield* Replicator.make(main, { batchLines: 2 }).pipe(Effect.provide([layer, remote.layer]))
          const drained = yield* Effect.forkChild(replicator.drain("1 hour"))
          for (let i = 0; i < 500 && drained.pollUnsafe() === undefined; i++) yield* TestClock.adjust("9 seconds")
          const { bytes, status } = yield* Fiber.join(drained)
          assert.deepStrictEqual([bytes, status._tag], [0, lines > 0 || fs.existsSync(main) ? "Live" : "Idle"])
        }, Effect.scoped)
        for (const { lines, sends, who } of turns) yield* turn(who, lines, sends)
        for (const who of [0, 1, 0] as const) yield* turn(who, 0, true)

        const there = linesOf((yield* remote.text(sessionId)) ?? "")
        const ids = there.flatMap((one) => JSON.parse(one).uuid ?? [])
        assert.sameMembers(ids, written)
        for (const { main } of both) {
          const here = fs.existsSync(main) ? linesOf(fs.readFileSync(main, "utf8")) : []
          assert.sameMembers([...here], [...there])
        }
      }).pipe(Effect.scoped),
    budgeted
  )
})

describe("a server that knows no entry again", () => {
  const Seed = Schema.Struct({
    what: Schema.Literals([
      "message",
      "message",
      "message",
      "mode",
      "kill",
      "kill",
      "forget",
      "rest",
      "foreign",
      "back"
    ]),
    n: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))
  })
  const PutFate = Schema.Literals([
    ...([
      "well",
      "well",
      "drop-before",
      "drop-after",
      "foreign-first",
      "drop-after-then-foreign",
      "no-header"
    ] as const),
    503
  ])
  const GetFate = Schema.Literals(["well", "well", "garbage", 401])
  const cycle = <A>(all: ReadonlyArray<A>) => {
    let at = 0
    return () => all[at++ % all.length]!
  }

  it.effect.prop(
    "holds each message once, in order, whoever else writes and whatever is lost; or, alone with us, what it lost again",
    {
      ops: Arbitrary.array(Arbitrary.schema(Seed), { maxLength: 25 }),
      puts: Arbitrary.array(Arbitrary.schema(PutFate), { maxLength: 6 }),
      gets: Arbitrary.array(Arbitrary.schema(GetFate), { maxLength: 3 }),
      isAlone: Schema.Boolean
    },
    ({ gets, isAlone, ops, puts }) =>
      Effect.gen(function* () {
        const log = new SeedServer.SeedLog()
        const isForeign = (fate: string | number) => String(fate).includes("foreign")
        const putFate = cycle<SeedServer.PutFate>([...puts.filter((fate) => !(isAlone && isForeign(fate))), "well"])
        const getFate = cycle<SeedServer.GetFate>([...gets, "well"])
        const { kill, main, rest, settle } = yield* world(["well"], {
          profile: "compat",
          ingress: SeedServer.inProcess(log, putFate, getFate)
        })
        fs.mkdirSync(path.dirname(main), { recursive: true })
        fs.writeFileSync(main, "")
        const written: Array<string> = []
        for (const { n, what } of ops) {
          if (what === "message") {
            written.push(`m${written.length}`)
            fs.appendFileSync(main, line({ type: "user", uuid: written.at(-1), text: "x".repeat(n * 30) }))
          } else if (what === "mode") fs.appendFileSync(main, line({ type: "mode", mode: String(n) }))
          else if (what === "kill") yield* kill
          else if (what === "forget") {
            yield* kill
            fs.rmSync(ReplicaCursor.fileOf(main), { force: true })
          } else if (what === "foreign" && !isAlone) log.intrude()
          else if (what === "back" && isAlone) log.entries = log.entries.slice(0, Math.max(0, log.entries.length - n))
          else if (what === "rest") yield* rest
        }
        // What went back while nothing was written is seen with the next message.
        written.push("last")
        fs.appendFileSync(main, line({ type: "user", uuid: "last" }))
        assert.strictEqual((yield* settle).bytes, 0)
        const own = log.entries.flatMap(({ uuid }) => (uuid.startsWith("foreign") ? [] : [uuid]))
        assert.deepStrictEqual(own, written)
        yield* kill
      }).pipe(Effect.scoped),
    budgeted
  )
})
