/**
 * RemoteLog: what a remote holds of a session: lines, each with the stream that it belongs to.
 *
 *   {agent_id?, payload} {agent_id?, payload} …   ofEvents    pages of internal events, split by agent
 *   {…} {…} {…} …                                 ofEntries   the entries of the main stream
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
 * The main stream of the remote that holds these entries, each as its text.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofEntries = <E, R>(texts: Stream.Stream<string, E, R>): RemoteLog<E | NotALog, R> => ({
  lines: reading(texts, (text) => Result.map(lineOf(text), (line) => ({ stream: "", line })))
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
