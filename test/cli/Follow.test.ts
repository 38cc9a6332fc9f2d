import { assert, describe, it } from "@effect/vitest"
import * as Notation from "@reprise/domain/testing/Notation"
import { Effect, Fiber } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"
import { fixture, run, running, write } from "./running.ts"

const lines = (out: string) =>
  out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

/** What a picture has behind another one, as lines. */
const more = (whole: string, part: string): Uint8Array => Notation.bytes(whole).subarray(Notation.bytes(part).length)

describe("reprise follow", () => {
  it.effect("--once shows the end of the conversation, as recovery finds it", () =>
    Effect.gen(function* () {
      const file = write(yield* Temporary.directory, "log", "u1-a1-u2-a2 x9-u3-a3")
      const { failure, out } = yield* run("follow", "--once", "--last", "2", file)
      assert.isUndefined(failure)
      assert.deepStrictEqual(
        out.split("\n").map((line) => line.replace(/ {2}\d.*/, "")),
        ["(4 messages before)", "", "user", "  [u3]", "", "assistant", "  [a3]", ""]
      )
    })
  )

  it.effect("--json tells each entry with its place, and where it caught up; --from goes on there", () =>
    Effect.gen(function* () {
      const directory = yield* Temporary.directory
      const file = write(directory, "log", "u1-a1 ?")
      const first = lines((yield* run("follow", "--json", "--once", file)).out)
      assert.deepStrictEqual(
        first.map(({ entry, line, reason, record }) => [record, line, entry?.uuid ?? reason]),
        [
          ["entry", 1, "u1"],
          ["entry", 2, "a1"],
          ["malformed", 3, "torn"],
          ["caught-up", 4, undefined]
        ]
      )
      fs.appendFileSync(file, more("u1-a1-u2", "u1-a1"))
      const { byte, line } = first.at(-1)
      const second = lines((yield* run("follow", "--json", "--once", "--from", `${line}:${byte}`, file)).out)
      assert.deepStrictEqual(
        second.map(({ entry, record }) => [record, entry?.uuid]),
        [
          ["entry", "u2"],
          ["caught-up", undefined]
        ]
      )
    })
  )

  it.effect("--json --last tells the end of the conversation alone", () =>
    Effect.gen(function* () {
      const file = write(yield* Temporary.directory, "log", "u1-a1-u2-a2 a1-u3")
      const told = lines((yield* run("follow", "--json", "--once", "--last", "2", file)).out)
      assert.deepStrictEqual(
        told.map(({ entry, line, record }) => [record, line, entry?.uuid]),
        [
          ["entry", 2, "a1"],
          ["entry", 5, "u3"],
          ["caught-up", 6, undefined]
        ]
      )
    })
  )

  it.live("tells what is written from then on, and when the log begins anew", () =>
    Effect.gen(function* () {
      const file = write(yield* Temporary.directory, "log", "u1")
      const { out, until } = yield* running("follow", file)
      yield* until("[u1]")
      fs.appendFileSync(file, more("u1-a1 s1~ab ?", "u1"))
      yield* until("torn")
      const told = out().slice(out().indexOf("[u1]"))
      assert.match(told, /^\[u1\]\n\nassistant.*\n {2}\[a1\]\n {2}line 4: torn\n$/)
      fs.writeFileSync(file, Notation.bytes("u7"))
      yield* until("[u7]")
      assert.match(
        out().slice(out().indexOf("torn")),
        /\(the log was \w+: it is told from its beginning\)\n\nuser.*\n {2}\[u7\]/
      )
    }).pipe(Effect.scoped)
  )

  it.effect("--sidechain follows the log of an agent", () =>
    Effect.gen(function* () {
      const file = write(yield* Temporary.directory, "agent-ab", "u1~ab-a1~ab")
      assert.strictEqual((yield* run("follow", "--once", file)).out, "")
      assert.match((yield* run("follow", "--once", "--sidechain", file)).out, /\nuser .*\n.*\n\nassistant/)
    })
  )

  it.effect("a file that is not there is not waited for, and a place that is none is refused", () =>
    Effect.gen(function* () {
      const { failure, out } = yield* run("follow", "/no/such.jsonl")
      assert.strictEqual(failure, "FilesUnreadable")
      assert.include(out, "found no file; check the path")
      const json = yield* run("follow", "--json", "/no/such.jsonl")
      assert.deepInclude(JSON.parse(json.out), { file: "/no/such.jsonl", ok: false })
      const refused = yield* run("follow", "--from", "3", fixture("interrupted"))
      assert.deepStrictEqual([refused.failure, refused.out], ["ShowHelp", ""])
    })
  )

  it.live("--wait waits for a file until it is there", () =>
    Effect.gen(function* () {
      const file = path.join(yield* Temporary.directory, "log.jsonl")
      const { out, until } = yield* running("follow", "--wait", "--json", file)
      yield* Effect.sleep(50)
      assert.notInclude(out(), "entry")
      fs.writeFileSync(file, Notation.bytes("u1"))
      yield* until('"uuid":"u1"')
    }).pipe(Effect.scoped)
  )

  it.effect("to programs a file that is no transcript is told as it stands, and then refused", () =>
    Effect.gen(function* () {
      const file = write(yield* Temporary.directory, "notes", Buffer.from('{"name":"x"}\n'))
      const { failure, out } = yield* run("follow", "--json", file)
      const [malformed, refused, ...more] = lines(out)
      assert.deepStrictEqual([failure, malformed.reason, more], ["FilesUnreadable", "no-type", []])
      assert.deepInclude(refused, { file, ok: false })
      assert.strictEqual(refused.error._tag, "NotATranscript")
      assert.include(refused.error.message, "found one line, which is no entry of a transcript")
    })
  )

  it.live("ends when it is interrupted", () =>
    Effect.gen(function* () {
      const following = yield* running("follow", fixture("interrupted"))
      yield* following.until("user")
      yield* Fiber.interrupt(following.fiber)
    }).pipe(Effect.scoped)
  )
})
