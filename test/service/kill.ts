/**
 * kill -9 of the service under load: it is killed where chance wants, its logs are compared with what clients were told,
 * and it is started again. In the end all turns are over, and the logs hold what was told and nothing else.
 */
import { Effect } from "effect"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Seeded from "../crash/seeded.ts"
import type * as Running from "../running.ts"
import * as Check from "./check.ts"
import * as Client from "./client.ts"
import * as Process from "./process.ts"

/** What became of a kill, or (the last one) of the whole. */
export interface Outcome {
  readonly name: string
  readonly failure: unknown
}

const SESSIONS = 6
const PAUSE = 2
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

export async function* campaign(kills: number, seed: number): AsyncGenerator<Outcome> {
  const random = Seeded.make(seed)
  const projects = fs.mkdtempSync(path.join(os.tmpdir(), "reprise-service-"))
  const clients = Array.from({ length: SESSIONS }, Client.make)
  let service = Process.start(projects, PAUSE)
  let heard = 0
  let isEnding = false
  const port = async (): Promise<number> => {
    // One that is killed before it listens never does: then it is the next one's.
    for (;;) {
      const found = await Promise.race([service.port, sleep(50)])
      if (found !== undefined) return found
    }
  }
  const around = { port, random, isEnding: () => isEnding, hear: () => void heard++ }
  const talking = Promise.all(clients.map((client) => Client.talk(client, around)))
  const failed = talking.then(
    () => undefined,
    (error: unknown) => ({ error })
  )
  const check = (killed: number, isOver: boolean) =>
    Effect.runPromise(Check.logs(projects, clients, { kills: killed, isOver })).then(
      () => undefined,
      (error: unknown) => error
    )
  try {
    for (let kill = 1; kill <= kills; kill++) {
      // Some are killed while they resume.
      const isEarly = kill > 1 && random() < 0.2
      const until = heard + 1 + Seeded.below(random, 150)
      const early = 100 + Seeded.below(random, 400)
      const point = isEarly ? sleep(early) : reached(() => heard >= until)
      const broken = await Promise.race([point, failed, silence()])
      await service.kill()
      const failure = broken?.error ?? complaint(service) ?? (await check(kill, false))
      yield { name: `kill ${kill}, ${isEarly ? "while it resumed" : `after ${heard} events`}`, failure }
      if (broken !== undefined) return
      service = Process.start(projects, PAUSE)
    }
    isEnding = true
    const broken = await Promise.race([failed, silence()])
    await service.kill()
    const turns = clients.flatMap(({ asked }) => asked)
    const interrupted = turns.reduce((sum, { broken }) => sum + broken, 0)
    const name = `all: ${clients.length} sessions, ${turns.length} turns, ${interrupted} times broken off`
    yield { name, failure: broken?.error ?? complaint(service) ?? (await check(kills + 1, true)) }
  } finally {
    await service.kill()
    fs.rmSync(projects, { recursive: true, force: true })
  }
}

/** A campaign in which nothing happens any more has failed. */
const silence = () =>
  new Promise<{ readonly error: Error }>((resolve) => {
    const error = new Error("two minutes have passed, and the turns are not over")
    setTimeout(() => resolve({ error }), 120_000).unref()
  })

/** A service that is only killed has nothing to log: no session that is not resumed, no turn that failed. */
const complaint = ({ logged }: Running.Running): string | undefined =>
  /^(listening on \d+\n)?$/.test(logged()) ? undefined : logged()

const reached = async (isIt: () => boolean): Promise<undefined> => {
  while (!isIt()) await sleep(1)
  return undefined
}
