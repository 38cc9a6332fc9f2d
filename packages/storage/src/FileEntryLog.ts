/**
 * FileEntryLog: the port `EntryLog` on files, over `node:fs`.
 *
 * 1. Reading and appending are synchronous calls: a window of a file in the page cache costs less than a hop to a
 *    thread. Only `sync`, which waits for the disk, is asynchronous.
 * 2. Files are 0600 and directories 0700 whatever the umask; a transcript may not be a symlink, its directories may.
 * 3. Descriptors are kept (`maxOpen`), `O_APPEND`; each write makes sure first that the file is still the one at its path.
 */
import { constVoid } from "effect/Function"
import * as Effect from "effect/Effect"
import type * as Config from "effect/Config"
import type * as EffectFileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as fs from "node:fs"
import * as path from "node:path"
import * as EntryLog from "./EntryLog.ts"
import * as Changes from "./internal/changes.ts"
import * as Directories from "./internal/directories.ts"
import * as Files from "./internal/files.ts"
import * as FileSystem from "./internal/fileSystem.ts"
import * as Reasons from "./internal/reasons.ts"
import * as ProjectPath from "./ProjectPath.ts"
import * as SessionLock from "./SessionLock.ts"

/**
 * The directory that holds one folder per project, how many descriptors are kept (64), and whether directories above a
 * log may be such as others can write (no), the sticky bit and our own apart.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly projects: string
  readonly maxOpen?: number
  readonly allowSharedDirectories?: boolean
}

/**
 * Logs below a directory of one's own.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = (options: Options): Layer.Layer<EntryLog.EntryLog> => {
  const projects = path.resolve(options.projects)
  const { allowSharedDirectories: allowShared = false, maxOpen = 64 } = options
  return Layer.effect(
    EntryLog.EntryLog,
    Effect.acquireRelease(
      Effect.sync(() => Files.make({ projects, maxOpen, allowShared })),
      (files) => Effect.sync(() => files.releaseAll())
    ).pipe(Effect.map((files) => locked(make(projects, files), { projects, allowSharedDirectories: allowShared })))
  )
}

/**
 * Logs where the reference client keeps them: `$CLAUDE_CONFIG_DIR/projects`, else `~/.claude/projects`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<EntryLog.EntryLog, Config.ConfigError> = Layer.unwrap(
  Effect.map(ProjectPath.projectsDirectory, (projects) => layerWith({ projects }))
)

/**
 * Logs below a directory, over Effect's `FileSystem`: portable, slower, and without `flushSync`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFileSystem = (
  options: Pick<Options, "projects">
): Layer.Layer<EntryLog.EntryLog, never, EffectFileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    EntryLog.EntryLog,
    Effect.map(FileSystem.make(path.resolve(options.projects)), (port) => locked(port, options))
  )

/** Logs in files are locked by files. */
const locked = (port: EntryLog.EntryLog["Service"], options: SessionLock.Options): EntryLog.EntryLog["Service"] => ({
  ...port,
  locks: SessionLock.makeFiles(options)
})

type Operation = EntryLog.EntryLogError["operation"]

const attemptNow = <A>(operation: Operation, file: string, run: () => A): Result.Result<A, EntryLog.EntryLogError> =>
  Result.try({ try: run, catch: (cause) => errorOf(operation, file, cause) })

const attempt = <A>(operation: Operation, file: string, run: () => A): Effect.Effect<A, EntryLog.EntryLogError> =>
  Effect.suspend(() => Effect.fromResult(attemptNow(operation, file, run)))

