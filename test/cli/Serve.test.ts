import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Temporary from "../ingress/temporary.ts"
import * as Cluster from "../postgres/cluster.ts"
import * as Shared from "../postgres/shared.ts"
import { run, running } from "./running.ts"

const places = Effect.map(Temporary.directory, (directory) => path.join(directory, "data"))

/** A server of the command, as it says that it listens: its address and the first token. */
const serving = Effect.fnUntraced(function* (data: string, ...args: ReadonlyArray<string>) {
  const { fiber, out, until } = yield* running("serve", "--data", data, "--port", "0", ...args)
  yield* until("listening on ")
  const [, url] = /listening on (\S+),/.exec(out())!
  return { out, fiber, url: url!, token: /^sli_\S+/.exec(out())?.[0] ?? "" }
})

const ask = (url: string, token: string, method = "GET", body?: string) =>
  Effect.promise(async () => {
    const response = await fetch(url, { method, headers: { authorization: `Bearer ${token}` }, ...(body && { body }) })
    return { status: response.status, text: await response.text() }
  })

describe("reprise serve", () => {
  it.live("makes what it needs, prints a token once, and keeps what it was given", () =>
    Effect.gen(function* () {
      const data = yield* places
      const entry = '{"type":"user","uuid":"a"}'
      const first = yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* serving(data)
          assert.match(server.token, /^sli_[0-9a-f]{16}_[A-Za-z0-9_-]{43}$/)
          assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+\/v1\/session_ingress$/)
          assert.strictEqual((yield* ask(`${server.url}/session/s1`, server.token, "PUT", entry)).status, 201)
          assert.strictEqual((yield* ask(`${server.url}/session/s1`, "nobody")).status, 401)
          return server
        })
      )
      assert.deepStrictEqual(fs.readdirSync(data).toSorted(), ["ingress.db", "tokens.jsonl"])
      assert.strictEqual(fs.statSync(data).mode & 0o777, 0o700)
      const second = yield* serving(data)
      assert.notInclude(second.out(), "sli_")
      const { text } = yield* ask(`${second.url}/session/s1`, first.token)
      assert.strictEqual(text, `{"loglines":[${entry}]}\n`)

      // A token that is made beside it opens the door without a restart.
      const made = yield* run("serve", "token", "acme", "--data", data, "--scope", "read:session/s1")
      yield* Effect.repeat(Effect.delay(ask(`${second.url}/session/s1`, made.out.trim()), "50 millis"), {
        until: ({ status }) => status === 404
      })
    })
  )

  it.live.skipIf(Cluster.binaries === undefined)("keeps sessions in PostgreSQL where it is told so", () =>
    Effect.gen(function* () {
      const { url } = yield* Shared.cluster
      const data = yield* places
      const server = yield* serving(data, "--postgres", url)
      assert.match(server.out(), /, PostgreSQL\n/)
      assert.strictEqual((yield* ask(`${server.url}/session/s1`, server.token, "PUT", '{"uuid":"a"}')).status, 201)
      assert.deepStrictEqual(fs.readdirSync(data), ["tokens.jsonl"])
      yield* Fiber.interrupt(server.fiber)
    })
  )

  it.live("listens for others when it is told twice, and not before", () =>
    Effect.gen(function* () {
      const data = yield* places
      for (const host of ["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example.org"]) {
        const { failure, noted } = yield* run("serve", "--host", host, "--data", data)
        assert.strictEqual(failure, "Unwritten")
        assert.match(noted, /others can reach .* --insecure-bind/)
      }
      assert.isFalse(fs.existsSync(data))
      yield* serving(data, "--host", "0.0.0.0", "--insecure-bind")
    })
  )

  it.live("says what is wrong with a scope, a directory or a database", () =>
    Effect.gen(function* () {
      const data = yield* places
      const scope = yield* run("serve", "token", "acme", "--data", data, "--scope", "write")
      assert.match(scope.noted, /expected --scope to be append, read, .*found write/)
      assert.deepStrictEqual(fs.readdirSync(data), [])
      const url = "postgres://nobody:secret@127.0.0.1:1/x"
      const database = yield* run("serve", "--data", data, "--postgres", url)
      assert.match(database.noted, /the store PostgreSQL could not be opened/)
      assert.notInclude(database.noted, "secret")
      fs.writeFileSync(path.join(data, "file"), "")
      assert.match((yield* run("serve", "--data", path.join(data, "file"))).noted, /cannot be made.*See --data/)
    })
  )
})
