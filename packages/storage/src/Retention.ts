/**
 * Retention: which sessions a policy would let go, and letting them go when that is asked for.
 *
 *   sessions, newest message first ─▶ too old · beyond the count · beyond the size ─▶ plan ─▶ archived, or deleted
 *
 * 1. A plan changes nothing. Nothing is ever let go but what a plan names, and each is reported.
 * 2. Whole sessions only: with sidechains, sidecars and file history. The main log goes last, so one that was let go in
 *    part is still listed, and found by the next plan.
 * 3. A session that another program has open, or that changed since the plan was made, stays.
 * 4. An archive is a bundle (`SessionBundle`): what it holds is let go once it is on the disk, was read again, and the session
 *    is still what it holds. One that is there already counts where it holds all that the session has, as after a kill.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as fs from "node:fs"
import * as path from "node:path"
import * as EntryLog from "./EntryLog.ts"
import * as Archive from "./internal/archive.ts"
import * as Directories from "./internal/directories.ts"
import * as Reasons from "./internal/reasons.ts"
import * as SessionAgents from "./SessionAgents.ts"
import * as SessionBundle from "./SessionBundle.ts"
import * as SessionCatalog from "./SessionCatalog.ts"
import * as SessionFiles from "./SessionFiles.ts"
import * as SessionLock from "./SessionLock.ts"

/**
 * What is kept: sessions whose last message is not older than so many milliseconds, the newest so many of them, the
 * newest that take so many bytes together with all that belongs to them. What is not given does not matter.
 *
 * @category models
 * @since 0.1.0
 */
export interface Policy {
  readonly olderThan?: number
  readonly maxCount?: number
  readonly maxBytes?: number
}

/**
 * Why a session goes.
 *
 * @category models
 * @since 0.1.0
 */
export type Why = "age" | "count" | "size"

/**
 * A session that a policy lets go: all of its files, and their bytes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Candidate {
  readonly session: SessionCatalog.Session
  readonly why: Why
  readonly files: ReadonlyArray<SessionFiles.SessionFile>
  readonly bytes: number
}

/**
 * What a policy lets go, the oldest first, what it keeps, and what is no session or cannot be read and so stays.
 *
 * @category models
 * @since 0.1.0
 */
export interface Plan {
  readonly candidates: ReadonlyArray<Candidate>
  readonly kept: { readonly sessions: number; readonly bytes: number }
  readonly passed: ReadonlyArray<SessionCatalog.Passed>
}

/**
 * What became of a candidate: archived at a path, deleted, or left as it is: another program has it open, it changed, or
 * it could not be archived or deleted (`error`).
 *
 * @category models
 * @since 0.1.0
 */
export interface Outcome {
  readonly candidate: Candidate
  readonly outcome: "archived" | "deleted" | "open" | "changed" | "failed"
  readonly archive?: string
  readonly error?: { readonly _tag: string; readonly message: string }
}

/**
 * Plans: of the sessions of a scope, which a policy lets go. Nothing is changed.
 *
 * @category running
 * @since 0.1.0
 */
export const plan = Effect.fn("Retention.plan")(function* (policy: Policy, scope: SessionCatalog.Scope = {}) {
  const now = yield* Clock.currentTimeMillis
  const { passed: others, sessions } = yield* SessionCatalog.list(scope)
  const passed = [...others]
  const candidates: Array<Candidate> = []
  const kept = { sessions: 0, bytes: 0 }
  // A project is looked through once, however many sessions it has.
  const beside = new Map<string, SessionAgents.Beside>()
  // What is older than the first one that does not fit goes with it.
  let isFull = false
  for (const session of sessions) {
    const project = path.dirname(session.path)
    const known = beside.get(project) ?? (yield* SessionAgents.beside(project))
    beside.set(project, known)
    const listed = yield* Effect.result(SessionFiles.list(session.path, undefined, known))
    // What of it cannot be seen cannot be let go as a whole, and costs no other session.
    if (Result.isFailure(listed)) {
      passed.push({ path: session.path, why: "Unreadable", error: listed.failure })
      continue
    }
    const files = listed.success
    const bytes = files.reduce((sum, { size }) => sum + size, 0)
    const why: Why | undefined = isFull ? "size" : whyNot(policy, now - timeOf(session), kept, bytes)
    isFull ||= why === "size"
    if (why !== undefined) candidates.push({ session, why, files, bytes })
    else {
      kept.sessions++
      kept.bytes += bytes
    }
  }
  const planned: Plan = { candidates: candidates.toReversed(), kept, passed }
  return planned
})

const whyNot = (policy: Policy, age: number, kept: Plan["kept"], bytes: number): Why | undefined => {
  const { maxBytes = Infinity, maxCount = Infinity, olderThan = Infinity } = policy
  if (age > olderThan) return "age"
  if (kept.sessions >= maxCount) return "count"
  return kept.bytes + bytes > maxBytes ? "size" : undefined
}

