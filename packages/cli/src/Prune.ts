/**
 * Prune: `reprise prune` says which sessions a policy would let go, and with `--archive DIR` or `--delete` lets them go.
 *
 *   reprise prune --older-than 90d                       a list, nothing else
 *   reprise prune --older-than 90d --archive ~/archive   each into a bundle there
 *
 * 1. Nothing is let go unless it is asked for, by a policy and by a way; `--dry-run` says it once more.
 * 2. Whole sessions only, each reported. One that is open or changed meanwhile stays, and is no failure.
 */
import * as Retention from "@reprise/storage/Retention"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as ErrorJson from "./ErrorJson.ts"
import * as Flags from "./Flags.ts"
import * as List from "./List.ts"
import * as ListText from "./ListText.ts"
import * as Output from "./Output.ts"
import * as Phrase from "./Phrase.ts"
import * as Projects from "./Projects.ts"
import * as Quantity from "./Quantity.ts"
import * as Style from "./Style.ts"
import * as Unwritten from "./Unwritten.ts"

/**
 * What was asked for is not enough, or too much.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotAsked extends Schema.TaggedError<NotAsked>()("NotAsked", {
  expected: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return `expected ${this.expected}, found ${this.found}; nothing was changed`
  }
}

/**
 * Some sessions could not be let go, or could not be read; each was reported.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotAllPruned extends Schema.TaggedError<NotAllPruned>()("NotAllPruned", { count: Schema.Number }) {
  override readonly [Runtime.errorExitCode] = 1
  override readonly [Runtime.errorReported] = false
}

const whys = { age: "too old", count: "beyond the count", size: "beyond the size" } as const

const outcomes = {
  archived: "archived",
  deleted: "deleted",
  open: "left: another program has it open",
  changed: "left: it changed meanwhile",
  failed: "left"
} as const

const nameOf = ({ session }: Retention.Candidate): string => Projects.sessionIdOf(session.log) ?? session.path

/** Lines of candidates, their columns aligned. */
const liner = (candidates: ReadonlyArray<Retention.Candidate>, style: Style.Style) => {
  const cells = (candidate: Retention.Candidate) => {
    const { bytes, files, session } = candidate
    const size = `${Phrase.bytes(bytes)} in ${Phrase.times(files.length, "file")}`
    return [nameOf(candidate), Phrase.minute(session.updatedAt ?? "–"), size].map((cell) => Style.clean(cell))
  }
  const widths = candidates
    .map((candidate) => cells(candidate).map(Style.width))
    .reduce((most, row) => row.map((width, i) => Math.max(width, most[i] ?? 0)), [])
  return (candidate: Retention.Candidate, became: string): string => {
    const columns = cells(candidate).map((cell, i) => Style.fill(cell, widths[i] ?? 0))
    const start = [...columns, Style.clean(became)].join("  ")
    const title = Phrase.oneLine(candidate.session.title ?? "")
    return title === "" ? start : `${start}  ${Style.cut(title, Math.max(20, style.columns - Style.width(start) - 2))}`
  }
}

/** So many sessions, and how much they take. */
const counted = (sessions: number, bytes: number): string =>
  `${Phrase.times(sessions, "session")}, ${Phrase.bytes(bytes)}`

const record = (candidate: Retention.Candidate, outcome: string, more: object = {}): string => {
  const { bytes, files, session, why } = candidate
  const { path, title, updatedAt } = session
  const sessionId = Projects.sessionIdOf(session.log)
  const said = { title: title ?? null, updatedAt: updatedAt ?? null, why, bytes, files: files.map((file) => file.path) }
  return Style.json({ record: "session", sessionId, file: path, outcome, ...said, ...more })
}

const total = (candidates: ReadonlyArray<Retention.Candidate>): number =>
  candidates.reduce((sum, { bytes }) => sum + bytes, 0)

