/**
 * SessionLock: one writer per session, across processes.
 *
 *   <project>/<session>.jsonl      the log
 *   <project>/<session>.lock       who writes it: host, boot, pid, start time, since when
 *
 * 1. Of any number of programs that claim a session at once, one gets it; the others are told who has it.
 * 2. An owner that is gone (killed, its pid in use by another program, the machine started anew) is succeeded at once,
 *    by exactly one of those who find it so.
 * 3. An owner on another host, or in another container, is judged by its heartbeat (15 s): silent for a minute, it is
 *    gone. On its own host it is never judged by time, so a machine that slept takes no session from a living program. A program
 *    that was stopped for longer than two heartbeats looks at the lock before it accepts anything more.
 * 4. The lock binds those who ask for it. What others write is noticed all the same (`Transcript.foreign`).
 *
 * What is not promised: on NFS and other network file systems a host may see an old state of a directory, `link` may
 * answer with an error though it was done, and a host that is cut off cannot tell that its session was taken; two
 * writers are then possible for as long as the view is old. Keep sessions that two hosts may open on a local disk, or
 * fence them by the remote (see INGRESS). On systems without `/proc` a pid that is in use again counts as the owner.
 */
import { SessionLocked } from "@reprise/domain/SessionSource"
import * as Clock from "effect/Clock"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import * as EntryLog from "./EntryLog.ts"
import * as Directories from "./internal/directories.ts"
import * as LockFile from "./internal/lockFile.ts"
import * as Owner from "./internal/owner.ts"
import * as Reasons from "./internal/reasons.ts"
import * as ProjectPath from "./ProjectPath.ts"

export { SessionLocked } from "@reprise/domain/SessionSource"

/**
 * A session that is ours until the scope closes; `lost` tells who took it, should that happen.
 *
 * @category models
 * @since 0.1.0
 */
export interface Claim {
  readonly lost: () => SessionLocked | undefined
}

/**
 * A claim and the scope that it ends with, for a session that is opened later and takes both over.
 *
 * @category models
 * @since 0.1.0
 */
export interface Held {
  readonly claim: Claim
  readonly scope: Scope.Closeable
}

/**
 * What locks sessions.
 *
 * @category models
 * @since 0.1.0
 */
export interface Locks {
  /** Claims the session of a log for the scope. */
  readonly claim: (log: EntryLog.LogId) => Effect.Effect<Claim, SessionLocked | EntryLog.EntryLogError, Scope.Scope>
}

/**
 * The locks of sessions in memory: among the transcripts of one program.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeMemory = (): Locks => {
  const owners = new Map<string, Owner.Owner>()
  return {
    claim: Effect.fnUntraced(function* (log) {
      const file = EntryLog.keyOf(log)
      const owner = yield* self
      yield* Effect.acquireRelease(
        Effect.suspend(() => {
          const other = owners.get(file)
          if (other !== undefined) return Effect.fail(locked(file, other))
          return Effect.succeed(owners.set(file, owner))
        }),
        () => Effect.sync(() => owners.delete(file))
      )
      return { lost: () => undefined }
    })
  }
}

/**
 * The locks of sessions whose log brings none: in memory, unless a layer brings those of files.
 *
 * @category references
 * @since 0.1.0
 */
export const SessionLock: Context.Reference<Locks> = Context.Reference("@reprise/storage/SessionLock", {
  defaultValue: makeMemory
})

/**
 * As for `FileEntryLog`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly projects: string
  readonly allowSharedDirectories?: boolean
}

const HEARTBEAT = "15 seconds"

/** Milliseconds without a heartbeat after which another may soon find the owner gone. */
const OVERDUE = 30_000

