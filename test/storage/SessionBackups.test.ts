/** Backups of one session for another, on real files. */
import { assert, describe, it } from "@effect/vitest"
import * as SessionBackups from "@reprise/storage/SessionBackups"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "./temporary.ts"

const [one, two] = ["0f0f0f0f-0000-4000-8000-000000000001", "0f0f0f0f-0000-4000-8000-000000000002"]

/** Backups of session one, and where those of both are. */
const placed = Effect.map(Temporary.directory, (directory) => {
  const fileHistory = path.join(directory, "file-history")
  const write = (name: string, text: string, mode = 0o644): string => {
    const file = path.join(fileHistory, one, name)
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
    fs.writeFileSync(file, text)
    fs.chmodSync(file, mode)
    return file
  }
  const of = (sessionId: string) => ({ fileHistory, sessionId })
  const there = (sessionId = two) => {
    const folder = path.join(fileHistory, sessionId)
    return fs.existsSync(folder) ? fs.readdirSync(folder).toSorted() : []
  }
  const bring = (...names: ReadonlyArray<string>) => SessionBackups.bring(names, { from: [of(one)], to: of(two) })
  return { directory, fileHistory, write, of, there, bring }
})

describe("SessionBackups", () => {
  it.effect("links backups, says which are gone, and brings nothing twice", () =>
    Effect.gen(function* () {
      const { bring, fileHistory, there, write } = yield* placed
      const file = write("a@v1", "before")
      write("other@v1", "not asked for")
      const { brought, gone } = yield* bring("a@v1", "b@v1", "a@v1")
      assert.deepStrictEqual([brought, gone], [[path.join(fileHistory, two, "a@v1")], ["b@v1"]])
      assert.deepStrictEqual(there(), ["a@v1"])
      assert.strictEqual(fs.statSync(brought[0]!).ino, fs.statSync(file).ino)
      assert.strictEqual(fs.statSync(path.join(fileHistory, two)).mode & 0o777, 0o700)
      fs.writeFileSync(`${brought[0]}.kept`, "")
      assert.deepStrictEqual(yield* bring("a@v1"), { brought: [], gone: [] })
      assert.deepStrictEqual(there(), ["a@v1", "a@v1.kept"])
    }).pipe(Effect.scoped)
  )

  it.effect("takes the first place that has one, and a session's own as they are", () =>
    Effect.gen(function* () {
      const { fileHistory, of, write } = yield* placed
      write("a@v1", "before")
      const elsewhere = { fileHistory: path.join(fileHistory, "none"), sessionId: one }
      const found = yield* SessionBackups.bring(["a@v1"], { from: [elsewhere, of(one)], to: of(two) })
      assert.strictEqual(found.brought.length, 1)
      assert.deepStrictEqual(yield* SessionBackups.bring(["a@v1", "b@v1"], { from: [of(one)], to: of(one) }), {
        brought: [],
        gone: ["b@v1"]
      })
    }).pipe(Effect.scoped)
  )

  it.effect("follows neither names nor links that lead elsewhere", () =>
    Effect.gen(function* () {
      const { bring, directory, fileHistory, of, there, write } = yield* placed
      const secret = path.join(directory, "secret")
      fs.writeFileSync(secret, "secret")
      write("a@v1", "before")
      fs.symlinkSync(secret, path.join(fileHistory, one, "link@v1"))
      fs.symlinkSync(path.join(fileHistory, one), path.join(fileHistory, "0f0f0f0f-0000-4000-8000-000000000003"))
      const hostile = ["../secret", "/etc/passwd", "..", ".", "", "a/b", "a\\b", "a\0b", "link@v1", "x".repeat(300)]
      assert.deepStrictEqual(yield* bring(...hostile), { brought: [], gone: hostile })
      for (const from of ["..", "../../x", "0f0f0f0f-0000-4000-8000-000000000003"]) {
        const { gone } = yield* SessionBackups.bring(["a@v1"], { from: [of(from)], to: of(two) })
        assert.deepStrictEqual(gone, ["a@v1"], from)
      }
      assert.deepStrictEqual((yield* SessionBackups.bring(["a@v1"], { from: [of(one)], to: of("..") })).gone, ["a@v1"])
      assert.deepStrictEqual(there(), [])
    }).pipe(Effect.scoped)
  )

  it.effect("fails where something else is in the place of a backup or of its folder, and writes nothing there", () =>
    Effect.gen(function* () {
      const { bring, directory, fileHistory, write } = yield* placed
      write("a@v1", "before")
      const folder = path.join(fileHistory, two)
      fs.symlinkSync(directory, folder)
      const linked = yield* Effect.flip(bring("a@v1"))
      assert.strictEqual(linked._tag, "EntryLogError")
      assert.isFalse(fs.existsSync(path.join(directory, "a@v1")))
      fs.unlinkSync(folder)
      fs.mkdirSync(path.join(folder, "a@v1"), { recursive: true })
      assert.include((yield* Effect.flip(bring("a@v1"))).message, "a@v1")
    }).pipe(Effect.scoped)
  )

  const other = fs.existsSync("/dev/shm") && fs.statSync("/dev/shm").dev !== fs.statSync(import.meta.dirname).dev
  it.effect.skipIf(!other)("copies from another file system, for the owner alone, executable as it was", () =>
    Effect.gen(function* () {
      const { fileHistory, of, write } = yield* placed
      write("a@v1", "before", 0o644)
      write("run@v1", "#!/bin/sh", 0o755)
      const far = fs.mkdtempSync("/dev/shm/reprise-")
      yield* Effect.addFinalizer(() => Effect.sync(() => fs.rmSync(far, { recursive: true })))
      const to = { fileHistory: path.join(far, "file-history"), sessionId: two }
      const { brought } = yield* SessionBackups.bring(["a@v1", "run@v1"], { from: [of(one)], to })
      assert.deepStrictEqual(
        brought.map((file) => fs.statSync(file).mode & 0o777),
        [0o600, 0o700]
      )
      assert.strictEqual(fs.readFileSync(brought[0]!, "utf8"), "before")
      assert.deepStrictEqual(fs.readdirSync(path.join(far, "file-history", two)).toSorted(), ["a@v1", "run@v1"])
      assert.notStrictEqual(fs.statSync(brought[0]!).dev, fs.statSync(fileHistory).dev)
    }).pipe(Effect.scoped)
  )
})
