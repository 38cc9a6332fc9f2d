/**
 * Tests of docs/FORMAT.md and docs/RECOVERY.md against the code: what a page lists is what the code knows.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Attachment from "@reprise/domain/Attachment"
import * as Boundary from "@reprise/domain/Boundary"
import * as Content from "@reprise/domain/Content"
import * as Entry from "@reprise/domain/Entry"
import * as Finding from "@reprise/domain/Finding"
import type * as Line from "@reprise/domain/Line"
import * as Message from "@reprise/domain/Message"
import * as Metadata from "@reprise/domain/Metadata"
import * as Progress from "@reprise/domain/Progress"
import * as Snapshot from "@reprise/domain/Snapshot"
import * as Upcast from "@reprise/domain/Upcast"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as LineReader from "@reprise/storage/LineReader"
import * as ProjectPath from "@reprise/storage/ProjectPath"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Transcript from "@reprise/storage/Transcript"
import { Effect, Layer } from "effect"
import * as fs from "node:fs"

const pageAt = (name: string) => fs.readFileSync(new URL(`../docs/${name}`, import.meta.url), "utf8")
const format = pageAt("FORMAT.md")
const recovery = pageAt("RECOVERY.md")

/** The part of a page below a heading, up to the next heading of its rank or a higher one. */
const section = (page: string, heading: string): string => {
  const lines = page.split("\n")
  const from = lines.findIndex((line) => line.startsWith(heading))
  assert.isAtLeast(from, 0, heading)
  const rank = heading.indexOf(" ")
  const to = lines.findIndex((line, i) => i > from && /^#+ /.test(line) && line.indexOf(" ") <= rank)
  return lines.slice(from, to < 0 ? undefined : to).join("\n")
}

/** The rows of the table whose header begins with a cell, without the header. */
const table = (page: string, header: string): ReadonlyArray<ReadonlyArray<string>> => {
  const lines = page.split("\n")
  const from = lines.findIndex((line) => line.startsWith(`| ${header} |`))
  assert.isAtLeast(from, 0, header)
  const length = lines.slice(from).findIndex((line) => !line.startsWith("|"))
  return lines.slice(from + 2, length < 0 ? undefined : from + length).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim())
  )
}

/** What stands in backticks, outside of pictures. */
const codes = (text: string): ReadonlyArray<string> =>
  Array.from(text.replace(/^```[^]*?^```/gm, "").matchAll(/`([^`\n]+)`/g), ([, code]) => code!)

/** Asks that a text names each of the words as code. */
const names = (text: string, words: ReadonlyArray<string>): void => {
  const named = new Set(codes(text))
  assert.deepStrictEqual(
    words.filter((word) => !named.has(word)),
    []
  )
}

describe("FORMAT names all that the code knows", () => {
  it("every kind of entry, in the order of Entry.kinds", () => {
    const kinds = table(section(format, "## 3."), "group").flatMap(([, types]) => codes(types ?? ""))
    assert.deepStrictEqual(kinds, [...Entry.kinds])
  })

  it("every metadata and snapshot entry, with its meaning", () => {
    names(section(format, "### 3.7"), Object.keys(Metadata.schemas))
    names(section(format, "### 3.8"), [...Object.keys(Snapshot.schemas), ...Object.keys(Progress.schemas)])
  })

  it("every content block and every attachment body", () => {
    names(section(format, "### 3.4"), Object.keys(Content.schemas))
    names(section(format, "### 3.5"), Object.keys(Attachment.schemas))
  })

  it("every key that a schema checks", () => {
    const sections: ReadonlyArray<readonly [string, Readonly<Record<string, { readonly fields: object }>>]> = [
      ["### 3.4", Content.schemas],
      ["### 3.5", Attachment.schemas],
      ["## 3.", { ...Message.schemas, ...Metadata.schemas, ...Snapshot.schemas, ...Progress.schemas }],
      ["### 3.8", { backup: Snapshot.Backup }],
      [
        "## 5.",
        { compact: Boundary.CompactMetadata, micro: Boundary.MicrocompactMetadata, snip: Boundary.SnipMetadata }
      ],
      ["## 5.", { messages: Boundary.PreservedMessages, segment: Boundary.PreservedSegment }],
      ["### 3.3", { usage: Message.Usage }]
    ]
    for (const [heading, schemas] of sections) {
      const keys = Object.values(schemas).flatMap(({ fields }) => Object.keys(fields))
      names(
        section(format, heading),
        keys.filter((key) => key !== "type")
      )
    }
  })

  it("every upcast step, with its type and the last version that wrote the old shape", () => {
    assert.deepStrictEqual(
      table(section(format, "## 9."), "step").map(([name, type, until]) => ({ name, type, until })),
      Upcast.steps.map(({ name, type, until }) => ({ name, type: `\`${type}\``, until }))
    )
  })

  it("every finding about a line", () => {
    const found = table(section(format, "## 2."), "on the line").flatMap(([, , finding]) => codes(finding ?? ""))
    const ofLines: ReadonlyArray<Finding.Kind> = [
      "torn-line",
      "malformed-line",
      "blank-line",
      "nul-bytes",
      "bom",
      "carriage-return",
      "invalid-utf8",
      "glued-lines",
      "ill-formed",
      "unknown-type"
    ]
    assert.sameMembers([...new Set(found)], [...ofLines])
  })
})

