import { assert, describe, it } from "@effect/vitest"
import * as SessionStore from "@reprise/ingress/SessionStore"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { directory } from "./hydrated.ts"
import * as Remote from "./remote.ts"

const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`
const key = { projectKey: "-work", sessionId: id(1) }
const agent = (name: string) => ({ ...key, subpath: `subagents/agent-${name}` })
const entry = (uuid: string, more: object = {}) => ({ type: "user", uuid, cwd: "/work", ...more })

/** Stores over one remote, each with a spool of its own: hosts that know nothing of each other. */
const world = Effect.gen(function* () {
  const remote = yield* Remote.make
  const host = Effect.gen(function* () {
    const spool = path.join(yield* directory, "spool")
    const store = yield* Effect.provide(SessionStore.make({ spool }), remote.layer)
    return { ...store, spool }
  })
  return { remote, host }
})
const wait = <A>(promise: Promise<A>) => Effect.promise(() => promise)
const refused = (promise: Promise<unknown>) =>
  Effect.promise(() =>
    promise.then(
      () => assert.fail("it was accepted"),
      (error: Error) => error.message
    )
  )

describe("what the Agent SDK asks of a session store", () => {
  it.live("appended entries are loaded in their order, as they were, call after call", () =>
    Effect.gen(function* () {
      const store = yield* (yield* world).host
      yield* wait(store.append(key, [entry("b", { n: 1 }), { type: "x", deep: [{ a: null }] }]))
      yield* wait(store.append(key, []))
      yield* wait(store.append(key, [entry("a", { n: 2 })]))
      assert.deepStrictEqual(yield* wait(store.load(key)), [
        entry("b", { n: 1 }),
        { type: "x", deep: [{ a: null }] },
        entry("a", { n: 2 })
      ])
    })
  )

  it.live("what is not there is null", () =>
    Effect.gen(function* () {
      const store = yield* (yield* world).host
      assert.isNull(yield* wait(store.load(key)))
      yield* wait(store.append(key, [entry("a")]))
      assert.isNull(yield* wait(store.load({ ...key, sessionId: id(2) })))
      assert.isNull(yield* wait(store.load({ ...key, subpath: "nope" })))
      assert.isNull(yield* wait(store.load(agent("nope"))))
      assert.deepStrictEqual(yield* wait(store.listSubkeys({ ...key, sessionId: id(2) })), [])
      assert.deepStrictEqual(yield* wait(store.listSessions("-nowhere")), [])
      assert.deepStrictEqual(yield* wait(store.listSessions("../x")), [])
    })
  )

  it.live("agents have transcripts of their own, which are listed as subkeys and not as sessions", () =>
    Effect.gen(function* () {
      const store = yield* (yield* world).host
      yield* wait(store.append(key, [entry("m")]))
      yield* wait(store.append(agent("1"), [entry("s")]))
      yield* wait(store.append({ ...key, subpath: "subagents/w/agent-2" }, [entry("t")]))
      yield* wait(store.append({ ...key, sessionId: id(2) }, [entry("o")]))
      yield* wait(store.append({ ...key, sessionId: id(2), subpath: "subagents/agent-x" }, [entry("x")]))
      assert.deepStrictEqual(yield* wait(store.load(agent("1"))), [entry("s")])
      assert.sameMembers(yield* wait(store.listSubkeys(key)), ["subagents/agent-1", "subagents/w/agent-2"])
      const sessions = yield* wait(store.listSessions("-work"))
      assert.sameMembers(
        sessions.map(({ sessionId }) => sessionId),
        [id(1), id(2)]
      )
      for (const { mtime } of sessions) assert.isAbove(mtime, 1e12)
    })
  )

  it.live("a deleted session is gone, with its agents, and no other is", () =>
    Effect.gen(function* () {
      const store = yield* (yield* world).host
      yield* wait(store.delete({ ...key, sessionId: id(9) }))
      yield* wait(store.append(key, [entry("m")]))
      yield* wait(store.append(agent("1"), [entry("s")]))
      yield* wait(store.append({ ...key, sessionId: id(2) }, [entry("o")]))
      yield* wait(store.drain("5 seconds"))
      assert.include(yield* refused(store.delete(agent("1"))), "deleted as a whole")
      yield* wait(store.delete(key))
      assert.deepStrictEqual(
        (yield* wait(store.listSessions("-work"))).map(({ sessionId }) => sessionId),
        [id(2)]
      )
      assert.isNotNull(yield* wait(store.load({ ...key, sessionId: id(2) })))
      assert.deepStrictEqual(
        fs.readdirSync(path.join(store.spool, "-work")).filter((name) => name.startsWith(id(1))),
        []
      )
    })
  )

  it.live("keys that are none are refused, and nothing is written", () =>
    Effect.gen(function* () {
      const store = yield* (yield* world).host
      const bad = [
        { ...key, sessionId: "../x" },
        { ...key, sessionId: "sess" },
        { ...key, projectKey: "../-work" },
        { ...key, projectKey: "a/b" },
        { ...key, subpath: "subagents/../../agent-1" },
        { ...key, subpath: "subagents/agent-a\0" },
        { ...key, subpath: "tool-results/x" }
      ]
      for (const one of bad) assert.include(yield* refused(store.append(one, [entry("a")])), "expected")
      assert.isFalse(fs.existsSync(store.spool) && fs.readdirSync(store.spool).length > 0)
    })
  )
})

describe("beside that", () => {
  it.live("a session that was begun on one host goes on on another", () =>
    Effect.gen(function* () {
      const { host, remote } = yield* world
      const [one, other] = [yield* host, yield* host]
      yield* wait(one.append(key, [entry("a"), { type: "mode", mode: "plan" }]))
      yield* wait(one.append(agent("1"), [entry("s")]))
      const behind = yield* wait(one.drain("5 seconds"))
      assert.deepStrictEqual(
        behind.map(({ bytes, status }) => [bytes, status._tag]),
        [[0, "Live"]]
      )
      assert.deepStrictEqual(
        (yield* wait(other.listSessions("-work"))).map(({ sessionId }) => sessionId),
        [id(1)]
      )
      assert.deepStrictEqual(yield* wait(other.listSubkeys(key)), ["subagents/agent-1"])
      assert.deepStrictEqual(yield* wait(other.load(key)), [entry("a"), { type: "mode", mode: "plan" }])
      assert.deepStrictEqual(yield* wait(other.load(agent("1"))), [entry("s")])
      yield* wait(other.append(key, [entry("b")]))
      yield* wait(other.drain("5 seconds"))
      const log = (yield* remote.text(id(1)))!
      assert.deepStrictEqual(
        log
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line).uuid),
        ["a", undefined, "b"]
      )
      // The first host has lost the session, and gets it back by loading it.
      yield* wait(one.append(key, [entry("c")]))
      assert.deepStrictEqual(
        (yield* wait(one.drain("5 seconds"))).map(({ status }) => status._tag),
        ["Fenced"]
      )
      const all = (yield* wait(one.load(key)))!.map(({ uuid }) => uuid)
      assert.sameMembers(all, ["a", undefined, "c", "b", undefined])
      yield* wait(one.append(key, [entry("d")]))
      assert.deepStrictEqual(
        (yield* wait(one.drain("5 seconds"))).map(({ status }) => status._tag),
        ["Live"]
      )
    })
  )

  it.live("what is appended twice is there once, also after a restart", () =>
    Effect.gen(function* () {
      const { host, remote } = yield* world
      const store = yield* host
      yield* wait(store.append(key, [entry("a"), entry("b"), entry("a")]))
      yield* wait(store.append(key, [entry("b"), entry("c")]))
      const again = yield* Effect.provide(SessionStore.make({ spool: store.spool }), remote.layer)
      yield* wait(again.append(key, [entry("a"), entry("d")]))
      assert.deepStrictEqual(
        (yield* wait(again.load(key)))!.map(({ uuid }) => uuid),
        ["a", "b", "c", "d"]
      )
    })
  )

  it.live("a remote that is away takes nothing from an append, and a load fails", () =>
    Effect.gen(function* () {
      const { host, remote } = yield* world
      const store = yield* host
      remote.decide(() => "lost-before")
      yield* wait(store.append(key, [entry("a")]))
      assert.include(yield* refused(store.load(key)), "expected an answer")
      const [behind] = yield* wait(store.drain("100 millis"))
      assert.isAbove(behind!.bytes, 0)
      remote.decide(() => "well")
      yield* wait(store.append(key, [entry("b")]))
      yield* wait(store.drain("5 seconds"))
      assert.strictEqual((yield* remote.text(id(1)))?.trimEnd().split("\n").length, 2)
    })
  )
})
