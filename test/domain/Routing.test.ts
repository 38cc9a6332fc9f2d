import { assert, describe, it } from "@effect/vitest"
import * as Entry from "@reprise/domain/Entry"
import * as Lane from "@reprise/domain/Lane"
import * as Routing from "@reprise/domain/Routing"
import * as Notation from "@reprise/domain/testing/Notation"
import { Arbitrary, Result, Schema } from "effect"

const none: ReadonlySet<string> = new Set()
const decide = (entry: object, seen: ReadonlySet<string> = none) => Routing.decide(seen, entry as Entry.Entry)
/** Where an entry goes, and to which replicas; or why it is refused. */
const show = (entry: object, seen?: ReadonlySet<string>) =>
  Result.match(decide(entry, seen), {
    onFailure: ({ reason }) => `refused: ${reason}`,
    onSuccess: ({ replicate, writes }) =>
      [
        writes.map(({ lane }) => Lane.key(lane) || "main").join() || "nowhere",
        ...(replicate.compat ? ["compat"] : []),
        ...(replicate.native ? ["native"] : [])
      ].join(" ")
  })

const message = { uuid: "u1", parentUuid: null, message: { content: [] } }
const sidechain = { isSidechain: true, agentId: "a1b2c3" }

const Id = Schema.Literals(["u1", "u2", "u3", ""])
const AnyEntry: Arbitrary.Arbitrary<Entry.Entry> = Arbitrary.map(
  Arbitrary.schema(
    Schema.Struct({
      type: Schema.Literals([...Entry.kinds, "user", "assistant", "user", "assistant", "someday", "malformed"]),
      uuid: Schema.optionalKey(Schema.Union([Id, Schema.Json])),
      isSidechain: Schema.optionalKey(Schema.Union([Schema.Literals([true, false, "true"]), Schema.Null])),
      agentId: Schema.optionalKey(Schema.Union([Schema.Literals(["a1", "a2", ""]), Schema.Null])),
      messageId: Schema.optionalKey(Id),
      message: Schema.optionalKey(Schema.Struct({ content: Schema.Array(Schema.Json) }))
    })
  ),
  (value) => (value.type === "malformed" ? new Entry.Malformed(new Uint8Array(3), "torn") : Entry.read(value).entry)
)

/** Routes a whole log: what each lane gets, and what each remote hears, in order. */
const route = (entries: ReadonlyArray<Entry.Entry>) => {
  const seen = new Set<string>()
  const lanes = new Map<string, Array<Entry.Entry>>()
  const compat: Array<Entry.Entry> = []
  const native: Array<Entry.Entry> = []
  for (const entry of entries) {
    const decision = Result.getOrUndefined(Routing.decide(seen, entry))
    for (const write of decision?.writes ?? []) {
      const key = Lane.key(write.lane)
      lanes.set(key, [...(lanes.get(key) ?? []), write.entry])
      if (key === "" && Entry.isMessage(write.entry)) seen.add(write.entry.uuid)
    }
    if (decision?.replicate.compat === true) compat.push(entry)
    if (decision?.replicate.native === true) native.push(entry)
  }
  return { main: lanes.get("") ?? [], lanes, compat, native }
}

const isSidechain = (entry: Entry.Entry) => (entry as { readonly isSidechain?: unknown }).isSidechain === true
const agentOf = (entry: Entry.Entry) => (entry as { readonly agentId?: unknown }).agentId
const idsOf = (entries: ReadonlyArray<Entry.Entry>) => entries.filter(Entry.isMessage).map(({ uuid }) => uuid)

