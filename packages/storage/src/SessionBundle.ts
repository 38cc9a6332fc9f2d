/**
 * SessionBundle: a session with its agents, metadata and file history in one archive, to go on elsewhere.
 *
 *   manifest.json            format, version, session, directory, and of each file its size and SHA-256
 *   session/… agents/… file-history/… session.jsonl         as SessionFiles names them, as they are
 *
 * The archive is a tar (ustar), compressed with gzip: `tar xzf` opens it, with or without this library.
 *
 * 1. Exporting reads: a session may be open meanwhile. What is appended later is not in the archive.
 * 2. Importing writes all or nothing: everything is unpacked and checked beside the target, then put in place, the main log
 *    last. Twice is once; a session that has gone on since it was imported is left as it is, one that differs is refused.
 * 3. With another directory, `cwd` and worktree paths that lie in the old one lie in the new one; no other byte changes.
 * 4. An archive is not trusted: names that lead elsewhere, links, devices, what it did not announce, what is larger than
 *    it said or than is allowed, and what differs from its digest are refused before anything is put in place.
 */
import * as Identifier from "@reprise/domain/Identifier"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { randomUUID } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import * as EntryLog from "./EntryLog.ts"
import * as Directories from "./internal/directories.ts"
import * as Archive from "./internal/archive.ts"
import * as Bringing from "./internal/bringing.ts"
import * as Gzip from "./internal/gzip.ts"
import * as Moved from "./internal/moved.ts"
import * as Staging from "./internal/staging.ts"
import * as Tar from "./internal/tar.ts"
import * as ProjectPath from "./ProjectPath.ts"
import * as SessionFiles from "./SessionFiles.ts"
import * as SessionLock from "./SessionLock.ts"
import * as SessionSummary from "./SessionSummary.ts"

/**
 * A bundle that cannot be written or read; `found` says why.
 *
 * @category errors
 * @since 0.1.0
 */
export class BundleError extends Schema.TaggedError<BundleError>()("BundleError", {
  operation: Schema.Literals(["export", "import"]),
  file: Schema.String,
  expected: Schema.optionalKey(Schema.String),
  found: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    const what = this.operation === "export" ? "a session that can be exported" : "a bundle that can be imported"
    return `${this.file}: expected ${this.expected ?? what}, found ${this.found}; nothing was changed`
  }
}

export { Manifest } from "./internal/archive.ts"

/**
 * Exports the session of a main log into a new file; fails where that exists. `sessionId` where the log is not named by
 * it: where it is imported, it is.
 *
 * @category running
 * @since 0.1.0
 */
export const exportTo = Effect.fn("SessionBundle.exportTo")(function* (
  main: string,
  to: string,
  options: { readonly sessionId?: string } = {}
) {
  const sessionId = options.sessionId ?? path.basename(main, ".jsonl")
  const fail = failing("export", main)
  const files = (yield* SessionFiles.list(main, sessionId)).filter(({ name }) => !SessionFiles.isLocal(name))
  if (files.at(-1)?.path !== main) return yield* fail("no file; check the path")
  if (!Identifier.isSessionId(sessionId)) {
    return yield* fail(`one whose id ${JSON.stringify(sessionId)} is no UUID; a fork of it has one`)
  }
  const { cwd } = yield* SessionSummary.read(EntryLog.at(main))
  const time = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  const plain = `${to}.${randomUUID()}.tar`
  const packed = `${to}.${randomUUID()}.part`
  return yield* Effect.gen(function* () {
    yield* attempt("export", to, () => mustBeFree(to), "a new file for a bundle")
    const manifest = yield* attempt("export", to, () =>
      Archive.pack(files, { sessionId, cwd: cwd ?? null }, plain, time)
    )
    yield* Effect.mapError(Gzip.compress(plain, packed), errorOf("export", to))
    yield* attempt("export", to, () => Bringing.name(packed, to))
    yield* attempt("export", to, () => {
      const failure = Directories.sync(new Set([path.dirname(to)]))
      if (failure !== null) throw failure
    })
    return manifest
  }).pipe(Effect.ensuring(discarding(plain, packed)))
})

/**
 * Where a bundle is imported to. Without `cwd` the session stays one of the directory that it was held in. `maxBytes`:
 * what it may hold, unpacked (8 GiB).
 *
 * @category models
 * @since 0.1.0
 */
export interface ImportOptions {
  readonly projects: string
  readonly cwd?: string
  readonly maxBytes?: number
}

/**
 * What became of a bundle: its session is imported, was there already, or has gone on since it was imported.
 *
 * @category models
 * @since 0.1.0
 */
export interface Imported {
  readonly outcome: "imported" | "already-there"
  readonly sessionId: string
  readonly path: string
  readonly cwd: string
  readonly files: number
}

/**
 * Imports a bundle.
 *
 * @category running
 * @since 0.1.0
 */
