/** A program under test: it reads commands and answers each with one line. */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import * as readline from "node:readline"
import { fileURLToPath } from "node:url"
import { env } from "../compiled.ts"

export interface Child {
  readonly pid: number
  /** Sends a line and gives the next line that it prints. */
  readonly ask: (command: string) => Effect.Effect<string>
  /** The next line that it prints. */
  readonly next: Effect.Effect<string>
  /** Ends it by force and waits for its end. */
  readonly kill: Effect.Effect<void>
}

/** Starts a program; it is killed with the scope. */
export const start = (file: URL, ...args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync((): Child => {
      const running = spawn(process.execPath, [fileURLToPath(file), ...args], {
        stdio: ["pipe", "pipe", "inherit"],
        env
      })
      const ended = new Promise<void>((resolve) => running.on("close", () => resolve()))
      const lines: Array<string> = []
      const waiting: Array<(line: string) => void> = []
      const take = (line: string) => {
        const next = waiting.shift()
        if (next === undefined) lines.push(line)
        else next(line)
      }
      readline.createInterface({ input: running.stdout }).on("line", take)
      running.on("close", () => waiting.splice(0).forEach((next) => next("ended")))
      running.stdin.on("error", () => undefined)
      const next = Effect.callback<string>((resume) => {
        const line = lines.shift()
        if (line === undefined) waiting.push((line) => resume(Effect.succeed(line)))
        else resume(Effect.succeed(line))
      })
      return {
        pid: running.pid ?? -1,
        next,
        ask: (command) =>
          Effect.andThen(
            Effect.sync(() => running.stdin.write(`${command}\n`)),
            next
          ),
        kill: Effect.promise(() => {
          running.kill("SIGKILL")
          return ended
        })
      }
    }),
    ({ kill }) => kill
  )
