/**
 * Lines of a log that say something about its session, or look much like it: messages in any order of time, with any of
 * the keys; metadata that is glued, torn, spelled in another way, or none.
 */
import * as Schema from "effect/Schema"

const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

/** What a message says about its session; numbers choose a value or none. */
export const Said = Schema.Struct({
  time: upTo(11),
  gitBranch: upTo(3),
  version: upTo(3),
  entrypoint: upTo(4),
  slug: upTo(5),
  odd: upTo(19),
  id: upTo(99)
})

const times = [
  "2025-12-31T23:00:00.000Z",
  "2026-01-01T00:00:00.000Z",
  "2026-01-01T00:00:09.000Z",
  "2026-02-01T00:00:00Z"
]

/** The first message, which leaves nothing open of what is said at the start. */
export const begin = {
  parentUuid: null,
  type: "user",
  uuid: "u0",
  sessionId: "s",
  timestamp: "2025-01-01T00:00:00.000Z",
  cwd: "/work",
  message: { role: "user", content: "Begin." }
}

/** A message, or something that looks much like one. */
export const lineOf = ({ id, odd, time, ...said }: typeof Said.Type, parentUuid: string): object | string => {
  const values = Object.entries(said).flatMap(([key, value]) => (value < 2 ? [[key, `${key} ${value}`]] : []))
  const timestamp = odd === 1 ? "yesterday" : times[time]
  const message = {
    parentUuid,
    isSidechain: odd === 2 || odd === 3,
    type: "user",
    uuid: `m${id}`,
    ...(timestamp !== undefined && { timestamp }),
    sessionId: odd === 13 ? "another" : "s",
    message: { role: "user", content: `What? ${JSON.stringify({ timestamp: times[3] })}` },
    ...(odd === 4 && { toolUseResult: { timestamp: times[3], slug: "quoted", version: "quoted" } }),
    ...(odd === 5 && { cwd: "/work" }),
    ...Object.fromEntries(values)
  }
  const line = JSON.stringify(message)
  if (odd === 6) return line.replaceAll('":"', '": "')
  if (odd === 7) return line + line.replace("m", "n")
  if (odd === 8) return `${line.slice(0, line.length / 2)}${line}`
  if (odd === 9) return JSON.stringify({ type: "custom-title", customTitle: `title {"${id}`, sessionId: "s" })
  if (odd === 10) return JSON.stringify({ sessionId: "s", customTitle: `title ${id}`, type: "custom-title" })
  if (odd === 11) return JSON.stringify({ type: "custom-title", ...(id < 50 && { customTitle: 5 }), sessionId: "s" })
  if (odd === 12) return JSON.stringify({ type: "last-prompt", lastPrompt: `prompt ${id}`, leafUuid: "m1" })
  if (odd === 14) return `{"type":"custom-title","customTitle":"title \t ${id}","sessionId":"s"}`
  if (odd === 15) return `{"type":"last-prompt","lastPrompt":"prompt ${id}","lastPrompt":${id},"sessionId":"s"}`
  if (odd === 16) return `{"type":"custom-title","customTitle":"tit\\le","sessionId":"s"}`
  return message
}
