/**
 * Ends: where a stream ends, as headers.
 */
import type { Position } from "../../AppendChain.ts"
import * as Wire from "../../Wire.ts"

/** The headers that say it, and in which store. */
export const headersOf = (end: Position & { readonly epoch: number }, backendId: string) => ({
  ...(end.uuid !== undefined && { [Wire.headers.head]: end.uuid }),
  [Wire.headers.seq]: String(end.seq),
  [Wire.headers.epoch]: String(end.epoch),
  [Wire.headers.backend]: backendId
})