describe("a decision", () => {
  const table: ReadonlyArray<readonly [what: string, entry: object, decision: string]> = [
    ["a prompt", { type: "user", ...message }, "main compat native"],
    ["a reply", { type: "assistant", ...message }, "main compat native"],
    ["an attachment", { type: "attachment", ...message }, "main compat native"],
    ["an event", { type: "system", ...message }, "main compat native"],
    ["a message of a sidechain", { type: "user", ...message, ...sidechain }, "a1b2c3 native"],
    ["a message with an agent on the main lane", { type: "user", ...message, agentId: "a1b2c3" }, "main compat native"],
    ["a title", { type: "custom-title", customTitle: "T" }, "main native"],
    ["metadata with an id of a message", { type: "custom-title", uuid: "u9" }, "main native"],
    ["a snapshot", { type: "file-history-snapshot", messageId: "u1" }, "main native"],
    ["a queued prompt", { type: "queue-operation", operation: "enqueue" }, "main native"],
    ["shorter results of the main lane", { type: "content-replacement", replacements: [] }, "main native"],
    ["shorter results of an agent", { type: "content-replacement", agentId: "a1b2c3" }, "a1b2c3 native"],
    ["a request", { type: "api-request", id: "r1" }, "main native"],
    ["a request of an agent", { type: "api-request", id: "r1", agentId: "a1b2c3" }, "a1b2c3 native"],
    ["an entry of another type", { type: "someday", uuid: "u1", parentUuid: null }, "main native"],
    ["one of another type in a sidechain", { type: "someday", ...sidechain }, "a1b2c3 native"],
    ["progress", { type: "progress", ...message }, "refused: progress"],
    ["bytes that are no entry", new Entry.Malformed(new Uint8Array(1), "torn"), "refused: malformed"],
    ["a sidechain without agent", { type: "user", ...message, isSidechain: true }, "refused: without-agent"],
    ["a sidechain of nobody", { type: "user", ...message, ...sidechain, agentId: "" }, "refused: without-agent"],
    ["a message without id", { type: "user", ...message, uuid: "" }, "refused: without-id"],
    ["one in a sidechain", { type: "user", ...message, ...sidechain, uuid: "" }, "refused: without-id"]
  ]
  for (const [what, entry, decision] of table) it(what, () => assert.strictEqual(show(entry), decision))

  it("only a message of the main lane can be there already", () => {
    const seen = new Set(["u1", "u9"])
    for (const [what, entry, decision] of table) {
      const isMain = decision === "main compat native"
      assert.strictEqual(show(entry, seen), isMain ? "nowhere" : decision, what)
    }
  })

  it.prop(
    "is total, and writes the very entry to the lane that laneOf names",
    [AnyEntry, Schema.Array(Id)],
    ([entry, ids]) => {
      const seen = new Set(ids)
      Result.match(decide(entry, seen), {
        onFailure: (refused) => {
          assert.strictEqual(refused._tag, "Refused")
          assert.strictEqual(refused.entry, entry)
          assert.include(refused.message, Entry.kindOf(entry))
        },
        onSuccess: ({ replicate, writes }) => {
          assert.isTrue(writes.length <= 1)
          assert.strictEqual(replicate.native, writes.length === 1)
          assert.isTrue(!replicate.compat || replicate.native)
          for (const write of writes) {
            assert.strictEqual<unknown>(write.entry, entry)
            assert.strictEqual(Lane.key(write.lane), Lane.key(Routing.laneOf(write.entry)!))
          }
        }
      })
      assert.strictEqual(seen.size, new Set(ids).size)
    }
  )
})

/** One answer for each kind of entry: a kind that is added and not named here does not compile. */
const answers: { readonly [K in Entry.Kind]: "messages" | "others" | "progress" | "malformed" } = {
  user: "messages",
  assistant: "messages",
  attachment: "messages",
  system: "messages",
  summary: "others",
  "custom-title": "others",
  "ai-title": "others",
  tag: "others",
  "agent-name": "others",
  "agent-color": "others",
  "agent-setting": "others",
  mode: "others",
  "permission-mode": "others",
  "last-prompt": "others",
  "pr-link": "others",
  "worktree-state": "others",
  "bridge-session": "others",
  "atis-latch": "others",
  "tools-used": "others",
  "cost-state": "others",
  "task-summary": "others",
  "file-history-snapshot": "others",
  "file-history-delta": "others",
  "queue-operation": "others",
  "content-replacement": "others",
  "marble-origami-commit": "others",
  "marble-origami-snapshot": "others",
  "attribution-snapshot": "others",
  "speculation-accept": "others",
  "api-request-shape": "others",
  "api-request-blob": "others",
  "api-request": "others",
  progress: "progress",
  unknown: "others",
  malformed: "malformed"
}

