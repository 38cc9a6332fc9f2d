/**
 * FileSystem: the port on Effect's `FileSystem` and `Path`, for other runtimes and for file systems of one's own.
 *
 * 1. No descriptor is kept: each append looks at the path anew. One operation per log at a time, none cut in the middle.
 * 2. What the platform cannot say is not promised: new names are not synced, and descriptors do not refuse symlinks; the
 *    path is looked at before it is opened.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { constVoid } from "effect/Function"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as EntryLog from "../EntryLog.ts"
import * as ProjectPath from "../ProjectPath.ts"
import * as Reasons from "./reasons.ts"

type Operation = EntryLog.EntryLogError["operation"]

interface Place {
  readonly fs: FileSystem.FileSystem
  readonly path: Path.Path
  readonly projects: string
}

const LF = 0x0a

/** Logs below `projects`. */
export const make = Effect.fnUntraced(function* (projects: string) {
  const place: Place = { fs: yield* FileSystem.FileSystem, path: yield* Path.Path, projects }
  const { fs, path } = place
  const one = yield* Semaphore.make(1)
  const ours = new Map<string, number>()
  const pathOf = (log: EntryLog.LogId): string => EntryLog.pathOf(projects, log)
  const difference = (file: string, size: number): EntryLog.Foreign | undefined => {
    const end = ours.get(file)
    return end === undefined || end === size ? undefined : { ours: end, size }
  }
  const append = Effect.fnUntraced(function* (file: string, lines: Uint8Array) {
    const { isTorn, size } = yield* attempt("append", file, prepare(place, file))
    const start = size + (isTorn ? 1 : 0)
    const foreign = difference(file, size)
    const bytes = isTorn ? Buffer.concat([Uint8Array.of(LF), lines]) : lines
    const write = Effect.flatMap(fs.open(file, { flag: "a", mode: 0o600 }), (open) => open.writeAll(bytes))
    yield* Effect.scoped(write).pipe(
      Effect.catch((cause) =>
        Effect.flatMap(sizeOf(fs, file), (end) => {
          ours.set(file, end)
          const written = EntryLog.wholeLines(lines, Math.max(0, end - start))
          return Effect.fail(errorOf("append", file, cause, { start, written }))
        })
      )
    )
    ours.set(file, start + lines.length)
    return { start, end: start + lines.length, ...(foreign && { foreign }) }
  }, Effect.uninterruptible)
  const opened = (file: string, use: (open: FileSystem.File) => Effect.Effect<void, PlatformError.PlatformError>) =>
    Effect.scoped(Effect.flatMap(fs.open(file, { flag: "r+" }), use))
  const rewrite = Effect.fnUntraced(function* (file: string, start: number, lines: Uint8Array) {
    const size = yield* sizeOf(fs, file)
    const last =
      size < start + lines.length
        ? undefined
        : yield* attempt("rewrite", file, byteAt(fs, file, start + lines.length - 1))
    const count = EntryLog.rewritable(lines, size - start, last)
    if (count < 0) return yield* new EntryLog.EntryLogError({ operation: "rewrite", path: file, reason: "NotFound" })
    const write = opened(file, (open) =>
      Effect.andThen(open.seek(BigInt(start), "start"), open.writeAll(lines.subarray(0, count)))
    )
    yield* attempt("rewrite", file, write)
    if (start + count > size) ours.set(file, start + count)
  }, Effect.uninterruptible)
  return EntryLog.EntryLog.of({
    fileOf: pathOf,
    append: (log, lines) => Semaphore.withPermit(one, append(pathOf(log), lines)),
    rewrite: (log, start, lines) => Semaphore.withPermit(one, rewrite(pathOf(log), start, lines)),
    sync: (log) =>
      attempt(
        "sync",
        pathOf(log),
        opened(pathOf(log), (open) => open.sync)
      ),
    blocking: undefined,
    foreign: (log) => Effect.map(sizeOf(fs, pathOf(log)), (size) => difference(pathOf(log), size)),
    expect: (log, size) => Effect.sync(() => void ours.set(pathOf(log), size)),
    reader: (log) => {
      const file = pathOf(log)
      return attempt("read", file, fs.open(file, { flag: "r" })).pipe(
        Effect.flatMap((open) =>
          Effect.map(attempt("read", file, open.stat), ({ size }) => ({
            size: Number(size),
            isReplaced: attempt("read", file, isReplaced(fs, open, file)),
            read: (offset: number, into: Uint8Array) =>
              attempt("read", file, open.read(into, { position: BigInt(offset) }))
          }))
        )
      )
    },
    ends: (log, into) => attempt("read", pathOf(log), readEnds(fs, pathOf(log), into)),
    stat: (log) =>
      Effect.map(attempt("stat", pathOf(log), fs.stat(pathOf(log))), (info) => ({
        ...statOf(info),
        ...(Option.isSome(info.ino) && { file: `${info.dev}:${info.ino.value}` })
      })),
    changes: (log) => {
      const file = pathOf(log)
      return fs.watch(path.dirname(file)).pipe(
        Stream.filter((event) => path.basename(event.path) === path.basename(file)),
        Stream.map(constVoid),
        Stream.catchCause(() => Stream.empty)
      )
    },
    release: (log) => Effect.sync(() => void ours.delete(pathOf(log))),
    ...listing(place)
  })
})

