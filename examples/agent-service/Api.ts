/**
 * Api: what the service understands and what it answers.
 *
 *   PUT /sessions/:sessionId/prompts/:promptId  { text }  ─▶ the turn, one event a line (NDJSON), as it is written
 *   GET /sessions/:sessionId                              ─▶ all that was said
 *   GET /sessions                                         ─▶ the ids of the sessions
 *
 * 1. Ids are the client's. The same PUT again is the same turn: told from its beginning, run once.
 * 2. What is told is in the log. A turn that was told up to its `end` is over; one that broke off is asked for again.
 * 3. Input that does not fit is 400, with the places; what there is not, 404; what cannot be now, 409.
 */
import * as Identifier from "@reprise/domain/Identifier"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"

/** An entry of the log, as clients hear of it: `content` holds its blocks. `end` is the last one of a turn. */
export const Event = Schema.Struct({
  uuid: Schema.String,
  type: Schema.Literals(["prompt", "reply", "result", "end"]),
  content: Schema.Array(Schema.Unknown)
})
export type Event = typeof Event.Type

/** There is no session of this id. */
export class UnknownSession extends Schema.TaggedError<UnknownSession>()(
  "UnknownSession",
  { sessionId: Schema.String, message: Schema.String },
  { httpApiStatus: 404 }
) {}

/** Another turn of the session runs; `promptId` is its prompt. */
export class TurnRunning extends Schema.TaggedError<TurnRunning>()(
  "TurnRunning",
  { promptId: Schema.String, message: Schema.String },
  { httpApiStatus: 409 }
) {}

/** The id of the prompt is that of something else in the session. */
export class PromptTaken extends Schema.TaggedError<PromptTaken>()(
  "PromptTaken",
  { promptId: Schema.String, message: Schema.String },
  { httpApiStatus: 409 }
) {}

/** Another program has the session. */
export class SessionHeld extends Schema.TaggedError<SessionHeld>()(
  "SessionHeld",
  { sessionId: Schema.String, message: Schema.String },
  { httpApiStatus: 409 }
) {}

/** The log cannot be read or written now. */
export class LogFailed extends Schema.TaggedError<LogFailed>()(
  "LogFailed",
  { message: Schema.String },
  { httpApiStatus: 503 }
) {}

const session = { sessionId: Identifier.SessionId }

/** The sessions of the service. */
class SessionsGroup extends HttpApiGroup.make("sessions")
  .add(
    HttpApiEndpoint.put("say", "/:sessionId/prompts/:promptId", {
      params: { ...session, promptId: Identifier.SessionId },
      payload: Schema.Struct({ text: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100_000)) }),
      success: HttpApiSchema.StreamNdjson({ schema: Event }),
      error: [TurnRunning, PromptTaken, SessionHeld, LogFailed]
    }),
    HttpApiEndpoint.get("show", "/:sessionId", {
      params: session,
      success: Schema.Struct({ sessionId: Schema.String, events: Schema.Array(Event) }),
      error: [UnknownSession, SessionHeld, LogFailed]
    }),
    HttpApiEndpoint.get("list", "/", {
      success: Schema.Struct({ sessions: Schema.Array(Schema.String) }),
      error: LogFailed
    })
  )
  .prefix("/sessions") {}

/** The whole interface. */
export class Api extends HttpApi.make("agent-service")
  .add(SessionsGroup)
  .middleware(HttpApiMiddleware.ProblemDetails) {}
