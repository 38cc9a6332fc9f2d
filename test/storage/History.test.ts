import { assert, describe, it } from "@effect/vitest"
import * as Notation from "@reprise/domain/testing/Notation"
import type { History as Amount } from "@reprise/domain/Suffix"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as Effect from "effect/Effect"
import { beside, bytesOf, seen, through } from "./doors.ts"

const effect = (what: string, run: () => Effect.Effect<void, EntryLog.EntryLogError, EntryLog.EntryLog>) =>
  it.effect(what, () => Effect.provide(run(), EntryLog.layerMemory))

/** The door that answers in the end, and why it is not the one that was asked for. */
const door = (bytes: Uint8Array, history: Amount = "suffix") =>
  Effect.map(through(bytes, history), ({ history, why }) => (why === undefined ? history : `${history}: ${why}`))

describe("a suffix is enough", () => {
  const enough = [
    ["what follows the boundary hangs on it", "u1-a1 B1-S1-u2-a2"],
    ["it keeps messages, as a list", "u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3"],
    ["it keeps messages, as a segment", "u1-a1-u2-a2 B1{u2..a2>S1}-S1-u3"],
    ["a branch leaves behind the boundary", "u1 B1-S1-u2-a2 S1-u3-a3"],
    ["a last prompt behind the boundary chooses the branch", "u1 B1-S1-u2-a2 S1-u3-a3 !a2"],
    ["a last prompt before it is reset", "u1-a1 u1-a9 !a1 B1-S1-u2"],
    ["a last prompt names what was pruned", "u1-a1 B1{a1>S1}-S1-u2 !u1"],
    ["messages were said after a last prompt that names the prefix", "u1-a1 B1-S1 !u1 S1-u2"],
    ["a snip removes what stands behind it", "u1 B1-S1-u2-a2-N1{a2}-u3"],
    ["the boundary before the last one does, which nothing follows", "u1-a1-u2-a2-u3-a3-u4-a4 B1-S1-u5 B2"]
  ] as const
  for (const [what, picture] of enough) {
    effect(what, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* door(Notation.bytes(picture)), "suffix")
      })
    )
  }
})

describe("the whole log is read", () => {
  const whole = [
    ["there is no boundary", "u1-a1", "there is no boundary"],
    ["a branch leaves before the boundary", "u1-a1 B1-S1-u2 a1-u3", "u3 hangs on what was not read"],
    ["a parent is in no line", "u1 B1-S1-u2 x1-u3", "u3 hangs on what was not read"],
    ["the last prompt points behind the boundary", "u1-a1 B1-S1-u2 !a1", "the last prompt names what was not read"],
    ["a snip names an earlier entry", "u1-a1 B1-S1-u2-N1{a1}", "a snip names what was not read"],
    ["the only boundary was never finished", "u1-a1 B1", "the conversation does not start at the boundary"],
    ["a kept segment is broken", "u1-a1 u2 B1{u1..u2>S1}-S1-u3", "the messages that B1 keeps were not read"],
    ["the anchor is in no line", "u1-a1 B1{a1>x1}-S1-u3", "the messages that B1 keeps were not read"],
    ["a result at the end answers an earlier call", "a1(A) B1-S1-a2(B)-rA", "a tool result answers what was not read"]
  ] as const
  for (const [what, picture, why] of whole) {
    effect(what, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* door(Notation.bytes(picture)), `full: ${why}`)
        assert.strictEqual(yield* door(Notation.bytes(picture), "metadata"), `full: ${why}`)
        const { state } = yield* through(Notation.bytes(picture), "suffix")
        assert.isUndefined(state.extent.partial)
      })
    )
  }
})

const tag = (value: string) => ({ type: "tag", tag: value, sessionId: "s" })
const prompt = (uuid: string, more: object = {}) => ({
  type: "user",
  uuid,
  parentUuid: null,
  timestamp: "2026-01-01T00:00:00.000Z",
  sessionId: "s",
  message: { role: "user", content: `prompt ${uuid}` },
  ...more
})
const older = [
  { type: "summary", summary: "Sum", leafUuid: "l" },
  prompt("u1", { cwd: "/w", slug: "first", version: "2.0.1" }),
  { parentUuid: "u1", uuid: "a0", isSidechain: false, type: "system", subtype: "x", entrypoint: "cli", slug: "second" },
  tag("one"),
  tag("two"),
  tag("one"),
  `{ "sessionId" : "s", "type" : "custom-title", "customTitle" : "T" }`,
  { type: "pr-link", prNumber: 1, prUrl: "a" },
  { type: "pr-link", prNumber: 2, prUrl: "b" },
  { type: "pr-link", prNumber: 1, prUrl: "a" },
  { type: "file-history-snapshot", messageId: "u1", snapshot: { messageId: "u1", trackedFileBackups: {} } },
  { type: "content-replacement", replacements: [{ toolUseId: "A", replacement: "short" }] },
  { type: "marble-origami-commit", collapseId: "c", firstArchivedUuid: "u1", lastArchivedUuid: "u1" },
  { type: "queue-operation", operation: "enqueue", content: "later" }
]
const log = bytesOf(...older, { picture: "a1^u1 B1-S1-u2-a2" }, { type: "mode", mode: "plan" })

