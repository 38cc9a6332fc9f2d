import * as TranscriptTree from "@reprise/cli/TranscriptTree"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import * as fs from "node:fs"
import * as net from "node:net"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"
import { grow, session, tree } from "./checking.ts"

const below = (files: Parameters<typeof grow>[1]) =>
  Effect.gen(function* () {
    const directory = yield* Temporary.directory
    grow(directory, files)
    return { directory, list: TranscriptTree.list(directory) }
  })

/** A socket in place of a file. */
const listening = (file: string) =>
  Effect.callback<net.Server>((resume) => {
    const server = net.createServer()
    server.listen(file, () => resume(Effect.succeed(server)))
  })

describe("list", () => {
  it.effect("finds transcripts at any depth, each with its lane, in the order of names", () =>
    Effect.gen(function* () {
      const { directory, list } = yield* below(tree)
      const { files, skipped, unreadable } = yield* list
      assert.deepStrictEqual(
        files.map(({ lane, name, named }) => [name, lane, named]),
        [
          ["house/old.jsonl", "main", false],
          [`shop/${session}.jsonl`, "main", true],
          ["shop/notes.jsonl", "main", false],
          [`shop/${session}/subagents/agent-ab.jsonl`, "sidechain", true],
          [`shop/${session}/subagents/workflows/wf_1/agent-cd.jsonl`, "sidechain", true]
        ]
      )
      assert.deepStrictEqual(files[0]!.file, path.join(directory, "house/old.jsonl"))
      assert.deepStrictEqual(
        skipped.map(({ name, why }) => [name, why]),
        [[`shop/${session}/subagents/workflows/wf_1/journal.jsonl`, "the journal of a workflow"]]
      )
      assert.deepStrictEqual(unreadable, [])
    })
  )

  it.effect("a name that is no Unicode is reported, by which nothing can be opened", () =>
    Effect.gen(function* () {
      const { directory, list } = yield* below({ "a\ufffd.jsonl": "" })
      const named = (name: string) => Buffer.concat([Buffer.from(`${directory}/${name}`), Buffer.from([0xff])])
      // A file system that takes no such name has none either.
      if (Result.isFailure(Result.try(() => fs.mkdirSync(named("folder"))))) return
      fs.writeFileSync(Buffer.concat([named("b"), Buffer.from(".jsonl")]), "")
      const { files, unreadable } = yield* list
      assert.deepStrictEqual(
        files.map(({ name }) => name),
        ["a\ufffd.jsonl"]
      )
      assert.deepStrictEqual(
        unreadable.map(({ name, why }) => [name, why]),
        [
          ["b\ufffd.jsonl", "a name that is no Unicode"],
          ["folder\ufffd", "a name that is no Unicode"]
        ]
      )
    })
  )

  it.effect("an empty directory has none", () =>
    Effect.gen(function* () {
      const { list } = yield* below({})
      assert.deepStrictEqual(yield* list, { files: [], skipped: [], unreadable: [] })
    })
  )

  it.effect("follows links to files, and none to directories", () =>
    Effect.gen(function* () {
      const { directory, list } = yield* below({ "a/one.jsonl": "u1-a1" })
      fs.symlinkSync(path.join(directory, "a/one.jsonl"), path.join(directory, "b.jsonl"))
      fs.symlinkSync(directory, path.join(directory, "a/loop"))
      fs.symlinkSync(directory, path.join(directory, "a/loop.jsonl"))
      fs.symlinkSync(path.join(directory, "gone"), path.join(directory, "c.jsonl"))
      const { files, skipped } = yield* list
      assert.deepStrictEqual(
        files.map(({ name }) => name),
        ["b.jsonl", "c.jsonl", "a/one.jsonl"]
      )
      assert.deepStrictEqual(
        skipped.map(({ name, why }) => [name, why]),
        [["a/loop.jsonl", "a link to a directory"]]
      )
    })
  )

  it.effect("passes by what is no regular file", () =>
    Effect.gen(function* () {
      const { directory, list } = yield* below({})
      yield* Effect.acquireRelease(listening(path.join(directory, "socket.jsonl")), (server) =>
        Effect.sync(() => server.close())
      )
      const { files, skipped } = yield* list
      assert.deepStrictEqual([files.length, skipped[0]?.why], [0, "no regular file"])
    })
  )

  it.effect("goes as deep as there are directories", () =>
    Effect.gen(function* () {
      const deep = `${"d/".repeat(300)}one.jsonl`
      const { list } = yield* below({ [deep]: "u1" })
      assert.strictEqual((yield* list).files[0]!.name, deep)
    })
  )

  it.effect("what is no directory is an error that says what is there", () =>
    Effect.gen(function* () {
      const { directory } = yield* below({ "one.jsonl": "u1" })
      const missing = yield* Effect.flip(TranscriptTree.list(path.join(directory, "gone")))
      assert.strictEqual(
        missing.message,
        `${directory}/gone: expected a directory of transcripts, found no directory; check the path`
      )
      const file = yield* Effect.flip(TranscriptTree.list(path.join(directory, "one.jsonl")))
      assert.include(file.message, "found a file; `reprise resume` and `reprise explain` show one")
    })
  )

  it.effect.skipIf(process.getuid?.() === 0)("a directory that this user may not list is reported", () =>
    Effect.gen(function* () {
      const { directory, list } = yield* below({ "a/one.jsonl": "u1", "b/two.jsonl": "u1" })
      fs.chmodSync(path.join(directory, "a"), 0o000)
      const { files, unreadable } = yield* list
      fs.chmodSync(path.join(directory, "a"), 0o700)
      assert.deepStrictEqual([files.length, unreadable[0]?.name], [1, "a"])
      assert.include(unreadable[0]!.why, "may not list")
    })
  )
})
