/**
 * Whatever goes wrong while a session is taken over, the one that ran before is as it was: each call of each port × how
 * it goes wrong × fork or not, on real files, one after the other on the same pair of sessions.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Line from "@reprise/domain/Line"
import * as Message from "@reprise/domain/Message"
import * as SessionSource from "@reprise/domain/SessionSource"
import type * as HostMemory from "@reprise/recovery/HostMemory"
import * as Resume from "@reprise/recovery/Resume"
import * as Transcript from "@reprise/storage/Transcript"
import { Cause, Effect, Exit, Fiber, References, Scope } from "effect"
import * as fs from "node:fs"
import { beside, type Fault, id, logOf, make, owned, shared } from "./hosting.ts"

const calls = ["SessionSource.claim", ...owned, ...shared]
const isOwned = (call: string): boolean => calls.indexOf(call) > 0 && calls.indexOf(call) < 5
const faults: ReadonlyArray<Fault> = ["fail", "die", "interrupt", "hang"]

/** A program that runs session 1 and loads session 2 to take it over. */
const program = Effect.fnUntraced(function* (isFork: boolean) {
  const old = { sessionId: id(1), path: "" }
  const before: Partial<HostMemory.State> = {
    session: old,
    pointer: "old",
    agent: { name: "Bo" },
    modes: { mode: "coordinator" },
    collapse: { commits: [], staged: undefined },
    skills: { skills: new Map(), todos: [{ content: "dust" }], plan: {} }
  }
  const host = yield* make(before)
  const oldFile = host.log(id(1), logOf(id(1), "u1-a1"))
  const newFile = host.log(id(2), logOf(id(2), "u1-a1", Object.values(beside)))
  const started = yield* Effect.gen(function* () {
    const transcript = yield* Transcript.open({ sessionId: id(1), cwd: "/work", version: "2.1.0" })
    const plan = yield* Resume.load(SessionSource.path(newFile), { fork: isFork })
    return { transcript, plan }
  }).pipe(Effect.provide(host.context))
  const snapshot = () => ({ ...host.state })
  return { ...host, ...started, scope: yield* Scope.Scope, oldFile, newFile, snapshot }
})

/** How it ends; what hangs is interrupted once it does. */
const ended = Effect.fnUntraced(function* <A, E>(
  effect: Effect.Effect<A, E>,
  watched: Effect.Success<ReturnType<typeof program>>["watched"]
) {
  watched.calls.length = 0
  watched.undone.length = 0
  const fiber = yield* Effect.forkChild(effect)
  if (watched.fault?.how === "hang") {
    const { call } = watched.fault
    yield* Effect.sleep(1).pipe(Effect.repeat({ until: () => watched.calls.at(-1) === call }))
    yield* Fiber.interrupt(fiber)
  }
  return yield* Fiber.await(fiber)
})

/** Other fibers get their turn after so many operations. */
const turning = (operations: number) => Effect.provideService(References.MaxOpsBeforeYield, operations)

/** Adopts in the scope of the program, which stays open. */
const attempt = ({ context, plan, scope, watched }: Effect.Success<ReturnType<typeof program>>) =>
  ended(Scope.provide(Resume.adopt(plan), scope).pipe(Effect.provide(context)), watched)

