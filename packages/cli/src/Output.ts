/**
 * Output: what the command prints, and how far it is.
 *
 * 1. Texts are printed as they come, one at a time; a reader that has seen enough, as `head` does, is no error.
 * 2. How far something is stands on one line of the terminal that standard error is, and is gone afterwards. Where it
 *    is none, nothing is shown.
 */
import type * as SessionCatalog from "@reprise/storage/SessionCatalog"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as PlatformError from "effect/PlatformError"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Terminal from "effect/Terminal"
import * as Style from "./Style.ts"

/**
 * Prints texts to standard output.
 *
 * @category running
 * @since 0.1.0
 */
export const print = Effect.fnUntraced(function* <E, R>(texts: Stream.Stream<string, E, R>) {
  const stdio = yield* Stdio.Stdio
  yield* Stream.run(texts, stdio.stdout({ endOnDone: false })).pipe(Effect.catchIf(isUnread, () => Effect.void))
})

/**
 * Prints texts, each as a line.
 *
 * @category running
 * @since 0.1.0
 */
export const lines = (texts: Iterable<string>) => print(Stream.map(Stream.fromIterable(texts), (text) => `${text}\n`))

/**
 * Prints a text as a line.
 *
 * @category running
 * @since 0.1.0
 */
export const line = (text: string) => lines([text])

/**
 * Says something to whoever runs the command, beside what it prints for those who read its output.
 *
 * @category running
 * @since 0.1.0
 */
export const note = Effect.fnUntraced(function* (text: string) {
  const stdio = yield* Stdio.Stdio
  yield* Effect.ignore(Stream.run(Stream.succeed(`${text}\n`), stdio.stderr({ endOnDone: false })))
})

/** Whoever reads the output has seen enough and left. */
const isUnread = (error: unknown): error is PlatformError.PlatformError => {
  const { reason } = error as { readonly reason?: { readonly cause?: { readonly code?: unknown } } }
  return reason?.cause?.code === "EPIPE"
}

/**
 * Says how far something is; called as often as one likes.
 *
 * @category models
 * @since 0.1.0
 */
export type Progress = (text: string) => Effect.Effect<void>

/** Milliseconds between two looks. */
const pause = 100
const clear = "\r\u001b[K"

/**
 * How far something is, for those who wait for it. `quiet`: nobody is shown anything; `after`: nor what takes no longer
 * than so many milliseconds (0).
 *
 * @category constructors
 * @since 0.1.0
 */
export const progress = Effect.fnUntraced(function* (options: { readonly quiet: boolean; readonly after?: number }) {
  const stdio = yield* Stdio.Stdio
  const terminal = yield* Terminal.Terminal
  const clock = yield* Clock.Clock
  const none: Progress = () => Effect.void
  if (options.quiet || !(yield* stdio.stderrIsTerminal)) return none
  const columns = (yield* terminal.columns) || 80
  const show = (text: string): Effect.Effect<void> =>
    Effect.ignore(Stream.run(Stream.succeed(text), stdio.stderr({ endOnDone: false })))
  const start = clock.currentTimeMillisUnsafe() + (options.after ?? 0)
  let last = start - pause
  let isShown = false
  yield* Effect.addFinalizer(() => (isShown ? show(clear) : Effect.void))
  const say: Progress = (text) =>
    Effect.suspend(() => {
      const now = clock.currentTimeMillisUnsafe()
      if (now - last < pause) return Effect.void
      last = now
      isShown = true
      return show(clear + Style.cut(Style.clean(text), columns - 1))
    })
  return say
})

const cells = 20

/**
 * How far something is, as a bar with what is counted.
 *
 * @category rendering
 * @since 0.1.0
 */
export const bar = ({ done, total }: SessionCatalog.Progress, counted: string): string => {
  const part = total === 0 ? 1 : Math.min(1, done / total)
  const full = Math.floor(part * cells)
  return `[${"#".repeat(full)}${"·".repeat(cells - full)}] ${Math.floor(100 * part)} % · ${counted}`
}

/** What is done in less than a second needs no bar. */
const second = 1000

/**
 * A bar for whoever waits longer than a second; to be called with how far it is.
 *
 * @category constructors
 * @since 0.1.0
 */
export const watching = (counted: (progress: SessionCatalog.Progress) => string) =>
  Effect.map(
    progress({ quiet: false, after: second }),
    (say) => (now: SessionCatalog.Progress) => say(bar(now, counted(now)))
  )
