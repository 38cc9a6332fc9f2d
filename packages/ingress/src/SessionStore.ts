/**
 * SessionStore: a remote in the shape that the Agent SDK takes as its session store, as promises.
 *
 *   append(key, entries) ─▶ log in the spool ─▶ replicator ─▶ remote
 *   load(key) ◀─ log in the spool ◀─ hydrated from the remote
 *
 * 1. An append is done when it is in the spool. What the remote does not take now it takes later: no batch is dropped.
 * 2. An entry with a uuid is there once, however often it is appended. Entries keep their order.
 * 3. A load looks at the remote first, and fails when that does not answer: half a session is none.
 * 4. The spool is a directory of this store alone, not the one in which the SDK's own client keeps its transcripts.
 *    Sessions are told apart by their ids, which are UUIDs, in whichever project they are.
 */
import * as Identifier from "@reprise/domain/Identifier"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as LineReader from "@reprise/storage/LineReader"
import * as ProjectPath from "@reprise/storage/ProjectPath"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Buffer } from "node:buffer"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Hydration from "./Hydration.ts"
import { Ingress } from "./Ingress.ts"
import * as Queues from "./internal/queues.ts"
import * as RemoteLog from "./RemoteLog.ts"
import * as Replicas from "./Replicas.ts"
import * as StreamAddress from "./StreamAddress.ts"
import * as StreamLine from "./StreamLine.ts"

/**
 * Which transcript: the main one of a session, or that of an agent, `subagents/[…/]agent-<id>`.
 *
 * @category models
 * @since 0.1.0
 */
export interface SessionKey {
  readonly projectKey: string
  readonly sessionId: string
  readonly subpath?: string | undefined
}

/**
 * An entry of a transcript, which the store does not look into.
 *
 * @category models
 * @since 0.1.0
 */
export type SessionEntry = { readonly type: string; readonly [key: string]: unknown }

/**
 * The store. `mtime` is in milliseconds since 1970. Every promise that is rejected is so with an error that says why.
 *
 * @category models
 * @since 0.1.0
 */
export interface SessionStore {
  readonly append: (key: SessionKey, entries: ReadonlyArray<SessionEntry>) => Promise<void>
  /** The entries in their order; null where there are none. */
  readonly load: (key: SessionKey) => Promise<Array<SessionEntry> | null>
  readonly listSessions: (projectKey: string) => Promise<Array<{ sessionId: string; mtime: number }>>
  /** The transcripts of a session's agents. */
  readonly listSubkeys: (key: Pick<SessionKey, "projectKey" | "sessionId">) => Promise<Array<string>>
  /** Deletes a session with its agents, for ever; the remote deletes no agent alone. */
  readonly delete: (key: SessionKey) => Promise<void>
  /** Waits until all that was appended is at the remote, and says what is still behind. */
  readonly drain: (most: Duration.Input) => Promise<ReadonlyArray<Replicas.BehindOf>>
}

/**
 * A key that names no transcript of this store.
 *
 * @category errors
 * @since 0.1.0
 */
export class BadKey extends Schema.TaggedError<BadKey>()("BadKey", { expected: Schema.String, found: Schema.String }) {
  override get message(): string {
    return `expected ${this.expected}, found ${this.found}`
  }
}