describe("what stands before the boundary", () => {
  effect("the metadata door has all metadata and snapshots, whatever their lines look like", () =>
    Effect.gen(function* () {
      const { history, state } = yield* through(log, "metadata")
      const { state: full } = yield* through(log, "full")
      assert.strictEqual(history, "metadata")
      assert.deepStrictEqual(beside(state), beside(full))
      assert.strictEqual(state.metadata.slug, "second")
      assert.deepStrictEqual(state.snapshots.pending[0]?.at, full.snapshots.pending[0]?.at)
    })
  )

  effect("what a message said last is found wherever the chunks are cut, and not in payloads or sidechains", () =>
    Effect.gen(function* () {
      const said = bytesOf(
        prompt("u1", { slug: "first", gitBranch: "old", entrypoint: "cli" }),
        prompt("u2", { slug: "second" }),
        prompt("u3", { isSidechain: true, slug: "aside", version: "9" }),
        prompt("u4", { toolUseResult: { slug: "quoted", entrypoint: "quoted", version: "8" } }),
        { picture: "a1^u1 B1-S1-u5-a2" }
      )
      const { state: full } = yield* through(said, "full")
      for (let most = 1; most <= 200; most++) {
        const { history, state } = yield* through(said, "metadata", { most })
        assert.strictEqual(history, "metadata")
        assert.deepStrictEqual(beside(state), beside(full))
      }
      assert.strictEqual(full.metadata.slug, "second")
      assert.strictEqual(full.metadata.entrypoint, "cli")
    })
  )

  effect("the suffix door does not have it, and says so", () =>
    Effect.gen(function* () {
      const { state } = yield* through(log, "suffix")
      assert.isUndefined(state.metadata.customTitle)
      assert.includeMembers([...state.extent.partial!.unknown], ["metadata", "snapshots", "archived", "branches"])
      const { extent } = (yield* through(log, "metadata")).state
      assert.notIncludeMembers([...extent.partial!.unknown], ["metadata", "snapshots", "conversation"])
      assert.strictEqual(extent.byteStart, state.extent.byteStart)
      assert.strictEqual(new TextDecoder().decode(log.subarray(extent.byteStart)).indexOf('"uuid":"B1"') > 0, true)
    })
  )

  effect("findings about links out of the part that was read are left out", () =>
    Effect.gen(function* () {
      const { state } = yield* through(Notation.bytes("u0-u1-a1 B1{a1>S1}-S1-u2"), "suffix")
      assert.deepStrictEqual(state.findings, [])
      assert.strictEqual(Notation.show(state.conversation), "B1-S1-a1-u2")
    })
  )
})

describe("work", () => {
  const past = (length: number) =>
    Array.from({ length }, (_, i) => ({ ...prompt(`m${i}`), parentUuid: i === 0 ? null : `m${i - 1}`, cwd: "/w" }))
  const bytes = (length: number) =>
    bytesOf(...past(length), tag("one"), { picture: "u1-a1 B1{a1>S1}-S1-u2-a2" }, tag("two"))

  effect("a suffix costs the same for ten times the history", () =>
    Effect.gen(function* () {
      const [small, large] = [yield* through(bytes(2000), "suffix"), yield* through(bytes(20_000), "suffix")]
      assert.deepStrictEqual(large.work, small.work)
      assert.deepStrictEqual(seen(large.state), seen(small.state))
    })
  )

  effect("of the history, the metadata door decodes no message but the first", () =>
    Effect.gen(function* () {
      const { work } = yield* through(bytes(2000), "metadata")
      assert.strictEqual(work.lines, 1 + 1 + 6)
    })
  )

  effect("the metadata door reads the history once, also for what no message says", () =>
    Effect.gen(function* () {
      const log = bytes(20_000)
      const { state, work } = yield* through(log, "metadata")
      assert.isUndefined(state.metadata.slug)
      assert.isBelow(work.bytes, log.length + 1_000_000)
      assert.isAbove(log.length, 3_000_000)
    })
  )
})