const make = (projects: string, files: Files.Files): EntryLog.EntryLog["Service"] => {
  // Joining a path takes as long as writing a line.
  const paths = new WeakMap<EntryLog.LogId, string>()
  const pathOf = (log: EntryLog.LogId): string => {
    let file = paths.get(log)
    if (file === undefined) paths.set(log, (file = EntryLog.pathOf(projects, log)))
    return file
  }
  const blocking: EntryLog.Blocking = {
    append: (log, lines) => attemptNow("append", pathOf(log), () => files.append(pathOf(log), lines)),
    rewrite: (log, start, lines) => attemptNow("rewrite", pathOf(log), () => files.rewrite(pathOf(log), start, lines)),
    sync: (log) => attemptNow("sync", pathOf(log), () => files.syncNow(pathOf(log)))
  }
  return EntryLog.EntryLog.of({
    ...EntryLog.deferred(blocking),
    fileOf: pathOf,
    blocking,
    foreign: (log) => attempt("stat", pathOf(log), () => files.foreign(pathOf(log))),
    expect: (log, size) => Effect.sync(() => files.expect(pathOf(log), size)),
    sync: (log) => {
      const file = pathOf(log)
      return Effect.callback<void, EntryLog.EntryLogError>((resume) => {
        const done = (cause: unknown) =>
          resume(cause === null ? Effect.void : Effect.fail(errorOf("sync", file, cause)))
        try {
          files.sync(file, done)
        } catch (cause) {
          done(cause)
        }
      })
    },
    reader: (log) => {
      const file = pathOf(log)
      return Effect.acquireRelease(
        attempt("read", file, () => fs.openSync(file, readable)),
        (fd) => Effect.sync(() => fs.closeSync(fd))
      ).pipe(
        Effect.flatMap((fd) =>
          attempt("read", file, () => statOf(fd)).pipe(
            Effect.map(({ size }) => ({
              size,
              isReplaced: attempt("read", file, () => isReplaced(fd, file)),
              read: (offset: number, into: Uint8Array) =>
                attempt("read", file, () => fs.readSync(fd, into, 0, into.length, offset))
            }))
          )
        )
      )
    },
    ends: (log, into) => attempt("read", pathOf(log), () => readEnds(pathOf(log), into)),
    stat: (log) =>
      attempt("stat", pathOf(log), () => {
        const { dev, ino, mtimeMs, size } = fs.statSync(pathOf(log))
        return { size, mtime: mtimeMs, file: `${dev}:${ino}` }
      }),
    changes: (log) => Changes.hints((tell) => watch(pathOf(log), tell)),
    release: (log) => Effect.sync(() => files.release(pathOf(log))),
    project: (directory) =>
      attempt("project", directory, () => ProjectPath.keyOf(Directories.resolve(path.resolve(directory)))),
    projects: attempt("list", projects, () => directories(projects)),
    sessions: (project) =>
      attempt("list", path.resolve(projects, project), () =>
        entries(path.resolve(projects, project)).flatMap((file) => {
          const sessionId = file.isFile() ? ProjectPath.sessionOf(file.name) : undefined
          return sessionId === undefined ? [] : [EntryLog.session(project, sessionId)]
        })
      ),
    listing: (project) =>
      attempt("list", path.resolve(projects, project), () => {
        const listing = list(path.resolve(projects, project), project)
        for (const { log, path } of listing.logs) paths.set(log, path)
        return listing
      }),
    sidechains: EntryLog.match({
      File: () => Effect.succeed([]),
      Session: ({ project, sessionId }) => {
        const folder = ProjectPath.subagents({ project: path.resolve(projects, project), sessionId })
        return attempt("list", folder, () =>
          below(folder).flatMap((parts) => {
            const lane = ProjectPath.laneOf(parts)
            return lane === undefined ? [] : [EntryLog.session(project, sessionId, lane)]
          })
        )
      }
    })
  })
}

const entries = (directory: string): ReadonlyArray<fs.Dirent> => {
  try {
    return fs.readdirSync(directory, { withFileTypes: true })
  } catch (cause) {
    if (Directories.codeOf(cause) === "ENOENT") return []
    throw cause
  }
}

/** A pipe without a writer would keep the thread in `open` for ever. */
const readable = fs.constants.O_RDONLY | fs.constants.O_NONBLOCK

const statOf = (fd: number): fs.Stats => {
  const stat = fs.fstatSync(fd)
  if (stat.isDirectory()) throw Object.assign(new Error("a directory"), { code: "EISDIR" })
  if (!stat.isFile()) throw new Error("no regular file")
  return stat
}

