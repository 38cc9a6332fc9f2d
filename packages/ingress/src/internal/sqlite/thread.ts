/**
 * Thread: a worker of the database, as the program sees it. `node:sqlite` is synchronous, and a sync of the disk takes as
 * long as thousands of lines of code: on the thread of the program, nobody would be answered meanwhile.
 *
 * A worker that ended (it ran out of memory) has answered what it will: who waits fails, and the next message starts
 * another one.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { Worker } from "node:worker_threads"
import { OpenError, Unavailable } from "../../IngressError.ts"
import type { Answer, Job, Question, Reply, Request } from "./messages.ts"

/** What is asked of a thread. */
type Message = { readonly jobs: ReadonlyArray<Job> } | { readonly question: Question }

/** A thread with a connection of its own. */
export interface Thread {
  readonly backendId: string
  readonly ask: (message: Message) => Effect.Effect<ReadonlyArray<Answer>, Unavailable>
}

/** Opens the file in a thread, and closes it with the scope. */
export const make = (file: string): Effect.Effect<Thread, OpenError, Scope.Scope> =>
  Effect.gen(function* () {
    const starting = yield* Semaphore.make(1)
    let running = yield* start(file)
    yield* Effect.addFinalizer(() => Effect.suspend(() => running.close))
    const alive = Semaphore.withPermit(
      starting,
      Effect.suspend(() =>
        running.isAlive()
          ? Effect.succeed(running)
          : Effect.tap(Effect.mapError(start(file), unavailable), (started) =>
              Effect.sync(() => {
                running = started
              })
            )
      )
    )
    return {
      backendId: running.backendId,
      ask: (message) =>
        Effect.suspend(() =>
          running.isAlive() ? running.ask(message) : Effect.flatMap(alive, (one) => one.ask(message))
        )
    }
  })

interface Running extends Thread {
  readonly isAlive: () => boolean
  readonly close: Effect.Effect<void>
}

/** Where this module stands as a source, so does the worker; published, both are JavaScript. */
const worker = new URL(`./sqliteWorker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url)

const unavailable = (cause: unknown): Unavailable => new Unavailable({ retryAfter: 1, cause })

/** How long a thread may take to close its file. */
const PATIENCE = "10 seconds"

const start = (file: string): Effect.Effect<Running, OpenError> =>
  Effect.callback<Running, OpenError>((resume) => {
    const thread = new Worker(worker, { workerData: { file } })
    const waiting = new Map<number, (exit: Exit.Exit<ReadonlyArray<Answer>, Unavailable>) => void>()
    let ended: unknown
    let count = 0
    const fail = (cause: unknown): void => {
      ended ??= cause
      resume(Effect.fail(new OpenError({ store: file, detail: String(cause) })))
      for (const done of waiting.values()) done(Exit.fail(unavailable(cause)))
      waiting.clear()
    }
    thread.on("error", fail)
    thread.on("exit", (code) => fail(new Error(`the thread of ${file} ended with ${code}`)))
    thread.on("message", (reply: Reply) => {
      if ("answers" in reply) {
        waiting.get(reply.id)?.(Exit.succeed(reply.answers))
        waiting.delete(reply.id)
      } else if ("opened" in reply)
        resume(Effect.succeed({ ...reply.opened, ask, close, isAlive: () => ended === undefined }))
      else {
        resume(Effect.fail(new OpenError({ store: file, detail: reply.unopened.message })))
        void thread.terminate()
      }
    })
    const post = (request: Request): void => thread.postMessage(request)
    const ask: Thread["ask"] = (message) =>
      Effect.callback((resume) => {
        if (ended !== undefined) return resume(Effect.fail(unavailable(ended)))
        const id = count++
        waiting.set(id, (exit) => resume(exit))
        post({ id, ...message })
      })
    const close = Effect.callback<void>((resume) => {
      if (ended !== undefined) return resume(Effect.void)
      thread.once("exit", () => resume(Effect.void))
      post("close")
    }).pipe(
      Effect.timeoutOrElse({ duration: PATIENCE, orElse: () => Effect.promise(() => thread.terminate()) }),
      Effect.asVoid
    )
  })
