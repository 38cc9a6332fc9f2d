import { assert, describe, it } from "@effect/vitest"
import type * as Merge from "@reprise/ingress/Merge"
import * as RemoteLog from "@reprise/ingress/RemoteLog"
import * as Hydration from "@reprise/ingress/Hydration"
import * as Recovery from "@reprise/recovery/Recovery"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionLock from "@reprise/storage/SessionLock"
import { Effect, Stream } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { conversation, home, linesOf, remote, sessionId, text, unsent } from "./hydrated.ts"

const leafLine = (leafUuid: string) => `${JSON.stringify({ type: "last-prompt", leafUuid, sessionId })}\n`
const title = (customTitle: string) => `${JSON.stringify({ type: "custom-title", customTitle, sessionId })}\n`

describe("the table (INGRESS §6)", () => {
  const shared = text("u1-a1")
  const ours = text("u1-a1-u2-a2").slice(shared.length)
  const theirs = text("u1-a1-u3-a3").slice(shared.length)
  const table: ReadonlyArray<{
    readonly what: string
    readonly local: string | undefined
    readonly remote: string
    readonly outcome: Merge.Outcome
    readonly after: string | undefined
    readonly sees?: string
    readonly options?: Hydration.Options
  }> = [
    { what: "fresh", local: undefined, remote: shared, outcome: "fresh", after: shared, sees: "u1-a1" },
    { what: "an empty file", local: "", remote: shared, outcome: "fresh", after: shared },
    { what: "an empty remote, and no log", local: undefined, remote: "", outcome: "remote-empty", after: undefined },
    { what: "an empty remote", local: shared, remote: "", outcome: "remote-empty", after: shared },
    { what: "the same", local: shared, remote: shared, outcome: "same", after: shared },
    { what: "local ahead", local: shared + ours, remote: shared, outcome: "local-ahead", after: shared + ours },
    {
      what: "fast-forward, with metadata of our own",
      local: shared + title("kept"),
      remote: shared + theirs,
      outcome: "fast-forward",
      after: shared + title("kept") + theirs,
      sees: "u1-a1-u3-a3"
    },
    {
      what: "diverged",
      local: shared + ours,
      remote: shared + theirs,
      outcome: "diverged",
      after: shared + ours + theirs + leafLine("a2"),
      sees: "u1-a1-u2-a2"
    },
    {
      what: "diverged, and the remote is preferred",
      local: shared + ours,
      remote: shared + theirs,
      outcome: "diverged",
      after: shared + ours + theirs,
      sees: "u1-a1-u3-a3",
      options: { prefer: "remote" }
    },
    {
      what: "a line that was lost in the middle",
      local: shared.slice(0, shared.indexOf("\n") + 1) + ours,
      remote: shared + ours,
      outcome: "fast-forward",
      after: shared.slice(0, shared.indexOf("\n") + 1) + ours + shared.slice(shared.indexOf("\n") + 1) + leafLine("a2"),
      sees: "u1-a1-u2-a2"
    },
    {
      what: "a torn last line",
      local: `${shared}${ours.slice(0, 40)}`,
      remote: shared + theirs,
      outcome: "fast-forward",
      after: `${shared}${ours.slice(0, 40)}\n${theirs}`,
      sees: "u1-a1-u3-a3"
    },
    {
      what: "a last line that lacks its line feed alone",
      local: shared.slice(0, -1),
      remote: shared + theirs,
      outcome: "fast-forward",
      after: shared + theirs
    }
  ]
  for (const { after, local, options, outcome, remote: copy, sees, what } of table)
    it.effect(what, () =>
      Effect.gen(function* () {
        const { hydrate, main, put, read } = yield* home
        if (local !== undefined) put(main, local)
        const { refused, streams } = yield* hydrate(remote({ "": copy }), options)
        assert.deepStrictEqual([streams[0]?.outcome, streams.length, refused], [outcome, 1, []])
        assert.strictEqual(fs.existsSync(main) ? read() : undefined, after)
        if (sees !== undefined) assert.strictEqual(conversation(read()), sees)
        if (after === undefined) return
        const names = fs.readdirSync(path.dirname(main))
        assert.deepStrictEqual(
          names.filter((name) => !name.endsWith(".lock")),
          [path.basename(main)]
        )
        const again = yield* hydrate(remote({ "": copy }), options)
        assert.strictEqual(again.streams[0]!.added, 0)
        assert.strictEqual(read(), after)
      })
    )

  it.effect("both leaves are told, and that of the log is the one that recovery finds", () =>
    Effect.gen(function* () {
      const { hydrate, main, put, read } = yield* home
      // The last line is on a branch that was left: the leaf is a1, by a rewind's marker.
      put(main, text("u1-a1-u2-a2 a1-w3"))
      const { streams } = yield* hydrate(remote({ "": text("u1-a1-u4-a4") }), { leaf: Recovery.leaf })
      assert.deepStrictEqual(streams[0]!.leaves, { local: "w3", remote: "a4", named: "w3" })
      assert.strictEqual(conversation(read()), "u1-a1-w3")
    })
  )

  it.effect("whoever is newer is gone on from, where the caller says so", () =>
    Effect.gen(function* () {
      const [older, newer] = [text("u1-a1-u2:7"), text("u1-a1-u3:8")]
      for (const [local, copy, sees] of [
        [older, newer, "u1-a1-u3"],
        [newer, older, "u1-a1-u3"]
      ] as const) {
        const { hydrate, main, put, read } = yield* home
        put(main, local)
        yield* hydrate(remote({ "": copy }), { prefer: "newest" })
        assert.strictEqual(conversation(read()), sees)
      }
    })
  )
})

