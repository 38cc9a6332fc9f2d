/** Sessions on a disk, remote copies of them, and what hydration makes of both. */
import * as Notation from "@reprise/domain/testing/Notation"
import * as Hydration from "@reprise/ingress/Hydration"
import * as LineKey from "@reprise/ingress/LineKey"
import type * as RemoteLog from "@reprise/ingress/RemoteLog"
import * as ReplicaCursor from "@reprise/ingress/ReplicaCursor"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as Recovery from "@reprise/recovery/Recovery"
import * as Line from "@reprise/domain/Line"
import { Effect, Stream } from "effect"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

export const sessionId = "0f0f0f0f-0000-4000-8000-0000000000a7"

/** The text of a picture, a line for each entry. */
export const text = (picture: string): string => new TextDecoder().decode(Notation.bytes(picture))

export const linesOf = (log: string): ReadonlyArray<string> =>
  log === "" ? [] : log.split("\n").slice(0, log.endsWith("\n") ? -1 : undefined)

/** A remote with streams by their names, each as its lines; of some replica. */
export const remote = (
  streams: Readonly<Record<string, string>>,
  replica?: RemoteLog.RemoteLog["replica"]
): RemoteLog.RemoteLog => ({
  lines: Stream.fromIterable(
    Object.entries(streams).flatMap(([stream, log]) =>
      linesOf(log).map((line, i) => ({ stream, line: LineKey.lineAt(i + 1, Buffer.from(line)) }))
    )
  ),
  ...(replica !== undefined && { replica })
})

/** In memory where there is such a place: no test here asks a disk for its time. */
const temporary = fs.existsSync("/dev/shm") ? "/dev/shm" : os.tmpdir()

export const directory = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(temporary, "reprise-"))),
  (made) => Effect.sync(() => fs.rmSync(made, { recursive: true, force: true }))
)

/** A directory with one project; `main` is where the session is, or will be. */
export const home = Effect.map(directory, (root) => {
  const projects = path.join(root, "projects")
  const project = path.join(projects, "-work")
  const main = path.join(project, `${sessionId}.jsonl`)
  const agent = (name: string) => path.join(project, sessionId, "subagents", `agent-${name}.jsonl`)
  const put = (file: string, content: string): void => {
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
    fs.writeFileSync(file, content, { mode: 0o600 })
  }
  /** Every file below the root, but for locks: its mode and content; of a link, where it leads. */
  const tree = (): Record<string, string> => {
    const all = fs.existsSync(root) ? fs.readdirSync(root, { recursive: true, withFileTypes: true }) : []
    return Object.fromEntries(
      all
        .filter((entry) => !entry.isDirectory() && !entry.name.endsWith(".lock"))
        .map((entry) => path.join(entry.parentPath, entry.name))
        .toSorted()
        .map((file) => {
          const stat = fs.lstatSync(file)
          const what = stat.isSymbolicLink() ? `-> ${fs.readlinkSync(file)}` : fs.readFileSync(file, "latin1")
          return [path.relative(root, file), `${(stat.mode & 0o777).toString(8)} ${what}`]
        })
    )
  }
  const layer = FileEntryLog.layerWith({ projects })
  const hydrate = <E>(from: RemoteLog.RemoteLog<E>, options?: Hydration.Options) =>
    Effect.provide(Hydration.hydrate(main, from, options), layer)
  const read = (file = main): string => fs.readFileSync(file, "utf8")
  return { root, projects, project, main, agent, put, tree, layer, hydrate, read }
})

/** What a log recovers to, by the ids of its conversation. */
export const conversation = (log: string): string =>
  Notation.show(Recovery.fold(Line.decodeAll(Buffer.from(log))).conversation)

/** The lines that a replicator would send, by the cursor beside a log. */
export const unsent = Effect.fnUntraced(function* (file: string) {
  const cursor = yield* ReplicaCursor.read(file)
  if (cursor === undefined) return undefined
  if (!(yield* ReplicaCursor.holds(file, cursor))) return undefined
  const bytes = fs.readFileSync(file)
  let at = cursor.byte
  return linesOf(bytes.subarray(at).toString()).flatMap((line) => {
    const start = at
    at += Buffer.byteLength(line) + 1
    return cursor.received.some(([from, to]) => start >= from && start < to) ? [] : [line]
  })
})
