/**
 * Transport: what carries a request to an address, and its answer back.
 *
 *   httpClient   over the `HttpClient` of the program, with its spans and whatever it does beside
 *   nodeHttp     over `node:http`, at a fraction of the cost
 */
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Buffer } from "node:buffer"

/** What is asked; `path`, with its query, begins behind the address. */
export interface Request {
  readonly method: "DELETE" | "GET" | "POST" | "PUT"
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

/** What every answer has; `header` takes names in lower case. */
export interface Answer {
  readonly status: number
  readonly header: (name: string) => string | undefined
}

/** A short answer as a whole; of a body that is longer than `MOST` the beginning. Not everybody looks at its text. */
export interface Whole extends Answer {
  readonly text: () => string
}

/** An answer whose body comes as it is read. */
export interface Opened extends Answer {
  readonly bytes: Stream.Stream<Uint8Array, NoAnswer>
}

/** Nobody answered, or not to the end. `found` says why in a few words, which hold no header. */
export class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly found: string; readonly cause: unknown }> {}

/** The way to one address. `ask` ends with the whole answer within the time limit, `open` with its head. */
export interface Link {
  readonly ask: (request: Request) => Effect.Effect<Whole, NoAnswer>
  readonly open: (request: Request) => Effect.Effect<Opened, NoAnswer, Scope.Scope>
}

/** Gives the way to an address, on which an answer may take so long. */
export type Transport = (address: string, timeout: Duration.Input) => Link

/** Bytes of a body that is no log; what is longer is not read. */
export const MOST = 1 << 20

/** The text of a short body. */
export const textOf = (bytes: Opened["bytes"]): Effect.Effect<string, NoAnswer> => {
  let size = 0
  return bytes.pipe(
    Stream.takeWhile((chunk) => (size += chunk.length) <= MOST),
    Stream.runCollect,
    Effect.map((chunks) => Buffer.concat(chunks).toString())
  )
}

/** No answer within the time limit. */
export const tooLong = (): NoAnswer => new NoAnswer({ found: "it took too long", cause: undefined })

/** The code of the innermost error that has one. */
export const codeOf = (cause: unknown): string | undefined => {
  for (let at = cause; at instanceof Error; at = at.cause) {
    const { code } = at as { readonly code?: unknown }
    if (typeof code === "string") return code
  }
  return undefined
}
