import * as Resume from "@reprise/cli/Resume"
import * as ResumeText from "@reprise/cli/ResumeText"
import * as Style from "@reprise/cli/Style"
import * as Message from "@reprise/domain/Message"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Temporary from "../storage/temporary.ts"
import { fixture, logs, write } from "./running.ts"

/** What is shown of a file, as lines. */
const show = (file: string, style?: Style.Style) =>
  Effect.map(Resume.resume(file), (resumed) => ResumeText.render(resumed, style).split("\n"))

const of = (picture: string, style?: Style.Style) =>
  Effect.flatMap(Temporary.directory, (directory) => show(write(directory, "log", picture), style))

const lines = (...entries: ReadonlyArray<object>) =>
  new TextEncoder().encode(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""))

/** The log of a prompt and a body behind it. */
const after = (body: Message.MessageBody) => {
  const first = { ...Message.user("Go."), uuid: "m0", parentUuid: null }
  return Effect.map(Temporary.directory, (directory) =>
    write(directory, "two", lines(first, { ...body, uuid: "m1", parentUuid: "m0" }))
  )
}

describe("the whole", () => {
  it.effect("of a session that was interrupted", () =>
    Effect.gen(function* () {
      const shown = yield* show(fixture("interrupted"))
      assert.deepStrictEqual(shown.with(1, shown[1]!.replace(fixture("interrupted"), "FILE")), [
        "Which of the two pages is slow?",
        "session 5b0d7f21-9c46-4e83-b1a2-60f7d3c89e14 · FILE",
        "4 messages: 4 in the conversation",
        "",
        "  85160a4b  user        Which of the two pages is slow?",
        "  6f9bbb42  assistant   → Bash time curl /a",
        "  d8d97781  assistant   → Bash time curl /b",
        "  e1b2b664  result      ← Bash: 0.2 s",
        "",
        "To the model: 3 messages from 3 entries; left out: 1 unresolved-call",
        "",
        "Findings",
        "  loss    line 5  332 bytes end in the middle of an entry, as after a kill during a write.",
        "  repair  line 3  1 entry of the parallel calls of reply msg_01 put back.",
        "  note    line 3  Call toolu_02 of d8d97781 was never answered.",
        "",
        'The last turn was interrupted after e1b2b664; the model is sent "Continue from where you left off."'
      ])
    }).pipe(Effect.provide(logs))
  )

  it.effect("of a log without messages", () =>
    Effect.gen(function* () {
      const shown = yield* show(fixture("empty"))
      assert.deepStrictEqual(shown.slice(2), ["0 messages", "", "The log holds no messages."])
    }).pipe(Effect.provide(logs))
  )

  it.effect("of a log in which nothing was said", () =>
    Effect.gen(function* () {
      const shown = yield* of("s1-s2")
      assert.deepStrictEqual(shown.slice(2, 5), [
        "2 messages: 0 in the conversation, 2 on 1 branch",
        "",
        "There is no conversation: nothing was said."
      ])
    }).pipe(Effect.provide(logs))
  )

  it.effect("of a log with sidechain entries only", () =>
    Effect.gen(function* () {
      const shown = yield* show(fixture("sidechain"))
      assert.include(shown.join("\n"), "--sidechain recovers the log of one.")
      assert.include(shown, "  sidechain  4 entries of agent a1b2, from 65416d4d")
    }).pipe(Effect.provide(logs))
  )
})

describe("the counts", () => {
  it.effect("name what became of every message", () =>
    Effect.gen(function* () {
      const shown = yield* of("u1-a1-u2-a2 B1{u2,a2>S1}-S1-u3-a3-N1{u3,a3}-u4-a4 u4-a5 u4-a6-u7")
      assert.strictEqual(shown[2], "14 messages: 8 in the conversation, 2 archived, 2 removed, 2 on 2 branches")
      assert.includeMembers(shown, [
        "  archived  2 messages before the boundary on line 5; 2 from before it are kept",
        "  removed   2 messages by a snip: u3 a3",
        "  branch    1 message up to a5, that left at u4",
        "  branch    1 message up to a4, that left at u4"
      ])
    }).pipe(Effect.provide(logs))
  )

  it.effect("of many branches only the newest are named", () =>
    Effect.gen(function* () {
      const shown = yield* of("u1-a1 a1-u2 a1-u3 a1-u4 a1-u5 a1-u6 a1-u7 a1-u8 a1-u9")
      assert.strictEqual(shown.filter((text) => text.startsWith("  branch ")).length, 5)
      assert.include(shown, "  branches  2 more")
    }).pipe(Effect.provide(logs))
  )
})

