/** What recovery shows of a session that a transcript wrote is what its program saw live (RECOVERY §5 to §8, §13). */
import { assert, describe, it } from "@effect/vitest"
import * as Entry from "@reprise/domain/Entry"
import * as Message from "@reprise/domain/Message"
import * as Recovery from "@reprise/recovery/Recovery"
import type { SessionState } from "@reprise/recovery/SessionState"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Transcript from "@reprise/storage/Transcript"
import { Effect, Layer, Schema, Stream } from "effect"
import * as Seeded from "../crash/seeded.ts"

const options = { sessionId: "00000000-0000-4000-8000-000000000001", cwd: "/work", version: "2.1.332" }
const memory = SessionWriter.layer.pipe(Layer.provideMerge(EntryLog.layerMemory))

const calling = (reply: string, ...ids: ReadonlyArray<string>) =>
  Message.assistant({
    id: reply,
    model: "m",
    content: ids.map((id) => ({ type: "tool_use", id, name: "Bash", input: {} }))
  })
const results = (...ids: ReadonlyArray<string>) =>
  Message.toolResults(ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "done" })))
const text = (reply: string, content: string) =>
  Message.assistant({ id: reply, model: "m", content: [{ type: "text", text: content }] })
const date = Message.attachment({ type: "date", date: "2026-01-02" })

/** A message as the program that appended it sees it; those of one round share a number. */
interface Seen {
  readonly uuid: string
  readonly round: number
  readonly isNote?: boolean
  /** A boundary or its summary: nobody takes those out. */
  readonly isFixed?: boolean
}

/** A program at work: what it shows, and the transcript that it has open. */
class Program {
  visible: ReadonlyArray<Seen> = []
  open: ReadonlyArray<string> = []
  /** It is not gone back behind this place: kept messages and late results belong to what stands before them. */
  firm = 0
  private numbers = 0

  readonly transcript: Transcript.Transcript

  constructor(transcript: Transcript.Transcript, before?: Program) {
    this.transcript = transcript
    if (before !== undefined) Object.assign(this, before, { transcript })
  }

  fresh(): number {
    return ++this.numbers
  }

  say(body: Message.MessageBody, round = this.fresh(), isNote = false) {
    return Effect.map(this.transcript.append(body), ({ uuid }) => {
      this.visible = [...this.visible, { uuid, round, isNote }]
      return uuid
    })
  }

  /** The end of the round that the message at this place belongs to. */
  endOfRound(at: number): number {
    return this.visible.findLastIndex(({ round }) => round === this.visible[at]!.round)
  }
}

type Step = (program: Program, random: Seeded.Random) => Effect.Effect<unknown, Transcript.Failure>

/** Calls of one reply in entries of their own, with results in any order, now and then a note, and some results late. */
const round: Step = (program, random) =>
  Effect.gen(function* () {
    const number = program.fresh()
    const ids = Array.from({ length: 1 + Seeded.below(random, 4) }, (_, i) => `toolu_${number}_${i}`)
    if (random() < 0.3) yield* program.say(text(`msg_${number}`, "I look"), number)
    const waiting: Array<string> = []
    const answer = Effect.suspend(() => {
      const [id] = waiting.splice(Seeded.below(random, waiting.length), 1)
      return program.say(results(id!), number)
    })
    for (const id of ids) {
      yield* program.say(calling(`msg_${number}`, id), number)
      waiting.push(id)
      if (random() < 0.2) yield* answer
    }
    while (waiting.length > 0) {
      if (random() < 0.05) break
      yield* answer
      if (random() < 0.15) yield* program.say(date, number, true)
    }
    program.open = waiting
    if (random() < 0.8) yield* program.say(text(`msg_${program.fresh()}`, "I see"))
  })

