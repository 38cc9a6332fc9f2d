import { assert, describe, it } from "@effect/vitest"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"
import { runWith, write } from "./running.ts"

const sessionId = "5b0d7f21-9c46-4e83-b1a2-60f7d3c89e17"

const place = (picture: string) =>
  Effect.map(Temporary.directory, (directory) => {
    const file = write(directory, sessionId, picture)
    const logs = FileEntryLog.layerWith({ projects: path.join(directory, "projects") })
    const run = (...args: ReadonlyArray<string>) => runWith({ logs }, ...args)
    const conversation = Effect.suspend(() =>
      Effect.map(run("resume", "--json", file), ({ out }) => JSON.parse(out).conversation)
    )
    return { directory, file, run, conversation }
  })

describe("reprise rewind", () => {
  it.effect("goes back to a message with one line, and returns to the branch that it left", () =>
    Effect.gen(function* () {
      const { conversation, file, run } = yield* place("u1-a1-u2-a2")
      const before = fs.readFileSync(file, "utf8")
      const back = yield* run("rewind", file, "a1")
      const marker = back.out.trimEnd()
      assert.strictEqual(back.noted, `session ${sessionId} goes on from a1; \`reprise rewind ${file} a2\` returns\n`)
      assert.deepStrictEqual(yield* conversation, ["u1", "a1", marker])
      const added = fs.readFileSync(file, "utf8")
      assert.isTrue(added.startsWith(before))
      const lines = added
        .slice(before.length)
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
      const messages = lines.filter(({ uuid }) => uuid !== undefined)
      assert.deepInclude(messages[0], {
        type: "system",
        subtype: "informational",
        isMeta: true,
        parentUuid: "a1",
        uuid: marker
      })
      assert.strictEqual(messages.length, 1)
      const again = JSON.parse((yield* run("rewind", "--json", file, "a2")).out)
      assert.deepStrictEqual(again, { file, ok: true, sessionId, uuid: again.uuid, to: "a2", left: marker })
      assert.deepStrictEqual(yield* conversation, ["u1", "a1", "u2", "a2", again.uuid])
      yield* run("append", file, "Go on")
      assert.strictEqual((yield* conversation).length, 6)
    }).pipe(Effect.scoped)
  )

  it.effect("writes nothing where no message has the id, or it was snipped", () =>
    Effect.gen(function* () {
      const { directory, file, run } = yield* place("u1-a1-u2-N1{a1}")
      const before = fs.readFileSync(file)
      for (const uuid of ["x", "a1"]) {
        const refused = yield* run("rewind", file, uuid)
        assert.deepStrictEqual([refused.failure, refused.out], ["Unwritten", ""])
        assert.match(refused.noted, /^NoRewindPoint .*nothing was written/s)
      }
      assert.deepStrictEqual(fs.readFileSync(file), before)
      assert.deepStrictEqual(fs.readdirSync(directory), [path.basename(file)])
    }).pipe(Effect.scoped)
  )
})
