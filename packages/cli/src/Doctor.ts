/**
 * Doctor: `reprise doctor DIR` checks every transcript below a directory, and prints what was found by kind.
 *
 * 1. One file at a time, recovered, counted and let go: memory does not grow with their number or size together.
 * 2. Nothing is written, and no file's times change but that of its last reading.
 * 3. Findings are no failure; a file that cannot be read is. `--strict` makes loss one too, and that there is none to check.
 */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Checkup from "./Checkup.ts"
import * as DoctorJson from "./DoctorJson.ts"
import * as DoctorText from "./DoctorText.ts"
import * as Flags from "./Flags.ts"
import * as Output from "./Output.ts"
import * as Style from "./Style.ts"
import * as Tally from "./Tally.ts"
import * as TranscriptFile from "./TranscriptFile.ts"
import * as TranscriptTree from "./TranscriptTree.ts"
import * as Unread from "./Unread.ts"

/**
 * Something was lost in so many files, and `--strict` asked for that to be a failure.
 *
 * @category errors
 * @since 0.1.0
 */
export class LossFound extends Schema.TaggedError<LossFound>()("LossFound", { files: Schema.Number }) {
  override readonly [Runtime.errorExitCode] = 1
  override readonly [Runtime.errorReported] = false
}

/**
 * There was no transcript to check, and `--strict` asked for that to be a failure.
 *
 * @category errors
 * @since 0.1.0
 */
export class NothingChecked extends Schema.TaggedError<NothingChecked>()("NothingChecked", {
  directory: Schema.String
}) {
  override readonly [Runtime.errorExitCode] = 1
  override readonly [Runtime.errorReported] = false
}

/**
 * Checks one file: its checkup, or why it is none of the transcripts.
 *
 * @category running
 * @since 0.1.0
 */
export const check = Effect.fnUntraced(function* ({ file, lane, name, named }: TranscriptTree.Candidate) {
  const result = yield* Effect.result(TranscriptFile.fold(file, Checkup.projection(lane)))
  if (Result.isFailure(result)) return { _tag: "Unreadable", file, name, why: result.failure.found } as const
  const checkup = result.success
  if (!named && !checkup.isTranscript)
    return { _tag: "Skipped", file, name, why: "no entry of a transcript in it" } as const
  return { _tag: "Checked", checkup } as const
})

/**
 * Checks the files of a tree one after the other, into a tally; the stream gives a line of JSON for each.
 *
 * @category running
 * @since 0.1.0
 */
export const checkAll = (
  { files, skipped, unreadable }: TranscriptTree.Tree,
  tally: Tally.Run,
  say: Output.Progress
) => {
  const skip = (passed: TranscriptTree.Passed): string => {
    tally.skip(passed)
    return DoctorJson.encodePassed("skipped", passed)
  }
  const fail = (passed: TranscriptTree.Passed): string => {
    tally.fail(passed)
    return DoctorJson.encodePassed("unreadable", passed)
  }
  const add = Effect.fnUntraced(function* (candidate: TranscriptTree.Candidate, index: number) {
    yield* say(`${index + 1} of ${files.length}  ${candidate.name}`)
    const checked = yield* check(candidate)
    if (checked._tag === "Skipped") return skip(checked)
    if (checked._tag === "Unreadable") return fail(checked)
    tally.add(candidate.name, checked.checkup)
    return DoctorJson.encode(candidate, checked.checkup)
  })
  return Stream.fromIterable(files).pipe(
    Stream.mapEffect(add),
    Stream.concat(Stream.map(Stream.fromIterable(skipped), skip)),
    Stream.concat(Stream.map(Stream.fromIterable(unreadable), fail))
  )
}

/** Files of a list that are named; of more, only the number is of use. */
const named = 20

/**
 * `reprise doctor`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "doctor",
  {
    directory: Argument.String("dir").pipe(
      Argument.withDescription("A directory; every .jsonl file below it is checked")
    ),
    full: Flags.full("long lists whole"),
    json: Flags.json("One line of JSON for each file, and one for all"),
    strict: Flags.on("strict", "Fail when anything was lost, and when there is no transcript")
  },
  Effect.fn(function* ({ directory, full, json, strict }) {
    const style = yield* Style.current
    const tree = yield* Unread.reporting(TranscriptTree.list(directory), {
      session: directory,
      json
    })
    const tally = Tally.run()
    const isWatched = json && (yield* (yield* Stdio.Stdio).stdoutIsTerminal)
    yield* Effect.scoped(
      Effect.gen(function* () {
        const lines = checkAll(tree, tally, yield* Output.progress({ quiet: isWatched }))
        yield* json ? Output.print(Stream.map(lines, (line) => `${line}\n`)) : Stream.runDrain(lines)
      })
    )
    const total = tally.total()
    const end = json
      ? DoctorJson.encodeTotal(directory, total)
      : DoctorText.render(directory, total, style, full ? Infinity : named)
    yield* Output.line(end)
    if (total.unreadable.length > 0) return yield* new Unread.FilesUnreadable({ count: total.unreadable.length })
    const lost = new Set([...total.loss.map(({ name }) => name), ...total.unbalanced])
    if (strict && total.files === 0) return yield* new NothingChecked({ directory })
    if (strict && lost.size > 0) return yield* new LossFound({ files: lost.size })
  })
).pipe(
  Command.withDescription("Check all transcripts below a directory: findings by kind, what is lost, and what adds up."),
  Command.withExamples([
    { command: "reprise doctor ~/.claude/projects", description: "Check all sessions of this user" },
    { command: "reprise doctor --strict backup", description: "Fail when a transcript has lost anything" }
  ])
)
