/** What holds of every log, tried on random ones. */
import { assert, describe, it } from "@effect/vitest"
import * as Content from "@reprise/domain/Content"
import * as Entry from "@reprise/domain/Entry"
import type * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as Notation from "@reprise/domain/testing/Notation"
import * as Interruption from "@reprise/recovery/Interruption"
import * as ModelMessages from "@reprise/recovery/ModelMessages"
import * as Recovery from "@reprise/recovery/Recovery"
import type { SessionState } from "@reprise/recovery/SessionState"
import { choice, drawn, type Drawn } from "./drawn.ts"
import { type Bodies, branch, inTime, log, sent, written } from "./picture.ts"
import { refused } from "./refused.ts"

const options = { arbitrary: { runs: Number(process.env["RUNS"] ?? 300), seed: process.env["SEED"] ?? "picture" } }

/** Of the replies and attachments some say nothing, only think, or failed: by the last digit of their names. */
const odd: Bodies = Object.fromEntries(
  [0, 10, 20].flatMap((tens) => [
    [`a${tens + 2}`, { message: { id: "k1", content: [Content.thinking("hm", "sig")] } }],
    [`a${tens + 4}`, { isApiErrorMessage: true }],
    [
      `a${tens + 6}`,
      { message: { id: "k2", content: [Content.text(" "), { type: "server_tool_use", id: "S", name: "s" }] } }
    ],
    [`u${tens + 5}`, { message: null }],
    [`r${tens + 7}`, { isMeta: true }],
    [`t${tens + 8}`, { attachment: { type: "someday" } }]
  ])
)

const entriesOf = (words: Drawn): ReadonlyArray<Line.Located> => log(words.join(" "), { bodies: odd })

const recover = (words: Drawn, options?: Recovery.Options): SessionState =>
  inTime(() => Recovery.fold(entriesOf(words), options))

/** All that a reader sees of the messages: conversation, the account of the rest, and what would be sent. */
const shown = (state: SessionState): string => {
  const { archived, branches, conversation, removed } = state
  return [
    Notation.show(conversation),
    ...branches.map(branch),
    removed.join(),
    archived,
    sent(ModelMessages.make(state))
  ].join("\n")
}
const seen = (words: Drawn): string => shown(recover(words))

const sum = ({ archived, branches, conversation, removed }: SessionState): number =>
  conversation.length + removed.length + archived + branches.reduce((total, { entries }) => total + entries, 0)

