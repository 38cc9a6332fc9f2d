/**
 * Append: `reprise append FILE TEXT` adds messages to a session, where recovery would go on.
 *
 *   text, or bodies ─▶ claim the session ─▶ find its leaf ─▶ append ─▶ written, or on the disk ─▶ print the ids
 *
 * 1. What is appended hangs on the leaf that recovery finds once nobody else can write.
 * 2. An id is printed when its message is written. When it is not, nothing is printed but the error.
 * 3. A session that another program writes is left alone: exit code 75, try again.
 */
import * as Recovery from "@reprise/recovery/Recovery"
import * as EntryLog from "@reprise/storage/EntryLog"
import * as ProjectPath from "@reprise/storage/ProjectPath"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as Transcript from "@reprise/storage/Transcript"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as path from "node:path"
import * as Bodies from "./Bodies.ts"
import * as Output from "./Output.ts"
import * as SessionFile from "./SessionFile.ts"
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
 * The version of the format that entries claim in a session which names none.
 *
 * @category constants
 * @since 0.1.0
 */
export const formatVersion = "2.1.332"

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

/** One attempt more at the end: who waits at a terminal is told soon that the disk is full. */
const writer = SessionWriter.layerWith({ retry: { onClose: 2 } })

/**
 * Appends messages at the leaf of a session; `durable`: until the disk has them.
 *
 * @category running
 * @since 0.1.0
 */
export const append = Effect.fn("Append.append")(
  function* (
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
  },
  Effect.scoped,
  Effect.provide(writer)
)

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

/** The session of a file, which goes on as it is; or one that is named by its directory and id. */
const target = Effect.fnUntraced(function* (file: string | undefined, named: { cwd?: string; session?: string }) {
  if (file === undefined) {
    const { cwd = process.cwd(), session } = named
    return { cwd: path.resolve(cwd), version: formatVersion, entrypoint: "cli", ...(session && { sessionId: session }) }
  }
  const { log, sessionId, ...own } = yield* SessionFile.find(file, { empty: true })
  const where = { cwd: process.cwd(), version: formatVersion, entrypoint: "cli", log, ...own }
  return sessionId === null ? where : { ...where, sessionId }
})

const projects = ProjectPath.projectsDirectory

/**
 * `reprise append`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "append",
  {
    file: Argument.String("file").pipe(
      Argument.withDescription("A transcript (.jsonl); left out with --cwd or --session"),
      Argument.optional
    ),
    text: Argument.String("text").pipe(
      Argument.withDescription("A prompt; without one, it is read from standard input"),
      Argument.optional
    ),
    cwd: Flag.String("cwd").pipe(
      Flag.optional,
      Flag.withDescription("Append to a session of this directory, a new one unless --session names it")
    ),
    session: Flag.String("session").pipe(
      Flag.optional,
      Flag.withDescription("The id of the session, of --cwd or of the directory that this is run in")
    ),
    durable: Flag.Boolean("durable").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Return when the disk has it, not only the system")
    ),
    json: Flag.Boolean("json").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Read messages from standard input, one JSON object to a line; answer likewise")
    )
  },
  Effect.fn(function* ({ cwd, durable, file, json, session, text }) {
    const isNamed = Option.isSome(cwd) || Option.isSome(session)
    const words = [file, text].flatMap(Option.toArray)
    const [name, prompt] = isNamed ? [undefined, words[0]] : words
    const told = yield* Effect.gen(function* () {
      if (isNamed ? words.length > 1 : name === undefined) {
        const expected = isNamed ? "at most a text beside --cwd and --session" : "a transcript, --cwd or --session"
        return yield* new NothingToAppend({ expected, found: isNamed ? "a file as well" : "neither" })
      }
      const where = yield* target(name, {
        ...(Option.isSome(cwd) && { cwd: cwd.value }),
        ...(Option.isSome(session) && { session: session.value })
      })
      const appended = yield* append(where, yield* messages(prompt, json), { durable })
      return { ...appended, file: name ?? EntryLog.pathOf(yield* projects, appended.log) }
    }).pipe(Effect.result)
    if (Result.isFailure(told)) {
      const named = name ?? Option.getOrElse(session, () => Option.getOrElse(cwd, () => ""))
      return yield* Unwritten.report(named, told.failure, json)
    }
    const appended = told.success
    const lines = appended.messages.map(({ _tag, uuid }) =>
      json
        ? Style.json({
            file: appended.file,
            ok: true,
            sessionId: appended.sessionId,
            uuid,
            outcome: _tag === "AlreadyThere" ? "already-there" : "accepted"
          })
        : uuid
    )
    if (name === undefined && !json) yield* Output.note(`session ${appended.sessionId}: ${appended.file}`)
    yield* Output.print(Stream.map(Stream.fromIterable(lines), (line) => `${line}\n`))
  })
).pipe(
  Command.withDescription("Append messages to a session, at the leaf that recovery finds, and print their ids."),
  Command.withExamples([
    { command: 'reprise append session.jsonl "Go on"', description: "Append a prompt" },
    { command: "git log -1 | reprise append session.jsonl", description: "The same, from standard input" },
    {
      command: "reprise append --json session.jsonl < messages.jsonl",
      description: "Messages of all kinds, for programs"
    },
    { command: 'reprise append --cwd ~/shop "Hello"', description: "Begin a session of a directory" }
  ])
)