/** How sessions go, as asked for; undefined: not at all. */
const wayOf = (archive: Option.Option<string>, isDeleted: boolean, isDry: boolean) => {
  if (isDry) return undefined
  if (Option.isSome(archive)) return { archive: archive.value }
  return isDeleted ? { delete: true as const } : undefined
}

/**
 * `reprise prune`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "prune",
  {
    ...Projects.flags,
    olderThan: Quantity.age("older-than", "Those whose last message is older"),
    maxCount: Quantity.count("max-count", "All but the newest so many"),
    maxSize: Quantity.size("max-size", "All but the newest that take so much together"),
    dryRun: Flags.on(
      "dry-run",
      "Only say what would go, whatever else is given; so it is without --archive and --delete"
    ),
    archive: Flags.text("archive", "DIR", "Put each into a bundle in this directory, for `reprise import`"),
    delete: Flags.on("delete", "Delete them for good"),
    json: Flags.json("One line of JSON for each session")
  },
  Effect.fn(
    function* (flags) {
      const { archive, dryRun, json, maxCount, maxSize, olderThan } = flags
      const style = yield* Style.current
      const policy: Retention.Policy = {
        ...(Option.isSome(olderThan) && { olderThan: olderThan.value }),
        ...(Option.isSome(maxCount) && { maxCount: maxCount.value }),
        ...(Option.isSome(maxSize) && { maxBytes: maxSize.value })
      }
      const way = wayOf(archive, flags.delete, dryRun)
      let failed = 0
      const gone: Array<Retention.Candidate> = []
      const stayed: Array<Retention.Candidate> = []
      if (Object.keys(policy).length === 0) {
        return yield* new NotAsked({ expected: "--older-than, --max-count or --max-size", found: "none of them" })
      }
      if (Option.isSome(archive) && flags.delete) {
        return yield* new NotAsked({ expected: "one of --archive and --delete", found: "both" })
      }
      const { candidates, kept, passed } = yield* Retention.plan(policy, Projects.scope(flags))
      const unread = passed.filter(({ error }) => error !== undefined)
      const line = liner(candidates, style)
      for (const candidate of candidates) {
        if (way === undefined) {
          yield* Output.line(json ? record(candidate, "would-go") : line(candidate, whys[candidate.why]))
          continue
        }
        const { archive, error, outcome } = yield* Retention.letGo(candidate, way)
        if (outcome === "failed") failed++
        ;(outcome === "archived" || outcome === "deleted" ? gone : stayed).push(candidate)
        const reason = outcome === "failed" && error !== undefined ? `: ${error.message}` : ""
        const more = { ...(archive !== undefined && { archive }), ...(error !== undefined && ErrorJson.fields(error)) }
        yield* Output.line(json ? record(candidate, outcome, more) : line(candidate, outcomes[outcome] + reason))
      }
      for (const one of unread) {
        yield* Output.line(json ? List.encodePassed(one) : Style.clean(`${one.path} ${ListText.reason(one)}`))
      }
      const all = counted(candidates.length, total(candidates))
      const told =
        way === undefined
          ? `${all} would go; --archive DIR or --delete lets them go`
          : `${gone.length} of ${all} let go` +
            (stayed.length === 0 ? "" : `; left: ${counted(stayed.length, total(stayed))}`)
      if (!json) yield* Output.note(`${told}; kept: ${counted(kept.sessions, kept.bytes)}`)
      const count = failed + unread.length
      if (count > 0) return yield* new NotAllPruned({ count })
    },
    Projects.within,
    (run, { json }) => Unwritten.reporting(run, { session: "", json })
  )
).pipe(
  Command.withDescription("Say which sessions a policy would let go; archive or delete them where that is asked for."),
  Command.withExamples([
    { command: "reprise prune --all --older-than 90d", description: "List what is older than 90 days" },
    { command: "reprise prune --older-than 90d --archive ~/archive", description: "Archive it" },
    { command: "reprise prune --all --max-size 5GB --delete", description: "Keep the newest 5 GB, delete the rest" }
  ])
)
