import { assert, describe, it } from "@effect/vitest"
import * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"
import { Schema } from "effect"

/** Folds lines, as they would stand in a log. */
const fold = (...lines: ReadonlyArray<object>): SessionMetadata.SessionMetadata => {
  const log = new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
  return Projection.fold(Projection.entries(SessionMetadata.projection), Line.decodeAll(log))
}

let ids = 0
const user = (content: unknown, more: object = {}) => ({
  type: "user",
  uuid: `u${++ids}`,
  parentUuid: null,
  isSidechain: false,
  message: { content },
  ...more
})
const block = (text: string) => ({ type: "text", text })
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }
/** The first prompt of a session of these prompts. */
const first = (...contents: ReadonlyArray<unknown>) => fold(...contents.map((content) => user(content))).firstPrompt

describe("the first prompt (FORMAT §6)", () => {
  it("1. is of no meta line, no compact summary and no tool result", () => {
    const result = { type: "tool_result", tool_use_id: "A", content: "no" }
    const before = [
      user("no", { isMeta: true }),
      user("no", { isCompactSummary: true }),
      user([block("no"), result]),
      user([block("no"), { type: "tool_result" }])
    ]
    assert.strictEqual(fold(...before, user("yes")).firstPrompt, "yes")
    assert.notProperty(fold(...before), "firstPrompt")
  })

  it("1. only the boolean excludes; neither visibility nor origin does", () => {
    for (const more of [{ isMeta: false }, { isMeta: "true" }, { isCompactSummary: 1 }]) {
      assert.strictEqual(fold(user("yes", more)).firstPrompt, "yes")
    }
    assert.strictEqual(fold(user("yes", { isVisibleInTranscriptOnly: true })).firstPrompt, "yes")
    assert.strictEqual(fold(user("yes", { origin: { kind: "task-notification" } })).firstPrompt, "yes")
  })

  it("1. is of the main lane and of a user", () => {
    assert.strictEqual(fold(user("no", { isSidechain: true }), user("yes")).firstPrompt, "yes")
    assert.strictEqual(fold({ ...user("no"), type: "assistant" }, user("yes")).firstPrompt, "yes")
  })

  it("2. is the text, or the first text block that has one", () => {
    assert.strictEqual(first("a"), "a")
    assert.strictEqual(first([image, block(" \n"), block("b"), block("c")]), "b")
    assert.strictEqual(first([image], [], null, 7, "next"), "next")
    assert.strictEqual(first("", " \t\n ", "next"), "next")
  })

  it("2. each LF is one blank; tabs and CR stay, but not at the ends", () => {
    assert.strictEqual(first("\n a\n\nb\tc\rd \t\r\n"), "a  b\tc\rd")
  })

  it("3. a command is skipped, wherever its name stands; the first one is the answer when there is no other", () => {
    const command = (name: string) => `x <command-name>${name}</command-name>\n<command-args>y</command-args>`
    assert.strictEqual(first(command("/clear"), "prompt"), "prompt")
    assert.strictEqual(first(command(" /clear "), command("/model")), " /clear ")
    assert.strictEqual(first([block(command("/clear")), block("prompt")]), "prompt")
    assert.strictEqual(first("<local-command-stdout>x</local-command-stdout>", command("/model")), "/model")
    assert.strictEqual(first(command("a\nb\rc")), "a b\rc")
    assert.strictEqual(first("<command-name>never closed"), undefined)
  })

  it("4. a shell command is the answer, with its mark", () => {
    assert.strictEqual(first("<bash-input>ls -l</bash-input>", "next"), "! ls -l")
    assert.strictEqual(first("see <bash-input>a\rb</bash-input>"), "! a\rb")
  })

  it("3. before 4.: a text with both is a command", () => {
    assert.strictEqual(first("<bash-input>ls</bash-input><command-name>/x</command-name>"), "/x")
  })

  it("5. what begins like a tag, or like the mark of an interruption, is skipped", () => {
    const skipped = [
      "<local-command-stdout>out</local-command-stdout>",
      "<system-reminder>\nx",
      "<ide_opened_file>x",
      "  <user-prompt-submit-hook>x",
      "<teammate-message teammate_id=1>x",
      "<b>",
      "<b2 c",
      "<task-notification\nx",
      "[Request interrupted by user]",
      " [Request interrupted by user for tool use]"
    ]
    for (const text of skipped) assert.strictEqual(first(text, "next"), "next", text)
    for (const text of ["<Foo>", "< b", "<3", "<x=1", "<x, y>", "a <b>", "[Request"]) {
      assert.strictEqual(first(text, "next"), text)
    }
  })

  it("6. is cut at 200 units, trimmed and marked", () => {
    assert.strictEqual(first("x".repeat(200)), "x".repeat(200))
    assert.strictEqual(first("x".repeat(201)), `${"x".repeat(200)}…`)
    assert.strictEqual(first(`${"x".repeat(190)}${" ".repeat(10)}yy`), `${"x".repeat(190)}…`)
  })

  it("6. a pair that the cut splits is dropped, and nothing else is", () => {
    assert.strictEqual(first(`${"x".repeat(199)}😀y`), `${"x".repeat(199)}…`)
    assert.strictEqual(first(`${"x".repeat(198)}😀y`), `${"x".repeat(198)}😀…`)
    assert.strictEqual(first(`\ud800${"x".repeat(200)}`), `\ud800${"x".repeat(199)}…`)
  })

  it("the first one stays, whatever comes after it", () => {
    assert.strictEqual(first("one", "two", "<command-name>/x</command-name>"), "one")
  })

  it.prop(
    "is total: any content gives text of at most 201 units on one line, or none",
    { content: Schema.Json },
    ({ content }) => {
      const found = first(content, [content])
      assert.isTrue(found === undefined || (found.length <= 201 && !found.includes("\n")))
    }
  )
})
