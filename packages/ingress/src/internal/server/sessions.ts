/**
 * Sessions: what is asked of a session as a whole, and of all of a tenant.
 */
import * as Effect from "effect/Effect"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Cursor from "../../Cursor.ts"
import { BadRequest } from "../../IngressError.ts"
import type { Head, IngressStore } from "../../IngressStore.ts"
import * as SessionDigest from "../../SessionDigest.ts"
import * as Wire from "../../Wire.ts"
import { permit } from "./authorization.ts"
import * as Ends from "./ends.ts"
import { limitOf } from "./reading.ts"

/** Sessions of one answer, at most. */
const LISTED = 1_000

interface OfSession {
  readonly params: { readonly id: string }
}

/** Answers with this store. */
export const make = (store: IngressStore["Service"]) => {
  const backend = { [Wire.headers.backend]: store.backendId }
  const end = ({ bytes, seq, updatedAt, uuid }: Head) => ({ head: uuid ?? null, seq, bytes, updatedAt })

  return {
    head: Effect.fnUntraced(function* ({
      headers,
      params
    }: OfSession & { readonly headers: { readonly "x-stream"?: string } }) {
      const tenant = yield* permit(["read", "append"], params.id)
      const head = yield* store.head({ tenant, session: params.id, sub: headers[Wire.headers.stream] ?? "" })
      return HttpApiSchema.withHeaders({ body: undefined, headers: Ends.headersOf(head, store.backendId) })
    }),

    streams: Effect.fnUntraced(function* ({ params }: OfSession) {
      const tenant = yield* permit(["read", "append"], params.id)
      const all = yield* store.streams(tenant, params.id)
      const streams = all.map(({ sub, ...head }) => ({ stream: sub, ...end(head) }))
      return HttpApiSchema.withHeaders({ body: { epoch: all[0]?.epoch ?? 0, streams }, headers: backend })
    }),

    claim: Effect.fnUntraced(function* ({
      params,
      payload
    }: OfSession & { readonly payload: { readonly writerId: string } }) {
      const tenant = yield* permit(["append"], params.id)
      const { epoch, seq, uuid } = yield* store.claim(tenant, params.id, payload.writerId)
      return HttpApiSchema.withHeaders({ body: { epoch, head: uuid ?? null, seq }, headers: backend })
    }),

    remove: Effect.fnUntraced(function* ({ params }: OfSession) {
      const tenant = yield* permit(["admin"], params.id)
      yield* store.remove(tenant, params.id)
    }),

    sessions: Effect.fnUntraced(function* ({
      query
    }: {
      readonly query: { readonly project?: string; readonly cursor?: string; readonly limit?: string }
    }) {
      const tenant = yield* permit(["list"])
      const limit = yield* limitOf(query.limit, LISTED)
      const after = query.cursor === undefined ? "" : Cursor.placeOf(store.backendId, query.cursor)
      if (after === undefined)
        return yield* new BadRequest({ detail: "expected a cursor of this store. List from the beginning." })
      const all = yield* store.sessions(tenant, {
        limit,
        after,
        ...(query.project !== undefined && { project: query.project })
      })
      return {
        sessions: all.map(({ digest, session, ...head }) => ({
          session,
          epoch: head.epoch,
          ...end(head),
          summary: SessionDigest.summaryOf(digest)
        })),
        next_cursor: all.length < limit ? null : Cursor.make(store.backendId, all.at(-1)!.session)
      }
    })
  }
}
