/**
 * ListText: sessions as a table that fits the terminal, the newest message first.
 *
 *   session   last message       size  branch  title
 *   5b0d7f21  2026-01-01 12:00  14 kB  main    Why is it slow?  #web
 *
 * 1. Each session is one line; its title takes the room that is left. Where there is little, other columns go first.
 * 2. What was passed by stands below, by its reason.
 */
import type * as SessionCatalog from "@reprise/storage/SessionCatalog"
import * as Phrase from "./Phrase.ts"
import * as Projects from "./Projects.ts"
import * as Style from "./Style.ts"

/**
 * A page, without a line feed at the end; `all`: of all projects, so each session says where it was held.
 *
 * @category rendering
 * @since 0.1.0
 */
export const render = (page: SessionCatalog.Page, style: Style.Style, all: boolean): string => {
  const more = page.more ? [style.paint("faint", "… and more (--offset goes on)")] : []
  return [[...table(page.sessions, style, all), ...more], passed(page, style)]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")
}

interface Column {
  readonly name: string
  readonly cell: (session: SessionCatalog.Session) => string
  /** Columns of the terminal, at most. */
  readonly most: number
  readonly cut?: typeof Style.cut
  readonly fill?: (text: string, columns: number) => string
}

const gap = "  "
/** Below so many columns a title says nothing. */
const readable = 20

const table = (
  sessions: ReadonlyArray<SessionCatalog.Session>,
  style: Style.Style,
  all: boolean
): ReadonlyArray<string> => {
  if (sessions.length === 0) return ["No sessions."]
  const short = Phrase.shorten(sessions.map(({ log }) => Projects.sessionIdOf(log) ?? ""))
  const right = (text: string, columns: number): string => " ".repeat(Math.max(0, columns - Style.width(text))) + text
  const columns: ReadonlyArray<Column> = [
    { name: "session", cell: ({ log }) => short(Projects.sessionIdOf(log) ?? ""), most: 36 },
    { name: "last message", cell: ({ updatedAt }) => Phrase.minute(updatedAt ?? "–"), most: 16 },
    { name: "size", cell: ({ size }) => Phrase.bytes(size), most: 8, fill: right },
    ...(all
      ? [{ name: "directory", cell: directory, most: Math.max(9, Math.floor(style.columns / 4)), cut: Style.cutStart }]
      : []),
    { name: "branch", cell: ({ branch }) => Phrase.oneLine(branch ?? ""), most: 16 }
  ]
  const cells = columns.map(({ cell, cut = Style.cut, fill = Style.fill, most, name }) => {
    const texts = [name, ...sessions.map((session) => cut(cell(session), most))]
    const width = texts.reduce((widest, text) => Math.max(widest, Style.width(text)), 0)
    return texts.map((text) => fill(text, width))
  })
  const roomBeside = (shown: ReadonlyArray<ReadonlyArray<string>>): number =>
    style.columns - shown.reduce((sum, [name]) => sum + Style.width(name!) + gap.length, 0)
  while (cells.length > 1 && roomBeside(cells) < readable) cells.pop()
  const room = roomBeside(cells)
  const line = (index: number, title: string): string => {
    const start = cells.map((column) => column[index]!).join(gap)
    return Style.cut(start + gap + title, style.columns).trimEnd()
  }
  return [
    style.paint("title", line(0, "title")),
    ...sessions.map((session, index) => line(index + 1, titleIn(session, room)))
  ]
}

const directory = ({ cwd }: SessionCatalog.Session): string => Phrase.oneLine(cwd ?? "")

/** The title, cut so that what stands behind it is still seen. */
const titleIn = (session: SessionCatalog.Session, room: number): string => {
  const { archived, origin, tag, title } = session
  const marks = [
    ...(tag === undefined || tag === "" ? [] : [`#${Style.cut(Phrase.oneLine(tag), 20)}`]),
    ...(origin === "agent" ? ["(agent)"] : []),
    ...(origin === undefined ? ["(no messages)"] : []),
    ...(archived ? ["(archived)"] : [])
  ]
  const behind = marks.map((mark) => gap + mark).join("")
  return Style.cut(Phrase.oneLine(title ?? "") || "(no title)", Math.max(8, room - Style.width(behind))) + behind
}

const reasons: { readonly [K in SessionCatalog.Passed["why"]]: string } = {
  Name: "not named by a session id",
  Directory: "a directory",
  Symlink: "a link; a transcript may not be one",
  NoFile: "no regular file",
  Empty: "empty",
  NoEntry: "no entry of a transcript in it",
  Sidechain: "of an agent inside of another session",
  Unreadable: "not read"
}

/**
 * Why a file was passed by, in a few words.
 *
 * @category rendering
 * @since 0.1.0
 */
export const reason = ({ error, why }: SessionCatalog.Passed): string =>
  error === undefined ? reasons[why] : `${reasons[why]}: ${error.message}`

const some = 5

const passed = ({ passed: all }: SessionCatalog.Page, style: Style.Style): ReadonlyArray<string> => {
  if (all.length === 0) return []
  const errors = all.filter(({ error }) => error !== undefined)
  const { more, shown } = Phrase.first(
    all.filter(({ error }) => error === undefined),
    some
  )
  const rows = [...errors, ...shown].map((one): Phrase.Row => {
    const text = reason(one)
    const room = Math.max(readable, style.columns - Style.width(text) - 4)
    const tone = one.error === undefined ? undefined : ("loss" as const)
    return [Style.cutStart(Style.clean(one.path), room), text, tone]
  })
  const left = more === 0 ? [] : [`  … and ${more} more (--json names all)`]
  return [`${style.paint("title", "Passed by")} (${all.length})`, ...Phrase.rows(style, rows), ...left]
}
