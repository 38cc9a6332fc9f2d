import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { bundle, home, logIn, session, sessionId } from "../storage/bundled.ts"
import { runWith } from "./running.ts"

describe("reprise import", () => {
  it.effect("brings a session into another directory, once", () =>
    Effect.gen(function* () {
      const [from, to] = [yield* home, yield* home]
      const run = (...args: ReadonlyArray<string>) => runWith({ logs: to.layer }, ...args)
      const archive = path.join(from.root, "s.tar.gz")
      yield* runWith({ logs: from.layer }, "export", session(from), archive)
      const made = yield* run("import", archive, "--cwd", to.root, "--projects", to.projects)
      const file = made.out.trimEnd()
      assert.isUndefined(made.failure)
      assert.strictEqual(made.noted, `session ${sessionId}: 5 files imported, of ${to.root}\n`)
      assert.strictEqual(fs.readFileSync(file, "utf8"), logIn(to.root))
      const resumed = JSON.parse((yield* run("resume", "--json", file)).out)
      assert.strictEqual(resumed.conversation.length, 2)
      const again = yield* run("import", archive, "--cwd", to.root, "--projects", to.projects, "--json")
      assert.deepStrictEqual(JSON.parse(again.out), {
        file: archive,
        ok: true,
        outcome: "already-there",
        sessionId,
        path: file,
        cwd: to.root,
        files: 5
      })
    }).pipe(Effect.scoped)
  )

  it.effect("writes the plan that the log tells where it is gone, and leaves one alone that is there", () =>
    Effect.gen(function* () {
      const [from, to] = [yield* home, yield* home]
      const archive = path.join(from.root, "s.tar.gz")
      const told = logIn("/old/work").replace('{"', '{"slug":"lamp","planContent":"1. lamp","')
      yield* runWith({ logs: from.layer }, "export", session(from, sessionId, told), archive)
      const run = runWith({ logs: to.layer }, "import", archive, "--projects", to.projects)
      assert.isUndefined((yield* run).failure)
      const plan = path.join(to.config, "plans/lamp.md")
      assert.deepStrictEqual([fs.readFileSync(plan, "utf8"), fs.statSync(plan).mode & 0o777], ["1. lamp", 0o600])
      fs.writeFileSync(plan, "2. desk")
      yield* run
      assert.strictEqual(fs.readFileSync(plan, "utf8"), "2. desk")
      fs.rmSync(path.dirname(plan), { recursive: true })
      fs.writeFileSync(path.dirname(plan), "in the way")
      const { failure, noted } = yield* run
      assert.deepStrictEqual(
        [failure, noted.includes("The session is imported; the host's PlanStore failed")],
        [undefined, true]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("refuses a hostile archive, and one that is too large", () =>
    Effect.gen(function* () {
      const to = yield* home
      const archive = path.join(to.root, "evil.tar.gz")
      const main = { name: "session.jsonl", content: logIn("/old/work") }
      const fails = (...args: ReadonlyArray<string>) =>
        Effect.map(
          runWith({ logs: to.layer }, "import", archive, "--projects", to.projects, ...args),
          ({ failure, noted }) => {
            assert.strictEqual(failure, "Unwritten")
            return noted
          }
        )
      fs.writeFileSync(archive, bundle([{ name: "session/../../x", content: "x" }, main]))
      assert.match(yield* fails(), /^BundleError .*a name that no file of a session has/s)
      fs.writeFileSync(archive, bundle([main]))
      assert.match(yield* fails("--max-size", "1kB"), /more than 1000 bytes/)
      assert.match(
        yield* fails("--cwd", "/nowhere/at/all"),
        /found no directory at \/nowhere\/at\/all for it to go on in/
      )
      fs.writeFileSync(archive, "# Notes\n".repeat(100))
      assert.match(yield* fails(), /found no archive, or one that is broken/)
      fs.writeFileSync(archive, Buffer.from([0x1f, 0x8b, 1, 2, 3]))
      assert.match(yield* fails(), /found no archive, or one that is broken/)
      assert.deepStrictEqual(to.tree(), {})
    }).pipe(Effect.scoped)
  )
})
