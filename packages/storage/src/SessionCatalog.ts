/**
 * SessionCatalog: the sessions of a directory with its worktrees, or of all, newest first, a page at a time.
 *
 *   names, sizes, times ─ newest change first ─▶ summary ─ filter ─▶ newest message first ─▶ page
 *                              └ ends where no log that is left can belong to the page
 *
 * 1. It is a function of the logs. An index is a cache, checked against size and time of each log; nothing is ever
 *    written but that, and no time of a log changes but that of its last reading.
 * 2. Recency is the time of the last message. A log changes when its last message is written or later, so the time of
 *    its change bounds it: logs are read by change, newest first, until the page is full of messages newer than the
 *    next change. A page costs a page, and logs that were touched since cost one read each.
 * 3. Clocks may say otherwise (a copy with made-up times): where one log that was read has a message newer than its
 *    change, none of the times is believed and all logs are read.
 * 4. Sessions without a time come last, by change. Equal times are ordered by change, then by path.
 * 5. Every file that is named as a log is told of: as a session, or passed with the reason. None hides another.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as EntryLog from "./EntryLog.ts"
import { fold } from "./internal/fold.ts"
import * as Folders from "./internal/folders.ts"
import * as SessionIndex from "./internal/sessionIndex.ts"
import * as SessionSummary from "./SessionSummary.ts"

/**
 * Whose sessions: those of a directory, by default with those of the other worktrees of its repository; without one, all.
 *
 * @category models
 * @since 0.1.0
 */
export interface Scope {
  readonly directory?: string
  readonly worktrees?: boolean
}

/**
 * Which sessions: those with this tag or branch, with a text in title or first prompt (as people read it: in any case),
 * held by a human or an agent, put away or not. What is not given does not matter.
 *
 * @category models
 * @since 0.1.0
 */
export interface Filter {
  readonly tag?: string
  readonly branch?: string
  readonly text?: string
  readonly origin?: SessionSummary.Origin
  readonly archived?: boolean
}

/**
 * How far something is; the unit is that of its total.
 *
 * @category models
 * @since 0.1.0
 */
export interface Progress {
  readonly done: number
  readonly total: number
}

/**
 * What is listed, and how: by the time of the last message, or by that of the last `change` of the log, which a page
 * never has to read beyond itself. `index` is the path of a file that may be deleted at any time; `watch` hears how many
 * of the logs are done.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends Scope, Filter, Pick<SessionSummary.Options, "window"> {
  readonly order?: "message" | "change"
  readonly offset?: number
  readonly limit?: number
  readonly index?: string
  readonly watch?: (progress: Progress) => Effect.Effect<void>
}

/**
 * A session of the list, and where its log is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Session extends SessionSummary.SessionSummary {
  readonly path: string
  readonly archived: boolean
}

/**
 * What is no session, and why: by its name and kind, because it is empty (no byte), holds no entry, belongs to an agent
 * of another session, or cannot be read (`error`).
 *
 * @category models
 * @since 0.1.0
 */
export interface Passed extends Omit<EntryLog.Passed, "why"> {
  readonly why: EntryLog.Passed["why"] | "Empty" | "NoEntry" | "Sidechain"
}

/**
 * A page: its sessions, whether more follow, and what was passed by on the way. `logs` is the number of logs there are,
 * `read` how many of them had to be opened. `unindexed`: the index could not be written.
 *
 * @category models
 * @since 0.1.0
 */
export interface Page {
  readonly sessions: ReadonlyArray<Session>
  readonly more: boolean
  readonly passed: ReadonlyArray<Passed>
  readonly logs: number
  readonly read: number
  readonly unindexed?: unknown
}

/**
 * The projects of a scope.
 *
 * @category running
 * @since 0.1.0
 */
export const projects = Effect.fnUntraced(function* ({ directory, worktrees = true }: Scope) {
  const port = yield* EntryLog.EntryLog
  if (directory === undefined) return new Set<string>(yield* port.projects)
  return new Set<string>(yield* worktrees ? Folders.withWorktrees(port, directory) : Folders.of(port, directory))
})

/**
 * All logs of a scope, that which changed last first, and what is named as logs are and is none.
 *
 * @category running
 * @since 0.1.0
 */
