import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { home, session, sessionId } from "../storage/bundled.ts"
import { runWith } from "./running.ts"

describe("reprise export", () => {
  it.effect("makes an archive of a session and prints where it is", () =>
    Effect.gen(function* () {
      const from = yield* home
      const file = session(from)
      const run = (...args: ReadonlyArray<string>) => runWith({ logs: from.layer }, ...args)
      const bundle = path.join(from.root, "s.tar.gz")
      const made = yield* run("export", file, bundle)
      assert.deepStrictEqual([made.failure, made.out], [undefined, `${bundle}\n`])
      assert.match(made.noted, new RegExp(`^session ${sessionId}: 5 files, \\d+ kB\n$`))
      const again = yield* run("export", file, bundle)
      assert.strictEqual(again.failure, "Unwritten")
      assert.match(again.noted, /a file there already/)
      const other = path.join(from.root, "t.tar.gz")
      const { bytes, ...told } = JSON.parse((yield* run("export", "--json", file, other)).out)
      assert.deepStrictEqual(told, { file, ok: true, sessionId, bundle: other, cwd: "/old/work", files: 5 })
      assert.isAbove(bytes, 0)
      assert.strictEqual(fs.statSync(other).mode & 0o777, 0o600)
    }).pipe(Effect.scoped)
  )
})
