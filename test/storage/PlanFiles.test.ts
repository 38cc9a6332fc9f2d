/** Plans of sessions, on real files. */
import { assert, describe, it } from "@effect/vitest"
import * as PlanFiles from "@reprise/storage/PlanFiles"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "./temporary.ts"

const placed = Effect.map(Temporary.directory, (directory) => {
  const plans = path.join(directory, "plans")
  const fileOf = (slug: string) => path.join(plans, `${slug}.md`)
  const bring = (from: string, to: string, text?: string) =>
    PlanFiles.bring({ from: [{ plans, slug: from }], to: { plans, slug: to }, text })
  return { directory, plans, fileOf, bring }
})

describe("PlanFiles", () => {
  it.effect("copies a plan, so that each session changes its own, and leaves one alone that is there", () =>
    Effect.gen(function* () {
      const { bring, fileOf, plans } = yield* placed
      fs.mkdirSync(plans, { mode: 0o700 })
      fs.writeFileSync(fileOf("old-lamp"), "1. lamp")
      assert.strictEqual(yield* bring("old-lamp", "new-lamp"), "brought")
      assert.strictEqual(fs.readFileSync(fileOf("new-lamp"), "utf8"), "1. lamp")
      assert.strictEqual(fs.statSync(fileOf("new-lamp")).mode & 0o777, 0o600)
      fs.appendFileSync(fileOf("old-lamp"), "\n2. desk")
      assert.strictEqual(yield* bring("old-lamp", "new-lamp", "told"), "there")
      assert.strictEqual(fs.readFileSync(fileOf("new-lamp"), "utf8"), "1. lamp")
      assert.deepStrictEqual(fs.readdirSync(plans).toSorted(), ["new-lamp.md", "old-lamp.md"])
    }).pipe(Effect.scoped)
  )

  it.effect("writes one that is gone from its last text, where there is one", () =>
    Effect.gen(function* () {
      const { bring, fileOf, plans } = yield* placed
      assert.strictEqual(yield* bring("lamp", "lamp"), "gone")
      assert.isFalse(fs.existsSync(plans))
      assert.strictEqual(yield* bring("lamp", "lamp", "1. lamp"), "brought")
      assert.strictEqual(fs.readFileSync(fileOf("lamp"), "utf8"), "1. lamp")
      assert.deepStrictEqual(
        [fs.statSync(plans).mode & 0o777, fs.statSync(fileOf("lamp")).mode & 0o777],
        [0o700, 0o600]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("follows neither names nor links that lead elsewhere", () =>
    Effect.gen(function* () {
      const { bring, directory, fileOf, plans } = yield* placed
      fs.mkdirSync(plans)
      const secret = path.join(directory, "secret.md")
      fs.writeFileSync(secret, "secret")
      fs.symlinkSync(secret, fileOf("link"))
      for (const slug of ["../secret", "..", "", "a/b", "/tmp/x", "a\0", "link"]) {
        assert.strictEqual(yield* bring(slug, "mine"), "gone", slug)
      }
      for (const slug of ["../mine", "", "a/b"]) assert.strictEqual(yield* bring("lamp", slug, "text"), "gone", slug)
      assert.strictEqual((yield* Effect.flip(bring("lamp", "link", "text")))._tag, "EntryLogError")
      assert.deepStrictEqual(fs.readdirSync(plans), ["link.md"])
      assert.strictEqual(fs.readFileSync(secret, "utf8"), "secret")
    }).pipe(Effect.scoped)
  )
})
