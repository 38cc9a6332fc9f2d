/**
 * SessionFork: a session copied under a new id, up to a message or whole, with its sidechains, backups and plan.
 *
 *   source ─ one pass: the plan (which entries, by place) ─┐
 *   source ─ window of 1 MiB ─ entry ─ ids mapped as bytes ─▶ batch of 1 MiB ─▶ .fork-… ─▶ all in their places
 *
 * 1. The source is only read. What others append to it meanwhile is not in the fork.
 * 2. No log is held: a plan weighs what the links of its messages weigh, and texts pass through one window.
 * 3. Where logs are files, a fork is made in a folder of its own beside its place and put there when it is whole, the main
 *    log last; elsewhere sidechains are written first. Its session is claimed meanwhile. One that fails leaves nothing.
 * 4. The new id of a message is made of that of the new session and its own: the same wherever it is named.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Fork from "@reprise/domain/Fork"
import * as Identifier from "@reprise/domain/Identifier"
import type * as Line from "@reprise/domain/Line"
import type * as Projection from "@reprise/domain/Projection"
import * as Verbatim from "@reprise/domain/Verbatim"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Buffer } from "node:buffer"
import { hash } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import * as EntryLog from "./EntryLog.ts"
import * as Bringing from "./internal/bringing.ts"
import * as Directories from "./internal/directories.ts"
import { fill } from "./internal/fill.ts"
import * as Session from "./internal/session.ts"
import * as Staging from "./internal/staging.ts"
import * as LineReader from "./LineReader.ts"
import * as PlanFiles from "./PlanFiles.ts"
import * as SessionBackups from "./SessionBackups.ts"
import * as SessionFiles from "./SessionFiles.ts"
import * as SessionLock from "./SessionLock.ts"

/**
 * A session that cannot be made: its id or its project is none, a log of it exists, or the source is an agent's, or was replaced meanwhile.
 *
 * @category errors
 * @since 0.1.0
 */
export class ForkUnfit extends Schema.TaggedError<ForkUnfit>()("ForkUnfit", {
  sessionId: Schema.String,
  found: Schema.Literals(["NoId", "NoProject", "Exists", "Sidechain", "Replaced"])
}) {
  override get message(): string {
    if (this.found === "NoProject")
      return "expected the key of a project or an absolute directory as the project of the fork, found neither"
    if (this.found === "Exists")
      return `expected an id that no session has, found ${this.sessionId}; leave it out for a new one`
    if (this.found === "Replaced")
      return "expected a log that is only appended to, found it cut or replaced while it was copied; fork it again"
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
  /** How many backups of files it has, and whether it has a plan of its own. */
  readonly backups: number
  readonly hasPlan: boolean
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
  const { project = projectOf(source) } = options
  if (!path.isAbsolute(project) && !Bringing.isName(project)) {
    return yield* new ForkUnfit({ sessionId, found: "NoProject" })
  }
  const log = EntryLog.session(project, sessionId)
  const before = yield* port.stat(source)
  const plan = yield* Effect.fromResult(yield* LineReader.fold(source, options.plan))
  if (port.fileOf !== undefined) yield* leavingNone(path.dirname(port.fileOf(log)))
  yield* (port.locks ?? (yield* SessionLock.SessionLock)).claim(log)
  if (port.fileOf !== undefined) yield* clearing(port.fileOf(log))
  yield* mustBeNew(port, log, sessionId)
  const names: Fork.Names = { source: from, target: sessionId, idOf: idsOf(sessionId), slugOf: slugsOf(sessionId) }
  const making: Making = { port, source, plan, names }
  const copied = yield* port.fileOf === undefined
    ? Effect.map(write(making, log), (written) => ({ ...written, backups: 0, hasPlan: false }))
    : inFiles(making, { source: port.fileOf(source), target: port.fileOf(log) }, isSame(making, before))
  const { leaf, messages } = plan
  const forked: Forked = {
    sessionId,
    log,
    leaf: names.idOf(leaf),
    messages,
    ...copied,
    from: { sessionId: from, messageUuid: leaf }
  }
  return forked
}, Effect.scoped)

interface Making {
  readonly port: EntryLog.EntryLog["Service"]
  readonly source: EntryLog.LogId
  readonly plan: Fork.Plan
  readonly names: Fork.Names
}

/** Writes all lanes of the fork; the main one to `log`, last. */
const write = Effect.fnUntraced(function* ({ names, plan, port, source }: Making, log: EntryLog.LogId) {
  const edit = Fork.copying(names)
  let sidechains = 0
  for (const lane of yield* port.sidechains(source)) {
    if (lane._tag !== "Session" || lane.lane._tag !== "Sidechain" || plan.leftOut.has(lane.lane.agentId)) continue
    const target = EntryLog.withLane(log, lane.lane)
    yield* copy(port, lane, target, yield* entriesOf(lane), edit)
    if (port.fileOf !== undefined) yield* copyMeta(port.fileOf(lane), port.fileOf(target))
    sidechains++
  }
  const { entries, title } = Fork.ending(plan, names, yield* promptsOf(port, source, plan))
  const ending = entries.map((entry) => `${JSON.stringify(entry)}\n`)
  yield* copy(port, source, log, plan.steps, edit, Buffer.from(ending.join("")))
  return { title, sidechains }
})

