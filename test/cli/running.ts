/** The command in this process, with what it prints caught; and logs in files of a test's own. */
import * as NodeChildProcessSpawner from "@effect/platform-node-shared/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import * as Reprise from "@reprise/cli/Reprise"
import * as Notation from "@reprise/domain/testing/Notation"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import { type Cause, Effect, Exit, Layer, Sink, Stdio, Stream, Terminal } from "effect"
import { TerminalCapabilities } from "effect/cli"
import { TestConsole } from "effect/testing"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"

/** The path of a log in `test/fixtures`. */
export const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}.jsonl`, import.meta.url))

/** Writes the log of a picture, or any bytes, into a directory, and gives its path. */
export const write = (directory: string, name: string, log: string | Uint8Array): string => {
  const file = path.join(directory, `${name}.jsonl`)
  fs.writeFileSync(file, typeof log === "string" ? Notation.bytes(log) : log)
  return file
}

/** Logs at any path: none lies below this one, so no directory above them counts as that of a project. */
export const logs = FileEntryLog.layerWith({ projects: path.join(os.tmpdir(), "reprise-no-projects") })

/** A terminal of so many columns; 0: there is none. */
export const terminal = (columns: number): Layer.Layer<Terminal.Terminal> => {
  const size = Effect.succeed(columns)
  const unused = Effect.die("no dialogue here")
  const display = () => Effect.void
  return Layer.succeed(
    Terminal.Terminal,
    Terminal.make({ columns: size, rows: size, size: unused, readInput: unused, readLine: unused, display })
  )
}

/** What the command runs on, but for its logs. */
export const platform = (stdio: Layer.Layer<Stdio.Stdio>) =>
  NodeChildProcessSpawner.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, stdio, terminal(0))),
    Layer.provideMerge(TestConsole.layer)
  )

/** What a terminal can do that is none. */
const none = { canColor: false, canAnimate: false, canPrompt: false }

/** Runs the command; gives what it printed, what it showed of itself (help, version, mistakes), and how it ended. */
export const run = (...args: ReadonlyArray<string>) => runWith({}, ...args)

/** The same with something on standard input, and other logs. */
export const runWith = (
  options: { readonly stdin?: string; readonly logs?: typeof logs; readonly printed?: Array<string> },
  ...args: ReadonlyArray<string>
) => {
  const { printed = [] } = options
  const noted: Array<string> = []
  const into = (parts: Array<string>) => () =>
    Sink.forEach((part: string | Uint8Array) => Effect.sync(() => parts.push(String(part))))
  const stdio = Stdio.layerTest({
    args: Effect.succeed(args),
    stdin: Stream.succeed(new TextEncoder().encode(options.stdin ?? "")),
    stdout: into(printed),
    stderr: into(noted)
  })
  return Effect.gen(function* () {
    const exit = yield* Effect.exit(Reprise.run)
    const shown = (yield* TestConsole.logLines).join("\n")
    const failure = Exit.isFailure(exit) ? tagOf(exit.cause) : undefined
    const mistakes = (yield* TestConsole.errorLines).join("\n")
    return { out: printed.join(""), noted: noted.join(""), shown, mistakes, failure }
  }).pipe(
    Effect.provideService(TerminalCapabilities.TerminalCapabilities, none),
    Effect.provide(Layer.merge(platform(stdio), options.logs ?? logs))
  )
}

/** The command as it runs on, until the scope ends: what it has printed, and a wait for a text in it. */
export const running = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const printed: Array<string> = []
  const out = () => printed.join("")
  const fiber = yield* Effect.forkScoped(runWith({ printed }, ...args))
  const until = (text: string) => Effect.sleep(5).pipe(Effect.repeat({ until: () => out().includes(text) }))
  return { fiber, out, until }
})

const tagOf = <E>(cause: Cause.Cause<E>): string =>
  cause.reasons
    .map((reason) => (reason._tag === "Fail" ? (reason.error as { readonly _tag: string })._tag : reason._tag))
    .join()
