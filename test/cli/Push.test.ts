import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { sessionId, text, world } from "./remote.ts"
import { run, running } from "./running.ts"

const mode = `${JSON.stringify({ type: "mode", mode: "plan", sessionId })}\n`

describe("reprise push", () => {
  it.live("sends what the remote lacks, and says where it is", () =>
    Effect.gen(function* () {
      const { here, there, url } = yield* world
      fs.writeFileSync(here.main, text("u1-a1") + mode)
      const first = yield* here.reprise("push", here.main)
      assert.deepStrictEqual([first.failure, first.out], [undefined, ""])
      assert.strictEqual(first.noted, `all is at ${url.replace("/v1/session_ingress", "")}\n`)
      assert.strictEqual(yield* there(), text("u1-a1") + mode)
      fs.appendFileSync(here.main, `${mode}{"torn`)
      const { out } = yield* here.reprise("push", sessionId, "--json")
      assert.deepStrictEqual(JSON.parse(out), {
        file: here.main,
        ok: true,
        urls: [url.replace("/v1/session_ingress", "")],
        aside: 0,
        unnamed: [],
        open: 6
      })
      assert.strictEqual(yield* there(), text("u1-a1") + mode + mode)
    })
  )

  it.live("what the remote does not take is kept, and said", () =>
    Effect.gen(function* () {
      const { here, there } = yield* world
      const [u1] = text("u1").split("\n") as [string]
      fs.writeFileSync(here.main, `${u1}\n${u1.replace("[u1]", "else")}\n${mode.slice(0, 5)}`)
      const { noted } = yield* here.reprise("push", here.main)
      assert.include(
        noted,
        `but 1 line that it does not take, kept in ${here.main}.conflicts, and 5 bytes of a last line`
      )
      assert.strictEqual(yield* there(), `${u1}\n`)
    })
  )

  it.live("an agent with a name that no remote takes is named", () =>
    Effect.gen(function* () {
      const { here } = yield* world
      const agents = path.join(here.main.slice(0, -".jsonl".length), "subagents")
      fs.writeFileSync(here.main, text("u1"))
      fs.mkdirSync(agents, { recursive: true })
      fs.writeFileSync(path.join(agents, "agent-a.b.jsonl"), text("u1~a"))
      const { failure, noted } = yield* here.reprise("push", here.main)
      assert.isUndefined(failure)
      assert.include(noted, `but no agent with a name that it does not take, or that another has: ${agents}`)
    })
  )

  it.live("what may go well later exits with 75, what another has for good with 1", () =>
    Effect.gen(function* () {
      const { elsewhere, here, store } = yield* world
      fs.writeFileSync(here.main, text("u1"))
      const away = ["push", here.main, "--url", "http://127.0.0.1:1", "--token-file", here.tokenFile, "--wait", "1"]
      const { failure, noted } = yield* run(...away)
      assert.strictEqual(failure, "Unwritten")
      assert.include(noted, "bytes behind; waits and tries again: expected an answer of http://127.0.0.1:1")
      yield* here.reprise("push", here.main)
      yield* store.claim("t", sessionId, "elsewhere")
      fs.appendFileSync(here.main, mode)
      const fenced = yield* here.reprise("push", here.main, "--json")
      assert.deepStrictEqual([fenced.failure, JSON.parse(fenced.out).error._tag], ["Unwritten", "StillBehind"])
      assert.include(JSON.parse(fenced.out).error.message, "another writer has claimed the session (epoch 2)")
      assert.isUndefined((yield* here.reprise("push", here.main, "--take-over")).failure)
      fs.writeFileSync(elsewhere.main, text("u9"))
      assert.include((yield* elsewhere.reprise("push", elsewhere.main)).noted, "is not in the log. Hydrate")
    })
  )

  it.live("goes on with what is written, where it is told to", () =>
    Effect.gen(function* () {
      const { here, there, url } = yield* world
      fs.writeFileSync(here.main, text("u1"))
      yield* running("push", here.main, "--follow", "--url", url, "--token-file", here.tokenFile)
      const until = (log: string) => Effect.repeat(Effect.delay(there(), "20 millis"), { until: (now) => now === log })
      yield* until(text("u1"))
      fs.appendFileSync(here.main, mode)
      yield* until(text("u1") + mode)
    })
  )

  it.live("speaks the older profile where it is told to", () =>
    Effect.gen(function* () {
      const { here, there } = yield* world
      fs.writeFileSync(here.main, text("u1-a1") + mode)
      assert.isUndefined((yield* here.reprise("push", here.main, "--compat")).failure)
      assert.strictEqual(yield* there(), text("u1-a1"))
    })
  )
})