describe("a session that cannot be taken over leaves the one before as it was", () => {
  for (const isFork of [false, true]) {
    for (const how of faults) {
      it.live(`${isFork ? "fork" : "resume"}: any call that ${how === "fail" ? "fails" : `${how}s`}`, () =>
        Effect.gen(function* () {
          const running = yield* program(isFork)
          const { newFile, oldFile, plan, snapshot, transcript, watched } = running
          const before = snapshot()
          const bytes = fs.readFileSync(newFile, "utf8")
          let said = 0
          for (const call of calls.filter((call) => !isFork || !isOwned(call))) {
            watched.fault = { call, how }
            const exit = yield* attempt(running)
            assert.isTrue(Exit.isFailure(exit), call)
            const cause = (exit as Exit.Failure<unknown, unknown>).cause
            const isAsMeant = {
              fail: Cause.hasFails,
              die: Cause.hasDies,
              interrupt: Cause.hasInterrupts,
              hang: Cause.hasInterrupts
            }
            assert.isTrue(isAsMeant[how](cause), call)

            // The host is as it was; what was done is undone in reverse, and nothing came after the fault.
            assert.deepStrictEqual(snapshot(), before, call)
            assert.strictEqual(watched.calls.at(-1), call)
            const changed = watched.calls.slice(0, -1).filter((one) => !one.startsWith("SessionSource"))
            assert.deepStrictEqual(watched.undone, changed.toReversed(), call)

            // The old session goes on in its own file.
            yield* transcript.append(Message.user(`still here ${++said}`))
            yield* transcript.flush
            const last = Line.decodeAll(fs.readFileSync(oldFile)).at(-1)?.entry
            assert.deepInclude(last, { type: "user", sessionId: id(1) }, call)
            assert.include(JSON.stringify(last), `still here ${said}`)
            assert.notInclude(fs.readFileSync(newFile, "utf8"), "still here")
          }
          // Nothing said again, nothing said twice: what the log held stands at its end.
          assert.strictEqual(fs.readFileSync(newFile, "utf8"), bytes)

          // Nobody holds the new session, and nothing of the failures is in the way.
          watched.fault = undefined
          yield* Effect.gen(function* () {
            const { session } = yield* Resume.adopt(plan)
            yield* session.append(Message.user("here now"))
            yield* session.flush
          }).pipe(Effect.scoped, Effect.provide(running.context))
          assert.include(fs.readFileSync(newFile, "utf8"), "here now")
          assert.notInclude(fs.readFileSync(oldFile, "utf8"), "here now")
          assert.strictEqual(running.state.session?.sessionId, isFork ? id(1) : id(2))
        }).pipe(Effect.scoped)
      )
    }
  }

  it.live("interrupted at any moment, either the caller has the session or nothing has changed", () =>
    Effect.gen(function* () {
      const running = yield* program(false)
      const { context, plan, state, watched } = running
      const before = running.snapshot()
      const attemptFor = Effect.fnUntraced(function* (turns: number, operations: number) {
        watched.calls.length = watched.undone.length = 0
        const scope = yield* Scope.make()
        let isTaken = false
        const taking = Effect.tap(Resume.adopt(plan), () => Effect.sync(() => (isTaken = true)))
        const provided = Scope.provide(taking, scope).pipe(Effect.provide(context), turning(operations))
        const fiber = yield* Effect.forkChild(provided)
        for (let turn = 0; turn < turns; turn++) yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
        const when = `interrupted after ${turns} turns of ${operations} operations`
        assert.strictEqual(state.session?.sessionId, isTaken ? id(2) : id(1), when)
        if (!isTaken) assert.deepStrictEqual(running.snapshot(), before, when)
        yield* Scope.close(scope, Exit.void)
        Object.assign(state, before)
        return isTaken
      })
      for (const operations of [16, 27, 33, 44, 64]) {
        let turns = 0
        while (!(yield* attemptFor(turns, operations))) turns++
        assert.isAbove(turns, 10)
      }
    }).pipe(Effect.scoped)
  )

  it.live("loading: any call that fails, dies, is interrupted or hangs, and the log is not touched", () =>
    Effect.gen(function* () {
      const running = yield* program(false)
      const { context, newFile, snapshot, watched } = running
      const before = snapshot()
      const bytes = fs.readFileSync(newFile, "utf8")
      const load = Resume.load(SessionSource.path(newFile)).pipe(Effect.provide(context))
      const asked = [
        "SessionSource.resolve",
        "SessionSource.read",
        "PlanStore.copy",
        "FileHistoryStore.copy",
        "SessionStartHooks.run"
      ]
      for (const call of asked) {
        for (const how of faults) {
          watched.fault = { call, how }
          const exit = yield* ended(load, watched)
          assert.isTrue(Exit.isFailure(exit), `${call} ${how}`)
          assert.deepStrictEqual(snapshot(), before)
        }
      }
      watched.fault = undefined
      assert.strictEqual((yield* load).sessionId, id(2))
      assert.strictEqual(fs.readFileSync(newFile, "utf8"), bytes)
    }).pipe(Effect.scoped)
  )

  it.live("an undo that dies keeps none of the others from running", () =>
    Effect.gen(function* () {
      const running = yield* program(false)
      const before = running.snapshot()
      const { watched } = running
      watched.fault = { call: "Skills.restore", how: "fail" }
      watched.dying = "Mode.restore"
      const exit = yield* attempt(running)
      assert.isTrue(Exit.isFailure(exit))
      const { cause } = exit as Exit.Failure<unknown, unknown>
      assert.isTrue(Cause.hasFails(cause))
      const { modes: _, ...rest } = running.snapshot()
      const { modes: __, ...expected } = before
      assert.deepStrictEqual(rest, expected)
      assert.strictEqual(watched.undone.at(-1), "Sessions.switchTo")
    }).pipe(Effect.scoped)
  )
})