const statOf = ({ mtime, size }: FileSystem.File.Info): EntryLog.Stat => ({
  size: Number(size),
  mtime: Option.match(mtime, { onNone: () => 0, onSome: (time) => time.getTime() })
})

const readEnds = Effect.fnUntraced(function* (fs: FileSystem.FileSystem, file: string, into: Uint8Array) {
  const open = yield* fs.open(file, { flag: "r" })
  const stat = statOf(yield* open.stat)
  const half = into.length >> 1
  const end = Math.min(Math.max(0, stat.size - half), into.length - half)
  const head = Number(yield* open.read(into.subarray(0, half), { position: 0n }))
  const tail = Number(yield* open.read(into.subarray(half, half + end), { position: BigInt(stat.size - end) }))
  return { ...stat, head, tail }
}, Effect.scoped)

/** Makes the directory and what is missing above it, each 0700. */
const makeDirectory = (place: Place, directory: string): Effect.Effect<void, PlatformError.PlatformError> =>
  Effect.gen(function* () {
    const { fs, path } = place
    const parent = path.dirname(directory)
    if (parent === directory || (yield* fs.exists(directory))) return
    yield* makeDirectory(place, parent)
    yield* fs.makeDirectory(directory, { mode: 0o700 })
    yield* fs.chmod(directory, 0o700)
  })

/** Makes the directory and looks at the end of the file. */
const prepare = Effect.fnUntraced(function* (place: Place, file: string) {
  const { fs, path } = place
  const directory = path.dirname(file)
  yield* makeDirectory(place, directory)
  const isLink = yield* Effect.isSuccess(fs.readLink(file))
  if (isLink) {
    return yield* new EntryLog.EntryLogError({ operation: "append", path: file, reason: "Symlink", written: 0 })
  }
  // What is written to a pipe is kept by nobody.
  if (yield* Effect.orElseSucceed(Effect.map(fs.stat(file), isPipe), () => false)) {
    return yield* new EntryLog.EntryLogError({ operation: "append", path: file, reason: "Other", written: 0 })
  }
  const size = yield* sizeOf(fs, file)
  if (size === 0) {
    yield* fs.writeFile(file, new Uint8Array(), { flag: "a", mode: 0o600 })
    yield* fs.chmod(file, 0o600)
    return { size, isTorn: false }
  }
  return { size, isTorn: (yield* byteAt(fs, file, size - 1)) !== LF }
})

const isPipe = ({ type }: FileSystem.File.Info): boolean => type !== "File" && type !== "CharacterDevice"

/** Whether the name of an open file leads to another one; one that was removed leads nowhere. */
const isReplaced = (fs: FileSystem.FileSystem, open: FileSystem.File, file: string) =>
  Effect.zipWith(
    open.stat,
    Effect.option(fs.stat(file)),
    ({ dev, ino }, named) =>
      Option.isSome(named) && (named.value.dev !== dev || Option.getOrNull(named.value.ino) !== Option.getOrNull(ino))
  )

const byteAt = (fs: FileSystem.FileSystem, file: string, at: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const byte = new Uint8Array(1)
      yield* (yield* fs.open(file, { flag: "r" })).read(byte, { position: BigInt(at) })
      return byte[0]
    })
  )

/** The size of a file, 0 when there is none; what is no file has no bytes of anybody. */
const sizeOf = (fs: FileSystem.FileSystem, file: string): Effect.Effect<number> =>
  fs.stat(file).pipe(
    Effect.map(({ size, type }) => (type === "File" ? Number(size) : 0)),
    Effect.orElseSucceed(() => 0)
  )

