/**
 * The most memory that this process held so far.
 *
 * Linux hands the peak of a parent on to its children (`ru_maxrss`), which hides what a child of a large parent grows by;
 * the high-water mark of the address space begins anew with each program.
 */
import * as fs from "node:fs"

/** In megabytes. */
export const peakMb = (): number => {
  const status = fs.existsSync("/proc/self/status") ? fs.readFileSync("/proc/self/status", "latin1") : ""
  const [, own] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? []
  return (own === undefined ? process.resourceUsage().maxRSS : Number(own)) / 1024
}
