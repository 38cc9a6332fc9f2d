import { assert, describe, it } from "@effect/vitest"
import * as Boundary from "@reprise/domain/Boundary"
import * as Content from "@reprise/domain/Content"
import * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as Notation from "@reprise/domain/testing/Notation"

/** Any message, with the keys that are asked for here. */
type AnyMessage = Omit<Entry.OfKind<"user">, "type" | "message"> &
  Pick<Entry.OfKind<"system">, "subtype"> & {
    readonly type: string
    readonly message: { readonly id?: string; readonly content: unknown }
  }

const entries = (picture: string) => Notation.entries(picture) as unknown as ReadonlyArray<AnyMessage>
const entry = (picture: string) => entries(picture).at(-1)!
/** Every entry with what it hangs on. */
const links = (picture: string) =>
  entries(picture)
    .map((e) => `${e.uuid}<${e.parentUuid ?? ""}`)
    .join(" ")

describe("links", () => {
  it("in a run each entry hangs on the one before it; a run starts with a new root", () => {
    assert.strictEqual(links("u1-a1-u2-a2"), "u1< a1<u1 u2<a1 a2<u2")
    assert.strictEqual(links("u1-a1 u2-a2"), "u1< a1<u1 u2< a2<u2")
    assert.strictEqual(links("  u1  a1\n u2 "), "u1< a1< u2<")
  })

  it("a run that starts with a name used before is a branch, and adds no entry for it", () => {
    assert.strictEqual(links("u1-a1-u2-a2 a1-u3-a3"), "u1< a1<u1 u2<a1 a2<u2 u3<a1 a3<u3")
  })

  it("a name used before inside a run is a copy", () => {
    assert.strictEqual(links("u1-a1-u2 a1-u2"), "u1< a1<u1 u2<a1 u2<a1")
    assert.strictEqual(links("u1-a1-u1"), "u1< a1<u1 u1<a1")
  })

  it("x… is an id that is in no line, wherever it stands", () => {
    assert.strictEqual(links("u1-a1 x9-u2"), "u1< a1<u1 u2<x9")
    assert.strictEqual(links("u1-x1-a1 x1-a2"), "u1< a1<x1 a2<x1")
    assert.strictEqual(links("x1"), "")
  })

  it("^ names another parent, also one that comes later, and the entry itself", () => {
    assert.strictEqual(links("u1-a1-u2^u1-a2"), "u1< a1<u1 u2<u1 a2<u2")
    assert.strictEqual(links("u1^x1-a1^a1-u2^a9"), "u1<x1 a1<a1 u2<a9")
  })
})

