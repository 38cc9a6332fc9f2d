/**
 * Answers: what a server said, where it was no success.
 */
import * as Option from "effect/Option"
import * as ErrorAnswer from "../ErrorAnswer.ts"
import { type Failure, UnexpectedAnswer } from "../Ingress.ts"
import { BadRequest, Deleted, NotFound, TooLarge, TooManyRequests, Unauthorized, Unavailable } from "../IngressError.ts"
import * as Wire from "../Wire.ts"
import type { Answer } from "./transport/transport.ts"

/** Of a body, as much as people are shown. */
const SHOWN = 80

/** Why a server did not do it: as it says, or, of one that knows another protocol, as its status says. */
export const failureOf = ({ header, status }: Answer, text: string): Failure =>
  ErrorAnswer.decode(Option.getOrUndefined(jsonIn(text))) ??
  byStatus(status, secondsOf(header(Wire.headers.retryAfter)), text)

const byStatus = (status: number, retryAfter: number | undefined, text: string): Failure => {
  if (status === 400) return new BadRequest({ detail: shown(text) })
  if (status === 401) return new Unauthorized()
  if (status === 404) return new NotFound()
  if (status === 410) return new Deleted()
  if (status === 413) return new TooLarge({ what: "batch", limit: 0 })
  if (status === 429) return new TooManyRequests({ retryAfter: retryAfter ?? 1 })
  if (status === 502 || status === 503 || status === 504) return new Unavailable({ retryAfter: retryAfter ?? 0 })
  return new UnexpectedAnswer({ status, found: shown(text) })
}

/** A time to wait, in seconds; a date is as good as none. */
const secondsOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : undefined

/** The beginning of a body, for people. */
export const shown = (text: string): string =>
  text.trim() === "" ? "an empty body" : text.replaceAll(/\s+/g, " ").trim().slice(0, SHOWN)

/** The JSON that a text is. */
export const jsonIn: (text: string) => Option.Option<unknown> = Option.liftThrowable(JSON.parse)