/** The time of the last message, else that of the last change of the log. */
const timeOf = ({ mtime, updatedAt }: SessionCatalog.Session): number => {
  const time = Date.parse(updatedAt ?? "")
  return Number.isNaN(time) ? mtime : time
}

/**
 * Lets one candidate go: into a bundle in the directory `archive`, or, with `delete`, for good.
 *
 * @category running
 * @since 0.1.0
 */
export const letGo = Effect.fn("Retention.letGo")(function* (
  candidate: Candidate,
  how: { readonly archive: string } | { readonly delete: true }
) {
  const { path: main } = candidate.session
  const port = yield* EntryLog.EntryLog
  const scope = yield* Scope.make()
  const locks = port.locks ?? (yield* SessionLock.SessionLock)
  return yield* Effect.gen(function* () {
    const claimed = yield* Effect.result(Scope.provide(locks.claim(EntryLog.at(main)), scope))
    if (claimed._tag === "Failure") {
      return left(candidate, claimed.failure._tag === "SessionLocked" ? "open" : "failed", claimed.failure)
    }
    const files = yield* SessionFiles.list(main)
    if (!isSame(files, candidate.files)) return left(candidate, "changed")
    if ("delete" in how) {
      yield* remove(main, files)
      return left(candidate, "deleted")
    }
    const archive = path.join(path.resolve(how.archive), `${path.basename(main, ".jsonl")}.tar.gz`)
    yield* archived(main, archive, files)
    // Packing takes a while, and not everybody asks for the claim.
    if (!isSame(yield* SessionFiles.list(main), files)) {
      yield* attempt(archive, () => fs.rmSync(archive))
      return left(candidate, "changed")
    }
    yield* remove(main, files)
    return { ...left(candidate, "archived"), archive }
  }).pipe(
    Effect.catch((error) => Effect.succeed(left(candidate, "failed", error))),
    Effect.ensuring(Scope.close(scope, Exit.void))
  )
})

const left = (candidate: Candidate, outcome: Outcome["outcome"], error?: Outcome["error"]): Outcome => ({
  candidate,
  outcome,
  ...(error !== undefined && { error: { _tag: error._tag, message: error.message } })
})

/** Makes the archive of a session, or finds that it was made before. */
const archived = Effect.fnUntraced(function* (
  main: string,
  archive: string,
  files: ReadonlyArray<SessionFiles.SessionFile>
) {
  yield* attempt(archive, () => Directories.make(path.dirname(archive), new Set()))
  if (fs.existsSync(archive)) {
    const manifest = yield* SessionBundle.verify(archive)
    if (yield* attempt(main, () => holds(manifest, files))) return
    const expected = "an archive of this session as it is now"
    const found = "one of another state; move it, or archive into another directory"
    return yield* new SessionBundle.BundleError({ operation: "export", file: archive, expected, found })
  }
  yield* SessionBundle.exportTo(main, archive)
  yield* SessionBundle.verify(archive)
})

/** Whether a bundle has all files of a session, as they are. */
const holds = ({ files: packed }: SessionBundle.Manifest, files: ReadonlyArray<SessionFiles.SessionFile>): boolean => {
  const digests = new Map(packed.map(({ name, sha256, size }) => [name, { sha256, size }]))
  return files.every(({ name, path: file, size }) => {
    const held = digests.get(name)
    return SessionFiles.isLocal(name) || (held?.size === size && held.sha256 === Archive.digestOf(file, size))
  })
}

const isSame = (a: ReadonlyArray<SessionFiles.SessionFile>, b: ReadonlyArray<SessionFiles.SessionFile>): boolean =>
  a.length === b.length && a.every((file, i) => file.path === b[i]!.path && file.size === b[i]!.size)

/** Files in their order, the main log last, then the folders that are empty by now. */
const remove = (main: string, files: ReadonlyArray<SessionFiles.SessionFile>) =>
  attempt(main, () => {
    const sessionId = path.basename(main, ".jsonl")
    const { fileHistory, project } = SessionFiles.directoriesOf(main)
    for (const file of files.slice(0, -1)) fs.rmSync(file.path)
    for (const folder of [path.join(project, sessionId), path.join(fileHistory, sessionId)])
      Directories.removeEmpty(folder)
    for (const file of files.slice(-1)) fs.rmSync(file.path)
    const failure = Directories.sync(new Set([project]))
    if (failure !== null) throw failure
  })

const attempt = <A>(file: string, run: () => A): Effect.Effect<A, EntryLog.EntryLogError> =>
  Effect.try({
    try: run,
    catch: (cause) => new EntryLog.EntryLogError({ operation: "stat", path: file, reason: Reasons.of(cause), cause })
  })
