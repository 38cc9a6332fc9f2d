/**
 * Requests: what an `Ingress` asks, as requests of HTTP, and what it makes of the answers.
 */
import * as LineSplitter from "@reprise/domain/LineSplitter"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Buffer } from "node:buffer"
import { type Batch, type End, type Ingress, type Put, type Target, UnexpectedAnswer } from "../Ingress.ts"
import * as IngressApi from "../IngressApi.ts"
import { NotALog } from "../RemoteLog.ts"
import * as StreamLine from "../StreamLine.ts"
import * as Wire from "../Wire.ts"
import * as Answers from "./answers.ts"
import * as Exchange from "./exchange.ts"
import * as Gzip from "./gzip.ts"
import { LONGEST } from "./loglines.ts"
import * as Queues from "./queues.ts"
import type * as Transport from "./transport/transport.ts"

type Service = Omit<Ingress["Service"], "urls">
type Talk = ReturnType<typeof Exchange.make>

const { headers } = Wire

/** What is asked of the remote that is talked to. */
export const make = ({ ask, open }: Talk, gzip: boolean): Service => {
  const queued = Queues.make()
  const squeezed = gzip ? Gzip.compressed : Effect.succeed<Transport.Request>

  const append: Service["append"] = (target, batch) =>
    queued(
      `${target.session}/${target.sub}`,
      Effect.map(Effect.flatMap(squeezed(putting(target, batch)), ask), appended)
    )

  const put: Service["put"] = (session, entry, lastUuid) =>
    queued(
      `${session}/`,
      Effect.map(ask(puttingOne(session, entry, lastUuid), isDoneOrRefused), ({ header, status }): Put =>
        status === REFUSED ? { _tag: "Refused", head: header(headers.head) } : { _tag: "Stored" }
      )
    )

  const loglines: Service["loglines"] = (session) =>
    Stream.unwrap(Effect.map(open(getting(pathOf(session))), ({ bytes }) => bytes))

  const page = (target: Target, after: string | undefined) =>
    Effect.map(open(paging(target, after)), (answer) => ({ total: total(answer), lines: linesIn(answer.bytes) }))

  /** The pages of a stream from a cursor on; `count` lines were in those before. */
  const pages = (target: Target, after?: string, count = 0): ReturnType<Service["lines"]> =>
    Stream.unwrap(
      Effect.map(page(target, after), ({ lines, total }) => {
        let read = count
        let checkpoint: StreamLine.Checkpoint | undefined
        const own = Stream.map(lines, (some) =>
          some.flatMap((line) => {
            if ("cursor" in line) checkpoint = line
            else read++
            return "cursor" in line ? [] : [line]
          })
        )
        const rest = Stream.suspend(() => {
          if (checkpoint === undefined) return Stream.fail(notALog("a page that is closed", "one that is cut off"))
          if (!checkpoint.end && read > count) return pages(target, checkpoint.cursor, read)
          return checkpoint.end && read >= total
            ? Stream.empty
            : Stream.fail(notALog(`${total} lines of the stream`, `${read}`))
        })
        return Stream.concat(Stream.flattenIterable(own), rest)
      })
    )

  const streams: Service["streams"] = (session) =>
    Effect.flatMap(ask(getting(`${pathOf(session)}/streams`)), (answer) =>
      Effect.map(decoded(answer, decodeStreams), ({ epoch, streams }) => ({
        epoch,
        streams: streams.map((one) => ({ ...one, ...endOf(one, answer) }))
      }))
    )

  const claim: Service["claim"] = (session, writerId) =>
    Effect.flatMap(ask(claiming(session, writerId)), (answer) =>
      Effect.map(decoded(answer, decodeClaimed), (claimed) => ({ epoch: claimed.epoch, ...endOf(claimed, answer) }))
    )

  const sessions: Service["sessions"] = (project) =>
    Stream.paginate(undefined as string | undefined, (cursor) =>
      Effect.map(
        Effect.flatMap(ask(getting("/sessions", { project, cursor })), (answer) => decoded(answer, decodeSessions)),
        ({ next_cursor, sessions }) =>
          [sessions, next_cursor === null || next_cursor === cursor ? Option.none() : Option.some(next_cursor)] as const
      )
    )

  const remove: Service["remove"] = (session) =>
    Effect.asVoid(ask({ method: "DELETE", path: pathOf(session), headers: {} }))

  return { append, put, loglines, lines: (target) => pages(target), streams, claim, sessions, remove }
}

/** Of the compat profile, the answer that a log ends elsewhere. */
const REFUSED = 409

const isDoneOrRefused = (status: number): boolean => Exchange.isDone(status) || status === REFUSED

const pathOf = (session: string): string => `/session/${encodeURIComponent(session)}`

