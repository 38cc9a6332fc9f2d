/** The command as a process of its own. */
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import * as compiled from "../compiled.ts"

/** The root of the project. */
export const root = fileURLToPath(new URL("../..", import.meta.url))
const main = "packages/cli/src/main.ts"
const { FORCE_COLOR: _, NO_COLOR: __, ...env } = compiled.env

/** Starts it; `stdin` is what it reads. */
export const start = (
  args: ReadonlyArray<string>,
  options: {
    readonly node?: ReadonlyArray<string>
    readonly env?: object
    readonly cwd?: string
    readonly stdin?: string
  } = {}
) => {
  const running = spawn(process.execPath, [...(options.node ?? []), path.join(root, main), ...args], {
    cwd: options.cwd ?? root,
    env: { ...env, ...options.env },
    stdio: ["pipe", "pipe", "pipe"]
  })
  running.stdin.on("error", () => undefined)
  running.stdin.end(options.stdin ?? "")
  return running
}

/** How a process ended, and what it printed; nobody reads its output until this is asked. */
export const end = (running: ChildProcess) =>
  Effect.callback<{ readonly code: number | null; readonly out: string; readonly errors: string }>((resume) => {
    let out = ""
    let errors = ""
    running.stdout!.on("data", (data) => (out += data))
    running.stderr!.on("data", (data) => (errors += data))
    running.on("close", (code) => resume(Effect.succeed({ code, out, errors })))
    return Effect.sync(() => running.kill("SIGKILL"))
  })

/** Runs it to its end. */
export const runMain = (...args: ReadonlyArray<string>) => Effect.suspend(() => end(start(args)))
