import { assert, describe, it } from "@effect/vitest"
import * as Line from "@reprise/domain/Line"
import * as Message from "@reprise/domain/Message"
import * as Metadata from "@reprise/domain/Metadata"
import * as Projection from "@reprise/domain/Projection"
import * as Snapshot from "@reprise/domain/Snapshot"
import * as Notation from "@reprise/domain/testing/Notation"
import * as ModelMessages from "@reprise/recovery/ModelMessages"
import * as Recovery from "@reprise/recovery/Recovery"
import type { SessionState } from "@reprise/recovery/SessionState"
import { type Bodies, findings, lines, located, log, places, recover, recovers, rest, sent, tell } from "./picture.ts"

const read = (text: string): SessionState => Recovery.fold(located(text))
const shown = (text: string): string => Notation.show(read(text).conversation)
const [u1, a1, u2, a2] = lines("u1-a1-u2-a2") as [string, string, string, string]
const whole = "u1-a1-u2-a2"

describe("A damaged log", () => {
  it("is cut into lines at LF only", () => {
    const odd = a1.replace("[a1]", "[a1]\u2028\u2029\u0085")
    assert.strictEqual(shown([u1, odd, u2, a2].join("\n")), whole)
    assert.strictEqual(shown([u1, a1].join("\r")), "u1-a1")
    assert.include(tell(read([u1, a1].join("\r")).findings), "glued-lines")
  })

  it("is read to its end through CRs, blank lines, NUL runs and a byte order mark, which are reported", () => {
    const text = `\ufeff${u1}\n${a1}\r\n\n  \n\0\0\0${u2}\n\0\0\n${a2}`
    const { conversation, findings } = read(text)
    assert.strictEqual(Notation.show(conversation), whole)
    for (const kind of ["bom", "carriage-return", "blank-line", "nul-bytes"]) {
      assert.isTrue(
        findings.some((finding) => finding.kind === kind),
        kind
      )
    }
  })

  it("loses by one bad line that line only", () => {
    for (const junk of ["[1]", "7", '"u2"', "null", "{}", '{"uuid":"u2"}', "{", "}", "not JSON", u1.slice(0, 40)]) {
      const { conversation, findings } = read([u1, a1, junk, u2, a2].join("\n"))
      assert.strictEqual(Notation.show(conversation), whole, junk)
      assert.match(tell(findings), /^(malformed|torn)-line$/, junk)
    }
  })

  it("gives both of two objects that were glued on one line", () => {
    assert.strictEqual(shown([u1, a1 + u2, a2].join("\n")), whole)
    assert.strictEqual(tell(read([u1, a1 + u2, a2].join("\n")).findings), "glued-lines 2")
  })

  it("gives the whole object behind a torn half", () => {
    const torn = '{"type":"pr-link","prNumber":7,"prUrl":"ht'
    const { conversation, findings, metadata } = read([u1, a1, torn + u2, a2].join("\n"))
    assert.strictEqual(Notation.show(conversation), whole)
    assert.deepStrictEqual(metadata.pullRequests, [])
    const stub = findings.find(({ kind }) => kind === "torn-line")
    assert.strictEqual(stub?.line, 3)
    assert.strictEqual(stub!.byteEnd! - stub!.byteStart!, torn.length)
  })

  it("with a torn tail ends at the last whole line", () => {
    assert.strictEqual(shown(`${u1}\n${a1}\n${u2.slice(0, 50)}`), "u1-a1")
  })

  it("keeps an unknown type whole and counts it", () => {
    const picture = "u1-a1 q1 q2 u3^a1"
    const { findings } = recover(picture)
    assert.strictEqual(recovers(picture), "u1-a1-u3")
    assert.strictEqual(tell(findings), "unknown-type 2")
    assert.strictEqual(places(findings, log(picture)), "unknown-type@q1")
  })

  it("keeps an entry of a known type that does not fit at its place", () => {
    const bodies: Bodies = { a1: { message: 7 }, u2: { message: null } }
    assert.strictEqual(recovers("u1-a1-u2-a2", { bodies }), whole)
    assert.include(findings("u1-a1-u2-a2", { bodies }), "ill-formed a1; ill-formed u2")
  })

  it("may hold anything that JSON can say", () => {
    for (const odd of ['"\\ud83d"', '"\\u0000"', "9007199254740993", "1e999", '{"a":1,"a":2,"1":3}']) {
      const text = u2.replace("{", `{"odd":${odd},`)
      assert.strictEqual(shown([u1, a1, text, a2].join("\n")), whole, odd)
    }
  })

  it("may hold nothing", () => {
    for (const text of ["", "\n", "\n\n", "\0", "\ufeff", "{"]) assert.strictEqual(shown(text), "")
  })
})

