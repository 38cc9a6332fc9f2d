/**
 * Show: `reprise show [SESSION]` reads a transcript as people read it: prompts, replies, calls, and the start of results.
 */
import type { Node } from "@reprise/recovery/SessionGraph"
import type { SessionState } from "@reprise/recovery/SessionState"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Extent from "./Extent.ts"
import * as Flags from "./Flags.ts"
import * as Output from "./Output.ts"
import * as Phrase from "./Phrase.ts"
import * as Projects from "./Projects.ts"
import * as Resume from "./Resume.ts"
import * as Said from "./Said.ts"
import * as SessionName from "./SessionName.ts"
import * as ShowText from "./ShowText.ts"
import * as Style from "./Style.ts"
import * as TranscriptFile from "./TranscriptFile.ts"
import * as Unread from "./Unread.ts"

/**
 * The line of a message: who said it, and its content as it was written; `line` where those before it were counted.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode = (
  { at, entry, uuid }: Pick<Node, "at" | "entry" | "uuid">,
  { partial }: Pick<SessionState["extent"], "partial"> = {}
): string => {
  const content = "message" in entry ? entry.message.content : "attachment" in entry ? entry.attachment : undefined
  return Style.json({
    record: "message",
    uuid,
    line: partial?.history === "suffix" ? undefined : at.line,
    role: Said.of(entry, new Map()).role,
    timestamp: entry.timestamp,
    content: content ?? (entry.type === "system" ? entry.content : undefined)
  })
}

/**
 * `reprise show`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "show",
  {
    session: SessionName.orLatest,
    full: Flags.full("results whole, and thinking as well"),
    json: Flags.json("One line of JSON for each message"),
    sidechain: Flags.sidechain,
    history: Extent.flag,
    projects: Projects.flags.projects
  },
  Effect.fn(
    function* ({ full, history, json, session, sidechain }) {
      const style = yield* Style.current
      const file = yield* SessionName.fileOf(session)
      const reading = Resume.resume(file, {
        lane: sidechain ? "sidechain" : "main",
        history: yield* Extent.of(file, history)
      })
      const resumed = yield* Effect.flatMap(
        Output.watching(({ done, total }) => `${Phrase.bytes(done)} of ${Phrase.bytes(total)}`),
        (watch) => TranscriptFile.watched(reading, watch)
      ).pipe(Effect.scoped)
      const explain = `reprise explain ${sidechain ? "--sidechain " : ""}${Phrase.argument(file)}`
      const { conversation, extent } = resumed.state
      const texts = json
        ? Stream.map(Stream.fromIterable(conversation), (node) => `${encode(node, extent)}\n`)
        : Stream.fromIterable(ShowText.render(resumed, style, full ? ShowText.all : ShowText.some, explain))
      yield* Output.print(texts)
    },
    Projects.within,
    Unread.reporting
  )
).pipe(
  Command.withDescription("Read a session: prompts, replies, calls, and the start of their results."),
  Command.withExamples([
    { command: "reprise show", description: "Read the latest session of this directory" },
    { command: "reprise show 7d1f0c52 --full | less", description: "All of one, by its id" }
  ])
)