/**
 * The locks of sessions in files below a directory.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeFiles = (options: Options): Locks => {
  const projects = path.resolve(options.projects)
  return {
    claim: Effect.fnUntraced(function* (log) {
      const transcript = EntryLog.pathOf(projects, log)
      const file = transcript.replace(/(\.jsonl)?$/, ".lock")
      const owner = yield* self
      let lost: SessionLocked | undefined
      const { held } = yield* Effect.acquireRelease(
        Effect.gen(function* () {
          const isShared = options.allowSharedDirectories === true
          const taken = yield* attempt(file, () => take(projects, transcript, file, owner, isShared))
          if ("by" in taken) return yield* locked(file, taken.by)
          return taken
        }),
        ({ held, made }) => Effect.ignore(attempt(file, () => letGo(held, made)))
      )
      const clock = yield* Clock.Clock
      let beaten = clock.currentTimeMillisUnsafe()
      const beat = () => {
        beaten = clock.currentTimeMillisUnsafe()
        const found = Result.getOrUndefined(Result.try(() => LockFile.beat(held)))
        if (found !== undefined) lost = locked(file, found)
      }
      yield* Effect.sleep(HEARTBEAT).pipe(Effect.andThen(Effect.sync(beat)), Effect.forever, Effect.forkScoped)
      return {
        lost: () => {
          // Whoever slept for so long may have been taken for dead, and is not asked before it looked.
          if (clock.currentTimeMillisUnsafe() - beaten > OVERDUE) beat()
          return lost
        }
      }
    })
  }
}

/**
 * Locks in files below a directory of one's own.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (options: Options): Layer.Layer<never> => Layer.sync(SessionLock, () => makeFiles(options))

/**
 * Locks in files where the reference client keeps its sessions.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never, Config.ConfigError> = Layer.unwrap(
  Effect.map(ProjectPath.projectsDirectory, (projects) => layerWith({ projects }))
)

/**
 * Locks of its own in memory.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<never> = Layer.sync(SessionLock, makeMemory)

const self = Effect.map(Clock.currentTimeMillis, (millis) =>
  Owner.self(randomUUID(), DateTime.formatIso(DateTime.makeUnsafe(millis)))
)

const locked = (file: string, { host, pid, since }: Owner.Owner): SessionLocked =>
  new SessionLocked({ file, host: host || "an unknown host", pid, since: since || "an unknown time" })

/** Makes and checks what is above the log, then claims; `made`: the folder is new. */
const take = (projects: string, transcript: string, file: string, owner: Owner.Owner, allowShared: boolean) => {
  const folder = path.dirname(file)
  for (let attempts = 1; ; attempts++) {
    const changed: Directories.Changed = new Set()
    Directories.make(folder, changed)
    const made = changed.size > 0
    if (!allowShared) Directories.refuseShared(fs.realpathSync.native(folder))
    Directories.narrow(projects, folder)
    narrowSession(transcript)
    const failure = Directories.sync(changed)
    if (failure !== null) throw failure
    try {
      return { ...LockFile.claim(file, owner), made }
    } catch (cause) {
      // Whoever made the folder for a lock alone takes it away with the lock.
      if (Directories.codeOf(cause) !== "ENOENT" || attempts >= 100) throw cause
    }
  }
}

/** Narrows the transcript and all that lies in the folder of its session. */
const narrowSession = (transcript: string): void => {
  const stat = fs.lstatSync(transcript, { throwIfNoEntry: false })
  if (stat?.isSymbolicLink() === true) throw Object.assign(new Error(transcript), { code: "ELOOP" })
  if (stat?.isFile() === true && (stat.mode & 0o777) !== 0o600) {
    Directories.ifOurs(() => fs.chmodSync(transcript, 0o600))
  }
  const folder = transcript.replace(/(\.jsonl)?$/, "")
  if (folder !== transcript) narrowBelow(folder)
}

const narrowBelow = (folder: string): void => {
  const stat = fs.lstatSync(folder, { throwIfNoEntry: false })
  if (stat?.isDirectory() !== true) return
  if ((stat.mode & 0o077) !== 0) Directories.ifOurs(() => fs.chmodSync(folder, 0o700))
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const name = path.join(folder, entry.name)
    if (entry.isDirectory()) narrowBelow(name)
    else if (entry.isFile() && (fs.lstatSync(name).mode & 0o077) !== 0) {
      Directories.ifOurs(() => fs.chmodSync(name, 0o600))
    }
  }
}

/** A folder that was made for the lock alone goes with it. */
const letGo = (held: LockFile.Held, made: boolean): void => {
  LockFile.release(held, randomUUID())
  if (made && fs.readdirSync(path.dirname(held.file)).length === 0) fs.rmdirSync(path.dirname(held.file))
}

const attempt = <A>(file: string, run: () => A): Effect.Effect<A, EntryLog.EntryLogError> =>
  Effect.try({
    try: run,
    catch: (cause) => new EntryLog.EntryLogError({ operation: "lock", path: file, reason: Reasons.of(cause), cause })
  })
