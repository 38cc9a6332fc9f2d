import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"
import { run, write } from "./running.ts"

const sessionId = "5b0d7f21-9c46-4e83-b1a2-60f7d3c89e15"
const target = "5b0d7f21-9c46-4e83-b1a2-60f7d3c89e16"

const place = (picture: string) =>
  Effect.map(Temporary.directory, (directory) => ({ directory, file: write(directory, sessionId, picture) }))

describe("reprise fork", () => {
  it.effect("prints where the copy is, and says what it copied", () =>
    Effect.gen(function* () {
      const { directory, file } = yield* place("u1-a1-u2-a2")
      const before = fs.readFileSync(file)
      const forked = yield* run("fork", file)
      assert.isUndefined(forked.failure)
      const copy = forked.out.trimEnd()
      assert.strictEqual(path.dirname(copy), directory)
      assert.match(forked.noted, /^session [\w-]{36}: 4 messages and 0 sidechains of 5b0d7f21-.*, "\[u1\] \(fork\)"\n$/)
      const { conversation, metadata } = JSON.parse((yield* run("resume", "--json", copy)).out)
      assert.deepStrictEqual([conversation.length, metadata.title], [4, "[u1] (fork)"])
      assert.deepStrictEqual(fs.readFileSync(file), before)
    }).pipe(Effect.scoped)
  )

  it.effect("forks at a message, under an id, and answers programs with a line", () =>
    Effect.gen(function* () {
      const { directory, file } = yield* place("u1-a1-u2-a2")
      const forked = yield* run("fork", file, "--at", "a1", "--session", target, "--json")
      const { leaf, ...told } = JSON.parse(forked.out)
      assert.deepStrictEqual(told, {
        file,
        ok: true,
        sessionId: target,
        path: path.join(directory, `${target}.jsonl`),
        title: "[u1] (fork)",
        messages: 2,
        sidechains: 0,
        backups: 0,
        plan: false,
        forkedFrom: { sessionId, messageUuid: "a1" }
      })
      const { conversation } = JSON.parse((yield* run("resume", "--json", told.path)).out)
      assert.strictEqual(conversation.at(-1), leaf)
      const taken = yield* run("fork", file, "--session", target)
      assert.strictEqual(taken.failure, "Unwritten")
      assert.match(taken.noted, /ForkUnfit/)
      const nowhere = yield* run("fork", file, "--at", "x", "--json")
      assert.deepInclude(JSON.parse(nowhere.out), { file, ok: false })
      assert.strictEqual(fs.readdirSync(directory).length, 2)
    }).pipe(Effect.scoped)
  )
})
