import { assert, describe, it } from "@effect/vitest"
import type * as Entry from "@reprise/domain/Entry"
import * as Metadata from "@reprise/domain/Metadata"
import * as Projection from "@reprise/domain/Projection"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"

const fold = (bodies: ReadonlyArray<Metadata.Body>) =>
  Projection.fold(
    SessionMetadata.projection,
    bodies.map((body) => ({ ...body, sessionId: "s" }) as Entry.Entry)
  )

describe("restating", () => {
  const link = { prNumber: 7, prUrl: "u", prRepository: "r", timestamp: "t" }
  const inOrder: ReadonlyArray<Metadata.Body> = [
    Metadata.lastPrompt({ lastPrompt: "p", leafUuid: "leaf" }),
    Metadata.customTitle("c"),
    Metadata.aiTitle("a"),
    Metadata.tag("t"),
    Metadata.agentName("n"),
    Metadata.agentColor("red"),
    Metadata.agentSetting("s"),
    Metadata.mode("m"),
    Metadata.permissionMode("plan"),
    Metadata.worktreeState({ worktreeName: "w" }),
    Metadata.prLink(link)
  ]

  it("says all again, in the order of FORMAT §8, whatever the order it came in", () => {
    assert.deepStrictEqual(SessionMetadata.restate(fold(inOrder.toReversed()), "leaf"), inOrder)
  })

  it("folds back to what it came from", () => {
    const metadata = fold(inOrder)
    assert.deepStrictEqual(fold(SessionMetadata.restate(metadata)), {
      ...metadata,
      pullRequests: metadata.pullRequests
    })
  })

  it("says nothing of what nothing is known of, and says what was cleared or left", () => {
    assert.deepStrictEqual(SessionMetadata.restate(fold([])), [])
    const cleared = [Metadata.customTitle(""), Metadata.tag(""), Metadata.worktreeState(null)]
    assert.deepStrictEqual(SessionMetadata.restate(fold([...inOrder.slice(1, 4), ...cleared])), [
      Metadata.customTitle(""),
      Metadata.aiTitle("a"),
      Metadata.tag(""),
      Metadata.worktreeState(null)
    ])
  })

  it("the last pull request is current", () => {
    const again = fold([Metadata.prLink(link), Metadata.prLink({ ...link, prNumber: 8 })])
    assert.deepStrictEqual(SessionMetadata.restate(again), [Metadata.prLink({ ...link, prNumber: 8 })])
  })

  it("an entry without its value, or of a kind that is not restated, sets nothing", () => {
    const sets = (entry: object) => SessionMetadata.isRestated(entry as Entry.Entry)
    assert.isTrue(sets(Metadata.tag("")))
    assert.isTrue(sets(Metadata.worktreeState(null)))
    for (const entry of [{ type: "tag" }, { type: "last-prompt", leafUuid: "u" }, { type: "summary", summary: "s" }]) {
      assert.isFalse(sets(entry))
    }
  })
})