describe("A finding", () => {
  it("carries line number and byte range, each of them", () => {
    const bodies: Bodies = {
      s1: Message.turnDuration({ durationMs: 1, messageCount: 99 }),
      q1: Snapshot.make("queue-operation", { operation: "enqueue", content: "next" })
    }
    const without = [
      "u1-a1 ? x9-u2 u3^u3 u4^a4-a4 u5~abc-u6-a6-u6 q9",
      "u1-a1-u2-a2 B1{x9>x8}-S1-u3 B2{a2>x8}",
      "u1-a1 B1{a1>S1}-S1-u2-a2 B2{a2>S2}-S2 a1-w1",
      "u1-a1-N1{x9}",
      "u1-a1@m(A)-a2@m(B)-rB-a3 a1-rA",
      "u1-a1-u2 !a1 u1-u3 !x9",
      "u1-a1 u1-a2 !a1 a2-u3",
      "u1-a1-s1 q1"
    ].flatMap((picture) =>
      recover(picture, { bodies })
        .findings.filter(({ byteEnd, byteStart, line }) => line === undefined || !(byteStart! < byteEnd!))
        .map(({ kind }) => kind)
    )
    assert.deepStrictEqual([...new Set(without)], [])
  })
})

describe("Recovery", () => {
  const rich = "u1-p1-a1 x9-u2 B1{u2>S1}-S1-a2@m(A)-a3@m(B) a2-rA a3-rB-a4-N1{x8} u7~abc !x7 ? a4-u8-a8 u8-u9"

  it("gives equal states for equal logs, and leaves the log as it is", () => {
    const entries = log(rich)
    const before = JSON.stringify(entries)
    assert.deepStrictEqual(Recovery.fold(entries), Recovery.fold(entries))
    assert.strictEqual(JSON.stringify(entries), before)
  })

  it("follows a live log: at every entry the state is that of the log so far", () => {
    const entries = log(rich)
    const run = Projection.run(Recovery.projection)
    entries.forEach((entry, i) => {
      run.evolve(entry)
      assert.deepStrictEqual(run.extract(), Recovery.fold(entries.slice(0, i + 1)))
    })
  })

  it("gives the state as it was after the first n entries", () => {
    const entries = log("u1-a1-u2-a2 B1-S1-u3")
    assert.deepStrictEqual(
      [0, 1, 4, 5, 6, 7].map((n) => Notation.show(Recovery.stateAt(entries, n).conversation)),
      ["", "u1", "u1-a1-u2-a2", "u1-a1-u2-a2", "B1-S1", "B1-S1-u3"]
    )
    assert.deepStrictEqual(Recovery.stateAt(entries, 99), Recovery.fold(entries))
    assert.strictEqual(
      Notation.show(Recovery.stateAt(log("u1-a1 u1-a2"), 3, { leaf: { uuid: "a1" } }).conversation),
      "u1-a1"
    )
  })

  it("says which bytes were read", () => {
    const text = `${u1}\n${a1}\n`
    const end = new TextEncoder().encode(text).length - 1
    assert.deepStrictEqual(read(text).extent, { byteStart: 0, byteEnd: end, lines: 2 })
    const [, second] = located(text)
    const { extent } = Recovery.fold([second!])
    assert.deepStrictEqual(extent, { byteStart: second!.at.byteStart, byteEnd: end, lines: 1 })
  })

  it("counts a line with two entries as one", () => {
    assert.strictEqual(read(`${u1}${a1}\n${u2}`).extent.lines, 2)
  })

  it("names the session of the first line that says one, and reports lines of another", () => {
    const { sessionId } = recover("u1-a1")
    const bodies = { a1: { sessionId: "another" }, u2: { sessionId: "another" } }
    const state = recover("u1-a1-u2", { bodies })
    assert.strictEqual(state.sessionId, sessionId)
    assert.strictEqual(tell(state.findings), "foreign-session 2")
    assert.strictEqual(places(state.findings, log("u1-a1-u2", { bodies })), "foreign-session@a1")
    assert.isUndefined(recover("u1", { bodies: { u1: { sessionId: undefined } } }).sessionId)
  })

  it("reads entries that were read apart as one log", () => {
    const entries = [u1, a1, u2, a2].map((line, i) =>
      Line.decode(new TextEncoder().encode(line), { line: i + 1, byteStart: i, byteEnd: i + 1 })
    )
    assert.strictEqual(Notation.show(Recovery.fold(entries.flat()).conversation), whole)
  })
})