describe("the conversation", () => {
  const tool = (content: string, is_error = false) =>
    Message.toolResults([{ type: "tool_result", tool_use_id: "T", content, is_error }])

  for (const [what, body, expected] of [
    ["a prompt in several lines", Message.user("one\n\n  two"), "  m1  user        one two"],
    ["an injected line", { ...Message.user("be brief"), isMeta: true }, "  m1  meta        be brief"],
    ["a summary", { ...Message.user("so far"), isCompactSummary: true }, "  m1  summary     so far"],
    [
      "a call: the tool and its first text",
      Message.assistant({
        id: "i",
        model: "m",
        content: [
          { type: "text", text: "Let me look." },
          { type: "tool_use", id: "T", name: "Grep", input: { limit: 3, pattern: "x", path: "y" } }
        ]
      }),
      "  m1  assistant   Let me look. → Grep x"
    ],
    ["a result", tool("fine"), "  m1  result      ← T: fine"],
    ["a result that is an error", tool("no such file", true), "  m1  result      ← T failed: no such file"],
    [
      "reasoning",
      Message.assistant({ id: "i", model: "m", content: [{ type: "thinking", thinking: "hm" }] }),
      "  m1  assistant   (thinking) hm"
    ],
    [
      "blocks that are no text",
      Message.user([
        { type: "image", source: { type: "base64" } },
        { type: "text", text: "what is it?" }
      ]),
      "  m1  user        [image] what is it?"
    ],
    ["an attachment", Message.attachment({ type: "date" }, "Today."), "  m1  attachment  date Today."],
    ["an event", Message.system("away_summary", { content: "back" }), "  m1  system      away_summary back"],
    ["what would speak to the terminal", Message.user("a\u001b[2Jb\u202ec\u0007"), "  m1  user        abc"]
  ] as const) {
    it.effect(`shows ${what}`, () =>
      Effect.gen(function* () {
        const shown = yield* Effect.flatMap(after(body as Message.MessageBody), (file) => show(file))
        assert.strictEqual(shown[5], expected)
      }).pipe(Effect.provide(logs))
    )
  }

  it.effect("names the tool of a result", () =>
    Effect.gen(function* () {
      assert.include(yield* of("u1-a1(A)-rA-a2"), "  rA  result      ← Tool: result A")
    }).pipe(Effect.provide(logs))
  )

  it.effect("fits the terminal", () =>
    Effect.gen(function* () {
      for (const text of ["word ".repeat(100), "漢字".repeat(100), "x".repeat(10_000)]) {
        const file = yield* after(Message.user(text))
        for (const columns of [40, 61, 100]) {
          const shown = yield* show(file, Style.plain(columns))
          assert.isAtMost(Style.width(shown[5]!), columns)
        }
      }
    }).pipe(Effect.provide(logs))
  )

  it.effect("shows whole ids where the first digits do not tell them apart", () =>
    Effect.gen(function* () {
      const [one, two] = ["aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002"]
      const entries = [
        { ...Message.user("a"), uuid: one, parentUuid: null },
        { ...Message.user("b"), uuid: two, parentUuid: one }
      ]
      const shown = yield* show(write(yield* Temporary.directory, "twins", lines(...entries)))
      assert.include(shown, `  ${two}  user        b`)
    }).pipe(Effect.provide(logs))
  )

  it.effect("is faint where it is not sent", () =>
    Effect.gen(function* () {
      const shown = yield* of("u1-s1-a1", Style.colored())
      const faint = Style.colored().paint("faint", "  s1  system      away_summary [s1]")
      assert.include(shown, faint)
      assert.strictEqual(shown.filter((text) => text.startsWith("\u001b[2m  ")).length, 1)
    }).pipe(Effect.provide(logs))
  )
})

describe("beside the conversation", () => {
  it.effect("no messages before a boundary are not told", () =>
    Effect.gen(function* () {
      assert.notInclude((yield* of("B1-S1-u1-a1")).join("\n"), "archived")
    }).pipe(Effect.provide(logs))
  )
})

describe("findings", () => {
  it.effect("stand one to a line: what is lost, what was repaired, what is worth knowing, each by line", () =>
    Effect.gen(function* () {
      const shown = yield* of("u1-a1 x7-u2-a2 ? x8-u3-a3(A)")
      const found = shown.slice(shown.indexOf("Findings") + 1, shown.lastIndexOf(""))
      assert.deepStrictEqual(
        found.map((text) => text.trim().replace(/ +line +(\d+) .*/, " $1")),
        ["loss 5", "repair 3", "repair 6", "note 6", "note 7"]
      )
    }).pipe(Effect.provide(logs))
  )
})

describe("the last turn", () => {
  for (const [picture, expected] of [
    ["u1-a1", "The last turn has ended; nothing is sent before the next prompt."],
    ["u1-a1-u2", "The last turn ended before the reply to u2; that prompt is sent again as it is."],
    ["u1-a1(A)-rA", 'The last turn was interrupted after rA; the model is sent "Continue from where you left off."']
  ] as const) {
    it.effect(`of ${picture}`, () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* of(picture)).at(-1), expected)
      }).pipe(Effect.provide(logs))
    )
  }
})

describe("a file that cannot be read", () => {
  it("is one line with the name of the error", () => {
    const error = { _tag: "TranscriptUnreadable", message: "a\nb.jsonl: gone" }
    assert.strictEqual(ResumeText.renderError(error), "TranscriptUnreadable  a b.jsonl: gone")
  })
})
