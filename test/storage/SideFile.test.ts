import { assert, describe, it } from "@effect/vitest"
import * as SideFile from "@reprise/storage/SideFile"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "./temporary.ts"

const modeOf = (file: string) => fs.statSync(file).mode & 0o777

describe("a text", () => {
  it.effect("is not there, is written, is replaced, and nothing else is left", () =>
    Effect.gen(function* () {
      const file = path.join(yield* Temporary.directory, "a", "log.jsonl.ingress")
      assert.isUndefined(yield* SideFile.read(file))
      yield* SideFile.write(file, "one")
      yield* SideFile.write(file, "two")
      assert.strictEqual(yield* SideFile.read(file), "two")
      assert.deepStrictEqual([modeOf(file), modeOf(path.dirname(file))], [0o600, 0o700])
      assert.deepStrictEqual(fs.readdirSync(path.dirname(file)), ["log.jsonl.ingress"])
    })
  )

  it.effect("does not go through a link, and takes the place of one", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      const [file, other] = [path.join(directory, "side"), path.join(directory, "other")]
      fs.writeFileSync(other, "kept")
      fs.symlinkSync(other, file)
      fs.symlinkSync(other, `${file}.part`)
      assert.strictEqual((yield* Effect.flip(SideFile.read(file))).reason, "Symlink")
      yield* SideFile.write(file, "new")
      assert.deepStrictEqual([yield* SideFile.read(file), fs.readFileSync(other, "utf8")], ["new", "kept"])
      assert.isFalse(fs.lstatSync(file).isSymbolicLink())
    })
  )

  it.effect("of which a half was written is the old one", () =>
    Effect.gen(function* () {
      const file = path.join(yield* Temporary.directory, "side")
      yield* SideFile.write(file, "old")
      fs.writeFileSync(`${file}.part`, "ne", { mode: 0o644 })
      assert.strictEqual(yield* SideFile.read(file), "old")
      yield* SideFile.write(file, "new")
      assert.deepStrictEqual([yield* SideFile.read(file), modeOf(file)], ["new", 0o600])
    })
  )
})

describe("a draft", () => {
  it.effect("is read in pieces, becomes a log once, and is gone with its scope", () =>
    Effect.gen(function* () {
      const file = path.join(yield* Temporary.directory, "sub", "log.jsonl")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const draft = yield* SideFile.draft(file)
          yield* draft.append(Buffer.from("a\nb"))
          yield* draft.append(Buffer.from("c\n"))
          assert.strictEqual(Buffer.from(yield* draft.read(2, 2)).toString(), "bc")
          assert.strictEqual(Buffer.from(yield* draft.read(3, 100)).toString(), "c\n")
          assert.isTrue(yield* draft.place)
          assert.isFalse(yield* draft.place)
        })
      )
      assert.deepStrictEqual(fs.readdirSync(path.dirname(file)), ["log.jsonl"])
      assert.deepStrictEqual([fs.readFileSync(file, "utf8"), modeOf(file)], ["a\nbc\n", 0o600])
    })
  )

  it.effect("leaves a log as it is, and takes over what a dead program left", () =>
    Effect.gen(function* () {
      const file = path.join(yield* Temporary.directory, "log.jsonl")
      fs.writeFileSync(file, "kept\n")
      fs.writeFileSync(`${file}.draft`, "left by another")
      const draft = yield* SideFile.draft(file)
      yield* draft.append(Buffer.from("new\n"))
      assert.isFalse(yield* draft.place)
      assert.strictEqual(fs.readFileSync(file, "utf8"), "kept\n")
      assert.strictEqual(fs.readFileSync(`${file}.draft`, "utf8"), "new\n")
    }).pipe(Effect.scoped)
  )

  it.effect("is not made where it cannot be, and says why", () =>
    Effect.gen(function* () {
      const file = path.join(yield* Temporary.directory, "file", "log.jsonl")
      fs.writeFileSync(path.dirname(file), "")
      const { message, operation } = yield* Effect.flip(SideFile.draft(file))
      assert.strictEqual(operation, "append")
      assert.include(message, `${file}.draft`)
    }).pipe(Effect.scoped)
  )
})
