import { assert, describe, it } from "@effect/vitest"
import type * as Entry from "@reprise/domain/Entry"
import type { Located } from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as Snapshot from "@reprise/domain/Snapshot"
import * as Snapshots from "@reprise/recovery/Snapshots"
import { findings, recover } from "./picture.ts"

const fold = (...entries: ReadonlyArray<Snapshot.Of<Snapshot.Kind>>): Snapshots.Snapshots =>
  Projection.fold(Snapshots.projection, entries.map(located))

/** Each on a line of its own. */
const located = (entry: Snapshot.Of<Snapshot.Kind>, i = 0): Located => ({
  entry: entry as Entry.Entry,
  at: { line: i + 1, byteStart: i, byteEnd: i + 1 },
  damage: []
})

const backup = (name: string, version = 1) => ({ backupFileName: name, version })
const tracked = (messageId: string, trackedFileBackups: { readonly [path: string]: Snapshot.Backup }) =>
  Snapshot.make("file-history-snapshot", { messageId, snapshot: { messageId, trackedFileBackups } })
const delta = (snapshotMessageId: string, trackingPath: string, name: string) =>
  Snapshot.make("file-history-delta", { messageId: "u9", snapshotMessageId, trackingPath, backup: backup(name) })

/** `u1: a.ts=a@1`, snapshot by snapshot. */
const history = (...entries: ReadonlyArray<Snapshot.Of<Snapshot.Kind>>): string =>
  fold(...entries)
    .fileHistory.map(({ backups, messageId }) =>
      [`${messageId}:`, ...Array.from(backups, ([path, { backupFileName }]) => `${path}=${backupFileName}`)].join(" ")
    )
    .join("; ")

describe("File history", () => {
  it("holds a snapshot for each message, in order", () => {
    assert.strictEqual(
      history(
        tracked("u1", { "a.ts": backup("a@1") }),
        tracked("u2", { "a.ts": backup("a@2"), "b.ts": backup("b@1") })
      ),
      "u1: a.ts=a@1; u2: a.ts=a@2 b.ts=b@1"
    )
  })

  it("replaces the snapshot that an update names inside, and keeps its place", () => {
    const update = Snapshot.make("file-history-snapshot", {
      messageId: "u9",
      snapshot: { messageId: "u1", trackedFileBackups: { "a.ts": backup("a@3") } },
      isSnapshotUpdate: true
    })
    assert.strictEqual(
      history(tracked("u1", { "a.ts": backup("a@1") }), tracked("u2", {}), update),
      "u1: a.ts=a@3; u2:"
    )
  })

  it("adds the one path of a delta to its snapshot", () => {
    assert.strictEqual(
      history(tracked("u1", { "a.ts": backup("a@1") }), delta("u1", "b.ts", "b@1"), delta("u1", "a.ts", "a@2")),
      "u1: a.ts=a@2 b.ts=b@1"
    )
  })

  it("passes over a delta of a snapshot that is in no line, or without its parts", () => {
    assert.strictEqual(history(delta("u1", "b.ts", "b@1"), tracked("u1", {})), "u1:")
    const bare = Snapshot.make("file-history-delta", { snapshotMessageId: "u1" })
    assert.strictEqual(history(tracked("u1", {}), bare, Snapshot.make("file-history-delta", {})), "u1:")
  })

  it("knows that a file did not exist", () => {
    const none = { backupFileName: null, version: 1 }
    assert.strictEqual(history(tracked("u1", { "new.ts": none })), "u1: new.ts=null")
  })

  it("passes over snapshots that do not say what they are of", () => {
    assert.strictEqual(history(Snapshot.make("file-history-snapshot", { snapshot: null })), "")
    const bare = Snapshot.make("file-history-snapshot", { snapshot: { messageId: "u1" } })
    assert.strictEqual(history(bare), "u1:")
  })

  it("leaves the answer that was given before as it was", () => {
    const run = Projection.run(Snapshots.projection)
    run.evolve(located(tracked("u1", { "a.ts": backup("a@1") })))
    const before = run.extract()
    run.evolve(located(delta("u1", "b.ts", "b@1")))
    run.evolve(located(Snapshot.make("queue-operation", { operation: "enqueue", content: "x" })))
    assert.deepStrictEqual([...before.fileHistory[0]!.backups.keys()], ["a.ts"])
    assert.deepStrictEqual(before.pending, [])
  })
})

describe("Attribution", () => {
  it("is the last one of each message", () => {
    const of = (messageId: string, promptCount: number) =>
      Snapshot.make("attribution-snapshot", { messageId, promptCount })
    assert.deepStrictEqual(
      fold(of("u1", 1), of("u2", 2), of("u1", 3)).attribution.map(({ messageId, promptCount }) => [
        messageId,
        promptCount
      ]),
      [
        ["u1", 3],
        ["u2", 2]
      ]
    )
  })
})