describe("kinds", () => {
  const kinds: ReadonlyArray<readonly [picture: string, kind: Entry.Kind, subtype?: string]> = [
    ["u1", "user"],
    ["m1", "user"],
    ["rA", "user"],
    ["S1", "user"],
    ["a1", "assistant"],
    ["t1", "attachment"],
    ["s1", "system", "away_summary"],
    ["l1", "system", "local_command"],
    ["w1", "system", "informational"],
    ["B1", "system", "compact_boundary"],
    ["N1", "system", "snip_boundary"],
    ["p1", "progress"],
    ["q1", "unknown"]
  ]
  for (const [picture, kind, subtype] of kinds) {
    it(`${picture} is of kind ${kind}${subtype === undefined ? "" : `, ${subtype}`}`, () => {
      const one = entry(picture)
      assert.strictEqual(Entry.kindOf(one), kind)
      assert.strictEqual(one.subtype, subtype)
      assert.strictEqual(one.uuid, picture)
      assert.deepStrictEqual(Entry.read({ ...one }).illFormed, [])
    })
  }

  it("a prompt, a reply and an injected line say their name", () => {
    for (const name of ["u1", "a1", "m1"]) assert.strictEqual(Content.textOf(entry(name).message.content), `[${name}]`)
    assert.isTrue(entry("m1").isMeta)
    assert.isTrue(entry("w1").isMeta)
    assert.isTrue(entry("S1").isCompactSummary)
  })

  it("! is a `last-prompt` that names a leaf, ? a line that is no entry", () => {
    assert.deepInclude(Notation.entries("u1 !u1").at(-1), { type: "last-prompt", leafUuid: "u1" })
    assert.isTrue(Notation.entries("?")[0] instanceof Entry.Malformed)
  })

  it("what is no picture is an error that names the word", () => {
    for (const word of ["1", "u1!", "u1(", "z1", "u1{a", "u1-", "-"])
      assert.throws(() => Notation.entries(word), word.slice(0, 1) === "z" ? "z1" : "")
    assert.throws(() => Notation.entries("u1 z1"), /z1/)
    assert.throws(() => Notation.entries("u1 u2(("), /u2\(\(/)
  })
})

describe("what follows a name", () => {
  it("@ is the id of the reply, else each reply has its own", () => {
    assert.deepStrictEqual(
      entries("a1@m-a2@m-a3").map((e) => e.message.id),
      ["m", "m", "msg-a3"]
    )
  })

  it("(A,B) are calls of a reply, or the calls that a result answers", () => {
    const calls = Content.blocks(entry("a1(A,B)").message.content)
    assert.isTrue(calls.every(Content.isToolUse))
    assert.deepStrictEqual(
      calls.map((call) => "id" in call && call.id),
      ["A", "B"]
    )
    const answered = (picture: string) =>
      Content.blocks(entry(picture).message.content).map((block) => Content.isToolResult(block) && block.tool_use_id)
    assert.deepStrictEqual(answered("rA"), ["A"])
    assert.deepStrictEqual(answered("r1(A,B)"), ["A", "B"])
  })

  it("{…} are the kept messages of a boundary, as a list or as a segment, and their anchor", () => {
    assert.deepStrictEqual(Boundary.preserved(entry("B1{u1,a1>S1}")), {
      kind: "messages",
      anchor: "S1",
      uuids: ["u1", "a1"]
    })
    assert.deepStrictEqual(Boundary.preserved(entry("B1{u1..a1>S1}")), {
      kind: "segment",
      head: "u1",
      anchor: "S1",
      tail: "a1"
    })
    assert.isUndefined(Boundary.preserved(entry("B1")))
  })

  it("{…} are the removed messages of a snip", () => {
    assert.deepStrictEqual(Boundary.removed(entry("N1{u1,a1}")), ["u1", "a1"])
    assert.deepStrictEqual(Boundary.removed(entry("N1")), [])
  })

  it(":7 is a time in seconds, :? none; else entries stand one second apart", () => {
    const times = (picture: string) => entries(picture).map((e) => e.timestamp?.slice(11, 23))
    assert.deepStrictEqual(times("u1-a1 ? u2"), ["00:00:01.000", "00:00:02.000", undefined, "00:00:04.000"])
    assert.deepStrictEqual(times("u1:7-a1:5.5-u2:3661"), ["00:00:07.000", "00:00:05.500", "01:01:01.000"])
    assert.isFalse(Object.hasOwn(entry("u1:?"), "timestamp"))
  })

  it("~ is the agent of a sidechain, else the entry is of the main lane", () => {
    assert.deepInclude(entry("u1~abc"), { isSidechain: true, agentId: "abc" })
    assert.isFalse(entry("u1").isSidechain)
    assert.isFalse(Object.hasOwn(entry("u1"), "agentId"))
  })

  it("all of it may follow, in this order", () => {
    assert.deepInclude(entry("u1-a1^x1@m(A):9~abc"), {
      parentUuid: "x1",
      agentId: "abc",
      timestamp: "2026-01-01T00:00:09.000Z"
    })
  })
})

describe("logs", () => {
  const pictures = [
    "u1-a1-u2-a2 a1-u3-a3",
    "u1-a1@m(A)-a2@m(B)-rB a1-rA",
    "u1-a1 B1{u1,a1>S1}-S1-u2 !u2",
    "u1-p1-q1-a1 u2~abc-a2~abc N1{u1}",
    "t1-s1-l1-m1-w1"
  ]

  it("bytes hold a line for each entry, which reads as the entry", () => {
    for (const picture of pictures) {
      const read = Line.decodeAll(Notation.bytes(picture))
      assert.deepStrictEqual(
        read.map(({ entry }) => entry),
        [...Notation.entries(picture)]
      )
      assert.deepStrictEqual(
        read.map(({ at }) => at.line),
        read.map((_, i) => i + 1)
      )
      assert.deepStrictEqual(
        read.flatMap(({ damage }) => damage),
        []
      )
    }
  })

  it("log gives them at their places, with damage where a line is no entry", () => {
    const log = Notation.log("u1 ? a1")
    assert.deepStrictEqual(
      log.map(({ entry }) => Entry.kindOf(entry)),
      ["user", "malformed", "assistant"]
    )
    assert.deepStrictEqual(
      log.flatMap(({ damage }) => damage.map(({ kind, line }) => `${kind} ${line}`)),
      ["torn-line 2"]
    )
  })

  it("an empty picture is an empty log", () => {
    assert.deepStrictEqual(Notation.entries(" "), [])
    assert.strictEqual(Notation.bytes("").length, 0)
  })

  it("show is the picture of a line of talk", () => {
    for (const picture of ["u1-a1-u2", "u1", ""]) assert.strictEqual(Notation.show(entries(picture)), picture)
  })
})
