/** A server in a process of its own, so that its CPU and that of its client are told apart. */
import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"

/** A server that runs. */
export interface Remote {
  readonly port: number
  /** Milliseconds of CPU that it has used. */
  readonly cpu: () => Promise<number>
}

/** Starts a program below `bench/support` that serves; it ends with this process. */
export const start = async (program: string, ...args: ReadonlyArray<string>): Promise<Remote> => {
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), [...args], { execArgv: ["--no-warnings"] })
  process.once("exit", () => child.kill("SIGKILL"))
  const port = await heard(child)
  return {
    port,
    cpu: () => {
      child.send("cpu")
      return heard(child)
    }
  }
}

/** Of such a program: says where it listens, and its CPU whenever it is asked. */
export const serves = (port: number): void => {
  process.on("message", () => {
    const { system, user } = process.cpuUsage()
    process.send!((system + user) / 1000)
  })
  process.on("disconnect", () => process.exit())
  process.send!(port)
}

const heard = (child: ChildProcess): Promise<number> =>
  new Promise((done, fail) => {
    child.once("message", (value) => done(Number(value)))
    child.once("exit", (code) => fail(new Error(`the server ended with ${code}`)))
  })
