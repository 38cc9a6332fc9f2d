import { assert, describe, it } from "@effect/vitest"
import * as Notation from "@reprise/domain/testing/Notation"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../storage/temporary.ts"
import { fixture, run, write } from "./running.ts"

const sessionId = "5b0d7f21-9c46-4e83-b1a2-60f7d3c89e18"

const place = (picture: string) =>
  Effect.map(Temporary.directory, (directory) => {
    const file = write(directory, sessionId, picture)
    const folder = path.join(directory, sessionId, "subagents")
    fs.mkdirSync(folder, { recursive: true })
    fs.writeFileSync(path.join(folder, "agent-abc.jsonl"), Notation.bytes("u1~abc-a1(B)~abc-rB~abc"))
    fs.writeFileSync(path.join(folder, "agent-abc.meta.json"), '{"agentType":"Explore","description":"find it"}')
    fs.writeFileSync(path.join(folder, "agent-def.jsonl"), Notation.bytes("u1~def-a1~def"))
    fs.writeFileSync(path.join(folder, "agent-def.meta.json"), '{"parentAgentId":"abc"}')
    return { file, folder }
  })

describe("reprise agents", () => {
  it.effect("shows the agents below their lead", () =>
    Effect.gen(function* () {
      const { file } = yield* place("u1-a1 x1-u9~old")
      assert.deepStrictEqual((yield* run("agents", file)).out.trimEnd().split("\n"), [
        `session ${sessionId}: 2 messages`,
        "  abc  Explore: find it  3 messages, stopped in a turn",
        "    def  [u1]  2 messages",
        "  old  [u9]  1 message, stopped before its reply · inside the main log"
      ])
      const none = yield* run("agents", fixture("interrupted"))
      assert.match(none.out, /\n {2}No agents\.\n$/)
    }).pipe(Effect.scoped)
  )

  it.effect("answers programs with the tree as one line", () =>
    Effect.gen(function* () {
      const { file, folder } = yield* place("u1-a1")
      const told = JSON.parse((yield* run("agents", "--json", file)).out)
      assert.deepInclude(told, { file, ok: true, sessionId, conversation: ["u1", "a1"] })
      const [abc] = told.agents
      assert.deepInclude(abc, {
        agentId: "abc",
        path: path.join(folder, "agent-abc.jsonl"),
        agentType: "Explore",
        description: "find it",
        conversation: ["u1", "a1", "rB"],
        interruption: { kind: "interrupted-turn", uuid: "rB" }
      })
      assert.deepStrictEqual(
        abc.agents.map(({ agentId }: { agentId: string }) => agentId),
        ["def"]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("shows agents that are nested without end, as texts and to programs", () =>
    Effect.gen(function* () {
      const { file, folder } = yield* place("u1-a1")
      const count = 3000
      for (let k = 1; k <= count; k++) {
        fs.writeFileSync(path.join(folder, `agent-n${k}.jsonl`), Notation.bytes(`u1~n${k}`))
        fs.writeFileSync(path.join(folder, `agent-n${k}.meta.json`), JSON.stringify({ parentAgentId: `n${k - 1}` }))
      }
      const lines = (yield* run("agents", file)).out.trimEnd().split("\n")
      assert.strictEqual(lines.length, 1 + 2 + count)
      assert.isTrue(lines.some((line) => line.startsWith(`${" ".repeat(40)}+${count - 20} n${count} `)))
      let [at] = JSON.parse((yield* run("agents", "--json", file)).out).agents.slice(1)
      let depth = 0
      for (; at !== undefined; [at] = at.agents) assert.strictEqual(at.agentId, `n${++depth}`)
      assert.strictEqual(depth, count)
    }).pipe(Effect.scoped)
  )

  it.effect("shows the others where the log of one cannot be read, and fails", () =>
    Effect.gen(function* () {
      const { file, folder } = yield* place("u1-a1")
      const link = path.join(folder, "agent-zero.jsonl")
      fs.symlinkSync("/dev/zero", link)
      const text = yield* run("agents", file)
      assert.strictEqual(text.failure, "FilesUnreadable")
      assert.match(text.out, /\n {4}def .*\n {2}TranscriptUnreadable {2}\S*agent-zero\.jsonl: .*no regular file/)
      const json = yield* run("agents", "--json", file)
      const [session, unread] = json.out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
      assert.deepStrictEqual([session.ok, session.agents.length], [true, 1])
      assert.deepStrictEqual([unread.ok, unread.file, unread.error._tag], [false, link, "TranscriptUnreadable"])
      const one = yield* run("agents", "--agent", "zero", file)
      assert.match(one.out, /^TranscriptUnreadable/)
    }).pipe(Effect.scoped)
  )

  it.effect("shows one of them as a session, from its own file or inside the main log", () =>
    Effect.gen(function* () {
      const { file, folder } = yield* place("u1-a1 x1-u9~old")
      const abc = JSON.parse((yield* run("agents", "--json", "--agent", "abc", file)).out)
      assert.deepStrictEqual([abc.file, abc.conversation], [path.join(folder, "agent-abc.jsonl"), ["u1", "a1", "rB"]])
      assert.strictEqual(abc.messages.at(-1).role, "user")
      const old = JSON.parse((yield* run("agents", "--json", "--agent", "old", file)).out)
      assert.deepStrictEqual([old.file, old.conversation.length], [file, 1])
      const shown = yield* run("agents", "--agent", "abc", file)
      assert.include(shown.out, "rB")
      const nobody = yield* run("agents", "--agent", "x", file)
      assert.strictEqual(nobody.failure, "FilesUnreadable")
      assert.match(nobody.out, /NoAgent .* there are abc, def, old/s)
    }).pipe(Effect.scoped)
  )
})
