/**
 * Requests: what an `Ingress` asks, as requests of HTTP, and what it makes of the answers.
 */
import * as LineSplitter from "@reprise/domain/LineSplitter"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import { Buffer } from "node:buffer"
import {
  type Batch,
  type End,
  type Failure,
  type Ingress,
  type Put,
  type Target,
  UnexpectedAnswer
} from "../Ingress.ts"
import * as IngressApi from "../IngressApi.ts"
import { NotALog } from "../RemoteLog.ts"
import * as StreamLine from "../StreamLine.ts"
import * as Wire from "../Wire.ts"
import * as Answers from "./answers.ts"
import type * as Exchange from "./exchange.ts"
import { LONGEST } from "./loglines.ts"
import * as Queues from "./queues.ts"

type Service = Omit<Ingress["Service"], "urls">
type Talk = Effect.Success<ReturnType<typeof Exchange.make>>

const { headers } = Wire

/** A server bounds how much a body may grow (a hundredfold, by default): what shrinks by more than this goes as it is. */
const MOST_GROWTH = 50

const sizeOf = ({ body }: Exchange.Request): number => (body._tag === "Uint8Array" ? body.contentLength : 0)

/** What is asked of the remote that is talked to. */
export const make = ({ bytes, exchange }: Talk, gzip: boolean): Service => {
  const queued = Queues.make()
  const compressed = (request: Exchange.Request) =>
    gzip
      ? Effect.map(HttpClientRequest.compressBody(request, "gzip"), (small) =>
          sizeOf(request) > MOST_GROWTH * sizeOf(small) ? request : small
        )
      : Effect.succeed(request)

  const append: Service["append"] = (target, batch) =>
    queued(
      `${target.session}/${target.sub}`,
      Effect.flatMap(compressed(putting(target, batch)), (request) =>
        exchange(request, (response) =>
          isDone(response) ? Effect.map(Answers.textOf(response), appended(response)) : undefined
        )
      )
    )

  const put: Service["put"] = (session, entry, lastUuid) => {
    const request = HttpClientRequest.put(pathOf(session)).pipe(
      HttpClientRequest.bodyUint8Array(Buffer.from(entry), Wire.types.json),
      HttpClientRequest.setHeaders(lastUuid === undefined ? {} : { [headers.lastUuid]: lastUuid })
    )
    const read: Exchange.Read<Put> = (response) => {
      const { status } = response
      if (!isDone(response) && status !== 409) return undefined
      // The body is read to its end, so that the connection can be used again.
      return Effect.as(
        Answers.textOf(response),
        status === 409 ? { _tag: "Refused", head: response.headers[headers.head] } : { _tag: "Stored" }
      )
    }
    return queued(`${session}/`, exchange(request, read))
  }

  const opened = (request: Exchange.Request): Effect.Effect<HttpClientResponse, Failure> =>
    exchange(request, (response) => (isDone(response) ? Effect.succeed(response) : undefined))

  const loglines: Service["loglines"] = (session) =>
    Stream.unwrap(Effect.map(opened(HttpClientRequest.get(pathOf(session))), bytes))

  const page = (target: Target, after: string | undefined) =>
    Effect.map(opened(paging(target, after)), (response) => ({
      total: total(response),
      lines: linesIn(bytes(response))
    }))

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
    exchange(HttpClientRequest.get(`${pathOf(session)}/streams`), (response) =>
      isDone(response)
        ? Effect.map(decoded(response, decodeStreams), ({ epoch, streams }) => ({
            epoch,
            streams: streams.map((one) => ({ ...one, ...endOf(one, response) }))
          }))
        : undefined
    )

  const claim: Service["claim"] = (session, writerId) =>
    exchange(
      HttpClientRequest.post(`${pathOf(session)}/writers`).pipe(HttpClientRequest.bodyJsonUnsafe({ writerId })),
      (response) =>
        isDone(response)
          ? Effect.map(decoded(response, decodeClaimed), (claimed) => ({
              epoch: claimed.epoch,
              ...endOf(claimed, response)
            }))
          : undefined
    )

  const sessions: Service["sessions"] = (project) =>
    Stream.paginate(undefined as string | undefined, (cursor) =>
      exchange(
        HttpClientRequest.get("/sessions").pipe(
          HttpClientRequest.setUrlParams({ ...(project !== undefined && { project }), ...(cursor && { cursor }) })
        ),
        (response) =>
          isDone(response)
            ? Effect.map(
                decoded(response, decodeSessions),
                ({ next_cursor, sessions }) =>
                  [
                    sessions,
                    next_cursor === null || next_cursor === cursor ? Option.none() : Option.some(next_cursor)
                  ] as const
              )
            : undefined
      )
    )

  const remove: Service["remove"] = (session) =>
    exchange(HttpClientRequest.delete(pathOf(session)), (response) =>
      isDone(response) ? Effect.asVoid(Answers.textOf(response)) : undefined
    )

  return { append, put, loglines, lines: (target) => pages(target), streams, claim, sessions, remove }
}

const pathOf = (session: string): string => `/session/${encodeURIComponent(session)}`

const putting = ({ session, sub }: Target, { lastUuid, lines, writer }: Batch): Exchange.Request =>
  HttpClientRequest.put(pathOf(session)).pipe(
    HttpClientRequest.bodyUint8Array(
      Buffer.from(lines.map((line) => `${StreamLine.encode(line)}\n`).join("")),
      Wire.types.ndjson
    ),
    HttpClientRequest.setHeaders({
      ...(lastUuid !== undefined && { [headers.lastUuid]: lastUuid }),
      ...(sub !== "" && { [headers.stream]: sub }),
      ...(writer !== undefined && { [headers.writer]: Wire.writer(writer.id, writer.epoch) })
    })
  )

const paging = ({ session, sub }: Target, after: string | undefined): Exchange.Request =>
  HttpClientRequest.get(pathOf(session)).pipe(
    HttpClientRequest.accept(Wire.types.ndjson),
    HttpClientRequest.setUrlParams({ ...(sub !== "" && { stream: sub }), ...(after !== undefined && { after }) })
  )

const isDone = ({ status }: HttpClientResponse): boolean => status >= 200 && status < 300

/** Where a stream ends, by the headers of an answer, or by what its body says. */
const endOf = (
  { head, seq }: { readonly head?: string | null; readonly seq?: number },
  { headers: said }: HttpClientResponse
): End => ({ head: head ?? undefined, seq: seq ?? 0, backend: said[headers.backend] })

const total = ({ headers: said }: HttpClientResponse): number => {
  const seq = said[headers.seq]
  return seq !== undefined && /^\d{1,15}$/.test(seq) ? Number(seq) : 0
}

/** The end of a stream as an append found it: its headers say what is the end now. */
const appended = (response: HttpClientResponse) => (text: string) => {
  const body = Option.getOrUndefined(Answers.jsonIn(text)) as { readonly duplicate?: unknown } | null | undefined
  const duplicate = body?.duplicate === true
  return { ...endOf({ head: response.headers[headers.head] ?? null, seq: total(response) }, response), duplicate }
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

const decoded = <A>(response: HttpClientResponse, decode: (value: unknown) => Option.Option<A>) =>
  Effect.flatMap(Answers.textOf(response), (text) =>
    Option.match(Option.flatMap(Answers.jsonIn(text), decode), {
      onNone: () => new UnexpectedAnswer({ status: response.status, found: Answers.shown(text) }),
      onSome: Effect.succeed
    })
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
