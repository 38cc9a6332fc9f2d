import { assert, describe, it } from "@effect/vitest"
import * as Boundary from "@reprise/domain/Boundary"
import * as Entry from "@reprise/domain/Entry"
import * as Message from "@reprise/domain/Message"
import * as Metadata from "@reprise/domain/Metadata"
import * as Progress from "@reprise/domain/Progress"
import * as Snapshot from "@reprise/domain/Snapshot"
import * as Upcast from "@reprise/domain/Upcast"
import { Arbitrary, Schema } from "effect"

type AnyObject = { readonly type: string; readonly [key: string]: unknown }

const schemas: { readonly [kind: string]: { readonly fields: object } } = {
  ...Message.schemas,
  ...Metadata.schemas,
  ...Snapshot.schemas,
  ...Progress.schemas
}
const isOf = (kind: Entry.KnownKind) => Schema.is(schemas[kind] as unknown as Schema.Schema<unknown>)
const isEntry = Schema.is(Entry.Entry)
const malformed = new Entry.Malformed(new Uint8Array([0x7b]), "torn")

/** The least of each kind that fits. */
const least = (kind: Entry.KnownKind): AnyObject => ({
  type: kind,
  ...("uuid" in schemas[kind]!.fields ? { uuid: "x1" } : undefined),
  ...(kind === "user" || kind === "assistant" ? { message: { content: [] } } : undefined)
})

