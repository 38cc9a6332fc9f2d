/** The example service: what it refuses, and a share of its kill campaign (`npm run kill-service`). */
import { assert, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import type { Event } from "../../examples/agent-service/Api.ts"
import * as Client from "./client.ts"
import * as Kill from "./kill.ts"
import * as Process from "./process.ts"

const step = ["reply", "reply", "reply", "result", "result"]

const collect = async <A>(items: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const all: Array<A> = []
  for await (const item of items) all.push(item)
  return all
}

describe("the agent service", () => {
  it("refuses what does not fit, is not there, or cannot be now, and says why", { timeout: 120_000 }, async () => {
    const projects = fs.mkdtempSync(path.join(os.tmpdir(), "reprise-service-"))
    const service = Process.start(projects, 50)
    try {
      const port = await service.port
      const [session, first, second] = [randomUUID(), randomUUID(), randomUUID()]
      const json = async (response: Response): Promise<Record<string, unknown>> => ({
        status: response.status,
        ...((await response.json()) as object)
      })
      const get = async (of = "") => json(await fetch(`http://127.0.0.1:${port}/sessions${of}`))
      const put = (promptId: string, body: unknown, sessionId: string = session) =>
        Client.put(port, sessionId, promptId, body)

      assert.deepInclude(await json(await put(first, { text: "" })), { status: 400, title: "Bad Request" })
      assert.deepInclude(await json(await put(first, {})), { status: 400, title: "Bad Request" })
      assert.deepInclude(await json(await put(first, { text: "x" }, "..%2fx")), {
        status: 400,
        errors: [{ path: ["params", "sessionId"], message: "Expected a GUID" }]
      })
      assert.deepInclude(await get(`/${session}`), { status: 404, _tag: "UnknownSession", sessionId: session })
      assert.deepStrictEqual(await get(), { status: 200, sessions: [] })

      const running = await put(first, { text: "Work in 2 steps" })
      assert.deepInclude(await json(await put(second, { text: "More" })), {
        status: 409,
        _tag: "TurnRunning",
        promptId: first
      })
      const told = await collect(Client.eventsOf(running))
      assert.deepStrictEqual(
        told.map(({ type }) => type),
        ["prompt", ...step, ...step, "reply", "end"]
      )
      assert.deepInclude(await json(await put(first, { text: "Else" })), { status: 409, _tag: "PromptTaken" })
      assert.deepInclude(await json(await put(told[1]!.uuid, { text: "Else" })), { status: 409, _tag: "PromptTaken" })
      assert.deepStrictEqual(await collect(Client.eventsOf(await put(first, { text: "Work in 2 steps" }))), told)
      assert.deepStrictEqual(await get(), { status: 200, sessions: [session] })
      assert.deepStrictEqual(await get(`/${session}`), { status: 200, sessionId: session, events: told })
    } finally {
      await service.kill()
      fs.rmSync(projects, { recursive: true, force: true })
    }
  })

  it("goes on with a turn after a kill, though nobody asks for it", { timeout: 120_000 }, async () => {
    const projects = fs.mkdtempSync(path.join(os.tmpdir(), "reprise-service-"))
    let service = Process.start(projects, 20)
    try {
      const [session, prompt] = [randomUUID(), randomUUID()]
      const answer = await Client.put(await service.port, session, prompt, { text: "Work in 2 steps" })
      const told: Array<Event> = []
      for await (const event of Client.eventsOf(answer)) if (told.push(event) === 2) break
      await service.kill()
      service = Process.start(projects, 0)
      const port = await service.port
      let events: ReadonlyArray<Event> = []
      while (events.at(-1)?.type !== "end") {
        const shown = await fetch(`http://127.0.0.1:${port}/sessions/${session}`)
        ;({ events } = (await shown.json()) as { events: ReadonlyArray<Event> })
      }
      assert.deepStrictEqual(events.slice(0, 2), told)
      assert.strictEqual(events.filter(({ type }) => type === "result").length, 4)
    } finally {
      await service.kill()
      fs.rmSync(projects, { recursive: true, force: true })
    }
  })

  it(
    "survives kill -9: no session lost or doubled, nothing told is missing, each turn goes on once",
    { timeout: 240_000 },
    async () => {
      const outcomes = await collect(Kill.campaign(2, 7))
      assert.deepStrictEqual(
        outcomes.flatMap(({ failure, name }) => (failure === undefined ? [] : [`${name}: ${String(failure)}`])),
        []
      )
      assert.strictEqual(outcomes.length, 3)
    }
  )
})
