/**
 * SessionFork: a session copied under a new id, up to a message or whole, with its sidechains.
 *
 *   source ─ one pass: the plan (which entries, by place) ─┐
 *   source ─ window of 1 MiB ─ entry ─ ids mapped as bytes ─▶ batch of 1 MiB ─▶ target
 *
 * 1. The source is only read. What others append to it meanwhile is not in the fork.
 * 2. No log is held: a plan weighs what the links of its messages weigh, and texts pass through one window.
 * 3. Sidechains come first and the main lane last, so who finds the fork finds all of it. Its session is claimed meanwhile.
 * 4. The new id of a message is made of that of the new session and its own: the same wherever it is named.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Fork from "@reprise/domain/Fork"
import * as Identifier from "@reprise/domain/Identifier"
import type * as Line from "@reprise/domain/Line"
import type * as Projection from "@reprise/domain/Projection"
import * as Verbatim from "@reprise/domain/Verbatim"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import * as EntryLog from "./EntryLog.ts"
import * as Reasons from "./internal/reasons.ts"
import * as Session from "./internal/session.ts"
import * as LineReader from "./LineReader.ts"
import * as ProjectPath from "./ProjectPath.ts"
import * as SessionLock from "./SessionLock.ts"

/**
 * A session that cannot be made: its id is none, or a log of it exists.
 *
 * @category errors
 * @since 0.1.0
 */
export class ForkUnfit extends Schema.TaggedError<ForkUnfit>()("ForkUnfit", {
  sessionId: Schema.String,
  found: Schema.Literals(["NoId", "Exists", "Sidechain"])
}) {
  override get message(): string {
    if (this.found === "Exists")
      return `expected an id that no session has, found ${this.sessionId}; leave it out for a new one`
    if (this.found === "Sidechain")
      return "expected the log of a session, found an agent's own; name that of its session"
    return `expected a UUID as the id of a session, found ${JSON.stringify(this.sessionId)}`
  }
}

/**
 * What is forked, and to where. `plan` decides what is copied: `ForkPlan.projection` of recovery does.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly plan: Projection.Projection<Line.Located, Result.Result<Fork.Plan, Fork.NoForkPoint>>
  /** The id of the fork, a UUID that no session has; by default a new one. */
  readonly sessionId?: string
  /** The session of the source where its log is not named by it. */
  readonly source?: string
  /** The project of the fork: a key or an absolute directory; by default that of the source. */
  readonly project?: string
}

/**
 * A fork: its session and log, the message it ends at, and how much was copied.
 *
 * @category models
 * @since 0.1.0
 */
export interface Forked {
  readonly sessionId: string
  readonly log: EntryLog.LogId
  readonly leaf: string
  readonly title: string
  readonly messages: number
  readonly sidechains: number
  /** The session and the message that it was forked at. */
  readonly from: { readonly sessionId: string; readonly messageUuid: string }
}

/**
 * Copies a session.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fork = Effect.fn("SessionFork.fork")(function* (source: EntryLog.LogId, options: Options) {
  const port = yield* EntryLog.EntryLog
  const from = options.source ?? sessionOf(source)
  if (source._tag === "Session" && source.lane._tag === "Sidechain") {
    return yield* new ForkUnfit({ sessionId: from, found: "Sidechain" })
  }
  const sessionId = options.sessionId ?? (yield* (yield* Session.secureRandom).uuidV4())
  if (!Identifier.isSessionId(sessionId)) return yield* new ForkUnfit({ sessionId, found: "NoId" })
  const log = EntryLog.session(options.project ?? projectOf(source), sessionId)
  const plan = yield* Effect.fromResult(yield* LineReader.fold(source, options.plan))
  yield* (port.locks ?? (yield* SessionLock.SessionLock)).claim(log)
  yield* mustBeNew(port, log, sessionId)
  const names: Fork.Names = { source: from, target: sessionId, idOf: idsOf(sessionId) }
  const edit = Fork.copying(names)
  let sidechains = 0
  for (const lane of yield* port.sidechains(source)) {
    if (lane._tag !== "Session" || lane.lane._tag !== "Sidechain" || plan.leftOut.has(lane.lane.agentId)) continue
    const target = EntryLog.withLane(log, lane.lane)
    yield* copy(port, lane, target, yield* entriesOf(lane), edit)
    yield* copyMeta(lane, target)
    sidechains++
  }
  const { entries, title } = Fork.ending(plan, names, yield* promptsOf(port, source, plan))
  const ending = entries.map((entry) => `${JSON.stringify(entry)}\n`)
  yield* copy(port, source, log, plan.steps, edit, Buffer.from(ending.join("")))
  const { leaf, messages } = plan
  const forked: Forked = {
    sessionId,
    log,
    leaf: names.idOf(leaf),
    title,
    messages,
    sidechains,
    from: { sessionId: from, messageUuid: leaf }
  }
  return forked
}, Effect.scoped)

/**
 * The new ids of messages in a session: UUIDs of version 4, each made of the session and the old id.
 *
 * @category combinators
 * @since 0.1.0
 */
