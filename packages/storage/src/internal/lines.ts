/**
 * Lines: what became of those of an append that was cut. `EntryLog` exports it for adapters.
 */

/** What ends a line. */
export const LF = 0x0a

/**
 * How many bytes of appended lines to write again where a log has `size` bytes from their start on; -1: they are gone. The
 * last LF may be missing (a line that lacks it only is whole), and another program's line be in its place; `last` is the
 * byte that is there. For adapters.
 *
 * @category combinators
 * @since 0.1.0
 */
export const rewritable = (lines: Uint8Array, size: number, last: number | undefined): number => {
  if (size < lines.length - 1) return -1
  return size === lines.length - 1 || last === LF || last === 0 ? lines.length : lines.length - 1
}

/**
 * The bytes of those lines that are in a log when `written` bytes of all are; for adapters.
 *
 * @category combinators
 * @since 0.1.0
 */
export const wholeLines = (lines: Uint8Array, written: number): number => {
  if (lines[written] === LF) return written + 1
  return written === 0 ? 0 : lines.lastIndexOf(LF, written - 1) + 1
}
