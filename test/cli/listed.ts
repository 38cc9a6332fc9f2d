/** Sessions of a list, made by hand; and projects in files. */
import type * as Metadata from "@reprise/domain/Metadata"
import * as Notation from "@reprise/domain/testing/Notation"
import * as EntryLog from "@reprise/storage/EntryLog"
import type * as SessionCatalog from "@reprise/storage/SessionCatalog"
import * as fs from "node:fs"
import * as path from "node:path"

/** The id of a session that begins with a digit. */
export const idOf = (digit: number): string => `${String(digit).repeat(8)}-0000-4000-8000-000000000000`

/** A session, of which some parts differ. */
export const session = (digit: number, parts: Partial<SessionCatalog.Session> = {}): SessionCatalog.Session => ({
  log: EntryLog.session("-work", idOf(digit)),
  path: `/projects/-work/${idOf(digit)}.jsonl`,
  size: 14_200,
  mtime: 0,
  archived: false,
  isEmpty: false,
  origin: "human",
  title: `Title ${digit}`,
  cwd: "/work",
  branch: "main",
  updatedAt: `2026-01-01T12:0${digit}:30.000Z`,
  ...parts
})

/** A page of sessions. */
export const page = (...sessions: ReadonlyArray<SessionCatalog.Session>): SessionCatalog.Page => ({
  sessions,
  more: false,
  passed: [],
  logs: sessions.length,
  read: sessions.length
})

/** Writes the log of a picture as a session of a project, and gives its path. */
export const plant = (
  projects: string,
  project: string,
  digit: number,
  picture: string,
  ...metadata: ReadonlyArray<Metadata.Body>
): string => {
  const file = path.join(projects, project, `${idOf(digit)}.jsonl`)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  const lines = metadata.map((body) => `${JSON.stringify({ ...body, sessionId: idOf(digit) })}\n`)
  fs.writeFileSync(file, Buffer.concat([Notation.bytes(picture), Buffer.from(lines.join(""))]))
  return file
}
