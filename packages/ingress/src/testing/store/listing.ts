/**
 * Promises about lists of sessions, and what they say of each.
 */
import * as Effect from "effect/Effect"
import * as assert from "node:assert/strict"
import * as AppendChain from "../../AppendChain.ts"
import { IngressStore } from "../../IngressStore.ts"
import * as SessionDigest from "../../SessionDigest.ts"
import type { StreamAddress } from "../../StreamAddress.ts"
import * as StreamLine from "../../StreamLine.ts"
import type { Promises } from "../IngressStoreSuite.ts"
import { append, native, newStream } from "./lines.ts"

const entries = (...values: ReadonlyArray<object>) =>
  values.map((value, i) => {
    const line = StreamLine.ofEntry(JSON.stringify(value), `k${JSON.stringify(value)}${i}`)
    assert.ok(line._tag === "Success")
    return line.success
  })

const put = (stream: StreamAddress, ...values: ReadonlyArray<object>) =>
  append(stream, AppendChain.native(entries(...values), { lastUuid: "*" }))

const user = (content: string, more: object = {}) => ({ type: "user", message: { role: "user", content }, ...more })

const summaries = (tenant: string, query: { readonly project?: string } = {}) =>
  IngressStore.use((store) => store.sessions(tenant, { limit: 100, ...query })).pipe(
    Effect.map((all) => all.map(({ digest, session }) => ({ session, ...SessionDigest.summaryOf(digest) })))
  )

/** The promises, by their names. */
export const listing: Promises = {
  "sessions are listed by their ids, whatever was written last": Effect.gen(function* () {
    const stream = newStream()
    const { sessions } = yield* IngressStore
    for (const session of ["b", "A", "a-1", "a", "a_1"]) yield* append({ ...stream, session }, native("x .1"))
    const all = yield* sessions(stream.tenant, { limit: 10 })
    assert.deepEqual(
      all.map(({ session }) => session),
      ["A", "a", "a-1", "a_1", "b"]
    )
    assert.deepEqual(
      all.map(({ epoch, seq, uuid }) => [epoch, seq, uuid]),
      all.map(() => [0, 2, "x"])
    )
    assert.ok(all.every(({ bytes, updatedAt }) => bytes > 10 && updatedAt > 1_000_000_000_000))
  }),

  "pages of a list cover it": Effect.gen(function* () {
    const stream = newStream()
    const { sessions } = yield* IngressStore
    for (const session of ["a", "b", "c", "d", "e"]) yield* append({ ...stream, session }, native("x"))
    const found: Array<string> = []
    for (let after = ""; ;) {
      const page = yield* sessions(stream.tenant, { limit: 2, after })
      if (page.length === 0) break
      found.push(...page.map(({ session }) => session))
      after = found.at(-1)!
    }
    assert.deepEqual(found, ["a", "b", "c", "d", "e"])
  }),

  "what is said first stays, what is said last counts": Effect.gen(function* () {
    const stream = newStream()
    const at = (second: number) => ({ timestamp: `2026-01-01T00:00:0${second}.000Z` })
    yield* put(stream, user("hello", { cwd: "/a", gitBranch: "main", ...at(1) }))
    yield* put(stream, { type: "tag", tag: "one" }, { type: "ai-title", aiTitle: "generated" })
    yield* put(stream, user("later", { cwd: "/b", gitBranch: "topic", ...at(2) }), { type: "tag", tag: "two" })
    const said = { cwd: "/a", firstPrompt: "hello", gitBranch: "topic", tag: "two" }
    const times = { createdAt: at(1).timestamp, updatedAt: at(2).timestamp }
    assert.deepEqual(yield* summaries(stream.tenant), [{ session: "s1", ...said, ...times, title: "generated" }])
    yield* put(stream, { type: "custom-title", customTitle: "mine" })
    assert.equal((yield* summaries(stream.tenant))[0]?.title, "mine")
    yield* put(stream, { type: "custom-title", customTitle: "" })
    assert.equal((yield* summaries(stream.tenant))[0]?.title, "generated")
  }),

  "a command is the first prompt as long as there is no other": Effect.gen(function* () {
    const stream = newStream()
    yield* put(stream, user("<command-name>/init</command-name>"))
    assert.equal((yield* summaries(stream.tenant))[0]?.firstPrompt, "/init")
    yield* put(stream, user("do it"))
    assert.equal((yield* summaries(stream.tenant))[0]?.firstPrompt, "do it")
  }),

  "what was refused or was there already says nothing": Effect.gen(function* () {
    const stream = newStream()
    yield* put(stream, { type: "tag", tag: "one" })
    yield* Effect.ignore(append(stream, AppendChain.native(entries({ type: "tag", tag: "two" }), { lastUuid: "x" })))
    yield* put(stream, { type: "tag", tag: "three" })
    yield* put(stream, { type: "tag", tag: "one" })
    assert.equal((yield* summaries(stream.tenant))[0]?.tag, "three")
  }),

  "agents say nothing of their session": Effect.gen(function* () {
    const stream = newStream()
    yield* put({ ...stream, sub: "a1" }, user("task", { cwd: "/x" }), { type: "tag", tag: "of an agent" })
    assert.deepEqual(yield* summaries(stream.tenant), [{ session: "s1" }])
  }),

  "texts of any characters are listed as they are": Effect.gen(function* () {
    const stream = newStream()
    const tag = '“quoted” \\ \' " % é😀\u2028 {"a":1}'
    yield* put(stream, { type: "tag", tag })
    assert.equal((yield* summaries(stream.tenant))[0]?.tag, tag)
  }),

  "a project has its own sessions": Effect.gen(function* () {
    const stream = newStream()
    yield* put({ ...stream, session: "a" }, user("x", { cwd: "/srv/app" }))
    yield* put({ ...stream, session: "b" }, user("x", { cwd: "/srv/other" }))
    yield* put({ ...stream, session: "c" }, user("x", { cwd: "/srv/app" }), user("y", { cwd: "/srv/other" }))
    yield* put({ ...stream, session: "d" }, { type: "tag", tag: "no directory" })
    const of = (project: string) =>
      Effect.map(summaries(stream.tenant, { project }), (all) => all.map((s) => s.session))
    assert.deepEqual(yield* of("-srv-app"), ["a", "c"])
    assert.deepEqual(yield* of("-srv-other"), ["b"])
    assert.deepEqual(yield* of("-work"), [])
  })
}
