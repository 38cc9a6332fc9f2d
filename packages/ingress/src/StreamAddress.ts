/**
 * StreamAddress: which stream of the server a line belongs to.
 *
 *   tenant                from the token, never from a path or a body
 *   └ session             [A-Za-z0-9][A-Za-z0-9_-]{0,127}
 *     ├ ""                the main stream
 *     └ "x/a1"            the agent a1, whose log lies in the folder x of the session's subagents
 *
 * 1. A sub-path has at most four segments, each spelled like a session id: nothing of it can leave a folder.
 * 2. Both sides check names: the server what it is asked for, and the client what a server answers, before any path is
 *    made of it.
 */
import * as Lane from "@reprise/domain/Lane"
import * as Schema from "effect/Schema"

/**
 * A stream of a tenant.
 *
 * @category models
 * @since 0.1.0
 */
export interface StreamAddress {
  readonly tenant: string
  readonly session: string
  readonly sub: string
}

const SEGMENT = "[A-Za-z0-9][A-Za-z0-9_-]{0,127}"

/**
 * The id of a session as a server takes it: 1 to 128 letters, digits, `_` and `-`, the first a letter or digit.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Session = Schema.String.check(
  Schema.isPattern(new RegExp(`^${SEGMENT}$`, "u"), {
    expected: "a session id: 1 to 128 letters, digits, _ and -, the first a letter or a digit"
  })
)

/**
 * The name of a stream within its session: `""` for the main one, else up to four segments, joined by `/`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Sub = Schema.String.check(
  Schema.isPattern(new RegExp(`^(?:${SEGMENT}(?:/${SEGMENT}){0,3})?$`, "u"), {
    expected: "a stream: up to 4 segments joined by /, each 1 to 128 letters, digits, _ and -"
  })
)

/**
 * Is it the id of a session?
 *
 * @category guards
 * @since 0.1.0
 */
export const isSession: (value: unknown) => value is string = Schema.is(Session)

/**
 * Is it the name of a stream within a session?
 *
 * @category guards
 * @since 0.1.0
 */
export const isSub: (value: unknown) => value is string = Schema.is(Sub)

/**
 * The stream of a lane; undefined where the agent or one of its folders has a name that no server takes.
 *
 * @category conversions
 * @since 0.1.0
 */
export const subOf = (lane: Lane.Lane): string | undefined => {
  const sub = Lane.key(lane)
  return isSub(sub) ? sub : undefined
}

/**
 * The lane of a stream; undefined for a name that is none.
 *
 * @category conversions
 * @since 0.1.0
 */
export const laneOf = (sub: string): Lane.Lane | undefined => {
  if (!isSub(sub)) return undefined
  const segments = sub.split("/")
  return sub === "" ? Lane.main : Lane.sidechain(segments.at(-1)!, segments.slice(0, -1))
}

/**
 * A string that is equal for equal addresses, for use as a map key.
 *
 * @category combinators
 * @since 0.1.0
 */
export const keyOf = ({ session, sub, tenant }: StreamAddress): string => `${session}/${sub}@${tenant}`