describe("RECOVERY", () => {
  it("names every finding once, under its severity", () => {
    const listed = table(section(recovery, "## 15. Findings"), "about").flatMap(([, ...cells]) =>
      (["loss", "repair", "note"] as const).flatMap((severity, i) =>
        codes(cells[i] ?? "").map((kind) => ({ kind, severity }))
      )
    )
    const known = Object.entries(Finding.severities).map(([kind, severity]) => ({ kind, severity }))
    assert.sameDeepMembers(listed, known)
  })

  it("has every heading that FORMAT links to", () => {
    const anchorOf = (heading: string) =>
      heading
        .toLowerCase()
        .replace(/[^a-z0-9 -]/g, "")
        .replaceAll(" ", "-")
    const anchors = new Set(Array.from(recovery.matchAll(/^## (.+)$/gm), ([, heading]) => anchorOf(heading!)))
    const links = Array.from(format.matchAll(/\(RECOVERY\.md#([^)]+)\)/g), ([, anchor]) => anchor!)
    assert.isNotEmpty(links)
    assert.deepStrictEqual(
      links.filter((link) => !anchors.has(link)),
      []
    )
  })
})

/** `` `text` ``, `U+0041`, or `` 3 × `x` ``, joined by `+`. */
const written = (cell: string): string =>
  cell
    .split(" + ")
    .map((part) => {
      const unit = /^U\+([0-9A-F]+)$/.exec(part)?.[1]
      if (unit !== undefined) return String.fromCodePoint(Number.parseInt(unit, 16))
      const [, times, text] = /^(?:(\d+) × )?`([^`]+)`$/.exec(part) ?? []
      assert.isDefined(text, cell)
      return text!.repeat(Number(times ?? 1))
    })
    .join("")

describe("project keys (FORMAT §1)", () => {
  const rows = table(section(format, "## 1."), "directory")

  it("the table has examples", () => assert.isAtLeast(rows.length, 5))

  for (const [directory = "", key = ""] of rows) {
    it(`${directory} gives ${key}`, () => assert.strictEqual(ProjectPath.keyOf(written(directory)), written(key)))
  }
})

type Json = { readonly [key: string]: any }

const memory = SessionWriter.layer.pipe(Layer.provideMerge(EntryLog.layerMemory))

/** A session that writes each row of the table once. */
const writeAll = Effect.gen(function* () {
  const transcript = yield* Transcript.open({ cwd: "/w", version: "2.1.0", entrypoint: "cli", gitBranch: "main" })
  const call = Content.toolUse({ id: "t1", name: "Bash", input: {} })
  const result = Content.toolResult({ tool_use_id: "t1", content: "done" })
  yield* transcript.append(Message.user("hello"))
  yield* transcript.append(Message.assistant({ id: "m1", model: "m", content: [call] }, { requestId: "r1" }))
  yield* transcript.append(Message.toolResults([result], { toolUseResult: {} }))
  yield* transcript.append(Message.attachment({ type: "date", date: "2026-01-02" }, "Today"))
  yield* transcript.append(Message.localCommand("<command-name>x</command-name>"))
  yield* transcript.endTurn()
  const tail = (yield* transcript.tail)!
  yield* transcript.rewind(tail)
  yield* transcript.snip([tail])
  yield* transcript.compact("summary", [tail])
  yield* transcript.lastPrompt("hello")
  yield* transcript.append(Message.user("hello"), { agentId: "a1" })
  yield* transcript.flush
  const all: Array<Json> = []
  const read = ({ entry }: Line.Located) => void all.push(entry as unknown as Json)
  yield* LineReader.forEach(transcript.log, read)
  for (const log of yield* (yield* EntryLog.EntryLog).sidechains(transcript.log)) yield* LineReader.forEach(log, read)
  return all
}).pipe(Effect.scoped, Effect.provide(memory))

describe("what Reprise writes (FORMAT §8)", () => {
  it.effect("the order of keys is the one that is written", () =>
    Effect.gen(function* () {
      const [prompt, reply, result, attachment, command, turn, rewind, snip, boundary, summary, last, ofAgent] =
        yield* writeAll
      const objects: Readonly<Record<string, Json | undefined>> = {
        prompt,
        "prompt of an agent": ofAgent,
        result,
        reply,
        "`message` of a reply": reply?.["message"],
        attachment,
        "local command": command,
        "end of a turn": turn,
        rewind,
        snip,
        "compact boundary": boundary,
        "`compactMetadata`": boundary?.["compactMetadata"],
        "compact summary": summary,
        "last prompt": last
      }
      const rows = table(section(format, "## 8."), "written")
      const envelope = ["userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch"]
      const listed = rows.map(([name, keys = ""]) => [name, [...codes(keys), ...(keys.endsWith("…") ? envelope : [])]])
      const found = Object.entries(objects).map(([name, object]) => [name, Object.keys(object ?? {})])
      assert.deepStrictEqual(listed, found)
    })
  )
})
