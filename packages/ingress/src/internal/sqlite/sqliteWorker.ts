/**
 * Worker: a thread that has a connection to the database, and answers one message after the other.
 */
import { parentPort, workerData } from "node:worker_threads"
import * as Database from "./database.ts"
import * as Jobs from "./jobs.ts"
import type { Answer, Reply, Request } from "./messages.ts"
import * as Questions from "./questions.ts"

const port = parentPort!
const say = (reply: Reply): void => port.postMessage(reply)

const serve = (): void => {
  const database = Database.open(workerData.file)
  const write = Jobs.make(database)
  const ask = Questions.make(database)
  const read = (question: Parameters<typeof ask>[0]): Answer => {
    try {
      database.exec("BEGIN")
      const answer = ask(question)
      database.exec("COMMIT")
      return answer
    } catch (cause) {
      if (database.isTransaction) database.exec("ROLLBACK")
      return { failed: String(cause) }
    }
  }
  port.on("message", (request: Request) => {
    if (request === "close") {
      database.close()
      port.close()
    } else if ("jobs" in request) say({ id: request.id, answers: write(request.jobs) })
    else say({ id: request.id, answers: [read(request.question)] })
  })
  say({ opened: { backendId: Database.backendId(database) } })
}

try {
  serve()
} catch (cause) {
  const { code = "", message } = cause as { readonly code?: string; readonly message: string }
  say({ unopened: { message, code } })
}