/**
 * A store over a remote, with its spool in a directory of its own, until the scope ends.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (options: { readonly spool: string }) {
  const spool = path.resolve(options.spool)
  const ingress = yield* Ingress
  const logs = yield* Layer.build(FileEntryLog.layerWith({ projects: spool }))
  const services = <A, E>(effect: Effect.Effect<A, E, Ingress | EntryLog.EntryLog>) =>
    effect.pipe(Effect.provideService(Ingress, ingress), Effect.provideContext(logs))
  const replicas = yield* Replicas.make().pipe(Effect.provideService(Ingress, ingress), Effect.provide(logs))
  const queued = Queues.make()
  /** The uuids that a log holds, once it was appended to. */
  const known = new Map<string, Set<string>>()

  const append = Effect.fnUntraced(function* ({ file, log, main }: Place, entries: ReadonlyArray<SessionEntry>) {
    const port = yield* EntryLog.EntryLog
    const ids = known.get(file) ?? (yield* idsIn(log))
    known.set(file, ids)
    const lines = entries.flatMap((entry) => {
      const { uuid } = entry as { readonly uuid?: unknown }
      if (typeof uuid === "string" && ids.has(uuid)) return []
      if (typeof uuid === "string") ids.add(uuid)
      return [`${JSON.stringify(entry)}\n`]
    })
    if (lines.length > 0) yield* port.append(log, Buffer.from(lines.join("")))
    const { nudge } = yield* replicas.of(main)
    yield* nudge
  })
  /** Whoever only reads a session leaves it to its writer: what was not replicated before is not afterwards. */
  const hydrate = Effect.fnUntraced(function* ({ main, sessionId }: Place) {
    const was = yield* replicas.stop(main)
    const goOn = was === undefined || was._tag === "Fenced" ? Effect.void : Effect.ignore(replicas.of(main))
    const hydrating = Effect.flatMap(RemoteLog.ofIngress(sessionId, "native"), (log) => Hydration.hydrate(main, log))
    const { streams } = yield* Effect.ensuring(hydrating, goOn)
    for (const { path } of streams) known.delete(path)
  })
  const load = Effect.fnUntraced(function* (place: Place) {
    yield* hydrate(place)
    const entries: Array<SessionEntry> = []
    yield* reading(place.log, ({ value }) => {
      if (value !== undefined) entries.push(value as SessionEntry)
    })
    return entries.length === 0 ? null : entries
  })
  const listSessions = Effect.fnUntraced(function* (projectKey: string) {
    const found = new Map<string, number>()
    if (!Identifier.isProjectKey(projectKey)) return []
    const add = (sessionId: string, mtime: number) =>
      void found.set(sessionId, Math.max(mtime, found.get(sessionId) ?? 0))
    yield* Stream.runForEach(ingress.sessions(projectKey), ({ session, updatedAt }) =>
      Effect.sync(() => add(session, updatedAt))
    )
    const { listing } = yield* EntryLog.EntryLog
    for (const { log, mtime } of (yield* listing(projectKey)).logs)
      if (log._tag === "Session") add(log.sessionId, Math.floor(mtime))
    return Array.from(found, ([sessionId, mtime]) => ({ sessionId, mtime }))
  })
  const listSubkeys = Effect.fnUntraced(function* ({ log, sessionId }: Place) {
    const { sidechains } = yield* EntryLog.EntryLog
    const here = (yield* sidechains(log)).flatMap((one) =>
      one._tag === "Session" ? (StreamAddress.subOf(one.lane) ?? []) : []
    )
    const there = yield* Effect.catchTag(ingress.streams(sessionId), "NotFound", () => Effect.succeed({ streams: [] }))
    const all = new Set([...here, ...there.streams.map(({ stream }) => stream)])
    return [...all].flatMap((stream) => subpathOf(stream) ?? [])
  })
  const remove = Effect.fnUntraced(function* ({ file, main, sessionId }: Place) {
    if (file !== main) return yield* new BadKey({ expected: "a session, which is deleted as a whole", found: file })
    yield* replicas.stop(main)
    yield* Effect.catchTag(ingress.remove(sessionId), "NotFound", () => Effect.void)
    const folder = main.slice(0, -".jsonl".length)
    for (const file of known.keys()) if (file === main || file.startsWith(folder)) known.delete(file)
    yield* Effect.sync(() => {
      for (const file of [main, `${main}.ingress`, `${main}.conflicts`, folder]) fs.rmSync(file, remaining)
    })
  })

  const run = Effect.runPromiseWith(yield* Effect.context())
  const at = <A, E>(
    key: SessionKey,
    use: (place: Place) => Effect.Effect<A, E, Ingress | EntryLog.EntryLog>
  ): Promise<A> =>
    run(
      Effect.gen(function* () {
        const place = yield* placeOf(spool, key)
        return yield* queued(place.main, services(use(place)))
      })
    )
  const store: SessionStore = {
    append: (key, entries) => at(key, (place) => append(place, entries)),
    load: (key) =>
      key.subpath !== undefined && streamOf(key.subpath) === undefined ? Promise.resolve(null) : at(key, load),
    listSessions: (projectKey) => run(services(listSessions(projectKey))),
    listSubkeys: (key) => at(key, listSubkeys),
    delete: (key) => at(key, remove),
    drain: (most) => run(replicas.drain(most))
  }
  return store
})

const remaining = { recursive: true, force: true }

/** Where a transcript is in the spool. */
interface Place {
  readonly sessionId: string
  readonly main: string
  readonly log: EntryLog.LogId
  readonly file: string
}

const placeOf = (spool: string, { projectKey, sessionId, subpath }: SessionKey): Effect.Effect<Place, BadKey> => {
  const bad = (expected: string, found: string) => new BadKey({ expected, found: JSON.stringify(found) })
  if (!Identifier.isProjectKey(projectKey)) return bad("a project key, of letters, digits and -", projectKey)
  if (!Identifier.isSessionId(sessionId)) return bad("the id of a session, a UUID", sessionId)
  const stream = subpath === undefined ? "" : streamOf(subpath)
  const lane = stream === undefined ? undefined : StreamAddress.laneOf(stream)
  if (lane === undefined) return bad("the transcript of an agent, subagents/agent-<id>", subpath ?? "")
  const main = path.join(spool, projectKey, `${sessionId}.jsonl`)
  const log = EntryLog.withLane(EntryLog.at(main), lane)
  return Effect.succeed({ sessionId, main, log, file: EntryLog.pathOf("/", log) })
}

/** The stream of an agent by its sub-path; undefined for what is none. */
const streamOf = (subpath: string): string | undefined => {
  const [folder, ...parts] = `${subpath}.jsonl`.split("/")
  const lane = folder === "subagents" ? ProjectPath.laneOf(parts) : undefined
  return lane === undefined ? undefined : StreamAddress.subOf(lane)
}

/** The sub-path of an agent by its stream; undefined for the main one, and for what is no name. */
const subpathOf = (stream: string): string | undefined => {
  const lane = stream === "" ? undefined : StreamAddress.laneOf(stream)
  return lane?._tag === "Sidechain" ? ["subagents", ...lane.subPath, `agent-${lane.agentId}`].join("/") : undefined
}

/** The lines of a log, each as far as it is an entry; none where there is no log. */
const reading = (log: EntryLog.LogId, onLine: (line: StreamLine.StreamLine) => void) =>
  LineReader.forEachLine(log, (bytes) => onLine(StreamLine.ofBytes(bytes, "~"))).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "NotFound",
      () => Effect.void
    )
  )

const idsIn = Effect.fnUntraced(function* (log: EntryLog.LogId) {
  const ids = new Set<string>()
  yield* reading(log, ({ uuid }) => {
    if (uuid !== undefined) ids.add(uuid)
  })
  return ids
})