describe("Content replacements", () => {
  const replace = (toolUseId: string, replacement: string, agentId?: string) =>
    Snapshot.make("content-replacement", {
      ...(agentId === undefined ? {} : { agentId }),
      replacements: [{ kind: "tool-result", toolUseId, replacement }]
    })

  it("are kept by call, the last text for each, in order of lines", () => {
    const { replacements } = fold(replace("A", "one"), replace("B", "two"), replace("A", "three"))
    assert.deepStrictEqual(
      [...replacements.get("")!],
      [
        ["A", "three"],
        ["B", "two"]
      ]
    )
  })

  it("are those of the main lane and of each agent apart", () => {
    const { replacements } = fold(replace("A", "main"), replace("A", "agent", "abc"))
    assert.strictEqual(replacements.get("")!.get("A"), "main")
    assert.strictEqual(replacements.get("abc")!.get("A"), "agent")
    assert.isUndefined(replacements.get("def"))
  })

  it("say nothing where a part is missing", () => {
    const { replacements } = fold(
      Snapshot.make("content-replacement", {}),
      Snapshot.make("content-replacement", { replacements: [{}] })
    )
    assert.strictEqual(replacements.get("")?.size ?? 0, 0)
  })
})

describe("Context collapse", () => {
  it("is its commits in order, with the last staged snapshot", () => {
    const commit = (collapseId: string) => Snapshot.make("marble-origami-commit", { collapseId })
    const staged = (lastSpawnTokens: number) => Snapshot.make("marble-origami-snapshot", { lastSpawnTokens })
    const { collapse } = fold(commit("1"), staged(10), commit("2"), staged(20))
    assert.deepStrictEqual(
      collapse.commits.map(({ collapseId }) => collapseId),
      ["1", "2"]
    )
    assert.strictEqual(collapse.staged?.lastSpawnTokens, 20)
    assert.isUndefined(fold(commit("1")).collapse.staged)
  })
})

describe("The queue", () => {
  const queue = (operation: string, content?: unknown) =>
    Snapshot.make("queue-operation", { operation, ...(content === undefined ? {} : { content }) })
  const pending = (...entries: ReadonlyArray<Snapshot.Of<Snapshot.Kind>>) =>
    fold(...entries).pending.map(({ text }) => text)

  it("holds what was enqueued and never taken", () => {
    assert.deepStrictEqual(pending(queue("enqueue", "one"), queue("enqueue", "two"), queue("dequeue")), ["two"])
  })

  it("gives its oldest prompt, by either name", () => {
    assert.deepStrictEqual(pending(queue("enqueue", "one"), queue("enqueue", "two"), queue("remove", "one")), ["two"])
  })

  it("is emptied at once", () => {
    assert.deepStrictEqual(pending(queue("enqueue", "one"), queue("enqueue", "two"), queue("popAll")), [])
  })

  it("gives nothing when it is empty", () => {
    assert.deepStrictEqual(pending(queue("dequeue"), queue("remove"), queue("popAll"), queue("enqueue", "one")), [
      "one"
    ])
  })

  it("is not changed by an operation that is not known", () => {
    assert.deepStrictEqual(pending(queue("enqueue", "one"), queue("someday")), ["one"])
  })

  it("reads blocks as their text, and keeps the time", () => {
    assert.deepStrictEqual(pending(queue("enqueue", [{ type: "text", text: "one" }])), ["one"])
    const timed = Snapshot.make("queue-operation", { operation: "enqueue", content: "one", timestamp: "t" })
    assert.deepStrictEqual(fold(timed).pending, [
      { text: "one", at: { line: 1, byteStart: 0, byteEnd: 1 }, timestamp: "t" }
    ])
  })

  it("reports a prompt that still waits", () => {
    const bodies = { q1: queue("enqueue", "and then") }
    assert.strictEqual(findings("u1 q1", { bodies }), "pending-prompt and then")
  })
})

describe("Snapshots", () => {
  it("count from the whole file, also from before the boundary", () => {
    const bodies = { q1: tracked("u1", { "a.ts": backup("a@1") }), q2: delta("u1", "b.ts", "b@1") }
    const { snapshots } = recover("u1 q1 u1-a1 B1-S1 q2 S1-u2", { bodies })
    assert.deepStrictEqual([...snapshots.fileHistory[0]!.backups.keys()], ["a.ts", "b.ts"])
  })

  it("are empty where nothing was recorded", () => {
    const { attribution, collapse, fileHistory, pending, replacements } = fold()
    assert.deepStrictEqual([attribution, fileHistory, pending, collapse.commits], [[], [], [], []])
    assert.strictEqual(replacements.size, 0)
  })
})
