/**
 * Append: `reprise append SESSION TEXT` adds messages to a session, where recovery would go on.
 *
 *   text, or bodies ─▶ claim the session ─▶ find its leaf ─▶ append ─▶ written, or on the disk ─▶ print the ids
 *
 * 1. What is appended hangs on the leaf that recovery finds once nobody else can write.
 * 2. An id is printed when its message is written. When it is not, nothing is printed but the error.
 * 3. A session that another program writes is left alone: exit code 75, try again.
 */
import * as Recovery from "@reprise/recovery/Recovery"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Transcript from "@reprise/storage/Transcript"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as path from "node:path"
import * as Bodies from "./Bodies.ts"
import * as Flags from "./Flags.ts"
import * as Output from "./Output.ts"
import * as Projects from "./Projects.ts"
import * as SessionFile from "./SessionFile.ts"
import * as SessionName from "./SessionName.ts"
import * as Style from "./Style.ts"
import * as Unwritten from "./Unwritten.ts"

/**
 * There is nothing to append, or nothing to append it to.
 *
 * @category errors
 * @since 0.1.0
 */
export class NothingToAppend extends Schema.TaggedError<NothingToAppend>()("NothingToAppend", {
  expected: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return `expected ${this.expected}, found ${this.found}; nothing was written`
  }
}

/**
 * What was appended: the session, where it is, and what became of each message.
 *
 * @category models
 * @since 0.1.0
 */
export interface Appended {
  readonly sessionId: string
  readonly log: EntryLog.LogId
  readonly messages: ReadonlyArray<Transcript.Appended>
}

/**
 * Appends messages at the leaf of a session; `durable`: until the disk has them.
 *
 * @category running
 * @since 0.1.0
 */
export const append = Effect.fn("Append.append")(function* (
  where: Transcript.Options,
  given: ReadonlyArray<Bodies.Given>,
  options: { readonly durable: boolean } = { durable: false }
) {
  const transcript = yield* Transcript.open({ ...where, leaf: Recovery.leaf })
  const messages: Array<Transcript.Appended> = []
  for (const { body, options } of given.slice(0, -1)) messages.push(yield* transcript.append(body, options))
  for (const { body, options: own } of given.slice(-1)) {
    messages.push(yield* (options.durable ? transcript.appendDurable : transcript.append)(body, own))
  }
  const { discarded } = yield* transcript.close
  yield* SessionWriter.SessionWriter.use(({ close }) => close)
  if (discarded.length > 0) {
    const expected = "a prompt or a reply, with which a session begins"
    return yield* new NothingToAppend({ expected, found: `only ${discarded.map(({ type }) => type).join(", ")}` })
  }
  const appended: Appended = { sessionId: transcript.sessionId, log: transcript.log, messages }
  return appended
}, SessionFile.writing)

/** What stands on standard input. */
const input = Effect.gen(function* () {
  const stdio = yield* Stdio.Stdio
  if (yield* stdio.stdinIsTerminal) yield* Output.note("reading from the terminal; end with Ctrl-D")
  return Buffer.concat(yield* Stream.runCollect(stdio.stdin))
})

/** The messages: a prompt from the arguments, or from standard input a prompt or bodies. */
const messages = Effect.fnUntraced(function* (text: string | undefined, json: boolean) {
  const bytes = text === undefined ? yield* input : undefined
  if (bytes !== undefined && json) {
    const given = yield* Bodies.read(bytes)
    if (given.length > 0) return given
  }
  const prompt = text ?? new TextDecoder().decode(bytes).replace(/\r?\n$/, "")
  if (prompt.trim() !== "" && (text !== undefined || !json)) return [Bodies.prompt(prompt)]
  const found = text === undefined ? "nothing on standard input" : "an empty text"
  return yield* new NothingToAppend({
    expected: json && text === undefined ? "messages, one to a line" : "a prompt",
    found
  })
})

