import * as Extent from "@reprise/cli/Extent"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as fs from "node:fs"
import { bytesOf } from "../storage/doors.ts"
import * as Temporary from "../storage/temporary.ts"
import { logs, run, write } from "./running.ts"
import * as Starting from "./starting.ts"

const title = { type: "custom-title", customTitle: "A title", sessionId: "s" }
const compacted = bytesOf(title, { picture: "u1-a1-u2-a2 u2-a9 B1{a2>S1}-S1-u3-a3(A)-rA-a4 u3-a8 !a4" })

const answers = (file: string, ...more: ReadonlyArray<string>) =>
  Effect.map(run("resume", "--json", file, ...more), ({ out }) => JSON.parse(out) as { readonly [key: string]: any })

describe("how much of a log is read", () => {
  it.effect("what is recovered of a part is the same, but for the keys that it names", () =>
    Effect.gen(function* () {
      const file = write(yield* Temporary.directory, "log", compacted)
      const full = yield* answers(file)
      assert.deepStrictEqual(full, yield* answers(file, "--history", "full"))
      assert.isUndefined(full["extent"])
      assert.strictEqual(full["archived"], 4)
      for (const history of ["metadata", "suffix"]) {
        const { extent, ...part } = yield* answers(file, "--history", history)
        assert.deepStrictEqual([extent.history, extent.byteEnd], [history, compacted.length - 1])
        assert.include(Buffer.from(compacted).toString("utf8", extent.byteStart).split("\n")[0], '"uuid":"a2"')
        assert.includeMembers(extent.unknown, ["removed", "archived", "branches", "sidechains", "findings", "drift"])
        const isKnown = ([key]: readonly [string, unknown]) => !extent.unknown.includes(key)
        assert.deepStrictEqual(Object.entries(part).filter(isKnown), Object.entries(full).filter(isKnown))
        assert.strictEqual(part["metadata"].title, history === "metadata" ? "A title" : "[u3]")
      }
    })
  )

  it.effect("a log of which only the whole can tell is read as a whole, whatever is asked for", () =>
    Effect.gen(function* () {
      const file = write(yield* Temporary.directory, "log", "u1-a1 B1-S1-u2 a1-u3")
      assert.deepStrictEqual(yield* answers(file, "--history", "suffix"), yield* answers(file))
    })
  )

  it.effect("is all of it by default, unless it is long", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      const sized = (bytes: number) => {
        const file = write(directory, `${bytes}`, compacted)
        fs.truncateSync(file, bytes)
        return Extent.of(file, Option.none())
      }
      assert.strictEqual(yield* sized(Extent.WHOLE), "full")
      assert.strictEqual(yield* sized(Extent.WHOLE + 1), "metadata")
      assert.strictEqual(yield* Extent.of(`${directory}/none.jsonl`, Option.none()), "full")
      assert.strictEqual(yield* Extent.of(`${directory}/none.jsonl`, Option.some("suffix")), "suffix")
    }).pipe(Effect.provide(logs))
  )

  it.effect("is told to people in place of what was not counted", () =>
    Effect.gen(function* () {
      const file = write(yield* Temporary.directory, "log", compacted)
      const { out } = yield* run("resume", file, "--history", "metadata")
      const sum = "in the conversation; of the 1 kB before it its metadata was read (--history full reads all)"
      assert.match(out.split("\n")[2]!, /^\d+ messages in the conversation/)
      assert.include(out.split("\n")[2], sum)
      assert.notInclude(out, "archived")
      const shown = (yield* run("show", file, "--history", "suffix")).out
      assert.include(shown, sum.replace("its metadata", "nothing"))
      assert.notInclude(shown, "before a compaction")
    })
  )

  it.effect("show numbers lines where those before them were counted", () =>
    Effect.gen(function* () {
      const file = write(yield* Temporary.directory, "log", compacted)
      const shown = (...more: ReadonlyArray<string>) =>
        Effect.map(run("show", "--json", file, ...more), ({ out }) => out)
      const full = yield* shown()
      assert.strictEqual(yield* shown("--history", "metadata"), full)
      assert.strictEqual(yield* shown("--history", "suffix"), full.replaceAll(/"line":\d+,/g, ""))
    })
  )
})

describe("a log that fits into no heap", () => {
  /** 42 MB, of which all but four messages are archived. */
  const long = (file: string): void => {
    const message = (uuid: string, parentUuid: string | null) => ({
      parentUuid,
      type: "user",
      message: { role: "user", content: "x".repeat(900) },
      uuid,
      timestamp: "2026-01-01T00:00:00.000Z",
      cwd: "/work"
    })
    const fd = fs.openSync(file, "w")
    fs.writeSync(fd, bytesOf(title))
    for (let block = 0; block < 40; block++) {
      const lines = Array.from({ length: 1000 }, (_, i) => {
        const at = block * 1000 + i
        return message(`m${at}`, at === 0 ? null : `m${at - 1}`)
      })
      fs.writeSync(fd, bytesOf(...lines))
    }
    fs.writeSync(fd, bytesOf({ picture: "B1-S1-u2-a2" }))
    fs.closeSync(fd)
  }

  const within = (mb: number, ...args: ReadonlyArray<string>) =>
    Starting.end(Starting.start(args, { node: [`--max-old-space-size=${mb}`] }))

  it.effect(
    "is resumed, shown and appended to",
    () =>
      Effect.gen(function* () {
        const file = `${yield* Temporary.directory}/00000000-0000-4000-8000-000000000001.jsonl`
        long(file)
        const resumed = yield* within(40, "resume", "--json", file)
        assert.deepStrictEqual([resumed.code, resumed.errors], [0, ""])
        const { conversation, extent, metadata } = JSON.parse(resumed.out)
        assert.deepStrictEqual([conversation, metadata.title], [["B1", "S1", "u2", "a2"], "A title"])
        assert.isAbove(extent.byteStart, 40e6)
        const shown = yield* within(40, "show", file)
        assert.deepStrictEqual([shown.code, shown.out.split("\n")[0]], [0, "A title"])
        const appended = yield* within(64, "append", "--json", file, "go on")
        assert.strictEqual(appended.code, 0, appended.errors + appended.out)
        const [leaf] = JSON.parse((yield* within(40, "resume", "--json", file)).out).conversation.slice(-1)
        assert.include(appended.out, leaf)
      }),
    120_000
  )
})