const putting = ({ session, sub }: Target, { backend, lastUuid, lines, writer }: Batch): Transport.Request => ({
  method: "PUT",
  path: pathOf(session),
  headers: {
    "content-type": Wire.types.ndjson,
    ...(lastUuid !== undefined && { [headers.lastUuid]: lastUuid }),
    ...(sub !== "" && { [headers.stream]: sub }),
    ...(writer !== undefined && { [headers.writer]: Wire.writer(writer.id, writer.epoch) }),
    ...(backend !== undefined && { [headers.backend]: backend })
  },
  body: Buffer.from(lines.map((line) => `${StreamLine.encode(line)}\n`).join(""))
})

const puttingOne = (session: string, entry: string, lastUuid: string | undefined): Transport.Request => ({
  method: "PUT",
  path: pathOf(session),
  headers: {
    "content-type": Wire.types.json,
    ...(lastUuid !== undefined && { [headers.lastUuid]: lastUuid })
  },
  body: Buffer.from(entry)
})

const claiming = (session: string, writerId: string): Transport.Request => ({
  method: "POST",
  path: `${pathOf(session)}/writers`,
  headers: { "content-type": Wire.types.json },
  body: Buffer.from(JSON.stringify({ writerId }))
})

/** A request without body; parts of its query that are not there are left out. */
const getting = (path: string, query: Readonly<Record<string, string | undefined>> = {}): Transport.Request => {
  const parts = Object.entries(query).filter((part): part is [string, string] => part[1] !== undefined)
  const text = new URLSearchParams(parts).toString()
  return { method: "GET", path: text === "" ? path : `${path}?${text}`, headers: {} }
}

const paging = ({ session, sub }: Target, after: string | undefined): Transport.Request => ({
  ...getting(pathOf(session), { stream: sub === "" ? undefined : sub, after }),
  headers: { accept: Wire.types.ndjson }
})

/** Where a stream ends, by the headers of an answer, or by what its body says. */
const endOf = (
  { head, seq }: { readonly head?: string | null; readonly seq?: number },
  { header }: Transport.Answer
): End => ({ head: head ?? undefined, seq: seq ?? 0, backend: header(headers.backend) })

const total = ({ header }: Transport.Answer): number => {
  const seq = header(headers.seq)
  return seq !== undefined && /^\d{1,15}$/.test(seq) ? Number(seq) : 0
}

/** The end of a stream as an append found it: its headers say what is the end now. */
const appended = (answer: Transport.Whole) => {
  const body = Option.getOrUndefined(Answers.jsonIn(answer.text())) as
    | { readonly duplicate?: unknown }
    | null
    | undefined
  const end = endOf({ head: answer.header(headers.head) ?? null, seq: total(answer) }, answer)
  return { ...end, duplicate: body?.duplicate === true }
}

/** The lines of an answer, and the checkpoint that closes it. */
const linesIn = <E>(
  bytes: Stream.Stream<Uint8Array, E>
): Stream.Stream<ReadonlyArray<StreamLine.StreamLine | StreamLine.Checkpoint>, E | NotALog> =>
  Stream.suspend(() => {
    let lines: Array<string> = []
    let carried = 0
    const splitter = LineSplitter.make((line) =>
      lines.push(Buffer.from(line.buffer, line.byteOffset, line.length).toString())
    )
    return Stream.mapEffect(bytes, (chunk) => {
      lines = []
      splitter.push(chunk)
      carried = lines.length > 0 ? 0 : carried + chunk.length
      if (carried > LONGEST) return Effect.fail(notALog("lines of a stream", "one that does not end"))
      const read = Result.all(lines.map(StreamLine.decodeAnswer))
      return Effect.fromResult(Result.mapError(read, (found) => notALog("lines of a stream", found)))
    })
  })

const notALog = (expected: string, found: string) => new NotALog({ expected, found })

const decoded = <A>({ status, text }: Transport.Whole, decode: (value: unknown) => Option.Option<A>) =>
  Effect.mapError(
    Effect.fromOption(Option.flatMap(Answers.jsonIn(text()), decode)),
    () => new UnexpectedAnswer({ status, found: Answers.shown(text()) })
  )

const decodeStreams = Schema.decodeUnknownOption(
  Schema.Struct({
    epoch: Schema.Int,
    streams: Schema.Array(Schema.Struct({ ...IngressApi.StreamInfo.fields, stream: Schema.String }))
  })
)
const decodeClaimed = Schema.decodeUnknownOption(IngressApi.Claimed)
const decodeSessions = Schema.decodeUnknownOption(
  Schema.Struct({ sessions: Schema.Array(IngressApi.SessionInfo), next_cursor: Schema.NullOr(Schema.String) })
)
