/**
 * A service that runs many sessions at a time with a scripted model, on this machine alone:
 *
 *   node examples/agent-service/main.ts PROJECTS [PORT] [PAUSE]
 *
 * It prints `listening on PORT` once all sessions are resumed. PAUSE: milliseconds that the model takes for a line.
 */
import * as NodeRuntime from "@effect/platform-node-shared/NodeRuntime"
import * as Host from "@reprise/recovery/Host"
import * as FileEntryLog from "@reprise/storage/FileEntryLog"
import * as SessionWriter from "@reprise/storage/SessionWriter"
import * as StoredSessionSource from "@reprise/storage/StoredSessionSource"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as path from "node:path"
import { Api } from "./Api.ts"
import * as Model from "./Model.ts"
import * as NodeServer from "./NodeServer.ts"
import * as Sessions from "./Sessions.ts"

const [projects = "", port = "0", pause = "200"] = process.argv.slice(2)

const handlers = HttpApiBuilder.group(
  Api,
  "sessions",
  Effect.fnUntraced(function* (group) {
    const sessions = yield* Sessions.Sessions
    return group.handleAll({
      say: ({ params, payload }) => sessions.say(params.sessionId, params.promptId, payload.text),
      show: ({ params: { sessionId } }) => Effect.map(sessions.show(sessionId), (events) => ({ sessionId, events })),
      list: () => Effect.map(sessions.list, (all) => ({ sessions: all }))
    })
  })
)

const cwd = process.cwd()
const logs = StoredSessionSource.layerWith({ version: "2.1.0", cwd }).pipe(
  Layer.provideMerge(SessionWriter.layer),
  Layer.provideMerge(FileEntryLog.layerWith({ projects: path.resolve(projects) }))
)
const routes = HttpApiBuilder.layer(Api).pipe(
  Layer.provide(handlers),
  Layer.provide(HttpApiMiddleware.layerProblemDetails({ includeDetails: true })),
  Layer.provide(Sessions.layerWith({ projects: path.resolve(projects), cwd })),
  Layer.provide([logs, Host.layerNone, Model.layerScripted({ pause: Number(pause) })]),
  Layer.provide(HttpServer.layerServices)
)

const program = Effect.gen(function* () {
  const router = yield* HttpRouter.toHttpEffect(routes)
  const bound = yield* NodeServer.listen(HttpEffect.toWebHandler(router), Number(port))
  yield* Console.log(`listening on ${bound}`)
  return yield* Effect.never
}).pipe(Effect.scoped)

const isWhole = (text: string, most = Infinity): boolean => /^\d+$/.test(text) && Number(text) <= most

if (projects === "" || !isWhole(port, 65_535) || !isWhole(pause)) {
  console.error("usage: node examples/agent-service/main.ts PROJECTS [PORT] [PAUSE]")
  process.exitCode = 2
} else NodeRuntime.runMain(program)
