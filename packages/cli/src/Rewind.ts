/**
 * Rewind: `reprise rewind FILE UUID` goes back to a message: the session goes on from there.
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
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Append from "./Append.ts"
import * as Output from "./Output.ts"
import * as SessionFile from "./SessionFile.ts"
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

/** One attempt more at the end: who waits at a terminal is told soon that the disk is full. */
const writer = SessionWriter.layerWith({ retry: { onClose: 2 } })

/**
 * Goes back to a message of the session.
 *
 * @category running
 * @since 0.1.0
 */
export const rewind = Effect.fn("Rewind.rewind")(
  function* (file: string, to: string) {
    const { log, sessionId, ...own } = yield* SessionFile.find(file)
    const { leaf } = yield* TranscriptFile.fold(file, Recovery.make({ leaf: { uuid: to } }))
    if (leaf?.uuid !== to) return yield* new NoRewindPoint({ file, uuid: to })
    const where = { cwd: process.cwd(), version: Append.formatVersion, entrypoint: "cli", log, ...own }
    const transcript = yield* Transcript.open({
      ...where,
      ...(sessionId !== null && { sessionId }),
      leaf: Recovery.leaf
    })
    const left = yield* transcript.tail
    const { uuid } = yield* transcript.rewind(to)
    yield* transcript.close
    yield* SessionWriter.SessionWriter.use(({ close }) => close)
    const rewound: Rewound = { sessionId: transcript.sessionId, uuid, to, left }
    return rewound
  },
  Effect.scoped,
  Effect.provide(writer)
)

/**
 * `reprise rewind`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "rewind",
  {
    file: Argument.String("file").pipe(Argument.withDescription("The transcript of the session (.jsonl)")),
    to: Argument.String("uuid").pipe(
      Argument.withDescription("The message to go on from; the leaf of a branch returns to it")
    ),
    json: Flag.Boolean("json").pipe(Flag.withDefault(false), Flag.withDescription("Answer with one line of JSON"))
  },
  Effect.fn(function* ({ file, json, to }) {
    const result = yield* Effect.result(rewind(file, to))
    if (Result.isFailure(result)) return yield* Unwritten.report(file, result.failure, json)
    const { left, sessionId, uuid } = result.success
    if (json) {
      return yield* Output.print(Stream.succeed(`${Style.json({ file, ok: true, sessionId, uuid, to, left })}\n`))
    }
    const back = left === null ? "" : `; \`reprise rewind FILE ${left}\` returns`
    yield* Output.note(Style.clean(`session ${sessionId} goes on from ${to}${back}`))
    yield* Output.print(Stream.succeed(`${uuid}\n`))
  })
).pipe(
  Command.withDescription("Go back to a message of a session; what came after it is a branch from then on."),
  Command.withExamples([{ command: "reprise rewind session.jsonl UUID", description: "Go on from that message" }])
)
