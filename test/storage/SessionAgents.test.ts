import { assert, describe, it } from "@effect/vitest"
import * as Projection from "@reprise/domain/Projection"
import * as Notation from "@reprise/domain/testing/Notation"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionAgents from "@reprise/storage/SessionAgents"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "./temporary.ts"

const sessionId = "0f0f0f0f-0000-4000-8000-00000000000a"
const count = Projection.make({ initial: () => 0, evolve: (n: number) => n + 1, extract: (n) => n })

const placed = (files: Record<string, string | Uint8Array>) =>
  Effect.map(Temporary.directory, (directory) => {
    const project = path.join(directory, "-work")
    for (const [name, content] of Object.entries({ [`${sessionId}.jsonl`]: "", ...files })) {
      fs.mkdirSync(path.dirname(path.join(project, name)), { recursive: true })
      fs.writeFileSync(path.join(project, name), content)
    }
    const log = EntryLog.session(project, sessionId)
    return { log, layer: FileEntryLog.layerWith({ projects: directory }) }
  })

const lineOf = (session: string) => `${JSON.stringify({ type: "user", uuid: "u", sessionId: session })}\n`

describe("SessionAgents", () => {
  it.effect("lists the logs at any depth with what is said of them, and those of old versions beside", () =>
    Effect.gen(function* () {
      const { layer, log } = yield* placed({
        [`${sessionId}/subagents/agent-abc.jsonl`]: "",
        [`${sessionId}/subagents/agent-abc.meta.json`]: '{"agentType":"Explore"}',
        [`${sessionId}/subagents/workflows/wf_1/agent-def.jsonl`]: "",
        [`${sessionId}/subagents/workflows/wf_1/agent-def.meta.json`]: "[torn",
        [`${sessionId}/subagents/workflows/wf_1/journal.jsonl`]: "{}",
        "agent-old.jsonl": `torn\n${lineOf(sessionId)}`,
        "agent-other.jsonl": lineOf("0f0f0f0f-0000-4000-8000-00000000000b"),
        "agent-empty.jsonl": ""
      })
      const found = yield* Effect.provide(SessionAgents.list(log), layer)
      assert.deepStrictEqual(
        found.map(({ agentId, meta, subPath }) => [agentId, subPath.join("/"), meta?.["agentType"]]),
        [
          ["abc", "", "Explore"],
          ["def", "workflows/wf_1", undefined],
          ["old", "", undefined]
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("runs a projection over the log of one agent", () =>
    Effect.gen(function* () {
      const { layer, log } = yield* placed({
        [`${sessionId}/subagents/agent-abc.jsonl`]: Notation.bytes("u1~abc-a1~abc"),
        "agent-old.jsonl": lineOf(sessionId)
      })
      const load = (agentId: string) => Effect.provide(SessionAgents.load(log, agentId, count), layer)
      assert.deepStrictEqual([yield* load("abc"), yield* load("old"), yield* load("x")], [2, 1, undefined])
    }).pipe(Effect.scoped)
  )
})