export const importFrom = Effect.fn("SessionBundle.importFrom")(function* (bundle: string, options: ImportOptions) {
  const port = yield* EntryLog.EntryLog
  yield* attempt("import", bundle, () => Gzip.mustBeFile(bundle))
  const projects = path.resolve(options.projects)
  const staging = path.join(projects, `.import-${randomUUID()}`)
  yield* attempt("import", bundle, () => Directories.make(staging, new Set()))
  return yield* Effect.gen(function* () {
    const plain = path.join(staging, "archive.tar")
    yield* Effect.mapError(
      Gzip.expand(bundle, plain, options.maxBytes ?? Archive.most.bytes),
      errorOf("import", bundle)
    )
    const { manifest, members } = yield* attempt("import", bundle, () => Archive.inspect(plain))
    const cwd = options.cwd === undefined ? manifest.cwd : path.resolve(options.cwd)
    if (cwd === null || cwd === "") return yield* failing("import", bundle)("a session of no directory; name one")
    // A directory of another system is none that could be resolved here.
    const key = path.isAbsolute(cwd) ? yield* port.project(cwd) : ProjectPath.keyOf(cwd)
    const project = path.join(projects, key)
    const { sessionId } = manifest
    const main = path.join(project, `${sessionId}.jsonl`)
    const places = SessionFiles.directoriesOf(main)
    yield* (port.locks ?? (yield* SessionLock.SessionLock)).claim(EntryLog.at(main))
    const move = Moved.from(manifest.cwd, cwd)
    const written = yield* attempt("import", bundle, () => {
      const staged = members.map((member, i) => {
        const file = path.join(staging, String(i))
        Archive.unpack(plain, member, file, member.name.endsWith(".jsonl") ? move : undefined)
        return { file, to: SessionFiles.pathOf(member.name, sessionId, places)! }
      })
      const above = path.dirname(projects)
      // Whoever has the log, and what came later, has newer files beside it as well.
      const hasGoneOn = !isMissing(staged.at(-1)!, above)
      const fresh = staged.filter((one) => isMissing(one, above, hasGoneOn))
      Staging.place(fresh)
      return fresh.length
    })
    const outcome = written === 0 ? "already-there" : "imported"
    const imported: Imported = { outcome, sessionId, path: main, cwd, files: members.length }
    return imported
  }).pipe(Effect.ensuring(discarding(staging)), Effect.scoped)
})

/**
 * Reads a bundle as a whole, and gives its manifest; fails where a file differs from its digest. Nothing is written but a
 * file beside it, for as long as that takes.
 *
 * @category running
 * @since 0.1.0
 */
export const verify = Effect.fn("SessionBundle.verify")(function* (
  bundle: string,
  options: Pick<ImportOptions, "maxBytes"> = {}
) {
  const plain = `${bundle}.${randomUUID()}.tar`
  return yield* Effect.gen(function* () {
    yield* Effect.mapError(
      Gzip.expand(bundle, plain, options.maxBytes ?? Archive.most.bytes),
      errorOf("import", bundle)
    )
    return yield* attempt("import", bundle, () => {
      const { manifest, members } = Archive.inspect(plain)
      for (const member of members) Archive.mustBe(member, Archive.digestOf(plain, member.size, member.start))
      return manifest
    })
  }).pipe(Effect.ensuring(discarding(plain)))
})

const mustBeFree = (to: string): void => {
  const there = fs.statSync(to, { throwIfNoEntry: false })
  if (there?.isDirectory() === true) throw new Tar.Refused("a directory; name a file in it")
  if (there !== undefined) throw new Tar.Refused("a file there already; it is not overwritten, give another name")
  if (!fs.existsSync(path.dirname(to))) throw new Tar.Refused(`no directory ${path.dirname(to)}; make it first`)
}

/** What was only needed meanwhile goes, as far as it is there. */
const discarding = (...files: ReadonlyArray<string>): Effect.Effect<void> =>
  Effect.ignore(Effect.try(() => files.forEach((file) => fs.rmSync(file, { recursive: true, force: true }))))

/** Whether nothing is at the target; false: what is there begins with these bytes, or may differ. */
const isMissing = ({ file, to }: Staging.Staged, above: string, mayDiffer = false): boolean => {
  for (let at = path.dirname(to); at.startsWith(above) && at !== above; at = path.dirname(at)) {
    if (fs.lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
      throw new Tar.Refused(`a link in its way: ${at}`)
    }
  }
  const there = fs.lstatSync(to, { throwIfNoEntry: false })
  if (there === undefined) return true
  const { size } = fs.statSync(file)
  const same = there.isFile() && there.size >= size && Archive.digestOf(to, size) === Archive.digestOf(file, size)
  if (!same && !mayDiffer) throw new Tar.Refused(`another file in its place: ${to}`)
  return false
}

const failing = (operation: BundleError["operation"], file: string) => (found: string) =>
  new BundleError({ operation, file, found })

/** What a code of the system means, and what to do. */
const reasons: { readonly [code: string]: readonly [found: string, advice: string] } = {
  ENOENT: ["no file", "; check the path"],
  ENOTDIR: ["a file in place of a folder", "; check the path"],
  ENOSPC: ["no space left", "; free some and try again"],
  EDQUOT: ["no space left", "; free some and try again"],
  EACCES: ["no permission", "; files and folders must belong to this user"],
  EROFS: ["a file system that is read-only", "; name another place"]
}

/** Where it is that a call failed, unless that is the bundle itself or a file that becomes it. */
const placeIn = (cause: unknown, file: string): string => {
  const at = (cause as { readonly path?: unknown } | null | undefined)?.path
  return typeof at !== "string" || at.startsWith(file) ? "" : ` at ${at}`
}

const errorOf =
  (operation: BundleError["operation"], file: string, expected?: string) =>
  (cause: unknown): BundleError => {
    const code = Directories.codeOf(cause)
    const [what, advice] = reasons[code ?? ""] ?? [`an error (${code ?? String(cause)})`, ""]
    const found =
      cause instanceof Tar.Refused
        ? cause.message
        : code?.startsWith("Z_") === true
          ? `${Tar.none} (${code})`
          : `${what}${placeIn(cause, file)}${advice}`
    return new BundleError({
      operation,
      file,
      ...(expected !== undefined && { expected }),
      found,
      ...(!(cause instanceof Tar.Refused) && { cause })
    })
  }

const attempt = <A>(
  operation: BundleError["operation"],
  file: string,
  run: () => A,
  expected?: string
): Effect.Effect<A, BundleError> => Effect.try({ try: run, catch: errorOf(operation, file, expected) })
