/**
 * LockFile: at most one live owner of a file, by links alone. Synchronous; it throws what `node:fs` throws.
 *
 *   x.lock (A, dead) ◀─ x.lock.A (B, dead) ◀─ x.lock.B (C)      a chain of claims: its end is the owner
 *   x.lock (C)                                                  C renames its claim to the root, and the rest is litter
 *
 * 1. A claim is a link: it is made whole or not at all, and never over another. The successor of A is called by A's
 *    nonce, so of all that find A dead exactly one is its successor.
 * 2. A claim counts when it is the end of the chain *after* it was made: who found an old state finds itself off it.
 * 3. The root changes only by its owner: a successor renames its own claim over it, a live owner that lets go becomes
 *    its own successor first. So who was taken over in error takes nothing away from its successor.
 * 4. A nonce is used once: a name that was free and is taken again is never mistaken for the former.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import * as Directories from "./directories.ts"
import * as Owner from "./owner.ts"

/** The file of a claim that holds; `fd` keeps it open for the heartbeat. */
export interface Held {
  readonly file: string
  readonly owner: Owner.Owner
  readonly fd: number
}

/** A claim as it is found: its owner, and how long ago it was last touched, by the clock of the file system. */
interface Claim {
  readonly owner: Owner.Owner
  readonly age: number
}

/** Owners that only their heartbeat tells of are dead when they missed it for so long, in milliseconds. */
const STALE = 60_000

/** A claim that cannot be read may be on its way through a system without links for so long, in milliseconds. */
const UNREADABLE = 10_000

/** More rounds than any crowd of takers needs. */
const ROUNDS = 10_000

/** Claims the file for the owner: held, or the live owner that is in the way. */
export const claim = (
  file: string,
  owner: Owner.Owner
): { readonly held: Held } | { readonly by: Owner.Owner; readonly age: number } => {
  const own = write(file, owner)
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const last = chainOf(file, own.time).at(-1)
      if (last !== undefined && !isDead(last)) {
        // A chain whose root was replaced while it was read may end with a claim that steps back.
        if (!isEnd(file, own.time, last.owner)) continue
        return { by: last.owner, age: last.age }
      }
      const name = last === undefined ? file : successor(file, last.owner)
      if (!link(own.name, name)) continue
      const fd = settle(file, name, own, owner)
      if (fd !== undefined) return { held: { file, owner, fd } }
    }
  } finally {
    remove(own.name)
  }
  throw new Error(`the lock ${file} was claimed and let go by others ${ROUNDS} times`)
}

/** The descriptor of a claim that counts; one that does not, or cannot be made to, leaves nothing behind. */
const settle = (file: string, name: string, own: Draft, owner: Owner.Owner): number | undefined => {
  let fd: number | undefined
  try {
    fd = fs.openSync(name, fs.constants.O_RDWR)
    if (isEnd(file, own.time, owner)) {
      if (name === file) return fd
      fs.renameSync(name, file)
      sweep(file, own)
      return fd
    }
    fs.closeSync(fd)
    remove(name)
    return undefined
  } catch (cause) {
    if (fd !== undefined) fs.closeSync(fd)
    remove(name)
    throw cause
  }
}

/**
 * Touches the claim, so that other hosts see that the owner lives; gives whoever has it instead. A lock file that was
 * removed is made again.
 */
export const beat = (held: Held): Owner.Owner | undefined => {
  const { fd, file, owner } = held
  say(fd, owner)
  const found = ownerOf(file)
  if (found !== undefined) return found.nonce === owner.nonce ? undefined : found
  const own = write(file, owner)
  try {
    return link(own.name, file) ? undefined : ownerOf(file)
  } finally {
    remove(own.name)
  }
}

/** Lets go; what another owns meanwhile is left alone. */
export const release = (held: Held, nonce: string): void => {
  const { fd, owner } = held
  try {
    leave(held, nonce)
  } catch {
    // On a full disk there is no room for a successor, but for the word of its owner that it is gone.
    say(fd, { ...owner, pid: 0 })
  } finally {
    fs.closeSync(fd)
  }
}

