/**
 * A writer that is frozen (SIGSTOP) loses its session to a second one, wakes up, and hears so: none of its lines is behind
 * one of the other's.
 */
import * as Ingress from "@reprise/ingress/Ingress"
import * as Replicator from "@reprise/ingress/Replicator"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import { Effect } from "effect"
import * as assert from "node:assert/strict"
import * as fs from "node:fs"
import * as path from "node:path"
import type * as Seeded from "../crash/seeded.ts"
import { below } from "../crash/seeded.ts"
import * as Temporary from "../ingress/hydrated.ts"
import * as Remote from "./remote.ts"
import * as Replicating from "./running.ts"

const sessionId = "00000000-0000-4000-8000-0000000000fe"

const line = (who: string, n: number) => `${JSON.stringify({ type: "user", uuid: `${who}${n}`, sessionId })}\n`

export const once = (random: Seeded.Random) =>
  Effect.gen(function* () {
    const directory = yield* Temporary.directory
    const [first, second] = ["first", "second"].map((home) => {
      const project = path.join(directory, home, "projects", "-work")
      fs.mkdirSync(project, { recursive: true })
      return path.join(project, `${sessionId}.jsonl`)
    }) as [string, string]
    const remote = yield* Remote.make("sqlite", { seed: 1, percent: 0 })
    let written = 0
    const write = (count: number): void => {
      for (let i = 0; i < count; i++) fs.appendFileSync(first, line("first-", written++))
    }
    write(20)
    const frozen = Replicating.start(first, remote.url)
    yield* Effect.addFinalizer(() => Effect.promise(() => frozen.kill()))
    yield* Effect.promise(() => frozen.until(({ _tag }) => _tag === "Live"))
    // It is frozen somewhere in the sending of these.
    write(200)
    yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, below(random, 20))))
    frozen.signal("SIGSTOP")
    const before = yield* remote.text(sessionId)
    write(50)

    fs.writeFileSync(second, before)
    const replicator = yield* Replicator.make(second, { claim: "anew" }).pipe(
      Effect.provideService(Ingress.Ingress, yield* remote.client),
      Effect.provide(FileEntryLog.layerWith({ projects: path.join(directory, "second", "projects") }))
    )
    for (let i = 0; i < 30; i++) fs.appendFileSync(second, line("second-", i))
    const drained = yield* replicator.drain("20 seconds")
    // What was on its way when it froze may have arrived meanwhile, before the claim.
    if (drained.status._tag === "Live") assert.equal(drained.bytes, 0)
    else assert.equal(drained.status._tag, "Diverged")

    frozen.signal("SIGCONT")
    const told = yield* Effect.promise(() => frozen.until(({ _tag }) => _tag === "Fenced"))
    assert.equal(told._tag === "Fenced" && told.epoch, 2)
    write(10)
    yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 300)))
    const after = yield* remote.text(sessionId)
    const owners = after.split("\n").flatMap((text) => (text === "" ? [] : [JSON.parse(text).uuid.split("-")[0]]))
    const switches = owners.filter((owner, i) => i > 0 && owner !== owners[i - 1])
    assert.deepEqual(
      switches,
      drained.status._tag === "Live" ? ["second"] : [],
      "a line of the frozen writer came late"
    )
    return drained.status._tag
  }).pipe(Effect.scoped)
