/**
 * ReplicaCursor: how much of a log a remote has, in a file beside the log.
 *
 *   <log>.jsonl.ingress     { byte, line, file, known, head, seq, received, backend, writer }
 *
 * 1. The log is the spool: what stands behind the cursor is to be sent, and nothing else is kept for that.
 * 2. It is written when the remote has answered, so what it says is there. What the remote has beyond it is known there
 *    by its keys, when it is sent again.
 * 3. It says which log it is of: one that was replaced, cut or written over is sent anew, from its beginning. A cursor
 *    that is lost or cannot be read costs that, and no more.
 */
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SideFile from "@reprise/storage/SideFile"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Buffer } from "node:buffer"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import * as os from "node:os"

const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

/**
 * A cursor. `byte` and `line` are where the first line begins that is to be sent. `file` is the number of the file, and
 * `known` a digest of its last bytes before `byte`. `head` is the id of the last line of the remote that has one, `seq`
 * how many it has. Lines within the byte ranges of `received` came from the remote and are not sent. `backend` names the
 * store of the remote. `writer` is what was claimed, and on which host; of a session, its main log has it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ReplicaCursor = Schema.Struct({
  version: Schema.Literal(1),
  byte: Count,
  line: Count.check(Schema.isGreaterThan(0)),
  file: Schema.String,
  known: Schema.String,
  head: Schema.NullOr(Schema.String),
  seq: Count,
  received: Schema.Array(Schema.Tuple([Count, Count])),
  backend: Schema.optionalKey(Schema.String),
  writer: Schema.optionalKey(Schema.Struct({ id: Schema.String, epoch: Count, host: Schema.String }))
})

/**
 * What {@link ReplicaCursor} accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type ReplicaCursor = typeof ReplicaCursor.Type

/**
 * What identifies a log up to a byte.
 *
 * @category models
 * @since 0.1.0
 */
export type Identity = Pick<ReplicaCursor, "byte" | "file" | "known">

/**
 * The cursor at the beginning of a log, which no remote has.
 *
 * @category constructors
 * @since 0.1.0
 */
export const start: ReplicaCursor = {
  version: 1,
  byte: 0,
  line: 1,
  file: "",
  known: "",
  head: null,
  seq: 0,
  received: []
}

/**
 * The file of a log's cursor.
 *
 * @category combinators
 * @since 0.1.0
 */
export const fileOf = (log: string): string => `${log}.ingress`

/**
 * Reads the cursor of the log at a path; undefined where there is none that can be read.
 *
 * @category reading
 * @since 0.1.0
 */
export const read = (log: string): Effect.Effect<ReplicaCursor | undefined, EntryLog.EntryLogError> =>
  Effect.map(SideFile.read(fileOf(log)), (text) =>
    text === undefined ? undefined : Option.getOrUndefined(decode(text))
  )

/**
 * Writes the cursor of the log at a path; returns when the disk has it.
 *
 * @category writing
 * @since 0.1.0
 */
export const write = (log: string, cursor: ReplicaCursor): Effect.Effect<void, EntryLog.EntryLogError> =>
  SideFile.write(fileOf(log), `${JSON.stringify(cursor)}\n`)

/**
 * What identifies the log at a path, as it is now, up to a byte; undefined where it does not reach that far.
 *
 * @category reading
 * @since 0.1.0
 */
export const identify = (log: string, byte: number): Effect.Effect<Identity | undefined, EntryLog.EntryLogError> =>
  Effect.try({
    try: () => {
      if (!fs.existsSync(log)) return undefined
      const fd = fs.openSync(log, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
      try {
        const bytes = Buffer.alloc(Math.min(KNOWN, byte))
        const count = fs.readSync(fd, bytes, 0, bytes.length, byte - bytes.length)
        if (count < bytes.length) return undefined
        const file = String(fs.fstatSync(fd, { bigint: true }).ino)
        return { byte, file, known: createHash("sha256").update(bytes).digest("base64url") }
      } finally {
        fs.closeSync(fd)
      }
    },
    catch: (cause) => new EntryLog.EntryLogError({ operation: "read", path: log, reason: "Other", cause })
  })

/**
 * Is the log at a path still the one that the cursor is of?
 *
 * @category reading
 * @since 0.1.0
 */
export const holds = (log: string, cursor: ReplicaCursor): Effect.Effect<boolean, EntryLog.EntryLogError> =>
  cursor.byte === 0
    ? Effect.succeed(true)
    : Effect.map(
        identify(log, cursor.byte),
        (now) => now !== undefined && now.file === cursor.file && now.known === cursor.known
      )

/**
 * Was the claim in the cursor of the log at a path made here? A copy of log and cursor, on another machine or beside the
 * first, has no claim: two of them would be one writer.
 *
 * @category reading
 * @since 0.1.0
 */
export const isOurs = (log: string, cursor: ReplicaCursor): Effect.Effect<boolean, EntryLog.EntryLogError> =>
  cursor.writer === undefined || cursor.writer.host !== os.hostname()
    ? Effect.succeed(false)
    : Effect.map(
        identify(log, cursor.byte),
        (now) => (now?.file ?? "") === cursor.file && (now?.known ?? "") === cursor.known
      )

/** So many bytes before the cursor tell whether the log is still the same. */
const KNOWN = 64

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(ReplicaCursor))