/** An object of a known kind with some of its keys, each with a value of any type; as a log would hold it. */
const OfAnyKind: Arbitrary.Arbitrary<AnyObject> = Arbitrary.flatMap(
  Arbitrary.schema(Schema.Literals(Entry.kinds)),
  (kind) => {
    const keys = [...Object.keys(schemas[kind]!.fields).filter((key) => key !== "type"), "someday", "__proto__"]
    const Value = Schema.Union([Schema.Json, Schema.Literals(["x1", "", true, 7]), Schema.Null])
    const Nested = Schema.Record(Schema.Literals(["type", "content", "uuids", "headUuid", "version", "a"]), Value)
    const pairs = Arbitrary.array(
      Arbitrary.schema(Schema.Tuple([Schema.Literals(keys), Schema.Union([Value, Nested])]))
    )
    return Arbitrary.map(pairs, (pairs) => {
      const members = pairs.map(([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`)
      return JSON.parse(`{"type":"${kind}"${members.join("")}}`) as AnyObject
    })
  }
)

describe("kinds", () => {
  it("there are 33, each once, and each entry has the kind of its type", () => {
    assert.strictEqual(new Set(Entry.kinds).size, 33)
    assert.sameMembers([...Entry.kinds], Object.keys(schemas))
    for (const kind of Entry.kinds) assert.strictEqual(Entry.kindOf(Entry.read(least(kind)).entry), kind)
  })

  it("another type is unknown, also one that every object knows; no type is malformed", () => {
    for (const type of ["someday", "", "User", "unknown", "malformed", "constructor", "__proto__", "toString"]) {
      assert.strictEqual(Entry.kindOf({ type }), "unknown")
    }
    assert.strictEqual(Entry.kindOf(malformed), "malformed")
  })

  it("is narrows to one kind", () => {
    assert.isTrue(Entry.is("tag")({ type: "tag" }))
    assert.isFalse(Entry.is("tag")({ type: "mode" }))
    assert.isTrue(Entry.is("unknown")({ type: "someday" }))
    assert.isTrue(Entry.is("malformed")(malformed))
    assert.isFalse(Entry.is("unknown")(malformed))
  })

  it("the four kinds of the chain are messages, and nothing else is", () => {
    const messages = Entry.kinds.filter((kind) => Entry.isMessage(Entry.read(least(kind)).entry))
    assert.deepStrictEqual(messages, ["user", "assistant", "attachment", "system"])
    assert.isFalse(Entry.isMessage(malformed))
    assert.isFalse(Entry.isMessage({ type: "someday", uuid: "x1", parentUuid: null }))
  })

  it("match goes to the case of the kind, or else", () => {
    const cases = { tag: () => "tag", unknown: () => "unknown", malformed: () => "malformed" }
    const of = (entry: Entry.Entry) => Entry.match(entry, cases, () => "else")
    assert.deepStrictEqual(
      [{ type: "tag" }, { type: "toString" }, malformed, { type: "mode" }].map((e) => of(e)),
      ["tag", "unknown", "malformed", "else"]
    )
    assert.isUndefined(Entry.match({ type: "mode" }, { tag: () => 1 }))
  })
})

describe("an object read", () => {
  it.prop("is the entry itself where it fits, with all that it carries", [OfAnyKind], ([value]) => {
    const { entry, illFormed } = Entry.read(value)
    assert.strictEqual<unknown>(Entry.original(entry), value)
    if (isOf(value.type as Entry.KnownKind)(value)) {
      assert.deepStrictEqual(illFormed, [])
      if (Upcast.read(value) === value) assert.strictEqual<unknown>(entry, value)
    }
  })

  it("of each kind fits with no more than FORMAT §8 asks for", () => {
    for (const kind of Entry.kinds) {
      const value = { someday: [1], ...least(kind), another: null }
      const { entry, illFormed } = Entry.read(value)
      assert.deepStrictEqual(illFormed, [])
      if (kind !== "system") assert.strictEqual<unknown>(entry, value)
    }
  })

  it.prop("of another type is the entry itself, whatever it carries", [Schema.Json], ([json]) => {
    const value = { type: "someday", uuid: 7, message: json, content: json }
    assert.strictEqual<unknown>(Entry.read(value).entry, value)
  })

  it.prop("always fits its kind afterwards, and keeps its type", [OfAnyKind], ([value]) => {
    const { entry } = Entry.read(value)
    assert.strictEqual(entry.type, value.type)
    assert.isTrue(isOf(value.type as Entry.KnownKind)(entry), JSON.stringify(entry))
    assert.isTrue(isEntry(entry))
  })

  it.prop("keeps the parts that fit, as they are, and names the others", [OfAnyKind], ([value]) => {
    const { entry, illFormed } = Entry.read(value)
    const view = entry as AnyObject
    const today = Upcast.read(value)
    const bad = new Set(illFormed.map((path) => path.split(/[.[]/)[0]))
    for (const key of Object.keys(today)) if (!bad.has(key)) assert.strictEqual(view[key], today[key], key)
    for (const key of Object.keys(view)) assert.isTrue(Object.hasOwn(today, key) || bad.has(key), key)
    for (const key of bad)
      assert.isFalse(isOf(value.type as Entry.KnownKind)({ ...least(value.type as "tag"), [key!]: today[key!] }))
  })

  it("changes nothing in what was read", () => {
    const text = '{"type":"user","isMeta":"yes","message":{"role":7,"content":null,"x":1}}'
    const value = JSON.parse(text) as AnyObject
    Entry.read(value)
    assert.strictEqual(JSON.stringify(value), text)
  })

  it("a copy of a view is an entry of its own", () => {
    const { entry } = Entry.read({ type: "tag", tag: 7 })
    assert.deepStrictEqual<unknown>(Entry.original({ ...(entry as Entry.OfKind<"tag">) }), { type: "tag" })
  })
})

describe("an entry of a known type that does not fit", () => {
  const table: ReadonlyArray<readonly [what: string, value: object, view: object, illFormed: string]> = [
    ["without id", { type: "attachment" }, { type: "attachment", uuid: "" }, "uuid"],
    [
      "without message",
      { type: "user", uuid: "u1" },
      { type: "user", uuid: "u1", message: { content: [] } },
      "message"
    ],
    [
      "a message that is a string",
      { type: "assistant", uuid: "a1", message: "text" },
      { type: "assistant", uuid: "a1", message: { content: [] } },
      "message"
    ],
    [
      "a message without content, of which the rest fits in part",
      {
        type: "assistant",
        uuid: "a1",
        message: { id: "m1", model: 7, usage: { input_tokens: 5, output_tokens: "9" } }
      },
      { type: "assistant", uuid: "a1", message: { id: "m1", usage: { input_tokens: 5 }, content: [] } },
      "message.model,message.content,message.usage.output_tokens"
    ],
    [
      "a system line lacks neither content nor message",
      { type: "system", uuid: "s1", subtype: "turn_duration", durationMs: "12" },
      { type: "system", uuid: "s1", subtype: "turn_duration" },
      "durationMs"
    ],
    [
      "content that is no text",
      { type: "system", uuid: "s1", subtype: "x", content: 7 },
      { type: "system", uuid: "s1", subtype: "x" },
      "content"
    ],
    ["a value of another type", { type: "tag", tag: null, sessionId: "s1" }, { type: "tag", sessionId: "s1" }, "tag"],
    [
      "an attachment without type",
      { type: "attachment", uuid: "t1", attachment: {} },
      { type: "attachment", uuid: "t1" },
      "attachment.type"
    ],
    [
      "one of several tools",
      { type: "tools-used", tools: ["Bash", null, "Read", 7] },
      { type: "tools-used", tools: ["Bash", "Read"] },
      "tools[]"
    ],
    [
      "one of several replacements",
      { type: "content-replacement", replacements: [{ kind: 1, toolUseId: "A", replacement: 2 }, "x"] },
      { type: "content-replacement", replacements: [{ toolUseId: "A", replacement: 2 }] },
      "replacements[].kind,replacements[]"
    ],
    [
      "one of several backups",
      {
        type: "file-history-snapshot",
        snapshot: { trackedFileBackups: { a: { version: "1" }, b: { version: 2 }, c: 3 } }
      },
      { type: "file-history-snapshot", snapshot: { trackedFileBackups: { a: {}, b: { version: 2 } } } },
      "snapshot.trackedFileBackups.*.version,snapshot.trackedFileBackups.*"
    ]
  ]
  for (const [what, value, view, illFormed] of table) {
    it(`keeps the parts that fit: ${what}`, () => {
      const read = Entry.read(value as AnyObject)
      assert.deepStrictEqual<unknown>(read.entry, view)
      assert.strictEqual(read.illFormed.join(), illFormed)
      assert.strictEqual<unknown>(Entry.original(read.entry), value)
    })
  }

  it("a boundary keeps its messages although its numbers are none", () => {
    const compactMetadata = { trigger: null, preTokens: "9", preservedMessages: { anchorUuid: "S1", uuids: ["u1"] } }
    const { entry } = Entry.read({ type: "system", uuid: "B1", subtype: "compact_boundary", compactMetadata })
    assert.deepStrictEqual(Boundary.preserved(entry), { kind: "messages", anchor: "S1", uuids: ["u1"] })
  })

  it("a record of kept messages without its anchor is no record", () => {
    const compactMetadata = { preservedMessages: { uuids: ["u1"] } }
    const { entry, illFormed } = Entry.read({
      type: "system",
      uuid: "B1",
      subtype: "compact_boundary",
      compactMetadata
    })
    assert.isUndefined(Boundary.preserved(entry))
    assert.deepStrictEqual(illFormed, ["compactMetadata.preservedMessages.anchorUuid"])
  })

  it("a snip removes those of its ids that are ids", () => {
    const { entry } = Entry.read({
      type: "system",
      uuid: "N1",
      subtype: "snip_boundary",
      snipMetadata: { removedUuids: ["u1", 7] }
    })
    assert.deepStrictEqual(Boundary.removed(entry), ["u1"])
  })
})

describe("Entry.Entry", () => {
  it("accepts every kind, and nothing that is no entry", () => {
    for (const kind of Entry.kinds) assert.isTrue(isEntry(least(kind)))
    assert.isTrue(isEntry({ type: "someday" }))
    assert.isTrue(isEntry(malformed))
    for (const value of [null, 7, "x", [], {}, { type: 7 }, { type: "tag", tag: 7 }]) assert.isFalse(isEntry(value))
  })

  it("what is malformed holds bytes of its own", () => {
    const bytes = Buffer.from("// x")
    const kept = new Entry.Malformed(bytes.subarray(1), "not-json")
    bytes.fill(0)
    assert.strictEqual(new TextDecoder().decode(kept.bytes), "/ x")
    assert.isUndefined(kept.type)
  })
})
