import { assert, describe, it } from "@effect/vitest"
import * as Snapshot from "@reprise/domain/Snapshot"
import * as Schema from "effect/Schema"

const kinds = Object.keys(Snapshot.schemas) as ReadonlyArray<Snapshot.Kind>
const isOf = (kind: Snapshot.Kind) => Schema.is(Snapshot.schemas[kind] as Schema.Schema<unknown>)

const backup = { backupFileName: "0a1b@v2", version: 2, backupTime: "2026-10-01T10:00:00.000Z" }

/** One whole example of each kind. */
const examples: { readonly [K in Snapshot.Kind]: Omit<Snapshot.Of<K>, "type"> } = {
  "file-history-snapshot": {
    messageId: "u1",
    snapshot: {
      messageId: "u1",
      timestamp: "2026-10-01T10:00:00.000Z",
      trackedFileBackups: { "a.ts": backup, "b.ts": { ...backup, backupFileName: null, realParentDir: "/w" } }
    },
    isSnapshotUpdate: false
  },
  "file-history-delta": { messageId: "u2", snapshotMessageId: "u1", trackingPath: "a.ts", backup, timestamp: "t" },
  "queue-operation": { operation: "enqueue", timestamp: "t", sessionId: "s1", content: "next" },
  "content-replacement": {
    sessionId: "s1",
    agentId: "a1b2c3",
    replacements: [{ kind: "tool-result", toolUseId: "T1", replacement: "short" }]
  },
  "marble-origami-commit": {
    sessionId: "s1",
    collapseId: "1",
    summaryUuid: "x1",
    summaryContent: "<collapsed>",
    summary: "collapsed",
    firstArchivedUuid: "u1",
    lastArchivedUuid: "a3"
  },
  "marble-origami-snapshot": { sessionId: "s1", staged: [{ startUuid: "u1" }], armed: true, lastSpawnTokens: 10 },
  "attribution-snapshot": { messageId: "u1", surface: "cli", fileStates: {}, promptCount: 1 },
  "speculation-accept": { timestamp: "t", timeSavedMs: 120 },
  "api-request-shape": { sessionId: "s1", shapeHash: "h", shape: { system: [], tools: [] } },
  "api-request-blob": { sessionId: "s1", hash: "h", message: { role: "user", content: "a" } },
  "api-request": { sessionId: "s1", id: "r1", shapeHash: "h", keep: 0, tail: ["h"], cacheControl: [] }
}

describe("Snapshot", () => {
  it("make gives an entry of each kind that fits, type first", () => {
    for (const kind of kinds) {
      const entry = Snapshot.make(kind, examples[kind])
      assert.isTrue(isOf(kind)(entry), kind)
      assert.strictEqual(Object.keys(entry)[0], "type")
      assert.deepStrictEqual<unknown>(entry, { type: kind, ...examples[kind] })
    }
  })

  it("each asks for its own type and nothing else", () => {
    for (const kind of kinds) {
      assert.isTrue(isOf(kind)({ type: kind, someday: 1 }), kind)
      assert.isFalse(isOf(kind)({ type: "user" }), kind)
    }
  })

  it("a prompt in the queue may be blocks, or missing", () => {
    assert.isTrue(
      isOf("queue-operation")({ type: "queue-operation", operation: "enqueue", content: [{ type: "text" }] })
    )
    assert.isTrue(isOf("queue-operation")({ type: "queue-operation", operation: "someday" }))
  })

  it.prop("are total", { value: Schema.Json }, ({ value }) => {
    for (const kind of kinds) assert.isBoolean(isOf(kind)(value))
  })
})