describe("Metadata", () => {
  const bodies: Bodies = {
    q1: Metadata.customTitle("Named"),
    q2: Metadata.aiTitle("Generated"),
    q3: Metadata.customTitle("Renamed"),
    q4: Metadata.customTitle(""),
    q5: { ...Metadata.mode("plan"), sessionId: "another" },
    q6: Metadata.lastPrompt({ lastPrompt: "the last prompt" })
  }
  const title = (picture: string) => recover(picture, { bodies }).metadata.title

  it("is titled custom, else generated, else last prompt, else first prompt", () => {
    assert.strictEqual(title("u1-a1 q1 q2 q6"), "Named")
    assert.strictEqual(title("u1-a1 q1 q3 q2"), "Renamed")
    assert.strictEqual(title("u1-a1 q2 q6"), "Generated")
    assert.strictEqual(title("u1-a1 q6"), "the last prompt")
    assert.strictEqual(title("u1-a1"), "[u1]")
    assert.isUndefined(title("a1"))
  })

  it("keeps summaries by their leaf, and pull requests in order: the last one is current", () => {
    const link = (prNumber: number) => ({ type: "pr-link", prNumber, prUrl: "u", prRepository: "r", timestamp: "t" })
    const more: Bodies = {
      q1: Metadata.make("summary", { summary: "one", leafUuid: "a1" }),
      q2: Metadata.make("summary", { summary: "two", leafUuid: "x9" }),
      q3: link(1),
      q4: link(2)
    }
    const { metadata } = recover("q1 q2 u1-a1 q3 q4", { bodies: more })
    assert.deepStrictEqual(
      [...metadata.summaries],
      [
        ["a1", "one"],
        ["x9", "two"]
      ]
    )
    assert.deepStrictEqual(
      metadata.pullRequests.map(({ prNumber }) => prNumber),
      [1, 2]
    )
    assert.strictEqual(metadata.title, "two")
  })

  it("has its custom title cleared by an empty one", () => {
    assert.strictEqual(title("u1-a1 q1 q2 q4"), "Generated")
  })

  it("counts from whichever session wrote it", () => {
    assert.strictEqual(recover("u1 q5", { bodies }).metadata.mode, "plan")
  })

  it("counts from the whole file, also from before the boundary and from other branches", () => {
    assert.strictEqual(title("u1-a1 q1 B1-S1-u3"), "Named")
    assert.strictEqual(title("u1-a1-u2 q1 a1-w1"), "Named")
  })

  it("has as first prompt the first text that a person wrote", () => {
    const more: Bodies = { u1: Message.user("<command-output>x</command-output>"), u2: { isMeta: true } }
    assert.strictEqual(recover("u1-m1-rA-S1-u2-u3-u4", { bodies: more }).metadata.firstPrompt, "[u3]")
  })
})

describe("Reading only what follows the last boundary", () => {
  const title = { q1: Metadata.customTitle("Named") }
  const pairs = [
    ["u1-a1-u2-a2 q1 B1-S1-u3-a3(A)-rA-a4", "q1 B1-S1-u3-a3(A)-rA-a4"],
    ["u1-a1-u2-a2 q1 B1{u2,a2>S1}-S1-u3-a3", "x1-u2-a2 q1 B1{u2,a2>S1}-S1-u3-a3"],
    ["u1-a1 B1-S1-u2-a2 q1 B2{u2..a2>S2}-S2-u3-a3", "x1-u2-a2 q1 B2{u2..a2>S2}-S2-u3-a3"]
  ] as const

  it("gives the same conversation, model messages and metadata", () => {
    for (const [full, suffix] of pairs) {
      const [a, b] = [recover(full, { bodies: title }), recover(suffix, { bodies: title })]
      assert.strictEqual(Notation.show(b.conversation), Notation.show(a.conversation), suffix)
      assert.strictEqual(sent(ModelMessages.make(b)), sent(ModelMessages.make(a)), suffix)
      assert.strictEqual(b.metadata.title, a.metadata.title, suffix)
    }
  })

  it("knows nothing of what stands before: archived is what was read", () => {
    assert.strictEqual(rest(pairs[0][0], { bodies: title }), "archived 4")
    assert.strictEqual(rest(pairs[0][1], { bodies: title }), "")
  })
})
