import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { sessionId, text, world } from "./remote.ts"

describe("reprise remote status", () => {
  it.live("says what is here and there, and whose the session is", () =>
    Effect.gen(function* () {
      const { elsewhere, here, store } = yield* world
      fs.writeFileSync(here.main, text("u1-a1"))
      const size = fs.statSync(here.main).size
      const before = yield* here.reprise("remote", "status", here.main)
      assert.strictEqual(
        before.out,
        `session: ${size} bytes here, ${size} bytes not sent; nothing there\nnobody has claimed it there\n`
      )
      const agent = path.join(here.project, sessionId, "subagents", "agent-a.jsonl")
      fs.mkdirSync(path.dirname(agent), { recursive: true })
      fs.writeFileSync(agent, text("u1~a"))
      yield* here.reprise("push", here.main)
      fs.appendFileSync(here.main, text("u1-a1-u2").slice(size))
      const { out } = yield* here.reprise("remote", "status", sessionId)
      const lines = out.split("\n")
      assert.match(lines[0]!, /^session: \d+ bytes here, \d+ bytes not sent; 2 lines there, up to a1$/)
      assert.match(lines[1]!, /^agent a: \d+ bytes here, 0 bytes not sent; 1 line there, up to u1$/)
      assert.strictEqual(lines[2], "it is claimed from here (epoch 1)")

      yield* store.claim("t", sessionId, "another")
      const told = JSON.parse((yield* here.reprise("remote", "status", here.main, "--json")).out)
      assert.deepStrictEqual([told.epoch, told.remoteEpoch, told.streams.length], [1, 2, 2])
      fs.writeFileSync(elsewhere.main, text("u1"))
      const other = yield* elsewhere.reprise("remote", "status", elsewhere.main)
      assert.include(other.out, "agent a: 0 bytes here, 0 bytes not sent; 1 line there")
      assert.include(other.out, "it is claimed from elsewhere (epoch 2)\n")
    })
  )

  it.live("fails where the remote does not answer", () =>
    Effect.gen(function* () {
      const { here } = yield* world
      fs.writeFileSync(here.main, text("u1"))
      fs.writeFileSync(here.tokenFile, "nobody")
      const { failure, out } = yield* here.reprise("remote", "status", here.main, "--json")
      assert.deepStrictEqual([failure, JSON.parse(out).error._tag], ["FilesUnreadable", "Unauthorized"])
    })
  )
})
