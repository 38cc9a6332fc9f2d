/**
 * A session whose logs grow as by a writer that is killed again and again: a line comes in pieces, some are never ended but
 * by the next writer, and some are no entries at all.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import * as Seeded from "../crash/seeded.ts"
import { pause } from "./round.ts"

export const sessionId = "0f0f0f0f-0000-4000-8000-0000000000a7"

export interface Session {
  readonly projects: string
  readonly main: string
  /** The logs by the names of their streams. */
  readonly logs: ReadonlyMap<string, string>
  /** Writes so many lines. */
  readonly grow: (lines: number) => Promise<void>
}

export const make = (directory: string, random: Seeded.Random): Session => {
  const projects = path.join(directory, "projects")
  const project = path.join(projects, "-work")
  const main = path.join(project, `${sessionId}.jsonl`)
  const agents = path.join(project, sessionId, "subagents")
  fs.mkdirSync(agents, { recursive: true, mode: 0o700 })
  const logs = new Map([
    ["", main],
    ["a1", path.join(agents, "agent-a1.jsonl")]
  ])
  let count = 0
  const line = (): string => {
    const n = ++count
    const chance = random()
    if (chance < 0.1) return JSON.stringify({ type: "tag", tag: `t${n}`, sessionId })
    const content = `${n} ${"é·\\".repeat(Seeded.below(random, chance < 0.2 ? 4_000 : 60))}`
    const text = JSON.stringify({ type: "user", uuid: `u${n}`, sessionId, message: { role: "user", content } })
    // One that was cut off for good, closed by the writer that came next.
    return chance > 0.95 ? text.slice(0, 1 + Seeded.below(random, text.length - 2)) : text
  }
  const grow = async (lines: number): Promise<void> => {
    for (let i = 0; i < lines; i++) {
      const file = logs.get(random() < 0.7 ? "" : "a1")!
      const bytes = Buffer.from(`${line()}\n`)
      // Anywhere, also within a character.
      const cut = Seeded.below(random, bytes.length)
      fs.appendFileSync(file, bytes.subarray(0, cut), { mode: 0o600 })
      if (random() < 0.3) await pause(Seeded.below(random, 30))
      fs.appendFileSync(file, bytes.subarray(cut))
    }
  }
  return { projects, main, logs, grow }
}
