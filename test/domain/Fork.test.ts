import { assert, describe, it } from "@effect/vitest"
import type * as Entry from "@reprise/domain/Entry"
import * as Fork from "@reprise/domain/Fork"
import * as Metadata from "@reprise/domain/Metadata"
import * as Projection from "@reprise/domain/Projection"
import * as Verbatim from "@reprise/domain/Verbatim"
import * as SessionMetadata from "@reprise/domain/SessionMetadata"

const names: Fork.Names = { source: "S", target: "T", idOf: (uuid) => `${uuid}'` }
const copy = (line: string, parent?: string | null, more: object = {}): string => {
  const place = { byteStart: 0, byteEnd: 0 }
  const step: Fork.Step =
    parent === undefined
      ? { _tag: "Beside", ...place }
      : { _tag: "Message", ...place, uuid: "m", parent, isReply: false, ...more }
  const copied = Fork.copying(names)(new TextEncoder().encode(line), step)!
  return new TextDecoder().decode(Verbatim.bytesOf(copied))
}
const from = ',"forkedFrom":{"sessionId":"S","messageUuid":"m"}'

describe("Fork", () => {
  it("maps the ids of a message, and leaves its text as it is written", () => {
    const text = String.raw`"message":{"content":"\/ \ud800 caf\u00e9","n":1.0,"uuid":"m"},"uuid":"m","uuid":"m"`
    assert.strictEqual(
      copy(`{"parentUuid":"p","sessionId":"S",${text}}`, "o"),
      `{"parentUuid":"o'","sessionId":"T",${text.replace('"uuid":"m","uuid":"m"', `"uuid":"m'","uuid":"m'"`)}${from}}`
    )
    assert.strictEqual(copy('{"uuid":"m"}', null), `{"uuid":"m'","parentUuid":null,"sessionId":"T"${from}}`)
  })

  it("says where it comes from in the place of where that came from", () => {
    assert.strictEqual(
      copy('{"forkedFrom":{"sessionId":"R","messageUuid":"l"},"uuid":"m","parentUuid":null,"sessionId":"S"}', null),
      '{"forkedFrom":{"sessionId":"S","messageUuid":"m"},"uuid":"m\'","parentUuid":null,"sessionId":"T"}'
    )
  })

  it("says which session made the request of a reply, unless it says so already", () => {
    const reply = { isReply: true }
    const line = '{"uuid":"m","parentUuid":null,"sessionId":"S"'
    const copied = '{"uuid":"m\'","parentUuid":null,"sessionId":"T"'
    assert.strictEqual(copy(`${line}}`, null, reply), `${copied},"requestSessionId":"S"${from}}`)
    assert.strictEqual(copy(`${line},"requestSessionId":"R"}`, null, reply), `${copied},"requestSessionId":"R"${from}}`)
  })

  it("maps every reference to a message, and no id of another kind", () => {
    const references = {
      logicalParentUuid: "a",
      sourceToolAssistantUUID: "a",
      summarizedTurnPromptUuids: ["a", "b"],
      attachment: { type: "queued_command", source_uuid: "a", prompt: "a" },
      snipMetadata: { removedUuids: ["a", "b"] },
      microcompactMetadata: { clearedAttachmentUUIDs: ["a"], compactedToolIds: ["t"] },
      compactMetadata: {
        trigger: "a",
        preservedSegment: { headUuid: "a", anchorUuid: "b", tailUuid: "c" },
        preservedMessages: { anchorUuid: "a", uuids: ["b"], allUuids: ["c"] }
      }
    }
    const others = { sourceToolUseID: "a", promptId: "a", requestId: "a", toolUseResult: { uuid: "a" }, agentId: "a" }
    const copied = JSON.parse(copy(JSON.stringify({ ...references, ...others }), null))
    assert.deepInclude(copied, {
      logicalParentUuid: "a'",
      sourceToolAssistantUUID: "a'",
      summarizedTurnPromptUuids: ["a'", "b'"],
      attachment: { type: "queued_command", source_uuid: "a'", prompt: "a" },
      snipMetadata: { removedUuids: ["a'", "b'"] },
      microcompactMetadata: { clearedAttachmentUUIDs: ["a'"], compactedToolIds: ["t"] },
      compactMetadata: {
        trigger: "a",
        preservedSegment: { headUuid: "a'", anchorUuid: "b'", tailUuid: "c'" },
        preservedMessages: { anchorUuid: "a'", uuids: ["b'"], allUuids: ["c'"] }
      },
      ...others
    })
    const recorded = { compactMetadata: { trigger: "auto" } }
    assert.deepStrictEqual(JSON.parse(copy(JSON.stringify(references), null, recorded)).compactMetadata, {
      trigger: "auto"
    })
  })

  it("maps what stands beside the conversation, without an origin of its own", () => {
    assert.strictEqual(
      copy(
        '{"type":"file-history-snapshot","messageId":"a","snapshot":{"messageId":"b","trackedFileBackups":{"messageId":{}}}}'
      ),
      '{"type":"file-history-snapshot","messageId":"a\'","snapshot":{"messageId":"b\'","trackedFileBackups":{"messageId":{}}}}'
    )
    assert.strictEqual(
      copy(
        '{"type":"marble-origami-commit","summaryUuid":"s","firstArchivedUuid":"a","lastArchivedUuid":"b","sessionId":"S"}'
      ),
      '{"type":"marble-origami-commit","summaryUuid":"s\'","firstArchivedUuid":"a\'","lastArchivedUuid":"b\'","sessionId":"T"}'
    )
    assert.strictEqual(
      copy('{"uuid":"a","parentUuid":"b","isSidechain":true}'),
      '{"uuid":"a\'","parentUuid":"b\'","isSidechain":true}'
    )
  })

  it("ends with metadata of the new session", () => {
    const named = [Metadata.aiTitle("t"), Metadata.mode("plan"), Metadata.lastPrompt({ lastPrompt: "other" })]
    const metadata = Projection.fold(SessionMetadata.projection, named as ReadonlyArray<Entry.Entry>)
    const plan = {
      steps: [],
      leaf: "m",
      messages: 1,
      prompts: undefined,
      metadata,
      backups: new Set<string>(),
      leftOut: new Set<string>()
    }
    assert.deepStrictEqual(Fork.ending(plan, names, { first: "f", last: "p" }), {
      title: "t (fork)",
      entries: [
        { type: "last-prompt", lastPrompt: "p", leafUuid: "m'", sessionId: "T" },
        { type: "custom-title", customTitle: "t (fork)", sessionId: "T" },
        { type: "ai-title", aiTitle: "t", sessionId: "T" },
        { type: "mode", mode: "plan", sessionId: "T" }
      ]
    })
    const none = Projection.fold(SessionMetadata.projection, [])
    assert.strictEqual(Fork.ending({ ...plan, metadata: none }, names, { first: "f", last: "p" }).title, "f (fork)")
    assert.strictEqual(Fork.ending({ ...plan, metadata: none }, names).title, "Session (fork)")
  })

  it("reads the prompt that an entry is", () => {
    const promptIn = (entry: object) => Fork.promptIn(new TextEncoder().encode(JSON.stringify(entry)))
    assert.strictEqual(promptIn({ type: "user", uuid: "u", message: { role: "user", content: "Go\non" } }), "Go on")
    const content = [{ type: "tool_result", tool_use_id: "t" }]
    assert.isUndefined(promptIn({ type: "user", uuid: "u", message: { role: "user", content } }))
    assert.isUndefined(promptIn({ type: "assistant", uuid: "a", message: { role: "assistant", content: "Go" } }))
  })

  it("says what to do where there is nothing to fork at", () => {
    assert.match(
      new Fork.NoForkPoint({ at: "x", found: "Nothing" }).message,
      /found no message with this id .*: x\. `reprise resume` lists the ids/
    )
    assert.match(new Fork.NoForkPoint({ at: "x", found: "Removed" }).message, /snipped/)
    assert.match(new Fork.NoForkPoint({ at: null, found: "Empty" }).message, /found none$/)
  })
})