/** What the arguments name: a session that there is, or one by its directory and id; and the prompt, where it is there. */
interface Named {
  readonly name: string | undefined
  readonly prompt: string | undefined
  readonly cwd: string
  readonly id: string | undefined
}

interface Given {
  readonly session: string | undefined
  readonly text: Option.Option<string>
  readonly cwd: Option.Option<string>
  readonly id: Option.Option<string>
}

/** Beside `--cwd` and `--session` the only argument is the prompt. */
const named = Effect.fnUntraced(function* ({ cwd, id, session, text }: Given) {
  const isNew = Option.isSome(cwd) || Option.isSome(id)
  if (isNew ? Option.isSome(text) : session === undefined) {
    const expected = isNew ? "at most a text beside --cwd and --session" : "a session, --cwd or --session"
    return yield* new NothingToAppend({ expected, found: isNew ? "a session as well" : "neither" })
  }
  const [name, prompt] = isNew ? [undefined, session] : [session, Option.getOrUndefined(text)]
  const directory = path.resolve(Option.getOrElse(cwd, () => process.cwd()))
  if (!Projects.isDirectory(directory)) {
    return yield* new NothingToAppend({ expected: "a directory in --cwd", found: `none at ${directory}` })
  }
  const found: Named = { name, prompt, cwd: directory, id: Option.getOrUndefined(id) }
  return found
})

/** Its file, where there is one, and how it is opened: then it goes on as it is. */
const target = Effect.fnUntraced(function* ({ cwd, id, name }: Named) {
  if (name === undefined) {
    return { file: undefined, where: { ...SessionFile.stamp(cwd), ...(id !== undefined && { sessionId: id }) } }
  }
  const file = yield* SessionName.fileOf(name)
  return { file, where: yield* SessionFile.opening(file, { empty: true }) }
})

const outcomes = { AlreadyThere: "already-there", Accepted: "accepted", Pending: "accepted" } as const

/**
 * `reprise append`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "append",
  {
    session: SessionName.orElse("left out with --cwd or --session"),
    text: Argument.String("text").pipe(
      Argument.withDescription("A prompt; without one, it is read from standard input"),
      Argument.optional
    ),
    cwd: Flags.text("cwd", "DIR", "Append to a session of this directory, a new one unless --session names it"),
    id: Flags.text("session", "ID", "The id of the session, of --cwd or of the directory that this is run in"),
    durable: Flags.on("durable", "Return when the disk has it, not only the system"),
    json: Flags.json("Read messages from standard input, one JSON object to a line; answer likewise"),
    projects: Projects.flags.projects
  },
  Effect.fn(
    function* ({ durable, json, projects, ...given }) {
      const what = yield* named(given)
      const { file: there, where } = yield* target(what)
      const appended = yield* append(where, yield* messages(what.prompt, json), { durable })
      const { sessionId } = appended
      const file = there ?? EntryLog.pathOf(yield* Projects.directory({ projects }), appended.log)
      if (there === undefined && !json) yield* Output.note(`session ${sessionId}: ${file}`)
      const lines = appended.messages.map(({ _tag, uuid }) =>
        json ? Style.json({ file, ok: true, sessionId, uuid, outcome: outcomes[_tag] }) : uuid
      )
      yield* Output.lines(lines)
    },
    Projects.into,
    (run, { cwd, id, json, session }) => {
      const words = Option.getOrElse(id, () => Option.getOrElse(cwd, () => session ?? ""))
      return Unwritten.reporting(run, { session: words, json })
    }
  )
).pipe(
  Command.withDescription("Append messages to a session, at the leaf that recovery finds, and print their ids."),
  Command.withExamples([
    { command: 'reprise append 7d1f0c52 "Go on"', description: "Append a prompt" },
    { command: "git log -1 | reprise append session.jsonl", description: "The same, from standard input" },
    {
      command: "reprise append --json session.jsonl < messages.jsonl",
      description: "Messages of all kinds, for programs"
    },
    { command: 'reprise append --cwd ~/shop "Hello"', description: "Begin a session of a directory" }
  ])
)
