/**
 * Appending with Reprise, as `appendFloors` does it without.
 */
import type * as Entry from "@reprise/domain/Entry"
import * as Line from "@reprise/domain/Line"
import * as Routing from "@reprise/domain/Routing"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Transcript from "@reprise/storage/Transcript"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Result from "effect/Result"
import * as fs from "node:fs"
import * as path from "node:path"
import { latencies, offering } from "./appendFloors.ts"
import { type Args, type Run, timed, type Variant } from "./compare.ts"
import { entries } from "./entries.ts"

type Written = Entry.Known | Entry.Unknown
type Services = EntryLog.EntryLog | SessionWriter.SessionWriter

interface State {
  readonly entries: ReadonlyArray<Written>
  readonly projects: string
  readonly runtime: ManagedRuntime.ManagedRuntime<Services, never>
  readonly args: Args
}

const sessionId = "00000000-0000-4000-8000-000000000001"
const log = EntryLog.session("-work", sessionId)

const setup =
  (options: SessionWriter.Options) =>
  async (args: Args): Promise<State> => {
    const projects = path.join(args.scratch, `ours-${process.pid}`)
    const layer = SessionWriter.layerWith(options).pipe(Layer.provideMerge(FileEntryLog.layerWith({ projects })))
    const runtime = ManagedRuntime.make(layer)
    await runtime.runPromise(Effect.void)
    return {
      entries: entries(Number(args["entries"]), Number(args["seed"])) as unknown as ReadonlyArray<Written>,
      projects,
      runtime,
      args
    }
  }

/** The log goes and its directory stays: the floors find theirs too. */
const cleared = async <A>({ projects, runtime }: State, run: Promise<A>): Promise<A> => {
  const result = await run
  await runtime.runPromise(EntryLog.EntryLog.use((port) => port.release(log)))
  fs.rmSync(EntryLog.pathOf(projects, log))
  return result
}

const variant = (
  note: string,
  job: (entries: ReadonlyArray<Written>) => Effect.Effect<unknown, unknown, Services>
): Variant => ({
  note,
  setup: setup({}),
  run: (state: State): Promise<Run> => {
    const whole = job(state.entries).pipe(Effect.andThen(SessionWriter.SessionWriter.use(({ flush }) => flush())))
    const time = timed(() => state.runtime.runPromise(whole))
    return cleared(
      state,
      time.then((measured) => ({ ...measured, n: state.entries.length }))
    )
  }
})

/** Without a sync. */
export const ours: { readonly [name: string]: Variant } = {
  appendAll: variant("ours: arrays of 100", (entries) =>
    SessionWriter.SessionWriter.use(
      Effect.fnUntraced(function* (writer) {
        for (let i = 0; i < entries.length; i += 100) yield* writer.appendAll(log, entries.slice(i, i + 100))
      })
    )
  ),
  append: variant("ours: one at a time", (entries) =>
    SessionWriter.SessionWriter.use(
      Effect.fnUntraced(function* (writer) {
        for (const entry of entries) yield* writer.append(log, entry)
      })
    )
  ),
  routed: variant("ours: one at a time, through the router", (entries) =>
    SessionWriter.SessionWriter.use(
      Effect.fnUntraced(function* (writer) {
        const seen = new Set<string>()
        for (const entry of entries) {
          yield* writer.submit((offer) => {
            const decision = Routing.decide(seen, entry)
            if (Result.isFailure(decision)) return
            if (decision.success.writes.length > 0) offer(log, entry, Line.encode(entry))
            seen.add((entry as { readonly uuid: string }).uuid)
          })
        }
      })
    )
  ),
  transcript: variant("ours: one at a time, as a session: opened, routed, chained, closed", (entries) =>
    Effect.scoped(
      Effect.gen(function* () {
        const transcript: Transcript.Transcript = yield* Transcript.open({
          sessionId,
          cwd: "/work",
          version: "2.1.0",
          log
        })
        for (const entry of entries) yield* transcript.appendEntry(entry)
      })
    )
  )
}

/** Until the disk has it. */
export const durableOurs: { readonly [name: string]: Variant } = {
  appendDurable: {
    note: "ours: one at a time, policy fsync, acknowledged each",
    setup: setup({ durability: "fsync" }),
    run: (state: State) => {
      const times: Array<number> = []
      const job = SessionWriter.SessionWriter.use(
        Effect.fnUntraced(function* (writer) {
          for (const entry of state.entries) {
            const start = performance.now()
            yield* writer.appendDurable(log, entry)
            times.push(performance.now() - start)
          }
        })
      )
      const time = timed(() => state.runtime.runPromise(job))
      return cleared(
        state,
        time.then(({ cpuMs }) => latencies(times, cpuMs))
      )
    }
  },
  underLoad: {
    note: "ours under load: policy fsync, acknowledged as offered",
    setup: setup({ durability: "fsync" }),
    run: async (state: State) => {
      const times: Array<number> = []
      const writer = await state.runtime.runPromise(SessionWriter.SessionWriter)
      const { rate, seconds } = state.args
      const time = timed(async () => {
        await offering(state.entries, Number(rate), Number(seconds), (due, now) => {
          const written = Effect.andThen(writer.appendAll(log, due as ReadonlyArray<Written>), writer.flush([log]))
          const acknowledge = Effect.sync(() => {
            const at = performance.now()
            for (const _ of due) times.push(at - now)
          })
          state.runtime.runFork(Effect.andThen(written, acknowledge))
        })
        await state.runtime.runPromise(writer.flush())
      })
      return cleared(
        state,
        time.then(({ cpuMs }) => latencies(times, cpuMs))
      )
    }
  }
}