export const idsOf = (sessionId: string): Fork.Names["idOf"] => {
  const salt = Buffer.from(sessionId)
  return (uuid) => {
    const hex = hash("sha256", Buffer.concat([salt, Buffer.from(uuid, "utf16le")]))
    const variant = "89ab"[parseInt(hex[16]!, 16) & 3]
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  }
}

const sessionOf = (log: EntryLog.LogId): string => (log._tag === "Session" ? log.sessionId : path.parse(log.path).name)

const projectOf = (log: EntryLog.LogId): string => (log._tag === "Session" ? log.project : path.dirname(log.path))

const mustBeNew = Effect.fnUntraced(function* (
  port: EntryLog.EntryLog["Service"],
  log: EntryLog.LogId,
  sessionId: string
) {
  const found = yield* Effect.result(port.stat(log))
  if (Result.isSuccess(found)) return yield* new ForkUnfit({ sessionId, found: "Exists" })
  if (found.failure.reason !== "NotFound") return yield* found.failure
})

/** The texts of the first and the last prompt of a plan. */
const promptsOf = Effect.fnUntraced(function* (
  port: EntryLog.EntryLog["Service"],
  source: EntryLog.LogId,
  { prompts }: Fork.Plan
) {
  if (prompts === undefined) return {}
  const bytesOf = windowed(yield* port.reader(source))
  const { first, last } = prompts
  return {
    first: Fork.promptIn(yield* bytesOf(first.byteStart, first.byteEnd)),
    last: Fork.promptIn(yield* bytesOf(last.byteStart, last.byteEnd))
  }
}, Effect.scoped)

/** Every entry of a sidechain, in its order: its repeats are its own matter. */
const entriesOf = Effect.fnUntraced(function* (lane: EntryLog.LogId) {
  const steps: Array<Fork.Step> = []
  yield* LineReader.forEach(lane, ({ at: { byteEnd, byteStart }, entry }) => {
    if (!(entry instanceof Entry.Malformed)) steps.push({ _tag: "Beside", byteStart, byteEnd })
  })
  return steps
})

/** What an agent's log says of itself stands in a file beside it, where logs are files. */
const copyMeta = Effect.fnUntraced(function* (source: EntryLog.LogId, target: EntryLog.LogId) {
  const projects = yield* Effect.orElseSucceed(ProjectPath.projectsDirectory, () => "/")
  const [from, to] = [source, target].map((log) => EntryLog.pathOf(projects, log).replace(/\.jsonl$/, ".meta.json"))
  yield* Effect.try({
    try: () => {
      if (fs.lstatSync(from!, { throwIfNoEntry: false })?.isFile() !== true) return
      fs.writeFileSync(to!, fs.readFileSync(from!), { mode: 0o600, flag: "wx" })
    },
    catch: (cause) => new EntryLog.EntryLogError({ operation: "append", path: to!, reason: Reasons.of(cause), cause })
  })
})

const WINDOW = 1 << 20

/** Copies entries by their places, and then the bytes at the end; returns when the disk has them. */
const copy = Effect.fnUntraced(function* (
  port: EntryLog.EntryLog["Service"],
  source: EntryLog.LogId,
  target: EntryLog.LogId,
  steps: Iterable<Fork.Step>,
  edit: ReturnType<typeof Fork.copying>,
  ending: Uint8Array = Buffer.alloc(0)
) {
  const bytesOf = windowed(yield* port.reader(source))
  const batch = Buffer.allocUnsafeSlow(WINDOW)
  let size = 0
  let isNew = false
  const write = Effect.fnUntraced(function* (lines: Uint8Array) {
    if (lines.length === 0) return
    yield* port.append(target, lines)
    isNew = true
  })
  const flush = Effect.suspend(() => {
    const lines = batch.subarray(0, size)
    size = 0
    return write(lines)
  })
  for (const step of steps) {
    const copied = edit(yield* bytesOf(step.byteStart, step.byteEnd), step)
    if (copied === undefined) continue
    if (size + copied.most + 1 > batch.length) yield* flush
    if (copied.most + 1 > batch.length) yield* write(Buffer.concat([Verbatim.bytesOf(copied), newline]))
    else {
      size = copied.into(batch, size)
      size += newline.copy(batch, size)
    }
  }
  yield* flush
  yield* write(ending)
  if (!isNew) return
  yield* port.sync(target)
  yield* port.release(target)
}, Effect.scoped)

const newline = Buffer.from("\n")

/** Reads stretches of a log that mostly follow one another: what is given is good until the next one is asked for. */
const windowed = (reader: EntryLog.Reader) => {
  const small = Buffer.allocUnsafeSlow(Math.min(WINDOW, reader.size))
  let window = small.subarray(0, 0)
  let start = 0
  return Effect.fnUntraced(function* (from: number, to: number) {
    if (from < start || to > start + window.length) {
      const into = to - from > small.length ? Buffer.allocUnsafeSlow(to - from) : small
      let have = 0
      while (have < into.length) {
        const count = yield* reader.read(from + have, into.subarray(have))
        if (count === 0) break
        have += count
      }
      window = into.subarray(0, have)
      start = from
    }
    return window.subarray(from - start, to - start)
  })
}
