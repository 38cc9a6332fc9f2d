/**
 * Gzip: a file made smaller, and made what it was, as streams: neither is ever held.
 */
import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import { pipeline, Transform } from "node:stream"
import * as zlib from "node:zlib"
import { Refused } from "./tar.ts"

/** Compresses a file into a new one. */
export const compress = (from: string, to: string): Effect.Effect<void, unknown> =>
  run(() => [
    fs.createReadStream(from),
    zlib.createGzip(),
    fs.createWriteStream(to, { flags: "wx", mode: 0o600, flush: true })
  ])

/** Expands a file, compressed or not, into a new one of at most so many bytes. */
export const expand = (from: string, to: string, most: number): Effect.Effect<void, unknown> =>
  run(() => {
    const { fd, isGzip } = open(from)
    let size = 0
    const limit = new Transform({
      transform: (chunk: Uint8Array, _, done) => {
        size += chunk.length
        if (size > most) done(new Refused(`it holds more than ${most} bytes; allow more where it is trusted`))
        else done(null, chunk)
      }
    })
    const sink = fs.createWriteStream(to, { flags: "wx", mode: 0o600 })
    return [fs.createReadStream(from, { fd, start: 0 }), ...(isGzip ? [zlib.createGunzip()] : []), limit, sink]
  })

const run = (make: () => ReadonlyArray<NodeJS.ReadableStream | NodeJS.WritableStream | NodeJS.ReadWriteStream>) =>
  Effect.callback<void, unknown>((resume, signal) => {
    try {
      const streams = make() as Array<NodeJS.ReadWriteStream>
      pipeline(streams, (error) => resume(error ? Effect.fail(error) : Effect.void))
      signal.addEventListener("abort", () => (streams[0] as unknown as fs.ReadStream).destroy())
    } catch (error) {
      resume(Effect.fail(error))
    }
  })

/** Opens a file to read, but no pipe or device, for which one could wait without end. */
const open = (file: string): { readonly fd: number; readonly isGzip: boolean } => {
  const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
  try {
    const stat = fs.fstatSync(fd)
    if (stat.isDirectory()) throw new Refused("a directory; name the archive in it")
    if (!stat.isFile()) throw new Refused("no regular file; make one of it first")
    const magic = Buffer.alloc(2)
    return { fd, isGzip: fs.readSync(fd, magic, 0, 2, 0) === 2 && magic[0] === 0x1f && magic[1] === 0x8b }
  } catch (cause) {
    fs.closeSync(fd)
    throw cause
  }
}

/** Fails where there is no file that could be expanded. */
export const mustBeFile = (file: string): void => fs.closeSync(open(file).fd)
