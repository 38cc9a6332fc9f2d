/**
 * Notation: small logs as pictures.
 *
 *   "u1-a1-u2-a2 a1-u3-a3"        a line of talk, and a branch that leaves it at a1
 *   "u1-a1 x9-u2"                 u2 hangs on x9, which is in no line
 *   "u1-a1@m(A)-a2@m(B)-rB a1-rA" one reply m in two entries, with calls A and B; each result hangs on its own call
 *   "u1-a1 B1{u1,a1>S1}-S1-u2"    a boundary that keeps u1 and a1, linked to the summary S1
 *
 * Entries stand in file order, one second apart. Within a run joined by `-`, each new entry hangs on the one before it;
 * a run starts with a new root, with a name that was used before, or with one that never is (x…). The first letter
 * says the kind, the whole name is the id:
 *
 *   u prompt · a reply · r result (of the calls named by the rest: rA) · m injected line · t attachment · s system line
 *   l local command · w rewind · p progress · q entry of an unknown type · B boundary · S summary · N snip
 *
 * What may follow the name:   @id  `message.id` of a reply (else its own)     (A,B)  calls of a reply, or of a result
 *   {…}  kept messages of a boundary and their anchor (u3,a3>S1), removed messages of a snip (u2,a2)
 *   {u3..a3>S1}  the same as a segment      :7  seconds, :? no timestamp      ~abc  sidechain of agent abc
 *   ^x1  another parent than the one before it      !a3  (alone) a `last-prompt` that names leaf a3
 *   ?  (alone) a line that is no entry
 */
import * as Boundary from "../Boundary.ts"
import * as Entry from "../Entry.ts"
import * as Line from "../Line.ts"
import * as Content from "../Content.ts"
import * as Message from "../Message.ts"
import * as Metadata from "../Metadata.ts"

const shape =
  /^([a-zA-Z]\w*)(?:\^(\w+))?(?:@(\w+))?(?:\(([\w,]*)\))?(?:\{([^}]*)\})?(?::(\d+(?:\.\d+)?|\?))?(?:~(\w+))?$/

interface Word {
  readonly name: string
  readonly parent: string | null
  readonly reply: string
  readonly calls: ReadonlyArray<string>
  readonly braces: string
  readonly seconds: number | undefined
  readonly agent: string | undefined
}

/**
 * The entries of a picture, in file order.
 *
 * @category decoding
 * @since 0.1.0
 */
export const entries = (picture: string): ReadonlyArray<Entry.Entry> => {
  const known = new Set<string>()
  const all: Array<Entry.Entry> = []
  for (const run of picture.split(/\s+/).filter((run) => run !== "")) {
    if (run === "?") {
      all.push(new Entry.Malformed(junk, "torn"))
      continue
    }
    if (run.startsWith("!")) {
      all.push({ ...Metadata.lastPrompt({ leafUuid: run.slice(1) }), sessionId })
      continue
    }
    let parent: string | null = null
    for (const text of run.split("-")) {
      const word = read(text, parent, all.length + 1)
      const isReference = known.has(word.name) && parent === null
      if (!isReference && !word.name.startsWith("x")) all.push(entryOf(word))
      known.add(word.name)
      parent = word.name
    }
  }
  return all
}

/**
 * The log of a picture: its bytes, a line for each entry.
 *
 * @category decoding
 * @since 0.1.0
 */
export const bytes = (picture: string): Uint8Array =>
  encoder.encode(
    entries(picture)
      .map((entry) => `${Line.encode(entry)}\n`)
      .join("")
  )

/**
 * The entries of a picture at their places in its log.
 *
 * @category decoding
 * @since 0.1.0
 */
export const log = (picture: string): ReadonlyArray<Line.Located> => Line.decodeAll(bytes(picture))

/**
 * A picture of a conversation: the ids in order.
 *
 * @category encoding
 * @since 0.1.0
 */
export const show = (messages: Iterable<{ readonly uuid: string }>): string =>
  Array.from(messages, ({ uuid }) => uuid).join("-")