describe("agents", () => {
  const log = text("u1~abc-a1~abc")

  it.effect("each has its log, in its folder, and no leaf is named there", () =>
    Effect.gen(function* () {
      const { agent, hydrate, main, put, read } = yield* home
      put(agent("old"), text("u1~old-u2~old"))
      const { streams } = yield* hydrate(
        remote({ abc: log, "": text("u1-a1"), "w/x/deep": log, old: text("u1~old-u3~old") })
      )
      assert.deepStrictEqual(
        streams.map(({ outcome, stream }) => [stream, outcome]),
        [
          ["", "fresh"],
          ["abc", "fresh"],
          ["w/x/deep", "fresh"],
          ["old", "diverged"]
        ]
      )
      assert.strictEqual(read(agent("abc")), log)
      assert.strictEqual(read(path.join(path.dirname(agent("")), "w", "x", "agent-deep.jsonl")), log)
      assert.strictEqual(linesOf(read(agent("old"))).length, 3)
      assert.strictEqual(fs.statSync(path.dirname(agent("abc"))).mode & 0o777, 0o700)
      assert.strictEqual(read(main), text("u1-a1"))
    })
  )

  it.effect("pages of internal events are split by agent", () =>
    Effect.gen(function* () {
      const { agent, hydrate, read } = yield* home
      const events = [...linesOf(text("u1-a1")), ...linesOf(log), ...linesOf(text("u1-a1-u2")).slice(2)].map((line) => {
        const payload = JSON.parse(line)
        return { ...(payload.agentId && { agent_id: payload.agentId }), is_compaction: false, payload }
      })
      const pages = Stream.fromIterable([events.slice(0, 2), [], events.slice(2, 3), events.slice(3)])
      const { streams } = yield* hydrate(RemoteLog.ofEvents(pages))
      assert.deepStrictEqual(
        streams.map(({ added, stream }) => [stream, added]),
        [
          ["", 3],
          ["abc", 2]
        ]
      )
      assert.deepStrictEqual([read(), read(agent("abc"))], [text("u1-a1-u2"), log])
    })
  )

  it.effect("an agent that has its log in the old place keeps it there", () =>
    Effect.gen(function* () {
      const { agent, hydrate, main, project, put, read } = yield* home
      put(main, text("u1-a1"))
      const old = path.join(project, "agent-abc.jsonl")
      const own = log.replaceAll(/"sessionId":"[^"]*"/g, `"sessionId":"${sessionId}"`)
      put(old, own)
      const more = `${own}${JSON.stringify({ type: "user", uuid: "u9", agentId: "abc", isSidechain: true, sessionId })}\n`
      yield* hydrate(remote({ abc: more }))
      assert.strictEqual(read(old), more)
      assert.isFalse(fs.existsSync(agent("abc")))
    })
  )
})

