/**
 * RemoteLog: what a remote holds of a session: lines, each with the stream that it belongs to.
 *
 *   {agent_id?, payload} {agent_id?, payload} …   ofEvents    pages of internal events, split by agent
 *   {"loglines":[{…},{…},…]}                      ofLoglines  the entries of the main stream
 *   Ingress                                       ofIngress   one of these, or all lines of each stream
 *
 * 1. The lines of a stream are in its order; streams may be mixed.
 * 2. A stream has the name that the remote gives it, whatever that is. Whoever makes a path of it checks it first.
 * 3. It ends with success when all was read. An answer that is not understood is a failure: half a log is none.
 */
import * as Line from "@reprise/domain/Line"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type Failure, Ingress } from "./Ingress.ts"
import * as Loglines from "./internal/loglines.ts"
import * as StreamLine from "./StreamLine.ts"

/**
 * A line and its stream, `""` for the main one.
 *
 * @category models
 * @since 0.1.0
 */
export interface RemoteLine {
  readonly stream: string
  readonly line: StreamLine.StreamLine
}

/**
 * The lines. `replica` is there when the remote is the one that the session is replicated to: with which profile, and
 * which store it has.
 *
 * @category models
 * @since 0.1.0
 */
export interface RemoteLog<out E = never, out R = never> {
  readonly lines: Stream.Stream<RemoteLine, E, R>
  readonly replica?: { readonly profile: "compat" | "native"; readonly backend?: string }
}

/**
 * A remote said what is no log; `found` says what, and nothing of it is used.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotALog extends Schema.TaggedError<NotALog>()("NotALog", {
  expected: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return `expected ${this.expected}, found ${this.found}; nothing was changed. Check the address of the remote.`
  }
}

/**
 * An internal event: an entry, of the agent that it names or of the main stream. Other keys do not matter.
 *
 * @category models
 * @since 0.1.0
 */
export interface InternalEvent {
  readonly agent_id?: string | null
  readonly is_compaction?: boolean
  readonly payload: unknown
}

/**
 * The log in pages of internal events.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofEvents = <E, R>(
  pages: Stream.Stream<ReadonlyArray<InternalEvent>, E, R>
): RemoteLog<E | NotALog, R> => ({ lines: reading(Stream.flattenIterable(pages), ofEvent) })

/**
 * The log that an answer `{"loglines":[…]}` holds, as it comes in.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofLoglines = <E, R>(answer: Stream.Stream<Uint8Array, E, R>): RemoteLog<E | NotALog, R> => ({
  lines: reading(textsIn(answer), (text) => Result.map(lineOf(text), (line) => ({ stream: "", line })))
})

/**
 * The log of a session at a remote, by one of the profiles; a session that the remote does not have is empty.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofIngress = Effect.fnUntraced(function* (session: string, profile: "compat" | "native") {
  const { lines, loglines, streams } = yield* Ingress
  if (profile === "compat") {
    const all = ofLoglines(loglines(session)).lines
    const log: RemoteLog<Failure | NotALog> = {
      lines: Stream.catchTag(all, "NotFound", () => Stream.empty),
      replica: { profile }
    }
    return log
  }
  const found = yield* Effect.catchTag(streams(session), "NotFound", () => Effect.succeed({ streams: [] }))
  const backend = found.streams[0]?.backend
  const log: RemoteLog<Failure | NotALog> = {
    lines: Stream.fromIterable(found.streams).pipe(
      Stream.flatMap(({ stream }) =>
        Stream.map(lines({ session, sub: stream }), (line): RemoteLine => ({ stream, line }))
      )
    ),
    replica: { profile, ...(backend !== undefined && { backend }) }
  }
  return log
})

/**
 * The line of an entry that a remote gave without a key.
 *
 * @category constructors
 * @since 0.1.0
 */
export const lineOf = (text: string): Result.Result<StreamLine.StreamLine, NotALog> =>
  // Outside of strings a line feed is a blank, within them there is none.
  Result.mapError(StreamLine.ofEntry(text.replaceAll("\n", " "), UNNAMED), (found) => notALog("an entry", found))

const reading = <A, E, R>(
  all: Stream.Stream<A, E, R>,
  read: (one: A) => Result.Result<RemoteLine, NotALog>
): RemoteLog<E | NotALog, R>["lines"] =>
  Stream.mapArrayEffect(all, (some) => Effect.fromResult(Result.all(Arr.map(some, read))))

/** The texts of an answer's entries; it fails at the end of one that was none, or not whole. */
const textsIn = <E, R>(answer: Stream.Stream<Uint8Array, E, R>): Stream.Stream<string, E | NotALog, R> =>
  Stream.suspend(() => {
    let found: Array<string> = []
    const loglines = Loglines.make((text) => found.push(text))
    const texts = Stream.mapEffect(answer, (chunk) => {
      found = []
      loglines.push(chunk)
      return loglines.isTooLong() ? Effect.fail(notALog("entries", "one that does not end")) : Effect.succeed(found)
    })
    const end = Stream.suspend(() =>
      loglines.end() ? Stream.empty : Stream.fail(notALog('{"loglines":[…]}', "something else, or a part of it"))
    )
    return Stream.concat(Stream.flattenIterable(texts), end)
  })

/** A log is merged by ids and bytes; the key of a line does not matter there. */
const UNNAMED = "~"

const ofEvent = (event: unknown): Result.Result<RemoteLine, NotALog> => {
  if (!isEvent(event)) return Result.fail(notALog("an event with a payload", JSON.stringify(event)?.slice(0, 80)))
  return Result.map(lineOf(Line.encode(event.payload)), (line) => ({ stream: event.agent_id ?? "", line }))
}

const isEvent = Schema.is(
  Schema.Struct({
    agent_id: Schema.optional(Schema.NullOr(Schema.String)),
    payload: Schema.Struct({ type: Schema.String })
  })
)

const notALog = (expected: string, found = "nothing") => new NotALog({ expected, found })