describe("the union of all entries", () => {
  const shown = {
    messages: "main compat native",
    others: "main native",
    progress: "refused: progress",
    malformed: "refused: malformed"
  }

  it("has an answer for every kind, and takes no other value", () => {
    const total: (seen: ReadonlySet<string>, entry: Entry.Entry) => Result.Result<Routing.Decision, Routing.Refused> =
      Routing.decide
    // @ts-expect-error: what has no type is no entry
    const partial = () => Routing.decide(none, { uuid: "u1" })
    assert.isFunction(partial)
    for (const [kind, answer] of Object.entries(answers)) {
      const entry =
        kind === "malformed"
          ? new Entry.Malformed(new Uint8Array(1), "torn")
          : Entry.read({ ...message, type: kind === "unknown" ? "someday" : kind }).entry
      assert.strictEqual(Entry.kindOf(entry), kind)
      assert.strictEqual(show(entry), shown[answer], kind)
      assert.strictEqual(Result.isSuccess(total(none, entry)), answer === "messages" || answer === "others")
    }
  })
})

describe("a log that is routed", () => {
  const Log = Arbitrary.array(AnyEntry, { maxLength: 40 })

  it.prop("holds each message of the main lane once, the first one", [Log], ([log]) => {
    const offered = idsOf(log.filter((entry) => !isSidechain(entry))).filter((uuid) => uuid !== "")
    assert.deepStrictEqual(idsOf(route(log).main), [...new Set(offered)])
  })

  it.prop("holds every sidechain entry, in order and as often as it was offered", [Log], ([log]) => {
    const { lanes } = route(log)
    for (const agent of ["a1", "a2"]) {
      const offered = log.filter(
        (entry) =>
          agentOf(entry) === agent &&
          (isSidechain(entry) || /^(content-replacement|api-request)/.test(entry.type ?? "")) &&
          Result.isSuccess(decide(entry))
      )
      assert.deepStrictEqual(lanes.get(agent) ?? [], offered)
    }
  })

  it.prop("holds every entry of the main lane that is no message", [Log], ([log]) => {
    const { main } = route(log)
    const kept = log.filter((entry) => !Entry.isMessage(entry) && show(entry).startsWith("main"))
    assert.deepStrictEqual(
      main.filter((entry) => !Entry.isMessage(entry)),
      kept
    )
  })

  it.prop("is what the remotes hear: compat the messages of the main lane, native all of it", [Log], ([log]) => {
    const { compat, lanes, main, native } = route(log)
    assert.deepStrictEqual(compat, main.filter(Entry.isMessage))
    for (const [key, written] of lanes) {
      const heard = native.filter((entry) => Lane.key(Routing.laneOf(entry as Entry.Known)!) === key)
      assert.deepStrictEqual(heard, written)
    }
  })

  it.prop("offered again, gets no message of the main lane and all of the sidechains", [Log], ([log]) => {
    const [once, twice] = [route(log), route([...log, ...log])]
    assert.deepStrictEqual(idsOf(twice.main), idsOf(once.main))
    for (const [key, written] of once.lanes)
      if (key !== "") assert.deepStrictEqual(twice.lanes.get(key), [...written, ...written])
  })
})

describe("materialises", () => {
  it("a prompt or a reply of the main lane does, all else waits", () => {
    const first = (picture: string) => Notation.entries(picture).map(Routing.materialises)
    assert.deepStrictEqual(first("u1-a1-rA"), [true, true, true])
    assert.deepStrictEqual(first("t1-s1-p1-q1 ? !a1"), [false, false, false, false, false, false])
    assert.deepStrictEqual(first("u1~abc-a1~abc"), [false, false])
    assert.isFalse(Routing.materialises({ type: "custom-title", customTitle: "T" }))
  })
})