describe("a remote that fails or lies changes nothing", () => {
  const local = text("u1-a1-u2")
  const failing = (lines: number): RemoteLog.RemoteLog<"401"> => ({
    lines: Stream.concat(
      Stream.take(remote({ "": text("u1-a1-u3-a3"), abc: text("u1~abc") }).lines, lines),
      Stream.fail("401" as const)
    )
  })

  it.effect("whenever it fails, with a log and without one", () =>
    Effect.gen(function* () {
      for (let lines = 0; lines <= 5; lines++)
        for (const before of [undefined, local]) {
          const { hydrate, main, put, root, tree } = yield* home
          if (before !== undefined) put(main, before)
          const was = tree()
          assert.strictEqual(yield* Effect.flip(hydrate(failing(lines))), "401")
          assert.deepStrictEqual(tree(), was)
          if (before === undefined) assert.isFalse(fs.existsSync(path.join(root, "projects", "-work", sessionId)))
        }
    })
  )

  it.effect("what is no entry is no log", () =>
    Effect.gen(function* () {
      const { hydrate, main, put, tree } = yield* home
      put(main, local)
      const was = tree()
      const good = { payload: JSON.parse(linesOf(text("u9"))[0]!) }
      for (const page of [
        [good, { payload: "no entry" }],
        [good, null],
        [good, { agent_id: 7, payload: {} }]
      ]) {
        const error = yield* Effect.flip(hydrate(RemoteLog.ofEvents(Stream.succeed(page as never))))
        assert.strictEqual(error._tag, "NotALog")
      }
      for (const entry of ["[]", "{", "<html>", "null"]) {
        const answer = Stream.succeed(Buffer.from(`{"loglines":[${JSON.stringify(good.payload)},${entry}]}`))
        assert.strictEqual((yield* Effect.flip(hydrate(RemoteLog.ofLoglines(answer))))._tag, "NotALog")
      }
      assert.deepStrictEqual(tree(), was)
    })
  )

  it.effect("names that lead elsewhere have no place", () =>
    Effect.gen(function* () {
      const { agent, hydrate, read, tree } = yield* home
      const bad = [
        "../x",
        "a/../../b",
        "/etc/x",
        "a//b",
        "a/b/c/d/e",
        "x\0",
        ".",
        "..",
        "-x",
        "a b",
        "é",
        "x".repeat(129)
      ]
      const streams = Object.fromEntries(bad.map((name) => [name, text("u1")]))
      const { refused } = yield* hydrate(remote({ ...streams, "": text("u1-a1"), good: text("u1~good") }))
      assert.deepStrictEqual(
        refused.map(({ stream }) => stream),
        bad
      )
      assert.include(refused[0]!.why, "no name of a stream")
      assert.deepStrictEqual(
        Object.keys(tree()).map((file) => path.basename(file)),
        [`${sessionId}.jsonl`, "agent-good.jsonl"]
      )
      assert.strictEqual(read(agent("good")), text("u1~good"))
    })
  )

  it.effect("no link is followed: of a folder, of a log, of a file beside it", () =>
    Effect.gen(function* () {
      for (const what of ["session", "subagents", "deeper", "agent"] as const) {
        const { agent, hydrate, main, project, put, root, tree } = yield* home
        put(main, text("u1"))
        put(path.join(root, "outside", "kept.jsonl"), "kept\n")
        const at = {
          session: path.join(project, sessionId),
          subagents: path.join(project, sessionId, "subagents"),
          deeper: path.join(project, sessionId, "subagents", "x"),
          agent: agent("abc")
        }[what]
        fs.mkdirSync(path.dirname(at), { recursive: true })
        fs.symlinkSync(what === "agent" ? path.join(root, "outside", "kept.jsonl") : path.join(root, "outside"), at)
        const was = tree()
        const stream = what === "deeper" ? "x/abc" : "abc"
        const { refused } = yield* hydrate(remote({ "": text("u1"), [stream]: text("u1~abc") }))
        assert.deepStrictEqual(
          refused.map((one) => one.stream),
          [stream],
          what
        )
        assert.include(refused[0]!.why, at)
        assert.deepStrictEqual(tree(), was)
      }
    })
  )

  it.effect("a main log that is a link is left alone, and so is what its side files lead to", () =>
    Effect.gen(function* () {
      const { hydrate, main, put, root, tree } = yield* home
      const outside = path.join(root, "outside")
      put(outside, "kept\n")
      fs.mkdirSync(path.dirname(main), { recursive: true })
      fs.symlinkSync(outside, main)
      const was = tree()
      assert.strictEqual((yield* Effect.flip(hydrate(remote({ "": text("u1") }))))._tag, "EntryLogError")
      assert.strictEqual((yield* Effect.flip(hydrate(remote({ "": text("u1") }), { lock: false })))._tag, "NotHydrated")
      assert.deepStrictEqual(tree(), was)
      fs.rmSync(main)
      for (const name of ["draft", "hydration.draft", "ingress", "ingress.part"])
        fs.symlinkSync(outside, `${main}.${name}`)
      yield* hydrate(remote({ "": text("u1") }, { profile: "native" })).pipe(Effect.ignore)
      assert.strictEqual(fs.readFileSync(outside, "utf8"), "kept\n")
    })
  )
})

