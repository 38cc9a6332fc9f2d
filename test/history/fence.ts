/**
 * The fence: a writer is frozen, another claims its session, and the first wakes up.
 *
 *   first    claims 1 ─ appends ─ frozen ·················· wakes ─ 403, ends
 *   second                            claims 2 ─ appends ─ appends ─ appends
 */
import * as HistoryChecker from "@reprise/ingress/testing/HistoryChecker"
import { Effect } from "effect"
import * as assert from "node:assert/strict"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import * as Seeded from "../crash/seeded.ts"
import { directory } from "../ingress/temporary.ts"
import * as Running from "../running.ts"
import { pause } from "./round.ts"
import * as Servers from "./servers.ts"
import * as Workload from "./workload.ts"

const program = fileURLToPath(new URL("writer.ts", import.meta.url))

/** What a writer has told so far: of an append the last that it said. */
const told = ({ logged }: Running.Running): ReadonlyArray<HistoryChecker.Event> => {
  const events = new Map<string, HistoryChecker.Event>()
  for (const line of logged().split("\n").slice(0, -1)) {
    const event = JSON.parse(line) as HistoryChecker.Event
    events.set(event._tag === "Append" ? event.lines[0]!.key : event._tag, { ...event, ended: event.ended ?? Infinity })
  }
  return [...events.values()]
}

const stored = (writer: Running.Running): number =>
  told(writer).filter((event) => event._tag === "Append" && event.answer._tag === "Stored").length

const until = async (is: () => boolean, what: string): Promise<void> => {
  for (let i = 0; i < 6_000; i++) {
    if (is()) return
    await pause(10)
  }
  throw new Error(`a minute has passed, and ${what} has not happened`)
}

export const run = Effect.fnUntraced(function* (seed: number) {
  const random = Seeded.make(seed)
  const file = path.join(yield* directory, "ingress.sqlite")
  const { addresses } = yield* Servers.make([{ store: file }], { seed, percent: 0 })
  const target = { session: "fenced", sub: "" }
  const writer = (name: string) =>
    Effect.acquireRelease(
      Effect.sync(() => Running.start(["--no-warnings", program, addresses[0]!, target.session, name])),
      ({ kill }) => Effect.promise(kill)
    )
  const first = yield* writer("first")
  yield* Effect.promise(() => until(() => stored(first) > 3, "an append of the first"))
  // Anywhere in its loop, also between a request and its answer.
  yield* Effect.sleep(random() * 50)
  first.signal("SIGSTOP")
  const second = yield* writer("second")
  yield* Effect.promise(() => until(() => stored(second) > 3, "an append of the second"))
  const before = stored(second)
  first.signal("SIGCONT")
  yield* Effect.promise(() => until(() => told(first).some(isFenced), "the end of the first"))
  yield* Effect.promise(() => first.closed)
  yield* Effect.promise(() => until(() => stored(second) > before + 3, "more of the second"))
  yield* Effect.promise(second.kill)

  const history = [...told(first), ...told(second)]
  const logs = yield* Workload.logsOf(yield* Workload.client(addresses, 10_000), [target])
  assert.ok(!told(second).some(isFenced), "the second was fenced off")
  const violations = HistoryChecker.check(history, logs)
  return { violations, summary: `${stored(first)} lines of the first, ${stored(second)} of the second` }
}, Effect.scoped)

const isFenced = (event: HistoryChecker.Event): boolean => event._tag === "Append" && event.answer._tag === "Fenced"