/** Makes the fork beside its place, and puts it there when it is whole. */
const inFiles = Effect.fnUntraced(function* (
  making: Making,
  main: { readonly source: string; readonly target: string },
  mustBeSame: Effect.Effect<void, ForkUnfit | EntryLog.EntryLogError>
) {
  const { names, plan } = making
  const places = SessionFiles.directoriesOf(main.target)
  const staging = stagingOf(main.target)
  const staged = { project: path.join(staging, "project"), fileHistory: path.join(staging, "backups"), plans: staging }
  const from = SessionFiles.directoriesOf(main.source)
  return yield* Effect.gen(function* () {
    yield* discarding(staging)
    const written = yield* write(making, EntryLog.session(staged.project, names.target))
    const { brought } = yield* SessionBackups.bring(plan.backups, {
      from: [{ ...from, sessionId: names.source }],
      to: { ...staged, sessionId: names.target }
    })
    const { slug } = plan.metadata
    const own = slug === undefined ? undefined : { from: [{ ...from, slug }], to: names.slugOf!(slug) }
    const has = own && (yield* PlanFiles.bring({ from: own.from, to: { ...staged, slug: own.to } }))
    yield* mustBeSame
    yield* attempt(main.target, () =>
      Staging.place([
        ...Staging.below(path.join(staged.project, names.target), path.join(places.project, names.target)),
        ...Staging.below(path.join(staged.fileHistory, names.target), path.join(places.fileHistory, names.target)),
        ...(has === "brought"
          ? Staging.missing(path.join(staging, `${own!.to}.md`), path.join(places.plans, `${own!.to}.md`))
          : []),
        { file: path.join(staged.project, path.basename(main.target)), to: main.target }
      ])
    )
    return { ...written, backups: brought.length, hasPlan: has === "brought" }
  }).pipe(Effect.ensuring(discarding(staging)))
})

const stagingOf = (target: string): string =>
  path.join(path.dirname(target), `.fork-${path.basename(target, ".jsonl")}`)

/** What a fork that was killed has put in place before its main log: the session is ours, and nobody else's was there. */
const clearing = (target: string): Effect.Effect<void, EntryLog.EntryLogError> =>
  attempt(target, () => {
    if (!fs.existsSync(stagingOf(target)) || fs.existsSync(target)) return
    const folder = target.replace(/\.jsonl$/, "")
    fs.rmSync(path.join(folder, "subagents"), { recursive: true, force: true })
    Directories.removeEmpty(folder)
  })

const discarding = (staging: string): Effect.Effect<void> =>
  Effect.ignore(Effect.try(() => fs.rmSync(staging, { recursive: true, force: true })))

/** A folder that only a fork was made for goes with it. */
const leavingNone = (folder: string) => {
  const isNew = !fs.existsSync(folder)
  return Effect.addFinalizer((exit) =>
    isNew && Exit.isFailure(exit) ? Effect.ignore(Effect.try(() => Directories.removeEmpty(folder))) : Effect.void
  )
}

/** Fails where the places of the plan lead to other bytes by now. */
const isSame = ({ port, source, names }: Making, before: EntryLog.Stat) =>
  Effect.flatMap(port.stat(source), ({ file, size }) =>
    file === before.file && size >= before.size
      ? Effect.void
      : Effect.fail(new ForkUnfit({ sessionId: names.source, found: "Replaced" }))
  )

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

/** The name of the plan of a session, which is a fork of one with a plan of another name. */
const slugsOf = (sessionId: string): NonNullable<Fork.Names["slugOf"]> => {
  const ending = `-${sessionId.slice(0, 8)}`
  return (slug) => `${slug.replace(/-[0-9a-f]{8}$/, "")}${ending}`
}

const sessionOf = (log: EntryLog.LogId): string => (log._tag === "Session" ? log.sessionId : path.parse(log.path).name)

const projectOf = (log: EntryLog.LogId): string => (log._tag === "Session" ? log.project : path.dirname(log.path))

const mustBeNew = Effect.fnUntraced(function* (
  port: EntryLog.EntryLog["Service"],
  log: EntryLog.LogId,
  sessionId: string
) {
  const found = yield* Effect.result(port.stat(log))
  const isFound = Result.isSuccess(found) || (yield* port.sidechains(log)).length > 0
  if (isFound) return yield* new ForkUnfit({ sessionId, found: "Exists" })
  if (Result.isFailure(found) && found.failure.reason !== "NotFound") return yield* found.failure
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
const copyMeta = (from: string, to: string) => {
  const [source, target] = [from, to].map((file) => file.replace(/\.jsonl$/, ".meta.json"))
  return attempt(target!, () => Bringing.bring([source!], target!, "copy", new Set()))
}

const attempt = <A>(file: string, run: () => A): Effect.Effect<A, EntryLog.EntryLogError> =>
  Effect.try({ try: run, catch: Bringing.errorOf(file) })

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
  yield* Effect.addFinalizer(() => port.release(target))
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
  if (isNew) yield* port.sync(target)
}, Effect.scoped)

const newline = Buffer.from("\n")

/** Reads stretches of a log that mostly follow one another: what is given is good until the next one is asked for. */
const windowed = (reader: EntryLog.Reader) => {
  const small = Buffer.allocUnsafeSlow(Math.min(WINDOW, reader.size))
  let window = small.subarray(0, 0)
  let start = 0
  return Effect.fnUntraced(function* (from: number, to: number) {
    if (from < start || to > start + window.length) {
      window = yield* fill(reader, from, to - from > small.length ? Buffer.allocUnsafeSlow(to - from) : small)
      start = from
    }
    return window.subarray(from - start, to - start)
  })
}