export const logs = Effect.fnUntraced(function* (scope: Scope) {
  const port = yield* EntryLog.EntryLog
  const listed: Array<EntryLog.Listed> = []
  const passed: Array<Passed> = []
  for (const project of yield* projects(scope)) {
    const listing = yield* Effect.result(port.listing(project))
    if (Result.isFailure(listing)) {
      passed.push({ path: listing.failure.path, why: "Unreadable", error: listing.failure })
      continue
    }
    for (const log of listing.success.logs) listed.push(log)
    for (const other of listing.success.passed) passed.push(other)
  }
  const sorted = listed.toSorted((a, b) => b.mtime - a.mtime || (a.path < b.path ? -1 : 1))
  return { listed: sorted, passed }
})

/** Files between two turns of the event loop. */
const TURN = 50

/**
 * Lists sessions.
 *
 * @category running
 * @since 0.1.0
 */
export const list = Effect.fn("SessionCatalog.list")(function* (options: Options = {}) {
  const { index: file, limit = Infinity, offset = 0, order = "message", watch } = options
  const { listed, passed } = yield* logs(options)
  const index = file === undefined ? undefined : SessionIndex.open(file)
  const summaryOf = SessionSummary.reader(options)
  const isWanted = matches(options)
  // One more than the page tells whether there is a next one.
  const page = makePage(offset + limit + 1, order)
  let read = 0
  for (const [done, one] of listed.entries()) {
    if (page.isFull(one.mtime)) break
    if (done % TURN === 0) {
      yield* Effect.yieldNow
      if (watch !== undefined) yield* watch({ done, total: listed.length })
    }
    let session = index?.find(one)
    if (session === undefined) {
      read++
      const result = yield* Effect.result(summaryOf(one.log))
      if (Result.isFailure(result)) {
        passed.push({ path: result.failure.path, why: "Unreadable", error: result.failure })
        continue
      }
      session = Object.assign(result.success, { path: one.path, archived: one.archived })
      index?.add(session)
    }
    const why = whyPassed(session)
    if (why !== undefined) passed.push({ path: one.path, why })
    else if (isWanted(session)) page.add(session)
  }
  const sessions = page.sessions()
  index?.keep(listed, options.directory === undefined)
  const saved = index === undefined ? undefined : yield* Effect.result(index.save)
  const answer: Page = {
    sessions: sessions.slice(offset, offset + limit),
    more: sessions.length > offset + limit,
    passed,
    logs: listed.length,
    read,
    ...(saved !== undefined && Result.isFailure(saved) && { unindexed: saved.failure.cause })
  }
  return answer
})

const whyPassed = ({ isEmpty, origin, size }: SessionSummary.SessionSummary): Passed["why"] | undefined => {
  if (isEmpty) return size === 0 ? "Empty" : "NoEntry"
  return origin === "sidechain" ? "Sidechain" : undefined
}

const matches = ({ archived, branch, origin, tag, text }: Filter) => {
  const sought = text === undefined ? undefined : fold(text)
  const holds = (value: string | undefined): boolean => value !== undefined && fold(value).includes(sought!)
  return (session: Session): boolean =>
    (tag === undefined || session.tag === tag) &&
    (branch === undefined || session.branch === branch) &&
    (origin === undefined || session.origin === origin) &&
    (archived === undefined || session.archived === archived) &&
    (sought === undefined || holds(session.title) || holds(session.firstPrompt))
}

/** By how much the time of a change may lag behind that of a message: file systems count in steps of their own. */
const STEP = 2000

/** The newest sessions of those added, which come newest change first. */
const makePage = (size: number, order: "message" | "change") => {
  let added: Array<readonly [time: number, session: Session]> = []
  let isBelieved = true
  let look = size
  const sorted = () => {
    if (order === "message") added = added.toSorted(([a], [b]) => b - a)
    return added
  }
  return {
    add: (session: Session): void => {
      const time = Date.parse(session.updatedAt ?? "")
      if (time > session.mtime + STEP) isBelieved = false
      added.push([Number.isNaN(time) ? -Infinity : time, session])
    },
    /** Whether a log that last changed then, or before, has no place on the page. */
    isFull: (mtime: number): boolean => {
      if (added.length < look) return false
      if (order === "change") return true
      // Sorting again for each one more would cost more than reading some.
      look = added.length + Math.ceil(added.length / 16)
      return isBelieved && sorted()[size - 1]![0] > mtime + STEP
    },
    sessions: (): ReadonlyArray<Session> => sorted().map(([, session]) => session)
  }
}
