/**
 * Follow: `reprise follow [SESSION]` tells a session as it goes on, until it is interrupted.
 *
 *   … the last messages, as recovery finds them          what is written from then on, as it is written
 *   user  12:00  Which of the two pages is slow?    │    assistant  12:01  I will look.
 *                                              caught up
 *
 * A file that is not there is an error, for a path that was mistyped would be waited for without end; `--wait` waits.
 */
import * as Entry from "@reprise/domain/Entry"
import * as Evidence from "@reprise/domain/Evidence"
import type * as Line from "@reprise/domain/Line"
import * as Projection from "@reprise/domain/Projection"
import * as Recovery from "@reprise/recovery/Recovery"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as StorageFollow from "@reprise/storage/Follow"
import type * as LineReader from "@reprise/storage/LineReader"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Flags from "./Flags.ts"
import * as Output from "./Output.ts"
import * as Phrase from "./Phrase.ts"
import * as Projects from "./Projects.ts"
import * as Quantity from "./Quantity.ts"
import * as Said from "./Said.ts"
import * as SessionName from "./SessionName.ts"
import * as ShowText from "./ShowText.ts"
import * as Style from "./Style.ts"
import * as TranscriptFile from "./TranscriptFile.ts"
import * as Unread from "./Unread.ts"

/**
 * The line of what is told: an entry as it was written, bytes that are none, that all is told, or that the log begins
 * anew. A place is where a line begins: the number of the line, and the byte of the log.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode: (told: StorageFollow.Followed) => string = StorageFollow.followed.$match({
  Entry: ({ located }) => encodeEntry(located),
  CaughtUp: ({ mark }) => Style.json({ record: "caught-up", ...mark }),
  Restarted: ({ mark, why }) => Style.json({ record: "restarted", why, ...mark })
})

const encodeEntry = ({ at, entry }: Pick<Line.Located, "at" | "entry">): string => {
  const place = { line: at.line, byteStart: at.byteStart, byteEnd: at.byteEnd }
  return Style.json(
    entry instanceof Entry.Malformed
      ? { record: "malformed", ...place, reason: entry.reason }
      : { record: "entry", ...place, entry: Entry.original(entry) }
  )
}

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

/**
 * What is told, in lines for programs; of what was there before, the end of the conversation where so much of it was
 * asked for, and else all.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encoder = (
  last: number | undefined,
  options: Pick<Recovery.Options, "lane">
): ((told: StorageFollow.Followed) => string) => {
  const begin = () => Projection.run(Recovery.make(options))
  let catching = last === undefined ? undefined : begin()
  return (told) => {
    if (catching === undefined) return `${encode(told)}\n`
    if (told._tag === "Entry") {
      catching.evolve(told.located)
      return ""
    }
    if (told._tag === "Restarted") {
      catching = begin()
      return `${encode(told)}\n`
    }
    const { conversation } = catching.extract()
    catching = undefined
    const shown = conversation.slice(Math.max(0, conversation.length - last!))
    return [...shown.map(encodeEntry), encode(told)].map((line) => `${line}\n`).join("")
  }
}

/** A place as `LINE:BYTE`; a line begins there. */
const markOf = (text: string): Option.Option<LineReader.Mark> => {
  const [, line, byte] = /^([1-9]\d*):(\d+)$/.exec(text) ?? []
  return line === undefined ? Option.none() : Option.some({ line: Number(line), byte: Number(byte) })
}

/** Fails when all is told that was there, and it was no transcript. */
const mustBeTranscript = (file: string) => {
  let held: Projection.Run<Line.Located, Evidence.Evidence> | undefined = Projection.run(Evidence.projection)
  return (told: StorageFollow.Followed) =>
    Effect.suspend(() => {
      if (held === undefined) return Effect.void
      if (told._tag === "Entry") held.evolve(told.located)
      if (told._tag !== "CaughtUp") return Effect.void
      const found = held.extract()
      held = undefined
      return TranscriptFile.mustBeTranscript(file, found)
    })
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
    session: SessionName.orLatest,
    full: Flags.full("results whole, and thinking as well"),
    from: Flag.String("from").pipe(
      Flag.withMetavar("LINE:BYTE"),
      Flag.filterMap(markOf, () => "LINE:BYTE, the line and byte of a caught-up record"),
      Flag.optional,
      Flag.withDescription("Begin at this place, where an earlier run had caught up")
    ),
    json: Flags.json("One line of JSON for each entry"),
    last: Quantity.count("last", "How many messages are shown to begin with (default: 10; with --json all)"),
    once: Flags.on("once", "End when all is told that is there by now"),
    wait: Flags.on("wait", "Wait for a file that is not there yet"),
    sidechain: Flags.sidechain,
    projects: Projects.flags.projects
  },
  Effect.fn(
    function* ({ from, full, json, last, once, session, sidechain, wait }) {
      const look: Look = {
        style: yield* Style.current,
        limits: full ? ShowText.all : ShowText.some,
        last: Option.getOrElse(last, () => 10),
        lane: sidechain ? "sidechain" : "main"
      }
      const { lane = "main" } = look
      const shown = Option.isSome(from) ? undefined : Option.getOrUndefined(last)
      const tell = json ? encoder(shown, { lane }) : teller(look, Option.isSome(from))
      const file = yield* SessionName.fileOf(session)
      const log = EntryLog.at(file)
      const told = StorageFollow.stream(log, Option.isSome(from) ? { from: from.value } : {}).pipe(
        Stream.takeUntil(({ _tag }) => once && _tag === "CaughtUp"),
        Stream.tap(mustBeTranscript(file)),
        Stream.map(tell),
        Stream.filter((text) => text !== "")
      )
      const port = yield* EntryLog.EntryLog
      yield* Effect.andThen(wait ? Effect.void : port.stat(log), Output.print(told)).pipe(
        Effect.catchTag("EntryLogError", (error) => Effect.fail(TranscriptFile.unreadable(file)(error)))
      )
    },
    Projects.within,
    Unread.reporting
  )
).pipe(
  Command.withDescription(
    "Tell a session as it goes on: the end of its conversation, then each message as it is written."
  ),
  Command.withExamples([
    { command: "reprise follow", description: "Read along with the latest session of this directory" },
    { command: "reprise follow --json --once --from 120:48211 7d1f0c52", description: "What is new, for programs" }
  ])
)
