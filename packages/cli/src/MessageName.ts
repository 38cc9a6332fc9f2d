/**
 * MessageName: how a command is told which message: by its id, or by so much of its beginning as tells it apart, which is
 * what texts show of ids.
 */
import * as Entry from "@reprise/domain/Entry"
import type * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Phrase from "./Phrase.ts"
import * as TranscriptFile from "./TranscriptFile.ts"

/**
 * An id that names nothing in the transcript, or more than one thing; `found` says what it names.
 *
 * @category errors
 * @since 0.1.0
 */
export class MessageUnknown extends Schema.TaggedError<MessageUnknown>()("MessageUnknown", {
  file: Schema.String,
  id: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return `${this.file}: expected an id, or the beginning of one, found ${this.found}`
  }
}

/**
 * The one id of several that begin so; nothing where there is none.
 *
 * @category running
 * @since 0.1.0
 */
export const only = (
  file: string,
  id: string,
  [uuid, ...others]: ReadonlyArray<string>
): Effect.Effect<string | undefined, MessageUnknown> => {
  if (uuid === undefined || others.length === 0) return Effect.succeed(uuid)
  const { more, shown } = Phrase.first([uuid, ...others], 5)
  const begun = `${shown.join(", ")}${more === 0 ? "" : ` and ${more} more`}`
  return Effect.fail(
    new MessageUnknown({ file, id, found: `that ${JSON.stringify(id)} begins ${begun}; give more of it` })
  )
}

/** The ids of messages of the main lane that begin so; one alone where it is the whole id. */
const beginning = (id: string): Projection.Projection<Line.Located, ReadonlyArray<string>> =>
  Projection.entries(
    Projection.make({
      initial: () => new Set<string>(),
      evolve: (found, entry: Entry.Entry) => {
        const isOurs = Entry.isMessage(entry) && entry.isSidechain !== true && entry.uuid.startsWith(id)
        return isOurs ? found.add(entry.uuid) : found
      },
      extract: (found) => (found.has(id) ? [id] : [...found])
    })
  )

/**
 * The id of the message of a session that is named so. What no message of it begins with is an id all the same, for
 * whoever looks for it to refuse.
 *
 * @category reading
 * @since 0.1.0
 */
export const uuidOf = Effect.fn("MessageName.uuidOf")(function* (file: string, id: string) {
  if (id === "") return yield* new MessageUnknown({ file, id, found: "an empty text" })
  const found = yield* TranscriptFile.fold(file, beginning(id))
  return (yield* only(file, id, found)) ?? id
})
