/**
 * Wire: the names of the protocol, each in one place: paths, headers, content types.
 */

/**
 * Where the protocol begins: `PUT <base>/session/<id>`.
 *
 * @category constants
 * @since 0.1.0
 */
export const base = "/v1/session_ingress"

/**
 * Headers, in lower case as Node gives them.
 *
 * @category constants
 * @since 0.1.0
 */
export const headers = {
  /** Request: the id behind which the lines belong. Absent: none is known; `*`: at the end, wherever that is. */
  lastUuid: "last-uuid",
  /** Request: the stream within the session. Absent: the main one. */
  stream: "x-stream",
  /** Request: `<writerId>;<epoch>`, what a claim gave. Absent: no claim, epoch 0. */
  writer: "x-writer",
  /** Answer: the id of the last line that has one, the number of lines, the epoch that was claimed last. */
  head: "x-last-uuid",
  seq: "x-last-seq",
  epoch: "x-writer-epoch",
  /**
   * Answer: names the store. Another one than last time: all must be sent again, which stores nothing twice. Request: the
   * store that the writer knows; another one appends nothing.
   */
  backend: "x-backend-id",
  /** Answer: a line of the compat profile was there already, with other bytes. */
  mismatch: "x-entry-mismatch",
  /** Answer of a page: the cursor to go on from, and whether the stream ended there (`true`, `false`). */
  cursor: "x-cursor",
  end: "x-end",
  retryAfter: "retry-after",
  /** Request of a follower by server-sent events: the cursor it got last. */
  lastEventId: "last-event-id"
} as const

/**
 * Content types: a JSON entry or page (compat), lines (native), server-sent events.
 *
 * @category constants
 * @since 0.1.0
 */
export const types = {
  json: "application/json",
  ndjson: "application/x-ndjson",
  events: "text/event-stream"
} as const

/**
 * The value of the header that names a writer.
 *
 * @category encoding
 * @since 0.1.0
 */
export const writer = (writerId: string, epoch: number): string => `${writerId};${epoch}`

/**
 * Reads the header that names a writer; undefined for what is none.
 *
 * @category decoding
 * @since 0.1.0
 */
export const writerOf = (text: string): { readonly writerId: string; readonly epoch: number } | undefined => {
  const [, writerId, epoch] = /^([\x21-\x3a\x3c-\x7e]{1,128});(\d{1,15})$/.exec(text) ?? []
  return writerId === undefined ? undefined : { writerId, epoch: Number(epoch) }
}