const listing = ({ fs, path, projects }: Place) => {
  const names = (directory: string): Effect.Effect<ReadonlyArray<string>, EntryLog.EntryLogError> =>
    attempt("list", directory, fs.readDirectory(directory)).pipe(
      Effect.catchIf(
        ({ reason }) => reason === "NotFound",
        () => Effect.succeed([])
      )
    )
  const isDirectory = (at: string) =>
    fs.stat(at).pipe(
      Effect.map(({ type }) => type === "Directory"),
      Effect.orElseSucceed(() => false)
    )
  const below = (directory: string): Effect.Effect<ReadonlyArray<ReadonlyArray<string>>, EntryLog.EntryLogError> =>
    Effect.flatMap(names(directory), (found) =>
      Effect.map(
        Effect.forEach(found, (name) =>
          Effect.flatMap(isDirectory(path.join(directory, name)), (isFolder) =>
            isFolder
              ? Effect.map(below(path.join(directory, name)), (parts) => parts.map((part) => [name, ...part]))
              : Effect.succeed([[name]])
          )
        ),
        (nested) => nested.flat()
      )
    )
  /** The real path; where the last parts do not exist, that of the part which does, and the rest. */
  const resolve = (directory: string): Effect.Effect<string, PlatformError.PlatformError> =>
    Effect.catchIf(
      fs.realPath(directory),
      ({ reason }) => reason._tag === "NotFound" && path.dirname(directory) !== directory,
      () => Effect.map(resolve(path.dirname(directory)), (parent) => path.join(parent, path.basename(directory)))
    )
  return {
    project: (directory: string) =>
      Effect.map(attempt("project", directory, resolve(path.resolve(directory))), ProjectPath.keyOf),
    projects: Effect.flatMap(names(projects), (found) =>
      Effect.filter(found, (name) => isDirectory(path.join(projects, name)))
    ),
    sessions: (project: string) =>
      Effect.map(names(path.resolve(projects, project)), (found) =>
        found.flatMap((name) => {
          const sessionId = ProjectPath.sessionOf(name)
          return sessionId === undefined ? [] : [EntryLog.session(project, sessionId)]
        })
      ),
    listing: (project: string) => {
      const directory = path.resolve(projects, project)
      const look = (name: string) => listed({ fs, path, projects }, project, path.join(directory, name))
      return Effect.map(names(directory), (found) => found.filter((name) => name.endsWith(".jsonl"))).pipe(
        Effect.flatMap((found) => Effect.forEach(found, look)),
        Effect.map((all) => ({
          logs: all.filter((one) => "log" in one),
          passed: all.filter((one) => "why" in one)
        }))
      )
    },
    sidechains: EntryLog.match({
      File: () => Effect.succeed([]),
      Session: ({ project, sessionId }) =>
        Effect.map(below(ProjectPath.subagents({ project: path.resolve(projects, project), sessionId })), (found) =>
          found.flatMap((parts) => {
            const lane = ProjectPath.laneOf(parts)
            return lane === undefined ? [] : [EntryLog.session(project, sessionId, lane)]
          })
        )
    })
  }
}

/** What a name that ends as those of logs do stands for. */
const listed = Effect.fnUntraced(function* ({ fs, path }: Place, project: string, file: string) {
  const none = (why: EntryLog.Passed["why"]): EntryLog.Listed | EntryLog.Passed => ({ path: file, why })
  if (yield* Effect.isSuccess(fs.readLink(file))) return none("Symlink")
  const stat = yield* Effect.result(attempt("stat", file, fs.stat(file)))
  if (Result.isFailure(stat)) return { ...none("Unreadable"), error: stat.failure } as EntryLog.Passed
  if (stat.success.type !== "File") return none(stat.success.type === "Directory" ? "Directory" : "NoFile")
  const sessionId = ProjectPath.sessionOf(path.basename(file))
  if (sessionId === undefined) return none("Name")
  const archived = yield* fs.readFileString(path.join(path.dirname(file), sessionId, "archived.json")).pipe(
    Effect.flatMap((text) => Effect.try(() => JSON.parse(text)?.archived === true)),
    Effect.orElseSucceed(() => false)
  )
  return { log: EntryLog.session(project, sessionId), path: file, ...statOf(stat.success), archived } as EntryLog.Listed
})

const attempt = <A, R>(
  operation: Operation,
  file: string,
  run: Effect.Effect<A, PlatformError.PlatformError | EntryLog.EntryLogError, R>
): Effect.Effect<A, EntryLog.EntryLogError, R> =>
  Effect.mapError(run, (cause) =>
    cause instanceof EntryLog.EntryLogError
      ? cause
      : errorOf(operation, file, cause, operation === "append" ? { written: 0 } : {})
  )

const byTag: { readonly [tag: string]: EntryLog.Reason } = { NotFound: "NotFound", PermissionDenied: "Denied" }

const errorOf = (
  operation: Operation,
  path: string,
  { reason }: PlatformError.PlatformError,
  more: { readonly start?: number; readonly written?: number }
): EntryLog.EntryLogError => {
  const cause = reason.cause ?? reason
  const known = Reasons.of(cause)
  return new EntryLog.EntryLogError({
    operation,
    path,
    reason: known === "Other" ? (byTag[reason._tag] ?? known) : known,
    ...more,
    cause
  })
}