const steps: ReadonlyArray<Step> = [
  (program) => program.say(Message.user("go on")),
  (program) => program.say(text(`msg_${program.fresh()}`, "so")),
  round,
  round,
  round,
  (program) =>
    Effect.suspend(() => {
      const late = program.open
      program.open = []
      if (late.length === 0) return Effect.void
      program.firm = program.visible.length
      return program.say(results(...late))
    }),
  (program) => Effect.andThen(program.say(Message.user("today")), program.say(date)),
  (program) =>
    Effect.gen(function* () {
      yield* program.say(Message.user("x"))
      const { uuid } = yield* program.transcript.endTurn({ durationMs: 1 })
      program.visible = [...program.visible, { uuid, round: program.fresh() }]
    }),
  (program, random) =>
    Effect.gen(function* () {
      const { firm, visible } = program
      let at = firm + Seeded.below(random, visible.length - firm)
      const end = program.endOfRound(at)
      const hasNotes = visible.some(({ isNote, round }) => isNote === true && round === visible[at]!.round)
      if (hasNotes || random() < 0.5) at = end
      const { uuid } = yield* program.transcript.rewind(visible[at]!.uuid)
      program.visible = [...visible.slice(0, end + 1), { uuid, round: program.fresh() }]
    }),
  (program, random) =>
    Effect.gen(function* () {
      const some = program.visible.filter(({ isFixed }) => isFixed !== true && random() < 0.2)
      const removed = new Set(some.map(({ uuid }) => uuid))
      if (removed.size === 0) return
      const { uuid } = yield* program.transcript.snip([...removed])
      const left = program.visible.filter((seen) => !removed.has(seen.uuid))
      program.firm -= program.visible.slice(0, program.firm).filter((seen) => removed.has(seen.uuid)).length
      program.visible = [...left, { uuid, round: program.fresh() }]
    }),
  (program, random) =>
    Effect.gen(function* () {
      // A program keeps rounds as a whole.
      const first = program.visible.at(-1 - Seeded.below(random, 6))?.round
      const from = program.visible.findIndex(({ isFixed, round }) => isFixed !== true && round === first)
      const kept = random() < 0.5 || from < 0 ? [] : program.visible.slice(from)
      const made = yield* program.transcript.compact(
        "summary",
        kept.map(({ uuid }) => uuid)
      )
      const place = (uuid: string): Seen => ({ uuid, round: program.fresh(), isFixed: true })
      program.visible = [place(made.boundary), place(made.summary), ...kept]
      program.firm = program.visible.length - 1
    }),
  (program) => program.transcript.title("T"),
  (program) => program.transcript.lastPrompt("go on"),
  (program) => program.transcript.append(Message.user("inside"), { agentId: "a1b2c3" })
]

/** Rounds in their order; inside of one the order is free. */
const shape = (seen: ReadonlyArray<Seen>): ReadonlyArray<ReadonlyArray<string>> => {
  const rounds = new Map<number, Array<string>>()
  for (const { round, uuid } of seen) rounds.set(round, [...(rounds.get(round) ?? []), uuid])
  return Array.from(rounds.values(), (uuids) => uuids.toSorted())
}

const mustShow = (program: Program, state: SessionState): void => {
  const roundOf = new Map(program.visible.map((seen) => [seen.uuid, seen.round]))
  const recovered = state.conversation.map(({ uuid }) => ({ uuid, round: roundOf.get(uuid) ?? -1 }))
  assert.deepStrictEqual(shape(recovered), shape(program.visible))
  assert.deepStrictEqual(state.consistency.drift, [])
}

describe("a session of any steps", () => {
  it.effect.prop(
    "is recovered to what its program saw, without drift, and goes on from there",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))],
    ([seed]) =>
      Effect.gen(function* () {
        const random = Seeded.make(seed)
        let before: Program | undefined
        for (let opened = 0; opened < 3; opened++) {
          before = yield* Effect.scoped(
            Effect.gen(function* () {
              const program = new Program(yield* Transcript.open({ ...options, leaf: Recovery.leaf }), before)
              if (before === undefined) yield* program.say(Message.user("hello"))
              for (let i = 0; i < 12; i++) yield* steps[Seeded.below(random, steps.length)]!(program, random)
              yield* program.say(Message.user("last"))
              mustShow(program, yield* program.transcript.project(Recovery.projection))
              return program
            })
          )
        }
      }).pipe(Effect.provide(memory)),
    { arbitrary: { runs: 60 } }
  )
})

describe("a checkpoint states the count that recovery finds", () => {
  it.effect("after parallel results, a snip, a rewind into a round, and a compaction that keeps some", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const transcript = yield* Transcript.open(options)
          const idOf = Effect.map(({ uuid }: { readonly uuid: string }) => uuid)
          const prompt = yield* idOf(transcript.append(Message.user("look")))
          const one = yield* idOf(transcript.append(calling("msg_1", "toolu_1")))
          yield* transcript.append(calling("msg_1", "toolu_2"))
          yield* transcript.append(results("toolu_2"))
          yield* transcript.append(results("toolu_1"))
          const seen = yield* idOf(transcript.append(text("msg_2", "I see")))
          yield* transcript.endTurn()
          yield* transcript.append(Message.user("once more"))
          yield* transcript.snip([prompt])
          yield* transcript.endTurn()
          yield* transcript.rewind(one)
          yield* transcript.endTurn()
          const kept = yield* idOf(transcript.append(Message.user("another way")))
          yield* transcript.compact("summary", [kept])
          yield* transcript.append(Message.user("and now"))
          yield* transcript.endTurn()
          assert.isString(seen)
        })
      )
      const state = yield* Effect.scoped(
        Effect.flatMap(Transcript.open({ ...options, leaf: Recovery.leaf }), (transcript) =>
          Effect.andThen(transcript.endTurn(), transcript.project(Recovery.projection))
        )
      )
      const counts = yield* Effect.scoped(
        Effect.flatMap(Transcript.open(options), (transcript) => Stream.runCollect(transcript.entries))
      )
      assert.deepStrictEqual(
        counts.flatMap(({ entry }) =>
          Entry.is("system")(entry) && entry.subtype === "turn_duration" ? [entry.messageCount] : []
        ),
        [6, 8, 5, 4, 5]
      )
      assert.deepStrictEqual([state.consistency.checked, state.consistency.drift], [2, []])
    }).pipe(Effect.provide(memory))
  )
})

