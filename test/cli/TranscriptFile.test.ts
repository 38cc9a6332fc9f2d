import * as TranscriptFile from "@reprise/cli/TranscriptFile"
import * as Evidence from "@reprise/domain/Evidence"
import * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"
import { fixture, logs, write } from "./running.ts"

const all = Projection.make<Array<Line.Located>, Line.Located, ReadonlyArray<Line.Located>>({
  initial: () => [],
  evolve: (seen, located) => [...seen, located],
  extract: (seen) => seen
})

const broken = Projection.make<number, Line.Located, number>({
  initial: () => 0,
  evolve: () => {
    throw new RangeError("too long")
  },
  extract: (n) => n
})

describe("fold", () => {
  it.effect("sees every entry of the file where it stands, whatever the file is called", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      const bytes = fs.readFileSync(fixture("damaged"))
      const plain = path.join(directory, "notes.txt")
      const agent = path.join(directory, "s", "subagents", "deep", "agent-a1.jsonl")
      fs.mkdirSync(path.dirname(agent), { recursive: true })
      for (const file of [plain, agent]) {
        fs.writeFileSync(file, bytes)
        assert.deepStrictEqual(yield* TranscriptFile.fold(file, all), Line.decodeAll(bytes))
      }
    }).pipe(Effect.provide(logs))
  )

  it.effect("a path is as the program's own directory sees it", () =>
    Effect.gen(function* () {
      const located = yield* TranscriptFile.fold(path.relative(process.cwd(), fixture("sidechain")), all)
      assert.strictEqual(located.length, 4)
    }).pipe(Effect.provide(logs))
  )

  it.effect("what cannot be read is an error that says what is there", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      const missing = path.join(directory, "missing.jsonl")
      const error = yield* Effect.flip(TranscriptFile.fold(missing, all))
      assert.strictEqual(error._tag, "TranscriptUnreadable")
      assert.strictEqual(
        error.message,
        `${missing}: expected a transcript that can be read, found no file; check the path`
      )
      const folder = yield* Effect.flip(TranscriptFile.fold(directory, all))
      assert.include(folder.message, "found a directory")
      const long = yield* Effect.flip(TranscriptFile.fold(path.join(directory, "x".repeat(300)), all))
      assert.include(long.message, "an error of the system (ENAMETOOLONG)")
    }).pipe(Effect.provide(logs))
  )

  it.effect.skipIf(process.getuid?.() === 0)("a file that this user may not read says so", () =>
    Effect.gen(function* () {
      const file = write(yield* Temporary.directory, "closed", "u1-a1")
      fs.chmodSync(file, 0o000)
      const error = yield* Effect.flip(TranscriptFile.fold(file, all))
      assert.include(error.message, "may not read")
    }).pipe(Effect.provide(logs))
  )

  it.effect.skipIf(process.platform === "win32")("a pipe is refused, and keeps nobody waiting", () =>
    Effect.gen(function* () {
      const pipe = path.join(yield* Temporary.directory, "pipe.jsonl")
      execFileSync("mkfifo", [pipe])
      const error = yield* Effect.flip(TranscriptFile.fold(pipe, all))
      assert.include(error.message, "found no regular file")
    }).pipe(Effect.provide(logs))
  )

  it.effect("what the program itself cannot do with a file costs that file only", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(TranscriptFile.fold(fixture("sidechain"), broken))
      assert.include(error.message, "RangeError: too long")
    }).pipe(Effect.provide(logs))
  )
})

describe("watched", () => {
  it.effect("says how far reading is, up to the end", () =>
    Effect.gen(function* () {
      const file = fixture("interrupted")
      const heard: Array<{ readonly done: number; readonly total: number }> = []
      const read = TranscriptFile.fold(file, all)
      const watched = TranscriptFile.watched(read, (progress) => Effect.sync(() => void heard.push(progress)))
      assert.deepStrictEqual(yield* watched, yield* read)
      const { size } = fs.statSync(file)
      assert.deepStrictEqual(heard.at(-1), { done: size, total: size })
    }).pipe(Effect.provide(logs))
  )
})

describe("a transcript", () => {
  const judged = (text: string) => Projection.fold(Evidence.projection, Line.decodeAll(Buffer.from(text)))

  it.effect("is also what is named as one, whatever it holds", () =>
    Effect.gen(function* () {
      const notes = judged("# notes\n")
      yield* TranscriptFile.mustBeTranscript("/a/5b0d7f21-9c46-4e83-b1a2-60f7d3c89e14.jsonl", notes)
      yield* TranscriptFile.mustBeTranscript("/a/agent-ab.jsonl", notes)
      const error = yield* Effect.flip(TranscriptFile.mustBeTranscript("/a/notes.jsonl", notes))
      assert.deepInclude(error, { _tag: "NotATranscript", path: "/a/notes.jsonl" })
    })
  )
})

describe("sessionIdOf", () => {
  const uuid = "1C9A5B7E-40d3-4f86-8e2b-95d7a6c3f014"

  it("is the name of the file where that is a UUID", () => {
    assert.strictEqual(TranscriptFile.sessionIdOf(`/a/${uuid}.jsonl`, "other"), uuid)
    assert.strictEqual(TranscriptFile.sessionIdOf(uuid, "other"), uuid)
  })

  it("else what the log says, if anything", () => {
    assert.strictEqual(TranscriptFile.sessionIdOf("/a/agent-a1.jsonl", "other"), "other")
    assert.strictEqual(TranscriptFile.sessionIdOf(`/${uuid}/log.jsonl`, undefined), null)
  })
})
