import type * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as Notation from "@reprise/domain/testing/Notation"
import * as ModelMessages from "@reprise/recovery/ModelMessages"
import * as Recovery from "@reprise/recovery/Recovery"
import type { SessionState } from "@reprise/recovery/SessionState"
import { assert, describe, it } from "@effect/vitest"
import { sent } from "./picture.ts"

/**
 * A session with everything beside its talk, half of it before the boundary B1:
 *
 *   u1 a1(A) rA a2   B1 S1   u2 a3(C) rC a4   u3 a5   u4 a6(D) rD a7
 *     └ replacement of A, skill one, snapshot at u1, a commit over u1..a2
 *                       └ skills two and three, snapshot at u2 with a delta, replacement of C and D, of X for an agent,
 *                         a commit over u2..a4, another over u3..a5, a staged snapshot
 */
const skill = (uuid: string, parentUuid: string, ...names: ReadonlyArray<string>) => ({
  type: "attachment",
  uuid,
  parentUuid,
  attachment: { type: "invoked_skills", skills: names.map((name) => ({ name, content: `how to ${name}` })) }
})
const commit = (first: string, last: string, text: string) => ({
  type: "marble-origami-commit",
  collapseId: `${first}-${last}`,
  summaryUuid: `${first}-summary`,
  summaryContent: `[${text}]`,
  firstArchivedUuid: first,
  lastArchivedUuid: last
})
const replaces = (toolUseId: string, agentId?: string) => ({
  type: "content-replacement",
  ...(agentId === undefined ? {} : { agentId }),
  replacements: [{ kind: "tool-result", toolUseId, replacement: `short ${toolUseId}` }]
})
const snapshot = (messageId: string, paths: { readonly [path: string]: number }, of = messageId) => ({
  type: "file-history-snapshot",
  messageId,
  isSnapshotUpdate: of !== messageId,
  snapshot: { messageId: of, timestamp: "2026-01-01T00:00:00.000Z", trackedFileBackups: backups(paths) }
})
const backups = (paths: { readonly [path: string]: number }) =>
  Object.fromEntries(
    Object.entries(paths).map(([path, version]) => [path, { backupFileName: `${path}@${version}`, version }])
  )
const delta = (snapshotMessageId: string, trackingPath: string, version: number) => ({
  type: "file-history-delta",
  messageId: "a4",
  snapshotMessageId,
  trackingPath,
  backup: { backupFileName: `${trackingPath}@${version}`, version }
})

const before = [
  ...Notation.entries("u1-a1(A)-rA-a2"),
  skill("t1", "a2", "one"),
  replaces("A"),
  snapshot("u1", { "a.ts": 1 }),
  snapshot("a2", { "a.ts": 1, "b.ts": 1 }, "u1"),
  commit("u1", "a2", "C0")
]
const after = [
  ...Notation.entries("B1-S1-u2-a3(C)-rC-a4-u3-a5-u4-a6(D)-rD-a7"),
  skill("t2", "rD", "two", "three"),
  replaces("C"),
  replaces("D"),
  replaces("D", "agent"),
  snapshot("u2", { "b.ts": 2 }),
  delta("u2", "c.ts", 1),
  delta("nowhere", "d.ts", 1),
  commit("u2", "a4", "C1"),
  commit("u3", "a5", "C2"),
  { type: "marble-origami-snapshot", staged: [{ first: "u4" }], armed: true }
]

const recovered = (entries: ReadonlyArray<object>): SessionState =>
  Recovery.fold(
    Line.decodeAll(new TextEncoder().encode(entries.map((entry) => `${Line.encode(entry as Entry.Entry)}\n`).join("")))
  )

describe("what stands beside the conversation is applied, not only loaded", () => {
  const state = recovered([...before, ...after])

  it("leaves the chain alone: collapse and replacements are for the model view", () => {
    assert.strictEqual(Notation.show(state.conversation), "B1-S1-u2-a3-rC-a4-u3-a5-u4-a6-rD-t2-a7")
  })

  it("sends the summary of each committed span in its place, and what follows as it is", () => {
    assert.strictEqual(
      sent(ModelMessages.make(state)).replace(/"[^"]*"/g, "skills"),
      "u[S1 C1 C2 u4] a[use:D] u[res:D skills] a[a7]"
    )
  })

  it("says of each hidden entry that it is collapsed", () => {
    const { omitted } = ModelMessages.make(state)
    assert.deepStrictEqual(
      omitted.filter(({ why }) => why === "collapsed").map(({ uuid }) => uuid),
      ["u2", "a3", "rC", "a4", "u3", "a5"]
    )
  })

  it("sends the replacement of a result in its place, in the lane that it was made for", () => {
    const contentOf = (view: ModelMessages.ModelView) =>
      view.messages.flatMap(({ parts }) => parts).flatMap(({ block }) => ("tool_use_id" in block ? [block] : []))
    const main = contentOf(ModelMessages.make(state))
    const agent = contentOf(ModelMessages.make(state, { agentId: "other" }))
    assert.deepStrictEqual(main, [{ type: "tool_result", tool_use_id: "D", content: "short D" }])
    assert.deepStrictEqual(agent, [{ type: "tool_result", tool_use_id: "D", content: "result D" }])
    assert.deepStrictEqual([...state.snapshots.replacements.keys()], ["", "agent"])
  })

  it("has all skills, also that from before the boundary", () => {
    assert.deepStrictEqual(
      Array.from(state.skills.skills.values(), ({ content, name }) => [name, content]),
      ["one", "two", "three"].map((name) => [name, `how to ${name}`])
    )
  })

  it("has the backups at each snapshot: an update replaces, a delta adds a path, one of no snapshot adds nothing", () => {
    const map = state.snapshots.fileHistory.map(({ backups, messageId }) => [
      messageId,
      Object.fromEntries(Array.from(backups, ([path, backup]) => [path, backup.backupFileName]))
    ])
    assert.deepStrictEqual(map, [
      ["u1", { "a.ts": "a.ts@1", "b.ts": "b.ts@1" }],
      ["u2", { "b.ts": "b.ts@2", "c.ts": "c.ts@1" }]
    ])
  })

  it("has the commits in order, with the last staged snapshot", () => {
    const { commits, staged } = state.snapshots.collapse
    assert.deepStrictEqual(
      commits.map(({ summaryContent }) => summaryContent),
      ["[C0]", "[C1]", "[C2]"]
    )
    assert.deepStrictEqual(staged?.staged, [{ first: "u4" }])
  })

  it("shows what a later entry changed", () => {
    const earlier = recovered([...before, ...after.slice(0, -2)])
    const changed = Recovery.diff(earlier, recovered([...before, ...after, { type: "tag", tag: "x" }]))
    assert.deepStrictEqual([changed.gained, changed.lost, changed.leaf, changed.metadata], [[], [], undefined, ["tag"]])
  })
})