describe("Of every log", () => {
  it.prop(
    "recovery ends, and the conversation holds each id at most once",
    { words: drawn },
    ({ words }) => {
      const { conversation } = recover(words)
      assert.strictEqual(new Set(conversation.map(({ uuid }) => uuid)).size, conversation.length)
    },
    options
  )

  it.prop(
    "nothing is lost in silence: the parts add up to the messages of the log",
    { words: drawn },
    ({ words }) => {
      const entries = entriesOf(words).flatMap(({ entry }) => (Entry.isMessage(entry) ? [entry] : []))
      const state = recover(words)
      const main = new Set(entries.flatMap((entry) => (entry.isSidechain === true ? [] : [entry.uuid])))
      const sides = new Set(
        entries.flatMap((entry) => (entry.isSidechain === true ? [`${entry.agentId}/${entry.uuid}`] : []))
      )
      assert.strictEqual(state.messages, main.size)
      assert.strictEqual(sum(state), main.size)
      assert.strictEqual(
        state.sidechains.reduce((total, { entries }) => total + entries, 0),
        sides.size
      )
      const placed = [...state.conversation.map(({ uuid }) => uuid), ...state.removed]
      assert.isTrue(placed.every((uuid) => main.has(uuid)))
      assert.strictEqual(new Set(placed).size, placed.length)
      const one = recover(words, { lane: "sidechain" })
      assert.strictEqual(sum(one), new Set(entries.map(({ uuid }) => uuid)).size)
    },
    options
  )

  it.prop(
    "any message may be asked for as the leaf",
    { words: drawn, choice },
    ({ choice, words }) => {
      const { nodes } = written(words.join(" "))
      const { uuid } = nodes.get(choice % nodes.length) ?? {}
      if (uuid === undefined) return
      const state = recover(words, { leaf: { uuid } })
      if (!state.removed.includes(uuid))
        assert.include(
          state.conversation.map(({ uuid }) => uuid),
          uuid
        )
      assert.strictEqual(sum(state), nodes.length)
      assert.isUndefined(refused(ModelMessages.make(state)))
    },
    options
  )

  it.prop(
    "a log that is followed has at every entry the state of the log so far",
    { words: drawn },
    ({ words }) => {
      const entries = entriesOf(words)
      const run = Projection.run(Recovery.projection)
      entries.forEach((entry, i) => {
        run.evolve(entry)
        assert.strictEqual(shown(inTime(run.extract)), shown(inTime(() => Recovery.stateAt(entries, i + 1))))
      })
    },
    { arbitrary: { ...options.arbitrary, runs: Math.ceil(options.arbitrary.runs / 5) } }
  )

  it.prop(
    "the model view is one that the API takes, now and when an interrupted turn goes on",
    { words: drawn },
    ({ words }) => {
      const state = recover(words)
      const view = ModelMessages.make(state)
      assert.isUndefined(refused(view), sent(view))
      const injected = Interruption.inject(view, Interruption.judge(state.conversation, view))
      assert.isUndefined(refused(injected), sent(injected))
    },
    options
  )

  it.prop(
    "the model view with closed calls is one that the API takes",
    { words: drawn },
    ({ words }) => {
      const view = ModelMessages.make(recover(words), { unresolved: "close" })
      assert.isUndefined(refused(view), sent(view))
    },
    options
  )

  it.prop(
    "each entry of the conversation is sent or left out with a reason, and not both",
    { words: drawn },
    ({ words }) => {
      const state = recover(words)
      for (const unresolved of ["drop", "close"] as const) {
        const { messages, omitted } = ModelMessages.make(state, { unresolved })
        const sent = new Set(messages.flatMap(({ uuids }) => uuids))
        const left = omitted.map(({ uuid }) => uuid)
        assert.isFalse(left.some((uuid) => sent.has(uuid)))
        assert.strictEqual(
          [...sent, ...left].toSorted().join(),
          state.conversation
            .map(({ uuid }) => uuid)
            .toSorted()
            .join()
        )
      }
    },
    options
  )

  it.prop(
    "recovering twice gives equal results",
    { words: drawn },
    ({ words }) => {
      assert.deepStrictEqual(recover(words), recover(words))
    },
    options
  )

  it.prop(
    "a copy of an earlier message at the end changes nothing, whatever it hangs on",
    { words: drawn, choice },
    ({ choice, words }) => {
      const names = entriesOf(words).flatMap(({ entry }) =>
        Entry.isMessage(entry) && entry.isSidechain !== true ? [entry.uuid] : []
      )
      if (names.length === 0) return
      const again = names[choice % names.length]!
      const below = names[Math.floor(choice / names.length) % names.length]!
      assert.strictEqual(seen([...words, `${below}-${again}`]), seen(words))
    },
    options
  )

  it.prop(
    "links that are moved change nothing",
    { words: drawn, choice },
    ({ choice, words }) => {
      const isLink = (word: string) => /^[pq]/.test(word)
      const links = words.filter(isLink)
      const others = words.filter((word) => !isLink(word))
      const at = choice % (others.length + 1)
      assert.strictEqual(seen(others.toSpliced(at, 0, ...links)), seen(words))
      assert.strictEqual(seen([...links.toReversed(), ...others]), seen(words))
    },
    options
  )

  it.prop(
    "links that are put between a message and its parent, or beside it, change nothing",
    { words: drawn, choice },
    ({ choice, words }) => {
      const place = choice % (words.length + 1)
      const child = Math.floor(choice / 31) % Math.max(words.length, 1)
      const through = (words[child] ?? "").replace(/^([a-zA-Z]\d+)(?:\^(\w+))?(?=[@({:])/, "$1^p77")
      const parent = /^[a-zA-Z]\d+\^(\w+)/.exec(words[child] ?? "")?.[1]
      const between = words.with === undefined || words.length === 0 ? words : words.with(child, through)
      const link = parent === undefined ? "p77" : `p77^${parent}`
      assert.strictEqual(seen(between.toSpliced(place, 0, link)), seen(words))
      assert.strictEqual(seen(words.toSpliced(place, 0, "p78^u0", "q79^p78")), seen(words))
    },
    options
  )
})
