/**
 * Reading: `GET /session/{id}`: all of a stream, a page of it, or what comes.
 *
 *   Accept: application/x-ndjson      a page of lines, closed by a checkpoint
 *   ?follow=ndjson                    lines and checkpoints, as the stream grows
 *   ?follow=sse, text/event-stream    the same as events; `id` is the cursor
 *   ?limit= or ?after=                a page as JSON
 *   nothing of it                     all as JSON, which is what the compat profile asks for
 *
 * Texts go out as they were stored. An answer is never cut in silence: where the store fails in the middle, the connection
 * breaks, and a page of lines without its checkpoint is none.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Cursor from "../../Cursor.ts"
import { BadRequest, type ReadError } from "../../IngressError.ts"
import type { Head, IngressStore, Page } from "../../IngressStore.ts"
import type { Limits } from "../../Limits.ts"
import type { StreamAddress } from "../../StreamAddress.ts"
import * as StreamLine from "../../StreamLine.ts"
import * as Wire from "../../Wire.ts"
import type { Admission } from "./admission.ts"
import { permit } from "./authorization.ts"
import * as Ends from "./ends.ts"
import * as Following from "./following.ts"

interface Request {
  readonly params: { readonly id: string }
  readonly headers: { readonly [key: string]: string | undefined }
  readonly query: {
    readonly stream?: string
    readonly after?: string
    readonly limit?: string
    readonly after_last_compact?: string
    readonly follow?: "ndjson" | "sse"
  }
  readonly request: HttpServerRequest
}

/** Answers reads with this store. */
export const make = (
  store: IngressStore["Service"],
  admission: Admission,
  limits: Limits,
  stopping: Effect.Effect<void>
) => {
  const follow = Following.make(store, admission, limits, stopping)

  /** The place behind which to read. */
  const placeOf = (cursor: string | undefined): Effect.Effect<number, BadRequest> => {
    if (cursor === undefined || cursor === "") return Effect.succeed(0)
    const seq = Cursor.seqOf(store.backendId, cursor)
    return seq === undefined
      ? Effect.fail(new BadRequest({ detail: "expected a cursor of this store. Read from the beginning." }))
      : Effect.succeed(seq)
  }

  const whole = (stream: StreamAddress, head: Head, first: Page, fromBoundary: boolean) => {
    const rest = (from: Page): Stream.Stream<Page, ReadError> =>
      from.end
        ? Stream.empty
        : Stream.unwrap(
            Effect.map(store.read(stream, { after: from.next, ...pageOf(limits), fromBoundary }), (page) =>
              Stream.concat(
                Stream.succeed(page),
                Stream.suspend(() => rest(page))
              )
            )
          )
    const parts = Stream.concat(
      Stream.succeed(first),
      Stream.suspend(() => rest(first))
    ).pipe(
      Stream.map((page) => entriesOf(page)),
      Stream.filter((text) => text !== ""),
      Stream.zipWithIndex,
      Stream.map(([text, index]) => (index === 0 ? text : `,${text}`))
    )
    const body = Stream.make('{"loglines":[').pipe(Stream.concat(parts), Stream.concat(Stream.make("]}\n")))
    return HttpServerResponse.stream(Stream.encodeText(body), {
      contentType: Wire.types.json,
      headers: Ends.headersOf(head, store.backendId)
    })
  }

  const answer = (page: Page, head: Head, asLines: boolean) => {
    const cursor = Cursor.make(store.backendId, page.next)
    const headers = {
      ...Ends.headersOf(head, store.backendId),
      [Wire.headers.cursor]: cursor,
      [Wire.headers.end]: String(page.end)
    }
    if (asLines) {
      const lines = [...page.lines.map(StreamLine.encode), StreamLine.encodeCheckpoint({ cursor, end: page.end }), ""]
      return HttpServerResponse.text(lines.join("\n"), { contentType: Wire.types.ndjson, headers })
    }
    const more = `"next_cursor":${JSON.stringify(cursor)},"has_more":${!page.end}`
    return HttpServerResponse.text(`{"loglines":[${entriesOf(page)}],${more}}\n`, {
      contentType: Wire.types.json,
      headers
    })
  }

  return Effect.fnUntraced(function* ({ headers, params, query, request }: Request) {
    const session = params.id
    const tenant = yield* permit(["read"], session)
    const stream = { tenant, session, sub: query.stream ?? headers[Wire.headers.stream] ?? "" }
    const accept = request.headers["accept"] ?? ""
    const after = yield* placeOf(query.after ?? headers[Wire.headers.lastEventId])
    const fromBoundary = isTrue(query.after_last_compact)
    const form = query.follow ?? (accept.includes(Wire.types.events) ? "sse" : undefined)
    if (form !== undefined) return yield* follow(stream, after, form)

    const lines = yield* limitOf(query.limit, limits.pageLines)
    const range = { after, lines, bytes: limits.page, fromBoundary }
    const [head, page] = yield* Effect.all([store.head(stream), store.read(stream, range)], { concurrency: 2 })
    const asLines = accept.includes(Wire.types.ndjson)
    const isPage = asLines || query.limit !== undefined || query.after !== undefined
    return isPage ? answer(page, head, asLines) : whole(stream, head, page, fromBoundary)
  })
}

/** As much as a page may hold. */
const pageOf = ({ page, pageLines }: Limits) => ({ lines: pageLines, bytes: page })

/** A limit of a query, no higher than the server's own. */
export const limitOf = (text: string | undefined, most: number): Effect.Effect<number, BadRequest> => {
  if (text === undefined) return Effect.succeed(most)
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0
  return limit > 0
    ? Effect.succeed(Math.min(limit, most))
    : Effect.fail(new BadRequest({ detail: "expected limit to be a number above 0" }))
}

const isTrue = (text: string | undefined): boolean =>
  text !== undefined && text !== "" && text !== "0" && text !== "false"

/** The entries of a page in JSON; lines that are none have no place there. */
const entriesOf = ({ lines }: Page): string =>
  lines.flatMap(({ text }) => (StreamLine.isEntry(text) ? [text] : [])).join(",")
