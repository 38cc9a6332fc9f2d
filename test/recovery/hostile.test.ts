/** Logs that nobody writes by accident: long where logs are short, and wide where they are narrow. */
import { assert, describe, it } from "@effect/vitest"
import * as Line from "@reprise/domain/Line"
import * as ModelMessages from "@reprise/recovery/ModelMessages"
import * as Recovery from "@reprise/recovery/Recovery"

type Json = { readonly [key: string]: unknown }

const time = (second: number): string => new Date(1.7e12 + second * 1000).toISOString()
const message = (type: string, uuid: string, parentUuid: string | null, more: Json): Json => ({
  type,
  uuid,
  parentUuid,
  ...more
})
const user = (uuid: string, parent: string | null, content: unknown = uuid, more: Json = {}): Json =>
  message("user", uuid, parent, { message: { role: "user", content }, ...more })
const reply = (uuid: string, parent: string | null, content: unknown, id = "m"): Json =>
  message("assistant", uuid, parent, { message: { id, role: "assistant", content } })
const system = (uuid: string, parent: string | null, subtype: string, more: Json = {}): Json =>
  message("system", uuid, parent, { subtype, content: "", ...more })
const boundary = (uuid: string, parent: string | null, compactMetadata: Json = {}): Json =>
  system(uuid, parent, "compact_boundary", { compactMetadata })
const attachment = (uuid: string, parent: string | null, body: Json): Json =>
  message("attachment", uuid, parent, { attachment: body })
const call = (id: string): Json => ({ type: "tool_use", id, name: "Tool", input: {} })
const result = (id: string): Json => ({ type: "tool_result", tool_use_id: id, content: "done" })
const text = (said: string): Json => ({ type: "text", text: said })
const many = (count: number, one: (i: number) => Json): ReadonlyArray<Json> =>
  Array.from({ length: count }, (_, i) => one(i))
/** The last of them is `id${count - 1}`. */
const row = (count: number, id: string, first: string | null, one: (uuid: string, parent: string | null) => Json) =>
  many(count, (i) => one(`${id}${i}`, i === 0 ? first : `${id}${i - 1}`))

const recover = (lines: ReadonlyArray<Json | string>) => {
  const log = lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("")
  const state = Recovery.fold(Line.decodeAll(new TextEncoder().encode(log)))
  const branches = state.branches.reduce((sum, { entries }) => sum + entries, 0)
  const counted = state.conversation.length + state.removed.length + state.archived + branches
  assert.strictEqual(counted, state.messages, "every message is accounted for")
  return { state, view: ModelMessages.make(state) }
}
const partsOf = ({ messages }: ModelMessages.ModelView) => messages.map(({ parts }) => parts.length)

// Each takes a moment where the work grows with the length of the log, and minutes where it grows with its square.
const size = 30_000

describe("more than fits on a stack of arguments", () => {
  const wide = 130_000

  it("blocks of one message", () => {
    const texts = many(wide, (i) => text(`${i}`))
    assert.deepStrictEqual(partsOf(recover([user("u", null, texts), reply("a", "u", texts)]).view), [wide, wide])
  })

  it("notes on one note, and on one call", () => {
    const on = (parent: string) => many(wide, (i) => system(`${parent}${i}`, parent, "note"))
    const round = [user("u", null), reply("a", "u", [call("A")]), system("n", "a", "note")]
    const { state } = recover([...round, ...on("n"), ...on("a"), user("r", "a", [result("A")])])
    assert.strictEqual(state.conversation.length, 4 + 2 * wide)
  })
})

