/**
 * Following: a stream as it grows, from a cursor on.
 *
 *   {"k":…}  {"k":…}  {"c":"<cursor>","end":true}        … and so on; a checkpoint alone says that it still listens
 *   id: <cursor>  data: {"k":…}                          … as events: who comes back with the last id misses nothing
 *
 * 1. A page is read when the client has taken the one before: a slow client costs one page, and a client that takes
 *    nothing loses its connection to the time limit of the socket.
 * 2. It ends by itself after about a minute, so that clients spread anew over servers, and at once when the server stops.
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Cursor from "../../Cursor.ts"
import type { ReadError } from "../../IngressError.ts"
import type { IngressStore, Page } from "../../IngressStore.ts"
import type { Limits } from "../../Limits.ts"
import { keyOf, type StreamAddress } from "../../StreamAddress.ts"
import * as StreamLine from "../../StreamLine.ts"
import * as Wire from "../../Wire.ts"
import type { Admission } from "./admission.ts"
import * as Ends from "./ends.ts"

type Form = "ndjson" | "sse"

/** Who hears nothing for so long is told that the connection lives. */
const QUIET = "10 seconds"

/** Answers followers of this store, until `stopping`. */
export const make = (
  store: IngressStore["Service"],
  { follow }: Admission,
  limits: Limits,
  stopping: Effect.Effect<void>
) =>
  Effect.fnUntraced(function* (stream: StreamAddress, from: number, form: Form) {
    const head = yield* store.head(stream)
    yield* follow(keyOf({ ...stream, sub: "" }))
    const cursorOf = (seq: number) => Cursor.make(store.backendId, seq)
    const write = form === "sse" ? events(cursorOf) : lines(cursorOf)
    let after = from

    /** All that the stream has grown since, or that it has not: the one who asks first, or after a silence, hears that. */
    const since = (isAsked: boolean): Stream.Stream<string, ReadError> =>
      Stream.unwrap(
        Effect.map(store.read(stream, { after, lines: limits.pageLines, bytes: limits.page }), (page) => {
          after = page.next
          if (page.lines.length === 0) return isAsked ? Stream.succeed(write.quiet(after)) : Stream.empty
          const here = Stream.succeed(write.page(page))
          return page.end
            ? here
            : Stream.concat(
                here,
                Stream.suspend(() => since(false))
              )
        })
      )
    // One after the other, so that no checkpoint overtakes the lines before it.
    const grown = Stream.map(Stream.zipWithIndex(store.changes(stream)), ([, index]) => index === 0)
    const silent = Stream.as(Stream.drop(Stream.tick(QUIET), 1), true)
    const ends = yield* Random.nextBetween(0.9 * limits.follow, 1.1 * limits.follow)
    const body = Stream.flatMap(Stream.merge(grown, silent), since).pipe(
      Stream.interruptWhen(Effect.race(Effect.sleep(ends), stopping)),
      Stream.encodeText
    )
    return HttpServerResponse.stream(body, {
      contentType: form === "sse" ? Wire.types.events : Wire.types.ndjson,
      headers: { ...Ends.headersOf(head, store.backendId), "cache-control": "no-store" }
    })
  })

/** How lines are written. */
const lines = (cursorOf: (seq: number) => string) => {
  const quiet = (seq: number, end = true) => `${StreamLine.encodeCheckpoint({ cursor: cursorOf(seq), end })}\n`
  return {
    quiet,
    page: ({ end, lines, next }: Page) =>
      `${lines.map((line) => `${StreamLine.encode(line)}\n`).join("")}${quiet(next, end)}`
  }
}

/** How events are written. */
const events = (cursorOf: (seq: number) => string) => ({
  quiet: () => ": \n\n",
  page: ({ lines }: Page) =>
    lines.map((line) => `id: ${cursorOf(line.seq)}\ndata: ${StreamLine.encode(line)}\n\n`).join("")
})
