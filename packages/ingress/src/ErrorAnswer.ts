/**
 * ErrorAnswer: each error as an answer on the wire, and back.
 *
 *   new StaleEpoch({ epoch: 4 })  ⇄  403  {"error":{"type":"stale-epoch","message":"…"},"epoch":4}
 *
 * The body says all; headers repeat what clients of the compat profile look for. The cause of an error is in neither.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as E from "./IngressError.ts"
import * as Wire from "./Wire.ts"

/** The headers that some error has. */
const headers = {
  [Wire.headers.head]: Schema.optionalKey(Schema.String),
  [Wire.headers.seq]: Schema.optionalKey(Schema.String),
  [Wire.headers.retryAfter]: Schema.optionalKey(Schema.String)
}
type Headers = Schema.Struct.Type<typeof headers>

type Fields = Readonly<Record<string, Schema.Top>>
type ErrorClass<Self> = Schema.Codec<Self, unknown> & { readonly fields: Fields; new (fields: never): Self }

/** An error class as it is answered: status and type, and the headers that it has. */
const answer = <Self extends Error>(
  self: ErrorClass<Self>,
  status: number,
  type: string,
  headersOf?: (error: Self) => Headers
): Schema.Codec<Self, unknown> => {
  const { _tag: _, cause: __, ...fields } = self.fields
  const keys = Object.keys(fields)
  const body = Schema.Struct({
    error: Schema.Struct({ type: Schema.Literal(type), message: Schema.String }),
    ...fields
  }).pipe(HttpApiSchema.status(status))
  const only = (error: object) => Object.fromEntries(Object.entries(error).filter(([key]) => keys.includes(key)))
  const decode = (body: object): Self => new self(only(body) as never) as Self
  const encode = (error: Self) => ({ error: { type, message: error.message }, ...only(error) })
  if (headersOf === undefined) {
    const transformation = SchemaTransformation.transform<Self, typeof body.Type>({ decode, encode })
    return body.pipe(Schema.decodeTo(Schema.toType(self), transformation)).annotate({ httpApiStatus: status })
  }
  return HttpApiSchema.encodeToWithHeaders(
    { body, headers },
    {
      decode: ({ body }) => decode(body),
      encode: (error) => ({ body: encode(error as Self), headers: headersOf(error as Self) })
    }
  )(self as Schema.Top) as unknown as Schema.Codec<Self, unknown>
}

const waiting = ({ retryAfter }: { readonly retryAfter: number }): Headers => ({
  [Wire.headers.retryAfter]: String(retryAfter)
})

/**
 * All errors as they are answered, by their place on the wire.
 *
 * @category schemas
 * @since 0.1.0
 */
export const answers = {
  headMismatch: answer(E.HeadMismatch, 409, "head-mismatch", ({ lastUuid, seq }) => ({
    [Wire.headers.seq]: String(seq),
    ...(lastUuid !== undefined && { [Wire.headers.head]: lastUuid })
  })),
  // No headers: a contract has one answer with headers for a status. The server sets `x-writer-epoch` beside it.
  staleEpoch: answer(E.StaleEpoch, 403, "stale-epoch"),
  keyReused: answer(E.KeyReused, 422, "key-reused"),
  deleted: answer(E.Deleted, 410, "deleted"),
  notFound: answer(E.NotFound, 404, "not-found"),
  badRequest: answer(E.BadRequest, 400, "bad-request"),
  unauthorized: answer(E.Unauthorized, 401, "unauthorized"),
  forbidden: answer(E.Forbidden, 403, "forbidden"),
  tooLarge: answer(E.TooLarge, 413, "too-large"),
  tooManyRequests: answer(E.TooManyRequests, 429, "too-many-requests", waiting),
  unavailable: answer(E.Unavailable, 503, "unavailable", waiting)
}

/**
 * Any of the errors that a server answers with.
 *
 * @category errors
 * @since 0.1.0
 */
export type Answered = (typeof answers)[keyof typeof answers]["Type"]

const decoders = Object.values<Schema.Codec<Answered, unknown>>(answers).map((schema) =>
  Schema.decodeUnknownOption(schema)
)

/**
 * Reads an answer that is no success, its body parsed as JSON; undefined where no server of this protocol said it.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode = (body: unknown): Answered | undefined => {
  for (const read of decoders) {
    const found = Option.orElse(read(body), () => read({ body, headers: {} }))
    if (Option.isSome(found)) return found.value
  }
  return undefined
}