describe("long logs take time in proportion to their length", () => {
  it("blocks of one message that are calls", () => {
    const calls = many(size, (i) => call(`${i}`))
    const results = many(size, (i) => result(`${i}`))
    const { view } = recover([user("u", null), reply("a", "u", calls), user("r", "a", results)])
    assert.deepStrictEqual(partsOf(view), [1, size, size])
  })

  it("results that hang on one call and answer another", () => {
    const results = many(size, (i) => user(`r${i}`, "a", [result(`x${i}`)]))
    const { state } = recover([
      user("u", null),
      reply("a", "u", [call("A")]),
      ...results,
      user("r", "a", [result("A")])
    ])
    assert.strictEqual(state.conversation.length, 3 + size)
  })

  it("parts of a reply that stand before what they hang on", () => {
    const parts = row(size, "e", "u", (uuid, parent) =>
      reply(uuid, parent === "u" ? parent : `r${parent}`, [call(uuid)])
    )
    const results = many(size, (i) => user(`re${i}`, `e${i}`, [result(`e${i}`)]))
    const { state } = recover([user("u", null), ...parts.toReversed(), ...results, user("z", "e0")])
    assert.strictEqual(state.conversation.length, 2 + 2 * size)
  })

  it("parts of a reply on a row of notes", () => {
    const notes = row(size, "n", "a", (uuid, parent) => system(uuid, parent, "note"))
    const parts = many(size, (i) => reply(`s${i}`, `n${i}`, [call(`s${i}`)]))
    const end = [user("r", "a", [result("A")]), reply("z", "r", [text("z")], "z")]
    const { state } = recover([user("u", null), reply("a", "u", [call("A")]), ...notes, ...parts, ...end])
    assert.strictEqual(state.conversation.filter(({ uuid }) => uuid.startsWith("s")).length, size)
  })

  it("parts of a reply beside as many on the way", () => {
    const beside = many(size, (i) => reply(`s${i}`, "u", [text("s")]))
    const parts = row(size, "e", "u", (uuid, parent) => reply(uuid, parent, [text("e")]))
    const { state } = recover([user("u", null), ...beside, ...parts, user("z", `e${size - 1}`)])
    assert.strictEqual(state.conversation.length, 2 + 2 * size)
  })

  it("boundaries that hang on each other, and nothing behind them", () => {
    const { state } = recover([user("u", null), ...row(size, "b", null, boundary)])
    assert.deepStrictEqual(
      state.conversation.map(({ uuid }) => uuid),
      ["u"]
    )
  })

  it("boundaries without a time and without a parent", () => {
    const { state } = recover([user("u", null), ...many(size, (i) => boundary(`b${i}`, `x${i}`))])
    assert.strictEqual(state.findings.filter(({ kind }) => kind === "missing-parent").length, size)
  })

  it("messages that a boundary keeps", () => {
    const turns = row(size, "u", null, user)
    const ends = { headUuid: "u0", tailUuid: `u${size - 1}`, anchorUuid: "s" }
    const kept = { anchorUuid: "s", uuids: turns.map(({ uuid }) => uuid) }
    for (const record of [{ preservedMessages: kept }, { preservedSegment: ends }]) {
      const summary = user("s", "b", "summary", { isCompactSummary: true })
      assert.strictEqual(recover([...turns, boundary("b", null, record), summary]).state.conversation.length, size + 2)
    }
  })

  it("summaries that belong to no boundary, where an anchor is sought", () => {
    const record = { preservedMessages: { anchorUuid: "x", uuids: ["u"] } }
    const summaries = row(size, "s", null, (uuid, parent) => user(uuid, parent, "s", { isCompactSummary: true }))
    const { state } = recover([
      user("u", null),
      boundary("b", null, record),
      user("c", "b"),
      ...summaries,
      user("z", "c")
    ])
    assert.strictEqual(state.conversation[0]?.uuid, "b")
  })

  it("damaged lines between messages whose parents are missing", () => {
    const pairs = Array.from({ length: size }, (_, i) => [
      `{"uuid":"h${i}","type":"us`,
      user(`u${i}`, i % 2 === 0 ? `h${i}` : "x", "said", { timestamp: time(i) })
    ])
    const gaps = recover(pairs.flat()).state.findings.filter(({ kind }) => kind === "gap")
    assert.strictEqual(gaps.filter(({ severity }) => severity === "loss").length, size / 2)
    assert.strictEqual(gaps.filter(({ severity }) => severity === "note").length, size / 2)
  })

  it("collapsed spans of the whole conversation", () => {
    const commit = { type: "marble-origami-commit", firstArchivedUuid: "u0", lastArchivedUuid: `u${size - 1}` }
    const { view } = recover([...row(size, "u", null, user), ...many(size, (i) => ({ ...commit, summary: `${i}` }))])
    assert.deepStrictEqual(
      view.messages.flatMap(({ parts }) => parts.map(({ block }) => block)),
      [{ type: "text", text: `${size - 1}` }]
    )
  })

  it("changed files of one snapshot, and skills", () => {
    const snapshot = { type: "file-history-snapshot", messageId: "u", snapshot: { messageId: "u" } }
    const deltas = many(size, (i) => ({
      type: "file-history-delta",
      snapshotMessageId: "u",
      trackingPath: `/${i}`,
      backup: { backupFileName: `${i}` }
    }))
    const skills = row(size, "s", "u", (name, parent) =>
      attachment(name, parent, { type: "invoked_skills", skills: [{ name }] })
    )
    const { state } = recover([user("u", null), snapshot, ...deltas, ...skills])
    assert.strictEqual(state.snapshots.fileHistory[0]?.backups.size, size)
    assert.strictEqual(state.skills.skills.size, size)
  })

  it("tags in a prompt that are never closed", () => {
    const { state } = recover([user("u", null, "<command-name><bash-input>".repeat(10 * size))])
    assert.strictEqual(state.metadata.firstPrompt, undefined)
  })
})