const readEnds = (file: string, into: Uint8Array): EntryLog.Ends => {
  const fd = fs.openSync(file, readable)
  try {
    const { mtimeMs: mtime, size } = statOf(fd)
    const half = into.length >> 1
    if (size <= into.length) {
      const count = fs.readSync(fd, into, 0, into.length, 0)
      return { size: count, mtime, head: Math.min(count, half), tail: Math.max(0, count - half) }
    }
    const head = fs.readSync(fd, into, 0, half, 0)
    const tail = fs.readSync(fd, into, half, into.length - half, size - (into.length - half))
    return { size, mtime, head, tail }
  } finally {
    fs.closeSync(fd)
  }
}

/** Every name that ends as those of logs do is told of, as a log or not. */
const list = (directory: string, project: string): EntryLog.Listing => {
  const logs: Array<EntryLog.Listed> = []
  const passed: Array<EntryLog.Passed> = []
  const all = entries(directory)
  const folders = new Set(all.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])))
  for (const entry of all) {
    if (!entry.name.endsWith(".jsonl")) continue
    const file = directory + path.sep + entry.name
    const sessionId = ProjectPath.sessionOf(entry.name)
    const why = whyNone(entry) ?? (sessionId === undefined ? "Name" : undefined)
    const stat = attemptNow("stat", file, () => fs.statSync(file))
    if (why !== undefined) passed.push({ path: file, why })
    else if (Result.isFailure(stat)) passed.push({ path: file, why: "Unreadable", error: stat.failure })
    else {
      const archived = folders.has(sessionId!) && isArchived(path.join(directory, sessionId!, "archived.json"))
      const { mtimeMs: mtime, size } = stat.success
      logs.push({ log: EntryLog.session(project, sessionId!), path: file, size, mtime, archived })
    }
  }
  return { logs, passed }
}

const whyNone = (entry: fs.Dirent): EntryLog.Passed["why"] | undefined => {
  if (entry.isFile()) return undefined
  if (entry.isDirectory()) return "Directory"
  return entry.isSymbolicLink() ? "Symlink" : "NoFile"
}

/** A note that cannot be read says nothing. */
const isArchived = (note: string): boolean =>
  fs.existsSync(note) &&
  Result.getOrElse(
    Result.try(() => JSON.parse(fs.readFileSync(note, "utf8"))?.archived === true),
    () => false
  )

const isReplaced = (fd: number, file: string): boolean => {
  const open = fs.fstatSync(fd)
  const named = fs.statSync(file, { throwIfNoEntry: false })
  return named !== undefined && (named.ino !== open.ino || named.dev !== open.dev)
}

/** Watches the directory, since a file may be replaced; where that cannot be done nothing is told. */
const watch = (file: string, tell: () => void): (() => void) => {
  try {
    const watcher = fs.watch(path.dirname(file), { persistent: false }, (_, name) => {
      if (name === null || name === path.basename(file)) tell()
    })
    watcher.on("error", () => watcher.close())
    return () => watcher.close()
  } catch {
    return constVoid
  }
}

const directories = (directory: string): ReadonlyArray<string> =>
  entries(directory).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))

/** The files below a directory, each as its parts. */
const below = (directory: string): ReadonlyArray<ReadonlyArray<string>> =>
  entries(directory).flatMap((entry) =>
    entry.isDirectory()
      ? below(path.join(directory, entry.name)).map((parts) => [entry.name, ...parts])
      : [[entry.name]]
  )

const errorOf = (operation: Operation, file: string, thrown: unknown): EntryLog.EntryLogError => {
  const isShort = thrown instanceof Files.ShortWrite
  const cause = isShort ? thrown.cause : thrown
  return new EntryLog.EntryLogError({
    operation,
    path: file,
    reason: Reasons.of(cause),
    ...(isShort ? { written: thrown.written, start: thrown.start } : operation === "append" ? { written: 0 } : {}),
    cause
  })
}