const leave = ({ file, owner }: Held, nonce: string): void => {
  const leaving: Owner.Owner = { ...owner, nonce }
  const own = write(file, leaving)
  try {
    const name = successor(file, owner)
    if (!link(own.name, name)) return
    // The file goes first: a claim that finds no root starts anew.
    if (isEnd(file, own.time, leaving)) remove(file)
    remove(name)
  } finally {
    remove(own.name)
  }
}

/** The owner of the file, dead or alive; nothing when it is free. */
const ownerOf = (file: string): Owner.Owner | undefined => chainOf(file, 0).at(-1)?.owner

const successor = (file: string, { nonce }: Owner.Owner): string => `${file}.${nonce}`

const text = (owner: Owner.Owner): string => `${JSON.stringify(owner)}\n`

/** Says in place who the owner is; that needs no room. */
const say = (fd: number, owner: Owner.Owner): void => {
  const record = text(owner)
  fs.writeSync(fd, record, 0)
  fs.ftruncateSync(fd, Buffer.byteLength(record))
}

interface Draft {
  readonly name: string
  /** The time of the file system, in milliseconds since 1970. */
  readonly time: number
}

const write = (file: string, owner: Owner.Owner): Draft => {
  const name = `${successor(file, owner)}.new`
  try {
    fs.writeFileSync(name, text(owner), { flag: "wx", mode: 0o600 })
    return { name, time: fs.statSync(name).mtimeMs }
  } catch (cause) {
    remove(name)
    throw cause
  }
}

const chainOf = (file: string, time: number): ReadonlyArray<Claim> => {
  const chain: Array<Claim> = []
  for (let name = file; ;) {
    const claim = read(name, time)
    if (claim === undefined || chain.some(({ owner }) => owner.nonce === claim.owner.nonce)) return chain
    chain.push(claim)
    name = successor(file, claim.owner)
  }
}

const isEnd = (file: string, time: number, { nonce }: Owner.Owner): boolean =>
  chainOf(file, time).at(-1)?.owner.nonce === nonce

const read = (name: string, time: number): Claim | undefined => {
  try {
    const { ino, mtimeMs } = fs.statSync(name)
    const owner = Owner.parse(fs.readFileSync(name, "utf8")) ?? unreadable(`unreadable-${ino}`)
    return { owner, age: time - mtimeMs }
  } catch (cause) {
    if (Directories.codeOf(cause) === "ENOENT") return undefined
    throw cause
  }
}

const unreadable = (nonce: string): Owner.Owner => ({ nonce, host: "", pid: 0, since: "" })

const isDead = ({ age, owner }: Claim): boolean => {
  if (owner.host === "") return age > UNREADABLE
  const state = Owner.state(owner)
  return state === "dead" || (state === "unknown" && age > STALE)
}

const link = (from: string, to: string): boolean => {
  try {
    fs.linkSync(from, to)
    return true
  } catch (cause) {
    if (Directories.codeOf(cause) === "EEXIST") return false
    if (!Directories.isLinkless(cause)) throw cause
  }
  return copy(from, to)
}

/** Without hard links, the claim is not whole for a moment. */
const copy = (from: string, to: string): boolean => {
  try {
    fs.copyFileSync(from, to, fs.constants.COPYFILE_EXCL)
    return true
  } catch (cause) {
    if (Directories.codeOf(cause) === "EEXIST") return false
    throw cause
  }
}

const remove = (name: string): void => fs.rmSync(name, { force: true })

/** Claims of the dead that nothing leads to any more; the draft is younger than all that are still under way. */
const sweep = (file: string, own: Draft): void => {
  const folder = path.dirname(file)
  const prefix = `${path.basename(file)}.`
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const full = path.join(folder, entry.name)
    if (!entry.name.startsWith(prefix) || !entry.isFile() || full === own.name) continue
    const claim = read(full, own.time)
    if (claim !== undefined && isDead(claim)) remove(full)
  }
}
