/**
 * Entries in the shape of real transcripts: sizes, kinds and characters. Same seed, same entries.
 *
 *   line bytes p50 1.1 KB, p90 6 KB, p99 36 KB · half of the bytes in lines with a character above U+00FF
 */
interface Entry {
  readonly type: "user" | "assistant" | "attachment"
  readonly uuid: string
  readonly [key: string]: unknown
}

const words =
  "the of a session entry log reads writes file line which that is return const value error when then it was from path test".split(
    " "
  )

/** A generator of numbers in [0, 1): mulberry32. */
const random = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** So many entries of one session, each hanging on the one before. */
export const entries = (count: number, seed = 1): ReadonlyArray<Entry> => {
  const next = random(seed)
  const made: Array<Entry> = []
  let parentUuid: string | null = null
  for (let i = 0; i < count; i++) {
    const uuid: string = uuidOf(next)
    // As a program has them from a line or a reply: texts in one piece, not in those that they were made of here.
    made.push(JSON.parse(JSON.stringify(entryOf(next, i, { uuid, parentUuid }))))
    parentUuid = uuid
  }
  return made
}

const hex = (next: () => number, digits: number): string =>
  Array.from({ length: digits }, () => Math.floor(next() * 16).toString(16)).join("")

const uuidOf = (next: () => number): string =>
  `${hex(next, 8)}-${hex(next, 4)}-4${hex(next, 3)}-a${hex(next, 3)}-${hex(next, 12)}`

const entryOf = (
  next: () => number,
  i: number,
  ids: { readonly uuid: string; readonly parentUuid: string | null }
): Entry => {
  const size = Math.min(120_000, Math.exp(5.9 + 1.75 * gauss(next)))
  const common = {
    ...ids,
    isSidechain: false,
    timestamp: new Date(1.76e12 + 1000 * i).toISOString(),
    userType: "external",
    cwd: "/home/dev/project",
    sessionId: "00000000-0000-4000-8000-000000000001",
    version: "2.1.0",
    gitBranch: "main"
  }
  const id = `toolu_${hex(next, 24)}`
  switch (Math.floor(next() * 8)) {
    case 0:
      return { ...common, type: "user", message: { role: "user", content: text(next, size) } }
    case 1:
      return { ...common, type: "attachment", attachment: { type: "file", content: text(next, size) } }
    case 2:
    case 3:
      return assistant(common, { type: "text", text: text(next, size) })
    case 4:
      return assistant(common, { type: "thinking", thinking: text(next, size), signature: hex(next, 200) })
    case 5:
      return assistant(common, { type: "tool_use", id, name: "Bash", input: { command: text(next, size / 3) } })
    default: {
      const content = view(next, 2 * size)
      const message = { role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] }
      return { ...common, type: "user", message, toolUseResult: { stdout: content.slice(0, 400), interrupted: false } }
    }
  }
}

const assistant = (common: { readonly uuid: string }, block: object): Entry => ({
  ...common,
  type: "assistant",
  message: {
    id: `msg_${common.uuid.slice(0, 8)}`,
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4",
    content: [block],
    stop_reason: null,
    usage: { input_tokens: 4, cache_read_input_tokens: 30_211, output_tokens: 211 }
  },
  requestId: `req_${common.uuid.slice(0, 8)}`
})

const gauss = (next: () => number): number => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())

const text = (next: () => number, size: number): string => {
  let made = ""
  while (made.length < size) made += `${words[Math.floor(next() * words.length)]}${next() < 0.1 ? '.\n"' : " "}`
  return next() < 0.35 ? `${made}… — done` : made
}

/** A numbered view of a file. */
const view = (next: () => number, size: number): string => {
  const isWide = next() < 0.55
  let made = ""
  for (let line = 1; made.length < size; line++) {
    made += `${String(line).padStart(6)}${isWide ? "→" : "\t"}  ${text(next, 40).slice(0, 60)}\n`
  }
  return made
}
