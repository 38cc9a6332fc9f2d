/**
 * Exchange: one request and its answer.
 *
 *   request ─ address, token ─▶ server ─▶ answer
 *      ├ no answer, or 503 ───▶ the next address, each once
 *      └ 401 ─────────────────▶ another token, once
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type Failure, Unreachable } from "../Ingress.ts"
import * as Wire from "../Wire.ts"
import * as Addresses from "./addresses.ts"
import * as Answers from "./answers.ts"
import * as Transport from "./transport/transport.ts"

/** What every exchange needs. */
export interface Options {
  readonly addresses: ReadonlyArray<string>
  readonly token: Effect.Effect<Redacted.Redacted>
  readonly timeout: Duration.Input
  readonly headers: Readonly<Record<string, string>>
}

/** How a request is sent, which answers it takes, and how the text of others is read. */
interface Way<A extends Transport.Answer, R> {
  readonly send: (link: Transport.Link, request: Transport.Request) => Effect.Effect<A, Transport.NoAnswer, R>
  readonly takes: (status: number) => boolean
  readonly textOf: (answer: A) => Effect.Effect<string, Transport.NoAnswer>
}

/** Talks to one remote. */
export const make = ({ addresses, headers, timeout, token }: Options, transport: Transport.Transport) => {
  const rotation = Addresses.rotation(addresses.map((address) => transport(`${address}${Wire.base}`, timeout)))
  let known: Redacted.Redacted | undefined

  const unreachable = ({ cause, found }: Transport.NoAnswer) => new Unreachable({ urls: addresses, found, cause })

  const refused = (answer: Transport.Answer, text: Effect.Effect<string, Transport.NoAnswer>) =>
    Effect.matchEffect(text, {
      onFailure: (lost) => Effect.fail(unreachable(lost)),
      onSuccess: (text) => Effect.fail(Answers.failureOf(answer, text))
    })

  /** The answer of one address, for a token. */
  const answer = <A extends Transport.Answer, R>(
    { body, headers: own, method, path }: Transport.Request,
    { send, takes, textOf }: Way<A, R>,
    link: Transport.Link,
    bearer: Redacted.Redacted
  ): Effect.Effect<A, Failure, R> => {
    const all = { ...own, ...headers, authorization: `Bearer ${Redacted.value(bearer)}` }
    return Effect.matchEffect(send(link, { method, path, headers: all, ...(body !== undefined && { body }) }), {
      onFailure: (lost) => Effect.fail(unreachable(lost)),
      onSuccess: (answer) => (takes(answer.status) ? Effect.succeed(answer) : refused(answer, textOf(answer)))
    })
  }

  /** The answer of the address in use, or of the first other that gives one. */
  const exchange = <A extends Transport.Answer, R>(
    request: Transport.Request,
    way: Way<A, R>
  ): Effect.Effect<A, Failure, R> => {
    const renewed = (link: Transport.Link): Effect.Effect<A, Failure, R> =>
      Effect.flatMap(token, (bearer) => answer(request, way, link, (known = bearer)))
    const authorized = (link: Transport.Link): Effect.Effect<A, Failure, R> =>
      Effect.catchIf(
        known === undefined ? renewed(link) : answer(request, way, link, known),
        ({ _tag }) => _tag === "Unauthorized",
        () => renewed(link)
      )
    const attempt = (left: number): Effect.Effect<A, Failure, R> => {
      const link = rotation.current()
      return Effect.catchIf(authorized(link), isAway, (failure) => {
        rotation.leave(link)
        return left > 1 ? attempt(left - 1) : Effect.fail(failure)
      })
    }
    return Effect.suspend(() => attempt(rotation.count))
  }

  /** A short answer, as a whole. */
  const ask = (request: Transport.Request, takes: Way<Transport.Whole, never>["takes"] = isDone) =>
    exchange(request, { takes, send: (link, request) => link.ask(request), textOf: ({ text }) => Effect.sync(text) })

  /** An answer whose bytes come as they are read; none may take longer than the timeout. */
  const open = (request: Transport.Request) =>
    Effect.map(exchange(request, opening), ({ bytes, ...answer }) => ({
      ...answer,
      bytes: bytes.pipe(
        Stream.timeoutOrElse({ duration: timeout, orElse: () => Stream.fail(Transport.tooLong()) }),
        Stream.mapError(unreachable)
      )
    }))
  return { ask, open }
}

const isAway = ({ _tag }: Failure): boolean => _tag === "Unreachable" || _tag === "Unavailable"

/** Did a server do what it was asked? */
export const isDone = (status: number): boolean => status >= 200 && status < 300

const opening: Way<Transport.Opened, Scope.Scope> = {
  takes: isDone,
  send: (link, request) => link.open(request),
  textOf: ({ bytes }) => Transport.textOf(bytes)
}
