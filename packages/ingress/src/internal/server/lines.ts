/**
 * Lines: a body as the lines of an attempt.
 */
import * as Result from "effect/Result"
import type { Buffer } from "node:buffer"
import { isUtf8 } from "node:buffer"
import { BadRequest, TooLarge } from "../../IngressError.ts"
import type { Limits } from "../../Limits.ts"
import * as StreamLine from "../../StreamLine.ts"

type Lines = Result.Result<ReadonlyArray<StreamLine.StreamLine>, BadRequest | TooLarge>

const LF = 0x0a

/** The lines of a batch; the last one may lack its LF. */
export const ofBatch = (body: Buffer, limits: Limits): Lines => {
  if (!isUtf8(body)) return Result.fail(new BadRequest({ detail: "expected UTF-8, found other bytes" }))
  const lines: Array<StreamLine.StreamLine> = []
  for (let from = 0; from < body.length;) {
    const end = body.indexOf(LF, from)
    const to = end < 0 ? body.length : end
    if (lines.length >= limits.lines) return Result.fail(new TooLarge({ what: "lines", limit: limits.lines }))
    const read = lineOf(body, from, to, limits)
    if (Result.isFailure(read)) {
      const { failure } = read
      return Result.fail(
        typeof failure === "string" ? new BadRequest({ detail: failure, line: lines.length + 1 }) : failure
      )
    }
    lines.push(read.success)
    from = to + 1
  }
  return Result.succeed(lines)
}

/**
 * The one entry of a body in JSON, which is a line of its own: breaks between its tokens become blanks, and nothing else
 * is changed. It stands where JSON allows blanks, for within a text a break is escaped.
 */
export const ofEntry = (body: Buffer, limits: Limits): Lines => {
  if (!isUtf8(body)) return Result.fail(new BadRequest({ detail: "expected UTF-8, found other bytes" }))
  if (body.length > limits.line) return Result.fail(new TooLarge({ what: "line", limit: limits.line }))
  const text = body.toString().trim().replaceAll(/\r?\n/g, " ")
  return Result.mapBoth(StreamLine.ofEntry(text), {
    onFailure: (detail) => new BadRequest({ detail }),
    onSuccess: (line) => [line]
  })
}

const lineOf = (
  body: Buffer,
  from: number,
  to: number,
  { line }: Limits
): Result.Result<StreamLine.StreamLine, string | TooLarge> => {
  const read = StreamLine.decode(body.toString("utf8", from, to))
  if (Result.isFailure(read)) return read
  return StreamLine.sizeOf(read.success) > line ? Result.fail(new TooLarge({ what: "line", limit: line })) : read
}
