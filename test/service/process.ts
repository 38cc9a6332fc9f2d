/** The example service as a process that can be killed and started again. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { env } from "../compiled.ts"

const program = fileURLToPath(new URL("../../examples/agent-service/main.ts", import.meta.url))
const running = new Set<() => void>()
process.on("exit", () => running.forEach((end) => end()))

export interface Running {
  /** Its port, once all sessions are resumed; never, where it was killed before. It fails where it ended by itself. */
  readonly port: Promise<number>
  /** SIGKILL; returns when it is gone. */
  readonly kill: () => Promise<void>
  /** What it logged. */
  readonly logged: () => string
}

/** Starts the service over logs below `projects`; `pause` is what its model takes for a line, in ms. */
export const start = (projects: string, pause: number): Running => {
  const child = spawn(process.execPath, [program, projects, "0", String(pause)], {
    stdio: ["ignore", "pipe", "pipe"],
    env
  })
  let printed = ""
  let logged = ""
  let isKilled = false
  const end = () => void child.kill("SIGKILL")
  running.add(end)
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve())).finally(() => running.delete(end))
  const port = new Promise<number>((resolve, reject) => {
    child.stdout.on("data", (data: Buffer) => {
      printed += data
      const [, found] = /^listening on (\d+)$/m.exec(printed) ?? []
      if (found !== undefined) resolve(Number(found))
    })
    child.stderr.on("data", (data: Buffer) => (logged += data))
    void closed.then(() => isKilled || reject(new Error(`the service ended by itself:\n${printed}${logged}`)))
  })
  port.catch(() => undefined)
  const kill = () => {
    isKilled = true
    end()
    return closed
  }
  return { port, kill, logged: () => printed + logged }
}
