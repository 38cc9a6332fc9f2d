/**
 * A program that claims sessions: `node lock-child.ts PROJECTS`. It reads commands from its input, one a line, and
 * answers each with one line: `claim SESSION` (`held` or `locked PID`), `release SESSION`, `race SESSION AT` (claims at a
 * time in milliseconds since 1970).
 */
import * as EntryLog from "@reprise/storage/EntryLog"
import * as SessionLock from "@reprise/storage/SessionLock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as fs from "node:fs"
import * as readline from "node:readline"

const [projects = ""] = process.argv.slice(2)
const locks = SessionLock.makeFiles({ projects })
const scopes = new Map<string, Scope.Closeable>()

const claim = (sessionId: string) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const claimed = yield* Effect.result(Scope.provide(locks.claim(EntryLog.session("-work", sessionId)), scope))
    if (claimed._tag === "Success") {
      scopes.set(sessionId, scope)
      return "held"
    }
    return claimed.failure._tag === "SessionLocked" ? `locked ${claimed.failure.pid}` : claimed.failure.message
  })

const answer = (command: string, sessionId: string, at: string) => {
  if (command === "race") while (Date.now() < Number(at));
  if (command !== "release") return claim(sessionId)
  const scope = scopes.get(sessionId)
  return Effect.as(scope === undefined ? Effect.void : Scope.close(scope, Exit.void), "released")
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const [command = "", sessionId = "", at = ""] = line.split(" ")
  fs.writeSync(1, `${await Effect.runPromise(answer(command, sessionId, at))}\n`)
}
process.exit(0)
