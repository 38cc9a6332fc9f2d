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

  it.effect(
    "takes a transcript of any name, by the session that its lines name; one that is none says what it is",
    () =>
      Effect.gen(function* () {
        const from = yield* home
        const run = (...args: ReadonlyArray<string>) => runWith({ logs: from.layer }, ...args)
        const notes = path.join(from.root, "notes.jsonl")
        fs.copyFileSync(session(from), notes)
        const bundle = path.join(from.root, "n.tar.gz")
        assert.match((yield* run("export", notes, bundle)).noted, new RegExp(`^session ${sessionId}: `))
        const projects = path.join(from.root, "elsewhere")
        const to = yield* run("import", bundle, "--projects", projects, "--cwd", from.root, "--json")
        assert.strictEqual(path.basename(JSON.parse(to.out).path), `${sessionId}.jsonl`)
        const other = path.join(from.root, "o.tar.gz")
        const missing = yield* run("export", path.join(from.root, "gone.jsonl"), other)
        assert.match(missing.noted, /^TranscriptUnreadable .* found no file; check the path/)
        fs.writeFileSync(notes, '{"name":"x"}\n')
        assert.match((yield* run("export", notes, other)).noted, /^NotATranscript /)
        assert.isFalse(fs.existsSync(other))
      }).pipe(Effect.scoped)
  )
})
