/** A program of ours that listens, as a process that can be frozen, killed and started again. */
import { spawn } from "node:child_process"
import { env } from "./compiled.ts"

const all = new Set<() => void>()
process.on("exit", () => all.forEach((end) => end()))

export interface Running {
  /** Its port, once it listens; never, where it was killed before. It fails where the program ended by itself. */
  readonly port: Promise<number>
  readonly signal: (signal: NodeJS.Signals) => void
  /** SIGKILL; returns when it is gone. */
  readonly kill: () => Promise<void>
  /** What it printed and logged. */
  readonly logged: () => string
  /** Returns when it is gone. */
  readonly closed: Promise<void>
}

/** Starts `node ARGUMENTS`, which prints `listening on PORT`; `within`: the beginning of a command that it is run by. */
export const start = (args: ReadonlyArray<string>, within: ReadonlyArray<string> = []): Running => {
  const [command, ...rest] = [...within, process.execPath, ...args]
  const child = spawn(command!, rest, { stdio: ["ignore", "pipe", "pipe"], env })
  let printed = ""
  let logged = ""
  let isKilled = false
  const end = () => void child.kill("SIGKILL")
  all.add(end)
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve())).finally(() => all.delete(end))
  const port = new Promise<number>((resolve, reject) => {
    child.stdout.on("data", (data: Buffer) => {
      printed += data
      const [, found] = /^listening on (\d+)$/m.exec(printed) ?? []
      if (found !== undefined) resolve(Number(found))
    })
    child.stderr.on("data", (data: Buffer) => (logged += data))
    void closed.then(() => isKilled || reject(new Error(`the program ended by itself:\n${printed}${logged}`)))
  })
  port.catch(() => undefined)
  const kill = () => {
    isKilled = true
    end()
    return closed
  }
  return { port, signal: (signal) => void child.kill(signal), kill, logged: () => printed + logged, closed }
}
