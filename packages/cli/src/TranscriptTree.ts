/**
 * TranscriptTree: the transcripts below a directory, by their names.
 *
 *   <project>/<session>.jsonl                              main lane
 *   <project>/<session>/subagents/…/agent-<id>.jsonl       one agent's own
 *   <project>/<session>/subagents/…/journal.jsonl          no transcript: named, and skipped
 *
 * 1. Every `.jsonl` file at any depth is in one of the three lists, in the order of names.
 * 2. Links to directories are not followed, so that every walk ends and no file is read twice.
 * 3. A directory that cannot be listed is reported, and the others are listed all the same; so is a name that is no
 *    Unicode, by which nothing can be opened.
 */
import type * as Lanes from "@reprise/recovery/Lanes"
import * as ProjectPath from "@reprise/storage/ProjectPath"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as fs from "node:fs"
import * as path from "node:path"
import * as TranscriptFile from "./TranscriptFile.ts"

/**
 * A file that may be a transcript: its path, its path below the directory, and its lane. `named`: its name says that it
 * is one; otherwise what it holds must tell.
 *
 * @category models
 * @since 0.1.0
 */
export interface Candidate {
  readonly file: string
  readonly name: string
  readonly lane: Lanes.Choice
  readonly named: boolean
}

/**
 * A file or directory that is not read, and why.
 *
 * @category models
 * @since 0.1.0
 */
export interface Passed {
  readonly file: string
  readonly name: string
  readonly why: string
}

/**
 * What is below a directory.
 *
 * @category models
 * @since 0.1.0
 */
export interface Tree {
  readonly files: ReadonlyArray<Candidate>
  readonly skipped: ReadonlyArray<Passed>
  readonly unreadable: ReadonlyArray<Passed>
}

/**
 * Lists the transcripts below a directory; fails when there is no such directory.
 *
 * @category reading
 * @since 0.1.0
 */
export const list = (directory: string): Effect.Effect<Tree, TranscriptFile.TranscriptUnreadable> =>
  Effect.suspend(() => {
    const files: Array<Candidate> = []
    const skipped: Array<Passed> = []
    const unreadable: Array<Passed> = []
    const waiting: Array<string> = [""]
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      const listed = entriesOf(path.join(directory, folder))
      if (Result.isFailure(listed)) {
        const why = whyOf(listed.failure)
        if (folder === "") return Effect.fail(unlisted(directory, why, listed.failure))
        unreadable.push({ file: path.join(directory, folder), name: folder, why })
        continue
      }
      const below: Array<string> = []
      for (const entry of listed.success.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
        const name = path.join(folder, entry.name)
        const file = path.join(directory, name)
        const isCandidate = entry.isDirectory() || entry.name.endsWith(".jsonl")
        if (isCandidate && isUnnamed(entry.name, file))
          unreadable.push({ file, name, why: "a name that is no Unicode" })
        else if (entry.isDirectory()) below.push(name)
        else if (entry.name.endsWith(".jsonl")) {
          const why = noTranscript(entry, file)
          if (why === undefined) files.push({ file, name, ...laneOf(entry.name) })
          else skipped.push({ file, name, why })
        }
      }
      for (const name of below.toReversed()) waiting.push(name)
    }
    return Effect.succeed({ files, skipped, unreadable })
  })

const entriesOf = (directory: string): Result.Result<ReadonlyArray<fs.Dirent>, NodeJS.ErrnoException> =>
  Result.try({
    try: () => fs.readdirSync(directory, { withFileTypes: true }),
    catch: (cause) => cause as NodeJS.ErrnoException
  })

const whyOf = ({ code, message }: NodeJS.ErrnoException): string => {
  if (code === "ENOENT") return "no directory; check the path"
  if (code === "ENOTDIR") return "a file; `reprise resume` and `reprise explain` show one"
  if (code === "EACCES" || code === "EPERM") return "a directory that this user may not list; check its permissions"
  return `an error of the system (${code ?? message})`
}

const unlisted = (file: string, found: string, cause: unknown) =>
  new TranscriptFile.TranscriptUnreadable({ file, found, expected: "a directory of transcripts", cause })

const laneOf = (name: string): Pick<Candidate, "lane" | "named"> => ({
  lane: ProjectPath.laneOf([name]) === undefined ? "main" : "sidechain",
  named: TranscriptFile.isNamed(name)
})

/** Why a file is no transcript, as far as its name and kind tell. */
const noTranscript = (entry: fs.Dirent, file: string): string | undefined => {
  if (entry.name === "journal.jsonl") return "the journal of a workflow"
  const kind = entry.isSymbolicLink() ? targetOf(file) : entry
  // A link that leads nowhere is a file that cannot be read.
  if (kind === undefined || kind.isFile()) return undefined
  return kind.isDirectory() ? "a link to a directory" : "no regular file"
}

/** Whether the name was read as another one, with U+FFFD for what is no Unicode. */
const isUnnamed = (name: string, file: string): boolean =>
  name.includes("\ufffd") &&
  Result.match(Result.try({ try: () => fs.lstatSync(file), catch: (cause) => cause as NodeJS.ErrnoException }), {
    onFailure: ({ code }) => code === "ENOENT",
    onSuccess: () => false
  })

const targetOf = (file: string): fs.Stats | undefined =>
  Result.getOrUndefined(Result.try({ try: () => fs.statSync(file), catch: () => undefined }))
