/**
 * Programs that wait for one session while whoever has it is killed, and whoever takes it over as well.
 *
 * 1. At most one has the session at any moment: turns do not overlap, in time or in the log.
 * 2. A turn that was closed is in the log whole, one that was killed holds all that was flushed.
 * 3. Somebody gets the session, however the one before died; of the dead nothing is left beside the log.
 */
import * as Message from "@reprise/domain/Message"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Transcript from "@reprise/storage/Transcript"
import { Effect, Layer } from "effect"
import * as assert from "node:assert/strict"
import { type ChildProcess, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import * as readline from "node:readline"
import { fileURLToPath } from "node:url"
import { env } from "../compiled.ts"
import * as Temporary from "../storage/temporary.ts"
import * as Logged from "./logged.ts"
import * as Seeded from "./seeded.ts"

const contender = fileURLToPath(new URL("contender.ts", import.meta.url))
const sessionId = "00000000-0000-4000-8000-000000000001"

/** What a program did while it had the session: times are nanoseconds of a clock that all programs share. */
interface Turn {
  readonly name: string
  readonly from: bigint
  to: bigint
  accepted: number
  flushed: number
  isClosed: boolean
}

interface Contenders {
  readonly turns: Array<Turn>
  readonly running: Set<ChildProcess>
  readonly owner: () => ChildProcess | undefined
  /** Whoever has not been killed and ends was wrong. */
  readonly start: (random: Seeded.Random, diesAt: number) => void
  deaths: number
  failure: string | undefined
}

const contending = (projects: string): Contenders => {
  let owner: ChildProcess | undefined
  const self: Contenders = {
    turns: [],
    running: new Set(),
    owner: () => owner,
    deaths: 0,
    failure: undefined,
    start: (random, diesAt) => {
      const seed = Seeded.below(random, 1 << 30)
      const running = spawn(process.execPath, [contender, projects, sessionId, String(seed), String(diesAt)], {
        stdio: ["ignore", "pipe", "inherit"],
        env
      })
      self.running.add(running)
      let turn: Turn | undefined
      readline.createInterface({ input: running.stdout }).on("line", (line) => {
        const [time = "0", what = "", number = ""] = line.split(" ")
        const at = BigInt(time)
        if (what === "open") {
          owner = running
          turn = { name: `${running.pid} ${number}`, from: at, to: at, accepted: -1, flushed: -1, isClosed: false }
          self.turns.push(turn)
        }
        if (turn === undefined) return
        turn.to = at
        if (what === "accepted") turn.accepted = Number(number)
        if (what === "flushed") turn.flushed = Number(number)
        if (what === "closing") turn.isClosed = true
        if (what === "closing" && owner === running) owner = undefined
        if (what === "foreign") self.failure ??= `${turn.name} found bytes of another writer`
      })
      running.on("close", (_, signal) => {
        self.running.delete(running)
        self.deaths++
        if (owner === running) owner = undefined
        if (signal !== "SIGKILL") self.failure ??= `${running.pid} ended by itself`
      })
    }
  }
  return self
}

/** A machine that is busy takes its time to start a program. */
const PATIENCE = 30_000

/** Four programs on one session until so many were killed. */
export const once = (random: Seeded.Random, deaths = 8) =>
  Effect.gen(function* () {
    const projects = yield* Temporary.directory
    const contenders = yield* Effect.acquireRelease(
      Effect.sync(() => contending(projects)),
      ({ running }) => Effect.sync(() => running.forEach((one) => one.kill("SIGKILL")))
    )
    const { turns } = contenders
    let since = { turns: 0, at: performance.now() }
    while (contenders.deaths < deaths || contenders.owner() === undefined) {
      while (contenders.running.size < 4) {
        contenders.start(random, random() < 0.6 ? Seeded.below(random, 14) : -1)
      }
      yield* Effect.sleep(`${Seeded.below(random, 20)} millis`)
      const victim = contenders.owner()
      if (victim !== undefined && random() < 0.3) {
        victim.kill("SIGKILL")
        // Those who wait find it dead at once, and one of them is taking over.
        yield* Effect.sleep(`${Seeded.below(random, 3)} millis`)
        if (random() < 0.5) [...contenders.running].at(Seeded.below(random, contenders.running.size))?.kill("SIGKILL")
      }
      if (turns.length > since.turns) since = { turns: turns.length, at: performance.now() }
      assert.ok(performance.now() - since.at < PATIENCE, "nobody gets the session")
      assert.equal(contenders.failure, undefined)
    }
    // The last owner dies with all the others.
    for (const one of contenders.running) one.kill("SIGKILL")
    while (contenders.running.size > 0) yield* Effect.sleep("1 millis")
    assert.equal(contenders.failure, undefined)
    mustNotOverlap(turns)
    const { texts, torn } = yield* Logged.read(projects, sessionId)
    assert.ok(torn <= contenders.deaths, `${torn} torn lines of ${contenders.deaths} dead`)
    mustHold(texts, turns)
    yield* mustBeFree(projects, texts)
  }).pipe(Effect.scoped)

const mustNotOverlap = (turns: ReadonlyArray<Turn>): void => {
  const inTime = turns.toSorted((a, b) => (a.from < b.from ? -1 : 1))
  for (const [i, { from, name }] of inTime.entries()) {
    const before = inTime[i - 1]
    assert.ok(before === undefined || before.to < from, `${before?.name} still had the session when ${name} got it`)
  }
}

/** The log, turn by turn, holds what each was promised; a turn that was killed before it said so may be there as well. */
const mustHold = (texts: ReadonlyArray<string>, turns: ReadonlyArray<Turn>): void => {
  const written = new Map<string, Array<number>>()
  let last = ""
  for (const text of texts) {
    const [pid, turn, n] = text.split(" ")
    const name = `${pid} ${turn}`
    assert.ok(name === last || !written.has(name), `${name} wrote again behind ${last}`)
    written.set(name, [...(written.get(name) ?? []), Number(n)])
    last = name
  }
  for (const { accepted, flushed, isClosed, name } of turns) {
    const numbers = written.get(name) ?? []
    const [first = 0] = numbers
    assert.deepEqual(
      numbers,
      Array.from(numbers, (_, i) => first + i),
      `${name}: not a prefix of what was accepted`
    )
    const end = numbers.at(-1) ?? -1
    assert.ok(end >= (isClosed ? accepted : flushed), `${name}: written up to ${end}, promised more`)
    assert.ok(end <= accepted + 1, `${name}: written up to ${end}, more than was accepted`)
  }
}

/** Nothing of the dead is in the way, and what the next owner leaves is the log. */
const mustBeFree = (projects: string, texts: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const folder = path.join(projects, "-work")
    const isOwned = fs.existsSync(path.join(folder, `${sessionId}.lock`))
    const layer = SessionWriter.layer.pipe(Layer.provideMerge(FileEntryLog.layerWith({ projects })))
    const next = Transcript.open({ sessionId, cwd: "/work", version: "2.1.0" }).pipe(
      Effect.flatMap((transcript) => transcript.append(Message.user("next"))),
      Effect.scoped
    )
    yield* Effect.provide(next, layer)
    assert.deepEqual((yield* Logged.read(projects, sessionId)).texts, [...texts, "next"])
    // What was killed while it was made holds no name that would tell whose it is.
    const left = fs.readdirSync(folder).filter((name) => fs.statSync(path.join(folder, name)).size > 0)
    if (isOwned)
      assert.deepEqual(left, [path.basename(EntryLog.pathOf(projects, EntryLog.session("-work", sessionId)))])
  })
