/** A client of the service that remembers what it was told, and asks again for what broke off. */
import * as assert from "node:assert/strict"
import { randomUUID } from "node:crypto"
import type { Event } from "../../examples/agent-service/Api.ts"
import * as Seeded from "../crash/seeded.ts"

/** A prompt, and what was told of its turn. */
export interface Asked {
  readonly promptId: string
  readonly steps: number
  readonly told: Array<Event>
  /** How often the stream broke off in the middle. */
  broken: number
}

export interface Client {
  readonly sessionId: string
  readonly asked: Array<Asked>
}

export const make = (): Client => ({ sessionId: randomUUID(), asked: [] })

const isOver = ({ told }: Asked): boolean => told.at(-1)?.type === "end"
const textOf = ({ steps }: Pick<Asked, "steps">): string => `Work in ${steps} steps`

export const put = (port: number, sessionId: string, promptId: string, body: unknown, signal?: AbortSignal) =>
  fetch(`http://127.0.0.1:${port}/sessions/${sessionId}/prompts/${promptId}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal })
  })

/** The events of an answer as they come; whole lines only. */
export async function* eventsOf(response: Response): AsyncGenerator<Event> {
  let rest = ""
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n")
    rest = lines.pop()!
    for (const line of lines) yield JSON.parse(line) as Event
  }
}

/** What the clients need of the campaign. */
export interface Surroundings {
  readonly port: () => Promise<number>
  readonly random: Seeded.Random
  readonly isEnding: () => boolean
  readonly hear: () => void
}

/** Says one prompt after the other, each up to the end of its turn, until the campaign ends. */
export const talk = async ({ asked, sessionId }: Client, around: Surroundings): Promise<void> => {
  do {
    const next: Asked = { promptId: randomUUID(), steps: Seeded.below(around.random, 4), told: [], broken: 0 }
    asked.push(next)
    while (!isOver(next)) {
      // Some are so impatient that they ask twice at a time.
      const ears = around.random() < 0.2 ? 2 : 1
      await Promise.all(Array.from({ length: ears }, () => listen(sessionId, next, around)))
    }
    // One that is over is told again as it was.
    const earlier = asked[Seeded.below(around.random, asked.length)]!
    if (around.random() < 0.3) await listen(sessionId, earlier, around)
  } while (!around.isEnding())
}

/** Asks for a turn, until it is over or the stream breaks off. What was told of it before is told again, word for word. */
const listen = async (sessionId: string, turn: Asked, around: Surroundings): Promise<void> => {
  const port = await around.port()
  // Some clients hang up in the middle, and come back.
  const patience = around.random() < 0.15 ? Seeded.below(around.random, 6) : Infinity
  const leaving = new AbortController()
  let count = 0
  try {
    const response = await put(port, sessionId, turn.promptId, { text: textOf(turn) }, leaving.signal)
    if (response.status !== 200) throw new assert.AssertionError({ message: await response.text() })
    for await (const event of eventsOf(response)) {
      if (count < turn.told.length) assert.deepEqual(event, turn.told[count], "told otherwise than before")
      else turn.told.push(event)
      count++
      around.hear()
      if (count > patience) leaving.abort()
    }
    assert.ok(isOver(turn), "the stream ended before the turn")
    assert.equal(count, turn.told.length, "told less than before")
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
    if (count > 0) turn.broken++
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
