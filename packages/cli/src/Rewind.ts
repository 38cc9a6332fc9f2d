/**
 * Rewind: `reprise rewind SESSION UUID` goes back to a message: the session goes on from there.
 *
 *   u1 ─ a1 ─ u2 ─ a2              at a1:   u1 ─ a1 ─ marker        u2 and a2 are a branch
 *                                  at a2:   … and back again
 *
 * One appended entry, and nothing is lost: what is left is a branch, and rewinding to its leaf returns to it. A session
 * that another program writes is left alone: exit code 75.
 */
import * as Recovery from "@reprise/recovery/Recovery"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Transcript from "@reprise/storage/Transcript"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Flags from "./Flags.ts"
import * as MessageName from "./MessageName.ts"
import * as Output from "./Output.ts"
import * as Phrase from "./Phrase.ts"
import * as Projects from "./Projects.ts"
import * as SessionFile from "./SessionFile.ts"
import * as SessionName from "./SessionName.ts"
import * as Style from "./Style.ts"
import * as TranscriptFile from "./TranscriptFile.ts"
import * as Unwritten from "./Unwritten.ts"

/**
 * No message that a session could go on from has the id.
 *
 * @category errors
 * @since 0.1.0
 */
export class NoRewindPoint extends Schema.TaggedError<NoRewindPoint>()("NoRewindPoint", {
  file: Schema.String,
  uuid: Schema.String
}) {
  override get message(): string {
    return `${this.file}: expected a message to go back to, found none that is ${this.uuid} and not snipped; nothing was written`
  }
}

/**
 * What a rewind did: the marker, and where the session was before.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rewound {
  readonly sessionId: string
  readonly uuid: string
  readonly to: string
  readonly left: string | null
}

/**
 * Goes back to a message of the session.
 *
 * @category running
 * @since 0.1.0
 */
export const rewind = Effect.fn("Rewind.rewind")(function* (file: string, to: string) {
  const where = yield* SessionFile.opening(file)
  const { leaf } = yield* TranscriptFile.fold(file, Recovery.make({ leaf: { uuid: to } }))
  if (leaf?.uuid !== to) return yield* new NoRewindPoint({ file, uuid: to })
  const transcript = yield* Transcript.open({ ...where, leaf: Recovery.leaf })
  const left = yield* transcript.tail
  const { uuid } = yield* transcript.rewind(to)
  yield* transcript.close
  yield* SessionWriter.SessionWriter.use(({ close }) => close)
  const rewound: Rewound = { sessionId: transcript.sessionId, uuid, to, left }
  return rewound
}, SessionFile.writing)

/**
 * `reprise rewind`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "rewind",
  {
    session: SessionName.argument,
    message: Argument.String("uuid").pipe(
      Argument.withDescription(
        "The message to go on from, or the beginning of its id; the leaf of a branch returns to it"
      )
    ),
    json: Flags.json("Answer with one line of JSON"),
    projects: Projects.flags.projects
  },
  Effect.fn(
    function* ({ json, message, session }) {
      const file = yield* SessionName.fileOf(session)
      const { left, sessionId, to, uuid } = yield* rewind(file, yield* MessageName.uuidOf(file, message))
      if (json) {
        return yield* Output.line(Style.json({ file, ok: true, sessionId, uuid, to, left }))
      }
      const back = left === null ? "" : `; \`reprise rewind ${Phrase.argument(file)} ${left}\` returns`
      yield* Output.note(Style.clean(`session ${sessionId} goes on from ${to}${back}`))
      yield* Output.line(uuid)
    },
    Projects.within,
    Unwritten.reporting
  )
).pipe(
  Command.withDescription("Go back to a message of a session; what came after it is a branch from then on."),
  Command.withExamples([{ command: "reprise rewind 7d1f0c52 1f7ac191", description: "Go on from that message" }])
)