/** Of the Encoding standard, in every runtime; pure. */
declare const TextEncoder: new () => { readonly encode: (text: string) => Uint8Array }

const encoder = new TextEncoder()
const junk = encoder.encode('{"type":"us')
const sessionId = "11111111-1111-4111-8111-111111111111"

const read = (text: string, before: string | null, place: number): Word => {
  const match = shape.exec(text)
  if (match === null) throw new Error(`not a word of the notation: ${JSON.stringify(text)}`)
  const [, name, parent, reply, calls, braces, seconds, agent] = match
  const rest = name!.slice(1)
  return {
    name: name!,
    parent: parent ?? before,
    reply: reply ?? `msg-${name}`,
    calls: calls === undefined ? (name!.startsWith("r") ? [rest] : []) : calls.split(",").filter((id) => id !== ""),
    braces: braces ?? "",
    seconds: seconds === "?" ? undefined : Number(seconds ?? place),
    agent
  }
}

const entryOf = (word: Word): Entry.Entry => {
  const milliseconds = word.seconds === undefined ? 0 : Math.round(word.seconds * 1000)
  const two = (n: number): string => String(Math.floor(n)).padStart(2, "0")
  const time = `2026-01-01T${two(milliseconds / 3_600_000)}:${two((milliseconds / 60_000) % 60)}:${two((milliseconds / 1000) % 60)}.${String(milliseconds % 1000).padStart(3, "0")}Z`
  const { type, ...rest } = bodyOf(word)
  return {
    type,
    uuid: word.name,
    parentUuid: word.parent,
    isSidechain: word.agent !== undefined,
    ...(word.agent === undefined ? undefined : { agentId: word.agent }),
    ...(word.seconds === undefined ? undefined : { timestamp: time }),
    sessionId,
    ...rest
  } as Entry.Known
}

const bodyOf = (word: Word): { readonly type: string } => {
  const { braces, calls, name, reply } = word
  switch (name[0]) {
    case "u":
      return Message.user(`[${name}]`)
    case "m":
      return { ...Message.user(`[${name}]`), isMeta: true } as { readonly type: string }
    case "r":
      return Message.toolResults(calls.map((id) => Content.toolResult({ tool_use_id: id, content: `result ${id}` })))
    case "a":
      return Message.assistant({
        id: reply,
        model: "model",
        content:
          calls.length === 0
            ? [Content.text(`[${name}]`)]
            : calls.map((id) => Content.toolUse({ id, name: "Tool", input: {} }))
      })
    case "t":
      return Message.attachment({ type: "critical_system_reminder", content: `[${name}]` })
    case "s":
      return Message.system("away_summary", { content: `[${name}]` })
    case "l":
      return Message.localCommand(`<local-command-stdout>[${name}]</local-command-stdout>`)
    case "w":
      return Message.informational(`[${name}]`)
    case "p":
      return { type: "progress", data: { type: "bash_progress" } } as { readonly type: string }
    case "q":
      return { type: "future-thing" }
    case "S":
      return Boundary.compactSummary(`[${name}]`)
    case "N":
      return Boundary.snip(braces.split(",").filter((id) => id !== ""))
    case "B":
      return boundary(braces)
    default:
      throw new Error(`no kind of entry begins like ${name}`)
  }
}

/** `u3,a3>S1` as a list, `u3..a3>S1` as a segment, nothing as a plain boundary. */
const boundary = (braces: string): { readonly type: string } => {
  const plain = Boundary.compact({ trigger: "manual", preTokens: 1000, logicalParentUuid: null })
  const [kept, anchor] = braces.split(">")
  if (kept === undefined || anchor === undefined) return plain
  const [headUuid, tailUuid] = kept.split("..")
  const record =
    tailUuid === undefined
      ? { preservedMessages: { anchorUuid: anchor, uuids: kept.split(",").filter((id) => id !== "") } }
      : { preservedSegment: { headUuid, anchorUuid: anchor, tailUuid } }
  return { ...plain, compactMetadata: { ...plain.compactMetadata, ...record } } as { readonly type: string }
}