describe("the same id with other bytes", () => {
  const entry = { type: "user", uuid: "u1", message: { role: "user", content: "a/b", n: 1 }, sessionId }
  const other = { ...entry, message: { ...entry.message, content: "else" } }
  const line = (value: unknown) => `${JSON.stringify(value)}\n`

  it.effect("ours stays, theirs is kept beside it, once", () =>
    Effect.gen(function* () {
      const { hydrate, main, put, read } = yield* home
      put(main, line(entry))
      const copy = remote({ "": line(other) + text("a2") })
      for (const added of [1, 0]) {
        const { streams } = yield* hydrate(copy)
        assert.deepStrictEqual([streams[0]!.conflicts, streams[0]!.added], [1, added])
      }
      assert.strictEqual(read(), line(entry) + text("a2"))
      assert.strictEqual(read(`${main}.conflicts`), `{"from":"remote","k":"u1","e":${JSON.stringify(other)}}\n`)
      assert.strictEqual(fs.statSync(`${main}.conflicts`).mode & 0o777, 0o600)
    })
  )

  it.effect("the same said in another spelling is no conflict", () =>
    Effect.gen(function* () {
      const { hydrate, main, put, tree } = yield* home
      put(main, line(entry))
      const was = tree()
      const { message, ...rest } = entry
      const spelled = `{"message":${JSON.stringify(message)
        .replace("a/b", String.raw`\u0061\/b`)
        .replace('"n":1', '"n":1.0')},${JSON.stringify(rest).slice(1)}\n`
      const { streams } = yield* hydrate(remote({ "": spelled }))
      assert.deepStrictEqual([streams[0]!.outcome, streams[0]!.conflicts], ["same", 0])
      assert.deepStrictEqual(tree(), was)
    })
  )
})

describe("the cursor", () => {
  it.effect("leaves to be sent what the remote lacks, and nothing that came from it", () =>
    Effect.gen(function* () {
      const shared = text("u1-a1")
      const ours = title("ours") + text("u1-a1-u2").slice(shared.length)
      const theirs = title("theirs") + text("u1-a1-u3").slice(shared.length)
      const cases = [
        { local: undefined, copy: shared, sent: "" },
        { local: shared, copy: shared, sent: "" },
        { local: shared, copy: "", sent: shared },
        { local: shared + ours, copy: shared, sent: ours },
        { local: shared, copy: shared + theirs, sent: "" },
        { local: shared + ours, copy: shared + theirs, sent: ours + leafLine("u2") },
        { local: shared + ours.slice(0, 9), copy: shared + theirs, sent: `${ours.slice(0, 9)}\n` },
        { local: shared.slice(0, -1), copy: shared, sent: linesOf(shared)[1]! }
      ]
      for (const { copy, local, sent } of cases) {
        const { hydrate, main, put, read } = yield* home
        if (local !== undefined) put(main, local)
        yield* hydrate(remote({ "": copy }, { profile: "native", backend: "b1" }))
        assert.strictEqual((yield* unsent(main))?.join("\n"), linesOf(sent).join("\n"))
        // Again, when the remote has got what it lacked.
        yield* hydrate(remote({ "": `${copy}${sent}` }, { profile: "native", backend: "b1" }))
        const open = local?.endsWith("\n") === false && copy === shared ? 1 : 0
        assert.strictEqual((yield* unsent(main))?.length, open, read())
      }
    })
  )

  it.effect("of the compat profile counts messages alone", () =>
    Effect.gen(function* () {
      const { hydrate, main, put } = yield* home
      const [u1, a1, u2] = linesOf(text("u1-a1-u2")).map((line) => `${line}\n`)
      put(main, u1! + title("ours") + a1! + u2!)
      yield* hydrate(remote({ "": u1! + a1! }, { profile: "compat" }))
      assert.deepStrictEqual(yield* unsent(main), linesOf(u2!))
    })
  )
})

describe("whose session it is", () => {
  it.effect("one that another program has open is not hydrated", () =>
    Effect.gen(function* () {
      const { hydrate, main, projects, put, tree } = yield* home
      put(main, text("u1"))
      yield* SessionLock.makeFiles({ projects }).claim(EntryLog.at(main))
      const was = tree()
      assert.strictEqual((yield* Effect.flip(hydrate(remote({ "": text("u1-a1") }))))._tag, "SessionLocked")
      assert.deepStrictEqual(tree(), was)
      assert.strictEqual((yield* hydrate(remote({ "": text("u1-a1") }), { lock: false })).streams[0]!.added, 1)
    }).pipe(Effect.scoped)
  )

  it.effect("what was readable by others is not any more", () =>
    Effect.gen(function* () {
      const { hydrate, main, put } = yield* home
      put(main, text("u1"))
      fs.chmodSync(main, 0o644)
      yield* hydrate(remote({ "": text("u1") }))
      assert.strictEqual(fs.statSync(main).mode & 0o777, 0o600)
    })
  )

  it.effect("an agent's log is no session", () =>
    Effect.gen(function* () {
      const { agent, layer } = yield* home
      const error = yield* Effect.flip(Effect.provide(Hydration.hydrate(agent("x"), remote({ "": "" })), layer))
      assert.include(error.message, "no main log")
    })
  )
})
