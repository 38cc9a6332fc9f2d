/**
 * Kind: what a message of a session is, as far as anybody asks, and the letter that its id begins with.
 */

/**
 * What a message is, as far as anybody asks.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = keyof typeof letters

/**
 * The letter of each kind, as in Notation.
 *
 * @category constants
 * @since 0.1.0
 */
export const letters = {
  prompt: "u",
  marker: "u",
  output: "u",
  injected: "m",
  reply: "a",
  error: "a",
  call: "a",
  result: "r",
  attachment: "t",
  event: "s",
  command: "l",
  rewind: "w",
  boundary: "B",
  summary: "S",
  snip: "N"
} as const

/**
 * What only accompanies what it hangs on.
 *
 * @category constants
 * @since 0.1.0
 */
export const notes: ReadonlySet<Kind> = new Set(["attachment", "injected", "event", "command"])

/**
 * What only says what is shown: nobody goes on there before something is said behind it.
 *
 * @category constants
 * @since 0.1.0
 */
export const markers: ReadonlySet<Kind> = new Set(["rewind", "boundary", "snip"])

/**
 * What makes a conversation.
 *
 * @category constants
 * @since 0.1.0
 */
export const speech: ReadonlySet<Kind> = new Set<Kind>([
  "prompt",
  "marker",
  "output",
  "injected",
  "reply",
  "error",
  "call",
  "result",
  "command",
  "summary"
])