describe("what a compaction keeps", () => {
  it.effect("counts once, however often it is named, and not at all when it was snipped", () =>
    Effect.gen(function* () {
      const state = yield* Effect.scoped(
        Effect.gen(function* () {
          const transcript = yield* Transcript.open(options)
          const [first, second, third] = yield* Effect.forEach(["1", "2", "3"], (said) =>
            Effect.map(transcript.append(Message.user(said)), ({ uuid }) => uuid)
          )
          yield* transcript.snip([second!])
          yield* transcript.compact("summary", [third!, first!, third!, second!])
          yield* transcript.append(Message.user("on"))
          yield* transcript.endTurn()
          return yield* transcript.project(Recovery.projection)
        })
      )
      assert.deepStrictEqual(state.consistency, { checked: 1, unchecked: 0, drift: [] })
      assert.strictEqual(state.conversation.length, 6)
    }).pipe(Effect.provide(memory))
  )
})

describe("a result", () => {
  const lines = Effect.map(
    Effect.scoped(Effect.flatMap(Transcript.open(options), ({ entries }) => Stream.runCollect(entries))),
    (all) => all.flatMap(({ entry }) => (Entry.isMessage(entry) ? [entry] : []))
  )
  const parents = Effect.map(lines, (all) =>
    all.map(({ parentUuid }) => all.findIndex(({ uuid }) => uuid === parentUuid))
  )
  const write = (...bodies: ReadonlyArray<Message.MessageBody>) =>
    Effect.scoped(
      Effect.flatMap(Transcript.open(options), (transcript) =>
        Effect.forEach(bodies, (body) => transcript.append(body))
      )
    )

  it.effect("hangs on its own call, and what comes next on the last result", () =>
    Effect.gen(function* () {
      yield* write(Message.user("look"), calling("m1", "a"), calling("m1", "b"), calling("m1", "c"))
      // Also after the session was closed in the middle of the round.
      yield* write(results("b"), date, results("a", "c"), text("m2", "so"))
      assert.deepStrictEqual(yield* parents, [-1, 0, 1, 2, 2, 4, 3, 6])
      const all = yield* lines
      const sources = all.map((line) => (line as { readonly sourceToolAssistantUUID?: string }).sourceToolAssistantUUID)
      assert.deepStrictEqual([sources[4], sources[6]], [all[2]!.uuid, all[3]!.uuid])
    }).pipe(Effect.provide(memory))
  )

  it.effect("that comes after something else was said hangs on that, and names its call all the same", () =>
    Effect.gen(function* () {
      yield* write(Message.user("look"), calling("m1", "a"), Message.user("wait"), results("a"))
      assert.deepStrictEqual(yield* parents, [-1, 0, 1, 2])
      const [, call, , result] = yield* lines
      assert.strictEqual((result as { readonly sourceToolAssistantUUID?: string }).sourceToolAssistantUUID, call!.uuid)
    }).pipe(Effect.provide(memory))
  )

  it.effect("of an agent hangs on the agent's call", () =>
    Effect.gen(function* () {
      const agent = { agentId: "a1b2c3" }
      const ids = yield* Effect.scoped(
        Effect.flatMap(Transcript.open(options), (transcript) =>
          Effect.gen(function* () {
            yield* transcript.append(Message.user("delegate"))
            yield* transcript.append(calling("m1", "x"))
            const bodies = [Message.user("do"), calling("m2", "a"), calling("m2", "b"), results("a"), results("b")]
            const made = yield* Effect.forEach(bodies, (body) => transcript.append(body, agent))
            const { conversation } = yield* transcript.project(Recovery.make({ lane: "sidechain" }), agent)
            assert.sameMembers(
              conversation.map(({ uuid }) => uuid),
              made.map(({ uuid }) => uuid)
            )
            return conversation.map(({ entry }) => made.findIndex(({ uuid }) => uuid === entry.parentUuid))
          })
        )
      )
      assert.sameMembers([...ids], [-1, 0, 1, 1, 2])
    }).pipe(Effect.provide(memory))
  )
})
