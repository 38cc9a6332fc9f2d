import { assert, describe, it } from "@effect/vitest"
import * as SessionFiles from "@reprise/storage/SessionFiles"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { home, session, sessionId } from "./bundled.ts"

describe("SessionFiles", () => {
  it.effect("lists all that lies on the disk for a session, the main log last, and follows no link", () =>
    Effect.gen(function* () {
      const at = yield* home
      const main = session(at)
      at.put("projects/-old-work/agent-old.jsonl", `${JSON.stringify({ type: "user", uuid: "u", sessionId })}\n`)
      at.put("projects/-old-work/agent-old.meta.json", "{}")
      at.put("projects/-old-work/agent-other.jsonl", `${JSON.stringify({ type: "user", uuid: "u", sessionId: "x" })}\n`)
      fs.symlinkSync("/etc", path.join(path.dirname(main), sessionId, "etc"))
      const files = yield* Effect.provide(SessionFiles.list(main), at.layer)
      assert.deepStrictEqual(
        files.map(({ name }) => name),
        [
          "session/subagents/agent-abc.jsonl",
          "session/subagents/agent-abc.meta.json",
          "session/tool-results/x.txt",
          `file-history/${"é".repeat(60)}@v1`,
          "agents/agent-old.jsonl",
          "agents/agent-old.meta.json",
          "session.jsonl"
        ]
      )
      const places = SessionFiles.directoriesOf(main)
      for (const { name, path: file, size } of files) {
        assert.strictEqual(SessionFiles.pathOf(name, sessionId, places), file)
        assert.strictEqual(size, fs.statSync(file).size)
      }
    }).pipe(Effect.scoped)
  )

  it.effect(
    "what is kept beside logs for a remote is of the session, and what of it is of this machine stays here",
    () =>
      Effect.gen(function* () {
        const at = yield* home
        const main = session(at)
        for (const beside of ["ingress", "conflicts"]) {
          at.put(`projects/-old-work/${sessionId}.jsonl.${beside}`, beside)
          at.put(`projects/-old-work/${sessionId}/subagents/agent-abc.jsonl.${beside}`, beside)
        }
        const names = (yield* Effect.provide(SessionFiles.list(main), at.layer)).map(({ name }) => name)
        assert.deepStrictEqual(names.slice(-3), ["session.jsonl.ingress", "session.jsonl.conflicts", "session.jsonl"])
        assert.deepStrictEqual(names.filter(SessionFiles.isLocal), [
          "session/subagents/agent-abc.jsonl.ingress",
          "session.jsonl.ingress"
        ])
        const places = SessionFiles.directoriesOf(main)
        for (const name of names)
          assert.strictEqual(SessionFiles.pathOf(name, sessionId, places) === undefined, SessionFiles.isLocal(name))
      }).pipe(Effect.scoped)
  )

  it("looks for backups beside logs that are in no folder of projects", () => {
    assert.strictEqual(SessionFiles.directoriesOf("/c/projects/-k/s.jsonl").fileHistory, "/c/file-history")
    assert.strictEqual(SessionFiles.directoriesOf("/logs/s.jsonl").fileHistory, "/logs/file-history")
  })
})
