import * as ExplainText from "@reprise/cli/ExplainText"
import * as Look from "@reprise/cli/Look"
import * as Style from "@reprise/cli/Style"
import * as Message from "@reprise/domain/Message"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import * as Temporary from "../storage/temporary.ts"
import { explain } from "./explaining.ts"
import { logs, write } from "./running.ts"

const show = (log: string, style = Style.plain(), limits = Look.some) =>
  Effect.map(explain(log), (explanation) =>
    ExplainText.render(explanation, Look.make(explanation, style, limits)).split("\n")
  )

const bundled = fileURLToPath(new URL("../../examples/transcripts/repaired.jsonl", import.meta.url))

describe("the whole", () => {
  it.effect("of a log that has been through much", () =>
    Effect.gen(function* () {
      const shown = yield* show(bundled)
      assert.deepStrictEqual(shown.slice(2), [
        "20 messages: 14 in the conversation, 4 archived, 2 removed",
        "",
        "As written    20 messages, 2 legacy progress entries, 1 sidechain set aside",
        "Progress      1 message: links through what is no message",
        "  line 17  2f0554ac  ce87b015 (no message) → 4b02190c",
        "           What it hung on is no message, and is looked through.",
        "Reparent      1 message: broken links",
        "  line 23  1f7ac191  1e8a09a9 (in no line) → d013b392",
        "           The parent 1e8a09a9 of 1f7ac191 is in no line; it hangs on d013b392.",
        "Relink        2 messages: what a compaction keeps",
        "  Boundary af38cecb on line 9 counts; it keeps 2:",
        "    ecc1c553 f64f3119",
        "  line  5  ecc1c553  d45aa7bf → f8a33d9f",
        "           It is message 1 of the 2 that the boundary keeps.",
        "  line 11  f59d3085  f8a33d9f → f64f3119",
        "           The kept messages stand before it.",
        "Snip          3 messages: what was taken out",
        "  line 19  3c8d2fe5  03d31eca → removed",
        "  line 20  ba983cf0  3c8d2fe5 → removed",
        "           Snip 1be42c4b on line 21 removes it.",
        "  line 21  1be42c4b  ba983cf0 → 03d31eca",
        "           What it hung on was removed.",
        "Leaf          c0b9c477 on line 24",
        "  It is the last line on or above which something was said.",
        "  The last prompt on line 25 names c0b9c477, which the conversation passes.",
        "Walk          13 messages from the root to the leaf",
        "Compact       nothing to do",
        "ToolResults   1 message: parallel tool calls",
        "  line 15  e760ee34  beside the walk → behind 4b02190c",
        "           1 entry of the parallel calls of reply msg_04 put back.",
        "",
        "Conversation  14 messages, from af38cecb on line 9 to c0b9c477 on line 24",
        "  af38cecb f8a33d9f ecc1c553 f64f3119 f59d3085 6dfb0527 4b02190c e760ee34 2f0554ac 03d31eca 1be42c4b",
        "  d013b392 1f7ac191 c0b9c477",
        "Archived      4 messages before the boundary af38cecb on line 9",
        "  4d660452 12fd39b2 2eb20d5d d45aa7bf",
        "Removed       2 messages by a snip",
        "  3c8d2fe5 ba983cf0",
        "Sidechain     2 entries of agent a7f3, from 148a52c9",
        "",
        "Model         8 messages from 11 entries",
        "  left out: 3 entries, system",
        "    af38cecb 1be42c4b c0b9c477",
        "",
        "Also found",
        "  note    line 24  Checkpoint c0b9c477 counted 14 entries before it, 13 were recovered."
      ])
    }).pipe(Effect.provide(logs))
  )

  it.effect("of a log in which nothing was said", () =>
    Effect.gen(function* () {
      const shown = yield* show("s1")
      assert.includeMembers(shown, [
        "Leaf          none",
        "Conversation  none",
        "Branch        1 message up to s1, with a root of its own"
      ])
    }).pipe(Effect.provide(logs))
  )
})

describe("findings", () => {
  it.effect("of lines stand with what was written, those of a step that moved nothing with the step", () =>
    Effect.gen(function* () {
      const shown = yield* show("u1-a1 ? u1-N1{x9}-u2")
      assert.match(shown[shown.indexOf("As written    4 messages") + 1]!, /^ {2}loss +line 3 +11 bytes end/)
      assert.strictEqual(
        shown[shown.indexOf("Snip          0 messages: what was taken out") + 1],
        "  note    line 4  Snip N1 removes ids that are in no line: x9."
      )
    }).pipe(Effect.provide(logs))
  )
})

describe("long lists", () => {
  const long = `x0-u0 ${Array.from({ length: 40 }, (_, i) => `x${i}-u${i + 1}`).join(" ")}`

  it.effect("are cut with a count", () =>
    Effect.gen(function* () {
      const shown = yield* show(long)
      const at = shown.indexOf("Reparent      41 messages: broken links")
      assert.strictEqual(shown[at + 21], "  … and 31 more (--full shows them)")
    }).pipe(Effect.provide(logs))
  )

  it.effect("are whole when all is asked for", () =>
    Effect.gen(function* () {
      const shown = yield* show(long, Style.plain(), Look.all)
      assert.strictEqual(shown.filter((text) => text.includes("(in no line) →")).length, 41)
      assert.notInclude(shown.join("\n"), "--full")
    }).pipe(Effect.provide(logs))
  )
})

it.effect("ids of a log do not speak to the terminal", () =>
  Effect.gen(function* () {
    const entry = { ...Message.user("Go."), uuid: "\u001b[2Ju9", parentUuid: "\u001b[31mx9\u0007" }
    const log = new TextEncoder().encode(`${JSON.stringify(entry)}\n`)
    const shown = (yield* show(write(yield* Temporary.directory, "evil", log))).join("\n")
    assert.include(shown, "  line 1  u9  x9 (in no line) → a root")
    assert.notInclude(shown, "\u001b")
  }).pipe(Effect.provide(logs))
)
