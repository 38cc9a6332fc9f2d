import { assert, describe, it } from "@effect/vitest"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionLock from "@reprise/storage/SessionLock"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { sessionId, text, world } from "./remote.ts"
import { run } from "./running.ts"

describe("reprise hydrate", () => {
  it.live("brings a session to a directory, from where it resumes, and twice is once", () =>
    Effect.gen(function* () {
      const { elsewhere, here } = yield* world
      const log = text("u1-a1-u2-a2")
      fs.writeFileSync(here.main, log)
      yield* here.reprise("push", here.main)
      for (const noted of ["session: brought here, 4 lines added\n", "session: the same on both sides\n"]) {
        const brought = yield* elsewhere.reprise("hydrate", sessionId, "--cwd", "/work")
        assert.deepStrictEqual([brought.failure, brought.noted, brought.out], [undefined, noted, `${elsewhere.main}\n`])
      }
      assert.strictEqual(fs.readFileSync(elsewhere.main, "utf8"), log)
      assert.strictEqual(fs.statSync(elsewhere.main).mode & 0o777, 0o600)
      const { conversation } = JSON.parse((yield* run("resume", "--json", elsewhere.main)).out)
      assert.deepStrictEqual(conversation, ["u1", "a1", "u2", "a2"])
    })
  )

  it.live("where both went on, both is kept, and it is said where the session goes on", () =>
    Effect.gen(function* () {
      const { elsewhere, here } = yield* world
      fs.writeFileSync(here.main, text("u1-a1-u2-a2"))
      yield* here.reprise("push", here.main)
      fs.writeFileSync(elsewhere.main, text("u1-a1-u3-a3"))
      const both = yield* elsewhere.reprise("hydrate", elsewhere.main)
      assert.strictEqual(
        both.noted,
        "session: both sides had messages of their own, and have them all now, 2 lines added; " +
          "here it ended with a3, there with a2; it goes on from a3\n"
      )
      fs.writeFileSync(elsewhere.main, text("u1-a1-u3-a3"))
      const { out } = yield* elsewhere.reprise("hydrate", elsewhere.main, "--prefer", "remote", "--json")
      const { refused, streams, ...told } = JSON.parse(out)
      assert.deepStrictEqual(told, { file: elsewhere.main, ok: true, sessionId })
      assert.deepStrictEqual(refused, [])
      assert.deepStrictEqual([streams[0].outcome, streams[0].leaves], ["diverged", { local: "a3", remote: "a2" }])
    })
  )

  it.live("a session that the remote does not have brings nothing, and no file", () =>
    Effect.gen(function* () {
      const { elsewhere } = yield* world
      for (const profile of [[], ["--compat"]]) {
        const nothing = yield* elsewhere.reprise("hydrate", sessionId, "--cwd", "/work", ...profile)
        assert.deepStrictEqual(
          [nothing.failure, nothing.noted, nothing.out],
          [undefined, "session: the remote has nothing of it\n", ""]
        )
      }
      assert.deepStrictEqual(fs.readdirSync(elsewhere.projects), ["-work"])
      assert.deepStrictEqual(fs.readdirSync(elsewhere.project), [])
    })
  )

  it.live("what cannot be done says so, and changes nothing: no token, another's token, a session that is open", () =>
    Effect.gen(function* () {
      const { elsewhere, here, url } = yield* world
      fs.writeFileSync(here.main, text("u1"))
      yield* here.reprise("push", here.main)
      const wrong = path.join(here.root, "wrong")
      fs.writeFileSync(wrong, "nobody")
      const asked = ["hydrate", sessionId, "--projects", elsewhere.projects, "--url", url]
      assert.include((yield* run(...asked, "--token-file", wrong)).noted, "expected Authorization")
      assert.include((yield* run(...asked, "--token-file", "/nowhere")).noted, "expected a file that holds a token")
      assert.include((yield* elsewhere.reprise("hydrate", "5b0d7f21")).noted, "expected a session")
      yield* SessionLock.makeFiles({ projects: elsewhere.projects }).claim(EntryLog.at(elsewhere.main))
      const locked = yield* elsewhere.reprise("hydrate", sessionId, "--cwd", "/work", "--json")
      assert.deepStrictEqual([locked.failure, JSON.parse(locked.out).error._tag], ["Unwritten", "SessionLocked"])
      assert.isFalse(fs.existsSync(elsewhere.main))
    }).pipe(Effect.scoped)
  )
})
