/**
 * Search: `reprise search TEXT` finds a text in what was said, newest session first.
 *
 *   5b0d7f21  …/projects/-work/5b0d7f21….jsonl
 *     line 12  assistant   … the loop over the pages is slow because …
 */
import * as EntryKinds from "@reprise/domain/Entry"
import type * as SessionCatalog from "@reprise/storage/SessionCatalog"
import * as TranscriptSearch from "@reprise/storage/TranscriptSearch"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Flags from "./Flags.ts"
import * as List from "./List.ts"
import * as ListText from "./ListText.ts"
import * as Output from "./Output.ts"
import * as Phrase from "./Phrase.ts"
import * as Projects from "./Projects.ts"
import * as Quantity from "./Quantity.ts"
import * as Said from "./Said.ts"
import * as Style from "./Style.ts"
import * as Unread from "./Unread.ts"

/**
 * The line of a hit.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode = ({ at, end, entry, excerpt, log, path, start }: TranscriptSearch.Hit): string => {
  const { timestamp, type, uuid } = entry as { readonly [key: string]: unknown }
  const lane = log._tag === "Session" && log.lane._tag === "Sidechain" ? { agentId: log.lane.agentId } : undefined
  const place = { line: at.line, byteStart: at.byteStart, byteEnd: at.byteEnd }
  return Style.json({
    record: "hit",
    sessionId: Projects.sessionIdOf(log),
    ...lane,
    file: path,
    ...place,
    type,
    uuid,
    timestamp,
    excerpt,
    start,
    end
  })
}

/**
 * A hit in one line: who said it, and the text around it with the text itself marked.
 *
 * @category rendering
 * @since 0.1.0
 */
export const renderHit = ({ at, end, entry, excerpt, start }: TranscriptSearch.Hit, style: Style.Style): string => {
  const role = EntryKinds.isMessage(entry) ? Said.of(entry, new Map()).role : String(entry.type)
  const line = `  line ${String(at.line).padEnd(5)}  ${Style.fill(Style.cut(Phrase.oneLine(role), 12), 12)}  `
  const [before, found, behind] = [excerpt.slice(0, start), excerpt.slice(start, end), excerpt.slice(end)].map(spaced)
  const room = Math.max(10, style.columns - line.length)
  const shown = Style.cut(found!, room)
  const rest = Math.max(0, room - Style.width(shown))
  const left = Style.width(behind!) < rest / 2 ? rest - Style.width(behind!) : Math.floor(rest / 2)
  const start_ = rest === 0 ? "" : Style.width(before!) <= left ? before! : Style.cutStart(before!, Math.max(1, left))
  const end_ = rest - Style.width(start_) < 1 ? "" : Style.cut(behind!, rest - Style.width(start_))
  return `${line}${start_}${style.paint("repair", shown)}${end_}`.trimEnd()
}

/** Clean, with the gaps at its ends. */
const spaced = (text: string): string => {
  const cleaned = Style.clean(text)
  if (cleaned === "") return text === "" ? "" : " "
  return `${text.startsWith(" ") ? " " : ""}${cleaned}${text.endsWith(" ") ? " " : ""}`
}

/** Hits below the name of their file, each file once. */
const texts = (style: Style.Style) => {
  let last: string | undefined
  return (hit: TranscriptSearch.Hit): string => {
    const shown = renderHit(hit, style)
    if (hit.path === last) return shown
    const gap = last === undefined ? "" : "\n"
    last = hit.path
    return `${gap}${style.paint("title", Style.cutStart(Style.clean(hit.path), style.columns))}\n${shown}`
  }
}

/**
 * `reprise search`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "search",
  {
    text: Argument.String("text").pipe(
      Argument.filter(
        (text) => text.trim() !== "",
        () => "a text that is not empty"
      ),
      Argument.withDescription("What was said, in any case")
    ),
    ...Projects.flags,
    json: Flags.json("One line of JSON for each place"),
    limit: Quantity.count("limit", "How many places at most")
  },
  Effect.fn(
    function* ({ json, limit, text, ...flags }) {
      const style = yield* Style.current
      const passed: Array<SessionCatalog.Passed> = []
      let hits = 0
      const render = json ? encode : texts(style)
      const lines = Stream.unwrap(
        Effect.map(
          Output.watching(({ done, total }) => `${Phrase.bytes(done)} of ${Phrase.bytes(total)}`),
          (watch) =>
            TranscriptSearch.search(text, { ...Projects.scope(flags), watch }).pipe(
              Stream.filter((told) => {
                if (told._tag === "Passed") passed.push(told)
                else hits++
                return told._tag === "Hit"
              }),
              Stream.take(Option.getOrElse(limit, () => Infinity)),
              Stream.map((hit) => `${render(hit as TranscriptSearch.Hit)}\n`)
            )
        )
      )
      const unread = () => passed.filter(({ error }) => error !== undefined)
      const shown = (one: SessionCatalog.Passed) =>
        json ? List.encodePassed(one) : Phrase.rows(style, [[one.path, ListText.reason(one), "loss"]])[0]!
      const tellUnread = Effect.suspend(() => Output.lines(unread().map(shown)))
      yield* Effect.tapError(Effect.scoped(Output.print(lines)), () => tellUnread)
      if (!json && hits === 0) yield* Output.line("Found nowhere.")
      yield* tellUnread
      if (unread().length > 0) return yield* new Unread.FilesUnreadable({ count: unread().length })
    },
    Projects.within,
    (run, { json }) => Unread.reporting(run, { session: undefined, json })
  )
).pipe(
  Command.withDescription("Find a text in what was said in sessions of this directory, or of all projects."),
  Command.withExamples([
    { command: "reprise search 'slow page'", description: "In sessions of this directory" },
    { command: "reprise search --all --json login", description: "In all, for programs" }
  ])
)
