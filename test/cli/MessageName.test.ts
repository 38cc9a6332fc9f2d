import * as MessageName from "@reprise/cli/MessageName"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"
import { logs, run, write } from "./running.ts"

const sessionId = "5b0d7f21-9c46-4e83-b1a2-60f7d3c89e19"

describe("the name of a message", () => {
  it.effect("is its id, or the beginning that tells it apart in the main lane", () =>
    Effect.gen(function* () {
      const file = write(yield* Temporary.directory, sessionId, "u1-a1-u12-a2 u1-u3~ab")
      const uuidOf = (id: string) => MessageName.uuidOf(file, id)
      assert.deepStrictEqual(
        [yield* uuidOf("a1"), yield* uuidOf("u12"), yield* uuidOf("u1"), yield* uuidOf("u3"), yield* uuidOf("x")],
        ["a1", "u12", "u1", "u3", "x"]
      )
      const alone = write(yield* Temporary.directory, sessionId, "u1")
      const empty = yield* Effect.flip(MessageName.uuidOf(alone, ""))
      assert.match(empty.message, /expected an id, or the beginning of one, found an empty text$/)
      const { message } = yield* Effect.flip(uuidOf("a"))
      assert.include(
        message,
        `${file}: expected an id, or the beginning of one, found that "a" begins a1, a2; give more`
      )
    }).pipe(Effect.provide(logs))
  )

  it.effect("is what resume shows of it, also for rewind and fork", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      const line = (uuid: string, parentUuid: string | null) =>
        JSON.stringify({ type: "user", uuid, parentUuid, message: { content: "x" }, sessionId })
      const [first, second] = ["1f7ac191-0000-4000-8000-000000000001", "2f7ac191-0000-4000-8000-000000000002"] as const
      const file = path.join(directory, `${sessionId}.jsonl`)
      fs.writeFileSync(file, `${line(first, null)}\n${line(second, first)}\n`)
      assert.include((yield* run("resume", file)).out, "  1f7ac191  user")
      const forked = JSON.parse((yield* run("fork", "--json", file, "--at", "1f7ac191")).out)
      assert.strictEqual(forked.forkedFrom.messageUuid, first)
      const rewound = JSON.parse((yield* run("rewind", "--json", file, "1f7a")).out)
      assert.deepInclude(rewound, { to: first, left: second })
    }).pipe(Effect.scoped)
  )
})
