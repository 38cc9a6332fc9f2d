/**
 * Archive: the bytes of a bundle: what is packed, and what is believed of what was packed elsewhere. Synchronous; it throws
 * `Tar.Refused`, and what `node:fs` throws.
 */
import * as Identifier from "@reprise/domain/Identifier"
import * as Schema from "effect/Schema"
import { Buffer } from "node:buffer"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import * as SessionFiles from "../SessionFiles.ts"
import * as Moved from "./moved.ts"
import * as Tar from "./tar.ts"

const FORMAT = "reprise-session-bundle"
const VERSION = 1
const MANIFEST = "manifest.json"
/** What a bundle may hold at most, unless it is trusted with more. */
export const most = { bytes: 8 * 2 ** 30, files: 100_000, manifest: 32 * 2 ** 20 }

const Digest = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))
const Size = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

/**
 * What a bundle says of itself. `cwd` is the directory at the start of the session, null where no entry names one.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Manifest = Schema.Struct({
  format: Schema.Literal(FORMAT),
  version: Schema.Literal(VERSION),
  sessionId: Identifier.SessionId,
  cwd: Schema.NullOr(Schema.String),
  files: Schema.Array(Schema.Struct({ name: Schema.String, size: Size, sha256: Digest }))
})

/**
 * What {@link Manifest} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type Manifest = typeof Manifest.Type

const CHUNK = 1 << 20

/** Gives the first `size` bytes of a file, piece by piece. */
function* pieces(file: string, size: number, start = 0): Generator<Buffer> {
  const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
  try {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK, Math.max(size, 1)))
    for (let at = 0; at < size;) {
      const count = fs.readSync(fd, buffer, 0, Math.min(buffer.length, size - at), start + at)
      if (count === 0) throw new Tar.Refused(`${file} became shorter while it was read`)
      yield buffer.subarray(0, count)
      at += count
    }
  } finally {
    fs.closeSync(fd)
  }
}

/** The SHA-256 of `size` bytes of a file. */
export const digestOf = (file: string, size: number, start = 0): string => {
  const hash = createHash("sha256")
  for (const piece of pieces(file, size, start)) hash.update(piece)
  return hash.digest("hex")
}

/** Packs files into a new archive, not compressed. */
export const pack = (
  files: ReadonlyArray<SessionFiles.SessionFile>,
  about: { readonly sessionId: Identifier.SessionId; readonly cwd: string | null },
  to: string,
  time: number
): Manifest => {
  const listed = files.map(({ name, path, size }) => ({ name, size, sha256: digestOf(path, size) }))
  const manifest: Manifest = { format: FORMAT, version: VERSION, ...about, files: listed }
  const fd = fs.openSync(to, "wx", 0o600)
  const write = (bytes: Uint8Array): void => {
    for (let at = 0; at < bytes.length;) at += fs.writeSync(fd, bytes, at)
  }
  try {
    const said = Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`)
    for (const bytes of [Tar.header(MANIFEST, said.length, time), said, Tar.padding(said.length)]) write(bytes)
    for (const { name, path, size } of files) {
      write(Tar.header(name, size, time))
      for (const piece of pieces(path, size)) write(piece)
      write(Tar.padding(size))
    }
    write(Tar.end)
  } finally {
    fs.closeSync(fd)
  }
  return manifest
}

/** Refuses bytes that are not those announced. */
export const mustBe = ({ name, sha256 }: Pick<Member, "name" | "sha256">, digest: string): void => {
  if (sha256 !== digest) throw new Tar.Refused(`a file that differs from its digest: ${JSON.stringify(name)}`)
}

/** A file of a bundle, with the digest that it was announced with. */
export interface Member extends Tar.Member {
  readonly sha256: string
}

/** Reads manifest and headers, and refuses what does not agree. The main log comes last. */
export const inspect = (plain: string): { readonly manifest: Manifest; readonly members: ReadonlyArray<Member> } => {
  const length = fs.statSync(plain).size
  const read = (at: number, count: number): Buffer =>
    Buffer.concat([...pieces(plain, count, at)].map((piece) => Buffer.from(piece)))
  const members: Array<Tar.Member> = []
  for (const member of Tar.members(length, read)) {
    members.push(member)
    if (members.length > most.files) throw new Tar.Refused(`more than ${most.files} files`)
  }
  const [first, ...files] = members
  if (first?.name !== MANIFEST || first.size > most.manifest) throw new Tar.Refused("no manifest at its beginning")
  const manifest = manifestIn(read(first.start, first.size).toString("utf8"))
  const announced = new Map(manifest.files.map((file) => [file.name, file]))
  const names = new Set<string>()
  const places = { project: "/p", fileHistory: "/f" }
  for (const { name, size } of files) {
    const shown = JSON.stringify(name)
    if (SessionFiles.pathOf(name, manifest.sessionId, places) === undefined)
      throw new Tar.Refused(`a name that no file of a session has: ${shown}`)
    if (announced.get(name)?.size !== size)
      throw new Tar.Refused(`a file that its manifest does not announce so: ${shown}`)
    if (names.has(name.toLowerCase())) throw new Tar.Refused(`two files of one name: ${shown}`)
    names.add(name.toLowerCase())
  }
  if (files.length !== manifest.files.length || files.at(-1)?.name !== "session.jsonl") {
    throw new Tar.Refused("not all files that its manifest announces, the log of the session last")
  }
  return { manifest, members: files.map((file) => ({ ...file, sha256: announced.get(file.name)!.sha256 })) }
}

const isManifest = Schema.is(Manifest)

const manifestIn = (text: string): Manifest => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Tar.Refused("a manifest that is no JSON")
  }
  const { format, version } = (value ?? {}) as { readonly format?: unknown; readonly version?: unknown }
  if (format === FORMAT && typeof version === "number" && version > VERSION) {
    throw new Tar.Refused(`a bundle of version ${version}; this is for version ${VERSION}, take a newer one`)
  }
  if (!isManifest(value)) throw new Tar.Refused("a manifest of another kind")
  return value
}

/** Writes one file of the archive, with `move` line by line. */
export const unpack = (
  plain: string,
  { name, sha256, size, start }: Member,
  to: string,
  move: Moved.Move | undefined
): void => {
  const hash = createHash("sha256")
  const fd = fs.openSync(to, "wx", 0o600)
  const write = (bytes: Uint8Array): void => {
    for (let at = 0; at < bytes.length;) at += fs.writeSync(fd, bytes, at)
  }
  const lines = move === undefined ? undefined : Moved.lines(move, write)
  try {
    for (const piece of pieces(plain, size, start)) {
      hash.update(piece)
      if (lines === undefined) write(piece)
      else lines.push(piece)
    }
    lines?.end()
    mustBe({ name, sha256 }, hash.digest("hex"))
    fs.fsyncSync(fd)
  } finally {
    fs.closeSync(fd)
  }
}
