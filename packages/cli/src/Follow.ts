/**
 * Follow: `reprise follow FILE` tells a session as it goes on, until it is interrupted.
 *
 *   … the last messages, as recovery finds them          what is written from then on, as it is written
 *   user  12:00  Which of the two pages is slow?    │    assistant  12:01  I will look.
 *                                              caught up
 */
import * as Entry from "@reprise/domain/Entry"
import type * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as Recovery from "@reprise/recovery/Recovery"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as StorageFollow from "@reprise/storage/Follow"
import type * as LineReader from "@reprise/storage/LineReader"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Output from "./Output.ts"
import * as Phrase from "./Phrase.ts"
import * as Resume from "./Resume.ts"
import * as ResumeJson from "./ResumeJson.ts"
import * as ResumeText from "./ResumeText.ts"
import * as Said from "./Said.ts"
import * as ShowText from "./ShowText.ts"
import * as Style from "./Style.ts"
import * as TranscriptFile from "./TranscriptFile.ts"

/**
 * The line of what is told: an entry as it was written, bytes that are none, that all is told, or that the log begins
 * anew. A place is where a line begins: the number of the line, and the byte of the log.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode: (told: StorageFollow.Followed) => string = StorageFollow.followed.$match({
  Entry: ({ located: { at, entry } }) => {
    const place = { line: at.line, byteStart: at.byteStart, byteEnd: at.byteEnd }
    return Style.json(
      entry instanceof Entry.Malformed
        ? { record: "malformed", ...place, reason: entry.reason }
        : { record: "entry", ...place, entry: Entry.original(entry) }
    )
  },
  CaughtUp: ({ mark }) => Style.json({ record: "caught-up", ...mark }),
  Restarted: ({ mark, why }) => Style.json({ record: "restarted", why, ...mark })
})

/**
 * What is said of the end of a conversation, how much of it, and in which lane.
 *
 * @category models
 * @since 0.1.0
 */
export interface Look extends Pick<Recovery.Options, "lane"> {
  readonly style: Style.Style
  readonly limits: ShowText.Limits
  readonly last: number
}

/**
 * What is told, in texts for people. `isBehind`: it was told from a place on, so there is no conversation to recover.
 *
 * @category rendering
 * @since 0.1.0
 */
export const teller = (
  { lane = "main", last, limits, style }: Look,
  isBehind: boolean
): ((told: StorageFollow.Followed) => string) => {
  const begin = () => Projection.run(Recovery.make({ lane }))
  let catching: Projection.Run<Line.Located, ReturnType<typeof Recovery.fold>> | undefined = isBehind
    ? undefined
    : begin()
  let tell = ShowText.teller(style, limits, new Map())
  return StorageFollow.followed.$match({
    Entry: ({ located }) => {
      const { at, entry } = located
      catching?.evolve(located)
      if (catching !== undefined) return ""
      if (entry instanceof Entry.Malformed) {
        return entry.reason === "blank" ? "" : `${style.paint("loss", `  line ${at.line}: ${entry.reason}`)}\n`
      }
      const isOurs = Entry.isMessage(entry) && (lane === "sidechain" || entry.isSidechain !== true)
      return isOurs ? tell(entry) : ""
    },
    CaughtUp: () => {
      if (catching === undefined) return ""
      const { conversation } = catching.extract()
      catching = undefined
      tell = ShowText.teller(style, limits, Said.tools(conversation))
      const before = Math.max(0, conversation.length - last)
      const gap = before === 0 ? "" : `${style.paint("faint", `(${Phrase.times(before, "message")} before)`)}\n`
      return (
        gap +
        conversation
          .slice(before)
          .map(({ entry }) => tell(entry))
          .join("")
      )
    },
    Restarted: ({ why }) => {
      catching = begin()
      return `\n${style.paint("repair", `(the log was ${why}: it is told from its beginning)`)}\n`
    }
  })
}

/** A place as `LINE:BYTE`; a line begins there. */
const markOf = (text: string): LineReader.Mark => {
  const [, line, byte] = /^([1-9]\d*):(\d+)$/.exec(text) ?? []
  if (line === undefined) throw new Error("LINE:BYTE, as the line and byte of a caught-up record")
  return { line: Number(line), byte: Number(byte) }
}

/**
 * `reprise follow`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "follow",
  {
    file: Argument.String("file").pipe(Argument.withDescription("A transcript (.jsonl)")),
    all: Flag.Boolean("all").pipe(Flag.withDefault(false), Flag.withDescription("Show results whole, and thinking")),
    from: Flag.String("from").pipe(
      Flag.withMetavar("LINE:BYTE"),
      Flag.mapTryCatch(markOf, (error) => (error as Error).message),
      Flag.optional,
      Flag.withDescription("Begin at this place, where an earlier run had caught up")
    ),
    json: Flag.Boolean("json").pipe(Flag.withDefault(false), Flag.withDescription("One line of JSON for each entry")),
    last: Flag.Int("last").pipe(
      Flag.withDefault(10),
      Flag.withDescription("How many messages are shown to begin with (10)")
    ),
    once: Flag.Boolean("once").pipe(
      Flag.withDefault(false),
      Flag.withDescription("End when all is told that is there by now")
    ),
    sidechain: Flag.Boolean("sidechain").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Read the log as one agent's own")
    )
  },
  Effect.fn(function* ({ all, file, from, json, last, once, sidechain }) {
    const style = yield* Style.current
    const look: Look = {
      style,
      limits: all ? ShowText.all : ShowText.some,
      last: Math.max(0, last),
      lane: sidechain ? "sidechain" : "main"
    }
    const tell = teller(look, Option.isSome(from))
    const log = EntryLog.at(file)
    const port = yield* EntryLog.EntryLog
    const told = StorageFollow.stream(log, Option.isSome(from) ? { from: from.value } : {}).pipe(
      Stream.takeUntil(({ _tag }) => once && _tag === "CaughtUp"),
      Stream.map((one) => (json ? `${encode(one)}\n` : tell(one))),
      Stream.filter((text) => text !== "")
    )
    // A path that was mistyped would be waited for without end.
    const result = yield* Effect.andThen(port.stat(log), Output.print(told)).pipe(
      Effect.catchTag("EntryLogError", (error) => Effect.fail(TranscriptFile.unreadable(file)(error))),
      Effect.result
    )
    if (Result.isSuccess(result)) return
    const shown = json ? ResumeJson.encodeError(file, result.failure) : ResumeText.renderError(result.failure, style)
    yield* Output.print(Stream.succeed(`${shown}\n`))
    return yield* new Resume.FilesUnreadable({ count: 1 })
  })
).pipe(
  Command.withDescription(
    "Tell a session as it goes on: the end of its conversation, then each message as it is written."
  ),
  Command.withExamples([
    { command: "reprise follow session.jsonl", description: "Read along" },
    { command: "reprise follow --json --once --from 120:48211 session.jsonl", description: "What is new, for programs" }
  ])
)
